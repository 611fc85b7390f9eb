"""Random merges against a model that is made of dictionaries."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from kiprdf import Nexus
from kiprdf.interchange.differences.difference import Identity, contents
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import to_json
from kiprdf.sharing.merging import Merged
from tests.long_runs import SEED, amount

Element = Any
"""The name of a concept, or the subject and the object of a fact."""
State = dict[Element, dict[str, Any]]
SCHEMA = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Thing"} }
  CONCEPT { {type: "$PropositionType", name: "links"} }
}"""
VALUES = [0, 1, 1.0, "a", None, [1, 2], {"@value": "a", "@language": "de"}, {"k": 1}, True]
NAMES = "abcdef"


# The model ------------------------------------------------------------------------------------


def ends(element: Element) -> tuple[Element, ...]:
    return element if isinstance(element, tuple) else ()


def delete(state: State, element: Element) -> None:
    state.pop(element, None)
    for other in [one for one in state if element in ends(one)]:
        delete(state, other)


def merged(base: State, ours: State, theirs: State) -> tuple[State, set[tuple[str, str]]]:
    """The result, and the conflicts: elements and keys."""
    result = {one: dict(keys) for one, keys in ours.items()}
    conflicts = set()
    for one in ours.keys() & theirs.keys():
        before = base.get(one, {})
        for key in before.keys() | theirs[one].keys():
            was, mine, other = (
                dumped(side.get(key, ...)) for side in (before, ours[one], theirs[one])
            )
            if other in (was, mine):
                continue
            if mine != was:
                conflicts.add((repr(one), key))
            elif key in theirs[one]:
                result[one][key] = theirs[one][key]
            else:
                del result[one][key]
    gone = {one for one in base if one in ours and one not in theirs}
    deleted = {one for one in gone if same(ours[one], base[one])}
    while kept := {
        one for one in deleted if any(one in ends(user) for user in ours.keys() - deleted)
    }:
        deleted -= kept
    conflicts |= {(repr(one), "exists") for one in gone - deleted}
    for one in deleted:
        del result[one]
    wanted = {
        one
        for one in theirs.keys() - ours.keys()
        if one not in base or not same(base[one], theirs[one])
    }
    while more := {end for one in wanted for end in ends(one) if end not in ours} - wanted:
        wanted |= more
    added = {one for one in wanted if one not in base}
    while lacking := {
        one for one in added if any(e not in result and e not in added for e in ends(one))
    }:
        added -= lacking
    result |= {one: theirs[one] for one in added}
    conflicts |= {(repr(one), "exists") for one in wanted - added}
    return result, conflicts


def dumped(value: Any) -> str:
    return "absent" if value is ... else json.dumps(value, sort_keys=True)


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return dumped(one) == dumped(other)


def edited(state: State, steps: int, chance: random.Random) -> State:
    after = {one: dict(keys) for one, keys in state.items()}
    for _ in range(steps):
        elements = [*after]
        pair = tuple(chance.sample(elements, 2)) if len(elements) > 1 else ()
        match chance.randrange(6):
            case 0:
                after.setdefault(chance.choice(NAMES), {})
            case 1 if pair and not within(pair[0], pair[1]) and not within(pair[1], pair[0]):
                after.setdefault(pair, {})
            case 2 if elements and chance.random() < 0.5:
                delete(after, chance.choice(elements))
            case 3 if elements:
                after[chance.choice(elements)].pop(chance.choice("xy"), None)
            case _ if elements:
                after[chance.choice(elements)][chance.choice("xy")] = chance.choice(VALUES)
    return after


def within(part: Element, element: Element) -> bool:
    return part == element or any(within(part, end) for end in ends(element))


# Both together --------------------------------------------------------------------------------


def nexus_of(state: State) -> Nexus:
    nexus = Nexus.memory(genesis=False, history=True)
    nexus.execute(SCHEMA)
    nexus.transaction(
        lambda tx: tx.write(described(one) | {"attributes": state[one]} for one in state)
    )
    return nexus


def described(element: Element) -> dict[str, Any]:
    if isinstance(element, str):
        return {"type": "Thing", "name": element}
    subject, object_ = map(described, element)
    return {"subject": subject, "predicate": "links", "object": object_}


def state_of(nexus: Nexus) -> State:
    store = nexus.store
    triples = store.match(None, None, None)
    return {
        element_of(one): {key: to_json(term) for key, term in content.attributes.items()}
        for one, content in contents(triples, store.iris, engine_metadata=False).items()
        if not (isinstance(one, ConceptName) and one.type.startswith("$"))
    }


def element_of(identity: Identity) -> Element:
    if isinstance(identity, ConceptName):
        return identity.name
    return element_of(identity.subject), element_of(identity.object)


def listed(report: Merged) -> set[tuple[str, str]]:
    return {
        (repr(element_of(one.identity)), one.key.removeprefix("attributes.")) for one in report.open
    }


@pytest.mark.parametrize("number", range(amount("MERGES", 12)))
def test_a_merge_is_that_of_the_model(number: int) -> None:
    chance = random.Random(f"{SEED} {number}")
    base = edited({}, 14, chance)
    ours, theirs = (edited(base, chance.randrange(1, 9), chance) for _ in range(2))
    expected, conflicts = merged(base, ours, theirs)
    nexus, other, first = map(nexus_of, (ours, theirs, base))
    before = nexus.snapshot(engine_metadata=False)
    dry = nexus.merge(other, base=first, dry_run=True)
    report = nexus.merge(other, base=first)
    assert dry.to_json() | {"seq": report.seq} == report.to_json()
    assert dumped_state(state_of(nexus)) == dumped_state(expected)
    assert listed(report) == conflicts
    noted = {one["id"] for one in nexus.conflicts()}
    assert noted == {
        one["id"] for one in report.conflicts if "value" in one["ours"] or one["key"] != "exists"
    }
    assert not nexus.problems()
    # The same again changes nothing, and undo takes all of it back.
    assert nexus.merge(other, base=first).seq is None
    if report.seq is not None:
        nexus.undo(seq=report.seq)
        assert nexus.snapshot(engine_metadata=False) == before
    # Each side of a conflict about a key can be preferred.
    nexus.merge(other, base=first, prefer="theirs")
    for one in report.open:
        if one.key != "exists" and (element := element_of(one.identity)) in state_of(nexus):
            key = one.key.removeprefix("attributes.")
            assert dumped(state_of(nexus)[element].get(key, ...)) == dumped(
                one.theirs.get("value", ...)
            )


def dumped_state(state: State) -> dict[str, str]:
    return {repr(one): dumped(keys) for one, keys in state.items()}
