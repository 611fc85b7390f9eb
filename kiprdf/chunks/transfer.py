"""Between a graph of chunks and a nexus: concepts are chunks, propositions are links.

The id of a chunk is the name of the concept, its properties are the attributes. The metadata key
``context`` is ``@context``, ``texts`` lists the texts that are written like names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from kiprdf.chunks.graph import Graph
from kiprdf.chunks.model import Chunk, Name, Value
from kiprdf.chunks.nexus_module import (
    LINK_ENDS,
    element_chunk,
    element_metadata,
    plain_properties,
    to_json,
)
from kiprdf.kml import statements
from kiprdf.kml.statements import Concept, Proposition
from kiprdf.language import to_text

if TYPE_CHECKING:
    from kiprdf.nexus import Nexus

_BOOTSTRAP = "SystemBootstrap"
_OTHER_TYPE = "Thing"
_NO_KEY = re.compile("[^A-Za-z0-9_]")


def from_nexus(nexus: Nexus, query: str | None = None) -> Graph:
    """The concepts and propositions of a nexus as a graph of chunks.

    ``query`` is a FIND: the elements that it returns are taken. Without it these are all, without
    definitions and what every new nexus has. Concepts of two types with one name have the ids
    ``name`` and ``Type/name``. Raises ``KipError``.
    """
    elements = {element["id"]: element for element in _elements(nexus, query)}
    concepts = [element for element in elements.values() if "name" in element]
    ids: dict[str, Name] = {}
    for element in concepts:
        name = element["name"]
        is_taken = name in ids.values()
        ids[element["id"]] = Name(f"{element['type']}/{name}" if is_taken else name)
    links = [element for element in elements.values() if "predicate" in element]
    for number, element in enumerate(links, start=1):
        ids[element["id"]] = Name(f"_:{number}")
    graph = Graph(
        element_chunk(element, element["type"], ids[element["id"]], {}) for element in concepts
    )
    for element in links:
        ends: dict[str, Value] = {
            f"@{end}": _end(nexus, element[end], ids) for end in ("subject", "object")
        }
        graph.add(element_chunk(element, element["predicate"], ids[element["id"]], ends))
    return graph


def _elements(nexus: Nexus, query: str | None) -> Iterator[dict[str, Any]]:
    if query is not None:
        yield from _in_result(nexus.execute(query))
        return
    find = partial(nexus.execute, entail=False)
    for element in find("FIND(?x) WHERE { ?x {} }"):
        if not element["type"].startswith("$") and not _is_bootstrap(element):
            yield element
    for element in find("FIND(?x) WHERE { ?x (?subject, ?predicate, ?object) }"):
        if not _is_bootstrap(element) and not element["subject"].startswith("C:$"):
            yield element


def _in_result(result: Any) -> Iterator[dict[str, Any]]:
    """The concepts and propositions in the result of a query, in columns or not."""
    if isinstance(result, list):
        for item in result:
            yield from _in_result(item)
    elif isinstance(result, dict) and "id" in result:
        yield result


def _is_bootstrap(element: Mapping[str, Any]) -> bool:
    return bool(element.get("metadata", {}).get("source") == _BOOTSTRAP)


def _end(nexus: Nexus, id: str, ids: dict[str, Name]) -> Name:
    """The id of the chunk of an element; of one that is no chunk, its name."""
    if id not in ids:
        find = partial(nexus.execute, entail=False)
        concepts = find("FIND(?x) WHERE { ?x {id: :id} }", id=id) if id[0] == "C" else []
        ids[id] = Name(concepts[0]["name"] if concepts else id)
    return ids[id]


def to_nexus(graph: Graph, nexus: Nexus) -> None:
    """Write chunks as concepts and links as propositions, in one transaction.

    Types and predicates that are not registered are defined. An end of a link that is no chunk is
    the concept of this name, or becomes one of the type ``Thing``. Maps to IRIs, rules and their
    parts are left out, and so are ``@``-properties but ``@context``. Raises ``KipError``.
    """
    rules = graph.rules
    left_out = {part.id for rule in rules for part in rule.chunks} | {rule.id for rule in rules}
    chunks = [chunk for chunk in graph if chunk.id not in left_out and chunk.type[0] not in "@*"]
    elements = _Elements(nexus, chunks).all()
    if elements:
        command = statements.upsert(elements, lambda key: key)
        nexus.apply_capsule(to_text(command))


class _Elements:
    """The elements of chunks, each after those that it refers to."""

    def __init__(self, nexus: Nexus, chunks: list[Chunk]) -> None:
        self._find = partial(nexus.execute, entail=False)
        self._concepts = {str(chunk.id): chunk for chunk in chunks if not _is_link(chunk)}
        self._links = {str(chunk.id): chunk for chunk in chunks if _is_link(chunk)}
        self._elements: dict[str, Concept[str] | Proposition[str]] = {}

    def all(self) -> list[Concept[str] | Proposition[str]]:
        for id, chunk in self._concepts.items():
            name = f"{chunk.type}-{id[2:]}" if id.startswith("_:") else id
            self._elements[id] = Concept(id, chunk.type, name, _attributes(chunk), _metadata(chunk))
        for id in self._links:
            self._add_link(id)
        return [*self._definitions(), *self._elements.values()]

    def _add_link(self, id: str) -> None:
        """Add a link after the links that it is about."""
        waiting, open_links = [id], set[str]()
        while waiting:
            link = waiting[-1]
            chunk = self._links[link]
            ends = [str(chunk[end]) for end in LINK_ENDS]
            below = [end for end in ends if end in self._links and end not in self._elements]
            if below and link not in open_links:
                open_links.add(link)
                waiting += [end for end in below if end not in open_links]
                continue
            waiting.pop()
            subject, object = map(self._end, ends)
            self._elements.setdefault(
                link,
                Proposition(
                    link, subject, chunk.type, object, _attributes(chunk), _metadata(chunk)
                ),
            )

    def _end(self, name: str) -> str:
        """The key of an end: of an element here, or of a concept of the nexus."""
        if name not in self._elements and name not in self._links and not name.startswith("P:"):
            concepts = self._find("FIND(?x) WHERE { ?x {name: :name} }", name=name)
            if concepts:
                id: str = concepts[0]["id"]
                return id
            self._elements[name] = Concept(name, _OTHER_TYPE, name)
        return name

    def _definitions(self) -> Iterator[Concept[str]]:
        """Definitions of the types and predicates that the nexus has not."""
        for kind, part in (("$ConceptType", Concept), ("$PropositionType", Proposition)):
            names = self._find("FIND(?x.name) WHERE { ?x {type: :kind} }", kind=kind)
            used = {
                element.type if isinstance(element, Concept) else element.predicate: None
                for element in self._elements.values()
                if isinstance(element, part)
            }
            for name in used:
                if name not in names:
                    yield Concept(f"{kind} {name}", kind, name)


def _is_link(chunk: Chunk) -> bool:
    return all(isinstance(chunk.get(end), Name) for end in LINK_ENDS)


def _attributes(chunk: Chunk) -> dict[str, Any]:
    """The properties as attributes; other characters in their names become ``_``."""
    return {_key(name): to_json(value) for name, value in plain_properties(chunk).items()}


def _key(name: str) -> str:
    key = _NO_KEY.sub("_", name)
    return f"_{key}" if key[0].isdigit() else key


def _metadata(chunk: Chunk) -> dict[str, Any]:
    return element_metadata(chunk, map(_key, chunk.properties))
