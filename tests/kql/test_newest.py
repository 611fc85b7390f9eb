"""The newest elements first, read from the index of their times."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Triple

import kiprdf
from kiprdf.kql.evaluate import by_value
from kiprdf.kql.evaluate.by_value import NewestPlan
from kiprdf.rdf import vocab
from kiprdf.store import Delta, OxigraphStore
from kiprdf.store.update_times import UPDATED_AT, UpdateTimes
from tests.nexus.support import StoppedClock
from tests.shortcuts import Calls, count_calls, no_shortcuts

SCHEMA = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} }
  CONCEPT { {type: "$ConceptType", name: "Symptom"} }
  CONCEPT { {type: "$PropositionType", name: "treats"} }
  CONCEPT { {type: "Symptom", name: "Pain"} }
}"""
LINKS = "FIND(?x.subject) WHERE { ?x (?s, ?p, ?o) }"
DRUGS = 'FIND(?x.name) WHERE { ?x {type: "Drug"} }'
NEWEST = "ORDER BY ?x.metadata._updated_at DESC LIMIT"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    return count_calls(monkeypatch, NewestPlan)


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


def opened(clock: StoppedClock, folder: Path | None = None) -> kiprdf.Nexus:
    """A nexus with five drugs, D0 to D4, a second apart; each treats pain."""
    nexus = (
        kiprdf.Nexus.memory(genesis=False, clock=clock)
        if folder is None
        else kiprdf.Nexus.open(folder, genesis=False, clock=clock)
    )
    nexus.execute(SCHEMA)
    for number in range(5):
        clock.forward(seconds=1)
        add(nexus, f"D{number}")
    return nexus


def add(nexus: kiprdf.Nexus, name: str) -> None:
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Drug", name: :name} '
        'SET PROPOSITIONS { ("treats", {type: "Symptom", name: "Pain"}) } } }',
        name=name,
    )


def test_the_last_written_elements_come_first(clock: StoppedClock, calls: Calls) -> None:
    nexus = opened(clock)
    assert nexus.execute(f"{DRUGS} {NEWEST} 2") == ["D4", "D3"]
    assert nexus.execute(f"{LINKS} {NEWEST} 2") == ["C:Drug/D4", "C:Drug/D3"]
    assert nexus.execute(f"FIND(?x.name) WHERE {{ ?x {{}} }} {NEWEST} 1") == ["D4"]
    assert (calls.indexed, calls.others) == (3, 0)


def test_an_update_moves_an_element_to_the_front(clock: StoppedClock, calls: Calls) -> None:
    nexus = opened(clock)
    clock.forward(seconds=1)
    nexus.execute('UPDATE ?x SET ATTRIBUTES { n: 1 } WHERE { ?x {type: "Drug", name: "D1"} }')
    assert nexus.execute(f"{DRUGS} {NEWEST} 3") == ["D1", "D4", "D3"]
    nexus.execute('DELETE CONCEPT ?x DETACH WHERE { ?x {type: "Drug", name: "D1"} }')
    assert nexus.execute(f"{DRUGS} {NEWEST} 3") == ["D4", "D3", "D2"]
    assert nexus.execute(f"{LINKS} {NEWEST} 3") == ["C:Drug/D4", "C:Drug/D3", "C:Drug/D2"]
    assert (calls.indexed, calls.others) == (3, 0)


def test_a_merge_moves_the_target_to_the_front(clock: StoppedClock, calls: Calls) -> None:
    nexus = opened(clock)
    clock.forward(seconds=1)
    drugs = '?a {type: "Drug", name: "D3"} ?b {type: "Drug", name: "D1"}'
    nexus.execute(f"MERGE CONCEPT ?a INTO ?b WHERE {{ {drugs} }}")
    assert nexus.execute(f"{DRUGS} {NEWEST} 3") == ["D1", "D4", "D2"]
    assert calls.others == 0


def test_what_changes_nothing_moves_nothing(clock: StoppedClock) -> None:
    nexus = opened(clock)
    clock.forward(seconds=1)
    add(nexus, "D0")
    assert nexus.execute(f"{DRUGS} {NEWEST} 1") == ["D4"]


