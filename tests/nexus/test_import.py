"""Foreign RDF is imported completely or not at all, once, with its provenance."""

from __future__ import annotations

import io
import itertools
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st

import kiprdf
from tests.cases import each_case
from tests.long_runs import amount
from tests.nexus.support import (
    StoppedClock,
    commit,
    dataset,
    element,
    empty,
    facts,
    restored,
    untouched,
)

EXAMPLES = amount("EXAMPLES", 4)
FIRST = "2026-01-02T03:04:05.678Z"
LATER = "2026-01-02T03:05:05.678Z"
PREFIXES = """\
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix : <https://example.org/> .
"""
PEOPLE = (
    PREFIXES
    + """\
:ann a foaf:Person ; foaf:name "Ann" ; foaf:age 30 ; foaf:title "Dr."@en ;
  foaf:knows :bob {| dct:source "a party" |}, [ a foaf:Person ; foaf:name "Nobody" ] .
:bob a foaf:Person ; foaf:name "Bob" ; foaf:nick ( "b" "bobby" ) .
"""
)
WORDS = ["foaf", "dcterms"]
CORE = PREFIXES + (
    '<urn:kip:nexus/$ConceptType/$ConceptType> a <urn:kip:nexus/$ConceptType/$ConceptType> ; '
    '<urn:kip:attribute/description> "mine" .\n'
    '<urn:kip:nexus/Person/$self> a foaf:Person ; '
    '<urn:kip:attribute/core_directives> "obey" ; foaf:nick "me" .\n'
)  # fmt: skip


def bundled(**options: Any) -> kiprdf.Nexus:
    return empty(genesis=True, **options)


def refusal(nexus: kiprdf.Nexus, source: Any, **options: Any) -> kiprdf.KipError:
    """The error of an import, which changes nothing."""
    with untouched(nexus), pytest.raises(kiprdf.KipError) as raised:
        nexus.import_rdf(source, **options)
    return raised.value


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("an import opens no connection")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)


# What comes in --------------------------------------------------------------------------------


def test_foreign_people_are_concepts_and_propositions_with_provenance(tmp_path: Path) -> None:
    path = tmp_path / "people.ttl"
    path.write_text(PEOPLE)
    nexus = bundled()
    report = nexus.import_rdf(path, mapping=WORDS, metadata={"author": "Ann"})
    assert report["concepts"] == {"created": 3, "updated": 0, "unchanged": 0}
    assert report["propositions"] == {"created": 2, "updated": 0, "unchanged": 0}
    ann = element(nexus, "C:Person/Ann")
    assert ann["attributes"] == {
        "age": 30,
        "name": "Ann",
        "title": {"@language": "en", "@value": "Dr."},
        "same_as": "https://example.org/ann",
    }
    expected = {"author": "Ann", "imported_at": FIRST, "source": "people.ttl"}
    assert {key: ann["metadata"].get(key) for key in expected} == expected
    assert element(nexus, "C:Person/Bob")["attributes"]["handle"] == ["b", "bobby"]
    rows = nexus.find(
        "FIND(?l.attributes.source, ?l.metadata.source, ?l.metadata.imported_at) WHERE { "
        '?l ({type: "Person", name: "Ann"}, "knows", {type: "Person", name: "Bob"}) }'
    )
    assert rows.tuples() == (("a party", "people.ttl", FIRST),)


def test_everything_that_is_imported_says_from_where_and_when(tmp_path: Path) -> None:
    path = tmp_path / "people.ttl"
    path.write_text(PEOPLE.replace(' {| dct:source "a party" |}', ""))
    nexus = empty()
    nexus.import_rdf(path, mapping=WORDS, define=True)
    subjects = {line[0] for line in facts(nexus) if line[1].endswith("_version>")}
    provenance = {
        key: {line[0] for line in facts(nexus) if line[1:] == (f"<urn:kip:metadata/{key}>", value)}
        for key, value in (("source", '"people.ttl"'), ("imported_at", f'"{FIRST}"'))
    }
    assert len(subjects) == 7
    assert provenance == {"source": subjects, "imported_at": subjects}


def test_every_kind_of_source_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "people.ttl"
    path.write_text(PEOPLE)
    nexuses = []
    with path.open() as text, path.open("rb") as binary:
        for source in (path, str(path), text, binary):
            nexuses.append(empty())
            nexuses[-1].import_rdf(source, mapping=WORDS, define=True)
    assert len({nexus.snapshot() for nexus in nexuses}) == 1
    unnamed = []
    for source in (PEOPLE, io.StringIO(PEOPLE), io.BytesIO(PEOPLE.encode())):
        unnamed.append(empty())
        unnamed[-1].import_rdf(source, mapping=WORDS, define=True)
    assert len({nexus.snapshot() for nexus in unnamed}) == 1


@pytest.mark.parametrize("suffix", [".nt", ".nq", ".trig", ".jsonld", ".rdf", ".owl"])
def test_every_format_says_the_same(suffix: str, tmp_path: Path) -> None:
    plain = PEOPLE.replace(' {| dct:source "a party" |}', "")
    quads = pyoxigraph.parse(plain, format=pyoxigraph.RdfFormat.TURTLE)
    engine_format = pyoxigraph.RdfFormat.from_extension(suffix.replace("owl", "rdf")[1:])
    path = tmp_path / f"people{suffix}"
    pyoxigraph.serialize((quad.triple for quad in quads), str(path), format=engine_format)
    nexus = bundled()
    assert nexus.import_rdf(path, mapping=WORDS)["concepts"]["created"] == 3
    assert element(nexus, "C:Person/Bob")["attributes"]["handle"] == ["b", "bobby"]


# One transaction ------------------------------------------------------------------------------


def test_an_import_is_one_commit() -> None:
    nexus = bundled()
    before = commit(nexus)
    nexus.import_rdf(PEOPLE, mapping=WORDS)
    assert commit(nexus) == before + 1


