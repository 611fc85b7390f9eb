"""A model tries to bring back what a person rejected, by sequences of writes of all kinds.

``KIPRDF_EXAMPLES`` sets how many sequences there are.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

from kiprdf import KipError, Nexus, chunks
from kiprdf.actors import Actor
from kiprdf.execution import writer
from kiprdf.spelling import keys_of_name
from kiprdf.store import erasures

SCHEMA = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Company"} }
  CONCEPT { {type: "$PropositionType", name: "works_at"} }
}"""
PEOPLE = ("Ada", "ADA", "\u0410da", "A. L.", "Bo")
COMPANIES = (
    "Evil Corp",
    "evil corp",
    "EviI C0rp",
    "Evil\u200b Corp",
    "EvilCo",
    "Third",
    "Good Corp",
)
HOMES: tuple[Any, ...] = ("The Moon", "the  moon", ["Paris", "The Moon"], "Paris", 7)
STATES = (None, "active", "draft", "superseded", "retracted")
WALKS = int(os.environ.get("KIPRDF_EXAMPLES", "4"))
STEPS = 60

FACT = """UPSERT {
  CONCEPT ?s { {type: "Person", name: :s} } CONCEPT ?o { {type: "Company", name: :o} }
  PROPOSITION { (?s, "works_at", ?o) }
} WITH METADATA { status: :status, superseded: :superseded }"""
HOME = 'UPSERT { CONCEPT { {type: "Person", name: :s} SET ATTRIBUTES { home: :home } } }'
ALIAS = "UPDATE ?x SET ATTRIBUTES { aliases: :names } WHERE { ?x {type: :type, name: :name} }"
MERGE = "MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: :type, name: :a} ?b {type: :type, name: :b} }"
STATUS = 'UPDATE ?l SET METADATA { status: :status } WHERE { ?l (?s, "works_at", ?o) }'
DELETE = "DELETE CONCEPT ?x DETACH WHERE { ?x {type: :type, name: :name} }"
DELETE_FACT = 'DELETE PROPOSITIONS ?l WHERE { ?l ({name: :s}, "works_at", ?o) }'

Step = Callable[[Nexus, Random], Any]


def named(random: Random) -> tuple[str, str, str]:
    """A type, and two names of it."""
    type, names = random.choice((("Person", PEOPLE), ("Company", COMPANIES)))
    first, second = random.sample(names, 2)
    return type, first, second


def state(nexus: Nexus, random: Random) -> Any:
    values: dict[str, Any] = {"status": random.choice(STATES)}
    values["superseded"] = random.choice((None, True, False))
    return nexus.execute(FACT, s=random.choice(PEOPLE), o=random.choice(COMPANIES), **values)


def live(nexus: Nexus, random: Random) -> Any:
    return nexus.execute(HOME, s=random.choice(PEOPLE), home=random.choice(HOMES))


def alias(nexus: Nexus, random: Random) -> Any:
    type, name, other = named(random)
    names = random.choice(([other], other, [], [other, "x"], None))
    return nexus.execute(ALIAS, type=type, name=name, names=names)


def merge(nexus: Nexus, random: Random) -> Any:
    type, a, b = named(random)
    return nexus.execute(MERGE, type=type, a=a, b=b)


def change_status(nexus: Nexus, random: Random) -> Any:
    return nexus.execute(STATUS, status=random.choice(STATES))


def delete(nexus: Nexus, random: Random) -> Any:
    type, name, _ = named(random)
    return nexus.execute(DELETE, type=type, name=name)


def delete_fact(nexus: Nexus, random: Random) -> Any:
    return nexus.execute(DELETE_FACT, s=random.choice(PEOPLE))


def undo(nexus: Nexus, random: Random) -> Any:
    last = nexus.info()["commit"]
    return nexus.undo(seq=random.randint(max(1, last - 5), last), conflicts="skip")


def transaction(nexus: Nexus, random: Random) -> Any:
    """Delete and state at once; the end that is stated may be merged away before."""

    def write(tx: Any) -> None:
        for step in random.sample((FACT, DELETE_FACT, MERGE), 2):
            values: dict[str, Any] = {"s": random.choice(PEOPLE), "o": random.choice(COMPANIES)}
            if step == MERGE:
                type, a, b = named(random)
                values = {"type": type, "a": a, "b": b}
            elif step == FACT:
                values |= {"status": random.choice(STATES), "superseded": None}
            else:
                del values["o"]
            tx.execute(step, **values)

    return nexus.transaction(write)


