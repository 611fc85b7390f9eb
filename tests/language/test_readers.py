"""The readers against pyparsing itself, which runs the same grammar."""

from __future__ import annotations

import dataclasses
import json
import random
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyparsing as pp
import pytest

from kiprdf import resources
from kiprdf.errors import KipError
from kiprdf.language import ast, grammar, values
from kiprdf.language.names import KEYWORDS
from kiprdf.language.readers import Built, Readers, Scanned
from kiprdf.source import Span
from tests.cases import each_case
from tests.long_runs import amount
from tests.trust import children

CASES = Path(__file__).resolve().parents[1] / "conformance"
READERS = Readers()


def scan(self: Scanned, text: str, at: int, _do_actions: bool = True) -> tuple[int, Any]:
    """What pyparsing itself would do with a scanned token."""
    if self.start.match(text, at) is None:
        raise pp.ParseException(text, at, self.errmsg, self)
    node, end = self.scan(text, at)
    return end, pp.ParseResults([node])


def build(self: Built, text: str, at: int, do_actions: bool = True) -> tuple[int, Any]:
    """What pyparsing itself would do with a rule that builds a node."""
    start = values.skip_space(text, at)
    enhanced = pp.ParseElementEnhance.parseImpl
    end, parts = enhanced(self, text, start, do_actions)  # type: ignore[no-untyped-call]
    return end, pp.ParseResults([self.build(Span(start, values.end_of(text, end)), *parts)])


@pytest.fixture(autouse=True, scope="module")
def run_by_pyparsing() -> Iterator[None]:
    """Let pyparsing run the grammar, which kiprdf only compiles."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Scanned, "parseImpl", scan)
        patch.setattr(Built, "parseImpl", build)
        for command in grammar.COMMANDS.values():
            # Otherwise pyparsing replaces tabs by spaces, which shifts the offsets.
            command.parse_with_tabs()
        yield


def by_pyparsing(text: str, word: str) -> tuple[Any, int]:
    (command,) = grammar.COMMANDS[word].parse_string(text)
    return command, values.skip_space(text, command.span.end)


def by_reader(text: str, word: str) -> tuple[Any, int]:
    parts: list[Any] = []
    end = READERS.of(grammar.COMMANDS[word])(text, values.skip_space(text, 0), parts)
    (command,) = parts
    return command, end


def outcome(read: Any, text: str) -> Any:
    """The tree with its spans and what follows it, or the fault."""
    word = re.match(r"\s*([A-Z]*)", text).group(1)  # type: ignore[union-attr]
    if word not in grammar.COMMANDS:
        return None
    try:
        command, end = read(text, word)
    except KipError as error:
        return error.code, error.message, error.hint, error.span
    except pp.ParseBaseException as fault:
        return fault.msg, values.skip_space(text, fault.loc)
    return with_spans(command), end


def with_spans(node: Any) -> Any:
    """A tree, spans and all; they take no part in the equality of nodes."""
    if isinstance(node, ast.Node):
        fields = dataclasses.fields(node)
        return type(node).__name__, [with_spans(getattr(node, field.name)) for field in fields]
    if type(node) is tuple:
        return [with_spans(item) for item in node]
    return type(node).__name__, node


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        # Deeper ones than these are beyond pyparsing, within the usual limit of recursion.
        if re.match(r"\s*[A-Z]{4}", value) and sum(map(value.count, "({[!")) < 40:
            # The readers see no comments; the parser has blanked them.
            yield value.replace("//", "  ")
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


COMMANDS = sorted(
    {text for path in CASES.glob("*.json") for text in _texts(json.loads(path.read_text("utf-8")))}
)
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[?:]?\w+|\s+|&&|\|\||[=!<>]=|.', re.DOTALL)
SYMBOLS = [*'{}()[],:.?!"<>', "==", "!=", "&&", "||", "|", "{1,}"]
WORDS = ["?x", "?x.name", ":p", "id", "name", "1", "-2.5", '"a"', "true", "IN("]
PHRASES = ['{type: "Drug", name: "A"}', '(?x, "treats", ?y)', "WITH METADATA {a: 1}"]
TOKENS = sorted(KEYWORDS) + SYMBOLS + WORDS + PHRASES


def mutated(text: str, chance: random.Random) -> str:
    """A command with one to three of its tokens or characters changed."""
    for _ in range(chance.randint(1, 3)):
        parts = TOKEN.findall(text) if chance.random() < 0.7 else list(text)
        at = chance.randrange(len(parts) + 1)
        width = chance.choice((0, 1, 1, len(parts)))
        parts[at : at + width] = [chance.choice(TOKENS)] * chance.choice((0, 1, 1))
        text = "".join(parts)
    return text


@each_case("capsule", resources.bundled_capsules())
def test_a_capsule_is_read_as_by_pyparsing(capsule: resources.Capsule) -> None:
    text = re.sub(r"//[^\n\"]*$", "", capsule.text, flags=re.MULTILINE)
    assert outcome(by_reader, text) == outcome(by_pyparsing, text)


def test_a_command_is_read_as_by_pyparsing() -> None:
    assert len(COMMANDS) > 1_000
    differ = [t for t in COMMANDS if outcome(by_reader, t) != outcome(by_pyparsing, t)]
    assert differ == []


def test_a_faulty_command_has_the_fault_that_pyparsing_finds() -> None:
    chance = random.Random(38)
    texts = [mutated(chance.choice(COMMANDS), chance) for _ in range(amount("FUZZ", 3_000))]
    faults = [outcome(by_reader, text) for text in texts]
    differ = [
        text
        for text, fault in zip(texts, faults, strict=True)
        if fault != outcome(by_pyparsing, text)
    ]
    assert differ == []
    assert len({fault[0] for fault in faults if fault and isinstance(fault[0], str)}) >= 50


@pytest.mark.parametrize("word", grammar.COMMANDS)
def test_a_command_that_ends_anywhere_has_the_fault_that_pyparsing_finds(word: str) -> None:
    begun = [text for text in COMMANDS if text.startswith(word) and len(text) < 600]
    longest = max(begun, key=len)
    for end in range(len(word), len(longest)):
        text = longest[:end]
        assert outcome(by_reader, text) == outcome(by_pyparsing, text)


@each_case("depth", range(860, 960, 20))
def test_a_caller_who_is_too_deep_spoils_nothing_for_the_next(depth: int) -> None:
    code = """
