"""Reads external RDF and ontologies, ready to be planned for a store."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pyoxigraph import DefaultGraph, NamedNode, Quad

from kiprdf.errors import KipError
from kiprdf.interchange import files, formats
from kiprdf.interchange.formats import graphs
from kiprdf.interchange.importing import importer
from kiprdf.interchange.importing.element_index import IMPORTED_AT, read_element_index
from kiprdf.interchange.importing.import_warnings import listed
from kiprdf.interchange.importing.ontology_parts import ONTOLOGY
from kiprdf.interchange.importing.plan import JsonMap, Plan
from kiprdf.interchange.mapping.contexts import Loader, Mapping
from kiprdf.interchange.vocabularies.axioms import record_axioms, with_carrier
from kiprdf.interchange.vocabularies.definition_plan import plan_definitions
from kiprdf.interchange.vocabularies.definitions import read_definitions
from kiprdf.interchange.vocabularies.ontology import definitions_of
from kiprdf.interchange.wikibase import reading
from kiprdf.interchange.wikibase.elements import ITEM
from kiprdf.loading import Lazy
from kiprdf.rdf.iris import ConceptName
from kiprdf.store import Store

if TYPE_CHECKING:
    import rdflib

    from kiprdf.interchange.formats import given_contexts
    from kiprdf.options import DocumentOptions, ImportOptions, OntologyOptions
else:
    given_contexts = Lazy("kiprdf.interchange.formats.given_contexts")


@dataclass(frozen=True)
class Document:
    """A document to import.

    ``plan`` computes what the document becomes in a store, and may be called again when the store
    has changed. ``text`` is what the places of errors refer to, if the document is text.
    """

    text: str | None
    plan: Callable[[Store], Plan]


def rdf(source: files.Source | rdflib.Graph, options: ImportOptions, imported_at: str) -> Document:
    """Read external RDF."""
    vocabulary = options.vocabulary or Mapping.none()
    content, chosen = _read(source, options.format)
    parse = functools.partial(
        formats.parse_foreign, base_iri=options.base_iri, loader=_loader(options)
    )
    others = functools.cache(
        lambda: [quad for one in options.beside for quad in parse(*_read(one, options.format))[0]]
    )

    def plan(store: Store, quads: list[Quad]) -> Plan:
        text = content if isinstance(content, str) else content[:4096].decode("utf-8", "ignore")
        index, document = read_element_index(store), reading.Plain(quads, [], [])
        if vocabulary.type_of(ITEM.value) is not None:
            document = reading.plain(quads, store.iris, index, options.define, options.language)
        plan = importer.plan(
            document.quads,
            vocabulary,
            iris=store.iris,
            index=index,
            define=options.define,
            default_type=options.default_type,
            language=options.language,
            metadata=_metadata(source, imported_at, options.metadata),
            update=options.update,
            source_base=formats.base_of(text, chosen) if chosen != "jsonld" else None,
            beside=others,
        )
        plan.skipped[:] = sorted([*plan.skipped, *document.skipped])
        plan.warnings += document.warnings
        return plan

    return _document(content, functools.partial(parse, content, chosen), plan)


def ontology(source: files.Source, options: OntologyOptions, imported_at: str) -> Document:
    """Read an ontology."""
    vocabulary = options.vocabulary or Mapping.none()

    def parse(document: files.Source) -> tuple[list[Quad], list[str]]:
        return formats.parse_foreign(
            *_read(document, options.format),
            base_iri=options.base_iri or _address(document),
            loader=_loader(options),
        )

    others = functools.cache(lambda: [quad for one in options.beside for quad in parse(one)[0]])

    def plan(store: Store, quads: list[Quad]) -> Plan:
        provenance = _metadata(source, imported_at, options.metadata)
        plan = _ontology_plan(store, quads, others(), vocabulary, options.inherit, provenance)
        plan.update = options.update
        return plan

    content, chosen = _read(source, options.format)
    address = _address(source) if options.base_iri is None else None
    parse_own = functools.partial(
        formats.parse_foreign,
        content,
        chosen,
        base_iri=options.base_iri or address,
        loader=_loader(options),
    )
    return _document(content, parse_own, plan, address)


def _ontology_plan(
    store: Store,
    quads: list[Quad],
    others: list[Quad],
    vocabulary: Mapping,
    inherit: bool,
    provenance: JsonMap,
) -> Plan:
    """The definitions that an ontology becomes, and the record of its axioms."""
    existing, index = read_definitions(store), read_element_index(store)
    definitions = definitions_of(quads, vocabulary, index, existing, others)
    definitions = with_carrier(quads, definitions, existing, index)
    plan = plan_definitions(
        definitions.inherited() if inherit else definitions, existing, provenance
    )
    attributes: dict[ConceptName, JsonMap] = {n: one.attributes for n, one in existing.items()}
    for one in plan.definitions:
        name = ConceptName(one.type, one.name)
        attributes[name] = {**attributes.get(name, {}), **one.attributes}
    heads = (str(quad.subject).strip("<>") for quad in quads if quad.object == ONTOLOGY)
    name_of_source = str(provenance.get("source") or min(heads, default=""))
    plan.recorded = record_axioms(quads, definitions, attributes, index, name_of_source)
    plan.triples = len(quads)
    named = sorted({str(quad.graph_name) for quad in quads} - {str(DefaultGraph())})
    if named:
        plan.warnings.append(f"Definitions have no graphs; these are not kept: {listed(named)}.")
    return plan


def _document(
    content: str | bytes,
    parse: Callable[[], tuple[list[Quad], list[str]]],
    plan: Callable[[Store, list[Quad]], Plan],
    address: str | None = None,
) -> Document:
    """A document, parsed once by its first plan; ``address`` is its base if none was given."""
    parsed = functools.cache(parse)

    def planned(store: Store) -> Plan:
        quads, warnings = parsed()
        result = plan(store, quads)
        result.warnings += warnings
        if address is not None and _mentions(quads, address):
            result.warnings.append(
                f"The document has relative IRIs; its address <{address}> is their base. "
                "Give a base_iri (--base-iri) for IRIs that do not depend on this machine."
            )
        return result

    return Document(content if isinstance(content, str) else None, planned)


def _address(source: files.Source) -> str | None:
    """The address of a document, if it is a path."""
    if files.is_text(source) or not isinstance(source, str | os.PathLike):
        return None
    return Path(source).absolute().as_uri()


def _mentions(quads: Iterable[Quad], address: str) -> bool:
    """Whether a term is the document, or a part of it."""
    folder = address.rpartition("/")[0] + "/"
    return any(
        isinstance(term, NamedNode) and term.value.startswith(folder)
        for quad in quads
        for term in quad
    )


def _loader(options: DocumentOptions) -> Loader | None:
    if options.context is None:
        return options.loader
    return given_contexts.GivenContexts(options.context, options.loader)


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
        message = f"The suffix of {files.name_of(document)} is not that of an RDF format."
        raise KipError("KIP_1001", message, "Give the format: turtle, trig, jsonld, rdfxml, …")
    return content, chosen or "turtle"
