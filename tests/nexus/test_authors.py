"""Nobody gives the name of another principal as the author of what it writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf import KipError, Nexus

UPSERT = 'UPSERT { CONCEPT { {type: "Person", name: :name} } WITH METADATA { author: :author } }'
AUTHOR = "FIND(?p.metadata.author) WHERE { ?p {name: :name} }"
CLAIMS: list[Any] = [
    *(
        "ada",
        "ADA",
        " ada ",
        "аdа",
        "ａｄａ",
        "a\u200bda",
        "human/ada",
        "Human/Ada",
        "model/ada",
        "human／ada",
        "human / ada",
        "job⁄human/ada",
    ),
    *(["ada"], ["claude", "ada"], {"name": "ada"}, [["x", {"of": "Ada"}]]),
]


@pytest.fixture
def nexus() -> Nexus:
    """A nexus in which ada and bob have written."""
    nexus = Nexus.memory(history=True)
    for name in ("ada", "bob"):
        with nexus.acting(author=name, kind="human"):
            nexus.execute(UPSERT, name=f"by {name}", author=name)
    return nexus


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_name_of_another_principal_is_refused(nexus: Nexus, claim: Any) -> None:
    with nexus.acting(author="claude"):
        with pytest.raises(KipError, match="names another principal, 'ada'") as raised:
            nexus.execute(UPSERT, name="x", author=claim)
        assert raised.value.code == "KIP_3004"
        assert "give your own name" in raised.value.hint
        assert raised.value.position is not None
    nexus.execute(UPSERT, name="x", author=claim)  # the owner, who may bring old data


@pytest.mark.parametrize("claim", ["owner", "human/owner", "\u043ewner", ["Human/Owner"]])
def test_the_owner_is_named_by_nobody_else(nexus: Nexus, claim: Any) -> None:
    with nexus.acting(author="claude"):
        with pytest.raises(KipError, match="names another principal, 'owner'"):
            nexus.execute(UPSERT, name="x", author=claim)
        nexus.execute(UPSERT, name="x", author="the owner of a dog")
    nexus.execute(UPSERT, name="x", author=claim)


@pytest.mark.parametrize(
    "author", ["claude", "Claude", "model/claude", "a paper", "ada lovelace", "$self", 5, None]
)
def test_other_authors_are_what_the_writer_says(nexus: Nexus, author: Any) -> None:
    with nexus.acting(author="claude"):
        nexus.execute(UPSERT, name="x", author=author)
    assert nexus.execute(AUTHOR, name="x") == [author]


OF_ADA = '{type: "Person", name: "by ada"}'
CLAIMING: dict[str, Callable[[Nexus], object]] = {
    "update": lambda nexus: nexus.execute(
        'UPDATE ?p SET METADATA { author: "ada" } WHERE { ?p {type: "Person", name: "mine"} }'
    ),
    "a fact": lambda nexus: nexus.execute(
        'UPSERT { PROPOSITION { ({name: "mine", type: "Person"}, "belongs_to_domain", '
        '{type: "Domain", name: "System"}) } } WITH METADATA { author: "ada" }'
    ),
    "capsule": lambda nexus: nexus.apply_capsule(
        'UPSERT { CONCEPT { {type: "Person", name: "x"} } } WITH METADATA { author: "ada" }'
    ),
    "transaction": lambda nexus: nexus.transaction(
        lambda tx: tx.write([{"type": "Person", "name": "x", "metadata": {"author": "ada"}}])
    ),
    "import": lambda nexus: nexus.import_rdf(
        '<urn:x:1> a <http://xmlns.com/foaf/0.1/Person> ; <http://xmlns.com/foaf/0.1/name> "X" .',
        mapping="foaf",
        metadata={"author": "ada"},
    ),
    "patch": lambda nexus: nexus.apply_patch(patch_with(nexus, 'author: "ada"')),
}


def patch_with(nexus: Nexus, metadata: str, name: str = "mine") -> str:
    other = Nexus.memory()
    other.restore(nexus.snapshot())
    other.execute(
        f"UPDATE ?p SET METADATA {{ {metadata} }} WHERE {{ ?p {{type: :type, name: :name}} }}",
        type="Person",
        name=name,
    )
    return nexus.patch_to(other).text


@pytest.mark.parametrize("path", CLAIMING)
def test_no_path_leads_around_it(nexus: Nexus, path: str) -> None:
    nexus.execute(UPSERT, name="mine", author="claude")
    before = nexus.info()["commit"]
    with (
        nexus.acting(author="claude"),
        pytest.raises(KipError, match="another principal") as raised,
    ):
        CLAIMING[path](nexus)
    assert raised.value.code == "KIP_3004"
    assert nexus.info()["commit"] == before
    CLAIMING[path](nexus)


def test_what_another_has_written_keeps_its_author(nexus: Nexus) -> None:
    with nexus.acting(author="claude"):
        nexus.execute(UPSERT, name="by ada", author="ada")
        nexus.execute(f"UPDATE ?p SET ATTRIBUTES {{ age: 36 }} WHERE {{ ?p {OF_ADA} }}")
        assert nexus.execute(AUTHOR, name="by ada") == ["ada"]
        nexus.execute(f"DELETE CONCEPT ?p DETACH WHERE {{ ?p {OF_ADA} }}")
        # An undo restores what ada has written.
        nexus.undo(seq=nexus.info()["commit"])
    assert nexus.execute(AUTHOR, name="by ada") == ["ada"]


def test_a_change_is_not_said_to_be_by_the_author_that_is_there(nexus: Nexus) -> None:
    aged = UPSERT.replace("} WITH", "SET ATTRIBUTES {age: :age} } WITH")
    commit = nexus.info()["commit"]
    patch = patch_with(nexus, "note: 1", "by ada")
    with nexus.acting(author="claude"):
        with pytest.raises(KipError, match="names another principal, 'ada'"):
            nexus.execute(aged, name="by ada", author="ada", age=99)
        with pytest.raises(KipError, match="names another principal, 'ada'"):
            nexus.execute(
                f'UPDATE ?p SET METADATA {{ author: "ada", x: 1 }} WHERE {{ ?p {OF_ADA} }}'
            )
        assert nexus.info()["commit"] == commit
        nexus.execute(UPSERT, name="by ada", author="ada")
        assert nexus.info()["commit"] == commit
        nexus.apply_patch(patch)
    assert nexus.execute(AUTHOR, name="by ada") == ["ada"]


def test_a_merge_gives_no_fact_another_author(nexus: Nexus) -> None:
    fact = 'PROPOSITION { ({type: "Person", name: :name}, "belongs_to_domain", ?d) }'
    domain = 'CONCEPT ?d { {type: "Domain", name: "System"} }'
    with nexus.acting(author="ada", kind="human"):
        by_ada = f'UPSERT {{ {domain} {fact} }} WITH METADATA {{ author: "ada" }}'
        nexus.execute(by_ada, name="by ada")
    merge = """MERGE CONCEPT ?a INTO ?b
        WHERE { ?a {type: "Person", name: "by ada"} ?b {type: "Person", name: "mine"} }"""
    with nexus.acting(author="claude"):
        nexus.execute(
            f'UPSERT {{ {domain} CONCEPT {{ {{type: "Person", name: :name}} }} {fact} }}',
            name="mine",
        )
        with pytest.raises(KipError, match="another principal"):
            nexus.execute(merge)


def test_principals_are_those_who_have_written_in_the_folder_before(tmp_path: Path) -> None:
    with Nexus.open(tmp_path / "kb") as nexus:
        with nexus.acting(author="reader", access="read"):
            nexus.execute("DESCRIBE DOMAINS")
        with nexus.acting(author="ada", kind="human"):
            nexus.execute(UPSERT, name="x", author="ada")
        copy = tmp_path / "copy"
        nexus.backup(copy)
    for folder in (tmp_path / "kb", copy):
        with Nexus.open(folder) as nexus, nexus.acting(author="claude"):
            with pytest.raises(KipError, match="another principal, 'ada'"):
                nexus.execute(UPSERT, name="y", author="ada")
            nexus.execute(UPSERT, name="y", author="reader")
        assert kiprdf.Nexus.open(folder).check()["faults"] == []


def test_a_name_of_all_agents_is_nobodys(nexus: Nexus) -> None:
    for author in ("$self", "$system"):
        with nexus.acting(author=author):
            nexus.execute(UPSERT, name="x", author=author)
    with nexus.acting(author="claude"):
        nexus.execute(UPSERT, name="y", author="$self")


def test_the_proposer_of_what_is_approved_stays_its_author(nexus: Nexus) -> None:
    with nexus.acting(author="claude"):
        nexus.execute(UPSERT, name="x", author="claude")
    with nexus.acting(author="claude", access="propose"):
        proposed = nexus.execute(UPSERT, name="y", author="claude")
    with nexus.acting(author="ada", kind="human"):
        nexus.approve(proposed["proposed"])
    assert nexus.execute(AUTHOR, name="y") == ["claude"]
