"""RDF terms as expanded JSON-LD, and back: how imports note terms, and values of a Wikibase."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import cast

from pyoxigraph import Literal, NamedNode

from kiprdf.interchange.importing.external import LIST, Items, Object
from kiprdf.interchange.mapping.datatypes import fits
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import DIRECTIONS, Json, canonical_json, to_json

UNCHANGED = (vocab.STRING, vocab.INTEGER, vocab.BOOLEAN, vocab.DOUBLE)
"""The datatypes that the values of KIP have by themselves."""


def form(term: Object) -> dict[str, Json]:
    """A term as expanded JSON-LD.

    >>> form(Literal("1.10", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#decimal")))
    {'@value': '1.10', '@type': 'http://www.w3.org/2001/XMLSchema#decimal'}
    """
    if isinstance(term, Items):
        return {"@list": [form(item) for item in term.terms], **_of_cells(term)}
    if isinstance(term, Literal):
        if term.language is not None:
            value: dict[str, Json] = to_json(term)
            return value
        is_string = term.datatype == vocab.STRING
        return {"@value": term.value} | ({} if is_string else {"@type": term.datatype.value})
    assert isinstance(term, NamedNode)
    return {"@id": term.value}


def _of_cells(items: Items) -> dict[str, Json]:
    """What is unusual about the cells of a list."""
    typed = [number if iri == LIST.value else [number, iri] for number, iri in items.typed]
    cells: dict[str, Json] = {"cells": [*items.cells], "typed": typed, "copy": items.copy}
    cells["container"] = items.container
    return {key: value for key, value in cells.items() if value}


def term_of(form: Mapping[str, Json]) -> Object:
    """The term of expanded JSON-LD; the inverse of ``form``.

    Raises ValueError, TypeError, KeyError or AttributeError for JSON that was changed by hand.
    """
    if "@list" in form:
        terms = tuple(term_of(cast("dict[str, Json]", item)) for item in listed(form["@list"]))
        cells = tuple(name and NamedNode(name).value for name in listed(form.get("cells")))
        typed = tuple(
            (number, NamedNode(iri).value)
            for one in listed(form.get("typed"))
            for number, iri in [one if isinstance(one, list) else (one, LIST.value)]
            if number in range(len(terms))
        )
        container = str(form.get("container", ""))
        return Items(terms, cells, typed, cast(int, form.get("copy", 0)), container)
    if "@id" in form:
        return NamedNode(cast(str, form["@id"]))
    text, datatype = cast(str, form["@value"]), form.get("@type")
    if "@language" in form:
        direction = DIRECTIONS.get(cast(str, form.get("@direction", "")))
        return Literal(text, language=cast(str, form["@language"]), direction=direction)
    return Literal(text, datatype=None if datatype is None else NamedNode(cast(str, datatype)))


def listed(value: Json) -> list[Json]:
    """The items of a list; one value as a list, null as none."""
    return value if isinstance(value, list) else [] if value is None else [value]


def is_usual(term: Object, value: Json, rule: Mapping[str, str]) -> bool:
    """Whether a string or an integer, as most values are, has its usual form by the rule of its
    key; False for others.
    """
    if not isinstance(term, Literal) or "container" in rule or "language" in rule:
        return False
    datatype, plain = rule.get("datatype"), vocab.INTEGER
    if isinstance(value, str) and term.language is None:
        plain = vocab.STRING
    elif not isinstance(value, int) or isinstance(value, bool):
        return False
    if term.value != str(value):
        return False
    if datatype is None or term.datatype == vocab.STRING:
        return datatype is None and term.datatype == plain
    return term.datatype.value == datatype and fits_datatype(value, datatype)


def usual_value(value: Json, rule: Mapping[str, str]) -> dict[str, Json]:
    """The form of a value, or of a whole list, by the rule of its key."""
    if rule.get("container") == "@list" and isinstance(value, list):
        return {"@list": [usual_form(item, rule) for item in value]}
    return usual_form(value, rule)


def usual_form(value: Json, rule: Mapping[str, str]) -> dict[str, Json]:
    """The form of a value by the rule of its key.

    >>> usual_form("1815-12-10", {"datatype": "http://www.w3.org/2001/XMLSchema#date"})
    {'@value': '1815-12-10', '@type': 'http://www.w3.org/2001/XMLSchema#date'}
    """
    datatype, language = rule.get("datatype"), rule.get("language")
    if datatype is not None and not fits_datatype(value, datatype):
        datatype = None
    if isinstance(value, dict) and isinstance(value.get("@value"), str):
        return value
    if isinstance(value, bool):
        return {"@value": str(value).lower(), "@type": datatype or vocab.BOOLEAN.value}
    if isinstance(value, int):
        return {"@value": str(value), "@type": datatype or vocab.INTEGER.value}
    if isinstance(value, float):
        return {"@value": repr(value), "@type": datatype or vocab.DOUBLE.value}
    if not isinstance(value, str):
        return {"@value": canonical_json(value), "@type": vocab.JSON.value}
    if datatype == "@id":
        return {"@id": value}
    if datatype is not None:
        return {"@value": value, "@type": datatype}
    if language is None:
        return {"@value": value}
    directed = {"@direction": rule["direction"]} if "direction" in rule else {}
    return {"@value": value, "@language": language, **directed}


def fits_datatype(value: Json, datatype: str) -> bool:
    """Whether a value can be a literal of a datatype, or an IRI."""
    if datatype == "@id":
        return isinstance(value, str) and iri_of(value) is not None
    text = value if isinstance(value, str) else canonical_json(value)
    return (_has_form if len(text) > _SHORT else _short_has_form)(text, datatype)


_SHORT = 64


def _has_form(text: str, datatype: str) -> bool:
    try:
        return fits(text, NamedNode(datatype))
    except ValueError:  # changed by hand
        return False


_short_has_form = lru_cache(maxsize=4_096)(_has_form)


def iri_of(value: Json) -> str | None:
    """A value that is an absolute IRI; None for others."""
    if isinstance(value, str) and ":" in value:
        with suppress(ValueError):
            return NamedNode(value).value
    return None
