"""What follows, asked of a server by HTTP and MCP, and in its explorer (docs/decisions/208)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.serve.routes import openapi
from tests.nexus.test_entail import FACTS, PLACES, SCHEMA, VALUES
from tests.serve.running import serving
from tests.serve.test_mcp import over_http

PAGES = "/explore/kql"


def test_a_server_asks_as_a_request_says_and_else_as_the_nexus_does(tmp_path: Path) -> None:
    default = True
    with kiprdf.Nexus.open(tmp_path / "kb", entail=default) as nexus:
        nexus.execute(SCHEMA)
        nexus.execute(FACTS)
        nexus.execute('UPSERT { CONCEPT { {type: "City", name: "Alps"} } }')
        nexus.execute('DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Place", name: "Alps"} }')
        nexus.execute('UPSERT { CONCEPT { {type: "Place", name: "Po"} } }')
    answers = {
        False: ["Po"],
        True: ["Alps", "Po", "Torino", "Turin"],
        "same_as": ["Alps", "Po", "Torino"],
    }
    with serving(tmp_path / "kb") as server:
        for value in VALUES:
            expected = answers[default if value is None else value]
            field = {} if value is None else {"entail": value}
            assert server.kip(PLACES, **field).json() == {"result": expected}
            body = {"method": "execute_kip_readonly", "params": {"command": PLACES, **field}}
            assert server.client.post("/kip", json=body).json() == {"result": expected}
            body["params"] = {"commands": [{"command": PLACES, **field}]}
            answer = server.client.post("/kip", json=body).json()["result"]
            assert answer == [{"result": expected}]
        refused = server.kip("DESCRIBE DOMAINS", entail=True)
        assert refused.status_code == 400
        assert refused.json()["error"]["message"].endswith(
            "Only a FIND can be asked for what follows."
        )
        page = server.client.get(PAGES, params={"command": PLACES}).text
        assert f"{len(answers[default])} row" in page
        assert ("Torino" in page) is default
        asyncio.run(ask_by_mcp(server, default, answers))


async def ask_by_mcp(server: Any, default: bool, answers: dict[Any, list[str]]) -> None:
    async with over_http(server) as session:
        await session.initialize()
        for value in VALUES:
            arguments = {"command": PLACES} | ({} if value is None else {"entail": value})
            for tool in ("execute_kip", "execute_kip_readonly"):
                answer = await session.call_tool(tool, arguments)
                expected = answers[default if value is None else value]
                assert answer.structured_content == {"result": expected}
        # A resource is the concept that it names, not one that follows.
        with pytest.raises(Exception, match="There is no such resource"):
            await session.read_resource("kip://concept/Place/Turin")
        city = await session.read_resource("kip://concept/City/Turin")
        assert json.loads(city.contents[0].text)["id"] == "C:City/Turin"


def test_the_schemas_have_the_field() -> None:
    request = openapi.document("http://kb.example/")["components"]["schemas"]["Request"]
    functions = [schema["parameters"] for schema in kiprdf.function_schemas()]
    published = request["properties"]["entail"]
    assert [one.get("type") for one in published["anyOf"]] == ["boolean", "string", "null"]
    for schema in functions:
        field = schema["properties"]["entail"]
        assert field["anyOf"] == [{"type": "boolean"}, {"type": "string", "enum": ["same_as"]}]
        assert field["description"] == published["description"]
        assert "subclass_of" in field["description"]
        _, item = schema["properties"]["commands"]["items"]["anyOf"]
        assert item["properties"]["entail"] == field
    strict = kiprdf.function_schemas("openai", strict=True)[0]["parameters"]
    assert sorted(strict["properties"]) == ["command", "commands", "dry_run", "parameters"]
