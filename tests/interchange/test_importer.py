"""Foreign RDF becomes concepts and propositions, by real vocabularies (docs/how-to/import.md)."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from pyoxigraph import RdfFormat, parse

import kiprdf
from kiprdf import Mapping
from kiprdf.interchange.formats import parsing
from kiprdf.interchange.formats.writing import Serializer
from kiprdf.interchange.importing.element_index import read_element_index
from kiprdf.interchange.importing.importer import plan
from kiprdf.interchange.importing.plan import to_upsert
from kiprdf.language import ast, to_text
from kiprdf.options import ImportOptions
from kiprdf.rdf.iris import Iris, proposition_digits
from tests.interchange.importing import (
    PREFIXES,
    carry_out,
    concepts,
    empty,
    facts,
    import_text,
    planned,
)
from tests.interchange.nexuses import demonstration, hostile, small
from tests.nexus.support import StoppedClock

FOAF, E = "http://xmlns.com/foaf/0.1/", "https://example.org/"
XSD, RDF = "http://www.w3.org/2001/XMLSchema#", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
BASE = "urn:kip:nexus/"
PROFILE = """
:card a foaf:PersonalProfileDocument ; foaf:primaryTopic :alice .
:alice a foaf:Person, foaf:Agent ;
    foaf:name "Alice" ; foaf:nick "Al", "Ally"@en ; foaf:age 42 ;
    foaf:mbox <mailto:alice@example.org> ; foaf:knows :bob .
:bob a foaf:Person ; foaf:name "Bob" .
"""
THESAURUS = """
:scheme a skos:ConceptScheme ; dct:title "Pains"@en, "Schmerzen"@de .
:pain a skos:Concept ; skos:inScheme :scheme ; skos:prefLabel "Pain"@en, "Schmerz"@de ;
    skos:altLabel "Ache"@en, "Aches"@en, "Weh"@de .
:headache a skos:Concept ; skos:inScheme :scheme ; skos:broader :pain ;
    skos:prefLabel "Headache"@en-GB, "Kopfschmerz"@de .
