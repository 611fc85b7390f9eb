"""The patterns: a table of names, expressions, weights and examples, compiled once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice, pairwise
from typing import NamedTuple, TypeAlias

from kiprdf.memory.extraction import clauses, phrases
from kiprdf.memory.extraction.clauses import DENIED, ENDED, HELD
from kiprdf.memory.extraction.document import Document
from kiprdf.memory.extraction.ordinary_words import GIVEN_NAMES, NO_PROJECT_NAME, PEOPLE, one_of
from kiprdf.memory.extraction.tools import COMPOUND, Mention
from kiprdf.memory.items import USER, Found, FoundEdge

_MOST_MATCHES = 12
"""Matches of one pattern in one sentence; this bounds the time of a text that repeats itself."""


class Statement(NamedTuple):
    """A place, the entity there, what is stated about it, and whether that ended."""

    place: int
    entity: Found
    edge: FoundEdge | None = None
    is_ended: bool = False


@dataclass
class Text:
    """A document with the tools that it mentions and the projects that it names."""

    document: Document
    tools: list[Mention]

    @cached_property
    def lowered(self) -> str:
        return self.document.prose.lower()

    @cached_property
    def clause_starts(self) -> list[int]:
        """Where a clause of the user may begin."""
        return [match.start() for match in _CLAUSE_START.finditer(self.document.prose)]

    @cached_property
    def tool_to(self) -> dict[int, Mention]:
        return {mention.end: mention for mention in self.tools}

    @cached_property
    def tool_at(self) -> dict[int, Mention]:
        return {mention.start: mention for mention in self.tools}


_CLAUSE_START = re.compile(
    r"\b(?:i|we)(?=\W|m\b|ve\b)|\b(?:my|our|most|and|but)\b|,|^|(?<=[.!?:;]\s)", re.I | re.M
)
Read: TypeAlias = Callable[["Pattern", Text, re.Match[str]], Iterator[Statement]]


_WEIGHTS = {"works_on": 0.9, "uses": 0.8, "prefers": 1.0, "decided": 1.0}


@dataclass(frozen=True)
class Pattern:
    """One way in which texts state something.

    ``predicate`` is that of the edges, "" for entities alone. ``examples`` are texts, each with
    the name of the object that it states. A text without one of the ``words`` is passed over.
    """

    name: str
    predicate: str
    read: Read
    words: str
    expression: str
    examples: tuple[tuple[str, str], ...]
    starts_clause: bool = False

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self.expression, re.I | re.M)

    @cached_property
    def needed(self) -> list[str]:
        return [word.replace("_", " ") for word in self.words.split()]

    def find(self, text: Text) -> Iterator[Statement]:
        """What a text states in this way."""
        lowered, document = text.lowered, text.document
        if self.needed and not any(word in lowered for word in self.needed):
            return
        count = end = 0
        for match, following in pairwise(chain(self._matches(text), (None,))):
            assert match is not None
            if match.start() >= end:
                count, end = 0, document.sentence_at(match.start()).end
            count += 1
            if count > _MOST_MATCHES or "\n" in match[0] or document.is_quoted(match.start()):
                continue
            # A repetition: "I use I use" names nothing.
            if following is None or following.start() != match.end():
                yield from self.read(self, text, match)

    def _matches(self, text: Text) -> Iterator[re.Match[str]]:
        """The matches, each after the one before it."""
        prose, end = text.document.prose, 0
        if not self.starts_clause:
            yield from self.compiled.finditer(prose)
            return
        for place in text.clause_starts:
            match = self.compiled.match(prose, place) if place >= end else None
            if match is not None:
                end = match.end()
                yield match

    def statement(
        self, place: int, type: str, name: str, standing: str = HELD, weight: float | None = None
    ) -> Statement:
        """The user's edge to an entity; of what the user denies it has no weight."""
        entity = Found(type, name, pattern=self.name)
        weight = 0.0 if standing == DENIED else weight or _WEIGHTS[self.predicate]
        edge = FoundEdge(USER, self.predicate, entity, weight, self.name)
        return Statement(place, entity, edge, standing != HELD)


