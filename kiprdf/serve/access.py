"""Who sends a request: the principal of its token or cookie, its session, and how often it fails.

An address may send some wrong tokens, and then one in a while (docs/decisions/174).
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import math
import time
from collections import OrderedDict
from http.cookies import CookieError, SimpleCookie
from secrets import token_bytes
from typing import TypeVar

from starlette.datastructures import Headers
from starlette.types import Scope

from kiprdf.principals import Principal, digest_of, with_token
from kiprdf.serve.http import HttpError
from kiprdf.serve.local import CLIENT, client_in
from kiprdf.serve.options import Options

COOKIE = "kiprdf_session"
CONNECTION = "kiprdf.connection"
"""The key of a scope for the id of the connection of a request."""
SESSION_CHARACTERS = 200
WRONG_AT_ONCE = 20
"""The wrong tokens that an address may send at once."""
WRONG_SECONDS = 6.0
"""The time after which it may send another one."""
LONG_TOKEN = 32
"""The characters of a token that nobody guesses: a right one passes at any time."""
MOST_ADDRESSES = 4096
_SESSION_HEADERS = ("kip-session", "mcp-session-id")
LOCAL = Principal("local", "human", "admin")
"""Who needs no token: people and programs on this machine."""
NETWORK = Principal("network", "model", "write")
"""Who needs no token on another machine."""


class Authentication:
    """Finds the principal of a request by its token, which is compared with all in constant time.

    A cookie is made of the token of ``--token`` and ``--read-token``; of a principal in a file it
    is made with a key of this process, since the file has no more than a digest of the token.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        given = {"token": options.token, "read-token": options.read_token}
        self._tokens = {name: token for name, token in given.items() if token is not None}
        self._own = tuple(
            Principal(name, "model", "admin" if name == "token" else "read", digest_of(token))
            for name, token in self._tokens.items()
        )
        self._key = token_bytes(32)
        self._failures = Failures()
        self._accepted: OrderedDict[tuple[str, str], None] = OrderedDict()
        """The addresses that have sent a right token, with its digest."""

    def listed(self) -> tuple[Principal, ...]:
        """Those of the file, as it is now."""
        file = self._options.file
        return () if file is None else file.principals()

    def principals(self) -> tuple[Principal, ...]:
        """All who have a token."""
        return (*self._own, *self.listed())

    def of_request(self, scope: Scope, headers: Headers, *, is_mcp: bool) -> Principal | None:
        """The principal of a request; None if it needs a token that it does not have.

        A cookie carries the rights of its principal to pages of this server: without the header
        Origin of one, what is no GET only reads.
        """
        client = headers.get(CLIENT)
        if client is not None and is_mcp:
            sent = headers.get("authorization", "").encode(errors="replace")
            if hmac.compare_digest(sent, f"Bearer {self._options.local_token}".encode()):
                return client_in(client)
        if not self._options.has_token:
            if is_mcp:
                return self._options.mcp_as
            return LOCAL if self._options.is_loopback else NETWORK
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self.of_token(_text(given.strip()), scope)
        principal = self._of_cookie(_cookie(headers))
        if principal is None:
            return None
        is_own = self._options.is_own_origin(headers.get("origin", ""), headers)
        if is_own or scope["method"] in ("GET", "HEAD"):
            return principal
        return principal._replace(access="read")

    def of_token(self, token: str, scope: Scope) -> Principal | None:
        """The principal with a token; 429 for an address that has sent too many wrong ones.

        A right token passes nevertheless if it is long, or the address has sent it before: others
        behind the same proxy cannot lock out who uses it.
        """
        principal = with_token(token, self.principals())
        address = _address(scope)
        sent = (address, principal.token_sha256 if principal else "")
        if principal is None or not (len(token) >= LONG_TOKEN or sent in self._accepted):
            self._failures.require_few(address)
        if principal is None:
            self._failures.note(address)
        else:
            _renew(self._accepted, sent, None)
        return principal

    def _of_cookie(self, cookie: str) -> Principal | None:
        chosen = None
        for principal in self.principals():
            if hmac.compare_digest(
                cookie.encode(errors="replace"), self.cookie(principal).encode()
            ):
                chosen = principal
        return chosen

    def cookie(self, principal: Principal) -> str:
        """The value of the cookie of a principal; it cannot be used as a token."""
        token = self._tokens.get(principal.name)
        key = self._key + principal.token_sha256.encode() if token is None else token.encode()
        return hmac.new(key, b"kiprdf session", hashlib.sha256).hexdigest()


class Failures:
    """The wrong tokens of addresses, of which a limited number is remembered."""

    def __init__(self) -> None:
        self._over: OrderedDict[str, float] = OrderedDict()
        """When nothing is left of the wrong tokens of an address."""

    def note(self, address: str) -> None:
        """Count a wrong token."""
        begin = max(self._over.get(address, 0.0), time.monotonic())
        _renew(self._over, address, begin + WRONG_SECONDS)

    def require_few(self, address: str) -> None:
        """Raise 429 if an address has to wait before it sends another token."""
        left = self._over.get(address, 0.0) - time.monotonic()
        wait = math.ceil(left - (WRONG_AT_ONCE - 1) * WRONG_SECONDS)
        if wait > 0:
            message = "Too many wrong tokens came from this address."
            hint = f"Send the right token in {wait} s."
            raise HttpError(429, message, hint, {"Retry-After": str(wait)})


K = TypeVar("K")
V = TypeVar("V")


def _renew(entries: OrderedDict[K, V], key: K, value: V) -> None:
    """Make an entry the newest one; the oldest one goes where there are too many."""
    entries[key] = value
    entries.move_to_end(key)
    if len(entries) > MOST_ADDRESSES:
        entries.popitem(last=False)


def _address(scope: Scope) -> str:
    """The address of a client; one client may have all of a network of 64 bits."""
    host, _ = scope.get("client") or ("", 0)
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return str(host)
    if isinstance(address, ipaddress.IPv4Address):
        return host
    return str(address.ipv4_mapped or ipaddress.ip_network((int(address) >> 64 << 64, 64)))


def session_of(scope: Scope, headers: Headers) -> str:
    """The session of a request: what its header names, or its connection; 400 for a wrong name."""
    for name in _SESSION_HEADERS:
        session = _text(headers.get(name, "")).strip()
        if len(session) > SESSION_CHARACTERS or not session.isprintable():
            hint = f"Send a name of at most {SESSION_CHARACTERS} characters that can be printed."
            raise HttpError(400, f"The header {name} is no name of a session.", hint)
        if session:
            return session
    _, port = scope.get("client") or ("", 0)
    return str(scope.get(CONNECTION) or f"connection-{port}")


def _text(header: str) -> str:
    """A header field, which is read as Latin-1, as the UTF-8 that it is."""
    return header.encode("latin-1", "replace").decode(errors="replace")


def _cookie(headers: Headers) -> str:
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return "" if cookie is None else cookie.value
