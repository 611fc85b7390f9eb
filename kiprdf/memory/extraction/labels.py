"""What lists and values under labels state: "Stack: Redis, Go", "## Preferences", "Decision: X".

An item is taken whole, or it states nothing here, and is read as any other sentence.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from kiprdf.memory.extraction import phrases
from kiprdf.memory.extraction.document import FILE, QUOTED, Sentence
from kiprdf.memory.extraction.grammar import Statement, Text
from kiprdf.memory.extraction.outline import DATE, WORDS, Item
from kiprdf.memory.extraction.private import PRIVATE
from kiprdf.memory.extraction.tools import tool_named
from kiprdf.memory.extraction.words import FUNCTION_WORDS, lazily, word_set
from kiprdf.memory.items import USER, Found, FoundEdge

PATTERN = "label"
_MOST_ITEMS, _LONGEST = 24, 120
Named = tuple[int, str, str]
"""The place, type and name of what an item names."""

_PIECE = re.compile(r"(?:[^,;()\n]|\([^()\n]*\))+")
_JOINT = re.compile(r" (?:and|&|\+|plus|/|\|) |(?<=\w)/(?=\w)|(?<=\ue010)/|/(?=\ue010)")
_AND_LAST = re.compile(r"(?:and|plus|or) ", re.I)
_RISK = lazily(r"\b(?:<RISK>)\b")
_DOUBT = re.compile(
    r"[?\ue000\ue001\ue003\ue004<>→⇒{}=|\[\]]|->"
    r"|\b(?:not|no longer|never|none|nothing|except|but|or|if|unless|until|soon|planned|trial"
    r"|evaluat\w+|consider\w*|migrat\w+|mov(?:ing|ed)|replac\w+|deprecated|legacy|former(?:ly)?"
    r"|old|previous(?:ly)?|past|ex|tbd|tbc|tba|undecided|pending|maybe|perhaps|probably|possibly"
    r"|hopefully|eventually|next|future|want\w*|learn\w*|try(?:ing)?|tried|todo|instead|without"
    r"|fail\w*|pass(?:es|ed|ing)|crash\w*|bugs?|broken|breaks?|errors?|happens|down|reporter|customer"
    r"|client|was|were|used to|dropped|removed|retired|abandoned|cancelled|canceled|rejected)\b",
    re.I,
)
_EMPTY = re.compile(
    r"(?:n/?a|none|nothing|tbd|tbc|tba|todo|unknown|unclear|open|pending|see .*|yes|no|ok(?:ay)?"
    r"|any|all|other|others|various|etc|not \w+.*|same.*|as above|ditto|it depends|depends.*|draft"
    r"|postponed.*|deferred.*|no decision.*|undecided.*|it|this|that|more|misc.*|general|default)",
    re.I,
)
_CLAUSE = re.compile(
    r"\b(?:i|we|you|he|she|they|it|who|him|her|his|their|them|your|is|are|was|were|be|been|am|has"
    r"|prefers|likes|loves|hates|wants|uses|enjoys|dislikes|needs|had|have|will|would|can|could"
    r"|may|might|must|shall|should|do|does|did|\w+n't|\w+'(?:ll|re|ve|m|d))\b",
    re.I,
)
_VERB = re.compile(
    r"(?:prefers|likes|loves|enjoys|uses|dislikes|hates|wants|needs|works|lives|speaks|asks|asked"
    r"|thinks|avoids|wishes|values|appreciates|favou?rs|finds|expects|requested|mentioned|said"
    r"|insists|tends|has|is|was|switched|using|working|allergic|born|married|based|runs|owns|cooks"
    r"|plays|reads|writes|drinks|eats|always (?:asks|wants|uses)|also (?:likes|prefers)|hate|like"
    r"|love|want|need|wrote|built|moved|decided|agreed|chose|went|no longer|used to|still|now"
    r"|ask|call|check|changed|updated)\b",
    re.I,
)
_USE = re.compile(r"(?:please )?(?:always )?(?:prefer|use|using) (?=\w)", re.I)

_BEFORE_TOOL = re.compile(
    r"(?:(?:some|mostly|mainly|plain|a bit of|a little|a little bit of|latest|also|usually|modern"
    r"|primarily|self-hosted|managed|the|and|vanilla|\d{1,3}|one|two|three|four|five|six|a|an|good"
    r" old|heavily customi[sz]ed) )*",
    re.I,
)
_AFTER_TOOL = re.compile(
    r"(?: ?v?\d[\w.+]*)?(?: (?:LTS|nodes?|cluster|server|servers|database|db|scripts?|containers?"
    r"|app|desktop|CLI|cli|plugins?|keybindings|bindings|code|buckets?|queues?|workers?|functions?"
    r"|instances?|boxes|box|machines?|laptop|pro|free|dashboards?|boards?|wiki|repos?|extensions?"
    r"|presets|mode|streams?|jobs?|sites?|blog|store|stack|framework|API))?(?: ?\([^()]*\))?"
    r"(?:,? ?(?:(?:for|on|at|in|with|via|as|through|inside|behind) .+|[–—-] .+|: .+))?$"
)
_AFTER_WORD = re.compile(
    r"(?: v?\d[\w.+]*)?(?: ?\([^()]*\))?(?: (?:with|for|on|in) \S+(?: \S+)?| [–—-] .+|: .+)?$"
)
"""After a word that is a tool's name, too."""
_WITH = re.compile(r"\b(?:with|on|via|through|in|inside|behind)(?: (?:a|the|plain|my|our))? $")
_TO_TOOL = re.compile(
    r"(?:(?:everything|all|most things|\w+) )?(?:(?!red|green|slow)\w+ )?(?:behind|on|in|via|with"
    r"|through|using|inside|runs on|written in|hosted on|built with|deployed (?:to|on|with)) $",
    re.I,
)

