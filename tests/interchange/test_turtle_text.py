"""What a snapshot looks like, and that the same dataset has the same bytes (docs/mapping.md)."""

from __future__ import annotations

import difflib
import hashlib
import os
import random
import subprocess
import sys

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, parse

import kiprdf
from kiprdf.interchange.formats import Profile, reading
from kiprdf.rdf import vocab
from tests.cases import each_case
from tests.interchange.nexuses import (
    COLLIDING_TYPES,
    SMALL,
    SMALL_BASE,
    colliding,
    small,
    turtle_of,
)
from tests.nexus.support import StoppedClock, empty, medical, restored

HEADER = """\
# kiprdf 1 base <https://data.example.org/kb/>
@prefix Drug: <https://data.example.org/kb/Drug/> .
@prefix attr: <urn:kip:attribute/> .
@prefix kip: <urn:kip:vocab/> .
@prefix meta: <urn:kip:metadata/> .
@prefix pred: <https://data.example.org/kb/$PropositionType/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix type: <https://data.example.org/kb/$ConceptType/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

type:Drug a <https://data.example.org/kb/$ConceptType/$ConceptType> ;
    rdfs:label "Drug" ;
    attr:description "A \\"drug\\"\\n" ;
.

pred:doubts a <https://data.example.org/kb/$ConceptType/$PropositionType> ;
    rdfs:label "doubts" ;
.

pred:treats a <https://data.example.org/kb/$ConceptType/$PropositionType> ;
    rdfs:label "treats" ;
.
"""
VALUES = """\
    rdfs:label "阿司匹林" ;
    attr:big "1e+300"^^xsd:double ;
    attr:dose "0.5"^^xsd:double ;
    attr:form "{\\"a\\":null,\\"b\\":[1,2.0]}"^^rdf:JSON ;
    attr:handle kip:null ;
    attr:risk 2 ;
    attr:safe true ;
"""
LINKS = "https://data.example.org/kb/$proposition"
RDF11 = f"""\
{HEADER}
Drug:B a type:Drug ;
    rdfs:label "B" ;
    pred:doubts <{LINKS}/8bc0deb0201a0ad0/treats> ;
    pred:treats <https://data.example.org/kb/Drug/Vitamin%20C> ;
    pred:treats Drug:阿司匹林 ;
.

<https://data.example.org/kb/Drug/Vitamin%20C> a type:Drug ;
    rdfs:label "Vitamin C" ;
.

Drug:阿司匹林 a type:Drug ;
{VALUES}    pred:treats <https://data.example.org/kb/Drug/Vitamin%20C> ;
.

<{LINKS}/8bc0deb0201a0ad0/treats> a rdf:Statement ;
    rdf:subject Drug:阿司匹林 ;
    rdf:predicate pred:treats ;
    rdf:object <https://data.example.org/kb/Drug/Vitamin%20C> ;
    meta:source "s" ;
.

<{LINKS}/b6175716bcb40527/doubts> a rdf:Statement ;
    rdf:subject Drug:B ;
    rdf:predicate pred:doubts ;
    rdf:object <{LINKS}/8bc0deb0201a0ad0/treats> ;
    attr:why "x" ;
.

<{LINKS}/cacb9bc7fe13bb51/treats> a rdf:Statement ;
    rdf:subject Drug:B ;
    rdf:predicate pred:treats ;
    rdf:object <https://data.example.org/kb/Drug/Vitamin%20C> ;
.

<{LINKS}/f40e26b3456e2d78/treats> a rdf:Statement ;
    rdf:subject Drug:B ;
    rdf:predicate pred:treats ;
    rdf:object Drug:阿司匹林 ;
.
"""
RDF12 = f"""\
{HEADER}
Drug:B a type:Drug ;
    rdfs:label "B" ;
    pred:doubts <{LINKS}/8bc0deb0201a0ad0/treats> ~ <{LINKS}/b6175716bcb40527/doubts> ;
    pred:treats <https://data.example.org/kb/Drug/Vitamin%20C> ~ <{LINKS}/cacb9bc7fe13bb51/treats> ;
    pred:treats Drug:阿司匹林 ~ <{LINKS}/f40e26b3456e2d78/treats> ;
.

<https://data.example.org/kb/Drug/Vitamin%20C> a type:Drug ;
    rdfs:label "Vitamin C" ;
.

Drug:阿司匹林 a type:Drug ;
{VALUES}    pred:treats <https://data.example.org/kb/Drug/Vitamin%20C> ~ \
<{LINKS}/8bc0deb0201a0ad0/treats> ;
.

<{LINKS}/8bc0deb0201a0ad0/treats> meta:source "s" ;
.

<{LINKS}/b6175716bcb40527/doubts> attr:why "x" ;
.
"""


