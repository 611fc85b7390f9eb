"""The elements of a dataset in the order in which they were last updated (docs/decisions/048)."""

from __future__ import annotations

import threading
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import field
from typing import Any, TypeAlias

from pyoxigraph import Literal

from kiprdf.dataclasses import dataclass
from kiprdf.rdf import vocab
from kiprdf.store.delta import Lines, Written

UPDATED_AT = vocab.metadata(vocab.UPDATED_AT)
CHUNK = 256
"""The most elements that are returned at once."""

Range: TypeAlias = tuple[str, str]
"""The first IRI that belongs to a range, and the first one after it."""


@dataclass(slots=True)
class _Moment:
    """The IRIs of the elements updated at one time, sorted; those in ``gone`` are removed."""

    iris: list[str]
    gone: set[str] = field(default_factory=set)

    def add(self, iris: Iterable[str]) -> None:
        new: list[str] = []
        for iri in iris:
            self.gone.discard(iri)
            at = bisect_left(self.iris, iri)
            if self.iris[at : at + 1] != [iri]:
                new.append(iri)
        # Two sorted runs are merged in linear time.
        self.iris += sorted(new)
        self.iris.sort()

    def remove(self, iris: Iterable[str]) -> None:
        """Removing from the list itself would take time proportional to its length."""
        self.gone.update(iris)
        if 2 * len(self.gone) >= len(self.iris):
            self.iris = [iri for iri in self.iris if iri not in self.gone]
            self.gone.clear()

    def chunks(self, ranges: Sequence[Range]) -> Iterator[slice]:
        for first, end in ranges:
            start, stop = bisect_left(self.iris, first), bisect_left(self.iris, end)
            for at in range(start, stop, CHUNK):
                yield slice(at, min(at + CHUNK, stop))

    def chunk(self, places: slice) -> list[str]:
        return [iri for iri in self.iris[places] if iri not in self.gone]


class UpdateTimes:
    """An index of the ``_updated_at`` of all elements, in memory.

    ``commit`` is the commit that it reflects, None where it must be built. Writers add their
    commits; readers in other threads get whole commits only. After a build, the elements of a time
    are read from the dataset when a reader first comes to that time.

    >>> from pyoxigraph import NamedNode
    >>> stored = {"2026-01-01": ["urn:c", "urn:a"], "2026-01-02": ["urn:b"]}
    >>> times = UpdateTimes()
    >>> times.build(1, [Literal("2026-01-01"), Literal("2026-01-02")])
    >>> times.note(2, [], [(NamedNode("urn:c"), UPDATED_AT, Literal("2026-01-01"))])
    >>> list(times.newest(2, [("urn:a", "urn:z")], lambda time: stored[time.value]))
    [('2026-01-02', ['urn:b']), ('2026-01-01', ['urn:a', 'urn:c'])]
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # None for those whose elements must be read from the dataset.
        self._moments: dict[str, _Moment | None] = {}
        self._order: list[str] = []
        # A restored snapshot may have other values than the texts that writers note.
        self._has_other_values = False
        self.commit: int | None = None
        self._is_cleared = False

    def is_current(self, commit: int) -> bool:
        """Whether the index is that of a commit."""
        return self.commit == commit and not self._is_cleared

    def build(self, commit: int, times: Collection[Any]) -> None:
        """Replace the index by the different times of all elements."""
        with self._lock:
            self.commit = None
            texts = {time.value for time in times if _is_text(time)}
            self._has_other_values = len(texts) < len(times)
            self._moments, self._order = dict.fromkeys(texts), sorted(texts)
            self.commit, self._is_cleared = commit, False

    def note(self, commit: int, removed: Iterable[Written], added: Iterable[Written]) -> None:
        """Add the triples of a commit; after a gap the index must be built."""
        if self.commit is None:
            return
        is_next = self.is_current(commit - 1)
        with self._lock:
            # An interrupt may leave the index half changed: it is built again then.
            self.commit = None
            if not is_next:
                return
            self._remove(_times(removed))
            if isinstance(added, Lines) and _is_text(added.time):
                self._add_later(added.time.value)
                self._add(_times(added.others))
            else:
                self._add(_times(added))
            self.commit = commit

    def clear(self) -> None:
        """Let the index be built again; who reads it may finish, if the commit is the same."""
        self._is_cleared = True

    def close(self, commit: int) -> None:
        """Nothing: it is only in memory."""

    def _add(self, times: Iterable[tuple[str, Any]]) -> None:
        for value, iris in _by_time(times).items():
            if not _is_text(value):
                self._has_other_values = True
                continue
            time = value.value
            if time not in self._moments:
                self._moments[time] = _Moment(sorted(iris))
                insort(self._order, time)
                continue
            moment = self._moments[time]
            if moment is not None:
                moment.add(iris)

    def _add_later(self, time: str) -> None:
        """Let the elements of a time be read from the dataset."""
        if time not in self._moments:
            insort(self._order, time)
        self._moments[time] = None

    def _remove(self, times: Iterable[tuple[str, Any]]) -> None:
        for value, iris in _by_time(times).items():
            moment = self._moments.get(value.value)
            if moment is not None:
                moment.remove(iris)
                if not moment.iris:
                    del self._moments[value.value]
                    del self._order[bisect_left(self._order, value.value)]

    def newest(
        self, commit: int, ranges: Sequence[Range], read: Callable[[Literal], Iterable[str]]
    ) -> Iterator[tuple[str, list[str]]]:
        """Times, the last one first, with elements in ranges of IRIs, which are in their order.

        ``read`` returns the IRIs of all elements of a time from the dataset. The elements of one
        time may come in several lists. Nothing follows after a later commit, or where some element
        has a time that is not a string.
        """
        for number in range(len(self._order) - 1, -1, -1):
            with self._lock:
                if self.commit != commit or self._has_other_values:
                    return
                time = self._order[number]
                moment = self._moments[time]
                if moment is None:
                    # A writer whose commit is read here already adds it again, to no effect.
                    moment = self._moments[time] = _Moment(sorted(read(Literal(time))))
                chunks = list(moment.chunks(ranges))
            for places in chunks:
                with self._lock:
                    if self.commit != commit:
                        return
                    iris = moment.chunk(places)
                yield time, iris


def _is_text(time: Any) -> bool:
    return isinstance(time, Literal) and time.datatype == vocab.STRING


def _by_time(times: Iterable[tuple[str, Any]]) -> dict[Any, set[str]]:
    """The elements of each time: the elements of a commit usually have the same."""
    groups: dict[Any, set[str]] = defaultdict(set)
    for iri, time in times:
        groups[time].add(iri)
    return groups


def _times(triples: Iterable[Written]) -> list[tuple[str, Any]]:
    if isinstance(triples, Lines):
        own = [(node.value, triples.time) for node in triples.elements]
        return own + _times(triples.others)
    return [
        (subject.value, value) for subject, predicate, value in triples if predicate == UPDATED_AT
    ]
