"""Reads JSON-LD 1.1 contexts (JSON-LD 1.1 API, section 4.1, Context Processing Algorithm).

They come from packs, files, or JSON values. What a mapping cannot use is refused, never ignored.
``term_reader`` reads the terms.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from kiprdf import budget, resources
from kiprdf.errors import KipError, nearest, shown
from kiprdf.interchange.formats import json_text
from kiprdf.interchange.mapping import limits
from kiprdf.interchange.mapping.term_reader import (
    KEYWORD_FORM,
    KEYWORDS,
    Place,
    Scope,
    TermReader,
    check_keywords,
    direction,
    iri_fault,
    language,
)
from kiprdf.interchange.mapping.terms import (
    MAPS,
    Active,
    ContextJson,
    Document,
    Layer,
    Loader,
    printable,
)
from kiprdf.language.sizes import Sizes
from kiprdf.source import Span

# fmt: off
_SETTINGS = frozenset((
    "@direction", "@import", "@language", "@propagate", "@protected", "@type", "@version", "@vocab",
))
# fmt: on


class ContextReader:
    """Reads the contexts of one document; ``warnings`` lists what has no effect."""

    def __init__(self, document: Document, loader: Loader | None = None) -> None:
        self.warnings: list[str] = []
        self._document = document
        self._loader = loader
        self._loaded = 0
        self._effort = 0

    def layer(self, active: Active, context: Any, path: json_text.Path = ()) -> Layer:
        """What a context (an object, a URL, null or a list of these) says above ``active``."""
        scopes: dict[str, Scope] = {}
        layer = self._read(active, context, Place(path, self._document), scopes)
        return self._scoped(layer, active.under(layer), scopes)

    def _scoped(self, layer: Layer, active: Active, scopes: dict[str, Scope]) -> Layer:
        """The layer with its scoped contexts, which apply on top of the whole document."""
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
                upper = self._read(active.under(layer), one, place.at(number), scopes)
                layer = layer.below(upper)
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
        # Each context copies all terms below it, so that both together are limited.
        self._effort += len(active.terms) + 1
        if self._effort > limits.EFFORT:
            raise place.excess(f"The contexts stack on more than {limits.EFFORT} terms in all.")

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
            raise place.fault(f"'{shown(url)}' is not an absolute URL of a context.", hint)
        if self._loader is None:
            hint = "Copy the context into the mapping, or pass a loader."
            raise place.fault(f"The context <{shown(url)}> is remote.", hint)
        if url in place.chain:
            raise place.fault(f"The context <{shown(url)}> includes itself.")
        self._loaded += 1
        if self._loaded > limits.REMOTE:
            raise place.excess(f"The mapping asks for more than {limits.REMOTE} remote contexts.")
        try:
            answer = self._loader(url)
        except (OSError, ValueError, LookupError) as fault:  # of the network, the text, a table
            why = f"{type(fault).__name__}: {shown(str(fault), 200)}"
            message = f"The context <{shown(url)}> cannot be loaded ({why})."
            raise place.fault(message, "Copy the context into the mapping.") from fault
        if not isinstance(answer, dict) or "@context" not in answer:
            raise place.fault(f"<{shown(url)}> is not a JSON-LD document with a '@context'.")
        check_size(url, answer["@context"])
        return answer["@context"], Document(url)

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
        return Layer(
            {term: terms.definitions[term] for term in context if term in terms.definitions},
            settings,
        )

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


def packs() -> list[str]:
    """The names of the mappings that travel with the package.

    >>> packs()
    ['dcterms', 'foaf', 'prov', 'schema-org', 'skos', 'wikidata']
    """
    return sorted(path.stem for path in resources.directory("mappings").glob("*.jsonld"))


def document_of(
    source: str | os.PathLike[str] | ContextJson,
) -> tuple[Document, Any, tuple[str, ...]]:
    """The document of a source, its context, and the path to it; errors as of ``Mapping.load``."""
    if isinstance(source, str) and source.lower().startswith(("http:", "https:")):
        return Document("The mapping"), source, ()
    if isinstance(source, str | os.PathLike):
        path = _path(source)
        text = _text(path)
        try:
            value, positions = json_text.read(text)
        except KipError as error:
            hint = "Write it flat." if error.code == "KIP_4002" else error.hint
            message = printable(f"{path.name}: {error.message}")
            raise KipError(error.code, message, hint, error.span, error.source) from None
        document = Document(path.name, text, positions)
    else:
        value, document = source, Document("The mapping")
        check_size(document.name, _context_of(value, document))
    return document, _context_of(value, document), ("@context",)


def check_size(name: str, context: Any) -> None:
    """Raise KIP_4002 for a context of Python values that is too large to be read."""
    Sizes(printable(shown(name)), limits.VALUES, limits.CHARACTERS).add(context)


def _context_of(value: Any, document: Document) -> Any:
    if not hasattr(value, "keys") or "@context" not in value:
        hint = 'A mapping is {"@context": {…}}; see docs/how-to/mappings.md.'
        raise document.fault((), "A mapping is a JSON object with '@context'.", hint)
    for key in value:
        if key != "@context":
            hint = "Remove the rest."
            message = "A mapping has no members besides '@context'."
            raise document.fault((key,), message, hint)
    return value["@context"]


def _path(source: str | os.PathLike[str]) -> Path:
    """Where a mapping is; a bare word is the name of a pack."""
    name = os.fspath(source)
    if isinstance(source, str) and name in packs():
        return resources.directory("mappings") / f"{name}.jsonld"
    path = Path(name)
    if not name or path.is_dir():
        raise KipError("KIP_1001", f"'{shown(name)}' is not a file.", "Give a path to a mapping.")
    if isinstance(source, str) and path.suffix == "" and path.name == name and not path.exists():
        likely = nearest(name, packs()) or packs()
        hint = f"Packs are called {', '.join(likely)}; everything else is a path."
        raise KipError("KIP_1001", f"There is no mapping '{shown(name)}'.", hint)
    return path


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(limits.SIZE + 1)
    except ValueError as fault:
        raise KipError("KIP_1001", f"This is not a path: {fault}.", "Give a path.") from None
    if len(content) > limits.SIZE:
        message = f"{path.name} is larger than {limits.SIZE} bytes."
        raise KipError("KIP_4002", message, "Split it into several mappings.")
    try:
        return content.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as fault:
        readable = content.decode(errors="replace")
        start = len(content[: fault.start].decode())
        message, span = f"{path.name} is not UTF-8 text.", Span(start, start + 1)
        raise KipError("KIP_1001", message, "Save it as UTF-8.", span, readable) from None
