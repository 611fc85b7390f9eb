"""Ranges, prefixes and pages by sorted values: which are used, and what they follow."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Triple

import kiprdf
from kiprdf.kql import find
from kiprdf.kql.evaluate import by_value
from kiprdf.kql.evaluate.by_value import ByValue
from kiprdf.rdf import vocab
from kiprdf.store import Delta, sorted_values
from tests.shortcuts import Calls, count_calls
from tests.trust import children

SCHEMA = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} }
  CONCEPT { {type: "$ConceptType", name: "Symptom"} }
  CONCEPT { {type: "$PropositionType", name: "treats"} }
  CONCEPT { {type: "Symptom", name: "Pain"} SET ATTRIBUTES { risk: 3, note: "ab" } }
}"""
DRUGS = '?d {type: "Drug"}'
BELOW = f"FIND(?d.name) WHERE {{ {DRUGS} FILTER(?d.attributes.risk < 4) }}"
HIGHEST = f"FIND(?d.name) WHERE {{ {DRUGS} }} ORDER BY ?d.attributes.risk DESC LIMIT 2"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """The first question about a key sorts its values, however few these are."""
    monkeypatch.setattr(sorted_values, "WORTH_SECONDS", 0)
    monkeypatch.setattr(sorted_values, "LEAST_SECONDS", 60)
    monkeypatch.setattr(by_value, "LEAST_SHARE", 1)
    monkeypatch.setattr(by_value, "LEAST_SHARE_OF_PLAIN", 1)
    return count_calls(monkeypatch, ByValue)


def filled(nexus: kiprdf.Nexus) -> kiprdf.Nexus:
    """Ten drugs, D0 to D9, with a risk of 0 to 9; each treats pain, with a date."""
    nexus.execute(SCHEMA)
    for number in range(10):
        add(nexus, number)
    return nexus


def add(nexus: kiprdf.Nexus, number: int, **attributes: Any) -> None:
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Drug", name: :name} SET ATTRIBUTES :attributes '
        'SET PROPOSITIONS { ("treats", {type: "Symptom", name: "Pain"}) '
        "WITH METADATA { at: :at } } } }",
        name=f"D{number}",
        attributes=attributes or {"risk": number, "note": f"note {number}"},
        at=f"2026-01-{number + 10}",
    )


@pytest.fixture
def nexus() -> Iterator[kiprdf.Nexus]:
    with filled(kiprdf.Nexus.memory(genesis=False)) as filled_nexus:
        yield filled_nexus


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (BELOW, ["D0", "D1", "D2", "D3"]),
        (HIGHEST, ["D9", "D8"]),
        (
            f"FIND(?d.name) WHERE {{ {DRUGS} }} ORDER BY ?d.attributes.risk LIMIT 3",
            ["D0", "D1", "D2"],
        ),
        (
            f"FIND(?d.name) WHERE {{ {DRUGS} FILTER(?d.attributes.risk > 6) }} "
            "ORDER BY ?d.attributes.risk LIMIT 2",
            ["D7", "D8"],
        ),
        (
            f"FIND(?d.name) WHERE {{ {DRUGS} "
            "FILTER(?d.attributes.risk >= 2 && 3.5 > ?d.attributes.risk) }",
            ["D2", "D3"],
        ),
        (
            f'FIND(?d.name) WHERE {{ {DRUGS} FILTER(STARTS_WITH(?d.attributes.note, "note 7")) }}',
            ["D7"],
        ),
        (f"FIND(COUNT(?d)) WHERE {{ {DRUGS} FILTER(?d.attributes.risk < 4) }}", 4),
        (
            f"FIND(?d.attributes.risk, COUNT(?d)) WHERE {{ {DRUGS} "
            "FILTER(?d.attributes.risk < 2) }",
            [[0, 1], [1, 1]],
        ),
        (
            f"FIND(?d.name) WHERE {{ {DRUGS} FILTER(?d.attributes.risk < 3) "
            'NOT { (?d, "treats", ?s) FILTER(?d.attributes.risk == 1) } }',
            ["D0", "D2"],
        ),
        (
            f"FIND(?d.name, ?s.name) WHERE {{ {DRUGS} FILTER(?d.attributes.risk < 1) "
            'OPTIONAL { (?d, "treats", ?s) } }',
            [["D0"], ["Pain"]],
        ),
        (
            'FIND(?d.name) WHERE { ?l (?d, "treats", ?s) FILTER(?l.metadata.at < "2026-01-12") }',
            ["D0", "D1"],
        ),
        (
            'FIND(?d.name) WHERE { ?l (?d, "treats", ?s) } ORDER BY ?l.metadata.at DESC LIMIT 1',
            ["D9"],
        ),
        ('FIND(COUNT(?d)) WHERE { ?d {} FILTER(?d.metadata.at < "2026-01-12") }', 0),
        ('FIND(?d.type) WHERE { ?d {} FILTER(?d.attributes.risk > 8) }', ["Drug"]),
        (
            'FIND(?d.name) WHERE { (?d, "treats", ?s) FILTER(?d.attributes.risk > 8) }',
            ["D9"],
        ),
        (
            f"FIND(?s.name) WHERE {{ {DRUGS} FILTER(?d.attributes.risk < 4) "
            '(?d, "treats", ?s) }',
            ["Pain"],
        ),
    ],
)  # fmt: skip
def test_sorted_values_answer_as_the_engine_does(
    nexus: kiprdf.Nexus, calls: Calls, query: str, expected: Any
) -> None:
    for turn in range(2):
        answer = nexus.execute(query)
        if isinstance(expected, list) and "ORDER BY" not in query:
            answer = [sorted(part) if isinstance(part, list) else part for part in answer]
            answer = answer if isinstance(answer[0], list) else sorted(answer)
        assert answer == expected
        assert (calls.others, calls.indexed) == (1, turn)


