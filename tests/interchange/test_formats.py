"""Every format out, and back as the same dataset; foreign documents in, safely.

``KIPRDF_EXAMPLES`` sets how many generated nexuses are tried.
"""

from __future__ import annotations

import io
import json
import os
import random
import socket
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from functools import cache
from typing import Any, get_args

import pyoxigraph
import pyrudof
import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Triple

import kiprdf
from kiprdf import Mapping
from kiprdf.interchange.dataset import check_dataset
from kiprdf.interchange.formats import Format, Profile, format_of, parsing, reading
from kiprdf.interchange.formats.graphs import to_rdflib
from kiprdf.interchange.formats.ordering import normalized
from kiprdf.interchange.formats.parsing import parse
from kiprdf.interchange.formats.writing import Serializer
from kiprdf.rdf.iris import Iris
from tests.interchange.nexuses import SMALL, SMALL_BASE, small
from tests.interchange.pairs import triples as triples_of
from tests.interchange.test_restore import NEXUSES
from tests.long_runs import amount
from tests.nexus.support import StoppedClock
from tests.properties import strategies
from tests.properties.test_engine_equals_oracle import build

EXAMPLES = amount("EXAMPLES", 8)
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"
OTHER_BASE = "https://other.example/x/"
WAYS: list[tuple[Format, Profile]] = [
    ("turtle", "rdf11"),
    ("turtle", "rdf12"),
    ("trig", "rdf11"),
    ("trig", "rdf12"),
    ("ntriples", "rdf11"),
    ("ntriples", "rdf12"),
    ("nquads", "rdf11"),
    ("nquads", "rdf12"),
    ("jsonld", "rdf11"),
    ("rdfxml", "rdf11"),
]
FORMATS: list[Format] = list(get_args(Format))
RDFLIB = {"turtle": "turtle", "ntriples": "nt", "jsonld": "json-ld", "rdfxml": "xml"}
RUDOF = {
    "turtle": pyrudof.RDFFormat.Turtle,
    "trig": pyrudof.RDFFormat.TriG,
    "ntriples": pyrudof.RDFFormat.NTriples,
    "nquads": pyrudof.RDFFormat.NQuads,
}

# Values that some format or other cannot write directly.
VALUES: dict[str, Any] = {
    "german": {"@value": "Kopf\u0001schmerz", "@language": "de"},
    "arabic": {"@value": "م", "@language": "ar", "@direction": "rtl"},
    "controlled": {"@value": "\u0000", "@language": "ar-eg", "@direction": "ltr"},
    "as_directed": {"@value": "x", "@type": "https://www.w3.org/ns/i18n#ar_rtl"},
    "as_controlled": {"@value": "\u0000", "@type": "https://www.w3.org/ns/i18n#ar_rtl"},
    "foreign": {"@value": "\u0002", "@type": "urn:t"},
    "line_in_datatype": {"@value": "x", "@type": "urn:\u2028é&"},
    "xml": {"@value": "<a>&amp;</a>", "@type": RDF + "XMLLiteral"},
    "decimal": {"@value": "1.10", "@type": XSD + "decimal"},
    "integers": [0, -7, 2**53, -(2**63), 2**63 - 1],
    "beyond_json": 2**53 + 1,
    "least": -(2**63),
    "huge": 1e300,
    "tiny": 5e-324,
    "minus_zero": -0.0,
    "one": 1.0,
    "true": True,
    "null": None,
    "array": [1, 1.0, None, {"@value": "x"}, "\u0000\ufffe"],
    "object": {"@value": 1},
    "node": {"@id": "urn:x"},
    "json_text": '"x"',
    "keyword": "@id",
    "own_iri": "https://data.example.org/kb/Person/B",
    "statement": RDF + "Statement",
    "dots": "https://a.example/x/../y",
    "end": "]]> --> ?>",
}
OWN_MAPPING = {
    "@context": {
        "@version": 1.1,
        "urn": "https://urn.example/",
        "data": {"@id": "https://data.example/x_", "@prefix": True},
        "Person": "data:Person",
        "knows": "data:knows",
        "attributes": {
            "@id": "@nest",
            "@context": {
                "arabic": {"@id": "data:arabic", "@language": "ar", "@direction": "rtl"},
                "statement": {"@id": "data:statement", "@type": "@id"},
                "own_iri": {"@id": "data:own", "@type": "@id"},
                "dots": {"@id": "data:dots", "@type": "@id"},
                "json_text": {"@id": "data:text", "@language": "en-us"},
                "array": {"@id": "data:array", "@container": "@set"},
                "integers": {"@id": "data:integers", "@container": "@list"},
                "born": {"@id": "data:born", "@type": XSD + "date"},
                "name": "data:name",
            },
        },
        "metadata": {"@id": "@nest", "@context": {"keyword": "http://purl.org/dc/terms/type"}},
    }
}


