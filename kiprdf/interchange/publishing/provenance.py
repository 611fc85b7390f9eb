"""Where knowledge comes from, in PROV-O and Dublin Core; domains as SKOS concept schemes.

The triples are additions: they stand beside the ``meta:`` triples of an element or a reifier,
which keep every value. Which term each metadata key becomes, and why a text without an IRI gets
none, is decided in docs/decisions/033-provenance-terms.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import date
from typing import TypeAlias

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.budget import paced
from kiprdf.interchange.publishing.knowledge import (
    DOMAIN,
    Knowledge,
    attribute,
    metadata,
    text_of,
)
from kiprdf.interchange.vocabularies.standards import SKOS, skos, xsd
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Concept, Element
from kiprdf.rdf.iris import Iris
from kiprdf.rdf.literals import Json

PROV = "http://www.w3.org/ns/prov#"
DCTERMS = "http://purl.org/dc/terms/"
DC = "http://purl.org/dc/elements/1.1/"
DQV = "http://www.w3.org/ns/dqv#"

PREFIXES = {"prov": PROV, "dcterms": DCTERMS, "dc": DC, "skos": SKOS, "dqv": DQV}
"""The prefixes that people read these triples by."""

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(
    r"T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9])?"
)
# "Demo:TrialSummary" has the form of an IRI; only these schemes say that one is meant.
_WEB = re.compile(r"(https?://|urn:[A-Za-z0-9][A-Za-z0-9-]+:|(tag|info|did|mailto|doi):)\S+")

_Terms: TypeAlias = Callable[[Knowledge, NamedNode, Element], Iterator[Triple]]


def provenance(triples: Iterable[Triple], iris: Iris) -> Iterator[Triple]:
    """The triples to add to a dataset so that PROV-O and Dublin Core tools read its metadata.

    The triples given are those of a store, a domain or a selection; an author is the Person of
    that name if that Person is among them. Sorted by subject.
    """
    yield from of_elements(Knowledge.of(triples, iris))


def of_elements(known: Knowledge) -> Iterator[Triple]:
    """The same of elements that have been read already."""
    for node, element in paced(known.elements.items()):
        for terms in _TERMS:
            yield from terms(known, node, element)


def of_domains(known: Knowledge) -> Iterator[Triple]:
    """Each domain as a ``skos:ConceptScheme``, and what is filed under it as its concepts."""
    filed: set[NamedNode] = set()
    for domain in known.by_type.get(DOMAIN, ()):
        yield Triple(domain.node, vocab.TYPE, skos("ConceptScheme"))
        yield from _labels(domain)
        for member in known.members(domain.node):
            yield Triple(member, skos("inScheme"), domain.node)
            if member not in filed:
                filed.add(member)
                yield from _scheme_member(known.elements.get(member))


def _scheme_member(element: Element | None) -> Iterator[Triple]:
    """SKOS has schemes and concepts apart, so that a domain in a domain is no concept."""
    if isinstance(element, Concept) and element.type != DOMAIN:
        yield Triple(element.node, vocab.TYPE, skos("Concept"))
        yield from _labels(element)


def _labels(concept: Concept) -> Iterator[Triple]:
    yield Triple(concept.node, skos("prefLabel"), Literal(concept.name))
    aliases = attribute(concept, "aliases")
    for alias in dict.fromkeys(_texts(aliases)):
        if alias != concept.name:
            yield Triple(concept.node, skos("altLabel"), Literal(alias))
    definition = text_of(concept, "description")
    if definition is not None:
        yield Triple(concept.node, skos("definition"), Literal(definition))
    scope = text_of(concept, "scope_note")
    if scope is not None:
        yield Triple(concept.node, skos("scopeNote"), Literal(scope))


# Metadata ---------------------------------------------------------------------------------------


def _source(known: Knowledge, node: NamedNode, element: Element) -> Iterator[Triple]:
    """``source`` and ``evidence``: what it was derived from; a text without an IRI stays a text."""
    for key, iri_term in (("source", "source"), ("evidence", "references")):
        for text in dict.fromkeys(_texts(metadata(element, key))):
            resource = resource_of(known, text)
            if resource is None:
                yield Triple(node, NamedNode(DC + "source"), Literal(text))
            else:
                yield Triple(node, dcterms(iri_term), resource)
                yield Triple(node, prov("wasDerivedFrom"), resource)


def _author(known: Knowledge, node: NamedNode, element: Element) -> Iterator[Triple]:
    """``author``: an agent if an IRI or a Person of this dataset is named, otherwise a text."""
    for text in dict.fromkeys(_texts(metadata(element, "author"))):
        agent = known.person(text) or resource_of(known, text)
        if agent is None:
            yield Triple(node, NamedNode(DC + "creator"), Literal(text))
        else:
            yield Triple(node, dcterms("creator"), agent)
            yield Triple(node, prov("wasAttributedTo"), agent)


def _times(known: Knowledge, node: NamedNode, element: Element) -> Iterator[Triple]:
    """When it came to be, was entered here, changed and observed."""
    for key, term in _TIMES.items():
        literal = time_literal(metadata(element, key))
        if literal is not None:
            yield Triple(node, dcterms(term), literal)
    generated = _first_moment(element, "created_at", vocab.CREATED_AT)
    if generated is not None:
        yield Triple(node, prov("generatedAtTime"), generated)


_TIMES = {
    "created_at": "created",
    "observed_at": "date",
    vocab.CREATED_AT: "dateSubmitted",
    vocab.UPDATED_AT: "modified",
}


def _validity(known: Knowledge, node: NamedNode, element: Element) -> Iterator[Triple]:
    """``valid_from`` and ``valid_until`` as one DCMI Period; the end as PROV's invalidation."""
    ends = {"start": metadata(element, "valid_from"), "end": metadata(element, "valid_until")}
    said = [f"{name}={end};" for name, end in ends.items() if time_literal(end) is not None]
    if said:
        period = Literal(" ".join((*said, "scheme=W3C-DTF;")), datatype=dcterms("Period"))
        yield Triple(node, dcterms("valid"), period)
    invalid = _first_moment(element, "valid_until", "superseded_at")
    if invalid is not None:
        yield Triple(node, prov("invalidatedAtTime"), invalid)


