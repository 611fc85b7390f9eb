"""/mcp: the Model Context Protocol over streamable HTTP."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from kiprdf.mcp import NexusServer


class McpEndpoint:
    """The ASGI application of one MCP server; ``close`` ends its sessions.

    The sessions live in a task that starts with the first request, so that the application can be
    mounted in others, which do not run the lifespan of a part.
    """

    def __init__(self, server: NexusServer, max_body: int) -> None:
        # The gate in front has checked host and origin.
        self._sessions = StreamableHTTPSessionManager(
            server.protocol, stateless=True, json_response=True, max_request_body_size=max_body
        )
        self._task: asyncio.Task[None] | None = None
        self._is_ready = asyncio.Event()
        self._is_closing = asyncio.Event()
        logging.getLogger("mcp").setLevel(logging.WARNING)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        await self._is_ready.wait()
        await self._sessions.handle_request(scope, receive, send)

    async def _run(self) -> None:
        async with self._sessions.run():
            self._is_ready.set()
            await self._is_closing.wait()

    async def close(self) -> None:
        """End all sessions."""
        self._is_closing.set()
        if self._task is not None:
            with suppress(asyncio.CancelledError):
                await self._task
