"""A server answers a principal as one does on which the scopes are not that it may not see."""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from kiprdf import Nexus
from tests.long_runs import SEED, amount
from tests.scopes.requests import BASE, Requests, Sent, shown
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
            if "bob" in names:
                with Nexus.open(folder / "scopes" / "bob") as bob:
                    proposing = bob.acting(author="zbobolink", access="propose")
                    with proposing:
                        bob.execute(WRITE, name="zwombat")
                    assert [one["id"] for one in bob.proposals()] == ["prop-1"]
            servers.append(stack.enter_context(serving_scopes(folder)))
        yield servers[0], servers[1]


@pytest.mark.parametrize("number", range(-(-QUESTIONS * 3 // 10 // PER_WORLD)))
def test_a_principal_finds_out_nothing_of_other_scopes(number: int, tmp_path: Path) -> None:
    world = World(random.Random(f"{SEED} served {number}"), [BASE])
    differing = Counter[bool]()
    with two_servers(world, tmp_path) as (server, alone):

        def asked(sent: Sent) -> dict[str, Any]:
            answer = shown(sent.send(server, "ada"))
            assert answer == shown(sent.send(alone, "ada")), sent
            assert leaked(sent.text, answer) == [], (sent, answer)
            return answer

        for at, sent in enumerate(itertools.islice(Requests(world), PER_WORLD)):
            answer = asked(sent)
            if at % 5 == 0:
                # What others do meanwhile changes nothing; nor do their tags and cursors.
                other = sent.send(server, "bob")
                differing[shown(other) != answer] += 1
                repeated = sent.repeated(other)
                if repeated is not None:
                    asked(repeated)
                server.kip("bob", WRITE, name=f"zwombat {at}")
        metrics = server.send("root", "GET", "/metrics").text
        assert leaked("", metrics) == []
        assert not re.search("team|ada|bob|nobody|carl", metrics), metrics
    world.close()
    # Others get other answers.
    assert differing[True] > differing.total() // 5, differing


WRITE = 'UPSERT { CONCEPT { {type: "Zorblaxian", name: :name} } }'
