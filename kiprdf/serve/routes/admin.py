"""State, metrics and log-in of a server, and the maintenance of a nexus that is being served."""

from __future__ import annotations

import asyncio
import inspect
import io
import json
import os
import tarfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import BaseModel, ConfigDict, StrictBool, StrictInt, StrictStr, ValidationError
from starlette.requests import Request
from starlette.responses import (
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.types import Receive, Scope, Send

import kiprdf
from kiprdf.arguments import check_names
from kiprdf.interchange.mapping.contexts import ORIGINAL, packs
from kiprdf.nexus import Nexus
from kiprdf.serve.access import COOKIE, Authentication
from kiprdf.serve.http import HttpError, json_response, read_body, read_form, require_json, run_for
from kiprdf.serve.observation import Metrics
from kiprdf.serve.plain import plain_page
from kiprdf.serve.state import Routes, Server, Service, prefers_html, require_write, root_of
from kiprdf.store.folder import MANIFEST
from kiprdf.store.journal import FOLDER, PAST
from kiprdf.store.past import require_embedded

_CHUNK = 1024**2
Context = dict[str, Any]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Optimize(_Arguments):
    """Those of ``Nexus.optimize``."""

    def run(self, nexus: Nexus) -> dict[str, Any]:
        return nexus.optimize()


class Forget(_Arguments):
    """Those of ``Nexus.forget``."""

    command: StrictStr
    parameters: dict[str, Any] = {}
    derived: StrictBool = False
    dry_run: StrictBool = False

    def run(self, nexus: Nexus) -> dict[str, Any]:
        options = {"derived": self.derived, "dry_run": self.dry_run}
        check_names(self.parameters, options)
        return nexus.forget(self.command, **options, **self.parameters)


class ApplyErasures(_Arguments):
    """Those of ``Nexus.apply_erasures``; the list as text, no path of this machine."""

    erasures: StrictStr
    dry_run: StrictBool = False

    def run(self, nexus: Nexus) -> dict[str, Any]:
        return nexus.apply_erasures(io.StringIO(self.erasures), dry_run=self.dry_run)


class CompactHistory(_Arguments):
    """Those of ``Nexus.compact_history``."""

    before: StrictInt | StrictStr

    def run(self, nexus: Nexus) -> dict[str, Any]:
        return nexus.compact_history(self.before)


class Import(_Arguments):
    """Those of ``Nexus.import_rdf``, or ``import_ontology``; no path of this machine is read.

    ``source`` is the document, ``source_name`` the name of its source.
    """

    source: StrictStr
    source_name: StrictStr | None = None
    replace: StrictBool = False
    ontology: StrictBool = False
    format: StrictStr | None = None
    mapping: StrictStr | Context | list[StrictStr | Context] | None = None
    define: StrictBool = False
    default_type: StrictStr | None = None
    language: StrictStr | None = None
    names: StrictStr | None = None
    base_iri: StrictStr | None = None
    metadata: Context | None = None
    context: Context | list[Context] | None = None
    also: list[StrictStr] = []
    update: StrictBool = True
    lenient: StrictBool = False
    inherit: StrictBool = False
    dry_run: StrictBool = False

    def run(self, nexus: Nexus) -> dict[str, Any]:
        takes_data = self.define or self.default_type or self.language or self.replace
        alone = {"ontology"} if self.ontology and not takes_data else set()
        run: Any = nexus.import_ontology if alone else nexus.import_rdf
        excluded = {"source", "source_name"} | alone
        options = self.model_dump(exclude_unset=True, exclude=excluded)
        if self.source_name is not None:
            options["source"] = self.source_name
        for name in options.keys() - inspect.signature(run).parameters:
            raise _malformed(f"{name} cannot be combined with ontology={self.ontology}")
        mappings = self.mapping if isinstance(self.mapping, list) else [self.mapping]
        for mapping in mappings:
            if isinstance(mapping, str) and mapping not in (ORIGINAL, *packs()):
                raise _malformed(f"mapping: there is no mapping named {mapping!r}")
        if any("@context" not in one and not _is_by_url(one) for one in self._contexts()):
            raise _malformed("context: it has no @context")
        options["also"] = [io.StringIO(text) for text in self.also]
        return dict(run(io.StringIO(self.source), **options))

    def _contexts(self) -> list[Context]:
        return self.context if isinstance(self.context, list) else [self.context or {}]


def _is_by_url(context: Context) -> bool:
    return all(isinstance(one, dict) for one in context.values())


COMMANDS: dict[str, type[Optimize | Forget | ApplyErasures | CompactHistory | Import]] = {
    "forget": Forget,
    "apply-erasures": ApplyErasures,
    "optimize": Optimize,
    "compact-history": CompactHistory,
    "import": Import,
}


def read(name: str, body: bytes) -> Optimize | Forget | ApplyErasures | CompactHistory | Import:
    """The arguments of a command; raises ``HttpError`` with status 400."""
    try:
        return COMMANDS[name].model_validate(json.loads(body or b"{}"))
    except ValidationError as fault:
        errors = fault.errors(include_input=False, include_url=False)
        where = ".".join(map(str, errors[0]["loc"])) or "the body"
        raise _malformed(f"{where}: {errors[0]['msg']}") from None
    except (ValueError, RecursionError) as fault:
        raise _malformed(f"the body is not JSON that can be read: {fault}") from None


def _malformed(detail: str) -> HttpError:
    hint = "Send a JSON object with the arguments that /openapi.json lists."
    return HttpError(400, f"The arguments are malformed: {detail}.", hint)


# Backup ---------------------------------------------------------------------------------------


def back_up(nexus: Nexus) -> TemporaryDirectory[str]:
    """A temporary folder with a copy of the nexus.

    It is in the folder of a nexus, where files can be linked, and the next opening, or forgetting,
    removes what a kill leaves.
    """
    store = nexus.store
    require_embedded(store, "be copied")
    place = None if store.folder is None or store.read_only else store.folder / FOLDER
    files = TemporaryDirectory(prefix=PAST, dir=place if place and place.is_dir() else None)
    try:
        nexus.backup(Path(files.name) / "nexus")
    except BaseException:
        files.cleanup()
        raise
    return files


class TarResponse(StreamingResponse):
    """A copy of a nexus as a tar stream; its files are removed afterwards."""

    def __init__(self, files: TemporaryDirectory[str]) -> None:
        headers = {"Content-Disposition": 'attachment; filename="nexus.tar"'}
        chunks = _tar(Path(files.name) / "nexus")
        super().__init__(chunks, headers=headers, media_type="application/x-tar")
        self._files = files

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._files.cleanup()


def _tar(folder: Path) -> Iterator[bytes]:
    """A folder as a tar stream; the manifest comes last, so that nothing less is a nexus."""
    for path in sorted(folder.rglob("*"), key=lambda path: (path.name == MANIFEST, path)):
        info = tarfile.TarInfo(path.relative_to(folder).as_posix())
        if path.is_dir():
            info.type, info.mode = tarfile.DIRTYPE, 0o755
            yield info.tobuf()
            continue
        with path.open("rb") as file:
            stat = os.fstat(file.fileno())
            info.size, info.mtime = stat.st_size, stat.st_mtime
            yield info.tobuf()
            while chunk := file.read(_CHUNK):
                yield chunk
        yield bytes(-info.size % tarfile.BLOCKSIZE)
    yield bytes(2 * tarfile.BLOCKSIZE)


# Handlers -------------------------------------------------------------------------------------


async def root(server: Server, request: Request) -> Response:
    """The explorer for people, a description for programs."""
    if server.options.explorer and prefers_html(request):
        return RedirectResponse(root_of(request) + "/explore/", 303, {"Vary": "Accept"})
    content = {
        "name": "kiprdf",
        "version": kiprdf.__version__,
        "base_iri": server.nexus.base_iri,
        "commit": server.store.commit(),
        "read_only": server.is_read_only,
    }
    return json_response(content, headers={"Vary": "Accept"})


async def health(server: Server, request: Request) -> Response:
    """/health: whether the server answers, and what is wrong."""
    return json_response(await _state(server, "ok"))


async def ready(server: Server, request: Request) -> Response:
    """/ready: whether requests can be answered, and written."""
    state = await _state(server, "ready")
    return json_response(state, 503 if "problems" in state else 200)


async def _state(server: Server, good: str) -> dict[str, Any]:
    # The threads of the requests may all be busy.
    problems = await asyncio.to_thread(server.nexus.problems)
    return {"status": f"not {good}", "problems": problems} if problems else {"status": good}


async def metrics(server: Server, request: Request) -> Response:
    """/metrics."""
    commit = server.store.commit()
    metrics = server.service.metrics
    if metrics.elements[0] != commit:
        info = await server.threads.run(server.nexus.info)
        metrics.elements = (commit, info["concepts"] + info["propositions"])
        metrics.sync = info.get("sync")
    return metrics_response(metrics)


def metrics_response(metrics: Metrics) -> Response:
    """Numbers as Prometheus reads them."""
    return PlainTextResponse(metrics.text(), media_type="text/plain; version=0.0.4")


async def login(server: Server, request: Request) -> Response:
    """/login."""
    return await sign_in(server.service, request)


async def sign_in(service: Service, request: Request) -> Response:
    """A form; a token becomes a cookie of its principal."""
    if request.method == "POST":
        form = await read_form(request, 10_000)
        return _sign_in(request, form, service.authentication)
    return _login_page(request)


def _login_page(request: Request, refusal: HttpError | None = None) -> Response:
    """The form, after a refusal with what helps."""
    target = request.query_params.get("next", "")
    message = refusal and f"{refusal.message} {refusal.hint}"
    headers = {} if refusal is None else refusal.headers
    status = 200 if refusal is None else refusal.status
    return plain_page("explorer/login.html", status, headers, message=message, target=target)


def _sign_in(request: Request, form: dict[str, str], authentication: Authentication) -> Response:
    """Set the cookie for a valid token, and show the page that was asked for."""
    try:
        principal = authentication.of_token(form.get("token", ""), request.scope)
        if principal is None:
            headers = {"WWW-Authenticate": "Bearer"}
            raise HttpError(401, "This token is not valid.", "Send another token.", headers)
    except HttpError as refusal:
        if prefers_html(request):
            return _login_page(request, refusal)
        raise
    root = root_of(request)
    response = RedirectResponse(_own_path(form.get("next", ""), root), 303)
    is_secure = request.url.scheme == "https"
    response.set_cookie(
        COOKIE,
        authentication.cookie(principal),
        path=f"{root}/",
        httponly=True,
        samesite="strict",
        secure=is_secure,
    )
    return response


def _own_path(target: str, root: str) -> str:
    """A path of this server, never the address of another one."""
    is_path = target.startswith("/") and not target.startswith(("//", "/\\"))
    return root + target if is_path and target.isprintable() else f"{root}/"


async def maintain(server: Server, request: Request) -> Response:
    """POST /maintenance/{name}."""
    name = request.path_params["name"].replace("_", "-")
    if name == "backup":
        return await backup(server, request)
    require_write(server, request)
    if name not in COMMANDS:
        hint = f"The commands are backup, {', '.join(COMMANDS)}."
        raise HttpError(404, f"There is no maintenance command {name}.", hint)
    if server.is_read_only:
        raise HttpError(403, "This server only reads.", "Start it without --read-only.")
    body = await read_body(request, server.options.max_body)
    if body:
        require_json(request)
    command = read(name, body)
    report = await run_for(request, server.threads, partial(command.run, server.nexus))
    audit = server.audit_of(request.scope)
    if audit is not None and not getattr(command, "dry_run", False):
        # Not the report: what was forgotten would be in the log.
        audit(body, {"command": name, "commit": server.store.commit()})
    server.note(request.scope, None)
    return json_response(report)


async def backup(server: Server, request: Request) -> Response:
    """POST /backup: the folder, as of one commit, as a tar stream."""
    require_write(server, request)
    if (await read_body(request, server.options.max_body)).strip() not in (b"", b"{}"):
        hint = "Send no body; kiprdf backup --nexus URL does so."
        raise HttpError(400, "A backup takes no arguments.", hint)
    files = await run_for(request, server.threads, partial(back_up, server.nexus))
    server.note(request.scope, None)
    return TarResponse(files)


OF_SERVER: Routes = (("/metrics", ("GET",), metrics), ("/login", ("GET", "POST"), login))
"""What a server has once, however many nexuses it serves."""
ROUTES: Routes = (
    ("/", ("GET",), root),
    ("/health", ("GET",), health),
    ("/ready", ("GET",), ready),
    ("/backup", ("POST",), backup),
    ("/maintenance/{name}", ("POST",), maintain),
)
