"""The text index of a scope is not opened for requests that search nothing."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from tests.serve.scoped import ScopedServer, make, serving_scopes


def has_index_open(scoped: ScopedServer) -> bool:
    """Whether the server has the text index of a scope open."""
    targets = []
    for entry in Path(f"/proc/{scoped.server.pid}/fd").iterdir():
        with suppress(OSError):
            targets.append(os.readlink(entry))
    assert any("/graph" in target for target in targets)
    return any(Path(target).name.startswith("search.sqlite3") for target in targets)


def test_a_scope_opens_its_index_when_it_is_searched(tmp_path: Path) -> None:
    make(tmp_path / "scopes", ["team", "ada"])
    with serving_scopes(tmp_path) as scoped:
        assert scoped.people("root", "/scopes/ada") == ["of ada"]
        assert scoped.people("ada") == ["of ada", "of team"]
        time.sleep(0.5)
        assert not has_index_open(scoped)
        search = 'SEARCH CONCEPT "of" WITH TYPE "Person" LIMIT 5'
        results = scoped.kip("root", search, "/scopes/ada").json()["result"]
        assert "of ada" in [one["name"] for one in results]
        assert has_index_open(scoped)
        results = scoped.kip("ada", search).json()["result"]
        assert {"of ada", "of team"} <= {one["name"] for one in results}
