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


NAMESPACES = f'xmlns:rdf="{rdflib.RDF}" xmlns="https://ex.org/" xmlns:e="https://ex.org/"'
IN_TWO_PREFIXES = [
    ('<b e:x="1">t</b>', '<b xmlns="{0}" xmlns:e="{0}" e:x="1">t</b>'),
    ('<e:b x="2" e:x="1"/>', '<e:b xmlns:e="{0}" x="2" e:x="1"></e:b>'),
    ('<b xmlns="" e:x="1"/>', '<b xmlns:e="{0}" e:x="1"></b>'),
    ('<b xmlns="urn:b"><e:c/><c/></b>', '<b xmlns="urn:b"><e:c xmlns:e="{0}"></e:c><c></c></b>'),
    (
        '<e:b xmlns:e="urn:e" xmlns:f="https://ex.org/"><f:c e:z="1"/></e:b>',
        '<e:b xmlns:e="urn:e"><f:c xmlns:f="{0}" e:z="1"></f:c></e:b>',
    ),
    ('<b xml:lang="de"/><?p a?>', '<b xmlns="{0}" xml:lang="de"></b><?p a?>'),
]


@pytest.mark.parametrize(("content", "expected"), IN_TWO_PREFIXES)
def test_names_in_xml_literals_keep_their_namespaces(content: str, expected: str) -> None:
    text = f"""<rdf:RDF {NAMESPACES}><rdf:Description rdf:about="https://ex.org/a">
        <p rdf:parseType="Literal">{content}</p></rdf:Description></rdf:RDF>"""
    assert values(text) == [(expected.format("https://ex.org/"), str(XML_LITERAL))]


SPACE = {
    "line ends of a text": ("<p>a\r\nb\rc\n\nd\r\r\n</p>", "a\nb\nc\n\nd\n\n"),
    "references": ("<p>a&#13;&#xD;\r\n&#10;</p>", "a\r\r\n\n"),
    "a section": ('<p><![CDATA[<a b="\r\n\t"/>\r]]></p>', '<a b="\n\t"/>\n'),
    "what looks like a value": ('<p>a="\t\n"</p>', 'a="\t\n"'),
    "a value": ('<rdf:Description e:p="a\tb\nc\r\nd&#9;&#10;&#13;e"/>', "a b c d\t\n\re"),
    "a value in apostrophes": ("<rdf:Description e:p='\">\t'/>", '"> '),
    "after a comment": ('<!-- <a b="\t> -->\r\n<rdf:Description\r\n e:p="a\tb"/>', "a b"),
}


@pytest.mark.parametrize("case", SPACE)
def test_line_ends_and_values_are_those_that_xml_parsers_read(case: str) -> None:
    content, expected = SPACE[case]
    if "<p>" in content:
        content = f"<rdf:Description>{content}</rdf:Description>"
    text = f"<rdf:RDF\r\n{NAMESPACES}>\r\n{content}\r\n</rdf:RDF>\r\n"
    assert [value for value, _ in values(text)] == [expected]
    (other,) = rdflib.Graph().parse(data=text.encode(), format="xml").objects()
    assert str(other) == expected


def test_raw_space_in_an_xml_literal_is_that_of_xml_parsers() -> None:
    text = f"""<rdf:RDF\r\n{NAMESPACES}><rdf:Description rdf:about="https://ex.org/a">
        <p rdf:parseType="Literal"><b c="1\t2">x\r\ny</b></p></rdf:Description></rdf:RDF>"""
    ((value, _),) = values(text)
    assert value == '<b xmlns="https://ex.org/" c="1 2">x\ny</b>'


def test_a_fault_after_raw_space_is_shown_at_its_place() -> None:
    text = f"""<rdf:RDF {NAMESPACES}>\r\n<rdf:Description e:p="a\tb\r\nc">\r
        <p rdf:parseType="Resource" rdf:ID="1">\r\n</p></rdf:Description></rdf:RDF>"""
    with pytest.raises(kiprdf.KipError) as error:
        parsing.parse(text, "rdfxml")
    span = error.value.span
    assert span is not None
    assert text[span.start : span.end] == '<p rdf:parseType="Resource" rdf:ID="1">'


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
