"""Imports that skip what is bad, and say so."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from pyoxigraph import RdfFormat, parse

import kiprdf
from kiprdf.interchange.formats import Format, lenient, parsing
from kiprdf.interchange.formats.lenient import BadParts

BOAT = '<urn:boat:{0}> a <urn:v:Boat> ; <urn:v:mast> "{0}" .'
LINES = [
    "<urn:boat:1> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:v:Boat> .",
    '<urn:boat:1> <urn:v:mast> "tall" .',
    "<urn:boat 2> <urn:v:mast> <urn:v:x> <urn:v:y> .",
    '<urn:boat:1> <urn:v:color> "no end .',
    '<urn:boat:1> <urn:v:sail> "red"@en .',
    "this is no triple",
    '<urn:boat:1> <urn:v:flag> "\\q" .',
    '<urn:boat:1> <urn:v:crew> "4" .',
]
REASONS = [
    (3, "Invalid IRI code point ' '"),
    (4, "Unexpected end of file"),
    (6, "The subject of a triple must be an IRI"),
    (7, "Unexpected escape character"),
]


def attributes(nexus: kiprdf.Nexus) -> dict[str, Any]:
    (values,) = nexus.execute('FIND(?b.attributes) WHERE { ?b {type: "Boat"} }')
    return dict(values)


def is_restored(nexus: kiprdf.Nexus) -> bool:
    other = kiprdf.Nexus.memory()
    other.restore(nexus.snapshot())
    return not nexus.diff(other)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_bad_lines_are_skipped_with_their_numbers(end: str) -> None:
    text = end.join(LINES)
    nexus = kiprdf.Nexus.memory()
    with pytest.raises(kiprdf.KipError, match="KIP_1001 3:1"):
        nexus.import_rdf("\n".join(LINES), format="ntriples", define=True)
    report = nexus.import_rdf(text, format="ntriples", define=True, lenient=True)
    assert [one["line"] for one in report["skipped"]] == [line for line, _ in REASONS]
    for one, (line, reason) in zip(report["skipped"], REASONS, strict=True):
        assert reason in one["reason"], one
        assert one["triple"] == LINES[line - 1]
    assert report["warnings"] == ["4 lines or triples are bad and left out (lenient)."]
    assert attributes(nexus) == {
        "mast": "tall", "sail": {"@value": "red", "@language": "en"}, "crew": "4",
        "same_as": "urn:boat:1",
    }  # fmt: skip
    assert is_restored(nexus)


def test_lines_that_are_no_text_or_beyond_bounds_are_bad_too() -> None:
    long = f"<urn:{'x' * 9000}> <urn:v:mast> <urn:v:x> ."
    deep = f"<urn:a> <urn:b> {'<<( <urn:a> <urn:b> ' * 200}"
    data = "\n".join([*LINES[:2], long, deep]).encode() + b'\n<urn:boat:1> <urn:v:x> "\xff" .\n'
    nexus = kiprdf.Nexus.memory()
    report = nexus.import_rdf(data, format="ntriples", define=True, lenient=True)
    assert [(one["line"], one["reason"][:30]) for one in report["skipped"]] == [
        (5, "it is not UTF-8 text"),
        (3, "The N-Triples has an IRI, or a"),
        (4, "The N-Triples nests deeper tha"),
    ]
    assert attributes(nexus)["mast"] == "tall"
    assert is_restored(nexus)


def test_all_are_counted_and_the_first_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lenient, "LISTED", 3)
    text = "\n".join([*LINES[:2], *["bad"] * 2000, LINES[-1]])
    report = kiprdf.Nexus.memory().import_rdf(
        text, format="nquads", define=True, lenient=True, dry_run=True
    )
    assert [one["line"] for one in report["skipped"]] == [3, 4, 5]
    (warning,) = report["warnings"]
    assert warning == (
        "2000 lines or triples are bad and left out (lenient); the first 3 are listed."
    )
    assert report["triples"] == 3


TURTLE = """@prefix v: <urn:v:> .
<urn:boat:1> a v:Boat ; v:mast "tall" ;
    v:owner <http://a b/> , <relative> ; v:size "3"^^<urn:t t> .
