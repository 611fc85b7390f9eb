"""What a set of triples must be to be the dataset of a nexus (docs/mapping.md)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Hashable, Iterable, Iterator
from typing import Any, TypeAlias, cast

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from kiprdf.budget import paced
from kiprdf.errors import KipError
from kiprdf.interchange.staging_store import Counts, Node, StagingStore, node_of
from kiprdf.language.names import IDENTIFIER, META_TYPES, is_definition_name, is_key, name_fault
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, Iris, PropositionName
from kiprdf.rdf.literals import is_ours, normal

_SCORE = NamedNode(vocab.METADATA + "_score")
_VERSION = NamedNode(vocab.METADATA + vocab.VERSION)

Ends: TypeAlias = dict[Hashable, tuple[Hashable, Hashable]]
"""Links, as terms or as their texts, with the ends of their facts."""
_NONE = Counts(0, 0)

_DEFINING = (vocab.TYPE, vocab.LABEL, vocab.REIFIES)
"""What an element is known by; it is looked at element by element."""


def check_dataset(triples: Iterable[Triple] | StagingStore, iris: Iris) -> int:
    """Raise ``KipError`` for the first thing no nexus would have written; count the elements."""
    if not isinstance(triples, StagingStore):
        triples = StagingStore.of(Quad(*triple) for triple in triples)
    elements: list[str] = []
    for fault in faults(triples, iris, elements):
        raise fault
    return len(elements)


def faults(staged: StagingStore, iris: Iris, elements: list[str]) -> Iterator[KipError]:
    """Everything in a dataset that no nexus would have written.

    KIP_2002 for a broken shape, KIP_2001 for an undefined type or predicate, KIP_3002 for an
    endpoint that is missing, KIP_3003 for two links of one fact or two facts of one link.
    ``elements`` is filled with the IRIs of what is the subject of a triple.
    """
    texts = staged.subject_texts()
    elements += [text[1:-1] for text in texts if text[0] == "<"]
    propositions = f"<{iris.propositions}"
    # The engine has an order of its own, by which it should not change what is told first.
    named = sorted(text for text in paced(texts) if not text.startswith(propositions))
    nodes = list(map(node_of, named))
    known = _Known(staged, dict.fromkeys(nodes), iris)
    for node in paced(nodes):
        if isinstance(node, BlankNode):
            yield _broken(known.first(node), "its subject is no IRI")
    if not known.has_sound_links(set(texts)):
        # Which are not, and why, is seen one by one.
        nodes = list(map(node_of, sorted(texts)))
        known = _Known(staged, dict.fromkeys(nodes), iris)
        yield from known.fill_links()
        yield from known.facts()
        yield from _cycles(known.links)
    for node in paced(nodes):
        if isinstance(node, NamedNode):
            yield from known.element(node)
    counts = staged.counts()
    for predicate, (triples, owners) in counts.items():
        if predicate not in _DEFINING and not _is_fact(predicate, iris):
            yield from _of_values(staged, predicate, is_repeated=owners < triples)


def _is_fact(predicate: NamedNode, iris: Iris) -> bool:
    return predicate.value.startswith(iris.predicates)


def _broken(triple: Triple, why: str) -> KipError:
    message = f"{triple} does not belong into a nexus: {why}."
    return KipError(
        "KIP_2002", message, "This takes snapshots of a nexus; foreign RDF is for import_rdf()."
    )


def _cycles(links: dict[NamedNode, Triple]) -> Iterator[KipError]:
    """A proposition may be about another, never, by whatever way, about itself."""
    ends: Ends = {link: (fact.subject, fact.object) for link, fact in links.items()}
    for link in _rings(ends):
        yield _broken(links[cast(NamedNode, link)], "the proposition is about itself")


def _rings(links: Ends) -> Iterator[Hashable]:
    """Links, by their ends, that close a ring."""
    sound: set[Hashable] = set()
    stacked = [one for one, (start, end) in links.items() if start in links or end in links]
    for start in stacked:
        path = {start: _further(start, links)}
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
                path[end] = _further(end, links)


def _further(link: Hashable, links: Ends) -> list[Hashable]:
    """The links among the ends of a link."""
    return [end for end in links[link] if end in links]


class _Known:
    """The elements of a graph by their IRIs, and what makes them elements."""

    def __init__(self, staged: StagingStore, subjects: Container[Node], iris: Iris) -> None:
        self._staged = staged
        self._subjects = subjects
        self._iris = iris
        self._types = _values(staged.match(None, vocab.TYPE))
        self._labels = _values(staged.match(None, vocab.LABEL))
        self.links: dict[NamedNode, Triple] = {}

    def first(self, node: Node) -> Triple:
        """A triple of a node, by which a fault is told."""
        return next(self._staged.match(node, None))

    def fill_links(self) -> Iterator[KipError]:
        """The fact of each link; each fact has one link, each link one fact."""
        stated: dict[Triple, NamedNode] = {}
        for triple in paced(self._staged.match(None, vocab.REIFIES)):
            link: Any = triple.subject
            fact = triple.object
            if not isinstance(fact, Triple):
                yield _broken(triple, "a reifier reifies a triple")
            elif link in self.links or fact in stated:
                # The engine has an order of its own, by which an error should not change.
                both = sorted(map(str, (link, stated.get(fact, link))))
                message = f"{' and '.join(both)} claim one identity."
                yield KipError("KIP_3003", message, "Each fact has one link.")
            else:
                self.links[link], stated[fact] = fact, link

    def has_sound_links(self, subjects: set[str]) -> bool:
        """Whether all links and facts are surely as they must be, seen from their texts.

        What is looked for is what ``fill_links``, ``facts``, ``_cycles`` and ``element`` find.
        """
        counts, iris = self._staged.counts(), self._iris
        reifying = counts.get(vocab.REIFIES, _NONE)
        rows = _sound_rows(self._staged.lines(vocab.REIFIES), iris)
        facts = {(name, subject, value) for _, name, subject, value in rows}
        # Each link has one fact, each fact one link.
        if not reifying.triples == reifying.subjects == len(rows) == len(facts):
            return False
        links: Ends = {link: (subject, value) for link, _, subject, value in rows}
        begun = sum(1 for text in subjects if text.startswith(f"<{iris.propositions}"))
        typed = (self._types, self._labels)
        return (
            begun == len(links)
            and not any(one.value.startswith(iris.propositions) for some in typed for one in some)
            and subjects.issuperset(
                f"<{iris.predicates}{name}>" for name in {row[1] for row in rows}
            )
            and all(subjects.issuperset(ends) and ends[0] != ends[1] for ends in links.values())
            and not any(_rings(links))
            and facts == self._asserted()
        )

    def _asserted(self) -> set[tuple[str, ...]]:
        """The facts that are asserted, by the names of their predicates."""
        found: set[tuple[str, ...]] = set()
        for predicate in self._staged.counts():
            if _is_fact(predicate, self._iris):
                name = predicate.value[len(self._iris.predicates) :]
                found |= {(name, *line.split("\t")) for line in self._staged.lines(predicate)}
        return found

    def facts(self) -> Iterator[KipError]:
        """What is wrong with the facts: each has a link."""
        counts = self._staged.counts().items()
        count = sum(some.triples for name, some in counts if _is_fact(name, self._iris))
        asserted = 0
        for fact in paced(self.links.values()):
            if fact in self._staged:
                asserted += _is_fact(fact.predicate, self._iris)
            else:
                yield _broken(fact, "it is reified but not asserted")
        if asserted < count:
            linked = set(self.links.values())
            for triple in self._staged.match(None, None):
                if _is_fact(triple.predicate, self._iris) and triple not in linked:
                    yield _broken(triple, "the fact has no link")

    def element(self, node: NamedNode) -> Iterator[KipError]:
        """What is wrong with one element."""
        name = self._iris.name(node.value)
        if isinstance(name, PropositionName):
            yield from self._of_link(node, name)
        elif isinstance(name, ConceptName):
            yield from self._of_concept(node, name)
        else:
            yield _broken(self.first(node), f"its subject is no element below <{self._iris.base}>")

    def _of_concept(self, node: NamedNode, name: ConceptName) -> Iterator[KipError]:
        fault = name_fault(name.name)
        if fault is not None or self._iris.concept(name.type, name.name) != node:
            why = f"its name {fault or 'is not encoded as ours are'}"
            yield _broken(self.first(node), why)
        definition = self._iris.type(name.type)
        if name.type not in META_TYPES and definition not in self._subjects:
            message = f"The type of {self._iris.id(node)} is not defined."
            yield KipError("KIP_2001", message, "A snapshot holds the definitions of its types.")
        if name.type in META_TYPES and not is_definition_name(name.type, name.name):
            yield KipError("KIP_1002", f"'{name.name}' cannot be a type or predicate.")
        if self._types.get(node) != definition or self._labels.get(node) != Literal(name.name):
            why = "rdf:type and rdfs:label do not say what its IRI says"
            yield _broken(self.first(node), why)

    def _of_link(self, node: NamedNode, name: PropositionName) -> Iterator[KipError]:
        if node in self._types or node in self._labels:
            why = "a proposition has neither rdf:type nor rdfs:label"
            yield _broken(self.first(node), why)
        fact = self.links.get(node)
        if fact is None:
            yield _broken(self.first(node), "the link reifies nothing")
            return
        subject, predicate, value = fact
        if predicate.value != self._iris.predicates + name.predicate:
            yield _broken(self.first(node), "the link's IRI names another predicate")
        if predicate not in self._subjects:
            message = f"The predicate '{name.predicate}' is not defined."
            hint = "A snapshot holds the definitions of its predicates."
            yield KipError("KIP_2001", message, hint)
        for end in (subject, value):
            if end not in self._subjects:
                message = f"{self._iris.id(node)} links {end}, which is no element of the snapshot."
                yield KipError("KIP_3002", message, "Both ends of a proposition must be there.")
        if subject == value:
            yield _broken(fact, "a proposition links two different elements")


def _sound_rows(lines: list[str], iris: Iris) -> list[tuple[str, str, str, str]]:
    """Each link with the name of its predicate and the ends of its fact, as far as they fit."""
    links, predicates = re.escape(iris.propositions), re.escape(iris.predicates)
    pattern = re.compile(
        rf"^(<{links}[0-9a-f]{{16}}/({IDENTIFIER.pattern})>)\t"
        rf"<<\( (<[^<>\s]+>) <{predicates}\2> (<[^<>\s]+>) \)>>$",
        re.MULTILINE,
    )
    return pattern.findall("\n".join(lines))


def _values(triples: Iterable[Triple]) -> dict[NamedNode, Any]:
    """What each subject has as its object; None where it has several."""
    found: dict[NamedNode, Any] = {}
    for triple in triples:
        subject = cast(NamedNode, triple.subject)
        found[subject] = None if subject in found else triple.object
    return found


def _is_version(value: Literal | NamedNode) -> bool:
    is_integer = isinstance(value, Literal) and value.datatype == vocab.INTEGER
    return is_integer and 1 <= int(value.value) < 2**62


def _of_values(staged: StagingStore, predicate: NamedNode, is_repeated: bool) -> Iterator[KipError]:
    """Every other triple gives an element one value of an attribute or of its metadata."""
    spaces = (vocab.ATTRIBUTE, vocab.METADATA)
    space = next((space for space in spaces if predicate.value.startswith(space)), None)
    if space is None or not is_key(predicate.value[len(space) :]):
        why = "its predicate is no attribute, metadata key or predicate"
        yield from (_broken(triple, why) for triple in staged.match(None, predicate))
        return
    judged = ((term, _fault(term, predicate)) for term in staged.objects(predicate))
    broken = {term: fault for term, fault in judged if fault is not None}
    if broken or is_repeated:
        counts = Counter(triple.subject for triple in staged.match(None, predicate))
        for triple in staged.match(None, predicate):
            if triple.object in broken:
                yield _broken(triple, broken[triple.object])
            if (count := counts.pop(triple.subject, 1)) > 1:
                yield _broken(triple, f"{predicate} has {count} values")


def _fault(term: Any, predicate: NamedNode) -> str | None:
    """Why a term is no value under a key."""
    # The engine gives back a double as it writes it, which is not as we do.
    if not isinstance(term, Literal | NamedNode) or not is_ours(normal(term)):
        return "values are strings, booleans, 64-bit integers, finite xsd:double, canonical JSON"
    if predicate == _SCORE:
        return "a score belongs to one search"
    if predicate == _VERSION and not _is_version(term):
        return "a version is an integer from 1, with room to grow"
    return None
