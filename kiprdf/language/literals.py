"""Texts that differ only in their literals, which are parsed once (docs/decisions/096).

A language model, or a program that loads data, sends the same command again and again with other
values. Its shape, the text without these literals, is parsed with a placeholder for each; later
texts of that shape only fill them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, NamedTuple, TypeAlias, cast

from kiprdf import budget
from kiprdf.errors import KipError
from kiprdf.language import ast, limits
from kiprdf.language.parameters import Frame, bind, framed
from kiprdf.language.parser import parse
from kiprdf.language.printer import OUTLINED, outline
from kiprdf.language.values import SPACE
from kiprdf.loading import lazy_pattern

MOST_SHAPES = 256
MOST_CHARACTERS = 8 * 1024
"""Longer shapes are not kept."""
MOST_ITEMS = 50
"""Of a list that is opened: each number of items has another plan."""
_OPEN = "\x00"
"""Where a literal was taken out of an UPSERT."""
_PLACEHOLDER = "literal_"
# A string without escapes, or what begins like a number. A string before a colon is a key; it and
# every other string are passed over as a whole, with an empty second group. The set it begins with
# lets the search skip all other characters.
_WRITTEN = lazy_pattern(
    r"""
    (["\-0-9](?:
        (?<=")[^"\\\x00-\x1f\ud800-\udfff]*"(?!\s*:)
        |(?<=[-0-9])(?<![\w.:?-][-0-9])[0-9.eE+-]{0,24}(?![\w.+-])
        |(?<=")(?:[^"\\]|\\.)*"?()
    ))
    """,
    re.VERBOSE | re.DOTALL,
)
_VALUE = (
    r'(?:"[^"\\\x00-\x1f\x7f-\x9f\ud800-\udfff]*"'
    r"|-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,10})?(?![\w.]))"
)
# A name, an id or an operand, as far as neither escapes nor digits need a closer look; what IN
# compares a key or a name with; or another string, which is passed over as a whole.
_OPERAND = lazy_pattern(
    rf"""((?:\b(?:name|id)\s*:|[=<>])\s*) ({_VALUE})
    | (\bIN\s*\(\s*\?\w+\.(?:name|attributes\.\w+|metadata\.\w+)\s*,\s*)
      (?:\[\s*({_VALUE}(?:\s*,\s*{_VALUE})*)\s*\]|:([A-Za-z_]\w*))(?=\s*\))
    | "(?:[^"\\]|\\.)*" """,
    re.VERBOSE,
)
_ITEM = lazy_pattern(_VALUE)
_HEAD = re.compile(rf"{SPACE}UPSERT{SPACE}\{{{SPACE}")
_BLOCK = re.compile(r"((?:CONCEPT|PROPOSITION)\b)")


def opened(
    text: str, parameters: Mapping[str, Any], keywords: tuple[str, ...] = ("FIND",)
) -> tuple[str, dict[str, Any]] | None:
    """A command that begins with one of some keywords, FIND, UPDATE or DELETE, with placeholders
    for its literals, and the values of all placeholders; None where it stays as it is.

    In a WHERE, only names, ids and operands are opened, and the items of a list of IN, which may be
    a parameter; types, predicates and LIMIT are not, since a plan is compiled for them. All values
    that an UPDATE writes are opened.

    >>> opened('FIND(?d) WHERE { ?d {type: "Drug", name: "Aspirin"} }', {})
    ('FIND(?d) WHERE { ?d {type: "Drug", name: :literal_0} }', {'literal_0': 'Aspirin'})
    >>> opened("FIND(?d) WHERE { … IN(?d.name, :names) … }", {"names": ["a", "b"]})[0]
    'FIND(?d) WHERE { … IN(?d.name, [:literal_0, :literal_1]) … }'
    """
    if not text.startswith(keywords) or len(text) > MOST_CHARACTERS:
        return None
    # A comment may contain a quotation mark.
    if "//" in text or _PLACEHOLDER in text:
        return None
    values: dict[str, Any] = {}
    lists: set[str] = set()

    def placeholder(value: Any) -> str:
        name = f"{_PLACEHOLDER}{len(values)}"
        values[name] = value
        return f":{name}"

    def written(match: re.Match[str]) -> str:
        return match[0] if match[2] is not None else placeholder(_scalars([match[0]])[0])

    def compared(match: re.Match[str]) -> str:
        before, literal, member, items, name = match.groups()
        if before is not None:
            return before + placeholder(json.loads(literal))
        if member is None:
            return match[0]
        if items is not None:
            listed = list(map(json.loads, _ITEM.findall(items)))
        else:
            argument = parameters.get(name)
            listed = list(argument) if isinstance(argument, list | tuple) else []
        if not 0 < len(listed) <= MOST_ITEMS:
            return match[0]
        lists.add(name)
        return f"{member}[{', '.join(map(placeholder, listed))}]"

    is_update = text.startswith("UPDATE")
    head, word, where = text.partition("WHERE") if is_update else ("", "", text)
    if "\\" in head or head.count('"') % 2:
        return None  # the word may be in a string
    try:
        shape = _WRITTEN.sub(written, head) + word + _OPERAND.sub(compared, where)
    except ValueError:
        return None
    others = {name: value for name, value in parameters.items() if name not in lists}
    return (shape, others | values) if values else None


