"""Arguments that are JSON in a text, null, or one text for a list, on every door."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.memory import Memory
from kiprdf.memory.functions import MemoryFunctions
from kiprdf.serve.routes import kip
from tests.cases import each_case
from tests.nexus.support import medical, untouched

FIND = "FIND(?x.name) WHERE { ?x {type: :type} } LIMIT :limit"
WRITE = 'UPSERT { CONCEPT { {type: "Drug", name: "New"} SET ATTRIBUTES {note: :note} } }'
NOTE = 'FIND(?d.attributes.note) WHERE { ?d {type: "Drug", name: "New"} }'
PARAMETERS = {"type": "Drug", "limit": 5}
PLAIN = {"command": FIND, "parameters": PARAMETERS}
ITEM = {"command": FIND, "parameters": PARAMETERS}


@pytest.fixture
def nexus() -> kiprdf.Nexus:
    return medical()


@each_case(
    "request_",
    [
        json.dumps(PLAIN),
        {**PLAIN, "parameters": json.dumps(PARAMETERS)},
        {**PLAIN, "parameters": f" \n{json.dumps(PARAMETERS, indent=1)} "},
        {**PLAIN, "dry_run": "true"},
        {**PLAIN, "dry_run": "False", "why": "FALSE"},
        {**PLAIN, "entail": "true", "view": "believed"},
        dict.fromkeys(("commands", "dry_run", "as_of", "view", "why", "entail")) | PLAIN,
        {**PLAIN, "commands": []},
        {**PLAIN, "commands": "", "as_of": "null"},
    ],
)
def test_what_is_certain_is_read(nexus: kiprdf.Nexus, request_: Any) -> None:
    for execute in (nexus.execute_kip, nexus.execute_kip_readonly):
        assert execute(request_) == {"result": ["Aspirin"]}


def test_a_text_for_no_parameters_is_read(nexus: kiprdf.Nexus) -> None:
    for parameters in ("", "null", " null", "{}"):
        request = {"command": "DESCRIBE DOMAINS", "parameters": parameters, "commands": "[]"}
        assert nexus.execute_kip(request) == nexus.execute_kip({"command": "DESCRIBE DOMAINS"})


def test_the_hint_of_a_whole_call_says_to_send_its_arguments(nexus: kiprdf.Nexus) -> None:
    for call in (
        {"name": "execute_kip", "arguments": PLAIN},
        {"arguments": json.dumps(PLAIN)},
        {"type": "function", "function": {"name": "execute_kip", "arguments": "{}"}},
    ):
        hint = nexus.execute_kip(call)["error"]["hint"]
        assert hint == "Send the object under `arguments` itself."


@each_case(
    "commands",
    [
        json.dumps([ITEM]),
        [json.dumps(ITEM)],
        [{**ITEM, "parameters": json.dumps(PARAMETERS)}],
        json.dumps([json.dumps({**ITEM, "parameters": json.dumps(PARAMETERS), "as_of": None})]),
    ],
)
def test_a_batch_in_a_text_is_read(nexus: kiprdf.Nexus, commands: Any) -> None:
    for request in ({"commands": commands}, {"commands": commands, "command": ""}):
        assert nexus.execute_kip(request) == {"result": [{"result": ["Aspirin"]}]}


@each_case(
    "given",
    [
        {"parameters": '{"type": "Drug", "type": "Symptom", "limit": 5}'},
        {"parameters": '[{"type": "Drug"}]'},
        {"parameters": "{'type': 'Drug'}"},
        {"parameters": '{"type": "Drug", "limit": NaN}'},
        {"parameters": json.dumps(json.dumps(PARAMETERS))},
        {"dry_run": "yes"},
        {"dry_run": ""},
        {"dry_run": "null"},
        {"dry_run": 0},
        {"why": 1.0},
        {"as_of": "2026-01-01"},
        {"as_of": "2026-01-01T00:00:00"},
        {"as_of": "yesterday"},
        {"as_of": "2026"},
        {"as_of": True},
        {"as_of": {"seq": "one"}},
        {"view": "all"},
        {"entail": "same"},
        {"unknown": None},
    ],
)
def test_what_is_not_certain_is_an_error_that_shows_the_form(
    nexus: kiprdf.Nexus, given: dict[str, Any]
) -> None:
    with untouched(nexus):
        error = nexus.execute_kip({"command": WRITE, "parameters": {"note": 1}, **given})["error"]
    (field,) = given
    assert error["code"] == "KIP_1001"
    assert field in error["hint"] or field == "unknown"


@pytest.mark.parametrize("levels", [2_000, 100_000])
def test_a_text_that_nests_too_deeply_is_kip_4002(nexus: kiprdf.Nexus, levels: int) -> None:
    text = '{"note": ' * levels + "1" + "}" * levels
    whole = f'{{"command": {json.dumps(WRITE)}, "parameters": {text}}}'
    for request in ({"command": WRITE, "parameters": text}, whole):
        assert nexus.execute_kip(request)["error"]["code"] == "KIP_4002"


def test_a_batch_in_a_text_has_the_bound_of_a_batch(nexus: kiprdf.Nexus) -> None:
    with untouched(nexus):
        response = nexus.execute_kip({"commands": json.dumps([WRITE] * 257)})
    assert response["error"]["code"] == "KIP_4002"


@pytest.mark.parametrize("note", ['{"a": 1}', "[1]", "true", "5", "null", '"x"', ""])
def test_a_parameter_that_is_a_text_stays_one(nexus: kiprdf.Nexus, note: str) -> None:
    for parameters in ({"note": note}, json.dumps({"note": note})):
        nexus.execute_kip({"command": WRITE, "parameters": parameters})
        assert nexus.execute(NOTE) == [note]
        item = {"command": WRITE, "parameters": parameters}
        nexus.execute_kip({"commands": json.dumps([item])})
        assert nexus.execute(NOTE) == [note]


def test_null_is_a_value_of_a_parameter(nexus: kiprdf.Nexus) -> None:
    request = {"command": WRITE, "parameters": '{"note": null}', "dry_run": None}
    assert "result" in nexus.execute_kip(request)
    assert "result" in nexus.execute_kip({"command": WRITE, "parameters": {"note": None}})


def test_a_dry_run_in_a_text_writes_nothing(nexus: kiprdf.Nexus) -> None:
    request = {"command": WRITE, "parameters": '{"note": 1}', "dry_run": "true"}
    with untouched(nexus):
        assert "result" in nexus.execute_kip(request)
    assert "result" in nexus.execute_kip({**request, "dry_run": "false"})
    assert nexus.execute(NOTE) == [1]


def test_a_state_is_named_by_a_time_or_a_number(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        first = nexus.store.commit()
        nexus.execute('UPSERT { CONCEPT { {type: "Domain", name: "New"} } }')
        request = {"command": "DESCRIBE DOMAINS"}
        before = nexus.execute_kip({**request, "as_of": {"seq": first}})
        assert "New" not in before["result"]
        for as_of in (first, f'{{"seq": {first}}}', {"seq": str(first), "time": None}):
            assert nexus.execute_kip({**request, "as_of": as_of}) == before
        for as_of in ("2099-01-01T00:00:00Z", '{"time": "2099-01-01T00:00:00+02:00"}'):
            assert "New" in nexus.execute_kip({**request, "as_of": as_of})["result"]


def test_the_async_nexus_reads_the_same(nexus: kiprdf.Nexus) -> None:
    request: Any = json.dumps(PLAIN)
    answer = asyncio.run(kiprdf.AsyncNexus(nexus).execute_kip(request))
    assert answer == {"result": ["Aspirin"]}


# The doors of the server --------------------------------------------------------------------------


def posted(nexus: kiprdf.Nexus, body: Any, **options: Any) -> Any:
    answer = kip.answer(nexus, json.dumps(body).encode(), read_only=False, **options)
    return answer.status, json.loads(answer.content)


def test_http_reads_the_same_and_notes_what_was_written(nexus: kiprdf.Nexus) -> None:
    written: list[bytes] = []
    options: Any = {
        "may_write": True,
        "audit": lambda text, result: written.append(text),
        "refuse": pytest.fail,
    }
    write = {"command": WRITE, "parameters": '{"note": "{}"}'}
    for params, number in (
        (json.dumps(write), 1),
        ({**write, "dry_run": "true"}, 0),
        ({**write, "dry_run": "false"}, 1),
        ({**write, "commands": None, "dry_run": None}, 1),
        ({"commands": json.dumps([write, write])}, 2),
        ({**write, "readonly": None}, 1),
    ):
        written.clear()
        status, response = posted(nexus, {"method": "execute_kip", "params": params}, **options)
        assert (status, "error" in response, len(written)) == (200, False, number), params
    assert nexus.execute(NOTE) == ["{}"]
    params = {**write, "readonly": "true"}
    with untouched(nexus):
        status, response = posted(nexus, {"method": "execute_kip", "params": params}, **options)
    assert response["error"]["hint"] == "Send it to execute_kip."


def test_a_batch_in_a_text_is_refused_to_who_may_only_read(nexus: kiprdf.Nexus) -> None:
    refused: list[str] = []
    for params in ({"commands": json.dumps([FIND, WRITE])}, json.dumps({"command": WRITE})):
        refused.clear()
        with untouched(nexus), pytest.raises(Exception, match="only reads"):
            posted(
                nexus,
                {"method": "execute_kip", "params": params},
                may_write=False,
                refuse=refused.append,
            )
        assert refused == [WRITE]


# The functions of the memory ----------------------------------------------------------------------


def test_the_functions_of_the_memory_read_the_same() -> None:
    with kiprdf.Nexus.memory() as nexus:
        functions = MemoryFunctions(nexus)
        notes = (
            ({"text": "The cabin is red.", "tags": "house", "session": None}, ("house",)),
            ({"text": "The cabin is old.", "tags": '["house", "age"]'}, ("house", "age")),
            ('{"text": "The cabin is {}.", "tags": null}', ()),
            ({"text": "The cabin is small.", "tags": "null", "session": "", "speaker": ""}, ()),
        )
        for arguments, tags in notes:
            id = functions.call("remember", arguments)["result"]["id"]  # type: ignore[arg-type]
            note = Memory(nexus).get(id)
            assert note is not None
            assert (note.tags, note.session, note.speaker) == (tags, None, None)
        for limit in (2, "2", 2.0):
            asked = {"query": "cabin", "limit": limit, "tags": "house", "until": None}
            result = functions.call("recall", asked)["result"]
            assert ("red" in result, "old" in result, "{}" in result) == (True, True, False)
        assert "1." in functions.call("recall", '{"query": "cabin", "limit": "1"}')["result"]


@each_case(
    "arguments",
    [
        {"query": "x", "tags": "house, age"},
        {"query": "x", "tags": "house;age"},
        {"query": "x", "tags": '["house"'},
        {"query": "x", "tags": '"house"'},
        {"query": "x", "tags": ""},
        {"query": "x", "tags": {"house": 1}},
        {"query": "x", "limit": "five"},
        {"query": "x", "limit": "5.5"},
        {"query": "x", "limit": True},
        {"query": "x", "limit": "-1"},
        {"query": ["x"]},
        '{"query": "x"',
        '["x"]',
        None,
        [],
    ],
)
def test_what_is_not_certain_is_an_error_of_the_memory(arguments: Any) -> None:
    with kiprdf.Nexus.memory() as nexus:
        Memory(nexus).add("The cabin is red.")
        error = MemoryFunctions(nexus).call("recall", arguments)["error"]
    assert error["code"] == "KIP_1001"
    assert '"tags": ["work"], "limit": 5}' in error["hint"]
