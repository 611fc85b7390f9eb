"""MERGE CONCEPT beyond its receipts: ids, the text index, strict schemas, leftovers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import kiprdf
from tests.nexus.support import REIFIES, StoppedClock, dataset, element, medical

SAME_DRUG = """
UPSERT {
  CONCEPT ?asa { {type: "Drug", name: "ASA"} SET ATTRIBUTES { formula: "C9H8O4" } }
  CONCEPT ?pain { {type: "Symptom", name: "Pain"} }
  PROPOSITION ?a { (?asa, "treats", ?pain) }
  PROPOSITION ?b { (?asa, "treats", {type: "Symptom", name: "Headache"}) SET ATTRIBUTES { n: 1 } }
  PROPOSITION { ({type: "User", name: "Ann"}, "stated", ?a) }
}
"""
MERGE = (
    'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "Drug", name: "ASA"} '
    '?b {type: "Drug", name: "Aspirin"} }'
)


@pytest.fixture
def nexus() -> Iterator[kiprdf.Nexus]:
    with medical() as nexus:
        nexus.execute(SAME_DRUG)
        yield nexus


def link(nexus: kiprdf.Nexus, drug: str, symptom: str) -> str:
    command = 'FIND(?l.id) WHERE { ?l ({name: :d}, "treats", {name: :s}) }'
    (identifier,) = nexus.execute(command, d=drug, s=symptom)
    return str(identifier)


def test_a_repointed_link_keeps_its_id_and_everything_said_about_it(nexus: kiprdf.Nexus) -> None:
    before = link(nexus, "ASA", "Pain")
    nexus.execute(MERGE)
    assert link(nexus, "Aspirin", "Pain") == before
    who = 'FIND(?who.name) WHERE { (?who, "stated", (id: :id)) }'
    assert nexus.execute(who, id=before) == ["Ann"]


def test_a_fact_of_the_merged_source_gets_a_salted_id_when_it_is_stated_again(
    nexus: kiprdf.Nexus,
) -> None:
    before = link(nexus, "ASA", "Pain")
    nexus.execute(MERGE)
    nexus.execute(SAME_DRUG)
    after = link(nexus, "ASA", "Pain")
    assert after != before
    assert element(nexus, before)["subject"] == "C:Drug/Aspirin"
    assert element(nexus, after)["subject"] == "C:Drug/ASA"


def test_nothing_of_the_source_is_left(nexus: kiprdf.Nexus) -> None:
    nexus.execute(MERGE)
    terms = {term for quad in dataset(nexus) for term in quad}
    assert not any("Drug/ASA>" in term for term in terms)
    stated = {o for _, _, p, o in dataset(nexus) if p == REIFIES}
    asserted = {f"<<( {s} {p} {o} )>>" for _, s, p, o in dataset(nexus) if "Type/" in p}
    assert stated == asserted


def test_search_follows_a_merge(nexus: kiprdf.Nexus) -> None:
    search = 'SEARCH CONCEPT "ASA"'
    assert [hit["name"] for hit in nexus.execute(search)] == ["ASA"]
    about = 'SEARCH PROPOSITION "aspirin"'
    assert len(nexus.execute(about)) == 2
    nexus.execute(MERGE)
    assert [hit["name"] for hit in nexus.execute(search)] == ["Aspirin"]
    assert len(nexus.execute(about)) == 3
    treated = nexus.execute('SEARCH PROPOSITION "aspirin" WITH TYPE "treats"')
    assert {hit["subject"] for hit in treated} == {"C:Drug/Aspirin"}


def test_a_merge_is_one_commit(nexus: kiprdf.Nexus) -> None:
    before = nexus.info()["commit"]
    nexus.execute(MERGE)
    assert nexus.info()["commit"] == before + 1


@pytest.mark.parametrize(
    "command",
    [
        'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "Drug", name: "ASA"} ?b {type: "Symptom"} }',
        'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "Drug", name: "ASA"} '
        '?b {type: "Symptom", name: "Pain"} }',
        'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "Drug", name: "Asa"} ?b {type: "Drug"} }',
    ],
)
def test_a_refused_merge_changes_no_quad(nexus: kiprdf.Nexus, command: str) -> None:
    before = dataset(nexus)
    with pytest.raises(kiprdf.KipError):
        nexus.execute(command)
    assert dataset(nexus) == before


def test_a_dry_run_changes_no_quad(nexus: kiprdf.Nexus) -> None:
    before = dataset(nexus)
    assert nexus.answer(MERGE, dry_run=True).result["merged"] is True
    assert dataset(nexus) == before


def test_the_metadata_lists_the_sources_of_two_merges(nexus: kiprdf.Nexus) -> None:
    nexus.execute(MERGE)
    nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "Acetylsalicylic acid"} } }')
    nexus.execute(
        'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "Drug", name: "Aspirin"} '
        '?b {type: "Drug", name: "Acetylsalicylic acid"} }'
    )
    (drug,) = nexus.execute('FIND(?d) WHERE { ?d {type: "Drug"} }')
    assert drug["metadata"]["_merged_from"] == ["Drug:ASA", "Drug:Aspirin"]
    assert drug["attributes"]["aliases"] == ["ASA", "Aspirin"]
    with pytest.raises(kiprdf.KipError) as caught:
        nexus.execute('FIND(?d) WHERE { ?d {type: "Drug", name: "ASA"} }')
    assert 'already merged into {type: "Drug", name: "Acetylsalicylic acid"}' in caught.value.hint


def test_a_strict_nexus_refuses_a_merge_whose_result_breaks_the_schema() -> None:
    with kiprdf.Nexus.memory(genesis=False, strict_schema=True, clock=StoppedClock()) as nexus:
        schema = {"aliases": {"type": "string"}}
        nexus.execute(
            'UPSERT { CONCEPT { {type: "$ConceptType", name: "T"} '
            "SET ATTRIBUTES { instance_schema: :schema } } "
            'CONCEPT { {type: "T", name: "a"} } CONCEPT { {type: "T", name: "b"} } }',
            schema=schema,
        )
        before = dataset(nexus)
        with pytest.raises(kiprdf.KipError) as caught:
            nexus.execute(
                'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "T", name: "a"} '
                '?b {type: "T", name: "b"} }'
            )
        assert caught.value.code == "KIP_2003"
        assert dataset(nexus) == before


def test_a_link_of_a_protected_subject_is_repointed_and_deduplicated_like_any_other() -> None:
    with kiprdf.Nexus.memory() as nexus:
        core = '({type: "Domain", name: "CoreSchema"}, "mentions", {type: "Person", name: "%s"})'
        for name in ("a", "b", "c"):
            nexus.execute(
                'UPSERT { CONCEPT { {type: "Person", name: :n} } '
                f"PROPOSITION {{ {core % name} }} }}",
                n=name,
            )
        merge = (
            'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "Person", name: :a} '
            '?b {type: "Person", name: :b} }'
        )
        assert nexus.execute(merge, a="a", b="b")["links_deduplicated"] == 1
        nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "d"} } }')
        assert nexus.execute(merge, a="c", b="d")["links_repointed"] == 1
        shown = 'FIND(?p.name) WHERE { ({name: "CoreSchema"}, "mentions", ?p) } ORDER BY ?p.name'
        assert nexus.execute(shown) == ["b", "d"]


def test_a_source_that_exists_is_not_reported_as_merged(nexus: kiprdf.Nexus) -> None:
    nexus.execute(MERGE)
    nexus.execute(SAME_DRUG)
    with pytest.raises(kiprdf.KipError) as caught:
        nexus.execute(
            'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "Drug", name: "ASA"} '
            '?b {type: "Drug"} FILTER(?b.name == "nobody") }'
        )
    assert "already merged" not in caught.value.hint
