"""What another engine is asked passes all that satisfies a WHERE; what it counts is exact."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, note, settings
from pyoxigraph import Literal, Variable

import kiprdf
from kiprdf.kql.comparisons import (
    Datatypes,
    Operand,
    TextOperand,
    ValueOperand,
    compare,
    covering,
    literal_operand,
)
from kiprdf.language.parameters import from_json
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import to_json, to_term
from kiprdf.sparql.abilities import EMBEDDED
from kiprdf.sparql.algebra import Call, Expression
from kiprdf.store import OxigraphStore
from kiprdf.store.layout import Layout
from tests.kql.test_comparisons import TERMS, X, Y, conditions, in_python, in_the_engine
from tests.long_runs import amount
from tests.oracle import TooManySolutions
from tests.properties.comparison import difference, expected
from tests.properties.strategies import Case, cases
from tests.properties.test_engine_equals_oracle import build
from tests.standard_sparql import standard_sparql


@settings(max_examples=amount("EXAMPLES", 6))
@given(case=cases())
def test_covers_equal_oracle(case: Case) -> None:
    nexus = build(case.graph)
    with standard_sparql() as texts:
        for query in case.queries:
            try:
                answer = expected(query, case.graph)
            except TooManySolutions:
                continue
            fault = difference(query, answer, nexus.execute_kip_readonly({"command": query}))
            if fault:
                note("\n".join((*map(str, case.graph.requests()), query, *texts[-1:])))
            assert fault is None


# Conditions ---------------------------------------------------------------------------------------

INTEGERS = frozenset((vocab.INTEGER,))
NUMBERS = frozenset((vocab.INTEGER, vocab.DOUBLE))
TEXTS = frozenset((vocab.STRING,))
INEXACT = replace(EMBEDDED, exact_doubles=False, code_points=False)
OWN = replace(INEXACT, own_datatypes=True)


def _of(datatypes: Datatypes) -> list[Any]:
    """The terms with one of some datatypes, and null."""
    return [
        term
        for term in TERMS
        if datatypes is None
        or term is None
        or (isinstance(term, Literal) and term.datatype in datatypes)
    ]


def _kept(datatypes: Datatypes, layout: Layout) -> Datatypes:
    if datatypes is None:
        return None
    return frozenset(
        layout.term(Literal("1", datatype=each)).datatype for each in datatypes if each
    )


def _compared(left: Operand, right: Operand, kinds: dict[Variable, Datatypes], givens: Any) -> int:
    """How many conditions that Python decides have a cover, which all pass for which they hold; an
    exact one, no others."""
    checked = 0
    for abilities in (EMBEDDED, INEXACT, OWN):
        layout = Layout.of(abilities)
        kept = {name: _kept(datatypes, layout) for name, datatypes in kinds.items()}
        made = list(conditions(left, right))
        covers = [covering(c, kept.__getitem__, lambda name: True, abilities) for c in made]
        tests: list[Expression] = [
            Call("COALESCE", (to_term(True) if c.test is None else c.test, to_term(False)))
            for c in covers
        ]
        stored = [{name: layout.term(term) for name, term in bound.items()} for bound in givens]
        results = in_the_engine(OxigraphStore.memory(), tests, stored)
        for bound, row in zip(givens, results, strict=True):
            for condition, cover, result in zip(made, covers, row, strict=True):
                holds = in_python(condition, bound)
                passes = result and all(bound[name] is not None for name in cover.required)
                if holds is not None:
                    checked += cover.test is not None or bool(cover.required)
                    assert passes or not holds, (condition, cover, bound)
                    if cover.is_exact:
                        assert passes == holds, (condition, cover, bound)
    return checked


def test_two_values_are_required_where_nulls_fail() -> None:
    pairs = [{X: x, Y: y} for x, y in itertools.product(TERMS[::2], TERMS[1::2])]
    assert _compared(ValueOperand(X), ValueOperand(Y), {X: None, Y: None}, pairs) > 10_000


@pytest.mark.parametrize(
    ("datatypes", "least"), [(None, 40_000), (INTEGERS, 10_000), (NUMBERS, 16_000), (TEXTS, 9_000)]
)
def test_a_value_that_satisfies_a_comparison_passes_its_cover(
    datatypes: Datatypes, least: int
) -> None:
    values = [{X: x} for x in _of(datatypes)]
    constants = [literal_operand(from_json(to_json(y))) for y in TERMS if y is not None]
    decided = sum(_compared(ValueOperand(X), c, {X: datatypes}, values) for c in constants)
    assert decided > least


def test_a_comparison_leaves_out_doubles_of_own_datatypes() -> None:
    values = [0.5, 2.4999, 2.5, 2.5 + 1e-12, 2.5001, -1e200, 1e200]
    givens = [{X: Layout.of(OWN).term(to_term(value))} for value in values]
    kinds: dict[Variable, Datatypes] = {X: frozenset((vocab.INTEGER, vocab.OWN_DOUBLE))}
    constant = literal_operand(from_json(2.5))
    passed = {}
    for symbol in ("<", "<=", "==", ">", ">="):
        condition = compare(symbol, ValueOperand(X), constant)  # type: ignore[arg-type]
        cover = covering(condition, kinds.__getitem__, lambda name: True, OWN)
        assert cover.test is not None
        assert not cover.is_exact
        results = in_the_engine(OxigraphStore.memory(), [cover.test], givens)
        passed[symbol] = [v for v, (passes,) in zip(values, results, strict=True) if passes]
    near = [2.5, 2.5 + 1e-12]
    assert passed["<"] == passed["<="] == [0.5, 2.4999, *near, -1e200]
    assert passed["=="] == near
    assert passed[">"] == passed[">="] == [*near, 2.5001, 1e200]


def test_a_name_that_satisfies_a_comparison_passes_its_cover() -> None:
    names = [None, *map(to_term, ("", "a", "B", "1"))]
    pairs = [{X: x, Y: y} for x, y in itertools.product(names, TERMS)]
    assert _compared(TextOperand(X), ValueOperand(Y), {X: TEXTS, Y: None}, pairs) > 4_000


# Answers ------------------------------------------------------------------------------------------

SETUP = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} }
  CONCEPT { {type: "$ConceptType", name: "C"} }
  CONCEPT { {type: "$PropositionType", name: "treats"} }
  CONCEPT { {type: "$PropositionType", name: "is_a"} }
  CONCEPT { {type: "$PropositionType", name: "says"} }
  CONCEPT ?r { {type: "C", name: "Rash"} SET ATTRIBUTES { a: 1, b: 2 } }
  CONCEPT ?n { {type: "C", name: "NSAID"} SET ATTRIBUTES { a: 2 } }
  CONCEPT ?e { {type: "Drug", name: "é"} SET ATTRIBUTES { risk: 5, b: [1, 2] } }
  CONCEPT ?b { {type: "Drug", name: "B"} SET ATTRIBUTES { risk: 3, b: 1, a: 1 }
    SET PROPOSITIONS { ("is_a", ?n) ("treats", ?r) ("is_a", ?e) } }
  CONCEPT ?a { {type: "Drug", name: "A"} SET ATTRIBUTES { risk: 1, a: 2 }
    SET PROPOSITIONS { ("treats", ?r) ("is_a", ?b) } }
  PROPOSITION { (?n, "says", (?a, "treats", ?r)) }
}"""
PUSHED = [
    '({type: "Drug", name: "A"}, "treats", ?c) (?d, "says", ?l) ?l ({}, "treats", ?c)',
    '?d {type: "Drug"} FILTER(?d.attributes.risk > 2 && CONTAINS(?d.name, "B"))',
    '?d {type: "Drug"} FILTER(?d.name == "B")',
    '(?d, "treats", ?s) NOT { (?d, "is_a", ?x) }',
    '({type: "Drug", name: "A"}, "is_a"{1,}, ?d)',
    '?d {type: "Drug"} OPTIONAL { (?d, "is_a", ?s) }',
    '?d {type: "Drug", name: "A"} (?b, "treats", ?c) NOT { ?b {} } OPTIONAL { (?c, "is_a", ?e) }',
    '?d {type: "Drug", name: "A"} FILTER(?d.attributes.risk < 2)',
]
"""What another engine is asked as a whole, and counts."""
LEFT = [
    '({type: "Drug", name: "A"}, "is_a"{0,}, ?d)',
    '(?d, "is_a"{0,}, {type: "C", name: "NSAID"})',
    '(?d, "treats", {name: "Rash"}) UNION { (?d, "is_a", {name: "B"}) }',
    '(?d, "is_a"{2,3}, ?c)',
    '?d {type: "Drug"} FILTER(REGEX(?d.name, "^A(b|c)?$"))',
    '?d {type: "Drug"} FILTER(REGEX(?d.name, "^.$"))',
    '?d {type: "Drug", name: "A"} OPTIONAL { (?d, "is_a", ?s) } FILTER(IS_NULL(?s))',
    '?d {type: "Drug"} OPTIONAL { (?d, "is_a", ?e) } FILTER(?e.attributes.a < ?d.attributes.a)',
    '?d {type: "Drug"} NOT { (?d, "treats", ?e) FILTER(?e.name == "Rash") }',
    '?d {type: "Drug"} NOT { (?d, "treats", ?e) FILTER(IS_NULL(?e.name)) }',
    '?d {type: "Drug", name: "A"} UNION { ?c {type: "C"} } NOT { (?d, "treats", ?s) }',
    '?d {type: "Drug"} NOT { (?d, "is_a", ?s) UNION { ?d {type: "Drug", name: "A"} } }',
    '(?a, "says"{0,1}, ?d) ?d {type: "C"}',
    '(?d, "is_a", ?c) (?c, "is_a"{0,}, ?e)',
    '({type: "Drug", name: "A"}, "is_a"{0,}, ?d) ?b {type: "Drug"}',
    '({type: "Drug", name: "A"}, "is_a"{0,}, ?d) ?d {type: "Drug"}',
    '?l ({type: "Drug", name: "A"}, "is_a"{0,}, ?d)',
    '({type: "Drug", name: "A"}, "is_a"{0,}, ?d) (?d, "is_a"{0,}, ?e)',
    '({type: "Drug", name: "A"}, "is_a"{0,}, {type: "Drug", name: "B"}) ?d {type: "Drug"}',
    'OPTIONAL { (?d, "is_a"{0,}, ?b) OPTIONAL { ?b {type: "C"} } }',
    '({type: "Drug", name: "A"}, "is_a"{1,64}, ?d)',
    '(?d, "is_a"{4,}, ?c)',
    '(?d, "is_a"{0,}, ?c)',
    'OPTIONAL { (?d, "treats", {name: "A"}) }',
    '?d {type: "Drug", name: "A"} NOT { (?x, "treats", ?d) }',
    '?d {type: "Drug"} NOT { ?d {type: "Drug", name: "A"} ?d {} }',
    '?d {type: "Drug", name: "A"} OPTIONAL { (?b, "is_a", ?d) ?b {} } FILTER(IS_NULL(?b))',
    '?d {type: "Drug"} OPTIONAL { FILTER(?d.attributes.a == 1) (?d, "treats", ?s) }',
    '?l (?d, "is_a"{1,2}, ?d) ?d {type: "Drug"}',
    '(?d, "is_a", ?d)',
    '?d {type: "Drug", name: "A"} OPTIONAL { (?d, "is_a"{0,}, ?e) }',
    '(?d, "is_a", ?b) UNION { FILTER(!(REGEX(null, "a"))) }',
    '?d {type: "Drug"} FILTER(?d.attributes.a <= ?d.attributes.a)',
    '?d {type: "Drug"} OPTIONAL { (?d, "is_a", ?e) } FILTER(?e.attributes.a < ?e.attributes.b)',
    '?d {type: "Drug"} FILTER(IN(2, ?d.attributes.b))',
    '?d {type: "Drug"} ?x {type: "C"} FILTER(?x.attributes.a == ?d.attributes.a)',
    '?d {type: "Drug"} FILTER(?d.id == "C:Drug/A" || ?d.type == "C")',
    '?l (?a, "treats", ?d) FILTER(?l.subject == "C:Drug/A")',
    '(?d, ?p, ?o) FILTER(?p == "treats")',
]
"""What Python completes, or may find a row twice."""


