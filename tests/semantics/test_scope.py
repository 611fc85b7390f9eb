"""Which variables a clause mentions, binds and sees (KIP 3.4.7)."""

from __future__ import annotations

from kiprdf.language import ast, parse, to_text
from kiprdf.semantics import scope


def block(clauses: str) -> ast.Block:
    command = parse(f"FIND(?x) WHERE {{ {clauses} }}")
    assert isinstance(command, ast.Find)
    return command.where


def roles(clause: str) -> list[tuple[str, str]]:
    (parsed,) = block(clause).clauses
    assert isinstance(parsed, ast.ConceptClause | ast.PropositionClause)
    return [(variable.name, role) for variable, role in scope.mentions(parsed)]


def test_a_concept_clause_mentions_its_variable() -> None:
    assert roles('?d {type: "Drug"}') == [("d", "concept")]


def test_a_proposition_clause_mentions_link_ends_and_predicate() -> None:
    assert roles("?l (?a, ?p, ?b)") == [
        ("l", "link"),
        ("a", "endpoint"),
        ("p", "predicate"),
        ("b", "endpoint"),
    ]


def test_named_endpoints_are_mentioned_in_written_order() -> None:
    assert roles('(?a {name: "A"}, "p", ?f (?b, "q", {name: "B"}))') == [
        ("a", "concept"),
        ("f", "link"),
        ("b", "endpoint"),
    ]


def test_a_link_by_id_mentions_its_variable() -> None:
    assert roles('?l (id: "P:1")') == [("l", "link")]


def test_a_clause_without_variables_mentions_none() -> None:
    assert roles('({name: "A"}, "p", (id: "P:1"))') == []


def test_a_block_exports_patterns_optional_and_union_but_not_not() -> None:
    result = scope.exported(
        block(
            '?a {name: "A"} NOT { ?b {name: "B"} } OPTIONAL { ?c {name: "C"} } '
            'UNION { ?d {name: "D"} OPTIONAL { ?e {name: "E"} } } FILTER(?f == ?f)'
        )
    )
    assert list(result) == ["a", "c", "d", "e"]


def test_a_block_shares_patterns_optional_and_not_with_the_outside_but_not_union() -> None:
    result = scope.mentioned_from_outside(
        block(
            '?a {name: "A"} NOT { ?b {name: "B"} } OPTIONAL { ?c {name: "C"} } '
            'UNION { ?d {name: "D"} } FILTER(?f == ?f)'
        )
    )
    assert result == {"a", "b", "c"}


def test_operands_are_listed_in_written_order_at_any_depth() -> None:
    where = block(
        "FILTER(?a.name == 1 && (!IS_NULL(?b) || IN(?c, [2]))) "
        'NOT { FILTER(CONTAINS(?d.name, "x")) } OPTIONAL { FILTER(?e) } UNION { FILTER(true) }'
    )
    operands = [o for clause in scope.filters(where) for o in scope.operands(clause.condition)]
    shown = [to_text(ast.Find((), ast.Block((ast.Filter(ast.Truth(o)),)))) for o in operands]
    assert [text.split("FILTER(")[1].split(")\n")[0] for text in shown] == [
        "?a.name",
        "1",
        "?b",
        "?c",
        "?d.name",
        '"x"',
        "?e",
        "true",
    ]