def test_filters_and_other_clauses_apply(clock: StoppedClock, calls: Calls) -> None:
    nexus = opened(clock)
    where = 'WHERE { ?x (?s {type: "Drug"}, "treats", ?o) FILTER(?s.name != "D4") }'
    assert nexus.execute(f"FIND(?s.name, ?o.name) {where} {NEWEST} 2") == [
        ["D3", "D2"],
        ["Pain", "Pain"],
    ]
    without = 'WHERE { ?x {type: "Drug"} NOT { (?x, "treats", ?s) FILTER(?x.name == "D3") } }'
    assert nexus.execute(f"FIND(?x.name) {without} {NEWEST} 2") == ["D4", "D2"]
    optional = 'WHERE { ?x {type: "Drug"} OPTIONAL { (?x, "treats", ?s {name: "Fever"}) } }'
    assert nexus.execute(f"FIND(?x.name, ?s.name) {optional} {NEWEST} 1") == [["D4"], [None]]
    assert (calls.indexed, calls.others) == (3, 0)


def test_pages_follow_each_other(clock: StoppedClock, calls: Calls) -> None:
    nexus = opened(clock)
    names: list[str] = []
    cursor = None
    for _ in range(3):
        page = nexus.answer(f"{DRUGS} {NEWEST} 2" + (f' CURSOR "{cursor}"' if cursor else ""))
        names += page.result
        cursor = page.next_cursor
    assert names == ["D4", "D3", "D2", "D1", "D0"]
    assert cursor is None
    # The last page ends where elements without a time would come.
    assert (calls.indexed, calls.others) == (2, 1)


def test_elements_of_one_time_are_ordered_by_their_iris(clock: StoppedClock, calls: Calls) -> None:
    nexus = opened(clock)
    for name in ("B", "C", "A"):
        add(nexus, name)
    assert nexus.execute(f"{DRUGS} {NEWEST} 3") == ["A", "B", "C"]
    # Rows of other variables are ordered by their IRIs, so all links of this time count.
    where = "WHERE { ?x (?s, ?p, ?o) }"
    assert nexus.execute(f"FIND(?s.name) {where} {NEWEST} 2") == ["A", "B"]
    keys = "ORDER BY ?x.metadata._updated_at DESC, ?x.name DESC LIMIT 2"
    assert nexus.execute(f"{DRUGS} {keys}") == ["D4", "C"]
    assert (calls.indexed, calls.others) == (3, 0)


def test_a_clock_may_go_back(clock: StoppedClock) -> None:
    nexus = opened(clock)
    clock.forward(days=-1)
    add(nexus, "D9")
    assert nexus.execute(f"{DRUGS} {NEWEST} 9") == ["D4", "D3", "D2", "D1", "D0", "D9"]
    assert nexus.execute(f"{DRUGS} {NEWEST} 5") == ["D4", "D3", "D2", "D1", "D0"]


def test_elements_without_a_time_come_last(clock: StoppedClock, calls: Calls) -> None:
    text = opened(clock).snapshot(engine_metadata=False)
    nexus = kiprdf.Nexus.memory(genesis=False, clock=clock)
    nexus.restore(text)
    add(nexus, "D9")
    assert nexus.execute(f"{DRUGS} {NEWEST} 3") == ["D9", "D0", "D1"]
    assert nexus.execute(f"FIND(?x.name) WHERE {{ ?x {{}} }} {NEWEST} 1 ") == ["D9"]
    assert calls.others > 0


@pytest.mark.parametrize("value", ["5", '"x"@en', "<urn:kip:vocab/null>"])
def test_a_restored_time_that_is_no_text_is_sorted_by_its_kind(
    value: str, clock: StoppedClock, calls: Calls
) -> None:
    text = opened(clock).snapshot(format="ntriples")
    at = text.index('"', text.index("_updated_at", text.index("Drug/D2> <urn:kip:metadata")))
    text = text[:at] + value + text[text.index(" .", at) :]
    if value == "5":
        text = text.replace("> 5 .", '> "5"^^<http://www.w3.org/2001/XMLSchema#integer> .')
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.restore(text, format="ntriples")
    answer = nexus.execute(f"{DRUGS} {NEWEST} 4")
    with no_shortcuts():
        assert nexus.execute(f"{DRUGS} {NEWEST} 4") == answer
    assert calls.indexed == 0


