"""Who acts: the kind and the access of those who write, and ``_actor`` on what they wrote."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kiprdf import KipError, Nexus
from kiprdf.actors import Access
from tests.cli.runner import invoke

ADA = 'UPSERT { CONCEPT { {type: "Person", name: "Ada"} SET ATTRIBUTES { city: :city } } }'
ACTOR = 'FIND(?p.metadata._actor) WHERE { ?p {type: "Person", name: "Ada"} }'


@pytest.fixture
def nexus() -> Iterator[Nexus]:
    with Nexus.memory(history=True) as nexus:
        nexus.execute(ADA, city="London")
        yield nexus


@pytest.mark.parametrize(
    ("actor", "expected"),
    [
        ({}, None),
        ({"session": "s"}, None),
        ({"author": "claude"}, "model/claude"),
        ({"author": "ada", "kind": "human"}, "human/ada"),
        ({"author": "nightly", "kind": "job"}, "job/nightly"),
    ],
)
def test_what_a_principal_changes_names_it(
    nexus: Nexus, actor: dict[str, Any], expected: str | None
) -> None:
    with nexus.acting(**actor):
        nexus.execute(ADA, city="Turin")
    assert nexus.execute(ACTOR) == [expected]


def test_a_write_that_changes_nothing_leaves_the_actor(nexus: Nexus) -> None:
    with nexus.acting(author="claude"):
        nexus.execute(ADA, city="Turin")
    with nexus.acting(author="gemini"):
        nexus.execute(ADA, city="Turin")
    assert nexus.execute(ACTOR) == ["model/claude"]


def test_a_change_of_the_owner_is_no_longer_the_principals(nexus: Nexus) -> None:
    with nexus.acting(author="claude"):
        nexus.execute(ADA, city="Turin")
    assert nexus.execute(ACTOR) == ["model/claude"]
    nexus.execute(ADA, city="Paris")
    assert nexus.execute(ACTOR) == [None]


def test_an_undo_is_the_work_of_the_one_who_undoes(nexus: Nexus) -> None:
    with nexus.acting(author="claude"):
        nexus.execute('DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Person", name: "Ada"} }')
    with nexus.acting(author="ada", kind="human"):
        nexus.undo(seq=nexus.info()["commit"])
    assert nexus.execute(ACTOR) == ["human/ada"]


@pytest.mark.parametrize(
    "command",
    [
        'UPSERT { CONCEPT { {type: "Person", name: "Ada"} } } WITH METADATA { _actor: "human/x" }',
        'UPDATE ?p SET METADATA { _actor: "human/x" } WHERE { ?p {name: "Ada"} }',
        'DELETE METADATA {"_actor"} FROM ?p WHERE { ?p {name: "Ada"} }',
    ],
)
def test_no_statement_writes_the_actor(nexus: Nexus, command: str) -> None:
    with pytest.raises(KipError, match="'_actor' is maintained by the engine") as raised:
        nexus.execute(command)
    assert raised.value.code == "KIP_2002"


def test_an_inner_block_has_no_more_access_than_the_outer_one(nexus: Nexus) -> None:
    with nexus.acting(author="claude", access="read"), nexus.acting(access="admin"):
        assert nexus.execute(ACTOR) == [None]
        with pytest.raises(KipError, match="claude has the access 'read' only") as raised:
            nexus.execute(ADA, city="Turin")
    assert raised.value.code == "KIP_3004"
    nexus.execute(ADA, city="Turin")


def test_each_write_of_the_library_needs_the_access(nexus: Nexus) -> None:
    commit = nexus.info()["commit"]
    other = Nexus.memory()
    writes: dict[str, Callable[[], Any]] = {
        "transaction": lambda: nexus.transaction(lambda tx: tx.execute(ADA, city="Turin")),
        "capsule": lambda: nexus.apply_capsule(
            'UPSERT { CONCEPT { {type: "Person", name: "B"} } }'
        ),
        "undo": lambda: nexus.undo(seq=commit),
        "forget": lambda: nexus.forget(["C:Person/Ada"]),
        "compact": lambda: nexus.compact_history(commit),
        "import": lambda: nexus.import_rdf("<urn:a> a <urn:T> .", define=True),
        "patch": lambda: nexus.apply_patch(nexus.patch_to(other).text),
    }
    accesses: tuple[Access, ...] = ("read", "propose")
    for access in accesses:
        for write in writes.values():
            with nexus.acting(author="claude", access=access), pytest.raises(KipError) as raised:
                write()
            assert raised.value.code == "KIP_3004"
    assert nexus.info()["commit"] == commit


@pytest.mark.parametrize("is_dry", [False, True])
def test_a_reader_writes_nothing_that_was_written_before_either(nexus: Nexus, is_dry: bool) -> None:
    names = ("Ada", "Bo", "Cy")
    upserts = [f'UPSERT {{ CONCEPT {{ {{type: "Person", name: "{name}"}} }} }}' for name in names]
    updates = [
        f'UPDATE ?p SET ATTRIBUTES {{age: 1}} WHERE {{ ?p {{type: "Person", name: "{name}"}} }}'
        for name in names
    ]
    for command in (*upserts, *updates):
        nexus.execute(command)
    with nexus.acting(author="claude", access="read"):
        for command in (*upserts, *updates):
            with pytest.raises(KipError) as raised:
                nexus.execute(command, dry_run=is_dry)
            assert raised.value.code == "KIP_3004"


def test_only_an_administrator_restores(nexus: Nexus) -> None:
    snapshot = nexus.snapshot()
    with Nexus.memory() as other:
        with other.acting(author="claude", access="write"), pytest.raises(KipError) as raised:
            other.restore(snapshot)
        assert raised.value.code == "KIP_3004"
        with other.acting(author="ada", kind="human", access="admin"):
            other.restore(snapshot)
        assert other.execute('FIND(?p.name) WHERE { ?p {name: "Ada"} }') == ["Ada"]


FORGED = """UPSERT {
  CONCEPT { {type: "Person", name: "Eve"} SET ATTRIBUTES { age: "many" } }
    WITH METADATA { status: "reviewed", author: "ada" }
} """


def test_a_restore_says_what_it_does_not_check(nexus: Nexus) -> None:
    """And it takes these as they are: an import of the same is checked."""
    docstring = " ".join((Nexus.restore.__doc__ or "").split())
    assert "it does not check who wrote, reviewed, retracted or rejected what" in docstring
    shown = " ".join(invoke("restore", "--help").stdout.split())
    assert "nothing that it says: who wrote, reviewed, retracted or rejected what" in shown
    assert "Restore what you trust." in shown
    with nexus.acting(author="ada", kind="human"):
        nexus.execute(ADA, city="Rome")
    schema = {"age": {"type": "integer"}}
    define = 'UPSERT { CONCEPT { {type: "$ConceptType", name: "Person"} SET ATTRIBUTES :a } }'
    nexus.execute(define.replace(":a", "{ instance_schema: :schema }"), schema=schema)
    nexus.execute(FORGED)
    snapshot = nexus.snapshot()
    with Nexus.memory(strict_schema=True) as other:
        with other.acting(author="root", kind="model", access="admin"):
            other.restore(snapshot)
        (metadata,) = other.execute('FIND(?p.metadata) WHERE { ?p {name: "Eve"} }')
        assert (metadata["status"], metadata["author"]) == ("reviewed", "ada")
        assert other.execute(ACTOR) == ["human/ada"]
        assert other.snapshot() == snapshot
        assert code_of(lambda: other.execute(FORGED.replace("Eve", "Eva"))) == "KIP_2003"
        with other.acting(author="root", kind="model", access="admin"):
            text = FORGED.replace('"many"', "7").replace("Eve", "Eva")
            assert code_of(lambda: other.execute(text)) == "KIP_3004"


@pytest.mark.parametrize(
    "wrong", [{"kind": "person"}, {"access": "all"}, {"kind": 5}, {"author": ""}, {"author": " "}]
)
def test_wrong_kinds_and_accesses_are_refused(nexus: Nexus, wrong: dict[str, Any]) -> None:
    with pytest.raises(KipError) as raised:
        nexus.acting(**{"author": "x", **wrong})
    assert raised.value.code == "KIP_1001"


NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
CLOCKS: dict[str, tuple[Callable[[int], datetime], bool]] = {
    "stopped": (lambda look: NOON, True),
    "backwards": (lambda look: NOON - timedelta(days=look), True),
    "back and forth": (lambda look: NOON + timedelta(days=(-1) ** look), True),
    "the last moment": (lambda look: datetime.max.replace(tzinfo=UTC), False),
    "the first moment": (lambda look: datetime.min.replace(tzinfo=UTC), True),
    "without a zone": (lambda look: NOON.replace(tzinfo=None), True),
}
"""The time at each look, and whether it is before 2099."""


@pytest.mark.parametrize("clock", CLOCKS)
def test_no_clock_changes_a_judgement(clock: str) -> None:
    at, is_valid = CLOCKS[clock]
    looks = itertools.count()
    with Nexus.memory(history=True, clock=lambda: at(next(looks))) as nexus:
        nexus.execute(ADA, city="London")
        with nexus.acting(author="scout", access="propose"):
            for city in ("Paris", "Oslo", "Bonn"):
                nexus.execute(ADA, city=city)
        assert [one["id"] for one in nexus.proposals()] == ["prop-1", "prop-2", "prop-3"]
        assert nexus.approve("prop-1")["upsert_concept_nodes"] == ["C:Person/Ada"]
        assert code_of(lambda: nexus.approve("prop-3")) == "KIP_3005"
        nexus.decline("prop-2", "No.")
        nexus.reject(("C:Person/Ada", "attributes.city", "Paris"), reason="She never lived there.")
        nexus.reject(("C:Person/Ada", "attributes.city", "Rome"), reason="She was on holiday.")
        moments = [one["at"] for one in nexus.rejections()]
        assert moments == sorted(moments)
        assert all(len(moment) == 24 and moment.endswith("Z") for moment in moments)
        with nexus.acting(author="ada", kind="human"):
            nexus.execute('UPDATE ?p SET METADATA {status: "retracted"} WHERE {?p {name: "Ada"}}')
        find = 'FIND(?p.metadata.retracted_at) WHERE {?p {name: "Ada"}}'
        retracted = nexus.execute(find)
        with nexus.acting(author="claude"):
            commands = (
                ADA.replace(":city", '"Paris"'),
                ADA.replace(":city", '"ROME"'),
                'UPDATE ?p SET METADATA {status: "active"} WHERE {?p {name: "Ada"}}',
                'DELETE CONCEPT ?p DETACH WHERE {?p {name: "Ada"}}',
            )
            for command in commands:
                assert code_of(lambda: nexus.execute(command)) == "KIP_3004"  # noqa: B023
            nexus.execute(ADA, city="Turin")
        assert nexus.execute(find) == retracted
        digests = [hashlib.sha256(command.encode()).hexdigest() for command in commands]
        refusals = nexus.refusals(author="claude")
        assert [line["digest"] for line in refusals] == digests[::-1]
        assert nexus.believed('FIND(?p.name) WHERE {?p {name: "Ada"}}').column("?p.name") == []
        assert nexus.execute('FIND(?p.name) WHERE {?p {name: "Ada"}}') == ["Ada"]
        write = (
            'UPSERT { CONCEPT { {type: "Person", name: :n} } } WITH METADATA { valid_until: :u }'
        )
        nexus.execute(write.replace(":u", '"2099-01-01"'), n="Bo")
        nexus.execute(write.replace("valid_until: :u", 'valid_from: "2099-01-01"'), n="Cy")
        for _ in range(3):
            people = nexus.believed('FIND(?p.name) WHERE {?p {type: "Person"} } ORDER BY ?p.name')
            shown = [name for name in people.column("?p.name") if name[0] != "$"]
            assert shown == (["Bo"] if is_valid else ["Cy"])
        for name in [one["name"] for one in nexus.rejections()]:
            nexus.lift(name)
        nexus.execute(ADA, city="Paris")


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(KipError) as raised:
        call()
    return raised.value.code
