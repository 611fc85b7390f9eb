"""The definitions of a nexus as RDFS and OWL."""

from __future__ import annotations

from typing import Any

import pytest
import rdflib
from rdflib import OWL, RDF, RDFS, SKOS
from rdflib.collection import Collection

import kiprdf
from kiprdf import Mapping
from kiprdf.interchange.vocabularies.schema import schema_triples
from tests.interchange.importing import ontology

BASE = "https://data.example.org/kb/"
TYPE = rdflib.Namespace(BASE + "$ConceptType/")
PRED = rdflib.Namespace(BASE + "$PropositionType/")
ATTR = rdflib.Namespace("urn:kip:attribute/")
SCHEMA = rdflib.Namespace("https://schema.org/")
XSD = rdflib.XSD

DEFINITIONS = """
UPSERT {
  CONCEPT {
    {type: "$ConceptType", name: "Drug"}
    SET ATTRIBUTES {
      description: "A substance.", display_hint: "💊",
      same_as: "https://example.org/Drug",
      instance_schema: {
        risk_level: {type: "integer", is_required: true, description: "From 1 to 5."},
        dose: {type: "number"},
        form: {type: "string", enum: ["tablet", "syrup"]},
        aliases: {type: "array", item_type: "string", description: "Other names."}
      }
    }
  }
  CONCEPT {
    {type: "$ConceptType", name: "Substance"}
    SET ATTRIBUTES { instance_schema: { aliases: {type: "array", description: "Synonyms."} } }
  }
  CONCEPT { {type: "$ConceptType", name: "Symptom"} }
  CONCEPT {
    {type: "$PropositionType", name: "treats"}
    SET ATTRIBUTES {
      description: "Helps against.", subject_types: ["Drug", "Substance"], object_types: ["Symptom"]
    }
  }
  CONCEPT {
    {type: "$PropositionType", name: "is_near"}
    SET ATTRIBUTES {
      subject_types: ["*"], object_types: [], is_symmetric: true, is_transitive: true
    }
  }
  CONCEPT { {type: "$PropositionType", name: "subclass_of"} }
  CONCEPT { {type: "$PropositionType", name: "subproperty_of"} }
  PROPOSITION {
    ({type: "$ConceptType", name: "Drug"}, "subclass_of", {type: "$ConceptType", name: "Substance"})
  }
  PROPOSITION {
    (
      {type: "$PropositionType", name: "is_near"}, "subproperty_of",
      {type: "$PropositionType", name: "treats"}
    )
  }
}"""


def _nexus() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(BASE, genesis=False)
    nexus.execute(DEFINITIONS)
    return nexus


def _graph(nexus: kiprdf.Nexus, mapping: Mapping | None = None) -> rdflib.Graph:
    text = "".join(f"{triple} .\n" for triple in schema_triples(nexus.store, mapping))
    return rdflib.Graph().parse(data=text, format="nt")


@pytest.fixture(scope="module")
def graph() -> rdflib.Graph:
    return _graph(_nexus())


def _objects(graph: rdflib.Graph, subject: rdflib.URIRef, predicate: rdflib.URIRef) -> set[str]:
    return {str(term) for term in graph.objects(subject, predicate)}


def test_a_concept_type_is_a_class_of_both_vocabularies(graph: rdflib.Graph) -> None:
    assert set(graph.objects(TYPE.Drug, RDF.type)) == {RDFS.Class, OWL.Class}
    assert _objects(graph, TYPE.Drug, RDFS.label) == {"Drug"}


def test_a_predicate_is_a_property_of_both_vocabularies(graph: rdflib.Graph) -> None:
    assert set(graph.objects(PRED.treats, RDF.type)) == {RDF.Property, OWL.ObjectProperty}


def test_descriptions_are_definitions_and_comments(graph: rdflib.Graph) -> None:
    assert _objects(graph, TYPE.Drug, SKOS.definition) == {"A substance."}
    assert _objects(graph, PRED.treats, RDFS.comment) == {"Helps against."}
    assert _objects(graph, TYPE.Symptom, SKOS.definition) == set()
    assert _objects(graph, TYPE.Drug, ATTR.display_hint) == {"💊"}


def test_one_allowed_type_is_the_range_itself(graph: rdflib.Graph) -> None:
    assert set(graph.objects(PRED.treats, RDFS.range)) == {TYPE.Symptom}


def test_several_allowed_types_are_a_union(graph: rdflib.Graph) -> None:
    (domain,) = graph.objects(PRED.treats, RDFS.domain)
    assert isinstance(domain, rdflib.BNode)
    (head,) = graph.objects(domain, OWL.unionOf)
    members = Collection(graph, head)
    assert list(members) == [TYPE.Drug, TYPE.Substance]


def test_everything_and_nothing_are_no_domain_and_no_range(graph: rdflib.Graph) -> None:
    assert not list(graph.objects(PRED.is_near, RDFS.domain))
    assert not list(graph.objects(PRED.is_near, RDFS.range))


