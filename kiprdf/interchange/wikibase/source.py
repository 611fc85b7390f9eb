"""Triples of a document, taken one after another: what is not taken stays for a plain import."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias, cast

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple

from kiprdf.budget import paced
from kiprdf.interchange.importing.external import Node
from kiprdf.interchange.importing.names import label_rank
from kiprdf.interchange.wikibase.terms import LABEL, Role, is_property, value_type

SIMPLE = ("wdt", "ps", "pq", "pr")
"""The places of a property's plain values; the other places refer to value nodes."""
GraphName: TypeAlias = NamedNode | BlankNode | DefaultGraph


class WikibaseTriple(NamedTuple):
    """A triple without triple terms."""

    subject: Node
    predicate: NamedNode
    object: Any

    def __str__(self) -> str:
        return f"{self.subject} {self.predicate} {self.object} ."


class Source:
    """The triples of a document by their subjects, with their graphs."""

    def __init__(self, quads: Iterable[Quad]) -> None:
        self.graphs: dict[WikibaseTriple, list[GraphName]] = defaultdict(list)
        self._others: list[Quad] = []
        for quad in paced(quads):
            if isinstance(quad.object, Triple):
                self._others.append(quad)
            else:
                claim = WikibaseTriple(cast(Node, quad.subject), quad.predicate, quad.object)
                self.graphs[claim].append(quad.graph_name)
        self._remaining: dict[Any, list[WikibaseTriple]] = defaultdict(list)
        for claim in sorted(self.graphs, key=str):
            self._remaining[claim.subject].append(claim)

    def __contains__(self, node: object) -> bool:
        """Whether the document describes a node."""
        return bool(self.about(node))

    @property
    def subjects(self) -> list[Node]:
        return list(self._remaining)

    @property
    def all_graphs(self) -> list[GraphName]:
        """The graphs of the document."""
        return list(dict.fromkeys(graph for graphs in self.graphs.values() for graph in graphs))

    def about(self, node: object) -> list[WikibaseTriple]:
        """What remains of the triples of a subject."""
        return self._remaining.get(node, [])

    def objects(self, node: object, predicate: NamedNode) -> list[Any]:
        return [claim.object for claim in self.about(node) if claim.predicate == predicate]

    def take(self, claims: Iterable[WikibaseTriple]) -> None:
        """Remove triples, which something else replaces."""
        taken = set(claims)
        for subject in {claim.subject for claim in taken}:
            self._remaining[subject] = [c for c in self._remaining[subject] if c not in taken]

    def remaining(self) -> Iterator[Quad]:
        yield from self._others
        for claims in self._remaining.values():
            for claim in claims:
                for graph in self.graphs[claim]:
                    yield Quad(claim.subject, claim.predicate, claim.object, graph)

    def names(self, language: str | None) -> dict[str, str]:
        """The label of each described entity in the preferred language."""
        labels: dict[str, list[Literal]] = defaultdict(list)
        for subject in self._remaining:
            for value in self.objects(subject, LABEL):
                if isinstance(value, Literal):
                    labels[subject.value].append(value)
        return {
            iri: min(literals, key=lambda one: label_rank(one, language)).value
            for iri, literals in labels.items()
        }

    def properties(self) -> dict[str, str]:
        """The properties of the model that the document uses or describes, with value types.

        The value type is that of most plain values; "" without any.
        """
        types: dict[str, Counter[str]] = defaultdict(Counter)
        for claim in self.graphs:
            role, value = Role.of(claim.predicate), claim.object
            if role is not None and role.name in SIMPLE and isinstance(value, NamedNode | Literal):
                types[role.entity][value_type(value)] += 1
            elif role is not None:
                types[role.entity].update()
            elif is_property(claim.subject):
                types[claim.subject.value].update()
        return {
            entity: min(counts, key=lambda type: (-counts[type], type)) if counts else ""
            for entity, counts in sorted(types.items())
        }
