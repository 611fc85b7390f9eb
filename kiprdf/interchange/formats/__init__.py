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

Each of them comes back as the same dataset (``read``, ``stage``).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kiprdf.interchange.formats.names import NAMES, Format, Profile, format_of

if TYPE_CHECKING:
    from kiprdf.interchange.formats.parsing import parse
    from kiprdf.interchange.formats.reading import base_of, read, stage
    from kiprdf.interchange.formats.writing import write

__all__ = [
    "NAMES",
    "Format",
    "Profile",
    "base_of",
    "format_of",
    "parse",
    "read",
    "stage",
    "write",
]
_ROOMS = {
    "base_of": "reading",
    "parse": "parsing",
    "read": "reading",
    "stage": "reading",
    "write": "writing",
}


def __getattr__(name: str) -> Any:
    """What reads and writes is loaded when it is asked for: a nexus opens without (PEP 562)."""
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)
