"""Mapped triples: expected forms, and the way back; ``properties.test_mappings`` draws others."""

from __future__ import annotations

from typing import Any, get_args

import pytest
import rdflib
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Store, Triple, parse, serialize

import kiprdf
from kiprdf.interchange.formats.profiles import Profile, from_profile, to_profile
from kiprdf.interchange.mapping.apply import apply_mapping, undo_mapping
from kiprdf.interchange.mapping.contexts import Mapping, packs
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris, proposition_digits
from kiprdf.rdf.literals import normal, to_term
from tests.interchange.nexuses import colliding, demonstration, hostile, small

IRIS = Iris("urn:kip:nexus/")
EX = "https://ex.org/"
XSD = vocab.XSD
ANN = IRIS.concept("Person", "Ann")
BOB = IRIS.concept("Person", "Bob")


def mapping(**terms: Any) -> Mapping:
    """A mapping of terms, below the prefix ``ex``."""
    return Mapping.load({"@context": {"ex": EX, "xsd": XSD, **terms}})


def attribute(value: Any, key: str = "k", node: NamedNode = ANN) -> Triple:
    return Triple(node, NamedNode(vocab.ATTRIBUTE + key), to_term(value))


def metadata(value: Any, key: str = "k", node: NamedNode = ANN) -> Triple:
    return Triple(node, NamedNode(vocab.METADATA + key), to_term(value))


def mapped(under: Mapping, *triples: Triple) -> list[str]:
    """The mapped triples as N-Triples; the way back is tested by the way."""
    mapped = list(apply_mapping(triples, IRIS, under))
    for profile in get_args(Profile):
        quads = from_profile(Quad(*triple) for triple in to_profile(mapped, profile))
        assert set(undo_mapping((quad.triple for quad in quads), IRIS, under)) == set(triples)
    return [str(triple).replace(EX, "ex:").replace(XSD, "xsd:") for triple in mapped]


ANN_ = "<urn:kip:nexus/Person/Ann>"
KEY = "<urn:kip:attribute/k>"


def forms(definition: Any, value: Any) -> list[str]:
    """The predicates and objects that an attribute of Ann becomes."""
    lines = mapped(mapping(k=definition), attribute(value))
    assert all(line.startswith(ANN_ + " ") for line in lines)
    return [line.removeprefix(ANN_ + " ") for line in lines]


# Values that are read back from their mapped form --------------------------------------------


@pytest.mark.parametrize(
    ("definition", "value", "expected"),
    [
        ("ex:k", "text", '"text"'),
        ("ex:k", "", '""'),
        ("ex:k", 5, '"5"^^<xsd:integer>'),
        ("ex:k", 0.5, '"0.5"^^<xsd:double>'),
        ("ex:k", True, '"true"^^<xsd:boolean>'),
        ("ex:k", {"a": 1}, '"{\\"a\\":1}"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON>'),
        ("ex:k", {"@value": "Hut", "@language": "de"}, '"Hut"@de'),
        ("ex:k", {"@value": "1.10", "@type": XSD + "decimal"}, '"1.10"^^<xsd:decimal>'),
        ("ex:k", {"@id": "https://ann.example/"}, "<https://ann.example/>"),
        ({"@id": "ex:k", "@type": "xsd:date"}, "2026-01-01", '"2026-01-01"^^<xsd:date>'),
        (
            {"@id": "ex:k", "@type": "xsd:dateTime"},
            "2026-01-01T00:00:00.000Z",
            '"2026-01-01T00:00:00.000Z"^^<xsd:dateTime>',
        ),
        ({"@id": "ex:k", "@type": "xsd:date"}, "some day", '"some day"'),
        ({"@id": "ex:k", "@type": "xsd:date"}, "2026-02-30", '"2026-02-30"'),
        ({"@id": "ex:k", "@type": "xsd:integer"}, 5, '"5"^^<xsd:integer>'),
        ({"@id": "ex:k", "@type": "@id"}, "https://ann.example/é", "<https://ann.example/é>"),
        ({"@id": "ex:k", "@type": "@id"}, "no iri", '"no iri"'),
        ({"@id": "ex:k", "@type": "@vocab"}, "https://a.example/", "<https://a.example/>"),
        ({"@id": "ex:k", "@language": "en-GB"}, "hat", '"hat"@en-gb'),
        ({"@id": "ex:k", "@language": "ar", "@direction": "rtl"}, "قبعة", '"قبعة"@ar--rtl'),
        (
            {"@id": "ex:k", "@type": "@json"},
            ["a", None, 1.0],
            '"[\\"a\\",null,1.0]"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON>',
        ),
        ({"@id": "ex:k", "@container": "@set"}, "alone", '"alone"'),
    ],
)
def test_a_value_that_its_form_leads_back_to_is_replaced(
    definition: Any, value: Any, expected: str
) -> None:
    assert forms(definition, value) == [f"<ex:k> {expected}"]


