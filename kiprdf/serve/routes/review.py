"""/explore/proposals: what waits for a person, and the person's decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from kiprdf.actors import Access, Actor
from kiprdf.errors import KipError
from kiprdf.serve.explorer import review
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.explorer.forms import Forms
from kiprdf.serve.http import HttpError, read_form, run_for, status_of
from kiprdf.serve.observation import info_of
from kiprdf.serve.routes import pages
from kiprdf.serve.state import Routes, Server, number_of, require_write, root_of

MOST_BODY = 10_000


def require_forms(server: Server, request: Request, access: Access = "write") -> Forms:
    """What makes the keys of forms that need an access; raises 403 for who has none."""
    require_write(server, request, access)
    if server.is_read_only:
        raise HttpError(403, "This server only reads.", "Start it without --read-only.")
    return Forms(server.form_secret, info_of(request.scope).actor)


def check_form(
    server: Server,
    request: Request,
    form: str,
    fields: Mapping[str, str],
    access: Access = "write",
) -> None:
    """Raise 403 for a form that is not of a page of this server, or was made for another."""
    forms = require_forms(server, request, access)
    if not forms.is_key(fields.get("key", ""), form):
        raise HttpError(403, "This form is not of this page.", "Open the page again.")


def _person(server: Server, request: Request) -> Actor:
    """Who reads a page, and decides if the server writes; raises 403 unless that is a person."""
    actor = info_of(request.scope).actor
    if not actor.is_person:
        hint = "Sign in with the token of a principal of the kind human."
        raise HttpError(403, f"Proposals are shown to people, and this is a {actor.kind}.", hint)
    return actor._replace(access="read") if server.is_read_only else actor


async def _page(
    server: Server, request: Request, make: Callable[[Explorer], str], status: int = 200
) -> Response:
    explorer = replace(pages.explorer_of(server, request), moment=None)
    html = await run_for(request, server.threads, lambda: make(explorer))
    server.note(request.scope, None)
    # What was read of a proposal may be decided at any time.
    headers = {"Cache-Control": "no-store"}
    return HTMLResponse(html.encode(errors="replace"), status, headers)


async def listed(server: Server, request: Request) -> Response:
    """/explore/proposals: those that wait, the oldest first."""
    actor, given = _person(server, request), request.query_params.get("first", "")
    first = number_of(given) or 0
    forms = Forms(server.form_secret, actor)
    return await _page(server, request, lambda one: review.proposals(one, forms, first))


async def proposal(server: Server, request: Request) -> Response:
    """/explore/proposals/{id}: one proposal; a form approves or declines it."""
    actor, id = _person(server, request), request.path_params["id"]
    error: KipError | None = None
    if request.method == "POST":
        fields = await read_form(request, MOST_BODY)
        check_form(server, request, id, fields)
        try:
            await run_for(request, server.threads, lambda: _decide(server, id, fields))
            return RedirectResponse(f"{root_of(request)}/explore/proposals", 303)
        except KipError as fault:
            error = fault
    status = 200 if error is None else status_of(error.code)
    return await _page(
        server,
        request,
        lambda one: review.proposal(one, Forms(server.form_secret, actor), id, error),
        status,
    )


def _decide(server: Server, id: str, fields: dict[str, str]) -> None:
    decision = fields.get("decision")
    if decision == "approve":
        server.nexus.approve(id)
    elif decision == "decline":
        server.nexus.decline(id, fields.get("reason", ""), reject="reject" in fields)
    else:
        raise KipError("KIP_1001", "A form approves or declines.", "Press one of its buttons.")


ROUTES: Routes = (
    ("/explore/proposals", ("GET",), listed),
    ("/explore/proposals/{id}", ("GET", "POST"), proposal),
)
