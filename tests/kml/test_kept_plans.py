"""UPDATE and DELETE whose WHERE is compiled once write what they would write without that."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

import kiprdf
from kiprdf.kql import find
from tests.nexus.support import StoppedClock, facts
from tests.shortcuts import no_shortcuts

ITEMS = [
    {"type": "T", "name": f"t{n}", "n": value}
    for n, value in enumerate((7, 7.0, "7", [7, 8], 8, True, 0, -0.0, 2**60, None, "x", "xy"))
]
STATEMENTS: dict[str, list[dict[str, Any]]] = {
    'UPDATE ?x SET ATTRIBUTES {state: :v} WHERE { ?x {type: "T"} FILTER(?x.attributes.n == :n) }': [
        {"n": n, "v": v}
        for n, v in ((7, 1), (7.0, {"a": [1]}), ("7", None), (8, [2]), (0, 0), (2**60, "y"))
    ],
    "UPDATE ?x SET ATTRIBUTES {n: :n, again: :n} WHERE { ?x {type: :t} "
    "FILTER(?x.attributes.n >= :n && ?x.attributes.n < :m) }": [
        {"t": "T", "n": n, "m": m} for n, m in ((7, 8), (7, 9), (0, 1), ("x", "y"), (8, 8))
    ],
    "UPDATE ?x SET METADATA {seen: ADD(COALESCE(?x.metadata.seen, 0), :by)} "
    "WHERE { ?x {name: :name} } LIMIT :most": [
        {"name": name, "by": by, "most": most}
        for name, by, most in (("t1", 1, 5), ("t2", 2.5, 1), ("t1", 3, 1), ("none", 1, 1))
    ],
    "UPDATE ?x SET ATTRIBUTES :all WHERE { ?x {id: :id} }": [
        {"id": f"C:T/t{n}", "all": values}
        for n, values in ((1, {"a": 1}), (2, {"b": [1, {"c": None}]}), (1, {"a": 2, "d": "e"}))
    ],
    'UPDATE ?l SET ATTRIBUTES {page: 7} WHERE { ?l (?x, "p", ?y) FILTER(?l.metadata.s == :s) }': [
        {"s": s} for s in ("a", "b", "c", "a")
    ],
    'DELETE ATTRIBUTES {"state", "n"} FROM ?x WHERE { ?x {type: "T"} '
    "FILTER(STARTS_WITH(?x.attributes.n, :n)) }": [{"n": n} for n in ("z", "x", "x", "7")],
    'DELETE METADATA {"s"} FROM ?l WHERE { ?l (?x, "p", ?y) FILTER(?l.metadata.s == :s) }': [
        {"s": s} for s in ("q", "a", "a")
    ],
    "DELETE PROPOSITIONS ?l WHERE { ?l (?x, :p, ?y) FILTER(?x.name == :name) }": [
        {"p": "p", "name": name} for name in ("none", "t0", "t1", "t1")
    ],
    "DELETE CONCEPT ?x DETACH WHERE { ?x {type: :t} FILTER(?x.attributes.n == :n) }": [
        {"t": t, "n": n} for t, n in (("T", 99), ("T", 7), ("T", "x"), ("U", 7))
    ],
    # Refused, or nothing is matched
    "UPDATE ?x SET ATTRIBUTES {a: ADD(1, :by)} WHERE { ?x {type: :t, name: :name} } LIMIT :most": [
        {"t": t, "name": name, "by": by, "most": most}
        for t, name, by, most in (
            *(("T", "t3", 1, 1), ("T", "t3", "1", 1), ("T", "t33", 1, 1), ("T", "t4", 1, 0)),
            *(("Q", "t3", 1, 1), ("T", 3, 1, 1), ("T", "t5", 2, 9), ("T", "t5", None, 9)),
        )
    ],
    "UPDATE ?x SET METADATA :all WHERE { ?x {type: :t} FILTER(?x.name == :t) }": [
        {"t": "T", "all": values} for values in ({"a": 1}, {"_version": 3}, 7, {"a": 1}, {"": 1})
    ],
}


@pytest.fixture
def nexuses() -> Iterator[tuple[kiprdf.Nexus, kiprdf.Nexus]]:
    with _nexus() as nexus, _nexus() as other:
        yield nexus, other


def _nexus() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(genesis=False, clock=StoppedClock())
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "T"} } '
        'CONCEPT { {type: "$ConceptType", name: "U"} } '
        'CONCEPT { {type: "$PropositionType", name: "p"} } }'
    )
    for item in ITEMS:
        nexus.execute(
            "UPSERT { CONCEPT { {type: :type, name: :name} SET ATTRIBUTES {n: :n} } }", **item
        )
    for number in range(6):
        nexus.execute(
            'UPSERT { CONCEPT { {type: "T", name: :a} '
            'SET PROPOSITIONS { ("p", {type: "T", name: :b}) WITH METADATA {s: :s} } } }',
            a=f"t{number}",
            b=f"t{number + 5}",
            s="ab"[number % 2],
        )
    return nexus


def _receipt(nexus: kiprdf.Nexus, command: str, parameters: dict[str, Any]) -> Any:
    response = nexus.execute_kip({"command": command, "parameters": parameters})
    return response.get("error") or response["result"]


def test_receipts_and_graphs_are_the_same(nexuses: tuple[kiprdf.Nexus, kiprdf.Nexus]) -> None:
    nexus, other = nexuses
    for command, calls in STATEMENTS.items():
        for parameters in calls[:2] + calls:
            receipt = _receipt(nexus, command, parameters)
            with no_shortcuts():
                assert receipt == _receipt(other, command, parameters), (command, parameters)
            assert facts(nexus) == facts(other), (command, parameters)
    assert nexus.info()["commit"] == other.info()["commit"]


def test_the_same_with_the_values_in_the_text(
    nexuses: tuple[kiprdf.Nexus, kiprdf.Nexus],
) -> None:
    nexus, other = nexuses
    for command, calls in STATEMENTS.items():
        for parameters in calls[:2] + calls:
            text = re.sub(r"(?<!\w):(\w+)", lambda name: json.dumps(parameters[name[1]]), command)  # noqa: B023
            response = nexus.execute_kip({"command": text})
            with no_shortcuts():
                assert response == other.execute_kip({"command": text}), text
            assert facts(nexus) == facts(other), text
            nexus._engine.statements.forget_texts()
    assert nexus.info()["commit"] == other.info()["commit"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('UPDATE ?x SET ATTRIBUTES {v: ADD(%d, "a")} WHERE { ?x {type: "T", name: "t1"} }', '"a"'),
        ('UPDATE ?x SET ATTRIBUTES {v: %d} WHERE { ?x {type: "T", name: "t99"} }', '"t99"'),
        ('DELETE ATTRIBUTES {"n"} FROM ?x WHERE { ?x {type: "T", name: "t%d77"} }', '"t177"'),
    ],
)
def test_an_error_has_its_place_in_the_text_that_was_sent(
    nexuses: tuple[kiprdf.Nexus, kiprdf.Nexus], text: str, place: str
) -> None:
    nexus, _ = nexuses
    for number in (3, 2, 1):
        with pytest.raises(kiprdf.KipError) as raised:
            nexus.execute(text % number)
    error = raised.value
    assert (error.source, (text % 1)[slice(*error.span)]) == (text % 1, place)


def test_a_where_is_compiled_once(
    nexuses: tuple[kiprdf.Nexus, kiprdf.Nexus], monkeypatch: pytest.MonkeyPatch
) -> None:
    nexus, _ = nexuses
    compiled: list[object] = []
    plan_bindings = find.plan_bindings

    def noted(*arguments: Any, **options: Any) -> Any:
        compiled.append(arguments)
        return plan_bindings(*arguments, **options)

    monkeypatch.setattr(find, "plan_bindings", noted)
    update = next(iter(STATEMENTS))
    delete = 'DELETE ATTRIBUTES {"n"} FROM ?x WHERE { ?x {type: "T"} FILTER(?x.name == :n) }'
    for command in (update, delete):
        compiled.clear()
        for n in ("1", "2", "3", "4", "5"):
            # A parameter that the command does not have is ignored.
            nexus.execute(command, n=n, v=n, more=n)
        assert len(compiled) == 2, command
        compiled.clear()
        for n in ("1", "2", "3", "4", "5"):
            nexus.execute(command.replace(":n", f'"{n}"').replace(":v", n))
        assert len(compiled) == 2, command


def test_a_dry_run_shows_the_receipt_and_writes_nothing(
    nexuses: tuple[kiprdf.Nexus, kiprdf.Nexus],
) -> None:
    nexus, _ = nexuses
    command = 'UPDATE ?x SET ATTRIBUTES {v: :v} WHERE { ?x {type: "T"} FILTER(?x.name == :n) }'
    for number in range(4):
        before = facts(nexus)
        tried = nexus.execute(command, dry_run=True, n="t1", v=number)
        assert facts(nexus) == before
        assert tried == nexus.execute(command, n="t1", v=number) == {"updated": 1, "matched": 1}
        assert facts(nexus) != before


def test_a_kept_plan_notices_that_a_type_is_defined(
    nexuses: tuple[kiprdf.Nexus, kiprdf.Nexus],
) -> None:
    nexus, _ = nexuses
    command = 'UPDATE ?x SET ATTRIBUTES {v: 1} WHERE { ?x {type: "W"} FILTER(?x.name == :n) }'
    defined = 'UPSERT { CONCEPT { {type: "$ConceptType", name: "W"} } }'
    dropped = 'DELETE CONCEPT ?t DETACH WHERE { ?t {type: "$ConceptType", name: "W"} }'
    for _ in range(3):
        assert _receipt(nexus, command, {"n": "a"})["code"] == "KIP_2001"
        nexus.execute(defined)
        for _ in range(3):
            assert _receipt(nexus, command, {"n": "a"}) == {"updated": 0, "matched": 0}
        nexus.execute(dropped)
