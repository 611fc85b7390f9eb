"""Exported schemas are OWL 2 DL, as the OWL API and a reasoner see it.

Both need Java. To get them::

    mvn -q -f tests/interchange/owl/pom.xml dependency:copy-dependencies \\
        -DoutputDirectory=$KIPRDF_JARS/owlapi
    pip install owlready2
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import rdflib

import kiprdf
from kiprdf import resources

HERE = Path(__file__).parent
JARS = Path(os.environ.get("KIPRDF_JARS", "")) / "owlapi"
needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="apt-get install default-jdk")
needs_owlapi = pytest.mark.skipif(
    not list(JARS.glob("owlapi-*.jar")),
    reason="KIPRDF_JARS/owlapi is missing: see the beginning of this file",
)

ODD = r"""
UPSERT {
  CONCEPT {
    {type: "$ConceptType", name: "A"}
    SET ATTRIBUTES {
      same_as: ["urn:x:A", "http://www.w3.org/2002/07/owl#Thing"],
      instance_schema: {
        age: {type: "integer", is_required: true, description: "In years."},
        tags: {type: "array", item_type: "string", description: "Words."},
        mixed: {enum: [1, 2.5, "a", true, {x: 1}, [1]]}, some: {enum: [1, 2.5, "a", true, null]},
        none: {enum: [null]}, empty: {enum: []}, number: {type: "number"}, map: {type: "object"},
        free: {}, display_hint: {type: "string"}, knows: {type: "string"}
      }
    }
  }
  CONCEPT {
    {type: "$ConceptType", name: "B"}
    SET ATTRIBUTES {
      display_hint: "B", same_as: ["http://www.w3.org/2001/XMLSchema#string", "no IRI"],
      instance_schema: { age: {type: "string", description: "As text."}, tags: {description: "T"} }
    }
  }
  CONCEPT {
    {type: "$PropositionType", name: "knows"}
    SET ATTRIBUTES {
      subject_types: ["A", "B"], object_types: ["Undefined"], is_symmetric: true,
      is_transitive: true,
      same_as: [
        "urn:x:knows", "urn:kip:attribute/age", "http://www.w3.org/2004/02/skos/core#definition"
      ]
    }
  }
}"""
ONTOLOGY = """
@prefix : <https://example.org/o#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:City a owl:Class ; rdfs:subClassOf :Place ; owl:equivalentClass :Town . :Town a owl:Class .
:in a owl:ObjectProperty ; rdfs:subPropertyOf :near . :near a owl:ObjectProperty .
"""
MAPPING = {
    "@context": {
        "A": "https://schema.org/Person",
        "B": "https://schema.org/Person",
        "age": "https://schema.org/age",
        "knows": {"@id": "https://schema.org/age", "@type": "@id"},
    }
}


def schemas() -> dict[str, str]:
    medical = kiprdf.Nexus.memory()
    medical.apply_capsule(resources.example_capsule("medical").text)
    odd = kiprdf.Nexus.memory()
    odd.execute(ODD)
    odd.import_ontology(ONTOLOGY)
    return {
        "medical": medical.schema(),
        "schema-org": medical.schema(mapping="schema-org"),
        "odd": odd.schema(),
        "mapped": odd.schema(mapping=MAPPING),
    }


@needs_java
@needs_owlapi
def test_no_schema_violates_the_profile_owl_2_dl(tmp_path: Path) -> None:
    files = []
    for name, text in schemas().items():
        files.append(tmp_path / f"{name}.ttl")
        files[-1].write_text(text, "utf-8")
    command = ["java", "-cp", f"{JARS}/*", str(HERE / "owl" / "Profile.java"), *map(str, files)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    lines = answer.stdout.splitlines()
    assert [line for line in lines if line.startswith(" ")] == []
    assert [Path(line.split()[0]).stem for line in lines] == [
        "medical",
        "schema-org",
        "odd",
        "mapped",
    ]
    assert min(int(line.split()[1]) for line in lines) > 100


@needs_java
@pytest.mark.parametrize("name", ["medical", "odd"])
def test_a_reasoner_finds_no_contradiction(name: str) -> None:
    owlready2: Any = pytest.importorskip("owlready2", reason="pip install owlready2")
    world = owlready2.World()
    triples = rdflib.Graph().parse(data=schemas()[name]).serialize(format="nt")
    ontology = world.get_ontology("urn:schema").load(fileobj=io.BytesIO(triples.encode()))
    with ontology:
        owlready2.sync_reasoner(world, debug=0)
    assert list(world.inconsistent_classes()) == []
    if name == "odd":
        base = "urn:kip:nexus/$ConceptType/"
        assert world[base + "Place"] in world[base + "City"].is_a


def test_equivalent_terms_are_declared_and_terms_of_owl_are_none() -> None:
    graph = rdflib.Graph().parse(data=schemas()["odd"])
    kinds = rdflib.OWL
    x = rdflib.Namespace("urn:x:")
    assert (x.A, rdflib.RDF.type, kinds.Class) in graph
    assert (x.knows, rdflib.RDF.type, kinds.ObjectProperty) in graph
    equivalents = set(graph.objects(None, kinds.equivalentClass))
    assert {x.A, kinds.Thing} <= equivalents
    assert rdflib.XSD.string not in equivalents
    properties = set(graph.objects(None, kinds.equivalentProperty))
    assert not properties & {rdflib.SKOS.definition, rdflib.RDFS.subClassOf}
    assert rdflib.URIRef("urn:kip:attribute/age") not in properties


def test_a_schema_with_declared_equivalents_is_read_back_without_a_change() -> None:
    nexus = kiprdf.Nexus.memory()
    nexus.import_ontology(ONTOLOGY)
    report = nexus.import_ontology(nexus.schema())
    assert report["definitions"] == {"concept_types": [], "predicates": []}
    assert report["warnings"] == []
    other = kiprdf.Nexus.memory()
    assert other.import_ontology(nexus.schema())["definitions"] == {
        "concept_types": ["City", "Place"],
        "predicates": ["in", "near", "subclass_of", "subproperty_of"],
    }
