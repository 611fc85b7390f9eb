"""The terms of JSON-LD 1.1 contexts, and how they are written as a context again."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

ContextJson: TypeAlias = Mapping[str, Any]
"""A JSON object with the member ``@context``."""
Loader: TypeAlias = Callable[[str], Any]
"""Fetches the JSON document of a URL; only a caller's own loader reaches the network."""

MAPS = ("attributes", "metadata")
"""The two maps inside of a KIP element, each with its own context."""

PREFIX_ENDS = tuple(":/?#[]@")
"""How an IRI ends that is a prefix without being called one (JSON-LD 1.1 API, 4.2.2)."""


@dataclass(frozen=True)
class Definition:
    """The definition of a term in a context. Without an IRI the term is removed."""

    iri: str | None
    prefix: bool = False
    protected: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)
    """What the term says of its values: ``@type`` (an IRI or a keyword), ``@language``,
    ``@direction``, ``@container`` and ``@nest``; what it does not say is absent."""
    scope: Context | None = None
    """The scoped context."""
    unread: Any = None
    """The scoped context and its place while the reader has not reached it."""

    @property
    def is_keyword(self) -> bool:
        return self.iri is not None and self.iri.startswith("@")


@dataclass(frozen=True)
class Context:
    """One context, or several on top of each other."""

    terms: dict[str, Definition] = field(default_factory=dict)
    """The terms of upper contexts come first."""
    settings: dict[str, str | None] = field(default_factory=dict)
    """``@vocab``, ``@language`` and ``@direction``, if it has them."""
    resets: bool = False
    """Whether it removes what lies below it."""

    def under(self, upper: Context | None) -> Context:
        """This context with another one on top, which wins."""
        if upper is None:
            return self
        if upper.resets:
            return upper
        below = {name: term for name, term in self.terms.items() if name not in upper.terms}
        return Context({**upper.terms, **below}, {**self.settings, **upper.settings}, self.resets)


def context_json(context: Context) -> dict[str, Any]:
    """The context of a mapping; KIP's own JSON, with its two maps, is JSON-LD under it."""
    prefixes = {
        term: definition.iri
        for term, definition in context.terms.items()
        if definition.prefix and definition.iri
    }
    own = _object(context, _Prefixes(prefixes))
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


def _object(context: Context, prefixes: _Prefixes) -> dict[str, Any]:
    written: dict[str, Any] = dict(context.settings)
    # Prefixes first, as people write them.
    for term in sorted(context.terms, key=lambda name: not context.terms[name].prefix):
        written[term] = _definition(context.terms[term], prefixes)
    return written


def _definition(definition: Definition, prefixes: _Prefixes) -> Any:
    if definition.iri is None:
        return None
    if definition.prefix:
        simple = definition.iri.endswith(PREFIX_ENDS)
        return definition.iri if simple else {"@id": definition.iri, "@prefix": True}
    written: dict[str, Any] = {"@id": prefixes.compact(definition.iri), **definition.values}
    if "@type" in written:
        written["@type"] = prefixes.compact(written["@type"])
    scope = definition.scope
    if scope is not None and scope.resets:
        written["@context"] = [None, _object(scope, _Prefixes({}))]
    elif scope is not None:  # prefixes that it redefines are not used in it
        written["@context"] = _object(scope, prefixes.without(scope.terms))
    # A bare IRI that ends like a namespace would become a prefix.
    simple = len(written) == 1 and not definition.iri.endswith(PREFIX_ENDS)
    return written["@id"] if simple else written
