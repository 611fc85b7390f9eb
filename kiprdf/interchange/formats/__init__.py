"""Reads and writes RDF in every format; this module has the names of formats and profiles.

=============  ============  =================================  ===================================
format         profiles      where the base is                  special cases
=============  ============  =================================  ===================================
``turtle``     both          the comment of its first line
``trig``       both          the comment of its first line      the default graph, as Turtle
``ntriples``   both          the comment of its first line
``nquads``     both          the comment of its first line      the default graph, as N-Triples
``jsonld``     rdf11         ``@base`` of its context           arrays, objects as text of rdf:JSON
``rdfxml``     rdf11         a processing instruction           control characters as rdf:JSON
=============  ============  =================================  ===================================

``reading.read`` and ``reading.stage`` restore the same dataset from what ``writing.Serializer``
writes in each of them: ``ordering`` sorts, ``profiles`` converts, then ``turtle``, ``jsonld`` or
``rdfxml`` writes, with ``prefixes`` and ``output``. ``parsing`` reads RDF of any origin, checked by
``guard``, ``guard_xml`` and ``guard_jsonld`` (with ``json_text``, ``given_contexts`` and
``plain_jsonld``), or with bad lines left out by ``lenient``. ``graphs`` are those of rdflib.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Literal as OneOf
from typing import TypeAlias, get_args

from kiprdf.errors import KipError, shown

Format: TypeAlias = OneOf["turtle", "trig", "ntriples", "nquads", "jsonld", "rdfxml"]
Profile: TypeAlias = OneOf["rdf11", "rdf12"]

NAMES: dict[Format, str] = {
    "turtle": "Turtle",
    "trig": "TriG",
    "ntriples": "N-Triples",
    "nquads": "N-Quads",
    "jsonld": "JSON-LD",
    "rdfxml": "RDF/XML",
}
"""The formats as people call them."""

_SUFFIXES: dict[str, Format] = {
    ".ttl": "turtle",
    ".trig": "trig",
    ".nt": "ntriples",
    ".nq": "nquads",
    ".jsonld": "jsonld",
    ".json": "jsonld",
    ".rdf": "rdfxml",
    ".xml": "rdfxml",
    ".owl": "rdfxml",
}


def format_of(path: object) -> Format | None:
    """The format for the suffix of a file; None for an unknown suffix.

    >>> format_of("brain.ttl"), format_of("brain.txt")
    ('turtle', None)
    """
    return _SUFFIXES.get(PurePath(str(path)).suffix.lower())


def check_format(format: str) -> None:
    """Raise KIP_1001 unless this is the name of a format."""
    if not isinstance(format, str) or format not in NAMES:
        message = f"There is no format {shown(repr(format))}."
        raise KipError("KIP_1001", message, f"The formats are {', '.join(get_args(Format))}.")


def check_profile(profile: str) -> None:
    """Raise KIP_1001 for anything but ``rdf11`` and ``rdf12``."""
    if profile not in get_args(Profile):
        message = f"There is no Turtle profile {profile!r}."
        raise KipError("KIP_1001", message, 'The profiles are "rdf11" and "rdf12".')
