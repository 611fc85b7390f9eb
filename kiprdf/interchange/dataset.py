"""What a set of triples must be to be the dataset of a nexus (docs/mapping.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.errors import KipError
from kiprdf.language.names import META_TYPES, is_definition_name, is_key, name_fault
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, Iris, PropositionName
from kiprdf.rdf.literals import is_ours

_SCORE = NamedNode(vocab.METADATA + "_score")
_VERSION = NamedNode(vocab.METADATA + vocab.VERSION)

BySubject: TypeAlias = dict[NamedNode, list[Triple]]


def check_dataset(triples: Iterable[Triple], iris: Iris) -> int:
    """Raise ``KipError`` for the first thing no nexus would have written; count the elements."""
    by_subject: BySubject = {}
    for fault in faults(triples, iris, by_subject):
        raise fault
    return len(by_subject)


def faults(
    triples: Iterable[Triple], iris: Iris, by_subject: BySubject | None = None
) -> Iterator[KipError]:
    """Everything in a set of triples that no nexus would have written.

    KIP_2002 for a broken shape, KIP_2001 for an undefined type or predicate, KIP_3002 for an
    endpoint that is missing, KIP_3003 for two links of one fact or two facts of one link.
    ``by_subject`` is filled with the triples of each element.
    """
    by_subject = {} if by_subject is None else by_subject
    for triple in triples:
        if not isinstance(triple.subject, NamedNode):
            yield _broken(triple, "its subject is no IRI")
        else:
            by_subject.setdefault(triple.subject, []).append(triple)
    links: dict[NamedNode, Triple] = {}
    yield from _fill_links(by_subject, links)
    linked = set(links.values())
    asserted = {triple for own in by_subject.values() for triple in own}
    for fact in links.values():
        if fact not in asserted:
            yield _broken(fact, "it is reified but not asserted")
    yield from _cycles(links)
    for subject, own in by_subject.items():
        name = iris.name(subject.value)
        if isinstance(name, ConceptName):
            yield from _of_concept(subject, name, own, by_subject, iris)
        elif isinstance(name, PropositionName):
            yield from _of_link(subject, name, links, by_subject, iris)
        else:
            yield _broken(own[0], f"its subject is no element below <{iris.base}>")
        yield from _of_triples(own, linked, iris)


def _broken(triple: Triple, why: str) -> KipError:
    message = f"{triple} does not belong into a nexus: {why}."
    return KipError(
        "KIP_2002", message, "This takes snapshots of a nexus; foreign RDF is for import_rdf()."
    )


def _fill_links(by_subject: BySubject, links: dict[NamedNode, Triple]) -> Iterator[KipError]:
    """The fact of each link; each fact has one link, each link one fact."""
    stated: dict[Triple, NamedNode] = {}
    for subject, own in by_subject.items():
        for triple in own:
            if triple.predicate != vocab.REIFIES:
                continue
            fact = triple.object
            if not isinstance(fact, Triple):
                yield _broken(triple, "a reifier reifies a triple")
            elif subject in links or fact in stated:
                message = f"{subject} and {stated.get(fact, subject)} claim one identity."
                yield KipError("KIP_3003", message, "Each fact has one link.")
            else:
                links[subject], stated[fact] = fact, subject


def _cycles(links: dict[NamedNode, Triple]) -> Iterator[KipError]:
    """A proposition may be about another, never, by whatever way, about itself."""
    sound: set[NamedNode] = set()
    for start in links:
        path: dict[NamedNode, list[NamedNode]] = {start: _ends(links[start], links)}
        while path:
            link, ends = next(reversed(path.items()))
            if not ends:
                sound.add(link)
                path.popitem()
                continue
            end = ends.pop()
            if end in path:
                yield _broken(links[link], "the proposition is about itself")
            elif end not in sound:
                path[end] = _ends(links[end], links)


def _ends(fact: Triple, links: dict[NamedNode, Triple]) -> list[NamedNode]:
    """The propositions among the ends of a fact."""
    ends = (fact.subject, fact.object)
    return [end for end in ends if isinstance(end, NamedNode) and end in links]


def _of_concept(
    node: NamedNode, name: ConceptName, own: list[Triple], known: BySubject, iris: Iris
) -> Iterator[KipError]:
    fault = name_fault(name.name)
    if fault is not None or iris.concept(name.type, name.name) != node:
        yield _broken(own[0], f"its name {fault or 'is not encoded as ours are'}")
    definition = iris.type(name.type)
    if name.type not in META_TYPES and definition not in known:
        message = f"The type of {iris.id(node)} is not defined."
        yield KipError("KIP_2001", message, "A snapshot holds the definitions of its types.")
    if name.type in META_TYPES and not is_definition_name(name.type, name.name):
        yield KipError("KIP_1002", f"'{name.name}' cannot be a type or predicate.")
    expected = {(vocab.TYPE, definition), (vocab.LABEL, Literal(name.name))}
    found = [(t.predicate, t.object) for t in own if t.predicate in (vocab.TYPE, vocab.LABEL)]
    if set(found) != expected:
        yield _broken(own[0], "rdf:type and rdfs:label do not say what its IRI says")


def _of_link(
    node: NamedNode,
    name: PropositionName,
    links: dict[NamedNode, Triple],
    known: BySubject,
    iris: Iris,
) -> Iterator[KipError]:
    if any(triple.predicate in (vocab.TYPE, vocab.LABEL) for triple in known[node]):
        yield _broken(known[node][0], "a proposition has neither rdf:type nor rdfs:label")
    fact = links.get(node)
    if fact is None:
        yield _broken(known[node][0], "the link reifies nothing")
        return
    if fact.predicate != iris.predicate(name.predicate):
        yield _broken(known[node][0], "the link's IRI names another predicate")
    if fact.predicate not in known:
        message = f"The predicate '{name.predicate}' is not defined."
        yield KipError("KIP_2001", message, "A snapshot holds the definitions of its predicates.")
    for end in (fact.subject, fact.object):
        if end not in known:
            message = f"{iris.id(node)} links {end}, which is no element of the snapshot."
            yield KipError("KIP_3002", message, "Both ends of a proposition must be there.")
    if fact.subject == fact.object:
        yield _broken(fact, "a proposition links two different elements")


def _is_version(value: Literal | NamedNode) -> bool:
    is_integer = isinstance(value, Literal) and value.datatype == vocab.INTEGER
    return is_integer and 1 <= int(value.value) < 2**62


def _of_triples(own: list[Triple], links: set[Triple], iris: Iris) -> Iterator[KipError]:
    """Every triple is a part of an element: an attribute, metadata, or a fact with its link."""
    for triple in own:
        predicate = triple.predicate.value
        if triple.predicate in (vocab.TYPE, vocab.LABEL, vocab.REIFIES):
            continue
        if predicate.startswith(iris.predicates):
            if triple not in links:
                yield _broken(triple, "the fact has no link")
            continue
        spaces = (vocab.ATTRIBUTE, vocab.METADATA)
        space = next((space for space in spaces if predicate.startswith(space)), None)
        if space is None or not is_key(predicate[len(space) :]):
            yield _broken(triple, "its predicate is no attribute, metadata key or predicate")
            continue
        value = triple.object
        if not isinstance(value, Literal | NamedNode) or not is_ours(value):
            why = "values are strings, booleans, 64-bit integers, finite xsd:double, canonical JSON"
            yield _broken(triple, why)
        elif triple.predicate == _SCORE:
            yield _broken(triple, "a score belongs to one search")
        elif triple.predicate == _VERSION and not _is_version(value):
            yield _broken(triple, "a version is an integer from 1, with room to grow")
    counts = Counter(t.predicate for t in own if not t.predicate.value.startswith(iris.predicates))
    for key, count in counts.items():
        if count > 1:
            yield _broken(own[0], f"{key} has {count} values")
