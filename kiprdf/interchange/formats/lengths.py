"""Bounds the length of terms: a parser expands every abbreviation of a text.

A prefix of 100 kB that is used 5 000 times turns a small file into half a gigabyte. So single IRIs
are bounded, and all terms together in proportion to the text that they come from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad, Triple

from kiprdf.budget import check
from kiprdf.errors import KipError
from kiprdf.source import NOWHERE, Span

IRI = 8192
"""How many characters an IRI has at most; a language tag too."""
GROWTH = 100
"""How many times as long as its text the terms of a document may be, when they are written out."""
ALLOWANCE = 64_000_000
"""How many characters they may have besides, however short the text is."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
SOME = 256
"""How many quads are measured at once: each alone would take longer than to parse it."""


def bounded(quads: Iterable[Quad], text: str, name: str) -> Iterator[tuple[list[Quad], str]]:
    """The quads of a document in portions, with their text; KIP_4002 once they are too long."""
    room = most(text)
    remaining = iter(quads)
    while some := list(islice(remaining, SOME)):
        check()
        written = list(map(str, some))
        if max(map(len, written)) > IRI:
            for quad in some:
                for term in (quad.subject, quad.predicate, quad.object, quad.graph_name):
                    check_term(term, name)
        whole = "\n".join(written)
        room -= len(whole)
        if room < 0:
            raise excess(text, name)
        yield some, whole


def check_term(term: Any, name: str) -> None:
    """Raise KIP_4002 for an IRI or a language tag that is too long."""
    if isinstance(term, Triple):
        for part in (term.subject, term.predicate, term.object):
            check_term(part, name)
    elif isinstance(term, Literal):
        check_length(term.language or term.datatype.value, name)
    elif isinstance(term, NamedNode):
        check_length(term.value, name)


def check_length(text: str, name: str, span: Span = NOWHERE, source: str | None = None) -> None:
    """Raise KIP_4002 for what is longer than an IRI may be."""
    if len(text) > IRI:
        raise too_long(name, span, source)


def is_absolute(iri: str) -> bool:
    """Whether an IRI begins with a scheme; one such as ``a/b:c`` is relative."""
    return _SCHEME.match(iri) is not None


def too_long(name: str, span: Span = NOWHERE, source: str | None = None) -> KipError:
    """The error of an IRI that is too long."""
    message = f"The {name} has an IRI, or a part of one, of more than {IRI} characters."
    return KipError("KIP_4002", message, "Write long data as literals.", span, source)


def most(text: str) -> int:
    """The number of characters that the terms of a document may have in total."""
    return ALLOWANCE + GROWTH * len(text)


def excess(text: str, name: str) -> KipError:
    """The error of terms that have more characters than that."""
    message = f"The {name} becomes more than {GROWTH} times as long when its IRIs are written out."
    return KipError("KIP_4002", message, "Shorten its prefixes and its base.", NOWHERE, text)
