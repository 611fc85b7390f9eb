"""/sparql: the query part of the SPARQL 1.1 Protocol."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from pyoxigraph import QueryResultsFormat, parse_query_results
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from kiprdf.nexus import Nexus
from kiprdf.serve.http import Answer, HttpError, choose, media_type, read_body, run_for
from kiprdf.serve.routes import linked
from kiprdf.serve.routes.linked import RDF_FORMATS, write_triples
from kiprdf.serve.state import Routes, Server, root_of
from kiprdf.store.sparql_worker import Table

SELECT_FORMATS = {
    "application/sparql-results+json": QueryResultsFormat.JSON,
    "application/sparql-results+xml": QueryResultsFormat.XML,
    "text/csv": QueryResultsFormat.CSV,
    "text/tab-separated-values": QueryResultsFormat.TSV,
    "application/json": QueryResultsFormat.JSON,
    "application/xml": QueryResultsFormat.XML,
}
ASK_FORMATS = {name: SELECT_FORMATS[name] for name in SELECT_FORMATS if not name.startswith("text")}
_NAMES = {"application/json": "application/sparql-results+json"}
_NAMES["application/xml"] = "application/sparql-results+xml"
"""The types that other names of a format are answered with."""
_NOT_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")
_FORM = "application/x-www-form-urlencoded"
_QUERY = "application/sparql-query"
_DATASET = ("default-graph-uri", "named-graph-uri")


async def get_or_post(server: Server, request: Request) -> Response:
    """/sparql by GET and POST."""
    sent, body = None, b""
    if request.method == "POST":
        sent = media_type(request)
        body = await read_body(request, server.options.max_body)
    accept = request.headers.get("accept")
    query = query_of(request.scope["query_string"].decode("latin-1"), sent, body)
    if query is None:
        return _service_description(server, request)
    call = partial(answer, server.nexus, query, accept)
    reply = await run_for(request, server.sparql_threads, call)
    return server.send(request, reply, Vary="Accept")


def _service_description(server: Server, request: Request) -> Response:
    accept = request.headers.get("accept")
    preferred = choose(accept, [*RDF_FORMATS, "text/html"])
    if preferred is not None and preferred[0] == "text/html" and server.options.explorer:
        return RedirectResponse(root_of(request) + "/explore/", 303, {"Vary": "Accept"})
    chosen = linked.variant(accept, None)
    content = linked.service_description(server.address(request) + "sparql", chosen)
    headers = {"Vary": "Accept", "Content-Type": chosen.content_type}
    return Response(content, 200, headers)


def query_of(query_string: str, media_type: str | None, body: bytes) -> str | None:
    """The query of a request; None for a GET without one (``media_type`` is None for GET).

    Raises ``HttpError``: 400 for none or several, 403 for an update, 415 for another type of body.
    """
    parameters = _pairs(query_string)
    queries = [value for name, value in parameters if name == "query"]
    if media_type == _FORM:
        form = _pairs(_decoded(body))
        parameters += form
        queries += [value for name, value in form if name == "query"]
    elif media_type == _QUERY:
        queries.append(_decoded(body))
    elif media_type == "application/sparql-update":
        raise _update()
    elif media_type is not None:
        hint = f"Send a query as {_QUERY}, or as a form."
        raise HttpError(415, f"A query cannot be sent as {media_type or 'nothing'}.", hint)
    names = [name for name, _ in parameters]
    if "update" in names:
        raise _update()
    if any(name in _DATASET for name in names):
        raise HttpError(400, "There is one graph, the default graph.", "Leave the graphs out.")
    if not queries and media_type is None and not names:
        return None
    if len(queries) != 1:
        raise HttpError(400, f"A request has one query, not {len(queries)}.", "Send query=…")
    return queries[0]


def answer(nexus: Nexus, query: str, accept: str | None) -> Answer:
    """Run a query and write its answer in an acceptable format; 406 if there is none."""
    offers: Sequence[str] = [*SELECT_FORMATS, *RDF_FORMATS]
    # A query that nobody can read is not run.
    if choose(accept, offers) is None:
        raise _not_acceptable(offers)
    result = nexus._engine.sparql_table(query)
    if isinstance(result, Table):
        chosen = _chosen(SELECT_FORMATS, accept)
        content = result.written(SELECT_FORMATS[chosen])
        return _reply(content, chosen, result.number)
    if isinstance(result, bool):
        chosen = _chosen(ASK_FORMATS, accept)
        truth = b'{"head":{},"boolean":%s}' % str(result).lower().encode()
        answered = parse_query_results(truth, QueryResultsFormat.JSON)
        return _reply(answered.serialize(format=ASK_FORMATS[chosen]) or b"", chosen, 1)
    chosen = _chosen(RDF_FORMATS, accept)
    return Answer(write_triples(result, chosen), chosen, len(result))


def _reply(content: bytes, chosen: str, rows: int) -> Answer:
    """Results; 406 for XML with characters that it does not have."""
    if chosen.endswith("xml"):
        if _NOT_XML.search(content):
            message = "The results contain characters that XML does not have."
            raise HttpError(406, message, f"Ask for {next(iter(SELECT_FORMATS))}.")
        # A parser would read a carriage return as a newline.
        content = content.replace(b"\r", b"&#13;")
    return Answer(content, _NAMES.get(chosen, chosen), rows)


def _chosen(formats: Mapping[str, Any], accept: str | None) -> str:
    chosen = choose(accept, list(formats))
    if chosen is None:
        raise _not_acceptable(list(formats))
    return chosen[0]


def _not_acceptable(offers: Sequence[str]) -> HttpError:
    hint = f"The types are {', '.join(dict.fromkeys(offers))}."
    return HttpError(406, "The answer has none of the accepted types.", hint)


def _update() -> HttpError:
    return HttpError(403, "This endpoint only answers queries.", "Write with KML at /kip.")


def _pairs(text: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError as fault:
        raise HttpError(400, f"The parameters cannot be read: {fault}.", "Send query=…") from None


def _decoded(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise HttpError(400, "The body is not UTF-8.", "Send UTF-8.") from None


ROUTES: Routes = (("/sparql", ("GET", "POST"), get_or_post),)
