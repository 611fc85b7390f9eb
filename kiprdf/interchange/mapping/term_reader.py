"""Reads the terms of one JSON-LD context (JSON-LD 1.1 API, 4.2, Create Term Definition)."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Any, NamedTuple

from pyoxigraph import NamedNode

from kiprdf import budget
from kiprdf.errors import KipError, nearest, shown
from kiprdf.interchange.formats.json_text import Path
from kiprdf.interchange.mapping import datatypes, limits
from kiprdf.interchange.mapping.terms import MAPS, PREFIX_ENDS, UNSET, Active, Definition, Document
from kiprdf.rdf import vocab

# fmt: off
_ALIASED = frozenset((
    "@id", "@type", "@nest", "@value", "@language", "@direction", "@list", "@set", "@none",
))
_TERM_KEYS = frozenset((
    "@id", "@type", "@language", "@direction", "@container", "@context", "@nest", "@prefix",
    "@protected",
))
# fmt: on
_VALUE_KINDS = ("@id", "@vocab", "@json", "@none")
_KINDS = "@id, @vocab, @json or @none"


class TermReader:
    """The terms of one context object, each defined on first use.

    ``definitions`` holds them, ``scopes`` the scoped contexts that are still to be read,
    ``warnings`` what has no effect.
    """

    def __init__(
        self, active: Active, context: dict[str, Any], place: Place, scopes: dict[str, Scope]
    ) -> None:
        self.definitions: dict[str, Definition] = {}
        self.warnings: list[str] = []
        self._active = active
        self._context = context
        self._place = place
        self._scopes = scopes
        self._pending: list[str] = []

    def get(self, term: str) -> Definition | None:
        """The definition of a term, read first if the context has it."""
        if term in self._context and term not in KEYWORDS:
            self.define(term)
        return self.definitions.get(term) or self._active.terms.get(term)

    def define(self, term: str) -> None:
        if term in self.definitions:
            return
        budget.check()
        there = self._place.at(term)
        if term in self._pending:
            cycle = " → ".join(f"'{shown(name)}'" for name in (*self._pending, term))
            raise there.fault(f"The term is defined by itself: {cycle}.")
        if len(self._pending) == limits.STEPS:
            raise there.excess(f"Terms are defined by terms over more than {limits.STEPS} steps.")
        if not term:
            raise there.fault("A term has a name; this one is empty.")
        self._pending.append(term)
        self._scopes.pop(term, None)
        definition = self._definition(term, self._context[term], there)
        self._pending.pop()
        if definition is not None:
            self._check_protected(term, definition, there)
            self.definitions[term] = definition

    def _check_protected(self, term: str, definition: Definition, there: Place) -> None:
        before = self._active.terms.get(term)
        if before is None or not before.protected or there.overrides:
            return
        same = replace(before, protected=False, scopes=()) == replace(
            definition, protected=False, scopes=()
        )
        if not same or term in self._scopes:
            raise there.fault(f"'{shown(term)}' is protected by an earlier context.")

    def _definition(self, term: str, value: Any, there: Place) -> Definition | None:
        if value is None or isinstance(value, str):
            members = {"@id": value}
        elif isinstance(value, dict):
            members = value
        else:
            raise there.fault("A term is defined by an IRI, an object or null.")
        if term == "@type":
            self._check_type_keyword(members, there)
            return None
        check_keywords(members, _TERM_KEYS, there, "the definition of a term")
        protected = members.get("@protected", self._context.get("@protected", False))
        iri = self._iri(term, members, there)
        if iri is None:
            return Definition(None, protected=protected)
        if "@context" in members:
            self._scopes[term] = Scope(members["@context"], there.at("@context"))
        is_prefix = self._is_prefix(term, members, iri, isinstance(value, str), there)
        return self._described(Definition(iri, is_prefix, protected), members, there)

    def _described(self, definition: Definition, value: dict[str, Any], there: Place) -> Definition:
        """A definition with the keywords that describe its values."""
        type = self._coercion(value, there)
        return replace(
            definition,
            type=type,
            language=UNSET if type else self._language(value, there),
            direction=UNSET if type else self._direction(value, there),
            container=self._container(value, there),
            nest=self._nest(value, there),
        )

    def _check_type_keyword(self, value: dict[str, Any], there: Place) -> None:
        """``@type`` itself may be a set or protected; neither changes a triple."""
        if set(value) - {"@container", "@protected"} or value.get("@container", "@set") != "@set":
            raise there.fault("For '@type' a context may only say '@container': '@set'.")

    def _iri(self, term: str, value: dict[str, Any], there: Place) -> str | None:
        """The IRI or keyword that a term means; None when the context removes it."""
        given = value.get("@id", term)
        is_given = isinstance(self._context[term], dict) and "@id" in value
        place = there.at("@id") if is_given else there
        if given is None:
            return None
        if not isinstance(given, str):
            raise place.fault("'@id' takes an IRI, a keyword or null.")
        iri = self._of_its_own(term) if given == term else self.expanded(given)
        if term in MAPS and iri != "@nest" and not there.overrides:
            hint = f'Write "{term}": {{"@id": "@nest", "@context": {{…}}}}.'
            raise there.fault(f"'{term}' is a map inside an element and must be '@nest'.", hint)
        if iri.startswith("@"):
            self._check_alias(given, iri, place)
        else:
            self.check_iri(given, iri, place)
            if ":" in term[1:-1] or "/" in term:
                self._check_form(term, iri, there)
        return iri

    def _check_alias(self, given: str, keyword: str, place: Place) -> None:
        if keyword not in _ALIASED:
            hint = f"A term may stand for {', '.join(sorted(_ALIASED))}."
            raise place.fault(f"'{shown(given)}' cannot be the meaning of a term.", hint)

    def check_iri(self, given: str, iri: str, place: Place) -> None:
        """Raise for a string that is not a valid IRI."""
        fault = iri_fault(iri)
        if fault is not None:
            raise place.fault(f"'{shown(given)}' {fault}.", self._hint(given))

    def _hint(self, given: str) -> str:
        """The hint for a string that is not a valid IRI."""
        prefix, colon, _ = given.partition(":")
        if len(given) > limits.IRI:
            return "Write a shorter one."
        if prefix in ("http", "https"):
            return f"It begins with '{prefix}://' and has no spaces."
        prefixes = [term for term in self._context if self._looks_like_a_prefix(term)]
        prefixes += [term for term, definition in self._active.terms.items() if definition.prefix]
        likely = nearest(prefix, prefixes, 1) if colon else []
        if likely:
            return f"Did you mean '{shown(likely[0])}:'?"
        return "Write an absolute IRI, or define the prefix before the colon."

    def _looks_like_a_prefix(self, term: str) -> bool:
        value = self._context[term]
        if isinstance(value, dict):
            return value.get("@prefix") is True
        return isinstance(value, str) and value.endswith(PREFIX_ENDS)

    def _check_form(self, term: str, iri: str, there: Place) -> None:
        """A term that looks like an IRI means that IRI (API 4.2.2, step 14.2.4)."""
        prefix, _, rest = term.partition(":")
        prefix_term = self.get(prefix) if ":" in term and not rest.startswith("//") else None
        itself = (
            f"{prefix_term.iri}{rest}" if prefix_term is not None and prefix_term.prefix else term
        )
        if itself != iri:
            raise there.fault(
                f"The term looks like the IRI <{shown(itself)}> but means another one."
            )

    def _of_its_own(self, term: str) -> str:
        """The IRI of a term without an ``@id``: by its prefix, or by ``@vocab``."""
        if ":" in term[1:]:
            prefix, _, rest = term.partition(":")
            prefix_term = self.get(prefix)
            return (
                f"{prefix_term.iri}{rest}" if prefix_term is not None and prefix_term.iri else term
            )
        return (self._active.settings.get("@vocab") or "") + term

    def expanded(self, text: str) -> str:
        """Expand a term, compact IRI or IRI (API 5.2, IRI Expansion)."""
        if KEYWORD_FORM.fullmatch(text):
            return text
        definition = self.get(text)
        if definition is not None and definition.iri is not None:
            return definition.iri
        if ":" in text[1:]:
            prefix, _, rest = text.partition(":")
            definition = self.get(prefix) if prefix != "_" and not rest.startswith("//") else None
            if definition is not None and definition.iri is not None and definition.prefix:
                return definition.iri + rest
            return text
        return (self._active.settings.get("@vocab") or "") + text

    def _is_prefix(
        self, term: str, value: dict[str, Any], iri: str, simple: bool, there: Place
    ) -> bool:
        if ":" in term or "/" in term:
            if "@prefix" in value:
                raise there.at("@prefix").fault("The name of a prefix has no ':' and no '/'.")
            return False
        if value.get("@prefix") and iri.startswith("@"):
            raise there.at("@prefix").fault(f"{iri} cannot be a prefix.")
        return bool(value.get("@prefix", simple and iri.endswith(PREFIX_ENDS)))

    def _coercion(self, value: dict[str, Any], there: Place) -> str | None:
        if "@type" not in value:
            return None
        given, place = value["@type"], there.at("@type")
        if not isinstance(given, str):
            raise place.fault(f"'@type' takes the IRI of a datatype, {_KINDS}.")
        for key in ("@language", "@direction"):
            if key in value:
                ignored = there.fault(f"{key} has no effect beside @type.")
                self.warnings.append(ignored.message)
        iri = self.expanded(given)
        if iri not in _VALUE_KINDS:
            self._check_datatype(given, iri, place)
        return iri

    def _check_datatype(self, given: str, iri: str, place: Place) -> None:
        if iri in (vocab.LANG_STRING.value, vocab.DIR_LANG_STRING.value):
            raise place.fault("Use '@language' for a text with a language.")
        if iri.startswith("@"):
            raise place.fault(f"'@type' takes the IRI of a datatype, {_KINDS}.")
        if iri in datatypes.NAMES:
            raise place.fault(f"'{iri}' is not an absolute IRI.", f"Write '{vocab.XSD}{iri}'.")
        self.check_iri(given, iri, place)
        name = iri.removeprefix(vocab.XSD)
        if iri != name and name not in datatypes.NAMES:
            likely = nearest(name, datatypes.NAMES, 1) or ["date", "dateTime", "decimal"]
            hint = f"XML Schema has {', '.join(likely)}."
            raise place.fault(f"XML Schema has no datatype '{shown(name)}'.", hint)

    def _language(self, value: dict[str, Any], there: Place) -> str | None:
        if "@language" not in value:
            return UNSET  # type: ignore[no-any-return]
        return language(value["@language"], there.at("@language"))

    def _direction(self, value: dict[str, Any], there: Place) -> str | None:
        if "@direction" not in value:
            return UNSET  # type: ignore[no-any-return]
        return direction(value["@direction"], there.at("@direction"))

    def _container(self, value: dict[str, Any], there: Place) -> str | None:
        given = value.get("@container")
        if given in ("@set", "@list", None):
            return given
        if given in (["@set"], ["@list"]):
            return str(given[0])
        message = (
            "A container is '@set' or '@list'; KIP has no maps by language, id, type or index."
        )
        raise there.at("@container").fault(message)

    def _nest(self, value: dict[str, Any], there: Place) -> str | None:
        given = value.get("@nest")
        if given is None:
            return None
        if not isinstance(given, str) or (given.startswith("@") and given != "@nest"):
            raise there.at("@nest").fault("'@nest' takes '@nest' or an alias of it.")
        return given


# fmt: off
KEYWORDS = frozenset((
    "@base", "@container", "@context", "@direction", "@graph", "@id", "@import", "@included",
    "@index", "@json", "@language", "@list", "@nest", "@none", "@prefix", "@propagate",
    "@protected", "@reverse", "@set", "@type", "@value", "@version", "@vocab",
))
# fmt: on
REFUSED = {
    "@base": "The IRIs of a mapping are absolute, so @base is not allowed here.",
    "@reverse": "@reverse would reverse facts; define a predicate for the other direction instead.",
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
    """The place of a context, the URLs before it, whether it may replace protected terms."""

    path: Path
    document: Document
    chain: tuple[str, ...] = ()
    depth: int = 0
    """How deep the document itself is in the contexts that name it."""
    overrides: bool = False

    def at(self, *keys: str | int) -> Place:
        return self._replace(path=(*self.path, *keys))

    def behind(self, url: str, document: Document) -> Place:
        """The place of the remote context that is named here."""
        depth = self.depth + len(self.path)
        return Place(("@context",), document, (*self.chain, url), depth, self.overrides)

    def fault(self, what: str, hint: str = "Correct the context.") -> KipError:
        return self.document.fault(self.path, what, hint)

    def excess(self, what: str) -> KipError:
        hint = "Shorten the mapping, or split it into several."
        return self.document.fault(self.path, what, hint, "KIP_4002")


class Scope(NamedTuple):
    """A scoped context that has not been read yet."""

    context: Any
    place: Place


def check_keywords(
    members: dict[str, Any], allowed: Collection[str], place: Place, where: str
) -> None:
    """Raise for a misplaced keyword, and for a flag that is not boolean."""
    for key, value in members.items():
        if key in REFUSED:
            raise place.at(key).fault(REFUSED[key], "Leave it out.")
        if key not in allowed:
            message = f"'{shown(str(key))}' means nothing in {where}."
            raise place.at(key).fault(message, _hint(str(key), allowed))
        if key in _FLAGS and not isinstance(value, bool):
            raise place.at(key).fault(f"{key} is true or false.")


def _hint(key: str, allowed: Collection[str]) -> str:
    if f"@{key}" in allowed:
        return f"Write '@{key}'."
    if not key.startswith("@"):
        return "Put its own terms into its '@context'."
    return f"It has {', '.join(sorted(allowed))}."


def iri_fault(text: str) -> str | None:
    """Why a text is not an absolute IRI, or None when it is one.

    >>> iri_fault("https://schema.org/name")
    >>> iri_fault("schem:name")
    "has the prefix 'schem', which is not defined"
    """
    scheme, _, rest = text.partition(":")
    if len(text) > limits.IRI:
        return f"is longer than {limits.IRI} characters, prefix and all"
    if scheme == "_":
        return "is a blank node, not an IRI"
    try:
        NamedNode(text)
    except ValueError:
        return "is not an absolute IRI"
    # JSON-LD reads it as an IRI; nearly always its prefix is missing or misspelt.
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