def test_the_rdf11_profile_writes_statements() -> None:
    assert small().snapshot(engine_metadata=False) == RDF11


def test_the_rdf12_profile_writes_reifiers() -> None:
    assert small().snapshot(profile="rdf12", engine_metadata=False) == RDF12


def test_rdf11_is_the_default() -> None:
    nexus = small()
    assert nexus.snapshot() == nexus.snapshot(profile="rdf11")


def test_the_links_of_the_golden_text_are_named_by_their_hash() -> None:
    text = '["C:Drug/阿司匹林","treats","C:Drug/Vitamin C"]'
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "8bc0deb0201a0ad0"


def test_engine_metadata_is_in_the_snapshot() -> None:
    assert """
pred:doubts a <https://data.example.org/kb/$ConceptType/$PropositionType> ;
    rdfs:label "doubts" ;
    meta:_created_at "2026-01-02T03:04:05.678Z" ;
    meta:_updated_at "2026-01-02T03:04:05.678Z" ;
    meta:_version 1 ;
.
""" in small().snapshot()


@pytest.mark.parametrize("profile", ["rdf11", "rdf12"])
def test_without_engine_metadata_the_clock_leaves_no_trace(profile: str) -> None:
    clock = StoppedClock()
    one = medical(clock=clock).snapshot(profile=profile, engine_metadata=False)
    clock.forward(days=400)
    assert medical(clock=clock).snapshot(profile=profile, engine_metadata=False) == one


def test_an_empty_nexus_is_its_first_line() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    assert nexus.snapshot() == "# kiprdf 1 base <urn:kip:nexus/>\n"


def test_only_prefixes_in_use_are_declared() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Drug"} } }')
    declared = [line for line in nexus.snapshot(engine_metadata=False).splitlines() if "@p" in line]
    assert declared == [
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
        "@prefix type: <urn:kip:nexus/$ConceptType/> .",
    ]


def test_no_prefix_is_declared_twice_when_types_are_called_like_prefixes() -> None:
    lines = colliding().snapshot().splitlines()
    names = [line.split()[1] for line in lines if line.startswith("@prefix")]
    assert len(names) == len(set(names))


@each_case("name", COLLIDING_TYPES)
def test_a_type_called_like_a_prefix_keeps_its_concepts(name: str) -> None:
    names = restored(colliding()).execute("FIND(?x.name) WHERE { ?x {type: :type} }", type=name)
    assert sorted(names) == ["null", "type"]


@pytest.mark.parametrize("profile", ["rdf11", "rdf12"])
def test_no_bare_reified_triple_and_no_blank_node_is_written(profile: str) -> None:
    text = small().snapshot(profile=profile)
    assert [mark for mark in ("<<", ">>", "_:", "[]", "{|") if mark in text] == []


def test_an_unknown_profile_is_a_clear_error() -> None:
    with pytest.raises(kiprdf.KipError, match=r"'nt'.*rdf11.*rdf12"):
        small().snapshot(profile="nt")  # type: ignore[arg-type]


