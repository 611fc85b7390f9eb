"""The context of a nexus: a mapping under which imported knowledge has its IRIs again."""

from __future__ import annotations

import rdflib

import kiprdf
from kiprdf import Mapping
from tests.nexus.support import empty

FOAF = "http://xmlns.com/foaf/0.1/"
DATA = """
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix v: <https://words.example/> .
@prefix : <https://example.org/> .
:ada a foaf:Person ; foaf:name "Ada" ; foaf:knows :bob ; foaf:homepage <https://ada.example/> ;
    v:born "1815-12-10"^^xsd:date ; v:motto "Poetical science"@en ; v:languages ( "en" "fr" ) .
:bob a foaf:Person ; foaf:name "Bob" .
"""


def imported() -> kiprdf.Nexus:
    nexus = empty()
    nexus.import_rdf(DATA, mapping="foaf", define=True)
    return nexus


def test_what_was_imported_is_in_the_context() -> None:
    person = {
        "born": {
            "@id": "https://words.example/born",
            "@type": "http://www.w3.org/2001/XMLSchema#date",
        },
        "homepage": {"@id": f"{FOAF}homepage", "@type": "@id"},
        "languages": {"@id": "https://words.example/languages", "@container": "@list"},
        "motto": {"@id": "https://words.example/motto", "@language": "en"},
        "name": {"@id": f"{FOAF}name"},
    }
    assert imported().context() == {
        "@context": {
            "@version": 1.1,
            "Person": {"@id": f"{FOAF}Person", "@context": person},
            "attributes": {"@id": "@nest"},
            "knows": {"@id": f"{FOAF}knows", "@type": "@id"},
            "metadata": {"@id": "@nest"},
        }
    }


def test_under_its_own_context_a_snapshot_has_the_words_it_came_with() -> None:
    nexus = imported()
    text = nexus.snapshot(mapping=nexus.context())
    graph = rdflib.Graph().parse(data=text)
    (ada,) = graph.subjects(rdflib.FOAF.homepage, rdflib.URIRef("https://ada.example/"))
    assert (ada, rdflib.RDF.type, rdflib.FOAF.Person) in graph
    assert graph.value(ada, rdflib.URIRef("https://words.example/born")) == rdflib.Literal(
        "1815-12-10", datatype=rdflib.XSD.date
    )
    assert len(list(graph.objects(ada, rdflib.FOAF.knows))) == 1
    copy = empty()
    copy.restore(text, mapping=nexus.context())
    assert not copy.diff(nexus, engine_metadata=True)


def test_the_context_reads_the_data_again() -> None:
    other = empty()
    other.import_rdf(DATA, mapping=imported().context(), define=True)
    values = other.execute('FIND(?p.attributes) WHERE { ?p {type: "Person", name: "Ada"} }')[0]
    # Words of the mapping have its language, so that their values need none.
    assert values["motto"] == "Poetical science"
    assert (values["born"], values["languages"]) == ("1815-12-10", ["en", "fr"])
    assert other.execute('FIND(?o.name) WHERE { (?s, "knows", ?o) }') == ["Bob"]


ONTOLOGY = """
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix w: <https://water.example/> .
w:River a owl:Class ; rdfs:comment "Flowing water." .
w:length-km a owl:DatatypeProperty ; rdfs:domain w:River ; rdfs:range xsd:decimal .
w:source-name a owl:DatatypeProperty ; rdfs:domain w:River ; rdfs:range xsd:string .
w:flows a owl:ObjectProperty ; rdfs:domain w:River .
"""


def test_an_ontology_is_in_the_context() -> None:
    nexus = empty()
    nexus.import_ontology(ONTOLOGY)
    decimal = "http://www.w3.org/2001/XMLSchema#decimal"
    terms = nexus.context()["@context"]
    assert terms["River"] == {
        "@id": "https://water.example/River",
        "@context": {
            "length_km": {"@id": "https://water.example/length-km", "@type": decimal},
            "source_name": {"@id": "https://water.example/source-name"},
        },
    }
    assert terms["flows"] == {"@id": "https://water.example/flows", "@type": "@id"}


def test_an_ontology_leaves_the_iris_that_definitions_have() -> None:
    nexus = empty()
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "River"} SET ATTRIBUTES :river } }',
        river={
            "same_as": "https://water.example/River",
            "iri": "https://schema.org/RiverBodyOfWater",
            "instance_schema": {"length_km": {"iri": "https://words.example/length"}},
        },
    )
    report = nexus.import_ontology(ONTOLOGY)
    assert nexus.context()["@context"]["River"] == {
        "@id": "https://schema.org/RiverBodyOfWater",
        "@context": {
            "length_km": {"@id": "https://words.example/length"},
            "source_name": {"@id": "https://water.example/source-name"},
        },
    }
    assert nexus.import_ontology(ONTOLOGY)["definitions"] == {"concept_types": [], "predicates": []}
    assert "iri" not in str(report["skipped"])


def test_a_definition_made_by_hand_is_in_the_context() -> None:
    nexus = empty()
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Book"} SET ATTRIBUTES :book } '
        'CONCEPT { {type: "$PropositionType", name: "cites"} SET ATTRIBUTES :cites } }',
        book={
            "iri": "https://schema.org/Book",
            "instance_schema": {"pages": {"type": "number", "iri": "https://schema.org/pages"}},
        },
        cites={"iri": "https://schema.org/citation"},
    )
    mapping = Mapping.load(nexus.context())
    assert mapping.type_of("https://schema.org/Book") == "Book"
    assert mapping.predicate_of("https://schema.org/citation") == "cites"


def test_what_is_no_iri_is_left_out() -> None:
    nexus = empty()
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Book"} SET ATTRIBUTES :book } }',
        book={"iri": "schem:Book", "instance_schema": {"a": {"iri": 5}, "b": "no rule"}},
    )
    context = nexus.context()
    assert "Book" not in context["@context"]
    assert Mapping.load(context).type_of("schem:Book") is None
