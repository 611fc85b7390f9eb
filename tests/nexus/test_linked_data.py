"""A nexus is restored unchanged from every format; the same knowledge gives the same bytes.

``KIPRDF_EXAMPLES`` sets how many generated nexuses are tried.
"""

from __future__ import annotations

import io
import json
import os
import random
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import cache
from itertools import chain, cycle
from pathlib import Path
from typing import Any, get_args

import pyoxigraph
import pyrudof
import pytest
import rdflib
from hypothesis import given, settings

import kiprdf
from kiprdf.interchange.formats import Format, Profile
from kiprdf.interchange.mapping.contexts import packs
from tests.cases import each_case
from tests.interchange.nexuses import RDFLIB_FORMATS, demonstration, hostile, small
from tests.interchange.pairs import opened
from tests.interchange.test_restore import NEXUSES
from tests.long_runs import amount
from tests.nexus.support import (
    StoppedClock,
    commit,
    element,
    empty,
    facts,
    medical,
    restored,
    restored_from,
    untouched,
)
from tests.oracle.graph import Graph
from tests.properties.statement_graphs import mirrored_graphs
from tests.properties.strategies import graphs
from tests.trust import children

EXAMPLES = amount("EXAMPLES", 3)
EACH = settings(max_examples=EXAMPLES)
Way = tuple[Format, Profile]
WAYS: list[Way] = [
    (format, profile)
    for format in get_args(Format)
    for profile in get_args(Profile)
    if profile == "rdf11" or format not in ("jsonld", "rdfxml")
]
WAY = pytest.mark.parametrize(("format", "profile"), WAYS)
OWN = {
    "@context": {
        "ex": "https://words.example/",
        "Drug": "ex:Medicine",
        "treats": "ex:against",
        "attributes": {
            "@id": "@nest",
            "@context": {
                "risk": {"@id": "ex:risk", "@type": "http://www.w3.org/2001/XMLSchema#decimal"},
                "description": {"@id": "ex:said", "@language": "en", "@direction": "ltr"},
                "aliases": {"@id": "ex:alias", "@container": "@list"},
            },
        },
    }
}
STACKS: dict[str, Any] = {
    "no mapping": None,
    **{pack: pack for pack in packs()},
    "two packs": ["foaf", "schema-org"],
    "every pack": packs(),
    "packs below one's own": [*reversed(packs()), OWN],
}
FOLDER = Path(__file__).parents[1] / "interchange" / "vocabularies"


@cache
def full() -> kiprdf.Nexus:
    """Every bundled capsule, and values that a mapping renders differently."""
    nexus = demonstration()
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Person", name: "Ann"} SET ATTRIBUTES :values '
        'SET PROPOSITIONS { ("knows", {type: "Person", name: "$self"}) WITH METADATA :values } '
        "} WITH METADATA :values }",
        values=VALUES,
    )
    return nexus


VALUES = {
    "same_as": "https://ann.example/#me",
    "aliases": ["Annie", "A.", 7, None],
    "birth_date": "1990-05-01",
    "homepage": "https://ann.example/",
    "email": "mailto:ann@example.org",
    "created_at": "2026-01-01T00:00:00Z",
    "start_time": "not a time",
    "description": {"@value": "Ärztin", "@language": "de"},
    "title": 'a "title"\n\t\u2028',
    "age": 35,
    "source": None,
    "confidence": 0.25,
    "key_concepts": [],
    "id": "urn:kip:nexus/Person/Ann",
    "image": "urn:kip:vocab/null",
}


# The same nexus again -------------------------------------------------------------------------


@pytest.mark.parametrize("stack", STACKS)
def test_every_bundled_capsule_is_restored_from_its_snapshot(stack: str) -> None:
    nexus, place = full(), list(STACKS).index(stack)
    expected = facts(nexus)
    # Each stack is tried in one way.
    for format, profile in WAYS if place == 0 else [WAYS[place % 10]]:
        copy = restored(nexus, format=format, profile=profile, mapping=STACKS[stack])
        assert facts(copy) == expected, (format, profile)


@pytest.mark.parametrize("name", ["hostile", "colliding types", "opened"])
def test_every_capsule_is_restored_under_all_packs_at_once(name: str) -> None:
    nexus = NEXUSES[name]()
    expected = facts(nexus)
    for format, profile in WAYS:
        copy = restored(nexus, format=format, profile=profile, mapping=packs())
        assert facts(copy) == expected, (format, profile)


