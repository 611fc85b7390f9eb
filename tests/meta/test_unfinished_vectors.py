"""Vectors are made batch by batch: a search uses those that are there, and says how many are."""

from __future__ import annotations

import re
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.search import embedders
from kiprdf.search.vectors import SAMPLE
from tests.cli.runner import invoke
from tests.programs import Piped
from tests.search.toys import Counting, by_meaning

ROOT = Path(__file__).parents[2]
TEAS = 200
SENSE = 'SEARCH CONCEPT "infusion" WITH TYPE "Tea" MODE "semantic" LIMIT 3'
SCHEMA = 'UPSERT { CONCEPT { {type: "$ConceptType", name: "Tea"} } }'


def filled(nexus: kiprdf.Nexus) -> kiprdf.Nexus:
    """A nexus of 200 teas, and one type."""
    nexus.execute(SCHEMA)
    teas = "".join(f'CONCEPT {{ {{type: "Tea", name: "tea {n:03}"}} }} ' for n in range(TEAS))
    nexus.execute(f"UPSERT {{ {teas} }}")
    return nexus


def in_memory(embedder: kiprdf.Embedder) -> kiprdf.Nexus:
    return filled(kiprdf.Nexus.memory(genesis=False, embedder=embedder))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A closed nexus of 200 teas, without vectors."""
    with kiprdf.Nexus.open(tmp_path / "brain", genesis=False) as nexus:
        filled(nexus)
        nexus.execute('SEARCH CONCEPT "tea"')
    return tmp_path / "brain"


class Slow(Counting):
    """Needs six milliseconds for each text."""

    def __call__(self, texts: list[str], /) -> list[list[float]]:
        time.sleep(0.006 * len(texts))
        return super().__call__(texts)


class Hanging(Counting):
    """Does not return from the call with "tea 100" until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    def __call__(self, texts: list[str], /) -> list[list[float]]:
        if any("tea 100" in text for text in texts):
            assert self.go.wait(30)
        return super().__call__(texts)


def warned(answer: Any) -> tuple[int, int]:
    """How many elements have vectors, and of how many, as an answer's only warning says."""
    (warning,) = answer.warnings
    assert warning.name == "UnfinishedIndex"
    match = re.match(r"(\d+) of (\d+) elements of Tea have vectors; MODE ", warning.message)
    assert match, warning.message
    return int(match[1]), int(match[2])


def test_a_search_that_cannot_finish_the_vectors_answers_with_those_there_are() -> None:
    nexus = in_memory(embedder := Hanging())
    for mode in ("semantic", "hybrid"):
        command = SENSE.replace("semantic", mode)
        with nexus.limited(timeout_s=1.0):
            began = time.monotonic()
            response = nexus.execute_kip({"command": command})
            seconds = time.monotonic() - began
        assert seconds < 10  # it would hang for 30
        assert [hit["name"] for hit in response["result"]] == ["tea 000", "tea 001", "tea 002"]
        assert response["warnings"] == [
            {
                "name": "UnfinishedIndex",
                "message": f"96 of 200 elements of Tea have vectors; MODE {mode} compared only "
                "these.",
                "hint": "Repeat the search later; `kiprdf embed` computes all vectors.",
            }
        ]
    embedder.go.set()
    answer = nexus.answer(SENSE)
    assert (len(answer.result), answer.warnings) == (3, ())
    assert sorted(embedder.texts) == sorted(
        {"infusion", SAMPLE, *(f"tea {n:03}" for n in range(TEAS))}
    )


def test_searches_of_a_read_only_nexus_build_on_each_other_and_leave_the_folder(
    folder: Path,
) -> None:
    def content() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    before = content()
    embedder = Slow()
    counts = []
    with kiprdf.Nexus.open(folder, read_only=True, embedder=embedder) as nexus:
        while not counts or counts[-1] < TEAS:
            with nexus.limited(timeout_s=0.8):
                answer: Any = nexus.answer(SENSE)
            counts.append(warned(answer)[0] if answer.warnings else TEAS)
        assert nexus.info()["vectors"] == TEAS
    assert counts == sorted(counts)
    assert len(counts) > 1
    assert len(embedder.texts) == len(set(embedder.texts)) == TEAS + 2
    assert content() == before


def test_an_embedder_that_fails_later_leaves_what_it_made() -> None:
    nexus = in_memory(embedder := Counting(failing_after=3))
    answer: Any = nexus.answer(SENSE)
    assert [hit["name"] for hit in answer.result] == ["tea 000", "tea 001", "tea 002"]
    assert warned(answer) == (32, 200)
    assert "because the embedder failed (ConnectionError: the service is down)" in str(answer)
    embedder.failing_after = None
    assert nexus.answer(SENSE).warnings == ()


