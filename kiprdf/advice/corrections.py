"""The commands that follow a hint: each replacement that it names, made in the text."""

from __future__ import annotations

import re

from kiprdf.advice.texts import quoted, unquoted
from kiprdf.errors import KipError, KipWarning
from kiprdf.source import NOWHERE

_TICKED = "`([^`]*)`"
_WRITE = re.compile(
    rf"(?i:write) {_TICKED} (instead of|before) {_TICKED}(?:,? and (?:add )?{_TICKED} at the end)?"
)
_REMOVE = re.compile(rf"(?i:remove) {_TICKED}")
_ADD = re.compile(rf"(?<!and )(?i:add) {_TICKED} at the end")
_MEANT = re.compile(r"Did you mean (\??.+?)\?(?!\w)")
_NAMES = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"")
_WHOLE = re.compile(r"(?:^Write|matches:) (?!THRESHOLD)([?(!A-Z][^`]*)$")


def corrections(problem: KipError | KipWarning) -> list[str]:
    """The commands that result from following a hint, one for each of its alternatives.

    >>> from kiprdf.source import Span
    >>> hint = "Write `FIND` instead of `find`."
    >>> corrections(KipError("KIP_1001", "Expected FIND.", hint, Span(0, 4), "find(?x)"))
    ['FIND(?x)']
    """
    text, hint = problem.source, problem.hint
    if text is None or hint is None or problem.span == NOWHERE:
        return []
    start, end = problem.span.start, problem.span.end
    commands = []
    for new, how, old, last in _WRITE.findall(hint):
        at = _place(text, old, start)
        rest = text[at + (len(old) if how == "instead of" else 0) :]
        commands.append(text[:at] + new + (rest.rstrip() + last if last else rest))
    for old in _REMOVE.findall(hint):
        at = _place(text, old, start)
        commands.append(text[:at] + text[at + len(old) :])
    commands += [text.rstrip() + last for last in _ADD.findall(hint)]
    for meant in _MEANT.findall(hint):
        is_text = text[start : start + 1] == '"'
        for name in _NAMES.findall(meant) or [meant]:
            plain = name[1:-1] if name[0] == "'" else unquoted(name)
            word = re.compile(r"[\w$]+").match(text, start)
            until = end if is_text or word is None else word.end()
            commands.append(text[:start] + (quoted(plain) if is_text else plain) + text[until:])
    commands += [text[:start] + whole + text[end:] for whole in _WHOLE.findall(hint)]
    return list(dict.fromkeys(commands))


def _place(text: str, old: str, start: int) -> int:
    """Where a text is that a hint names: at the place of the error, or around it."""
    at = text.rfind(old, 0, start + len(old))
    return start if at < 0 else at