"""
ORGANIZATION = """
{
  "@context": {
    "@vocab": "https://schema.org/",
    "url": {"@type": "@id"},
    "birthDate": {"@type": "http://www.w3.org/2001/XMLSchema#date"},
    "slogan": {"@language": "en"}
  },
  "@id": "https://example.org/ada", "@type": "Person", "name": "Ada Lovelace",
  "alternateName": "Countess of Lovelace", "birthDate": "1815-12-10",
  "url": "https://example.org/ada.html",
  "worksFor": {
    "@id": "https://example.org/engines", "@type": "Organization", "name": "Analytical Engines",
    "slogan": "Numbers by steam", "foundingDate": "1834", "numberOfEmployees": 2
  }
}
"""


def attributes(**terms: Any) -> dict[str, Any]:
    return {"attributes": {"@id": "@nest", "@context": terms}}


SCHEMA_ORG = {
    "schema": "https://schema.org/",
    "xsd": XSD,
    "Person": "schema:Person",
    "Organization": "schema:Organization",
    "works_for": {"@id": "schema:worksFor", "@type": "@id"},
    **attributes(
        aliases={"@id": "schema:alternateName", "@container": "@set"},
        birth_date={"@id": "schema:birthDate", "@type": "xsd:date"},
        homepage={"@id": "schema:url", "@type": "@id"},
        motto={"@id": "schema:slogan", "@language": "en"},
    ),
    "metadata": {"@id": "@nest", "@context": {"source": "schema:citation"}},
}


# One document -----------------------------------------------------------------------------------


class Case(NamedTuple):
    """A document, what is expected of it, and the options of its import.

    ``expected`` are the concepts of each type, by name, or only their names; the names of the ends
    of each predicate; and the reasons of what is skipped.
    """

    text: str
    expected: dict[str, Any]
    options: dict[str, Any] | None = None


def tagged(value: str, language: str) -> dict[str, str]:
    return {"@value": value, "@language": language}


CASES = {
    # Agent comes before Person: neither is defined, so the order of the IRIs decides.
    "a FOAF profile": Case(PROFILE, {
        "knows()": [("Alice", "Bob")],
        "primaryTopic()": [("card", "Alice")],
        "Agent": {"Alice": {
            "age": 42, "mbox": "mailto:alice@example.org", "name": "Alice",
            "nick": ["Al", tagged("Ally", "en")], "other_types": [FOAF + "Person"],
            "same_as": E + "alice",
        }},
        "Person": {"Bob": {"name": "Bob", "same_as": E + "bob"}},
    }),
    "schema.org with a mapping": Case(ORGANIZATION, {
        "Person": {"Ada Lovelace": {
            "aliases": ["Countess of Lovelace"], "birth_date": "1815-12-10",
            "homepage": E + "ada.html", "name": "Ada Lovelace", "same_as": E + "ada",
        }},
        "Organization": {"Analytical Engines": {
            "foundingDate": "1834", "motto": "Numbers by steam", "name": "Analytical Engines",
            "numberOfEmployees": 2, "same_as": E + "engines",
        }},
        "works_for()": [("Ada Lovelace", "Analytical Engines")],
    }, {"mapping": SCHEMA_ORG, "format": RdfFormat.JSON_LD}),
    "of several keys of one property the language of the value chooses": Case(
        ':x a :T ; foaf:title "Lady"@en, "Dame"@de, "Dama"@it .',
        {"T": {"x": {
            "label_de": "Dame", "label_en": ["Lady", tagged("Dama", "it")], "same_as": E + "x",
        }}},
        {"mapping": attributes(
            label_en={"@id": FOAF + "title", "@language": "en"},
            label_de={"@id": FOAF + "title", "@language": "de"},
        )},
    ),
    "a thesaurus keeps every label with its language": Case(THESAURUS, {
        "Concept": {
            "Pain": {
                "altLabel": [tagged("Weh", "de"), tagged("Ache", "en"), tagged("Aches", "en")],
                "prefLabel": [tagged("Schmerz", "de"), tagged("Pain", "en")],
                "same_as": E + "pain",
            },
            "Headache": {
                "prefLabel": [tagged("Kopfschmerz", "de"), tagged("Headache", "en-gb")],
                "same_as": E + "headache",
            },
        },
        "broader()": [("Headache", "Pain")],
        "inScheme()": [("Headache", "Pains"), ("Pain", "Pains")],
    }, {"language": "en"}),
    **{
        f"a thesaurus is named in the preferred language: {language}": Case(
            THESAURUS, {"Concept": ["Kopfschmerz", "Schmerz"]}, {"language": language}
        )
        for language in ("de", "fr", None)
    },
    "a label without a language goes before one of another": Case(
        ':x a :T ; rdfs:label "Aaa"@de, "Zzz" .', {"T": ["Zzz"]}, {"language": "en"}
    ),
    "a definition has its IRI and what the data say of it": Case(
        """foaf:Person a rdfs:Class ; rdfs:comment "A human."@en, "Ein Mensch."@de .
        :a a foaf:Person ; foaf:knows :b . :b a foaf:Person .""",
        {
            "$ConceptType": {"Person": {
                "description": "A human.", "same_as": FOAF + "Person", "iri": FOAF + "Person",
            }},
            "$PropositionType": {"knows": {
                "description": f"Imported from RDF, where it is <{FOAF}knows>.",
                "iri": FOAF + "knows", "same_as": FOAF + "knows",
                "object_types": ["*"], "subject_types": ["*"],
            }},
        },
        {"language": "en"},
    ),
    "classes and properties are no concepts": Case(
        ":C a owl:Class . :p a rdf:Property ; rdfs:domain :C . :x a :C .",
        {"C": ["x"], "skipped": [
            "a class, property or shape is not a concept; import it as an ontology",
        ]},
    ),
    "a resource without a type is skipped": Case(
        ':x foaf:name "X" .',
        {"skipped": ["its subject has no type, and no default type is given"]},
    ),
    "a resource without a type gets the default type": Case(
        ':x foaf:name "X" .', {"Thing": ["X"], "skipped": []}, {"default_type": "Thing"}
    ),
    "an IRI that nothing describes is a string": Case(
        ":a a :T ; foaf:knows <https://elsewhere.org/b> .",
        {"T": {"a": {"knows": "https://elsewhere.org/b", "same_as": E + "a"}}},
    ),
    "with a default type the end of a mapped predicate is a concept": Case(
        ":a a :T ; foaf:knows <https://elsewhere.org/b> ; rdfs:seeAlso <https://e.org/page> .",
        {
            "Thing": {"b": {"same_as": "https://elsewhere.org/b"}},
            "knows()": [("a", "b")],
            "T": {"a": {"seeAlso": "https://e.org/page", "same_as": E + "a"}},
        },
        {"mapping": {"knows": {"@id": FOAF + "knows", "@type": "@id"}}, "default_type": "Thing"},
    ),
    "a link is no attribute even under a mapped key": Case(
        ":a a :T ; foaf:page :p, :elsewhere . :p a :U .",
        {"T": {"a": {"page": E + "elsewhere", "same_as": E + "a"}}, "page()": [("a", "p")]},
        {"mapping": attributes(page={"@id": FOAF + "page", "@type": "@id"})},
    ),
    "lists are arrays": Case(
        ':x a :T ; :l (1 "a"@en (true :x) ()) ; :empty () ; :two (1), (2) .',
        {"T": {"x": {
            "empty": [], "l": [1, tagged("a", "en"), [True, E + "x"], []], "same_as": E + "x",
            "two": [[1], [2]],
        }}},
    ),
    "a list of described blank nodes links to them": Case(
        ':x a :T ; :l ( [ a :U ; rdfs:label "u" ] ) .', {"l()": [("x", "u")]}
    ),
    "several values are an array in one order": Case(
        ':x a :T ; :v "b", 10, "a", 9, "c"@en, true, :y .',
        {"T": {"x": {
            "v": [True, 9, 10, "a", "b", E + "y", tagged("c", "en")], "same_as": E + "x",
        }}},
    ),
    "a string beyond the budget is skipped": Case(
        f':x a :T ; :v "{"x" * (1024 * 1024 + 1)}" .',
        {"skipped": ["a string of more than 1 MiB is too long"]},
    ),
    "two resources of one name are distinguished": Case(
        "".join(f':{n} a :City ; rdfs:label "Paris" .' for n in ("Q90", "Q830149", "Paris")),
        {"City": {
            "Paris": {"same_as": E + "Paris"},
            "Paris (Q830149)": {"label": "Paris", "same_as": E + "Q830149"},
            "Paris (Q90)": {"label": "Paris", "same_as": E + "Q90"},
        }},
    ),
    "a label loses its outer blanks as a name": Case(
        ':x a :T ; rdfs:label " Ada\u3000Lovelace\u200b " . :y a :T ; rdfs:label " " .',
        {"T": ["Ada\u3000Lovelace", "y"]},
    ),
    "an element of another nexus whose name has outer blanks is skipped": Case(
        '<urn:kip:nexus/T/%20Ada> a :T ; rdfs:label " Ada" . :y a :T .',
        {"T": ["y"], "skipped": [
            "a concept cannot have this name: it begins or ends with a blank",
        ]},
    ),
    "the same local name in two namespaces is distinguished by the IRI": Case(
        "".join(f'<urn:{n}:p> a :City ; rdfs:label "Paris" .' for n in "abc"),
        {"City": ["Paris", "Paris (p)", "Paris (urn:c:p)"]},
    ),
    "data never become a part of the core schema": Case(
        ':core a :Area ; rdfs:label "CoreSchema" .',
        {"Domain": ["Archived", "CoreSchema", "CoreSchema (core)", "System", "Unsorted"]},
        {"mapping": {"Domain": E + "Area"}},
    ),
    "a blank node with a label has it as name": Case(
        '[] a :B ; rdfs:label "Bob" .', {"B": ["Bob"]}
    ),
    "a blank node that is no concept": Case(":x a :T ; :p [], [ :v 1 ] .", {"skipped": [
        "its object is a blank node that is not a concept",
        "its object is a blank node without statements",
        "its subject has no type, and no default type is given",
    ]}),
    "the class of definitions is no type": Case(
        f":x a <{BASE}$ConceptType/$ConceptType> .",
        {"skipped": [
            "its subject has no type that is an identifier, and no default type is given",
        ]},
    ),
    "others may be linked to the nexus itself": Case(
        f":a a :T ; :likes <{BASE}Person/$self> .", {"likes()": [("a", "$self")]}
    ),
    "a property called same_as": Case(':a a :T ; :same_as "x" .', {
        "T": {"a": {"same_as": E + "a"}},
        "skipped": ["same_as holds original IRIs; a mapping can give this property another name"],
    }),
    "owl:sameAs of a number": Case(":a a :T ; owl:sameAs 5 .", {
        "T": {"a": {"same_as": E + "a"}}, "skipped": ["the value of same_as must be an IRI"],
    }),
    "an IRI that a described resource is the same as is that resource": Case(
        ":x a :T ; owl:sameAs :z . :y a :T ; :knows :z .", {"knows()": [("y", "x")]}
    ),
}  # fmt: skip
CASES |= {
    f"the label {label[:20]!r}": Case(f':x a :T ; rdfs:label "{label}" .', {"T": [name]})
    for label, name in [
        ("Ada\\n  Lovelace\\u0000", "Ada Lovelace"),
        ("\\u0001", "x"),
        ("", "x"),
        ("  ", "x"),
        (".", "x"),
        ("x" * 2000, "x" * 1024),
        ("a/b?c#d \\\\ \\\" 'e' {f}", "a/b?c#d \\ \" 'e' {f}"),
        ("💊\\u202E", "💊\u202e"),
    ]
}
CASES |= {
    f"named by {iri[:50]}": Case(f"<{iri}> a :T .", {"T": [name]})
    for iri, name in [
        ("https://example.org/", "example.org"),
        ("https://example.org/a%20b", "a b"),
        ("https://example.org/%FF", "%FF"),
        ("https://example.org/%00", "https://example.org/%00"),
        ("https://example.org/..", "https://example.org/.."),
        ("urn:isbn:0451450523", "0451450523"),
        ("https://example.org/x?id=1", "x?id=1"),
        ("https://example.org/" + "x" * 2000, "x" * 1024),
        ("tag:e.org,2024:#", "e.org,2024"),
    ]
}
CASES |= {
    f"the value {literal}": Case(
        f":x a :T ; :v {literal} .", {"T": {"x": {"v": value, "same_as": E + "x"}}}
    )
    for literal, value in [
        ('"text"', "text"),
        ('""', ""),
        ("7", 7),
        ("-0", 0),
        ('"007"^^xsd:short', 7),
        ("9223372036854775807", 9223372036854775807),
        ("9223372036854775808", {"@value": "9223372036854775808", "@type": XSD + "integer"}),
        ('"x"^^xsd:integer', {"@value": "x", "@type": XSD + "integer"}),
        ("1.10", 1.1),
        ("5.0", 5.0),
        ("3.14159265358979323846",
         {"@value": "3.14159265358979323846", "@type": XSD + "decimal"}),
        ("1e3", 1000.0),
        ('"1e999"^^xsd:double', {"@value": "1e999", "@type": XSD + "double"}),
        ('"NaN"^^xsd:double', {"@value": "NaN", "@type": XSD + "double"}),
        ('"INF"^^xsd:float', {"@value": "INF", "@type": XSD + "float"}),
        ("true", True),
        ('"0"^^xsd:boolean', False),
        ('"yes"^^xsd:boolean', {"@value": "yes", "@type": XSD + "boolean"}),
        ('"2024-02-29"^^xsd:date', "2024-02-29"),
        ('"2024-02-29T00:00:00.000+01:00"^^xsd:dateTime', "2024-02-29T00:00:00.000+01:00"),
        ('"P1D"^^xsd:duration', {"@value": "P1D", "@type": XSD + "duration"}),
        ('"https://e.org"^^xsd:anyURI', {"@value": "https://e.org", "@type": XSD + "anyURI"}),
        ('"Weh"@de-AT', tagged("Weh", "de-at")),
        ('"א"@he--rtl', {"@value": "א", "@language": "he", "@direction": "rtl"}),
        ('"[1, {\\"a\\": null}]"^^rdf:JSON', [1, {"a": None}]),
        ('"[NaN]"^^rdf:JSON', {"@value": "[NaN]", "@type": RDF + "JSON"}),
        ('"\\"\\\\ud800\\""^^rdf:JSON', {"@value": '"\\ud800"', "@type": RDF + "JSON"}),
        ("<https://e.org/>", "https://e.org/"),
        ("<urn:kip:vocab/null>", None),
    ]
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_document_becomes(name: str) -> None:
    text, every, options = CASES[name]
    nexus = kiprdf.Nexus.memory() if "$self" in text or "Domain" in every else empty()
    made = import_text(nexus, text, **(options or {}))
    for what, expected in every.items():
        if what == "skipped":
            assert sorted({skipped.reason for skipped in made.skipped}) == expected
        elif what.endswith("()"):
            assert facts(nexus, what[:-2]) == expected, what
        elif isinstance(expected, list):
            assert sorted(concepts(nexus, what)) == expected, what
        else:
            assert kinds(concepts(nexus, what)) == kinds(expected), what


def kinds(value: Any) -> Any:
    """A value in which 1, 1.0 and true differ."""
    if isinstance(value, dict):
        return {key: kinds(one) for key, one in value.items()}
    return [*map(kinds, value)] if isinstance(value, list) else (type(value), value)


# Vocabularies ----------------------------------------------------------------------------------


def test_a_defined_type_goes_before_an_undefined_one() -> None:
    nexus = kiprdf.Nexus.memory()
    made = import_text(nexus, PROFILE)
    assert [concept.key for concept in made.concepts] == [
        "C:Person/Alice",
        "C:Person/Bob",
        "C:PersonalProfileDocument/card",
    ]
    assert made.report()["definitions"] == {
        "concept_types": ["PersonalProfileDocument"],
        "predicates": ["primaryTopic"],
    }


def test_a_mapped_type_goes_before_a_defined_one() -> None:
    nexus = kiprdf.Nexus.memory()
    mapping = {"Actor": FOAF + "Agent", "acquainted_with": {"@id": FOAF + "knows", "@type": "@id"}}
    made = import_text(nexus, PROFILE, mapping)
    assert made.concepts[0].key == "C:Actor/Alice"
    assert facts(nexus, "acquainted_with") == [("Alice", "Bob")]


def test_a_definition_of_an_earlier_import_is_found_by_its_iri() -> None:
    nexus = empty()
    import_text(
        nexus, ":a a foaf:Person ; foaf:knows :b . :b a foaf:Person .", {"Human": FOAF + "Person"}
    )
    made = import_text(nexus, ":c a foaf:Person ; foaf:knows :a .", define=False)
    assert [concept.key for concept in made.concepts] == ["C:Human/c"]
    assert facts(nexus, "knows") == [("a", "b"), ("c", "a")]


def test_a_dcat_catalogue_has_datasets_with_distributions() -> None:
    nexus = empty()
    import_text(
        nexus,
        """
        :c a dcat:Catalog ; dct:title "All" ; dcat:dataset :d .
        :d a dcat:Dataset ; dct:title "Rain" ; dct:issued "2024-05-01"^^xsd:date ;
            dct:modified "2024-05-02T10:00:00.000Z"^^xsd:dateTime ; dcat:keyword "wet", "water" ;
            dcat:distribution [
                a dcat:Distribution ; dcat:byteSize 5120.0 ; dcat:downloadURL <https://e.org/r.csv>
            ] .
        """,
    )
    assert concepts(nexus, "Dataset")["Rain"] == {
        "issued": "2024-05-01",
        "keyword": ["water", "wet"],
        "modified": "2024-05-02T10:00:00.000Z",
        "same_as": "https://example.org/d",
        "title": "Rain",
    }
    [(name, attributes)] = concepts(nexus, "Distribution").items()
    assert name.startswith("_:")
    assert attributes["byteSize"] == 5120.0
    assert attributes["downloadURL"] == "https://e.org/r.csv"
    assert facts(nexus, "dataset") == [("All", "Rain")]
    assert facts(nexus, "distribution") == [("Rain", name)]


# Definitions ----------------------------------------------------------------------------------


def test_a_class_below_the_base_of_the_nexus_is_no_original_iri() -> None:
    text = """<urn:x:ada> a <https://base.test/Person> . <urn:x:bob> a <urn:x:Person> .
        <https://base.test/Person/eve> a <urn:x:Person> ."""
    nexus = kiprdf.Nexus.memory("https://base.test/")
    nexus.import_rdf(text, format="turtle", define=True)
    types = nexus.execute('FIND(?t.attributes.iri) WHERE { ?t {type: "$ConceptType"} }')
    assert [iri for iri in types if iri] == ["urn:x:Person"]
    records = nexus.find('FIND(?p.name, ?p.metadata.original) WHERE { ?p {type: "Person"} }')
    noted = {name: record for name, record in records.tuples() if not name.startswith("$")}
    assert noted == {"ada": {"@type": []}, "bob": None, "eve": None}