def write_elements(nexus: Nexus, random: Random) -> Any:
    person = {"type": "Person", "name": random.choice(PEOPLE)}
    company = {"type": "Company", "name": random.choice(COMPANIES)}
    fact = {"subject": person, "predicate": "works_at", "object": company}
    return nexus.transaction(lambda tx: tx.write([person, company, fact]))


def capsule_of_a_copy(nexus: Nexus, random: Random) -> Any:
    return nexus.apply_capsule(copied(nexus, random).export())


def patch_of_a_copy(nexus: Nexus, random: Random) -> Any:
    return nexus.apply_patch(nexus.patch_to(copied(nexus, random)).text)


def import_of_a_copy(nexus: Nexus, random: Random) -> Any:
    copy = copied(nexus, random)
    lines = copy.snapshot(format="ntriples").splitlines()
    ours = [line for line in lines if re.search("/(Person|Company)/[^$]", line)]
    return nexus.import_rdf("\n".join(ours), define=True, base_iri=nexus.base_iri)


def copied(nexus: Nexus, random: Random) -> Nexus:
    """A copy in which the model's own code is the owner, and may have lifted the rejections."""
    copy = Nexus.memory()
    copy.restore(nexus.snapshot())
    if random.random() < 0.5:
        for rejection in copy.rejections():
            copy.lift(rejection["name"])
    for step in random.sample((change_status, state, live, alias), 2):
        with suppress(KipError):
            step(copy, random)
    return copy


def rule(nexus: Nexus, random: Random) -> Any:
    # A quoted end is a text, which names nothing.
    plain = re.compile("[A-Za-z]+").fullmatch
    ends = (list(filter(plain, names)) for names in (PEOPLE, COMPANIES))
    person, company = map(random.choice, ends)
    fact = f"works_at {{@module memory; @do put; @subject {person}; @object {company}}}"
    home = json.dumps(random.choice(HOMES)).strip("[]")
    value = f"Person {{@module memory; @do put; @id {person}; home {home}}}"
    text = f"start {{}} => {random.choice((fact, value))}, start {{@do clear}}"
    engine = chunks.Engine(text, modules={"memory": nexus})
    engine.goal("start {}")
    return engine.run()


def lift(nexus: Nexus, random: Random) -> Any:
    return nexus.lift(random.choice(nexus.rejections())["name"])


def forget(nexus: Nexus, random: Random) -> Any:
    type, name, _ = named(random)
    return nexus.forget([f"C:{type}/{name}"])


CHEAP: tuple[Step, ...] = (
    *(state, live, alias, merge, change_status, delete, delete_fact),
    *(transaction, write_elements, rule, lift),
)
DEAR: tuple[Step, ...] = (*(undo, capsule_of_a_copy, patch_of_a_copy, import_of_a_copy, forget),)


# What must never be so ------------------------------------------------------------------------

ENDS = 'FIND(?s, ?o, ?l.metadata.status) WHERE { ?l (?s, "works_at", ?o) }'


def keys(concept: dict[str, Any]) -> set[str]:
    """The keys of all names by which a concept goes."""
    names = [concept["name"]]
    aliases = concept.get("attributes", {}).get("aliases") or []
    names += [aliases] if isinstance(aliases, str) else aliases
    merged = concept["metadata"].get("_merged_from") or []
    merged = [merged] if isinstance(merged, str) else merged
    names += [entry.partition(":")[2] for entry in merged]
    return {key for name in names for key in keys_of_name(name)}


def is_named(concept: dict[str, Any], name: str) -> bool:
    return not keys(concept).isdisjoint(keys_of_name(name))


def laundered(nexus: Nexus) -> list[Any]:
    """The rejected facts that are not retracted, and the rejected values."""
    columns = nexus.execute(ENDS)
    facts = [
        (s["name"], o["name"], status)
        for s, o, status in zip(*columns, strict=True)
        if status != "retracted" and is_named(s, "Ada") and is_named(o, "Evil Corp")
    ]
    people = nexus.execute('FIND(?p) WHERE { ?p {type: "Person"} }')
    homes = [
        (person["name"], home)
        for person in people
        if is_named(person, "Ada")
        for home in listed(person.get("attributes", {}).get("home"))
        if isinstance(home, str) and set(keys_of_name(home)) & set(keys_of_name("The Moon"))
    ]
    return [*facts, *homes]


