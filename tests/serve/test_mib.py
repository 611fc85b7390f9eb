"""The backend of MIB on a real server, asked as the client of MIB asks."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from tests.serve.running import RunningServer, running, serving

PROTOCOL = "mib-memory-backend/0.1"
PREFIX = "/mib-memory/v0.1"
JANUARY, FEBRUARY = "2026-01-05T09:00:00Z", "2026-02-10T09:00:00+00:00"


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    arguments = ["-m", "kiprdf", "serve", "--memory", "--mib", "--port", "0"]
    with running(arguments) as started:
        yield started


class Client:
    """One run, in the shapes of ``HttpMemoryBackend`` of MIB 0.14.0."""

    def __init__(self, server: RunningServer) -> None:
        self.server = server
        self.run_id = f"memory_{uuid.uuid4().hex}"

    def envelope(self, operation: str, body: Any, time: str | None, request_id: str) -> Any:
        return {
            "mib": "0.1",
            "protocol": PROTOCOL,
            "operation": operation,
            "run_id": self.run_id,
            "request_id": request_id,
            "virtual_time": time,
            "body": body,
        }

    def send(
        self,
        operation: str,
        body: Any,
        time: str | None = None,
        request_id: str | None = None,
    ) -> Any:
        """The reply to an operation, which echoes its request."""
        sent = self.envelope(operation, body, time, request_id or f"memory_req_{uuid.uuid4().hex}")
        answer = self.server.client.post(f"{PREFIX}/{operation}", json=sent)
        assert answer.status_code == 200
        reply = answer.json()
        for key in ("mib", "protocol", "run_id", "request_id"):
            assert reply[key] == sent[key]
        return reply

    def do(
        self,
        operation: str,
        body: Any,
        time: str | None = None,
        request_id: str | None = None,
    ) -> Any:
        """The body of the reply to an operation that succeeds."""
        reply = self.send(operation, body, time, request_id)
        assert reply["status"] == "ok", reply
        done = reply["body"]
        assert done["cost_scope"] == "cumulative_run"
        assert done["costs"] == {
            "receipts": [],
            "unreported_stages": [],
            "accounting_complete": True,
        }
        if operation in ("reset", "observe", "maintain", "session_boundary"):
            assert done["accepted"] is True
        return done

    def refused(self, operation: str, body: Any, *rest: str | None) -> str:
        """The code of the error of an operation."""
        reply = self.send(operation, body, *rest)
        assert reply["status"] == "error"
        assert reply["error"]["message"]
        assert reply["extensions"]["cost_scope"] == "cumulative_run"
        return str(reply["error"]["code"])

    def reset(self, time: str | None = JANUARY) -> Client:
        self.do("reset", {"mode": "fresh", "seed": 101, "virtual_time": time}, time)
        return self

    def observe(self, content: str | None, time: str | None = JANUARY, **fields: Any) -> Any:
        observation = {
            "observation_id": f"obs_{uuid.uuid4().hex}",
            "type": "user_message",
            "virtual_time": time,
            "actor": None,
            "content": content,
            "payload": None,
            "tool_call_id": None,
            "tool": None,
            **fields,
        }
        return self.do("observe", {"observation": observation}, time)

    def retrieve(self, query: str, limit: int = 32_000, time: str | None = JANUARY) -> list[str]:
        done = self.do("retrieve", {"query": query, "limit_chars": limit}, time)
        ids = [item["id"] for item in done["items"]]
        assert all(ids)
        assert len(set(ids)) == len(ids)
        contents = [item["content"] for item in done["items"]]
        assert sum(map(len, contents)) <= limit
        assert type(done["truncated"]) is bool
        self.truncated = done["truncated"]
        return contents


def test_describe_declares_the_capabilities(server: RunningServer) -> None:
    reply = server.client.get(f"{PREFIX}/describe").json()
    assert (reply["mib"], reply["protocol"], reply["status"]) == ("0.1", PROTOCOL, "ok")
    body = reply["body"]
    assert body["protocol"] == PROTOCOL
    assert body["implementation"]["name"] == "kiprdf"
    assert body["implementation"]["version"]
    assert body["identity"]
    needed = [
        "observe",
        "retrieve",
        "maintenance",
        "session_boundary",
        "virtual_time",
        "run_isolation",
    ]
    assert [body["capabilities"].get(one) for one in needed] == [True] * 6
    assert Client(server).send("describe", {})["body"] == body


def test_a_run_from_reset_to_close(server: RunningServer) -> None:
    client = Client(server).reset()
    client.observe("My timezone is UTC+8.", actor={"id": "actor_2", "display_name": "Alice"})
    client.observe(None, type="tool_result", tool="db.inspect", payload={"target": "legacy-db"})
    client.observe("Noted.", type="agent_message")
    client.observe(None, type="time_event")
    assert client.retrieve("Which timezone?")[0] == f"[{JANUARY}, Alice] My timezone is UTC+8."
    tool = client.retrieve("legacy-db")[0]
    assert tool == f'[{JANUARY}, tool_result] db.inspect: {{"target": "legacy-db"}}'
    client.do("maintain", {"budget": "PT1H"}, JANUARY)
    client.do("session_boundary", {}, FEBRUARY)
    client.observe("I moved, my timezone is UTC+1 by now.", FEBRUARY)
    both = client.retrieve("timezone", time=FEBRUARY)
    assert {f"[{JANUARY}, Alice", "[2026-02-10T09:00:00Z"} <= {one.split("]")[0] for one in both}
    # The day before is that of the run.
    (latest,) = client.retrieve("What did I say yesterday?", time="2026-02-11T08:00:00Z")
    assert latest == "[2026-02-10T09:00:00Z] I moved, my timezone is UTC+1 by now."
    assert client.do("close", {"reason": "run_complete"})["closed"] is True
    assert client.refused("retrieve", {"query": "timezone", "limit_chars": 10}) == "invalid_state"
    again = {"mode": "fresh", "seed": 1, "virtual_time": None}
    assert client.refused("reset", again) == "invalid_state"


def test_runs_know_nothing_of_each_other(server: RunningServer) -> None:
    one, other = Client(server).reset(), Client(server).reset(None)
    one.observe("The code is orchid.")
    other.observe("The code is lotus.", None)
    assert other.retrieve("code", time=None) == ["The code is lotus."]
    assert one.retrieve("code") == [f"[{JANUARY}] The code is orchid."]
    assert server.kip('SEARCH CONCEPT "orchid"').json()["result"] == []
    one.do("close", {"reason": "run_complete"})
    assert other.retrieve("code", time=None) == ["The code is lotus."]
    other.do("close", {"reason": "run_complete"})


def test_what_is_sent_again_is_done_once(server: RunningServer) -> None:
    client = Client(server).reset()
    observation = {"observation_id": "o1", "type": "user_message", "content": "I like tea."}
    first = client.do("observe", {"observation": observation}, JANUARY, "r1")
    assert client.do("observe", {"observation": observation}, JANUARY, "r1") == first
    assert client.do("observe", {"observation": observation}, JANUARY, "r2") == first
    assert client.retrieve("tea") == [f"[{JANUARY}] I like tea."]
    changed = {**observation, "content": "I like coffee."}
    assert client.refused("observe", {"observation": changed}, JANUARY, "r1") == (
        "idempotency_conflict"
    )
    assert client.refused("observe", {"observation": changed}, JANUARY) == "execution_failure"
    assert client.retrieve("coffee tea") == [f"[{JANUARY}] I like tea."]
    query = {"query": "tea", "limit_chars": 90}
    before = client.do("retrieve", query, JANUARY, "r3")
    client.observe("Green tea is best.")
    assert client.do("retrieve", query, JANUARY, "r3") == before
    client.do("close", {"reason": "run_complete"}, None, "r4")
    assert client.do("close", {"reason": "run_complete"}, None, "r4")["closed"] is True


def test_a_retrieval_keeps_to_its_limit(server: RunningServer) -> None:
    client = Client(server).reset()
    for number in range(8):
        client.observe(f"Note {number} about whales. " + "They sing 🐋. " * 60 * (number % 2))
    assert len(client.retrieve("whales")) == 8
    assert not client.truncated
    for limit in (0, 1, 40, 500, 1_500):
        shown = client.retrieve("whales", limit)
        assert bool(shown) == (limit >= 500)
        assert client.truncated
    client.do("close", {"reason": "run_complete"})


def test_a_short_note_that_is_left_out_is_said(server: RunningServer) -> None:
    client = Client(server).reset()
    client.observe("I like tea.")
    assert client.retrieve("tea", 10) == []
    assert client.truncated
    client.do("close", {"reason": "run_complete"})


def test_requests_that_are_none(server: RunningServer) -> None:
    client = Client(server)
    assert client.refused("observe", {"observation": {}}) == "invalid_state"
    assert client.refused("reset", {"mode": "restore"}) == "invalid_request"
    client.reset()
    assert client.refused("reset", {"mode": "fresh"}) == "invalid_state"
    for operation, body, time in (
        ("observe", {}, None),
        ("observe", {"observation": {"observation_id": "x"}}, None),
        ("observe", {"observation": {"observation_id": "x", "type": "t", "oracle": 1}}, None),
        ("observe", {"observation": {"observation_id": "x", "type": "t", "content": 3}}, None),
        ("retrieve", {"query": None}, None),
        ("retrieve", {"query": "x", "limit_chars": -1}, None),
        ("retrieve", {"query": "x", "limit_chars": True}, None),
        ("maintain", [], None),
        ("session_boundary", {}, "yesterday"),
        ("session_boundary", {}, "2026-01-01T00:00:00"),
    ):
        assert client.refused(operation, body, time) == "invalid_request", (operation, body)
    sent = client.envelope("maintain", {}, None, "r")
    for wrong in (
        {**sent, "protocol": "mib-agent/0.1"},
        {**sent, "mib": "0.2"},
        {**sent, "operation": "close"},
        {**sent, "run_id": ""},
        {**sent, "more": 1},
        [],
    ):
        reply = server.client.post(f"{PREFIX}/maintain", json=wrong).json()
        assert (reply["status"], reply["error"]["code"]) == ("error", "invalid_request")
    for content, status in ((b"{", 400), (b"[" * 100_000, 400)):
        headers = {"Content-Type": "application/json"}
        answer = server.client.post(f"{PREFIX}/maintain", content=content, headers=headers)
        assert answer.status_code == status
    assert server.client.get(f"{PREFIX}/maintain").status_code == 405
    assert server.client.post(f"{PREFIX}/respond", json=sent).status_code == 404
    # A probe without words retrieves nothing.
    assert client.retrieve("") == []
    client.do("close", {"reason": "run_complete"})


def test_as_many_runs_as_are_let_in(server: RunningServer) -> None:
    clients = [Client(server).reset() for _ in range(16)]
    assert Client(server).refused("reset", {"mode": "fresh"}) == "capacity"
    for client in clients:
        client.do("close", {"reason": "run_complete"})
    Client(server).reset().do("close", {"reason": "run_complete"})


def test_without_the_option_and_without_a_token(folder: Any) -> None:
    with serving(folder, KIPRDF_READ_TOKEN="r3ad") as plain:
        headers = {"Authorization": "Bearer r3ad"}
        assert plain.client.get(f"{PREFIX}/describe", headers=headers).status_code == 404
    tokens = {"KIPRDF_TOKEN": "s3cret", "KIPRDF_READ_TOKEN": "r3ad"}
    with serving(folder, "--mib", **tokens) as started:
        sent = Client(started).envelope("reset", {"mode": "fresh"}, None, "r")
        statuses = [
            started.client.post(f"{PREFIX}/reset", json=sent, headers=headers).status_code
            for headers in (
                {},
                {"Authorization": "Bearer r3ad"},
                {"Authorization": "Bearer s3cret"},
            )
        ]
        assert statuses == [401, 403, 200]
