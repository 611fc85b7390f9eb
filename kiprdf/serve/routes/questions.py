"""/explore/questions: the form that saves a question, and the one that removes it."""

from __future__ import annotations

from functools import partial
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from kiprdf.serve.explorer import queries
from kiprdf.serve.http import read_form, run_for
from kiprdf.serve.observation import info_of
from kiprdf.serve.routes.review import check_form
from kiprdf.serve.state import Routes, Server, root_of


async def change(server: Server, request: Request) -> Response:
    """Save a question under a name, or remove the one that has it."""
    fields = await read_form(request, server.options.max_body)
    check_form(server, request, queries.SAVED, fields)
    actor = info_of(request.scope).actor
    await run_for(
        request, server.threads, partial(queries.change_saved, server.nexus, actor, fields)
    )
    command = fields.get("command")
    query = "" if command is None else f"?{urlencode({'command': command})}"
    return RedirectResponse(f"{root_of(request)}/{queries.PATH}{query}", 303)


ROUTES: Routes = ((f"/{queries.SAVED}", ("POST",), change),)
