"""What an import does for each triple stays little (docs/decisions/230, 246)."""

from __future__ import annotations

import gc
import itertools
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import kiprdf
from kiprdf.execution import imports
from kiprdf.execution.writer import Writer
from kiprdf.interchange.importing.facts import Facts
from kiprdf.interchange.importing.names import Naming
from kiprdf.rdf import vocab
from tests.benchmarks.importing import resources

CALLS = 66
"""The most calls of Python functions, and of C functions, for each triple."""


def calls_of_import(number: int) -> int:
    """The calls for resources of eight triples, which do not depend on the load of the machine."""
    nexus, text, calls = kiprdf.Nexus.memory(), resources(number), 0

    def count(frame: object, event: str, function: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        report = nexus.import_rdf(text, define=True)
    finally:
        sys.setprofile(None)
    assert report["concepts"]["created"] == number
    assert report["propositions"]["created"] > number * 2
    return calls


def test_an_import_makes_few_calls_for_each_triple() -> None:
    """The difference of two imports is what more triples cost."""
    more = calls_of_import(300) - calls_of_import(100)
    assert more < CALLS * 8 * 200


def test_what_an_import_was_planned_with_is_freed_without_a_collection() -> None:
    gc.collect()
    gc.disable()
    try:
        kiprdf.Nexus.memory().import_rdf(resources(20), define=True)
        left = [one for one in gc.get_objects() if isinstance(one, Facts | Naming)]
    finally:
        gc.enable()
    assert left == []


DATA = """@prefix : <https://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:ada a :Person ; rdfs:label "Ada \\"L.\\"\\n"@en, "Ada" ; :knows :ada, :bob ;
    :knows [ a :Person ; :age 7 ] ;
    :text "TEXT" ; :born "1815-12-10"^^xsd:date ;
    :size 1.5e0, 2.50, "x"^^:own ; :friends ( :bob :ada ) .
:bob a :Person, :Poet ; :likes :ada ~ :why {| :since 1990 |} .
""".replace("TEXT", "long " * 400)
MORE = DATA + ":ada :age 36 ; :knows :new . :new a :Person ; :likes [ :unknown 1 ] ."


def clock() -> Callable[[], datetime]:
    """A clock that is a second later whenever it is asked."""
    seconds = itertools.count()
    return lambda: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=next(seconds))


def imported(*, clock: Callable[[], datetime], **options: Any) -> tuple[kiprdf.Nexus, list[Any]]:
    nexus = kiprdf.Nexus.memory(clock=clock, history=True)
    reports = [nexus.import_rdf(text, define=True, **options) for text in (DATA, MORE, MORE)]
    return nexus, reports


def test_what_needs_no_draft_is_written_as_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped() -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    left: list[set[str]] = []
    create = imports._create

    def noted(*arguments: Any) -> Any:
        rest = create(*arguments)
        left.append({one.key for one in rest})
        return rest

    monkeypatch.setattr(imports, "_create", noted)
    fast, reports = imported(clock=stopped)
    people = [{key for key in some if key.startswith("C:Person/")} for some in left]
    assert people[0] == set()
    assert "C:Person/Ada" in people[1]
    assert "C:Person/new" not in people[1]
    monkeypatch.setattr(Writer, "creations", lambda *_, **__: None)
    slow, expected = imported(clock=stopped)
    assert reports == expected
    assert [report["concepts"]["created"] for report in reports] == [3, 1, 0]
    states = []
    for nexus in (fast, slow):
        store = nexus.store
        totals, commits = store.totals(), [*store.journal.from_nothing(store.commit())]
        assert totals is not None
        states.append(
            (
                {quad for quad in store.engine if quad.predicate != vocab.COMMIT},
                totals.uses(store.commit()),
                [totals.recent(store.commit(), are_links) for are_links in (False, True)],
                [(one.origin, one.records, {*map(str, map(tuple, one.added))}) for one in commits],
                store.journal.statements(),
                nexus.history("C:Person/Ada"),
                nexus.execute('SEARCH CONCEPT "long" LIMIT 3'),
            )
        )
    for one, other in zip(*states, strict=True):
        assert one == other
    assert fast.store.rebuild()
    assert {quad for quad in fast.store.engine if quad.predicate != vocab.COMMIT} == states[1][0]


@pytest.mark.parametrize("options", [{"source": "harvest"}, {"source": "x", "replace": True}])
def test_a_source_notes_in_lines_what_it_notes_in_a_statement(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    def stopped() -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    metadata = {"license": "CC0", "round": 1.5, "author": "Ada", "status": "draft"}
    create = imports._create
    left: list[int] = []

    def noted(*arguments: Any) -> Any:
        rest = create(*arguments)
        left.append(len(arguments[0]) - len(rest))
        return rest

    monkeypatch.setattr(imports, "_create", noted)
    fast, reports = imported(clock=stopped, metadata=metadata, **options)
    assert left[0] > 6
    assert len(left) == (1 if "replace" in options else 3)
    monkeypatch.setattr(Writer, "creations", lambda *_, **__: None)
    slow, expected = imported(clock=stopped, metadata=metadata, **options)
    assert reports == expected
    notes = [
        {
            (triple.subject.value, triple.object.value)
            for triple in nexus.store.match(None, vocab.metadata("stated_by"), None)
        }
        for nexus in (fast, slow)
    ]
    assert notes[0] == notes[1]
    assert len(notes[0]) > 6


def test_a_commit_has_one_time() -> None:
    nexus, _ = imported(clock=clock())
    times = {
        triple.object.value
        for triple in nexus.store.match(None, vocab.metadata(vocab.UPDATED_AT), None)
    }
    assert len(times) == 3  # of opening, and of two imports


def test_what_a_statement_judges_is_left_to_it() -> None:
    nexus = kiprdf.Nexus.memory()
    with pytest.raises(kiprdf.KipError, match="'_version' is maintained by the engine"):
        nexus.import_rdf(DATA, define=True, metadata={"_version": 7})
    report = nexus.import_rdf(DATA, define=True, metadata={"status": "retracted"})
    assert report["concepts"]["created"] == 3
    marks = nexus.find('FIND(?p.metadata.retracted_by) WHERE { ?p {type: "Person"} }')
    by = [one["?p.metadata.retracted_by"] for one in marks]
    assert by.count("human/owner") == 3
