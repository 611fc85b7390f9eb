"""How well questions find the turns that answer them: ``python -m tests.memory.recall [--kinds]``.

``conversations/`` has 40 sessions of 1 200 turns with 300 questions, written for this. A file has
one pair of speakers. Its first line has the language, and each speaker with an initial; ``##``
begins a session at a time, whose turns are a minute apart; ``?`` is a question with its kind and
the numbers of the turns that answer it (``2.29`` is turn 29 of the second session).

Each method is asked all questions, by turns, for the same notes. R@5 and R@10 are the share of the
answering turns among the first five and ten, MRR is that of the first of them among ten. A session
is right if it has an answering turn. The time is the median of the processor time of a question.
"""

from __future__ import annotations

import argparse
import re
import sqlite3
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from statistics import fmean, median
from unittest.mock import patch

from kiprdf import Nexus
from kiprdf.memory import Memory
from kiprdf.search import embedders

FOLDER = Path(__file__).with_name("conversations")
KINDS = ("who", "when", "which", "how-many", "negated", "paraphrased", "two-hops")
LONG = 50
"""The notes that are asked for to see five sessions."""
_STOP_WORDS = """
    a about above after again against all am an and any are as at be because been before being
    below between both but by can could did do does doing don down during each few for from further
    had has have having he her here hers herself him himself his how i if in into is it its itself
    just me more most my myself no nor not now of off on once only or other our ours ourselves out
    over own s same she should so some such t than that the their theirs them themselves then there
    these they this those through to too under until up very was we were what when where which while
    who whom why will with would you your yours yourself yourselves
    """
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""The usual English list, for FTS5."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A note: what one speaker said."""

    id: str
    session: str
    speaker: str
    timestamp: str
    content: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a conversation, and the ids of the turns that answer it."""

    text: str
    kind: str
    language: str
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """The sessions of two speakers, and the questions about them."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def conversations() -> list[Conversation]:
    """What the folder contains, checked: each turn has its number, each answer is a turn."""
    return [_read(path) for path in sorted(FOLDER.glob("*.txt"))]


def _read(path: Path) -> Conversation:
    first, *lines = path.read_text("utf-8").splitlines()
    language, *speakers = first.removeprefix("# ").split(" | ")[:3]
    names = dict(speaker.split(" ", 1) for speaker in speakers)
    turns: dict[str, Turn] = {}
    questions = []
    session, number = 0, 0
    start = datetime.min
    for line in filter(None, lines):
        if line.startswith("## "):
            session, number = session + 1, 0
            start = datetime.fromisoformat(line[3:])
        elif line.startswith("? "):
            kind, text, places = (part.strip() for part in line[2:].split(" | "))
            full = [p if "." in p else f"{session}.{p}" for p in places.split()]
            answers = tuple(f"{path.stem}-{p.replace('.', '-')}" for p in full)
            assert kind in KINDS, line
            questions.append(Question(text, kind, language, answers))
        else:
            match = re.fullmatch(r"(\d+) (\w): (.+)", line)
            assert match is not None, line
            number += 1
            assert number == int(match[1]), line
            at = start + timedelta(minutes=number - 1)
            id = f"{path.stem}-{session}-{number}"
            turns[id] = Turn(
                id, f"{path.stem}-{session}", names[match[2]], f"{at.isoformat()}Z", match[3]
            )
    for question in questions:
        assert turns.keys() >= set(question.answers), question
    return Conversation(path.stem, tuple(turns.values()), tuple(questions))


Search = Callable[[str, int], list[str]]
"""Returns the ids of at most so many notes, best first."""