def values() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory("https://data.example.org/kb/", genesis=False, clock=StoppedClock())
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Person"} } '
        'CONCEPT { {type: "$PropositionType", name: "knows"} } }'
    )
    nexus.execute(
        'UPSERT { CONCEPT ?b { {type: "Person", name: "B"} SET ATTRIBUTES :values } '
        'CONCEPT { {type: "Person", name: "A"} SET ATTRIBUTES { born: "1815-12-10" } '
        'SET PROPOSITIONS { ("knows", ?b) WITH METADATA :values } } }',
        values=VALUES,
    )
    return nexus


def mapping(name: str) -> Mapping | None:
    if name == "none":
        return None
    return Mapping.load("schema-org" if name == "schema-org" else OWN_MAPPING)


@cache
def nexus_of(name: str) -> tuple[str, frozenset[Triple]]:
    """The base and the dataset of one of the nexuses, in the spelling of ``restore``."""
    nexus = values() if name == "values" else NEXUSES[name]()
    return nexus.base_iri, frozenset(normalized(triples_of(nexus)))


def written(
    triples: Any, format: Format, base: str, profile: Profile = "rdf11", **options: Any
) -> bytes:
    target = io.BytesIO()
    Serializer(triples, format, Iris(base), profile=profile, **options).write(target)
    return target.getvalue()


# The same dataset again


@pytest.mark.parametrize("name", [*NEXUSES, "values"])
def test_a_dataset_is_read_back_from_every_format(name: str) -> None:
    base, triples = nexus_of(name)
    for format, profile in WAYS:
        read = reading.read(written(triples, format, base, profile), format, base)
        assert (set(read), len(read)) == (triples, len(triples)), (format, profile)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("small", "schema-org"),
        ("hostile", "schema-org"),
        ("demonstration", "schema-org"),
        ("values", "schema-org"),
        ("small", "own"),
        ("hostile", "own"),
        ("values", "own"),
    ],
)
def test_a_mapped_dataset_is_read_back_from_every_format(name: str, words: str) -> None:
    base, triples = nexus_of(name)
    vocabulary = mapping(words)
    for format, profile in WAYS:
        text = written(triples, format, base, profile, mapping=vocabulary)
        read = reading.read(text, format, base, mapping=vocabulary)
        assert set(read) == triples, (format, profile)


@pytest.mark.parametrize("words", ["none", "own"])
@pytest.mark.parametrize("name", ["small", "values"])
def test_a_dataset_moves_to_another_base(name: str, words: str) -> None:
    base, triples = nexus_of(name)
    for format, profile in WAYS:
        text = written(triples, format, base, profile, mapping=mapping(words))
        there = reading.read(text, format, OTHER_BASE, mapping=mapping(words))
        assert check_dataset(there, Iris(OTHER_BASE)) > 0, (format, profile)
        back = reading.read(written(there, format, OTHER_BASE, profile), format, base)
        assert set(back) == triples, (format, profile)


@settings(max_examples=EXAMPLES)
@given(graph=strategies.graphs())
def test_a_generated_nexus_is_read_back_from_every_format(graph: Any) -> None:
    nexus = build(graph)
    triples = set(reading.read(nexus.snapshot(), "turtle", nexus.base_iri))
    for format, profile in WAYS:
        text = written(triples_of(nexus), format, nexus.base_iri, profile)
        assert set(reading.read(text, format, nexus.base_iri)) == triples, (format, profile)


@settings(max_examples=EXAMPLES)
@given(text=st.text(st.characters(exclude_categories=["Cs"])), language=st.booleans())
def test_any_text_is_read_back_from_every_format(text: str, language: bool) -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "T"} } }')
    value = {"@value": text, "@language": "en"} if language else text
    nexus.execute('UPSERT { CONCEPT { {type: "T", name: "x"} SET ATTRIBUTES { t: :v } } }', v=value)
    triples = set(triples_of(nexus))
    for format, profile in WAYS:
        document = written(triples, format, nexus.base_iri, profile)
        read = set(reading.read(document, format, nexus.base_iri))
        assert {t for t in read if t.predicate.value.endswith("/t")} <= triples, format


def test_mapped_values_that_quote_an_iri_of_the_base_do_not_move() -> None:
    base, triples = nexus_of("values")
    vocabulary = mapping("own")
    text = written(triples, "ntriples", base, mapping=vocabulary)
    moved = reading.read(text, "ntriples", OTHER_BASE, mapping=vocabulary)
    quoted = {t.object.value for t in moved if t.predicate.value == "urn:kip:attribute/own_iri"}
    assert quoted == {"https://data.example.org/kb/Person/B"}


# The same bytes


@pytest.mark.parametrize("words", ["none", "own"])
def test_the_order_of_the_triples_leaves_no_trace(words: str) -> None:
    base, triples = nexus_of("values")
    vocabulary = mapping(words)
    ordered = sorted(triples, key=str)
    for format, profile in WAYS:
        texts = set()
        for seed in range(4):
            random.Random(seed).shuffle(ordered)
            texts.add(written(ordered, format, base, profile, mapping=vocabulary))
        assert len(texts) == 1, (format, profile)


@pytest.mark.parametrize("profile", get_args(Profile))
def test_turtle_is_the_snapshot(profile: Profile) -> None:
    nexus = small()
    text = written(triples_of(nexus), "turtle", nexus.base_iri, profile)
    assert text.decode() == nexus.snapshot(profile=profile)