@EACH
@given(graph=graphs())
def test_a_generated_nexus_is_restored_from_its_snapshot(graph: Graph) -> None:
    with opened([graph]) as (nexus,):
        for (format, profile), mapping in zip(WAYS, cycle((None, packs(), OWN)), strict=False):
            copy = restored(nexus, format=format, profile=profile, mapping=mapping)
            assert facts(copy) == facts(nexus), (format, profile, mapping)


@EACH
@given(graph=mirrored_graphs())
def test_facts_about_facts_are_restored(graph: Graph) -> None:
    with opened([graph]) as (nexus,):
        for format, profile in WAYS:
            copy = restored(nexus, format=format, profile=profile, mapping=packs())
            assert facts(copy) == facts(nexus), (format, profile)


@WAY
@pytest.mark.parametrize("stack", ["no mapping", "every pack"])
def test_a_nexus_moves_to_another_base_and_back(
    stack: str, format: Format, profile: Profile
) -> None:
    mapping, nexus = STACKS[stack], medical()
    options = {"profile": profile, "format": format, "mapping": mapping}
    there = restored(nexus, "https://other.example/kb/", **options)
    here = restored(there, nexus.base_iri, **options)
    assert facts(here) == facts(nexus)


@pytest.mark.parametrize("name", ["brain.nt.gz", "brain.docx", "brain.ttl.bak"])
def test_a_suffix_that_is_no_format_is_no_turtle(name: str, tmp_path: Path) -> None:
    nexus = kiprdf.Nexus.memory()
    for write in (nexus.snapshot, nexus.write_snapshot):
        with pytest.raises(kiprdf.KipError, match="KIP_1001") as raised:
            write(tmp_path / name)
        assert raised.value.message == f"The suffix of {name} is not that of an RDF format."
    assert list(tmp_path.iterdir()) == []
    nexus.snapshot(tmp_path / name, format="turtle")
    nexus.snapshot(tmp_path / "brain")


@pytest.mark.parametrize("suffix", [".ttl", ".trig", ".nt", ".nq", ".jsonld", ".rdf"])
def test_the_suffix_of_a_path_is_its_format_both_ways(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"brain{suffix}"
    text = medical().snapshot(path)
    assert path.read_bytes().decode() == text
    assert facts(restored_from(path)) == facts(medical())


def test_a_mapped_snapshot_without_its_mapping_is_refused() -> None:
    restored = empty()
    with untouched(restored), pytest.raises(kiprdf.KipError, match="does not belong"):
        restored.restore(medical().snapshot(mapping=OWN))


# The same bytes -------------------------------------------------------------------------------


def shuffled(seed: int) -> kiprdf.Nexus:
    """One dataset, put together in one order or another."""
    people = [
        f'CONCEPT {{ {{type: "Person", name: "p{n}"}} SET ATTRIBUTES {{ n: {n} }} }}'
        for n in range(9)
    ]
    random.Random(seed).shuffle(people)
    nexus = empty()
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Person"} } '
        'CONCEPT { {type: "$PropositionType", name: "knows"} } }'
    )
    for person in people:
        nexus.execute(f"UPSERT {{ {person} }}")
    return nexus


@pytest.mark.parametrize("stack", ["no mapping", "every pack"])
def test_the_order_of_writes_does_not_change_the_snapshot(stack: str) -> None:
    for format, profile in WAYS:
        texts = {
            shuffled(seed).snapshot(None, profile, format=format, mapping=STACKS[stack])
            for seed in range(3)
        }
        assert len(texts) == 1, (format, profile)


def test_two_processes_write_the_same_bytes() -> None:
    program = (
        "import sys\n"
        "from tests.nexus.test_linked_data import *\n"
        "nexuses = [shuffled(int(sys.argv[1])), small()]\n"
        "for format, profile in WAYS:\n"
        "    for stack in ('no mapping', 'every pack'):\n"
        "        options = {'format': format, 'mapping': STACKS[stack]}\n"
        "        for nexus in nexuses:\n"
        "            nexus.write_snapshot(sys.stdout.buffer, profile, **options)\n"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program, seed],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
        )
        for seed in ("1", "2")
    ]
    one, other = (process.communicate()[0] for process in processes)
    assert [process.returncode for process in processes] == [0, 0]
    assert one == other != b""


