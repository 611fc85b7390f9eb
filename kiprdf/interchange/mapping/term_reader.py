"""Reads the terms of one JSON-LD context (JSON-LD 1.1 API, 4.2, Create Term Definition)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kiprdf.errors import shown
from kiprdf.interchange.formats.json_text import NESTING
from kiprdf.interchange.mapping.context_checks import (
    KEYWORD_FORM,
    KEYWORDS,
    REFUSED,
    Place,
    Scope,
    direction,
    iri_fault,
    language,
)
from kiprdf.interchange.mapping.terms import NESTED, UNSET, Active, Definition
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
_PREFIX_ENDS = tuple(":/?#[]@")


class Terms:
    """The terms of one context object, each defined when it is asked for first.

    ``found`` holds their definitions, ``scopes`` the scoped contexts that are still to be read,
    ``warnings`` what has no effect.
    """

    def __init__(
        self, active: Active, context: dict[str, Any], place: Place, scopes: dict[str, Scope]
    ) -> None:
        self.found: dict[str, Definition] = {}
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
        return self.found.get(term) or self._active.terms.get(term)

    def define(self, term: str) -> None:
        if term in self.found:
            return
        there = self._place.at(term)
        if term in self._pending:
            cycle = " → ".join(f"'{shown(name)}'" for name in (*self._pending, term))
            raise there.fault(f"The term is defined by itself: {cycle}.")
        if len(self._pending) == NESTING:
            raise there.fault(f"Terms are defined by terms over more than {NESTING} steps.")
        if not term:
            raise there.fault("A term has a name; this one is empty.")
        self._pending.append(term)
        self._scopes.pop(term, None)
        definition = self._definition(term, self._context[term], there)
        self._pending.pop()
        if definition is not None:
            self._check_protected(term, definition, there)
            self.found[term] = definition

    def _check_protected(self, term: str, definition: Definition, there: Place) -> None:
        before = self._active.terms.get(term)
        if before is None or not before.protected or there.overrides:
            return
        same = replace(before, protected=False, scopes=()) == replace(
            definition, protected=False, scopes=()
        )
        if not same or term in self._scopes:
            raise there.fault(f"'{shown(term)}' is protected by the context before.")

    def _definition(self, term: str, value: Any, there: Place) -> Definition | None:
        simple = isinstance(value, str)
        if value is None:
            value = {"@id": None}
        elif simple:
            value = {"@id": value}
        elif not isinstance(value, dict):
            raise there.fault("A term is defined by an IRI, an object or null.")
        if term == "@type":
            self._check_type_keyword(value, there)
            return None
        self._check_keys(value, there)
        protected = value.get("@protected", self._context.get("@protected", False))
        iri = self._iri(term, value, there)
        if iri is None:
            return Definition(None, protected=protected)
        if term in NESTED and iri != "@nest" and not there.overrides:
            hint = f'Write "{term}": {{"@id": "@nest", "@context": {{…}}}}.'
            raise there.fault(f"'{term}' is a map inside of an element, hence '@nest'.", hint)
        type = self._coercion(value, there)
        definition = Definition(
            iri,
            self._is_prefix(term, value, iri, simple, there),
            protected,
            type,
            UNSET if type else self._language(value, there),
            UNSET if type else self._direction(value, there),
            self._container(value, there),
            self._nest(value, there),
        )
        if "@context" in value:
            path, document, chain, _ = there.at("@context")
            self._scopes[term] = Scope(value["@context"], path, document, chain)
        return definition

    def _check_type_keyword(self, value: dict[str, Any], there: Place) -> None:
        """``@type`` itself may be said to be a set, or protected; neither changes a triple."""
        if set(value) - {"@container", "@protected"} or value.get("@container", "@set") != "@set":
            raise there.fault("Of '@type' a context says '@container': '@set' at most.")

    def _check_keys(self, value: dict[str, Any], there: Place) -> None:
        for key in value:
            if key in REFUSED:
                raise there.at(key).fault(REFUSED[key])
            if key not in _TERM_KEYS:
                known = ", ".join(sorted(_TERM_KEYS))
                message = f"'{shown(key)}' means nothing in the definition of a term."
                raise there.at(key).fault(message, f"It has {known}.")
        for key in ("@prefix", "@protected"):
            if not isinstance(value.get(key, False), bool):
                raise there.at(key).fault(f"{key} is true or false.")

    def _iri(self, term: str, value: dict[str, Any], there: Place) -> str | None:
        """The IRI or keyword a term stands for; None when it is removed."""
        if KEYWORD_FORM.fullmatch(term):
            raise there.fault("A keyword cannot be defined anew.")
        if "@id" in value and value["@id"] is None:
            return None
        given = value.get("@id", term)
        place = there.at("@id") if isinstance(self._context[term], dict) else there
        if not isinstance(given, str):
            raise place.fault("'@id' takes an IRI, a keyword or null.")
        if given == term:
            iri = self._of_its_own(term)
        elif KEYWORD_FORM.fullmatch(given):
            if given not in _ALIASED:
                raise place.fault(f"'{shown(given)}' cannot be the meaning of a term.")
            return given
        else:
            iri = self.expanded(given)
        if iri.startswith("@"):
            return iri
        fault = iri_fault(iri)
        if fault is not None:
            hint = "Write an absolute IRI, or define the prefix before the colon."
            raise place.fault(f"'{shown(given)}' {fault}.", hint)
        if ":" in term[1:-1] or "/" in term:
            self._check_form(term, iri, there)
        return iri

    def _check_form(self, term: str, iri: str, there: Place) -> None:
        """A term that looks like an IRI means that IRI (API 4.2.2, step 14.2.4)."""
        prefix, _, rest = term.partition(":")
        known = self.get(prefix) if ":" in term and not rest.startswith("//") else None
        itself = f"{known.iri}{rest}" if known is not None and known.prefix else term
        if itself != iri:
            raise there.fault(f"The term looks like the IRI <{shown(itself)}> and means another.")

    def _of_its_own(self, term: str) -> str:
        """The IRI of a term that is not given one: by its prefix, or by ``@vocab``."""
        if ":" in term[1:]:
            prefix, _, rest = term.partition(":")
            known = self.get(prefix)
            return f"{known.iri}{rest}" if known is not None and known.iri else term
        return (self._active.settings.get("@vocab") or "") + term

    def expanded(self, text: str) -> str:
        """A term, compact IRI or IRI as the IRI it stands for (API 5.2, IRI Expansion)."""
        if text in KEYWORDS:
            return text
        known = self.get(text)
        if known is not None and known.iri is not None:
            return known.iri
        if ":" in text[1:]:
            prefix, _, rest = text.partition(":")
            known = self.get(prefix) if prefix != "_" and not rest.startswith("//") else None
            if known is not None and known.iri is not None and known.prefix:
                return known.iri + rest
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
        return bool(value.get("@prefix", simple and iri.endswith(_PREFIX_ENDS)))

    def _coercion(self, value: dict[str, Any], there: Place) -> str | None:
        if "@type" not in value:
            return None
        given, place = value["@type"], there.at("@type")
        if not isinstance(given, str):
            raise place.fault("'@type' takes the IRI of a datatype, @id, @vocab, @json or @none.")
        for key in ("@language", "@direction"):
            if key in value:
                ignored = there.fault(f"{key} has no effect beside @type.")
                self.warnings.append(ignored.message)
        iri = self.expanded(given)
        if iri in ("@id", "@vocab", "@json", "@none"):
            return iri
        if iri in (vocab.LANG_STRING.value, vocab.DIR_LANG_STRING.value):
            raise place.fault("A text with a language is told by '@language'.")
        fault = iri_fault(iri)
        if fault is not None:
            hint = "Write an absolute IRI, or define the prefix before the colon."
            raise place.fault(f"'{shown(given)}' {fault}.", hint)
        return iri

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
            raise there.at("@nest").fault("'@nest' takes '@nest' or a term that stands for it.")
        return given
