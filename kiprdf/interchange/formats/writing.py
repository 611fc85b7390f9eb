"""Writes datasets of a nexus, and parts of them, in every format."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from pyoxigraph import NamedNode, Triple

from kiprdf.errors import KipError
from kiprdf.interchange.formats import jsonld, lines, rdfxml, turtle
from kiprdf.interchange.formats.names import NAMES, Format, Profile, check_format, check_profile
from kiprdf.interchange.formats.ordering import Dataset, Reification, normalized
from kiprdf.interchange.formats.output import Advance, Output
from kiprdf.interchange.formats.profiles import to_text
from kiprdf.interchange.staging_store import StagingStore
from kiprdf.loading import load
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris

if TYPE_CHECKING:
    from kiprdf.interchange.mapping.contexts import Mapping

Triples: TypeAlias = StagingStore | Iterable[Triple]

_ENGINE_METADATA = frozenset(NamedNode(vocab.METADATA + key) for key in vocab.ENGINE_KEYS)


def write(
    triples: Triples | Callable[[], Triples],
    target: IO[bytes],
    format: Format,
    iris: Iris,
    *,
    profile: Profile = "rdf11",
    mapping: Mapping | None = None,
    engine_metadata: bool = True,
    prefixes: dict[str, str] | None = None,
    advance: Advance | None = None,
    read: Callable[[Callable[[], Any]], Any] = lambda function: function(),
) -> int:
    """Write a dataset, deterministically; returns the number of triples in the document.

    The triples are those of a store, in any order, or a function that gets them; a part of a
    dataset is written alike. With a mapping the document uses its vocabulary; it may use
    ``prefixes`` besides those of the dataset and the mapping. ``advance`` is called with the number
    of triples written since its last call. ``read`` runs the function that reads all triples, and
    repeats it when they changed meanwhile. Raises KIP_1001 for an unknown format or profile, and
    for what a format cannot express.
    """
    _check(format, profile)
    every_prefix = {**({} if mapping is None else mapping.prefixes), **(prefixes or {})}
    output = Output(target, advance)

    def convert(text: str) -> str:
        if format == "rdfxml":
            return rdfxml.to_text(text)
        return to_text(text, directions=profile == "rdf12" or format == "jsonld")

    reification: Reification = "triples"
    if profile == "rdf11":
        reification = "statements"
    elif format in ("turtle", "trig"):
        reification = "annotations"

    def selected() -> Dataset:
        selection = triples() if callable(triples) else triples
        if not engine_metadata:
            selection = (triple for triple in selection if triple.predicate not in _ENGINE_METADATA)
        # Annotations join a link and its fact, and the terms of a mapping depend on all values.
        is_sorted_on_disk = mapping is None and reification != "annotations"
        mapped = _mapped(selection, iris, mapping)
        return Dataset(mapped, reification, convert, iris if is_sorted_on_disk else None)

    dataset: Dataset = read(selected)
    match format:
        case "turtle" | "trig":
            turtle.write(dataset, output, iris, every_prefix)
        case "ntriples" | "nquads":
            lines.write(dataset, output, iris)
        case "jsonld":
            jsonld.write(dataset, output, iris, mapping)
        case "rdfxml":
            rdfxml.write(dataset, output, iris, every_prefix)
    output.close()
    return output.triples


def _check(format: Format, profile: Profile) -> None:
    check_format(format)
    check_profile(profile)
    if format in ("jsonld", "rdfxml") and profile != "rdf11":
        message = f"{NAMES[format]} does not support RDF 1.2."
        raise KipError("KIP_1001", message, 'Use the profile "rdf11", or another format.')


def _mapped(triples: Triples, iris: Iris, mapping: Mapping | None) -> Triples:
    """The triples in the vocabulary of a mapping."""
    if mapping is None:
        return triples
    load("kiprdf.interchange.mapped")
    from kiprdf.interchange.mapped import applied

    return applied(normalized(triples), iris, mapping)
