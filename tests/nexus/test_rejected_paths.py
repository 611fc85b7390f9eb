"""A rejected fact, and a rejected value, are tried by each way of writing, with a control."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kiprdf import Nexus, chunks
from kiprdf.rdf import vocab
from tests.long_runs import amount
from tests.nexus.test_rejections import ADA, FACT_OF_ADA, HOME, SCHEMA, refused, state

PERSON = {"type": "Person", "name": "Ada"}
COMPANY = {"type": "Company", "name": "Evil Corp"}
STATED = """UPSERT {
  PROPOSITION {
    ({type: "Person", name: "Ada"}, "works_at", {type: "Company", name: "Evil Corp"})
  }
}"""
TURTLE = """
@prefix e: <https://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
e:ada a e:Person ; rdfs:label "Ada" ; %s .
e:evil a e:Company ; rdfs:label "Evil Corp" .
"""
Way = Callable[[Nexus], Any]
MANY = amount("REJECTIONS", 2_000)


def rule(nexus: Nexus, text: str) -> None:
    engine = chunks.Engine(f"start {{}} => {text}, start {{@do clear}}", modules={"memory": nexus})
    engine.goal("start {}")
    engine.run()


STATING: dict[str, Way] = {
    "statement": lambda nexus: nexus.execute(STATED),
    "dry run": lambda nexus: nexus.execute(STATED, dry_run=True),
    "capsule": lambda nexus: nexus.apply_capsule(STATED),
    "transaction": lambda nexus: nexus.transaction(lambda tx: tx.execute(STATED)),
    "elements": lambda nexus: nexus.transaction(
        lambda tx: tx.write([{"subject": PERSON, "predicate": "works_at", "object": COMPANY}])
    ),
    "import": lambda nexus: nexus.import_rdf(TURTLE % "e:works_at e:evil", define=True),
}


@pytest.mark.parametrize("way", STATING)
@pytest.mark.parametrize("is_stored", [False, True])
def test_a_rejected_fact_is_stated_by_no_way(way: str, is_stored: bool) -> None:
    with Nexus.memory() as nexus:
        nexus.execute(SCHEMA)
        state(nexus)
        STATING[way](nexus)  # the control
        if not is_stored:
            nexus.execute('DELETE PROPOSITIONS ?l WHERE { ?l (?s, "works_at", ?o) }')
        nexus.reject(FACT_OF_ADA, reason="No.")
        refused(lambda: STATING[way](nexus))


SETTING: dict[str, Way] = {
    "upsert": lambda nexus: nexus.execute(HOME, home="the moon"),
    "update": lambda nexus: nexus.execute(
        'UPDATE ?p SET ATTRIBUTES { home: "THE MOON" } WHERE { ?p {type: "Person", name: "Ada"} }'
    ),
    "capsule": lambda nexus: nexus.apply_capsule(HOME.replace(":home", '"The  Moon"')),
    "elements": lambda nexus: nexus.transaction(
        lambda tx: tx.write([{**PERSON, "attributes": {"home": "The Moon"}}])
    ),
    "import": lambda nexus: nexus.import_rdf(TURTLE % 'e:home "The Moon"', define=True),
    "merge": lambda nexus: nexus.execute(
        'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "Person", name: "Ida"} '
        '?b {type: "Person", name: "Ada"} }'
    ),
}


def with_people() -> Nexus:
    nexus = Nexus.memory()
    nexus.execute(SCHEMA)
    nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Ada"} } }')
    return nexus


@pytest.mark.parametrize("way", [way for way in SETTING if way != "merge"])
def test_a_rejected_value_is_set_by_no_way(way: str) -> None:
    with with_people() as control:
        SETTING[way](control)
        homes = control.execute('FIND(?p.attributes.home) WHERE { ?p {name: "Ada"} }')
        assert [str(home).casefold().split() for home in homes] == [["the", "moon"]]
    with with_people() as nexus:
        nexus.reject((ADA, "attributes.home", "The Moon"), reason="No.")
        refused(lambda: SETTING[way](nexus))


def test_a_merge_brings_no_rejected_value() -> None:
    for is_rejected in (False, True):
        with with_people() as nexus:
            nexus.execute(HOME.replace('"Ada"', '"Ida"'), home="The Moon")
            if is_rejected:
                nexus.reject((ADA, "attributes.home", "The Moon"), reason="No.")
                refused(lambda nexus=nexus: SETTING["merge"](nexus))  # type: ignore[misc]
            else:
                SETTING["merge"](nexus)
                home = 'FIND(?p.attributes.home) WHERE { ?p {type: "Person", name: "Ada"} }'
                assert nexus.execute(home) == ["The Moon"]


@pytest.mark.parametrize("what", ["fact", "value"])
def test_a_patch_of_the_rows_of_a_rejected_value(what: str) -> None:
    with with_people() as nexus, Nexus.memory() as other:
        nexus.execute('UPSERT { CONCEPT { {type: "Company", name: "Evil Corp"} } }')
        other.restore(nexus.snapshot())
        if what == "fact":
            other.execute(STATED)
            rejected: Any = FACT_OF_ADA
        else:
            other.execute(HOME, home="The Moon")
            rejected = (ADA, "attributes.home", "The Moon")
        patch = nexus.patch_to(other).text
        assert nexus.apply_patch(patch, dry_run=True)["added"] > 0
        nexus.reject(rejected, reason="No.")
        refused(lambda: nexus.apply_patch(patch))


def test_the_name_of_a_rejection_stays_what_it_is() -> None:
    """Rejections of an earlier version must hold in later ones."""
    with Nexus.memory() as nexus:
        nexus.execute(SCHEMA)
        names = [
            nexus.reject(FACT_OF_ADA, reason="No."),
            nexus.reject((ADA, "attributes.born", 1815), reason="No."),
        ]
    assert names == [
        "152c7bfadd7ac7e2ddd7370cac01086aacddcf1d8e8d148e7cea8e8fba4c46f2",
        "a3405c99fb9ed2a1c6c99fdfa0e0cd0a8508ff378032120e18d3526aafd52b2b",
    ]
    # The scope, the subject, the predicate and the object; i, l and 1 look alike.
    parts = ("", "person/ada", "works_at", "evll corp")
    assert names[0] == hashlib.sha256("\0".join(parts).encode()).hexdigest()


def test_a_rejection_survives_a_graph_that_is_written_again(tmp_path: Path) -> None:
    with Nexus.open(tmp_path / "kb") as nexus:
        nexus.execute(SCHEMA)
        nexus.reject(state(nexus), reason="No.")
    Nexus.rebuild(tmp_path / "kb")
    with Nexus.open(tmp_path / "kb") as nexus:
        refused(lambda: state(nexus))
        assert state(nexus, o="Good Corp").startswith("P:")


def test_a_paraphrase_passes() -> None:
    with with_people() as nexus:
        nexus.reject((ADA, "attributes.home", "The Moon"), reason="No.")
        nexus.execute(HOME, home="Earth's only natural satellite")


def test_many_rejections(tmp_path: Path) -> None:
    with Nexus.memory() as nexus:
        nexus.execute(SCHEMA)
        name = nexus.reject(FACT_OF_ADA, reason="No.")
        kind = nexus.store.iris.type("Rejection")
        (node,) = (one.subject for one in nexus.store.match(None, vocab.TYPE, kind))
        snapshot = nexus.snapshot(format="ntriples")
        block = [line for line in snapshot.splitlines() if line.startswith(f"{node} ")]
        others = [
            line.replace(name, hashlib.sha256(str(number).encode()).hexdigest())
            for number in range(MANY)
            for line in block
        ]
    with Nexus.open(tmp_path / "kb") as nexus:
        nexus.restore("\n".join([snapshot.rstrip(), *others, ""]), format="ntriples")
    with Nexus.open(tmp_path / "kb") as nexus:
        assert len(nexus.rejections()) == MANY + 1
        refused(lambda: state(nexus))
        assert state(nexus, o="Good Corp").startswith("P:")
        assert json.dumps(nexus.execute("DESCRIBE PRIMER")).count("Rejection") == 0


def test_a_model_may_state_a_new_fact_of_what_is_reviewed() -> None:
    with with_people() as nexus:
        nexus.execute('UPDATE ?p SET METADATA {status: "reviewed"} WHERE { ?p {name: "Ada"} }')
        with nexus.acting(author="claude"):
            receipt = nexus.execute(
                'UPSERT { CONCEPT ?c { {type: "Company", name: "Good Corp"} } '
                'PROPOSITION { ({type: "Person", name: "Ada"}, "works_at", ?c) } }'
            )
        assert "unreviewed" not in receipt
        assert nexus.execute('FIND(?p.metadata.status) WHERE { ?p {name: "Ada"} }') == ["reviewed"]


def test_a_rule_states_no_rejected_fact() -> None:
    text = "works_at {@module memory; @do put; @subject Ada; @object EvilCorp}"
    stated = 'FIND(?o.name) WHERE { (?s, "works_at", ?o) }'
    with with_people() as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "Company", name: "EvilCorp"} } }')
        name = nexus.reject((ADA, "works_at", "C:Company/EvilCorp"), reason="No.")
        rule(nexus, text)
        assert nexus.execute(stated) == []
        nexus.lift(name)
        rule(nexus, text)
        assert nexus.execute(stated) == ["EvilCorp"]
