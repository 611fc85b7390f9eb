"""The embedder of the extra: it works without a network, and is loaded when it is called."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kiprdf.errors import StoreError
from kiprdf.search import embedders

ROOT = Path(__file__).resolve().parent.parent.parent
needs_extra = pytest.mark.skipif(
    not embedders.is_installed(), reason="the extra kiprdf[semantic] is not installed"
)

# The home is gone too: no cache of models can help.
OFFLINE = """
import os, socket, sys
os.environ["HOME"] = "/nonexistent"
def refuse(*arguments, **options):
    raise AssertionError("a connection was tried")
for name in ("connect", "connect_ex", "sendto"):
    setattr(socket.socket, name, refuse)
socket.getaddrinfo = socket.create_connection = refuse
"""


def run(code: str) -> str:
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    return process.stdout + process.stderr


@needs_extra
def test_wordllama_loads_when_it_is_called_without_a_network_and_leaves_logging_alone() -> None:
    code = """
import logging, sys
from kiprdf import Nexus
from kiprdf.search.embedders import wordllama
model = wordllama()
with Nexus.memory(embedder=model) as nexus:
    nexus.execute('SEARCH CONCEPT "person"')
    assert not {"numpy", "wordllama"} & sys.modules.keys()
    nexus.execute('SEARCH CONCEPT "human being" MODE "semantic"')
    assert {"numpy", "wordllama"} <= sys.modules.keys()
assert (logging.root.handlers, logging.root.level) == ([], logging.WARNING)
import numpy as np
vectors = model(["car", "automobile", "banana", ""])
assert vectors.shape == (4, 256)
units = vectors[:3] / np.linalg.norm(vectors[:3], axis=1, keepdims=True)
cosines = units @ units[0]
assert cosines[1] > 0.5 > 0.2 > cosines[2], cosines
"""
    assert run(OFFLINE + code) == ""


def test_import_kiprdf_loads_no_numpy() -> None:
    run("import sys, kiprdf, kiprdf.cli; assert not {'numpy', 'wordllama'} & sys.modules.keys()")


def without(monkeypatch: pytest.MonkeyPatch, *missing: str) -> None:
    find_spec = embedders.find_spec
    monkeypatch.setattr(
        embedders, "find_spec", lambda name: None if name in missing else find_spec(name)
    )


@pytest.mark.parametrize("missing", ["numpy", "wordllama"])
def test_wordllama_without_the_extra_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    without(monkeypatch, missing)
    assert not embedders.is_installed()
    with pytest.raises(StoreError, match=r"pip install 'kiprdf\[semantic\]'"):
        embedders.wordllama()


@needs_extra
def test_the_words_of_wordllama_sum_up_to_their_text() -> None:
    np = pytest.importorskip("numpy")
    model = embedders.wordllama()
    assert isinstance(model, embedders.AdditiveEmbedder)
    words = ["When", "did", "Caroline", "photograph", "uncharacteristically", "tea"]
    text = np.asarray(model([" ".join(words)]))[0]
    sums = np.asarray(model.embed_words(words)).sum(axis=0)
    assert text @ sums / np.linalg.norm(text) / np.linalg.norm(sums) > 0.999
    # Means would not: a long word has several tokens.
    means = np.asarray(model(words)).sum(axis=0)
    assert text @ means / np.linalg.norm(text) / np.linalg.norm(means) < 0.999
