"""Undo: what is taken back, what is a conflict, and that nothing of others is overwritten."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from tests.cases import each_case
from tests.long_runs import SEED, amount
from tests.nexus.test_history import DELETE, drug, nexus_of
from tests.store.test_past import SCHEMA, Clock, change
from tests.trust.test_forgotten_graphs import Graph

HISTORIES = max(8, amount("HISTORIES", 40) // 4)
LINK = """
UPSERT { CONCEPT ?b { {type: "Drug", name: "B"} }
CONCEPT { {type: "Drug", name: "A"} SET PROPOSITIONS { ("treats", ?b) } } }
"""


def risk(nexus: kiprdf.Nexus, name: str = "A") -> Any:
    query = 'FIND(?d.attributes.risk) WHERE { ?d {type: "Drug"} FILTER(?d.name == :name) }'
    values = nexus.execute(query, name=name)
    return values[0] if values else "no drug"


def last(nexus: kiprdf.Nexus) -> int:
    commit: int = nexus.info()["commit"]
    return commit


def knowledge(nexus: kiprdf.Nexus) -> str:
    return nexus.snapshot(engine_metadata=False)


def test_values_are_as_before_and_versions_grow() -> None:
    nexus = nexus_of(drug("A", "{risk: 2}"), drug("A", "{risk: 3, note: null}"))
    undone = last(nexus)
    plan = nexus.undo(seq=undone, dry_run=True)
    assert (risk(nexus), last(nexus)) == (3, undone)
    keys = [
        {"key": "attributes.note", "before": None},
        {"key": "attributes.risk", "before": 3, "after": 2},
    ]
    reverted = [{"id": "C:Drug/A", "change": "changed", "keys": keys}]
    assert plan == {"seqs": [undone], "reverted": reverted, "conflicts": []}
    assert nexus.undo(seq=undone) == {**plan, "seq": undone + 1}
    (element,) = nexus.execute('FIND(?d) WHERE { ?d {type: "Drug"} }')
    assert (element["attributes"], element["metadata"]["_version"]) == ({"risk": 2}, 3)
    entry = nexus.history("C:Drug/A")["entries"][0]
    assert (entry["statement"]["kind"], entry["undoes"]) == ("UNDO", undone)


def test_undo_of_an_undo_redoes() -> None:
    nexus = nexus_of(drug("A", "{risk: 2}"), drug("A", "{risk: 3}"))
    first = nexus.undo(seq=last(nexus))["seq"]
    second = nexus.undo(seq=first)["seq"]
    assert risk(nexus) == 3
    assert nexus.undo(seqs=[first, second])["reverted"] == []


def test_created_elements_are_deleted_and_deleted_ones_restored_with_their_ids() -> None:
    nexus = nexus_of(drug("A", "{risk: 2}"), drug("B", "{}"), LINK)
    before, created_at = knowledge(nexus), nexus.history("C:Drug/A")["entries"][-1]["at"]
    nexus.execute(DELETE)
    report = nexus.undo(seq=last(nexus))
    assert [item["change"] for item in report["reverted"]] == ["restored", "restored"]
    assert knowledge(nexus) == before
    (element,) = nexus.execute('FIND(?d) WHERE { ?d {type: "Drug", name: "A"} }')
    assert (element["metadata"]["_created_at"], element["metadata"]["_version"]) == (created_at, 2)
    assert nexus.check()["faults"] == []
    nexus.undo(seqs=range(report["seq"] - 2, report["seq"] + 1))
    assert nexus.execute('FIND(COUNT(?l)) WHERE { ?l (?s, "treats", ?o) }') == 0


def test_merge_is_taken_apart_again() -> None:
    nexus = nexus_of(drug("A", "{risk: 2}"), drug("B", "{}"), drug("C", "{risk: 5}"), LINK)
    before = knowledge(nexus)
    nexus.execute(
        'MERGE CONCEPT ?a INTO ?c WHERE { ?a {type: "Drug", name: "A"} '
        '?c {type: "Drug", name: "C"} }'
    )
    nexus.undo(seq=last(nexus))
    assert knowledge(nexus) == before
    assert nexus.check()["faults"] == []


def test_value_that_others_wrote_later_is_a_conflict() -> None:
    nexus = nexus_of(drug("A", "{risk: 2, note: 1}"), drug("A", "{risk: 3, note: 2}"))
    wrong = last(nexus)
    nexus.execute(drug("A", "{risk: 4}"))
    conflict = {"id": "C:Drug/A", "key": "attributes.risk", "theirs": wrong + 1}
    conflict |= {"left": 3, "found": 4, "before": 2}
    assert nexus.undo(seq=wrong, dry_run=True)["conflicts"] == [conflict]
    with pytest.raises(kiprdf.KipError, match="KIP_2002 The undo has 1 conflict: "):
        nexus.undo(seq=wrong)
    assert last(nexus) == wrong + 1
    nexus.undo(seq=wrong, conflicts="skip")
    query = 'FIND(?d.attributes.risk, ?d.attributes.note) WHERE { ?d {type: "Drug"} }'
    assert nexus.execute(query) == [[4], [1]]


def test_values_are_undone_one_by_one() -> None:
    nexus = nexus_of(*(drug("A", f"{{risk: {value}}}") for value in (1, 2, 3)))
    third = last(nexus)
    for seq, value in ((third, 2), (third - 1, 1)):
        assert nexus.undo(seq=seq)["conflicts"] == []
        assert risk(nexus) == value


def test_value_that_others_wrote_as_it_was_left_is_no_conflict() -> None:
    nexus = nexus_of(drug("A", "{risk: 2}"), drug("A", "{risk: 3}"))
    wrong = last(nexus)
    nexus.execute(drug("A", "{risk: 9}"))
    (conflict,) = nexus.undo(seq=wrong, dry_run=True)["conflicts"]
    assert (conflict["theirs"], conflict["left"], conflict["found"]) == (wrong + 1, 3, 9)
    nexus.execute(drug("A", "{risk: 3}"))
    assert nexus.undo(seq=wrong)["conflicts"] == []
    assert risk(nexus) == 2


def test_concept_that_others_deleted_and_created_again_as_it_was_is_no_conflict() -> None:
    create = 'UPSERT { CONCEPT { {type: "Drug", name: "A"} } }'
    nexus = nexus_of(create)
    created = last(nexus)
    for command in (DELETE, create):
        nexus.execute(command)
    assert nexus.undo(seq=created)["conflicts"] == []
    assert risk(nexus) == "no drug"
    nexus.execute(drug("A", "{risk: 3}"))
    conflicts = nexus.undo(seq=created, dry_run=True)["conflicts"]
    assert [(conflict["key"], conflict["theirs"]) for conflict in conflicts] == [
        ("attributes.risk", created + 4),
        ("metadata.source", created + 4),
    ]


def test_what_others_added_to_an_element_since_is_not_deleted_with_it() -> None:
    nexus = nexus_of('UPSERT { CONCEPT { {type: "Drug", name: "A"} } }')
    created = last(nexus)
    nexus.execute('UPDATE ?d SET ATTRIBUTES { risk: 4 } WHERE { ?d {type: "Drug"} }')
    (conflict,) = nexus.undo(seq=created, dry_run=True)["conflicts"]
    expected = {"id": "C:Drug/A", "key": "attributes.risk", "theirs": created + 1, "found": 4}
    assert conflict == expected
    nexus.undo(seq=created, conflicts="skip")
    assert risk(nexus) == 4
    # As it was left again, it is deleted.
    nexus.execute('DELETE ATTRIBUTES { "risk" } FROM ?d WHERE { ?d {type: "Drug"} }')
    nexus.undo(seq=created)
    assert risk(nexus) == "no drug"


def test_used_elements_and_definitions_are_conflicts() -> None:
    nexus = nexus_of('UPSERT { CONCEPT { {type: "$ConceptType", name: "City"} } }')
    defined = last(nexus)
    nexus.execute('UPSERT { CONCEPT { {type: "City", name: "York"} } }')
    (conflict,) = nexus.undo(seq=defined, dry_run=True)["conflicts"]
    assert conflict == {"id": "C:$ConceptType/City", "used_by": ["C:City/York"]}
    nexus.execute(drug("B", "{}"))
    created = last(nexus)
    nexus.execute(LINK)
    (link,) = nexus.execute('FIND(?l.id) WHERE { ?l (?s, "treats", ?o) }')
    (conflict,) = nexus.undo(seq=created, dry_run=True)["conflicts"]
    assert conflict == {"id": "C:Drug/B", "used_by": [link]}
    assert nexus.undo(seqs=[created, created + 1])["conflicts"] == []


def test_missing_ends_and_protected_elements_are_conflicts() -> None:
    nexus = nexus_of(drug("A", "{}"), drug("B", "{}"), LINK)
    (link,) = nexus.execute('FIND(?l.id) WHERE { ?l (?s, "treats", ?o) }')
    nexus.execute('DELETE PROPOSITIONS ?l WHERE { ?l (?s, "treats", ?o) }')
    removed = last(nexus)
    nexus.execute(DELETE)
    (conflict,) = nexus.undo(seq=removed, dry_run=True)["conflicts"]
    assert conflict == {"id": link, "missing_end": "C:Drug/A"}
    plan = nexus.undo(seq=1, dry_run=True)
    assert all(
        {"used_by", "protected", "theirs"} & conflict.keys() for conflict in plan["conflicts"]
    )
    assert any("protected" in conflict or "used_by" in conflict for conflict in plan["conflicts"])


def test_session_and_source_are_undone() -> None:
    nexus = nexus_of(drug("A", "{risk: 1}"))
    with nexus.acting(session="s-1"):
        nexus.execute(drug("A", "{risk: 2}", "doc-7"))
        nexus.execute(drug("B", "{risk: 5}", "doc-7"))
    nexus.execute(drug("C", "{}", "doc-7"))
    report = nexus.undo(session="s-1", dry_run=True)
    assert (len(report["seqs"]), report["conflicts"]) == (2, [])
    nexus.undo(session="s-1")
    assert (risk(nexus), risk(nexus, "B"), risk(nexus, "C")) == (1, "no drug", None)
    nexus.undo(source="doc-7", conflicts="skip")
    assert risk(nexus, "C") == "no drug"


@pytest.mark.parametrize(
    "correction",
    [
        'UPDATE ?d SET ATTRIBUTES { risk: 9 } WHERE { ?d {type: "Drug", name: "A"} }',
        'UPSERT { CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES { risk: 9 } } }',
        drug("A", "{risk: 9}", "Dr. Ada"),
    ],
)
def test_what_others_corrected_since_is_no_value_of_the_source(correction: str) -> None:
    nexus = nexus_of(drug("A", "{risk: 1}"), drug("A", "{risk: 2, note: 1}", "doc-7"))
    nexus.execute(drug("A", "{risk: 3}", "doc-7"))
    corrected = nexus.info()["commit"] + 1
    nexus.execute(correction)
    plan = nexus.undo(source="doc-7", dry_run=True)
    assert plan["seqs"] == [corrected - 2, corrected - 1]
    assert {"attributes.risk"} <= {conflict["key"] for conflict in plan["conflicts"]} <= {
        "attributes.risk", "metadata.source",
    }  # fmt: skip
    assert {conflict["theirs"] for conflict in plan["conflicts"]} == {corrected}
    nexus.undo(source="doc-7", conflicts="skip")
    assert nexus.execute('FIND(?d.attributes) WHERE { ?d {type: "Drug"} }') == [{"risk": 9}]


@each_case(
    "arguments, code",
    [
        ({}, "KIP_1001"),
        ({"seq": 1, "session": "s"}, "KIP_1001"),
        ({"seq": 99}, "KIP_3002"),
        ({"seq": 0}, "KIP_3002"),
        ({"seq": True}, "KIP_1001"),
        ({"seq": "1"}, "KIP_1001"),
        ({"seqs": [1.5]}, "KIP_1001"),
        ({"session": ""}, "KIP_1001"),
        ({"source": {1, 2}}, "KIP_1001"),
        ({"session": "s", "conflicts": "keep"}, "KIP_1001"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], code: str) -> None:
    with pytest.raises(kiprdf.KipError) as refused:
        nexus_of().undo(**arguments)
    assert refused.value.code == code


def test_nothing_to_undo_writes_nothing(tmp_path: Path) -> None:
    nexus = nexus_of()
    number = last(nexus)
    assert nexus.undo(session="nobody") == {
        "seqs": [],
        "reverted": [],
        "conflicts": [],
        "seq": None,
    }
    assert last(nexus) == number
    with nexus.at(number) as past, pytest.raises(kiprdf.KipError):
        past.undo(session="nobody")


@pytest.mark.parametrize("number", range(HISTORIES))
def test_undo_without_conflicts_leads_back(number: int) -> None:
    chance = random.Random(SEED * 1000 + number)
    nexus = kiprdf.Nexus.memory(history=True, clock=Clock())
    nexus.execute(SCHEMA)
    for _ in range(chance.randrange(12)):
        change(nexus, chance)
    begun, before = last(nexus), knowledge(nexus)
    for _ in range(chance.randrange(1, 8)):
        change(nexus, chance)
    undone = range(begun + 1, last(nexus) + 1)
    report = nexus.undo(seqs=undone)
    assert (report["seqs"], report["conflicts"]) == (list(undone), [])
    assert knowledge(nexus) == before
    report = nexus.check()
    assert (report["faults"], report["index"], report["history"]["state"]) == ([], "sound", "sound")
    one = chance.choice([*undone] or [begun])
    nexus.undo(seq=one, conflicts="skip")
    assert nexus.check()["faults"] == []


@pytest.mark.parametrize("number", range(HISTORIES // 2))
def test_commits_are_undone_one_by_one(number: int) -> None:
    """From the last one on, each leads to the state before it; links of links and merges too."""
    chance = random.Random(SEED * 1000 + number)
    nexus = kiprdf.Nexus.memory(history=True, clock=Clock())
    graph = Graph(nexus, chance)
    states = {last(nexus): knowledge(nexus)}
    sessions: list[tuple[str, int]] = []
    for session in map(str, range(4)):
        sessions.append((session, last(nexus)))
        with nexus.acting(session=session):
            for _ in range(chance.randrange(1, 6)):
                graph.grow()
                states.setdefault(last(nexus), knowledge(nexus))
    whole = [session for session in sessions if chance.random() < 0.3]
    newest = last(nexus)
    for session, begin in reversed(sessions):
        if (session, begin) in whole:
            assert nexus.undo(session=session)["conflicts"] == []
        else:
            # A step of the graph may be a statement and its undo.
            for seq in range(newest, begin, -1):
                assert nexus.undo(seq=seq)["conflicts"] == []
                assert knowledge(nexus) == states.get(seq - 1, knowledge(nexus))
        assert knowledge(nexus) == states[begin]
        newest = begin
    assert nexus.check()["faults"] == []


def test_sources_are_undone_one_by_one() -> None:
    chance = random.Random(SEED)
    nexus = nexus_of()
    states = []
    for source in range(8):
        states.append(knowledge(nexus))
        for _ in range(2):
            value = chance.choice([1, 2, 3])
            nexus.execute(drug(chance.choice("AB"), f"{{risk: {value}}}", f"doc-{source}"))
    for source in reversed(range(8)):
        assert nexus.undo(source=f"doc-{source}")["conflicts"] == []
        assert knowledge(nexus) == states[source]
