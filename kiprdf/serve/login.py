"""/login: people give their token once; the browser then keeps a cookie that only reads."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from kiprdf.interchange.publishing.markup import element
from kiprdf.serve.negotiation import choose
from kiprdf.serve.replies import HttpError
from kiprdf.serve.security import CONTENT_POLICY, COOKIE, Gate, session_of

_STYLE = (Path(__file__).parent / "assets" / "login.css").read_text("utf-8")
_HASH = b64encode(sha256(_STYLE.encode()).digest()).decode()
# The style sheet needs a token.
_POLICY = CONTENT_POLICY.replace("style-src 'self'", f"style-src 'sha256-{_HASH}'")


def login_page(request: Request, message: str | None = None) -> Response:
    """The form."""
    target = request.query_params.get("next", "")
    form: Any = element(
        "form",
        # Browsers keep passwords by a name, and complain in the console where there is none.
        element("input", name="username", value="kiprdf", autocomplete="username", hidden=True),
        element("label", "Token", for_="token"),
        element(
            "input",
            id="token",
            name="token",
            type="password",
            autocomplete="current-password",
            required=True,
            autofocus=True,
        ),
        element("input", type="hidden", name="next", value=target),
        element("button", "Sign in", type="submit"),
        method="post",
    )
    note = element("p", message, role="alert") if message else None
    body = element("main", element("h1", "Sign in"), note, form)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("link", rel="icon", href="data:,"),
        element("title", "Sign in"),
        element("style", _STYLE),
    )
    page = element("html", head, element("body", body), lang="en")
    status = 401 if message else 200
    return HTMLResponse(f"<!doctype html>{page}", status, {"Content-Security-Policy": _POLICY})


def sign_in(request: Request, body: bytes, gate: Gate, root: str) -> Response:
    """Set the cookie for a valid token, and show the page that was asked for."""
    form = parse_qs(body.decode(errors="replace"))
    token = form.get("token", [""])[0]
    if gate.access_of_token(token) is None:
        message = "This token is not valid."
        accepted = choose(request.headers.get("accept"), ["application/json", "text/html"])
        if accepted is not None and accepted[0] == "text/html":
            return login_page(request, message)
        raise HttpError(401, message, "Send another token.", {"WWW-Authenticate": "Bearer"})
    response = RedirectResponse(_own_path(form.get("next", [""])[0], root), 303)
    is_secure = request.url.scheme == "https"
    response.set_cookie(
        COOKIE,
        session_of(token),
        path=f"{root}/",
        httponly=True,
        samesite="strict",
        secure=is_secure,
    )
    return response


def _own_path(target: str, root: str) -> str:
    """A path of this server, never the address of another one."""
    is_path = target.startswith("/") and not target.startswith(("//", "/\\"))
    return root + target if is_path and target.isprintable() else f"{root}/"
