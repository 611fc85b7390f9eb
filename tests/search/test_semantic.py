"""Meanings are found best first; every text is embedded once; no fault loses anything."""

from __future__ import annotations

import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from kiprdf.search import Hit, IndexRow, Kind, TextIndex, vectors
from kiprdf.search.embedders import EmbeddingError
from kiprdf.search.index import Changes
from kiprdf.search.rows import digest, embedded_text
from kiprdf.search.semantic import SemanticIndex
from kiprdf.search.vectors import BATCH, SAMPLE
from tests.search.toys import MEANINGS, Counting, by_meaning, rebuild
from tests.threads import together


def concept(key: str, name: str, *, type: str = "Drug", text: str = "") -> IndexRow:
    return IndexRow(key, "concept", type, name, (), "", text)


def proposition(key: str, subject: str, predicate: str, object: str) -> IndexRow:
    return IndexRow(key, "proposition", predicate, predicate, (subject, object), "", "")


class Shelf:
    """A text index, and the rows that it is made of."""

    def __init__(self, *rows: IndexRow) -> None:
        self.rows = {row.key: row for row in rows}
        self.index = TextIndex(None)
        rebuild(self.index, rows, commit=1)

    def rows_of(self, keys: Iterable[str]) -> Iterable[IndexRow]:
        return (self.rows[key] for key in keys if key in self.rows)

    def put(self, *rows: IndexRow, removed: tuple[str, ...] = ()) -> None:
        self.rows.update({row.key: row for row in rows})
        for key in removed:
            del self.rows[key]
        self.index.update(rows, removed, commit=self.index.commit + 1)

    def hits(
        self,
        semantic: SemanticIndex,
        term: str,
        kind: Kind = "concept",
        type: str | None = None,
        limit: int = 100,
    ) -> list[Hit]:
        semantic.prepare(self.index, self.rows_of, kind, term, type)
        ranking = semantic.rank(self.index, kind, term, type, limit)
        assert ranking is not None
        return ranking.hits

    def keys(self, semantic: SemanticIndex, term: str, **more: Any) -> list[str]:
        return [hit.key for hit in self.hits(semantic, term, **more)]


# Ranking


def test_a_synonym_is_found() -> None:
    shelf = Shelf(concept("a", "Headache"), concept("b", "Fever"))
    assert shelf.keys(SemanticIndex(by_meaning, None), "cephalalgia") == ["a"]


def test_the_score_is_the_cosine() -> None:
    shelf = Shelf(concept("a", "headache"), concept("b", "headache fever"))
    hits = shelf.hits(SemanticIndex(by_meaning, None), "migraine")
    assert hits == [Hit("a", 1.0), Hit("b", 0.707107)]


def test_what_has_nothing_in_common_is_not_found() -> None:
    shelf = Shelf(concept("a", "Fever"), concept("b", "unknown"))
    assert shelf.keys(SemanticIndex(by_meaning, None), "tea") == []
    assert shelf.keys(SemanticIndex(by_meaning, None), "unknown") == []


def test_an_opposite_is_not_found() -> None:
    def signed(texts: list[str]) -> list[list[float]]:
        return [[-1.0 if "not" in text else 1.0, 0.1] for text in texts]

    shelf = Shelf(concept("a", "good"), concept("b", "not good"))
    assert shelf.keys(SemanticIndex(signed, None), "good") == ["a"]


def test_equal_scores_are_ordered_by_key() -> None:
    shelf = Shelf(*(concept(key, f"tea {key}") for key in "dacb"))
    assert shelf.keys(SemanticIndex(by_meaning, None), "infusion") == ["a", "b", "c", "d"]


def test_the_type_filters_before_the_limit() -> None:
    shelf = Shelf(concept("a", "tea", type="Food"), concept("b", "tea fever", type="Drug"))
    semantic = SemanticIndex(by_meaning, None)
    assert shelf.keys(semantic, "tea", type="Drug", limit=1) == ["b"]
    assert shelf.keys(semantic, "tea", type="drug") == []


def test_the_limit_keeps_the_best() -> None:
    shelf = Shelf(concept("a", "tea fever"), concept("b", "tea"), concept("c", "tea fever aspirin"))
    semantic = SemanticIndex(by_meaning, None)
    assert shelf.keys(semantic, "tea", limit=1) == ["b"]
    assert shelf.keys(semantic, "tea", limit=9) == ["b", "a", "c"]