def test_what_is_not_defined_is_listed_and_nothing_is_written() -> None:
    error = refusal(empty(), PEOPLE, mapping=WORDS)
    assert error.code == "KIP_2001"
    assert "'Person'" in error.message
    assert "'knows'" in error.message


def test_a_strict_nexus_refuses_what_its_schema_does_not_allow() -> None:
    faulty = PEOPLE.replace('foaf:nick ( "b" "bobby" )', "foaf:nick 7")
    nexus = bundled(strict_schema=True)
    schema = '{ handle: { type: "string", is_required: false } }'
    nexus.execute(
        f'UPSERT {{ CONCEPT {{ {{type: "$ConceptType", name: "Person"}} '
        f"SET ATTRIBUTES {{ instance_schema: {schema} }} }} }}"
    )
    error = refusal(nexus, faulty, mapping=WORDS)
    assert error.code == "KIP_2003"
    assert refusal(nexus, faulty, mapping=WORDS, dry_run=True).message == error.message
    nexus.import_rdf(PEOPLE.replace('foaf:nick ( "b" "bobby" )', 'foaf:nick "b"'), mapping=WORDS)


def test_everything_that_the_schema_does_not_allow_is_reported_at_once() -> None:
    error = refusal(bundled(strict_schema=True), ANN + BOB, mapping="foaf")
    assert (error.code, error.message) == (
        "KIP_2002",
        "4 violations of the schema: "
        "Person 'Ann' lacks the required attribute 'id'. "
        "Person 'Ann' lacks the required attribute 'person_class'. "
        "Person 'Bob' lacks the required attribute 'id'. "
        "Person 'Bob' lacks the required attribute 'person_class'.",
    )
    many = "".join(f':p{n} a foaf:Person ; foaf:name "P{n}" . ' for n in range(6))
    error = refusal(bundled(strict_schema=True), PREFIXES + many, mapping="foaf")
    assert error.message.startswith("12 violations of the schema: Person 'P0' lacks ")
    assert error.message.endswith(
        "Person 'P4' lacks the required attribute 'person_class'. And 2 more."
    )


def test_the_core_schema_and_the_nexus_itself_stay_as_they_are() -> None:
    nexus = bundled()
    protected = ("C:$ConceptType/$ConceptType", "C:Person/$self")
    before = [element(nexus, id)["attributes"] for id in protected]
    report = nexus.import_rdf(CORE, mapping=WORDS)
    after = [element(nexus, id)["attributes"] for id in protected]
    assert after == before
    assert {skipped["reason"] for skipped in report["skipped"]} == {
        "its subject belongs to the core schema, which stays as it is",
        "its subject is the nexus itself, which stays as it is",
    }


def test_a_mapping_does_not_bypass_the_protection() -> None:
    own = {"@context": {"attributes": {"@id": "@nest", "@context": {
        "core_directives": "https://example.org/rules"}}}}  # fmt: skip
    nexus = bundled()
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Person", name: "$self"} '
        'SET ATTRIBUTES { same_as: "https://example.org/me" } } }'
    )
    before = element(nexus, "C:Person/$self")["attributes"]["core_directives"]
    text = PREFIXES + ':me a foaf:Person ; foaf:name "$self" ; :rules "obey" .'
    report = nexus.import_rdf(text, mapping=[*WORDS, own])
    assert {skipped["reason"] for skipped in report["skipped"]} == {
        "its subject is the nexus itself, which stays as it is"
    }
    assert element(nexus, "C:Person/$self")["attributes"]["core_directives"] == before


def test_a_person_named_self_is_not_merged_into_the_nexus_itself() -> None:
    nexus = bundled()
    nexus.import_rdf(PREFIXES + ':x a foaf:Person ; foaf:name "$self" .', mapping=WORDS)
    names = nexus.execute('FIND(?p.name) WHERE { ?p {type: "Person"} }')
    assert sorted(names) == ["$self", "$self (x)", "$system"]


def test_an_ontology_does_not_write_the_core_schema() -> None:
    text = PREFIXES + (
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        ':Domain a owl:Class ; rdfs:comment "mine" . :Sea a owl:Class ; rdfs:comment "wet" .\n'
        ':belongs_to_domain a owl:ObjectProperty ; rdfs:comment "mine" ; rdfs:domain :Sea .'
    )
    nexus = bundled()
    core = ("C:$ConceptType/Domain", "C:$PropositionType/belongs_to_domain")
    before = [element(nexus, id) for id in core]
    report = nexus.import_ontology(text)
    assert [element(nexus, id) for id in core] == before
    assert report["definitions"] == {"concept_types": ["Sea"], "predicates": []}
    assert [skipped["reason"] for skipped in report["skipped"]] == [
        "'Domain' belongs to the core schema; it stays as it is",
        "'belongs_to_domain' belongs to the core schema; it stays as it is",
    ]


def test_the_schema_of_another_nexus_is_imported() -> None:
    other = bundled(base_iri="https://other.example/kb/")
    other.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Boat"} '
                  'SET ATTRIBUTES { description: "It floats." } } }')  # fmt: skip
    nexus = bundled()
    assert "Boat" in nexus.import_ontology(other.schema())["definitions"]["concept_types"]
    described = nexus.execute('DESCRIBE CONCEPT TYPE "Boat"')
    assert "It floats." in json.dumps(described)


def test_metadata_that_the_engine_maintains_are_refused() -> None:
    error = refusal(bundled(), PEOPLE, mapping=WORDS, metadata={"_version": 9})
    assert error.code == "KIP_2002"


# Dry runs -------------------------------------------------------------------------------------


def test_a_dry_run_reports_what_the_import_does_and_writes_nothing() -> None:
    nexus = empty()
    with untouched(nexus):
        report = nexus.import_rdf(PEOPLE, mapping=WORDS, define=True, dry_run=True)
    assert nexus.import_rdf(PEOPLE, mapping=WORDS, define=True) == report
    assert report["definitions"] == {"concept_types": ["Person"], "predicates": ["knows"]}


