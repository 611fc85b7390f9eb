"""Every way of writing refuses who may only read, and notes it; a new way is not forgotten here."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kiprdf import KipError, Nexus, chunks
from kiprdf.async_nexus import AsyncNexus
from kiprdf.chunks import transfer
from kiprdf.memory import AsyncMemory, Memory
from kiprdf.memory.functions import MemoryFunctions
from tests.nexus.support import dataset

SCHEMA = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Person"} }
  CONCEPT { {type: "$ConceptType", name: "Domain"} }
  CONCEPT { {type: "$PropositionType", name: "belongs_to_domain"} }
}"""
DOMAIN = 'UPSERT { CONCEPT { {type: "Domain", name: "CoreSchema"} } }'
PEOPLE = """UPSERT {
  CONCEPT { {type: "Person", name: "Ada"} SET ATTRIBUTES { age: 36 } }
  CONCEPT { {type: "Person", name: "Ann"} }
}"""
TEXT = 'UPSERT { CONCEPT { {type: "Person", name: "Bo"} } }'
RULE = "start {} => Person Bo {@module memory; @do put; age 7}, start {@do clear}"
FOAF = '<urn:x:1> a <http://xmlns.com/foaf/0.1/Person> ; <http://xmlns.com/foaf/0.1/name> "Bo" .'
SHAPES = "<urn:x:shape> <http://www.w3.org/ns/shacl#targetNode> <urn:x:1> ."
NANOPUBLICATION = """@prefix : <urn:x:np/> . @prefix np: <http://www.nanopub.org/nschema#> .
:h { : a np:Nanopublication ; np:hasAssertion :a ; np:hasProvenance :p ; np:hasPublicationInfo :i }
:a { <urn:x:1> <urn:x:knows> <urn:x:2> } :p { :a <urn:x:of> <urn:x:3> } :i { : <urn:x:of> :a }"""
CLASS = "<urn:x:Lake> a <http://www.w3.org/2002/07/owl#Class> ."
PATCH = 'A <urn:kip:nexus/Person/Ann> <urn:kip:attribute/age> "7" .\n'
ERASURES = f"kiprdf erasures 1\n{hashlib.sha256(b'kiprdf erasure C:Person/Ann').hexdigest()}\n"
MESSAGES = [{"role": "user", "content": "I use Zed."}]
AGE = ("C:Person/Ada", "attributes.age", 36)


class World:
    """A nexus with something to change by each way of writing."""

    def __init__(self, nexus: Nexus) -> None:
        self.nexus = nexus
        for text in (SCHEMA, DOMAIN, PEOPLE):
            nexus.execute(text)
        self.commit = nexus.info()["commit"]
        self.memory = Memory(nexus)
        for name in ("Docker", "Podman"):
            self.memory.add(f"I use {name}.", id=name, timestamp="2020-01-01")
        self.memory.upsert_entity("tool", "Kept")  # a rebuild leaves it out
        self.rejection = nexus.reject(("C:Person/Ada", "attributes.age", 6), reason="A joke.")
        with nexus.acting(author="bot", access="propose"):
            self.proposals = [str(nexus.execute(TEXT)["proposed"]) for _ in range(2)]
        self.other = Nexus.memory(genesis=False, history=True)
        self.log = Path(tempfile.mkdtemp()) / "log.rdfp"
        weakref.finalize(self, shutil.rmtree, self.log.parent)
        with Nexus.memory(history=True) as followed:
            followed.execute(TEXT)
            followed.snapshot(history=self.log)
        self.branch = nexus.snapshot().replace("attr:age 36", "attr:age 37")

    def id_of(self, name: str) -> str:
        entity = self.memory.entity(name)
        assert entity is not None
        return entity.id


def of_request(answer: Any) -> Any:
    """The result of a request; its error is raised, as a call of the library does."""
    if "error" in answer:
        raise KipError(answer["error"]["code"], answer["error"]["message"])
    return answer["result"]


