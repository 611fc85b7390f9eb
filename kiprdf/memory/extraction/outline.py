"""Headings, labels and bullets: which lines are read, and what the items under a label state.

A label says what its items are if each of its words is known: "Preferences", "Tech stack", "Key
decisions (2025-02-11)", "Current projects". Under a label of another person, of what is not decided
("Options", "Alice's setup", "Job posting") and under what is nested in it, nothing is stated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from kiprdf.memory.extraction.words import entries, listed, word_set


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
_STATING = ("uses", "prefers", "works_on", "project", "decided")
_KINDS = (
    ("decided", WORDS["DECIDED"], WORDS["DECIDED_WHAT"]),
    ("prefers", WORDS["PREFERS"], WORDS["PREFERRED_WHAT"]),
    ("uses", WORDS["USES"], WORDS["USES_WHAT"] | WORDS["PROJECT"]),
    ("works_on", WORDS["WORKS_ON"], WORDS["WORKS_ON_WHAT"]),
)
_OF_ANY = WORDS["ANY"] | LABELS
_WHAT = word_set("what stuff tools apps software things the that")
_MADE = word_set("built made written deployed hosted developed created runs running")
_WITH_SOMEONE = re.compile(r"(?:[Aa]greed|[Dd]ecided) with [A-Z]\w+(?: and [A-Z]\w+)?")
_PERSONAL = word_set(
    "name nickname pronouns contact address phone person people supplier by qualifications"
    " qualification skills experience start teacher doctor dentist student employee candidate"
    " customer client colleague friend neighbour cousin aunt uncle sister brother of"
)
_OF_USER = word_set("user user's users' me my")

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
_AROUND = re.compile(
    r"^(?:here(?:'s| is| are)|these are|this is|the following(?: are| is)?) "
    r"|(?: (?:are|is))? (?:as follows|daily|every day|the most|most|a lot|at work|at home"
    r"|regularly)$",
    re.I,
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_WORD = re.compile(r"[^\W\d_]+(?:'s\b|s'(?!\w))?")
_BULLET = re.compile(r"([ \t>]*)(?:[-*•–+]|\d{1,2}[.)]|[a-z]\))[ \t]+(\[.?\][ \t])?")
_HASHES = re.compile(r"[ \t]{0,3}(#{1,6})[ \t]+(.{1,100}?)[ \t#]*$")
_ALONE = re.compile(r"[ \t]*([^:.#\n]{1,60}?):[ \t]*$")
_TITLE = re.compile(r"[ ]*(?=[A-Z]|1:1)((?:[^:.#!?\n]|1:1){1,40}?)[ ]*$")
_INLINE = re.compile(r"[ \t]*((?:[^:.!?;=\n]|\d[.:]\d){1,60}?)(:| =)[ \t]+(?=\S)")
_KEY = re.compile(r"[ \t-]*[a-z][\w-]*:(?:[ \t]|$)", re.M)
_ADR = re.compile(r"\s*ADR[- ]?#?\d{1,5}\s*$")
_NAME = re.compile(r"(?:[A-Z]\w*[\w-]*|[a-z]\w*-[\w-]+)(?: [A-Z\d][\w-]*){0,2}")
_NO_NAME = re.compile(
    r"\b(?:Inc|Ltd|LLC|GmbH|AG|Corp|Co|SA|Group|Bank|University|Team|Ms|Mr|Mrs|Dr)\b"
)
_STATEMENT = re.compile(
    r"(?i:I|we|my|our|the user|user|hi|hey|hello|dear|thanks|yes|no|ok|okay|still|currently|today"
    r"|now|also|been|back|just|prefers|uses|likes|\w+ing|\w+ed|team|everyone)\b|\w+,"
)
"""The beginning of a first line that is no title."""
_OF_OTHER = re.compile(
    r"\W*(?!(?:User|The|This|That|It|I|We|My|Our|Everything|Nothing|All|Not|No|There|What|Here)\b)"
    r"[A-Z][a-z]+(?: [A-Z][a-z]+)? (?:is|was|has|uses|works|prefers|likes|wants|lives|runs|leads"
    r"|owns|joined|plays|teaches|studies)\b"
)
_WITHOUT_SUBJECT = re.compile(r"\W*(?:[A-Z]?[a-z]+s|Now|Also|Currently|Still|No longer)\b ", re.S)
_OF_USER_LINE = re.compile(r"\W*(?:I|We|My|Our|User|The user)\b")
_WORK = re.compile(
    r"\W*(?:I|We)(?:\s+(?:am|are|is|has|have)|'m|'re|'ve)?(?:\s+(?:been|\w+ly|now|also|still))?\s+"
    r"(?:build|work|develop|maintain|us(?:e|ing)|writ|run|creat|mak|lead|cod|design|start|prefer)"
)
_LATER_LABEL = re.compile(
    r"(?:[.;!] +(?=[A-Z])|[,;] +(?=[A-Za-z]))((?:[A-Za-z/()-]+ ){0,3}[A-Za-z/()-]+): "
)
_USES = re.compile(r"(?:Uses|Runs|Works (?:mainly |mostly )?(?:in|with|on)) ")
_OF_A_PERSON = re.compile(
    r"\W*(?:prefers|uses|likes|works|enjoys|loves|runs|wants|hates|dislikes|maintains|lives)\b",
    re.I,
)
"""The beginning of a line that is about the person whom the heading names."""
_AD = re.compile(
    r"\(m/[fw]/[dx]\)|\babout (?:us|the role|you):"
    r"|\b(?:responsibilities|qualifications|nice to have|what we offer|we offer"
    r"|job description|must have)s?:|\byears of experience\b"
    r"|\bwe(?: are|'re) (?:hiring|looking for)\b",
    re.I,
)
"""What a job posting has."""
_HIDDEN = "\ue003"

_RECORD, _PARAGRAPH, _TITLE_LEVEL, _LIST = 7.5, 7.0, 6.0, 8.0
_PROJECT = 6.5
Span = tuple[int, int]


class Item(NamedTuple):
    """A value or a line under a label: its place, and what it states.

    ``kind`` is a predicate, or "project" for the name of a project, or "record" for any other
    line of one. ``project`` is the place of the name of the project that is meant.
    """

    start: int
    end: int
    kind: str
    project: Span | None = None
    is_inline: bool = False
    """Whether the label stands on the same line."""
    is_own: bool = False
    """Whether a line "Project: X" says on what the user works."""
    label: str = ""
    is_heading: bool = False


class Line(NamedTuple):
    """A line: its place, the place after its label, and whether it is a heading and is read."""

    start: int
    end: int
    words: int
    is_heading: bool
    is_read: bool


class _Context(NamedTuple):
    level: float
    kind: str
    """A predicate, "" for what may be of the user, "user", "unknown" or "closed"."""
    project: Span | None = None
    name: Span | None = None
    """What may be the name of a project."""


def kind_of(label: str) -> str:
    """The predicate of the items under a label, or what else it says about the lines below it.

    That is "user", "" for known words, "project", "other", "unknown" or "closed".

    >>> kind_of("Tech stack"), kind_of("Decision (12 March)"), kind_of("Alice's setup")
    ('uses', 'decided', 'unknown')
    """
    dated = _YEAR.search(label) is not None
    label = _AROUND.sub("", label)
    words = [word.lower() for word in _WORD.findall(_DATES.sub(" ", label))]
    if words and words[-1] in WORDS["OTHERS"] and set(words[:-1]) <= WORDS["OTHERS"] | WORDS["ANY"]:
        return "other"
    if not NO_LABELS.isdisjoint(words):
        return "closed"
    if not words:
        return "decided" if _ADR.match(label) else "unknown"
    if _ADR.match(label):
        return "decided"
    if words[-2:-1] in (["i"], ["we"]) and set(words[:-2]) <= _WHAT:
        return {"use": "uses", "like": "prefers", "love": "prefers", "prefer": "prefers"}.get(
            words[-1], "decided" if words[-1] in ("decided", "agreed") else "unknown"
        )
    if len(words) == 2 and words[0] in _MADE and words[1] in ("with", "in", "on", "using"):
        return "uses"
    if _WITH_SOMEONE.fullmatch(label.strip()):
        return "decided"
    for kind, heads, others in _KINDS:
        if not heads.isdisjoint(words) and set(words) <= heads | others | WORDS["ANY"]:
            if kind == "uses" and dated:
                return "closed"
            if kind == "works_on" and "working" in words and words[-1] != "on":
                continue
            if kind == "works_on" and "notes" in words:
                continue
            return kind
    is_preferred = words[0] in ("favourite", "favorite", "preferred") and len(words) < 4
    if is_preferred and _PERSONAL.isdisjoint(words):
        return "prefers"
    if not WORDS["PROJECT"].isdisjoint(words) and set(words) <= (
        WORDS["PROJECT"] | WORDS["PROJECT_WHAT"]
    ):
        return "project"
    if not set(words) <= _OF_ANY:
        return "unknown"
    return "user" if not _OF_USER.isdisjoint(words) else ""


class Outline:
    """The lines of a text, and the items of its labels."""

    def __init__(self, text: str, prose: str) -> None:
        self._text, self._prose = text, prose
        self._stack: list[_Context] = []
        self._is_listed, self._subject = False, ""
        self.items: list[Item] = []
        self._is_ad = _AD.search(prose) is not None

    def lines(self) -> Iterator[Line]:
        """Each line of the prose."""
        start, is_first = 0, True
        lines = self._prose.split("\n")
        for index, line in enumerate(lines):
            end = min(start + len(line) + 1, len(self._prose))
            if not line.strip():
                self._blank(start, lines, index)
            elif line.strip(_HIDDEN) == "":
                self._pop(_PARAGRAPH, but_closed=True)
            elif (heading := self._heading(line, start, end, is_first)) is not None:
                yield heading
                is_first = False
                start = end
                continue
            else:
                is_first = False
            yield from self._line(line, start, end)
            start = end

    def _pop(self, level: float, but_closed: bool = False) -> None:
        self._stack = [
            each
            for each in self._stack
            if each.level < level or (but_closed and each.kind == "closed")
        ]

    def _blank(self, start: int, lines: list[str], index: int) -> None:
        """A blank line ends a paragraph, and a list that does not go on after it."""
        place = start + 1
        for line in lines[index + 1 : index + 3]:
            if line.strip():
                if _BULLET.match(self._text, place, place + len(line)):
                    return
                break
            place += len(line) + 1
        self._pop(_PARAGRAPH)
        self._is_listed, self._subject = False, ""

    def _raw(self, start: int, end: int) -> str:
        return self._text[start:end].strip(" \t*_#`")

    def _heading(self, line: str, start: int, end: int, is_first: bool) -> Line | None:
        """What a heading, a title or a label alone on its line begins."""
        heading = Line(start, end, end, True, False)
        level: float
        stop = start + len(line)
        hashes = _HASHES.match(line)
        if hashes is not None:
            level = len(hashes[1])
            self._pop(level)
            self._is_listed, self._subject = False, ""
            self._section(level, start + hashes.start(2), start + hashes.end(2))
            return heading
        bullet = _BULLET.match(self._text, start, stop)
        alone = _ALONE.match(line)
        if alone is not None and _HIDDEN not in line:
            kind = self._kind(start + alone.start(1), start + alone.end(1), bullet)
            level_of = _PARAGRAPH if bullet is None else _LIST + _indent(bullet)
            self._pop(level_of)
            self._is_listed = bullet is not None
            if kind in ("unknown", "other", "project"):
                kind = "closed"
            self._stack.append(_Context(level_of, kind))
            return heading
        title = None if bullet else _TITLE.match(line)
        if title is None:
            return None
        has_bullets = _BULLET.match(self._text, end) is not None
        is_title = (
            is_first and not _STATEMENT.match(title[1]) and title[1].count(" ") < 6
        ) and bool(self._prose[end : end + 1].strip())
        if not has_bullets and not is_title:
            return None
        place = start + title.start(1)
        kind = self._kind(place, start + title.end(1), None)
        if has_bullets:
            self._pop(_TITLE_LEVEL)
            level = _TITLE_LEVEL if kind in ("closed", "", "unknown") else _PARAGRAPH
            kind = {"other": "closed", "project": "unknown"}.get(kind, kind)
        else:
            self._pop(_PARAGRAPH)
            level = _PARAGRAPH
            kind = "closed" if kind in ("unknown", "other", "project") else kind
        self._is_listed, self._subject = False, ""
        self._stack.append(_Context(level, kind))
        return heading

    def _kind(self, start: int, end: int, bullet: re.Match[str] | None) -> str:
        start = start if bullet is None else max(start, bullet.end())
        return kind_of(self._raw(start, end)) if start < end else "unknown"

    def _section(self, level: int, start: int, end: int) -> None:
        """What a heading with hash marks begins: ``## Stack``, ``# Project notes: Wren``."""
        inline = _INLINE.match(self._prose, start, end)
        if inline is None:
            parts = re.split(r" [–—-] | \(", self._raw(start, end))
            kind = "user" if "user" in map(kind_of, parts) else kind_of(self._raw(start, end))
            kind = "" if kind == "project" else kind
            name = None
            if kind in ("unknown", "other"):
                first = self._text[start:end].partition(" (")[0].partition(" – ")[0].rstrip(" *_")
                match = re.match(r"\W*(?:[Pp]roject )?", self._text[start:end])
                at = start + (match.end() if match else 0)
                if _NAME.fullmatch(self._text, at, start + len(first)) and not _NO_NAME.search(
                    first
                ):
                    name = at, start + len(first)
                words = set(_WORD.findall(self._raw(start, end).lower()))
                kind = "unknown" if NO_LABELS.isdisjoint(words) else "closed"
            self._stack.append(_Context(level, kind, None, name))
            return
        kind, value = kind_of(self._raw(start, inline.end(1))), (inline.end(), end)
        if kind in ("project", "works_on"):
            self.items.append(Item(*value, "project", is_inline=True))
            self._stack.append(_Context(level, "", value))
        else:
            is_stated = kind == "decided" and not self._is_closed()
            if is_stated:
                self.items.append(Item(*value, "decided", is_inline=True, is_heading=True))
            self._stack.append(_Context(level, "" if is_stated else "unknown"))

    def _is_closed(self) -> bool:
        return any(each.kind == "closed" for each in self._stack)

    def _line(self, line: str, start: int, end: int) -> Iterator[Line]:
        """A line, in parts if it has labels after its first sentence."""
        stop = start + len(line)
        bullet = _BULLET.match(self._text, start, stop)
        if bullet is not None:
            self._pop(_LIST + _indent(bullet))
            self._is_listed = True
        elif self._is_listed and not line.startswith((" ", "\t")):
            self._pop(_PARAGRAPH, but_closed=True)
            self._is_listed, self._subject = False, ""
        is_read = not self._is_closed()
        place = start if bullet is None else bullet.end()
        is_nest = bullet is not None and self._nests(end, _indent(bullet))
        if bullet is not None:
            if _OF_OTHER.match(self._prose, place, stop):
                self._subject = "other"
            elif _OF_USER_LINE.match(self._prose, place, stop):
                self._subject = "user"
            elif self._subject == "other":
                is_read = is_read and not _WITHOUT_SUBJECT.match(self._prose, place, stop)
            elif self._subject == "" and self._outer() == "unknown":
                is_read = is_read and not _OF_A_PERSON.match(self._prose, place, stop)
        words = start
        is_checkbox = bullet is not None and bullet[2] is not None
        parts = [(start, stop)]
        if is_read and line.strip() and not is_checkbox:
            parts = self._parts(place, start, stop)
            words, is_read = self._item(start, place, parts[0][1], bullet)
        if is_nest and bullet is not None:
            kind = kind_of(self._raw(place, stop))
            kind = "unknown" if kind in ("other", "project") else kind
            self._stack.append(_Context(_LIST + _indent(bullet), kind))
        yield Line(start, end if len(parts) == 1 else parts[1][0], words, False, is_read)
        for (first, last), (following, _) in pairwise([*parts[1:], (end, end)]):
            words, is_part_read = self._item(first, first, last, None)
            yield Line(first, following, words, False, is_read and is_part_read)

    def _parts(self, place: int, start: int, stop: int) -> list[Span]:
        """The parts of a line: "I'm building Harbor. Stack: Go, Redis. Hosting: Hetzner." """
        labels = [
            match
            for match in _LATER_LABEL.finditer(self._prose, place, stop)
            if kind_of(match[1]) in _STATING
        ]
        inline = _INLINE.match(self._prose, place, stop) if labels else None
        label = "unknown" if inline is None else kind_of(self._raw(place, inline.end(1)))
        is_of_user = label in ("uses", "prefers", "works_on", "project") or (
            inline is None and _WORK.match(self._prose, place, stop) is not None
        )
        if not labels or not is_of_user:
            return [(start, stop)]
        begins = [start, *(match.start(1) for match in labels)]
        ends = [*(match.start() + 1 for match in labels), stop]
        return list(zip(begins, ends, strict=True))

    def _nests(self, end: int, indent: int) -> bool:
        following = _BULLET.match(self._text, end)
        return following is not None and _indent(following) > indent

    def _item(
        self, start: int, place: int, stop: int, bullet: re.Match[str] | None
    ) -> tuple[int, bool]:
        """Where the words after the label of a line begin, and whether they are read."""
        outer = self._outer()
        project = next((each.project for each in reversed(self._stack) if each.project), None)
        inline = _INLINE.match(self._prose, place, stop)
        if inline is not None and _HIDDEN in self._prose[place:stop]:
            return start, True
        label = "" if inline is None else self._raw(place, inline.end(1))
        kind = "" if inline is None else kind_of(label)
        if inline is not None and bullet is None and self._is_code(start, stop, label, inline[2]):
            return start, False
        value = (0, 0) if inline is None else (inline.end(), stop)
        words = [word.lower() for word in _WORD.findall(label)]
        if kind == "closed" or (self._is_ad and outer in ("", "uses", "prefers")):
            return start, kind in ("", "user", "unknown", "closed", "decided")
        if outer == "unknown" and kind != "decided":
            named = self._project_of_heading()
            if kind == "uses" and named and WORDS["OWN"].isdisjoint(words):
                self.items.append(Item(*value, kind, named, True))
                return value[0], False
            return start, kind in ("", "user", "unknown")
        if inline is None:
            verb = _USES.match(self._text, place, stop) if bullet and not outer else None
            if verb and any(each.kind == "user" for each in self._stack):
                self.items.append(Item(verb.end(), stop, "uses", None, True, label="tools shell"))
            if outer in ("prefers", "uses", "decided", "works_on"):
                self.items.append(Item(place, stop, outer, project))
            return start, True
        if kind == "other":
            if not any(each.kind == "user" for each in self._stack):
                self._pop(_RECORD)
                self._stack.append(_Context(_RECORD, "unknown"))
            return start, True
        if kind == "project" or (kind == "works_on" and words in (["project"],)):
            nested = bullet is not None and self._nests(stop + 1, _indent(bullet))
            level = _LIST + _indent(bullet) if nested and bullet else _PROJECT
            self._stack = [each for each in self._stack if each.level not in (level, _PROJECT)]
            self._stack.append(_Context(level, "", value))
            self._stack.sort(key=lambda each: each.level)
            self.items.append(Item(*value, "project", is_inline=True, is_own=kind == "works_on"))
            return value[0], False
        if outer == "decided":
            if kind == "uses" or not _DATES.sub("", label).strip(" ()[]:,"):
                self.items.append(Item(place, stop, outer, project))
                return start, True
            if kind != "decided":
                return start, True
        if outer == "prefers" and kind in ("", "user", "unknown", "uses"):
            if set(words) <= WORDS["ASPECTS"] | WORDS["ANY"] | WORDS["USES"]:
                self.items.append(Item(place, stop, outer, None, label=label))
                return value[0], True
            return start, True
        if outer == "uses" and kind in ("", "user", "unknown"):
            if set(words) <= WORDS["USED_FOR"] | WORDS["ANY"] | WORDS["USES"]:
                self.items.append(Item(*value, outer, project, True, label=label))
                return value[0], True
            self.items.append(Item(place, stop, outer, project))
            return place, True
        if outer == "works_on" and kind == "unknown" and bullet is not None:
            self.items.append(Item(place, stop, outer))
            return place, True
        if kind in ("prefers", "uses", "decided", "works_on"):
            is_own = kind != "uses" or not WORDS["OWN"].isdisjoint(words)
            is_own = is_own or words[0] in ("my", "user", "user's")
            of = None if is_own else project
            self.items.append(Item(*value, kind, of, True, label=label))
            return value[0], of is None
        if project is not None:
            self.items.append(Item(*value, "record", project, True))
        elif kind in ("", "user"):
            inner = _INLINE.match(self._prose, *value)
            if inner is not None and kind_of(inner[1]) in _STATING:
                return self._item(start, inner.start(), stop, bullet)
        return start, True

    def _outer(self) -> str:
        """What the headings and labels above a line say about it."""
        kinds = [each.kind for each in self._stack if each.kind not in ("", "user")]
        return "unknown" if "unknown" in kinds else kinds[-1] if kinds else ""

    def _is_code(self, start: int, stop: int, label: str, mark: str) -> bool:
        """Whether a line is one of a configuration: a key in small letters, beside others."""
        is_later = start > 0 and self._prose[start - 1] != "\n"
        if is_later or label[:1].isupper() or self._text[start:stop].startswith("*"):
            return False
        before = self._text.rfind("\n", max(0, start - 200), max(0, start - 1)) + 1
        return mark == " =" or any(
            _KEY.match(self._text, place) is not None
            for place in (before if before < start else stop, stop + 1)
        )

    def _project_of_heading(self) -> Span | None:
        """The name in the heading, if all others are known."""
        unknown = [each for each in self._stack if each.kind == "unknown"]
        if len(unknown) != 1 or unknown[0].name is None:
            return None
        return unknown[0].name


def _indent(bullet: re.Match[str]) -> int:
    return len(bullet[1].expandtabs(4))
