"""Takes elements apart that several nodes of the original data became (docs/decisions/124)."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias, cast

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.interchange.importing.element_index import SAME_AS
from kiprdf.interchange.importing.node_values import GRAPH, GRAPH_VALUES
from kiprdf.interchange.importing.origins import LISTS, ORIGINAL, STATEMENTS
from kiprdf.interchange.importing.values import listed
from kiprdf.interchange.original.record import Groups, JsonMap, place_of, value_of
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris, PropositionName
from kiprdf.rdf.literals import Json, to_term

_GRAPHS = (GRAPH, GRAPH_VALUES)
Nodes: TypeAlias = dict[tuple[NamedNode, str], NamedNode]
"""The nodes of parts, by their element and their original IRI."""


def apart(triples: Iterable[Triple], iris: Iris) -> Iterator[Triple]:
    """The triples of a nexus in which each reifier of the original data is a link by itself."""
    groups: Groups = defaultdict(list)
    for triple in triples:
        groups[cast(NamedNode, triple.subject)].append(triple)
    links = {node: parts for node, own in groups.items() if (parts := _statements(own))}
    nodes: Nodes = {}
    for node, parts in links.items():
        for number, part in enumerate(parts):
            if isinstance(part.get("id"), str):
                nodes[node, part["id"]] = _node(node, number, iris)
    for node, own in groups.items():
        if node in links:
            yield from _Link(node, own, links[node], nodes, iris).triples()
        else:
            yield from own


def _statements(triples: Iterable[Triple]) -> list[JsonMap]:
    """What imports noted of each statement of a fact, if there are several."""
    original = next((value_of(t) for t in triples if place_of(t) == (True, ORIGINAL)), None)
    parts = original.get(STATEMENTS) if isinstance(original, dict) else None
    return [part for part in listed(parts) if isinstance(part, dict)]


def _node(link: NamedNode, number: int, iris: Iris) -> NamedNode:
    name = cast(PropositionName, iris.name(link.value))
    digits = hashlib.sha256(f"{name.digits} {number}".encode()).hexdigest()[:16]
    return iris.proposition(digits, name.predicate)


class _Link:
    """A link that several statements of the original data became."""

    def __init__(
        self,
        node: NamedNode,
        triples: list[Triple],
        parts: list[JsonMap],
        nodes: Nodes,
        iris: Iris,
    ) -> None:
        self._node, self._parts, self._nodes, self._iris = node, parts, nodes, iris
        self._facts = [t for t in triples if t.predicate == vocab.REIFIES]
        self._others = [t for t in triples if place_of(t) is None and t not in self._facts]
        self._attributes: JsonMap = {}
        self._metadata: JsonMap = {}
        for triple in triples:
            place = place_of(triple)
            if place is not None:
                (self._metadata if place[0] else self._attributes)[place[1]] = value_of(triple)

    def triples(self) -> Iterator[Triple]:
        """Those of each statement; of the link itself what says in which lists it is."""
        original = cast(JsonMap, self._metadata[ORIGINAL])
        lists = {LISTS: original[LISTS]} if LISTS in original else {}
        yield from self._facts
        yield from self._others
        yield _value(self._node, vocab.METADATA, ORIGINAL, {"predicate": [], **lists})
        shown = listed(self._attributes.get(STATEMENTS))
        for number, part in enumerate(self._parts):
            values = shown[number] if number < len(shown) else {}
            node = _node(self._node, number, self._iris)
            yield from self._statement(node, part, values if isinstance(values, dict) else {})

    def _statement(self, node: NamedNode, part: JsonMap, values: JsonMap) -> Iterator[Triple]:
        for fact in self._facts:
            yield Triple(node, vocab.REIFIES, self._fact(fact.object, part))
        kept = ("attributes", "metadata")
        usual = cast(JsonMap, self._metadata[ORIGINAL])
        original = {key: usual[key] for key in ("predicate",) if key in usual}
        original |= {key: part[key] for key in ("predicate", *kept) if key in part}
        yield _value(node, vocab.METADATA, ORIGINAL, original)
        if "id" in part:
            yield _value(node, vocab.ATTRIBUTE, SAME_AS, part["id"])
        for key in _GRAPHS:
            if key in self._metadata:
                yield _value(node, vocab.METADATA, key, self._metadata[key])
        for key, value in {**values, **cast(JsonMap, values.get("metadata", {}))}.items():
            is_metadata = key in self._metadata and key not in self._attributes
            yield _value(node, vocab.METADATA if is_metadata else vocab.ATTRIBUTE, key, value)

    def _fact(self, fact: Any, part: JsonMap) -> Triple:
        ends = ((fact.subject, str(part.get("subject"))), (fact.object, str(part.get("object"))))
        subject, end = (self._nodes.get(key, key[0]) for key in ends)
        return Triple(subject, fact.predicate, end)


def _value(node: NamedNode, space: str, key: str, value: Json) -> Triple:
    return Triple(node, NamedNode(space + key), cast(Literal, to_term(value)))
