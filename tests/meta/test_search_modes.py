"""SEARCH by meaning and by both: what is found, what it costs, and what happens on a fault."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.memory import Memory
from kiprdf.search import embedders
from kiprdf.search.vectors import SAMPLE
from tests.cli.runner import invoke
from tests.nexus.support import code, untouched
from tests.search.toys import Counting, by_meaning
from tests.threads import together

ALL_MODES = ["keyword", "semantic", "hybrid"]
SCHEMA = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Symptom"} }
  CONCEPT { {type: "$ConceptType", name: "Book"} }
  CONCEPT { {type: "$PropositionType", name: "about"} }
  CONCEPT { {type: "$PropositionType", name: "against"} }
}
"""
WRITE = "UPSERT { CONCEPT { {type: :type, name: :name} SET ATTRIBUTES :attributes } }"


def made(embedder: kiprdf.Embedder | None = by_meaning) -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(genesis=False, embedder=embedder)
    nexus.execute(SCHEMA)
    return nexus


@pytest.fixture
def nexus() -> kiprdf.Nexus:
    return made()


def put(nexus: kiprdf.Nexus, name: str, type: str = "Symptom", **attributes: Any) -> None:
    nexus.execute(WRITE, type=type, name=name, attributes=attributes)


def scores(nexus: kiprdf.Nexus, term: str, mode: str, more: str = "") -> dict[str, float]:
    hits = nexus.execute(f"SEARCH CONCEPT :term MODE :mode {more}", term=term, mode=mode)
    return {hit["name"]: hit["metadata"]["_score"] for hit in hits}


def names(nexus: kiprdf.Nexus, term: str, mode: str, more: str = "") -> list[str]:
    return list(scores(nexus, term, mode, more))


# Semantic


def test_semantic_finds_what_shares_no_word(nexus: kiprdf.Nexus) -> None:
    put(nexus, "Headache")
    put(nexus, "Fever")
    assert (names(nexus, "cephalalgia", "keyword"), names(nexus, "cephalalgia", "semantic")) == (
        [],
        ["Headache"],
    )


def test_every_grounding_field_is_embedded(nexus: kiprdf.Nexus) -> None:
    put(nexus, "pyrexia")
    put(nexus, "by alias", aliases=["fever"])
    put(nexus, "by description", description="A fever.")
    put(nexus, "by text", note={"more": ["fever"]})
    put(nexus, "other", note="tea")
    assert names(nexus, "pyrexia", "semantic") == [
        "pyrexia",
        "by alias",
        "by description",
        "by text",
    ]


def test_metadata_is_not_embedded(nexus: kiprdf.Nexus) -> None:
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Book", name: "A"} } WITH METADATA { source: "fever" } }'
    )
    assert names(nexus, "fever", "semantic") == []


def test_a_semantic_score_is_a_cosine_below_one(nexus: kiprdf.Nexus) -> None:
    put(nexus, "headache")
    put(nexus, "headache and fever")
    assert scores(nexus, "migraine", "semantic") == {
        "headache": 0.999999,
        "headache and fever": 0.707107,
    }


def test_propositions_are_found_by_the_meaning_of_their_ends(nexus: kiprdf.Nexus) -> None:
    nexus.execute(
        'UPSERT { CONCEPT ?b { {type: "Book", name: "Atlas"} } '
        'CONCEPT ?s { {type: "Symptom", name: "Headache"} } '
        'PROPOSITION { (?b, "about", ?s) } PROPOSITION { (?b, "against", ?s) } }'
    )
    command = 'SEARCH PROPOSITION "migraine" WITH TYPE "about" MODE "semantic"'
    assert [hit["predicate"] for hit in nexus.execute(command)] == ["about"]


@pytest.mark.parametrize("mode", ALL_MODES)
def test_with_type_filters_in_every_mode(nexus: kiprdf.Nexus, mode: str) -> None:
    put(nexus, "fever")
    put(nexus, "fever", type="Book")
    hits = nexus.execute(f'SEARCH CONCEPT "fever" WITH TYPE "Book" MODE "{mode}"')
    assert [hit["type"] for hit in hits] == ["Book"]


