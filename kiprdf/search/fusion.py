"""Hybrid search: a ranking by words and one by meaning are merged."""

from collections.abc import Mapping, Sequence
from heapq import nsmallest
from typing import TypeVar

from kiprdf.search.rows import Hit

K = TypeVar("K")

MANY = 100
"""Hits by meaning of which half mean nothing: many embedders give any two texts a high cosine."""


def fuse(words: Sequence[Hit], meaning: Sequence[Hit], limit: int) -> list[Hit]:
    """Rank by the mean of both scores, each relative to the best of its ranking, ties by key.

    The first of both rankings gets 1. (docs/decisions/136)

    >>> fuse([Hit("a", 0.9), Hit("b", 0.75)], [Hit("c", 0.8), Hit("b", 0.6)], 9)
    [Hit(key='b', score=0.541...), Hit(key='a', score=0.5), Hit(key='c', score=0.5)]
    """
    # A score by words is s/(1+s), where s is a sum.
    scores = means({key: score / (1 - score) for key, score in words}, dict(meaning))
    best_scores = nsmallest(limit, scores.items(), key=lambda item: (-item[1], item[0]))
    return [Hit(key, score) for key, score in best_scores]


def means(
    sums: Mapping[str, float], cosines: Mapping[str, float], whole: float = 1.0
) -> dict[str, float]:
    """The means of sums and cosines, each relative to the best; ``whole`` is the highest mean.

    Both begin with the best.
    """
    usual, part = 0.0, whole / 2
    if len(cosines) >= MANY:
        ordered = list(cosines.values())
        middle = ordered[len(ordered) // 2]
        usual = middle if 0 < middle < ordered[0] else 0.0
    best = max(sums.values(), default=1.0) / part
    scores = {key: score / best for key, score in sums.items()}
    if not cosines:
        return scores
    best = (next(iter(cosines.values()), 1.0) - usual) / part
    near = {key: (score - usual) / best for key, score in cosines.items() if score > usual}
    add_scores(scores, dict.fromkeys(cosines, 0.0) | near)
    return scores


def add_scores(scores: dict[K, float], others: dict[K, float]) -> None:
    """Add scores to others; what only one of them has takes no step of Python."""
    sums = {key: scores[key] + others[key] for key in scores.keys() & others.keys()}
    scores |= others
    scores |= sums
