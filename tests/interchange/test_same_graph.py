"""The original of an import is the same graph, to the last character of each literal."""

from __future__ import annotations

import pytest
from pyoxigraph import RdfFormat, Triple, parse, serialize

from kiprdf.rdf.reification import to_rdf11
from tests.interchange.originals import PREFIXES, canonical, check_home, original
from tests.nexus.support import empty

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
KEPT = {
    "a triple in the default graph and a named graph": """
        :a a :T ; :p 1 ; :knows :b . :b a :T . :g { :a :p 1 ; :knows :b . }""",
    "values of one key in the default graph and a named graph": """
        :a a :T ; :p 1, 2 . :g { :a :p 2, 3 . }""",
    "everything in both graphs": ":a a :T . :g { :a a :T . }",
    "a list in a named graph beside its items": """
        :a a :T . :g { :a :p ( 1 2 ) . } :h { :a :p 1 . }""",
    "an empty list in a named graph": ":a a :T . :g { :a :p ( ) . }",
    "annotations in another graph than the fact": """
        :a a :T . :b a :T . :h { :r :since 1 . }
        :g { :a :knows :b .
        :r a rdf:Statement ; rdf:subject :a ; rdf:predicate :knows ; rdf:object :b . }""",
    "reifiers of one triple in two graphs": """:a a :T . :b a :T .
        :g { :a :knows :b . :r a rdf:Statement ; rdf:subject :a ; rdf:predicate :knows ;
        rdf:object :b ; :since 1 . }
        :h { :a :knows :b . :s a rdf:Statement ; rdf:subject :a ; rdf:predicate :knows ;
        rdf:object :b ; :since 2 . }""",
    "a reifier in another graph than the fact": """:a a :T . :b a :T . :g { :a :knows :b . }
        :h { :r a rdf:Statement ; rdf:subject :a ; rdf:predicate :knows ; rdf:object :b ;
        :since 1 . }""",
    "a reifier in the default graph": """:a a :T . :b a :T . :g { :a :knows :b . }
        :r a rdf:Statement ; rdf:subject :a ; rdf:predicate :knows ; rdf:object :b ;
        :since 1 .""",
    "an rdf:Statement in several graphs": """:a a :T . :b a :T . :f { :a :knows :b . }
        :g { :r a rdf:Statement . } :h { :r rdf:subject :a ; :since 1 . }
        :i { :r rdf:predicate :knows ; rdf:object :b . :r rdf:subject :a . }""",
    "an rdf:Statement partly with its triple": """:a a :T . :b a :T .
        :g { :a :knows :b . :r a rdf:Statement ; rdf:subject :a . }
        :h { :r rdf:predicate :knows ; rdf:object :b ; :since 1 . }""",
    "two of one triple in several graphs": """:a a :T . :b a :T . :g { :a :knows :b .
        :r a rdf:Statement ; rdf:subject :a ; rdf:predicate :knows ; rdf:object :b ; :since 1 . }
        :g { :s a rdf:Statement ; rdf:subject :a . } :h { :s rdf:predicate :knows ;
        rdf:object :b . } :g { :s :since 2 . }""",
    "annotations in a graph of a fact in none": """:a a :T . :b a :T ; :p 1 . :a :knows :b .
        :r a rdf:Statement ; rdf:subject :a ; rdf:predicate :knows ; rdf:object :b ; :until 2 .
        :g { :r :since 1 . }""",
    "a reifier without an IRI, in several graphs": """:a a :T . :b a :T . :a :knows :b .
        _:r a rdf:Statement ; rdf:subject :a . :g { _:r rdf:predicate :knows ; rdf:object :b ;
        :since 1 . }""",
    "a fact in both graphs and its reifier in one": """:a a :T . :b a :T . :a :knows :b .
        :g { :a :knows :b . :r a rdf:Statement ; rdf:subject :a ; rdf:predicate :knows ;
        rdf:object :b ; :since 1 . }""",
    "owl:sameAs in a named graph": ":a a :T . :g { :a owl:sameAs :other . }",
    "cells with a class": """
        :a a :T ; :p :first . :first a rdf:List ; rdf:first 1 ; rdf:rest [ a rdf:List ;
        rdf:first 2 ; rdf:rest rdf:nil ] .""",
    "a list of resources with a class": """
        :a a :T ; :p [ a rdf:List ; rdf:first :b ; rdf:rest () ] . :b a :T .""",
    "a list with an IRI": ":a a :T ; :p :l . :l rdf:first 1 ; rdf:rest ( 2 ) .",
    "a list of resources with an IRI": """
        :a a :T ; :p :l . :l rdf:first :b ; rdf:rest () . :b a :T .""",
    "two equal lists": ":a a :T ; :p ( 1 2 ), ( 1 2 ), ( 1 2 ) .",
    "two equal lists of resources": ":a a :T ; :p ( :b ), ( :b ) . :b a :T .",
    "equal lists in a list": ":a a :T ; :p ( ( 1 ) ( 1 ) ) .",
    "an IRI and a list": ":a a :T ; :p :x, ( 1 ) .",
    "reflexive owl:sameAs": ":a a :T ; owl:sameAs :a . :b a :T ; owl:sameAs :b, :c .",
}
"""With reifiers that are an ``rdf:Statement``."""
REIFIERS = {
    "two IRIs": ":a :worked :b ~ :r1 {| :since 1999 |} ~ :r2 {| :since 2001 |} .",
    "two blank nodes": """:a :worked :b {| :since 1999 ; :until "2000"^^:year |}
        {| :since 2001 |} .""",
    "one form for two numbers": ":a :worked :b ~ :r1 {| :n 1.0 |} ~ :r2 {| :n 1.00 |} .",
    "two IRIs and nothing else": ":a :worked :b ~ :r1 ~ :r2 .",
    "one says nothing": ":a :worked :b ~ :r1 ~ :r2 {| :since 2001 |} .",
    "statements about one of two": """:a :worked :b ~ :r1 {| :since 1999 |} ~ :r2 .
        :c :doubts :r2 . :r1 :because :c . :r2 :because :a .""",
    "owl:sameAs of one reifier": ":a :worked :b ~ :r {| owl:sameAs :q ; :since 1999 |} .",
    "owl:sameAs of a blank node": ":a :worked :b {| owl:sameAs :q, :s ; :since 1999 |} .",
    "owl:sameAs of two reifiers": """:a :worked :b ~ :r1 {| owl:sameAs :r1, :q1 |}
        ~ :r2 {| owl:sameAs :r2, :q2 ; :since 2001 |} {| owl:sameAs :q3 |} .""",
    "a statement about a reifier with owl:sameAs": """:a :worked :b ~ :r {| owl:sameAs :q |} .
        :c :doubts :r .""",
    "an attribute with the name of ours": """:a :worked :b ~ :r1 {| :id "5" |}
        ~ :r2 {| :id "6" |} .""",
}
CONCEPTS = ":a a :P . :b a :P . :c a :P . "


