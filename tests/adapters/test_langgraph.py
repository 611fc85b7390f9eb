"""The LangGraph store of docs/how-to/langgraph.md, compared with LangGraph's own store."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

import kiprdf
from tests.adapters.pages import code_of

NexusStore = code_of("langgraph.md")["NexusStore"]
NAMESPACES = [("users", "ada"), ("users", "bob"), ("users", "ada", "notes"), ("a/b", "%2F"), ("c",)]
KEYS = ["tea", "a/b", "", " blank ", "茶", "%20", ".."]
VALUES: list[dict[str, Any]] = [
    {"text": "green tea", "n": 3, "flag": True, "none": None},
    {"text": "red boat", "n": 2.5, "tags": ["a", {"b": None}], "odd key": {"": 1}},
    {"n": -1, "flag": False, "deep": {"x": {"y": [1, 2]}, "z": "é\u0000"}},
    {},
]
FILTERS: list[dict[str, Any] | None] = [
    None,
    {"n": 3},
    {"n": {"$gte": 2.5, "$lt": 3}},
    {"n": {"$ne": 3}},
    {"flag": {"$eq": True}},
    {"none": None},
    {"deep": {"x": {"y": [1, 2]}}},
    {"tags": ["a", {"b": None}]},
    {"odd key": {"": 1}, "n": {"$lte": 2.5}},
]


@pytest.fixture
def store() -> BaseStore:
    store: BaseStore = NexusStore(kiprdf.Nexus.memory())
    return store


def contents(result: Any) -> Any:
    """A result without times and scores; items in the order of their places."""
    if isinstance(result, list) and result and not isinstance(result[0], tuple):
        return sorted((item.namespace, item.key, repr(contents(item))) for item in result)
    if isinstance(result, list) or result is None:
        return result
    return result.namespace, result.key, dict(sorted(result.value.items()))


def some_batch(choose: random.Random) -> list[Any]:
    return [
        choose.choice(
            [
                PutOp(choose.choice(NAMESPACES), choose.choice(KEYS), choose.choice(VALUES)),
                PutOp(choose.choice(NAMESPACES), choose.choice(KEYS), choose.choice(VALUES)),
                PutOp(choose.choice(NAMESPACES), choose.choice(KEYS), None),
                GetOp(choose.choice(NAMESPACES), choose.choice(KEYS)),
                SearchOp(choose.choice([(), ("users",), ("users", "ada")]), None, 100),
            ]
        )
        for _ in range(choose.randint(1, 6))
    ]


def some_listing(choose: random.Random) -> ListNamespacesOp:
    paths = choose.sample([("users",), ("*", "ada"), ("notes",), ("users", "*")], 2)
    conditions = tuple(MatchCondition(choose.choice(["prefix", "suffix"]), path) for path in paths)
    depth, limit = choose.choice([None, 1, 2]), choose.choice([1, 10])
    return ListNamespacesOp(choose.choice([None, conditions[:1], conditions]), depth, limit, 0)


def forget_empty_namespaces(other: InMemoryStore) -> None:
    for namespace in [namespace for namespace, items in other._data.items() if not items]:
        del other._data[namespace]


def test_every_operation_answers_as_the_store_in_memory(store: BaseStore) -> None:
    other = InMemoryStore()
    choose = random.Random(16)
    for _ in range(40):
        ops = some_batch(choose)
        assert contents_of(store.batch(ops)) == contents_of(other.batch(ops)), ops
        forget_empty_namespaces(other)
        listing = [some_listing(choose)]
        assert store.batch(listing) == other.batch(listing), listing


def contents_of(results: list[Any]) -> list[Any]:
    return [contents(result) for result in results]


@pytest.mark.parametrize("wanted", FILTERS, ids=str)
def test_a_filter_selects_what_the_store_in_memory_selects(
    store: BaseStore, wanted: dict[str, Any] | None
) -> None:
    other = InMemoryStore()
    for each in (store, other):
        for number, value in enumerate(VALUES[:3]):
            each.put(("users",), str(number), value)
    assert contents(store.search(("users",), filter=wanted)) == contents(
        other.search(("users",), filter=wanted)
    )


def test_what_has_no_number_is_neither_smaller_nor_greater(store: BaseStore) -> None:
    store.put(("users",), "a", {"n": "many"})
    store.put(("users",), "b", {})
    assert store.search(("users",), filter={"n": {"$gt": 0}}) == []
    with pytest.raises(ValueError, match=r"Unknown operator \$near"):
        store.search(("users",), filter={"n": {"$near": 0}})


def test_a_put_replaces_the_whole_value_and_keeps_the_time_of_creation(store: BaseStore) -> None:
    store.put(("users",), "ada", {"a": 1, "b": 2})
    first = store.get(("users",), "ada")
    store.put(("users",), "ada", {"b": 3})
    second = store.get(("users",), "ada")
    assert first is not None
    assert second is not None
    assert second.value == {"b": 3}
    assert second.created_at == first.created_at <= first.updated_at <= second.updated_at
    assert second.created_at.tzinfo is not None


def test_a_query_orders_items_of_the_prefix_and_pages_hold_each_once(store: BaseStore) -> None:
    for number in range(8):
        store.put(("users", "ada"), f"boat {number}", {"text": "a red boat"})
        store.put(("users", "bob"), f"tea {number}", {"text": "green tea"})
    store.put(("users", "ada"), "drink", {"text": "green tea in the morning"})
    first, *others = store.search(("users", "ada"), query="green tea?", limit=5)
    assert (first.key, first.score is not None) == ("drink", True)
    assert [item.score for item in others] == [None] * 4
    rest = store.search(("users", "ada"), query="green tea?", limit=5, offset=5)
    assert len({item.key for item in [first, *others, *rest]}) == 9
    assert len(store.search(("users",), query="?!")) == 10


def test_asynchronous_calls_answer_as_the_others(store: BaseStore) -> None:
    async def use() -> Any:
        await asyncio.gather(*(store.aput(("n",), str(n), {"n": n}) for n in range(9)))
        await store.adelete(("n",), "0")
        items = await store.asearch(("n",), filter={"n": {"$lt": 3}})
        return sorted(item.key for item in items), await store.alist_namespaces()

    assert asyncio.run(use()) == (["1", "2"], [("n",)])


def test_bad_namespaces_and_times_to_live_are_refused(store: BaseStore) -> None:
    for namespace in [(), ("a.b",), ("",), ("langgraph",)]:
        with pytest.raises(InvalidNamespaceError):
            store.put(namespace, "key", {})
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("a.b",), "key", {})])
    with pytest.raises(NotImplementedError):
        store.put(("a",), "key", {}, ttl=5)
    assert store.list_namespaces() == []
