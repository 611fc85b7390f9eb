"""``@compile`` and ``@uncompile``: chunks of a graph as rules, rules as chunks (decision 070)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiprdf.chunks.calls import Call
from kiprdf.chunks.model import Chunk, ChunksError, Name, Negated, Value

if TYPE_CHECKING:
    from kiprdf.chunks.graph import Graph
    from kiprdf.chunks.module import Module


def compile(call: Call, module: Module) -> None:
    """Copy chunks of the module into the rules ("The @compile property")."""
    rules = call.engine.module("rules").graph
    copies = _copies(call, module.graph, rules, "@compile")
    if copies is None:
        module.status = "nomatch"
        return
    try:
        call.engine.add_rules(copies)
    except ChunksError:
        module.status = "failed"


def uncompile(call: Call, module: Module) -> None:
    """Copy rules into the module as chunks ("The @uncompile property")."""
    rules = call.engine.module("rules").graph
    copies = _copies(call, rules, module.graph, "@uncompile")
    if copies is None:
        module.status = "nomatch"
        return
    for chunk in copies:
        module.graph.add(chunk)


def _copies(call: Call, source: Graph, other: Graph, operation: str) -> list[Chunk] | None:
    """The cited chunks and those that they cite, renamed; None if one is missing."""
    renaming = _renaming(call, source, other)
    if renaming is None:
        return None
    reserved_to_plain = operation == "@uncompile"
    names = {new: old for old, new in renaming.items()} if reserved_to_plain else renaming
    copies: list[Chunk] = []
    for identifier in _ids(call.values[operation]):
        root = source.get(identifier)
        if root is None:
            return None
        cited = root if reserved_to_plain else _renamed(root, names)
        parts = [
            source.get(part)
            for property in ("@condition", "@action")
            for part in _ids(cited.get(property, ()))
        ]
        if None in parts:
            return None
        copies += [_renamed(chunk, names) for chunk in (root, *parts) if chunk is not None]
    return copies


def _renaming(call: Call, source: Graph, other: Graph) -> dict[str, str] | None:
    """Plain names to reserved ones; empty without a map, None if the map is missing.

    A map may be written in either direction: ``do @do`` or ``@do do``.
    """
    identifier = call.values.get("@map", call.values.get("@unmap"))
    if identifier is None:
        return {}
    chunk = source.get(str(identifier)) or other.get(str(identifier))
    if chunk is None:
        return None
    pairs = ((name, str(value)) for name, value in chunk.properties.items())
    return dict((new, old) if old[0] == "@" != new[0] else (old, new) for old, new in pairs)


def _renamed(chunk: Chunk, names: dict[str, str]) -> Chunk:
    properties = {names.get(name, name): value for name, value in chunk.properties.items()}
    return chunk.with_(properties=properties)


def _ids(value: Value) -> list[str]:
    """The identifiers in a value; ``!c1`` cites ``c1``."""
    items = value if isinstance(value, tuple) else (value,)
    names = (item.value if isinstance(item, Negated) else item for item in items)
    return [str(name) for name in names if isinstance(name, Name)]