@pytest.fixture(scope="module")
def nexus() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(SETUP)
    return nexus


@pytest.mark.parametrize("where", [*PUSHED, *LEFT])
def test_the_answer_is_that_of_the_embedded_engine(nexus: kiprdf.Nexus, where: str) -> None:
    finds = [
        f"FIND(?d) WHERE {{ {where} }}",
        f"FIND(?d.name, ?d.attributes.risk) WHERE {{ {where} }}",
        f"FIND(COUNT(?d)) WHERE {{ {where} }}",
        f"FIND(COUNT(DISTINCT ?d), MAX(?d.attributes.a)) WHERE {{ {where} }}",
        f"FIND(?d.name) WHERE {{ {where} }} ORDER BY ?d.attributes.risk DESC LIMIT 2",
    ]
    embedded = [_rows(nexus.find(find)) for find in finds]
    with standard_sparql() as texts:
        for find, rows in zip(finds, embedded, strict=True):
            assert [_rows(nexus.find(find)) for _ in range(2)] == [rows] * 2, find
        texts.clear()
        nexus.find(finds[2])
    assert any("?count_of_" in text for text in texts) == (where in PUSHED)


def _rows(rows: Any) -> list[str]:
    return sorted(map(repr, rows.tuples()))


def test_pages_hold_every_row_once(nexus: kiprdf.Nexus) -> None:
    with standard_sparql():
        for where in ('?d {type: "Drug"}', '?d {type: "Drug"} FILTER(?d.attributes.risk != 3)'):
            find, names, cursor = f"FIND(?d.name) WHERE {{ {where} }} LIMIT 1", [], None
            while True:
                page = nexus.find(find if cursor is None else f'{find} CURSOR "{cursor}"')
                names += page.column("?d.name")
                cursor = page.next_cursor
                if cursor is None:
                    break
            assert sorted(names) == sorted(
                nexus.find(f"FIND(?d.name) WHERE {{ {where} }}").column("?d.name")
            )
            assert len(names) > 1


