"""Raw SPARQL in a separate process: the same answers, of the last commit, and nothing left."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from pyoxigraph import (
    BaseDirection,
    BlankNode,
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    QueryBoolean,
    QueryResultsFormat,
    QuerySolutions,
    Triple,
)

import kiprdf
from kiprdf import Budget
from kiprdf.store import Solutions, sparql_worker
from kiprdf.store.guard import check_query, is_one_pattern
from tests.cases import each_case
from tests.nexus.test_budget import with_nodes
from tests.trust import children

SOON = 20.0
LINKED = "?s a ?t . ?s ?p ?o"
"""Two patterns, which no single look into an index answers."""
COUNTED = f"SELECT (COUNT(*) AS ?n) {{ {LINKED} }}"
ENDLESS = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } ORDER BY ?c ?f ?i"

S, P = NamedNode("urn:s"), NamedNode("urn:p")
ODD_TERMS: list[Any] = [
    Literal(""),
    Literal("a\r\n\t\"'\\ \x00 \x7f \ufffe 𝄞 é"),
    Literal("hello", language="en"),
    Literal("שלום", language="he", direction=BaseDirection.RTL),
    Literal("1", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#integer")),
    Literal("1.50", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#decimal")),
    Literal("x", datatype=NamedNode("urn:own")),
    Literal("l" * 300_000),
    NamedNode("urn:a%20b/é?x=1#y"),
    BlankNode("b1"),
    BlankNode("x.y-z"),
    Triple(S, P, Triple(S, P, Literal("deep", language="fr"))),
    Triple(BlankNode("b1"), P, BlankNode("b2")),
]


def _odd(nexus: kiprdf.Nexus) -> kiprdf.Nexus:
    """A nexus with every kind of term in it, and a graph with a name, which queries do not see."""
    engine = nexus.store.engine
    engine.extend(Quad(S, NamedNode("urn:odd"), term, DefaultGraph()) for term in ODD_TERMS)
    engine.add(Quad(BlankNode("b1"), P, Literal("of a blank node"), DefaultGraph()))
    engine.add(Quad(S, P, Literal("elsewhere"), NamedNode("urn:graph")))
    nodes = [NamedNode(f"urn:n{number}") for number in range(50)]
    engine.extend(
        Quad(one, P, other, DefaultGraph())
        for number, one in enumerate(nodes)
        for other in nodes[number + 1 :: 7]
    )
    return nexus


@pytest.fixture(scope="module", params=["memory", "folder"])
def nexus(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[kiprdf.Nexus]:
    folder = tmp_path_factory.mktemp("kb") / "kb"
    opened = kiprdf.Nexus.memory() if request.param == "memory" else kiprdf.Nexus.open(folder)
    with _odd(opened):
        yield opened


PREFIXES = (
    "PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>\n"
    "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\n"
)
ORDINARY = [
    "SELECT * { <urn:s> <urn:odd> ?o . ?x ?y ?o }",
    "SELECT ?o ?o2 { <urn:s> <urn:odd> ?o OPTIONAL { ?o <urn:p> ?o2 } }",
    "SELECT ?missing ?o ?also { <urn:s> <urn:odd> ?o FILTER(isLiteral(?o)) }",
    "SELECT (STR(?o) AS ?t) (LANG(?o) AS ?l) (LANGDIR(?o) AS ?d) (DATATYPE(?o) AS ?k) "
    "{ <urn:s> <urn:odd> ?o }",
    "SELECT ?a ?c { ?a <urn:p> ?b . ?b <urn:p> ?c }",
    "SELECT ?a ?c { ?a <urn:p> ?b . ?b <urn:p> ?c } LIMIT 7 OFFSET 3",
    "SELECT DISTINCT ?c { ?a <urn:p> ?b . ?b <urn:p> ?c }",
    "SELECT ?a (COUNT(*) AS ?n) (SAMPLE(?b) AS ?one) { ?a <urn:p> ?b } GROUP BY ?a",
    "SELECT (GROUP_CONCAT(?b; separator='|') AS ?x) { ?a <urn:p> ?b FILTER(isIRI(?b)) }",
    "SELECT ?a ?b { ?a <urn:p>+ ?b . <urn:n0> <urn:p>* ?a }",
    "SELECT ?a { ?a <urn:p> ?b MINUS { ?b <urn:p> ?c } }",
    "SELECT ?a { ?a <urn:p> ?b FILTER NOT EXISTS { ?b <urn:p> ?c } } ORDER BY DESC(?a)",
    "SELECT * { VALUES (?a ?b) { (1 UNDEF) ('x'@en <urn:n1>) (UNDEF 'y'^^<urn:d>) } }",
    "SELECT * { { ?a <urn:p> <urn:n1> } UNION { <urn:n1> <urn:p> ?b } }",
    "SELECT (1/3 AS ?x) (1e300*1e300 AS ?y) (1/0 AS ?z) (CONCAT('a', 'b'@en) AS ?c) {}",
    "SELECT * {}",
    "SELECT * { FILTER(false) }",
    "SELECT ?z ?y ?x { ?x <urn:none> ?y . ?y <urn:none> ?z }",
    "SELECT * { GRAPH ?g { ?s ?p ?o } }",
    "SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g",
    "SELECT * { GRAPH <urn:graph> { ?s ?p ?o } }",
    "SELECT * { <urn:s> <urn:odd> <<( ?a ?b ?c )>> }",
    "SELECT ?x { ?x a rdfs:Class . ?x ?y ?z }",
    "SELECT * { [] <urn:p> [] }",
    f"SELECT * {{ {LINKED} }}",
    f"SELECT * {{ {LINKED} }} LIMIT 3000",
    "SELECT ?s { ?s ?p ?o } LIMIT 3",
    "ASK { ?a <urn:p> ?b . ?b <urn:p> ?c }",
    "ASK { ?a <urn:none> ?b . ?b <urn:p> ?c }",
    "ASK { <urn:s> <urn:p> ?o }",
    "CONSTRUCT { ?b <urn:q> ?a } { ?a <urn:p> ?b . ?b <urn:p> ?c }",
    "CONSTRUCT { ?s <urn:odd> ?o . ?s rdf:reifies <<( ?s ?p ?o )>> } { ?s <urn:odd> ?o; ?p ?o }",
    "CONSTRUCT WHERE { <urn:s> <urn:none> ?o }",
    "DESCRIBE <urn:s>",
    "DESCRIBE ?x { ?x <urn:p> <urn:n9> }",
]


def _engine_answer(nexus: kiprdf.Nexus, query: str) -> Any:
    """The answer of the engine in this process, for the default graph."""
    engine = nexus.store.engine
    results = engine.query(query, default_graph=DefaultGraph(), named_graphs=[])
    if isinstance(results, QueryBoolean):
        return bool(results)
    if isinstance(results, QuerySolutions):
        return tuple(variable.value for variable in results.variables), [*map(tuple, results)]
    return list(results)


def _answer(nexus: kiprdf.Nexus, query: str) -> Any:
    answer = nexus.sparql(query)
    return (answer.columns, list(answer.tuples())) if isinstance(answer, kiprdf.Rows) else answer


@pytest.mark.parametrize("query", ORDINARY)
def test_the_answer_is_that_of_the_engine(query: str, nexus: kiprdf.Nexus) -> None:
    """Names, order, terms, labels of blank nodes: all of it."""
    assert _answer(nexus, PREFIXES + query) == _engine_answer(nexus, PREFIXES + query)


def test_a_table_of_terms_has_these_terms() -> None:
    """Rows of a store behind an endpoint are written here, and read as any other table."""
    rows = [(term, None) for term in ODD_TERMS] + [(None, None)]
    solutions = Solutions(("a", "b"), rows)
    table = sparql_worker.Table.of(solutions)
    assert table.number == len(ODD_TERMS) + 1
    assert table.solutions() == solutions
    assert table.written(QueryResultsFormat.TSV) == table.text
    assert table.written(QueryResultsFormat.CSV).startswith(b"a,b\r\n")


REFUSED = [
    "SELECT * { ?s ?p }",
    "SELECT * { ?s ?p ?o . ?s a <relative> }",
    "SELECT ?x (1 AS ?x) { ?x ?y ?z }",
    "SELECT * { ?s <urn:unknown:p> '\ud800' . ?s ?q ?o }",
]


@pytest.mark.parametrize("query", REFUSED)
def test_a_refusal_says_what_the_engine_says(query: str, nexus: kiprdf.Nexus) -> None:
    with pytest.raises((SyntaxError, ValueError)) as bare:
        nexus.store.engine.query(query)
    with pytest.raises(kiprdf.KipError, match="KIP_1001") as raised:
        nexus.sparql(query)
    message = bare.value.msg if isinstance(bare.value, SyntaxError) else str(bare.value)
    assert message in raised.value.message


LABELS = "SELECT ?n { ?x a ?t ; <http://www.w3.org/2000/01/rdf-schema#label> ?n }"
PERSON = '{type: "Person", name: :n}'


def test_a_query_sees_every_write_before_it(tmp_path: Path) -> None:
    for nexus in (kiprdf.Nexus.memory(), kiprdf.Nexus.open(tmp_path / "kb")):
        with nexus:
            for number in range(5):
                name = f"Person {number}"
                nexus.execute(f"UPSERT {{ CONCEPT {{ {PERSON} }} }}", n=name)
                assert Literal(name) in nexus.sparql(LABELS).column("n")
                if number % 2:
                    nexus.execute(f"DELETE CONCEPT ?x DETACH WHERE {{ ?x {PERSON} }}", n=name)
                    assert Literal(name) not in nexus.sparql(LABELS).column("n")


def test_a_copy_in_memory_is_kept_up_with_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process is kept as long as the changes are known; the answers are in the same order."""
    everything = f"SELECT * {{ {LINKED} }}"
    with kiprdf.Nexus.memory() as nexus:
        nexus.sparql(COUNTED)
        (process,) = _processes(nexus)
        for number in range(30):
            text = f"UPSERT {{ CONCEPT {{ {PERSON} SET ATTRIBUTES {{ age: :age }} }} }}"
            nexus.execute(text, n=f"Person {number % 7}", age=number)
            if number % 5 == 0:
                name = f"Person {number % 7}"
                nexus.execute(f"DELETE CONCEPT ?x DETACH WHERE {{ ?x {PERSON} }}", n=name)
            if number % 3:
                assert _answer(nexus, everything) == _engine_answer(nexus, everything), number
        quads = "SELECT ?g ?s ?p ?o { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"
        assert set(nexus.sparql(quads).tuples()) == set(_engine_answer(nexus, quads)[1])
        assert _processes(nexus) == [process]
        monkeypatch.setattr(sparql_worker, "MOST_CHANGES", 0)
        nexus.execute(f"UPSERT {{ CONCEPT {{ {PERSON} }} }}", n="Ann")
        assert _answer(nexus, everything) == _engine_answer(nexus, everything)
        assert _processes(nexus) != [process]