def test_a_restored_nexus_writes_what_it_was_restored_from() -> None:
    for format, profile in WAYS:
        text = full().snapshot(None, profile, format=format)
        copy = restored(full(), format=format, profile=profile)
        assert copy.snapshot(None, profile, format=format) == text, (format, profile)


# Other parsers --------------------------------------------------------------------------------

_OXIGRAPH = {
    "turtle": pyoxigraph.RdfFormat.TURTLE,
    "trig": pyoxigraph.RdfFormat.TRIG,
    "ntriples": pyoxigraph.RdfFormat.N_TRIPLES,
    "nquads": pyoxigraph.RdfFormat.N_QUADS,
    "jsonld": pyoxigraph.RdfFormat.JSON_LD,
    "rdfxml": pyoxigraph.RdfFormat.RDF_XML,
}
_RUDOF = {
    "turtle": pyrudof.RDFFormat.Turtle,
    "trig": pyrudof.RDFFormat.TriG,
    "ntriples": pyrudof.RDFFormat.NTriples,
    "nquads": pyrudof.RDFFormat.NQuads,
}
NOT_HOSTILE: dict[str, Callable[[], kiprdf.Nexus]] = {"full": full, "small": small}


def triples_in(text: str, format: Format) -> set[pyoxigraph.Triple]:
    return {quad.triple for quad in pyoxigraph.parse(text, format=_OXIGRAPH[format])}


@pytest.mark.parametrize(("name", "stack"), [("full", "every pack"), ("small", "no mapping")])
@pytest.mark.parametrize("format", get_args(Format))
def test_rdflib_reads_as_many_triples_as_pyoxigraph(
    name: str, format: Format, stack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rdflib, "NORMALIZE_LITERALS", False)
    text = NOT_HOSTILE[name]().snapshot(format=format, mapping=STACKS[stack])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # datatypes that rdflib does not know
        graph = rdflib.Dataset(default_union=True).parse(data=text, format=RDFLIB_FORMATS[format])
    assert len(set(graph.triples((None, None, None)))) == len(triples_in(text, format)) > 40


@pytest.mark.parametrize("stack", ["no mapping", "every pack"])
@pytest.mark.parametrize("format", _RUDOF)
def test_rudof_reads_as_many_triples_of_rdf_1_2_as_pyoxigraph(format: Format, stack: str) -> None:
    text = full().snapshot(None, "rdf12", format=format, mapping=STACKS[stack])
    rudof = pyrudof.Rudof(pyrudof.RudofConfig())
    rudof.read_data(text, format=_RUDOF[format])
    rudof_text = rudof.serialize_data(format=pyrudof.ResultDataFormat.NTriples)
    assert triples_in(rudof_text, "ntriples") == triples_in(text, format)
    assert "reifies" in rudof_text


# Parts ----------------------------------------------------------------------------------------


def domains() -> list[str]:
    return sorted(full().execute('FIND(?d.name) WHERE { ?d {type: "Domain"} }'))


@pytest.mark.parametrize("stack", ["no mapping", "every pack"])
def test_every_exported_domain_is_restored_unchanged(stack: str) -> None:
    for name, (format, profile) in zip(domains(), cycle(WAYS[1::4]), strict=False):
        options = {"profile": profile, "format": format, "mapping": STACKS[stack]}
        part = restored(full(), domain=name, **options)
        assert facts(part) < facts(full())
        assert element(part, f"C:Domain/{name}") == element(full(), f"C:Domain/{name}")


@WAY
def test_a_selection_is_restored_with_what_it_refers_to(format: Format, profile: Profile) -> None:
    command = 'EXPORT ?l WHERE { ?l (?u, "stated", (?d, "treats", ?s)) }'
    part = restored(medical(), profile=profile, format=format, select=command)
    assert facts(part) < facts(medical())
    rows = part.find(
        'FIND(?s.name) WHERE { ({type: "User", name: "Ann"}, "stated", (?d, "treats", ?s)) }'
    )
    assert rows.column("?s.name") == ["Headache"]
    assert part.execute('FIND(?s.name) WHERE { ?s {type: "Symptom"} }') == ["Headache"]


