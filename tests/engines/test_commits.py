"""Commits on real engines: whole, counted once, and none lost."""

from __future__ import annotations

import json
import subprocess
import sys

from kiprdf import Nexus
from tests.engines.servers import Engine

COUNTER = """UPSERT {
    CONCEPT { {type: "$ConceptType", name: "Counter"} }
    CONCEPT { {type: "Counter", name: "c"} SET ATTRIBUTES { n: 0 } }
}"""
INCREMENT = """UPDATE ?c SET ATTRIBUTES { n: ADD(?c.attributes.n, 1) }
    WHERE { ?c {type: "Counter", name: "c"} }"""
VALUES = 'FIND(?c.attributes.n, ?c.metadata._version) WHERE { ?c {type: "Counter", name: "c"} }'
WRITER = """
import json, sys
from kiprdf import Nexus

arguments, command, number = json.loads(sys.argv[1])
with Nexus.connect(**arguments) as nexus:
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(number):
        nexus.execute(command)
"""


def writer(server: Engine, command: str, number: int) -> subprocess.Popen[str]:
    """A process that runs a command some times, once it is sent a line."""
    arguments = json.dumps([server.arguments, command, number])
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def begin(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_two_processes_that_increment_one_counter_lose_nothing(server: Engine) -> None:
    with Nexus.connect(**server.arguments) as nexus:
        nexus.execute(COUNTER)
        before = nexus.info()["commit"]
        processes = [writer(server, INCREMENT, 10) for _ in range(2)]
        for process in processes:
            begin(process)
        for _ in range(5):
            nexus.execute(INCREMENT)
        assert [process.wait(60) for process in processes] == [0, 0]
        assert nexus.find(VALUES).tuples == ((25, 26),)
        assert nexus.info()["commit"] == before + 25
