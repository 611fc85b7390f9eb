"""An answer whose rows show all that it rests on takes one request, and never an old commit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kiprdf import KipError, Nexus
from tests.engines.forwarding import at, forward
from tests.engines.servers import Engine
from tests.store.answering import Server, answering

SETUP = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} }
  CONCEPT { {type: "$ConceptType", name: "Symptom"} }
  CONCEPT { {type: "$PropositionType", name: "treats"} }
  CONCEPT { {type: "$PropositionType", name: "harms"} }
  CONCEPT ?p { {type: "Symptom", name: "Pain"} }
  CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES { risk: 1 }
    SET PROPOSITIONS { ("treats", ?p) } }
  CONCEPT { {type: "Drug", name: "B"} SET ATTRIBUTES { risk: 2 }
    SET PROPOSITIONS { ("treats", ?p) } }
}"""
RISK = 'FIND(?d.attributes.risk) WHERE { ?d {type: "Drug", name: "A"} }'
ALONE = {
    RISK: [1],
    'FIND(?d.attributes.risk) WHERE { ?d {name: "A"} }': [1],
    'FIND(?s.name) WHERE { ({type: "Drug", name: "A"}, "treats", ?s) }': ["Pain"],
    'FIND(?p) WHERE { ({type: "Drug", name: "A"}, ?p, ?s) }': ["treats"],
    'FIND(?s.name, COUNT(?d)) WHERE { (?d, "treats"{1,3}, ?s) }': [["Pain"], [2]],
    'FIND(?d.name) WHERE { ?d {type: "Drug"} } ORDER BY ?d.name DESC': ["B", "A"],
}
TOGETHER = {
    # Of an element; with OPTIONAL, NOT, UNION, no hop and a choice; of a page.
    'FIND(?d) WHERE { ?d {type: "Drug", name: "A"} }': 1,
    'FIND(?d.name) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "harms", ?s) } }': 2,
    'FIND(?d.name) WHERE { ?d {type: "Drug"} NOT { (?d, "harms", ?s) } }': 2,
    'FIND(?d.name) WHERE { ?d {type: "Drug"} UNION { (?d, "harms", ?s) } }': 2,
    'FIND(?d.name) WHERE { ?d {type: "Drug"} (?d, "harms"{0,2}, ?s) }': 2,
    'FIND(?d.name) WHERE { ?d {type: "Drug"} (?d, "treats" | "harms", ?s) }': 2,
    'FIND(?d.name) WHERE { ?d {type: "Drug"} } LIMIT 1': 1,
}


@contextmanager
def reading(server: Engine) -> Iterator[tuple[Nexus, Server]]:
    """A nexus that only reads, and the proxy that has seen its requests."""
    with (
        answering(lambda request: forward(server, request)) as proxy,
        Nexus.connect(
            at(proxy.url, server.target), default_graph=server.default_graph, read_only=True
        ) as reader,
    ):
        yield reader, proxy


@pytest.fixture
def writer(server: Engine) -> Iterator[Nexus]:
    with Nexus.connect(**server.arguments) as nexus:
        nexus.execute(SETUP)
        yield nexus


def sent(proxy: Server, nexus: Nexus, command: str) -> tuple[Any, list[str]]:
    """The result of a command that was run before, and the bodies of its requests."""
    nexus.execute(command)
    nexus.execute(command)
    proxy.requests.clear()
    result = nexus.execute(command)
    return result, [request.body.decode() for request in proxy.requests]


def test_it_takes_one_request_that_does_not_ask_for_the_commit(
    server: Engine, writer: Nexus
) -> None:
    with reading(server) as (reader, proxy):
        for command, expected in ALONE.items():
            result, bodies = sent(proxy, reader, command)
            assert result == expected, command
            assert ["commit" in body for body in bodies] == [False], command
        for command, rows in TOGETHER.items():
            result, bodies = sent(proxy, reader, command)
            assert len(result) == rows, command
            assert ["commit" in body for body in bodies] == [True], command


def test_it_follows_what_another_nexus_writes(server: Engine, writer: Nexus) -> None:
    with reading(server) as (reader, _):

        def risk() -> Any:
            return reader.execute(RISK)

        assert [risk() for _ in range(3)] == [[1]] * 3
        writer.execute('UPSERT { CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES {risk: 5} } }')
        assert risk() == [5]
        writer.execute('DELETE ATTRIBUTES {"risk"} FROM ?d WHERE { ?d {type: "Drug", name: "A"} }')
        assert risk() == [None]
        writer.execute('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug", name: "A"} }')
        with pytest.raises(KipError, match="KIP_3002"):
            risk()
        writer.execute('UPSERT { CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES {risk: 7} } }')
        assert risk() == [7]


def test_it_follows_definitions_that_another_nexus_deletes(server: Engine, writer: Nexus) -> None:
    links = 'FIND(?s.name) WHERE { (?d, "treats", ?s) }'
    with reading(server) as (reader, _):
        assert [len(reader.execute(links)) for _ in range(3)] == [1, 1, 1]
        optional = 'FIND(?d.name) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "treats", ?s) } }'
        assert [len(reader.execute(optional)) for _ in range(3)] == [2, 2, 2]
        writer.execute('DELETE PROPOSITIONS ?l WHERE { ?l (?d, "treats", ?s) }')
        assert reader.execute(links) == []
        writer.execute(
            'DELETE CONCEPT ?p DETACH WHERE { ?p {type: "$PropositionType", name: "treats"} }'
        )
        for command in (links, optional):
            with pytest.raises(KipError, match="KIP_2001"):
                reader.execute(command)
