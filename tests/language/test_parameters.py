"""Placeholders are filled in the tree: a parameter is data and never syntax."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiprdf.errors import KipError
from kiprdf.language import Template, ast, bind, parse, to_text
from kiprdf.semantics import Catalog, check
from tests.cases import each_case

CATALOG = Catalog(frozenset(("Drug", "Symptom")), frozenset(("treats",)))


def bound(text: str, **parameters: Any) -> Any:
    return bind(parse(text), parameters)


def refused(text: str, **parameters: Any) -> KipError:
    """The error of a command up to the end of its checks."""
    with pytest.raises(KipError) as caught:
        check(bound(text, **parameters), CATALOG)
    return caught.value.in_source(text)


# Every place ----------------------------------------------------------------------------------

PLACES = {
    "type": ("FIND(?d) WHERE { ?d {type: :v} }", "Drug"),
    "name": ("FIND(?d) WHERE { ?d {name: :v} }", "Aspirin"),
    "id": ("FIND(?d) WHERE { ?d {id: :v} }", "C:Drug/A"),
    "link_id": ("FIND(?l) WHERE { ?l (id: :v) }", "P:48ec6e8e3fe50dea:treats"),
    "endpoint": ('FIND(?l) WHERE { ?l ({name: :v}, "treats", ?s) }', "Aspirin"),
    "filter": ('FIND(?d) WHERE { ?d {type: "Drug"} FILTER(?d.name == :v) }', "x"),
    "filter_left": ('FIND(?d) WHERE { ?d {type: "Drug"} FILTER(:v == ?d.name) }', 3),
    "in": ('FIND(?d) WHERE { ?d {type: "Drug"} FILTER(IN(?d.name, :v)) }', ["a", 1, None]),
    "in_item": ('FIND(?d) WHERE { ?d {type: "Drug"} FILTER(IN(?d.name, ["a", :v])) }', 2.5),
    "contains": ('FIND(?d) WHERE { ?d {type: "Drug"} FILTER(CONTAINS(?d.name, :v)) }', "x"),
    "regex": ('FIND(?d) WHERE { ?d {type: "Drug"} FILTER(REGEX(?d.name, :v)) }', "^x"),
    "limit": ('FIND(?d) WHERE { ?d {type: "Drug"} } LIMIT :v', 5),
    "cursor": ('FIND(?d) WHERE { ?d {type: "Drug"} } CURSOR :v', "abc"),
    "upsert_name": ('UPSERT { CONCEPT { {type: "Drug", name: :v} } }', "Aspirin"),
    "value": (
        'UPSERT { CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES {a: :v} } }',
        {"x": [1]},
    ),
    "nested": (
        'UPSERT { CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES {a: [{b: :v}]} } }',
        None,
    ),
    "map": ('UPSERT { CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES :v } }', {"a": 1}),
    "metadata": ('UPSERT { CONCEPT { {type: "Drug", name: "A"} } } WITH METADATA :v', {"a": 1}),
    "described": ("DESCRIBE CONCEPT TYPE :v", "Drug"),
    "types_limit": ("DESCRIBE CONCEPT TYPES LIMIT :v", 5),
    "types_cursor": ("DESCRIBE PROPOSITION TYPES CURSOR :v", "abc"),
    "term": ("SEARCH CONCEPT :v", "aspirin"),
    "search_type": ('SEARCH CONCEPT "a" WITH TYPE :v', "Drug"),
    "search_limit": ('SEARCH CONCEPT "a" LIMIT :v', 5),
}


@each_case("text, value", PLACES.values())
def test_parameter_means_what_its_literal_means(text: str, value: Any) -> None:
    from_literal = parse(text.replace(":v", to_text_of(value)))
    command = bound(text, v=value)
    assert command == from_literal
    check(command, CATALOG)


def to_text_of(value: Any) -> str:
    printed = to_text(bound("SEARCH CONCEPT :v", v=value))
    return printed.removeprefix("SEARCH CONCEPT ")


@each_case("text", [text for text, _ in PLACES.values()])
def test_placeholder_without_a_parameter_is_refused_at_its_place(text: str) -> None:
    error = refused(text)
    assert (error.code, error.message) == ("KIP_1001", "The placeholder :v has no parameter.")
    assert error.position == (1, text.index(":v") + 1)


def test_a_misspelt_parameter_is_named_in_the_hint() -> None:
    assert ":nmae" in refused("FIND(?d) WHERE { ?d {name: :name} }", nmae="x").hint


def test_unused_parameters_are_fine() -> None:
    assert bound("DESCRIBE PRIMER", name="x", other=[1]) == ast.DescribePrimer()


def test_one_parameter_fills_each_of_its_places() -> None:
    command = bound("FIND(?d) WHERE { ?d {type: :v} FILTER(?d.name == :v) }", v="Drug")
    assert command == parse('FIND(?d) WHERE { ?d {type: "Drug"} FILTER(?d.name == "Drug") }')


def test_bound_value_stands_where_its_placeholder_stood() -> None:
    text = "FIND(?d) WHERE { ?d {name: :v} }"
    clause = bound(text, v="x" * 100).where.clauses[0]
    span = clause.matcher.name.span
    assert text[span.start : span.end] == ":v"


# Never syntax ---------------------------------------------------------------------------------

HOSTILE = (
    '"', '"} } DELETE CONCEPT ?x DETACH WHERE { ?x {type: "Drug"', "\\", "\n", "\x00", "'", ":v",
    "?x", "}", "//", "/*", "${v}", "\u2028", "😀", "<urn:x>", "'''", '"""', "a\\u0022b",
)  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("text", ["SEARCH CONCEPT :v", "FIND(?d) WHERE { ?d {name: :v} }"])
def test_hostile_value_stays_one_string(text: str, value: str) -> None:
    command = bound(text, v=value)
    scalar = (
        command.term if isinstance(command, ast.Search) else command.where.clauses[0].matcher.name
    )
    assert scalar == ast.Scalar(value)
    assert parse(to_text(command)) == command


