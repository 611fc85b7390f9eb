"""What holds in every JSON-LD context, and the place of what does not."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from pyoxigraph import NamedNode

from kiprdf.errors import KipError, shown
from kiprdf.interchange.formats.json_text import Path
from kiprdf.interchange.mapping.terms import Document

# fmt: off
KEYWORDS = frozenset((
    "@base", "@container", "@context", "@direction", "@graph", "@id", "@import", "@included",
    "@index", "@json", "@language", "@list", "@nest", "@none", "@prefix", "@propagate",
    "@protected", "@reverse", "@set", "@type", "@value", "@version", "@vocab",
))
# fmt: on
REFUSED = {
    "@base": "The IRIs of a mapping are absolute, so that @base has no use here.",
    "@reverse": "@reverse would turn facts around; name a predicate for that way instead.",
    "@index": "@index has no counterpart in KIP.",
}
"""What JSON-LD has and a mapping has no use for."""
KEYWORD_FORM = re.compile(r"@[A-Za-z]+")
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")
_SCHEMES = frozenset(
    ("ark", "did", "doi", "geo", "info", "mailto", "ni", "oid", "tag", "tel", "urn")
)
"""Schemes of IRIs without ``//``; other words before a colon are prefixes."""


class Scope(NamedTuple):
    """A scoped context that is still to be read, with the URLs that led to it."""

    context: Any
    path: Path
    document: Document
    chain: tuple[str, ...]


class Place(NamedTuple):
    """Where a context stands, what led to it, and whether it may replace protected terms."""

    path: Path
    document: Document
    chain: tuple[str, ...] = ()
    overrides: bool = False

    def at(self, *keys: str | int) -> Place:
        return self._replace(path=(*self.path, *keys))

    def fault(self, what: str, hint: str = "Correct the context.") -> KipError:
        return self.document.fault(self.path, what, hint)


def iri_fault(text: str) -> str | None:
    """Why a text is no absolute IRI, or None when it is one.

    >>> iri_fault("https://schema.org/name")
    >>> iri_fault("schem:name")
    "has the prefix 'schem', which is not defined"
    """
    scheme, _, rest = text.partition(":")
    if scheme == "_":
        return "is a blank node, where an IRI is due"
    try:
        NamedNode(text)
    except ValueError:
        return "is no absolute IRI"
    # JSON-LD takes it for an IRI; nearly always it is a prefix that was forgotten or misspelt.
    if not rest.startswith("//") and scheme.lower() not in _SCHEMES:
        return f"has the prefix '{shown(scheme)}', which is not defined"
    return None


def language(value: Any, place: Place) -> str | None:
    """A language tag in lower case, as RDF stores keep it, or None for no language."""
    if value is None:
        return None
    if not isinstance(value, str) or not _LANGUAGE.fullmatch(value):
        raise place.fault("'@language' takes a language tag, such as 'en', or null.")
    return value.lower()


def direction(value: Any, place: Place) -> str | None:
    if value not in ("ltr", "rtl", None) or isinstance(value, bool):
        raise place.fault("'@direction' takes 'ltr', 'rtl' or null.")
    return value  # type: ignore[no-any-return]
