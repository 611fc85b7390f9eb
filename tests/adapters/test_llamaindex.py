"""The property graph of docs/how-to/llamaindex.md, compared with LlamaIndex's own store.

The tests import LlamaIndex when they run, since that takes two seconds.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import kiprdf
from tests.adapters.pages import code_of


@pytest.fixture(scope="module")
def llama() -> SimpleNamespace:
    """The classes of LlamaIndex, and a graph of them."""
    from llama_index.core.graph_stores import simple_labelled, types
    from llama_index.core.schema import TextNode

    entity, relation = types.EntityNode, types.Relation
    return SimpleNamespace(
        entity=entity,
        relation=relation,
        text=TextNode,
        store=simple_labelled.SimplePropertyGraphStore,
        nodes=[
            entity(name="Ada", label="PERSON", properties={"born": 1990, "city": "Paris"}),
            entity(name="Bob", label="PERSON", properties={"city": "Rome"}),
            entity(name="Person", label="Concept"),
            entity(name="阿司匹林", label="Drug", properties={"tags": ["a", {"b": None}]}),
            types.ChunkNode(id_="chunk-1", text="Ada knows Bob.", properties={"page": 3}),
        ],
        relations=[
            relation(label="KNOWS", source_id="Ada", target_id="Bob", properties={"since": 2001}),
            relation(label="KNOWS", source_id="Bob", target_id="Person"),
            relation(label="MENTIONS", source_id="chunk-1", target_id="Ada"),
            relation(label="TAKES", source_id="Person", target_id="阿司匹林"),
        ],
    )


@pytest.fixture
def stores(llama: SimpleNamespace) -> tuple[Any, Any]:
    """The store of the page and LlamaIndex's own one, with the same graph."""
    ours = code_of("llamaindex.md")["NexusGraphStore"](kiprdf.Nexus.memory())
    theirs = llama.store()
    for store in (ours, theirs):
        store.upsert_nodes(llama.nodes)
        store.upsert_relations(llama.relations)
    return ours, theirs


def shown(parts: Any, llama: SimpleNamespace) -> list[str]:
    """Nodes or triplets in one order, without those that every nexus has."""
    texts = [
        repr([p.model_dump() for p in (part if isinstance(part, tuple) else (part,))])
        for part in parts
        if not isinstance(part, llama.entity) or part in llama.nodes
    ]
    return sorted(texts)


@pytest.mark.parametrize(
    "conditions",
    [
        {"ids": ["Ada", "chunk-1", "missing"]},
        {"ids": ["Person"]},
        {"properties": {"city": "Rome"}},
        {"properties": {"city": "Rome", "born": 1990}},
        {"properties": {"city": "Rome"}, "ids": ["Ada"]},
        {},
    ],
    ids=str,
)
def test_get_answers_as_the_other_store(
    stores: Any, llama: SimpleNamespace, conditions: Any
) -> None:
    ours, theirs = stores
    assert shown(ours.get(**conditions), llama) == shown(theirs.get(**conditions), llama)


@pytest.mark.parametrize(
    "conditions",
    [
        {},
        {"entity_names": ["Ada"]},
        {"ids": ["Bob", "missing"]},
        {"ids": ["Person"]},
        {"relation_names": ["KNOWS"]},
        {"relation_names": ["MISSING"]},
        {"relation_names": ["KNOWS"], "ids": ["Person"]},
        {"properties": {"since": 2001}},
        {"entity_names": ["Ada"], "relation_names": ["MENTIONS"]},
    ],
    ids=str,
)
def test_get_triplets_answers_as_the_other_store(
    stores: Any, llama: SimpleNamespace, conditions: Any
) -> None:
    ours, theirs = stores
    here, there = (store.get_triplets(**conditions) for store in (ours, theirs))
    assert shown(here, llama) == shown(there, llama)


def test_the_map_of_relations_reaches_as_far_as_its_depth(stores: Any, llama: Any) -> None:
    ours, _ = stores
    near = ours.get_rel_map(llama.nodes[:1], depth=1)
    assert sorted(str(part) for _, *parts in near for part in parts[:1]) == [
        "KNOWS ({'since': 2001})",
        "MENTIONS",
    ]
    assert len(ours.get_rel_map(llama.nodes[:1], depth=3)) == 4
    assert len(ours.get_rel_map(llama.nodes[:1], depth=3, limit=2)) == 2
    assert len(ours.get_rel_map(llama.nodes[:1], depth=3, ignore_rels=["KNOWS"])) == 1


def test_delete_removes_nodes_with_their_relations(stores: Any) -> None:
    ours, _ = stores
    ours.delete(relation_names=["TAKES"])
    assert ours.get_triplets(relation_names=["TAKES"]) == []
    ours.delete(entity_names=["Ada"])
    ours.delete(properties={"city": "Rome"})
    assert ours.get(ids=["Ada", "Bob"]) == []
    assert ours.get_triplets(relation_names=["KNOWS", "MENTIONS"]) == []
    ours.delete(ids=[])
    assert [node.id for node in ours.get(ids=["chunk-1"])] == ["chunk-1"]


def test_documents_are_kept_and_deleted_by_their_reference(stores: Any, llama: Any) -> None:
    ours, _ = stores
    text = llama.text(id_="text-1", text="Bob sails.", metadata={"file": "a.txt"})
    ours.upsert_llama_nodes([text])
    (copy,) = ours.get_llama_nodes(["text-1"])
    assert (copy.id_, copy.text, copy.metadata) == ("text-1", "Bob sails.", {"file": "a.txt"})
    ours.delete_llama_nodes(["text-1"])
    assert ours.get_llama_nodes(["text-1"]) == []


def test_labels_become_identifiers_and_an_id_keeps_its_first_one(stores: Any, llama: Any) -> None:
    ours, _ = stores
    ours.upsert_nodes([llama.entity(name="Ada", label="Other", properties={"city": "Oslo"})])
    (ada,) = ours.get(ids=["Ada"])
    assert (ada.label, ada.properties) == ("PERSON", {"born": 1990, "city": "Oslo"})
    ours.upsert_relations([llama.relation(label="工作 at", source_id="Ada", target_id="9 to 5")])
    ((_, relation, target),) = ours.get_triplets(relation_names=["工作 at"])
    assert (relation.label, target.label) == ("___at_5de5_4f5c", "entity")


def test_a_structured_query_only_reads(stores: Any) -> None:
    ours, _ = stores
    query = 'FIND(?p.name) WHERE { ?p {type: "PERSON"} } ORDER BY ?p.name'
    assert ours.structured_query(query) == ["Ada", "Bob"]
    assert '"PERSON" (2)' in ours.get_schema_str()
    with pytest.raises(kiprdf.KipError, match="no command that writes"):
        ours.structured_query('DELETE CONCEPT ?p DETACH WHERE { ?p {type: "PERSON"} }')
