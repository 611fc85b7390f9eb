"""Rows of Python as concepts and propositions: forms, data frames, batches, errors."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from kiprdf import KipError, Nexus
from kiprdf.execution import loading
from kiprdf.execution.writer import Writer
from kiprdf.rdf import vocab
from tests.cases import each_case
from tests.long_runs import amount

SCHEMA = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} }
  CONCEPT { {type: "$PropositionType", name: "treats"} }
  CONCEPT { {type: "$PropositionType", name: "stated"} }
}"""
DRUGS = [("Drug", "Aspirin", {"risk": 2}), {"type": "Drug", "name": "Ibuprofen"}]
TREATS = (("Drug", "Aspirin"), "treats", {"type": "Drug", "name": "Ibuprofen"})
UNCHANGED = {"created": 0, "updated": 0, "unchanged": 2}


@pytest.fixture
def nexus() -> Iterator[Nexus]:
    with Nexus.memory(history=True) as opened:
        opened.execute(SCHEMA)
        yield opened


def counts(report: dict[str, Any]) -> list[int]:
    """Created, updated and unchanged concepts, and propositions."""
    kinds = (report["concepts"], report["propositions"])
    return [kind[change] for kind in kinds for change in ("created", "updated", "unchanged")]


def drug(nexus: Nexus, name: str) -> dict[str, Any]:
    return dict(nexus.find('FIND(?d) WHERE { ?d {type: "Drug", name: :n} }', n=name)[0]["?d"])


def test_rows_are_written_once(nexus: Nexus) -> None:
    links = [("C:Drug/Aspirin", "stated", TREATS, None, {"confidence": 0.5}), TREATS]
    commit = nexus.info()["commit"]
    tried = nexus.load(DRUGS, links, metadata={"source": "list"}, dry_run=True)
    assert (counts(tried), nexus.info()["commit"]) == ([2, 0, 0, 2, 0, 0], commit)
    written = nexus.load(iter(DRUGS), iter(links), metadata={"source": "list"})
    assert (counts(written), written["commits"]) == ([2, 0, 0, 2, 0, 0], [commit + 1])
    again = nexus.load(DRUGS, links, metadata={"source": "list"})
    assert (counts(again), again["commits"]) == ([0, 0, 2, 0, 0, 2], [])
    assert nexus.info()["commit"] == commit + 1
    stated = nexus.find('FIND(?l) WHERE { ?l (?d, "stated", ?fact) }').single()["?l"]
    assert stated["object"] == nexus.id_of("(Drug:Aspirin, treats, Drug:Ibuprofen)")
    assert stated["metadata"]["confidence"] == 0.5
    assert stated["metadata"]["source"] == "list"


def test_a_data_frame_of_pandas_has_attributes_and_metadata(nexus: Nexus) -> None:
    pandas, numpy = pytest.importorskip("pandas"), pytest.importorskip("numpy")
    frame = pandas.DataFrame(
        {
            "type": ["Drug", "Drug", "Drug"],
            "name": ["Aspirin", "Ibuprofen", "Codeine"],
            "risk": pandas.array([2, None, 3], dtype="Int64"),
            "dose": [0.5, numpy.nan, numpy.float32(2)],
            "since": [pandas.Timestamp("1899-03-06"), pandas.NaT, date(1832, 1, 1)],
            "tags": [
                numpy.array([1, 2]),
                None,
                {"a": numpy.int64(1), "b": [numpy.datetime64("2020-01-01")]},
            ],
            "metadata.confidence": [None, 0.25, None],
        }
    )
    assert counts(nexus.load(frame)) == [3, 0, 0, 0, 0, 0]
    aspirin, ibuprofen, codeine = (drug(nexus, name) for name in frame["name"])
    since = "1899-03-06T00:00:00"
    assert aspirin["attributes"] == {"risk": 2, "dose": 0.5, "since": since, "tags": [1, 2]}
    assert ("attributes" in ibuprofen, ibuprofen["metadata"]["confidence"]) == (False, 0.25)
    assert codeine["attributes"]["tags"] == {"a": 1, "b": ["2020-01-01T00:00:00"]}
    links = pandas.DataFrame(
        {
            "subject_type": ["Drug", None],
            "subject": ["Aspirin", "C:Drug/Codeine"],
            "predicate": "treats",
            "object_type": "Drug",
            "object": "Ibuprofen",
            "weight": [1, 2],
        }
    )
    assert counts(nexus.load((), links)) == [0, 0, 0, 2, 0, 0]
    weights = nexus.find('FIND(?d.name, ?l.attributes.weight) WHERE { ?l (?d, "treats", ?o) }')
    assert set(weights.tuples()) == {("Aspirin", 1), ("Codeine", 2)}


