"""Datasets that are checked before they become a nexus, and the terms that come and go."""

from __future__ import annotations

import io
import random
import re
import threading
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import BaseDirection, BlankNode, Literal, NamedNode, Quad, RdfFormat, Triple, parse

import kiprdf
from kiprdf.budget import Budget, spend
from kiprdf.errors import KipError
from kiprdf.interchange import n_triples
from kiprdf.interchange.formats import Format, guard
from kiprdf.interchange.formats.ordering import normalized
from kiprdf.interchange.formats.profiles import to_profile
from kiprdf.interchange.formats.writing import Serializer
from kiprdf.interchange.n_triples import StagingStore, Term
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from tests.interchange.nexuses import demonstration, turtle_of
from tests.interchange.test_restore import DEFINITIONS, LINK, STATED, STATEMENT, TREATS, A, B, empty
from tests.nexus.support import facts, medical, restored_from

NODE = NamedNode("urn:a")
EVERY_ESCAPE = "".join(map(chr, range(0x20))) + "\x7f\x85\u2028\ufdd0\ufffe\uffff\"\\b'é漢😀 .\n"
TERMS: list[Term] = [
    NamedNode("urn:é"),
    BlankNode("b1"),
    Literal(EVERY_ESCAPE),
    Literal(EVERY_ESCAPE, datatype=NamedNode("urn:datatype")),
    Literal("x", language="de-at"),
    Literal("x", language="ar", direction=BaseDirection.RTL),
    Triple(NODE, NODE, Literal("one two )>> .")),
]


def lines_of(triples: StagingStore | Iterable[Triple]) -> list[str]:
    lines: list[str] = []
    n_triples.read(triples, lines.extend)
    return lines


@pytest.mark.parametrize("term", TERMS, ids=str)
def test_the_term_of_a_line_is_that_of_its_triple(term: Term) -> None:
    triple = Triple(NODE, NODE, term)
    for triples in ([triple], StagingStore.of([Quad(*triple)])):
        (line,) = lines_of(triples)
        assert n_triples.term(line.split(" ", 2)[2]) == term


def test_lines_longer_than_what_the_engine_writes_at_once_are_whole() -> None:
    triples = [Triple(NODE, NODE, Literal(f"{number}é" * 20_000)) for number in range(3)]
    assert lines_of(triples) == list(map(str, triples))


def test_a_request_whose_time_is_over_reads_no_further() -> None:
    store = StagingStore.of(Quad(NODE, NODE, Literal(str(number))) for number in range(1000))
    for triples in (store, list(store)):
        with pytest.raises(KipError) as caught:
            spend(Budget(timeout_s=1e-9), partial(lines_of, triples))
        assert caught.value.code == "KIP_4001"


# Datasets ------------------------------------------------------------------------------------


def test_two_spellings_of_one_value_are_one_value() -> None:
    text = f'{A} attr:x "[1 ,2]"^^rdf:JSON , "[1,2]"^^rdf:JSON , "[ 1,2]"^^rdf:JSON .'
    assert empty().restore(DEFINITIONS + text) == 4


# Statements


@pytest.mark.parametrize(
    "again", [STATEMENT, f"{LINK} rdf:subject {A} .", f"{LINK} a rdf:Statement ."]
)
def test_what_is_said_again_of_a_statement_is_nothing_new(again: str) -> None:
    assert empty().restore(DEFINITIONS + STATED + STATEMENT + again) == 5


@pytest.mark.parametrize("order", range(6))
def test_the_parts_of_statements_may_come_in_any_order(order: int) -> None:
    other = "<urn:kip:nexus/$proposition/fedcba9876543210/treats>"
    parts = [STATED, f"{B} {TREATS} {A} .\n"]
    for link, subject, value in ((LINK, A, B), (other, B, A)):
        parts += [
            f"{link} a rdf:Statement .",
            f"{link} rdf:subject {subject} .",
            f"{link} rdf:predicate {TREATS} .",
            f"{link} rdf:object {value} .",
            f"{link} meta:source 1 .",
        ]
    random.Random(order).shuffle(parts)
    nexus = restored_from(DEFINITIONS + "\n".join(parts))
    assert nexus.execute('FIND(?s.name, ?o.name) WHERE { (?s, "treats", ?o) }') in (
        [["A", "B"], ["B", "A"]],
        [["B", "A"], ["A", "B"]],
    )


@pytest.mark.parametrize("late", [f"{LINK} rdf:object {A} .", f'{LINK} rdf:subject "A" .'])
def test_a_second_fact_of_a_statement_is_refused_however_late_it_comes(late: str) -> None:
    with pytest.raises(kiprdf.KipError) as raised:
        empty().restore(DEFINITIONS + STATED + STATEMENT + f"{A} attr:x 1 .\n" + late)
    assert raised.value.code == "KIP_2002"