def test_a_domain_and_a_selection_at_once_are_refused() -> None:
    with pytest.raises(kiprdf.KipError) as raised:
        full().snapshot(domain="Medical", select='EXPORT ?x WHERE { ?x {type: "Drug"} }')
    assert raised.value.code == "KIP_1001"


def test_a_faulty_selection_is_shown_at_its_place() -> None:
    with pytest.raises(kiprdf.KipError) as raised:
        medical().snapshot(select='EXPORT ?x WHERE { ?x {type: "Drugg"} }')
    assert (raised.value.code, raised.value.position) == ("KIP_2001", (1, 29))


@each_case("escape", ["\\#", "\\'", "\\(", "\\)", "\\)\\)\\)"])
def test_an_escape_in_a_local_name_hides_no_nesting(escape: str) -> None:
    deep = "<<( e:s e:p " * 2_000 + "e:o" + " )>>" * 2_000
    text = f"@prefix e: <urn:x:> . e:s e:p e:a{escape}b , {deep} ."
    with pytest.raises(kiprdf.KipError) as caught:
        medical().import_rdf(text, format="turtle")
    assert caught.value.code == "KIP_4002"


ENTRY_POINTS = """
import io, resource, sys
import kiprdf
from tests.nexus.support import medical

resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
entry_points = (
    lambda: kiprdf.Nexus.memory(genesis=False).restore(
        io.StringIO(text), format=format, base_iri="urn:kip:nexus/"
    ),
    lambda: medical().diff(io.StringIO("# kiprdf 1 base <urn:kip:nexus/>\\n" + text)),
    lambda: medical().import_rdf(io.StringIO(text), format=format),
    lambda: medical().import_ontology(io.StringIO(text), format=format),
)
for format, expression in zip(sys.argv[1::2], sys.argv[2::2]):
    text = eval(expression)
    for number, entry_point in enumerate(entry_points):
        if number == 1 and format != "turtle":
            continue
        try:
            entry_point()
        except kiprdf.KipError as error:
            print(error.code, end=" ")
    print(flush=True)
"""
HUNDRED_THOUSAND = {
    "property lists": ("turtle", "'<urn:s> <urn:p> ' + '[ <urn:p> ' * 10**5"),
    "collections": ("turtle", "'<urn:s> <urn:p> ' + '( ' * 10**5"),
    "triple terms": ("turtle", "'<urn:s> <urn:p> ' + '<<( <urn:s> <urn:p> ' * 10**5"),
    "reified triples": ("trig", "'<urn:s> <urn:p> ' + '<< <urn:s> <urn:p> ' * 10**5"),
    "annotations": ("trig", "'<urn:s> <urn:p> <urn:o> ' + '{| <urn:p> <urn:o> ' * 10**5"),
    "lines of triple terms": ("nquads", "'<urn:s> <urn:p> ' + '<<( <urn:s> <urn:p> ' * 10**5"),
    "objects": ("jsonld", "'{\"urn:p\":' * 10**5 + '1' + '}' * 10**5"),
    "lists": ("jsonld", "'{\"@list\":[' * 10**5 + '1' + ']}' * 10**5"),
    "contexts": ("jsonld", "'{\"@context\":' * 10**5 + '1' + '}' * 10**5"),
    "bases": ("turtle", "'@base <urn:a/> . ' + '@base <a/> . ' * 10**5"),
    "literals of one prefix": (
        "turtle",
        "'@prefix e: <urn:' + 'x' * 8000 + '/> . <urn:a> <urn:b> ' + '\"\"^^e:t , ' * 10**5",
    ),
    "kilobytes of one string": ("ntriples", "'<urn:a> <urn:b> \"' + 'x' * 2 * 10**7 + '\" .'"),
    "values of one vocabulary": (
        "jsonld",
        '\'{"@context": {"@vocab": "urn:\' + \'x\' * 8000 + \'"}, "a": [\''
        " + '1,' * 10**5 + '1]}'",
    ),
    "elements": (
        "rdfxml",
        "'<r:RDF xmlns:r=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">'"
        " + '<r:Description><r:value>' * 10**5",
    ),
}


