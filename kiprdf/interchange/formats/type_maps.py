"""Writes the type maps of JSON-LD (``"@container": "@type"``) as arrays, which its parser reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_TYPE = frozenset(("@type",))


def without_type_maps(
    value: Any, maps: frozenset[str] = frozenset(), types: frozenset[str] = _TYPE
) -> Any:
    """A part of a document with arrays of nodes in place of type maps.

    ``maps`` are the terms whose values are type maps here, ``types`` the names of ``@type``.
    """
    if isinstance(value, list):
        return [without_type_maps(item, maps, types) for item in value]
    if not isinstance(value, dict):
        return value
    contexts = _listed(value.get("@context", []))
    for context in contexts:
        if context is None:
            maps, types = frozenset(), _TYPE
        elif isinstance(context, dict):
            maps = (maps - context.keys()) | {t for t, one in context.items() if _is_map(one)}
            types |= {t for t, one in context.items() if one in ("@type", {"@id": "@type"})}
    replaced: dict[str, Any] = {}
    for key, item in value.items():
        if key == "@context":
            replaced[key] = [_without_maps(context) for context in contexts]
            continue
        if key in maps and isinstance(item, dict):
            item = list(_nodes(item, types))
        replaced[key] = without_type_maps(item, maps, types)
    return replaced


def _nodes(type_map: dict[str, Any], types: frozenset[str]) -> Iterator[Any]:
    for name, nodes in type_map.items():
        for node in _listed(nodes):
            members = {"@id": node} if isinstance(node, str) else node
            if not isinstance(members, dict):
                yield members
                continue
            own = [one for key in types & members.keys() for one in _listed(members[key])]
            classes = own if name == "@none" else [name, *own]
            first = {"@context": members["@context"]} if "@context" in members else {}
            others = {key: one for key, one in members.items() if key not in types}
            yield {**first, **({"@type": classes} if classes else {}), **others}


def _is_map(definition: Any) -> bool:
    return isinstance(definition, dict) and "@type" in _listed(definition.get("@container"))


def _without_maps(context: Any) -> Any:
    if not isinstance(context, dict):
        return context
    return {
        term: {**one, "@container": "@set"} if _is_map(one) else one
        for term, one in context.items()
    }


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
