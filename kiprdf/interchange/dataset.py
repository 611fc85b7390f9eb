"""Checks whether triples are the dataset of a nexus (docs/mapping.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias, cast

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.budget import paced
from kiprdf.errors import KipError
from kiprdf.interchange.staging_store import Node, Term
from kiprdf.language.names import META_TYPES, is_definition_name, is_key, name_fault
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, ElementName, Iris, PropositionName
from kiprdf.rdf.literals import is_ours, normal

_SCORE = NamedNode(vocab.METADATA + "_score")
_VERSION = NamedNode(vocab.METADATA + vocab.VERSION)

Links: TypeAlias = dict[NamedNode, Triple]
"""Each link with its fact."""


def check_dataset(triples: Iterable[Triple], iris: Iris) -> int:
    """Raise ``KipError`` for the first fault: something that no nexus writes.

    Returns the number of elements.
    """
    elements: list[str] = []
    for fault in faults(triples, iris, elements):
        raise fault
    return len(elements)


def faults(triples: Iterable[Triple], iris: Iris, elements: list[str]) -> Iterator[KipError]:
    """All faults of a dataset, things that no nexus writes, in a fixed order.

    KIP_2002 for a broken shape, KIP_2001 for an undefined type or predicate, KIP_3002 for an
    endpoint that is missing, KIP_3003 for two links of one fact or two facts of one link.
    ``elements`` is filled with the IRIs of all subjects.
    """
    dataset = _Dataset(triples, iris)
    subjects = dataset.subjects
    elements += [node.value for node in subjects if isinstance(node, NamedNode)]
    # The causes of other faults come first: a snapshot with another base has only foreign subjects.
    yield from dataset.foreign_subjects()
    yield from dataset.link_faults()
    yield from dataset.element_faults()
    for triple, why in sorted(dataset.value_faults, key=str):
        yield _broken(triple, why)
    for triple in sorted(dataset.repeated_values, key=str):
        yield _broken(triple, f"{triple.predicate} has several values")


def _broken(triple: Triple, why: str) -> KipError:
    message = f"{triple} does not belong into a nexus: {why}."
    return KipError(
        "KIP_2002", message, "This takes snapshots of a nexus; foreign RDF is for import_rdf()."
    )


class _Dataset:
    """The triples of a dataset in one pass: its elements, links and facts, and faulty values."""

    def __init__(self, triples: Iterable[Triple], iris: Iris) -> None:
        self._iris = iris
        self.subjects: dict[Node, Triple] = {}
        """Each subject with a triple of it, which names it in an error."""
        self._types: dict[Node, Term | None] = {}
        self._labels: dict[Node, Term | None] = {}
        self._reifying: list[Triple] = []
        self._facts: set[Triple] = set()
        self._links: Links = {}
        self.value_faults: list[tuple[Triple, str]] = []
        self.repeated_values: list[Triple] = []
        keys: dict[NamedNode, _Key] = {}
        for triple in paced(triples):
            subject, predicate, value = triple
            if subject not in self.subjects:
                self.subjects[subject] = triple
            if (key := keys.get(predicate)) is not None:
                self._add_value(triple, key)
            elif predicate == vocab.REIFIES:
                self._reifying.append(triple)
            elif predicate in (vocab.TYPE, vocab.LABEL):
                values = self._types if predicate == vocab.TYPE else self._labels
                # Two values are as wrong as a missing one.
                values[subject] = None if subject in values else value
            elif predicate.value.startswith(iris.predicates):
                self._facts.add(triple)
            else:
                key = keys[predicate] = _Key(predicate)
                self._add_value(triple, key)

    def _add_value(self, triple: Triple, key: _Key) -> None:
        why = key.fault(triple.object)
        if why is not None:
            self.value_faults.append((triple, why))
        elif triple.subject in key.owners:
            self.repeated_values.append(triple)
        key.owners.add(cast(Node, triple.subject))

    def foreign_subjects(self) -> Iterator[KipError]:
        """Subjects that are no elements of this nexus, blank nodes first."""
        foreign = (node for node in paced(self.subjects) if self._name(node) is None)
        for node in sorted(foreign, key=lambda node: (isinstance(node, NamedNode), str(node))):
            why = (
                f"no element below <{self._iris.base}>" if isinstance(node, NamedNode) else "no IRI"
            )
            yield _broken(self.subjects[node], f"its subject is {why}")

    def _name(self, node: Node) -> ElementName | None:
        return self._iris.name(node.value) if isinstance(node, NamedNode) else None

    # Links ------------------------------------------------------------------------------------

    def link_faults(self) -> Iterator[KipError]:
        """Links without exactly one fact, and facts without exactly one link."""
        links: dict[Triple, NamedNode] = {}
        for triple in paced(self._reifying):
            link, fact = cast(NamedNode, triple.subject), triple.object
            if not isinstance(fact, Triple):
                yield _broken(triple, "a reifier reifies a triple")
            elif link in self._links or fact in links:
                # The message must not depend on the engine's order.
                both = sorted(map(str, (link, links.get(fact, link))))
                message = f"{' and '.join(both)} claim one identity."
                yield KipError("KIP_3003", message, "Each fact has one link.")
            else:
                self._links[link], links[fact] = fact, link
        for fact in sorted(links.keys() - self._facts, key=str):
            is_ours = fact.predicate.value.startswith(self._iris.predicates)
            why = "it is reified but not asserted"
            yield _broken(fact, why if is_ours else "its predicate is no predicate of the nexus")
        for fact in sorted(self._facts - links.keys(), key=str):
            yield _broken(fact, "the fact has no link")
        for link in _cycles(self._links):
            yield _broken(self._links[link], "the proposition is about itself")

    # Elements ---------------------------------------------------------------------------------

    def element_faults(self) -> Iterator[KipError]:
        """The faults of the subjects, in their order."""
        nodes = (node for node in paced(self.subjects) if isinstance(node, NamedNode))
        faults = ((node, fault) for node in nodes for fault in self._element(node))
        yield from (fault for _, fault in sorted(faults, key=lambda pair: str(pair[0])))

    def _element(self, node: NamedNode) -> Iterator[KipError]:
        name = self._name(node)
        if isinstance(name, PropositionName):
            return self._proposition(node, name)
        return self._concept(node, name) if isinstance(name, ConceptName) else iter(())

    def _concept(self, node: NamedNode, name: ConceptName) -> Iterator[KipError]:
        fault = name_fault(name.name)
        if fault is not None or self._iris.concept(name.type, name.name) != node:
            why = f"its name {fault or 'is not encoded as ours are'}"
            yield _broken(self.subjects[node], why)
        definition = self._iris.type(name.type)
        if name.type not in META_TYPES and definition not in self.subjects:
            message = f"The type of {self._iris.id(node)} is not defined."
            yield KipError("KIP_2001", message, "A snapshot holds the definitions of its types.")
        if name.type in META_TYPES and not is_definition_name(name.type, name.name):
            yield KipError("KIP_1002", f"'{name.name}' cannot be a type or predicate.")
        if self._types.get(node) != definition or self._labels.get(node) != Literal(name.name):
            why = "rdf:type and rdfs:label do not say what its IRI says"
            yield _broken(self.subjects[node], why)

    def _proposition(self, node: NamedNode, name: PropositionName) -> Iterator[KipError]:
        if node in self._types or node in self._labels:
            why = "a proposition has neither rdf:type nor rdfs:label"
            yield _broken(self.subjects[node], why)
        fact = self._links.get(node)
        if fact is None:
            yield _broken(self.subjects[node], "the link reifies nothing")
            return
        subject, predicate, value = fact
        if predicate.value != self._iris.predicates + name.predicate:
            yield _broken(self.subjects[node], "the link's IRI names another predicate")
        if predicate not in self.subjects:
            message = f"The predicate '{name.predicate}' is not defined."
            hint = "A snapshot holds the definitions of its predicates."
            yield KipError("KIP_2001", message, hint)
        for end in (subject, value):
            if end not in self.subjects:
                message = f"{self._iris.id(node)} links {end}, which is no element of the snapshot."
                yield KipError("KIP_3002", message, "Both ends of a proposition must be there.")
        if subject == value:
            yield _broken(fact, "a proposition links two different elements")


def _cycles(links: Links) -> Iterator[NamedNode]:
    """Links in a cycle: a proposition is never about itself, directly or through others."""
    sound: set[NamedNode] = set()
    for start in [link for link in links if _ends(link, links)]:
        path = {start: _ends(start, links)}
        while path:
            link, ends = next(reversed(path.items()))
            if not ends:
                sound.add(link)
                path.popitem()
                continue
            end = ends.pop()
            if end in path:
                yield link
            elif end not in sound:
                path[end] = _ends(end, links)


def _ends(link: NamedNode, links: Links) -> list[NamedNode]:
    """The ends of a link that are links themselves."""
    ends = cast(tuple[NamedNode, NamedNode], (links[link].subject, links[link].object))
    return [end for end in ends if end in links]


# Values ---------------------------------------------------------------------------------------


class _Key:
    """A predicate that gives each element one value: an attribute or a metadata key."""

    def __init__(self, predicate: NamedNode) -> None:
        spaces = (vocab.ATTRIBUTE, vocab.METADATA)
        space = next((space for space in spaces if predicate.value.startswith(space)), None)
        self._is_key = space is not None and is_key(predicate.value[len(space) :])
        self._predicate = predicate
        self.owners: set[Node] = set()
        # Elements share values; each value is checked once.
        self._checked: dict[Term, str | None] = {}

    def fault(self, value: Term) -> str | None:
        """The fault of a value of the predicate, or None."""
        if not self._is_key:
            return "its predicate is no attribute, metadata key or predicate"
        if value not in self._checked:
            self._checked[value] = _fault(value, self._predicate)
        return self._checked[value]


def _is_version(value: Literal | NamedNode) -> bool:
    is_integer = isinstance(value, Literal) and value.datatype == vocab.INTEGER
    return is_integer and 1 <= int(value.value) < 2**62


def _fault(term: Any, predicate: NamedNode) -> str | None:
    """Why a term cannot be a value of a key, or None when it can."""
    # The engine has its own form of doubles.
    if not isinstance(term, Literal | NamedNode) or not is_ours(normal(term)):
        return "values are strings, booleans, 64-bit integers, finite xsd:double, canonical JSON"
    if predicate == _SCORE:
        return "a score belongs to one search"
    if predicate == _VERSION and not _is_version(term):
        return "a version is an integer from 1, with room to grow"
    return None
