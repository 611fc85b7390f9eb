"""What a nexus gives to the web of data, and takes from it: a part of ``Nexus``.

Snapshots in every format of RDF, a published folder, the schema as OWL and SHACL, foreign data and
ontologies, differences, graphs of rdflib. The work is done in ``interchange``; here it meets the
store.
"""

from __future__ import annotations

import functools
import io
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeAlias, TypeVar, cast

from pyoxigraph import NamedNode, Triple

from kiprdf import collector
from kiprdf.budget import paced
from kiprdf.errors import KipError, shown
from kiprdf.interchange import arguments, files, formats
from kiprdf.language import ast

if TYPE_CHECKING:
    import rdflib

    from kiprdf.interchange.differences.difference import Difference
    from kiprdf.interchange.formats.ordering import Advance
    from kiprdf.interchange.importing.plan import JsonMap, Plan
    from kiprdf.interchange.mapping.contexts import ContextJson, Loader, Mapping
    from kiprdf.interchange.publishing.publish import Published
    from kiprdf.interchange.staging_store import StagingStore
    from kiprdf.store import OxigraphStore

    MappingSource: TypeAlias = Mapping | ContextJson | str | os.PathLike[str]
    Words: TypeAlias = MappingSource | Sequence[MappingSource] | None

T = TypeVar("T")
P = ParamSpec("P")
L = TypeVar("L", bound="LinkedData")
IMPORTED_AT = "imported_at"
"""The metadata key that tells when an element was imported."""


def on_one_clock(method: Callable[Concatenate[L, P], T]) -> Callable[Concatenate[L, P], T]:
    """Let a method spend one budget from its first line on: its arguments may be large, too."""

    @functools.wraps(method)
    def run(self: L, /, *args: P.args, **kwargs: P.kwargs) -> T:
        self._store.require_own_process()
        return self._work(lambda: method(self, *args, **kwargs))

    return run