def test_what_is_left_is_read_many_at_once(nexus: kiprdf.Nexus) -> None:
    many = kiprdf.Nexus.memory(genesis=False)
    many.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "N"} } '
                 'CONCEPT { {type: "$PropositionType", name: "next"} } }')  # fmt: skip
    links = "\n".join(
        f'PROPOSITION {{ ({{type: "N", name: "n{i}"}}, "next", {{type: "N", name: "n{i + 1}"}}) }}'
        for i in range(600)
    )
    nodes = "\n".join(f'CONCEPT {{ {{type: "N", name: "n{i}"}} }}' for i in range(601))
    many.execute(f"UPSERT {{ {nodes} {links} }}")
    find = (
        'FIND(COUNT(?a)) WHERE { ?a {type: "N"} '
        'OPTIONAL { (?a, "next", ?b) NOT { (?b, "next"{4}, ?c) } } FILTER(IS_NOT_NULL(?b)) }'
    )
    with standard_sparql() as texts:
        assert many.execute(find) == 4
    assert len(texts) < 20


@pytest.mark.parametrize(("first", "second", "rows"), [("1,1", "2,3", 0), ("1,2", "1,3", 3)])
def test_one_link_is_not_two(nexus: kiprdf.Nexus, first: str, second: str, rows: int) -> None:
    ranges = f'?l (?d, "is_a"{{{first}}}, ?c) ?l (?a, "is_a"{{{second}}}, ?b)'
    with standard_sparql():
        assert len(nexus.execute(f"FIND(?l) WHERE {{ {ranges} }}")) == rows


