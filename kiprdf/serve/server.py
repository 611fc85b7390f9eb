"""Runs the application with uvicorn until a signal."""

from __future__ import annotations

import asyncio
import ipaddress
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from secrets import token_hex, token_urlsafe
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from kiprdf.nexus import Nexus
from kiprdf.serve.access import CONNECTION
from kiprdf.serve.application import asgi_app
from kiprdf.serve.connections import ACCEPTED_AT_ONCE, Connections, most_connections
from kiprdf.serve.http import HttpError, error_response
from kiprdf.serve.local import Local, noted
from kiprdf.serve.options import Options
from kiprdf.serve.state import Server, Service

HEAD_BYTES = 65_536
"""A longer head of a request, its line and fields, is refused."""
RECEIVE_SECONDS = 60.0
"""The time that a client has to send a request; then its connection is closed."""
MOST_BESIDE = 33_554_432
"""The size of a message of another local client, in bytes."""
BACKLOG = 1024
"""The connections that wait until they are accepted."""
_SWITCH_SECONDS = 0.0005
"""With Python's own interval, dozens of busy threads would delay the event loop for seconds."""


class _Protocol(HttpToolsProtocol):
    """HTTP with limits of size and time, whose refusals are errors in JSON, as all others.

    A request of more than ``most_bytes`` with its framing ends its connection.
    """

    def __init__(
        self, *arguments: Any, most_bytes: int, connections: Connections, **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self._most_bytes = most_bytes
        self._connections = connections
        self.address = ""
        self._identity = f"connection-{token_hex(4)}"
        self._received = 0
        self._head_bytes = 0
        self._is_in_head = True
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.address = str((transport.get_extra_info("peername") or ("",))[0])
        if not self._connections.add(self):
            self.app = partial(_answer_busy, self.app)
            if self._connections.is_full():
                transport.close()
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self._connections.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)
        if self._is_in_head and self._received > HEAD_BYTES:
            self._refuse_head()
        elif self._received > self._most_bytes:
            self.transport.abort()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope[CONNECTION] = self._identity  # type: ignore[literal-required]
        self._received, self._head_bytes, self._is_in_head = 0, 0, True
        self._start_timer()

    def on_header(self, name: bytes, value: bytes) -> None:
        # What follows a body in chunks is not a field of the request that was checked.
        if self._is_in_head:
            self._head_bytes += len(name) + len(value) + len(": \r\n")
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        # The head and what follows it may have come in one piece.
        line = self.parser.get_method() + b" " + self.url + b" HTTP/1.1\r\n"
        if self._head_bytes + len(line) + len("\r\n") > HEAD_BYTES:
            self._refuse_head()
            raise ValueError("The head is refused.")
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._stop_timer()
        self._connections.renew(self)
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, msg, "Send a request of HTTP/1.1.")

    def _refuse_head(self) -> None:
        message = f"The head of the request is longer than {HEAD_BYTES} bytes."
        self._refuse(431, message, "Send a long query as the body of a POST.")

    def _refuse(self, status: int, message: str, hint: str) -> None:
        if self.transport.is_closing():
            return
        refusal = HttpError(status, message, hint)
        refusal.is_malformed_http = True
        error = error_response(refusal)
        error.headers["Connection"] = "close"
        error.headers["X-Content-Type-Options"] = "nosniff"
        fields = b"".join(b"%s: %s\r\n" % field for field in error.raw_headers)
        self.transport.write(STATUS_LINE[status] + fields + b"\r\n" + error.body)
        self.transport.close()

    @property
    def is_waiting(self) -> bool:
        """Whether the connection has no running request."""
        return self._timer is not None or self.cycle is None or self.cycle.response_complete

    def close(self) -> None:
        """Close the connection, which another one needs."""
        self.transport.close()

    def _start_timer(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(RECEIVE_SECONDS, self.transport.close)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


async def _answer_busy(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer what shows that the server lives; all else is 503, at once."""
    if scope["type"] == "http" and scope["path"] not in ("/health", "/ready"):
        headers = {
            "Connection": "close",
            "Retry-After": "1",
            "X-Content-Type-Options": "nosniff",
        }
        message = "The server has too many connections."
        busy = HttpError(503, message, "Send the request again later.", headers)
        await error_response(busy)(scope, receive, send)
        return
    await app(scope, receive, send)


class _Uvicorn(uvicorn.Server):
    """Prints its address when it answers, and ends with status 0 after a signal."""

    def __init__(self, config: uvicorn.Config, service: Service, listening: socket.socket) -> None:
        super().__init__(config)
        self._listening = listening
        self._service = service
        service.metrics.open_connections = lambda: len(self.server_state.connections)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.should_exit:
            return
        file = self._service.options.file
        if file is not None and hasattr(signal, "SIGHUP"):  # not on Windows
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, file.reload)
        # The number that the event loop accepts at once is small; that which wait is not.
        self._listening.listen(BACKLOG)
        port = self.servers[0].sockets[0].getsockname()[1]
        host = self.config.host
        shown = f"[{host}]" if ":" in host else host
        print(f"http://{shown}:{port}/", flush=True)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # The signal is handled; uvicorn would raise it again after the shutdown.
        numbers = (signal.SIGINT, signal.SIGTERM)
        former = [signal.signal(number, self.handle_exit) for number in numbers]
        try:
            yield
        finally:
            for number, handler in zip(numbers, former, strict=True):
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._service.is_closing = True
        super().handle_exit(sig, frame)


class _Beside(uvicorn.Server):
    """Leaves signals to the program that it runs beside."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextmanager
def beside(nexus: Nexus, folder: Path) -> Iterator[Local]:
    """Serve a nexus in a folder to other clients of MCP, on a thread of this process, in a block.

    Where it listens is noted in the folder; nobody else has a token.
    """
    options = Options(token=token_urlsafe(), explorer=False, max_body=MOST_BESIDE)
    service = Service(options)
    listening = _listen(service.options.host, 0)
    server = _Beside(_config(asgi_app(Server(nexus, service)), service, 1))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])))
    local = _local(listening, service)
    with listening, noted(folder, local):
        thread.start()
        try:
            yield local
        finally:
            server.should_exit = service.is_closing = True
            thread.join()


