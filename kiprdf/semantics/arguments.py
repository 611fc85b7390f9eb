"""The arguments of clauses: ids, names, page sizes, keys and maps (KIP 2.8, 3.5)."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias, cast, get_args

from kiprdf.errors import KipError, shown
from kiprdf.language import ast, limits
from kiprdf.language.names import is_key, name_fault
from kiprdf.language.values import is_number
from kiprdf.source import Span

MOST_ROWS = 2**53
"""No answer has more rows; larger page sizes and offsets would overflow the engine's."""
Mode: TypeAlias = Literal["keyword", "semantic", "hybrid"]
RESERVED_METADATA = frozenset(
    ("_version", "_created_at", "_updated_at", "_merged_from", "_actor", "_mentioned", "_score")
)


def text_of(value: ast.Value, what: str) -> str:
    """The string of a value; KIP_1001 for any other value."""
    if isinstance(value, ast.Scalar) and isinstance(value.value, str):
        return value.value
    raise KipError("KIP_1001", f"{what} is a string.", "Send a string.", value.span)


def page_size(limit: ast.Value | None) -> int | None:
    """The number after LIMIT: an integer from 1 (KIP 3.5)."""
    if limit is None:
        return None
    value = _integer(limit)
    if value is not None and value >= 1:
        return min(value, MOST_ROWS)
    raise KipError("KIP_1001", "LIMIT takes an integer from 1.", "Write LIMIT 20.", limit.span)


def expected_version(value: ast.Value | None) -> int | None:
    """The number after EXPECT VERSION: an integer from 0, which means "must not exist"."""
    if value is None:
        return None
    number = _integer(value)
    if number is not None and number >= 0:
        return number
    message = "EXPECT VERSION takes an integer from 0."
    hint = "Send the metadata._version that you read; 0 means that it must not exist."
    raise KipError("KIP_1001", message, hint, value.span)


def _integer(value: ast.Value) -> int | None:
    number = value.value if isinstance(value, ast.Scalar) else None
    return number if is_number(number) and isinstance(number, int) else None


def search_mode(value: ast.Value | None) -> Mode:
    """The word after MODE, in either case (KIP 5.2)."""
    if value is None:
        return "keyword"
    mode = text_of(value, "MODE").lower()
    if mode not in get_args(Mode):
        message = f"There is no mode '{shown(mode)}'."
        raise KipError("KIP_1001", message, "Modes: keyword, semantic, hybrid.", value.span)
    return cast(Mode, mode)


def threshold(value: ast.Value | None) -> float | None:
    """The number after THRESHOLD: from 0 to 1, as scores are."""
    if value is None:
        return None
    number = value.value if isinstance(value, ast.Scalar) else None
    if is_number(number) and 0 <= number <= 1:
        return float(number)
    message = "THRESHOLD takes a number from 0 to 1."
    raise KipError("KIP_1001", message, "Write THRESHOLD 0.5.", value.span)


def check_cursor(cursor: ast.Value | None) -> None:
    if cursor is not None:
        text_of(cursor, "A cursor")


def concept_id(value: ast.Value) -> str:
    """The id in ``{id: …}``; that of a proposition is the wrong kind (KIP 3.4.1)."""
    text = text_of(value, "An id")
    if text.startswith("P:"):
        hint = f'Write (id: "{shown(text)}") for a proposition.'
        raise KipError("KIP_1001", "{id: …} takes the id of a concept.", hint, value.span)
    return text


def proposition_id(value: ast.Value) -> str:
    """The id in ``(id: …)``; that of a concept is the wrong kind (KIP 3.4.2)."""
    text = text_of(value, "An id")
    if text.startswith("C:"):
        hint = f'Write {{id: "{shown(text)}"}} for a concept.'
        raise KipError("KIP_1001", "(id: …) takes the id of a proposition.", hint, value.span)
    return text


def concept_name(value: ast.Value) -> str:
    """A concept's name: free text of 1 to 1 024 characters."""
    text = text_of(value, "A concept's name")
    fault = name_fault(text)
    if fault is not None:
        hint = "Names are 1 to 1024 characters of any script, without control characters."
        raise KipError("KIP_1002", f"The name {fault}.", hint, value.span)
    return text


def check_key(key: str, span: Span) -> None:
    if not is_key(key):
        hint = f"Keys match [a-zA-Z_][a-zA-Z0-9_]*, at most {limits.KEY_CHARACTERS} characters."
        identifier = re.sub(r"\W+", "_", key, flags=re.ASCII).strip("_")
        if is_key(identifier):
            hint = f'{hint} Write `{identifier}` instead of `"{key}"`.'
        raise KipError(
            "KIP_1002", f"'{shown(key)}' is not a valid key of attributes or metadata.", hint, span
        )


def refuse_reserved(key: str, span: Span) -> None:
    if key in RESERVED_METADATA:
        message = f"The metadata key '{key}' is maintained by the engine."
        raise KipError("KIP_2002", message, "Leave it out.", span)


def check_map(value: ast.Value | None, what: str, reserved: bool = False) -> None:
    """A map of attributes or metadata: an object with identifiers as keys (KIP 2.8)."""
    if value is None:
        return
    if not isinstance(value, ast.Object):
        raise KipError("KIP_1001", f"{what} takes an object.", "Send {key: value}.", value.span)
    for entry in value.entries:
        check_key(entry.key, entry.span)
        if reserved:
            refuse_reserved(entry.key, entry.span)
