"""Where the shapes of a nexus are kept, and that every way of writing obeys them."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
import rdflib

from kiprdf import KipError, Nexus, StoreError, View, chunks
from kiprdf.async_nexus import AsyncNexus
from kiprdf.chunks import transfer
from kiprdf.copying import copy_element
from kiprdf.memory import Memory
from kiprdf.memory.functions import MemoryFunctions
from tests.nexus.support import dataset

SHAPES = """@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix a: <urn:kip:attribute/> .
@prefix p: <urn:kip:nexus/$PropositionType/> .
@prefix t: <urn:kip:nexus/$ConceptType/> .

<urn:shape:Name> a sh:NodeShape ; sh:targetClass t:Drug , t:Tool , t:Person ;
  sh:property [ sh:path rdfs:label ; sh:pattern "^[^E]" ;
    sh:message "No name begins with E." ; sh:agentInstruction "Use another name." ] .
<urn:shape:Drug> a sh:NodeShape ; sh:targetClass t:Drug ;
  sh:property [ sh:path a:risk ; sh:minCount 1 ; sh:maxInclusive 5 ;
    sh:message "A drug has a risk of at most 5." ;
    sh:agentInstruction "SET ATTRIBUTES {risk: 2}" ] ;
  sh:property [ sh:path p:treats ; sh:maxCount 1 ; sh:message "A drug treats one symptom." ] .
"""
SCHEMA = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} }
  CONCEPT { {type: "$ConceptType", name: "Symptom"} }
  CONCEPT { {type: "$PropositionType", name: "treats"} }
}"""
DRUGS = """UPSERT {
  CONCEPT ?headache { {type: "Symptom", name: "Headache"} }
  CONCEPT ?fever { {type: "Symptom", name: "Fever"} }
  CONCEPT { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES {risk: 2}
            SET PROPOSITIONS { ("treats", ?headache) } }
  CONCEPT { {type: "Drug", name: "ASA"} SET ATTRIBUTES {risk: 2}
            SET PROPOSITIONS { ("treats", ?fever) } }
}"""
LOWER = 'UPDATE ?d SET ATTRIBUTES {risk: 1} WHERE { ?d {type: "Drug", name: "Aspirin"} }'
WRONG = 'UPSERT { CONCEPT { {type: "Drug", name: "Bad"} SET ATTRIBUTES {risk: 9} } }'
RIGHT = 'UPSERT { CONCEPT { {type: "Drug", name: "Good"} SET ATTRIBUTES {risk: 3} } }'
RULE = "start {} => Drug {@module memory; @do put; @id Bad; risk 9}, start {@do clear}"
FOAF = '<urn:x:1> a <http://xmlns.com/foaf/0.1/Person> ; <http://xmlns.com/foaf/0.1/name> "Eve" .'
PATCH = """D <urn:kip:nexus/Drug/Aspirin> <urn:kip:attribute/risk> "2" .
A <urn:kip:nexus/Drug/Aspirin> <urn:kip:attribute/risk> "9" .
""".replace('"2"', '"2"^^<http://www.w3.org/2001/XMLSchema#integer>').replace(
    '"9"', '"9"^^<http://www.w3.org/2001/XMLSchema#integer>'
)
MESSAGES = [{"role": "user", "content": "I use Emacs."}]


class World:
    """A nexus whose drugs fit the shapes."""

    def __init__(self) -> None:
        self.nexus = Nexus.memory(history=True)
        for text in (SCHEMA, DRUGS):
            self.nexus.execute(text)
        self.memory = Memory(self.nexus)
        self.memory.upsert_entity("tool", "Docker")
        self.nexus.set_shapes(SHAPES)

    @cached_property
    def other(self) -> Nexus:
        """What does not fit the shapes."""
        other = Nexus.memory()
        for text in (SCHEMA, DRUGS, WRONG):
            other.execute(text)
        return other

    def undo(self) -> object:
        """A commit that gave a drug the risk that it must have, taken back."""
        self.nexus.set_shapes(None)
        self.nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "New"} } }')
        self.nexus.execute(
            'UPSERT { CONCEPT { {type: "Drug", name: "New"} SET ATTRIBUTES {risk: 1} } }'
        )
        seq = self.nexus.info()["commit"]
        self.nexus.set_shapes(SHAPES)
        return self.nexus.undo(seq=seq)


