"""What the nodes of a Wikibase document become: entities, and values as concepts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad

from kiprdf.interchange.importing.element_index import ElementIndex
from kiprdf.interchange.importing.external import Node
from kiprdf.interchange.wikibase.properties import Properties
from kiprdf.interchange.wikibase.source import GraphName, Source, WikibaseTriple
from kiprdf.interchange.wikibase.terms import (
    SIGNED,
    UNKNOWN,
    Role,
    encode,
    is_entity,
    is_property,
    is_unknown,
    value_type,
    wikibase,
)
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import Json, canonical_json

ITEM, VALUE = wikibase("Item"), wikibase("Value")
LABEL = vocab.LABEL
VALUE_FIELDS: dict[str, dict[str, str]] = {
    "TimeValue": {
        "time": "timeValue",
        "precision": "timePrecision",
        "timezone": "timeTimezone",
        "calendar": "timeCalendarModel",
    },
    "QuantityValue": {
        "amount": "quantityAmount",
        "unit": "quantityUnit",
        "lower_bound": "quantityLowerBound",
        "upper_bound": "quantityUpperBound",
        "normalized": "quantityNormalized",
    },
    "GlobecoordinateValue": {
        "latitude": "geoLatitude",
        "longitude": "geoLongitude",
        "precision": "geoPrecision",
        "globe": "geoGlobe",
    },
}
"""The attributes of each kind of value node, and their properties."""
FIELD_TYPES = {
    "timeValue": vocab.XSD + "dateTime",
    "timePrecision": vocab.XSD + "integer",
    "timeTimezone": vocab.XSD + "integer",
    **dict.fromkeys(
        ("quantityAmount", "quantityLowerBound", "quantityUpperBound"),
        f"{SIGNED}{vocab.XSD}decimal",
    ),
    **dict.fromkeys(("geoLatitude", "geoLongitude", "geoPrecision"), vocab.XSD + "double"),
}
"""The value types of these properties."""


class Elements:
    """Finds and writes the elements of one document; ``names`` are those of its entities."""

    def __init__(
        self, source: Source, index: ElementIndex, properties: Properties, names: dict[str, str]
    ) -> None:
        self._source, self._index = source, index
        self._properties, self._names = properties, names
        self.written: list[Quad] = []
        graphs = source.all_graphs
        self._graph = graphs[0] if len(graphs) == 1 else DefaultGraph()
        """Where values are written: in the graph of the document if it has only one."""
        self._typed: set[Node] = set()
        """Entities and values that were given a type."""
        self._unknown_values: dict[Node, NamedNode] = {}
        self._value_nodes: set[Node] = set()
        self._main_values: dict[Node, Node | Literal] = {}

    def write(
        self, subject: Any, predicate: NamedNode, value: Any, graph: GraphName | None = None
    ) -> None:
        self.written.append(Quad(subject, predicate, value, graph or self._graph))

    def set(self, node: Node, key: str, value: Json, space: str = vocab.ATTRIBUTE) -> None:
        literal = Literal(canonical_json(value), datatype=vocab.JSON)
        self.write(node, NamedNode(space + key), literal)

    def is_written(self, node: object) -> bool:
        """Whether a node was made an element."""
        return node in self._typed

    # Entities and values ------------------------------------------------------------------------

    def use(self, entity: Node) -> None:
        """Make a concept of an entity that has no class in the document."""
        if entity in self._typed or is_property(entity):
            return
        self._typed.add(entity)
        is_described = bool(self._source.objects(entity, vocab.TYPE))
        id = self._index.element(entity.value)
        if not is_described and id is None:
            self.write(entity, vocab.TYPE, ITEM)
            self.set(entity, "undescribed", True)
        elif is_described and id is not None and self._index.value(id, "undescribed"):
            self.set(entity, "undescribed", False)

    def json(self, value: Any, entity: str) -> Json:
        if isinstance(value, BlankNode):
            return UNKNOWN
        return encode(value, self._properties.value_type(entity), self._names)

    def end(self, node: Node) -> NamedNode | None:
        """The element that a node becomes; None for a property that is not defined."""
        if is_property(node):
            return self._properties.definition(node.value)
        if is_entity(node):
            self.use(node)
        assert isinstance(node, NamedNode)
        return node

    def value(self, value: Any, role: Role, deep: list[Any], statement: Node) -> NamedNode:
        """The element that a main value becomes: the entity, or a concept of type Value."""
        if is_unknown(value):
            return self._unknown(value, role, statement)
        if isinstance(value, NamedNode) and (is_entity(value) or value in self._source):
            end = self.end(value)
            if end is not None:
                return end
        type = value_type(value)
        plain_value = encode(value, type, self._names)
        if len(deep) == 1 and self.read_value_node(deep[0]):
            node: NamedNode = deep[0]
            if self._main_values.setdefault(node, value) == value:
                self.set(node, "value", plain_value)
                self.set(node, "value_type", type)
                return node
        fields = {"kind": "literal", "value": plain_value, "value_type": type}
        return self.value_node(str(value), value.value.removeprefix(SIGNED), **fields)

    def _unknown(self, value: Node, role: Role, statement: Node) -> NamedNode:
        """The concept of a value that is unknown: each is another one."""
        if value not in self._unknown_values:
            seed = str(value) if isinstance(value, NamedNode) else f"{role} {self._seed(statement)}"
            name = f"unknown {self._properties.name(role.entity)} ({digest(seed)[:8]})"
            original = value if isinstance(value, NamedNode) else None
            node = self.value_node(seed, name, original, kind="somevalue")
            self._unknown_values[value] = node
        return self._unknown_values[value]

    def _seed(self, node: Node) -> str:
        """A text that identifies a node, without the parser's label of a blank node."""
        if isinstance(node, NamedNode):
            return node.value
        return " ".join(f"{t.predicate} {t.object}" for t in self._source.about(node)
                        if not isinstance(t.object, BlankNode))  # fmt: skip

    def value_node(
        self, seed: str, name: str, original: NamedNode | None = None, **fields: Json
    ) -> NamedNode:
        """A concept of type Value, written once; ``original`` is its IRI if it has one."""
        node = NamedNode(vocab.BLANK + digest(seed)) if original is None else original
        if node not in self._typed:
            self._typed.add(node)
            self.write(node, vocab.TYPE, VALUE)
            self.write(node, LABEL, Literal(name))
            for key, value in fields.items():
                self.set(node, key, value)
        return node

    def read_value_node(self, node: Any) -> bool:
        """Make a concept of a value node, with its precision, unit, …; False if it is not one."""
        if node in self._value_nodes:
            return True
        classes = self._source.objects(node, vocab.TYPE)
        kind = next((kind for kind in VALUE_FIELDS if wikibase(kind) in classes), None)
        if kind is None or not isinstance(node, NamedNode):
            return False
        self._value_nodes.add(node)
        taken = [WikibaseTriple(node, vocab.TYPE, wikibase(kind))]
        fields: dict[str, Json] = {"kind": kind}
        for key, name in VALUE_FIELDS[kind].items():
            values = self._source.objects(node, wikibase(name))
            if len(values) == 1 and not isinstance(values[0], BlankNode):
                fields[key] = encode(values[0], FIELD_TYPES.get(name, ""), self._names)
                taken.append(WikibaseTriple(node, wikibase(name), values[0]))
                if key == "normalized":
                    self.read_value_node(values[0])
        self._source.take(taken)
        self.value_node("", _title(fields), node, **fields)
        return True

    def add_value_node(self, nodes: dict[str, list[str]], part: Role, value: Any) -> None:
        self.read_value_node(value)
        nodes[f"{part.name}:{part.id}"].append(value.value)


def _title(fields: Mapping[str, Json]) -> str:
    """The name of a value node: its time, amount with unit, or coordinates."""
    if "latitude" in fields:
        texts = [_text(fields["latitude"]), _text(fields.get("longitude", ""))]
        return ", ".join(texts)
    amount = _text(fields.get("time", fields.get("amount", "value")))
    unit = fields.get("unit")
    return f"{amount} {unit['name']}" if isinstance(unit, dict) and "name" in unit else amount


def _text(value: Json) -> str:
    return str(value["@value"]) if isinstance(value, dict) else str(value)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
