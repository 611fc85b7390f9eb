"""Search by name, and the block of text that a prompt can contain."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kiprdf.memory.extraction.ordinary_words import word_set
from kiprdf.memory.graph import EdgeLink, EntityNode
from kiprdf.memory.items import Edge, Entity, Hit, normalized
from kiprdf.memory.texts import setting

if TYPE_CHECKING:
    from kiprdf.memory.graph import Graph

MAX_EDGES = 20
MAX_CHARACTERS = 1500
_WORD = re.compile(r"[\w.+#/-]+")
_MARKS = ".,-/"
_COMMON_WORDS = word_set(
    "a about am an and are as at be by did do does for from have how i in is it me my of on or"
    " that the this to us use used using was we what when where which who why with work working you"
)
"""Words of a query that match no name by themselves."""


def score(query: str, names: Iterable[str], least: int = 1) -> float:
    """How well the best of some names matches a query, both normalized; 0 for no match.

    A name of fewer than ``least`` characters is in no query.

    >>> score("python", ["python"]), score("py", ["python"]), score("dark theme", ["dark mode"])
    (1.0, 0.7, 0.5)
    """
    if not query:
        return 0.0
    best = 0.0
    words = set(_WORD.findall(query)) - _COMMON_WORDS
    for name in names:
        if name == query:
            return 1.0
        if query in name or (name in query and len(name) >= least):
            best = 0.7
        elif best < 0.5 and not words.isdisjoint(_WORD.findall(name)):
            best = 0.5
    return best


def search(query: str, nodes: Sequence[EntityNode], *, by_word: bool = False) -> list[Hit]:
    """The entities that match a query, the best first; ``by_word`` tries its words alone, too."""
    queries = [normalized(query)]
    least = 3 if by_word else 1
    if by_word:
        words = (word.strip(_MARKS) for word in _WORD.findall(queries[0]))
        queries += [word for word in words if word not in _COMMON_WORDS]
    hits = []
    for node in nodes:
        names = [node.entity.normalized_name, *map(normalized, node.aliases)]
        best = max(score(text, names, least) for text in queries)
        if best:
            hits.append(Hit(node.entity, best))
    return sorted(hits, key=hit_order)


def hit_order(hit: Hit) -> tuple[float, str, str]:
    """By score, then name, then type."""
    return -hit.score, hit.entity.normalized_name, hit.entity.type


def edge_order(edge: Edge, subject: Entity, object: Entity) -> tuple[float, str, str, str]:
    """By weight, then by what the line shows."""
    return -edge.weight, subject.normalized_name, edge.predicate, object.normalized_name


def is_enabled() -> bool:
    """Whether the environment allows context."""
    return setting("CONTEXT_ENABLED") not in ("false", "0", "no", "off")


def limit(value: object, name: str, default: int) -> int:
    """A number of the caller, else of the environment, else the default; not below 0."""
    if value is None:
        text = setting(name)
        value = int(text) if text.isdecimal() and text.isascii() and len(text) < 10 else None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return default
    return value


def block(graph: Graph, query: str, max_edges: int, max_characters: int) -> str:
    """The context of a query; empty if nothing matches."""
    nodes = {node.entity.id: node for node in graph.entities()}
    hits = search(query, list(nodes.values()), by_word=True)
    links: dict[str, EdgeLink] = {}
    for hit in hits:
        node = nodes[hit.entity.id].node
        for end in ("subject", "object"):
            links.update((link.link, link) for link in graph.edges_at(node, end=end))
    if not hits:
        return ""
    entities = {id: node.entity for id, node in nodes.items()}
    edges = [link.edge for link in links.values()]
    edges = [edge for edge in edges if edge.subject_id in entities and edge.object_id in entities]
    edges.sort(
        key=lambda edge: edge_order(edge, entities[edge.subject_id], entities[edge.object_id])
    )
    return _fitted(hits, edges, entities, max_edges, max_characters)


def _fitted(
    hits: Sequence[Hit],
    edges: Sequence[Edge],
    entities: dict[str, Entity],
    max_edges: int,
    max_characters: int,
) -> str:
    """The longest block within the limits: the section with more characters loses lines first."""
    hit_lines = [f"  {_shown(hit.entity, bracket_user=True)} (Score: {hit.score})" for hit in hits]
    edge_lines = [
        f"  {_shown(entities[edge.subject_id])} --[{edge.predicate}]-->"
        f" {_shown(entities[edge.object_id])} (weight: {round(edge.weight, 2)})"
        for edge in edges[:max_edges]
    ]
    # No line is shorter than "  [tool] x (Score: 1.0)".
    shown_hits, shown_edges = min(len(hits), max_characters // 20), len(edge_lines)
    while True:
        ids = [edge.evidence.get("memory_id") for edge in edges[:shown_edges]]
        evidence = ", ".join(dict.fromkeys(str(id) for id in ids if id))
        lines = [
            "=== Knowledge Graph Context ===",
            "",
            f"Entities ({shown_hits}/{len(hits)}):",
            *hit_lines[:shown_hits],
            "",
            f"Relationships ({shown_edges}/{len(edges)}):",
            *edge_lines[:shown_edges],
            *(["", f"Evidence IDs: {evidence}"] if evidence else []),
        ]
        text = "\n".join(lines)
        if len(text) <= max_characters:
            return text
        if not shown_hits and not shown_edges:
            return ""
        over = _length(edge_lines[:shown_edges]) >= _length(hit_lines[:shown_hits])
        if shown_edges and (over or shown_hits <= 1):
            shown_edges -= 1
        else:
            shown_hits -= 1


def _length(lines: Sequence[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _shown(entity: Entity, bracket_user: bool = False) -> str:
    if entity.type == "user" and not bracket_user:
        return "User"
    return f"[{entity.type}] {entity.name}"
