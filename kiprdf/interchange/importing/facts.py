"""Propositions of foreign statements, each behind those that it stands on."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from pyoxigraph import NamedNode

from kiprdf.interchange.importing.foreign import Foreign, Statement
from kiprdf.interchange.importing.naming import Names
from kiprdf.rdf.iris import proposition_digits

Fact: TypeAlias = tuple[str, str, str]
"""Subject id, predicate and object id."""


@dataclass(slots=True)
class PlacedFact:
    """A proposition; ``height`` counts the propositions that it stands on."""

    id: str
    property: str
    height: int
    reifiers: list[NamedNode] = field(default_factory=list)
    graphs: set[str] = field(default_factory=set)


class Facts:
    """The propositions of one import.

    ``end`` gives the id of a node that is a concept, or an element of the nexus.
    """

    def __init__(
        self, foreign: Foreign, names: Names, end: Callable[[NamedNode], str | None]
    ) -> None:
        self._foreign = foreign
        self._names = names
        self._end_of = end
        self._heights: dict[str, int] = {}
        self.placed: dict[Fact, PlacedFact] = {}
        self.fact_of: dict[NamedNode, Fact] = {}
        """The fact that a reifier stands for."""

    def place(self, statements: Iterable[Statement]) -> None:
        """Make a proposition of each statement, or say why it is none.

        A statement about another waits for it; what waits for ever is skipped.
        """
        reifiers: dict[Statement, list[NamedNode]] = defaultdict(list)
        for reifier, statement in self._foreign.reified.items():
            reifiers[statement].append(reifier)
        open_ends = {statement: set(self._reifiers_in(statement)) for statement in statements}
        waiting: dict[NamedNode, list[Statement]] = defaultdict(list)
        for statement, ends in open_ends.items():
            for end in ends:
                waiting[end].append(statement)
        ready = deque(statement for statement, ends in open_ends.items() if not ends)
        while ready:
            statement = ready.popleft()
            fact = self._place_one(statement, reifiers[statement])
            for reifier in reifiers[statement] if fact is not None else ():
                for other in waiting[reifier]:
                    open_ends[other].discard(reifier)
                    if not open_ends[other]:
                        ready.append(other)
        for statement, ends in open_ends.items():
            if ends:
                self._foreign.skip(statement, "it is about a triple that is no proposition")

    def _reifiers_in(self, statement: Statement) -> Iterator[NamedNode]:
        for end in (statement.subject, statement.object):
            if isinstance(end, NamedNode) and end in self._foreign.reified:
                yield end

    def _place_one(self, statement: Statement, reifiers: list[NamedNode]) -> Fact | None:
        subject, object_ = self._end(statement.subject), self._end(statement.object)
        predicate = self._names.predicate(statement.predicate.value)
        fault = _fault(subject, predicate, object_)
        if fault is not None:
            self._foreign.skip(statement, fault)
            return None
        assert subject is not None
        assert predicate is not None
        assert object_ is not None
        fact = (subject, predicate, object_)
        if fact in self.placed:
            self._foreign.skip(statement, "another triple states this fact already")
        else:
            self._add(fact, statement)
        placed = self.placed[fact]
        placed.reifiers.extend(reifiers)
        placed.graphs.update(self._foreign.graphs[statement])
        self.fact_of.update(dict.fromkeys(reifiers, fact))
        return fact

    def _add(self, fact: Fact, statement: Statement) -> None:
        id = f"P:{proposition_digits(*fact)}:{fact[1]}"
        height = 1 + max(self._heights.get(end, -1) for end in (fact[0], fact[2]))
        self._heights[id] = height
        self.placed[fact] = PlacedFact(id, statement.predicate.value, height)
        self._names.note("predicate", fact[1], statement.predicate.value)

    def _end(self, node: object) -> str | None:
        assert isinstance(node, NamedNode)
        if node in self.fact_of:
            return self.placed[self.fact_of[node]].id
        return self._end_of(node)


def _fault(subject: str | None, predicate: str | None, object_: str | None) -> str | None:
    """Why three parts make no proposition."""
    if predicate is None:
        return "of its predicate no identifier can be made"
    if subject is None or object_ is None:
        return "its object is no element of the data or of the nexus"
    if subject == object_:
        return "a proposition links two different elements; these ends are the same"
    return None
