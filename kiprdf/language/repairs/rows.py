"""A row of the tables of repairs, and its matching."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import chain, count
from typing import NamedTuple, TypeAlias

New: TypeAlias = str | Callable[[re.Match[str]], str | None] | None

_BEFORE, _AFTER = 500, 2_000
"""The characters around an error that a row sees."""
LONGEST = 600
"""Longer replacements are not shown."""

TERMS = {
    "{OPERAND}": r"(?:{PATH}|{VALUE})",
    "{VALUE}": r"(?:{STRING}|-?[0-9]+(?:\.[0-9]+)?|true|false|null|:[A-Za-z_]\w*)",
    "{ENDPOINT}": r"(?:{VAR}(?:\s*{MATCHER})?|{MATCHER})",
    "{VAR}": r"\?[A-Za-z_]\w*",
    "{PATH}": r"\?[A-Za-z_]\w*(?:\.\w+)*",
    "{STRING}": r'"(?:[^"\\\n]|\\.)*"',
    "{MATCHER}": r"\{[^{}]*\}",
    "{BRACES}": r"\{(?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*+\})*+\})*+\}",
    "{PARENTHESES}": r"\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*+\))*+\))*+\)",
}
"""What a pattern may name; longer parts of a command in brackets."""


class Repair(NamedTuple):
    """One mistake and its repair.

    ``expected`` is a pattern for what was expected at the error, ``before`` and ``mistake`` are
    patterns for the text before and after its place; they may name ``TERMS``. What both match is
    replaced by ``new``: a template of ``re.Match.expand``, a function of the match, or None if
    there is no single replacement. ``hint`` contains ``{Write}`` or ``{write}`` for the sentence
    that names the replacement, and may be a template too. ``command`` is the first word of the
    command, if it matters.
    """

    expected: str
    mistake: str
    new: New = None
    hint: str = "{Write}."
    before: str = ""
    command: str = ""


@dataclass(frozen=True)
class Insert:
    """A ``new`` that adds a template before what was found, and ``end`` at the end of the text."""

    text: str
    end: str = ""

    def __call__(self, match: re.Match[str]) -> str:
        return match.expand(self.text)


def repair_hint(rows: Iterable[Repair], text: str, offset: int, expected: str) -> str | None:
    """The hint of the first row that matches; None if there is none."""
    start = max(0, offset - _BEFORE)
    command = text.split(maxsplit=1)[0] if text.strip() else ""
    window = f"{text[start:offset]}\0{text[offset : offset + _AFTER]}"
    for row in rows:
        if not (command.startswith(row.command) and re.search(row.expected, expected)):
            continue
        match = _pattern(row.before, row.mistake).search(window)
        hint = None if match is None else _hint(row, match)
        if hint is not None:
            return hint
    return None


@cache
def _pattern(before: str, mistake: str) -> re.Pattern[str]:
    pattern = f"(?:{before})\0(?:{mistake})"
    for name, term in TERMS.items():
        pattern = pattern.replace(name, term)
    for name, term in TERMS.items():
        pattern = pattern.replace(name, term)
    return re.compile(pattern, re.DOTALL)


def _hint(row: Repair, match: re.Match[str]) -> str | None:
    hint = match.expand(row.hint).replace("\0", "") if "\\" in row.hint else row.hint
    if row.new is None:
        return hint
    new = row.new(match) if callable(row.new) else match.expand(row.new)
    if new is None:
        return None
    before, _, mistake = match.group().partition("\0")
    old = mistake if isinstance(row.new, Insert) else (before + mistake)
    write = _sentence(row, old.strip() if new else old, new)
    if len(write) > LONGEST or write.count("`") % 2 or old.strip() == new:
        return None
    lower = write[0].lower() + write[1:]
    return hint.replace("{Write}", write).replace("{write}", lower)


def _sentence(row: Repair, old: str, new: str) -> str:
    if isinstance(row.new, Insert):
        end = f", and `{row.new.end}` at the end" if row.new.end else ""
        return f"Write `{new}` before `{old}`{end}" if old else f"Add `{new}` at the end"
    return f"Write `{new}` instead of `{old}`" if new else f"Remove `{old}`"


def quoted(text: str) -> str:
    """A text as a string of KIP."""
    return json.dumps(text, ensure_ascii=False)


def unquoted(string: str) -> str:
    """The text of a string of KIP."""
    try:
        return str(json.loads(string))
    except ValueError:
        return string.strip('"')


def fresh(text: str, *names: str) -> str:
    """The first variable that a text does not have; the last one with a number if it has all."""
    used = variables(text)
    numbered = (f"{names[-1]}{number}" for number in count(2))
    return next(name for name in chain(names, numbered) if name not in used)


def variables(text: str) -> list[str]:
    """The variables of a text, each once, in the order of their first mention."""
    return list(dict.fromkeys(re.findall(r"\?[A-Za-z_]\w*", text)))
