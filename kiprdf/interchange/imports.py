"""Reads external RDF and ontologies, ready to be planned for a store."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from pyoxigraph import Quad

from kiprdf.errors import KipError
from kiprdf.interchange import arguments, files, formats
from kiprdf.interchange.formats import graphs
from kiprdf.interchange.importing import importer
from kiprdf.interchange.importing.element_index import IMPORTED_AT, read_element_index
from kiprdf.interchange.importing.plan import JsonMap, Plan
from kiprdf.interchange.mapping.contexts import Loader, Mapping
from kiprdf.interchange.vocabularies.definition_plan import plan_definitions
from kiprdf.interchange.vocabularies.definitions import read_definitions
from kiprdf.interchange.vocabularies.ontology import definitions_of
from kiprdf.store import Store

if TYPE_CHECKING:
    import rdflib


@dataclass(frozen=True)
class Document:
    """A document to import.

    ``plan`` computes what the document becomes in a store, and may be called again when the store
    has changed. ``text`` is what the places of errors refer to, if the document is text.
    """

    text: str | None
    plan: Callable[[Store], Plan]


def rdf(
    source: files.Source | rdflib.Graph,
    *,
    imported_at: str,
    format: formats.Format | None,
    mapping: arguments.MappingSources,
    define: bool,
    default_type: str | None,
    language: str | None,
    base_iri: str | None,
    metadata: JsonMap | None,
    loader: Loader | None,
    update: bool,
    dry_run: bool,
) -> Document:
    """Read external RDF; the arguments are those of ``Nexus.import_rdf``."""
    arguments.check(
        format=format,
        define=define,
        default_type=default_type,
        language=language,
        base_iri=base_iri,
        metadata=metadata,
        loader=loader,
        dry_run=dry_run,
    )
    vocabulary = arguments.mapping_of(mapping) or Mapping.none()
    content, chosen = _read(source, format)
    parse = functools.partial(formats.parse, content, chosen, base_iri=base_iri, loader=loader)

    def plan(store: Store, quads: list[Quad]) -> Plan:
        text = content if isinstance(content, str) else content[:4096].decode("utf-8", "ignore")
        return importer.plan(
            quads,
            vocabulary,
            iris=store.iris,
            index=read_element_index(store),
            define=define,
            default_type=default_type,
            language=language,
            metadata=_metadata(source, imported_at, metadata),
            update=update,
            source_base=formats.base_of(text, chosen) if chosen != "jsonld" else None,
        )

    return _document(content, parse, plan)


def ontology(
    source: files.Source,
    *,
    imported_at: str,
    format: formats.Format | None,
    mapping: arguments.MappingSources,
    inherit: bool,
    base_iri: str | None,
    metadata: JsonMap | None,
    loader: Loader | None,
    update: bool,
    dry_run: bool,
) -> Document:
    """Read an ontology; the arguments are those of ``Nexus.import_ontology``."""
    arguments.check(
        format=format,
        inherit=inherit,
        base_iri=base_iri,
        metadata=metadata,
        loader=loader,
        dry_run=dry_run,
    )
    vocabulary = arguments.mapping_of(mapping) or Mapping.none()
    content, chosen = _read(source, format)

    def plan(store: Store, quads: list[Quad]) -> Plan:
        existing = read_definitions(store)
        definitions = definitions_of(quads, vocabulary, read_element_index(store), existing)
        plan = plan_definitions(
            definitions.inherited() if inherit else definitions,
            existing,
            _metadata(source, imported_at, metadata),
        )
        plan.triples, plan.update = len(quads), update
        return plan

    parse = functools.partial(formats.parse, content, chosen, base_iri=base_iri, loader=loader)
    return _document(content, parse, plan)


def _document(
    content: str | bytes,
    parse: Callable[[], list[Quad]],
    plan: Callable[[Store, list[Quad]], Plan],
) -> Document:
    """A document that is parsed by its first plan, once."""
    quads = functools.cache(parse)
    return Document(
        content if isinstance(content, str) else None, lambda store: plan(store, quads())
    )


def _metadata(source: Any, imported_at: str, metadata: JsonMap | None) -> JsonMap:
    """The metadata of everything that is imported from a source."""
    name = files.name_of(source)
    named = {} if name is None else {"source": name}
    return {**named, IMPORTED_AT: imported_at, **(metadata or {})}


def _read(
    source: files.Source | rdflib.Graph, format: formats.Format | None
) -> tuple[str | bytes, formats.Format]:
    """The content of a document, and its format."""
    if graphs.is_graph(source):
        return graphs.to_nquads(source), "nquads"
    document = cast("files.Source", source)
    content = files.content(document)
    chosen = format or files.format_of(document)
    if chosen is None and files.name_of(document) is not None:
        message = f"The suffix of {files.name_of(document)} names no RDF format."
        raise KipError("KIP_1001", message, "Give the format: turtle, trig, jsonld, rdfxml, …")
    return content, chosen or "turtle"
