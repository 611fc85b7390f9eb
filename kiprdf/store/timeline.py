"""When the commits of a history happened, how long their records are, and how many elements they
added; each is read once."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from itertools import islice
from threading import Lock

from kiprdf.store.journal import Journal, reading
from kiprdf.store.journal_files import number_of, text_of, time_of

_REMOVED = 6
"""Where the head of a record has the number of the triples that it removed."""
_CONCEPT = re.compile(rb"<[^>]*> <http://www\.w3\.org/1999/02/22-rdf-syntax-ns#type> <")
_FACT = re.compile(rb"<[^>]*> <http://www\.w3\.org/1999/02/22-rdf-syntax-ns#reifies> ")


def growth(text: bytes) -> tuple[int, int]:
    """How many concepts, and how many facts, a record has added, less those that it removed.

    >>> growth(b'[7,"2026-01-01T00:00:00.000Z","UPSERT",null,null,[],0,{}]\\n'
    ...        b"<urn:a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:b> .")
    (1, 0)
    """
    if b"rdf-syntax-ns#type>" not in text and b"rdf-syntax-ns#reifies>" not in text:
        return 0, 0
    head, _, rest = text.partition(b"\n")
    removed, rows = json.loads(head)[_REMOVED], rest.split(b"\n")

    def added(pattern: re.Pattern[bytes]) -> int:
        before, after = islice(rows, removed), islice(rows, removed, None)
        return sum(map(bool, map(pattern.match, after))) - sum(
            map(bool, map(pattern.match, before))
        )

    return added(_CONCEPT), added(_FACT)


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
        self._sizes = [(0, 0)]

    def read(self, until: int) -> None:
        """Read the commits up to a number; raises ``StoreError`` for a damaged record."""
        with self._lock, reading():
            if self._version != self.journal.version:
                self._clear()
            last = self.numbers[-1] if self.numbers else 0
            for data in self.journal.records(last, until) if last < until else ():
                self.numbers.append(number_of(data))
                self.times.append(time_of(data))
                text = text_of(data)
                self._ends.append(self._ends[-1] + len(text))
                (concepts, facts), more = self._sizes[-1], growth(text)
                self._sizes.append((concepts + more[0], facts + more[1]))

    def time(self, number: int) -> str:
        """When a commit happened; "" for one that has no record."""
        place = bisect_right(self.numbers, number) - 1
        return self.times[place] if place >= 0 and self.numbers[place] == number else ""

    def grown(self, after: int, until: int) -> tuple[int, int]:
        """How many concepts, and how many facts, the commits above a number, up to another, added,
        less those that they removed."""
        before, now = (self._sizes[bisect_right(self.numbers, n)] for n in (after, until))
        return now[0] - before[0], now[1] - before[1]

    def size(self, after: int, until: int) -> int:
        """The bytes of the records above a number, up to another, before they are compressed."""
        first, last = (bisect_right(self.numbers, number) for number in (after, until))
        return self._ends[last] - self._ends[first]
