"""A key, and who signs with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiprdf.signing import keys


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "key.json"
    keys.new_key(path)
    return path


@pytest.fixture(scope="module")
def did(key: Path) -> str:
    return keys.key_of(key).did
