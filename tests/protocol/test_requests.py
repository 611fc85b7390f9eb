"""Requests, batches and responses of KIP 6."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

import kiprdf
from kiprdf import protocol
from kiprdf.kml import draft
from tests.cases import each_case
from tests.nexus.support import FACTS, SCHEMA, commit, dataset, medical, untouched

DRUGS = 'FIND(?d.name) WHERE { ?d {type: "Drug"} } ORDER BY ?d.name'
NEW = 'UPSERT { CONCEPT { {type: "Drug", name: :name} } }'
GOOD_WRITE = 'UPSERT { CONCEPT { {type: "Drug", name: "Good"} } }'
GOOD_CHANGE = 'UPDATE ?d SET ATTRIBUTES {risk_level: 9} WHERE { ?d {type: "Drug"} }'
BAD_WRITE = 'UPSERT { CONCEPT { {id: "C:Drug/Nothing"} } }'


@pytest.fixture
def nexus() -> kiprdf.Nexus:
    return medical()


# The request


@pytest.mark.parametrize("call", ["execute_kip", "execute_kip_readonly"])
@each_case(
    "request_",
    [
        {},
        {"parameters": {}},
        {"command": DRUGS, "commands": [DRUGS]},
        {"command": None},
        {"command": None, "commands": None},
        {"command": 3},
        {"command": [DRUGS]},
        {"command": {"command": DRUGS}},
        {"commands": DRUGS},
        {"commands": [3]},
        {"commands": [None]},
        {"commands": [[DRUGS]]},
        {"commands": [{}]},
        {"commands": [{"command": 3}]},
        {"commands": [{"command": DRUGS, "parameters": []}]},
        {"commands": [{"command": DRUGS, "dry_run": True}]},
        {"commands": [{"command": DRUGS, "commands": []}]},
        {"command": DRUGS, "dryrun": True},
        {"command": DRUGS, "dry-run": True},
        {"command": DRUGS, "parameter": {}},
        {"command": DRUGS, "parameters": []},
        {"command": DRUGS, "parameters": "x"},
        {"command": DRUGS, "parameters": {3: "x"}},
        {"command": DRUGS, "dry_run": "yes"},
        {"command": DRUGS, "dry_run": 1},
        [],
        None,
        "DESCRIBE PRIMER",
        3,
        [DRUGS],
    ],
)
def test_a_malformed_request_is_kip_1001(nexus: kiprdf.Nexus, call: str, request_: Any) -> None:
    with untouched(nexus):
        response = getattr(nexus, call)(request_)
    assert (set(response), response["error"]["code"]) == ({"error"}, "KIP_1001")


@pytest.mark.parametrize(
    ("request_", "word"),
    [
        ({"command": DRUGS, "dryrun": True}, "dryrun"),
        ({"command": 3}, "command"),
        ({"commands": [DRUGS, {"comand": DRUGS}]}, "comand"),
        ({"command": DRUGS, "parameters": []}, "parameters"),
    ],
)
def test_the_error_of_a_malformed_request_names_the_field(
    nexus: kiprdf.Nexus, request_: Any, word: str
) -> None:
    assert word in nexus.execute_kip(request_)["error"]["message"]


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        (
            {"parameters": '{"limit": 3'},
            '`parameters` is an object: {"parameters": {"name": "Ada"}}.',
        ),
        ({"dry_run": "yes"}, "`dry_run` is true or false."),
        (
            {"as_of": "2026-01-01"},
            '`as_of` is {"time": "2026-01-31T12:00:00Z"} or {"seq": 12}.',
        ),
        (
            {"as_of": {"when": "2026-01-01"}},
            '`as_of` is {"time": "2026-01-31T12:00:00Z"} or {"seq": 12}.',
        ),
        (
            {"dryrun": True},
            "The fields are command or commands, parameters, dry_run, as_of, view, why, entail, "
            "max_chars.",
        ),
    ],
)
def test_the_hint_for_a_malformed_field_shows_its_form(
    nexus: kiprdf.Nexus, given: dict[str, Any], hint: str
) -> None:
    assert nexus.execute_kip({"command": DRUGS, **given})["error"]["hint"] == hint
    assert "error" not in nexus.execute_kip({"command": DRUGS})


@pytest.mark.parametrize(
    "request_",
    [
        {"command": DRUGS},
        {"command": DRUGS, "parameters": None},
        {"command": f"{DRUGS} // 💊"},
        {"command": f"{DRUGS} // \ud800"},
        {"command": DRUGS, "parameters": {"\ud800": 1}},
        {"command": DRUGS, "parameters": {"no name": 1}},
        {"command": NEW, "parameters": {"name": "\ud800"}},
        {"command": DRUGS, "parameters": {3: "x"}},
    ],
    ids=ascii,
)
def test_a_plain_request_and_the_same_with_a_default_are_answered_alike(
    nexus: kiprdf.Nexus, request_: dict[str, Any]
) -> None:
    assert nexus.execute_kip(request_) == nexus.execute_kip({**request_, "as_of": None})


def test_a_misspelt_dry_run_does_not_write(nexus: kiprdf.Nexus) -> None:
    with untouched(nexus):
        nexus.execute_kip({"command": GOOD_WRITE, "dry_run ": True})


@pytest.mark.parametrize("parameters", [{}, {"unused": 1}, {"unused": None, "other": [1]}])
def test_unused_parameters_are_fine(nexus: kiprdf.Nexus, parameters: Any) -> None:
    response = nexus.execute_kip({"command": DRUGS, "parameters": parameters})
    assert response == {"result": ["Aspirin"]}


def test_a_request_is_not_changed(nexus: kiprdf.Nexus) -> None:
    request = {
        "commands": [{"command": NEW, "parameters": {"name": "a"}}],
        "parameters": {"x": [1]},
    }
    nexus.execute_kip(request)
    assert request == {
        "commands": [{"command": NEW, "parameters": {"name": "a"}}],
        "parameters": {"x": [1]},
    }


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("levels", [65, 10_000])
def test_parameters_that_nest_too_deeply_are_kip_4002(nexus: kiprdf.Nexus, levels: int) -> None:
    command = 'UPSERT { CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES { v: :v } } }'
    with untouched(nexus):
        response = nexus.execute_kip({"command": command, "parameters": {"v": deep(levels)}})
    assert response["error"]["code"] == "KIP_4002"


def test_a_parameter_that_contains_itself_is_a_kip_error(nexus: kiprdf.Nexus) -> None:
    endless: list[Any] = []
    endless.append(endless)
    command = 'UPSERT { CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES { v: :v } } }'
    with untouched(nexus):
        response = nexus.execute_kip({"command": command, "parameters": {"v": endless}})
    assert response["error"]["code"] == "KIP_4002"


@pytest.mark.parametrize(
    "text", ["", " ", "\x00", "\ud800", "// only a comment", "FIND", "💊" * 99]
)
def test_a_text_that_is_no_command_is_kip_1001(nexus: kiprdf.Nexus, text: str) -> None:
    response = nexus.execute_kip({"command": text})
    assert response["error"]["code"] == "KIP_1001"


# The response


def test_a_success_is_a_result_and_nothing_else(nexus: kiprdf.Nexus) -> None:
    assert nexus.execute_kip({"command": DRUGS}) == {"result": ["Aspirin"]}


def test_an_error_has_code_name_message_and_hint(nexus: kiprdf.Nexus) -> None:
    response = nexus.execute_kip({"command": 'FIND(?x) WHERE { ?x {type: "drug"} }'})
    assert response == {
        "error": {
            "code": "KIP_2001",
            "name": "TypeMismatch",
            "message": "1:28 Concept type 'drug' is not defined.",
            "hint": "Did you mean 'Drug'? Names are case-sensitive.",
        }
    }


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ('FIND(?a, 3) WHERE { ?a {name: "x"} }', "1:10 "),
        ('FIND(?a)\nWHERE {\n  ?a {type: "drug"}\n}', "3:13 "),
        ('FIND(?b)\nWHERE { ?a {name: "x"} }', "1:6 "),
        ('UPSERT {\n  CONCEPT { {id: "C:Drug/No"} } }', "2:18 "),
        ('FIND(?a) WHERE { ?a {type: "Drug", name: "Asprin"} }', "1:42 "),
        ("FIND(?a) WHERE { ?a {name: :n} }", "1:28 "),
        ('SEARCH CONCEPT "..."', "1:16 "),
        ('DESCRIBE CONCEPT TYPE "No"', "1:23 "),
    ],
)
def test_an_error_begins_with_line_and_column(
    nexus: kiprdf.Nexus, command: str, place: str
) -> None:
    message = nexus.execute_kip({"command": command})["error"]["message"]
    assert message.startswith(place), message


def test_columns_count_code_points(nexus: kiprdf.Nexus) -> None:
    command = 'FIND(?a) WHERE { ?b {name: "💊💊"} ?a {type: "drug"} }'
    message = nexus.execute_kip({"command": command})["error"]["message"]
    assert message.startswith(f"1:{command.index('drug')} ")


def test_a_page_comes_with_the_cursor_of_the_next(nexus: kiprdf.Nexus) -> None:
    command = 'FIND(?s.name) WHERE { ?s {type: "Symptom"} } ORDER BY ?s.name LIMIT 1'
    first = nexus.execute_kip({"command": command})
    assert (first["result"], set(first)) == (["Fever"], {"result", "next_cursor"})
    request = {"command": command + " CURSOR :c", "parameters": {"c": first["next_cursor"]}}
    assert nexus.execute_kip(request) == {"result": ["Headache"]}


# Batches


def codes(response: dict[str, Any]) -> list[str]:
    return [item["error"]["code"] if "error" in item else "ok" for item in response["result"]]


def test_a_batch_answers_every_command_in_order(nexus: kiprdf.Nexus) -> None:
    response = nexus.execute_kip({"commands": [DRUGS, GOOD_WRITE, DRUGS]})
    assert response == {
        "result": [
            {"result": ["Aspirin"]},
            {
                "result": {
                    "blocks": 1,
                    "upsert_concept_nodes": ["C:Drug/Good"],
                    "upsert_proposition_links": [],
                }
            },
            {"result": ["Aspirin", "Good"]},
        ]
    }


def test_an_empty_batch_is_an_empty_result(nexus: kiprdf.Nexus) -> None:
    assert nexus.execute_kip({"commands": []}) == {"result": []}


@each_case(
    "failing",
    [
        BAD_WRITE,
        'UPSERT { CONCEPT { {type: "drug", name: "x"} } }',
        'UPSERT { PROPOSITION { (?a, "treats", ?b) } }',
        'UPSERT { CONCEPT { {type: "Drug", name: "x"} } WITH METADATA { _version: 1 } }',
        'DELETE CONCEPT ?x DETACH WHERE { ?x {type: "Drug", name: "No"} }',
        'DELETE CONCEPT ?t DETACH WHERE { ?t {type: "$ConceptType", name: "Drug"} }',
        'DELETE ATTRIBUTES {"a"} FROM ?y WHERE { ?x {type: "Drug"} }',
    ],
)
def test_the_first_write_whose_execution_fails_is_the_last(
    nexus: kiprdf.Nexus, failing: str
) -> None:
    with untouched(nexus):
        response = nexus.execute_kip({"commands": [DRUGS, failing, GOOD_WRITE, DRUGS]})
    assert (len(response["result"]), codes(response)[0]) == (2, "ok")


@pytest.mark.parametrize(
    ("failing", "code"),
    [
        ("UPSERT {", "KIP_1001"),
        ('UPSERT { CONCEPT { {type: :nobody, name: "x"} } }', "KIP_1001"),
        ('UPSERT { CONCEPT { {type: "Drug", name: "x"} SET ATTRIBUTES { 1a: 1 } } }', "KIP_100"),
        ('DELETE CONCEPT ?x WHERE { ?x {type: "Drug"} }', "KIP_1001"),
        ('FIND(?x) WHERE { ?x {type: "drug"} }', "KIP_2001"),
        ('FIND(?x) WHERE { ?x {type: "Drug", name: "No"} }', "KIP_3002"),
        ("FIND(", "KIP_1001"),
        ('DESCRIBE CONCEPT TYPE "No"', "KIP_3002"),
        ('SEARCH CONCEPT "..."', "KIP_1001"),
        ("NONSENSE", "KIP_1001"),
    ],
)
def test_other_errors_are_inline_and_the_batch_continues(
    nexus: kiprdf.Nexus, failing: str, code: str
) -> None:
    response = nexus.execute_kip({"commands": [failing, GOOD_WRITE, DRUGS]})
    outcomes = codes(response)
    assert (outcomes[0].startswith(code), outcomes[1:]) == (True, ["ok", "ok"])


def test_what_was_written_before_the_failing_command_stays(nexus: kiprdf.Nexus) -> None:
    nexus.execute_kip({"commands": [GOOD_WRITE, BAD_WRITE]})
    assert nexus.execute(DRUGS) == ["Aspirin", "Good"]


def test_each_write_of_a_batch_is_its_own_commit(nexus: kiprdf.Nexus) -> None:
    before = commit(nexus)
    batch = [{"command": NEW, "parameters": {"name": name}} for name in "abc"]
    nexus.execute_kip({"commands": batch})
    assert commit(nexus) == before + 3


def test_shared_parameters_reach_every_command(nexus: kiprdf.Nexus) -> None:
    command = "FIND(?x.id) WHERE { ?x {name: :name} }"
    response = nexus.execute_kip(
        {"commands": [command, {"command": command}], "parameters": {"name": "Ann"}}
    )
    assert response["result"] == [{"result": ["C:User/Ann"]}, {"result": ["C:User/Ann"]}]


def test_item_parameters_override_shared_ones_key_by_key(nexus: kiprdf.Nexus) -> None:
    command = "FIND(?x.id) WHERE { ?x {type: :type, name: :name} }"
    response = nexus.execute_kip(
        {
            "commands": [
                {"command": command, "parameters": {"type": "User", "name": "Ann"}},
                {"command": command, "parameters": {"name": "Aspirin"}},
            ],
            "parameters": {"type": "Drug", "name": "No"},
        }
    )
    assert response["result"] == [{"result": ["C:User/Ann"]}, {"result": ["C:Drug/Aspirin"]}]


def test_item_parameters_do_not_reach_the_next_command(nexus: kiprdf.Nexus) -> None:
    command = "FIND(?x.id) WHERE { ?x {name: :name} }"
    response = nexus.execute_kip(
        {"commands": [{"command": command, "parameters": {"name": "Ann"}}, command]}
    )
    assert codes(response) == ["ok", "KIP_1001"]


def test_a_later_command_sees_a_type_that_an_earlier_one_registered(nexus: kiprdf.Nexus) -> None:
    response = nexus.execute_kip(
        {
            "commands": [
                'UPSERT { CONCEPT { {type: "$ConceptType", name: "City"} } }',
                'UPSERT { CONCEPT { {type: "City", name: "Rome"} } }',
                'FIND(?c.name) WHERE { ?c {type: "City"} }',
            ]
        }
    )
    assert response["result"][2] == {"result": ["Rome"]}


def test_256_commands_are_run(nexus: kiprdf.Nexus) -> None:
    response = nexus.execute_kip({"commands": ["DESCRIBE DOMAINS"] * 256})
    assert codes(response) == ["ok"] * 256


def test_257_commands_are_refused_before_the_first(nexus: kiprdf.Nexus) -> None:
    with untouched(nexus):
        response = nexus.execute_kip({"commands": [GOOD_WRITE] * 257})
    assert response["error"]["code"] == "KIP_4002"


def test_a_batch_can_be_a_dry_run(nexus: kiprdf.Nexus) -> None:
    with untouched(nexus):
        response = nexus.execute_kip({"commands": [GOOD_WRITE, DRUGS], "dry_run": True})
    assert sorted(response["result"][1]["result"]) == ["Aspirin", "Good"]


def test_a_failing_dry_run_ends_a_batch_like_a_write(nexus: kiprdf.Nexus) -> None:
    response = nexus.execute_kip({"commands": [BAD_WRITE, DRUGS], "dry_run": True})
    assert codes(response) == ["KIP_3002"]


# Read-only calls


@pytest.mark.parametrize(
    "command",
    [
        SCHEMA,
        FACTS,
        'DELETE ATTRIBUTES {"a"} FROM ?d WHERE { ?d {type: "Drug"} }',
        'DELETE METADATA {"a"} FROM ?d WHERE { ?d {type: "Drug"} }',
        'DELETE PROPOSITIONS ?l WHERE { ?l (?s, "treats", ?o) }',
        'DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug"} }',
    ],
)
@pytest.mark.parametrize("dry_run", [False, True])
def test_readonly_refuses_every_write_and_names_the_other_call(
    nexus: kiprdf.Nexus, command: str, dry_run: bool
) -> None:
    with untouched(nexus):
        error = nexus.execute_kip_readonly({"command": command, "dry_run": dry_run})["error"]
    assert (error["code"], "execute_kip" in error["hint"]) == ("KIP_1001", True)


@pytest.mark.parametrize(
    "command",
    [DRUGS, "DESCRIBE PRIMER", "DESCRIBE DOMAINS", "DESCRIBE CONCEPT TYPES", 'SEARCH CONCEPT "x"'],
)
def test_readonly_answers_as_the_other_call_does(nexus: kiprdf.Nexus, command: str) -> None:
    request = {"command": command}
    assert nexus.execute_kip_readonly(request) == nexus.execute_kip(request)


def test_a_readonly_batch_never_stops(nexus: kiprdf.Nexus) -> None:
    response = nexus.execute_kip_readonly(
        {"commands": [BAD_WRITE, GOOD_WRITE, "FIND(", 'DESCRIBE CONCEPT TYPE "No"', DRUGS]}
    )
    assert codes(response) == ["KIP_1001", "KIP_1001", "KIP_1001", "KIP_3002", "ok"]


# Our own faults


class Broken(Exception):
    pass


def broken(*_: Any, **__: Any) -> Any:
    raise Broken("secret detail")


STAGES = {
    "check": ("kiprdf.execution.writer.check", GOOD_WRITE),
    "bind": ("kiprdf.language.Template.bind", GOOD_WRITE),
    "parse": ("kiprdf.execution.statements.parse", GOOD_WRITE),
    "upsert": ("kiprdf.kml.upsert.upsert", GOOD_WRITE),
    "delta": ("kiprdf.kml.draft.Draft.delta", GOOD_WRITE),
    "protection": ("kiprdf.kml.protection.check_protection", GOOD_WRITE),
    "apply": ("kiprdf.store.oxigraph.OxigraphStore.apply", GOOD_WRITE),
    "rows": ("kiprdf.store.oxigraph.rows_of", GOOD_WRITE),
    "render": ("kiprdf.store.oxigraph.render_update", GOOD_CHANGE),
    "translate": ("kiprdf.kql.plan.translate", DRUGS),
    "select": ("kiprdf.store.oxigraph.OxigraphStore.select", DRUGS),
    "shape": ("kiprdf.kql.results.shape", DRUGS),
    "describe": ("kiprdf.meta.describe.describe", "DESCRIBE PRIMER"),
    "search": ("kiprdf.meta.indexing.search", 'SEARCH CONCEPT "x"'),
}


@pytest.mark.parametrize("stage", STAGES)
def test_an_unforeseen_fault_is_kip_4003_logged_and_leaves_the_store(
    nexus: kiprdf.Nexus,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    stage: str,
) -> None:
    target, command = STAGES[stage]
    before = dataset(nexus)
    with monkeypatch.context() as patched, caplog.at_level(logging.ERROR):
        patched.setattr(target, broken)
        response = nexus.execute_kip({"command": command})
    assert (response["error"]["code"], response["error"]["name"]) == ("KIP_4003", "InternalError")
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [Broken]
    assert dataset(nexus) == before


def test_after_an_unforeseen_fault_the_nexus_remains_usable(
    nexus: kiprdf.Nexus, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(draft.Draft, "delta", broken)
        nexus.execute_kip({"command": GOOD_WRITE})
    assert nexus.execute(GOOD_WRITE)["upsert_concept_nodes"] == ["C:Drug/Good"]


def test_an_unforeseen_fault_in_a_write_ends_a_batch(
    nexus: kiprdf.Nexus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kiprdf.kml.upsert.upsert", broken)
    assert codes(nexus.execute_kip({"commands": [GOOD_WRITE, DRUGS]})) == ["KIP_4003"]


def test_an_unforeseen_fault_of_the_library_call_is_a_kip_error(
    nexus: kiprdf.Nexus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kiprdf.kml.upsert.upsert", broken)
    with pytest.raises(kiprdf.KipError) as raised:
        nexus.execute(GOOD_WRITE)
    assert (raised.value.code, type(raised.value.__cause__)) == ("KIP_4003", Broken)


def test_a_fault_of_the_index_fails_no_write(
    nexus: kiprdf.Nexus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kiprdf.meta.indexing.index_rows", broken)
    response = nexus.execute_kip({"command": GOOD_WRITE})
    assert response["result"]["upsert_concept_nodes"] == ["C:Drug/Good"]


# The function-calling schemas


@pytest.fixture(scope="module")
def schemas() -> list[dict[str, Any]]:
    return protocol.function_schemas()


def test_both_calls_have_a_schema(schemas: list[dict[str, Any]]) -> None:
    assert [schema["name"] for schema in schemas] == ["execute_kip", "execute_kip_readonly"]


def test_a_schema_has_name_description_and_parameters(schemas: list[dict[str, Any]]) -> None:
    assert [set(schema) for schema in schemas] == [{"name", "description", "parameters"}] * 2


def test_the_parameters_are_a_closed_object(schemas: list[dict[str, Any]]) -> None:
    for schema in schemas:
        parameters = schema["parameters"]
        assert (parameters["type"], parameters["additionalProperties"]) == ("object", False)


def test_the_fields_are_those_of_a_request(schemas: list[dict[str, Any]]) -> None:
    for schema in schemas:
        assert {"command", "commands", "parameters"} <= set(schema["parameters"]["properties"])


def test_every_field_is_described(schemas: list[dict[str, Any]]) -> None:
    for schema in schemas:
        for name, field in schema["parameters"]["properties"].items():
            assert len(field.get("description", "")) > 20, name


def test_the_fields_of_a_batch_item_are_described(schemas: list[dict[str, Any]]) -> None:
    commands = schemas[0]["parameters"]["properties"]["commands"]
    text, item = commands["items"]["anyOf"]
    assert text == {"type": "string"}
    assert (item["required"], item["additionalProperties"]) == (["command"], False)
    assert all(field["description"] for field in item["properties"].values())


def test_every_type_of_a_schema_is_one_of_json_schema(schemas: list[dict[str, Any]]) -> None:
    json_types = {"object", "array", "string", "number", "integer", "boolean", "null"}

    def types(node: Any) -> set[str]:
        if isinstance(node, dict):
            own = {node["type"]} if isinstance(node.get("type"), str) else set()
            return own.union(*(types(value) for value in node.values()))
        return set().union(*map(types, node)) if isinstance(node, list) else set()

    assert types([schema["parameters"] for schema in schemas]) <= json_types


def test_a_schema_is_plain_json(schemas: list[dict[str, Any]]) -> None:
    assert json.loads(json.dumps(schemas)) == schemas


def test_the_package_exports_the_schemas(schemas: list[dict[str, Any]]) -> None:
    assert kiprdf.function_schemas() == schemas


def test_the_commands_in_the_descriptions_run(schemas: list[dict[str, Any]]) -> None:
    for schema in schemas:
        assert len(schema["description"]) <= 1024
        quoted = schema["description"].split("`")[1::2]
        commands = [text for text in quoted if text[:4].isupper()]
        assert len(commands) >= 4
        with kiprdf.Nexus.memory() as nexus:
            answers = [getattr(nexus, schema["name"])({"command": text}) for text in commands]
            assert [answer for answer in answers if "error" in answer] == []


def test_the_two_schemas_share_nothing_that_can_be_changed() -> None:
    first, second = protocol.function_schemas()
    first["parameters"].clear()
    assert "command" in second["parameters"]["properties"]


@pytest.mark.parametrize(
    ("style", "key"),
    [("openai", "parameters"), ("anthropic", "input_schema"), ("mcp", "inputSchema")],
)
def test_the_styles_differ_in_the_key_of_the_arguments(
    schemas: list[dict[str, Any]], style: Any, key: str
) -> None:
    styled = protocol.function_schemas(style)
    assert [set(schema) for schema in styled] == [{"name", "description", key}] * 2
    fields = [list(schema["parameters"]["properties"]) for schema in schemas]
    assert [list(schema[key]["properties"]) for schema in styled] == fields


def test_another_style_is_refused() -> None:
    style: Any = "OpenAI"
    with pytest.raises(ValueError, match="openai, anthropic, gemini, mcp"):
        protocol.function_schemas(style)


def test_a_strict_schema_is_closed_and_requires_every_field() -> None:
    for schema in protocol.function_schemas(strict=True):
        assert schema["strict"] is True
        parameters = schema["parameters"]
        assert parameters["additionalProperties"] is False
        assert parameters["required"] == list(parameters["properties"])
        assert set(parameters["properties"]) == {"command", "commands", "parameters", "dry_run"}
        assert all(field["description"] for field in parameters["properties"].values())
        assert "default" not in json.dumps(parameters)
    assert "strict" not in protocol.function_schemas("mcp", strict=True)[0]


def test_arguments_of_a_strict_schema_are_a_request(nexus: kiprdf.Nexus) -> None:
    arguments = {"command": DRUGS, "commands": None, "parameters": None, "dry_run": False}
    assert nexus.execute_kip(arguments) == {"result": ["Aspirin"]}
    command = DRUGS.replace('"Drug"', ":type")
    arguments = {**arguments, "command": command, "parameters": '{"type": "Drug"}'}
    assert nexus.execute_kip(arguments) == {"result": ["Aspirin"]}
    arguments = {"command": None, "commands": ["DESCRIBE DOMAINS"], "dry_run": True}
    assert "result" in nexus.execute_kip(arguments)


def test_a_write_that_fails_while_it_is_carried_out_ends_the_batch() -> None:
    blanks = 'UPSERT { CONCEPT { {type: "Person", name: " a"} } }'
    with kiprdf.Nexus.memory() as nexus:
        responses = nexus.execute_kip({"commands": [blanks, "DESCRIBE DOMAINS"]})["result"]
    assert [response["error"]["code"] for response in responses] == ["KIP_1002"]


def test_a_write_that_is_not_well_formed_does_not_end_the_batch() -> None:
    nameless = 'UPSERT { CONCEPT { {type: "Person"} } }'
    with kiprdf.Nexus.memory() as nexus:
        responses = nexus.execute_kip({"commands": [nameless, "DESCRIBE DOMAINS"]})["result"]
    assert responses[0]["error"]["code"] == "KIP_1001"
    assert responses[1]["result"] == ["Archived", "CoreSchema", "System", "Unsorted"]


def test_the_function_call_of_the_specification_has_a_hint() -> None:
    call = {"function": {"name": "execute_kip", "arguments": {"command": "DESCRIBE DOMAINS"}}}
    with kiprdf.Nexus.memory() as nexus:
        assert "arguments" in nexus.execute_kip(call)["error"]["hint"]


def test_null_parameters_are_none() -> None:
    with kiprdf.Nexus.memory() as nexus:
        response = nexus.execute_kip({"command": "DESCRIBE DOMAINS", "parameters": None})
    assert "result" in response
