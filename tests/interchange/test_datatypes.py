"""Texts and datatypes; Oxigraph's casts are the second opinion."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal, NamedNode, Store

from kiprdf.interchange.mapping.datatypes import fits
from kiprdf.rdf import vocab

CASES = {
    "boolean": (["true", "0"], ["True", "yes", "", "2"]),
    "integer": (["0", "-5", "+7", "007"], ["1.0", "", "1e3", "٣"]),
    "decimal": (["1", "1.10", "-.5", "5."], ["1e3", ".", "", "INF"]),
    "double": (["1", "1e3", "-1.5E-2", "INF", "NaN"], ["", "e3", "1e"]),
    "date": (
        ["2026-01-01", "2024-02-29", "2000-02-29Z", "2026-12-31+14:00", "-0044-03-15"],
        ["2026-02-29", "1900-02-29", "2026-1-1", "2026-13-01", "2026-04-31", "26-01-01", "2026-01"],
    ),
    "dateTime": (
        ["2026-01-01T00:00:00", "2026-01-01T23:59:59.999Z", "2026-01-01T12:00:00-05:00"],
        ["2026-01-01", "2026-01-01T25:00:00", "2026-01-01 00:00:00", "2026-02-30T00:00:00Z"],
    ),
    "time": (["23:59:59", "00:00:00.5Z"], ["24:00:01", "1:00:00", "12:00"]),
    "gYear": (["2026", "-0001", "12026"], ["26", "02026x"]),
    "gYearMonth": (["2026-12"], ["2026-13", "2026"]),
    "gMonthDay": (["--12-31Z"], ["--02-30", "--04-31"]),
    "duration": (["P1Y", "PT1.5S", "-P1Y2M3DT4H5M6S"], ["P", "PT", "1Y", "P1S"]),
    "dayTimeDuration": (["P3D", "PT1H"], ["P1Y", "P"]),
    "yearMonthDuration": (["P1Y2M"], ["P1D", "P"]),
}
OWN = {
    # Here XML Schema says otherwise than Oxigraph.
    "double": (["-INF"], ["inf", "Infinity"]),
    "gMonthDay": (["--02-29"], []),
    # These Oxigraph does not cast.
    "byte": (["-128", "127"], ["-129", "128"]),
    "unsignedByte": (["0", "255"], ["-1", "256"]),
    "long": (["9223372036854775807"], ["9223372036854775808"]),
    "positiveInteger": (["1"], ["0"]),
    "negativeInteger": (["-1"], ["0"]),
    "dateTimeStamp": (["2026-01-01T00:00:00Z"], ["2026-01-01T00:00:00"]),
    "gMonth": (["--12"], ["--13"]),
    "gDay": (["---31"], ["---32"]),
    "anyURI": (["https://ex.org/é", "a"], ["a b", "<>"]),
    "hexBinary": (["0aFF", ""], ["0", "xx"]),
    "base64Binary": (["YWI=", ""], ["YWI", "?"]),
    "language": (["en", "zh-Hans"], ["", "e n"]),
    "token": (["a b", ""], [" a", "a  b"]),
    "NCName": (["a.b"], ["1a", "a:b"]),
}


def pairs(cases: dict[str, tuple[list[str], list[str]]]) -> list[tuple[str, str, bool]]:
    return [
        (name, text, good)
        for name, both in cases.items()
        for good, texts in zip((True, False), both, strict=True)
        for text in texts
    ]


@pytest.mark.parametrize(("name", "text", "expected"), pairs(CASES) + pairs(OWN))
def test_a_text_fits_its_datatype_or_not(name: str, text: str, expected: bool) -> None:
    assert fits(text, NamedNode(vocab.XSD + name)) is expected


@pytest.mark.parametrize(("name", "text", "expected"), pairs(CASES))
def test_oxigraph_agrees(name: str, text: str, expected: bool) -> None:
    cast = f"<{vocab.XSD}{name}>({Literal(text)})"
    assert bool(Store().query(f"ASK {{ BIND({cast} AS ?v) FILTER(BOUND(?v)) }}")) is expected


def test_a_datatype_of_others_takes_every_text() -> None:
    assert fits("anything", NamedNode("https://ex.org/own"))
