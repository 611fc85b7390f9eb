"""The names that phrases give to what they state: decisions, concepts and projects."""

from __future__ import annotations

import re

from kiprdf.memory.extraction.document import FILE, LINK, Document
from kiprdf.memory.extraction.private import PRIVATE, is_credential, may_be_code
from kiprdf.memory.extraction.tools import tool_named
from kiprdf.memory.extraction.words import listed, word_set

PERSONS_AND_PLACES = listed("PERSONS_AND_PLACES")
MOST_DECISION = 100
"""Characters of a decision; it is cut between words."""
_CLAUSE_END = re.compile(
    r"[;!?\n()\[\]]|\s(?:-{1,3}|[–—])\s|—|:(?=\s|$)|,?\s+as\s+(?:it|we|they|he|she|i|this|that"
    r"|there)\b|,?\s+(?:because|since|so|but|although|though|whereas|while)\b|,?\s+(?:and"
    r"|then)\s+(?=(?:i|we|he|she|they|you|it|there|that|this|am|are|use|prefer|like|love)\b)"
    r"|,\s*(?=(?:i|we|he|she|they|you|it|which|who|where|when|as|not|then|hence|please|thanks|see)\b)"
    r"|,?\s+and\s+(?=(?-i:[A-Z])[a-z]+\s+(?:\w+ed|is|was|has|will|uses|prefers|wants)\b)"
    r"|\s+and\s+(?=(?:wants|needs|has|is|was|asks|asked|likes|plans|hopes|expects|would)\b)"
    r"|(?:,|\s+and)\s*(?=(?:the|my|our|his|her|their|all|that|this)\s+(?:\S+\s+){0,3}"
    r"(?:is|are|was|were|has|have|will|can|must|should|would)\b)",
    re.I,
)
_OPEN = re.compile(
    r"\b(?:if|unless|whether|once|when|pending|assuming|provided"
    r"|depending|or\s+not|maybe"
    r"|perhaps|you|someday|eventually|lol|jk|haha|nope|decided\s+not|regret(?:s|ted)?)\b"
    rf"|[{PRIVATE}\ue003\ue004]",
    re.I,
)
"""What makes a decision depend on something."""
_UNTIL = re.compile(r"\buntil\b(?!\s+\w+(?:\s+\w+)?\s*$)", re.I)
_VAGUE = re.compile(
    r"^(?:dis)?agree$|^differ$|^go$|^(?:try|start)$|^(?:think|sleep|reflect|ponder|mull)\b"
    r"|^\w+(?:\s+(?:with|for|on|to))?\s+(?:it|this|that|them|him|her|so)$",
    re.I,
)
_TAIL = re.compile(
    r"(?:,?\s+(?:then|tbh|imo|btw|though|too|after\s+all|in\s+the\s+end|at\s+last"
    r"|once\s+and\s+for\s+all|after\s+(?:some|much)\s+discussion))+$",
    re.I,
)
_ARTICLE = re.compile(r"(?:the|a|an|my|our|both|some)\s+", re.I)
_PROJECT_WORD = re.compile(r"^projects?\s+|\s+projects?$", re.I)
_NAMED = re.compile(r".*?\b(?:called|named)\s+", re.I | re.S)
_LEADING = re.compile(
    r"(?i:(?:the|an?|my|our)\s+)?(?:(?:new|own|old|little|big|current)\s+(?=(?:\S+\s+)?[A-Z]))?"
)
_NO_CONCEPT = re.compile(
    r"(?:\w+\s+)?(?:ideas?|way|thought|fact|concept|notion|prospect|one|ones|thing|things|stuff"
    r"|former|latter|boss|manager|colleagues?|friends?|wife|husband|team|company|weekends?)",
    re.I,
)
_NO_PROJECT = word_set(
    "it this that something anything everything nothing things stuff lunch dinner breakfast "
    "homework"
    " chores laundry dishes myself yourself ourselves music content performance documentation docs"
    " software hardware marketing research email support english french german spanish frontend"
    " backend infrastructure progress health weekend holiday vacation "
    "christmas easter sunday monday"
    " tuesday wednesday thursday friday saturday code tonight today tomorrow release database"
    " math maths food cars core core music home work both form mine time"
    " accent garden layout syntax search sleep posture budget strategy design"
)
_NO_NAME = re.compile(f"[{PRIVATE}{LINK}{FILE}]")
_MARKS = " \t\"'“”‘’«»`*,.;:!?-–—"


def decision_end(prose: str, start: int) -> int:
    """Where the clause of a decision ends that begins at a place of a sentence."""
    match = _CLAUSE_END.search(prose, start)
    return len(prose) if match is None else match.start()


def decision(
    document: Document, start: int, end: int, negation: str = "", may_end: bool = False
) -> str | None:
    """The name of a decision; None for what is open, or names nothing.

    One that ``may_end`` can have a clause after "until".
    """
    if _OPEN.search(document.prose, start, end):
        return None
    if not may_end and _UNTIL.search(document.prose, start, end):
        return None
    text = f"{negation}{document.text[start:end]}"
    text = " ".join(text.replace("`", "").replace("**", "").split()).strip(_MARKS)
    text = _TAIL.sub("", text)
    while text and not (text[-1].isalnum() or text[-1] in ")]}%+#/'\""):
        text = text[:-1]
    if text.count('"') % 2:
        text = text.replace('"', "")
    if len(text) > MOST_DECISION:
        text = text[: MOST_DECISION + 1].rsplit(" ", 1)[0][:MOST_DECISION].rstrip(_MARKS)
    if not text or is_credential(text) or _VAGUE.search(text) or may_be_code(text):
        return None
    return text[0].upper() + text[1:]


def concept(document: Document, start: int, end: int) -> str | None:
    """The name of what is preferred."""
    article = _ARTICLE.match(document.prose, start, end)
    start = article.end() if article else start
    name = " ".join(document.text[start:end].strip(_MARKS).replace("`", "").split())
    if not any(map(str.isalnum, name)) or _NO_CONCEPT.fullmatch(name) or is_credential(name):
        return None
    if _NO_NAME.search(document.prose, start, end) or may_be_code(name):
        return None
    return name


def project(document: Document, start: int, end: int) -> str | None:
    """The name of a project in a phrase such as ``the Harbor app``."""
    if _NO_NAME.search(document.prose, start, end):
        return None
    words = document.text[start:end].strip(_MARKS)
    if words.lower() in PERSONS_AND_PLACES:
        return None
    words = _NAMED.sub("", words)
    leading = _LEADING.match(words)
    words = words[leading.end() :] if leading else words
    return project_name(_PROJECT_WORD.sub("", words).strip(_MARKS))


def project_name(words: str) -> str | None:
    """A project's name: words in lower case get a capital letter; None for what is no name.

    >>> project_name("PhD research"), project_name("my-app"), project_name("it")
    ('PhD Research', 'my-app', None)
    """
    parts = words.replace("`", "").split()
    if not parts or parts[0].lower() in _NO_PROJECT or len(parts) > 4:
        return None
    if not any(map(str.isalpha, words)) or tool_named(" ".join(parts)) is not None:
        return None
    if may_be_code(words):
        return None
    plain = (part if part != part.lower() or re.search(r"[\d_-]", part) else None for part in parts)
    capitals = [word or part[0].upper() + part[1:] for word, part in zip(plain, parts, strict=True)]
    return " ".join(capitals)