def test_a_type_beside_that_of_a_statement_is_written_in_its_order() -> None:
    link, thing = NamedNode("urn:kip:nexus/$proposition/0123456789abcdef/p"), NamedNode("urn:t")
    fact = Triple(thing, NamedNode("urn:kip:nexus/$PropositionType/p"), thing)
    types = (NamedNode("http://a.example/"), NamedNode("http://z.example/"))
    triples = [fact, Triple(link, vocab.REIFIES, fact)]
    triples += [Triple(link, vocab.TYPE, type) for type in reversed(types)]
    lines = turtle_of(triples, "urn:kip:nexus/").splitlines()
    begin = next(n for n, line in enumerate(lines) if "$proposition" in line)
    assert [line.split()[-2] for line in lines[begin : begin + 4]] == [
        "<http://a.example/>",
        "rdf:Statement",
        "<http://z.example/>",
        "<urn:t>",
    ]


# The place of another


def test_a_reader_beside_a_restore_sees_the_old_dataset_or_the_new_one() -> None:
    nexus, seen, done = kiprdf.Nexus.memory(), set(), threading.Event()
    before = nexus.execute("DESCRIBE CONCEPT TYPES")

    def look() -> None:
        while not done.is_set():
            seen.add(tuple(nexus.execute("DESCRIBE CONCEPT TYPES")))

    reader = threading.Thread(target=look)
    reader.start()
    nexus.restore(demonstration().snapshot())
    done.set()
    reader.join()
    after = nexus.execute("DESCRIBE CONCEPT TYPES")
    assert seen <= {tuple(before), tuple(after)}


def test_a_write_behind_a_restore_does_not_hide_it_from_the_text_index() -> None:
    nexus = kiprdf.Nexus.memory()
    nexus.restore(medical().snapshot())
    nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "Caffeine"} } }')
    results = [nexus.execute(f'SEARCH CONCEPT "{name}"') for name in ("Aspirin", "Caffeine")]
    assert [hits[0]["name"] for hits in results] == ["Aspirin", "Caffeine"]
    assert nexus.check()["index"] == "sound"


