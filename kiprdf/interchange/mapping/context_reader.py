"""Reads JSON-LD 1.1 contexts (JSON-LD 1.1 API, section 4.1, Context Processing Algorithm).

What a mapping has no use for is refused, never passed over. ``term_reader`` reads the terms.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kiprdf import budget
from kiprdf.errors import shown
from kiprdf.interchange.formats.json_text import Path
from kiprdf.interchange.mapping import limits
from kiprdf.interchange.mapping.context_checks import (
    KEYWORD_FORM,
    KEYWORDS,
    Place,
    Scope,
    check_keywords,
    direction,
    iri_fault,
    language,
)
from kiprdf.interchange.mapping.context_sources import check_size
from kiprdf.interchange.mapping.term_reader import TermReader
from kiprdf.interchange.mapping.terms import MAPS, Active, Document, Layer, Loader

# fmt: off
_SETTINGS = frozenset((
    "@direction", "@import", "@language", "@propagate", "@protected", "@type", "@version", "@vocab",
))
# fmt: on


class ContextReader:
    """Reads the contexts of one document; ``warnings`` tells what in them has no effect."""

    def __init__(self, document: Document, loader: Loader | None = None) -> None:
        self.warnings: list[str] = []
        self._document = document
        self._loader = loader
        self._loaded = 0
        self._effort = 0

    def layer(self, active: Active, context: Any, path: Path = ()) -> Layer:
        """What a context (an object, a URL, null or a list of these) says above ``active``."""
        scopes: dict[str, Scope] = {}
        layer = self._read(active, context, Place(path, self._document), scopes)
        return self._scoped(layer, active.under(layer), scopes)

    def _scoped(self, layer: Layer, active: Active, scopes: dict[str, Scope]) -> Layer:
        """The layer with its scoped contexts, which hold above the whole document."""
        terms = dict(layer.terms)
        for term, scope in scopes.items():
            inner: dict[str, Scope] = {}
            place = scope.place._replace(overrides=term in MAPS)
            upper = self._read(active, scope.context, place, inner)
            upper = self._scoped(upper, active.under(upper), inner)
            terms[term] = replace(terms[term], scopes=(upper,))
        return Layer(terms, layer.settings, layer.resets)

    def _read(self, active: Active, context: Any, place: Place, scopes: dict[str, Scope]) -> Layer:
        budget.check()
        self._check_limits(active, place)
        if isinstance(context, list):
            layer = Layer()
            for number, one in enumerate(context):
                found = self._read(active.under(layer), one, place.at(number), scopes)
                layer = layer.below(found)
            return layer
        if context is None:
            return self._reset(active, place, scopes)
        if isinstance(context, str):
            return self._remote(active, context, place, scopes)
        if not isinstance(context, dict):
            raise place.fault("A context is an object, a URL, null or a list of these.")
        return self._object(active, context, place, scopes)

    def _check_limits(self, active: Active, place: Place) -> None:
        if place.depth + len(place.path) > limits.NESTING:
            raise place.excess(f"The context nests deeper than {limits.NESTING} levels.")
        # Each context is laid upon all terms below it, so that many of both are too many.
        self._effort += len(active.terms) + 1
        if self._effort > limits.EFFORT:
            raise place.excess(f"The contexts lie upon more than {limits.EFFORT} terms in all.")

    def _reset(self, active: Active, place: Place, scopes: dict[str, Scope]) -> Layer:
        kept = [term for term, definition in active.terms.items() if definition.protected]
        if kept and not place.overrides:
            raise place.fault(f"null would remove '{shown(kept[0])}', which is protected.")
        scopes.clear()
        return Layer(resets=True)

    def _remote(self, active: Active, url: str, place: Place, scopes: dict[str, Scope]) -> Layer:
        context, document = self._load(url, place)
        return self._read(active, context, place.behind(url, document), scopes)

    def _load(self, url: str, place: Place) -> tuple[Any, Document]:
        """The context of a remote document, by the caller's loader."""
        if iri_fault(url) is not None:
            hint = "To stack packs and files, load several mappings."
            raise place.fault(f"'{shown(url)}' is no absolute URL of a context.", hint)
        if self._loader is None:
            hint = "Copy the context into the mapping, or pass a loader."
            raise place.fault(f"The context <{shown(url)}> is remote.", hint)
        if url in place.chain:
            raise place.fault(f"The context <{shown(url)}> includes itself.")
        self._loaded += 1
        if self._loaded > limits.REMOTE:
            raise place.excess(f"The mapping asks for more than {limits.REMOTE} remote contexts.")
        try:
            found = self._loader(url)
        except (OSError, ValueError, LookupError) as fault:  # of the network, the text, a table
            why = f"{type(fault).__name__}: {shown(str(fault), 200)}"
            message = f"The context <{shown(url)}> cannot be loaded ({why})."
            raise place.fault(message, "Copy the context into the mapping.") from fault
        if not isinstance(found, dict) or "@context" not in found:
            raise place.fault(f"<{shown(url)}> is no JSON-LD document with a '@context'.")
        check_size(url, found["@context"])
        return found["@context"], Document(url)

    def _object(
        self, active: Active, context: dict[str, Any], place: Place, scopes: dict[str, Scope]
    ) -> Layer:
        if not all(isinstance(key, str) for key in context):
            raise place.fault("The keys of a context are strings.")
        if context.get("@version", 1.1) != 1.1:
            raise place.at("@version").fault("The version of a context is 1.1.")
        if "@import" in context:
            context, place = self._imported(context, place)
        settings = self._settings(active, context, place)
        terms = TermReader(active.under(Layer({}, settings)), context, place, scopes)
        for term in context:
            if term == "@type" or term not in KEYWORDS:
                terms.define(term)
        self.warnings += terms.warnings
        # In the order of the text: of two terms that mean one IRI the first keeps the way back.
        return Layer({term: terms.found[term] for term in context if term in terms.found}, settings)

    def _imported(self, context: dict[str, Any], place: Place) -> tuple[dict[str, Any], Place]:
        """The context with the one that it imports beneath (API 4.1.2, step 5.6)."""
        url = context["@import"]
        if not isinstance(url, str):
            raise place.at("@import").fault("@import takes the URL of a context.")
        imported, _ = self._load(url, place.at("@import"))
        if not isinstance(imported, dict) or "@import" in imported:
            raise place.at("@import").fault("The imported context must be one object.")
        own = {key: value for key, value in context.items() if key != "@import"}
        return {**imported, **own}, place._replace(chain=(*place.chain, url))

    def _settings(
        self, active: Active, context: dict[str, Any], place: Place
    ) -> dict[str, str | None]:
        keywords = {key: context[key] for key in context if KEYWORD_FORM.fullmatch(key)}
        check_keywords(keywords, _SETTINGS, place, "a context")
        settings: dict[str, str | None] = {}
        if "@vocab" in context:
            settings["@vocab"] = self._vocabulary(active, context, place)
        if "@language" in context:
            settings["@language"] = language(context["@language"], place.at("@language"))
        if "@direction" in context:
            settings["@direction"] = direction(context["@direction"], place.at("@direction"))
        return settings

    def _vocabulary(self, active: Active, context: dict[str, Any], place: Place) -> str | None:
        value, there = context["@vocab"], place.at("@vocab")
        if value is None:
            return None
        if not isinstance(value, str):
            raise there.fault("@vocab takes an IRI or null.")
        terms = TermReader(active, {}, place, {})
        expanded = terms.expanded(value)
        terms.check_iri(value, expanded, there)
        return expanded