def run_rule(world: World) -> object:
    engine = chunks.Engine(RULE, modules={"memory": world.nexus})
    engine.goal("start {}")
    fired = engine.run()
    if engine.module("memory").status == "forbidden":
        raise KipError("KIP_3004", "What a rule may not do is the status of its module.")
    return fired


def await_(world: World, name: str, *arguments: Any, **named: Any) -> object:
    """A method of ``AsyncNexus`` or ``AsyncMemory``."""
    nexus = AsyncNexus(world.nexus)
    kind, _, name = name.rpartition(".")
    awaited = AsyncMemory(nexus) if kind == "AsyncMemory" else nexus
    return asyncio.run(getattr(awaited, name)(*arguments, **named))


Way = Callable[[World], object]
NEXUS: dict[str, Way] = {
    "execute": lambda world: world.nexus.execute(TEXT),
    "answer": lambda world: world.nexus.answer(TEXT),
    "execute_kip": lambda world: of_request(world.nexus.execute_kip({"command": TEXT})),
    "transaction": lambda world: world.nexus.transaction(lambda tx: tx.execute(TEXT)),
    "load": lambda world: world.nexus.load([("Person", "Bo")]),
    "apply_capsule": lambda world: world.nexus.apply_capsule(TEXT),
    "apply_patch": lambda world: world.nexus.apply_patch(PATCH),
    "restore": lambda world: Nexus.restore(world.other, world.nexus.snapshot()),
    "import_rdf": lambda world: world.nexus.import_rdf(FOAF, mapping="foaf"),
    "import_ontology": lambda world: world.nexus.import_ontology(CLASS),
    "import_nanopublications": lambda world: world.nexus.import_nanopublications(NANOPUBLICATION),
    "undo": lambda world: world.nexus.undo(seq=world.commit),
    "reject": lambda world: world.nexus.reject(AGE, reason="She is older."),
    "merge": lambda world: world.nexus.merge(world.branch),
    "follow": lambda world: world.nexus.follow(world.log),
    "lift": lambda world: world.nexus.lift(world.rejection),
    "forget": lambda world: world.nexus.forget(["C:Person/Ann"]),
    "apply_erasures": lambda world: world.nexus.apply_erasures(ERASURES),
    "compact_history": lambda world: world.nexus.compact_history(world.nexus.info()["commit"]),
    "approve": lambda world: world.nexus.approve(world.proposals[0]),
    "decline": lambda world: world.nexus.decline(world.proposals[1], "No."),
    "optimize": lambda world: world.nexus.optimize(),
    "set_shapes": lambda world: world.nexus.set_shapes(SHAPES),
}
"""The methods of a nexus that write."""
MEMORY: dict[str, Way] = {
    "add": lambda world: world.memory.add("I use Vim."),
    "add_many": lambda world: world.memory.add_many(["I use Vim."]),
    "add_messages": lambda world: world.memory.add_messages(MESSAGES, session="s"),
    "grow": lambda world: world.memory.grow(
        replace(item, content="I use Vim.") for item in world.memory.items()
    ),
    "forget": lambda world: world.memory.forget("Docker"),
    "erase": lambda world: world.memory.erase("Docker"),
    "rebuild": lambda world: world.memory.rebuild(),
    "upsert_entity": lambda world: world.memory.upsert_entity("tool", "Emacs"),
    "upsert_edge": lambda world: world.memory.upsert_edge(
        world.id_of("Primary User"), "prefers", world.id_of("Docker"), 0.5, {}
    ),
    "decay": lambda world: world.memory.decay(10),
    "merge": lambda world: world.memory.merge("Podman", "Docker"),
    "import_": lambda world: world.memory.import_(world.memory.export()),
}
"""The methods of a memory that write."""
OTHERS: dict[str, Way] = {
    "a batch": lambda world: of_request(
        of_request(world.nexus.execute_kip({"commands": ["DESCRIBE DOMAINS", TEXT]}))[-1]
    ),
    "the elements of a transaction": lambda world: world.nexus.transaction(
        lambda tx: tx.write([{"type": "Person", "name": "Bo"}])
    ),
    "a rule": run_rule,
    "chunks": lambda world: transfer.to_nexus(chunks.Graph("Person Bo {age 7}"), world.nexus),
    "the function remember": lambda world: of_request(
        MemoryFunctions(world.nexus).call("remember", {"text": "I use Vim."})
    ),
    "AsyncNexus.execute": lambda world: await_(world, "execute", TEXT),
    "AsyncNexus.forget": lambda world: await_(world, "forget", ["C:Person/Ann"]),
    "AsyncMemory.add": lambda world: await_(world, "AsyncMemory.add", "I use Vim."),
}
WAYS = {
    **{f"Nexus.{name}": way for name, way in NEXUS.items()},
    **{f"Memory.{name}": way for name, way in MEMORY.items()},
    **OTHERS,
}

