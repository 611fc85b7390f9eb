"""The nexus as of an earlier commit: every state equals the snapshot that was taken of it."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from tests.long_runs import SEED, amount

STATEMENTS = amount("HISTORIES", 40)
START = datetime(2026, 1, 1, tzinfo=UTC)
SCHEMA = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} }
  CONCEPT { {type: "$PropositionType", name: "treats"} }
}
"""
VALUES: list[Any] = [
    None, 1, 1.0, 0.0, -0.0, 10.5, True, "a text", "", ["b", "a", 1.0], {"z": 1, "a": [None]},
    {"@value": "Kopf", "@language": "de"}, {"@value": "7", "@type": "urn:x:t"}, "line\nbreak",
]  # fmt: skip


class Clock:
    """A clock that goes on by a second with each call, and sometimes back."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> datetime:
        self.calls += 1
        return START + timedelta(seconds=self.calls - (30 if self.calls % 7 == 0 else 0))


def change(nexus: kiprdf.Nexus, chance: random.Random) -> None:
    """Run a random statement; some fail, and write nothing."""
    one, other = (f"D{chance.randrange(6)}" for _ in range(2))
    key, value = chance.choice(["risk", "note", "tags"]), chance.choice(VALUES)
    commands = [
        f'UPSERT {{ CONCEPT {{ {{type: "Drug", name: :one}} SET ATTRIBUTES {{{key}: :value}} }} }}',
        """UPSERT { CONCEPT ?o { {type: "Drug", name: :other} }
        CONCEPT { {type: "Drug", name: :one} SET PROPOSITIONS { ("treats", ?o) } } }
        WITH METADATA { source: :one }""",
        'UPDATE ?d SET ATTRIBUTES { note: :value } WHERE { ?d {type: "Drug", name: :one} }',
        'DELETE ATTRIBUTES { "risk" } FROM ?d WHERE { ?d {type: "Drug"} }',
        'DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug", name: :one} }',
        'DELETE PROPOSITIONS ?l WHERE { ?l ({type: "Drug", name: :one}, "treats", ?o) }',
        """MERGE CONCEPT ?a INTO ?b
        WHERE { ?a {type: "Drug", name: :one} ?b {type: "Drug", name: :other} }""",
    ]
    weights = [6, 6, 3, 1, 2, 1, 2]
    nexus.execute_kip(
        {
            "command": chance.choices(commands, weights)[0],
            "parameters": {"one": one, "other": other, "value": value},
        }
    )


@pytest.fixture(params=["memory", "folder"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., kiprdf.Nexus]:
    if request.param == "memory":
        return lambda **options: kiprdf.Nexus.memory(history=True, **options)
    return lambda **options: kiprdf.Nexus.open(tmp_path / "kb", **options)


def test_every_state_equals_the_snapshot_of_its_commit(
    opened: Callable[..., kiprdf.Nexus],
) -> None:
    chance = random.Random(SEED)
    with opened(clock=Clock()) as nexus:
        nexus.execute(SCHEMA)
        snapshots: dict[int, str] = {}
        chosen = chance.sample(range(STATEMENTS), min(12, STATEMENTS))
        for statement in range(STATEMENTS):
            if statement in chosen:
                snapshots[nexus.info()["commit"]] = nexus.snapshot()
            change(nexus, chance)
        for number, snapshot in snapshots.items():
            with nexus.at(number) as past:
                assert past.snapshot() == snapshot
                report = past.check()
                assert (report["commit"], report["faults"]) == (number, [])
        with nexus.at(0) as empty:
            assert empty.snapshot() == "# kiprdf 1 base <urn:kip:nexus/>\n"


@pytest.fixture
def nexus() -> kiprdf.Nexus:
    """Three commits after those of the opening: a drug, its risk an hour later, its end."""
    hours = iter(range(100))
    moment = START

    def clock() -> datetime:
        return moment

    result = kiprdf.Nexus.memory(history=True, clock=clock)
    result.execute(SCHEMA)
    for command in (
        'UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES {risk: 2} } }',
        'UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES {risk: 3} } }',
        'DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug", name: "Aspirin"} }',
    ):
        moment = START + timedelta(hours=1 + next(hours))
        result.execute(command)
    return result


RISK = 'FIND(?d.attributes.risk) WHERE { ?d {type: "Drug"} }'


@pytest.mark.parametrize(
    ("when", "risk"),
    [
        ("2026-01-01T01:30:00Z", [2]),
        ("2026-01-01T02:00:00Z", [3]),
        ("2026-01-01T01:59:59.999Z", [2]),
        ("2026-01-01T03:30:00+02:00", [2]),
        (datetime(2026, 1, 1, 2, 30, tzinfo=UTC), [3]),
        ("2030-01-01T00:00:00Z", []),
        ("9999-12-31T23:59:59-23:00", []),
    ],
)
def test_time_means_the_last_commit_at_or_before_it(
    nexus: kiprdf.Nexus, when: str | datetime, risk: list[int]
) -> None:
    with nexus.at(when) as past:
        assert past.execute(RISK) == risk


@pytest.mark.parametrize("when", ["0999-01-01T00:00:00Z", "0001-01-01T00:00:00+10:00"])
def test_times_before_the_first_commit_are_refused(nexus: kiprdf.Nexus, when: str) -> None:
    with pytest.raises(kiprdf.KipError) as refused:
        nexus.at(when)
    assert refused.value.code == "KIP_3002"


def test_pages_of_a_past_state_have_each_row_once(
    opened: Callable[..., kiprdf.Nexus],
) -> None:
    with opened() as nexus:
        nexus.execute(SCHEMA)
        names = [f"D{number}" for number in range(20)]
        for name in names:
            nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: :name} } }', name=name)
        as_of = {"seq": nexus.info()["commit"]}
        command, parameters = 'FIND(?d.name) WHERE { ?d {type: "Drug"} } LIMIT 4', {}
        rows: list[str] = []
        for name in (*names[3::4], "Other"):
            request = {"command": command, "parameters": parameters, "as_of": as_of}
            response = nexus.execute_kip(request)
            rows += response["result"]
            assert response["snapshot_seq"] == as_of["seq"]
            if "next_cursor" not in response:
                break
            command = 'FIND(?d.name) WHERE { ?d {type: "Drug"} } LIMIT 4 CURSOR :cursor'
            parameters = {"cursor": response["next_cursor"]}
            nexus.execute("DELETE CONCEPT ?d DETACH WHERE { ?d {name: :name} }", name=name)
            nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: :new} } }', new=f"New {name}")
        assert sorted(rows) == sorted(names)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ('FIND(?d) WHERE { ?d {type: "Drug"} } AS OF 5', "AS OF"),
        ('FIND(?d) AS OF "2026-01-01" WHERE { ?d {type: "Drug"} }', "AS OF"),
        ('HISTORY ?d WHERE { ?d {type: "Drug"} }', "HISTORY"),
        ("CHANGES SINCE 5", "CHANGES"),
    ],
)
def test_commands_of_a_later_version_name_what_serves_here(
    nexus: kiprdf.Nexus, command: str, words: str
) -> None:
    error = nexus.execute_kip({"command": command})["error"]
    assert error["code"] == "KIP_1001"
    assert error["hint"].startswith(f"{words} is KIP 2.0;")
    assert error["hint"].endswith("send as_of.")


def test_a_past_state_has_no_history(nexus: kiprdf.Nexus) -> None:
    with nexus.at(3) as past:
        for ask in (lambda: past.history("C:Person/$self"), lambda: past.changes(0)):
            with pytest.raises(kiprdf.KipError, match="as of commit 3") as refused:
                ask()
            assert refused.value.hint == "Ask the nexus itself for its history."


def test_past_answers_every_kind_of_reading(nexus: kiprdf.Nexus) -> None:
    last = nexus.info()["commit"]
    with nexus.at(last - 1) as past:
        assert past.execute('SEARCH CONCEPT "aspirin" LIMIT 1')[0]["attributes"] == {"risk": 3}
        assert past.execute("DESCRIBE CONCEPT TYPES LIMIT 1") == ["$ConceptType"]
        assert "Aspirin" in past.export('EXPORT ?d WHERE { ?d {type: "Drug"} }')
        assert len(past.sparql("SELECT ?x { ?x <urn:kip:attribute/risk> 3 }")) == 1
        with nexus.at(last - 2) as earlier:
            (changed,) = earlier.diff(past).to_json()["concepts"]["changed"]
            assert changed["id"] == "C:Drug/Aspirin"
        refused = past.execute_kip({"command": SCHEMA})["error"]
    assert refused["code"] == "KIP_1001"
    assert refused["message"].endswith(f"This is the nexus as of commit {last - 1}.")
    assert nexus.execute(RISK) == []


@pytest.mark.parametrize(
    ("when", "code", "message"),
    [
        (99, "KIP_3002", "There is no commit 99; the last one is "),
        (-1, "KIP_3002", "There is no commit -1; the last one is "),
        ("2025-12-31T23:59:59Z", "KIP_3002", "The history has no commit at or before 2025-12-31"),
        ("2026-01-01", "KIP_1001", "'2026-01-01' is not a time with an offset."),
        ("2026-01-01T00:00:00", "KIP_1001", "'2026-01-01T00:00:00' is not a time with an offset."),
        ("yesterday", "KIP_1001", "'yesterday' is not a time with an offset."),
        (True, "KIP_1001", "A state is named by a commit or a time, not by bool."),
        (1.5, "KIP_1001", "A state is named by a commit or a time, not by float."),
    ],
)
def test_state_that_is_not_there_is_refused(
    nexus: kiprdf.Nexus, when: Any, code: str, message: str
) -> None:
    with pytest.raises(kiprdf.KipError) as refused:
        nexus.at(when)
    assert refused.value.code == code
    assert refused.value.message.startswith(message)


def test_nexus_without_history_has_no_past() -> None:
    with pytest.raises(kiprdf.KipError, match="KIP_1001 This nexus has no history"):
        kiprdf.Nexus.memory().at(1)


def test_state_within_a_gap_is_refused(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        first, text = nexus.info()["commit"], nexus.snapshot()
    with kiprdf.Nexus.open(tmp_path / "kb", history=False) as nexus:
        nexus.execute(SCHEMA)
        nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "A"} } }')
        last = nexus.info()["commit"]
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        for number, expected in ((last, nexus.snapshot()), (first, text)):
            with nexus.at(number) as past:
                assert past.snapshot() == expected
        with pytest.raises(kiprdf.KipError, match=f"Commits {first + 1} to {last} were written"):
            nexus.at(last - 1)


def test_files_of_a_past_are_removed(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        past = nexus.at(1)
        names = [path.name for path in (tmp_path / "kb" / "history").iterdir()]
        assert sum(name.startswith("past-") for name in names) == 1
        past.close()
        assert not list((tmp_path / "kb" / "history").glob("past-*"))
    (tmp_path / "kb" / "history" / "past-0").mkdir()
    kiprdf.Nexus.open(tmp_path / "kb").close()
    assert not list((tmp_path / "kb" / "history").glob("past-*"))


def test_reader_has_a_past(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        nexus.execute(SCHEMA)
        last = nexus.info()["commit"]
        with nexus.at(last - 1) as past:
            before = past.snapshot()
    with kiprdf.Nexus.open(tmp_path / "kb", read_only=True) as reader, reader.at(last - 1) as past:
        assert past.snapshot() == before


def test_request_may_ask_for_an_earlier_state(nexus: kiprdf.Nexus) -> None:
    last = nexus.info()["commit"]
    request = {"command": RISK, "as_of": {"seq": last - 1}}
    assert nexus.execute_kip(request) == {"result": [3], "snapshot_seq": last - 1}
    timed = {"command": RISK, "as_of": {"time": "2026-01-01T01:30:00Z"}}
    assert nexus.execute_kip_readonly(timed)["result"] == [2]
    item = {"command": RISK, "as_of": {"seq": last - 2}}
    batch = nexus.execute_kip({"commands": [item, RISK]})["result"]
    assert batch == [{"result": [2], "snapshot_seq": last - 2}, *[batch[1]]]
    assert batch[1]["result"] == []
    for as_of in ({}, {"seq": 1, "time": "2026-01-01T01:30:00Z"}, {"seq": 99}, {"seq": "1"}):
        assert "error" in nexus.execute_kip({"command": RISK, "as_of": as_of})
    write = nexus.execute_kip({"command": SCHEMA, "as_of": {"seq": last - 1}})
    assert write["error"]["hint"] == "Write to the nexus itself."
