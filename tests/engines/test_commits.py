"""Commits on real engines: whole, counted once, and none lost."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Timer

import pytest

from kiprdf import KipError, Nexus
from kiprdf.execution.transaction import Transaction
from kiprdf.store import remote_commits
from kiprdf.store.http import EndpointFault
from tests.engines.forwarding import at, connected, forward
from tests.engines.servers import Engine
from tests.long_runs import amount
from tests.programs import Piped
from tests.store.answering import Reply, Request, answering

KILLS = int(os.environ.get("KIPRDF_KILLS", 2))
ADDED = amount("ADDED", 2)
LARGE = {"virtuoso": 1_500}
"""The concepts of a commit that an engine takes in pieces; others take any at once."""

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


def writer(server: Engine, command: str, number: int) -> Piped:
    """A process that runs a command some times, once it is sent a line."""
    process = Piped(["-c", WRITER, json.dumps([server.arguments, command, number])])
    assert process.readline() == "ready\n"
    return process


def test_two_processes_that_increment_one_counter_lose_nothing(server: Engine) -> None:
    with Nexus.connect(**server.arguments) as nexus:
        nexus.execute(COUNTER)
        before = nexus.info()["commit"]
        processes = [writer(server, INCREMENT, ADDED) for _ in range(2)]
        for process in processes:
            process.send()
        for _ in range(5):
            nexus.execute(INCREMENT)
        assert [process.finish() for process in processes] == [("", "")] * 2
        assert [process.status for process in processes] == [0, 0]
        added = 2 * ADDED + 5
        assert nexus.find(VALUES).tuples() == ((added, added + 1),)
        assert nexus.info()["commit"] == before + added


def test_a_transaction_runs_again_where_another_process_wrote_meanwhile(server: Engine) -> None:
    with Nexus.connect(**server.arguments) as nexus, Nexus.connect(**server.arguments) as other:
        nexus.execute(COUNTER)
        before, read = nexus.info()["commit"], []

        def add_one(tx: Transaction) -> None:
            read.append(tx.find(VALUES).tuples()[0][0])
            if len(read) == 1:
                other.execute(INCREMENT)
            counter = {"type": "Counter", "name": "c", "attributes": {"n": read[-1] + 1}}
            tx.write([counter])

        nexus.transaction(add_one)
        assert (read, nexus.find(VALUES).tuples()) == ([0, 1], ((2, 3),))
        assert nexus.info()["commit"] == before + 2


def test_an_upsert_after_one_of_another_process_takes_few_requests(server: Engine) -> None:
    upsert = 'UPSERT { CONCEPT { {type: "Counter", name: "c"} SET ATTRIBUTES { n: :n } } }'
    reply = partial(forward, server)
    with Nexus.connect(**server.arguments) as other, answering(reply) as proxy:
        other.execute(COUNTER)
        urls = [at(proxy.url, str(url)) for url in (server.target, server.update_url)]
        with Nexus.connect(*urls, default_graph=server.default_graph) as nexus:
            nexus.execute(upsert, n=1)
            other.execute(upsert, n=2)
            proxy.requests.clear()
            nexus.execute(upsert, n=3)
            # Virtuoso and Fuseki isolate; Oxigraph needs a claim, and removes that of a new turn.
            # One request reads whether the other process has set shapes.
            assert len(proxy.requests) <= (8 if server.name.startswith("oxigraph") else 6)
            assert nexus.find(VALUES).tuples() == ((3, 4),)


def test_deleting_many_links_takes_some_requests_and_not_one_for_each(server: Engine) -> None:
    names = [f"n{number}" for number in range(60)]
    items = " ".join(
        f'CONCEPT {{ {{type: "Counter", name: "{name}"}} SET PROPOSITIONS {{ ("near", ?c) }} }}'
        for name in names
    )
    reply = partial(forward, server)
    with Nexus.connect(**server.arguments) as other, answering(reply) as proxy:
        other.execute(COUNTER)
        other.execute('UPSERT { CONCEPT { {type: "$PropositionType", name: "near"} } }')
        other.execute(f'UPSERT {{ CONCEPT ?c {{ {{type: "Counter", name: "c"}} }} {items} }}')
        urls = [at(proxy.url, str(url)) for url in (server.target, server.update_url)]
        with Nexus.connect(*urls, default_graph=server.default_graph) as nexus:
            proxy.requests.clear()
            some = 'DELETE CONCEPT ?c DETACH WHERE { ?c {type: "Counter"} FILTER(?c.name < "n3") }'
            assert nexus.execute(some)["deleted_propositions"] == 60
            assert len(proxy.requests) < 20
            count = 'FIND(COUNT(?c)) WHERE { ?c {type: "Counter"} }'
            # n3 to n9, and n30 to n59.
            assert nexus.find(count).tuples() == ((37,),)
            assert nexus.check()["faults"] == []


def test_a_server_killed_in_mid_write_has_each_commit_as_a_whole(
    start: Callable[[str], Engine], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_commits, "LOOK_S", 0.2)
    server = start(name)
    server.clear()
    pair = """UPSERT { CONCEPT { {type: "Counter", name: "a"} SET ATTRIBUTES { n: :n } }
        CONCEPT { {type: "Counter", name: "b"} SET ATTRIBUTES { n: :n } } }"""
    read = 'FIND(?c.attributes.n) WHERE { ?c {type: "Counter"} } ORDER BY ?c.name ASC'
    with Nexus.connect(**server.arguments) as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Counter"} } }')
        nexus.execute(pair, n=0)
        written, codes = 0, set[str]()
        for _ in range(KILLS):
            timer = Timer(random.uniform(0.005, 0.06), server.kill)
            timer.start()
            try:
                while True:
                    nexus.execute(pair, n=written + 1)
                    written += 1
            except KipError as error:
                codes.add(error.code)
            timer.join()
            server.start()
            ((first,), (second,)) = nexus.find(read).tuples()
            assert first == second
            assert first in (written, written + 1)
            written = first
    assert codes == {"KIP_4003"}


@pytest.fixture(params=["oxigraph-disk", "fuseki-tdb2", "virtuoso"])
def name(request: pytest.FixtureRequest) -> str:
    """The name of each engine that keeps its data."""
    return str(request.param)


def test_two_first_openings_make_one_genesis(server: Engine) -> None:
    with ThreadPoolExecutor(2) as pool:
        nexuses = list(pool.map(lambda _: Nexus.connect(**server.arguments), range(2)))
    for nexus in nexuses:
        with nexus:
            assert nexus.info()["commit"] == 1
            assert nexus.check()["faults"] == []


@pytest.mark.parametrize("does_arrive", [True, False])
def test_a_write_whose_answer_is_lost_happens_once(server: Engine, does_arrive: bool) -> None:
    with Nexus.connect(**server.arguments) as nexus:
        nexus.execute(COUNTER)
        endpoint = nexus.store.endpoint
        update, lost = endpoint.update, []

        def cut(text: str) -> str:
            if "DELETE {" not in text or lost:
                return str(update(text))
            lost.append(text)
            if does_arrive:
                update(text)
            raise EndpointFault("The answer is lost.", may_have_run=True)

        endpoint.update = cut
        nexus.execute(INCREMENT)
        assert len(lost) == 1
        assert nexus.find(VALUES).tuples() == ((1, 2),)


def test_the_claim_of_a_dead_process_holds_up_others_for_a_while_only(
    start: Callable[[str], Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = start("oxigraph")
    server.clear()
    monkeypatch.setattr(remote_commits, "LEASE_S", 0.3)
    monkeypatch.setattr(remote_commits, "GRACE_S", 0.1)
    with Nexus.connect(**server.arguments) as nexus:
        nexus.execute(COUNTER)
        dead = remote_commits.Claims(nexus.store.endpoint, nexus.store.place)
        dead.acquire()
        began = time.monotonic()
        nexus.execute(INCREMENT)
        assert time.monotonic() - began >= 0.3
        assert nexus.find(VALUES).tuples() == ((1, 2),)


def test_a_claim_that_was_not_compared_with_others_is_not_used(
    start: Callable[[str], Engine],
) -> None:
    server = start("oxigraph")
    server.clear()
    with Nexus.connect(**server.arguments) as nexus:
        nexus.execute(COUNTER)
        other = remote_commits.Claims(nexus.store.endpoint, nexus.store.place)
        other.acquire()
        endpoint = nexus.store.endpoint
        update = endpoint.update

        def cut(text: str) -> str:
            update(text)
            raise EndpointFault("The answer is lost.", may_have_run=True)

        endpoint.update = cut
        with pytest.raises(KipError, match="KIP_4003"):
            nexus.execute(INCREMENT)
        endpoint.update = update
        with pytest.raises(KipError, match="KIP_4001"), nexus.limited(timeout_s=0.3):
            nexus.execute(INCREMENT)
        other.release()
        nexus.execute(INCREMENT)
        assert nexus.find(VALUES).tuples() == ((1, 2),)


def test_a_claim_in_use_outlives_its_lease(
    start: Callable[[str], Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = start("oxigraph")
    server.clear()
    for name, seconds in (("LEASE_S", 0.4), ("BEAT_S", 0.1), ("GRACE_S", 0.0)):
        monkeypatch.setattr(remote_commits, name, seconds)
    with Nexus.connect(**server.arguments) as nexus, ThreadPoolExecutor(1) as pool:
        first, second = (
            remote_commits.Claims(nexus.store.endpoint, nexus.store.place) for _ in range(2)
        )
        first.acquire()
        with first.beating():
            waiting = pool.submit(second.acquire)
            time.sleep(1.2)
            assert not waiting.done()
        first.release()
        assert waiting.result(5) == nexus.info()["commit"]
        second.release()
    assert server.csv(f"SELECT ?s {{ GRAPH ?g {{ ?s {remote_commits.BEAT} ?n }} }}", False) == []


def test_a_large_commit_waits_apart_and_is_whole(server: Engine) -> None:
    number = LARGE.get(server.name, 300)
    items = "\n".join(
        f'CONCEPT {{ {{type: "Counter", name: "n{n}"}} SET ATTRIBUTES {{ n: {n}, "k": "v{n}" }} }}'
        for n in range(number)
    )
    with Nexus.connect(**server.arguments) as nexus:
        nexus.execute(COUNTER)
        before = nexus.info()["commit"]
        nexus.apply_capsule(f"UPSERT {{ {items} }}")
        assert nexus.info()["commit"] == before + 1
        count = 'FIND(COUNT(?c)) WHERE { ?c {type: "Counter"} }'
        assert nexus.find(count).tuples() == ((number + 1,),)
    graphs = {row[0] for row in server.csv("SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }", False)}
    assert not [graph for graph in graphs if "/stage/" in graph]


def test_a_large_commit_that_arrives_late_is_never_written_in_part(
    server: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It arrives while its process removes what was to be written."""
    monkeypatch.setattr(remote_commits, "LOOK_S", 0.1)
    names = [f"F{number}" for number in range(140)]
    late: list[Request] = []
    is_delayed = False

    def reply(request: Request) -> Reply:
        if is_delayed and b"removed_s" in request.body:
            late[:] = [request]
            return Reply(500)
        answer = forward(server, request)
        if late and b"DROP" in request.body:
            forward(server, late.pop())
        return answer

    with connected(server, reply) as nexus:
        items = "\n".join(
            f'CONCEPT {{ {{type: "Fruit", name: "{name}"}} SET ATTRIBUTES {{ risk: 1 }} }}'
            for name in names
        )
        nexus.execute(f'UPSERT {{ CONCEPT {{ {{type: "$ConceptType", name: "Fruit"}} }} {items} }}')
        before = nexus.info()["commit"]
        monkeypatch.setattr(remote_commits, "BATCH", 800)
        is_delayed = True
        with pytest.raises(KipError, match=r"failed \(500\)"):
            nexus.execute('UPDATE ?d SET ATTRIBUTES { risk: 2 } WHERE { ?d {type: "Fruit"} }')
        is_delayed = False
    with Nexus.connect(**server.arguments) as nexus:
        assert nexus.info()["commit"] == before
