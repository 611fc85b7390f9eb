"""Writes what came from a Wikibase in its RDF model again; the inverse of ``reading``.

Each triple that an import read is written as it was, unless the element has changed since: a
changed rank, qualifier or value is written with its new value. A fact between items that no
statement states becomes a direct claim.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import count
from typing import Any, NamedTuple

from pyoxigraph import BlankNode, NamedNode, Quad, RdfFormat, Triple, parse, serialize

from kiprdf.budget import paced
from kiprdf.interchange.forms import listed
from kiprdf.interchange.importing.element_index import SAME_AS
from kiprdf.interchange.importing.external import Node
from kiprdf.interchange.importing.names import OTHER_TYPES
from kiprdf.interchange.importing.plan import JsonMap
from kiprdf.interchange.mapping.apply import mapped_values
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.interchange.original.record import values_of
from kiprdf.interchange.wikibase.elements import (
    ALIAS,
    DERIVED_FROM,
    DESCRIPTION,
    FIELD_TYPES,
    IRI_TYPE,
    ITEM,
    LABEL,
    PREDICATE,
    STRUCTURE,
    UNKNOWN,
    VALUE_FIELDS,
    Role,
    decode,
    is_entity,
    is_property,
    property_iri,
    turtle_prefixes,
    wikibase,
)
from kiprdf.interchange.wikibase.reading import RANK, REFERENCE, usual_types
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, Iris
from kiprdf.rdf.literals import Json, to_term

_TEXTS = {"label": LABEL, "description": DESCRIPTION, "aliases": ALIAS}
_PREFIXES = {"prov": DERIVED_FROM.value.removesuffix("wasDerivedFrom"), "xsd": vocab.XSD}
_NODES = {"s": "entity/statement/", "ref": "reference/", "v": "value/"}
"""The prefixes of statements, references and value nodes."""
_NORMALIZED = "_normalized"
ITEM_KEYS = frozenset((*_TEXTS, SAME_AS, OTHER_TYPES, "label_copies", "undescribed"))
"""The attributes of items that no property of the Wikibase has."""


DOCUMENTS = ("Article", "Dataset")
"""The types of what a document of Wikibase describes besides entities."""


class Property(NamedTuple):
    """A property: the IRI of its entity, and what its plain values stand for."""

    entity: str
    value_type: str


class Element(NamedTuple):
    """An element of a Wikibase: its IRI there, if it has one, and its attributes and metadata."""

    iri: str | None
    attributes: JsonMap
    metadata: JsonMap


class Written(NamedTuple):
    """Wikibase RDF, and the elements of a nexus that it is made of."""

    triples: list[Triple]
    nodes: set[NamedNode]


def written(triples: Iterable[Triple], iris: Iris) -> Written:
    """What came from a Wikibase, in its RDF model."""
    writer = _Writer(triples, iris)
    return Written(list(dict.fromkeys(writer.written())), set(writer.nodes()))


def turtle(triples: Iterable[Triple], iris: Iris) -> str:
    """The Wikibase RDF of a nexus in Turtle, the same for the same triples."""
    own = written(triples, iris).triples
    bases = sorted({role.base for t in own if (role := Role.of(t.predicate)) is not None})
    prefixes = turtle_prefixes(f"{bases[0]}entity/P1") | _PREFIXES if bases else _PREFIXES
    if bases:
        prefixes |= {name: bases[0] + path for name, path in _NODES.items()}
    own.sort(key=lambda triple: (isinstance(triple.subject, BlankNode), str(triple)))
    text = serialize(own, format=RdfFormat.TURTLE, prefixes=prefixes)
    return "" if text is None else text.decode()


class _Writer:
    def __init__(self, triples: Iterable[Triple], iris: Iris) -> None:
        groups: dict[Any, list[Triple]] = defaultdict(list)
        for triple in sorted(paced(triples), key=str):
            groups[triple.subject].append(triple)
        self._groups, self._iris = groups, iris
        self._mapping = Mapping.load("wikidata")
        self._properties: dict[str, Property] = {}
        self._entities: dict[Any, Element] = {}
        self._values: dict[NamedNode, Element] = {}
        self._unknown_values: dict[NamedNode, Node] = {}
        self._blanks = count()
        for node, triples in groups.items():
            name = iris.name(node.value)
            if isinstance(name, ConceptName):
                self._sort(node, name, _element(triples))

    def _sort(self, node: NamedNode, name: ConceptName, element: Element) -> None:
        is_of_wikibase = element.iri is not None and is_entity(NamedNode(element.iri))
        if name.type == PREDICATE and is_of_wikibase:
            value_type = str(element.attributes.get("value_type", vocab.STRING.value))
            self._properties[name.name] = Property(str(element.iri), value_type)
            self._entities[node] = element
        elif is_of_wikibase:
            self._entities[node] = element
        elif name.type == "Value" and "kind" in element.attributes:
            self._values[node] = element

    def _facts(self, triples: Iterable[Triple]) -> Iterator[Any]:
        for triple in triples:
            if triple.predicate == vocab.REIFIES and isinstance(triple.object, Triple):
                yield triple.object

    def _is_fact(self, fact: Any) -> bool:
        """Whether a triple is a fact of a property with two ends that a Wikibase has."""
        name = self._property_name(fact.predicate)
        return (
            name in self._properties
            and fact.subject in self._entities
            and (fact.object in self._entities or fact.object in self._values)
        )

    def _property_name(self, predicate: NamedNode) -> str:
        name = self._iris.name(predicate.value)
        return name.name if isinstance(name, ConceptName) else ""

    def nodes(self) -> Iterator[NamedNode]:
        """The elements that are written."""
        yield from self._entities
        yield from self._values
        for node, triples in paced(self._groups.items()):
            if self._is_document(node) or any(map(self._is_fact, self._facts(triples))):
                yield node

    def _is_document(self, node: NamedNode) -> bool:
        """Whether a node is an article about an item, or the document that describes it."""
        name, triples = self._iris.name(node.value), self._groups[node]
        if not isinstance(name, ConceptName) or name.type not in DOCUMENTS:
            return False
        own = _element(triples).iri
        is_of_wikibase = own is not None and own.startswith(wikibase("").value)
        return own is not None and (is_of_wikibase or any(map(self._is_about, triples)))

    def _is_about(self, triple: Triple) -> bool:
        predicate = self._mapping.predicate(self._property_name(triple.predicate))
        return predicate is not None and triple.object in self._entities

    # Elements ---------------------------------------------------------------------------------

    def written(self) -> Iterator[Triple]:
        for element in self._entities.values():
            yield from self._entity(element)
        for element in self._values.values():
            yield from self._value_node(element)
        for node, triples in paced(self._groups.items()):
            if self._is_document(node):
                yield from self._document(triples)
            for fact in self._facts(triples):
                if self._is_fact(fact):
                    yield from self._fact(fact, _element(triples))

    def _entity(self, element: Element) -> Iterator[Triple]:
        subject, attributes = NamedNode(str(element.iri)), element.attributes
        if is_property(subject):
            text = str(attributes.get(STRUCTURE, ""))
            prefixes = turtle_prefixes(subject.value).items()
            header = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in prefixes)
            names: dict[Any, BlankNode] = defaultdict(self._blank)
            for triple in _parsed(header + text):
                ends: tuple[Any, Any] = (triple.subject, triple.object)
                first, last = (names[end] if isinstance(end, BlankNode) else end for end in ends)
                yield Triple(first, triple.predicate, last)
        else:
            if not attributes.get("undescribed"):
                yield Triple(subject, vocab.TYPE, ITEM)
            for key, predicate in _TEXTS.items():
                copies = listed(attributes.get("label_copies")) if key == "label" else []
                for value in _terms(attributes.get(key), vocab.STRING.value):
                    yield Triple(subject, predicate, value)
                    for copy in _terms(copies, IRI_TYPE):
                        yield Triple(subject, copy, value)
        for value in _terms(attributes.get(OTHER_TYPES), IRI_TYPE):
            yield Triple(subject, vocab.TYPE, value)
        yield from self._claims(subject, attributes)

    def _document(self, triples: list[Triple]) -> Iterator[Triple]:
        own: Any = triples[0].subject
        name, element = self._iris.name(own.value), _element(triples)
        assert isinstance(name, ConceptName)
        assert element.iri is not None
        subject, type_iri = NamedNode(element.iri), self._mapping.concept_type(name.type)
        assert type_iri is not None
        yield Triple(subject, vocab.TYPE, type_iri)
        for key, value in element.attributes.items():
            term = self._mapping.attribute(key, name.type)
            if term is not None and key != SAME_AS:
                for form in mapped_values(term, to_term(value), self._iris.base):
                    yield Triple(subject, term.iri, form)
        for triple in triples:
            predicate = self._mapping.predicate(self._property_name(triple.predicate))
            if predicate is not None and triple.object in self._entities:
                yield Triple(subject, predicate, NamedNode(str(self._entities[triple.object].iri)))

    def _claims(self, subject: NamedNode, attributes: JsonMap) -> Iterator[Triple]:
        """The direct claims of literals and URLs."""
        for key, value in attributes.items():
            for name, role in ((key, "wdt"), (key.removesuffix(_NORMALIZED), "wdtn")):
                if key in ITEM_KEYS or name not in self._properties:
                    continue
                entity, value_type = self._properties[name]
                for term in _terms(value, value_type if role == "wdt" else IRI_TYPE):
                    yield Triple(subject, property_iri(entity, role), term)
                break

    def _value_node(self, element: Element) -> Iterator[Triple]:
        kind = element.attributes.get("kind")
        if not isinstance(kind, str) or kind not in VALUE_FIELDS or element.iri is None:
            return
        subject = NamedNode(element.iri)
        yield Triple(subject, vocab.TYPE, wikibase(kind))
        for key, name in VALUE_FIELDS[kind].items():
            for term in _terms(element.attributes.get(key), FIELD_TYPES.get(name, "")):
                yield Triple(subject, wikibase(name), term)

    def _node(self, iri: Json) -> Node:
        """The node with an IRI, otherwise a new blank node."""
        return next(_terms([iri], IRI_TYPE), None) or self._blank()

    def _blank(self) -> BlankNode:
        return BlankNode(f"b{next(self._blanks)}")

    # Statements -------------------------------------------------------------------------------

    def _fact(self, fact: Any, element: Element) -> Iterator[Triple]:
        property = self._properties[self._property_name(fact.predicate)]
        item = NamedNode(str(self._entities[fact.subject].iri))
        value, value_node = self._value(fact.object)
        attributes = element.attributes
        if attributes.get("truthy", True) and self._has_claim(fact.object):
            yield Triple(item, property_iri(property.entity, "wdt"), value)
        if "truthy" not in attributes:
            return  # a direct claim alone, or a fact that was made here
        several = attributes.get("statements")
        entries = [attributes]
        if several:
            entries = [entry for entry in listed(several) if isinstance(entry, dict)]
        for entry in entries:
            own = entry.get("id") if several else element.iri
            node = self._node(own)
            yield Triple(item, property_iri(property.entity, "p"), node)
            if value is not None:
                yield Triple(node, property_iri(property.entity, "ps"), value)
            if value_node is not None:
                yield Triple(node, property_iri(property.entity, "psv"), value_node)
            references = entry if several else element.metadata
            yield from self._statement(node, property, entry, value is None)
            yield from self._references(node, references.get("references"))

    def _has_claim(self, node: NamedNode) -> bool:
        """Whether a direct claim of an end is a link; that of a literal or URL is a value."""
        kind = self._values[node].attributes.get("kind") if node in self._values else None
        return kind in (None, "somevalue")

    def _value(self, node: NamedNode) -> tuple[Any, NamedNode | None]:
        """The main value of a statement, and its value node."""
        if node in self._entities:
            return NamedNode(str(self._entities[node].iri)), None
        element = self._values[node]
        kind, attributes = element.attributes.get("kind"), element.attributes
        if kind == "novalue":
            return None, None
        if kind == "somevalue":
            own = self._node(element.iri)
            return self._unknown_values.setdefault(node, own), None
        terms = _terms(attributes.get("value"), str(attributes.get("value_type", "")))
        has_node = isinstance(kind, str) and kind in VALUE_FIELDS and element.iri is not None
        return next(terms, None), NamedNode(str(element.iri)) if has_node else None

    def _statement(
        self, node: Node, property: Property, entry: JsonMap, is_empty: bool
    ) -> Iterator[Triple]:
        types = entry.get("types", usual_types(bool(entry.get("truthy"))))
        if is_empty:
            yield Triple(node, vocab.TYPE, property_iri(property.entity, "wdno"))
        for value in _terms(types, IRI_TYPE):
            yield Triple(node, vocab.TYPE, value)
        rank = entry.get("rank")
        if isinstance(rank, str):
            yield Triple(node, RANK, wikibase(f"{rank.capitalize()}Rank"))
        yield from self._snaks(node, entry, "pq")

    def _references(self, node: Node, references: Json) -> Iterator[Triple]:
        for reference in listed(references):
            if not isinstance(reference, dict):
                continue
            own = reference.get("id")
            target = self._node(own)
            yield Triple(node, DERIVED_FROM, target)
            for value in _terms(reference.get("types", REFERENCE.value), IRI_TYPE):
                yield Triple(target, vocab.TYPE, value)
            yield from self._snaks(target, reference, "pr")

    def _snaks(self, node: Node, values: JsonMap, role: str) -> Iterator[Triple]:
        """Qualifiers of a statement or parts of a reference, and their value nodes."""
        for key, value in values.items():
            if key in self._properties:
                entity, value_type = self._properties[key]
                unknown = [self._blank() for item in listed(value) if item == UNKNOWN]
                for term in (*_terms(value, value_type), *unknown):
                    yield Triple(node, property_iri(entity, role), term)
        nodes = values.get("value_nodes")
        for key, node_iris in nodes.items() if isinstance(nodes, dict) else ():
            part, _, id = key.partition(":")
            entities = (entity for entity, _ in self._properties.values())
            for entity in (one for one in entities if one.endswith(f"/{id}")):
                for term in _terms(node_iris, IRI_TYPE):
                    yield Triple(node, property_iri(entity, part), term)


def _terms(value: Json, value_type: str) -> Iterator[Any]:
    """The terms of a value or of the items of an array; what is not a term is left out."""
    for item in listed(value):
        with suppress(ValueError):
            yield decode(item, value_type)


def _parsed(text: str) -> list[Quad]:
    """The triples of a text in Turtle; none if it was changed to something else."""
    with suppress(SyntaxError):
        return list(parse(text, format=RdfFormat.TURTLE))
    return []


def _element(triples: Iterable[Triple]) -> Element:
    """The attributes and metadata of an element, and its first original IRI."""
    attributes, metadata = values_of(triples)
    originals = listed(attributes.get(SAME_AS))
    own: NamedNode | None = next(_terms(originals[:1], IRI_TYPE), None)
    is_named = own is not None and not own.value.startswith(vocab.BLANK)
    return Element(own.value if own is not None and is_named else None, attributes, metadata)
