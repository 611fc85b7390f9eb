"""Forgetting parts of random graphs: links of links, merged elements, values, what is deleted.

Each value is a text that no other element was given. None of what was forgotten is in a file any
more; all other elements are as they were, now and in each earlier state, and the nexus can be
restored.
"""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.interchange.dataset import check_dataset
from kiprdf.rdf.iris import Iris
from tests.interchange.pairs import triples
from tests.long_runs import SEED, amount
from tests.nexus.test_forget import remaining

GRAPHS = amount("FORGOTTEN_GRAPHS", 1)
STATEMENTS = 20
BEGINNING = 5
"""A commit after which the schema is there."""
NAMES = ["Ada Byron", "Bob Stone", "Cy Young", "Dora Wild", "Émile Zola"]
SCHEMA = """
UPSERT {
  CONCEPT { {type: "$PropositionType", name: "knows"} }
  CONCEPT { {type: "$PropositionType", name: "stated"} }
  CONCEPT { {type: "$ConceptType", name: "Club"} }
}
"""
PERSON = 'UPSERT { CONCEPT { {type: "Person", name: :one} SET ATTRIBUTES { %s } } }'
FACT = """
UPSERT {
  CONCEPT ?a { {type: "Person", name: :one} } CONCEPT ?b { {type: "Person", name: :two} }
  PROPOSITION { (?a, "knows", ?b) SET ATTRIBUTES { %s } }
} WITH METADATA { source: :secret }
"""
ABOUT = """
UPSERT {
  CONCEPT ?c { {type: "Person", name: :one} }
  PROPOSITION { (?c, "stated", (id: :link)) SET ATTRIBUTES { %s } }
}
"""
PERIOD = """
UPSERT {
  PROPOSITION { ((id: :link), "valid_during", {type: "Period", name: "2019/2022"}) }
}
"""
MERGE = """
MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "Person", name: :one} ?b {type: "Person", name: :two} }
"""


class Graph:
    """A nexus that grows by chance, and which texts each element has ever had."""

    def __init__(self, nexus: kiprdf.Nexus, chance: random.Random) -> None:
        self.nexus = nexus
        self.chance = chance
        self.texts: dict[str, set[str]] = defaultdict(set)
        nexus.execute(SCHEMA)
        nexus.execute('UPSERT { CONCEPT { {type: "Period", name: "2019/2022"} } }')

    def elements(self, nexus: kiprdf.Nexus | None = None) -> dict[str, Any]:
        """The persons and clubs, and all links about them or about their links."""
        commands = [
            'FIND(?p) WHERE { ?p {type: "Person"} FILTER(!STARTS_WITH(?p.name, "$")) }',
            *(
                f'FIND(?l) WHERE {{ ?l (?a, "{predicate}", ?b) }}'
                for predicate in ("knows", "stated", "valid_during")
            ),
        ]
        execute = (nexus or self.nexus).execute
        return {one["id"]: one for command in commands for one in execute(command)}

    def grow(self) -> None:
        """Run a random statement; some fail, and write nothing."""
        chance, links = self.chance, [id for id in self.elements() if id.startswith("P:")]
        one, two = chance.sample(NAMES, 2)
        key = chance.choice(["note", "tags", "data"])
        secret = f"{chance.getrandbits(64):016x}"
        value = {"note": ":secret", "tags": "[:secret]", "data": "{of: [:secret]}"}[key]
        forms: list[tuple[int, str]] = [
            (4, PERSON % f"{key}: {value}"),
            (8, FACT % f"{key}: {value}"),
            (1, 'DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Person", name: :one} }'),
            (2, MERGE),
        ]
        if links:
            forms += [
                (6, ABOUT % f"{key}: {value}"),
                (2, PERIOD),
                (1, "DELETE PROPOSITIONS ?l WHERE { ?l (id: :link) }"),
            ]
        parameters = {"one": one, "two": two, "secret": secret}
        if links:
            parameters["link"] = chance.choice(links)
        weights, commands = zip(*forms, strict=True)
        command = chance.choices(commands, weights)[0]
        self.nexus.execute_kip({"command": command, "parameters": parameters})
        if chance.random() < 0.1:
            self.nexus.undo(seq=self.nexus.info()["commit"], conflicts="skip")
        for id, element in self.elements().items():
            self.texts[id] |= texts_of(element)