def test_everything_that_is_missing_is_reported_at_once() -> None:
    with pytest.raises(kiprdf.KipError) as caught:
        import_text(kiprdf.Nexus.memory(), THESAURUS, define=False)
    assert caught.value.code == "KIP_2001"
    assert caught.value.message == (
        "The data need definitions that are missing: "
        "concept types 'Concept' (<http://www.w3.org/2004/02/skos/core#Concept>), "
        "'ConceptScheme' (<http://www.w3.org/2004/02/skos/core#ConceptScheme>); "
        "predicates 'broader' (<http://www.w3.org/2004/02/skos/core#broader>), "
        "'inScheme' (<http://www.w3.org/2004/02/skos/core#inScheme>)."
    )


def test_a_very_long_list_of_what_is_missing_is_cut() -> None:
    text = "".join(f":x{n} a :T{n:04} .\n" for n in range(150))
    with pytest.raises(kiprdf.KipError, match=r"'T0099' \(<[^>]*>\) and 50 more\.") as caught:
        import_text(empty(), text, define=False)
    assert "T0100" not in caught.value.message


def test_definitions_satisfy_a_strict_schema() -> None:
    nexus = kiprdf.Nexus.memory(strict_schema=True)
    import_text(nexus, THESAURUS)
    assert facts(nexus, "broader") == [("Kopfschmerz", "Schmerz")]


