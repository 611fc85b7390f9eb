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
from tests.scopes.timing import ATTEMPTS, differs
from tests.scopes.world import World, leaked
from tests.serve.scoped import ScopedServer, serving_scopes

QUESTIONS = amount("QUESTIONS", 250)
PER_WORLD = 150
WRITE = 'UPSERT { CONCEPT { {type: "Zorblaxian", name: :name} } }'


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


WHO = (*["ada"] * 10, "viewer", "reader", "proposer", "nobody", None)
"""Those who may not see the scope bob."""


@pytest.fixture(scope="module", params=range(-(-QUESTIONS * 3 // 10 // PER_WORLD)))
def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[World, ScopedServer, ScopedServer]]:
    world = World(random.Random(f"{SEED} served {request.param}"), [BASE])
    with two_servers(world, tmp_path_factory.mktemp("served")) as servers:
        yield world, *servers
    world.close()


Served = tuple[World, ScopedServer, ScopedServer]


def test_a_principal_finds_out_nothing_of_other_scopes(served: Served) -> None:
    world, server, alone = served
    differing = Counter[bool]()

    def asked(sent: Sent, who: str | None) -> dict[str, Any]:
        answer = shown(sent.send(server, who))
        assert answer == shown(sent.send(alone, who)), (who, sent)
        assert leaked(sent.text, answer) == [], (who, sent, answer)
        return answer

    for at, sent in enumerate(itertools.islice(Requests(world), PER_WORLD)):
        who = world.choose.choice(WHO)
        if at % 5:
            asked(sent, who)
            continue
        # What others ask and write before changes nothing; nor do their tags and cursors.
        server.kip("bob", WRITE, name=f"zwombat {at}")
        other = sent.send(server, "bob")
        differing[asked(sent, who) != shown(other)] += 1
        repeated = sent.repeated(other)
        # What both read at one address has one tag.
        if repeated is not None and not sent.path.startswith("/scopes/team"):
            asked(repeated, who)
    # Others get other answers.
    assert differing[True] > differing.total() // 5, differing
    metrics = server.send("root", "GET", "/metrics").text
    assert leaked("", metrics) == []
    assert not re.search("team|ada|bob|nobody|carl", metrics), metrics


def kip(command: str) -> Sent:
    return Sent("POST", "/kip", content={"method": "execute_kip", "params": {"command": command}})


EXISTENCE = {
    "a scope": (Sent("GET", "/scopes/bob/"), Sent("GET", "/scopes/bxb/")),
    "erasing a scope": (Sent("DELETE", "/scopes/bob"), Sent("DELETE", "/scopes/bxb")),
    "adding a scope": (
        Sent("POST", "/scopes", content={"name": "bob"}),
        Sent("POST", "/scopes", content={"name": "bxb"}),
    ),
    "an element": (
        kip('FIND(?x) WHERE { ?x {id: "C:Zorblaxian/Qwyzara"} }'),
        kip('FIND(?x) WHERE { ?x {id: "C:Zorbxaxian/Qwyxara"} }'),
    ),
    "a name": (
        kip('FIND(?x) WHERE { ?x {type: "Person", name: "Vexmoor Klund"} }'),
        kip('FIND(?x) WHERE { ?x {type: "Person", name: "Vexmxxr Klund"} }'),
    ),
    "a type": (
        kip('DESCRIBE CONCEPT TYPE "Zorblaxian"'),
        kip('DESCRIBE CONCEPT TYPE "Zorbxaxian"'),
    ),
    "a word": (kip('SEARCH CONCEPT "znarfle"'), kip('SEARCH CONCEPT "znxrfle"')),
    "a version": (
        kip('UPSERT { CONCEPT { {id: "C:Person/Vexmoor Klund"} EXPECT VERSION 1 } }'),
        kip('UPSERT { CONCEPT { {id: "C:Person/Vexmxxr Klund"} EXPECT VERSION 1 } }'),
    ),
    "an address": (
        Sent("GET", "/kb/Zorblaxian/Qwyzara"),
        Sent("GET", "/kb/Zorbxaxian/Qwyxara"),
    ),
}
"""Of each kind, a request for what is there and hidden, and one for what is nowhere."""


@pytest.mark.parametrize("kind", EXISTENCE)
def test_what_is_hidden_takes_as_long_as_what_is_nowhere(served: Served, kind: str) -> None:
    _, server, _ = served
    hidden, nowhere = EXISTENCE[kind]
    assert hidden.send(server, "ada").status_code == nowhere.send(server, "ada").status_code
    assert not all(
        differs(lambda: hidden.send(server, "ada"), lambda: nowhere.send(server, "ada"))
        for _ in ATTEMPTS
    )


def test_a_difference_of_times_is_found(served: Served) -> None:
    _, server, _ = served
    nowhere, _ = EXISTENCE["an element"]
    visible = kip("FIND(?f, ?a, ?b) WHERE { ?f (?a, ?p, ?b) }")
    assert any(
        differs(lambda: visible.send(server, "ada"), lambda: nowhere.send(server, "ada"))
        for _ in ATTEMPTS
    )
