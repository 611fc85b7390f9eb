"""Documents with unusual language tags, relative IRIs, and contexts that are elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.interchange.formats import Format

KEPT = " is not a language tag (BCP 47); its texts are kept without a language."
TURTLE = '<urn:a> a <urn:T> ; <urn:l> "one"@en_US, "two"@toolonglanguage, "three"@de .'
XML = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:u="urn:" xml:lang="fr">
  <u:T rdf:about="urn:a">
    <u:l xml:lang="en_US">one</u:l>
    <u:l xml:lang="toolonglanguage">two</u:l>
    <u:l xml:lang='de'>three</u:l>
  </u:T>
</rdf:RDF>"""
JSON = json.dumps(
    {
        "@id": "urn:a",
        "@type": "urn:T",
        "urn:l": [
            {"@value": "one", "@language": "en_US"},
            {"@language": "toolonglanguage", "@value": "two"},
            {"@value": "three", "@language": "de"},
        ],
    }
)
LINES = "".join(
    f'<urn:a> <{"urn:l"}> "{text}"@{tag} .\n'
    for text, tag in (("one", "en_US"), ("two", "toolonglanguage"), ("three", "de"))
)


def imported(document: str, format: Format) -> tuple[Any, list[str]]:
    """The values of a document's subject, and the warnings of its import."""
    nexus = kiprdf.Nexus.memory()
    report = nexus.import_rdf(document, format=format, define=True, default_type="T")
    ((values,),) = (nexus.execute('FIND(?a.attributes.l) WHERE { ?a {type: "T"} }'),)
    return values, report["warnings"]


@pytest.mark.parametrize(
    ("document", "format"),
    [(TURTLE, "turtle"), (TURTLE, "trig"), (LINES, "ntriples"), (LINES, "nquads"),
     (XML, "rdfxml"), (JSON, "jsonld")],
)  # fmt: skip
def test_an_unusual_language_tag_is_a_warning(document: str, format: Format) -> None:
    values, warnings = imported(document, format)
    assert sorted(values, key=str) == [
        "two",
        {"@language": "de", "@value": "three"},
        {"@language": "en-us", "@value": "one"},
    ]
    assert warnings == [
        "The language tag 'en_US' is read as 'en-US'.", "'toolonglanguage'" + KEPT
    ]  # fmt: skip


def test_an_empty_language_of_xml_is_none_and_no_warning() -> None:
    text = XML.replace("en_US", "").replace("toolonglanguage", "")
    values, warnings = imported(text, "rdfxml")
    assert sorted(values, key=str) == ["one", "two", {"@language": "de", "@value": "three"}]
    assert warnings == []


def test_what_looks_like_a_tag_inside_of_a_text_or_comment_stays() -> None:
    text = '<urn:a> <urn:l> \'say "hi"@en_US now\', "x"@b_ . # "y"@c_'
    assert imported(text, "turtle") == (['say "hi"@en_US now', "x"], ["'b_'" + KEPT])
    text = XML.replace("one<", '&lt;x xml:lang="a_"> <').replace("en_US", "en")
    values, warnings = imported(text, "rdfxml")
    assert {"@language": "en", "@value": '<x xml:lang="a_"> '} in values
    assert warnings == ["'toolonglanguage'" + KEPT]


def test_tags_of_language_maps_and_contexts_of_json_ld_are_warnings_too() -> None:
    context = {
        "@language": "x_",
        "l": {"@id": "urn:l", "@container": "@language"},
        "lang": "@language",
    }
    texts = {"en_US": "one", "toolonglanguage": ["two"], "veryverylong": "three"}
    document = {"@context": context, "@id": "urn:a", "@type": "urn:T", "l": texts,
                "urn:m": {"@value": "four", "lang": "fr_"}}  # fmt: skip
    values, warnings = imported(json.dumps(document), "jsonld")
    assert sorted(values, key=str) == ["three", "two", {"@language": "en-us", "@value": "one"}]
    assert len(warnings) == 5


