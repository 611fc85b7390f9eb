"""UPDATE, MERGE and DELETE over a graph: mostly valid, some refused.

Every statement is drawn against the graph as it stands, so that most of them find something.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from kiprdf.errors import KipError
from kiprdf.language import ast, parse, to_text
from tests.oracle import TooManySolutions, evaluate
from tests.oracle.check import bound_by
from tests.oracle.graph import META_TYPES, Graph, concept_id, proposition_id
from tests.oracle.statements_targets import (
    BOTH,
    CONCEPT,
    PROPOSITION,
    Kinds,
    possible_kinds,
)
from tests.properties.choices import Choices
from tests.properties.statement_graphs import (
    KEYS,
    METADATA_KEYS,
    NAMES,
    Draw,
    maps,
    numbers,
    values,
)
from tests.properties.strategies import FAULTS, PREDICATES, TYPES, queries

RESERVED = ("_version", "_created_at", "_updated_at", "_merged_from")


@dataclass(frozen=True)
class Statement:
    """A statement's text and its parameters."""

    text: str
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def request(self) -> dict[str, Any]:
        return {"command": self.text, "parameters": self.parameters}


@st.composite
def statements(draw: Draw[Any], graph: Graph) -> Statement:
    """A statement over a graph."""
    return _Writer(draw, graph).statement()


@st.composite
def calculations(draw: Draw[Any], graph: Graph) -> Statement:
    """An UPDATE of all that is no definition, with many calculations in it."""
    return _Writer(draw, graph).calculate()


@st.composite
def revivals(draw: Draw[Any], graph: Graph) -> Statement | None:
    """An UPSERT that brings back a concept which is not there, and a link of it; mostly none."""
    gone = [name for name in NAMES[:4] if concept_id("T", name) not in graph]
    if not gone or not graph.is_type("T") or draw(st.integers(0, 4)) < 4:
        return None
    parameters = {"name": draw(st.sampled_from(gone)), "attributes": draw(maps(KEYS))}
    text = 'UPSERT { CONCEPT ?c { {type: "T", name: :name} SET ATTRIBUTES :attributes }'
    object_ = draw(st.sampled_from([*graph.elements()]))
    predicate = draw(st.sampled_from(PREDICATES[:2]))
    # A link that a MERGE has left with the id of this one is another story.
    free = proposition_id(concept_id("T", parameters["name"]), predicate, object_) not in graph
    if free and graph.is_predicate(predicate):
        parameters["object"] = object_
        end = "{id: :object}" if object_ in graph.concepts else "(id: :object)"
        text += f' PROPOSITION {{ (?c, "{predicate}", {end}) }}'
    return Statement(text + " }", parameters)