@pytest.mark.parametrize("profile", ["rdf11", "rdf12"])
@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_insertion_leaves_no_trace(profile: str, seed: int) -> None:
    definitions = SMALL[: SMALL.index("}\nUPSERT") + 1]
    texts = [
        'UPSERT { CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES { a: 1, b: 2, c: [3] } } }',
        'UPSERT { CONCEPT { {type: "Drug", name: "A"} SET PROPOSITIONS '
        '{ ("treats", {type: "Drug", name: "B"}) ("doubts", {type: "Drug", name: "C"}) } } }',
        'UPSERT { CONCEPT { {type: "Drug", name: "A"} SET PROPOSITIONS '
        '{ ("treats", {type: "Drug", name: "C"}) } } }',
        'UPSERT { PROPOSITION { ({type: "Drug", name: "C"}, "doubts", '
        '{type: "Drug", name: "B"}) } }',
        'UPSERT { PROPOSITION { ({type: "Drug", name: "B"}, "doubts", '
        '{type: "Drug", name: "C"}) } }',
    ]
    snapshots = []
    for order in (texts, random.Random(seed).sample(texts, len(texts))):
        nexus = empty()
        nexus.execute(definitions)
        for name in ("A", "B", "C"):
            nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: :n} } }', n=name)
        for text in order:
            nexus.execute(text)
        snapshots.append(nexus.snapshot(profile=profile))  # type: ignore[arg-type]
    assert snapshots[0] == snapshots[1]


def changed(profile: str, command: str) -> list[str]:
    """The lines that one command changes in a snapshot, as a diff without context."""
    nexus = kiprdf.Nexus.memory(SMALL_BASE, genesis=False, clock=StoppedClock())
    nexus.execute(SMALL)
    before = nexus.snapshot(profile=profile).splitlines()  # type: ignore[arg-type]
    nexus.execute(command)
    after = nexus.snapshot(profile=profile).splitlines()  # type: ignore[arg-type]
    diff = difflib.unified_diff(before, after, n=0, lineterm="")
    return [line for line in diff if not line.startswith(("---", "+++", "@@"))]


@pytest.mark.parametrize("profile", ["rdf11", "rdf12"])
def test_a_changed_value_changes_its_line_and_the_version(profile: str) -> None:
    command = 'UPSERT { CONCEPT { {type: "Drug", name: "阿司匹林"} SET ATTRIBUTES { risk: 3 } } }'
    assert changed(profile, command) == [
        "-    attr:risk 2 ;",
        "+    attr:risk 3 ;",
        "-    meta:_version 1 ;",
        "+    meta:_version 2 ;",
    ]


@pytest.mark.parametrize("profile", ["rdf11", "rdf12"])
def test_a_new_attribute_adds_its_line(profile: str) -> None:
    command = 'UPSERT { CONCEPT { {type: "Drug", name: "阿司匹林"} SET ATTRIBUTES { new: "n" } } }'
    assert changed(profile, command) == [
        '+    attr:new "n" ;',
        "-    meta:_version 1 ;",
        "+    meta:_version 2 ;",
    ]


@pytest.mark.parametrize("profile", ["rdf11", "rdf12"])
def test_a_deleted_attribute_takes_its_line(profile: str) -> None:
    command = 'DELETE ATTRIBUTES {"risk"} FROM ?d WHERE { ?d {type: "Drug", name: "阿司匹林"} }'
    assert changed(profile, command) == [
        "-    attr:risk 2 ;",
        "-    meta:_version 1 ;",
        "+    meta:_version 2 ;",
    ]


def test_a_new_link_adds_its_line_and_its_block() -> None:
    digits = hashlib.sha256('["C:Drug/B","doubts","C:Drug/阿司匹林"]'.encode()).hexdigest()[:16]
    command = (
        'UPSERT { PROPOSITION { ({type: "Drug", name: "B"}, "doubts", '
        '{type: "Drug", name: "阿司匹林"}) } }'
    )
    changes = changed("rdf11", command)
    block = [
        f"+<{LINKS}/{digits}/doubts> a rdf:Statement ;",
        "+    rdf:subject Drug:B ;",
        "+    rdf:predicate pred:doubts ;",
        "+    rdf:object Drug:阿司匹林 ;",
        '+    meta:_created_at "2026-01-02T03:04:05.678Z" ;',
        '+    meta:_updated_at "2026-01-02T03:04:05.678Z" ;',
        "+    meta:_version 1 ;",
        "+.",
    ]
    assert [line for line in block if line not in changes] == []


