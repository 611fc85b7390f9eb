"""Commands that language models get wrong: the error of each, and what following its hint gives.

``repairs/*.txt`` is the table. A case is lines, perhaps after a title: the wrong command (``↵`` is
a line break, ``∅`` no text); code, place and message; the hint; the repaired command; its answer,
and for a write the elements that it changed. A program follows the hint to the letter; where the
hint leaves a part to the reader, the repaired command is written by hand and begins with ``~``.
Some mistakes have no one repair: their cases end with the hint. ``--update-golden`` rewrites
everything but the wrong and the handwritten commands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.advice.corrections import corrections
from kiprdf.errors import KipError
from tests.syntax.repairing import repaired

PAGES = sorted(Path(__file__).parent.glob("repairs/*.txt"))
MEDICAL = (Path(__file__).parents[1] / "golden" / "medical.kip").read_text("utf-8")
TYPES = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Person"} }
  CONCEPT { {type: "$ConceptType", name: "Event"} }
  CONCEPT { {type: "$ConceptType", name: "Domain"} }
  CONCEPT { {type: "$PropositionType", name: "takes"} }
  CONCEPT { {type: "Domain", name: "Medical"} SET ATTRIBUTES { description: "Drugs." } }
}"""
PARAMETERS = {
    "name": "Aspirin",
    "now": "2030-01-01T00:00:00Z",
    "value": "x",
    "type": "Drug",
    "pattern": "(?i)^aspirin$",
}
MOST_STEPS = 8
WRITES = ("UPSERT", "UPDATE", "MERGE", "DELETE")


@dataclass
class Case:
    title: str
    wrong: str
    error: str = ""
    hint: str = ""
    repaired: str = ""
    answer: str = ""

    @property
    def is_by_hand(self) -> bool:
        return self.repaired.startswith("~")

    def lines(self) -> list[str]:
        shown = [self.wrong or "∅", self.error, self.hint, self.repaired, self.answer]
        return [line.replace("\n", "↵") for line in (self.title, *shown) if line]


def _cases(page: str) -> list[Case]:
    cases = []
    for paragraph in page.strip().split("\n\n"):
        lines = [line.replace("↵", "\n") for line in paragraph.split("\n")]
        title = lines.pop(0) if lines[0].startswith("## ") else ""
        cases.append(Case(title, lines[0].removeprefix("∅"), *lines[1:]))
    return cases


def opened() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(TYPES)
    nexus.apply_capsule(MEDICAL)
    return nexus


@pytest.fixture(scope="module")
def nexus() -> Iterator[kiprdf.Nexus]:
    """A nexus that is only read."""
    with opened() as nexus:
        yield nexus


def error_of(nexus: kiprdf.Nexus, text: str) -> KipError | None:
    """The error of a command; a write that succeeds is only a dry run."""
    request = {"command": text, "parameters": PARAMETERS, "dry_run": True}
    if "error" not in nexus.execute_kip(request):
        return None
    with pytest.raises(KipError) as caught:
        nexus.execute(text, **PARAMETERS)
    return caught.value.in_source(text)


def followed(nexus: kiprdf.Nexus, text: str, steps: int = MOST_STEPS) -> Iterator[str]:
    """The commands without an error that following the hints leads to, in each alternative."""
    error = error_of(nexus, text)
    if error is None:
        yield text
    elif steps:
        if re.search(r"(?i:write|remove|add) `|Did you mean", error.hint):
            assert set(corrections(error)) >= set(repaired(error)), error.hint
        for alternative in dict.fromkeys(repaired(error)):
            yield from followed(nexus, alternative, steps - 1)


def answered(nexus: kiprdf.Nexus, text: str) -> str:
    """The answer of a command as JSON; rows without an order are sorted."""
    if text.lstrip().startswith(WRITES):
        with opened() as own:
            before = elements(own)
            receipt = own.execute(text, **PARAMETERS)
            after = elements(own)
        changed = {
            key: after.get(key) for key in before | after if before.get(key) != after.get(key)
        }
        return json.dumps([receipt, changed], ensure_ascii=False)
    result = plain(nexus.execute(text, **PARAMETERS))
    if "ORDER BY" not in text and isinstance(result, list):
        if result and all(isinstance(column, list) for column in result):
            result = [list(row) for row in zip(*result, strict=True)]
        result.sort(key=json.dumps)
    return json.dumps(result, ensure_ascii=False)


def elements(nexus: kiprdf.Nexus) -> dict[str, Any]:
    """The attributes and metadata of every element, by id."""
    union = " ".join(
        f'UNION {{ ?x {{type: "{name}"}} }}' for name in nexus.execute("DESCRIBE CONCEPT TYPES")
    )
    concepts = nexus.execute(f"FIND(?x) WHERE {{ {union} }}")
    links = nexus.execute("FIND(?l) WHERE { ?l (?a, ?p, ?b) }")
    return {
        each["id"]: {key: each[key] for key in ("attributes", "metadata") if each.get(key)}
        for each in plain([*concepts, *links])
    }


def plain(value: Any) -> Any:
    """A result without what the engine adds: times, versions, scores, the use of a type."""
    if isinstance(value, dict):
        kept = (key for key in value if key == "_type" or not key.startswith(("_", "usage")))
        return {key: plain(value[key]) for key in kept}
    return [plain(item) for item in value] if isinstance(value, list) else value


def actual_case(nexus: kiprdf.Nexus, case: Case) -> Case:
    """The case as it is now."""
    error = error_of(nexus, case.wrong)
    assert error is not None, f"{case.wrong} is not refused"
    place = ":".join(map(str, error.position or ()))
    actual = Case(case.title, case.wrong, f"{error.code} {place} {error.message}", error.hint)
    if case.is_by_hand:
        assert not list(followed(nexus, case.wrong)), "the hint gives the repaired command"
        actual.repaired = case.repaired
        actual.answer = answered(nexus, case.repaired.removeprefix("~ "))
    else:
        commands = list(dict.fromkeys(followed(nexus, case.wrong)))
        if commands:
            actual.repaired = case.repaired if case.repaired in commands else commands[0]
            actual.answer = answered(nexus, actual.repaired)
    return actual


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_following_the_hint_gives_what_was_meant(
    nexus: kiprdf.Nexus, path: Path, update_golden: bool
) -> None:
    cases = _cases(path.read_text("utf-8"))
    actual = [actual_case(nexus, case).lines() for case in cases]
    if update_golden:
        path.write_text("\n\n".join("\n".join(lines) for lines in actual) + "\n", "utf-8")
    else:
        for lines, case in zip(actual, cases, strict=True):
            assert lines == case.lines()


def test_at_least_150_mistakes_have_a_repair_that_runs() -> None:
    cases = [case for path in PAGES for case in _cases(path.read_text("utf-8"))]
    assert sum(bool(case.answer) for case in cases) >= 150


def test_no_mistake_is_in_the_table_twice() -> None:
    wrong = [case.wrong for path in PAGES for case in _cases(path.read_text("utf-8"))]
    assert len(wrong) == len(set(wrong))
