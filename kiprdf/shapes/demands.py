"""What shapes demand of each type, in their own words; needs no validator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TypeVar

from pyoxigraph import Literal, NamedNode, RdfFormat, parse

T = TypeVar("T")
_SHACL = "http://www.w3.org/ns/shacl#"
_TARGET, _SEVERITY, _DEACTIVATED, _MESSAGE, _INSTRUCTION = (
    NamedNode(_SHACL + name)
    for name in ("targetClass", "severity", "deactivated", "message", "agentInstruction")
)
_REFUSED = NamedNode(f"{_SHACL}Violation")
Graph = Mapping[object, Mapping[NamedNode, list[object]]]
"""The values of each node by properties."""


def demands(text: str, type_name: Callable[[str], str | None]) -> dict[str, tuple[str, ...]]:
    """The messages of shapes in Turtle by the types that they are for, both in order.

    ``type_name`` has the name of the type of an IRI. What is for no type is left out.
    """
    messages: dict[str, set[str]] = {}
    graph = _read(text)
    for shape, properties in graph.items():
        for target in (shape, *properties.get(_TARGET, ())):  # a class may be its own shape
            name = type_name(target.value) if isinstance(target, NamedNode) else None
            if name is not None:
                messages.setdefault(name, set()).update(_messages(shape, graph))
    return {name: tuple(sorted(messages[name])) for name in sorted(messages)}


def preferred(literals: Iterable[T]) -> list[T]:
    """Those of some texts that are in English or in no language, or else those in one language."""
    tags = [(getattr(one, "language", None) or "", one) for one in literals]
    usual = [one for tag, one in tags if tag.partition("-")[0] in ("", "en")]
    first = min((tag for tag, _ in tags), default="")
    return usual or [one for tag, one in tags if tag == first]


@lru_cache(maxsize=2)
def _read(text: str) -> Graph:
    graph: dict[object, dict[NamedNode, list[object]]] = {}
    for quad in parse(text, RdfFormat.TURTLE):
        graph.setdefault(quad.subject, {}).setdefault(quad.predicate, []).append(quad.object)
    return graph


def _messages(shape: object, graph: Graph) -> set[str]:
    """The messages of a shape and its parts, or else their instructions, without warnings."""
    texts = set[str]()
    seen, pending = {shape}, [shape]
    while pending:
        properties = graph[pending.pop()]
        if properties.get(_SEVERITY, [_REFUSED]) != [_REFUSED] or _DEACTIVATED in properties:
            continue
        words = properties.get(_MESSAGE) or properties.get(_INSTRUCTION, [])
        texts.update(
            text.value for text in preferred(one for one in words if isinstance(one, Literal))
        )
        parts = [one for values in properties.values() for one in values if one in graph]
        pending += [one for one in parts if one not in seen]
        seen.update(parts)
    return texts
