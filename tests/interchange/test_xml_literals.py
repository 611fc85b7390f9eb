"""XML as a literal of RDF/XML, and characters that XML changes, there and back."""

from __future__ import annotations

from typing import Any

import pytest
import rdflib
from pyoxigraph import Literal

import kiprdf
from kiprdf.interchange.formats import parsing
from tests.interchange.graphs import isomorphic

XML_LITERAL = rdflib.RDF.XMLLiteral
XHTML = "http://www.w3.org/1999/xhtml"
CASES = [
    (f'<p xmlns="{XHTML}">Hi <b class="x">you</b></p>',) * 2,
    (f'<h:p xmlns:h="{XHTML}"><h:b/></h:p>', f'<h:p xmlns:h="{XHTML}"><h:b></h:b></h:p>'),
    ("<ex:a ex:b='1'/>", '<ex:a xmlns:ex="https://ex.org/" ex:b="1"></ex:a>'),
    ("a &amp; b", "a &amp; b"),
    ("<![CDATA[<x> & y]]>", "&lt;x&gt; &amp; y"),
    ("<!-- a --><br/>", "<!-- a --><br></br>"),
    ("<a z='1' b='2>1'>é&#13;</a>", '<a b="2>1" z="1">é&#xD;</a>'),
    (f'<p xmlns="{XHTML}"><q xmlns="">n</q></p> two',) * 2,
    ("", ""),
    ("<a><ex:p rdf:parseType='Literal'><b/></ex:p></a>", None),
]


def document(content: str) -> str:
    return f"""<?xml version="1.0" encoding="UTF-8"?>
        <r:RDF xmlns:r="{rdflib.RDF}" xmlns:rdf="{rdflib.RDF}" xmlns:ex="https://ex.org/">
        <r:Description r:about="https://ex.org/a"><r:type r:resource="https://ex.org/T"/>
        <ex:p r:parseType="Literal">{content}</ex:p><ex:q r:parseType = 'Literal'/>
        <ex:r>parseType="Literal"</ex:r></r:Description></r:RDF>"""


def values(text: str) -> list[tuple[str, str]]:
    literals = (quad.object for quad in parsing.parse(text, "rdfxml"))
    return [(one.value, one.datatype.value) for one in literals if isinstance(one, Literal)]


@pytest.mark.parametrize(("content", "expected"), CASES)
def test_xml_in_a_literal_is_its_canonical_form(content: str, expected: str | None) -> None:
    first, empty, other = values(document(content))
    assert empty == ("", str(XML_LITERAL))
    assert other == ('parseType="Literal"', str(rdflib.XSD.string))
    assert first[1] == str(XML_LITERAL)
    if expected is not None:
        assert first[0] == expected


@pytest.mark.parametrize("format", ["turtle", "rdfxml", "jsonld"])
@pytest.mark.parametrize("content", [case[0] for case in CASES])
def test_xml_literals_come_home_in_every_format(content: str, format: Any) -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.import_rdf(document(content), format="rdfxml", define=True)
    text = nexus.snapshot(format=format, mapping="original", only="imported")
    expected = [quad.triple for quad in parsing.parse(document(content), "rdfxml")]
    assert isomorphic([quad.triple for quad in parsing.parse(text, format)], expected)
    own = nexus.snapshot(format=format)
    copy = kiprdf.Nexus.memory(genesis=False)
    copy.restore(own, format=format)
    assert copy.snapshot() == nexus.snapshot()


def test_a_fault_after_an_xml_literal_is_shown_at_its_place() -> None:
    text = document("<b>1</b><b>2</b>").replace("<ex:r>", '<ex:r r:parseType="Resource" r:ID="1">')
    with pytest.raises(kiprdf.KipError) as error:
        parsing.parse(text, "rdfxml")
    span = error.value.span
    assert span is not None
    assert text[span.start : span.end].startswith("<ex:r")


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        ("<no:a/>", "KIP_1001", "The XML of a literal is not valid: unbound prefix."),
        ("<a>", "KIP_1001", "The text is not valid XML: mismatched tag."),
    ],
)
def test_broken_xml_in_a_literal_is_refused_with_its_place(
    content: str, code: str, message: str
) -> None:
    with pytest.raises(kiprdf.KipError) as error:
        parsing.parse(document(content), "rdfxml")
    assert (error.value.code, error.value.message) == (code, message)
    assert error.value.span is not None


def test_namespaces_repeated_in_many_literals_are_bounded() -> None:
    namespace, many = "https://ex.org/" + "a" * 8_000, '<ex:p r:parseType="Literal"><n:a/></ex:p>'
    text = document("").replace("<ex:r>", many * 2_000 + "<ex:r>")
    text = text.replace("xmlns:r=", f'xmlns:n="{namespace}" xmlns:r=')
    with pytest.raises(kiprdf.KipError, match="KIP_4002"):
        parsing.parse(text, "rdfxml")
    few = text.replace(many * 2_000, many)
    assert sum(namespace in value for value, _ in values(few)) == 1


TEXTS = [r"x\r\ny", r"\r", r"lone\rcr", r"\n a\tb \n", r"]]> &#xD; <a> \"", r"\u0085\u2028é"]


@pytest.mark.parametrize("text", TEXTS)
def test_no_character_of_a_text_is_changed_by_rdf_xml(text: str) -> None:
    turtle = f'@prefix : <https://ex.org/> . :a a :T ; :p "{text}" ; :q "{text}"@en-GB .'
    turtle += f' :a :r "{text}"^^:d .'
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.import_rdf(turtle, define=True)
    written = nexus.snapshot(format="rdfxml", mapping="original", only="imported")
    assert "\r" not in written
    assert isomorphic(
        rdflib.Graph().parse(data=written, format="xml"), rdflib.Graph().parse(data=turtle)
    )
    assert isomorphic(
        [quad.triple for quad in parsing.parse(written, "rdfxml")],
        [quad.triple for quad in parsing.parse(turtle, "turtle")],
    )
