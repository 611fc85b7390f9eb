"""The commands that run KIP, and snapshot, restore and export, run in this process."""

from __future__ import annotations

import json
import re
import socket
import time
from pathlib import Path
from typing import NamedTuple

import pytest
import typer

import kiprdf
from kiprdf.cli import app

from .conftest import Invoke
from .runner import matches

NAMES = 'FIND(?d.name, ?d.attributes.risk_level) WHERE { ?d {type: "Drug"} } ORDER BY ?d.name ASC'
BY_RISK = 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.risk_level == :x) }'
RISK = 'FIND(?d.attributes.risk_level) WHERE { ?d {type: "Drug", name: :name} }'
ALL_DRUGS = 'FIND(?d.name) WHERE { ?d {type: "Drug"} }'
WRITE = 'UPSERT { CONCEPT { {type: "Drug", name: "New"} } }'
DRUG_PAGE = 'EXPORT ?d WHERE { ?d {type: "Drug"} } LIMIT 1'
NOBODY = 'EXPORT ?p WHERE { ?p {type: "Person"} FILTER(?p.name == "nobody") }'
ALL_COMMANDS = (
    *("demo", "run", "shell", "load", "explain", "info", "snapshot", "restore", "export"),
    *("import", "diff", "schema", "publish", "check", "optimize", "backup"),
)
NO_NEXUS = """\
kiprdf: There is no nexus in nexus; create one with kiprdf load, run, import, restore or shell, \
or name another folder with --nexus or KIPRDF_NEXUS.
"""


class Case(NamedTuple):
    """A command on the prepared nexus, and what it prints; ``...`` stands for anything."""

    arguments: tuple[str, ...]
    stdout: str = "..."
    stderr: str = ""
    status: int = 0


