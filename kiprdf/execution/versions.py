"""Each element as each commit left it, in pages that stay as they are (docs/decisions/199).

The record of a commit has what it changed of an element. The rest is what later commits have
changed of it since, or what it has now.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from pyoxigraph import Literal, NamedNode

from kiprdf.budget import paced
from kiprdf.execution.history import Log, State, by_subject, state_of
from kiprdf.rdf import vocab
from kiprdf.store import NexusStore
from kiprdf.store.journal import Journal
from kiprdf.store.journal_files import Commit, decoded, link_of, links_of
from kiprdf.store.past import base_record, journal_of

PAGE = 100
"""The versions in a full page."""
PAGE_CHARACTERS = 1_000_000
"""Of their values: with more, a page is full earlier."""
KEPT_STATES = 2_000
KEPT_PAGES = 4
"""Of these, the states of elements at their ends are kept for whoever reads on."""
SHOWN_DIGITS = 8


class Place(NamedTuple):
    """Where a page begins: at a commit, behind some of the elements that this changed.

    >>> str(Place(7)), str(Place(7, 100))
    ('7', '7.100')
    """

    number: int
    skipped: int = 0

    def __str__(self) -> str:
        return f"{self.number}.{self.skipped}" if self.skipped else str(self.number)


class Version(NamedTuple):
    """An element as a commit left it; the state is empty where it was deleted.

    ``link`` is the digest of the commit's record, as it was first written.
    """

    node: NamedNode
    number: int
    at: str
    link: str
    state: State


class Page(NamedTuple):
    """Versions in the order of their commits, and where the next ones are; None while this page may
    still grow."""

    versions: list[Version]
    next: Place | None


class _Change(NamedTuple):
    """What a commit removed and added of an element, and its place."""

    place: Place
    node: NamedNode
    at: str
    link: str
    removed: State
    added: State

    @property
    def is_whole(self) -> bool:
        """Whether the commit created or deleted the element, and so has all of it."""
        return _has_identity(self.added) != _has_identity(self.removed)

    def version(self, before: State) -> Version:
        """The element after the commit."""
        kept = {key: value for key, value in before.items() if key not in self.removed}
        state = self.added if self.is_whole else kept | self.added
        is_there = _has_identity(state)
        return Version(self.node, self.place.number, self.at, self.link, state if is_there else {})


class Versions:
    """The versions of the elements of a nexus that has a history."""

    def __init__(self, store: NexusStore) -> None:
        self._store = store
        self._epoch = ("", "")
        """What it was made of, and the last one."""
        self._states: OrderedDict[tuple[str, Place], dict[NamedNode, State]] = OrderedDict()
        """The states of elements where pages end."""
        self._large: tuple[str, int, list[_Change]] = ("", 0, [])
        """The changes of a commit that takes several pages."""

    @property
    def _journal(self) -> Journal:
        return journal_of(self._store)

    def epoch(self) -> str:
        """What changes whenever records of the history are replaced by others."""
        graph = vocab.BOOKKEEPING
        notes = self._store.lookup(graph, vocab.REWRITTEN, None, 2, graph)
        replaced = " ".join([*sorted(str(note.object) for note in notes), str(self._journal.base)])
        made_of, epoch = self._epoch
        if made_of != replaced:
            # Another history, served at the same address, has another first record.
            first = next(self._journal.records(), None)
            text = f"{replaced} {'' if first is None else link_of(first)}"
            epoch = hashlib.sha256(text.encode()).hexdigest()[:SHOWN_DIGITS]
            self._epoch = replaced, epoch
            # What was forgotten is not kept.
            self._states.clear()
            self._large = ("", 0, [])
        return epoch

    def first(self) -> Place:
        """Where the first page begins."""
        return Place(Log(self._store).earliest or 1)

    def link(self, place: Place) -> str:
        """A digest of the history before a place; "" where an earlier version has written it."""
        journal = self._journal
        data = next(journal.records(place.number - 1), None)
        if data is None:
            head = journal.head
            # That of a record which is appended meanwhile is behind the place.
            data = next(journal.records(place.number - 1), None)
        previous = head if data is None else links_of(data).previous or ""
        return previous[:SHOWN_DIGITS]

    def page(self, place: Place) -> Page:
        """The page that begins at a place; ``StoreError`` where the history is damaged."""
        log, epoch = Log(self._store), self.epoch()
        log.require_whole()
        changes = list(islice(self._changes(log, epoch, place), PAGE + 1))
        states = dict(self._states.get((epoch, place), {}))
        needed: dict[NamedNode, int] = {}
        for change in reversed(changes[:PAGE]):
            needed[change.node] = change.place.number
            if change.is_whole or change.node in states:
                # An earlier change in this page may need it nevertheless.
                del needed[change.node]
        states |= self._before(log, needed)
        versions: list[Version] = []
        characters = 0
        for change in changes[:PAGE]:
            version = change.version(states.pop(change.node, {}))
            states[change.node] = version.state
            versions.append(version)
            characters += _characters(version.state)
            if characters > PAGE_CHARACTERS:
                break
        if len(versions) < PAGE and characters <= PAGE_CHARACTERS:
            return Page(versions, None)
        last, rest = versions[-1], changes[len(versions) :]
        is_split = rest and rest[0].place.number == last.number
        next = rest[0].place if is_split else Place(last.number + 1)
        self._states[epoch, next] = _newest(states)
        while len(self._states) > KEPT_PAGES:
            self._states.popitem(last=False)
        return Page(versions, next)

    def _changes(self, log: Log, epoch: str, place: Place) -> Iterator[_Change]:
        """What commits changed of elements, from a place on."""
        number, skipped = place
        large_epoch, large, changes = self._large
        if (large_epoch, large) == (epoch, number):
            yield from changes[skipped:]
            number, skipped = number + 1, 0
        if number == log.earliest != self._journal.base:
            # What is before the history is no record of it.
            base = base_record(self._store, self._journal, number)
            yield from self._changes_of(base, "", epoch)[skipped:]
            number, skipped = number + 1, 0
        for data in self._journal.records(number - 1, log.last):
            commit = decoded(data)
            is_first = commit.number == number
            yield from self._changes_of(commit, link_of(data), epoch)[skipped if is_first else 0 :]

    def _changes_of(self, commit: Commit, link: str, epoch: str) -> list[_Change]:
        removed, added = (by_subject(self._store, side) for side in (commit.removed, commit.added))
        changes = []
        for index, node in enumerate(sorted({*removed, *added}, key=lambda node: node.value)):
            place, sides = Place(commit.number, index), (removed.get(node, {}), added.get(node, {}))
            changes.append(_Change(place, node, commit.origin.at, link, *sides))
        if len(changes) > PAGE:
            self._large = epoch, commit.number, changes
        return changes

    def _before(self, log: Log, needed: dict[NamedNode, int]) -> dict[NamedNode, State]:
        """The states of elements before commits: what these and later ones changed, undone."""
        states: dict[NamedNode, State] = {node: {} for node in needed}
        changing = {node: set[NamedNode]() for node in needed}
        """The values that are known already, of elements that are still changed."""
        for number in paced(self._later(log, needed)):
            _, removed, added = log.changed(number)
            for node in changing.keys() & (removed.keys() | added.keys()):
                if number < needed[node]:
                    continue
                was, now = removed.get(node, {}), added.get(node, {})
                seen = changing[node]
                states[node] |= {key: value for key, value in was.items() if key not in seen}
                seen.update(was, now)
                if _has_identity(was) and not _has_identity(now):
                    del changing[node]
        for node, seen in changing.items():
            current = state_of(self._store, node)
            states[node] |= {key: value for key, value in current.items() if key not in seen}
        return states

    def _later(self, log: Log, needed: dict[NamedNode, int]) -> Iterator[int]:
        """The numbers of the commits that changed some elements since a commit, or more."""
        if not needed:
            return iter(())
        first = min(needed.values())
        if log.is_short(first - 1, log.last):
            return log.numbers(first - 1)
        numbers = (log.numbers(number - 1, element=node) for node, number in needed.items())
        return iter(sorted({number for some in numbers for number in some}))


def _has_identity(state: State) -> bool:
    return any(key in state for key in vocab.IDENTITY)


def _newest(states: dict[NamedNode, State]) -> dict[NamedNode, State]:
    """Of the states of elements, those that were noted last."""
    kept: list[tuple[NamedNode, State]] = []
    characters = 0
    for node, state in islice(reversed(states.items()), KEPT_STATES):
        characters += _characters(state)
        if characters > PAGE_CHARACTERS:
            break
        kept.append((node, state))
    return dict(reversed(kept))


def _characters(state: State) -> int:
    return sum(len(value.value) for value in state.values() if isinstance(value, Literal))
