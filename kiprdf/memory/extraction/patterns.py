"""The forms of a clause, from which relations are read; ``forms.txt`` has the table.

A clause with a word that its form does not have states nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from kiprdf.memory.extraction.words import TOOL_MARK, compiled, entries, lazily

_WE = "<WE>"
_AFTER = (("<HOW>", lazily("<ADJUNCTS><STOP>")), ("<THEN>", lazily("<THEN_ADJUNCTS><STOP>")))
"""The marks at the end of an expression, and the adjuncts that it may have there."""
_HEAD = re.compile(r"- (\w+): (.+) -> (.+?)(?: \[(.+)\])?")
BULLET, OPENER, TAIL = lazily("<BULLET>"), lazily("<OPENER>"), lazily("<TAIL>")


@dataclass(frozen=True)
class Pattern:
    """A form, the name of its pattern, and an example with the name of an object that it states.

    ``I`` or ``we`` may be left out after "and", and before a verb such as "using" or "switched".
    An expression that ends with the group ``decided`` has the rest of the clause in it. A sentence
    without one of the ``words`` is passed over, so that few expressions need to be compiled.
    """

    name: str
    expression: str
    example: str
    object: str
    words: str

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
        if self._needs_tool and TOOL_MARK not in sentence:
            return False
        return any(word in sentence for word in self._needed)

    @cached_property
    def _needs_tool(self) -> bool:
        return "(?P<uses" in self.expression and "(?P<works_on" not in self.expression

    @cached_property
    def _needed(self) -> list[str]:
        return [word.replace("_", " ") for word in self.words.split()] or [""]


def _read(head: str, lines: list[str]) -> Pattern:
    match = _HEAD.fullmatch(head)
    assert match is not None, head
    name, example, object, words = match.groups(default="")
    return Pattern(name, "".join(lines), example, object, words)


PATTERNS = tuple(_read(head, lines) for head, lines in entries("forms"))
