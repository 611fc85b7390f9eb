"""Collects the values of subjects: external triples that are not facts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field

from pyoxigraph import Literal, NamedNode

from kiprdf.collector import cached
from kiprdf.dataclasses import dataclass
from kiprdf.errors import shown
from kiprdf.interchange.importing.blank_nodes import is_blank
from kiprdf.interchange.importing.element_index import SAME_AS
from kiprdf.interchange.importing.external import ExternalTriple, Items, Node, Object
from kiprdf.interchange.importing.identities import Context, Resource
from kiprdf.interchange.importing.names import OTHER_TYPES, Key
from kiprdf.interchange.importing.origins import usage_of
from kiprdf.interchange.importing.values import (
    LONG,
    TEXTS,
    NodeValues,
    Origin,
    Use,
    checked,
    examples,
    is_number,
    to_value,
)
from kiprdf.kml.merged_origins import ORIGINAL, merged_name
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import Json
from kiprdf.semantics.arguments import RESERVED_METADATA

GRAPH = "graph"
"""The metadata key with the IRI of a named graph, or several."""
GRAPH_VALUES = "graph_values"
"""The metadata key with the values that each named graph states, where graphs differ."""
_OWN_METADATA = RESERVED_METADATA | {GRAPH, GRAPH_VALUES, ORIGINAL}
"""What an engine or an import writes by itself, which is not metadata of other data."""
TYPES, NAMES = "@type", "@name"
"""The keys of ``graph_values`` for classes, and for properties that state the name alone."""
_TAGGED = (f"{vocab.RDF}langString", f"{vocab.RDF}dirLangString")


@dataclass(slots=True)
class _Place:
    """Where the values of a property are written, and why they are not."""

    property: str
    key: Key | None
    is_metadata: bool
    fault: str | None
    is_own: bool = False
    """Whether each engine writes it by itself."""
    conflict: str | None = None
    """Why it does not go beside what the import itself writes."""
    is_name: bool = False
    """Whether a value may only repeat the name of a concept."""
    varies: bool = False
    """Whether the key depends on the value."""
    uses: dict[str, Use] = field(default_factory=dict)
    """What values say about the key, by their datatype or language."""


class ValueReader:
    """Collects the values of each subject; ``resource`` is None for the reifier of a fact.

    Statements about one subject follow each other: what is the same for them is found once.
    """

    def __init__(self, context: Context) -> None:
        self._external, self._naming = context.external, context.naming
        self._identities, self._metadata = context.identities, context.metadata
        self._originals = context.originals
        self.by_node: dict[Node, NodeValues] = defaultdict(NodeValues)
        self.classes: dict[str, set[str]] = defaultdict(set)
        """The classes that each type comes from."""
        self.warnings = Warnings()
        self._keys = cached(ValueReader._key, self)
        self._places: dict[tuple[str | None, bool], dict[NamedNode, _Place]] = defaultdict(dict)
        """The places of properties, by the type of the subject, and whether it is ours."""
        shared = context.external.shared
        self._only = None if shared is None else frozenset(shared)
        """The graphs of all statements, if they have the same."""
        self._subject: Node | None = None
        self._values: NodeValues | None = None
        self._own_places: dict[NamedNode, _Place] = {}
        self._is_ours = False
        self._name: Literal | None = None

    def _begin(self, subject: Node, resource: Resource | None) -> None:
        """Go on with another subject."""
        self._subject, self._values, self._name = subject, None, None
        if resource is None:
            type_name, self._is_ours = None, self._naming.is_below_base(subject.value)
        else:
            type_name, self._is_ours = resource.identity.type, resource.is_ours
        self._own_places = self._places[type_name, self._is_ours]

    def add_type(self, statement: ExternalTriple, resource: Resource | None) -> None:
        """The type of a concept is in its identity, other classes go to an attribute."""
        if not isinstance(statement.object, NamedNode) or is_blank(statement.object):
            self._external.skip(statement, "a type is an IRI")
            return
        if statement[0] is not self._subject:
            self._begin(statement[0], resource)
        node_values = self._values_of(statement)
        iri = statement.object.value
        if self._only is None:
            node_values.note_graphs(self._external.graphs[statement], TYPES, iri)
        if resource is None or iri in resource.types:
            node_values.attributes.add(OTHER_TYPES, iri, always_array=True)
        else:
            self.classes[resource.identity.type].add(iri)
            if not self._naming.is_below_base(iri):
                node_values.classes.append(iri)
            if resource.class_iri is not None:
                self._naming.note("concept type", resource.identity.type, iri)

    def add(self, statement: ExternalTriple, resource: Resource | None) -> None:
        """Add a value under its key, or skip it with a reason; a name is in the identity."""
        subject, predicate, object_ = statement
        if subject is not self._subject:
            self._begin(subject, resource)
        place = self._own_places.get(predicate)
        if place is None:
            type_name = None if resource is None else resource.identity.type
            place = self._place(predicate.value, type_name, self._is_ours)
            self._own_places[predicate] = place
        if place.is_name and resource is not None and object_ == self._name_of(resource):
            self._add_label(statement)
            return
        if place.varies:
            type_name = None if resource is None else resource.identity.type
            place = self._place(predicate.value, type_name, self._is_ours, object_)
        fault = place.fault
        if isinstance(object_, NamedNode):
            fault = fault or self._fault(object_)
        if fault is not None:
            self._external.skip(statement, fault)
        elif place.key is not None and not place.is_own:
            kind = _kind(object_)
            try:
                if kind in TEXTS:
                    assert isinstance(object_, Literal)
                    text = object_.value
                    value: Json = text if len(text) <= LONG else checked(text)
                else:
                    value = to_value(object_, place.key.term)
            except ValueError as error:
                self._external.skip(statement, str(error))
                return
            if place.conflict is not None:
                self._external.skip(statement, place.conflict)
            else:
                self._add_value(statement, place, place.key, kind, value)

    def _add_label(self, statement: ExternalTriple) -> None:
        """Note which property states the name of a concept."""
        if not self._is_ours:
            node_values = self._values_of(statement)
            node_values.label = statement.predicate.value
            if self._only is None:
                graphs = self._external.graphs[statement]
                node_values.note_graphs(graphs, NAMES, node_values.label)

    def _add_value(
        self, statement: ExternalTriple, place: _Place, key: Key, kind: str, value: Json
    ) -> None:
        term, node_values, origin = statement[2], self._values_of(statement), None
        if not key.is_native:
            use = place.uses.get(kind) or self._use(place, key.name, kind, term)
            origin = Origin(use, term, value)
            node_values.origins.append(origin)
        if self._only is None:
            graphs = self._external.graphs[statement]
            node_values.note_graphs(graphs, key.name, value, origin)
        if key.name == SAME_AS and not place.is_metadata:
            items = value if isinstance(value, list) else [value]
            iris = [item for item in items if isinstance(item, str)]
            if len(iris) < len(items):
                self._external.skip(statement, "the value of same_as must be an IRI")
            node_values.same_as |= {*iris}
            return
        values = node_values.metadata if place.is_metadata else node_values.attributes
        always_array = key.term is not None and key.term.container is not None
        values.add(key.name, value, always_array, key.is_native)
        if isinstance(value, dict | list):
            self.warnings.note_numbers(key.name, term, value)
        if isinstance(term, NamedNode) and not place.is_metadata:
            self.warnings.note_text(place.property, key.name, term.value)

    def _use(self, place: _Place, key: str, kind: str, term: Object) -> Use:
        """What a value says about its key. Data have few uses, and each in very many triples."""
        property = place.property
        use = Use(place.is_metadata, key, property, usage_of(property, term), kind)
        if kind:  # lists are of all kinds
            place.uses[kind] = use
        if place.is_metadata or key != SAME_AS:
            self._naming.note("metadata key" if place.is_metadata else "attribute", key, property)
        return use

    def key(self, statement: ExternalTriple, resource: Resource | None) -> tuple[Key | None, bool]:
        """The key of a value, and whether it is metadata.

        What the mapping has as metadata describes a reifier, or an element that kiprdf wrote. Of
        other subjects it is a fact about the thing, not about our record of it: an attribute.
        """
        property, naming = statement.predicate.value, self._naming
        type_name = resource.identity.type if resource else None
        is_ours = naming.is_below_base(statement.subject.value)
        if naming.has_several_keys(property, type_name):
            return self._key(property, type_name, is_ours, statement.object)
        return self._keys(property, type_name, is_ours)

    def _key(
        self, property: str, type_name: str | None, is_ours: bool, value: Object | None = None
    ) -> tuple[Key | None, bool]:
        """The key of a property of elements of a type; without a type, of reifiers.

        ``value`` is needed where a mapping has several keys for the property.
        """
        metadata = self._naming.metadata(property, value)
        if property.startswith(vocab.METADATA):
            return metadata, True
        is_reserved = metadata is not None and metadata.name in _OWN_METADATA
        is_attribute = type_name is not None and (
            self._naming.is_mapped_attribute(property, type_name)
            # A name at the top of a mapping is a key of metadata too.
            or property == self._naming.labels(type_name)[0]
        )
        if is_reserved:
            is_attribute = is_attribute or not is_ours
        if metadata is not None and not is_attribute:
            return metadata, type_name is None or is_ours
        return self._naming.attribute(property, type_name, value), False

    def _place(
        self, property: str, type_name: str | None, is_ours: bool, value: Object | None = None
    ) -> _Place:
        """Where the values of a property of elements of a type go; without a type, of reifiers."""
        key, is_metadata = self._key(property, type_name, is_ours, value)
        is_name = type_name is not None and self._is_of_names(property, type_name, is_ours)
        varies = self._naming.has_several_keys(property, type_name)
        fault = conflict = None
        is_own = key is not None and is_metadata and key.name in RESERVED_METADATA
        if key is None:
            fault = "its predicate cannot be made an identifier"
        elif key.name == SAME_AS and not self._naming.is_claim(property):
            fault = "same_as holds original IRIs; a mapping can give this property another name"
        elif key.name == OTHER_TYPES and not key.is_native:
            fault = "other_types holds classes; a mapping can give this property another name"
        elif is_metadata and key.name in self._metadata:
            if key.is_native or is_ours:
                conflict = f"the metadata key '{key.name}' is set by the import itself"
            is_metadata = False
        return _Place(property, key, is_metadata, fault, is_own, conflict, is_name, varies)

    def _values_of(self, statement: ExternalTriple) -> NodeValues:
        """The values of the subject, to which the graphs of the statement are added."""
        if self._values is None:
            self._values = self.by_node[statement.subject]
            self._values.graphs |= self._only or frozenset()
        if self._only is None:
            self._values.graphs |= {*self._external.graphs[statement]}
        return self._values

    def _is_of_names(self, property: str, type_name: str, is_ours: bool) -> bool:
        """Whether a property may only repeat the name of a concept."""
        if property == vocab.LABEL.value:
            return not self._naming.is_mapped_attribute(property, type_name)
        # Under a mapping kiprdf writes the name twice.
        return is_ours and property == self._naming.labels(type_name)[0]

    def _name_of(self, resource: Resource) -> Literal:
        """The name of the subject, as data state it."""
        if self._name is None:
            assert self._subject is not None
            record = self._originals.get(resource.id) if self._originals else None
            merged = merged_name(record, self._subject.value)
            self._name = Literal(merged or resource.identity.name)
        return self._name

    def _fault(self, term: NamedNode) -> str | None:
        """Why a node cannot become a value; None if it can."""
        if not is_blank(term):
            return None
        if term in self._identities.refused:
            return "its object is a blank node that is not a concept"
        is_described = term in self._identities.resources or term in self._external.reified
        return None if is_described else "its object is a blank node without statements"


def _kind(term: Object) -> str:
    """What all terms that say the same about their key have in common; "" for lists."""
    if not isinstance(term, Literal):
        return "" if isinstance(term, Items) else "@id"
    kind = term.datatype.value
    return f"@{term.language}--{term.direction}" if kind in _TAGGED else kind


class Warnings:
    """Collects values that a plan stores differently from the data."""

    def __init__(self) -> None:
        self._texts: list[tuple[str, str, str]] = []
        self._numbers: dict[str, list[str]] = defaultdict(list)

    def note_text(self, property: str, key: str, iri: str) -> None:
        """Note an IRI that became a string under a key."""
        self._texts.append((property, key, iri))

    def note_numbers(self, key: str, term: Object, value: Json) -> None:
        """Note the numbers of a value that JSON cannot hold."""
        if isinstance(term, Items) and isinstance(value, list):
            for item, kept in zip(term.terms, value, strict=True):
                self.note_numbers(key, item, kept)
        elif isinstance(term, Literal) and isinstance(value, dict) and is_number(term):
            name = term.datatype.value.removeprefix(vocab.XSD)
            self._numbers[key].append(f'"{shown(term.value)}"^^xsd:{name}')

    def sentences(self, is_predicate: Callable[[str], bool]) -> Iterator[str]:
        """A sentence for each kind of warning and each key, with the first examples."""
        undescribed: dict[str, list[str]] = defaultdict(list)
        for property, key, iri in self._texts:
            if is_predicate(property):
                undescribed[key].append(f"<{iri}>")
        for key, iris in sorted(undescribed.items()):
            yield f"{key}: {examples(iris)} {_are(iris)} not described; kept as a string."
        for key, numbers in sorted(self._numbers.items()):
            yield f"{key}: JSON has no number {examples(numbers)}; kept with the datatype."


def _are(texts: Sequence[str]) -> str:
    return "is" if len(set(texts)) == 1 else "are"
