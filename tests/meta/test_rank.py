"""The ranking of a SEARCH without its elements: what the memory builds on."""

from __future__ import annotations

import threading
from typing import get_args

import pytest

import kiprdf
from kiprdf.meta.search import Question, Rankings
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


def rankings(nexus: kiprdf.Nexus, *question: object) -> Rankings:
    return nexus._engine.indexer.rankings(Question(*question))  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["keyword", "semantic"])
def test_a_ranking_is_that_of_a_search(nexus: kiprdf.Nexus, mode: Mode) -> None:
    command = f'SEARCH CONCEPT "headache tea" WITH TYPE "Note" MODE "{mode}" LIMIT 3'
    shown = nexus.execute(command)
    words, meaning, warnings = rankings(nexus, "concept", "headache tea", "Note", mode, 3)
    hits = words.hits if meaning is None else meaning.hits
    assert (len(hits), warnings, meaning is None) == (3, (), mode == "keyword")
    names = [hit.key.rpartition("/")[2] for hit in hits]
    assert names == [element["name"] for element in shown]
    scores = [element["metadata"]["_score"] for element in shown]
    assert [hit.score for hit in hits] == pytest.approx(scores, abs=2e-6)


@pytest.mark.parametrize("mode", get_args(Mode))
def test_rankings_without_a_limit_have_all_that_matches(nexus: kiprdf.Nexus, mode: Mode) -> None:
    for number in range(200):
        command = 'UPSERT { CONCEPT { {type: "Note", name: :name} SET ATTRIBUTES {text: "tea"} } }'
        nexus.execute(command, name=f"more{number}")
    words, meaning, _ = rankings(nexus, "concept", "tea", "Note", mode, None)
    assert len(words.hits) == 203
    assert meaning is None if mode == "keyword" else meaning and len(meaning.hits) == 203
    assert len(nexus.execute(f'SEARCH CONCEPT "tea" MODE "{mode}"')) == 100


def test_rankings_follow_the_last_write_and_warn_as_a_search_does(nexus: kiprdf.Nexus) -> None:
    before = rankings(nexus, "concept", "coffee", "Note")
    assert [hit.score > 0 for hit in before.words.hits] == [True]
    nexus.execute('DELETE CONCEPT ?n DETACH WHERE { ?n {type: "Note", name: "n3"} }')
    words, meaning, warnings = rankings(nexus, "concept", "coffee", "Note")
    assert (words.hits, meaning, warnings) == ([], None, ())
    plain = kiprdf.Nexus.memory()
    (warning,) = rankings(plain, "concept", "system", None, "hybrid").warnings
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