CASES = {
    # Tables
    "a FIND is a table with one column for each expression": Case(
        ("run", NAMES),
        "╭──────────┬──────────────────────────╮\n"
        "│ ?d.name  │ ?d.attributes.risk_level │\n"
        "├──────────┼──────────────────────────┤\n"
        "│ Aspirin  │                        2 │\n"
        "│ 阿司匹林 │                     null │\n"
        "╰──────────┴──────────────────────────╯\n",
        "2 rows\n",
    ),
    "concepts and propositions are shown by their identity": Case(
        ("run", 'FIND(?d, ?l) WHERE { ?l (?d, "treats", ?s) }'),
        "...│ Drug:Aspirin │ (Drug:Aspirin, treats, Symptom:Headache) │...",
        "1 row\n",
    ),
    "a further page is mentioned on standard error": Case(
        ("run", NAMES + " LIMIT 1"),
        stderr='...There are more results: ... CURSOR "..." after LIMIT...',
    ),
    "a receipt is keys and values": Case(
        ("run", WRITE),
        "blocks                    1\n"
        "upsert_concept_nodes      C:Drug/New\n"
        "upsert_proposition_links  none\n",
    ),
    "the names of DESCRIBE are lines": Case(
        ("run", "DESCRIBE DOMAINS"), "Archived\nCoreSchema\nSystem\nUnsorted\n"
    ),
    "hits of SEARCH are a table": Case(
        ("run", 'SEARCH CONCEPT "aspirin"'), "...\n│ found        │    score │\n...Drug:Aspirin..."
    ),
    "hits without attributes are a table": Case(
        ("run", 'SEARCH CONCEPT "阿司匹林"'), "...Drug:阿司匹林..."
    ),
    "the primer is an outline": Case(
        ("run", "DESCRIBE PRIMER"), "identity\n...\n  person_class ... AI\n..."
    ),
    # JSON
    "JSON is the KIP response": Case(
        ("run", NAMES, "--json"), '{"result": [["Aspirin", "阿司匹林"], [2, null]]}\n'
    ),
    "an error as JSON": Case(
        ("run", 'FIND(?d) WHERE { ?d {type: "drug"} }', "--json"),
        '{"error": {"code": "KIP_2001", ... "message": "1:28 Concept type \'drug\' is not '
        'defined.", ...}}\n',
        "...",
        1,
    ),
    "a syntax error as JSON": Case(
        ("run", "FIND(3)", "--json"), '{"error": {"code": "KIP_1001", ...', "...", 1
    ),
    # Errors
    "an error has its place, a caret and a hint": Case(
        ("run", 'FIND(?d)\nWHERE { ?d {type: "drug"} }'),
        "",
        "KIP_2001 2:19 Concept type 'drug' is not defined.\n"
        '  WHERE { ?d {type: "drug"} }\n'
        "                    ^^^^^^\n"
        "Hint: Did you mean 'Drug'? Names are case-sensitive.\n",
        1,
    ),
    "an error of a write has a caret": Case(
        ("run", 'UPSERT { CONCEPT { {type: "Nope", name: "x"} } }'),
        "",
        '...{type: "Nope", name: "x"}...\n                            ^^^^^^\n...',
        1,
    ),
    "--read-only refuses a write at its first word": Case(
        ("run", WRITE, "--read-only"),
        "",
        "KIP_1001 1:1 --read-only refuses commands that write.\n"
        f"  {WRITE}\n"
        "  ^^^^^^\n"
        "Hint: Remove --read-only.\n",
        1,
    ),
    "explain takes only a FIND": Case(
        ("explain", "DESCRIBE PRIMER"),
        "",
        "KIP_1001 1:1 Only FIND is translated to SPARQL.\n"
        "  DESCRIBE PRIMER\n"
        "  ^^^^^^^^\n"
        "Hint: Begin with FIND.\n",
        1,
    ),
    # Parameters and other options
    "a parameter is JSON": Case(("run", BY_RISK, "--param", "x=2"), "...Aspirin...", "1 row\n"),
    "a parameter that is not JSON is a string": Case(
        ("run", RISK, "-p", "name=Aspirin"), "...│ ...", "1 row\n"
    ),
    "a parameter without a value": Case(("run", NAMES, "--param", "x"), "", "...", 2),
    "a command and a file": Case(("run", NAMES, "--file", "drugs.kip"), "", "...", 2),
    "a dry run": Case(
        ("run", WRITE, "--dry-run"),
        stderr="Dry run: nothing was written.\n",
    ),
    # explain, info, snapshot
    "explain shows the SPARQL": Case(
        ("explain", "FIND(?d) WHERE { ?d {type: :t} }", "--param", "t=Drug"),
        "...SELECT...type:Drug...",
    ),
    "engine metadata by default": Case(("snapshot",), "...meta:_version..."),
    "a snapshot to a folder": Case(
        ("snapshot", "."), "", "kiprdf: . cannot be written: Is a directory.\n", 1
    ),
    "a snapshot to a missing folder": Case(
        ("snapshot", "nowhere/a.ttl"),
        "",
        "kiprdf: nowhere/a.ttl cannot be written: No such file or directory.\n",
        1,
    ),
    "a schema to a missing folder": Case(
        ("schema", "nowhere/a.ttl"),
        "",
        "kiprdf: nowhere/a.ttl cannot be written: No such file or directory.\n",
        1,
    ),
    "a snapshot that fails prints nothing": Case(
        ("snapshot", "--format", "rdfxml", "--profile", "rdf12"), "", "...", 1
    ),
    "a snapshot of a domain that is not there": Case(
        ("snapshot", "a.ttl", "--domain", "CoreSchem"),
        "",
        "KIP_3002 There is no domain 'CoreSchem'.\nHint: Did you mean 'CoreSchema'?\n",
        1,
    ),
    "a mapping that is not there": Case(
        ("snapshot", "--mapping", "shema-org"),
        "",
        "KIP_1001 There is no mapping 'shema-org'.\nHint: ...",
        1,
    ),
    **{
        f"a mapping file that is not there, of {command}": Case(
            (command, "target", "--mapping", "none.jsonld"),
            "",
            "kiprdf: none.jsonld: No such file or directory.\n",
            1,
        )
        for command in ("snapshot", "schema", "publish")
    },
    **{
        f"options that do not fit: {' '.join(arguments)}": Case(arguments, "", stderr, 2)
        for arguments, stderr in (
            (("import", "people.ttl", "--inherit"), "..."),
            (("import", "people.ttl", "--ontology", "--define", "--inherit"), "..."),
            (("schema", "--profile", "rdf12"), "..."),
            (("schema", "--shapes", "--mapping", "schema-org"), "..."),
            (
                ("diff", "old.ttl", "nexus", "--json", "--as", "patch"),
                "...--json cannot be combined with --as patch. ...",
            ),
        )
    },
    "an option of stores for a folder": Case(
        ("info", "--nexus", "brain", "--default-graph", "urn:g"),
        "",
        "kiprdf: --default-graph belongs to a store, and brain is a folder.\n",
        1,
    ),
    "reading with another base": Case(
        ("run", "--base-iri", "https://z.example/", "DESCRIBE DOMAINS"), "...", "...", 1
    ),
    # export
    "a selection is exported with parameters": Case(
        (
            *("export", "--select", 'EXPORT ?d WHERE { ?d {type: "Drug", name: :name} }'),
            *("--param", "name=阿司匹林"),
        ),
        'UPSERT {\n  CONCEPT {\n    {type: "Drug", name: "阿司匹林"}\n  }\n}\n',
    ),
    "only an EXPORT selects": Case(
        ("export", "--select", NAMES),
        "",
        "KIP_1001 1:1 --select takes an EXPORT command.\n...",
        1,
    ),
    "run prints the capsule of an EXPORT unchanged": Case(
        ("run", 'EXPORT ?s WHERE { ?s {type: "Symptom"} }'),
        'UPSERT {\n  CONCEPT {\n    {type: "Symptom", name: "Headache"}\n  }\n}\n',
        "1 concept, 0 propositions.\n",
    ),
    "run shows the cursor of a page of an EXPORT": Case(
        ("run", DRUG_PAGE), stderr='...repeat the command with CURSOR "...'
    ),
    "export shows the cursor of a page": Case(
        ("export", "--select", DRUG_PAGE), stderr='...repeat the command with CURSOR "...'
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_command_prints_its_answer(loaded: Invoke, case: Case) -> None:
    answer = loaded(*case.arguments)
    assert answer.exit_code == case.status, answer.output
    assert matches(case.stdout, answer.stdout), answer.stdout
    assert matches(case.stderr, answer.stderr), answer.stderr


def test_the_version_is_shown(invoke: Invoke) -> None:
    assert invoke("--version").stdout == f"kiprdf {kiprdf.__version__}\n"


@pytest.mark.parametrize("command", ALL_COMMANDS)
def test_help_shows_examples(invoke: Invoke, command: str) -> None:
    shown = invoke(command, "--help")
    assert shown.exit_code == 0
    assert re.search(rf"Examples:\s+kiprdf {command}", shown.stdout)


# Output ---------------------------------------------------------------------------------------


def test_the_cursor_of_a_page_is_not_part_of_the_table(loaded: Invoke) -> None:
    assert "CURSOR" not in loaded("run", NAMES + " LIMIT 1").stdout


def test_the_caret_is_below_its_place_after_wide_characters(loaded: Invoke) -> None:
    answer = loaded("run", 'FIND(?d) WHERE { ?d {name: "阿司匹林", type: "drug"} }')
    line, carets = answer.stderr.splitlines()[1:3]
    assert line.index('"drug"') + len("阿司匹林") == carets.index("^")


def test_a_long_line_is_cut_around_the_place_of_the_error(loaded: Invoke) -> None:
    noise = "x" * 5_000
    command = f'FIND(?d) WHERE {{ ?d {{name: "{noise[:900]}", type: "drug"}} }} // {noise}'
    line, carets = loaded("run", command).stderr.splitlines()[1:3]
    assert len(line) <= 100
    assert line[carets.index("^") :].startswith('"drug"')


VALUES = {
    "control characters are escaped": (
        'SET ATTRIBUTES { note: "a\\u001b[31m\\nb" }',
        "?d.attributes.note",
        "│ a\\u001b[31m\\nb     │",
    ),
    "markup is not interpreted": ("", "?d.name", "│ [red]x[/red] :smile: │"),
    "long cells are whole in a pipe": (
        f'SET ATTRIBUTES {{ note: "{"long " * 100}end" }}',
        "?d.attributes.note",
        f"│ {'long ' * 100}end │",
    ),
}


@pytest.mark.parametrize(("attributes", "expression", "cell"), VALUES.values(), ids=VALUES)
def test_a_value_is_printed_safely(
    loaded: Invoke, attributes: str, expression: str, cell: str
) -> None:
    concept = '{type: "Drug", name: "[red]x[/red] :smile:"}'
    loaded("run", f"UPSERT {{ CONCEPT {{ {concept} {attributes} }} }}")
    output = loaded("run", f"FIND({expression}) WHERE {{ ?d {concept} }}").stdout
    assert cell in output
    assert "\x1b" not in output


NARROW = {
    "a header breaks at its dots": (
        "34",
        "...\n│          │          ?d │\n"
        "│          │ .attributes │\n│ ?d.name  │ .risk_level │\n...",
    ),
    "too many columns are shown as one value per line": (
        "31",
        "?d.name                   Aspir\n"
        "                          in\n"
        "?d.attributes.risk_level  2\n"
        "\n"
        "?d.name                   阿司\n"
        "                          匹林\n"
        "?d.attributes.risk_level  null\n",
    ),
}


@pytest.mark.parametrize(("columns", "output"), NARROW.values(), ids=NARROW)
def test_a_table_fits_a_narrow_terminal(
    loaded: Invoke, monkeypatch: pytest.MonkeyPatch, columns: str, output: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert matches(output, loaded("run", NAMES).stdout)


# Parameters and dry runs ----------------------------------------------------------------------


def test_a_single_parameter_overrides_the_file(loaded: Invoke, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('{"name": "Nobody"}', "utf-8")
    command = 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.name == :name) }'
    arguments = ("run", command, "--params-file", "p.json")
    assert loaded(*arguments).stderr.startswith("0 rows\n")
    assert loaded(*arguments, "--param", "name=Aspirin").stderr == "1 row\n"


def test_a_find_may_be_asked_for_what_is_believed(loaded: Invoke) -> None:
    status = 'UPDATE ?d SET METADATA {status: "retracted"} WHERE { ?d {type: "Drug", name: :name} }'
    loaded("run", status, "--param", "name=Aspirin")
    named = 'FIND(?d.name) WHERE { ?d {type: "Drug", name: "Aspirin"} }'
    assert "Aspirin" in loaded("run", named).stdout
    empty = loaded("run", "--believed", named)
    assert "Aspirin" not in empty.stdout
    assert "Warning NotBelieved: 1:21 It is there, but not believed: 1 retracted." in empty.stderr
    assert json.loads(loaded("run", "--believed", "--json", named).stdout)["result"] == []
    refused = loaded("run", "--believed", "DESCRIBE PRIMER")
    assert refused.exit_code == 1
    assert "Only a FIND can be asked for what is believed." in refused.stderr


def test_an_empty_answer_says_why_on_standard_error(loaded: Invoke) -> None:
    command = 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.risk_level == "2") }'
    why = (
        'Warning NoSolution: 1:41 FILTER(?d.attributes.risk_level == "2") is true for none of the '
        "solutions before it.\n"
        "Hint: Before it, ?d.attributes.risk_level is 2, null.\n"
        'Warning NeverTrue: 1:48 ?d.attributes.risk_level == "2" is never true: '
        '?d.attributes.risk_level is a number and "2" is a string.\n'
        "Hint: Write ?d.attributes.risk_level == 2\n"
    )
    assert loaded("run", command).stderr == "0 rows\n" + why
    answer = loaded("run", command, "--json")
    assert [w["name"] for w in json.loads(answer.stdout)["warnings"]] == ["NoSolution", "NeverTrue"]
    assert answer.stderr == why
    assert loaded("diagnose", command).stdout == (
        '2 solutions after 1:23 ?d {type: "Drug"}\n'
        '0 solutions after 1:41 FILTER(?d.attributes.risk_level == "2")\n'
        'Warning: 1:41 FILTER(?d.attributes.risk_level == "2") is true for none of the solutions '
        "before it. Hint: Before it, ?d.attributes.risk_level is 2, null.\n"
        'Warning: 1:48 ?d.attributes.risk_level == "2" is never true: ?d.attributes.risk_level is '
        'a number and "2" is a string. Hint: Write ?d.attributes.risk_level == 2\n'
    )


