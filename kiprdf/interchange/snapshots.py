"""Writes and reads snapshots, of a whole nexus or a part, and compares two of them.

A part, a domain or the result of a selection, includes what its elements need: the ends of
propositions, and the definitions of types and predicates. So its snapshot can be restored.
"""

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
from kiprdf.errors import KipError, nearest
from kiprdf.interchange import files, formats
from kiprdf.interchange.formats.ordering import normalized
from kiprdf.interchange.knowledge import DOMAIN, MEMBERSHIP
from kiprdf.kql.reader import link_of
from kiprdf.loading import Lazy
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, Iris
from kiprdf.store import NexusStore, Store, is_store


def domain(store: Store, name: str) -> list[Triple]:
    """The triples of a domain: the domain, its members, and the propositions among these.

    A proposition about a proposition is among them when both of its ends are. Raises KIP_3002 when
    there is no such domain.
    """
    node = store.iris.concept(DOMAIN, name)
    if not store.describe(node):
        message = f"There is no domain '{name}'."
        near = nearest(name, _domains(store))
        hint = f"Did you mean '{near[0]}'?" if near else "List them with DESCRIBE DOMAINS."
        raise KipError("KIP_3002", message, hint)
    memberships = store.match(None, store.iris.predicate(MEMBERSHIP), node)
    members = [cast(NamedNode, triple.subject) for triple in memberships]
    return elements(store, [node, *members, *_among(store, [node, *members])])


def elements(store: Store, nodes: Iterable[NamedNode]) -> list[Triple]:
    """The triples of some elements and of what they need, each once.

    Raises KIP_3002 for a node that is not an element of the store.
    """
    selected: dict[Triple, None] = {}
    pending = list(nodes)
    visited = set(pending)
    while pending:
        node = pending.pop()
        triples, needed = _element(store, node)
        selected.update(dict.fromkeys(triples))
        pending.extend(dict.fromkeys(other for other in needed if other not in visited))
        visited.update(needed)
    return list(selected)


def _element(store: Store, node: NamedNode) -> tuple[list[Triple], list[NamedNode]]:
    """The triples of one element, and the elements that it needs."""
    own = store.describe(node)
    if not own:
        message = f"There is no element {node}."
        raise KipError("KIP_3002", message, "Select elements of this nexus.")
    needed: list[NamedNode] = []
    for triple in own:
        if triple.predicate == vocab.REIFIES:
            fact = cast(Triple, triple.object)
            ends = cast(NamedNode, fact.subject), cast(NamedNode, fact.object)
            return [*own, fact], [fact.predicate, *ends]
        if triple.predicate == vocab.TYPE:
            needed.append(cast(NamedNode, triple.object))
    # A nexus that was opened without its capsules has no definitions of the meta-types.
    return own, [definition for definition in needed if store.describe(definition)]


def _among(store: Store, nodes: Iterable[NamedNode]) -> list[NamedNode]:
    """The propositions between elements, those about these propositions included."""
    selected = set(nodes)
    pending = sorted(selected, key=str)
    links: dict[NamedNode, None] = {}
    while pending:
        for fact in store.facts(pending.pop()):
            if fact.subject not in selected or fact.object not in selected:
                continue
            link = link_of(store, fact)
            assert link is not None, fact
            if link not in selected:
                selected.add(link)
                links[link] = None
                pending.append(link)
            elif link not in links:
                links[link] = None
    return list(links)


def _domains(store: Store) -> list[str]:
    typed = store.match(None, vocab.TYPE, store.iris.type(DOMAIN))
    names = (store.iris.name(cast(NamedNode, triple.subject).value) for triple in typed)
    return [name.name for name in names if isinstance(name, ConceptName)]


# Snapshots ------------------------------------------------------------------------------------


if TYPE_CHECKING:
    import rdflib

    from kiprdf.interchange import dataset as dataset_checks
    from kiprdf.interchange import n_triples
    from kiprdf.interchange.differences import difference as differences
    from kiprdf.interchange.differences.difference import Difference
    from kiprdf.interchange.formats import graphs, reading, writing
    from kiprdf.interchange.formats.writing import Serializer
    from kiprdf.interchange.mapping.contexts import Mapping
    from kiprdf.interchange.n_triples import StagingStore
    from kiprdf.interchange.original import writing as original
    from kiprdf.options import SnapshotOptions
else:
    dataset_checks = Lazy("kiprdf.interchange.dataset")
    differences = Lazy("kiprdf.interchange.differences.difference")
    graphs = Lazy("kiprdf.interchange.formats.graphs")
    reading = Lazy("kiprdf.interchange.formats.reading")
    writing = Lazy("kiprdf.interchange.formats.writing")
    original = Lazy("kiprdf.interchange.original.writing")
    n_triples = Lazy("kiprdf.interchange.n_triples")

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
    return files.write_text(target, str(content.getbuffer(), "utf-8"))


def write(
    store: NexusStore,
    target: str | os.PathLike[str] | IO[bytes],
    options: SnapshotOptions,
    select: Select,
) -> int:
    """Write the snapshot of a store to a path or an open file; return the number of triples."""
    format = options.format or files.format_to_write(target)
    mapping = options.vocabulary  # read here, since it may be a file that is missing

    def serializer(part: list[Triple] | StagingStore) -> Serializer:
        return writing.Serializer(
            part,
            format,
            store.iris,
            profile=options.profile,
            mapping=mapping,
            engine_metadata=options.engine_metadata,
        )

    def write_to(output: IO[bytes]) -> int:
        if options.only:
            part = read_part(store, options, select, list)
            return _write_imported(output, part, store.iris, format, options)
        return read_part(store, options, select, serializer).write(output, advance=options.advance)

    if isinstance(target, str | os.PathLike):
        return files.write_whole(Path(target), write_to)
    return files.write_open(target, lambda: write_to(target))


def read_part(
    store: NexusStore,
    options: SnapshotOptions,
    select: Select,
    function: Callable[[list[Triple] | StagingStore], T],
) -> T:
    """The result of a function of the triples that a snapshot has, as of one commit."""

    def run() -> T:
        part = _selected(store, options, select)
        if part is None:
            return store.read_whole(lambda engine: function(n_triples.StagingStore(engine)))
        return function(part)

    return collector.paused(run)


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
    triples = writing.write_foreign(
        imported.quads,
        output,
        format,
        options.vocabulary.prefixes,
        lower_tags=imported.is_of_wikibase,
    )
    if options.advance is not None:
        options.advance(triples)
    return triples


def _selected(store: NexusStore, options: SnapshotOptions, select: Select) -> list[Triple] | None:
    """The triples of a part of a store; None for all of it."""
    if options.domain is not None and options.select is not None:
        message = "A snapshot takes a domain or a selection, not both."
        raise KipError("KIP_1001", message, "Leave one of them out.")
    if options.domain is not None:
        name = options.domain
        return store.read(lambda: domain(store, name))
    if options.select is not None:
        command = options.select
        return store.read(lambda: elements(store, select(command)))
    return None


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