def test_a_fault_behind_a_repaired_tag_keeps_its_place() -> None:
    with pytest.raises(kiprdf.KipError, match=r"2:9 The text is not valid Turtle"):
        imported('<urn:a> <urn:b> "x"@toolonglanguage, "y"@en_US .\n<urn:a> ; .', "turtle")


# Relative IRIs ------------------------------------------------------------------------------

RELATIVE = "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n<#Boat> a owl:Class ."


def same_as(nexus: kiprdf.Nexus) -> Any:
    return nexus.execute(
        'FIND(?t.attributes.same_as) WHERE { ?t {type: "$ConceptType", name: "Boat"} }'
    )


def test_relative_iris_of_an_ontology_take_the_base() -> None:
    nexus = kiprdf.Nexus.memory()
    report = nexus.import_ontology(RELATIVE, base_iri="https://example.org/boats")
    assert same_as(nexus) == ["https://example.org/boats#Boat"]
    assert report["warnings"] == []


def test_relative_iris_of_an_ontology_take_the_address_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "boats.ttl"
    path.write_text(RELATIVE)
    nexus = kiprdf.Nexus.memory()
    report = nexus.import_ontology(path)
    assert same_as(nexus) == [f"{path.as_uri()}#Boat"]
    assert report["warnings"] == [
        f"The document has relative IRIs; its address <{path.as_uri()}> is their base. "
        "Give a base_iri (--base-iri) for IRIs that do not depend on this machine."
    ]


def test_relative_iris_of_a_text_need_a_base() -> None:
    with pytest.raises(kiprdf.KipError, match="base_iri, --base-iri"):
        kiprdf.Nexus.memory().import_ontology(RELATIVE)


# Contexts -----------------------------------------------------------------------------------

URL = "https://example.org/context.jsonld"
CONTEXT = {"@context": {"Boat": "urn:v:Boat", "mast": "urn:v:mast"}}
BOAT = {"@id": "urn:joy", "@type": "Boat", "mast": 12}
OTHER = {"@context": {"mast": "urn:w:pole"}}


def masts(document: Any, context: Any, **options: Any) -> Any:
    nexus = kiprdf.Nexus.memory()
    nexus.import_rdf(json.dumps(document), format="jsonld", define=True, context=context, **options)
    return nexus.execute('FIND(?b.attributes) WHERE { ?b {type: "Boat"} }')


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "context.jsonld"
    path.write_text(json.dumps(CONTEXT))
    return path


@pytest.mark.parametrize(
    "document",
    [
        BOAT,
        [BOAT],
        {**BOAT, "@context": URL},
        {**BOAT, "@context": [URL, {"note": "urn:v:note"}]},
        {**BOAT, "@context": {"@import": URL}},
        {**BOAT, "@context": {"note": "urn:v:note"}},
    ],
)
def test_a_given_context_is_used_where_a_document_names_one_or_lacks_terms(
    document: Any, file: Path
) -> None:
    expected = [{"mast": 12, "same_as": "urn:joy"}]
    assert masts(document, CONTEXT) == expected
    assert masts(document, file) == expected
    assert masts(document, [str(file)]) == expected


def test_a_context_with_a_url_answers_that_url_only(file: Path) -> None:
    assert masts({**BOAT, "@context": URL}, {URL: file}) == [{"mast": 12, "same_as": "urn:joy"}]
    with pytest.raises(kiprdf.KipError, match="no context was given for it"):
        masts({**BOAT, "@context": URL + "x"}, {URL: file})


def test_of_several_contexts_the_one_with_the_name_answers(file: Path) -> None:
    document = {**BOAT, "@context": [URL]}
    assert masts(document, [OTHER, file]) == [{"mast": 12, "same_as": "urn:joy"}]


