"""What models read of a nexus is a function of its dataset, not of the order of its writes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import rdflib

import kiprdf
from tests.long_runs import SEED
from tests.nexus.support import StoppedClock

SCHEMA = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} }
  CONCEPT { {type: "$ConceptType", name: "Symptom"} }
  CONCEPT { {type: "$PropositionType", name: "treats"} }
  CONCEPT { {type: "$PropositionType", name: "stated"} }
}
"""
MISSING = [
    'FIND(?d) WHERE { ?d {type: "Drug", name: "Drag 7"} }',
    'FIND(?d) WHERE { ?d {name: "Symptm 1"} }',
    'FIND(?d) WHERE { ?d {name: "old name"} }',
    'FIND(?d) WHERE { ?d {type: "Drug", name: "Old name"} }',
    'FIND(?d) WHERE { ?d {name: "ALIAS"} }',
    'FIND(?d) WHERE { ?d {name: "shared"} ?d {type: "Drug"} }',
    'FIND(?d) WHERE { ?d {type: "Drg"} }',
    'FIND(?d) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.rsk == 1) }',
    'FIND(?d) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.risk == "high") }',
]


def statements() -> list[list[str]]:
    """The blocks of a dataset: those of one list may come in any order."""
    concepts = [
        f'CONCEPT {{ {{type: "Drug", name: "Drug {number}"}} SET ATTRIBUTES {{ risk: {number % 17},'
        f' note: "note {number * 7919 % 1000}", tags: ["t{number % 5}", {{b: 1, a: {number}}}]'
        f"{', rare: true' if number in (97, 98, 99) else ''} }} }}"
        for number in range(300)
    ]
    concepts += [
        f'CONCEPT {{ {{type: "Symptom", name: "Symptom {number}"}}'
        f' SET ATTRIBUTES {{ aliases: ["alias"], grade: {number}.5 }} }}'
        for number in range(12)
    ]
    concepts += [
        f'CONCEPT {{ {{type: "{type}", name: "Shared"}} }}' for type in ("Drug", "Symptom")
    ]
    concepts += [
        f'CONCEPT {{ {{type: "Commitment", name: "C{number}"}} SET ATTRIBUTES {{'
        f' description: "promise {number}", promised_by: "a", promised_to: "b",'
        ' made_at: "2026-01-01T00:00:00Z", status: "open", due_at: "2026-02-01T00:00:00Z" } }'
        for number in range(9)
    ]
    concepts += [
        f'CONCEPT {{ {{type: "Domain", name: "Area {number}"}}'
        f' SET ATTRIBUTES {{ description: "Area {number}." }} }}'
        for number in range(4)
    ]
    links = [
        f'PROPOSITION {{ ({{type: "Drug", name: "Drug {number}"}}, "treats",'
        f' {{type: "Symptom", name: "Symptom {number % 12}"}}) }}'
        for number in range(60)
    ]
    links += [
        f'PROPOSITION {{ ({{type: "Drug", name: "Drug {number}"}}, "belongs_to_domain",'
        f' {{type: "Domain", name: "Area {number % 4}"}}) }}'
        for number in range(40)
    ]
    return [concepts, links]


MERGES = [
    f'MERGE CONCEPT ?a INTO ?b WHERE {{ ?a {{type: "{type}", name: "Old name"}}'
    f' ?b {{type: "{type}", name: "{type} 1"}} }}'
    for type in ("Drug", "Symptom")
]


def fill(nexus: kiprdf.Nexus, chance: random.Random) -> None:
    """Write the dataset in a random order."""
    nexus.execute(SCHEMA)
    for type in ("Drug", "Symptom"):
        nexus.execute(f'UPSERT {{ CONCEPT {{ {{type: "{type}", name: "Old name"}} }} }}')
    for blocks in statements():
        mixed = chance.sample(blocks, len(blocks))
        for start in range(0, len(mixed), 100):
            nexus.apply_capsule(f"UPSERT {{ {' '.join(mixed[start : start + 100])} }}")
    for merge in chance.sample(MERGES, 2):
        nexus.execute(merge)


def texts(nexus: kiprdf.Nexus) -> dict[str, str]:
    """Everything that a model reads, by what it asks."""
    answers: dict[str, Any] = {"instructions": kiprdf.instructions(nexus, budget_tokens=20_000)}
    commands = ["DESCRIBE PRIMER", "DESCRIBE DOMAINS", "DESCRIBE CONCEPT TYPES"]
    for kind in ("CONCEPT", "PROPOSITION"):
        names = nexus.execute(f"DESCRIBE {kind} TYPES")
        commands += [f'DESCRIBE {kind} TYPE "{name}"' for name in names]
    for command in (*commands, *MISSING):
        answers[command] = nexus.execute_kip({"command": command})
    return {key: json.dumps(answer, indent=1) for key, answer in answers.items()}


def empty(**options: Any) -> kiprdf.Nexus:
    return kiprdf.Nexus.memory(clock=StoppedClock(), **options)


@pytest.fixture(scope="module")
def expected() -> dict[str, str]:
    nexus = empty()
    fill(nexus, random.Random(SEED))
    return texts(nexus)


def in_memory(path: Path) -> kiprdf.Nexus:
    nexus = empty()
    fill(nexus, random.Random(SEED + 1))
    return nexus


def in_a_folder(path: Path) -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.open(path / "kb", clock=StoppedClock())
    fill(nexus, random.Random(SEED + 2))
    return nexus


def in_rdflib(path: Path) -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.connect(rdflib.Graph(), clock=StoppedClock())
    fill(nexus, random.Random(SEED + 3))
    return nexus


def restored(path: Path) -> kiprdf.Nexus:
    nexus = empty(genesis=False)
    nexus.restore(in_memory(path).snapshot())
    return nexus


def rewritten(path: Path) -> kiprdf.Nexus:
    """Forgetting writes the graph afresh, in another order."""
    nexus = in_a_folder(path)
    nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "Forgotten"} } }')
    nexus.forget('FIND(?d) WHERE { ?d {type: "Drug", name: "Forgotten"} }')
    return nexus


@pytest.mark.parametrize("made", [in_memory, in_a_folder, in_rdflib, restored, rewritten])
def test_models_read_the_same_text(
    made: Callable[[Path], kiprdf.Nexus], expected: dict[str, str], tmp_path: Path
) -> None:
    with made(tmp_path) as nexus:
        for key, text in texts(nexus).items():
            assert text == expected[key], key


def test_examples_are_those_of_the_first_concepts(expected: dict[str, str]) -> None:
    usage = json.loads(expected['DESCRIBE CONCEPT TYPE "Drug"'])["result"]["usage"]
    assert usage["attributes"]["risk"] == {"count": 300, "examples": [0, 1, 10]}
    assert usage["attributes"]["rare"] == {"count": 3, "examples": [True]}
    assert "Did you mean" in expected[MISSING[0]]


def test_names_are_compared_only_if_they_are_few() -> None:
    """Of thousands of names the first ones depend on the order of the writes."""
    blocks = [f'CONCEPT {{ {{type: "Drug", name: "Drug {n}"}} }}' for n in range(2_001)]
    command = 'FIND(?d) WHERE { ?d {name: "Drag 7"} }'
    hints: list[str | None] = []
    for count in (100, 2_001):
        nexus = empty(genesis=False)
        nexus.execute(SCHEMA)
        nexus.apply_capsule(f"UPSERT {{ {' '.join(blocks[:count])} }}")
        hints.append(nexus.find(command).warnings[-1].hint)
    assert hints == ['Did you mean "Drug 7" or "Drug 97" or "Drug 87"?', None]