def test_a_reader_sees_the_state_at_its_opening(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as writer:
        with kiprdf.Nexus.open(tmp_path / "kb", read_only=True) as reader:
            before = _answer(reader, COUNTED)
            writer.execute('UPSERT { CONCEPT { {type: "Person", name: "Ann"} } }')
            assert _answer(reader, COUNTED) == before == _engine_answer(reader, COUNTED)
        with kiprdf.Nexus.open(tmp_path / "kb", read_only=True) as reader:
            writer.execute('UPSERT { CONCEPT { {type: "Person", name: "Bob"} } }')
            # The process begins after the write, which the reader does not see.
            assert _answer(reader, COUNTED) == _engine_answer(reader, COUNTED) != before


def test_files_that_the_writer_replaces_are_opened_again(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        before = _answer(nexus, COUNTED)
        nexus.store.engine.flush()
        nexus.store.engine.optimize()
        assert _answer(nexus, COUNTED) == before


def test_a_long_log_is_written_out_once(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        texts = (Literal(f"{number} " + "x" * 10_000) for number in range(600))
        nexus.store.engine.extend(Quad(S, P, text, DefaultGraph()) for text in texts)
        graph = tmp_path / "kb" / "graph"
        assert sparql_worker._log_size(graph) > sparql_worker.LOG_BYTES
        assert _answer(nexus, COUNTED) == _engine_answer(nexus, COUNTED)
        assert sparql_worker._log_size(graph) < sparql_worker.LOG_BYTES


def test_queries_see_a_restored_dataset() -> None:
    with kiprdf.Nexus.memory() as source, kiprdf.Nexus.memory() as target:
        source.execute('UPSERT { CONCEPT { {type: "Person", name: "Ann"} } }')
        before = _answer(target, COUNTED)
        target.restore(source.snapshot())
        assert _answer(target, COUNTED) == _engine_answer(target, COUNTED) != before


# Budgets ------------------------------------------------------------------------------------------


def _code(call: Callable[[], Any]) -> str:
    with pytest.raises(kiprdf.KipError) as raised:
        call()
    return f"{raised.value.code} {raised.value.message}"


def test_rows_beyond_the_budget_are_refused() -> None:
    nexus = with_nodes(100)
    query = f"SELECT ?s ?p {{ {LINKED} }}"
    number = len(_engine_answer(nexus, query)[1])
    with nexus.limited(max_rows=number):
        assert len(nexus.sparql(query)) == number
    with nexus.limited(max_rows=number - 1):
        error = _code(lambda: nexus.sparql(query))
        assert error == f"KIP_4002 There are more than {number - 1} solutions."
    wide = "SELECT * { ?a1 ?a2 ?a3 . ?a1 ?a4 ?a5 . ?a1 ?a6 ?a7 . ?a1 ?a8 ?a9 }"
    number = len(_engine_answer(nexus, wide)[1])
    with nexus.limited(max_rows=2 * number):
        assert len(nexus.sparql(wide)) == number
    with nexus.limited(max_rows=2 * number - 1):
        assert "KIP_4002" in _code(lambda: nexus.sparql(wide))


def test_without_a_clock_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparql_worker, "QUERY_MEMORY", 64 * 1024**2)
    nexus = with_nodes(2_000, budget=Budget(None, None, None, None))
    assert (
        _code(lambda: nexus.sparql(ENDLESS))
        == "KIP_4002 The query needs more than 64 MiB of memory."
    )
    assert _answer(nexus, COUNTED) == _engine_answer(nexus, COUNTED)


@pytest.mark.parametrize("form", ["SELECT *", "SELECT (STRUUID() AS ?u)", "CONSTRUCT { ?a ?b ?f }"])
def test_the_size_of_an_answer_is_limited(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparql_worker, "ANSWER_MEMORY", 8 * 1024**2)
    nexus = with_nodes(1_000, budget=Budget(None, None, None, None))
    query = form + " { ?a ?b ?c . ?d ?e ?f }"
    assert (
        _code(lambda: nexus.sparql(query)) == "KIP_4002 The answer takes more than 8 MiB of memory."
    )


def test_the_clock_is_stopped_while_a_process_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    started = sparql_worker._start_process

    def slowly() -> Any:
        time.sleep(0.4)
        return started()

    monkeypatch.setattr(sparql_worker, "_start_process", slowly)
    nexus = with_nodes(100, budget=Budget(timeout_s=0.3))
    assert _answer(nexus, COUNTED) == _engine_answer(nexus, COUNTED)


def test_a_slow_query_does_not_block_others() -> None:
    nexus = with_nodes(2_000, 100, budget=Budget(timeout_s=3.0))
    slow = threading.Thread(target=lambda: _code(lambda: nexus.sparql(ENDLESS)))
    slow.start()
    time.sleep(0.2)
    assert _answer(nexus, COUNTED) == _engine_answer(nexus, COUNTED)
    assert slow.is_alive()
    slow.join(SOON)


def test_many_threads_get_their_own_answers() -> None:
    nexus = with_nodes(50)
    wrong: list[Any] = []

    def ask(number: int) -> None:
        for turn in range(20):
            query = f"SELECT ({number * 100 + turn} AS ?n) {{ }}"
            cells = nexus.sparql(query).column("n")
            wrong.extend(cells if cells[0].value != str(number * 100 + turn) else ())

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SOON)
    assert not wrong
    assert len(_processes(nexus)) <= sparql_worker.MOST_PROCESSES


# Interrupts ---------------------------------------------------------------------------------------


class _Struck(BaseException):
    """What a signal handler raises."""


def _strike_after(steps: int) -> Callable[[FrameType, str, Any], Any]:
    """A tracer that raises at a step of the code that asks the process."""
    left = [steps]

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != sparql_worker.__file__:
            return None
        frame.f_trace_opcodes = True
        left[0] -= event == "opcode"
        if left[0] == 0:
            raise _Struck
        return trace

    return trace


def test_after_an_interrupt_anywhere_the_next_query_is_answered() -> None:
    nexus = with_nodes(50)
    expected = {
        query: _engine_answer(nexus, query) for query in (COUNTED, f"SELECT * {{ {LINKED} }}")
    }
    for steps in range(1, 600, 4):
        query = [*expected][steps // 4 % 2]
        sys.settrace(_strike_after(steps))
        try:
            nexus.sparql(query)
        except (_Struck, kiprdf.KipError):
            pass
        finally:
            sys.settrace(None)
        for query, answer in expected.items():
            assert _answer(nexus, query) == answer, steps


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs signals")
def test_after_a_signal_at_any_time_the_next_query_is_answered() -> None:
    nexus = with_nodes(50)
    query = f"SELECT * {{ {LINKED} }}"
    answer = _engine_answer(nexus, query)
    nexus.sparql(query)

    def strike(number: int, frame: Any) -> None:
        raise _Struck

    before = signal.signal(signal.SIGALRM, strike)
    try:
        for turn in range(60):
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0001 + turn * 0.00005)
                while True:
                    nexus.sparql(query)
            except _Struck:
                pass
            assert _answer(nexus, query) == answer
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs signals")
def test_a_query_that_is_interrupted_stops_running() -> None:
    nexus = with_nodes(2_000, 100)
    nexus.sparql(COUNTED)
    processes = _processes(nexus)

    def strike(number: int, frame: Any) -> None:
        raise _Struck

    before = signal.signal(signal.SIGALRM, strike)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(_Struck), nexus.limited(timeout_s=None):
            nexus.sparql(ENDLESS)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert _ended(processes)
    assert _answer(nexus, COUNTED) == _engine_answer(nexus, COUNTED)


# The end ------------------------------------------------------------------------------------------


def _processes(nexus: kiprdf.Nexus) -> list[subprocess.Popen[bytes]]:
    workers = nexus.store._processes.workers
    return [worker._process for worker in workers if worker._process is not None]


def _ended(processes: list[subprocess.Popen[bytes]]) -> bool:
    end = time.monotonic() + SOON
    while any(process.poll() is None for process in processes):
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def test_closing_ends_the_process() -> None:
    nexus = with_nodes(50)
    nexus.sparql(COUNTED)
    (process,) = _processes(nexus)
    nexus.close()
    assert process.returncode is not None
    with pytest.raises(kiprdf.KipError, match="The nexus is closed"):
        nexus.sparql(COUNTED)


def test_closing_ends_every_process_at_once() -> None:
    nexus = with_nodes(2_000, 100)
    threads = [
        threading.Thread(target=lambda: _code(lambda: nexus.sparql(ENDLESS))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    processes = _processes(nexus)
    assert len(processes) == sparql_worker.MOST_PROCESSES
    nexus.close()
    assert all(process.returncode is not None for process in processes)
    for thread in threads:
        thread.join(SOON)
        assert not thread.is_alive()


def test_closing_ends_a_query_that_runs() -> None:
    nexus = with_nodes(2_000, 100)
    errors: list[str] = []
    thread = threading.Thread(target=lambda: errors.append(_code(lambda: nexus.sparql(ENDLESS))))
    thread.start()
    time.sleep(0.3)
    nexus.close()
    thread.join(SOON)
    assert errors == ["KIP_4003 The nexus is closed."]


def test_a_nexus_that_nobody_holds_ends_its_process() -> None:
    nexus = with_nodes(50)
    nexus.sparql(COUNTED)
    processes = _processes(nexus)
    del nexus
    gc.collect()
    assert _ended(processes)


_SINGLE_WORKER = """
import os, sys, threading, time
import kiprdf
from tests.store.test_sparql_worker import COUNTED, ENDLESS, _processes, with_nodes
nexus = with_nodes(2_000, 100)
nexus.sparql(COUNTED)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_leaves_the_process_of_its_parent_alone() -> None:
    script = _SINGLE_WORKER + (
        "if os.fork() == 0:\n"
        "    try:\n"
        "        nexus.close()\n"
        "    except kiprdf.StoreError:\n"
        "        sys.exit()\n"
        "os.wait()\n"
        "print(_processes(nexus)[0].poll(), nexus.sparql(COUNTED).column('n')[0].value)\n"
    )
    child = children.run("-c", script)
    assert (child.status, child.output.split()[0]) == (0, "None"), child.output


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
def test_a_process_does_not_outlive_its_parent() -> None:
    script = _SINGLE_WORKER + (
        "threading.Thread(target=nexus.sparql, args=(ENDLESS,), daemon=True).start()\n"
        "time.sleep(0.3)\n"
        "print(_processes(nexus)[0].pid, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    number = int(children.run("-c", script).output.split()[-1])
    end = time.monotonic() + SOON
    while _is_alive(number):
        assert time.monotonic() < end
        time.sleep(0.05)


def _is_alive(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


# What is asked here -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query",
    [
        "ASK { ?x a ?t }",
        "SELECT * { ?s ?p ?o }",
        "SELECT ?s { ?s <urn:p> 'x' . } LIMIT 10",
        "PREFIX a: <urn:a> SELECT ?s WHERE { ?s a:b 1 } # all of it",
    ],
)
def test_a_single_pattern_needs_no_process(query: str) -> None:
    assert is_one_pattern(check_query(query))


@each_case(
    "query",
    [
        "SELECT * { ?s ?p ?o . ?a ?b ?c }",
        "SELECT * { ?s ?p ?o ; ?q ?r }",
        "SELECT * { ?s ?p ?o , ?q }",
        "SELECT * { ?s ?p [ ?q ?r ] }",
        "SELECT * { ?s ?p ( ?q ?r ) }",
        "SELECT * { ?s ?p ?o {| ?q ?r |} }",
        "SELECT * { ?s ?p ?o ~ ?r }",
        "SELECT * { ?s ?p <<( ?a ?b ?c )>> }",
        "SELECT * { ?s ?p ?s }",
        "SELECT * { ?s ?p $s }",
        "SELECT * { ?s <urn:p>* ?o }",
        "SELECT * { ?s !<urn:p> ?o }",
        "SELECT * { ?s ?p ?o } ORDER BY ?s",
        "SELECT * { ?s ?p ?o } OFFSET 9",
        "SELECT * { ?s ?p ?o } LIMIT 1 OFFSET 9",
        "SELECT DISTINCT ?p { ?s ?p ?o }",
        "SELECT ?p { ?s ?p ?o } GROUP BY ?p",
        "SELECT ?s ?s ?s ?s { ?s ?p ?o }",
        "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
        "SELECT * { ?s ?p ?o } VALUES ?x { 1 2 }",
        "SELECT * { GRAPH ?g { ?s ?p ?o } }",
        "SELECT * { { ?s ?p ?o } }",
        "SELECT * { ?s ?p ?o FILTER(?o > 1) }",
        "CONSTRUCT WHERE { ?s ?p ?o }",
        "DESCRIBE ?s { ?s ?p ?o }",
    ],
)
def test_other_queries_go_to_a_process(query: str) -> None:
    assert not is_one_pattern(check_query(query))
