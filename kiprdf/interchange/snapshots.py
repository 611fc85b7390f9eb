"""Writes and reads snapshots, and compares two of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar, cast

from pyoxigraph import NamedNode, Triple

from kiprdf import collector
from kiprdf.budget import paced
from kiprdf.errors import KipError
from kiprdf.interchange import arguments, files, formats
from kiprdf.interchange.formats.ordering import normalized
from kiprdf.loading import load
from kiprdf.rdf.iris import Iris
from kiprdf.store import NexusStore, is_store

if TYPE_CHECKING:
    import rdflib

    from kiprdf.interchange.differences.difference import Difference
    from kiprdf.interchange.formats.output import Advance
    from kiprdf.interchange.mapping.contexts import Mapping
    from kiprdf.interchange.staging_store import StagingStore

T = TypeVar("T")
Select = Callable[[str], list[NamedNode]]
"""Finds the elements that a FIND or an EXPORT selects."""


@dataclass(frozen=True)
class Snapshot:
    """What a snapshot contains, and how it is written; the arguments of ``write_snapshot``."""

    profile: formats.Profile
    format: formats.Format
    mapping: Mapping | None
    domain: str | None
    select: str | None
    engine_metadata: bool
    advance: Advance | None
    only: str | None = None

    def __post_init__(self) -> None:
        arguments.check(
            profile=self.profile,
            domain=self.domain,
            select=self.select,
            engine_metadata=self.engine_metadata,
            advance=self.advance,
            only=self.only,
        )
        if self.only and (self.mapping is None or not self.mapping.is_original):
            message = "Only the mapping 'original' can select imported knowledge."
            raise KipError("KIP_1001", message, 'Give mapping="original", or leave only out.')

    def write(
        self, store: NexusStore, target: str | os.PathLike[str] | IO[bytes], select: Select
    ) -> int:
        """Write the snapshot of a store to a path or an open file; return the number of triples."""

        def read_part(function: Callable[[], T]) -> T:
            with store.bulk_reading():
                return collector.paused(lambda: store.read(function))

        def write(output: IO[bytes]) -> int:
            if self.only:
                return self._write_imported(
                    output, read_part(lambda: self._part(store, select)), store.iris
                )
            return formats.write(
                lambda: self._part(store, select),
                output,
                self.format,
                store.iris,
                profile=self.profile,
                mapping=self.mapping,
                engine_metadata=self.engine_metadata,
                advance=self.advance,
                read=read_part,
            )

        if isinstance(target, str | os.PathLike):
            return files.write_whole(Path(target), write)
        return files.write_open(target, lambda: write(target))

    def _write_imported(self, output: IO[bytes], part: Iterable[Triple], iris: Iris) -> int:
        load("kiprdf.interchange.formats.foreign", "kiprdf.interchange.original.writing")
        from kiprdf.interchange.formats.foreign import write_foreign
        from kiprdf.interchange.original.writing import only_imported

        assert self.mapping is not None
        rdf11 = self.profile == "rdf11" or self.format in ("jsonld", "rdfxml")
        imported = only_imported(normalized(part), iris, rdf11=rdf11)
        triples = write_foreign(
            imported.quads,
            output,
            self.format,
            self.mapping.prefixes,
            lower_tags=imported.is_of_wikibase,
        )
        if self.advance is not None:
            self.advance(triples)
        return triples

    def _part(self, store: NexusStore, select: Select) -> list[Triple] | StagingStore:
        """The triples of the snapshot."""
        load("kiprdf.interchange.selection", "kiprdf.interchange.staging_store")
        from kiprdf.interchange import selection
        from kiprdf.interchange.staging_store import StagingStore

        if self.domain is not None and self.select is not None:
            message = "A snapshot takes a domain or a selection, not both."
            raise KipError("KIP_1001", message, "Leave one of them out.")
        if self.domain is not None:
            return selection.domain(store, self.domain)
        if self.select is not None:
            return selection.elements(store, select(self.select))
        return StagingStore(store.engine)


def read(
    source: files.Source,
    base: str,
    *,
    format: formats.Format | None = None,
    source_base: str | None = None,
    mapping: Mapping | None = None,
) -> StagingStore:
    """Read a snapshot into a temporary store, its IRIs moved to ``base``.

    ``source_base`` is the base of its IRIs, if the snapshot does not name it itself.
    """
    return formats.stage(
        files.content(source),
        format or files.format_of(source) or "turtle",
        base,
        source_base=source_base,
        mapping=mapping,
    )


def dataset(store: NexusStore) -> list[Triple]:
    """All triples of a store, as of one commit."""
    return store.read(lambda: list(paced(store.match(None, None, None))))


def to_rdflib(store: NexusStore, mapping: Mapping | None) -> rdflib.Graph:
    """The rdf11 profile of the dataset as a graph of rdflib."""
    load("kiprdf.interchange.formats.graphs")
    from kiprdf.interchange.formats import graphs

    return graphs.to_rdflib(dataset(store), store.iris, mapping)


def compare(
    store: NexusStore,
    other: NexusStore | files.Source,
    *,
    engine_metadata: bool,
    link_ids: bool,
) -> Difference:
    """The difference from a store to another one, or to a snapshot."""
    load("kiprdf.interchange.dataset", "kiprdf.interchange.differences.difference")
    from kiprdf.interchange.dataset import check_dataset
    from kiprdf.interchange.differences.difference import difference

    if is_store(other):
        after, iris = dataset(other), other.iris
    else:
        snapshot = read(cast(files.Source, other), store.iris.base)
        check_dataset(snapshot, store.iris)
        after, iris = list(snapshot), store.iris
    return difference(
        dataset(store),
        after,
        store.iris,
        after_iris=iris,
        engine_metadata=engine_metadata,
        link_ids=link_ids,
    )