# Values that stay beside their forms -----------------------------------------------------------


@pytest.mark.parametrize(
    ("definition", "value", "expected"),
    [
        ("ex:k", ["a", "b", "a"], ['"a"', '"b"']),
        ("ex:k", ["a"], ['"a"']),
        ("ex:k", [], []),
        ("ex:k", [None, 1], ['"1"^^<xsd:integer>']),
        ("ex:k", None, []),
        ({"@id": "ex:k", "@type": "@json"}, None, []),
        ({"@id": "ex:k", "@type": "xsd:decimal"}, 5, ['"5"^^<xsd:decimal>']),
        ({"@id": "ex:k", "@type": "xsd:integer"}, "5", ['"5"^^<xsd:integer>']),
        ({"@id": "ex:k", "@type": "xsd:string"}, True, ['"true"']),
        (
            {"@id": "ex:k", "@type": "xsd:anyURI"},
            {"@value": "a", "@type": XSD + "anyURI"},
            ['"a"^^<xsd:anyURI>'],
        ),
        (
            {"@id": "ex:k", "@language": "de"},
            {"@value": "Hut", "@language": "de"},
            ['"Hut"@de'],
        ),
        (
            {"@id": "ex:k", "@type": "@id"},
            {"@id": "https://ann.example/"},
            ["<https://ann.example/>"],
        ),
        ({"@id": "ex:k", "@type": "xsd:date"}, ["2026-01-01", "x"],
         ['"2026-01-01"^^<xsd:date>', '"x"']),
    ],
)  # fmt: skip
def test_a_value_that_its_forms_do_not_lead_back_to_stays(
    definition: Any, value: Any, expected: list[str]
) -> None:
    own = str(attribute(value).object).replace(XSD, "xsd:").replace(EX, "ex:")
    assert forms(definition, value) == [f"{KEY} {own}", *(f"<ex:k> {form}" for form in expected)]


@pytest.mark.parametrize(
    "iri", ["urn:kip:vocab/null", "urn:kip:nexus/Person/Bob", "urn:kip:list/1"]
)
def test_an_iri_that_means_something_to_the_nexus_is_no_value(iri: str) -> None:
    assert forms({"@id": "ex:k", "@type": "@id"}, iri) == [f'{KEY} "{iri}"']
    assert len(forms("ex:k", {"@id": iri})) == 1


def test_a_list_has_cells_with_iris_and_the_array_stays() -> None:
    under = mapping(k={"@id": "ex:k", "@container": "@list"})
    lines = mapped(under, attribute(["a", "b"]))
    own, head, *cells = [line.split(" ", 2) for line in lines]
    assert own[2].startswith('"[')
    first, second = head[2], cells[1][2]
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    assert first.startswith("<urn:kip:list/")
    assert cells == [
        [first, f"<{rdf}first>", '"a"'],
        [first, f"<{rdf}rest>", second],
        [second, f"<{rdf}first>", '"b"'],
        [second, f"<{rdf}rest>", f"<{rdf}nil>"],
    ]


def test_rdflib_reads_the_list() -> None:
    under = mapping(k={"@id": "ex:k", "@container": "@list"})
    mapped = list(apply_mapping([attribute(["b", "a", "b"])], IRIS, under))
    graph = rdflib.Graph().parse(data=serialize(mapped, format=RdfFormat.N_TRIPLES), format="nt")
    head = graph.value(rdflib.URIRef(ANN.value), rdflib.URIRef(EX + "k"))
    assert [str(item) for item in graph.items(head)] == ["b", "a", "b"]