import sys, kiprdf
kiprdf.parse("DESCRIBE PRIMER")
text = 'FIND(?d.name) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "treats", ?s) } }'
def deep(steps):
    return deep(steps - 1) if steps else kiprdf.parse(text)
try:
    deep(int(sys.argv[1]))
except RecursionError:
    pass
print(kiprdf.to_text(kiprdf.parse(text)).split() == text.split())
"""
    assert children.run("-c", code, str(depth)) == (0, "True\n")


def test_a_command_compiles_the_rules_that_it_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[object] = []
    make = Readers._make

    def noted(readers: Readers, element: pp.ParserElement) -> Any:
        compiled.append(element)
        return make(readers, element)

    monkeypatch.setattr(Readers, "_make", noted)
    readers = Readers()
    plain = 'FIND(?d.name) WHERE { ?d {type: "Drug"} }'
    readers.of(grammar.COMMANDS["FIND"])(plain, 0, [])
    used = len(compiled)
    more = (
        'FIND(COUNT(?d)) WHERE { NOT { ?l (?d, "p"{1,2}, ?s) } FILTER(!(?d.name == "a")) } LIMIT 1'
    )
    readers.of(grammar.COMMANDS["FIND"])(more, 0, [])
    assert 0 < used < 0.7 * len(compiled)
    readers.of(grammar.COMMANDS["FIND"])(more, 0, [])
    assert len({*map(id, compiled)}) == len(compiled), "each rule is compiled once"


def test_threads_may_read_the_first_command_together() -> None:
    inner = '?l (?d, "p", ?s) NOT { ?d {type: "T"} }'
    text = f'FIND(?d) WHERE {{ NOT {{ {inner} }} FILTER(!(?d.name == "a")) }}'
    readers = Readers()

    def read(_: int) -> int:
        return readers.of(grammar.COMMANDS["FIND"])(text, 0, [])

    with ThreadPoolExecutor(8) as threads:
        assert {*threads.map(read, range(64))} == {len(text)}
