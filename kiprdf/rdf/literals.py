"""JSON values as RDF terms and back; every value survives the round trip (docs/mapping.md)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from contextlib import suppress
from operator import itemgetter
from typing import Any

from pyoxigraph import BaseDirection, Literal, NamedNode

from kiprdf.errors import KipError
from kiprdf.rdf import vocab

Json = Any
"""A JSON value as Python holds it."""

_MOST_BYTES = 15 << 20
"""The most bytes of an array or object in N-Quads: the engine reads lines of less than 16 MiB."""
_DEEPEST = 64
"""How deep arrays and objects nest at most, as in a command."""
_LANGUAGE = re.compile(r"[a-z]{1,8}(-[a-z0-9]{1,8})*")
DIRECTIONS = {"ltr": BaseDirection.LTR, "rtl": BaseDirection.RTL}
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_SHORT_INTEGER = re.compile("0|-?[1-9][0-9]{0,17}")
# With a digit other than 0 within four of the point, or Python would write an exponent.
_SHORT_DOUBLE = re.compile(r"-?(0\.(?=0{0,3}[1-9])|[1-9][0-9]{0,6}\.)([0-9]{0,6}[1-9]|0)")
_NEVER = re.compile("(?!)")
_USUAL = {
    vocab.INTEGER: _SHORT_INTEGER.fullmatch,
    vocab.DOUBLE: _SHORT_DOUBLE.fullmatch,
    vocab.BOOLEAN: _NEVER.fullmatch,
    vocab.JSON: _NEVER.fullmatch,
}
"""For datatypes whose literals have several forms: matches the common ones, which need no check."""
# Datatypes of which the engine rewrites the lexical form ("1.10" becomes "1.1"). A value of such a
# type stays the JSON object it was given as, or it would not survive the round trip.
_REWRITTEN = re.compile(
    re.escape(vocab.XSD)
    + "(decimal|float|double|integer|boolean|string|byte|short|int|long|unsigned.*|.*[iI]nteger"
    + "|date|time|dateTime|dateTimeStamp|g[YMD].*|duration|yearMonthDuration|dayTimeDuration)"
)


# ``json.dumps`` makes an encoder for each value.
_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


def canonical_json(value: Json) -> str:
    """The one text of an array or object: keys by code point, compact, numbers as Python's repr.

    >>> canonical_json({"b": [1, 2.0], "a": None})
    '{"a":null,"b":[1,2.0]}'
    """
    return _ENCODER.encode(value)


def to_term(value: Json) -> Literal | NamedNode:
    """The RDF term of a JSON value; KIP_4002 for an array or object that no line can hold.

    >>> to_term(2), to_term(None)
    (<Literal value=2 datatype=<NamedNode value=http://www.w3.org/2001/XMLSchema#integer>>,
     <NamedNode value=urn:kip:vocab/null>)
    """
    if value is None:
        return vocab.NULL
    if isinstance(value, str):
        return Literal(value)
    if isinstance(value, bool):
        return Literal("true" if value else "false", datatype=vocab.BOOLEAN)
    if isinstance(value, int):
        return Literal(str(value), datatype=vocab.INTEGER)
    if isinstance(value, float):
        return Literal(repr(value), datatype=vocab.DOUBLE)
    if isinstance(value, dict) and "@value" in value:
        literal = _from_value_object(value)
        if literal is not None:
            return literal
    text = canonical_json(value)
    if len(text) > _MOST_BYTES // 8:
        _require_room(text)
    return Literal(text, datatype=vocab.JSON)


def _require_room(text: str) -> None:
    escaped = text.count('"') + text.count("\\")
    if len(text.encode("utf-8", "replace")) + escaped > _MOST_BYTES:
        message = f"An array or object is longer than {_MOST_BYTES >> 20} MiB as one value."
        raise KipError("KIP_4002", message, "Divide it among several attributes or concepts.")


def _from_value_object(value: dict[str, Json]) -> Literal | None:
    text, language, datatype = value["@value"], value.get("@language"), value.get("@type")
    if not isinstance(text, str):
        return None
    # What pyoxigraph refuses (a language tag, a datatype that is no IRI) stays a JSON object.
    with suppress(ValueError):
        if isinstance(language, str) and _LANGUAGE.fullmatch(language):
            direction = DIRECTIONS.get(str(value.get("@direction")))
            if len(value) == (2 if direction is None else 3):
                return Literal(text, language=language, direction=direction)
        elif isinstance(datatype, str) and len(value) == 2 and _is_foreign(datatype):
            return Literal(text, datatype=NamedNode(datatype))
    return None


def _is_foreign(datatype: str) -> bool:
    """Whether literals of a datatype are stored as they are: not rewritten, no form of kiprdf."""
    own = (vocab.JSON.value, vocab.LANG_STRING.value, vocab.DIR_LANG_STRING.value)
    return datatype not in own and not _REWRITTEN.fullmatch(datatype)


def normal(term: Literal | NamedNode) -> Literal | NamedNode:
    """A term in the spelling of ``to_term``; the engine, and other tools, have their own.

    >>> normal(Literal("1", datatype=vocab.DOUBLE)).value
    '1.0'
    """
    if isinstance(term, Literal) and not _is_usual(term):
        with suppress(LookupError, ValueError, RecursionError):
            value = to_json(term)
            normalized = to_term(value)
            # A value that has no such spelling (a JSON string, NaN, 1e400) keeps its own.
            same = isinstance(normalized, Literal) and normalized.datatype == term.datatype
            finite = not isinstance(value, float) or math.isfinite(value)
            return normalized if same and finite else term
    return term


def is_same(term: Literal | NamedNode | None, other: Literal | NamedNode | None) -> bool:
    """Whether two terms, or their absence, are the same in normal spelling.

    >>> is_same(Literal("1", datatype=vocab.DOUBLE), Literal("1.0", datatype=vocab.DOUBLE))
    True
    """
    if term == other:
        return True
    if not (isinstance(term, Literal) and isinstance(other, Literal)):
        return False
    datatype = term.datatype
    is_usual = _USUAL.get(datatype)
    # Most pairs end here: a value that has one spelling only, or two of the common ones.
    if is_usual is None or (is_usual(term.value) and is_usual(other.value)):
        return False
    return datatype == other.datatype and normal(term) == normal(other)


def _is_usual(term: Literal) -> bool:
    """Whether a literal has one spelling only, or is a number in that which the engine has too."""
    is_usual = _USUAL.get(term.datatype)
    return is_usual is None or is_usual(term.value) is not None


def _is_storable(value: Json, depth: int = 0) -> bool:
    """Whether KIP could have written a value: integers of 64 bits, finite numbers, not too deep."""
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    if isinstance(value, float):
        return math.isfinite(value)
    if not isinstance(value, list | dict):
        return True
    items = value.values() if isinstance(value, dict) else value
    return depth < _DEEPEST and all(_is_storable(item, depth + 1) for item in items)


def is_ours(term: Literal | NamedNode) -> bool:
    """Whether ``to_term`` writes this term for its value.

    >>> is_ours(Literal("7", datatype=vocab.INTEGER))
    True
    >>> is_ours(Literal("007", datatype=vocab.INTEGER))
    False
    """
    return is_value(term) and to_term(to_json(term)) == term


def is_value(term: Literal | NamedNode) -> bool:
    """Whether a term is a value of KIP, however it is spelled.

    >>> is_value(Literal("007", datatype=vocab.INTEGER))
    True
    >>> is_value(Literal("seven", datatype=vocab.INTEGER))
    False
    """
    try:
        return _is_storable(to_json(term))
    except (LookupError, ValueError, RecursionError):
        return False


def to_json(term: Literal | NamedNode) -> Json:
    """The JSON value of a term: the inverse of ``to_term``.

    >>> to_json(Literal("0.95", datatype=vocab.DOUBLE))
    0.95
    >>> to_json(Literal("Kopfschmerz", language="de"))
    {'@value': 'Kopfschmerz', '@language': 'de'}
    """
    if isinstance(term, NamedNode):
        return None if term == vocab.NULL else {"@id": term.value}
    convert = _FROM_TEXT.get(term.datatype)
    return _to_value_object(term) if convert is None else convert(term.value)


def _to_value_object(term: Literal) -> dict[str, Json]:
    if term.language is None:
        return {"@value": term.value, "@type": term.datatype.value}
    if term.direction is None:
        return {"@value": term.value, "@language": term.language}
    direction = "ltr" if term.direction == BaseDirection.LTR else "rtl"
    return {"@value": term.value, "@language": term.language, "@direction": direction}


def _from_json(text: str) -> Json:
    """An array or object; keys in our order, since other tools write them in theirs."""
    return json.loads(text, object_pairs_hook=_sorted) if "{" in text else json.loads(text)


def _sorted(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    return dict(sorted(pairs, key=itemgetter(0)))


_FROM_TEXT: dict[NamedNode, Callable[[str], Json]] = {
    vocab.STRING: str,
    vocab.INTEGER: int,
    vocab.DOUBLE: float,
    vocab.BOOLEAN: _BOOLEANS.__getitem__,
    vocab.JSON: _from_json,
}
