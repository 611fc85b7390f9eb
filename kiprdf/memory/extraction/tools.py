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
    r"(?:'s\b|[,:]|\s+(?:is|was|has|can|does|and|or|with|code|version|projects?|install|\d)"
    r"|\s+for\s(?!\d)|[ \t]*(?:\n|$))"
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
_OTHER = lazy_pattern(
    r"'s\b| (?:major|minor|sharp|flat)\b|\.\s(?!(?:I|We|It|The|My|Our|This|That|You|They|And|But|So"
    r"|Also|In|On|At|For|Not|No|Then|Now|Still|If|When|He|She)\b)[A-Z]"
)
"""After the name of a person, or a letter: "Julia's", "R. Smith", "C major"."""
_PLACES = word_set("java phoenix delphi cordova fiji")
_AT_PLACE = lazy_pattern(
    r"\b(?:(?:islands?|coasts?|city|town|beach(?:es)?|shores?|north|south|east|west|people|ruins"
    r"|temples?|volcano(?:es|s)?|suburbs) (?:of|in|on)"
    r"|(?:trip|flight|flew|fly|flying|sail(?:ed|ing)?|travel(?:led|ling|ed|ing)?|ferry|train|holidays?"
    r"|honeymoon|vacation) (?:to|from|through|around|in|on)) $"
)
_OF_PLACE = lazy_pattern(
    r"(?:'s)? (?:\w+ )?(?:islands?|coasts?|beach(?:es)?|volcano(?:es|s)?|capital|mountains?"
    r"|villages?|suburbs|harbou?r|airport|ruins|temples?|rainforests?|museums?|old town|city|sea)\b"
)
"""Around the name of a place."""
_LABELS = word_set("shell terminal editor language browser distro wm stack ide os db")
_USING = word_set(
    "using use uses used via learn learning install installing installed import write writing"
)
_LIKING = word_set("like likes love loves loved enjoy prefer prefers to from")
_CONTEXT = (
    _USING
    | _LIKING
    | word_set("with in on into require written know knows is than over by chose chosen picked")
)
_BEFORE_PERSON = word_set("in on into via not or like love loved prefer over than of")
"""Words after which a name is the tool, not the person, in a sentence about tools."""
_MADE = word_set(
    "written coded programmed implemented rewritten scripted generated powered built formatted"
)
_KINDS = word_set(
    "app apps code plugin plugins api sdk cli server database library framework language script"
    " scripts repo workflow workflows package packages compiler developer developers config"
    " document documents user users person"
)
"""Nouns after the name of a tool."""
_TECHNICAL = _KINDS | word_set(
    "coded coding codebase backend frontend website programming software deploy deployed deploys"
    " compile compiled editor ide browser terminal cluster container containers pipeline pipelines"
    " query queries dashboard ported migrate migrated rewrite rewrote rewritten languages game"
    " site sites blog tool tools tests"
)
"""Words of sentences about tools."""
_ARTICLES = word_set(
    "der die das den dem des ein eine einen einem einer kein keine keinen mein meine meinen unser"
    " unsere im am zum zur vom beim"
)
"""German words before a noun: each noun has a capital letter."""
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
def _table() -> dict[str, str]:
    """The lines of the table by the spellings in lower case."""
    lines: dict[str, str] = {}
    for listed in sections(_FILE).values():
        for line in listed.replace("\n", " ").split("; "):
            for spelling in line.casefold().replace(": ", ", ").split(", "):
                lines[spelling.rstrip("?!")] = line
    return lines


def _entry(key: str) -> _Entry | None:
    """The tool with a spelling in lower case."""
    return _entry_of(key) if key in _table() else None


@cache
def _entry_of(key: str) -> _Entry:
    names = _table()[key].replace(": ", ", ").split(", ")
    spelling = next(name for name in names if name.rstrip("?!").casefold() == key)
    plain = spelling.rstrip("?!")
    return _Entry(names[0].rstrip("?!"), plain, spelling[len(plain) :])


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
        if entry is None or not _Use(text, words, index, count, last_end).is_of(entry):
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
            best = count, _entry(phrase)
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
    entry = _entry(word)
    if entry is None and word[-1:].isdigit():
        entry = _entry(_VERSION.sub("", word))
        return entry if entry is not None and not entry.mark else None
    if entry is None and "-" in word:
        entry = _entry(_SUFFIX.sub("", word))
    return entry


def _is_plain(word: str) -> bool:
    entry = _entry(word.casefold())
    return entry is not None and not entry.mark