@given(value=st.text())
def test_any_string_stays_one_string(value: str) -> None:
    assert bound("SEARCH CONCEPT :v", v=value).term == ast.Scalar(value)


def test_a_bound_tree_holds_no_placeholder_again() -> None:
    command = bound("SEARCH CONCEPT :v", v=":w")
    assert command.term == ast.Scalar(":w")


# Refused --------------------------------------------------------------------------------------


@each_case("place", ["type", "name", "id", "link_id", "limit", "cursor", "upsert_name", "described",
              "types_limit", "types_cursor", "term", "search_type", "search_limit", "endpoint",
              "in", "map", "metadata", "regex"])  # fmt: skip
def test_null_is_refused(place: str) -> None:
    assert refused(PLACES[place][0], v=None).code == "KIP_1001"


@pytest.mark.parametrize("value", [0, -1, 1.0, 10.5, True, "5", [5], {}, None])
@pytest.mark.parametrize("place", ["limit", "types_limit", "search_limit"])
def test_limit_is_an_integer_from_one(place: str, value: Any) -> None:
    error = refused(PLACES[place][0], v=value)
    assert (error.code, error.message) == ("KIP_1001", "LIMIT takes an integer from 1.")


@pytest.mark.parametrize("place", ["type", "name", "id", "link_id", "cursor", "term", "described"])
@pytest.mark.parametrize("value", [1, 1.5, True, ["a"], {"a": "b"}])
def test_other_values_than_strings_are_refused_where_a_string_stands(
    place: str, value: Any
) -> None:
    assert refused(PLACES[place][0], v=value).code == "KIP_1001"


@pytest.mark.parametrize("value", ["a", 1, [1], True])
@pytest.mark.parametrize("place", ["map", "metadata"])
def test_other_values_than_objects_are_refused_for_a_map(place: str, value: Any) -> None:
    assert refused(PLACES[place][0], v=value).code == "KIP_1001"


def test_an_empty_list_for_in_is_an_empty_choice() -> None:
    check(bound(PLACES["in"][0], v=[]), CATALOG)


