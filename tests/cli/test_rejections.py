"""The commands that reject values and lift that."""

from __future__ import annotations

import json

from .conftest import Invoke

RISK = 'UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES {risk_level: 5} } }'
TREATS = """UPSERT { CONCEPT ?s { {type: "Symptom", name: "Insomnia"} }
    CONCEPT { {type: "Drug", name: "Aspirin"} SET PROPOSITIONS { ("treats", ?s) } } }"""


def test_a_value_is_rejected_listed_and_lifted(loaded: Invoke) -> None:
    assert loaded("rejections").stdout == ""
    why = ("--reason", "A typing error.", "--as", "ada")
    name = loaded("reject", "Aspirin", "--key", "risk_level", "--value", "5", *why).stdout.strip()
    assert len(name) == 64
    assert loaded("run", RISK).exit_code == 1
    listed = loaded("rejections").stdout
    assert listed.startswith(f"{name} ")
    assert listed.endswith(" human/ada: A typing error.\n")
    (rejection,) = json.loads(loaded("rejections", "--json").stdout)
    assert (rejection["name"], rejection["by"]) == (name, "human/ada")
    assert loaded("lift", name).stdout == "The rejection is lifted.\n"
    assert loaded("run", RISK).exit_code == 0
    assert "There is no rejection" in loaded("lift", name).stderr


def test_a_fact_that_is_stored_and_one_that_is_not(loaded: Invoke) -> None:
    fact = "(Drug:Aspirin, treats, Symptom:Headache)"
    answer = loaded("reject", fact, "--reason", "No.", "--json")
    name = json.loads(answer.stdout)["name"]
    status = (
        'FIND(?l.metadata.status) WHERE { ?l ({name: "Aspirin"}, "treats", {name: "Headache"}) }'
    )
    assert "retracted" in loaded("run", status).stdout
    predicate = ("--predicate", "treats", "--value", "Symptom:Insomnia", "--reason", "No.")
    other = loaded("reject", "Drug:Aspirin", *predicate).stdout.strip()
    assert len({name, other}) == 2
    assert "KIP_3004" in loaded("run", TREATS).stderr


def test_what_names_no_value_is_an_error(loaded: Invoke) -> None:
    for arguments in (
        ("Aspirin", "--reason", "No."),
        ("Aspirin", "--key", "risk_level", "--reason", "No."),
        ("Aspirin", "--value", "5", "--reason", "No."),
        ("Nobody", "--key", "risk_level", "--value", "5", "--reason", "No."),
        ("Aspirin", "--key", "risk_level", "--value", "5"),
    ):
        assert loaded("reject", *arguments).exit_code != 0, arguments
    assert loaded("rejections").stdout == ""
