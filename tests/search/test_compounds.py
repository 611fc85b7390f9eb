"""German and Dutch compounds are found by their parts, and parts by compounds."""

from __future__ import annotations

import pytest

from kiprdf import Nexus
from kiprdf.memory import Memory
from kiprdf.search import asked_tokens, matches
from tests.search.compounds import measure
from tests.search.test_words import index_of, keys, note


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("Morgen Zahnarzttermin", "Termine"),
        ("morgen zahnarzttermin", "termin"),
        ("Ich war im Krankenhaus.", "Häuser"),
        ("Ich hatte einen Zahnarzttermin.", "Welche Zahnärzte und Kliniken waren es?"),
        ("Die Versicherung hat es.", "Krankenversicherung"),
        ("Der Zahnarzt war es.", "Zahnarzttermin"),
        ("Ich habe ein Motorrad. Der Motor ist neu.", "Rad"),
        ("Er zahlte die Gasrechnung.", "Rechnung"),
        ("We hebben een tandartsafspraak.", "afspraken"),
        ("De sleutel is kwijt.", "huissleutel"),
        ("MORGEN ZAHNARZTTERMIN", "Termine"),
        ("Ich war bei der Kindera\u0308rztin.", "A\u0308rztinnen"),
        ("Ich hatte einen Zahnarzttermin.", "WELCHE TERMINE WAREN ES?"),
        ("ich hatte einen zahnarzttermin.\nLena", "Termine"),
    ],
)
def test_a_compound_and_its_parts_find_each_other(text: str, term: str) -> None:
    assert keys(index_of(note("a", text), note("b", "Tee für den Mann")), term) == ["a"]


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("Das ist der Sport.", "Ort"),
        ("Ich habe es vergessen.", "Essen"),
        ("Wir hatten einen Ausflug.", "Flug"),
        ("Wir waren in der Kommission.", "Mission"),
        ("Der Landkreis ist es.", "Reise"),
        ("We hebben het antwoord.", "woord"),
    ],
)
def test_what_only_ends_alike_is_not_found(text: str, term: str) -> None:
    assert keys(index_of(note("a", text), note("b", "Tee für den Mann")), term) == []


def test_the_word_itself_is_before_compounds() -> None:
    rows = [note(f"{n}", "Der Termin ist lang und spät, und er ist um acht.") for n in range(20)]
    index = index_of(*rows, note("z", "Zahnarzttermin"))
    assert keys(index, "Termin")[20:] == ["z"]
    assert set(keys(index, "Welche Termine waren es?")) == {"z", *(row.key for row in rows)}


def test_english_words_are_not_taken_apart() -> None:
    index = index_of(note("a", "He has a football."), note("b", "Er hat einen Handball."))
    assert keys(index, "Ball") == ["b"]
    assert keys(index, "Where is the ball?") == []


def test_a_mark_is_on_the_compound_of_a_part() -> None:
    tokens = asked_tokens("Welche Termine waren es?")
    assert matches("Zahnarzttermin,", tokens)
    assert not matches("Determinante", tokens)
    assert matches("ZAHNARZTTERMIN", tokens)
    assert matches("Versicherung", asked_tokens("Krankenversicherung"))
    assert not matches("football", asked_tokens("Where is the ball?"))


def test_recall_shows_the_compound() -> None:
    memory = Memory(Nexus.memory())
    memory.add("Tee, Wasser und der Saft. " * 30 + "Morgen ist ein Zahnarzttermin. " + "Tee. " * 90)
    memory.add("Ich war im Garten.")
    (recalled,) = memory.recall("Termine").notes
    assert "Zahnarzttermin" in recalled.excerpt
    assert recalled.because[0] == "words"


def test_most_parts_are_found_and_few_words_that_only_look_like_parts() -> None:
    german, dutch = measure("de"), measure("nl")
    assert (german.wanted, german.unwanted) == (66, 41)
    assert (dutch.wanted, dutch.unwanted) == (38, 20)
    assert german.right >= 63
    assert dutch.right >= 33
    assert german.wrong <= 5
    assert dutch.wrong <= 2
