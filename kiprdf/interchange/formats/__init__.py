"""Reads and writes RDF in every format.

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

``read`` and ``stage`` restore the same dataset from each of them.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from kiprdf.interchange.formats.names import NAMES, Format, Profile, format_of
from kiprdf.loading import load

if TYPE_CHECKING:
    from kiprdf.interchange.formats.languages import parse_foreign
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
    "parse_foreign",
    "read",
    "stage",
    "write",
]
_MODULES = {
    "base_of": "reading",
    "parse": "parsing",
    "parse_foreign": "languages",
    "read": "reading",
    "stage": "reading",
    "write": "writing",
}


def __getattr__(name: str) -> Any:
    """Load readers and writers on first use: opening a nexus needs none of them (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = f"{__name__}.{_MODULES[name]}"
    load(home)
    return getattr(sys.modules[home], name)
