"""Headings, labels and bullets: which lines are read, and what the items under a label state.

A label says what its items are if each of its words is known: "Preferences", "Tech stack", "Key
decisions (2025-02-11)", "Current projects". Under a label of another person, of what is not decided
("Options", "Alice's setup", "Job posting") and under what is nested in it, nothing is stated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from kiprdf.memory.extraction.words import entries, lazily, listed, word_set


def _vocabulary() -> dict[str, frozenset[str]]:
    heads = ((head.partition(" : "), lines) for head, lines in entries("labels"))
    return {name: word_set(" ".join([first, *lines])) for (name, _, first), lines in heads}


WORDS = _vocabulary()
NO_LABELS = listed("NO_LABELS") | WORDS["CLOSED"]
"""Words of a label or heading under which nothing is stated."""
LABELS = (listed("TOPICS") | word_set("my our the made final taken team doing working this")) - (
    listed("NO_LABELS")
)
"""Words of a label whose line is read."""
_KINDS = {
    "decided": (WORDS["DECIDED"], WORDS["DECIDED_WHAT"]),
    "prefers": (WORDS["PREFERS"], WORDS["PREFERRED_WHAT"]),
    "uses": (WORDS["USES"], WORDS["USES_WHAT"] | WORDS["PROJECT"]),
    "works_on": (WORDS["WORKS_ON"], WORDS["WORKS_ON_WHAT"]),
    "project": (WORDS["PROJECT"], WORDS["PROJECT_WHAT"]),
}
_STATING = ("decided", "prefers", "uses", "works_on")
_WHAT = "(?:(?:what|stuff|tools|apps|software|things|the|that) )*(?:i|we)"
_PHRASES = {
    "uses": rf"{_WHAT} use",
    "prefers": rf"{_WHAT} (?:like|love|prefer)|(?:favou?rite|preferred)(?: \w+){{1,2}}",
    "decided": rf"{_WHAT} (?:decided|agreed)|(?:decided|agreed) with \w+(?: and \w+)?",
}
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
DATE = (
    r"(?:\d{4}-\d\d(?:-\d\d)?(?:[T ]\d\d?:\d\d)?|\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?"
    rf"|(?:\d{{1,2}}(?:st|nd|rd|th)? {_MONTH}|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b)(?:,? \d{{4}})?"
    rf"|{_MONTH} \d{{4}})"
)
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b"
_DATES = re.compile(rf"(?<!\w)(?:{DATE}|{_DAY}|{_MONTH})(?:'s)?|[#№]?\b\d{{1,4}}\b", re.I)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_ADR = re.compile(r"\s*ADR[- ]?#?\d{1,5}\s*")
_AROUND = re.compile(
    r"^(?:here(?:'s| is| are)|these are|this is|the following(?: are| is)?) "
    r"|(?: (?:are|is))? (?:as follows|daily|every day|the most|most|a lot|at work|at home"
    r"|regularly)$",
    re.I,
)
_WORD = re.compile(r"[^\W\d_]+(?:'s\b|s'(?!\w))?")

_BULLET = re.compile(r"([ \t>]*)(?:[-*•–+]|\d{1,2}[.)]|[a-z]\))[ \t]+(\[.?\][ \t])?")
_HASHES = re.compile(r"[ \t]{0,3}(#{1,6})[ \t]+(.{1,100}?)[ \t#]*$")
_ALONE = re.compile(r"[ \t]*([^:.#\n]{1,60}?):[ \t]*$")
_TITLE = re.compile(r"[ ]*(?=[A-Z]|1:1)(?!I |We )((?:[^:.,#!?\n\ue003]|1:1){1,40}?)[ ]*$")
_INLINE = re.compile(r"[ \t]*((?:[^:.!?;=\n\ue003]|\d[.:]\d){1,60}?)(:| =)[ \t]+(?=\S)")
_LATER_LABEL = re.compile(
    r"(?:[.;!] +(?=[A-Z])|[,;] +(?=[A-Za-z]))((?:[A-Za-z/()-]+ ){0,3}[A-Za-z/()-]+): "
)
_SETTINGS = re.compile(r"^[ \t-]*[a-z][\w-]*:(?: [^\n]*)?\n[ \t-]*[a-z][\w-]*:", re.M)
"""Two keys in small letters on lines that follow each other: a configuration."""
_NAME = re.compile(r"(?:[A-Z]\w*[\w-]*|[a-z]\w*-[\w-]+)(?: [A-Z\d][\w-]*){0,2}")
_NO_NAME = re.compile(
    r"\b(?:Inc|Ltd|LLC|GmbH|AG|Corp|Co|SA|Group|Bank|University|Team|Ms|Mr|Mrs|Dr|\w+(?:tion|ing|ment))\b"
)
_OF_OTHER = lazily(
    r"\W*(?!(?:User|The|This|That|It|I|We|My|Our|Everything|Nothing|All|Not|No|There|What|Here)\b)"
    r"[A-Z][a-z]+(?: [A-Z][a-z]+)? (?:<THIRD>|owns|leads|joined)\b"
)
_WITHOUT_SUBJECT = lazily(r"\W*(?i:<THIRD>|now|also|currently|still|no longer)\b")
"""The beginning of a line that is about the person whom the heading names."""
_WORK = re.compile(
    r"\W*(?:I|We)(?:\s+(?:am|are|is|has|have)|'m|'re|'ve)?(?:\s+(?:been|\w+ly|now|also|still))?\s+"
    r"(?:build|work|develop|maintain|us(?:e|ing)|writ|run|creat|mak|lead|cod|design|start|prefer)"
)
_AD = lazily(r"(?i:\(m/[fw]/[dx]\)|\b<AD>(?!\w))")
"""What a job posting has."""
_PROJECT, _PARAGRAPH, _LIST = 7, 8, 9
Span = tuple[int, int]


class Item(NamedTuple):
    """A value or a line under a label: its place, and what it states.

    ``kind`` is a predicate, or "project" for the name of a project. ``label`` is the one on the
    same line, and ``project`` the place of the name of the project that is meant.
    """

    start: int
    end: int
    kind: str
    label: str = ""
    project: Span | None = None


class Line(NamedTuple):
    """A line: its place, the place after its label or heading, and whether it is read."""

    start: int
    words: int
    end: int
    is_read: bool


class _Context(NamedTuple):
    """What stands above a line, with what it has from those above it."""

    level: int
    kind: str
    """A predicate, "" for what may be of the user, "unknown" or "closed"."""
    project: Span | None = None
    is_user: bool = False


def kind_of(label: str) -> str:
    """The predicate of the items under a label, or what else it says about the lines below it.

    That is "user", "" for known words, "project", "other", "unknown" or "closed".

    >>> kind_of("Tech stack"), kind_of("Decision (12 March)"), kind_of("Alice's setup")
    ('uses', 'decided', 'unknown')
    """
    words = _words(_DATES.sub(" ", _AROUND.sub("", label)))
    if words and words[-1] in WORDS["OTHERS"] and set(words[:-1]) <= WORDS["OTHERS"] | WORDS["ANY"]:
        return "other"
    if not NO_LABELS.isdisjoint(words):
        return "closed"
    if _ADR.fullmatch(label):
        return "decided"
    for kind, phrase in _PHRASES.items():
        if re.fullmatch(phrase, " ".join(words)) and WORDS["PERSONAL"].isdisjoint(words):
            return kind
    for kind, (heads, others) in _KINDS.items():
        if not heads.isdisjoint(words) and set(words) <= heads | others | WORDS["ANY"]:
            return "closed" if kind == "uses" and _YEAR.search(label) else kind
    if not words or not set(words) <= WORDS["ANY"] | LABELS:
        return "unknown"
    return "" if WORDS["USER"].isdisjoint(words) else "user"


class Outline:
    """The lines of a text, and the items of its labels."""

    def __init__(self, text: str, prose: str) -> None:
        self.items: list[Item] = []
        self._text, self._prose = text, prose
        self._has_settings = _SETTINGS.search(prose) is not None
        self._stack = [_Context(0, "unknown" if _AD().search(prose) else "")]

    def lines(self) -> Iterator[Line]:
        """Each line of the prose."""
        start, is_first, is_listed = 0, True, False
        for line in self._prose.split("\n"):
            stop = start + len(line)
            end = min(stop + 1, len(self._prose))
            bullet = _BULLET.match(self._text, start, stop)
            if not line.strip():
                if not _BULLET.match(self._text, end):
                    self._pop(_PARAGRAPH)
                    is_listed = False
                yield Line(start, start, end, False)
            elif self._is_heading(start, stop, bullet, is_first):
                is_listed = bullet is not None
                yield Line(start, end, end, False)
            else:
                if bullet is not None:
                    self._pop(_level(bullet))
                elif is_listed and line[0] not in " \t" and self._stack[-1].kind != "closed":
                    self._pop(_PARAGRAPH)
                is_listed = bullet is not None or (is_listed and line[0] in " \t")
                yield from self._line(start, stop, end, bullet)
            is_first = is_first and not line.strip()
            start = end

    def _pop(self, level: int) -> None:
        while self._stack[-1].level >= level:
            self._stack.pop()

    def _open(self, level: int, kind: str, name: Span | None = None) -> None:
        """Begin what a heading, a label or a bullet names; it is in what is above it."""
        outer = self._stack[-1]
        is_user = outer.is_user or kind == "user"
        kind = "" if kind in ("user", "project") else "unknown" if kind == "other" else kind
        project = name or outer.project
        if "closed" in (kind, outer.kind):
            kind = "closed"
        elif "unknown" in (kind, outer.kind):
            project = name if outer.kind != "unknown" else None
            kind = "unknown"
        self._stack.append(_Context(level, kind or outer.kind, project, is_user))

    def _raw(self, start: int, end: int) -> str:
        return self._text[start:end].strip(" \t*_#`")

    def _is_heading(
        self, start: int, stop: int, bullet: re.Match[str] | None, is_first: bool
    ) -> bool:
        """Whether a line is a heading, a title or a label alone, which then begins."""
        hashes = _HASHES.match(self._prose, start, stop)
        if hashes is not None:
            self._pop(len(hashes[1]))
            self._section(len(hashes[1]), *hashes.span(2))
            return True
        place = start if bullet is None else bullet.end()
        alone = _ALONE.match(self._prose, place, stop)
        if alone is not None:
            level = _PARAGRAPH if bullet is None else _level(bullet)
            kind = kind_of(self._raw(*alone.span(1)))
            self._pop(level)
            self._open(level, "closed" if kind in ("unknown", "other", "project") else kind)
            return True
        title = None if bullet else _TITLE.match(self._prose, start, stop)
        if title is None:
            return False
        has_bullets = _BULLET.match(self._text, stop + 1) is not None
        if not has_bullets and not (is_first and self._prose[stop + 1 : stop + 2].strip()):
            return False
        kind = kind_of(self._raw(*title.span(1)))
        self._pop(_PARAGRAPH)
        is_unknown = kind == "project" or (kind == "works_on" and not has_bullets)
        self._open(_PARAGRAPH, "unknown" if is_unknown else kind)
        return True

    def _section(self, level: int, start: int, end: int) -> None:
        """What a heading with hash marks begins: ``## Stack``, ``# Project notes: Wren``."""
        inline = _INLINE.match(self._prose, start, end)
        if inline is None:
            kind = kind_of(self._raw(start, end))
            first = re.split(r" \(| – ", self._text[start:end])[0].rstrip(" *_")
            named = re.compile(r"\W*(?:[Pp]roject )?").match(self._text, start, end)
            place = named.end() if named else start
            name = _NAME.fullmatch(self._text, place, start + len(first))
            is_other = _NO_NAME.search(first) or not WORDS["OTHERS"].isdisjoint(
                _words(self._raw(start, end))
            )
            is_name = kind in ("unknown", "other") and not is_other
            self._open(level, kind, name.span() if name and is_name else None)
            return
        kind, value = kind_of(self._raw(start, inline.end(1))), (inline.end(), end)
        if kind in ("project", "works_on"):
            self.items.append(Item(*value, "project", "project"))
            self._open(level, "", value)
        elif kind == "decided" and self._stack[-1].kind != "closed":
            self.items.append(Item(*value, kind, "decision"))
            self._open(level, "")
        else:
            self._open(level, "unknown")

    def _line(
        self, start: int, stop: int, end: int, bullet: re.Match[str] | None
    ) -> Iterator[Line]:
        """A line, in parts if it has labels after its first sentence."""
        outer = self._stack[-1]
        place = start if bullet is None else bullet.end()
        is_read = outer.kind != "closed"
        if bullet is not None and _OF_OTHER().match(self._prose, place, stop):
            if outer.kind not in ("unknown", "closed", "decided"):
                self._open(_PARAGRAPH, "unknown")
        elif bullet is not None and outer.kind == "unknown":
            is_read = not _WITHOUT_SUBJECT().match(self._prose, place, stop)
        if is_read and not (bullet and bullet[2]):
            begins = [place, *self._later_labels(place, stop)]
            ends = [*begins[1:], stop]
            for index, (first, last) in enumerate(zip(begins, ends, strict=True)):
                words, is_part_read = self._item(first, last, bullet)
                begin = first if index else start
                yield Line(begin, max(begin, words), last if last < stop else end, is_part_read)
        else:
            yield Line(start, start, end, is_read)
        nested = _BULLET.match(self._text, end) if bullet else None
        if bullet and nested and self._stack[-1].level < _level(bullet) < _level(nested):
            kind = kind_of(self._raw(place, stop))
            self._open(_level(bullet), "unknown" if kind == "project" else kind)

    def _later_labels(self, place: int, stop: int) -> list[int]:
        """Where parts begin: "I'm building Harbor. Stack: Go, Redis. Hosting: Hetzner." """
        labels = [
            match.start(1)
            for match in _LATER_LABEL.finditer(self._prose, place, stop)
            if kind_of(match[1]) in _STATING
        ]
        if not labels or _WORK.match(self._prose, place, stop):
            return labels
        inline = _INLINE.match(self._prose, place, stop)
        kind = "unknown" if inline is None else kind_of(self._raw(place, inline.end(1)))
        return labels if kind in ("uses", "prefers", "works_on", "project") else []

    def _item(self, place: int, stop: int, bullet: re.Match[str] | None) -> tuple[int, bool]:
        """Where the words of the item begin, or 0, and whether they are read."""
        outer = self._stack[-1]
        inline = _INLINE.match(self._prose, place, stop)
        if inline is None:
            if outer.kind in _STATING:
                self.items.append(Item(place, stop, outer.kind, "", outer.project))
            return place if outer.kind in _STATING else 0, True
        label, value = self._raw(place, inline.end(1)), inline.end()
        kind, words = kind_of(label), set(_words(label))
        is_plain = kind in ("", "user", "unknown")
        is_key = not bullet and label[:1].islower() and (self._has_settings or inline[2] == " =")
        if kind == "closed" or is_key:
            return 0, False
        if kind == "other":
            if not outer.is_user and outer.kind not in ("unknown", "closed"):
                self._open(_PARAGRAPH, "unknown")
            return 0, True
        if outer.kind == "unknown" and (is_plain or not (kind == "decided" or outer.project)):
            return 0, is_plain
        if kind == "project" or words == {"project"}:
            self.items.append(Item(value, stop, kind, "project"))
            self._pop(_PROJECT)
            self._open(_PROJECT, "", (value, stop))
            return value, False
        if kind == "uses" and outer.kind == "prefers":
            kind = "prefers"
        elif is_plain and outer.kind in _STATING:
            is_aspect = words <= WORDS["ANY"] | WORDS["USES"] | WORDS.get(
                f"ITEM_{outer.kind.upper()}", words
            )
            if not is_aspect and outer.kind == "prefers":
                return 0, True
            if outer.kind == "decided" and _DATES.sub("", label).strip(" ()[]:,"):
                return 0, True
            kind, label = outer.kind, label if is_aspect and outer.kind == "uses" else ""
            value = value if label else place
        elif is_plain:
            return 0, True
        is_own = kind != "uses" or not words.isdisjoint(WORDS["OWN"] | WORDS["USER"])
        project = None if is_own else outer.project
        if outer.kind != "unknown" or project or kind == "decided":
            self.items.append(Item(value, stop, kind, label if value > place else "", project))
        return value, project is None


def _words(label: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(label)]


def _level(bullet: re.Match[str]) -> int:
    return _LIST + len(bullet[1].expandtabs(4))