_DATED = re.compile(
    rf"\s*(?:[\[(]?{DATE}[\])]?|[#№]\d{{1,4}}|(?:D|ADR|AD)[- ]?\d{{1,5}})(?:\s*[:–—-])?\s+", re.I
)
_NUMBERED = re.compile(r"(?<!\S)(?:\(\d{1,2}\)|\d{1,2}\)|\(?[a-h]\))\s+")
_SUBJECT = re.compile(
    r"(?:we(?:'ll| will| shall)?(?: now)?|i(?:'ll| will)|to|that|let's) "
    r"(?!are|were|have|had|did|do|can|could|might|may|need|want|am|was|decided|agreed|chose|went|use"
    r" to)(?=[a-z])",
    re.I,
)
_TAKEN_BACK = re.compile(
    r"\b(?:kidding|joking|jk|not really|tbc|tbd|no wait|scratch that|revert(?:ed)?|revers(?:ed|ing)"
    r"|superseded|withdrawn|reject(?:ed)?|proposed|draft|undecided|pending|on hold|not final"
    r"|not yet|to decide|needs? approval|to be (?:confirmed|decided|discussed)|overturned"
    r"|revisit(?:ed)?|obsolete)\b",
    re.I,
)
_NO_DECISION = re.compile(
    r"(?:who|what|which|when|where|why|how|whether|should|shall we|do we|can we|discuss\w*|consider"
    r"\w*|maybe|perhaps|investigat\w+|explor\w+|look into|think about|find out|check|ask|wait for"
    r"|proposal|option|decide|review|evaluate|open question|no consensus|alternative\w*)\b",
    re.I,
)
_AS_SENTENCE = re.compile(
    r"(?:going with|go with|went with|picked|pick|chose|choosing|settled on|decided|agreed) ", re.I
)
"""What is read as a sentence instead, which names what was chosen."""
_UNTIL = re.compile(r"\buntil\b", re.I)
_IN_FORCE = word_set("accepted approved decided agreed done final implemented active adopted")
_FINISHED = (
    r"(?:done|finished|completed?|cancell?ed|archived|abandoned|shelved|dropped|closed|retired|sunset"
    r"|dead|paused|on hold)"
)
_OTHER_TIME = re.compile(rf"\b{_FINISHED}\b|\b[A-Z]\w+'s\b", re.I)
_STATUS_ENDED = re.compile(rf"^\W*status\W+{_FINISHED}\b", re.I | re.M)
_OWNER = re.compile(r"^\W*(?:owner|lead|maintainer|author|team|client|assignee)\W", re.I | re.M)
_PROJECT_NAME = lazily("(?:(?:[Tt]he|[Mm]y|[Oo]ur) )?(?:project )?<NAME>(?: <KIND>){0,2}")
_PLAIN_NAME = re.compile(
    r"(?:the |my |our )?[a-z][\w-]*(?: [a-z][\w-]*){0,3}|[A-Z]\w+(?: [a-z]\w+){1,2}"
)
_NO_ACTIVITY = re.compile(r"[A-Z]?[a-z]+(?:ing|tion|sion|ment|s|ed)")
_DESCRIPTION = re.compile(r"\s*(?:\([^()]*\)|[:–—] .*|- .*|, (?:an?|the|our|my) .*)$")


