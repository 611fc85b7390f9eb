"""The capsule ``trust``: the conventions of trust, for models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf import resources
from kiprdf.kml.trust import STATUSES
from tests.cli.runner import invoke
from tests.nexus.support import commit

SKILLS = """
FIND(?s) WHERE {
  ?s {type: "Skill"} (?s, "belongs_to_domain", {type: "Domain", name: "Trust"})
} ORDER BY ?s.name
"""
TEXT = resources.optional_capsule("trust").text


def skills(nexus: kiprdf.Nexus) -> dict[str, str]:
    """The procedures of the skills, as texts."""
    return {
        each["name"]: "\n".join(each["attributes"]["procedure"]) for each in nexus.execute(SKILLS)
    }


@pytest.mark.parametrize("actor", [{}, {"author": "m"}], ids=["owner", "model"])
def test_it_loads_into_a_strict_nexus_and_changes_nothing_again(actor: dict[str, Any]) -> None:
    with kiprdf.Nexus.memory(strict_schema=True) as nexus, nexus.acting(**actor):
        nexus.apply_capsule(TEXT)
        assert list(skills(nexus)) == ["HeedARefusal", "ReadWithDoubt", "StateWithASource"]
        before = commit(nexus)
        nexus.apply_capsule(TEXT)
        assert commit(nexus) == before


def test_it_names_what_the_engine_has() -> None:
    with kiprdf.Nexus.memory() as nexus:
        nexus.apply_capsule(TEXT)
        (domain,) = nexus.execute(
            'FIND(?d.attributes) WHERE { ?d {type: "Domain", name: "Trust"} }'
        )
        words = domain["description"].replace(",", " ").replace(".", " ").split()
        assert [word for word in words if word in STATUSES][:5] == list(STATUSES)
        for key in ("_actor", "retracted_by", "retracted_at"):
            assert key in domain["scope_note"]


def test_what_it_says_of_a_refusal_is_so() -> None:
    with kiprdf.Nexus.memory() as nexus:
        nexus.apply_capsule(TEXT)
        assert "KIP_3004" in nexus.execute(SKILLS)[0]["attributes"]["trigger"]
        bob = 'UPSERT { CONCEPT { {type: "Person", name: "Bob"} SET ATTRIBUTES { n: :n } } }'
        nexus.execute(bob + ' WITH METADATA { status: "reviewed" }', n=1)
        with nexus.acting(author="m"):
            with pytest.raises(kiprdf.KipError, match="is reviewed") as raised:
                nexus.execute(bob + ' WITH METADATA { status: "draft" }', n=2)
            assert raised.value.code == "KIP_3004"
            # "write again without status"
            assert nexus.execute(bob, n=2)["unreviewed"] == ["C:Person/Bob"]
        assert "the receipt lists it in unreviewed" in skills(nexus)["HeedARefusal"]


def test_no_nexus_has_it_unless_it_is_loaded(tmp_path: Path) -> None:
    with kiprdf.Nexus.memory() as nexus:
        assert "Trust" not in nexus.execute("DESCRIBE DOMAINS")
    result = invoke("load", "trust", "--nexus", str(tmp_path / "brain"))
    assert result.exit_code == 0
    with kiprdf.Nexus.open(tmp_path / "brain", read_only=True) as nexus:
        assert "Trust" in nexus.execute("DESCRIBE DOMAINS")
