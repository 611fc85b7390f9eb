"""A server on loopback whose answers a test writes out."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import NamedTuple

RESULTS = "application/sparql-results+json"


class Request(NamedTuple):
    path: str
    headers: dict[str, str]
    body: bytes


class Reply(NamedTuple):
    """``length`` is what the header promises; without it the length of the body."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = MappingProxyType({})
    length: int | None = None


class Server(NamedTuple):
    url: str
    requests: list[Request]
    clients: set[int]
    """The ports of the connections that came."""


def rows(name: str, *values: str) -> Reply:
    """The answer to a SELECT of one variable."""
    bindings = [{name: {"type": "literal", "value": value}} for value in values]
    body = json.dumps({"head": {"vars": [name]}, "results": {"bindings": bindings}})
    return Reply(200, body.encode(), {"Content-Type": RESULTS})


@contextmanager
def answering(reply: Callable[[Request], Reply]) -> Iterator[Server]:
    """A server that answers each POST by a function."""
    server = Server("", [], set())

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            request = Request(self.path, dict(self.headers), self.rfile.read(size))
            server.requests.append(request)
            server.clients.add(self.client_address[1])
            answer = reply(request)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            length = len(answer.body) if answer.length is None else answer.length
            self.send_header("Content-Length", str(length))
            self.end_headers()
            with suppress(ConnectionError):  # the client has seen enough
                self.wfile.write(answer.body)
            self.close_connection = length != len(answer.body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.daemon_threads = True
    thread = threading.Thread(target=listener.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield server._replace(url=f"http://127.0.0.1:{listener.server_address[1]}/ds")
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()