class LinkedData(ABC):
    """The methods of ``Nexus`` that speak RDF. They raise ``KipError``, and ``OSError`` for files.

    A ``mapping`` is a pack (``"schema-org"``), a path, a context, a ``Mapping``, or several.
    """

    _store: OxigraphStore

    @property
    @abstractmethod
    def base_iri(self) -> str: ...

    @abstractmethod
    def _guarded(
        self, text: str | None, function: Callable[[], T], *, on_files: bool = False
    ) -> T: ...

    @abstractmethod
    def _work(self, function: Callable[[], T]) -> T:
        """Run a function with a clock of its own, unless a request runs."""

    @abstractmethod
    def _selected(self, command: str) -> list[NamedNode]:
        """The elements that a FIND shows or an EXPORT selects."""

    @abstractmethod
    def _write_plan(self, make: Callable[[], tuple[Plan, ast.Upsert]], dry_run: bool) -> Plan:
        """Make a plan and carry it out, in one transaction."""

    @abstractmethod
    def _imported(self, name: str | None) -> JsonMap:
        """The metadata of what is imported now from a file."""

    # Out --------------------------------------------------------------------------------------

    @on_one_clock
    def snapshot(
        self,
        target: files.Target | None = None,
        profile: formats.Profile = "rdf11",
        *,
        format: formats.Format | None = None,
        mapping: Words = None,
        domain: str | None = None,
        select: str | None = None,
        engine_metadata: bool = True,
    ) -> str:
        """The dataset as deterministic text; also written to a path or an open file.

        The format is ``format``, or that of the path's suffix, or Turtle. ``rdf11`` loads
        everywhere, ``rdf12`` writes reifiers as ``~ <link>``. ``domain``, or a FIND or EXPORT as
        ``select``, takes a part with what it stands on. ``engine_metadata=False`` leaves
        ``_version`` and its kin out, for snapshots kept in git.

        >>> import kiprdf
        >>> kiprdf.Nexus.memory(genesis=False).snapshot()
        '# kiprdf 1 base <urn:kip:nexus/>\\n'
        """
        arguments.check(target=target)
        content = io.BytesIO()
        self.write_snapshot(
            content,
            profile,
            format=_to_write(target) if format is None else format,
            mapping=mapping,
            domain=domain,
            select=select,
            engine_metadata=engine_metadata,
        )
        text = content.getvalue().decode()
        if target is not None:
            files.write_text(target, text)
        return text

    @on_one_clock
    def write_snapshot(
        self,
        target: str | os.PathLike[str] | IO[bytes],
        profile: formats.Profile = "rdf11",
        *,
        format: formats.Format | None = None,
        mapping: Words = None,
        domain: str | None = None,
        select: str | None = None,
        engine_metadata: bool = True,
        advance: Advance | None = None,
    ) -> int:
        """Write the dataset, or a part of it, piece by piece; the number of triples.

        Arguments as in ``snapshot``; ``advance`` is told how many triples more have been written.
        """
        arguments.check(
            binary=target,
            profile=profile,
            format=format,
            domain=domain,
            select=select,
            engine_metadata=engine_metadata,
            advance=advance,
        )
        chosen, words = format or _to_write(target), mapping_of(mapping)

        def read(function: Callable[[], T]) -> T:
            with self._store.bulk_reading():
                return collector.paused(lambda: self._store.read(function))

        def write(output: IO[bytes]) -> int:
            return formats.write(
                lambda: self._part(domain, select),
                output,
                chosen,
                self._store.iris,
                profile=profile,
                mapping=words,
                engine_metadata=engine_metadata,
                advance=advance,
                read=read,
            )

        if isinstance(target, str | os.PathLike):
            path = Path(target)
            return self._guarded(select, lambda: files.write_whole(path, write), on_files=True)
        return self._guarded(
            select, lambda: files.write_open(target, lambda: write(target)), on_files=True
        )

    def _dataset(self) -> list[Triple]:
        """All triples, as of one commit."""
        return self._store.read(lambda: list(paced(self._store.match(None, None, None))))

    def _part(self, domain: str | None, select: str | None) -> list[Triple] | StagingStore:
        from kiprdf.interchange import selection
        from kiprdf.interchange.staging_store import StagingStore

        if domain is not None and select is not None:
            message = "A snapshot takes a domain or a selection, not both."
            raise KipError("KIP_1001", message, "Leave one of them out.")
        if domain is not None:
            return selection.domain(self._store, domain)
        if select is not None:
            return selection.elements(self._store, self._selected(select))
        return StagingStore(self._store.engine)

    @on_one_clock
    def publish(
        self,
        folder: str | os.PathLike[str],
        *,
        mapping: Words = None,
        title: str | None = None,
        address: str | None = None,
        advance: Advance | None = None,
    ) -> Published:
        """Write static pages and files into a folder, in place of what was published there.

        ``title`` is what the pages call the nexus, ``address`` the IRI at which the folder will
        stand, if that is not the base. ``advance(1)`` is called for each element. Raises
        ``StoreError`` for a folder with other things in it.
        """
        from kiprdf.interchange.publishing.publish import checked_folder, publish

        arguments.check(folder=folder, title=title, address=address, advance=advance)
        # The folder is the caller's: what is wrong with it is no fault of the nexus.
        target, words = checked_folder(folder), mapping_of(mapping)
        return self._guarded(
            None,
            lambda: publish(
                self._store,
                target,
                mapping=words,
                title=title,
                address=address,
                advance=advance,
            ),
            on_files=True,
        )

    @on_one_clock
    def schema(self, target: files.Target | None = None, *, mapping: Words = None) -> str:
        """The types and predicates as RDFS and OWL, in Turtle."""
        from kiprdf.interchange.vocabularies.schema import schema_triples

        arguments.check(target=target)
        words = mapping_of(mapping)
        return self._nested(target, lambda: schema_triples(self._store, words))

    @on_one_clock
    def shapes(self, target: files.Target | None = None, profile: formats.Profile = "rdf11") -> str:
        """The instance schemas as SHACL, in Turtle, for snapshots in a profile."""
        from kiprdf.interchange.vocabularies.shapes import shapes

        arguments.check(target=target, profile=profile)
        return self._nested(target, lambda: shapes(self._store, profile))

    def _nested(self, target: files.Target | None, told: Callable[[], Iterable[Triple]]) -> str:
        """Definitions as Turtle, with blank nodes where they belong."""
        from kiprdf.interchange.vocabularies.nested_turtle import write_nested
        from kiprdf.interchange.vocabularies.standards import PREFIXES

        return self._told(target, told, lambda t: write_nested(t, self._store.iris, PREFIXES))

    @on_one_clock
    def provenance(self, target: files.Target | None = None) -> str:
        """What the metadata say in PROV-O and Dublin Core, and the domains in SKOS, in Turtle.

        It stands beside the data: the metadata themselves are in the snapshot.
        """
        from kiprdf.interchange.publishing import provenance
        from kiprdf.interchange.publishing.knowledge import Knowledge

        arguments.check(target=target)

        def told() -> Iterable[Triple]:
            # Both look at the same elements, which are read once.
            known = Knowledge.of(self._store.match(None, None, None), self._store.iris)
            yield from provenance.of_elements(known)
            yield from provenance.of_domains(known)

        from kiprdf.interchange.vocabularies.standards import PREFIXES

        def flat(triples: list[Triple]) -> str:
            content = io.BytesIO()
            known = {**PREFIXES, **provenance.PREFIXES}
            formats.write(triples, content, "turtle", self._store.iris, prefixes=known)
            return content.getvalue().decode()

        return self._told(target, told, flat)

    def _told(
        self,
        target: files.Target | None,
        told: Callable[[], Iterable[Triple]],
        write: Callable[[list[Triple]], str],
    ) -> str:
        """Triples about the nexus as a text, which is also written where that is asked for."""
        text = self._guarded(None, lambda: write(self._store.read(lambda: list(told()))))
        if target is not None:
            files.write_text(target, text)
        return text

    @on_one_clock
    def to_rdflib(self, mapping: Words = None) -> rdflib.Graph:
        """The rdf11 profile of the dataset as a graph of rdflib."""
        from kiprdf.interchange.formats.graphs import to_rdflib

        words = mapping_of(mapping)

        def made() -> rdflib.Graph:
            return to_rdflib(self._dataset(), self._store.iris, words)

        return self._guarded(None, made)

    # In ---------------------------------------------------------------------------------------

    @on_one_clock
    def import_rdf(
        self,
        source: files.Source | rdflib.Graph,
        *,
        format: formats.Format | None = None,
        mapping: Words = None,
        define: bool = False,
        default_type: str | None = None,
        language: str | None = None,
        base_iri: str | None = None,
        metadata: JsonMap | None = None,
        loader: Loader | None = None,
        update: bool = True,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Take foreign RDF in as concepts and propositions, in one transaction.

        ``source`` is a path, an open file, a text, or a graph or dataset of rdflib; ``format`` is
        needed where no suffix tells it. ``define`` creates the types and predicates that are
        missing, which are KIP_2001 otherwise; ``default_type`` is that of resources without one,
        ``language`` the preferred one of names, ``base_iri`` what relative IRIs are relative to,
        ``metadata`` what everything gets besides its source and time. Nothing is fetched but the
        contexts of JSON-LD, by a ``loader`` that is given. ``update=False`` takes only what is new:
        the links to what other files described. Returns a report: what was, or with ``dry_run``
        would be, created, updated or left as it was, and what was skipped and why.
        """
        from kiprdf.interchange.importing import importer
        from kiprdf.interchange.importing.element_index import read_element_index

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
        words = mapping_of(mapping) or _no_mapping()

        def planned(content: str | bytes, chosen: formats.Format, own: JsonMap) -> Plan:
            quads = formats.parse(content, chosen, base_iri=base_iri, loader=loader)
            text = content if isinstance(content, str) else content[:4096].decode("utf-8", "ignore")
            return importer.plan(
                quads,
                words,
                iris=self._store.iris,
                index=read_element_index(self._store),
                define=define,
                default_type=default_type,
                language=language,
                metadata=own,
                update=update,
                source_base=formats.base_of(text, chosen) if chosen != "jsonld" else None,
            )

        return self._import(source, format, metadata, planned, dry_run)

    @on_one_clock
    def import_ontology(
        self,
        source: files.Source,
        *,
        format: formats.Format | None = None,
        mapping: Words = None,
        inherit: bool = False,
        metadata: JsonMap | None = None,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Take an ontology in RDFS, OWL or SHACL in as definitions of types and predicates.

        ``inherit`` writes what classes inherit into the schemas of those below. Returns a report
        as ``import_rdf`` does.
        """
        from kiprdf.interchange.importing.element_index import read_element_index
        from kiprdf.interchange.vocabularies.definition_plan import plan_definitions
        from kiprdf.interchange.vocabularies.existing import read_definitions
        from kiprdf.interchange.vocabularies.ontology import definitions_of

        arguments.check(format=format, inherit=inherit, metadata=metadata, dry_run=dry_run)
        words = mapping_of(mapping)

        def planned(content: str | bytes, chosen: formats.Format, own: JsonMap) -> Plan:
            quads = formats.parse(content, chosen)
            existing = read_definitions(self._store)
            found = definitions_of(quads, words, read_element_index(self._store), existing)
            plan = plan_definitions(found.inherited() if inherit else found, existing, own)
            plan.triples = len(quads)
            return plan

        return self._import(source, format, metadata, planned, dry_run)

    def _import(
        self,
        source: files.Source | rdflib.Graph,
        format: formats.Format | None,
        metadata: JsonMap | None,
        planned: Callable[[str | bytes, formats.Format, JsonMap], Plan],
        dry_run: bool,
    ) -> dict[str, Any]:
        """Plan what a document becomes, carry it out in one transaction, and report."""
        from kiprdf.interchange.importing.plan import to_upsert

        content, chosen = _document(source, format)
        own = {**self._imported(files.name_of(source)), **(metadata or {})}

        def made() -> tuple[Plan, ast.Upsert]:
            plan = planned(content, chosen, own)
            return plan, to_upsert(plan)

        text = content if isinstance(content, str) else None

        def imported() -> Plan:
            return self._guarded(text, lambda: self._write_plan(made, dry_run))

        return collector.paused(imported).report()

    # Differences ------------------------------------------------------------------------------

    @on_one_clock
    def diff(
        self,
        other: LinkedData | files.Source,
        *,
        engine_metadata: bool = False,
        link_ids: bool = False,
    ) -> Difference:
        """What another nexus, or a snapshot, has that this one has not, and the other way round.

        The difference leads from this nexus to the other. ``engine_metadata`` compares versions
        and times too, ``link_ids`` the ids of propositions that state the same.
        """
        from kiprdf.interchange.differences.difference import difference

        arguments.check(engine_metadata=engine_metadata, link_ids=link_ids)

        def compared() -> Difference:
            after, iris = self._other(other)
            return difference(
                self._dataset(),
                after,
                self._store.iris,
                after_iris=iris,
                engine_metadata=engine_metadata,
                link_ids=link_ids,
            )

        return self._guarded(None, compared, on_files=True)

    def _other(self, other: LinkedData | files.Source) -> tuple[list[Triple], Any]:
        if isinstance(other, LinkedData):
            return other._dataset(), other._store.iris
        from kiprdf.interchange.dataset import check_dataset

        found = self._read_snapshot(other)
        check_dataset(found, self._store.iris)
        return list(found), self._store.iris

    def _read_snapshot(
        self,
        source: files.Source,
        format: formats.Format | None = None,
        base_iri: str | None = None,
        mapping: Words = None,
    ) -> StagingStore:
        """The triples of a snapshot under the base of this nexus."""
        return formats.stage(
            files.content(source),
            format or _format_of(source) or "turtle",
            self.base_iri,
            source_base=base_iri,
            mapping=mapping_of(mapping),
        )


def mapping_of(words: Words) -> Mapping | None:
    """The mapping that a caller means."""
    if words is None:
        return None
    from kiprdf.interchange.mapping.contexts import Mapping

    if isinstance(words, Mapping):
        return words
    sources = words if isinstance(words, list | tuple) else (words,)
    return Mapping.load(*sources)


def _no_mapping() -> Mapping:
    from kiprdf.interchange.mapping.contexts import Mapping

    return Mapping.none()


def _format_of(target: object) -> formats.Format | None:
    """The format that the suffix of a path or of an open file's name tells."""
    name = files.name_of(target)
    return None if name is None else formats.format_of(name)


def _to_write(target: object) -> formats.Format:
    """The format that a suffix tells, Turtle where there is none."""
    name = files.name_of(target)
    if name is not None and Path(name).suffix and formats.format_of(name) is None:
        message = f"The suffix of {shown(name)} tells no format of RDF."
        hint = "Formats: turtle, trig, ntriples, nquads, jsonld, rdfxml; or end the name in .ttl."
        raise KipError("KIP_1001", message, hint)
    return _format_of(target) or "turtle"


def _document(
    source: files.Source | rdflib.Graph, format: formats.Format | None
) -> tuple[str | bytes, formats.Format]:
    """What is to be imported, and its format."""
    from kiprdf.interchange.formats import graphs

    if graphs.is_graph(source):
        return graphs.to_nquads(source), "nquads"
    document = cast("files.Source", source)
    return files.content(document), format or _format_of(document) or _guessed(document)


def _guessed(source: files.Source) -> formats.Format:
    if files.name_of(source) is None:
        return "turtle"
    message = f"The suffix of {files.name_of(source)} tells no format of RDF."
    raise KipError("KIP_1001", message, "Give the format: turtle, trig, jsonld, rdfxml, …")
