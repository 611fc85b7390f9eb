"""The union of several nexuses, made slowly by the rules, and random histories of the members."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple

from pyoxigraph import Literal, NamedNode, Quad, Triple
from pyoxigraph import Store as Engine

import kiprdf
from kiprdf.rdf.iris import proposition_digits
from kiprdf.store import OxigraphStore

REIFIES = "http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies"
LINKS = "$proposition/"
CREATED, UPDATED, VERSION, MENTIONED, STATUS = (
    f"urn:kip:metadata/{key}"
    for key in ("_created_at", "_updated_at", "_version", "_mentioned", "status")
)
Values = dict[str, Any]
NOW = datetime(2027, 1, 1, tzinfo=UTC)


class Content:
    """What describes the concepts and the links of one member, by their paths below the base."""

    def __init__(self, nexus: kiprdf.Nexus) -> None:
        self.base = nexus.base_iri
        self.concepts: dict[str, Values] = {}
        self.links: dict[str, Values] = {}
        self.facts: dict[str, tuple[str, str, str]] = {}
        for triple in nexus.store.match(None, None, None):
            path, key, value = self.path(triple.subject), triple.predicate.value, triple.object
            if key.startswith(f"{self.base}$PropositionType/"):
                continue
            if isinstance(value, Triple):
                self.facts[path] = tuple(map(self.path, value))  # type: ignore[assignment]
                self.links.setdefault(path, {})
                continue
            if isinstance(value, NamedNode) and value.value.startswith(self.base):
                value = self.path(value)
            of = self.links if path.startswith(LINKS) else self.concepts
            of.setdefault(path, {})[key] = value

    def path(self, node: Any) -> str:
        assert node.value.startswith(self.base)
        return str(node.value[len(self.base) :])

    def fact(self, link: str) -> Any:
        """The fact of a link, with the facts of links at its ends."""
        subject, predicate, value = self.facts[link]
        ends = [self.fact(end) if end.startswith(LINKS) else end for end in (subject, value)]
        return ends[0], predicate, ends[1]


def without_mention(values: Values) -> Values:
    kept = {key: value for key, value in values.items() if key != MENTIONED}
    return {key: kept[key] for key in kept if (key, kept[key]) != (STATUS, Literal("draft"))}


def merged(all_values: Sequence[Values]) -> Values:
    """The values of several members, the first member first."""
    values: Values = {}
    if not all(MENTIONED in one for one in all_values):
        # Who only names a fact says nothing of its status.
        all_values = [one if MENTIONED not in one else without_mention(one) for one in all_values]
    for one in all_values:
        values |= one
    for key, choose in ((CREATED, min), (UPDATED, max)):
        if times := [one[key].value for one in all_values if key in one]:
            values[key] = Literal(choose(times))
    if versions := [int(one[VERSION].value) for one in all_values if VERSION in one]:
        values[VERSION] = Literal(max(versions))
    return values


def union(members: Sequence[kiprdf.Nexus], base: str) -> kiprdf.Nexus:
    """A nexus that holds what the members hold together."""
    contents = [Content(member) for member in members]
    own = OxigraphStore.memory(base)
    by_fact: dict[Any, dict[int, str]] = {}
    for number, content in enumerate(contents):
        for link in content.facts:
            by_fact.setdefault(content.fact(link), {})[number] = link
    names: dict[Any, str] = {}

    def name(fact: Any) -> str:
        """The path of the link of a fact."""
        if fact in names:
            return names[fact]
        owner = max(by_fact[fact])
        link = by_fact[fact][owner]
        if any(link in content.facts for content in contents[owner + 1 :]):
            subject, predicate, value = (
                own.iris.id(NamedNode(base + (name(part) if isinstance(part, tuple) else part)))
                for part in fact
            )
            predicate = predicate.removeprefix("C:$PropositionType/")
            for salt in range(100):
                digits = proposition_digits(subject, predicate, value, salt)
                link = f"{LINKS}{digits}/{predicate}"
                users = [content.fact(link) for content in contents if link in content.facts]
                if all(user == fact for user in users):
                    break
        names[fact] = link
        return link

    def node(path: Any) -> NamedNode:
        return NamedNode(base + (name(path) if isinstance(path, tuple) else path))

    def quads() -> Iterator[Quad]:
        for path in {path for content in contents for path in content.concepts}:
            parts = [one.concepts[path] for one in contents if path in one.concepts]
            yield from described(node(path), merged(parts))
        for fact, links in by_fact.items():
            triple = Triple(*map(node, fact))
            parts = [contents[number].links[link] for number, link in sorted(links.items())]
            yield Quad(*triple)
            yield Quad(node(fact), NamedNode(REIFIES), triple)
            yield from described(node(fact), merged(parts))

    def described(subject: NamedNode, values: Values) -> Iterator[Quad]:
        for key, value in values.items():
            yield Quad(subject, NamedNode(key), node(value) if isinstance(value, str) else value)

    dataset = Engine()
    dataset.extend(quads())
    records: dict[str, str] = {}
    for member in members:
        records |= member.store.records()
    own.write(lambda: own.replace(dataset, records))
    return kiprdf.Nexus(own, genesis=False, clock=lambda: NOW)


# Histories ----------------------------------------------------------------------------------------


class Words(NamedTuple):
    """What statements are made of."""

    types: tuple[str, ...] = ("Item", "Person")
    predicates: tuple[str, ...] = ("likes", "stated", "near")
    names: tuple[str, ...] = ("a", "b", "c", "d", "Ünï/cödé <urn:kip:nexus/x>")
    keys: tuple[str, ...] = ("size", "color", "note")
    values: tuple[str, ...] = (
        "1",
        "2.5",
        "null",
        '"red wine"',
        '"see \\\\\\"<urn:kip:nexus/Item/a>"',
        '{"@value": "x", "@type": "urn:kip:nexus/Item/a"}',
        '["x", 1]',
    )


WORDS = Words()
DEFINITIONS = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Item"} SET ATTRIBUTES {description: :text} }
  CONCEPT { {type: "$PropositionType", name: "likes"} }
  CONCEPT { {type: "$PropositionType", name: "stated"} }
  CONCEPT { {type: "$PropositionType", name: "near"} SET ATTRIBUTES {description: :text} }
}
"""


