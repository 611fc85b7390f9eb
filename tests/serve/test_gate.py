"""Over HTTP and MCP a write obeys the shapes of the nexus."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

import kiprdf.serve
from kiprdf import Nexus
from tests.cli.test_gate import RIGHT, SHAPES, WRONG
from tests.serve.running import RunningServer, serving
from tests.serve.test_mcp import over_http

HTML = {"Accept": "text/html"}
SCHEMA = 'UPSERT { CONCEPT { {type: "$ConceptType", name: "Drug"} } }'


def test_a_write_over_http_and_mcp_obeys_the_shapes(tmp_path: Path) -> None:
    folder = tmp_path / "brain"
    with Nexus.open(folder) as nexus:
        nexus.execute(SCHEMA)
        nexus.set_shapes(SHAPES)
    with serving(folder) as server:
        refused = server.kip(WRONG)
        assert refused.status_code == 400
        assert_refused(refused.json()["error"])
        assert_refused(asyncio.run(over_mcp(server, WRONG))["error"])
        assert server.kip(RIGHT).status_code == 200
        assert "result" in asyncio.run(over_mcp(server, RIGHT.replace("Bad", "Good")))
        assert server.stop() == 0
    with Nexus.open(folder, read_only=True) as nexus:
        find = 'FIND(?d.name) WHERE { ?d {type: "Drug"} } ORDER BY ?d.name'
        assert nexus.find(find).column("?d.name") == ["Bad", "Good"]


def assert_refused(error: dict[str, Any]) -> None:
    assert error["code"] == "KIP_2002"
    assert "At most 5." in error["message"]
    assert error["hint"] == "Give the risk as 0 to 5."


async def over_mcp(server: RunningServer, command: str) -> Any:
    async with over_http(server) as session:
        await session.initialize()
        answer = await session.call_tool("execute_kip", {"command": command})
        return json.loads(answer.content[0].text)  # type: ignore[union-attr]


def test_pages_show_why_a_statement_was_refused_and_that_shapes_were_set() -> None:
    with Nexus.memory(history=True) as nexus:
        nexus.execute(SCHEMA)
        nexus.set_shapes(SHAPES, on_violation="propose")
        nexus.execute(WRONG)
        nexus.set_shapes(None)
        with nexus.acting(author="bot", access="propose"):
            nexus.execute(RIGHT)
        with TestClient(kiprdf.serve.app(nexus), base_url="http://localhost") as client:
            first, second = (
                client.get(f"/explore/proposals/prop-{number}", headers=HTML).text
                for number in (1, 2)
            )
            log = client.get("/explore/log", headers=HTML).text
    assert log.count("Set shapes.") == log.count("Removed the shapes.") == 1
    assert "It was refused: C:Drug/Bad, attributes.risk_level: At most 5." in first
    assert "was refused" not in second
