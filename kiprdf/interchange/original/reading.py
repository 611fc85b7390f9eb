"""Reads knowledge that was written under original IRIs; the inverse of ``writing``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, cast

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.budget import paced
from kiprdf.errors import KipError, shown
from kiprdf.interchange.importing.element_index import SAME_AS
from kiprdf.interchange.original.record import (
    Element,
    Groups,
    KeyPlace,
    Record,
    place_of,
    read_back,
)
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, Iris, PropositionName
from kiprdf.rdf.literals import to_term


def from_original(triples: Iterable[Triple], iris: Iris) -> Iterator[Triple]:
    """The triples of a nexus from their original forms; other triples pass unchanged.

    ``iris`` are those of the nexus that wrote them. Raises KIP_2002 for a triple whose ``kip:id``
    is not an id, or that of another node too, and for one that no key of its subject explains.
    """
    reader = _Reader(list(paced(triples)), iris)
    for node in paced(reader.groups):
        yield from reader.element(node)


class _Reader:
    def __init__(self, triples: list[Triple], iris: Iris) -> None:
        self._iris = iris
        self._nodes = _nodes(triples, iris)
        self._owns = {node: own for own, node in self._nodes.items()}
        reified: dict[Triple, list[NamedNode]] = defaultdict(list)
        for triple in triples:
            if triple.predicate == vocab.REIFIES and isinstance(triple.object, Triple):
                reified[triple.object].append(self._node(triple.subject))
        self.groups: Groups = defaultdict(list)
        for triple in paced(triples):
            if triple.predicate != vocab.ID:
                self.groups[self._node(triple.subject)] += self._restored(triple, reified)
        self._record = Record(
            {
                node: [t for t in own if place_of(t) is not None]
                for node, own in self.groups.items()
            },
            iris,
        )
        self._properties: dict[Any, set[Triple]] = defaultdict(set)
        self._list_properties: dict[Any, set[NamedNode]] = defaultdict(set)
        for fact, links in reified.items():
            for link in links:
                element = self._record.element(link, self.groups[link])
                forms = (Triple(fact.subject, iri, fact.object) for iri in element.properties)
                self._properties[self._node(fact.subject)].update(forms)
                lists = {property for property, *_ in element.lists}
                self._list_properties[self._node(fact.subject)] |= lists

    def _node(self, node: Any) -> Any:
        return self._nodes.get(node, node)

    def _restored(self, triple: Triple, reified: dict[Triple, list[NamedNode]]) -> list[Triple]:
        """A triple whose nodes are those of the nexus; the facts of links have their predicate."""
        subject = self._node(triple.subject)
        if triple.predicate == vocab.REIFIES and isinstance(triple.object, Triple):
            return [Triple(subject, vocab.REIFIES, self._fact(triple.object, subject))]
        if triple in reified:
            return [self._fact(triple, link) for link in reified[triple]]
        return [Triple(subject, triple.predicate, triple.object)]

    def _fact(self, fact: Triple, link: NamedNode) -> Triple:
        name = self._iris.name(link.value)
        predicate = fact.predicate
        if isinstance(name, PropositionName):
            predicate = self._iris.predicate(name.predicate)
        return Triple(self._node(fact.subject), predicate, self._node(fact.object))

    def element(self, node: NamedNode) -> Iterator[Triple]:
        """The triples of one element; those of subjects without ids pass unchanged."""
        own = self._owns.get(node)
        if own is None:
            if not node.value.startswith(vocab.LIST):
                forms = self._properties[node]
                yield from (triple for triple in self.groups[node] if triple not in forms)
            return
        element = self._record.element(node, self.groups[node])
        kept = [triple for triple in element.triples if self._is_own(triple)]
        stated = {place: element.used(place) for t in kept if (place := place_of(t)) is not None}
        forms = _derived(element) | self._properties[node]
        yield from kept
        if (False, SAME_AS) not in stated:
            yield Triple(node, vocab.attribute(SAME_AS), Literal(own.value))
        if isinstance(element.name, ConceptName):
            yield Triple(node, vocab.TYPE, self._iris.type(element.name.type))
            yield Triple(node, vocab.LABEL, Literal(element.name.name))
        places = element.definition.places
        values: dict[KeyPlace, list[Any]] = defaultdict(list)
        for triple in element.triples:
            if self._is_own(triple) or triple in forms or self._form_of(triple) in forms:
                continue
            if any(triple.predicate in used for used in stated.values()):
                continue
            if triple.predicate in self._list_properties[node] and _is_list(triple.object):
                continue
            place = next(iter(places.get(triple.predicate, ())), None)
            if place is None:
                raise _unknown(self._form_of(triple), element)
            values[place].append(triple.object)
        for (is_metadata, key), terms in values.items():
            space = vocab.METADATA if is_metadata else vocab.ATTRIBUTE
            value = read_back(terms, element.is_array((is_metadata, key)))
            yield Triple(node, NamedNode(space + key), to_term(value))

    def _form_of(self, triple: Triple) -> Triple:
        """A triple as it was written."""
        return Triple(self._owns[cast(NamedNode, triple.subject)], *[*triple][1:])

    def _is_own(self, triple: Triple) -> bool:
        """Whether a triple is one of the nexus, and no original form."""
        predicate = triple.predicate.value
        is_key = predicate.startswith((vocab.ATTRIBUTE, vocab.METADATA))
        return (
            is_key
            or triple.predicate == vocab.REIFIES
            or predicate.startswith(self._iris.predicates)
        )


def _is_list(term: Any) -> bool:
    return isinstance(term, NamedNode) and term.value.startswith(vocab.LIST)


def _unknown(triple: Triple, element: Element) -> KipError:
    name = cast("ConceptName | PropositionName", element.name)
    message = f"{triple} is not a type, key or link of '{shown(name.id)}' in this snapshot."
    hint = "Restore its definitions with the IRIs in this triple, or use import_rdf() for new RDF."
    return KipError("KIP_2002", message, hint)


def _derived(element: Element) -> set[Triple]:
    """The forms that the name and the type of a concept give."""
    if not isinstance(element.name, ConceptName):
        return set()
    name = Literal(element.name.name)
    types = (Triple(element.node, vocab.TYPE, iri) for iri in element.classes)
    return {*types, *(Triple(element.node, iri, name) for iri in element.names)}


def _nodes(triples: Iterable[Triple], iris: Iris) -> dict[Any, NamedNode]:
    """The elements of the nodes that have ids."""
    nodes: dict[Any, NamedNode] = {}
    claimed: dict[NamedNode, Any] = {}
    for triple in triples:
        if triple.predicate != vocab.ID:
            continue
        text = triple.object.value if isinstance(triple.object, Literal) else ""
        node = iris.from_id(text)
        if node is None or nodes.setdefault(triple.subject, node) != node:
            raise KipError(
                "KIP_2002",
                f"{triple.subject} has the kip:id '{shown(text)}', which is not its one valid id.",
                "Give it one kip:id such as C:Person/Ada.",
            )
        if claimed.setdefault(node, triple.subject) != triple.subject:
            both = f"{claimed[node]} and {triple.subject} both have the kip:id '{shown(text)}'."
            raise KipError("KIP_2002", both, "Keep one of these two subjects.")
    return nodes
