"""The notation: texts and the statements that they are."""

from __future__ import annotations

import pytest

from kiprdf.chunks import (
    Chunk,
    ChunksSyntaxError,
    Condition,
    Date,
    Link,
    Name,
    Negated,
    Rule,
    Text,
    Variable,
    parse,
    to_text,
)
from kiprdf.chunks.model import Statement, identical
from tests.cases import each_case

FIDO = Chunk("dog", {"name": Text("Fido"), "age": 4}, id="dog1")
NOT_J = Condition(Chunk("a", {"@id": "J"}), negated=True)


@each_case("text, statements", [
        ('dog dog1 {\n name "Fido"\n age 4\n}', [FIDO]),
        ('dog dog1 {name "Fido"; age 4;}', [FIDO]),
        ("a {}b{}", [Chunk("a"), Chunk("b")]),
        ("a isa b c isa d", [Link("a", "isa", "b"), Link("c", "isa", "d")]),
        ("dog\nkindof\nmammal\na {}", [Link("dog", "kindof", "mammal"), Chunk("a")]),
        ("a b c d e {}", [Link("a", "b", "c"), Chunk("d", id="e")]),
        ("a @b c", [Link("a", "@b", "c")]),
        ("a {x 1,\n 2\n , 3}", [Chunk("a", {"x": (1, 2, 3)})]),
        ("a\n{\nx\n1\n}", [Chunk("a", {"x": 1})]),
        ("a {x 1; x 2}", [Chunk("a", {"x": 2})]),
        ("@rdfmap {@base http://x.org/ns#}", [Chunk("@rdfmap", {"@base": "http://x.org/ns#"})]),
        ("# c\na {x 1 # c\n # d\n y 2}# e", [Chunk("a", {"x": 1, "y": 2})]),
        ('a {x "# no comment"}', [Chunk("a", {"x": Text("# no comment")})]),
        ("\ufeffa {}", [Chunk("a")]),
        ("", []),
        ("* {} => a {}", [Rule((Chunk("*"),), (Chunk("a"),))]),
        (
            "!a {@id J}, b {}, => c {}, d {x 1}",
            [Rule((NOT_J, Chunk("b")), (Chunk("c"), Chunk("d", {"x": 1})))],
        ),
        ("! ! a {} => b {}", [Rule((Chunk("a"),), (Chunk("b"),))]),
    ])  # fmt: skip
def test_text_has_these_statements(text: str, statements: list[Statement]) -> None:
    assert list(parse(text).statements) == statements


@each_case(
    "written, value",
    [
        ("Fido", Name("Fido")),
        ("a/b:c.d-e_f", Name("a/b:c.d-e_f")),
        ("*", Name("*")),
        ("@do", Name("@do")),
        ('"Fido"', Text("Fido")),
        (r'"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"', Text('"\\/\b\f\n\r\té😀')),
        ("4", 4),
        ("-0.5e+3", -500.0),
        ("1e5", 100000.0),
        ("05", Name("05")),
        ("5.", Name("5.")),
        ("-", Name("-")),
        ("1e", Name("1e")),
        ("true", True),
        ("false", False),
        ("truecolour", Name("truecolour")),
        ("isfalse", Name("isfalse")),
        ("1879-03-14", Date("1879-03-14")),
        ("1997-07-16T19:20:30.45+01:00", Date("1997-07-16T19:20:30.45+01:00")),
        ("2021-02-30", Name("2021-02-30")),
        ("1997", 1997),
        ("?x", Variable("x")),
        ("!", Negated()),
        ("!John", Negated(Name("John"))),
        ("!?x", Negated(Variable("x"))),
        ('!"a b"', Negated(Text("a b"))),
        ("!!John", Name("John")),
        ("!!!John", Negated(Name("John"))),
        ("1, a, true", (1, Name("a"), True)),
    ],
)
def test_value_is_read_as(written: str, value: object) -> None:
    (chunk,) = parse(f"a {{x {written}}}").chunks
    assert identical(chunk["x"], value)
    assert type(chunk["x"]) is type(value)


