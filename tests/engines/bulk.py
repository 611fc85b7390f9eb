"""Loads the dataset of an embedded nexus into a server by the engine's own bulk loader."""

from __future__ import annotations

import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile

from pyoxigraph import DefaultGraph, Quad

from kiprdf import Nexus
from kiprdf.rdf import vocab
from kiprdf.store.connecting import ENGINES
from kiprdf.store.layout import Layout, Place
from tests.engines.servers import KINDS, Engine, Kind, isql, program

BUFFERS = 400_000
"""Pages of 8 kB that Virtuoso keeps in memory."""
HOURS_S = 3 * 3600.0


def write(name: str, nexus: Nexus) -> Path:
    """Write all triples and records as an engine keeps them, to a temporary file of N-Quads."""
    with NamedTemporaryFile("w", suffix=".nq", encoding="utf-8", delete=False) as file:
        file.writelines(f"{quad} .\n" for quad in _quads(KINDS[name], nexus))
    return Path(file.name)


def load(server: Engine, path: Path) -> None:
    """Load such a file into an empty server."""
    if server.name == "oxigraph-disk":
        server.stop()
        command = [str(program("oxigraph")), "load", "--location", str(server.folder / "data")]
        subprocess.run([*command, "--file", str(path)], check=True, capture_output=True)
        server.start()
    elif server.name == "virtuoso":
        _load_virtuoso(server, path)
    else:
        url = f"http://127.0.0.1:{server.port}"
        url += "/store" if server.name == "oxigraph" else "/ds/data"
        headers = {
            "Content-Type": "application/n-quads",
            "Content-Length": str(path.stat().st_size),
        }
        with path.open("rb") as file:
            request = urllib.request.Request(url, file, headers)
            urllib.request.urlopen(request, timeout=HOURS_S).close()


def _quads(kind: Kind, nexus: Nexus) -> Iterator[Quad]:
    abilities = ENGINES[kind.name.partition("-")[0]]
    layout, place = Layout.of(abilities), Place.of(kind.default_graph)
    graph = place.graph or DefaultGraph()
    engine = nexus.store.engine
    knowledge = engine.quads_for_pattern(None, None, None, DefaultGraph())
    for triple in layout.stored(quad.triple for quad in knowledge):
        yield Quad(*triple, graph)
    own = place.bookkeeping
    for note in engine.quads_for_pattern(None, None, None, vocab.BOOKKEEPING):
        yield Quad(own, note.predicate, note.object, own)


def _load_virtuoso(server: Engine, path: Path) -> None:
    settings = server.folder / "virtuoso.ini"
    text = settings.read_text("utf-8").replace("Buffers = 20000", f"Buffers = {BUFFERS}")
    server.stop()
    settings.write_text(text.replace("Buffers = 15000", f"Buffers = {BUFFERS * 3 // 4}"), "utf-8")
    server.start()
    # The server reads files of its folder only.
    shutil.copy(path, server.folder / "data.nq")
    # Mode 2: without a log, each row on its own; 512: N-Quads.
    load = f"DB.DBA.TTLP_MT(file_to_string_output('{server.folder}/data.nq'), '', 'urn:none', 512);"
    isql(server.folder, f"log_enable(2); {load} checkpoint;", HOURS_S)
