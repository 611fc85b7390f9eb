"""How long terms may become: what a text abbreviates, its parser writes out for each use.

A prefix of 100 kB that is used 5 000 times makes half a gigabyte of a small file. So single IRIs
are bounded, and all terms together in proportion to the text that they come from.
"""

from __future__ import annotations

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
SOME = 256
"""How many quads are measured at once: each alone would take longer than to parse it."""


def bounded(quads: Iterable[Quad], text: str, name: str) -> Iterator[tuple[list[Quad], str]]:
    """The quads of a document, some at a time, until they are too long: KIP_4002.

    With them comes their text, in which a blank node is seen by its ``_:``.
    """
    room = most(text)
    coming = iter(quads)
    while some := list(islice(coming, SOME)):
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


def too_long(name: str, span: Span = NOWHERE, source: str | None = None) -> KipError:
    """The error of an IRI that is too long."""
    message = f"The {name} has an IRI, or a part of one, of more than {IRI} characters."
    return KipError("KIP_4002", message, "Write long data as literals.", span, source)


def most(text: str) -> int:
    """How many characters the terms of a document may have in all."""
    return ALLOWANCE + GROWTH * len(text)


def excess(text: str, name: str) -> KipError:
    """The error of terms that have more characters than that."""
    message = f"The {name} becomes more than {GROWTH} times as long when its IRIs are written out."
    return KipError("KIP_4002", message, "Shorten its prefixes and its base.", NOWHERE, text)


class Iris:
    """The IRIs between angle brackets of a text, and how long its bases and prefixes become.

    Each base may be relative to the one before it, each prefix to the base, and the parser keeps
    all of them written out.
    """

    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self._name = name
        self._room = most(text)
        self._base = 0
        self._directive = ""

    @property
    def is_awaited(self) -> bool:
        """Whether the next IRI is a base or a prefix."""
        return bool(self._directive)

    def take(self, token: str, at: int) -> None:
        """Take note of a token; raise KIP_4002 for an IRI that is, or becomes, too long."""
        word = token.lower()
        if word in ("base", "prefix"):
            self._directive = word
        elif token[0] == "<":
            self._iri(token[1:-1], Span(at, at + len(token)))
            self._directive = ""
        elif token[0] != "#":
            self._directive = ""

    def _iri(self, iri: str, span: Span) -> None:
        check_length(iri, self._name, span, self._text)
        if not self._directive:
            return
        length = len(iri) if ":" in iri else self._base + len(iri)
        if length > IRI:
            raise too_long(self._name, span, self._text)
        if self._directive == "base":
            # The words may be a local name, and the base still the one before.
            self._base = max(self._base, length)
        self._room -= length
        if self._room < 0:
            raise excess(self._text, self._name)
