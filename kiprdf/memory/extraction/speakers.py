"""Transcripts: which lines are the user's, and who a text means with "the user"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from kiprdf.memory.extraction.private import hidden
from kiprdf.memory.extraction.words import listed, word_set

TOPICS = listed("TOPICS")
_USERS = word_set("user me human myself you q")
_OTHERS = word_set(
    "assistant bot ai agent system tool model llm gpt chatgpt claude copilot gemini support chatbot"
)
_LABEL = re.compile(
    r"(?:^(?P<time>[^\w\n]{0,6}(?:\d{4}-\d\d-\d\d[T ,]{1,3})?(?:\d{1,2}:\d\d(?::\d\d)?(?:"
    r"\s?[ap]m)?)?[^\w\n]{0,6})(?P<name>[^\W\d_][\w'.-]{1,20}(?: [\w'.-]{1,20}){0,2})"
    r"|(?<=[.!?]\s)(?P<role>user|human|assistant|ai"
    r"|bot))(?:(?:\s?\([^()\n]{1,20}\))?\s{0,3}[:>\]](?=\s|$)"
    r"|\s{1,3}\[?\d{1,2}:\d\d(?:\s?[ap]m)?\]?\s*$)|^[\[(]?(?P<part>user|human|me|assistant|ai|bot"
    r"|system)(?:[\])]:?(?=\s)|[ \t]{1,3}[-–—](?=\s)|[ \t]*$)|(?:</?|^#{1,6}\s+)(?P<tag>user|human"
    r"|assistant|ai|bot|system)(?:>|\s*$)",
    re.I | re.M,
)
_MARKED = re.compile(r"<|\d:\d|\w>")
_TALK = re.compile(r"\b(?:i|we|you|my|our|let's)\b", re.I)
_USER = re.compile(
    r"(?P<before>(?:^|[.!?:;,\n(*•>-]|\b(?:that|and|but|so|because|since|while|today|now))\s{0,6})"
    r"(?P<user>(?:the\s+|our\s+|this\s+)?(?:primary\s+)?user)"
    r"(?:(?P<own>'s)(?=\s+[a-z])|(?=\s+(?:\w+ly\s+|also\s+|still\s+|now\s+)?(?:\w+s|\w+ed"
    r"|\w+n't|\w+ing|chose|do|no\s+longer|never|quit"
    r"|went|gave|always|often|got|built|made|wrote)\b))",
    re.I | re.M,
)
_SAYING = re.compile(
    r"\b(?:the\s+)?user\s+(?:has\s+)?(?:said|says|mentioned|mentions|stated|states|noted|notes"
    r"|confirmed|confirms|explained|indicated|reported|shared|t(?:old"
    r"|ells)\s+me)\s+(?:that\s+)?(?:they|he|she)(?=\s)",
    re.I,
)
_THEY = re.compile(r"(?<!\w)(I {3,}[^.!?\n]{0,300}[.!?]\s+)(they|she|he)(?=\s)", re.I)


class Answer(NamedTuple):
    """What the user says after a question: its place, and the words of what was asked for."""

    start: int
    end: int
    noun: str
    is_liked: bool


def of_user(prose: str) -> tuple[str, list[Answer]]:
    """A text of the same length without the lines of others, and with "I" for "the user".

    With it the answers to questions such as "Which editor do you use?".
    """
    spans, labels, answers = _spans(prose)
    pieces, end = [], 0
    for start, stop in sorted(labels + spans):
        pieces += [prose[end:start], hidden(stop - max(start, end))]
        end = max(end, stop)
    prose = "".join([*pieces, prose[end:]])
    lowered = prose.lower()
    if any(word in lowered for word in _TEAM_WORDS):
        prose = _TEAM.sub(lambda match: "We".ljust(len(match[0])), prose)
    if "user" in lowered:
        prose = _SAYING.sub(lambda match: "I".ljust(len(match[0])), prose)
        prose = _USER.sub(_as_i, prose)
        for _ in range(2):
            prose = _THEY.sub(lambda match: match[1] + "I".ljust(len(match[2])), prose)
    return prose, answers


_GROUPS = sorted(
    word_set(
        "team squad company crew studio startup lab family household choir band club office"
        " department agency clinic"
    )
)
_TEAM = re.compile(
    r"\b(?=[moet])(?<!\bin )(?<!\bof )(?<!\bon )(?<!\bfrom )(?<!\bwith )(?<!\bto )(?<!\bfor )"
    r"(?:(?:my|our)\s+(?:whole\s+|entire\s+|little\s+)?"
    rf"(?:{'|'.join(_GROUPS)}|(?:research|thesis)\s+group)"
    r"|the\s+(?:whole|entire)\s+team|(?:(?<=\n)|\A)team(?=\s+(?:agreed|decided|voted|chose))"
    r"|everyone\s+(?:here|on\s+(?:my|our|the)\s+team))(?=\s+[a-z])",
    re.I,
)
"""Who is meant by "we"."""
_TEAM_WORDS = (*_GROUPS, "group", "everyone")


def _as_i(match: re.Match[str]) -> str:
    own = match["own"] or ""
    return match["before"] + ("My" if own else "I").ljust(len(match["user"] + own))


Span = tuple[int, int]


def _spans(prose: str) -> tuple[list[Span], list[Span], list[Answer]]:
    """The parts that others say, the labels of the user, and the user's answers."""
    if not any(mark in prose for mark in ":>])#-–—\n"):
        return [], [], []
    matches = [(match, _speaker(match)) for match in _LABEL.finditer(prose)]
    names = Counter(match["name"] for match, speaker in matches if speaker == "name")
    is_chat = any(speaker in ("user", "other") for _, speaker in matches)
    turns = []
    for match, speaker in matches:
        if speaker == "name":
            line = prose[match.end() : prose.find("\n", match.end()) % (len(prose) + 1)]
            is_bracketed = match[0].rstrip().endswith("]") and len(names) < 2
            speaks = is_chat or names[match["name"]] > 1 or _TALK.search(line)
            if not _MARKED.search(match[0]) and (is_bracketed or not speaks):
                continue
        if speaker:
            turns.append((match, speaker))
    spans, labels, answers = list[Span](), list[Span](), list[Answer]()
    ends = [*(match.start() for match, _ in turns), len(prose)][1:]
    turn = 0
    for (match, speaker), end in zip(turns, ends, strict=False):
        if speaker == "user":
            labels.append(match.span())
            if spans and spans[-1][1] == match.start():
                answers += _answers(prose, max(turn, match.start() - _FAR), match, end)
            continue
        turn = match.end()
        if speaker == "name" and not is_chat:
            paragraph = prose.find("\n\n", match.end(), end)
            end = end if paragraph < 0 else paragraph
        spans.append((match.start(), end))
    return spans, labels, answers


