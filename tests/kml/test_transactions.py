"""One text, one transaction: all or nothing, and nothing where nothing changes (KIP 4.1, 2.10)."""

from __future__ import annotations

import pytest

import kiprdf
from tests.cases import each_case
from tests.nexus.support import (
    FACTS,
    SCHEMA,
    StoppedClock,
    code,
    commit,
    dataset,
    element,
    medical,
    restored_from,
    untouched,
)

GOOD = 'CONCEPT ?a { {type: "Drug", name: "New"} SET ATTRIBUTES { a: 1 } } WITH METADATA { s: 1 }'
CHANGE = 'CONCEPT { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES { risk: 9 } }'
BAD_ENDINGS = {
    "unknown type": ('CONCEPT { {type: "drug", name: "X"} }', "KIP_2001"),
    "unknown predicate": (
        'CONCEPT { {type: "Drug", name: "X"} SET PROPOSITIONS '
        '{ ("cures", {type: "Symptom", name: "Fever"}) } }',
        "KIP_2001",
    ),
    "missing target": (
        'CONCEPT { {type: "Drug", name: "X"} SET PROPOSITIONS '
        '{ ("treats", {type: "Symptom", name: "Cough"}) } }',
        "KIP_3002",
    ),
    "missing id": ('CONCEPT { {id: "C:Drug/Nothing"} }', "KIP_3002"),
    "missing link": (
        'PROPOSITION { (id: "P:0000000000000000:treats") }',
        "KIP_3002",
    ),
    "missing nested link": (
        'PROPOSITION { ({type: "User", name: "Ann"}, "stated", ({type: "User", name: "Ann"}, '
        '"treats", {type: "Symptom", name: "Fever"})) }',
        "KIP_3002",
    ),
    "undefined handle": (
        'CONCEPT { {type: "Drug", name: "X"} SET PROPOSITIONS { ("treats", ?nobody) } }',
        "KIP_3001",
    ),
    "reserved metadata": (
        'CONCEPT { {type: "Drug", name: "X"} } WITH METADATA { _version: 3 }',
        "KIP_2002",
    ),
    "bad identifier": ('CONCEPT { {type: "$ConceptType", name: "2nd"} }', "KIP_1002"),
    "unknown meta-type": ('CONCEPT { {type: "$ConceptType", name: "$Mine"} }', "KIP_1002"),
    "control character": ('CONCEPT { {type: "Drug", name: "a\\u0000b"} }', "KIP_1002"),
}


@each_case("ending", BAD_ENDINGS)
def test_an_error_in_the_last_block_changes_no_quad(ending: str) -> None:
    nexus = medical()
    bad, expected = BAD_ENDINGS[ending]
    with untouched(nexus):
        codes = code(nexus, f"UPSERT {{ {GOOD} {CHANGE} }} UPSERT {{ {bad} }}")
    assert codes == expected


@each_case("ending", BAD_ENDINGS)
def test_after_a_failed_statement_the_good_part_alone_still_works(ending: str) -> None:
    nexus = medical()
    code(nexus, f"UPSERT {{ {GOOD} {BAD_ENDINGS[ending][0]} }}")
    nexus.execute(f"UPSERT {{ {GOOD} }}")
    assert element(nexus, "C:Drug/New")["metadata"]["_version"] == 1


@pytest.mark.parametrize(
    "command",
    [
        f"UPSERT {{ {GOOD} {CHANGE} }}",
        'DELETE ATTRIBUTES {"risk"} FROM ?d WHERE { ?d {type: "Drug"} }',
        'DELETE METADATA {"source"} FROM ?d WHERE { ?d {type: "Drug"} }',
        'DELETE PROPOSITIONS ?l WHERE { ?l (?s, "treats", ?o) }',
        'DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug"} }',
    ],
)
def test_a_changing_statement_is_one_commit(command: str) -> None:
    nexus = medical()
    before = commit(nexus)
    nexus.execute(command)
    assert commit(nexus) == before + 1


@pytest.mark.parametrize(
    "command",
    [
        SCHEMA,
        FACTS,
        'UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"} } }',
        'UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES { risk: 2 } } '
        'WITH METADATA { source: "textbook" } }',
        'UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES { risk: 3 } } '
        'CONCEPT { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES { risk: 2 } } }',
        'DELETE ATTRIBUTES {"nothing"} FROM ?d WHERE { ?d {type: "Drug"} }',
        'DELETE METADATA {"nothing"} FROM ?d WHERE { ?d {type: "Drug"} }',
        'DELETE PROPOSITIONS ?l WHERE { ?l (?s, "treats", ?o) FILTER(false) }',
        'DELETE CONCEPT ?d DETACH WHERE { ?d {name: "Nobody"} }',
    ],
)
def test_a_statement_that_changes_nothing_writes_nothing(command: str) -> None:
    clock = StoppedClock()
    nexus = medical(clock=clock)
    clock.forward(hours=1)
    with untouched(nexus):
        nexus.execute(command)


@pytest.mark.parametrize(
    ("stored", "again"),
    [
        ("{b: 1, a: [2]}", '{"a": [2], "b": 1}'),
        ("0.1", "1e-1"),
        ("1.0", "1.00"),
        ("100.0", "1e2"),
        ("1e16", "1e+16"),
        ("-0.0", "-0.0"),
        ('"\\u00e9"', '"é"'),
        ("null", "null"),
        ("[]", "[]"),
    ],
)
def test_another_spelling_of_the_same_value_writes_nothing(stored: str, again: str) -> None:
    clock = StoppedClock()
    nexus = medical(clock=clock)
    upsert = 'UPSERT {{ CONCEPT {{ {{type: "Drug", name: "A"}} SET ATTRIBUTES {{ v: {} }} }} }}'
    nexus.execute(upsert.format(stored))
    clock.forward(hours=1)
    with untouched(nexus):
        nexus.execute(upsert.format(again))


