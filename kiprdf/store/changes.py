"""What the last commits changed, for a process that holds a copy of the dataset."""

from __future__ import annotations

import pickle
from collections.abc import Iterable

from pyoxigraph import Quad

from kiprdf.store.delta import Written

KEPT_BYTES = 4 * 1024**2
KEPT_COMMITS = 256


class Changes:
    """The changes of the last commits, as long as they are few; nothing until somebody asks.

    >>> changes = Changes()
    >>> changes.since(1, 1), changes.since(1, 2)
    ([], None)
    >>> changes.add(2, [], [])
    >>> len(changes.since(1, 2)), changes.since(0, 2)
    (1, None)
    """

    def __init__(self) -> None:
        self._is_wanted = False
        # Replaced as a whole: whoever reads it needs no lock.
        self._kept: tuple[tuple[int, bytes], ...] = ()

    def add(
        self, number: int, removed: Iterable[Written | Quad], added: Iterable[Written | Quad]
    ) -> None:
        """Keep a commit, as a pickled pair of what it removed and then added, term by term."""
        if not self._is_wanted:
            return
        change = ([tuple(one) for one in removed], [tuple(one) for one in added])
        kept = (*self._kept, (number, pickle.dumps(change, protocol=5)))[-KEPT_COMMITS:]
        size = sum(len(data) for _, data in kept)
        self._kept = kept if size <= KEPT_BYTES else ()

    def since(self, first: int, last: int) -> list[bytes] | None:
        """What leads from one commit to another or further; None where that is not known."""
        self._is_wanted = True
        found = [(number, data) for number, data in self._kept if first < number]
        numbers = [number for number, _ in found]
        is_whole = numbers == [*range(first + 1, first + 1 + len(numbers))]
        return [data for _, data in found] if is_whole and first + len(numbers) >= last else None
