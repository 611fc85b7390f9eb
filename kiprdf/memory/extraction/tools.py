"""Mentions of tools in a text: a table of names and aliases, looked up word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from kiprdf.loading import lazy_pattern
from kiprdf.memory.extraction.words import FUNCTION_WORDS, word_set
from kiprdf.search.words import sections

_FILE = Path(__file__).with_name("tools.txt")
_MOST_WORDS, _MOST_AROUND = 4, 12
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_WORD = re.compile(rf"\.net\b|[^\W_{_CJK}][^\W{_CJK}]*(?:\+\+|#)?(?:[.-][^\W{_CJK}]+)*", re.I)
_BETWEEN_TOOLS = re.compile(r"\s*(?:[,/&+]|,?\s(?:and|or|plus))?\s*")
_SENTENCE_END = re.compile(r"[.!?]\s|\n")
_SUFFIX = lazy_pattern(
    r"-(?:based|powered|only|style|specific|like|related|native|driven|generated|compatible)$"
)
_VERSION = lazy_pattern(r"(?<=[a-z])\d+(?:\.\d+)*$")
_AFTER_SUBJECT = lazy_pattern(
    r"(?:'s\b|[,:]|\s+(?:is|was|has|can|does|and|or|with|code|version|projects?|\d)|[ \t]*(?:\n|$))"
)
_COMPOUND = lazy_pattern(
    r" (?!(?:for|as|in|on|at|to|with|and|or|but|because|since|when|while|now|too|instead|over|than"
    r"|daily|one\s+day|everywhere|every|from|via|here|there|today|also|only|mostly|again|then|if|is"
    r"|was|are|has|the|a|an|my|our|together|well|btw|so|by|of|which|that|these|right|all|both|atm"
    r"|lately|much|very|more|most|better|best|i|we|it|they|not|tbh|lol|imo|yet|already|still"
    r"|version|instances?|code|scripts?|plugins?|projects?|apps?|server|heavily|exclusively|after"
    r"|before|during|under|inside|everyday|always|usually|plus|onto|into|just|really|either|anymore"
    r"|any|though|until|till|without)\b)[a-z]"
)
"""After a word that is also the name of a tool: the noun that makes one thing of both."""
_OF_PERSON = lazy_pattern(
    r"'s\b| (?:major|minor|sharp|flat)\b|\.\s(?!(?:I|We|It|The|My|Our|This|That|You|They|And|But|So"
    r"|Also|In|On|At|For|Not|No|Then|Now|Still|If|When|He|She)\b)[A-Z]"
)
"""After a letter or a name: "R. Smith", "Julia's"."""
_LABELS = word_set("shell terminal editor language browser distro wm stack ide os db")
_USING = word_set(
    "using use uses used via learn learning install installing installed import write writing"
)
_CONTEXT = _USING | word_set(
    "with in on into from to prefer prefers like likes love loves loved enjoy require written know"
    " than over by knows of"
)
_WRITTEN = word_set(
    "written coded programmed implemented rewritten scripted generated powered built"
)
_BEFORE_NAME = word_set("in on into via not or like love loved prefer over than of")
_KINDS = word_set(
    "app apps code plugin plugins api sdk cli server database library framework language script"
    " scripts repo workflow workflows package packages compiler developer developers config"
)
"""Nouns after the name of a tool."""
_TECHNICAL = _KINDS | word_set(
    "coded coding codebase backend frontend website programming software deploy deployed deploys"
    " compile compiled editor ide browser terminal cluster container containers pipeline pipelines"
    " query queries dashboard ported migrate migrated rewrite rewrote rewritten languages game"
    " site sites blog"
)
"""Words that show that a sentence is about tools."""
_COMMANDS = word_set("try open run check upgrade update start restart fix move set deploy test")


class Mention(NamedTuple):
    """A tool in a text: its place and its name, as the table spells it."""

    start: int
    end: int
    name: str


class _Entry(NamedTuple):
    """A tool by one of its spellings, and the mark that the spelling has in the table."""

    name: str
    spelling: str
    mark: str


@cache
def _table() -> dict[str, _Entry]:
    """The tools by their spellings in lower case."""
    entries: dict[str, _Entry] = {}
    for listed in sections(_FILE).values():
        for line in listed.replace("\n", " ").split("; "):
            first, _, others = line.partition(": ")
            name = first.rstrip("?!")
            for spelling in (first, *others.split(", ")) if others else (first,):
                plain = spelling.rstrip("?!")
                entries[plain.lower()] = _Entry(name, plain, spelling[len(plain) :])
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
        return entry if entry is not None and not entry.mark else None
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
    """Whether a name that means something else, too, is the tool here."""
    mark, spelling = entry.mark, entry.spelling
    if not mark:
        return True
    word, end = words[index], words[index + count - 1].end()
    written = text[word.start() : end]
    before = words[index - 1] if index else None
    gap = text[before.end() : word.start()] if before else "\n"
    starts = _SENTENCE_END.search(gap) is not None
    previous = "" if before is None or starts else before[0].lower()
    if previous in _LABELS and gap in (": ", " = "):
        return True
    is_listed = (
        last_end >= 0
        and word.start() - last_end < 9
        and _BETWEEN_TOOLS.fullmatch(text, last_end, word.start()) is not None
    )
    is_strong = is_listed or previous in _USING
    is_spelled = written == spelling or (
        written[0].isupper()
        and not written.isupper()
        and not spelling.islower()
        and not spelling.isupper()
    )
    if written.isupper() and spelling.islower():
        return False
    is_capital = written[0].isupper()
    if is_capital and not is_listed and _is_in_name(text, words, index, count, starts, last_end):
        return False
    following = (
        words[index + count][0].lower() if _is_blank_after(text, words, index, count) else ""
    )
    is_kind = following in _KINDS
    if not is_spelled and (mark == "!!" or _COMPOUND.match(text, end)):
        return False
    if mark == "!!":
        return is_spelled and not starts and (is_strong or is_kind or previous in _CONTEXT)
    if mark == "!":
        is_letter = len(written) == 1
        if _OF_PERSON.match(text, end) or not (
            is_spelled or (spelling.istitle() and not is_letter)
        ):
            return False
        if is_strong or (is_letter and previous == "in"):
            return True
        if not is_spelled or starts:
            return False
        return (
            is_kind
            or (index > 1 and words[index - 2][0].lower() in _WRITTEN)
            or (previous in _BEFORE_NAME and _is_technical(text, words, index))
        )
    if starts and not is_listed:
        is_subject = is_spelled and _AFTER_SUBJECT.match(text, end) is not None
        return is_subject and (mark == "?" or _is_technical(text, words, index))
    if is_spelled or is_strong:
        return True
    if previous not in _CONTEXT and not is_kind:
        return False
    return (mark == "?" and previous != "to") or _is_technical(text, words, index)


def _is_blank_after(text: str, words: list[re.Match[str]], index: int, count: int) -> bool:
    """Whether only blanks are between a name and the next word."""
    if index + count == len(words):
        return False
    gap = text[words[index + count - 1].end() : words[index + count].start()]
    return gap.isspace() and "\n" not in gap


def _is_in_name(
    text: str, words: list[re.Match[str]], index: int, count: int, starts: bool, last_end: int
) -> bool:
    """Whether a word with a capital is in a title, or in a longer name: "Square One"."""
    if _is_blank_after(text, words, index, count):
        after = words[index + count][0]
        if after[0].isupper() and not (after.isupper() and len(after) < 6) and not _is_plain(after):
            return True
    if starts or not _is_blank_after(text, words, index - 1, 1):
        return False
    before = words[index - 1]
    if before.end() == last_end or before[0] == "I" or _is_plain(before[0]):
        return False
    if not before[0][0].isupper():
        return before[0] in FUNCTION_WORDS and _is_title(text, words, index)
    gap = text[words[index - 2].end() : before.start()] if index > 1 else "\n"
    if _SENTENCE_END.search(gap) is None:
        return gap.isspace()
    word = before[0].lower()
    known = word in FUNCTION_WORDS or word in _CONTEXT or word in _COMMANDS
    return not known and not word.endswith(("ing", "ed"))


def _is_plain(word: str) -> bool:
    entry = _table().get(word.lower())
    return entry is not None and not entry.mark


def _sentence(text: str, words: list[re.Match[str]], index: int) -> tuple[int, int]:
    """The first and the last of the words near a word that are in its sentence."""
    first = last = index
    while first and index - first < _MOST_AROUND:
        if _SENTENCE_END.search(text, words[first - 1].end(), words[first].start()):
            break
        first -= 1
    while last + 1 < len(words) and last - index < _MOST_AROUND:
        if _SENTENCE_END.search(text, words[last].end(), words[last + 1].start()):
            break
        last += 1
    return first, last


def _is_technical(text: str, words: list[re.Match[str]], index: int) -> bool:
    """Whether another word of the sentence shows that it is about tools."""
    first, last = _sentence(text, words, index)
    others = [*words[first:index], *words[index + 1 : last + 1]]
    return any(word[0].lower() in _TECHNICAL or _is_plain(word[0]) for word in others)


def _is_title(text: str, words: list[re.Match[str]], index: int) -> bool:
    """Whether all words of a sentence but the small ones have a capital, and no mark ends it."""
    first, last = _sentence(text, words, index)
    if (
        text[words[last].end() : words[last].end() + 1] in tuple(".!;")
        or last == index + _MOST_AROUND
    ):
        return False
    others = [word[0] for word in words[first : last + 1] if word[0] not in FUNCTION_WORDS]
    return len(others) > 2 and all(word[0].isupper() for word in others)
