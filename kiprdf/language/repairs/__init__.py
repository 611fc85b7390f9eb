"""Replacements for mistakes, as tables: one row for each mistake.

Most mistakes are habits from other languages. A row matches the text at the place of an error, and
its hint gives the replacement literally, in one of the forms that `docs/errors.md` lists, so that
the replacement can be made by a program.

rows        what a row is, and how it is matched
characters  quotes, comments, placeholders, punctuation and white space of other languages
commands    the first word of a text, and what follows a complete command
patterns    FIND, WHERE, matchers and propositions
conditions  FILTER: operators and functions
writing     UPSERT, UPDATE, MERGE and DELETE
asking      DESCRIBE, SEARCH and EXPORT
unions      a matcher with several types
corrections  the commands that follow a hint
"""

from __future__ import annotations

from kiprdf.language.repairs import asking, characters, commands, conditions, patterns, writing
from kiprdf.language.repairs.rows import repair_hint
from kiprdf.language.repairs.unions import union_hint

ROWS = (
    *characters.ROWS,
    *commands.ROWS,
    *writing.ROWS,
    *asking.ROWS,
    *conditions.ROWS,
    *patterns.ROWS,
)


def repair(text: str, offset: int, expected: str) -> str | None:
    """The hint of the first row that matches an error; None if there is none.

    >>> text = 'FIND(?d) WHERE { ?d {type: "Drug"} FILTER(?d.name = "A") }'
    >>> repair(text, 50, "an operator or ')'")
    'Equality is ==. Write `==` instead of `=`.'
    """
    return union_hint(text, offset, expected) or repair_hint(ROWS, text, offset, expected)


def advice(text: str, offset: int, expected: str) -> str | None:
    """A less specific hint, for what is not a misspelt keyword."""
    return repair_hint((*conditions.LAST, *writing.LAST), text, offset, expected)
