"""Runs the application with uvicorn until a signal."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from kiprdf.serve.application import Server, asgi_app
from kiprdf.serve.replies import HttpError, error_response


class _Protocol(HttpToolsProtocol):
    """HTTP whose refusals of malformed requests are errors in JSON, as all others."""

    def send_400_response(self, msg: str) -> None:
        error = error_response(HttpError(400, msg, "Send a request of HTTP/1.1."))
        error.headers["Connection"] = "close"
        error.headers["X-Content-Type-Options"] = "nosniff"
        fields = b"".join(b"%s: %s\r\n" % field for field in error.raw_headers)
        self.transport.write(b"HTTP/1.1 400 Bad Request\r\n" + fields + b"\r\n" + error.body)
        self.transport.close()


class _Uvicorn(uvicorn.Server):
    """Prints its address when it answers, and ends with status 0 after a signal."""

    def __init__(self, config: uvicorn.Config, server: Server) -> None:
        super().__init__(config)
        self._server = server
        server.metrics.open_connections = lambda: len(self.server_state.connections)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.should_exit:
            return
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
        if self._server.gate is not None:
            self._server.gate.is_closing = True
        super().handle_exit(sig, frame)


def serve(server: Server, port: int, shutdown_timeout: float = 30) -> None:
    """Answer requests until SIGTERM or SIGINT; running requests end first.

    Raises ``OSError`` for an address that cannot be bound.
    """
    listening = _listen(server.options.host, port)
    config = uvicorn.Config(
        asgi_app(server),
        host=server.options.host,
        http=_Protocol,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=max(1, round(shutdown_timeout)),
    )
    with listening:
        asyncio.run(_Uvicorn(config, server).serve([listening]))


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