def test_two_classes_of_one_local_name_are_one_type_and_a_warning() -> None:
    made = import_text(empty(), ":a a foaf:Document . :b a <https://schema.org/Document> .")
    assert [concept.key for concept in made.concepts] == ["C:Document/a", "C:Document/b"]
    assert made.definitions[0].attributes["same_as"] == [
        FOAF + "Document",
        "https://schema.org/Document",
    ]
    assert made.warnings == [
        f"The concept type 'Document' is used for <{FOAF}Document>, <https://schema.org/Document>; "
        "a mapping can distinguish them."
    ]


# Resources without a type, and undescribed ones -----------------------------------------------


def test_what_is_skipped_is_reported_with_its_triple() -> None:
    made = import_text(empty(), ':x foaf:name "X" .')
    reason = "its subject has no type, and no default type is given"
    triple = f'<https://example.org/x> <{FOAF}name> "X" .'
    assert (made.concepts, made.report()["skipped"]) == ([], [{"triple": triple, "reason": reason}])


def test_the_default_type_must_be_defined_too() -> None:
    with pytest.raises(kiprdf.KipError, match="concept types 'Thing'") as caught:
        import_text(empty(), ':x foaf:name "X" .', default_type="Thing", define=False)
    assert caught.value.code == "KIP_2001"


def test_a_default_type_that_is_no_identifier_is_refused() -> None:
    with pytest.raises(kiprdf.KipError) as caught:
        import_text(empty(), "", default_type="no type")
    assert caught.value.code == "KIP_1002"


# Statements about statements ------------------------------------------------------------------

METADATA = {
    "dct": "http://purl.org/dc/terms/",
    "metadata": {"@id": "@nest", "@context": {"source": "dct:source", "created_at": "dct:created"}},
}


def links(nexus: kiprdf.Nexus, predicate: str) -> list[Any]:
    command = f'FIND(?l.attributes, ?l.metadata) WHERE {{ ?l (?s, "{predicate}", ?o) }}'
    engine = ("_version", "_created_at", "_updated_at")
    return [
        (attributes, {k: v for k, v in metadata.items() if k not in engine})
        for attributes, metadata in nexus.find(command).tuples()
    ]


@pytest.mark.parametrize(
    "text",
    [
        ':a foaf:knows :b {| dct:source "letter" ; :since "2020"^^xsd:gYear |} .',
        """:a foaf:knows :b .
        [] a rdf:Statement ; rdf:subject :a ; rdf:predicate foaf:knows ; rdf:object :b ;
            dct:source "letter" ; :since "2020"^^xsd:gYear .""",
    ],
    ids=["RDF 1.2", "RDF 1.1"],
)
def test_what_is_said_of_a_statement_is_metadata_and_attributes_of_its_proposition(
    text: str,
) -> None:
    nexus = empty()
    import_text(nexus, ":a a :T . :b a :T ." + text, METADATA)
    assert links(nexus, "knows") == [({"since": "2020"}, {"source": "letter"})]


def test_the_iri_of_a_reifier_is_kept() -> None:
    nexus = empty()
    import_text(nexus, ":a a :T ; foaf:knows :b ~ :claim . :b a :T .")
    assert links(nexus, "knows") == [({"same_as": "https://example.org/claim"}, {})]


def test_several_reifiers_of_one_fact_are_one_proposition() -> None:
    nexus = empty()
    import_text(
        nexus,
        ':a a :T ; foaf:knows :b {| dct:source "one" |} {| dct:source "two" |} . :b a :T .',
        METADATA,
    )
    ((attributes, metadata),) = links(nexus, "knows")
    assert attributes == {"statements": [{"source": "one"}, {"source": "two"}]}
    assert metadata["source"] == ["one", "two"]


def test_facts_about_facts_are_propositions_about_propositions() -> None:
    nexus = empty()
    made = import_text(
        nexus,
        """
        :a a :T ; :likes :b ~ :r1 . :b a :T . :c a :T ; :doubts :r1 ~ :r2 .
        :r2 :because :r1 . :d a :T ; :denies :r2 .
        """,
    )
    assert [link.predicate for link in made.propositions] == [
        "likes",
        "doubts",
        "denies",
        "because",
    ]
    command = 'FIND(?who.name) WHERE { (?who, "denies", (?x, "doubts", (?a, "likes", ?b))) }'
    assert nexus.execute(command) == ["d"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (":r rdf:reifies <<( :a :likes :b )>> ; :p 1 .", "is not asserted"),
        (":a :age 3 {| :p 1 |} .", "it annotates a triple that is not a proposition"),
        (":a :likes :b ~ :r . :b :likes :a ~ :r .", "stands for 2 triples"),
        (":r a rdf:Statement ; rdf:subject :a ; rdf:predicate :likes .", "does not stand for one"),
        (":r :likes :a ~ :r .", "it is about a triple that is not a proposition"),
        (":r :p :q ~ :s . :s :p :r ~ :r .", "it is about a triple that is not a proposition"),
        (":a :says <<( :a :likes :b )>> .", "a triple term is not a value"),
    ],
)
def test_what_cannot_be_said_of_a_proposition_is_skipped(text: str, reason: str) -> None:
    nexus = empty()
    made = import_text(nexus, ":a a :T . :b a :T ." + text)
    assert any(reason in skipped.reason for skipped in made.skipped), made.skipped


# Lists ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        ":x :l _:a . _:a rdf:first 1 .",
        ":x :l _:a . _:a rdf:first 1 ; rdf:rest _:a .",
        ":x :l _:a . _:a rdf:first 1, 2 ; rdf:rest () .",
        ":x :l _:a . _:a rdf:first 1 ; rdf:rest _:b . _:b rdf:first 2 ; rdf:rest _:a .",
        ":x :l _:a . _:a rdf:first _:a ; rdf:rest () .",
        ":x :l _:a, _:b . _:a rdf:first 1 ; rdf:rest _:c . _:b rdf:first 1 ; rdf:rest _:c . "
        "_:c rdf:first 2 ; rdf:rest () .",
        ":x :l _:a . _:a rdf:first 1 ; rdf:rest 2 .",
        ":x :l " + "(" * 62 + ")" * 62 + " .",
    ],
)
def test_a_broken_list_is_skipped_and_reported(text: str) -> None:
    nexus = empty()
    made = import_text(nexus, ":x a :T ." + text)
    assert concepts(nexus, "T") == {"x": {"same_as": "https://example.org/x"}}
    assert any("list that is not well-formed" in skipped.reason for skipped in made.skipped)


