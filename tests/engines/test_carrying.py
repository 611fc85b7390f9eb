"""Snapshots, restores and imports of a remote store go in batches of bounded size."""

from __future__ import annotations

from collections import Counter

import pytest

from kiprdf import KipError, Nexus, progress
from kiprdf.memory import Memory
from kiprdf.store import remote_commits, remote_reads
from tests.benchmarks import data
from tests.engines.forwarding import at, forward
from tests.engines.servers import Engine
from tests.store.answering import Reply, Request, answering

PROPOSITIONS = 120
PEOPLE = "\n".join(
    f'<http://x/p{n}> a <http://x/Person> ; <http://x/name> "p{n}" ; '
    f"<http://x/knows> <http://x/p{(n + 1) % 100}> , <http://x/p{(n + 7) % 100}> ."
    for n in range(100)
)


def snapshot() -> bytes:
    with Nexus.memory() as nexus:
        data.build(PROPOSITIONS, nexus)
        return nexus.snapshot()


def test_a_restore_and_a_snapshot_go_in_batches_and_report_them(
    server: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_reads, "READ_AT_ONCE", 200)
    monkeypatch.setattr(remote_commits, "BATCH", 500)
    whole = snapshot()
    counts: Counter[str] = Counter()
    largest: Counter[str] = Counter()

    def shown(what: str, number: int) -> None:
        counts[what] += number
        largest[what] = max(largest[what], number)

    with Nexus.connect(**server.arguments) as nexus, progress.reported(shown):
        nexus.restore(whole)
        assert counts["sending"] == counts["committing"] > 600
        counts.clear()
        assert nexus.snapshot() == whole
        assert counts["reading"] > 600
    assert (largest["reading"], largest["sending"] <= 4_000) == (200, True)


def test_a_patch_is_applied_in_a_store(server: Engine) -> None:
    count = "<urn:kip:nexus/Counter/c> <urn:kip:attribute/n>"
    integer = "<http://www.w3.org/2001/XMLSchema#integer>"
    rows = f'D {count} "1"^^{integer} .\nA {count} "2"^^{integer} .\n'
    with Nexus.connect(**server.arguments) as nexus:
        nexus.execute(
            'UPSERT { CONCEPT { {type: "$ConceptType", name: "Counter"} }'
            ' CONCEPT { {type: "Counter", name: "c"} SET ATTRIBUTES { n: 1 } } }'
        )
        before = nexus.info()["commit"]
        nexus.apply_patch(rows)
        assert nexus.find('FIND(?c.attributes.n) WHERE { ?c {type: "Counter"} }').tuples() == (
            (2,),
        )
        assert nexus.info()["commit"] == before + 1


def test_an_import_takes_some_requests_and_not_one_for_each_element(server: Engine) -> None:
    with (
        answering(lambda request: forward(server, request)) as proxy,
        Nexus.connect(
            at(proxy.url, server.target),
            at(proxy.url, str(server.update_url)),
            default_graph=server.default_graph,
        ) as nexus,
    ):
        proxy.requests.clear()
        report = nexus.import_rdf(PEOPLE, define=True, format="turtle")
        assert report["propositions"]["created"] == 200
        assert len(proxy.requests) < 40
        proxy.requests.clear()
        again = nexus.import_rdf(PEOPLE, define=True, format="turtle")
        assert (again["propositions"]["created"], again["propositions"]["unchanged"]) == (0, 200)
        assert len(proxy.requests) < 40


def test_a_snapshot_of_a_store_that_sends_less_than_it_counts_is_an_error(server: Engine) -> None:
    """As behind a proxy that cuts answers."""

    def cut(request: Request) -> Reply:
        body = request.body.replace(b"LIMIT 50000", b"LIMIT 10").replace(b"9998", b"10")
        return forward(server, request._replace(body=body))

    with Nexus.connect(**server.arguments):
        pass
    with (
        answering(cut) as proxy,
        Nexus.connect(at(proxy.url, server.target), default_graph=server.default_graph) as nexus,
        pytest.raises(KipError, match=r"KIP_4003 .* returned 10 of \d+ triples"),
    ):
        nexus.snapshot()


def test_a_memory_in_a_store_is_there_after_a_new_connection(server: Engine) -> None:
    with Nexus.connect(**server.arguments) as nexus:
        Memory(nexus).add("The project Atlas uses PostgreSQL.")
    with Nexus.connect(**server.arguments) as nexus:
        names = [entity.name for entity in Memory(nexus).entities()]
    assert {"Atlas", "PostgreSQL"} <= set(names)
