"""RDF/XML with a document type definition: internal entities are replaced, all others refused."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.interchange.formats import guard, guard_xml, parsing
from kiprdf.interchange.formats.parsing import parse
from tests.interchange import refusals

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
ROOT = f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:u="urn:u/">'
ZOO = """<?xml version="1.0"?>

<!DOCTYPE rdf:RDF [
    <!ENTITY owl "http://www.w3.org/2002/07/owl#" >
    <!ENTITY xsd "http://www.w3.org/2001/XMLSchema#" >
    <!ENTITY rdfs "http://www.w3.org/2000/01/rdf-schema#" >
    <!ENTITY rdf "http://www.w3.org/1999/02/22-rdf-syntax-ns#" >
]>

<rdf:RDF xmlns="http://zoo.example/o#"
     xml:base="http://zoo.example/o"
     xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
     xmlns:owl="http://www.w3.org/2002/07/owl#"
     xmlns:xsd="http://www.w3.org/2001/XMLSchema#"
     xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
    <owl:Ontology rdf:about="http://zoo.example/o"/>

    <!-- http://zoo.example/o#eats -->

    <owl:ObjectProperty rdf:about="http://zoo.example/o#eats">
        <rdf:type rdf:resource="&owl;TransitiveProperty"/>
        <rdfs:domain rdf:resource="http://zoo.example/o#Animal"/>
        <rdfs:range rdf:resource="&owl;Thing"/>
    </owl:ObjectProperty>
    <owl:DatatypeProperty rdf:about="http://zoo.example/o#age">
        <rdfs:domain rdf:resource="http://zoo.example/o#Animal"/>
        <rdfs:range rdf:resource="&xsd;integer"/>
    </owl:DatatypeProperty>
    <owl:Class rdf:about="http://zoo.example/o#Animal"/>
    <owl:NamedIndividual rdf:about="http://zoo.example/o#leo">
        <rdf:type rdf:resource="http://zoo.example/o#Animal"/>
        <age rdf:datatype="&xsd;integer">7</age>
    </owl:NamedIndividual>
</rdf:RDF>
"""


def document(declarations: str, content: str) -> str:
    return (
        f"<!DOCTYPE rdf:RDF [{declarations}]>\n{ROOT}"
        f'<rdf:Description rdf:about="urn:s">{content}</rdf:Description></rdf:RDF>'
    )


def refusal(text: str) -> kiprdf.KipError:
    return refusals.refusal(text, "rdfxml")


def values(declarations: str, content: str) -> list[str]:
    return [quad.object.value for quad in parse(document(declarations, content), "rdfxml")]


@pytest.fixture
def no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """The RDF parser and the network are out of reach."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("the document was read")

    monkeypatch.setattr(parsing, "parse_rdf", refuse)
    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)


def test_an_ontology_written_by_protege_becomes_definitions(tmp_path: Path) -> None:
    path = tmp_path / "zoo.owl"
    path.write_text(ZOO)
    nexus = kiprdf.Nexus.memory()
    nexus.import_ontology(path)
    (eats,) = nexus.execute(
        'FIND(?p.attributes) WHERE { ?p {type: "$PropositionType", name: "eats"} }'
    )
    (animal,) = nexus.execute(
        'FIND(?t.attributes) WHERE { ?t {type: "$ConceptType", name: "Animal"} }'
    )
    assert eats["subject_types"] == ["Animal"]
    assert animal["instance_schema"]["age"]["item_type"] == "integer"


def test_the_same_file_is_imported_as_data(tmp_path: Path) -> None:
    path = tmp_path / "zoo.owl"
    path.write_text(ZOO)
    nexus = kiprdf.Nexus.memory()
    nexus.import_ontology(path)
    nexus.import_rdf(path, define=True, default_type="Animal")
    assert nexus.execute('FIND(?a.attributes.age) WHERE { ?a {type: "Animal", name: "leo"} }') == [
        7
    ]


