"""How the nexus of a command is named, and what the help of a command shows."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from kiprdf.cli import COMMANDS, app

from .conftest import Invoke

FIND = 'FIND(?d.name) WHERE { ?d {type: "Drug"} } ORDER BY ?d.name'
SHAPES = """@prefix sh: <http://www.w3.org/ns/shacl#> .
<urn:x:DrugShape> a sh:NodeShape ; sh:targetClass <urn:kip:nexus/$ConceptType/Drug> .
"""
NEW = 'UPSERT { CONCEPT { {type: "Drug", name: "New"} } }'
PANELS = {
    "Everyday": "demo run shell load explain diagnose info why memory chunks",
    "Exchange": "snapshot restore export import diff patch schema context publish nanopublication "
    "branch merge follow conflicts git-setup git-show git-merge sign key",
    "History": "at history changes undo forget receipt refusals compact-history reject lift "
    "rejections erasures proposals",
    "Serve": "serve mcp instructions scopes principals",
    "Maintain": "check rebuild verify embed optimize backup gate",
}
# The commands that read, and what they print of a nexus with the small capsule.
READING = {
    ("run", FIND): "Aspirin",
    ("explain", FIND): "SELECT",
    ("diagnose", FIND): "2 solutions",
    ("why", FIND): "Drug:Aspirin",
    ("info",): "urn:kip:nexus/",
    ("snapshot",): "Drug:Aspirin",
    ("export",): 'name: "Aspirin"',
    ("schema",): "rdfs:Class",
    ("context",): "@context",
    ("nanopublication", "(Drug:Aspirin, treats, Symptom:Headache)"): "np:hasAssertion",
    ("instructions",): "Drug",
    ("at", "1", "DESCRIBE DOMAINS"): "CoreSchema",
    ("history", "C:Drug/Aspirin"): "created",
    ("changes",): "+ Drug:Aspirin",
    ("check",): "no faults",
    ("verify",): "the history is as it was written",
    ("erasures", "export"): "kiprdf erasures 1",
    ("conflicts",): "",
    ("gate", "show"): "",
    ("gate", "check"): "",
    ("memory", "list"): "",
    ("memory", "stats"): "memories: 0",
}
WRITING: dict[tuple[str, ...], str] = {
    ("run", NEW): "C:Drug/New",
    ("load", "drugs.kip"): "drugs.kip: 0 concepts and 0 propositions added",
    ("import", "ada.ttl", "--mapping", "foaf"): "1 created",
    ("restore", "all.ttl"): "restored into new",
    ("memory", "add", "I prefer Python."): "mem_",
    ("undo", "--seq", "2"): "C:Drug/Aspirin: deleted",
    ("forget", 'FIND(?d) WHERE { ?d {type: "Drug", name: "Aspirin"} }'): "C:Drug/Aspirin",
    ("compact-history", "--before", "2"): "The history begins at commit",
    ("merge", "1"): "Nothing to change.",
    ("follow", "copied"): "copied up to commit",
    ("optimize", "--json"): "before",
    ("publish", "site"): "site: ",
    ("backup", "copy"): "",
    ("gate", "set", "shapes.ttl"): "Everything satisfies the shapes.",
    ("gate", "remove"): "",
    ("rebuild",): "",
}


@pytest.fixture
def brain(loaded: Invoke, drugs: Path, tmp_path: Path) -> Invoke:
    """Run ``kiprdf`` in a folder whose only nexus is in ``brain``."""
    (tmp_path / "nexus").rename(tmp_path / "brain")
    (tmp_path / "ada.ttl").write_text(
        "@prefix foaf: <http://xmlns.com/foaf/0.1/> . <urn:a> a foaf:Person ; foaf:name 'Ada' .",
        "utf-8",
    )
    (tmp_path / "shapes.ttl").write_text(SHAPES, "utf-8")
    shutil.copytree(tmp_path / "brain", tmp_path / "copied")
    return loaded


def test_every_command_that_reads_takes_the_nexus_as_its_last_argument_or_as_an_option(
    brain: Invoke,
) -> None:
    for command, printed in READING.items():
        missing = brain(*command)
        assert (missing.exit_code, missing.stdout) == (1, ""), command
        assert missing.stderr.startswith("kiprdf: There is no nexus in nexus"), command
        answers = [brain(*command, *named) for named in (["brain"], ["-n", "brain"])]
        assert [answer.exit_code for answer in answers] == [0, 0], (command, answers[0].stderr)
        assert answers[0].stdout == answers[1].stdout
        assert printed in answers[0].stdout, (command, answers[0].stdout)


@pytest.mark.parametrize("command", WRITING, ids=" ".join)
def test_every_command_that_writes_takes_the_nexus_as_its_last_argument(
    brain: Invoke, command: tuple[str, ...], tmp_path: Path
) -> None:
    if command[0] == "restore":
        assert brain("snapshot", "all.ttl", "brain").exit_code == 0
    answer = brain(*command, "brain" if command[0] != "restore" else "new")
    assert answer.exit_code == 0, answer.stderr
    assert WRITING[command] in answer.stdout, answer.stdout
    assert not (tmp_path / "nexus").exists()


REFUSED: dict[tuple[str, ...], tuple[int, str]] = {
    # Two names
    ("info", "brain", "--nexus", "other"): (2, "Name one nexus, not brain and --nexus other."),
    ("run", FIND, "brain", "-n", "other"): (2, "Name one nexus, not brain and --nexus other."),
    # No nexus there
    ("info", "nowhere"): (1, "There is no nexus in nowhere; create one with kiprdf load, run,"),
    ("info", "drugs.kip"): (1, "drugs.kip is a file; a nexus needs a folder."),
    ("info", "empty"): (1, "There is no nexus in empty; create one"),
    ("info", "other"): (1, "contains other files and no nexus."),
    ("check", "nowhere"): (1, "There is no nexus in nowhere; create one with kiprdf load, run,"),
    ("verify", "nowhere"): (1, "There is no nexus in nowhere; create one with kiprdf load, run,"),
    ("verify", "http://127.0.0.1:9/x"): (1, "http://127.0.0.1:9/x is an address; a history is"),
    ("receipt", "1", "-k", "k", "-n", "nowhere"): (
        1,
        "There is no nexus in nowhere; create one with",
    ),
    ("rebuild", "nowhere"): (1, "There is no nexus in nowhere; create one with kiprdf load, run,"),
    ("optimize", "nowhere"): (1, "There is no nexus in nowhere; create one with kiprdf load, run,"),
    ("memory", "forget", "mem_1", "nowhere"): (
        1,
        "There is no nexus in nowhere; create one with kiprdf load, run,",
    ),
    ("merge", "brain", "nowhere"): (2, "There is no nexus in nowhere; create one with"),
    ("branch", "brain", "brain"): (1, "is not empty"),
    # The nexus before another argument
    ("run", "brain", FIND): (2, "The nexus comes last: kiprdf run COMMAND brain."),
    ("history", "brain", "Aspirin"): (2, "The nexus comes last: kiprdf history ELEMENT brain."),
    ("at", "1", "brain", FIND): (2, "The nexus comes last: kiprdf at WHEN COMMAND brain."),
    ("memory", "add", "brain", "Tea."): (
        2,
        "The nexus comes last: kiprdf memory add TEXT brain.",
    ),
    # A folder where a file belongs
    ("load", "ada.ttl", "brain"): (
        1,
        "ada.ttl contains no UPSERT block. Import RDF with kiprdf import.",
    ),
    ("load", "brain"): (1, "brain is a folder, not a file."),
    ("import", "other"): (1, "other is a folder, not a file."),
    ("restore", "brain"): (1, "brain is a folder, not a file."),
    ("snapshot", "other", "brain"): (1, "other cannot be written: Is a directory."),
    # A place that the command does not know
    ("info", "brain", "--update-url", "http://127.0.0.1:1/"): (
        1,
        "--update-url belongs to a store, and brain is a folder.",
    ),
    ("run", FIND, "http://127.0.0.1:1/", "--sync", "full"): (
        1,
        "--sync belongs to a folder, and http://127.0.0.1:1/ is a store.",
    ),
    ("run", NEW, "http://127.0.0.1:1/"): (
        1,
        "The nexus at http://127.0.0.1:1/ is only read without --update-url.",
    ),
    ("snapshot", "http://127.0.0.1:1/ds"): (
        1,
        "The store at http://127.0.0.1:1/ds cannot be reached",
    ),
    ("serve", "--memory", "--sync", "full"): (
        1,
        "--sync belongs to a folder, and this nexus is in memory.",
    ),
}


def test_a_wrong_place_is_one_sentence(brain: Invoke, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("x", "utf-8")
    for command, (status, sentence) in REFUSED.items():
        answer = brain(*command)
        message = " ".join(re.sub(r"[│╭╰─╮╯]", " ", answer.stderr).split())
        assert (answer.exit_code, answer.stdout) == (status, ""), (command, answer.output)
        assert sentence in message, (command, message)
        if status == 1:
            assert message.startswith("kiprdf: ")
            assert answer.stderr.count("\n") == 1, (command, answer.stderr)
    assert not (tmp_path / "nexus").exists()


def test_an_optional_argument_gives_way_to_a_nexus(brain: Invoke, tmp_path: Path) -> None:
    assert "Drug:Aspirin" in brain("snapshot", "brain").stdout
    assert brain("snapshot", "out.ttl", "brain").stdout == ""
    assert brain("run", "brain", input=FIND).stdout == brain("run", FIND, "brain").stdout
    (tmp_path / "find.kip").write_text(FIND, "utf-8")
    assert "Aspirin" in brain("run", "--file", "find.kip", "brain").stdout
    done = brain("load", "drugs.kip", "drugs.kip", "brain")
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["drugs.kip", "drugs.kip"]


def test_the_argument_goes_before_the_environment(brain: Invoke) -> None:
    for named in (["brain"], ["-n", "brain"], ["brain", "-n", "brain"]):
        assert brain("info", *named, env={"KIPRDF_NEXUS": "nowhere"}).exit_code == 0
    assert brain("info", env={"KIPRDF_NEXUS": "brain"}).exit_code == 0
    assert brain("info", env={"KIPRDF_NEXUS": "nowhere"}).exit_code == 1


@pytest.mark.parametrize("spelling", ["--read-only", "--readonly"])
def test_read_only_has_one_spelling_and_the_old_one_still_works(
    brain: Invoke, spelling: str
) -> None:
    assert brain("run", FIND, "brain", spelling).exit_code == 0
    assert brain("run", NEW, "brain", spelling).stderr.startswith("KIP_1001 1:1 --read-only")
    assert "Aspirin" in brain("shell", "brain", spelling, input=FIND + "\n").stdout
    refused = brain("shell", "brain", spelling, input=NEW + "\n")
    assert "read-only" in refused.stderr


# Help -----------------------------------------------------------------------------------------


def commands() -> dict[tuple[str, ...], Any]:
    """Every command of the program, also of its groups."""
    result: dict[tuple[str, ...], Any] = {}
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        for own, inner in getattr(command, "commands", {}).items():
            result[(name, own)] = inner
        if not hasattr(command, "commands"):
            result[(name,)] = command
    return result


def test_the_commands_are_in_panels(invoke: Invoke) -> None:
    shown = invoke("--help").stdout
    panels = re.findall(r"^╭─ (\w+) ─.*?\n(.*?)^╰", shown, re.MULTILINE | re.DOTALL)
    names = {
        title: " ".join(re.findall(r"^│ ([a-z][a-z-]*) ", text, re.MULTILINE))
        for title, text in panels[1:]
    }
    assert names == PANELS
    assert list(names) == list(PANELS)


# The options of a place, and the commands whose help shows them.
SHOWN = {
    "": "demo chunks/check chunks/show chunks/run principals/add principals/list principals/remove"
    " key/new scopes/list scopes/add scopes/remove scopes/copy git-setup git-show git-merge branch",
    "--default-graph": "diff",
    "--nexus": "receipt refusals at history changes rebuild verify erasures/export proposals/list "
    "proposals/show rejections conflicts",
    "--nexus --sync --token": "merge follow",
    "--nexus --sync": "undo proposals/approve proposals/decline reject lift",
    "--nexus --token": "forget compact-history erasures/apply optimize backup",
    "--default-graph --nexus": "explain diagnose info why snapshot export schema context publish "
    "sign nanopublication instructions check gate/show gate/check memory/get memory/list "
    "memory/contradictions memory/stats memory/search memory/neighbors memory/recall "
    "memory/context memory/export",
    "--default-graph --nexus --sync --update-url": "run shell load restore patch embed memory/add "
    "memory/forget memory/merge memory/decay memory/import memory/rebuild gate/set gate/remove",
    "--default-graph --nexus --sync --token --update-url": "import serve mcp",
}


def test_the_module_of_each_command_defines_it() -> None:
    for module, words in COMMANDS.items():
        for word in words.split():
            command = typer.main.get_command(app).commands[word]  # type: ignore[attr-defined]
            for each in getattr(command, "commands", {"": command}).values():
                assert each.callback.__module__ == f"kiprdf.cli.{module}", word


def test_a_process_imports_the_module_of_its_command() -> None:
    code = """if True:
        import sys
        from kiprdf.cli import COMMANDS, main

        for argument in ("--version", "why"):
            sys.argv[1:] = [argument, "--help"]
            try:
                main()
            except SystemExit:
                print([module for module in COMMANDS if f"kiprdf.cli.{module}" in sys.modules])
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    lines = done.stdout.decode().splitlines()
    assert lines[1] == "[]"
    assert lines[-1] == "['why']"


def test_help_shows_the_options_of_a_place_where_they_apply(invoke: Invoke) -> None:
    places = {option for options in SHOWN for option in options.split()}
    shown: dict[str, set[str]] = {}
    for command in commands():
        text = invoke(*command, "--help", env={"COLUMNS": "200"}).stdout.partition("╭─")[2]
        assert "--help" in text
        assert "<bool>" not in text
        assert "--readonly" not in text
        options = sorted(places & set(re.findall(r"--[a-z][a-z-]*", text)))
        shown.setdefault(" ".join(options), set()).add("/".join(command))
    assert shown == {options: set(names.split()) for options, names in SHOWN.items()}
    for group in ([], ["memory"], ["chunks"]):
        assert "<bool>" not in invoke(*group, "--help").stdout


def test_an_option_that_help_does_not_show_is_taken_as_before(brain: Invoke) -> None:
    facts = json.loads(brain("info", "brain", "--json").stdout)
    assert facts["concepts"] > 0
    answer = brain("at", "1", FIND, "brain", "--default-graph", "urn:g")
    assert answer.stderr == "kiprdf: --default-graph belongs to a store, and brain is a folder.\n"
