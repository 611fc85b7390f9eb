"""The algebra as SPARQL text, and deltas as one update. The only file that writes SPARQL.

Every value passes through ``_term``: pyoxigraph prints the term, and no text is pasted anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar, assert_never

from pyoxigraph import Literal, NamedNode, Quad, Triple, Variable

from kiprdf.sparql import algebra
from kiprdf.sparql.algebra import Expression, Pattern, Term

T = TypeVar("T")
COUNTS = (
    "SELECT ?predicate (COUNT(*) AS ?triples) (COUNT(DISTINCT ?subject) AS ?subjects) "
    "WHERE { ?subject ?predicate ?object } GROUP BY ?predicate"
)
"""Every predicate of a graph, how many triples it has, and how many subjects."""

_LOCAL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
_XSD = "http://www.w3.org/2001/XMLSchema#"
# The literals that SPARQL lets stand without quotes and datatype.
_SHORT = {
    # Not the largest: SPARQL reads a minus and a number, and there is none for -2**63.
    _XSD + "integer": re.compile(r"-?[0-9]{1,18}").fullmatch,
    _XSD + "boolean": re.compile(r"true|false").fullmatch,
}
_NEVER = re.compile(r"(?!)").fullmatch


def render(query: algebra.Select, prefixes: Mapping[str, str] | None = None) -> str:
    """The query as SPARQL 1.2 text with LATERAL, indented for people.

    ``prefixes`` (prefix to IRI) shorten the IRIs; only those in use are declared.
    """
    writer = _Writer(prefixes or {})
    if query.counts:
        text = _counted(query, writer)
        return writer.declarations() + text
    names = " ".join(map(str, query.variables)) or "*"
    verb = "SELECT DISTINCT" if query.distinct else "SELECT"
    text = f"{verb} {names} WHERE {writer.group(query.pattern, 0)}"
    if query.limit is not None:
        text += f"\nLIMIT {query.limit}"
    if query.offset:
        text += f"\nOFFSET {query.offset}"
    return writer.declarations() + text


def _counted(query: algebra.Select, writer: _Writer) -> str:
    names = [*map(str, query.variables), *map(_count, query.counts)]
    body = writer.group(query.pattern, 0)
    if query.limit is not None:
        inner = writer.group(query.pattern, 1)
        body = f"{{\n  SELECT * WHERE {inner}\n  LIMIT {query.limit}\n}}"
    text = f"SELECT {' '.join(names)} WHERE {body}"
    keys = " ".join(map(str, query.variables))
    return f"{text}\nGROUP BY {keys}" if keys else text


def _count(count: algebra.Count) -> str:
    counted = "*" if count.variable is None else str(count.variable)
    return f"(COUNT({'DISTINCT ' if count.distinct else ''}{counted}) AS {count.name})"


class Filling:
    """What takes the place of the marks in a rendered query: literals, and segments of IRIs."""

    __slots__ = ("_literals", "_segments")

    def __init__(self, literals: Mapping[Term, Term], segments: Mapping[str, str]) -> None:
        self._literals = literals
        self._segments = segments

    def text(self, text: str) -> str:
        """A query with the values."""
        for mark, literal in self._literals.items():
            text = text.replace(_value(mark), _value(literal))
        return self.iri(text)

    def iri(self, iri: str) -> str:
        """An IRI with the segments."""
        for mark, segment in self._segments.items():
            iri = iri.replace(mark, segment)
        return iri

    def term(self, term: T) -> T | Term:
        """A term with the values."""
        if isinstance(term, NamedNode):
            iri = self.iri(term.value)
            return term if iri == term.value else NamedNode(iri)
        return self._literals.get(term, term) if isinstance(term, Literal) else term


NOTHING = Filling({}, {})
"""The filling of a query without marks."""


def render_count(pattern: Pattern, most: int, distinct: Sequence[Variable] = ()) -> str:
    """How many solutions a pattern has, as a SELECT of one number; ``most`` ends the count.

    With ``distinct``, how many that differ in some variables.
    """
    body = _Writer({}).group(pattern, 1)
    shown = f"DISTINCT {' '.join(map(str, distinct))}" if distinct else "*"
    return f"SELECT (COUNT(*) AS ?number) WHERE {{ SELECT {shown} WHERE {body} LIMIT {most} }}"


def _value(term: Term) -> str:
    if isinstance(term, Literal) and _SHORT.get(term.datatype.value, _NEVER)(term.value):
        return term.value
    return str(term)


class _Writer:
    """One rendering; remembers the prefixes it used."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        # The longest namespace first: that of a predicate extends the base.
        self._namespaces = sorted(
            ((iri, prefix) for prefix, iri in prefixes.items()), key=lambda p: -len(p[0])
        )
        self._used: dict[str, str] = {}

    def declarations(self) -> str:
        lines = (f"PREFIX {prefix}: <{iri}>\n" for prefix, iri in sorted(self._used.items()))
        return "".join(lines)

    # Terms ------------------------------------------------------------------------------------

    def _term(self, term: Term | algebra.TripleTerm) -> str:
        if isinstance(term, algebra.TripleTerm):
            parts = (term.subject, term.predicate, term.object)
            return f"<<( {' '.join(map(self._term, parts))} )>>"
        if isinstance(term, NamedNode):
            return self._iri(term)
        return _value(term)

    def _iri(self, node: NamedNode) -> str:
        for namespace, prefix in self._namespaces:
            if node.value.startswith(namespace):
                local = node.value[len(namespace) :]
                if _LOCAL_NAME.fullmatch(local):
                    self._used[prefix] = namespace
                    return f"{prefix}:{local}"
        return str(node)

    def _predicate(self, predicate: Term | algebra.Alternative | algebra.OneOrMore) -> str:
        if isinstance(predicate, algebra.Alternative):
            return f"({'|'.join(map(self._iri, predicate.predicates))})"
        if isinstance(predicate, algebra.OneOrMore):
            return f"{self._iri(predicate.predicate)}+"
        return "a" if predicate == _TYPE else self._term(predicate)

    def _triple(self, triple: algebra.TriplePattern) -> str:
        predicate = self._predicate(triple.predicate)
        return f"{self._term(triple.subject)} {predicate} {self._term(triple.object)} ."

    # Patterns ---------------------------------------------------------------------------------

    def group(self, pattern: Pattern, depth: int) -> str:
        """A pattern in braces."""
        inner = "  " * (depth + 1)
        lines = "".join(f"{inner}{line}\n" for line in self._lines(pattern, depth + 1))
        return f"{{\n{lines}{'  ' * depth}}}"

    def _lines(self, pattern: Pattern, depth: int) -> list[str]:
        """The elements of the group that a pattern is the whole of."""
        match pattern:
            case algebra.BGP():
                return [self._triple(triple) for triple in pattern.triples]
            case algebra.Join():
                return [*self._open(pattern.left, depth), *self._open(pattern.right, depth)]
            case algebra.Lateral():
                right = self.group(pattern.right, depth)
                return [*self._open(pattern.left, depth), f"LATERAL {right}"]
            case algebra.LeftJoin():
                right = self.group(pattern.right, depth)
                return [*self._open(pattern.left, depth), f"OPTIONAL {right}"]
            case algebra.AntiJoin():
                return self._anti_join(pattern, depth)
            case algebra.Union():
                return [" UNION ".join(self.group(branch, depth) for branch in pattern.branches)]
            case algebra.Filter():
                condition = f"FILTER({self.expression(pattern.condition)})"
                # Several FILTERs may share a group: they hold for all of it anyway.
                filtered = isinstance(pattern.pattern, algebra.Filter)
                inner = self._lines if filtered else self._open
                return [*inner(pattern.pattern, depth), condition]
            case algebra.Extend():
                binding = f"BIND({self.expression(pattern.expression)} AS {pattern.variable})"
                return [*self._open(pattern.pattern, depth), binding]
            case algebra.Project():
                names = " ".join(map(str, pattern.variables)) or "*"
                body = self.group(pattern.pattern, depth)
                return [f"SELECT DISTINCT {names} WHERE {body}"]
            case _:
                assert_never(pattern)

    def _open(self, pattern: Pattern, depth: int) -> list[str]:
        """The elements of a pattern that goes on behind them.

        A FILTER holds for its whole group, and a subquery is its whole group: both are closed
        before anything may follow.
        """
        if isinstance(pattern, algebra.Filter | algebra.Project):
            return [self.group(pattern, depth)]
        return self._lines(pattern, depth)

    def _anti_join(self, pattern: algebra.AntiJoin, depth: int) -> list[str]:
        """OPTIONAL with LIMIT 1 and a null test: the engine does not order joins inside EXISTS."""
        inner = "  " * (depth + 1)
        names = " ".join(map(str, (*pattern.shared, f"(true AS {pattern.witness})")))
        body = self.group(pattern.right, depth + 2)
        subquery = f"{{ SELECT {names} WHERE {body} LIMIT 1 }}"
        optional = f"OPTIONAL {{ {subquery} }}"
        if pattern.shared:
            optional = f"LATERAL {{\n{inner}{optional}\n{'  ' * depth}}}"
        left = self._open(pattern.left, depth)
        return [*left, optional, f"FILTER(!BOUND({pattern.witness}))"]

    # Expressions ------------------------------------------------------------------------------

    def expression(self, expression: Expression) -> str:
        match expression:
            case algebra.Call():
                function = expression.function
                name = function if isinstance(function, str) else self._iri(function)
                return f"{name}({', '.join(map(self.expression, expression.arguments))})"
            case algebra.Infix():
                operator = f" {expression.operator} "
                return f"({operator.join(map(self.expression, expression.operands))})"
            case algebra.Negation():
                return f"!({self.expression(expression.operand)})"
            case algebra.In():
                options = ", ".join(map(self._term, expression.options))
                return f"({self.expression(expression.operand)} IN ({options}))"
            case NamedNode() | Literal() | Variable():
                return self._term(expression)
            case _:
                assert_never(expression)


