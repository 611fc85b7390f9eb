"""What the handlers of one application share, and what they ask of a request."""

from __future__ import annotations

import asyncio
import hmac
import re
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import field
from functools import cached_property, partial
from secrets import token_bytes, token_hex
from typing import Any, TypeAlias, TypeVar
from urllib.parse import quote, urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from kiprdf.actors import Access
from kiprdf.async_nexus import THREADS, AsyncNexus, pool
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError, StoreError
from kiprdf.execution.versions import Versions
from kiprdf.nexus import Nexus
from kiprdf.serve.access import Authentication
from kiprdf.serve.http import Answer, HttpError, choose, run_for
from kiprdf.serve.observation import LOGGER, AuditLog, Metrics, info_of
from kiprdf.serve.options import Options
from kiprdf.serve.past_states import PastStates
from kiprdf.store.past import number_at
from kiprdf.store.timeline import Timeline

T = TypeVar("T")
Audit: TypeAlias = Callable[[bytes, Any], None]
"""Called with the text and the receipt of each write."""

DUMPS = 2
"""Documents of the whole dataset that are made at once: each takes memory, and a processor."""
PASTS = 4
"""Pages of the past that are made at once: states are opened one by one, and who waits for that
takes no thread from pages of now."""
SPARQL_THREADS = 16
"""Raw SPARQL waits for one of few processes: not on the threads of the other requests."""
_FORM = re.compile("(?:/scopes/[^/]+)?/(?:explore/|login$)")
"""Where a browser sends forms."""
INDEX_LOG_SECONDS = 10.0
"""How often the progress of the text index is logged."""


@dataclass
class Service:
    """The state of a server, whether it serves one nexus or several."""

    options: Options
    audit: AuditLog | None = None
    metrics: Metrics = field(default_factory=Metrics)
    is_closing: bool = False
    files: int = 0
    """The file descriptors that are left for folders that are not open yet."""
    event_streams: int = 0
    """The streams of events that are open."""

    def __post_init__(self) -> None:
        self.authentication = Authentication(self.options)
        self.threads, self.sparql_threads = pool(THREADS), pool(SPARQL_THREADS)
        self.dumps, self.pasts = asyncio.Semaphore(DUMPS), asyncio.Semaphore(PASTS)
        self.past_states = PastStates()
        self.form_secret = token_bytes(32)


