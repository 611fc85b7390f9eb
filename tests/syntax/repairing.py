"""Follows a hint to the letter, as a model would: the wrong command becomes the repaired one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiprdf.errors import KipError

_TICKED = "`([^`]*)`"
_FORMS = (
    ("add", re.compile(rf"(?<!and )(?i:add) {_TICKED} at the end")),
    (
        "insert",
        re.compile(rf"(?i:write) {_TICKED} before {_TICKED}(?:, and {_TICKED} at the end)?"),
    ),
    (
        "replace",
        re.compile(
            rf"(?i:write) {_TICKED} instead of {_TICKED}(?:, and add {_TICKED} at the end)?"
        ),
    ),
    ("remove", re.compile(rf"(?i:remove) {_TICKED}")),
    ("mean", re.compile(r"Did you mean ['\"]?([^'\"?]+?)['\"]?(?: or [^?]*)?\?")),
    ("fences", re.compile(r"Remove the code fences")),
    ("invisible", re.compile(r"Remove this invisible character")),
    ("space", re.compile(r"Write a space instead")),
)


def repaired(error: KipError) -> Iterator[str]:
    """The command after following each alternative of the hint; nothing if it names no text."""
    assert error.source is not None
    for kind, form in _FORMS:
        for match in form.finditer(error.hint):
            yield _applied(kind, [group or "" for group in match.groups()], error)


def _applied(kind: str, parts: list[str], error: KipError) -> str:
    text, place = error.source or "", error.span.start
    match kind:
        case "add":
            return text.rstrip() + parts[0]
        case "insert":
            start = _start_of(parts[1], text, place)
            return text[:start] + parts[0] + text[start:].rstrip() + parts[2]
        case "replace":
            start = _start_of(parts[1], text, place)
            rest = text[start + len(parts[1]) :]
            return text[:start] + parts[0] + (rest.rstrip() + parts[2] if parts[2] else rest)
        case "remove":
            start = _start_of(parts[0], text, place)
            return text[:start] + text[start + len(parts[0]) :]
        case "mean":
            end = error.span.end
            quote = '"' if text[place] == '"' else ""
            word = re.match(r"[\w$]*", text[place:])
            if not quote and word and word.group():
                end = place + word.end()
            return f"{text[:place]}{quote}{parts[0]}{quote}{text[end:]}"
        case "fences":
            lines = text.splitlines()
            return "\n".join(line for line in lines if not line.lstrip().startswith("```"))
        case "invisible":
            return text[:place] + text[place + 1 :]
    return text[:place] + " " + text[place + 1 :]


def _start_of(old: str, text: str, place: int) -> int:
    """Where the text that the hint names is: the occurrence at the place of the error."""
    starts = [match.start() for match in re.finditer(re.escape(old), text)]
    at = [start for start in starts if start <= place <= start + len(old)]
    assert at, f"{old!r} is not at the place of the error"
    return at[-1]
