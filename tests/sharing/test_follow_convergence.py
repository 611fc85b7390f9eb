"""Nexuses that follow each other come to the same, but for conflicts that both list.

Each partition is a random life: replicas write while they do not hear each other, follow each other
on any path, are cut off in the middle, restarted, compacted, restored from backups; at last each
follows each until nothing is new. ``KIPRDF_PARTITIONS=1000`` is the whole run.
"""

from __future__ import annotations

import itertools
import random
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kiprdf import KipError, Nexus, StoreError
from kiprdf.execution.bootstrap import bundled_ids
from kiprdf.interchange.differences.difference import contents_of
from kiprdf.interchange.differences.patch_log import written
from kiprdf.interchange.knowledge import Knowledge
from kiprdf.rdf.elements import json_map
from kiprdf.rdf.iris import ConceptName, PropositionName, proposition_digits
from kiprdf.store.erasures import digest
from tests.long_runs import SEED, amount

PARTITIONS = amount("PARTITIONS", 6)
SCHEMA = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "T"} }
  CONCEPT { {type: "$PropositionType", name: "p"} }
  CONCEPT { {type: "$PropositionType", name: "q"} }
}"""
LOCAL = ("via", "conflict", "_version")
NAMES = "ABCDE"
KEYS = ("x", "y")


class Replica:
    """A nexus in memory, or in a folder, and the file by which others follow it."""

    def __init__(self, number: int, folder: Path, chance: random.Random, on_disk: bool) -> None:
        self.number = number
        self.chance = chance
        self.folder = folder / f"nexus{number}" if on_disk else None
        self.files = folder
        self.log = folder / f"log{number}.rdfp"
        # Clocks differ by years, and have few times, so that there are ties.
        self.time = datetime(2026 + 3 * number, 1, 1, tzinfo=UTC)
        self.options: dict[str, Any] = {"base_iri": f"https://r{number}.example/"}
        self.nexus = self.opened()
        self.nexus.execute(SCHEMA)
        self.places: dict[int, int] = {}
        self.lost: set[Any] = set()

    def opened(self) -> Nexus:
        if self.folder is None:
            return Nexus.memory(history=True, clock=self.clock, **self.options)
        return Nexus.open(self.folder, clock=self.clock, **self.options)

    def clock(self) -> datetime:
        self.time += timedelta(seconds=self.chance.randrange(2))
        return self.time

    def publish(self) -> Path:
        self.log.write_text("".join(text for _, text in written(self.nexus.store)))
        return self.log

    def write(self) -> None:
        chance, nexus = self.chance, self.nexus
        one, other = chance.sample(NAMES, 2)
        key, value = chance.choice(KEYS), chance.randrange(3)
        given: dict[str, Any] = {"one": one, "other": other, "value": value}
        kind = chance.choices(
            ("set", "link", "unset", "delete", "unlink", "merge", "undo", "forget", "reject"),
            (30, 20, 8, 10, 8, 3, 4, 2, 2),
        )[0]
        self.last = kind, given, key
        with suppress(KipError), nexus.acting(author=None if value else f"agent{self.number}"):
            match kind:
                case "set":
                    text = f"""UPSERT {{ CONCEPT {{ {{type: "T", name: :one}}
                        SET ATTRIBUTES {{ {key}: :value }} }} }}"""
                case "link":
                    predicate = chance.choice("pq")
                    text = f"""UPSERT {{
                        CONCEPT ?a {{ {{type: "T", name: :one}} }}
                        CONCEPT ?b {{ {{type: "T", name: :other}} }}
                        PROPOSITION ?l {{ (?a, "{predicate}", ?b)
                            SET ATTRIBUTES {{ {key}: :value }} }}
                    }}"""
                    if chance.random() < 0.3:
                        text = text.rstrip()[:-1] + 'PROPOSITION { (?l, "q", ?a) } }'
                case "unset":
                    text = f"""DELETE ATTRIBUTES {{"{key}"}} FROM ?d
                        WHERE {{ ?d {{type: "T", name: :one}} }}"""
                case "delete":
                    text = 'DELETE CONCEPT ?d DETACH WHERE { ?d {type: "T", name: :one} }'
                case "unlink":
                    text = 'DELETE PROPOSITIONS ?l WHERE { ?l ({name: :one}, "p", ?o) }'
                case "merge":
                    text = """MERGE CONCEPT ?a INTO ?b WHERE {
                        ?a {type: "T", name: :one} ?b {type: "T", name: :other} }"""
                case "undo":
                    number = nexus.info()["commit"] - chance.randrange(3)
                    nexus.undo(seq=number, conflicts="skip")
                    return
                case "forget":
                    nexus.forget([f"C:T/{one}"])
                    return
                case _:
                    nexus.reject((f"C:T/{one}", f"attributes.{key}", value), reason="No.")
                    self.lost.add((f"C:T/{one}", f"attributes.{key}"))
                    return
            nexus.execute(text, **{name: given[name] for name in given if f":{name}" in text})

    def follow(self, other: Replica) -> dict[str, Any]:
        chance = self.chance
        if other.folder is not None and self.folder is not None and chance.random() < 0.5:
            return self.nexus.follow(other.folder)
        log = other.publish()
        if chance.random() < 0.2:  # the line is cut
            whole = log.read_bytes()
            log.write_bytes(whole[: chance.randrange(len(whole))])
            with suppress(StoreError, KipError):
                self.nexus.follow(log)
            log.write_bytes(whole)
        return self.nexus.follow(log)

    def restart(self) -> None:
        if self.folder is not None:
            self.nexus.close()
            self.nexus = self.opened()

    def compact(self) -> None:
        self.nexus.compact_history(self.nexus.info()["commit"])


@pytest.mark.parametrize("number", range(PARTITIONS))
def test_replicas_converge(number: int, tmp_path: Path) -> None:
    chance = random.Random(f"{SEED}-{number}")
    on_disk = number % 6 == 5
    replicas = [Replica(n, tmp_path, chance, on_disk) for n in range(2 + number % 2)]
    try:
        for _ in range(chance.randrange(5, 30)):
            replica = chance.choice(replicas)
            action = chance.random()
            if action < 0.6:
                replica.write()
            elif action < 0.9:
                replica.follow(chance.choice([one for one in replicas if one is not replica]))
            elif action < 0.96:
                replica.restart()
            else:
                replica.compact()
        come_to_rest(replicas)
        for one, other in itertools.combinations(replicas, 2):
            assert differences(one, other) == []
        for replica in replicas:
            assert replica.nexus.check()["faults"] == []
    finally:
        for replica in replicas:
            replica.nexus.close()


def come_to_rest(replicas: list[Replica]) -> None:
    """Each follows each, until a round writes nothing."""
    for _ in range(12):
        before = [replica.nexus.info()["commit"] for replica in replicas]
        for one, other in itertools.permutations(replicas, 2):
            one.follow(other)
        if before == [replica.nexus.info()["commit"] for replica in replicas]:
            return
    raise AssertionError("They never come to rest.")


def differences(one: Replica, other: Replica) -> list[Any]:
    """What differs between two replicas, and is no conflict that both list."""
    states = [state(replica.nexus) for replica in (one, other)]
    listed = [conflicts_of(replica.nexus) for replica in (one, other)]
    lost = excluded(one) | excluded(other)
    result: list[Any] = []
    for id in sorted({*states[0], *states[1]}):
        contents = [each.get(id) for each in states]
        if is_lost(id, lost, states):
            continue
        if contents[0] is None or contents[1] is None:
            if not all(is_listed(id, states, entries) for entries in listed):
                result.append((id, contents))
        else:
            keys = sorted({*contents[0][0], *contents[1][0]})
            for key in keys:
                values = [content[0].get(key) for content in contents if content]
                if values[0] != values[1] and not (
                    all((id, key) in entries or (id, "exists") in entries for entries in listed)
                    or {(id, key)} & lost
                ):
                    result.append((id, key, values))
    return result


def conflicts_of(nexus: Nexus) -> set[tuple[str, str]]:
    """The elements, by the ids that they have by their ends, and the keys that are conflicts."""
    knowledge = Knowledge.of(nexus.store.match(None, None, None), nexus.store.iris)
    contents = contents_of(knowledge.elements, nexus.store.iris, False)
    ids = {content.id: shown_id(identity) for identity, content in contents.items()}
    return {(ids.get(entry["id"], entry["id"]), entry["key"]) for entry in nexus.conflicts()}


def excluded(replica: Replica) -> set[Any]:
    """What was erased, and what was rejected."""
    erased = set(replica.nexus.erasures().split("\n")[1:])
    return {*erased, *replica.lost}


def is_lost(id: str, lost: set[Any], states: list[Any]) -> bool:
    pending = [id]
    for one in pending:
        if digest(one) in lost:
            return True
        for each in states:
            if one in each:
                pending += each[one][1]
    return False


def is_listed(id: str, states: list[Any], listed: set[Any]) -> bool:
    """Whether an element, or what it is about, is a conflict."""
    pending = [id]
    for one in pending:
        if (one, "exists") in listed:
            return True
        for each in states:
            pending += each[one][1] if one in each else []
    return False


def state(nexus: Nexus) -> dict[str, tuple[dict[str, Any], list[str]]]:
    """The values of elements, and the ends of links, by the ids that they have by their ends."""
    knowledge = Knowledge.of(nexus.store.match(None, None, None), nexus.store.iris)
    contents = contents_of(knowledge.elements, nexus.store.iris, True)
    result: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for identity, content in contents.items():
        if is_core(content.id, nexus):
            continue
        values = {
            f"{part}.{key}": value
            for part, terms in (("attributes", content.attributes), ("metadata", content.metadata))
            for key, value in json_map(terms).items()
            if key not in LOCAL
        }
        result[shown_id(identity)] = values, ends_of(identity)
    return result


def shown_id(identity: Any) -> str:
    if isinstance(identity, ConceptName):
        return identity.id
    ends = shown_id(identity.subject), shown_id(identity.object)
    digits = proposition_digits(ends[0], identity.predicate, ends[1])
    return PropositionName(digits, identity.predicate).id


def ends_of(identity: Any) -> list[str]:
    if isinstance(identity, ConceptName):
        return []
    return [shown_id(identity.subject), shown_id(identity.object)]


def is_core(id: str, nexus: Nexus) -> bool:
    return (
        id in bundled_ids(nexus.base_iri)
        or id.startswith("C:Rejection/")
        or id == "C:$ConceptType/Rejection"
    )
