"""HTTP to one SPARQL service, with the standard library: connections, credentials, deadlines."""

from __future__ import annotations

import base64
import hashlib
import http.client
import io
import re
import secrets
import select
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, TypeAlias, cast
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from kiprdf import budget
from kiprdf.errors import StoreError

Auth: TypeAlias = tuple[str, str] | str | None
"""User and password, or a bearer token."""

IDLE_S = 300.0
KEPT_CONNECTIONS = 8
_BLOCK = 1 << 16
_QUICKACK = getattr(socket, "TCP_QUICKACK", None)
_FAULTS = (OSError, http.client.HTTPException)
_CLOSED = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError)
_CHALLENGE = re.compile(r'(\w+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,]+))')


class EndpointFault(StoreError):
    """A request to a store failed.

    ``may_have_run``: the store may have carried it out. ``is_timeout``: the time of the running
    command was over. ``was_closed``: the server closed the connection before it answered.
    ``status`` is that of the HTTP answer, if there was one.
    """

    hint = "Send the command again when the store answers."

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        may_have_run: bool = False,
        is_timeout: bool = False,
        was_closed: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.may_have_run = may_have_run
        self.is_timeout = is_timeout
        self.was_closed = was_closed


class Response(NamedTuple):
    """An answer, whose body is still to be read."""

    status: int
    headers: http.client.HTTPMessage
    read: Callable[[int], bytes]
    """Reads at most this many bytes of the body; none at its end. Raises ``EndpointFault``."""
    end: Callable[[], None]
    """Gives the connection back, or closes it where the body was not read to its end."""


