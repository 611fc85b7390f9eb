"""Fills a server with the dataset of an embedded nexus, without any write of a remote store."""

from __future__ import annotations

from rdflib import Graph

from kiprdf import Nexus
from kiprdf.rdf import vocab
from kiprdf.sparql.abilities import Links
from kiprdf.store.bookkeeping import commit_note
from kiprdf.store.connecting import ENGINES
from kiprdf.store.layout import Layout, Place
from tests.engines.servers import Engine

AT_ONCE = 2_000


def fill(server: Engine, nexus: Nexus, links: Links | None = None) -> None:
    """Insert all triples and records, links kept as the engine can by default."""
    if isinstance(server.target, Graph):
        server.target.parse(data=nexus.snapshot(profile="rdf11"), format="turtle")
        return
    abilities = ENGINES[server.name.partition("-")[0]]
    layout = Layout(links or abilities.links, abilities.own_datatypes)
    place = Place.of(server.default_graph)
    dataset = nexus.store.engine
    kept = [quad for quad in dataset if quad.graph_name != vocab.TEXTS]
    triples = [quad.triple for quad in kept if quad.graph_name != vocab.BOOKKEEPING]
    lines = [f"{triple} ." for triple in layout.stored(triples)]
    for at in range(0, len(lines), AT_ONCE):
        some = "\n".join(lines[at : at + AT_ONCE])
        inner = some if place.graph is None else f"GRAPH {place.graph} {{ {some} }}"
        server.update(f"INSERT DATA {{ {inner} }}")
    graph = place.bookkeeping
    # The notes of a folder's history, and of earlier commits, are of that folder.
    others = {vocab.CHAIN, vocab.REWRITTEN, vocab.COMMIT}
    notes = [quad for quad in kept if quad.graph_name == vocab.BOOKKEEPING]
    notes = [commit_note(nexus.store.commit()), *(q for q in notes if q.predicate not in others)]
    text = " ".join(f"{graph} {quad.predicate} {quad.object} ." for quad in notes)
    server.update(f"INSERT DATA {{ GRAPH {graph} {{ {text} }} }}")
