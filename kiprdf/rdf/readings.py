"""Values as FILTER reads them (docs/decisions/050).

A language-tagged text is its text, a typed value its value, and an array its items.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Any, TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from kiprdf.loading import lazy_pattern
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import Json, canonical_json, to_json, to_term

Reading: TypeAlias = Any
"""None, a boolean, number or string, an object, or a node; a list of items; or a tuple for an array
that is compared as a whole: one of a command, or one that is an item."""

PLAIN = frozenset((vocab.STRING, vocab.INTEGER, vocab.DOUBLE, vocab.BOOLEAN))
"""The datatypes of literals that are their own reading."""
MOST_NUMBERS = 4
"""Different numbers of an array that are found by index: writing each takes 2 % of a write."""
_VALUE_KEYS = {"@value", "@type", "@language", "@direction"}
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER = lazy_pattern(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NUMERIC = lazy_pattern(
    re.escape(vocab.XSD)
    + "(decimal|float|double|byte|short|int|long|unsigned(Byte|Short|Int|Long)"
    + "|integer|positiveInteger|negativeInteger|nonPositiveInteger|nonNegativeInteger)"
)


def read(term: NamedNode | Literal | BlankNode | Triple | None) -> Reading:
    """What a term of the dataset, or of a command, is to FILTER.

    >>> read(Literal("Kopfschmerz", language="de")), read(vocab.NULL)
    ('Kopfschmerz', None)
    >>> read(Literal('["ASA",[1],{"@type":"http://www.w3.org/2001/XMLSchema#decimal",'
    ...              '"@value":"1.50"}]', datatype=vocab.JSON))
    ['ASA', (1,), 1.5]
    """
    if not isinstance(term, Literal):
        return None if term == vocab.NULL else term
    if term.datatype == vocab.LIST_VALUE:
        return tuple(_read_json(Literal(term.value, datatype=vocab.JSON)))
    return _read_json(term) if term.datatype == vocab.JSON else _read_literal(term)


def _read_literal(term: Literal) -> Reading:
    try:
        return _read_value(to_json(term))
    except (LookupError, ValueError, RecursionError):  # no value that a command writes
        return term


_read_json = lru_cache(maxsize=1_024)(_read_literal)


def _read_value(value: Any) -> Reading:
    if isinstance(value, list):
        items = map(_read_value, value)
        return [tuple(item) if isinstance(item, list) else item for item in items]
    if isinstance(value, dict) and "@value" in value and value.keys() <= _VALUE_KEYS:
        text = value["@value"]
        return _typed(text, value.get("@type")) if isinstance(text, str) else _read_value(text)
    return value


def _typed(text: str, datatype: Any) -> bool | int | float | str:
    """A finite number or a boolean where the datatype and the text say so, otherwise the text."""
    if not isinstance(datatype, str):
        return text
    if datatype == vocab.BOOLEAN.value:
        return _BOOLEANS.get(text, text)
    if not _NUMERIC.fullmatch(datatype) or not _NUMBER.fullmatch(text):
        return text
    number = int(text) if _INTEGER.fullmatch(text) else float(text)
    return number if math.isfinite(number) else text


def held(term: Literal) -> set[Literal | NamedNode]:
    """The texts, numbers and booleans that FILTER reads in a value which is not plain.

    Numbers are doubles; ``vocab.MANY`` stands for more than ``MOST_NUMBERS``.

    >>> sorted(each.value for each in held(Literal('["ASA",3,true]', datatype=vocab.JSON)))
    ['3.0', 'ASA', 'true']
    """
    reading = read(term)
    items = reading if isinstance(reading, list) else [reading]
    numbers = {float(item) for item in items if type(item) in (int, float)}
    others = {to_term(item) for item in items if type(item) in (str, bool)}
    if len(numbers) > MOST_NUMBERS:
        return others | {vocab.MANY}
    # The two zeros are equal.
    return others | {to_term(number + 0.0) for number in numbers}


def sort_key(value: Json) -> tuple[int, Any]:
    """Kinds in the order booleans, numbers, strings, others by their stored text."""
    if isinstance(value, bool):
        return (0, value)
    if isinstance(value, int | float):
        return (1, value)
    if isinstance(value, str):
        return (2, value)
    if isinstance(value, NamedNode):
        return (3, value.value)
    return (3, canonical_json(value))


def compared_keys(term: NamedNode | Literal) -> set[tuple[int, Any]]:
    """The sort keys of what ``<`` and STARTS_WITH may find in a value.

    >>> sorted(compared_keys(Literal('["ASA",3,[1],null]', datatype=vocab.JSON)))
    [(1, 3), (2, 'ASA')]
    """
    reading = read(term)
    items = reading if isinstance(reading, list) else [reading]
    return {sort_key(item) for item in items if isinstance(item, bool | int | float | str)}