def _scalars(literals: Sequence[str]) -> list[ast.JsonScalar]:
    """The values of some literals; ``ValueError`` for other text, or a number that KIP has not."""
    values: list[ast.JsonScalar] = json.loads(f"[{','.join(literals)}]")
    numbers = [value for value in values if type(value) is not str]
    if not all(limits.INTEGER_MINIMUM < cast(float, n) < limits.INTEGER_MAXIMUM for n in numbers):
        raise ValueError
    return values


# Blocks of an UPSERT ------------------------------------------------------------------------------

_Key: TypeAlias = tuple[str, bool]
"""The shape of a block, and whether it is the last one, with the end of the statement."""


class _Block(NamedTuple):
    """What a shape is parsed to; ``order`` are the places of its literals in the text."""

    item: Frame
    metadata: Frame
    order: Sequence[int]


class Shaped(NamedTuple):
    """A statement, and the shapes of its blocks."""

    command: ast.Upsert
    keys: Sequence[_Key]


class Blocks:
    """The blocks of UPSERTs that were read before, by their shapes.

    >>> blocks = Blocks()
    >>> text = 'UPSERT {{ CONCEPT {{ {{type: "Drug", name: "{}"}} }} }}'
    >>> [blocks.read(text.format(name)) is not None for name in "ABC"]
    [False, True, True]
    >>> blocks.read(text.format("D")).command == parse(text.format("D"))
    True
    """

    def __init__(self) -> None:
        self._blocks: dict[_Key, _Block | None] = {}
        self._seen: set[_Key] = set()
        self._outlines: dict[tuple[_Key, ...], str] = {}

    def read(self, text: str) -> Shaped | None:
        """One UPSERT without parameters; None where most of its shapes are new.

        Its tree equals the one that ``parse`` returns, but its spans are not places in the text.
        """
        is_long = len(text.encode("utf-8", "replace")) > limits.COMMAND_BYTES
        if is_long or _OPEN in text or _HEAD.match(text) is None:
            return None
        tokens = _WRITTEN.split(text)
        pairs = list(zip(tokens[1::3], tokens[2::3], strict=True))
        literals = [token for token, passed in pairs if passed is None]
        tokens[1::3] = [_OPEN if passed is None else token for token, passed in pairs]
        head, *parts = _BLOCK.split("".join(filter(None, tokens)))
        shapes = list(map("".join, zip(parts[::2], parts[1::2], strict=True)))
        keys = [
            *((shape, False) for shape in shapes[:-1]),
            *((shape, True) for shape in shapes[-1:]),
        ]
        if _HEAD.fullmatch(head) is None or not self._learn(keys):
            return None
        try:
            command = self._filled(keys, _scalars(literals))
        except ValueError:
            return None
        return None if command is None else Shaped(command, keys)

    def outline(self, shaped: Shaped) -> str:
        """The outline of a statement, which its shapes determine, made once for each."""
        key = (*shaped.keys[:OUTLINED], shaped.keys[-1])
        text = self._outlines.get(key)
        if text is None:
            if len(self._outlines) >= MOST_SHAPES:
                self._outlines = {}
            text = self._outlines[key] = outline(shaped.command)
        return text

    def _filled(self, keys: Iterable[_Key], values: Sequence[ast.JsonScalar]) -> ast.Upsert | None:
        """The statement of some blocks with the values of all of them."""
        items, metadata, start = [], None, 0
        for key in keys:
            block = self._blocks.get(key)
            if block is None:
                return None
            scalars = map(ast.Scalar, [values[start + place] for place in block.order])
            # Takes the next value, whichever placeholder asks for it.
            fill = partial(next, scalars)
            items.append(block.item(fill))
            metadata = block.metadata(fill)
            start += len(block.order)
        budget.check()
        return ast.Upsert((ast.UpsertBlock(tuple(items), metadata),))

    def _learn(self, keys: Sequence[_Key]) -> bool:
        """Parse new shapes, unless they are too many to be worth it the first time."""
        new = {key for key in keys if key not in self._blocks}
        if not new:
            return bool(keys)
        if 2 * len(new - self._seen) > len(keys):
            self._seen = new
            return False
        if len(self._blocks) + len(new) > MOST_SHAPES:
            self._blocks = {}
        self._blocks |= {key: _parsed(*key) for key in new}
        return True


def _parsed(shape: str, is_last: bool) -> _Block | None:
    """The block of a shape; None where a shape is not one block."""
    if "//" in shape or _PLACEHOLDER in shape or len(shape) > MOST_CHARACTERS:
        return None
    numbers = count()
    text = re.sub(_OPEN, lambda _: f":{_PLACEHOLDER}{next(numbers)}", shape)
    names = [f"{_PLACEHOLDER}{number}" for number in range(shape.count(_OPEN))]
    try:
        command = parse(f"UPSERT {{{text}" if is_last else f"UPSERT {{{text}}}")
        bind(command, dict.fromkeys(names, ""))
    except KipError:
        return None
    if not isinstance(command, ast.Upsert) or [len(b.items) for b in command.blocks] != [1]:
        return None
    (block,) = command.blocks
    item, metadata = _frame(block.items[0]), _frame(block.metadata)
    filled: list[str] = []

    def fill(placeholder: ast.Placeholder) -> ast.Value:
        filled.append(placeholder.name)
        return placeholder

    item(fill)
    metadata(fill)
    return _Block(item, metadata, [names.index(name) for name in filled])


def _frame(node: ast.Node | None) -> Frame:
    return framed(node) or (lambda _: node)
