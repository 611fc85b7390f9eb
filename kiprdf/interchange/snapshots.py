"""Writes and reads snapshots, and compares two of them."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar, cast

from pyoxigraph import NamedNode, Triple

from kiprdf import collector
from kiprdf.budget import paced
from kiprdf.errors import KipError
from kiprdf.interchange import files, formats
from kiprdf.interchange.formats.ordering import normalized
from kiprdf.loading import Lazy
from kiprdf.rdf.iris import Iris
from kiprdf.store import NexusStore, is_store

if TYPE_CHECKING:
    import rdflib

    from kiprdf.interchange import dataset as dataset_checks
    from kiprdf.interchange import selection, staging_store
    from kiprdf.interchange.differences import difference as differences
    from kiprdf.interchange.differences.difference import Difference
    from kiprdf.interchange.formats import foreign, graphs, reading, writing
    from kiprdf.interchange.formats.writing import Serializer
    from kiprdf.interchange.mapping.contexts import Mapping
    from kiprdf.interchange.original import writing as original
    from kiprdf.interchange.staging_store import StagingStore
    from kiprdf.options import SnapshotOptions
else:
    dataset_checks = Lazy("kiprdf.interchange.dataset")
    differences = Lazy("kiprdf.interchange.differences.difference")
    foreign = Lazy("kiprdf.interchange.formats.foreign")
    graphs = Lazy("kiprdf.interchange.formats.graphs")
    reading = Lazy("kiprdf.interchange.formats.reading")
    writing = Lazy("kiprdf.interchange.formats.writing")
    original = Lazy("kiprdf.interchange.original.writing")
    selection = Lazy("kiprdf.interchange.selection")
    staging_store = Lazy("kiprdf.interchange.staging_store")

T = TypeVar("T")
Select = Callable[[str], list[NamedNode]]
"""Finds the elements that a FIND or an EXPORT selects."""


def text(
    store: NexusStore, target: files.Target | None, options: SnapshotOptions, select: Select
) -> str:
    """The snapshot of a store as text, which is also written to a path or an open file."""
    options = replace(options, format=options.format or files.format_to_write(target))
    content = io.BytesIO()
    write(store, content, options, select)
    return files.write_text(target, content.getvalue().decode())


def write(
    store: NexusStore,
    target: str | os.PathLike[str] | IO[bytes],
    options: SnapshotOptions,
    select: Select,
) -> int:
    """Write the snapshot of a store to a path or an open file; return the number of triples."""
    format = options.format or files.format_to_write(target)
    mapping = options.vocabulary  # read here, since it may be a file that is missing

    def read_part(function: Callable[[], T]) -> T:
        with store.bulk_reading():
            return collector.paused(lambda: store.read(function))

    def serializer() -> Serializer:
        return writing.Serializer(
            _part(store, options, select),
            format,
            store.iris,
            profile=options.profile,
            mapping=mapping,
            engine_metadata=options.engine_metadata,
        )

    def write_to(output: IO[bytes]) -> int:
        if options.only:
            part = read_part(lambda: _part(store, options, select))
            return _write_imported(output, part, store.iris, format, options)
        return read_part(serializer).write(output, advance=options.advance)

    if isinstance(target, str | os.PathLike):
        return files.write_whole(Path(target), write_to)
    return files.write_open(target, lambda: write_to(target))


def _write_imported(
    output: IO[bytes],
    part: Iterable[Triple],
    iris: Iris,
    format: formats.Format,
    options: SnapshotOptions,
) -> int:
    assert options.vocabulary is not None
    rdf11 = options.profile == "rdf11" or format in ("jsonld", "rdfxml")
    imported = original.only_imported(normalized(part), iris, rdf11=rdf11)
    triples = foreign.write_foreign(
        imported.quads,
        output,
        format,
        options.vocabulary.prefixes,
        lower_tags=imported.is_of_wikibase,
    )
    if options.advance is not None:
        options.advance(triples)
    return triples


def _part(
    store: NexusStore, options: SnapshotOptions, select: Select
) -> list[Triple] | StagingStore:
    """The triples of a snapshot."""
    if options.domain is not None and options.select is not None:
        message = "A snapshot takes a domain or a selection, not both."
        raise KipError("KIP_1001", message, "Leave one of them out.")
    if options.domain is not None:
        return selection.domain(store, options.domain)
    if options.select is not None:
        return selection.elements(store, select(options.select))
    return staging_store.StagingStore(store.engine)


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
    return reading.stage(
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
    return graphs.to_rdflib(dataset(store), store.iris, mapping)


def compare(
    store: NexusStore,
    other: NexusStore | files.Source,
    *,
    engine_metadata: bool,
    link_ids: bool,
) -> Difference:
    """The difference from a store to another one, or to a snapshot."""
    if is_store(other):
        after, iris = dataset(other), other.iris
    else:
        snapshot = read(cast(files.Source, other), store.iris.base)
        dataset_checks.check_dataset(snapshot, store.iris)
        after, iris = list(snapshot), store.iris
    return differences.difference(
        dataset(store),
        after,
        store.iris,
        after_iris=iris,
        engine_metadata=engine_metadata,
        link_ids=link_ids,
    )
