"""What holds in every JSON-LD context, and the place of what does not."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, NamedTuple

from pyoxigraph import NamedNode

from kiprdf.errors import KipError, shown
from kiprdf.interchange.formats.json_text import Path
from kiprdf.interchange.mapping import limits
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
_FLAGS = ("@prefix", "@propagate", "@protected")
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8}){0,8}")
_SCHEMES = frozenset(
    ("ark", "did", "doi", "geo", "info", "mailto", "ni", "oid", "tag", "tel", "urn")
)
"""Schemes of IRIs without ``//``; other words before a colon are prefixes."""


class Place(NamedTuple):
    """Where a context stands, by which URLs, and whether it may replace protected terms."""

    path: Path
    document: Document
    chain: tuple[str, ...] = ()
    depth: int = 0
    """How deep the document itself is in the contexts that name it."""
    overrides: bool = False

    def at(self, *keys: str | int) -> Place:
        return self._replace(path=(*self.path, *keys))

    def behind(self, url: str, document: Document) -> Place:
        """Where the context of a remote document stands that is named here."""
        depth = self.depth + len(self.path)
        return Place(("@context",), document, (*self.chain, url), depth, self.overrides)

    def fault(self, what: str, hint: str = "Correct the context.") -> KipError:
        return self.document.fault(self.path, what, hint)

    def excess(self, what: str) -> KipError:
        hint = "Shorten the mapping, or split it into several."
        return self.document.fault(self.path, what, hint, "KIP_4002")


class Scope(NamedTuple):
    """A scoped context that is still to be read."""

    context: Any
    place: Place


def check_keywords(
    members: dict[str, Any], known: Collection[str], place: Place, where: str
) -> None:
    """Raise for a keyword without a meaning where it stands, and for a flag that is none."""
    for key, value in members.items():
        if key in REFUSED:
            raise place.at(key).fault(REFUSED[key], "Leave it out.")
        if key not in known:
            message = f"'{shown(str(key))}' means nothing in {where}."
            raise place.at(key).fault(message, _hint(str(key), known))
        if key in _FLAGS and not isinstance(value, bool):
            raise place.at(key).fault(f"{key} is true or false.")


def _hint(key: str, known: Collection[str]) -> str:
    if f"@{key}" in known:
        return f"Write '@{key}'."
    if not key.startswith("@"):
        return "Terms of its own stand in its '@context'."
    return f"It has {', '.join(sorted(known))}."


def iri_fault(text: str) -> str | None:
    """Why a text is no absolute IRI, or None when it is one.

    >>> iri_fault("https://schema.org/name")
    >>> iri_fault("schem:name")
    "has the prefix 'schem', which is not defined"
    """
    scheme, _, rest = text.partition(":")
    if len(text) > limits.IRI:
        return f"is longer than {limits.IRI} characters, prefix and all"
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
    """The direction of a text, or None for none."""
    if value not in ("ltr", "rtl", None) or isinstance(value, bool):
        raise place.fault("'@direction' takes 'ltr', 'rtl' or null.")
    return value  # type: ignore[no-any-return]