class Exchanged:
    """A data frame of a library that is not known, with the interchange protocol."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __dataframe__(self, **options: Any) -> Any:
        return self._frame.__dataframe__(**options)


@each_case("library", ["polars", "pyarrow", "exchanged"])
def test_other_data_frames(library: str, nexus: Nexus) -> None:
    columns: dict[str, list[Any]] = {
        "type": ["Drug", "Drug"],
        "name": [f"Aspirin of {library}", "Codeine"],
        "risk": [2, None],
        "since": [datetime(1899, 3, 6, 12), None],
    }
    if library == "exchanged":
        pandas = pytest.importorskip("pandas")
        frame = Exchanged(pandas.DataFrame(columns | {"risk": [2.0, None]}))
    else:
        module = pytest.importorskip(library)
        frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    assert counts(nexus.load(frame))[1:3] in ([0, 0], [0, 1])
    assert drug(nexus, f"Aspirin of {library}")["attributes"] == {
        "risk": 2,
        "since": "1899-03-06T12:00:00",
    }
    assert "attributes" not in drug(nexus, "Codeine")


Bad = Callable[[], tuple[Any, Any]]


def frame(**columns: Any) -> Any:
    return pytest.importorskip("pandas").DataFrame(columns)


@each_case(
    "rows, code, message",
    [
        (lambda: ("Drug", ()), "KIP_1001", "The argument concepts is an iterable of rows"),
        (lambda: ({"type": "Drug"}, ()), "KIP_1001", "The argument concepts is an iterable"),
        (lambda: ([("Drug",)], ()), "KIP_1001", "Row 1 of concepts (('Drug',)): The row has 1"),
        (lambda: ([*DRUGS, 5], ()), "KIP_1001", "Row 3 of concepts (5): A row is a mapping"),
        (lambda: ([*DRUGS, ("Drg", "A")], ()), "KIP_2001", "Row 3 of concepts (Drg 'A'): Concept"),
        (lambda: ([{"type": "Drug", "name": "A", "risk": 1}], ()), "KIP_1001", "no key 'risk'"),
        (lambda: ([("Drug", 7)], ()), "KIP_1001", "Row 1 of concepts (Drug 7): The name is a text"),
        (lambda: ([("Drug", " A")], ()), "KIP_1002", "Row 1 of concepts (Drug ' A'): The name"),
        (lambda: ([("Drug", "A", {"a b": 1})], ()), "KIP_1002", "'a b' is not a valid key"),
        (lambda: ([("Drug", "A", {"x": float("nan")})], ()), "KIP_1001", "value of 'x': A number"),
        (lambda: ([("Drug", "A", {"x": {1}})], ()), "KIP_1001", "The value of 'x': A value of"),
        (lambda: ([("Drug", "A", {"x": 2**63})], ()), "KIP_1001", "The value of 'x': An integer"),
        (lambda: ([("Drug", "A", {"x": "\ud800"})], ()), "KIP_1001", "lone surrogate"),
        (
            lambda: ([("Drug", "A", {}, {"_version": 2})], ()),
            "KIP_2002",
            "maintained by the engine",
        ),
        (
            lambda: (DRUGS, [("Aspirin", "treats", "C:Drug/Ibuprofen")]),
            "KIP_1001",
            "'Aspirin' is no",
        ),
        (
            lambda: (DRUGS, [TREATS, ("C:Drug/Aspirin", "treats", "C:Drug/Nothing")]),
            "KIP_3002",
            "Row 2 of propositions (C:Drug/Aspirin, treats, C:Drug/Nothing): There is no concept",
        ),
        (
            lambda: (DRUGS, [("P:0123456789abcdef:treats", "stated", ("Drug", "Aspirin"))]),
            "KIP_3002",
            "There is no proposition P:0123456789abcdef:treats",
        ),
        (
            lambda: (DRUGS, [(TREATS, "stated", ("Drug", "Aspirin"))]),
            "KIP_3002",
            "no proposition (",
        ),
        (lambda: (frame(typ=["Drug"], name=["A"]), ()), "KIP_1001", "lacks the column type"),
        (
            lambda: (frame(type=["Drug"], name=[None]), ()),
            "KIP_1001",
            "Row 1 of concepts: The cell",
        ),
        (lambda: (frame(type=["Drug"], name=["A"], **{"a b": 1}), ()), "KIP_1002", "Column 'a b'"),
    ],
)
def test_what_is_no_row_is_refused_with_its_row(
    rows: Bad, code: str, message: str, nexus: Nexus
) -> None:
    concepts, propositions = rows()
    commit = nexus.info()["commit"]
    with pytest.raises(KipError) as caught:
        nexus.load(concepts, propositions)
    assert caught.value.code == code
    assert message in caught.value.message
    assert caught.value.message.endswith("Nothing was written.")
    assert nexus.info()["commit"] == commit


def test_an_array_that_no_value_can_hold_is_refused_with_its_row(nexus: Nexus) -> None:
    lines = "\n" * 100_000  # two bytes each in JSON, and three in N-Quads
    nexus.load([("Drug", "Ada", {"long": [lines] * 50})])
    with pytest.raises(
        KipError, match=r"^KIP_4002 Row 2 .* of 'long': An array .* 15 MiB"
    ) as caught:
        nexus.load([("Drug", "Bo"), ("Drug", "Cy", {"long": [lines] * 53})])
    assert caught.value.hint
    command = 'UPSERT { CONCEPT { {type: "Drug", name: "Cy"} SET ATTRIBUTES {long: :long} } }'
    with pytest.raises(KipError, match="KIP_4002 An array or object is longer than 15 MiB"):
        nexus.execute(command, long=[lines] * 53)
    assert nexus.execute('FIND(?p.name) WHERE { ?p {type: "Drug"} }') == ["Ada"]


def test_batches_before_an_error_are_named_and_stay(
    nexus: Nexus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "BATCH_ROWS", 10)
    rows = [("Drug", f"D{number}") for number in range(25)]
    commit = nexus.info()["commit"]
    with pytest.raises(KipError) as caught:
        nexus.load([*rows, ("Drg", "D25")])
    assert caught.value.message == (
        "Row 26 of concepts (Drg 'D25'): Concept type 'Drg' is not defined. Written are the "
        f"concepts up to row 20, in commits {commit + 1} to {commit + 2}; nothing after that."
    )
    tried = nexus.load(rows, dry_run=True)
    assert (counts(tried), nexus.info()["commit"]) == ([5, 0, 20, 0, 0, 0], commit + 2)
    assert counts(nexus.load(rows)) == [5, 0, 20, 0, 0, 0]
    late = [("C:Drug/D0", "stated", TREATS), *[(r[:2], "treats", ("Drug", "D1")) for r in rows[2:]]]
    report = nexus.load(DRUGS, [*late, TREATS])  # the first row waits for the last one
    assert (counts(report), len(report["commits"])) == ([2, 0, 0, 25, 0, 0], 3)


@pytest.mark.parametrize("is_written", [True, False])
def test_what_another_writer_removes_between_two_batches_is_missed(
    is_written: bool, nexus: Nexus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "BATCH_ROWS", 3)
    if not is_written:
        nexus.load(DRUGS)

    def links() -> Iterator[tuple[Any, ...]]:
        yield TREATS
        yield ("Drug", "Aspirin"), "stated", ("Drug", "Aspirin")  # in the second batch
        nexus.execute('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug", name: "Ibuprofen"} }')
        yield ("Drug", "Aspirin"), "stated", ("Drug", "Ibuprofen")

    with pytest.raises(KipError, match=r"^KIP_3002 Row 3 of propositions"):
        nexus.load(DRUGS, links())
    assert nexus.execute('FIND(?d.name) WHERE { ?d {type: "Drug"} }') == ["Aspirin"]


def test_rows_that_contradict_each_other_are_warned_of(nexus: Nexus) -> None:
    report = nexus.load(
        [("Drug", "A", {"risk": 1}), ("Drug", "A", {"risk": 1}), ("Drug", "A", {"risk": 2})]
    )
    other = "gives another risk than a row before, and is the one that holds."
    assert report["warnings"] == [f"Row 3 of concepts (Drug 'A') {other}"]
    assert (counts(report)[0], drug(nexus, "A")["attributes"]) == (1, {"risk": 2})


def test_rows_of_other_batches_that_contradict_are_warned_of(
    nexus: Nexus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "BATCH_ROWS", 10)
    nexus.load([("Drug", "D0", {"risk": 0})])
    others = [("Drug", f"D{number}", {"risk": 1}) for number in range(1, 20)]
    # Of what was there before, and what is said again or adds a value, nothing is said.
    rows = [*others, ("Drug", "D0", {"risk": 1}), ("Drug", "D1", {"risk": 2}), others[1]]
    changes = "changes the risk of what a row before wrote, and is the one that holds."
    for dry_run in (True, False):
        report = nexus.load([*rows, ("Drug", "D3", {"dose": 1})], dry_run=dry_run)
        assert report["warnings"] == [f"Row 21 of concepts (Drug 'D1') {changes}"]
        assert counts(report)[:3] == [19, 3, 1]
    many = nexus.load([("Drug", f"E{n % 30}", {"risk": n}) for n in range(60)])
    assert (len(many["warnings"]), many["warnings"][-1]) == (11, "And 20 more.")


VALUES: dict[str, Any] = {
    "text": 'Ünïcode "quoted" \\ \n\x7f\t line',
    "number": -7,
    "double": 1e300,
    "small": 1e-7,
    "yes": True,
    "nothing": None,
    "tags": ["a", 1, None, {"b": [2.5]}],
    "tagged": {"@value": "Kopfschmerz", "@language": "de"},
    "typed": {"@value": "1", "@type": "urn:x:own"},
    "empty": "",
}
NAMES = (
    "Aspirin",
    "Vitamin C/阿司匹林",
    "a.b~$",
    "50%",
    'x"y\\z',
    "Ünïcode",
    "e\u0301",
    "¹",
    "..a",
)
DEFINITIONS = [("$ConceptType", "Plant"), ("$PropositionType", "contains")]


def everything() -> tuple[list[Any], list[Any]]:
    """Rows of each kind, twice, since those of the second half are there or change."""
    sure = {"confidence": 0.5, "author": "Ada", "status": "active"}
    concepts = [*DEFINITIONS, *[("Drug", name, VALUES, sure) for name in NAMES]]
    concepts += [("Plant", name) for name in NAMES]
    plants = [(("Plant", name), "contains", ("Drug", name), VALUES) for name in NAMES]
    stated = [(("Drug", "Aspirin"), "stated", link[:3], None, VALUES) for link in plants]
    filed = [("C:$ConceptType/Plant", "belongs_to_domain", ("Domain", "CoreSchema"))]
    own = [(("Plant", "50%"), "contains", ("Plant", "50%"))]
    return concepts, [*stated, *plants, *filed, *own]


def test_what_needs_no_statement_is_written_as_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def filled(*, by_statement: bool) -> Nexus:
        nexus = Nexus.memory(history=True, clock=lambda: datetime(2026, 1, 1, tzinfo=UTC))
        with monkeypatch.context() as patch:
            if by_statement:
                patch.setattr(Writer, "creations", lambda *_, **__: None)
            nexus.execute(SCHEMA)
            concepts, links = everything()
            nexus.load(concepts, links, metadata={"source": "list", "tags": ["x"]})
            reports.append(nexus.load(concepts, links, metadata={"source": "list", "tags": ["x"]}))
            changed = [
                ("Drug", "Aspirin", {"number": 8}),
                ("Drug", "New", {}, {"status": "retracted"}),
            ]
            reports.append(nexus.load([*concepts[3:], *changed[:1], ("Plant", "New")], links))
            reports.append(nexus.load(changed, [(*links[-3][:3], {"number": 9})]))
            nexus.load((), [(("Drug", "New"), "valid_during", ("Period", "2019-01-01/.."))])
        return nexus

    reports: list[dict[str, Any]] = []
    with filled(by_statement=False) as fast, filled(by_statement=True) as slow:
        both = [
            {quad for quad in nexus.store.engine if quad.predicate != vocab.COMMIT}
            for nexus in (fast, slow)
        ]
        assert both[0] == both[1]
        assert reports[:3] == reports[3:]
        assert [counts(report) for report in reports[:3]] == [
            [0, 0, 20, 0, 0, 20],
            [1, 1, 17, 0, 0, 20],
            [1, 0, 1, 0, 1, 0],
        ]
        assert fast.history("C:Drug/50%") == slow.history("C:Drug/50%")
        assert fast.store.rebuild()
        assert {quad for quad in fast.store.engine if quad.predicate != vocab.COMMIT} == both[1]


KILLED = """
import signal, sys
from kiprdf import Nexus
from kiprdf.store import oxigraph