def test_a_step_with_more_solutions_than_the_budget_ends_early() -> None:
    limited = kiprdf.Nexus.memory(genesis=False, budget=kiprdf.Budget(max_rows=2_000))
    limited.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "N"} } }')
    nodes = "\n".join(f'CONCEPT {{ {{type: "N", name: "n{i}"}} }}' for i in range(60))
    limited.execute(f"UPSERT {{ {nodes} }}")
    with standard_sparql():
        assert len(limited.execute('FIND(?a) WHERE { ?a {type: "N"} ?b {type: "N"} }')) == 60
        with pytest.raises(kiprdf.KipError, match="KIP_4002 There are more than 2000 solutions"):
            limited.execute('FIND(?a, ?b) WHERE { ?a {type: "N"} ?b {type: "N"} }')


def test_a_named_element_beside_many_others_is_one_row(nexus: kiprdf.Nexus) -> None:
    find = 'FIND(?a.id) WHERE { ?a {type: "Drug", name: "A"} ?d {type: "Drug"} } ORDER BY ?a.name'
    with standard_sparql():
        assert nexus.execute(find) == nexus.execute(find.replace(" ORDER BY ?a.name", ""))
        assert nexus.execute(find) == ["C:Drug/A"]
        none = '(?d, "says", {type: "Drug", name: "B"})'
        assert nexus.execute(find.replace('?d {type: "Drug"}', none)) == []


