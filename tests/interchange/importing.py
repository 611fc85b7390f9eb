"""Helpers of import tests: make a plan, and carry it out as a capsule."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyoxigraph import Quad, RdfFormat, Triple, parse

import kiprdf
from kiprdf import Mapping
from kiprdf.interchange.importing.element_index import read_element_index
from kiprdf.interchange.importing.importer import plan
from kiprdf.interchange.importing.plan import ImportPlan, to_upsert
from kiprdf.interchange.vocabularies.definitions import Definitions
from kiprdf.interchange.vocabularies.ontology import definitions_of
from kiprdf.language import to_text
from kiprdf.options import ImportOptions
from tests.nexus.support import empty

PREFIXES = """
@prefix : <https://example.org/> .
@prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


EMPTY = empty()


def planned(
    quads: Iterable[Quad], nexus: kiprdf.Nexus, mapping: Any = None, **options: Any
) -> ImportPlan:
    """The plan of quads for a nexus; ``mapping`` is a context without its frame."""
    own = {name: options.pop(name) for name in ("source_base",) if name in options}
    provenance = options.pop("metadata", {})
    context = None if mapping is None else {"@context": mapping}
    return plan(
        quads,
        ImportOptions(mapping=context, **options),
        read_element_index(nexus.store),
        provenance=provenance,
        **own,
    )


def ontology(
    triples: Iterable[Triple | Quad],
    mapping: Mapping | None = None,
    nexus: kiprdf.Nexus | None = None,
) -> Definitions:
    """The definitions of an ontology in a nexus whose own definitions are not considered."""
    store = (nexus or EMPTY).store
    return definitions_of(triples, mapping or Mapping.none(), read_element_index(store), {})


def carry_out(plan: ImportPlan, nexus: kiprdf.Nexus) -> None:
    nexus.apply_capsule(to_text(to_upsert(plan)))


def import_text(
    nexus: kiprdf.Nexus,
    text: str,
    mapping: Any = None,
    format: RdfFormat = RdfFormat.TURTLE,
    **options: Any,
) -> ImportPlan:
    """Import a text; missing types and predicates are defined unless the options say otherwise."""
    text = PREFIXES + text if format in (RdfFormat.TURTLE, RdfFormat.TRIG) else text
    result = planned(parse(text, format=format), nexus, mapping, **{"define": True, **options})
    carry_out(result, nexus)
    return result


def concepts(nexus: kiprdf.Nexus, type: str) -> dict[str, dict[str, Any]]:
    """The attributes of the concepts of a type, by name."""
    rows = nexus.find("FIND(?c.name, ?c.attributes) WHERE { ?c {type: :type} }", type=type)
    return dict(rows.tuples())


def facts(nexus: kiprdf.Nexus, predicate: str) -> list[tuple[str, str]]:
    """The names of the ends of a predicate's links."""
    command = f'FIND(?s.name, ?o.name) WHERE {{ (?s, "{predicate}", ?o) }}'
    return sorted(nexus.find(command).tuples())