@pytest.mark.parametrize("mode", ALL_MODES)
def test_limit_keeps_the_best_in_every_mode(nexus: kiprdf.Nexus, mode: str) -> None:
    put(nexus, "fever and tea")
    put(nexus, "fever")
    assert names(nexus, "fever", mode, "LIMIT 1") == ["fever"]


@pytest.mark.parametrize("mode", ALL_MODES)
def test_at_most_a_hundred_are_found_in_every_mode(nexus: kiprdf.Nexus, mode: str) -> None:
    concepts = "".join(f'CONCEPT {{ {{type: "Book", name: "tea {n}"}} }}' for n in range(120))
    nexus.execute(f"UPSERT {{ {concepts} }}")
    assert len(names(nexus, "tea", mode)) == len(names(nexus, "tea", mode, "LIMIT 500")) == 100


@pytest.mark.parametrize("mode", ALL_MODES)
@pytest.mark.parametrize("term", ["", "...", "\u2028", "\ud800"])
def test_a_term_without_a_word_is_kip_1001_in_every_mode(
    nexus: kiprdf.Nexus, mode: str, term: str
) -> None:
    assert code(nexus, f'SEARCH CONCEPT :term MODE "{mode}"', term=term) == "KIP_1001"


@pytest.mark.parametrize("mode", ALL_MODES)
def test_an_unknown_type_is_kip_2001_in_every_mode(nexus: kiprdf.Nexus, mode: str) -> None:
    assert code(nexus, f'SEARCH CONCEPT "x" WITH TYPE "No" MODE "{mode}"') == "KIP_2001"


def test_a_score_is_never_stored(nexus: kiprdf.Nexus) -> None:
    put(nexus, "Fever")
    with untouched(nexus):
        assert names(nexus, "pyrexia", "hybrid") == ["Fever"]


# Hybrid


def test_hybrid_beats_either_alone(nexus: kiprdf.Nexus) -> None:
    put(nexus, "both", description="xylitol for headache with fever")
    put(nexus, "xylitol")
    put(nexus, "migraine")
    first = {mode: names(nexus, "xylitol cephalalgia", mode)[0] for mode in ALL_MODES}
    assert first == {"keyword": "xylitol", "semantic": "migraine", "hybrid": "both"}


def test_first_of_both_rankings_scores_near_one(nexus: kiprdf.Nexus) -> None:
    put(nexus, "fever")
    put(nexus, "fever and tea")
    assert scores(nexus, "fever", "hybrid") == {"fever": 0.999999, "fever and tea": 0.853554}


def test_hybrid_finds_what_only_one_ranking_finds(nexus: kiprdf.Nexus) -> None:
    put(nexus, "xylitol")
    put(nexus, "migraine")
    assert scores(nexus, "xylitol headache", "hybrid") == {"migraine": 0.5, "xylitol": 0.5}


# Exact names


@pytest.mark.parametrize("mode", ALL_MODES)
def test_an_exact_name_and_then_an_exact_alias_are_first_in_every_mode(
    nexus: kiprdf.Nexus, mode: str
) -> None:
    put(nexus, "migraine headache", description="headache " * 100 + "tea")
    put(nexus, "Headache", description="tea, fever and xylitol")
    put(nexus, "Cephalalgia", aliases=["HEADACHE"], description="tea and fever")
    put(nexus, "headache", type="Book", description="fever " * 100)
    hits = nexus.execute(f'SEARCH CONCEPT "headache" MODE "{mode}"')
    assert [(hit["type"], hit["name"]) for hit in hits] == [
        ("Book", "headache"),
        ("Symptom", "Headache"),
        ("Symptom", "Cephalalgia"),
        ("Symptom", "migraine headache"),
    ]
    scores = [hit["metadata"]["_score"] for hit in hits]
    assert scores[:3] == [0.999999] * 3
    assert scores[3] < 0.999999
    assert names(nexus, "headache", mode, "THRESHOLD 0.9999 LIMIT 1") == ["headache"]
    typed = f'SEARCH CONCEPT "headache" WITH TYPE "Symptom" MODE "{mode}" LIMIT 1'
    assert [hit["name"] for hit in nexus.execute(typed)] == ["Headache"]


