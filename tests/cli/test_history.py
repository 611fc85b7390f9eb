"""``kiprdf at``, ``history``, ``changes`` and ``undo``."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import kiprdf
from tests.cli.runner import invoke

RISK = 'FIND(?d.attributes.risk) WHERE { ?d {type: "Drug"} }'


@pytest.fixture
def folder(tmp_path: Path) -> tuple[str, int]:
    """A nexus in which an agent raised a risk, and the commit of that."""
    path = tmp_path / "brain"
    with kiprdf.Nexus.open(path) as nexus:
        nexus.execute(
            'UPSERT { CONCEPT { {type: "$ConceptType", name: "Drug"} } '
            'CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES {risk: 2} } }'
        )
        with nexus.acting(author="agent-7", session="s-1"):
            nexus.execute(
                'UPSERT { CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES {risk: 3} } }'
            )
        return str(path), nexus.info()["commit"]


def test_at_runs_a_command_on_an_earlier_state(folder: tuple[str, int]) -> None:
    path, last = folder
    done = invoke("at", str(last - 1), RISK, "--nexus", path, "--json")
    assert json.loads(done.stdout) == {"result": [2]}
    failed = invoke("at", "99", RISK, "--nexus", path)
    assert (failed.exit_code, failed.stdout) == (1, "")
    assert f"There is no commit 99; the last one is {last}." in failed.stderr


def test_history_and_changes_are_text_or_json(folder: tuple[str, int]) -> None:
    path, last = folder
    lines = invoke("history", "C:Drug/A", "--nexus", path).stdout.splitlines()
    assert lines[0].startswith(f"{last} 20")
    assert lines[0].endswith("Z model/agent-7 s-1: changed by UPSERT")
    assert lines[1] == "    ~ attributes.risk: 2 -> 3"
    page = json.loads(invoke("history", "C:Drug/A", "--nexus", path, "--json").stdout)
    assert [entry["change"] for entry in page["entries"]] == ["changed", "created"]
    options = ("--since", str(last - 1), "--author", "agent-7", "--nexus", path)
    lines = invoke("changes", *options).stdout.splitlines()
    assert lines[1:] == ["    ~ Drug:A"]
    (commit,) = json.loads(invoke("changes", *options, "--json").stdout)["commits"]
    assert commit["seq"] == last


def test_authors_and_values_cannot_forge_lines_or_control_the_terminal(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "brain")
    with kiprdf.Nexus.open(path) as nexus:
        before = nexus.info()["commit"]
        author, session = "x\n99 2026-01-01Z: FORGET", "\x1b[31mred\u202e"
        with nexus.acting(author=author, session=session):
            nexus.execute(
                'UPSERT { CONCEPT { {type: "Person", name: "Ada"} SET ATTRIBUTES {a: :a} } }',
                a="\x9b31m",
            )
    who = r"model/x\u000a99 2026-01-01Z: FORGET \u001b[31mred\u202e"
    options = ("--nexus", path)
    lines = invoke("changes", "--since", str(before), *options).stdout.split("\n")
    assert lines[0].endswith(f"Z {who}: UPSERT")
    assert lines[1:] == ["    + Person:Ada", ""]
    lines = invoke("history", "C:Person/Ada", *options).stdout.split("\n")
    assert lines[0].endswith(f"Z {who}: created by UPSERT")
    assert lines[1] == r'    + attributes.a: "\u009b31m"'


def test_undo_shows_its_plan_and_writes(folder: tuple[str, int]) -> None:
    path, _ = folder
    dry = invoke("undo", "--session", "s-1", "--dry-run", "--nexus", path)
    assert (dry.stdout, dry.stderr) == ("C:Drug/A: changed\n", "Dry run: nothing was written.\n")
    assert invoke("undo", "--session", "s-1", "--nexus", path).stdout == "C:Drug/A: changed\n"
    with kiprdf.Nexus.open(path, read_only=True) as nexus:
        assert nexus.execute(RISK) == [2]
    assert invoke("undo", "--nexus", path).exit_code == 1


def test_an_empty_answer_of_the_history_says_so(folder: tuple[str, int]) -> None:
    path, last = folder
    for options in (
        ("changes", "--since", str(last)),
        ("changes", "--since", "0", "--type", "drug"),
        ("history", "C:Drug/A", "--key", "attributes.dose"),
    ):
        done = invoke(*options, "--nexus", path)
        assert (done.exit_code, done.stdout, done.stderr) == (0, "", "No changes.\n")
    dry = invoke("undo", "--session", "s-2", "--dry-run", "--nexus", path)
    assert dry.stderr == "Nothing to undo.\nDry run: nothing was written.\n"


def test_forget_shows_its_plan_and_erases(folder: tuple[str, int]) -> None:
    path, last = folder
    command = 'FIND(?d) WHERE { ?d {type: "Drug", name: :name} }'
    options = ("forget", command, "--param", 'name="A"', "--nexus", path)
    dry = invoke(*options, "--dry-run")
    assert dry.stdout.splitlines()[0] == "C:Drug/A"
    assert dry.stderr == "Dry run: nothing was written.\n"
    report = json.loads(invoke(*options, "--json").stdout)
    assert (report["elements"], report["seq"]) == (["C:Drug/A"], last + 1)
    assert invoke(*options).exit_code == 1
    compact = invoke("compact-history", "--before", str(last), "--nexus", path)
    assert compact.stdout == f"The history begins at commit {last}.\n"
    assert invoke("at", str(last - 1), RISK, "--nexus", path).exit_code == 1


def test_a_list_of_what_was_forgotten_is_exported_and_applied(tmp_path: Path) -> None:
    brain, copy, list_ = (str(tmp_path / name) for name in ("brain", "copy", "list.txt"))
    people = 'FIND(?p.name) WHERE { ?p {type: "Person"} }'
    with kiprdf.Nexus.open(brain) as nexus:
        for name in ("Jane", "Ann"):
            nexus.execute(f'UPSERT {{ CONCEPT {{ {{type: "Person", name: "{name}"}} }} }}')
        nexus.backup(copy)
        nexus.snapshot(tmp_path / "m.ttl")
        (tmp_path / "m.kip").write_text(nexus.export())
        nexus.forget(["C:Person/Jane"])
        text = nexus.erasures()
    assert invoke("erasures", "export", "--nexus", brain).stdout == text
    assert invoke("erasures", "export", list_, brain).stderr == f"Wrote {list_}, 2 lines.\n"
    assert Path(list_).read_text() == text
    dry = invoke("erasures", "apply", list_, copy, "--dry-run")
    assert (dry.exit_code, dry.stderr) == (0, "Dry run: nothing was written.\n")
    assert dry.stdout == (
        "1 element erased, 1 commit of the history rewritten, 1 digest added to the list\n"
    )
    assert "Jane" in invoke("run", people, copy).stdout
    # A command that reads opens the folder for writing first.
    read = invoke("run", people, copy, "--erasures", list_)
    assert (read.exit_code, "Jane" in read.stdout, "Ann" in read.stdout) == (0, False, True)
    assert read.stderr.startswith(f"Erased 1 element of {copy}, which {list_} names.\n")
    again = invoke("erasures", "apply", list_, copy, "--json")
    assert json.loads(again.stdout) == {
        "erased": 0,
        "commits": 0,
        "listed": 0,
        "seq": None,
    }
    assert invoke("info", copy, "--erasures", list_).stderr == ""
    # Copies that are files.
    new = str(tmp_path / "new")
    restored = invoke("restore", str(tmp_path / "m.ttl"), "-n", new, "--erasures", list_)
    assert restored.stdout.splitlines()[1:] == ["  1 element left out: the erasure list names them"]
    assert "Jane" not in invoke("run", people, new).stdout
    loaded = invoke("load", str(tmp_path / "m.kip"), "-n", brain)
    assert loaded.stdout.splitlines()[1:] == ["  1 element left out: the erasure list names them"]
    as_json = invoke("load", str(tmp_path / "m.kip"), "-n", brain, "--json")
    assert json.loads(as_json.stdout)["erased"] == 1


def test_a_list_that_cannot_be_applied_is_one_sentence(tmp_path: Path) -> None:
    brain, list_ = str(tmp_path / "brain"), str(tmp_path / "list.txt")
    kiprdf.Nexus.open(brain).close()
    for place, message in (
        (brain, "list.txt: No such file"),
        (str(tmp_path / "no"), "list.txt: No such file"),
    ):
        missing = invoke("erasures", "apply", list_, place)
        assert (missing.exit_code, message in missing.stderr) == (1, True), missing.stderr
    assert invoke("info", brain, "--erasures", list_).exit_code == 1
    Path(list_).write_text("kiprdf erasures 1\n")
    url = invoke("info", "http://127.0.0.1:1/", "--erasures", list_)
    assert url.stderr == (
        "kiprdf: --erasures belongs to a folder, and http://127.0.0.1:1/ is none.\n"
    )
    missing = invoke("erasures", "apply", list_, str(tmp_path / "no"))
    assert (missing.exit_code, (tmp_path / "no").exists()) == (1, False)
    Path(list_).write_text("Jane\n")
    broken = invoke("check", brain, "--erasures", list_)
    assert broken.stderr.startswith(
        "KIP_1001 Line 1 of the erasure list is not 'kiprdf erasures 1'."
    )


def test_snapshot_with_history_is_restored(folder: tuple[str, int], tmp_path: Path) -> None:
    path, last = folder
    file, log, copy = (str(tmp_path / name) for name in ("m.ttl", "m.rdfp", "copy"))
    written = invoke("snapshot", file, "--history", log, "--nexus", path)
    assert written.stderr == f"Wrote {file} and {log}.\n"
    assert invoke("restore", file, "--history", log, "--nexus", copy).exit_code == 0
    with kiprdf.Nexus.open(copy, read_only=True) as nexus:
        assert nexus.info()["history"] == {"earliest_seq": 0, "latest_seq": last}
    assert invoke("snapshot", "--history", log, "--nexus", path).exit_code == 1


def test_changes_from_the_beginning_name_facts_and_what_was_forgotten(tmp_path: Path) -> None:
    path = str(tmp_path / "kb")
    with kiprdf.Nexus.open(path) as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$PropositionType", name: "knows"} } }')
        nexus.execute(
            """UPSERT {
              CONCEPT ?a { {type: "Person", name: "Ada, Countess"} }
              CONCEPT ?b { {type: "Person", name: "Bob"} }
              PROPOSITION ?f { (?a, "knows", ?b) }
            }"""
        )
        [fact] = nexus.execute('FIND(?l.id) WHERE { ?l (?a, "knows", ?b) }')
        nexus.execute(
            """UPSERT { CONCEPT ?b { {type: "Person", name: "Bob"} }
            PROPOSITION { (?b, "knows", (id: :fact)) } }""",
            fact=fact,
        )
        begun = nexus.info()["commit"] - 1
    text = '(Person:"Ada, Countess", knows, Person:Bob)'
    lines = invoke("changes", "--nexus", path).stdout.splitlines()
    assert lines[0].startswith("1 20")
    assert f"    + {text}" in lines
    lines = invoke("changes", "--since", str(begun), "--nexus", path).stdout.splitlines()
    assert lines[1:] == [f"    + (Person:Bob, knows, {text})"]
    with kiprdf.Nexus.open(path) as nexus:
        nexus.compact_history(before=begun)
        nexus.forget('FIND(?p) WHERE { ?p {type: "Person", name: "Bob"} }')
    lines = invoke("changes", "--nexus", path).stdout.splitlines()
    assert [line.split(" ", 2)[2] if line[0] != " " else line for line in lines] == [
        "FORGET",
        "    3 elements forgotten",
    ]


@pytest.mark.parametrize("name", ["derived", "dry_run"])
def test_a_parameter_of_forget_has_no_name_of_an_option(folder: tuple[str, int], name: str) -> None:
    command = f'FIND(?p) WHERE {{ ?p {{type: "Person", name: :{name}}} }}'
    done = invoke("forget", command, "--param", f'{name}="A"', "--dry-run", "--nexus", folder[0])
    assert done.exit_code == 1
    assert f"KIP_1001 A parameter of this command cannot be called '{name}'." in done.stderr


def test_undo_and_forget_show_the_ends_of_links(tmp_path: Path) -> None:
    path = str(tmp_path / "people")
    with kiprdf.Nexus.open(path) as nexus:
        nexus.execute(
            'UPSERT { CONCEPT { {type: "$ConceptType", name: "Person"} }'
            ' CONCEPT { {type: "$PropositionType", name: "knows"} } }'
        )
        nexus.execute(
            'UPSERT { CONCEPT ?a { {type: "Person", name: "Ada L."} }'
            ' CONCEPT ?b { {type: "Person", name: "Bo\u202eb"} }'
            ' PROPOSITION { (?a, "knows", ?b) } }'
        )
        last = nexus.info()["commit"]
    link = r'P:\w{16}:knows \(Person:Ada L\., knows, Person:"Bo\\u202eb"\)'
    names = (r"C:Person/Ada L\.", r"C:Person/Bo\\u202eb")
    options = ("--seq", str(last), "--nexus", path)
    for dry in (("--dry-run",), ()):
        lines = invoke("undo", *options, *dry).stdout.splitlines()
        for line, name in zip(lines, (link, *names), strict=True):
            assert re.fullmatch(f"{name}: deleted", line)
    restored = invoke("undo", "--seq", str(last + 1), "--nexus", path).stdout.splitlines()
    assert re.fullmatch(f"{link}: restored", restored[0])
    forget = ("forget", 'FIND(?p) WHERE { ?p {type: "Person", name: "Ada L."} }', "--nexus", path)
    for dry in (("--dry-run",), ()):
        lines = invoke(*forget, *dry).stdout.splitlines()
        for line, name in zip(lines, (names[0], link), strict=True):
            assert re.fullmatch(name, line)


def test_an_element_of_the_history_is_named_as_people_write_it(folder: tuple[str, int]) -> None:
    path, _ = folder
    by_id = invoke("history", "C:Drug/A", path)
    assert by_id.exit_code == 0
    for name in ("A", "Drug:A"):
        assert invoke("history", name, path).stdout == by_id.stdout
    unknown = invoke("history", "Drug:B", path, "--json")
    assert unknown.exit_code == 1
    assert json.loads(unknown.stdout)["error"]["code"] == "KIP_3002"
    assert unknown.stderr.startswith('KIP_3002 There is no concept {type: "Drug", name: "B"}.\n')
    with kiprdf.Nexus.open(path) as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "A"} } }')
    several = invoke("history", "A", path)
    assert several.stderr == (
        "KIP_3003 'A' is the name of 2 elements.\nHint: Write Drug:A or Person:A.\n"
    )
