"""The records of a server: a log line and metrics for each request, and an audit log of writes."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kiprdf.actors import Actor
from kiprdf.dataclasses import dataclass
from kiprdf.principals import Principal

LOGGER = logging.getLogger("kiprdf.serve")
AUDIT_BYTES = 10_000_000
AUDIT_FILES = 5
_KEY = "kiprdf.request"


@dataclass
class RequestInfo:
    """What the parts of the application know of a request: who sent it, and what was answered."""

    principal: Principal | None = None
    session: str = ""
    has_token: bool = False
    """Whether the principal has shown a token."""
    scope: str | None = None
    """The scope that it writes, where several are served."""
    rows: int | None = None
    commit: int | None = None

    @property
    def label(self) -> str:
        """What its token is for, in the logs."""
        if self.principal is None or not self.has_token:
            return "none"
        return "write" if self.principal.access == "admin" else self.principal.access

    @property
    def name(self) -> str | None:
        """The name of its principal."""
        return None if self.principal is None else self.principal.name

    @property
    def actor(self) -> Actor:
        """Who acts; who has shown no token reads at most."""
        return (
            Actor(access="read") if self.principal is None else self.principal.actor(self.session)
        )


def info_of(scope: Scope) -> RequestInfo:
    """What is known of a request."""
    info: RequestInfo = scope[_KEY]
    return info


class Metrics:
    """Numbers of requests, for Prometheus."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.seconds: dict[str, float] = defaultdict(float)
        self.rows = 0
        self.elements = (-1, 0)
        """A commit, and the number of elements in it; none where several nexuses are served."""
        self.sync: str | None = None
        self.open_requests = 0
        self.open_connections: Callable[[], int] | None = None
        """Counts the connections, where this is a server and no part of another application."""

    def text(self) -> str:
        """The Prometheus text format, 0.0.4."""
        commit, elements = self.elements
        lines = ["# TYPE kiprdf_requests_total counter"]
        for (route, method, status), number in sorted(self.requests.items()):
            labels = f'route="{route}",method="{method}",status="{status}"'
            lines.append(f"kiprdf_requests_total{{{labels}}} {number}")
        lines.append("# TYPE kiprdf_request_seconds_total counter")
        for route, seconds in sorted(self.seconds.items()):
            lines.append(f'kiprdf_request_seconds_total{{route="{route}"}} {seconds:.6f}')
        lines += [
            "# TYPE kiprdf_rows_total counter",
            f"kiprdf_rows_total {self.rows}",
            "# TYPE kiprdf_open_requests gauge",
            f"kiprdf_open_requests {self.open_requests}",
            *self._connections(),
        ]
        if commit >= 0:
            lines += [
                "# TYPE kiprdf_commit gauge",
                f"kiprdf_commit {commit}",
                "# TYPE kiprdf_elements gauge",
                f"kiprdf_elements {elements}",
            ]
        if self.sync is not None:
            lines += ["# TYPE kiprdf_sync gauge", f'kiprdf_sync{{mode="{self.sync}"}} 1']
        return "\n".join(lines) + "\n"

    def _connections(self) -> list[str]:
        if self.open_connections is None:
            return []
        number = self.open_connections()
        return ["# TYPE kiprdf_open_connections gauge", f"kiprdf_open_connections {number}"]


class Observer:
    """Logs and counts each request of an application; ``routes`` are its known first segments."""

    def __init__(self, app: ASGIApp, metrics: Metrics, routes: frozenset[str]) -> None:
        self._app = app
        self._metrics = metrics
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, status = time.perf_counter(), 0
        scope[_KEY] = RequestInfo()
        self._metrics.open_requests += 1

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_and_note)
        finally:
            self._metrics.open_requests -= 1
            self._note(scope, status, time.perf_counter() - begun)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        """Count and log a request."""
        info = info_of(scope)
        first = scope["path"].removeprefix(scope.get("root_path", "")).split("/")[1:2]
        route = f"/{first[0]}" if first and first[0] in self._routes else "other"
        # The method is any text that a client sends.
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._metrics.requests[route, method, status] += 1
        self._metrics.seconds[route] += seconds
        self._metrics.rows += info.rows or 0
        path = scope.get("raw_path", b"").partition(b"?")[0].decode("ascii", "backslashreplace")
        fields = {
            "method": method,
            "path": path,
            "status": status,
            "ms": round(seconds * 1000, 1),
            "rows": info.rows,
            "commit": info.commit,
            "principal": info.name,
            "token": info.label,
        }
        LOGGER.info("request", extra={"request": fields})


_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"))


class TextFormatter(logging.Formatter):
    """One line of text for each request."""

    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "request", None)
        if fields is None:
            return super().format(record)
        numbers = " ".join(
            f"{name}={fields[name]}"
            for name in ("rows", "commit", "principal")
            if fields[name] is not None
        )
        start = "{method} {path} {status} {ms} ms".format(**fields)
        return " ".join(filter(None, (start, numbers, f"token={fields['token']}")))


class JsonFormatter(logging.Formatter):
    """One JSON object for each request."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields = getattr(record, "request", None) or {"message": super().format(record)}
        return json.dumps({"time": moment, "level": record.levelname, **fields})


class AuditLog:
    """A file with a JSON line for each write, rotated at 10 MB."""

    def __init__(self, path: Path) -> None:
        self._handler = RotatingFileHandler(
            path, maxBytes=AUDIT_BYTES, backupCount=AUDIT_FILES, encoding="utf-8"
        )

    def write(self, info: RequestInfo, statement: bytes, receipt: Any) -> None:
        """Append a line: time, principal, session, token, SHA-256 of the statement, receipt."""
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "principal": info.name,
            "session": info.session,
            "token": info.label,
            "statement": hashlib.sha256(statement).hexdigest(),
            "receipt": receipt,
        }
        if info.scope is not None:
            line["scope"] = info.scope
        record = LOGGER.makeRecord(
            LOGGER.name, logging.INFO, "", 0, json.dumps(line), (), None, None
        )
        self._handler.handle(record)
