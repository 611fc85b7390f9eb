"""``AsyncNexus``: equal results, and cancelled tasks that stop their queries."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import kiprdf
from kiprdf import AsyncNexus
from tests.nexus.support import medical

DRUGS = 'FIND(?d.name) WHERE { ?d {type: "Drug"} }'
LONG_HOPS = """
FIND(COUNT(?a)) WHERE {
  ?a {type: "T"} (?a, "next"{1,64}, ?b) (?b, "next"{1,64}, ?c) (?c, "next"{1,64}, ?d)
}
"""
LONG_SPARQL = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l } ORDER BY ?c ?f ?i ?l"


@pytest.mark.parametrize(
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