class _Use(NamedTuple):
    """Words of a text that may be the name of a tool, and the end of the tool before them."""

    text: str
    words: list[re.Match[str]]
    first: int
    size: int
    last_end: int

    def is_of(self, entry: _Entry) -> bool:
        """Whether the words are the tool here, if its name means something else, too."""
        mark, spelling = entry.mark, entry.spelling
        start, end = self.words[self.first].start(), self.words[self.first + self.size - 1].end()
        if spelling.lower() in _PLACES and (
            _OF_PLACE.match(self.text, end)
            or _AT_PLACE.search(self.text[max(0, start - 30) : start])
        ):
            return False
        if not mark:
            return True
        written = self.text[start:end]
        gap = self._gap_before(self.first)
        starts = _SENTENCE_END.search(gap) is not None
        previous = "" if starts else self.words[self.first - 1][0].lower()
        if previous in _LABELS and gap.strip(' "') in (":", "="):
            return True
        is_listed = (
            self.last_end >= 0
            and start - self.last_end < 9
            and _BETWEEN_TOOLS.fullmatch(self.text, self.last_end, start) is not None
        )
        if written.isupper() and spelling.islower():
            return False
        if written[0].isupper() and not is_listed and self._is_in_name():
            return False
        has_one_case = spelling.islower() or spelling.isupper()
        has_spelling = written == spelling or (
            written[0].isupper() and not written.isupper() and not has_one_case
        )
        is_kind = self._following().lower() in _KINDS
        is_compound = not is_kind and _COMPOUND.match(self.text, end) is not None
        is_used = is_listed or previous in _USING
        if mark == "!!":
            if not has_spelling or starts:
                return False
            if written[0].islower() and previous in _LIKING:
                return self._is_technical()
            return is_used or is_kind or (previous in _CONTEXT and not is_compound)
        if not has_spelling and is_compound:
            return False
        if mark == "!":
            is_letter = len(written) == 1
            may_be_small = spelling.istitle() and not is_letter
            if _OTHER.match(self.text, end) or not (has_spelling or may_be_small):
                return False
            if is_used or (is_letter and previous in ("in", "know")):
                return True
            return (
                has_spelling
                and not starts
                and not is_compound
                and (
                    is_kind
                    or self._follows_making(previous)
                    or (previous in _BEFORE_PERSON and self._is_technical())
                )
            )
        is_noun = previous in ("a", "an", "the") and not is_kind and not is_compound
        if previous in _ARTICLES or (is_noun and not spelling.isupper()):
            return False
        if starts and not is_listed:
            is_subject = is_kind or _AFTER_SUBJECT.match(self.text, end) is not None
            return has_spelling and is_subject and (mark == "?" or self._is_technical())
        if has_spelling or is_used:
            return True
        if previous not in _CONTEXT and not is_kind:
            return False
        return (mark == "?" and previous not in ("to", "from")) or self._is_technical()

    def _follows_making(self, previous: str) -> bool:
        """Whether "built with", "written in" or "from WordPress to" is before the words."""
        if self.first < 2:
            return False
        word = self.words[self.first - 2]
        return word[0].lower() in _MADE or (previous == "to" and word.end() == self.last_end)

    def _gap_before(self, index: int) -> str:
        """What is between a word and the one before it."""
        if not index:
            return "\n"
        return self.text[self.words[index - 1].end() : self.words[index].start()]

    def _is_next(self, index: int) -> bool:
        """Whether only blanks are between a word and the one before it."""
        gap = self._gap_before(index)
        return gap.isspace() and "\n" not in gap

    def _following(self) -> str:
        """The word that follows; empty after a mark."""
        index = self.first + self.size
        return self.words[index][0] if index < len(self.words) and self._is_next(index) else ""

    def _is_in_name(self) -> bool:
        """Whether the words, with a capital, are in a title or in a longer name: "Square One"."""
        after = self._following()
        is_acronym = after.isupper() and len(after) < 6
        if after[:1].isupper() and not is_acronym and not _is_plain(after):
            return True
        if not self._is_next(self.first):
            return False
        before = self.words[self.first - 1]
        word = before[0].lower()
        if word in FUNCTION_WORDS and self._is_title():
            return True
        if before.end() == self.last_end or before[0] == "I" or not before[0][0].isupper():
            return False
        if _is_plain(word):
            return False
        if not _SENTENCE_END.search(self._gap_before(self.first - 1)):
            return self._is_next(self.first - 1)
        if word in FUNCTION_WORDS or word in _CONTEXT or word in _COMMANDS:
            return False
        return len(word) < 5 or not word.endswith(("ing", "ed"))

    def _sentence(self) -> tuple[int, int]:
        """The first and the last of the words near these that are in their sentence."""
        first = last = self.first
        while first > self.first - _MOST_AROUND:
            if _SENTENCE_END.search(self._gap_before(first)):
                break
            first -= 1
        while last + 1 < len(self.words) and last < self.first + _MOST_AROUND:
            if _SENTENCE_END.search(self._gap_before(last + 1)):
                break
            last += 1
        return first, last

    def _is_technical(self) -> bool:
        """Whether another word of the sentence shows that it is about tools."""
        first, last = self._sentence()
        others = [*self.words[first : self.first], *self.words[self.first + 1 : last + 1]]
        return any(word[0].lower() in _TECHNICAL or _is_plain(word[0]) for word in others)

    def _is_title(self) -> bool:
        """Whether all words of a sentence without a mark have a capital, but the small ones."""
        first, last = self._sentence()
        end = self.words[last].end()
        if self.text[end : end + 1] in tuple(".!;") or last == self.first + _MOST_AROUND:
            return False
        places = range(self.first, first, -1)
        first = next((place for place in places if ":" in self._gap_before(place)), first)
        if self.words[first][0].endswith(("ed", "ing")):
            return False
        others = [word[0] for word in self.words[first : last + 1] if word[0] not in FUNCTION_WORDS]
        unknown = [word for word in others if word.casefold() not in _table()]
        return len(unknown) > 1 and all(word[0].isupper() for word in others)
