"""The context of a nexus: the IRIs that its types, predicates and keys came with (decisions/079).

It is a mapping like any other, made from the definitions, which imports or their authors gave
``iri`` and the rules of keys.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

from kiprdf.errors import KipError
from kiprdf.interchange.mapping.contexts import Mapping as Words
from kiprdf.interchange.mapping.reader import iri_fault
from kiprdf.interchange.mapping.terms import MAPS
from kiprdf.interchange.vocabularies.schema import definitions
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import Json
from kiprdf.store import Store

_COERCIONS = {"datatype": "@type", "language": "@language", "direction": "@direction"}


def context(store: Store) -> dict[str, Any]:
    """The context of a nexus as JSON-LD, terms in alphabetical order.

    A rule that several definitions have for metadata, or for attributes of propositions, is that
    of the first of them. What is not a usable IRI is left out;
    so are datatypes that a mapping may not have: their values keep them.
    """
    top: dict[str, Any] = {}
    nested: dict[str, dict[str, Any]] = {"attributes": {}, "metadata": {}}
    for concept, attributes in definitions(store, "$ConceptType"):
        rules = dict(_rules(attributes, "instance_schema"))
        name = _term({"iri": attributes.get("name_iri")})
        if name is not None:
            rules.setdefault("name", name)
        term = _term(attributes)
        if term is not None:
            top[concept.name] = {**term, "@context": rules} if rules else term
        _add(nested["metadata"], _rules(attributes, "metadata_schema"))
    for concept, attributes in definitions(store, "$PropositionType"):
        term = _term(attributes)
        if term is not None:
            top.setdefault(concept.name, {**term, "@type": "@id"})
        _add(nested["attributes"], _rules(attributes, "instance_schema"))
        _add(nested["metadata"], _rules(attributes, "metadata_schema"))
    for part, rules in nested.items():
        inner = {"@context": dict(sorted(rules.items()))} if rules else {}
        top[part] = {"@id": "@nest", **inner}
    return {"@context": {"@version": 1.1, **dict(sorted(top.items()))}}


def _add(terms: dict[str, Any], rules: Iterator[tuple[str, dict[str, str]]]) -> None:
    for key, term in rules:
        terms.setdefault(key, term)


def _rules(attributes: Mapping[str, Json], schema: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The terms of the keys of one schema."""
    rules = attributes.get(schema)
    for key, rule in sorted(rules.items()) if isinstance(rules, dict) else ():
        term = _term(rule) if isinstance(rule, dict) else None
        if term is not None and key not in MAPS:
            yield key, term


@functools.lru_cache(maxsize=1_024)
def _is_usable(keyword: str, value: str) -> bool:
    """Whether a mapping may have a datatype, a language or a direction, as data may."""
    try:
        Words.load({"@context": {"key": {"@id": vocab.LABEL.value, keyword: value}}})
    except KipError:
        return False
    return True


def _term(rule: Mapping[str, Json]) -> dict[str, str] | None:
    """The definition of a term; None without an IRI that a mapping may have."""
    iri = rule.get("iri")
    if not isinstance(iri, str) or iri_fault(iri) is not None:
        return None
    term = {"@id": iri}
    for name, keyword in _COERCIONS.items():
        value = rule.get(name)
        if isinstance(value, str) and _is_usable(keyword, value):
            term[keyword] = value
    if rule.get("container") == "@list":
        term["@container"] = "@list"
    return term
