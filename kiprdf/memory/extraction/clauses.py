"""Finds the subject of a clause, and whether the clause states something."""

from __future__ import annotations

import re
from typing import TypeAlias

from kiprdf.memory.extraction.document import Document
from kiprdf.memory.extraction.ordinary_words import word_set

_WINDOW = 160
"""The characters before a verb that are read for its subject; this bounds the time."""
_BREAK = re.compile(
    r"[;:()\[\]\n]|\s(?:-{1,3}|[–—])\s|—"
    r"|,?\s(?:but|because|although|though|whereas|while|so|then)\s"
    r"|,\s*(?:(?:and|then|so|now|today)\s+)?(?=(?:i|we|he|she|they|you|it)\b)"
    r"|\sand\s+(?=(?:i|we|he|she|they|you|it)\b)",
    re.I,
)
_NEGATION = re.compile(
    r"\b(?:not|never|cannot|no\s+longer|no|nor|neither|none|nobody|without|hardly|rarely|barely"
    r"|stop(?:s|ped|ping)?|quit|avoid(?:s|ed|ing)?|refus(?:e|es|ed|ing)|against|instead\s+of"
    r"|rather\s+than|tired\s+of|sick\s+of|hate|dislike|regret(?:ted)?|gave\s+up|giv(?:e|ing)\s+up"
    r"|drop(?:ped|ping)?|fail(?:ed)?\s+to|forgot\s+to|far\s+from|away\s+from)\b|n't\b",
    re.I,
)
_HEDGE = re.compile(
    r"\b(?:if|unless|whether|might|may|could|would|should|maybe|perhaps|possibly|wish|hope|hoping"
    r"|wonder(?:ed|ing)?|consider(?:ed|ing)?|thinking\s+(?:of|about)|think\s+about|thought\s+about"
    r"|want(?:s|ed)?\s+to|wanna|like\s+to|love\s+to|suppos(?:e|ing)|imagin(?:e|ing)|pretend"
    r"|assum(?:e|ing)|doubt|someday|one\s+day|in\s+theory|plan(?:s|ned|ning)?\s+(?:to|on|for)"
    r"|tempted|propos(?:e|ed|es|ing)|suggest(?:s|ed|ing)?|recommend(?:s|ed|ing)?|let's|lets"
    r"|talk(?:ed|ing|s)?\s+about|discuss(?:ed|ing|es)?|dream(?:ed|ing|t)?\s+of|how\s+to"
    r"|evaluat(?:e|ed|ing)|will|shall|gonna|going\s+to|about\s+to|(?:need|needs|have|has|ought|yet)\s+to"
    r"|must|try|tries|trying|tried|todo|idea|thought|possibility|option|prospect|concept|benefits?"
    r"|advantages?|pros|tutorials?|guides?|articles?|books?|courses?|workshops?|videos?|podcasts?"
    r"|(?:read|reading|heard|learn(?:ed|t|ing)?|asked|curious|watched|blog(?:ged)?|posts?|notes?"
    r"|know|knew|excited|worried|talks?|questions?|webinar|news|jokes?|complain(?:ed|ing)?)"
    r"\s+(?:(?:a|some|more|of|on)\s+){0,2}(?:about|on|how)|almost|nearly|instead\s+of|remember\s+to"
    r"|start(?=\s+$)|end\s+up|next\s+(?:week|month|quarter|year|sprint|time)|tomorrow)\b"
    r"|\b(?:i|we)'(?:d|ll)\b|^\W*had\s+(?:i|we)\b",
    re.I,
)
_CONDITION = re.compile(
    r"\b(?:if|unless|once(?!\s+(?:a|an|per|every|in|again|more)\b)|assuming|provided|providing|supposing|pending|in\s+case"
    r"|as\s+soon\s+as|as\s+long\s+as)\b",
    re.I,
)
_UNTIL = re.compile(r"^\W*(?:until|till)\b", re.I)
_ATTACHED = re.compile(
    r"(?:(?P<ended>\b(?:no\s+longer|(?:have|has|had|'ve)\s+(?:stopped|quit|ceased)|stopped|quit|ceased"
    r"|gave\s+up(?:\s+on)?|done\s+with|finished\s+with|tired\s+of)"
    r"|\bhad\s+been)|(?P<denied>\b(?:not|never|isn't|aren't|ain't)))"
    r"\s+(?:(?:really|actually|currently|even|ever|now)\s+)?$",
    re.I,
)
_ANYMORE = re.compile(r"\b(?:any\s?(?:more|longer))\b", re.I)
_WAS = re.compile(
    r"\b(?:was|were)\s+(?:(?:still|also|just|always|mainly|mostly|all|both|actually)\s+){0,2}$",
    re.I,
)
_FORMERLY = re.compile(
    r"\b(?:previously|formerly|originally|initially|(?:in|at|from)\s+(?:my|our|the)\s+"
    r"(?:past|old|last|previous|former|first|early|beginning)|back\s+(?:then|when|in)|at\s+first"
    r"|at\s+that\s+time|those\s+days|(?:years?|months?|weeks?|decades?)\s+ago|in\s+(?:college|school|university)|as\s+a\s+(?:student|kid|child)"
    r"|in\s+(?:19|20)\d\d|(?:until|till)\s+(?:\w+\s+){0,2}\w+|before(?=\s*(?:$|[,;]|(?:and|but|now|that|this|we|i|switching"
    r"|moving|migrating)\b)))",
    re.I,
)
_REPORTED = re.compile(
    r"(?<!i )(?<!we )\b(?:says?|said|wrote|writes|replied|replies|answered|told\s+\w+|claims?|claimed"
    r"|quot(?:e|es|ed|ing)|according\s+to\s+\w+|announced|tweeted|posted)\s*[:,]?\s*$",
    re.I,
)
Standing: TypeAlias = str
"""Whether what a verb says holds: ``HELD``, ``ENDED``, ``DENIED``, or empty for no statement."""
HELD, ENDED, DENIED = "held", "ended", "denied"
_PRONOUN = re.compile(
    r"\b(?:(?P<user>i|we|my|our|me|us)|(?P<other>he|she|they|you|your|his|her|their|who|someone"
    r"|anyone|everyone|people|nobody|others))\b",
    re.I,
)
PEOPLE = (
    r"colleagues?|co-?workers?|friends?|boss|manager|teammates?|clients?|customers?|company"
    r"|vendors?|brother|sister|wife|husband|interns?|contractors?|guys|folks|developers?|students?"
)
_OTHER_START = re.compile(
    rf"\W*(?:(?:[A-Z][a-z]+)|(?:(?:[Tt]he|[Aa]|[Mm]y|[Oo]ur|[Oo]ne\s+of\s+\w+)\s+)?"
    rf"(?:\w+\s+)?(?:{PEOPLE}))\s+(?:also\s+|just\s+|always\s+|still\s+)?"
    r"(?:is|was|are|were|has|wants?|wanted|started|keeps|kept|likes?|prefers|says|said|asked|thinks"
    r"|thought|uses|used|wrote|writes|built|builds|switched|moved|decided|went|chose|deploys"
    r"|deployed|works|worked|runs|ran|sent|made|did|does|finished|fixed|showed|parsed|tested|set"
    r"|needs|needed|began|begins|spent|took|found|created|develops|developed|migrated|shipped)\b"
)
_PASSIVE = re.compile(
    r"\b(?:is|was|are|were|be|been|gets?|got)\s+(?:\w+ly\s+|now\s+|still\s+|already\s+|also\s+)?"
    r"(?:\w+ed|written|built|made|done|run|set|sent|kept|drawn|shown|put)\b"
)
_SUBJECTLESS = re.compile(
    r"\W*(?:(?:after|during|in|on|at|for|since|by|from|this)\b[^,]{0,60},\s*)?"
    r"(?:(?:\w+ly|ok|okay|yes|yeah|well|alright|finally|first|next|then|also|just|now|today|yesterday|and|so|again|still|been|have|has|had|have\s+been)"
    r"[\s,]+){0,4}"
    r"(?:$|[a-z]+(?:ed|ing)\b|(?:built|wrote|made|did|set|got|spent|found|put|sent|began|drew|ran|kept"
    r"|taught|went|chose|did|gave|took|cut|drove|rebuilt|rewrote|sped|shot|read|held|led|sold|won|all|back"
    r"|busy|live|done)\b)",
    re.I,
)
_USED = re.compile(r"(?:used|liked|preferred|enjoyed|worked)\b", re.I)
_WORKING = re.compile(r"(?:working\s+on|building|developing)\b", re.I)
_AUXILIARY = re.compile(
    r"(?P<word>[\w'-]+)(?:\s+(?:\w+ly|still|now|also|just|already|have|has|had|then|both|all))*"
    r"(?:\s+(?:is|was|are|were|am|be|been|has\s+been|have\s+been|had\s+been"
    r"|will\s+be|keeps?|kept|started|starts|begins|began|stays|got)|(?P<short>'s|'re))"
    r"(?:\s+(?:\w+ly|still|now|also|busy|just|already|back|all|both|always))*\s*$",
    re.I,
)
_SELF = word_set("i we i've we've i'll we'll and also then been have i'm we're today now")
_FILLER = word_set(
    "finally then just already also has have had been recently eventually ultimately now today"
    " yesterday and so was it later jointly together formally officially again"
    " meanwhile unanimously therefore thus hence quickly"
)