def is_retracted(nexus: Nexus) -> bool:
    """Whether the fact that was rejected is there, retracted, under some of its names."""
    return any(
        status == "retracted" and is_named(s, "Ada") and is_named(o, "Evil Corp")
        for s, o, status in zip(*nexus.execute(ENDS), strict=True)
    )


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def world() -> Nexus:
    nexus = Nexus.memory(history=True)
    nexus.execute(SCHEMA)
    nexus.execute(FACT, s="Ada", o="Evil Corp", status=None, superseded=None)
    nexus.execute(HOME, s="Ada", home="The Moon")
    assert len(laundered(nexus)) == 2
    nexus.reject(("C:Person/Ada", "works_at", "C:Company/Evil Corp"), reason="She never did.")
    nexus.reject(("C:Person/Ada", "attributes.home", "The Moon"), reason="Nobody lives there.")
    assert laundered(nexus) == []
    return nexus


def walk(seed: int) -> list[Any]:
    """What the steps of a model launder, if anything; the rejections stay."""
    random, nexus = Random(seed), world()
    rejections = nexus.rejections()
    passed = 0
    for _ in range(STEPS):
        step = random.choice(CHEAP if random.random() < 0.9 else DEAR)
        with suppress(KipError, chunks.ChunksError):
            with nexus.acting(author="claude", kind="model", access="write"):
                step(nexus, random)
            passed += 1
        if done := harm(nexus, rejections):
            return [step.__name__, done]
    assert passed > STEPS // 4
    return []


@pytest.mark.parametrize("seed", range(WALKS))
def test_no_sequence_of_a_model_restores_a_rejected_value(seed: int) -> None:
    assert walk(seed) == []


GUARDS = {
    "rejections": (writer, "check_rejections"),
    "judgements": (writer, "check_status"),
    "persons": (Actor, "require_person"),
}
STOPPED_BY: dict[Step, tuple[str, ...]] = {
    **dict.fromkeys((state, live, alias, transaction, write_elements, rule), ("rejections",)),
    **dict.fromkeys((undo, capsule_of_a_copy, patch_of_a_copy), ("rejections",)),
    import_of_a_copy: ("rejections",),
    # What a person retracted is kept by another check, too.
    **dict.fromkeys((merge, change_status), ("rejections", "judgements")),
    **dict.fromkeys((delete, delete_fact, forget), ("judgements",)),
    lift: ("persons",),
}
OTHER_FACTS = (("Bo", "Evil Corp"), ("A. L.", "Evil Corp"), ("Ada", "EvilCo"), ("Ada", "Third"))


def harm(nexus: Nexus, rejections: list[Any]) -> str | None:
    """What a step has done that it must not."""
    if laundered(nexus):
        return "laundered"
    if nexus.rejections() != rejections:
        return "lifted"
    return None if is_retracted(nexus) else "gone"


def harm_of(step: Step, guards_off: tuple[str, ...]) -> str | None:
    """What one step of a model does alone in some tries, without some guards."""
    random = Random(1)
    for _ in range(12):
        nexus = world()
        for person, company in OTHER_FACTS:
            nexus.execute(FACT, s=person, o=company, status=None, superseded=None)
        rejections = nexus.rejections()
        with ExitStack() as stack:
            for guard in guards_off:
                stack.enter_context(patch.object(*GUARDS[guard], lambda *given: None))
            stack.enter_context(nexus.acting(author="claude", kind="model", access="write"))
            for _ in range(6):
                with suppress(KipError, chunks.ChunksError):
                    step(nexus, random)
                if done := harm(nexus, rejections):
                    return done
    return None


@pytest.mark.parametrize("step", [*CHEAP, *DEAR])
def test_each_step_would_do_harm_without_its_guard(step: Step) -> None:
    """The positive control: so the walks try each of these."""
    expected = {lift: "lifted", **dict.fromkeys((delete, delete_fact, forget), "gone")}
    assert harm_of(step, STOPPED_BY[step]) == expected.get(step, "laundered")


def test_no_erasure_list_drops_a_rejection(tmp_path: Path) -> None:
    """Its name is a digest of the value, which a model knows before a person rejects it."""
    nexus = world()
    snapshot, names = nexus.snapshot(), [one["name"] for one in nexus.rejections()]
    ids = [*(f"C:Rejection/{name}" for name in names), "C:Person/Ada"]
    listed = "\n".join([erasures.HEADER, *map(erasures.digest, ids), ""])
    with Nexus.memory() as other:
        with other.acting(author="claude", kind="model", access="write"):
            other.apply_erasures(listed)
        other.restore(snapshot)
        assert [one["name"] for one in other.rejections()] == names
        assert other.execute('FIND(?p) WHERE { ?p {name: "Ada"} }') == []  # the positive control
    nexus.backup(tmp_path / "backup")
    with Nexus.open(tmp_path / "backup", erasures=listed) as backup:
        assert [one["name"] for one in backup.rejections()] == names
        assert backup.execute('FIND(?p) WHERE { ?p {name: "Ada"} }') == []