def test_less_than_the_least_only_the_others_are_kept() -> None:
    words = [word for words in MEANINGS for word in words]
    chosen = Random(3)
    shelf = Shelf(*(concept(f"{n:03}", " ".join(chosen.sample(words, 3))) for n in range(200)))
    semantic, others = SemanticIndex(by_meaning, None), {f"{n:03}" for n in range(0, 200, 7)}
    shelf.hits(semantic, "headache", limit=200)
    for limit in (200, 20):  # of the 20 best, the last ones have equal cosines
        asked = shelf.index, "concept", "headache", None, limit
        ranked, kept = semantic.rank(*asked), semantic.rank(*asked, 0.6, {*others, "absent"})
        assert ranked is not None
        assert kept is not None
        expected = {k: of for k, of in ranked.cosines.items() if of >= 0.6 or k in others}
        used = {k: of for k, of in kept.cosines.items() if of >= 0.6 or k in others}
        assert [*used.items()] == [*expected.items()]
        if limit == 200:
            assert 0 < len(kept.cosines) == len(expected) < len(ranked.cosines)


def test_the_kind_filters() -> None:
    shelf = Shelf(concept("a", "tea"), proposition("p", "tea", "eases", "fever"))
    semantic = SemanticIndex(by_meaning, None)
    assert shelf.keys(semantic, "tea") == ["a"]
    assert shelf.keys(semantic, "pyrexia", kind="proposition") == ["p"]


def test_a_proposition_is_embedded_as_a_sentence() -> None:
    embedder = Counting()
    shelf = Shelf(proposition("p", "Tea", "is_good_for", "Fever"))
    shelf.keys(SemanticIndex(embedder, None), "fever", kind="proposition")
    assert "Tea is good for Fever" in embedder.texts


def test_an_empty_index_finds_nothing() -> None:
    assert Shelf().keys(SemanticIndex(by_meaning, None), "tea") == []


@pytest.mark.parametrize("term", ["\ud800tea", "tea\x00", "tea " * 100_000])
def test_a_strange_term_is_embedded(term: str) -> None:
    embedder = Counting()
    assert Shelf(concept("a", "tea")).keys(SemanticIndex(embedder, None), term) == ["a"]
    assert all(text.encode() and len(text) <= 2000 for text in embedder.texts)


def test_lists_and_arrays_are_vectors() -> None:
    def arrays(texts: list[str]) -> Any:
        return np.array(by_meaning(texts), dtype=np.float16)

    shelf = Shelf(concept("a", "tea"))
    assert shelf.keys(SemanticIndex(arrays, None), "infusion") == ["a"]


# What is embedded, and when


def test_only_texts_that_changed_are_embedded_again() -> None:
    embedder = Counting()
    shelf = Shelf(concept("a", "tea"), concept("b", "fever"))
    semantic = SemanticIndex(embedder, None)
    shelf.keys(semantic, "tea")
    embedder.forget()
    shelf.put(concept("b", "coffee"), concept("c", "aspirin"))
    assert shelf.keys(semantic, "espresso") == ["b"]
    assert embedder.texts == ["espresso", "coffee", "aspirin"]


def test_without_a_change_only_the_term_is_embedded() -> None:
    embedder = Counting()
    shelf = Shelf(concept("a", "tea"))
    semantic = SemanticIndex(embedder, None)
    shelf.keys(semantic, "tea")
    embedder.forget()
    shelf.keys(semantic, "fever")
    assert embedder.texts == ["fever"]


def test_only_the_kind_that_is_searched_is_embedded() -> None:
    embedder = Counting()
    shelf = Shelf(concept("a", "tea"), proposition("p", "tea", "eases", "fever"))
    shelf.keys(SemanticIndex(embedder, None), "tea")
    assert embedder.texts == ["tea", SAMPLE, "tea"]


def test_rows_of_one_text_share_a_vector() -> None:
    embedder = Counting()
    shelf = Shelf(*(concept(f"{n:03}", "tea", type=f"T{n}") for n in range(2 * BATCH)))
    assert len(shelf.keys(SemanticIndex(embedder, None), "tea", limit=1000)) == 2 * BATCH
    assert embedder.texts == ["tea", SAMPLE, "tea"]