@dataclass
class Server:
    """The state of the application of one nexus."""

    nexus: Nexus
    service: Service
    path: str = ""
    """Where the application is on the server."""
    of: str | None = None
    """What is served of several nexuses; None for the only one."""
    streams_ended: int = 0
    """How often its streams of events were ended, since others need the folder."""

    def __post_init__(self) -> None:
        service = self.service
        self.options, self.audit, self.dumps = service.options, service.audit, service.dumps
        self.threads = AsyncNexus(self.nexus, threads=service.threads)
        self.sparql_threads = AsyncNexus(self.nexus, threads=service.sparql_threads)
        if self.of is None:
            self.nexus._engine.writer.names.listed = service.authentication.listed
        self.store = self.nexus.store
        # The same commit of another nexus, or of another version, has other documents.
        self.start = token_hex(4)
        # A folder that is closed and opened again has the same forms.
        of = (self.of or "").encode()
        self.form_secret = hmac.digest(service.form_secret, of, "sha256")
        """Makes what the forms of its pages must send."""

    @property
    def is_read_only(self) -> bool:
        return self.nexus.read_only or self.options.read_only

    @cached_property
    def versions(self) -> Versions:
        """The versions of the elements of a nexus that has a history."""
        return Versions(self.store)

    @cached_property
    def timeline(self) -> Timeline | None:
        """The commits of a nexus that has a history."""
        journal = self.store.journal
        return None if journal is None else self.service.past_states.follow(journal)

    def at(self, when: str) -> AbstractContextManager[Nexus]:
        """The nexus as of a commit or a time, as a query names it."""
        timeline, number = self.timeline, number_of(when)
        if timeline is None:
            return self.nexus.at(when if number is None else number)
        if number is None:
            number = number_at(timeline.journal, when, self.store.commit())
        return self.service.past_states.at(self.nexus, timeline, number)

    @property
    def title(self) -> str:
        """The title of the pages."""
        return self.options.title or "kiprdf"

    async def build_index(self) -> None:
        """Complete the text index, and log the progress."""
        # A scope is opened often, and is small.
        logged_at = -INDEX_LOG_SECONDS if self.of is None else time.monotonic()

        def log(missing: int) -> None:
            nonlocal logged_at
            if missing and time.monotonic() - logged_at > INDEX_LOG_SECONDS:
                logged_at = time.monotonic()
                LOGGER.info("The text index is being built: %s elements are missing.", missing)

        try:
            await self.threads.build_index(log, propositions=False)
        except (KipError, StoreError) as fault:
            LOGGER.warning("The text index is not complete: %s", fault)

    def address(self, request: Request) -> str:
        """The public address of the application, with a final slash."""
        return address_of(self.options, request, self.path)

    @property
    def base_path(self) -> str:
        """The path of the base of the nexus below the path of the application."""
        above = self.options.public_path + self.path
        return urlsplit(self.nexus.base_iri).path.removeprefix(above)

    async def read(self, request: Request, function: Callable[[], T]) -> T:
        """What a short function reads of the last commit; of a shared store that takes requests."""
        if self.store.is_shared:
            return await run_for(request, self.threads, lambda: self.store.read(function))
        return function()

    def note_refusal(self, scope: Scope, text: str | None = None) -> None:
        """Note a write that is refused for its principal."""
        self.nexus._engine.refusals.note(info_of(scope).actor, "HTTP_403", text)

    def audit_of(self, scope: Scope) -> Audit | None:
        """What records the writes of a request."""
        return None if self.audit is None else partial(self.audit.write, info_of(scope))

    def send(self, request: Request, answer: Answer, **headers: str) -> Response:
        """The response with an answer, which the log line counts."""
        self.note(request.scope, answer.rows)
        sent = {"Content-Type": answer.media_type, **headers}
        return Response(answer.content, answer.status, sent)

    def note(self, scope: Scope, rows: int | None, commit: int | None = None) -> None:
        """Note the numbers of a request for its log line."""
        info = info_of(scope)
        info.rows = rows
        info.commit = self.store.commit() if commit is None else commit


Handler: TypeAlias = Callable[[Server, Request], Awaitable[Response]]
Routes: TypeAlias = tuple[tuple[str, tuple[str, ...], Handler], ...]
"""Paths with their methods and handlers."""


def number_of(text: str) -> int | None:
    """The number of a commit, or of a row, in a query; None for another text."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None


def may(request: Request, access: Access) -> bool:
    """Whether the principal of a request has an access."""
    return info_of(request.scope).actor.may(access)


def require_write(server: Server, request: Request, access: Access = "write") -> None:
    """Raise 403 for a request that may not write, or lacks another access."""
    actor = info_of(request.scope).actor
    if not actor.may(access):
        server.note_refusal(request.scope)
        hint = "Send the token that also writes."
        raise HttpError(403, f"This token only {actor.access}s.", hint)


def is_for_people(request: Request) -> bool:
    """Whether a browser shows the answer to a request."""
    path = request.scope["path"].removeprefix(root_of(request))
    is_page = request.method in ("GET", "HEAD") or _FORM.match(path) is not None
    return is_page and prefers_html(request)


def prefers_html(request: Request) -> bool:
    """Whether the client asks for HTML before JSON."""
    accepted = choose(request.headers.get("accept"), ["application/json", "text/html"])
    return accepted is not None and accepted[0] == "text/html"


def address_of(options: Options, request: Request, path: str = "") -> str:
    """The public address of a path of the server, with a final slash."""
    if options.base_url is None:
        return f"{str(request.base_url).rstrip('/')}/"
    return f"{options.base_url.rstrip('/')}{path}/"


def root_of(request: Request) -> str:
    """The path of the application."""
    root: str = request.scope.get("root_path", "")
    return root


def path_after(request: Request, start: str) -> str:
    """The percent-encoded path behind the segments of ``start``, as the client wrote it."""
    raw = request.scope.get("raw_path") or quote(request.scope["path"]).encode()
    path: str = raw.partition(b"?")[0].decode("ascii", "replace")
    return path.removeprefix(root_of(request)).split("/", start.count("/"))[-1]