def test_a_params_file_that_is_not_an_object_is_one_sentence(
    loaded: Invoke, tmp_path: Path
) -> None:
    (tmp_path / "p.json").write_text("[1]", "utf-8")
    answer = loaded("run", NAMES, "--params-file", "p.json")
    assert answer.exit_code == 1
    assert answer.stderr == "kiprdf: p.json does not contain a JSON object of parameters.\n"


def test_a_dry_run_writes_nothing(loaded: Invoke) -> None:
    assert loaded("run", WRITE, "--dry-run").exit_code == 0
    assert "New" not in loaded("run", NAMES).stdout


def test_a_command_runs_in_memory_without_a_folder(invoke: Invoke, tmp_path: Path) -> None:
    assert "CoreSchema" in invoke("run", "DESCRIBE DOMAINS", "--memory").stdout
    assert list(tmp_path.iterdir()) == []


# Folders --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "DESCRIBE DOMAINS"),
        ("run", 'UPSERT { CONCEPT { {type: "Domain", name: "x"} } }', "--dry-run"),
        ("snapshot",),
        ("explain", 'FIND(?d) WHERE { ?d {type: "Domain"} }'),
        ("info",),
        ("shell", "--readonly"),
    ],
)
def test_reading_creates_no_nexus(
    invoke: Invoke, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    answer = invoke(*arguments)
    assert (answer.exit_code, answer.stderr) == (1, NO_NEXUS)
    assert list(tmp_path.iterdir()) == []


def test_a_write_with_a_syntax_error_creates_no_nexus(invoke: Invoke, tmp_path: Path) -> None:
    assert invoke("run", "UPSERT { CONCEPT").exit_code == 1
    assert list(tmp_path.iterdir()) == []


def test_a_failed_restore_leaves_no_nexus_behind(invoke: Invoke, tmp_path: Path) -> None:
    broken = "# kiprdf 1 base <https://a.example/>\n<urn:a> <urn:b> <urn:c> .\n"
    (tmp_path / "broken.ttl").write_text(broken, "utf-8")
    assert invoke("restore", "broken.ttl", "--nexus", "new").exit_code == 1
    assert not (tmp_path / "new").exists()


def test_a_failed_write_leaves_an_existing_nexus_alone(loaded: Invoke) -> None:
    assert loaded("run", WRITE).exit_code == 0
    assert loaded("run", WRITE.replace("Drug", "Nothing")).exit_code == 1
    assert "New" in loaded("run", ALL_DRUGS).stdout


def test_the_environment_names_the_nexus(invoke: Invoke, drugs: Path, tmp_path: Path) -> None:
    invoke("load", str(drugs), env={"KIPRDF_NEXUS": "brain"})
    assert (tmp_path / "brain").is_dir()
    assert not (tmp_path / "nexus").exists()


def test_the_base_is_set_when_the_nexus_is_created(invoke: Invoke, drugs: Path) -> None:
    invoke("load", str(drugs), "--base-iri", "https://data.example.org/kb/")
    assert "https://data.example.org/kb/" in invoke("info").stdout


def test_a_folder_of_other_files_is_one_sentence(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("x", "utf-8")
    answer = invoke("load", "medical", "--nexus", str(tmp_path))
    assert answer.exit_code == 1
    assert answer.stderr == f"kiprdf: The folder {tmp_path} contains other files and no nexus.\n"


def test_a_damaged_store_is_one_sentence(loaded: Invoke, tmp_path: Path) -> None:
    for path in (tmp_path / "nexus" / "graph").glob("MANIFEST*"):
        path.write_bytes(b"damaged")
    answer = loaded("info")
    assert answer.exit_code == 1
    assert re.fullmatch(r"kiprdf: .+\n", answer.stderr)


def test_info_as_json(loaded: Invoke, tmp_path: Path) -> None:
    facts = json.loads(loaded("info", "--json").stdout)
    assert facts["folder"] == str(tmp_path / "nexus")
    assert facts["proposition_types"] > 0


# load -----------------------------------------------------------------------------------------


def test_load_shows_what_each_capsule_added(invoke: Invoke, drugs: Path) -> None:
    answer = invoke("load", "drugs.kip", "drugs.kip")
    assert answer.stdout == (
        "drugs.kip: 6 concepts and 1 propositions added\n"
        "drugs.kip: 0 concepts and 0 propositions added\n"
    )
    assert answer.stderr == ""


def test_the_bundled_example_is_loaded_by_its_name(invoke: Invoke) -> None:
    assert invoke("load", "medical").exit_code == 0
    assert "Aspirin" in invoke("run", ALL_DRUGS).stdout


def test_an_invalid_capsule_keeps_the_capsules_before_it(
    invoke: Invoke, drugs: Path, tmp_path: Path
) -> None:
    (tmp_path / "bad.kip").write_text('UPSERT { CONCEPT { {type: "No", name: "x"} } }', "utf-8")
    answer = invoke("load", "drugs.kip", "bad.kip")
    assert answer.exit_code == 1
    assert answer.stdout == "drugs.kip: 6 concepts and 1 propositions added\n"
    assert answer.stderr.startswith("bad.kip was not loaded:\nKIP_2001 1:27 ")
    assert "Aspirin" in invoke("run", NAMES).stdout


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("bad.kip", b"UPSERT {}\n\xff", "bad.kip is not UTF-8 text: see line 2."),
        ("empty.kip", b"", "empty.kip contains no UPSERT block."),
        ("absent.kip", None, "absent.kip: No such file or directory."),
        (
            "absent",
            None,
            "There is no file and no bundled example named absent; "
            "name a new nexus with --nexus absent.",
        ),
        (".", None, ". is a folder, not a file."),
    ],
)
def test_an_unreadable_capsule_is_one_sentence(
    invoke: Invoke, tmp_path: Path, name: str, content: bytes | None, sentence: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    answer = invoke("load", name)
    assert (answer.exit_code, answer.stderr) == (1, f"kiprdf: {sentence}\n")
    assert not (tmp_path / "nexus").exists()


# snapshot, restore, export --------------------------------------------------------------------


@pytest.mark.parametrize("profile", ["rdf11", "rdf12"])
def test_a_restored_snapshot_is_the_same_snapshot(
    loaded: Invoke, tmp_path: Path, profile: str
) -> None:
    assert loaded("snapshot", "a.ttl", "--profile", profile).stdout == ""
    assert loaded("restore", "a.ttl", "--nexus", "copy").exit_code == 0
    loaded("snapshot", "b.ttl", "--profile", profile, "--nexus", "copy")
    assert (tmp_path / "a.ttl").read_bytes() == (tmp_path / "b.ttl").read_bytes()


def test_a_restored_nexus_has_the_base_of_the_snapshot(invoke: Invoke, drugs: Path) -> None:
    base = "https://data.example.org/kb/"
    invoke("load", "drugs.kip", "--base-iri", base)
    invoke("snapshot", "a.ttl")
    invoke("restore", "a.ttl", "--nexus", "copy")
    assert base in invoke("info", "--nexus", "copy").stdout
    invoke("restore", "a.ttl", "--nexus", "other", "--base-iri", "urn:other/")
    assert base not in invoke("snapshot", "--nexus", "other").stdout


def test_turtle_without_its_first_line_needs_a_base(loaded: Invoke, tmp_path: Path) -> None:
    turtle = loaded("snapshot").stdout.partition("\n")[2]
    (tmp_path / "bare.ttl").write_text(turtle, "utf-8")
    answer = loaded("restore", "bare.ttl", "--nexus", "copy")
    assert answer.exit_code == 1
    assert answer.stderr == (
        "kiprdf: bare.ttl does not declare its base IRI; specify it with --base-iri.\n"
    )
    assert not (tmp_path / "copy").exists()
    again = loaded("restore", "bare.ttl", "--nexus", "copy", "--base-iri", "urn:kip:nexus/")
    assert again.exit_code == 0


def test_invalid_turtle_is_a_kip_error(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text("nonsense", "utf-8")
    answer = invoke("restore", "a.ttl", "--base-iri", "urn:kip:nexus/")
    assert answer.exit_code == 1
    assert answer.stderr.startswith("KIP_1001 1:1 ")


def test_restoring_into_a_nexus_in_use_is_refused(loaded: Invoke) -> None:
    loaded("snapshot", "a.ttl")
    answer = loaded("restore", "a.ttl")
    assert answer.exit_code == 1
    assert answer.stderr.startswith("KIP_2002 ")


def test_engine_metadata_can_be_omitted(loaded: Invoke) -> None:
    assert "meta:_version" not in loaded("snapshot", "--no-engine-metadata").stdout


def test_a_full_export_loads_into_a_new_nexus(loaded: Invoke, tmp_path: Path) -> None:
    answer = loaded("export", "all.kip")
    lines = (tmp_path / "all.kip").read_text("utf-8").count("\n")
    assert (answer.exit_code, answer.stdout) == (0, "")
    assert answer.stderr == f"Wrote all.kip, {lines} lines.\n"
    assert loaded("load", "all.kip", "--nexus", "copy").exit_code == 0
    for nexus in ("nexus", "copy"):
        loaded("snapshot", f"{nexus}.ttl", "--nexus", nexus, "--no-engine-metadata")
    assert (tmp_path / "copy.ttl").read_bytes() == (tmp_path / "nexus.ttl").read_bytes()


def test_an_empty_selection_writes_nothing(loaded: Invoke, tmp_path: Path) -> None:
    answer = loaded("export", "none.kip", "--select", NOBODY)
    assert answer.exit_code == 1
    assert answer.stderr == "kiprdf: Nothing was selected; nothing was written.\n"
    assert not (tmp_path / "none.kip").exists()


def test_json_output_has_one_name_on_all_commands(invoke: Invoke) -> None:
    names = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    helps = {name: invoke(name, "--help").stdout for name in names}
    named = {name for name, text in helps.items() if "--json " in text}
    history = {"at", "changes", "compact-history", "forget", "history", "undo"}
    trust = {"reject", "lift", "rejections", "refusals"}
    reporting = {"info", "check", "verify", "import", "diff", "patch", "load", "restore", "embed"}
    reporting |= {"publish", "git-setup", "merge", "follow", "conflicts"}
    assert named == {*history, *trust, "run", "why", "explain", "diagnose", "optimize", *reporting}
    # No choice of another option, such as [table|json]; the log of a server is no output.
    assert [name for name, text in helps.items() if re.search(r"\|json\b|\[json\b", text)] == [
        "serve"
    ]


def test_diagnose_as_json_is_a_response(loaded: Invoke) -> None:
    command = 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.name == "aspirin") }'
    response = json.loads(loaded("diagnose", "--json", command).stdout)
    assert [step["solutions"] for step in response["result"]] == [2, 0]
    assert response["result"][1]["position"] == [1, 41]
    assert [warning["name"] for warning in response["warnings"]] == ["NoSolution", "UnknownName"]