def test_a_nexus_that_is_open_read_only_lets_an_import_be_tried(tmp_path: Path) -> None:
    kiprdf.Nexus.open(tmp_path / "kb", clock=StoppedClock()).close()
    with kiprdf.Nexus.open(tmp_path / "kb", read_only=True) as nexus:
        assert refusal(nexus, PEOPLE, mapping=WORDS).code == "KIP_1001"
        with untouched(nexus):
            report = nexus.import_rdf(PEOPLE, mapping=WORDS, dry_run=True, metadata={"source": "s"})
            assert refusal(nexus, "<urn:x> a <urn:Nonsense> .", dry_run=True).code == "KIP_2001"
            bad = {"_version": 1}
            error = refusal(nexus, PEOPLE, mapping=WORDS, dry_run=True, metadata=bad)
            assert error.code == "KIP_2002"
            assert nexus.import_ontology(CORE, dry_run=True)["triples"] > 0
    kiprdf.Nexus.open(tmp_path / "kb", strict_schema=True).close()
    with kiprdf.Nexus.open(tmp_path / "kb", read_only=True) as nexus:
        assert "lacks" in refusal(nexus, PEOPLE, mapping=WORDS, dry_run=True).message
    with kiprdf.Nexus.open(tmp_path / "kb", strict_schema=False) as nexus:
        assert nexus.import_rdf(PEOPLE, mapping=WORDS, metadata={"source": "s"}) == report


# Again ----------------------------------------------------------------------------------------


def imported_twice(first: str, second: str) -> tuple[kiprdf.Nexus, frozenset[Any], frozenset[Any]]:
    """A nexus, and the lines that went and came with the second import, a minute later."""
    clock = StoppedClock()
    nexus = empty(clock=clock)
    nexus.import_rdf(first, mapping=WORDS, define=True)
    before = dataset(nexus)
    clock.forward(minutes=1)
    nexus.import_rdf(second, mapping=WORDS, define=True)
    after = dataset(nexus)
    return nexus, before - after, after - before


def test_the_same_file_again_changes_nothing_at_all() -> None:
    _, gone, come = imported_twice(PEOPLE, PEOPLE)
    assert (gone, come) == (frozenset(), frozenset())


def test_the_report_says_what_is_created_updated_and_unchanged() -> None:
    nexus = bundled(clock=StoppedClock())
    created = nexus.import_rdf(PEOPLE, mapping=WORDS)
    assert created["concepts"] == {"created": 3, "updated": 0, "unchanged": 0}
    nexus._engine.clock.forward(minutes=1)  # type: ignore[attr-defined]
    again = nexus.import_rdf(PEOPLE, mapping=WORDS)
    assert again["concepts"] == {"created": 0, "updated": 0, "unchanged": 3}
    assert again["propositions"] == {"created": 0, "updated": 0, "unchanged": 2}
    changed = PEOPLE.replace("30", "31").replace("a party", "a ball")
    tried = nexus.import_rdf(changed, mapping=WORDS, dry_run=True)
    assert tried["concepts"] == {"created": 0, "updated": 1, "unchanged": 2}
    assert tried["propositions"] == {"created": 0, "updated": 1, "unchanged": 1}
    assert nexus.import_rdf(changed, mapping=WORDS) == tried


def test_a_snapshot_with_an_invalid_base_is_refused() -> None:
    text = f"# kiprdf 1 base <http://www.w3.org/2002/>\n{PEOPLE}"
    error = refusal(bundled(), text, mapping=WORDS)
    assert (error.code, error.message) == (
        "KIP_1001",
        "The data declare the base <http://www.w3.org/2002/>, "
        "which overlaps a namespace of the W3C.",
    )


def test_the_same_triples_in_another_order_change_nothing_at_all() -> None:
    head, _, body = PEOPLE.partition(":ann a")
    ann, _, bob = f":ann a{body}".partition(":bob a")
    _, gone, come = imported_twice(PEOPLE, f"{head}:bob a{bob}{ann}")
    assert (gone, come) == (frozenset(), frozenset())


def test_a_changed_value_changes_its_concept_only() -> None:
    nexus, gone, come = imported_twice(PEOPLE, PEOPLE.replace("30", "31"))
    knowledge = [line for line in come if line[0] == "None"]
    assert {line[1] for line in knowledge} == {"<urn:kip:nexus/Person/Ann>"}
    assert sorted(line[2].strip("<>").rsplit("/", 1)[1] for line in knowledge) == [
        "_updated_at", "_version", "age", "imported_at",
    ]  # fmt: skip
    assert len(gone) == len(come)
    ann = element(nexus, "C:Person/Ann")
    assert (ann["attributes"]["age"], ann["metadata"]["imported_at"]) == (31, LATER)
    assert element(nexus, "C:Person/Bob")["metadata"]["imported_at"] == FIRST


def test_a_changed_name_does_not_double_a_person() -> None:
    nexus, _, _ = imported_twice(PEOPLE, PEOPLE.replace('"Bob"', '"Robert"'))
    names = sorted(nexus.execute('FIND(?p.name) WHERE { ?p {type: "Person"} }'))
    assert names == ["Ann", "Bob", "Nobody"]


def test_values_of_an_import_are_added_to_the_existing_ones() -> None:
    more = ':cid a foaf:Person ; foaf:name "Cid" ; foaf:knows :ann .\n'
    nexus, gone, come = imported_twice(PEOPLE, PEOPLE + more)
    assert {line[0] for line in gone} == {"<urn:kip:graph/nexus>"}  # the count of commits
    new = {line[1] for line in come if line[0] == "None"}
    assert len(new) == 2
    assert "<urn:kip:nexus/Person/Cid>" in new
    assert nexus.info()["propositions"] == 3


