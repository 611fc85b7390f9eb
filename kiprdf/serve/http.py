"""What HTTP adds to KIP: the types that a client accepts, the body of a request, and replies."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from kiprdf import protocol
from kiprdf.async_nexus import AsyncNexus
from kiprdf.dataclasses import dataclass
from kiprdf.errors import ERROR_CODES, KipError

T = TypeVar("T")
STATUS_OF = {
    "KIP_3002": 404,
    "KIP_3003": 409,
    "KIP_3004": 403,
    "KIP_3005": 409,
    "KIP_4001": 408,
    "KIP_4003": 500,
}
"""The HTTP status of an error; all others are 400."""


class HttpError(Exception):
    """A refusal of HTTP: a status, and the sentence and hint of its error object."""

    is_malformed_http = False
    """Whether no route has read the request, so that no command can be wrong."""

    def __init__(
        self, status: int, message: str, hint: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.hint = hint
        self.headers = dict(headers or {})


def failure(message: str = "The server failed.") -> HttpError:
    """The refusal where the server, and not the request, is at fault."""
    return HttpError(500, message, "Look at the log of the server.")


# Replies --------------------------------------------------------------------------------------


class Answer(NamedTuple):
    """What a route answers: the body, its media type, and the number of rows in it."""

    content: bytes
    media_type: str
    rows: int | None = None
    status: int = 200


def to_json(value: Any) -> bytes:
    """JSON in UTF-8; lone surrogates, which UTF-8 lacks, stay escaped."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def json_response(
    value: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """A response in JSON."""
    return Response(to_json(value), status, headers, "application/json")


def status_of(code: str) -> int:
    """The status of a response with the error of a command."""
    return STATUS_OF.get(code, 400)


async def read_form(request: Request, most: int) -> dict[str, str]:
    """The fields of a form that was sent, each once."""
    body = await read_body(request, most)
    return {key: values[0] for key, values in parse_qs(body.decode(errors="replace")).items()}


def error_response(error: HttpError | KipError) -> Response:
    """The response to a refused or failed request."""
    if isinstance(error, KipError):
        content: Any = protocol.error_response(error)
        return json_response(content, status_of(error.code))
    code, name = _code_of(error)
    texts = protocol.error_object(KipError("KIP_4003", error.message, error.hint))
    content = {"error": {**texts, "code": code, "name": name}}
    return json_response(content, error.status, error.headers)


def _code_of(error: HttpError) -> tuple[str, str]:
    """The code and name of a refusal: those of HTTP where no command is wrong."""
    status = error.status
    if (status == 400 and not error.is_malformed_http) or status >= 500:
        code = "KIP_1001" if status == 400 else "KIP_4003"
        return code, ERROR_CODES[code].name
    return f"HTTP_{status}", HTTPStatus(status).phrase


# The type of an answer (RFC 9110 §12.5.1) -------------------------------------------------------


@dataclass(frozen=True)
class MediaRange:
    """One part of an Accept header: ``text/turtle;version=1.2;q=0.5``."""

    type: str
    parameters: dict[str, str]
    quality: float

    def specificity(self, media_type: str) -> int:
        """How specifically the range matches a type: 0 if it does not match."""
        if self.type in ("*/*", "*"):
            return 1
        if self.type.endswith("/*"):
            return 2 if media_type.startswith(self.type[:-1]) else 0
        return 3 if self.type == media_type else 0


def media_ranges(accept: str | None) -> list[MediaRange]:
    """The ranges of a header; without one, everything is accepted."""
    ranges = []
    for part in (accept or "*/*").split(","):
        media_type, *settings = (piece.strip() for piece in part.split(";"))
        parameters = {
            name.strip().lower(): value.strip().strip('"')
            for name, _, value in (setting.partition("=") for setting in settings)
        }
        if media_type:
            quality = _quality(parameters.pop("q", "1"))
            ranges.append(MediaRange(media_type.lower(), parameters, quality))
    return ranges


def _quality(text: str) -> float:
    try:
        quality = float(text)
    except ValueError:
        return 0.0
    return quality if 0 <= quality <= 1 else 0.0


def choose(accept: str | None, offers: Sequence[str]) -> tuple[str, dict[str, str]] | None:
    """The best of the offered types, with the parameters of its range; None if none is acceptable.

    Offers of equal quality are chosen in their order.

    >>> choose("text/html;q=0.8, text/turtle;version=1.2", ["text/html", "text/turtle"])
    ('text/turtle', {'version': '1.2'})
    >>> choose("image/png", ["text/html"])
    """
    ranges = media_ranges(accept)
    best: tuple[str, dict[str, str]] | None = None
    best_quality = 0.0
    for offer in offers:
        matches = [(one.specificity(offer), one) for one in ranges if one.specificity(offer)]
        if not matches:
            continue
        most = max(specificity for specificity, _ in matches)
        specific = [one for specificity, one in matches if specificity == most]
        chosen = max(specific, key=lambda one: one.quality)
        if chosen.quality > best_quality:
            best, best_quality = (offer, chosen.parameters), chosen.quality
    return best


# The body of a request ------------------------------------------------------------------------


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