@pytest.mark.parametrize("names", [list(HUNDRED_THOUSAND)[part::4] for part in range(4)], ids=str)
def test_a_hundred_thousand_nested_structures_do_not_kill_the_process(names: list[str]) -> None:
    given = [HUNDRED_THOUSAND[name] for name in names]
    child = children.run("-c", ENTRY_POINTS, *chain.from_iterable(given))
    # The first name without a line of codes is what ended the process.
    assert child.status == 0, child.output[-2_000:]
    codes = dict(zip(names, child.output.splitlines(), strict=True))
    expected = [["KIP_4002"] * (4 if format == "turtle" else 3) for format, _ in given]
    assert [line.split() for line in codes.values()] == expected, codes


# rdflib ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "stack"),
    [*((medical, stack) for stack in STACKS), (hostile, "no mapping"), (hostile, "every pack")],
)
def test_from_rdflib_undoes_to_rdflib(made: Callable[[], kiprdf.Nexus], stack: str) -> None:
    nexus = made()
    graph = nexus.to_rdflib(STACKS[stack])
    again = kiprdf.Nexus.from_rdflib(graph, nexus.base_iri, mapping=STACKS[stack])
    assert facts(again) == facts(nexus)


@EACH
@given(graph=graphs())
def test_from_rdflib_undoes_to_rdflib_for_generated_nexuses(graph: Graph) -> None:
    with opened([graph]) as (nexus,):
        for mapping in (None, packs()):
            again = kiprdf.Nexus.from_rdflib(nexus.to_rdflib(mapping), mapping=mapping)
            assert facts(again) == facts(nexus)


def test_a_graph_of_foreign_data_is_refused() -> None:
    graph = rdflib.Graph().parse(data="<urn:x> a <urn:y> .", format="turtle")
    with pytest.raises(kiprdf.KipError) as raised:
        kiprdf.Nexus.from_rdflib(graph)
    assert raised.value.code == "KIP_2002"


# Differences ----------------------------------------------------------------------------------


@WAY
def test_a_snapshot_does_not_differ_from_its_nexus(
    format: Format, profile: Profile, tmp_path: Path
) -> None:
    path = tmp_path / f"brain.{'xml' if format == 'rdfxml' else format}"
    medical().snapshot(path, profile, format=format)
    assert not medical().diff(restored_from(path, format=format))
    assert not medical().diff(medical().snapshot(None, profile))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ('UPDATE ?d SET ATTRIBUTES { risk: 3 } WHERE { ?d {type: "Drug"} }', (0, 0, 1)),
        ('UPSERT { CONCEPT { {type: "Drug", name: "New"} } }', (1, 0, 0)),
        ('DELETE CONCEPT ?u DETACH WHERE { ?u {type: "User"} }', (0, 2, 0)),
        ('DELETE METADATA { "source" } FROM ?d WHERE { ?d {type: "Drug"} }', (0, 0, 1)),
    ],
)
def test_the_difference_to_a_changed_copy_is_the_change(
    command: str, expected: tuple[int, int, int]
) -> None:
    copy = restored(medical())
    copy.execute(command)
    difference = medical().diff(copy)
    changes = [change.kind for change in (*difference.concepts, *difference.propositions)]
    assert tuple(changes.count(kind) for kind in ("added", "removed", "changed")) == expected


@pytest.mark.parametrize("text", ["// a\n", "\n  // a { b\n\n//", "", "\t// UPSERT {}"])
def test_a_capsule_of_comments_changes_nothing(text: str) -> None:
    nexus = medical()
    with untouched(nexus):
        assert nexus.apply_capsule(text)["blocks"] == 0


# From a folder that is open read-only ---------------------------------------------------------


def test_a_nexus_that_is_open_read_only_speaks_every_format(tmp_path: Path) -> None:
    clock = StoppedClock()
    with kiprdf.Nexus.open(tmp_path / "kb", clock=clock) as nexus:
        expected = {way: nexus.snapshot(None, way[1], format=way[0]) for way in WAYS}
        before = commit(nexus)
    with kiprdf.Nexus.open(tmp_path / "kb", read_only=True) as nexus:
        assert {w: nexus.snapshot(None, w[1], format=w[0]) for w in WAYS} == expected
        published = nexus.publish(tmp_path / "site", mapping="schema-org")
        assert not nexus.diff(kiprdf.Nexus.memory(clock=clock))
        assert len(nexus.to_rdflib()) > 100
        assert " a owl:Class ;" in nexus.schema()
        assert " a sh:NodeShape ;" in nexus.shapes()
        assert commit(nexus) == before
    assert published.elements == nexus_elements(expected["ntriples", "rdf12"])
    again = restored_from(tmp_path / "site" / "nexus.ttl", mapping="schema-org")
    assert again.snapshot() == expected["turtle", "rdf11"]