def of_request(answer: Any) -> Any:
    if "error" in answer:
        raise KipError(answer["error"]["code"], answer["error"]["message"])
    return answer["result"]


def run_rule(world: World) -> object:
    engine = chunks.Engine(RULE, modules={"memory": world.nexus})
    engine.goal("start {}")
    fired = engine.run()
    return fired if engine.module("memory").status == "okay" else None


def through_a_view(world: World) -> object:
    team = Nexus.memory()
    team.execute(SCHEMA)
    return View([team, world.nexus], write=world.nexus).execute(WRONG)


Way = Callable[[World], object]
# The patch is first: it needs the value that others change.
WAYS: dict[str, Way] = {
    "patch": lambda world: world.nexus.apply_patch(PATCH),
    "UPSERT": lambda world: world.nexus.execute(WRONG),
    "UPDATE": lambda world: world.nexus.execute(LOWER.replace("1", ":risk"), risk=9),
    "DELETE ATTRIBUTES": lambda world: world.nexus.execute(
        'DELETE ATTRIBUTES {"risk"} FROM ?d WHERE { ?d {type: "Drug", name: "ASA"} }'
    ),
    "MERGE": lambda world: world.nexus.execute(
        "MERGE CONCEPT ?a INTO ?b WHERE "
        '{ ?a {type: "Drug", name: "ASA"} ?b {type: "Drug", name: "Aspirin"} }'
    ),
    "answer": lambda world: world.nexus.answer(WRONG),
    "dry run": lambda world: world.nexus.execute(WRONG, dry_run=True),
    "execute_kip": lambda world: of_request(world.nexus.execute_kip({"command": WRONG})),
    "dry run of a request": lambda world: of_request(
        world.nexus.execute_kip({"command": WRONG, "dry_run": True})
    ),
    "batch": lambda world: of_request(
        of_request(world.nexus.execute_kip({"commands": ["DESCRIBE DOMAINS", WRONG]}))[-1]
    ),
    "statement of a transaction": lambda world: world.nexus.transaction(
        lambda tx: tx.execute(WRONG)
    ),
    "elements of a transaction": lambda world: world.nexus.transaction(
        lambda tx: tx.write([{"type": "Drug", "name": "Bad", "attributes": {"risk": 9}}])
    ),
    "capsule": lambda world: world.nexus.apply_capsule(WRONG),
    "import_rdf": lambda world: world.nexus.import_rdf(FOAF, mapping="foaf"),
    "dry run of import_rdf": lambda world: world.nexus.import_rdf(
        FOAF, mapping="foaf", dry_run=True
    ),
    "undo": World.undo,
    "chunks": lambda world: transfer.to_nexus(chunks.Graph("Drug Bad {risk 9}"), world.nexus),
    "Memory.upsert_entity": lambda world: world.memory.upsert_entity("tool", "Emacs"),
    "AsyncNexus": lambda world: asyncio.run(AsyncNexus(world.nexus).execute(WRONG)),
    "copy of an element": lambda world: copy_element("Drug:Bad", world.other, world.nexus, "x"),
    "view": through_a_view,
}


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture(scope="module")
def worlds() -> tuple[World, World]:
    """One with the gate, in which nothing wrong is written, and one without, in which all is."""
    gated, free = World(), World()
    free.nexus.set_shapes(None)
    return gated, free


@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_writing_obeys_the_shapes(worlds: tuple[World, World], way: str) -> None:
    world, free = worlds
    before = dataset(world.nexus)
    with pytest.raises(KipError) as caught:
        WAYS[way](world)
    assert caught.value.code == "KIP_2002", caught.value
    assert any(
        one in caught.value.message
        for one in ("No name begins with E.", "at most 5.", "A drug treats one symptom.")
    )
    if way != "undo":  # it begins with writes
        assert dataset(world.nexus) == before
        WAYS[way](free)  # the positive control


QUIET: dict[str, Way] = {
    "a rule": run_rule,
    "Memory.add": lambda world: world.memory.add("I use Emacs."),
    "Memory.add_messages": lambda world: world.memory.add_messages(MESSAGES, session="s"),
    "remember": lambda world: of_request(
        MemoryFunctions(world.nexus).call("remember", {"text": "I use Emacs."})
    ),
}
"""Ways that go on where a part of what they write is refused."""
NAMES = "FIND(?x.name) WHERE { ?x {type: :type} FILTER(?x.name == :name) }"


