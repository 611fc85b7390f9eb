"""The ASGI application of a nexus (docs/how-to/serve.md)."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from secrets import token_hex
from typing import IO, TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qs, quote, unquote, urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import (
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Scope

import kiprdf
from kiprdf.async_nexus import AsyncNexus
from kiprdf.errors import KipError, StoreError, without_folder
from kiprdf.nexus import Nexus
from kiprdf.serve import kip, linked, maintenance, sparql
from kiprdf.serve.body import media_type, read_body, run_for
from kiprdf.serve.explorer import ASSETS, Absent, Explorer
from kiprdf.serve.login import login_page, sign_in
from kiprdf.serve.mcp_route import McpEndpoint
from kiprdf.serve.negotiation import choose
from kiprdf.serve.observation import LOGGER, AuditLog, Metrics, Observer, info_of
from kiprdf.serve.openapi import document
from kiprdf.serve.options import Options
from kiprdf.serve.public_path import PublicPath
from kiprdf.serve.replies import HttpError, error_response, json_response
from kiprdf.serve.security import Gate
from kiprdf.serve.time_pages import moment_of

if TYPE_CHECKING:
    from kiprdf.mcp import NexusServer

T = TypeVar("T")

DUMPS = 2
"""Documents of the whole dataset that are made at once: each takes memory, and a processor."""
SENT_BYTES = 2**18
"""The size of the pieces in which a large document is sent."""
INDEX_LOG_SECONDS = 10.0
"""How often the progress of the text index is logged."""
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


@dataclass
class Server:
    """The data that the handlers of one application share."""

    nexus: Nexus
    options: Options
    audit: AuditLog | None = None
    metrics: Metrics = field(default_factory=Metrics)

    def __post_init__(self) -> None:
        self.threads = AsyncNexus(self.nexus)
        # Raw SPARQL waits for one of few processes: not on the threads of the other requests.
        self.sparql_threads = AsyncNexus(self.nexus, threads=16)
        self.store = self.nexus._store
        self.gate: Gate | None = None
        self._elements = (-1, 0)
        # The same commit of another nexus, or of another version, has other documents.
        self._start = token_hex(4)
        self._dumps = asyncio.Semaphore(DUMPS)

    async def build_index(self) -> None:
        """Complete the text index, and log the progress."""
        logged_at = -INDEX_LOG_SECONDS

        def log(missing: int) -> None:
            nonlocal logged_at
            if missing and time.monotonic() - logged_at > INDEX_LOG_SECONDS:
                logged_at = time.monotonic()
                LOGGER.info("The text index is being built: %s elements are missing.", missing)

        try:
            await self.threads.build_index(log)
        except (KipError, StoreError) as fault:
            LOGGER.warning("The text index is not complete: %s", fault)

    # Handlers ---------------------------------------------------------------------------------

    async def root(self, request: Request) -> Response:
        """The explorer for people, a description for programs."""
        accepted = choose(request.headers.get("accept"), ["application/json", "text/html"])
        if self.options.explorer and accepted is not None and accepted[0] == "text/html":
            return RedirectResponse(_root(request) + "/explore/", 303, {"Vary": "Accept"})
        content = {
            "name": "kiprdf",
            "version": kiprdf.__version__,
            "base_iri": self.nexus.base_iri,
            "commit": self.store.commit(),
            "read_only": self.is_read_only,
        }
        return json_response(content, headers={"Vary": "Accept"})

    async def health(self, request: Request) -> Response:
        """/health: whether the server answers, and what is wrong."""
        return json_response(await self._state("ok"))

    async def ready(self, request: Request) -> Response:
        """/ready: whether requests can be answered, and written."""
        state = await self._state("ready")
        return json_response(state, 503 if "problems" in state else 200)

    async def _state(self, good: str) -> dict[str, Any]:
        # The threads of the requests may all be busy.
        problems = await asyncio.to_thread(self.nexus.problems)
        return {"status": f"not {good}", "problems": problems} if problems else {"status": good}

    async def post_kip(self, request: Request) -> Response:
        """POST /kip."""
        if media_type(request) != "application/json":
            hint = "Send the header Content-Type: application/json."
            raise HttpError(415, "The body must be JSON.", hint)
        body = await read_body(request, self.options.max_body)
        call = partial(
            kip.answer,
            self.nexus,
            body,
            may_write=info_of(request.scope).access == "write",
            read_only=self.is_read_only,
            audit=self.audit_of(request.scope),
        )
        reply = await run_for(request, self.threads, call)
        self.note(request.scope, reply.rows)
        return Response(reply.content, reply.status, media_type="application/json")

    async def maintain(self, request: Request) -> Response:
        """POST /maintenance/{name}."""
        name = request.path_params["name"].replace("_", "-")
        if name == "backup":
            return await self.backup(request)
        _require_write(request)
        if name not in maintenance.COMMANDS:
            hint = f"The commands are backup, {', '.join(maintenance.COMMANDS)}."
            raise HttpError(404, f"There is no maintenance command {name}.", hint)
        if self.is_read_only:
            raise HttpError(403, "This server only reads.", "Start it without --read-only.")
        body = await read_body(request, self.options.max_body)
        if body and media_type(request) != "application/json":
            hint = "Send the header Content-Type: application/json."
            raise HttpError(415, "The body must be JSON.", hint)
        command = maintenance.read(name, body)
        report = await run_for(request, self.threads, partial(command.run, self.nexus))
        audit = self.audit_of(request.scope)
        if audit is not None and not getattr(command, "dry_run", False):
            # Not the report: what was forgotten would be in the log.
            seq = {"command": name, "commit": self.store.commit()}
            audit(hashlib.sha256(body).hexdigest(), seq)
        self.note(request.scope, None)
        return json_response(report)

    async def backup(self, request: Request) -> Response:
        """POST /backup: the folder, as of one commit, as a tar stream."""
        _require_write(request)
        if (await read_body(request, self.options.max_body)).strip() not in (b"", b"{}"):
            hint = "Send no body; kiprdf backup --nexus URL does so."
            raise HttpError(400, "A backup takes no arguments.", hint)
        files = await run_for(request, self.threads, partial(maintenance.back_up, self.nexus))
        self.note(request.scope, None)
        return maintenance.TarResponse(files)

    async def sparql(self, request: Request) -> Response:
        """/sparql by GET and POST."""
        sent, body = None, b""
        if request.method == "POST":
            sent = media_type(request)
            body = await read_body(request, self.options.max_body)
        accept = request.headers.get("accept")
        query = sparql.query_of(request.scope["query_string"].decode("latin-1"), sent, body)
        if query is None:
            return self._service_description(request)
        call = partial(sparql.answer, self.nexus, query, accept)
        reply = await run_for(request, self.sparql_threads, call)
        self.note(request.scope, reply.rows)
        headers = {"Vary": "Accept", "Content-Type": reply.media_type}
        return Response(reply.content, 200, headers)

    def _service_description(self, request: Request) -> Response:
        accept = request.headers.get("accept")
        preferred = choose(accept, [*sparql.RDF_FORMATS, "text/html"])
        if preferred is not None and preferred[0] == "text/html" and self.options.explorer:
            return RedirectResponse(_root(request) + "/explore/", 303, {"Vary": "Accept"})
        chosen = linked.variant(accept, None)
        content = linked.service_description(self.address(request) + "sparql", chosen)
        headers = {"Vary": "Accept", "Content-Type": chosen.content_type}
        return Response(content, 200, headers)

    async def graph(self, request: Request) -> Response:
        """The Graph Store Protocol, for reading."""
        names = parse_qs(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if "graph" in names:
            raise HttpError(404, "There is no such graph.", "Ask for /graph?default.")
        if "default" not in names:
            raise HttpError(400, "The request names no graph.", "Ask for /graph?default.")
        chosen = linked.variant(request.headers.get("accept"), names.get("profile", [None])[0])
        make = partial(linked.graph, self.nexus, chosen)
        return await self._document(request, chosen, make, limit=self._dumps)

    async def data(self, request: Request) -> Response:
        """/data/{path}: an element as RDF."""
        profile = request.query_params.get("profile")
        chosen = linked.variant(request.headers.get("accept"), profile)
        path = _path_after(request, "/data/")
        node = await self._read(request, partial(linked.element_at, self.store, path))
        make = partial(linked.element_document, self.store, node, chosen)
        return await self._document(request, chosen, make)

    # Pages ------------------------------------------------------------------------------------

    def _in_explorer(
        self, request: Request, when: str | None, make: Callable[[Explorer], str]
    ) -> bytes:
        """A page of the nexus as it is, or as of a commit or time."""
        title, root = self.options.title or "kiprdf", _root(request)
        if not when or when == str(self.store.commit()):
            moment = moment_of(self.store)
            html = make(Explorer(self.nexus, self.store, title, root, moment))
        else:
            seq = _commit(when)
            with self.nexus.at(when if seq is None else seq) as past:
                moment = moment_of(self.store, past._store.commit())
                html = make(Explorer(past, past._store, title, root, moment))
        return html.encode(errors="replace")

    async def page(self, request: Request) -> Response:
        """/page/{path}: an element for people."""
        node = linked.node_at(self.store, _path_after(request, "/page/"))
        when = request.query_params.get("as_of")
        make = partial(
            self._in_explorer, request, when, lambda explorer: explorer.element(node, self.nexus)
        )
        try:
            return await self._document(request, linked.HTML, make)
        except Absent as page:
            if not _is_for_people(request):
                raise linked.no_element() from None
            headers = {"Vary": "Accept"}
            return HTMLResponse(str(page).encode(errors="replace"), 404, headers)

    async def history(self, request: Request) -> Response:
        """/explore/history/{path}: the changes of an element."""
        node = linked.node_at(self.store, _path_after(request, "/explore/history/"))
        cursor = request.query_params.get("cursor")
        return await self._page(
            request, lambda explorer: explorer.history(node, cursor), is_timeless=True
        )

    async def explore(self, request: Request) -> Response:
        """/explore/: search, or what there is."""
        term = request.query_params.get("q", "")
        return await self._page(request, lambda explorer: explorer.start(term))

    async def search_results(self, request: Request) -> Response:
        """/explore/search: the results alone, for search as you type."""
        term = request.query_params.get("q", "")
        return await self._page(
            request, lambda explorer: explorer.results(term) if term.strip() else ""
        )

    async def schema(self, request: Request) -> Response:
        """/explore/schema."""
        return await self._page(request, lambda explorer: explorer.schema())

    async def changes(self, request: Request) -> Response:
        """/explore/log."""
        until = request.query_params.get("until") or request.query_params.get("as_of") or ""
        return await self._page(
            request, lambda explorer: explorer.log(_commit(until)), is_timeless=True
        )

    async def queries(self, request: Request) -> Response:
        """/explore/kql: commands that read, by GET or from the form."""
        if request.method == "POST":
            form = await read_body(request, self.options.max_body)
            fields = parse_qs(form.decode(errors="replace"), keep_blank_values=True)
            command: str | None = fields.get("command", [""])[0]
        else:
            command = request.query_params.get("command")
        return await self._page(request, lambda explorer: explorer.queries(command))

    async def static(self, request: Request) -> Response:
        """/static/{name}: style and script of the pages."""
        asset = ASSETS.get(request.path_params["name"])
        if asset is None:
            raise HTTPException(404)
        path, type_ = asset
        headers = {"Cache-Control": "max-age=3600"}
        return Response(path.read_bytes(), 200, headers, type_)

    async def _page(
        self, request: Request, make: Callable[[Explorer], str], *, is_timeless: bool = False
    ) -> Response:
        """A page, of an earlier state if the query asks for one and the page is about a state."""
        when = None if is_timeless else request.query_params.get("as_of")
        call = partial(self._in_explorer, request, when, make)
        html = await run_for(request, self.threads, call)
        self.note(request.scope, None)
        return HTMLResponse(html)

    # Documents --------------------------------------------------------------------------------

    async def void(self, request: Request) -> Response:
        """/.well-known/void."""
        chosen = linked.variant(request.headers.get("accept"), None)
        title = self.options.title or f"Nexus {self.nexus.base_iri}"
        address = self.address(request)
        make = partial(linked.void, self.nexus, self.store, address, title, chosen)
        return await self._document(request, chosen, make, limit=self._dumps)

    async def dereference(self, request: Request) -> Response:
        """The IRI of an element: 303 to a page or to data."""
        base = urlsplit(self.nexus.base_iri).path
        path = _path_after(request, base.removeprefix(self.options.public_path))
        await self._read(request, partial(linked.element_at, self.store, path))
        if request.method not in ("GET", "HEAD"):
            raise HTTPException(405, headers={"Allow": "GET, HEAD"})
        offers = [*sparql.RDF_FORMATS]
        if self.options.explorer:
            offers.append("text/html")
        chosen = choose(request.headers.get("accept"), offers)
        if chosen is None:
            raise HttpError(406, "No accepted type is there.", f"The types are {offers}.")
        kind = "page" if chosen[0] == "text/html" else "data"
        return RedirectResponse(f"{_root(request)}/{kind}/{path}", 303, {"Vary": "Accept"})

    async def metrics_text(self, request: Request) -> Response:
        """/metrics."""
        commit = self.store.commit()
        if self._elements[0] != commit:
            info = await self.threads.run(self.nexus.info)
            self._elements = (commit, info["concepts"] + info["propositions"])
            self.metrics.sync = info.get("sync")
        text = self.metrics.text(commit, self._elements[1])
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    async def openapi(self, request: Request) -> Response:
        """/openapi.json."""
        return json_response(document(self.address(request)))

    async def login(self, request: Request) -> Response:
        """/login: a form; a token becomes a cookie that reads."""
        if request.method == "POST":
            body = await read_body(request, 10_000)
            assert self.gate is not None
            return sign_in(request, body, self.gate, _root(request))
        return login_page(request)

    # Errors -----------------------------------------------------------------------------------

    async def refuse(self, request: Request, error: Any) -> Response:
        """The answer to a request that failed: a page for people, JSON for programs."""
        answer = error_response(error)
        if not (self.options.explorer and _is_for_people(request)):
            return answer
        explorer = Explorer(self.nexus, self.store, self.options.title or "kiprdf", _root(request))
        html = explorer.failure(answer.status_code, json.loads(bytes(answer.body))["error"])
        headers = {**getattr(error, "headers", {}), "Vary": "Accept"}
        return HTMLResponse(html.encode(errors="replace"), answer.status_code, headers)

    async def refuse_as_failed(self, request: Request, error: Any) -> Response:
        message = "The server failed."
        if isinstance(error, StoreError):
            message = without_folder(str(error), self.store.folder)
            LOGGER.error("%s", error)
        failed = HttpError(500, message, "Look at the log of the server.")
        return await self.refuse(request, failed)

    async def refuse_request(self, request: Request, error: Any) -> Response:
        messages = {404: "There is nothing here.", 405: "This path has other methods."}
        hint = "The routes are listed at /openapi.json."
        message = messages.get(error.status_code, error.detail)
        refused = HttpError(error.status_code, message, hint, error.headers)
        return await self.refuse(request, refused)

    # Helpers ----------------------------------------------------------------------------------

    def audit_of(self, scope: Scope) -> kip.Audit | None:
        """What records the writes of a request."""
        return None if self.audit is None else partial(self.audit.write, info_of(scope).label)

    @property
    def is_read_only(self) -> bool:
        return self.nexus.read_only or self.options.read_only

    def address(self, request: Request) -> str:
        """The public address of the application, with a final slash."""
        address = self.options.base_url or str(request.base_url)
        return address if address.endswith("/") else address + "/"

    async def _document(
        self,
        request: Request,
        chosen: linked.Variant,
        make: Callable[[], bytes | IO[bytes]],
        limit: AbstractAsyncContextManager[Any] | None = None,
    ) -> Response:
        """A document about the state of one commit, with a strong ETag."""
        commit = await self._read(request, self.store.commit)
        headers = {"ETag": self._tag(commit, chosen), "Vary": "Accept"}
        if _matches(request.headers.get("if-none-match"), headers["ETag"]):
            return Response(status_code=304, headers=headers)
        async with limit or nullcontext():
            content = await run_for(request, self.threads, make)
        if self.store.commit() != commit:
            # Another commit came in between: the content may be of either.
            del headers["ETag"]
        self.note(request.scope, None, commit)
        headers["Content-Type"] = chosen.content_type
        if isinstance(content, bytes):
            return Response(content, 200, headers)
        headers["Content-Length"] = str(content.seek(0, os.SEEK_END))
        return StreamingResponse(_pieces(content, request.method), 200, headers)

    async def _read(self, request: Request, function: Callable[[], T]) -> T:
        """What a short function reads of the last commit; of a shared store that takes requests."""
        if self.store.is_shared:
            return await run_for(request, self.threads, lambda: self.store.read(function))
        return function()

    def _tag(self, commit: int, chosen: linked.Variant) -> str:
        return f'"{self._start}-{commit}-{chosen.media_type.rpartition("/")[2]}-{chosen.profile}"'

    def note(self, scope: Scope, rows: int | None, commit: int | None = None) -> None:
        """Note the numbers of a request for its log line."""
        info = info_of(scope)
        info.rows = rows
        info.commit = self.store.commit() if commit is None else commit


def asgi_app(server: Server) -> ASGIApp:
    """The routes of a server behind its gate."""
    mcp = _mcp_endpoint(server)
    routes = [
        _OwnRoute("/", server.root, methods=["GET"]),
        _OwnRoute("/health", server.health, methods=["GET"]),
        _OwnRoute("/ready", server.ready, methods=["GET"]),
        _OwnRoute("/kip", server.post_kip, methods=["POST"]),
        _OwnRoute("/sparql", server.sparql, methods=["GET", "POST"]),
        _OwnRoute("/graph", server.graph, methods=["GET"]),
        _OwnRoute("/backup", server.backup, methods=["POST"]),
        _OwnRoute("/maintenance/{name}", server.maintain, methods=["POST"]),
        _OwnRoute("/data/{path:path}", server.data, methods=["GET"]),
        _OwnRoute("/.well-known/void", server.void, methods=["GET"]),
        _OwnRoute("/metrics", server.metrics_text, methods=["GET"]),
        _OwnRoute("/openapi.json", server.openapi, methods=["GET"]),
        _OwnRoute("/login", server.login, methods=["GET", "POST"]),
        *(_pages(server) if server.options.explorer else []),
        *([] if mcp is None else [_OwnRoute("/mcp", mcp)]),
        *_base_routes(server),
    ]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        indexing = asyncio.ensure_future(server.build_index())
        yield
        indexing.cancel()
        if mcp is not None:
            await mcp.close()

    starlette = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={
            HttpError: server.refuse,
            KipError: server.refuse,
            StoreError: server.refuse_as_failed,
            HTTPException: server.refuse_request,
            ClientDisconnect: _answer_nobody,
            Exception: server.refuse_as_failed,
        },
    )
    starlette.router.redirect_slashes = False
    gate = Gate(starlette, server.options)
    server.gate = gate
    app: ASGIApp = Observer(gate, server.metrics, _first_segments(routes))
    public_path = server.options.public_path
    return PublicPath(app, public_path) if public_path else app


class _OwnRoute(Route):
    """A route that takes its path with every method: an unsupported one is 405."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child = super().matches(scope)
        return (Match.FULL if match is Match.PARTIAL else match), child