def test_symmetric_and_transitive_predicates_are_such_properties(graph: rdflib.Graph) -> None:
    kinds = set(graph.objects(PRED.is_near, RDF.type))
    assert {OWL.SymmetricProperty, OWL.TransitiveProperty} <= kinds


def test_what_is_above_a_definition_is_said_in_rdfs(graph: rdflib.Graph) -> None:
    assert TYPE.Substance in set(graph.objects(TYPE.Drug, RDFS.subClassOf))
    assert set(graph.objects(PRED.is_near, RDFS.subPropertyOf)) == {PRED.treats}


def test_the_original_iri_of_a_type_is_an_equivalent_class(graph: rdflib.Graph) -> None:
    assert _objects(graph, TYPE.Drug, OWL.equivalentClass) == {"https://example.org/Drug"}


def test_an_attribute_is_usual_with_the_types_that_mention_it(graph: rdflib.Graph) -> None:
    assert set(graph.objects(ATTR.dose, RDF.type)) == {RDF.Property, OWL.DatatypeProperty}
    assert set(graph.objects(ATTR.aliases, SCHEMA.domainIncludes)) == {TYPE.Drug, TYPE.Substance}
    assert set(graph.objects(ATTR.dose, SCHEMA.rangeIncludes)) == {XSD.integer, XSD.double}
    assert not list(graph.objects(ATTR.dose, RDFS.domain))
    # Two types that say different things: neither is the definition of the attribute.
    assert not list(graph.objects(ATTR.aliases, SKOS.definition))


def _restrictions(graph: rdflib.Graph, owner: rdflib.URIRef, key: str) -> dict[str, Any]:
    """What the restrictions of a class say about an attribute, by their predicates."""
    nodes = [n for n in graph.objects(owner, RDFS.subClassOf) if isinstance(n, rdflib.BNode)]
    return {
        str(predicate).removeprefix(str(OWL)): term
        for node in nodes
        if graph.value(node, OWL.onProperty) == ATTR[key]
        for predicate, term in graph.predicate_objects(node)
        if predicate not in (RDF.type, OWL.onProperty)
    }


def test_what_a_type_says_of_an_attribute_is_a_separate_restriction(graph: rdflib.Graph) -> None:
    one = rdflib.Literal("1", datatype=XSD.nonNegativeInteger)
    assert _restrictions(graph, TYPE.Drug, "risk_level") == {
        "allValuesFrom": XSD.integer,
        "minCardinality": one,
        "maxCardinality": one,
    }
    assert str(graph.value(ATTR.risk_level, SKOS.definition)) == "From 1 to 5."
    form = _restrictions(graph, TYPE.Drug, "form")["allValuesFrom"]
    options = Collection(graph, graph.value(form, OWL.oneOf))
    assert [str(option) for option in options] == ["tablet", "syrup"]
    # OWL 2 has no datatype of arrays; the restriction carries the description of this type.
    zero = rdflib.Literal("0", datatype=XSD.nonNegativeInteger)
    assert _restrictions(graph, TYPE.Drug, "aliases") == {"minCardinality": zero}


def test_what_types_say_differently_of_an_attribute_is_at_their_axioms(graph: rdflib.Graph) -> None:
    definitions = {
        graph.value(axiom, OWL.annotatedSource): str(graph.value(axiom, SKOS.definition))
        for axiom in graph.subjects(RDF.type, OWL.Axiom)
    }
    assert definitions == {TYPE.Drug: "Other names.", TYPE.Substance: "Synonyms."}
    for axiom in graph.subjects(RDF.type, OWL.Axiom):
        target = graph.value(axiom, OWL.annotatedTarget)
        source = graph.value(axiom, OWL.annotatedSource)
        assert (source, RDFS.subClassOf, target) in graph


def test_a_description_without_a_rule_has_an_axiom_to_stand_at() -> None:
    nexus = kiprdf.Nexus.memory(BASE, genesis=False)
    nexus.execute("""UPSERT {
      CONCEPT { {type: "$ConceptType", name: "T"} SET ATTRIBUTES
        { instance_schema: {x: {description: "Of T."}} } }
      CONCEPT { {type: "$ConceptType", name: "U"} SET ATTRIBUTES
        { instance_schema: {x: {description: "Of U."}} } }
    }""")
    zero = rdflib.Literal("0", datatype=XSD.nonNegativeInteger)
    graph = _graph(nexus)
    assert _restrictions(graph, TYPE.T, "x") == {"minCardinality": zero}
    t, u = ontology(schema_triples(nexus.store)).types
    assert t.instance_schema["x"]["description"] == "Of T."
    assert u.instance_schema["x"]["description"] == "Of U."