def test_a_folder_that_is_opened_again_has_the_same_order(
    tmp_path: Path, clock: StoppedClock, calls: Calls
) -> None:
    opened(clock, tmp_path).close()
    for read_only in (False, True):
        with kiprdf.Nexus.open(tmp_path, genesis=False, read_only=read_only) as nexus:
            assert nexus.execute(f"{DRUGS} {NEWEST} 2") == ["D4", "D3"]
    with kiprdf.Nexus.open(tmp_path, genesis=False, clock=clock) as nexus:
        clock.forward(seconds=1)
        add(nexus, "D5")
        assert nexus.execute(f"{DRUGS} {NEWEST} 2") == ["D5", "D4"]
        clock.forward(seconds=1)
        add(nexus, "D6")
        assert nexus.execute(f"{DRUGS} {NEWEST} 2") == ["D6", "D5"]
    assert (calls.indexed, calls.others) == (4, 0)


def test_the_first_question_after_opening_reads_only_the_newest_elements(
    tmp_path: Path, clock: StoppedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(clock, tmp_path).close()
    read: list[Any] = []
    elements_of = OxigraphStore._updated_at

    def noted(store: OxigraphStore, time: Any) -> Any:
        read.append(time)
        return elements_of(store, time)

    with kiprdf.Nexus.open(tmp_path, genesis=False) as nexus:
        monkeypatch.setattr(OxigraphStore, "_updated_at", noted)
        assert nexus.execute(f"{DRUGS} {NEWEST} 1") == ["D4"]
    assert len(read) == 2  # the page has one row, and one more shows that pages follow


def test_a_commit_between_building_and_reading_counts_once() -> None:
    times = UpdateTimes()
    old, new = Literal("2025"), Literal("2026")
    moved, stays = NamedNode("urn:moved"), NamedNode("urn:stays")
    times.build(1, [old])
    everything = [("", "v")]
    # The dataset has the second commit already when a reader comes to the first time.
    assert list(times.newest(1, everything, lambda _: ["urn:stays"])) == [("2025", ["urn:stays"])]
    times.note(2, [(moved, UPDATED_AT, old)], [(moved, UPDATED_AT, new)])
    stored = {"2026": ["urn:moved"], "2025": ["urn:stays"]}
    expected = [("2026", ["urn:moved"]), ("2025", ["urn:stays"])]
    assert list(times.newest(2, everything, lambda time: stored[time.value])) == expected
    # Another index has not read either time before the next commit.
    times.build(2, [old, new])
    times.note(3, [(stays, UPDATED_AT, old)], [(stays, UPDATED_AT, new)])
    stored = {"2026": ["urn:stays", "urn:moved"], "2025": []}
    newest_first = list(times.newest(3, everything, lambda time: stored[time.value]))
    assert newest_first == [("2026", ["urn:moved", "urn:stays"])]


def test_a_restored_nexus_has_the_order_of_its_snapshot(
    tmp_path: Path, clock: StoppedClock
) -> None:
    text = opened(clock).snapshot()
    for folder in (None, tmp_path):
        nexus = (
            kiprdf.Nexus.memory(genesis=False)
            if folder is None
            else kiprdf.Nexus.open(folder, genesis=False)
        )
        with nexus:
            assert nexus.execute("FIND(?x) WHERE { ?x {} } " + NEWEST + " 1") == []
            nexus.restore(text)
            assert nexus.execute(f"{DRUGS} {NEWEST} 2") == ["D4", "D3"]


def test_an_interrupted_update_of_the_index_builds_it_again(
    clock: StoppedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    nexus = opened(clock)
    clock.forward(seconds=1)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(nexus.store._update_times), "_add", interrupt)
        with pytest.raises(KeyboardInterrupt):
            add(nexus, "D9")
    assert nexus.execute(f"{DRUGS} {NEWEST} 2") == ["D9", "D4"]


def test_a_rare_condition_sorts_all_rows(
    clock: StoppedClock, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    nexus = opened(clock)
    monkeypatch.setattr(by_value, "MOST_READS", 5)
    where = 'WHERE { ?x {type: "Drug"} FILTER(ENDS_WITH(?x.name, "0")) }'
    assert nexus.execute(f"FIND(?x.name) {where} {NEWEST} 1") == ["D0"]
    assert (calls.indexed, calls.others) == (0, 1)


@pytest.mark.parametrize(
    "where",
    [
        # ?x may be null, or is bound by a later clause only.
        '?s {type: "Symptom"} OPTIONAL { (?x, "treats", ?s) }',
        'OPTIONAL { ?x {type: "Symptom"} } ?x {type: "Drug"}',
        '?x {type: "Symptom"} UNION { ?x {type: "Drug"} }',
        '?s {type: "Symptom"} UNION { ?x {type: "Drug"} }',
        'NOT { ?x {type: "Drug", name: "D4"} } ?x {type: "Drug"}',
        '?x {type: "Drug", name: "D3"}',
        '(?x, "treats"{1,3}, ?y)',
        '(?x, "treats"{0,}, ?y)',
        "(?x, ?p, ?y) (?x, ?p, ?z)",
        '?y (?x, ?p, ?o) FILTER(REGEX(?x.name, "[23]"))',
    ],
)
def test_other_shapes_answer_as_without_the_index(where: str, clock: StoppedClock) -> None:
    nexus = opened(clock)
    command = f"FIND(?x.name, ?x.id) WHERE {{ {where} }} {NEWEST} 3"
    answer = nexus.answer(command)
    with no_shortcuts():
        assert nexus.answer(command) == answer


def test_links_of_other_predicates_are_not_looked_up(
    clock: StoppedClock, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    nexus = opened(clock)
    nexus.execute('UPSERT { CONCEPT { {type: "$PropositionType", name: "eases"} } }')
    for number in range(30):
        clock.forward(seconds=1)
        pain = '("eases", {type: "Symptom", name: "Pain"})'
        drug = f'{{type: "Drug", name: "E{number}"}}'
        nexus.execute(f"UPSERT {{ CONCEPT {{ {drug} SET PROPOSITIONS {{ {pain} }} }} }}")
    monkeypatch.setattr(by_value, "MOST_READS", 100)
    command = f'FIND(?x.subject) WHERE {{ ?x (?s, "treats", ?o) }} {NEWEST} 2'
    assert nexus.execute(command) == ["C:Drug/D4", "C:Drug/D3"]
    assert (calls.indexed, calls.others) == (1, 0)


def test_readers_beside_a_writer_see_whole_commits(clock: StoppedClock) -> None:
    nexus = opened(clock)
    done = threading.Event()

    def write() -> None:
        for number in range(60):
            clock.forward(seconds=1)
            blocks = (
                f'CONCEPT {{ {{type: "Drug", name: "{number:04}{which}"}} }}' for which in "ab"
            )
            nexus.execute(f"UPSERT {{ {' '.join(blocks)} }}")
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not done.is_set():
        newest_two = nexus.execute(f"{DRUGS} {NEWEST} 2")
        pair = newest_two == ["D4", "D3"] or newest_two[0][:-1] == newest_two[1][:-1]
        assert pair, newest_two
    writer.join()
    assert nexus.execute(f"{DRUGS} {NEWEST} 2") == ["0059a", "0059b"]


def many(propositions: int) -> kiprdf.Nexus:
    """A nexus with propositions that one commit has written, and a hundred later ones."""
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(SCHEMA)
    iris = nexus.store.iris
    added: list[Any] = []
    for number in range(propositions):
        fact = Triple(
            iris.concept("Drug", f"N{number}"),
            iris.predicate("treats"),
            iris.concept("Symptom", "Pain"),
        )
        link = iris.proposition(f"{number:016x}", "treats")
        added += [fact, (link, vocab.REIFIES, fact), (link, UPDATED_AT, Literal("2025"))]
    nexus.store.apply(Delta(added=added))
    for number in range(100):
        add(nexus, f"D{number}")
    return nexus


def test_ten_times_as_many_propositions_take_no_longer() -> None:
    seconds = []
    for nexus in (many(2_000), many(20_000)):
        command = f"{LINKS} {NEWEST} 20"
        expected = nexus.execute(command)
        assert len(expected) == 20
        best = float("inf")
        for _ in range(9):
            began = time.perf_counter()
            assert nexus.execute(command) == expected
            best = min(best, time.perf_counter() - began)
        seconds.append(best)
    assert seconds[1] < 4 * seconds[0]


def test_the_index_has_the_elements_of_the_store(clock: StoppedClock) -> None:
    nexus = opened(clock)
    nexus.execute('DELETE CONCEPT ?x DETACH WHERE { ?x {type: "Drug", name: "D2"} }')
    times = list(nexus.store.newest([("", "\U0010ffff")]))
    listed = {NamedNode(iri): time for time, iris in times for iri in iris}
    stored = {t.subject: t.object.value for t in nexus.store.match(None, UPDATED_AT, None)}
    assert listed == stored
    assert [time for time, _ in times] == sorted((time for time, _ in times), reverse=True)
