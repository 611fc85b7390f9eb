"""Random queries that blow up, on a nexus with a budget: python -m tests.trust.attacks SEED FIRST N

Each ends with an answer, KIP_4001 or KIP_4002; the next command is served, and nothing of
what was given up runs on. Prints the number of each query before it is run.
"""

from __future__ import annotations

import faulthandler
import resource
import sys
import time
from collections.abc import Iterator
from random import Random

from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad, Triple

import kiprdf
from kiprdf import Budget
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.store import cancellation
from tests.trust.fuzzing import MEMORY

SECONDS = 60.0
"""Far longer than abandoned work keeps running."""
ALLOWED = ("ok", "KIP_1001", "KIP_3001", "KIP_4001", "KIP_4002")
"""Some of the queries are none: a variable that nothing binds, a predicate in place of a node."""
SCHEMA = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "N"} }
  CONCEPT { {type: "$ConceptType", name: "M"} }
  CONCEPT { {type: "$PropositionType", name: "knows"} }
  CONCEPT { {type: "$PropositionType", name: "likes"} }
  CONCEPT { {type: "$PropositionType", name: "says"} }
}
"""


def dense(concepts: int = 80, many: int = 1_000) -> kiprdf.Nexus:
    """Concepts that all know and like each other, and links about these links, as bare triples."""
    nexus = kiprdf.Nexus.memory(genesis=False, budget=Budget(timeout_s=0.1))
    with nexus.limited(timeout_s=SECONDS):
        nexus.execute(SCHEMA)
    triples = _triples(nexus.store.iris, concepts, many)
    nexus.store.engine.extend(Quad(*triple, DefaultGraph()) for triple in triples)
    return nexus


def _triples(iris: Iris, number_of_nodes: int, many: int) -> Iterator[Triple]:
    nodes = [iris.concept("N", f"n{number}") for number in range(number_of_nodes)]
    others = [iris.concept("M", f"m{number}") for number in range(many)]
    for type, concepts in (("N", nodes), ("M", others)):
        for number, node in enumerate(concepts):
            yield Triple(node, vocab.TYPE, iris.type(type))
            yield Triple(node, vocab.LABEL, Literal(f"{type.lower()}{number}"))
            yield Triple(node, NamedNode(vocab.ATTRIBUTE + "x"), Literal(number % 7))
    pairs = [(one, other) for one in nodes for other in nodes if one != other]
    facts = [Triple(a, iris.predicate(p), b) for a, b in pairs for p in ("knows", "likes")]
    links = [iris.proposition(f"{number:016x}", "knows") for number in range(len(facts))]
    statements = [Triple(a, iris.predicate("says"), b) for a, b in zip(others, links, strict=False)]
    links += [iris.proposition(f"{number:016x}", "says") for number in range(len(statements))]
    for link, fact in zip(links, facts + statements, strict=True):
        yield fact
        yield Triple(link, vocab.REIFIES, fact)


class Query:
    """A random FIND over few variables, so that its parts hang together."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._names = [f"?v{number}" for number in range(random.choice((3, 4, 6)))]

    def text(self) -> str:
        shown = ("COUNT(?v0)", "?v0", "?v0, ?v1", "?v0.name, COUNT(DISTINCT ?v1)", "?v1, ?v2")
        end = self._random.choice(("", "", " LIMIT 1", " ORDER BY ?v0.name LIMIT 2"))
        chosen = self._random.choice(shown)
        return f"FIND({chosen}) WHERE {{ {self._block(0)} }}{'' if 'COUNT' in chosen else end}"

    def _block(self, depth: int) -> str:
        parts = [self._clause() for _ in range(self._random.randrange(1, 5))]
        for _ in range(self._random.randrange(3)):
            if self._random.random() < 0.4:
                parts.append(f"FILTER({self._condition()})")
            elif depth < 3:
                word = self._random.choice(("NOT", "OPTIONAL", "OPTIONAL", "UNION"))
                parts.append(f"{word} {{ {self._block(depth + 1)} }}")
        if self._random.random() < 0.3:
            self._random.shuffle(parts)
        return " ".join(parts)

    def _clause(self) -> str:
        if self._random.random() < 0.2:
            return f'{self._name()} {{type: "{self._random.choice("NM")}"}}'
        link = f"?l{self._random.randrange(3)} " if self._random.random() < 0.2 else ""
        return f"{link}({self._end()}, {self._predicates()}, {self._end()})"

    def _name(self) -> str:
        return self._random.choice(self._names)

    def _end(self) -> str:
        chance = self._random.random()
        if chance < 0.8:
            return self._name()
        if chance < 0.9:
            return f'{{type: "N", name: "n{self._random.randrange(5)}"}}'
        return '{type: "N"}' if chance < 0.95 else f'({self._name()}, "knows", {self._name()})'

    def _predicates(self) -> str:
        chance = self._random.random()
        if chance < 0.15:
            return f"?p{self._random.randrange(2)}"
        if chance < 0.3:
            return f'"knows"{self._hops()} | "likes"{self._hops()}'
        return f'"{self._random.choice(("knows", "likes", "says"))}"{self._hops()}'

    def _hops(self) -> str:
        some = ("{1,3}", "{1,}", "{0,}", "{2}", "{1,6}", "{2,20}")
        return self._random.choice(("", "", "", *some))

    def _condition(self) -> str:
        kinds = (
            f"{self._value()} {self._random.choice(('==', '!=', '<'))} {self._value()}",
            f"CONTAINS({self._value()}, {self._value()})",
            f'REGEX({self._value()}, "(n|m)+.*[0-9]+$")',
            f'IN({self._value()}, ["n1", "n2", 3])',
            f"IS_NULL({self._value()})",
        )
        condition = self._random.choice(kinds)
        return condition if self._random.random() < 0.8 else f"({condition} || {self._condition()})"

    def _value(self) -> str:
        field = self._random.choice(("name", "id", "attributes.x", "attributes.y", "type"))
        return f"{self._name()}.{field}"


def main(seed: str, first: int, number: int) -> None:
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    nexus = dense()
    for index in range(first, first + number):
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        query = Query(Random(f"{seed} {index}")).text()
        print(index, query, flush=True)
        response = nexus.execute_kip({"command": query})
        outcome = response["error"]["code"] if "error" in response else "ok"
        assert outcome in ALLOWED, response
        # The watchdog ends the process with this place where something runs on.
        while any(thread.is_alive() for thread in cancellation._abandoned):
            time.sleep(0.005)
        with nexus.limited(timeout_s=SECONDS):
            assert nexus.execute('FIND(?x.name) WHERE { ?x {type: "N", name: "n7"} }') == ["n7"]
    faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