NAMES = st.text(st.sampled_from("aé'\\\" $/%💊\u2028"), max_size=4)
VALUES = st.one_of(NAMES, st.integers(-(2**64), 2**64), st.booleans(), st.floats())


@settings(max_examples=EXAMPLES)
@given(
    people=st.lists(st.tuples(NAMES, VALUES, st.integers(0, 4)), max_size=5),
    order=st.randoms(use_true_random=False),
)
def test_importing_again_in_any_order_changes_nothing(people: Any, order: Any) -> None:
    lines = [
        (f"<urn:p{n}> a <urn:t/Person> ; <urn:t/label> {json.dumps(name, ensure_ascii=False)} ; "
         f"<urn:t/value> {_literal(value)} ; <urn:t/knows> <urn:p{friend}> .\n")
        for n, (name, value, friend) in enumerate(people)
    ]  # fmt: skip
    mapping = {"@context": {"name": "urn:t/label"}}
    clock = StoppedClock()
    nexus = empty(clock=clock)
    given = {"mapping": mapping, "define": True, "format": "turtle", "metadata": {"source": "s"}}
    with untouched(nexus):
        report = nexus.import_rdf("\n" + "".join(lines), dry_run=True, **given)
    assert nexus.import_rdf("\n" + "".join(lines), **given) == report
    assert nexus.info()["concepts"] >= len(people)
    clock.forward(minutes=1)
    order.shuffle(lines)
    with untouched(nexus):
        nexus.import_rdf("\n" + "".join(lines), **given)


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    text = str(value).replace("inf", "INF").replace("nan", "NaN")
    return f'"{text}"^^<http://www.w3.org/2001/XMLSchema#double>'


# What kiprdf wrote is its own again -------------------------------------------------------------


def test_a_snapshot_that_is_imported_where_it_comes_from_changes_nothing() -> None:
    nexus = bundled()
    nexus.import_rdf(PEOPLE, mapping=WORDS)
    for format in ("turtle", "nquads", "jsonld", "rdfxml"):
        text = nexus.snapshot(format=format, mapping=WORDS)  # type: ignore[arg-type]
        people = {id: element(nexus, id) for id in ("C:Person/Ann", "C:Person/Bob")}
        nexus.import_rdf(text, format=format, mapping=WORDS, metadata={"imported_at": FIRST})  # type: ignore[arg-type]
        attributes = {id: element(nexus, id)["attributes"] for id in people}
        assert attributes == {id: person["attributes"] for id, person in people.items()}, format
        assert nexus.info()["propositions"] == bundled().info()["propositions"] + 2


def test_people_travel_from_foaf_to_schema_org() -> None:
    nexus = bundled()
    nexus.import_rdf(PEOPLE, mapping=WORDS)
    document = json.loads(nexus.snapshot(format="jsonld", mapping="schema-org"))
    ann = next(node for node in document["@graph"] if str(node.get("@id")).endswith("Person/Ann"))
    assert "https://example.org/ann" in json.dumps(ann)
    assert "schema:Person" in json.dumps(document["@context"])
    assert facts(restored(nexus, format="jsonld", mapping="schema-org")) == facts(nexus)


# Bad input ------------------------------------------------------------------------------------

XML = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'


@pytest.mark.parametrize(
    ("name", "text", "position", "excerpt"),
    [
        ("x.ttl", PREFIXES + ':a :b "c', (7, 7), '"c'),
        ("x.ttl", PREFIXES + ":a :b nope:c .", (7, 7), "nope:c"),
        ("x.trig", "<urn:g> {\n  <urn:a> <urn:b> }", (2, 19), "<urn:b> }"),
        ("x.nt", "<urn:a> <urn:b> <urn:c> .\n<urn:a> <urn:b> .\n", (2, 17), "<urn:b> ."),
        ("x.nq", "<urn:a> <urn:b> <urn:c> <urn:d> <urn:e> .\n", (1, 33), "<urn:e>"),
        ("x.jsonld", '{"@id": "urn:a",\n "urn:b": [1, }', (2, 15), "}"),
        ("x.rdf", XML + "\n<rdf:Description>\n</rdf:RDF>", (3, 3), "</rdf:RDF>"),
        ("x.rdf", f'<!DOCTYPE r [\n<!ENTITY e SYSTEM "x">]>{XML}&e;</rdf:RDF>', (2, 1), "SYSTEM"),
        ("x.rdf", f'<!DOCTYPE r [<!ENTITY e "x">]>\n{XML}\n&e;</rdf:RDF>', (3, 1), "&e;"),
        ("x.rdf", f'<!DOCTYPE r SYSTEM "file:///etc/passwd">{XML}</rdf:RDF>', (1, 1), "SYSTEM"),
        ("x.rdf", f"{XML}&e;</rdf:RDF>", None, "&e;"),
        ("x.jsonld", '{"@context": "https://example.org/"}', (1, 14), "example.org"),
    ],
)
def test_a_broken_file_is_shown_at_its_line_and_column(
    name: str, text: str, position: tuple[int, int] | None, excerpt: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text)
    for source in (path, path.open(), path.open("rb")):
        error = refusal(bundled(), source, mapping=WORDS)
        assert error.code == "KIP_1001"
        assert error.position is not None
        assert position is None or error.position == position
        assert error.excerpt is not None
        assert excerpt in error.excerpt


def deep(depth: int) -> Iterator[tuple[str, str]]:
    yield "turtle", "<urn:a> <urn:b> " + "[ <urn:b> " * depth
    yield "turtle", "<urn:a> <urn:b> " + "( " * depth
    yield "turtle", "<urn:a> <urn:b> " + "<<( " * depth
    yield "trig", "<urn:g> { <urn:a> <urn:b> " + "[ <urn:b> " * depth
    yield "ntriples", "<urn:a> <urn:b> " + "<<( <urn:a> <urn:b> " * depth
    yield "nquads", "<urn:a> <urn:b> " + "<<( <urn:a> <urn:b> " * depth
    yield "jsonld", '{"urn:b": ' * depth
    yield "jsonld", "[" * depth
    yield "rdfxml", XML + "<rdf:Description><rdf:value>" * depth