def test_texts_are_embedded_in_growing_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "FAST_S", 60.0)
    embedder = Counting()
    shelf = Shelf(*(concept(f"{n:03}", f"tea {n}") for n in range(3 * BATCH)))
    assert len(shelf.keys(SemanticIndex(embedder, None), "tea", limit=1000)) == 3 * BATCH
    assert [len(call) for call in embedder.calls] == [1, 1, 32, 64, 128, 256, 256, 32]


def test_batches_of_a_slow_embedder_shrink(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "FAST_S", -1.0)
    monkeypatch.setattr(vectors, "SLOW_S", -1.0)
    embedder = Counting()
    shelf = Shelf(*(concept(f"{n:03}", f"tea {n}") for n in range(65)))
    assert len(shelf.keys(SemanticIndex(embedder, None), "tea")) == 65
    assert [len(call) for call in embedder.calls] == [1, 1, 32, 16, 8, 4, 2, 1, 1, 1]


def test_a_removed_row_is_not_found() -> None:
    shelf = Shelf(concept("a", "tea"), concept("b", "tea fever"))
    semantic = SemanticIndex(by_meaning, None)
    assert shelf.keys(semantic, "tea") == ["a", "b"]
    shelf.put(removed=("a",))
    assert shelf.keys(semantic, "tea") == ["b"]
    shelf.put(removed=("b",))
    assert shelf.keys(semantic, "tea") == []


def test_a_row_that_changes_while_it_is_embedded_is_found_when_the_index_knows_it() -> None:
    embedder = Counting()
    shelf = Shelf(concept("a", "tea"), concept("b", "fever"))
    semantic = SemanticIndex(embedder, None)
    shelf.rows["a"] = concept("a", "coffee")
    assert shelf.keys(semantic, "tea coffee fever") == ["b"]
    shelf.put(concept("a", "coffee"))
    assert shelf.keys(semantic, "espresso") == ["a"]
    assert embedder.texts.count("coffee") == 1


# Unfinished indexes


def interrupted(texts: list[str]) -> list[list[float]]:
    """An embedder that is interrupted at every text with a number from 40."""
    if any(int(number) >= 40 for text in texts for number in re.findall(r"tea (\d+)$", text)):
        raise KeyboardInterrupt
    return by_meaning(texts)


def test_an_unfinished_index_says_how_many_rows_it_ranks() -> None:
    rows = [concept(f"{n:02}", f"tea {n}", type="AB"[n % 2]) for n in range(60)]
    books = Shelf(*rows)
    semantic = SemanticIndex(interrupted, None)
    with pytest.raises(KeyboardInterrupt):
        semantic.prepare(books.index, books.rows_of, "concept", "tea")
    ranking = semantic.rank(books.index, "concept", "tea", limit=5)
    assert ranking is not None
    assert ([hit.key for hit in ranking.hits], *ranking[1:]) == (
        ["00", "01", "02", "03", "04"],
        32,
        60,
    )
    of_type = semantic.rank(books.index, "concept", "tea", "B")
    assert of_type is not None
    assert (len(of_type.hits), *of_type[1:]) == (16, 16, 30)
    assert semantic.rank(books.index, "concept", "another term") is None
    assert semantic.rank(books.index, "concept", "another term", "C") == ({}, 0, 0)


def test_only_the_type_that_is_searched_is_embedded() -> None:
    rows = [concept(f"{n:02}", f"tea {n}", type="AB"[n % 2]) for n in range(60)]
    books = Shelf(*rows)
    semantic = SemanticIndex(embedder := Counting(), None)
    assert len(books.keys(semantic, "tea", type="A")) == 30
    assert len(embedder.texts) == 2 + 30
    assert len(books.keys(semantic, "tea")) == 60
    assert len(embedder.texts) == 2 + 60


def test_an_unfinished_index_keeps_the_vectors_of_its_file(tmp_path: Path) -> None:
    rows = [concept(f"{n:02}", f"tea {n}") for n in range(60)]
    books = Shelf(*rows)
    semantic = SemanticIndex(interrupted, tmp_path / "vectors")
    with pytest.raises(KeyboardInterrupt):
        semantic.prepare(books.index, books.rows_of, "concept", "tea")
    semantic.close()
    semantic = SemanticIndex(embedder := Counting(), tmp_path / "vectors")
    counts: list[int] = []
    semantic.build(books.index, books.rows_of, "concept", advance=counts.append)
    assert embedder.texts == [SAMPLE, *(f"tea {n}" for n in range(32, 60))]
    assert counts == [32, 28]
    semantic.build(books.index, books.rows_of, "concept", advance=counts.append)
    assert counts == [32, 28, 60]
    assert semantic.embedded() == 60


