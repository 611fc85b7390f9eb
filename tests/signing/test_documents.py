"""Signed documents: what is signed verifies, and nothing else does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, parse

from kiprdf.signing import documents, keys, layout

DATA = """
@prefix x: <urn:x:> .
x:a a x:T ; x:p "plain", "\\u0000\\"\\\\ \\t\\u007f\\u2028 é 😀", "Wert"@de, 5, 1.5e0, true, x:b .
<urn:g> { x:a x:p "in a graph", 5 . x:c a x:T }
"""


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "key.json"
    keys.new_key(path)
    return path


def test_a_signed_document_verifies_in_any_layout(key: Path) -> None:
    text = documents.sign(parse(DATA, format=RdfFormat.TRIG), key)
    assert layout.read(text) is not None
    assert documents.verify(text, trusted=[keys.key_of(key).did]).reasons == []
    for other in (json.dumps(json.loads(text)), json.dumps(json.loads(text), indent=2)):
        assert layout.read(other) is None
        assert documents.verify(other, trusted=[keys.key_of(key).did])
    assert not documents.verify(text.replace("plain", "plane"))
