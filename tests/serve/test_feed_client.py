"""The public client of Linked Data Event Streams reads /feed."""

from __future__ import annotations

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests import node
from tests.serve.conftest import BASE
from tests.serve.running import RunningServer, serving
from tests.serve.test_feed import WRITE, filled, members_of, pages_of

pytestmark = node.needs_node
SCRIPT = Path(__file__).with_name("read_stream.mjs")
RISK = "urn:kip:attribute/risk"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def read(
    server: RunningServer, ordered: str = "none", name: str | None = None
) -> list[dict[str, Any]]:
    """The members of the feed of a server, up to a version of an element if one is named."""
    given = {"url": f"{server.address}feed", "ordered": ordered, "name": name}
    return [json.loads(line) for line in node.run(SCRIPT, json.dumps(given)).splitlines()]


@pytest.mark.parametrize("ordered", ["none", "ascending"])
def test_client_reads_each_member_once(tmp_path: Path, ordered: str) -> None:
    with serving(filled(tmp_path / "kb", 250)) as server:
        members = read(server, ordered=ordered)
        ids = [member["id"] for member in members]
        assert sorted(ids) == sorted(members_of(pages_of(server.client)))
        aspirin = [one for one in members if one["isVersionOf"] == f"{BASE}Drug/Aspirin"]
        assert [[RISK, "7"] in one["values"] for one in aspirin] == [False, True, False]
        deletion = [TYPE, "https://www.w3.org/ns/activitystreams#Delete"]
        assert [deletion in one["values"] for one in aspirin] == [False, False, True]
        if ordered == "ascending":
            times = [member["timestamp"] for member in members]
            assert times == sorted(times)


def requests_of(server: RunningServer) -> int:
    """The requests for the feed that were answered."""
    counted = re.findall(r'route="/feed".*\} (\d+)', server.client.get("/metrics").text)
    return sum(map(int, counted))


def test_client_follows_new_commits_and_a_forgetting(tmp_path: Path) -> None:
    with serving(filled(tmp_path / "kb", 20)) as server, ThreadPoolExecutor() as pool:
        following = pool.submit(read, server, name=f"{BASE}Drug/Two")
        until = time.monotonic() + 30
        while requests_of(server) < 8:  # It has read all there is, and asks again.
            assert time.monotonic() < until
            time.sleep(0.05)
        server.kip(WRITE, parameters={"name": "One", "risk": 1})
        command = 'FIND(?d) WHERE { ?d {type: "Drug", name: "D5"} }'
        forgotten = server.client.post("/maintenance/forget", json={"command": command})
        assert forgotten.status_code == 200
        server.kip(WRITE, parameters={"name": "Two", "risk": 2})
        members = following.result(60)
        # The client may read a page at both of its addresses at once, and its members twice.
        ids = {member["id"] for member in members}
        present = set(members_of(pages_of(server.client)))
        assert {one for one in ids if f"{BASE}Drug/D5#" not in one} == present
        assert f"{BASE}Drug/D5" in {member["isVersionOf"] for member in members}
