"""A knowledge base of any size, always the same, built through the public API."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import kiprdf
from kiprdf.rdf.iris import proposition_digits

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
Rows: TypeAlias = list[tuple[Any, ...]]
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


def rows(propositions: int) -> tuple[Rows, Rows]:
    """The same as rows of ``Nexus.load``: concepts, and propositions."""
    chance = random.Random(20261122)
    drugs, symptoms, authors = sizes(propositions)
    concepts: Rows = [("Symptom", f"S{number}") for number in range(symptoms)]
    concepts += [("Author", f"A{number}") for number in range(authors)]
    links: Rows = [
        (("Symptom", f"S{number}"), "broader", ("Symptom", f"S{(number - 1) // 3}"))
        for number in range(1, symptoms)
    ]
    for number in range(drugs):
        drug = ("Drug", f"D{number}")
        treated = chance.sample(range(symptoms), 4)
        others = chance.sample(range(number), min(number, 4))
        attributes = {
            "risk": chance.randrange(5),
            "description": f"Relieves {chance.choice(WORDS)} and {chance.choice(WORDS)}.",
        }
        sure = {"confidence": chance.randrange(100) / 100}
        concepts.append((*drug, attributes, sure))
        links += [(drug, "treats", ("Symptom", f"S{other}"), None, sure) for other in treated]
        links += [(drug, "interacts_with", ("Drug", f"D{other}"), None, sure) for other in others]
        for other in treated[:2] if number % 8 == 0 else ():
            author = ("Author", f"A{chance.randrange(authors)}")
            links.append((author, "stated", (drug, "treats", ("Symptom", f"S{other}"))))
    return concepts, links


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


# As a file -------------------------------------------------------------------------------------

_PREFIXES = """\
# kiprdf 1 base <urn:kip:nexus/>
@prefix : <urn:kip:nexus/> .
@prefix type: <urn:kip:nexus/$ConceptType/> .
@prefix pred: <urn:kip:nexus/$PropositionType/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix attr: <urn:kip:attribute/> .
@prefix meta: <urn:kip:metadata/> .
"""
_ENGINE = (
    'meta:_created_at "2026-11-22T12:00:00.000Z" ; meta:_updated_at "2026-11-22T12:00:00.000Z" ; '
    "meta:_version 1"
)
_META = ("$ConceptType", "$PropositionType")


def write_turtle(propositions: int, path: Path) -> None:
    """Such a knowledge base as a snapshot, in seconds: as many propositions of the same kinds."""
    types, predicates = ("Drug", "Symptom", "Author"), ("treats", "interacts_with", "broader")
    write_snapshot(path, types, (*predicates, "stated"), _statements(propositions))


def write_snapshot(
    path: Path, types: Iterable[str], predicates: Iterable[str], statements: Iterable[str]
) -> None:
    """A snapshot with definitions, and with ``statements`` that ``concept`` and ``fact`` return."""
    with path.open("w", encoding="utf-8") as file:
        file.write(_PREFIXES)
        for meta, names in zip(_META, (types, predicates), strict=True):
            for name in names:
                file.write(concept(meta, name))
        file.writelines(statements)


def _statements(propositions: int) -> Iterator[str]:
    chance = random.Random(20261122)
    drugs, symptoms, authors = sizes(propositions)
    for number in range(symptoms):
        yield concept("Symptom", f"S{number}")
        if number:
            yield fact("Symptom", f"S{number}", "broader", f"C:Symptom/S{(number - 1) // 3}")
    for number in range(authors):
        yield concept("Author", f"A{number}")
    for number in range(drugs):
        properties = f'attr:risk {chance.randrange(5)} ; attr:description "Relieves '
        properties += f'{chance.choice(WORDS)} and {chance.choice(WORDS)}."'
        sure = f'meta:confidence "{chance.randrange(100) / 100}"^^xsd:double'
        yield concept("Drug", f"D{number}", f" ; {properties} ; {sure}")
        treated = chance.sample(range(symptoms), 4)
        for other in treated:
            yield fact("Drug", f"D{number}", "treats", f"C:Symptom/S{other}", f" ; {sure}")
        for other in chance.sample(range(number), min(number, 4)):
            yield fact("Drug", f"D{number}", "interacts_with", f"C:Drug/D{other}", f" ; {sure}")
        for other in treated[:2] if number % 8 == 0 else ():
            about = _id(f"C:Drug/D{number}", "treats", f"C:Symptom/S{other}")
            yield fact("Author", f"A{chance.randrange(authors)}", "stated", about)


def concept(type: str, name: str, rest: str = "") -> str:
    """A concept of a snapshot."""
    node, typed = f"<urn:kip:nexus/{type}/{name}>", f"<urn:kip:nexus/$ConceptType/{type}>"
    return f'{node} a {typed} ; rdfs:label "{name}" ; {_ENGINE}{rest} .\n'


def fact(type: str, name: str, predicate: str, object: str, rest: str = "") -> str:
    """A proposition of a snapshot."""
    link, subject, value = (
        f"<urn:kip:nexus/{_path(id)}>"
        for id in (_id(f"C:{type}/{name}", predicate, object), f"C:{type}/{name}", object)
    )
    fact = f"{subject} pred:{predicate} {value}"
    return f"{fact} .\n{link} rdf:reifies <<( {fact} )>> ; {_ENGINE}{rest} .\n"


def _id(subject: str, predicate: str, object: str) -> str:
    return f"P:{proposition_digits(subject, predicate, object)}:{predicate}"


def _path(id: str) -> str:
    kind, _, rest = id.partition(":")
    return rest if kind == "C" else "$proposition/" + rest.replace(":", "/")
