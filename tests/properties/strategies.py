"""Tiny dense graphs, and FIND queries that are valid by construction.

Few names, many collisions: six concepts share three names, eight propositions share three
predicates, queries share four node variables. So cycles, nulls, links about links and variables
that meet again in another scope do happen.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from hypothesis import strategies as st

from kiprdf.errors import KipError
from kiprdf.language import ast, parse
from tests.oracle import TooManySolutions
from tests.oracle.evaluate import solutions
from tests.oracle.graph import Graph, concept_id, proposition_id
from tests.properties.choices import Choices

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[T]], T]

TYPES = ("T", "U", "V")
PREDICATES = ("likes", "knows", "says")
NAMES = ("A", "B", 'quo"te', "back\\slash", "x/y z", "漢字", "😀", "e\u0301", "é", "$name", "?v")
ATTRIBUTE_KEYS = ("a", "b")
METADATA_KEYS = ("a", "m")

NODE_VARIABLES = ("a", "b", "c", "d")
LINK_VARIABLES = ("l", "m")
PREDICATE_VARIABLES = ("p", "q")

# Doubles are sums of powers of two, so that SUM does not depend on the order of the rows.
NUMBERS = (0, 1, 2, 3, -1, 10, 0.0, -0.0, 1.0, 2.5, 3.0, -0.5, 1e300)
STRINGS = (
    "",
    "a",
    "b",
    "ab",
    "A",
    "10",
    'quo"te',
    "back\\slash",
    "line\nbreak",
    "\t\u0000",
    "漢字",
    "😀",
    "\uffff",
    "?a",
    "true",
    "2025-01-01T00:00:00Z",
    "C:T/A",
    "likes",
)
CONTAINERS: tuple[Any, ...] = (
    [],
    {},
    [1],
    [1.0],
    ["a", None],
    {"k": 1},
    {"k": [True], "j": "b"},
    {"j": "b", "k": [True]},
    ["a", "b"],
    ["ab", 3, True, {"k": 1}],
    [["a"], "b"],
    {"@value": "a", "@language": "de"},
    {"@value": "ab", "@language": "ar", "@direction": "rtl"},
    {"@value": "a", "@type": "http://example.org/t"},
    {"@value": "3.00", "@type": "http://www.w3.org/2001/XMLSchema#decimal"},
    {"@value": "10", "@type": "http://www.w3.org/2001/XMLSchema#gYear"},
    {"@value": "true", "@type": "http://www.w3.org/2001/XMLSchema#boolean"},
    [{"@value": "a", "@language": "de"}, {"@value": "b", "@language": "en"}],
    [{"@value": "1.0", "@type": "http://www.w3.org/2001/XMLSchema#float"}, None],
    {"@value": "03", "@type": "http://www.w3.org/2001/XMLSchema#integer"},
    {"@value": "3e0", "@type": "http://www.w3.org/2001/XMLSchema#double"},
    {"@value": "-0", "@type": "http://www.w3.org/2001/XMLSchema#integer"},
    {"@value": "9007199254740993", "@type": "http://www.w3.org/2001/XMLSchema#long"},
    [9007199254740993, 1, 3],
    [True, {"@value": "a", "@language": "fr"}, 1.0, 1],
)
LARGE = (2**53, 2**53 + 1, 2.0**53)
"""Numbers that are equal to several others."""
PATTERNS = ("a", "^a", "b.", "[a-c]+", "k\\\\s", "(a|漢)", "", "^.$", "[0-9]{2}")
HOPS = ("{1}", "{2}", "{3}", "{0}", "{0,1}", "{0,2}", "{1,2}", "{1,3}", "{2,3}", "{0,}", "{1,}")


class Words(NamedTuple):
    """What queries are made of."""

    types: tuple[str, ...] = TYPES
    predicates: tuple[str, ...] = PREDICATES
    names: tuple[str, ...] = NAMES
    attributes: tuple[str, ...] = ATTRIBUTE_KEYS
    metadata: tuple[str, ...] = METADATA_KEYS
    strings: tuple[str, ...] = STRINGS


WORDS = Words()

scalars: st.SearchStrategy[Any] = (
    st.sampled_from(NUMBERS) | st.sampled_from(STRINGS) | st.booleans() | st.none()
)
common = st.sampled_from((1, 1.0, 3, 3.0, "a", "b", True, None))
values: st.SearchStrategy[Any] = common | common | scalars | scalars | st.sampled_from(CONTAINERS)


def _maps(keys: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(keys), values, max_size=len(keys))


# Graphs ---------------------------------------------------------------------------------------


@st.composite
def graphs(draw: Draw[Any]) -> Graph:
    """Two or three types, three predicates, up to six concepts and eight propositions."""
    graph = Graph()
    types = TYPES[: draw(st.integers(2, 3))]
    graph.define(types=types, predicates=PREDICATES)
    names = draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=3, unique=True))
    pairs = st.tuples(st.sampled_from(types), st.sampled_from(names))
    for concept_type, name in draw(st.lists(pairs, min_size=4, max_size=6, unique=True)):
        graph.concept(concept_type, name, draw(_maps(ATTRIBUTE_KEYS)), draw(_maps(METADATA_KEYS)))
    _add_propositions(draw, graph, types)
    return graph


def _add_propositions(draw: Draw[Any], graph: Graph, types: tuple[str, ...]) -> None:
    ends = [i for i, concept in graph.concepts.items() if concept["type"] in types]
    # One definition is in the web of links like any other concept.
    ends.append(concept_id("$ConceptType", types[0]))
    for _ in range(8 - draw(st.integers(0, 8)) // 2):
        subject = draw(st.sampled_from(ends))
        object_ = draw(st.sampled_from(ends))
        predicate = draw(st.sampled_from(PREDICATES))
        if proposition_id(subject, predicate, object_) in graph:
            continue
        maps = draw(_maps(ATTRIBUTE_KEYS)), draw(_maps(METADATA_KEYS))
        ends.append(graph.proposition(subject, predicate, object_, *maps))


# Queries --------------------------------------------------------------------------------------


@st.composite
def queries(draw: Draw[Any], graph: Graph) -> str:
    """The text of a FIND over a graph."""
    return QueryWriter(draw, graph).find()


FAULTS = (
    "FILTER(?unbound == 1)",
    "OPTIONAL { FILTER(?unbound.name == 1) }",
    'UNION { ?z {type: "T"} NOT { FILTER(?unbound == ?z) } }',
    'NOT { ?z {type: "T"} } FILTER(?z.name == 1)',
    'NOT { (?z, "unknown", ?y) }',
    'OPTIONAL { ?z {type: "Unknown"} }',
    'UNION { (?z, "likes" | "unknown"{1,2}, ?y) }',
    '?z {type: "T", name: "Dangling"}',
    '(?z, "likes", {id: "C:123"})',
    '(?z, "likes", ({id: "C:T/Dangling"}, "likes", ?y))',
    '(id: "P:0123456789abcdef:likes")',
    '?z {id: "P:0123456789abcdef:likes"}',
    'NOT { (id: "C:T/A") }',
    "(?z, ?z, ?y)",
    "(?y, ?z, ?x) FILTER(?z.name == 1)",
    '?z {type: "T"} FILTER(?z.subject == 1)',
    '?z {type: "T"} FILTER(?z.attributes == 1)',
    '?z {type: "T"} FILTER(?z)',
    '?z {type: "T"} FILTER(?z.name == "A" || "B")',
    '?z {type: "T"} FILTER(?z != "A")',
    '?z {type: "T"} FILTER(IN(?z, ["A", 1]))',
    '?z {type: "T"} FILTER(STARTS_WITH(?z, "A"))',
    '(?z, "likes"{65}, ?y)',
)


@st.composite
def faulty_queries(draw: Draw[Any], graph: Graph) -> str:
    """A query with one fault in front of its other clauses."""
    text: str = draw(queries(graph))
    return text.replace("WHERE {", f"WHERE {{ {draw(st.sampled_from(FAULTS))}", 1)


@dataclass(frozen=True)
class Case:
    """A graph and several queries over it.

    ``most`` are the numbers of an array that are found by index, and the matches that are few.
    """

    graph: Graph
    queries: list[str]
    most: int


@st.composite
def cases(draw: Draw[Any], *, faulty: bool = False) -> Case:
    graph = draw(graphs())
    query = faulty_queries(graph) if faulty else queries(graph)
    asked = draw(st.lists(query, min_size=4, max_size=8))
    return Case(graph, asked, draw(st.sampled_from((1, 4))))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


class QueryWriter(Choices):
    """Writes a query top down; ``scope`` is what the text so far has bound."""

    def __init__(self, draw: Any, graph: Graph, words: Words = WORDS) -> None:
        super().__init__(draw)
        self._graph = graph
        self._words = words
        self._mentioned: set[str] = set()
        self._busy: set[str] = set()
        self._values = [
            value
            for identifier in graph.elements()
            for field in ("attributes", "metadata")
            for key, value in graph.element(identifier)[field].items()
            if not key.startswith("_")
        ]

    def find(self) -> str:
        scope: set[str] = set()
        first = "" if self.one_in(6) else self.pattern(scope) + " "
        where = first + self.block(scope, first, depth=3, most=3)
        if not scope:
            where += " " + self.concept_clause(scope)
        aggregated = self.one_in(3)
        expressions = self.aggregates(scope) if aggregated else self.projections(scope)
        text = f"FIND({', '.join(expressions)}) WHERE {{ {where} }}"
        if self.one_in(2):
            key = self.pick(expressions) if aggregated else self.path_or_variable(scope)
            if not key.endswith((".attributes", ".metadata")):
                text += f" ORDER BY {key}{self.pick(('', ' ASC', ' DESC'))}"
        if self.one_in(3):
            text += f" LIMIT {self.number(1, 4)}"
        return text

    # FIND -------------------------------------------------------------------------------------

    def projections(self, scope: set[str]) -> list[str]:
        expressions = [self.path_or_variable(scope) for _ in range(self.number(1, 3))]
        nodes = self.nodes(scope)
        if nodes and self.one_in(8):
            expressions.append(f"?{self.pick(nodes)}.{self.pick(('attributes', 'metadata'))}")
        return expressions

    def aggregates(self, scope: set[str]) -> list[str]:
        plain = [self.path_or_variable(scope) for _ in range(self.number(0, 2))]
        functions = [self.aggregate(scope) for _ in range(self.number(1, 2))]
        return plain + functions

    def aggregate(self, scope: set[str]) -> str:
        function = self.pick(("COUNT(", "COUNT(DISTINCT ", "SUM(", "AVG(", "MIN(", "MAX("))
        nodes = self.nodes(scope)
        if function in ("SUM(", "AVG("):
            if not nodes:
                return f"COUNT({self.path_or_variable(scope)})"
            return f"{function}?{self.pick(nodes)}.attributes.{self.pick(self._words.attributes)})"
        return f"{function}{self.path_or_variable(scope)})"

    def path_or_variable(self, scope: set[str]) -> str:
        name = self.pick(sorted(scope))
        if name in PREDICATE_VARIABLES or self.one_in(3):
            return f"?{name}"
        return self.path(name)

    def path(self, name: str) -> str:
        attribute = f"attributes.{self.pick((*self._words.attributes, 'missing'))}"
        metadata = f"metadata.{self.pick(self._words.metadata)}"
        of_links = ("id", "subject", "predicate", "object")
        own = of_links if name in LINK_VARIABLES else ("id", "name", "type")
        return f"?{name}.{self.pick((attribute, attribute, attribute, metadata, *own))}"

    def nodes(self, scope: set[str]) -> list[str]:
        return sorted(scope - set(PREDICATE_VARIABLES))

    # Clauses ----------------------------------------------------------------------------------

    def block(self, scope: set[str], before: str, depth: int, most: int) -> str:
        """Clauses that mostly leave something to find, given the clauses before the block."""
        text = ""
        for _ in range(self.number(1, most)):
            trial = set(scope)
            clause = self.clause(trial, before + text, depth)
            if not self.finds(before + text + clause) and not self.one_in(5):
                trial = set(scope)
                clause = self.clause(trial, before + text, depth)
            if not text or self.finds(before + text + clause) or self.one_in(5):
                text += clause + " "
                scope |= trial
        return text

    def finds(self, where: str) -> bool:
        """Whether anything satisfies the clauses."""
        find = parse(f"FIND(?x) WHERE {{ {where} }}")
        assert isinstance(find, ast.Find)
        try:
            return bool(solutions(find.where, self._graph))
        except (KipError, TooManySolutions):
            return False

    def clause(self, scope: set[str], before: str, depth: int) -> str:
        self._busy.clear()
        # Before anything is bound, a FILTER has but constants to compare.
        nested = 1 if depth > 0 and (scope or self.one_in(2)) else 0
        kind = self.weighted(
            (5, "proposition"),
            (2, "concept"),
            (2 if scope or self.one_in(8) else 0, "filter"),
            (nested, "not"),
            (2 * nested, "optional"),
            (nested, "union"),
        )
        if kind == "concept":
            return self.concept_clause(scope)
        if kind == "proposition":
            return self.proposition_clause(scope)
        if kind == "filter":
            return f"FILTER({self.condition(scope, 2)})"
        return self.nested_block(kind, scope, before, depth - 1)

    def nested_block(self, kind: str, scope: set[str], before: str, depth: int) -> str:
        """NOT keeps its variables, UNION starts afresh and gives its own away."""
        inner = set() if kind == "union" else set(scope)
        body = self.block(inner, "" if kind == "union" else before, depth, most=3)
        if kind != "not":
            scope |= inner
        return f"{kind.upper()} {{ {body} }}"

    def pattern(self, scope: set[str]) -> str:
        return self.concept_clause(scope) if self.one_in(3) else self.proposition_clause(scope)

    def concept_clause(self, scope: set[str]) -> str:
        return f"{self.bind(scope, NODE_VARIABLES)} {self.concept_matcher()}"

    def proposition_clause(self, scope: set[str]) -> str:
        link = self.bind(scope, LINK_VARIABLES) + " " if self.one_in(2) else ""
        if self._graph.propositions and self.one_in(12):
            return f"{link}(id: {_json(self.pick(self._graph.propositions))})"
        return link + self.structure(scope, self.example(), depth=2)

    def example(self) -> str | None:
        """A proposition for a pattern to match, so that most clauses match something."""
        if not self._graph.propositions or self.one_in(5):
            return None
        return str(self.pick(self._graph.propositions))

    def structure(self, scope: set[str], example: str | None, depth: int) -> str:
        ends = self.ends(example)
        subject = self.endpoint(scope, ends[0], depth - 1)
        predicate = self.predicate(scope, ends[1], hops=depth == 2)
        object_ = self.endpoint(scope, ends[2], depth - 1)
        return f"({subject}, {predicate}, {object_})"

    def ends(self, example: str | None) -> Sequence[str | None]:
        """The subject, predicate and object of a pattern that matches an example."""
        link = self._graph.propositions.get(example or "", {})
        return [link.get(key) for key in ("subject", "predicate", "object")]

    def endpoint(self, scope: set[str], example: str | None, depth: int) -> str:
        is_concept = example is None or example in self._graph.concepts
        kind = self.weighted(
            (7, "node"),
            (1 if is_concept else 3, "link"),
            (2 if is_concept else 0, "concept"),
            (1 if is_concept else 0, "named"),
            ((1 if is_concept else 6) if depth > 0 else 0, "nested"),
        )
        if kind == "node":
            return self.bind(scope, NODE_VARIABLES)
        if kind == "link":
            return self.bind(scope, LINK_VARIABLES)
        if kind == "concept":
            return self.concept_matcher(example)
        if kind == "named":
            return f"{self.bind(scope, NODE_VARIABLES)} {self.concept_matcher(example)}"
        link = self.bind(scope, LINK_VARIABLES) + " " if self.one_in(2) else ""
        return link + self.structure(scope, example, depth)

    def bind(self, scope: set[str], names: tuple[str, ...]) -> str:
        """A variable; rather one that the text mentions already, in any scope, and seldom
        one that the clause itself has."""
        free = [name for name in names if name not in self._busy]
        names = names if not free or self.one_in(12) else tuple(free)
        mentioned = sorted(self._mentioned & set(names))
        name = self.pick(mentioned if mentioned and self.one_in(2) else names)
        self._mentioned.add(name)
        self._busy.add(name)
        scope.add(name)
        return f"?{name}"

    def concept_matcher(self, example: str | None = None) -> str:
        example = example or self.a_concept()
        concept_type, name = self.type_for(example), self._graph.concepts[example]["name"]
        if self.one_in(12):
            concept_type, name = self.pick(self._words.types[:2]), self.pick(self._words.names)
        kind = self.weighted((4, "type"), (2, "name"), (2, "both"), (1, "id"), (1, "any"))
        if kind == "any":
            return "{}"
        if kind == "type":
            return f"{{type: {_json(concept_type)}}}"
        if kind == "name":
            return f"{{name: {_json(name)}}}"
        if kind == "id":
            return f"{{id: {_json(concept_id(concept_type, name))}}}"
        return f"{{type: {_json(concept_type)}, name: {_json(name)}}}"

    def type_for(self, identifier: str) -> str:
        """The type of a matcher that matches a concept."""
        return str(self._graph.concepts[identifier]["type"])

    def a_concept(self) -> str:
        """Mostly no definition."""
        instances = [i for i, c in self._graph.concepts.items() if c["type"] in self._words.types]
        return str(self.pick(self._graph.concepts if self.one_in(6) else instances))

    def predicate(self, scope: set[str], example: str | None, *, hops: bool) -> str:
        kind = self.weighted((6, "one"), (2, "two"), (2, "variable"))
        if kind == "variable":
            return self.bind(scope, PREDICATE_VARIABLES)
        names = [example or self.pick(self._words.predicates)]
        if kind == "two":
            names.append(self.pick(self._words.predicates))
        walks = hops and self.one_in(3)
        return " | ".join(_json(name) + (self.hops() if walks else "") for name in names)

    def hops(self) -> str:
        return "" if self.one_in(4) else str(self.pick(HOPS))

    def value(self) -> Any:
        return self._draw(values)

    # FILTER -----------------------------------------------------------------------------------

    def condition(self, scope: set[str], depth: int) -> str:
        nested = 1 if depth > 0 else 0
        kind = self.weighted(
            (6, "comparison"),
            (2, "membership"),
            (2, "null"),
            (2, "string"),
            (1, "truth"),
            (2 * nested, "negation"),
            (nested, "&&"),
            (nested, "||"),
            (2 if self.nodes(scope) else 0, "equal"),
        )
        if kind == "equal":
            path = self.path(self.pick(self.nodes(scope)))
            tests = [f"{path} == {self.compared(scope)}" for _ in range(self.pick((1, 1, 2, 3)))]
            return " || ".join(tests)
        if kind == "negation":
            return f"!({self.condition(scope, depth - 1)})"
        if kind in ("&&", "||"):
            sides = [self.condition(scope, depth - 1) for _ in range(2)]
            return f"({sides[0]} {kind} {sides[1]})"
        return self.atom(kind, scope)

    def atom(self, kind: str, scope: set[str]) -> str:
        operand = self.path_or_variable(scope) if scope else self.operand(scope)
        if operand[1:] in self.nodes(scope) and kind != "null":
            # An element is compared with elements, paths and null only.
            others = [f"?{name}" for name in self.nodes(scope)]
            return f"{operand} {self.pick(('==', '!=', '<'))} {self.pick((*others, 'null'))}"
        if kind == "truth":
            names = self.nodes(scope)
            key = self.pick(self._words.attributes)
            return f"?{self.pick(names)}.attributes.{key}" if names else "true"
        if kind == "comparison":
            operator = self.pick(("==", "!=", "<", ">", "<=", ">="))
            return f"{operand} {operator} {self.compared(scope)}"
        if kind == "membership":
            path = self.path(self.pick(self.nodes(scope))) if self.nodes(scope) else ""
            if path and self.one_in(2):
                return f"IN({self.compared(scope)}, {path})"
            options = [self.value() for _ in range(self.number(1, 3))]
            return f"IN({operand}, {_json(options)})"
        if kind == "null":
            return f"{self.pick(('IS_NULL', 'IS_NOT_NULL'))}({operand})"
        return self.string_test(operand, scope)

    def string_test(self, operand: str, scope: set[str]) -> str:
        function = self.pick(("CONTAINS", "STARTS_WITH", "ENDS_WITH", "REGEX"))
        if function == "REGEX":
            # Only patterns that Python and the engine read alike.
            return f"REGEX({operand}, {_json(self.pick(PATTERNS))})"
        argument = _json(self.pick(self._words.strings)) if self.one_in(2) else self.operand(scope)
        return f"{function}({operand}, {argument})"

    def compared(self, scope: set[str]) -> str:
        """A right side that has a chance to be equal: a value of the graph, or its other form."""
        if scope and self.one_in(12):
            return _json(self.pick(LARGE))
        if not self._values or self.one_in(2):
            return self.operand(scope)
        value = self.pick(self._values)
        if isinstance(value, int | float) and not isinstance(value, bool) and self.one_in(2):
            other = float(value) if isinstance(value, int) else int(value)
            return _json(other if abs(other) < 100 else value)
        return _json(value)

    def operand(self, scope: set[str]) -> str:
        if not scope or self.one_in(4):
            return _json(self.value())
        return self.path_or_variable(scope)
