"""The system prompt: every example runs, the schema is that of the nexus, the size is kept."""

from __future__ import annotations

import json
import re

import pytest

import kiprdf
from kiprdf.prompt import tokens
from tests.nexus.support import medical

EXAMPLE = re.compile(r"```kip ?([^\n]*)\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("genesis", [True, False])
def test_every_example_runs(genesis: bool) -> None:
    nexus = kiprdf.Nexus.memory(genesis=genesis)
    examples = EXAMPLE.findall(kiprdf.instructions(nexus))
    answers = [
        nexus.execute_kip({"command": text, "parameters": json.loads(parameters or "{}")})
        for parameters, text in examples
    ]
    assert len(examples) >= 9
    errors = [answer["error"] for answer in answers if "error" in answer]
    assert errors == []
    assert answers[-3]["result"] == [["Garden shed"], ["Lathe"], [0.9]]


def test_the_schema_is_that_of_the_nexus() -> None:
    text = kiprdf.instructions(medical())
    assert '- `Drug` (1)\n  - attributes: colour, such as `"white"`; risk, such as `2`' in text
    assert '  - as subject: "treats" → Symptom\n' in text
    assert '  - as object: Drug "treats" →\n' in text
    assert "- `treats` (2)" in text


def test_without_a_nexus_it_teaches_the_language() -> None:
    text = kiprdf.instructions()
    assert "What this memory contains now" not in text
    assert all(code in text for code in ("KIP_1001", "KIP_2001", "KIP_4003"))


def test_the_text_stays_within_its_budget() -> None:
    nexus = kiprdf.Nexus.memory()
    blocks = "\n".join(
        f'CONCEPT {{ {{type: "$ConceptType", name: "Type{number}"}} }}' for number in range(500)
    )
    nexus.apply_capsule(f"UPSERT {{ {blocks} }}")
    assert tokens(kiprdf.instructions(nexus, budget_tokens=4000)) <= 4000
    assert "more: ask DESCRIBE CONCEPT TYPES." in kiprdf.instructions(nexus, budget_tokens=10_000)
    assert "more lines: ask" in kiprdf.instructions(nexus, budget_tokens=2600)


def test_a_budget_that_is_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match="at least"):
        kiprdf.instructions(budget_tokens=100)


def test_characters_beyond_ascii_count_as_tokens() -> None:
    nexus = kiprdf.Nexus.memory()
    blocks = "\n".join(
        f'CONCEPT {{ {{type: "Domain", name: "领域{number}"}} '
        f'SET ATTRIBUTES {{description: "{"知识" * 30}"}} }}'
        for number in range(100)
    )
    nexus.apply_capsule(f"UPSERT {{ {blocks} }}")
    text = kiprdf.instructions(nexus, budget_tokens=3000)
    assert sum(character > "\x7f" for character in text) + 1800 < 3000
