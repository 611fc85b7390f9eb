"""What a reader of two scopes gets is what a nexus answers that has their content alone."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kiprdf import KipError, Nexus, View
from kiprdf.execution import empty_answers
from kiprdf.memory import recall
from tests.long_runs import SEED, amount
from tests.scopes.questions import Question, Questions, without_examples
from tests.scopes.timing import ATTEMPTS, differs
from tests.scopes.world import BASES, World, leaked, ticking
from tests.store.unions import DEFINITIONS, Writing, union

QUESTIONS = amount("QUESTIONS", 250)
"""Three fifths are asked of views, a tenth of earlier states of these, the rest of a server."""
PER_WORLD = 150


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time for all explanations of empty answers, also on a busy machine."""
    monkeypatch.setattr(empty_answers, "SECONDS", 60)
    monkeypatch.setattr(recall, "_VECTOR_SECONDS", 60)


@pytest.mark.parametrize("number", range(-(-QUESTIONS * 3 // 5 // PER_WORLD)))
def test_a_view_answers_as_a_nexus_with_what_is_visible_alone(number: int) -> None:
    world = World(random.Random(f"{SEED} scopes {number}"))
    questions, differing = iter(Questions(world)), Counter[bool]()
    for question in itertools.islice(questions, PER_WORLD):
        # What others are answered before changes nothing.
        is_asked = world.choose.random() < 0.15
        other = question.ask(world.everything) if is_asked else None
        answer = asked(question, world.view, world.expected)
        if is_asked:
            differing[answer != other] += 1
    # With the hidden nexus in it, half of the answers are others.
    assert differing[True] > differing.total() // 5, differing
    # An earlier state has what was visible then.
    when = datetime(2026, 1, 2, tzinfo=UTC) + timedelta(seconds=world.choose.randint(3, 15))
    members = [member.at(when) for member in (world.team, world.ada)]
    expected = union(members, world.view.base_iri)
    expected.store.read_only = True  # type: ignore[attr-defined]
    with world.view.at(when) as past:
        for question in itertools.islice(questions, PER_WORLD // 6):
            asked(question, past, expected)
    world.close()


def asked(question: Question, view: Nexus, expected: Nexus) -> Any:
    """The answer of a view, which is the expected one, and has no word of what is hidden."""
    answer = question.ask(view)
    other = question.ask(expected)
    assert without_examples(answer) == without_examples(other), (question.kind, question.text)
    assert leaked(question.text, answer) == [], (question.kind, question.text, answer)
    return answer


@pytest.mark.parametrize("number", range(-(-QUESTIONS // 250)))
def test_what_is_expected_is_what_a_nexus_has_to_which_all_was_written(number: int) -> None:
    choose = random.Random(f"{SEED} written {number}")
    base = choose.choice(BASES)
    members = [Nexus.memory(choose.choice(BASES), clock=ticking(at)) for at in (0, 1)]
    view = View(members, base_iri=base)
    writing = Writing(choose)
    written: list[list[str]] = []
    for member, text in zip(members, ("things", "red things"), strict=True):
        texts = [DEFINITIONS.replace(":text", f'"{text}"')]
        texts += [choose.choice((writing.upsert, writing.nested))() for _ in range(12)]
        written.append([text for text in texts if was_accepted(member, text)])
    one = Nexus.memory(view.base_iri)
    for text in itertools.chain(*written):
        one.execute(text)
    expected = one.snapshot(engine_metadata=False)
    assert union(members, view.base_iri).snapshot(engine_metadata=False) == expected
    assert view.snapshot(engine_metadata=False) == expected


def test_what_is_hidden_takes_as_long_as_what_is_nowhere() -> None:
    world = World(random.Random(SEED))

    def asking(text: str, words: str) -> Callable[[], object]:
        return lambda: world.view.execute_kip({"command": text % words})

    for text, hidden, nowhere in (
        ('FIND(?x) WHERE { ?x {name: "%s"} }', "Vexmoor Klund", "Vexmxxr Klund"),
        ('DESCRIBE CONCEPT TYPE "%s"', "Zorblaxian", "Zorbxaxian"),
        ('SEARCH CONCEPT "%s"', "znarfle", "znxrfle"),
    ):
        one, other = asking(text, hidden), asking(text, nowhere)
        assert not all(differs(one, other) for _ in ATTEMPTS), text
    world.close()


def was_accepted(nexus: Nexus, text: str) -> bool:
    with suppress(KipError):
        nexus.execute(text)
        return True
    return False
