"""Erases a memory for good, with what only it states, now or earlier (docs/how-to/forget.md)."""

from __future__ import annotations

from typing import Any

from pyoxigraph import NamedNode, Triple

from kiprdf.budget import paced
from kiprdf.execution.forgetting import forget
from kiprdf.kql.identities import exists
from kiprdf.memory.graph import ITEM, MENTIONS, STATES, Graph
from kiprdf.memory.upserts import forgetting
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName
from kiprdf.store import OxigraphStore
from kiprdf.store.past import require_embedded


def erase(graph: Graph, id: str) -> dict[str, Any]:
    """Erase a memory, also one that was forgotten; return what went.

    First the facts that other memories state, too, lose it as their evidence; then all the rest
    is erased as one change.
    """
    engine = graph.nexus._engine
    store = require_embedded(engine.store, "erase a memory")
    engine.writer.require_writable()
    iris = store.iris
    with store.writing():
        note = iris.concept(ITEM, id)
        was_there = exists(note, store)
        nodes = [note]
        if was_there:
            change = forgetting(graph, id)
            nodes = [node for removed in change.removed if (node := iris.from_id(removed))]
            change.removed = []
            if change:
                graph.commit(change)
        facts = _facts(store)
        nodes += _only_earlier(store, facts, note)
        links = {node: facts[node] for node in nodes if node in facts}
        report = engine.boundary.run(lambda: forget(engine.writer, lambda: nodes, False))
    is_erased = was_there or bool(report["commits"])
    return {
        "id": id,
        "erased": is_erased,
        "entities": [_named(store, node) for node in nodes if node != note and node not in links],
        "edges": [_shown(store, node, fact) for node, fact in links.items()],
        **report,
        "elements": report["elements"] if is_erased else [],
    }


def _facts(store: OxigraphStore) -> dict[Any, Triple]:
    """The facts of all links, now and earlier."""
    journal = store.journal or store.closed_journal
    facts: dict[Any, Any] = {
        quad.subject: quad.object for quad in store.match(None, vocab.REIFIES, None)
    }
    past = () if journal is None else journal.commits(0, journal.last)
    for commit in paced(past):
        for subject, predicate, value in commit.added:
            if predicate == vocab.REIFIES:
                facts.setdefault(subject, value)
    return facts


def _only_earlier(
    store: OxigraphStore, facts: dict[Any, Triple], note: NamedNode
) -> list[NamedNode]:
    """What is gone by now, and only this memory has ever been evidence for."""
    evidence = {store.iris.predicate(name) for name in (STATES, MENTIONS)}
    sources: dict[Any, set[Any]] = {}
    for fact in list(facts.values()):
        if fact.predicate in evidence:
            ends = facts.get(fact.object)
            for node in (fact.object, *((ends.subject, ends.object) if ends else ())):
                sources.setdefault(node, set()).add(fact.subject)
    return [
        node for node, memories in sources.items() if memories == {note} and not exists(node, store)
    ]


def _named(store: OxigraphStore, node: Any) -> dict[str, str]:
    name = store.iris.name(node.value)
    assert isinstance(name, ConceptName)
    return {"type": name.type.lower(), "name": name.name}


def _shown(store: OxigraphStore, link: NamedNode, fact: Triple) -> dict[str, str]:
    subject, object_ = _named(store, fact.subject), _named(store, fact.object)
    predicate = store.iris.id(link).rpartition(":")[2]
    return {"subject": subject["name"], "predicate": predicate, "object": object_["name"]}