ADVERB = (
    r"(?:(?!rely\b)\w+ly|always|often|still|also|now|just|much|quite|do|both|all|almost|already"
    r"|sometimes"
    r"|once|even)"
)
_SUBJECT = (
    r"\b(?:i|we)(?:\s+(?:am|are|(?P<perfect>have))|'?m|'re|(?P<short>'?ve))?"
    r"(?:\s*,?\s*(?:too|personally|myself|for\s+one)\s*,)?\s+"
)
_NEGATED = (
    r"(?:(?P<negation>do\s+not|does\s+not|do(?:es)?n'?t|did\s+not|didn't|not|never|no\s+longer"
    r"|used\s+to|stopped|can't|cannot|can\s+not|no)\s+)?"
)
_OMITTED = r"(?P<start>(?:\A|(?<=\n)|(?<=[.!?]\s))[-*• ]{0,4}(?=\w+s\b)|(?:\band|\bbut|,)\s+)"
_MOSTLY = re.compile(r"\b(?:always|usually|mostly)\b", re.I)
_MOSTLY_AFTER = re.compile(r"\bevery\s+time\b|\b(?:always|usually|mostly)\s*$", re.I)
_DETERMINER = re.compile(
    r"(?:(?:the|a|an|my|our|both|just|only|mostly|mainly|plain|pure|some|either|latest|official|new"
    r"|modern|local|good|old|of|either)\s+)*",
    re.I,
)
_NEXT_TOOL, _NEXT_OF_NONE = (
    re.compile(
        r"(?:\s+v?\d[\d.x+]*)?(?:\s+for\s+(?:\w+\s+){0,2}\w+(?=,|\s+and\b))?"
        rf"(?:\s*,\s*(?:{joint}\s+)?|\s+(?:{joint}|plus|as\s+well\s+as)\s+|\s*[&/+]\s*)"
        r"(?:(?:also|the|a|an|my|our|then|with|on)\s+|(?:at\s+(?:home|work|school|uni)"
        r"|for\s+\w+)\s+(?:i\s+use\s+)?)*",
        re.I,
    )
    for joint in ("and", "(?:and|n?or)")
)
"""What is between the tools of a list; of those that are not used, ``or`` joins them, too."""
_LESS = re.compile(r"[^,.;!?]{0,50}\sless\b", re.I)
_ELSEWHERE = re.compile(
    r"\s(?:only|just|except|but\s+still|still)\s+(?:use\s+it\s+)?(?:at|for|in|on|when|if|with"
    r"|privately)\b",
    re.I,
)
"""In "I no longer use Docker at work, only at home"."""
_PARTLY = re.compile(r"\b(?:just|only|always|usually|often|mostly|all|daily|every)\b", re.I)
_PARTLY_AFTER = re.compile(
    r"[^,.;!?]{0,60}?\s(?:for|as|without|unless|when|whenever|on|in|at|to|with|if|because\s+of"
    r"|every|much|often|that)\s",
    re.I,
)
_SINCE = re.compile(
    r"\b(?:always|since|for\s+(?:\w+\s+){0,2}(?:years|months|ages|decades))\b", re.I
)
_OF_PERSONS = ("prefers", "loves", "likes", "enjoys", "dislikes", "hates")
_OF_TRUST = (
    "rel",
    "depend",
    "lean",
    "count",
    "bank",
    "turn",
    "swear",
    "trust",
    "live",
    "go ",
    "work",
)
_DISLIKING = ("hate", "dislike", "detest", "loathe")
_NO_USE = re.compile(
    r"\b(?:compared|comparable|comparing|comparison|compatible|incompatible|competes?|familiar"
    r"|interferes?|unfamiliar|replaced|experience|experiment(?:ing|ed)?|along|agree|disagree|wrong"
    r"|frustrated|annoyed|pleased|impressed|disappointed|obsessed|bored|involved|satisfied"
    r"|concerned|comfortable|happy|unhappy|ok|okay|fine|good|love|confronted|up|do|done|finished"
    r"|through|inspired|(?-i:go|[Gg]oes|[Gg]oing|went|gone))\s*$",
    re.I,
)


