"""``kiprdf chunks check`` and ``kiprdf chunks show``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.runner import invoke

TEXT = """
# animals
dog dog1 { name "Fido"; age 4; likes ?x, !y, true }
dog kindof mammal
a {x 1}, !b {} => c {@do clear}
rule r1 {@condition c1; @action a1} d c1 {} e a1 {}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "animals.chk"
    path.write_text(TEXT)
    return path


def test_check_of_a_correct_file_prints_nothing_but_a_count(file: Path) -> None:
    done = invoke("chunks", "check", str(file), str(file))
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "2 files, 0 faults.\n")


def test_check_prints_each_fault_with_its_place(file: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.chk"
    rules.write_text(
        "a {x !?y} => b {}\n\nrule r {@condition c; @action a}\na {@module facts} => b {x !y}\n"
    )
    syntax = tmp_path / "syntax.chk"
    syntax.write_text("dog d {\n  age 4 name Fido\n}\n")
    done = invoke("chunks", "check", str(rules), str(file), str(syntax))
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        f"{rules}:1:1: !?y negates a variable without a value.",
        f"{rules}:3:1: The rule 'r' cites 'c', which is not a chunk here.",
        f"{rules}:4:1: An action that writes a value cannot negate it, as in x; "
        "x ! removes the property.",
        f"{syntax}:2:9: Here ';', a line break or '}}' is expected, not 'name'.",
    ]
    assert done.stderr == "3 files, 4 faults.\n"


def test_check_prints_the_faults_before_a_file_that_is_missing(tmp_path: Path) -> None:
    faulty, missing = tmp_path / "faulty.chk", tmp_path / "missing.chk"
    faulty.write_text("dog {")
    done = invoke("chunks", "check", str(faulty), str(missing))
    assert done.exit_code == 1
    assert done.stdout.startswith(f"{faulty}:1:6: The text ends where")
    assert str(missing) in done.stderr


def test_show_prints_canonical_text_and_counts(file: Path) -> None:
    done = invoke("chunks", "show", str(file))
    assert done.exit_code == 0
    assert done.stdout == (
        'dog dog1 {\n  name "Fido"\n  age 4\n  likes ?x, !y, true\n}\n'
        "dog kindof mammal\n"
        "a {x 1},\n!b {}\n=> c {@do clear}\n"
        "rule r1 {\n  @condition c1\n  @action a1\n}\nd c1 {}\ne a1 {}\n"
    )
    assert done.stderr == "4 chunks, 1 link, 2 rules.\n"


def test_show_prints_json(file: Path) -> None:
    statements = json.loads(invoke("chunks", "show", str(file), "--format", "json").stdout)
    properties = {"name": "Fido", "age": 4, "likes": ["?x", "!y", True]}
    assert statements[:3] == [
        {"type": "dog", "id": "dog1", "properties": properties},
        {"subject": "dog", "label": "kindof", "object": "mammal"},
        {
            "conditions": [
                {"type": "a", "id": None, "properties": {"x": 1}, "negated": False},
                {"type": "b", "id": None, "properties": {}, "negated": True},
            ],
            "actions": [{"type": "c", "id": None, "properties": {"@do": "clear"}}],
        },
    ]


def test_show_prints_turtle_of_standard_input() -> None:
    done = invoke("chunks", "show", "-", "--format", "turtle", input="dog dog1 {age 4}")
    assert done.stdout.splitlines()[-2:] == [":dog1 a :dog ;", "\t:age 4 ."]


def test_show_prints_turtle_with_the_names_of_a_mapping() -> None:
    text = 'Person ann {given_name "Ann"}'
    options = ("--format", "turtle", "--mapping", "foaf")
    done = invoke("chunks", "show", "-", *options, input=text)
    assert done.stdout.splitlines()[-2:] == [":ann a foaf:Person ;", '\tfoaf:givenName "Ann" .']
    refused = invoke("chunks", "show", "-", "--mapping", "foaf", input=text)
    assert refused.exit_code == 2
    assert "--mapping needs --format turtle." in refused.stderr


def test_show_of_a_faulty_file_is_an_error_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "faulty.chk"
    path.write_text("dog {")
    done = invoke("chunks", "show", str(path))
    assert (done.exit_code, done.stdout) == (1, "")
    assert f"{path}:1:6: The text ends where" in done.stderr


def test_other_commands_start_without_what_takes_long_to_load() -> None:
    slow = {"pyparsing", "pydantic", "rdflib", "kiprdf.chunks"}
    code = f"import sys; from kiprdf.cli import app; sys.exit(bool({slow} & {{*sys.modules}}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
