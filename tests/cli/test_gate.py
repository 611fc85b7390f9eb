"""The commands for the shapes that writes must satisfy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Invoke

SHAPES = """@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix a: <urn:kip:attribute/> .
<urn:shape:Drug> a sh:NodeShape ; sh:targetClass <urn:kip:nexus/$ConceptType/Drug> ;
  sh:property [ sh:path a:risk_level ; sh:maxInclusive 5 ; sh:message "At most 5." ;
    sh:agentInstruction "Give the risk as 0 to 5." ] .
"""
WRONG = 'UPSERT { CONCEPT { {type: "Drug", name: "Bad"} SET ATTRIBUTES {risk_level: 9} } }'
RIGHT = WRONG.replace("9", "3")


@pytest.fixture
def shapes(tmp_path: Path) -> str:
    (tmp_path / "shapes.ttl").write_text(SHAPES, "utf-8")
    return "shapes.ttl"


def test_shapes_are_set_shown_checked_and_removed(loaded: Invoke, shapes: str) -> None:
    assert loaded("gate", "show").stderr == "The nexus has no shapes.\n"
    assert (
        loaded("gate", "set", shapes, "--as", "ada").stdout == "Everything satisfies the shapes.\n"
    )
    assert loaded("gate", "show").stdout == SHAPES
    shown = json.loads(loaded("gate", "show", "--json").stdout)
    assert shown == {"shapes": SHAPES, "on_violation": "refuse"}
    assert json.loads(loaded("info", "--json").stdout)["gate"] == "refuse"
    refused = loaded("run", WRONG)
    assert refused.exit_code == 1
    assert refused.stderr.startswith("KIP_2002 1:")
    assert "At most 5." in refused.stderr
    assert refused.stderr.endswith("Hint: Give the risk as 0 to 5.\n")
    assert "At most 5." in loaded("run", WRONG, "--dry-run").stderr
    (Path("bad.kip")).write_text(WRONG, "utf-8")
    assert "At most 5." in loaded("load", "bad.kip").stderr
    assert loaded("run", RIGHT).exit_code == 0
    assert loaded("gate", "check").exit_code == 0
    changes = loaded("changes").stdout
    assert "ada" in changes
    assert "    shapes set\n" in changes
    assert loaded("gate", "remove").stderr == "The shapes are removed.\n"
    assert "    shapes removed\n" in loaded("changes").stdout
    assert loaded("gate", "remove").stderr == "The nexus has no shapes.\n"
    assert loaded("run", WRONG).exit_code == 0


def test_what_violates_shapes_is_counted_by_shape(loaded: Invoke, shapes: str) -> None:
    assert loaded("run", WRONG).exit_code == 0
    loaded("run", WRONG.replace("Bad", "Worse"))
    done = loaded("gate", "set", shapes)
    assert done.exit_code == 0
    checked = loaded("gate", "check")
    assert checked.exit_code == 1
    assert checked.stdout == done.stdout
    assert [line.split() for line in checked.stdout.splitlines()[1:4:2]] == [
        ["│", "shape", "│", "violations", "│"],
        ["│", "urn:shape:Drug", "│", "2", "│"],
    ]
    assert "C:Drug/Bad, attributes.risk_level: At most 5. The value is 9.\n" in checked.stdout
    document = loaded("gate", "check", "--json")
    report = json.loads(document.stdout)
    assert document.exit_code == 1
    assert (report["conforms"], report["counts"]) == (False, {"urn:shape:Drug": 2})
    assert [one["element"] for one in report["violations"]] == ["C:Drug/Bad", "C:Drug/Worse"]


def test_a_nexus_without_shapes_violates_none(loaded: Invoke) -> None:
    checked = loaded("gate", "check")
    assert (checked.exit_code, checked.stdout) == (0, "")
    assert json.loads(loaded("gate", "check", "--json").stdout)["conforms"] is True


def test_shapes_that_are_no_turtle_change_nothing(loaded: Invoke, tmp_path: Path) -> None:
    (tmp_path / "bad.ttl").write_text("<a> <b> ; .", "utf-8")
    refused = loaded("gate", "set", "bad.ttl")
    assert refused.exit_code == 1
    assert refused.stderr.startswith("KIP_1001")
    assert loaded("gate", "set", "absent.ttl").exit_code == 1
    assert loaded("gate", "show").stdout == ""


def test_a_snapshot_is_checked_before_it_is_restored(loaded: Invoke, shapes: str) -> None:
    loaded("run", WRONG)
    assert loaded("snapshot", "all.ttl").exit_code == 0
    assert loaded("gate", "set", shapes, "-n", "new").exit_code == 0
    refused = loaded("restore", "all.ttl", "-n", "new", "--check")
    assert refused.exit_code == 1
    assert "At most 5." in refused.stderr
    assert loaded("restore", "all.ttl", "-n", "new").exit_code == 0
    assert loaded("gate", "check", "new").exit_code == 1


def test_a_refused_statement_waits_for_a_person(loaded: Invoke, shapes: str) -> None:
    assert loaded("gate", "set", shapes, "--on-violation", "propose").exit_code == 0
    answer = json.loads(loaded("run", WRONG, "--json").stdout)["result"]
    assert answer["proposed"] == "prop-1"
    assert (
        "Reason: C:Drug/Bad, attributes.risk_level: At most 5."
        in loaded("proposals", "show", "prop-1").stdout
    )
    refused = loaded("proposals", "approve", "prop-1")
    assert refused.stderr.startswith("KIP_2002")
    assert "Decline it, or change the shapes" in refused.stderr
