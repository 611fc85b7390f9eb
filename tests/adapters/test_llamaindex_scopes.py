"""The property graph of docs/how-to/llamaindex.md in a view: it reads several nexuses, writes one.

The tests import LlamaIndex when they run, since that takes two seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import kiprdf
from tests.adapters import test_llamaindex as alone
from tests.adapters.pages import code_of

graph = alone.llama
"""The graph that the other tests use."""


@pytest.fixture(scope="module")
def llama() -> SimpleNamespace:
    from llama_index.core.graph_stores import types

    return SimpleNamespace(
        store=code_of("llamaindex.md")["NexusGraphStore"],
        entity=types.EntityNode,
        relation=types.Relation,
    )


@pytest.fixture
def brains(tmp_path: Path) -> Iterator[kiprdf.Brains]:
    with kiprdf.Brains(tmp_path / "brains") as brains:
        for name in ("team", "ada", "bob"):
            brains.add(name)
        yield brains


def store_of(llama: SimpleNamespace, brains: kiprdf.Brains, name: str) -> Any:
    return llama.store(brains.view("team", name, write=name))


def triplets(store: Any, *ids: str) -> set[tuple[str, str, str]]:
    return {(s.id, r.label, o.id) for s, r, o in store.get_triplets(ids=list(ids))}


def filled(llama: SimpleNamespace, brains: kiprdf.Brains) -> tuple[Any, Any, Any]:
    """The stores of the team, Ada and Bob; each has written something."""
    team = llama.store(brains["team"])
    ada, bob = (store_of(llama, brains, name) for name in ("ada", "bob"))
    team.upsert_nodes([llama.entity(name="Acme", label="Customer", properties={"city": "Rome"})])
    ada.upsert_nodes([llama.entity(name="Grace", label="Buyer", properties={"phone": "quince"})])
    ada.upsert_relations([llama.relation(label="buys for", source_id="Grace", target_id="Acme")])
    bob.upsert_nodes([llama.entity(name="Acme", label="Customer", properties={"risk": 3})])
    return team, ada, bob


def test_a_user_reads_her_scopes_and_writes_one(llama: Any, brains: kiprdf.Brains) -> None:
    team, ada, bob = filled(llama, brains)
    assert triplets(ada, "Acme") == {("Grace", "buys_for", "Acme")}
    assert triplets(bob, "Acme", "Grace") == triplets(team, "Acme", "Grace") == set()
    assert [node.properties for node in ada.get(ids=["Acme"])] == [{"city": "Rome"}]
    assert [node.properties for node in bob.get(ids=["Acme"])] == [{"city": "Rome", "risk": 3}]
    assert [node.properties for node in team.get(ids=["Acme"])] == [{"city": "Rome"}]
    for other in (team, bob):
        assert other.get(ids=["Grace"]) == other.get(properties={"phone": "quince"}) == []
        assert "Grace" not in str(other.get()) + str(other.structured_query("DESCRIBE PRIMER"))
        schema = other.get_schema()
        assert "Customer" in schema
        assert "Buyer" not in schema
        assert "buys_for" not in schema
    assert "Buyer" in ada.get_schema()
    assert len(ada.get_rel_map(ada.get(ids=["Acme"]))) == 1
    assert brains["team"].info()["commit"] < ada.client.info()["commit"]


def test_what_only_another_scope_has_is_not_deleted(llama: Any, brains: kiprdf.Brains) -> None:
    team, ada, bob = filled(llama, brains)
    team.upsert_nodes([llama.entity(name="Zeta", label="Customer")])
    with pytest.raises(kiprdf.KipError, match=r"KIP_3004 .*team"):
        bob.delete(ids=["Missing", "Zeta"])
    bob.delete(ids=["Acme"])  # what Bob has of it
    assert [node.properties for node in bob.get(ids=["Acme"])] == [{"city": "Rome"}]
    assert [node.id for node in team.get(ids=["Acme", "Zeta"])] == ["Acme", "Zeta"]
    ada.delete(entity_names=["Grace"])
    assert ada.get(ids=["Grace"]) == []
    assert triplets(ada, "Acme") == set()


def test_a_node_of_a_view_keeps_the_label_that_another_scope_gave_it(
    llama: Any, brains: kiprdf.Brains
) -> None:
    _, ada, _ = filled(llama, brains)
    ada.upsert_nodes([llama.entity(name="Acme", label="Other", properties={"note": "quince"})])
    (node,) = ada.get(ids=["Acme"])
    assert (node.label, node.properties) == ("Customer", {"city": "Rome", "note": "quince"})
    assert "quince" not in str(brains["team"].find("FIND(?c) WHERE { ?c {} }").column("?c"))


def test_without_a_scope_to_write_the_graph_is_read_only(llama: Any, brains: kiprdf.Brains) -> None:
    filled(llama, brains)
    reader = llama.store(brains.view("team", "ada"))
    assert triplets(reader, "Acme") == {("Grace", "buys_for", "Acme")}
    with pytest.raises(kiprdf.KipError, match="KIP_1001"):
        reader.upsert_nodes([llama.entity(name="Bo", label="Buyer")])
    with pytest.raises(kiprdf.KipError, match="KIP_1001"):
        reader.delete(ids=["Grace"])


QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("get", {}),
    ("get", {"ids": ["Ada", "chunk-1", "missing"]}),
    ("get", {"properties": {"city": "Rome"}}),
    ("get_triplets", {"ids": ["Ada", "Bob", "Person"]}),
    ("get_triplets", {"entity_names": ["Ada"], "relation_names": ["MENTIONS"]}),
    ("get_triplets", {"relation_names": ["KNOWS"]}),
    ("get_triplets", {"relation_names": ["TAKES", "MISSING"]}),
    ("get_triplets", {"properties": {"since": 2001}}),
]


def test_a_view_answers_as_the_other_store_that_holds_what_is_visible(
    graph: SimpleNamespace, brains: kiprdf.Brains
) -> None:
    """The team has the people, Ada the rest, and a second fact about one of them."""
    ours = code_of("llamaindex.md")["NexusGraphStore"]
    team, everything = ours(brains["team"]), graph.store()
    ada, bob = (ours(brains.view("team", name, write=name)) for name in ("ada", "bob"))
    of_team = graph.store()
    for store in (team, of_team, everything):
        store.upsert_nodes(graph.nodes[:3])
        store.upsert_relations(graph.relations[:2])
    for store in (ada, everything):
        store.upsert_nodes(graph.nodes[3:])
        store.upsert_relations(graph.relations[2:])
    for here, there in ((ada, everything), (bob, of_team), (team, of_team)):
        for name, conditions in QUESTIONS:
            answer, expected = (getattr(s, name)(**conditions) for s in (here, there))
            assert alone.shown(answer, graph) == alone.shown(expected, graph), (name, conditions)