class HttpClient:
    """Keep-alive connections to one URL; safe to use from several threads.

    Neither ``repr`` nor a message shows credentials. Redirects are not followed. Raises
    ``StoreError`` for a URL that is not an HTTP URL.
    """

    def __init__(
        self,
        url: str,
        auth: Auth = None,
        headers: Mapping[str, str] | None = None,
        *,
        idle_s: float = IDLE_S,
    ) -> None:
        parts = _split(url)
        if auth is None and parts.username is not None:
            auth = (unquote(parts.username), unquote(parts.password or ""))
        host = parts.hostname or ""
        self._host = f"[{host}]" if ":" in host else host
        self._port = parts.port
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._path = urlunsplit(("", "", parts.path or "/", parts.query, ""))
        self.url = shown_url(url)
        """Without user, password and query."""
        self.idle_s = idle_s
        """How long a request without a time limit waits for the next byte."""
        self._credentials = _Credentials(auth)
        self._headers = _checked(headers or {})
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []
        self._is_closed = False

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def post(self, body: bytes, headers: Mapping[str, str], query: str = "") -> Response:
        """Send a request; ``query`` is added to the URL's. No status raises an error.

        If a server refuses a request with a digest challenge, it is sent once more.
        """
        path = self._path
        if query:
            path += ("&" if "?" in path else "?") + query
        response = self._send(path, body, headers)
        if response.status == 401:
            challenges = response.headers.get_all("WWW-Authenticate") or []
            if self._credentials.accept(challenges):
                response.end()
                response = self._send(path, body, headers)
        return response

    def get(self, headers: Mapping[str, str]) -> Response:
        """Send a request without a body. No status raises an error."""
        sent = {**self._headers, **headers, **self._credentials.header("GET", self._path)}
        return _Exchange(self, self._new_one()).send(self._path, None, sent, "GET")

    def _send(self, path: str, body: bytes, headers: Mapping[str, str]) -> Response:
        """Send a request; once more if the server has closed an idle connection meanwhile.

        No request of kiprdf does harm when it arrives twice.
        """
        sent = {**self._headers, **headers, **self._credentials.header("POST", path)}
        idle = self._idle_one()
        if idle is not None:
            try:
                return _Exchange(self, idle).send(path, body, sent)
            except EndpointFault as fault:
                if not fault.was_closed:
                    raise
        return _Exchange(self, self._new_one()).send(path, body, sent)

    def _idle_one(self) -> http.client.HTTPConnection | None:
        """An idle connection that the server has not closed, as far as is known."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection = self._idle.pop()
            # Bytes, or the end, that nobody waits for: it cannot be used again.
            if connection.sock is not None and not select.select([connection.sock], [], [], 0)[0]:
                return connection
            connection.close()

    def _new_one(self) -> http.client.HTTPConnection:
        if self._tls is None:
            return http.client.HTTPConnection(self._host, self._port)
        return http.client.HTTPSConnection(self._host, self._port, context=self._tls)

    def give_back(self, connection: http.client.HTTPConnection) -> None:
        """Keep a connection whose answer was read to its end."""
        with self._lock:
            if not self._is_closed and len(self._idle) < KEPT_CONNECTIONS:
                self._idle.append(connection)
                return
        connection.close()


class _Exchange:
    """One request and its answer on one connection, within the time of the running request."""

    def __init__(self, client: HttpClient, connection: http.client.HTTPConnection) -> None:
        self._client = client
        self._connection = connection
        self._spending = budget.current()
        self._response: http.client.HTTPResponse | None = None
        self._has_begun = False
        self._has_ended = False
        self._missing: int | None = None
        if self._spending is not None and self._spending.cancellation is not None:
            self._spending.cancellation.call_on_cancel(self._interrupt)

    def send(
        self, path: str, body: bytes | None, headers: Mapping[str, str], method: str = "POST"
    ) -> Response:
        try:
            self._set_timeout()
            if self._connection.sock is None:
                self._connection.connect()
                self._set_timeout()  # connecting may have taken some of the time
            self._has_begun = True
            self._connection.request(method, path, body, dict(headers))
            self._connection.response_class = cast(Any, partial(_response, self._prepare_to_wait))
            self._response = self._connection.getresponse()
            self._missing = self._response.length
        except BaseException as fault:
            self._close()
            if isinstance(fault, _FAULTS):
                raise self._fault(fault) from None
            raise
        return Response(self._response.status, self._response.headers, self.read, self.end)

    def read(self, size: int = -1) -> bytes:
        assert self._response is not None
        try:
            data = self._response.read1(_BLOCK if size < 0 else min(size, _BLOCK))
            if self._missing is not None:
                self._missing -= len(data)
                if not data and self._missing:
                    raise http.client.IncompleteRead(data, self._missing)
            return data
        except _FAULTS as fault:
            self._close()
            raise self._fault(fault) from None

    def end(self) -> None:
        if self._has_ended:
            return
        assert self._response is not None
        # A parser may leave the last line break, or what ends the last chunk.
        is_read = self.read(_BLOCK) == b""
        if is_read and self._connection.sock is not None:
            self._has_ended = True
            self._response.close()
            self._client.give_back(self._connection)
        else:
            self._close()

    def _close(self) -> None:
        self._has_ended = True
        self._connection.close()

    def _set_timeout(self) -> None:
        idle_s = self._client.idle_s
        seconds = idle_s if self._spending is None else self._spending.seconds_left()
        if seconds == 0:
            raise TimeoutError
        self._connection.timeout = min(seconds, idle_s)
        if self._connection.sock is not None:
            self._connection.sock.settimeout(self._connection.timeout)

    def _prepare_to_wait(self) -> None:
        """Bound the wait for the next bytes, and let the server send them.

        Virtuoso waits for the acknowledgement of the first part, which Linux delays by 40 ms.
        """
        self._set_timeout()
        sock = self._connection.sock
        if _QUICKACK is not None and sock is not None:
            # Linux forgets this each time that something is sent.
            sock.setsockopt(socket.IPPROTO_TCP, _QUICKACK, 1)

    def _interrupt(self) -> None:
        """End the wait for an answer, from another thread."""
        sock = self._connection.sock
        if sock is not None and not self._has_ended:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def _fault(self, fault: Exception) -> EndpointFault:
        spending = self._spending
        is_over = spending is not None and spending.seconds_left() == 0
        url = self._client.url
        if is_over:
            assert spending is not None
            message = f"The store at {url} did not answer in time."
        elif isinstance(fault, ssl.SSLCertVerificationError):
            message = (
                f"The certificate of {url} is not trusted: {fault.verify_message.rstrip('.')}; "
                "set SSL_CERT_FILE to a file with its authority."
            )
        elif isinstance(fault, http.client.IncompleteRead):
            message = f"The answer of {url} is incomplete."
        elif isinstance(fault, TimeoutError):
            message = f"The store at {url} did not answer for {self._client.idle_s:g} s."
        else:
            message = f"The store at {url} cannot be reached: {_reason(fault)}."
        return EndpointFault(
            message,
            may_have_run=self._has_begun,
            is_timeout=is_over,
            was_closed=isinstance(fault, _CLOSED) and self._response is None,
        )


class _Incoming(io.RawIOBase):
    """The bytes of an answer; before each wait for more, a function is called.

    A timeout of a socket alone begins again with each byte, also within the header.
    """

    def __init__(self, sock: socket.socket, before: Callable[[], None]) -> None:
        self._raw = sock.makefile("rb", buffering=0)
        self._before = before

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._before()
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


def _response(
    before: Callable[[], None], sock: socket.socket, *args: Any, **kwargs: Any
) -> http.client.HTTPResponse:
    response = http.client.HTTPResponse(sock, *args, **kwargs)
    response.fp.close()
    response.fp = io.BufferedReader(_Incoming(sock, before))
    return response


class _Credentials:
    """The credentials of requests: basic, digest once a server asks for it, or bearer."""

    def __init__(self, auth: Auth) -> None:
        if isinstance(auth, str):
            _check_secret(auth)
        elif auth is not None and not (
            isinstance(auth, tuple | list) and len(auth) == 2 and all(map(_is_text, auth))
        ):
            raise StoreError("auth must be a pair of user and password, or a token.")
        self._auth = auth
        self._digest: dict[str, str] | None = None
        self._count = 0

    def accept(self, challenges: list[str]) -> bool:
        """Whether a challenge asks for digest, with a nonce that was not used yet."""
        if not isinstance(self._auth, tuple | list):
            return False
        for challenge in challenges:
            scheme, _, rest = challenge.partition(" ")
            if scheme.lower() != "digest":
                continue
            fields = {
                key.lower(): (quoted or plain) for key, quoted, plain in _CHALLENGE.findall(rest)
            }
            is_new = self._digest is None or fields.get("nonce") != self._digest.get("nonce")
            if not is_new and fields.get("stale", "").lower() != "true":
                return False  # user and password were refused
            self._digest, self._count = fields, 0
            return True
        return False

    def header(self, method: str, path: str) -> dict[str, str]:
        if self._auth is None:
            return {}
        if isinstance(self._auth, str):
            return {"Authorization": f"Bearer {self._auth}"}
        user, password = self._auth
        if self._digest is None:
            pair = base64.b64encode(f"{user}:{password}".encode()).decode()
            return {"Authorization": f"Basic {pair}"}
        return {"Authorization": self._digested(self._digest, method, path)}

    def _digested(self, fields: dict[str, str], method: str, path: str) -> str:
        """The answer to a challenge of digest (RFC 7616)."""
        assert isinstance(self._auth, tuple | list)
        user, password = self._auth
        algorithm = fields.get("algorithm", "MD5")
        is_sha = algorithm.upper().startswith("SHA-256")

        def digest(*parts: str) -> str:
            data = ":".join(parts).encode()
            # MD5 is what the protocol asks for; it protects nothing else here.
            hashed = hashlib.sha256(data) if is_sha else hashlib.md5(data, usedforsecurity=False)
            return hashed.hexdigest()

        realm, nonce = fields.get("realm", ""), fields.get("nonce", "")
        self._count += 1
        count, client_nonce = f"{self._count:08x}", secrets.token_hex(8)
        secret = digest(user, realm, password)
        if algorithm.upper().endswith("-SESS"):
            secret = digest(secret, nonce, client_nonce)
        request = digest(method, path)
        quoted = {"username": user, "realm": realm, "nonce": nonce, "uri": path}
        plain = {"algorithm": algorithm}
        if "auth" in re.split(r"[\s,]+", fields.get("qop", "")):
            answer = digest(secret, nonce, count, client_nonce, "auth", request)
            quoted["cnonce"] = client_nonce
            plain |= {"qop": "auth", "nc": count}
        else:
            answer = digest(secret, nonce, request)
        quoted["response"] = answer
        if "opaque" in fields:
            quoted["opaque"] = fields["opaque"]
        escaped = {key: re.sub(r'(["\\])', r"\\\1", value) for key, value in quoted.items()}
        pairs = [f'{key}="{value}"' for key, value in escaped.items()]
        return "Digest " + ", ".join([*pairs, *(f"{key}={value}" for key, value in plain.items())])


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        is_http = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except (ValueError, AttributeError, TypeError):  # a port that is not a number; not a string
        is_http = False
    if not is_http:
        # All before an @ may be a password.
        shown = shown_url(re.sub(r"(?s)^(\w+://)?.*@", r"\1", str(url)))
        raise StoreError(f"{shown!r} is not an HTTP URL.")
    if re.search(r"[\s\x00-\x1f\x7f]|[^\x00-\x7f]", url):
        raise StoreError(f"{shown_url(url)!r} has a character that is not allowed in a URL.")
    return parts


def shown_url(url: str) -> str:
    """A URL without user, password, query and fragment.

    >>> shown_url("https://me:secret@example.org/ds/query?key=1")
    'https://example.org/ds/query'
    """
    return re.sub(r"(?<=//)[^/?#]*@", "", str(url)).partition("?")[0].partition("#")[0]


_OF_CONNECTIONS = frozenset(
    ("connection", "content-length", "expect", "host", "te", "transfer-encoding", "upgrade")
)
"""Headers that say how a connection is used."""


def _checked(headers: Mapping[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if str(name).lower() in _OF_CONNECTIONS:
            raise StoreError(f"The header {name} is set by kiprdf: leave it out.")
        if not isinstance(name, str) or not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
            raise StoreError("A name in headers is not allowed in HTTP.")
        if not isinstance(value, str) or re.search(r"[\r\n\x00]|[^\x00-\xff]", value):
            raise StoreError(f"The header {name} has a value that is not allowed in HTTP.")
    return dict(headers)


def _check_secret(token: str) -> None:
    if not re.fullmatch(r"[\x21-\x7e]+", token):
        raise StoreError("The token in auth has a character that is not allowed in HTTP.")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _reason(fault: Exception) -> str:
    """What happened, without the address, which the message names."""
    if isinstance(fault, _CLOSED):
        return "it closed the connection"
    if isinstance(fault, ConnectionRefusedError):
        return "the connection was refused"
    if isinstance(fault, socket.gaierror):
        return "its host name is unknown"
    if isinstance(fault, http.client.HTTPException):
        return f"its answer is not HTTP ({type(fault).__name__})"
    reason = getattr(fault, "strerror", None) or type(fault).__name__
    return str(reason).rstrip(".")