@pytest.mark.parametrize("way", QUIET)
def test_what_goes_on_after_a_refusal_writes_nothing_of_it(world: World, way: str) -> None:
    type, name = ("Drug", "Bad") if way == "a rule" else ("Tool", "Emacs")
    QUIET[way](world)
    assert world.nexus.execute(NAMES, type=type, name=name) == []
    assert world.nexus.check_shapes().conforms
    if way != "a rule":
        assert [item.content for item in world.memory.items()] == ["I use Emacs."]
    world.nexus.set_shapes(None)
    for id in world.memory.items():
        world.memory.erase(id.id)
    QUIET[way](world)  # the positive control
    assert world.nexus.execute(NAMES, type=type, name=name) == [name]


def test_what_fits_is_written(world: World) -> None:
    world.nexus.execute(RIGHT)
    world.nexus.execute(LOWER)
    world.nexus.apply_patch(PATCH.replace('"9"', '"3"').replace('"2"', '"1"'))
    assert world.nexus.check_shapes().conforms


def test_a_graph_of_rdflib_has_a_gate_that_each_connection_obeys() -> None:
    graph = rdflib.Graph()
    first, second = Nexus.connect(graph), Nexus.connect(graph)
    first.execute(SCHEMA)
    second.execute(DRUGS)
    first.set_shapes(SHAPES)
    assert second.shapes_set() == SHAPES
    for nexus in (second, first, Nexus.connect(graph)):
        with pytest.raises(KipError, match="at most 5"):
            nexus.execute(WRONG)
        nexus.execute(RIGHT)
    second.set_shapes(None)
    first.execute(WRONG)


def test_a_patch_is_judged_as_a_whole(world: World) -> None:
    """It deletes the drug's only symptom's link, and states another one."""
    changed = Nexus.memory()
    changed.execute(SCHEMA)
    changed.execute(DRUGS.replace('("treats", ?headache)', '("treats", ?fever)'))
    world.nexus.set_shapes(SHAPES.replace("sh:maxCount 1", "sh:minCount 1 ; sh:maxCount 1"))
    source = world.nexus.at(world.nexus.info()["commit"])
    world.nexus.apply_patch(source.patch_to(_with(source, "fever")).text)
    assert world.nexus.check_shapes().conforms


def _with(source: Nexus, symptom: str) -> Nexus:
    """A nexus in memory with the dataset of another one, in which Aspirin treats another."""
    copy = Nexus.memory(genesis=False)
    copy.restore(source.snapshot())
    copy.execute('DELETE PROPOSITIONS ?l WHERE { ?l ({name: "Aspirin"}, "treats", ?s) }')
    copy.execute(
        'UPSERT { CONCEPT ?s { {type: "Symptom", name: "Fever"} } '
        'CONCEPT { {type: "Drug", name: "Aspirin"} SET PROPOSITIONS { ("treats", ?s) } } }'
    )
    return copy


# Erasure --------------------------------------------------------------------------------------


def test_no_shape_stops_an_erasure(world: World) -> None:
    world.nexus.set_shapes(SHAPES.replace("sh:maxCount 1", "sh:minCount 1"))
    delete = 'DELETE CONCEPT ?s DETACH WHERE { ?s {type: "Symptom", name: "Fever"} }'
    with pytest.raises(KipError) as caught:
        world.nexus.execute(delete)
    assert caught.value.code == "KIP_2002"
    assert world.nexus.forget(["C:Symptom/Fever"])["elements"] == ["C:Symptom/Fever"]
    assert world.nexus.check_shapes().counts == {"urn:shape:Drug": 1}


# Restore --------------------------------------------------------------------------------------


def test_a_nexus_with_shapes_is_empty_for_restore_which_checks_on_request(world: World) -> None:
    text = world.other.snapshot()
    target = Nexus.memory()
    target.set_shapes(SHAPES)
    with pytest.raises(KipError, match="at most 5") as caught:
        target.restore(text, check=True)
    assert caught.value.code == "KIP_2002"
    assert "Drug" not in target.execute("DESCRIBE CONCEPT TYPES")
    assert target.restore(text) > 0
    assert target.shapes_set() == SHAPES
    assert not target.check_shapes().conforms
    good = Nexus.memory()
    good.set_shapes(SHAPES)
    assert good.restore(world.nexus.snapshot(), check=True) > 0


