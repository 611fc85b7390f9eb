"""The IRIs of the Wikibase RDF model, and its values as JSON and back."""

from __future__ import annotations

import re
from typing import NamedTuple, cast

from pyoxigraph import BlankNode, Literal, NamedNode

from kiprdf.interchange.forms import term_of
from kiprdf.interchange.mapping.datatypes import INTEGER_TYPES, fits
from kiprdf.interchange.vocabularies.standards import Namespace, prov, skos
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import Json

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
