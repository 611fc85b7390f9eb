"""The scanner: JSON values, variables and dot paths."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiprdf.errors import KipError
from kiprdf.language import ast
from kiprdf.language.parameters import to_json
from kiprdf.language.values import describe_token, scan_path, scan_value, scan_variable
from tests.cases import each_case


def read(text: str) -> Any:
    value, end = scan_value(text, 0)
    assert end == len(text)
    return to_json(value)


def refused(text: str) -> KipError:
    with pytest.raises(KipError) as caught:
        scan_value(text, 0)
    return caught.value


# Strings --------------------------------------------------------------------------------------


@each_case(
    "text, value",
    [
        ('""', ""),
        ('"a"', "a"),
        (r'"\"\\\/\b\f\n\r\t"', '"\\/\b\f\n\r\t'),
        (r'"\u0041\u00e9\u963f"', "Aé阿"),
        (r'"\ud83d\ude00"', "😀"),
        (r'"\uD83D\uDE00"', "😀"),
        (r'"\u0000"', "\x00"),
        (r'"\u2028"', "\u2028"),
        ('"\u2028\u2029\x7f\x85"', "\u2028\u2029\x7f\x85"),
        ('"// /* ?x :y {[("', "// /* ?x :y {[("),
        ('"😀"', "😀"),
    ],
)
def test_string_is_read_as_json(text: str, value: str) -> None:
    assert read(text) == value


@each_case("code", [*range(0x20)])
def test_raw_control_character_is_refused(code: int) -> None:
    error = refused(f'"a{chr(code)}b"')
    assert error.code == "KIP_1001"
    assert error.message == "A string contains a raw control character."
    assert (error.span.start, error.span.end) == (2, 3)


@each_case("text", [r'"\x41"', r'"\u12"', r'"\u12g4"', r'"\a"', '"\\\n"', r'"\U0001F600"'])
def test_unknown_escape_is_refused(text: str) -> None:
    assert refused(text).code == "KIP_1001"


@pytest.mark.parametrize("text", ['"', '"a', '"a\\"', '"a\\'])
def test_open_string_is_refused(text: str) -> None:
    assert refused(text).code == "KIP_1001"


def test_single_quotes_are_no_string() -> None:
    assert refused("'a'").message.startswith("Expected a value, found")


@given(text=st.text())
def test_every_string_is_read_as_json_writes_it(text: str) -> None:
    assert read(json.dumps(text)) == text
    assert read(json.dumps(text, ensure_ascii=False)) == text


# Numbers --------------------------------------------------------------------------------------


@each_case(
    "text, value",
    [
        ("0", 0),
        ("-1", -1),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("1.0", 1.0),
        ("1e2", 100.0),
        ("1E+2", 100.0),
        ("-0.5e-3", -0.0005),
        ("1.7976931348623157e308", 1.7976931348623157e308),
        ("5e-324", 5e-324),
        ("1e-400", 0.0),
        ("9223372036854775808.0", 9223372036854775808.0),
        ("0.1", 0.1),
        ("123456789012345678901234567890e0", 1.2345678901234568e29),
    ],
)
def test_number_is_read_as_json(text: str, value: float) -> None:
    result = read(text)
    assert (result, type(result)) == (value, type(value))


def test_minus_zero_keeps_its_sign_as_a_double() -> None:
    assert math.copysign(1, read("-0.0")) == -1


def test_minus_zero_as_an_integer_is_zero() -> None:
    assert (read("-0"), type(read("-0"))) == (0, int)


@each_case(
    "text", ["9223372036854775808", "-9223372036854775809", "1" * 20, "9" * 21, "1" * 100_000]
)
def test_integer_beyond_64_bits_is_refused(text: str) -> None:
    error = refused(text)
    assert (error.code, error.message) == (
        "KIP_1001",
        "An integer is outside the 64-bit range.",
    )
    assert (error.span.start, error.span.end) == (0, len(text))


@pytest.mark.parametrize("text", ["1e400", "-1e400", "1.8e308", "1e99999999999999999999"])
def test_double_beyond_the_range_is_refused(text: str) -> None:
    error = refused(text)
    assert (error.code, error.message) == ("KIP_1001", "A number is not finite.")


@each_case(
    "text",
    ["01", "-01", "00", "1.", "1.e3", "1e", "1e+", "-", "-a", "0x10", "1_000", "5mg", "1.2.3"],
)
def test_other_spelling_of_a_number_is_refused(text: str) -> None:
    assert refused(text).code == "KIP_1001"


@each_case("text", ["+1", ".5", "NaN", "Infinity", "-Infinity", "nan", "inf"])
def test_no_number_of_json_is_no_value(text: str) -> None:
    assert refused(text).code == "KIP_1001"


@given(value=st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_is_read_back_equal_and_of_its_kind(value: float) -> None:
    result = read(json.dumps(value))
    assert (repr(result), type(result)) == (repr(value), type(value))


# Constants, arrays, objects -------------------------------------------------------------------


@pytest.mark.parametrize(("text", "value"), [("true", True), ("false", False), ("null", None)])
def test_constant_is_read(text: str, value: bool | None) -> None:
    assert read(text) is value


@each_case("text", ["True", "NULL", "None", "truex", "null_", "undefined", ""])
def test_other_word_is_no_value(text: str) -> None:
    assert refused(text).code == "KIP_1001"


@each_case(
    "text, value",
    [
        ("[]", []),
        ("[ ]", []),
        ("[1,]", [1]),
        ("[1, \n [2, []] ]", [1, [2, []]]),
        ("{}", {}),
        ("{a: 1}", {"a": 1}),
        ('{"a": 1, b: [true],}', {"a": 1, "b": [True]}),
        ('{"a b": 1, "": 2, "ключ": {x: null}}', {"a b": 1, "": 2, "ключ": {"x": None}}),
        ("{type: 1, true: 2, FIND: 3}", {"type": 1, "true": 2, "FIND": 3}),
        ('{\t"a"\r\n:\n1 }', {"a": 1}),
    ],
)
def test_container_is_read(text: str, value: Any) -> None:
    assert read(text) == value


@each_case(
    "text",
    [
        "[,]",
        "[1,,2]",
        "[1 2]",
        "[1",
        "[",
        "[1}",
        "{,}",
        "{a}",
        "{a:}",
        "{a:1,,}",
        "{a 1}",
        "{:1}",
        "{a:1",
        "{",
        "{a:1]",
        "{-a:1}",
    ],
)
def test_malformed_container_is_refused(text: str) -> None:
    assert refused(text).code == "KIP_1001"


def test_bare_key_that_begins_with_a_digit_is_no_identifier() -> None:
    assert refused("{1a: 1}").code == "KIP_1002"


@pytest.mark.parametrize("text", ["{a: 1, a: 1}", '{a: 1, "a": 2}', '{"a": 1, "\\u0061": 2}'])
def test_duplicate_key_is_refused_at_its_second_place(text: str) -> None:
    error = refused(text)
    assert (error.code, error.message) == ("KIP_1001", "The key 'a' occurs twice in one object.")
    assert error.span.start == text.index(",") + 2


def test_the_same_key_in_two_objects_is_fine() -> None:
    assert read("{a: {a: 1}, b: {a: 2}}") == {"a": {"a": 1}, "b": {"a": 2}}


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@given(value=_JSON, indent=st.none() | st.integers(0, 2))
def test_every_json_text_is_read_as_json_reads_it(value: Any, indent: int | None) -> None:
    assert repr(read(json.dumps(value, indent=indent))) == repr(value)


# Placeholders, variables, paths ---------------------------------------------------------------


def test_placeholder_is_a_colon_and_an_identifier() -> None:
    assert scan_value(":name,", 0) == (ast.Placeholder("name"), 5)


@pytest.mark.parametrize(
    ("text", "code"),
    [(":1a", "KIP_1002"), (":", "KIP_1001"), (": a", "KIP_1001"), (':"a"', "KIP_1001")],
)
def test_other_placeholder_is_refused(text: str, code: str) -> None:
    assert refused(text).code == code


def test_variable_is_a_question_mark_and_an_identifier() -> None:
    assert scan_variable("?side_effect_1)", 0) == (ast.Variable("side_effect_1"), 14)


@each_case(
    "text, code",
    [
        ("?1x", "KIP_1002"),
        ("?", "KIP_1001"),
        ("? x", "KIP_1001"),
        ("?é", "KIP_1002"),
        ("?$x", "KIP_1002"),
    ],
)
def test_other_variable_is_refused(text: str, code: str) -> None:
    with pytest.raises(KipError) as caught:
        scan_variable(text, 0)
    assert caught.value.code == code


@each_case(
    "text, path",
    [
        ("?d.name", ast.Path(ast.Variable("d"), "name")),
        ("?d.attributes", ast.Path(ast.Variable("d"), "attributes")),
        ("?d.attributes.name", ast.Path(ast.Variable("d"), "attributes", "name")),
        ("?d.metadata._version", ast.Path(ast.Variable("d"), "metadata", "_version")),
        ("?l.subject", ast.Path(ast.Variable("l"), "subject")),
        ("?d . attributes\n. a", ast.Path(ast.Variable("d"), "attributes", "a")),
    ],
)
def test_dot_path_is_read(text: str, path: ast.Path) -> None:
    assert scan_path(text, 0) == (path, len(text))


@each_case(
    "text, code, start",
    [
        ("?d.risk", "KIP_1001", 3),
        ("?d.Name", "KIP_1001", 3),
        ("?d.name.x", "KIP_1001", 8),
        ("?d.attributes.a.b", "KIP_1001", 16),
        ("?d.attributes.1a", "KIP_1002", 14),
        ("?d.", "KIP_1001", 3),
        ("?d..name", "KIP_1001", 3),
        ('?d.attributes."a"', "KIP_1001", 14),
    ],
)
def test_other_dot_path_is_refused_at_its_fault(text: str, code: str, start: int) -> None:
    with pytest.raises(KipError) as caught:
        scan_path(text, 0)
    assert (caught.value.code, caught.value.span.start) == (code, start)


@each_case(
    "text, token",
    [
        ("", "the end of the text"),
        ("  ", "the end of the text"),
        ("?drug.name", "'?drug'"),
        ("== 3", "'=='"),
        ('"a b" c', "'\"a b\"'"),
        (":p", "':p'"),
        ("$x", "'$x'"),
        ("WHERE{", "'WHERE'"),
        ("{", "'{'"),
    ],
)
def test_token_is_described_for_a_message(text: str, token: str) -> None:
    assert describe_token(text, 0) == token