@each_case(
    "text",
    [
        'FIND(?d) WHERE { ?d {name: "drug :name"} }',
        'FIND(?d) WHERE { ?d {name: ":name"} }',
        'SEARCH CONCEPT "find :name, please"',
        'UPSERT { CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES {a: ["(:name)"]} } }',
        'FIND(?d) WHERE { (?d, ":name", ?s) }',
    ],
)
def test_placeholder_inside_a_string_whose_name_was_sent_is_refused(text: str) -> None:
    error = refused(text, name="x")
    assert error.code == "KIP_1001"
    assert error.message == "The placeholder :name is inside a string literal."


@each_case(
    "text", ['"at 12:name"', '"C:name"', '"::name"', '":names"', '":nam"', '"http://x:name"']
)
def test_a_colon_that_begins_no_placeholder_is_text(text: str) -> None:
    assert bound(f"SEARCH CONCEPT {text}", name="x").term == ast.Scalar(text[1:-1])


def test_placeholder_inside_a_string_whose_name_was_not_sent_is_text() -> None:
    assert bound('SEARCH CONCEPT "see :name"', other=1).term == ast.Scalar("see :name")


def test_a_value_may_look_like_another_placeholder() -> None:
    command = bound("SEARCH CONCEPT :a", a="see :b", b="x")
    assert command.term == ast.Scalar("see :b")


@each_case("name", ["1a", "a-b", "", ":a", "a b", "é"])
def test_parameter_name_that_is_no_identifier_is_refused(name: str) -> None:
    with pytest.raises(KipError) as caught:
        bind(ast.DescribePrimer(), {name: 1})
    assert caught.value.code == "KIP_1001"


@each_case(
    "value, message",
    [
        (float("nan"), "Parameter 'v': A number is not finite."),
        (float("inf"), "Parameter 'v': A number is not finite."),
        (2**63, "Parameter 'v': An integer is outside the 64-bit range."),
        (-(2**63) - 1, "Parameter 'v': An integer is outside the 64-bit range."),
        (b"x", "Parameter 'v': A value of the Python type bytes is not JSON."),
        ({1: 2}, "Parameter 'v': The object key 1 is not a string."),
        ({"a": {1, 2}}, "Parameter 'v': A value of the Python type set is not JSON."),
    ],
)
def test_no_json_is_refused(value: Any, message: str) -> None:
    error = refused(
        'UPSERT { CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES {a: :v} } }', v=value
    )
    assert (error.code, error.message) == ("KIP_1001", message)


@each_case("value", ["\ud800", "a\udfff", ["\ud800"], {"a": "\udc00"}, {"\ud800": 1}])
def test_lone_surrogate_in_a_value_is_refused(value: Any) -> None:
    text = 'UPSERT { CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES {a: :v} } }'
    assert refused(text, v=value).code == "KIP_1001"


def test_lone_surrogate_in_a_name_is_no_identifier() -> None:
    assert refused('UPSERT { CONCEPT { {type: "Drug", name: :v} } }', v="\ud800").code == "KIP_1002"


@pytest.mark.parametrize(("levels", "code"), [(62, None), (80, "KIP_4002"), (100_000, "KIP_4002")])
def test_deep_value_is_refused(levels: int, code: str | None) -> None:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    text = 'UPSERT { CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES {a: :v} } }'
    if code is None:
        check(bound(text, v=value), CATALOG)
    else:
        assert refused(text, v=value).code == code


@pytest.mark.parametrize("leaf", ["x", 1, None, True])
def test_what_stands_too_deep_in_a_tuple_is_refused(leaf: Any) -> None:
    value: Any = (leaf,)
    for _ in range(64):
        value = [value]
    text = 'UPSERT { CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES {a: :v} } }'
    assert refused(text, v=value).code == "KIP_4002"


def test_cyclic_value_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    assert refused("SEARCH CONCEPT :v", v=value).code == "KIP_4002"


