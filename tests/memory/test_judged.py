"""What a model's memory does to what a person has reviewed or retracted, by each way of writing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import kiprdf
from kiprdf import KipError, Nexus
from kiprdf.memory import Memory
from tests.cases import each_case
from tests.nexus.support import copied

Way = Callable[[Memory], Any]


def edge(memory: Memory, weight: float) -> str:
    user, docker = (memory.entity(name) for name in ("Primary User", "Docker"))
    assert user is not None
    assert docker is not None
    return memory.upsert_edge(user.id, "uses", docker.id, weight, {})


WAYS: dict[str, Way] = {
    "merge another into it": lambda memory: memory.merge("Podman", "Docker"),
    "merge it away": lambda memory: memory.merge("Docker", "Podman"),
    "decay": lambda memory: memory.decay(10),
    "rebuild": lambda memory: memory.rebuild(),
    "import": lambda memory: memory.import_(memory.export()),
    "import of nothing": lambda memory: memory.import_(
        {**memory.export(), "entities": [], "edges": []}
    ),
    "import with merge": lambda memory: memory.import_(memory.export(), merge=True),
    "forget": lambda memory: memory.forget("one"),
    "erase": lambda memory: memory.erase("one"),
    "a note that states it": lambda memory: memory.add("I use Docker.", session="z"),
    "a note that ends it": lambda memory: memory.add("I switched from Docker to Nomad."),
    "an entity": lambda memory: memory.upsert_entity("tool", "Docker", {"x": 1}),
    "a stronger edge": lambda memory: edge(memory, 1.0),
    "a weaker edge": lambda memory: edge(memory, 0.1),
}
ELEMENTS = {
    "edge": '?x ({type: "User"}, "uses", {type: "Tool", name: "Docker"})',
    "entity": '?x {type: "Tool", name: "Docker"}',
    "note": '?x {type: "MemoryItem", name: "one"}',
}
REFUSED = {
    "edge": {"merge it away", "import of nothing", "forget", "erase"},
    "entity": {"merge it away", "import of nothing", "forget", "erase"},
    "note": {"forget", "erase"},
}
"""What would delete the element, or merge it away."""
CHANGED = {
    "edge": {
        *("merge another into it", "decay", "import", "import with merge"),
        *("a note that states it", "a note that ends it", "a stronger edge", "a weaker edge"),
    },
    "entity": {
        *("merge another into it", "import", "an entity"),
        *("a note that states it", "a note that ends it"),
    },
    "note": set[str](),
}
"""What changes a value, and so makes active what is reviewed."""


def ids(nexus: Nexus) -> list[str]:
    concepts, links = "FIND(?x.id) WHERE { ?x {} }", "FIND(?x.id) WHERE { ?x (?a, ?p, ?b) }"
    return [*nexus.execute(concepts), *nexus.execute(links)]


@pytest.fixture(scope="module")
def remembered() -> Nexus:
    nexus = Nexus.memory()
    memory = Memory(nexus)
    memory.add("I use Docker.", id="one", timestamp="2020-01-01")
    memory.add("I use Podman.", id="two", timestamp="2020-01-01")
    return nexus


@each_case("of", ELEMENTS)
@each_case("way", WAYS)
@pytest.mark.parametrize("status", ["reviewed", "retracted"])
def test_a_model_follows_the_judgement_of_a_person(
    remembered: Nexus, of: str, way: str, status: str
) -> None:
    if of == "note" and way not in ("forget", "erase", "rebuild", "import of nothing"):
        return
    with copied(remembered) as nexus:
        memory = Memory(nexus)
        with nexus.acting(author="ada", kind="human"):
            nexus.execute(
                f"UPDATE ?x SET METADATA {{ status: :s }} WHERE {{ {ELEMENTS[of]} }}", s=status
            )
        commit, is_refused = nexus.info()["commit"], way in REFUSED[of]
        with nexus.acting(author="claude", session="chat"):
            if is_refused:
                with pytest.raises(KipError, match="only a person") as raised:
                    WAYS[way](memory)
                assert raised.value.code == "KIP_3004"
            else:
                WAYS[way](memory)
        noted = [(line["principal"], line["session"]) for line in nexus.refusals()]
        assert noted == ([("model/claude", "chat")] if is_refused else [])
        assert not is_refused or nexus.info()["commit"] == commit
        find = f"FIND(?x.metadata.status, ?x.metadata.retracted_by) WHERE {{ {ELEMENTS[of]} }}"
        ((now,), (by,)) = nexus.execute(find)
        if status == "retracted":
            assert (now, by) == ("retracted", "human/ada")
        else:
            assert now == ("active" if way in CHANGED[of] else "reviewed")
        if is_refused:  # the positive control: the person may
            (id,) = nexus.execute(f"FIND(?x.id) WHERE {{ {ELEMENTS[of]} }}")
            assert id in ids(nexus)
            WAYS[way](memory)
            assert id not in ids(nexus)


@pytest.mark.parametrize("merge", [False, True])
def test_an_import_of_a_model_brings_no_judgement_and_may_name_notes_of_elsewhere(
    remembered: Nexus, merge: bool
) -> None:
    document = Memory(remembered).export()
    claims = {"status": "reviewed", "retracted_by": "human/ada", "author": "ada", "_actor": "x"}
    for one in (*document["edges"], *document["entities"]):
        one |= claims
        one["metadata"] = dict(claims)
    for each in document["edges"]:
        each["evidence"] |= {**claims, "memory_id": "elsewhere", "memory_ids": ["elsewhere"]}
    with Nexus.memory() as nexus:
        memory = Memory(nexus)
        with nexus.acting(author="ada", kind="human"):
            memory.upsert_entity("tool", "Docker")
        with nexus.acting(author="claude"):
            memory.import_(document, merge=merge)
        assert memory.get("elsewhere") is None
        assert len(memory.edges()) == 2
        assert {one.evidence["memory_id"] for one in memory.edges()} == {"elsewhere"}
        written = nexus.execute('FIND(?l.metadata) WHERE { ?l (?u, "uses", ?t) }')
        written += nexus.execute('FIND(?t.metadata) WHERE { ?t {type: "Tool"} }')
        assert [(one["_actor"], one.get("status")) for one in written] == [
            ("model/claude", None)
        ] * 4
        assert all(one.get("author") != "ada" and "retracted_by" not in one for one in written)
        (entity,) = (one for one in memory.entities() if one.name == "Docker")
        assert entity.metadata["status"] == "reviewed"  # a value among others, of no effect
        assert kiprdf.trust(nexus, "C:Tool/Docker") == "active"
