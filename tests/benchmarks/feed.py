"""The feed of a long history: ``python -m tests.benchmarks.feed FOLDER [--commits N]``.

The folder is made when it is absent, in 1 ms of a processor for each commit: nine of ten write a
drug, the tenth a counter, which is an element with a version on each page. The memory is that of
the server after a step.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import kiprdf
from kiprdf.store.commit_index import remove_index
from tests.serve.running import RunningServer, serving

COMMITS = 100_000
DRUG = """UPSERT { CONCEPT { {type: "Drug", name: :name}
    SET ATTRIBUTES {risk: :risk, note: "A note of some words."} } }"""
COUNTER = 'UPSERT { CONCEPT { {type: "Counter", name: "All"} SET ATTRIBUTES {number: :number} } }'
TICKS = 100
"""Of the clock of processes, a second."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.feed")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--commits", type=int, default=COMMITS)
    arguments = parser.parse_args()
    build(arguments.folder, arguments.commits)
    remove_index(arguments.folder / "history")
    with serving(arguments.folder) as server:
        print(f"{'after the start':80} {memory_of(server):6.0f} MB")
        with timed(server, "the first node"):
            root = server.client.get("/feed")
        first = address_in(root.text)
        with timed(server, "the first page"):
            server.client.get(first)
        with timed(server, "the first page, again", times=20):
            for _ in range(20):
                server.client.get(first)
        with timed(server, "the first 1 000 patches"), patches(server, 0) as lines:
            deque(islice((line for line in lines if line == "TC ."), 1_000), maxlen=0)
        with timed(server, "all patches"), patches(server, 0) as lines:
            count = sum(line == "TC ." for line in lines)
        print(f"{count} patches")
        with timed(server, "the last 10 patches"), patches(server, count - 10) as lines:
            assert sum(line == "TC ." for line in lines) == 10
        middle = address_in(server.client.get(f"/feed?from={count // 2}").text)
        for name in ("a page in the middle, and the index of commits", "the page after it"):
            with timed(server, name):
                middle = address_in(server.client.get(middle).text)
        pages, address = 0, first
        with timed(server, "all pages"):
            while address:
                text = server.client.get(address, headers={"Accept": "application/n-triples"}).text
                address, pages = address_in(text), pages + 1
        print(f"{pages} pages")


def build(folder: Path, commits: int) -> None:
    """Make what is missing of the folder, and the text index, which a server would make."""
    with kiprdf.Nexus.open(folder, "http://kb.example/kb/") as nexus:
        types = (f'CONCEPT {{ {{type: "$ConceptType", name: "{name}"}} }}' for name in TYPES)
        nexus.execute(f"UPSERT {{ {' '.join(types)} }}")
        for number in range(nexus.info()["commit"], commits):
            if number % 10:
                nexus.execute(DRUG, name=f"D{number % 20_001}", risk=number)
            else:
                nexus.execute(COUNTER, number=number)
        nexus.build_index()


TYPES = ("Drug", "Counter")


def address_in(text: str) -> str:
    """The address of the next node; "" at the last one."""
    match = re.search("tree#node> <([^>]+)>", text)
    return match[1] if match else ""


@contextmanager
def patches(server: RunningServer, after: int) -> Iterator[Iterator[str]]:
    """The lines of the patches after a commit, while they come."""
    with server.client.stream("GET", f"/feed?format=patch&from={after}") as answer:
        yield answer.iter_lines()


@contextmanager
def timed(server: RunningServer, name: str, times: int = 1) -> Iterator[None]:
    """Print the time of a step that is repeated, and the memory of the server after it."""
    begun, used = time.perf_counter(), seconds_of(server)
    yield
    passed, used = time.perf_counter() - begun, seconds_of(server) - used
    passed, used = passed * 1000 / times, used * 1000 / times
    print(f"{name:46} {passed:8.1f} ms, {used:8.1f} ms of a processor", end="")
    print(f" {memory_of(server):6.0f} MB", flush=True)


def seconds_of(server: RunningServer) -> float:
    """The processor time of a server."""
    fields = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory_of(server: RunningServer) -> float:
    """The memory of a server that is no file, in MB."""
    text = Path(f"/proc/{server.pid}/status").read_text()
    return int(text.partition("RssAnon:")[2].split()[0]) / 1024


if __name__ == "__main__":
    main()