def test_a_loader_is_asked_only_for_what_is_not_given(file: Path) -> None:
    asked: list[str] = []

    def load(url: str) -> Any:
        asked.append(url)
        return {"@context": {"note": "urn:v:note"}}

    other = "https://example.org/other"
    document = {**BOAT, "@context": [URL, other]}
    assert masts(document, file, loader=load) == [{"mast": 12, "same_as": "urn:joy"}]
    assert asked == [other]


def test_without_a_context_nothing_is_fetched_and_the_hint_says_what_to_give() -> None:
    with pytest.raises(kiprdf.KipError) as caught:
        masts({**BOAT, "@context": URL}, None)
    assert caught.value.hint == (
        "Give the context (context, --context FILE), put it into the file, or pass a loader."
    )


@pytest.mark.parametrize(
    "url",
    ["https://schema.org", "http://schema.org/", "https://www.schema.org/",
     "https://schema.org/docs/jsonldcontext.jsonld"],
)  # fmt: skip
@pytest.mark.parametrize("given", [None, {"https://example.org/other": {"@context": {}}}])
def test_the_context_of_schema_org_is_bundled(url: str, given: Any) -> None:
    nexus = kiprdf.Nexus.memory()
    document = {
        "@context": [url, {"shelf": "urn:shelf"}],
        "@type": "Book",
        "@id": "https://example.org/book",
        "name": "Ada",
        "url": "https://example.org/page",
        "datePublished": "2020-01-02",
        "shelf": 7,
    }
    report = nexus.import_rdf(json.dumps(document), format="jsonld", context=given, define=True)
    assert (report["skipped"], report["warnings"]) == ([], [])
    (book,) = nexus.execute('FIND(?b.attributes) WHERE { ?b {type: "Book"} }')
    assert book == {
        "name": "Ada",
        "url": "https://example.org/page",
        "datePublished": "2020-01-02",
        "shelf": 7,
        "same_as": "https://example.org/book",
    }
    home = nexus.snapshot(mapping="original", only="imported", format="ntriples")
    assert sorted(home.splitlines()) == [
        "<https://example.org/book> <http://schema.org/datePublished>"
        ' "2020-01-02"^^<http://schema.org/Date> .',
        '<https://example.org/book> <http://schema.org/name> "Ada" .',
        "<https://example.org/book> <http://schema.org/url> <https://example.org/page> .",
        "<https://example.org/book> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
        " <http://schema.org/Book> .",
        '<https://example.org/book> <urn:shelf> "7"^^<http://www.w3.org/2001/XMLSchema#integer> .',
    ]


def test_only_the_context_itself_is_bundled_of_schema_org() -> None:
    text = '{"@context": "https://schema.org/Book", "@id": "urn:a", "@type": "urn:T"}'
    with pytest.raises(kiprdf.KipError, match=r"https://schema\.org/Book is not fetched"):
        kiprdf.Nexus.memory().import_rdf(text, format="jsonld")


@pytest.mark.parametrize("context", [{}, "{}", 5, {"a": 1}, "{"])
def test_what_is_no_context_is_an_error(context: Any) -> None:
    with pytest.raises(kiprdf.KipError):
        masts(BOAT, [{"x": context}] if isinstance(context, dict) else context)


def test_a_loader_that_returns_what_is_not_json_is_refused() -> None:
    document = '{"@context": "https://example.org/c", "@id": "urn:a", "@type": "urn:T"}'
    with pytest.raises(kiprdf.KipError, match="KIP_1001") as raised:
        kiprdf.Nexus.memory().import_rdf(
            document, format="jsonld", define=True, loader=lambda _: {"@context": {"p": {1, 2}}}
        )
    assert raised.value.hint == "Let the loader return what json.loads returns."


def test_a_closed_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    path.write_text("<urn:a> <urn:p> 1 .")
    with path.open() as file:
        pass
    with pytest.raises(kiprdf.KipError, match="KIP_1001") as raised:
        kiprdf.Nexus.memory().import_rdf(file)
    assert raised.value.message == "The file cannot be read: I/O operation on closed file."
    assert raised.value.hint == "Give its path, or a file that is open."