def test_the_index_on_disk_has_what_was_restored(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        nexus.restore(medical().snapshot())
    with kiprdf.Nexus.open(tmp_path / "kb", read_only=True) as nexus:
        # Without its own index, which a read-only nexus makes in memory.
        assert nexus._engine.indexer._of_writer().commit == nexus.store.commit()


def test_memory_and_disk_restore_the_same(tmp_path: Path) -> None:
    snapshot = demonstration().snapshot()
    memory = kiprdf.Nexus.memory()
    memory.restore(snapshot)
    with kiprdf.Nexus.open(tmp_path / "kb") as disk:
        disk.restore(snapshot)
        assert (facts(disk), disk.store.records()) == (facts(memory), memory.store.records())


# Tokens


PIECES = [
    '"', "'", "\\", "<", ">", "<<", "<<(", ")>>", "[", "]", "(", ")", "{", "}", "#", "\n", " ",
    "base", "prefix", "b", "P", "<a>", "<urn:a>", '"""', "'''", "x", "_:", "<" + "a" * 8193 + ">",
    "@prefix e: <urn:x/>", ".", ",", "|",
]  # fmt: skip


def looked_at(text: str, way: object) -> object:
    """The brackets of a text, or the error it is refused with."""
    try:
        return list(way(text, guard.Iris(text, "Turtle")))  # type: ignore[operator]
    except kiprdf.KipError as error:
        return str(error), error.span


def every_token(text: str, iris: guard.Iris) -> list[tuple[str, int]]:
    """The same as ``_tokens``, one token after the other."""
    faults = []
    for match in guard._TOKENS.finditer(text):
        if match.group() in guard._OPENING | guard._CLOSING:
            faults.append((match.group(), match.start()))
        else:
            iris.take(match.group(), match.start())
    return faults


def test_what_is_passed_in_one_go_holds_nothing_notable() -> None:
    chance = random.Random(1)
    for _ in range(5000):
        text = "".join(chance.choice(PIECES) for _ in range(chance.randrange(1, 25)))
        assert looked_at(text, guard._tokens) == looked_at(text, every_token), text


# Terms


def terms() -> list[Term]:
    """Terms with everything in them that SPARQL escapes, shortens or says with a mark."""
    odd = "".join(map(chr, [*range(1, 48), 92, 127, 133, 0x2028, 0xE9, 0xFFFE, 0x1F600]))
    texts = [odd, *odd, "", '"^^<x>', '"@en', "a\\tb", "\\", '\\"', "<<( a b c )>>", "_:b", "true"]
    numbers = [
        "1",
        "-1",
        "+1",
        "007",
        "1.5",
        "1e0",
        "1.0E-7",
        ".5",
        "1.",
        "NaN",
        "INF",
        "-0.0",
        "x",
    ]
    types = [vocab.INTEGER, vocab.DOUBLE, vocab.BOOLEAN, vocab.JSON, vocab.STRING]
    types += [NamedNode(f"{vocab.XSD}{name}") for name in ("decimal", "float", "dateTime")]
    terms: list[Term] = [NamedNode("urn:\u00e9/%20$;'(a)"), BlankNode("b1"), *map(Literal, texts)]
    terms += [Literal(text, language="de-at") for text in texts]
    terms += [Literal(text, language="ar", direction=way) for text in texts for way in WAYS]
    terms += [Literal(text, datatype=kind) for kind in types for text in [*numbers, "true", odd]]
    a, b = NamedNode("urn:a"), NamedNode("urn:b")
    return [*terms, *(Triple(a, b, term) for term in terms), Triple(a, b, Triple(b, a, terms[-1]))]


WAYS = (BaseDirection.LTR, BaseDirection.RTL)


@pytest.mark.parametrize("format", ["turtle", "ntriples"])
@pytest.mark.parametrize("profile", ["rdf11", "rdf12"])
def test_every_term_is_written_so_that_it_is_parsed_again(format: Any, profile: Any) -> None:
    base = "urn:kip:nexus/"
    link, thing = NamedNode(f"{base}$proposition/0123456789abcdef/p"), NamedNode("urn:t")
    triples = [Triple(NamedNode(f"urn:{n % 7}"), NamedNode(f"urn:p{n % 3}"), term)
               for n, term in enumerate(terms())]  # fmt: skip
    fact = Triple(thing, NamedNode(f"{base}$PropositionType/p"), thing)
    other = Triple(thing, NamedNode("urn:never"), Literal("a b"))
    triples += [fact, Triple(link, vocab.REIFIES, fact), Triple(link, vocab.REIFIES, other)]
    triples += [Triple(thing, vocab.REIFIES, fact), Triple(BlankNode("b"), vocab.REIFIES, fact)]
    target = io.BytesIO()
    count = Serializer(triples, format, Iris(base), profile=profile).write(target)
    expected = set(to_profile(normalized(triples), profile))
    parsers = {"turtle": RdfFormat.TURTLE, "ntriples": RdfFormat.N_TRIPLES}
    assert {quad.triple for quad in parse(target.getvalue(), parsers[format])} == expected
    assert count == len(list(to_profile(triples, profile)))


def test_a_blank_node_made_by_hand_may_have_any_label() -> None:
    node, other = BlankNode("a:b"), BlankNode("c.d:")
    triples = [Triple(node, NamedNode("urn:p"), other), Triple(other, NamedNode("urn:p"), node)]
    for format, parser in PARSERS.items():
        target = io.BytesIO()
        Serializer(triples, format, Iris("urn:kip:nexus/")).write(target)
        quads = list(parse(target.getvalue(), parser))
        assert [quads[0].subject, quads[0].object] == [quads[1].object, quads[1].subject], format


PARSERS: dict[Format, RdfFormat] = {
    "turtle": RdfFormat.TURTLE,
    "trig": RdfFormat.TRIG,
    "ntriples": RdfFormat.N_TRIPLES,
    "nquads": RdfFormat.N_QUADS,
    "jsonld": RdfFormat.JSON_LD,
    "rdfxml": RdfFormat.RDF_XML,
}


def test_which_fault_is_reported_does_not_depend_on_the_order_of_the_engine() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    drugs = " ".join(
        f'CONCEPT {{ {{type: "Drug", name: "D{n}"}} SET ATTRIBUTES {{ dose: {n} }} }}'
        for n in range(3)
    )
    nexus.execute(f'UPSERT {{ CONCEPT {{ {{type: "$ConceptType", name: "Drug"}} }} {drugs} }}')
    text = re.sub(r'    rdfs:label "D\d" ;\n', "", nexus.snapshot())
    # It is put into our spelling, by which the engine's order changes.
    directed = '"x"^^<https://www.w3.org/ns/i18n#ar_rtl>'
    text = text.replace("attr:dose 0 ;", f"attr:dose {directed} ;")
    with pytest.raises(kiprdf.KipError, match="Drug/D0"):
        kiprdf.Nexus.memory(genesis=False).restore(text)