NEXUS_READS = {
    *("execute_kip_readonly", "find", "believed", "diagnose", "explain", "sparql", "request"),
    *("export", "snapshot", "write_snapshot", "sign", "publish", "schema", "shapes"),
    "provenance",
    *("context", "wikibase", "to_rdflib", "patch_to", "diff", "at", "history", "id_of", "changes"),
    *("conflicts", "nanopublication", "receipt"),
    *("rejections", "refusals", "validity", "erasures", "proposals", "proposal", "info", "names"),
    *(
        "backup",
        "branch",
        "problems",
        "acting",
        "limited",
        "why",
        "draw",
        "shapes_set",
        "check_shapes",
    ),
    # They change no knowledge: the index of the text, and files that can be made again.
    *("build_index", "embed", "check"),
    # They open a nexus, or a new one; who does is the owner.
    *("open", "connect", "memory", "from_rdflib", "rebuild", "verify_history", "close"),
}
MEMORY_READS = {
    *("get", "items", "extract", "entities", "edges", "entity", "search", "neighbors", "stats"),
    *("context", "recall", "contradictions", "export", "export_file"),
}


@pytest.mark.parametrize(
    ("of", "writes", "reads"), [(Nexus, NEXUS, NEXUS_READS), (Memory, MEMORY, MEMORY_READS)]
)
def test_each_public_method_writes_and_is_tried_or_reads(
    of: type, writes: dict[str, Way], reads: set[str]
) -> None:
    """Who adds a method says here what it does: one that writes has to be refused, and noted."""
    public = {name for name in dir(of) if name[0] != "_" and callable(getattr(of, name))}
    assert public == {*writes, *reads}
    assert not reads & writes.keys()


@pytest.fixture
def world() -> Iterator[World]:
    with Nexus.memory(genesis=False, history=True) as nexus:
        yield World(nexus)


def state(nexus: Nexus) -> tuple[Any, ...]:
    """What a write may change."""
    earliest = nexus.changes(limit=1)["earliest_seq"]
    return dataset(nexus), nexus.proposals(all=True), earliest, nexus.shapes_set()


@pytest.mark.parametrize("way", WAYS)
def test_who_reads_is_refused_and_it_is_noted_once(world: World, way: str) -> None:
    nexus = world.other if way == "Nexus.restore" else world.nexus
    before = state(nexus)
    with nexus.acting(author="claude", session="chat", access="read"), pytest.raises(KipError):
        WAYS[way](world)
    (line,) = nexus.refusals()
    assert (line["principal"], line["session"]) == ("model/claude", "chat")
    assert line["code"] == "KIP_3004"
    assert state(nexus) == before
    WAYS[way](world)  # the positive control: the owner may
    assert len(nexus.refusals()) == 1
    assert (state(nexus) == before) == (way == "Nexus.optimize")
