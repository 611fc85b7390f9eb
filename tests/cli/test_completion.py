"""The words that complete a command, by the text before them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import kiprdf
from kiprdf.cli.shell import Completer
from tests.nexus.support import medical


@pytest.fixture(scope="module")
def completer() -> Iterator[Completer]:
    with medical() as nexus:
        yield Completer(nexus, [".explain ", ".next"])


@pytest.mark.parametrize(
    ("before", "word", "expected"),
    [
        ("", "FI", ["FILTER", "FIND"]),
        ("", "fin", ["FIND"]),
        ("", ".", [".explain ", ".next"]),
        ("FIND(", ".", []),
        ("", "", []),
        ("FIND(?x) WHERE { ?x {", "na", ["name"]),
        ('FIND(?x) WHERE { ?x {type: "', "", ["Drug", "Symptom", "User"]),
        ('FIND(?x) WHERE { ?x {"type": "', "Dr", ["Drug"]),
        ('FIND(?x) WHERE { ?x {type: "Drug", name: "', "", []),
        ('FIND(?x) WHERE { ?x {type: "new ', "Dr", []),
        ('SEARCH CONCEPT "x" WITH TYPE "', "", ["Drug", "Symptom", "User"]),
        ('DESCRIBE CONCEPT TYPE "', "U", ["User"]),
        ('DESCRIBE PROPOSITION TYPE "', "", ["stated", "treats"]),
        ('FIND(?x) WHERE { (?x, "', "", ["stated", "treats"]),
        ('FIND(?x) WHERE { (?x, "treats" | "', "", ["stated", "treats"]),
        ('FIND(?x) WHERE { (?x, "stated", (?y, "', "t", ["treats"]),
        ('UPSERT { CONCEPT { {type: "Drug", name: "}"} SET PROPOSITIONS { ("', "t", ["treats"]),
        ('FIND(?x) WHERE { FILTER(CONTAINS(?x.name, "', "t", []),
        ("FIND(?drug, ?dose) WHERE { ", "?d", ["?dose", "?drug"]),
        ("FIND(", "?x.na", ["?x.name"]),
        ("FIND(", "?x.a", ["?x.attributes."]),
        ("FIND(", "?x.attributes.", ["?x.attributes.colour", "?x.attributes.risk",
                                     "?x.attributes.wording"]),
        ("FIND(", "?x.metadata.s", ["?x.metadata.source"]),
        ("FIND(", "?x.name.", []),
        ("UPSERT { CONCEPT { {…} SET ATTRIBUTES { ", "co", ["colour"]),
        ('DELETE ATTRIBUTES {"', "w", ["wording"]),
        ('DELETE METADATA {"_version", "', "so", ["source"]),
        ('// a "quote\nFIND(?x) WHERE { ?x {type: "', "U", ["User"]),
    ],
)  # fmt: skip
def test_a_word_is_completed_by_what_may_follow(
    completer: Completer, before: str, word: str, expected: list[str]
) -> None:
    assert completer.candidates(before, word) == expected


def test_a_closed_nexus_completes_keywords_only() -> None:
    nexus = kiprdf.Nexus.memory()
    nexus.close()
    completer = Completer(nexus, [])
    assert completer.candidates('DESCRIBE CONCEPT TYPE "', "D") == []
    assert completer.candidates("", "UPS") == ["UPSERT"]


def test_the_names_of_a_nexus_are_those_that_commands_can_mention() -> None:
    assert medical().names() == {
        "concept_types": ["Drug", "Symptom", "User"],
        "predicates": ["stated", "treats"],
        "attributes": ["colour", "risk", "wording"],
        "metadata": ["_created_at", "_updated_at", "_version", "source"],
    }