def test_a_history_that_is_restored_does_not_change_the_shapes(tmp_path: Path) -> None:
    source = Nexus.memory(history=True)
    source.set_shapes(SHAPES)
    source.execute(SCHEMA)
    text = source.snapshot(history=tmp_path / "log.rdfp")
    without, own = Nexus.memory(history=True), Nexus.memory(history=True)
    own.set_shapes(SHAPES.replace("at most 5", "below 6"))
    for nexus, message in ((without, "at most 5"), (own, "below 6")):
        nexus.restore(text, history=tmp_path / "log.rdfp")
        with pytest.raises(KipError, match=message):
            nexus.execute(WRONG)


# Where shapes are kept ------------------------------------------------------------------------


def test_shapes_are_in_the_folder_and_its_backup_and_not_in_the_knowledge(tmp_path: Path) -> None:
    folder = tmp_path / "brain"
    (tmp_path / "shapes.ttl").write_text(SHAPES, "utf-8")
    with Nexus.open(folder) as nexus:
        before = nexus.snapshot()
        assert nexus.info()["gate"] is None
        report = nexus.set_shapes(tmp_path / "shapes.ttl")
        assert report.conforms
        assert nexus.info()["gate"] == "refuse"
        assert nexus.snapshot() == before
        nexus.backup(tmp_path / "copy")
        nexus.backup(tmp_path / "new", history=False)
        nexus.optimize()
    for place in ("brain", "copy", "new"):
        with Nexus.open(tmp_path / place) as nexus:
            assert nexus.shapes_set() == SHAPES, place
            nexus.execute(SCHEMA)
            with pytest.raises(KipError, match="at most 5"):
                nexus.execute(WRONG)
        with Nexus.open(tmp_path / place, read_only=True) as nexus:
            assert nexus.shapes_set() == SHAPES
            with pytest.raises(KipError, match="read-only"):
                nexus.set_shapes(None)
    Nexus.rebuild(folder)
    with Nexus.open(folder) as nexus:
        assert nexus.shapes_set() == SHAPES
        nexus.compact_history(nexus.info()["commit"])
        assert nexus.shapes_set() == SHAPES
        assert nexus.check()["faults"] == []


def test_the_history_says_who_set_shapes_and_has_the_earlier_ones() -> None:
    nexus = Nexus.memory(history=True)
    before = nexus.info()["commit"]
    with nexus.acting(author="ada", session="s", kind="human"):
        nexus.set_shapes(SHAPES)
    number = nexus.info()["commit"]
    nexus.set_shapes(SHAPES)
    assert nexus.info()["commit"] == number  # nothing has changed
    nexus.set_shapes(None)
    first, second = nexus.changes(since=before)["commits"]
    assert (first["kind"], first["author"], first["session"]) == ("SETTING", "ada", "s")
    assert (first["gate"], second["gate"]) == ("refuse", None)
    with nexus.at(number) as past:
        assert past.shapes_set() == SHAPES
    assert nexus.shapes_set() is None
    assert nexus.changes(until=before)["commits"][0].get("gate", "absent") == "absent"


def test_only_a_person_with_the_access_admin_sets_shapes(world: World) -> None:
    actors: list[dict[str, Any]] = [
        {"author": "bot"},
        {"author": "nightly", "kind": "job"},
        {"author": "ada", "kind": "human", "access": "write"},
        {"author": "ada", "kind": "human", "access": "propose"},
    ]
    for number, actor in enumerate(actors, 1):
        for shapes in (None, SHAPES.replace("5", "9")):
            with world.nexus.acting(**actor), pytest.raises(KipError) as caught:
                world.nexus.set_shapes(shapes)
            assert caught.value.code == "KIP_3004", actor
        assert len(world.nexus.refusals()) == 2 * number, actor
    assert world.nexus.shapes_set() == SHAPES


