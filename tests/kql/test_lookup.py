"""Which queries are answered by index lookups; lookups and SPARQL give the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import kiprdf
from kiprdf.kql import plan
from kiprdf.kql.evaluate.steps import MOST_READS
from kiprdf.kql.plan import Plan, plan_find
from kiprdf.language import bind, parse
from kiprdf.rdf.iris import Iris
from kiprdf.store import OxigraphStore
from tests.cases import each_case
from tests.nexus.support import medical
from tests.shortcuts import no_lookups

IRIS = Iris("urn:kip:nexus/")
ASPIRIN = '{type: "Drug", name: "Aspirin"}'


def query(where: str, shown: str = "?s") -> Plan:
    command = bind(parse(f"FIND({shown}) WHERE {{ {where} }}"), {})
    return plan_find(command, IRIS)  # type: ignore[arg-type]


@each_case(
    "where",
    [
        '?s {type: "Drug", name: "Aspirin"}',
        '?s {name: "Aspirin"}',
        f'({ASPIRIN}, "treats", ?s)',
        f'(?s, "treats", {ASPIRIN})',
        f'({ASPIRIN}, "treats" | "eases", ?s)',
        f'({ASPIRIN}, "treats"{{2,}}, ?s)',
        f'({ASPIRIN}, "treats"{{0,3}}, ?s)',
        f"?s ({ASPIRIN}, ?p, ?x)",
        f'(?s, "stated", ({ASPIRIN}, "treats", ?x))',
        f'({ASPIRIN}, "treats", ?s) OPTIONAL {{ (?s, "broader", ?b) }} NOT {{ (?b, "eases", ?s) }}',
        f'({ASPIRIN}, "treats", ?s) UNION {{ ({ASPIRIN}, "eases", ?s) }}',
        f'({ASPIRIN}, "treats", ?s) FILTER(?s.attributes.x > 3 || IS_NULL(?s.metadata.y))',
        f'({ASPIRIN}, "treats", ?s) FILTER(IN(?s.name, ["a", "b"]) && !STARTS_WITH(?s.type, "S"))',
        '?s {type: "Drug"} FILTER(?s.name == "Aspirin")',
        f'({ASPIRIN}, "treats", ?s) FILTER(?s.id == "x")',
        f'?l ({ASPIRIN}, "treats"{{1,2}}, ?s) FILTER(?l.subject != ?s.id)',
    ],
)
def test_a_pattern_that_starts_at_a_named_element_is_looked_up(where: str) -> None:
    assert query(where).lookup is not None


@pytest.mark.parametrize(
    "where",
    [
        '?s {type: "Drug"}',
        '(?s, "treats", ?x)',
        '?s (?x, "treats", ?y)',
        f'?s {{type: "Drug"}} ({ASPIRIN}, "treats", ?x)',
        f'({ASPIRIN}, "treats", ?s) OPTIONAL {{ ?x {{type: "Drug"}} }}',
        f'({ASPIRIN}, "treats", ?s) FILTER(REGEX(?s.name, "a.c"))',
        f'({ASPIRIN}, "treats", ?s) FILTER(IN(?s.attributes.n, {list(range(33))}))',
    ],
)
def test_other_patterns_go_to_the_engine(where: str) -> None:
    assert query(where).lookup is None


@pytest.fixture
def hub() -> Iterator[kiprdf.Nexus]:
    """An element with more facts than a lookup reads."""
    with medical() as nexus:
        facts = " ".join(
            f'CONCEPT {{ {{type: "Symptom", name: "S{number}"}} '
            f'SET PROPOSITIONS {{ ("treats", {{type: "Drug", name: "Aspirin"}}) }} }}'
            for number in range(MOST_READS)
        )
        nexus.execute(f"UPSERT {{ {facts} }}")
        yield nexus


def test_a_lookup_that_grows_ends_and_the_engine_answers(hub: kiprdf.Nexus) -> None:
    command = f'FIND(?s.name) WHERE {{ (?s, "treats", {ASPIRIN}) }}'
    for _ in range(3):
        assert sorted(hub.execute(command)) == sorted(f"S{n}" for n in range(MOST_READS))
    assert hub.execute(f'FIND(COUNT(?s)) WHERE {{ (?s, "treats", {ASPIRIN}) }}') == MOST_READS


def test_a_lookup_that_is_too_large_ends_early_and_is_not_tried_again_until_a_write(
    hub: kiprdf.Nexus, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = 0
    lookup = OxigraphStore.lookup

    def counted(store: OxigraphStore, *arguments: Any) -> Any:
        nonlocal reads
        rows = lookup(store, *arguments)
        reads += 1 + len(rows)
        return rows

    monkeypatch.setattr(OxigraphStore, "lookup", counted)
    command = 'FIND(COUNT(?s)) WHERE { (?s, "treats", {type: "Drug", name: :name}) } LIMIT 5'
    hub.execute(command, name="Aspirin")
    for _ in range(3):
        reads = 0
        assert hub.execute(command, name="Aspirin") == MOST_READS
        assert reads < 200
    few = reads
    hub.execute('DELETE PROPOSITIONS ?l WHERE { ?l ({name: "S0"}, "treats", ?x) }')
    reads = 0
    assert hub.execute(command, name="Aspirin") == MOST_READS - 1
    assert reads > few
    assert few <= 2


def test_solutions_that_need_no_read_are_counted_too() -> None:
    nexus = medical()
    nexus.execute('UPSERT { CONCEPT { {type: "$PropositionType", name: "next"} } }')
    ring = [f'CONCEPT ?c{n} {{ {{type: "Symptom", name: "R{n}"}} }}' for n in range(40)]
    ring += [f'PROPOSITION {{ (?c{n}, "next", ?c{(n + 1) % 40}) }}' for n in range(40)]
    nexus.execute(f"UPSERT {{ {' '.join(ring)} }}")
    first = '{type: "Symptom", name: "R0"}'
    where = f'({first}, "next"{{1,}}, ?a) (?a, "next"{{1,}}, ?b)'
    lookup = query(where, "COUNT(?b)").lookup
    assert lookup is not None
    assert lookup.rows(nexus.store, {}) is None
    assert nexus.execute(f"FIND(COUNT(?b)) WHERE {{ {where} }}") == 40 * 40


def test_three_hops_with_three_neighbours_each_are_looked_up() -> None:
    nexus = medical()
    nexus.execute('UPSERT { CONCEPT { {type: "$PropositionType", name: "next"} } }')
    tree = [f'CONCEPT ?c{n} {{ {{type: "Symptom", name: "R{n}"}} }}' for n in range(40)]
    tree += [f'PROPOSITION {{ (?c{(n - 1) // 3}, "next", ?c{n}) }}' for n in range(1, 40)]
    nexus.execute(f"UPSERT {{ {' '.join(tree)} }}")
    where = '({type: "Symptom", name: "R0"}, "next"{1,3}, ?s)'
    lookup = query(where, "?s.name").lookup
    assert lookup is not None
    assert len(lookup.rows(nexus.store, {}) or ()) == 39
    with no_lookups():
        expected = nexus.execute(f"FIND(?s.name) WHERE {{ {where} }}")
    assert sorted(expected) == sorted(f"R{n}" for n in range(1, 40))
    assert sorted(nexus.execute(f"FIND(?s.name) WHERE {{ {where} }}")) == sorted(expected)


def test_the_pages_of_a_lookup_are_those_of_the_engine(hub: kiprdf.Nexus) -> None:
    command = f'FIND(?s.name) WHERE {{ ({ASPIRIN}, "treats", ?s) }} LIMIT 1'
    first = hub.answer(command)
    second = hub.answer(f'{command} CURSOR "{first.next_cursor}"')
    assert sorted(first.result + second.result) == ["Fever", "Headache"]
    assert second.next_cursor is None


def test_a_lookup_keeps_to_a_budget_that_is_smaller() -> None:
    nexus = medical()
    command = f'FIND(?s.name) WHERE {{ ({ASPIRIN}, "treats", ?s) }}'
    with nexus.limited(max_rows=1), pytest.raises(kiprdf.KipError, match="KIP_4002"):
        nexus.execute(command)
    with nexus.limited(timeout_s=1e-9), pytest.raises(kiprdf.KipError, match="KIP_4001"):
        nexus.execute(command)


def test_a_lookup_counts_as_the_engine_does() -> None:
    nexus = medical()
    where = f'({ASPIRIN}, ?p, ?s) OPTIONAL {{ (?u, "stated", ?s) }}'
    for shown in ("COUNT(?s)", "COUNT(DISTINCT ?p)", "?p, COUNT(?s)", "?s.type, COUNT(?u)"):
        looked_up = nexus.execute(f"FIND({shown}) WHERE {{ {where} }}")
        with no_lookups():
            assert nexus.execute(f"FIND({shown})  WHERE {{ {where} }}") == looked_up
    assert nexus.execute(f"FIND(COUNT(?s)) WHERE {{ ({ASPIRIN}, ?p, ?s) }}") == 2
    assert nexus.execute(f'FIND(COUNT(?x)) WHERE {{ ({ASPIRIN}, "stated", ?x) }}') == 0


def test_without_lookups_the_engine_answers() -> None:
    assert plan.Plan.lookup is not None
    with no_lookups():
        assert query(f'({ASPIRIN}, "treats", ?s)').lookup is None