def test_a_search_by_words_instead_of_meaning_says_why() -> None:
    for embedder, reason in (
        (None, "there is no embedder"),
        (Counting(failing_after=0), "the embedder failed (ConnectionError: the service is down)"),
    ):
        nexus = filled(kiprdf.Nexus.memory(genesis=False, embedder=embedder))
        response = nexus.execute_kip({"command": 'SEARCH CONCEPT "tea 001" MODE "hybrid" LIMIT 1'})
        assert response["result"][0]["name"] == "tea 001"
        (warning,) = response["warnings"]
        assert warning["name"] == "SearchedByWords"
        assert warning["message"] == (
            f"MODE hybrid was not available, because {reason}: these hits are by words."
        )


def test_without_a_time_limit_a_search_makes_every_vector() -> None:
    nexus = in_memory(Slow())
    with nexus.limited(timeout_s=None):
        assert nexus.answer(SENSE).warnings == ()
    assert nexus.info()["vectors"] == TEAS


# To make all of them


def test_embed_counts_the_elements_that_have_vectors(folder: Path) -> None:
    steps: list[tuple[int, int]] = []
    with kiprdf.Nexus.open(folder, genesis=False, embedder=Counting(failing_after=3)) as nexus:
        assert nexus.info()["vectors"] == 0
        with pytest.raises(kiprdf.StoreError, match=r"96 of \d+ elements have vectors"):
            nexus.embed(lambda *step: steps.append(step))
        total = nexus.info()["concepts"] + nexus.info()["propositions"]
        assert steps == [(0, total), (32, total), (96, total)]
    embedder = Counting()
    with kiprdf.Nexus.open(folder, genesis=False, embedder=embedder) as nexus:
        assert nexus.info()["vectors"] == 96
        assert nexus.check()["vectors"] == 96
        assert nexus.embed() == total
        assert nexus.info()["vectors"] == total
        assert len(embedder.texts) == 1 + total - 96
        nexus.execute('UPSERT { CONCEPT { {type: "Tea", name: "coffee"} } }')
        embedder.forget()
        nexus.embed()
        assert embedder.texts == ["coffee"]
        nexus.execute('DELETE CONCEPT ?t DETACH WHERE { ?t {type: "Tea", name: "coffee"} }')
        assert nexus.answer(SENSE).warnings == ()
        assert nexus.info()["vectors"] == total
    with (
        kiprdf.Nexus.open(folder, read_only=True) as nexus,
        pytest.raises(kiprdf.StoreError, match="Vectors need an embedder; one is installed by"),
    ):
        nexus.embed()


def test_the_command_line_embeds_and_says_the_state(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedders, "is_installed", lambda: True)
    monkeypatch.setattr(embedders, "wordllama", lambda: by_meaning)
    done = invoke("embed", "--nexus", str(folder))
    count = re.match(r"(\d+) elements of .* have vectors\.\n", done.stderr.replace("\n", " ", 0))
    assert (done.exit_code, count is not None) == (0, True), done.output
    assert count is not None
    total = int(count[1])
    assert (
        f"{total} of {total} elements have vectors."
        in invoke("check", "--nexus", str(folder)).stdout
    )
    assert str(total) in invoke("info", "--nexus", str(folder)).stdout
    assert invoke("embed", "--nexus", str(folder / "absent")).exit_code == 1


def embed_slowly(folder: str) -> None:
    """Run by a child that is killed."""
    with kiprdf.Nexus.open(folder, genesis=False, embedder=Slow()) as nexus:
        nexus.embed(lambda embedded, total: print(embedded, flush=True))


def test_a_killed_process_keeps_the_vectors_it_made(folder: Path) -> None:
    with Piped(["-m", "tests.meta.test_unfinished_vectors", str(folder)]) as child:
        reached = 0
        while reached < 32:
            reached = int(child.readline())
        child.kill()
    embedder = Counting()
    with kiprdf.Nexus.open(folder, genesis=False, embedder=embedder) as nexus:
        stored = nexus.info()["vectors"]
        total = nexus.embed()
        assert reached <= stored < total
        assert len(embedder.texts) == 1 + total - stored
        assert nexus.answer(SENSE).warnings == ()


@pytest.mark.skipif(not embedders.is_installed(), reason="the extra semantic is not installed")
def test_the_embedder_of_the_extra_resumes(folder: Path) -> None:
    calls = 0
    real = embedders.wordllama()

    def failing(texts: list[str]) -> Any:
        nonlocal calls
        calls += 1
        if calls > 3:
            raise ConnectionError("the service is down")
        return real(texts)

    command = 'SEARCH CONCEPT "hot drink" WITH TYPE "Tea" MODE "semantic" LIMIT 1'
    with kiprdf.Nexus.open(folder, genesis=False, embedder=failing) as nexus:
        answer: Any = nexus.answer(command)
        assert warned(answer) == (32, TEAS)
    counting = Counting()

    def counted(texts: list[str]) -> Any:
        counting.calls.append(texts)
        return real(texts)

    with kiprdf.Nexus.open(folder, genesis=False, embedder=counted) as nexus:
        answer = nexus.answer(command)
        assert (len(answer.result), answer.warnings) == (1, ())
    assert len(counting.texts) == 2 + TEAS - 32


if __name__ == "__main__":
    embed_slowly(sys.argv[1])
