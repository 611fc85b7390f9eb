"""/mcp: the Model Context Protocol over streamable HTTP."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from starlette.types import Receive, Scope, Send

if TYPE_CHECKING:
    from kiprdf.mcp import NexusServer


class McpEndpoint:
    """The ASGI application of one MCP server; ``close`` ends its sessions.

    The first request makes the server, on a thread: its instructions and the package mcp would
    delay the start. The sessions live in a task that starts then, too, so that the application
    can be mounted in others, which do not run the lifespan of a part.
    """

    def __init__(self, make: Callable[[], NexusServer], max_body: int) -> None:
        self._make = make
        self._max_body = max_body
        self._sessions: Any = None
        self._task: asyncio.Task[None] | None = None
        self._is_ready = asyncio.Event()
        self._is_closing = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._task is None or (self._task.done() and not self._is_ready.is_set()):
            self._task = asyncio.create_task(self._run())
        ready = asyncio.create_task(self._is_ready.wait())
        await asyncio.wait({ready, self._task}, return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            ready.cancel()
            self._task.result()
        await self._sessions.handle_request(scope, receive, send)

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
            self._make().protocol,
            stateless=True,
            json_response=True,
            max_request_body_size=self._max_body,
        )

    async def close(self) -> None:
        """End all sessions."""
        self._is_closing.set()
        if self._task is not None:
            with suppress(asyncio.CancelledError):
                await self._task