@each_case("format, text", list(deep(20_000)))
def test_deep_nesting_is_refused(format: Any, text: str) -> None:
    assert refusal(empty(), text, format=format).code in ("KIP_4002", "KIP_1001")


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"\x00", b"\xc3", b"\xe9 abc", b"\x80" * 9])
def test_bytes_that_are_no_text_are_a_clear_error(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.ttl"
    path.write_bytes(data)
    assert refusal(empty(), path).code == "KIP_1001"
    with path.open(encoding="utf-8") as opened:
        assert refusal(empty(), opened).code == "KIP_1001"


FORMATS = ["turtle", "trig", "ntriples", "nquads", "jsonld", "rdfxml"]


@settings(max_examples=5 * EXAMPLES)
@given(
    format=st.sampled_from(FORMATS),
    cut=st.integers(0, 600),
    noise=st.text(st.sampled_from("<>\"'{}[]()@:;.,^_ \n\\#&!|\ud7ff\x00ax"), max_size=6),
)
def test_no_broken_text_raises_anything_but_a_kip_error(format: Any, cut: int, noise: str) -> None:
    nexus, failed = empty(), None
    text = WHOLE[format]
    try:
        nexus.import_rdf(f"{text[:cut]}{noise}{text[cut:]}\n", format=format, define=True)
    except kiprdf.KipError as error:
        failed = error
    assert failed is None or (failed.code != "KIP_4003" and not facts(nexus))


def _whole() -> dict[str, str]:
    nexus = bundled()
    nexus.import_rdf(PEOPLE, mapping=WORDS)
    command = 'EXPORT ?p WHERE { ?p {type: "Person", name: "Ann"} }'
    return {f: nexus.snapshot(format=f, select=command, mapping=WORDS) for f in FORMATS}  # type: ignore[arg-type]


WHOLE = _whole()


def test_a_thousand_blank_nodes_are_imported_once() -> None:
    text = PREFIXES + "".join(
        f"_:b{n} a foaf:Person ; foaf:age {n} ; foaf:knows _:b{(n + 1) % 1_200} .\n"
        for n in range(1_200)
    )
    nexus = bundled()
    report = nexus.import_rdf(text, mapping=WORDS)
    assert report["concepts"]["created"] == report["propositions"]["created"] == 1_200
    with untouched(nexus):
        nexus.import_rdf(text.replace("_:b", "_:other"), mapping=WORDS)


def test_a_suffix_that_names_no_format_is_refused_until_one_is_given(tmp_path: Path) -> None:
    path = tmp_path / "people.txt"
    path.write_text(PEOPLE)
    nexus = bundled()
    assert "people.txt" in refusal(nexus, path, mapping=WORDS).message
    assert nexus.import_rdf(path, mapping=WORDS, format="turtle")["concepts"]["created"] == 3


def test_contexts_are_fetched_by_a_loader_only() -> None:
    text = '{"@context": "https://c.example/", "@id": "urn:a", "@type": "Person", "name": "Ann"}'
    requested = []

    def loader(iri: str) -> Any:
        requested.append(iri)
        return {"@context": {"@vocab": "http://xmlns.com/foaf/0.1/"}}

    nexus = bundled()
    assert refusal(nexus, text, format="jsonld", mapping="foaf").code == "KIP_1001"
    nexus.import_rdf(text, format="jsonld", mapping="foaf", loader=loader)
    assert requested == ["https://c.example/"]
    assert element(nexus, "C:Person/Ann")["attributes"]["same_as"] == "urn:a"


@pytest.mark.parametrize("fault", [OSError("no way"), ValueError("no way"), KeyError("no way")])
def test_a_loader_that_fails_is_reported_at_the_place_of_the_context(fault: Exception) -> None:
    def loader(_: str) -> Any:
        raise fault

    text = '{"@context": "https://c.example/", "@id": "urn:a", "@type": "Person", "name": "Ann"}'
    error = refusal(bundled(), text, format="jsonld", loader=loader)
    assert (error.code, error.position) == ("KIP_1001", (1, 14))
    assert "no way" in error.message


def test_relative_iris_need_a_base() -> None:
    text = '@prefix foaf: <http://xmlns.com/foaf/0.1/> .\n<a> a foaf:Person ; foaf:name "A" .'
    nexus = bundled()
    assert refusal(nexus, text, mapping="foaf").hint == (
        "Give the base of its relative IRIs (base_iri, --base-iri), or write them in full."
    )
    nexus.import_rdf(text, mapping="foaf", base_iri="https://example.org/people/")
    same_as = element(nexus, "C:Person/A")["attributes"]["same_as"]
    assert same_as == "https://example.org/people/a"


def test_imports_of_ontologies_are_not_followed() -> None:
    text = PREFIXES + "<urn:o> a owl:Ontology ; owl:imports <https://example.org/o> .\n"
    assert empty().import_ontology(text)["triples"] == 2


def test_what_cannot_be_named_is_reported_and_the_rest_is_imported() -> None:
    text = PREFIXES + (
        ':a a foaf:Person ; foaf:name "A" . :b foaf:name "no type" . '
        f':c a foaf:Person ; foaf:name "{"x" * 2_000}" .\n'
        ':a <https://example.org/-> "no key" .'
    )
    nexus = bundled()
    report = nexus.import_rdf(text, mapping=WORDS)
    assert element(nexus, "C:Person/A")
    assert all(skipped["reason"] for skipped in report["skipped"])
    assert len(report["skipped"]) >= 1


def test_the_order_of_imports_of_disjoint_files_makes_no_difference() -> None:
    texts = [PREFIXES + f':p{n} a foaf:Person ; foaf:name "P{n}" .' for n in range(3)]
    snapshots = set()
    for order in itertools.permutations(texts):
        nexus = bundled()
        for text in order:
            nexus.import_rdf(text, mapping=WORDS)
        snapshots.add(nexus.snapshot())
    assert len(snapshots) == 1


# Links between files --------------------------------------------------------------------------

ANN = PREFIXES + ':ann a foaf:Person ; foaf:name "Ann" ; foaf:knows :bob .'
BOB = PREFIXES + ':bob a foaf:Person ; foaf:name "Bob" .'


def links(nexus: kiprdf.Nexus) -> list[Any]:
    return list(nexus.find('FIND(?s.name, ?o.name) WHERE { (?s, "knows", ?o) }').tuples())


def test_a_link_to_what_nothing_describes_is_reported() -> None:
    report = bundled().import_rdf(ANN, mapping="foaf")
    assert report["warnings"] == [
        "knows: <https://example.org/bob> is not described; kept as a string."
    ]
    assert report["propositions"]["created"] == 0


def test_of_many_links_to_nothing_the_first_are_reported() -> None:
    people = ", ".join(f":p{n}" for n in range(5))
    report = bundled().import_rdf(ANN.replace(":bob", people), mapping="foaf")
    assert report["warnings"] == [
        "knows: <https://example.org/p0>, <https://example.org/p1>, <https://example.org/p2> "
        "and 2 more are not described; kept as a string."
    ]


def test_a_link_of_a_predicate_that_an_import_defined_is_reported_too() -> None:
    text = PREFIXES + ":a a :T ; :p :b ; :page :x . :b a :T ; :p :c ."
    nexus = empty()
    expected = ["p: <https://example.org/c> is not described; kept as a string."]
    assert nexus.import_rdf(text, define=True)["warnings"] == expected
    assert nexus.import_rdf(text)["warnings"] == expected


def test_a_string_that_became_a_link_is_removed() -> None:
    nexus = bundled()
    nexus.import_rdf(ANN, mapping="foaf")
    assert element(nexus, "C:Person/Ann")["attributes"]["knows"] == "https://example.org/bob"
    nexus.import_rdf(BOB, mapping="foaf")
    assert nexus.import_rdf(ANN, mapping="foaf")["warnings"] == []
    assert links(nexus) == [("Ann", "Bob")]
    assert "knows" not in element(nexus, "C:Person/Ann")["attributes"]
    with untouched(nexus):
        nexus.import_rdf(ANN, mapping="foaf")


def test_of_several_strings_only_the_one_that_became_a_link_is_removed() -> None:
    nexus = bundled()
    text = ANN.replace(":bob", ":bob, :cleo, :dora")
    nexus.import_rdf(text, mapping="foaf")
    nexus.import_rdf(BOB, mapping="foaf")
    nexus.import_rdf(ANN, mapping="foaf")
    kept = element(nexus, "C:Person/Ann")["attributes"]["knows"]
    assert kept == ["https://example.org/cleo", "https://example.org/dora"]


def test_a_string_that_the_file_states_is_kept_beside_the_link() -> None:
    nexus = bundled()
    nexus.import_rdf(ANN + ' :ann foaf:knows "https://example.org/bob" .' + BOB, mapping="foaf")
    with untouched(nexus):
        nexus.import_rdf(ANN + ' :ann foaf:knows "https://example.org/bob" .' + BOB, mapping="foaf")
    assert element(nexus, "C:Person/Ann")["attributes"]["knows"] == "https://example.org/bob"


def test_without_update_only_new_elements_are_imported() -> None:
    nexus = bundled()
    nexus.import_rdf(ANN, mapping="foaf", metadata={"source": "a"})
    changed = BOB + " :ann foaf:age 30 ."
    nexus.import_rdf(changed, mapping="foaf", metadata={"source": "b"})
    report = nexus.import_rdf(ANN, mapping="foaf", metadata={"source": "a"}, update=False)
    assert report["propositions"] == {"created": 1, "updated": 0, "unchanged": 0}
    ann = element(nexus, "C:Person/Ann")
    assert (ann["attributes"]["age"], ann["metadata"]["source"]) == (30, "b")
    assert "knows" not in ann["attributes"]
    [source] = nexus.execute('FIND(?l.metadata.source) WHERE { ?l (?s, "knows", ?o) }')
    assert source == "a"


def test_a_concept_made_from_an_iri_alone_is_completed_by_a_later_file() -> None:
    nexus = bundled()
    options: dict[str, Any] = {"mapping": "foaf", "define": True, "default_type": "Thing"}
    nexus.import_rdf(ANN, **options)
    assert links(nexus) == [("Ann", "bob")]
    report = nexus.import_rdf(BOB, **options)
    assert report["concepts"] == {"created": 1, "updated": 0, "unchanged": 0}
    assert report["warnings"] == ["C:Thing/bob had only its IRI and becomes C:Person/Bob."]
    assert links(nexus) == [("Ann", "Bob")]
    assert element(nexus, "C:Person/Bob")["attributes"]["same_as"] == "https://example.org/bob"
    assert nexus.execute('FIND(?t.name) WHERE { ?t {type: "Thing"} }') == []
    for text in (ANN, BOB):
        with untouched(nexus):
            nexus.import_rdf(text, **options)


@pytest.mark.parametrize("triple", [':bob foaf:nick "B" .', ':bob rdfs:label "Robert" .'])
def test_a_concept_with_more_than_its_iri_keeps_its_type(triple: str) -> None:
    nexus = bundled()
    triple = triple.replace("rdfs:label", "<http://www.w3.org/2000/01/rdf-schema#label>")
    options: dict[str, Any] = {"mapping": "foaf", "define": True, "default_type": "Thing"}
    nexus.import_rdf(ANN + triple, **options)
    report = nexus.import_rdf(BOB, **options)
    assert report["concepts"] == {"created": 0, "updated": 1, "unchanged": 0}
    assert links(nexus)[0][1] in ("bob", "Robert")


def test_without_the_default_type_a_concept_keeps_its_type_and_it_is_reported() -> None:
    nexus = bundled()
    nexus.import_rdf(ANN, mapping="foaf", define=True, default_type="Thing")
    assert nexus.import_rdf(BOB, mapping="foaf")["warnings"] == [
        "<https://example.org/bob> is a Person in the data, but remains C:Thing/bob; "
        "an import with the default type Thing changes it."
    ]
    assert links(nexus) == [("Ann", "bob")]


# Terms of one name ----------------------------------------------------------------------------

MUSIC = "@prefix m: <https://music.example/#> . @prefix k: <https://other.example/> .\n"


def test_a_term_that_nothing_but_its_name_makes_one_of_the_nexus_is_reported() -> None:
    text = MUSIC + "m:a a m:Skill ; m:knows m:b . m:b a m:Event ."
    there = "which the nexus defines itself."
    assert bundled().import_rdf(text)["warnings"] == [
        f"<https://music.example/#Event> is considered the same as the concept type Event, {there}",
        f"<https://music.example/#Skill> is considered the same as the concept type Skill, {there}",
        f"<https://music.example/#knows> is considered the same as the predicate knows, {there}",
    ]


def test_a_mapped_term_is_imported_as_the_mapping_says_without_a_warning() -> None:
    words = {"@context": {"Skill": "https://music.example/#Skill"}}
    assert bundled().import_rdf(MUSIC + "m:a a m:Skill .", mapping=words)["warnings"] == []


def test_a_term_of_another_iri_is_another_term() -> None:
    nexus = empty()
    nexus.import_rdf(MUSIC + "m:a a m:T ; m:p m:b . m:b a m:T .", define=True)
    other = MUSIC + "k:a a k:T ; k:p k:b . k:b a k:T ."
    error = refusal(nexus, other)
    assert error.message == (
        "The data need definitions that are missing: "
        "concept types 'T_2' (<https://other.example/T>; 'T' is another); "
        "predicates 'p_2' (<https://other.example/p>; 'p' is another)."
    )
    report = nexus.import_rdf(other, define=True)
    assert report["definitions"] == {"concept_types": ["T_2"], "predicates": ["p_2"]}
    assert report["warnings"] == [
        f"<https://other.example/{name}> is called '{name}_2' because the {what} '{name}' of the "
        "nexus is something else; a mapping can say that they are the same."
        for what, name in (("concept type", "T"), ("predicate", "p"))
    ]
    with untouched(nexus):
        nexus.import_rdf(other)
    assert nexus.import_rdf(MUSIC + "k:c a k:T .")["definitions"]["concept_types"] == []
    assert element(nexus, "C:T_2/c")["attributes"] == {"same_as": "https://other.example/c"}


def test_every_iri_that_made_a_definition_is_kept_in_it() -> None:
    """The second of two classes was another term the next time."""
    nexus = empty()
    text = MUSIC + "m:a a m:T, k:T ; m:p m:b ; k:p m:b . m:b a k:T ."
    nexus.import_rdf(text, define=True)
    expected = ["https://music.example/#T", "https://other.example/T"]
    assert element(nexus, "C:$ConceptType/T")["attributes"]["same_as"] == expected
    with untouched(nexus):
        nexus.import_rdf(text, define=True)


def test_two_predicates_of_one_name_are_reported_where_they_state_one_fact() -> None:
    report = empty().import_rdf(
        MUSIC + "m:a a m:T ; m:likes m:b . m:a k:likes m:b . m:b a m:T .", define=True
    )
    assert [skipped["reason"] for skipped in report["skipped"]] == [
        "<https://music.example/#likes> and <https://other.example/likes> both become "
        "'likes', and the first one states this fact"
    ]


def test_a_mapping_knows_schema_org_in_both_of_its_namespaces() -> None:
    text = (
        "@prefix s: <http://schema.org/> . @prefix : <https://example.org/> .\n"
        ':a a s:Person ; s:name "Ann" ; s:birthDate "1815-12-10" ; s:knows :b .\n'
        ':b a s:Person ; s:name "Bob" .'
    )
    imported = []
    for namespace in ("http://schema.org/", "https://schema.org/"):
        nexus = bundled()
        report = nexus.import_rdf(
            text.replace("http://schema.org/", namespace), mapping="schema-org"
        )
        assert report["warnings"] == []
        assert links(nexus) == [("Ann", "Bob")]
        imported.append(element(nexus, "C:Person/Ann")["attributes"])
    assert imported[0] == imported[1]
    assert imported[0]["birth_date"] == "1815-12-10"


def test_a_mapping_without_a_term_for_the_data_is_reported() -> None:
    text = PREFIXES + ':a a foaf:Person ; foaf:name "A" .'
    warning = "The mapping has no term for any type or property of the data."
    assert warning in bundled().import_rdf(text, mapping="schema-org")["warnings"]
    assert warning not in bundled().import_rdf(text, mapping=WORDS)["warnings"]
    assert warning not in bundled().import_rdf(text)["warnings"]
    assert bundled().import_rdf("", mapping="schema-org")["warnings"] == []


# What is not kept -----------------------------------------------------------------------------


def test_reifiers_of_one_triple_that_differ_are_kept_apart() -> None:
    fact = ":a a :T ; :p :b . :b a :T . :a :q :b ~ :r3 {| :by 1 |} ~ :r4 {| :by 1 |} ."
    two = ':a :p :b ~ :r1 {| :by "Ann" |} ~ :r2 {| :by "Bob" |} .'
    nexus = empty()
    assert nexus.import_rdf(PREFIXES + fact + two, define=True)["warnings"] == []
    question = 'FIND(?l.attributes.statements) WHERE { ?l (?a, "p", ?b) }'
    assert nexus.execute(question) == [
        [
            {"id": "https://example.org/r1", "by": "Ann"},
            {"id": "https://example.org/r2", "by": "Bob"},
        ]
    ]


def test_numbers_that_json_lacks_are_reported() -> None:
    numbers = (
        ':a a :T ; :n 0.12345678901234567890 ; :m 9223372036854775808 ; :l ( 1.5 "x"^^xsd:int ) ; '
        ':fine 1.10, 7, "NaN" ; :year "1815"^^xsd:gYear .'
    )
    nexus = empty()
    assert nexus.import_rdf(PREFIXES + numbers, define=True)["warnings"] == [
        'l: JSON has no number "x"^^xsd:int; kept with the datatype.',
        'm: JSON has no number "9223372036854775808"^^xsd:integer; kept with the datatype.',
        'n: JSON has no number "0.12345678901234567890"^^xsd:decimal; kept with the datatype.',
    ]
    kept = element(nexus, "C:T/a")["attributes"]
    assert kept["m"] == {
        "@value": "9223372036854775808",
        "@type": "http://www.w3.org/2001/XMLSchema#integer",
    }
    assert (kept["fine"], kept["year"]) == ([1.1, 7, "NaN"], "1815")


# Graphs of rdflib -----------------------------------------------------------------------------


def test_a_graph_of_rdflib_is_imported() -> None:
    nexus, expected = bundled(), bundled()
    text = ANN + BOB
    nexus.import_rdf(rdflib.Graph().parse(data=text, format="turtle"), mapping="foaf")
    expected.import_rdf(text, mapping="foaf")
    assert nexus.snapshot() == expected.snapshot()


def test_the_named_graphs_of_a_dataset_are_kept() -> None:
    nexus = empty()
    data = rdflib.Dataset()
    text = PREFIXES + ":a a :T . <urn:g> { :b a :T . }"
    nexus.import_rdf(data.parse(data=text, format="trig"), define=True)
    assert element(nexus, "C:T/b")["metadata"]["graph"] == "urn:g"
    assert "graph" not in element(nexus, "C:T/a")["metadata"]


def test_a_graph_with_an_invalid_term_is_refused() -> None:
    graph = rdflib.Graph()
    graph.add((rdflib.URIRef("no iri"), rdflib.RDF.type, rdflib.URIRef("urn:t")))
    assert refusal(empty(), graph, define=True).code == "KIP_1001"


def test_from_rdflib_suggests_import_rdf_for_a_foreign_graph() -> None:
    graph = rdflib.Graph().parse(data=ANN, format="turtle")
    with pytest.raises(kiprdf.KipError) as raised:
        kiprdf.Nexus.from_rdflib(graph)
    assert "import_rdf()" in raised.value.hint


def test_the_order_of_documents_beside_each_other_changes_no_name() -> None:
    documents = [
        f"<http://{host}/x> a <http://{host}/Person> ; <http://{host}/knows> <http://{host}/y> ."
        f" <http://{host}/y> a <http://{host}/Person> ."
        for host in ("a", "b")
    ]
    for one, other in (documents, documents[::-1]):
        nexus = kiprdf.Nexus.memory(genesis=False)
        first = nexus.import_rdf(one, format="turtle", define=True, also=[other])
        second = nexus.import_rdf(other, format="turtle", define=True, also=[one])
        assert first["definitions"] == {"concept_types": ["Person"], "predicates": ["knows"]}
        assert second["definitions"] == {"concept_types": [], "predicates": []}
        assert first["warnings"][0] == (
            "The concept type 'Person' is used for <http://a/Person>, <http://b/Person>;"
            " a mapping can distinguish them."
        )


SEVERAL = [
    "<urn:a> a <http://a/Person> ; <http://a/knows> <urn:b> .",
    "<urn:b> a <http://b/Person> ; <http://b/knows> <urn:c> .",
    "<urn:c> a <http://b/Person> .",
]


def read_once(text: str) -> Any:
    return io.BytesIO(text.encode())


@pytest.mark.parametrize("source", [str, io.StringIO, read_once])
def test_a_list_of_documents_is_imported_as_if_it_were_one(source: Any) -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    report = nexus.import_rdf([source(text) for text in SEVERAL], define=True)
    counts = [
        ("again" in one, one["concepts"]["created"], one["propositions"]["created"])
        for one in report["documents"]
    ]
    assert list(report) == ["documents"]
    # The links of the first two documents are added when what they lead to is there.
    assert counts == [(False, 1, 0), (False, 1, 0), (False, 1, 0), (True, 0, 1), (True, 0, 1)]
    links = 'FIND(?a.name, ?b.name) WHERE { (?a, "knows", ?b) ?a {type: "Person"} }'
    assert sorted(nexus.find(links).tuples()) == [("a", "b"), ("b", "c")]
    assert nexus.names()["predicates"] == ["knows"]


def test_a_dry_run_of_several_documents_writes_nothing_and_tries_each_once() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    before = nexus.snapshot()
    report = nexus.import_rdf(SEVERAL, define=True, dry_run=True)
    assert [one["concepts"]["created"] for one in report["documents"]] == [1, 1, 1]
    assert nexus.snapshot() == before


def test_ontologies_in_a_list_share_their_names(tmp_path: Path) -> None:
    owl = "a <http://www.w3.org/2002/07/owl#Class> ."
    paths = [tmp_path / "a.ttl", tmp_path / "b.ttl"]
    for path in paths:
        path.write_text(f"<http://{path.stem}/Person> {owl}", "utf-8")
    names = {}
    for order in (paths, paths[::-1]):
        report = kiprdf.Nexus.memory(genesis=False).import_ontology(order)
        for one in report["documents"]:
            names.setdefault(one["source"], []).append(one["definitions"]["concept_types"])
    assert names == {"a.ttl": [["Person"], ["Person"]], "b.ttl": [["Person_2"], ["Person_2"]]}