@pytest.mark.parametrize(
    ("stored", "other"),
    [("1", "1.0"), ("1", "true"), ("1", '"1"'), ("null", "false"), ("[1]", "[1.0]"),
     ("[1,2]", "[2,1]"), ("{a: null}", "{}"), ('"é"', '"e\\u0301"')],
)  # fmt: skip
def test_another_value_is_a_change(stored: str, other: str) -> None:
    nexus = medical()
    upsert = 'UPSERT {{ CONCEPT {{ {{type: "Drug", name: "A"}} SET ATTRIBUTES {{ v: {} }} }} }}'
    nexus.execute(upsert.format(stored))
    nexus.execute(upsert.format(other))
    assert element(nexus, "C:Drug/A")["metadata"]["_version"] == 2


def test_creation_sets_version_one_and_both_times() -> None:
    metadata = element(medical(), "C:Symptom/Fever")["metadata"]
    assert metadata == {
        "_version": 1,
        "_created_at": "2026-01-02T03:04:05.678Z",
        "_updated_at": "2026-01-02T03:04:05.678Z",
    }


def test_a_change_raises_the_version_and_moves_the_update_time_only() -> None:
    clock = StoppedClock()
    nexus = medical(clock=clock)
    clock.forward(days=1, milliseconds=22)
    nexus.execute(f"UPSERT {{ {CHANGE} }}")
    metadata = element(nexus, "C:Drug/Aspirin")["metadata"]
    assert metadata == {
        "source": "textbook",
        "_version": 2,
        "_created_at": "2026-01-02T03:04:05.678Z",
        "_updated_at": "2026-01-03T03:04:05.700Z",
    }


def test_two_changes_in_one_statement_raise_the_version_once() -> None:
    nexus = medical()
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES { risk: 3 } } } '
        'UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES { risk: 4 } } }'
    )
    assert element(nexus, "C:Drug/Aspirin")["metadata"]["_version"] == 2


def test_elements_that_a_statement_only_mentions_keep_their_version() -> None:
    nexus = medical()
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Drug", name: "Other"} SET PROPOSITIONS '
        '{ ("treats", {type: "Symptom", name: "Fever"}) } } }'
    )
    assert element(nexus, "C:Symptom/Fever")["metadata"]["_version"] == 1


def test_a_new_link_does_not_change_the_version_of_its_subject() -> None:
    nexus = medical()
    nexus.execute(
        'UPSERT { CONCEPT { {type: "User", name: "Ann"} SET PROPOSITIONS '
        '{ ("stated", {type: "Symptom", name: "Fever"}) } } }'
    )
    assert element(nexus, "C:User/Ann")["metadata"]["_version"] == 1


def test_a_deleted_key_raises_the_version() -> None:
    nexus = medical()
    nexus.execute('DELETE ATTRIBUTES {"risk"} FROM ?d WHERE { ?d {type: "Drug"} }')
    assert element(nexus, "C:Drug/Aspirin")["metadata"]["_version"] == 2


def test_a_clock_of_another_zone_is_written_in_utc() -> None:
    from datetime import datetime, timedelta, timezone

    moment = datetime(2026, 1, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    nexus = kiprdf.Nexus.memory(genesis=False, clock=lambda: moment)
    nexus.execute(SCHEMA)
    created_at = element(nexus, "C:$ConceptType/Drug")["metadata"]["_created_at"]
    assert created_at == "2025-12-31T23:30:00.000Z"


@pytest.mark.parametrize("key", ["_version", "_created_at", "_updated_at", "_merged_from"])
def test_reserved_metadata_cannot_be_deleted(key: str) -> None:
    nexus = medical()
    with untouched(nexus):
        command = f'DELETE METADATA {{"{key}"}} FROM ?d WHERE {{ ?d {{type: "Drug"}} }}'
        assert code(nexus, command) == "KIP_2002"


@pytest.mark.parametrize("key", ["_version", "_created_at", "_updated_at", "_merged_from"])
@pytest.mark.parametrize(
    "command",
    [
        'UPSERT { CONCEPT { {type: "Drug", name: "A"} } WITH METADATA :m }',
        'UPSERT { CONCEPT { {type: "Drug", name: "A"} } } WITH METADATA :m',
        'UPSERT { CONCEPT { {type: "Drug", name: "A"} SET PROPOSITIONS '
        '{ ("treats", {type: "Symptom", name: "Fever"}) WITH METADATA :m } } }',
        'UPSERT { PROPOSITION { ({type: "User", name: "Ann"}, "stated", '
        '{type: "Symptom", name: "Fever"}) } WITH METADATA :m }',
    ],
)
def test_reserved_metadata_cannot_be_written_at_any_level(command: str, key: str) -> None:
    nexus = medical()
    with untouched(nexus):
        assert code(nexus, command, m={key: 1}) == "KIP_2002"


def test_attributes_may_have_the_names_of_reserved_metadata() -> None:
    nexus = medical()
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES { _version: 7 } } }'
    )
    assert element(nexus, "C:Drug/Aspirin")["attributes"]["_version"] == 7


def test_an_element_without_a_version_counts_as_version_one() -> None:
    source = medical().snapshot(engine_metadata=False)
    nexus = restored_from(source)
    nexus.execute(f"UPSERT {{ {CHANGE} }}")
    assert element(nexus, "C:Drug/Aspirin")["metadata"]["_version"] == 2


def test_the_same_commands_make_the_same_dataset() -> None:
    assert dataset(medical()) == dataset(medical())
