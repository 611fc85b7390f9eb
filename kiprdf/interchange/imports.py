"""Reads external RDF and ontologies, ready to be planned for a store."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pyoxigraph import DefaultGraph, NamedNode, Quad

from kiprdf.errors import KipError
from kiprdf.interchange import files, formats
from kiprdf.interchange.formats import graphs, lenient
from kiprdf.interchange.formats.lenient import BadParts
from kiprdf.interchange.formats.reading import base_of
from kiprdf.interchange.importing import importer
from kiprdf.interchange.importing.element_index import IMPORTED_AT, read_element_index
from kiprdf.interchange.importing.external import ONTOLOGY, Skipped
from kiprdf.interchange.importing.plan import ImportPlan, JsonMap
from kiprdf.interchange.importing.stated import renewing
from kiprdf.interchange.importing.values import examples
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.interchange.vocabularies.axioms import record_axioms, with_carrier
from kiprdf.interchange.vocabularies.definitions import plan_definitions, read_definitions
from kiprdf.interchange.vocabularies.ontology import definitions_of
from kiprdf.interchange.wikibase import reading
from kiprdf.interchange.wikibase.elements import ITEM
from kiprdf.loading import Lazy
from kiprdf.rdf.iris import ConceptName
from kiprdf.store import Store

if TYPE_CHECKING:
    import rdflib

    from kiprdf.interchange.formats import given_contexts, parsing
    from kiprdf.options import DocumentOptions, ImportOptions, OntologyOptions
else:
    given_contexts = Lazy("kiprdf.interchange.formats.given_contexts")
    parsing = Lazy("kiprdf.interchange.formats.parsing")

T = TypeVar("T")


def passes(
    sources: Sequence[T], *, share_names: bool, dry_run: bool
) -> Iterator[tuple[T, dict[str, Any]]]:
    """The imports that several documents need: each with its options ``also`` and ``update``.

    Every document is imported, then all but the last again, for links to what later ones describe.
    They share the names of new definitions as if they were one.
    """
    again = () if dry_run else sources[:-1]
    for one, update in (*((one, True) for one in sources), *((one, False) for one in again)):
        others = [other for other in sources if other is not one] if share_names else []
        yield one, {"also": others, "update": update}


class Document:
    """A document to import: read when it is made, parsed when it is first planned."""

    _is_read_once = True
    """Whether quads that are stated several times are read once; a plan of data looks itself."""

    def __init__(
        self,
        source: files.Source | rdflib.Graph,
        options: DocumentOptions,
        imported_at: str,
    ) -> None:
        self._content, self._format = _read(source, options.format)
        self._options, self._base_iri = options, options.base_iri
        self._mapping = options.vocabulary  # read here, since it may be a file that is missing
        self._name = files.name_of(source)
        self._bad = BadParts() if options.lenient else None
        self._lost: Counter[str] = Counter()
        named = {} if self._name is None else {"source": self._name}
        self._provenance = {**named, IMPORTED_AT: imported_at, **(options.metadata or {})}

    @property
    def text(self) -> str | None:
        """What the places of errors refer to, if the document is text."""
        return self._content if isinstance(self._content, str) else None

    @cached_property
    def quads(self) -> list[Quad]:
        """What the document states."""
        return self._parsed[0]

    @cached_property
    def _parsed(self) -> tuple[list[Quad], list[str]]:
        """The quads, and the warnings of the parser."""
        return self._parse()

    def _parse(self) -> tuple[list[Quad], list[str]]:
        loader = self._options.loader
        if self._options.context is not None:
            loader = given_contexts.GivenContexts(self._options.context, loader)
        return parsing.parse_foreign(
            self._content,
            self._format,
            base_iri=self._base_iri,
            loader=loader,
            bad=self._bad,
            lost=self._lost,
            once=self._is_read_once,
        )

    def _with_bad(self, plan: ImportPlan) -> ImportPlan:
        """A plan whose report says what of the document is bad, or left out."""
        lost = [Skipped(*one) for one in lenient.left_out(self._lost)]
        plan = replace(plan, skipped=[*lost, *plan.skipped]) if lost else plan
        bad = self._bad
        if bad is None:
            return plan
        first = (one if one.line else Skipped(one.triple, one.reason) for one in bad.first)
        return replace(
            plan, skipped=[*first, *plan.skipped], warnings=[*bad.warnings(), *plan.warnings]
        )

    @cached_property
    def _others(self) -> list[Quad]:
        """What the documents state that are imported, too."""
        others = (type(self)(one, self._options, "") for one in self._options.also)
        return [quad for other in others for quad in other.quads]

    def plan(self, store: Store) -> ImportPlan:
        """What the document becomes in a store; planned again when the store has changed."""
        raise NotImplementedError


class RdfDocument(Document):
    """A document whose resources become concepts and propositions."""

    _options: ImportOptions
    _is_read_once = False

    def __init__(
        self, source: files.Source | rdflib.Graph, options: ImportOptions, imported_at: str
    ) -> None:
        super().__init__(source, options, imported_at)
        self._joined: Sequence[RdfDocument] = ()
        self._is_part = False
        if options.source is not None:
            self._provenance["source"] = options.source
        self._source = options.source
        if options.replace and self._source is None:
            self._source = _named(self._provenance)

    def join(self, others: Sequence[RdfDocument]) -> None:
        """Read further documents as parts of this one; the name of one is not that of all."""
        self._joined = others
        if others and self._options.replace and self._options.source is None:
            _named(self._options.metadata or {})
        self._is_part = bool(others)
        for other in others:
            other._bad, other._lost, other._is_part = self._bad, self._lost, True

    @cached_property
    def _parsed(self) -> tuple[list[Quad], list[str]]:
        if not self._joined:
            return self._parse_part()
        parts = [one._parse_part() for one in (self, *self._joined)]
        quads = dict.fromkeys(quad for part, _ in parts for quad in part)
        return list(quads), list(dict.fromkeys(line for _, lines in parts for line in lines))

    def _parse_part(self) -> tuple[list[Quad], list[str]]:
        """The quads and warnings of this document alone; errors of one among several name it."""
        try:
            return self._parse()
        except KipError as fault:
            if self._is_part and self._name is not None:
                fault.message = f"{self._name}: {fault.message}"
            raise

    def plan(self, store: Store) -> ImportPlan:
        """Concepts and propositions, with the definitions that they need."""
        quads, warnings = self._parsed
        mapping, index = self._mapping, read_element_index(store)
        if self._options.replace and self._source is not None:
            index = renewing(index, self._source)
        document = reading.Plain(quads, [], [])
        if mapping is not None and mapping.type_of(ITEM.value) is not None:
            document = reading.plain([*dict.fromkeys(quads)], self._options, index)
        plan = importer.plan(
            document.quads,
            self._options,
            index,
            provenance=self._provenance,
            source_base=self._declared_base(),
            others=lambda: self._others,
        )
        plan = replace(
            plan,
            skipped=sorted([*plan.skipped, *document.skipped]),
            warnings=[*plan.warnings, *document.warnings, *warnings, *self._warnings(quads)],
            source=self._source,
            replaces=self._options.replace,
        )
        return self._with_bad(plan)

    def _warnings(self, quads: Sequence[Quad]) -> Iterator[str]:
        if self._options.replace and not quads:
            yield f"The document has no triples: all that '{self._source}' stated ends."

    def _declared_base(self) -> str | None:
        """The base of the nexus that wrote the document, if one did."""
        if self._format == "jsonld":
            return None
        text = self.text
        if text is None:
            text = cast(bytes, self._content)[:4096].decode("utf-8", "ignore")
        return base_of(text, self._format)


class OntologyDocument(Document):
    """A document whose classes and properties become types and predicates.

    The address of a path is its base if none is given.
    """

    def __init__(self, source: files.Source, options: OntologyOptions, imported_at: str) -> None:
        super().__init__(source, options, imported_at)
        self._inherits = options.inherit
        is_path = isinstance(source, str | os.PathLike) and not files.is_text(source)
        has_address = is_path and options.base_iri is None
        self._address = Path(str(source)).absolute().as_uri() if has_address else None
        self._base_iri = options.base_iri or self._address

    def plan(self, store: Store) -> ImportPlan:
        """The definitions that an ontology becomes, and the record of its axioms."""
        existing, index = read_definitions(store), read_element_index(store)
        mapping = self._mapping or Mapping.none()
        names = self._options.names
        definitions = definitions_of(self.quads, mapping, index, existing, self._others, names)
        definitions = with_carrier(self.quads, definitions, existing, index)
        plan = plan_definitions(
            definitions.inherited() if self._inherits else definitions, existing, self._provenance
        )
        attributes: dict[ConceptName, JsonMap] = {n: one.attributes for n, one in existing.items()}
        for one in plan.definitions:
            name = ConceptName(one.type, one.name)
            attributes[name] = {**attributes.get(name, {}), **one.attributes}
        heads = (str(quad.subject).strip("<>") for quad in self.quads if quad.object == ONTOLOGY)
        name_of_source = str(self._provenance.get("source") or min(heads, default=""))
        plan = replace(
            plan,
            recorded=record_axioms(self.quads, definitions, attributes, index, name_of_source),
            triples=len(self.quads),
            warnings=[*plan.warnings, *self._warnings()],
            update=self._options.update,
        )
        return self._with_bad(plan)

    def _warnings(self) -> Iterator[str]:
        different = {quad.graph_name for quad in self.quads} - {DefaultGraph()}
        named = sorted(str(one) for one in different if isinstance(one, NamedNode))
        nameless = len(different) - len(named)  # their labels are others each time
        named += [f"graph {number}" for number in range(1, nameless + 1)]
        if named:
            yield f"Definitions have no graphs; these are not kept: {examples(named)}."
        yield from self._parsed[1]
        if self._address is not None and _mentions(self.quads, self._address):
            yield (
                f"The document has relative IRIs; its address <{self._address}> is their base. "
                "Give a base_iri (--base-iri) for IRIs that do not depend on this machine."
            )


def _named(metadata: JsonMap) -> str:
    """The source in metadata; KIP_1001 if there is none."""
    name = metadata.get("source")
    if not isinstance(name, str) or not name.strip():
        hint = "Give a name to what is imported again: source=… (--source)."
        raise KipError("KIP_1001", "A document that replaces needs a source.", hint)
    return name


def _mentions(quads: Iterable[Quad], address: str) -> bool:
    """Whether a term is the document, or a part of it."""
    folder = address.rpartition("/")[0] + "/"
    return any(
        isinstance(term, NamedNode) and term.value.startswith(folder)
        for quad in quads
        for term in quad
    )


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
        hint = "Give the format: turtle, trig, jsonld, rdfxml, …; for tables and files of other "
        raise KipError("KIP_1001", message, f"{hint}tools, use kiprdf.importers (--from).")
    return content, chosen or "turtle"
