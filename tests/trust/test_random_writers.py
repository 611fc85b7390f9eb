"""Random writes of models and jobs between the judgements of a person, on every path.

After each write, what the person reviewed is reviewed with the values that it had, or active with
others and listed; what the person retracted is retracted by that person; nothing else is reviewed.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import kiprdf
from kiprdf import chunks
from tests.long_runs import SEED, amount
from tests.nexus.support import StoppedClock

STEPS = 25
NAMES = ("A", "B", "C", "D", "E")
SCHEMA = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "T"} }
  CONCEPT { {type: "$PropositionType", name: "p"} }
  CONCEPT { {type: "$PropositionType", name: "says"} }
}
"""
FACT = """
UPSERT {
  CONCEPT ?a { {type: "T", name: :a} SET ATTRIBUTES { v: 1 } }
  CONCEPT ?b { {type: "T", name: :b} SET ATTRIBUTES { v: 1 } }
  CONCEPT ?c { {type: "T", name: :c} SET ATTRIBUTES { v: 1 } }
  PROPOSITION ?fact { (?a, "p", ?b) }
  PROPOSITION { (?c, "says", ?fact) }
}
"""
DELETE = 'DELETE CONCEPT ?x DETACH WHERE { ?x {type: "T", name: :a} }'
DELETE_FACTS = 'DELETE PROPOSITIONS ?l WHERE { ?l ({name: :a}, "p", ?o) }'
MERGE = 'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "T", name: :a} ?b {type: "T", name: :b} }'
COMMANDS = (
    'UPSERT { CONCEPT { {type: "T", name: :a} SET ATTRIBUTES { v: :v } } } WITH METADATA :m',
    'UPSERT { PROPOSITION { ({type: "T", name: :a}, "p", {type: "T", name: :b}) } }'
    " WITH METADATA :m",
    'UPDATE ?x SET METADATA { status: :s } WHERE { ?x {type: "T", name: :a} }',
    'UPDATE ?l SET METADATA { status: :s } WHERE { ?l ({name: :a}, "p", ?o) }',
    'UPDATE ?x SET ATTRIBUTES { v: ADD(?x.attributes.v, :v) } WHERE { ?x {type: "T", name: :a} }',
    'DELETE ATTRIBUTES {"v"} FROM ?x WHERE { ?x {type: "T", name: :a} }',
    'DELETE METADATA {"status", "retracted_by"} FROM ?x WHERE { ?x {type: "T", name: :a} }',
    'DELETE METADATA {"status", "retracted_at"} FROM ?l WHERE { ?l ({name: :a}, "p", ?o) }',
    DELETE,
    DELETE_FACTS,
    MERGE,
    MERGE,
)
STATUSES: tuple[Any, ...] = (
    *("reviewed", "active", "draft", "deprecated", "retracted", None, ["reviewed"]),
    *(["retracted", "reviewed"], {"@value": "reviewed", "@language": "en"}),
)


def parameters(chance: random.Random) -> dict[str, Any]:
    a, b, c = chance.sample(NAMES, 3)
    status = chance.choice(STATUSES)
    metadata = {"status": status, "retracted_by": "human/ada", "note": chance.randrange(3)}
    kept = chance.sample(sorted(metadata), chance.randrange(3))
    given = {key: metadata[key] for key in kept}
    return {"a": a, "b": b, "c": c, "s": status, "v": chance.randrange(3), "m": given}


def a_command(nexus: kiprdf.Nexus, chance: random.Random) -> Any:
    return nexus.execute(chance.choice(COMMANDS), **parameters(chance))


def a_capsule(nexus: kiprdf.Nexus, chance: random.Random) -> Any:
    given = parameters(chance)
    return nexus.apply_capsule(
        f'UPSERT {{ CONCEPT {{ {{type: "T", name: "{given["a"]}"}} }} }}'
        f" WITH METADATA {{ note: {given['v']} }}"
    )


def a_transaction(nexus: kiprdf.Nexus, chance: random.Random) -> Any:
    given = parameters(chance)

    def write(tx: Any) -> Any:
        for _ in range(2):
            tx.execute(chance.choice(COMMANDS), **parameters(chance))
        element = {"type": "T", "name": given["a"], "metadata": given["m"]}
        tx.write([element], removed=[f"C:T/{given['b']}"] if chance.random() < 0.5 else [])
        return tx

    return nexus.transaction(write)


def an_undo(nexus: kiprdf.Nexus, chance: random.Random) -> Any:
    commit = nexus.info()["commit"]
    seq = chance.randrange(max(2, commit - 6), commit + 1)
    return nexus.undo(seq=seq, conflicts=chance.choice(["refuse", "skip"]))


def a_patch(nexus: kiprdf.Nexus, chance: random.Random) -> Any:
    with kiprdf.Nexus.memory(genesis=False, clock=StoppedClock()) as other:
        other.restore(nexus.snapshot())
        a_command(other, chance)
        return nexus.apply_patch(nexus.patch_to(other).text)