def statements(text: Text) -> list[Statement]:
    """What the items state; their sentences are not read again."""
    result: list[Statement] = []
    document = text.document
    taken: list[tuple[int, int]] = []
    for item in document.items:
        reader = _Reader(text, item)
        stated = reader.stated()
        if stated is not None:
            taken.append((item.start, reader.end))
            result += stated
    if taken:
        document.sentences[:] = _unread(document.sentences, taken)
    return result


def of_projects(text: Text, statements: list[Statement]) -> list[Statement]:
    """The statements, in which the tools of a stack are those of the project named before it.

    That is the one project of the paragraph on which the user works: "I'm building Harbor. Stack:
    Go, Redis."
    """
    items = [
        item
        for item in text.document.items
        if item.kind == "uses" and item.is_inline and item.project is None
        if not WORDS["OF_PROJECT"].isdisjoint(words := item.label.lower().split())
        if _OF_PERSON.isdisjoint(words)
    ]
    projects = sorted(
        (each.place, each.entity)
        for each in statements
        if each.edge and each.edge.predicate == "works_on" and not each.is_ended
    )
    owners: dict[int, Found] = {}
    for item in items if projects else ():
        paragraph = text.document.text.rfind("\n\n", max(0, item.start - _FAR), item.start) + 1
        paragraph = max(paragraph, item.start - _FAR)
        last = bisect_left(projects, item.start, key=lambda each: each[0])
        near = {entity for place, entity in projects[max(0, last - 3) : last] if place >= paragraph}
        if len(near) == 1:
            owners.update(dict.fromkeys(range(item.start, item.end), near.pop()))
    if not owners:
        return statements
    return [
        each._replace(edge=replace(each.edge, subject=owners[each.place]))
        if each.edge and each.edge.pattern == PATTERN and each.place in owners
        else each
        for each in statements
    ]


def _unread(sentences: list[Sentence], taken: list[tuple[int, int]]) -> Iterator[Sentence]:
    spans = iter(sorted(taken))
    span = next(spans, None)
    for sentence in sentences:
        while span is not None and span[1] <= sentence.start:
            span = next(spans, None)
        is_taken = span is not None and sentence.start < span[1] and span[0] <= sentence.end
        yield sentence._replace(is_read=False) if is_taken else sentence


