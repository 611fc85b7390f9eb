"""Triples that are read as lines of N-Triples."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import pytest
from pyoxigraph import BaseDirection, BlankNode, Literal, NamedNode, Quad, Triple

from kiprdf.budget import Budget, spend
from kiprdf.errors import KipError
from kiprdf.interchange import n_triples
from kiprdf.interchange.n_triples import StagingStore, Term

A = NamedNode("urn:a")
EVERY_ESCAPE = "".join(map(chr, range(0x20))) + "\x7f\x85\u2028\ufdd0\ufffe\uffff\"\\b'é漢😀 .\n"
TERMS: list[Term] = [
    NamedNode("urn:é"),
    BlankNode("b1"),
    Literal(EVERY_ESCAPE),
    Literal(EVERY_ESCAPE, datatype=NamedNode("urn:datatype")),
    Literal("x", language="de-at"),
    Literal("x", language="ar", direction=BaseDirection.RTL),
    Triple(A, A, Literal("one two )>> .")),
]


def lines_of(triples: StagingStore | Iterable[Triple]) -> list[str]:
    lines: list[str] = []
    n_triples.read(triples, lines.extend)
    return lines


@pytest.mark.parametrize("term", TERMS, ids=str)
def test_the_term_of_a_line_is_that_of_its_triple(term: Term) -> None:
    triple = Triple(A, A, term)
    for triples in ([triple], StagingStore.of([Quad(*triple)])):
        (line,) = lines_of(triples)
        assert n_triples.term(line.split(" ", 2)[2]) == term


def test_lines_longer_than_what_the_engine_writes_at_once_are_whole() -> None:
    triples = [Triple(A, A, Literal(f"{number}é" * 20_000)) for number in range(3)]
    assert lines_of(triples) == list(map(str, triples))


def test_a_request_whose_time_is_over_reads_no_further() -> None:
    store = StagingStore.of(Quad(A, A, Literal(str(number))) for number in range(1000))
    for triples in (store, list(store)):
        with pytest.raises(KipError) as caught:
            spend(Budget(timeout_s=1e-9), partial(lines_of, triples))
        assert caught.value.code == "KIP_4001"
