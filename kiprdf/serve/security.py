"""Checks host, origin and token of each request before reading it, and adds security headers."""

from __future__ import annotations

import asyncio
import re
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kiprdf.serve.access import session_of
from kiprdf.serve.http import HttpError, choose, failure
from kiprdf.serve.observation import info_of
from kiprdf.serve.options import host_name, is_own_address
from kiprdf.serve.plain import CONTENT_POLICY, refusal
from kiprdf.serve.state import Service

_MCP = re.compile("(?:/scopes/[^/]+)?/mcp")
OPEN_PATHS = ("/health", "/ready", "/login")
"""The paths that need no token."""
_CORS_METHODS = "GET, HEAD, POST, DELETE, OPTIONS"
_CORS_HEADERS = (
    "Authorization, Content-Type, Accept, If-None-Match, KIP-Session, Last-Event-ID, "
    "Mcp-Session-Id, Mcp-Protocol-Version"
)


class Gate:
    """Finds the principal of a request, or refuses it; knows of no nexus."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._service = service
        self._options = service.options
        self._hosts = service.options.hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        is_answered = False

        async def send_with_headers(message: Message) -> None:
            nonlocal is_answered
            if message["type"] == "http.response.start":
                is_answered = True
                self._add_headers(MutableHeaders(scope=message), origin)
            await send(message)

        try:
            response = self._refusal(scope, headers, origin)
        except HttpError as error:
            response = refusal(Request(scope), error, self._options)
        if response is not None:
            await response(scope, receive, send_with_headers)
            return
        try:
            await self._app(scope, receive, send_with_headers)
        except asyncio.CancelledError:
            # The time for running requests at the end of the server is over.
            if not self._service.is_closing:
                raise
            if not is_answered:
                closing = refusal(Request(scope), _ended(), self._options)
                await closing(scope, receive, send_with_headers)
        except Exception:
            if not is_answered:
                failed = refusal(Request(scope), failure(), self._options)
                await failed(scope, receive, send_with_headers)
            raise

    def _refusal(self, scope: Scope, headers: Headers, origin: str | None) -> Response | None:
        """The response to a request that may not pass; None if it may."""
        if self._service.is_closing:
            raise _closing()
        self._check_host(headers)
        if scope["method"] == "OPTIONS" and origin is not None and self._is_cors(origin):
            preflight = {
                "Access-Control-Allow-Methods": _CORS_METHODS,
                "Access-Control-Allow-Headers": _CORS_HEADERS,
                "Access-Control-Max-Age": "600",
            }
            return Response(status_code=204, headers=preflight)
        if scope["method"] not in ("GET", "HEAD", "OPTIONS") and origin is not None:
            self._check_origin(headers, origin)
        info, path = info_of(scope), _path(scope)
        if path in OPEN_PATHS:
            return None
        authentication, is_mcp = self._service.authentication, _MCP.fullmatch(path) is not None
        info.principal = authentication.of_request(scope, headers, is_mcp=is_mcp)
        info.session = session_of(scope, headers)
        info.has_token = self._options.has_token
        return self._unauthorized(scope, headers) if info.principal is None else None

    def _check_host(self, headers: Headers) -> None:
        names = {host_name(host) for host in headers.getlist("host")} or {""}
        foreign = set() if self._hosts is None else names - self._hosts
        if foreign and (self._options.is_loopback or not all(map(is_own_address, foreign))):
            hint = "Use the address that the server printed, or start it with --allow-host."
            raise HttpError(421, "This server does not answer for this host.", hint)

    def _is_cors(self, origin: str) -> bool:
        return "*" in self._options.cors or origin in self._options.cors

    def _check_origin(self, headers: Headers, origin: str) -> None:
        if not (self._options.is_own_origin(origin, headers) or self._is_cors(origin)):
            hint = "Start the server with --cors for this origin."
            raise HttpError(403, "Requests of this origin are not allowed.", hint)

    def _unauthorized(self, scope: Scope, headers: Headers) -> Response:
        accepted = choose(headers.get("accept"), ["application/json", "text/html"])
        if scope["method"] in ("GET", "HEAD") and accepted and accepted[0] == "text/html":
            root = scope.get("root_path", "")
            target = scope.get("raw_path", b"").decode("latin-1").removeprefix(root)
            if scope["query_string"]:
                target += "?" + scope["query_string"].decode("latin-1")
            address = f"{root}/login?next={quote(target, safe='/')}"
            return RedirectResponse(address, 303, {"Vary": "Accept"})
        message = "This server needs a token."
        hint = "Send the header Authorization: Bearer TOKEN."
        raise HttpError(401, message, hint, {"WWW-Authenticate": "Bearer"})

    def _add_headers(self, headers: MutableHeaders, origin: str | None) -> None:
        headers["X-Content-Type-Options"] = "nosniff"
        # With "no-referrer", browsers would send forms with the origin "null".
        headers["Referrer-Policy"] = "same-origin"
        if headers.get("content-type", "").startswith("text/html"):
            headers.setdefault("Content-Security-Policy", CONTENT_POLICY)
            headers["X-Frame-Options"] = "DENY"
        if self._options.cors:
            headers.add_vary_header("Origin")
            if origin is not None and self._is_cors(origin):
                headers["Access-Control-Allow-Origin"] = origin
                headers["Access-Control-Expose-Headers"] = "ETag, Mcp-Session-Id"


def _closing() -> HttpError:
    hint = "Send the request again later."
    return HttpError(503, "The server is shutting down.", hint, {"Retry-After": "1"})


def _ended() -> HttpError:
    message = "The server ended while the request ran: what it writes may be written, or not."
    return HttpError(503, message, "Look whether it is, before you send it again.")


def _path(scope: Scope) -> str:
    """The path below the root of the application."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))
