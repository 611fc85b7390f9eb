"""Lists of described resources are links that KQL follows, and lists again on the way home."""

from __future__ import annotations

import json

import pytest

import kiprdf
from tests.interchange.originals import PREFIXES, canonical, check_home, imported, original
from tests.nexus.support import empty, restored

PAPER = json.dumps(
    {
        "@context": {
            "schema": "http://schema.org/",
            "author": {"@id": "schema:author", "@container": "@list"},
            "name": "schema:name",
        },
        "@id": "https://example.org/tool",
        "@type": "schema:SoftwareSourceCode",
        "name": "tool",
        "author": [
            {"@id": "https://example.org/zoe", "@type": "schema:Person", "name": "Zoe"},
            {"@type": "schema:Person", "name": "Ann"},
        ],
    }
)
PATIENT = (
    ':tool a fhir:Patient ; fhir:name ( [ a fhir:HumanName ; foaf:name "Zoe" ]'
    ' [ a fhir:HumanName ; foaf:name "Ann" ] ) .'
)
COLLECTION = (
    ":tool a skos:OrderedCollection ; skos:memberList ( :z :a ) ."
    ' :z a skos:Concept ; skos:prefLabel "Zoe" . :a a skos:Concept ; skos:prefLabel "Ann" .'
)
AUTHORS = (
    ":tool a bibo:Article ; bibo:authorList ( :z :a ) ."
    ' :z a foaf:Person ; foaf:name "Zoe" . :a a foaf:Person ; foaf:name "Ann" .'
)
LISTS = {
    "schema.org": (PAPER, "jsonld", "author", "schema-org"),
    "schema.org without mapping": (PAPER, "jsonld", "author", None),
    "FHIR": (PATIENT, "trig", "name", None),
    "SKOS": (COLLECTION, "trig", "memberList", "skos"),
    "SKOS without mapping": (COLLECTION, "trig", "memberList", None),
    "BIBO": (AUTHORS, "trig", "authorList", "foaf"),
    **{
        f"rdf:{name}": (
            AUTHORS.replace("( :z :a )", f"[ a rdf:{name} ; rdf:_2 :a ; rdf:_1 :z ]"),
            "trig",
            "authorList",
            pack,
        )
        for name, pack in (("Seq", None), ("Bag", "foaf"), ("Alt", None))
    },
}
ODD = """
:s a :T ; :l ( :a :b :a ) , ( :b :a ) , ( ( :a ) ( :b :a ) ) , :a , ( :b "x" ( :a ) 5 ) ,
    ( :undescribed :a ) , ( :s :a ) , ( ) , ( ( ) ) , ( 1 2 ) ; :m ( :a :b ) .
:a a :T . :b a :T ; :l ( :s ) .
"""


@pytest.mark.parametrize("case", LISTS)
def test_a_list_of_resources_is_links_in_its_order(case: str) -> None:
    text, form, predicate, pack = LISTS[case]
    nexus = imported(text, form, mapping=pack)
    rows = nexus.find(
        "FIND(?o.name, ?l.attributes.position) WHERE { ?l (?s, :predicate, ?o) "
        'FILTER(?s.attributes.same_as == "https://example.org/tool") } '
        "ORDER BY ?l.attributes.position ASC",
        predicate=predicate,
    )
    assert [tuple(row.values()) for row in rows] == [("Zoe", 1), ("Ann", 2)]
    (attributes,) = nexus.execute(
        "FIND(?s.attributes) WHERE { ?s {} FILTER(?s.attributes.same_as == "
        '"https://example.org/tool") }'
    )
    assert not {predicate, "source"} & attributes.keys() - {"name"}


@pytest.mark.parametrize("case", LISTS)
def test_a_list_of_resources_comes_home(case: str) -> None:
    text, form, _, pack = LISTS[case]
    check_home(text, form, mapping=pack)


def test_odd_lists_are_followed_where_they_can_be_and_come_home() -> None:
    nexus = imported(ODD)
    assert original(nexus) == canonical(ODD)
    rows = nexus.find('FIND(?o.name, ?l.attributes.position) WHERE { ?l ({name: "s"}, "l", ?o) }')
    assert {row["?o.name"]: row["?l.attributes.position"] for row in rows} == {
        "a": [1, 2, 3, [1, 1], [2, 2], [3, 1]],
        "b": [1, 2, [2, 1]],
        "s": 1,
    }
    assert restored(nexus).snapshot() == nexus.snapshot()


CONTAINERS = {
    "two, and a list": ":s a :T ; :l ( :a :b ) , [ a rdf:Seq ; rdf:_1 :b ; rdf:_2 :a ] ,"
    " [ a rdf:Bag ; rdf:_1 :a ] ; :m [ a rdf:Bag ; rdf:_1 ( :a :b ) ] .",
    "literals and both": ":s a :T ; :l [ a rdf:Alt ; rdf:_1 'x'@en ; rdf:_2 :a ; rdf:_3 5 ] .",
    "in a list": ":s a :T ; :l ( [ a rdf:Seq ; rdf:_1 :a ] 1 ) .",
    "in a container": ":s a :T ; :l [ a rdf:Seq ; rdf:_1 [ a rdf:Bag ; rdf:_1 :a ] ] .",
    "with an IRI": ":s a :T ; :l :seq . :seq a rdf:Seq ; rdf:_1 :a ; rdf:_2 :b .",
    "with a gap": ":s a :T ; :l [ a rdf:Seq ; rdf:_1 :a ; rdf:_3 :b ] .",
    "with two of a number": ":s a :T ; :l [ a rdf:Seq ; rdf:_1 :a , :b ] .",
    "with another property": ":s a :T ; :l [ a rdf:Seq ; rdf:_1 :a ; :name 'x' ] .",
    "shared": ":s a :T ; :l _:c ; :m _:c . _:c a rdf:Seq ; rdf:_1 :a .",
    "empty, and alone": ":s a :T ; :l [ a rdf:Bag ] . [] a rdf:Seq ; rdf:_1 :a .",
    "more than nine": ":s a :T ; :l [ a rdf:Seq ; "
    + " ; ".join(f"rdf:_{number} :{'ab'[number % 2]}" for number in range(1, 13))
    + " ] .",
}