def _local(listening: socket.socket, service: Service) -> Local:
    """Where this machine reaches a server, and its token for local clients."""
    host, port = listening.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:
        host = "::1" if ":" in host else "127.0.0.1"
    host = f"[{host}]" if ":" in host else host
    return Local(f"http://{host}:{port}", service.options.local_token)


def serve(
    app: ASGIApp,
    service: Service,
    port: int,
    shutdown_timeout: float = 30,
    folder: Path | None = None,
) -> None:
    """Answer requests until SIGTERM or SIGINT; running requests end first.

    A ``folder`` that this process holds has a note of the address for local clients of MCP. Raises
    ``OSError`` for an address that cannot be bound.
    """
    listening = _listen(service.options.host, port)
    config = _config(app, service, max(1, round(shutdown_timeout)))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    note = nullcontext() if folder is None else noted(folder, _local(listening, service))
    try:
        with listening, note:
            asyncio.run(_Uvicorn(config, service, listening).serve([listening]))
    finally:
        sys.setswitchinterval(interval)


def _config(app: ASGIApp, service: Service, shutdown_seconds: int) -> uvicorn.Config:
    # A body in chunks of one byte has five bytes of framing for each.
    protocol: Any = partial(
        _Protocol,
        most_bytes=HEAD_BYTES + 8 * service.options.max_body,
        connections=Connections(most_connections(service.files)),
    )
    return uvicorn.Config(
        app,
        host=service.options.host,
        http=protocol,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=ACCEPTED_AT_ONCE,
        timeout_graceful_shutdown=shutdown_seconds,
    )


def _listen(host: str, port: int) -> socket.socket:
    """A socket that listens on an address; its port is free if 0 was given."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.create_server(address[:2], family=family)
    except OSError as fault:
        raise OSError(f"The server cannot listen on {host}:{port}: {fault.strerror}.") from None
    # Connections inherit it. Without it, the body of an answer waits 40 ms for an acknowledgement.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
