"""What belongs to a server of several nexuses, and to none of them: /scopes, and its own state."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from kiprdf.actors import Actor
from kiprdf.serve.http import HttpError, json_response, read_body, require_json
from kiprdf.serve.observation import info_of
from kiprdf.serve.plain import plain_page
from kiprdf.serve.routes import admin, openapi
from kiprdf.serve.state import address_of, prefers_html, root_of

if TYPE_CHECKING:
    from kiprdf.serve.scopes import Scopes

_HINT = 'Send {"name": "ada"}.'
ScopesHandler: TypeAlias = "Callable[[Scopes, Request], Awaitable[Response]]"


async def scopes(server: Scopes, request: Request) -> Response:
    """/scopes: their names by GET, a new one by POST."""
    principal = info_of(request.scope).principal
    assert principal is not None
    if request.method == "POST":
        return await _add(server, request)
    all_names = server.folders.names
    names = await server.run(all_names) if server.sees_all(principal) else [*principal.reads]
    headers = {"Vary": "Accept"}
    if server.service.options.explorer and prefers_html(request):
        start = f"{root_of(request)}/scopes"
        links = [(name, f"{start}/{quote(name)}/") for name in names]
        return plain_page("explorer/scopes.html", 200, headers, scopes=links)
    return json_response({"scopes": names}, headers=headers)


async def _add(server: Scopes, request: Request) -> Response:
    _require_admin(server, request)
    require_json(request)
    body = await read_body(request, server.service.options.max_body)
    try:
        arguments = json.loads(body)
    except (ValueError, RecursionError) as fault:
        raise HttpError(400, f"The body is not JSON that can be read: {fault}.", _HINT) from None
    name = arguments.get("name") if isinstance(arguments, dict) else None
    if not isinstance(name, str) or len(arguments) > 1:
        raise HttpError(400, "The body is an object with a name.", _HINT)
    await server.add(name)
    _report(server, request, body, {"added": name})
    address = f"{root_of(request)}/scopes/{quote(name)}/"
    return json_response({"name": name}, 201, {"Location": address})


async def remove(server: Scopes, request: Request) -> Response:
    """DELETE /scopes/{name}: erase a scope."""
    name, principal = request.path_params["name"], info_of(request.scope).principal
    assert principal is not None
    server.require_sees(principal, name)
    _require_admin(server, request)
    await server.remove(name)
    _report(server, request, name.encode(), {"removed": name})
    return Response(status_code=204)


def _require_admin(server: Scopes, request: Request) -> None:
    actor: Actor = info_of(request.scope).actor
    if not actor.may("admin"):
        hint = "Leave it to a principal with the access 'admin'."
        message = f"Only an admin does this, and this token only {actor.access}s."
        raise HttpError(403, message, hint)
    if server.service.options.read_only and request.method != "GET":
        raise HttpError(403, "This server only reads.", "Start it without --read-only.")


def _report(server: Scopes, request: Request, text: bytes, receipt: dict[str, Any]) -> None:
    if server.service.audit is not None:
        server.service.audit.write(info_of(request.scope), text, receipt)


async def _state(server: Scopes, request: Request, good: str) -> Response:
    problems = await server.run(server.folders.problems)
    state = {"status": f"not {good}", "problems": problems} if problems else {"status": good}
    return json_response(state, 503 if problems and good == "ready" else 200)


async def metrics(server: Scopes, request: Request) -> Response:
    """/metrics: those of the server, for admins; none of a scope."""
    _require_admin(server, request)
    return admin.metrics_response(server.service.metrics)


async def login(server: Scopes, request: Request) -> Response:
    """/login."""
    return await admin.sign_in(server.service, request)


async def document(server: Scopes, request: Request) -> Response:
    """/openapi.json."""
    address = address_of(server.service.options, request)
    return json_response(openapi.document(address, has_scopes=True))


ROUTES: tuple[tuple[str, tuple[str, ...], ScopesHandler], ...] = (
    ("/scopes", ("GET", "POST"), scopes),
    ("/scopes/{name}", ("DELETE",), remove),
    ("/health", ("GET",), partial(_state, good="ok")),
    ("/ready", ("GET",), partial(_state, good="ready")),
    ("/metrics", ("GET",), metrics),
    ("/login", ("GET", "POST"), login),
    ("/openapi.json", ("GET",), document),
)
PATHS = frozenset(path for path, _, _ in ROUTES)
