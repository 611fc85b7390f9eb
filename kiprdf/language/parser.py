"""Text to tree: ``parse``. Budgets first, then the grammar."""

from __future__ import annotations

import itertools
import re
import sys

from kiprdf import collector
from kiprdf.errors import KipError
from kiprdf.language import ast, limits
from kiprdf.source import Span

# A string that is not closed is one token too, or each quote in it would be tried in vain.
_QUOTED = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
_QUOTED_OR_COMMENT = re.compile(rf"{_QUOTED.pattern}|//[^\n]*", re.DOTALL)
_STRUCTURE = re.compile(rf"{_QUOTED.pattern}|[][{{}}()]|!(?!=)", re.DOTALL)
_STEPS = {**dict.fromkeys(b"([{", 1), **dict.fromkeys(b")]}", -1), **dict.fromkeys(b'"!', 0)}
_NO_MARKS = bytes(set(range(256)) - _STEPS.keys())
_NEGATIONS = re.compile(b"!+")
# A level of nesting costs the readers up to ten Python frames, and the stages behind them fewer;
# Python's usual limit is 1 000 in all, of which the caller may have used many.
_FRAMES_A_LEVEL = 30
_ROOMY_DEPTH = 10


def parse(text: str, *, limit_size: bool = True) -> ast.Command:
    """Read one KIP command (KIP 3, 4, 5); several UPSERT blocks are one command.

    Raises ``KipError``: KIP_1001 or KIP_1002 with the place of the fault, KIP_4002 beyond the
    budgets. ``limit_size=False`` lifts the limit of 256 KiB, for capsules.

    >>> parse('DESCRIBE CONCEPT TYPE "Drug"')
    DescribeType(kind='CONCEPT', name=Scalar(value='Drug'))
    """
    try:
        if limit_size:
            return _parse(text, limit_size)
        return collector.paused(lambda: _parse(text, limit_size))
    except KipError as error:
        raise error.in_source(text) from None


def _parse(text: str, limit_size: bool) -> ast.Command:
    if limit_size and len(text) > limits.COMMAND_BYTES // 4:
        _check_size(text)
    bare = _blanked(text)
    _make_room(_check_nesting(bare, limits.NESTING if limit_size else limits.CAPSULE_NESTING))
    # Imported when a command comes, since not every process that imports kiprdf reads one.
    from kiprdf.language.commands import read

    return read(bare)


def _check_size(text: str) -> None:
    # No text has fewer bytes than characters, and to count these takes no time.
    is_long = len(text) > limits.COMMAND_BYTES
    if is_long or len(text.encode("utf-8", "surrogatepass")) > limits.COMMAND_BYTES:
        message = "The command is longer than 256 KiB."
        hint = "Split it, send values as parameters, or load it with apply_capsule."
        raise KipError("KIP_4002", message, hint)


def _blanked(text: str) -> str:
    """Blank the comments, so that offsets stay; a byte order mark is no part of the command."""
    if text.startswith("\ufeff"):
        text = " " + text[1:]
    if "//" not in text:
        return text
    return _QUOTED_OR_COMMENT.sub(_blank, text)


def _blank(found: re.Match[str]) -> str:
    token = found.group()
    return token if token[0] == '"' else " " * len(token)


def _check_nesting(bare: str, most: int) -> int:
    """Measure the nesting, before anything recurses; KIP_4002 beyond a limit."""
    marks = _QUOTED.sub('"', bare).replace("!=", "").encode("utf-8", "surrogatepass")
    marks = marks.translate(None, _NO_MARKS)
    depth = max(itertools.accumulate(map(_STEPS.__getitem__, marks), initial=0))
    negations = max(map(len, _NEGATIONS.findall(marks)), default=0)
    if depth > most or negations > most:
        raise _too_deep(bare, most)
    return depth + negations


def _too_deep(bare: str, most: int) -> KipError:
    depth = negations = 0
    for match in _STRUCTURE.finditer(bare):
        first = match.group()[0]
        negations = negations + 1 if first == "!" else 0
        depth += _STEPS[ord(first)]
        if depth > most or negations > most:
            break
    message = f"The command nests deeper than {most} levels."
    return KipError("KIP_4002", message, "Split the command.", Span(*match.span()))


def _make_room(depth: int) -> None:
    """Raise Python's recursion limit for a deeply nested command; it is never lowered again.

    Lowering it could strand another thread that is deep in a command of its own.
    """
    wanted = 1_000 + depth * _FRAMES_A_LEVEL
    if depth > _ROOMY_DEPTH and sys.getrecursionlimit() < wanted:
        sys.setrecursionlimit(wanted)
