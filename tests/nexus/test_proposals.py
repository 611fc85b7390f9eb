"""Statements of who may only propose, which a person approves or declines."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.async_nexus import AsyncNexus
from kiprdf.execution.proposals import MOST_BYTES, MOST_OPEN
from kiprdf.memory import Memory
from kiprdf.store.proposals import FILE, KEPT_DECIDED, Proposals
from tests.nexus.support import StoppedClock
from tests.programs import start

AGE = 'UPSERT { CONCEPT { {type: "Person", name: :name} SET ATTRIBUTES {age: :age} } }'
FACT = """UPSERT {
  CONCEPT ?ada { {type: "Person", name: "Ada"} }
  CONCEPT ?bo { {type: "Person", name: "Bo"} }
  PROPOSITION { (?ada, "knows", ?bo) }
}"""
OLDER = """UPDATE ?p SET ATTRIBUTES {old: true}
  WHERE { ?p {type: "Person"} FILTER(?p.attributes.age > 60) }"""
BIRTHDAY = """UPDATE ?p SET ATTRIBUTES {age: ADD(?p.attributes.age, 1)}
  WHERE { ?p {type: "Person", name: "Ada"} }"""
KNOWS = 'UPSERT { CONCEPT { {type: "$PropositionType", name: "knows"} } }'


@pytest.fixture
def nexus() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(history=True)
    nexus.execute(KNOWS)
    nexus.execute(AGE, name="Ada", age=36)
    return nexus


def propose(nexus: kiprdf.Nexus, command: str, author: str = "bot", **parameters: Any) -> str:
    with nexus.acting(author=author, session="s-1", access="propose"):
        answer = nexus.execute(command, **parameters)
    return str(answer["proposed"])


def code_of(call: Callable[[], Any]) -> str:
    with pytest.raises(kiprdf.KipError) as raised:
        call()
    return raised.value.code


def ages(nexus: kiprdf.Nexus) -> dict[str, Any]:
    rows = nexus.find('FIND(?p.name, ?p.attributes.age) WHERE { ?p {type: "Person"} }')
    return {name: age for name, age in rows.tuples() if not name.startswith("$")}


# Proposing ------------------------------------------------------------------------------------


def test_a_statement_of_who_may_only_propose_changes_nothing(nexus: kiprdf.Nexus) -> None:
    before = nexus.snapshot(), nexus.info()["commit"], nexus.export()
    with nexus.acting(author="bot", access="propose"):
        receipt = nexus.execute(AGE, dry_run=True, name="Ada", age=63)
        answer = nexus.execute(AGE, name="Ada", age=63)
        response = nexus.execute_kip({"command": FACT})
    assert answer == {"proposed": "prop-1", "would": receipt}
    assert response["result"]["proposed"] == "prop-2"
    assert response["result"]["would"]["upsert_concept_nodes"] == ["C:Person/Ada", "C:Person/Bo"]
    assert (nexus.snapshot(), nexus.info()["commit"], nexus.export()) == before
    assert nexus.execute('SEARCH CONCEPT "Bo"') == []
    nexus.approve("prop-2")
    assert [hit["name"] for hit in nexus.execute('SEARCH CONCEPT "Bo"')] == ["Bo"]


def test_a_proposal_says_who_made_it_what_it_read_and_what_it_would_do(nexus: kiprdf.Nexus) -> None:
    propose(nexus, FACT)
    (proposal,) = nexus.proposals()
    assert proposal["text"] == FACT
    assert (proposal["by"], proposal["session"]) == ("model/bot", "s-1")
    assert proposal["commit"] == nexus.info()["commit"]
    link = next(id for id in proposal["reads"] if id.startswith("P:"))
    assert proposal["reads"] == {"C:Person/Ada": 1, "C:Person/Bo": 0, link: 0}
    assert proposal["diff"] == (
        "Concepts\n+ Person:Bo\n\nPropositions\n+ (Person:Ada, knows, Person:Bo)\n\n"
        "Concepts: 1 added, 0 removed, 0 changed\nPropositions: 1 added, 0 removed, 0 changed\n"
    )
    (added,) = proposal["changes"]["propositions"]["added"]
    assert (added["subject"], added["object"]) == ("C:Person/Ada", "C:Person/Bo")


def test_the_diff_is_that_of_diff(nexus: kiprdf.Nexus) -> None:
    nexus.execute(FACT)
    nexus.execute(AGE, name="Eve", age=70)
    statements = [
        AGE.replace(":name", '"Ada"').replace(":age", "63"),
        OLDER,
        'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "Person", name: "Bo"} '
        '?b {type: "Person", name: "Eve"} }',
        'DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Person", name: "Ada"} }',
        'DELETE ATTRIBUTES {"age"} FROM ?p WHERE { ?p {type: "Person", name: "Ada"} }',
    ]
    for statement in statements:
        copy = kiprdf.Nexus.memory(genesis=False)
        copy.restore(nexus.snapshot())
        copy.execute(statement)
        propose(nexus, statement)
        assert nexus.proposals()[-1]["diff"] == nexus.diff(copy).text(), statement


def test_what_would_fail_fails_and_is_not_kept(nexus: kiprdf.Nexus) -> None:
    with nexus.acting(author="bot", access="propose"):
        assert code_of(lambda: nexus.execute(AGE, name="Ada")) == "KIP_1001"
        unknown = 'UPSERT { CONCEPT { {type: "Nothing", name: "x"} } }'
        assert code_of(lambda: nexus.execute(unknown)) == "KIP_2001"
        expecting = 'UPSERT { CONCEPT { {type: "Person", name: "Ada"} EXPECT VERSION 7 } }'
        assert nexus.execute_kip({"command": expecting})["error"]["code"] == "KIP_3005"
        system = 'DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Person", name: "$self"} }'
        assert code_of(lambda: nexus.execute(system)) == "KIP_3004"
    assert nexus.proposals(all=True) == []


def test_each_statement_of_a_batch_is_proposed(nexus: kiprdf.Nexus) -> None:
    with nexus.acting(author="bot", access="propose"):
        find = 'FIND(COUNT(?p)) WHERE { ?p {type: "Person"} }'
        batch = {
            "commands": [FACT, find, {"command": AGE, "parameters": {"name": "Ada", "age": 1}}]
        }
        results = [one["result"] for one in nexus.execute_kip(batch)["result"]]
    assert [results[0]["proposed"], results[1], results[2]["proposed"]] == ["prop-1", 3, "prop-2"]


def test_the_text_of_a_capsule_is_proposed_and_other_writes_are_refused(
    nexus: kiprdf.Nexus,
) -> None:
    capsule = nexus.export('EXPORT ?p WHERE { ?p {type: "Person", name: "Ada"} }').replace(
        "36", "63"
    )
    with nexus.acting(author="bot", access="propose"):
        assert nexus.execute(capsule)["proposed"] == "prop-1"
        turtle = "@prefix foaf: <http://xmlns.com/foaf/0.1/> . <urn:x> a foaf:Person ."
        for write in (
            lambda: nexus.apply_capsule(capsule),
            lambda: nexus.transaction(lambda tx: tx.write([{"type": "Person", "name": "x"}])),
            lambda: nexus.import_rdf(turtle, mapping="foaf"),
            lambda: nexus.undo(seq=2),
            lambda: nexus.forget('FIND(?p) WHERE { ?p {type: "Person", name: "Ada"} }'),
            lambda: nexus.apply_patch(""),
        ):
            with pytest.raises(kiprdf.KipError, match="Propose one statement") as raised:
                write()
            assert raised.value.code == "KIP_3004"
    assert ages(nexus) == {"Ada": 36}
    nexus.approve("prop-1")
    assert ages(nexus) == {"Ada": 63}


def test_parameters_are_frozen(nexus: kiprdf.Nexus) -> None:
    tags = ["a"]
    propose(nexus, AGE, name="Ada", age=tags)
    tags.append("b")
    nexus.approve("prop-1")
    assert ages(nexus) == {"Ada": ["a"]}


def test_who_reads_a_proposal_cannot_change_it(nexus: kiprdf.Nexus) -> None:
    propose(nexus, AGE, name="Ada", age=63)
    (read,) = nexus.proposals()
    read["parameters"]["age"] = 99
    read["changes"]["concepts"]["changed"].clear()
    read["text"] = AGE.replace(":age", "100")
    assert nexus.proposal("prop-1")["changes"]["concepts"]["changed"]
    nexus.approve("prop-1")
    assert ages(nexus) == {"Ada": 63}


def test_a_proposal_has_bounds(nexus: kiprdf.Nexus) -> None:
    with nexus.acting(author="bot", access="propose"):
        with pytest.raises(kiprdf.KipError, match="at most 262,144") as raised:
            nexus.execute(AGE, name="Ada", age="x" * MOST_BYTES)
        assert raised.value.code == "KIP_4002"
    kept = nexus._engine.writer.proposals
    propose(nexus, FACT)
    for _ in range(MOST_OPEN - 1):
        kept.add({"by": "model/bot"})
    assert code_of(lambda: propose(nexus, FACT)) == "KIP_4002"
    assert propose(nexus, FACT, author="other") == f"prop-{MOST_OPEN + 1}"
    nexus.decline("prop-1", "one less")
    assert propose(nexus, FACT) == f"prop-{MOST_OPEN + 2}"


WORDS = ("prop-1", "prop-2", "Quokka", "Nonsense")
"""What only proposals have: their ids, who proposed them, and why one was declined."""
COMMANDS = [
    "FIND(?x) WHERE { ?x {} }",
    "FIND(?l) WHERE { ?l (?a, ?p, ?b) }",
    "FIND(COUNT(?x)) WHERE { ?x {} }",
    'FIND(?x) WHERE { ?x {type: "Person"} NOT { ?x {type: "Person", name: "Ada"} } }',
    *("DESCRIBE PRIMER", "DESCRIBE DOMAINS", "DESCRIBE CONCEPT TYPES"),
    *('DESCRIBE CONCEPT TYPE "Person"', 'DESCRIBE PROPOSITION TYPE "knows"'),
    *('SEARCH CONCEPT "Zanzibar"', 'SEARCH PROPOSITION "Zanzibar"', 'SEARCH CONCEPT "Quokka"'),
    'EXPORT ?x WHERE { ?x {type: "Person"} }',
]


def all_answers(nexus: kiprdf.Nexus, folder: Path) -> dict[str, Any]:
    """What is answered by each way of reading but those of proposals."""
    answers: dict[str, Any] = {
        command: nexus.execute_kip({"command": command}) for command in COMMANDS
    }
    answers["sparql"] = sorted(map(str, nexus.sparql("SELECT * { ?s ?p ?o }")))  # type: ignore[arg-type]
    nexus.publish(folder)
    answers["pages"] = {
        str(path.relative_to(folder)): path.read_bytes().decode()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    for format in ("turtle", "nquads", "jsonld"):
        answers[format] = nexus.snapshot(format=format)  # type: ignore[arg-type]
    memory = Memory(nexus)
    return {
        **answers,
        "capsule": nexus.export(),
        "provenance": nexus.provenance(),
        "instructions": kiprdf.instructions(nexus),
        "recall": memory.recall("Zanzibar Ada").text(mark="mark"),
        "context": memory.context("Zanzibar Ada"),
        "totals": {key: nexus.info()[key] for key in ("concepts", "propositions", "commit")},
        "names": nexus.names(),
        "history": nexus.history("C:Person/Ada"),
        "changes": nexus.changes(),
    }


def test_proposals_are_in_no_answer(tmp_path: Path) -> None:
    nexus = kiprdf.Nexus.memory(genesis=False, history=True, clock=StoppedClock())
    nexus.execute(KNOWS)
    nexus.execute(KNOWS.replace("knows", "belongs_to_domain"))
    for name in ("Person", "Domain"):
        nexus.execute(f'UPSERT {{ CONCEPT {{ {{type: "$ConceptType", name: "{name}"}} }} }}')
    nexus.execute('UPSERT { CONCEPT { {type: "Domain", name: "CoreSchema"} } }')
    nexus.execute(AGE, name="Ada", age=36)
    Memory(nexus).add("Ada likes tea.", id="note", timestamp="2026-01-01")
    before = all_answers(nexus, tmp_path / "before")
    propose(nexus, AGE, author="Quokka", name="Zanzibar", age=1)
    define = 'UPSERT { CONCEPT { {type: "$ConceptType", name: "Zanzibar"} } }'
    propose(nexus, define, author="Quokka")
    assert all_answers(nexus, tmp_path / "open") == before
    nexus.decline("prop-2", "Nonsense")
    assert all_answers(nexus, tmp_path / "declined") == before
    nexus.approve("prop-1")  # the positive control: then all of them have what it wrote
    after = all_answers(nexus, tmp_path / "approved")
    unchanged = {key for key in before if after[key] == before[key]}
    assert unchanged == {
        *("FIND(?l) WHERE { ?l (?a, ?p, ?b) }", "DESCRIBE DOMAINS", "DESCRIBE CONCEPT TYPES"),
        *('DESCRIBE PROPOSITION TYPE "knows"', 'SEARCH PROPOSITION "Zanzibar"'),
        *('SEARCH CONCEPT "Quokka"', "recall", "context", "names", "history"),
    }
    # The history alone says that it was proposed.
    del after['SEARCH CONCEPT "Quokka"']  # which repeats the word
    named = [key for key, text in after.items() if any(word in str(text) for word in WORDS)]
    assert named == ["changes"]


# Approving ------------------------------------------------------------------------------------


def test_who_approves_is_the_author_of_the_commit(nexus: kiprdf.Nexus) -> None:
    propose(nexus, AGE, name="Ada", age=63)
    with nexus.acting(author="ada", session="s-2", kind="human", access="write"):
        receipt = nexus.approve("prop-1")
    assert receipt["upsert_concept_nodes"] == ["C:Person/Ada"]
    assert ages(nexus) == {"Ada": 63}
    (commit,) = nexus.changes(author="ada")["commits"]
    assert (commit["session"], commit["kind"]) == ("s-2", "UPSERT")
    assert (commit["proposal"], commit["proposed_by"]) == ("prop-1", "model/bot")
    assert nexus.execute('FIND(?p.metadata._actor) WHERE { ?p {name: "Ada"} }') == ["human/ada"]
    assert nexus.proposals() == []
    (proposal,) = nexus.proposals(all=True)
    assert (proposal["state"], proposal["decided_by"]) == ("approved", "human/ada")
    assert code_of(lambda: nexus.approve("prop-1")) == "KIP_2002"
    assert code_of(lambda: nexus.decline("prop-1", "too late")) == "KIP_2002"
    assert code_of(lambda: nexus.approve("prop-2")) == "KIP_3002"


@pytest.mark.parametrize(
    ("author", "kind", "access"),
    [
        ("bot", "human", "write"),
        ("BOT", "human", "admin"),
        (" b\u200bot ", "human", "write"),
        ("b\u043et", "human", "write"),
        ("other", "model", "admin"),
        ("nightly", "job", "admin"),
        ("ada", "human", "propose"),
        ("ada", "human", "read"),
    ],
)
def test_nobody_else_approves(nexus: kiprdf.Nexus, author: str, kind: Any, access: Any) -> None:
    propose(nexus, AGE, name="Ada", age=63)
    with nexus.acting(author=author, session="s-9", kind=kind, access=access):
        assert code_of(lambda: nexus.approve("prop-1")) == "KIP_3004"
    assert ages(nexus) == {"Ada": 36}
    assert [one["state"] for one in nexus.proposals()] == ["open"]


def test_who_proposes_cannot_gain_the_right_to_approve(nexus: kiprdf.Nexus) -> None:
    with nexus.acting(author="bot", access="propose"):
        nexus.execute(AGE, name="Ada", age=63)
        with nexus.acting(author="ada", kind="human", access="admin"):
            assert code_of(lambda: nexus.approve("prop-1")) == "KIP_3004"
            assert code_of(lambda: nexus.decline("prop-1", "no")) == "KIP_3004"
    assert ages(nexus) == {"Ada": 36}


@pytest.mark.parametrize(
    "between",
    [
        AGE.replace(":name", '"Ada"').replace(":age", "37"),
        'UPDATE ?p SET ATTRIBUTES {town: "London"} WHERE { ?p {type: "Person", name: "Ada"} }',
        'DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Person", name: "Ada"} }',
        'UPSERT { CONCEPT { {type: "Person", name: "Bo"} } }',
        'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "Person", name: "Ada"} '
        '?b {type: "Person", name: "Eve"} }',
        FACT,
    ],
)
def test_what_it_read_has_changed(nexus: kiprdf.Nexus, between: str) -> None:
    nexus.execute(AGE, name="Eve", age=20)
    propose(nexus, FACT)
    nexus.execute(between)
    before = nexus.snapshot()
    with pytest.raises(kiprdf.KipError, match="prop-1 is stale") as raised:
        nexus.approve("prop-1")
    assert raised.value.code == "KIP_3005"
    assert nexus.snapshot() == before
    assert [one["state"] for one in nexus.proposals()] == ["open"]


@pytest.mark.parametrize(
    "between",
    [
        AGE.replace(":name", '"Eve"').replace(":age", "70"),  # its WHERE matches one more
        AGE.replace(":name", '"Max"').replace(":age", "50"),  # and one less
        'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "Person", name: "Max"} '
        '?b {type: "Person", name: "Ada"} }',
        'DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Person", name: "Max"} }',
    ],
)
def test_a_where_that_matches_other_elements_is_stale(nexus: kiprdf.Nexus, between: str) -> None:
    nexus.execute(AGE, name="Max", age=71)
    propose(nexus, OLDER)
    nexus.execute(between)
    assert code_of(lambda: nexus.approve("prop-1")) == "KIP_3005"


def test_a_target_that_was_replaced_by_an_equal_version_is_stale(nexus: kiprdf.Nexus) -> None:
    propose(nexus, AGE, name="Ada", age=63)
    nexus.execute('DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Person", name: "Ada"} }')
    nexus.execute(AGE, name="Ada", age=36)
    assert nexus.execute('FIND(?p.metadata._version) WHERE { ?p {name: "Ada"} }') == [1]
    assert code_of(lambda: nexus.approve("prop-1")) == "KIP_3005"


def test_links_that_pair_the_same_elements_otherwise_make_it_stale(nexus: kiprdf.Nexus) -> None:
    for name, age in (("Bo", 20), ("Eve", 30), ("Max", 40)):
        nexus.execute(AGE, name=name, age=age)
    link = """UPSERT {
      PROPOSITION { ({type: "Person", name: :a}, "knows", {type: "Person", name: :b}) }
    }"""
    cut = 'DELETE PROPOSITIONS ?l WHERE { ?l ({name: :a}, "knows", {name: :b}) }'
    nexus.execute(link, a="Ada", b="Bo")
    nexus.execute(link, a="Eve", b="Max")
    propose(
        nexus,
        'UPDATE ?p SET ATTRIBUTES {seen: true} WHERE { ?p {type: "Person"} (?p, "knows", ?q) '
        "FILTER(?q.attributes.age < 30) }",
    )
    nexus.execute(cut, a="Ada", b="Bo")
    nexus.execute(cut, a="Eve", b="Max")
    nexus.execute(link, a="Ada", b="Max")
    nexus.execute(link, a="Eve", b="Bo")
    assert code_of(lambda: nexus.approve("prop-1")) == "KIP_3005"


@pytest.mark.parametrize(
    "where",
    [
        '?p {type: "Person"} (?p, "knows", {type: "Person", name: "Bo"})',
        '(?p, "knows" | "prefers", ?q)',
        '(?p, ?predicate, {name: "Bo"})',
        '?p {type: "Person"} ({name: "Eve"}, "knows", (?p, "knows", {name: "Bo"}))',
        '?p {type: "Person"} (?p, "knows"{1,2}, {name: "Bo"}) (?p, "knows", ?q)',
        '(?p, "knows", ?q) OPTIONAL { ?read_0 (?q, "knows", ?r) }',
    ],
)
def test_a_fact_without_a_variable_was_read_too(nexus: kiprdf.Nexus, where: str) -> None:
    nexus.execute(FACT)
    nexus.execute("""UPSERT { CONCEPT ?eve { {type: "Person", name: "Eve"} }
      PROPOSITION { (?eve, "knows", ({name: "Ada", type: "Person"}, "knows",
        {type: "Person", name: "Bo"})) } }""")
    update = f"UPDATE ?p SET ATTRIBUTES {{seen: true}} WHERE {{ {where} }}"
    propose(nexus, update)
    nexus.execute(AGE, name="Unrelated", age=1)
    propose(nexus, update)
    nexus.execute("""UPDATE ?l SET METADATA {status: "retracted"}
      WHERE { ?l ({name: "Ada"}, "knows", {name: "Bo"}) }""")
    with pytest.raises(kiprdf.KipError, match="stale: P:"):
        nexus.approve("prop-1")
    nexus.execute("""UPDATE ?l SET METADATA {status: "active"}
      WHERE { ?l ({name: "Ada"}, "knows", {name: "Bo"}) }""")
    propose(nexus, update)
    nexus.execute(AGE, name="Unrelated", age=2)
    assert nexus.approve("prop-3")["updated"] > 0


def test_other_commits_do_not_make_it_stale(nexus: kiprdf.Nexus) -> None:
    nexus.execute(AGE, name="Max", age=71)
    for command in (AGE.replace(":name", '"Ada"').replace(":age", "63"), OLDER, FACT):
        propose(nexus, command)
    nexus.execute(AGE, name="Eve", age=20)
    nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Town"} } }')
    nexus.approve("prop-2")
    nexus.approve("prop-3")
    nexus.approve("prop-1")
    assert ages(nexus) == {"Ada": 63, "Bo": None, "Eve": 20, "Max": 71}


@pytest.mark.parametrize(
    ("command", "kind", "name"),
    [
        (FACT, "$PropositionType", "knows"),
        (AGE.replace(":name", '"Zoe"').replace(":age", "3"), "$ConceptType", "Person"),
    ],
)
def test_a_definition_that_was_changed_makes_it_stale(
    nexus: kiprdf.Nexus, command: str, kind: str, name: str
) -> None:
    """Who approved it has read what its predicate and its type meant."""
    describe = """UPSERT { CONCEPT { {type: :kind, name: :name}
      SET ATTRIBUTES { description: "An enemy." } } }"""
    propose(nexus, command)
    nexus.execute(describe, kind="$ConceptType", name="Town")
    nexus.execute(describe, kind=kind, name=name)
    assert code_of(lambda: nexus.approve("prop-1")) == "KIP_3005"
    propose(nexus, command)
    nexus.approve("prop-2")


def test_the_time_does_not_change_what_it_means() -> None:
    times = [datetime(2026, 1, 1, tzinfo=UTC)]
    nexus = kiprdf.Nexus.memory(clock=lambda: times[0])
    nexus.execute(AGE, name="Ada", age=36)
    propose(nexus, 'UPDATE ?p SET METADATA {valid_until: "2026-06-01"} WHERE { ?p {name: "Ada"} }')
    diff = nexus.proposals()[0]["diff"]
    times[0] = datetime(2027, 1, 1, tzinfo=UTC)
    assert nexus.proposals()[0]["diff"] == diff
    nexus.approve("prop-1")
    find = 'FIND(?p.metadata.valid_until, ?p.metadata._updated_at) WHERE { ?p {name: "Ada"} }'
    assert list(nexus.find(find).tuples()) == [("2026-06-01", "2027-01-01T00:00:00.000Z")]


def test_two_who_approve_at_once_run_it_once(nexus: kiprdf.Nexus) -> None:
    propose(nexus, BIRTHDAY)
    codes: list[str] = []
    barrier = threading.Barrier(4)

    def approve() -> None:
        barrier.wait()
        try:
            nexus.approve("prop-1")
            codes.append("done")
        except kiprdf.KipError as error:
            codes.append(error.code)

    threads = [threading.Thread(target=approve) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes) == ["KIP_2002"] * 3 + ["done"]
    assert ages(nexus) == {"Ada": 37}


def test_a_proposal_that_changes_nothing_is_approved_without_a_commit(nexus: kiprdf.Nexus) -> None:
    propose(nexus, AGE, name="Ada", age=36)
    commit = nexus.info()["commit"]
    nexus.approve("prop-1")
    assert nexus.info()["commit"] == commit
    assert nexus.proposals() == []


def test_a_coroutine_approves(nexus: kiprdf.Nexus) -> None:
    propose(nexus, AGE, name="Ada", age=63)
    propose(nexus, AGE, name="Bo", age=63)

    async def review() -> list[Any]:
        threads = AsyncNexus(nexus)
        await threads.approve("prop-1")
        await threads.decline("prop-2", "unknown")
        return await threads.proposals()

    assert asyncio.run(review()) == []
    assert ages(nexus) == {"Ada": 63}


# Declining ------------------------------------------------------------------------------------


def test_a_declined_proposal_is_never_run(nexus: kiprdf.Nexus) -> None:
    propose(nexus, AGE, name="Ada", age=63)
    declined = nexus.decline("prop-1", "She is 36.")
    assert (declined["state"], declined["reason"]) == ("declined", "She is 36.")
    assert code_of(lambda: nexus.approve("prop-1")) == "KIP_2002"
    assert ages(nexus) == {"Ada": 36}
    assert propose(nexus, AGE, name="Ada", age=63) == "prop-2"


def test_what_was_declined_can_be_rejected_too(nexus: kiprdf.Nexus) -> None:
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Person", name: "Ada"} SET ATTRIBUTES {tags: ["a"]} } }'
    )
    propose(
        nexus,
        """UPSERT {
          CONCEPT ?ada { {type: "Person", name: "Ada"} SET ATTRIBUTES {age: 63, tags: ["A", "b"]} }
          CONCEPT ?bo { {type: "Person", name: "Bo"} SET ATTRIBUTES {home: "Mars", old: null} }
          PROPOSITION ?fact { (?ada, "knows", ?bo) }
          PROPOSITION { (?bo, "knows", ?fact) }
        }""",
    )
    names = nexus.decline("prop-1", "Not so.", reject=True)["rejected"]
    assert len(names) == len(nexus.rejections()) == 4
    assert nexus.proposals(all=True)[0]["rejected"] == names
    find = 'FIND(?p.attributes) WHERE { ?p {type: "Person", name: "Ada"} }'
    assert nexus.execute(find) == [{"age": 36, "tags": ["a"]}]
    for again in (FACT, AGE.replace(":name", '"Ada"').replace(":age", '"63"')):
        assert code_of(lambda again=again: nexus.execute(again)) == "KIP_3004"
        assert code_of(lambda again=again: propose(nexus, again)) == "KIP_3004"
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Person", name: "Ada"} SET ATTRIBUTES {tags: ["A"]} } }'
    )


def test_a_rejection_that_was_made_meanwhile_holds(nexus: kiprdf.Nexus) -> None:
    propose(nexus, FACT)
    propose(nexus, FACT)
    nexus.reject(("C:Person/Ada", "knows", "C:Person/Bo"), reason="They never met.")
    assert code_of(lambda: nexus.approve("prop-1")) == "KIP_3004"
    assert ages(nexus) == {"Ada": 36}
    assert [one["id"] for one in nexus.proposals()] == ["prop-1", "prop-2"]


@pytest.mark.parametrize("access", ["propose", "write"])
def test_a_dry_run_of_a_batch_is_that_of_who_sends_it(nexus: kiprdf.Nexus, access: Any) -> None:
    reviewed = {"command": STATUS, "parameters": {"to": "reviewed"}}
    find = 'FIND(?p.attributes.age) WHERE { ?p {type: "Person", name: "Ada"} }'
    older = {"command": AGE, "parameters": {"name": "Ada", "age": 63}}
    with nexus.acting(author="bot", access=access):
        answer = nexus.execute_kip({"commands": [older, find, reviewed, find], "dry_run": True})
    first, second, third = answer["result"]
    assert (first["result"]["upsert_concept_nodes"], second["result"]) == (["C:Person/Ada"], [63])
    assert third["error"]["code"] == "KIP_3004"
    assert (ages(nexus), nexus.proposals()) == ({"Ada": 36}, [])


# The rules of trust ---------------------------------------------------------------------------

STATUS = 'UPDATE ?p SET METADATA {status: :to} WHERE { ?p {type: "Person", name: "Ada"} }'
MARKS = 'FIND(?p.metadata.status) WHERE { ?p {type: "Person", name: "Ada"} }'


@pytest.mark.parametrize("before", ["active", "retracted", "reviewed"])
def test_a_status_of_people_is_not_proposed_by_models(nexus: kiprdf.Nexus, before: str) -> None:
    nexus.execute(STATUS, to=before)
    for status in {"active", "retracted", "reviewed"} - {before}:
        if (before, status) != ("active", "retracted"):
            assert code_of(lambda status=status: propose(nexus, STATUS, to=status)) == "KIP_3004"
    assert nexus.proposals() == []


def test_what_a_person_approves_of_reviewed_knowledge_stays_reviewed(nexus: kiprdf.Nexus) -> None:
    nexus.execute(STATUS, to="reviewed")
    with nexus.acting(author="bot", access="propose"):
        answer = nexus.execute(AGE, name="Ada", age=63)
    assert answer["would"]["unreviewed"] == ["C:Person/Ada"]
    assert "status" not in nexus.proposals()[0]["diff"]
    assert "unreviewed" not in nexus.approve("prop-1")
    assert (ages(nexus), nexus.execute(MARKS)) == ({"Ada": 63}, ["reviewed"])


def test_who_proposes_is_a_true_author_and_nobody_else_is(nexus: kiprdf.Nexus) -> None:
    with nexus.acting(author="ada", kind="human"):
        nexus.execute(AGE, name="Ada", age=37)
    authored = AGE + " WITH METADATA {author: :author}"
    with nexus.acting(author="bot", access="propose"):
        nexus.execute_kip(
            {"command": authored, "parameters": {"name": "Bo", "age": 1, "author": "bot"}}
        )
        refused = nexus.execute_kip(
            {"command": authored, "parameters": {"name": "Bo", "age": 1, "author": "Ada"}}
        )
    assert refused["error"]["code"] == "KIP_3004"
    with nexus.acting(author="ada", kind="human"):
        nexus.approve("prop-1")
    find = 'FIND(?p.metadata.author, ?p.metadata._actor) WHERE { ?p {type: "Person", name: "Bo"} }'
    assert list(nexus.find(find).tuples()) == [("bot", "human/ada")]


def test_a_retraction_is_that_of_who_approves(nexus: kiprdf.Nexus) -> None:
    propose(nexus, STATUS, to="retracted")
    assert "retracted_at" not in nexus.proposals()[0]["diff"]
    with nexus.acting(author="ada", kind="human"):
        nexus.approve("prop-1")
    find = MARKS.replace("status", "retracted_by")
    assert nexus.execute(find) == ["human/ada"]


# The file -------------------------------------------------------------------------------------


def test_proposals_survive_a_restart_and_are_in_the_backup(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "brain") as nexus:
        for name in ("Ada", "Bo", "Eve"):
            propose(nexus, AGE, name=name, age=1)
        nexus.approve("prop-1")
        nexus.decline("prop-3", "no")
        nexus.backup(tmp_path / "backup")
        with kiprdf.Nexus.open(tmp_path / "brain", read_only=True) as reader:
            propose(nexus, AGE, name="Max", age=1)
            assert [one["id"] for one in reader.proposals()] == ["prop-2", "prop-4"]
            assert code_of(lambda: reader.approve("prop-2")) == "KIP_1001"
    with kiprdf.Nexus.open(tmp_path / "brain") as nexus:
        assert [one["id"] for one in nexus.proposals()] == ["prop-2", "prop-4"]
        assert propose(nexus, AGE, name="Max", age=1) == "prop-5"
    with kiprdf.Nexus.open(tmp_path / "backup") as copy:
        assert [one["id"] for one in copy.proposals()] == ["prop-2"]
        copy.approve("prop-2")
        assert ages(copy) == {"Ada": 1, "Bo": 1}


def test_a_backup_has_no_decision_of_a_later_commit(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "brain") as nexus:
        propose(nexus, AGE, name="Ada", age=1)
        with kiprdf.Nexus.open(tmp_path / "brain", read_only=True) as reader:
            nexus.approve("prop-1")
            reader.backup(tmp_path / "backup")
    with kiprdf.Nexus.open(tmp_path / "backup") as copy:
        assert (ages(copy), [one["id"] for one in copy.proposals()]) == ({}, ["prop-1"])


def test_a_nexus_at_a_commit_has_no_proposals(nexus: kiprdf.Nexus) -> None:
    propose(nexus, AGE, name="Ada", age=63)
    with nexus.at(2) as past:
        assert past.proposals() == []


KILLED = """
import os, sys
import kiprdf
from kiprdf.store.proposals import Proposals
nexus = kiprdf.Nexus.open(sys.argv[1])
Proposals.decide = lambda self, id, decision: os._exit(9)
nexus.approve("prop-1")
"""


def test_after_a_crash_behind_the_commit_it_is_approved(tmp_path: Path) -> None:
    folder = tmp_path / "brain"
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.execute(AGE, name="Ada", age=36)
        for _ in range(2):
            propose(nexus, BIRTHDAY)
    process = start(["-c", KILLED, str(folder)], tmp_path / "out", tmp_path / "err")
    process.join(60)
    assert process.exitcode == 9, (tmp_path / "err").read_text()
    with kiprdf.Nexus.open(folder) as nexus:
        assert code_of(lambda: nexus.approve("prop-1")) == "KIP_2002"
        assert ages(nexus) == {"Ada": 37}
        propose(nexus, AGE, name="Bo", age=1)
        nexus.approve("prop-3")
    with kiprdf.Nexus.open(folder) as nexus:
        assert [one["state"] for one in nexus.proposals(all=True)] == [
            "approved",
            "open",
            "approved",
        ]


def test_an_approval_whose_commit_a_power_cut_took_waits_again(tmp_path: Path) -> None:
    folder, before = tmp_path / "brain", tmp_path / "before"
    with kiprdf.Nexus.open(folder, history=False) as nexus:
        nexus.execute(AGE, name="Ada", age=36)
        for name in ("Bo", "Eve"):
            propose(nexus, AGE, name=name, age=1)
        nexus.approve("prop-1")
    shutil.copytree(folder, before)
    with kiprdf.Nexus.open(folder, history=False) as nexus:
        propose(nexus, AGE, name="Ada", age=36)
        nexus.approve("prop-2")
        nexus.approve("prop-3")
    shutil.copy(folder / FILE, before / FILE)
    with kiprdf.Nexus.open(before, history=False) as nexus:
        for name in ("Max", "Kim"):
            nexus.execute(AGE, name=name, age=1)
        assert [one["id"] for one in nexus.proposals()] == ["prop-2"]
        nexus.approve("prop-2")
        assert ages(nexus) == {"Ada": 36, "Bo": 1, "Eve": 1, "Max": 1, "Kim": 1}
        assert nexus.proposals() == []


def test_a_reader_sees_the_approval_that_only_the_commit_has_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: Any) -> None:
        raise kiprdf.StoreError("The disk is full.")

    with kiprdf.Nexus.open(tmp_path / "brain") as nexus:
        propose(nexus, AGE, name="Ada", age=1)
        propose(nexus, AGE, name="Bo", age=1)
        monkeypatch.setattr(Proposals, "decide", fail)
        assert code_of(lambda: nexus.approve("prop-1")) == "KIP_4003"
        assert ages(nexus) == {"Ada": 1}
        with kiprdf.Nexus.open(tmp_path / "brain", read_only=True) as reader:
            assert [one["id"] for one in reader.proposals()] == ["prop-2"]


def test_the_record_of_another_nexus_decides_nothing(tmp_path: Path) -> None:
    with kiprdf.Nexus.memory(history=True) as other:
        propose(other, AGE, name="Ada", age=1)
        other.approve("prop-1")
        other.snapshot(tmp_path / "all.ttl", history=tmp_path / "all.rdfp")
    with kiprdf.Nexus.open(tmp_path / "brain") as nexus:
        propose(nexus, AGE, name="Bo", age=2)
        nexus.restore(tmp_path / "all.ttl", history=tmp_path / "all.rdfp")
        assert [one["state"] for one in nexus.proposals()] == ["open"]
        nexus.approve("prop-1")
        assert ages(nexus) == {"Ada": 1, "Bo": 2}


def test_a_line_that_a_crash_has_cut_is_written_over(tmp_path: Path) -> None:
    folder = tmp_path / "brain"
    with kiprdf.Nexus.open(folder) as nexus:
        propose(nexus, AGE, name="Ada", age=1)
    with (folder / FILE).open("ab") as file:
        file.write(b'{"id":"prop-2","text":"UPS')
    with kiprdf.Nexus.open(folder) as nexus:
        assert [one["id"] for one in nexus.proposals()] == ["prop-1"]
        assert propose(nexus, AGE, name="Bo", age=1) == "prop-2"
    assert [json.loads(line)["id"] for line in (folder / FILE).open()] == ["prop-1", "prop-2"]


@pytest.mark.parametrize("line", [b"\x00\x01", b"[]", b"5", b"{}", b'{"id'])
def test_a_damaged_line_is_named(tmp_path: Path, line: bytes) -> None:
    folder = tmp_path / "brain"
    with kiprdf.Nexus.open(folder) as nexus:
        for name in ("Ada", "Bo"):
            propose(nexus, AGE, name=name, age=1)
        nexus.decline("prop-1", "No.")
        lines = (folder / FILE).read_bytes().splitlines()
        (folder / FILE).write_bytes(b"\n".join([line, *lines[1:], b""]))
        sentence = "Line 1 of proposals.jsonl is damaged: remove it, or the file."
        for use in (nexus.proposals, lambda: nexus.approve("prop-2"), lambda: propose(nexus, FACT)):
            with pytest.raises(kiprdf.KipError, match=sentence):
                use()
        assert sentence in nexus.check()["faults"]
        assert nexus.execute(AGE, name="Max", age=1)["upsert_concept_nodes"] == ["C:Person/Max"]
        # As the sentence says: what is left of the removed proposal is its decision alone.
        (folder / FILE).write_bytes(b"\n".join([*lines[1:], b""]))
        assert [one["id"] for one in nexus.proposals(all=True)] == ["prop-2"]
        assert nexus.check()["faults"] == []
        nexus.approve("prop-2")


def test_the_file_keeps_the_last_thousand_decisions_and_every_number(tmp_path: Path) -> None:
    kept = Proposals(None)
    for _ in range(2 * KEPT_DECIDED + 2):
        kept.add({"by": "model/bot"})
    for number in range(1, 2 * KEPT_DECIDED + 2):
        kept.decide(f"prop-{number}", {"state": "declined"})
    left = [one["id"] for one in kept.all()]
    assert (left[0], len(left)) == ("prop-1002", KEPT_DECIDED + 1)
    assert kept.add({"by": "model/bot"}) == "prop-2003"


def test_an_erasure_list_removes_proposals_from_a_backup(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "brain") as nexus:
        for name in ("Zachariah", "Ada"):
            propose(nexus, AGE, name=name, age=36)
        nexus.backup(tmp_path / "copy")
        nexus.approve("prop-1")
        nexus.forget('FIND(?p) WHERE { ?p {type: "Person", name: "Zachariah"} }')
        erased = nexus.erasures()
    with kiprdf.Nexus.open(tmp_path / "copy") as copy:
        assert len(copy.proposals()) == 2
        copy.apply_erasures(erased)
        assert [one["id"] for one in copy.proposals()] == ["prop-2"]
    assert b"achariah" not in (tmp_path / "copy" / FILE).read_bytes()


def test_forgetting_removes_the_proposals_that_mention_a_name(tmp_path: Path) -> None:
    folder = tmp_path / "brain"
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.execute(AGE, name="Zachariah", age=36)
        propose(nexus, AGE, name="Zachariah", age=37)
        propose(nexus, AGE, name="Ada", age=1)
        propose(nexus, AGE, name="Bo", age="a friend of Zachariah")
        propose(nexus, 'UPSERT { CONCEPT { {type: "Person", name: "\\u005aachariah 2"} } }')
        nexus.decline("prop-2", "Said by Zachariah.")
        propose(nexus, AGE, name="Eve", age=1)
        find = 'FIND(?p) WHERE { ?p {type: "Person", name: "Zachariah"} }'
        removed = ["prop-1", "prop-2", "prop-3", "prop-4"]
        assert nexus.forget(find, dry_run=True)["proposals"] == removed
        assert len(nexus.proposals(all=True)) == 5
        assert nexus.forget(find)["proposals"] == removed
        assert [one["id"] for one in nexus.proposals(all=True)] == ["prop-5"]
        assert propose(nexus, AGE, name="Max", age=1) == "prop-6"
    content = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"achariah" not in content
    assert b"Eve" in content
