"""Where the phrase after a verb ends, and the name that it gives an entity."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiprdf.memory.extraction.document import FILE, LINK, Document
from kiprdf.memory.extraction.ordinary_words import PEOPLE, word_set
from kiprdf.memory.extraction.private import PRIVATE, is_credential
from kiprdf.memory.extraction.tools import tool_named

MOST_DECISION = 100
"""Characters of a decision; it is cut between words."""
_MOST_PROJECT_WORDS = 4
_MOST_CONCEPT_WORDS = 7
_CLAUSE_END = re.compile(
    r"[;!?\n()\[\]]|\s(?:-{1,3}|[–—])\s|—|:(?=\s|$)|,?\s+as\s+(?:it|we|they|he|she|i|this|that"
    r"|there)\b|,\s+(?=\w+\s+(?:agrees|disagrees|says|said|is|was)\b)|,?\s+(?:because|since|so|but"
    r"|although|though|whereas|while|unless|until(?!\s+\w+(?:\s+\w+)?\s*$))\b|,?\s+(?:and"
    r"|then)\s+(?=(?:i|we|he|she|they|you|it|there|that|this)\b)|,\s*(?=(?:i|we|he|she|they|you|it"
    r"|which|who|where|when|if|as|not|no|then|hence|please|thanks)\b|(?:my|our|his|her|their"
    r"|the)\s+[\w-]+\s+\w+s\b|(?-i:[A-Z]\w+)\s+(?:prefer|like|love|use|hate|enjoy)s\b)"
    r"|,?\s+and\s+(?=(?:(?-i:[a-z]+[a-rt-z]s)\s+(?:in|at|on|with|to|for|a|an|the)\s|decided"
    r"|(?:prefer|enjoy|like|hate|dislike|use|work|want|need)s?|preferred|enjoyed|liked|used|worked"
    r"|am|is|are|was|were|has|have|had|does|do|don't|doesn't|can|can't|will|would|never|always"
    r"|often|working|using|going|choosing|went|chose|i'm)\b)",
    re.I,
)
_VERB = (
    r"is|are|was|were|has|have|had|will|would|can|could|do|does|did|makes?|made|takes?|took|needs?"
    r"|works?|worked|seems?|looks?|feels?|went|goes|got|gets|comes|came|helps?|helped"
)
_CONCEPT_END = re.compile(
    rf"\s+(?:over|than|rather|instead|for|in(?!\s+(?-i:[A-Z]))|on|at|as|when|whenever|where|if"
    rf"|every|after|before|by|these|right|now|very|most|best|better|more|much|especially"
    rf"|particularly|too|again|please|less|today|here|anyway|either|via|using|during|to|compared"
    rf"|lately|{_VERB}|any\s?(?:more|longer)|at\s+all|nowadays|recently|back\s+then|a\s+lot"
    rf"|of\s+course|tbh|imo|lol|btw|i\s+guess|haha|honestly)\b|\s*[{LINK}]|:",
    re.I,
)
_GERUND_END = re.compile(
    r"\s+(?:over|than|rather|instead|when|whenever|if|because|every|before|after|these|very|most"
    rf"|best|more|much|especially|too|again|today|now|anyway|lately|nowadays|any\s?more"
    rf"|back\s+then|to|{_VERB}|a\s+lot)\b|:",
    re.I,
)
_PROJECT_END = re.compile(
    r"\s*(?:[,;:/&+=|<>]|'s\b)|\s+(?:and|or|with|in|using|for|at|on|to|of|from|by|via|through|into"
    r"|since|because|but|so|when|while|that|which|who|where|if|as|until|till|during|over|after"
    r"|before|about|around|under|without|again|today|tonight|tomorrow|yesterday|now|currently"
    r"|right|this|these|those|all|together|next|last|every|each|lately|recently|soon|still|also"
    r"|too|then|here|there|atm|full-time|part-time|daily|instead|alone|already|anymore|yet|just"
    r"|only|i|we|he|she|it|they|you|my|our|the|a|an|not|any|across|up|down|off|out|against"
    r"|near|behind|between|among|per|toward|towards|tbh|lol|btw|imo"
    r"|rn|meanwhile|full\s+time|some\s+more|monday|tuesday|wednesday|thursday|friday"
    rf"|saturday|sunday|alongside|remotely|nowadays|mostly|mainly|{_VERB})(?![\w-])"
    rf"|\s*[{LINK}{FILE}]",
    re.I,
)
_LEADING = re.compile(
    r"(?:(?:the|a|an|my|our|this|that|some|another|new|both|his|her|their|your|own|plain|just|only"
    r"|mostly|mainly|pure|modern)\s+)+",
    re.I,
)
_DETAIL = re.compile(r"\s+(?:with|without|from|in|that|which|who|about|of)\s", re.I)
_ARTICLE = re.compile(r"(?:the|a|an|my|our|both|some)\s+", re.I)
_NAMED = re.compile(r".*?\b(?:called|named)\s+", re.I | re.S)
_PROJECT_WORD = re.compile(r"^projects?\s+|\s+(?:projects?|team)$", re.I)
_USING = re.compile(
    r"(?:to\s+)?(?:us(?:e|ing)|work(?:ing)?\s+(?:with|in)|cod(?:e|ing)\s+in|programm?(?:ing)?\s+in"
    r"|writ(?:e|ing)(?:\s+code)?(?:\s+in)?|develop(?:ing)?\s+(?:in|with))\s+",
    re.I,
)
_SEPARATOR = re.compile(
    r"\s*,\s*(?:(?:and|or)\s+)?|\s+(?:and|or|&|plus|as\s+well\s+as)\s+|\s*\+\s+"
)
_NO_CONCEPT = word_set(
    "it this that these those them him her you me us how what when why where who whom if to is are"
    " was not no nothing neither being your his their so very someone everything everyone anything"
    " all i we he she they there never none both either one ones doing having way think believe say"
    " former latter same more less"
)
_NO_PROJECT = word_set(
    "it this that these those them something anything everything nothing things stuff what how"
    " decision ball"
    " lunch dinner breakfast work school college coffee homework chores dishes laundry packing"
    " better improving fixing making getting adding writing refactoring learning understanding"
    " moving migrating testing finding more one tests bugs myself being why whether where"
    " when who if same bug issue issues fix fixes solution surprise request requests task tasks"
    " ticket problem problems answer answers response point points details"
)
_PERSON = re.compile(rf"(?:\w+\s+)?(?:{PEOPLE})", re.I)
_IDEA = re.compile(
    r"^(?:\w+\s+)?(?:ideas?|way|thought|fact|concept|notion|prospect|possibility)\b", re.I
)
_SAYING = re.compile(
    r"(?:think|thinking|go|say|saying|see|believe|imagine|pretend|joke|point|remind)\b", re.I
)
_OF_PERSON = re.compile(r"[A-Z]\w+'s\s")
_VAGUE = re.compile(
    r"^(?:dis)?agree$|^differ$|^go$|^(?:try|start)$"
    r"|^\w+(?:\s+(?:with|for|on|to))?\s+(?:it|this|that|them|him|her|so)$",
    re.I,
)
_OF_OTHER = re.compile(r"\s+(?:on|is|was|are|uses|has|will|does)\b", re.I)
_NO_LAST = word_set("it this that them him her one ones you me us and or less")
_NO_THING = re.compile(
    r"that\s+\w+\s+(?:is|has|can|does|was|are)\b"
    # "I like to inform you that ..." is a formula; "what I like most is ..." has its object later.
    r"|to\s+(?:inform|notify|let|remind|thank|assure|announce|mention|point\s+out|confirm|report)"
    r"\s+(?:you|everyone|all|that)\b"
    r"|(?:the\s+)?(?:most|best|least)(?:\s+about\s+(?:\w+\s+){1,4})?\s*(?:,|is\b|are\b|was\b)",
    re.I,
)
_FIRST_NOUN = re.compile(
    r"(?:(?:the|a|an|my|our|this|that|some|another|up|more|better|own|good|bad|new"
    r"|strong)\s+)*([\w'-]+)",
    re.I,
)
_NO_WORK = re.compile(
    r"weekends?|weekdays?|holidays?|vacation|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|christmas"
    r"|easter|thanksgiving|new\s+year|(?:week)?nights?|mornings?|evenings?|afternoons?|time|days?"
    r"|hours?|tan|fitness|marriage|posture|patience|commission|assumption|basis|empty|body|abs|mood"
    r"|temper|\d+|one|two|three|four|five|six|several|few|no|little|too|myself|yourself|himself"
    r"|herself|ourselves|sleep|diet|budget|behalf|own|side|move|go|trains?|planes?|bus|couch|sofa"
    r"|beach|road|floor|phone|laptop|desk|porch|way|stomach|skin|english|german|french|spanish"
    r"|chinese|japanese|italian|accent|handwriting",
    re.I,
)
ABSTRACT = (
    r"(?:trust|confidence|momentum|muscles?|habits?|colds?|fever|flu|cough|headache|migraine|rash"
    r"|allergy|tastes?|feelings?|crush|interest|appetite|skills?|character|rapport|consensus"
    r"|bridges?|courage|up|wealth|credit|stamina|strength|endurance|tension|pressure|hope"
    r"|excitement|anticipation|empathy|intuition|instincts?|symptoms?|condition|cancer|disease"
    r"|infection|addiction|obsession|fondness|li(?:fe|ves)|fires?|campfire|cases?|future|brand"
    r"|audience|following|savings|knowledge|culture|understanding|fast|faster|quickly|slowly"
    r"|rapidly|well|further|films?|photos?|pictures|(?:sand)?castles?|snowm[ae]n|igloos?|forts?"
    r"|tents?|legos?|debt|up|on|for|in|with|as|love|hatred|fear|phobia|routines?|reputation|career"
    r"|famil(?:y|ies)|team|teams|community|communities|connections?|networks?|friends\w*|\w+(?:ness"
    r"|ships?|ence|ance|ility|itude|hood|ism))"
)
_ABSTRACT = re.compile(ABSTRACT, re.I)
_PRIVATE = re.compile(f"[{PRIVATE}]")
_NO_NAME = re.compile(f"[{PRIVATE}{LINK}{FILE}]")
_TAIL = re.compile(
    r"(?:,?\s+(?:then|tbh|imo|lol|btw|i\s+guess|haha|though|too|after\s+all|full\s+stop"
    r"|in\s+the\s+end|at\s+last|once\s+and\s+for\s+all|after\s+(?:some|much)\s+discussion))+$",
    re.I,
)
_MARKS = " \t\"'“”‘’«»`*,.;:!?-–—"


def decision(document: Document, start: int, negation: str = "") -> str | None:
    """The name of a decision from the words after its verb, to the end of the clause."""
    text = f"{negation}{_slice(document, start, MOST_DECISION * 3)}"
    text = " ".join(text.replace("`", "").replace("**", "").split()).strip(_MARKS)
    text = _TAIL.sub("", text)
    while text and not (text[-1].isalnum() or text[-1] in ")]}%+#/'\"\ue000"):
        text = text[:-1]
    if text.count('"') % 2:
        text = text.replace('"', "")
    if len(text) > MOST_DECISION:
        text = text[: MOST_DECISION + 1].rsplit(" ", 1)[0][:MOST_DECISION].rstrip(_MARKS)
    if not text or _PRIVATE.search(text) or is_credential(text) or _VAGUE.search(text):
        return None
    return text[0].upper() + text[1:]


def _slice(document: Document, start: int, most: int) -> str:
    """The text from a place to the end of its clause, with private characters masked."""
    end = clause_end(document, start, most)
    if _PRIVATE.search(document.prose, start, end):
        return PRIVATE
    return document.text[start:end]


def clause_end(document: Document, start: int, most: int = MOST_DECISION) -> int:
    """Where the clause ends that a place is in, at most so many characters on."""
    end = min(document.sentence_at(start).end, start + most)
    match = _CLAUSE_END.search(document.prose, start, end)
    return max(start, end if match is None else match.start())


def concepts(document: Document, start: int) -> Iterator[tuple[int, str, bool]]:
    """The things that the words after a verb list: place, name, whether it is a tool."""
    phrase = document.prose[start : clause_end(document, start)]
    using = _USING.match(phrase)
    if using is not None and using[0].split()[-1].lower() in ("use", "using"):
        start, phrase = start + using.end(), phrase[using.end() :]
    elif using is not None:
        first = _item_end(phrase, using.end(), _CONCEPT_END)
        if _as_tool(_separated(phrase[using.end() : first])[0][1]) is not None:
            start, phrase = start + using.end(), phrase[using.end() :]
    if _NO_THING.match(phrase) or PRIVATE in phrase:
        return
    is_verb = phrase[:3].lower() == "to "
    if is_verb:
        start, phrase = start + 3, phrase[3:]
    is_gerund = is_verb or re.match(r"\w+ing\b", phrase) is not None
    leading = _LEADING.match(phrase)
    first = leading.end() if leading else 0
    phrase = phrase[: _item_end(phrase, first, _GERUND_END if is_gerund else _CONCEPT_END)]
    items = [(0, phrase)]
    if not is_gerund and _as_tool(_separated(phrase)[0][1]) is not None:
        items = _separated(phrase)
    for place, item in items:
        if not item.strip():
            return
        tool = None if is_verb else _as_tool(item)
        if tool is not None:
            yield start + place, tool, True
            continue
        name = _concept_name(document, start, item)
        if not place and name is not None:
            yield start, name, False
        return


def _item_end(phrase: str, start: int, end: re.Pattern[str]) -> int:
    match = end.search(phrase, start)
    return len(phrase) if match is None else match.start()


def _separated(phrase: str) -> list[tuple[int, str]]:
    """The items of a list, each with its place."""
    items, start = [], 0
    for match in _SEPARATOR.finditer(phrase):
        items.append((start, phrase[start : match.start()]))
        start = match.end()
    return [*items, (start, phrase[start:])]


def concept(document: Document, start: int, end: int) -> tuple[str, bool] | None:
    """The name of the thing in a part of the text, and whether it is a tool."""
    item = document.prose[start:end]
    tool = _as_tool(item)
    name = tool or _concept_name(document, start, item)
    return None if name is None else (name, tool is not None)


def _as_tool(item: str) -> str | None:
    """The tool that an item names: ``Python with type hints`` names Python."""
    words = _LEADING.sub("", _DETAIL.split(item)[0].strip(_MARKS))
    return tool_named(words) or tool_named(re.sub(r"\s+v?\d[\d.]*$", "", words))


def _concept_name(document: Document, start: int, item: str) -> str | None:
    article = _ARTICLE.match(item)
    skipped = article.end() if article else 0
    name = document.text[start + skipped : start + len(item)].strip(_MARKS).replace("`", "")
    name = re.sub(r",\s*please$", "", name, flags=re.I)
    words = name.lower().split()
    if not words or words[0] in _NO_CONCEPT or len(words) > _MOST_CONCEPT_WORDS:
        return None
    if (
        words[-1] in _NO_LAST
        or _IDEA.search(name)
        or _SAYING.match(name)
        or _OF_PERSON.match(name)
        or _PERSON.fullmatch(name)
        or is_credential(name)
        or _NO_NAME.search(item)
        or not any(map(str.isalnum, name))
    ):
        return None
    return " ".join(name.split())


_PLACE = re.compile(
    r"(?:ships?|boats?|ferry|farms?|rigs?|islands?|campus|site|sites|mac|pc|computers?|cars?"
    r"|windows|screen)",
    re.I,
)
_OWN_WORK = re.compile(
    r"(?:\w*(?:app|page|site|book|shop|bot|base|work|ware|list|room|paper)s?|thesis|dissertation"
    r"|novels?|stor(?:y|ies)|portfolio|blog|articles?|essays?|talks?|slides|presentation|speech|cv"
    r"|resume|resumé|garden|kitchen|boat|cars?|bikes?|house|projects?|prototypes?|library|plugin"
    r"|scripts?|games?|album|songs?|podcasts?|films?|movies?|videos?|paintings?|sculptures?|quilts?"
    r"|masters?|phd|homework|assignments?|reports?|memoirs?|startup|business|course|lectures?"
    r"|curriculum|compilers?|drones?|robots?|collection|channel|newsletter|poems?|poetry"
    r"|applications?|proposal|manuscript|screenplay|comics?|designs?|dotfiles|setup|homelab|server"
    r"|api)",
    re.I,
)
NAME = (
    r"(?-i:(?!(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6}\b|(?:Jan|Febr)uary|March|April|May|June"
    r"|July|August|(?:Septem|Octo|Novem|Decem)ber|Easter|Christmas|[A-Z]\w+(?:ish|ese|ian)\b|Q\d\b"
    r"|[\d:.-]+(?!\w))(?:[A-Z\d]|[a-z]\w*-\w)[\w-]*(?:\s+[A-Z\d][\w-]*){0,2})(?![\w'])"
)
"""The name of a project: it has a capital letter, a digit or a hyphen, and is no time."""
_NAMED_PROJECT = re.compile(
    r"(?:(?:the|my|our|a|an)\s+)?(?:(?:\w+\s+){0,4}(?:called|named)\s+)?(?:[Pp]roject\s+)?(?!I\b)"
    + NAME
)
_OTHERS = re.compile(r"(?:this|that|these|those|your|his|her|their|its)\s|[\w-]+'s\s", re.I)
_OWN = re.compile(r"(?:my|our)\s+(?-i:(?:[a-z][\w-]*\s+){0,3}?([a-z][\w-]*))\s*$", re.I)
_DOING = re.compile(r"[a-z]+ing\s+\w")


def projects(
    document: Document, start: int, *, is_made: bool = False, is_named: bool = False
) -> Iterator[tuple[int, str]]:
    """The projects that the words after a verb list: place and name.

    What is built or developed may be no thing: trust, a habit, a cold. With ``is_named`` each
    project has a name, or is the user's own work, such as a thesis.
    """
    first = _FIRST_NOUN.match(document.prose, start)
    if first is not None and _NO_WORK.fullmatch(first[1]):
        return
    if first is not None and is_made and _ABSTRACT.fullmatch(first[1]):
        return
    end = clause_end(document, start)
    if _OTHERS.match(document.prose, start, end):
        return
    stop = _item_end(document.prose[start:end], 3, _PROJECT_END)
    if not is_made:
        if first is not None and (
            _PLACE.fullmatch(first[1]) or _DOING.match(document.prose, start)
        ):
            return
        own = _OWN.match(document.prose[start : start + stop])
        if own is not None and _OWN_WORK.fullmatch(own[1]) is None:
            return
    if is_named and not (
        _NAMED_PROJECT.match(document.prose, start, end)
        or (
            (own := _OWN.match(document.prose[start : start + stop]))
            and _OWN_WORK.fullmatch(own[1])
        )
    ):
        return
    has_name = False
    while start < end:
        name, next_ = _project_at(document, start, end, must_be_name=has_name)
        if name is None:
            return
        yield start, name
        has_name = True
        separator = _SEPARATOR.match(document.prose, next_, end)
        if separator is None:
            return
        start = separator.end()


def _project_at(
    document: Document, start: int, end: int, must_be_name: bool
) -> tuple[str | None, int]:
    """The project that begins at a place, and where it ends."""
    # With the blank in front, by which the words are known that end a name.
    start -= 1
    phrase = document.prose[start:end]
    named = _NAMED.match(phrase, 1)
    leading = named or _LEADING.match(phrase, 1)
    first = leading.end() - 1 if leading else 0
    stop = _item_end(phrase, first, _PROJECT_END)
    name = document.text[start + first : start + stop].strip(_MARKS)
    name = _PROJECT_WORD.sub("", name).strip(_MARKS)
    is_plain = name.isalnum() and start + stop == end
    if _NO_NAME.search(document.prose, start + first, start + stop):
        return None, start
    if must_be_name and _OF_OTHER.match(document.prose, start + stop):
        return None, start
    if must_be_name and (leading is not None or not (is_name(name) or is_plain)):
        return None, start
    if _NO_WORK.fullmatch(name.rpartition(" ")[2]):
        return None, start
    return project_name(name), start + stop


def is_name(words: str) -> bool:
    """Whether each word has a capital letter, a digit or a hyphen, as names have."""
    return bool(words) and all(re.search(r"[A-Z\d_-]", word) for word in words.split())


def project_name(words: str) -> str | None:
    """A project's name: words in lower case get a capital letter; None for what is no name.

    >>> project_name("PhD research"), project_name("my-app"), project_name("it")
    ('PhD Research', 'my-app', None)
    """
    parts = words.replace("`", "").split()
    if not parts or parts[0].lower() in _NO_PROJECT or len(parts) > _MOST_PROJECT_WORDS:
        return None
    if not any(map(str.isalpha, words)) or tool_named(" ".join(parts)) is not None:
        return None
    plain = (part if part != part.lower() or re.search(r"[\d_-]", part) else None for part in parts)
    capitals = [word or part[0].upper() + part[1:] for word, part in zip(plain, parts, strict=True)]
    return " ".join(capitals)
