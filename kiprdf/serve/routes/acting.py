"""/explore/act/: the forms that write, each in two steps; the pages of rejections and questions."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from kiprdf.errors import KipError
from kiprdf.serve.explorer import acting, acts, choosing, queries
from kiprdf.serve.explorer.acting import Act, Given, Subject
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.http import HttpError, read_form, run_for, status_of
from kiprdf.serve.observation import info_of
from kiprdf.serve.routes import pages
from kiprdf.serve.routes.review import check_form, require_forms
from kiprdf.serve.state import Routes, Server, number_of, path_after, root_of


async def act(server: Server, request: Request) -> Response:
    """/explore/act/{what}/{path}: the form of an act; a POST shows what it does, or writes it."""
    kind = acts.ACTS.get(request.path_params["what"])
    if kind is None:
        raise HTTPException(404)
    require_forms(server, request, kind.access)
    path, key = path_after(request, "/explore/act/WHAT/"), request.query_params.get("key", "")
    explorer = replace(pages.explorer_of(server, request), moment=None)
    call = partial(_form, kind, explorer, path, key)
    if request.method == "POST":
        fields = await read_form(request, server.options.max_body)
        check_form(server, request, acting.form_of(kind, path, key), fields, kind.access)
        given, is_write = _given(fields), fields.get("step") == "write"
        step = partial(_write, server, request) if is_write else _show
        call = partial(step, kind, explorer, path, key, given)
    response = await run_for(request, server.threads, call)
    server.note(request.scope, None)
    # The key of a form is that of one actor, and the page that of one version.
    response.headers["Cache-Control"] = "no-store"
    return response


def _given(fields: dict[str, str]) -> Given:
    """The fields of a form: those that were shown, or those that were typed."""
    if "sent" not in fields:
        return {
            name: text.replace("\r\n", "\n")
            for name, text in fields.items()
            if name not in ("key", "step")
        }
    try:
        given = json.loads(fields["sent"])
    except (ValueError, RecursionError):
        given = None
    if not (isinstance(given, dict) and all(isinstance(text, str) for text in given.values())):
        raise HttpError(400, "The field sent is not that of a page.", "Open the form again.")
    return given


def _html(html: str, status: int = 200) -> Response:
    return HTMLResponse(html.encode(errors="replace"), status, {"Vary": "Accept"})


def _form(kind: Act, explorer: Explorer, path: str, key: str) -> Response:
    on = kind.subject(explorer, path, key)
    kind.check(on)
    return _html(acting.form(kind, on), 403 if kind.refusal(on) else 200)


def _show(kind: Act, explorer: Explorer, path: str, key: str, given: Given) -> Response:
    on = kind.subject(explorer, path, key)
    html, error = acting.shown(kind, on, given)
    return _html(html, 200 if error is None else status_of(error.code))


def _write(
    server: Server,
    request: Request,
    kind: Act,
    explorer: Explorer,
    path: str,
    key: str,
    given: Given,
) -> Response:
    try:
        written = acting.write(kind, Subject(explorer, path, key), given)
    except KipError as error:
        if error.code == "KIP_3005":
            return _show(kind, explorer, path, key, given)
        on = kind.subject(explorer, path, key)
        return _html(acting.failed(kind, on, given, error), status_of(error.code))
    audit = server.audit_of(request.scope)
    if audit is not None:
        audit(written.plan.text.encode(errors="replace"), written.receipt)
    query = "" if written.query is None else f"?{urlencode(written.query)}"
    return RedirectResponse(f"{root_of(request)}/{written.target}{query}", 303)


async def rejections(server: Server, request: Request) -> Response:
    """/explore/rejections: what people rejected, of the whole nexus or ``?of=`` an element."""
    query = dict(request.query_params)
    first, of = query.get("first", ""), query.get("of", "")
    number = number_of(first) or 0
    explorer = replace(pages.explorer_of(server, request), moment=None)
    make = partial(acts.rejections, explorer, of, number, query)
    html = await run_for(request, server.threads, make)
    server.note(request.scope, None)
    return _html(html)


async def choices(server: Server, request: Request) -> Response:
    """/explore/choices: the elements that words may mean, to choose one in a form."""
    query = request.query_params
    name, text, type = query.get("name", ""), query.get("q", ""), query.get("type", "")
    explorer = replace(pages.explorer_of(server, request), moment=None)
    make = partial(choosing.choices, explorer, name, text, type, "new" in query)
    html = await run_for(request, server.threads, make)
    server.note(request.scope, None)
    return _html(html)


async def change_questions(server: Server, request: Request) -> Response:
    """/explore/questions: save a question under a name, or remove the one that has it."""
    fields = await read_form(request, server.options.max_body)
    check_form(server, request, queries.SAVED, fields)
    actor = info_of(request.scope).actor
    await run_for(
        request, server.threads, partial(queries.change_saved, server.nexus, actor, fields)
    )
    command = fields.get("command")
    query = "" if command is None else f"?{urlencode({'command': command})}"
    return RedirectResponse(f"{root_of(request)}/{queries.PATH}{query}", 303)


ROUTES: Routes = (
    (f"/{queries.SAVED}", ("POST",), change_questions),
    ("/explore/choices", ("GET",), choices),
    ("/explore/act/{what}/{path:path}", ("GET", "POST"), act),
    ("/explore/rejections", ("GET",), rejections),
)
