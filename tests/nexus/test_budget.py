"""Every request ends: with the answer, KIP_4001 or KIP_4002."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import DefaultGraph, Literal, Quad

import kiprdf
from kiprdf import Budget
from kiprdf.kql import find
from kiprdf.rdf import vocab
from kiprdf.store import OxigraphStore, cancellation
from kiprdf.store.base import SIMPLE, Request
from tests.cases import each_case
from tests.nexus.support import code, medical, untouched

SOON = 60.0
"""Far more seconds than anything here takes on the slowest machine."""


def with_nodes(number: int, linked: int = 0, **options: Any) -> kiprdf.Nexus:
    """A nexus of concepts, the first of which all know each other, in bare triples."""
    nexus = kiprdf.Nexus.memory(genesis=False, **options)
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "N"} } '
        'CONCEPT { {type: "$PropositionType", name: "knows"} } }'
    )
    iris = nexus.store.iris
    nodes = [iris.concept("N", f"n{i}") for i in range(number)]
    triples = [(node, vocab.TYPE, iris.type("N")) for node in nodes]
    triples += [(node, vocab.LABEL, Literal(f"n{i}")) for i, node in enumerate(nodes)]  # type: ignore[misc]
    knows = iris.predicate("knows")
    some = nodes[:linked]
    triples += [(one, knows, other) for one in some for other in some if one != other]
    nexus.store.engine.extend(Quad(*triple, DefaultGraph()) for triple in triples)
    return nexus


@pytest.fixture(scope="module")
def clique() -> kiprdf.Nexus:
    """150 concepts that all know each other: four steps are half a billion paths."""
    return with_nodes(150, 150, budget=Budget(timeout_s=0.4))


def wait_for_the_last() -> None:
    """What was left behind ends by itself."""
    end = time.monotonic() + SOON
    while any(thread.is_alive() for thread in cancellation._abandoned):
        assert time.monotonic() < end, "a query runs on"
        time.sleep(0.01)


PATH = '(?a, "knows", ?b) (?b, "knows", ?c) (?c, "knows", ?d) (?d, "knows", ?e)'


@pytest.mark.parametrize(
    "command",
    [
        f"FIND(COUNT(?a)) WHERE {{ {PATH} }}",
        f"FIND(?a, ?e) WHERE {{ {PATH} FILTER(?e.attributes.x > ?a.attributes.x) }}",
        'FIND(COUNT(?b)) WHERE { (?a, "knows"{1,6}, ?b) (?b, "knows"{1,6}, ?c) }',
        'FIND(COUNT(?b)) WHERE { (?a, "knows"{1,}, ?b) (?b, "knows"{2,}, ?c) }',
        f'FIND(?x) WHERE {{ ?x {{type: "N"}} NOT {{ {PATH} FILTER(?e.name == ?x.id) }} }}',
        'FIND(?x) WHERE { ?x {type: "N"} OPTIONAL { (?x, "knows", ?b) (?b, "knows", ?c) '
        '(?c, "knows", ?d) FILTER(?d.attributes.x == ?x.id) } }',
        'FIND(?a) WHERE { ?a {type: "N"} ?b {type: "N"} ?c {type: "N"} ?d {type: "N"} '
        "FILTER(CONTAINS(?a.name, ?b.name) && CONTAINS(?c.id, ?d.attributes.x)) }",
        f'FIND(?a) WHERE {{ ?a {{type: "N"}} UNION {{ {PATH} FILTER(?e.id == ?a.name) }} }}',
        f'DELETE CONCEPT ?a DETACH WHERE {{ {PATH} FILTER(CONTAINS(?e.attributes.x, "y")) }}',
        f"UPDATE ?a SET ATTRIBUTES {{ seen: true }} WHERE {{ {PATH} FILTER(?e.name < ?b.id) }}",
        f"EXPORT ?a WHERE {{ {PATH} FILTER(?e.attributes.x == ?b.id) }}",
    ],
)
def test_a_command_that_takes_too_long_is_cancelled_and_the_next_is_served(
    command: str, clique: kiprdf.Nexus
) -> None:
    with pytest.raises(kiprdf.KipError, match=r"KIP_400[12]"):
        clique.execute(command)
    assert clique.execute('FIND(?x.name) WHERE { ?x {type: "N", name: "n7"} }') == ["n7"]
    wait_for_the_last()


def test_raw_sparql_times_out() -> None:
    nexus = with_nodes(3_000, budget=Budget(timeout_s=0.2))
    product = "SELECT ?x { ?x a ?t . ?y a ?t FILTER(STR(?x) = CONCAT(STR(?y), '.')) }"
    with pytest.raises(kiprdf.KipError, match="KIP_4001") as raised:
        nexus.sparql(product)
    assert raised.value.message == "The request took longer than 0.2 s."
    assert nexus.sparql("ASK { ?x a ?t }") is True
    wait_for_the_last()


def test_a_product_is_refused_before_it_is_computed() -> None:
    nexus = with_nodes(10_000)
    with pytest.raises(kiprdf.KipError, match="KIP_4002") as raised:
        nexus.execute('FIND(?a, ?b) WHERE { ?a {type: "N"} ?b {type: "N"} }')
    assert raised.value.message == (
        "Two parts of WHERE share no variable, and have 100000000 combinations; "
        "20000000 are allowed."
    )
    assert "Link them" in raised.value.hint


def test_a_product_of_filtered_rows_is_allowed() -> None:
    nexus = with_nodes(10_000, budget=Budget(max_product_rows=100_000))
    command = (
        'FIND(COUNT(?b)) WHERE { ?a {type: "N"} ?b {type: "N"} '
        'FILTER(?a.name == "n1" || ?a.name == "n2") }'
    )
    assert nexus.execute(command) == 20_000


def test_rows_beyond_the_budget_are_refused(clique: kiprdf.Nexus) -> None:
    # Without the FILTER, the number is kept, and no row is read.
    command = 'FIND(COUNT(?b)) WHERE { (?a, "knows", ?b) FILTER(?b.name != "") }'
    with clique.limited(timeout_s=None, max_rows=22_349):
        assert code(clique, command) == "KIP_4002"
    with clique.limited(timeout_s=None, max_rows=22_350):
        assert clique.execute(command) == 22_350


def test_a_scan_of_many_elements_is_left_when_its_time_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways: list[str] = []
    select = OxigraphStore.select

    def noted(store: OxigraphStore, query: str, request: Request = SIMPLE) -> Any:
        ways.append(request.cancellation)
        return select(store, query, request)

    monkeypatch.setattr(OxigraphStore, "select", noted)
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "N"} } }')
        nexus.load([("N", f"n{number}") for number in range(9)])
        for where, most, expected in (
            ('?a {type: "N"}', 8, ["threaded"]),
            ('?a {type: "N"}', 9, ["none"]),
            ('?l (?a, "belongs_to_domain", ?b)', 8, ["threaded"]),
            ("?l (?a, ?p, ?b)", 8, ["threaded"]),
            ("?l (?a, ?p, ?b)", 1_000, ["none"]),
            ('?l ({type: "Domain", name: "CoreSchema"}, ?p, ?a)', 0, []),
        ):
            monkeypatch.setattr(find, "LONG_SCAN", most)
            ways.clear()
            nexus.execute(f'FIND(?a.name) WHERE {{ {where} FILTER(?a.name != "x") }}')
            assert ways == expected, where


def test_a_solution_of_many_variables_counts_for_several() -> None:
    nexus = with_nodes(4, 4)
    path = " ".join(f'(?a{n}, "knows", ?a{n + 1})' for n in range(8))
    command = f"FIND(COUNT(?a0)) WHERE {{ {path} }}"
    with nexus.limited(max_rows=2 * 4 * 3**8):
        assert nexus.execute(command) == 4 * 3**8
    with nexus.limited(max_rows=2 * 4 * 3**8 - 1):
        assert code(nexus, command) == "KIP_4002"


def test_returned_values_do_not_count_as_variables() -> None:
    nexus = with_nodes(600)
    keys = [f"?x.attributes.a{number}" for number in range(9)]
    with nexus.limited(max_rows=600):
        for number in (1, 7, 8, 9):
            shown = ", ".join(keys[:number])
            assert len(nexus.find(f'FIND({shown}) WHERE {{ ?x {{type: "N"}} }}')) == 600, number


def test_counting_stops_at_the_row_limit(clique: kiprdf.Nexus) -> None:
    """Half a billion paths: a thousand of them are enough to know that there are more."""
    with clique.limited(timeout_s=5.0, max_rows=1_000):
        assert code(clique, f"FIND(COUNT(?a)) WHERE {{ {PATH} }}") == "KIP_4002"


def test_a_lookup_counts_its_solutions() -> None:
    """Nine variables count twice, wherever the solutions come from."""
    nexus = with_nodes(100, 100)
    matches = [f'({{type: "N", name: "n0"}}, "knows", ?{name})' for name in "abcdefghi"]
    where = matches[0] + "".join(f" UNION {{ {match} }}" for match in matches[1:])
    command = f"FIND(?a, ?b, ?c, ?d, ?e, ?f, ?g, ?h, ?i) WHERE {{ {where} }}"
    with nexus.limited(max_rows=2 * 9 * 99):
        assert len(nexus.find(command)) == 9 * 99
    with nexus.limited(max_rows=2 * 9 * 99 - 1):
        assert code(nexus, command) == "KIP_4002"


def test_a_limit_keeps_a_large_set_within_the_rows(clique: kiprdf.Nexus) -> None:
    with clique.limited(max_rows=100):
        assert len(clique.execute('FIND(?a) WHERE { (?a, "knows", ?b) } LIMIT 20')) == 20


def test_hops_beyond_the_budget_are_refused(clique: kiprdf.Nexus) -> None:
    command = 'FIND(COUNT(?b)) WHERE { (?a, "knows"{2,3}, ?b) }'
    with clique.limited(timeout_s=None, max_hops_rows=10_000):
        with pytest.raises(kiprdf.KipError, match="KIP_4002") as raised:
            clique.execute(command)
        assert raised.value.message == "The hops visit more than 10000 nodes."
    wait_for_the_last()


def test_a_budget_of_the_block_applies_to_this_nexus_only(clique: kiprdf.Nexus) -> None:
    other = medical()
    with clique.limited(max_rows=1, timeout_s=60.0):
        assert len(other.execute('FIND(?s) WHERE { ?s {type: "Symptom"} }')) == 2
        assert code(clique, 'FIND(?a) WHERE { ?a {type: "N"} }') == "KIP_4002"
        with clique.limited(timeout_s=5.0):
            assert code(clique, 'FIND(?a) WHERE { ?a {type: "N"} }') == "KIP_4002"
    with clique.limited(timeout_s=60.0):
        assert len(clique.execute('FIND(?a) WHERE { ?a {type: "N"} }')) == 150


def test_a_batch_has_the_time_of_one_request(clique: kiprdf.Nexus) -> None:
    slow = f"FIND(?a) WHERE {{ {PATH} FILTER(?e.attributes.x > ?a.attributes.x) }}"
    (first, second) = clique.execute_kip({"commands": [slow, "DESCRIBE DOMAINS"]})["result"]
    assert first["error"]["code"] == second["error"]["code"] == "KIP_4001"
    wait_for_the_last()


def test_a_write_that_times_out_changes_nothing(clique: kiprdf.Nexus) -> None:
    with clique.limited(timeout_s=None), untouched(clique), clique.limited(timeout_s=0.01):
        assert code(clique, f"DELETE CONCEPT ?a DETACH WHERE {{ {PATH} }}") == "KIP_4001"
    wait_for_the_last()


def test_waiting_for_another_writer_ends(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb", budget=Budget(timeout_s=0.05)) as nexus:
        held, done = threading.Event(), threading.Event()

        def hold() -> None:
            with nexus.store.writing():
                held.set()
                done.wait(SOON)

        writer = threading.Thread(target=hold)
        writer.start()
        held.wait(SOON)
        try:
            assert code(nexus, 'UPSERT { CONCEPT { {type: "Person", name: "Ann"} } }') == "KIP_4001"
        finally:
            done.set()
            writer.join()
        nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Ann"} } }')


def test_exporting_a_whole_snapshot_has_no_timeout(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb", budget=Budget(timeout_s=1e-6)) as nexus:
        assert code(nexus, 'FIND(?d) WHERE { ?d {type: "Domain"} }') == "KIP_4001"
        assert "CoreSchema" in nexus.snapshot()
        with pytest.raises(kiprdf.KipError, match="KIP_4001"), nexus.limited(timeout_s=1e-6):
            nexus.snapshot(select='FIND(?d) WHERE { ?d {type: "Domain"} }')


def test_an_index_is_completed_even_with_a_short_timeout_of_the_search() -> None:
    nexus = with_nodes(50)
    with nexus.limited(timeout_s=1e-6):
        assert code(nexus, 'SEARCH CONCEPT "n7"') == "KIP_4001"
    assert [hit["name"] for hit in nexus.execute('SEARCH CONCEPT "n7" LIMIT 1')] == ["n7"]


def test_too_many_abandoned_queries_are_a_clear_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = threading.Event()
    busy = [threading.Thread(target=stop.wait) for _ in range(cancellation.MAX_ABANDONED)]
    for thread in busy:
        thread.start()
    monkeypatch.setattr(cancellation, "_abandoned", set(busy))
    nexus = medical()
    try:
        with pytest.raises(kiprdf.KipError, match="KIP_4002") as raised:
            nexus.sparql("ASK { ?x a ?t }")
        assert "have not ended yet" in raised.value.message
        assert nexus.execute('FIND(COUNT(?s)) WHERE { ?s {type: "Symptom"} }') == 2
    finally:
        stop.set()
        for thread in busy:
            thread.join()
    assert nexus.sparql("ASK { ?x a ?t }") is True


@each_case(
    "field, value",
    [
        ("timeout_s", 0),
        ("timeout_s", -1.0),
        ("timeout_s", float("nan")),
        ("timeout_s", "5"),
        ("max_rows", 0),
        ("max_rows", 1.5),
        ("max_product_rows", True),
        ("max_hops_rows", -3),
    ],
)
def test_a_budget_that_is_no_number_above_zero_is_refused(field: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{field} is a number above 0, or None"):
        Budget(**{field: value})


def test_no_budget_is_no_limit() -> None:
    nexus = with_nodes(200, budget=Budget(None, None, None, None))
    assert nexus.execute('FIND(COUNT(?a)) WHERE { ?a {type: "N"} ?b {type: "N"} }') == 40_000


def test_a_find_beyond_max_rows_is_run_once_with_new_literals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nexus = kiprdf.Nexus.memory()
    drugs = " ".join(f'CONCEPT {{ {{type: "Drug", name: "D{n}"}} }}' for n in range(90))
    nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Drug"} } }')
    nexus.execute(f"UPSERT {{ {drugs} }}")
    queries: list[str] = []
    select = OxigraphStore.select

    def noted(store: OxigraphStore, query: str, *arguments: Any, **options: Any) -> Any:
        queries.append(query)
        return select(store, query, *arguments, **options)

    monkeypatch.setattr(OxigraphStore, "select", noted)
    command = 'FIND(?d.name) WHERE {{ ?d {{type: "Drug"}} FILTER(?d.name != "{}") }}'
    with nexus.limited(max_rows=80):
        for name in "abcd":
            queries.clear()
            with pytest.raises(kiprdf.KipError, match="KIP_4002") as caught:
                nexus.execute(command.format(name))
            assert caught.value.source == command.format(name)
            assert len(queries) == 1
