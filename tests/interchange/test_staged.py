"""Datasets that wait to be judged: what streams in, what is asked of them, what takes a place."""

from __future__ import annotations

import random
import threading
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad, Triple

import kiprdf
from kiprdf.interchange.formats import lengths, parsing, turtle
from kiprdf.interchange.staged import Staged
from kiprdf.rdf import vocab
from tests.interchange.nexuses import demonstration
from tests.interchange.test_restore import DEFINITIONS, LINK, STATED, STATEMENT, TREATS, A, B, empty
from tests.nexus.support import facts, medical


def staged(*texts: str) -> Staged:
    key = NamedNode("urn:kip:attribute/x")
    return Staged.of(
        Quad(NamedNode(f"urn:{number}"), key, Literal(text, datatype=vocab.JSON))
        for number, text in enumerate(texts)
    )


def test_a_value_is_asked_for_once_however_often_it_stands_there() -> None:
    asked = []
    staged("[1]", "[1]", "[2]").change_objects(
        NamedNode("urn:kip:attribute/x"), lambda term: asked.append(term) or term
    )
    assert len(asked) == 2


def test_changed_values_take_the_place_of_the_old_ones() -> None:
    found = staged("[1 ]", "[1]", "[2]")
    found.change_objects(
        NamedNode("urn:kip:attribute/x"),
        lambda term: Literal(term.value.replace(" ", ""), datatype=vocab.JSON),  # type: ignore[union-attr]
    )
    assert sorted(triple.object.value for triple in found) == ["[1]", "[1]", "[2]"]  # type: ignore[union-attr]


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
    nexus = empty()
    nexus.restore(DEFINITIONS + "\n".join(parts))
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
    lines = turtle.write(triples, "urn:kip:nexus/").splitlines()
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
    found = [nexus.execute(f'SEARCH CONCEPT "{name}"') for name in ("Aspirin", "Caffeine")]
    assert [hits[0]["name"] for hits in found] == ["Aspirin", "Caffeine"]
    assert nexus.check()["index"] == "sound"


def test_the_index_on_disk_has_what_was_restored(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        nexus.restore(medical().snapshot())
    with kiprdf.Nexus.open(tmp_path / "kb", read_only=True) as nexus:
        # Without an index of its own, which a read-only nexus makes in memory.
        assert nexus._indexer._of_writer().commit == nexus._store.commit()


def test_memory_and_disk_restore_the_same(tmp_path: Path) -> None:
    snapshot = demonstration().snapshot()
    memory = kiprdf.Nexus.memory()
    memory.restore(snapshot)
    with kiprdf.Nexus.open(tmp_path / "kb") as disk:
        disk.restore(snapshot)
        assert (facts(disk), disk._store.records()) == (facts(memory), memory._store.records())


# Tokens


PIECES = [
    '"', "'", "\\", "<", ">", "<<", "<<(", ")>>", "[", "]", "(", ")", "{", "}", "#", "\n", " ",
    "base", "prefix", "b", "P", "<a>", "<urn:a>", '"""', "'''", "x", "_:", "<" + "a" * 8193 + ">",
    "@prefix e: <urn:x/>", ".", ",", "|",
]  # fmt: skip


def looked_at(text: str, way: object) -> object:
    """The brackets of a text, or the error it is refused with."""
    try:
        return list(way(text, lengths.Iris(text, "Turtle")))  # type: ignore[operator]
    except kiprdf.KipError as error:
        return str(error), error.span


def every_token(text: str, iris: lengths.Iris) -> list[tuple[str, int]]:
    """The same as ``_tokens``, one token after the other."""
    found = []
    for match in parsing._TOKENS.finditer(text):
        if match.group() in parsing._OPENING | parsing._CLOSING:
            found.append((match.group(), match.start()))
        else:
            iris.take(match.group(), match.start())
    return found


def test_what_is_passed_in_one_go_holds_nothing_notable() -> None:
    chance = random.Random(1)
    for _ in range(5000):
        text = "".join(chance.choice(PIECES) for _ in range(chance.randrange(1, 25)))
        assert looked_at(text, parsing._tokens) == looked_at(text, every_token), text