def an_import(nexus: kiprdf.Nexus, chance: random.Random) -> Any:
    given = parameters(chance)
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    text = "".join(f'<urn:x/{given[end]}> a <urn:x/T> ; {label} "{given[end]}" .\n' for end in "ab")
    text += f"<urn:x/{given['a']}> <urn:x/p> <urn:x/{given['b']}> ; <urn:x/v> {given['v']} ."
    return nexus.import_rdf(text, define=True, metadata=given["m"])


def a_rule(nexus: kiprdf.Nexus, chance: random.Random) -> None:
    given = parameters(chance)
    action = chance.choice(("put", "delete"))
    properties = f"@module facts; @do {action}; @id {given['a']}; v {given['v']}"
    engine = chunks.Engine(f"start {{}} => T {{{properties}}}", {"facts": nexus})
    engine.goal("start {}")
    engine.run()


def a_forgetting(nexus: kiprdf.Nexus, chance: random.Random) -> Any:
    return nexus.forget([f"C:T/{chance.choice(NAMES)}"])


WRITES: tuple[Callable[[kiprdf.Nexus, random.Random], Any], ...] = (
    *(a_command,) * 6,
    *(a_capsule, a_transaction, an_undo, a_patch, an_import, a_rule, a_forgetting),
)


def elements(nexus: kiprdf.Nexus) -> dict[str, dict[str, Any]]:
    rows = nexus.execute('FIND(?x) WHERE { ?x {type: "T"} }')
    rows += nexus.execute('FIND(?x) WHERE { ?x (?s, "p" | "says", ?o) }')
    return {row["id"]: row for row in rows}


def texts(element: dict[str, Any]) -> list[str]:
    """The statuses of an element, as a FILTER reads them."""
    status = element.get("metadata", {}).get("status")
    values = status if isinstance(status, list) else [status]
    return [value["@value"] if isinstance(value, dict) else value for value in values]


def values(element: dict[str, Any], all: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What an element states, without its status and what the engine writes; of a fact about a
    fact also what that one states."""
    marks = ("status", "retracted_by", "retracted_at")
    metadata = element.get("metadata", {})
    kept = {key: metadata[key] for key in metadata if key[0] != "_" and key not in marks}
    ends = {key: stated(element.get(key), all) for key in ("subject", "object")}
    return {"attributes": element.get("attributes"), "metadata": kept, **ends}


def stated(id: str | None, all: dict[str, dict[str, Any]]) -> Any:
    """A concept, or the ends of a fact."""
    if id is None or not id.startswith("P:"):
        return id
    return [stated(all[id][key], all) for key in ("subject", "object")]


def mark(element: dict[str, Any]) -> tuple[Any, ...]:
    metadata = element.get("metadata", {})
    return tuple(metadata.get(key) for key in ("status", "retracted_by", "retracted_at"))


def unreviewed(result: Any) -> list[str] | None:
    """The ids that a receipt lists; None where there is no receipt."""
    if isinstance(result, dict):
        return list(result.get("unreviewed", ()))
    return getattr(result, "unreviewed", None)


def judge(nexus: kiprdf.Nexus, chance: random.Random) -> None:
    """A person reviews or retracts an element."""
    id = chance.choice([*elements(nexus), None])
    if id is not None:
        matcher = "{id: :id}" if id.startswith("C:") else "(id: :id)"
        command = f"UPDATE ?x SET METADATA {{ status: :s }} WHERE {{ ?x {matcher} }}"
        with nexus.acting(author="ada", kind="human"):
            nexus.execute(command, id=id, s=chance.choice(["reviewed", "retracted"]))


def check(
    before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]], listed: list[str] | None
) -> None:
    """What the person judged is as the rules say."""
    for id, old in before.items():
        if "reviewed" in texts(old):
            new = after[id]
            if "reviewed" in texts(new):
                assert (values(new, after), mark(new)) == (values(old, before), mark(old))
            else:
                assert texts(new) == ["active"]
                assert values(new, after) != values(old, before)
                assert listed is None or id in listed
        elif mark(old)[1] == "human/ada":
            assert mark(after[id]) == mark(old)
    for id, new in after.items():
        old = before.get(id, {})
        assert "reviewed" not in texts(new) or "reviewed" in texts(old)
        if "retracted" in texts(new) and "retracted" not in texts(old):
            assert mark(new)[1] in ("model/m", "job/m")
        if "retracted" not in texts(new):
            assert mark(new)[1:] == (None, None)


@pytest.mark.parametrize("number", range(amount("RANDOM_WRITERS", 3)))
def test_random_writers_keep_what_a_person_judged(number: int) -> None:
    chance = random.Random(f"{SEED} {number}")
    with kiprdf.Nexus.memory(genesis=False, history=True) as nexus:
        nexus.execute(SCHEMA)
        for _ in range(6):
            nexus.execute(FACT, **dict(zip("abc", chance.sample(NAMES, 3), strict=True)))
        for _ in range(STEPS):
            if chance.random() < 0.4:
                judge(nexus, chance)
            before, result = elements(nexus), None
            with nexus.acting(author="m", kind=chance.choice(("model", "job"))):
                try:
                    result = chance.choice(WRITES)(nexus, chance)
                except kiprdf.KipError:
                    assert elements(nexus) == before
            check(before, elements(nexus), unreviewed(result))
