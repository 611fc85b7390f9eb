"""Reads the body of a request, and stops a call when its client has gone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from kiprdf.async_nexus import AsyncNexus
from kiprdf.serve.replies import HttpError

T = TypeVar("T")


async def read_body(request: Request, most: int) -> bytes:
    """The body, of at most ``most`` bytes; 413 for a longer one, before it is read if possible."""
    # The connection stays open: closing it with unread bytes would discard the answer.
    too_long = HttpError(
        413,
        f"The body is longer than {most} bytes.",
        "Send less at once, or start the server with a higher --max-body.",
    )
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > most:
        raise too_long
    chunks, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > most:
            raise too_long
        chunks.append(chunk)
    return b"".join(chunks)


def require_json(request: Request) -> None:
    """Raise 415 for a body that is not sent as JSON."""
    if media_type(request) != "application/json":
        hint = "Send the header Content-Type: application/json."
        raise HttpError(415, "The body must be JSON.", hint)


def media_type(request: Request) -> str:
    """The media type of the body, in lower case without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def run_for(request: Request, nexus: AsyncNexus, function: Callable[[], T]) -> T:
    """Run a function on a thread; cancel its query when the client hangs up."""
    return await until_gone(request, nexus.run(function))


async def until_gone(request: Request, coroutine: Coroutine[Any, Any, T]) -> T:
    """Await a coroutine; cancel it and raise ``ClientDisconnect`` when the client hangs up.

    The body has been read before.
    """
    call = asyncio.ensure_future(coroutine)
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({call, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not call.done():
            raise ClientDisconnect
        return call.result()
    finally:
        gone.cancel()
        call.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