def _succession(known: Knowledge, node: NamedNode, element: Element) -> Iterator[Triple]:
    """``superseded_by``: its successor is a revision of it. ``_merged_from``: what it replaces."""
    for text in dict.fromkeys(_texts(metadata(element, "superseded_by"))):
        successor = resource_of(known, text)
        if successor is not None:
            yield Triple(node, dcterms("isReplacedBy"), successor)
            yield Triple(successor, prov("wasRevisionOf"), node)
    for text in dict.fromkeys(_texts(metadata(element, vocab.MERGED_FROM))):
        type_name, colon, name = text.partition(":")
        if colon and type_name and name:
            former = known.iris.concept(type_name, name)
            yield Triple(node, dcterms("replaces"), former)


def _confidence(known: Knowledge, node: NamedNode, element: Element) -> Iterator[Triple]:
    """``confidence`` as a measurement of quality, which W3C's DQV adds to PROV and DCAT."""
    value = element.metadata.get("confidence")
    if not isinstance(value, Literal) or value.datatype not in (vocab.DOUBLE, vocab.INTEGER):
        return
    measurement = NamedNode(f"{node.value}#confidence")
    metric = NamedNode(vocab.METADATA + "confidence")
    yield Triple(node, dqv("hasQualityMeasurement"), measurement)
    yield Triple(measurement, vocab.TYPE, dqv("QualityMeasurement"))
    yield Triple(measurement, dqv("isMeasurementOf"), metric)
    yield Triple(measurement, dqv("value"), value)


_TERMS: tuple[_Terms, ...] = (_source, _author, _times, _validity, _succession, _confidence)


# Terms and values -----------------------------------------------------------------------------


def prov(name: str) -> NamedNode:
    return NamedNode(PROV + name)


def dcterms(name: str) -> NamedNode:
    return NamedNode(DCTERMS + name)


def dqv(name: str) -> NamedNode:
    return NamedNode(DQV + name)


def resource_of(known: Knowledge, text: str) -> NamedNode | None:
    """The IRI a text is: of an element here, by id or IRI, or of something on the web."""
    found = known.named(text)
    if found is not None or not _WEB.fullmatch(text):
        return found
    try:
        return NamedNode(text)
    except ValueError:
        return None


def time_literal(value: Json) -> Literal | None:
    """An ISO time or date as xsd:dateTime or xsd:date, with its spelling; None for others.

    >>> time_literal("2026-01-01").datatype.value
    'http://www.w3.org/2001/XMLSchema#date'
    """
    if not isinstance(value, str) or not _DATE.fullmatch(value[:10]):
        return None
    with suppress(ValueError):
        date.fromisoformat(value[:10])
        if len(value) == 10:
            return Literal(value, datatype=xsd("date"))
        if _TIME.fullmatch(value[10:]):
            return Literal(value, datatype=xsd("dateTime"))
    return None


def _first_moment(element: Element, *keys: str) -> Literal | None:
    """The first of several metadata that is a moment; PROV's times are no dates."""
    literals = (time_literal(metadata(element, key)) for key in keys)
    moments = (one for one in literals if one is not None and "T" in one.value)
    return next(moments, None)


def _texts(value: Json) -> list[str]:
    """The texts of a value that is one or an array of some."""
    values = value if isinstance(value, list) else [value]
    return [one for one in values if isinstance(one, str) and one.strip()]
