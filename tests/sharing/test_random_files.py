"""Random versions of a snapshot, merged as git does it: the result is a snapshot, and the same
from both sides unless there are conflicts."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.sharing import git as git_driver
from tests.long_runs import SEED, amount

TYPES, PREDICATES, NAMES = ("Drug", "Herb", "Symptom"), ("treats", "causes", "about"), "abc"
VALUES = ("1", "2", '"x"', "null", "[1, 2]", '{"k": 1}', "1.5", r'"\u202e\n"')
OPTIONS: tuple[dict[str, Any], ...] = (
    {"engine_metadata": False},
    {"engine_metadata": False, "profile": "rdf12"},
    {},
)


def world() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(genesis=False)
    definitions = [("$ConceptType", one) for one in TYPES]
    definitions += [("$PropositionType", one) for one in PREDICATES]
    concepts = [(type, name) for type in TYPES for name in NAMES]
    for type, name in definitions + concepts:
        nexus.execute(f'UPSERT {{ CONCEPT {{ {{type: "{type}", name: "{name}"}} }} }}')
    return nexus


def change(nexus: kiprdf.Nexus, chance: random.Random) -> None:
    """Run a random statement; one that is refused changes nothing."""
    one, other = (
        f'{{type: "{chance.choice(TYPES)}", name: "{chance.choice(NAMES)}"}}' for _ in range(2)
    )
    type, predicate, value = map(chance.choice, (TYPES, PREDICATES, VALUES))
    key, author = chance.choice("pq"), chance.choice(("ada", "bob"))
    by = f'WITH METADATA {{ author: "{author}", source: {value} }}'
    statements = (
        f"UPSERT {{ CONCEPT {{ {one} SET ATTRIBUTES {{ {key}: {value} }} }} }} {by}",
        f'UPSERT {{ CONCEPT {{ {one} SET PROPOSITIONS {{ ("{predicate}", {other}) }} }} }} {by}',
        f'UPSERT {{ PROPOSITION {{ (({one}, "{predicate}", {other}), "about", {other}) }} }}',
        f"DELETE CONCEPT ?x DETACH WHERE {{ ?x {one} }}",
        f'DELETE ATTRIBUTES {{"{key}"}} FROM ?x WHERE {{ ?x {one} }}',
        f'DELETE METADATA {{"author"}} FROM ?x WHERE {{ ?x {one} }}',
        f'DELETE PROPOSITIONS ?l WHERE {{ ?l ({one}, "{predicate}", ?y) }}',
        f"MERGE CONCEPT ?s INTO ?t WHERE {{ ?s {one} ?t {other} }}",
        f'DELETE CONCEPT ?x DETACH WHERE {{ ?x {{type: "{type}"}} }}',
        f'DELETE CONCEPT ?x DETACH WHERE {{ ?x {{type: "$ConceptType", name: "{type}"}} }}',
    )
    weights = (4, 3, 2, 1, 1, 1, 1, 1, 0.3, 0.5)
    with suppress(kiprdf.KipError):
        nexus.execute(*chance.choices(statements, weights))


def restored(text: str) -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.restore(text)
    return nexus


@pytest.mark.parametrize("seed", range(SEED, SEED + amount("MERGED_FILES", 15)))
def test_random_versions_of_a_snapshot(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    options = chance.choice(OPTIONS)

    def merge(*texts: str) -> tuple[int, str]:
        versions = git_driver.Versions(*(tmp_path / name for name in ("O", "A", "B")))
        for path, text in zip(versions, texts, strict=True):
            path.write_text(text, "utf-8")
        status, lines = git_driver.merge(versions, "a.ttl")
        assert status == any("exists" in line or "Conflicts" in line for line in lines)
        merged = versions.ours.read_text("utf-8")
        with restored(merged) as nexus:
            assert nexus.snapshot(**options) == merged
        return status, merged

    with world() as nexus:
        for _ in range(chance.randrange(20)):
            change(nexus, chance)
        base = nexus.snapshot(**options)
    sides = []
    for _ in range(2):
        with restored(base) as nexus:
            for _ in range(chance.randrange(8)):
                change(nexus, chance)
            sides.append(nexus.snapshot(**options))
    ours, theirs = sides
    status, merged = merge(base, ours, theirs)
    other_status, other = merge(base, theirs, ours)
    assert status == other_status
    if not status:
        with restored(merged) as nexus:
            assert not nexus.diff(other)
    # What was merged is not merged again, and what only one side changed is as on that side.
    assert merge(theirs, merged, theirs) == (0, merged)
    assert merge(base, ours, base) == (0, ours)
    assert merge(base, ours, ours) == (0, ours)
    with restored(theirs) as nexus:
        assert not nexus.diff(merge(base, base, theirs)[1])