@each_case("text, line, column, message", [
        ("dog", 1, 4, "The text ends where an identifier or '{' is expected."),
        ("dog d1", 1, 7, "The text ends where '{' is expected."),
        ('dog d1 name "x"', 1, 13, "Here a statement is expected, not '\"x\"'."),
        ("a b c {", 1, 5, "Here '{' is expected, not 'c'."),
        ("a {\n  x\n}", 3, 1, "Here a value is expected, not '}'."),
        ("a {x 1 y 2}", 1, 8, "Here ';', a line break or '}' is expected, not 'y'."),
        ("a {x 1", 1, 7, "The text ends where ';', a line break or '}' is expected."),
        ("a {} => b", 1, 10, "The text ends where an identifier or '{' is expected."),
        ("a {}, b {}", 1, 11, "The text ends where '=>' is expected."),
        ("!a {} b {}", 1, 7, "Here ',' or '=>' is expected, not 'b'."),
        ("4 {}", 1, 1, "A name is expected, but '4' is a number or a boolean."),
        ("a {true 1}", 1, 4, "A name is expected, but 'true' is a number or a boolean."),
        ("a {x +5}", 1, 6, "Here a value is expected, not '+'."),
        ("a {x !*}", 1, 7, "'!' negates one name, number, text or variable, not '*'."),
        ("a {x \x00}", 1, 6, "Here a value is expected, not the character U+0000."),
        ("a {\n x \ud800}", 2, 4, "Here a value is expected, not the character U+D800."),
        ('a {x "ab', 1, 6, "This string has no closing quotation mark."),
        ('a {x "ab\n"}', 1, 6, "This string has no closing quotation mark in its line."),
        ('a {x "\\q"}', 1, 7, "A string has the escapes of JSON only."),
        ('a {x "\\ud800"}', 1, 6, "This string contains half of a surrogate pair."),
        ("a {@push 9, @to list}", 1, 17, "Here ';', a line break or '}' is expected, not 'list'."),
    ])  # fmt: skip
def test_mistake_is_reported_at_its_place(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(ChunksSyntaxError) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column, caught.value.message) == (line, column, message)


def test_statements_know_their_lines() -> None:
    document = parse("# c\na {}\n\nb c d\ne {} =>\n  f {}")
    rule = document.rules[0]
    lines = [item.line for item in document.statements]
    assert (lines, rule.conditions[0].chunk.line, rule.actions[0].line) == ([2, 4, 5], 5, 6)


@pytest.mark.parametrize(
    "text",
    [
        'dog dog1 {\n  name "Fido"\n  age 4\n}\n',
        "dog kindof mammal\n",
        "a {}\n",
        "count {state start; start ?a},\n!b {x !}\n=> count {state on},\n   c {@do clear}\n",
        'a {\n  x 1, -2.5, true, "q\\"\\u0001é", 1879-03-14, ?v, !w, !"t", *\n}\n',
    ],
)
def test_canonical_text_is_written_as_it_was_read(text: str) -> None:
    assert to_text(parse(text)) == text


def test_compact_text_has_one_line_for_a_statement() -> None:
    text = "dog dog1 {name Fido; age 4}\na kindof b\n!c {}, d {} => e {}, f {x 1}\n"
    assert to_text(parse(text), compact=True) == text


def test_rule_with_an_identifier_keeps_it_in_text() -> None:
    conditions = (Condition(Chunk("a", {"x": 1}), negated=True),)
    rule = Rule(conditions, (Chunk("b"), Chunk("c", id="c1")), id="r1")
    text = to_text(rule, compact=True)
    assert text.splitlines() == [
        "rule r1 {@condition !_:r1-1; @action _:r1-2, c1}",
        "a _:r1-1 {x 1}",
        "b _:r1-2 {}",
        "c c1 {}",
    ]
    (read,) = parse(text).rules
    assert read.id == "r1"
    assert [condition.negated for condition in read.conditions] == [True]


def test_condition_is_written_with_its_negation() -> None:
    assert to_text(Condition(Chunk("a", {"x": 1}), negated=True)) == ("!a {\n  x 1\n}")
    assert to_text(Condition(Chunk("a")), compact=True) == "a {}"