def nexus_elements(text: str) -> int:
    subjects = {line.split(" ")[0] for line in text.splitlines() if "metadata/_version>" in line}
    return len(subjects)


def test_publishing_twice_writes_the_same_files(tmp_path: Path) -> None:
    def published() -> dict[str, bytes]:
        full().publish(tmp_path / "site", title="T")
        root = tmp_path / "site"
        return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}

    assert published() == published()


def test_a_folder_of_other_files_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(kiprdf.StoreError, match=r"letter\.txt"):
        medical().publish(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


# Files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda nexus, path: nexus.snapshot(path / "brain.ttl"),
        lambda nexus, path: nexus.write_snapshot(path / "brain.nt"),
        lambda nexus, path: nexus.schema(path / "schema.ttl"),
        lambda nexus, path: nexus.shapes(path / "shapes.ttl"),
        lambda nexus, path: nexus.diff(path / "brain.ttl"),
        lambda nexus, path: nexus.import_rdf(path / "people.ttl"),
        lambda nexus, path: nexus.import_ontology(path / "words.owl"),
        lambda nexus, path: nexus.snapshot(mapping=path / "words.jsonld"),
        lambda nexus, path: nexus.schema(mapping=path / "words.jsonld"),
        lambda nexus, path: nexus.to_rdflib(path / "words.jsonld"),
        lambda nexus, path: nexus.publish(path.parent / "s", mapping=path / "words.jsonld"),
        lambda nexus, path: nexus.import_rdf("<urn:a> <urn:b> 1 .", mapping=path / "w.jsonld"),
        lambda nexus, path: nexus.import_ontology("<urn:a> <urn:b> 1 .", mapping=path / "w.jsonld"),
        lambda nexus, path: empty().restore(path / "brain.ttl"),
        lambda nexus, path: empty().restore(nexus.snapshot(), mapping=path / "words.jsonld"),
    ],
)
def test_a_path_that_leads_nowhere_is_an_os_error_with_its_name(
    call: Callable[[kiprdf.Nexus, Path], Any], tmp_path: Path
) -> None:
    missing = tmp_path / "missing"
    nexus = medical()
    with untouched(nexus), pytest.raises(FileNotFoundError) as raised:
        call(nexus, missing)
    assert Path(str(raised.value.filename)).parent == missing


def test_progress_counts_every_triple() -> None:
    for format, profile in WAYS:
        written: list[int] = []
        number = full().write_snapshot(io.BytesIO(), profile, format=format, advance=written.append)
        assert sum(written) == number > 100, (format, profile)


# Vocabularies that others wrote ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("vocabulary", "type", "words", "predicate"),
    [
        ("foaf", "Person", "A person.", "knows"),
        ("skos", "Concept", "An idea or notion; a unit of thought.", "broader"),
    ],
)
def test_a_real_vocabulary_becomes_types_that_describe_well(
    vocabulary: str, type: str, words: str, predicate: str
) -> None:
    path = FOLDER / f"{vocabulary}.nq"
    nexus = kiprdf.Nexus.memory(genesis=False, strict_schema=True, clock=StoppedClock())
    with untouched(nexus):
        tried = nexus.import_ontology(path, dry_run=True)
    done = nexus.import_ontology(path)
    assert done == tried
    assert type in done["definitions"]["concept_types"]
    described = nexus.execute(f'DESCRIBE CONCEPT TYPE "{type}"')
    assert words in json.dumps(described)
    assert path.name in json.dumps(described)
    assert predicate in nexus.execute("DESCRIBE PROPOSITION TYPES LIMIT 1000") or predicate in str(
        nexus.execute(f'DESCRIBE PROPOSITION TYPE "{predicate}"')
    )
    before = commit(nexus)
    nexus.import_ontology(path)
    assert commit(nexus) == before