class Writing:
    """Random statements on a nexus; those that are refused count as none."""

    def __init__(self, choose: random.Random, words: Words = WORDS) -> None:
        self._choose = choose
        self._words = words

    def write(self, nexus: kiprdf.Nexus) -> None:
        kinds = (self.upsert, self.upsert, self.upsert, self.nested, self.merge, self.delete)
        with suppress(kiprdf.KipError):
            nexus.execute(self._choose.choice(kinds)())

    def concept(self) -> str:
        pick = self._choose.choice
        return f'{{type: "{pick(self._words.types)}", name: "{pick(self._words.names)}"}}'

    def value(self) -> str:
        return self._choose.choice(self._words.values)

    def attributes(self) -> str:
        keys = self._choose.sample(self._words.keys, self._choose.randint(0, 3))
        return ", ".join(f"{key}: {self.value()}" for key in keys)

    def upsert(self) -> str:
        one, other = self.concept(), self.concept()
        predicate = self._choose.choice(self._words.predicates)
        return f"""UPSERT {{
          CONCEPT ?a {{ {one} SET ATTRIBUTES {{ {self.attributes()} }} }}
          CONCEPT ?b {{ {other} }}
          PROPOSITION {{ (?a, "{predicate}", ?b) SET ATTRIBUTES {{ {self.attributes()} }} }}
        }} WITH METADATA {{ source: {self.value()} }}"""

    def nested(self) -> str:
        one, other, third = self.concept(), self.concept(), self.concept()
        first, second, last = (self._choose.choice(self._words.predicates) for _ in range(3))
        return f"""UPSERT {{
          CONCEPT ?a {{ {one} }} CONCEPT ?b {{ {other} }} CONCEPT ?c {{ {third} }}
          PROPOSITION ?f {{ (?a, "{first}", ?b) }}
          PROPOSITION ?g {{ (?c, "{second}", ?f) SET ATTRIBUTES {{ {self.attributes()} }} }}
          PROPOSITION {{ (?g, "{last}", ?a) }}
        }}"""

    def merge(self) -> str:
        one, other = self._choose.sample(self._words.names, 2)
        return f"""MERGE CONCEPT ?old INTO ?new WHERE {{
          ?old {{type: "Item", name: "{one}"}} ?new {{type: "Item", name: "{other}"}} }}"""

    def delete(self) -> str:
        predicate = self._choose.choice(self._words.predicates)
        statements = (
            f"DELETE CONCEPT ?x DETACH WHERE {{ ?x {self.concept()} }}",
            f'DELETE PROPOSITIONS ?f WHERE {{ ?f ({self.concept()}, "{predicate}", ?o) }}',
            f'DELETE ATTRIBUTES {{"size"}} FROM ?x WHERE {{ ?x {self.concept()} }}',
            f'UPDATE ?x SET METADATA {{ status: "retracted" }} WHERE {{ ?x {self.concept()} }}',
            f'UPDATE ?f SET ATTRIBUTES {{ note: {self.value()} }} WHERE {{ ?f (?a, "near", ?b) }}',
        )
        return self._choose.choice(statements)


