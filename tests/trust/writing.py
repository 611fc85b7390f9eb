"""A process that writes and reports what it has written, until it is killed.

Statements are a function of a seed and a number, and so is the time: whoever knows how many were
executed knows every quad.
"""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from typing import Any

import kiprdf

STATEMENTS_A_SESSION = 15
SCHEMA = (
    'UPSERT { CONCEPT { {type: "$ConceptType", name: "Note"} } '
    'CONCEPT { {type: "$PropositionType", name: "follows"} } '
    'CONCEPT { {type: "$PropositionType", name: "quotes"} } }'
)
COUNT_ALL = (
    "UPDATE ?n SET ATTRIBUTES { count: ADD(COALESCE(?n.attributes.count, 0), 1) } "
    'WHERE { ?n {type: "Note"} }'
)


def note(number: int) -> str:
    return f'{{type: "Note", name: "note{number}"}}'


def statement(seed: int, number: int) -> str:
    """The statement of a number; one that finds nothing to delete or to merge is refused."""
    if number == 0:
        return SCHEMA
    chance = random.Random(f"{seed}/{number}")
    one, other = chance.sample(range(max(0, number - 12), number + 1), 2)
    kind = chance.choice(("small", "small", "blocks", "large", "update", "delete", "merge"))
    match kind:
        case "small":
            text = json.dumps({"text": f"word{number}", "n": number})
            return f"UPSERT {{ CONCEPT {{ {note(number)} SET ATTRIBUTES {text} }} }}"
        case "blocks":
            return (
                f"UPSERT {{ CONCEPT ?a {{ {note(number)} }} CONCEPT ?b {{ {note(one)} "
                f'SET PROPOSITIONS {{ ("follows", ?a) }} }} }} WITH METADATA {{ source: "s" }} '
                f"UPSERT {{ CONCEPT {{ {note(other)} }} PROPOSITION {{ ({note(other)}, "
                f'"quotes", ({note(one)}, "follows", {note(number)})) }} }}'
            )
        case "large":
            blocks = [
                f'CONCEPT {{ {{type: "Note", name: "part{part}"}} '
                f"SET ATTRIBUTES {{ of: {number} }} }}"
                for part in range(60)
            ]
            return f"UPSERT {{ CONCEPT {{ {note(number)} }} {' '.join(blocks)} }}"
        case "update":
            return COUNT_ALL
        case "delete":
            return f"DELETE CONCEPT ?n DETACH WHERE {{ ?n {note(one)} }}"
        case _:
            return f"MERGE CONCEPT ?a INTO ?b WHERE {{ ?a {note(one)} ?b {note(other)} }}"


class Clock:
    """Shows the number of the statement as seconds."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.number)


def execute(nexus: kiprdf.Nexus, clock: Clock, seed: int, number: int) -> dict[str, Any]:
    clock.number = number
    response = nexus.execute_kip({"command": statement(seed, number)})
    clock.number = 0
    return response


def work(folder: str, seed: int, number: int, connection: Connection) -> None:
    """Write from a number on, for ever; in between search, close and open again.

    What will happen and what has happened is sent as a word, what was written as its
    number.
    """
    clock = Clock()
    while True:
        connection.send("opening")
        nexus = kiprdf.Nexus.open(folder, clock=clock)
        connection.send("open")
        for _ in range(STATEMENTS_A_SESSION):
            connection.send("writing")
            execute(nexus, clock, seed, number)
            connection.send(number)
            number += 1
            if number % 4 == 0:
                connection.send("searching")
                nexus.execute(f'SEARCH CONCEPT "note{number - 1}"')
        connection.send("closing")
        nexus.close()
