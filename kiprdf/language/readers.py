"""Compiles the grammar to functions, which are much faster than pyparsing itself.

pyparsing interprets a grammar: each step tries alternatives in turn, raises and catches
exceptions, and wraps results. Here each element is compiled once to one function that accepts the
same text, builds the same nodes and raises the same exceptions, so that the grammar remains the
only definition of the language (docs/decisions/038). ``Scanned`` and ``Built`` are the elements
that pyparsing lacks: tokens read by a function, and nodes of the tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from threading import RLock
from typing import Any, TypeAlias, cast

import pyparsing as pp

from kiprdf.budget import check
from kiprdf.language.values import SPACE, end_of, skip_space
from kiprdf.source import Span

Reader: TypeAlias = Callable[[str, int, list[Any]], int]
"""Takes the text, the offset of a token, and a list to append its parts to; returns the offset of
the next token. Raises ``pp.ParseException`` if another alternative may be tried, and
``pp.ParseSyntaxException`` after a ``-``; the caller then discards the parts appended so far."""


class Word(pp.Regex):
    """A pattern that never matches nothing; pyparsing would compile it to find out."""

    mayReturnEmpty = False  # noqa: N815


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


class Built(pp.ParseElementEnhance):
    """A rule whose node is made by ``build`` from the span and the parts."""

    def __init__(self, expr: pp.ParserElement, build: Callable[..., Any]) -> None:
        super().__init__(expr)
        self.build = build


class Readers:
    """The readers of one grammar, each compiled once."""

    def __init__(self) -> None:
        self._readers: dict[int, Reader] = {}
        self._begun: set[int] = set()
        self._compiling = RLock()

    def of(self, element: pp.ParserElement) -> Reader:
        """The function that reads an element."""
        key = id(element)
        reader = self._readers.get(key)
        if reader is not None:
            return reader
        with self._compiling:
            if key in self._begun:
                # A recursive element.
                return self.later(element)
            if key not in self._readers:
                self._begun.add(key)
                try:
                    self._readers[key] = self._make(element)
                finally:
                    # For example after a RecursionError, which depends on the caller.
                    self._begun.discard(key)
            return self._readers[key]

    def later(self, element: pp.ParserElement) -> Reader:
        """A reader that is compiled when text first gets there: most commands use few rules."""
        get, key = self._readers.get, id(element)
        return lambda text, at, parts: (get(key) or self.of(element))(text, at, parts)

    def _make(self, element: pp.ParserElement) -> Reader:
        match element:
            case Scanned():
                return _scanned(element)
            case pp.Regex() | pp.Literal():
                return _token(element)
            case pp.Suppress():
                return _suppressed(element)
            case pp.And():
                return self._sequence(element)
            case pp.MatchFirst():
                return self._choice(element)
            case pp.Opt():
                return self._optional(element)
            case pp.ZeroOrMore():
                return self._repeated(element)
            case pp.OneOrMore():
                first, others = self.of(_inner(element)), self._repeated(element)
                return lambda text, at, parts: others(text, first(text, at, parts), parts)
            case Built():
                return self._built(element, element.build)
            case pp.Group():
                return self._built(element, lambda span, *parts: parts)
            case pp.Forward():
                return self.of(_inner(element))
        raise AssertionError(f"no reader for {type(element).__name__}")

    def _sequence(self, element: pp.And) -> Reader:
        """One after the other; after a ``-`` an error is final."""
        tentative: list[Reader] = []
        committed: list[Reader] = []
        current = tentative
        for expression in _flat(element):
            if isinstance(expression, pp.And._ErrorStop):
                current = committed
            else:
                current.append(self.of(expression))

        def read(text: str, at: int, parts: list[Any]) -> int:
            for part in tentative:
                at = part(text, at, parts)
            try:
                for part in committed:
                    at = part(text, at, parts)
            except pp.ParseException as fault:
                raise pp.ParseSyntaxException(text, fault.loc, fault.msg) from None
            return at

        return read

    def _choice(self, element: pp.MatchFirst) -> Reader:
        """The first alternative that matches; the next token selects where to start."""
        alternatives, expected = _flat(element), element.errmsg or f"Expected {element}"
        options = [self.later(option) for option in alternatives]
        pattern = re.compile("|".join(f"({_start(option)})" for option in alternatives))
        assert pattern.groups == len(options)
        starts = pattern.match

        def read(text: str, at: int, parts: list[Any]) -> int:
            match = starts(text, at)
            if match is None:
                raise pp.ParseException(text, at, expected)
            furthest, size = None, len(parts)
            for option in options[cast(int, match.lastindex) - 1 :]:
                try:
                    return option(text, at, parts)
                except pp.ParseException as fault:
                    del parts[size:]
                    if furthest is None or fault.loc > furthest.loc:
                        furthest = fault
            assert furthest is not None
            if furthest.loc == at:
                raise pp.ParseException(text, at, expected)
            raise furthest

        return read

    def _optional(self, element: pp.Opt) -> Reader:
        inner, starts = self.later(_inner(element)), re.compile(_start(_inner(element))).match

        def read(text: str, at: int, parts: list[Any]) -> int:
            if starts(text, at) is None:
                return at
            size = len(parts)
            try:
                return inner(text, at, parts)
            except pp.ParseException:
                del parts[size:]
                return at

        return read

    def _repeated(self, element: pp.ZeroOrMore | pp.OneOrMore) -> Reader:
        inner, starts = self.later(_inner(element)), re.compile(_start(_inner(element))).match

        def read(text: str, at: int, parts: list[Any]) -> int:
            while starts(text, at) is not None:
                check()
                size = len(parts)
                try:
                    at = inner(text, at, parts)
                except pp.ParseException:
                    del parts[size:]
                    break
            return at

        return read

    def _built(self, element: Built | pp.Group, build: Callable[..., Any]) -> Reader:
        """Builds one node of many parts; an error expects the name of the rule, if it has one."""
        inner = self.of(_inner(element))
        expected = element.errmsg if element.customName else None

        def read(text: str, at: int, parts: list[Any]) -> int:
            children: list[Any] = []
            try:
                following = inner(text, at, children)
            except pp.ParseException as fault:
                fault.msg = expected or fault.msg
                raise
            parts.append(build(Span(at, end_of(text, following)), *children))
            return following

        return read


def _inner(element: pp.ParseElementEnhance) -> pp.ParserElement:
    assert element.expr is not None
    return element.expr


def _flat(element: pp.And | pp.MatchFirst) -> list[pp.ParserElement]:
    """The parts of ``(a + b) + c``, which pyparsing nests.

    Its ``streamline`` does the same, but also names each rule below: most of a first command.
    """
    parts: list[pp.ParserElement] = []
    for part in element.exprs:
        parts += _flat(part) if type(part) is type(element) else [part]
    return parts


def _scanned(element: Scanned) -> Reader:
    starts, scan, expected = element.start.match, element.scan, element.errmsg

    def read(text: str, at: int, parts: list[Any]) -> int:
        if starts(text, at) is None:
            raise pp.ParseException(text, at, expected)
        node, end = scan(text, at)
        parts.append(node)
        return skip_space(text, end)

    return read


def _token(element: pp.Regex | pp.Literal) -> Reader:
    matches, expected = re.compile(f"({_start(element)}){SPACE}").match, element.errmsg

    def read(text: str, at: int, parts: list[Any]) -> int:
        match = matches(text, at)
        if match is None:
            raise pp.ParseException(text, at, expected)
        parts.append(match.group(1))
        return match.end()

    return read


def _suppressed(element: pp.Suppress) -> Reader:
    token = _inner(element)
    assert isinstance(token, pp.Regex | pp.Literal)
    matches = re.compile(f"(?:{_start(token)}){SPACE}").match
    expected = element.errmsg if element.customName else token.errmsg

    def read(text: str, at: int, parts: list[Any]) -> int:
        match = matches(text, at)
        if match is None:
            raise pp.ParseException(text, at, expected)
        return match.end()

    return read


def _start(element: pp.ParserElement) -> str:
    """A pattern, without groups, for the first token of an element."""
    match element:
        case Scanned():
            return element.start.pattern
        case pp.Regex():
            return cast(str, element.pattern)
        case pp.Literal():
            return re.escape(element.match)
        case pp.MatchFirst():
            return "|".join(_start(option) for option in element.exprs)
        case pp.And():
            return _start(element.exprs[0])
    # No rule of the grammar begins with an optional part.
    assert isinstance(element, Built | pp.Group | pp.Suppress | pp.OneOrMore | pp.Forward)
    return _start(_inner(element))
