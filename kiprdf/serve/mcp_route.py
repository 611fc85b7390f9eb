"""/mcp: the Model Context Protocol over streamable HTTP."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from kiprdf.actors import acting_as
from kiprdf.serve.http import HttpError, error_response, read_body, require_json, until_gone
from kiprdf.serve.observation import info_of
from kiprdf.serve.routes import kip
from kiprdf.serve.state import Server, may

_METHODS = ("GET", "POST", "DELETE")
_HINT = "Send one message of JSON-RPC 2.0 as the Model Context Protocol defines them."
_NOT_ACCEPTABLE = "Send the header Accept: application/json, text/event-stream."


class McpEndpoint:
    """The ASGI application of one MCP server; ``close`` ends its sessions.

    The first request makes the server, on a thread: its instructions and the package mcp would
    delay the start. The sessions live in a task that starts then, too, so that the application
    can be mounted in others, which do not run the lifespan of a part.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._sessions: Any = None
        self._task: asyncio.Task[None] | None = None
        self._is_ready = asyncio.Event()
        self._is_closing = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in _METHODS:
            raise HTTPException(405, headers={"Allow": ", ".join(_METHODS)})
        if scope["method"] == "DELETE":
            # Each request is complete in itself: there is no session left to end.
            await Response(status_code=204)(scope, receive, send)
            return
        refusals = _Refusals(scope, receive, send)
        if scope["method"] == "GET":
            await self._start()
            await self._sessions.handle_request(scope, receive, refusals)
            return
        request = Request(scope, receive)
        require_json(request)
        body = await read_body(request, self._server.options.max_body)
        await self._start()
        # The package does not notice that a client hangs up.
        handled = self._sessions.handle_request(scope, _receiving(body), refusals)
        await until_gone(request, handled)

    async def _start(self) -> None:
        if self._task is None or (self._task.done() and not self._is_ready.is_set()):
            self._task = asyncio.create_task(self._run())
        ready = asyncio.create_task(self._is_ready.wait())
        await asyncio.wait({ready, self._task}, return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            ready.cancel()
            self._task.result()

    async def _run(self) -> None:
        self._sessions = await asyncio.to_thread(self._manager)
        async with self._sessions.run():
            self._is_ready.set()
            await self._is_closing.wait()

    def _manager(self) -> Any:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        logging.getLogger("mcp").setLevel(logging.WARNING)
        # The gate in front has checked host and origin.
        return StreamableHTTPSessionManager(
            self._protocol(),
            stateless=True,
            json_response=True,
            max_request_body_size=self._server.options.max_body,
        )

    def _protocol(self) -> Any:
        """The server of the package, whose tools note what they do as /kip does."""
        from kiprdf.mcp import NexusServer
        from kiprdf.memory import functions

        server = self._server
        memory = functions.MemoryFunctions(server.nexus)

        def execute(context: Any, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
            scope = context.request.scope
            audit = server.audit_of(scope)
            with acting_as(server.nexus._engine.writer, info_of(scope).actor):
                if name in functions.NAMES:
                    response = memory.call(name, arguments)
                    kip.report_memory(name, arguments, response, audit)
                else:
                    readonly = name == "execute_kip_readonly"
                    response = kip.call(server.nexus, arguments, readonly=readonly, audit=audit)
            server.note(scope, kip.rows_of(response))
            return response

        return NexusServer(
            server.nexus,
            read_only=server.options.read_only,
            execute=execute,
            may_write=lambda context: may(context.request, "propose"),
            threads=server.threads,
            max_chars=server.options.mcp_max_chars,
        ).protocol

    async def close(self) -> None:
        """End all sessions."""
        self._is_closing.set()
        if self._task is not None:
            with suppress(asyncio.CancelledError):
                await self._task


class _Refusals:
    """Sends an answer of the package; a refused request gets the error object of all routes.

    An error that answers a request of JSON-RPC by its id stays as it is.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self._start: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] >= 400:
            self._start = message
            return
        if self._start is None:
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if message.get("more_body"):
            return
        identity, text = _error_of(self._body)
        if identity is not None:
            await self._send(self._start)
            await self._send({"type": "http.response.body", "body": self._body})
            return
        status = self._start["status"]
        hint = _NOT_ACCEPTABLE if status == 406 else _HINT
        refusal = error_response(HttpError(status, text, hint))
        await refusal(self._scope, self._receive, self._send)


def _receiving(body: bytes) -> Receive:
    """Receives a body that was read, and then nothing more."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if not messages:
            await asyncio.Event().wait()
        return messages.pop()

    return receive


def _error_of(body: bytes) -> tuple[Any, str]:
    """The id of the request that an error answers, and the first line of its message."""
    try:
        content = json.loads(body)
        identity, text = content.get("id"), content["error"]["message"]
    except (ValueError, KeyError, TypeError, AttributeError):
        identity, text = None, body.decode(errors="replace")
    return identity, text.partition("\n")[0].rstrip(".:") + "."
