"""The embedded store, in memory and on disk: whole commits, one writer, nothing lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Quad, Triple

from kiprdf.errors import StoreError
from kiprdf.rdf import vocab
from kiprdf.store import Delta, OxigraphStore, oxigraph
from tests.threads import together

A, B, P = NamedNode("urn:a"), NamedNode("urn:b"), NamedNode("urn:p")


def fact(number: int) -> Triple:
    return Triple(A, P, Literal(number))


@pytest.fixture(params=["memory", "disk"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OxigraphStore]:
    opened = (
        OxigraphStore.memory()
        if request.param == "memory"
        else OxigraphStore.open(tmp_path / "nexus")
    )
    yield opened
    opened.close()


# Commits ------------------------------------------------------------------------------------------


def test_a_new_store_has_no_commit(store: OxigraphStore) -> None:
    assert store.commit() == 0


def test_every_delta_is_one_commit(store: OxigraphStore) -> None:
    assert [store.apply(Delta(added=(fact(i), fact(i + 100)))) for i in range(3)] == [1, 2, 3]
    assert store.commit() == 3


def test_a_delta_removes_and_adds(store: OxigraphStore) -> None:
    store.apply(Delta(added=(fact(1), fact(2))))
    store.apply(Delta(removed=(fact(1),), added=(fact(3),)))
    assert sorted(t.object.value for t in store.match(A, None, None)) == ["2", "3"]


def test_a_delta_of_ten_thousand_triples_is_one_commit(store: OxigraphStore) -> None:
    store.apply(Delta(added=tuple(map(fact, range(10_000)))))
    assert store.commit() == 1
    assert sum(1 for _ in store.match(A, P, None)) == 10_000


def test_an_empty_delta_is_false() -> None:
    assert not Delta()
    assert Delta(added=(fact(1),))
    assert Delta(removed=(fact(1),))
    assert Delta(records={"a": "b"})


def test_a_touched_element_alone_is_no_write() -> None:
    assert not Delta(touched=(A,))


def test_records_are_kept_and_replaced(store: OxigraphStore) -> None:
    store.apply(Delta(records={"capsule/a b.kip": "1", "x": 'quo"te\n'}))
    store.apply(Delta(records={"x": "2"}))
    assert store.records() == {"capsule/a b.kip": "1", "x": "2"}


def test_a_record_is_written_in_the_commit_of_its_delta(store: OxigraphStore) -> None:
    assert store.apply(Delta(added=(fact(1),), records={"x": "1"})) == 1


def test_format_base_and_commit_are_stored_in_the_dataset(store: OxigraphStore) -> None:
    store.apply(Delta(added=(fact(1),)))
    rows = store.select(
        "SELECT ?key ?value WHERE { GRAPH <urn:kip:graph/nexus> "
        "{ <urn:kip:graph/nexus> ?key ?value } } ORDER BY ?key"
    )
    assert rows == [
        (NamedNode("urn:kip:vocab/base"), Literal("urn:kip:nexus/")),
        (NamedNode("urn:kip:vocab/commit"), Literal(1)),
        (NamedNode("urn:kip:vocab/format"), Literal(3)),
    ]


def test_bookkeeping_is_not_in_the_default_graph(store: OxigraphStore) -> None:
    store.apply(Delta(added=(fact(1),), records={"x": "1"}))
    assert list(store.match(None, None, None)) == [fact(1)]


def test_select_returns_cells_in_the_order_of_the_variables(store: OxigraphStore) -> None:
    store.apply(Delta(added=(fact(1),)))
    rows = store.select("SELECT ?o ?s ?x WHERE { ?s <urn:p> ?o }")
    assert rows == [(Literal(1), A, None)]


def test_describe_returns_the_triples_of_a_subject(store: OxigraphStore) -> None:
    other = Triple(B, P, A)
    store.apply(Delta(added=(fact(1), other)))
    assert store.describe(B) == [other]


def test_match_fits_a_triple_term(store: OxigraphStore) -> None:
    reifier = Triple(B, vocab.REIFIES, fact(1))
    store.apply(Delta(added=(fact(1), reifier)))
    assert list(store.match(None, vocab.REIFIES, fact(1))) == [reifier]


# One state a reader -------------------------------------------------------------------------------


def test_readers_see_whole_commits_only(store: OxigraphStore) -> None:
    store.apply(Delta(added=tuple(map(fact, range(200)))))
    done = threading.Event()
    row_counts: set[int] = set()

    def count_rows() -> None:
        while not done.is_set():
            row_counts.add(len(store.select("SELECT ?o WHERE { <urn:a> <urn:p> ?o }")))

    reader = threading.Thread(target=count_rows)
    reader.start()
    for step in range(1, 20):
        old = tuple(map(fact, range((step - 1) * 200, step * 200)))
        new = tuple(map(fact, range(step * 200, (step + 1) * 200)))
        store.apply(Delta(removed=old, added=new))
    done.set()
    reader.join()
    assert row_counts == {200}


def test_readers_see_whole_commits_that_only_add(store: OxigraphStore) -> None:
    done = threading.Event()
    counts: list[tuple[int, int, int]] = []

    def count_rows() -> None:
        while not done.is_set():
            before = store.commit()
            number = len(store.select("SELECT ?o WHERE { <urn:a> <urn:p> ?o }"))
            counts.append((before, number, store.commit()))

    reader = threading.Thread(target=count_rows)
    reader.start()
    for step in range(40):
        store.apply(Delta(added=tuple(map(fact, range(step * 200, (step + 1) * 200)))))
    done.set()
    reader.join()
    assert all(number % 200 == 0 for _, number, _ in counts)
    assert all(before * 200 <= number <= after * 200 for before, number, after in counts)


def test_read_runs_once_on_a_still_store(store: OxigraphStore) -> None:
    calls: list[int] = []
    assert store.read(lambda: calls.append(store.commit()) or "answer") == "answer"
    assert calls == [0]


def test_read_runs_again_when_a_commit_came_between(store: OxigraphStore) -> None:
    calls: list[int] = []

    def add_once() -> int:
        calls.append(store.commit())
        if len(calls) == 1:
            store.apply(Delta(added=(fact(1),)))
        return store.commit()

    assert store.read(add_once) == 1
    assert calls == [0, 1]


def test_read_takes_the_writer_lock_after_three_attempts(store: OxigraphStore) -> None:
    free: list[bool] = []

    def write_while_reading() -> None:
        entered = threading.Event()
        threading.Thread(target=enter, args=(entered,)).start()
        free.append(entered.wait(0.3))
        store.apply(Delta(added=(fact(len(free)),)))

    def enter(entered: threading.Event) -> None:
        with store.writing():
            entered.set()

    store.read(write_while_reading)
    assert free == [True, True, True, False]


def test_a_writer_in_a_loop_lets_others_write(store: OxigraphStore) -> None:
    done = threading.Event()
    written: list[int] = []

    def write_once() -> None:
        with store.writing():
            written.append(store.commit())
        done.set()

    thread = threading.Thread(target=write_once)
    deadline = time.monotonic() + 5
    with store.writing():
        thread.start()
        time.sleep(0.05)
    while not done.is_set() and time.monotonic() < deadline:
        with store.writing():
            time.sleep(0.01)
    thread.join()
    assert len(written) == 1


def test_the_writer_lock_is_free_again_after_a_read(store: OxigraphStore) -> None:
    store.read(lambda: store.apply(Delta(added=(fact(store.commit()),))))
    written: list[int] = []
    thread = threading.Thread(target=lambda: written.append(store.apply(Delta(added=(fact(99),)))))
    thread.start()
    thread.join(5)
    assert written == [5]


def test_an_error_on_one_state_is_raised(store: OxigraphStore) -> None:
    calls: list[int] = []

    def fail() -> None:
        calls.append(1)
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        store.read(fail)
    assert len(calls) == 1


def test_an_error_that_read_two_states_is_retried(store: OxigraphStore) -> None:
    calls: list[int] = []

    def fail_once() -> str:
        calls.append(1)
        if len(calls) == 1:
            store.apply(Delta(added=(fact(1),)))
            raise ValueError("mixed")
        return "answer"

    assert store.read(fail_once) == "answer"


# The number of the last commit --------------------------------------------------------------------


class Engine:
    """An engine that does something else besides, or instead, when it writes or looks."""

    def __init__(self, engine: Any, **instead: Callable[..., Any]) -> None:
        self._engine = engine
        self._instead = instead

    def __getattr__(self, name: str) -> Any:
        return self._instead.get(name) or getattr(self._engine, name)

    def __contains__(self, quad: Quad) -> bool:
        return quad in self._engine


def numbers(store: OxigraphStore) -> list[int]:
    graph = vocab.BOOKKEEPING
    quads = store.engine.quads_for_pattern(None, vocab.COMMIT, None, graph)
    return sorted(int(quad.object.value) for quad in quads)  # type: ignore[union-attr]


def fails(*_: Any) -> None:
    raise OSError("the disk is full")


def test_exactly_one_commit_number_is_stored(store: OxigraphStore) -> None:
    store.apply(Delta(added=(fact(1),)))
    assert numbers(store) == [1]
    store.apply(Delta(added=(fact(2),)))
    assert numbers(store) == [2]
    store.apply(Delta(removed=(fact(2),)))
    assert numbers(store) == [3]
    store.apply(Delta(added=(fact(2),), records={"a": "b"}))
    assert numbers(store) == [4]


def test_the_commit_number_is_not_queried(
    store: OxigraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.apply(Delta(added=(fact(1),)))
    monkeypatch.setattr(store, "_engine", Engine(store.engine, quads_for_pattern=fails))
    assert store.commit() == 1
    assert store.apply(Delta(added=(fact(2),))) == 2


def test_a_triple_may_be_given_as_its_terms(store: OxigraphStore) -> None:
    about = (B, vocab.REIFIES, fact(1))
    store.apply(Delta(added=((A, P, B), about)))
    assert set(store.match(None, None, None)) == {Triple(A, P, B), Triple(*about)}
    store.apply(Delta(removed=(about, (A, P, B)), added=((B, P, A),)))
    assert list(store.match(None, None, None)) == [Triple(B, P, A)]


@pytest.mark.parametrize("removed", [(), (fact(0),)])
def test_a_commit_counts_from_the_moment_it_is_visible(
    store: OxigraphStore, monkeypatch: pytest.MonkeyPatch, removed: tuple[Triple, ...]
) -> None:
    store.apply(Delta(added=(fact(0),)))
    engine, commits = store.engine, []

    def written(name: str) -> Callable[..., None]:
        def write(*what: Any, **options: Any) -> None:
            commits.append(store.commit())
            getattr(engine, name)(*what, **options)
            commits.append(store.commit())

        return write

    watched = Engine(engine, load=written("load"), update=written("update"))
    monkeypatch.setattr(store, "_engine", watched)
    assert store.apply(Delta(removed=removed, added=(fact(1),))) == 2
    assert commits == [1, 2]


@pytest.mark.parametrize("fault", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("happens", [False, True])
def test_after_a_failed_write_the_commit_number_is_that_of_the_graph(
    store: OxigraphStore,
    monkeypatch: pytest.MonkeyPatch,
    fault: type[BaseException],
    happens: bool,
) -> None:
    # The test holds the graph, which cannot be opened again; to try six times takes two seconds.
    monkeypatch.setattr(oxigraph, "REOPEN_ATTEMPTS", 1)
    store.apply(Delta(added=(fact(0),)))
    engine = store.engine

    def load(*arguments: Any, **options: Any) -> None:
        if happens:
            engine.load(*arguments, **options)
        raise fault

    with monkeypatch.context() as patched:
        patched.setattr(store, "_engine", Engine(engine, load=load))
        with pytest.raises(StoreError if fault is OSError else fault):
            store.apply(Delta(added=(fact(1),)))
    assert store.commit() == 1 + happens
    assert store.apply(Delta(added=(fact(2),))) == 2 + happens
    assert numbers(store) == [2 + happens]


def test_a_write_that_cannot_be_verified_is_verified_by_the_next(
    store: OxigraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The test holds the graph, which cannot be opened again; to try six times takes two seconds.
    monkeypatch.setattr(oxigraph, "REOPEN_ATTEMPTS", 1)
    store.apply(Delta(added=(fact(0),)))
    engine = store.engine

    def load(*arguments: Any, **options: Any) -> None:
        engine.load(*arguments, **options)
        raise OSError

    with monkeypatch.context() as patched:
        broken = Engine(engine, load=load, quads_for_pattern=fails)
        patched.setattr(store, "_engine", broken)
        with pytest.raises(StoreError, match="cannot be written"):
            store.apply(Delta(added=(fact(1),)))
    assert store.commit() == 2
    assert store.apply(Delta(added=(fact(2),))) == 3
    assert numbers(store) == [3]


def test_a_number_that_cannot_be_removed_is_removed_by_the_next_commit(
    store: OxigraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.apply(Delta(added=(fact(0),)))
    with monkeypatch.context() as patched:
        patched.setattr(store, "_engine", Engine(store.engine, remove=fails))
        assert store.apply(Delta(added=(fact(1),))) == 2
    assert numbers(store) == [1, 2]
    assert store.commit() == 2
    assert store.apply(Delta(added=(fact(2),))) == 3
    assert numbers(store) == [3]


@pytest.mark.parametrize("read_only", [False, True])
def test_of_two_commit_numbers_after_a_crash_the_higher_counts(
    tmp_path: Path, read_only: bool
) -> None:
    store = OxigraphStore.open(tmp_path / "nexus")
    for number in range(3):
        store.apply(Delta(added=(fact(number),)))
    graph = vocab.BOOKKEEPING
    store.engine.add(Quad(graph, vocab.COMMIT, Literal(2), graph))
    store.close()
    again = OxigraphStore.open(tmp_path / "nexus", read_only=read_only)
    assert again.commit() == 3
    assert numbers(again) == ([2, 3] if read_only else [3])
    again.close()


# One writer ---------------------------------------------------------------------------------------


def test_two_threads_that_increment_under_the_lock_lose_nothing(store: OxigraphStore) -> None:
    store.apply(Delta(added=(fact(0),)))

    def increment() -> None:
        for _ in range(100):
            with store.writing():
                (old,) = store.match(A, P, None)
                number = int(old.object.value)  # type: ignore[union-attr]
                store.apply(Delta(removed=(old,), added=(fact(number + 1),)))

    together(increment, increment)
    assert list(store.match(A, P, None)) == [fact(200)]
    assert store.commit() == 201


def test_apply_waits_for_the_writer(store: OxigraphStore) -> None:
    written: list[int] = []
    thread = threading.Thread(target=lambda: written.append(store.apply(Delta(added=(fact(1),)))))
    with store.writing():
        thread.start()
        thread.join(0.1)
        assert written == []
    thread.join(5)
    assert written == [1]


# Closing ------------------------------------------------------------------------------------------


def test_closing_twice_is_fine(store: OxigraphStore) -> None:
    store.close()
    store.close()
    assert store.closed


def test_a_closed_store_says_so(store: OxigraphStore) -> None:
    store.close()
    with pytest.raises(StoreError, match=r"^The nexus is closed\.$"):
        store.select("SELECT * WHERE {}")


def test_writing_to_a_closed_store_says_so(store: OxigraphStore) -> None:
    store.close()
    with pytest.raises(StoreError, match=r"^The nexus is closed\.$"):
        store.apply(Delta(added=(fact(1),)))


# Base ---------------------------------------------------------------------------------------------


def test_the_base_is_the_default_one(store: OxigraphStore) -> None:
    assert store.iris.base == "urn:kip:nexus/"


def test_a_bad_base_is_refused_in_a_sentence() -> None:
    with pytest.raises(StoreError) as caught:
        OxigraphStore.memory("https://example.org/kb")
    assert str(caught.value) == "The base IRI 'https://example.org/kb' does not end in '/'."


# What is kept -------------------------------------------------------------------------------------


def test_reopening_keeps_everything(tmp_path: Path) -> None:
    reifier = Triple(B, vocab.REIFIES, fact(1))
    texts = tuple(Triple(A, P, Literal(text)) for text in ("", "a\x00b", "😀", 'quo"te', "\\"))
    store = OxigraphStore.open(tmp_path / "nexus", "https://example.org/kb/")
    store.apply(Delta(added=(fact(1), reifier, *texts), records={"a": "b"}))
    before = set(store.engine)
    store.close()
    with_base = OxigraphStore.open(tmp_path / "nexus")
    assert set(with_base.engine) == before
    assert with_base.commit() == 1
    assert with_base.records() == {"a": "b"}
    assert with_base.iris.base == "https://example.org/kb/"
    with_base.close()


def test_reopening_with_the_same_base_is_fine(tmp_path: Path) -> None:
    OxigraphStore.open(tmp_path / "nexus", "https://example.org/kb/").close()
    store = OxigraphStore.open(tmp_path / "nexus", "https://example.org/kb/")
    assert store.iris.base == "https://example.org/kb/"
    store.close()


def test_quads_of_other_graphs_are_not_matched(store: OxigraphStore) -> None:
    store.engine.add(Quad(A, P, B, NamedNode("urn:g")))
    assert list(store.match(None, None, None)) == []


def test_whether_a_folder_can_be_written_is_tried_once_in_ten_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[Path] = []

    def temporary(dir: Path) -> Any:
        tried.append(dir)
        if len(tried) == 3:
            raise OSError(28, "No space left on device")
        return TemporaryFile(dir=dir)

    monkeypatch.setattr("kiprdf.store.oxigraph.tempfile.TemporaryFile", temporary)
    now = time.monotonic()
    store = OxigraphStore.open(tmp_path / "nexus")
    for later in (0, 1, 9, 11, 15):
        monkeypatch.setattr("kiprdf.store.oxigraph.time.monotonic", lambda: now + later)  # noqa: B023
        store.require_writable_files()
    assert len(tried) == 2
    monkeypatch.setattr("kiprdf.store.oxigraph.time.monotonic", lambda: now + 22)
    with pytest.raises(StoreError, match="cannot be written: No space left on device"):
        store.require_writable_files()
    store.require_writable_files()  # what is wrong is looked at again at once
    assert len(tried) == 4
    store.close()