@pytest.mark.parametrize("profile", get_args(Profile))
@pytest.mark.parametrize(("one", "other"), [("turtle", "trig"), ("ntriples", "nquads")])
def test_the_default_graph_of_quads_is_written_as_triples_are(
    one: Format, other: Format, profile: Profile
) -> None:
    base, triples = nexus_of("small")
    assert written(triples, one, base, profile) == written(triples, other, base, profile)


def test_a_changed_fact_changes_its_line_only() -> None:
    datasets = []
    for risk in (2, 3):
        nexus = kiprdf.Nexus.memory(SMALL_BASE, genesis=False, clock=StoppedClock())
        nexus.execute(SMALL.replace("risk: 2", f"risk: {risk}"))
        datasets.append(triples_of(nexus))
    for format, profile in WAYS:
        old, new = (
            written(dataset, format, SMALL_BASE, profile).decode().splitlines()
            for dataset in datasets
        )
        (before,) = (line for line in old if line not in new)
        (after,) = (line for line in new if line not in old)
        assert (before.replace("2", "3"), "risk" in before) == (after.replace("2", "3"), True)


def test_engine_metadata_can_be_left_out() -> None:
    base, triples = nexus_of("small")
    for format in FORMATS:
        text = written(triples, format, base, engine_metadata=False)
        assert b"_version" not in text
        assert b"_created_at" not in text


def test_engine_metadata_can_be_left_out_of_mapped_documents() -> None:
    base, triples = nexus_of("small")
    term = {"@id": "http://purl.org/dc/terms/created", "@type": XSD + "dateTime"}
    nested = {"@id": "@nest", "@context": {"_created_at": term}}
    created = {"@context": {"metadata": nested}}
    text = written(triples, "ntriples", base, mapping=Mapping.load(created), engine_metadata=False)
    assert b"created" not in text


def test_a_large_document_is_passed_on_in_pieces_whose_triples_are_counted() -> None:
    base, triples = nexus_of("demonstration")

    class Pieces(io.BytesIO):
        longest = 0

        def write(self, piece: Any) -> int:
            self.longest = max(self.longest, len(piece))
            return super().write(piece)

    for format, profile in WAYS:
        target, steps = Pieces(), []
        serializer = Serializer(triples, format, Iris(base), profile=profile)
        count = serializer.write(target, advance=steps.append)
        assert count == sum(steps) == len(parse(target.getvalue(), format)), (format, profile)
        assert len(steps) > 1, (format, profile)
        assert target.longest < len(target.getvalue()) / 2, (format, profile)


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "rdfxml"])
def test_a_document_is_never_in_memory_as_a_whole(format: Format) -> None:
    label = pyoxigraph.NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
    triples = [
        Triple(
            pyoxigraph.NamedNode(f"urn:kip:nexus/T/{n}"), label, pyoxigraph.Literal("x" * 10_000)
        )
        for n in range(600)
    ]
    with open(os.devnull, "wb") as target:
        tracemalloc.start()
        Serializer(triples, format, Iris("urn:kip:nexus/")).write(target)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    # The text has 6 MB.
    assert peak < 3_000_000


# What it looks like

