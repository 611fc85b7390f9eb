"""32 readers and 4 writers for a minute: over HTTP and with ``AsyncNexus``, beside the library."""

from __future__ import annotations

import asyncio
import http.client
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import kiprdf
from tests.benchmarks import data
from tests.benchmarks.measure import Ratio

READERS, WRITERS = 32, 4
SECONDS = 60.0
READ = 'FIND(?d.attributes.risk) WHERE { ?d {type: "Drug", name: :name} }'
WRITE = 'UPSERT { CONCEPT { {type: "Drug", name: :name} SET ATTRIBUTES { risk: :risk } } }'
Call = Callable[[str, dict[str, Any]], Any]


class Load(NamedTuple):
    """The seconds that each read and each write took."""

    reads: list[float]
    writes: list[float]

    @property
    def seconds_each(self) -> float:
        """The reverse of the throughput."""
        return SECONDS / (len(self.reads) + len(self.writes))


def measured(propositions: int) -> Iterator[Ratio]:
    """The reverse of the throughput, and the 99th percentiles; any error ends the benchmark."""
    drugs = data.sizes(propositions)[0]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.ttl"
        data.write_turtle(propositions, path)
        with kiprdf.Nexus.open(Path(folder) / "kb", genesis=False) as nexus:
            nexus.restore(path)
            library = on_threads(lambda: lambda text, values: nexus.execute(text, **values), drugs)
            tasks = asyncio.run(in_tasks(kiprdf.AsyncNexus(nexus), drugs))
        with serving(Path(folder) / "kb") as address:
            served = on_threads(lambda: over_http(address), drugs)
    for name, load, targets in (("AsyncNexus", tasks, (4, 4)), ("HTTP", served, (20, 20))):
        each = (load.seconds_each, library.seconds_each)
        yield Ratio(f"{name}: a request", *each, target=targets[0])
        reads = (percentile(load.reads), percentile(library.reads))
        yield Ratio(f"{name}: p99 of reads", *reads, target=targets[1])
        writes = (percentile(load.writes), percentile(library.writes))
        yield Ratio(f"{name}: p99 of writes", *writes, target=targets[1])


def percentile(seconds: list[float]) -> float:
    """The 99th percentile."""
    return statistics.quantiles(seconds, n=100)[98]


def requests(worker: int, drugs: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """What a worker asks or writes, without end; each has other drugs."""
    for number in itertools.count(worker, READERS + WRITERS):
        name = f"D{number * 7919 % drugs}"
        if worker < READERS:
            yield READ, {"name": name}
        else:
            yield WRITE, {"name": name, "risk": number % 5}


def on_threads(make: Callable[[], Call], drugs: int) -> Load:
    """Every worker on a thread, with its own call."""
    load, faults = Load([], []), []
    end = time.perf_counter() + SECONDS

    def work(worker: int) -> None:
        call, times = make(), (load.reads if worker < READERS else load.writes)
        try:
            for text, values in requests(worker, drugs):
                begun = time.perf_counter()
                if begun >= end:
                    return
                call(text, values)
                times.append(time.perf_counter() - begun)
        except Exception as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(READERS + WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
    return load


async def in_tasks(nexus: kiprdf.AsyncNexus, drugs: int) -> Load:
    """Every worker in a task."""
    load = Load([], [])
    end = time.perf_counter() + SECONDS

    async def work(worker: int) -> None:
        times = load.reads if worker < READERS else load.writes
        for text, values in requests(worker, drugs):
            begun = time.perf_counter()
            if begun >= end:
                return
            await nexus.execute(text, **values)
            times.append(time.perf_counter() - begun)

    await asyncio.gather(*(work(worker) for worker in range(READERS + WRITERS)))
    return load


def over_http(address: str) -> Call:
    """A connection that is kept, and the call that uses it; raises for another status than 200."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
    headers = {"Content-Type": "application/json"}

    def call(text: str, values: dict[str, Any]) -> Any:
        params = {"command": text, "parameters": values}
        body = json.dumps({"method": "execute_kip", "params": params})
        connection.request("POST", "/kip", body, headers)
        answer = connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise RuntimeError(content.decode())
        return json.loads(content)["result"]

    return call


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """``kiprdf serve`` on a folder, in another process; its address."""
    command = [sys.executable, "-m", "kiprdf", "serve", str(folder), "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
