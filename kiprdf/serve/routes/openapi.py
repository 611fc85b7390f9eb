"""/openapi.json: the routes for programs."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

import kiprdf
from kiprdf import request_models
from kiprdf.serve.replies import json_response
from kiprdf.serve.routes.admin import COMMANDS
from kiprdf.serve.routes.linked import FORMAT_OF, RDF_FORMATS
from kiprdf.serve.routes.sparql import SELECT_FORMATS
from kiprdf.serve.state import Routes, Server

_ERROR = {
    "description": "An error; its hint says what to do.",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
}


async def get(server: Server, request: Request) -> Response:
    """/openapi.json."""
    return json_response(document(server.address(request)))


def document(address: str) -> dict[str, Any]:
    """OpenAPI 3.1 of the routes for programs at an address."""
    request = request_models.Request.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas = {**request.pop("$defs", {}), "Request": request, "Error": _error_schema()}
    schemas["Request"]["properties"]["readonly"] = {"type": "boolean", "default": False}
    return {
        "openapi": "3.1.0",
        "info": {"title": "kiprdf", "version": kiprdf.__version__},
        "servers": [{"url": address}],
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
        "paths": {
            "/kip": _kip(),
            "/sparql": _sparql(),
            "/graph": _graph(),
            "/backup": _post("A copy of the nexus, as a tar stream.", None, "application/x-tar"),
            **{
                f"/maintenance/{name}": _post(
                    f"The command {name}; its report.", arguments.model_json_schema()
                )
                for name, arguments in COMMANDS.items()
            },
        },
    }


def _post(summary: str, body: Any, answer: str = "application/json") -> dict[str, Any]:
    """A route that takes JSON, or nothing."""
    answers = {"200": {"description": summary, "content": {answer: {}}}, "default": _ERROR}
    operation: dict[str, Any] = {"summary": summary, "responses": answers}
    if body is not None:
        operation["requestBody"] = {"content": {"application/json": {"schema": body}}}
    return {"post": operation}


def _kip() -> dict[str, Any]:
    call = {
        "type": "object",
        "required": ["method", "params"],
        "properties": {
            "method": {"enum": ["execute_kip", "execute_kip_readonly"]},
            "params": {"$ref": "#/components/schemas/Request"},
        },
    }
    body = {"required": True, "content": {"application/json": {"schema": call}}}
    answer = {
        "description": "The KIP response.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
    return {
        "post": {
            "summary": "Run KIP commands.",
            "requestBody": body,
            "responses": {"200": answer, "default": _ERROR},
        }
    }


def _sparql() -> dict[str, Any]:
    content: dict[str, Any] = {name: {} for name in (*SELECT_FORMATS, *RDF_FORMATS)}
    responses = {"200": {"description": "The answer.", "content": content}, "default": _ERROR}
    query = {"name": "query", "in": "query", "required": True, "schema": {"type": "string"}}
    form = {"type": "object", "required": ["query"], "properties": {"query": {"type": "string"}}}
    body = {
        "content": {
            "application/sparql-query": {"schema": {"type": "string"}},
            "application/x-www-form-urlencoded": {"schema": form},
        }
    }
    return {
        "get": {"summary": "Run a query.", "parameters": [query], "responses": responses},
        "post": {"summary": "Run a query.", "requestBody": body, "responses": responses},
    }


def _graph() -> dict[str, Any]:
    parameters = [
        {"name": "default", "in": "query", "required": True, "schema": {}, "allowEmptyValue": True},
        {"name": "profile", "in": "query", "schema": {"enum": ["rdf11", "rdf12"]}},
    ]
    content: dict[str, Any] = {name: {} for name in FORMAT_OF}
    responses = {"200": {"description": "The dataset.", "content": content}, "default": _ERROR}
    return {"get": {"summary": "The dataset.", "parameters": parameters, "responses": responses}}


def _error_schema() -> dict[str, Any]:
    names = ("code", "name", "message", "hint")
    texts: dict[str, Any] = {name: {"type": "string"} for name in names}
    texts["code"]["pattern"] = "^(KIP_[0-9]{4}|HTTP_[0-9]{3})$"
    error = {"type": "object", "required": list(names), "properties": texts}
    return {"type": "object", "required": ["error"], "properties": {"error": error}}


ROUTES: Routes = (("/openapi.json", ("GET",), get),)
