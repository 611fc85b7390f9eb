"""Metadata as PROV-O and Dublin Core; domains as SKOS concept schemes.

The triples are additional: the ``meta:`` triples of an element or reifier remain unchanged. See
docs/decisions/033-provenance-terms.md for the term of each metadata key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date
from typing import TypeAlias
from uuid import NAMESPACE_URL, uuid5

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.budget import paced
from kiprdf.interchange.forms import iri_of
from kiprdf.interchange.knowledge import (
    DOMAIN,
    Knowledge,
    text_of,
)
from kiprdf.interchange.vocabularies.standards import dc, dcterms, prov, skos, xsd
from kiprdf.language.names import DERIVED_BY, DERIVED_FROM
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Concept, Element, Proposition, attribute, json_map, metadata
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json, canonical_json
from kiprdf.semantics import periods

PREFIXES: dict[str, str] = {"prov": prov, "dcterms": dcterms, "dc": dc, "skos": skos}
"""The prefixes for these triples."""

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(
    r"T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9])?"
)
# "Demo:TrialSummary" looks like an IRI; only these schemes are treated as IRIs.
_WEB = re.compile(r"(https?://|urn:[A-Za-z0-9][A-Za-z0-9-]+:|(tag|info|did|mailto|doi):)\S+")

_Terms: TypeAlias = Callable[[Knowledge, NamedNode, Element], Iterator[Triple]]


def of_elements(knowledge: Knowledge) -> Iterator[Triple]:
    """The provenance of all elements, in the order of their IRIs."""
    for node, element in paced(knowledge.elements.items()):
        yield from of_element(knowledge, element, node)


def of_element(knowledge: Knowledge, element: Element, about: NamedNode) -> Iterator[Triple]:
    """The provenance of one element, said of a resource that stands for it."""
    for terms in _TERMS:
        yield from terms(knowledge, about, element)


def of_domains(knowledge: Knowledge) -> Iterator[Triple]:
    """Each domain as a ``skos:ConceptScheme``, and its members as its concepts."""
    labelled: set[NamedNode] = set()
    for domain in knowledge.by_type.get(DOMAIN, ()):
        yield Triple(domain.node, vocab.TYPE, skos("ConceptScheme"))
        yield from _labels(domain)
        for member in knowledge.members(domain.node):
            yield Triple(member, skos("inScheme"), domain.node)
            if member not in labelled:
                labelled.add(member)
                yield from _scheme_member(knowledge.elements.get(member))


def _scheme_member(element: Element | None) -> Iterator[Triple]:
    """A member as ``skos:Concept``, except a domain: in SKOS no scheme is a concept."""
    if isinstance(element, Concept) and element.type != DOMAIN:
        yield Triple(element.node, vocab.TYPE, skos("Concept"))
        yield from _labels(element)


def _labels(concept: Concept) -> Iterator[Triple]:
    yield Triple(concept.node, skos("prefLabel"), Literal(concept.name))
    aliases = attribute(concept, "aliases")
    for alias in dict.fromkeys(_texts(aliases)):
        if alias != concept.name:
            yield Triple(concept.node, skos("altLabel"), Literal(alias))
    for key, term in (("description", "definition"), ("scope_note", "scopeNote")):
        text = text_of(concept, key)
        if text is not None:
            yield Triple(concept.node, skos(term), Literal(text))


# Valid time -------------------------------------------------------------------------------------


def of_intervals(knowledge: Knowledge) -> Iterator[Triple]:
    """Each fact that has intervals, and a reifier of it for each of them."""
    iris = knowledge.iris
    for node, element in paced(knowledge.elements.items()):
        if not isinstance(element, Proposition):
            continue
        fact = Triple(element.subject, iris.predicate(element.predicate), element.object)
        intervals = periods.of_element(json_map(element.metadata), _periods_of(knowledge, node))
        if intervals:
            yield fact
        for interval in intervals:
            reifier = NamedNode(f"{node.value}#{interval.name}")
            yield Triple(reifier, vocab.REIFIES, fact)
            yield Triple(reifier, dcterms("valid"), dcmi_period(interval.start, interval.end))
            for term, end in (
                ("generatedAtTime", interval.start),
                ("invalidatedAtTime", interval.end),
            ):
                if end is not None:
                    moment = end if "T" in end else f"{end}T00:00:00Z"
                    yield Triple(reifier, prov(term), Literal(moment, datatype=xsd("dateTime")))


def _periods_of(knowledge: Knowledge, node: NamedNode) -> list[ConceptName]:
    facts = knowledge.facts_from.get(node, ())
    during = (fact.object for fact in facts if fact.predicate == periods.PREDICATE)
    names = (knowledge.iris.name(period.value) for period in during)
    return [name for name in names if isinstance(name, ConceptName)]


def dcmi_period(start: str | None, end: str | None) -> Literal:
    """A DCMI Period, whose ends are dates and times of the W3C."""
    ends = (("start", start), ("end", end))
    parts = [f"{name}={moment};" for name, moment in ends if moment is not None]
    return Literal(" ".join((*parts, "scheme=W3C-DTF;")), datatype=dcterms("Period"))


# Metadata ---------------------------------------------------------------------------------------


def _source(knowledge: Knowledge, node: NamedNode, element: Element) -> Iterator[Triple]:
    """``source`` and ``evidence``: a resource if they name one, otherwise a literal."""
    for key, iri_term in (("source", "source"), ("evidence", "references")):
        for text in dict.fromkeys(_texts(metadata(element, key))):
            resource = resource_of(knowledge, text)
            if resource is None:
                yield Triple(node, dc("source"), Literal(text))
            else:
                yield Triple(node, dcterms(iri_term), resource)
                yield Triple(node, prov("wasDerivedFrom"), resource)


def of_author(knowledge: Knowledge, node: NamedNode, element: Element) -> Iterator[Triple]:
    """``author``: an agent if it is an IRI or a Person of this dataset, otherwise a literal."""
    for text in dict.fromkeys(_texts(metadata(element, "author"))):
        agent = knowledge.person(text) or resource_of(knowledge, text)
        if agent is None:
            yield Triple(node, dc("creator"), Literal(text))
        else:
            yield Triple(node, dcterms("creator"), agent)
            yield Triple(node, prov("wasAttributedTo"), agent)


def _times(knowledge: Knowledge, node: NamedNode, element: Element) -> Iterator[Triple]:
    """The times of creation, entry, change and observation."""
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


def _validity(knowledge: Knowledge, node: NamedNode, element: Element) -> Iterator[Triple]:
    """``valid_from`` and ``valid_until`` as one DCMI Period; the end as PROV's invalidation."""
    values = (metadata(element, key) for key in (periods.VALID_FROM, periods.VALID_UNTIL))
    start, end = (
        value if isinstance(value, str) and time_literal(value) else None for value in values
    )
    if start or end:
        yield Triple(node, dcterms("valid"), dcmi_period(start, end))
    invalid = _first_moment(element, "valid_until", "superseded_at")
    if invalid is not None:
        yield Triple(node, prov("invalidatedAtTime"), invalid)