<urn:boat:1> v:crew "4" ."""
XML = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:v="urn:v:">
<v:Boat rdf:about="urn:boat:1"><v:mast>tall</v:mast><v:crew>4</v:crew>
<v:owner rdf:resource="http://a b/"/><v:owner rdf:resource="relative"/>
<v:size rdf:datatype="urn:t t">3</v:size></v:Boat></rdf:RDF>"""
JSON = json.dumps(
    {
        "@id": "urn:boat:1", "@type": "urn:v:Boat", "urn:v:mast": "tall", "urn:v:crew": "4",
        "urn:v:owner": [{"@id": "http://a b/"}, {"@id": "relative"}],
        "urn:v:size": {"@value": "3", "@type": "urn:t t"},
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "format", "lines"),
    [(TURTLE, "turtle", [3, 3, 3]), (TURTLE, "trig", [3, 3, 3]), (XML, "rdfxml", [3, 3, 4]),
     (JSON, "jsonld", [1, 1, 1])],
)  # fmt: skip
def test_triples_with_bad_iris_are_skipped(text: str, format: Format, lines: list[int]) -> None:
    nexus = kiprdf.Nexus.memory()
    with pytest.raises(kiprdf.KipError, match="KIP_1001"):
        nexus.import_rdf(text, format=format, define=True)
    report = nexus.import_rdf(text, format=format, define=True, lenient=True)
    assert sorted(one["line"] for one in report["skipped"]) == lines
    assert sorted(one["reason"] for one in report["skipped"]) == [
        "http://a b/ is not an IRI: Invalid IRI code point ' '",
        "relative is not an IRI: No scheme found in an absolute IRI",
        "urn:t t is not an IRI: Invalid IRI code point ' '",
    ]
    assert attributes(nexus) == {"mast": "tall", "crew": "4", "same_as": "urn:boat:1"}
    assert is_restored(nexus)
    assert parse(nexus.snapshot(mapping="original", only="imported"), RdfFormat.TURTLE)


def test_what_a_parser_cannot_read_at_all_stays_an_error() -> None:
    for text in (TURTLE + " <urn:a> ;", '<urn:a> <urn:b> "\\q" , <urn:c> .'):
        with pytest.raises(kiprdf.KipError, match=r"KIP_1001 [0-9]+:[0-9]+ The text is not valid"):
            kiprdf.Nexus.memory().import_rdf(text, define=True, lenient=True)


def test_an_ontology_may_be_lenient() -> None:
    text = "<urn:v:Ship> a <http://www.w3.org/2002/07/owl#Class> ; <urn:v:x> <urn:a b> ."
    report = kiprdf.Nexus.memory().import_ontology(text, lenient=True)
    assert report["definitions"]["concept_types"] == ["Ship"]
    assert [one["line"] for one in report["skipped"]] == [1]


def test_lines_are_judged_as_if_each_were_alone() -> None:
    number = random.Random(7)
    for _ in range(400):
        lines = [number.choice(LINES) for _ in range(number.randint(1, 9))]
        for _ in range(number.randint(0, 6)):
            place = number.randrange(len(lines))
            line = lines[place]
            at = number.randrange(len(line) + 1)
            lines[place] = (
                line[:at] + number.choice('<>" .\\#_\t') + line[at + number.choice((0, 1)) :]
            )
        expected, bad = [], []
        for line_number, line in enumerate(lines, 1):
            try:
                expected += list(parse(line, RdfFormat.N_TRIPLES))
            except SyntaxError:
                bad.append(line_number)
        noted = BadParts()
        assert list(parsing.quads("\n".join(lines), "ntriples", bad=noted)) == expected, lines
        assert [one.line for one in noted.first] == bad, lines


