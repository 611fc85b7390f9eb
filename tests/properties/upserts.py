"""UPSERT over a graph: every way to write an identity, several blocks, expected versions, and at
most one mistake that the text alone gives away."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from tests.oracle.graph import META_TYPES, Graph, concept_id
from tests.properties.choices import Choices
from tests.properties.statement_graphs import KEYS, METADATA_KEYS, NAMES, Draw, maps
from tests.properties.statements import Statement
from tests.properties.strategies import PREDICATES, TYPES

MISSING = (
    '{type: "T", name: "Missing"}',
    '{id: "C:T/Missing"}',
    '(id: "P:0123456789abcdef:likes")',
    '({type: "T", name: "A"}, "likes", {type: "T", name: "Missing"})',
)
MISTAKES = (
    'CONCEPT { {type: "Unknown", name: "A"} }',
    'CONCEPT { {type: "$ConceptType", name: "W"} SET PROPOSITIONS { ("unknown", {id: "C:T/A"}) } }',
    'PROPOSITION { (?nobody, "likes", {id: "C:T/A"}) }',
    'CONCEPT { {type: "$ConceptType", name: "W"} } WITH METADATA { _version: 9 }',
    'CONCEPT { {type: "$ConceptType", name: "W"} SET ATTRIBUTES { "no identifier": 1 } }',
    'CONCEPT { {type: "$ConceptType", name: "W"} EXPECT VERSION 1.0 }',
    'CONCEPT { {type: "T"} }',
)
"""What the text alone gives away; none of it is ever defined."""


@st.composite
def upserts(draw: Draw[Any], graph: Graph) -> Statement:
    """An UPSERT of one to five blocks in one or two texts; some are refused."""
    return _Writer(draw, graph).statement()


class _Writer(Choices):
    """Writes blocks; ``handles`` and ``created`` are what the text so far offers as ends."""

    def __init__(self, draw: Draw[Any], graph: Graph) -> None:
        super().__init__(draw)
        self._graph = graph
        self._types = [name for name in TYPES if graph.is_type(name)]
        self._predicates = [name for name in PREDICATES if graph.is_predicate(name)]
        self._handles: list[str] = []
        self._created: list[str] = []
        self._number = 0

    def statement(self) -> Statement:
        texts = [self.text() for _ in range(self._draw(st.integers(1, 2)))]
        if self.one_in(8):
            at = self.pick(range(len(texts)))
            texts[at] = texts[at].replace("UPSERT {", f"UPSERT {{ {self.pick(MISTAKES)}", 1)
        return Statement("\n".join(texts))

    def text(self) -> str:
        """One UPSERT { … }; its handles live in it."""
        self._handles = []
        blocks = [self.block() for _ in range(self._draw(st.integers(1, 3)))]
        return f"UPSERT {{ {' '.join(blocks)} }}{self.metadata(4)}"

    def block(self) -> str:
        if not self._types or self.one_in(15):
            return self.definition()
        if self._predicates and self.one_in(2):
            return self.proposition()
        return self.concept()

    # Blocks -----------------------------------------------------------------------------------

    def definition(self) -> str:
        """A type or a predicate; what follows may use it."""
        meta = self.pick(META_TYPES)
        defined, names = (
            (self._types, TYPES) if meta == META_TYPES[0] else (self._predicates, PREDICATES)
        )
        name = self.pick(names)
        if name not in defined:
            defined.append(name)
        return f'CONCEPT {{ {{type: "{meta}", name: "{name}"}}{self.attributes()} }}'

    def concept(self) -> str:
        matcher, identifier = self.a_concept()
        links = "" if not self._predicates or self.one_in(2) else self.links()
        body = f"{matcher}{self.version(identifier)}{self.attributes()}{links}"
        return self.named("CONCEPT", body)

    def proposition(self) -> str:
        if self._graph.propositions and self.one_in(4):
            identifier = self.pick(self._graph.propositions)
            matcher = f"(id: {_json(identifier)})"
            return self.named(
                "PROPOSITION", f"{matcher}{self.version(identifier)}{self.attributes()}"
            )
        return self.named("PROPOSITION", f"{self.fact()}{self.attributes()}")

    def named(self, keyword: str, body: str) -> str:
        """A block, mostly with a handle, which is an end only behind it."""
        handle = ""
        if not self.one_in(3):
            self._number += 1
            handle = f"?h{self._number} "
        written = f"{keyword} {handle}{{ {body} }}{self.metadata(3)}"
        if handle:
            self._handles.append(handle.strip())
        return written

    def a_concept(self) -> tuple[str, str]:
        """A matcher and its id: mostly of a concept that is there."""
        if self._graph.concepts and not self.one_in(3):
            identifier = self.pick(self._graph.concepts)
            concept = self._graph.concepts[identifier]
            if self.one_in(3) or not self.is_defined(concept["type"]):
                return f"{{id: {_json(identifier)}}}", identifier
            return _matcher(concept["type"], concept["name"]), identifier
        if self.one_in(12):
            return '{id: "C:T/Missing"}', "C:T/Missing"
        concept_type, name = self.pick(self._types), self.pick(NAMES)
        matcher = _matcher(concept_type, name)
        self._created.append(matcher)
        return matcher, concept_id(concept_type, name)

    def is_defined(self, concept_type: str) -> bool:
        return concept_type in META_TYPES or concept_type in self._types

    def links(self) -> str:
        written = [
            f'("{self.pick(self._predicates)}", {self.end(1)}){self.metadata(3)}'
            for _ in range(self._draw(st.integers(1, 2)))
        ]
        return f" SET PROPOSITIONS {{ {' '.join(written)} }}"

    def fact(self) -> str:
        return f'({self.end(1)}, "{self.pick(self._predicates)}", {self.end(1)})'

    def end(self, depth: int) -> str:
        """A handle, a concept or a proposition, by identity or as a fact; seldom a missing one."""
        if self.one_in(20):
            return str(self.pick(MISSING[: 4 if {"T"} <= {*self._types} else 0] or MISSING[1:2]))
        options = [*self._handles, *self._created]
        if options and self.one_in(2):
            return str(self.pick(options))
        if self._graph.propositions and self.one_in(3):
            identifier = self.pick(self._graph.propositions)
            link = self._graph.propositions[identifier]
            if depth and self.one_in(2) and link["predicate"] in self._predicates:
                ends = (self.identity(link[role], depth - 1) for role in ("subject", "object"))
                return f'({next(ends)}, "{link["predicate"]}", {next(ends)})'
            return f"(id: {_json(identifier)})"
        return self.identity(self.pick(self._graph.concepts), 0)

    def identity(self, identifier: str, depth: int) -> str:
        """An element of the graph by its id, a concept also by its name."""
        concept = self._graph.concepts.get(identifier)
        if concept is None:
            return f"(id: {_json(identifier)})"
        if depth or self.one_in(3) or not self.is_defined(concept["type"]):
            return f"{{id: {_json(identifier)}}}"
        return _matcher(concept["type"], concept["name"])

    # What is set ------------------------------------------------------------------------------

    def version(self, identifier: str) -> str:
        """The version that the element has, seldom another; mostly none is expected."""
        if not self.one_in(4):
            return ""
        version = 0
        if identifier in self._graph:
            version = self._graph.element(identifier)["metadata"].get("_version", 1)
        return f" EXPECT VERSION {version + 1 if self.one_in(5) else version}"

    def attributes(self) -> str:
        return "" if self.one_in(3) else f" SET ATTRIBUTES {_json(self._draw(maps(KEYS)))}"

    def metadata(self, number: int) -> str:
        if not self.one_in(number):
            return ""
        return f" WITH METADATA {_json(self._draw(maps(METADATA_KEYS)))}"


def _matcher(concept_type: str, name: str) -> str:
    return f"{{type: {_json(concept_type)}, name: {_json(name)}}}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
