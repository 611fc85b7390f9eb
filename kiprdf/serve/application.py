"""The ASGI application of a nexus (docs/how-to/serve.md)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib.util import find_spec
from typing import Any
from urllib.parse import unquote, urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from kiprdf.actors import acting_as
from kiprdf.errors import KipError, StoreError, without_folder
from kiprdf.serve.http import HttpError, failure
from kiprdf.serve.mcp_route import McpEndpoint
from kiprdf.serve.observation import LOGGER, Observer, info_of
from kiprdf.serve.routes import (
    acting,
    admin,
    feed,
    kip,
    linked,
    openapi,
    pages,
    review,
    sparql,
)
from kiprdf.serve.security import Gate
from kiprdf.serve.state import Server, Service

FOR_PROGRAMS = (
    admin.ROUTES + kip.ROUTES + sparql.ROUTES + linked.ROUTES + feed.ROUTES + openapi.ROUTES
)
FOR_PEOPLE = pages.ROUTES + review.ROUTES + acting.ROUTES
SCOPE_INDEX_SECONDS = 5.0
"""How long a scope is open before its text index is completed."""
PAGE_SECONDS = 1.0
"""How long a server runs before it loads what its first page needs: some run for one request."""
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def asgi_app(server: Server) -> ASGIApp:
    """The application of one nexus behind the gate."""
    application = Application(server)
    return behind_gate(application, server.service, application.first_segments)


def behind_gate(app: ASGIApp, service: Service, first_segments: frozenset[str]) -> ASGIApp:
    """An application whose requests are logged, counted, and sent by a principal."""
    app = Observer(Gate(app, service), service.metrics, first_segments)
    public_path = service.options.public_path
    return _PublicPath(app, public_path) if public_path else app


class Application:
    """The routes of one nexus, on which each request acts as its principal."""

    def __init__(self, server: Server) -> None:
        self._server = server
        has_mcp = server.options.mcp and find_spec("mcp") is not None
        self._mcp = McpEndpoint(server) if has_mcp else None
        self._indexing: asyncio.Future[None] | None = None
        routes = self._routes()
        self.first_segments = frozenset(
            route.path.split("/")[1] for route in routes if "{" not in route.path[:2]
        )
        refusals = _REFUSALS.items()

        @asynccontextmanager
        async def lifespan(app: Starlette) -> AsyncIterator[None]:
            self.start()
            yield
            await self.close()

        self._app = Starlette(
            routes=routes,
            lifespan=lifespan,
            exception_handlers={error: partial(handler, server) for error, handler in refusals},
        )
        self._app.router.redirect_slashes = False

    def _routes(self) -> list[Route]:
        server = self._server
        listed = FOR_PROGRAMS + FOR_PEOPLE if server.options.explorer else FOR_PROGRAMS
        if server.of is None:
            listed += admin.OF_SERVER
        routes: list[Route] = [
            OwnRoute(path, partial(handler, server), methods=methods)
            for path, methods, handler in listed
        ]
        if self._mcp is not None:
            routes.append(OwnRoute("/mcp", self._mcp))
        if server.options.mib:
            from kiprdf.serve.routes import mib  # the memory takes long to load

            routes += mib.routes(server)
        if urlsplit(server.nexus.base_iri).scheme in ("http", "https"):
            # The IRIs of elements are addresses.
            dereference = partial(linked.dereference, server)
            path = unquote(server.base_path) + "{path:path}"
            routes.append(Route(path, dereference, methods=_METHODS))
        return routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with acting_as(self._server.nexus._engine.writer, info_of(scope).actor):
            await self._app(scope, receive, send)

    def start(self) -> None:
        """Complete the text index, while requests are answered."""
        self._indexing = asyncio.ensure_future(self._indexed())

    async def _indexed(self) -> None:
        if self._server.of is not None:
            # Most scopes are closed again before anybody searches; a SEARCH does it itself.
            await asyncio.sleep(SCOPE_INDEX_SECONDS)
        await self._server.build_index()
        if self._server.of is None and self._server.options.explorer:
            await asyncio.sleep(PAGE_SECONDS)
            with suppress(KipError, StoreError):
                await self._server.threads.run(partial(pages.prepare, self._server))

    def end_streams(self) -> None:
        """End the streams of events, whose clients connect again."""
        self._server.streams_ended += 1

    async def close(self) -> None:
        """End what runs besides requests."""
        if self._indexing is not None:
            self._indexing.cancel()
        if self._mcp is not None:
            await self._mcp.close()


class _PublicPath:
    """An application below a path, such as ``/memory``, whether or not a proxy removes it."""

    def __init__(self, app: ASGIApp, path: str) -> None:
        self._app = app
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope.get("root_path"):
            path, raw_path = scope["path"], scope.get("raw_path", b"")
            if not path.startswith(self._path + "/"):
                path, raw_path = self._path + path, self._path.encode() + raw_path
            scope = {**scope, "root_path": self._path, "path": path, "raw_path": raw_path}
        await self._app(scope, receive, send)


class OwnRoute(Route):
    """A route that takes its path with every method: an unsupported one is 405."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child = super().matches(scope)
        return (Match.FULL if match is Match.PARTIAL else match), child


async def _refuse_as_failed(server: Server, request: Request, error: Any) -> Response:
    failed = failure()
    if isinstance(error, StoreError):
        failed = failure(without_folder(str(error), server.store.folder))
        LOGGER.error("%s", error)
    return await pages.refuse(server, request, failed)


async def _refuse_request(server: Server, request: Request, error: Any) -> Response:
    return await pages.refuse(server, request, refusal_of(error))


def refusal_of(error: HTTPException) -> HttpError:
    """The refusal of a request that no route takes."""
    messages = {404: "There is nothing here.", 405: "This path has other methods."}
    hint = "The routes are listed at /openapi.json."
    message = messages.get(error.status_code, error.detail)
    return HttpError(error.status_code, message, hint, error.headers)


async def _answer_nobody(server: Server, request: Request, error: Any) -> Response:
    return Response(status_code=499)


_REFUSALS: dict[Any, Callable[[Server, Request, Any], Awaitable[Response]]] = {
    HttpError: pages.refuse,
    KipError: pages.refuse,
    StoreError: _refuse_as_failed,
    HTTPException: _refuse_request,
    ClientDisconnect: _answer_nobody,
    Exception: _refuse_as_failed,
}
