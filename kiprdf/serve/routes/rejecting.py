"""/explore/reject/: the form on the page of an element that rejects one of its values."""

from __future__ import annotations

from typing import Any

from pyoxigraph import NamedNode
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from kiprdf.errors import KipError
from kiprdf.kql.reader import Reader
from kiprdf.rdf import vocab
from kiprdf.serve.http import HttpError, read_form, run_for, status_of
from kiprdf.serve.routes import linked
from kiprdf.serve.routes.review import MOST_BODY, check_form
from kiprdf.serve.state import Routes, Server, path_after, root_of


async def reject(server: Server, request: Request) -> Response:
    """Reject a fact, or a value of an attribute, as it was on the page that was sent."""
    path = path_after(request, "/explore/reject/")
    node = linked.node_at(server.store, path)
    fields = await read_form(request, MOST_BODY)
    check_form(server, request, f"reject {server.store.iris.id(node)}", fields)
    try:
        await run_for(request, server.threads, lambda: _reject(server, node, fields))
    except KipError as error:
        raise HttpError(status_of(error.code), error.message, error.hint or "") from None
    return RedirectResponse(f"{root_of(request)}/page/{path}", 303)


def _reject(server: Server, node: NamedNode, fields: dict[str, str]) -> None:
    if not server.store.describe(node):
        raise linked.no_element()
    element: dict[str, Any] = Reader(server.store).object(node)
    id, key = element["id"], fields.get("attribute", "")
    attributes = element.get("attributes", {})
    version = str(element.get("metadata", {}).get(vocab.VERSION))
    if version != fields.get("version") or (key and key not in attributes):
        message = f"{id} has changed since the page was opened."
        raise KipError("KIP_3005", message, "Open the page again, and look at the value.")
    what: Any = (id, f"attributes.{key}", attributes[key]) if key else id
    server.nexus.reject(what, reason=fields.get("reason", ""))


ROUTES: Routes = (("/explore/reject/{path:path}", ("POST",), reject),)