class _Reader:
    """An item of a text; ``end`` is where it ends, once it was read."""

    def __init__(self, text: Text, item: Item) -> None:
        self.text, self.item, self.document = text, item, text.document
        prose = self.document.prose
        self.value = item.start
        if item.label and not item.is_inline:
            self.value = prose.index(":", item.start) + 2
        self.sentences = [
            each
            for each in self.document.sentences_in(self.value, item.end)
            if prose[each.start : each.end].strip()
        ]
        self.end = item.end

    def stated(self) -> list[Statement] | None:
        item = self.item
        if not self.sentences:
            return None
        if item.kind == "decided":
            return self._decided()
        if item.kind == "record":
            return self._files()
        first = self.sentences[0]
        start, end = item.start, first.end
        if end - start > 4 * _LONGEST:
            return None
        if item.kind == "project":
            return self._project(start, item.end)
        if not first.is_read and item.project is None:
            return None
        self.end = end
        if item.kind == "works_on":
            return self._works_on(start, end)
        if item.kind == "uses":
            subject = USER
            if item.project is not None:
                name = phrases.project(self.document, *item.project)
                if name is None:
                    return None
                subject = Found("project", name, pattern=PATTERN)
            named = self._tools(start, end)
            about = [] if subject is USER else [Statement(start, subject)]
            return None if not named else about + _edges(named, "uses", 0.8, subject)
        return self._preferred(start, end)

    def _pieces(self, start: int, end: int) -> list[tuple[int, int]]:
        """The parts of a list, without blanks around them."""
        pieces: list[tuple[int, int]] = []
        for match in _PIECE.finditer(self.text.reading, start, end):
            last = match.start()
            depth_free = re.sub(r"\([^()]*\)", lambda each: "\ue005" * len(each[0]), match[0])
            joints = [
                (last + joint.start(), last + joint.end()) for joint in _JOINT.finditer(depth_free)
            ]
            bounds = [(last, last), *joints, (match.end(), match.end())]
            pieces += [(left[1], right[0]) for left, right in pairwise(bounds)]
        return [span for each in pieces if (span := self._stripped(*each)) is not None]

    def _stripped(self, start: int, end: int) -> tuple[int, int] | None:
        prose = self.document.prose
        while start < end and prose[start] in " *_.":
            start += 1
        last = _AND_LAST.match(prose, start, end)
        start = last.end() if last else start
        while start < end and prose[end - 1] in " *_.!":
            end -= 1
        return (start, end) if start < end else None

    def _tools(self, start: int, end: int) -> list[Named] | None:
        """The known tools of a list, if each part of it is a tool or a name."""
        pieces = self._pieces(start, end)
        if not pieces or len(pieces) > _MOST_ITEMS or _is_doubtful(self.text.reading[start:end]):
            return None
        result: list[Named] = []
        for first, last in pieces:
            named = self._tool(first, last)
            if named is None and not self._is_plain(first, last):
                return None
            result += named or []
        return result

    def _tool(self, start: int, end: int) -> list[Named] | None:
        """The tools of a part such as "mostly Python 3.12 (typed)" or "Emacs with Magit"."""
        reading = self.text.reading
        before = _BEFORE_TOOL.match(reading, start, end)
        place = before.end() if before else start
        name, after = self._name(place, end)
        if name is None:
            mentions = self.text.tools_in(start, end)
            if (
                not mentions
                or not self._is_setup()
                or not _TO_TOOL.fullmatch(reading, start, mentions[0].start)
            ):
                return None
            place, after, name = mentions[0].start, mentions[0].end, mentions[0].name
        if not _AFTER_TOOL.match(reading, after, end):
            return None
        result = [(place, "tool", name)]
        for mention in self.text.tools_in(after, end):
            outside = re.sub(r"\([^()]*\)", "", reading[after : mention.start])
            if "(" not in outside and _WITH.search(outside):
                result.append((mention.start, "tool", mention.name))
        return result

    def _name(self, start: int, end: int) -> tuple[str | None, int]:
        """The tool that begins at a place, and where its name ends."""
        for mention in self.text.tools_in(start, start + 1):
            return mention.name, mention.end
        none = None, start
        words = list(re.finditer(r"[^\s,;()/]+", self.document.prose[start:end]))[:3]
        for count in range(len(words), 0, -1):
            phrase = self.document.prose[start : start + words[count - 1].end()]
            name = tool_named(phrase)
            if name is not None and (phrase[0].isupper() or self._is_special()):
                after = start + len(phrase)
                return (name, after) if _AFTER_WORD.match(self.text.reading, after, end) else none
        return none

    def _is_setup(self) -> bool:
        """Whether the label is one of a whole setup, in which "notes in Obsidian" may stand."""
        return not _SETUP.isdisjoint(self.item.label.lower().split())

    def _is_special(self) -> bool:
        """Whether the label is of one kind of tools, so that "fish" is the shell."""
        words = word_set(self.item.label.lower())
        return not words.isdisjoint(_SPECIAL)

    def _is_plain(self, start: int, end: int) -> bool:
        """Whether a part is a name or a noun phrase of a few words."""
        words = self.document.prose[start:end].split()
        if " ".join(words).lower() in ("mostly", "mainly", "usually", "these days", "always"):
            return True
        return len(words) < 6 and not any(
            word.lower().strip("()") in FUNCTION_WORDS for word in words
        )

    def _concept(self, start: int, end: int, is_part: bool = False) -> list[Named] | None:
        """The concept that an item names."""
        if start >= end or end - start > _LONGEST:
            return None
        prose = self.document.prose[start:end]
        words = prose.lower().split()
        if not prose[0].isalnum() or _EMPTY.fullmatch(prose) or not any(map(str.isalpha, prose)):
            return None
        if re.search(r"[?\ue000-\ue005{}<>=|·\[\]]", prose) or _VERB.match(prose):
            return None
        if self.item.is_inline and (
            ":" in prose or " or " in prose or re.fullmatch(r"\d+(?: \w+)?", prose)
        ):
            return None
        if _CLAUSE.search(prose) or (_RISK().search(prose) and not _SAFE.search(prose)):
            return None
        if words[0] in FUNCTION_WORDS and words[0] not in _MAY_BEGIN:
            return None
        if is_part and words[0] in ("especially", "particularly", "mainly", "mostly"):
            return None
        use = _USE.match(prose)
        start += use.end() if use else 0
        name = phrases.concept(self.document, start, end)
        return None if name is None else [(start, "concept", name)]

    def _preferred(self, start: int, end: int) -> list[Statement] | None:
        """Tools, the parts of a list on the line of a label, or one item as a whole."""
        item = self.item
        reading = self.text.reading
        doubtful = _is_doubtful(reading[start:end])
        stripped = self._stripped(self.value, end)
        if stripped is None:
            return None
        tools = None if doubtful else self._only_tools(*stripped)
        if tools:
            return _edges(tools, "prefers", 1.0)
        if not item.is_inline:
            whole = self._stripped(start, end)
            if whole is None or (
                item.label and _EMPTY.fullmatch(self.document.prose[stripped[0] : stripped[1]])
            ):
                return None
            named = self._concept(*whole)
            return None if named is None else _edges(named, "prefers", 1.0)
        pieces = [
            span
            for match in _PIECE.finditer(reading, *stripped)
            if (span := self._stripped(match.start(), match.end())) is not None
        ]
        if len(pieces) == 1:
            pieces = self._halves(*pieces[0])
        elif pieces and not _AND_LAST.match(reading, reading.rfind(",", start, end) + 2):
            pieces[-1:] = self._halves(*pieces[-1])
        result: list[Named] = []
        for index, piece in enumerate(pieces[:_MOST_ITEMS]):
            named = self._only_tools(*piece) or self._concept(*piece, is_part=index > 0)
            if named is None:
                return None
            result += named
        return _edges(result, "prefers", 1.0)

    def _halves(self, start: int, end: int) -> list[tuple[int, int]]:
        """Both parts of "hiking and jazz", if both are short."""
        left, joint, right = self.document.prose[start:end].partition(" and ")
        parts = [left.split(), right.split()]
        if not joint or any(
            not 0 < len(words) < 3 or not FUNCTION_WORDS.isdisjoint(map(str.lower, words))
            for words in parts
        ):
            return [(start, end)]
        return [(start, start + len(left)), (end - len(right), end)]

    def _only_tools(self, start: int, end: int) -> list[Named] | None:
        """The tools of a list that has nothing else."""
        result: list[Named] = []
        for first, last in self._pieces(start, end):
            before = _BEFORE_TOOL.match(self.text.reading, first, last)
            place = before.end() if before else first
            name, after = self._name(place, last)
            rest = self.text.reading[after:last]
            if name is None or not re.fullmatch(r"(?: v?\d[\w.]*)?(?: ?\([^()]*\))?", rest):
                return None
            result.append((place, "tool", name))
        return result

    def _works_on(self, start: int, end: int) -> list[Statement] | None:
        """The projects of a list, or the one that an item names and describes."""
        prose = self.document.prose
        doubtful = _is_doubtful(prose[start:end]) or _CLAUSE.search(prose, start, end)
        if doubtful and self.item.is_inline:
            return None
        is_project = "project" in self.item.label.lower() or not self.item.is_inline
        if self.item.is_inline:
            pieces = [
                span
                for match in _PIECE.finditer(prose, start, end)
                for part in _split_and(prose, match.start(), match.end())
                if (span := self._stripped(*part)) is not None
            ]
        else:
            pieces = [span] if (span := self._stripped(start, end)) else []
        result: list[Named] = []
        for first, last in pieces[:_MOST_ITEMS]:
            name = self._project_name(first, last, is_project)
            if name is None:
                return None
            result.append((first, "project", name))
        return _edges(result, "works_on", 0.9) if result else None

    def _project_name(self, start: int, end: int, is_project: bool) -> str | None:
        prose = self.document.prose
        description = _DESCRIPTION.search(prose, start, end)
        stop = description.start() if description else end
        if description and (_RISK().search(description[0]) or _OTHER_TIME.search(description[0])):
            return None
        words = prose[start:stop]
        if (
            _EMPTY.fullmatch(words)
            or words.lower() in _NO_PROJECT
            or re.search("[?\ue000-\ue005]", words)
        ):
            return None
        if _PROJECT_NAME().fullmatch(words) and not (
            not is_project and _NO_ACTIVITY.fullmatch(words)
        ):
            return phrases.project(self.document, start, stop)
        if is_project and _PLAIN_NAME.fullmatch(words):
            lowered = words.lower().split()
            if FUNCTION_WORDS.isdisjoint(lowered[1:]) and len(lowered) < 5:
                return phrases.project(self.document, start, stop)
        return None

    def _project(self, start: int, end: int) -> list[Statement] | None:
        """The name of a project, on which the user works if nobody else is named beside it."""
        span = self._stripped(start, end)
        if span is None:
            return None
        name = self._project_name(*span, True)
        if name is None:
            return None
        project = Found("project", name, pattern=PATTERN)
        paragraph = self.document.paragraph_at(start)
        is_finished = _STATUS_ENDED.search(paragraph) is not None
        is_users = self.item.is_own and not is_finished and not _OWNER.search(paragraph)
        if not is_users:
            return [Statement(start, project)]
        return _edges([(start, "project", name)], "works_on", 0.9)

    def _files(self) -> list[Statement] | None:
        """``Docs: docs/harbor.md`` in the lines about a project."""
        assert self.item.project is not None
        name = phrases.project(self.document, *self.item.project)
        value = self.document.prose[self.item.start : self.item.end]
        index = bisect_left(self.document.files, self.item.start, key=lambda each: each.start)
        if name is None or FILE not in value or value.strip(f" .{FILE}"):
            return None
        project = Found("project", name, pattern=PATTERN)
        path = self.document.files[index]
        file = Found("file", path.name, pattern="file_path")
        edge = FoundEdge(project, "references", file, 0.7, PATTERN)
        return [Statement(path.start, project), Statement(path.start, file, edge)]

    def _decided(self) -> list[Statement] | None:
        """Each decision of a line."""
        item, prose = self.item, self.document.prose
        if _TAKEN_BACK.search(prose, item.start, item.end):
            return None
        if item.is_heading and not self.document.statuses <= _IN_FORCE:
            return None
        is_many = not item.is_inline or "decisions" in item.label.lower()
        first = self.sentences[0]
        start = max(first.start, item.start)
        if item.is_inline and is_many:
            spans = self._numbered(start, item.end)
        else:
            spans = [(start, first.end)]
            self.end = first.end
        result: list[Statement] = []
        for span in spans:
            name = self._decision(*span)
            if name is None:
                return None
            result.append(_edge((span[0], "decision", name), "decided", 1.0, USER))
        return result

    def _numbered(self, start: int, end: int) -> list[tuple[int, int]]:
        """The decisions of a line: numbered ones, or those between marks, or its sentences."""
        prose = self.document.prose
        numbers = list(_NUMBERED.finditer(prose, start, end))
        if len(numbers) > 1 and not prose[start : numbers[0].start()].strip():
            bounds = [each.span() for each in numbers] + [(end, end)]
            return [(left[1], right[0]) for left, right in pairwise(bounds)]
        spans: list[tuple[int, int]] = []
        for sentence in self.sentences:
            first = max(sentence.start, start)
            pieces = [match.span() for match in _PIECE.finditer(prose, first, sentence.end)]
            is_list = all(
                len(prose[a:b].split()) > 1 and not re.match(r" *(?:and|or|but|not) ", prose[a:b])
                for a, b in pieces
            )
            spans += pieces if is_list and pieces else [(first, sentence.end)]
        return spans

    def _decision(self, start: int, end: int) -> str | None:
        prose = self.document.prose
        dated = _DATED.match(prose, start, end)
        start = dated.end() if dated else start
        span = self._stripped(start, end)
        if span is None or prose[span[1] : span[1] + 2].lstrip(" ").startswith("?"):
            return None
        start, end = span
        subject = _SUBJECT.match(prose, start, end)
        start = subject.end() if subject else start
        words = prose[start:end]
        is_empty = _EMPTY.fullmatch(words.strip(" .")) and not words.lower().startswith("not to ")
        if is_empty or _NO_DECISION.match(words) or _AS_SENTENCE.match(words):
            return None
        if not re.match(r"\w", words) or "?" in words or QUOTED in words or PRIVATE in words:
            return None
        if _RISKY_SUBJECT.match(words) or (" " not in words and not words[0].isupper()):
            return None
        stop = start + phrases.decision_end(words, 0)
        until = _UNTIL.search(prose, start, stop)
        if until is None:
            return phrases.decision(self.document, start, stop)
        head = phrases.decision(self.document, start, until.start())
        if head is None or phrases.decision(self.document, until.end(), stop) is None:
            return None
        tail = " ".join(self.document.text[until.start() : stop].split())
        whole = f"{head} {tail}".rstrip(" .,;*_")
        return whole if len(whole) <= phrases.MOST_DECISION else head