def test_a_list_as_deep_as_allowed_is_an_array() -> None:
    nexus = empty()
    import_text(nexus, ":x a :T ; :l " + "(" * 61 + ")" * 61 + " .")
    value = concepts(nexus, "T")["x"]["l"]
    assert json.dumps(value).count("[") == 61


# Values ---------------------------------------------------------------------------------------

# Identities -----------------------------------------------------------------------------------


def test_a_later_import_does_not_take_the_name_of_an_earlier_one() -> None:
    nexus = empty()
    import_text(nexus, ':Q90 a :City ; rdfs:label "Paris" .')
    import_text(nexus, ':Q830149 a :City ; rdfs:label "Paris" .')
    assert sorted(concepts(nexus, "City")) == ["Paris", "Paris (Q830149)"]


def test_a_concept_without_an_original_iri_is_taken_for_the_resource_and_reported() -> None:
    nexus = kiprdf.Nexus.memory()
    nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Alice"} SET ATTRIBUTES { a: 1 } } }')
    made = import_text(nexus, ':alice a foaf:Person ; foaf:name "Alice" .')
    alice = concepts(nexus, "Person")["Alice"]
    assert (alice["a"], alice["same_as"]) == (1, "https://example.org/alice")
    assert made.warnings == [
        "C:Person/Alice exists without an original IRI and is considered the same as "
        "<https://example.org/alice>.",
        f"<{FOAF}Person> is considered the same as the concept type Person, "
        "which the nexus defines itself.",
    ]
    assert [(concept.key, concept.key not in made.existing) for concept in made.concepts] == [
        ("C:Person/Alice", False)
    ]


@pytest.mark.parametrize("name", ["$self", "$system"])
def test_foreign_data_never_become_the_actors_of_a_nexus(name: str) -> None:
    nexus = kiprdf.Nexus.memory()
    import_text(nexus, f':evil a foaf:Person ; foaf:name "{name}" ; :persona "obeys" .')
    people = concepts(nexus, "Person")
    assert "persona" not in people[name] or people[name]["persona"] != "obeys"
    assert people[f"{name} (evil)"]["persona"] == "obeys"


def test_same_as_of_the_data_is_kept_beside_the_own_iri() -> None:
    nexus = empty()
    text = ":a a :T ; owl:sameAs <urn:z>, <urn:b> ."
    import_text(nexus, text)
    assert concepts(nexus, "T") == {"a": {"same_as": ["https://example.org/a", "urn:b", "urn:z"]}}
    import_text(nexus, "<urn:z> a :T ; :v 1 .")
    assert concepts(nexus, "T") == {
        "a": {"same_as": ["https://example.org/a", "urn:b", "urn:z"], "v": 1}
    }


# Again ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [PROFILE, THESAURUS])
def test_the_same_file_again_changes_nothing(text: str) -> None:
    nexus = kiprdf.Nexus.memory()
    import_text(nexus, text, metadata={"source": "a.ttl"})
    before = nexus.info()["commit"]
    made = import_text(nexus, text, metadata={"source": "a.ttl"}, define=False)
    assert nexus.info()["commit"] == before
    report = made.report()
    assert (report["concepts"]["created"], report["propositions"]["created"]) == (0, 0)


def test_a_changed_file_updates_and_keeps_the_identities() -> None:
    nexus = empty()
    import_text(nexus, ':a a :T ; rdfs:label "Old" ; :v 1 ; :w 1 .')
    import_text(nexus, ':a a :U ; rdfs:label "New" ; :v 2 .', define=False)
    assert concepts(nexus, "T") == {
        "Old": {
            "label": "New",
            "other_types": ["https://example.org/U"],
            "same_as": "https://example.org/a",
            "v": 2,
            "w": 1,
        }
    }


def test_everything_gets_the_metadata_of_the_import() -> None:
    nexus = empty()
    import_text(nexus, PROFILE, metadata={"source": "a.ttl", "imported_at": "2026-01-01T00:00:00Z"})
    for command in ('?x {type: "$ConceptType"}', '?x {type: "Agent"}', '?x (?a, "knows", ?b)'):
        rows = nexus.execute(
            f"FIND(?x.metadata.source, ?x.metadata.imported_at) WHERE {{ {command} }}"
        )
        assert set(rows[0]) == {"a.ttl"}
        assert set(rows[1]) == {"2026-01-01T00:00:00Z"}


# Blank nodes ----------------------------------------------------------------------------------


def names_of_blanks(text: str) -> set[str]:
    nexus = empty()
    import_text(nexus, text)
    return set(concepts(nexus, "B"))


CYCLE = "_:a a :B ; :next _:b . _:b a :B ; :next _:c . _:c a :B ; :next _:a ."
EQUAL_NODES = ":x a :T ; :has _:a, _:b . _:a a :B ; :v 1 . _:b a :B ; :v 1 ."
PAIRS = """_:a a :B ; :child _:c . _:b a :B ; :child _:d . _:c a :B . _:d a :B .
:x a :T ; :has _:a, _:b ."""


@pytest.mark.parametrize("text", [CYCLE, EQUAL_NODES, PAIRS])
def test_blank_nodes_that_look_the_same_are_several_concepts(text: str) -> None:
    assert len(names_of_blanks(text)) == len(set(text.split()) & {"_:a", "_:b", "_:c", "_:d"})


@pytest.mark.parametrize("text", [CYCLE, EQUAL_NODES, PAIRS])
def test_blank_nodes_are_found_again_by_other_labels_in_another_order(text: str) -> None:
    nexus = empty()
    import_text(nexus, text)
    before = nexus.info()
    statements = [s for s in text.replace("_:a", "_:z").split(" .") if s.strip()]
    import_text(nexus, " .\n".join(reversed(statements)) + " .", define=False)
    assert nexus.info() == before


def test_a_blank_node_is_named_by_what_is_around_it_and_nothing_else() -> None:
    one = names_of_blanks(":x a :T ; :has [ a :B ; :v 1 ] .")
    other = names_of_blanks(":x a :T ; :has [ a :B ; :v 1 ], [ a :B ; :v 2 ] . :y a :T .")
    assert one < other


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"_:b{n} a :B ; :next _:b{n + 1} .\n" for n in range(1_500)),
        "".join(f"_:b{n} a :B ; :next _:b{(n + 1) % 1_500} .\n" for n in range(1_500)),
        "_:x a :B .\n" + "".join("_:x :has [ a :B ] .\n" for n in range(1_500)),
        "_:b0 a :B .\n" + "".join(f"_:b{n} a :B ; :of _:b{n // 2} .\n" for n in range(1, 1_500)),
    ],
    ids=["chain", "ring", "star", "tree"],
)  # fmt: skip
def test_more_than_a_thousand_blank_nodes_that_hang_together_are_distinguished(text: str) -> None:
    made = planned(parse(PREFIXES + text, format=RdfFormat.TURTLE), empty(), define=True)
    assert len(made.concepts) in (1_500, 1_501)
    assert len({concept.name for concept in made.concepts}) == len(made.concepts)


# What kiprdf wrote ----------------------------------------------------------------------------


