"""Finds the subject of a clause, and whether the clause states something."""

from __future__ import annotations

import re

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
    r"|evaluat(?:e|ed|ing))\b|\b(?:i|we)'d\b|^\W*had\s+(?:i|we)\b",
    re.I,
)
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
    if document.is_quoted(place) or document.sentence_at(place).is_question:
        return False
    before = document.prose[start_of_clause(document, place) : place]
    if _HEDGE.search(before):
        return False
    return _NEGATION.search(before, before.rfind(",") + 1) is None


def is_of_user(document: Document, place: int) -> bool:
    """Whether the user does what a verb says; a clause without a subject is the user's."""
    before = document.prose[start_of_clause(document, place) : place]
    last = max(_PRONOUN.finditer(before), key=re.Match.start, default=None)
    if last is not None and last["other"]:
        return False
    own_subject = last is not None and last[0].lower() in ("i", "we")
    return own_subject or not _OTHER_START.match(before) or _PASSIVE.search(before) is not None


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
