"""A model claims to be another, and that its knowledge was reviewed, on each way of writing.

A claim is refused, or left out; it is never stored, and what is written names the model.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import pytest
import rdflib

from kiprdf import KipError, Nexus
from tests.cases import each_case
from tests.nexus.support import copied
from tests.trust.claiming import SETUP, WAYS, Claim

CLAIMS: dict[str, Claim] = {
    "the author": {"author": "ada"},
    "an author alike": {"author": "\u0430DA"},
    "reviewed": {"status": "reviewed"},
    "reviewed among others": {"status": ["active", "reviewed"]},
    "the writer": {"_actor": "human/eve"},
    "who retracted": {"retracted_by": "human/ada", "retracted_at": "2001-01-01T00:00:00.000Z"},
    "the version": {"_version": 99},
    "the time": {"_created_at": "2001-01-01T00:00:00.000Z"},
    "a trail": {"_merged_from": "Person:Ada"},
}
ENGINE = ("the writer", "the version", "the time", "a trail")
REVIEWED = ("reviewed", "reviewed among others")
REFUSED: dict[str, str | None] = {
    **dict.fromkeys((*REVIEWED, "the author", "an author alike"), "KIP_3004"),
    **dict.fromkeys(ENGINE, "KIP_2002"),
}
"""The codes of the errors; what has none is left out."""
LEFT_OUT: dict[str, str | None] = dict.fromkeys(ENGINE)
NO_METADATA: dict[str, str | None] = dict.fromkeys(CLAIMS)
"""Ways by which nobody writes metadata, but values of other parts."""
SOME = ("the author", "reviewed", "the writer")
EXCEPTIONS: dict[str, dict[str, str | None]] = {
    "elements": LEFT_OUT,
    "element of a link": LEFT_OUT,
    "import of our vocabulary": LEFT_OUT,
    "import of annotations": LEFT_OUT,
    "import of a graph": LEFT_OUT,
    "patch": {"the version": None, "the time": None},
    "restore": dict.fromkeys(CLAIMS, "KIP_3004"),
    **dict.fromkeys(("undo", "rules", "edge of a memory", "entity of a memory"), NO_METADATA),
    **dict.fromkeys(("notes", "import of a memory"), NO_METADATA),
    "remember": dict.fromkeys(CLAIMS, "KIP_1001"),
}


def as_model(nexus: Nexus) -> AbstractContextManager[None]:
    return nexus.acting(author="claude", session="s", kind="model", access="write")


def elements(nexus: Nexus) -> dict[str, dict[str, Any]]:
    """All elements by their ids."""
    listed = [*nexus.execute("FIND(?x) WHERE { ?x {} }")]
    listed += nexus.execute("FIND(?x) WHERE { ?x (?a, ?p, ?b) }")
    return {element["id"]: element for element in listed}


def outcome(nexus: Nexus, way: str, claim: Claim) -> str | None:
    """The code of the error, if there is one."""
    try:
        with as_model(nexus):
            WAYS[way](nexus, claim)
    except KipError as error:
        return error.code
    return None


def changed(
    before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """The metadata of the elements that are others than before."""
    return {id: one["metadata"] for id, one in after.items() if before.get(id) != one}


@each_case("way", [way for way in WAYS if way != "restore"])
def test_no_claim_of_a_model_is_stored(way: str) -> None:
    nexus = Nexus.memory(history=True)
    with nexus.acting(author="ada", kind="human"):
        nexus.execute(SETUP)
    # What no metadata can be given by needs no more than a few claims.
    names = SOME if EXCEPTIONS.get(way) is NO_METADATA else CLAIMS
    after = elements(nexus)
    for name in names:
        claim, before, commit = CLAIMS[name], after, nexus.info()["commit"]
        code = outcome(nexus, way, claim)
        expected = {**REFUSED, **EXCEPTIONS.get(way, {})}.get(name)
        assert (name, code) == (name, expected)
        after = elements(nexus)
        for id, metadata in changed(before, after).items():
            assert (name, id, metadata["_actor"]) == (name, id, "model/claude")
            stored = {key: metadata.get(key) for key in claim}
            assert not any(stored[key] == claim[key] for key in claim), (name, id, stored)
        if code is not None and way not in ("batch", "remember"):
            assert nexus.info()["commit"] == commit
        writes = nexus.changes(since=commit)["commits"]
        assert all(one["author"] == "claude" and one["session"] for one in writes)


@pytest.fixture
def before() -> Nexus:
    nexus = Nexus.memory(history=True)
    with nexus.acting(author="ada", kind="human"):
        nexus.execute(SETUP)
    return nexus


@each_case("way", [way for way in WAYS if way != "restore"])
def test_each_way_writes(before: Nexus, way: str) -> None:
    """The positive control: what claims nothing is written, and where metadata can be, with it."""
    nexus = before if way == "undo" else copied(before)  # a copy has no history
    stored, commit = elements(nexus), nexus.info()["commit"]
    code = outcome(nexus, way, {"remark": "mine"})
    assert code == ("KIP_1001" if way == "remember" else None)
    written = changed(stored, elements(nexus))
    assert {metadata["_actor"] for metadata in written.values()} == {"model/claude"}
    assert nexus.info()["commit"] > commit
    is_there = "mine" in [metadata.get("remark") for metadata in written.values()]
    assert is_there == (way != "remember" and EXCEPTIONS.get(way) is not NO_METADATA)


def test_a_model_restores_nothing() -> None:
    nexus = Nexus.memory()
    before, claim = nexus.snapshot(), CLAIMS["reviewed"]
    assert outcome(nexus, "restore", claim) == "KIP_3004"
    assert nexus.snapshot() == before
    WAYS["restore"](nexus, claim)
    assert nexus.snapshot() != before


RETRACTED: Claim = {"status": "retracted", **CLAIMS["who retracted"]}


@each_case("way", [way for way in WAYS if "reviewed" not in EXCEPTIONS.get(way, {})])
def test_who_retracted_is_who_did(way: str) -> None:
    nexus = Nexus.memory(history=True)
    nexus.execute(SETUP)
    before = elements(nexus)
    assert outcome(nexus, way, RETRACTED) is None
    retracted = [
        metadata
        for metadata in changed(before, elements(nexus)).values()
        if metadata.get("status") == "retracted"
    ]
    assert retracted
    for metadata in retracted:
        assert metadata["retracted_by"] == "model/claude"
        assert metadata["retracted_at"] != RETRACTED["retracted_at"]


@each_case("way", ["UPSERT", "UPDATE of a fact", "elements"])
def test_no_claim_is_stored_in_a_store_of_others(way: str) -> None:
    nexus = Nexus.connect(rdflib.Graph(), genesis=False)
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Person"} } '
        'CONCEPT { {type: "$PropositionType", name: "knows"} } }'
    )
    with nexus.acting(author="ada", kind="human"):
        nexus.execute(SETUP)
    for name, claim in CLAIMS.items():
        before = elements(nexus)
        expected = {**REFUSED, **EXCEPTIONS.get(way, {})}.get(name)
        assert (name, outcome(nexus, way, claim)) == (name, expected)
        for metadata in changed(before, elements(nexus)).values():
            assert metadata["_actor"] == "model/claude"
            assert not any(metadata.get(key) == value for key, value in claim.items())


def test_the_owner_may_say_all_that_people_may() -> None:
    """The positive control: what a model may not write, a person may."""
    nexus = Nexus.memory()
    nexus.execute(SETUP)
    for way in ("UPSERT", "UPDATE", "elements", "import of our vocabulary", "patch"):
        WAYS[way](nexus, {"status": "reviewed", "author": "ada"})
        metadata = elements(nexus)["C:Person/Bob"]["metadata"]
        assert (metadata["status"], metadata["author"]) == ("reviewed", "ada")
        WAYS["UPDATE"](nexus, {"status": "active", "author": "leaflet"})
