"""``AsyncNexus``: equal results, and cancelled tasks that stop their queries."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf import AsyncNexus
from tests.cases import each_case
from tests.nexus.support import medical

DRUGS = 'FIND(?d.name) WHERE { ?d {type: "Drug"} }'
LONG_HOPS = """
FIND(COUNT(?a)) WHERE {
  ?a {type: "T"} (?a, "next"{1,64}, ?b) (?b, "next"{1,64}, ?c) (?c, "next"{1,64}, ?d)
}
"""
LONG_SPARQL = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l } ORDER BY ?c ?f ?i ?l"


@each_case(
    "call",
    [
        lambda nexus: nexus.execute_kip({"command": DRUGS}),
        lambda nexus: nexus.execute_kip_readonly({"command": DRUGS}),
        lambda nexus: nexus.execute("FIND(?d) WHERE { ?d {name: :name} }", name="Aspirin"),
        lambda nexus: nexus.find(DRUGS),
        lambda nexus: nexus.answer(DRUGS + " LIMIT 1"),
        lambda nexus: nexus.sparql("ASK { ?s ?p ?o }"),
        lambda nexus: nexus.snapshot(profile="rdf12"),
    ],
)
def test_a_coroutine_returns_what_the_method_returns(
    call: Callable[[Any], Awaitable[Any]],
) -> None:
    nexus = medical()

    async def run() -> Any:
        return await call(AsyncNexus(nexus))

    result, expected = asyncio.run(run()), call(nexus)
    assert (list(result) if isinstance(result, kiprdf.Rows) else result) == (
        list(expected) if isinstance(expected, kiprdf.Rows) else expected
    )


def test_an_error_is_raised_in_the_task() -> None:
    async def run() -> None:
        await AsyncNexus(medical()).execute("FIND(?x)")

    with pytest.raises(kiprdf.KipError) as raised:
        asyncio.run(run())
    assert raised.value.code == "KIP_1001"


def test_the_wait_for_a_thread_is_time_of_the_request() -> None:
    nexus = medical(budget=kiprdf.Budget(timeout_s=0.5))

    async def run() -> None:
        waiting = AsyncNexus(nexus, threads=1)
        first = asyncio.ensure_future(waiting.run(lambda: time.sleep(0.7)))
        await asyncio.sleep(0.05)
        with pytest.raises(kiprdf.KipError, match=r"longer than 0\.5 s"):
            await waiting.sparql("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")
        await first

    asyncio.run(run())


@pytest.fixture(scope="module")
def ring() -> kiprdf.Nexus:
    """200 concepts, each linked to 20 others."""
    nexus = kiprdf.Nexus.memory()
    nexus.execute(
        """UPSERT { CONCEPT { {type: "$ConceptType", name: "T"} }
                    CONCEPT { {type: "$PropositionType", name: "next"} } }"""
    )
    blocks = [f'CONCEPT ?c{i} {{ {{type: "T", name: "c{i}"}} }}' for i in range(200)]
    blocks += [
        f'PROPOSITION {{ (?c{i}, "next", ?c{(i * 7 + step) % 200}) }}'
        for i in range(200)
        for step in range(1, 21)
        if (i * 7 + step) % 200 != i
    ]
    nexus.apply_capsule("UPSERT { " + "\n".join(blocks) + " }")
    return nexus


@pytest.mark.parametrize(
    "call",
    [
        lambda nexus: nexus.execute(LONG_HOPS),
        lambda nexus: nexus.sparql(LONG_SPARQL),
    ],
)
def test_a_cancelled_task_stops_its_query(
    call: Callable[[AsyncNexus], Awaitable[Any]], ring: kiprdf.Nexus
) -> None:
    threads: list[float] = []

    async def run() -> None:
        nexus = AsyncNexus(ring)
        task = asyncio.ensure_future(call(nexus))
        await asyncio.sleep(0.3)
        assert not task.done()
        task.cancel()
        begun = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await task
        # The thread of the query is free again.
        await asyncio.get_running_loop().run_in_executor(None, nexus._threads.shutdown)
        threads.append(time.monotonic() - begun)

    asyncio.run(run())
    # Without cancellation it would take 30 seconds.
    assert threads[0] < 10


def test_a_task_reads_the_past_and_undoes_as_the_methods_do() -> None:
    nexus = kiprdf.Nexus.memory(history=True)
    upsert = 'UPSERT { CONCEPT { {type: "Person", name: "Ada"} SET ATTRIBUTES { age: :age } } }'
    age = 'FIND(?p.attributes.age) WHERE { ?p {type: "Person", name: "Ada"} }'
    asked = AsyncNexus(nexus)

    async def run() -> None:
        await asked.execute(upsert, age=36)
        first = nexus.info()["commit"]
        with asked.acting(author="agent-7", session="s-42"):
            await asked.execute(upsert, age=37)
        with asked.acting(author="agent-8", access="read"), pytest.raises(kiprdf.KipError):
            await asked.execute(upsert, age=38)
        assert [each["principal"] for each in await asked.refusals()] == ["model/agent-8"]
        async with asked.at(first) as past:
            assert await past.execute(age) == [36]
        with pytest.raises(kiprdf.KipError, match="closed"):
            await past.execute(age)
        entry, _ = (await asked.history("C:Person/Ada", key="attributes.age"))["entries"]
        assert (entry["author"], entry["session"]) == ("agent-7", "s-42")
        assert entry["keys"] == [{"key": "attributes.age", "before": 36, "after": 37}]
        changed = await asked.changes(first, author="agent-7")
        assert [commit["seq"] for commit in changed["commits"]] == [first + 1]
        assert (await asked.undo(session="s-42"))["seq"] == first + 2
        assert await asked.execute(age) == [36]

    asyncio.run(run())


def test_each_task_acts_under_its_own_name() -> None:
    nexus = kiprdf.Nexus.memory(history=True)
    asked = AsyncNexus(nexus)

    async def write(author: str) -> None:
        with asked.acting(author=author):
            await asyncio.sleep(0)
            await asked.execute('UPSERT { CONCEPT { {type: "Person", name: :name} } }', name=author)

    async def run() -> None:
        await asyncio.gather(*(write(author) for author in ("Ada", "Bob", "Eve")))

    asyncio.run(run())
    for author in ("Ada", "Bob", "Eve"):
        assert [entry["author"] for entry in nexus.history(f"C:Person/{author}")["entries"]] == [
            author
        ]


def test_a_task_that_is_cancelled_while_a_past_opens_leaves_no_copy(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "brain") as nexus:
        asked = AsyncNexus(nexus)

        async def read() -> None:
            async with asked.at(nexus.info()["commit"]):
                pass

        async def run() -> None:
            task = asyncio.ensure_future(read())
            await asyncio.sleep(0.001)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.get_running_loop().run_in_executor(None, asked._threads.shutdown)
            await asyncio.sleep(0.05)

        asyncio.run(run())
        assert not list((tmp_path / "brain" / "history").glob("past-*"))
