"""Values in FILTER, IN, ORDER BY and aggregates: kinds, equality and order (section 5)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["null", "boolean", "number", "string", "other"]
_RANKS: dict[Kind, int] = {"boolean": 0, "number": 1, "string": 2, "other": 3}


@dataclass(frozen=True, slots=True)
class Element:
    """A concept or proposition as the value of a variable; a predicate's name is a plain string."""

    id: str
    iri: str


def kind(value: Any) -> Kind:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "string" if isinstance(value, str) else "other"


def stored_text(value: Any) -> str:
    """The IRI of an element; the canonical form of an array or object (rdf-mapping)."""
    if isinstance(value, Element):
        return value.iri
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


_XSD = "http://www.w3.org/2001/XMLSchema#"
_INTEGERS = (
    "integer byte short int long unsignedByte unsignedShort unsignedInt unsignedLong "
    "positiveInteger negativeInteger nonPositiveInteger nonNegativeInteger"
)
_NUMBERS = {_XSD + name for name in f"decimal float double {_INTEGERS}".split(" ")}


def as_people_read(value: Any) -> Any:
    """Rule: "In FILTER a language-tagged text is its text and a typed value its value"."""
    if isinstance(value, list):
        items = [as_people_read(item) for item in value]
        return [as_whole(item) for item in items]
    if not isinstance(value, dict) or "@value" not in value:
        return value
    if set(value) - {"@value", "@type", "@language", "@direction"}:
        return value
    text, datatype = value["@value"], value.get("@type")
    if not isinstance(text, str):
        return as_people_read(text)
    if datatype == _XSD + "boolean":
        return {"true": True, "1": True, "false": False, "0": False}.get(text, text)
    return _number(text) if datatype in _NUMBERS else text


def as_whole(value: Any) -> Any:
    """An array that is compared as a whole: not "an array at a path"."""
    return tuple(value) if isinstance(value, list) else value


def _number(text: str) -> Any:
    digits = text.lstrip("+-")
    try:
        number = float(text)
    except ValueError:
        return text
    if "_" in text or text != text.strip() or number != number or abs(number) == float("inf"):
        return text
    return int(text) if digits.isdigit() and len(digits) < 19 else number


def alike(left: Any, right: Any) -> bool:
    """``==`` in FILTER: of one array some item, of two arrays the whole; null is no item."""
    if isinstance(left, list) == isinstance(right, list) or tuple in (type(left), type(right)):
        return equal(left, right)
    items, other = (left, right) if isinstance(left, list) else (right, left)
    return other is not None and any(equal(item, other) for item in items)


def equal(left: Any, right: Any) -> bool:
    """``==``: null equals only null, numbers by value, arrays and objects by canonical form."""
    if kind(left) != kind(right):
        return False
    if kind(left) == "other":
        same_sort = isinstance(left, Element) == isinstance(right, Element)
        return same_sort and stored_text(left) == stored_text(right)
    if kind(left) == "number":
        return _compare_numbers(left, right) == 0
    return bool(left == right)


def less(left: Any, right: Any) -> bool:
    """``<``: false between null, mixed kinds, arrays, objects and elements."""
    if kind(left) != kind(right) or kind(left) in ("null", "other"):
        return False
    return compare(left, right) < 0


def compare(left: Any, right: Any) -> int:
    """Negative, zero or positive: the ascending order of two non-null values in ORDER BY."""
    left_kind, right_kind = kind(left), kind(right)
    if left_kind != right_kind:
        return _RANKS[left_kind] - _RANKS[right_kind]
    if left_kind == "number":
        return _compare_numbers(left, right)
    if left_kind == "other":
        left, right = stored_text(left), stored_text(right)
    # Python orders strings by code point, and False before True.
    return int(left > right) - int(left < right)


def compare_for_order(left: Any, right: Any, *, descending: bool = False) -> int:
    """``compare`` with null last in both directions."""
    if left is None or right is None:
        return (left is None) - (right is None)
    return -compare(left, right) if descending else compare(left, right)


def _compare_numbers(left: float, right: float) -> int:
    # Python compares an integer with a double exactly; the specification compares two doubles.
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
    return (left > right) - (left < right)
