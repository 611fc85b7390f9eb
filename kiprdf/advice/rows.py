"""The rows of the chapters (``*.toml``), and their matching.

A ``[[row]]`` is one mistake:

expected  what was expected at the error: a name of ``[expected]``, a pattern, or a list of these;
          by default anything
before    the pattern of the text before the place of the error
mistake   the pattern of the text at its place
new       what replaces all that the two patterns match: a template of ``re.Match.expand``, in
          which ``{!}`` is "!" if the group ``negated`` matched; ``{insert = …, end = …}`` for
          what is added before the mistake, and at the end of the text; or ``{call = …}`` with a
          function of ``functions`` and its arguments. Without it there is no single replacement.
hint      by default "{Write}."; ``{Write}`` or ``{write}`` is the sentence that names the
          replacement, ``{hint}`` the hint that the error had
command   the first word of the command, if it matters
words     the row is one of a family: it is repeated for each key with its pattern, which are
          ``{NEW}`` and ``{WORDS}`` in the row; or the name of such a table in ``[words]``

Patterns name parts of a command (``texts.PARTS``) and those of ``[patterns]`` in braces. A row
with ``{TEXTS}`` ignores case: it is repeated for texts and for a placeholder. ``[[last]]`` are
rows that are less specific than a keyword of similar spelling.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from kiprdf.advice import functions
from kiprdf.advice.texts import LONGEST, PARTS

CHAPTERS = ("characters", "first_word", "write", "ask", "filter", "find", "where")
"""In the order in which their rows are tried."""
_BEFORE, _AFTER = 500, 2_000
"""The characters around an error that a row sees."""


class Insert(NamedTuple):
    """A ``new`` that is added before the mistake, with ``end`` at the end of the text."""

    insert: str
    end: str = ""


New: TypeAlias = str | Insert | Callable[[re.Match[str]], str | None] | None


class Row(NamedTuple):
    """One mistake and its repair, with every name replaced by its pattern."""

    expected: str
    pattern: str
    new: New
    hint: str
    command: str


@cache
def chapter(name: str) -> dict[str, Any]:
    """The tables of a file of this package."""
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text("utf-8"))


@cache
def all_rows(kind: str = "row") -> tuple[Row, ...]:
    """The rows of all chapters, in the order in which they are tried."""
    return tuple(row for name in CHAPTERS for row in _rows(chapter(name), kind))


def _rows(tables: dict[str, Any], kind: str) -> Iterator[Row]:
    expected, words = tables["expected"], tables.get("words", {})
    named = {f"{{{name}}}": text for name, text in tables.get("patterns", {}).items()}
    for family in tables.get(kind, ()):
        for row in _members(family, words):
            listed = row.get("expected", "")
            alternatives = [listed] if isinstance(listed, str) else listed
            pattern = f"(?:{row.get('before', '')})\0(?:{row['mistake']})"
            yield Row(
                "|".join(expected.get(each, each) for each in alternatives),
                _filled(pattern, named),
                _new(row.get("new"), words),
                row.get("hint", "{Write}."),
                row.get("command", ""),
            )


def _members(family: dict[str, Any], words: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of a family; the row itself if it is not a family."""
    listed = family.get("words", {"": ""})
    table: dict[str, str] = words[listed] if isinstance(listed, str) else listed
    for new, pattern in table.items():
        row = _filled(family, {"{NEW}": new, "{WORDS}": pattern})
        yield from functions.rows_of_texts(row) if "{TEXTS}" in str(row) else (row,)


def _filled(value: Any, texts: dict[str, str]) -> Any:
    """A value of a row with names replaced, also in what they are replaced by."""
    if isinstance(value, str):
        for _ in range(3):
            for name, text in texts.items():
                value = value.replace(name, text)
        return value
    if isinstance(value, dict):
        return {key: _filled(item, texts) for key, item in value.items()}
    return [_filled(item, texts) for item in value] if isinstance(value, list) else value


def _new(new: Any, words: dict[str, Any]) -> New:
    if not isinstance(new, dict):
        return new  # type: ignore[no-any-return]
    if "insert" in new:
        return Insert(**new)
    arguments = {key: value for key, value in new.items() if key != "call"}
    if "words" in arguments:
        arguments["words"] = [words[name] for name in arguments["words"]]
    return partial(getattr(functions, new["call"]), **arguments)


def hint_of(rows: Iterable[Row], text: str, at: int, expected: str, own: str = "") -> str | None:
    """The hint of the first row that matches an error; None if there is none."""
    start = max(0, at - _BEFORE)
    command = text.split(maxsplit=1)[0] if text.strip() else ""
    window = f"{text[start:at]}\0{text[at : at + _AFTER]}"
    for row in rows:
        if not (command.startswith(row.command) and re.search(row.expected, expected)):
            continue
        match = _compiled(row.pattern).search(window)
        hint = None if match is None else _hint(row, match, own)
        if hint is not None:
            return hint
    return None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(_filled(pattern, PARTS), re.DOTALL)


def _hint(row: Row, match: re.Match[str], own: str) -> str | None:
    hint = match.expand(row.hint).replace("\0", "") if "\\" in row.hint else row.hint
    if row.new is None:
        return hint
    new = _replacement(row.new, match)
    if new is None:
        return None
    before, _, mistake = match.group().partition("\0")
    old = mistake if isinstance(row.new, Insert) else (before + mistake)
    write = _sentence(row.new, old.strip() if new else old, new)
    if len(write) > LONGEST or write.count("`") % 2 or old.strip() == new:
        return None
    sentences = {"Write": write, "write": write[0].lower() + write[1:], "hint": own}
    return re.sub(r"\{(Write|write|hint)\}", lambda named: sentences[named[1]], hint)


def _replacement(new: New, match: re.Match[str]) -> str | None:
    if isinstance(new, Insert):
        return match.expand(new.insert)
    if isinstance(new, str):
        negated = "{!}" in new and match["negated"]
        return match.expand(new.replace("{!}", "!" if negated else ""))
    assert new is not None
    return new(match)


def _sentence(how: New, old: str, new: str) -> str:
    if isinstance(how, Insert):
        end = f", and `{how.end}` at the end" if how.end else ""
        return f"Write `{new}` before `{old}`{end}" if old else f"Add `{new}` at the end"
    return f"Write `{new}` instead of `{old}`" if new else f"Remove `{old}`"
