"""Collects the values of subjects: external triples that are not facts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from pyoxigraph import Literal, NamedNode

from kiprdf.collector import cached
from kiprdf.errors import shown
from kiprdf.interchange.importing.blank_nodes import is_blank
from kiprdf.interchange.importing.element_index import SAME_AS
from kiprdf.interchange.importing.external import ExternalTriple, Items, Node, Object
from kiprdf.interchange.importing.identities import Context, Resource
from kiprdf.interchange.importing.names import OTHER_TYPES, Key
from kiprdf.interchange.importing.values import NodeValues, Origin, examples, is_number, to_value
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


class _Entry(NamedTuple):
    """A value, and where it is written."""

    key: Key
    is_metadata: bool
    value: Json


class ValueReader:
    """Collects the values of each subject; ``resource`` is None for the reifier of a fact."""

    def __init__(self, context: Context) -> None:
        self._external, self._naming = context.external, context.naming
        self._identities, self._metadata = context.identities, context.metadata
        self._originals = context.originals
        self.by_node: dict[Node, NodeValues] = defaultdict(NodeValues)
        self.classes: dict[str, set[str]] = defaultdict(set)
        """The classes that each type comes from."""
        self.warnings = Warnings()
        self._keys = cached(ValueReader._key, self)

    def add_type(self, statement: ExternalTriple, resource: Resource | None) -> None:
        """The type of a concept is in its identity, other classes go to an attribute."""
        if not isinstance(statement.object, NamedNode) or is_blank(statement.object):
            self._external.skip(statement, "a type is an IRI")
            return
        node_values = self._values_of(statement)
        iri = statement.object.value
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
        if resource is not None and self._is_name(statement, resource):
            self._add_label(statement)
            return
        entry = self._entry(statement, resource)
        if isinstance(entry, str):
            self._external.skip(statement, entry)
        elif entry is not None:
            self._add_entry(statement, entry)

    def _add_label(self, statement: ExternalTriple) -> None:
        """Note which property states the name of a concept."""
        if not self._naming.is_below_base(statement.subject.value):
            node_values = self._values_of(statement)
            node_values.label = statement.predicate.value
            node_values.note_graphs(self._external.graphs[statement], NAMES, node_values.label)

    def _entry(self, statement: ExternalTriple, resource: Resource | None) -> _Entry | str | None:
        """The key, place and value of a statement, or why it has none.

        None for what each engine writes by itself.
        """
        key, is_metadata = self.key(statement, resource)
        fault = self._fault(statement, key)
        if key is None or fault is not None:
            return fault
        if is_metadata and key.name in RESERVED_METADATA:
            return None
        try:
            value = to_value(statement.object, key.term)
        except ValueError as error:
            return str(error)
        if is_metadata and key.name in self._metadata:
            if key.is_native or self._naming.is_below_base(statement.subject.value):
                return f"the metadata key '{key.name}' is set by the import itself"
            is_metadata = False
        return _Entry(key, is_metadata, value)

    def _add_entry(self, statement: ExternalTriple, entry: _Entry) -> None:
        (key, is_metadata, value), property = entry, statement.predicate.value
        node_values, graphs = self._values_of(statement), self._external.graphs[statement]
        origin = None
        if not key.is_native:
            origin = Origin(is_metadata, key.name, property, statement.object, value)
            node_values.origins.append(origin)
        node_values.note_graphs(graphs, key.name, value, origin)
        if key.name == SAME_AS and not is_metadata:
            items = value if isinstance(value, list) else [value]
            iris = [item for item in items if isinstance(item, str)]
            if len(iris) < len(items):
                self._external.skip(statement, "the value of same_as must be an IRI")
            node_values.same_as.update(iris)
            return
        values = node_values.metadata if is_metadata else node_values.attributes
        always_array = key.term is not None and key.term.container is not None
        values.add(key.name, value, always_array, key.is_native)
        if not key.is_native:
            self._naming.note("metadata key" if is_metadata else "attribute", key.name, property)
        self.warnings.note_numbers(key.name, statement.object, value)
        if isinstance(statement.object, NamedNode) and not is_metadata:
            self.warnings.note_text(property, key.name, statement.object.value)

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

    def _values_of(self, statement: ExternalTriple) -> NodeValues:
        """The values of the subject, to which the graphs of the statement are added."""
        node_values = self.by_node[statement.subject]
        node_values.graphs.update(self._external.graphs[statement])
        return node_values

    def _is_name(self, statement: ExternalTriple, resource: Resource) -> bool:
        """Whether a statement only repeats the name of a concept."""
        property, type_name = statement.predicate.value, resource.identity.type
        if property == vocab.LABEL.value:
            if self._naming.is_mapped_attribute(property, type_name):
                return False
        # Under a mapping kiprdf writes the name twice.
        elif (
            not self._naming.is_below_base(statement.subject.value)
            or property != self._naming.labels(type_name)[0]
        ):
            return False
        record = self._originals.get(resource.identity.id)
        name = merged_name(record, statement.subject.value) or resource.identity.name
        return statement.object == Literal(name)

    def _fault(self, statement: ExternalTriple, key: Key | None) -> str | None:
        """Why a statement cannot become a value; None if it can."""
        if key is None:
            return "its predicate cannot be made an identifier"
        if key.name == SAME_AS and not self._naming.is_claim(statement.predicate.value):
            return "same_as holds original IRIs; a mapping can give this property another name"
        if key.name == OTHER_TYPES and not key.is_native:
            return "other_types holds classes; a mapping can give this property another name"
        object_ = statement.object
        if not isinstance(object_, NamedNode) or not is_blank(object_):
            return None
        if object_ in self._identities.refused:
            return "its object is a blank node that is not a concept"
        is_described = object_ in self._identities.resources or object_ in self._external.reified
        return None if is_described else "its object is a blank node without statements"


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
