"""Arguments of a call as models and clients send them: JSON in a text, null for what is left out.

Only what has one meaning is read. All else stays as it is, for a check whose hint shows the form
(docs/decisions/237). A parameter of a command is a value: a text in it stays a text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from kiprdf.errors import KipError

_SWITCHES = {"true": True, "false": False}
_DIGITS = re.compile(r"[0-9]{1,18}")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)", re.I)
_SEPARATED = re.compile(r"[,;|\n\[\]{}\"]")


def json_in(value: Any, kind: type) -> Any:
    """The object or array that a text is as JSON, None for ``null``; every other value as it is.

    Raises KIP_4002 for one that nests too deeply.

    >>> json_in('{"name": "{}"}', dict), json_in("[1]", dict)
    ({'name': '{}'}, '[1]')
    """
    if not isinstance(value, str):
        return value
    try:
        given = strict_json(value)
    except RecursionError:
        raise KipError("KIP_4002", "The request nests too deeply.", "Flatten it.") from None
    except ValueError:
        return value
    return given if given is None or isinstance(given, kind) else value


def strict_json(text: str) -> Any:
    """The value of a JSON text; ``ValueError`` for NaN, and for a key that occurs twice."""
    return json.loads(text, object_pairs_hook=unique, parse_constant=_refuse)


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of a JSON object; ``ValueError`` for a key that occurs twice."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key occurs twice in an object")
    return members


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")


def without_lone_surrogates(text: str) -> str:
    """A text with U+FFFD for half of a character, as of an emoji that was cut in two.

    >>> without_lone_surrogates("a\\ud83d") == "a\ufffd"
    True
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def switch_in(value: Any) -> Any:
    """True or false of a text.

    >>> switch_in("True"), switch_in("yes")
    (True, 'yes')
    """
    return _SWITCHES.get(value.lower(), value) if isinstance(value, str) else value


def number_in(value: Any) -> Any:
    """The whole number of a text, or of a number with nothing behind its point.

    >>> number_in("5"), number_in(5.0), number_in("5.5")
    (5, 5, '5.5')
    """
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def texts_in(value: Any) -> Any:
    """A list of texts: a JSON array in a text, or one text that has no separator.

    >>> texts_in("work"), texts_in('["a", "b"]'), texts_in("a, b")
    (['work'], ['a', 'b'], 'a, b')
    """
    value = json_in(value, list)
    is_one = isinstance(value, str) and value.strip() and not _SEPARATED.search(value)
    return [value] if is_one else value


def request_in(arguments: Mapping[Any, Any]) -> dict[Any, Any]:
    """The arguments of ``execute_kip``, without what is null.

    >>> request_in({"command": "FIND(?x)", "parameters": '{"x": "{}"}', "as_of": None})
    {'command': 'FIND(?x)', 'parameters': {'x': '{}'}}
    """
    given = _fields_in(arguments)
    # Who must send both fields leaves the one empty that is not meant.
    if given.get("command") == "" and given.get("commands"):
        del given["command"]
    elif given.get("commands") in ([], "") and given.get("command"):
        del given["commands"]
    return given


def _fields_in(arguments: Mapping[Any, Any]) -> dict[Any, Any]:
    """The fields of a request, or of a command of a batch, without those that are null."""
    return {
        key: given
        for key, value in arguments.items()
        if (given := _FIELDS[key](value) if key in _FIELDS else value) is not None
        or key not in _NAMES
    }


def _commands(value: Any) -> Any:
    value = json_in(value, list)
    if not isinstance(value, list | tuple):
        return value
    items = (json_in(item, dict) for item in value)
    return [_fields_in(item) if isinstance(item, Mapping) else item for item in items]


def _as_of(value: Any) -> Any:
    value = json_in(value, dict)
    if isinstance(value, str) and _TIME.fullmatch(value):
        return {"time": value}
    if isinstance(value, int) and not isinstance(value, bool):
        return {"seq": value}
    if isinstance(value, Mapping) and "seq" in value:
        return {**value, "seq": number_in(value["seq"])}
    return value


_FIELDS: dict[Any, Callable[[Any], Any]] = {
    "commands": _commands,
    "parameters": lambda value: {} if value == "" else json_in(value, dict),
    "as_of": _as_of,
    "max_chars": number_in,
    **dict.fromkeys(("dry_run", "why", "entail"), switch_in),
}
_NAMES = {"command", "view", *_FIELDS}
