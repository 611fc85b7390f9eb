"""What lists and values under labels state: "Stack: Redis, Go", "## Preferences", "Decision: X".

An item is taken whole, or it states nothing here, and is read as any other sentence.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import replace

from kiprdf.memory.extraction import phrases
from kiprdf.memory.extraction.document import Document
from kiprdf.memory.extraction.grammar import Statement, Text
from kiprdf.memory.extraction.outline import DATE, WORDS, Item
from kiprdf.memory.extraction.tools import tool_named
from kiprdf.memory.extraction.words import FUNCTION_WORDS, lazily, word_set
from kiprdf.memory.items import USER, Found, FoundEdge

PATTERN = "label"
_MOST_ITEMS, _LONGEST, _FAR = 24, 120, 500
_WEIGHTS = {"uses": 0.8, "prefers": 1.0, "works_on": 0.9, "decided": 1.0}
Span = tuple[int, int]
Named = tuple[int, str, str]
"""The place, type and name of what an item names."""

# Between the parts of a list, and not within brackets.
_WHOLE = re.compile("(?!)(?P<joint>)")
_COMMA = re.compile(r"\([^()\n]*\)|(?P<joint>[,;]| and (?=[^\s,]+(?: [^\s,]+)? *$))")
_AND = re.compile(r"\([^()\n]*\)|(?P<joint>[,;]|(?<=\w) (?:and|&|\+) (?=\w))")
_JOINT = re.compile(r"\([^()\n]*\)|(?P<joint>[,;]| (?:and|&|\+|plus|/|\|) |(?<=\S)/(?=\S))")
_NUMBER = re.compile(r"(?<!\S)(?P<joint>(?:\(\d{1,2}\)|\d{1,2}\)|\(?[a-h]\))\s+)")
_EDGES = re.compile(r"[ *_.]*(?:(?:and|plus|via|through) )?(?P<words>.*?)[ *_.!]*$", re.S | re.I)

_MARK = r"[?\ue000-\ue005{}<>=|·\[\]→⇒]|->"
_NOT_NOW = lazily(rf"(?i:{_MARK}|\b(?:<RISK>|<OPEN>|<NOT_NOW>)\b)")
_UNLIKED = lazily(
    rf"(?i:{_MARK}|\b(?:<RISK>|<OPEN>)\b| <THIRD>\b"
    r"|^(?:<THIRD>|<PAST>|hate|like|love|want|need|ask|call|check)\b)"
)
_OPEN = lazily(r"(?i:[?\ue000\ue004]|\b<OPEN>\b)")
_EMPTY = lazily("(?i:<EMPTY>)")
_CLAUSE = FUNCTION_WORDS - word_set(
    "for in on at by to of from with without about over under than as into and nor not no never"
    " the a an more less most only always every all each same very before after until like own"
)
_SENTENCE = FUNCTION_WORDS - word_set("mostly mainly usually always")
_USE = re.compile(r"(?:please )?(?:always )?(?:prefer|use|using) (?=\w)", re.I)

_BEFORE_TOOL = lazily(r"(?i:<THEIR>(?:(?:\d{1,2}|two|three|some|also|usually) )?)")
_AFTER_TOOL = lazily(
    r"(?: ?v?\d[\w.+]*)?<TOOL_NOUN>(?: ?\([^()]*\))?"
    r"(?:,? ?(?:(?:for|on|at|in|with|via|as) .+|[–—-] .+|: .+))?$"
)
_PROJECT_NAME = lazily("(?:(?:[Tt]he|[Mm]y|[Oo]ur) )?(?:project )?<NAME>(?: <KIND>){0,2}")
_PLAIN_NAME = re.compile(r"(?:the |my |our )?[A-Za-z][\w-]*(?: [a-z][\w-]*){0,3}")
_NO_ACTIVITY = re.compile(r"[A-Z]?[a-z]+(?:ing|tion|sion|ment|s|ed)")
_DESCRIPTION = re.compile(r"\s*(?:\([^()]*\)|[:–—] .*|- .*|, (?:an?|the|our|my) .*)$")
_OTHER_TIME = lazily(
    r"\b(?i:<FINISHED>|done|dead|paused|on hold)\b|\b[A-Z]\w+(?:'s| owns| leads)\b"
)
_NOT_OWN = lazily(
    r"(?im:^\W*(?:status\W+(?:<FINISHED>|done|dead|paused|on hold)\b"
    r"|(?:owner|lead|maintainer|author|team|client|assignee)\W))"
)
_DATED = re.compile(
    rf"\s*(?:[\[(]?{DATE}[\])]?|[#№]\d{{1,4}}|(?:D|ADR|AD)[- ]?\d{{1,5}})(?:\s*[:–—-])?\s+", re.I
)
_SUBJECT = re.compile(
    r"(?:we(?:'ll| will| shall)?(?: now)?|i(?:'ll| will)|to|that|let's) "
    r"(?!are|were|have|had|did|do|can|could|might|may|need|want|am|was|decided|agreed|chose|went|use"
    r" to)(?=[a-z])",
    re.I,
)
_NO_DECISION = lazily(
    r"(?i:<NO_DECISION>\b|<SOMEONE>(?:'\w+)? |\S+(?: \S+)? or \S+(?: \S+)?$"
    r"|.{1,40} it is(?: then)?$)|\W|[a-z]\S*$"
)
_IN_FORCE = word_set("accepted approved decided agreed done final implemented active adopted")
_SPECIAL = WORDS["OWN"] | word_set("answer language languages ci database db hosting framework")


def statements(text: Text) -> list[Statement]:
    """What the items state."""
    return [each for item in text.document.items for each in _stated(text, item)]


def of_projects(text: Text, statements: list[Statement]) -> list[Statement]:
    """The statements, in which the tools of a stack are those of the project named before it.

    That is the one project of the paragraph on which the user works: "I'm building Harbor. Stack:
    Go, Redis."
    """
    projects = sorted(
        (each.place, each.entity)
        for each in statements
        if each.edge and each.edge.predicate == "works_on" and not each.is_ended
    )
    owners: dict[int, Found] = {}
    for item in text.document.items if projects else ():
        words = set(item.label.lower().split())
        if item.kind != "uses" or not words & WORDS["OF_PROJECT"] or words & WORDS["OF_PERSON"]:
            continue
        far = max(0, item.start - _FAR)
        paragraph = max(far, text.document.text.rfind("\n\n", far, item.start))
        last = bisect_left(projects, item.start, key=lambda each: each[0])
        near = {entity for place, entity in projects[max(0, last - 3) : last] if place >= paragraph}
        if len(near) == 1:
            owners.update(dict.fromkeys(range(item.start, item.end), near.pop()))
    return [
        each._replace(edge=replace(each.edge, subject=owners[each.place]))
        if each.place in owners and each.edge and each.edge.pattern == PATTERN
        else each
        for each in statements
    ]


def _stated(text: Text, item: Item) -> list[Statement]:
    """What an item states, if each part of it is a name."""
    document = text.document
    sentences = [
        sentence
        for sentence in document.sentences_in(item.start, item.end)
        if document.prose[sentence.start : sentence.end].strip()
    ]
    if not sentences or not (
        sentences[0].is_read or item.project or item.kind == "decided" or item.label == "project"
    ):
        return []
    end = item.end if item.kind in ("project", "decided") else sentences[0].end
    if end - item.start > 4 * _LONGEST:
        return []
    named: list[Named] | None
    if item.kind == "decided":
        named = _decisions(document, item, [(each.start, each.end) for each in sentences])
    elif item.kind == "uses":
        named = _tools(text, item, end)
    elif item.kind == "prefers":
        named = _liked(text, item, end)
    else:
        named = _projects(document, item, end)
    subject: Found = USER
    if item.project and named:
        name = phrases.project(document, *item.project)
        if name is None:
            return []
        subject = Found("project", name, pattern=PATTERN)
    result = [] if subject is USER or not named else [Statement(item.start, subject)]
    is_own = item.kind != "project"
    for place, type, name in named or ():
        entity = Found(type, name, pattern=PATTERN)
        edge = FoundEdge(subject, item.kind, entity, _WEIGHTS.get(item.kind, 0), PATTERN)
        result.append(Statement(place, entity, edge if is_own else None))
    return result


def _split(text: str, start: int, end: int, joint: re.Pattern[str]) -> list[Span]:
    """The parts of a list, without blanks around them."""
    bounds = [start]
    for match in joint.finditer(text, start, end):
        if match["joint"]:
            bounds += match.span()
    bounds.append(end)
    parts = (
        _EDGES.match(text, *pair).span("words")  # type: ignore[union-attr]
        for pair in zip(bounds[::2], bounds[1::2], strict=True)
    )
    return [(first, last) for first, last in parts if first < last]


def _whole(named: list[Named | None]) -> list[Named] | None:
    """What all parts of a list name; None if one of them names nothing."""
    result = [each for each in named if each is not None]
    return result if len(result) == len(named) <= _MOST_ITEMS else None


def _tools(text: Text, item: Item, end: int) -> list[Named] | None:
    """The known tools of a list, if each part of it is a tool or a name."""
    if _NOT_NOW().search(text.reading, item.start, end):
        return None
    result: list[Named] = []
    parts = _split(text.reading, item.start, end, _JOINT)
    for first, last in parts:
        words = text.document.prose[first:last].lower().split()
        named = _tool(text, item, first, last)
        if named is not None:
            result.append(named)
        elif len(words) > 5 or not _SENTENCE.isdisjoint(word.strip("()") for word in words):
            return None
    return result if len(parts) <= _MOST_ITEMS else None


def _tool(text: Text, item: Item, start: int, end: int, is_alone: bool = False) -> Named | None:
    """The tool of a part such as "mostly Python 3.12 (typed)"."""
    place = _BEFORE_TOOL().match(text.reading, start, end).end()  # type: ignore[union-attr]
    named = [(tool.name, tool.end) for tool in text.tools_in(place, place + 1)]
    if not named:
        is_special = not _SPECIAL.isdisjoint(item.label.lower().split())
        words = list(re.finditer(r"[^\s,;()/:]+", text.document.prose[place:end]))[:3]
        for word in reversed(words):
            phrase = text.document.prose[place : place + word.end()]
            name = tool_named(phrase)
            if name is not None and (phrase[0].isupper() or is_special):
                named.append((name, place + word.end()))
                break
    if not named:
        return None
    (name, stop), after = named[0], text.reading
    if is_alone and re.search(r"[^\s\d.()v]", re.sub(r"\([^()]*\)", "", after[stop:end])):
        return None
    return (place, "tool", name) if _AFTER_TOOL().match(after, stop, end) else None


def _liked(text: Text, item: Item, end: int) -> list[Named] | None:
    """What is preferred: the parts of a list on the line of a label, or one item as a whole."""
    prose = text.document.prose
    tools = [
        _tool(text, item, *part, is_alone=True) for part in _split(prose, item.start, end, _JOINT)
    ]
    if tools and all(tools):
        return None if _NOT_NOW().search(text.reading, item.start, end) else _whole(tools)
    parts = _split(prose, item.start, end, _COMMA if item.label else _WHOLE)
    return _whole(
        [
            _tool(text, item, *part, is_alone=True) or _concept(text.document, item, *part)
            for part in parts
        ]
    )


def _concept(document: Document, item: Item, start: int, end: int) -> Named | None:
    """The concept that a part names."""
    words = document.prose[start:end]
    if len(words) > _LONGEST or not words[0].isalnum():
        return None
    if _EMPTY().fullmatch(words.rpartition(": ")[2]) or _UNLIKED().search(words):
        return None
    if not _CLAUSE.isdisjoint(words.lower().replace(",", "").split()):
        return None
    if item.label and (":" in words or re.fullmatch(r"\d+(?: \w+)?", words)):
        return None
    use = _USE.match(words)
    start += use.end() if use else 0
    name = phrases.concept(document, start, end)
    return None if name is None else (start, "concept", name)


def _projects(document: Document, item: Item, end: int) -> list[Named] | None:
    """The projects of a list, or the one that an item names and describes."""
    prose = document.prose
    if item.label and item.kind == "works_on":
        if _NOT_NOW().search(prose, item.start, end):
            return None
        if _NOT_OWN().search(document.paragraph_at(item.start)):
            return None
    joint = _AND if item.label and item.label.lower() != "project" else _WHOLE
    return _whole(
        [_project(document, item, *part) for part in _split(prose, item.start, end, joint)]
    )


def _project(document: Document, item: Item, start: int, end: int) -> Named | None:
    description = _DESCRIPTION.search(document.prose, start, end)
    stop = description.start() if description else end
    if description and (_NOT_NOW().search(description[0]) or _OTHER_TIME().search(description[0])):
        return None
    words = document.prose[start:stop]
    if _EMPTY().fullmatch(words) or _OPEN().search(words):
        return None
    is_project = not item.label or "project" in item.label.lower()
    is_name = _PROJECT_NAME().fullmatch(words) and (is_project or not _NO_ACTIVITY.fullmatch(words))
    is_plain = is_project and _PLAIN_NAME.fullmatch(words)
    if not is_name and not (is_plain and FUNCTION_WORDS.isdisjoint(words.lower().split()[1:])):
        return None
    name = phrases.project(document, start, stop)
    return None if name is None else (start, "project", name)


def _decisions(document: Document, item: Item, sentences: list[Span]) -> list[Named] | None:
    """Each decision of a line: numbered ones, or its sentences."""
    prose = document.prose
    if _OPEN().search(prose, item.start, item.end) or not document.statuses <= _IN_FORCE:
        return None
    spans = [(max(start, item.start), end) for start, end in sentences]
    if "decisions" not in item.label.lower():
        spans = spans[:1]
    elif _NUMBER.match(prose, item.start, item.end):
        spans = _split(prose, item.start, item.end, _NUMBER)
    return _whole([_decision(document, *span) for span in spans])


def _decision(document: Document, start: int, end: int) -> Named | None:
    prose = document.prose
    for before in (_DATED, _SUBJECT):
        match = before.match(prose, start, end)
        start = match.end() if match else start
        start, end = _EDGES.match(prose, start, end).span("words")  # type: ignore[union-attr]
    words = prose[start:end]
    is_empty = _EMPTY().fullmatch(words) and not words.lower().startswith("not to ")
    if is_empty or not words or _NO_DECISION().match(words):
        return None
    stop = start + phrases.decision_end(words, 0)
    name = phrases.decision(document, start, stop, may_end=True)
    return None if name is None else (start, "decision", name)