def test_setting_shapes_that_are_violated_reports_how_many() -> None:
    nexus = Nexus.memory()
    for text in (SCHEMA, DRUGS, WRONG, WRONG.replace("Bad", "Else")):
        nexus.execute(text)
    report = nexus.set_shapes(SHAPES)
    assert report.counts == {"urn:shape:Drug": 2, "urn:shape:Name": 1}
    assert report.conforms is False
    assert str(report) == "3 violations: <urn:shape:Drug>: 2, <urn:shape:Name>: 1"
    assert report == nexus.check_shapes()
    assert {one.element for one in report.violations} == {"C:Drug/Bad", "C:Drug/Else"}
    assert json.loads(json.dumps(report.to_json()))["counts"] == report.counts
    nexus.execute(RIGHT)  # what nobody touches may stay


def test_a_check_warns_of_what_the_nexus_lacks_by_now() -> None:
    nexus = Nexus.memory()
    lacking = nexus.set_shapes(SHAPES).warnings
    assert "The nexus has no type 'Drug'." in lacking
    for text in (SCHEMA, DRUGS):
        nexus.execute(text)
    assert nexus.check_shapes().warnings == ("The nexus has no type 'Tool'.",)


def test_shapes_whose_check_takes_too_long_are_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    nexus = Nexus.memory()

    def too_long(*arguments: Any) -> None:
        raise KipError("KIP_4001", "It took longer than its time.")

    monkeypatch.setattr("kiprdf.execution.gating.violations", too_long)
    with pytest.raises(KipError) as caught:
        nexus.set_shapes(SHAPES)
    assert (caught.value.code, nexus.shapes_set()) == ("KIP_4001", None)


def test_shapes_come_as_a_text_a_path_or_an_open_file(tmp_path: Path) -> None:
    nexus, path = Nexus.memory(), tmp_path / "shapes.ttl"
    path.write_text(SHAPES, "utf-8")
    for source in (SHAPES, path, str(path), path.open("rb")):
        nexus.set_shapes(None)
        nexus.set_shapes(source)
        assert nexus.shapes_set() == SHAPES
    for wrong in (5, "no shapes <", b"x"):
        with pytest.raises(KipError):
            nexus.set_shapes(wrong)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        nexus.set_shapes("absent.ttl")
    with pytest.raises(KipError, match="on_violation"):
        nexus.set_shapes(SHAPES, on_violation="ask")  # type: ignore[arg-type]
    assert nexus.shapes_set() == SHAPES


def test_shapes_in_the_words_of_a_mapping_are_kept_with_it(tmp_path: Path) -> None:
    shapes = """@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
<urn:shape:P> a sh:NodeShape ; sh:targetClass foaf:Person ;
  sh:property [ sh:path foaf:age ; sh:minCount 1 ; sh:message "A person has an age." ] .
"""
    with Nexus.open(tmp_path / "brain") as nexus:
        nexus.set_shapes(shapes, mapping="foaf")
    with Nexus.open(tmp_path / "brain") as nexus:
        assert nexus.shapes_set() == shapes
        with pytest.raises(KipError, match=r"A person has an age\."):
            nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Bo"} } }')
        nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Bo"} SET ATTRIBUTES {age: 3} } }')


def test_a_view_has_no_own_shapes_and_obeys_those_of_the_member_it_writes() -> None:
    team, ada = Nexus.memory(), Nexus.memory()
    team.execute(SCHEMA)
    ada.set_shapes(SHAPES)
    view = View([team, ada], write=ada)
    assert View([team, ada]).shapes_set() is None
    assert view.shapes_set() == SHAPES
    with pytest.raises(KipError, match="one nexus"):
        view.set_shapes(None)
    with pytest.raises(KipError, match="at most 5"):
        view.execute(WRONG)
    View([ada, team], write=team).execute(WRONG)  # the other member has no shapes


KILLED = """
import os, sys
import kiprdf.shapes.checker
from kiprdf import Nexus
for when in ("before", "after"):
    if child := os.fork():
        print(os.waitpid(child, 0)[1])
        continue
    nexus = Nexus.open(os.path.join(sys.argv[1], when))
    apply = nexus.store.apply
    def killed(delta):
        number = apply(delta) if when == "after" else 0
        os.kill(os.getpid(), 9)
    nexus.store.apply = killed
    nexus.set_shapes(sys.argv[2])
    os._exit(1)
"""


