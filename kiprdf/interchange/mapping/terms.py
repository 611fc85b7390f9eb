"""The terms of JSON-LD 1.1 contexts, as ``context_reader`` finds them.

``Layer`` is one context, ``Active`` the result of several on top of each other. A scoped context is
a separate layer, on the term that has it. ``context_json`` writes a layer as a context again.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from kiprdf.errors import KipError, shown
from kiprdf.interchange.formats.json_text import Path, Positions
from kiprdf.source import NOWHERE, Span

ContextJson: TypeAlias = Mapping[str, Any]
"""A JSON object with the member ``@context``."""
Loader: TypeAlias = Callable[[str], Any]
"""Fetches the JSON document of a URL; only a caller's own loader reaches the network."""

MAPS = ("attributes", "metadata")
"""The two maps inside of a KIP element, each with its own context."""

PREFIX_ENDS = tuple(":/?#[]@")
"""How an IRI ends that is a prefix without being called one (JSON-LD 1.1 API, 4.2.2)."""

UNSET: Any = object()
"""The value of what a term leaves to the default of its context."""


_NAMED = 6
"""How many names of the path to a fault its message shows."""


@dataclass(frozen=True, slots=True)
class Definition:
    """The definition of a term in a context. Without an IRI the term is removed."""

    iri: str | None
    prefix: bool = False
    protected: bool = False
    type: str | None = None
    language: str | None = UNSET
    direction: str | None = UNSET
    container: str | None = None
    nest: str | None = None
    scopes: tuple[Layer, ...] = ()

    @property
    def is_keyword(self) -> bool:
        return self.iri is not None and self.iri.startswith("@")


@dataclass(frozen=True)
class Layer:
    """One context: its terms; ``@vocab``, ``@language`` and ``@direction`` if it has them."""

    terms: dict[str, Definition] = field(default_factory=dict)
    settings: dict[str, str | None] = field(default_factory=dict)
    resets: bool = False

    def below(self, upper: Layer) -> Layer:
        """Two layers as one; the upper one wins."""
        if upper.resets:
            return upper
        return Layer(
            _first(upper.terms, self.terms), {**self.settings, **upper.settings}, self.resets
        )


@dataclass(frozen=True)
class Active:
    """The terms and settings in effect; the terms of upper layers come first."""

    terms: dict[str, Definition] = field(default_factory=dict)
    settings: dict[str, str | None] = field(default_factory=dict)

    def under(self, *layers: Layer) -> Active:
        """The terms and settings with layers on top, the last one uppermost."""
        active = self
        for layer in layers:
            below = Active() if layer.resets else active
            terms = _first(layer.terms, below.terms)
            active = Active(terms, {**below.settings, **layer.settings})
        return active

    def language(self, definition: Definition | None) -> str | None:
        return self._default("@language", UNSET if definition is None else definition.language)

    def direction(self, definition: Definition | None) -> str | None:
        return self._default("@direction", UNSET if definition is None else definition.direction)

    def _default(self, keyword: str, own: str | None) -> str | None:
        return self.settings.get(keyword) if own is UNSET else own


def _first(upper: dict[str, Definition], lower: dict[str, Definition]) -> dict[str, Definition]:
    """All terms; those of the upper layer come first and replace those of the lower one."""
    return {
        **upper,
        **{term: definition for term, definition in lower.items() if term not in upper},
    }