NTRIPLES = f"""\
# kiprdf 1 base <https://data.example.org/kb/>
<https://data.example.org/kb/T/A> <{RDF}type> <https://data.example.org/kb/$ConceptType/T> .
<https://data.example.org/kb/T/A> <http://www.w3.org/2000/01/rdf-schema#label> "A" .
<https://data.example.org/kb/T/A> <https://data.example.org/kb/$PropositionType/p> \
<https://data.example.org/kb/T/B> .
<https://data.example.org/kb/$proposition/0123456789abcdef/p> <{RDF}reifies> \
<<( <https://data.example.org/kb/T/A> <https://data.example.org/kb/$PropositionType/p> \
<https://data.example.org/kb/T/B> )>> .
<https://data.example.org/kb/$proposition/0123456789abcdef/p> <urn:kip:metadata/sure> \
"0.5"^^<{XSD}double> .
"""
JSONLD = """\
{"@context": {"@base": "https://data.example.org/kb/"},
"@graph": [
{
  "@id": "https://data.example.org/kb/T/A",
  "@type": ["https://data.example.org/kb/$ConceptType/T"],
  "http://www.w3.org/2000/01/rdf-schema#label": [{"@value": "A"}],
  "https://data.example.org/kb/$PropositionType/p": [{"@id": "https://data.example.org/kb/T/B"}]
},
{
  "@id": "https://data.example.org/kb/$proposition/0123456789abcdef/p",
  "@type": ["http://www.w3.org/1999/02/22-rdf-syntax-ns#Statement"],
  "http://www.w3.org/1999/02/22-rdf-syntax-ns#subject": [{"@id": "https://data.example.org/kb/T/A"}],
  "http://www.w3.org/1999/02/22-rdf-syntax-ns#predicate": \
[{"@id": "https://data.example.org/kb/$PropositionType/p"}],
  "http://www.w3.org/1999/02/22-rdf-syntax-ns#object": [{"@id": "https://data.example.org/kb/T/B"}],
  "urn:kip:metadata/sure": \
[{"@value": "0.5", "@type": "http://www.w3.org/2001/XMLSchema#double"}]
}
]}
"""
COMPACTED = """\
{"@context": {
  "@base": "https://data.example.org/kb/",
  "@version": 1.1,
  "meta": "urn:kip:metadata/",
  "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
  "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
  "schema": "https://schema.org/",
  "xsd": "http://www.w3.org/2001/XMLSchema#",
  "T": "schema:Thing",
  "p": {"@id": "schema:about", "@type": "@id"}
},
"@graph": [
{
  "@id": "https://data.example.org/kb/T/A",
  "@type": "T",
  "rdfs:label": "A",
  "p": "https://data.example.org/kb/T/B"
},
{
  "@id": "https://data.example.org/kb/$proposition/0123456789abcdef/p",
  "@type": "rdf:Statement",
  "rdf:subject": {"@id": "https://data.example.org/kb/T/A"},
  "rdf:predicate": {"@id": "https://schema.org/about"},
  "rdf:object": {"@id": "https://data.example.org/kb/T/B"},
  "meta:sure": {"@value": "0.5", "@type": "xsd:double"}
}
]}
"""
RDFXML = """\
<?xml version="1.0" encoding="UTF-8"?>
<?kiprdf 1 base <https://data.example.org/kb/>?>
<rdf:RDF
    xmlns:meta="urn:kip:metadata/"
    xmlns:pred="https://data.example.org/kb/$PropositionType/"
    xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">

<rdf:Description rdf:about="https://data.example.org/kb/T/A">
    <rdf:type rdf:resource="https://data.example.org/kb/$ConceptType/T"/>
    <rdfs:label>A</rdfs:label>
    <pred:p rdf:resource="https://data.example.org/kb/T/B"/>
</rdf:Description>

<rdf:Description rdf:about="https://data.example.org/kb/$proposition/0123456789abcdef/p">
    <rdf:type rdf:resource="http://www.w3.org/1999/02/22-rdf-syntax-ns#Statement"/>
    <rdf:subject rdf:resource="https://data.example.org/kb/T/A"/>
    <rdf:predicate rdf:resource="https://data.example.org/kb/$PropositionType/p"/>
    <rdf:object rdf:resource="https://data.example.org/kb/T/B"/>
    <meta:sure rdf:datatype="http://www.w3.org/2001/XMLSchema#double">0.5</meta:sure>
</rdf:Description>
</rdf:RDF>
"""
LITTLE = [quad.triple for quad in pyoxigraph.parse(NTRIPLES, format=pyoxigraph.RdfFormat.N_TRIPLES)]
LITTLE_MAPPING = {
    "@context": {"schema": "https://schema.org/", "T": "schema:Thing", "p": "schema:about"}
}


def test_ntriples_have_triple_terms_in_the_rdf12_profile() -> None:
    assert written(LITTLE, "ntriples", SMALL_BASE, "rdf12").decode() == NTRIPLES


def test_jsonld_is_expanded_without_a_mapping() -> None:
    assert written(LITTLE, "jsonld", SMALL_BASE).decode() == JSONLD


def test_jsonld_is_compacted_with_a_mapping() -> None:
    vocabulary = Mapping.load(LITTLE_MAPPING)
    assert written(LITTLE, "jsonld", SMALL_BASE, mapping=vocabulary).decode() == COMPACTED


def test_rdfxml_declares_the_namespaces_in_use() -> None:
    assert written(LITTLE, "rdfxml", SMALL_BASE).decode() == RDFXML


def test_turtle_has_the_prefixes_of_the_mapping() -> None:
    text = written(LITTLE, "turtle", SMALL_BASE, mapping=Mapping.load(LITTLE_MAPPING)).decode()
    assert "@prefix schema: <https://schema.org/> .\n" in text
    assert "T:A a schema:Thing ;\n" in text
    assert "    schema:about T:B ;\n" in text


def test_an_empty_dataset_is_a_document_of_every_format() -> None:
    for format in FORMATS:
        text = written([], format, SMALL_BASE)
        assert (parse(text, format), reading.read(text, format, SMALL_BASE)) == ([], [])


def test_a_prefix_called_like_a_scheme_takes_no_iri_of_that_scheme() -> None:
    base, triples = nexus_of("values")
    document = json.loads(written(triples, "jsonld", base, mapping=mapping("own")))
    assert "urn" not in document["@context"]


@pytest.mark.parametrize("iri", ["https://e.example/9", "https://e.example/x,y)", RDF + "li"])
def test_a_predicate_that_is_no_element_of_xml_is_named(iri: str) -> None:
    vocabulary = Mapping.load({"@context": {"p": iri}})
    with pytest.raises(kiprdf.KipError, match="XML element") as raised:
        written(LITTLE, "rdfxml", SMALL_BASE, mapping=vocabulary)
    assert (raised.value.code, iri in raised.value.message) == ("KIP_1001", True)


