"""Datasets of a nexus, and parts of them, written in every format."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import IO, TYPE_CHECKING, Any

from pyoxigraph import Triple

from kiprdf.errors import KipError
from kiprdf.interchange.formats import jsonld, lines, rdfxml, turtle
from kiprdf.interchange.formats.names import NAMES, Format, Profile, check_format, check_profile
from kiprdf.interchange.formats.ordering import ENGINE_METADATA, Advance, Output, normalized
from kiprdf.interchange.formats.profiles import to_profile
from kiprdf.interchange.staging_store import Listed, StagingStore
from kiprdf.rdf.iris import Iris

if TYPE_CHECKING:
    from kiprdf.interchange.mapping.contexts import Mapping


def write(
    triples: Iterable[Triple] | Callable[[], Iterable[Triple] | StagingStore],
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
    dataset is written alike. With a mapping the document speaks its words; it may use ``prefixes``
    beside those of the dataset and the mapping. ``advance`` is told how many triples more have been
    written. ``read`` runs what reads all triples, and does so again where they changed meanwhile.
    Raises KIP_1001 for a format or profile that there is not, and for what a format cannot say.
    """
    _check(format, profile)
    without = () if engine_metadata else ENGINE_METADATA
    names = {**({} if mapping is None else mapping.prefixes), **(prefixes or {})}
    output = Output(target, advance)

    def every() -> Iterable[Triple] | StagingStore:
        return triples() if callable(triples) else triples

    def in_words() -> list[Triple]:
        told = (triple for triple in every() if triple.predicate not in without)
        return list(_in_words(told, iris, mapping))

    def lines_of() -> turtle.Text:
        found = every() if mapping is None else in_words()
        columns = found if isinstance(found, StagingStore) else Listed(found)
        return turtle.gathered(columns, iris, profile, names, without)

    match format:
        case "turtle" | "trig":
            read(lines_of).write(output)
        case "ntriples" | "nquads":
            lines.write(normalized(read(in_words)), output, iris, profile)
        case "jsonld":
            told = to_profile(normalized(read(in_words)), "rdf11", directions=True)
            jsonld.write(told, output, iris, mapping)
        case "rdfxml":
            told = to_profile(rdfxml.representable(normalized(read(in_words))), "rdf11")
            rdfxml.write(told, output, iris, names)
    output.close()
    return output.triples


def _check(format: Format, profile: Profile) -> None:
    check_format(format)
    check_profile(profile)
    if format in ("jsonld", "rdfxml") and profile != "rdf11":
        message = f"{NAMES[format]} cannot say RDF 1.2."
        raise KipError("KIP_1001", message, 'Take the profile "rdf11", or another format.')


def _in_words(triples: Iterable[Triple], iris: Iris, mapping: Mapping | None) -> Iterable[Triple]:
    """The triples in the words of a mapping."""
    if mapping is None:
        return triples
    from kiprdf.interchange.mapping.apply import apply_mapping

    return apply_mapping(normalized(triples), iris, mapping)
