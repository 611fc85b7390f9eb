"""Every JSON value survives the conversion unchanged, in Python and through a real store."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, Store

from kiprdf.rdf import vocab
from kiprdf.rdf.literals import canonical_json, normal, to_json, to_term
from tests.cases import each_case

XSD = "http://www.w3.org/2001/XMLSchema#"
SUBJECT, PREDICATE = NamedNode("urn:s"), NamedNode("urn:p")


def stored(value: Any) -> Any:
    """A value that has been through the engine, and its term there."""
    store = Store()
    store.add(Quad(SUBJECT, PREDICATE, to_term(value)))
    (quad,) = store
    return quad.object


def same(one: Any, other: Any) -> bool:
    """Equal as JSON, 1 and 1.0 and true apart."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


TERMS: list[tuple[Any, str, str]] = [
    ("", "", "string"),
    ("a\nb\u0000", "a\nb\u0000", "string"),
    (True, "true", "boolean"),
    (False, "false", "boolean"),
    (0, "0", "integer"),
    (-5, "-5", "integer"),
    (2**63 - 1, "9223372036854775807", "integer"),
    (-(2**63), "-9223372036854775808", "integer"),
    (1.0, "1.0", "double"),
    (0.95, "0.95", "double"),
    (1e300, "1e+300", "double"),
    (5e-324, "5e-324", "double"),
    (-0.0, "-0.0", "double"),
    (1e16, "1e+16", "double"),
]


@each_case("value, lexical, datatype", TERMS)
def test_scalar_is_a_typed_literal(value: Any, lexical: str, datatype: str) -> None:
    assert to_term(value) == Literal(lexical, datatype=NamedNode(XSD + datatype))


def test_null_is_a_node_of_the_vocabulary() -> None:
    assert to_term(None) == NamedNode("urn:kip:vocab/null")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([], "[]"),
        ({}, "{}"),
        ([1, 1.0, "a", None, True], '[1,1.0,"a",null,true]'),
        ({"b": 1, "a": [2]}, '{"a":[2],"b":1}'),
        ({"\uffff": 1, "😀": 2}, '{"\uffff":1,"😀":2}'),
        ({"é": "ü\n\u2028"}, '{"é":"ü\\n\u2028"}'),
        ([1e300, 1e16, 0.1], "[1e+300,1e+16,0.1]"),
    ],
)
def test_container_is_one_canonical_json_literal(value: Any, text: str) -> None:
    rdf_json = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON")
    assert to_term(value) == Literal(text, datatype=rdf_json)


def test_canonical_json_does_not_depend_on_the_order_of_keys() -> None:
    assert canonical_json({"a": 1, "b": {"c": 1, "d": 2}}) == canonical_json(
        {"b": {"d": 2, "c": 1}, "a": 1}
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_canonical_json_refuses_what_is_not_finite(value: Any) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical_json(value)


def test_one_and_one_point_zero_and_true_are_three_terms() -> None:
    assert len({to_term(1), to_term(1.0), to_term(True), to_term("1")}) == 4


@each_case("value", [value for value, _, _ in TERMS])
def test_scalar_survives_a_store(value: Any) -> None:
    assert same(to_json(stored(value)), value)


def test_one_and_one_point_zero_stay_distinct_in_a_store() -> None:
    assert [type(to_json(stored(value))) for value in (1, 1.0)] == [int, float]


@pytest.mark.parametrize("value", [1e21, 1.7976931348623157e308, 5e-324, 1e-300, 123456789.125])
def test_double_that_the_engine_rewrites_has_one_normal_form(value: float) -> None:
    assert normal(stored(value)) == to_term(value)


def test_normal_does_not_change_other_terms() -> None:
    for value in (1, "1.0", True, None, [1.0]):
        assert normal(to_term(value)) == to_term(value)


@pytest.mark.parametrize("text", ["INF", "-INF", "NaN", "1e400"])
def test_a_double_that_is_no_number_of_json_keeps_its_text(text: str) -> None:
    assert normal(Literal(text, datatype=vocab.DOUBLE)).value == text


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet=st.characters(exclude_categories=("Cs",))),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=5)
            | st.sampled_from(("@value", "@type", "@language", "@id")),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(value=_json)
