"""A layer of terms written as one JSON-LD 1.1 context."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from kiprdf.interchange.mapping.terms import MAPS, PREFIX_ENDS, UNSET, Definition, Layer


def context_json(layer: Layer) -> dict[str, Any]:
    """The context of a mapping; KIP's own JSON, with its two maps, is JSON-LD under it."""
    prefixes = {
        term: found.iri for term, found in layer.terms.items() if found.prefix and found.iri
    }
    own = _object(layer, _Prefixes(prefixes))
    written: dict[str, Any] = {"@version": 1.1, "id": "@id", "type": "@type", **own}
    for nest in MAPS:
        written[nest] = _map(written.get(nest, "@nest"), written)
    return written


def _map(nest: Any, root: dict[str, Any]) -> Any:
    """The context of a map, in which ``id`` and ``type`` are keys like others."""
    freed = {key: None for key in ("id", "type") if str(root[key]).startswith("@")}
    found: dict[str, Any] = nest if isinstance(nest, dict) else {"@id": "@nest"}
    scope = found.get("@context", {})
    if isinstance(scope, list):  # it begins with null, which frees them
        return found
    return {**found, "@context": {**freed, **scope}} if freed or scope else nest


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
        """An IRI by the longest prefix, if there is one that leaves no ``//`` behind the colon."""
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
    """A scoped context; where it means something else by a prefix, that is not used."""
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
