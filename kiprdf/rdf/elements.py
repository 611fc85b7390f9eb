"""A concept or proposition, read from the triples whose subject it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Any, TypeAlias, TypeGuard, TypeVar

from pyoxigraph import Literal, NamedNode, Quad, Triple

from kiprdf.dataclasses import dataclass
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, Iris
from kiprdf.rdf.literals import Json, normal, to_json

Term: TypeAlias = Literal | NamedNode
Terms: TypeAlias = dict[str, Term]
"""Attribute or metadata values by key."""


_SHOWN = {
    "ConceptNode": ("id", "type", "name"),
    "PropositionLink": ("id", "subject", "predicate", "object"),
}
"""The texts of an element in an answer, by its ``_type``."""


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
    convert: Callable[[Term], Term] | None = normal,
) -> Element | None:
    """The element a node is, from its triples; None when they say that it is none.

    Without ``convert`` its values are spelled as in the triples.
    """
    attributes, metadata, fact, is_typed = _sorted_out(triples, convert)
    if fact is not None:
        subject, predicate, object_ = _parts(iris, fact)
        return Proposition(node, subject, predicate, object_, attributes, metadata)
    name = iris.name(node.value) if is_typed else None
    if not isinstance(name, ConceptName):
        return None
    return Concept(node, name.type, name.name, attributes, metadata)


def read_object(
    iris: Iris, node: NamedNode, triples: Iterable[Triple | Quad]
) -> dict[str, Json] | None:
    """The KIP JSON of the element that a node is; None when its triples say that it is none.

    Empty maps are left out (KIP 2.2, 2.3).
    """
    attributes, metadata, fact, is_typed = _sorted_out(triples, to_json)
    shown: dict[str, Json]
    if fact is not None:
        subject, predicate, object_ = _parts(iris, fact)
        shown = {
            "_type": "PropositionLink",
            "id": iris.id(node),
            "subject": iris.id(subject),
            "predicate": predicate,
            "object": iris.id(object_),
        }
    else:
        name = iris.name(node.value) if is_typed else None
        if not isinstance(name, ConceptName):
            return None
        shown = {"_type": "ConceptNode", "id": name.id, "type": name.type, "name": name.name}
    if attributes:
        shown["attributes"] = dict(sorted(attributes.items()))
    if metadata:
        shown["metadata"] = dict(sorted(metadata.items()))
    return shown


def is_element(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a value of an answer is an element, and no attribute that only looks like one.

    >>> is_element({"_type": "ConceptNode", "id": "C:Drug/Zinc", "type": "Drug", "name": "Zinc"})
    True
    >>> is_element({"_type": "ConceptNode", "name": "Zinc"})
    False
    """
    if not isinstance(value, dict):
        return False
    kind = value.get("_type")
    keys = _SHOWN.get(kind, ()) if isinstance(kind, str) else ()
    return bool(keys) and all(isinstance(value.get(key), str) for key in keys)


def _parts(iris: Iris, fact: Triple) -> tuple[NamedNode, str, NamedNode]:
    subject, object_ = fact.subject, fact.object
    assert isinstance(subject, NamedNode)
    assert isinstance(object_, NamedNode)
    predicate = iris.name(fact.predicate.value)
    assert isinstance(predicate, ConceptName), fact.predicate
    return subject, predicate.name, object_


V = TypeVar("V")


def _sorted_out(
    triples: Iterable[Triple | Quad], convert: Callable[[Term], V] | None
) -> tuple[dict[str, V], dict[str, V], Triple | None, bool]:
    """The attributes and the metadata, the fact of a proposition, and whether there is a type."""
    attributes: dict[str, V] = {}
    metadata: dict[str, V] = {}
    fact: Triple | None = None
    is_typed = False
    value: Any
    for triple in triples:
        place = _PLACES[triple.predicate]
        if place is None:
            continue
        kind, key = place
        value = triple.object
        if kind == "attributes":
            attributes[key] = convert(value) if convert else value
        elif kind == "metadata":
            metadata[key] = convert(value) if convert else value
        elif kind == "type":
            is_typed = True
        elif isinstance(value, Triple):
            fact = value
    return attributes, metadata, fact, is_typed


class _Places(dict[NamedNode, "tuple[str, str] | None"]):
    """What the values of a predicate are for an element, and their key; None for other triples."""

    def __missing__(self, predicate: NamedNode) -> tuple[str, str] | None:
        if len(self) >= _MOST_PLACES:
            self.clear()
        place = self[predicate] = _place(predicate.value)
        return place


def _place(iri: str) -> tuple[str, str] | None:
    for kind, space in (("attributes", vocab.ATTRIBUTE), ("metadata", vocab.METADATA)):
        if iri.startswith(space):
            return kind, iri[len(space) :]
    return {vocab.TYPE.value: ("type", ""), vocab.REIFIES.value: ("fact", "")}.get(iri)


_MOST_PLACES = 4_096
_PLACES = _Places()


def attribute(element: Element, key: str) -> Json:
    """The value of an attribute; None if it is absent or null."""
    term = element.attributes.get(key)
    return None if term is None else to_json(term)


def metadata(element: Element, key: str) -> Json:
    """The value of a metadata key; None if it is absent or null."""
    term = element.metadata.get(key)
    return None if term is None else to_json(term)


def json_map(terms: Terms) -> dict[str, Json]:
    """Attribute or metadata terms as JSON, keys in alphabetical order."""
    return {key: to_json(terms[key]) for key in sorted(terms)}
