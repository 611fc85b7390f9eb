"""The store of docs/how-to/langgraph.md over several nexuses: nobody finds what is not theirs."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import (
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
from tests.adapters.test_langgraph import contents_of, forget_empty_namespaces

CODE = code_of("langgraph.md", 2)
ScopedStore, NexusStore = CODE["ScopedStore"], CODE["NexusStore"]
SCOPES = ("team", "ada", "bob")
SECRET = {"text": "the quince is ripe"}


@pytest.fixture
def brains(tmp_path: Path) -> Iterator[kiprdf.Brains]:
    with kiprdf.Brains(tmp_path / "brains") as brains:
        for name in SCOPES:
            brains.add(name)
        yield brains


def paths_in(nexus: kiprdf.Nexus) -> list[str]:
    paths: list[str] = nexus.execute('FIND(?i.name) WHERE { ?i {} FILTER(?i.type == "StoreItem") }')
    return sorted(paths)


def some_ops(choose: random.Random, at: int) -> list[Any]:
    """Operations in the namespaces of all scopes, and in some that are none."""

    def namespace() -> tuple[str, ...]:
        before = [choose.choice(["notes", "memories"]) for _ in range(at)]
        after = choose.choice([[], ["day"], ["ada"], ["team", "bob"]])
        return (*before, choose.choice([*SCOPES, "eve"]), *after)

    def prefix() -> tuple[str, ...]:
        return namespace()[: choose.randint(0, 4)]

    key, value = choose.choice(["a", "b/c"]), {"n": choose.randint(1, 3)}
    conditions = [
        MatchCondition("prefix", prefix()),
        MatchCondition("prefix", ("*",) * choose.randint(1, 3)),
        MatchCondition("suffix", prefix()[-1:]),
    ]
    return [
        PutOp(namespace(), key, choose.choice([value, value, None])),
        GetOp(namespace(), key),
        SearchOp(prefix(), choose.choice([None, {"n": 2}]), 1000),
        SearchOp(prefix(), None, 1000, query="green tea"),
        ListNamespacesOp(
            tuple(choose.sample(conditions, choose.randint(0, 2))), choose.choice([None, 1, 2])
        ),
    ]


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_user_sees_what_a_store_has_that_holds_her_scopes_alone(
    brains: kiprdf.Brains, at: int
) -> None:
    stores = {"ada": ("team", "ada"), "bob": ("team", "bob"), "all": SCOPES}
    ours = {name: ScopedStore(brains, at, read=read) for name, read in stores.items()}
    theirs = {name: InMemoryStore() for name in stores}
    choose = random.Random(41 + at)
    for _ in range(20):
        writer = choose.choice(list(stores))
        put, *questions = some_ops(choose, at)
        scope = put.namespace[at]
        if scope in stores[writer]:
            ours[writer].batch([put])
            for name, read in stores.items():
                if scope in read:
                    theirs[name].batch([put])
        else:
            with pytest.raises(kiprdf.KipError, match=f"KIP_3002 There is no nexus named '{scope}"):
                ours[writer].batch([put])
        for name in stores:
            op = choose.choice(questions)
            forget_empty_namespaces(theirs[name])
            here, there = ours[name].batch([op]), theirs[name].batch([op])
            assert contents_of(here) == contents_of(there), (name, op)


def test_the_items_of_a_scope_are_in_its_nexus_alone(brains: kiprdf.Brains) -> None:
    store = ScopedStore(brains, at=1)
    for name in SCOPES:
        store.put(("memories", name), "tea", {"text": name})
        store.put(("memories", name, "ada"), "tea", {"text": name})
    for name in SCOPES:
        assert paths_in(brains[name]) == [f"memories/{name}/ada/tea", f"memories/{name}/tea"]
    assert [item.value for item in store.search(("memories", "bob"))] == [{"text": "bob"}] * 2
    store.delete(("memories", "bob"), "tea")
    assert store.get(("memories", "bob"), "tea") is None
    assert store.get(("memories", "ada"), "tea").value == {"text": "ada"}


HOSTILE = [
    *(
        "Ada",
        "ADA",
        "\uff41da",
        "\u0430da",
        "ada ",
        " ada",
        "a\u200dda",
        "ad\u0430",
        "%61da",
        "ada%00",
    ),
    *(
        "../ada",
        "x/../ada",
        "/ada",
        "ada/",
        "ada\\",
        "bob/../ada",
        "*",
        "$self",
        "ada\n",
        "?",
        "ada*",
    ),
    *(
        "\ud800",
        "a\u0301da",
        "x" * 255,
        "x" * 256,
        "\u00fc" * 200,
        "con",
        ".removed-1",
        "StoreItem",
    ),
]


def refuses(call: Callable[[], Any], error: type[Exception]) -> bool:
    with pytest.raises(error):
        call()
    return True


@pytest.mark.parametrize("read", [None, ("team", "bob")], ids=str)
def test_labels_that_are_no_scope_lead_nowhere(
    brains: kiprdf.Brains, tmp_path: Path, read: Any
) -> None:
    ScopedStore(brains, 1).put(("memories", "ada"), "key", SECRET)
    store = ScopedStore(brains, 1, read)
    for label in HOSTILE:
        namespace = ("memories", label)
        reads = [
            partial(store.get, namespace, "key"),
            partial(store.search, namespace, query="quince"),
            partial(store.search, (*namespace, "ada")),
        ]
        if label != "*":
            reads.append(partial(store.list_namespaces, prefix=namespace))
        refused = InvalidNamespaceError if "." in label else None
        for call in reads:
            assert refuses(call, refused) if refused else not call(), label
        for write in (partial(store.put, value=SECRET), store.delete):
            assert refuses(partial(write, namespace, "key"), refused or kiprdf.KipError), label
    assert brains.names() == sorted(SCOPES)
    assert sorted(path.name for path in (tmp_path / "brains").iterdir()) == sorted(SCOPES)
    assert paths_in(brains["ada"]) == ["memories/ada/key"]


def test_empty_labels_and_dots_are_refused(brains: kiprdf.Brains) -> None:
    store = ScopedStore(brains, 1)
    store.put(("memories", "ada"), "key", SECRET)
    for namespace in (("notes", "", "ada"), ("notes", "ada", ""), ("", "ada"), ("notes", "a.b")):
        for op in (
            PutOp(namespace, "key", {}),
            GetOp(namespace, "key"),
            SearchOp(namespace),
            ListNamespacesOp((MatchCondition("prefix", namespace),)),
        ):
            with pytest.raises(InvalidNamespaceError):
                store.batch([op])
    assert store.get(("memories", "ada"), "key").value == SECRET


def test_a_name_of_255_bytes_is_a_scope(brains: kiprdf.Brains) -> None:
    long = "ü" * 127 + "x"
    brains.add(long)
    store = ScopedStore(brains, 1)
    store.put(("memories", long), "key", SECRET)
    assert store.get(("memories", long), "key").value == SECRET
    assert store.list_namespaces(prefix=("memories", long)) == [("memories", long)]


def test_without_lists_an_operation_names_its_scope(brains: kiprdf.Brains) -> None:
    store = ScopedStore(brains, 1)
    store.put(("memories", "ada"), "key", SECRET)
    spanning = [
        partial(store.search, ()),
        partial(store.search, ("memories",), query="quince"),
        partial(store.list_namespaces),
        partial(store.list_namespaces, prefix=("memories", "*")),
        partial(store.list_namespaces, suffix=("ada",)),
    ]
    for call in spanning:
        with pytest.raises(InvalidNamespaceError, match="Label 1 names no scope"):
            call()
    with pytest.raises(InvalidNamespaceError, match="names no scope: it has no label 1"):
        store.put(("ada",), "key", SECRET)
    assert store.get(("ada",), "key") is None
    assert store.list_namespaces(prefix=("memories", "ada")) == [("memories", "ada")]


def test_an_item_in_another_nexus_is_no_claim(brains: kiprdf.Brains) -> None:
    """What a writer stores in KIP under the namespace of another is not read as hers."""
    NexusStore(brains["bob"]).put(("memories", "ada"), "key", {"text": "a forged quince"})
    NexusStore(brains["team"]).put(("memories", "ada"), "key", {"text": "a forged quince"})
    NexusStore(brains["ada"]).put(("memories", "team"), "key", {"text": "a forged quince"})
    every = ScopedStore(brains, 1, read=SCOPES)
    for store in (every, ScopedStore(brains, 1, read=("team", "ada"))):
        assert store.get(("memories", "ada"), "key") is None
        for query in (None, "quince"):
            assert store.search(("memories",), query=query) == []
            assert store.search((), query=query) == []
        assert store.list_namespaces() == []
        assert store.list_namespaces(max_depth=1) == []
    every.put(("memories", "ada"), "key", SECRET)
    for query in (None, "quince"):
        assert [item.value for item in every.search((), query=query)] == [SECRET]
    assert every.list_namespaces(max_depth=1) == [("memories",)]


def test_several_scopes_are_ranked_together_and_in_pages(brains: kiprdf.Brains) -> None:
    store = ScopedStore(brains, 1, read=("team", "ada", "team"))
    for number in range(6):
        store.put(("memories", "team"), f"boat {number}", {"text": "a red boat"})
        store.put(("memories", "ada"), f"tea {number}", {"text": "green tea"})
    store.put(("memories", "team"), "drink", {"text": "green tea and quince in the morning"})
    first, *others = store.search(("memories",), query="quince", limit=5)
    assert (first.namespace, first.key) == (("memories", "team"), "drink")
    assert [item.score for item in others] == [None] * 4
    pages = [store.search(("memories",), query="quince", limit=5, offset=o) for o in (0, 5, 10)]
    assert [len(page) for page in pages] == [5, 5, 3]
    assert len({(item.namespace, item.key) for page in pages for item in page}) == 13
    newest = store.search(("memories",), limit=13)
    times = [item.updated_at for item in newest]
    assert times == sorted(times, reverse=True)
    assert {item.namespace for item in newest[:12]} == {("memories", "team"), ("memories", "ada")}


def test_what_is_only_read_is_not_written_and_nothing_of_the_batch_is(brains: Any) -> None:
    ScopedStore(brains, 0).put(("team",), "key", SECRET)
    store = ScopedStore(brains, 0, read=("team", "ada"), write=("ada",))
    own = PutOp(("ada",), "key", {"n": 1})
    for value in ({"n": 1}, None):
        with pytest.raises(kiprdf.KipError, match=r"KIP_3004 The scope 'team' is only read here"):
            store.batch([own, PutOp(("team",), "key", value)])
    with pytest.raises(kiprdf.KipError, match="KIP_3002 There is no nexus named 'bob'"):
        store.batch([own, PutOp(("bob",), "key", {"n": 1})])
    assert store.get(("ada",), "key") is None
    assert store.get(("team",), "key").value == SECRET
    store.batch([own])
    assert store.get(("ada",), "key").value == {"n": 1}


def test_a_scope_that_was_removed_is_empty_and_does_not_return(brains: kiprdf.Brains) -> None:
    store = ScopedStore(brains, 1)
    of_all = ScopedStore(brains, 1, read=SCOPES)
    store.put(("memories", "ada"), "key", SECRET)
    store.put(("memories", "team"), "key", {"text": "a quince tree"})
    assert len(of_all.search((), query="quince")) == 2
    brains.remove("ada")
    assert store.get(("memories", "ada"), "key") is None
    assert [item.namespace[1] for item in of_all.search((), query="quince")] == ["team"]
    with pytest.raises(kiprdf.KipError, match="KIP_3002"):
        store.put(("memories", "ada"), "key", SECRET)
    assert brains.names() == ["bob", "team"]
    brains.add("ada")
    assert store.search(("memories", "ada")) == []


def test_reading_writes_nothing_and_keeps_open_what_a_query_spans(tmp_path: Path) -> None:
    with kiprdf.Brains(tmp_path, most_open=1) as brains:
        for name in ("a", "b", "c"):
            brains.add(name)
        store = ScopedStore(brains, 0, read=("a", "b", "c"))
        before = [brains[name].info()["commit"] for name in brains.names()]
        assert store.search(()) == store.list_namespaces() == []
        assert [brains[name].info()["commit"] for name in brains.names()] == before
        for name in brains.names():
            store.put((name,), "key", SECRET)
            assert len(store.search((name,), query="quince")) == 1
        brains["a"]
        assert still_open(brains) == ["a"]
        assert len(store.search((), query="quince")) == 3
        brains["a"]
        assert still_open(brains) == ["a", "b", "c"]


def still_open(brains: kiprdf.Brains) -> list[str]:
    return sorted(name for name, nexus in brains._open.items() if not nexus.store.closed)


def test_a_query_that_spans_scopes_follows_them(brains: kiprdf.Brains) -> None:
    store = ScopedStore(brains, 1, read=SCOPES)
    assert store.search((), query="quince") == []
    view = store._view
    for name in SCOPES:
        store.put(("memories", name), "key", SECRET)
        store.put(("memories", name), "other", {"text": "tea"})
    best = store.search((), query="quince", limit=3)
    assert sorted(item.namespace[1] for item in best) == sorted(SCOPES)
    assert all(item.score for item in best)
    assert store._view is view
    brains.remove("bob")
    assert [item.key for item in store.search((), query="quince", limit=2)] == ["key", "key"]
    brains.add("bob")
    assert len(store.search((), query="quince", limit=9)) == 4
    store.put(("memories", "bob"), "key", SECRET)
    assert len([item for item in store.search((), query="quince") if item.score]) == 3


def test_asynchronous_calls_stay_in_their_scopes(brains: kiprdf.Brains) -> None:
    store = ScopedStore(brains, 1)

    async def use() -> list[Any]:
        names = [SCOPES[number % 3] for number in range(12)]
        await asyncio.gather(
            *(store.aput(("memories", name), str(n), {"of": name}) for n, name in enumerate(names))
        )
        return await asyncio.gather(*(store.asearch(("memories", name)) for name in SCOPES))

    for name, items in zip(SCOPES, asyncio.run(use()), strict=True):
        assert [item.value for item in items] == [{"of": name}] * 4


def test_an_item_of_a_shared_scope_has_its_author(brains: kiprdf.Brains) -> None:
    store, team = ScopedStore(brains, 1), brains["team"]
    with team.acting(author="ada", session="s-1"):
        store.put(("memories", "team"), "a", SECRET)
        asyncio.run(store.aput(("memories", "team"), "b", SECRET))
        store.put(("memories", "bob"), "c", SECRET)  # another nexus, in which nobody is named
    ask = 'FIND(?i.metadata._actor) WHERE { ?i {type: "StoreItem"} }'
    assert team.execute(ask) == ["model/ada"] * 2
    assert brains["bob"].execute(ask) == [None]
    assert {commit["session"] for commit in team.changes(author="ada")["commits"]} == {"s-1"}
    assert store.get(("memories", "team"), "a").value == SECRET
    team.undo(session="s-1")
    assert store.search(("memories", "team")) == []
    assert store.get(("memories", "bob"), "c").value == SECRET