def test_after_a_kill_the_old_or_the_new_shapes_are_there(tmp_path: Path) -> None:
    new = "# New.\n" + SHAPES
    for when in ("before", "after"):
        with Nexus.open(tmp_path / when) as nexus:
            nexus.set_shapes(SHAPES)
    arguments = [sys.executable, "-c", KILLED, str(tmp_path), new]
    child = subprocess.run(arguments, check=True, capture_output=True, text=True)
    assert child.stdout.split() == ["9", "9"], child.stderr
    for when, expected in (("before", SHAPES), ("after", new)):
        with Nexus.open(tmp_path / when) as nexus:
            assert nexus.shapes_set() == expected
            assert nexus.check()["faults"] == []


def test_without_the_extra_a_nexus_with_shapes_is_only_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Nexus.open(tmp_path / "brain") as nexus:
        nexus.set_shapes(SHAPES)
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name == "pyshacl" else find(name)
    )
    for module in ("kiprdf.execution.gate", "kiprdf.shapes.shapes"):
        if hasattr(sys.modules[module], "find_spec"):
            monkeypatch.setattr(f"{module}.find_spec", importlib.util.find_spec)
    with pytest.raises(StoreError, match=r"kiprdf\[shapes\]"):
        Nexus.open(tmp_path / "brain")
    with Nexus.open(tmp_path / "brain", read_only=True) as nexus:
        assert nexus.shapes_set() == SHAPES
    with Nexus.open(tmp_path / "other") as nexus:  # the positive control
        nexus.execute(SCHEMA)


# Proposals ------------------------------------------------------------------------------------


@pytest.fixture
def reviewed(world: World) -> Nexus:
    world.nexus.set_shapes(SHAPES, on_violation="propose")
    assert world.nexus.info()["gate"] == "propose"
    return world.nexus


def test_a_refused_statement_becomes_a_proposal_with_its_reason(reviewed: Nexus) -> None:
    before = dataset(reviewed)
    with reviewed.acting(author="bot"):
        answer = reviewed.execute(WRONG)
    assert answer["proposed"] == "prop-1"
    assert "A drug has a risk of at most 5." in answer["reason"]
    assert answer["hint"] == "SET ATTRIBUTES {risk: 2}"
    assert answer["would"]["upsert_concept_nodes"] == ["C:Drug/Bad"]
    assert dataset(reviewed) == before
    (proposal,) = reviewed.proposals()
    assert (proposal["by"], proposal["reason"]) == ("model/bot", answer["reason"])
    assert "+ Drug:Bad" in proposal["diff"]
    assert reviewed.execute(RIGHT)["upsert_concept_nodes"] == ["C:Drug/Good"]


def test_a_dry_run_reports_the_violation_and_proposes_nothing(reviewed: Nexus) -> None:
    with pytest.raises(KipError, match="at most 5"):
        reviewed.execute(WRONG, dry_run=True)
    assert reviewed.proposals() == []


def test_who_may_only_propose_proposes_what_violates_a_shape_if_the_gate_says_so(
    world: World,
) -> None:
    with world.nexus.acting(author="bot", access="propose"):
        with pytest.raises(KipError, match="at most 5"):
            world.nexus.execute(WRONG)
        world.nexus.proposals()
    world.nexus.set_shapes(SHAPES, on_violation="propose")
    with world.nexus.acting(author="bot", access="propose"):
        assert "at most 5" in world.nexus.execute(WRONG)["reason"]
        assert "reason" not in world.nexus.execute(RIGHT)


def test_nobody_approves_past_the_shapes_but_by_changing_them(reviewed: Nexus) -> None:
    with reviewed.acting(author="bot"):
        reviewed.execute(WRONG)
    before = dataset(reviewed)
    with pytest.raises(KipError, match=r"prop-1 breaks a shape: .*at most 5") as caught:
        reviewed.approve("prop-1")
    assert caught.value.code == "KIP_2002"
    assert dataset(reviewed) == before
    assert [one["id"] for one in reviewed.proposals()] == ["prop-1"]
    reviewed.set_shapes(SHAPES.replace("5", "9"))
    assert reviewed.approve("prop-1")["upsert_concept_nodes"] == ["C:Drug/Bad"]


def test_what_is_no_statement_is_refused(world: World) -> None:
    world.nexus.set_shapes(SHAPES, on_violation="propose")
    for way in ("capsule", "elements of a transaction", "import_rdf", "patch"):
        with pytest.raises(KipError) as caught:
            WAYS[way](world)
        assert caught.value.code == "KIP_2002", way
    assert world.nexus.proposals() == []