@pytest.mark.parametrize("case", CONTAINERS)
def test_containers_come_home(case: str) -> None:
    check_home(CONTAINERS[case] + " :a a :T . :b a :T .", "trig")


def test_items_of_a_container_are_found_by_their_numbers_and_leave_with_new_ones() -> None:
    text = ":s a :T ; :l [ a rdf:Seq ; rdf:_1 :a ; rdf:_2 :b ; rdf:_3 :c ] ."
    things = " :a a :T . :b a :T . :c a :T ."
    nexus = imported(text + things)
    nexus.execute('DELETE PROPOSITIONS ?l WHERE { ?l ({name: "s"}, "l", {name: "b"}) }')
    expected = ":s a :T ; :l [ a rdf:Seq ; rdf:_1 :a ; rdf:_2 :c ] ."
    assert original(nexus) == canonical(expected + things)


def test_a_bag_of_literals_is_an_array() -> None:
    nexus = imported(":s a :T ; :l [ a rdf:Bag ; rdf:_1 'y' ; rdf:_2 'x' ] .")
    assert nexus.execute('FIND(?s.attributes.l) WHERE { ?s {name: "s"} }') == [["y", "x"]]
    assert nexus.execute('FIND(?x.name) WHERE { ?x {} FILTER(?x.type == "Bag") }') == []


def test_a_list_whose_links_have_other_graphs_stays_in_its_own() -> None:
    text = ":s a :T . :a a :T . :b a :T . :s :l ( :a :b ) . :g { :s :l ( :b :b ) , :a }"
    check_home(text, "trig")


def test_a_list_of_literals_is_an_array() -> None:
    nexus = imported(":s a :T ; :steps ( 3 1 2 ) . :a a :T .")
    assert nexus.execute('FIND(?s.attributes.steps) WHERE { ?s {name: "s"} }') == [[3, 1, 2]]


def test_a_list_follows_what_becomes_of_its_links() -> None:
    nexus = imported(":s a :T ; :l ( :a :b :c ) . :a a :T . :b a :T . :c a :T .")
    nexus.execute('DELETE PROPOSITIONS ?l WHERE { ?l ({name: "s"}, "l", {name: "b"}) }')
    expected = ":s a :T ; :l ( :a :c ) . :a a :T . :b a :T . :c a :T ."
    assert original(nexus) == canonical(expected)


@pytest.mark.parametrize(
    ("value", "position", "expected"),
    [
        ("( :a :b :c )", "3.5", "( :b :c :a )"),
        ("[ a rdf:Seq ; rdf:_1 :a ; rdf:_2 :b ]", "3", "[ a rdf:Seq ; rdf:_1 :b ; rdf:_2 :a ]"),
        ("( :a :b :a )", "[3, 4]", "( :b :a :a )"),
        ("( ( :a :b ) :c )", "[1, 3]", "( ( :b :a ) :c )"),
        ("( :a :b )", '"first"', "( :a :b )"),
        ("( :a :b ) , ( :b :a )", "7", "( :a :b ) , ( :b :a )"),
    ],
)
def test_a_list_has_the_order_that_its_links_have_now(
    value: str, position: str, expected: str
) -> None:
    things = " :a a :T . :b a :T . :c a :T ."
    nexus = imported(f":s a :T ; :l {value} ." + things)
    nexus.execute(
        f"UPDATE ?l SET ATTRIBUTES {{ position: {position} }} "
        'WHERE { ?l ({name: "s"}, "l", {name: "a"}) }'
    )
    assert original(nexus) == canonical(f":s a :T ; :l {expected} ." + things)


def test_a_position_that_the_data_state_is_no_place_in_a_list() -> None:
    check_home(
        ":s a :T ; :l ( :a :b ) , :a {| :position 9 |} . :a a :T . :b a :T .", profile="rdf12"
    )


def test_an_array_of_an_earlier_import_becomes_links_when_its_items_are_described() -> None:
    nexus, text = empty(), ":s a :T ; :l ( :a :b ) ."
    nexus.import_rdf(PREFIXES + text, define=True)
    assert nexus.execute('FIND(?s.attributes.l) WHERE { ?s {name: "s"} }') == [
        ["https://example.org/a", "https://example.org/b"]
    ]
    nexus.import_rdf(PREFIXES + text + " :a a :T . :b a :T .", define=True)
    assert nexus.execute('FIND(?s.attributes.l) WHERE { ?s {name: "s"} }') == [None]
    assert nexus.execute('FIND(?o.name) WHERE { ({name: "s"}, "l", ?o) } ORDER BY ?o.name ASC') == [
        "a",
        "b",
    ]


def test_the_predicate_of_a_list_must_be_defined() -> None:
    nexus = imported(":a a :T .")
    with pytest.raises(kiprdf.KipError, match=r"KIP_2001 .*predicates 'l'"):
        nexus.import_rdf(PREFIXES + ":s a :T ; :l ( :a ) .")