_FAR = 300
_ASKED = re.compile(
    r"(?:^|(?<=[.!?,:\s]))(?:"
    r"(?:which|what)(?P<used>(?:[ ]\w[\w-]*){0,3}?)[ ](?:do|are)[ ](?:you|your[ ]team|you[ ]all)"
    r"(?:[ ](?:currently|guys|all|mostly|usually))?[ ](?:use|using|run|running|on|on[ ]now"
    r"|work(?:ing)?[ ](?:in|with)|coding[ ]in|writing[ ](?:it|that|this)[ ]in)"
    r"(?:[ ](?:for|in|at|on|to|with)[ ][^?.!\n]{1,40}|[ ](?:now|today|there|currently))?"
    r"|(?:do|are)[ ]you[ ](?:use|using|on|run|running)[ ][^?.!,\n]{1,40}[ ]or[ ][^?.!\n]{1,30}"
    r"|(?:which|what)(?:'s|[ ]is)?(?:[ ]your)?(?P<noun>(?:[ ]\w[\w-]*){1,2})"
    r"|(?:which|what)(?P<liked>(?:[ ]\w[\w-]*){1,3}?)[ ]do[ ]you[ ](?:like|prefer)"
    r"(?:[ ](?:best|most))?)\?\s*\Z",
    re.I,
)
"""A question for a tool at the end of what another says."""


def _answers(prose: str, start: int, label: re.Match[str], end: int) -> Iterator[Answer]:
    """The first line of what the user says, after a question for a tool."""
    asked = _ASKED.search(prose[start : label.start()])
    if asked is not None:
        line = prose.find("\n", label.end(), end)
        noun = asked["used"] or asked["noun"] or asked["liked"] or ""
        yield Answer(
            label.end(), end if line < 0 else line, noun.strip().lower(), bool(asked["liked"])
        )


def _speaker(match: re.Match[str]) -> str:
    """``user``, ``other``, ``name`` for what may be the name of a person, or empty."""
    name = match["name"] or match["role"] or match["part"] or match["tag"]
    words = name.lower().split()
    if len(words) == 1 and words[0] in _USERS:
        return "user"
    if words[-1] in _OTHERS and len(words) < 3 and words[0] != "operating":
        return "other"
    if TOPICS.isdisjoint(words) and all(word[:1].isupper() for word in name.split()):
        return "name"
    return "name" if _MARKED.search(match[0]) else ""
