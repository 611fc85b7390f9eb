"""/openapi.json: the routes for programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

import kiprdf
from kiprdf import request_models
from kiprdf.serve.http import json_response
from kiprdf.serve.routes.admin import COMMANDS
from kiprdf.serve.routes.feed import EVENTS, PATCH
from kiprdf.serve.routes.linked import FORMAT_OF
from kiprdf.serve.routes.sparql import SELECT_FORMATS
from kiprdf.serve.state import Routes, Server

_DOCUMENT = Path(__file__).parents[1] / "openapi.json"
"""What does not depend on the server: the rest are versions, schemas and media types."""


async def get(server: Server, request: Request) -> Response:
    """/openapi.json."""
    return json_response(document(server.address(request)))


def document(address: str, *, has_scopes: bool = False) -> dict[str, Any]:
    """OpenAPI 3.1 of the routes for programs at an address."""
    document: dict[str, Any] = json.loads(_DOCUMENT.read_text("utf-8"))
    document["info"]["version"] = kiprdf.__version__
    document["servers"] = [{"url": address}]
    request = request_models.Request.model_json_schema(ref_template="#/components/schemas/{model}")
    request["properties"]["readonly"] = {"type": "boolean", "default": False}
    components, paths = document["components"], document["paths"]
    if not has_scopes:
        document["paths"] = paths = {
            path: routes for path, routes in paths.items() if not path.startswith("/scopes")
        }
    schemas = {**request.pop("$defs", {}), "Request": request, **components["schemas"]}
    components["schemas"] = schemas
    for method in ("get", "post"):
        _answers(paths["/sparql"][method])["content"] = {
            name: {} for name in (*SELECT_FORMATS, *FORMAT_OF)
        }
    _answers(paths["/graph"]["get"])["content"] = {name: {} for name in FORMAT_OF}
    _answers(paths["/feed"]["get"])["content"] = {name: {} for name in (*FORMAT_OF, PATCH, EVENTS)}
    error = paths["/backup"]["post"]["responses"]["default"]
    for name, arguments in COMMANDS.items():
        summary = f"The command {name}; its report."
        answer = {"description": summary, "content": {"application/json": {}}}
        paths[f"/maintenance/{name}"] = {
            "post": {
                "summary": summary,
                "responses": {"200": answer, "default": error},
                "requestBody": {
                    "content": {"application/json": {"schema": arguments.model_json_schema()}}
                },
            }
        }
    return document


def _answers(operation: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = operation["responses"]["200"]
    return answer


ROUTES: Routes = (("/openapi.json", ("GET",), get),)
