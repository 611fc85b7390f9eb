"""Requests byte by byte, as no client library sends them."""

from __future__ import annotations

import json
import socket
from typing import Any

from tests.serve.running import RunningServer


def connect(server: RunningServer) -> socket.socket:
    """A connection to a server."""
    host, port = server.address.removeprefix("http://").strip("/").split(":")
    return socket.create_connection((host, int(port)), timeout=30)


def head(method: str, path: str, *fields: str, host: str = "localhost") -> bytes:
    """The line and the fields of a request."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", *fields]
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode("latin-1")


def json_post(path: str, content: Any, *fields: str) -> bytes:
    """POST with a body in JSON."""
    body = json.dumps(content).encode()
    described = ("Content-Type: application/json", f"Content-Length: {len(body)}")
    return head("POST", path, *described, *fields) + body


def kip_call(**params: Any) -> bytes:
    """POST /kip."""
    return json_post("/kip", {"method": "execute_kip", "params": params})


def until_closed(connection: socket.socket) -> bytes:
    """All that a server sends until it closes the connection."""
    chunks = []
    try:
        while chunk := connection.recv(65_536):
            chunks.append(chunk)
    except ConnectionResetError:
        pass
    return b"".join(chunks)


def raw_request(server: RunningServer, method: str, path: str, *fields: str) -> str:
    """The answer to a request whose path no client changes."""
    host = server.address.removeprefix("http://").strip("/")
    with connect(server) as connection:
        connection.sendall(head(method, path, "Connection: close", *fields, host=host))
        return until_closed(connection).decode("utf-8", "replace")
