"""UPSERT blocks that differ only in their literals, which are parsed once (docs/decisions/096).

A program that loads data sends the same block again and again with other values. Its shape, which
is its text without the literals, is parsed with a placeholder for each; later blocks of that shape
only fill them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import count
from typing import NamedTuple, TypeAlias

from kiprdf import budget
from kiprdf.errors import KipError
from kiprdf.language import ast, limits
from kiprdf.language.parameters import Frame, bind, framed
from kiprdf.language.parser import parse
from kiprdf.language.values import SPACE

MOST_SHAPES = 256
MOST_CHARACTERS = 8 * 1024
"""Longer shapes are not kept."""
_OPEN = "\x00"
"""Where a literal was taken out of a text."""
_PLACEHOLDER = "literal_"
# A string without escapes, or what begins like a number. A string before a colon is a key; it and
# every other string are passed over as a whole, with an empty second group. The set it begins with
# lets the search skip all other characters.
_LITERAL = re.compile(
    r"""
    (["\-0-9](?:
        (?<=")[^"\\\x00-\x1f\ud800-\udfff]*"(?!\s*:)
        |(?<=[-0-9])(?<![\w.:?-][-0-9])[0-9.eE+-]{0,24}(?![\w.+-])
        |(?<=")(?:[^"\\]|\\.)*"?()
    ))
    """,
    re.VERBOSE | re.DOTALL,
)
_HEAD = re.compile(rf"{SPACE}UPSERT{SPACE}\{{{SPACE}")
_BLOCK = re.compile(r"((?:CONCEPT|PROPOSITION)\b)")
_Key: TypeAlias = tuple[str, bool]
"""The shape of a block, and whether it is the last one, with the end of the statement."""


class _Block(NamedTuple):
    """What a shape is parsed to; ``order`` are the places of its literals in the text."""

    item: Frame
    metadata: Frame
    order: Sequence[int]


class Shapes:
    """The shapes of blocks that were read before.

    >>> shapes = Shapes()
    >>> text = 'UPSERT {{ CONCEPT {{ {{type: "Drug", name: "{}"}} }} }}'
    >>> [shapes.read(text.format(name)) == parse(text.format(name)) for name in "ABC"]
    [False, True, True]
    """

    def __init__(self) -> None:
        self._blocks: dict[_Key, _Block | None] = {}
        self._seen: set[_Key] = set()

    def read(self, text: str) -> ast.Upsert | None:
        """The tree of one UPSERT, without parameters; None where most of its shapes are new.

        It equals the tree that ``parse`` returns, but its spans are not places in the text.
        """
        is_long = len(text.encode("utf-8", "replace")) > limits.COMMAND_BYTES
        if is_long or _OPEN in text or _HEAD.match(text) is None:
            return None
        tokens = _LITERAL.split(text)
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
            values = json.loads(f"[{','.join(literals)}]")
        except ValueError:
            return None
        numbers = [value for value in values if type(value) is not str]
        if not all(limits.INTEGER_MINIMUM < value < limits.INTEGER_MAXIMUM for value in numbers):
            return None
        return self._filled(keys, values)

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
