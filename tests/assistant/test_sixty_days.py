"""After each week of an assistant's life its memory answers what the record of the truth does.

The days are lived once, by requests of the protocol on a folder, until the week of the test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from tests.assistant.life import DAYS, Life
from tests.assistant.questions import ASKED, Asked
from tests.assistant.record import Name

WEEKS = range(1, DAYS // 7 + 1)
REOPENED_ON = 30
COPIES = ("reopened", "backup", "rdf11", "rdf12")


def answers(life: Life, ask: Callable[..., Any]) -> dict[str, tuple[Any, Any]]:
    """What the record and a nexus answer to each question."""
    asked = Asked(ask, life.at, life.record)
    return {
        name: (expected(life.record), question(asked))
        for name, (question, expected) in ASKED.items()
    }


class Weeks:
    """A life that goes on until the week that a test asks for."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self._answers: list[dict[str, tuple[Any, Any]]] = []
        self._days = iter(range(DAYS))

    def answers(self, week: int) -> dict[str, tuple[Any, Any]]:
        """What the record and the nexus answered after a week."""
        while len(self._answers) < week:
            self._live(7)
            self._answers.append(answers(self._life, self._life.ask))
        return self._answers[week - 1]

    def end(self) -> Life:
        """The life after its last day."""
        self.answers(WEEKS[-1])
        self._live(DAYS)
        return self._life

    def _live(self, days: int) -> None:
        """Live some of the days that are left; the nexus is opened again in the middle of all."""
        for day in islice(self._days, days):
            if day == REOPENED_ON:
                self._life.restart()
            self._life.live(day)


@pytest.fixture(scope="module")
def weeks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Weeks]:
    life = Life(tmp_path_factory.mktemp("assistant") / "memory")
    yield Weeks(life)
    life.nexus.close()


@pytest.mark.parametrize("week", WEEKS)
def test_the_memory_answers_as_the_truth_does(weeks: Weeks, week: int) -> None:
    for question, (expected, actual) in weeks.answers(week).items():
        assert actual == expected, question


@pytest.fixture(scope="module")
def life(weeks: Weeks) -> Life:
    return weeks.end()


def test_some_thousand_concepts_were_written(life: Life) -> None:
    assert life.record.created > 1_300


def test_every_answer_and_receipt_was_expected_while_the_days_were_lived(life: Life) -> None:
    assert life.surprises == []


@pytest.fixture(scope="module", params=COPIES)
def copy(
    request: pytest.FixtureRequest, life: Life, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[Any, Any]]:
    """The answers of the nexus opened again, of its backup, and of its restored snapshots."""
    folder = tmp_path_factory.mktemp("copies")
    if request.param == "reopened":
        life.restart()
        return answers(life, life.ask)
    if request.param == "backup":
        life.nexus.backup(folder / "backup")
        nexus = kiprdf.Nexus.open(folder / "backup", clock=lambda: life.moment)
    else:
        path = Path(folder / "snapshot.ttl")
        life.nexus.snapshot(path, profile=request.param)
        nexus = kiprdf.Nexus.memory(clock=lambda: life.moment)
        nexus.restore(path)

    def ask(command: str, **parameters: Any) -> Any:
        return nexus.execute(command, **parameters)

    with nexus:
        return answers(life, ask)


def test_a_copy_answers_as_the_truth_does(copy: dict[str, tuple[Any, Any]]) -> None:
    for question, (expected, actual) in copy.items():
        assert actual == expected, question


def test_a_merged_double_is_named_by_the_hint(life: Life) -> None:
    merged = [name for name in life.doubles if name not in life.record.concepts]
    double, person = merged[0], life.doubles[merged[0]]
    assert isinstance(person, Name)
    command = 'FIND(?p) WHERE { ?p {type: "Person", name: :name} }'
    request = {"command": command, "parameters": {"name": double.name}}
    error = life.nexus.execute_kip_readonly(request)["error"]
    assert (error["code"], f'name: "{person.name}"' in error["hint"]) == ("KIP_3002", True)


def test_the_graph_and_the_index_are_sound_in_the_end(life: Life) -> None:
    report = life.nexus.check()
    assert (report["faults"], report["index"]) == ([], "sound")