# Words that share an IRI -----------------------------------------------------------------------


def test_of_two_keys_with_one_iri_the_second_stays() -> None:
    under = mapping(a="ex:k", b="ex:k")
    assert mapped(under, attribute("x", "a"), attribute("y", "b")) == [
        f'{ANN_} <ex:k> "x"',
        f'{ANN_} <urn:kip:attribute/b> "y"',
        f'{ANN_} <ex:k> "y"',
    ]


def test_of_two_keys_with_one_iri_and_one_value_both_stay() -> None:
    under = mapping(a="ex:k", b="ex:k")
    assert mapped(under, attribute("x", "a"), attribute("x", "b")) == [
        f'{ANN_} <urn:kip:attribute/a> "x"',
        f'{ANN_} <ex:k> "x"',
        f'{ANN_} <urn:kip:attribute/b> "x"',
    ]


def test_keys_with_one_iri_are_distinguished_by_language() -> None:
    under = mapping(en={"@id": "ex:k", "@language": "en"}, de={"@id": "ex:k", "@language": "de"})
    assert mapped(under, attribute("hat", "en"), attribute("Hut", "de")) == [
        f'{ANN_} <ex:k> "hat"@en',
        f'{ANN_} <ex:k> "Hut"@de',
    ]


def test_an_attribute_and_a_metadata_key_with_one_iri_are_read_back() -> None:
    under = mapping(
        attributes={"@id": "@nest", "@context": {"k": "ex:k"}},
        metadata={"@id": "@nest", "@context": {"m": "ex:k"}},
    )
    assert mapped(under, attribute("x"), metadata("y", "m")) == [
        f'{ANN_} <ex:k> "x"',
        f'{ANN_} <urn:kip:metadata/m> "y"',
        f'{ANN_} <ex:k> "y"',
    ]


def test_a_key_of_both_maps_with_one_iri_is_the_attribute_of_a_concept_and_metadata_of_a_fact() -> (
    None
):
    both = {"@id": "@nest", "@context": {"k": "ex:k"}}
    under = mapping(attributes=both, metadata=both)
    assert mapped(under, attribute("x"), metadata("y")) == [
        f'{ANN_} <ex:k> "x"',
        f'{ANN_} <urn:kip:metadata/k> "y"',
    ]
    assert mapped(under, attribute("x", node=LINK), metadata("y", node=LINK)) == [
        f'<{LINK.value}> <urn:kip:attribute/k> "x"',
        f'<{LINK.value}> <ex:k> "y"',
    ]


# Types, names, facts ---------------------------------------------------------------------------

TYPED = Triple(ANN, vocab.TYPE, IRIS.type("Person"))
NAMED = Triple(ANN, vocab.LABEL, Literal("Ann"))
KNOWS = Triple(ANN, IRIS.predicate("knows"), BOB)
LINK = IRIS.proposition(proposition_digits("C:Person/Ann", "knows", "C:Person/Bob"), "knows")
REIFIED = (KNOWS, Triple(LINK, vocab.REIFIES, KNOWS))


def test_a_type_is_mapped() -> None:
    rdf_type = f"<{vocab.TYPE.value}>"
    assert mapped(mapping(Person="ex:Human"), TYPED) == [f"{ANN_} {rdf_type} <ex:Human>"]


def test_two_types_with_one_iri_are_read_back_by_the_iri_of_the_concept() -> None:
    under = mapping(Person="ex:Thing", Robot="ex:Thing")
    robot = IRIS.concept("Robot", "R2")
    assert len(mapped(under, TYPED, Triple(robot, vocab.TYPE, IRIS.type("Robot")))) == 2


def test_a_name_stays_a_label_beside_its_form() -> None:
    assert mapped(mapping(name="ex:name"), NAMED) == [
        f'{ANN_} <{vocab.LABEL.value}> "Ann"',
        f'{ANN_} <ex:name> "Ann"',
    ]


def test_an_attribute_of_the_same_text_as_the_name_stays() -> None:
    assert mapped(mapping(name="ex:name"), NAMED, attribute("Ann", "name")) == [
        f'{ANN_} <{vocab.LABEL.value}> "Ann"',
        f'{ANN_} <ex:name> "Ann"',
        f'{ANN_} <urn:kip:attribute/name> "Ann"',
    ]


