"""A server answers a principal as one does on which the scopes are not that it may not see."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.long_runs import SEED, amount
from tests.scopes.requests import BASE, Requests, shown
from tests.scopes.world import World, leaked
from tests.serve.scoped import ScopedServer, serving_scopes

QUESTIONS = amount("QUESTIONS", 500)
PER_WORLD = 150


@contextmanager
def two_servers(world: World, place: Path) -> Iterator[tuple[ScopedServer, ScopedServer]]:
    """Servers of the same scopes, the first one with that of bob, too."""
    with ExitStack() as stack:
        servers = []
        for names in (("team", "ada", "bob"), ("team", "ada")):
            folder = place / str(len(names))
            for name in names:
                getattr(world, name).backup(folder / "scopes" / name)
            servers.append(stack.enter_context(serving_scopes(folder)))
        yield servers[0], servers[1]


@pytest.mark.parametrize("number", range(-(-QUESTIONS * 3 // 10 // PER_WORLD)))
def test_a_principal_finds_out_nothing_of_other_scopes(number: int, tmp_path: Path) -> None:
    world = World(random.Random(f"{SEED} served {number}"), [BASE])
    differing = Counter[bool]()
    with two_servers(world, tmp_path) as (server, alone):
        for at, sent in enumerate(itertools.islice(Requests(world), PER_WORLD)):
            answer = shown(sent.send(server, "ada"))
            assert answer == shown(sent.send(alone, "ada")), sent
            assert leaked(sent.text, answer) == [], (sent, answer)
            if at % 5 == 0:
                # What others do meanwhile changes nothing.
                other = shown(sent.send(server, "bob"))
                differing[other != answer] += 1
                server.kip("bob", WRITE, name=f"zwombat {at}")
    world.close()
    # Others get other answers.
    assert differing[True] > PER_WORLD // 5 // 6, differing


WRITE = 'UPSERT { CONCEPT { {type: "Zorblaxian", name: :name} } }'
