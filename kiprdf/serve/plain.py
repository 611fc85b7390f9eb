"""Pages that read no nexus and load no file: signing in, the list of scopes, early refusals."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from kiprdf.errors import KipError
from kiprdf.pages.page import ASSETS, View, render
from kiprdf.serve.http import HttpError, error_response
from kiprdf.serve.options import Options
from kiprdf.serve.state import is_for_people, root_of

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_STYLE = (ASSETS / "login.css").read_text("utf-8")
_HASH = b64encode(sha256(_STYLE.encode()).digest()).decode()
# The style sheet needs a token.
_POLICY = CONTENT_POLICY.replace("style-src 'self'", f"style-src 'sha256-{_HASH}'")


def plain_page(template: str, status: int, headers: Mapping[str, str], /, **view: Any) -> Response:
    """A page that needs no file of the explorer."""
    page = render(template, style=_STYLE, **view)
    return HTMLResponse(page, status, {**headers, "Content-Security-Policy": _POLICY})


def refusal(request: Request, error: HttpError | KipError, options: Options) -> Response:
    """The answer to a request that no nexus answers: a page for people, JSON for programs."""
    answer = error_response(error)
    if not (options.explorer and is_for_people(request)):
        return answer
    headers = {**getattr(error, "headers", {}), "Vary": "Accept"}
    view = {**refused(answer), "root": root_of(request)}
    return plain_page("explorer/refusal.html", answer.status_code, headers, **view)


def refused(answer: Response) -> View:
    """What the page of a refusal shows, from the JSON that programs get."""
    status = answer.status_code
    error = json.loads(bytes(answer.body))["error"]
    return {"phrase": HTTPStatus(status).phrase, "status": status, "error": error}
