"""The parts of clauses, which ``forms.txt`` names, and how expressions are made of them.

An expression has one blank where a text may have several. ``<TOOL>`` stands for a known tool, which
``grammar`` replaces by marks before a clause is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

from kiprdf.search.words import sections

TOOL_MARK = "\ue010"
WORD_BLANK = "\ue020"
"""The blank before a word that is no function word, by which expressions find such words."""
_PART = re.compile("<([A-Z_]+)>")
_WORD_AFTER_BLANK = re.compile(r" ([^\W_][\w-]*)")


def word_set(text: str) -> frozenset[str]:
    """The words of a text.

    >>> sorted(word_set("on at on"))
    ['at', 'on']
    """
    return frozenset(text.split())


def one_of(text: str) -> str:
    """An expression for one of several, the longest first, in which ``_`` stands for a blank.

    >>> one_of("if in_case")
    '(?:in case|if)'
    """
    parts = sorted(text.split(), key=len, reverse=True)
    return f"(?:{'|'.join(part.replace('_', ' ') for part in parts)})"


@cache
def _sections() -> dict[str, str]:
    return sections(Path(__file__).with_name("forms.txt"))


def entries(section: str) -> Iterator[tuple[str, list[str]]]:
    """The first line of each entry of a section, and its other lines without their indent."""
    head, lines = "", list[str]()
    for line in [*_sections()[section].splitlines(), ""]:
        if line.startswith("    "):
            lines.append(line[4:])
            continue
        if head:
            yield head, lines
        head, lines = "" if line.startswith("#") else line, []


@cache
def _parts() -> dict[str, str]:
    """The parts by name: expressions with the names of others, and lists of words."""
    parts: dict[str, str] = {}
    for head, lines in entries("parts"):
        name, sign, first = re.split(" ([=~:]) ?", head, maxsplit=1)
        words = " ".join([first, *lines])
        parts[name] = {"=": first + "".join(lines), "~": one_of(words), ":": words}[sign]
    return parts


@cache
def _part(name: str) -> str:
    return expanded(_parts()[name])


def expanded(expression: str) -> str:
    """An expression with the expressions of the parts that it names."""
    return _PART.sub(lambda match: _part(match[1]), expression)


def listed(name: str) -> frozenset[str]:
    """The words of a part that is a list."""
    return word_set(_parts()[name])


def compiled(expression: str) -> re.Pattern[str]:
    """An expression in which each blank stands for any number of blanks."""
    return re.compile(re.sub(" ([?*+]?)", _blanks, expanded(expression)))


def lazily(expression: str) -> Callable[[], re.Pattern[str]]:
    """A function that compiles an expression once, when it is first needed."""
    return cache(partial(compiled, expression))


def _blanks(match: re.Match[str]) -> str:
    return f"[\\x20{WORD_BLANK}]{'*' if match[1] in ('?', '*') else '+'}"


FUNCTION_WORDS = listed("FUNCTION_WORDS")
"""A noun phrase has none of them, so that it cannot be a clause."""


def with_marks(prose: str) -> str:
    """A text with a mark in the place of the blank before each word that is no function word."""
    return _WORD_AFTER_BLANK.sub(_marked, prose)


def _marked(match: re.Match[str]) -> str:
    return match[0] if match[1].lower() in FUNCTION_WORDS else f"{WORD_BLANK}{match[1]}"