def test_a_mapping_adds_what_terms_are_equivalent_to() -> None:
    mapping = Mapping.load(
        {
            "@context": {
                "schema": "https://schema.org/",
                "Drug": "schema:Drug",
                "treats": {"@id": "schema:possibleTreatment", "@type": "@id"},
                "attributes": {"@id": "@nest", "@context": {"aliases": "schema:alternateName"}},
            }
        }
    )
    graph = _graph(_nexus(), mapping)
    assert SCHEMA.Drug in set(graph.objects(TYPE.Drug, OWL.equivalentClass))
    assert set(graph.objects(PRED.treats, OWL.equivalentProperty)) == {SCHEMA.possibleTreatment}
    assert set(graph.objects(ATTR.aliases, OWL.equivalentProperty)) == {SCHEMA.alternateName}
    assert not list(graph.objects(ATTR.dose, OWL.equivalentProperty))


def test_the_schema_is_the_same_twice_and_says_nothing_twice() -> None:
    triples = list(schema_triples(kiprdf.Nexus.memory().store))
    assert triples == list(schema_triples(kiprdf.Nexus.memory().store))
    assert len(set(triples)) == len(triples)
    assert kiprdf.Nexus.memory().schema() == kiprdf.Nexus.memory().schema()


def test_only_blank_nodes_are_restrictions_unions_and_lists() -> None:
    graph = _graph(kiprdf.Nexus.memory())
    parts = (OWL.onProperty, OWL.unionOf, OWL.oneOf, RDF.first, RDF.rest)
    for predicate in parts:
        assert {type(node) for node in graph.subjects(predicate)} == {rdflib.BNode}


def test_the_schema_is_an_ontology_with_an_iri(graph: rdflib.Graph) -> None:
    assert list(graph.subjects(RDF.type, OWL.Ontology)) == [rdflib.URIRef(BASE + "$schema")]


def test_properties_are_declared_and_of_one_kind() -> None:
    graph = _graph(kiprdf.Nexus.memory())
    kinds = (OWL.ObjectProperty, OWL.DatatypeProperty, OWL.AnnotationProperty)
    declared = [node for kind in kinds for node in graph.subjects(RDF.type, kind)]
    assert len(declared) == len(set(declared))
    namespaces = (str(RDF), str(RDFS), str(OWL))
    used = {one for one in graph.predicates() if not str(one).startswith(namespaces)}
    assert used - set(declared) == set()
    assert (ATTR.display_hint, RDF.type, OWL.DatatypeProperty) in graph


def test_a_hint_that_is_no_attribute_is_an_annotation(graph: rdflib.Graph) -> None:
    assert (ATTR.display_hint, RDF.type, OWL.AnnotationProperty) in graph


def test_every_definition_of_the_bundled_capsules_is_in_the_schema() -> None:
    nexus = kiprdf.Nexus.memory()
    graph = _graph(nexus)
    names = nexus.execute('FIND(?t.name) WHERE { ?t {type: "$ConceptType"} }')
    classes = graph.subjects(RDF.type, RDFS.Class)
    assert {str(graph.value(one, RDFS.label)) for one in classes} == set(names)


def test_the_schema_of_an_odd_definition_is_still_a_schema() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute("""
    UPSERT {
      CONCEPT {
        {type: "$ConceptType", name: "T"}
        SET ATTRIBUTES {
          description: 7, same_as: ["no IRI", 7, "urn:x:y"],
          instance_schema: {a: "text", "no key": {type: "string"}, b: {type: 7, enum: []}}
        }
      }
      CONCEPT {
        {type: "$PropositionType", name: "p"}
        SET ATTRIBUTES { subject_types: "T", object_types: [7, "no name"] }
      }
    }""")
    lines = {str(triple) for triple in schema_triples(nexus.store)}
    node = "<urn:kip:nexus/$ConceptType/T>"
    assert f"{node} <{OWL.equivalentClass}> <urn:x:y>" in lines
    assert not [line for line in lines if "no%20key" in line]


def test_definitions_written_as_owl_are_read_back_the_same() -> None:
    definitions = ontology(schema_triples(_nexus().store))
    drug, substance, symptom = definitions.types
    assert (drug.name, drug.description, drug.parents) == ("Drug", "A substance.", ("Substance",))
    assert drug.instance_schema["risk_level"] == {
        "is_required": True,
        "type": "integer",
        "description": "From 1 to 5.",
    }
    assert drug.instance_schema["dose"] == {
        "is_required": False,
        "type": "number",
        "description": "dose",
    }
    assert drug.instance_schema["aliases"]["description"] == "Other names."
    assert drug.instance_schema["form"]["enum"] == ["tablet", "syrup"]
    assert (substance.name, symptom.name) == ("Substance", "Symptom")
    near, _, _, treats = definitions.predicates
    assert (near.is_symmetric, near.is_transitive, near.parents) == (True, True, ("treats",))
    assert (treats.subject_types, treats.object_types) == (("Drug", "Substance"), ("Symptom",))