@dataclass(frozen=True)
class Document:
    """Where a context comes from, for error messages."""

    name: str
    text: str | None = None
    positions: Positions = field(default_factory=dict)

    def fault(self, path: Path, what: str, hint: str, code: str = "KIP_1001") -> KipError:
        """The error of a member; ``what`` is a sentence."""
        names = [shown(part) for part in path if isinstance(part, str) and part != "@context"]
        if len(names) > _NAMED:
            names = ["…", *names[-_NAMED:]]
        place = f", {'.'.join(names)}" if names else ""
        spans = (
            self.positions[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self.positions
        )
        span = next(spans, NOWHERE if self.text is None else Span(0, 1))
        return KipError(code, printable(f"{self.name}{place}: {what}"), hint, span, self.text)


def printable(text: str) -> str:
    """A string with lone surrogates escaped: JSON can hold them, no terminal shows them."""
    return text.encode("utf-8", "backslashreplace").decode()


def context_json(layer: Layer) -> dict[str, Any]:
    """The context of a mapping; KIP's own JSON, with its two maps, is JSON-LD under it."""
    prefixes = {
        term: definition.iri
        for term, definition in layer.terms.items()
        if definition.prefix and definition.iri
    }
    own = _object(layer, _Prefixes(prefixes))
    written: dict[str, Any] = {"@version": 1.1, "id": "@id", "type": "@type", **own}
    for nest in MAPS:
        written[nest] = _map(written.get(nest, "@nest"), written)
    return written


def _map(nest: Any, root: dict[str, Any]) -> Any:
    """The context of a map, in which ``id`` and ``type`` are keys like others."""
    freed = {key: None for key in ("id", "type") if str(root[key]).startswith("@")}
    members: dict[str, Any] = nest if isinstance(nest, dict) else {"@id": "@nest"}
    scope = members.get("@context", {})
    if isinstance(scope, list):  # it begins with null, which frees them
        return members
    return {**members, "@context": {**freed, **scope}} if freed or scope else nest


class _Prefixes:
    """The prefixes that a context may use."""

    def __init__(self, namespaces: dict[str, str]) -> None:
        self._namespaces = namespaces
        self._names: dict[str, str] = {}
        for name, namespace in namespaces.items():
            self._names.setdefault(namespace, name)
        self._lengths = sorted({len(namespace) for namespace in self._names}, reverse=True)

    def without(self, names: Container[str]) -> _Prefixes:
        return _Prefixes({n: iri for n, iri in self._namespaces.items() if n not in names})

    def compact(self, iri: str) -> str:
        """An IRI with the longest prefix, unless ``//`` would follow the colon."""
        for length in self._lengths:
            name, rest = self._names.get(iri[:length]), iri[length:]
            if name is not None and rest and not rest.startswith("//"):
                return f"{name}:{rest}"
        return iri


def _object(layer: Layer, prefixes: _Prefixes) -> dict[str, Any]:
    written: dict[str, Any] = dict(layer.settings)
    # Prefixes first, as people write them.
    for term in sorted(layer.terms, key=lambda name: not layer.terms[name].prefix):
        written[term] = _definition(layer.terms[term], prefixes)
    return written


def _scope(layer: Layer, prefixes: _Prefixes) -> Any:
    """A scoped context; prefixes that it redefines are not used in it."""
    if layer.resets:
        return [None, _object(layer, _Prefixes({}))]
    return _object(layer, prefixes.without(layer.terms))


def _definition(definition: Definition, prefixes: _Prefixes) -> Any:
    if definition.iri is None:
        return None
    if definition.prefix:
        simple = definition.iri.endswith(PREFIX_ENDS)
        return definition.iri if simple else {"@id": definition.iri, "@prefix": True}
    written: dict[str, Any] = {"@id": prefixes.compact(definition.iri)}
    if definition.type is not None:
        written["@type"] = prefixes.compact(definition.type)
    for key, value in (("@language", definition.language), ("@direction", definition.direction)):
        if value is not UNSET:
            written[key] = value
    for key, text in (("@container", definition.container), ("@nest", definition.nest)):
        if text is not None:
            written[key] = text
    if definition.scopes:
        written["@context"] = _scope(definition.scopes[0], prefixes)
    # A bare IRI that ends like a namespace would become a prefix.
    simple = len(written) == 1 and not definition.iri.endswith(PREFIX_ENDS)
    return written["@id"] if simple else written
