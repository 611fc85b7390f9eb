"""A text prepared for extraction: what is masked, and which sentences may state something.

``prose`` and ``mentions`` have the length of the text, so that each place in them is one of it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import NamedTuple

from kiprdf.dataclasses import dataclass
from kiprdf.memory.extraction import files, private, speakers
from kiprdf.memory.extraction.outline import LABELS, Item, Outline, kind_of
from kiprdf.memory.extraction.private import PRIVATE

LINK = "\ue001"
FILE = "\ue002"
QUOTED = "\ue004"
STATUS = re.compile(r"^\W*status\W+(\w+)", re.I | re.M)

_SPACES = dict.fromkeys(map(ord, '"“”„«»`*\t\xa0\u2007\u202f'), " ")
_BREAKS = dict.fromkeys([*range(9), *range(10, 32), 127, 0x2028, 0x2029], "\n")
_FORMS = {ord("’"): "'", ord("‘"): " ", ord("…"): "\u2025", ord("\u200b"): " ", 0xFFFD: PRIVATE}
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
_QUOTATION = re.compile(
    r'"[^"\n]{1,500}"|“[^“”\n]{1,500}”|„[^„“\n]{1,500}“|«[^«»\n]{1,500}»|`[^`\n]{1,500}`'
    r"|(?<!\w)['‘][^'\n]{2,500}['’](?!\w)|^[ \t]*>[^\n]*|~~[^~\n]{1,500}~~"
    r"|\[[^\]\n]{1,200}\](?=\()",
    re.MULTILINE,
)
_NAME = re.compile(r"\W(?!(?:I|i|we|We)\b)[\w.#+-]+(?: [\w.#+-]+){0,2}\W")
"""A quotation that may be a name."""
_FORWARDED = re.compile(
    r"^[-_ ]{2,20}(?:original|forwarded) message|^begin forwarded message|^on [^\n]{5,100} wrote:",
    re.I | re.M,
)
_END = re.compile(r"[.!?\u2025]+(?=[\s)\]}]|$)|;(?=\s)|\n+")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(,])(?:e\.?g|i\.?e|etc|vs|cf|approx|ca|resp|incl|esp|Dr|Mr|Mrs|Ms|St|Prof|Inc|Ltd"
    r"|No|Fig|al|[A-Z]|\d{1,2}|a\.k\.a|w\.r\.t)\.$",
    re.I,
)
_COLON = re.compile(r"(?:^|(?<=[.!?;] ))[^\w\n]{0,6}([^:.!?;\n]{0,80}):(?=[ \n]|$)", re.M)
_STATING = re.compile(
    r"\b(?:decided|agreed|decision|resolved|misspoke|earlier|outcome|verdict|call|settled|official"
    r"|answer|call\s+is|scratch\s+that|correction)\W*$",
    re.I,
)
_WORDS = re.compile(r"\S")
_FRAGMENT = re.compile(r"[^\w\n]*(?:[^\s.!?]+[^\S\n]+){0,3}[^\s.!?]+\W*?$")
_NO_FRAGMENT = re.compile(
    r"\W*(?:I|[Ww]e|i|it|they|this|that|the|my|our|thanks?|thx|cheers|best|regards|kind|see|please"
    r"|using|working|building|decided|going|choosing|switched|also|bye|sincerely|scratch|and|today"
    r"|done|yes|prefers|uses|likes|user|warmly|yours|greetings|love|hope|let|details|rationale"
    r"|background|reasons?|docs|documented|notes|more)\b|\W*$|\W*(?:he"
    r"|she|you) (?!said|says|wish)|\W*[A-Z]\w+ (?:\w+ )?(?:uses|is|was|has|are|were|have|comes?"
    r"|goes|runs?|works?|gets|needs?|takes|paid|done|sent|starts?|helps)\b",
    re.I,
)
_TAKEN_BACK = re.compile(
    r"\W*(?:(?:I(?:'m| am| was| have)? (?:\w+ )?(?:joking|kidding|lied|lying|joked)"
    r"|(?:that|this|it)(?:'s| is| was) (?:\w+ )?(?:jokes?|lies?|sarcasm|false|untrue|what)"
    r"|(?:those|these) (?:were|are) (?:his|her|their|not)|at least that"
    r"|(?:he|she|they) (?:said|says|t(?:old)) (?:it|that|so|me|this)"
    r"|that (?:decision|choice|plan) was)\b)",
    re.I,
)
"""The beginning of a sentence that takes back the one before it."""
_DOUBTFUL = re.compile(
    r"\W*(?:oh|ah|wow|yeah|sure|ugh|imagine|suppose|pretend|picture|assume|act\s+as|you\s+are"
    r"|you're|once\s+upon)\b",
    re.I,
)
"""The beginning of irony, of a story, and of a role: what follows on the line is not read."""


class Sentence(NamedTuple):
    """A sentence of the prose, without its mark at the end, and whether it may state something."""

    start: int
    end: int
    is_read: bool


@dataclass
class Document:
    """A text with the places of its sentences and files."""

    text: str
    prose: str
    mentions: str
    files: list[files.FileMention]
    sentences: list[Sentence]
    items: list[Item]
    """What stands under labels, which ``labels`` reads."""

    def sentences_in(self, start: int, end: int) -> list[Sentence]:
        """The sentences of which a part is between two places."""
        first = bisect_right(self.sentences, start, key=lambda sentence: sentence.end)
        last = bisect_left(self.sentences, end, key=lambda sentence: sentence.start)
        return self.sentences[first:last]

    def sentence_before(self, start: int) -> int:
        """Where the sentence before one begins in its paragraph, or -1."""
        index = bisect_left(self.sentences, start, key=lambda sentence: sentence.start) - 1
        while index >= 0:
            sentence = self.sentences[index]
            if "\n\n" in self.prose[sentence.end : start]:
                return -1
            if self.prose[sentence.start : sentence.end].strip():
                return sentence.start
            index -= 1
        return -1

    def paragraph_at(self, place: int) -> str:
        """The paragraph around a place, as far as a reader looks."""
        start = self.prose.rfind("\n\n", max(0, place - 500), place) + 1
        end = self.prose.find("\n\n", place, place + 1000)
        return self.prose[max(start, place - 500) : place + 1000 if end < 0 else end]

    @cached_property
    def statuses(self) -> frozenset[str]:
        """The words after "Status:"."""
        return frozenset(match[1].lower() for match in STATUS.finditer(self.prose))

    def sentence_at(self, place: int) -> Sentence:
        index = bisect_right(self.sentences, place, key=lambda sentence: sentence.start) - 1
        return self.sentences[max(index, 0)]


def read(text: str) -> Document:
    """Mask a text and find its sentences."""
    safe = _SURROGATE.sub(PRIVATE, text).translate(_BREAKS)
    safe = private.without_contacts(safe)
    safe = _URL.sub(_link, safe) if "/" in safe or "www." in safe else safe
    paths = list(files.mentions(safe))
    safe = _without_files(safe, paths)
    safe = _masked(_RELATIVE_PATH, safe, LINK) if "/" in safe else safe
    safe = private.without_private(safe)
    prose = safe
    if "```" in safe or "~~~" in safe:
        prose = _FENCE.sub(lambda match: private.hidden(len(match[0])), safe)
    prose = _QUOTATION.sub(_unquoted, prose)
    prose, answers = speakers.of_user(prose.translate(_SPACES | _FORMS))
    outline = Outline(text, prose)
    sentences = _sentences(prose, outline)
    return Document(text, prose, safe, paths, sentences, outline.items + _answered(answers))


def _answered(answers: list[speakers.Answer]) -> list[Item]:
    """The answers to what kind of tool the user uses or likes."""
    return [
        Item(
            answer.start,
            answer.end,
            "prefers" if answer.is_liked else "uses",
            f"{answer.noun} answer",
        )
        for answer in answers
        if not answer.noun or kind_of(answer.noun) == "uses"
    ]


def _unquoted(match: re.Match[str]) -> str:
    return match[0] if _NAME.fullmatch(match[0]) else QUOTED * len(match[0])


def _link(match: re.Match[str]) -> str:
    """The mask of a link; one with a secret stays private."""
    return (PRIVATE if PRIVATE in match[0] else LINK) * len(match[0])


def _masked(pattern: re.Pattern[str], text: str, mark: str) -> str:
    return pattern.sub(lambda match: mark * len(match[0]), text)


def _without_files(text: str, paths: list[files.FileMention]) -> str:
    pieces, end = [], 0
    for path in paths:
        pieces += [text[end : path.start], FILE * (path.end - path.start)]
        end = path.end
    return "".join([*pieces, text[end:]])


def _sentences(prose: str, outline: Outline) -> list[Sentence]:
    """The sentences; those of a line are read only if nothing on it makes them doubtful."""
    sentences: list[Sentence] = []
    forwarded = _FORWARDED.search(prose)
    stop = forwarded.start() if forwarded else len(prose)
    for line in outline.lines():
        if line.start < line.words:
            sentences.append(Sentence(line.start, line.words, False))
        is_read = line.is_read and line.start < stop
        sentences += _of_line(prose, line.words, line.end, is_read)
    return sentences or [Sentence(0, 0, False)]


def _of_line(prose: str, start: int, end: int, is_read: bool) -> list[Sentence]:
    sentences: list[Sentence] = []
    unknown = next(
        (
            label.start()
            for label in _COLON.finditer(prose, start, end)
            if not _STATING.search(label[1])
            and not LABELS.issuperset(re.findall(r"[^\W\d]+", label[1].lower()))
        ),
        end,
    )
    place = start
    for match in _END.finditer(prose, start, end):
        mark = match[0]
        if (
            mark == "."
            and _WORDS.search(prose, match.end(), end)
            and _ABBREVIATION.search(prose, max(place, match.end() - 12), match.end())
        ):
            continue
        is_plain = mark in (".", "!", ";") or "\n" in mark
        doubtful = _DOUBTFUL.match(prose, place, end) is not None
        is_read = is_read and not doubtful
        follows = is_followed_by_fragment(prose, match.end(), end)
        is_stated = is_read and is_plain and place < min(unknown, match.start()) and not follows
        sentences.append(Sentence(place, match.start(), is_stated))
        place = match.end()
    if place < end:
        is_read = is_read and not _DOUBTFUL.match(prose, place, end)
        sentences.append(Sentence(place, end, is_read and place < unknown))
    return sentences


def is_followed_by_fragment(prose: str, start: int, end: int) -> bool:
    """Whether the next sentence of the line is no clause, or takes back the one before it.

    As in "I love Jira. Said no one ever.", and "I love Jira. That was a joke."
    """
    match = _END.search(prose, start, end)
    stop = match.start() if match else end
    if start == stop:
        return False
    is_fragment = _FRAGMENT.match(prose, start, stop) and not _NO_FRAGMENT.match(prose, start, stop)
    return bool(is_fragment or _TAKEN_BACK.match(prose, start, stop))
