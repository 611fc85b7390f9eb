"""The ranking of a SEARCH without its elements: what the memory builds on."""

from __future__ import annotations

import threading
from typing import get_args

import pytest

import kiprdf
from kiprdf.search import Hit
from kiprdf.semantics.arguments import Mode
from tests.search.toys import by_meaning

NOTES = ("headache after tea", "migraine", "fever and tea", "coffee", "Tea")


@pytest.fixture
def nexus() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(embedder=by_meaning)
    nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Note"} } }')
    for number, text in enumerate(NOTES):
        command = 'UPSERT { CONCEPT { {type: "Note", name: :name} SET ATTRIBUTES {text: :text} } }'
        nexus.execute(command, name=f"n{number}", text=text)
    return nexus


def rank(nexus: kiprdf.Nexus, *question: object) -> tuple[list[Hit], tuple[object, ...]]:
    return nexus._engine.indexer.rank(*question)  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", get_args(Mode))
def test_a_rank_is_that_of_a_search(nexus: kiprdf.Nexus, mode: Mode) -> None:
    command = f'SEARCH CONCEPT "headache tea" WITH TYPE "Note" MODE "{mode}" LIMIT 3'
    shown = nexus.execute(command)
    hits, warnings = rank(nexus, "concept", "headache tea", "Note", mode, 3)
    assert len(hits) == 3
    assert warnings == ()
    names = [hit.key.rpartition("/")[2] for hit in hits]
    assert names == [element["name"] for element in shown]
    scores = [element["metadata"]["_score"] for element in shown]
    assert [hit.score for hit in hits] == pytest.approx(scores, abs=2e-6)


@pytest.mark.parametrize("mode", get_args(Mode))
def test_a_rank_without_a_limit_has_all_that_matches(nexus: kiprdf.Nexus, mode: Mode) -> None:
    for number in range(200):
        command = 'UPSERT { CONCEPT { {type: "Note", name: :name} SET ATTRIBUTES {text: "tea"} } }'
        nexus.execute(command, name=f"more{number}")
    hits, _ = rank(nexus, "concept", "tea", "Note", mode)
    assert len(hits) == 203
    assert len(nexus.execute(f'SEARCH CONCEPT "tea" MODE "{mode}"')) == 100


def test_a_rank_follows_the_last_write_and_warns_as_a_search_does(nexus: kiprdf.Nexus) -> None:
    assert [hit.score > 0 for hit in rank(nexus, "concept", "coffee", "Note")[0]] == [True]
    nexus.execute('DELETE CONCEPT ?n DETACH WHERE { ?n {type: "Note", name: "n3"} }')
    assert rank(nexus, "concept", "coffee", "Note") == ([], ())
    plain = kiprdf.Nexus.memory()
    (warning,) = rank(plain, "concept", "system", None, "hybrid")[1]
    assert warning == plain.answer('SEARCH CONCEPT "system" MODE "hybrid"').warnings[0]


class Local:
    """An additive embedder that records the threads that call it; fails on demand."""

    def __init__(self) -> None:
        self.threads: list[int] = []
        self.is_failing = False

    def __call__(self, texts: list[str], /) -> list[list[float]]:
        return by_meaning(texts)

    def embed_words(self, words: list[str], /) -> list[list[float]]:
        self.threads.append(threading.get_ident())
        if self.is_failing:
            raise ValueError("no such word")
        return by_meaning(words)


def test_a_query_starts_no_thread_when_all_vectors_are_there() -> None:
    local = Local()
    nexus = kiprdf.Nexus.memory(embedder=local)
    nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Note"} } }')
    nexus.execute('UPSERT { CONCEPT { {type: "Note", name: "tea"} } }')
    search = 'SEARCH CONCEPT "infusion" WITH TYPE "Note" MODE "semantic"'
    for _ in range(3):
        assert [hit["name"] for hit in nexus.execute(search)] == ["tea"]
    here = threading.get_ident()
    assert local.threads[0] != here
    assert local.threads[1:] == []  # the vector of the term is cached
    nexus.execute('SEARCH CONCEPT "pyrexia" WITH TYPE "Note" MODE "semantic"')
    assert local.threads[1:] == [here]
    nexus.execute('UPSERT { CONCEPT { {type: "Note", name: "fever"} } }')
    nexus.execute('SEARCH CONCEPT "pyrexia" WITH TYPE "Note" MODE "semantic"')
    assert local.threads[2] != here


def test_words_that_cannot_be_embedded_are_searched_as_words() -> None:
    local = Local()
    nexus = kiprdf.Nexus.memory(embedder=local)
    local.is_failing = True
    answer = nexus.answer('SEARCH CONCEPT "system" MODE "hybrid" LIMIT 1')
    assert len(answer.result) == 1
    assert "the embedder failed (ValueError: no such word)" in answer.warnings[0].message