def _preferences(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    standing = _standing(text, match)
    if standing:
        for place, name, is_tool in phrases.concepts(text.document, match.end()):
            yield pattern.statement(place, "tool" if is_tool else "concept", name, standing)


def _favorites(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    """``My favourite editor is Helix``, ``Helix is my favourite editor``."""
    document = text.document
    if clauses.standing(document, match.start()) != HELD:
        return
    for place, name, is_tool in phrases.concepts(document, match.end()):
        yield pattern.statement(place, "tool" if is_tool else "concept", name)
        return


def _standing(text: Text, match: re.Match[str]) -> str:
    """Whether what ``I prefer``, ``I use``, or such a verb without its subject, says holds."""
    if not _is_by_user(text, match):
        return ""
    verb, negation = match["verb"].lower(), (match["negation"] or "").lower()
    rest = text.document.prose[match.end() : match.end() + 120].split("\n")[0]
    if _LESS.match(rest) or (verb.startswith(("touch", "bother")) and not negation):
        return ""
    if verb == "stand" or verb.startswith(_DISLIKING):
        return DENIED if bool(negation) == (verb == "stand") else ""
    if verb.endswith(("without", "enough of")):
        return HELD if negation.startswith("can") else ""
    if negation in ("no longer", "used to", "stopped"):
        return "" if _ELSEWHERE.search(rest) else ENDED
    if negation.startswith(("can", "did")):
        return ""
    if negation and clauses.ANYMORE.search(rest):
        return ENDED
    if negation:
        is_partial = _PARTLY.search(match[0]) or _PARTLY_AFTER.match(rest)
        return "" if is_partial else DENIED
    is_perfect = (match["perfect"] or match["short"]) and not verb.startswith("standard")
    if verb.split()[0].endswith("ed") and is_perfect:
        return HELD if _SINCE.search(match[0]) or _SINCE.search(rest) else ""
    if verb.split()[0].endswith("ed"):
        return clauses.standing(text.document, match.start("verb"), match.end())
    return HELD


def _is_by_user(text: Text, match: re.Match[str]) -> bool:
    """Whether ``I prefer``, ``I use``, or such a verb without its subject, is a statement."""
    document = text.document
    place = match.start("verb")
    if not clauses.is_statement(document, match.start()):
        return False
    if match["subject"] is not None:
        return True
    if not match["start"].strip(" ,-*•"):
        # A note of a model without its subject: "Prefers tabs."
        return match["verb"].lower() in _OF_PERSONS or match.start() == 0
    start = document.sentence_at(place).start
    before = document.prose[max(start, place - 200) : match.start()]
    subjects = re.findall(r"\b(i|we|he|she|they|you|it|who)\b", before, re.I)
    return bool(subjects) and subjects[-1].lower() in ("i", "we")


def _uses_of_user(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    standing = _standing(text, match)
    if not standing:
        return
    end = phrases.clause_end(text.document, match.end())
    is_mostly = _MOSTLY.search(match[0]) or _MOSTLY_AFTER.search(
        text.document.prose, match.end(), end
    )
    weight = 0.9 if is_mostly else None
    between = _NEXT_TOOL if standing == HELD else _NEXT_OF_NONE
    mentions = list(tools_from(text, match.end(), between))
    is_plain = match["verb"].lower().startswith("u") and standing != DENIED
    is_plain = is_plain and not text.document.prose.startswith(("a ", "an "), match.end())
    if mentions and not is_plain and COMPOUND.match(text.document.prose, mentions[-1].end):
        return
    is_trusted = match["verb"].lower().startswith(_OF_TRUST)
    if is_trusted and {mention.name.lower() for mention in mentions} <= GIVEN_NAMES:
        return
    for mention in mentions:
        yield pattern.statement(mention.start, "tool", mention.name, standing, weight)
    if mentions:
        yield from _others_of_use(pattern, text, match, mentions[-1].end, standing)


_AND_NOW = re.compile(
    r"\s*,?\s+(?:(?:and|but)\s+(?:(?:then|now|have|we|i)\s+)*(?:adopted|picked\s+up|(?:switched"
    r"|moved|migrated|went)\s+(?:over\s+)?to|started\s+using|went\s+with)|(?:but"
    r"|and)\s+now\s+(?:it's|it\s+is|i'm\s+on)|but(?:\s+(?:now|rather))?)\s+",
    re.I,
)
_INSTEAD = re.compile(
    r"\s+(?:(?:now|these\s+days)\s+)?(?:instead\s+of|rather\s+than)\s+(?:using\s+)?", re.I
)
_NOWADAYS = re.compile(r"\b(?:now|nowadays|these\s+days|any\s?more)\b", re.I)


def _others_of_use(
    pattern: Pattern, text: Text, match: re.Match[str], end: int, standing: str
) -> Iterator[Statement]:
    """``I no longer use A but B``, ``I use B instead of A now``: the other tool of the two.

    Without ``now``, A need not have been used before.
    """
    prose = text.document.prose
    other = (_INSTEAD if standing == HELD else _AND_NOW).match(prose, end)
    mentions = list(tools_from(text, other.end())) if other and standing != DENIED else []
    if not mentions or COMPOUND.match(prose, mentions[-1].end):
        return
    if standing == HELD:
        sentence = text.document.sentence_at(end)
        if _PARTLY_AFTER.match(prose[mentions[-1].end : sentence.end]):
            return
        is_new = _NOWADAYS.search(prose, sentence.start, sentence.end)
        standing = ENDED if is_new else DENIED
    else:
        standing = HELD
    for mention in mentions:
        yield pattern.statement(mention.start, "tool", mention.name, standing)


def _uses(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    document, place = text.document, match.start()
    mentions = list(tools_from(text, match.end()))
    if not mentions:
        return
    is_using = match[0].lower().startswith("using")
    standing = clauses.standing(document, place, match.end() if is_using else None)
    if not standing or (not is_using and standing != HELD):
        return
    if not is_using and clauses.is_formerly(document, place):
        standing = ENDED
    before = document.prose[max(0, place - 40) : place]
    if not is_using and "used to " in before.lower():
        return
    is_user = clauses.is_progressive_of_user if is_using else clauses.is_of_user
    if _NO_USE.search(before) or not is_user(document, place):
        return
    names = {mention.name.lower() for mention in mentions}
    is_with = match[0].lower().startswith(("with", "via"))
    if names <= GIVEN_NAMES and (is_with or COMPOUND.match(document.prose, mentions[-1].end)):
        return
    is_direct = is_using and (standing != HELD or clauses.is_direct(document, place))
    if not is_direct and not clauses.is_instrument(document, place):
        return
    if match[0].lower().startswith(("in", "on", "from", "through")) and not _PLACE_OF_WORK.search(
        document.prose, clauses.start_of_clause(document, place), place
    ):
        return
    if not is_using and clauses.is_topic(document, place, mentions[-1].end):
        return
    if is_using and (
        clauses.is_conditional(document, match.end())
        or clauses.is_topic(document, place, match.end())
    ):
        return
    for mention in mentions:
        yield pattern.statement(mention.start, "tool", mention.name, standing)
    if is_using:
        yield from _others_of_use(pattern, text, match, mentions[-1].end, standing)


def tools_from(text: Text, place: int, between: re.Pattern[str] = _NEXT_TOOL) -> Iterator[Mention]:
    """The tools of a list that begins at a place."""
    prose = text.document.prose
    while True:
        skipped = _DETERMINER.match(prose, place)
        start = skipped.end() if skipped else place
        mention = text.tool_at.get(start)
        if mention is None:
            return
        yield mention
        separator = between.match(prose, mention.end)
        if separator is None:
            return
        place = separator.end()


def _decisions(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    document, place = text.document, match.start()
    if match["label"]:
        yield from _decision_of_label(pattern, text, match)
        return
    if match["noun"] and _NO_CHOICE.match(document.prose, match.end()):
        return
    noun = (match["noun"] or "").lower()
    wanted = _NO_FOOD if noun.endswith("with") else _OPTION
    is_open = noun.startswith("went") and not wanted.match(document.prose, match.end())
    if is_open and not any(tools_from(text, match.end())):
        return
    is_verb_to = match["choice"] is None
    is_user = clauses.is_decided_by_user if is_verb_to else clauses.is_progressive_of_user
    standing = clauses.standing(document, place, None if is_verb_to else match.end())
    if is_verb_to and _WHEN.search(document.prose, max(0, place - 40), place):
        return
    if not standing or not is_user(document, place):
        return
    if is_verb_to and standing != HELD:
        return
    if not is_verb_to and not _chooses(document, match):
        return
    if standing == HELD and clauses.is_conditional(document, match.end(), is_plan=not is_verb_to):
        return
    negation = "Not to " if match["negation"] else "Against " if match["against"] else ""
    name = phrases.decision(document, match.end(), negation)
    if name is not None:
        yield pattern.statement(match.end(), "decision", name, standing)


_PLACE_OF_WORK = re.compile(
    r"\b(?:i|we)\b.{0,60}\b(?:(?:re)?(?:writ(?:e|es|ing)|wrote|draws?|drawing|drew|make|making"
    r"|build|building|built|get|go|keep|hosted)|(?:cod|program+|implement|prototyp|sketch|draft"
    r"|design|model|script|edit|host|deploy|run+|compos|plan+|track|manag|document|organi[sz]|log+"
    r"|record|mix|produc|render|animat|paint|retouch|develop|typeset|format|publish|journal|budget"
    r"|schedul|analy[sz]|plot|visuali[sz]|chart|present|debug|outlin|collect|sav|captur|stor|fil"
    r"|sync|version|monitor|automat|chat|post|stream|sell|collaborat|communicat|blog|administer"
    r"|backup|outlin|typ|annotat)(?:e|s|es|ed|ing)?|ran|keep|keeps|do|does"
    r"|take\s+(?:\w+\s+){0,2}notes|back\s+up|put\s+everything|meet)\b",
    re.I,
)
_UNDECIDED = re.compile(
    r"\W*(?:i|we|none|tbd|tba|pending|postponed|deferred|see|open|no(?=\s+(?:decision|one|consensus"
    r"|result|vote|agreement)\b|\W*$)|nothing|unclear|later|not\s+yet|n/a|going\s+with|choosing|yes"
    r"|ok|approved|rejected|it|this|that|up\s+to|waiting)\b",
    re.I,
)


def _decision_of_label(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    """``Decision: use SQLite``."""
    document, end = text.document, match.end()
    sentence = document.sentence_at(end)
    if sentence.is_question or document.is_quoted(match.start()):
        return
    if _UNDECIDED.match(document.prose, end) or clauses.is_conditional(document, end):
        return
    name = phrases.decision(document, end)
    if name is not None:
        yield pattern.statement(end, "decision", name)


_WHEN = re.compile(
    r"\b(?:since|when|whenever|before|after|until|once|day|time|moment|year|week|night)"
    r"\s+(?:i|we)\s+(?:\w+ly\s+|first\s+)?$",
    re.I,
)
_NO_CHOICE = re.compile(
    rf"(?:(?:the|my|our|his|her|their)\s+)?(?:{PEOPLE}|family|kids?|parents|mom|dad|gut|hunch"
    r"|flow|heart|crowd|words|battles|sides?|teams)\b"
    rf"|(?:the\s+)?(?:flow|crowd|wind|tide)\b|{phrases.ABSTRACT}\b|(?-i:[A-Z]\w+)\s+to\s+(?!use\b)"
    r"|[^,;]{1,30}\sto\s+(?:the|a|an|my|our|(?-i:[A-Z]))"
    r"|(?:between|among|from|whether|how|which|what|it|this|that|them|him|her|you|me|us)\b",
    re.I,
)
_OPTION = re.compile(r"(?:[\w-]+\s+){0,4}?(?:options?|plans?|versions?|approach|designs?)\b", re.I)
"""What is decided by "went for", which is said of walks and pizza, too."""
_NO_FOOD = re.compile(
    r"(?i)(?!(?:[\w-]+\s+){0,3}?(?:cakes?|pizza|soup|salad|fish|steak|curry|pasta|burgers?|beers?"
    r"|wine"
    r"|coffee|tea|desserts?|sandwich(?:es)?|sushi|ramen|tacos?|pie|lunch|dinner|drinks)\b)"
)
_PREDICATE = re.compile(
    r"\s(?:is|was|are|were|takes|took|can\s+be|will\s+be|depends|seems|means|meant|makes|made|gives"
    r"|gave|feels|felt|sounds|would|saves|saved|helps|helped|requires|comes|works|worked)\s",
    re.I,
)


def _chooses(document: Document, match: re.Match[str]) -> bool:
    """Whether ``choosing`` or ``going with`` is followed by what was chosen."""
    rest = document.prose[match.end() : phrases.clause_end(document, match.end())]
    return not (_NO_CHOICE.match(rest) or _PREDICATE.search(rest))


def _work(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    document, place = text.document, match.start()
    is_working = match[0].lower().startswith("working")
    standing = clauses.standing(document, place, match.end())
    if standing == HELD and not clauses.is_main(document, place):
        return
    if not standing or not clauses.is_progressive_of_user(document, place):
        return
    if standing == HELD and clauses.is_conditional(document, match.end()):
        return
    if clauses.is_topic(document, place, match.end()):
        return
    for start, name in phrases.projects(document, match.end(), is_made=not is_working):
        yield pattern.statement(start, "project", name, standing)


def _work_of_user(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    standing = _standing(text, match)
    if standing:
        for start, name in phrases.projects(text.document, match.end()):
            yield pattern.statement(start, "project", name, standing)


_SWITCHED = "(?:switched|moved|migrated|changed|transitioned|went|converted|ported)"
_LEFT = one_of("""
    (?:replaced|swapped)(?:_out)? ditched dropped abandoned traded g(?:a|i)ven?_up(?:_on)? retired
    uninstalled got_(?:rid_of|off) (?:am|are|'m|'re)_(?:done|finished|through)_with phased_out
    decommissioned sunset said_goodbye_to parted_ways_with ripped_out threw_out kicked_out
    weaned_(?:myself|ourselves)_off left quit cancelled deleted moved_on_from outgrew
    signed_out_of(?=[^.;,]{1,30}\\sfor_good\\b)
    """)
_TO = re.compile(
    r"(?:\s+\w+){0,2}?\s+(?:over\s+)?(?:onto|to|with|by|for|in\s+favou?r\s+of)\s+(?:using\s+)?",
    re.I,
)


def _switches(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    """``switched from A to B``, ``replaced A with B``, ``moved to B``, ``dropped A``."""
    document, place = text.document, match.start()
    if not clauses.is_statement(document, place) or not clauses.is_of_user(document, place):
        return
    listed = list(tools_from(text, match.end()))
    if not listed or clauses.is_conditional(document, listed[-1].end):
        return
    if match["to"]:
        olds, new = [], listed
    else:
        place = listed[-1].end
        to = _TO.match(document.prose, place) or _AND_NOW.match(document.prose, place)
        olds, new = listed, list(tools_from(text, to.end())) if to else []
    end = (new or listed)[-1].end
    if not new and match[0].lower().startswith("went"):
        return
    # "replaced Redis calls with Kafka events"
    is_replaced = match[0].lower().startswith("replaced")
    if new and is_replaced and COMPOUND.match(document.prose, listed[-1].end):
        return
    # "dropped Slack messages": not the tool itself.
    if not new and COMPOUND.match(document.prose, end):
        return
    news = [pattern.statement(mention.start, "tool", mention.name) for mention in new]
    yield from news
    for mention in olds:
        ended = pattern.statement(mention.start, "tool", mention.name, ENDED)
        assert ended.edge is not None
        by = news[0].edge if len(news) == 1 else None
        yield ended._replace(edge=replace(ended.edge, superseded_by=by))


def _replaced(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    """``A has been replaced by B``, ``A is out, B is in``."""
    document = text.document
    start = clauses.start_of_clause(document, match.start())
    old = next((tool for tool in text.tools if tool.start >= start), None)
    new = list(tools_from(text, match.end()))
    if old is None or old.end != match.start() or len(new) != 1:
        return
    if not _OURS.fullmatch(document.prose, start, old.start):
        return
    rest = document.prose[new[0].end : document.sentence_at(match.start()).end]
    if not (_IS_IN if match["out"] else _OUR_END).fullmatch(rest):
        return
    if clauses.is_statement(document, match.start()):
        yield pattern.statement(new[0].start, "tool", new[0].name)
        yield pattern.statement(old.start, "tool", old.name, ENDED)


_OURS = re.compile(r"\W*(?:(?:our|my|for\s+us,|with\s+us,|in\s+our\s+\w+,|at\s+work,)\s+)?", re.I)
_OUR_END = re.compile(
    r"(?:\s+(?:now|today|here|everywhere"
    r"|(?:for|in|on|across)\s+(?:us|(?:our|my|all)\s+[\w ]{1,30})))?\W*",
    re.I,
)
_IS_IN = re.compile(r"\s+is\s+in\W*", re.I)


def _reversals(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    """``We reversed the decision to use Redis``."""
    document, place = text.document, match.start()
    if not clauses.is_statement(document, place) or not clauses.is_of_user(document, place):
        return
    negation = "Not to " if match["negation"] else ""
    name = phrases.decision(document, match.end(), negation)
    if name is not None:
        yield pattern.statement(match.end(), "decision", name, ENDED)


def _corrections(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    """``Scratch that: not Redis`` denies each relation to Redis that may have been stated."""
    if text.document.is_quoted(match.start()):
        return
    for mention in islice(tools_from(text, match.end()), 1):
        uses = pattern.statement(mention.start, "tool", mention.name, DENIED)
        assert uses.edge is not None
        yield uses
        yield uses._replace(edge=replace(uses.edge, predicate="prefers"))
        decision = Found("decision", f"Use {mention.name}", pattern=pattern.name)
        decided = FoundEdge(USER, "decided", decision, 0.0, pattern.name)
        yield Statement(mention.start, decision, decided, is_ended=True)


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
    if name == name.lower() and match["article"] is None:
        return
    yield from _project(pattern, match.end("name") - len(name), name)


def _project(pattern: Pattern, place: int, words: str) -> Iterator[Statement]:
    name = phrases.project_name(words.strip(" .,'-"))
    if name is not None:
        yield Statement(place, Found("project", name, pattern=pattern.name))


_USE = one_of("""
    uses? used(?!_to\\b) runs?
    (?:rel(?:y|ies)|depends?|leans?|counts?|banks?)(?:_(?:\\w+ly|a_lot))?_(?:up)?on opens?
    (?:have|has|got)(?=_(?:[\\w.-]+_){1,3}?(?:running|installed|set_up|deployed|open|on_(?:all_)?(?:my|our|the))\\b)
    (?:an?_)?(?:\\w+_){0,2}users?_of start(?:ed)?_(?:to_use|using) reach(?:es)?_for turns?_to
    swears?_on (?:live|code|program|write|work|think|compose|sketch)s?_(?:\\w+ly_)?in works?_with
    default(?:s|ed)?_to (?:live|work|do|function|survive)s?_without stick_(?:to|with) go_(?:to|with)
    makes?_use_of falls?_back_on on utili[sz]es? leverages? employs? adopt(?:s|ed)?
    standardi[sz]ed?_on installed set_up pays?_for subscribes?_to keeps?_coming_back_to
    touch bother(?:ing)?_with (?:keep|find_myself)_(?:reaching_for|using)
    got_(?:\\w+_)?(?:set_up|running)_on (?:be_)?lost_without trusts? took_up picked_up
    """)
_PREFER = one_of("""
    (?:prefer|like|enjoy|love|adore|favou?r|appreciate|value|treasure|cherish|dig)s? preferred liked
    enjoyed loved hates? dislikes? detests? loathes? can't_stand stand swears?_by
    (?:an?_)?(?:(?!no_)\\w+_){0,2}fans?_of
    (?:very_|really_|pretty_|quite_|so_|grown_|become_)?(?:fond_of|into|partial_to|keen_on|big_on|hooked_on|sold_on|all_for)
    f(?:allen|ell)_(?:\\w+_)?(?:in_love_with|for) in_love_with gravitates?_to(?:wards?)?
    tends?_to_(?:prefer|like)
    a_(?:\\w+_)?(?:soft_spot|weakness|thing|sucker|lover|liking|fondness|taste|passion)_(?:for|of)
    (?:crazy|mad|nuts|passionate|enthusiastic)_about get_enough_of (?:obsessed_with|addicted_to)
    """)
_CHOSE = one_of("""
    (?:decided|settled|agreed|landed)_on settled_for opted_for went_with
    went_for (?:voted|plumped)_for gone_with
    (?:decided|chose|ruled|voted)_in_favou?r_of decided_upon
    (?:have|'ve|has)_(?:\\w+ly_|now_)?chosen picked(?!_(?:up|it|him|her|them|on|an?|some|all)\\b)
    chose(?!_(?:(?:not_)?to|\\w+ly|well|badly)\\b) green-?lit signed_off_on
    (?:going|moving|pressing)_(?:ahead|forward)_with
    (?:our|my|the)_(?:choice|pick|vote)_(?:is|fell_on|was|went_to) (?:sticking|staying)_with
    """)
_WHERE = (
    r"(?:on|over|at|in|during|by|after|via)\s+(?:[\w']+\s+){0,2}(?:phone|call|meeting|lunch|dinner"
    r"|breakfast|coffee|drinks|e?-?mail|chat|slack|zoom|retro|stand-?up|workshop|session|way|train"
    r"|spot|corridor|kitchen|office|\w+day)\b(?:\s+(?:today|yesterday|(?:this|last)\s+\w+))?"
    r"(?=\W*$|\s*[,.;]|\s+(?:to|that|we|not|because)\b)"
)
"""Where, when or how something was agreed, which is not what was agreed."""
_VERDICT = one_of("""
    (?:(?:final|retro|meeting|team)_)?(?:decision|decided|agreed|resolved|choice|pick|verdict|answer|call|outcome|resolution|consensus)
    (?:final_)?(?:decision|choice|call)_(?:made|taken) it's_(?:decided|settled)
    it_is_(?:decided|settled) made_up_(?:my|our)_minds? we_decided decided_today settled
    """)
_LABEL = (
    r"(?:^|(?<=[.!;,]\s))[^\w\n]{0,6}(?:(?:after|at|in)\s+(?:\w+\s+){1,3}?)?"
    r"(?:(?:i|we)(?:'ve)?\s+(?:have\s+)?|ok,?\s+|so,?\s+|and\s+)?"
)


_WHILE = (
    r"(?:(?:since|for)\s+(?:\w+\s+){0,2}?(?:years?|months?|weeks?|ages|time|always"
    r"|(?-i:[A-Z][a-z]+(?=\s+the\b)))\s+|every\s?day\s+)?"
)
"""How long, where those who speak other languages put it: "I use since two years the PyCharm"."""


def _verb(verbs: str) -> str:
    """A verb of the user, whose subject may be left out in a list of verbs."""
    return (
        rf"(?:(?P<subject>{_SUBJECT})|{_OMITTED})(?:{ADVERB}\s+){{0,3}}{_NEGATED}"
        rf"(?:{ADVERB}\s+){{0,2}}(?P<verb>{verbs})\s+(?:very\s+much\s+)?(?:{ADVERB}\s+)?{_WHILE}"
    )


PATTERNS = (
    Pattern(
        "works_on",
        "works_on",
        _work,
        "working building developing",
        rf"\b(?:working\s+{_WHILE}(?:on|in\s+the(?=\s+project\s+(?-i:[A-Z])))|building|developing)\s+",
        (("I'm working on meshalyzer.", "Meshalyzer"), ("Building Tidepool now.", "Tidepool")),
    ),
    Pattern(
        "project_x",
        "",
        _project_before,
        "project",
        (r"(?-i:\b[Pp]roject\s+(?P<name>[A-Z][\w'-]*(?:\s+[A-Z][\w'-]*){0,2}|[a-z][\w'-]*))"),
        (("The notes of project Aurora.", "Aurora"),),
    ),
    Pattern(
        "x_project",
        "",
        _project_after,
        "project",
        (
            r"(?-i:(?P<article>\b(?:[Tt]he|[Oo]ur"
            r"|[Mm]y)\s+)?(?<![\w'-])(?P<name>[A-Z][\w'-]{0,60}(?:\s+[A-Z\d][\w'-]{0,60}){0,3}(?:"
            r"\s+[a-z]\w{0,30})?|[\w'-]{1,60})\s+project\b)"
        ),
        (("Moved the Redwood project.", "Redwood"),),
    ),
    Pattern(
        "uses_x",
        "uses",
        _uses,
        "",
        (rf"\b(?:using|with|via|in|on|through|from)\s+{_WHILE}"),
        (("Parsed it using pandas.", "pandas"), ("Deployed via Kubernetes.", "Kubernetes")),
    ),
    Pattern(
        "i_use_x",
        "uses",
        _uses_of_user,
        "",
        _verb(_USE),
        (("I use Vim.", "Vim"), ("We always use Docker.", "Docker")),
        starts_clause=True,
    ),
    Pattern(
        "prefers_x",
        "prefers",
        _preferences,
        "",
        _verb(_PREFER),
        (("I prefer Python.", "Python"), ("I like dark mode.", "dark mode")),
        starts_clause=True,
    ),
    Pattern(
        "decided_x",
        "decided",
        _decisions,
        (
            "deci agre opted cho going_with going_ahead went_ settled resol pick green signed "
            "call_ call: verdict answer: outcome consensus mind voted gone_with landed sticking "
            "staying made_ vote moving_ elected conclu plump determined pressing"
        ),
        (
            r"\b(?:decided|(?<=have )decide|agreed|opted|chose|resolved|voted|elected|concluded"
            r"|determined|made\s+(?:the|a)\s+(?:decision|call|choice)|made\s+up\s+(?:my"
            r"|our)\s+minds?|(?:is|was|been)\s+decided)\s+(?:(?:today|finally|now|then|instead"
            r"|together|yesterday|for(?=\s+to\b)"
            rf"|(?:this|last)\s+\w+|with\s+(?-i:[A-Z])\w+|{_WHERE}),?\s+)?(?P<negation>not\s+"
            r")?(?:to\s+(?!(?:the|an?"
            r"|all|his|her|their|this|that|these|those)\s)|(?:that\s+)?(?:i|we)(?:'ll|\s+will"
            r"|\s+should|\s+shall)?\s+(?!\w+ed\b|went|were|are|is|was|have|had|can|could)"
            r"|(?=on\s+\w+ing\b))|\bdecided\s+(?P<against>against)\s+"
            rf"|\bagreed(?:(?<=as\swe\sagreed)|(?<=as\si\sagreed))\s+{_WHERE},\s+|\b(?:agreed"
            rf"|decided)\s+{_WHERE}\s+that\s+"
            rf"|\b(?!(?:agreed|decided|settled)\s+{_WHERE})(?P<noun>{_CHOSE})\s+(?:for\s+(?=the\b"
            r"|a\b|(?-i:[A-Z])))?"
            rf"|{_LABEL}(?P<label>(?:the\s+|our\s+|my\s+)?{_VERDICT})"
            rf"(?:(?:\s+(?:from|of|at|in)\s+[\w' ]{{1,30}})?\s*:|\s+is(?::"
            rf"|(?=\s+to\s))|\s+[-–—])\s+"
            r"(?:(?:we|i)(?:'ll|\s+will|'re\s+going\s+to)?\s+(?!(?:are|were|have|had|do|don't|did"
            r"|can|can't|am|need|want|still|prefer|use|like|love|think|work)\b)|(?:we(?:'re"
            r"|\s+are)\s+)?(?:going\s+with|to|that)\s+)?|\b(?P<choice>choosing|going\s+with)\s+"
        ),
        (("Decided to use SQLite for KG.", "Use SQLite for KG"), ("Going with uv.", "Uv")),
    ),
    Pattern(
        "i_work_on",
        "works_on",
        _work_of_user,
        "work",
        _verb(r"works?\s+on|worked\s+on"),
        (("I work on Harbor.", "Harbor"),),
        starts_clause=True,
    ),
    Pattern(
        "favorite",
        "prefers",
        _favorites,
        "favorite favourite prefer go-to",
        (
            r"\bmy\s+(?:(?:all-time|current|absolute|personal)\s+)?(?:favou?rite|preferred"
            r"|go-to)\s+(?:\w+\s+){1,3}?(?:is|are|remains)\s+"
            r"|\bmy\s+(?:\w+\s+)?preference\s+is\s+(?:for\s+)?|\b(?:i|we)\s+(?:have|has|had|\w+ed"
            r"|shows?)\s+(?:a|an)\s+(?:\w+\s+)?preference\s+for\s+|^\W{0,4}(?:(?:huge|big|massive"
            r"|great|total|long-time)\s+)+fan\s+of\s+|^[-\ ]{0,6}(?:my\s+)?(?:favou?rite"
            r"|preferred)\s+\w+(?:\s+\w+)?:\s+"
            rf"(?:{ADVERB}\s+)?"
        ),
        (("My favourite editor is Helix.", "Helix"),),
    ),
    Pattern(
        "switched",
        "uses",
        _switches,
        (
            "switch moved migrat chang transition went convert ported replac swap ditch drop "
            "abandon trad gave giv uninstall got_ done_with finished_with through_with phased "
            "signed decommission sunset goodbye parted ripped threw kicked weaned left quit "
            "cancel delet outgrew retired"
        ),
        (
            rf"\b{_SWITCHED}\s+(?:[\w']+\s+){{0,4}}?(?:from|off(?:\s+of)?)\s+"
            rf"|\b{_LEFT}\s+|\b{_SWITCHED}\s+"
            r"(?:(?:back|over|fully|completely|everything|(?:the|our|my|all)\s+(?:\w+\s+"
            r"){0,2}?\w+)\s+)?"
            r"(?P<to>(?:on)?to)\s+"
        ),
        (("We switched from npm to pnpm.", "pnpm"),),
    ),
    Pattern(
        "replaced",
        "uses",
        _replaced,
        "replaced is_out",
        (
            r"\s+(?:(?:has\s+been|was|got|is)\s+(?:now\s+|recently\s+)?replaced\s+(?:by|with)"
            r"|is\s+(?P<out>out)(?:,|\s+and)(?:\s+and)?)\s+"
        ),
        (("Docker has been replaced by Podman.", "Podman"),),
    ),
    Pattern(
        "reversed",
        "decided",
        _reversals,
        "decision",
        (
            r"\b(?:revers(?:ed|ing)|undoing|undid|revoked|cancel+ed|withdrew|overturned|scrapped"
            r"|reverted"
            r"|took\s+back|rolled\s+back|dropped|abandoned)\s+(?:the|our"
            r"|my|(?:last\s+)?\w+'s)\s+(?:\w+\s+)?decision\s+(?P<negation>not\s+)?to\s+"
        ),
        (),
    ),
    Pattern(
        "corrected",
        "uses",
        _corrections,
        "scratch correction misspoke mind wrong",
        (
            r"\b(?:scratch\s+that|correction|i\s+misspoke|never\s?mind|i\s+was\s+wrong)\b\W{1,3}"
            r"(?:(?:it's|actually|we're|i'm)\s+)?not\s+(?:using\s+)?"
        ),
        (("Scratch that: not Redis.", "Redis"),),
    ),
)