def test_an_unfinished_index_finds_no_row_that_was_removed() -> None:
    books = Shelf(*(concept(f"{n:02}", f"tea {n}") for n in range(60)))
    semantic = SemanticIndex(interrupted, None)
    with pytest.raises(KeyboardInterrupt):
        semantic.prepare(books.index, books.rows_of, "concept", "tea")
    books.put(removed=("00", "50"))
    ranking = semantic.rank(books.index, "concept", "tea", limit=1)
    assert ranking is not None
    assert ([hit.key for hit in ranking.hits], *ranking[1:]) == (["01"], 31, 58)


# The file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The closed file of the vectors of SHELF."""
    shelf().keys(semantic := SemanticIndex(by_meaning, tmp_path / "vectors"), "tea")
    semantic.close()
    return tmp_path / "vectors"


def shelf(*more: IndexRow) -> Shelf:
    return Shelf(concept("a", "tea"), concept("b", "fever"), *more)


def kept(path: Path) -> int:
    connection = sqlite3.connect(path)
    (count,) = connection.execute("SELECT count(*) FROM vector").fetchone()
    connection.close()
    return int(count)


def embedded(path: Path, embedder: Counting | None = None, read_only: bool = False) -> list[str]:
    """What a new process embeds to find a row by its synonym."""
    counting = embedder or Counting()
    semantic = SemanticIndex(counting, path, read_only)
    try:
        assert shelf().keys(semantic, "infusion") == ["a"]
    finally:
        semantic.close()
    return [text for text in counting.texts if text not in (SAMPLE, "infusion")]


def test_vectors_outlive_the_process(path: Path) -> None:
    assert embedded(path) == []


def test_an_embedder_of_another_dimension_recomputes_every_vector(path: Path) -> None:
    class Longer(Counting):
        def __call__(self, texts: list[str], /) -> list[list[float]]:
            return [[*vector, 0.0] for vector in super().__call__(texts)]

    assert embedded(path, Longer()) == ["tea", "fever"]
    assert embedded(path, Longer()) == []
    assert embedded(path) == ["tea", "fever"]


def test_an_embedder_with_another_vector_of_the_probe_recomputes_every_vector(path: Path) -> None:
    class Reversed(Counting):
        def __call__(self, texts: list[str], /) -> list[list[float]]:
            vectors = [vector[::-1] for vector in super().__call__(texts)]
            return [[1.0] * len(MEANINGS)] if texts == [SAMPLE] else vectors

    assert embedded(path, Reversed()) == ["tea", "fever"]
    assert embedded(path, Reversed()) == []


def test_an_embedder_that_is_not_exact_is_the_same(path: Path) -> None:
    class Noisy(Counting):
        def __call__(self, texts: list[str], /) -> list[list[float]]:
            return [[n * 1.0001 for n in vector] for vector in super().__call__(texts)]

    assert embedded(path, Noisy()) == []


def test_vectors_of_deleted_texts_are_dropped(path: Path) -> None:
    semantic = SemanticIndex(by_meaning, path)
    books = shelf(concept("c", "coffee"))
    books.keys(semantic, "tea")
    assert kept(path) == 3
    books.put(removed=("c",))
    books.keys(semantic, "tea")
    assert kept(path) == 2
    semantic.close()


def test_vectors_that_became_stale_before_the_opening_are_dropped(path: Path) -> None:
    semantic = SemanticIndex(by_meaning, path)
    Shelf(concept("a", "tea")).keys(semantic, "tea")
    semantic.close()
    assert kept(path) == 1


def test_to_search_one_kind_keeps_the_vectors_of_the_other(path: Path) -> None:
    semantic = SemanticIndex(by_meaning, path)
    books = shelf(proposition("p", "tea", "eases", "fever"))
    books.keys(semantic, "tea", kind="proposition")
    semantic.close()
    assert kept(path) == 3