def texts_of(element: dict[str, Any]) -> set[str]:
    """The texts that only this element was given."""
    values = {**element.get("attributes", {}), "source": element["metadata"].get("source")}
    flat = (value["of"] if isinstance(value, dict) else value for value in values.values())
    lists = (value if isinstance(value, list) else [value] for value in flat)
    return {item for items in lists for item in items if item is not None and item not in NAMES}


def forget(graph: Graph, folder: Path | None, target: Path) -> None:
    """Forget a random element, and check everything that must hold afterwards."""
    nexus, chance = graph.nexus, graph.chance
    before = graph.elements()
    last = nexus.info()["commit"]
    earliest = max(BEGINNING, nexus.check()["history"]["earliest_seq"])
    past = {number: states(graph, number) for number in chance.choices(range(earliest, last), k=2)}
    id = chance.choice(sorted(before))
    matcher = "{id: :id}" if id.startswith("C:") else "(id: :id)"
    plan = nexus.forget(f"FIND(?x) WHERE {{ ?x {matcher} }}", id=id, dry_run=True)
    report = nexus.forget(f"FIND(?x) WHERE {{ ?x {matcher} }}", id=id)
    assert report == {**plan, "seq": last + 1}
    forgotten = {*report["elements"], *report["links"]}

    assert graph.elements() == {id: one for id, one in before.items() if id not in forgotten}
    check = nexus.check()
    assert (check["faults"], check["index"], check["history"]["state"]) == ([], "sound", "sound")
    for number, elements in past.items():
        if number >= check["history"]["earliest_seq"]:
            kept = states(graph, number)
            assert kept.items() <= elements.items()
            assert {id for id in elements if id in before and id not in forgotten} <= kept.keys()
            assert forgotten.isdisjoint(kept)
    if folder is not None:
        others = {
            text for id, texts in graph.texts.items() if id not in forgotten for text in texts
        }
        secrets = {text for id in forgotten for text in graph.texts[id]} - others
        ids = {id for id in forgotten if id.startswith("P:")}
        assert remaining(folder, sorted(secrets | ids)) == set()
    restored_elsewhere(nexus, chance.choice(["rdf11", "rdf12"]), target)
    for id in forgotten:
        del graph.texts[id]


def states(graph: Graph, number: int) -> dict[str, Any]:
    """The elements as of a commit, which is a sound nexus."""
    with graph.nexus.at(number) as past:
        check_dataset(triples(past), Iris(past.base_iri))
        return graph.elements(past)


def restored_elsewhere(nexus: kiprdf.Nexus, profile: str, target: Path) -> None:
    """A snapshot, and one with its history, gives the same nexus elsewhere."""
    text = nexus.snapshot(target / "m.ttl", profile=profile, history=target / "m.rdfp")
    copy = kiprdf.Nexus.memory(genesis=False)
    copy.restore(text)
    assert copy.snapshot(profile=profile) == text
    copy = kiprdf.Nexus.memory(genesis=False, history=True)
    copy.restore(target / "m.ttl", history=target / "m.rdfp")
    assert copy.snapshot(profile=profile) == text
    assert copy.check()["history"]["state"] == "sound"


@pytest.mark.parametrize("number", range(GRAPHS))
def test_what_is_left_is_sound_and_nothing_else_is(tmp_path: Path, number: int) -> None:
    chance = random.Random(SEED * 1000 + number)
    folder = tmp_path / "kb" if number % 3 == 0 else None
    opened = kiprdf.Nexus.memory(history=True) if folder is None else kiprdf.Nexus.open(folder)
    with opened as nexus:
        graph = Graph(nexus, chance)
        for _ in range(STATEMENTS):
            graph.grow()
        for _ in range(min(2, len(graph.elements()))):
            forget(graph, folder, tmp_path)
            graph.grow()