def test_every_json_value_survives_the_conversion(value: Any) -> None:
    assert same(to_json(to_term(value)), value)


@given(value=_json)
def test_every_json_value_survives_a_store(value: Any) -> None:
    assert same(to_json(stored(value)), value)


@given(value=_json)
def test_equal_values_have_equal_terms_after_the_store(value: Any) -> None:
    assert normal(stored(value)) == normal(to_term(json.loads(json.dumps(value))))


# Literals of other origin -------------------------------------------------------------------------

VALUE_OBJECTS = [
    ({"@value": "Kopfschmerz", "@language": "de"}, Literal("Kopfschmerz", language="de")),
    ({"@value": "x", "@language": "zh-hans"}, Literal("x", language="zh-hans")),
    (
        {"@value": "POINT(1 2)", "@type": "http://www.opengis.net/ont/geosparql#wktLiteral"},
        Literal(
            "POINT(1 2)", datatype=NamedNode("http://www.opengis.net/ont/geosparql#wktLiteral")
        ),
    ),
    ({"@value": "x", "@type": "urn:t"}, Literal("x", datatype=NamedNode("urn:t"))),
]


@pytest.mark.parametrize(("value", "term"), VALUE_OBJECTS)
def test_value_object_is_a_literal_of_its_kind(value: Any, term: Literal) -> None:
    assert to_term(value) == term
    assert to_json(term) == value


@pytest.mark.parametrize(("value", "term"), VALUE_OBJECTS)
def test_value_object_survives_a_store(value: Any, term: Literal) -> None:
    assert to_json(stored(value)) == value


@each_case(
    "value",
    [
        {"@value": "x"},
        {"@value": 1, "@type": "urn:t"},
        {"@value": "x", "@language": "DE"},
        {"@value": "x", "@language": "zh-Hans"},
        {"@value": "x", "@language": ""},
        {"@value": "x", "@language": "not a tag"},
        {"@value": "x", "@type": "no iri"},
        {"@value": "x", "@type": "relative"},
        {"@value": "x", "@language": "de", "@type": "urn:t"},
        {"@value": "x", "@language": "de", "more": 1},
        {"@value": "x", "@type": XSD + "string"},
        {"@value": "1.10", "@type": XSD + "decimal"},
        {"@value": "01", "@type": XSD + "integer"},
        {"@value": "2024-01-01T00:00:00.000Z", "@type": XSD + "dateTime"},
        {"@value": "x", "@type": "http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON"},
        {"@value": "x", "@type": "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"},
        {"@value": None},
        {"@id": "urn:x"},
    ],
)
def test_other_object_stays_the_json_it_is(value: Any) -> None:
    assert to_term(value).datatype == vocab.JSON  # type: ignore[union-attr]
    assert same(to_json(stored(value)), value)


def test_foreign_literal_is_a_value_object() -> None:
    date = Literal("2024-01-01", datatype=NamedNode(XSD + "date"))
    assert to_json(date) == {"@value": "2024-01-01", "@type": XSD + "date"}


def test_foreign_iri_is_an_id_object() -> None:
    assert to_json(NamedNode("urn:x")) == {"@id": "urn:x"}


@given(
    st.one_of(
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.decimals(-100, 100, places=6).map(float),
        st.booleans(),
    )
)
def test_what_to_term_writes_is_normal(value: Any) -> None:
    assert normal(to_term(value)) == to_term(value)


@pytest.mark.parametrize("text", ["007", "+7", "-0", "7.50", "0.00001", "1E2", "100", ".5", "-0.0"])
@pytest.mark.parametrize("datatype", [vocab.INTEGER, vocab.DOUBLE])
def test_an_unusual_spelling_becomes_the_usual_one(text: str, datatype: NamedNode) -> None:
    try:
        value = int(text) if datatype == vocab.INTEGER else float(text)
    except ValueError:
        assert normal(Literal(text, datatype=datatype)).value == text
        return
    assert normal(Literal(text, datatype=datatype)) == to_term(value)
