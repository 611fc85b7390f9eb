"""Compares a response with a conformance case, independently of the engine."""

from __future__ import annotations

import math
from typing import Any

ANY = "<any>"


def matches(expected: Any, actual: Any, *, loose: bool = False) -> bool:
    """Equal as JSON values; ``"<any>"`` matches any value; ``loose`` allows more keys."""
    if expected == ANY:
        return True
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, dict) and isinstance(actual, dict):
        keys = set(expected) == set(actual) or (loose and set(expected) <= set(actual))
        return keys and all(matches(v, actual[k], loose=loose) for k, v in expected.items())
    if isinstance(expected, list) and isinstance(actual, list):
        pairs = zip(expected, actual, strict=False)
        return len(expected) == len(actual) and all(matches(e, f, loose=loose) for e, f in pairs)
    if isinstance(expected, float) and isinstance(actual, int | float):
        return math.isclose(expected, actual, rel_tol=1e-12)
    return bool(expected == actual)


def is_permutation(expected: list[Any], actual: list[Any]) -> bool:
    """Whether the items can be paired off, each used once."""
    if len(expected) != len(actual):
        return False
    rest = list(actual)
    # Wildcards last, so that they take what exact values leave.
    for item in sorted(expected, key=lambda e: ANY in str(e)):
        fitting = next((i for i, other in enumerate(rest) if matches(item, other)), None)
        if fitting is None:
            return False
        rest.pop(fitting)
    return True


def rows_of(result: Any, expressions: int) -> list[Any]:
    """The rows of a FIND with several expressions, or the items of its one column."""
    if expressions == 1:
        return list(result)
    return [list(row) for row in zip(*result, strict=True)]


def verdict(expect: dict[str, Any], response: dict[str, Any], ordered: bool, width: int) -> str:
    """Why a response is not what was expected; empty when it is."""
    if "response" in expect:
        good = matches(expect["response"], response)
    elif "error" in expect:
        good = _is_error(expect, response)
    elif "error" in response:
        good = False
    elif "result" in expect:
        good = _is_result(expect["result"], response["result"], ordered, width)
    elif "contains" in expect:
        rows = response["result"]
        good = isinstance(rows, list) and all(
            any(matches(item, other, loose=True) for other in rows_of(rows, width))
            for item in expect["contains"]
        )
    elif "object" in expect:
        good = matches(expect["object"], response["result"], loose=True)
    else:
        good = len(rows_of(response["result"], width)) == expect["count"]
    good = good and matches(expect.get("warnings", ANY), response.get("warnings", []))
    return "" if good else f"expected {expect}, got {response}"


def _is_error(expect: dict[str, Any], response: dict[str, Any]) -> bool:
    error = response.get("error") or {}
    return (
        error.get("code") == expect["error"]
        and expect.get("hint_contains", "") in error["hint"]
        and expect.get("message_contains", "") in error["message"]
    )


def _is_result(expected: Any, actual: Any, ordered: bool, width: int) -> bool:
    if ordered or not (isinstance(expected, list) and isinstance(actual, list)):
        return matches(expected, actual)
    if width == 1:
        return is_permutation(expected, actual)
    if len(expected) != len(actual) or not all(isinstance(c, list) for c in (*expected, *actual)):
        return matches(expected, actual)
    if len({len(column) for column in actual}) > 1:
        return False
    return is_permutation(rows_of(expected, width), rows_of(actual, width))
