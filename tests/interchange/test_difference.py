"""Two nexuses compared: the report for people and programs.

``KIPRDF_EXAMPLES`` sets how many pairs of nexuses are tried.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kiprdf
from kiprdf.interchange.differences.difference import (
    Change,
    Difference,
    Fact,
    difference,
    exit_status,
    printable,
    render,
    shown,
)
from kiprdf.interchange.formats import reading
from kiprdf.rdf.iris import ConceptName, Iris
from tests.interchange import nexuses
from tests.interchange.pairs import opened, triples
from tests.long_runs import amount
from tests.nexus.support import StoppedClock, empty, medical, restored_from
from tests.oracle.graph import Graph
from tests.properties.statement_graphs import mirrored_graphs
from tests.properties.strategies import graphs

EXAMPLES = amount("EXAMPLES", 8)
ASPIRIN = '{type: "Drug", name: "Aspirin"}'
FEVER = '{type: "Symptom", name: "Fever"}'
HEADACHE = '{type: "Symptom", name: "Headache"}'


def compared(before: kiprdf.Nexus, after: kiprdf.Nexus, **options: Any) -> Difference:
    bases = Iris(before.base_iri), Iris(after.base_iri)
    return difference(triples(before), triples(after), bases[0], after_iris=bases[1], **options)


def changed(*commands: str, made: Callable[..., kiprdf.Nexus] = medical, **options: Any) -> Any:
    """What commands change."""
    before, after = made(), made()
    for command in commands:
        after.execute(command)
    return compared(before, after, **options)


# For people -----------------------------------------------------------------------------------


def test_nothing_differs_between_equal_nexuses() -> None:
    changes = compared(medical(), medical())
    assert (changes.changes, bool(changes), changes.text()) == ((), False, "")


def test_the_text_groups_concepts_and_propositions_and_ends_with_counts() -> None:
    changes = changed(
        f"UPSERT {{ CONCEPT {{ {ASPIRIN} SET ATTRIBUTES {{ risk: 3, form: null }} }} "
        f'WITH METADATA {{ source: "review" }} CONCEPT ?n {{ {{type: "Drug", name: "Nova"}} '
        f'SET ATTRIBUTES {{ doses: [1, 2.0] }} SET PROPOSITIONS {{ ("treats", {HEADACHE}) }} }} }}',
        f'DELETE ATTRIBUTES {{"colour"}} FROM ?d WHERE {{ ?d {ASPIRIN} }}',
        f"DELETE CONCEPT ?s DETACH WHERE {{ ?s {FEVER} }}",
        'UPDATE ?l SET ATTRIBUTES {wording: "it did not"} WHERE { ?l (?u, "stated", ?f) }',
    )
    assert (
        changes.text()
        == """\
Concepts
~ Drug:Aspirin
    - attributes.colour: "white"
    + attributes.form: null
    ~ attributes.risk: 2 -> 3
    ~ metadata.source: "textbook" -> "review"
+ Drug:Nova
    + attributes.doses: [1,2.0]
- Symptom:Fever

Propositions
- (Drug:Aspirin, treats, Symptom:Fever)
    - metadata.source: "textbook"
+ (Drug:Nova, treats, Symptom:Headache)
~ (User:Ann, stated, (Drug:Aspirin, treats, Symptom:Headache))
    ~ attributes.wording: "it helped" -> "it did not"

