"""Each engine starts empty on loopback, is cleared between tests, and ends."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.engines.servers import GRAPH, KINDS, Engine, running

ADD = "INSERT DATA { GRAPH <http://kb.example/graph> { <http://x/s> <http://x/p> 'v' } }"
ALL = "SELECT ?o WHERE { GRAPH <http://kb.example/graph> { ?s ?p ?o } }"


def test_a_server_is_without_data_at_each_test(server: Engine) -> None:
    assert server.csv(ALL) == []
    server.update(ADD)
    assert server.csv(ALL) == [["v"]]


def test_a_cleared_server_is_empty_again(server: Engine) -> None:
    server.update(ADD)
    server.clear()
    assert server.csv(ALL) == []


def test_a_graph_of_rdflib_is_empty() -> None:
    with running("rdflib") as engine:
        assert len(engine.target) == 0


@pytest.mark.parametrize("name", ["oxigraph-disk", "fuseki-tdb2", "virtuoso"])
def test_what_a_killed_server_wrote_is_there_after_its_next_start(
    name: str, start: Callable[[str], Engine]
) -> None:
    engine = start(name)
    engine.clear()
    engine.update(ADD)
    engine.kill()
    engine.start()
    assert engine.csv(ALL) == [["v"]]


def test_an_absent_engine_is_described_by_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KIPRDF_JARS", raising=False)
    assert KINDS["fuseki"].missing() == (
        "the environment variable KIPRDF_JARS, the folder of jena-fuseki-server-6.2.0.jar"
    )
    with pytest.raises(RuntimeError, match="mvn dependency:copy"), running("fuseki"):
        pass


def test_the_graph_of_virtuoso_is_the_one_of_its_settings() -> None:
    assert KINDS["virtuoso"].default_graph == GRAPH
