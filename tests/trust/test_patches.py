"""A patch of a principal is a write like any other; only the owner's is exact."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from kiprdf import KipError, Nexus
from tests.cases import each_case
from tests.nexus.support import element, untouched

BOB, META = "<urn:kip:nexus/Person/Bob>", "urn:kip:metadata/"
CITY = f"{BOB} <urn:kip:attribute/city>"
INTEGER = "^^<http://www.w3.org/2001/XMLSchema#integer>"
TIME = "2026-01-01T00:00:00.000Z"
LATER = "2026-01-02T00:00:00.000Z"
ADMIN = {"author": "ada", "kind": "human"}
WRITERS: dict[str, dict[str, Any]] = {
    "model": {"author": "claude", "access": "write"},
    "model with all access": {"author": "claude"},
    "job": {"author": "sync", "kind": "job", "access": "write"},
    "human": {"author": "ada", "kind": "human", "access": "write"},
    "nobody": {"access": "write"},
}


class Clock:
    """The first day, until ``now`` is another one."""

    now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def world() -> Nexus:
    """A nexus in which Bob has been merged with Rob, written by a model, a day before."""
    clock = Clock()
    nexus = Nexus.memory(clock=clock)
    with nexus.acting(author="old"):
        for name in ("Bob", "Rob"):
            nexus.execute(
                'UPSERT { CONCEPT { {type: "Person", name: :name} '
                'SET ATTRIBUTES {city: "Paris"} } }',
                name=name,
            )
        nexus.execute(
            "MERGE CONCEPT ?a INTO ?b"
            ' WHERE { ?a {type: "Person", name: "Rob"} ?b {type: "Person", name: "Bob"} }'
        )
    clock.now = datetime(2026, 1, 2, tzinfo=UTC)
    return nexus


def bob(nexus: Nexus) -> dict[str, Any]:
    metadata: dict[str, Any] = element(nexus, "C:Person/Bob")["metadata"]
    return metadata


def row(key: str, value: str) -> str:
    return f"{BOB} <{META}{key}> {value} .\n"


def replaced(key: str, old: str, new: str) -> str:
    return f"D {row(key, old)}A {row(key, new)}"


MOVED = f'D {CITY} "Paris" .\nA {CITY} "Rome" .\n'


@each_case("actor", WRITERS.values())
def test_versions_times_and_the_writer_are_those_of_any_write(actor: dict[str, Any]) -> None:
    nexus = world()
    assert bob(nexus)["_version"] == 2
    forged = "".join(
        [
            MOVED,
            replaced("_version", f'"2"{INTEGER}', f'"9"{INTEGER}'),
            replaced("_created_at", f'"{TIME}"', '"2001-01-01T00:00:00.000Z"'),
            replaced("_updated_at", f'"{TIME}"', '"2031-01-01T00:00:00.000Z"'),
        ]
    )
    with nexus.acting(**actor):
        nexus.apply_patch(forged)
    metadata = bob(nexus)
    kind = actor.get("kind", "model")
    label = f"{kind}/{actor['author']}" if "author" in actor else None
    keys = ("_version", "_created_at", "_updated_at", "_actor")
    assert [metadata.get(key) for key in keys] == [3, TIME, LATER, label]
    with pytest.raises(KipError) as raised:
        nexus.execute(
            'UPSERT { CONCEPT { {type: "Person", name: "Bob"} EXPECT VERSION 2 '
            'SET ATTRIBUTES {city: "Bonn"} } }'
        )
    assert raised.value.code == "KIP_3005"


@each_case("actor", WRITERS.values())
def test_a_new_element_has_the_metadata_of_a_new_element(actor: dict[str, Any]) -> None:
    nexus = world()
    new = "<urn:kip:nexus/Person/New>"
    rows = (
        f"A {new} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
        " <urn:kip:nexus/$ConceptType/Person> .\n"
        f'A {new} <http://www.w3.org/2000/01/rdf-schema#label> "New" .\n'
        f'A {new} <{META}_version> "7"{INTEGER} .\n'
        f'A {new} <{META}_created_at> "{TIME}" .\n'
    )
    with nexus.acting(**actor):
        nexus.apply_patch(rows)
    metadata = element(nexus, "C:Person/New")["metadata"]
    assert (metadata["_version"], metadata["_created_at"], metadata["_updated_at"]) == (
        *(1, LATER, LATER),
    )


@each_case("actor", WRITERS.values())
def test_what_changes_nothing_changes_no_engine_metadata(actor: dict[str, Any]) -> None:
    nexus = world()
    with nexus.acting(**actor):
        nexus.apply_patch(replaced("_version", f'"2"{INTEGER}', f'"1"{INTEGER}'))
    assert (bob(nexus)["_version"], bob(nexus)["_actor"]) == (2, "model/old")


@each_case("actor", WRITERS.values())
def test_the_trail_of_merges_is_the_engines(actor: dict[str, Any]) -> None:
    nexus = world()
    (trail,) = nexus.sparql(f"SELECT ?v WHERE {{ {BOB} <{META}_merged_from> ?v }}")  # type: ignore
    assert bob(nexus)["_merged_from"] == ["Person:Rob"]
    with nexus.acting(**actor), untouched(nexus), pytest.raises(KipError) as raised:
        nexus.apply_patch(f"D {row('_merged_from', str(trail['v']))}{MOVED}")
    assert raised.value.code == "KIP_2002"
    assert raised.value.hint is not None
    assert "a person with the access 'admin'" in raised.value.hint


@each_case("actor", WRITERS.values())
def test_what_is_only_named_is_noted_by_the_engine(actor: dict[str, Any]) -> None:
    """A view passes over the status of what a member only names."""
    nexus = world()
    true = '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'
    with nexus.acting(**actor), untouched(nexus), pytest.raises(KipError) as raised:
        nexus.apply_patch(f"A {row('_mentioned', true)}{MOVED}")
    assert raised.value.code == "KIP_2002"
    nexus.apply_patch(f"A {row('_mentioned', true)}{MOVED}")
    assert bob(nexus)["_mentioned"] is True


@pytest.mark.parametrize("rows", ["D{old}", "D{old}A{new}", "D{old}A{new}" + MOVED])
def test_nobody_without_all_access_writes_another_writer(rows: str) -> None:
    nexus = world()
    old, new = (f" {row('_actor', value)}" for value in ('"model/old"', '"human/ada"'))
    for name, actor in WRITERS.items():
        if actor.get("access") == "write":
            with nexus.acting(**actor), untouched(nexus), pytest.raises(KipError) as raised:
                nexus.apply_patch(rows.format(old=old, new=new))
            assert (name, raised.value.code) == (name, "KIP_2002")


def test_a_model_with_all_access_is_named_on_what_it_changes() -> None:
    nexus = world()
    claim = replaced("_actor", '"model/old"', '"human/ada"')
    with nexus.acting(author="claude"):
        nexus.apply_patch(claim)
        assert bob(nexus)["_actor"] == "model/old"
        nexus.apply_patch(claim + MOVED)
    assert bob(nexus)["_actor"] == "model/claude"


def test_the_owner_writes_all_of_it_and_a_person_all_but_the_writer() -> None:
    for actor, writer in (({}, "human/eve"), (ADMIN, "human/ada")):
        nexus = world()
        with nexus.acting(**actor):
            nexus.apply_patch(
                MOVED
                + replaced("_version", f'"2"{INTEGER}', f'"9"{INTEGER}')
                + replaced("_actor", '"model/old"', '"human/eve"')
            )
        assert (bob(nexus)["_version"], bob(nexus)["_actor"]) == (9, writer)


@pytest.mark.parametrize("value", ['"ada"', '"robot/x"', f'"1"{INTEGER}'])
def test_a_writer_that_no_engine_writes_is_refused(value: str) -> None:
    nexus = world()
    with untouched(nexus), pytest.raises(KipError, match="'_actor' of C:Person/Bob") as raised:
        nexus.apply_patch(replaced("_actor", '"model/old"', value))
    assert raised.value.code == "KIP_2002"


@pytest.mark.parametrize("access", ["read", "propose"])
def test_a_patch_needs_the_access_to_write(access: Any) -> None:
    nexus = world()
    with untouched(nexus), nexus.acting(author="claude", access=access):
        with pytest.raises(KipError) as raised:
            nexus.apply_patch(MOVED)
        assert raised.value.code == "KIP_3004"
        assert nexus.apply_patch(MOVED, dry_run=True) == {"deleted": 1, "added": 1}
