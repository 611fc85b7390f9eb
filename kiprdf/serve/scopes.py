"""Several nexuses behind one gate: each under /scopes/NAME/, and what a principal reads at /.

Folders are opened when a request needs them. At most some are open at once: the one that was used
longest ago is closed when another is needed, and no request reads it (docs/decisions/196).
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, unquote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from kiprdf.async_nexus import pool
from kiprdf.brains import MOST_OPEN, Brains, View, require_free
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError, LockedError, StoreError, without_folder
from kiprdf.maintenance import full_disk
from kiprdf.nexus import Nexus
from kiprdf.principals import Principal
from kiprdf.serve.application import (
    FOR_PEOPLE,
    FOR_PROGRAMS,
    Application,
    OwnRoute,
    behind_gate,
    refusal_of,
)
from kiprdf.serve.http import HttpError, failure
from kiprdf.serve.observation import LOGGER, info_of
from kiprdf.serve.plain import refusal
from kiprdf.serve.routes import scopes as routes
from kiprdf.serve.state import Server, Service, prefers_html
from kiprdf.spelling import fault_of_name
from kiprdf.store.folder import MANIFEST
from kiprdf.store.past import require_embedded

T = TypeVar("T")
FIRST_SEGMENTS = frozenset(
    path.split("/")[1]
    for path in ("/mcp", *routes.PATHS, *(path for path, _, _ in FOR_PROGRAMS + FOR_PEOPLE))
)
"""Those of the known routes."""
WAIT_SECONDS = 5.0
"""How long a request waits for a folder that others use, and an erasure for their requests."""
FILES = 20
"""The file descriptors of an open folder."""
OPENING_THREADS = 4
"""Folders that are opened, or closed, at once: none waits for one that takes long."""


class Folders:
    """The folders of scopes by their names: those in a directory, and others that are mounted.

    Raises ``ValueError`` for names and folders that cannot be mounted.
    """

    def __init__(self, brains: Brains | None, mounts: Sequence[tuple[str, Path]] = ()) -> None:
        self._brains = brains
        self._mounts: dict[str, Path] = {}
        for name, folder in mounts:
            fault = fault_of_name(name)
            if fault is not None:
                raise ValueError(f"{name!r:.60} is no name of a scope: {fault}.")
            if not (folder / MANIFEST).is_file():
                raise ValueError(f"There is no nexus in {folder}, which is to be {name}.")
            place = folder.resolve()
            is_inside = brains is not None and place.parent == brains.directory.resolve()
            if is_inside or place in self._mounts.values():
                raise ValueError(f"The nexus in {folder} is a scope without this option --mount.")
            try:
                require_free(name, self._taken())
            except KipError as error:
                raise ValueError(error.message) from None
            self._mounts[name] = place

    def _taken(self) -> list[str]:
        directory = [] if self._brains is None else os.listdir(self._brains.directory)
        return [*directory, *self._mounts]

    def names(self) -> list[str]:
        """The names of all scopes, sorted."""
        listed = [] if self._brains is None else self._brains.names()
        return sorted({*listed, *self._mounts})

    def find(self, name: str) -> Path | None:
        """The folder of a scope; None if there is none."""
        if name in self._mounts:
            folder = self._mounts[name]
            return folder if (folder / MANIFEST).is_file() else None
        try:
            return None if self._brains is None else self._brains.folder(name)
        except KipError:
            return None

    def problems(self) -> list[str]:
        """What is wrong with the directory, as sentences."""
        if self._brains is None:
            return []
        try:
            os.scandir(self._brains.directory).close()
            return full_disk(self._brains.directory)
        except OSError as fault:
            LOGGER.error("The directory of the scopes cannot be read: %s", fault)
            return ["The directory of the scopes cannot be read."]

    def add(self, name: str) -> None:
        """Create a scope in the directory; raises ``KipError`` for a name that is none or taken."""
        if self._brains is None:
            hint = "Start the server with --scopes DIR."
            raise HttpError(403, "This server has no directory of scopes.", hint)
        if fault_of_name(name) is None:
            require_free(name, self._mounts)
        self._brains.add(name).close()

    def remove(self, name: str) -> None:
        """Erase a scope of the directory, which is closed."""
        if name in self._mounts or self._brains is None:
            hint = "Stop the server, and remove the folder and the option --mount."
            raise HttpError(403, "This scope is not in the directory of the scopes.", hint)
        self._brains.remove(name)


class Seen(NamedTuple):
    """What an application serves: one scope or a view of several, at a path."""

    names: tuple[str, ...]
    write: str | None = None
    path: str = ""


@dataclass(eq=False)
class _Folder:
    """The folder of a scope, which is open, or is being opened."""

    name: str
    place: Path
    identity: tuple[int, int] | None
    nexus: asyncio.Task[Nexus]
    users: int = 0
    """The requests that read it, and the applications that are being made of it."""

    def is_lost(self) -> bool:
        """Whether the folder is gone, or another one is in its place."""
        return _identity(self.place) != self.identity


@dataclass(eq=False)
class _Served:
    """The application of what principals see, and the folders that it reads."""

    app: Application
    folders: list[_Folder]
    view: Nexus | None
    users: int = 0


class Scopes:
    """Finds the nexus of a request and lets it act there; what it may not see is 404.

    ``opening`` are the arguments of ``Nexus.open`` for each folder.
    """

    def __init__(
        self,
        service: Service,
        folders: Folders,
        opening: dict[str, Any],
        most_open: int = MOST_OPEN,
    ) -> None:
        self.service = service
        self.folders = folders
        service.files += FILES * most_open
        self._opening_options = opening
        self._view_options = {name: opening[name] for name in ("embedder", "budget")}
        self._most = most_open
        self._threads = pool(OPENING_THREADS)
        # Those that were used last are the last ones.
        self._open: dict[str, _Folder] = {}
        self._served: dict[Seen, asyncio.Task[_Served]] = {}
        self._closing: dict[str, asyncio.Task[None]] = {}
        self._leaving: set[str] = set()
        """The scopes that are being erased."""
        self._lost: set[str] = set()
        """The scopes whose folders have vanished while they were open."""
        self._turn = asyncio.Lock()
        self._freed = asyncio.Event()
        self._own = self._own_routes()

    def behind_gate(self) -> ASGIApp:
        """The application of all scopes behind the gate."""
        return behind_gate(self, self.service, FIRST_SEGMENTS)

    def _own_routes(self) -> Starlette:
        """What belongs to the server, and to no scope."""

        @asynccontextmanager
        async def lifespan(app: Starlette) -> AsyncIterator[None]:
            yield
            await self.close()

        listed = [
            OwnRoute(path, partial(handler, self), methods=methods)
            for path, methods, handler in routes.ROUTES
        ]
        errors: Any = (HttpError, KipError, StoreError, HTTPException, Exception)
        handlers = dict.fromkeys(errors, self._refuse)
        own = Starlette(routes=listed, lifespan=lifespan, exception_handlers=handlers)
        own.router.redirect_slashes = False
        return own

    async def _refuse(self, request: Request, error: Any) -> Response:
        """The answer to a request for the server that failed."""
        if isinstance(error, HTTPException):
            error = refusal_of(error)
        elif not isinstance(error, HttpError | KipError):
            LOGGER.error("%s", error)
            error = failure()
        return refusal(request, error, self.service.options)

    async def run(self, function: Callable[[], T]) -> T:
        """Run a function that opens, closes or lists folders on a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, function)

    # Who sees what ----------------------------------------------------------------------------

    def sees_all(self, principal: Principal) -> bool:
        """Whether a principal reads and writes all scopes: an admin, and all where no token is."""
        if not self.service.options.has_token or principal.access == "admin":
            return True
        # A cookie may have less access than its principal.
        listed = self.service.authentication.principals()
        return any(one.access == "admin" and one.name == principal.name for one in listed)

    def _listed(self, name: str) -> Callable[[], Sequence[Principal]]:
        """The principals who are known in a scope: those who see one that its readers see."""
        last: tuple[Sequence[Principal], Sequence[Principal]] = ((), ())

        def listed() -> Sequence[Principal]:
            nonlocal last
            everyone = self.service.authentication.listed()
            if everyone is not last[0]:
                shared = {one for each in everyone if name in each.reads for one in each.reads}
                colleagues = (one for one in everyone if not shared.isdisjoint(one.reads))
                admins = (one for one in everyone if one.access == "admin")
                last = everyone, (*colleagues, *admins)
            return last[1]

        return listed

    def require_sees(self, principal: Principal, name: str) -> None:
        """Raise 404 for a scope that a principal may not see, whether or not there is one."""
        if not (name in principal.reads or self.sees_all(principal)):
            raise nothing_here()

    def seen_by(self, principal: Principal, name: str | None) -> tuple[Seen, Principal]:
        """What is served to a principal, by its name or at the root, and its access there."""
        if name is None:
            names, write = principal.reads, principal.writes
            if not names:
                message = f"'{principal.name}' reads no scope at this address."
                raise HttpError(404, message, "GET /scopes lists those under /scopes/NAME/.")
            may_write = write is not None
            is_view = len(names) > 1 and not self.service.options.read_only
            seen = Seen(names, write if is_view else None)
        else:
            self.require_sees(principal, name)
            seen = Seen((name,), path=f"/scopes/{quote(name)}")
            may_write = name == principal.writes or self.sees_all(principal)
        return seen, principal if may_write else principal._replace(access="read")

    # Requests ---------------------------------------------------------------------------------

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request at the root or below /scopes/NAME/."""
        root = scope.get("root_path", "")
        if scope["type"] != "http" or _is_own(scope, root):
            await self._own(scope, receive, send)
            return
        raw = (scope.get("raw_path") or quote(scope["path"]).encode()).partition(b"?")[0]
        path = raw.decode("ascii", "replace").removeprefix(root)
        name = None
        try:
            if path.startswith("/scopes/"):
                segment, _, rest = path.removeprefix("/scopes/").partition("/")
                name, path = _decoded(segment), f"/{rest}"
            info = info_of(scope)
            assert info.principal is not None
            if name is None and not info.principal.reads and _is_start(scope, path):
                response = RedirectResponse(f"{root}/scopes", 303, {"Vary": "Accept"})
                await response(scope, receive, send)
                return
            seen, info.principal = self.seen_by(info.principal, name)
            info.scope = name or info.principal.writes
            if unquote(path) == "/mcp" and scope["method"] == "GET":
                # A stream would keep the folder open, and nothing is ever sent in it.
                allowed = {"Allow": "POST, DELETE"}
                raise HttpError(405, "This path has other methods.", "Send a POST.", allowed)
            async with self._using(seen) as served:
                inner = f"{root}{seen.path}"
                child = {
                    **scope,
                    "root_path": inner,
                    "path": inner + unquote(path),
                    "raw_path": (inner + path).encode(),
                }
                await served.app(child, receive, send)
        except HttpError as error:
            await refusal(Request(scope), error, self.service.options)(scope, receive, send)

    @asynccontextmanager
    async def _using(self, seen: Seen) -> AsyncIterator[_Served]:
        """The application of what is seen, whose folders stay open meanwhile."""
        self._require(seen)
        making = None
        # What was made may be closed again before its first reader has it.
        while making is None or self._served.get(seen) is not making:
            making = self._served.pop(seen, None) or _started(self._made(seen))
            self._served[seen] = making
            try:
                # Others may wait for it, too.
                served = making.result() if making.done() else await asyncio.shield(making)
            except (KipError, StoreError, OSError) as fault:
                raise _unavailable(str(fault)) from None
        served.users += 1
        for folder in served.folders:
            folder.users += 1
            self._open[folder.name] = self._open.pop(folder.name)
        try:
            yield served
        finally:
            served.users -= 1
            self._release(served.folders)

    def _release(self, folders: Sequence[_Folder]) -> None:
        for folder in folders:
            folder.users -= 1
        self._freed.set()

    async def _until_freed(self, until: float, refusal: HttpError) -> None:
        """Wait for the end of a request; raise a refusal if none ends in time."""
        self._freed.clear()
        try:
            await asyncio.wait_for(self._freed.wait(), until - time.monotonic())
        except TimeoutError:
            raise refusal from None

    def _require(self, seen: Seen) -> None:
        """Raise 404, or 503, for a scope that is being erased or has lost its folder."""
        for name in seen.names:
            if name in self._leaving:
                raise _absent(seen, name)
            folder = self._open.get(name)
            if folder is not None and folder.is_lost():
                self._lost.add(name)
                if not folder.users:
                    self._close(folder)
                raise _unavailable(f"The folder of the scope '{name}' is no longer there.")

    # Opening and closing ----------------------------------------------------------------------

    async def _made(self, seen: Seen) -> _Served:
        """The application of what is seen, whose folders are opened."""
        held: dict[str, _Folder] = {}
        try:
            async with self._turn:
                await self._make_room(seen)
                held = {name: self._open[name] for name in seen.names if name in self._open}
                for folder in held.values():
                    folder.users += 1
                for name in seen.names:
                    if name not in held:
                        held[name] = await self._opening(seen, name)
                        held[name].users += 1
            folders = [held[name] for name in seen.names]
            members = [await self._opened(folder) for folder in folders]
            view = None
            if len(members) > 1:
                write = members[seen.names.index(seen.write)] if seen.write else None
                view = await self.run(lambda: View(members, write=write, **self._view_options))
            nexus = members[0] if view is None else view
            require_embedded(nexus.store, "be served").served_as = str(seen.names)
            app = Application(Server(nexus, self.service, seen.path, str(seen)))
            app.start()
            return _Served(app, folders, view)
        except BaseException:
            self._served.pop(seen, None)
            raise
        finally:
            self._release([*held.values()])

    async def _opening(self, seen: Seen, name: str) -> _Folder:
        """The folder of a scope, which begins to be opened."""
        place = await self.run(lambda: self.folders.find(name))
        if place is None or name in self._leaving:
            if name in self._lost:
                raise _unavailable(f"The folder of the scope '{name}' is no longer there.")
            raise _absent(seen, name)
        self._lost.discard(name)
        closing = self._closing.get(name)

        async def open_folder() -> Nexus:
            if closing is not None:
                await closing
            nexus = await self.run(lambda: Nexus.open(place, **self._opening_options))
            nexus._engine.writer.names.listed = self._listed(name)
            require_embedded(nexus.store, "be a scope").scope = name
            return nexus

        folder = _Folder(name, place, _identity(place), _started(open_folder()))
        self._open[name] = folder
        return folder

    async def _opened(self, folder: _Folder) -> Nexus:
        """The nexus in a folder; 503 if it cannot be opened, as it is tried again then."""
        try:
            return await asyncio.shield(folder.nexus)
        except (KipError, StoreError, OSError) as fault:
            if self._open.get(folder.name) is folder:
                del self._open[folder.name]
            LOGGER.error("The scope %s cannot be opened: %s", folder.name, fault)
            reason = without_folder(str(fault), folder.place)
            raise _unavailable(f"The scope '{folder.name}' cannot be opened: {reason}") from None

    async def _make_room(self, seen: Seen) -> None:
        """Close what nobody reads until the folders of what is seen may be opened.

        503 if others read all that is open, or if they are too many at any time.
        """
        if len(seen.names) > self._most:
            message = f"{len(seen.names)} scopes are read here, and {self._most} are open at once."
            raise HttpError(503, message, "Start the server with a higher --open-scopes.")
        until = time.monotonic() + WAIT_SECONDS
        busy = _unavailable(f"All {self._most} scopes that may be open are being read.")
        while True:
            missing = sum(name not in self._open for name in seen.names)
            views = [one for one in self._served if len(one.names) > 1]
            if len(self._open) + len(self._closing) + missing > self._most:
                idle = (one for one in self._open.values() if not one.users)
                folder = next((one for one in idle if one.name not in seen.names), None)
                closing: Awaitable[None] | None = self._close(folder) if folder else None
                if folder is None:
                    self._end_streams()
            elif len(seen.names) > 1 and len(views) > self._most:
                # A view takes memory, as a folder takes descriptors.
                view = next((one for one in views if self._is_idle(one)), None)
                closing = None if view is None else self._end([self._served.pop(view).result()])
            else:
                return
            if closing is None:
                await self._until_freed(until, busy)
            else:
                await closing

    def _end_streams(self, name: str | None = None) -> None:
        """End the streams of events of a scope, or of all: they keep the folders open."""
        for seen, making in self._served.items():
            if name in (None, *seen.names) and making.done() and not making.exception():
                making.result().app.end_streams()

    def _is_idle(self, seen: Seen) -> bool:
        making = self._served[seen]
        return making.done() and not making.result().users

    def _close(self, folder: _Folder) -> asyncio.Task[None]:
        """Close a folder that nobody reads, after the applications of it."""
        del self._open[folder.name]
        made = [seen for seen, making in self._served.items() if making.done()]
        of_folder = [self._served.pop(seen) for seen in made if folder.name in seen.names]

        async def close() -> None:
            try:
                await self._end([one.result() for one in of_folder])
                nexus = await folder.nexus
                await self.run(lambda: _close_nexus(nexus))
            except (KipError, StoreError, OSError) as fault:
                LOGGER.error("The scope %s was not closed as usual: %s", folder.name, fault)
            finally:
                del self._closing[folder.name]
                self._freed.set()

        closing = self._closing[folder.name] = _started(close())
        return closing

    async def _end(self, ended: Sequence[_Served]) -> None:
        for one in ended:
            await one.app.close()
            if one.view is not None:
                await self.run(one.view.close)

    async def close(self) -> None:
        """Close all folders."""
        for folder in list(self._open.values()):
            await self._close(folder)
        await asyncio.gather(*self._closing.values())

    # Administration ---------------------------------------------------------------------------

    async def add(self, name: str) -> None:
        """Create a scope."""
        async with self._turn:
            folder = self._open.get(name)
            if folder is not None and folder.is_lost() and not folder.users:
                await self._close(folder)
            await self._make_room(Seen((name,)))
            await self.run(lambda: self.folders.add(name))

    async def remove(self, name: str) -> None:
        """Erase a scope once the requests that read it have ended; 409 if they do not."""
        if name in self._leaving or await self.run(lambda: self.folders.find(name)) is None:
            raise nothing_here()
        until = time.monotonic() + WAIT_SECONDS
        hint = "Send the request again when they have ended."
        busy = HttpError(409, f"Requests that read '{name}' do not end.", hint)
        self._leaving.add(name)
        try:
            while name in self._open or name in self._closing:
                folder = self._open.get(name)
                if folder is not None and not folder.users:
                    self._close(folder)
                self._end_streams(name)
                await self._until_freed(until, busy)
            await self.run(lambda: self.folders.remove(name))
            self._lost.discard(name)
        except LockedError:
            message = f"Another process has '{name}' open."
            raise HttpError(409, message, "Close it there.") from None
        finally:
            self._leaving.discard(name)


def nothing_here() -> HttpError:
    """The refusal of what is not there, or may not be seen."""
    return refusal_of(HTTPException(404))


def _absent(seen: Seen, name: str) -> HttpError:
    """The refusal where a scope is not there: a view without it would be another one."""
    if seen.path:
        return nothing_here()
    hint = "Create it by POST /scopes, or remove it from the principal."
    return HttpError(503, f"The scope '{name}', which this principal reads, does not exist.", hint)


def _unavailable(message: str) -> HttpError:
    return HttpError(503, message, "Send the request again later.", {"Retry-After": "1"})


def _is_own(scope: Scope, root: str) -> bool:
    """Whether a request is for the server, and for no scope."""
    path = scope["path"].removeprefix(root)
    is_of_scope = scope["method"] == "DELETE" and re.fullmatch("/scopes/[^/]+", path)
    return path in routes.PATHS or bool(is_of_scope)


def _is_start(scope: Scope, path: str) -> bool:
    """Whether a browser asks for the start page."""
    is_page = scope["method"] in ("GET", "HEAD") and path in ("/", "/explore/")
    return is_page and prefers_html(Request(scope))


def _started(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """A task that goes on if those who wait for it leave."""
    task = asyncio.ensure_future(work)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return task


def _identity(folder: Path) -> tuple[int, int] | None:
    """What distinguishes a folder from another one in its place; None if no nexus is there."""
    try:
        os.stat(f"{folder}{os.sep}{MANIFEST}")
        stat = os.stat(folder)
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def _decoded(segment: str) -> str:
    """A segment of a path as a name; empty for what is none."""
    try:
        return unquote(segment, errors="strict")
    except UnicodeDecodeError:
        return ""


def _close_nexus(nexus: Nexus) -> None:
    """Close a nexus when a write that its client has abandoned is complete."""
    # The thread that builds the index needs the lock for the step that it is in.
    nexus._engine.indexer.end_building()
    with nullcontext() if nexus.read_only else nexus.store.writing():
        nexus.close()