def start_of_clause(document: Document, place: int) -> int:
    """Where the clause begins that contains a place."""
    start = max(document.sentence_at(place).start, place - _WINDOW)
    for match in _BREAK.finditer(document.prose, start, place):
        start = match.end()
    return start


def is_statement(document: Document, place: int) -> bool:
    """Whether a verb states something: no question, quotation, negation or mere possibility."""
    return standing(document, place) == HELD


def standing(document: Document, place: int, end: int | None = None) -> Standing:
    """Whether what a verb says holds; with ``end``, the verb may be of a past time."""
    sentence = document.sentence_at(place)
    if document.is_quoted(place) or sentence.is_question:
        return ""
    start = start_of_clause(document, place)
    prose = document.prose
    before = prose[start:place]
    earlier = prose[max(sentence.start, start - _WINDOW) : start]
    if _HEDGE.search(before) or _UNTIL.search(earlier) or _CONDITION.search(earlier):
        return ""
    if _REPORTED.search(earlier):
        return ""
    rest = prose[place : min(sentence.end, (end or place) + _WINDOW)]
    attached = _ATTACHED.search(before)
    if attached is not None:
        is_ended = attached["ended"] or _ANYMORE.search(rest)
        return ENDED if is_ended else DENIED
    if end is not None and (_WAS.search(before) or _USED.match(rest)):
        if _FORMERLY.search(before) or _FORMERLY.search(rest):
            return ENDED
        return HELD if _WORKING.match(rest) else ""
    return "" if _NEGATION.search(before, before.rfind(",") + 1) else HELD