def test_a_label_that_is_not_the_name_is_the_attribute_that_is_mapped_to_it() -> None:
    under = mapping(label=vocab.LABEL.value)
    assert mapped(under, NAMED, attribute("Ann of Ulm", "label")) == [
        f'{ANN_} <{vocab.LABEL.value}> "Ann"',
        f'{ANN_} <{vocab.LABEL.value}> "Ann of Ulm"',
    ]


def test_a_fact_and_its_link_are_mapped() -> None:
    fact = f"{ANN_} <ex:knows> <{BOB.value}>"
    assert mapped(mapping(knows="ex:knows"), *REIFIED) == [
        fact,
        f"<{LINK.value}> <{vocab.REIFIES.value}> <<( {fact} )>>",
    ]


def test_a_predicate_with_the_iri_of_an_attribute_is_read_back() -> None:
    under = mapping(knows={"@id": "ex:k", "@type": "@id"}, k={"@id": "ex:k", "@type": "@id"})
    assert mapped(under, KNOWS, attribute("https://bob.example/")) == [
        f"{ANN_} <ex:k> <{BOB.value}>",
        f'{ANN_} <urn:kip:attribute/k> "https://bob.example/"',
        f"{ANN_} <ex:k> <https://bob.example/>",
    ]


def test_a_metadata_key_goes_before_a_predicate_with_its_iri() -> None:
    under = mapping(likes="ex:k", metadata={"@id": "@nest", "@context": {"m": "ex:k"}})
    assert mapped(under, metadata("y", "m")) == [f'{ANN_} <ex:k> "y"']


def test_an_attribute_of_one_type_is_mapped_on_that_type_only() -> None:
    under = mapping(Person={"@id": "ex:Person", "@context": {"k": "ex:k"}})
    stone = IRIS.concept("Stone", "S")
    assert mapped(under, attribute("x"), attribute("x", node=stone)) == [
        f'{ANN_} <ex:k> "x"',
        '<urn:kip:nexus/Stone/S> <urn:kip:attribute/k> "x"',
    ]


def test_metadata_of_links_is_mapped() -> None:
    link = Triple(LINK, NamedNode(vocab.METADATA + "source"), Literal("book"))
    under = Mapping.load("dcterms")
    assert mapped(under, link) == [f'<{LINK.value}> <http://purl.org/dc/terms/source> "book"']


@pytest.mark.parametrize("iri", [vocab.PREDICATE.value, vocab.REIFIES.value, "urn:kip:attribute/z"])
def test_nothing_is_mapped_onto_what_kip_itself_writes(iri: str) -> None:
    under = mapping(k=iri, knows=iri)
    dataset = [attribute("x"), *REIFIED]
    assert mapped(under, *dataset) == [str(triple) for triple in dataset]


# Forms that profiles read as something else ---------------------------------------------------

JSON = f"^^<{vocab.JSON.value}>"


def test_a_json_text_is_distinguished_from_the_plain_text_of_another_key() -> None:
    under = mapping(a="ex:k", b={"@id": "ex:k", "@type": "@json"})
    assert mapped(under, attribute("x", "b")) == [
        f'{ANN_} <urn:kip:attribute/b> "x"',
        f'{ANN_} <ex:k> "\\"x\\""{JSON}',
    ]


def test_a_json_text_and_the_same_plain_text_both_stay() -> None:
    under = mapping(a="ex:k", b={"@id": "ex:k", "@type": "@json"})
    assert mapped(under, attribute("x", "a"), attribute("x", "b")) == [
        f'{ANN_} <urn:kip:attribute/a> "x"',
        f'{ANN_} <ex:k> "x"',
        f'{ANN_} <urn:kip:attribute/b> "x"',
        f'{ANN_} <ex:k> "\\"x\\""{JSON}',
    ]


def test_a_json_text_is_distinguished_from_the_name() -> None:
    under = mapping(name="ex:name", k={"@id": "ex:name", "@type": "@json"})
    assert mapped(under, NAMED, attribute("Ann")) == [
        f'{ANN_} <{vocab.LABEL.value}> "Ann"',
        f'{ANN_} <ex:name> "Ann"',
        f'{ANN_} {KEY} "Ann"',
        f'{ANN_} <ex:name> "\\"Ann\\""{JSON}',
    ]


