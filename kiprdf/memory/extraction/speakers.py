"""Transcripts: which lines are the user's, and who a text means with "the user"."""

from __future__ import annotations

import re
from collections import Counter

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


def of_user(prose: str) -> str:
    """A text of the same length without the lines of others, and with "I" for "the user"."""
    spans, labels = _spans(prose)
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
    return prose


_TEAM = re.compile(
    r"\b(?=[moet])(?<!\bin )(?<!\bof )(?<!\bon )(?<!\bfrom )(?<!\bwith )(?<!\bto )(?<!\bfor )"
    r"(?:(?:my|our)\s+(?:whole\s+|entire\s+|little\s+)?(?:team|squad|company|crew|studio|startup"
    r"|lab|(?:research|thesis)\s+group|family|household|choir|band|club|office|department|agency"
    r"|clinic)"
    r"|the\s+(?:whole|entire)\s+team|(?:(?<=\n)|\A)team(?=\s+(?:agreed|decided|voted|chose))"
    r"|everyone\s+(?:here|on\s+(?:my|our|the)\s+team))(?=\s+[a-z])",
    re.I,
)
"""Who is meant by "we"."""
_TEAM_WORDS = (
    "team",
    "squad",
    "company",
    "crew",
    "studio",
    "startup",
    "lab",
    "group",
    "everyone",
    "family",
    "household",
    "choir",
    "band",
    "club",
    "office",
    "department",
    "agency",
    "clinic",
)


def _as_i(match: re.Match[str]) -> str:
    own = match["own"] or ""
    return match["before"] + ("My" if own else "I").ljust(len(match["user"] + own))


def _spans(prose: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The parts that others say, and the labels of the user."""
    if not any(mark in prose for mark in ":>])#-–—\n"):
        return [], []
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
    spans, labels = [], []
    ends = [*(match.start() for match, _ in turns), len(prose)][1:]
    for (match, speaker), end in zip(turns, ends, strict=False):
        if speaker == "user":
            labels.append(match.span())
            continue
        if speaker == "name" and not is_chat:
            paragraph = prose.find("\n\n", match.end(), end)
            end = end if paragraph < 0 else paragraph
        spans.append((match.start(), end))
    return spans, labels


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
