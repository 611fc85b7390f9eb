"""Writes the algebra as SPARQL text, and a delta as one update.

Every value passes through ``_value``: pyoxigraph prints the term, and nothing else is inserted.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeVar, assert_never

from pyoxigraph import Literal, NamedNode, Quad, Triple, Variable

from kiprdf.sparql import algebra
from kiprdf.sparql.abilities import EMBEDDED, Abilities
from kiprdf.sparql.algebra import Bindings, Expression, Hole, Pattern, Term

T = TypeVar("T")

_LOCAL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
_XSD = "http://www.w3.org/2001/XMLSchema#"
# The literals that SPARQL accepts without quotes and datatype.
_SHORT = {
    # Not the largest: SPARQL reads a minus and a number, and there is none for -2**63.
    _XSD + "integer": re.compile(r"-?[0-9]{1,18}").fullmatch,
    _XSD + "boolean": re.compile(r"true|false").fullmatch,
}
_NEVER = re.compile(r"(?!)").fullmatch
_Piece: TypeAlias = str | Hole | algebra.Filter
Facts: TypeAlias = Callable[[NamedNode], Sequence[Triple] | None]
"""The facts of a predicate that are not believed; None where they are too many for a query."""
_Path: TypeAlias = Term | algebra.Alternative | algebra.OneOrMore | algebra.ZeroOrMore


class PreparedQuery:
    """A query as text whose holes are still open."""

    __slots__ = ("_pieces",)

    def __init__(self, pieces: Iterable[_Piece]) -> None:
        runs = itertools.groupby(pieces, key=lambda piece: isinstance(piece, str))
        self._pieces: list[_Piece] = []
        for is_text, run in runs:
            self._pieces += ["".join(map(str, run))] if is_text else run

    def text(self, bindings: Bindings, facts: Facts = lambda _: None) -> str:
        """The SPARQL text, each hole filled with its term."""
        return "".join(
            [
                piece
                if isinstance(piece, str)
                else _value(bindings[piece])
                if isinstance(piece, Hole)
                else _believed(piece, facts)
                for piece in self._pieces
            ]
        )


def _believed(pattern: algebra.Filter, facts: Facts) -> str:
    """A FILTER by a function that tests whether facts are believed, or, since a call for each row
    takes longer than the query, MINUS of the facts that are not."""
    assert isinstance(pattern.condition, algebra.Condition)
    subject, predicate, object_ = pattern.condition.operands
    assert isinstance(predicate, NamedNode)
    unbelieved = facts(predicate)
    if unbelieved is not None:
        rows = " ".join(f"({fact.subject} {fact.object})" for fact in unbelieved)
        return f"MINUS {{ VALUES ({subject} {object_}) {{ {rows} }} }}"
    writer = _Writer({})
    writer.filter(pattern.condition)
    return PreparedQuery(writer.pieces).text({})


def prepare(
    query: algebra.Select,
    prefixes: Mapping[str, str] | None = None,
    abilities: Abilities = EMBEDDED,
) -> PreparedQuery:
    """The query as SPARQL text for an engine, indented for people.

    ``prefixes`` (prefix to IRI) shorten the IRIs; only those in use are declared. An
    engine in another process is asked in SPARQL 1.1.
    """
    writer = _writer(prefixes or {}, abilities)
    if query.counts:
        writer.counted(query)
    else:
        verb = "SELECT DISTINCT" if query.distinct else "SELECT"
        writer.write(f"{verb} {_names(query.variables)} WHERE ")
        writer.group(query.pattern, 0, query.table)
        if query.order:
            writer.order(query.order)
        if query.limit is not None:
            writer.write(f"\nLIMIT {query.limit}")
        if query.offset:
            writer.write(f"\nOFFSET {query.offset}")
    return PreparedQuery([writer.declarations(), *writer.pieces])


def render(
    query: algebra.Select,
    prefixes: Mapping[str, str] | None = None,
    abilities: Abilities = EMBEDDED,
) -> str:
    """The text of a query without holes; see ``prepare``."""
    return prepare(query, prefixes, abilities).text({})


def render_count(pattern: Pattern, most: int, distinct: Sequence[Variable] = ()) -> str:
    """How many solutions a pattern has, as a SELECT of one number; counting stops at ``most``.

    With ``distinct``, how many that differ in some variables.
    """
    writer = _Writer({})
    projected = f"DISTINCT {_names(distinct)}" if distinct else "*"
    writer.write(f"SELECT (COUNT(*) AS ?number) WHERE {{ SELECT {projected} WHERE ")
    writer.group(pattern, 1)
    writer.write(f" LIMIT {most} }}")
    return PreparedQuery(writer.pieces).text({})


def _count(count: algebra.Count) -> str:
    counted = "*" if count.variable is None else str(count.variable)
    return f"(COUNT({'DISTINCT ' if count.distinct else ''}{counted}) AS {count.name})"


def _names(variables: Iterable[Variable]) -> str:
    return " ".join(map(str, variables)) or "*"


def _value(term: NamedNode | Literal | Variable) -> str:
    if isinstance(term, Literal) and _SHORT.get(term.datatype.value, _NEVER)(term.value):
        return term.value
    return str(term)


class _Writer:
    """Writes one query into ``pieces`` and remembers the prefixes it used."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        # The longest namespace first: that of a predicate extends the base.
        self._namespaces = sorted(
            ((iri, prefix) for prefix, iri in prefixes.items()), key=lambda p: -len(p[0])
        )
        self._used: dict[str, str] = {}
        self._is_repeated = False
        self._lists = 0
        self.pieces: list[_Piece] = []
        self.write = self.pieces.append

    def declarations(self) -> str:
        lines = (f"PREFIX {prefix}: <{iri}>\n" for prefix, iri in sorted(self._used.items()))
        return "".join(lines)

    def counted(self, query: algebra.Select) -> None:
        names = [*map(str, query.variables), *map(_count, query.counts)]
        self.write(f"SELECT {' '.join(names)} WHERE ")
        if query.limit is None:
            self.group(query.pattern, 0)
        else:
            self.write("{\n  SELECT * WHERE ")
            self.group(query.pattern, 1)
            self.write(f"\n  LIMIT {query.limit}\n}}")
        if query.variables:
            self.write(f"\nGROUP BY {_names(query.variables)}")

    def order(self, keys: Iterable[algebra.SortKey]) -> None:
        self.write("\nORDER BY")
        for key in keys:
            self.write(" DESC(" if key.descending else " ASC(")
            self._expression(key.expression)
            self.write(")")

    def _separated(self, items: Iterable[T], separator: str, write: Callable[[T], None]) -> None:
        for number, item in enumerate(items):
            if number:
                self.write(separator)
            write(item)

    # Terms ------------------------------------------------------------------------------------

    def _term(self, term: Term | algebra.TripleTerm) -> None:
        if isinstance(term, algebra.TripleTerm):
            self.write("<<( ")
            self._separated((term.subject, term.predicate, term.object), " ", self._term)
            self.write(" )>>")
        elif isinstance(term, NamedNode):
            self.write(self._iri(term))
        else:
            self.write(term if isinstance(term, Hole) else _value(term))

    def _iri(self, node: NamedNode) -> str:
        for namespace, prefix in self._namespaces:
            if node.value.startswith(namespace):
                local = node.value[len(namespace) :]
                if _LOCAL_NAME.fullmatch(local):
                    self._used[prefix] = namespace
                    return f"{prefix}:{local}"
        return str(node)

    def _triple(self, triple: algebra.TriplePattern) -> None:
        if isinstance(triple.object, algebra.OneOf):
            self._one_of(triple, triple.object)
            return
        self._term(triple.subject)
        self.write(" ")
        self._predicate(triple.predicate)
        self.write(" ")
        self._term(triple.object)
        self.write(" .")

    def _one_of(self, triple: algebra.TriplePattern, values: algebra.OneOf) -> None:
        """An array may hold several of the values."""
        if len(values.held) > 1:
            self.write("{ SELECT DISTINCT ")
            self._term(triple.subject)
            self.write(" { ")
        each = [(values.terms, None), (values.held, values.graph)][: 2 if values.held else 1]
        if len(values.terms) <= 2:
            each = [((term,), graph) for terms, graph in each for term in terms]
        self._separated(each, " UNION ", lambda some: self._in_graph(triple, *some))
        if len(values.held) > 1:
            self.write(" } }")

    def _in_graph(
        self, triple: algebra.TriplePattern, terms: Sequence[Term], graph: NamedNode | None
    ) -> None:
        self.write("{ ")
        object_ = terms[0]
        if len(terms) > 1:
            # Another list must not join with this one.
            object_ = Variable(f"one_of_{self._lists or ''}")
            self._lists += 1
            self.write(f"VALUES {object_} {{ ")
            self._separated(terms, " ", self._term)
            self.write(" } ")
        if graph is not None:
            self.write("GRAPH ")
            self._term(graph)
            self.write(" { ")
        self._triple(replace(triple, object=object_))
        self.write(" }" if graph is None else " } }")

    def _predicate(self, predicate: _Path) -> None:
        if isinstance(predicate, algebra.Alternative):
            steps = (f"{'' if f else '^'}{self._iri(p)}" for p, f in predicate.steps)
            self.write(f"({'|'.join(steps)})")
        elif isinstance(predicate, algebra.OneOrMore):
            self._predicate(predicate.predicate)
            self.write("+")
        elif isinstance(predicate, algebra.ZeroOrMore):
            self.write(f"{self._iri(predicate.predicate)}*")
        elif predicate == _TYPE:
            self.write("a")
        else:
            self._term(predicate)

    # Patterns ---------------------------------------------------------------------------------

    def group(self, pattern: Pattern, depth: int, table: algebra.Table | None = None) -> None:
        """A pattern in braces, after the rows that it is joined with."""
        self.write("{\n")
        if table is not None:
            self._table(table)
        self._elements(pattern, depth + 1)
        self.write("  " * depth + "}")

    def _table(self, table: algebra.Table) -> None:
        self.write(f"  VALUES ({_names(table.variables)}) {{")
        for row in table.rows:
            self.write(" (")
            self._separated(row, " ", self._term)
            self.write(")")
        self.write(" }\n")

    def _elements(self, pattern: Pattern, depth: int) -> None:
        """A pattern as the elements of its group, a line for each."""
        indent = "  " * depth
        match pattern:
            case algebra.BGP():
                for triple in pattern.triples:
                    self.write(indent)
                    self._triple(triple)
                    self.write("\n")
            case algebra.Lateral():
                self._open(pattern.left, depth)
                self._lateral(pattern.right, depth)
            case algebra.LeftJoin():
                self._open(pattern.left, depth)
                self._braced("OPTIONAL", pattern.right, depth)
            case algebra.AntiJoin():
                self._anti_join(pattern, depth)
            case algebra.Union():
                self.write(indent)
                self._separated(pattern.branches, " UNION ", lambda b: self.group(b, depth))
                self.write("\n")
            case algebra.Filter():
                # Several FILTERs may share a group: they hold for all of it anyway.
                filtered = isinstance(pattern.pattern, algebra.Filter)
                (self._elements if filtered else self._open)(pattern.pattern, depth)
                self.write(indent)
                if self._tests_facts(pattern):
                    self.pieces.append(pattern)
                else:
                    self.filter(pattern.condition)
                self.write("\n")
            case algebra.Extend():
                self._open(pattern.pattern, depth)
                self.write(f"{indent}BIND(")
                self._expression(pattern.expression)
                self.write(f" AS {pattern.variable})\n")
            case algebra.Group():
                self._group_elements(pattern, depth)
            case algebra.Hops():
                self._hops(pattern, indent)
            case algebra.Project():
                self.write(f"{indent}SELECT DISTINCT {_names(pattern.variables)} WHERE ")
                self.group(pattern.pattern, depth)
                self.write("\n")
            case _:
                assert_never(pattern)

    def filter(self, condition: Expression) -> None:
        self.write("FILTER(")
        self._expression(condition)
        self.write(")")

    def _tests_facts(self, pattern: algebra.Filter) -> bool:
        """Whether a condition tests, once, whether all facts of a predicate are believed."""
        match pattern.condition:
            case algebra.Condition("BELIEVED", (Variable() as s, NamedNode(), Variable() as o)):
                bound = algebra.certain_variables(pattern.pattern)
                return not self._is_repeated and s != o and {s, o} <= bound
        return False

    def _lateral(self, right: Pattern, depth: int) -> None:
        self._braced("LATERAL", right, depth)

    def _braced(self, keyword: str, pattern: Pattern, depth: int) -> None:
        self.write("  " * depth + keyword + " ")
        self._repeated(pattern, depth)
        self.write("\n")

    def _repeated(self, pattern: Pattern, depth: int) -> None:
        """A pattern in braces that is evaluated for each solution before it."""
        before, self._is_repeated = self._is_repeated, True
        self.group(pattern, depth)
        self._is_repeated = before

    def _group_elements(self, group: algebra.Group, depth: int) -> None:
        for part in (group.before, *group.parts):
            self._open(part, depth)
        for variable, term in group.constants:
            self.write("  " * depth + "BIND(")
            self._term(term)
            self.write(f" AS {variable})\n")
        for condition in group.conditions:
            self.write("  " * depth)
            self.filter(condition)
            self.write("\n")
        for start in group.starts:
            self.write("  " * depth)
            self._triple(start.triple)
            self.write("\n")

    def _hops(self, hops: algebra.Hops, indent: str) -> None:
        """SPARQL has no hop ranges: this is a notation for people, and is expanded before."""
        self.write(indent)
        self._term(hops.subject)
        for number, hop in enumerate(hops.alternatives):
            self.write("|" if number else " ")
            self._predicate(hop.predicate)
            self.write(f"{{{hop.minimum},{'' if hop.maximum is None else hop.maximum}}}")
        self.write(" ")
        self._term(hops.object)
        self.write(" .\n" if hops.link is None else f" . # link {hops.link}\n")

    def _open(self, pattern: Pattern, depth: int) -> None:
        """The elements of a pattern that is followed by others.

        A FILTER holds for its whole group, and a subquery is its whole group: both are closed
        before anything may follow.
        """
        if isinstance(pattern, algebra.Filter | algebra.Group | algebra.Project):
            self.write("  " * depth)
            self.group(pattern, depth)
            self.write("\n")
        else:
            self._elements(pattern, depth)

    def _anti_join(self, pattern: algebra.AntiJoin, depth: int) -> None:
        """OPTIONAL with LIMIT 1 and a null test: the engine does not order joins inside EXISTS."""
        indent = "  " * depth
        names = " ".join(map(str, (*pattern.shared, f"(true AS {pattern.witness})")))
        self._open(pattern.left, depth)
        self.write(f"{indent}LATERAL {{\n{indent}  " if pattern.shared else indent)
        self.write(f"OPTIONAL {{ {{ SELECT {names} WHERE ")
        self._repeated(pattern.right, depth + 2)
        self.write(" LIMIT 1 } }\n" + (f"{indent}}}\n" if pattern.shared else ""))
        self.write(f"{indent}FILTER(!BOUND({pattern.witness}))\n")

    # Expressions ------------------------------------------------------------------------------

    def _expression(self, expression: Expression) -> None:
        match expression:
            case algebra.Call():
                function = expression.function
                self.write(function if isinstance(function, str) else self._iri(function))
                self.write("(")
                self._separated(expression.arguments, ", ", self._expression)
                self.write(")")
            case algebra.Infix():
                self.write("(")
                self._separated(expression.operands, f" {expression.operator} ", self._expression)
                self.write(")")
            case algebra.Negation():
                self.write("!(")
                self._expression(expression.operand)
                self.write(")")
            case algebra.In():
                self.write("(")
                self._expression(expression.operand)
                self.write(" IN (")
                self._separated(expression.options, ", ", self._term)
                self.write("))")
            case algebra.Condition():
                self._expression(expression.expression)
            case NamedNode() | Literal() | Variable() | Hole():
                self._term(expression)
            case _:
                assert_never(expression)


