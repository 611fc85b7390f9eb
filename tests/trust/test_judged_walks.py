"""Models and people write in turn, by statements of all kinds; what people judged holds.

After each step of a model, what was reviewed is as it was, or not reviewed any more; what a person
retracted is retracted by that person; nothing else is reviewed. Of a view, no other member changes.
``KIPRDF_EXAMPLES`` sets how many walks there are.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

from kiprdf import KipError, Nexus, View
from kiprdf.execution import scoped_writer, writer
from tests.long_runs import amount

SCHEMA = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Person"} }
  CONCEPT { {type: "$PropositionType", name: "likes"} }
  CONCEPT { {type: "$PropositionType", name: "says"} }
}"""
NAMES = ("Ada", "Bob", "Cy", "Di")
STATUSES = ("reviewed", "retracted", "active", "draft", None, ["reviewed"], ["retracted", "x"])
ENDS = 'CONCEPT ?a { {type: "Person", name: :a} } CONCEPT ?b { {type: "Person", name: :b} }'
STATED = 'PROPOSITION ?l { (?a, "likes", ?b) } PROPOSITION { (?b, "says", ?l) %s }'
ABOUT_A_FACT = f"UPSERT {{ {ENDS} {STATED} }}"
LIKED = f'UPSERT {{ {ENDS} PROPOSITION {{ (?a, "likes", ?b) SET ATTRIBUTES {{n: :n}} }} %s }}'
NAMED = 'UPSERT { CONCEPT { {type: "Person", name: :a} SET ATTRIBUTES {n: :n} } %s }'
MARK = " WITH METADATA {status: :status}"
PERSON = '{type: "Person", name: :a}'
MERGE = f'MERGE CONCEPT ?a INTO ?b WHERE {{ ?a {PERSON} ?b {{type: "Person", name: :b}} }}'
CHANGES = (
    f"UPDATE ?x SET METADATA {{status: :status}} WHERE {{ ?x {PERSON} }}",
    'UPDATE ?x SET METADATA {status: :status} WHERE { ?x (?a, "likes", ?b) }',
    'UPDATE ?x SET METADATA {status: :status} WHERE { ?x (?a, "says", ?b) }',
    'DELETE METADATA {"status"} FROM ?x WHERE { ?x (?a, "likes", ?b) }',
    f"DELETE CONCEPT ?x DETACH WHERE {{ ?x {PERSON} }}",
    f'DELETE PROPOSITIONS ?x WHERE {{ ?x ({PERSON}, "likes", ?b) }}',
    MERGE,
)
ELEMENTS = (
    'FIND(?x) WHERE { ?x {type: "Person"} }',
    'FIND(?x) WHERE { ?x (?a, "likes", ?b) }',
    'FIND(?x) WHERE { ?x (?a, "says", ?b) }',
)
WALKS = amount("EXAMPLES", 2)
STEPS = 30
Step = Callable[[Any, Random], Any]
Elements = dict[str, dict[str, Any]]


def run(nexus: Any, text: str, random: Random) -> Any:
    a, b = random.sample(NAMES, 2)
    values = {"a": a, "b": b, "n": random.randint(1, 3), "status": random.choice(STATUSES)}
    return nexus.execute(text, **{key: values[key] for key in values if f":{key}" in text})


def state(nexus: Any, random: Random) -> Any:
    text = random.choice((ABOUT_A_FACT, LIKED, NAMED))
    return run(nexus, text.replace(" %s", random.choice(("", MARK))), random)


def change(nexus: Any, random: Random) -> Any:
    return run(nexus, random.choice(CHANGES), random)


def transaction(nexus: Nexus, random: Random) -> Any:
    return nexus.transaction(lambda tx: [step(tx, random) for step in (change, state, change)])


def undo(nexus: Nexus, random: Random) -> Any:
    last = nexus.info()["commit"]
    first = max(2, last - 8)  # the first commit defines what all use
    return nexus.undo(seq=random.randint(first, last), conflicts="skip") if last >= first else None


