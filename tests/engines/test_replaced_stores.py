"""A store that is replaced, or that loses a part of a commit, while a nexus is connected."""

from __future__ import annotations

from typing import Any

import pytest

from kiprdf import KipError, Nexus
from tests.engines.forwarding import connected, forward
from tests.engines.servers import Engine
from tests.store.answering import Reply, Request

ITEM = 'UPSERT { CONCEPT { {type: "Item", name: "A"} SET ATTRIBUTES { size: :size } } }'
TYPE = 'UPSERT { CONCEPT { {type: "$ConceptType", name: "Item"} } }'
WHOLE = 'FIND(?i) WHERE { ?i {type: "Item", name: "A"} }'
SIZE = 'FIND(?i.attributes.size) WHERE { ?i {type: "Item", name: "A"} }'


@pytest.mark.parametrize("more", [0, 3])
def test_a_nexus_that_was_replaced_is_neither_read_nor_changed(server: Engine, more: int) -> None:
    with Nexus.connect(**server.arguments) as first:
        first.execute(TYPE)
        first.execute(ITEM, size=1)
        assert first.execute(WHOLE)[0]["attributes"] == {"size": 1}
        server.clear()
        with Nexus.connect(**server.arguments) as second:
            second.execute(TYPE)
            for size in range(more + 1):
                second.execute(ITEM, size=50 + size)
            replaced = r"KIP_4003 .*has been replaced by another one. Hint: Connect again"
            for command, values in ((WHOLE, {}), (ITEM, {"size": 7}), (WHOLE, {})):
                with pytest.raises(KipError, match=replaced):
                    first.execute(command, **values)
            assert second.execute(SIZE) == [50 + more]
            assert second.check()["faults"] == []
        with Nexus.connect(**server.arguments) as third:
            third.execute(ITEM, size=8)
            assert third.execute(SIZE) == [8]


def test_a_nexus_that_was_removed_is_not_written(server: Engine) -> None:
    with Nexus.connect(**server.arguments) as first:
        first.execute(TYPE)
        first.execute(ITEM, size=1)
        assert first.execute(WHOLE)[0]["attributes"] == {"size": 1}
        server.clear()
        for command, values in ((ITEM, {"size": 7}), (WHOLE, {})):
            with pytest.raises(KipError, match=r"KIP_4003 .*has been removed. Hint: Connect ag"):
                first.execute(command, **values)
    with Nexus.connect(**server.arguments) as second:
        assert second.info()["commit"] == 1
        assert second.check()["faults"] == []


def test_a_commit_of_which_a_batch_is_lost_is_not_made(server: Engine) -> None:
    batches = 0
    lost: int | None = None

    def reply(request: Request) -> Reply:
        nonlocal batches
        if b"INSERT+DATA" in request.body or request.body.startswith(b"INSERT DATA"):
            batches += 1
            if batches == lost:
                return Reply(204)
        return forward(server, request)

    items = " ".join(
        f'CONCEPT {{ {{type: "Item", name: "N{n}"}} SET ATTRIBUTES {{ size: {n} }} }}'
        for n in range(2500)
    )
    count = 'FIND(COUNT(?i)) WHERE { ?i {type: "Item"} }'
    with connected(server, reply) as nexus:
        nexus.execute(TYPE)
        before = nexus.info()["commit"]
        for number in (2, 3):
            batches, lost = 0, number
            with pytest.raises(KipError, match=r"KIP_4003 .* carry them out: .* triples"):
                nexus.execute(f"UPSERT {{ {items} }}")
            result: Any = nexus.execute(count)
            assert (result, nexus.info()["commit"]) == (0, before)
        lost = None
        nexus.execute(f"UPSERT {{ {items} }}")
        assert (nexus.execute(count), nexus.info()["commit"]) == (2500, before + 1)
        assert nexus.check()["faults"] == []