@pytest.mark.parametrize("mode", ALL_MODES)
def test_an_exact_predicate_is_first_in_every_mode(nexus: kiprdf.Nexus, mode: str) -> None:
    nexus.execute(
        'UPSERT { CONCEPT ?b { {type: "Book", name: "About headache"} } '
        'CONCEPT ?s { {type: "Symptom", name: "About"} } '
        'PROPOSITION { (?b, "against", ?s) } PROPOSITION { (?b, "about", ?s) } }'
    )
    hits = nexus.execute(f'SEARCH PROPOSITION "about" MODE "{mode}"')
    assert [hit["predicate"] for hit in hits] == ["about", "against"]


# Threshold


@pytest.mark.parametrize(
    ("mode", "threshold", "expected"),
    [
        ("semantic", 0, ["headache", "headache and fever"]),
        ("semantic", 0.707107, ["headache", "headache and fever"]),
        ("semantic", 0.707108, ["headache"]),
        ("semantic", 1, []),
        ("hybrid", 0.5, ["headache", "headache and fever"]),
        ("hybrid", 0.99, ["headache"]),
        ("keyword", 0.0001, ["headache", "headache and fever"]),
        ("keyword", 0.99, ["headache"]),
        ("keyword", 1, []),
    ],
)
def test_threshold_drops_what_scores_below_it(
    nexus: kiprdf.Nexus, mode: str, threshold: float, expected: list[str]
) -> None:
    put(nexus, "headache")
    put(nexus, "headache and fever")
    command = "SEARCH CONCEPT :term MODE :mode THRESHOLD :least LIMIT 5"
    hits = nexus.execute(command, term="headache", mode=mode, least=threshold)
    assert [hit["name"] for hit in hits] == expected


# What it costs


def test_writes_and_keyword_searches_never_call_the_embedder() -> None:
    nexus = made(embedder := Counting())
    put(nexus, "Fever")
    assert names(nexus, "fever", "keyword") == ["Fever"]
    nexus.execute('SEARCH CONCEPT "fever"')
    nexus.execute("DESCRIBE PRIMER")
    nexus.close()
    assert embedder.calls == []


def test_only_what_changed_is_embedded_again() -> None:
    nexus = made(embedder := Counting())
    put(nexus, "Fever")
    put(nexus, "Tea", type="Book")
    names(nexus, "pyrexia", "semantic")
    embedder.forget()
    put(nexus, "Tea", type="Book", note="coffee")
    assert names(nexus, "espresso", "semantic") == ["Tea"]
    assert embedder.texts == ["espresso", "Tea\ncoffee"]


def test_metadata_that_changes_embeds_nothing_again() -> None:
    nexus = made(embedder := Counting())
    put(nexus, "Fever")
    names(nexus, "pyrexia", "semantic")
    embedder.forget()
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Symptom", name: "Fever"} } WITH METADATA { source: "x" } }'
    )
    assert names(nexus, "pyrexia", "semantic") == ["Fever"]
    # The term is remembered too.
    assert embedder.texts == []


def test_a_deleted_concept_is_no_longer_found(nexus: kiprdf.Nexus) -> None:
    put(nexus, "Fever")
    assert names(nexus, "pyrexia", "semantic") == ["Fever"]
    nexus.execute('DELETE CONCEPT ?s DETACH WHERE { ?s {type: "Symptom"} }')
    assert names(nexus, "pyrexia", "semantic") == []


def test_a_dry_run_is_not_found(nexus: kiprdf.Nexus) -> None:
    command = 'UPSERT { CONCEPT { {type: "Symptom", name: "Fever"} } }'
    nexus.execute_kip({"command": command, "dry_run": True})
    assert names(nexus, "pyrexia", "semantic") == []


# Modes that cannot be served