def test_the_page_of_many_equal_elements_is_read_in_order(
    nexus: kiprdf.Nexus, calls: Calls
) -> None:
    """An equality that too many elements fulfil to look them up."""
    for number in range(10, 90):
        add(nexus, number, risk=number, state="open")
    where = f'{DRUGS} FILTER(?d.attributes.state == "open")'
    query = f"FIND(?d.name) WHERE {{ {where} }} ORDER BY ?d.attributes.risk DESC LIMIT 2"
    for turn in range(2):
        assert nexus.execute(query) == ["D89", "D88"]
        assert (calls.others, calls.indexed) == (1, turn)


KEPT = "# It is answered by values or counts that are kept, without a query."
GRADES = f"FIND(?d.attributes.grade, COUNT(?d), SUM(?d.attributes.grade)) WHERE {{ {DRUGS} }}"
EQUAL = f"FIND(?d.name, ?d.attributes.grade) WHERE {{ {DRUGS} FILTER(?d.attributes.grade == 3) }}"


def is_kept(nexus: kiprdf.Nexus, query: str) -> bool:
    return nexus.explain(query).startswith(KEPT)


def test_values_and_counts_answer_by_themselves(nexus: kiprdf.Nexus, calls: Calls) -> None:
    """3 and 3.0 are one group, but are shown and added as they are."""
    links = 'FIND(COUNT(?l)) WHERE { ?l (?d, "treats", ?s) }'
    for number, grade in ((11, 3), (12, 3.0), (13, 3.0), (14, "a"), (15, None), (16, True)):
        add(nexus, number, grade=grade)
    for _ in range(2):
        rows = zip(*nexus.execute(GRADES), strict=True)
        assert sorted(rows, key=str) == [("a", 1, 0), (3, 3, 9.0), (None, 11, 0), (True, 1, 0)]
        names, grades = nexus.execute(EQUAL)
        shown = sorted(zip(names, map(repr, grades), strict=True))
        assert shown == [("D11", "3"), ("D12", "3.0"), ("D13", "3.0")]
        assert nexus.execute(f"FIND(COUNT(?d)) WHERE {{ {DRUGS} }}") == 16
        assert nexus.execute(links) == 16
    assert [is_kept(nexus, query) for query in (GRADES, links)] == [True, True]
    nexus.execute(f"DELETE CONCEPT ?d DETACH WHERE {{ {DRUGS} FILTER(?d.attributes.grade == 3) }}")
    assert sorted(nexus.execute(GRADES)[1]) == [1, 1, 11]
    assert nexus.execute(f"FIND(COUNT(?d)) WHERE {{ {DRUGS} }}") == nexus.execute(links) == 13


