"""Reads sentences: an edge comes only from a sentence whose clauses are read from end to end."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from kiprdf.dataclasses import dataclass
from kiprdf.memory.extraction import phrases
from kiprdf.memory.extraction.document import Document, Sentence
from kiprdf.memory.extraction.patterns import BULLET, OPENERS, PATTERNS, TAIL, Pattern
from kiprdf.memory.extraction.private import PRIVATE
from kiprdf.memory.extraction.tools import Mention
from kiprdf.memory.extraction.words import (
    FUNCTION_WORDS,
    TOOL_MARK,
    compiled,
    lazily,
    with_marks,
    word_set,
)
from kiprdf.memory.items import USER, Found, FoundEdge

MOST_CHARACTERS = 600
"""The longest sentence that is read; this bounds the time."""
_MOST_CLAUSES, _MOST_OPENERS = 12, 3
_WEIGHTS = {"works_on": 0.9, "uses": 0.8, "prefers": 1.0, "decided": 1.0}
_TOOLS = lazily("<TOOLS>")
_AND = lazily("<AND>")
_PROJECT = lazily("<PROJECT>")
_JOINT = compiled(r"(?:,? (?:and|but|then|so)(?: (?:then|also|now|today))?(?= )|,(?: now)?(?= ))")
_END = compiled(" *$")
_FOLLOWING = lazily("<FOLLOWING>")
_FOLLOWING_NAME = lazily("(?:<FOLLOWING>|<FOLLOWING_NAME>)")
_FOLLOWING_END = lazily("(?:<FOLLOWING>|<FOLLOWING_END>)")
_HARMFUL = lazily("<HARMFUL>")
_VERB_OF_GERUND = lazily("<VERB_OF_GERUND>")
_IS_USER = re.compile(
    r"\W*I(?:'m|\W+(?:am|is)) an?(?:\W(?!(?:of|to|with|for|by|in\Wan?|in\Wthe)\b)[^\W_][\w-]*)+$"
)
_OF_USER = re.compile(r"\W*I\b(?!.*\b(?:who|which|that|where|whose)\b)")
_OTHER = re.compile(
    r"(?:,|\b(?:and|but|while|because|since|as|so))\W+(?:[A-Z]|(?:my|our|his|her|their|the|he|she|they"
    r"|it|you)\b).*\w(?:s|ed)\b"
)
"""Another subject with its verb."""
_GERUND = re.compile(r"\W*(?:\w+ly\W)?\w+ing\b")
_NEXT, _BEFORE = lazily("<NEXT>"), lazily("<BEFORE>")
GIVEN_NAMES = word_set("cassandra crystal dart hugo jade jasmine julia pascal ruby")
"""Tools that have the name of a person: "built it with Ruby" is no use of it."""


class Statement(NamedTuple):
    """A place, the entity there, what is stated about it, and whether that ended."""

    place: int
    entity: Found
    edge: FoundEdge | None = None
    is_ended: bool = False


@dataclass
class Text:
    """A document with the tools that it mentions."""

    document: Document
    tools: list[Mention]

    @cached_property
    def reading(self) -> str:
        """The prose, with marks in the place of tools."""
        pieces, end = [], 0
        for tool in self.tools:
            pieces += [self.document.prose[end : tool.start], TOOL_MARK * (tool.end - tool.start)]
            end = tool.end
        return "".join([*pieces, self.document.prose[end:]])

    @cached_property
    def _starts(self) -> list[int]:
        return [tool.start for tool in self.tools]

    def tools_in(self, start: int, end: int) -> list[Mention]:
        return self.tools[bisect_left(self._starts, start) : bisect_left(self._starts, end)]


def statements(text: Text) -> Iterator[Statement]:
    """What the sentences of a text state."""
    for sentence in text.document.sentences:
        if sentence.is_read and sentence.end - sentence.start <= MOST_CHARACTERS:
            yield from _of_sentence(text, sentence)


def _of_sentence(text: Text, sentence: Sentence) -> list[Statement]:
    """What the clauses of a sentence state, after what may precede them."""
    reader = _Reader(text, sentence)
    start = BULLET().match(reader.prose).end()  # type: ignore[union-attr]
    places = {start, _after_openers(reader, start)}
    mark = text.document.prose[sentence.end : sentence.end + 1]
    for place in sorted(places, reverse=True):
        if PRIVATE in reader.plain[place:]:
            continue
        result = reader.clauses(place - 1, 0)
        if result is not None:
            return result
        is_title = mark not in tuple(".!;") and _is_title(reader.plain[place:])
        if _VERB.match(reader.plain, place) and not is_title:
            result = _Reader(text, sentence, place).clauses(place - 1, 1)
            if result is not None:
                return result
    for match in _NEXT().finditer(reader.prose, start):
        if not _BEFORE().match(reader.prose, start, match.end()):
            break
        if PRIVATE in reader.plain[match.end() :]:
            continue
        # The user is the subject of what the sentence begins with, and of no other clause.
        of_user = _OF_USER if match["verb"] else _IS_USER if match["own"] else None
        if of_user and (
            not of_user.match(reader.prose, start, match.start())
            or _OTHER.search(reader.prose, start, match.start())
        ):
            continue
        result = reader.clauses(match.end(), 1 if of_user else 0)
        if result is not None:
            return result
    return []


def _after_openers(reader: _Reader, place: int) -> int:
    """The place after what precedes the first clause and changes nothing."""
    openers = [opener.pattern for opener in OPENERS if opener.may_match(reader.lowered)]
    for _ in range(_MOST_OPENERS):
        matches = (pattern.match(reader.prose, place) for pattern in openers)
        match = next(filter(None, matches), None)
        if match is None:
            break
        place = match.end()
    return place


def _is_title(words: str) -> bool:
    """Whether each word is written as in a title: "Building Bridges with Ruby"."""
    names = [word for word in words.split() if word.lower() not in FUNCTION_WORDS]
    return len(names) > 2 and all(word[0].isupper() or word[0] == TOOL_MARK for word in names)


_VERB = re.compile(
    r"(?!(?:runs?|running|built|made) (?:on|in|with|using) |works with \ue010)"
    r"(?:\w+(?:ed|ing)|prefers|uses|likes|enjoys|loves|works|runs|set up|built|wrote|made|drew|left"
    r"|got|went|chose|spent|quit|been|gave|ran|did|kept"
    r"|no longer|now|still|not|just|also|back|busy) ",
    re.I,
)
"""A verb whose subject is left out; a command such as "use" is not such a verb, and
"runs on Linux" or "built with Go" is about a program."""


class _Reader:
    """The words of a sentence, from a blank on; ``lowered`` is the place of a capital letter."""

    def __init__(self, text: Text, sentence: Sentence, lowered: int = 0) -> None:
        self.text = text
        self.offset = sentence.start - 1
        self.plain = f" {text.reading[sentence.start : sentence.end]}"
        if lowered:
            before, after = self.plain[:lowered], self.plain[lowered + 1 :]
            self.plain = f"{before}{self.plain[lowered].lower()}{after}"
        self.prose = with_marks(self.plain)
        self.lowered = self.plain.lower()
        self._patterns = [pattern for pattern in PATTERNS if pattern.may_match(self.lowered)]
        self._read: dict[tuple[int, bool], list[Statement] | None] = {}

    def clauses(self, start: int, count: int) -> list[Statement] | None:
        """What the clauses from a place on state; None if none is read there.

        Only the first one, of ``count`` 0, needs a subject.
        """
        if count == _MOST_CLAUSES:
            return None
        place = start, count > 0
        if place not in self._read:
            self._read[place] = self._clauses(start, count)
        return self._read[place]

    def _clauses(self, start: int, count: int) -> list[Statement] | None:
        for pattern in self._patterns:
            match = pattern.pattern.match(self.prose, start)
            if match is None or (pattern.has_subject and not count and match["subject"] is None):
                continue
            end = match.end()
            if pattern.is_open:
                end = phrases.decision_end(self.plain, end)
            after = pattern.adjuncts and pattern.adjuncts.match(self.prose, end)
            result = _stated(self, pattern, match, after.end() if after else end)
            if result is None:
                continue
            places = [after.end()] if after else []
            if not after or after.end() > end:
                places.append(end)
            rests = (self._rest(place, count) for place in places)
            rest = next((rest for rest in rests if rest is not None), None)
            if rest is None:
                # "Using Docker" may be the subject: "Using Docker as root is bad".
                is_subject = _GERUND.match(self.prose, start) and _VERB_OF_GERUND().match(
                    self.prose, end
                )
                harmless = (place for place in places if self._is_harmless(place, result))
                place = None if is_subject else next(harmless, None)
                rest = None if place is None else self._later(place, count)
            if rest is not None:
                return result + rest
        return None

    def _rest(self, start: int, count: int) -> list[Statement] | None:
        """What follows a clause: the end, what changes nothing, or another clause."""
        if _END.match(self.prose, start):
            return []
        joint = _JOINT.match(self.prose, start)
        result = None if joint is None else self.clauses(joint.end(), count + 1)
        return [] if result is None and TAIL().match(self.prose, start) else result

    def _later(self, start: int, count: int) -> list[Statement]:
        """What the first clause states that is read again after words that are not known."""
        results = (
            self.clauses(match.end(), count + 1)
            for match in _NEXT().finditer(self.prose, start)
            if not (match["verb"] and _OTHER.search(self.prose, start, match.start()))
        )
        return next((result for result in results if result is not None), [])

    def _is_harmless(self, start: int, result: list[Statement]) -> bool:
        """Whether what follows a clause may have unknown words, and none that takes it back."""
        following = _FOLLOWING()
        if all(each.entity.type in ("tool", "project") for each in result):
            # "I no longer use Docker at work" ends less than "I no longer use Docker".
            is_ended = all(each.is_ended for each in result)
            following = (_FOLLOWING_END if is_ended else _FOLLOWING_NAME)()
        is_next = following.match(self.prose, start) is not None
        return is_next and _HARMFUL().search(self.prose, start) is None


def _stated(
    reader: _Reader, pattern: Pattern, match: re.Match[str], stop: int
) -> list[Statement] | None:
    """What the groups of a form state; None if a phrase of it names nothing."""
    text, offset = reader.text, reader.offset
    groups = {
        name: (match.start(name) + offset, match.end(name) + offset)
        for name in match.re.groupindex
        if match[name] is not None
    }
    clause = reader.plain[match.start() : stop]
    is_mostly = pattern.name == "i_use_x" and _MOSTLY.search(clause)
    weight = 0.9 if is_mostly else None
    groups.pop("subject", None)
    negation = "Not to " if groups.pop("negation", None) else ""
    negation = "Against " if groups.pop("against", None) else negation
    project = groups.pop("project", None)
    result: list[Statement] = []
    for group, (start, end) in groups.items():
        predicate, state = _GROUP.fullmatch(group).groups()  # type: ignore[union-attr]
        if predicate in ("uses", "project_uses", "corrected"):
            names = [(tool.start, "tool", tool.name) for tool in text.tools_in(start, end)]
            may_be_persons = pattern.name in _WITH or _OF_TRUST.search(clause)
            if may_be_persons and not state and _are_given_names(names):
                return None
        elif predicate == "prefers":
            names = _liked(text, start, end, is_held=not state)
        elif predicate == "works_on":
            names = _projects(reader, start, end)
        else:
            name = phrases.decision(
                text.document, start, stop + offset if pattern.is_open else end, negation
            )
            names = [(start, "decision", name)] if name else []
        if not names:
            return None
        if predicate == "corrected":
            result += _corrections(*names[0], pattern.name)
            continue
        if predicate == "project_uses":
            subject = _subject_of(text, project, result, pattern.name)
            if subject is None:
                return None
            result += [_edge(subject, "uses", *name, pattern.name, 0.8, False) for name in names]
            continue
        weight_of = 0.0 if state == "denied" else weight or _WEIGHTS[predicate]
        result += [
            _edge(USER, predicate, *name, pattern.name, weight_of, state is not None)
            for name in names
        ]
    news = [each.edge for each in result if each.edge and not each.is_ended]
    if len(news) == 1:
        result = [
            each._replace(edge=replace(each.edge, superseded_by=news[0]))
            if each.edge and each.is_ended
            else each
            for each in result
        ]
    return result


_OF_TRUST = re.compile(
    r"\b(?:rel(?:y|ies)|depends?|swears?|reach|runs?|go|sticks?|live|work|without)\b"
)
_MOSTLY = re.compile(r"\b(?:always|usually)\b|\bmostly [^ ]|\bevery time\b|\bmostly *$")
_WITH = ("uses_with_x", "works_on", "i_work_on")
_GROUP = re.compile(r"([a-z_]+?)(?:_(ended|denied))?(?:_\d)?")


def _edge(
    subject: Found,
    predicate: str,
    place: int,
    type: str,
    name: str,
    pattern: str,
    weight: float,
    is_ended: bool,
) -> Statement:
    entity = Found(type, name, pattern=pattern)
    return Statement(
        place, entity, FoundEdge(subject, predicate, entity, weight, pattern), is_ended
    )


def _subject_of(
    text: Text, span: tuple[int, int] | None, result: list[Statement], pattern: str
) -> Found | None:
    if span is None:
        return next((each.entity for each in result if each.entity.type == "project"), None)
    name = phrases.project(text.document, *span)
    return None if name is None else Found("project", name, pattern=pattern)


def _are_given_names(names: list[tuple[int, str, str]]) -> bool:
    return {name.lower() for _, _, name in names} <= GIVEN_NAMES


def _liked(text: Text, start: int, end: int, is_held: bool) -> list[tuple[int, str, str]]:
    if _TOOLS().fullmatch(text.reading, start, end):
        names = [(tool.start, "tool", tool.name) for tool in text.tools_in(start, end)]
        return [] if is_held and _are_given_names(names) else names
    name = phrases.concept(text.document, start, end)
    return [(start, "concept", name)] if name else []


def _projects(reader: _Reader, start: int, end: int) -> list[tuple[int, str, str]]:
    """The projects of a list."""
    text, offset, prose = reader.text, reader.offset, reader.prose
    names: list[tuple[int, str, str]] = []
    place, last = start - offset, end - offset
    while match := _PROJECT().match(prose, place, last):
        name = phrases.project(text.document, match.start() + offset, match.end() + offset)
        if name is None:
            return []
        names.append((match.start() + offset, "project", name))
        joint = _AND().match(prose, match.end(), last)
        if joint is None:
            break
        place = joint.end()
    if names:
        return names
    # Words in lower case.
    for word in re.finditer(r"\S+(?=\s+and\s|$)", text.reading[start:end]):
        name = phrases.project(text.document, start + word.start(), start + word.end())
        if name is None:
            return []
        names.append((start + word.start(), "project", name))
    return names


def _corrections(place: int, type: str, name: str, pattern: str) -> list[Statement]:
    """``Scratch that: not Redis`` denies each relation to Redis that may have been stated."""
    decision = Found("decision", f"Use {name}", pattern=pattern)
    decided = FoundEdge(USER, "decided", decision, 0.0, pattern)
    return [
        _edge(USER, "uses", place, type, name, pattern, 0.0, True),
        _edge(USER, "prefers", place, type, name, pattern, 0.0, True),
        Statement(place, decision, decided, is_ended=True),
    ]
