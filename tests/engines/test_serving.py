"""A server on the nexus of a store, which other programs change."""

from __future__ import annotations

from kiprdf import Nexus
from tests.engines.servers import Engine
from tests.serve.running import serving

SET = 'UPSERT { CONCEPT { {type: "Domain", name: "X"} SET ATTRIBUTES { size: :size } } }'


def test_a_document_follows_what_another_program_commits(server: Engine) -> None:
    graph = ["--default-graph", server.default_graph] if server.default_graph else []
    with Nexus.connect(**server.arguments) as writer:
        writer.execute(SET, size=1)
        with serving(server.target, "--read-only", *graph) as running:
            address, turtle = "/data/Domain/X", {"Accept": "text/turtle"}
            first = running.client.get(address, headers=turtle)
            assert "attr:size 1" in first.text
            same = {**turtle, "If-None-Match": first.headers["ETag"]}
            assert running.client.get(address, headers=same).status_code == 304
            writer.execute(SET, size=2)
            second = running.client.get(address, headers=same)
            assert second.status_code == 200
            assert "attr:size 2" in second.text
            assert second.headers["ETag"] != first.headers["ETag"]
            root = running.client.get("/", headers={"Accept": "application/json"}).json()
            assert root["commit"] == 3
            assert running.client.get("/data/Domain/Y", headers=turtle).status_code == 404
