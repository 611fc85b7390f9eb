"""Text to tree: ``parse`` checks the size limits, then applies the grammar."""

from __future__ import annotations

import itertools
import re
import sys

from kiprdf import collector
from kiprdf.errors import KipError
from kiprdf.language import ast, limits
from kiprdf.loading import load
from kiprdf.source import Span

# An unclosed string is one token, too; otherwise every quote in it would be tried again.
_QUOTED = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
_QUOTED_OR_COMMENT = re.compile(rf"{_QUOTED.pattern}|//[^\n]*", re.DOTALL)
_STRUCTURE = re.compile(rf"{_QUOTED.pattern}|[][{{}}()]|!(?!=)", re.DOTALL)
_STEPS = {**dict.fromkeys(b"([{", 1), **dict.fromkeys(b")]}", -1), **dict.fromkeys(b'"!', 0)}
_OTHER_BYTES = bytes(set(range(256)) - _STEPS.keys())
_NEGATIONS = re.compile(b"!+")
# A level of nesting takes the readers up to ten Python frames, and later stages fewer. Python's
# default limit is 1 000 frames, of which the caller may already use many.
_FRAMES_PER_LEVEL = 30
_SAFE_DEPTH = 10


def parse(text: str, *, limit_size: bool = True) -> ast.Command:
    """Parse one KIP command (KIP 3, 4, 5); several UPSERT blocks are one command.

    Raises ``KipError``: KIP_1001 or KIP_1002 with the place of the error and the hint that
    ``kiprdf.advice`` has for it, KIP_4002 for a command that exceeds the size limits.
    ``limit_size=False`` lifts the limit of 256 KiB, for capsules.

    >>> parse('DESCRIBE CONCEPT TYPE "Drug"')
    DescribeType(kind='CONCEPT', name=Scalar(value='Drug'))
    """
    try:
        if limit_size:
            return _parse(text, limit_size)
        return collector.paused(lambda: _parse(text, limit_size))
    except KipError as error:
        if error.expected is not None:
            load("kiprdf.advice")
            from kiprdf import advice

            error.hint = advice.of(_blanked(text), error)
        raise error.in_source(text) from None


def _parse(text: str, limit_size: bool) -> ast.Command:
    if limit_size and len(text) > limits.COMMAND_BYTES // 4:
        _check_size(text)
    bare = _blanked(text)
    _make_room(_check_nesting(bare, limits.NESTING if limit_size else limits.CAPSULE_NESTING))
    # Imported here because not every process that imports kiprdf parses a command.
    load("kiprdf.language.commands")
    from kiprdf.language.commands import read

    return read(bare)


def _check_size(text: str) -> None:
    # A string has at least as many bytes as characters, and counting characters is free.
    is_long = len(text) > limits.COMMAND_BYTES
    if is_long or len(text.encode("utf-8", "surrogatepass")) > limits.COMMAND_BYTES:
        message = "The command is longer than 256 KiB."
        hint = "Split it, send values as parameters, or load it with apply_capsule."
        raise KipError("KIP_4002", message, hint)


def _blanked(text: str) -> str:
    """Replace comments and a byte order mark by spaces, so that offsets stay valid."""
    if text.startswith("\ufeff"):
        text = " " + text[1:]
    if "//" not in text:
        return text
    return _QUOTED_OR_COMMENT.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    token = match.group()
    return token if token[0] == '"' else " " * len(token)


def _check_nesting(bare: str, limit: int) -> int:
    """Measure the nesting depth before anything recurses; KIP_4002 beyond a limit."""
    brackets = _QUOTED.sub('"', bare).replace("!=", "").encode("utf-8", "surrogatepass")
    brackets = brackets.translate(None, _OTHER_BYTES)
    depth = max(itertools.accumulate(map(_STEPS.__getitem__, brackets), initial=0))
    negations = max(map(len, _NEGATIONS.findall(brackets)), default=0)
    if depth > limit or negations > limit:
        raise _too_deep(bare, limit)
    return depth + negations


def _too_deep(bare: str, limit: int) -> KipError:
    depth = negations = 0
    for match in _STRUCTURE.finditer(bare):
        first = match.group()[0]
        negations = negations + 1 if first == "!" else 0
        depth += _STEPS[ord(first)]
        if depth > limit or negations > limit:
            break
    message = f"The command nests deeper than {limit} levels."
    return KipError("KIP_4002", message, "Split the command.", Span(*match.span()))


def _make_room(depth: int) -> None:
    """Raise Python's recursion limit for a deeply nested command.

    It is never lowered again: another thread may be deep in another command.
    """
    required = 1_000 + depth * _FRAMES_PER_LEVEL
    if depth > _SAFE_DEPTH and sys.getrecursionlimit() < required:
        sys.setrecursionlimit(required)
