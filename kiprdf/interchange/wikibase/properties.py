"""The properties of a Wikibase as predicates: named by their labels, identified by their ids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, Triple, serialize

from kiprdf.interchange.importing.element_index import ElementIndex
from kiprdf.interchange.importing.external import ExternalTriple
from kiprdf.interchange.importing.names import (
    OWN_WORDS,
    allocate,
    in_ascii,
    label_rank,
    name_texts,
    numbered,
)
from kiprdf.interchange.vocabularies.standards import owl
from kiprdf.interchange.wikibase.source import Source, WikibaseTriple
from kiprdf.interchange.wikibase.terms import (
    ALIAS,
    DESCRIPTION,
    Role,
    is_property,
    property_iri,
    wikibase,
)
from kiprdf.language.names import META_TYPES, is_key
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json, canonical_json

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
                self._types[entity] = index.value(self._id(name), "value_type") or ""
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
    ('date_of_birth', 'Tatigkeit', '')
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