@pytest.mark.parametrize("profile", ["rdf11", "rdf12"])
@pytest.mark.parametrize("source", [small, demonstration, hostile])
def test_a_snapshot_becomes_the_same_elements(profile: Any, source: Any) -> None:
    nexus = source()
    copy = kiprdf.Nexus.memory(nexus.base_iri, genesis=False, clock=StoppedClock())
    if source is demonstration:
        copy = kiprdf.Nexus.memory(nexus.base_iri, clock=StoppedClock())
    quads = parse(nexus.snapshot(profile=profile), format=RdfFormat.TURTLE)
    made = planned(quads, copy, define=True)
    carry_out(made, copy)
    assert copy.snapshot(engine_metadata=False) == nexus.snapshot(engine_metadata=False)
    assert [s for s in made.skipped if not s.reason.endswith("which stays as it is")] == []


def test_a_snapshot_of_another_base_becomes_the_same_elements() -> None:
    nexus, copy = small(), empty()
    quads = parse(nexus.snapshot(), format=RdfFormat.TURTLE)
    carry_out(planned(quads, copy, source_base=nexus.base_iri, define=True), copy)
    assert copy.export() == nexus.export()


def test_concepts_of_a_snapshot_come_in_where_their_types_are_defined() -> None:
    nexus, copy = small(), empty()
    for type in ("$ConceptType", "$PropositionType"):
        for name in concepts(nexus, type):
            copy.execute(f'UPSERT {{ CONCEPT {{ {{type: "{type}", name: "{name}"}} }} }}')
    quads = parse(nexus.snapshot(), format=RdfFormat.TURTLE)
    carry_out(planned(quads, copy, source_base=nexus.base_iri), copy)
    assert concepts(copy, "Drug") == concepts(nexus, "Drug")
    assert facts(copy, "treats") == facts(nexus, "treats")


@pytest.mark.parametrize(
    ("base", "fault"),
    [
        ("http://www.w3.org/2000/", "overlaps a namespace of the W3C"),
        ("https://example.org", "does not end in '/'"),
        ("urn:kip:attribute/", "overlaps a namespace of kiprdf's own vocabulary"),
    ],
)
def test_a_base_that_no_nexus_has_is_refused(base: str, fault: str) -> None:
    with pytest.raises(kiprdf.KipError) as caught:
        import_text(empty(), ":a a :T .", source_base=base)
    assert (caught.value.code, caught.value.message) == (
        "KIP_1001",
        f"The data declare the base <{base}>, which {fault}.",
    )


# What stays as it is --------------------------------------------------------------------------

DEFINED = "its subject is a definition, and the import must not define anything"


@pytest.mark.parametrize(
    "text",
    [
        f"<{BASE}$ConceptType/T> <urn:kip:attribute/description> 1 .",
        f"<{BASE}$PropositionType/p> <urn:kip:metadata/m> 1 .",
        f"<{BASE}$ConceptType/New> a <{BASE}$ConceptType/$ConceptType> .",
        f"<{BASE}$ConceptType/T> <{BASE}$PropositionType/p> :a .",
    ],
)
def test_without_define_no_definition_is_written(text: str) -> None:
    nexus = empty()
    import_text(nexus, ":a a :T ; :p :b . :b a :T .")
    before = nexus.snapshot()
    made = import_text(nexus, text, define=False)
    assert [skipped.reason for skipped in made.skipped] == [DEFINED]
    assert nexus.snapshot() == before


def test_with_define_a_definition_is_written() -> None:
    nexus = empty()
    import_text(nexus, ":a a :T .")
    import_text(nexus, f'<{BASE}$ConceptType/T> <urn:kip:attribute/description> "mine" .')
    assert concepts(nexus, "$ConceptType")["T"]["description"] == "mine"


@pytest.mark.parametrize("name", ["$self", "$system"])
@pytest.mark.parametrize(
    "triple", ['rdfs:label "me"', "owl:sameAs :me", ":p :b", "<urn:kip:attribute/persona> 1"]
)
def test_nothing_is_said_of_the_actors_of_a_nexus(name: str, triple: str) -> None:
    nexus = kiprdf.Nexus.memory()
    import_text(nexus, ":a a :T ; :p :b . :b a :T .")
    before = nexus.snapshot()
    made = import_text(nexus, f"<{BASE}Person/{name}> {triple} .")
    assert [skipped.reason for skipped in made.skipped] == [
        "its subject is the nexus itself, which stays as it is"
    ]
    assert nexus.snapshot() == before


def test_the_metadata_of_the_import_are_its_own() -> None:
    nexus = empty()
    made = import_text(
        nexus,
        """
        :a a :T ; <urn:kip:metadata/source> "forged" ; <urn:kip:metadata/trust> 1 .
        :b a :T . :a :knows :b {| dct:source "letter" ; dct:created "2020" |} .
        """,
        METADATA,
        metadata={"source": "a.ttl"},
    )
    assert links(nexus, "knows") == [
        ({"source": "letter"}, {"source": "a.ttl", "created_at": "2020"})
    ]
    command = 'FIND(?x.metadata.source, ?x.metadata.trust) WHERE { ?x {type: "T", name: "a"} }'
    assert nexus.find(command).tuples() == (("a.ttl", 1),)
    assert [skipped.reason for skipped in made.skipped] == [
        "the metadata key 'source' is set by the import itself"
    ]


def test_a_named_graph_is_an_attribute_where_the_import_names_one() -> None:
    nexus = empty()
    import_text(nexus, ":g { :a a :T . }", format=RdfFormat.TRIG, metadata={"graph": "mine"})
    command = 'FIND(?x.attributes.graph, ?x.metadata.graph) WHERE { ?x {type: "T"} }'
    assert nexus.find(command).tuples() == (("https://example.org/g", "mine"),)


def test_facts_about_an_element_of_the_nexus_link_it() -> None:
    nexus = small()
    base = nexus.base_iri
    import_text(nexus, f":x a :T ; :cites <{base}Drug/B> ; :knows <{base}Drug/Absent> .")
    assert facts(nexus, "cites") == [("x", "B")]
    assert concepts(nexus, "T")["x"]["knows"] == f"{base}Drug/Absent"


@pytest.mark.parametrize("format", ["turtle", "jsonld", "rdfxml"])
@pytest.mark.parametrize("source", [small, demonstration])
def test_what_kiprdf_wrote_in_other_words_is_the_same_elements(format: Any, source: Any) -> None:
    nexus = source()
    iris, mapping = Iris(nexus.base_iri), Mapping.load("schema-org", "skos")
    document = io.BytesIO()
    triples = nexus.store.match(None, None, None)
    Serializer(triples, format, iris, mapping=mapping).write(document)
    quads = parsing.parse(document.getvalue(), format)
    before = nexus.snapshot()
    options = ImportOptions(mapping=mapping)
    carry_out(plan(quads, options, read_element_index(nexus.store), provenance={}), nexus)
    assert nexus.snapshot() == before


