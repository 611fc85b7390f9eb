"""A store that answers wrongly, late or not at all: one clear error, and then it goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import Event
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from kiprdf import Budget, KipError, Nexus, StoreError
from kiprdf.store import remote_commits
from tests.engines.filling import fill
from tests.engines.forwarding import at, connected, first_rows, forward
from tests.engines.servers import Engine
from tests.store.answering import RESULTS, Reply, Request, answering, rows

FIND = 'FIND(?d.name) WHERE { ?d {type: "Domain"} } ORDER BY ?d.name'
NAMES = ["Archived", "CoreSchema", "System", "Unsorted"]
HTML = Reply(200, b"<html>log in</html>", {"Content-Type": "text/html"})
HALF = Reply(200, b'{"head":{"vars":["x"]},"results":{"bin', {"Content-Type": RESULTS})
CUT = Reply(200, HALF.body, HALF.headers, 10_000)


class Proxy(NamedTuple):
    """``answers`` has the function that replaces the engine's answers, if any."""

    url: str
    answers: list[Callable[[Request], Reply]]
    default_graph: str | None


@pytest.fixture
def proxy(start: Callable[[str], Engine]) -> Iterator[Proxy]:
    server = start("oxigraph")
    server.clear()
    with Nexus.memory() as nexus:
        fill(server, nexus)
    answers: list[Callable[[Request], Reply]] = []

    def reply(request: Request) -> Reply:
        return answers[0](request) if answers else forward(server, request)

    with answering(reply) as listening:
        yield Proxy(at(listening.url, server.target), answers, server.default_graph)


def _late(request: Request) -> Reply:
    time.sleep(1)
    return HTML


