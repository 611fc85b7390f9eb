"""The grammar as functions: what pyparsing's elements mean, without what they cost.

pyparsing runs a grammar by walking its elements: each step tries alternatives in turn, throws what
fails and wraps what it finds. Here each element becomes one function, once. It accepts what the
element accepts, builds the same nodes and raises the same exceptions, so that the language is
written down in one place, the grammar (docs/decisions/038).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias, cast

import pyparsing as pp

from kiprdf.budget import check
from kiprdf.language.elements import Built, Scanned
from kiprdf.language.values import SPACE, end_of, skip_space
from kiprdf.source import Span

Reader: TypeAlias = Callable[[str, int, list[Any]], int]
"""Takes the text, the offset of a token, and a list that it adds its parts to; returns the offset
of the next token. Raises ``pp.ParseException`` where another alternative may be tried, and
``pp.ParseSyntaxException`` behind a ``-``; what it has added until then is of no use."""


class Readers:
    """The readers of one grammar, each made once."""

    def __init__(self) -> None:
        self._made: dict[int, Reader] = {}

    def of(self, element: pp.ParserElement) -> Reader:
        """The function that reads what an element describes."""
        key, made = id(element), self._made
        if key not in made:
            # An element may hold itself: what is made meanwhile looks the reader up when it reads.
            made[key] = lambda text, at, parts: self.of(element)(text, at, parts)
            try:
                made[key] = self._make(element.streamline())
            except BaseException:
                # A caller who is too deep in calls of his own; the next one may not be.
                del made[key]
                raise
        return made[key]

    def _make(self, element: pp.ParserElement) -> Reader:
        match element:
            case Scanned():
                return _scanned(element)
            case pp.Regex() | pp.Literal():
                return _kept(element)
            case pp.Suppress():
                return _suppressed(element)
            case pp.And():
                return self._sequence(element)
            case pp.MatchFirst():
                return self._choice(element)
            case pp.Opt():
                return self._maybe(element)
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
        """One after the other; behind a ``-`` a fault is final."""
        tried: list[Reader] = []
        committed: list[Reader] = []
        current = tried
        for part in element.exprs:
            if isinstance(part, pp.And._ErrorStop):
                current = committed
            else:
                current.append(self.of(part))

        def read(text: str, at: int, parts: list[Any]) -> int:
            for one in tried:
                at = one(text, at, parts)
            try:
                for one in committed:
                    at = one(text, at, parts)
            except pp.ParseException as fault:
                raise pp.ParseSyntaxException(text, fault.loc, fault.msg) from None
            return at

        return read

    def _choice(self, element: pp.MatchFirst) -> Reader:
        """The first alternative that can be read; the next token tells where to begin."""
        options, expected = [self.of(option) for option in element.exprs], element.errmsg
        pattern = re.compile("|".join(f"({_start(option)})" for option in element.exprs))
        assert pattern.groups == len(options)
        starting = pattern.match

        def read(text: str, at: int, parts: list[Any]) -> int:
            found = starting(text, at)
            if found is None:
                raise pp.ParseException(text, at, expected)
            furthest, size = None, len(parts)
            for option in options[cast(int, found.lastindex) - 1 :]:
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

    def _maybe(self, element: pp.Opt) -> Reader:
        inner, starting = self.of(_inner(element)), re.compile(_start(_inner(element))).match

        def read(text: str, at: int, parts: list[Any]) -> int:
            if starting(text, at) is None:
                return at
            size = len(parts)
            try:
                return inner(text, at, parts)
            except pp.ParseException:
                del parts[size:]
                return at

        return read

    def _repeated(self, element: pp.ZeroOrMore | pp.OneOrMore) -> Reader:
        inner, starting = self.of(_inner(element)), re.compile(_start(_inner(element))).match

        def read(text: str, at: int, parts: list[Any]) -> int:
            while starting(text, at) is not None:
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
        """Makes one part of many; where the rule has a name, that is what a fault expects."""
        inner = self.of(_inner(element))
        expected = element.errmsg if element.customName else None

        def read(text: str, at: int, parts: list[Any]) -> int:
            own: list[Any] = []
            try:
                following = inner(text, at, own)
            except pp.ParseException as fault:
                fault.msg = expected or fault.msg
                raise
            parts.append(build(Span(at, end_of(text, following)), *own))
            return following

        return read


def _inner(element: pp.ParseElementEnhance) -> pp.ParserElement:
    assert element.expr is not None
    return element.expr


def _scanned(element: Scanned) -> Reader:
    starting, scan, expected = element.start.match, element.scan, element.errmsg

    def read(text: str, at: int, parts: list[Any]) -> int:
        if starting(text, at) is None:
            raise pp.ParseException(text, at, expected)
        node, end = scan(text, at)
        parts.append(node)
        return skip_space(text, end)

    return read


def _kept(element: pp.Regex | pp.Literal) -> Reader:
    matching, expected = re.compile(f"({_start(element)}){SPACE}").match, element.errmsg

    def read(text: str, at: int, parts: list[Any]) -> int:
        found = matching(text, at)
        if found is None:
            raise pp.ParseException(text, at, expected)
        parts.append(found.group(1))
        return found.end()

    return read


def _suppressed(element: pp.Suppress) -> Reader:
    token = _inner(element)
    assert isinstance(token, pp.Regex | pp.Literal)
    matching = re.compile(f"(?:{_start(token)}){SPACE}").match
    expected = element.errmsg if element.customName else token.errmsg

    def read(text: str, at: int, parts: list[Any]) -> int:
        found = matching(text, at)
        if found is None:
            raise pp.ParseException(text, at, expected)
        return found.end()

    return read


def _start(element: pp.ParserElement) -> str:
    """The pattern of the tokens that an element may begin with; it captures nothing."""
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
    # No rule of the grammar begins with what may be missing.
    assert isinstance(element, Built | pp.Group | pp.Suppress | pp.OneOrMore | pp.Forward)
    return _start(_inner(element))
