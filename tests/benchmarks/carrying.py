"""A whole nexus as a file and back, beside the engine's own dump and load."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyoxigraph

import kiprdf
from kiprdf.interchange.formats import Profile
from kiprdf.rdf import vocab
from tests.benchmarks import data
from tests.benchmarks.measure import Ratio, side_by_side

TURTLE = pyoxigraph.RdfFormat.TURTLE
GRAPH = pyoxigraph.DefaultGraph()
PROFILES: tuple[Profile, ...] = ("rdf11", "rdf12")


def measured(propositions: int) -> Iterator[Ratio]:
    """Out and back in both profiles; the yardstick writes, and reads, as many triples."""
    nexus = kiprdf.Nexus.memory(genesis=False)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made.ttl"
        data.write_turtle(propositions, made)
        nexus.restore(made)
        for profile in PROFILES:
            path = Path(folder) / f"{profile}.ttl"
            written = nexus.write_snapshot(path, profile)
            yield snapshot(nexus, path, profile, written)
            yield restore(nexus, path, profile)


def snapshot(nexus: kiprdf.Nexus, path: Path, profile: Profile, written: int) -> Ratio:
    """A file, sorted and with prefixes, beside the dump of the same triples with prefixes."""
    engine = pyoxigraph.Store()
    engine.bulk_load(path=str(path), format=TURTLE)
    if len(engine) != written:
        sys.exit(f"snapshot {profile}: {written} triples, and {len(engine)} in the engine")
    prefixes = vocab.prefixes(nexus.base_iri)
    prefixes |= {name: f"{nexus.base_iri}{name}/" for name in ("Author", "Drug", "Symptom")}
    ours, theirs = path.with_name("ours"), path.with_name("theirs")
    return side_by_side(
        f"snapshot {profile}",
        lambda _: nexus.write_snapshot(ours, profile, format="turtle"),
        lambda _: engine.dump(str(theirs), TURTLE, from_graph=GRAPH, prefixes=prefixes),
        target=4.0,
        rounds=3,
    )


def restore(nexus: kiprdf.Nexus, path: Path, profile: Profile) -> Ratio:
    """A nexus from a file, beside an engine that is filled with it and believes it all."""

    def ours(_: int) -> kiprdf.Nexus:
        restored = kiprdf.Nexus.memory()
        restored.restore(path)
        return restored

    if ours(0).info()["propositions"] != nexus.info()["propositions"]:
        sys.exit(f"restore {profile}: other propositions than in the nexus")
    return side_by_side(
        f"restore {profile}",
        ours,
        lambda _: pyoxigraph.Store().bulk_load(path=str(path), format=TURTLE),
        target=4.0,
        rounds=3,
    )
