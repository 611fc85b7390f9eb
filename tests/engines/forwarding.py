"""A proxy in front of an engine, whose answers a test may replace."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from kiprdf import Nexus
from tests.engines.servers import Engine
from tests.store.answering import Reply, Request, answering

_KEPT = ("Accept", "Content-Type")


def at(proxy_url: str, target: str) -> str:
    """The URL of an engine, at the address of the proxy."""
    return f"http://{urlsplit(proxy_url).netloc}{urlsplit(target).path}"


def forward(server: Engine, request: Request) -> Reply:
    """The answer of an engine, without its name."""
    url = f"http://{urlsplit(server.target).netloc}{request.path}"
    headers = {name: value for name, value in request.headers.items() if name in _KEPT}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, request.body, headers)) as answer:
            kind = {"Content-Type": answer.headers["Content-Type"] or "text/plain"}
            return Reply(answer.status, answer.read(), kind)
    except urllib.error.HTTPError as fault:
        return Reply(fault.code, fault.read(), {"Content-Type": "text/plain"})


def first_rows(reply: Reply, most: int) -> Reply:
    """An answer with its first rows only, if it has rows."""
    if reply.headers["Content-Type"].startswith("text/tab-separated-values"):
        return reply._replace(body=b"".join(reply.body.splitlines(keepends=True)[: 1 + most]))
    if b'"bindings"' not in reply.body:
        return reply
    answer = json.loads(reply.body)
    del answer["results"]["bindings"][most:]
    return reply._replace(body=json.dumps(answer).encode())


@contextmanager
def connected(server: Engine, reply: Callable[[Request], Reply]) -> Iterator[Nexus]:
    """A nexus in an engine behind a proxy that answers by ``reply``."""
    with answering(reply) as listening:
        urls = [at(listening.url, target) for target in (server.target, str(server.update_url))]
        with Nexus.connect(*urls, default_graph=server.default_graph) as nexus:
            yield nexus
