"""A graph in which patterns also match what follows from its definitions.

All that follows is found first, by rules that are applied until nothing new follows; the evaluator
then matches it as it matches what is stated. So nothing here knows of questions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.oracle.graph import Graph, Pair, concept_id

Step = tuple[Pair, str]


class Entailed(Graph):
    """What is stated in a graph, and what follows; with ``same_as``, also from what is the same.

    Types and predicates are those of ``graph``, also if it hides a definition.
    """

    def __init__(self, graph: Graph, *, same_as: bool = False) -> None:
        super().__init__()
        self._graph = graph
        self.concepts, self.propositions = graph.concepts, graph.propositions
        self._representatives = self._clusters() if same_as else {}
        self._types = _closed(self._ends("subclass_of", "$ConceptType"))
        self._steps = self._one_step()
        self._pairs = self._all_pairs()

    def is_type(self, name: str) -> bool:
        return self._graph.is_type(name)

    def is_predicate(self, name: str) -> bool:
        return self._graph.is_predicate(name)

    def is_of_type(self, identifier: str, name: str) -> bool:
        """Rule: "``{type: "Place"}``, with or without a name, matches elements of its subtypes"."""
        stated = self.concepts[identifier]["type"]
        return stated == name or (stated, name) in self._types

    def representative(self, identifier: str) -> str:
        """Rule: "the element with the smallest id stands for the cluster"."""
        return self._representatives.get(identifier, identifier)

    def steps(self, predicate: str) -> Iterator[Step]:
        yield from sorted(self._steps.get(predicate, ()))

    def pairs(self, predicate: str) -> set[Pair]:
        return self._pairs.get(predicate, set())

    # What follows -----------------------------------------------------------------------------

    def _ends(self, predicate: str, meta_type: str) -> set[Pair]:
        """The names of definitions that propositions of a predicate connect."""
        ends = set()
        for subject, object_ in self._graph.pairs(predicate):
            one, other = self.concepts.get(subject), self.concepts.get(object_)
            if one and other and one["type"] == other["type"] == meta_type:
                ends.add((one["name"], other["name"]))
        return ends

    def _clusters(self) -> dict[str, str]:
        """The smallest id for each concept that is the same as another one."""
        stated = {
            pair
            for pair in self._graph.pairs("same_as")
            if pair[0] in self.concepts and pair[1] in self.concepts
        }
        same = _closed(stated | _reversed(stated))
        return {one: min(other for each, other in same if each == one) for one, _ in same}

    def _one_step(self) -> dict[str, set[Step]]:
        """Rule: "The link variable of a symmetric, inverse or subproperty match is the stated
        link"."""
        steps: dict[str, set[Step]] = {name: set() for name in self._predicates()}
        for identifier, link in self.propositions.items():
            ends = self.representative(link["subject"]), self.representative(link["object"])
            steps.setdefault(link["predicate"], set()).add((ends, identifier))
        above = self._ends("subproperty_of", "$PropositionType")
        changed = True
        while changed:
            before = sum(map(len, steps.values()))
            for name, wider in above:
                steps[wider] |= steps[name]
            for name, other in self._inverses():
                steps[other] |= {((o, s), link) for (s, o), link in steps[name]}
            changed = before < sum(map(len, steps.values()))
        return steps

    def _all_pairs(self) -> dict[str, set[Pair]]:
        """Rule: "``"p"`` is one or more steps", and what follows from that by the other rules."""
        pairs = {name: {pair for pair, _ in steps} for name, steps in self._steps.items()}
        above = self._ends("subproperty_of", "$PropositionType")
        changed = True
        while changed:
            before = sum(map(len, pairs.values()))
            for name, wider in above:
                pairs[wider] |= pairs[name]
            for name, other in self._inverses():
                pairs[other] |= _reversed(pairs[name])
            for name in pairs:
                if self._attribute(name, "is_transitive") is True:
                    pairs[name] = _closed(pairs[name])
            changed = before < sum(map(len, pairs.values()))
        return pairs

    def _inverses(self) -> set[Pair]:
        """Rule: "``is_symmetric``: both directions; ``inverse_of`` (attribute of either side): the
        inverse predicate, reversed, both ways"; an array names several."""
        names = self._predicates()
        stated = {(one, other) for one in names for other in self._named_inverses(one)}
        symmetric = {(n, n) for n in names if self._attribute(n, "is_symmetric") is True}
        return stated | _reversed(stated) | symmetric

    def _named_inverses(self, predicate: str) -> list[str]:
        named = self._attribute(predicate, "inverse_of")
        return [
            one for one in (named if isinstance(named, list) else [named]) if isinstance(one, str)
        ]

    def _predicates(self) -> list[str]:
        """The predicates that are defined, and those that are only named."""
        concepts = self.concepts.values()
        defined = [one["name"] for one in concepts if one["type"] == "$PropositionType"]
        return [*defined, *(one for name in defined for one in self._named_inverses(name))]

    def _attribute(self, predicate: str, key: str) -> Any:
        definition = self.concepts.get(concept_id("$PropositionType", predicate))
        return definition["attributes"].get(key) if definition else None


def _reversed(pairs: set[Pair]) -> set[Pair]:
    return {(other, one) for one, other in pairs}


def _closed(pairs: set[Pair]) -> set[Pair]:
    """The transitive closure."""
    while True:
        longer = {(a, d) for a, b in pairs for c, d in pairs if b == c}
        if longer <= pairs:
            return pairs
        pairs = pairs | longer
