"""A nexus over HTTP: KIP, SPARQL, linked data, and pages for people (docs/how-to/serve.md).

``application`` joins the ``routes``, whose handlers share the ``state``, behind ``security`` (host,
origin), ``access`` (who sends a request) and ``observation`` (log, numbers, audit); handlers answer
on threads. ``scopes`` finds the application of a request where several nexuses are served.
``explorer`` makes the pages for people; ``server`` runs the application with uvicorn,
and ``connections`` limits what is open. ``mcp_route`` is /mcp, ``local`` lets clients on this
machine find the server. ``http`` has what they share: accepted types, bodies, replies.
"""

from __future__ import annotations

import os
from typing import Any

from kiprdf.nexus import Nexus

try:
    from kiprdf.serve.application import asgi_app
    from kiprdf.serve.options import Options
    from kiprdf.serve.state import Server, Service
except ModuleNotFoundError as fault:
    if fault.name is None or fault.name.startswith("kiprdf"):
        raise
    raise ImportError("kiprdf.serve needs packages: pip install 'kiprdf[serve]'") from fault

__all__ = ["app", "run"]


def app(
    nexus: Nexus,
    *,
    token: str | None = None,
    read_token: str | None = None,
    principals: str | os.PathLike[str] | None = None,
    read_only: bool = False,
    base_url: str | None = None,
    title: str | None = None,
    max_body: int = 2_097_152,
    allow_hosts: tuple[str, ...] = (),
    cors: tuple[str, ...] = (),
    explorer: bool = True,
    mcp: bool = True,
    mib: bool = False,
    host: str = "127.0.0.1",
) -> Any:
    """The ASGI application of a nexus, which the caller closes.

    ``token`` reads and writes, ``read_token`` reads, ``principals`` is a file of others; without
    any of them, everybody may do what ``read_only`` allows. ``mib`` adds the memory backend of the
    benchmark MIB. ``base_url`` is the public address.
    ``host`` is the address it is bound to: on a loopback address only requests to its names and
    ``allow_hosts`` are answered, on another one without a token also those to this machine's names
    and addresses. Raises ``ValueError`` for unusable arguments.
    """
    given = locals()
    return asgi_app(Server(given.pop("nexus"), Service(Options(**given))))


def run(nexus: Nexus, *, port: int = 8080, host: str = "127.0.0.1", **options: Any) -> None:
    """Serve a nexus until SIGTERM or SIGINT; options as in ``app``. The caller closes the nexus."""
    from kiprdf.serve.server import serve

    service = Service(Options(host=host, **options))
    serve(asgi_app(Server(nexus, service)), service, port)