@pytest.mark.parametrize(
    "grade", [[3, 4], {"@value": "a", "@language": "de"}, "a" * 100, 1e300, -0.0]
)
def test_what_values_do_not_say_is_left_to_the_engine(
    nexus: kiprdf.Nexus, calls: Calls, grade: Any
) -> None:
    counted = f"FIND(?d.attributes.grade, COUNT(?d)) WHERE {{ {DRUGS} }}"
    add(nexus, 11, grade=3)
    assert [sorted(nexus.execute(counted)[1]) for _ in range(2)] == [[1, 10], [1, 10]]
    assert is_kept(nexus, counted)
    add(nexus, 12, grade=grade)
    for _ in range(2):
        values, numbers = nexus.execute(counted)
        assert sorted(zip(map(repr, values), numbers, strict=True)) == sorted(
            [("3", 1), (repr(grade), 1), ("None", 10)]
        )
    assert not is_kept(nexus, counted)


def test_a_named_element_is_where_the_engine_begins(nexus: kiprdf.Nexus, calls: Calls) -> None:
    for number in range(10, 90):
        add(nexus, number, risk=number)
    where = '(?d, "treats", {type: "Symptom", name: "Pain"}) FILTER(?d.attributes.risk < 3)'
    for _ in range(2):
        assert nexus.execute(f"FIND(COUNT(?d)) WHERE {{ {where} }}") == 3
    assert (calls.others, calls.indexed) == (0, 0)


def test_a_key_is_indexed_only_after_questions_that_took_long(
    nexus: kiprdf.Nexus, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine every question takes long.
    monkeypatch.setattr(sorted_values, "WORTH_SECONDS", 20)
    for _ in range(3):
        assert len(nexus.execute(BELOW)) == 4
    assert not nexus.store._values._parts  # type: ignore[attr-defined]
    monkeypatch.setattr(sorted_values, "WORTH_SECONDS", 0)
    monkeypatch.setattr(sorted_values, "LEAST_SECONDS", 60)
    nexus.execute(BELOW.replace("risk", "grade"))
    assert nexus.store._values._parts  # type: ignore[attr-defined]


def test_a_question_that_was_refused_is_answered_once_its_values_are_sorted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: Calls
) -> None:
    monkeypatch.setattr(sorted_values, "WORTH_SECONDS", 20)
    monkeypatch.setattr(find, "MOST_READS", 5)  # else so small a budget allows no index
    under_way = "If its values can be sorted, that is under way: send it again in a minute."
    opened = kiprdf.Nexus.open(tmp_path / "kb", genesis=False)
    with filled(opened) as nexus, nexus.limited(max_rows=5):
        with pytest.raises(kiprdf.KipError, match=r"^KIP_4002") as caught:
            nexus.execute(HIGHEST)
        assert caught.value.hint.endswith(under_way)
        with pytest.raises(kiprdf.KipError, match=r"^KIP_4002"):
            nexus.execute(HIGHEST)
        monkeypatch.setattr(sorted_values, "WORTH_SECONDS", 0)
        with pytest.raises(kiprdf.KipError, match=r"^KIP_4002"):
            nexus.execute(HIGHEST.replace("risk", "note"))
        assert nexus.execute(HIGHEST.replace("risk", "note")) == ["D9", "D8"]
        # What the store has counted already is no row.
        assert nexus.execute(f"FIND(COUNT(?d)) WHERE {{ {DRUGS} }}") == 10
        with pytest.raises(kiprdf.KipError, match=r"^KIP_4002") as caught:
            nexus.execute(f"FIND(?d.name) WHERE {{ {DRUGS} }}")
        assert "sorted" not in caught.value.hint


