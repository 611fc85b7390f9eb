"""Writes that look like mistakes, and hints of writes that change nothing else than is meant."""

from __future__ import annotations

import json
import os
import random
import re
import statistics
import time
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.execution import likely_mistakes
from kiprdf.execution.likely_mistakes import is_near
from tests.cases import each_case
from tests.nexus.support import untouched

SCHEMA = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} }
  CONCEPT { {type: "$ConceptType", name: "City"} }
  CONCEPT { {type: "$PropositionType", name: "knows"} }
  CONCEPT { {type: "$PropositionType", name: "near"} }
}
"""
ASPIRIN = 'UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES {birthday: 1} } }'


@pytest.fixture
def nexus() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(history=True)
    nexus.execute(SCHEMA)
    nexus.execute(ASPIRIN)
    return nexus


def create(nexus: kiprdf.Nexus, name: str, type: str = "Drug", **options: Any) -> list[Any]:
    """The warnings of a new concept."""
    command = "UPSERT { CONCEPT { {type: :type, name: :name} } }"
    parameters = {"type": type, "name": name}
    response = nexus.execute_kip({"command": command, "parameters": parameters, **options})
    assert "error" not in response, response
    return response.get("warnings", [])


def link(nexus: kiprdf.Nexus, subject: str, predicate: str, object: str) -> list[Any]:
    ends = [f'{{type: "Drug", name: "{name}"}}' for name in (subject, object)]
    command = f'UPSERT {{ PROPOSITION {{ ({ends[0]}, "{predicate}", {ends[1]}) }} }}'
    response = nexus.execute_kip({"command": command})
    assert "error" not in response, response
    return response.get("warnings", [])


def follow(nexus: kiprdf.Nexus, warning: dict[str, str]) -> dict[str, Any]:
    """The answer to the first command of a hint."""
    return nexus.execute(re.findall("`([^`]*)`", warning["hint"])[0])  # type: ignore[no-any-return]


# Names --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["aspirin", "ASPIRIN", "Asprin", "Aspirine", "Apsirin", "Aspirim", "Aspirin."]
)
def test_a_new_name_near_another_one_is_warned_of(nexus: kiprdf.Nexus, name: str) -> None:
    with untouched(nexus):
        (tried,) = create(nexus, name, dry_run=True)
    assert (tried["name"], "`" in tried["hint"]) == ("NearName", False)
    (warning,) = create(nexus, name)
    assert warning["message"] == tried["message"]
    assert warning["message"].endswith('is new, and there is {type: "Drug", name: "Aspirin"}.')
    assert create(nexus, name) == []
    assert follow(nexus, warning)["merged"] is True
    assert nexus.execute('FIND(?d.name) WHERE { ?d {type: "Drug"} }') == ["Aspirin"]


@pytest.mark.parametrize(
    "pair",
    [
        ("Item 1", "Item 2"),
        ("Item 1", "Item 11"),
        ("v1.2.3", "v1.3.3"),
        ("KIP-1a", "KIP-1b"),
        ("2026-01-01", "2026-01-02"),
        ("Plan A", "Plan B"),
        ("Henry VII", "Henry VIII"),
        ("Pope John XXII", "Pope John XXIII"),
        ("Grade A", "Grade A+"),
        ("Grade B+", "Grade B-"),
        ("Bob", "Rob"),
        ("Ann", "Anna"),
        ("Rome", "Paris"),
        ("Berlin", "Dublin"),
        ("Aspirin", "Aspirin forte"),
        ("x" * 150, "x" * 151),
    ],
)
def test_what_often_differs_in_a_letter_is_not(nexus: kiprdf.Nexus, pair: tuple[str, str]) -> None:
    assert [create(nexus, name, "City") for name in pair] == [[], []]
    # The positive control.
    assert create(nexus, "Aspirim") != []


@pytest.mark.parametrize(
    "pair",
    [
        ("Us", "US"),
        ("Ada Lovelace", "\u0410da Lovelace"),
        ("Zürich", "ZÜRICH"),
        ("Item 1", "ITEM 1"),
        ("Ada Lovelace", "Ada  Lovelace"),
        ("Data Base", "Data_Base"),
        ("Node.js", "Nodejs"),
        ("Zurich", "Zürich"),
        ("Simone de Müller", "Simone de Muller"),
        ("Ångström", "Angstrom"),
        ("Michael O'Brien", "Michael O’Brien"),
        ("Item 1", "Item  1"),
    ],
)
def test_case_and_looks_count_for_short_names_too(
    nexus: kiprdf.Nexus, pair: tuple[str, str]
) -> None:
    first, (second,) = create(nexus, pair[0], "City"), create(nexus, pair[1], "City")
    assert (first, second["name"]) == ([], "NearName")


def test_a_hint_quotes_names_as_a_command_does(nexus: kiprdf.Nexus) -> None:
    create(nexus, 'Say "hello\\" twice')
    (warning,) = create(nexus, 'Say "hallo\\" twice')
    assert follow(nexus, warning)["merged"] is True
    create(nexus, "Say `hello`")
    (warning,) = create(nexus, "Say `hallo`")
    assert warning["hint"] == 'If {type: "Drug", name: "Say `hello`"} is meant, write that.'


def test_a_name_of_a_row_is_compared_with_the_one_of_its_number(nexus: kiprdf.Nexus) -> None:
    for number in range(1, 4):
        assert create(nexus, f"Figure {number}") == []
    for name in ("Figrue 2", "FIGURE 2"):
        (warning,) = create(nexus, name, dry_run=True)
        assert warning["message"].endswith('there is {type: "Drug", name: "Figure 2"}.')
    assert create(nexus, "figrue 9") == []


def test_a_mistake_that_was_mended_is_warned_of_when_it_is_made_again(nexus: kiprdf.Nexus) -> None:
    for _ in range(2):
        (warning,) = create(nexus, "Asprin")
        follow(nexus, warning)
        parameters = {"attributes": {"brithday": 1}}
        (warning,) = nexus.execute_kip({"command": SET, "parameters": parameters})["warnings"]
        follow(nexus, warning)


def test_a_type_with_keys_that_are_data_costs_no_comparisons(
    nexus: kiprdf.Nexus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each new key was compared with all others: the 3 000th write took ten times as long."""
    monkeypatch.setattr(likely_mistakes, "MOST_KEYS", 20)
    compared: list[str] = []
    monkeypatch.setattr(likely_mistakes, "is_near", lambda one, other: compared.append(other))
    keys = ["".join(random.Random(i).sample("abcdefghijklmn", 8)) for i in range(60)]
    for key in keys:
        set_keys(nexus, key)
    assert set(compared) == set(keys[:20])


