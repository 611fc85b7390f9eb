"""A value of a named element takes one request without the commit number, and is never old."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kiprdf import KipError, Nexus
from tests.engines.forwarding import at, first_rows, forward
from tests.engines.servers import Engine
from tests.store.answering import Reply, Request, Server, answering

SETUP = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} }
  CONCEPT { {type: "$ConceptType", name: "Symptom"} }
  CONCEPT { {type: "$PropositionType", name: "treats"} }
  CONCEPT { {type: "$PropositionType", name: "harms"} }
  CONCEPT ?p { {type: "Symptom", name: "Pain"} }
  CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES { risk: 1 }
    SET PROPOSITIONS { ("treats", ?p) WITH METADATA { confidence: 0.5 } } }
  CONCEPT { {type: "Drug", name: "B"} SET ATTRIBUTES { risk: 2 }
    SET PROPOSITIONS { ("treats", ?p) } }
}"""
RISK = 'FIND(?d.attributes.risk) WHERE { ?d {type: "Drug", name: "A"} }'
ALONE = {
    RISK: [1],
    'FIND(?d.metadata._version) WHERE { ?d {id: "C:Drug/A"} }': [1],
    "FIND(?l.metadata.confidence) WHERE { ?l (id: :link) }": [0.5],
}
TOGETHER = {
    # What may have more than one row, of which a store could send a part.
    'FIND(?d.attributes.risk) WHERE { ?d {name: "A"} }': 1,
    'FIND(?s.name) WHERE { ({type: "Drug", name: "A"}, "treats", ?s) }': 1,
    # What has no row to show that a type or predicate is defined.
    'FIND(?d.attributes.risk) WHERE { ?d {type: "Drug", name: "A"} NOT { (?d, "harms", ?s) } }': 1,
    'FIND(?d.attributes.risk) WHERE { ?d {id: "C:Drug/A"} OPTIONAL { (?d, "harms", ?s) } }': 1,
    # What is cached.
    'FIND(?d) WHERE { ?d {type: "Drug", name: "A"} }': 1,
    # A page.
    'FIND(?d.attributes.risk) WHERE { ?d {type: "Drug", name: "A"} } LIMIT 1': 1,
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
    link = nexus.execute('FIND(?l.id) WHERE { ?l ({type: "Drug", name: "A"}, "treats", ?s) }')
    parameters = {"link": link[0]} if ":link" in command else {}
    nexus.execute(command, **parameters)
    nexus.execute(command, **parameters)
    proxy.requests.clear()
    result = nexus.execute(command, **parameters)
    return result, [request.body.decode() for request in proxy.requests]


def asks_for_commit(body: str) -> bool:
    return re.search("vocab(/|%2F)(commit|head)", body) is not None


def test_it_takes_one_request_that_does_not_ask_for_the_commit(
    server: Engine, writer: Nexus
) -> None:
    with reading(server) as (reader, proxy):
        for command, expected in ALONE.items():
            result, bodies = sent(proxy, reader, command)
            assert result == expected, command
            assert list(map(asks_for_commit, bodies)) == [False], command
        for command, rows in TOGETHER.items():
            result, bodies = sent(proxy, reader, command)
            assert len(result) == rows, command
            assert len(bodies) == (2 if " NOT " in command or "OPTIONAL" in command else 1), command
            assert all(map(asks_for_commit, bodies)), command


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


def test_an_answer_without_some_rows_is_an_error(server: Engine, writer: Nexus) -> None:
    """As a store or a proxy that limits the rows of an answer would send it."""
    most = 100

    def limited(request: Request) -> Reply:
        return first_rows(forward(server, request), most)

    commands = [
        RISK,
        'FIND(?d.name) WHERE { ?d {type: "Drug"} }',
        'FIND(?d.attributes.risk) WHERE { ?d {name: "A"} }',
        'FIND(SUM(?d.attributes.risk)) WHERE { ?d {type: "Drug"} }',
    ]
    with (
        answering(limited) as proxy,
        Nexus.connect(
            at(proxy.url, server.target), default_graph=server.default_graph, read_only=True
        ) as reader,
    ):
        right = [reader.execute(command) for command in commands for _ in range(3)]
        most = 1
        for command in commands[1:]:
            with pytest.raises(KipError, match="is incomplete: after 1 rows, the last one is miss"):
                reader.execute(command)
        most = 0
        for command in commands:
            with pytest.raises(KipError, match=r"KIP_4003 .* has been removed"):
                reader.execute(command)
        most = 100
        assert [reader.execute(command) for command in commands for _ in range(3)] == right


def test_a_cursor_without_a_limit_shows_the_rest(server: Engine, writer: Nexus) -> None:
    command = 'FIND(?d.name) WHERE { ?d {type: "Drug"} }'
    with reading(server) as (reader, _):
        page = reader.answer(f"{command} LIMIT 1")
        rest = f'{command} CURSOR "{page.next_cursor}"'
        assert sorted([*page.result, *reader.execute(rest)]) == ["A", "B"]
        writer.execute('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug"} }')
        writer.execute('DELETE CONCEPT ?t DETACH WHERE { ?t {type: "$ConceptType", name: "Drug"} }')
        with pytest.raises(KipError, match="KIP_2001"):
            reader.execute(rest)
