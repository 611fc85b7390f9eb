"""What questions and commits cost on each engine: ``python -m tests.engines.scale 10000``.

It prints milliseconds and requests, with the latency of a network simulated by a proxy.
"""

from __future__ import annotations

import argparse
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Queue
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from kiprdf import Nexus
from tests.benchmarks import data
from tests.engines import bulk
from tests.engines.servers import KINDS, Engine, running

LATENCIES_MS = (0, 1, 10, 100)
COMMANDS = {
    "FIND from a name": 'FIND(?d) WHERE { ?d {type: "Drug", name: :name} }',
    "one hop from a name": 'FIND(?s.name) WHERE { ({type: "Drug", name: :name}, "treats", ?s) }',
    "hops {1,3} from a name": (
        'FIND(?e.name) WHERE { ({type: "Drug", name: :name}, "interacts_with"{1,3}, ?e) }'
    ),
    "COUNT with a FILTER over a type": (
        'FIND(COUNT(?d)) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.risk > 3) }'
    ),
    "UPSERT of one concept": (
        'UPSERT { CONCEPT { {type: "Drug", name: :new} SET ATTRIBUTES { risk: 1 } } }'
    ),
    "UPDATE of one concept": (
        "UPDATE ?d SET ATTRIBUTES { risk: ADD(?d.attributes.risk, 1) } "
        'WHERE { ?d {type: "Drug", name: :name} }'
    ),
}


@contextmanager
def delayed(engine: Engine, milliseconds: float) -> Iterator[dict[str, Any]]:
    """Arguments of ``Nexus.connect`` that lead through a proxy, which delays each request."""
    listener = socket.create_server(("127.0.0.1", 0))
    host = f"127.0.0.1:{listener.getsockname()[1]}"

    def relay(source: socket.socket, target: socket.socket, seconds: float) -> None:
        """Each block arrives later by the latency, but does not hold up the next one."""
        travelling: Queue[tuple[float, bytes]] = Queue()
        threading.Thread(target=deliver, args=(travelling, target), daemon=True).start()
        with suppress(OSError):
            while data := source.recv(1 << 20):
                travelling.put((time.monotonic() + seconds, data))
        travelling.put((time.monotonic(), b""))

    def deliver(travelling: Queue[tuple[float, bytes]], target: socket.socket) -> None:
        with suppress(OSError):
            while True:
                arrival, data = travelling.get()
                time.sleep(max(0.0, arrival - time.monotonic()))
                if not data:
                    return target.shutdown(socket.SHUT_RDWR)
                target.sendall(data)

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
    endpoint = getattr(nexus.store, "endpoint", None)
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
        names = {"name": f"D{8 * number + 8}", "new": f"new {time.time_ns()}"}
        parameters: dict[str, Any] = {
            name: value for name, value in names.items() if f":{name}" in command
        }
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
    names = options.names or [name for name, kind in KINDS.items() if kind.start]
    print("| engine | latency | command | ms | requests |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        snapshot = Path(folder) / "data.ttl"
        data.write_turtle(options.propositions, snapshot)
        nexus = Nexus.memory(genesis=False)
        nexus.restore(snapshot)
    # Before the commands write to it.
    files = {name: bulk.write(name, nexus) for name in names}
    table("embedded", nexus, 0)
    nexus.close()
    for name, path in files.items():
        with running(name) as engine:
            began = time.monotonic()
            bulk.load(engine, path)
            path.unlink()
            print(f"{name}: loaded in {time.monotonic() - began:.1f} s", flush=True)
            for latency in LATENCIES_MS:
                with (
                    delayed(engine, latency) as through,
                    Nexus.connect(**through, genesis=False) as nexus,
                ):
                    table(name, nexus, latency)
    return 0


if __name__ == "__main__":
    sys.exit(main())
