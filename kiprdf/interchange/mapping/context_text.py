"""A layer of terms written as one JSON-LD 1.1 context."""

from __future__ import annotations

from typing import Any

from kiprdf.interchange.mapping.terms import NESTED, UNSET, Definition, Layer


def context_json(layer: Layer) -> dict[str, Any]:
    """The context of a mapping; KIP's own JSON, with its two maps, is JSON-LD under it."""
    prefixes = {
        term: found.iri for term, found in layer.terms.items() if found.prefix and found.iri
    }
    own = _object(layer, prefixes)
    written: dict[str, Any] = {"@version": 1.1, "id": "@id", "type": "@type", **own}
    for nest in NESTED:
        written[nest] = _nested(written.get(nest, "@nest"), written)
    return written


def _nested(nest: Any, root: dict[str, Any]) -> Any:
    """The context of a map, in which ``id`` and ``type`` are keys like others."""
    freed = {key: None for key in ("id", "type") if str(root[key]).startswith("@")}
    found: dict[str, Any] = nest if isinstance(nest, dict) else {"@id": "@nest"}
    scope = found.get("@context", {})
    if isinstance(scope, list):  # it begins with null, which frees them
        return found
    return {**found, "@context": {**freed, **scope}} if freed or scope else nest


def _object(layer: Layer, prefixes: dict[str, str]) -> dict[str, Any]:
    written: dict[str, Any] = dict(layer.settings)
    # Prefixes first, as people write them.
    for term in sorted(layer.terms, key=lambda name: not layer.terms[name].prefix):
        written[term] = _definition(layer.terms[term], prefixes)
    return written


def _scope(layer: Layer, prefixes: dict[str, str]) -> Any:
    """A scoped context; where it means something else by a prefix, that is not used."""
    if layer.resets:
        return [None, _object(layer, {})]
    kept = {name: iri for name, iri in prefixes.items() if name not in layer.terms}
    return _object(layer, kept)


def _definition(definition: Definition, prefixes: dict[str, str]) -> Any:
    if definition.iri is None:
        return None
    if definition.prefix:
        simple = definition.iri.endswith(tuple(":/?#[]@"))
        return definition.iri if simple else {"@id": definition.iri, "@prefix": True}
    written: dict[str, Any] = {"@id": _compact(definition.iri, prefixes)}
    if definition.type is not None:
        written["@type"] = _compact(definition.type, prefixes)
    for key, value in (("@language", definition.language), ("@direction", definition.direction)):
        if value is not UNSET:
            written[key] = value
    for key, text in (("@container", definition.container), ("@nest", definition.nest)):
        if text is not None:
            written[key] = text
    if definition.scopes:
        written["@context"] = _scope(definition.scopes[0], prefixes)
    # A bare IRI that ends like a namespace would become a prefix.
    simple = len(written) == 1 and not definition.iri.endswith(tuple(":/?#[]@"))
    return written["@id"] if simple else written


def _compact(iri: str, prefixes: dict[str, str]) -> str:
    """An IRI by the longest prefix, if there is one that leaves no ``//`` behind the colon."""
    for name, namespace in sorted(prefixes.items(), key=lambda pair: -len(pair[1])):
        rest = iri[len(namespace) :]
        if iri.startswith(namespace) and rest and not rest.startswith("//"):
            return f"{name}:{rest}"
    return iri
