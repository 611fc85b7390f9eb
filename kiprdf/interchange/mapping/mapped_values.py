"""The values of KIP as a mapping writes them, and back."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from typing import Any

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.interchange.mapping import limits
from kiprdf.interchange.mapping.contexts import Term
from kiprdf.interchange.mapping.datatypes import fits
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import DIRECTIONS, canonical_json, is_ours, normal, to_json, to_term

_FIRST = NamedNode(vocab.RDF + "first")
_REST = NamedNode(vocab.RDF + "rest")
_NIL = NamedNode(vocab.RDF + "nil")
_NATIVE = (vocab.STRING, vocab.INTEGER, vocab.DOUBLE, vocab.BOOLEAN, vocab.JSON)
"""Datatypes of which a literal is a value of KIP as it stands."""
_OF_LANGUAGES = (vocab.LANG_STRING, vocab.DIR_LANG_STRING)
"""Datatypes that no literal has without a language; parsers refuse it."""


def forms(term: Term, value: Literal | NamedNode, base: str) -> list[Literal | NamedNode]:
    """A value as the mapping writes it: one form, more for an array, none for null.

    >>> from kiprdf.interchange.mapping.contexts import Mapping
    >>> born = Mapping.load({"@context": {
    ...     "born": {"@id": "https://schema.org/birthDate",
    ...              "@type": "http://www.w3.org/2001/XMLSchema#date"}}}).attribute("born")
    >>> [str(form) for form in forms(born, Literal("1815-12-23"), "urn:kip:nexus/")]
    ['"1815-12-23"^^<http://www.w3.org/2001/XMLSchema#date>']
    """
    if value == vocab.NULL:
        return []
    if term.datatype == vocab.JSON:
        return [Literal(canonical_json(to_json(value)), datatype=vocab.JSON)]
    items = [value]
    if isinstance(value, Literal) and value.datatype == vocab.JSON:
        array = to_json(value)
        if isinstance(array, list):
            items = [to_term(item) for item in array]
    found = (_form(term, item, base) for item in items)
    return [form for form in found if form is not None]


def _form(term: Term, value: Literal | NamedNode, base: str) -> Literal | NamedNode | None:
    if isinstance(value, NamedNode):
        return None
    if value.language is None and value.datatype == vocab.STRING:
        return _text(term, value, base)
    if value.language is None and value.datatype == vocab.JSON:
        return _object(value, base)
    if value.datatype in _NATIVE and term.datatype and fits(value.value, term.datatype):
        return _typed(value.value, term.datatype)
    return value


def _text(term: Term, value: Literal, base: str) -> Literal | NamedNode | None:
    text = value.value
    if term.is_iri:
        node = _node(text)
        return value if node is None else None if _is_within(node, base) else node
    if term.datatype is not None:
        return _typed(text, term.datatype) if fits(text, term.datatype) else value
    if term.language is not None:
        direction = DIRECTIONS.get(term.direction or "")
        return Literal(text, language=term.language, direction=direction)
    return value


def _typed(text: str, datatype: NamedNode) -> Literal:
    literal = normal(Literal(text, datatype=datatype))
    assert isinstance(literal, Literal)
    return literal


def _object(value: Literal, base: str) -> Literal | NamedNode | None:
    """An object of JSON-LD's as the node or literal it describes; others stay JSON."""
    found: Any = to_json(value)
    if not isinstance(found, dict):
        return value
    if set(found) == {"@id"} and isinstance(found["@id"], str):
        node = _node(found["@id"])
        return value if node is None else None if _is_within(node, base) else node
    if set(found) == {"@value", "@type"}:
        text, datatype = found["@value"], _node(found["@type"])
        if datatype is None or datatype in (*_NATIVE, *_OF_LANGUAGES):
            return value
        if isinstance(text, str) and fits(text, datatype):
            return _typed(text, datatype)
    return value


def _node(text: Any) -> NamedNode | None:
    """The node of an absolute IRI; None for other texts, and for what is too long to be read."""
    if isinstance(text, str) and len(text) <= limits.IRI:
        with suppress(ValueError):
            return NamedNode(text)
    return None


def _is_within(node: NamedNode, base: str) -> bool:
    """Whether a node means something to the nexus itself, and would not pass for a mere value."""
    return node.value.startswith((base, "urn:kip:"))


def value_of(term: Term, form: object, base: str) -> Literal | NamedNode | None:
    """The value that a form stands for; None when KIP has no such value."""
    if isinstance(form, NamedNode):
        if _is_within(form, base):
            return None
        return Literal(form.value) if term.is_iri else to_term({"@id": form.value})
    if not isinstance(form, Literal):
        return None
    with suppress(LookupError, ValueError, RecursionError):
        value = _literal_value(term, form)
        return value if is_ours(value) else None
    return None


def _literal_value(term: Term, form: Literal) -> Literal | NamedNode:
    if form.datatype == vocab.JSON == term.datatype:
        return to_term(json.loads(form.value))
    if coerces(term, form) and (form.language or form.datatype not in _NATIVE):
        return Literal(form.value)
    return to_term(to_json(form))


def coerces(term: Term, form: object) -> bool:
    """Whether a form is what the term makes of a string."""
    if not isinstance(form, Literal):
        return isinstance(form, NamedNode) and term.is_iri
    if form.language is not None:
        direction = DIRECTIONS.get(term.direction or "")
        return form.language == term.language and form.direction == direction
    plain = term.language is None and not term.is_iri
    return plain and form.datatype == (term.datatype or vocab.STRING)


def list_cells(items: list[Literal | NamedNode], seed: str) -> tuple[NamedNode, list[Triple]]:
    """The head of an ``rdf:List`` and its cells, whose IRIs are made from the seed."""
    digits = hashlib.sha256(seed.encode()).hexdigest()[:16]
    nodes = [NamedNode(f"{vocab.LIST}{digits}/{number}") for number in range(len(items))] + [_NIL]
    cells: list[Triple] = []
    for node, item, rest in zip(nodes, items, nodes[1:], strict=False):
        cells += (Triple(node, _FIRST, item), Triple(node, _REST, rest))
    return nodes[0], cells
