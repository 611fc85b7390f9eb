"""An element read from its triples, and a proposition in both dialects."""

from __future__ import annotations

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Concept, Proposition, json_map, read_element, read_object
from kiprdf.rdf.iris import Iris
from kiprdf.rdf.literals import to_term
from kiprdf.rdf.reification import from_rdf11, to_parts, to_rdf11

IRIS = Iris("urn:kip:nexus/")
ASPIRIN = IRIS.concept("Drug", "Aspirin")
HEADACHE = IRIS.concept("Symptom", "Headache")
LINK = IRIS.proposition("48ec6e8e3fe50dea", "treats")
FACT = Triple(ASPIRIN, IRIS.predicate("treats"), HEADACHE)


def attribute(node: NamedNode, key: str, value: object) -> Triple:
    return Triple(node, NamedNode("urn:kip:attribute/" + key), to_term(value))


def metadata(node: NamedNode, key: str, value: object) -> Triple:
    return Triple(node, NamedNode("urn:kip:metadata/" + key), to_term(value))


CONCEPT = [
    Triple(ASPIRIN, vocab.TYPE, IRIS.type("Drug")),
    Triple(ASPIRIN, vocab.LABEL, Literal("Aspirin")),
    attribute(ASPIRIN, "risk_level", 2),
    attribute(ASPIRIN, "handle", None),
    metadata(ASPIRIN, "source", "textbook"),
    FACT,
]


def test_a_node_with_a_type_is_a_concept() -> None:
    element = read_element(IRIS, ASPIRIN, CONCEPT)
    assert isinstance(element, Concept)
    assert (element.type, element.name) == ("Drug", "Aspirin")
    assert json_map(element.attributes) == {"handle": None, "risk_level": 2}
    assert json_map(element.metadata) == {"source": "textbook"}


def test_a_node_that_reifies_is_a_proposition() -> None:
    triples = [Triple(LINK, vocab.REIFIES, FACT), metadata(LINK, "confidence", 0.9)]
    element = read_element(IRIS, LINK, triples)
    assert element == Proposition(
        LINK, ASPIRIN, "treats", HEADACHE, {}, {"confidence": to_term(0.9)}
    )


def test_a_node_without_triples_is_no_element() -> None:
    assert read_element(IRIS, ASPIRIN, []) is None


def test_a_node_with_attributes_alone_is_no_element() -> None:
    assert read_element(IRIS, ASPIRIN, [attribute(ASPIRIN, "a", 1)]) is None


def test_a_typed_node_outside_the_base_is_no_element() -> None:
    other = NamedNode("urn:other")
    assert read_element(IRIS, other, [Triple(other, vocab.TYPE, IRIS.type("Drug"))]) is None


def test_the_object_of_a_concept() -> None:
    shown = read_object(IRIS, ASPIRIN, CONCEPT)
    assert shown is not None
    assert shown == {
        "_type": "ConceptNode",
        "id": "C:Drug/Aspirin",
        "type": "Drug",
        "name": "Aspirin",
        "attributes": {"handle": None, "risk_level": 2},
        "metadata": {"source": "textbook"},
    }


def test_the_object_of_a_proposition_leaves_empty_maps_out() -> None:
    shown = read_object(IRIS, LINK, [Triple(LINK, vocab.REIFIES, FACT)])
    assert shown is not None
    assert shown == {
        "_type": "PropositionLink",
        "id": "P:48ec6e8e3fe50dea:treats",
        "subject": "C:Drug/Aspirin",
        "predicate": "treats",
        "object": "C:Symptom/Headache",
    }


def test_the_endpoint_of_a_link_about_a_link_is_a_proposition_id() -> None:
    about = Triple(HEADACHE, IRIS.predicate("stated"), LINK)
    node = IRIS.proposition("0" * 16, "stated")
    shown = read_object(IRIS, node, [Triple(node, vocab.REIFIES, about)])
    assert shown is not None
    assert shown["object"] == "P:48ec6e8e3fe50dea:treats"


def test_endpoints_are_read_from_the_reified_triple_and_not_from_the_id() -> None:
    moved = Triple(IRIS.concept("Drug", "Other"), IRIS.predicate("treats"), HEADACHE)
    shown = read_object(IRIS, LINK, [Triple(LINK, vocab.REIFIES, moved)])
    assert shown is not None
    assert shown["subject"] == "C:Drug/Other"


def test_a_double_that_the_engine_rewrote_is_read_in_its_normal_form() -> None:
    rewritten = Triple(
        ASPIRIN, NamedNode("urn:kip:attribute/n"), Literal("1", datatype=vocab.DOUBLE)
    )
    element = read_element(IRIS, ASPIRIN, [*CONCEPT, rewritten])
    assert element is not None
    assert element.attributes["n"] == to_term(1.0)


def test_rdf12_is_the_asserted_triple_and_its_reifier() -> None:
    assert to_parts(LINK, FACT) == (FACT, (LINK, vocab.REIFIES, FACT))


def test_rdf11_is_a_statement() -> None:
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    assert to_rdf11(LINK, FACT) == (
        Triple(LINK, NamedNode(rdf + "type"), NamedNode(rdf + "Statement")),
        Triple(LINK, NamedNode(rdf + "subject"), ASPIRIN),
        Triple(LINK, NamedNode(rdf + "predicate"), IRIS.predicate("treats")),
        Triple(LINK, NamedNode(rdf + "object"), HEADACHE),
    )


def test_a_statement_turns_back_into_its_reifier() -> None:
    _, *parts = to_rdf11(LINK, FACT)
    objects = {part.predicate: part.object for part in parts}
    assert from_rdf11(LINK, objects) == Triple(LINK, vocab.REIFIES, FACT)  # type: ignore[arg-type]


def test_a_statement_about_a_statement_turns_back_into_its_reifier() -> None:
    about = Triple(HEADACHE, IRIS.predicate("stated"), LINK)
    node = IRIS.proposition("0" * 16, "stated")
    _, *parts = to_rdf11(node, about)
    objects = {part.predicate: part.object for part in parts}
    assert from_rdf11(node, objects) == Triple(node, vocab.REIFIES, about)  # type: ignore[arg-type]
