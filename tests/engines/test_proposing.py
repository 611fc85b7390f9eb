"""A nexus in a SPARQL store keeps no proposals: it says so, and writes nothing."""

from __future__ import annotations

import pytest

import kiprdf
from tests.engines.servers import Engine

WRITE = 'UPSERT { CONCEPT { {type: "Person", name: "Ada"} } }'


def test_a_store_behind_an_endpoint_keeps_no_proposals(server: Engine) -> None:
    with kiprdf.Nexus.connect(**server.arguments) as nexus:
        with nexus.acting(author="bot", access="propose"):
            with pytest.raises(kiprdf.KipError, match="keeps no proposals") as raised:
                nexus.execute(WRITE)
            assert raised.value.code == "KIP_3004"
            assert nexus.execute(WRITE, dry_run=True)["upsert_concept_nodes"] == ["C:Person/Ada"]
        assert nexus.proposals() == []
        assert nexus.execute('FIND(COUNT(?p)) WHERE { ?p {name: "Ada"} }') == 0
        with pytest.raises(kiprdf.KipError, match="no proposal 'prop-1'"):
            nexus.approve("prop-1")
