"""What questions and commits cost on each engine: ``python -m tests.engines.scale 10000``.

It prints milliseconds and requests, with the latency of a network simulated by a proxy.
"""

from __future__ import annotations

import argparse
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from kiprdf import Nexus
from tests.engines.servers import KINDS, Engine, running

LINKS_PER_PERSON = 5
LATENCIES_MS = (0, 1, 10, 100)
COMMANDS = {
    "FIND from a name": 'FIND(?p) WHERE { ?p {type: "Person", name: "p7"} }',
    "two hops from a name": (
        'FIND(?r.name) WHERE { ?p {type: "Person", name: "p7"} (?p, "knows"{1,2}, ?r) }'
    ),
    "FILTER over a type": (
        'FIND(COUNT(?p)) WHERE { ?p {type: "Person"} FILTER(?p.attributes.age == 30) }'
    ),
    "UPSERT of one concept": (
        'UPSERT { CONCEPT { {type: "Person", name: :name} SET ATTRIBUTES { age: 1 } } }'
    ),
    "UPDATE of one concept": (
        "UPDATE ?p SET ATTRIBUTES { n: ADD(COALESCE(?p.attributes.n, 0), 1) } "
        'WHERE { ?p {type: "Person", name: "p8"} }'
    ),
}


def fill(nexus: Nexus, propositions: int) -> float:
    """Write people who know each other; the seconds that it took."""
    began = time.monotonic()
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Person"} } '
        'CONCEPT { {type: "$PropositionType", name: "knows"} } }'
    )
    count = propositions // LINKS_PER_PERSON
    blocks = [
        f'CONCEPT ?p{n} {{ {{type: "Person", name: "p{n}"}} SET ATTRIBUTES {{ age: {n % 90} }} }}'
        for n in range(count)
    ]
    blocks += [
        f'PROPOSITION {{ (?p{n}, "knows", ?p{(n + step * 13 + 1) % count}) }}'
        for n in range(count)
        for step in range(LINKS_PER_PERSON)
    ]
    nexus.apply_capsule(f"UPSERT {{ {' '.join(blocks)} }}")
    return time.monotonic() - began


@contextmanager
def delayed(engine: Engine, milliseconds: float) -> Iterator[dict[str, Any]]:
    """Arguments of ``Nexus.connect`` that lead through a proxy, which delays each request."""
    listener = socket.create_server(("127.0.0.1", 0))
    host = f"127.0.0.1:{listener.getsockname()[1]}"

    def relay(source: socket.socket, target: socket.socket, seconds: float) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 20):
                time.sleep(seconds)
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", engine.port))
                for side in (client, server):
                    side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for ends in ((client, server, milliseconds / 1000), (server, client, 0.0)):
                    threading.Thread(target=relay, args=ends, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    arguments = dict(engine.arguments)
    for key in ("target", "update_url"):
        arguments[key] = arguments[key].replace(urlsplit(arguments[key]).netloc, host)
    try:
        yield arguments
    finally:
        listener.close()


def measured(nexus: Nexus, command: str, times: int) -> tuple[float, int]:
    """The median of the milliseconds of a command, and its requests."""
    endpoint = getattr(nexus._store, "endpoint", None)
    requests = 0
    if endpoint is not None:
        send: Callable[..., Any] = type(endpoint)._sent.__get__(endpoint)

        def counted(*arguments: Any, **options: Any) -> Any:
            nonlocal requests
            requests += 1
            return send(*arguments, **options)

        endpoint._sent = counted
    seconds = []
    for number in range(times):
        parameters = {"name": f"new {time.time_ns()} {number}"} if ":name" in command else {}
        began = time.monotonic()
        nexus.execute(command, **parameters)
        seconds.append(time.monotonic() - began)
    return 1000 * median(seconds), requests // times


def table(name: str, nexus: Nexus, latency: float) -> None:
    for title, command in COMMANDS.items():
        milliseconds, requests = measured(nexus, command, 5)
        print(f"| {name} | {latency} | {title} | {milliseconds:.1f} | {requests} |", flush=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.engines.scale", description=__doc__)
    parser.add_argument("propositions", type=int)
    parser.add_argument("names", nargs="*", help="all installed servers, if none is named")
    options = parser.parse_args(arguments)
    print("| engine | latency | command | ms | requests |\n|---|---|---|---|---|")
    with Nexus.memory() as nexus:
        print(f"embedded: filled in {fill(nexus, options.propositions):.1f} s")
        table("embedded", nexus, 0)
    for name in options.names or [name for name, kind in KINDS.items() if kind.start]:
        with running(name) as engine:
            with Nexus.connect(**engine.arguments) as nexus:
                print(f"{name}: filled in {fill(nexus, options.propositions):.1f} s", flush=True)
                table(name, nexus, 0)
            for latency in LATENCIES_MS[1:]:
                with delayed(engine, latency) as through, Nexus.connect(**through) as nexus:
                    table(name, nexus, latency)
    return 0


if __name__ == "__main__":
    sys.exit(main())
