"""Answers without data: errors in JSON, and the errors that HTTP adds to KIP."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from kiprdf import protocol
from kiprdf.errors import KipError

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
    code = "KIP_4003" if error.status >= 500 else "KIP_1001"
    located = protocol.error_object(KipError(code, error.message, error.hint))
    return json_response({"error": located.model_dump()}, error.status, error.headers)
