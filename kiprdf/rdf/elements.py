"""A concept or proposition, read from the triples whose subject it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias

from pyoxigraph import Literal, NamedNode, Quad, Triple

from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, Iris
from kiprdf.rdf.literals import Json, normal, to_json

Term: TypeAlias = Literal | NamedNode
Terms: TypeAlias = dict[str, Term]
"""Attribute or metadata values by key."""


@dataclass(slots=True)
class Concept:
    node: NamedNode
    type: str
    name: str
    attributes: Terms = field(default_factory=dict)
    metadata: Terms = field(default_factory=dict)


@dataclass(slots=True)
class Proposition:
    node: NamedNode
    subject: NamedNode
    predicate: str
    object: NamedNode
    attributes: Terms = field(default_factory=dict)
    metadata: Terms = field(default_factory=dict)


Element = Concept | Proposition


def read_element(
    iris: Iris,
    node: NamedNode,
    triples: Iterable[Triple | Quad],
    normalize: Callable[[Term], Term] = normal,
) -> Element | None:
    """The element a node is, from its triples; None when they say that it is none.

    Of spellings, whoever only shows an element needs no more than the order of keys in JSON.
    """
    attributes: Terms = {}
    metadata: Terms = {}
    fact: Triple | None = None
    typed = False
    value: Any
    for triple in triples:
        predicate, value = triple.predicate, triple.object
        space, key = _place(predicate)
        if space == vocab.ATTRIBUTE:
            attributes[key] = normalize(value)
        elif space == vocab.METADATA:
            metadata[key] = normalize(value)
        elif predicate == vocab.REIFIES and isinstance(value, Triple):
            fact = value
        elif predicate == vocab.TYPE:
            typed = True
    if fact is not None:
        assert isinstance(fact.subject, NamedNode)
        assert isinstance(fact.object, NamedNode)
        predicate_name = iris.name(fact.predicate.value)
        assert isinstance(predicate_name, ConceptName), fact.predicate
        return Proposition(
            node, fact.subject, predicate_name.name, fact.object, attributes, metadata
        )
    name = iris.name(node.value)
    if not typed or not isinstance(name, ConceptName):
        return None
    return Concept(node, name.type, name.name, attributes, metadata)


@lru_cache(maxsize=4_096)
def _place(predicate: NamedNode) -> tuple[str, str]:
    """The map that a predicate's values are in, and their key there; "" for other predicates."""
    for space in (vocab.ATTRIBUTE, vocab.METADATA):
        if predicate.value.startswith(space):
            return space, predicate.value[len(space) :]
    return "", ""


def json_map(terms: Terms) -> dict[str, Json]:
    """Attribute or metadata terms as JSON, keys in alphabetical order."""
    return {key: to_json(terms[key]) for key in sorted(terms)}


def to_object(iris: Iris, element: Element) -> dict[str, Json]:
    """The KIP JSON of an element; empty maps are left out (KIP 2.2, 2.3)."""
    shown: dict[str, Json]
    if isinstance(element, Concept):
        shown = {
            "_type": "ConceptNode",
            "id": ConceptName(element.type, element.name).id,
            "type": element.type,
            "name": element.name,
        }
    else:
        shown = {
            "_type": "PropositionLink",
            "id": iris.id(element.node),
            "subject": iris.id(element.subject),
            "predicate": element.predicate,
            "object": iris.id(element.object),
        }
    if element.attributes:
        shown["attributes"] = json_map(element.attributes)
    if element.metadata:
        shown["metadata"] = json_map(element.metadata)
    return shown
