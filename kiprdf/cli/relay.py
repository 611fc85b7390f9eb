"""``kiprdf mcp`` on a folder that another process holds: passes its client's messages on."""

from __future__ import annotations

import http.client
import json
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import kiprdf.mcp
from kiprdf.errors import KipError, LockedError
from kiprdf.given_json import without_lone_surrogates
from kiprdf.mcp import EXECUTE, ONLY_READING
from kiprdf.memory import functions as memory
from kiprdf.memory.recalled import MAX_CHARACTERS
from kiprdf.nexus import Nexus
from kiprdf.principals import Principal
from kiprdf.protocol import error_response
from kiprdf.serve import local
from kiprdf.serve.routes.kip import command_texts, writes
from kiprdf.serve.server import beside

WAIT_SECONDS = 10.0
"""How long a process that is starting or ending is waited for."""
_PAUSE_SECONDS = 0.05
_AT_ONCE = 16
_INTERNAL_ERROR, _PARSE_ERROR = -32603, -32700
_LOST = KipError(
    "KIP_4003",
    "The process that held the memory ended while this ran: it may be written, or not.",
    "Look with FIND whether it is, before you send it again.",
)


class _Ended(Exception):
    """The process that holds the folder does not answer; the request ``may_have_run``."""

    def __init__(self, may_have_run: bool) -> None:
        super().__init__()
        self.may_have_run = may_have_run


class Relay:
    """Passes the messages of a client on standard input to the process that holds a folder.

    When that one ends, this one opens the folder itself, or finds who did before it.
    """

    def __init__(
        self, folder: Path, opened: Callable[[], Nexus], client: Principal, session: str, most: int
    ) -> None:
        self._folder = folder
        self._opened = opened
        self._client = client
        self._headers = {
            local.CLIENT: local.header_of(client),
            "kip-session": session,
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
        }
        self._most = most
        self._own = ExitStack()
        self._finding, self._writing = threading.Lock(), threading.Lock()
        self._current: local.Local | None = None

    def run(self) -> None:
        """Pass messages on until the end of the input; raises ``StoreError`` without anybody who
        holds the folder and takes clients."""
        with self._own:
            self._current = self._find(None)
            with ThreadPoolExecutor(_AT_ONCE) as threads:
                for line in sys.stdin.buffer:
                    if line.strip():
                        threads.submit(self._pass_on, line)

    def _pass_on(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._write(_failed(None, _PARSE_ERROR, "This is not JSON."))
            return
        identity = message.get("id") if isinstance(message, dict) else None
        try:
            reply = self._reply(self._with_size(message), identity)
        except Exception as fault:  # without a reply, the client would wait for ever
            reply = _failed(identity, _INTERNAL_ERROR, str(fault))
        if identity is not None:
            self._write(reply)

    def _with_size(self, message: Any) -> Any:
        """A message, of which a call says how long its answer may be."""
        match message:
            case {"params": {"name": str(name), "arguments": dict(arguments)}}:
                if name.startswith((EXECUTE, *memory.NAMES)) and arguments.get("max_chars") is None:
                    is_recall = name.startswith(memory.RECALL)  # of which it is also the block's
                    most = min(self._most, MAX_CHARACTERS) if is_recall else self._most
                    arguments["max_chars"] = most
        return message

    def _reply(self, message: Any, identity: Any) -> bytes:
        """The reply of whoever holds the folder; sent again where it can have done nothing."""
        body = without_lone_surrogates(json.dumps(message, ensure_ascii=False)).encode()
        while True:
            current = self._current
            assert current is not None
            try:
                return self._post(current, body, identity)
            except _Ended as ended:
                if ended.may_have_run and _may_write(message):
                    return _called(identity, error_response(_LOST))
            with self._finding:
                if self._current is current:
                    self._current = self._find(current)

    def _post(self, current: local.Local, body: bytes, identity: Any) -> bytes:
        parts = urlsplit(current.address)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
        may_have_run = False
        try:
            # A process that was just killed may still accept a connection.
            connection.request("GET", "/health")
            connection.getresponse().read()
            may_have_run = True
            headers = {**self._headers, "authorization": f"Bearer {current.token}"}
            connection.request("POST", "/mcp", body, headers)
            response = connection.getresponse()
            answer = response.read()
        except (OSError, http.client.HTTPException):
            raise _Ended(may_have_run) from None
        finally:
            connection.close()
        if response.status in (401, 503):  # another server has the port, or it is closing
            time.sleep(_PAUSE_SECONDS)
            # What was running when it closed is not to be sent again.
            raise _Ended(response.status == 503 and response.getheader("retry-after") is None)
        if b'"jsonrpc"' in answer or not answer:
            return answer
        return _failed(identity, _INTERNAL_ERROR, answer.decode(errors="replace"))

    def _find(self, ended: local.Local | None) -> local.Local:
        """Who holds the folder now, and if nobody does, this process."""
        until = time.monotonic() + WAIT_SECONDS
        while True:
            current = local.noted_in(self._folder)
            if current is not None and current != ended:
                return current
            try:
                nexus = self._opened()
            except LockedError:
                if time.monotonic() > until:
                    raise
                time.sleep(_PAUSE_SECONDS)
                continue
            self._own.enter_context(nexus)
            return self._own.enter_context(beside(nexus, self._folder))

    def _write(self, reply: bytes) -> None:
        with self._writing:
            sys.stdout.buffer.write(reply.strip() + b"\n")
            sys.stdout.buffer.flush()


def _may_write(message: Any) -> bool:
    """Whether a message may change the memory."""
    match message:
        case {"params": {"name": kiprdf.mcp.EXECUTE, "arguments": dict(arguments)}}:
            return any(map(writes, command_texts(arguments)))
        case {"method": "tools/call", "params": {"name": name}}:
            return name not in ONLY_READING
    return False


def _called(identity: Any, response: dict[str, Any]) -> bytes:
    """The reply of a tool that failed."""
    content = [{"type": "text", "text": json.dumps(response, ensure_ascii=False)}]
    result = {"content": content, "structuredContent": response, "isError": True}
    return json.dumps({"jsonrpc": "2.0", "id": identity, "result": result}).encode()


def _failed(identity: Any, code: int, message: str) -> bytes:
    error = {"code": code, "message": message}
    return json.dumps({"jsonrpc": "2.0", "id": identity, "error": error}).encode()