def full_text_search(turns: Iterable[Turn]) -> Search:
    """SQLite's FTS5 with the stemmer of Porter, without the stop words of the question."""
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE turns USING fts5(id UNINDEXED, text, tokenize='porter unicode61')"
    )
    connection.executemany(
        "INSERT INTO turns VALUES (?, ?)",
        ((turn.id, f"{turn.speaker}: {turn.content}") for turn in turns),
    )

    def search(question: str, limit: int) -> list[str]:
        words = re.findall(r"\w+", question.lower())
        words = [word for word in words if word not in STOP_WORDS] or words
        rows = connection.execute(
            "SELECT id FROM turns WHERE turns MATCH ? ORDER BY bm25(turns), rowid LIMIT ?",
            (" OR ".join(f'"{word}"' for word in words), limit),
        )
        return [id for (id,) in rows]

    return search


def remember(
    turns: Iterable[Turn], *, embedder: embedders.Embedder | None = None, sessions: bool = True
) -> Memory:
    """A memory with the turns as notes, with or without their sessions."""
    memory = Memory(Nexus.memory(embedder=embedder))
    memory.add_many(
        {
            "content": turn.content,
            "id": turn.id,
            "timestamp": turn.timestamp,
            "speaker": turn.speaker,
            "session": turn.session if sessions else None,
        }
        for turn in turns
    )
    return memory


def searching(memory: Memory, mode: str) -> Search:
    """SEARCH in a mode."""
    command = f'SEARCH CONCEPT :text WITH TYPE "MemoryItem" MODE {mode} LIMIT :limit'

    def search(question: str, limit: int) -> list[str]:
        hits = memory.nexus.execute(command, text=question, limit=limit)
        return [hit["name"] for hit in hits]

    return search


def recalling(memory: Memory, *, meaning: bool) -> Search:
    """``Memory.recall``, with the extra installed or as if it was not."""
    recaller = Memory(memory.nexus)  # it asks once whether the extra is installed

    def search(question: str, limit: int) -> list[str]:
        with patch.object(embedders, "is_installed", lambda: meaning):
            return [note.item.id for note in recaller.recall(question, limit=limit).notes]

    return search


@dataclass(slots=True)
class Scores:
    """What a method reached, question by question."""

    at_five: list[float] = field(default_factory=list)
    at_ten: list[float] = field(default_factory=list)
    reciprocal_ranks: list[float] = field(default_factory=list)
    first_session: list[bool] = field(default_factory=list)
    among_five_sessions: list[bool] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)

    def add(
        self, question: Question, ids: Sequence[str], long: Sequence[str], seconds: float
    ) -> None:
        """Count the answer to a question: ten notes, and as many as show five sessions."""
        answers = set(question.answers)
        self.at_five.append(len(answers.intersection(ids[:5])) / len(answers))
        self.at_ten.append(len(answers.intersection(ids[:10])) / len(answers))
        ranks = (rank for rank, id in enumerate(ids[:10], 1) if id in answers)
        self.reciprocal_ranks.append(1 / next(ranks, float("inf")))
        right = {_session(id) for id in answers}
        listed = list(dict.fromkeys(map(_session, long)))
        self.first_session.append(not right.isdisjoint(listed[:1]))
        self.among_five_sessions.append(not right.isdisjoint(listed[:5]))
        self.milliseconds.append(1000 * seconds)

    def cells(self) -> list[str]:
        """The columns of the table."""
        shares = (
            self.at_five,
            self.at_ten,
            self.reciprocal_ranks,
            self.first_session,
            self.among_five_sessions,
        )
        return [f"{100 * fmean(share):.1f}" for share in shares] + [
            f"{median(self.milliseconds):.1f}"
        ]


def _session(id: str) -> str:
    return id.rpartition("-")[0]


def methods(turns: Sequence[Turn]) -> dict[str, Search]:
    """What is compared, over the same notes."""
    searched = remember(turns, embedder=embedders.wordllama())
    apart, recalled = (remember(turns, sessions=sessions) for sessions in (False, True))
    return {
        "FTS5, porter, no stop words": full_text_search(turns),
        "SEARCH by words": searching(searched, "keyword"),
        "SEARCH by meaning": searching(searched, "semantic"),
        "SEARCH by both": searching(searched, "hybrid"),
        "recall by words, no sessions": recalling(apart, meaning=False),
        "recall by words": recalling(recalled, meaning=False),
        "recall by both, no sessions": recalling(apart, meaning=True),
        "recall by both": recalling(recalled, meaning=True),
    }