@pytest.mark.parametrize(
    "command",
    [
        'UPSERT { PROPOSITION { ({type: "Drug", name: "B"}, "doubts", '
        '{type: "Drug", name: "阿司匹林"}) } }',
        'UPSERT { PROPOSITION { ({type: "Drug", name: "Vitamin C"}, "doubts", '
        '{type: "Drug", name: "B"}) } }',
        'UPSERT { CONCEPT { {type: "Drug", name: "New"} } }',
    ],
)
def test_a_new_element_changes_no_other_line(command: str) -> None:
    assert [line for line in changed("rdf11", command) if line.startswith("-")] == []


@pytest.mark.parametrize("profile", ["rdf11", "rdf12"])
def test_a_subject_and_a_proposition_may_have_several_types(profile: Profile) -> None:
    ann, bob, link = (
        NamedNode(f"{SMALL_BASE}{name}")
        for name in ("T/a", "T/b", "$proposition/0123456789abcdef/p")
    )
    fact = Triple(ann, NamedNode(f"{SMALL_BASE}$PropositionType/p"), bob)
    types = [NamedNode(f"http://example.org/{name}") for name in "abc"]
    triples = [fact, Triple(link, vocab.REIFIES, fact)]
    triples += [Triple(node, vocab.TYPE, kind) for node in (ann, bob, link) for kind in types]
    text = turtle_of(triples, SMALL_BASE, profile)
    assert set(reading.read(text, "turtle", SMALL_BASE)) == set(triples)
    lines = text.splitlines()
    assert [line.split()[-2] for line in lines if " a <http://example.org/" in line] == [
        f"<http://example.org/{name}>" for _ in range(3) for name in "abc"
    ]


def test_a_reifier_of_what_is_not_stated_keeps_its_types() -> None:
    a, b, c, link = (NamedNode(f"urn:{name}") for name in ("a", "b", "c", "link"))
    triples = [
        Triple(link, vocab.REIFIES, Triple(a, b, c)),
        Triple(link, vocab.REIFIES, Literal("x")),
        Triple(link, vocab.TYPE, a),
        Triple(link, vocab.LABEL, Literal("y")),
    ]
    text = turtle_of(triples, "urn:kip:nexus/", "rdf12")
    assert text.splitlines()[4:] == [
        "<urn:link> a <urn:a> ;",
        '    rdf:reifies "x" ;',
        "    rdf:reifies <<( <urn:a> <urn:b> <urn:c> )>> ;",
        '    rdfs:label "y" ;',
        ".",
    ]
    assert {quad.triple for quad in parse(text, format=RdfFormat.TURTLE)} == set(triples)


def test_a_blank_node_with_a_colon_in_its_label_gets_one_that_turtle_allows() -> None:
    triples = [Triple(BlankNode("c:d"), NamedNode("urn:p"), NamedNode("urn:o"))]
    (quad,) = parse(turtle_of(triples, "urn:kip:nexus/"), format=RdfFormat.TURTLE)
    assert isinstance(quad.subject, BlankNode)


def test_what_is_left_out_uses_no_prefix_and_keeps_its_reifier() -> None:
    version = NamedNode(f"{vocab.METADATA}_version")
    fact = Triple(NamedNode("urn:kip:nexus/a"), version, Literal(1))
    link = NamedNode("urn:link")
    other = Triple(link, NamedNode("urn:p"), NamedNode("urn:o"))
    triples = [fact, Triple(link, vocab.REIFIES, fact), other]
    text = turtle_of(triples, "urn:kip:nexus/", "rdf12", engine_metadata=False)
    assert {quad.triple for quad in parse(text, format=RdfFormat.TURTLE)} == set(triples[1:])


@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_values_of_one_spelling_keep_their_order(seed: str) -> None:
    code = """
from pyoxigraph import Literal, NamedNode, Triple
from tests.interchange.nexuses import turtle_of
from kiprdf.rdf import vocab
a, p = NamedNode("urn:a"), NamedNode("urn:p")
triples = [Triple(a, p, Literal(v, datatype=vocab.JSON)) for v in ("[1, 2]", "[1,2]", "[1,  2]")]
triples.append(Triple(NamedNode("urn:link"), vocab.REIFIES, triples[1]))
print([" ~ " in line for line in turtle_of(triples, "urn:kip:nexus/", "rdf12").splitlines()[-4:-1]])
"""
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert result.stdout == "[True, False, False]\n"