def test_the_primer_lists_what_is_served() -> None:
    for embedder, expected in ((None, ["keyword"]), (by_meaning, ALL_MODES)):
        nexus = made(embedder)
        assert nexus.execute("DESCRIBE PRIMER")["search_modes"] == expected
        assert nexus.search_modes == expected


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_without_an_embedder_every_mode_is_keyword(mode: str) -> None:
    nexus = made(None)
    put(nexus, "Fever")
    put(nexus, "fever chart", type="Book")
    assert scores(nexus, "fever", mode) == scores(nexus, "fever", "keyword") != {}


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_an_embedder_that_raises_degrades_to_keyword(
    mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    nexus = made(embedder := Counting(failing_after=0))
    put(nexus, "Fever")
    assert scores(nexus, "fever", mode) == scores(nexus, "fever", "keyword") != {}
    assert "ConnectionError: the service is down" in caplog.text
    embedder.failing_after = None
    assert names(nexus, "pyrexia", mode) == ["Fever"]


@pytest.mark.parametrize(
    "answer",
    [
        lambda texts: [],
        lambda texts: [[float("inf")]] * len(texts),
        lambda texts: [[1.0] * len(text) for text in texts],
        lambda texts: None,
    ],
)
def test_an_embedder_that_returns_no_vectors_degrades_to_keyword(
    answer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    nexus = made(answer)
    put(nexus, "Fever")
    assert names(nexus, "fever", "semantic") == ["Fever"]
    assert "The embedder failed" in caplog.text


def test_an_interrupt_is_not_swallowed() -> None:
    def interrupted(texts: list[str]) -> list[list[float]]:
        raise KeyboardInterrupt

    nexus = made(interrupted)
    put(nexus, "Fever")
    with pytest.raises(KeyboardInterrupt):
        names(nexus, "fever", "semantic")


def test_an_embedder_without_numpy_opens_no_nexus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedders, "find_spec", lambda name: None)
    message = r"An embedder needs numpy, which is not installed: pip install 'kiprdf\[semantic\]'\."
    with pytest.raises(kiprdf.StoreError, match=message):
        kiprdf.Nexus.open(tmp_path / "brain", embedder=by_meaning)
    assert not (tmp_path / "brain").exists()
    with pytest.raises(kiprdf.StoreError, match=message):
        kiprdf.Nexus.memory(embedder=by_meaning)


# Threads


def test_threads_search_by_meaning_while_one_writes() -> None:
    nexus = made()
    put(nexus, "Fever")
    failures: list[object] = []

    def read() -> None:
        for _ in range(30):
            hits = names(nexus, "pyrexia", "semantic")
            if sorted(hits) not in (["Fever"], ["Fever", "pyrexia"]):
                failures.append(hits)

    def write() -> None:
        for _ in range(15):
            put(nexus, "pyrexia")
            nexus.execute('DELETE CONCEPT ?s DETACH WHERE { ?s {name: "pyrexia"} }')

    together(read, write, read)
    assert failures == []


def test_a_write_does_not_wait_for_the_embedder() -> None:
    embedding, written = threading.Event(), threading.Event()

    def slow(texts: list[str]) -> list[list[float]]:
        embedding.set()
        assert written.wait(30)
        return by_meaning(texts)

    nexus = made(slow)
    put(nexus, "Fever")
    hits: list[list[str]] = []
    reader = threading.Thread(target=lambda: hits.append(names(nexus, "tea", "semantic")))
    reader.start()
    assert embedding.wait(30)
    put(nexus, "Tea", type="Book")
    assert names(nexus, "fever", "keyword") == ["Fever"]
    written.set()
    reader.join()
    assert hits == [["Tea"]]


# The embedder of the extra, and the command line


@pytest.mark.skipif(
    not embedders.is_installed(), reason="the extra kiprdf[semantic] is not installed"
)
def test_the_embedder_of_the_extra_knows_synonyms() -> None:
    nexus = made(embedders.wordllama())
    for name in ("Headache", "Drowsiness", "Fever", "Book", "has_side_effect"):
        put(nexus, name)
    assert names(nexus, "sleepiness", "keyword") == []
    assert names(nexus, "sleepiness", "semantic", "LIMIT 1") == ["Drowsiness"]
    assert names(nexus, "pain in the head", "hybrid", "LIMIT 1") == ["Headache"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with kiprdf.Nexus.open(tmp_path / "brain", genesis=False) as nexus:
        nexus.execute(SCHEMA)
        put(nexus, "Fever", description="Warm.")
    return tmp_path / "brain"


def run(folder: Path, command: str, *more: str) -> Any:
    return invoke("run", "--nexus", str(folder), *more, command)


def test_the_command_line_searches_by_meaning(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = Counting()
    monkeypatch.setattr(embedders, "is_installed", lambda: True)
    monkeypatch.setattr(embedders, "wordllama", lambda: embedder)
    output = run(folder, 'SEARCH CONCEPT "pyrexia" MODE "semantic"', "--json")
    assert [hit["name"] for hit in json.loads(output.stdout)["result"]] == ["Fever"]
    assert output.stderr == ""
    embedder.forget()
    run(folder, 'SEARCH CONCEPT "fever"')
    assert embedder.calls == []


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_the_command_line_says_how_to_install_the_extra(
    folder: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    monkeypatch.setattr(embedders, "is_installed", lambda: False)
    output = run(folder, 'SEARCH CONCEPT "fever" MODE :m', "--param", "m=semantic", *more)
    assert (output.exit_code, "Fever" in output.stdout) == (0, True), output.output
    assert output.stderr == (
        "Warning SearchedByWords: MODE semantic was not available, because there is no embedder: "
        "these hits are by words.\n"
        "Hint: Open the nexus with an embedder; this installs one: "
        "pip install 'kiprdf[semantic]'\n"
    )
    assert run(folder, 'SEARCH CONCEPT "fever" MODE "keyword"', *more).stderr == ""


def test_reading_beside_a_writer_uses_its_vectors(folder: Path) -> None:
    with kiprdf.Nexus.open(folder, genesis=False, embedder=by_meaning) as writer:
        assert names(writer, "pyrexia", "semantic") == ["Fever"]
        with kiprdf.Nexus.open(folder, read_only=True, embedder=(embedder := Counting())) as reader:
            put(writer, "pyrexia chart", type="Book")
            assert names(writer, "pyrexia", "semantic") == ["pyrexia chart", "Fever"]
            assert names(reader, "pyrexia", "semantic") == ["Fever"]
    assert embedder.texts == ["pyrexia", SAMPLE]


# What is embedded


def test_of_a_note_what_it_says_is_embedded() -> None:
    embedder = Counting()
    memory = Memory(kiprdf.Nexus.memory(embedder=embedder))
    memory.add(
        "I went to the lake.",
        timestamp="2023-05-08T13:56:00Z",
        session="chat-17",
        speaker="Caroline",
        tags=["outing"],
    )
    memory.add("No speaker.", id="note-3")
    memory.add("A name.", id="shopping list")
    memory.nexus.execute('SEARCH CONCEPT "lake" WITH TYPE "MemoryItem" MODE "semantic"')
    expected = {"Caroline\nI went to the lake.", "No speaker.", "shopping list\nA name."}
    assert expected <= set(embedder.texts)
    assert not [text for text in embedder.texts if "2023" in text or "chat-17" in text]


def test_values_without_a_meaning_are_not_embedded() -> None:
    embedder = Counting()
    nexus = made(embedder)
    put(
        nexus,
        "COVID-19",
        description="A fever since 2020-01-30",
        page="https://example.org/covid",
        first="2019-12-31T00:00:00Z",
        last="2019-12-31 10:00",
        code="U07.1",
        cause="SARS-CoV-2",
        digest="0b1f5c4e9a2d77e1",
        steps="[first]\n1234",
    )
    names(nexus, "fever", "semantic")
    assert "COVID-19\nA fever since 2020-01-30\nSARS-CoV-2\n[first]" in embedder.texts