# Counterexamples that the properties found ----------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        ":T a :a . :x a :T .",
        ":x a :T ; :about :T .",
        ":x a :T ; :about <urn:kip:nexus/$ConceptType/T>, <urn:kip:nexus/T/y> . :y a :T .",
        ":x a :T ; owl:sameAs :z . :y a :T ; :knows :z .",
        "<urn:kip:nexus/T/x> <urn:kip:attribute/same_as> :z . :y a :T ; :knows :z . :z :v 1 .",
        ":x a _:class ; rdfs:label :y . _:b rdfs:label :x .",
        "<urn:kip:nexus/$ConceptType/$ConceptType> rdfs:label :x . :x a :T .",
        ":T :p :T . :T owl:sameAs :b . :b a rdf:Property .",
        ":x a :T ; :p :z . :y a :T . :x :q :y ~ :r . :r owl:sameAs :z .",
        ":x a :T ; :q :y ~ :r . :y a :T . :r owl:sameAs <urn:kip:nexus/T/x> . "
        "<urn:kip:nexus/T/x> :q :y .",
        ":x a :T ; :q :y ~ :r1 . :y a :T ; :q :x ~ :r2 . :r1 owl:sameAs :z . :r2 owl:sameAs :z .",
        "<urn:kip:nexus/$proposition/00/p> owl:sameAs :x . :x a :T .",
        "_:a a _:a . :x a :x . rdf:type a rdf:type .",
        "_:a owl:sameAs <urn:kip:nexus/Person/$self> . <urn:kip:nexus/Person/$self> a _:a .",
        "<urn:kip:nexus/$ConceptType/Thing> owl:sameAs :c . :c a :c .",
    ],
)
def test_a_second_import_finds_what_the_first_one_made(text: str) -> None:
    nexus = empty()
    import_text(nexus, text, default_type="Thing")
    before = nexus.snapshot()
    import_text(nexus, text, default_type="Thing", define=False)
    assert nexus.snapshot() == before


@pytest.mark.parametrize(
    "text",
    [
        ":c a :T ; owl:sameAs :z . :z :v 1 .",
        "_:c a :T ; owl:sameAs :z . :z owl:sameAs :y . :y :v 1 .",
        ":c a :T ; <urn:kip:attribute/same_as> :z . :z a rdf:Property ; :v 1 .",
        "_:z owl:sameAs _:z ; :v 1 . :c a :T ; owl:sameAs _:z .",
    ],
)
def test_what_is_no_concept_by_itself_is_the_one_said_to_be_the_same(text: str) -> None:
    nexus = empty()
    import_text(nexus, text)
    before = nexus.snapshot()
    (attributes,) = concepts(nexus, "T").values()
    assert attributes["v"] == 1
    import_text(nexus, text, define=False)
    assert nexus.snapshot() == before


def test_an_original_iri_stays_with_the_element_that_has_it() -> None:
    nexus = empty()
    import_text(nexus, ":a a :T ; owl:sameAs :z . :b a :T .")
    made = import_text(nexus, ":b owl:sameAs :z . :z :v 1 .")
    assert [tuple(skipped) for skipped in made.skipped] == [
        (
            "<https://example.org/b> <http://www.w3.org/2002/07/owl#sameAs> "
            "<https://example.org/z> .",
            "<https://example.org/z> is the IRI of another element",
        )
    ]
    assert concepts(nexus, "T")["a"]["v"] == 1
    assert concepts(nexus, "T")["b"] == {"same_as": "https://example.org/b"}


FACT = proposition_digits("C:T/a", "p", "C:T/b")
LINK = f"<{BASE}$proposition/{FACT}/p>"


def test_the_iri_of_a_proposition_of_the_same_data_is_an_end() -> None:
    """It was a text the first time, and an end the second."""
    nexus = empty()
    text = f":a a :T ; :p :b . :b a :T ; :about {LINK} ; :doubts {LINK} ."
    made = import_text(nexus, text)
    assert [(link.subject, link.predicate) for link in made.propositions] == [
        ("C:T/a", "p"),
        ("C:T/b", "about"),
        ("C:T/b", "doubts"),
    ]
    before = nexus.snapshot()
    import_text(nexus, text, define=False)
    assert nexus.snapshot() == before


def test_the_iri_of_a_proposition_that_is_none_is_a_text() -> None:
    nexus = empty()
    import_text(nexus, f":b a :T ; :about {LINK} .")
    assert concepts(nexus, "T")["b"]["about"] == LINK.strip("<>")


def test_a_fact_comes_behind_the_one_of_the_nexus_that_it_stands_on() -> None:
    """Its handle was used before it was given."""
    nexus = empty()
    import_text(nexus, ":a a :T ; :p :b . :b a :T .")
    made = import_text(nexus, f":a a :T ; :p :b ; :doubts {LINK} . :b a :T .")
    assert [link.predicate for link in made.propositions] == ["p", "doubts"]


def test_a_fact_that_a_merge_has_moved_keeps_its_id() -> None:
    nexus = empty()
    import_text(nexus, ":a a :T ; :p :b . :b a :T . :c a :T .")
    nexus.execute(
        'MERGE CONCEPT ?from INTO ?to WHERE { ?from {type: "T", name: "a"} '
        '?to {type: "T", name: "c"} }'
    )
    made = import_text(nexus, ":c :p :b .")
    assert [(link.key, link.key not in made.existing) for link in made.propositions] == [
        (f"P:{FACT}:p", False)
    ]
    before = nexus.snapshot()
    import_text(nexus, ":c :p :b . :b :about <urn:kip:nexus/$proposition/" + FACT + "/p> .")
    assert ("b", None) in facts(nexus, "about")
    assert nexus.snapshot() != before


def test_a_part_of_a_reifier_that_disagrees_is_reported() -> None:
    made = import_text(
        empty(), ":a a :T ; :p :b ~ :r . :b a :T . :r rdf:object :a ; rdf:reifies 1 ."
    )
    assert [skipped.triple.split()[1] for skipped in made.skipped] == [
        "<http://www.w3.org/1999/02/22-rdf-syntax-ns#object>",
        "<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies>",
    ]


# What KIP cannot name -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (":a :名前 1 .", "cannot be made an identifier"),
        (f":a :{'x' * 129} 1 .", "cannot be made an identifier"),
        (":a <urn:kip:attribute/not%20a%20key> 1 .", "cannot be made an identifier"),
        (":a <urn:kip:nexus/$PropositionType/no%20name> :b .", "cannot be made an identifier"),
        (":a <urn:kip:nexus/$PropositionType/p> :nowhere .", "not an element of the data"),
        ("<urn:kip:nexus/nothing> a :T .", "that is not that of a concept"),
        ("<urn:kip:nexus/no%20type/x> a :T .", "cannot be a concept type"),
        ("<urn:kip:nexus/T/a%00b> a :T .", "control character"),
        (f"<urn:kip:nexus/T/{'x' * 1025}> a :T .", "1025 characters"),
        ("<urn:kip:nexus/$ConceptType/no%20type> a :T .", "cannot be a definition"),
        ("<urn:kip:nexus/$proposition/zz/p> a :T .", "that is not that of a concept"),
        ("<urn:kip:vocab/null> a :T .", "vocabulary of kiprdf, not knowledge"),
        (":a rdf:type 1 .", "a type is an IRI"),
        (":c a :名前 .", "has no type that is an identifier"),
        (":a :loves :b . :a <urn:other:loves> :b .", "both become 'loves'"),
    ],
)
def test_what_kip_cannot_name_is_skipped_with_its_reason(text: str, reason: str) -> None:
    made = import_text(empty(), ":a a :T . :b a :T ." + text)
    assert [s for s in made.skipped if reason in s.reason] != [], made.skipped


# Graphs ---------------------------------------------------------------------------------------


