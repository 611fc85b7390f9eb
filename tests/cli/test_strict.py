"""The options --strict and --no-strict (docs/decisions/054)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kiprdf.nexus import Nexus
from tests.nexus.test_strict_schema import BAD, SENSOR

from .conftest import Invoke


def is_strict(invoke: Invoke) -> bool:
    """What ``kiprdf info`` says."""
    facts = json.loads(invoke("info", "--json").stdout)
    assert isinstance(facts["strict_schema"], bool)
    return bool(facts["strict_schema"])


def test_later_commands_obey_what_run_strict_has_stored(invoke: Invoke) -> None:
    assert invoke("run", SENSOR, "--strict").exit_code == 0
    answer = invoke("run", BAD)
    assert answer.exit_code == 1
    assert answer.stderr.startswith("KIP_2002 1:20 Sensor 't1' lacks the required attribute")


def test_no_strict_reverses_it(invoke: Invoke) -> None:
    invoke("run", SENSOR, "--strict")
    assert invoke("run", BAD, "--no-strict").exit_code == 0
    assert is_strict(invoke) is False


def test_a_strict_nexus_of_the_library_is_strict_on_the_command_line(
    invoke: Invoke, tmp_path: Path
) -> None:
    with Nexus.open(tmp_path / "nexus", strict_schema=True) as nexus:
        nexus.execute(SENSOR)
    assert invoke("run", BAD).exit_code == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "DESCRIBE DOMAINS", "--strict"),
        ("load", "medical", "--strict"),
        ("shell", "--strict"),
    ],
)
def test_each_command_that_opens_for_writing_can_make_a_nexus_strict(
    invoke: Invoke, arguments: tuple[str, ...]
) -> None:
    assert invoke(*arguments).exit_code == 0
    assert is_strict(invoke) is True


def test_import_and_restore_can_make_a_nexus_strict(invoke: Invoke, tmp_path: Path) -> None:
    people = tmp_path / "people.ttl"
    people.write_text("<https://example.org/a> a <https://example.org/Thing> .\n", "utf-8")
    assert invoke("import", "people.ttl", "--define", "--strict").exit_code == 0
    assert is_strict(invoke) is True
    assert invoke("snapshot", "all.ttl").exit_code == 0
    assert invoke("restore", "all.ttl", "--nexus", "copy", "--strict").exit_code == 0
    assert "strict_schema      true" in invoke("info", "--nexus", "copy").stdout


def test_a_nexus_created_for_a_refused_command_is_deleted_though_strict(
    invoke: Invoke, tmp_path: Path
) -> None:
    assert invoke("run", BAD, "--strict").exit_code == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("run", BAD, "--strict", "--dry-run"), "--read-only or --dry-run"),
        (("run", "DESCRIBE DOMAINS", "--no-strict", "--readonly"), "--read-only or --dry-run"),
        (("shell", "--strict", "--read-only"), "--read-only"),
        (("import", "-", "--strict", "--dry-run"), "--dry-run"),
    ],
)
def test_strict_is_refused_where_nothing_is_stored(
    invoke: Invoke, arguments: tuple[str, ...], reason: str
) -> None:
    answer = invoke(*arguments)
    assert answer.exit_code == 2
    assert f"cannot be combined with {reason}" in " ".join(answer.stderr.replace("│", "").split())
