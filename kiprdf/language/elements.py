"""Two grammar elements that pyparsing lacks: tokens read by a function, and nodes of the tree.

pyparsing itself can run both; ``kiprdf.language.readers`` compiles them to functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pyparsing as pp

from kiprdf.language.values import end_of, skip_space
from kiprdf.source import Span


class Scanned(pp.Token):
    """A token read by the function ``scan`` where the pattern ``start`` matches."""

    def __init__(
        self, name: str, start: re.Pattern[str], scan: Callable[[str, int], tuple[Any, int]]
    ) -> None:
        super().__init__()
        self.start = start
        self.scan = scan
        self.set_name(name)

    def _generateDefaultName(self) -> str:  # noqa: N802
        return "value"

    def parseImpl(  # noqa: N802
        self, instring: str, loc: int, do_actions: bool = True
    ) -> tuple[int, Any]:
        if self.start.match(instring, loc) is None:
            raise pp.ParseException(instring, loc, self.errmsg, self)
        node, end = self.scan(instring, loc)
        return end, pp.ParseResults([node])


class Built(pp.ParseElementEnhance):
    """A rule whose node is made by ``build`` from the span and the parts."""

    def __init__(self, expr: pp.ParserElement, build: Callable[..., Any]) -> None:
        super().__init__(expr)
        self.build = build

    def parseImpl(  # noqa: N802
        self, instring: str, loc: int, do_actions: bool = True
    ) -> tuple[int, Any]:
        start = skip_space(instring, loc)
        end, parts = super().parseImpl(instring, start, do_actions)  # type: ignore[no-untyped-call]
        return end, pp.ParseResults([self.build(Span(start, end_of(instring, end)), *parts)])
