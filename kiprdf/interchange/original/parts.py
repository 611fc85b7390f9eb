"""Takes elements apart that several nodes of the original data became (docs/decisions/124)."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias, cast

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.interchange.importing.element_index import IMPORTED_AT, SAME_AS
from kiprdf.interchange.importing.node_values import GRAPH, GRAPH_VALUES, NAMES
from kiprdf.interchange.importing.origins import LISTS, NAME_IRI, REIFIED_IN
from kiprdf.interchange.importing.plan import JsonMap
from kiprdf.interchange.importing.values import listed
from kiprdf.interchange.original.record import Groups, KeyPlace, place_of, value_of
from kiprdf.kml.merged_origins import (
    LABEL,
    LOOPS,
    OF_MERGES,
    ORIGINAL,
    OWN,
    PARTS,
    STATEMENTS,
    as_they_were,
)
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, Iris, PropositionName
from kiprdf.rdf.literals import Json, to_term

_GRAPHS = (GRAPH, GRAPH_VALUES)
_ORIGINAL = NamedNode(vocab.METADATA + ORIGINAL)
_USUAL = str(None)
"""What stands for the IRI of an end of which none is noted."""
Nodes: TypeAlias = dict[tuple[NamedNode, str], NamedNode]
"""The nodes of parts, by their element and their original IRI."""


def apart(triples: Iterable[Triple], iris: Iris) -> Iterator[Triple]:
    """The triples of a nexus in which each node of the original data is an element by itself:
    reifiers of one triple, and concepts that were merged.
    """
    groups: Groups = defaultdict(list)
    for triple in triples:
        groups[cast(NamedNode, triple.subject)].append(triple)
    noted = {node: record for node, own in groups.items() if (record := _record(own))}
    for node, record in list(noted.items()):
        for number, loop in enumerate(_objects(record, LOOPS)):
            link, own = _loop(node, number, loop, iris)
            groups[link], noted[link] = own, _record(own)
    links = {node: parts for node, one in noted.items() if (parts := _objects(one, STATEMENTS))}
    nodes: Nodes = {}
    for node, record in noted.items():
        name = iris.name(node.value)
        if isinstance(name, ConceptName) and (PARTS in record or LABEL in record):
            merged = _Merged(node, name, groups[node], record, groups, iris)
            nodes |= {(node, iri): part for iri, part in merged.nodes.items()}
            groups[node] = []
            yield from merged.triples()
    for node, parts in links.items():
        for number, part in enumerate(parts):
            if isinstance(part.get("id"), str):
                nodes[node, part["id"]] = _node(node, number, iris)
    # What an import stated of a reifier before another one came is stated of the first.
    firsts: dict[object, NamedNode] = {}
    for node in links:
        same_as = (value_of(t) for t in groups[node] if place_of(t) == (False, SAME_AS))
        first = (node, str(next(iter(listed(next(same_as, None))), None)))
        if first in nodes:
            firsts[node] = nodes[node, _USUAL] = nodes[first]
    for node, own in groups.items():
        if node in links:
            yield from _Link(node, own, links[node], nodes, iris).triples()
        elif firsts and _is_about(own, firsts):
            yield from _Link(node, own, [{}], nodes, iris).triples()
        else:
            yield from own


def _is_about(triples: list[Triple], ends: Mapping[object, NamedNode]) -> bool:
    """Whether an imported link is about one of some links."""
    facts: list[Any] = [t.object for t in triples if t.predicate == vocab.REIFIES]
    is_about = any({one.subject, one.object} & ends.keys() for one in facts)
    return is_about and any(place_of(triple) == (True, IMPORTED_AT) for triple in triples)


def _record(triples: Iterable[Triple]) -> JsonMap:
    """What imports and merges noted of an element."""
    original = next((value_of(t) for t in triples if t.predicate == _ORIGINAL), None)
    return original if isinstance(original, dict) else {}


def _objects(record: JsonMap, key: str) -> list[JsonMap]:
    return [part for part in listed(record.get(key)) if isinstance(part, dict)]


def _loop(
    concept: NamedNode, number: int, loop: JsonMap, iris: Iris
) -> tuple[NamedNode, list[Triple]]:
    """A link between two concepts that MERGE made one."""
    digits = hashlib.sha256(f"{concept.value} {number}".encode()).hexdigest()[:16]
    predicate = str(loop.get("predicate"))
    link = iris.proposition(digits, predicate)
    triples = [Triple(link, vocab.REIFIES, Triple(concept, iris.predicate(predicate), concept))]
    for key, space in (("attributes", vocab.ATTRIBUTE), ("metadata", vocab.METADATA)):
        triples += (_value(link, space, name, one) for name, one in _object(loop, key).items())
    return link, triples


class _Merged:
    """A concept that MERGE made of several; each is written as it was imported."""

    def __init__(
        self,
        node: NamedNode,
        name: ConceptName,
        triples: list[Triple],
        record: JsonMap,
        groups: Groups,
        iris: Iris,
    ) -> None:
        self._node, self._name, self._triples, self._record = node, name, triples, record
        self._parts = [part for part in _objects(record, PARTS) if isinstance(part.get("id"), str)]
        definition = groups.get(iris.type(name.type), [])
        named = (value_of(t) for t in definition if place_of(t) == (False, NAME_IRI))
        self._name_iri = next(named, None)
        self._type = iris.type(name.type)
        self.nodes = {
            part["id"]: iris.concept(name.type, f"{name.name} merged with {part['id']}")
            for part in self._parts
        }
        """The nodes of the others by their original IRIs."""

    def triples(self) -> Iterator[Triple]:
        others = {
            iri for part in self._parts for iri in listed(_object(part, "attributes").get(SAME_AS))
        }
        attributes = {k: value_of(t) for (is_metadata, k), t in self._values() if not is_metadata}
        attributes = as_they_were(attributes, self._record.get(OWN))
        same_as = [iri for iri in listed(attributes.get(SAME_AS)) if iri not in others]
        own = {key: one for key, one in self._record.items() if key not in OF_MERGES}
        yield from (t for t in self._triples if place_of(t) is None)
        for (is_metadata, key), triple in self._values():
            if is_metadata and key != ORIGINAL:
                yield triple
        yield from self._concept(
            self._node, self._record.get(LABEL), {**attributes, SAME_AS: same_as}, own
        )
        for part in self._parts:
            node, metadata = self.nodes[part["id"]], _object(part, "metadata")
            yield Triple(node, vocab.TYPE, self._type)
            for key in _GRAPHS:
                if key in metadata:
                    yield _value(node, vocab.METADATA, key, metadata[key])
            original = _object(metadata, ORIGINAL)
            yield from self._concept(node, part.get("name"), _object(part, "attributes"), original)

    def _values(self) -> Iterator[tuple[KeyPlace, Triple]]:
        for triple in self._triples:
            place = place_of(triple)
            if place is not None:
                yield place, triple

    def _concept(
        self, node: NamedNode, name: Json, attributes: JsonMap, original: JsonMap
    ) -> Iterator[Triple]:
        """The values of one of the concepts; its name is one, if the node has another."""
        if isinstance(name, str):
            iris = listed(original.get("name", self._name_iri))
            forms = [{"@value": name, "property": iri} for iri in iris]
            noted = {**_object(original, "attributes"), NAMES: forms}
            attributes = {**attributes, NAMES: name}
            original = {**original, "name": [], "attributes": noted}
        yield _value(node, vocab.METADATA, ORIGINAL, original)
        for key, value in attributes.items():
            yield _value(node, vocab.ATTRIBUTE, key, value)


def _object(record: JsonMap, key: str) -> JsonMap:
    value = record.get(key)
    return value if isinstance(value, dict) else {}


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
        original = cast(JsonMap, self._metadata.get(ORIGINAL, {}))
        of_parts = any(LISTS in part for part in self._parts)
        lists = {LISTS: original[LISTS]} if LISTS in original and not of_parts else {}
        yield from self._others
        if len(self._parts) == 1:
            yield from self._single()
            return
        yield from self._facts
        yield _value(self._node, vocab.METADATA, ORIGINAL, {"predicate": [], **lists})
        shown = listed(self._attributes.get(STATEMENTS))
        for number, part in enumerate(self._parts):
            values = shown[number] if number < len(shown) else {}
            node = _node(self._node, number, self._iris)
            yield from self._statement(node, part, values if isinstance(values, dict) else {})

    def _single(self) -> Iterator[Triple]:
        """The link itself, one of whose ends is another node of its element."""
        for fact in self._facts:
            yield Triple(self._node, vocab.REIFIES, self._fact(fact.object, self._parts[0]))
        for space, values in (
            (vocab.ATTRIBUTE, self._attributes),
            (vocab.METADATA, self._metadata),
        ):
            for key, value in values.items():
                if key == ORIGINAL and REIFIED_IN in self._parts[0]:
                    value = {**cast(JsonMap, value), REIFIED_IN: self._parts[0][REIFIED_IN]}
                yield _value(self._node, space, key, value)

    def _statement(self, node: NamedNode, part: JsonMap, values: JsonMap) -> Iterator[Triple]:
        for fact in self._facts:
            yield Triple(node, vocab.REIFIES, self._fact(fact.object, part))
        usual = cast(JsonMap, self._metadata[ORIGINAL])
        original = {key: usual[key] for key in ("predicate",) if key in usual}
        original |= {
            k: part[k]
            for k in ("predicate", LISTS, "attributes", "metadata", REIFIED_IN)
            if k in part
        }
        yield _value(node, vocab.METADATA, ORIGINAL, original)
        if "id" in part:
            iris = [part["id"], *(one for one in listed(part.get(SAME_AS)) if one != part["id"])]
            yield _value(node, vocab.ATTRIBUTE, SAME_AS, iris)
        graphs = self._metadata if GRAPH not in part else part
        for key in _GRAPHS:
            if key in graphs:
                yield _value(node, vocab.METADATA, key, graphs[key])
        for key, value in {**values, **cast(JsonMap, values.get("metadata", {}))}.items():
            is_metadata = key in self._metadata and key not in self._attributes
            yield _value(node, vocab.METADATA if is_metadata else vocab.ATTRIBUTE, key, value)

    def _fact(self, fact: Any, part: JsonMap) -> Triple:
        ends = ((fact.subject, str(part.get("subject"))), (fact.object, str(part.get("object"))))
        subject, end = (self._nodes.get(key, key[0]) for key in ends)
        return Triple(subject, fact.predicate, end)


def _value(node: NamedNode, space: str, key: str, value: Json) -> Triple:
    return Triple(node, NamedNode(space + key), cast(Literal, to_term(value)))
