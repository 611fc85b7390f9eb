"""POST /kip: a KIP request as a function call, in the form of other KIP servers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from kiprdf.errors import KipError
from kiprdf.given_json import json_in, switch_in
from kiprdf.language import ast, parse
from kiprdf.nexus import Nexus
from kiprdf.protocol import read_request
from kiprdf.serve.http import (
    Answer,
    HttpError,
    read_body,
    require_json,
    run_for,
    status_of,
    to_json,
)
from kiprdf.serve.state import Audit, Routes, Server, may

if TYPE_CHECKING:
    from kiprdf.request_models import Request as Arguments

_METHODS = ("execute_kip", "execute_kip_readonly")
_HINT = 'Send {"method": "execute_kip", "params": {"command": "DESCRIBE PRIMER"}}.'


async def post(server: Server, request: Request) -> Response:
    """POST /kip."""
    require_json(request)
    body = await read_body(request, server.options.max_body)
    call = partial(
        answer,
        server.nexus,
        body,
        may_write=may(request, "propose"),
        read_only=server.is_read_only,
        audit=server.audit_of(request.scope),
        refuse=partial(server.note_refusal, request.scope),
    )
    reply = await run_for(request, server.threads, call)
    return server.send(request, reply)


def answer(
    nexus: Nexus,
    body: bytes,
    *,
    may_write: bool,
    read_only: bool,
    audit: Audit | None = None,
    refuse: Callable[[str], None],
) -> Answer:
    """Answer the body of a request; a server that is ``read_only`` runs no command that writes.

    Raises ``HttpError`` for a body that is no request (400), and for a command that writes without
    permission (403).
    """
    method, params = _function_call(body)
    readonly = bool(params.pop("readonly")) or method == "execute_kip_readonly"
    if read_only or not may_write:
        message = "This server only reads." if may_write else "This token only reads."
        refuse_writes(params, message, refuse)
    response = call(nexus, params, readonly=readonly or read_only, audit=audit)
    error = response.get("error")
    status = 200 if error is None else status_of(error["code"])
    return Answer(to_json(response), "application/json", rows_of(response), status)


def rows_of(response: Mapping[str, Any]) -> int:
    """The number of rows, or of responses, in a response; 0 for an error."""
    result = response.get("result", [])
    return len(result) if isinstance(result, list) else 1


def call(
    nexus: Nexus, params: Mapping[str, Any], *, readonly: bool, audit: Audit | None = None
) -> dict[str, Any]:
    """Run the arguments of ``execute_kip``, and report what they wrote."""
    execute = nexus.execute_kip_readonly if readonly else nexus.execute_kip
    response = execute(params)
    request = None if audit is None else _request(params)
    if audit is not None and request is not None and not request.dry_run:
        responses = [response] if request.commands is None else response.get("result", [])
        for text, one in zip(_texts(request), responses, strict=False):
            if "error" not in one and writes(text):
                audit(text.encode(errors="replace"), one["result"])
    return response


def report_memory(
    name: str, arguments: Mapping[str, Any], response: Mapping[str, Any], audit: Audit | None
) -> None:
    """Report what the function ``remember`` wrote."""
    if audit is not None and name == "remember" and "error" not in response:
        audit(str(arguments["text"]).encode(errors="replace"), response["result"])


def refuse_writes(params: Mapping[str, Any], message: str, refuse: Callable[[str], None]) -> None:
    """Raise 403 for commands of which some write, each of which is noted by ``refuse``.

    Malformed ones are left to the engine.
    """
    texts = [text for text in command_texts(params) if writes(text)]
    for text in texts:
        refuse(text)
    if texts:
        raise HttpError(403, message, "Send FIND, DESCRIBE, SEARCH or EXPORT.")


def command_texts(params: Mapping[str, Any]) -> list[str]:
    """The texts of all commands of a request; none of a malformed one."""
    request = _request(params)
    return [] if request is None else _texts(request)


def _request(params: Mapping[str, Any]) -> Arguments | None:
    with suppress(KipError):
        return read_request(params)
    return None


def _texts(request: Arguments) -> list[str]:
    if request.command is not None:
        return [request.command]
    items = request.commands or []
    return [item if isinstance(item, str) else item.command for item in items]


def writes(text: str) -> bool:
    """Whether a text is a command that writes."""
    try:
        return isinstance(parse(text), ast.Manipulation)
    except KipError:
        return False


def _function_call(body: bytes) -> tuple[str, dict[str, Any]]:
    """The method and the parameters of a body; 400 for another one."""
    try:
        call = json.loads(body.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as fault:
        raise HttpError(400, f"The body is not JSON that can be read: {fault}.", _HINT) from None
    if not isinstance(call, dict):
        raise HttpError(400, "The body must be an object.", _HINT)
    unknown = sorted(call.keys() - {"method", "params", "jsonrpc", "id"})
    if unknown:
        raise HttpError(400, f"{unknown[0]!r} is not a field of the body.", _HINT)
    method, params = call.get("method"), json_in(call.get("params"), dict)
    if method not in _METHODS:
        raise HttpError(400, f"The method must be one of {', '.join(_METHODS)}.", _HINT)
    if not isinstance(params, dict):
        raise HttpError(400, "params must be an object.", _HINT)
    readonly = switch_in(params.get("readonly"))
    if not isinstance(readonly, bool | None):
        raise HttpError(400, "readonly must be true or false.", _HINT)
    return method, {**params, "readonly": readonly}


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")


ROUTES: Routes = (("/kip", ("POST",), post),)