def test_a_file_with_entities_says_the_same_as_without() -> None:
    start, end = ZOO.index("<!DOCTYPE"), ZOO.index("]>") + 2
    plain = ZOO[:start] + ZOO[end:]
    plain = plain.replace("&owl;", "http://www.w3.org/2002/07/owl#")
    plain = plain.replace("&xsd;", "http://www.w3.org/2001/XMLSchema#")
    assert parse(ZOO, "rdfxml") == parse(plain, "rdfxml")


@pytest.mark.parametrize(
    ("declarations", "content", "expected"),
    [
        ('<!ENTITY a "x">', "<u:p>&a;</u:p>", ["x"]),
        ("<!ENTITY a 'x\"y'>", "<u:p u:q='&a;'/>", ['x"y']),
        ("<!ENTITY a \"x'y\">", "<u:p u:q='&a;'/>", ["x'y"]),
        ('<!ENTITY a "x"><!ENTITY b "&a;&a;y">', "<u:p>&b;</u:p>", ["xxy"]),
        ('<!ENTITY a "x"><!ENTITY a "y">', "<u:p>&a;</u:p>", ["x"]),
        ('<!-- <!ENTITY a "y"> ]> --><!ENTITY a "x">', "<u:p>&a;</u:p>", ["x"]),
        ('<?p <!ENTITY a "y"> ]> ?><!ENTITY a "x">', "<u:p>&a;</u:p>", ["x"]),
        ('<!ENTITY a "&amp;&lt;&quot;">', "<u:p>&a;</u:p>", ['&<"']),
        ('<!ENTITY a "&#233;&#xE9;">', "<u:p>&a;</u:p>", ["éé"]),
        ('<!ENTITY a "&#38;#60;&#38;amp;">', "<u:p>&a;</u:p>", ["<&"]),
        ('<!ENTITY a "]]&gt;">', "<u:p>&a;</u:p>", ["]]>"]),
        ('<!ENTITY lt "&#38;#60;"><!ENTITY amp "&#38;#38;">', "<u:p>&lt;&amp;</u:p>", ["<&"]),
        ('<!ENTITY a "x">', "<!-- &b; &a; --><u:p><![CDATA[&a;]]></u:p><?p &b;?>", ["&a;"]),
        (' <!ENTITY a\n"x"\n> ', "<u:p>&a;&amp;a;</u:p>", ["x&a;"]),
    ],
)  # fmt: skip
def test_entities_are_replaced_as_xml_says(
    declarations: str, content: str, expected: list[str]
) -> None:
    content = content.replace("<u:p u:q", "<u:p rdf:resource='urn:o' u:q")
    objects = values(declarations, content)
    assert [value for value in objects if value != "urn:o"] == expected


@pytest.mark.parametrize("prolog", ["", "\n", '<?xml version="1.0"?>', "<!-- <!DOCTYPE -->\n<?p?>"])
def test_a_doctype_without_declarations_changes_nothing(prolog: str) -> None:
    text = f"{prolog}<!DOCTYPE rdf:RDF>{ROOT}<rdf:Description u:p='x'/></rdf:RDF>"
    assert [quad.object.value for quad in parse(text, "rdfxml")] == ["x"]


@pytest.mark.parametrize(
    ("content", "position"),
    [
        ("<u:p>\n&b;</u:p>", (3, 1)),
        ("&a;<u:p>\n  <u:p rdf:li='3'/></u:p>", (3, 3)),
        ("<u:p></u:q>", (2, 125)),
    ],
)
def test_faults_are_at_their_places_in_the_file(content: str, position: tuple[int, int]) -> None:
    error = refusal(document('<!ENTITY a " ">', content))
    assert (error.code, error.position) == ("KIP_1001", position), error


