"""A description of the published dataset in VoID and DCAT, with exact counts.

The counts are those of the RDF 1.1 graph, in which a proposition is a triple and its
``rdf:Statement``. Each file is a distribution; a file in RDF 1.2 is described as another format of
the same dataset, with its own number of triples.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from typing import cast

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError, shown
from kiprdf.interchange.forms import iri_of
from kiprdf.interchange.provenance import time_literal
from kiprdf.interchange.vocabularies.standards import Namespace, dcterms, foaf
from kiprdf.rdf import vocab

void = Namespace("http://rdfs.org/ns/void#")
dcat = Namespace("http://www.w3.org/ns/dcat#")
MEDIA_TYPE = "https://www.iana.org/assignments/media-types/"
SYNTAX = "http://www.w3.org/ns/formats/"

PREFIXES: dict[str, str] = {
    "void": void,
    "dcat": dcat,
    "foaf": foaf,
    "dcterms": dcterms,
    "rdf": vocab.RDF,
    "xsd": vocab.XSD,
}
"""The prefixes for a description."""

EXAMPLES = 5
"""The number of example resources."""

PLACE = re.compile("[A-Za-z][A-Za-z0-9+.-]*://[^?#]+")
"""An address to which file names can be appended."""

_TYPED = NamedNode(vocab.XSD + "nonNegativeInteger")
_UPDATED = NamedNode(vocab.METADATA + vocab.UPDATED_AT)
_NAMESPACE = re.compile(r".*[/#]")


@dataclass
class Counts:
    """The counts of a graph as VoID defines them."""

    triples: int = 0
    subjects: set[str] = field(default_factory=set)
    objects: set[object] = field(default_factory=set)
    classes: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    properties: Counter[str] = field(default_factory=Counter)
    modified: str | None = None

    @classmethod
    def of(cls, triples: Iterable[Triple]) -> Counts:
        """Count a graph; the triples must be distinct."""
        counts = cls()
        for triple in triples:
            counts.triples += 1
            subject = str(triple.subject)
            counts.subjects.add(subject)
            counts.objects.add(triple.object)
            counts.properties[triple.predicate.value] += 1
            if triple.predicate == vocab.TYPE:
                counts.classes[cast(NamedNode, triple.object).value].add(subject)
            elif triple.predicate == _UPDATED:
                value = cast(Literal, triple.object).value
                counts.modified = max(counts.modified or value, value)
        return counts


@dataclass(frozen=True, slots=True)
class Dump:
    """A file with the dataset: its name in the folder, its title and type, its size in bytes.

    ``triples`` is set only for a file whose graph is not the described one, such as RDF 1.2.
    """

    name: str
    title: str
    media_type: str
    syntax: str
    size: int = 0
    triples: int | None = None


@dataclass(frozen=True, slots=True)
class About:
    """What describes a dataset to people: its title, a text, its publisher and its license.

    The license is an IRI, the publisher a name or an IRI.
    """

    title: str = ""
    description: str | None = None
    publisher: str | None = None
    license: str | None = None

    def __post_init__(self) -> None:
        if self.license is not None and iri_of(self.license) is None:
            message = f"The license {shown(self.license)!r} is not an IRI."
            hint = 'Give its address, such as "https://creativecommons.org/licenses/by/4.0/".'
            raise KipError("KIP_1001", message, hint)

    def titled(self, title: str) -> About:
        """The same, with this title if it has none."""
        return self if self.title else replace(self, title=title)


def describe(
    counts: Counts,
    base: str,
    *,
    about: About,
    address: str | None = None,
    dumps: Sequence[Dump] = (),
    examples: Iterable[NamedNode] = (),
    roots: Iterable[NamedNode] = (),
) -> list[Triple]:
    """A VoID and DCAT description, without blank nodes, grouped by subject.

    ``base`` is the prefix of the IRIs of the dataset, ``address`` the location of its files (by
    default the base). The dataset is ``{address}void.ttl#dataset``. If the address is not a
    location, as ``urn:kip:nexus/`` is not, the description contains no download links.
    ``examples`` and ``roots`` become ``void:exampleResource`` and ``void:rootResource``.
    """
    description = _Description(counts, base, about, address or base)
    return _grouped(list(description.triples(dumps, examples, roots)))


def _grouped(triples: list[Triple]) -> list[Triple]:
    """Triples grouped by subject and predicate, in the order of their first occurrence."""
    order: dict[object, int] = {}
    for triple in triples:
        order.setdefault(triple.subject, len(order))
        order.setdefault(triple.predicate, len(order))
    return sorted(triples, key=lambda triple: (order[triple.subject], order[triple.predicate]))


class _Description:
    def __init__(self, counts: Counts, base: str, about: About, address: str) -> None:
        self._counts = counts
        self._base = base
        self._about = about
        self._address = address
        self._has_location = PLACE.fullmatch(address) is not None
        self._dataset = self._node("dataset")

    def triples(
        self, dumps: Sequence[Dump], examples: Iterable[NamedNode], roots: Iterable[NamedNode]
    ) -> Iterator[Triple]:
        document = NamedNode(f"{self._address}void.ttl")
        yield Triple(document, vocab.TYPE, void("DatasetDescription"))
        yield Triple(document, dcterms("title"), Literal(self._about.title))
        yield Triple(document, foaf("primaryTopic"), self._dataset)
        yield from self._of_dataset(dumps, examples, roots)
        members = {iri: len(nodes) for iri, nodes in self._counts.classes.items()}
        yield from self._partitions("class", members)
        yield from self._partitions("property", self._counts.properties)
        for dump in dumps:
            yield from self._distribution(dump)

    def _of_dataset(
        self, dumps: Sequence[Dump], examples: Iterable[NamedNode], roots: Iterable[NamedNode]
    ) -> Iterator[Triple]:
        about = self._dataset
        for kind in (void("Dataset"), dcat("Dataset")):
            yield Triple(about, vocab.TYPE, kind)
        yield Triple(about, dcterms("title"), Literal(self._about.title))
        yield from self._publication()
        modified = time_literal(self._counts.modified)
        if modified is not None:
            yield Triple(about, dcterms("modified"), modified)
        if self._has_location:
            yield Triple(about, dcat("landingPage"), NamedNode(f"{self._address}index.html"))
        yield Triple(about, void("uriSpace"), Literal(self._base))
        yield from self._numbers()
        for namespace in self._vocabularies():
            yield Triple(about, void("vocabulary"), NamedNode(namespace))
        for term, nodes in (("exampleResource", examples), ("rootResource", roots)):
            for node in nodes:
                yield Triple(about, void(term), node)
        for dump in dumps:
            yield Triple(about, dcat("distribution"), self._node(dump.name))
            if dump.triples is None:
                yield from self._dump_of(about, dump)

    def _publication(self) -> Iterator[Triple]:
        about, publisher = self._about, self._about.publisher
        if about.description:
            yield Triple(self._dataset, dcterms("description"), Literal(about.description))
        if about.license:
            yield Triple(self._dataset, dcterms("license"), NamedNode(about.license))
        if publisher and iri_of(publisher):
            yield Triple(self._dataset, dcterms("publisher"), NamedNode(publisher))
        elif publisher:
            agent = self._node("publisher")
            yield Triple(self._dataset, dcterms("publisher"), agent)
            yield Triple(agent, vocab.TYPE, foaf("Agent"))
            yield Triple(agent, foaf("name"), Literal(publisher))

    def _numbers(self) -> Iterator[Triple]:
        counts = self._counts
        numbers = {
            "triples": counts.triples,
            "entities": len(counts.subjects),
            "classes": len(counts.classes),
            "properties": len(counts.properties),
            "distinctSubjects": len(counts.subjects),
            "distinctObjects": len(counts.objects),
        }
        for term, number in numbers.items():
            yield _number(self._dataset, void(term), number)

    def _partitions(self, kind: str, numbers: dict[str, int]) -> Iterator[Triple]:
        """A partition for each class, with its entities, or property, with its triples."""
        counted = "entities" if kind == "class" else "triples"
        for index, iri in enumerate(sorted(numbers), start=1):
            part = self._node(f"{kind}-{index}")
            yield Triple(self._dataset, void(f"{kind}Partition"), part)
            yield Triple(part, void(kind), NamedNode(iri))
            yield _number(part, void(counted), numbers[iri])

    def _vocabularies(self) -> list[str]:
        """The namespaces of all classes and properties, including those of the nexus."""
        used = {*self._counts.classes, *self._counts.properties}
        return sorted({match.group() for iri in used if (match := _NAMESPACE.match(iri))})

    def _distribution(self, dump: Dump) -> Iterator[Triple]:
        about = self._node(dump.name)
        media_type = NamedNode(MEDIA_TYPE + dump.media_type)
        yield Triple(about, vocab.TYPE, dcat("Distribution"))
        yield Triple(about, dcterms("title"), Literal(dump.title))
        if self._about.license:
            yield Triple(about, dcterms("license"), NamedNode(self._about.license))
        if self._has_location:
            yield Triple(about, dcat("downloadURL"), NamedNode(self._address + dump.name))
        yield Triple(about, dcat("mediaType"), media_type)
        yield _number(about, dcat("byteSize"), dump.size)
        if dump.triples is not None:
            form = self._node(f"{dump.name}-dataset")
            yield Triple(form, vocab.TYPE, void("Dataset"))
            yield Triple(form, dcterms("isFormatOf"), self._dataset)
            yield _number(form, void("triples"), dump.triples)
            yield from self._dump_of(form, dump)

    def _dump_of(self, dataset: NamedNode, dump: Dump) -> Iterator[Triple]:
        yield Triple(dataset, void("feature"), NamedNode(SYNTAX + dump.syntax))
        if self._has_location:
            yield Triple(dataset, void("dataDump"), NamedNode(self._address + dump.name))

    def _node(self, name: str) -> NamedNode:
        return NamedNode(f"{self._address}void.ttl#{name}")


def _number(subject: NamedNode, term: NamedNode, number: int) -> Triple:
    return Triple(subject, term, Literal(str(number), datatype=_TYPED))
