r"""Regular expressions for canonical JSON, by which SHACL tells arrays and objects apart.

A pattern is used on ``rdf:JSON`` literals in the form of ``canonical_json`` only, so it need not
tell JSON from other texts. The syntax is what XPath and Python have in common: no look-ahead, no
escapes of harmless characters.

>>> import re
>>> integers = re.compile(array_of("integer"))
>>> bool(integers.search("[1,2.0,1e+16]")), bool(integers.search("[1.5]"))
(True, False)
"""

from __future__ import annotations

import re

from kiprdf.rdf.literals import Json, canonical_json

NESTING = 56
"""How deep arrays and objects nest inside of an item; validators bound how deep patterns may."""

_STRING = r'"([^"\\]|\\.)*"'
_ATOM = rf'[^\[\]{{}}"]|{_STRING}'
INTEGRAL = r"-?[0-9]+(\.0|(\.[0-9]+)?e\+[0-9]+)?"
"""Numbers without a fraction, as Python writes them: doubles from 1e+16 on have none."""
_NUMBER = r"-?[0-9]+(\.[0-9]+)?(e[+-][0-9]+)?"
_SPECIAL = re.compile(r"[\\|.?*+(){}\[\]^$]")


def _contents() -> str:
    """What stands between two brackets. Nesting is no regular language, bounded nesting is."""
    pattern = f"({_ATOM})*"
    for _ in range(NESTING):
        pattern = rf"({_ATOM}|[\[{{]{pattern}[\]}}])*"
    return pattern


def _item(json_type: str) -> str:
    plain = {
        "string": _STRING,
        "number": _NUMBER,
        "integer": INTEGRAL,
        "boolean": "(true|false)",
        "null": "null",
    }
    if json_type in plain:
        return plain[json_type]
    return rf"\[{_contents()}\]" if json_type == "array" else rf"\{{{_contents()}\}}"


ITEMS = ("string", "number", "integer", "boolean", "null", "array", "object")
"""The JSON types that ``item_type`` can name."""


def array_of(json_type: str) -> str:
    """The arrays of which all items are of a type, the empty one too."""
    item = _item(json_type)
    return rf"^\[({item},?)*\]$"


def equal_to(value: Json) -> str:
    """The texts of the values that are equal to one: ``1`` is ``1.0``, ``true`` in it ``1``.

    >>> equal_to([1, "a.b"])
    '\\\\[(1|1\\\\.0|true),"a\\\\.b"\\\\]'
    """
    if isinstance(value, list):
        return rf"\[{','.join(map(equal_to, value))}\]"
    if isinstance(value, dict):
        pairs = (f"{_literally(key)}:{equal_to(value[key])}" for key in sorted(value))
        return rf"\{{{','.join(pairs)}\}}"
    if isinstance(value, int | float):
        return _any_of(_spellings(value))
    return _literally(value)


def _spellings(number: float) -> list[str]:
    """How the numbers and booleans are written that Python takes for equal."""
    twins: list[Json] = [number, float(number), 0.0, -0.0, False, 1.0, True]
    if float(number).is_integer():
        twins.append(int(number))
    return list(dict.fromkeys(canonical_json(twin) for twin in twins if twin == number))


def _any_of(texts: list[str]) -> str:
    return f"({'|'.join(map(_escaped, texts))})"


def _literally(value: Json) -> str:
    return _escaped(canonical_json(value))


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda match: "\\" + match.group(), text)
