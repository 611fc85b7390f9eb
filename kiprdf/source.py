"""Places in a command: spans, line and column, and an excerpt with carets."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """A half-open range of code point offsets in the text of a command."""

    start: int
    end: int


NOWHERE = Span(-1, -1)


def position(text: str, offset: int) -> tuple[int, int]:
    """The line and column of an offset, both from 1; columns are code points.

    >>> position("FIND(?a)\\nWHERE", 9)
    (2, 1)
    """
    line_start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, offset - line_start + 1


def excerpt(text: str, span: Span) -> str:
    """The line in which a span begins, with carets under the span.

    >>> print(excerpt('?d {type: "drug"}', Span(10, 16)))
    ?d {type: "drug"}
              ^^^^^^
    """
    line_start = text.rfind("\n", 0, span.start) + 1
    line_end = text.find("\n", span.start)
    line = text[line_start : line_end if line_end >= 0 else len(text)]
    width = max(1, min(span.end, line_start + len(line)) - span.start)
    # Tabs are kept in the margin, so that the caret is below its character.
    margin = "".join("\t" if c == "\t" else " " for c in line[: span.start - line_start])
    return f"{line}\n{margin}{'^' * width}"
