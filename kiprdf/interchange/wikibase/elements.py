"""The triples of a Wikibase document, and what its nodes become.

Properties become predicates, named by their labels, entities and values concepts. ``Source`` has
the triples, which are taken one after another: what is not taken stays for a plain import.
``encode`` and ``decode`` turn terms into JSON values and back.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias, cast

from pyoxigraph import (
    BlankNode,
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    RdfFormat,
    Triple,
    serialize,
)

from kiprdf.budget import paced
from kiprdf.interchange.forms import term_of
from kiprdf.interchange.importing.element_index import ElementIndex
from kiprdf.interchange.importing.external import ExternalTriple, Node
from kiprdf.interchange.importing.names import (
    OWN_WORDS,
    allocate,
    in_ascii,
    label_of,
    label_rank,
    name_texts,
    numbered,
)
from kiprdf.interchange.mapping.datatypes import INTEGER_TYPES, fits
from kiprdf.interchange.vocabularies.standards import Namespace, owl, prov, skos
from kiprdf.language.names import META_TYPES, is_key
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json, canonical_json

wikibase = Namespace("http://wikiba.se/ontology#")
schema = Namespace("http://schema.org/")
DERIVED_FROM = prov("wasDerivedFrom")
LABEL, DESCRIPTION, ALIAS = vocab.LABEL, schema("description"), skos("altLabel")
COPIES = (skos("prefLabel"), schema("name"))
"""Wikibase writes each label a second and a third time under these properties."""
NUMBER_TYPES = INTEGER_TYPES | {vocab.XSD + name for name in ("decimal", "double")}
IRI_TYPE = "@id"
"""The value type of properties whose values are IRIs; other value types are datatypes."""
UNKNOWN = {"unknown": True}
"""A value of a qualifier or reference that is unknown."""
SIGNED = "+"
"""Begins the value type of decimals that are written with a plus sign, as Wikibase does."""

_ROLES = {
    "": "p",
    "direct/": "wdt",
    "direct-normalized/": "wdtn",
    "novalue/": "wdno",
    "statement/": "ps",
    "statement/value/": "psv",
    "statement/value-normalized/": "psn",
    "qualifier/": "pq",
    "qualifier/value/": "pqv",
    "qualifier/value-normalized/": "pqn",
    "reference/": "pr",
    "reference/value/": "prv",
    "reference/value-normalized/": "prn",
}
_PATHS = {role: path for path, role in _ROLES.items()}
_PROPERTY = re.compile(f"(.*/)prop/({'|'.join(_ROLES)})(P[1-9][0-9]*)")
_ENTITY = re.compile(r".*/entity/[A-Z][1-9][0-9]*(-[FS][1-9][0-9]*)?")
_PROPERTY_ENTITY = re.compile(r"(.*/)entity/(P[1-9][0-9]*)")
_UNKNOWN = "/.well-known/genid/"
_MEMBERS = ("@id", "@value", "@type", "@language")


class Role(NamedTuple):
    """What a property IRI is: a property of a Wikibase in one place of its model.

    >>> Role.of(NamedNode("http://www.wikidata.org/prop/direct/P106"))
    Role(base='http://www.wikidata.org/', name='wdt', id='P106')
    """

    base: str
    name: str
    id: str

    @classmethod
    def of(cls, iri: NamedNode) -> Role | None:
        match = _PROPERTY.fullmatch(iri.value)
        return match and cls(match[1], _ROLES[match[2]], match[3])

    @property
    def entity(self) -> str:
        """The IRI of the property itself."""
        return f"{self.base}entity/{self.id}"


def property_iri(entity: str, role: str) -> NamedNode:
    """The IRI of a property, given by its entity, in one place of the model.

    >>> property_iri("http://www.wikidata.org/entity/P106", "pq").value
    'http://www.wikidata.org/prop/qualifier/P106'
    """
    base, _, id = entity.rpartition("entity/")
    return NamedNode(f"{base}prop/{_PATHS[role]}{id}")


def is_entity(term: object) -> bool:
    """Whether a term is the IRI of an item, property, lexeme or another entity."""
    return isinstance(term, NamedNode) and _ENTITY.fullmatch(term.value) is not None


def is_property(term: object) -> bool:
    """Whether a term is the IRI of a property as an entity."""
    return isinstance(term, NamedNode) and _PROPERTY_ENTITY.fullmatch(term.value) is not None


def is_unknown(term: object) -> bool:
    """Whether a value is unknown ("somevalue"): a blank node, or the IRI made of one."""
    return isinstance(term, BlankNode) or (isinstance(term, NamedNode) and _UNKNOWN in term.value)


def value_type(term: NamedNode | Literal) -> str:
    """What plain JSON values of a property stand for: IRIs, or literals of a datatype."""
    if isinstance(term, NamedNode):
        return IRI_TYPE
    is_signed = term.datatype.value == f"{vocab.XSD}decimal" and term.value.startswith(SIGNED)
    return (SIGNED if is_signed else "") + term.datatype.value


def encode(term: NamedNode | Literal, type: str, names: dict[str, str]) -> Json:
    """A value as JSON, plain if ``decode`` with its value type gives the same term.

    ``names`` are the names of entities.

    >>> encode(Literal("+3", datatype=NamedNode(vocab.XSD + "decimal")), f"+{vocab.XSD}decimal", {})
    3
    """
    if isinstance(term, NamedNode):
        if is_entity(term):
            name = names.get(term.value)
            return {"@id": term.value} | ({} if name is None else {"name": name})
        return term.value if type == IRI_TYPE else {"@id": term.value}
    if term.language is not None:
        return {"@value": term.value, "@language": term.language}
    for plain in (_number(term), term.value):
        if plain is not None and decode(plain, type) == term:
            return plain
    return {"@value": term.value, "@type": term.datatype.value}


def decode(value: Json, type: str) -> NamedNode | Literal:
    """The term of a JSON value of a property. Raises ValueError for a value that is none."""
    if isinstance(value, dict):
        members = {key: value[key] for key in _MEMBERS if isinstance(value.get(key), str)}
        if not {"@id", "@value"} & members.keys():
            raise ValueError("no value of a property")
        return cast("NamedNode | Literal", term_of(members))
    datatype = type.removeprefix(SIGNED)
    if isinstance(value, str):
        if type == IRI_TYPE:
            return NamedNode(value)
        is_text = datatype not in NUMBER_TYPES and fits(value, NamedNode(datatype))
        return Literal(value, datatype=NamedNode(datatype)) if is_text else Literal(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or type == IRI_TYPE:
        raise ValueError("no value of a property")
    sign = SIGNED if type.startswith(SIGNED) and value >= 0 else ""
    text = f"{sign}{value}"
    if datatype not in NUMBER_TYPES or not fits(text, NamedNode(datatype)):
        datatype = f"{vocab.XSD}decimal"
    return Literal(text, datatype=NamedNode(datatype))


def _number(term: Literal) -> int | float | None:
    """The number of a literal, if JSON has it."""
    if term.datatype.value not in NUMBER_TYPES:
        return None
    try:
        return int(term.value)
    except ValueError:
        pass
    try:
        return float(term.value)
    except ValueError:
        return None


# Triples --------------------------------------------------------------------------------------


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
        labels = {node.value: label_of(own, language) for node, own in self._remaining.items()}
        return {iri: label for iri, label in labels.items() if label is not None}

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


# Properties -----------------------------------------------------------------------------------


PREDICATE = META_TYPES[1]
RESERVED = frozenset((
    "name", "label", "description", "aliases", "same_as", "label_copies",
    "undescribed", "rank", "truthy", "statements", "references", "value_nodes", "types", "id",
    *OWN_WORDS,
))  # fmt: skip
"""Keys of items, statements and references that no property has as its name."""
PROPERTY_TYPE = wikibase("propertyType")
STRUCTURE = "rdf"
"""The attribute of a predicate with the triples that describe its property, in Turtle."""


def turtle_prefixes(entity: str) -> dict[str, str]:
    """The prefixes of the Turtle in ``STRUCTURE``, which does not contain them."""
    roles = ("wdt", "wdtn", "wdno", "p", "ps", "psv", "psn", "pq", "pqv", "pqn", "pr", "prv", "prn")
    id = entity.rpartition("/")[2]
    own = {role: property_iri(entity, role).value.removesuffix(id) for role in roles}
    return {
        "wd": entity.removesuffix(id),
        **own,
        "owl": str(owl),
        "rdfs": vocab.RDFS,
        "schema": "http://schema.org/",
        "skos": "http://www.w3.org/2004/02/skos/core#",
        "wikibase": str(wikibase),
    }


class Properties:
    """The properties of one document, by the IRIs of their entities."""

    def __init__(
        self,
        source: Source,
        index: ElementIndex,
        define: bool,
        labels: dict[str, str],
    ) -> None:
        self._source, self._index, self._define = source, index, define
        self._types = source.properties()
        self._names: dict[str, str] = {}
        for entity in self._types:
            name = index.definition(PREDICATE, entity)
            if name is not None:
                self._names[entity] = name
                self._types[entity] = str(index.attributes(self._id(name)).get("value_type") or "")
        taken = RESERVED | index.predicates
        self._names |= allocate(
            (entity for entity in self._types if entity not in self._names),
            lambda entity: _candidates(entity, labels.get(entity) or ""),
            is_free=lambda entity, name: name not in taken or name == _local_id(entity),
        )

    def _id(self, name: str) -> str:
        return ConceptName(PREDICATE, name).id

    def name(self, entity: str) -> str:
        return self._names[entity]

    def value_type(self, entity: str) -> str:
        return self._types[entity]

    def iri(self, entity: str) -> NamedNode:
        """The predicate of a property."""
        return self._index.store.iris.predicate(self._names[entity])

    def definition(self, entity: str) -> NamedNode | None:
        """The definition of a property as an end of facts; None if it is not written."""
        return self.iri(entity) if self._define and entity in self._names else None

    def definitions(self, language: str | None) -> Iterator[Quad]:
        """The definitions of all properties, whose triples are taken."""
        blanks = self._restrictions()
        for entity, triples in self._structures(blanks).items():
            self._source.take(triples)
            if not self._define:
                continue
            attributes = self._attributes(entity, triples, language)
            for key, value in attributes.items():
                literal = Literal(canonical_json(value), datatype=vocab.JSON)
                yield Quad(self.iri(entity), vocab.attribute(key), literal)

    def _attributes(
        self, entity: str, claims: list[WikibaseTriple], language: str | None
    ) -> dict[str, Json]:
        id = entity.rpartition("/")[2]
        own = [ExternalTriple(*claim) for claim in claims if claim.subject.value == entity]
        kinds = [claim.object.value for claim in claims if claim.predicate == PROPERTY_TYPE]
        texts = name_texts(own, DESCRIPTION.value)
        text = min(texts, key=lambda one: label_rank(one, language)).value if texts else None
        aliases = sorted({one.value for one in name_texts(own, ALIAS.value)})
        attributes: dict[str, Json] = {
            "id": id,
            "description": text or f"The property {id} of Wikibase.",
            "same_as": entity,
            "subject_types": ["*"],
            "object_types": ["*"],
        }
        optional = {
            "aliases": aliases,
            "value_type": self._types[entity],
            "property_type": kinds[0].removeprefix(wikibase) if kinds else "",
            STRUCTURE: _turtle(entity, claims),
        }
        return attributes | {key: value for key, value in optional.items() if value}

    def _structures(self, blanks: dict[Any, str]) -> dict[str, list[WikibaseTriple]]:
        """The triples that describe each property and its IRIs in the places of the model."""
        structures: dict[str, list[WikibaseTriple]] = {entity: [] for entity in self._types}
        for subject in self._source.subjects:
            entity = blanks.get(subject)
            if isinstance(subject, NamedNode):
                role = Role.of(subject)
                entity = role.entity if role else subject.value if is_property(subject) else None
            if entity is None:
                continue
            for triple in self._source.about(subject):
                part = Role.of(triple.predicate)
                if part is None or part.name not in ("p", "wdt", "wdtn"):
                    structures.setdefault(entity, []).append(triple)
        return structures

    def _restrictions(self) -> dict[Any, str]:
        """The blank nodes of restrictions, by which Wikibase declares ``novalue`` classes."""
        blanks = {}
        for subject in self._source.subjects:
            role = Role.of(subject) if isinstance(subject, NamedNode) else None
            for triple in self._source.about(subject) if role else ():
                if isinstance(triple.object, BlankNode):
                    blanks[triple.object] = role.entity if role else ""
        return blanks


def _local_id(entity: str) -> str:
    return entity.rpartition("/")[2]


def _candidates(entity: str, label: str) -> Iterator[str]:
    """The names of a property: its label as an identifier, that with the id, and the id."""
    text, id = _identifier(label), _local_id(entity)
    yield from filter(is_key, (text, f"{text}_{id}" if text else id))
    yield from numbered(id)


def _identifier(label: str) -> str:
    """A label as an identifier; "" for one with letters that have no form in ASCII.

    >>> _identifier("date of birth"), _identifier("Tätigkeit"), _identifier("занятие")
    ('date_of_birth', 'Tatigkeit', 'zanyatie')
    """
    plain = in_ascii(label)
    if any(letter.isalnum() and not letter.isascii() for letter in plain):
        return ""
    text = re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_")
    return f"_{text}" if text[:1].isdigit() else text


def _turtle(entity: str, claims: Iterable[WikibaseTriple]) -> str:
    """Triples as Turtle without its prefixes; blank nodes are named by their order."""
    names: dict[Any, BlankNode] = {}

    def named(term: Any) -> Any:
        if isinstance(term, BlankNode):
            return names.setdefault(term, BlankNode(f"b{len(names)}"))
        return term

    ordered = sorted(claims, key=lambda one: (isinstance(one.subject, BlankNode), str(one)))
    triples = [Triple(named(one.subject), one.predicate, named(one.object)) for one in ordered]
    text = serialize(triples, format=RdfFormat.TURTLE, prefixes=turtle_prefixes(entity)) or b""
    lines = text.decode().splitlines()
    return "\n".join(line for line in lines if not line.startswith("@prefix"))


# Elements -------------------------------------------------------------------------------------


ITEM, VALUE = wikibase("Item"), wikibase("Value")
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
        elif is_described and id is not None and self._index.attributes(id).get("undescribed"):
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
