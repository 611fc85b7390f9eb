"""The forms of a clause, from which relations are read; ``forms.txt`` has the table.

A clause with a word that its form does not have states nothing.
"""

from __future__ import annotations

import re
from functools import cached_property

from kiprdf.dataclasses import dataclass
from kiprdf.memory.extraction.words import TOOL_MARK, compiled, entries, lazily

_WE = "<WE>"
_AFTER = (("<HOW>", lazily("<ADJUNCTS><STOP>")), ("<THEN>", lazily("<THEN_ADJUNCTS><STOP>")))
"""The marks at the end of an expression, and the adjuncts that it may have there."""
_HEAD = re.compile(r"- (\w+): (.+) -> (.+?) \[(.+)\]")
BULLET, TAIL = lazily("<BULLET>"), lazily("<TAIL>")


@dataclass(frozen=True)
class Opener:
    """What may precede a clause. A sentence without one of the ``words`` is passed over, so that
    few expressions need to be compiled."""

    expression: str
    words: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return compiled(f"(?:{self.expression}),? +")

    def may_match(self, sentence: str) -> bool:
        return any(map(sentence.__contains__, self._needed))

    @cached_property
    def _needed(self) -> list[str]:
        return [word.replace("_", " ") for word in self.words.split()] or [""]


@dataclass(frozen=True)
class Pattern(Opener):
    """A form, the name of its pattern, and an example with the name of an object that it states.

    ``I`` or ``we`` may be left out after "and", and before a verb such as "using" or "switched".
    An expression that ends with the group ``decided`` has the rest of the clause in it.
    """

    name: str
    example: str
    object: str

    @cached_property
    def is_open(self) -> bool:
        return self.expression.endswith(("(?P<decided>)", "(?P<decided_ended>)"))

    @cached_property
    def has_subject(self) -> bool:
        return self.expression.startswith(_WE)

    @cached_property
    def adjuncts(self) -> re.Pattern[str] | None:
        """What else the clause may have after the expression."""
        return next((after() for mark, after in _AFTER if self.expression.endswith(mark)), None)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        expression = self.expression
        if self.has_subject:
            expression = f"(?P<subject>{_WE})?{expression.removeprefix(_WE)}"
        for mark, _ in _AFTER:
            expression = expression.removesuffix(mark)
        end = "" if self.is_open else "<STOP>" if self.adjuncts is None else r"(?![\w-])"
        return compiled(f" *{expression}{end}")

    def may_match(self, sentence: str) -> bool:
        return (TOOL_MARK in sentence or not self._needs_tool) and super().may_match(sentence)

    @cached_property
    def _needs_tool(self) -> bool:
        return "(?P<uses" in self.expression and "(?P<works_on" not in self.expression


def _read(head: str, lines: list[str]) -> Pattern:
    match = _HEAD.fullmatch(head)
    assert match is not None, head
    name, example, object, words = match.groups()
    return Pattern("".join(lines), words, name, example, object)


PATTERNS = tuple(_read(head, lines) for head, lines in entries("forms"))
OPENERS = tuple(Opener("".join(lines), head[3:-1]) for head, lines in entries("openers"))
