"""The patterns: a table of names, expressions, weights and examples, compiled once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from kiprdf.memory.extraction import clauses, phrases
from kiprdf.memory.extraction.document import Document
from kiprdf.memory.extraction.ordinary_words import NO_PROJECT_NAME
from kiprdf.memory.extraction.tools import Mention
from kiprdf.memory.items import USER, Found, FoundEdge

Statement: TypeAlias = tuple[int, Found, FoundEdge | None]
"""A place, the entity there, and what is stated about it."""


@dataclass
class Text:
    """A document with the tools that it mentions and the projects that it names."""

    document: Document
    tools: list[Mention]

    @cached_property
    def lowered(self) -> str:
        return self.document.prose.lower()

    @cached_property
    def tool_at(self) -> dict[int, Mention]:
        return {mention.start: mention for mention in self.tools}


Read: TypeAlias = Callable[["Pattern", Text, re.Match[str]], Iterator[Statement]]


@dataclass(frozen=True)
class Pattern:
    """One way in which texts state something.

    ``predicate`` is that of the edges, "" for entities alone. ``examples`` are texts, each with
    the name of the object that it states. A text without one of the ``words`` is passed over.
    """

    name: str
    predicate: str
    weight: float
    expression: re.Pattern[str]
    read: Read
    words: tuple[str, ...]
    examples: tuple[tuple[str, str], ...]

    def find(self, text: Text) -> Iterator[Statement]:
        """What a text states in this way."""
        if not any(word in text.lowered for word in self.words):
            return
        for match in self.expression.finditer(text.document.prose):
            if "\n" not in match[0] and not text.document.is_quoted(match.start()):
                yield from self.read(self, text, match)

    def edge(self, object_: Found, weight: float | None = None) -> FoundEdge:
        """The user's edge to an entity."""
        return FoundEdge(USER, self.predicate, object_, weight or self.weight, self.name)


_ADVERB = (
    r"(?:always|usually|mostly|normally|typically|generally|often|still|also|now|currently|mainly"
    r"|just|only|primarily|really|definitely|personally|strongly|much|particularly|especially"
    r"|actually|truly|quite|do|both|all|almost|regularly|daily|frequently|already|simply|absolutely"
    r"|certainly|clearly|honestly|sometimes)"
)
_SUBJECT = r"\b(?:i|we)(?:\s*,?\s*(?:too|personally|myself|for\s+one)\s*,)?\s+"
_OMITTED = r"(?:\band|\bbut|,)\s+"
_MOSTLY = re.compile(r"\b(?:always|usually|mostly)\b", re.I)
_MOSTLY_AFTER = re.compile(r"\bevery\s+time\b|\b(?:always|usually|mostly)\s*$", re.I)
_DETERMINER = re.compile(
    r"(?:(?:the|a|an|my|our|both|just|only|mostly|mainly|plain|pure|some|either|latest|official|new"
    r"|modern|local|good|old|of|either)\s+)*",
    re.I,
)
_NEXT_TOOL = re.compile(
    r"(?:\s+v?\d[\d.x+]*)?(?:\s*,\s*(?:and\s+)?|\s+(?:and|plus|as\s+well\s+as)\s+|\s*[&/+]\s*)"
    r"(?:(?:also|the|a|an|my|our|then|with)\s+)*",
    re.I,
)
_NO_USE = re.compile(
    r"\b(?:compared|comparable|comparing|comparison|compatible|incompatible|competes?|familiar"
    r"|interferes?|unfamiliar|replaced|experience|experiment(?:ing|ed)?|along|agree|disagree|wrong"
    r"|do|inspired|(?-i:go|[Gg]oes|[Gg]oing|went|gone))\s*$",
    re.I,
)