def test_a_bad_iri_of_json_ld_is_refused_at_its_place_unless_lenient() -> None:
    for bad in ("urn:boat 2", "urn:boat<2"):
        boat = {"@id": "urn:boat:1", "@type": "urn:v:Boat", "urn:v:mast": "tall"}
        for node in ({"@id": bad, "urn:v:mast": "x"}, {"@id": "urn:boat:1", bad: "x"}):
            text = json.dumps([boat, node], indent=0)
            line = text[: text.index(bad)].count("\n") + 1
            nexus = kiprdf.Nexus.memory()
            with pytest.raises(kiprdf.KipError, match=rf"KIP_1001 {line}:.*{bad} is not .*lenient"):
                nexus.import_rdf(text, format="jsonld", define=True)
            report = nexus.import_rdf(text, format="jsonld", define=True, lenient=True)
            assert [one["line"] for one in report["skipped"]] == [line]
            assert attributes(nexus) == {"mast": "tall", "same_as": "urn:boat:1"}


def test_what_json_ld_leaves_out_is_reported_once_with_its_number() -> None:
    context = {"mast": "urn:v:mast", "owner": {"@id": "urn:v:owner", "@type": "@id"}, "note": None}
    boat = {
        "@id": "urn:boat:1", "@type": ["urn:v:Boat", "Ship"], "mast": "tall", "owner": "ann",
        "note": {"@id": "urn:x", "mast": "y"}, "size": [{"width": 1}], "_:b": 1,
    }  # fmt: skip
    text = json.dumps({"@graph": [{"@context": context, **boat}, {"@id": "ann", "mast": "z"}]})
    nexus = kiprdf.Nexus.memory()
    report = nexus.import_rdf([text], format="jsonld", define=True, source="s", replace=True)
    (report,) = report["documents"]
    lost = {one["triple"]: one["reason"].split(",")[0] for one in report["skipped"]}
    once = dict.fromkeys(("Ship", "ann", "mast", "note", "size", "_:b"), "left out once")
    assert lost == {**once}
    assert attributes(nexus) == {"mast": "tall", "same_as": "urn:boat:1"}
    text = json.dumps({"@context": {**context, "@base": "urn:x:y"}, **boat, "size": 1})
    twice = nexus.import_rdf(f"[{text}, {text}]", format="jsonld", define=True, lenient=True)
    lost = {one["triple"]: one["reason"].split(",")[0] for one in twice["skipped"]}
    assert lost["size"] == lost["note"] == "left out 2 times"


def test_what_rdf_has_no_place_for_is_reported() -> None:
    context = {
        "by": {"@id": "urn:v:by", "@container": "@index"},
        "at": "@index",
        "all": "@set",
        "@direction": "rtl",
    }
    directed = {"@value": "x", "@language": "ar", "@direction": "rtl"}
    boat = {
        "@id": "urn:boat:1", "@type": "urn:v:Boat", "@index": "1", "@foo": {"@id": "urn:x"},
        "by": {"a": 1, "b": ["y"], "@none": 3}, "urn:v:note": ["x", 4], "urn:v:name": directed,
        "urn:v:crew": {"@list": ["p", "q"]}, "urn:v:flag": {"all": ["r", directed]},
        "urn:v:mast": {"@value": "tall", "@direction": "ltr", "at": "2"},
    }  # fmt: skip
    nexus = kiprdf.Nexus.memory()
    text = json.dumps({"@context": context, **boat})
    report = nexus.import_rdf(text, format="jsonld", define=True)
    lost = {one["triple"]: one["reason"].split(",")[0] for one in report["skipped"]}
    times = {"@index": "4 times", "@direction": "6 times", "@foo": "once"}
    assert lost == {key: f"left out {count}" for key, count in times.items()}
    plain = {"@id": "urn:boat:2", "@type": "urn:v:Boat", "urn:v:name": directed, "urn:v:by": [1]}
    assert nexus.import_rdf(json.dumps(plain), format="jsonld", define=True)["skipped"] == []
