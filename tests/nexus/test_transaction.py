"""``Nexus.transaction``: reads and writes that are one commit."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import rdflib

from kiprdf import AsyncNexus, KipError, Nexus
from kiprdf.execution.transaction import Transaction
from tests.nexus.support import FACTS, SCHEMA

ASPIRIN = {"type": "Drug", "name": "Aspirin"}
FEVER = {"type": "Symptom", "name": "Fever"}
ANN = {"type": "User", "name": "Ann"}
DRUGS = 'FIND(?d) WHERE { ?d {type: "Drug"} }'
TREATS = {"subject": ASPIRIN, "predicate": "treats", "object": FEVER}


@pytest.fixture
def nexus() -> Nexus:
    nexus = Nexus.memory(history=True)
    nexus.execute(SCHEMA)
    nexus.execute(FACTS)
    return nexus


def commit_of(nexus: Nexus) -> int:
    number: int = nexus.info()["commit"]
    return number


def risk(nexus: Nexus) -> Any:
    return nexus.execute('FIND(?d.attributes.risk) WHERE { ?d {type: "Drug", name: "Aspirin"} }')


def names(nexus: Nexus, type: str) -> list[str]:
    all_names: list[str] = nexus.execute(
        "FIND(?d.name) WHERE { ?d {type: :t} } ORDER BY ?d.name", t=type
    )
    return all_names


def test_all_that_is_written_is_one_commit_which_undo_takes_back(nexus: Nexus) -> None:
    before, number = nexus.snapshot(engine_metadata=False), commit_of(nexus)

    def write(tx: Transaction) -> str:
        tx.write([{**ANN, "attributes": {"age": 40}}, {"type": "Drug", "name": "Zinc"}])
        stated = {"subject": ANN, "predicate": "stated", "object": TREATS, "attributes": {"n": 1}}
        tx.write([stated, {**TREATS, "metadata": {"source": "Ann"}}], ["C:Symptom/Headache"])
        receipt = tx.execute("UPSERT { CONCEPT { {type: :t, name: :n} } }", t="Drug", n="Iron")
        assert receipt["upsert_concept_nodes"] == ["C:Drug/Iron"]
        return "done"

    assert nexus.transaction(write) == "done"
    assert commit_of(nexus) == number + 1
    assert (names(nexus, "Drug"), names(nexus, "Symptom")) == (
        ["Aspirin", "Iron", "Zinc"],
        ["Fever"],
    )
    facts = nexus.find(
        'FIND(?d.name, ?l.metadata.source, ?x.attributes.n) WHERE { ?l (?d, "treats", ?s)'
        ' ?x (?u, "stated", ?l) }'
    )
    assert facts.tuples() == (("Aspirin", "Ann", 1),)
    nexus.undo(seq=number + 1)
    assert nexus.snapshot(engine_metadata=False) == before


def test_propositions_about_the_same_propositions_are_written_once(nexus: Nexus) -> None:
    last: dict[str, Any] = ASPIRIN
    next_: dict[str, Any] = FEVER
    facts = []
    for _ in range(40):  # a tree of all ends would have 2 ** 27 parts
        last, next_ = next_, {"subject": last, "predicate": "stated", "object": next_}
        facts.append(next_)
    nexus.transaction(lambda tx: tx.write(reversed(facts)))
    # One was there already.
    assert nexus.execute('FIND(COUNT(?l)) WHERE { ?l (?x, "stated", ?y) }') == 41


def test_an_element_of_a_find_is_written_back(nexus: Nexus) -> None:
    def write(tx: Transaction) -> None:
        (drug,) = tx.find('FIND(?d) WHERE { ?d {type: "Drug"} }').column("?d")
        (claim,) = tx.find('FIND(?l) WHERE { ?l (?u, "stated", ?x) }').column("?l")
        drug["attributes"] |= {"risk": 3, "parts": [1, {"of": None}]}
        claim["attributes"]["wording"] = "it helps"
        tx.write([claim, drug, {**ASPIRIN, "attributes": {"colour": "red"}}])

    nexus.transaction(write)
    drug, claim = (
        nexus.execute(f"FIND(?x) WHERE {{ {where} }}")[0]
        for where in ('?x {type: "Drug"}', '?x (?u, "stated", ?l)')
    )
    assert drug["attributes"] == {"risk": 3, "parts": [1, {"of": None}], "colour": "red"}
    assert (drug["metadata"]["_version"], claim["attributes"]) == (2, {"wording": "it helps"})


def test_it_reads_the_state_before_and_keeps_what_it_both_writes_and_removes(nexus: Nexus) -> None:
    find = 'FIND(?d.name) WHERE { ?d {type: "Drug"} }'

    def write(tx: Transaction) -> list[Any]:
        tx.write([], ["C:Drug/Aspirin", "C:User/Ann", "C:Drug/Nothing"])
        tx.write([ASPIRIN, {"type": "Drug", "name": "Zinc"}])
        return tx.find(find).column("?d.name")

    assert nexus.transaction(write) == ["Aspirin"]
    assert (names(nexus, "Drug"), names(nexus, "User")) == (["Aspirin", "Zinc"], [])
    number = commit_of(nexus)
    assert len(nexus.transaction(lambda tx: tx.find(find))) == 2
    assert commit_of(nexus) == number


def test_a_dry_run_checks_all_and_writes_nothing(nexus: Nexus) -> None:
    number = commit_of(nexus)
    assert nexus.transaction(lambda tx: tx.write([FEVER], ["C:Drug/Aspirin"]), dry_run=True) is None
    with pytest.raises(KipError, match=r"KIP_2002 'Drug' still has 1 concept\."):
        nexus.transaction(lambda tx: tx.write([], ["C:$ConceptType/Drug"]), dry_run=True)
    assert (commit_of(nexus), names(nexus, "Drug")) == (number, ["Aspirin"])


def deep(levels: int) -> dict[str, Any]:
    """A proposition whose subject is one, and so on."""
    return TREATS if levels == 0 else {**TREATS, "subject": deep(levels - 1)}


WRONG: list[tuple[Callable[[Transaction], object], str]] = [
    (lambda tx: tx.write([{"type": "Dru", "name": "x"}]), "KIP_2001 Concept type 'Dru' is not"),
    (lambda tx: tx.write([{"type": "Drug"}]), "KIP_1001 {'type': 'Drug'} is no element."),
    (lambda tx: tx.write(["C:Drug/Aspirin"]), "KIP_1001 'C:Drug/Aspirin' is no element."),  # type: ignore[list-item]
    (lambda tx: tx.write([{**TREATS, "object": 7}]), "KIP_1001 7 is no element."),
    (lambda tx: tx.write([{**TREATS, "object": "C:Symptom/No"}]), "KIP_3002 There is no concept"),
    (lambda tx: tx.write([{**ANN, "attributes": {"a": {1, 2}}}]), "KIP_1001 A value of the Python"),
    (lambda tx: tx.write([{**ANN, "attributes": {7: 1}}]), "KIP_1001 The attributes of an element"),
    (lambda tx: tx.write([{**ANN, "metadata": [1]}]), "KIP_1001 The metadata of an element"),
    (lambda tx: tx.write([{**ANN, "attributes": {"a b": 1}}]), "KIP_1002 'a b' is not a valid key"),
    (lambda tx: tx.write([{"type": "Drug", "name": " x"}]), "KIP_1002 The name ' x' of a new"),
    (lambda tx: tx.write([deep(900)]), "KIP_4002 An element is nested in more than 64 "),
    (lambda tx: tx.write([], ["Aspirin"]), "KIP_1001 'Aspirin' is no id."),
    (lambda tx: tx.write([], [7]), "KIP_1001 7 is no id."),  # type: ignore[list-item]
    (
        lambda tx: tx.write([TREATS], ["C:Drug/Aspirin"]),
        "KIP_2002 P:[0-9a-f]+:treats is written and",
    ),
    (lambda tx: tx.write([], ["C:Person/$self"]), "KIP_3004 "),
    (lambda tx: tx.execute("FIND(?d) WHERE { ?d {} }"), "KIP_1001 1:"),
    (lambda tx: tx.execute('FIND(?d) WHERE { ?d {type: "Drug"} }'), "KIP_1001 1:1 This call takes"),
    (lambda tx: tx.execute('UPSERT { CONCEPT { {type: "D", name: "x"} } }'), "KIP_2001 1:27 "),
    (lambda tx: tx.find("DESCRIBE DOMAINS"), "KIP_1001 1:1 This call takes FIND only."),
]


@pytest.mark.parametrize("wrong", WRONG, ids=[message for _, message in WRONG])
def test_a_fault_is_a_located_error_and_nothing_is_written(
    nexus: Nexus, wrong: tuple[Callable[[Transaction], object], str]
) -> None:
    number = commit_of(nexus)

    def write(tx: Transaction) -> None:
        tx.write([{"type": "Drug", "name": "Zinc"}])
        wrong[0](tx)

    with pytest.raises(KipError, match=f"^{wrong[1].replace('(', '[(]')}"):
        nexus.transaction(write)
    assert (commit_of(nexus), names(nexus, "Drug")) == (number, ["Aspirin"])


def test_a_transaction_that_is_over_takes_nothing_more(nexus: Nexus) -> None:
    kept: list[Transaction] = []
    nexus.transaction(kept.append)
    with pytest.raises(KipError, match="KIP_1001 The transaction is over"):
        kept[0].write([{"type": "Drug", "name": "Zinc"}])
    assert names(nexus, "Drug") == ["Aspirin"]


def test_what_the_function_raises_is_passed_on_and_nothing_is_written(nexus: Nexus) -> None:
    def write(tx: Transaction) -> None:
        tx.write([{"type": "Drug", "name": "Zinc"}])
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        nexus.transaction(write)
    assert names(nexus, "Drug") == ["Aspirin"]


@pytest.mark.parametrize(
    "other",
    [
        lambda nexus: nexus.execute(
            'UPDATE ?d SET ATTRIBUTES { risk: 9 } WHERE { ?d {type: "Drug"} }'
        ),
        lambda nexus: nexus.transaction(add_one),
        lambda nexus: nexus.transaction(lambda tx: None),
        lambda nexus: nexus.forget(["C:Drug/Aspirin"]),
        lambda nexus: nexus.undo(seq=commit_of(nexus)),
    ],
)
def test_the_function_writes_by_nothing_but_the_transaction(
    nexus: Nexus, other: Callable[[Nexus], object]
) -> None:
    def write(tx: Transaction) -> None:
        add_one(tx)
        other(nexus)

    before = nexus.snapshot()
    with pytest.raises(KipError, match=r"KIP_1001 A transaction runs.* Hint: Write by the trans"):
        nexus.transaction(write)
    assert nexus.snapshot() == before
    assert nexus.transaction(add_one) == 2
    assert nexus.execute("DESCRIBE DOMAINS")


def test_what_is_deleted_cannot_be_written_in_the_same_transaction(nexus: Nexus) -> None:
    def write(tx: Transaction) -> None:
        tx.execute('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug"} }')
        tx.write([ASPIRIN])

    with pytest.raises(KipError, match="KIP_2002 C:Drug/Aspirin is written and deleted"):
        nexus.transaction(write)
    assert names(nexus, "Drug") == ["Aspirin"]


def add_one(tx: Transaction) -> int:
    (number,) = tx.find('FIND(?d.attributes.risk) WHERE { ?d {type: "Drug"} }').tuples()[0]
    tx.write([{**ASPIRIN, "attributes": {"risk": number + 1}}])
    return int(number)


def test_threads_and_tasks_do_not_write_between_reading_and_writing(nexus: Nexus) -> None:
    threads = [
        threading.Thread(target=lambda: [nexus.transaction(add_one) for _ in range(10)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert risk(nexus) == [42]

    async def count() -> list[int]:
        asynchronous = AsyncNexus(nexus)
        done = [asynchronous.transaction(add_one) for _ in range(5)]
        dry = await asynchronous.transaction(add_one, dry_run=True)
        assert dry == 42
        return sorted(await asyncio.gather(*done))

    assert asyncio.run(count()) == [42, 43, 44, 45, 46]
    assert risk(nexus) == [47]


def test_a_nexus_that_is_open_read_only_is_not_written(tmp_path: Path) -> None:
    with Nexus.open(tmp_path / "brain") as nexus:
        nexus.execute(SCHEMA)
        nexus.execute(FACTS)
    with Nexus.open(tmp_path / "brain", read_only=True) as nexus:
        with pytest.raises(KipError, match="KIP_1001 The nexus is open read-only"):
            nexus.transaction(lambda tx: tx.find("FIND(?d) WHERE { ?d {name: 'x'} }"))
        with pytest.raises(KipError, match="KIP_1001 The nexus is open read-only"):
            nexus.transaction(add_one, dry_run=True)
        assert nexus.transaction(lambda tx: len(tx.find(DRUGS)), dry_run=True) == 1


def test_two_nexuses_on_one_graph_of_rdflib_wait_for_each_other() -> None:
    graph = rdflib.Graph()
    nexus, other = Nexus.connect(graph), Nexus.connect(graph)
    nexus.execute(SCHEMA)
    nexus.execute(FACTS)
    thread = threading.Thread(target=lambda: other.transaction(add_one))

    def write(tx: Transaction) -> int:
        before = add_one(tx)
        if not thread.ident:
            thread.start()
        return before

    assert nexus.transaction(write) == 2
    thread.join()
    assert (risk(nexus), risk(other)) == ([4], [4])
