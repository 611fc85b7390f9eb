"""The commands that review proposals."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kiprdf.nexus import Nexus

from .conftest import Invoke

RISK = 'UPSERT { CONCEPT { {type: "Drug", name: :name} SET ATTRIBUTES {risk_level: :risk} } }'


@pytest.fixture
def proposed(loaded: Invoke) -> Invoke:
    """The command line in a folder whose nexus has two proposals."""
    with Nexus.open("nexus") as nexus, nexus.acting(author="bot", session="s 1", access="propose"):
        nexus.execute(RISK, name="Aspirin", risk=3)
        nexus.execute(RISK, name="As\u200bpirin\u202e \u0410", risk=1)
    return loaded


def test_the_list_and_a_proposal_say_who_and_what(proposed: Invoke) -> None:
    listed = proposed("proposals", "list").stdout
    assert "model/bot s 1: open\n    ~ Drug:Aspirin\nprop-2 " in listed
    assert '    + Drug:"As\\u200bpirin\\u202e А[CYRILLIC CAPITAL LETTER A]"' in listed
    lines = proposed("proposals", "show", "prop-1").stdout.splitlines()
    assert lines[0].startswith("prop-1 ")
    assert lines[2:5] == ["Concepts", "~ Drug:Aspirin", "    ~ attributes.risk_level: 2 -> 3"]
    assert lines[-4:] == [
        "Statement:",
        RISK,
        'Parameters: {"name": "Aspirin", "risk": 3}',
        "It read: C:Drug/Aspirin version 1",
    ]
    assert "It read: nothing that exists\n" in proposed("proposals", "show", "prop-2").stdout
    both = json.loads(proposed("proposals", "list", "--json").stdout)
    assert [one["id"] for one in both] == ["prop-1", "prop-2"]


def test_a_person_approves_and_declines(proposed: Invoke) -> None:
    answer = proposed("proposals", "approve", "prop-1", "--as", "ada")
    assert answer.stdout.startswith("prop-1 is approved.\n{")
    declined = proposed("proposals", "decline", "prop-2", "--reason", "No.", "--reject")
    assert re.fullmatch(r"prop-2 is declined\.\nrejected: [0-9a-f]{64}\n", declined.stdout)
    find = 'FIND(?d.attributes.risk_level) WHERE { ?d {type: "Drug", name: "Aspirin"} }'
    assert "3" in proposed("run", find).stdout
    changes = json.loads(proposed("changes", "--author", "ada", "--json").stdout)
    assert changes["commits"][0]["proposed_by"] == "model/bot"
    assert "human/ada (prop-1 of model/bot): UPSERT\n" in proposed("changes").stdout
    assert "human/ada (prop-1 of model/bot): changed by" in proposed("history", "Aspirin").stdout
    assert "No proposal waits." in proposed("proposals", "list").stderr
    assert "approved by human/ada" in proposed("proposals", "list", "--all").stdout
    assert "Reason: No." in proposed("proposals", "show", "prop-2").stdout


def test_what_cannot_be_decided_is_an_error(proposed: Invoke) -> None:
    proposed("run", RISK, "-p", "name=Aspirin", "-p", "risk=5")
    stale = proposed("proposals", "approve", "prop-1")
    assert (stale.exit_code, stale.stdout) == (1, "")
    assert "KIP_3005 prop-1 is stale: C:Drug/Aspirin changed after it was proposed." in stale.stderr
    unknown = proposed("proposals", "approve", "prop-9", "--json")
    assert json.loads(unknown.stdout)["error"]["code"] == "KIP_3002"
    own = proposed("proposals", "approve", "prop-2", "--as", "BOT")
    assert "nobody approves their own" in own.stderr
    assert proposed("proposals", "decline", "prop-1").exit_code == 2
    blank = proposed("proposals", "decline", "prop-1", "--reason", " ")
    assert "KIP_1001" in blank.stderr


def test_forgetting_names_the_proposals_that_it_removes(proposed: Invoke) -> None:
    find = 'FIND(?d) WHERE { ?d {type: "Drug", name: "Aspirin"} }'
    lines = proposed("forget", find).stdout.splitlines()
    assert (lines[0], lines[-1]) == ("C:Drug/Aspirin", "removed the proposal prop-1")
    assert "prop-1" not in proposed("proposals", "list").stdout


def test_a_folder_without_proposals_gets_no_file(loaded: Invoke) -> None:
    assert loaded("proposals", "list", "--json").stdout == "[]\n"
    assert not list(Path("nexus").glob("proposals*"))
