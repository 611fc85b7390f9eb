"""SEARCH: what is found, in which order, and how soon (KIP 5.2)."""

from __future__ import annotations

from typing import Any

import pytest

import kiprdf
from kiprdf.search import index
from tests.nexus.support import code, untouched

SCHEMA = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} }
  CONCEPT { {type: "$ConceptType", name: "Book"} }
  CONCEPT { {type: "$PropositionType", name: "treats"}
    SET ATTRIBUTES { description: "The remedy eases a complaint." } }
  CONCEPT { {type: "$PropositionType", name: "cites"} }
}
"""
WRITE = "UPSERT { CONCEPT { {type: :type, name: :name} SET ATTRIBUTES :attributes } }"


@pytest.fixture
def nexus() -> kiprdf.Nexus:
    opened = kiprdf.Nexus.memory(genesis=False)
    opened.execute(SCHEMA)
    return opened


def put(nexus: kiprdf.Nexus, name: str, type: str = "Drug", **attributes: Any) -> None:
    nexus.execute(WRITE, type=type, name=name, attributes=attributes)


def link(nexus: kiprdf.Nexus, subject: str, predicate: str, object: str, **attributes: Any) -> None:
    nexus.execute(
        'UPSERT { CONCEPT ?s { {type: "Drug", name: :s} } CONCEPT ?o { {type: "Book", name: :o} } '
        f'PROPOSITION {{ (?s, "{predicate}", ?o) SET ATTRIBUTES :a }} }}',
        s=subject,
        o=object,
        a=attributes,
    )


def names(nexus: kiprdf.Nexus, term: str, more: str = "") -> list[str]:
    return [hit["name"] for hit in nexus.execute(f"SEARCH CONCEPT :term {more}", term=term)]


def links(nexus: kiprdf.Nexus, term: str, more: str = "") -> list[str]:
    return [
        hit["predicate"] for hit in nexus.execute(f"SEARCH PROPOSITION :term {more}", term=term)
    ]


def test_a_hit_is_the_full_concept_with_a_score(nexus: kiprdf.Nexus) -> None:
    put(nexus, "Aspirin", risk=2)
    (hit,) = nexus.execute('SEARCH CONCEPT "aspirin"')
    score = hit["metadata"].pop("_score")
    (element,) = nexus.execute('FIND(?d) WHERE { ?d {type: "Drug"} }')
    assert (hit, 0 <= score < 1) == (element, True)


def test_a_hit_is_the_full_proposition_with_a_score(nexus: kiprdf.Nexus) -> None:
    link(nexus, "Aspirin", "cites", "Atlas", page=3)
    (hit,) = nexus.execute('SEARCH PROPOSITION "cites"')
    score = hit["metadata"].pop("_score")
    (element,) = nexus.execute('FIND(?l) WHERE { ?l (?s, "cites", ?o) }')
    assert (hit, 0 <= score < 1) == (element, True)


def test_scores_are_below_one_and_descending(nexus: kiprdf.Nexus) -> None:
    for number in range(50):
        put(nexus, f"pain {number}", aliases=["pain"] * (number % 7), description="pain " * number)
    scores = [hit["metadata"]["_score"] for hit in nexus.execute('SEARCH CONCEPT "pain"')]
    assert (len(scores), scores) == (50, sorted(scores, reverse=True))
    assert all(0 <= score < 1 for score in scores)


def test_a_score_is_never_stored(nexus: kiprdf.Nexus) -> None:
    put(nexus, "Aspirin")
    with untouched(nexus):
        nexus.execute('SEARCH CONCEPT "aspirin"')
    assert nexus.execute('FIND(?d.metadata._score) WHERE { ?d {type: "Drug"} }') == [None]


def test_grounding_fields_weigh_in_this_order(nexus: kiprdf.Nexus) -> None:
    put(nexus, "in other text", note="pain")
    put(nexus, "in a description", description="pain")
    put(nexus, "in an alias", aliases=["dull pain"])
    put(nexus, "chronic pain")
    put(nexus, "is an alias", aliases=["pain"])
    put(nexus, "pain")
    assert names(nexus, "pain") == [
        "pain",
        "is an alias",
        "chronic pain",
        "in an alias",
        "in a description",
        "in other text",
    ]


def test_a_long_text_never_beats_the_concept_of_that_name(nexus: kiprdf.Nexus) -> None:
    put(nexus, "Aspirin", description="Many other words. " * 2_000)
    put(nexus, "Aspirin, aspirin", type="Book", aliases=["aspirin!"], text="aspirin " * 5_000)
    assert names(nexus, "aspirin") == ["Aspirin", "Aspirin, aspirin"]
    assert names(nexus, "aspirin", "THRESHOLD 0.999 LIMIT 1") == ["Aspirin"]


def test_a_merged_concept_is_found_by_its_former_name(nexus: kiprdf.Nexus) -> None:
    put(nexus, "ASA")
    put(nexus, "Aspirin")
    put(nexus, "About ASA", type="Book", text="ASA " * 100)
    nexus.execute(
        "MERGE CONCEPT ?old INTO ?new "
        'WHERE { ?old {type: "Drug", name: "ASA"} ?new {type: "Drug", name: "Aspirin"} }'
    )
    assert names(nexus, "asa") == ["Aspirin", "About ASA"]
    put(nexus, "Aspirin", aliases=["Acid"])  # without the former name
    assert names(nexus, "asa") == ["Aspirin", "About ASA"]


def test_more_words_of_the_term_rank_higher(nexus: kiprdf.Nexus) -> None:
    put(nexus, "back")
    put(nexus, "back pain relief guide")
    put(nexus, "pain")
    assert names(nexus, "back pain relief")[0] == "back pain relief guide"


@pytest.mark.parametrize(
    "term", ["ASPIRIN", "aspirin", "Ａｓｐｉｒｉｎ", "  aspirin! ", "asp\u0131rin"[:3]]
)
def test_case_width_and_punctuation_do_not_matter(nexus: kiprdf.Nexus, term: str) -> None:
    put(nexus, "Aspirin")
    assert names(nexus, term) == ["Aspirin"]


@pytest.mark.parametrize(
    ("name", "term"),
    [("Crème brûlée", "creme brulee"), ("creme", "CRÈME"), ("e\u0301tude", "étude"),
     ("ﬁne", "fine"), ("Ⅳ", "iv"), ("straße", "STRASSE")],
)  # fmt: skip
def test_accents_and_compatibility_forms_do_not_matter(
    nexus: kiprdf.Nexus, name: str, term: str
) -> None:
    put(nexus, name)
    assert names(nexus, term) == [name]


@pytest.mark.parametrize(
    ("name", "term"),
    [("慢性头痛", "头痛"), ("阿司匹林", "阿司"), ("阿司匹林", "匹林"), ("偏頭痛", "頭痛"),
     ("かたこり", "かた"), ("カフェイン", "カフ"), ("만성두통", "두통"), ("두통", "두통")],
)  # fmt: skip
def test_a_word_of_two_characters_is_found(nexus: kiprdf.Nexus, name: str, term: str) -> None:
    put(nexus, name)
    put(nexus, "其他")
    assert names(nexus, term) == [name]


@pytest.mark.parametrize("term", ["头", "司"])
def test_a_single_chinese_character_is_a_word_too(nexus: kiprdf.Nexus, term: str) -> None:
    put(nexus, "头痛" if term == "头" else "阿司匹林")
    assert len(names(nexus, term)) == 1


def test_chinese_is_found_in_aliases_and_descriptions(nexus: kiprdf.Nexus) -> None:
    put(nexus, "Aspirin", aliases=["阿司匹林"])
    put(nexus, "Other", description="用于治疗头痛的药物")
    assert (names(nexus, "司匹"), names(nexus, "治疗")) == (["Aspirin"], ["Other"])


def test_strings_inside_objects_and_lists_are_found(nexus: kiprdf.Nexus) -> None:
    put(nexus, "Aspirin", form={"type": "tablet", "notes": [{"x": "chewable"}]})
    assert names(nexus, "chewable") == ["Aspirin"]


def test_with_type_keeps_concepts_of_one_type(nexus: kiprdf.Nexus) -> None:
    put(nexus, "Atlas")
    put(nexus, "Atlas", type="Book")
    hits = nexus.execute('SEARCH CONCEPT "atlas" WITH TYPE "Book"')
    assert [hit["type"] for hit in hits] == ["Book"]


def test_with_type_keeps_propositions_of_one_predicate(nexus: kiprdf.Nexus) -> None:
    link(nexus, "Aspirin", "cites", "Atlas")
    link(nexus, "Aspirin", "treats", "Atlas")
    assert links(nexus, "aspirin", 'WITH TYPE "treats"') == ["treats"]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ('SEARCH CONCEPT "x" WITH TYPE "drug"', "KIP_2001"),
        ('SEARCH CONCEPT "x" WITH TYPE "treats"', "KIP_2001"),
        ('SEARCH PROPOSITION "x" WITH TYPE "Drug"', "KIP_2001"),
        ('SEARCH CONCEPT "x" LIMIT 0', "KIP_1001"),
        ('SEARCH CONCEPT "x" LIMIT -1', "KIP_1001"),
        ('SEARCH CONCEPT "x" LIMIT 1.0', "KIP_1001"),
        ("SEARCH CONCEPT 3", "KIP_1001"),
        ("SEARCH CONCEPT null", "KIP_1001"),
        ('SEARCH "x"', "KIP_1001"),
    ],
)
def test_a_wrong_search_is_refused(nexus: kiprdf.Nexus, command: str, expected: str) -> None:
    assert code(nexus, command) == expected


@pytest.mark.parametrize(
    "term", ["", " ", "...", "\n\t", "!?", "\x00", "\u2028", '"', "'; DROP TABLE concept; --"[:1]]
)
def test_a_term_without_a_word_is_kip_1001(nexus: kiprdf.Nexus, term: str) -> None:
    with pytest.raises(kiprdf.KipError) as raised:
        nexus.execute("SEARCH CONCEPT :term", term=term)
    assert raised.value.code == "KIP_1001"


@pytest.mark.parametrize(
    "term",
    ['"', "a\"b", "a' OR 1=1 --", "aspirin* NEAR(x)", "name:aspirin", "NOT aspirin", "(aspirin",
     "^a", "aspirin AND", "{x} : a", "a\x00b", "-aspirin", "+", "💊 a",
     "x" * 100_000, "a " * 20_000],
    ids=lambda term: ascii(term[:12]),
)  # fmt: skip
def test_a_term_is_never_query_syntax(nexus: kiprdf.Nexus, term: str) -> None:
    put(nexus, "Aspirin")
    response = nexus.execute_kip({"command": "SEARCH CONCEPT :t", "parameters": {"t": term}})
    code = "ok" if "result" in response else response["error"]["code"]
    assert code in ("ok", "KIP_1001", "KIP_4002")


def test_limit_keeps_the_best(nexus: kiprdf.Nexus) -> None:
    for number in range(10):
        put(nexus, f"pain {number}")
    put(nexus, "pain")
    assert names(nexus, "pain", "LIMIT 1") == ["pain"]


@pytest.mark.parametrize(("more", "count"), [("", 100), ("LIMIT 7", 7), ("LIMIT 5000", 100)])
def test_at_most_a_hundred_are_found(nexus: kiprdf.Nexus, more: str, count: int) -> None:
    concepts = "".join(f'CONCEPT {{ {{type: "Drug", name: "pain {n}"}} }}' for n in range(150))
    nexus.execute(f"UPSERT {{ {concepts} }}")
    assert len(names(nexus, "pain", more)) == count


def test_no_hit_is_an_empty_list(nexus: kiprdf.Nexus) -> None:
    assert nexus.execute('SEARCH CONCEPT "nothing"') == []


# How soon


def test_a_new_concept_is_found_at_once(nexus: kiprdf.Nexus) -> None:
    assert names(nexus, "aspirin") == []
    put(nexus, "Aspirin")
    assert names(nexus, "aspirin") == ["Aspirin"]


def test_a_changed_attribute_is_found_at_once(nexus: kiprdf.Nexus) -> None:
    put(nexus, "Aspirin", note="white")
    assert names(nexus, "white") == ["Aspirin"]
    put(nexus, "Aspirin", note="green")
    assert (names(nexus, "white"), names(nexus, "green")) == ([], ["Aspirin"])


def test_a_deleted_attribute_is_no_longer_found(nexus: kiprdf.Nexus) -> None:
    put(nexus, "Aspirin", note="white")
    assert names(nexus, "white") == ["Aspirin"]
    nexus.execute('DELETE ATTRIBUTES {"note"} FROM ?d WHERE { ?d {type: "Drug"} }')
    assert names(nexus, "white") == []


def test_a_deleted_concept_is_no_longer_found(nexus: kiprdf.Nexus) -> None:
    put(nexus, "Aspirin")
    assert names(nexus, "aspirin") == ["Aspirin"]
    nexus.execute('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug"} }')
    assert names(nexus, "aspirin") == []


def test_links_of_the_cascade_are_no_longer_found(nexus: kiprdf.Nexus) -> None:
    link(nexus, "Aspirin", "cites", "Atlas")
    assert links(nexus, "atlas") == ["cites"]
    nexus.execute('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug"} }')
    assert links(nexus, "atlas") == []


def test_a_failed_write_is_not_found(nexus: kiprdf.Nexus) -> None:
    code(
        nexus, 'UPSERT { CONCEPT { {type: "Drug", name: "ghost"} } CONCEPT { {id: "C:Drug/No"} } }'
    )
    assert names(nexus, "ghost") == []


def test_a_dry_run_is_not_found(nexus: kiprdf.Nexus) -> None:
    command = 'UPSERT { CONCEPT { {type: "Drug", name: "ghost"} } }'
    nexus.execute_kip({"command": command, "dry_run": True})
    assert names(nexus, "ghost") == []


def test_metadata_is_not_searched(nexus: kiprdf.Nexus) -> None:
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Drug", name: "A"} } WITH METADATA { source: "textbook" } }'
    )
    assert names(nexus, "textbook") == []


# Propositions


@pytest.mark.parametrize("term", ["cites", "aspirin", "atlas", "chapter"])
def test_a_link_is_found_by_predicate_ends_and_text(nexus: kiprdf.Nexus, term: str) -> None:
    link(nexus, "Aspirin", "cites", "Atlas", note="chapter three")
    assert links(nexus, term) == ["cites"]


def test_a_link_is_found_by_the_description_of_its_predicate(nexus: kiprdf.Nexus) -> None:
    link(nexus, "Aspirin", "treats", "Atlas")
    assert links(nexus, "remedy") == ["treats"]


def test_a_changed_description_of_a_predicate_is_found_at_once(nexus: kiprdf.Nexus) -> None:
    link(nexus, "Aspirin", "treats", "Atlas")
    assert links(nexus, "remedy") == ["treats"]
    put(nexus, "treats", type="$PropositionType", description="Makes it better.")
    assert (links(nexus, "remedy"), links(nexus, "better")) == ([], ["treats"])


def test_a_description_that_a_predicate_gets_later_is_found(nexus: kiprdf.Nexus) -> None:
    link(nexus, "Aspirin", "cites", "Atlas")
    assert links(nexus, "quotation") == []
    put(nexus, "cites", type="$PropositionType", description="A quotation.")
    assert links(nexus, "quotation") == ["cites"]


def test_a_deleted_description_of_a_predicate_is_no_longer_found(nexus: kiprdf.Nexus) -> None:
    link(nexus, "Aspirin", "treats", "Atlas")
    assert links(nexus, "remedy") == ["treats"]
    nexus.execute(
        'DELETE ATTRIBUTES {"description"} FROM ?p '
        'WHERE { ?p {type: "$PropositionType", name: "treats"} }'
    )
    assert links(nexus, "remedy") == []


def test_a_link_about_a_link_is_found_by_its_predicate(nexus: kiprdf.Nexus) -> None:
    link(nexus, "Aspirin", "treats", "Atlas")
    nexus.execute(
        'UPSERT { PROPOSITION { ({type: "Book", name: "Atlas"}, "cites", '
        '({type: "Drug", name: "Aspirin"}, "treats", {type: "Book", name: "Atlas"})) } }'
    )
    assert links(nexus, "cites") == ["cites"]


# What is noted of writes until the next SEARCH


@pytest.mark.parametrize("kept", [index.KEPT_COMMITS, 2])
def test_the_result_of_several_writes_is_found(
    nexus: kiprdf.Nexus, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    monkeypatch.setattr(index, "KEPT_COMMITS", kept)
    assert names(nexus, "red") == []
    for name in ("A", "B", "C", "D"):
        put(nexus, name, note="red")
        link(nexus, name, "cites", "Atlas", note="red")
    put(nexus, "A", note="green", more="red")
    put(nexus, "A", note="blue")
    nexus.execute('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug", name: "B"} }')
    nexus.execute('DELETE ATTRIBUTES {"note"} FROM ?d WHERE { ?d {type: "Drug", name: "C"} }')
    nexus.execute(
        'MERGE CONCEPT ?old INTO ?new WHERE { ?old {type: "Drug", name: "C"} '
        '?new {type: "Drug", name: "D"} }'
    )
    assert (names(nexus, "red"), names(nexus, "blue")) == (["A", "D"], ["A"])
    assert links(nexus, "red") == ["cites", "cites"]
    assert nexus.check()["index"] == "sound"


def test_a_recreated_concept_is_found_as_it_is_now(nexus: kiprdf.Nexus) -> None:
    assert names(nexus, "red") == []
    put(nexus, "A", note="red")
    nexus.execute('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug", name: "A"} }')
    put(nexus, "A", note="blue")
    assert (names(nexus, "red"), names(nexus, "blue")) == ([], ["A"])


def test_concepts_and_links_are_two_kinds(nexus: kiprdf.Nexus) -> None:
    link(nexus, "Aspirin", "cites", "Atlas")
    assert names(nexus, "aspirin") == ["Aspirin"]
    assert [hit["_type"] for hit in nexus.execute('SEARCH PROPOSITION "aspirin"')] == [
        "PropositionLink"
    ]