def test_an_emptied_text_index_drops_no_vector(path: Path) -> None:
    semantic = SemanticIndex(by_meaning, path)
    books = shelf()
    assert books.keys(semantic, "tea") == ["a"]
    rebuild(books.index, [], commit=-1)
    assert books.keys(semantic, "tea") == []
    semantic.close()
    assert kept(path) == 2


@pytest.mark.parametrize("content", [b"", b"no database " * 500, b"\x00" * 9000])
def test_a_file_that_is_no_database_is_rebuilt(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert embedded(path) == ["tea", "fever"]
    assert embedded(path) == []


def test_a_file_of_another_version_is_rebuilt(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE about SET version = '0'")
    connection.close()
    assert embedded(path) == ["tea", "fever"]


@pytest.mark.parametrize("blob", [b"", b"123", np.full(len(MEANINGS), np.nan, "f4").tobytes()])
def test_an_invalid_vector_is_computed_again(path: Path, blob: bytes) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE vector SET vector = ?", (blob,))
    connection.close()
    assert embedded(path) == ["tea", "fever"]


def test_a_file_damaged_while_it_is_open_does_not_fail_a_search(path: Path) -> None:
    semantic = SemanticIndex(by_meaning, path)
    books = shelf()
    assert books.keys(semantic, "tea") == ["a"]
    for file in path.parent.glob("vectors*"):
        file.write_bytes(b"\xff" * 50_000)
    books.put(concept("c", "tea fever"))
    assert books.keys(semantic, "tea") == ["a", "c"]
    semantic.close()
    embedded(path)


def test_a_folder_in_place_of_the_file_does_not_fail_a_search(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "vectors").mkdir()
    assert embedded(tmp_path / "vectors") == ["tea", "fever"]
    assert "Vectors are not stored" in caplog.text


def test_read_only_uses_the_file_and_leaves_it_alone(path: Path) -> None:
    before = {one: one.read_bytes() for one in path.parent.iterdir()}
    semantic = SemanticIndex(embedder := Counting(), path, read_only=True)
    assert shelf(concept("c", "coffee")).keys(semantic, "espresso") == ["c"]
    assert embedder.texts == ["espresso", SAMPLE, "coffee"]
    assert before.keys() == {path, path.with_name("vectors-sum")}
    assert {one: one.read_bytes() for one in path.parent.iterdir()} == before


def test_read_only_reads_beside_an_open_writer(path: Path) -> None:
    writer = SemanticIndex(by_meaning, path)
    shelf(concept("c", "coffee")).keys(writer, "tea")
    reader = SemanticIndex(embedder := Counting(), path, read_only=True)
    assert shelf(concept("c", "coffee")).keys(reader, "espresso") == ["c"]
    assert embedder.texts == ["espresso", SAMPLE]
    writer.close()


def test_read_only_makes_no_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert embedded(tmp_path / "vectors", read_only=True) == ["tea", "fever"]
    assert (list(tmp_path.iterdir()), caplog.text) == ([], "")


def test_read_only_ignores_the_vectors_of_another_embedder(path: Path) -> None:
    class Longer(Counting):
        def __call__(self, texts: list[str], /) -> list[list[float]]:
            return [[*vector, 0.0] for vector in super().__call__(texts)]

    assert embedded(path, Longer(), read_only=True) == ["tea", "fever"]
    assert embedded(path) == []


# Embedders that fail


@pytest.mark.parametrize("name", [None, "vectors"], ids=["memory", "file"])
def test_what_was_embedded_before_a_failure_is_not_embedded_again(
    tmp_path: Path, name: str | None
) -> None:
    books = Shelf(*(concept(f"{n:04}", f"tea {n}") for n in range(3 * BATCH)))
    embedder = Counting(failing_after=4)
    semantic = SemanticIndex(embedder, tmp_path / name if name else None)
    with pytest.raises(EmbeddingError, match="ConnectionError: the service is down"):
        books.keys(semantic, "tea")
    before = set(embedder.texts[: 1 + 1 + 32 + 64])
    ranking = semantic.rank(books.index, "concept", "tea", limit=5000)
    assert ranking is not None
    assert (len(ranking.hits), ranking.embedded, ranking.total) == (96, 96, 3 * BATCH)
    embedder.forget()
    embedder.failing_after = None
    assert len(books.keys(semantic, "tea", limit=5000)) == 3 * BATCH
    assert (len(embedder.texts), before & set(embedder.texts)) == (3 * BATCH - 96, set())
    semantic.close()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda texts: [], r"an array of \(0,\) for 1 texts"),
        (lambda texts: [[1.0]] * (len(texts) + 1), r"an array of \(2, 1\) for 1 texts"),
        (lambda texts: [1.0] * len(texts), r"an array of \(1,\) for 1 texts"),
        (lambda texts: [[]] * len(texts), r"an array of \(1, 0\) for 1 texts"),
        (lambda texts: [[1.0, float("nan")]] * len(texts), "not finite"),
        (lambda texts: [[1e300]] * len(texts), "not finite"),
        (lambda texts: [["x"]] * len(texts), "no vectors of one length"),
        (lambda texts: None, "an array of|no vectors"),
        (lambda texts: ([1.0] for _ in texts), "an array of|no vectors"),
        (lambda texts: [[1.0, [2.0]]], "instead of vectors of one length"),
        (lambda texts: [[1.0] * (1 + len(texts[0]) % 7)], "numbers before"),
    ],
)
def test_what_is_not_one_finite_vector_a_text_is_refused(
    answer: Callable[[list[str]], Any], message: str
) -> None:
    semantic = SemanticIndex(answer, None)
    with pytest.raises(EmbeddingError, match=message):
        Shelf(concept("a", "tea")).keys(semantic, "tea")


