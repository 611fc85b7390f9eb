"""Mentions of tools in a text: a table of names and aliases, looked up word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from kiprdf.memory.extraction.words import word_set
from kiprdf.search.words import sections

_FILE = Path(__file__).with_name("tools.txt")
_MOST_WORDS = 4
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_WORD = re.compile(rf"\.net\b|[^\W_{_CJK}][^\W{_CJK}]*(?:\+\+|#)?(?:[.-][^\W{_CJK}]+)*", re.I)
_BETWEEN_TOOLS = re.compile(r"\s*(?:[,/&+]|,?\s(?:and|or|plus))?\s*")
_SENTENCE_END = re.compile(r"[.!?]\s|\n")
_SUFFIX = re.compile(
    r"-(?:based|powered|only|style|specific|like|related|native|driven|generated|compatible)$"
)
_VERSION = re.compile(r"(?<=[a-z])\d+(?:\.\d+)*$")
_AFTER_SUBJECT = re.compile(
    r"(?:'s\b|[,:]|\s+(?:is|was|has|can|does|and|or|with|code|version|projects?|\d))"
)
COMPOUND = re.compile(
    r" (?!(?:for|as|in|on|at|to|with|and|or|but|because|since|when|while|now|too|instead|over|than"
    r"|daily|one\s+day|everywhere|every|from|via|here|there|today|also|only|mostly|again|then|if|is"
    r"|was|are|has|the|a|an|my|our|together|well|btw|so|by|of|which|that|these|right|all|both|atm"
    r"|lately|much|very|more|most|better|best|i|we|it|they|not|tbh|lol|imo|yet|already|still"
    r"|version|instances?|code|scripts?|plugins?|projects?|apps?|server|heavily|exclusively|after"
    r"|before|during|under|inside|everyday|always|usually|plus|onto|into|just|really|either|anymore"
    r"|any|though|until|till|without)\b)[a-z]"
)
"""After a word that is also the name of a tool: the noun that makes one thing of both."""
_LABELS = word_set("shell terminal editor language browser distro wm stack")
_CONTEXT = word_set(
    "using use uses used via with in on into from to prefer prefers like likes enjoy learn learning"
    " install installing import require write writing written know than over by knows of"
)


class Mention(NamedTuple):
    """A tool in a text: its place and its name, as the table spells it."""

    start: int
    end: int
    name: str


class _Entry(NamedTuple):
    name: str
    section: str


@cache
def _table() -> dict[str, _Entry]:
    """The tools by name and alias in lower case."""
    entries: dict[str, _Entry] = {}
    for section, listed in sections(_FILE).items():
        for line in " ".join(listed.split()).split("; "):
            names, _, aliases = line.partition(":")
            name, _, word = names.partition(" = ")
            entries[(word or name).casefold()] = _Entry(name, section)
            for alias in filter(None, aliases.split(",")):
                entries[alias.strip().casefold()] = _Entry(name, "plain")
    return entries


def tool_named(phrase: str) -> str | None:
    """The tool that a whole phrase names, in any case.

    >>> tool_named("postgres"), tool_named("a database")
    ('PostgreSQL', None)
    """
    entry = _lookup(phrase.casefold())
    return None if entry is None else entry.name


def mentions(text: str) -> Iterator[Mention]:
    """The tools that a text mentions, in its order; the longest name wins."""
    words = list(_WORD.finditer(text))
    index, last_end = 0, -1
    candidates = _candidates()
    while index < len(words):
        first = words[index][0].casefold()
        if first not in candidates and "-" not in first and not first[-1].isdigit():
            index += 1
            continue
        count, entry = _longest(text, words, index)
        if entry is None or not _counts(text, words, index, count, entry, last_end):
            index += 1
            continue
        start, last_end = words[index].start(), words[index + count - 1].end()
        yield Mention(start, last_end, entry.name)
        index += count


def _longest(text: str, words: list[re.Match[str]], index: int) -> tuple[int, _Entry | None]:
    """The longest name that begins at a word: its number of words, and its entry."""
    first = words[index][0].casefold()
    phrase, best = first, (1, _lookup(first))
    if first not in _first_words():
        return best
    for count in range(2, min(_MOST_WORDS, len(words) - index) + 1):
        word = words[index + count - 1]
        gap = text[words[index + count - 2].end() : word.start()]
        if gap not in (" ", "  "):
            break
        phrase += " " + word[0].casefold()
        if phrase in _table():
            best = count, _table()[phrase]
    return best


@cache
def _candidates() -> frozenset[str]:
    """The words with which a name may begin."""
    return frozenset(_table()) | _first_words()


@cache
def _first_words() -> frozenset[str]:
    return frozenset(key.split()[0] for key in _table() if " " in key)


def _lookup(word: str) -> _Entry | None:
    """The entry of a word; a version or an ending such as ``-based`` may follow a plain name."""
    table = _table()
    entry = table.get(word)
    if entry is None and word[-1:].isdigit():
        entry = table.get(_VERSION.sub("", word))
        return entry if entry is not None and entry.section == "plain" else None
    if entry is None and "-" in word:
        entry = table.get(_SUFFIX.sub("", word))
    return entry


def _counts(
    text: str,
    words: list[re.Match[str]],
    index: int,
    count: int,
    entry: _Entry,
    last_end: int,
) -> bool:
    """Whether a name that may be an English word is the tool here."""
    if entry.section == "plain":
        return True
    word = words[index]
    before = words[index - 1] if index else None
    gap = text[before.end() : word.start()] if before else "\n"
    starts = before is None or _SENTENCE_END.search(gap) is not None
    is_capital = word[0][0].isupper()
    in_context = (before is not None and not starts and before[0].casefold() in _CONTEXT) or (
        last_end >= 0
        and word.start() - last_end < 9
        and _BETWEEN_TOOLS.fullmatch(text, last_end, word.start()) is not None
    )
    if before is not None and gap in (": ", " = ") and before[0].casefold() in _LABELS:
        return True
    if entry.section == "strict":
        return is_capital and in_context
    if not is_capital and COMPOUND.match(text, words[index + count - 1].end()):
        return False
    if in_context:
        return True
    if starts:
        end = words[index + count - 1].end()
        return is_capital and _AFTER_SUBJECT.match(text, end) is not None
    return is_capital
