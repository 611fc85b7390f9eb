"""Checks literals against their datatype (XML Schema 1.1 Part 2: lexical and value spaces)."""

from __future__ import annotations

import calendar
import re
from functools import cache

from pyoxigraph import NamedNode

from kiprdf.rdf import vocab

_YEAR = r"-?(?:[1-9]\d{3,}|0\d{3})"
_MONTH = r"(?:0[1-9]|1[0-2])"
_DAY = r"(?:0[1-9]|[12]\d|3[01])"
_TIME = r"(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?|24:00:00(?:\.0+)?)"
_ZONE = r"(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))"
_DATE = rf"(?P<year>{_YEAR})-(?P<month>{_MONTH})-(?P<day>{_DAY})"
_DAY_PART = r"\d+D"
_CLOCK = r"T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?"
_FLOAT = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[+-]?INF|NaN"
_NAME = r"[A-Za-z_À-ÖØ-öø-ÿĀ-\uffff][-.\w·]*"

_PATTERNS = {
    "boolean": "true|false|1|0",
    "decimal": r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)",
    "double": _FLOAT,
    "float": _FLOAT,
    "date": rf"{_DATE}{_ZONE}?",
    "dateTime": rf"{_DATE}T{_TIME}{_ZONE}?",
    "dateTimeStamp": rf"{_DATE}T{_TIME}{_ZONE}",
    "time": rf"{_TIME}{_ZONE}?",
    "gYear": rf"{_YEAR}{_ZONE}?",
    "gYearMonth": rf"{_YEAR}-{_MONTH}{_ZONE}?",
    "gMonth": rf"--{_MONTH}{_ZONE}?",
    "gMonthDay": rf"--(?P<month>{_MONTH})-(?P<day>{_DAY}){_ZONE}?",
    "gDay": rf"---{_DAY}{_ZONE}?",
    "duration": rf"-?P(?=.)(?:\d+Y)?(?:\d+M)?(?:{_DAY_PART})?(?:{_CLOCK})?",
    "dayTimeDuration": rf"-?P(?=.)(?:{_DAY_PART})?(?:{_CLOCK})?",
    "yearMonthDuration": r"-?P(?=.)(?:\d+Y)?(?:\d+M)?",
    "hexBinary": r"(?:[0-9a-fA-F]{2})*",
    "base64Binary": r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?",
    "language": r"[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*",
    "anyURI": r"[^\s<>\"{}|\\^`\x00-\x1f]*",
    "NCName": _NAME,
    "Name": rf":?{_NAME}",
    "NMTOKEN": r"[-.\w:·]+",
    "normalizedString": r"[^\t\n\r]*",
    "token": r"(?:[^ \t\n\r]+(?: [^ \t\n\r]+)*)?",
}
_INTEGERS: dict[str, tuple[int | None, int | None]] = {
    "integer": (None, None),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
    **{name: (-(2 ** (n - 1)), 2 ** (n - 1) - 1) for name, n in
       (("byte", 8), ("short", 16), ("int", 32), ("long", 64))},
    **{name: (0, 2**n - 1) for name, n in
       (("unsignedByte", 8), ("unsignedShort", 16), ("unsignedInt", 32), ("unsignedLong", 64))},
}  # fmt: skip
_UNCHECKED = (
    "string", "QName", "NOTATION", "ID", "IDREF", "IDREFS", "ENTITY", "ENTITIES", "NMTOKENS",
    "anyType", "anySimpleType", "anyAtomicType",
)  # fmt: skip
INTEGER_TYPES = frozenset(vocab.XSD + name for name in _INTEGERS)
"""The IRIs of the datatypes of integers."""
NAMES = frozenset((*_PATTERNS, *_INTEGERS, *_UNCHECKED))
"""The names of all datatypes of XML Schema."""
_INTEGER = re.compile(r"[+-]?\d{1,1000}", re.ASCII)


def fits(text: str, datatype: NamedNode) -> bool:
    """Whether a string is a literal of a datatype; always, unless it is one of XML Schema.

    >>> fits("2026-02-28", NamedNode(vocab.XSD + "date"))
    True
    >>> fits("2026-02-30", NamedNode(vocab.XSD + "date"))
    False
    """
    name = datatype.value.removeprefix(vocab.XSD)
    if name in _INTEGERS:
        return _is_integer(text, *_INTEGERS[name])
    if name not in _PATTERNS:
        return True
    match = _compiled(name).fullmatch(text)
    return match is not None and _is_day(match.groupdict())


@cache
def _compiled(name: str) -> re.Pattern[str]:
    """The pattern of a datatype; compiling all of them takes longer than most commands."""
    form = _PATTERNS[name]
    return re.compile(form, 0 if "\\w" in form else re.ASCII)


def _is_integer(text: str, lowest: int | None, highest: int | None) -> bool:
    if not _INTEGER.fullmatch(text):
        return False
    number = int(text)
    return (lowest is None or lowest <= number) and (highest is None or number <= highest)


def _is_day(parts: dict[str, str]) -> bool:
    """Whether a date exists; in some year, if no year is given."""
    if "day" not in parts:
        return True
    # The calendar repeats every 400 years, and 2000 has a 29th of February.
    year = int(parts.get("year", "2000")[-4:]) % 400 + 2000
    return int(parts["day"]) <= calendar.monthrange(year, int(parts["month"]))[1]
