"""Erases elements for good: from the graph, its history, and every file of the folder.

DELETE hides: the engine keeps removed texts on disk, and the history has them. So the graph and the
journal are written afresh without the elements (docs/decisions/098).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad, Triple

from kiprdf.budget import paced
from kiprdf.kml.draft import Clock, Draft
from kiprdf.kql.identities import exists
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Concept
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import to_json
from kiprdf.store import NexusStore, Origin, OxigraphStore
from kiprdf.store.commit_log import commit_note, note, record
from kiprdf.store.compaction import base_record
from kiprdf.store.journal_files import Commit, decoded, encoded

KIND = "FORGET"
"""What the history calls the commit that forgets."""
FORGOTTEN = "forgotten"
"""The record of how many elements a commit has forgotten."""

SHORT = 4
"""The length from which a name is found within a longer word."""


class Plan:
    """What is forgotten: a ``draft`` without it, and the ``erased`` nodes, now and in the past."""

    def __init__(self, store: OxigraphStore, clock: Clock, nodes: Collection[NamedNode]) -> None:
        self.store = store
        self.draft = Draft(store, clock)
        self.draft.delete(nodes)
        self._chosen = nodes
        self.erased = {*self.draft.deleted, *self._merged()}
        self._journal = store.journal or store.closed_journal
        self._seqs: list[int] = []
        self._begin = 0
        """The commit up to which the history becomes one record; 0 for none."""
        self._trace()
        names = [store.iris.name(node.value) for node in self.erased]
        self._names = {name.name for name in names if isinstance(name, ConceptName)}

    def report(self) -> dict[str, Any]:
        """The ids, the commits that mention them, and the ids of others that mention a name."""
        ids = self.store.iris.id
        links = [node for node in self.draft.deleted if node not in self._chosen]
        return {
            "elements": sorted(map(ids, self._chosen)),
            "links": sorted(map(ids, links)),
            "commits": self._seqs,
            "mentions": sorted(set(self._mentions())),
        }

    def _merged(self) -> Iterator[NamedNode]:
        """The concepts that were merged into those that are forgotten."""
        for element in self.draft.deleted.values():
            term = element.metadata.get(vocab.MERGED_FROM)
            trail = to_json(term) if isinstance(element, Concept) and term is not None else None
            for entry in trail if isinstance(trail, list) else ():
                type, _, name = str(entry).partition(":")
                node = self.store.iris.concept(type, name)
                if not exists(node, self.store):
                    yield node

    def _trace(self) -> None:
        """Find the commits that mention what is forgotten, and links that are gone by now.

        A MERGE gives links other ends. One that has an end among what is forgotten at one time, and
        others at another time, would lack something in some states: then the history begins when
        that changed for the last time.
        """
        if self._journal is None:
            return
        size = 0
        while size != len(self.erased):
            size, self._seqs = len(self.erased), []
            links: dict[Any, dict[bool, int]] = {}
            for commit in paced(self._journal.commits(0, self._journal.last)):
                rows = [*commit.removed, *commit.added]
                for subject, predicate, value in rows:
                    if predicate == vocab.REIFIES:
                        # The last entry is that of the last row.
                        about = links.setdefault(subject, {})
                        is_about = self._is_erased(value)
                        about.pop(is_about, None)
                        about[is_about] = commit.number
                    elif predicate == vocab.TYPE and value in self.erased:
                        self.erased.add(subject)
                if any(map(self._is_erased, rows)):
                    self._seqs.append(commit.number)
            self.erased |= {link for link, about in links.items() if [*about][-1]}
            self._begin = max(
                (min(about.values()) for about in links.values() if len(about) > 1), default=0
            )

    def _is_erased(self, row: Any) -> bool:
        subject, predicate, value = row
        terms = (subject, predicate, *(value if isinstance(value, Triple) else (value,)))
        return not self.erased.isdisjoint(terms)

    def _mentions(self) -> Iterator[str]:
        """The ids of other elements whose name or values, now or earlier, have a name."""
        texts = {*self._names, *(json.dumps(name)[1:-1] for name in self._names)}
        if not texts:
            return
        pattern = re.compile("|".join(map(_pattern, sorted(texts))))
        rows: Iterable[Any] = self.store.match(None, None, None)
        past = () if self._journal is None else self._journal.commits(0, self._journal.last)
        for part in (rows, *((*commit.removed, *commit.added) for commit in past)):
            for row in paced(part):
                subject, _, value = row
                if not isinstance(value, Literal) or self._is_erased(row):
                    continue
                if pattern.search(value.value):
                    yield self.store.iris.id(subject)

    # Writing ----------------------------------------------------------------------------------

    def apply(self, origin: Origin) -> int:
        """Forget, as one commit, and return its number; the lock is held."""
        number = self.store.commit() + 1
        records = {FORGOTTEN: str(len(self.draft.deleted))}
        before = self.store.records()
        notes = {key: (before.get(key), value) for key, value in records.items()}
        stub = Commit(number, origin, records=notes)
        self.store.rewrite(self._quads(number, records), lambda: self._prepare(stub))
        return number

    def _quads(self, number: int, records: dict[str, str]) -> Iterator[Quad]:
        replaced = {vocab.COMMIT, *map(record, records)}
        for quad in paced(iter(self.store.engine)):
            is_note = quad.graph_name == vocab.BOOKKEEPING and quad.predicate in replaced
            if not is_note and not self._is_erased(quad.triple):
                yield quad
        yield commit_note(number)
        yield from (note(record(key), Literal(value)) for key, value in records.items())

    def _prepare(self, stub: Commit) -> None:
        journal = self._journal
        if journal is None or (not journal.last and self.store.journal is None):
            return
        has_base = self._begin > 0 or journal.base is not None
        journal.prepare(
            self._records(stub),
            lambda digest, text: not any(name in text for name in self._names),
            has_base=has_base,
        )

    def _records(self, stub: Commit) -> Iterator[bytes]:
        journal = self._journal
        assert journal is not None
        if self._begin:
            yield encoded(self._without(base_record(self.store, journal, self._begin)))
        affected = set(self._seqs)
        for data in journal.records(self._begin):
            commit = decoded(data)
            yield encoded(self._without(commit)) if commit.number in affected else data
        if self.store.journal is not None:
            yield encoded(stub)

    def _without(self, commit: Commit) -> Commit:
        sides = (commit.removed, commit.added)
        removed, added = ([row for row in side if not self._is_erased(row)] for side in sides)
        return replace(commit, removed=removed, added=added)


def _pattern(name: str) -> str:
    """A regular expression of a name; a short one must be a whole word."""
    escaped = re.escape(name)
    return escaped if len(name) >= SHORT else rf"(?<![0-9A-Za-z]){escaped}(?![0-9A-Za-z])"


def planned(store: NexusStore, clock: Clock, select: Callable[[], Collection[NamedNode]]) -> Plan:
    """The plan that forgets the selected elements, with the propositions about them."""
    assert isinstance(store, OxigraphStore)
    return Plan(store, clock, select())