def test_a_namespace_without_a_prefix_gets_one() -> None:
    vocabulary = Mapping.load(
        {"@context": {"p": "https://e.example/9a", "q": "https://e.example/b"}}
    )
    text = written(LITTLE, "rdfxml", SMALL_BASE, mapping=vocabulary).decode()
    assert 'xmlns:ns1="https://e.example/9"' in text
    assert '<ns1:a rdf:resource="https://data.example.org/kb/T/B"/>' in text


@pytest.mark.parametrize("format", ["jsonld", "rdfxml"])
def test_formats_of_rdf11_refuse_rdf12(format: Format) -> None:
    with pytest.raises(kiprdf.KipError, match=r"RDF 1\.2"):
        written(LITTLE, format, SMALL_BASE, "rdf12")


def test_an_unknown_format_is_a_clear_error() -> None:
    with pytest.raises(kiprdf.KipError, match=r"'n3'.*turtle"):
        written(LITTLE, "n3", SMALL_BASE)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "format"),
    [
        ("a.ttl", "turtle"),
        ("a.b/c.TRIG", "trig"),
        ("a.nt", "ntriples"),
        ("a.nq", "nquads"),
        ("a.jsonld", "jsonld"),
        ("a.json", "jsonld"),
        ("a.rdf", "rdfxml"),
        ("a.xml", "rdfxml"),
        ("a.owl", "rdfxml"),
        ("a.ttl.txt", None),
        ("ttl", None),
    ],
)
def test_the_suffix_selects_the_format(path: str, format: str | None) -> None:
    assert format_of(path) == format


# In other people's parsers


@pytest.fixture
def as_written() -> Any:
    """rdflib keeps literals as the text has them."""
    before = rdflib.NORMALIZE_LITERALS
    rdflib.NORMALIZE_LITERALS = False
    yield
    rdflib.NORMALIZE_LITERALS = before


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("small", "none"),
        ("demonstration", "none"),
        ("colliding types", "none"),
        ("small", "schema-org"),
        ("colliding types", "schema-org"),
    ],
)
def test_rdf11_is_one_graph_for_rdflib_in_every_format(
    name: str, words: str, as_written: None
) -> None:
    base, triples = nexus_of(name)
    vocabulary = mapping(words)
    expected = set(to_rdflib(triples, Iris(base), vocabulary))
    for format in RDFLIB:
        text = written(triples, format, base, mapping=vocabulary)  # type: ignore[arg-type]
        assert set(rdflib.Graph().parse(data=text, format=RDFLIB[format])) == expected, format


@pytest.mark.parametrize("format", RDFLIB)
def test_rdflib_reads_hostile_names_and_strings(format: Format) -> None:
    base, triples = nexus_of("hostile")
    graph = rdflib.Graph().parse(data=written(triples, format, base), format=RDFLIB[format])
    assert len(graph) == len(to_rdflib(triples, Iris(base)))


@pytest.mark.parametrize("format", RUDOF)
def test_rudof_reads_the_rdf12_profile(format: Format) -> None:
    rudof = pyrudof.Rudof(pyrudof.RudofConfig())
    for name in ("small", "hostile", "demonstration", "values"):
        base, triples = nexus_of(name)
        text = written(triples, format, base, "rdf12").decode()
        rudof.reset_data()
        rudof.read_data(text, RUDOF[format], reader_mode=pyrudof.ReaderMode.Strict)
        assert len(list(rudof.triples())) == len(triples), name


@pytest.mark.parametrize("format", RUDOF)
def test_the_rdf12_profile_is_exactly_the_default_graph(format: Format) -> None:
    base, triples = nexus_of("hostile")
    assert {q.triple for q in parse(written(triples, format, base, "rdf12"), format)} == triples


def test_a_direction_has_a_datatype_that_rdf11_parsers_read() -> None:
    base, triples = nexus_of("values")
    graph = rdflib.Graph().parse(data=written(triples, "turtle", base))
    subject = rdflib.URIRef("https://data.example.org/kb/Person/B")
    value = graph.value(subject, rdflib.URIRef("urn:kip:attribute/arabic"))
    datatype = rdflib.URIRef("https://www.w3.org/ns/i18n#ar_rtl")
    assert value == rdflib.Literal("م", datatype=datatype)


# Bases


@pytest.mark.parametrize("format", FORMATS)
def test_a_document_names_its_base(format: Format) -> None:
    base = "https://xn--4ca.example/é--x/"
    assert reading.base_of(written([], format, base).decode(), format) == base


@pytest.mark.parametrize("format", FORMATS)
def test_a_document_without_a_base_needs_one(format: Format) -> None:
    base, triples = nexus_of("small")
    text = written(triples, format, base).decode()
    if format == "jsonld":
        text = text.replace('"@base"', '"x"')
    else:
        text = "\n".join(line for line in text.splitlines() if "kiprdf 1" not in line)
    with pytest.raises(kiprdf.KipError, match="base_iri"):
        reading.read(text, format, base)
    assert set(reading.read(text, format, base, source_base=base)) == triples


