"""EXPECT VERSION: who writes back what another has changed meanwhile is refused (KIP_3005)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from tests.nexus.support import dataset, empty, restored
from tests.threads import together

SCHEMA = 'UPSERT { CONCEPT { {type: "$ConceptType", name: "Counter"} } }'
READ = 'FIND(?c.attributes.n, ?c.metadata._version) WHERE { ?c {type: "Counter", name: "c"} }'
WRITE = (
    'UPSERT { CONCEPT { {type: "Counter", name: "c"} EXPECT VERSION :version '
    "SET ATTRIBUTES { n: :n } } }"
)
THREADS, TIMES = 4, 25


def opened(folder: Path | None) -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(genesis=False) if folder is None else kiprdf.Nexus.open(folder)
    nexus.execute(SCHEMA)
    nexus.execute('UPSERT { CONCEPT { {type: "Counter", name: "c"} SET ATTRIBUTES { n: 0 } } }')
    return nexus


def increment(nexus: kiprdf.Nexus) -> int:
    """Read, add one, write back; retry after each refusal. Returns how often it was refused."""
    refused = 0
    while True:
        (n,), (version,) = nexus.execute(READ)
        try:
            nexus.execute(WRITE, version=version, n=n + 1)
        except kiprdf.KipError as error:
            if error.code != "KIP_3005":
                raise
            refused += 1
        else:
            return refused


def run_together(*jobs: Callable[[], Any]) -> list[Any]:
    results: list[Any] = [None] * len(jobs)

    def run(index: int) -> None:
        results[index] = jobs[index]()

    together(*(partial(run, index) for index in range(len(jobs))))
    return results


@pytest.mark.parametrize("on_disk", [False, True], ids=["memory", "disk"])
def test_threads_that_read_change_and_write_back_lose_no_update(
    on_disk: bool, tmp_path: Path
) -> None:
    with opened(tmp_path / "brain" if on_disk else None) as nexus:
        gate = threading.Barrier(THREADS)

        def job() -> None:
            gate.wait()
            for _ in range(TIMES):
                increment(nexus)

        run_together(*[job] * THREADS)
        assert nexus.execute(READ) == [[THREADS * TIMES], [THREADS * TIMES + 1]]


def test_without_the_guard_the_same_threads_would_lose_updates() -> None:
    """The interleaving that the guard is for, step by step."""
    with opened(None) as nexus:
        (number,), (version,) = nexus.execute(READ)
        assert increment(nexus) == 0
        before = dataset(nexus)
        with pytest.raises(kiprdf.KipError) as caught:
            nexus.execute(WRITE, version=version, n=number + 1)
        assert caught.value.code == "KIP_3005"
        assert dataset(nexus) == before


def test_two_threads_create_with_version_0_and_one_of_them_does() -> None:
    with opened(None) as nexus:
        gate = threading.Barrier(2)
        create = (
            'UPSERT { CONCEPT { {type: "Counter", name: "new"} EXPECT VERSION 0 '
            "SET ATTRIBUTES { by: :who } } }"
        )

        def job(who: int) -> str:
            gate.wait()
            response = nexus.execute_kip({"command": create, "parameters": {"who": who}})
            return response.get("error", {}).get("code", "created")

        results = run_together(lambda: job(1), lambda: job(2))
        assert sorted(results) == ["KIP_3005", "created"]


def test_one_failed_guard_refuses_the_whole_command() -> None:
    with opened(None) as nexus:
        before = dataset(nexus)
        with pytest.raises(kiprdf.KipError):
            nexus.execute(
                'UPSERT { CONCEPT { {type: "Counter", name: "d"} } } '
                'UPSERT { CONCEPT { {type: "Counter", name: "c"} EXPECT VERSION 7 } }'
            )
        assert dataset(nexus) == before


def test_the_version_is_that_before_the_statement_though_a_block_above_changes_it() -> None:
    with opened(None) as nexus:
        nexus.execute(
            'UPSERT { CONCEPT { {type: "Counter", name: "c"} SET ATTRIBUTES { n: 5 } } '
            'CONCEPT { {type: "Counter", name: "c"} EXPECT VERSION 1 SET ATTRIBUTES { m: 6 } } '
            'CONCEPT { {type: "Counter", name: "d"} } '
            'CONCEPT { {type: "Counter", name: "d"} EXPECT VERSION 0 } }'
        )
        assert nexus.execute(READ) == [[5], [2]]


def test_an_element_without_a_version_counts_as_1() -> None:
    origin = empty()
    origin.execute(SCHEMA)
    origin.execute('UPSERT { CONCEPT { {type: "Counter", name: "c"} SET ATTRIBUTES { n: 0 } } }')
    with restored(origin, engine_metadata=False) as nexus:
        nexus.execute(WRITE, version=1, n=9)
        assert nexus.execute(READ) == [[9], [2]]