PRODUCTS = [
    ('?d {type: "Drug"} ?c {type: "C"}', 6),
    ('?d {type: "Drug"} ?c {type: "C"} FILTER(?d.attributes.a != ?c.attributes.a)', 6),
    ('(?d, "is_a", ?x) ?c (?a, "treats", ?b)', 6),
    ('?d {type: "Drug"} OPTIONAL { (?d, "is_a", ?x) } ?c {type: "C"}', 8),
    ('?d {type: "Drug"} ?c {type: "C"} UNION { (?d, "is_a", ?x) (?c, "treats", ?y) }', 6),
]
"""Two parts of a WHERE that share no variable, and how many combinations they have."""


@pytest.mark.parametrize(("where", "number"), PRODUCTS)
def test_a_product_is_refused_as_by_the_embedded_engine(
    nexus: kiprdf.Nexus, where: str, number: int
) -> None:
    find = f"FIND(?d, ?c) WHERE {{ {where} }}"
    with nexus.limited(max_product_rows=number - 1):
        embedded = nexus.execute_kip_readonly({"command": find})
        with standard_sparql():
            assert nexus.execute_kip_readonly({"command": find}) == embedded
    assert embedded["error"]["code"] == "KIP_4002"
    assert f"and have {number} combinations; {number - 1} are" in embedded["error"]["message"]
    with nexus.limited(max_product_rows=number), standard_sparql():
        assert len(nexus.find(find)) > 0


def test_no_fact_is_its_own_end() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute("""
    UPSERT {
      CONCEPT { {type: "$ConceptType", name: "T"} }
      CONCEPT { {type: "$PropositionType", name: "knows"} }
      CONCEPT ?a { {type: "T", name: "A"} }
      CONCEPT ?b { {type: "T", name: "B"} }
      PROPOSITION { (?a, "knows", ?b) }
    }""")
    own = '?m (?l, ?q, ?m) FILTER(IS_NULL(?l.predicate)) UNION { (?c, "knows", ?l) }'
    with standard_sparql():
        rows = nexus.find(f"FIND(?m.id, ?c.name) WHERE {{ {own} }}").tuples()
    assert rows == ((None, "A"),)