def test_a_newer_format_is_refused() -> None:
    text = written([], "rdfxml", SMALL_BASE).decode().replace("kiprdf 1", "kiprdf 2")
    with pytest.raises(kiprdf.KipError, match="format 2"):
        reading.read(text, "rdfxml", SMALL_BASE)


def test_a_named_graph_is_no_part_of_a_nexus() -> None:
    text = f"# kiprdf 1 base <{SMALL_BASE}>\n<urn:a> <urn:b> <urn:c> <urn:g> .\n"
    with pytest.raises(kiprdf.KipError, match="urn:g") as raised:
        reading.read(text, "nquads", SMALL_BASE)
    assert raised.value.code == "KIP_2002"


# Foreign documents

XML = f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:u="urn:u/">'
TURTLE_PERSON = '@prefix f: <urn:f/> .\n<urn:a> f:name "Ann"@en ; f:knows [ f:name "Bob" ] .\n'


@pytest.fixture
def no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser of RDF, which would crash or take minutes, is not asked."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("the parser was asked")

    monkeypatch.setattr(parsing, "parse_rdf", refuse)


def refusal(content: str | bytes, format: Format, **options: Any) -> kiprdf.KipError:
    with pytest.raises(kiprdf.KipError) as raised:
        parse(content, format, **options)
    return raised.value