class _StandardWriter(_Writer):
    """Writes SPARQL 1.1: a LATERAL whose right side does not depend on the left is a join."""

    def _lateral(self, right: Pattern, depth: int) -> None:
        self._open(right, depth)

    def _anti_join(self, pattern: algebra.AntiJoin, depth: int) -> None:
        right = pattern.right
        self._open(pattern.left, depth)
        if isinstance(right, algebra.AntiJoin) and right.left == algebra.UNIT:
            self._braced("FILTER EXISTS", right.right, depth)
        else:
            self._braced("FILTER NOT EXISTS", right, depth)


def _writer(prefixes: Mapping[str, str], abilities: Abilities) -> _Writer:
    return (_Writer if abilities.lookups else _StandardWriter)(prefixes)


Written: TypeAlias = (
    Triple
    | Quad
    | tuple[NamedNode, NamedNode, NamedNode | Literal | Triple]
    | tuple[NamedNode, NamedNode, Literal | NamedNode, NamedNode]
)


def render_update(removed: Iterable[Written], added: Iterable[Written]) -> str:
    """One atomic update; quads with a graph name go to their graphs."""
    steps = (("DELETE DATA", removed), ("INSERT DATA", added))
    return ";\n".join(f"{verb} {{\n{data(statements)}}}" for verb, statements in steps)


def data(statements: Iterable[Written]) -> str:
    """Statements on one subject that follow each other name it once; there is less to parse."""
    pieces: list[str] = []
    named: dict[NamedNode, list[str]] = {}
    last: object = None
    for statement in statements:
        subject, predicate, object_, *graph = statement
        # Without !s the format takes longer.
        value = f"<<( {object_!s} )>>" if type(object_) is Triple else str(object_)
        if graph and isinstance(graph[0], NamedNode):
            named.setdefault(graph[0], []).append(f"{subject!s} {predicate!s} {value} .\n")
        elif subject is last or subject == last:
            pieces.append(f" ;\n  {predicate!s} {value}")
        else:
            start = " .\n" if pieces else ""
            pieces.append(f"{start}{subject!s} {predicate!s} {value}")
            last = subject
    if pieces:
        pieces.append(" .\n")
    graphs = (f"GRAPH {graph} {{\n{''.join(lines)}}}\n" for graph, lines in named.items())
    return "".join([*pieces, *graphs])
