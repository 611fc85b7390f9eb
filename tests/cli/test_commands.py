"""The commands, run in this process."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import kiprdf
from kiprdf.cli import app

from .conftest import Invoke

NAMES = 'FIND(?d.name, ?d.attributes.risk_level) WHERE { ?d {type: "Drug"} } ORDER BY ?d.name ASC'
ALL_COMMANDS = (
    *("demo", "run", "shell", "load", "explain", "info", "snapshot", "restore", "export"),
    *("import", "diff", "schema", "publish", "check", "backup"),
)


def test_version_is_told(invoke: Invoke) -> None:
    assert invoke("--version").stdout == f"kiprdf {kiprdf.__version__}\n"


@pytest.mark.parametrize("command", ALL_COMMANDS)
def test_help_shows_examples(invoke: Invoke, command: str) -> None:
    shown = invoke(command, "--help")
    assert shown.exit_code == 0
    assert re.search(rf"Examples:\s+kiprdf {command}", shown.stdout)


# export ---------------------------------------------------------------------------------------


def test_everything_exported_loads_into_a_new_nexus(loaded: Invoke, tmp_path: Path) -> None:
    answer = loaded("export", "all.kip")
    lines = (tmp_path / "all.kip").read_text("utf-8").count("\n")
    assert (answer.exit_code, answer.stdout) == (0, "")
    assert answer.stderr == f"Wrote all.kip, {lines} lines.\n"
    assert loaded("load", "all.kip", "--nexus", "copy").exit_code == 0
    for nexus in ("nexus", "copy"):
        loaded("snapshot", f"{nexus}.ttl", "--nexus", nexus, "--no-engine-metadata")
    assert (tmp_path / "copy.ttl").read_bytes() == (tmp_path / "nexus.ttl").read_bytes()


def test_a_selection_is_exported_with_parameters(loaded: Invoke) -> None:
    select = 'EXPORT ?d WHERE { ?d {type: "Drug", name: :name} }'
    answer = loaded("export", "--select", select, "--param", "name=阿司匹林")
    assert answer.stdout == (
        'UPSERT {\n  CONCEPT {\n    {type: "Drug", name: "阿司匹林"}\n  }\n}\n'
    )


def test_an_empty_selection_writes_nothing(loaded: Invoke, tmp_path: Path) -> None:
    nobody = 'EXPORT ?p WHERE { ?p {type: "Person"} FILTER(?p.name == "nobody") }'
    answer = loaded("export", "none.kip", "--select", nobody)
    assert answer.exit_code == 1
    assert answer.stderr == "kiprdf: Nothing was selected; nothing was written.\n"
    assert not (tmp_path / "none.kip").exists()


def test_only_an_export_selects(loaded: Invoke) -> None:
    answer = loaded("export", "--select", NAMES)
    assert answer.exit_code == 1
    assert "KIP_1001 1:1 --select takes an EXPORT command." in answer.stderr


def test_run_prints_the_capsule_of_an_export_as_it_is(loaded: Invoke) -> None:
    answer = loaded("run", 'EXPORT ?s WHERE { ?s {type: "Symptom"} }')
    assert answer.stdout == (
        'UPSERT {\n  CONCEPT {\n    {type: "Symptom", name: "Headache"}\n  }\n}\n'
    )
    assert answer.stderr == "1 concept, 0 propositions.\n"


def test_a_page_of_an_export_tells_how_to_go_on(loaded: Invoke) -> None:
    select = 'EXPORT ?d WHERE { ?d {type: "Drug"} } LIMIT 1'
    for given in (("run", select), ("export", "--select", select)):
        assert 'repeat the command with CURSOR "' in loaded(*given).stderr


# run ------------------------------------------------------------------------------------------


def test_find_is_a_table_with_one_column_an_expression(loaded: Invoke) -> None:
    answer = loaded("run", NAMES)
    assert answer.stdout == (
        "╭──────────┬──────────────────────────╮\n"
        "│ ?d.name  │ ?d.attributes.risk_level │\n"
        "├──────────┼──────────────────────────┤\n"
        "│ Aspirin  │                        2 │\n"
        "│ 阿司匹林 │                     null │\n"
        "╰──────────┴──────────────────────────╯\n"
    )
    assert answer.stderr == "2 rows\n"


def test_concepts_and_propositions_are_shown_by_their_identity(loaded: Invoke) -> None:
    answer = loaded("run", 'FIND(?d, ?l) WHERE { ?l (?d, "treats", ?s) }')
    assert "│ Drug:Aspirin │ (Drug:Aspirin, treats, Symptom:Headache) │" in answer.stdout


def test_a_further_page_is_mentioned_on_standard_error(loaded: Invoke) -> None:
    answer = loaded("run", NAMES + " LIMIT 1")
    assert re.search(r'There are more results: .* CURSOR "[^"]+" after LIMIT', answer.stderr)
    assert "CURSOR" not in answer.stdout


def test_json_is_the_kip_response(loaded: Invoke) -> None:
    answer = loaded("run", NAMES, "--format", "json")
    assert answer.stdout == '{"result": [["Aspirin", "阿司匹林"], [2, null]]}\n'
    assert answer.stderr == ""


def test_json_of_an_error_is_the_kip_response(loaded: Invoke) -> None:
    answer = loaded("run", 'FIND(?d) WHERE { ?d {type: "drug"} }', "--format", "json")
    assert answer.exit_code == 1
    error = json.loads(answer.stdout)["error"]
    assert error["code"] == "KIP_2001"
    assert error["message"] == "1:28 Concept type 'drug' is not defined."


def test_json_of_a_syntax_error_is_the_kip_response(invoke: Invoke) -> None:
    answer = invoke("run", "FIND(3)", "--format", "json")
    assert answer.exit_code == 1
    assert json.loads(answer.stdout)["error"]["code"] == "KIP_1001"


def test_an_error_has_its_place_a_caret_and_a_hint(loaded: Invoke) -> None:
    answer = loaded("run", 'FIND(?d)\nWHERE { ?d {type: "drug"} }')
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert answer.stderr == (
        "KIP_2001 2:19 Concept type 'drug' is not defined.\n"
        '  WHERE { ?d {type: "drug"} }\n'
        "                    ^^^^^^\n"
        "Hint: Did you mean 'Drug'? Names are case-sensitive.\n"
    )


def test_an_error_of_a_write_has_a_caret_too(loaded: Invoke) -> None:
    answer = loaded("run", 'UPSERT { CONCEPT { {type: "Nope", name: "x"} } }')
    assert '{type: "Nope", name: "x"}' in answer.stderr
    assert "\n                            ^^^^^^\n" in answer.stderr


def test_the_caret_stands_below_its_place_behind_wide_characters(loaded: Invoke) -> None:
    answer = loaded("run", 'FIND(?d) WHERE { ?d {name: "阿司匹林", type: "drug"} }')
    line, carets = answer.stderr.splitlines()[1:3]
    assert line.index('"drug"') + len("阿司匹林") == carets.index("^")


def test_a_long_line_is_cut_around_the_place_of_the_error(loaded: Invoke) -> None:
    noise = "x" * 5_000
    command = f'FIND(?d) WHERE {{ ?d {{name: "{noise[:900]}", type: "drug"}} }} // {noise}'
    line, carets = loaded("run", command).stderr.splitlines()[1:3]
    assert len(line) <= 100
    assert line[carets.index("^") :].startswith('"drug"')


def test_control_characters_of_a_value_do_not_reach_the_terminal(loaded: Invoke) -> None:
    attributes = 'SET ATTRIBUTES { note: "a\\u001b[31m\\nb" }'
    loaded("run", f'UPSERT {{ CONCEPT {{ {{type: "Drug", name: "x"}} {attributes} }} }}')
    answer = loaded("run", 'FIND(?d.attributes.note) WHERE { ?d {type: "Drug", name: "x"} }')
    assert "\x1b" not in answer.stdout
    assert "│ a\\u001b[31m\\nb     │" in answer.stdout


def test_markup_in_a_value_is_shown_as_it_is(loaded: Invoke) -> None:
    loaded("run", 'UPSERT { CONCEPT { {type: "Drug", name: "[red]x[/red] :smile:"} } }')
    answer = loaded("run", 'FIND(?d.name) WHERE { ?d {type: "Drug"} }')
    assert "│ [red]x[/red] :smile: │" in answer.stdout


def test_long_cells_are_whole_when_piped(loaded: Invoke) -> None:
    name = "long " * 100 + "end"
    loaded("run", f'UPSERT {{ CONCEPT {{ {{type: "Drug", name: "{name}"}} }} }}')
    assert f"│ {name} │" in loaded("run", 'FIND(?d.name) WHERE { ?d {type: "Drug"} }').stdout


def test_a_header_breaks_at_its_dots_where_it_is_narrow(
    loaded: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "34")
    lines = loaded("run", NAMES).stdout.splitlines()
    assert lines[1:4] == [
        "│          │          ?d │",
        "│          │ .attributes │",
        "│ ?d.name  │ .risk_level │",
    ]


def test_too_many_columns_are_shown_one_value_a_line(
    loaded: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "31")
    assert loaded("run", NAMES).stdout == (
        "?d.name                   Aspir\n"
        "                          in\n"
        "?d.attributes.risk_level  2\n"
        "\n"
        "?d.name                   阿司\n"
        "                          匹林\n"
        "?d.attributes.risk_level  null\n"
    )


def test_a_receipt_is_keys_and_values(loaded: Invoke) -> None:
    answer = loaded("run", 'UPSERT { CONCEPT { {type: "Drug", name: "Ibuprofen"} } }')
    assert answer.stdout == (
        "blocks                    1\n"
        "upsert_concept_nodes      C:Drug/Ibuprofen\n"
        "upsert_proposition_links  none\n"
    )


def test_names_of_describe_are_lines(loaded: Invoke) -> None:
    answer = loaded("run", "DESCRIBE DOMAINS")
    assert answer.stdout == "Archived\nCoreSchema\nSystem\nUnsorted\n"


def test_found_elements_without_attributes_are_a_table(loaded: Invoke) -> None:
    answer = loaded("run", 'SEARCH CONCEPT "阿司匹林"')
    assert answer.exit_code == 0
    assert "Drug:阿司匹林" in answer.stdout


def test_found_elements_of_search_are_a_table(loaded: Invoke) -> None:
    answer = loaded("run", 'SEARCH CONCEPT "aspirin"')
    assert answer.stdout.splitlines()[1].split() == ["│", "found", "│", "score", "│"]
    assert "Drug:Aspirin" in answer.stdout


def test_the_primer_is_an_outline(loaded: Invoke) -> None:
    lines = loaded("run", "DESCRIBE PRIMER").stdout.splitlines()
    assert lines[0] == "identity"
    assert re.fullmatch(r"  person_class +AI", lines[2])


def test_a_parameter_is_json_or_else_a_string(loaded: Invoke) -> None:
    command = 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.risk_level == :x) }'
    assert "Aspirin" in loaded("run", command, "--param", "x=2").stdout
    command = 'FIND(?d.attributes.risk_level) WHERE { ?d {type: "Drug", name: :name} }'
    assert "│ " in loaded("run", command, "-p", "name=Aspirin").stdout


def test_a_single_parameter_overrides_the_file(loaded: Invoke, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('{"name": "Nobody"}', "utf-8")
    command = 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.name == :name) }'
    asked = ("run", command, "--params-file", "p.json")
    assert loaded(*asked).stderr == "0 rows\n"
    assert loaded(*asked, "--param", "name=Aspirin").stderr == "1 row\n"


def test_a_parameter_without_a_value_is_a_usage_error(loaded: Invoke) -> None:
    assert loaded("run", NAMES, "--param", "x").exit_code == 2


def test_a_command_and_a_file_are_a_usage_error(loaded: Invoke) -> None:
    assert loaded("run", NAMES, "--file", "drugs.kip").exit_code == 2


def test_a_params_file_that_is_no_object_is_one_sentence(loaded: Invoke, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text("[1]", "utf-8")
    answer = loaded("run", NAMES, "--params-file", "p.json")
    assert answer.exit_code == 1
    assert answer.stderr == "kiprdf: p.json does not contain a JSON object of parameters.\n"


def test_a_dry_run_writes_nothing(loaded: Invoke) -> None:
    answer = loaded("run", 'UPSERT { CONCEPT { {type: "Drug", name: "New"} } }', "--dry-run")
    assert answer.exit_code == 0
    assert answer.stderr == "Dry run: everything was checked, nothing was written.\n"
    assert "New" not in loaded("run", NAMES).stdout


def test_readonly_refuses_a_write_at_its_first_word(loaded: Invoke) -> None:
    answer = loaded("run", 'UPSERT { CONCEPT { {type: "Drug", name: "x"} } }', "--readonly")
    assert answer.exit_code == 1
    assert answer.stderr == (
        "KIP_1001 1:1 --readonly refuses commands that write.\n"
        '  UPSERT { CONCEPT { {type: "Drug", name: "x"} } }\n'
        "  ^^^^^^\n"
        "Hint: Remove --readonly.\n"
    )


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
def test_reading_makes_no_nexus(invoke: Invoke, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    answer = invoke(*arguments)
    assert answer.exit_code == 1
    assert answer.stderr == (
        "kiprdf: There is no nexus in nexus; create one with kiprdf load, run, import, restore or "
        "shell, or name another folder with --nexus or KIPRDF_NEXUS.\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_mistyped_write_makes_no_nexus(invoke: Invoke, tmp_path: Path) -> None:
    assert invoke("run", "UPSERT { CONCEPT").exit_code == 1
    assert list(tmp_path.iterdir()) == []


def test_the_environment_names_the_nexus(invoke: Invoke, drugs: Path, tmp_path: Path) -> None:
    invoke("load", str(drugs), env={"KIPRDF_NEXUS": "brain"})
    assert (tmp_path / "brain").is_dir()
    assert not (tmp_path / "nexus").exists()


def test_the_base_is_chosen_when_the_nexus_is_made(invoke: Invoke, drugs: Path) -> None:
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


# load, snapshot, restore, explain, info -------------------------------------------------------


def test_load_tells_what_each_capsule_added(invoke: Invoke, drugs: Path) -> None:
    answer = invoke("load", "drugs.kip", "drugs.kip")
    assert answer.stdout == (
        "drugs.kip: 6 concepts and 1 propositions added\n"
        "drugs.kip: 0 concepts and 0 propositions added\n"
    )
    assert answer.stderr == ""


def test_the_bundled_example_is_loaded_by_its_name(invoke: Invoke) -> None:
    assert invoke("load", "medical").exit_code == 0
    assert "Aspirin" in invoke("run", 'FIND(?d.name) WHERE { ?d {type: "Drug"} }').stdout


def test_a_faulty_capsule_keeps_the_capsules_before_it(
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
        ("absent", None, "There is no file and no bundled example named absent."),
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


def test_a_line_that_is_no_turtle_is_a_kip_error(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text("nonsense", "utf-8")
    answer = invoke("restore", "a.ttl", "--base-iri", "urn:kip:nexus/")
    assert answer.exit_code == 1
    assert answer.stderr.startswith("KIP_1001 1:1 The text is no Turtle: ")


def test_a_used_nexus_is_not_restored_into(loaded: Invoke) -> None:
    loaded("snapshot", "a.ttl")
    answer = loaded("restore", "a.ttl")
    assert answer.exit_code == 1
    assert answer.stderr.startswith("KIP_2002 ")


def test_engine_metadata_can_be_left_out(loaded: Invoke) -> None:
    assert "meta:_version" in loaded("snapshot").stdout
    assert "meta:_version" not in loaded("snapshot", "--no-engine-metadata").stdout


@pytest.mark.parametrize(
    ("target", "reason"),
    [(".", "Is a directory"), ("nowhere/a.ttl", "No such file or directory")],
)
def test_a_snapshot_that_cannot_be_written_is_one_sentence(
    loaded: Invoke, target: str, reason: str
) -> None:
    answer = loaded("snapshot", target)
    assert answer.exit_code == 1
    assert answer.stderr == f"kiprdf: {target} cannot be written: {reason}.\n"


def test_explain_shows_the_sparql(loaded: Invoke) -> None:
    answer = loaded("explain", "FIND(?d) WHERE { ?d {type: :t} }", "--param", "t=Drug")
    assert "SELECT" in answer.stdout
    assert "type:Drug" in answer.stdout


def test_explain_takes_a_find_only(loaded: Invoke) -> None:
    answer = loaded("explain", "DESCRIBE PRIMER")
    assert answer.exit_code == 1
    assert answer.stderr == (
        "KIP_1001 1:1 Only FIND is translated to SPARQL.\n"
        "  DESCRIBE PRIMER\n"
        "  ^^^^^^^^\n"
        "Hint: Begin with FIND.\n"
    )


def test_info_is_json_on_demand(loaded: Invoke, tmp_path: Path) -> None:
    found = json.loads(loaded("info", "--format", "json").stdout)
    assert found["folder"] == str(tmp_path / "nexus")
    assert found["proposition_types"] > 0


def test_a_failed_restore_leaves_no_nexus_behind(tmp_path: Path) -> None:
    broken = tmp_path / "broken.ttl"
    broken.write_text("# kiprdf 1 base <https://a.example/>\n<urn:a> <urn:b> <urn:c> .\n", "utf-8")
    found = CliRunner().invoke(app, ["restore", "--nexus", str(tmp_path / "new"), str(broken)])
    assert found.exit_code == 1
    assert not (tmp_path / "new").exists()


def test_a_failed_write_leaves_an_old_nexus_alone(tmp_path: Path) -> None:
    folder = ["--nexus", str(tmp_path / "old")]
    good = 'UPSERT { CONCEPT { {type: "Domain", name: "Mine"} } }'
    bad = 'UPSERT { CONCEPT { {type: "Nothing", name: "Mine"} } }'
    assert CliRunner().invoke(app, ["run", *folder, good]).exit_code == 0
    assert CliRunner().invoke(app, ["run", *folder, bad]).exit_code == 1
    assert "Mine" in CliRunner().invoke(app, ["run", *folder, "DESCRIBE DOMAINS"]).output


def test_reading_under_another_base_is_refused(tmp_path: Path) -> None:
    folder = ["--nexus", str(tmp_path / "old")]
    good = 'UPSERT { CONCEPT { {type: "Domain", name: "Mine"} } }'
    assert CliRunner().invoke(app, ["run", *folder, good]).exit_code == 0
    command = ["run", *folder, "--base-iri", "https://z.example/", "DESCRIBE DOMAINS"]
    assert CliRunner().invoke(app, command).exit_code == 1