@pytest.mark.parametrize(
    ("format", "content"),
    [
        ("turtle", "<urn:a> <urn:b> 'é' ."),
        ("trig", "{ <urn:a> <urn:b> 'é' }"),
        ("ntriples", '<urn:a> <urn:b> "\\u00E9" .'),
        ("nquads", '<urn:a> <urn:b> "é" .'),
        ("jsonld", '{"@id": "urn:a", "urn:b": "é"}'),
        ("rdfxml", XML.replace("urn:u/", "urn:")
         + '<rdf:Description rdf:about="urn:a"><u:b>é</u:b></rdf:Description></rdf:RDF>'),
    ],
)  # fmt: skip
@pytest.mark.parametrize("encoded", [str, str.encode, lambda text: ("\ufeff" + text).encode()])
def test_every_format_is_read(format: Format, content: str, encoded: Callable[[str], Any]) -> None:
    (quad,) = parse(encoded(content), format)
    assert str(quad.triple) == '<urn:a> <urn:b> "é"'


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "UTF-16", "windows-1252"])
def test_xml_is_read_in_the_encoding_it_declares(encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?>{XML}<rdf:Description><u:p>é</u:p>'
    content = (text + "</rdf:Description></rdf:RDF>").encode(encoding)
    assert [quad.object.value for quad in parse(content, "rdfxml")] == ["é"]


@pytest.mark.parametrize(
    ("format", "content", "place"),
    [
        ("turtle", '<urn:a> <urn:b> "é" .\n<urn:a> <urn:b> x .', "2:17 "),
        ("trig", "<urn:g> {\n<urn:a> <urn:b> }", "2:17 "),
        ("ntriples", "<urn:a> <urn:b> <urn:c> .\n\n<urn:a> <urn:b> .", "3:17 "),
        ("nquads", "<urn:a> <urn:b> <urn:c> <urn:d> <urn:e> .", "1:33 "),
        ("jsonld", '{"@id": "urn:a",\n  "urn:b": }', "2:12 "),
        ("jsonld", '{"@graph": [\n{"@id": "urn:a"},\n{"urn:b": {"@value": 1, "@type": 3}}]}', ""),
        ("jsonld", '[{"@context": {"x": {"@id": 3}},\n"x": 1}]', ""),
        ("jsonld", '{"@id": "urn:a"', "1:16 "),
        ("rdfxml", f"{XML}\n <rdf:Description>\n</u:p></rdf:RDF>", "3:3 "),
        ("rdfxml", f"{XML}\n<rdf:Description>\n  <u:p rdf:li='3'/></rdf:Description></rdf:RDF>",
         "3:3 "),
        ("rdfxml", f"{XML}\n<rdf:Description>&eacute;</rdf:Description></rdf:RDF>", "2:18 "),
        ("rdfxml", f"{XML}\n<u:P>\n  text\n\n<u:q/></u:P></rdf:RDF>", "3:3 "),
        ("rdfxml", "", "1:1 "),
    ],
)  # fmt: skip
def test_a_broken_document_is_refused_with_line_and_column(
    format: Format, content: str, place: str
) -> None:
    error = refusal(content, format)
    assert (error.code, error.located_message[: len(place)]) == ("KIP_1001", place), error
    # A hint speaks of a place only where there is one.
    assert ("at this place" in error.hint) == bool(place), error


def test_a_text_that_is_no_utf_8_is_refused_with_line_and_column() -> None:
    error = refusal(b'<urn:a> <urn:b>\n"\xff" .', "turtle")
    assert error.located_message.startswith("2:2 "), error


@pytest.mark.parametrize(
    ("format", "content", "position", "message"),
    [
        ("jsonld", '{"@context": {"@base": "\\q/"}}', (1, 25), "escape"),
        ("jsonld", '{"@context": {"a": "urn:a"},\n"@context": {}}', (2, 1), "'@context' twice"),
        ("jsonld", '{"@context": {"a": "urn:a",\n"a": "urn:b"}, "a": 1}', (2, 1), "'a' twice"),
        ("jsonld", '{"@context": {},\n"\\u0040context": {}}', (2, 1), "'@context' twice"),
        ("jsonld", '{"urn:a": "\x00"}', (1, 12), "invalid control character."),
        ("rdfxml", b'<?xml version="1.0" encoding="iso-8859-99"?><a/>', None, "iso-8859-99"),
        ("rdfxml", b'<?xml version="1.0" encoding="windows-1259"?><a/>', None, "windows-1259"),
        ("rdfxml", b"\xff\xfe\x00\xd8", (1, 1), "UTF-16"),
        ("turtle", b"\xff\xfe<", (1, 1), "UTF-16"),
        ("turtle", 5, None, "not int"),
        (["turtle"], "", None, "no format ['turtle']"),
    ],
)  # fmt: skip
def test_what_no_reader_agrees_on_is_refused(
    format: Any, content: Any, position: tuple[int, int] | None, message: str
) -> None:
    error = refusal(content, format)
    assert (error.code, error.position) == ("KIP_1001", position), error
    assert message in error.message


@pytest.mark.parametrize("digits", ["9" * 5_000, "-" + "9" * 5_000, "0." + "1" * 5_000])
def test_a_number_that_python_does_not_read_is_refused(digits: str) -> None:
    error = refusal(f'{{"urn:p":\n{digits}}}', "jsonld")
    assert (error.code, error.position) == ("KIP_4002", (2, 1))


def test_a_broken_base_of_a_snapshot_is_refused_at_its_place() -> None:
    with pytest.raises(kiprdf.KipError) as raised:
        reading.read('{"@context": {"@base": "\\q"}}', "jsonld", SMALL_BASE)
    assert (raised.value.code, raised.value.position) == ("KIP_1001", (1, 24))


@pytest.mark.parametrize("format", ["turtle", "rdfxml", "jsonld"])
def test_a_snapshot_in_utf_16_is_read(format: Format) -> None:
    base, triples = nexus_of("small")
    text = written(triples, format, base).decode().replace('encoding="UTF-8"', 'encoding="UTF-16"')
    assert set(reading.read(text.encode("utf-16"), format, base)) == triples


@pytest.mark.parametrize("format", FORMATS)
def test_relative_iris_need_a_base(format: Format) -> None:
    content = {
        "jsonld": '{"@id": "x", "urn:p": {"@id": "#y"}}',
        "rdfxml": f'{XML}<rdf:Description rdf:about="x"><u:p rdf:resource="#y"/>'
        "</rdf:Description></rdf:RDF>",
    }.get(format, "<x> <urn:p> <#y> .")
    if format in ("ntriples", "nquads"):
        assert refusal(content, format, base_iri="urn:z").code == "KIP_1001"
        return
    (quad,) = parse(content, format, base_iri="https://e.example/d/f")
    assert (str(quad.subject), str(quad.object)) == (
        "<https://e.example/d/x>",
        "<https://e.example/d/f#y>",
    )
    if format != "jsonld":  # JSON-LD passes over relative IRIs without a base
        assert "base" in refusal(content, format).hint


def test_a_base_that_is_no_iri_is_a_clear_error() -> None:
    assert refusal("<x> <y> <z> .", "turtle", base_iri="nope").code == "KIP_1001"


def test_blank_nodes_of_two_documents_never_collide() -> None:
    labels = [
        {q.subject.value for q in parse(text, "turtle") if isinstance(q.subject, BlankNode)}
        for text in ("_:b <urn:p> 1 .", "_:b <urn:p> 2 .")
    ]
    assert labels[0].isdisjoint(labels[1])


@pytest.mark.parametrize("format", ["turtle", "jsonld"])
def test_a_document_is_read_alike_each_time(format: Format) -> None:
    text = TURTLE_PERSON if format == "turtle" else '{"urn:p": [{"urn:q": 1}, {"urn:q": 2}]}'
    assert parse(text, format) == parse(text, format)


def test_a_quad_is_given_once() -> None:
    assert len(parse("<urn:a> <urn:b> 1 , 1 .", "turtle")) == 1


NAMESPACES = "<u:a " + " ".join(f'xmlns:n{n}="urn:u"' for n in range(500)) + ">"


@pytest.mark.parametrize(
    ("format", "content"),
    [
        ("turtle", "<urn:s> <urn:p> " + "<<( " * 100_000),
        ("trig", "<urn:s> <urn:p> " + "[ <urn:p> " * 100_000),
        ("ntriples", "<urn:s> <urn:p> " + "<<( <urn:s> <urn:p> " * 100_000),
        ("nquads", "<urn:s> <urn:p> " + "<<( <urn:s> <urn:p> " * 100_000),
        ("jsonld", '{"urn:p":' * 100_000),
        ("jsonld", "[" * 100_000),
        ("jsonld", '{"@context":' * 100_000),
        ("jsonld", '{"a' + "[" * 10 + '":' + '{"a":' * 100_000),
        ("rdfxml", XML + "<rdf:Description><u:p>" * 100_000),
        ("rdfxml", XML + NAMESPACES * 9),
        ("rdfxml", XML + "<rdf:Description " + " ".join(f'u:a{n}=""' for n in range(10**5)) + "/>"),
    ],
    ids=lambda value: value[:24],
)
def test_what_would_crush_a_parser_never_reaches_it(
    format: Format, content: str, no_parser: None
) -> None:
    error = refusal(content, format)
    assert error.code == "KIP_4002", error
    assert error.position is not None


@pytest.mark.parametrize(
    ("scoped", "item"),
    [('{"@id": "urn:T", "@context": {"b": "urn:b"}}', '{"@type": "T", "b": 1}'),
     ('"urn:T"', '{"@context": {}, "@type": "T"}')],
)  # fmt: skip
def test_large_contexts_that_are_taken_up_often_never_reach_the_parser(
    scoped: str, item: str, no_parser: None
) -> None:
    terms = ",".join(f'"t{n}": "urn:{n}"' for n in range(20_000))
    items = ",".join([item] * 20_000)
    error = refusal(f'{{"@context": {{"T": {scoped}, {terms}}}, "@graph": [{items}]}}', "jsonld")
    assert error.code == "KIP_4002"


def test_a_context_that_nests_without_end_is_refused() -> None:
    context: Any = {}
    for _ in range(10_000):
        context = {"t": {"@id": "urn:t", "@context": context}}
    content = '{"@context": "https://e.example/0"}'
    error = refusal(content, "jsonld", loader=lambda url: {"@context": context})
    assert error.code == "KIP_4002"


def test_lists_may_be_written_out_in_xml() -> None:
    item = f'<rdf:Description><rdf:rest rdf:resource="{RDF}nil"/></rdf:Description>'
    for _ in range(400):
        item = f"<rdf:Description><rdf:rest>{item}</rdf:rest></rdf:Description>"
    assert len(parse(f"{XML}{item}</rdf:RDF>", "rdfxml")) == 401


# No network


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("a connection was asked for")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)


