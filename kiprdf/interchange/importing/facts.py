"""Propositions of foreign statements, each after those that it refers to."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from itertools import count
from typing import TypeAlias

from pyoxigraph import NamedNode

from kiprdf.interchange.importing.element_index import ElementIndex
from kiprdf.interchange.importing.foreign import Foreign, Statement
from kiprdf.interchange.importing.naming import Naming
from kiprdf.interchange.importing.roles import Awaited, Roles
from kiprdf.rdf.iris import PropositionName, proposition_digits

NO_ELEMENT = "its object is not an element of the data or the nexus"
NO_PROPOSITION = ""
"""The id of a statement that is no proposition."""
Fact: TypeAlias = tuple[str, str, str]
"""Subject id, predicate and object id."""


@dataclass(slots=True)
class PlacedFact:
    """A proposition."""

    id: str
    properties: set[str] = field(default_factory=set)
    reifiers: list[NamedNode] = field(default_factory=list)
    graphs: set[str] = field(default_factory=set)


class Facts:
    """The propositions of one import."""

    def __init__(self, foreign: Foreign, naming: Naming, index: ElementIndex, roles: Roles) -> None:
        self._foreign = foreign
        self._naming = naming
        self._index = index
        self._roles = roles
        self._ids: dict[Awaited, str] = {}
        self._used: set[str] = set()
        self.placed: dict[Fact, PlacedFact] = {}
        self.fact_of: dict[NamedNode, Fact] = {}
        """The fact that a reifier stands for."""

    def place(self, statements: Iterable[Statement]) -> list[Statement]:
        """Make a proposition of each statement, or skip it with a reason.

        A statement about another one waits for it. Those that wait for something that never
        becomes a proposition are skipped, or returned if their object could be a value.
        """
        reifiers: dict[Statement, list[NamedNode]] = defaultdict(list)
        for reifier, statement in self._foreign.reified.items():
            reifiers[statement].append(reifier)
        open_ends = {statement: set(self._awaited_by(statement)) for statement in statements}
        waiting: dict[Awaited, list[Statement]] = defaultdict(list)
        for statement, ends in open_ends.items():
            for end in ends:
                waiting[end].append(statement)
        ready = deque(statement for statement, ends in open_ends.items() if not ends)
        while ready:
            statement = ready.popleft()
            id = self._place_one(statement, reifiers[statement])
            if id is None:
                continue
            for end in (statement, id):
                self._ids[end] = id
                for other in waiting.pop(end, ()):
                    open_ends[other].discard(end)
                    if not open_ends[other]:
                        ready.append(other)
        return [s for s, ends in open_ends.items() if ends and not self._is_skipped(s)]

    def is_placed(self, statement: Statement) -> bool:
        return statement in self._ids

    def uses(self, property: str) -> bool:
        """Whether a property is the predicate of a proposition."""
        return property in self._used

    def heights(self) -> dict[str, int]:
        """For each proposition how many levels of other propositions of the import are below it."""
        ids = {placed.id for placed in self.placed.values()}
        ends = {
            placed.id: [end for end in (fact[0], fact[2]) if end in ids]
            for fact, placed in self.placed.items()
        }
        heights: dict[str, int] = {}
        for id in TopologicalSorter(ends).static_order():
            heights[id] = 1 + max((heights[end] for end in ends[id]), default=-1)
        return heights

    def owner(self, iri: str) -> str | None:
        """The id of the proposition of which an IRI is a reifier, or claims to be one."""
        statement = self._roles.owner(iri)
        return None if statement is None else self._ids.get(statement, NO_PROPOSITION)

    def _awaited_by(self, statement: Statement) -> Iterator[Awaited]:
        for end in (statement.subject, statement.object):
            assert isinstance(end, NamedNode)
            awaited = self._roles.awaited(end)
            if awaited is not None:
                yield awaited

    def _is_skipped(self, statement: Statement) -> bool:
        """Skip a statement about a triple that is no proposition."""
        ends = (statement.subject, statement.object)
        if not any(end in self._foreign.reified for end in ends):
            return False
        self._foreign.skip(statement, "it is about a triple that is not a proposition")
        return True

    def _place_one(self, statement: Statement, reifiers: list[NamedNode]) -> str | None:
        """The id of the proposition that a statement becomes."""
        subject, object_ = self._end(statement.subject), self._end(statement.object)
        predicate = self._naming.predicate(statement.predicate.value)
        fault = _fault(subject, predicate, object_)
        if fault is not None:
            self._foreign.skip(statement, fault)
            return None
        assert subject is not None
        assert predicate is not None
        assert object_ is not None
        fact, property = (subject, predicate, object_), statement.predicate.value
        if fact in self.placed:
            self._foreign.skip(statement, _repeats(self.placed[fact], property, predicate))
        else:
            self.placed[fact] = PlacedFact(self._id(fact))
        placed = self.placed[fact]
        placed.properties.add(property)
        self._naming.note("predicate", predicate, property)
        self._used.add(property)
        placed.reifiers.extend(reifiers)
        placed.graphs.update(self._foreign.graphs[statement])
        self.fact_of.update(dict.fromkeys(reifiers, fact))
        return placed.id

    def _id(self, fact: Fact) -> str:
        """The id that a fact has in the nexus, or will have."""
        existing = self._index.proposition(*fact)
        if existing is not None:
            return existing
        new = (PropositionName(proposition_digits(*fact, salt), fact[1]).id for salt in count())
        # After a merge an id may be that of another fact.
        return next(id for id in new if not self._index.exists(id))

    def _end(self, node: object) -> str | None:
        assert isinstance(node, NamedNode)
        awaited = self._roles.awaited(node)
        return self._roles.id(node) if awaited is None else self._ids[awaited]


def _repeats(placed: PlacedFact, property: str, predicate: str) -> str:
    """Why a statement adds nothing to a proposition that exists already."""
    if property in placed.properties:
        return "another triple states this fact already"
    both = f"<{min(placed.properties)}> and <{property}> both become '{predicate}'"
    return f"{both}, and the first one states this fact"


def _fault(subject: str | None, predicate: str | None, object_: str | None) -> str | None:
    """Why three parts make no proposition."""
    if predicate is None:
        return "its predicate cannot be made an identifier"
    if subject is None or object_ is None:
        return NO_ELEMENT
    if subject == object_:
        return "a proposition links two different elements; these ends are the same"
    return None
