"""The original of an import is the same graph, to the last character of each literal."""

from __future__ import annotations

import pytest
from pyoxigraph import CanonicalizationAlgorithm, Dataset, RdfFormat, parse

import kiprdf
from tests.nexus.support import empty

PREFIXES = """
@prefix : <https://example.org/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
JSON = {
    "an array": ':a a :T ; :j "[1,2]"^^rdf:JSON .',
    "an array of one": ':a a :T ; :j "[1]"^^rdf:JSON .',
    "an array of arrays": ':a a :T ; :j "[[1,2]]"^^rdf:JSON .',
    "an empty array": ':a a :T ; :j "[]"^^rdf:JSON .',
    "null": ':a a :T ; :j "null"^^rdf:JSON .',
    "null in an array": ':a a :T ; :j "[null]"^^rdf:JSON .',
    "an array as it was written": ':a a :T ; :j "[ 1 , 2 ]"^^rdf:JSON .',
    "an array and its items": ':a a :T ; :j "[1,2]"^^rdf:JSON, 1, 2 .',
    "an array and a list": ':a a :T ; :j "[1,2]"^^rdf:JSON, (1 2) .',
    "several of all kinds": ':a a :T ; :j "[]"^^rdf:JSON, "[3]"^^rdf:JSON, "null"^^rdf:JSON, 1 .',
    "an array on one of two": ':a a :T ; :j "[1]"^^rdf:JSON . :b a :T ; :j "2"^^rdf:JSON .',
    "an array in a list": ':a a :T ; :j ( "[1,2]"^^rdf:JSON ) .',
    "null in a list": ':a a :T ; :j ( "null"^^rdf:JSON "[]"^^rdf:JSON ) .',
    "an array in a list in a list": ':a a :T ; :j ( ( "[1]"^^rdf:JSON ) ) .',
    "a graph": ':a a :T . :g { :a :j "[1,2]"^^rdf:JSON ; :k "null"^^rdf:JSON }',
    "two graphs": ':g { :a a :T ; :j "[1]"^^rdf:JSON } :h { :a :j "null"^^rdf:JSON }',
    "a reifier": """:a a :T ; :p :b ~ :r {| :j "[1,2]"^^rdf:JSON ; :k "null"^^rdf:JSON |} .
        :b a :T .""",
    "two reifiers": """:a a :T ; :p :b ~ :r {| :j "[1]"^^rdf:JSON |} ~ :s {| :j "[]"^^rdf:JSON |} .
        :b a :T .""",
}
BESIDE_LINKS = {
    "an empty list": ":a a :T ; :p :b, () . :b a :T .",
    "a list": ":a a :T ; :p :b, ( ( :b ) ) . :b a :T .",
    "null": ':a a :T ; :p :b, "null"^^rdf:JSON . :b a :T .',
    "empty JSON": ':a a :T ; :p :b, "[]"^^rdf:JSON . :b a :T .',
}

VARIANTS = {
    "a number with a zero": ("1", '"01"^^xsd:integer'),
    "decimals": ("1.10", "1.1"),
    "doubles": ("1.0e0", "1.0"),
    "booleans": ("true", '"1"^^xsd:boolean'),
    "a date and a string": ('"2020-01-01"', '"2020-01-01"^^xsd:date'),
    "an IRI and a string": (":x", '"https://example.org/x"'),
    "JSON and a list": ('"[1]"^^rdf:JSON', "( 1 )"),
    "JSON of a literal": (
        '"x"^^:d',
        r'"{\"@type\":\"https://example.org/d\",\"@value\":\"x\"}"^^rdf:JSON',
    ),
    "lists": ("( 1 )", '( "01"^^xsd:integer )'),
}
IN_GRAPHS = {
    "two graphs": ":g {{ :b a :T ; :q {0} }} :h {{ :b :q {1} }}",
    "the default graph": ":b a :T ; :q {0} . :h {{ :b :q {1} }}",
    "a reifier": """:a a :T . :b a :T . :g {{ :a :p :b . :r rdf:reifies <<( :a :p :b )>> ; :q {0} }}
        :h {{ :r :q {1} }}""",
}


def canonical(text: str) -> Dataset:
    dataset = Dataset(parse(text, format=RdfFormat.TRIG))
    dataset.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return dataset


def original(nexus: kiprdf.Nexus) -> str:
    return nexus.snapshot(mapping="original", only="imported", format="trig", profile="rdf12")


def check_home(text: str) -> None:
    """Import a text twice: each time all of it comes home, and the second changes nothing."""
    nexus = empty()
    for _ in range(2):
        report = nexus.import_rdf(PREFIXES + text, format="trig", define=True)
        assert (report["skipped"], report["warnings"]) == ([], [])
        assert canonical(original(nexus)) == canonical(PREFIXES + text)
    assert report["concepts"]["updated"] == report["propositions"]["updated"] == 0


@pytest.mark.parametrize("case", JSON)
def test_json_that_is_an_array_or_null_comes_home_as_one_literal(case: str) -> None:
    check_home(JSON[case])


def test_json_of_json_ld_comes_home_as_one_literal() -> None:
    nexus, text = (
        empty(),
        """{"@context": {"@vocab": "https://example.org/",
        "j": {"@type": "@json"}, "k": {"@type": "@json"}},
        "@id": "https://example.org/a", "@type": "T", "j": [1, {"b": []}], "k": null}""",
    )
    report = nexus.import_rdf(text, format="jsonld", define=True)
    assert (report["skipped"], report["warnings"]) == ([], [])
    (attributes,) = nexus.execute('FIND(?a.attributes) WHERE { ?a {type: "T"} }')
    assert attributes["j"] == [1, {"b": []}]
    expected = r""":a a :T ; :j "[1,{\"b\":[]}]"^^rdf:JSON ; :k "null"^^rdf:JSON ."""
    assert canonical(original(nexus)) == canonical(PREFIXES + expected)


@pytest.mark.parametrize("case", BESIDE_LINKS)
def test_a_second_import_keeps_a_value_beside_a_link(case: str) -> None:
    check_home(BESIDE_LINKS[case])


@pytest.mark.parametrize("where", IN_GRAPHS)
@pytest.mark.parametrize("case", VARIANTS)
def test_forms_of_one_value_stay_in_their_graphs(case: str, where: str) -> None:
    check_home(IN_GRAPHS[where].format(*VARIANTS[case]))


def test_properties_of_one_key_stay_in_their_graphs() -> None:
    nexus, other = empty(), "https://example.com/q"
    text = f':g {{ :b a :T ; :q 1 ; :s "x"@en }} :h {{ :b <{other}> 1 ; :s "y"@en, "x" }}'
    mapping = {"@context": {"s": {"@id": "https://example.org/s", "@language": "en"}}}
    nexus.import_rdf(PREFIXES + text, format="trig", define=True, mapping=mapping)
    assert canonical(original(nexus)) == canonical(PREFIXES + text)


def test_a_value_of_a_graph_is_shown_as_it_is_where_it_has_one_form() -> None:
    nexus, text = empty(), ':g { :b a :T ; :q 1 ; :r 2 } :h { :b :q "01"^^xsd:integer ; :r 3 }'
    nexus.import_rdf(PREFIXES + text, format="trig", define=True)
    (values,) = nexus.execute('FIND(?b.metadata.graph_values) WHERE { ?b {type: "T"} }')
    number, q = "http://www.w3.org/2001/XMLSchema#integer", "https://example.org/q"
    assert values == {
        "https://example.org/g": {
            "@type": "https://example.org/T",
            "q": {"@value": "1", "@type": number, "property": q},
            "r": 2,
        },
        "https://example.org/h": {"q": {"@value": "01", "@type": number, "property": q}, "r": 3},
    }
