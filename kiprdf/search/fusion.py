"""Hybrid search: two rankings are merged."""

from collections.abc import Iterable, Sequence

from kiprdf.search.rows import Hit

# Reciprocal rank fusion and its constant: Cormack, Clarke, Büttcher, "Reciprocal Rank Fusion
# Outperforms Condorcet and Individual Rank Learning Methods", SIGIR 2009.
RANK_CONSTANT = 60


def fuse(rankings: Sequence[Iterable[Hit]], limit: int) -> list[Hit]:
    """Rank by the sum of 1 / (60 + rank) over the rankings, best first, ties by key.

    The sums are scaled so that the first of every ranking gets 1. The scores of the rankings do not
    matter, since BM25 and cosines cannot be compared.

    >>> fuse([[Hit("a", 0.9), Hit("b", 0.1)], [Hit("b", 0.3)]], limit=9)
    [Hit(key='b', score=0.991...), Hit(key='a', score=0.5)]
    """
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, hit in enumerate(ranking, start=1):
            share = (RANK_CONSTANT + 1) / (RANK_CONSTANT + rank) / len(rankings)
            scores[hit.key] = scores.get(hit.key, 0.0) + share
    ordered = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return [Hit(key, score) for key, score in ordered[:limit]]
