"""A knowledge base of any size, always the same, built through the public API."""

from __future__ import annotations

import random
from collections.abc import Iterator

import kiprdf

SCHEMA = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} }
  CONCEPT { {type: "$ConceptType", name: "Symptom"} }
  CONCEPT { {type: "$ConceptType", name: "Author"} }
  CONCEPT { {type: "$PropositionType", name: "treats"} }
  CONCEPT { {type: "$PropositionType", name: "interacts_with"} }
  CONCEPT { {type: "$PropositionType", name: "broader"} }
  CONCEPT { {type: "$PropositionType", name: "stated"} }
}
"""
BLOCKS = 400
"""Blocks a statement."""


def sizes(propositions: int) -> tuple[int, int, int]:
    """Drugs, symptoms and authors: a drug has four symptoms and four drugs, half of the ``treats``
    of one drug in eight are stated by an author."""
    drugs = propositions * 100 // 825
    return drugs, max(drugs // 16, 10), max(drugs // 100, 5)


def blocks(propositions: int) -> Iterator[str]:
    """The blocks of a capsule, each with what it refers to before it."""
    chance = random.Random(20261122)
    drugs, symptoms, authors = sizes(propositions)
    for number in range(symptoms):
        above = f'("broader", {{type: "Symptom", name: "S{(number - 1) // 3}"}})'
        facts = f" SET PROPOSITIONS {{ {above} }}" if number else ""
        yield f'CONCEPT {{ {{type: "Symptom", name: "S{number}"}}{facts} }}'
    for number in range(authors):
        yield f'CONCEPT {{ {{type: "Author", name: "A{number}"}} }}'
    for number in range(drugs):
        treated = chance.sample(range(symptoms), 4)
        links = [f'("treats", {{type: "Symptom", name: "S{other}"}})' for other in treated]
        others = chance.sample(range(number), min(number, 4))
        links += [f'("interacts_with", {{type: "Drug", name: "D{other}"}})' for other in others]
        yield (
            f'CONCEPT {{ {{type: "Drug", name: "D{number}"}} '
            f"SET ATTRIBUTES {{ risk: {chance.randrange(5)}, "
            f'description: "Relieves {chance.choice(WORDS)} and {chance.choice(WORDS)}." }} '
            f"SET PROPOSITIONS {{ {' '.join(links)} }} }} "
            f"WITH METADATA {{ confidence: {chance.randrange(100) / 100} }}"
        )
        if number % 8 == 0:
            for other in treated[:2]:
                yield (
                    f'PROPOSITION {{ ({{type: "Author", name: "A{chance.randrange(authors)}"}}, '
                    f'"stated", ({{type: "Drug", name: "D{number}"}}, "treats", '
                    f'{{type: "Symptom", name: "S{other}"}})) }}'
                )


WORDS = ("pain", "fever", "nausea", "cough", "swelling", "fatigue", "itching", "cramps")


def capsule(propositions: int) -> str:
    """Everything as one text."""
    return SCHEMA + "UPSERT {\n" + "\n".join(blocks(propositions)) + "\n}\n"


def build(propositions: int, nexus: kiprdf.Nexus) -> None:
    """Fill a nexus, some hundred blocks a statement."""
    nexus.execute(SCHEMA)
    waiting: list[str] = []
    for block in blocks(propositions):
        waiting.append(block)
        if len(waiting) == BLOCKS:
            nexus.apply_capsule("UPSERT {\n" + "\n".join(waiting) + "\n}")
            waiting.clear()
    if waiting:
        nexus.apply_capsule("UPSERT {\n" + "\n".join(waiting) + "\n}")