def import_of_a_copy(nexus: Nexus, random: Random) -> Any:
    with Nexus.memory(genesis=False) as copy:
        copy.restore(nexus.snapshot())
        for step in (state, change):
            with suppress(KipError):
                step(copy, random)
        return nexus.import_rdf(copy.snapshot(), define=True, base_iri=nexus.base_iri)


OF_PEOPLE: tuple[Step, ...] = (state, state, change)
OF_MODELS: tuple[Step, ...] = (*OF_PEOPLE, *OF_PEOPLE, transaction, undo, import_of_a_copy)


def elements(nexus: Nexus) -> Elements:
    return {one["id"]: one for command in ELEMENTS for one in nexus.execute(command)}


def status(element: dict[str, Any]) -> list[Any]:
    given = element.get("metadata", {}).get("status")
    return given if isinstance(given, list) else [given]


def content(element: dict[str, Any], all_elements: Elements) -> Any:
    """What an element says, with what its ends say."""
    return element.get("name"), ends(element, all_elements), element.get("attributes", {})


def ends(element: dict[str, Any], all_elements: Elements) -> list[Any]:
    named = [element[end] for end in ("subject", "object") if end in element]
    return [ends(all_elements[one], all_elements) if one[0] == "P" else one for one in named]


def faults(before: Elements, after: Elements, others: Elements) -> list[Any]:
    """What a step did to what people judged; ``others`` is what another member says."""
    broken: list[Any] = []
    for id, old in before.items():
        new = after.get(id, {})
        is_reviewed = "reviewed" in status(old)
        if is_reviewed and not new:
            broken.append(("gone", old))
        if (
            is_reviewed
            and "reviewed" in status(new)
            and content(old, before) != content(new, after)
        ):
            broken.append(("reviewed", old, new))
        by = old.get("metadata", {}).get("retracted_by")
        if "retracted" in status(old) and by == "human/ada":
            kept = new.get("metadata", {})
            if (status(new), kept.get("retracted_by")) != (status(old), by):
                broken.append(("lifted", old, new))
    for id, new in after.items():
        if "reviewed" in status(new) and "reviewed" not in status(before.get(id, {})):
            # What hid the word of another member may go, with all that was said there.
            same = id in others and content(others[id], others) == content(new, after)
            if not same:
                broken.append(("claimed", new))
    return broken


def walk(seed: int, order: str) -> list[Any]:
    """What a model did to what people judged, if anything, in a nexus, or through a view."""
    random = Random(seed)
    team, ada = (Nexus.memory(genesis=False, history=True) for _ in range(2))
    team.execute(SCHEMA)
    members = [team, ada] if order == "team, ada" else [ada, team]
    nexus = View(members, write=ada) if order else team
    people = [nexus, team, ada] if order else [nexus]
    if order:
        ada.execute(SCHEMA)
    passed = 0
    for _ in range(STEPS):
        before, others = elements(nexus), team.snapshot() if order else ""
        is_person = random.random() < 0.4
        where = random.choice(people) if is_person else nexus
        step = random.choice(OF_PEOPLE if is_person else OF_MODELS)
        kind: Any = "human" if is_person else "model"
        with suppress(KipError), where.acting(author="ada" if is_person else "m", kind=kind):
            step(where, random)
            passed += 1
        if not is_person:
            assert not order or team.snapshot() == others
            of_team = elements(team) if order else {}
            if broken := faults(before, elements(nexus), of_team):
                return [step.__name__, *broken]
    assert passed > STEPS // 4
    return []


@pytest.mark.parametrize("order", ["", "team, ada", "ada, team"])
@pytest.mark.parametrize("seed", range(WALKS))
def test_what_people_judged_holds(seed: int, order: str) -> None:
    assert walk(seed, order) == []


@pytest.mark.parametrize("order", ["", "team, ada"])
def test_the_walks_would_find_a_fault(order: str) -> None:
    """The positive control: without the checks of the nexus, or of the view, the steps do it."""
    module = scoped_writer if order else writer
    with patch.object(module, "check_status", lambda *given: None):
        assert any(walk(seed, order) for seed in range(20))
