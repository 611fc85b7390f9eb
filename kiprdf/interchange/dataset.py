"""Checks whether triples are the dataset of a nexus (docs/mapping.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias, cast

from pyoxigraph import Literal, NamedNode, RdfFormat, Triple, parse

from kiprdf.budget import paced
from kiprdf.errors import KipError
from kiprdf.interchange import n_triples
from kiprdf.interchange.n_triples import StagingStore, Term
from kiprdf.kml.says import OWN, Says, ids_of, shown
from kiprdf.language.names import META_TYPES, is_definition_name, is_key, name_fault
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, ElementName, Iris, PropositionName
from kiprdf.rdf.literals import is_ours, normal

_REIFIES, _TYPE, _LABEL = map(str, (vocab.REIFIES, vocab.TYPE, vocab.LABEL))
_SAYS = str(vocab.SAYS)
_NOTES = frozenset((_SAYS, str(vocab.UNSETTLED)))
"""What several nexuses say is no value, also of an element that is gone."""
RESTORABLE = "Restore a snapshot that was written without this mapping."
"""The hint for one with the mapping ``original``."""
_SCORE = f"<{vocab.METADATA}_score>"
_VERSION = f"<{vocab.METADATA}{vocab.VERSION}>"

Links: TypeAlias = dict[str, str]
"""Each link with its fact, both as N-Triples."""


def check_dataset(triples: StagingStore | Iterable[Triple], iris: Iris) -> int:
    """Raise ``KipError`` for the first fault: something that no nexus writes.

    Returns the number of elements.
    """
    elements: list[str] = []
    for fault in faults(triples, iris, elements):
        raise fault
    return len(elements)


def faults(
    triples: StagingStore | Iterable[Triple], iris: Iris, elements: list[str]
) -> Iterator[KipError]:
    """All faults of a dataset, things that no nexus writes, in a fixed order.

    KIP_2002 for a broken shape, KIP_2001 for an undefined type or predicate, KIP_3002 for an
    endpoint that is missing, KIP_3003 for two links of one fact or two facts of one link.
    ``elements`` is filled with the IRIs of all subjects.
    """
    dataset = _Dataset(triples, iris)
    elements += [node[1:-1] for node in dataset.subjects if _is_iri(node)]
    # The causes of other faults come first: a snapshot with another base has only foreign subjects.
    if dataset.is_original:
        message = "This was written with the mapping original: its subjects have other IRIs."
        yield KipError("KIP_2002", message, RESTORABLE)
    yield from dataset.foreign_subjects()
    yield from dataset.link_faults()
    yield from dataset.element_faults()
    for triple, why in sorted(dataset.value_faults):
        yield _broken(triple, why)
    for triple in sorted(dataset.repeated_values):
        yield _broken(triple, f"{triple.split(' ', 2)[1]} has several values")


def _is_iri(node: str) -> bool:
    """Whether a node is an IRI; others are blank nodes."""
    return node.startswith("<")


def _broken(triple: str, why: str) -> KipError:
    message = f"{triple} does not belong in a nexus: {why}."
    return KipError(
        "KIP_2002",
        message,
        "Only snapshots of a nexus are read here; use import_rdf() for other RDF.",
    )


def _can_be_read(literal: str) -> bool:
    """Whether a literal in N-Triples is what several nexuses say of an element."""
    try:
        (quad,) = parse(f"{vocab.SAYS} {vocab.SAYS} {literal} .", format=RdfFormat.N_TRIPLES)
        says = Says.read(cast(Literal, quad.object).value)
        ids_of(says.wire)
        shown(says.by, OWN)
        return True
    except (LookupError, AttributeError, SyntaxError, TypeError, ValueError, RecursionError):
        return False


class _Dataset:
    """The elements of a dataset, its links, facts and faulty values, as N-Triples."""

    def __init__(self, triples: StagingStore | Iterable[Triple], iris: Iris) -> None:
        self._iris = iris
        self.subjects: dict[str, str] = {}
        """Each subject with a triple of it, which names it in an error."""
        self._types: dict[str, str | None] = {}
        self._labels: dict[str, str | None] = {}
        self._reifying: list[tuple[str, str]] = []
        self._facts: set[str] = set()
        self._links: Links = {}
        self.value_faults: list[tuple[str, str]] = []
        self.repeated_values: list[str] = []
        self._keys: dict[str, _Key] = {}
        n_triples.read(triples, self._add)
        self._names = {node: self._name(node) for node in paced(self.subjects)}

    def _add(self, triples: list[str]) -> None:
        for triple in triples:
            subject, predicate, value = triple.split(" ", 2)
            if predicate in _NOTES:
                if predicate == _SAYS and not _can_be_read(value):
                    why = "what is said of an element cannot be read"
                    self.value_faults.append((triple, why))
                continue
            self.subjects.setdefault(subject, triple)
            if (key := self._keys.get(predicate)) is not None:
                self._add_value(triple, subject, value, key)
            elif predicate == _REIFIES:
                self._reifying.append((subject, value))
            elif predicate in (_TYPE, _LABEL):
                values = self._types if predicate == _TYPE else self._labels
                # Two values are as wrong as a missing one.
                values[subject] = None if subject in values else value
            elif predicate.startswith(self._iris.predicates, 1):
                self._facts.add(triple)
            else:
                key = self._keys[predicate] = _Key(predicate)
                self._add_value(triple, subject, value, key)

    def _add_value(self, triple: str, subject: str, value: str, key: _Key) -> None:
        why = key.fault(value)
        if why is not None:
            self.value_faults.append((triple, why))
        elif subject in key.owners:
            self.repeated_values.append(triple)
        key.owners.add(subject)

    @property
    def is_original(self) -> bool:
        """Whether some elements have their original IRIs."""
        return str(vocab.ID) in self._keys

    def foreign_subjects(self) -> Iterator[KipError]:
        """Subjects that are not elements of this nexus, blank nodes first."""
        foreign = (node for node, name in self._names.items() if name is None)
        for node in sorted(foreign, key=lambda node: (_is_iri(node), node)):
            why = f"no element below <{self._iris.base}>" if _is_iri(node) else "no IRI"
            yield _broken(self.subjects[node], f"its subject is {why}")

    def _name(self, node: str) -> ElementName | None:
        return self._iris.name(node[1:-1]) if _is_iri(node) else None

    # Links ------------------------------------------------------------------------------------

    def link_faults(self) -> Iterator[KipError]:
        """Links without exactly one fact, and facts without exactly one link."""
        links: dict[str, str] = {}
        for link, term in paced(self._reifying):
            fact = term[4:-4]
            if not term.startswith("<<("):
                yield _broken(f"{link} {_REIFIES} {term}", "a reifier reifies a triple")
            elif link in self._links or fact in links:
                # The message must not depend on the engine's order.
                both = sorted((link, links.get(fact, link)))
                message = f"{' and '.join(both)} have the same identity."
                yield KipError("KIP_3003", message, "Keep one link for each fact.")
            else:
                self._links[link], links[fact] = fact, link
        for fact in sorted(links.keys() - self._facts):
            is_ours = fact.split(" ", 2)[1].startswith(self._iris.predicates, 1)
            why = "it is reified but not asserted"
            yield _broken(fact, why if is_ours else "its predicate is not a predicate of the nexus")
        for fact in sorted(self._facts - links.keys()):
            yield _broken(fact, "the fact has no link")
        for link in _cycles(self._links):
            yield _broken(self._links[link], "the proposition is about itself")

    # Elements ---------------------------------------------------------------------------------

    def element_faults(self) -> Iterator[KipError]:
        """The faults of the subjects, in their order."""
        names = paced(self._names.items())
        faults = ((node, fault) for node, name in names for fault in self._element(node, name))
        yield from (fault for _, fault in sorted(faults, key=lambda pair: pair[0]))

    def _element(self, node: str, name: ElementName | None) -> Iterator[KipError]:
        if isinstance(name, PropositionName):
            return self._proposition(node, name)
        return self._concept(node, name) if isinstance(name, ConceptName) else iter(())

    def _concept(self, node: str, name: ConceptName) -> Iterator[KipError]:
        fault = name_fault(name.name)
        if fault is not None or str(self._iris.concept(name.type, name.name)) != node:
            why = f"its name {fault or 'is not encoded as kiprdf encodes names'}"
            yield _broken(self.subjects[node], why)
        definition = str(self._iris.type(name.type))
        if name.type not in META_TYPES and definition not in self.subjects:
            message = f"The type of {name.id} is not defined."
            yield KipError("KIP_2001", message, "A snapshot holds the definitions of its types.")
        if name.type in META_TYPES and not is_definition_name(name.type, name.name):
            yield KipError("KIP_1002", f"'{name.name}' cannot be a type or predicate.")
        if self._types.get(node) != definition or self._labels.get(node) != str(Literal(name.name)):
            why = "rdf:type and rdfs:label do not match its IRI"
            yield _broken(self.subjects[node], why)

    def _proposition(self, node: str, name: PropositionName) -> Iterator[KipError]:
        if node in self._types or node in self._labels:
            why = "a proposition has neither rdf:type nor rdfs:label"
            yield _broken(self.subjects[node], why)
        fact = self._links.get(node)
        if fact is None:
            yield _broken(self.subjects[node], "the link reifies nothing")
            return
        subject, predicate, value = fact.split(" ", 2)
        if predicate != f"<{self._iris.predicates}{name.predicate}>":
            yield _broken(self.subjects[node], "the link's IRI names another predicate")
        if predicate not in self.subjects:
            message = f"The predicate '{name.predicate}' is not defined."
            hint = "A snapshot holds the definitions of its predicates."
            yield KipError("KIP_2001", message, hint)
        for end in (subject, value):
            if end not in self.subjects:
                message = f"{name.id} links {end}, which is not an element of the snapshot."
                yield KipError(
                    "KIP_3002", message, "A snapshot holds both ends of each proposition."
                )


def _cycles(links: Links) -> Iterator[str]:
    """Links in a cycle: a proposition is never about itself, directly or through others."""
    sound: set[str] = set()
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


def _ends(link: str, links: Links) -> list[str]:
    """The ends of a link that are links themselves."""
    subject, _, value = links[link].split(" ", 2)
    return [end for end in (subject, value) if end in links]


# Values ---------------------------------------------------------------------------------------


class _Key:
    """A predicate that gives each element one value: an attribute or a metadata key."""

    def __init__(self, predicate: str) -> None:
        iri = predicate[1:-1]
        spaces = (vocab.ATTRIBUTE, vocab.METADATA)
        space = next((space for space in spaces if iri.startswith(space)), None)
        self._is_key = space is not None and is_key(iri[len(space) :])
        self._predicate = predicate
        self.owners: set[str] = set()
        # Elements share values; each value is checked once.
        self._checked: dict[str, str | None] = {}

    def fault(self, value: str) -> str | None:
        """The fault of a value of the predicate, or None."""
        if not self._is_key:
            return "its predicate is not an attribute, metadata key or predicate"
        if value not in self._checked:
            self._checked[value] = _fault(n_triples.term(value), self._predicate)
        return self._checked[value]


def _is_version(value: Literal | NamedNode) -> bool:
    is_integer = isinstance(value, Literal) and value.datatype == vocab.INTEGER
    return is_integer and 1 <= int(value.value) < 2**62


def _fault(term: Term, predicate: str) -> str | None:
    """Why a term cannot be a value of a key, or None when it can."""
    # The engine has its own form of doubles.
    if not isinstance(term, Literal | NamedNode) or not is_ours(normal(term)):
        return "values are strings, booleans, 64-bit integers, finite xsd:double, canonical JSON"
    if predicate == _SCORE:
        return "a score belongs to one search"
    if predicate == _VERSION and not _is_version(term):
        return "a version is an integer from 1, with room to grow"
    return None
