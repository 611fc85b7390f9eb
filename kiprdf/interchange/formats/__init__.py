"""The formats of RDF, out and in: the door to their writers and parsers.

=============  ============  =================================  ===================================
format         profiles      what names the base                what is written otherwise
=============  ============  =================================  ===================================
``turtle``     both          the comment of its first line
``trig``       both          the comment of its first line      the default graph, as Turtle
``ntriples``   both          the comment of its first line
``nquads``     both          the comment of its first line      the default graph, as N-Triples
``jsonld``     rdf11         ``@base`` of its context           arrays, objects as text of rdf:JSON
``rdfxml``     rdf11         a processing instruction           control characters as rdf:JSON
=============  ============  =================================  ===================================

Each of them comes back as the same dataset (``read``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, TYPE_CHECKING

from pyoxigraph import Triple

from kiprdf.errors import KipError
from kiprdf.interchange.formats import jsonld, lines, rdfxml, turtle
from kiprdf.interchange.formats.layout import Advance, Output, spelled, without_engine_metadata
from kiprdf.interchange.formats.parsing import NAMES, Format, check_format, format_of, parse
from kiprdf.interchange.formats.profiles import Profile, check_profile, to_profile
from kiprdf.interchange.formats.reading import base_of, read
from kiprdf.rdf.iris import Iris

if TYPE_CHECKING:
    from kiprdf.interchange.mapping.contexts import Mapping

__all__ = ["NAMES", "Format", "Profile", "base_of", "format_of", "parse", "read", "write"]


def write(
    triples: Iterable[Triple],
    target: IO[bytes],
    format: Format,
    iris: Iris,
    *,
    profile: Profile = "rdf11",
    mapping: Mapping | None = None,
    engine_metadata: bool = True,
    prefixes: dict[str, str] | None = None,
    advance: Advance | None = None,
) -> int:
    """Write a dataset, deterministically; returns the number of triples in the document.

    The triples are those of a store, in any order; a part of a dataset is written alike. With a
    mapping the document speaks its words; it may use ``prefixes`` beside those of the dataset and
    the mapping. ``advance`` is told how many triples more have been written. Raises KIP_1001 for
    a format or profile that there is not, and for what a format cannot say.
    """
    _check(format, profile)
    found = _in_words(
        triples if engine_metadata else without_engine_metadata(triples), iris, mapping
    )
    names = {**({} if mapping is None else mapping.prefixes), **(prefixes or {})}
    output = Output(target, advance)
    match format:
        case "turtle" | "trig":
            turtle.write_to(found, output, iris, profile, names)
        case "ntriples" | "nquads":
            lines.write(found, output, iris, profile)
        case "jsonld":
            told = to_profile(found, "rdf11", directions=True)
            jsonld.write(told, output, iris, mapping)
        case "rdfxml":
            told = to_profile(rdfxml.representable(found), "rdf11")
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
    """The triples in our spelling, and in the words of a mapping."""
    found = spelled(triples)
    if mapping is None:
        return found
    from kiprdf.interchange.mapping.mapped import to_mapped

    return to_mapped(found, iris, mapping)