MEBIBYTE = 1024 * 1024


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("a" * MEBIBYTE, None),
        ("a" * (MEBIBYTE + 1), "KIP_4002"),
        ("é" * (MEBIBYTE // 2), None),
        ("é" * (MEBIBYTE // 2 + 1), "KIP_4002"),
    ],
    ids=["edge", "one_past", "edge_in_bytes", "one_past_in_bytes"],
)
def test_a_string_holds_one_mebibyte(value: str, code: str | None) -> None:
    text = 'UPSERT { CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES {a: :v} } }'
    if code is None:
        check(bound(text, v=value), CATALOG)
    else:
        assert refused(text, v=value).code == code


@each_case(
    "text",
    [
        'FIND(?d) WHERE { (?d, "p"{:v}, ?s) }',
        'FIND(?d) WHERE { (?d, "p"{1,:v}, ?s) }',
        'UPSERT { CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES {:v: 1} } }',
        'DELETE ATTRIBUTES {:v} FROM ?d WHERE { ?d {type: "Drug"} }',
        'FIND(:v) WHERE { ?d {name: "x"} }',
        "FIND(?d) WHERE :v",
        "DESCRIBE :v",
        ":v",
    ],
)
def test_placeholder_cannot_stand_for_syntax(text: str) -> None:
    with pytest.raises(KipError) as caught:
        parse(text)
    assert caught.value.code == "KIP_1001"


# Again and again ------------------------------------------------------------------------------

NAMED = 'UPSERT { CONCEPT { {type: "Drug", name: :name} SET ATTRIBUTES {a: :v, b: ["x", :v]} } }'


def test_a_template_is_bound_to_other_parameters_each_time() -> None:
    template = Template(parse(NAMED))
    for values in ({"name": "A", "v": 1}, {"name": "B", "v": {"deep": [None]}}):
        assert template.bind(values) == bind(parse(NAMED), values)


def test_a_template_keeps_its_command_and_the_spans_of_its_nodes() -> None:
    template = Template(parse(NAMED))
    (block,) = template.bind({"name": "A", "v": 1}).blocks  # type: ignore[attr-defined]
    ((item,), (own,)) = block.items, template.command.blocks[0].items  # type: ignore[attr-defined]
    assert template.command == parse(NAMED)
    assert (item.span, item.matcher.span) == (own.span, own.matcher.span)
    assert item.matcher.type is own.matcher.type
    assert item.matcher.name.span == own.matcher.name.span


@each_case(
    "values, message",
    [
        ({"name": "A"}, "The placeholder :v has no parameter."),
        ({"name": "A", "v": {1}}, "Parameter 'v': A value of the Python type set is not JSON."),
        (
            {"name": "A", "v": "\ud800"},
            "A string contains a lone surrogate, which is not a character.",
        ),
        ({"name": "A", "v": [{"\ud800": 1}]}, "A string contains a lone surrogate"),
        ({"name": "A", "v": 1, "1": 2}, "The parameter name '1' is not an identifier."),
    ],
)
def test_a_template_refuses_what_was_fine_before(values: dict[str, Any], message: str) -> None:
    template = Template(parse(NAMED))
    template.bind({"name": "A", "v": "ü"})
    with pytest.raises(KipError) as caught:
        template.bind(values)
    assert caught.value.message.startswith(message)


def test_the_first_error_in_the_text_is_reported() -> None:
    text = 'UPSERT { CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES {a: :v, b: "\\ud800"} } }'
    first, second = refused(text, v="\ud800"), refused(text, v="fine")
    assert (first.span.start, second.span.start) == (text.index(":v"), text.index('"\\ud'))


def test_a_placeholder_in_a_literal_is_an_error_only_with_its_parameter() -> None:
    text = 'UPSERT { CONCEPT { {type: "Drug", name: :v} SET ATTRIBUTES {a: "to :w or :v"} } }'
    template = Template(parse(text))
    with pytest.raises(KipError, match="placeholder :v is inside"):
        template.bind({"v": "A"})
    with pytest.raises(KipError, match="placeholder :w is inside"):
        template.bind({"v": "A", "w": 1})


@given(st.dictionaries(st.sampled_from(["name", "v"]), st.text(), min_size=2))
def test_texts_of_any_kind_come_through_a_template(values: dict[str, str]) -> None:
    bound_block = Template(parse(NAMED)).bind(values).blocks[0]  # type: ignore[attr-defined]
    assert bound_block.items[0].matcher.name.value == values["name"]
    assert bound_block.items[0].attributes.entries[0].value.value == values["v"]