@pytest.mark.parametrize(
    ("doctype", "column"),
    [
        ('[<!ENTITY x SYSTEM "file:///etc/passwd">]', 20),
        ('[<!ENTITY x PUBLIC "-//X//Y" "http://127.0.0.1:1/x">]', 20),
        ('[<!ENTITY % x SYSTEM "http://127.0.0.1:1/x.dtd"> %x;]', 20),
        ('[<!ENTITY % x "y"> %x;]', 20),
        ("[%x;]", 20),
        ('[<!ENTITY x SYSTEM "x.gif" NDATA gif>]', 20),
        ('[<!ATTLIST rdf:RDF a CDATA "x">]', 20),
        ('SYSTEM "http://127.0.0.1:1/x.dtd"', 1),
        ('PUBLIC "-//X//Y" "http://127.0.0.1:1/x.dtd"', 1),
        ('SYSTEM "x.dtd" [<!ENTITY x "y">]', 1),
        ('[<!ENTITY x "&y;">]', 20),
        ('[<!ENTITY x "&x;">]', 20),
        ('[<!ENTITY x "&y;"><!ENTITY y "&x;">]', 20),
        ('[<!ENTITY x "<u:p/>">]', 20),
        ('[<!ENTITY x "&#60;u:p/>">]', 20),
        ('[<!ENTITY x "&#x3C;u:p/>">]', 20),
        ("[", 20),
    ],
)
def test_a_doctype_with_more_than_internal_entities_is_refused_at_its_place(
    doctype: str, column: int, no_parser: None
) -> None:
    text = f"\n<!DOCTYPE rdf:RDF {doctype}>{ROOT}<rdf:Description><u:p>&x;</u:p>"
    error = refusal(f"{text}</rdf:Description></rdf:RDF>")
    assert (error.code, error.position) == ("KIP_1001", (2, column)), error
    assert "internal entities" in error.hint


def many(count: int, value: str = "x") -> str:
    return "".join(f'<!ENTITY e{n} "{value}">' for n in range(count))


LAUGHS = '<!ENTITY l0 "ha">' + "".join(
    f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10)
)
BOMBS = {
    "a billion laughs": document(LAUGHS, "<u:p>&l9;</u:p>"),
    "a billion laughs in an attribute": document(LAUGHS, "<u:p u:q='&l9;'/>"),
    "quadratic": document(f'<!ENTITY e "{"x" * 8000}">', f"<u:p>{'&e;' * 100_000}</u:p>"),
    "quadratic in attributes": document(
        f'<!ENTITY e "{"x" * 8000}">', f"<u:p u:q='{'&e;' * 100_000}'/>"
    ),
    "a long entity": document(f'<!ENTITY e "{"x" * (guard.IRI + 1)}">', "<u:p>&e;</u:p>"),
    "many entities": document(many(guard_xml.ENTITIES + 1), "<u:p/>"),
    "a base of entities": document(
        f'<!ENTITY e "{"x" * 8000}">', "<u:p xml:base='urn:&e;&e;'>1</u:p>"
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_entities_that_grow_are_refused_before_they_are_replaced(
    name: str, no_parser: None
) -> None:
    error = refusal(BOMBS[name])
    assert (error.code, error.position is not None) == ("KIP_4002", True)


@pytest.mark.parametrize(
    "declarations",
    ['<!ENTITY a "%b;">', '<!ENTITY a "&b">', '<!ENTITY a "b', "<!ENTITY a>", '<!ENTITY & "b">'],
)
def test_a_broken_declaration_is_refused(declarations: str, no_parser: None) -> None:
    assert refusal(document(declarations, "<u:p>&a;</u:p>")).code == "KIP_1001"


@pytest.mark.parametrize(
    "opening", ["<!--", "<?p", "<![CDATA[", "&", "<!DOCTYPE a [<!--", "<!ENTITY a '"]
)
def test_what_is_not_closed_takes_no_time(opening: str, no_parser: None) -> None:
    assert refusal(document("<!ENTITY a 'x'>", opening * 100_000)).code == "KIP_1001"
    assert refusal(document(opening * 100_000, "")).code == "KIP_1001"