def has_ended(rest: str) -> bool:
    """Whether the words after a negated verb say that it was so before."""
    return _ANYMORE.search(rest) is not None


def is_conditional(document: Document, place: int) -> bool:
    """Whether the rest of a sentence makes a condition of it."""
    rest = document.prose[place : min(document.sentence_at(place).end, place + _WINDOW)]
    condition = _CONDITION.search(rest)
    return condition is not None and ";" not in rest[: condition.start()]


def is_of_user(document: Document, place: int) -> bool:
    """Whether the user does what a verb says: I, we, a passive, or a verb without a subject."""
    before = document.prose[start_of_clause(document, place) : place]
    last = max(_PRONOUN.finditer(before), key=re.Match.start, default=None)
    if last is not None and last["other"]:
        return False
    if last is not None and last[0].lower() in ("i", "we"):
        return True
    if _PASSIVE.search(before):
        return True
    return _SUBJECTLESS.match(before) is not None and _OTHER_START.match(before) is None


def is_progressive_of_user(document: Document, place: int) -> bool:
    """As ``is_of_user``, for a verb that ends in -ing and may have an auxiliary before it."""
    before = document.prose[start_of_clause(document, place) : place]
    auxiliary = _AUXILIARY.search(before)
    if auxiliary is not None:
        return auxiliary["word"].lower() in _SELF
    return is_of_user(document, place)


def is_decided_by_user(document: Document, place: int) -> bool:
    """Whether the subject directly before ``decided`` is the user, or is left out."""
    before = document.prose[start_of_clause(document, place) : place]
    words = re.findall(r"\w[\w'-]*|,", before.lower())
    while words and (words[-1] in _FILLER or words[-1] == ","):
        word = words.pop()
        if word in _SELF or word == ",":
            return is_of_user(document, place)
    return not words or words[-1] in _SELF
