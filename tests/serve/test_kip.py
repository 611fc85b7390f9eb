"""POST /kip."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.serve.raw import connect, head, until_closed
from tests.serve.running import RunningServer

JSON = {"Content-Type": "application/json"}


def call(server: RunningServer, params: Any, method: str = "execute_kip") -> Any:
    return server.client.post("/kip", json={"method": method, "params": params})


def test_a_find_is_answered(server: RunningServer) -> None:
    answer = server.kip('FIND(?d.name) WHERE { ?d {type: "Drug", name: "Aspirin"} }')
    assert (answer.status_code, answer.json()) == (200, {"result": ["Aspirin"]})
    assert answer.headers["content-type"] == "application/json"


def test_text_is_utf8(server: RunningServer) -> None:
    answer = server.kip('FIND(?d.name) WHERE { ?d {name: "阿司匹林"} }')
    assert "阿司匹林".encode() in answer.content


@pytest.mark.parametrize(
    ("command", "status", "code"),
    [
        ("FIND(?x", 400, "KIP_1001"),
        ('FIND(?x) WHERE { ?x {type: "drug"} }', 400, "KIP_2001"),
        ('UPSERT { CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES {a: ?x.id} } }', 400, None),
        ('DELETE CONCEPT ?d WHERE { ?d {type: "Drug"} }', 400, "KIP_1001"),
        ('DESCRIBE CONCEPT TYPE "Nope"', 404, "KIP_3002"),
        ('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Person", name: "$self"} }', 403, "KIP_3004"),
        (
            'UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"} EXPECT VERSION 9 } }',
            409,
            "KIP_3005",
        ),
    ],
)
def test_an_error_has_the_status_of_its_code(
    server: RunningServer, command: str, status: int, code: str | None
) -> None:
    answer = server.kip(command)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert sorted(error) == ["code", "hint", "message", "name"]
    assert code is None or error["code"] == code


def test_a_batch_is_200_with_a_list_of_responses(server: RunningServer) -> None:
    answer = call(server, {"commands": ["DESCRIBE DOMAINS", "FIND(?x"]})
    assert answer.status_code == 200
    first, second = answer.json()["result"]
    assert "CoreSchema" in first["result"]
    assert second["error"]["code"] == "KIP_1001"


def test_parameters_and_dry_runs_are_passed_on(server: RunningServer) -> None:
    command = 'UPSERT { CONCEPT { {type: "Drug", name: :name} } }'
    answer = call(server, {"command": command, "parameters": {"name": "Dry"}, "dry_run": True})
    assert answer.status_code == 200
    assert server.kip('FIND(COUNT(?d)) WHERE { ?d {name: "Dry"} }').json()["result"] == 0


@pytest.mark.parametrize("readonly", ["method", "params"])
def test_a_readonly_call_refuses_writes(server: RunningServer, readonly: str) -> None:
    params: dict[str, Any] = {"command": 'UPSERT { CONCEPT { {type: "Drug", name: "X"} } }'}
    method = "execute_kip"
    if readonly == "method":
        method = "execute_kip_readonly"
    else:
        params["readonly"] = True
    answer = call(server, params, method)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "KIP_1001")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nothing",
        b"[]",
        b"\xff",
        b'{"method": "execute_kip"}',
        b'{"method": "execute_kip", "params": []}',
        b'{"method": "drop", "params": {"command": "DESCRIBE DOMAINS"}}',
        b'{"method": "execute_kip", "params": {"command": "DESCRIBE DOMAINS", "more": 1}}',
        b'{"method": "execute_kip", "params": {"command": "DESCRIBE DOMAINS", "readonly": "no"}}',
        b'{"method": "execute_kip", "more": 1, "params": {"command": "DESCRIBE DOMAINS"}}',
        b'{"method": "execute_kip", "params": {"command": "FIND(?x)", "parameters": {"a": NaN}}}',
        b'{"method": "execute_kip", "params": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"method": "execute_kip", "params": {"command": "FIND(?x) WHERE { \\ud800 }"}}',
    ],
)
def test_a_malformed_call_is_400(server: RunningServer, body: bytes) -> None:
    answer = server.client.post("/kip", content=body, headers=JSON)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "KIP_1001")


def test_the_envelope_of_json_rpc_is_ignored(server: RunningServer) -> None:
    params = {"command": "DESCRIBE DOMAINS"}
    content = {"jsonrpc": "2.0", "id": 7, "method": "execute_kip", "params": params}
    assert server.client.post("/kip", json=content).status_code == 200


@pytest.mark.parametrize(
    ("media_type", "status"),
    [
        ("application/json; charset=utf-8", 200),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("", 415),
    ],
)
def test_only_json_is_read(server: RunningServer, media_type: str, status: int) -> None:
    content = json.dumps({"method": "execute_kip", "params": {"command": "DESCRIBE DOMAINS"}})
    answer = server.client.post("/kip", content=content, headers={"Content-Type": media_type})
    assert answer.status_code == status


def test_a_body_over_the_limit_is_413(server: RunningServer) -> None:
    answer = server.client.post("/kip", content=b"x" * 2_097_153, headers=JSON)
    assert answer.status_code == 413
    # Without Content-Length it is noticed while it is read.
    pieces = (b"x" * 100_000 for _ in range(30))
    assert server.client.post("/kip", content=pieces, headers=JSON).status_code == 413


def test_a_write_is_there_for_the_next_request(server: RunningServer) -> None:
    written = server.kip('UPSERT { CONCEPT { {type: "Drug", name: "Metformin"} } }')
    assert written.status_code == 200
    command = 'FIND(?d.name) WHERE { ?d {type: "Drug", name: "Metformin"} }'
    assert server.kip(command).json() == {"result": ["Metformin"]}


@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_long_body_is_refused_with_an_answer_that_arrives(
    server: RunningServer, is_chunked: bool
) -> None:
    body = b"a" * 6_000_000
    length = "Transfer-Encoding: chunked" if is_chunked else f"Content-Length: {len(body)}"
    if is_chunked:
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    with connect(server) as connection:
        connection.sendall(head("POST", "/kip", "Content-Type: application/json", length) + body)
        time.sleep(0.2)
        assert connection.recv(1000).startswith(b"HTTP/1.1 413")


def test_a_request_that_is_no_http_is_refused_in_json(server: RunningServer) -> None:
    with connect(server) as connection:
        connection.sendall(b"NONSENSE\r\n\r\n")
        fields, _, content = until_closed(connection).partition(b"\r\n\r\n")
    assert fields.startswith(b"HTTP/1.1 400 ")
    assert b"nosniff" in fields
    # No command was read, so none is wrong.
    assert json.loads(content)["error"]["code"] == "HTTP_400"
