"""docs/grammar.md is run as a parser and compared with the grammar in the code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, get_args

import pyparsing as pp

from kiprdf import resources
from kiprdf.errors import KipError
from kiprdf.language import ast, grammar, names, parse
from tests.cases import each_case

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "grammar.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```kip[^\n]*\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)

_TOKEN = re.compile(r'\s*(?:"([^"]+)"|/((?:[^/\\\n]|\\.)+)/|([a-z_]+)|([]=;|()[{}]))')
_SPACE = re.compile(r"(?:[ \t\r\n]|//[^\n]*)*")


# The notation ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Terminal:
    text: str


@dataclass(frozen=True)
class Pattern:
    regex: str


@dataclass(frozen=True)
class Rule:
    name: str


@dataclass(frozen=True)
class Sequence:
    parts: tuple[Item, ...]


@dataclass(frozen=True)
class Choice:
    options: tuple[Item, ...]


@dataclass(frozen=True)
class Maybe:
    item: Item


@dataclass(frozen=True)
class Repeated:
    item: Item


Item: TypeAlias = Terminal | Pattern | Rule | Sequence | Choice | Maybe | Repeated


class _Notation:
    """Reads the rules of the page."""

    def __init__(self, text: str) -> None:
        self._tokens = [match.groups() for match in _TOKEN.finditer(text)]
        self._at = 0

    def rules(self) -> dict[str, Item]:
        rules: dict[str, Item] = {}
        while self._at < len(self._tokens):
            name = self._take()[2]
            assert name, self._tokens[self._at]
            assert name not in rules, name
            assert self._take()[3] == "="
            rules[name] = self._choice()
            assert self._take()[3] == ";", name
        return rules

    def _take(self) -> tuple[str | None, ...]:
        self._at += 1
        return self._tokens[self._at - 1]

    def _mark(self) -> str | None:
        return self._tokens[self._at][3]

    def _choice(self) -> Item:
        options = [self._sequence()]
        while self._mark() == "|":
            self._take()
            options.append(self._sequence())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _sequence(self) -> Item:
        parts: list[Item] = []
        while self._mark() not in ("|", ";", ")", "]", "}"):
            parts.append(self._item())
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _item(self) -> Item:
        terminal, regex, rule, opened = self._take()
        if terminal:
            return Terminal(terminal)
        if regex:
            return Pattern(regex)
        if rule:
            return Rule(rule)
        inner = self._choice()
        assert self._take()[3] == {"(": ")", "[": "]", "{": "}"}[opened or ""]
        return {"(": inner, "[": Maybe(inner), "{": Repeated(inner)}[opened or ""]


RULES = _Notation("\n".join(re.findall(r"^```ebnf\n(.*?)^```$", PAGE, re.M | re.S))).rules()


@dataclass
class Recognizer:
    """Decides whether a text is a command; follows every way to read it."""

    text: str
    rules: dict[str, Item]
    _memo: dict[tuple[str, int], frozenset[int]] = field(default_factory=dict)

    def accepts(self) -> bool:
        ends = self._rule("command", 0)
        return any(self._skip(end) == len(self.text) for end in ends)

    def _skip(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        assert match is not None
        return match.end()

    def _rule(self, name: str, at: int) -> frozenset[int]:
        if (name, at) not in self._memo:
            self._memo[name, at] = self._ends(self.rules[name], at)
        return self._memo[name, at]

    def _ends(self, item: Item, at: int) -> frozenset[int]:
        match item:
            case Terminal():
                return self._regex(_terminal(item.text), at)
            case Pattern():
                return self._regex(_compiled(item.regex), at)
            case Rule():
                return self._rule(item.name, at)
            case Sequence():
                ends = frozenset((at,))
                for part in item.parts:
                    ends = self._after(part, ends)
                return ends
            case Choice():
                return frozenset().union(*(self._ends(option, at) for option in item.options))
            case Maybe():
                return self._ends(item.item, at) | {at}
            case Repeated():
                return self._repeated(item.item, at)

    def _after(self, part: Item, starts: frozenset[int]) -> frozenset[int]:
        return frozenset().union(*(self._ends(part, start) for start in starts))

    def _repeated(self, item: Item, at: int) -> frozenset[int]:
        reached = latest = frozenset((at,))
        while latest:
            latest = self._after(item, latest) - reached
            reached |= latest
        return reached

    def _regex(self, regex: re.Pattern[str], at: int) -> frozenset[int]:
        match = regex.match(self.text, self._skip(at))
        return frozenset((match.end(),)) if match else frozenset()


@cache
def _compiled(regex: str) -> re.Pattern[str]:
    return re.compile(regex)


@cache
def _terminal(text: str) -> re.Pattern[str]:
    """A keyword ends where the word ends; ``!`` is not the beginning of ``!=``."""
    ends = {"!": "(?!=)"}.get(text, r"(?![A-Za-z0-9_])" if text[-1].isalpha() else "")
    return re.compile(re.escape(text) + ends)


def accepted(text: str, rules: dict[str, Item] = RULES) -> bool:
    return Recognizer(text, rules).accepts()


def _parts(item: Item) -> Iterator[Item]:
    yield item
    match item:
        case Sequence():
            children: tuple[Item, ...] = item.parts
        case Choice():
            children = item.options
        case Maybe() | Repeated():
            children = (item.item,)
        case _:
            children = ()
    for child in children:
        yield from _parts(child)


ITEMS = [part for rule in RULES.values() for part in _parts(rule)]


# The page in itself ---------------------------------------------------------------------------


def test_every_rule_that_is_named_is_defined_and_every_rule_is_used() -> None:
    named = {item.name for item in ITEMS if isinstance(item, Rule)}
    assert named | {"command"} == set(RULES)


@each_case("example", EXAMPLES)
def test_examples_are_accepted_by_page_and_code(example: str) -> None:
    parse(example)
    assert accepted(example)


@each_case("name", RULES)
def test_every_rule_is_needed_by_an_example(name: str) -> None:
    without = {**RULES, name: Terminal("\0")}
    assert not all(accepted(example, without) for example in EXAMPLES)


@each_case("terminal", sorted({i for i in ITEMS if isinstance(i, Terminal)}, key=str))
def test_every_terminal_is_needed_by_an_example(terminal: Terminal) -> None:
    without = {name: _replaced(rule, terminal) for name, rule in RULES.items()}
    assert not all(accepted(example, without) for example in EXAMPLES)


def _replaced(item: Item, gone: Terminal) -> Item:
    match item:
        case Sequence():
            return Sequence(tuple(_replaced(part, gone) for part in item.parts))
        case Choice():
            return Choice(tuple(_replaced(option, gone) for option in item.options))
        case Maybe():
            return Maybe(_replaced(item.item, gone))
        case Repeated():
            return Repeated(_replaced(item.item, gone))
        case _:
            return Terminal("\0") if item == gone else item


# The page against the code --------------------------------------------------------------------


def _elements(element: pp.ParserElement, visited: set[int]) -> Iterator[pp.ParserElement]:
    if id(element) in visited:
        return
    visited.add(id(element))
    yield element
    for child in element.recurse():
        yield from _elements(child, visited)


def _terminals_of_the_code() -> set[str]:
    """The keywords, names, operators and marks of the combinators."""
    visited: set[int] = set()
    terminals: set[str] = set()
    for command in grammar.COMMANDS.values():
        for element in _elements(command, visited):
            if isinstance(element, pp.Keyword | pp.Literal):
                terminals.add(element.match)
            elif isinstance(element, pp.Regex):
                terminals.update(
                    re.findall(r"[A-Z_]{2,}", element.pattern.replace("A-Za-z0-9_", ""))
                )
                terminals.update(
                    re.findall(r"[=!<>]=|^!|[<>]", element.pattern.partition("(?!")[0])
                )
    return terminals - {""}


# What the scanner reads (kiprdf/language/values.py), and the keys of a concept matcher.
_SCANNED = {"true", "false", "null", "{", "}", "[", "]", ",", ":", ".", "(", ")"}
_SCANNED |= set(get_args(ast.NumberFunction))
_MATCHER_KEYS = {"id", "type", "name"}


def test_the_terminals_of_the_page_are_those_of_the_code() -> None:
    page = {item.text for item in ITEMS if isinstance(item, Terminal)}
    fields = set(ast.CONCEPT_FIELDS) | set(ast.PROPOSITION_FIELDS)
    assert page == _terminals_of_the_code() | _SCANNED | _MATCHER_KEYS | fields


def test_the_keywords_of_the_page_are_those_that_the_parser_hints_at() -> None:
    page = {i.text for i in ITEMS if isinstance(i, Terminal) and re.fullmatch("[A-Z_]+", i.text)}
    assert page == names.KEYWORDS


def _steps() -> Iterator[tuple[str, dict[str, Any]]]:
    """The commands of the conformance cases, save those that nest too deeply for the page."""
    for path in sorted((ROOT / "tests" / "conformance").glob("*.json")):
        content = json.loads(path.read_text("utf-8"))
        for case in content["cases"]:
            for step in (case, *case.get("then", ())):
                too_deep = path.stem == "budgets" or "deeply_nested" in case["name"]
                if isinstance(step.get("command"), str) and not too_deep:
                    yield f"{path.stem}: {case['name']}", step


def test_the_page_accepts_every_command_that_the_conformance_cases_run() -> None:
    refused = [
        name
        for name, step in _steps()
        if '"error"' not in json.dumps(step["expect"]) and not accepted(step["command"])
    ]
    assert refused == []


# What the page says in prose: the code refuses it, the rules alone do not.
_BEYOND_THE_RULES = (
    "stands twice",
    "occurs twice",
    "outside the 64-bit range",
    "is not finite",
    "is a lone surrogate",
    "exceeds its maximum",
    "list of IN is empty",
    "cannot have hops or alternatives",
)


def test_what_the_code_refuses_the_page_refuses_or_says_so_in_prose() -> None:
    wrong = []
    for name, step in _steps():
        if accepted(step["command"]):
            try:
                parse(step["command"])
            except KipError as error:
                if not any(part in error.message for part in _BEYOND_THE_RULES):
                    wrong.append((name, str(error)))
    assert wrong == []


@each_case("capsule", resources.bundled_capsules())
def test_the_page_accepts_the_bundled_capsules(capsule: resources.Capsule) -> None:
    assert accepted(capsule.text)