def test_nothing_is_sorted_after_an_interrupt(
    nexus: kiprdf.Nexus, monkeypatch: pytest.MonkeyPatch, calls: Calls
) -> None:
    """Who interrupts a question does not wait for the next ones."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(nexus.store), "select", interrupted)
        with pytest.raises(KeyboardInterrupt):
            nexus.execute(HIGHEST)
    assert not nexus.store._values._parts  # type: ignore[attr-defined]
    nexus.execute(HIGHEST)
    assert nexus.store._values._parts  # type: ignore[attr-defined]


def test_every_write_is_followed(nexus: kiprdf.Nexus, calls: Calls) -> None:
    assert nexus.execute(HIGHEST) == ["D9", "D8"]
    add(nexus, 11, risk=8.5)
    assert nexus.execute(HIGHEST) == ["D9", "D11"]
    nexus.execute("UPDATE ?d SET ATTRIBUTES { risk: 20 } WHERE { ?d {name: :name} }", name="D3")
    assert nexus.execute(HIGHEST) == ["D3", "D9"]
    nexus.execute('DELETE ATTRIBUTES {"risk"} FROM ?d WHERE { ?d {name: "D3"} }')
    assert nexus.execute(HIGHEST) == ["D9", "D11"]
    nexus.execute('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug", name: "D9"} }')
    assert nexus.execute(HIGHEST) == ["D11", "D8"]
    merged = '?a {type: "Drug", name: "D11"} ?b {type: "Drug", name: "D0"}'
    nexus.execute(f"MERGE CONCEPT ?a INTO ?b WHERE {{ {merged} }}")
    assert nexus.execute(HIGHEST) == ["D8", "D7"]
    assert (calls.others, calls.indexed) == (1, 5)


def test_targets_are_found_by_a_range(nexus: kiprdf.Nexus, calls: Calls) -> None:
    update = (
        f"UPDATE ?d SET ATTRIBUTES {{ low: :n }} WHERE {{ {DRUGS} FILTER(?d.attributes.risk < 2) }}"
    )
    for n in range(2):
        assert nexus.execute(update, n=n) == {"updated": 2, "matched": 2}
    deletion = (
        f'DELETE ATTRIBUTES {{"low"}} FROM ?d WHERE {{ {DRUGS} FILTER(?d.attributes.risk < 1) }}'
    )
    assert nexus.execute(deletion)["updated_concepts"] == 1
    assert nexus.execute(f"FIND(?d.name) WHERE {{ {DRUGS} FILTER(?d.attributes.low == 1) }}") == [
        "D1"
    ]
    assert (calls.others, calls.indexed) == (1, 2)


def test_the_order_of_kinds_and_ties_is_that_of_sorting(nexus: kiprdf.Nexus, calls: Calls) -> None:
    """Booleans, numbers, texts, others, null; equal values by their ids."""
    values: list[Any] = [
        True, False, 3, 3.0, 2**53 + 1, float(2**53), "b", "a" * 150 + "b", "a" * 150 + "a", ["x"],
        {"@value": "z", "@language": "de"}, None,
    ]  # fmt: skip
    for number, value in enumerate(values):
        add(nexus, 20 + number, mixed=value)
    names = [f"D{20 + number}" for number in (1, 0, 2, 3, 5, 4, 8, 7, 6, 9, 10)]
    where = f"{DRUGS} FILTER(IS_NOT_NULL(?d.attributes.mixed))"
    up = f"FIND(?d.name) WHERE {{ {where} }} ORDER BY ?d.attributes.mixed"
    for limit in (1, 4, 7, 10):
        assert nexus.execute(f"{up} LIMIT {limit}") == names[:limit]
    down = [f"D{20 + number}" for number in (10, 9, 6, 7, 8, 4, 5, 2, 3, 0, 1)]
    for limit in (1, 4, 7, 10):
        assert nexus.execute(f"{up} DESC LIMIT {limit}") == down[:limit]
    assert calls.indexed == 7


def test_pages_follow_each_other(nexus: kiprdf.Nexus, calls: Calls) -> None:
    query = f"FIND(?d.name) WHERE {{ {DRUGS} }} ORDER BY ?d.attributes.risk DESC LIMIT 4"
    names: list[str] = []
    cursor = None
    for _ in range(3):
        request = query if cursor is None else f"{query} CURSOR {cursor!r}".replace("'", '"')
        response = nexus.execute_kip({"command": request})
        names += response["result"]
        cursor = response.get("next_cursor")
    assert names == [f"D{number}" for number in range(9, -1, -1)]
    assert cursor is None


def test_a_limit_without_an_order_cuts_what_the_engine_lists(
    nexus: kiprdf.Nexus, calls: Calls
) -> None:
    """Its next page begins where the first one ends, whether or not the key is indexed by then."""
    query = f"FIND(?d.name) WHERE {{ {DRUGS} FILTER(?d.attributes.risk < 8) }} LIMIT 5"
    first = nexus.execute_kip({"command": query})
    rest = nexus.execute_kip({"command": f'{query} CURSOR "{first["next_cursor"]}"'})
    assert sorted(first["result"] + rest["result"]) == [f"D{number}" for number in range(8)]
    assert nexus.execute_kip({"command": query}) == first


def test_pages_of_groups_follow_each_other(nexus: kiprdf.Nexus, calls: Calls) -> None:
    query = f"FIND(?d.name, COUNT(?d)) WHERE {{ {DRUGS} FILTER(?d.attributes.risk < 8) }} LIMIT 5"
    first = nexus.execute_kip({"command": query})
    rest = nexus.execute_kip({"command": f'{query} CURSOR "{first["next_cursor"]}"'})
    names = sorted(first["result"][0] + rest["result"][0])
    assert names == [f"D{number}" for number in range(8)]


def test_a_value_without_a_place_in_the_order_is_left_to_the_engine(
    nexus: kiprdf.Nexus, calls: Calls
) -> None:
    """A nexus accepts no NaN; a program that writes to its graph may leave one."""
    drug, risk = NamedNode("urn:kip:nexus/Drug/D7"), NamedNode("urn:kip:attribute/risk")
    nexus.store.apply(
        Delta(
            removed=[Triple(drug, risk, Literal(7))],
            added=[Triple(drug, risk, Literal("NaN", datatype=vocab.DOUBLE))],
        )
    )
    for _ in range(2):
        assert sorted(nexus.execute(BELOW)) == ["D0", "D1", "D2", "D3"]
    assert (calls.others, calls.indexed) == (2, 0)


# On disk ------------------------------------------------------------------------------------------


def on_disk(folder: Path, **options: Any) -> kiprdf.Nexus:
    return kiprdf.Nexus.open(folder / "nexus", genesis=False, **options)


def test_a_folder_keeps_its_sorted_values(tmp_path: Path, calls: Calls) -> None:
    with filled(on_disk(tmp_path)) as nexus:
        nexus.execute(HIGHEST)
    with on_disk(tmp_path) as nexus:
        assert nexus.execute(HIGHEST) == ["D9", "D8"]
    assert (calls.others, calls.indexed) == (1, 1)


@pytest.mark.parametrize("history", [True, False])
def test_what_another_process_has_written_is_followed(
    tmp_path: Path, calls: Calls, history: bool
) -> None:
    """By the history; without one, the values are sorted again."""
    with filled(on_disk(tmp_path, history=history)) as nexus:
        nexus.execute(HIGHEST)
    with on_disk(tmp_path, history=history) as nexus:
        add(nexus, 11, risk=8.5)
    with on_disk(tmp_path, history=history) as nexus:
        assert nexus.execute(HIGHEST) == ["D9", "D11"]
        assert nexus.execute(HIGHEST) == ["D9", "D11"]
    assert (calls.others, calls.indexed) == ((1, 2) if history else (2, 1))


def test_readers_sort_for_themselves_and_write_no_file(tmp_path: Path, calls: Calls) -> None:
    with filled(on_disk(tmp_path)):
        pass
    with on_disk(tmp_path, read_only=True) as reader:
        for _ in range(2):
            assert reader.execute(HIGHEST) == ["D9", "D8"]
    assert (calls.others, calls.indexed) == (1, 1)
    assert not list((tmp_path / "nexus").glob("values/*.sqlite3"))


def test_an_earlier_state_has_its_own_values(tmp_path: Path, calls: Calls) -> None:
    with filled(on_disk(tmp_path)) as nexus:
        before = nexus.info()["commit"]
        nexus.execute(HIGHEST)
        add(nexus, 11, risk=8.5)
        assert nexus.execute(HIGHEST) == ["D9", "D11"]
        with nexus.at(before) as past:
            for _ in range(2):
                assert past.execute(HIGHEST) == ["D9", "D8"]


def test_forgetting_removes_the_values(tmp_path: Path, calls: Calls) -> None:
    secret = "unmistakable"
    with filled(on_disk(tmp_path)) as nexus:
        add(nexus, 11, note=secret)
        question = (
            f'FIND(?d.name) WHERE {{ {DRUGS} FILTER(STARTS_WITH(?d.attributes.note, "unm")) }}'
        )
        for _ in range(2):
            assert nexus.execute(question) == ["D11"]
        nexus.forget('FIND(?d) WHERE { ?d {type: "Drug", name: "D11"} }')
        assert nexus.execute(question) == []
    files = [path for path in (tmp_path / "nexus").rglob("*") if path.is_file()]
    assert not [path for path in files if secret.encode() in path.read_bytes()]


def test_a_damaged_file_is_discarded(tmp_path: Path, calls: Calls) -> None:
    with filled(on_disk(tmp_path)) as nexus:
        nexus.execute(HIGHEST)
    (file,) = (tmp_path / "nexus" / "values").glob("*.sqlite3")
    data = bytearray(file.read_bytes())
    at = data.index(b"Drug/D9")
    data[at + 6] = ord("1")
    file.write_bytes(data)
    with on_disk(tmp_path) as nexus:
        faults = nexus.check()["faults"]
        assert ["values" in fault for fault in faults] == [True]
        assert nexus.execute(HIGHEST) == ["D9", "D8"]
    with on_disk(tmp_path) as nexus:
        assert nexus.check(repair=True)["faults"] == []
        assert nexus.execute(HIGHEST) == ["D9", "D8"]


KILLED = """
import os, signal, sys
import kiprdf
from kiprdf.kql.evaluate import by_value
from kiprdf.store import sorted_values
sorted_values.WORTH_SECONDS = 0
sorted_values.LEAST_SECONDS = 60
by_value.LEAST_SHARE = 1
from tests.kql.test_by_value import HIGHEST, add, filled
nexus = filled(kiprdf.Nexus.open(sys.argv[1], genesis=False))
nexus.execute(HIGHEST)
add(nexus, 11, risk=11)
assert nexus.execute(HIGHEST) == ["D11", "D9"]
add(nexus, 12, risk=12)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_after_a_kill_the_history_has_what_is_missing(tmp_path: Path, calls: Calls) -> None:
    assert children.run("-c", KILLED, str(tmp_path / "nexus")) == (-signal.SIGKILL, "")
    with on_disk(tmp_path) as nexus:
        assert nexus.execute(HIGHEST) == ["D12", "D11"]
    assert (calls.others, calls.indexed) == (0, 1)


