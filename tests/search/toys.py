"""Embedders small enough to be understood: words with known meanings, and one that counts."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kiprdf.search import IndexRow, TextIndex
from kiprdf.search.index import batches
from kiprdf.search.rows import KINDS

# Words of one line mean the same.
MEANINGS = (
    ("headache", "cephalalgia", "migraine"),
    ("drowsiness", "sleepiness", "somnolence"),
    ("fever", "pyrexia"),
    ("tea", "infusion"),
    ("aspirin",),
    ("coffee", "espresso"),
)


def by_meaning(texts: list[str]) -> list[list[float]]:
    """One dimension for each meaning, with the number of occurrences; other words mean nothing."""
    return [
        [
            float(sum(word in words for word in re.findall(r"\w+", text.lower())))
            for words in MEANINGS
        ]
        for text in texts
    ]


class Counting:
    """Records the texts that it embeds; fails on demand."""

    def __init__(self, failing_after: int | None = None) -> None:
        self.calls: list[list[str]] = []
        self.failing_after = failing_after

    def __call__(self, texts: list[str], /) -> list[list[float]]:
        self.calls.append(list(texts))
        if self.failing_after is not None and len(self.calls) > self.failing_after:
            raise ConnectionError("the service is down")
        return by_meaning(texts)

    @property
    def texts(self) -> list[str]:
        return [text for call in self.calls for text in call]

    def forget(self) -> None:
        self.calls.clear()


def rebuild(index: TextIndex, rows: Iterable[IndexRow], commit: int) -> None:
    """Let an index contain these rows alone; of equal keys the last one."""
    by_key = {row.key: row for row in rows}
    keys = {kind: [key for key in by_key if by_key[key].kind == kind] for kind in KINDS}
    index.begin(keys, commit, index.state())
    while index.fill(lambda keys: next(batches(by_key[key] for key in keys), {})):
        pass