def test_a_json_text_that_would_be_read_as_the_label_is_not_written() -> None:
    under = mapping(k={"@id": vocab.LABEL.value, "@type": "@json"})
    assert mapped(under, attribute("Ann")) == [f'{ANN_} {KEY} "Ann"']


def test_a_value_object_in_json_is_replaced_where_no_other_key_has_its_iri() -> None:
    under = mapping(k={"@id": "ex:k", "@type": "@json"})
    assert mapped(under, attribute({"@value": "Hut", "@language": "de"})) == [
        f'{ANN_} <ex:k> "{{\\"@language\\":\\"de\\",\\"@value\\":\\"Hut\\"}}"{JSON}',
    ]


def test_nothing_becomes_a_statement_of_rdf() -> None:
    statement = vocab.STATEMENT.value
    under = mapping(Person=statement, k={"@id": vocab.TYPE.value, "@type": "@id"})
    dataset = [TYPED, attribute(statement)]
    assert mapped(under, *dataset) == [str(triple) for triple in dataset]


def test_a_text_is_no_type() -> None:
    assert mapped(mapping(k=vocab.TYPE.value), attribute("x")) == [f'{ANN_} {KEY} "x"']


@pytest.mark.parametrize("name", ["langString", "dirLangString"])
def test_no_literal_has_the_datatype_of_languages_without_one(name: str) -> None:
    text = {"@value": "x", "@type": vocab.RDF + name}
    assert forms("ex:k", text) == [f"<ex:k> {to_term(text)}"]


@pytest.mark.parametrize("text", ["1e400", "-1e400", "INF", "NaN"])
def test_a_number_beyond_doubles_keeps_its_text(text: str) -> None:
    own = f'{KEY} "{text}"'
    assert forms({"@id": "ex:k", "@type": "xsd:double"}, text) == [
        own,
        f'<ex:k> "{text}"^^<xsd:double>',
    ]


# The way back ----------------------------------------------------------------------------------


def back(under: Mapping, *triples: Triple) -> list[Triple]:
    return list(undo_mapping(triples, IRIS, under))


def test_a_foreign_triple_passes_unchanged() -> None:
    foreign = Triple(ANN, NamedNode(EX + "unknown"), Literal("x"))
    elsewhere = Triple(NamedNode(EX + "s"), NamedNode(EX + "k"), Literal("x"))
    assert back(mapping(k="ex:k"), foreign, elsewhere) == [foreign, elsewhere]


def test_a_value_written_by_hand_is_read_back_too() -> None:
    under = mapping(k={"@id": "ex:k", "@type": "xsd:date"})
    plain = Triple(ANN, NamedNode(EX + "k"), Literal("2026-01-01"))
    assert back(under, plain) == [attribute("2026-01-01")]


def test_forms_that_a_tool_has_rewritten_yield_to_the_key_beside_them() -> None:
    under = mapping(k={"@id": "ex:k", "@type": "xsd:decimal"})
    beside = [attribute(["1.10", "2"])]
    store = Store()
    for triple in apply_mapping(beside, IRIS, under):
        store.update(f"INSERT DATA {{ {triple} }}")
    assert back(under, *(quad.triple for quad in store)) == beside


# Datasets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [*packs(), "all of them"])
@pytest.mark.parametrize("nexus", [small, colliding, demonstration, hostile, kiprdf.Nexus.memory])
def test_a_nexus_is_read_back_from_the_text_of_its_mapped_triples(nexus: Any, pack: str) -> None:
    under = Mapping.load(*packs()) if pack == "all of them" else Mapping.load(pack)
    store = nexus().store
    before = {normalised(triple) for triple in store.match(None, None, None)}
    text = serialize(list(apply_mapping(before, store.iris, under)), format=RdfFormat.N_TRIPLES)
    parsed = [quad.triple for quad in parse(text, format=RdfFormat.N_TRIPLES)]
    assert set(undo_mapping(parsed, store.iris, under)) == before


def normalised(triple: Triple) -> Triple:
    value = triple.object
    term = normal(value) if isinstance(value, Literal) else value
    return Triple(triple.subject, triple.predicate, term)
