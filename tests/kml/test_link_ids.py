"""The id of a link: with_digits from its ends when it is created, salted past a with_digits one."""

from __future__ import annotations

import hashlib
import json

import kiprdf
from tests.nexus.support import SCHEMA, element, empty, medical, restored_from

ENDS = (
    'CONCEPT { {type: "Drug", name: "A"} } CONCEPT { {type: "Symptom", name: "B"} } '
    'CONCEPT { {type: "Symptom", name: "C"} } CONCEPT { {type: "Symptom", name: "D"} }'
)
STATE_AB = (
    'UPSERT { PROPOSITION { ({type: "Drug", name: "A"}, "treats", {type: "Symptom", name: "B"}) } }'
)


def digits(*parts: str) -> str:
    text = json.dumps(list(parts), ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


AB = digits("C:Drug/A", "treats", "C:Symptom/B")


def with_digits(*links: tuple[str, str]) -> kiprdf.Nexus:
    """A nexus whose links from A to other symptoms have given digits in their ids."""
    nexus = empty()
    nexus.execute(SCHEMA)
    nexus.execute(f"UPSERT {{ {ENDS} }}")
    base = "urn:kip:nexus/"
    blocks = "".join(
        f"<{base}Drug/A> <{base}$PropositionType/treats> <{base}Symptom/{end}> ~ "
        f"<{base}$proposition/{held}/treats> .\n"
        for end, held in links
    )
    return restored_from(nexus.snapshot(profile="rdf12") + blocks)


def test_the_id_is_the_hash_of_the_ends_and_the_predicate() -> None:
    id_digits = digits("C:Drug/Aspirin", "treats", "C:Symptom/Headache")
    assert id_digits == "48ec6e8e3fe50dea"
    assert element(medical(), f"P:{id_digits}:treats")["object"] == "C:Symptom/Headache"


def test_the_id_of_a_link_about_a_link_is_made_of_the_inner_id() -> None:
    inner = digits("C:Drug/Aspirin", "treats", "C:Symptom/Headache")
    outer = digits("C:User/Ann", "stated", f"P:{inner}:treats")
    assert element(medical(), f"P:{outer}:stated")["object"] == f"P:{inner}:treats"


def test_the_id_is_made_of_unencoded_names() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(SCHEMA)
    receipt = nexus.execute(
        'UPSERT { CONCEPT ?a { {type: "Drug", name: "维生素 C/\\"x\\""} } '
        'CONCEPT ?b { {type: "Symptom", name: "é"} } PROPOSITION { (?a, "treats", ?b) } }'
    )
    expected = digits('C:Drug/维生素 C/"x"', "treats", "C:Symptom/é")
    assert receipt["upsert_proposition_links"] == [f"P:{expected}:treats"]


def test_the_id_does_not_depend_on_the_base() -> None:
    ids = [
        medical(base_iri=base).execute('FIND(?l.id) WHERE { ?l (?s, "stated", ?o) }')
        for base in ("urn:kip:nexus/", "https://data.example.org/kb/")
    ]
    assert ids[0] == ids[1]


def test_an_id_that_another_fact_has_is_salted_with_one() -> None:
    nexus = with_digits(("C", AB))
    receipt = nexus.execute(STATE_AB)
    expected = digits("C:Drug/A", "treats", "C:Symptom/B", "1")
    assert receipt["upsert_proposition_links"] == [f"P:{expected}:treats"]


def test_the_fact_that_has_the_id_is_unchanged() -> None:
    nexus = with_digits(("C", AB))
    before = element(nexus, f"P:{AB}:treats")
    nexus.execute(STATE_AB)
    assert element(nexus, f"P:{AB}:treats") == before
    assert before["object"] == "C:Symptom/C"


def test_a_salted_link_is_found_again_by_its_fact() -> None:
    nexus = with_digits(("C", AB))
    first = nexus.execute(STATE_AB)
    assert nexus.execute(STATE_AB) == first
    assert nexus.execute('FIND(COUNT(?l)) WHERE { ?l (?s, "treats", ?o) }') == 2


def test_a_second_id_in_use_is_salted_with_one_and_two() -> None:
    salted = digits("C:Drug/A", "treats", "C:Symptom/B", "1")
    receipt = with_digits(("C", AB), ("D", salted)).execute(STATE_AB)
    expected = digits("C:Drug/A", "treats", "C:Symptom/B", "1", "2")
    assert receipt["upsert_proposition_links"] == [f"P:{expected}:treats"]


def test_two_new_links_of_one_statement_do_not_share_a_salted_id() -> None:
    nexus = with_digits(("C", AB))
    receipt = nexus.execute(
        'UPSERT { CONCEPT ?a { {type: "Drug", name: "A"} } CONCEPT ?b { {type: "Symptom", name: '
        '"B"} } PROPOSITION { (?a, "treats", ?b) } PROPOSITION { (?b, "treats", ?a) } }'
    )
    assert len(set(receipt["upsert_proposition_links"])) == 2