def _succession(knowledge: Knowledge, node: NamedNode, element: Element) -> Iterator[Triple]:
    """``superseded_by``: the successor is a revision. ``_merged_from``: the replaced concepts."""
    for text in dict.fromkeys(_texts(metadata(element, "superseded_by"))):
        successor = resource_of(knowledge, text)
        if successor is not None:
            yield Triple(node, dcterms("isReplacedBy"), successor)
            yield Triple(successor, prov("wasRevisionOf"), node)
    for text in dict.fromkeys(_texts(metadata(element, vocab.MERGED_FROM))):
        type_name, colon, name = text.partition(":")
        if colon and type_name and name:
            former = knowledge.iris.concept(type_name, name)
            yield Triple(node, dcterms("replaces"), former)


def _derivation(knowledge: Knowledge, node: NamedNode, element: Element) -> Iterator[Triple]:
    """What an element is ``derived_from``; the rule that it is ``derived_by``: an activity."""
    for fact in knowledge.facts_from.get(element.node, ()):
        if fact.predicate == DERIVED_FROM:
            yield Triple(node, prov("wasDerivedFrom"), fact.object)
    for rule in dict.fromkeys(_texts(metadata(element, DERIVED_BY))):
        name = uuid5(NAMESPACE_URL, canonical_json([knowledge.iris.base, DERIVED_BY, rule]))
        activity = NamedNode(name.urn)
        yield Triple(node, prov("wasGeneratedBy"), activity)
        yield Triple(activity, vocab.TYPE, prov("Activity"))
        yield Triple(activity, dcterms("description"), Literal(rule))


_TERMS: tuple[_Terms, ...] = (_source, of_author, _times, _validity, _succession, _derivation)


# Terms and values -----------------------------------------------------------------------------


def resource_of(knowledge: Knowledge, text: str) -> NamedNode | None:
    """The IRI of an element with this id or IRI, or the text itself if it is a web IRI."""
    node = knowledge.element_named(text)
    if node is not None or not _WEB.fullmatch(text):
        return node
    iri = iri_of(text)
    return None if iri is None else NamedNode(iri)


def time_literal(value: Json) -> Literal | None:
    """An ISO time or date as xsd:dateTime or xsd:date, spelled as given; None for others.

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
    """The first of several metadata values that is a dateTime, as PROV requires."""
    literals = (time_literal(metadata(element, key)) for key in keys)
    moments = (one for one in literals if one is not None and "T" in one.value)
    return next(moments, None)


def _texts(value: Json) -> list[str]:
    """The non-blank strings of a value that is a string or an array."""
    values = value if isinstance(value, list) else [value]
    return [one for one in values if isinstance(one, str) and one.strip()]
