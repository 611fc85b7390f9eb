"""Answers without data: errors in JSON, and the errors that HTTP adds to KIP."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from kiprdf import protocol
from kiprdf.errors import ERROR_CODES, KipError

STATUS_OF = {
    "KIP_3002": 404,
    "KIP_3003": 409,
    "KIP_3004": 403,
    "KIP_3005": 409,
    "KIP_4001": 408,
    "KIP_4003": 500,
}
"""The HTTP status of an error; all others are 400."""


class HttpError(Exception):
    """A refusal of HTTP: a status, and the sentence and hint of its error object."""

    is_malformed_http = False
    """Whether no route has read the request, so that no command can be wrong."""

    def __init__(
        self, status: int, message: str, hint: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.hint = hint
        self.headers = dict(headers or {})


def to_json(value: Any) -> bytes:
    """JSON in UTF-8; lone surrogates, which UTF-8 lacks, stay escaped."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def json_response(
    value: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """A response in JSON."""
    return Response(to_json(value), status, headers, "application/json")


def error_response(error: HttpError | KipError) -> Response:
    """The response to a refused or failed request."""
    if isinstance(error, KipError):
        content: Any = protocol.error_response(error)
        return json_response(content, STATUS_OF.get(error.code, 400))
    code, name = _code_of(error)
    texts = protocol.error_object(KipError("KIP_4003", error.message, error.hint))
    content = {"error": {**texts, "code": code, "name": name}}
    return json_response(content, error.status, error.headers)


def _code_of(error: HttpError) -> tuple[str, str]:
    """The code and name of a refusal: those of HTTP where no command is wrong."""
    status = error.status
    if (status == 400 and not error.is_malformed_http) or status >= 500:
        code = "KIP_1001" if status == 400 else "KIP_4003"
        return code, ERROR_CODES[code].name
    return f"HTTP_{status}", HTTPStatus(status).phrase
