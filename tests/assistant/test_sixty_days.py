"""After each week of an assistant's life its memory answers what the record of the truth does.

The days are lived once, by requests of the protocol on a folder; the tests only compare answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from tests.assistant.life import DAYS, Life
from tests.assistant.questions import ASKED, Asked
from tests.assistant.record import Name

# One process lives the days.
pytestmark = pytest.mark.xdist_group("assistant")

WEEKS = range(1, DAYS // 7 + 1)
REOPENED_ON = 30
COPIES = ("reopened", "backup", "rdf11", "rdf12")


@dataclass
class Lived:
    """The answers after each week, beside those of the record, and the life at its end."""

    life: Life
    weeks: dict[int, dict[str, tuple[Any, Any]]] = field(default_factory=dict)


def answers(life: Life, ask: Callable[..., Any]) -> dict[str, tuple[Any, Any]]:
    """What the record and a nexus answer to each question."""
    asked = Asked(ask, life.at, life.record)
    return {
        name: (expected(life.record), question(asked))
        for name, (question, expected) in ASKED.items()
    }


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lived]:
    """Sixty days; the nexus is closed and opened again in the middle."""
    life = Life(tmp_path_factory.mktemp("assistant") / "memory")
    lived = Lived(life)
    for day in range(DAYS):
        if day == REOPENED_ON:
            life.restart()
        life.live(day)
        if (day + 1) % 7 == 0:
            lived.weeks[(day + 1) // 7] = answers(life, life.ask)
    yield lived
    life.nexus.close()


def test_some_thousand_concepts_were_written(lived: Lived) -> None:
    assert lived.life.record.created > 2_000


def test_every_answer_and_receipt_was_expected_while_the_days_were_lived(lived: Lived) -> None:
    assert lived.life.surprises == []


@pytest.mark.parametrize("question", ASKED)
@pytest.mark.parametrize("week", WEEKS)
def test_the_memory_answers_as_the_truth_does(lived: Lived, week: int, question: str) -> None:
    expected, actual = lived.weeks[week][question]
    assert actual == expected


@pytest.fixture(scope="module", params=COPIES)
def copy(
    request: pytest.FixtureRequest, lived: Lived, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[Any, Any]]:
    """The answers of the nexus opened again, of its backup, and of its restored snapshots."""
    life, folder = lived.life, tmp_path_factory.mktemp("copies")
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


@pytest.mark.parametrize("question", ASKED)
def test_a_copy_answers_as_the_truth_does(copy: dict[str, tuple[Any, Any]], question: str) -> None:
    expected, actual = copy[question]
    assert actual == expected


def test_a_merged_double_is_named_by_the_hint(lived: Lived) -> None:
    life = lived.life
    merged = [name for name in life.doubles if name not in life.record.concepts]
    double, person = merged[0], life.doubles[merged[0]]
    assert isinstance(person, Name)
    command = 'FIND(?p) WHERE { ?p {type: "Person", name: :name} }'
    request = {"command": command, "parameters": {"name": double.name}}
    error = life.nexus.execute_kip_readonly(request)["error"]
    assert (error["code"], f'name: "{person.name}"' in error["hint"]) == ("KIP_3002", True)


def test_the_graph_and_the_index_are_sound_in_the_end(lived: Lived) -> None:
    report = lived.life.nexus.check()
    assert (report["faults"], report["index"]) == ([], "sound")