def _pages(server: Server) -> list[Route]:
    """The routes of the explorer."""
    return [
        _OwnRoute("/page/{path:path}", server.page, methods=["GET"]),
        _OwnRoute("/explore/", server.explore, methods=["GET"]),
        _OwnRoute("/explore/search", server.search_results, methods=["GET"]),
        _OwnRoute("/explore/schema", server.schema, methods=["GET"]),
        _OwnRoute("/explore/log", server.changes, methods=["GET"]),
        _OwnRoute("/explore/history/{path:path}", server.history, methods=["GET"]),
        _OwnRoute("/explore/kql", server.queries, methods=["GET", "POST"]),
        _OwnRoute("/static/{name}", server.static, methods=["GET"]),
    ]


def _mcp_endpoint(server: Server) -> McpEndpoint | None:
    """The endpoint for MCP, if it is wanted and the package is installed."""
    if not server.options.mcp or find_spec("mcp") is None:
        return None

    def make() -> NexusServer:
        from kiprdf.mcp import NexusServer
        from kiprdf.memory import functions

        memory = functions.MemoryFunctions(server.nexus)

        def execute(context: Any, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
            scope = context.request.scope
            audit = server.audit_of(scope)
            if name in functions.NAMES:
                response = memory.call(name, arguments)
                kip.report_memory(name, arguments, response, audit)
            else:
                readonly = name == "execute_kip_readonly"
                response = kip.call(server.nexus, arguments, readonly=readonly, audit=audit)
            server.note(scope, kip.rows_of(response))
            return response

        def may_write(context: Any) -> bool:
            return info_of(context.request.scope).access == "write"

        is_read_only = server.options.read_only
        return NexusServer(
            server.nexus, read_only=is_read_only, execute=execute, may_write=may_write
        )

    return McpEndpoint(make, server.options.max_body)


def _base_routes(server: Server) -> Iterable[Route]:
    """The route of the IRIs of elements, if their base is a web address."""
    base = urlsplit(server.nexus.base_iri)
    if base.scheme not in ("http", "https"):
        return []
    path = unquote(base.path).removeprefix(server.options.public_path)
    return [Route(path + "{path:path}", server.dereference, methods=_METHODS)]


def _first_segments(routes: Iterable[Route]) -> frozenset[str]:
    return frozenset(route.path.split("/")[1] for route in routes if "{" not in route.path[:2])


async def _answer_nobody(request: Request, error: Any) -> Response:
    return Response(status_code=499)


def _is_for_people(request: Request) -> bool:
    """Whether a browser shows the answer to a request."""
    accepted = choose(request.headers.get("accept"), ["application/json", "text/html"])
    is_page = request.method in ("GET", "HEAD") or request.url.path.startswith(
        f"{_root(request)}/explore/"
    )
    return is_page and accepted is not None and accepted[0] == "text/html"


def _require_write(request: Request) -> None:
    if info_of(request.scope).access != "write":
        hint = "Send the token that also writes."
        raise HttpError(403, "This token only reads.", hint)


def _root(request: Request) -> str:
    root: str = request.scope.get("root_path", "")
    return root


def _path_after(request: Request, start: str) -> str:
    """The percent-encoded path behind the segments of ``start``, as the client wrote it."""
    raw = request.scope.get("raw_path") or quote(request.scope["path"]).encode()
    path: str = raw.partition(b"?")[0].decode("ascii", "replace")
    return path.removeprefix(_root(request)).split("/", start.count("/"))[-1]


def _commit(text: str) -> int | None:
    """The number of a commit in a query; None for another text."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None


def _pieces(content: IO[bytes], method: str) -> Iterator[bytes]:
    """The pieces of a file that is sent, which is closed at the end; none for HEAD."""
    with content:
        content.seek(0)
        while method != "HEAD" and (piece := content.read(SENT_BYTES)):
            yield piece


def _matches(header: str | None, tag: str) -> bool:
    """Whether If-None-Match names a tag (RFC 9110 §13.1.2: weak comparison)."""
    if header is None:
        return False
    tags = [one.strip().removeprefix("W/") for one in header.split(",")]
    return "*" in tags or tag in tags