def as_rdf11(text: str) -> str:
    """RDF 1.2 with the reifiers as ``rdf:Statement``, which rdflib reads."""
    triples: list[Triple] = []
    for quad in parse(PREFIXES + text, format=RdfFormat.TURTLE):
        fact = quad.object
        if isinstance(fact, Triple):
            triples += to_rdf11(quad.subject, fact)
        else:
            triples.append(quad.triple)
    return serialize(triples, format=RdfFormat.N_TRIPLES).decode()


VALUES = [
    *JSON.values(),
    *BESIDE_LINKS.values(),
    *(where.format(*forms) for where in IN_GRAPHS.values() for forms in VARIANTS.values()),
]
"""In none of these does a value look like another one, or is a link lost."""


@pytest.mark.parametrize("text", VALUES)
def test_every_form_of_a_value_comes_home_to_its_graph(text: str) -> None:
    assert check_home(text)["warnings"] == []


@pytest.mark.parametrize("case", KEPT)
def test_what_is_easily_lost_comes_home(case: str) -> None:
    check_home(KEPT[case], profile="rdf11")


@pytest.mark.parametrize("profile", ["rdf11", "rdf12"])
@pytest.mark.parametrize("case", REIFIERS)
def test_what_two_reifiers_say_of_one_triple_stays_apart(case: str, profile: str) -> None:
    text = REIFIERS[case] if profile == "rdf12" else as_rdf11(REIFIERS[case])
    check_home(CONCEPTS + text, profile=profile)


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
    assert original(nexus) == canonical(expected)


def test_properties_of_one_key_stay_in_their_graphs() -> None:
    nexus, other = empty(), "https://example.com/q"
    text = f':g {{ :b a :T ; :q 1 ; :s "x"@en }} :h {{ :b <{other}> 1 ; :s "y"@en, "x" }}'
    mapping = {"@context": {"s": {"@id": "https://example.org/s", "@language": "en"}}}
    nexus.import_rdf(PREFIXES + text, format="trig", define=True, mapping=mapping)
    assert original(nexus) == canonical(text)


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
