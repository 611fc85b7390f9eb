"""A text prepared for extraction: parts that are not statements are masked in place.

``prose`` and ``mentions`` have the length of the text, so that each place in them is one of it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import NamedTuple

from kiprdf.memory.extraction import files, private, speakers
from kiprdf.memory.extraction.ordinary_words import PLANS
from kiprdf.memory.extraction.private import PRIVATE

LINK = "\ue001"
FILE = "\ue002"
MOST_CHARACTERS = 2000
"""The longest sentence; a longer one is cut."""

_SPACES = dict.fromkeys(map(ord, '"“”„«»`*\t\xa0\u2007\u202f'), " ")
_BREAKS = dict.fromkeys([*range(9), *range(10, 32), 127, 0x2028, 0x2029], "\n")
_FORMS = {ord("’"): "'", ord("‘"): " ", ord("…"): ".", ord("\u200b"): " ", 0xFFFD: PRIVATE}
_SURROGATE = re.compile("[\ud800-\udfff]")
_URL = re.compile(
    r"(?<!\w)(?:[a-z][a-z0-9+.-]{1,20}://|www\.|mailto:)[^\s<>\"'`]+"
    r"|(?<![\w@./\\-])(?:[\w-]{1,63}\.){1,4}[a-z]{2,6}/[^\s<>\"'`]*",
    re.I,
)
_RELATIVE_PATH = re.compile(
    r"(?<![\w@./-])(?:[\w-]{1,63}/){1,8}[\w-]{1,63}\.[a-z]{1,4}(?!\w)", re.I
)
_FENCE = re.compile(
    r"^[ \t>]*(`{3,}|~{3,})[^`\n]*\n(?:.*?^[ \t>]*\1[`~]*[ \t]*$|.*)", re.MULTILINE | re.DOTALL
)
_QUOTED = re.compile(
    r'"[^"\n]{1,500}"|“[^“”\n]{1,500}”|„[^„“\n]{1,500}“|«[^«»\n]{1,500}»|`[^`\n]{1,500}`'
    r"|(?<!\w)'[^'\n]{2,500}'(?!\w)|^[ \t]*>[^\n]*"
    # A comment in code, a command, and a task that is not done.
    r"|(?:(?:^|;)[ \t]*(?:#|--|<!--)|(?<!:)//)[ \t]*(?:[Ii]|[Ww]e|[Mm]y|[Oo]ur)\b[^\n]*"
    r"|^[ \t]*(?:[$%][ \t]|(?:export|alias|set|setx|let|const|var|local|env)[ \t]+[\w.-]+[ \t]?="
    r"|[A-Z_]{2,30}=\S)[^\n]*|~~[^~\n]{1,500}~~"
    # The text of a link, and a line of a log.
    r"|\[[^\]\n]{1,200}\](?=\()|^[ \t]*(?:\d[\dT:.,/+Z-]{4,25}[ \t]+){0,3}\W{0,2}(?:INFO|DEBUG"
    r"|WARN(?:ING)?|ERROR|TRACE|FATAL|(?:[\w]{1,20}[ \t])?[Ll]og:|Output:|Step[ ]\d)[^\n]*"
    r"|^\d[^\n]{4,80}\b(?:INFO|DEBUG|WARN(?:ING)?|ERROR)\b[^\n]*|^[ \t]*[-*][ \t]*\[ ?\][^\n]*"
    r"|^[ \t]*Sent[ ]from[^\n]*|^[ \t>*_-]{0,6}(?i:quot(?:e|ation)s?|lyrics?|template|example"
    r"|sample|poem|song|joke|headline|placeholder)\b[^:\n]{0,40}:[^\n]*",
    re.MULTILINE,
)
_HEAD = re.compile(r"^[^:\n]{1,100}:[ \t]*\n?[^\n]*", re.M)
_OF_OTHERS = re.compile(
    r"(?i)[^:]*\b(?:(?:draft|text|letter|e-?mail|message|speech|reply|bio|toast|statement)s?\s+"
    r"(?:for"
    r"|from|by)\s+(?:my\s+(?!own|blog)\w+|(?-i:[A-Z]\w+(?<!day))|her|him|them)|(?:she|he"
    r"|they)(?:'ll"
    r"|\s+will|\s+can|\s+wants?\s+to)\s+(?:send|say|read|post|sign)|(?:stuck|round)\s+in\s+my\s+"
    r"head"
    r"|lyrics?|verse|chorus|refrain|ear-?worm|(?:lines?|words)\s+(?:from|of|in)\s+(?:\w+\s+){1,3}?"
    r"(?:song|film|movie|poem|book|novel|play|musical|ad|advert)"
    r"|(?:on|from)\s+(?:a|the|his|her|their)\s+(?:t-?shirt|mug|sticker|poster|billboard))\b[^:]*:"
)
"""Before a colon: what follows is said by another person, or sung."""
_SECTION = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+([^\n]{1,60})|([^\n:.#]{1,40}):[ \t]*)$"
    r"|^(?=[A-Z])([^\n:.#!?]{1,40})$(?=\n[ \t]*[-*•])",
    re.M,
)
_FORWARDED = re.compile(
    r"^[-_ ]{2,20}(?:original|forwarded) message|^Begin forwarded message"
    r"|^On [^\n]{5,100} wrote:[ \t]*\n(?!\s{0,9}>)",
    re.I | re.M,
)
_END = re.compile(r"[.!?]+(?=[\s)\]}]|$)|\n+")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(,])(?:e\.?g|i\.?e|etc|vs|cf|approx|ca|resp|incl|esp|Dr|Mr|Mrs|Ms|St|Prof|Inc|Ltd"
    r"|No|Fig|al|[A-Z]|a\.k\.a|w\.r\.t)\.$",
    re.I,
)


class Sentence(NamedTuple):
    """A sentence of the prose, without its mark at the end."""

    start: int
    end: int
    is_question: bool


@dataclass
class Document:
    """A text with the places of its sentences, quotations and files."""

    text: str
    prose: str
    mentions: str
    files: list[files.FileMention]
    sentences: list[Sentence]
    _quotations: list[tuple[int, int]] = field(default_factory=list)
    _matches: dict[int, tuple[list[int], list[re.Match[str]]]] = field(default_factory=dict)

    def sentence_at(self, place: int) -> Sentence:
        index = bisect_right(self.sentences, place, key=lambda sentence: sentence.start) - 1
        return self.sentences[max(index, 0)]

    def last(self, pattern: re.Pattern[str], start: int, end: int) -> re.Match[str] | None:
        """The last match in a part of the prose; all matches are found once."""
        starts, matches = self._matches_of(pattern)
        index = bisect_right(starts, end) - 1
        while index >= 0 and starts[index] >= start:
            if matches[index].end() <= end:
                return matches[index]
            index -= 1
        return None

    def first(self, pattern: re.Pattern[str], start: int, end: int) -> re.Match[str] | None:
        """The first match in a part of the prose."""
        starts, matches = self._matches_of(pattern)
        index = bisect_left(starts, start)
        return matches[index] if index < len(starts) and matches[index].end() <= end else None

    def _matches_of(self, pattern: re.Pattern[str]) -> tuple[list[int], list[re.Match[str]]]:
        # By its id: the hash of a pattern is computed each time.
        if id(pattern) not in self._matches:
            matches = list(pattern.finditer(self.prose))
            self._matches[id(pattern)] = [match.start() for match in matches], matches
        return self._matches[id(pattern)]

    def is_quoted(self, place: int) -> bool:
        index = bisect_right(self._quotations, place, key=lambda span: span[0]) - 1
        return index >= 0 and place < self._quotations[index][1]


def read(text: str) -> Document:
    """Mask a text and find its sentences."""
    safe = _SURROGATE.sub(PRIVATE, text).translate(_BREAKS)
    safe = private.without_contacts(safe)
    safe = _masked(_URL, safe, LINK) if "/" in safe or "www." in safe else safe
    paths = list(files.mentions(safe))
    safe = _without_files(safe, paths)
    safe = _masked(_RELATIVE_PATH, safe, LINK) if "/" in safe else safe
    safe = private.without_private(safe)
    prose = safe
    if "```" in safe or "~~~" in safe:
        prose = _FENCE.sub(lambda match: private.hidden(len(match[0])), safe)
    quotations = [match.span() for match in _QUOTED.finditer(prose)]
    quotations = sorted(quotations + _plans(prose))
    prose = speakers.of_user(prose.translate(_SPACES | _FORMS))
    return Document(text, prose, safe, paths, _sentences(prose), quotations)


def _plans(prose: str) -> list[tuple[int, int]]:
    """The sections below a heading such as ``Ideas``, and a forwarded message."""
    headings = list(_SECTION.finditer(prose))
    ends = [*(match.start() for match in headings), len(prose)][1:]
    spans = []
    for heading, end in zip(headings, ends, strict=False):
        words = re.findall(r"\w+", (heading[1] or heading[2] or heading[3]).lower())
        if not PLANS.isdisjoint(words):
            paragraph = prose.find("\n\n", heading.end() + 2, end)
            spans.append((heading.start(), end if heading[1] or paragraph < 0 else paragraph))
    spans += [head.span() for head in _HEAD.finditer(prose) if _OF_OTHERS.match(head[0])]
    forwarded = _FORWARDED.search(prose)
    return spans + ([(forwarded.start(), len(prose))] if forwarded else [])


def _masked(pattern: re.Pattern[str], text: str, mark: str) -> str:
    return pattern.sub(lambda match: mark * len(match[0]), text)


def _without_files(text: str, paths: list[files.FileMention]) -> str:
    pieces, end = [], 0
    for path in paths:
        pieces += [text[end : path.start], FILE * (path.end - path.start)]
        end = path.end
    return "".join([*pieces, text[end:]])


def _sentences(prose: str) -> list[Sentence]:
    sentences: list[Sentence] = []
    start = 0
    for match in _END.finditer(prose):
        mark = match[0]
        if mark == "." and _ABBREVIATION.search(prose, max(start, match.end() - 12), match.end()):
            continue
        start = _add(sentences, start, match.start(), "?" in mark, match.end())
    _add(sentences, start, len(prose), False, len(prose))
    return sentences


def _add(sentences: list[Sentence], start: int, end: int, is_question: bool, next_: int) -> int:
    """Add a sentence, cut where it is too long, and return the start of the next one."""
    while end - start > MOST_CHARACTERS:
        sentences.append(Sentence(start, start + MOST_CHARACTERS, is_question))
        start += MOST_CHARACTERS
    sentences.append(Sentence(start, end, is_question))
    return next_