FAULTS: dict[str, tuple[Callable[[Request], Reply], str, str]] = {
    "html": (
        lambda request: HTML,
        "KIP_4003",
        'The answer of {url} is text/html, not a SPARQL result: "<html>log in</html>".',
    ),
    "half": (lambda request: HALF, "KIP_4003", "The answer of {url} is not a SPARQL result: "),
    "cut": (lambda request: CUT, "KIP_4003", "The answer of {url} is incomplete."),
    "failed": (
        lambda request: Reply(500, b"disk full"),
        "KIP_4003",
        "The store at {url} failed (500): disk full",
    ),
    "busy": (
        lambda request: Reply(429, b"Too Many Requests"),
        "KIP_4003",
        "{url} refused the query (429): Too Many Requests",
    ),
    "forbidden": (
        lambda request: Reply(403),
        "KIP_4003",
        "{url} does not allow this query (403)",
    ),
    "redirect": (
        lambda request: Reply(307, b"", {"Location": "http://elsewhere.example/"}),
        "KIP_4003",
        "{url} redirects to http://elsewhere.example/ (307): connect with that URL.",
    ),
    "another query": (
        lambda request: rows("number", "7"),
        "KIP_4003",
        "{url} answered another query: its columns are number, not ",
    ),
    "late": (_late, "KIP_4001", "The request took longer than 0.3 s."),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_command_has_one_error_and_the_next_one_an_answer(proxy: Proxy, case: str) -> None:
    answer, code, message = FAULTS[case]
    with Nexus.connect(proxy.url, default_graph=proxy.default_graph) as nexus:
        assert nexus.execute(FIND) == NAMES
        proxy.answers.append(answer)
        begun = time.monotonic()
        with pytest.raises(KipError) as caught, nexus.limited(timeout_s=0.3):
            nexus.execute(FIND)
        assert time.monotonic() - begun < 0.9
        assert caught.value.code == code
        assert caught.value.message.startswith(message.format(url=proxy.url))
        proxy.answers.clear()
        assert nexus.execute(FIND) == NAMES


def test_an_answer_that_is_cut_later_is_an_error_too(proxy: Proxy) -> None:
    """The elements of a page come in another answer than its rows."""
    with Nexus.connect(proxy.url, default_graph=proxy.default_graph) as nexus:
        number = 0

        def reply(request: Request) -> Reply:
            nonlocal number
            number += 1
            return HALF

        for command in ('FIND(?d) WHERE { ?d {type: "Domain"} }', "DESCRIBE PRIMER"):
            proxy.answers.append(reply)
            with pytest.raises(KipError, match="KIP_4003"):
                nexus.execute(command)
            proxy.answers.clear()
        assert number == 2


def test_an_answer_that_is_cut_anywhere_is_right_or_an_error(server: Engine) -> None:
    """The proxy promises no more than it sends."""
    command = 'FIND(?p.attributes.size) WHERE { ?p {type: "Plant"} }'
    size: int | None = None
    sizes: list[int] = []

    def reply(request: Request) -> Reply:
        answer = forward(server, request)
        sizes.append(len(answer.body))
        return answer._replace(body=answer.body[:size])

    with connected(server, reply) as nexus:
        plants = (
            f'CONCEPT {{ {{type: "Plant", name: "{name}"}} SET ATTRIBUTES {{size: 1234}} }}'
            for name in ("Fern", "Moss", "Oak")
        )
        plant = '{type: "$ConceptType", name: "Plant"}'
        nexus.execute(f"UPSERT {{ CONCEPT {{ {plant} }} {' '.join(plants)} }}")
        whole = [nexus.execute(command) for _ in range(3)][-1]
        assert whole == [1234] * 3
        answered = []
        for cut in range(sizes[-1]):
            size = cut
            with suppress(KipError):
                answered.append(nexus.execute(command))
    # Of JSON and of a table, what follows the last term may be missing.
    assert answered == [whole] * len(answered)
    assert len(answered) < 10


@pytest.mark.parametrize("status", [500, 503])
def test_an_engine_that_fails_once_is_not_one_that_can_do_less(
    start: Callable[[str], Engine], status: int
) -> None:
    """Otherwise a new nexus would keep its links as RDF 1.1 for ever."""
    server = start("oxigraph")
    server.clear()
    failed: list[Request] = []

    def reply(request: Request) -> Reply:
        if b"SUBJECT(" in request.body and not failed:
            failed.append(request)
            return Reply(status, b"busy")
        return forward(server, request)

    if status == 503:
        with (
            pytest.raises(StoreError, match=r"failed \(503\): busy"),
            connected(server, reply),
        ):
            pass
    with connected(server, reply) as nexus:
        assert nexus.info()["profile"] == "rdf12"
    assert len(failed) == 1


WRONG_ARGUMENTS: dict[str, tuple[Any, str]] = {
    "headers": ("abc", "headers must be a map of names and values, not str."),
    "index": (5, "index must be a folder, not int."),
    "base_iri": (5, "base_iri must be an IRI, not int."),
    "read_only": ("no", "read_only must be True or False, not str."),
    "budget": (30.0, "budget must be a Budget, not float."),
}


@pytest.mark.parametrize("name", WRONG_ARGUMENTS)
def test_an_argument_of_the_wrong_type_is_one_sentence(proxy: Proxy, name: str) -> None:
    value, message = WRONG_ARGUMENTS[name]
    with pytest.raises(StoreError) as caught:
        Nexus.connect(proxy.url, **{name: value})
    assert str(caught.value) == message


def test_an_update_that_is_accepted_and_not_carried_out_is_one_error(server: Engine) -> None:
    is_hostile = False

    def reply(request: Request) -> Reply:
        is_update = b"INSERT" in request.body
        return HTML if is_hostile and is_update else forward(server, request)

    with connected(server, reply) as nexus:
        is_hostile = True
        command = 'UPSERT { CONCEPT { {type: "Domain", name: "Fruit"} } }'
        begun = time.monotonic()
        with pytest.raises(KipError) as caught:
            nexus.execute(command)
        assert time.monotonic() - begun < 2
        assert caught.value.code == "KIP_4003"
        assert caught.value.message.endswith(
            f"{urlsplit(server.update_url).path} accepts updates, but does not carry them out: "
            '200 text/html "<html>log in</html>".'
        )
        is_hostile = False
        before = nexus.info()["commit"]
        nexus.execute(command)
        assert nexus.info()["commit"] == before + 1


def test_a_store_that_lost_the_nexus_is_an_error_until_it_is_back(server: Engine) -> None:
    """A server in memory that was started again answers as if there were no knowledge."""
    is_empty = False

    def reply(request: Request) -> Reply:
        answer = forward(server, request)
        return first_rows(answer, 0) if is_empty else answer

    with connected(server, reply) as nexus:
        before = nexus.info()["commit"]
        is_empty = True
        for command in (
            FIND,
            "DESCRIBE PRIMER",
            'UPSERT { CONCEPT { {type: "Domain", name: "Fruit"} } }',
        ):
            with pytest.raises(KipError, match=r"KIP_4003 The nexus in .* has been removed\."):
                nexus.execute(command)
        is_empty = False
        assert nexus.execute(FIND) == NAMES
        assert nexus.info()["commit"] == before


@pytest.mark.parametrize("status", [401, 403, 404])
def test_connecting_to_a_store_that_refuses_updates_is_an_error(
    server: Engine, status: int
) -> None:
    with Nexus.connect(**server.arguments) as nexus:
        before = nexus.info()["commit"]

    def reply(request: Request) -> Reply:
        is_update = b"DELETE" in request.body or b"INSERT" in request.body
        return Reply(status, b"no") if is_update else forward(server, request)

    with pytest.raises(StoreError, match=rf"/[a-z]+ .*\({status}\)"), connected(server, reply):
        pass
    with Nexus.connect(**server.arguments) as nexus:
        assert nexus.info()["commit"] == before


@pytest.mark.parametrize("fails", [1, 100])
def test_a_commit_is_looked_for_again_where_that_failed(
    server: Engine, fails: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_commits, "LOOK_S", 0.3)
    left = 0

    def reply(request: Request) -> Reply:
        nonlocal left
        # Virtuoso is sent forms.
        if left and (b"?token" in request.body or b"%3Ftoken" in request.body):
            left -= 1
            return Reply(500, b"no")
        return forward(server, request)

    with connected(server, reply) as nexus:
        before = nexus.info()["commit"]
        left = fails
        command = 'UPSERT { CONCEPT { {type: "Domain", name: "Fruit"} } }'
        if fails == 1:
            nexus.execute(command)
        else:
            with pytest.raises(KipError) as caught:
                nexus.execute(command)
            assert caught.value.code == "KIP_4003"
            assert str(caught.value.hint).startswith("The answer was lost")
        left = 0
        assert nexus.info()["commit"] == before + 1
        assert "Fruit" in nexus.execute(FIND)


def test_an_update_without_an_answer_is_a_timeout(server: Engine) -> None:
    gate = Event()
    gate.set()

    def reply(request: Request) -> Reply:
        if b"INSERT" in request.body:
            gate.wait(5)
        return forward(server, request)

    with connected(server, reply) as nexus:
        gate.clear()
        begun = time.monotonic()
        with pytest.raises(KipError) as caught, nexus.limited(timeout_s=0.3):
            nexus.execute('UPSERT { CONCEPT { {type: "Domain", name: "Fruit"} } }')
        assert caught.value.code == "KIP_4001"
        assert time.monotonic() - begun < 3
        gate.set()
        time.sleep(0.3)  # what was sent arrives now


@pytest.mark.parametrize("case", [case for case in FAULTS if case not in ("late", "another query")])
def test_connecting_is_one_sentence(proxy: Proxy, case: str) -> None:
    answer, _, message = FAULTS[case]
    proxy.answers.append(answer)
    with pytest.raises(StoreError) as caught:
        Nexus.connect(proxy.url, default_graph=proxy.default_graph, auth=("me", "s3cret"))
    assert str(caught.value).startswith(message.format(url=proxy.url))
    assert "s3cret" not in str(caught.value)


def test_connecting_takes_no_longer_than_the_budget(proxy: Proxy) -> None:
    proxy.answers.append(_late)
    begun = time.monotonic()
    with pytest.raises(StoreError) as caught:
        Nexus.connect(proxy.url, default_graph=proxy.default_graph, budget=Budget(timeout_s=0.3))
    assert time.monotonic() - begun < 0.9
    assert str(caught.value) == (
        f"The store at {proxy.url} did not answer: The request took longer than 0.3 s."
    )


def test_a_budget_of_few_rows_is_no_obstacle_to_connecting(server: Engine) -> None:
    with Nexus.connect(**server.arguments):
        pass
    with Nexus.connect(**server.arguments, budget=Budget(max_rows=2)) as nexus:
        with pytest.raises(KipError, match="KIP_4002"):
            nexus.execute("FIND(?x) WHERE { ?x {} }")
        assert nexus.execute('FIND(?d.name) WHERE { ?d {type: "Domain", name: "System"} }') == [
            "System"
        ]