class _Writer(Choices):
    def __init__(self, draw: Draw[Any], graph: Graph) -> None:
        super().__init__(draw)
        self._graph = graph
        self._parameters: dict[str, Any] = {}
        self._mistaken = False
        self._reads_another = False

    def statement(self) -> Statement:
        if not self._graph.concepts:
            # Every concept was deleted, the definitions too.
            return Statement("UPDATE ?t SET ATTRIBUTES {a: 1} WHERE { ?t {} }", {})
        kind = self.weighted((7, "merge"), (4, "update"), (1, "keys"), (1, "links"), (1, "nodes"))
        text = {
            "update": self.update,
            "merge": self.merge,
            "keys": self.delete_keys,
            "links": self.delete_propositions,
            "nodes": self.delete_concept,
        }[kind]()
        if self.all_defined() and self.mistake_in(12):
            fault = self.pick(FAULTS)
            text = text.replace("WHERE {", f"WHERE {{ {fault}", 1)
        return Statement(text, self._parameters)

    def calculate(self) -> Statement:
        self._mistaken = True  # None more: one would spoil the others.
        keys = [f"r{number}" for number in range(5)]
        entries = [f"{key}: {self.calculation('t', 3)}" for key in keys]
        where = '?t {type: "T"} UNION { ?t (?s, ?p, ?o) }'
        text = f"UPDATE ?t SET ATTRIBUTES {{{', '.join(entries)}}} WHERE {{ {where} }}"
        return Statement(text, self._parameters)

    # Choices ----------------------------------------------------------------------------------

    def mistake_in(self, number: int) -> bool:
        """Whether to make a mistake: at most one a statement, for its error code is compared."""
        if self._mistaken or not self.one_in(number):
            return False
        self._mistaken = True
        return True

    def placeholder(self, value: Any) -> str:
        name = f"p{len(self._parameters)}"
        self._parameters[name] = value
        return f":{name}"

    def written(self, value: Any) -> str:
        """A value in the text or beside it."""
        return self.placeholder(value) if self.one_in(4) else _json(value)

    # UPDATE -----------------------------------------------------------------------------------

    def update(self) -> str:
        target, where = self.target("both")
        sections = [f"SET ATTRIBUTES {self.assignments(target, KEYS)}"]
        if self.one_in(3):
            sections.append(f"SET METADATA {self.assignments(target, METADATA_KEYS)}")
            sections = sections[self._draw(st.integers(0, 1)) :]
            if self.one_in(2):
                sections.reverse()
        if self._reads_another:
            where += ' ?other {type: "T"}'
        limit = f" LIMIT {self.written(self._draw(st.integers(1, 6)))}" if self.one_in(4) else ""
        return f"UPDATE ?{target} {' '.join(sections)} WHERE {{ {where} }}{limit}"

    def assignments(self, target: str, keys: tuple[str, ...]) -> str:
        if self.one_in(8):
            return self.placeholder(self._draw(maps(keys)))
        chosen = self._draw(st.lists(st.sampled_from(keys), min_size=1, max_size=2, unique=True))
        entries = [f"{key}: {self.assigned(target)}" for key in chosen]
        if self.mistake_in(30):
            reserved = "METADATA" if keys == METADATA_KEYS else "ATTRIBUTES"
            key = self.pick(RESERVED) if reserved == "METADATA" else '"no identifier"'
            entries.append(f"{key}: 1")
        return f"{{{', '.join(entries)}}}"

    def assigned(self, target: str) -> str:
        if self.one_in(3):
            return self.written(self._draw(values))
        return self.calculation(target, 2)

    def calculation(self, target: str, depth: int) -> str:
        function = self.pick(("ADD", "ADD", "MUL", "CLAMP", "COALESCE"))
        if function == "CLAMP":
            bounds = [self.argument(target, 0) for _ in range(2)]
            if self.one_in(2):
                close = self._draw(st.tuples(*[st.sampled_from((1, 1.0, 2, 3, 3.0))] * 3))
                bounds = [_json(bound) for bound in sorted(close[:2])]
                if self.one_in(2):
                    return f"CLAMP({close[2]}, {', '.join(bounds)})"
            arguments = [self.argument(target, depth - 1), *bounds]
        else:
            count = self._draw(st.integers(2, 3))
            arguments = [self.argument(target, depth - 1) for _ in range(count)]
        return f"{function}({', '.join(arguments)})"

    def argument(self, target: str, depth: int) -> str:
        kind = self.weighted((6, "path"), (5, "number"), (depth, "nested"))
        if kind == "nested":
            return self.calculation(target, depth)
        if kind == "number":
            return self.written(self._draw(numbers))
        if self.mistake_in(60):
            if self.one_in(2):
                return self.written(self.pick((None, True, "a", [1])))
            self._reads_another = self.one_in(2)
            return "?other.attributes.a" if self._reads_another else f"?{target}.attributes"
        path = self.pick(("attributes.a", "attributes.b", "metadata.a", "metadata._version", "id"))
        return f"?{target}.{path}"

    # MERGE ------------------------------------------------------------------------------------

    def merge(self) -> str:
        if self.one_in(6):
            query = self.query(CONCEPT)
            if query is not None:
                names, where = query
                return self.merging(self.pick(names), self.pick(names), where)
        first = self.a_concept()
        concepts = self._graph.concepts
        alike = [i for i in concepts if concepts[i]["type"] == concepts[first]["type"]]
        others = [i for i in alike if i != first]
        second = self.a_concept() if not others or self.one_in(8) else self.pick(others)
        kind = self.weighted((8, "both"), (1, "filter"), (1, "link"), (1, "free"))
        if kind == "link":
            where = f'(?s, "{self.pick(PREDICATES)}", ?o) FILTER(?s.type == ?o.type)'
            return self.merging("s", "o", where)
        if kind == "free":
            bound = f"?s {self.concept(first)}"
            return self.merging("s", "o", f'{bound} ?o {{type: "T"}} FILTER(?o.id != ?s.id)')
        if kind == "filter":
            name = self._graph.concepts[second]["name"]
            other = f'?o {{type: "T"}} FILTER(?o.name == {_json(name)})'
            return self.merging("s", "o", f"?s {self.concept(first)} {other}")
        return self.merging("s", "o", f"?s {self.concept(first)} ?o {self.concept(second)}")

    def merging(self, source: str, target: str, where: str) -> str:
        return f"MERGE CONCEPT ?{source} INTO ?{target} WHERE {{ {where} }}"

    # DELETE -----------------------------------------------------------------------------------

    def delete_keys(self) -> str:
        part, keys = self.pick((("ATTRIBUTES", KEYS), ("METADATA", METADATA_KEYS)))
        chosen = self._draw(st.lists(st.sampled_from(keys), min_size=1, max_size=2, unique=True))
        if part == "METADATA" and self.mistake_in(10):
            chosen.append(self.pick(RESERVED))
        target, where = self.target("both")
        names = ", ".join(map(_json, chosen))
        return f"DELETE {part} {{{names}}} FROM ?{target} WHERE {{ {where} }}"

    def delete_propositions(self) -> str:
        target, where = self.target("proposition")
        return f"DELETE PROPOSITIONS ?{target} WHERE {{ {where} }}"

    def delete_concept(self) -> str:
        target, where = self.target("concept")
        return f"DELETE CONCEPT ?{target} DETACH WHERE {{ {where} }}"

    # WHERE ------------------------------------------------------------------------------------

    def target(self, kind: str) -> tuple[str, str]:
        """The variable of a target, and what binds it: mostly elements of this kind."""
        if self.one_in(4):
            kinds = {"concept": CONCEPT, "proposition": PROPOSITION}.get(kind, BOTH)
            query = self.query(kinds)
            if query is not None:
                return self.pick(query[0]), query[1]
        if kind == "both":
            kind = self.pick(("concept", "proposition", "mixed"))
        if self.mistake_in(20):
            kind = self.pick(("concept", "proposition", "unbound"))
        where = self.pick(list(self.patterns(kind)))
        if self.one_in(3):
            where += f" FILTER({self.pick(self.conditions())})"
        return "t", where

    def conditions(self) -> list[str]:
        return [
            "?t.metadata._version > 1",
            "IS_NOT_NULL(?t.attributes.a)",
            "?t.attributes.a != ?t.attributes.b",
            "IS_NULL(?t.metadata._merged_from)",
            *self.equalities(),
            *self.equalities(),
        ]

    def equalities(self) -> list[str]:
        """Conditions by which a target is found."""
        path = self.pick(("?t.attributes.a", "?t.attributes.b", "?t.metadata.m"))
        one, other = (_json(self._draw(values)) for _ in range(2))
        return [
            f"{path} == {one}",
            f"IN({path}, [{one}, {other}])",
            f"{one} == {path} && IS_NULL(?t.attributes.b)",
            f"{path} == {one} || {path} == {other}",
        ]

    def patterns(self, kind: str) -> list[str]:
        predicate = _json(self.pick(PREDICATES))
        concept = self.concept(self.a_concept())
        if kind == "unbound":
            return ['?s {type: "T"} NOT { ?t {type: "T"} (?t, "likes", ?s) }']
        if kind == "mixed":
            return [
                '?t {type: "T"} UNION { ?t (?s, ?p, ?o) }',
                f"(?t, {predicate}, ?o)",
                f"(?s, ?p, ?t) UNION {{ (?t, {predicate}, ?o) }}",
                f"(?t, {predicate}{{0,2}}, ?o)",
                f"({concept}, {predicate}{{0,1}}, ?t)",
            ]
        if kind == "concept":
            return [
                f"?t {concept}",
                f"?t {concept}",
                '?t {type: "T"}',
                f'?t {{type: "T"}} (?t, {predicate}, ?o)',
                f"?l (?t, ?p, ?o) OPTIONAL {{ (?s, {predicate}, ?l) }}",
                f'?s {{type: "T"}} OPTIONAL {{ (?s, {predicate}, ?t) }}',
                f'?t {{type: "T"}} NOT {{ (?t, {predicate}, ?o) }}',
            ]
        patterns = [
            f"?t (?s, {predicate}, ?o)",
            "?t (?s, ?p, ?o)",
            f"?t ({concept}, ?p, ?o)",
            f"?t (?s, ?p, ?l (?x, {predicate}, ?y))",
            f"?t (?s, {predicate}{{1,2}}, ?o)",
            f'?s {{type: "T"}} OPTIONAL {{ ?t (?s, {predicate}, ?o) }}',
            "?t (?s, ?p, ?o) NOT { (?u, ?q, ?t) }",
        ]
        if self._graph.propositions:
            patterns += [f"?t (id: {_json(self.pick(self._graph.propositions))})"] * 4
        return patterns

    def concept(self, identifier: str) -> str:
        """The matcher of an existing concept; seldom of one that is not there."""
        concept = self._graph.concepts[identifier]
        name = "Dangling" if self.mistake_in(40) else concept["name"]
        if self.one_in(4):
            return f"{{id: {self.written(concept_id(concept['type'], name))}}}"
        return f"{{type: {self.written(concept['type'])}, name: {self.written(name)}}}"

    def a_concept(self) -> str:
        """Mostly no definition."""
        instances = self.instances()
        return str(self.pick(self._graph.concepts if self.one_in(25) else instances))

    def instances(self) -> list[str]:
        instances = [i for i, c in self._graph.concepts.items() if c["type"] not in META_TYPES]
        return instances or list(self._graph.concepts)

    def all_defined(self) -> bool:
        return all(map(self._graph.is_type, TYPES[:2])) and all(
            map(self._graph.is_predicate, PREDICATES)
        )

    def query(self, kinds: Kinds) -> tuple[list[str], str] | None:
        """The WHERE of a query, and the variables in it that may be of one of these kinds."""
        if not any(concept["type"] in TYPES for concept in self._graph.concepts.values()):
            return None
        find = parse(self._draw(queries(self._graph)))
        assert isinstance(find, ast.Find)
        names = sorted(bound_by(find.where))
        fitting = [name for name in names if kinds & (possible_kinds(name, find.where) or set())]
        if self.mistake_in(12):
            fitting = [name for name in names if name not in fitting] or fitting
        if not fitting:
            return None
        bare = ast.Find((ast.Variable(fitting[0]),), find.where)
        try:
            evaluate(bare, self._graph)
        except KipError:
            if self._mistaken:
                return None
            self._mistaken = True
        except TooManySolutions:
            return None
        where = to_text(bare).split("WHERE", 1)[1].strip()
        return fitting, where.removeprefix("{").removesuffix("}").strip()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