Written: TypeAlias = Triple | Quad | tuple[NamedNode, NamedNode, NamedNode | Literal | Triple]


def render_update(removed: Iterable[Written], added: Iterable[Written]) -> str:
    """One atomic update; quads with a graph name go to their graphs."""
    steps = (("DELETE DATA", removed), ("INSERT DATA", added))
    return ";\n".join(f"{verb} {{\n{_data(statements)}}}" for verb, statements in steps)


def _data(statements: Iterable[Written]) -> str:
    """Statements on one subject that follow each other name it once; there is less to parse."""
    pieces: list[str] = []
    named: list[str] = []
    last: object = None
    for statement in statements:
        subject, predicate, object_, *graph = statement
        if isinstance(object_, Triple):
            shown = f"{predicate} <<( {object_.subject} {object_.predicate} {object_.object} )>>"
        else:
            shown = f"{predicate} {object_}"
        if graph and isinstance(graph[0], NamedNode):
            named.append(f"GRAPH {graph[0]} {{ {subject} {shown} . }}\n")
        elif subject == last:
            pieces.append(f" ;\n  {shown}")
        else:
            pieces.append(f" .\n{subject} {shown}" if pieces else f"{subject} {shown}")
            last = subject
    if pieces:
        pieces.append(" .\n")
    return "".join(pieces + named)