Concepts: 1 added, 1 removed, 1 changed
Propositions: 1 added, 1 removed, 1 changed
"""
    )


def test_definitions_come_before_other_concepts() -> None:
    changes = changed(
        'UPSERT { CONCEPT { {type: "$PropositionType", name: "eases"} } '
        'CONCEPT { {type: "$ConceptType", name: "Actor"} } '
        'CONCEPT { {type: "Actor", name: "A"} } }'
    )
    assert [shown(change.identity) for change in changes.changes] == [
        "$ConceptType:Actor",
        "$PropositionType:eases",
        "Actor:A",
    ]


@pytest.mark.parametrize(("old", "new"), [("1", "1.0"), ("true", "1"), ("null", '"null"')])
def test_values_that_only_python_takes_for_equal_differ(old: str, new: str) -> None:
    nexus = medical()
    nexus.execute(f"UPSERT {{ CONCEPT {{ {ASPIRIN} SET ATTRIBUTES {{ v: {old} }} }} }}")
    after = medical()
    after.execute(f"UPSERT {{ CONCEPT {{ {ASPIRIN} SET ATTRIBUTES {{ v: {new} }} }} }}")
    assert f"    ~ attributes.v: {old} -> {new}\n" in compared(nexus, after).text()


def test_an_absent_key_is_not_a_null() -> None:
    changes = changed(f"UPSERT {{ CONCEPT {{ {FEVER} SET ATTRIBUTES {{ v: null }} }} }}")
    assert "    + attributes.v: null\n" in changes.text()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Vitamin C", "Thing:Vitamin C"),
        ("阿司匹林", "Thing:阿司匹林"),
        ("a, b", 'Thing:"a, b"'),
        ("a:b", 'Thing:"a:b"'),
        ("f(x)", 'Thing:"f(x)"'),
        ('"', 'Thing:"\\""'),
        (" a", 'Thing:" a"'),
        ("\u202eevil", 'Thing:"\\u202eevil"'),
        ("\u2028", 'Thing:"\\u2028"'),
        ("\U000e0001", 'Thing:"\\udb40\\udc01"'),
        ("\\u202e", 'Thing:"\\\\u202e"'),
    ],
)
def test_names_are_shown_as_they_are_unless_they_mislead(name: str, expected: str) -> None:
    assert shown(ConceptName("Thing", name)) == expected


def test_no_two_names_look_alike() -> None:
    names = {shown(ConceptName("Thing", name)) for name in nexuses.HOSTILE_NAMES}
    assert len(names) == len(nexuses.HOSTILE_NAMES)


def test_the_text_of_hostile_names_and_values_can_be_printed() -> None:
    empty = kiprdf.Nexus.memory(genesis=False)
    text = compared(empty, nexuses.hostile()).text()
    assert [c for c in text if c != "\n" and printable(c) != c] == []


def test_long_values_are_cut_to_where_they_begin_to_differ() -> None:
    nexus, after = medical(), medical()
    for one, text in ((nexus, "a" * 500), (after, "a" * 400 + "b" * 500)):
        one.execute(f"UPSERT {{ CONCEPT {{ {FEVER} SET ATTRIBUTES {{ v: :v }} }} }}", v=text)
    lines = compared(nexus, after).text().split("\n")
    old = "…" + "a" * 130 + '"'
    new = "…" + "a" * 30 + "b" * 170 + "…"
    assert lines[2] == f"    ~ attributes.v: {old} -> {new}"


# Identities -----------------------------------------------------------------------------------


def merged() -> kiprdf.Nexus:
    """The medical nexus, in which one link has the id of what it stated before a MERGE."""
    nexus = medical()
    nexus.execute(f'DELETE PROPOSITIONS ?l WHERE {{ ?l ({ASPIRIN}, "treats", {FEVER}) }}')
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Symptom", name: "Pyrexia"} } CONCEPT { '
        f'{ASPIRIN} SET PROPOSITIONS {{ ("treats", {{type: "Symptom", name: "Pyrexia"}}) '
        'WITH METADATA { source: "textbook" } } } }'
    )
    nexus.execute(
        f'MERGE CONCEPT ?p INTO ?f WHERE {{ ?p {{type: "Symptom", name: "Pyrexia"}} ?f {FEVER} }}'
    )
    return nexus


def test_a_proposition_with_another_id_is_no_difference() -> None:
    changes = compared(medical(), merged())
    assert changes.propositions == []


def test_ids_of_links_are_compared_on_request() -> None:
    changes = compared(medical(), merged(), link_ids=True)
    (change,) = changes.propositions
    old, new = change.ids
    assert old != new
    assert f"~ (Drug:Aspirin, treats, Symptom:Fever)\n    ~ id: {old} -> {new}\n" in changes.text()
    (shown_change,) = changes.to_json()["propositions"]["changed"]
    assert (shown_change["previous_id"], shown_change["id"]) == (old, new)


def test_engine_metadata_is_compared_on_request() -> None:
    def later() -> kiprdf.Nexus:
        clock = StoppedClock()
        clock.forward(days=1)
        return medical(clock=clock)

    assert not compared(medical(), later())
    changes = compared(medical(), later(), engine_metadata=True)
    assert len(changes.changes) == 12
    assert '~ metadata._created_at: "2026-01-02T03:04:05.678Z" -> "2026-01-03' in changes.text()


def test_a_snapshot_without_engine_metadata_is_no_difference() -> None:
    nexus = nexuses.hostile()
    text = nexus.snapshot(engine_metadata=False)
    read = reading.read(text, "turtle", nexus.base_iri)
    assert not difference(triples(nexus), read, Iris(nexus.base_iri))


@pytest.mark.parametrize("made", [medical, nexuses.hostile, nexuses.colliding])
def test_another_base_is_no_difference(made: Callable[..., kiprdf.Nexus]) -> None:
    nexus = made()
    base = "https://elsewhere.example/"
    moved = reading.read(nexus.snapshot(), "turtle", base)
    assert not difference(
        triples(nexus), moved, Iris(nexus.base_iri), after_iris=Iris(base), engine_metadata=True
    )


def test_facts_are_equal_when_they_state_the_same() -> None:
    a, b = ConceptName("T", "A"), ConceptName("T", "B")
    one = Fact.of(Fact.of(a, "p", b), "q", a)
    assert one == Fact.of(Fact.of(a, "p", b), "q", a)
    assert one != Fact.of(Fact.of(b, "p", a), "q", a)
    assert one.height == 1


# Towers ---------------------------------------------------------------------------------------

TOWER = 90


def tower(height: int) -> kiprdf.Nexus:
    """Facts about facts, each about the two below it: written out, they would never end."""
    nexus = empty()
    blocks = [
        'CONCEPT { {type: "$ConceptType", name: "T"} }',
        'CONCEPT { {type: "$PropositionType", name: "says"} }',
        'CONCEPT ?l0 { {type: "T", name: "A"} }',
        'CONCEPT ?l1 { {type: "T", name: "B"} }',
    ]
    blocks += [
        f'PROPOSITION ?l{n} {{ (?l{n - 1}, "says", ?l{n - 2}) }}' for n in range(2, height + 2)
    ]
    nexus.apply_capsule(f"UPSERT {{ {' '.join(blocks)} }}")
    return nexus


def test_a_tower_of_facts_differs_in_linear_text() -> None:
    low, high = tower(TOWER), tower(TOWER + 5)
    changes = compared(low, high)
    assert changes.counts()["propositions"] == {"added": 5, "removed": 0, "changed": 0}
    assert len(changes.text()) < 5_000
    assert compared(high, low).counts()["propositions"] == {"added": 0, "removed": 5, "changed": 0}


# For programs ---------------------------------------------------------------------------------


def test_json_has_elements_as_kip_does_and_both_sides_of_a_change() -> None:
    changes = changed(
        f"UPSERT {{ CONCEPT {{ {ASPIRIN} SET ATTRIBUTES {{ risk: null, new: 1 }} }} "
        f'CONCEPT {{ {{type: "Drug", name: "N"}} SET ATTRIBUTES {{ a: {{"@value": "x", '
        '"@language": "de"} } } }',
        f'DELETE ATTRIBUTES {{"colour"}} FROM ?d WHERE {{ ?d {ASPIRIN} }}',
        f'DELETE PROPOSITIONS ?l WHERE {{ ?l ({ASPIRIN}, "treats", {FEVER}) }}',
    )
    assert json.loads(json.dumps(changes.to_json())) == {
        "concepts": {
            "added": [
                {
                    "_type": "ConceptNode",
                    "id": "C:Drug/N",
                    "type": "Drug",
                    "name": "N",
                    "attributes": {"a": {"@value": "x", "@language": "de"}},
                }
            ],
            "removed": [],
            "changed": [
                {
                    "_type": "ConceptNode",
                    "id": "C:Drug/Aspirin",
                    "type": "Drug",
                    "name": "Aspirin",
                    "attributes": {
                        "colour": {"before": "white"},
                        "new": {"after": 1},
                        "risk": {"before": 2, "after": None},
                    },
                }
            ],
        },
        "propositions": {
            "added": [],
            "removed": [
                {
                    "_type": "PropositionLink",
                    "id": "P:256a22ec73d46313:treats",
                    "subject": "C:Drug/Aspirin",
                    "predicate": "treats",
                    "object": "C:Symptom/Fever",
                    "metadata": {"source": "textbook"},
                }
            ],
            "changed": [],
        },
        "counts": {
            "concepts": {"added": 1, "removed": 0, "changed": 1},
            "propositions": {"added": 0, "removed": 1, "changed": 0},
        },
    }


def test_what_a_merge_leaves_is_reported() -> None:
    text = compared(medical(), merged()).text()
    assert '    + metadata._merged_from: ["Symptom:Pyrexia"]\n' in text
    assert '    + attributes.aliases: ["Pyrexia"]\n' in text


def edited(text: str, *replacements: tuple[str, str]) -> kiprdf.Nexus:
    """The nexus of a snapshot in which parts are replaced."""
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new, 1)
    return restored_from(text)


def test_what_is_protected_is_reported() -> None:
    text = kiprdf.Nexus.memory(clock=StoppedClock()).snapshot()
    domain = 'Domain:CoreSchema a type:Domain ;\n    rdfs:label "CoreSchema" ;\n'
    core = next(line for line in text.split("\n") if "attr:core_directives" in line)
    other = edited(
        text,
        (domain, f"{domain}    attr:new 1 ;\n"),
        (core, '    attr:core_directives "[]"^^rdf:JSON ;'),
    )
    nexus = kiprdf.Nexus.memory(clock=StoppedClock())
    changes = compared(nexus, other)
    assert changes.counts()["concepts"] == {"added": 0, "removed": 0, "changed": 2}
    assert "~ Domain:CoreSchema\n    + attributes.new: 1\n" in changes.text()
    assert "~ Person:$self\n    ~ attributes.core_directives: [" in changes.text()


# The command line -----------------------------------------------------------------------------


def test_render_gives_each_form() -> None:
    changes = changed(f"UPSERT {{ CONCEPT {{ {FEVER} SET ATTRIBUTES {{ a: 1 }} }} }}")
    assert render(changes) == changes.text()
    assert json.loads(render(changes, "json")) == changes.to_json()


def test_the_exit_status_is_that_of_diff() -> None:
    changes = changed(f"UPSERT {{ CONCEPT {{ {FEVER} SET ATTRIBUTES {{ a: 1 }} }} }}")
    assert (exit_status(compared(medical(), medical())), exit_status(changes)) == (0, 1)


# Properties -----------------------------------------------------------------------------------

EACH = settings(max_examples=EXAMPLES)
pairs = st.tuples(graphs(), graphs()) | st.tuples(mirrored_graphs(), mirrored_graphs())


def swapped(change: Change) -> Change:
    return Change(change.identity, change.after, change.before)


@EACH
@given(graph=graphs() | mirrored_graphs())
def test_a_nexus_does_not_differ_from_itself(graph: Graph) -> None:
    with opened([graph, graph]) as (one, other):
        assert not compared(one, other, engine_metadata=True, link_ids=True)


@EACH
@given(pair=pairs)
def test_swapping_the_sides_swaps_what_is_reported(pair: tuple[Graph, Graph]) -> None:
    with opened(pair) as (before, after):
        there, back = compared(before, after), compared(after, before)
        assert back == dataclasses.replace(there, changes=tuple(map(swapped, there.changes)))
        for kind, other in (("added", "removed"), ("removed", "added")):
            for title in ("concepts", "propositions"):
                assert back.to_json()[title][kind] == there.to_json()[title][other]


@EACH
@given(pair=pairs)
def test_the_difference_does_not_depend_on_the_bases(pair: tuple[Graph, Graph]) -> None:
    with opened(pair) as (before, after):
        base = "https://data.example.org/kb/"
        moved = reading.read(after.snapshot(), "turtle", base)
        own, other = Iris(before.base_iri), Iris(base)
        changes = difference(triples(before), moved, own, after_iris=other)
        assert changes == compared(before, after)


@EACH
@given(pair=pairs, seed=st.randoms(use_true_random=False))
def test_the_text_does_not_depend_on_the_order_of_triples(
    pair: tuple[Graph, Graph], seed: Any
) -> None:
    with opened(pair) as (before, after):
        old, new = triples(before), triples(after)
        text = compared(before, after).text()
        seed.shuffle(old)
        seed.shuffle(new)
        assert difference(old, new, Iris(before.base_iri)).text() == text
