"""Shapes of a nexus in a store of each engine: every connection obeys them."""

from __future__ import annotations

import pytest

from kiprdf import KipError, Nexus
from tests.engines.servers import Engine
from tests.nexus.test_gate_doors import DRUGS, RIGHT, SCHEMA, SHAPES, WRONG


def test_each_connection_obeys_the_shapes_of_a_store(engine: Engine) -> None:
    with Nexus.connect(**engine.arguments) as first, Nexus.connect(**engine.arguments) as second:
        first.execute(SCHEMA)
        second.execute(DRUGS)
        assert first.set_shapes(SHAPES).conforms
        assert second.shapes_set() == SHAPES
        for nexus in (second, first):
            with pytest.raises(KipError, match="at most 5") as caught:
                nexus.execute(WRONG)
            assert caught.value.code == "KIP_2002"
            nexus.execute(RIGHT.replace("3", str(nexus.info()["commit"] % 5)))
        assert second.check_shapes().conforms
        with Nexus.connect(**engine.arguments) as third:
            assert third.info()["gate"] == "refuse"
            with pytest.raises(KipError, match="at most 5"):
                third.execute(WRONG)
            third.set_shapes(None)
        first.execute(WRONG)
        assert second.shapes_set() is None
        assert first.set_shapes(SHAPES).counts == {"urn:shape:Drug": 1}


def test_a_store_that_keeps_no_proposals_refuses_the_setting(server: Engine) -> None:
    with Nexus.connect(**server.arguments) as nexus:
        with pytest.raises(KipError, match="keeps no proposals"):
            nexus.set_shapes(SHAPES, on_violation="propose")
        assert nexus.shapes_set() is None
