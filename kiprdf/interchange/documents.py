"""Writes Turtle documents about a nexus: its schema, shapes and provenance, its Wikibase data."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from kiprdf.interchange import provenance as prov
from kiprdf.interchange.formats import Profile, turtle
from kiprdf.interchange.formats.writing import Serializer
from kiprdf.interchange.knowledge import Knowledge
from kiprdf.interchange.vocabularies import schema as definitions
from kiprdf.interchange.vocabularies import shapes as shacl
from kiprdf.interchange.vocabularies.schema import schema_triples
from kiprdf.interchange.vocabularies.standards import PREFIXES
from kiprdf.interchange.wikibase import writing
from kiprdf.store import Store

if TYPE_CHECKING:
    from kiprdf.interchange.mapping.contexts import Mapping


def schema(store: Store, mapping: Mapping | None) -> str:
    """The types and predicates as RDFS and OWL."""
    triples = store.read(lambda: list(schema_triples(store, mapping)))
    return turtle.nested(triples, store.iris, PREFIXES)


def shapes(store: Store, profile: Profile) -> str:
    """The instance schemas as SHACL, for snapshots in a profile."""
    triples = store.read(lambda: list(shacl.shapes(store, profile)))
    return turtle.nested(triples, store.iris, PREFIXES)


def provenance(store: Store, intervals: bool = False) -> str:
    """The metadata in PROV-O and Dublin Core, and the domains in SKOS.

    ``intervals`` adds the facts with intervals, with a reifier for each interval.
    """
    knowledge = store.read(lambda: Knowledge.of(store.match(None, None, None), store.iris))
    triples = [*prov.of_elements(knowledge), *prov.of_domains(knowledge)]
    if intervals:
        triples += prov.of_intervals(knowledge)
    content = io.BytesIO()
    prefixes = {**PREFIXES, **prov.PREFIXES}
    # Several reifiers of one triple need RDF 1.2.
    profile: Profile = "rdf12" if intervals else "rdf11"
    Serializer(triples, "turtle", store.iris, profile=profile).write(content, prefixes=prefixes)
    return content.getvalue().decode()


def context(store: Store) -> dict[str, Any]:
    """The IRIs that types, predicates and keys came with, as a JSON-LD context."""
    return store.read(lambda: definitions.context(store))


def wikibase(store: Store) -> str:
    """The elements from a Wikibase, in its RDF model."""
    return store.read(lambda: writing.turtle(store.match(None, None, None), store.iris))
