"""/mib-memory/v0.1: a memory that the benchmark MIB examines, a fresh one for each of its runs.

The protocol is ``mib-memory-backend/0.1`` of github.com/ldclabs/MIB, docs/harness/
MIB-Memory-Backend.md, and its client src/mib_runner/memory_backend.py, at version 0.14.0.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import kiprdf
from kiprdf.errors import KipError, StoreError
from kiprdf.memory import Memory
from kiprdf.memory.items import Item
from kiprdf.nexus import Nexus
from kiprdf.search import Embedder
from kiprdf.serve.http import HttpError, json_response, read_body, require_json
from kiprdf.serve.state import Server, may

PATH = "/mib-memory/v0.1"
_IDENTITY = {"mib": "0.1", "protocol": "mib-memory-backend/0.1"}
_CAPABILITIES = (
    "observe",
    "retrieve",
    "maintenance",
    "session_boundary",
    "virtual_time",
    "run_isolation",
)
_ENVELOPE = {"mib", "protocol", "run_id", "request_id", "operation", "virtual_time", "body"}
_OBSERVATION = {
    "observation_id",
    "type",
    "virtual_time",
    "actor",
    "content",
    "payload",
    "tool_call_id",
    "tool",
}
_SPEAKERS = {"user_message": None, "agent_message": "assistant", "action": "assistant"}
"""Who the first person of an observation without an actor is; others are called by their type."""
LIMIT_CHARS = 32_000
"""The characters of a retrieval that names no limit."""
MOST_NOTES = 50
MOST_RUNS = 16
"""The runs that are open at once."""
IDLE_SECONDS = 900.0
"""How long a run may have no request before it makes place for another one."""
MOST_CLOSED = 1024
"""The closed runs whose ids are remembered, since a run is never reset twice."""
MOST_REQUESTS = 10_000
MOST_KEPT = 32_000_000
"""The characters of the answers of a run, which a request that is sent again gets once more."""
_LONGEST_ID = 256


class _RefusedError(Exception):
    """An operation that fails: a code and a message."""


class _Run:
    """The memory of one run, whose time is that of its requests."""

    def __init__(self, embedder: Embedder | None) -> None:
        self.lock = threading.Lock()
        self.time: datetime | None = None
        self.session = 1
        self.touched = monotonic()
        self.answers: dict[str, tuple[str, dict[str, Any]]] = {}
        self.kept = 0
        self._nexus = Nexus.memory(clock=self.now, embedder=embedder)
        self.memory = Memory(self._nexus, clock=self.now)

    def now(self) -> datetime:
        return self.time or datetime.now(UTC)

    def forget(self) -> None:
        """Leave nothing of the memory; the answers are about to be asked for again at most."""
        self._nexus.close()
        del self._nexus, self.memory
        self.answers = {key: kept for key, kept in self.answers.items() if "items" not in kept[1]}

    def observe(self, body: dict[str, Any]) -> dict[str, Any]:
        given = body.get("observation")
        if not isinstance(given, dict) or not given.keys() <= _OBSERVATION:
            raise _RefusedError("invalid_request", "body.observation is no observation.")
        identity, kind = _text(given, "observation_id"), _text(given, "type")
        self.advance(given.get("virtual_time"))
        content, payload = given.get("content"), given.get("payload")
        if not isinstance(content, str | None):
            raise _RefusedError("invalid_request", "The content of an observation is a text.")
        parts = [content or ""]
        if payload is not None:
            tool = given.get("tool")
            data = json.dumps(payload, ensure_ascii=False)
            parts.append(f"{tool}: {data}" if tool else data)
        text = "\n".join(filter(None, parts))
        if text.strip():
            self.memory.add(
                text,
                id=identity,
                tags=[kind],
                timestamp=self.now(),
                session=f"session {self.session}",
                speaker=_speaker(given.get("actor"), _SPEAKERS.get(kind, kind)),
            )
        return {"accepted": True}

    def retrieve(self, body: dict[str, Any]) -> dict[str, Any]:
        query, limit = body.get("query"), body.get("limit_chars")
        if not isinstance(query, str):
            raise _RefusedError("invalid_request", "The query is a text.")
        left = LIMIT_CHARS if limit is None else limit
        if not isinstance(left, int) or isinstance(left, bool) or left < 0:
            raise _RefusedError("invalid_request", "limit_chars is an integer from 0.")
        items, truncated = list[dict[str, str]](), False
        for note in self.memory.recall(query, limit=MOST_NOTES).notes:
            whole = self._shown(note.item, note.item.content)
            shown = whole if len(whole) <= left else self._shown(note.item, note.excerpt)
            truncated |= shown != whole or len(shown) > left
            if len(shown) <= left:
                items.append({"id": note.item.id, "content": shown})
                left -= len(shown)
        return {"items": items, "truncated": truncated}

    def maintain(self, body: dict[str, Any]) -> dict[str, Any]:
        self._nexus.build_index(propositions=False)
        return {"accepted": True}

    def session_boundary(self, body: dict[str, Any]) -> dict[str, Any]:
        self.session += 1
        return {"accepted": True}

    def advance(self, time: Any) -> None:
        """Take the time of a request, or of an observation, if it has one."""
        if time is None:
            return
        try:
            moment = datetime.fromisoformat(time)
            if moment.tzinfo is None:
                raise ValueError
            self.time = moment.astimezone(UTC)
        except (ValueError, TypeError, OverflowError):
            message = "virtual_time is a time of RFC 3339, such as 2026-01-31T12:00:00Z."
            raise _RefusedError("invalid_request", message) from None

    def _shown(self, item: Item, text: str) -> str:
        """A text with its time, where the run has one, and its speaker."""
        about = [item.timestamp] if self.time is not None else []
        about += [item.speaker] if item.speaker else []
        return f"[{', '.join(about)}] {text}" if about else text


_OPERATIONS: dict[str, Callable[[_Run, dict[str, Any]], dict[str, Any]]] = {
    "reset": lambda run, body: {"accepted": True},
    "observe": _Run.observe,
    "retrieve": _Run.retrieve,
    "maintain": _Run.maintain,
    "session_boundary": _Run.session_boundary,
    "close": lambda run, body: {"closed": True},
}


class Runs:
    """The runs of a server, each with another memory; nothing of one is in another."""

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
        self._lock = threading.Lock()
        self._open: dict[str, _Run] = {}
        self._closed: OrderedDict[str, _Run] = OrderedDict()

    def descriptor(self) -> dict[str, Any]:
        """What GET describe answers; it is the same as long as the server runs."""
        embedder = None if self._embedder is None else type(self._embedder).__name__
        return {
            "protocol": _IDENTITY["protocol"],
            "implementation": {"name": "kiprdf", "version": kiprdf.__version__},
            "identity": {"memory": "kiprdf.memory", "embedder": embedder, "models": "none"},
            "capabilities": dict.fromkeys(_CAPABILITIES, True),
            "track_support": ["memory_system"],
            "state": {
                "run_isolation": "hard",
                "observe_visibility": "read_after_write",
                "request_idempotency": True,
            },
        }

    def answer(self, operation: str, request: Any) -> dict[str, Any]:
        """The envelope of the reply to a request; a failure is one with the status ``error``."""
        given = request if isinstance(request, dict) else {}
        echo = {**_IDENTITY, "run_id": given.get("run_id"), "request_id": given.get("request_id")}
        try:
            body = self._body(operation, given)
        except _RefusedError as refused:
            code, message = refused.args
        except (ValueError, TypeError, KipError, StoreError) as fault:
            code, message = "execution_failure", str(fault)
        else:
            return {**echo, "status": "ok", "body": body}
        error = {"code": code, "message": message, "retryable": False}
        return {**echo, "status": "error", "error": error, "extensions": _costs()}

    def _body(self, operation: str, given: dict[str, Any]) -> dict[str, Any]:
        is_own = all(given.get(key) == value for key, value in _IDENTITY.items())
        if not is_own or given.get("operation") != operation or not given.keys() <= _ENVELOPE:
            raise _RefusedError("invalid_request", f"This is no envelope of {operation}.")
        run_id, request_id = _text(given, "run_id"), _text(given, "request_id")
        body = given.get("body")
        if not isinstance(body, dict) or max(len(run_id), len(request_id)) > _LONGEST_ID:
            raise _RefusedError("invalid_request", "body is an object, ids are short texts.")
        if operation == "describe":
            return self.descriptor()
        run = self._run(operation, run_id, body)
        content = json.dumps(given, sort_keys=True)
        with run.lock:
            run.touched = monotonic()
            if request_id in run.answers:
                sent, answered = run.answers[request_id]
                if sent != content:
                    message = "This request_id was sent with other content."
                    raise _RefusedError("idempotency_conflict", message)
                return answered
            if operation == "close":
                self._close(run_id, run)
            elif run_id in self._closed or (operation == "reset") != (not run.answers):
                raise _RefusedError("invalid_state", "A run is reset once, then used, then closed.")
            elif len(run.answers) >= MOST_REQUESTS or run.kept > MOST_KEPT:
                raise _RefusedError("capacity", "This run has had too many requests.")
            run.advance(given.get("virtual_time"))
            answer = {**_OPERATIONS[operation](run, body), **_costs()}
            run.answers[request_id] = content, answer
            run.kept += len(content) + len(str(answer))
            return answer

    def _run(self, operation: str, run_id: str, body: dict[str, Any]) -> _Run:
        """The run of a request; a reset makes it."""
        with self._lock:
            run = self._open.get(run_id) or self._closed.get(run_id)
            if run is not None:
                return run
            if operation not in ("reset", "close"):
                raise _RefusedError("invalid_state", "This run has not been reset.")
            if operation == "reset":
                if body.get("mode") != "fresh":
                    raise _RefusedError("invalid_request", "The mode of a reset is fresh.")
                self._close_idle()
                if len(self._open) >= MOST_RUNS:
                    raise _RefusedError("capacity", f"{MOST_RUNS} runs are open: close some.")
            run = self._open[run_id] = _Run(self._embedder)
            with suppress(_RefusedError):
                run.advance(body.get("virtual_time"))
            return run

    def _close_idle(self) -> None:
        idle = [
            (run_id, run)
            for run_id, run in list(self._open.items())
            if monotonic() - run.touched > IDLE_SECONDS
        ]
        for run_id, run in idle:
            with run.lock:
                self._close(run_id, run)

    def _close(self, run_id: str, run: _Run) -> None:
        """Forget what a run has, but not its answers."""
        if self._open.pop(run_id, None) is not None:
            run.forget()
            self._closed[run_id] = run
            while len(self._closed) > MOST_CLOSED:
                self._closed.popitem(last=False)


def _costs() -> dict[str, Any]:
    """What a run has cost: no model is called."""
    costs = {"receipts": [], "unreported_stages": [], "accounting_complete": True}
    return {"cost_scope": "cumulative_run", "costs": costs}


def _text(given: dict[str, Any], key: str) -> str:
    value = given.get(key)
    if not isinstance(value, str) or not value:
        raise _RefusedError("invalid_request", f"{key} is a text that is not empty.")
    return value


def _speaker(actor: Any, otherwise: str | None) -> str | None:
    """The name of an actor."""
    given = actor if isinstance(actor, dict) else {}
    names = (given.get(key) for key in ("display_name", "name", "id"))
    return next((name for name in names if isinstance(name, str) and name.strip()), otherwise)


async def describe(server: Server, runs: Runs, request: Request) -> Response:
    """GET describe."""
    return json_response({**_IDENTITY, "status": "ok", "body": runs.descriptor()})


async def post(server: Server, runs: Runs, request: Request) -> Response:
    """POST of an operation. A failed one is 200, too: other statuses would hide its envelope."""
    require_json(request)
    if not may(request, "write"):
        raise HttpError(403, "A run of MIB needs the access 'write'.", "Send another token.")
    try:
        given = json.loads(await read_body(request, server.options.max_body))
    except (ValueError, RecursionError):
        raise HttpError(400, "The body is no JSON.", "Send an envelope of MIB.") from None
    operation = request.url.path.rpartition("/")[2]
    return json_response(await server.threads.run(partial(runs.answer, operation, given)))


def routes(server: Server) -> list[Route]:
    """The routes of the seven operations, with runs that begin with none."""
    runs = Runs(server.nexus._engine.embedder)
    return [
        Route(f"{PATH}/describe", partial(describe, server, runs), methods=("GET",)),
        *(
            Route(f"{PATH}/{operation}", partial(post, server, runs), methods=("POST",))
            for operation in ("describe", *_OPERATIONS)
        ),
    ]
