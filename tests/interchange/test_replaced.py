"""What a second file replaces of an earlier one, or cannot keep beside it, is in the report."""

from __future__ import annotations

import pytest

from tests.interchange.originals import PREFIXES
from tests.interchange.test_merged_origins import merge
from tests.nexus.support import empty

NAMES = """:a a :T ; rdfs:label "A" . :b a :T ; rdfs:label "B" . :c a :T . :d a :T . """
CASES = {
    "a list of resources": (
        NAMES + ":a :l (:b :c) .",
        NAMES + ":a :l (:b :d) .",
        "T/A has another list of <https://example.org/l> now; the link ",
    ),
    "blank reifiers": (
        NAMES + ":a :k :b {| :y 1 |} .",
        NAMES + ":a :k :b {| :y 2 |} .",
        ": a reifier without an IRI replaces the values of y that an earlier import brought.",
    ),
    "the default graph": (
        ":g { :a a :T ; :n 1 }",
        ":a a :T ; :n 1 .",
        "T/a: stated in other graphs by an earlier import; written in https://example.org/g alone,"
        " and not in @default.",
    ),
    "another graph": (
        ":g { :a a :T ; :n 1 }",
        ":h { :a a :T ; :n 1 }",
        "written in https://example.org/h alone, and not in https://example.org/g.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_a_second_file_replaces_is_reported(case: str) -> None:
    first, second, expected = CASES[case]
    nexus = empty()
    for _ in range(2):
        report = nexus.import_rdf(PREFIXES + first, define=True, format="trig")
        assert report["warnings"] == []
    (warning,) = nexus.import_rdf(PREFIXES + second, define=True, format="trig")["warnings"]
    assert expected in warning


def test_what_a_changed_file_states_of_a_merged_concept_is_reported() -> None:
    text = PREFIXES + ':a a :T ; rdfs:label "A" ; :n 1 . :b a :T ; rdfs:label "B" ; :n 2 .'
    nexus = empty()
    nexus.import_rdf(text, define=True)
    merge(nexus, "B", "A")
    assert nexus.import_rdf(text)["warnings"] == []
    (warning,) = nexus.import_rdf(text.replace(":n 2", ":n 3"))["warnings"]
    assert warning == (
        "<https://example.org/b> was merged into C:T/A: what it states now of n replaces the value "
        "there, and is written under its IRI."
    )