def killed(self, *arguments, is_large, add=oxigraph.OxigraphStore._add):
    if is_large:  # the engine goes on writing, and no Python is run, until the signal kills
        print("writes", flush=True)
        signal.setitimer(signal.ITIMER_REAL, float(sys.argv[2]))
    return add(self, *arguments, is_large=is_large)

oxigraph.BULK_QUADS, oxigraph.OxigraphStore._add = 5_000, killed
with Nexus.open(sys.argv[1]) as nexus:
    nexus.load([("Person", f"P{n}", {"number": n}) for n in range(1_500)])
"""


def test_a_kill_in_a_bulk_load_leaves_a_sound_nexus(tmp_path: Path) -> None:
    for number in range(amount("KILLED_LOADS", 1)):
        folder = tmp_path / str(number)
        arguments = [sys.executable, "-c", KILLED, str(folder), str(0.002 + 0.004 * number)]
        child = subprocess.run(arguments, stdout=subprocess.PIPE, check=False)
        assert (child.stdout, child.returncode) == (b"writes\n", -signal.SIGALRM)
        with Nexus.open(folder) as nexus:
            # The record was written before, so that opening completes the commit.
            report = nexus.load([("Person", f"P{n}", {"number": n}) for n in range(1_501)])
            assert counts(report)[:3] == [1, 0, 1_500]
            assert nexus.check()["faults"] == []
            assert nexus.store.rebuild()
            assert nexus.execute('FIND(COUNT(?p)) WHERE { ?p {type: "Person"} }') == 1_503


def test_what_is_derived_follows_a_load(tmp_path: Path) -> None:
    with Nexus.open(tmp_path / "nexus") as nexus:
        nexus.execute(SCHEMA)
        nexus.execute("DESCRIBE PRIMER")  # counts, from now on commits are added
        nexus.execute('SEARCH CONCEPT "Aspirin"')
        nexus.load(*everything())
        counted = nexus.execute("DESCRIBE PRIMER")
        newest = nexus.find("FIND(?x.id) WHERE { ?x {} } ORDER BY ?x.metadata._updated_at DESC")
        assert nexus.execute('SEARCH CONCEPT "Ünïcode"') != []
        assert nexus.check()["faults"] == []
        nexus.store._clear_derived()
        assert nexus.execute("DESCRIBE PRIMER") == counted
        again = nexus.find("FIND(?x.id) WHERE { ?x {} } ORDER BY ?x.metadata._updated_at DESC")
        assert newest.tuples() == again.tuples()


def test_a_fact_whose_id_another_one_has_since_a_merge_gets_its_own(nexus: Nexus) -> None:
    nexus.load(DRUGS, [TREATS])
    nexus.load([("Drug", "Acid")])
    nexus.execute(
        'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "Drug", name: "Aspirin"} '
        '?b {type: "Drug", name: "Acid"} }'
    )
    assert counts(nexus.load(DRUGS, [TREATS])) == [1, 0, 1, 1, 0, 0]
    links = nexus.find('FIND(?d.name, ?l.id) WHERE { ?l (?d, "treats", ?o) }').tuples()
    assert ({name for name, _ in links}, len(set(links))) == ({"Acid", "Aspirin"}, 2)
    assert counts(nexus.load(DRUGS, [TREATS])) == [0, 0, 2, 0, 0, 1]
    assert nexus.check()["faults"] == []


def test_a_link_keeps_the_id_of_another_fact_after_the_trail_of_its_merge_is_gone() -> None:
    with Nexus.memory(history=True) as nexus:
        nexus.execute(SCHEMA)
        nexus.load([*DRUGS, ("Drug", "Acid")], [TREATS])
        nexus.execute(
            'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "Drug", name: "Aspirin"} '
            '?b {type: "Drug", name: "Acid"} }'
        )
        merge = nexus.info()["commit"]
        nexus.load(DRUGS, [TREATS])
        # The link of Acid stays: the fact that it had is stated by another one.
        assert len(nexus.undo(seq=merge, conflicts="skip")["conflicts"]) == 1
        nexus.execute('DELETE PROPOSITIONS ?l WHERE { ?l ({name: "Aspirin"}, "treats", ?o) }')
        assert counts(nexus.load(DRUGS, [TREATS])) == [0, 0, 2, 1, 0, 0]
        assert nexus.check()["faults"] == []
        links = nexus.find('FIND(?d.name, ?l.id) WHERE { ?l (?d, "treats", ?o) }').tuples()
        assert len({id for _, id in links}) == len(links) == 2


def test_only_people_load_what_is_reviewed(nexus: Nexus) -> None:
    nexus.execute(SCHEMA)
    row = ("Drug", "Aspirin", {}, {"status": "reviewed", "author": "Ada"})
    with nexus.acting(author="helper", kind="model"), pytest.raises(KipError, match="KIP_3004"):
        nexus.load([row])
    nexus.load([row])
    assert nexus.find('FIND(?d.metadata.status) WHERE { ?d {type: "Drug"} }').tuples() == (
        ("reviewed",),
    )
