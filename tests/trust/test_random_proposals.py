"""Random proposals between random writes: what is approved does what was shown, or nothing."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import kiprdf
from tests.long_runs import SEED, amount

NAMES = ("Ada", "Bo", "Cy", "Di")
PREDICATES = """UPSERT {
  CONCEPT { {type: "$PropositionType", name: "knows"} }
  CONCEPT { {type: "$PropositionType", name: "likes"} }
}"""


def statements(chance: random.Random) -> Iterator[str]:
    """Statements of every kind about a few people."""

    def person() -> str:
        return f'{{type: "Person", name: "{chance.choice(NAMES)}"}}'

    def value() -> str:
        return chance.choice(("1", "2", '"x"', "null", '["a", "b"]', "true"))

    while True:
        key, end = chance.choice("abc"), chance.choice(("?y", person()))
        yield chance.choice(
            (
                f"UPSERT {{ CONCEPT {{ {person()} SET ATTRIBUTES {{{key}: {value()}}} }} }} "
                f'WITH METADATA {{source: "s{chance.randrange(2)}"}}',
                f"UPSERT {{ CONCEPT ?x {{ {person()} }} CONCEPT ?y {{ {person()} }} "
                f'PROPOSITION {{ (?x, "knows", ?y) SET ATTRIBUTES {{w: {value()}}} }} }}',
                f'UPSERT {{ PROPOSITION {{ ({person()}, "likes", ({person()}, "knows", '
                f"{person()})) }} }}",
                f'UPSERT {{ PROPOSITION {{ ({person()}, "likes", ({person()}, "likes", '
                f'({person()}, "knows", {person()}))) }} }}',
                f"UPDATE ?x SET ATTRIBUTES {{{key}: {value()}}} "
                f'WHERE {{ ?x {{type: "Person"}} (?x, "knows", {end}) }}',
                f'UPDATE ?l SET METADATA {{status: "{chance.choice(("retracted", "active"))}"}} '
                f'WHERE {{ ?l (?x, "knows" | "likes", ?y) FILTER(?x.attributes.{key} == 1) }}',
                f"MERGE CONCEPT ?x INTO ?y WHERE {{ ?x {person()} ?y {person()} }}",
                'DELETE CONCEPT ?x DETACH WHERE { ?x {type: "Person"} '
                f"FILTER(?x.attributes.{key} == {value()}) }}",
                f'DELETE PROPOSITIONS ?l WHERE {{ ?l ({person()}, "knows", ?y) '
                f'NOT {{ (?y, "knows", {person()}) }} }}',
                f'DELETE ATTRIBUTES {{"{key}"}} FROM ?x WHERE {{ ?x {{type: "Person"}} '
                'OPTIONAL { ?l (?x, "knows", ?y) } }',
            )
        )


def failure(call: Callable[[], Any]) -> str | None:
    """The code of the error of a call."""
    try:
        call()
    except kiprdf.KipError as error:
        return error.code
    return None


def lasting(difference: str) -> list[str]:
    """The lines of a difference without what the engine sets at the time of the commit."""
    return [line for line in difference.splitlines() if "metadata.retracted_" not in line]


def test_what_is_approved_does_what_was_shown() -> None:
    chance = random.Random(SEED)
    nexus = kiprdf.Nexus.memory()
    nexus.execute(PREDICATES)
    random_statements = statements(chance)
    approved, stale = 0, 0
    while approved + stale < amount("PROPOSALS", 40):
        for _ in range(chance.randrange(3)):
            failure(lambda: nexus.execute(next(random_statements)))
        with nexus.acting(author="bot", access="propose"):
            if failure(lambda: nexus.execute(next(random_statements))):
                continue
        (proposal,) = nexus.proposals()
        for _ in range(chance.choice((0, 0, 1, 2))):
            failure(lambda: nexus.execute(next(random_statements)))
        before = nexus.snapshot()
        copy = kiprdf.Nexus.memory(genesis=False)
        copy.restore(before)
        code = failure(partial(nexus.approve, proposal["id"]))
        if code is None:
            assert lasting(copy.diff(nexus).text()) == lasting(proposal["diff"]), proposal["text"]
            approved += 1
        else:
            assert (code, nexus.snapshot()) == ("KIP_3005", before), proposal["text"]
            nexus.decline(proposal["id"], "Stale.")
            stale += 1
    assert approved > stale > 0