_SPECIAL = WORDS["OWN"] | word_set("answer language languages os ci database db hosting framework")
_SETUP = word_set("answer setup stack homelab infra infrastructure hosting deployment tools")
_OF_PERSON = word_set("my our user user's team's")
_FAR = 500
_MAY_BEGIN = word_set("no more less only always short most all every same very the a an")
_SAFE = re.compile(
    r"\b(?:novels?|fiction|movies?|films?|songs?|lyrics|story|stories|jokes?)\b", re.I
)
_NO_PROJECT = word_set("deadline budget repo link links url location priority start due notes")
_RISKY_SUBJECT = re.compile(
    r"(?:i|we|he|she|they|you|it|the user|user|nobody|everyone)(?:'\w+)? "
    r"|(?:either|approved|accepted|unanimous|taken|made)\b|\S+(?: \S+)? or \S+(?: \S+)?$"
    r"|.{1,40} it is(?: then)?$",
    re.I,
)


def _split_and(prose: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    place = start
    for match in re.finditer(r"(?<=\w) (?:and|&|\+) (?=\w)", prose[start:end]):
        yield place, start + match.start()
        place = start + match.end()
    yield place, end


def _is_doubtful(words: str) -> bool:
    return _DOUBT.search(words) is not None or _RISK().search(words) is not None


def _edge(named: Named, predicate: str, weight: float, subject: Found) -> Statement:
    place, type, name = named
    entity = Found(type, name, pattern=PATTERN)
    return Statement(place, entity, FoundEdge(subject, predicate, entity, weight, PATTERN))


def _edges(
    named: list[Named], predicate: str, weight: float, subject: Found = USER
) -> list[Statement]:
    return [_edge(each, predicate, weight, subject) for each in named]