# Threads


def test_threads_share_an_index_and_never_call_the_embedder_together() -> None:
    busy = threading.Lock()
    failures: list[object] = []

    def one_by_one(texts: list[str]) -> list[list[float]]:
        if not busy.acquire(blocking=False):
            failures.append("called by two threads")
            return by_meaning(texts)
        try:
            time.sleep(0.001)
            return by_meaning(texts)
        finally:
            busy.release()

    books = shelf()
    semantic = SemanticIndex(one_by_one, None)

    def read() -> None:
        for _ in range(50):
            hits = books.keys(semantic, "infusion")
            if hits not in (["a"], ["a", "c"]):
                failures.append(hits)

    def write() -> None:
        for _ in range(25):
            books.put(concept("c", "tea fever"))
            books.put(removed=("c",))

    together(read, write, read, read)
    assert failures == []


# The words of a term, weighted by their rarity


class Additive(Counting):
    """The vector of a text is the sum of those of its words; records the words."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.threads: set[int] = set()

    def embed_words(self, words: list[str], /) -> list[list[float]]:
        self.words += words
        self.threads.add(threading.get_ident())
        return by_meaning(words)


def common_and_rare() -> Shelf:
    """Rows of which many have tea, and one has fever."""
    return Shelf(
        *(concept(f"t{number}", "tea", text=f"number{number}") for number in range(9)),
        concept("f", "fever"),
    )


def test_rare_words_of_a_term_weigh_more() -> None:
    shelf = common_and_rare()
    best = shelf.hits(SemanticIndex(Additive(), None), "fever tea", limit=1)
    assert [hit.key for hit in best] == ["f"]
    assert best[0].score > 0.9
    whole = shelf.hits(SemanticIndex(by_meaning, None), "fever tea")
    assert {hit.score for hit in whole} == {0.707107}


def test_a_word_that_no_row_has_weighs_most() -> None:
    shelf = common_and_rare()
    assert shelf.keys(SemanticIndex(Additive(), None), "pyrexia tea", limit=1) == ["f"]


def test_only_an_additive_embedder_gets_words() -> None:
    shelf, embedder = Shelf(concept("a", "tea")), Counting()
    shelf.keys(SemanticIndex(embedder, None), "hot tea, tea!")
    assert embedder.texts[0] == "hot tea, tea!"
    additive = Additive()
    shelf.keys(SemanticIndex(additive, None), "hot tea, tea!")
    assert "hot tea, tea!" not in additive.texts
    assert additive.words == ["hot", "tea"]


def test_weights_follow_the_index() -> None:
    shelf, semantic = common_and_rare(), SemanticIndex(Additive(), None)
    (before,) = shelf.hits(semantic, "fever tea", limit=1)
    shelf.put(*(concept(f"g{number}", "fever", text=f"number{number}") for number in range(20)))
    after = shelf.hits(semantic, "fever tea", limit=100)
    assert before.key == "f"
    assert after[0].key.startswith("t")


@pytest.mark.parametrize("term", ["?!", "🎉", "tea " * 100_000, "\ud800tea"])
def test_a_strange_term_is_embedded_by_its_words(term: str) -> None:
    shelf, embedder = Shelf(concept("a", "tea")), Additive()
    assert shelf.keys(SemanticIndex(embedder, None), term) == (["a"] if "tea" in term else [])
    assert len(embedder.words) <= 1


def test_a_term_of_many_words_is_bounded() -> None:
    shelf, embedder = Shelf(concept("a", "tea")), Additive()
    shelf.keys(SemanticIndex(embedder, None), " ".join(f"w{number}" for number in range(10_000)))
    assert len(embedder.words) == 64


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each reading of the rows of an index, whether all were read."""
    made: list[bool] = []
    changes = TextIndex.changes

    def noted(index: TextIndex, kind: Kind, since: int = -1) -> Changes:
        made.append((result := changes(index, kind, since)).are_all)
        return result

    monkeypatch.setattr(TextIndex, "changes", noted)
    return made


