"""Random graphs with definitions from which something follows, and questions about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from hypothesis import strategies as st

from tests.oracle.entailed import Entailed
from tests.oracle.graph import Graph, concept_id, proposition_id
from tests.properties.strategies import PREDICATES, TYPES, QueryWriter, Words, graphs

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[T]], T]
Entail = Literal[True, "same_as"]

HIERARCHIES = ("subclass_of", "subproperty_of")
RULES = (*HIERARCHIES, "same_as")
KEYS = ("is_symmetric", "is_transitive", "inverse_of")
# Each predicate is about as often of some kind as not.
VALUES: dict[str, tuple[Any, ...]] = {
    "is_symmetric": (True, True, False, None, "true", 1, [True]),
    "is_transitive": (True, True, False, None, "true", 1),
    "inverse_of": (*PREDICATES, *PREDICATES, "later", None, True, ["knows", 1, "says"]),
}
WORDS = Words(predicates=(*PREDICATES, *PREDICATES, *RULES))


@dataclass(frozen=True)
class Case:
    """A graph, questions, what to ask for, and a change of one definition."""

    graph: Graph
    queries: list[str]
    entail: Entail
    changed: str
    changes: dict[str, Any]


@st.composite
def ruled_graphs(draw: Draw[Any]) -> Graph:
    """A graph of ``graphs`` with some rules about its types, its predicates and its concepts."""
    graph = draw(graphs())
    graph.define(predicates=RULES)
    for name in PREDICATES:
        attributes = graph.concepts[concept_id("$PropositionType", name)]["attributes"]
        attributes |= draw(changes())
    types = [i for i, one in graph.concepts.items() if one["type"] == "$ConceptType"]
    predicates = [concept_id("$PropositionType", name) for name in PREDICATES]
    concepts = [i for i, one in graph.concepts.items() if one["type"] in TYPES]
    for predicate, ends in zip(RULES, (types, predicates, concepts), strict=True):
        for _ in range(draw(st.sampled_from((0, 1, 1, 2, 3)))):
            # Now and then a rule is about something that it says nothing about.
            others = concepts if draw(st.integers(0, 9)) == 9 else ends
            add_fact(draw, graph, draw(st.sampled_from(ends)), predicate, others)
    return graph


def add_fact(
    draw: Draw[Any], graph: Graph, subject: str, predicate: str, objects: Sequence[str]
) -> None:
    """Add a fact about a subject, unless there is none that is new."""
    new = [one for one in objects if proposition_id(subject, predicate, one) not in graph]
    if new:
        graph.proposition(subject, predicate, draw(st.sampled_from(new)))


@st.composite
def changes(draw: Draw[Any]) -> dict[str, Any]:
    """Attributes of a predicate."""
    keys = [key for key in KEYS if draw(st.integers(0, 2)) == 2]
    return {key: draw(st.sampled_from(VALUES[key])) for key in keys}


@st.composite
def ruled_cases(draw: Draw[Any]) -> Case:
    graph = draw(ruled_graphs())
    entail = draw(st.sampled_from((True, True, "same_as")))
    entailed = Entailed(graph, same_as=entail == "same_as")
    asked = draw(st.lists(ruled_queries(entailed), min_size=4, max_size=8))
    changed = concept_id("$PropositionType", draw(st.sampled_from(PREDICATES)))
    return Case(graph, asked, entail, changed, draw(changes()) or {"is_transitive": True})


@st.composite
def ruled_queries(draw: Draw[Any], graph: Entailed) -> str:
    """The text of a FIND that often needs what follows."""
    return RuledWriter(draw, graph, WORDS).find()


class RuledWriter(QueryWriter):
    """Writes queries whose patterns match what follows."""

    _graph: Entailed

    def ends(self, example: str | None) -> Sequence[str | None]:
        """Those of a pair that follows from an example, or of any pair of a predicate."""
        if example not in self._graph.propositions:
            return super().ends(example)
        matches = [
            (pair[0], name, pair[1])
            for name in PREDICATES
            for pair, link in self._graph.steps(name)
            if link == example
        ]
        if not matches or self.one_in(3):
            stated = self._graph.propositions[example]["predicate"]
            name = self.pick(PREDICATES) if self.one_in(2) else stated
            matches = [(one, name, other) for one, other in sorted(self._graph.pairs(name))]
        return self.pick(matches) if matches else super().ends(example)

    def type_for(self, identifier: str) -> str:
        stated = super().type_for(identifier)
        types = [name for name in TYPES if self._graph.is_of_type(identifier, name)]
        return str(self.pick(types)) if types and self.one_in(2) else stated