@pytest.mark.parametrize("command", ["run", "diagnose", "explain"])
def test_an_error_is_json_too(loaded: Invoke, command: str) -> None:
    answer = loaded(command, "--json", "FIND(?d) WHER { ?d {} }")
    assert answer.exit_code == 1
    assert json.loads(answer.stdout)["error"]["hint"] == "Did you mean WHERE?"


def test_reports_of_loading_and_restoring_are_json(
    loaded: Invoke, invoke: Invoke, drugs: Path, tmp_path: Path
) -> None:
    again = json.loads(loaded("load", "--json", str(drugs)).stdout)
    assert again == {"file": str(drugs), "concepts": 0, "propositions": 0}
    loaded("snapshot", str(tmp_path / "s.ttl"))
    copy = ("restore", str(tmp_path / "s.ttl"), "--nexus", str(tmp_path / "copy"), "--json")
    report = json.loads(invoke(*copy).stdout)
    assert report["file"] == str(tmp_path / "s.ttl")
    assert report["elements"] > 0


def test_a_store_that_cannot_be_reached_is_one_sentence(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIPRDF_AUTH", "me:s3cret")
    ran = invoke("info", "--nexus", "http://127.0.0.1:1/query")
    assert ran.exit_code == 1
    assert ran.stderr == (
        "kiprdf: The store at http://127.0.0.1:1/query cannot be reached: "
        "the connection was refused.\n"
    )


def test_the_timeout_includes_connecting_to_a_store(invoke: Invoke) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/ds"
        begun = time.monotonic()
        answer = invoke("run", "DESCRIBE PRIMER", "--nexus", url, "--timeout", "0.2")
        assert time.monotonic() - begun < 10
    assert answer.exit_code == 1
    assert answer.stderr == (
        f"kiprdf: The store at {url} did not answer: The request took longer than 0.2 s.\n"
    )


def test_a_map_that_looks_like_an_element_is_shown_as_a_map(invoke: Invoke) -> None:
    invoke(
        "run",
        'UPSERT { CONCEPT { {type: "Person", name: "Ada"} SET ATTRIBUTES { '
        'a: {_type: "ConceptNode"}, b: {_type: "PropositionLink", id: "x"}, c: {_type: 1} } } }',
    )
    question = (
        "FIND(?p.attributes.a, ?p.attributes.b, ?p.attributes.c) "
        'WHERE { ?p {type: "Person", name: "Ada"} }'
    )
    for command in ("run", "why"):
        ran = invoke(command, question)
        assert ran.exit_code == 0, ran.output
        assert "PropositionLink" in ran.stdout.replace("\n", "")