def test_rows_are_read_once_for_each_commit(readings: list[bool]) -> None:
    # Of another type nothing is embedded, so that vectors of earlier texts are kept.
    shelf = Shelf(concept("a", "tea"), concept("b", "bread", type="Food"))
    semantic = SemanticIndex(by_meaning, None)
    for text in ("fever", "aspirin", "coffee"):
        shelf.put(concept("a", text))
        assert shelf.keys(semantic, text, type="Drug") == ["a"]
    assert readings == [True, False, False]
    for _ in range(3):
        assert shelf.keys(semantic, "espresso", type="Drug") == ["a"]
    assert len(readings) == 3


def test_rows_without_vectors_are_counted_by_type() -> None:
    """They were listed by each search of another type."""
    words = [word for words in MEANINGS for word in words]
    shelf = Shelf(*(concept(f"{n}", words[n], type=("Drug", "Plant")[n % 2]) for n in range(8)))
    semantic = SemanticIndex(by_meaning, None)

    def lacks(type: str | None) -> list[int]:
        shelf.hits(semantic, words[1], type=type)
        table = semantic._tables["concept"]
        numbers = [table.lacks(of) for of in ("Drug", "Plant", None)]
        assert numbers == [len(table.without_vectors(of)) for of in ("Drug", "Plant", None)]
        return numbers

    assert lacks("Plant") == [4, 0, 4]
    shelf.put(concept("0", "other words", type="Drug"), removed=("2",))
    assert lacks("Plant") == [3, 0, 3]
    shelf.put(concept("4", "more words", type="Plant"))
    assert lacks("Plant") == [2, 0, 2]
    assert lacks(None) == [0, 0, 0]


def test_a_table_that_follows_writes_ranks_like_a_new_one(path: Path, readings: list[bool]) -> None:
    """A write adds its rows to the matrix; every row was copied before."""
    words, types = [word for words in MEANINGS for word in words], ("Drug", "Plant", "Tool")
    shelf = Shelf(*(concept(f"{n:02}", words[n % len(words)]) for n in range(40)))
    followed, chosen = SemanticIndex(by_meaning, path), Random(7)
    shelf.hits(followed, "headache")
    readings.clear()
    for step in range(60):
        keys = [f"{chosen.randrange(60):02}" for _ in range(chosen.randint(1, 3))]
        removed = tuple(key for key in set(keys[1:]) if key in shelf.rows and key != keys[0])
        name = " ".join(chosen.sample(words, chosen.randint(1, 3)))
        shelf.put(concept(keys[0], name, type=chosen.choice(types)), removed=removed)
        for type in (None, "Plant"):
            asked = {"term": "headache fever", "type": type, "limit": 9}
            hits = shelf.hits(followed, **asked)
            assert not any(readings), step
            assert hits == shelf.hits(SemanticIndex(by_meaning, None), **asked), step
            readings.clear()
    followed.close()
    texts = {digest(embedded_text(row)) for row in shelf.rows.values()}
    with closing(sqlite3.connect(path)) as file:
        assert {key for (key,) in file.execute("SELECT digest FROM vector")} == texts
