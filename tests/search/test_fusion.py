"""Two rankings become one; only ranks count."""

from __future__ import annotations

from kiprdf.search import Hit, fuse


def hits(*keys: str) -> list[Hit]:
    return [Hit(key, 0.9 - place / 10) for place, key in enumerate(keys)]


def test_first_of_both_scores_one() -> None:
    assert fuse([hits("a", "b"), hits("a", "c")], limit=1) == [Hit("a", 1.0)]


def test_first_of_one_only_scores_a_half() -> None:
    assert fuse([hits("a"), []], limit=9) == [Hit("a", 0.5)]


def test_second_in_both_beats_first_in_one() -> None:
    fused = fuse([hits("a", "c"), hits("b", "c")], limit=9)
    assert [hit.key for hit in fused] == ["c", "a", "b"]


def test_equal_sums_are_ordered_by_key() -> None:
    assert [hit.key for hit in fuse([hits("b", "a"), hits("a", "b")], limit=9)] == ["a", "b"]


def test_the_limit_keeps_the_best() -> None:
    assert [hit.key for hit in fuse([hits("a", "b", "c"), []], limit=2)] == ["a", "b"]


def test_the_scores_of_the_rankings_do_not_matter() -> None:
    low = [Hit("a", 1e-6), Hit("b", 1e-9)]
    assert fuse([low, hits("b")], limit=9) == fuse([hits("a", "b"), hits("b")], limit=9)


def test_two_empty_rankings_fuse_to_none() -> None:
    assert fuse([[], []], limit=9) == []