# Other rules ----------------------------------------------------------------------------------


def test_a_dry_run_of_more_than_a_statement_reports_the_violation(world: World) -> None:
    nexus = world.nexus
    dry_runs: dict[str, Callable[[], object]] = {
        "patch": lambda: nexus.apply_patch(PATCH, dry_run=True),
        "transaction": lambda: nexus.transaction(lambda tx: tx.execute(WRONG), dry_run=True),
        "copy": lambda: copy_element("Drug:Bad", world.other, nexus, "x", dry_run=True),
    }
    for name, dry_run in dry_runs.items():
        with pytest.raises(KipError) as caught:
            dry_run()
        assert caught.value.code == "KIP_2002", name
    nexus.set_shapes(None)
    for dry_run in dry_runs.values():
        dry_run()


def test_a_value_that_must_be_there_is_rejected_after_a_right_one_is_written(world: World) -> None:
    risk = ("C:Drug/Aspirin", "attributes.risk", 2)
    with pytest.raises(KipError, match="at most 5"):
        world.nexus.reject(risk, reason="Wrong.")
    world.nexus.execute(LOWER)
    world.nexus.reject(risk, reason="Wrong.")
    assert world.nexus.check_shapes().conforms


def test_a_refused_write_is_noted_once(world: World) -> None:
    with world.nexus.acting(author="bot"), pytest.raises(KipError):
        world.nexus.execute(WRONG)
    assert [(one["principal"], one["code"]) for one in world.nexus.refusals()] == [
        ("model/bot", "KIP_2002")
    ]


def test_shapes_that_are_set_while_an_import_is_prepared_hold_for_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.nexus.set_shapes(None)
    writer = world.nexus._engine.writer
    check = writer.check

    def check_then_set(*arguments: Any, **options: Any) -> None:
        check(*arguments, **options)
        monkeypatch.undo()
        world.nexus.set_shapes(SHAPES)

    monkeypatch.setattr(writer, "check", check_then_set)
    with pytest.raises(KipError, match="No name begins with E"):
        world.nexus.import_rdf(FOAF, mapping="foaf")
    assert world.nexus.execute(NAMES, type="Person", name="Eve") == []


def test_bundled_definitions_need_not_satisfy_shapes(tmp_path: Path) -> None:
    demanding = """@prefix sh: <http://www.w3.org/ns/shacl#> .
<urn:shape:Any> a sh:NodeShape ; sh:targetClass <urn:kip:nexus/$ConceptType/$ConceptType> ;
  sh:property [ sh:path <urn:kip:attribute/owner> ; sh:minCount 1 ; sh:message "No owner." ] .
"""
    with Nexus.open(tmp_path / "brain", genesis=False) as nexus:
        assert nexus.set_shapes(demanding).conforms
    with Nexus.open(tmp_path / "brain") as nexus:
        assert "Person" in nexus.execute("DESCRIBE CONCEPT TYPES")
        assert len(nexus.check_shapes().violations) > 10
        with pytest.raises(KipError, match="No owner"):
            nexus.execute(SCHEMA)


def test_an_earlier_state_has_its_shapes_and_takes_no_others(world: World) -> None:
    number = world.nexus.info()["commit"]
    world.nexus.set_shapes(None)
    with world.nexus.at(number) as past:
        assert past.shapes_set() == SHAPES
        assert past.check_shapes().conforms
        with pytest.raises(KipError, match="as of commit"):
            past.set_shapes(None)


def test_setting_shapes_is_no_part_of_a_transaction_and_is_not_undone(world: World) -> None:
    with pytest.raises(KipError, match="another commit"):
        world.nexus.transaction(lambda tx: world.nexus.set_shapes(None))
    assert world.nexus.undo(seq=world.nexus.info()["commit"])["reverted"] == []
    assert world.nexus.shapes_set() == SHAPES


def test_a_batch_goes_on_after_a_proposal(reviewed: Nexus) -> None:
    with reviewed.acting(author="bot"):
        first, second = reviewed.execute_kip({"commands": [WRONG, RIGHT]})["result"]
    assert first["result"]["proposed"] == "prop-1"
    assert second["result"]["upsert_concept_nodes"] == ["C:Drug/Good"]
