"""Hybrid search: a ranking by words and one by meaning are merged."""

from collections.abc import Sequence
from heapq import nsmallest

from kiprdf.search.rows import Hit

MANY = 100
"""Hits by meaning of which half mean nothing: many embedders give any two texts a high cosine."""


def fuse(words: Sequence[Hit], meaning: Sequence[Hit], limit: int) -> list[Hit]:
    """Rank by the mean of both scores, each relative to the best of its ranking, ties by key.

    The first of both rankings gets 1. (docs/decisions/136)

    >>> fuse([Hit("a", 0.9), Hit("b", 0.75)], [Hit("c", 0.8), Hit("b", 0.6)], 9)
    [Hit(key='b', score=0.541...), Hit(key='a', score=0.5), Hit(key='c', score=0.5)]
    """
    # A score by words is s/(1+s), where s is a sum.
    sums = [(key, score / (1 - score)) for key, score in words]
    usual = meaning[len(meaning) // 2].score if len(meaning) >= MANY else 0.0
    usual = usual if usual and usual < meaning[0].score else 0.0
    cosines = [(key, max(0.0, score - usual)) for key, score in meaning]
    scores: dict[str, float] = {}
    for ranking in (sums, cosines):
        best = 2 * max((score for _, score in ranking), default=1.0)
        for key, score in ranking:
            scores[key] = scores.get(key, 0.0) + score / best
    best_scores = nsmallest(limit, scores.items(), key=lambda item: (-item[1], item[0]))
    return [Hit(key, score) for key, score in best_scores]