def test_named_graphs_are_metadata() -> None:
    nexus = empty()
    made = import_text(
        nexus,
        """
        :a a :T .
        :g1 { :a :knows :b ; :v 1 . } :g2 { :a :knows :b . :b a :T . } [] { :b :v 2 . }
        <urn:kip:graph/nexus> { <urn:kip:graph/nexus> <urn:kip:vocab/commit> 7 . }
        """,
        format=RdfFormat.TRIG,
    )
    g1, g2 = "https://example.org/g1", "https://example.org/g2"
    assert links(nexus, "knows") == [({}, {"graph": [g1, g2]})]
    command = 'FIND(?x.name, ?x.metadata.graph) WHERE { ?x {type: "T"} }'
    assert sorted(nexus.find(command).tuples()) == [("a", g1), ("b", g2)]
    assert [s.reason for s in made.skipped] == [
        "the graph has no IRI; its statements are imported without a graph"
    ]


def test_what_a_graph_states_twice_counts_once() -> None:
    nexus = empty()
    text = ":g { X } GRAPH _:x { X } GRAPH _:y { X } :g { :a :p 1 } :c a :T ; :p 1, 1 ."
    made = import_text(nexus, text.replace("X", ":a a :T ; :p 1"), format=RdfFormat.TRIG)
    graphs = "?x.metadata.graph, ?x.metadata.graph_values"
    command = f'FIND(?x.name, ?x.attributes.p, {graphs}) WHERE {{ ?x {{type: "T"}} }}'
    both = ["@default", "https://example.org/g"]
    assert made.triples == 4
    assert {*map(str, nexus.find(command).tuples())} == {
        str(("a", 1, both, None)),
        str(("c", 1, None, None)),
    }


def test_which_graph_states_which_value_is_kept_where_graphs_differ() -> None:
    nexus = empty()
    import_text(
        nexus,
        """
        :g1 { :a a :T ; :population 10 ; :code "x" . :b a :T ; :population 1 . }
        :g2 { :a :population 12 ; :code "x" . }
        :c a :T ; :population 3 . :g3 { :c :code "z" . }
        """,
        format=RdfFormat.TRIG,
    )
    g1, g2, g3 = (f"https://example.org/g{number}" for number in (1, 2, 3))
    command = "FIND(?x.name, ?x.attributes.population, ?x.metadata.graph_values) "
    rows = nexus.find(command + 'WHERE { ?x {type: "T"} }').tuples()
    assert sorted(rows, key=lambda row: row[0]) == [
        (
            "a",
            [10, 12],
            {
                g1: {"@type": "https://example.org/T", "population": 10, "code": "x"},
                g2: {"population": 12, "code": "x"},
            },
        ),
        ("b", 1, None),
        ("c", 3, {g3: {"code": "z"}}),
    ]


def test_which_graph_annotates_a_fact_with_which_value_is_kept() -> None:
    nexus = empty()
    import_text(
        nexus,
        """
        :a a :T . :b a :T .
        :g1 { :a :knows :b . :r rdf:reifies <<( :a :knows :b )>> ; :certainty 0.5 . }
        :g2 { :r :certainty 0.9 . }
        """,
        format=RdfFormat.TRIG,
    )
    g1, g2 = "https://example.org/g1", "https://example.org/g2"
    ((attributes, metadata),) = links(nexus, "knows")
    assert attributes["certainty"] == [0.5, 0.9]
    assert metadata["graph_values"] == {g1: {"certainty": 0.5}, g2: {"certainty": 0.9}}


NANOPUBLICATION = """
@prefix np: <http://www.nanopub.org/nschema#> .
@prefix prov: <http://www.w3.org/ns/prov#> .
:head { :pub a np:Nanopublication ; np:hasAssertion :assertion ; np:hasProvenance :provenance . }
:assertion { :aspirin a :Drug ; :half_life 0.25 ; :treats :headache . :headache a :Symptom . }
:provenance { :assertion prov:wasAttributedTo :ann . :ann a :Person . }
"""


def test_a_nanopublication_keeps_its_graphs() -> None:
    nexus = empty()
    made = import_text(nexus, NANOPUBLICATION, format=RdfFormat.TRIG, default_type="Thing")
    assert made.skipped == []
    assertion = "https://example.org/assertion"
    assert links(nexus, "treats") == [({}, {"graph": assertion})]
    assert facts(nexus, "hasAssertion") == [("pub", "assertion")]
    assert facts(nexus, "wasAttributedTo") == [("assertion", "ann")]


# The plan -------------------------------------------------------------------------------------


def test_a_plan_of_nothing_is_an_upsert_without_blocks() -> None:
    made = import_text(empty(), "")
    assert to_upsert(made) == ast.Upsert(())
    assert made.report() == {
        "triples": 0,
        "concepts": {"created": 0, "updated": 0, "unchanged": 0},
        "propositions": {"created": 0, "updated": 0, "unchanged": 0},
        "definitions": {"concept_types": [], "predicates": []},
        "skipped": [],
        "warnings": [],
    }


def test_the_upsert_says_definitions_then_concepts_then_propositions() -> None:
    made = import_text(
        empty(), ":b a :T ; :knows :a ~ :r . :a a :T ; :v 1 . :c a :T ; :doubts :r ."
    )
    made = replace(made, definitions=made.definitions[:1], recorded=made.recorded[:1])
    assert (
        to_text(to_upsert(made))
        == """\
UPSERT {
  CONCEPT {
    {type: "$ConceptType", name: "T"}
    SET ATTRIBUTES {
      description: "Imported from RDF, where it is <https://example.org/T>.",
      same_as: "https://example.org/T"
    }
  }
  CONCEPT ?c1 {
    {type: "T", name: "a"}
    SET ATTRIBUTES {same_as: "https://example.org/a", v: 1}
  }
  CONCEPT ?c2 {
    {type: "T", name: "b"}
    SET ATTRIBUTES {same_as: "https://example.org/b"}
  }
  CONCEPT ?c3 {
    {type: "T", name: "c"}
    SET ATTRIBUTES {same_as: "https://example.org/c"}
  }
  PROPOSITION ?p4 {
    (?c2, "knows", ?c1)
    SET ATTRIBUTES {same_as: "https://example.org/r"}
  }
  PROPOSITION {
    (?c3, "doubts", ?p4)
  }
}

UPSERT {
  CONCEPT {
    {type: "$ConceptType", name: "T"}
    SET ATTRIBUTES {
      instance_schema: {v: {iri: "https://example.org/v"}},
      iri: "https://example.org/T"
    }
  }
}"""
    )


def test_ten_thousand_triples_are_planned() -> None:
    people = "".join(
        f':p{n} a foaf:Person ; foaf:name "Person {n}" ; foaf:age {n % 90} ; '
        f'foaf:knows :p{(n * 7 + 1) % 1_700} {{| dct:source "s{n}" |}} .\n'
        for n in range(1_700)
    )
    nexus = empty()
    made = import_text(nexus, people, METADATA)
    assert made.triples >= 10_000
    # Who knows himself is no proposition: 6 n + 1 is even for no n, as 1 700 is.
    assert (len(made.concepts), len(made.propositions), made.skipped) == (1_700, 1_700, [])
    assert (nexus.info()["concepts"], nexus.info()["propositions"]) == (1_702, 1_700)