def _preferences(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    if not _is_by_user(text, match):
        return
    for place, name, is_tool in phrases.concepts(text.document, match.end()):
        entity = Found("tool" if is_tool else "concept", name, pattern=pattern.name)
        yield place, entity, pattern.edge(entity)


def _is_by_user(text: Text, match: re.Match[str]) -> bool:
    """Whether ``I prefer``, ``I use``, or such a verb without its subject, is a statement."""
    document = text.document
    place = match.start("verb")
    if not clauses.is_statement(document, match.start()):
        return False
    if match["subject"] is not None:
        return True
    start = document.sentence_at(place).start
    before = document.prose[max(start, place - 200) : match.start()]
    subjects = re.findall(r"\b(i|we|he|she|they|you|it|who)\b", before, re.I)
    return bool(subjects) and subjects[-1].lower() in ("i", "we")


def _uses_of_user(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    if not _is_by_user(text, match):
        return
    end = phrases.clause_end(text.document, match.end())
    is_mostly = _MOSTLY.search(match[0]) or _MOSTLY_AFTER.search(
        text.document.prose, match.end(), end
    )
    for mention in tools_from(text, match.end()):
        entity = Found("tool", mention.name, pattern=pattern.name)
        yield mention.start, entity, pattern.edge(entity, 0.9 if is_mostly else None)


def _uses(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    document, place = text.document, match.start()
    mentions = list(tools_from(text, match.end()))
    if not mentions or not clauses.is_statement(document, place):
        return
    before = document.prose[max(0, place - 20) : place]
    is_user = clauses.is_of_user
    if match[0].lower().startswith("using"):
        is_user = clauses.is_progressive_of_user
    if _NO_USE.search(before) or not is_user(document, place):
        return
    for mention in mentions:
        entity = Found("tool", mention.name, pattern=pattern.name)
        yield mention.start, entity, pattern.edge(entity)


def tools_from(text: Text, place: int) -> Iterator[Mention]:
    """The tools of a list that begins at a place."""
    prose = text.document.prose
    while True:
        skipped = _DETERMINER.match(prose, place)
        start = skipped.end() if skipped else place
        mention = text.tool_at.get(start)
        if mention is None:
            return
        yield mention
        separator = _NEXT_TOOL.match(prose, mention.end)
        if separator is None:
            return
        place = separator.end()


def _decisions(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    document, place = text.document, match.start()
    is_verb_to = match["choice"] is None
    is_user = clauses.is_decided_by_user if is_verb_to else clauses.is_progressive_of_user
    if not clauses.is_statement(document, place) or not is_user(document, place):
        return
    if not is_verb_to and not _chooses(document, match):
        return
    name = phrases.decision(document, match.end(), "Not to " if match["negation"] else "")
    if name is not None:
        entity = Found("decision", name, pattern=pattern.name)
        yield match.end(), entity, pattern.edge(entity)


_GENERAL = re.compile(r"\b(?:before|after|when|while|for|of|about|on|the|without|than)\s*$", re.I)
_NO_CHOICE = re.compile(
    rf"(?:(?:my|our|his|her|their)\s+(?:{clauses.PEOPLE})\b|[A-Z]\w+\s+to\b)|(?i:between|among|from|whether|how|which|what|it|this|that|them|him|her|you|me|us|the\s+flow)\b"
)
_PREDICATE = re.compile(
    r"\s(?:is|was|are|were|takes|took|can\s+be|will\s+be|depends|seems)\s", re.I
)


def _chooses(document: Document, match: re.Match[str]) -> bool:
    """Whether ``choosing`` or ``going with`` is followed by what was chosen."""
    before = document.prose[max(0, match.start() - 12) : match.start()]
    rest = document.prose[match.end() : phrases.clause_end(document, match.end())]
    return not (_GENERAL.search(before) or _NO_CHOICE.match(rest) or _PREDICATE.search(rest))


_LIKING = re.compile(r"\b(?:like|enjoy|prefer|love|hate)\s+$", re.I)
_NOUN = re.compile(
    r"\b(?:the|a|an|this|that|each|every|office|old|new|tall|whole|our|my|in|of)\s*$", re.I
)


def _work(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    document, place = text.document, match.start()
    is_working = match[0].lower().startswith("working")
    if not is_working and _NOUN.search(document.prose, max(0, place - 12), place):
        return
    if _LIKING.search(document.prose, max(0, place - 12), place):
        return
    if not clauses.is_statement(document, place):
        return
    if not clauses.is_progressive_of_user(document, place):
        return
    for start, name in phrases.projects(document, match.end()):
        entity = Found("project", name, pattern=pattern.name)
        yield start, entity, pattern.edge(entity)


def _project_before(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    """``project X``: capitalised words, or one word that is no ordinary one."""
    name = match["name"]
    words = name.split()
    if words[0].lower() in NO_PROJECT_NAME or words[0].lower().endswith("'s"):
        return
    before = text.document.prose[max(0, match.start() - 12) : match.start()]
    if words[0] == words[0].lower() and not _BEFORE_PROJECT.search(before):
        return
    yield from _project(pattern, match.start("name"), name)


_BEFORE_PROJECT = re.compile(
    r"(?:^|[.!?;:,(\n-]|\b(?:of|on|for|in|about|with|to|from|into|and|see|re|by|called|is))\s*$",
    re.I,
)


def _project_after(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    """``X project``: capitalised words, or one word with an article before it."""
    words = match["name"].split()
    while words and (words[0].lower() in NO_PROJECT_NAME or words[0].endswith("'s")):
        words.pop(0)
    if not words or words[-1].lower() in NO_PROJECT_NAME:
        return
    name = " ".join(words)
    if name == name.lower() and not _is_lower_name(name, match):
        return
    yield from _project(pattern, match.end("name") - len(name), name)


_ADJECTIVE = re.compile(
    r"\w(?:ing|ed|al|ous|ive|ful|able|ible|ic|ly|est|less|ish|ary|ory|ent|ant)$"
)


def _is_lower_name(name: str, match: re.Match[str]) -> bool:
    return match["article"] is not None and _ADJECTIVE.search(name) is None


def _project(pattern: Pattern, place: int, words: str) -> Iterator[Statement]:
    name = phrases.project_name(words.strip(" .,'-"))
    if name is not None:
        yield place, Found("project", name, pattern=pattern.name), None


def _verb(verbs: str) -> re.Pattern[str]:
    """A verb of the user, whose subject may be left out in a list of verbs."""
    return re.compile(
        rf"(?:(?P<subject>{_SUBJECT})|{_OMITTED})(?:{_ADVERB}\s+){{0,3}}(?P<verb>{verbs})\s+"
        rf"(?:{_ADVERB}\s+)?",
        re.I,
    )


PATTERNS = (
    Pattern(
        "works_on",
        "works_on",
        0.9,
        re.compile(r"\b(?:working\s+on|building|developing)\s+", re.I),
        _work,
        ("working", "building", "developing"),
        (("I'm working on meshalyzer.", "Meshalyzer"), ("Building Tidepool now.", "Tidepool")),
    ),
    Pattern(
        "project_x",
        "",
        0.0,
        re.compile(r"\b[Pp]roject\s+(?P<name>[A-Z][\w'-]*(?:\s+[A-Z][\w'-]*){0,2}|[a-z][\w'-]*)"),
        _project_before,
        ("project",),
        (("The notes of project Aurora.", "Aurora"),),
    ),
    Pattern(
        "x_project",
        "",
        0.0,
        re.compile(
            r"(?P<article>\b(?:[Tt]he|[Oo]ur|[Mm]y)\s+)?"
            r"(?<![\w'-])(?P<name>[A-Z][\w'-]{0,60}(?:\s+[A-Z\d][\w'-]{0,60}){0,3}(?:\s+[a-z]\w{0,30})?"
            r"|[\w'-]{1,60})\s+project\b"
        ),
        _project_after,
        ("project",),
        (("Moved the Redwood project.", "Redwood"),),
    ),
    Pattern(
        "uses_x",
        "uses",
        0.8,
        re.compile(r"\b(?:using|with|via)\s+", re.I),
        _uses,
        ("using", "with", "via"),
        (("Parsed it using pandas.", "pandas"), ("Deployed via Kubernetes.", "Kubernetes")),
    ),
    Pattern(
        "i_use_x",
        "uses",
        0.8,
        _verb("use"),
        _uses_of_user,
        ("use",),
        (("I use Vim.", "Vim"), ("We always use Docker.", "Docker")),
    ),
    Pattern(
        "prefers_x",
        "prefers",
        1.0,
        _verb("prefer|like|enjoy"),
        _preferences,
        ("prefer", "like", "enjoy"),
        (("I prefer Python.", "Python"), ("I like dark mode.", "dark mode")),
    ),
    Pattern(
        "decided_x",
        "decided",
        1.0,
        re.compile(
            r"\bdecided\s+(?:(?:today|finally|now|then|instead|together|yesterday)\s+)?"
            r"(?P<negation>not\s+)?to\s+"
            r"|\b(?P<choice>choosing|going\s+with)\s+",
            re.I,
        ),
        _decisions,
        ("decided", "choosing", "going"),
        (("Decided to use SQLite for KG.", "Use SQLite for KG"), ("Going with uv.", "Uv")),
    ),
)
