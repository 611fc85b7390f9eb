"""A value that a FILTER requires is found by index, in each form that the dataset has of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.rdf.readings import MOST_NUMBERS
from kiprdf.store import OxigraphStore
from tests.shortcuts import no_lookups

XSD = "http://www.w3.org/2001/XMLSchema#"
VALUES: dict[str, Any] = {
    "integer": 7,
    "double": 7.0,
    "decimal": {"@value": "7.00", "@type": f"{XSD}decimal"},
    "byte": {"@value": "07", "@type": f"{XSD}byte"},
    "half": 7.5,
    "zero": 0,
    "minus zero": -0.0,
    "text": "7",
    "german": {"@value": "sieben", "@language": "de"},
    "plain": "sieben",
    "numbers": [7, 8, 8.0],
    "texts": ["sieben", "acht"],
    "mixed": [True, "7", None, {"@value": "7", "@type": f"{XSD}decimal"}],
    "inner": [[7, "sieben"]],
    "object": {"n": 7},
    "true": True,
    "typed true": {"@value": "1", "@type": f"{XSD}boolean"},
    "false": False,
    "null": None,
    "large": 2**53 + 1,
    "large double": 2.0**53,
    "long": {"@value": str(2**53), "@type": f"{XSD}long"},
}
SEVENS = ["byte", "decimal", "double", "integer", "mixed", "numbers"]
SIEBEN = ["german", "plain", "texts"]
EQUAL: list[tuple[Any, list[str]]] = [
    (7, SEVENS),
    (7.0, SEVENS),
    (7.5, ["half"]),
    (8, ["numbers"]),
    (0, ["minus zero", "zero"]),
    (-0.0, ["minus zero", "zero"]),
    ("7", ["mixed", "text"]),
    ("sieben", SIEBEN),
    (True, ["mixed", "true", "typed true"]),
    (False, ["false"]),
    (2**53, ["large double", "long"]),
    (2**53 + 1, ["large", "large double"]),
    (2.0**53, ["large", "large double", "long"]),
    (9, []),
    ("neun", []),
]
ELEMENTS = {
    "concept, attribute": ('?x {type: "Task"}', "?x.attributes.v"),
    "concept, metadata": ('?x {type: "Task"}', "?x.metadata.v"),
    "link, attribute": ('?l (?x, "about", ?y)', "?l.attributes.v"),
    "link, metadata": ('?l (?x, "about", ?y)', "?l.metadata.v"),
}


@pytest.fixture(scope="module")
def nexus() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(genesis=False)
    fill(nexus)
    return nexus


def fill(nexus: kiprdf.Nexus) -> None:
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Task"} } '
        'CONCEPT { {type: "$PropositionType", name: "about"} } '
        'CONCEPT { {type: "Task", name: "none"} } }'
    )
    for name, value in VALUES.items():
        nexus.execute(
            'UPSERT { CONCEPT ?t { {type: "Task", name: :name} SET ATTRIBUTES {v: :value} '
            'SET PROPOSITIONS { ("about", {type: "$ConceptType", name: "Task"}) } } '
            'PROPOSITION { ({type: "Task", name: :name}, "about", '
            '{type: "$ConceptType", name: "Task"}) SET ATTRIBUTES {v: :value} } } '
            "WITH METADATA {v: :value}",
            name=name,
            value=value,
        )


def names_of(nexus: kiprdf.Nexus, where: str, **parameters: Any) -> list[str]:
    """The names that a FIND shows, by lookups and without, in a FIND and in a COUNT."""
    question = f"FIND(?x.name) WHERE {{ {where} }}"
    names = sorted(nexus.execute(question, **parameters))
    with no_lookups():
        nexus._engine.statements.clear()
        assert sorted(nexus.execute(question, **parameters)) == names
        count = nexus.execute(f"FIND(COUNT(?x)) WHERE {{ {where} }}", **parameters)
        assert count == len(names)
    nexus._engine.statements.clear()
    return names


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize(("value", "expected"), EQUAL, ids=[repr(v) for v, _ in EQUAL])
def test_equal_values_are_found(
    nexus: kiprdf.Nexus, element: str, value: Any, expected: list[str]
) -> None:
    clause, path = ELEMENTS[element]
    others = sorted({*VALUES, "none"} - set(expected))
    if "link" in element:
        others.remove("none")
    text = json.dumps(value)
    assert names_of(nexus, f"{clause} FILTER({path} == {text})") == expected
    assert names_of(nexus, f"{clause} FILTER({path} == :v)", v=value) == expected
    assert names_of(nexus, f"{clause} FILTER(IN({path}, [{text}, :v]))", v=value) == expected
    assert names_of(nexus, f"{clause} FILTER(IN({text}, {path}))") == expected
    assert names_of(nexus, f"{clause} FILTER({path} != {text})") == others
    assert names_of(nexus, f"{clause} NOT {{ FILTER({path} == {text}) }}") == others


@pytest.mark.parametrize("element", ELEMENTS)
def test_one_of_several_is_found_once(nexus: kiprdf.Nexus, element: str) -> None:
    clause, path = ELEMENTS[element]
    several = sorted({*SEVENS, *SIEBEN})
    for condition in (
        f'IN({path}, [7, 8, "sieben", "acht"])',
        f'{path} == "sieben" || {path} == 7 || IN(8, {path})',
        f'IN({path}, [:one, :two, "acht", 8])',
    ):
        names = {"one": 7, "two": "sieben"} if ":one" in condition else {}
        assert names_of(nexus, f"{clause} FILTER({condition})", **names) == several
    with_null = sorted([*several, "null", *(["none"] if "concept" in element else [])])
    assert names_of(nexus, f'{clause} FILTER(IN({path}, [7, null, "sieben"]))') == with_null


def test_a_plan_is_right_for_each_number(nexus: kiprdf.Nexus) -> None:
    question = 'FIND(?x.name) WHERE { ?x {type: "Task"} FILTER(?x.attributes.v == :v) }'
    for value, expected in EQUAL * 2:
        assert sorted(nexus.execute(question, v=value)) == expected, value


STARTS = {
    'FILTER(?x.attributes.v == 7)': "?x attr:v 7",
    'FILTER(?x.metadata.v == true)': "?x meta:v true",
    'FILTER(IN(?x.attributes.v, ["a", 7]))': 'VALUES ?one_of_ { "a" 7',
    'FILTER(?x.attributes.v == "a" && IS_NULL(?x.attributes.w))': '?x attr:v "a"',
    'FILTER(?x.attributes.w != 3) FILTER(7 == ?x.attributes.v)': "?x attr:v 7",
}  # fmt: skip


@pytest.mark.parametrize("condition", STARTS)
@pytest.mark.parametrize("clause", ['?x {type: "Task"}', '?x (?t, "about", ?o)'])
def test_a_value_is_where_a_query_starts(nexus: kiprdf.Nexus, clause: str, condition: str) -> None:
    text = nexus.explain(f"FIND(?x) WHERE {{ {clause} {condition} }}")
    others = "?x a type:Task" if "Task" in clause else "?t pred:about"
    assert 0 < text.index(STARTS[condition]) < text.index(others)
    assert "_v" not in text, "the condition holds anyway"


def test_a_link_has_its_fact(nexus: kiprdf.Nexus) -> None:
    where = '?x (?t, "about", ?o) FILTER(IN(?x.attributes.v, [7, "a"]))'
    text = nexus.explain(f"FIND(?t) WHERE {{ {where} }}")
    assert text.count("pred:about") == 1, text
    assert "<<( ?t pred:about ?o )>>" in text


def test_a_list_is_counted_by_some_of_its_values_and_what_is_known_not_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = kiprdf.Nexus.memory(genesis=False)
    fill(other)
    blocks = "".join(
        f'CONCEPT {{ {{type: "Task", name: "t{n}"}} SET ATTRIBUTES {{w: {100 + n // 4}}} }}'
        for n in range(160)
    )
    other.apply_capsule(f"UPSERT {{ {blocks} }}")
    reads = 0
    lookup = OxigraphStore.lookup

    def counted(store: OxigraphStore, *arguments: Any) -> Any:
        nonlocal reads
        reads += 1
        return lookup(store, *arguments)

    monkeypatch.setattr(OxigraphStore, "lookup", counted)
    text = 'FIND(?x.name) WHERE { ?x {type: "Task"} FILTER(IN(?x.attributes.w, :list)) }'
    for size, most in ((3, 30), (5, 15), (20, 10), (40, 10)):
        for _ in range(4):
            reads = 0
            names = other.execute(text, list=list(range(100, 100 + size)))
        assert len(names) == size * 4
        assert reads < most, size


def test_values_in_others_are_looked_for_where_there_are_some() -> None:
    other = kiprdf.Nexus.memory(genesis=False)
    fill(other)
    write = 'UPSERT { CONCEPT { {type: "Task", name: "w"} SET ATTRIBUTES {w: :w} } }'
    for value, equal in ((["a"], "a"), ("a", "a"), (7, 7.0), ([7.0], 7), ("b", "b")):
        where = f'?x {{type: "Task"}} FILTER(IN(?x.attributes.w, [{json.dumps(equal)}, 9]))'
        other.execute(write, w=value)
        text = other.explain(f"FIND(?x) WHERE {{ {where} }}")
        assert ("GRAPH" in text) == isinstance(value, list)
        assert names_of(other, where) == ["w"]


def test_a_boolean_is_the_last_to_start_from(nexus: kiprdf.Nexus) -> None:
    text = nexus.explain(
        'FIND(?x) WHERE { ?x {type: "Task"} '
        "FILTER(?x.attributes.done == true) FILTER(?x.attributes.v == 7) }"
    )
    assert "?x attr:v 7" in text
    assert "FILTER(COALESCE((?x_done = true)" in text


@pytest.mark.parametrize("clause", ['(?x, "about", HUB)', '?l (?x, "about", HUB)'])
def test_what_is_rarer_comes_first_a_value_or_the_facts_of_a_named_neighbour(clause: str) -> None:
    nexus = hubs()
    path = "?l.attributes.s" if "?l" in clause else "?x.attributes.s"

    def first(hub: str, state: str) -> str:
        where = clause.replace("HUB", f'{{type: "Hub", name: "{hub}"}}')
        question = f'FIND(?x.name) WHERE {{ {where} FILTER({path} == "{state}") }}'
        text, rows = nexus.explain(question), nexus.execute(question)
        sent = question.replace(f'"{state}"', ":state").replace(f'"{hub}"', ":hub")
        for _ in range(3):
            assert sorted(nexus.execute(sent, state=state, hub=hub)) == sorted(rows)
        with no_lookups():
            nexus._engine.statements.clear()
            assert sorted(nexus.execute(question)) == sorted(rows)
        nexus._engine.statements.clear()
        is_value = f'attr:s "{state}"' in text and "FILTER(" not in text
        return f"{'value' if is_value else 'fact'}, {len(rows)}"

    assert first("large", "rare") == "value, 3"
    assert first("large", "common") == "fact, 147"
    assert first("small", "rare") == "fact, 1"
    assert first("small", "common") == "fact, 2"
    assert first("large", "absent") == "value, 0"


def hubs() -> kiprdf.Nexus:
    """A hub with 150 tasks, and one with three of them."""
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Task"} } '
        'CONCEPT { {type: "$ConceptType", name: "Hub"} } '
        'CONCEPT { {type: "$PropositionType", name: "about"} } '
        'CONCEPT { {type: "Hub", name: "large"} } CONCEPT { {type: "Hub", name: "small"} } }'
    )
    blocks = []
    for number in range(150):
        task = f'{{type: "Task", name: "t{number}"}}'
        state = f'SET ATTRIBUTES {{s: "{"common" if number % 50 else "rare"}"}}'
        blocks.append(f"CONCEPT {{ {task} {state} }}")
        for hub in ("large", "small") if number < 3 else ("large",):
            fact = f'({task}, "about", {{type: "Hub", name: "{hub}"}})'
            blocks.append(f"PROPOSITION {{ {fact} {state} }}")
    nexus.apply_capsule(f"UPSERT {{ {' '.join(blocks)} }}")
    return nexus


def test_numbers_of_a_vector_are_compared() -> None:
    other = kiprdf.Nexus.memory(genesis=False)
    fill(other)
    where = '?x {type: "Task"} FILTER(?x.attributes.v == 7)'
    question = f"FIND(?x.name) WHERE {{ {where} }}"
    vector = [7 + number / 2 for number in range(MOST_NUMBERS + 1)]
    write = 'UPSERT { CONCEPT { {type: "Task", name: "vector"} SET ATTRIBUTES {v: :v} } }'
    assert "FILTER" not in other.explain(question)
    other.execute(write, v=vector)
    assert "FILTER" in other.explain(question)
    assert names_of(other, where) == sorted([*SEVENS, "vector"])
    other.execute(write, v=vector[:-1])
    assert "FILTER" not in other.explain(question)
    assert names_of(other, where) == sorted([*SEVENS, "vector"])
    assert other.check()["faults"] == []


def test_the_past_has_its_values(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "nexus") as nexus:
        fill(nexus)
        before = nexus.info()["commit"]
        where = 'FIND(?x.name) WHERE { ?x {type: "Task"} FILTER(?x.attributes.v == :v) }'
        nexus.execute(
            'UPDATE ?x SET ATTRIBUTES {v: [9, "neun"]} '
            'WHERE { ?x {type: "Task"} FILTER(?x.attributes.v == 7.0) }'
        )
        assert sorted(nexus.execute(where, v=7)) == []
        assert sorted(nexus.execute(where, v=9.0)) == SEVENS
        assert sorted(nexus.execute(where, v="neun")) == SEVENS
        with nexus.at(before) as past:
            assert sorted(past.execute(where, v=7)) == SEVENS
            assert sorted(past.execute(where, v=9)) == []


def test_targets_are_found() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    fill(nexus)
    receipt = nexus.execute(
        'UPDATE ?l SET METADATA {seen: true} WHERE { ?l (?x, "about", ?y) '
        "FILTER(?l.metadata.v == 7 && IS_NULL(?l.metadata.seen)) }"
    )
    assert receipt == {"updated": 6, "matched": 6}
    receipt = nexus.execute(
        'DELETE ATTRIBUTES {"v"} FROM ?x WHERE { ?x {type: "Task"} '
        'FILTER(IN(?x.attributes.v, ["sieben", 7.5])) }'
    )
    assert receipt["updated_concepts"] == 4
    receipt = nexus.execute(
        'DELETE CONCEPT ?x DETACH WHERE { ?x {type: "Task"} FILTER(?x.attributes.v == 7) }'
    )
    assert receipt["deleted_concepts"] == 6
    assert names_of(nexus, '?x {type: "Task"} FILTER(?x.metadata.v == 7)') == []
    assert names_of(nexus, '?x {type: "Task"} FILTER(?x.metadata.v == "sieben")') == SIEBEN


def test_a_query_starts_from_what_is_rare() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Task"} } '
        'CONCEPT { {type: "$ConceptType", name: "Rare"} } }'
    )
    states = ["open"] * 1_100 + ["done"]
    blocks = "".join(
        f'CONCEPT {{ {{type: "Task", name: "{n}"}} SET ATTRIBUTES {{s: "{state}", n: {n}}} }}'
        for n, state in enumerate(states)
    )
    rare = 'CONCEPT { {type: "Rare", name: "r"} SET ATTRIBUTES {s: "open", n: 7} }'
    nexus.apply_capsule(f"UPSERT {{ {blocks} {rare} }}")

    def start(where: str) -> str:
        text = nexus.explain(f"FIND(?x.name) WHERE {{ ?x {where} }}")
        rows = nexus.execute(f"FIND(?x.name) WHERE {{ ?x {where} }}")
        with no_lookups():
            nexus._engine.statements.clear()
            assert sorted(nexus.execute(f"FIND(?x.name) WHERE {{ ?x {where} }}")) == sorted(rows)
        nexus._engine.statements.clear()
        first = text[text.index("{") :].removeprefix("{").lstrip(" \n{")
        return f"{first.splitlines()[0][:11].strip()}, {len(rows)}"

    assert start('{type: "Task"} FILTER(?x.attributes.s == "open")') == '?x attr:s ", 1100'
    assert start('{type: "Rare"} FILTER(?x.attributes.s == "open")') == "?x a type:R, 1"
    assert start('{type: "Rare"} FILTER(?x.attributes.s == "done")') == '?x attr:s ", 0'
    both = "FILTER(?x.attributes.s == :s && ?x.attributes.n == 7)"
    for state, rows in (("open", 1), ("done", 0)):
        where = f'{{type: "Task"}} {both}'.replace(":s", json.dumps(state))
        expected = "?x attr:n 7" if state == "open" else '?x attr:s "'
        assert start(where) == f"{expected}, {rows}"


def test_two_lists_of_elements_that_share_nothing_are_two() -> None:
    nexus = kiprdf.Nexus.memory()
    nexus.execute("""UPSERT {
      CONCEPT { {type: "$ConceptType", name: "A"} }
      CONCEPT { {type: "$ConceptType", name: "B"} } }""")
    nexus.execute("""UPSERT {
      CONCEPT { {type: "A", name: "one"} SET ATTRIBUTES {key: "a"} }
      CONCEPT { {type: "B", name: "other"} SET ATTRIBUTES {mark: "d"} } }""")
    command = """FIND(?x.name, ?y.name) WHERE { ?x {type: "A"} ?y {type: "B"}
      FILTER(IN(?x.attributes.key, ["a", "b", "c"]))
      FILTER(IN(?y.attributes.mark, ["d", "e", "f"])) }"""
    assert nexus.execute(command) == [["one"], ["other"]]
    with no_lookups():
        assert nexus.execute(command) == [["one"], ["other"]]
