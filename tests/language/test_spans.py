"""Every node says where it stands; the text under its span is its own."""

from __future__ import annotations

import pytest

from kiprdf.errors import KipError
from kiprdf.language import ast, parse
from kiprdf.source import NOWHERE, Span, excerpt, position
from tests.cases import each_case

TEXT = """\
FIND(?d.name, COUNT(DISTINCT ?s))
WHERE {
  ?d {type: "Drug", name: :name}
  ?l (?d, "treats"{1,3} | "helps", ?s (id: "P:1"))
  FILTER(?d.attributes.a > 1 && !IN(?d.name, ["x"]))
  NOT { (?d, ?p, {name: "N"}) }
}
ORDER BY ?d.name DESC
LIMIT 5"""


def under(node: ast.Node | None) -> str:
    assert node is not None
    return TEXT[node.span.start : node.span.end]


@pytest.fixture(scope="module")
def find() -> ast.Find:
    command = parse(TEXT)
    assert isinstance(command, ast.Find)
    return command


def test_command_spans_the_whole_text(find: ast.Find) -> None:
    assert under(find) == TEXT


def test_expressions_span_their_texts(find: ast.Find) -> None:
    assert [under(e) for e in find.expressions] == ["?d.name", "COUNT(DISTINCT ?s)"]


def test_block_spans_its_braces(find: ast.Find) -> None:
    assert under(find.where).startswith("{\n  ?d")
    assert under(find.where).endswith("}\n}")


def test_clauses_span_their_texts(find: ast.Find) -> None:
    assert [under(clause) for clause in find.where.clauses] == [
        '?d {type: "Drug", name: :name}',
        '?l (?d, "treats"{1,3} | "helps", ?s (id: "P:1"))',
        'FILTER(?d.attributes.a > 1 && !IN(?d.name, ["x"]))',
        'NOT { (?d, ?p, {name: "N"}) }',
    ]


def test_matchers_span_their_brackets(find: ast.Find) -> None:
    concept, proposition, *_ = find.where.clauses
    assert isinstance(concept, ast.ConceptClause)
    assert isinstance(proposition, ast.PropositionClause)
    assert under(concept.matcher) == '{type: "Drug", name: :name}'
    assert under(concept.matcher.name) == ":name"
    assert under(proposition.matcher) == '(?d, "treats"{1,3} | "helps", ?s (id: "P:1"))'


def test_predicates_span_their_texts(find: ast.Find) -> None:
    clause = find.where.clauses[1]
    assert isinstance(clause, ast.PropositionClause)
    assert isinstance(clause.matcher, ast.PropositionMatcher)
    predicates = clause.matcher.predicate
    assert isinstance(predicates, ast.Predicates)
    assert under(predicates) == '"treats"{1,3} | "helps"'
    assert [under(name) for name in predicates.alternatives] == ['"treats"{1,3}', '"helps"']
    assert under(predicates.alternatives[0].hops) == "{1,3}"


def test_conditions_span_their_texts(find: ast.Find) -> None:
    clause = find.where.clauses[2]
    assert isinstance(clause, ast.Filter)
    both = clause.condition
    assert isinstance(both, ast.Conjunction)
    assert under(both) == '?d.attributes.a > 1 && !IN(?d.name, ["x"])'
    assert [under(c) for c in both.operands] == ["?d.attributes.a > 1", '!IN(?d.name, ["x"])']


def test_modifiers_span_their_texts(find: ast.Find) -> None:
    assert [under(key) for key in find.order_by] == ["?d.name DESC"]
    assert under(find.limit) == "5"


def test_entry_spans_its_key() -> None:
    text = 'UPSERT { CONCEPT { {type: "T", name: "N"} SET ATTRIBUTES { "a" : 1 } } }'
    command = parse(text)
    assert isinstance(command, ast.Upsert)
    attributes = command.blocks[0].items[0].attributes
    assert isinstance(attributes, ast.Object)
    span = attributes.entries[0].span
    assert text[span.start : span.end] == '"a"'


def test_span_takes_no_part_in_equality() -> None:
    assert ast.Variable("x", span=Span(0, 2)) == ast.Variable("x", span=NOWHERE)


def test_position_counts_lines_and_columns_from_one() -> None:
    text = "ab\ncd\n"
    assert [position(text, offset) for offset in range(7)] == [
        (1, 1),
        (1, 2),
        (1, 3),
        (2, 1),
        (2, 2),
        (2, 3),
        (3, 1),
    ]


@each_case(
    "text, span, shown",
    [
        ("abc", Span(1, 2), "abc\n ^"),
        ("abc", Span(1, 3), "abc\n ^^"),
        ("ab\ncd", Span(3, 5), "cd\n^^"),
        ("ab\ncd", Span(1, 5), "ab\n ^"),
        ("\tab", Span(1, 3), "\tab\n\t^^"),
        ("ab", Span(2, 3), "ab\n  ^"),
        ("", Span(0, 1), "\n^"),
        ("a\n\nb", Span(2, 3), "\n^"),
    ],
)
def test_carets_stand_under_the_span(text: str, span: Span, shown: str) -> None:
    assert excerpt(text, span) == shown


def test_error_without_a_place_has_no_position() -> None:
    error = KipError("KIP_4002", "Too large.").in_source("FIND")
    assert (error.position, error.excerpt, error.located_message) == (None, None, "Too large.")


def test_error_shows_code_place_message_and_hint() -> None:
    error = KipError("KIP_2001", "Unknown.", "Look.", Span(3, 4)).in_source("a\nb c")
    assert str(error) == "KIP_2001 2:2 Unknown. Hint: Look."


def test_an_error_keeps_its_first_source_text() -> None:
    error = KipError("KIP_1001", "Wrong.", None, Span(0, 1)).in_source("first").in_source("second")
    assert error.source == "first"
