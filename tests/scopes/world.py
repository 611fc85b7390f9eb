"""Three nexuses with random histories; a reader sees two of them, and nothing of the third."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from kiprdf import Nexus, View
from kiprdf.memory import Memory
from tests.oracle.graph import Graph
from tests.store.unions import DEFINITIONS, NOW, WORDS, Writing, union

BASES = (None, None, "https://b.example/kb/", "urn:kip:nexus/deeper/")
HIDDEN_TYPES = ("Zorblaxian", "Zylotherm")
HIDDEN_PREDICATES = ("zquibbles", "zyx_owes")
HIDDEN_NAMES = ("Qwyzara", "Vexmoor Klund", "Ötzixplan")
HIDDEN_KEYS = ("zkruft", "zsalary")
HIDDEN_VALUES = ('"red znarfle"', '"zwombat wine"', "918273645", '{"zinner": ["zdeep"]}')
HIDDEN_AUTHOR, HIDDEN_DOMAIN, HIDDEN_DESCRIPTION = "zbobolink", "Zubdomain", "zwhimsical beasts"
CANARIES = (
    *HIDDEN_TYPES,
    *HIDDEN_PREDICATES,
    *HIDDEN_NAMES,
    *HIDDEN_KEYS,
    *("znarfle", "zwombat", "918273645", "zinner", "zdeep"),
    *(HIDDEN_AUTHOR, HIDDEN_DOMAIN, "zwhimsical", "zrejected"),
)
"""What is in the hidden nexus alone: none of it may be in an answer that was not asked with it."""
HIDDEN_WORDS = WORDS._replace(
    types=(*WORDS.types, *HIDDEN_TYPES),
    predicates=(*WORDS.predicates, *HIDDEN_PREDICATES),
    names=(*WORDS.names, *HIDDEN_NAMES),
    keys=(*WORDS.keys, *HIDDEN_KEYS),
    values=(*WORDS.values, *HIDDEN_VALUES),
)
HIDDEN_DEFINITIONS = f"""
UPSERT {{
  CONCEPT ?d {{ {{type: "Domain", name: "{HIDDEN_DOMAIN}"}} }}
  CONCEPT ?t {{ {{type: "$ConceptType", name: "{HIDDEN_TYPES[0]}"}}
    SET ATTRIBUTES {{ description: "{HIDDEN_DESCRIPTION}" }}
    SET PROPOSITIONS {{ ("belongs_to_domain", ?d) }} }}
  CONCEPT {{ {{type: "$ConceptType", name: "{HIDDEN_TYPES[1]}"}} }}
  CONCEPT {{ {{type: "$PropositionType", name: "{HIDDEN_PREDICATES[0]}"}} }}
  CONCEPT {{ {{type: "$PropositionType", name: "{HIDDEN_PREDICATES[1]}"}} }}
  CONCEPT ?q {{ {{type: "{HIDDEN_TYPES[0]}", name: "{HIDDEN_NAMES[0]}"}}
    SET ATTRIBUTES {{ {HIDDEN_KEYS[0]}: "znarfle" }} }}
  CONCEPT ?v {{ {{type: "Person", name: "{HIDDEN_NAMES[1]}"}}
    SET ATTRIBUTES {{ color: "red znarfle wine", {HIDDEN_KEYS[1]}: 918273645 }} }}
  CONCEPT ?a {{ {{type: "Item", name: "a"}} SET ATTRIBUTES {{ note: "zwombat" }} }}
  PROPOSITION {{ (?v, "{HIDDEN_PREDICATES[0]}", ?q) }}
  PROPOSITION {{ (?a, "near", ?v) SET ATTRIBUTES {{ note: "zwombat" }} }}
}} WITH METADATA {{ source: "{HIDDEN_AUTHOR}" }}
"""
NOTES = (
    "I am allergic to peanuts.",
    "I use Docker and prefer Python.",
    "I'm working on meshalyzer with Rust.",
)
HIDDEN_NOTE = "I'm working on Zorblaxian with Qwyzara, and I use znarfle."


def ticking(start: int) -> Callable[[], datetime]:
    """A clock that goes on by a second at each call."""
    moment = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=start)

    def tick() -> datetime:
        nonlocal moment
        moment += timedelta(seconds=1)
        return moment

    return tick


class World:
    """The nexuses team, ada and bob; ``view`` is of the first two.

    ``expected`` is a nexus that is made, by other code than views, from what these two have.
    """

    def __init__(self, choose: random.Random, bases: Sequence[str | None] = BASES) -> None:
        self.choose = choose
        self.base_iri = choose.choice(bases)
        clocks = map(ticking, (0, 1, 2))
        self.team, self.ada, self.bob = (
            Nexus.memory(choose.choice(bases), history=True, clock=clock) for clock in clocks
        )
        self.has_notes = choose.random() < 0.5
        # A view follows what is written after it was made.
        is_followed = choose.random() < 0.7
        if not is_followed:
            self._write()
        self.view = self.viewed(self.team, self.ada)
        self.everything = self.viewed(self.team, self.ada, self.bob)
        if is_followed:
            for command in ("DESCRIBE PRIMER", 'SEARCH CONCEPT "wine"'):
                self.view.execute(command)
            self._write()
        self.expected = union([self.team, self.ada], self.view.base_iri)
        self.expected.store.read_only = True  # type: ignore[attr-defined]

    def viewed(self, *members: Nexus) -> Nexus:
        return View(members, base_iri=self.base_iri, clock=lambda: NOW)

    def close(self) -> None:
        for nexus in (self.view, self.everything, self.expected, self.team, self.ada, self.bob):
            nexus.close()

    def _write(self) -> None:
        """Write to all three."""
        choose = self.choose
        visible, hidden = Writing(choose), Writing(choose, HIDDEN_WORDS)
        for nexus, text in ((self.team, "things"), (self.ada, "red things")):
            nexus.execute(DEFINITIONS, text=text)
            if self.has_notes:
                Memory(nexus, clock=lambda: NOW).add_many(choose.sample(NOTES, 2))
        self.bob.execute(DEFINITIONS, text=HIDDEN_DESCRIPTION)
        with self.bob.acting(author=HIDDEN_AUTHOR):
            self.bob.execute(HIDDEN_DEFINITIONS)
            if self.has_notes:
                Memory(self.bob, clock=lambda: NOW).add(HIDDEN_NOTE)
            for _ in range(8):
                hidden.write(self.bob)
        with View([self.team, self.bob], write=self.bob) as through:
            for _ in range(4):
                hidden.write(through)
        self.bob.reject(("C:Person/b", "likes", "C:Item/a"), reason="zrejected")
        # What is written through a view has parts of other members that are only mentioned.
        through = View([self.team, self.ada], write=self.ada)
        for _ in range(choose.randint(10, 24)):
            visible.write(choose.choice((self.team, self.ada, through)))
        through.close()

    @cached_property
    def graph(self) -> Graph:
        """All that there is, hidden or not: what a reader may ask for."""
        graph = Graph()
        for of, where in ((graph.concepts, "?x {}"), (graph.propositions, "?x (?s, ?p, ?o)")):
            rows = self.everything.execute(f"FIND(?x) WHERE {{ {where} }} ORDER BY ?x.id")
            of |= {row["id"]: {"attributes": {}, "metadata": {}, **row} for row in rows}
        return graph


def leaked(question: str, answer: Any) -> list[str]:
    """The canaries in an answer that are not in its question."""
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return [canary for canary in CANARIES if canary in text and canary not in question]
