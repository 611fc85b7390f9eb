"""When the commits of a history happened, and how long their records are; each is read once."""

from __future__ import annotations

from bisect import bisect_right
from threading import Lock

from kiprdf.store.journal import Journal, reading
from kiprdf.store.journal_files import number_of, text_of, time_of


class Timeline:
    """The commits of a journal up to the last one for which ``read`` was called.

    ``numbers`` and ``times`` rise together; ``times`` are those of the journal.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._lock = Lock()
        self._clear()

    def _clear(self) -> None:
        self._version = self.journal.version
        self.numbers: list[int] = []
        self.times: list[str] = []
        self._ends = [0]

    def read(self, until: int) -> None:
        """Read the commits up to a number; raises ``StoreError`` for a damaged record."""
        with self._lock, reading():
            if self._version != self.journal.version:
                self._clear()
            last = self.numbers[-1] if self.numbers else 0
            for data in self.journal.records(last, until) if last < until else ():
                self.numbers.append(number_of(data))
                self.times.append(time_of(data))
                self._ends.append(self._ends[-1] + len(text_of(data)))

    def time(self, number: int) -> str:
        """When a commit happened; "" for one that has no record."""
        place = bisect_right(self.numbers, number) - 1
        return self.times[place] if place >= 0 and self.numbers[place] == number else ""

    def size(self, after: int, until: int) -> int:
        """The bytes of the records above a number, up to another, before they are compressed."""
        first, last = (bisect_right(self.numbers, number) for number in (after, until))
        return self._ends[last] - self._ends[first]