REMOTE = [
    '{"@context": "http://127.0.0.1:1/c", "x": 1}',
    '{"@context": [{}, "http://127.0.0.1:1/c"], "x": 1}',
    '{"@context": {"@import": "http://127.0.0.1:1/c"}, "x": 1}',
    '{"@context": {"y": {"@id": "urn:y", "@context": "http://127.0.0.1:1/c"}}, "y": {"x": 1}}',
    '{"urn:p": {"@context": "http://127.0.0.1:1/c", "x": 1}}',
    '{"@context": {"\\u0040import": "http://127.0.0.1:1/c"}, "x": 1}',
]


@pytest.mark.parametrize("content", REMOTE)
def test_a_remote_context_is_not_fetched(content: str, no_network: None) -> None:
    error = refusal(content, "jsonld")
    assert (error.code, "127.0.0.1" in error.message) == ("KIP_1001", True)
    assert (error.position, "loader" in error.hint) == ((1, content.index('"http') + 1), True)


@pytest.mark.parametrize("content", REMOTE)
def test_a_remote_context_comes_from_the_loader(content: str, no_network: None) -> None:
    asked = []

    def loader(url: str) -> Any:
        asked.append(url)
        return {"@context": {"x": "urn:x"}}

    quads = parse(content, "jsonld", loader=loader)
    assert asked == ["http://127.0.0.1:1/c"]
    assert "urn:x" in {quad.predicate.value for quad in quads}


def test_remote_contexts_that_include_each_other_are_refused() -> None:
    def loader(url: str) -> Any:
        return {"@context": url + "/../b" if url.endswith("a") else "https://e.example/a"}

    error = refusal('{"@context": "https://e.example/a"}', "jsonld", loader=loader)
    assert (error.code, "includes itself" in error.message) == ("KIP_1001", True)


def test_remote_contexts_without_end_are_refused() -> None:
    error = refusal(
        '{"@context": "https://e.example/0"}', "jsonld", loader=lambda url: {"@context": url + "0"}
    )
    assert error.code == "KIP_1001"


def test_a_loader_that_gives_no_context_is_named_with_the_url() -> None:
    error = refusal('{"@context": "https://e.example/0"}', "jsonld", loader=lambda url: [])
    assert "https://e.example/0" in error.message


def test_owl_imports_and_schema_locations_are_mere_triples(no_network: None) -> None:
    imports = "http://www.w3.org/2002/07/owl#imports"
    assert len(parse(f"<urn:o> <{imports}> <http://127.0.0.1:1/o> .", "turtle")) == 1
    xml = (
        f'{XML}<rdf:Description rdf:about="urn:o" xmlns:owl="http://www.w3.org/2002/07/owl#">'
        '<owl:imports rdf:resource="http://127.0.0.1:1/o"/></rdf:Description></rdf:RDF>'
    )
    assert len(parse(xml, "rdfxml")) == 1


def test_importing_the_package_loads_no_rdflib() -> None:
    program = "import kiprdf, kiprdf.interchange.formats, sys; sys.exit('rdflib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