def test_a_dry_run_is_judged_beside_a_write(
    nexus: kiprdf.Nexus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a dry run compares is changed by a write, for which it does not wait."""
    set_keys(nexus, "colour", "height")
    used = nexus._engine.writer.mistakes._keys["Drug"]

    def is_near_beside(one: str, other: str) -> bool:
        used.add(f"{one}s")  # a write that is not committed yet
        return is_near(one, other)

    monkeypatch.setattr(likely_mistakes, "is_near", is_near_beside)
    assert len(set_keys(nexus, "brithday", dry_run=True)) == 1


def test_a_definition_near_another_one_is_deleted_by_its_hint(nexus: kiprdf.Nexus) -> None:
    (warning,) = create(nexus, "drug", "$ConceptType")
    assert follow(nexus, warning)["deleted_concepts"] == 1
    (warning,) = create(nexus, "known", "$PropositionType")
    assert follow(nexus, warning)["deleted_concepts"] == 1
    assert nexus.execute('FIND(?d.name) WHERE { ?d {type: "Drug"} }') == ["Aspirin"]


def test_only_names_of_the_type_that_are_still_there_count(nexus: kiprdf.Nexus) -> None:
    assert create(nexus, "aspirin", "City") == []
    nexus.execute('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug"} }')
    assert create(nexus, "Asprin") == []


def test_names_of_every_way_to_write_are_known(nexus: kiprdf.Nexus, tmp_path: Path) -> None:
    assert create(nexus, "Warmed") == []
    nexus.transaction(lambda all: all.write([{"type": "Drug", "name": "Ibuprofen"}]))
    nexus.load([{"type": "Drug", "name": "Ondansetron"}])
    capsule = 'UPSERT { CONCEPT { {type: "Drug", name: "Paracetamol"} } }'
    nexus.apply_capsule(capsule)
    for name in ("Ibuprofin", "Ondansetrom", "Paracetamoll"):
        assert [one["name"] for one in create(nexus, name)] == ["NearName"], name
    with kiprdf.Nexus.open(tmp_path / "kb") as stored:
        stored.execute(SCHEMA)
        stored.execute(ASPIRIN)
    with kiprdf.Nexus.open(tmp_path / "kb") as stored:
        assert [one["name"] for one in create(stored, "Asprin")] == ["NearName"]


def test_bulk_writes_are_not_judged(nexus: kiprdf.Nexus) -> None:
    new = [f"Aspirin{chr(97 + i % 26)}{'x' * (i // 26)}" for i in range(60)]
    blocks = " ".join(f'CONCEPT {{ {{type: "Drug", name: "{name}"}} }}' for name in new)
    assert "warnings" not in nexus.execute(f"UPSERT {{ {blocks} }}")
    assert "warnings" not in nexus.apply_capsule(
        'UPSERT { CONCEPT { {type: "Drug", name: "asp"} } }'
    )
    report = nexus.load([{"type": "Drug", "name": "ASPIRIN"}])
    assert "NearName" not in json.dumps(report)
    assert [one["name"] for one in create(nexus, "aspirinb")] == ["NearName"]


def test_many_warnings_are_counted(nexus: kiprdf.Nexus) -> None:
    names = [f"{chr(97 + i) * 6} Street" for i in range(14)]
    nexus.load([{"type": "City", "name": name} for name in names])
    blocks = " ".join(f'CONCEPT {{ {{type: "City", name: "{name.upper()}"}} }}' for name in names)
    warnings = nexus.execute(f"UPSERT {{ {blocks} }}")["warnings"]
    assert [one["name"] for one in warnings] == ["NearName"] * 10 + ["MoreWarnings"]
    assert warnings[-1]["message"] == "There are 4 more such warnings."


def test_the_library_has_them_in_the_receipt_and_in_the_answer(nexus: kiprdf.Nexus) -> None:
    command = 'UPSERT { CONCEPT { {type: "Drug", name: "aspirin"} } }'
    receipt = nexus.execute(command, dry_run=True)
    answer = nexus.answer(command, dry_run=True)
    assert [one["name"] for one in receipt["warnings"]] == ["NearName"]
    assert [one.name for one in answer.warnings] == ["NearName"]
    assert {**answer.result, "warnings": receipt["warnings"]} == receipt
    batch = nexus.execute_kip({"commands": [command], "dry_run": True})
    assert batch["result"][0]["warnings"] == receipt["warnings"]


LETTERS = "ab é1"


def one_step(text: str) -> set[str]:
    """All texts that a mistake of one key makes of a text."""
    cuts = [(text[:i], text[i:]) for i in range(len(text) + 1)]
    return (
        {a + b[1:] for a, b in cuts if b}
        | {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
        | {a + c + b[1:] for a, b in cuts if b for c in LETTERS}
        | {a + c + b for a, b in cuts for c in LETTERS}
    ) - {text}


@pytest.mark.parametrize("name", ["abab", "aabba", "ababab", "abéabab", "bababbaab"])
def test_every_mistake_of_one_key_is_found(name: str) -> None:
    """The index by halves finds what a comparison of each with each would."""
    names = likely_mistakes._Names([name])
    for other in one_step(name):
        keys = [likely_mistakes._masked(one) for one in (name, other)]
        expected = keys[0] == keys[1] or is_near(*keys)
        assert bool(names.near(other, False)) == expected, other
    assert sum(bool(names.near(other, False)) for other in one_step(name)) > len(name)


# Keys ---------------------------------------------------------------------------------------------

SET = 'UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES :attributes } }'


def set_keys(nexus: kiprdf.Nexus, *keys: str, **options: Any) -> list[str]:
    parameters = {"attributes": dict.fromkeys(keys, 2)}
    response = nexus.execute_kip({"command": SET, "parameters": parameters, **options})
    return [one["message"] for one in response.get("warnings", [])]


@pytest.mark.parametrize("key", ["brithday", "Birthday", "birth_day", "birthdays", "birtday"])
def test_a_new_key_near_one_in_use_is_warned_of(nexus: kiprdf.Nexus, key: str) -> None:
    assert len(set_keys(nexus, key, dry_run=True)) == 1
    response = nexus.execute_kip({"command": SET, "parameters": {"attributes": {key: 2}}})
    (warning,) = response["warnings"]
    assert warning["name"] == "NearKey"
    assert warning["message"].endswith("is new; its type has 'birthday'.")
    assert set_keys(nexus, key) == []
    assert follow(nexus, warning)["updated_concepts"] == 1
    (drug,) = nexus.execute('FIND(?d) WHERE { ?d {type: "Drug"} }')
    assert drug["attributes"] == {"birthday": 1}


def test_keys_that_differ_in_more_or_are_in_use_are_not(nexus: kiprdf.Nexus) -> None:
    assert set_keys(nexus, "colour", "age", "phone1", "phone2", "tag", "birthplace") == []
    assert set_keys(nexus, "tags", "ages", "phone3") == []
    nexus.execute('UPSERT { CONCEPT { {type: "City", name: "Rome"} SET ATTRIBUTES {color: 1} } }')
    # Another type has it: it is no slip.
    assert set_keys(nexus, "color") == []
    assert len(set_keys(nexus, "coulour")) == 1


def test_an_update_and_the_schema_of_a_type_count(nexus: kiprdf.Nexus) -> None:
    update = 'UPDATE ?d SET ATTRIBUTES {brithday: 1} WHERE { ?d {type: "Drug", name: "Aspirin"} }'
    assert [one["name"] for one in nexus.execute(update)["warnings"]] == ["NearKey"]
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "City"}'
        ' SET ATTRIBUTES {instance_schema: {population: {type: "number"}}} } }'
    )
    write = 'UPSERT { CONCEPT { {type: "City", name: "Rome"} SET ATTRIBUTES {populaton: 1} } }'
    assert [one["name"] for one in nexus.execute(write)["warnings"]] == ["NearKey"]


# Facts --------------------------------------------------------------------------------------------


@pytest.fixture
def letters(nexus: kiprdf.Nexus) -> kiprdf.Nexus:
    nexus.load([{"type": "Drug", "name": name} for name in "ABCDEF"])
    return nexus


def test_a_fact_that_exists_reversed_is_warned_of(letters: kiprdf.Nexus) -> None:
    assert link(letters, "A", "knows", "B") == []
    assert link(letters, "A", "near", "B") == []
    (warning,) = link(letters, "B", "knows", "A")
    assert warning["name"] == "ReversedFact"
    assert link(letters, "B", "knows", "A") == []
    delete, declare = re.findall("`([^`]*)`", warning["hint"])
    assert letters.execute(delete, dry_run=True) == {"deleted_propositions": 1}
    letters.execute(delete)
    rows = letters.execute('FIND(?a.name, ?b.name) WHERE { (?a, "knows", ?b) }')
    assert rows == [["A"], ["B"]]
    letters.execute(declare)
    assert link(letters, "B", "knows", "A") == []


def test_where_both_directions_are_usual_no_fact_is_reversed(letters: kiprdf.Nexus) -> None:
    pairs = ("AB", "BA", "CD", "DC", "EF")
    for subject, object in pairs:
        link(letters, subject, "knows", object)
    assert link(letters, "F", "knows", "E") == []
    for subject, object in ("AB", "CD", "EF"):
        link(letters, subject, "near", object)
    assert len(link(letters, "B", "near", "A")) == 1
    assert len(link(letters, "D", "near", "C")) == 1


def test_what_has_ended_is_not_reversed(letters: kiprdf.Nexus) -> None:
    link(letters, "A", "knows", "B")
    end = 'UPDATE ?l SET METADATA {superseded: true} WHERE { ?l (?a, "knows", ?b) }'
    letters.execute(end)
    assert link(letters, "B", "knows", "A") == []


# Hints of writes ----------------------------------------------------------------------------------

MISSING = '{type: "Drug", name: "Asprin"}'
CREATE = f"UPSERT {{ CONCEPT {{ {MISSING} }} }}"


@pytest.mark.parametrize(
    "command",
    [
        f'UPSERT {{ PROPOSITION {{ ({MISSING}, "knows", {{type: "Drug", name: "Aspirin"}}) }} }}',
        'UPSERT { CONCEPT { {id: "C:Drug/Asprin"} SET ATTRIBUTES {a: 1} } }',
        f"UPDATE ?d SET ATTRIBUTES {{a: 1}} WHERE {{ ?d {MISSING} }}",
        f'MERGE CONCEPT ?a INTO ?b WHERE {{ ?a {MISSING} ?b {{type: "Drug", name: "Tylenol"}} }}',
    ],
)
def test_a_write_to_what_is_absent_offers_its_creation(nexus: kiprdf.Nexus, command: str) -> None:
    nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "Tylenol"} } }')
    with untouched(nexus):
        error = nexus.execute_kip({"command": command})["error"]
    assert error["code"] == "KIP_3002"
    assert error["hint"].startswith("Did you mean ")
    (creation,) = re.findall("`([^`]*)`", error["hint"])
    assert creation == CREATE
    nexus.execute(creation)
    assert "error" not in nexus.execute_kip({"command": command})


@each_case(
    "command",
    [
        f"DELETE CONCEPT ?d DETACH WHERE {{ ?d {MISSING} }}",
        f'DELETE PROPOSITIONS ?l WHERE {{ ?l ({MISSING}, "knows", ?x) }}',
        f'DELETE ATTRIBUTES {{"birthday"}} FROM ?d WHERE {{ ?d {MISSING} }}',
        'DELETE CONCEPT ?d DETACH WHERE { ?d {name: "Asprin"} }',
        'DELETE ATTRIBUTES {"brithday"} FROM ?d WHERE { ?d {type: "Drug"} }',
    ],
)
def test_a_delete_of_what_is_absent_suggests_no_other(nexus: kiprdf.Nexus, command: str) -> None:
    with untouched(nexus):
        response = nexus.execute_kip({"command": command})
    problems = [response["error"]] if "error" in response else response["warnings"]
    hint = problems[-1]["hint"]
    assert hint.startswith("There is nothing to delete: ")
    assert "is another one." in hint
    assert "Did you mean" not in json.dumps(response)


def test_a_type_or_predicate_that_is_not_defined_may_be_new(nexus: kiprdf.Nexus) -> None:
    for type, command in (
        ("$ConceptType", 'UPSERT { CONCEPT { {type: "Drugs", name: "Ibuprofen"} } }'),
        (
            "$PropositionType",
            'UPSERT { PROPOSITION { ({type: "Drug", name: "Aspirin"}, "knew",'
            ' {type: "Domain", name: "Unsorted"}) } }',
        ),
    ):
        hint = nexus.execute_kip({"command": command})["error"]["hint"]
        (definition,) = re.findall("`([^`]*)`", hint)
        assert hint.startswith("Did you mean ")
        assert type in definition
        nexus.execute(definition)
        assert "result" in nexus.execute_kip({"command": command})
    read = nexus.execute_kip({"command": 'FIND(?d) WHERE { ?d {type: "Drogs"} }'})["error"]
    assert "define it first" not in read["hint"]


# What it costs ------------------------------------------------------------------------------------


@pytest.mark.skipif("KIPRDF_MISTAKES_RUNS" not in os.environ, reason="a long run")
def test_the_comparison_costs_little(tmp_path: Path) -> None:
    """KIPRDF_MISTAKES_RUNS is the number of runs of 12 writes, in random order."""
    random_ = random.Random(1)
    write = (
        'UPSERT { CONCEPT { {type: "City", name: :name} SET PROPOSITIONS '
        '{ ("belongs_to_domain", {type: "Domain", name: "Unsorted"}) } } }'
    )
    stores = {on: kiprdf.Nexus.open(tmp_path / str(on)) for on in (True, False)}
    for on, nexus in stores.items():
        nexus.execute(SCHEMA)
        nexus._engine.writer.mistakes._is_near = on
    times: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(int(os.environ["KIPRDF_MISTAKES_RUNS"])):
        for on in random_.sample([True, False], 2):
            names = ["".join(random_.choices("abcdefghijklmnop ", k=14)) + "x" for _ in range(12)]
            start = time.process_time()
            for name in names:
                stores[on].execute(write, name=f"x{name}")
            times[on].append(time.process_time() - start)
    for nexus in stores.values():
        nexus.close()
    ratio = statistics.median(times[True]) / statistics.median(times[False])
    print(f"with / without: {ratio:.3f}")
    assert ratio < 1.05


@each_case(
    "command",
    [
        'DELETE PROPOSITIONS ?l WHERE { ?l ({type: "Drug", name: "B"}, "knows", ?b) }',
        'DELETE CONCEPT ?d DETACH WHERE { ?d {type: "drug", name: "Aspirin"} }',
        'DELETE PROPOSITIONS ?l WHERE { ?l ({type: "Drug", name: "A"}, "know", ?b) }',
    ],
)
def test_a_hint_of_a_deletion_deletes_nothing_else(letters: kiprdf.Nexus, command: str) -> None:
    link(letters, "A", "knows", "B")
    response = letters.execute_kip({"command": command})
    (hint,) = (
        [response["error"]["hint"]]
        if "error" in response
        else [one["hint"] for one in response["warnings"] if "hint" in one]
    )
    assert hint.endswith(" is another one. Name it only if that is meant.")
