"""/page/ and /explore/: the pages for people, which ``kiprdf.serve.explorer`` makes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from kiprdf.actors import OWNER, Access
from kiprdf.errors import KipError, StoreError
from kiprdf.serve.explorer import changes as commits
from kiprdf.serve.explorer import element as elements
from kiprdf.serve.explorer import graph as graphs
from kiprdf.serve.explorer import home, search
from kiprdf.serve.explorer import queries as pane
from kiprdf.serve.explorer import schema as types
from kiprdf.serve.explorer import table as tables
from kiprdf.serve.explorer.absence import failure
from kiprdf.serve.explorer.answer_graph import answer_page
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.explorer.forms import Forms
from kiprdf.serve.explorer.page import ASSETS
from kiprdf.serve.explorer.search import Asked
from kiprdf.serve.explorer.time_pages import moment_of, preview
from kiprdf.serve.http import error_response, json_response, read_form, run_for
from kiprdf.serve.observation import info_of
from kiprdf.serve.plain import refused
from kiprdf.serve.routes import linked
from kiprdf.serve.state import Routes, Server, is_for_people, number_of, path_after, root_of

T = TypeVar("T")


def explorer_of(server: Server, request: Request) -> Explorer:
    """What makes pages of the nexus as it is, with forms for who may write."""
    return Explorer(
        server.nexus,
        server.store,
        server.title,
        info_of(request.scope).actor,
        root_of(request),
        moment_of(server.store, server.timeline),
        forms_of(server, request, "write"),
        forms_of(server, request, "propose"),
        waiting_of(server, request),
    )


def waiting_of(server: Server, request: Request) -> int | None:
    """How many proposals wait; None for a model or a job, to which they are not shown."""
    is_person = info_of(request.scope).actor.is_person
    return server.nexus._engine.writer.proposals.waiting() if is_person else None


def forms_of(server: Server, request: Request, access: Access) -> Forms | None:
    """What makes the keys of forms that need an access; None if this request has no such one."""
    actor = info_of(request.scope).actor
    may_send = actor.may(access) and not server.is_read_only
    return Forms(server.form_secret, actor) if may_send else None


def _in_explorer(
    server: Server, request: Request, when: str | None, make: Callable[[Explorer], str]
) -> bytes:
    """A page of the nexus as it is, or as of a commit or time."""
    return _of_state(server, request, when, make).encode(errors="replace")


def _of_state(
    server: Server, request: Request, when: str | None, make: Callable[[Explorer], T]
) -> T:
    """What is made of the nexus as it is, or as of a commit or time."""
    explorer = explorer_of(server, request)
    if not when or when == str(server.store.commit()):
        return make(explorer)
    with server.at(when) as past:
        moment = moment_of(server.store, server.timeline, past.store.commit())
        read = replace(explorer, forms=None, acts=None)
        return make(replace(read, nexus=past, store=past.store, moment=moment))


def _turn(server: Server, when: str | None) -> AbstractAsyncContextManager[Any]:
    """What a page of the past waits for before it takes a thread."""
    return server.service.pasts if when else nullcontext()


async def _page(
    server: Server,
    request: Request,
    make: Callable[[Explorer], str],
    *,
    is_timeless: bool = False,
) -> Response:
    """A page, of an earlier state if the query asks for one and the page is about a state."""
    html = await _made(server, request, make, is_timeless=is_timeless)
    return HTMLResponse(html.encode(errors="replace"))


async def _made(
    server: Server,
    request: Request,
    make: Callable[[Explorer], T],
    *,
    is_timeless: bool = False,
) -> T:
    """What is made of the state that the query asks for."""
    when = None if is_timeless else request.query_params.get("as_of")
    call = partial(_of_state, server, request, when, make)
    async with _turn(server, when):
        made = await run_for(request, server.threads, call)
    server.note(request.scope, None)
    return made


async def element(server: Server, request: Request) -> Response:
    """/page/{path}: an element for people."""
    node = linked.node_at(server.store, path_after(request, "/page/"))
    when = request.query_params.get("as_of")
    query = dict(request.query_params)
    make = partial(elements.element, node=node, now=server.nexus, query=query)
    forms = None if when else forms_of(server, request, "propose")
    reader = "" if forms is None else forms.key(f"element {forms.actor.access}")
    reader += f"-{waiting_of(server, request)}"
    call = partial(_in_explorer, server, request, when, make)
    try:
        return await linked.document(
            server, request, linked.HTML, call, _turn(server, when), reader
        )
    except elements.Absent as page:
        if not is_for_people(request):
            raise linked.no_element() from None
        return HTMLResponse(str(page).encode(errors="replace"), 404, {"Vary": "Accept"})


async def history(server: Server, request: Request) -> Response:
    """/explore/history/{path}: the changes of an element."""
    node = linked.node_at(server.store, path_after(request, "/explore/history/"))
    cursor = request.query_params.get("cursor")
    make = partial(commits.history, node=node, cursor=cursor)
    return await _page(server, request, make, is_timeless=True)


async def to_start(server: Server, request: Request) -> Response:
    """/explore: the start page, whose address has a slash."""
    return RedirectResponse(f"{root_of(request)}/explore/", 303)


async def start(server: Server, request: Request) -> Response:
    """/explore/: search, or what there is."""
    asked = Asked.of(request.query_params)
    query, address = dict(request.query_params), server.address(request)
    make = partial(home.start, asked=asked, address=address, query=query)
    return await _page(server, request, make)


async def commit(server: Server, request: Request) -> Response:
    """/explore/commit: what the slider shows of a commit, as JSON."""
    seq = number_of(request.query_params.get("seq", ""))
    moment = moment_of(server.store, server.timeline)
    call = partial(preview, server.nexus, moment, seq)
    return json_response(await run_for(request, server.threads, call))


async def search_results(server: Server, request: Request) -> Response:
    """/explore/search: the results alone, for search as you type."""
    asked = Asked.of(request.query_params)
    return await _page(server, request, lambda explorer: search.results(explorer, asked))


async def graph(server: Server, request: Request) -> Response:
    """/explore/graph: the graph of an answer, or around an element."""
    query = request.query_params
    if "command" in query:
        first = number_of(query.get("first", "")) or 0
        make = partial(answer_page, command=query["command"], query=query, first=first)
        return await _page(server, request, make)
    node = server.store.iris.from_id(query.get("element", ""))
    if node is None:
        raise linked.no_element()
    return await _page(server, request, partial(graphs.graph_page, node=node, query=query))


async def schema(server: Server, request: Request) -> Response:
    """/explore/schema."""
    make = partial(types.schema, domain=request.query_params.get("domain", ""))
    return await _page(server, request, make)


async def table(server: Server, request: Request) -> Response:
    """/explore/table: the members of a type, or the facts of a predicate."""
    given = request.query_params
    asked = tables.Asked.of(given.multi_items())
    if given.get("column"):
        added = given["column"], given.get("operator", ""), given.get("value", "")
        find = partial(tables.filtered, asked=asked, added=added)
        return RedirectResponse(await _made(server, request, find), 303)
    if "format" not in given:
        return await _page(server, request, partial(tables.table, asked=asked))
    write = partial(tables.download, asked=asked, format=given["format"])
    answer = await _made(server, request, write)
    kind = "json" if given["format"] == "json" else "csv"
    name = f"attachment; filename*=UTF-8''{quote(asked.name, safe='')}.{kind}"
    return server.send(request, answer, **{"Content-Disposition": name})


async def changes(server: Server, request: Request) -> Response:
    """/explore/log."""
    until = request.query_params.get("until") or request.query_params.get("as_of") or ""
    make = partial(commits.log, until=number_of(until), query=dict(request.query_params))
    return await _page(server, request, make, is_timeless=True)


async def queries(server: Server, request: Request) -> Response:
    """/explore/kql: commands that read, in an address or from the form, and their downloads."""
    fields = await _fields(server, request)
    command, show = fields.get("command"), fields.get("show") or pane.VIEWS[0]
    if show not in pane.VIEWS:
        raise KipError("KIP_1001", f"There is no view {show!r}.", f"Send show={pane.VIEWS[1]}.")
    if "format" in fields:
        return await _download(server, request, command or "", fields["format"])
    if show == "graph":
        graph = {key: text for key, text in fields.items() if key in ("command", "as_of")}
        return RedirectResponse(f"{root_of(request)}/{pane.GRAPH}?{urlencode(graph)}", 303)
    first = number_of(fields.get("first", "")) or 0
    make = partial(pane.queries, command=command, show=show, first=first)
    page = await _page(server, request, make)
    # The keys of its forms are those of one actor.
    page.headers["Cache-Control"] = "no-store"
    return page


async def names(server: Server, request: Request) -> Response:
    """/explore/names: the vocabulary of a commit, for completion."""
    when = request.query_params.get("as_of")
    call = partial(_of_state, server, request, when, pane.names)
    form = linked.Variant("application/json", "rdf11")
    return await linked.document(server, request, form, call, _turn(server, when))


async def _download(server: Server, request: Request, command: str, format: str) -> Response:
    """All rows of an answer as a file; a header leads to the next ones, behind its LIMIT."""
    make = partial(pane.download, command=command, format=format)
    answer, following = await _made(server, request, make)
    headers = {"Content-Disposition": f'attachment; filename="answer.{format}"'}
    if following is not None:
        headers["Link"] = f'<{following}>; rel="next"'
    return server.send(request, answer, **headers)


async def why(server: Server, request: Request) -> Response:
    """/explore/why: what a row of an answer comes from."""
    fields = await _fields(server, request)
    row = number_of(fields.get("row", ""))
    make = partial(pane.why, command=fields.get("command", ""), row=-1 if row is None else row)
    return await _page(server, request, make)


async def _fields(server: Server, request: Request) -> dict[str, str]:
    """The fields of an address, and of a form that was sent."""
    fields = dict(request.query_params)
    if request.method == "POST":
        fields |= {"command": "", **await read_form(request, server.options.max_body)}
    return fields


def prepare(server: Server) -> None:
    """Load what the start page needs, so that who opens it first does not wait for that: the
    templates, the indexes of values, and the times of the commits."""
    moment = moment_of(server.store, server.timeline)
    explorer = Explorer(server.nexus, server.store, server.title, OWNER, moment=moment)
    home.start(explorer, Asked(""), server.options.public_path, {})


async def static(server: Server, request: Request) -> Response:
    """/static/{name}: style and script of the pages."""
    asset = ASSETS.get(request.path_params["name"])
    if asset is None:
        raise HTTPException(404)
    path, type_ = asset
    return Response(path.read_bytes(), 200, {"Cache-Control": "max-age=3600"}, type_)


async def refuse(server: Server, request: Request, error: Any) -> Response:
    """The answer to a request that failed: a page for people, JSON for programs."""
    answer = error_response(error)
    if not (server.options.explorer and is_for_people(request)):
        return answer
    actor, root = info_of(request.scope).actor, root_of(request)
    explorer = Explorer(server.nexus, server.store, server.title, actor, root)
    path = path_after(request, "/") if answer.status_code == 404 else None
    # What is suggested is read from the store, which may be what failed.
    try:
        make = partial(failure, explorer, refused(answer), path)
        html = await run_for(request, server.threads, make)
    except (KipError, StoreError):
        html = failure(explorer, refused(answer), None)
    headers = {**getattr(error, "headers", {}), "Vary": "Accept"}
    return HTMLResponse(html.encode(errors="replace"), answer.status_code, headers)


ROUTES: Routes = (
    ("/page/{path:path}", ("GET",), element),
    ("/explore", ("GET",), to_start),
    ("/explore/", ("GET",), start),
    ("/explore/search", ("GET",), search_results),
    ("/explore/commit", ("GET",), commit),
    ("/explore/graph", ("GET",), graph),
    ("/explore/schema", ("GET",), schema),
    ("/explore/table", ("GET",), table),
    ("/explore/log", ("GET",), changes),
    ("/explore/history/{path:path}", ("GET",), history),
    ("/explore/kql", ("GET", "POST"), queries),
    ("/explore/names", ("GET",), names),
    ("/explore/why", ("GET", "POST"), why),
    ("/static/{name}", ("GET",), static),
)
