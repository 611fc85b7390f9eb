"""Random histories of triples: every state can be read, and all records together give the graph."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.kml.draft import timestamp
from kiprdf.rdf.literals import normal, to_term
from kiprdf.store import Delta, Origin, OxigraphStore
from kiprdf.store.past import net, open_past
from tests.long_runs import SEED, amount

HISTORIES = amount("STORE_HISTORIES", 700)
CHUNKS = 8
STORE = 25
"""The histories that one store has, one after the other."""
START = datetime(2026, 1, 1, tzinfo=UTC)
NODES = [NamedNode(f"urn:kip:nexus/Drug/D{number}") for number in range(4)]
KEYS = [NamedNode(f"urn:kip:attribute/{key}") for key in ("risk", "note", "tags")]
VALUES = [
    to_term(value)
    for value in (
        None, 0, 0.0, -0.0, 1, 1.0, True, "", "text", "line\nbreak", ["b", 1.0], {"z": 1, "a": []},
        {"@value": "Kopf", "@language": "de"}, {"@value": "7", "@type": "urn:x:t"},
    )
]  # fmt: skip

Terms = tuple[Any, ...]


def terms(triples: Any) -> set[Terms]:
    """Triples as comparable terms: the engine spells some literals differently."""
    return {
        (s, p, normal(o) if isinstance(o, Literal) else o)
        for s, p, o in (tuple(t) for t in triples)
    }


def commit(store: OxigraphStore, chance: random.Random, state: set[Terms]) -> None:
    """Remove and add some triples; the clock may fall."""
    removed = chance.sample(sorted(state, key=str), min(len(state), chance.randrange(4)))
    new = {
        (chance.choice(NODES), chance.choice(KEYS), chance.choice(VALUES))
        for _ in range(chance.randrange(4))
    }
    link = (NODES[0], NODES[1], NODES[2])
    if chance.random() < 0.2:
        new.add((NODES[3], KEYS[0], Triple(*link)))
    added = {one for one in new if one not in terms(state) - set(removed)}
    moment = timestamp(START + timedelta(seconds=chance.randrange(1000)))
    delta = Delta([*removed], [*added], origin=Origin(moment, "UPSERT"))
    if delta:
        store.apply(delta)
        state -= set(removed)
        state |= terms(added)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_state_of_a_history_can_be_read(chunk: int) -> None:
    chance = random.Random(SEED * 1000 + chunk)
    for _ in range(HISTORIES // CHUNKS // STORE):
        store = OxigraphStore.memory(history=True)
        assert store.journal is not None
        state: set[Terms] = set()
        for _ in range(STORE):
            states = {store.commit(): set(state)}
            for _ in range(chance.randint(1, 6)):
                commit(store, chance, state)
                states[store.commit()] = set(state)
            number = chance.choice(sorted(states))
            past = open_past(store, number)
            assert (past.commit(), terms(past.match(None, None, None))) == (number, states[number])
            past.close()
        commits = list(store.journal.commits(0, store.commit()))
        assert [one.number for one in commits] == list(range(1, store.commit() + 1))
        times = [one.origin.at for one in commits]
        assert times == sorted(times)
        assert terms(net(commits).added) == terms(store.match(None, None, None)) == state
        store.close()