# Questions ----------------------------------------------------------------------------------------

QUESTIONS = (
    'FIND(?x) WHERE { ?x {type: "Item"} }',
    'FIND(COUNT(?x)) WHERE { ?x {type: "Item"} }',
    "FIND(?f, ?a.name, ?b) WHERE { ?f (?a, ?p, ?b) }",
    'FIND(?a.id, ?f.id) WHERE { ?f (?a, "likes" | "near", ?b) FILTER(?f.attributes.size > 1) }',
    'FIND(?x.name) WHERE { ?x {type: "Item"} NOT { (?x, "likes", ?y) } }',
    'FIND(?x.name, ?y.name) WHERE { ?x {type: "Person"} OPTIONAL { (?x, "likes", ?y) } }',
    'FIND(?x.name) WHERE { UNION { ?x {type: "Item", name: "a"} } UNION { ?x {name: "b"} } }',
    'FIND(?x.name, ?y.name) WHERE { ?x {type: "Item"} (?x, "likes"{1,3}, ?y) }',
    'FIND(?c.name, ?f.id, ?a.name) WHERE { ?g (?c, "stated", ?f) ?f (?a, "near", ?b) }',
    'FIND(?x.attributes.color, COUNT(?x)) WHERE { ?x {type: "Item"} }',
    'FIND(MAX(?x.metadata._updated_at), MIN(?x.metadata._created_at)) WHERE { ?x {type: "Item"} }',
    'FIND(?x.name) WHERE { ?x {type: "Item"} } ORDER BY ?x.metadata._updated_at DESC, ?x.name ASC'
    " LIMIT 2",
    'FIND(?x.name) WHERE { ?x {type: "Item"} FILTER(CONTAINS(?x.attributes.color, "wine")) }',
    'FIND(?x) WHERE { ?x {type: "Item", name: "nobody"} }',
    'FIND(?x) WHERE { ?x {type: "item"} }',
    "DESCRIBE PRIMER",
    "DESCRIBE DOMAINS",
    "DESCRIBE CONCEPT TYPES",
    "DESCRIBE PROPOSITION TYPES",
    'DESCRIBE CONCEPT TYPE "Item"',
    'DESCRIBE PROPOSITION TYPE "near"',
    'SEARCH CONCEPT "red wine"',
    'SEARCH CONCEPT "wi" WITH TYPE "Item" LIMIT 3',
    'SEARCH PROPOSITION "wine"',
    'EXPORT ?x WHERE { ?x {type: "Item"} }',
)
QUERIES = (
    "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }",
    "SELECT ?t (COUNT(*) AS ?n) WHERE { ?s a ?t } GROUP BY ?t",
)


def searches(nexus: kiprdf.Nexus) -> Iterator[tuple[str, Any]]:
    """What a nexus finds, with scores."""
    for question in QUESTIONS:
        if question.startswith("SEARCH"):
            yield question, nexus.execute_kip({"command": question})


def answers(nexus: kiprdf.Nexus) -> Iterator[tuple[str, Any]]:
    """What a nexus answers to questions of many shapes; rows without an order are sorted."""
    for question in QUESTIONS:
        answer = nexus.execute_kip({"command": question})
        answer.pop("next_cursor", None)  # it has the number of a commit
        if question.startswith("FIND") and answer.get("result") and "ORDER BY" not in question:
            answer["result"] = sorted(map(repr, nexus.find(question).tuples()))
        yield question, answer
    for question in (one for one in QUESTIONS if one.startswith("FIND")):
        answer = nexus.execute_kip({"command": question, "view": "believed"})
        answer.pop("next_cursor", None)
        if answer.get("result") and "ORDER BY" not in question:
            answer["result"] = sorted(map(repr, nexus.believed(question).tuples()))
        yield f"believed: {question}", answer
    yield "export", nexus.export()
    yield "names", nexus.names()
    yield "instructions", kiprdf.instructions(nexus)
    about = nexus.info()
    yield "info", {key: about[key] for key in about if key not in ("commit", "read_only")}
    for query in QUERIES:
        yield query, sorted(map(str, nexus.sparql(query)))