Results = dict[str, dict[str, Scores]]
"""Scores by method, and by what the questions have in common; ``all`` is all questions."""


def measure(
    searches: dict[str, Search],
    questions: Iterable[Question],
    results: Results,
    missed: Callable[[str, Question, list[str]], None] = lambda method, question, ids: None,
    *,
    sessions: bool = True,
) -> None:
    """Ask each method each question, by turns, and add to the results.

    Without ``sessions`` each is asked for ten notes only, and five sessions are not compared.
    """
    for question in questions:
        for method, search in searches.items():
            start = time.process_time()
            ids = search(question.text, 10)
            seconds = time.process_time() - start
            long = search(question.text, LONG) if sessions else ids
            for group in ("all", question.kind, question.language):
                results[method][group].add(question, ids, long, seconds)
            if not set(question.answers) <= set(ids):
                missed(method, question, ids)


def new_results() -> Results:
    return defaultdict(lambda: defaultdict(Scores))


def table(results: Results, group: str) -> Iterator[str]:
    """The lines of a table in Markdown."""
    yield "| | R@5 | R@10 | MRR | first session | among five | ms |"
    yield "|---|---|---|---|---|---|---|"
    for method, groups in results.items():
        yield f"| {method} | {' | '.join(groups[group].cells())} |"


def table_of_groups(results: Results) -> Iterator[str]:
    """R@10 of each kind of question, and each language."""
    groups = list(next(iter(results.values())))[1:]
    groups.sort(key=lambda group: (group not in KINDS, group))
    counts = [len(next(iter(results.values()))[group].at_ten) for group in groups]
    heads = [f"{group} ({count})" for group, count in zip(groups, counts, strict=True)]
    yield f"| R@10 | {' | '.join(heads)} |"
    yield "|---" * (len(groups) + 1) + "|"
    for method, scores in results.items():
        cells = (f"{100 * fmean(scores[group].at_ten):.0f}" for group in groups)
        yield f"| {method} | {' | '.join(cells)} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.memory.recall", description=__doc__)
    parser.add_argument("--kinds", action="store_true", help="R@10 by kind and by language")
    parser.add_argument("--pairs", action="store_true", help="a nexus for each pair of speakers")
    parser.add_argument("--methods", help="only the methods whose name contains this")
    parser.add_argument("--misses", action="store_true", help="show what was not among ten")
    options = parser.parse_args()

    everything = conversations()
    texts = {turn.id: turn for conversation in everything for turn in conversation.turns}

    def show(method: str, question: Question, ids: list[str]) -> None:
        print(f"\n{method}: {question.text} [{question.kind}]")
        for id in question.answers:
            rank = f"{ids.index(id) + 1:2}" if id in ids else " -"
            print(f"  {rank} {id} {texts[id].speaker}: {texts[id].content}")
        for id in ids[:3]:
            print(f"     {id} {texts[id].speaker}: {texts[id].content}")

    results = new_results()
    nexuses = [[conversation] for conversation in everything] if options.pairs else [everything]
    for group in nexuses:
        turns = [turn for conversation in group for turn in conversation.turns]
        searches = {
            method: search
            for method, search in methods(turns).items()
            if not options.methods or options.methods in method
        }
        questions = [question for conversation in group for question in conversation.questions]
        if options.misses:
            measure(searches, questions, results, show)
        else:
            measure(searches, questions, results)
    print(*table(results, "all"), sep="\n")
    if options.kinds:
        print("", *table_of_groups(results), sep="\n")


if __name__ == "__main__":
    sys.exit(main())
