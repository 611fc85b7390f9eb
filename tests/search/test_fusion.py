"""Two rankings become one: the mean of the scores, relative to the best of each."""

from __future__ import annotations

import pytest

from kiprdf.search import Hit
from kiprdf.search.fusion import fuse


def words(**sums: float) -> list[Hit]:
    """Hits by words with these sums of weights."""
    return [Hit(key, value / (1 + value)) for key, value in sums.items()]


def meaning(**cosines: float) -> list[Hit]:
    return [Hit(key, value) for key, value in cosines.items()]


def fused(by_words: list[Hit], by_meaning: list[Hit]) -> dict[str, float]:
    return {hit.key: round(hit.score, 6) for hit in fuse(by_words, by_meaning, 999)}


def test_the_score_is_the_mean_relative_to_the_best() -> None:
    hits = fused(words(a=8.0, c=4.0, b=3.0), meaning(a=0.8, b=0.2))
    assert hits == {"a": 1.0, "b": 0.3125, "c": 0.25}
    assert list(hits) == ["a", "b", "c"]


def test_first_of_one_only_scores_a_half() -> None:
    assert fused(words(a=1.0), []) == {"a": 0.5}
    assert fused([], meaning(a=0.1)) == {"a": 0.5}


def test_good_in_both_beats_best_in_one() -> None:
    hits = fused(words(b=2.0, c=1.8), meaning(a=1.0, c=0.7))
    assert list(hits) == ["c", "a", "b"]


def test_equal_scores_are_ordered_by_key() -> None:
    assert list(fused(words(b=1.0), meaning(a=0.3))) == ["a", "b"]


def test_how_much_better_a_hit_is_matters() -> None:
    near, far = words(a=3.0, b=2.9), words(a=3.0, b=0.1)
    by_meaning = meaning(b=0.9, a=0.8)
    assert list(fused(near, by_meaning)) == ["b", "a"]
    assert list(fused(far, by_meaning)) == ["a", "b"]


def test_a_high_cosine_of_everything_counts_nothing() -> None:
    usual = {f"k{number:03}": 0.8 - number / 100_000 for number in range(200)}
    hits = fused(words(word=2.0, k150=1.0), meaning(best=0.84, **usual))
    assert list(hits)[:2] == ["best", "word"]
    assert hits["k150"] == 0.25
    assert len(hits) == 202


def test_equal_cosines_are_all_hits() -> None:
    same = {f"k{number:03}": 1.0 for number in range(200)}
    assert set(fused([], meaning(**same)).values()) == {0.5}


def test_two_empty_rankings_fuse_to_none() -> None:
    assert fuse([], [], 9) == []


@pytest.mark.parametrize("score", [1e-9, 0.5, 0.999999])
def test_any_score_by_words_can_be_the_best(score: float) -> None:
    assert fuse([Hit("a", score)], [], 9) == [Hit("a", 0.5)]


def test_the_limit_keeps_the_best() -> None:
    hits = fuse(words(a=3.0, b=2.0, c=1.0), meaning(c=0.4), 2)
    assert [hit.key for hit in hits] == ["c", "a"]