def test_values_of_lost_commits_are_removed(tmp_path: Path, calls: Calls) -> None:
    """A graph that has lost its last commits gives their numbers to others."""
    with filled(on_disk(tmp_path, history=False)) as nexus:
        nexus.execute(HIGHEST)
        nexus.backup(tmp_path / "copy")
        add(nexus, 11, risk=11)
        assert nexus.execute(HIGHEST) == ["D11", "D9"]
    (tmp_path / "nexus" / "values").rename(tmp_path / "copy" / "values")
    with kiprdf.Nexus.open(tmp_path / "copy", genesis=False, history=False) as copy:
        add(copy, 12, risk=12)
        for _ in range(2):
            assert copy.execute(HIGHEST) == ["D12", "D9"]


def test_readers_see_whole_commits(nexus: kiprdf.Nexus, calls: Calls) -> None:
    """Each commit gives two drugs the highest risk: never only one of them."""
    question = (
        f"FIND(?d.attributes.risk) WHERE {{ {DRUGS} }} ORDER BY ?d.attributes.risk DESC LIMIT 2"
    )
    nexus.execute(question)
    faults: list[Any] = []
    is_over = threading.Event()

    def ask() -> None:
        while not is_over.is_set():
            first, second = nexus.execute(question)
            if first >= 100 and first != second:
                faults.append((first, second))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(100, 130):
        nexus.execute(
            f"UPDATE ?d SET ATTRIBUTES {{ risk: :n }} WHERE {{ {DRUGS} "
            'FILTER(IN(?d.name, ["D1", "D2"])) }',
            n=number,
        )
    is_over.set()
    for thread in threads:
        thread.join()
    assert faults == []
    assert calls.indexed
