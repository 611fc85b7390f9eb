"""/login: people give their token once; the browser then keeps a cookie that only reads."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from kiprdf.pages.rendering import ASSETS, render
from kiprdf.serve.negotiation import choose
from kiprdf.serve.replies import HttpError
from kiprdf.serve.security import CONTENT_POLICY, COOKIE, Gate, session_of

_STYLE = (ASSETS / "login.css").read_text("utf-8")
_HASH = b64encode(sha256(_STYLE.encode()).digest()).decode()
# The style sheet needs a token.
_POLICY = CONTENT_POLICY.replace("style-src 'self'", f"style-src 'sha256-{_HASH}'")


def login_page(request: Request, message: str | None = None) -> Response:
    """The form."""
    target = request.query_params.get("next", "")
    page = render("explorer/login.html", message=message, target=target, style=_STYLE)
    return HTMLResponse(page, 401 if message else 200, {"Content-Security-Policy": _POLICY})


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
