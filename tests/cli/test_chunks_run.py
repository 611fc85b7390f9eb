"""``kiprdf chunks run``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kiprdf
from tests.cli.runner import invoke

RULES = """
start {of ?dog} =>
  dog {@module facts; @do get; @id ?dog},
  say {name ?dog}
say {name ?name}, dog {@module facts; age ?age} =>
  console {@do log; message ?name, is, ?age},
  console {@do show; value ?age; old true},
  say {@do clear}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules.chk").write_text(RULES)
    (tmp_path / "dogs.chk").write_text('dog rex {age 7}\ndog fido {age 4.5; likes "a bone"}')
    return tmp_path


def run(folder: Path, *options: str, goal: str = "start {of fido}") -> tuple[int, str, str]:
    done = invoke("chunks", "run", "--rules", str(folder / "rules.chk"), "--goal", goal, *options)
    return done.exit_code, done.stdout, done.stderr


def test_log_and_show_print_and_the_buffers_follow(folder: Path) -> None:
    status, printed, notes = run(folder, "--facts", str(folder / "dogs.chk"))
    assert (status, printed) == (
        0,
        'fido is 4.5\n4.5\nfacts: dog fido {age 4.5; likes "a bone"}\n',
    )
    assert notes == "2 firings; quiet.\n"


def test_json_has_firings_calls_buffers_and_statuses(folder: Path) -> None:
    status, printed, _ = run(folder, "--facts", str(folder / "dogs.chk"), "--json")
    assert status == 0
    assert json.loads(printed) == {
        "firings": [
            {"index": 0, "bindings": {"dog": "fido"}},
            {"index": 1, "bindings": {"name": "fido", "age": 4.5}},
        ],
        "calls": [
            {"name": "log", "module": "goal", "properties": {"message": ["fido", "is", 4.5]}},
            {"name": "show", "module": "goal", "properties": {"value": 4.5, "old": True}},
        ],
        "buffers": {
            "goal": None,
            "facts": {"type": "dog", "id": "fido", "properties": {"age": 4.5, "likes": "a bone"}},
            "rules": None,
        },
        "statuses": {"goal": "okay", "facts": "okay", "rules": "okay"},
        "failures": [],
        "stopped": "quiet",
    }


def test_a_trace_reads_like_a_story(folder: Path) -> None:
    _, printed, _ = run(
        folder, "--facts", str(folder / "dogs.chk"), "--trace", goal="start {of rex}"
    )
    assert printed.splitlines() == [
        "   goal holds start {of rex}",
        "1. Rule 1 (line 2) fires with dog = rex",
        "   facts looks for dog {}",
        "   facts holds dog rex {age 7}",
        "   goal holds say {name rex}",
        "2. Rule 2 (line 5) fires with name = rex, age = 7",
        "rex is 7",
        "7",
        "   goal is done",
        "   goal is empty",
        "facts: dog rex {age 7}",
    ]


def test_a_module_may_be_a_file_or_the_folder_of_a_nexus(folder: Path) -> None:
    with kiprdf.Nexus.open(folder / "nexus") as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "dog"} } }')
        nexus.execute(
            'UPSERT { CONCEPT { {type: "dog", name: "bello"} SET ATTRIBUTES { age: 3 } } }'
        )
    _, printed, _ = run(folder, "--module", f"facts={folder / 'nexus'}", goal="start {of bello}")
    assert printed.splitlines()[0] == "bello is 3"


def test_a_failed_operation_and_the_limit_are_noted(folder: Path) -> None:
    (folder / "rules.chk").write_text("a {} => a {}, x {@do fly}")
    status, printed, notes = run(folder, "--max-cycles", "2", goal="a {}")
    assert (status, printed) == (0, "goal: a {} (failed)\n")
    assert notes.splitlines() == [
        "fly in goal failed: There is no operation fly.",
        "fly in goal failed: There is no operation fly.",
        "2 firings; limit.",
    ]


def test_a_fault_of_the_goal_has_its_place(folder: Path) -> None:
    status, printed, notes = run(folder, goal="start {of")
    assert (status, printed) == (1, "")
    assert notes.startswith("kiprdf: --goal:1:10: ")


@pytest.mark.parametrize(
    ("rules", "options", "message"),
    [
        ("a {} =>", (), "rules.chk:1:8: "),
        ("\na {@module b} => c {}", (), "rules.chk:2:1: There is no module b"),
        ("a {} => b {}", ("--module", "facts"), "facts is not NAME=FILE"),
        ("a {} => b {}", ("--facts", "missing.chk"), "missing.chk"),
    ],
)
def test_a_fault_is_one_sentence(
    folder: Path, rules: str, options: tuple[str, ...], message: str
) -> None:
    (folder / "rules.chk").write_text(rules)
    status, printed, notes = run(folder, *options)
    assert (status > 0, printed) == (True, "")
    assert message in notes
    assert "Traceback" not in notes
