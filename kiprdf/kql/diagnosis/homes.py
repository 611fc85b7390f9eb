"""What a variable of a WHERE can be bound to at all, as one clause: its home.

``?d`` of ``?d {type: "Drug", name: "Aspirin"} (?d, "treats", ?s)`` has the home
``?d {type: "Drug"}``: a key that no Drug has is unknown, one that Aspirin lacks is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kiprdf.dataclasses import dataclass
from kiprdf.kql import comparisons
from kiprdf.kql.clauses import checked_text
from kiprdf.kql.find import nodes, run
from kiprdf.kql.results import variable_of
from kiprdf.kql.scopes import NAMESPACES
from kiprdf.language import ast
from kiprdf.rdf.literals import Json, to_term
from kiprdf.rdf.readings import Reading, read
from kiprdf.store import Store

READ = 500
"""How many values of a path are read, and how many elements for the keys that they have."""


@dataclass(frozen=True, slots=True)
class Home:
    """A clause that binds a variable, and what it binds in words; the lowest ``rank`` counts."""

    clause: ast.ConceptClause | ast.PropositionClause
    noun: str
    rank: int
    type: str | None = None
    is_predicate: bool = False


class Homes:
    """What the variables of a block can be bound to, and what that has: each is read once."""

    def __init__(self, block: ast.Block, store: Store) -> None:
        self.store = store
        self._homes = _homes(block)
        self._readings: dict[ast.Path | ast.Variable, list[Reading]] = {}
        self._predicates: dict[str, set[str]] = {}

    def of(self, variable: ast.Variable) -> Sequence[Home]:
        """The homes of a variable: one, and those of each UNION."""
        return self._homes.get(variable.name, ())

    def readings(self, expression: ast.Path | ast.Variable) -> list[Reading]:
        """A value of each kind, other than null, that an expression has in the homes of its
        variable."""
        readings = self._readings.get(expression)
        if readings is None:
            is_set = ast.Filter(ast.NullTest(expression, negated=True))
            values: list[Json] = []
            for home in self.of(variable_of(expression)):
                where = ast.Block((home.clause, is_set))
                find = ast.Find((expression,), where, (), ast.Scalar(READ))
                values += run(find, self.store).columns[0]
            read_values = [read(to_term(value)) for value in values]
            of_kinds = {kinds(reading): reading for reading in reversed(read_values)}
            readings = [of_kinds[each] for each in sorted(of_kinds)]
            self._readings[expression] = readings
        return readings

    def keys(self, path: ast.Path) -> set[str]:
        """The keys of attributes, or of metadata, in the homes of a variable."""
        name = path.variable.name
        if name not in self._predicates:
            wheres = [ast.Block((home.clause,)) for home in self.of(path.variable)]
            named = {n for where in wheres for n in nodes(path.variable, where, self.store, READ)}
            triples = (triple for node in named for triple in self.store.describe(node))
            self._predicates[name] = {triple.predicate.value for triple in triples}
        namespace = NAMESPACES[path.field]
        used = self._predicates[name]
        return {iri[len(namespace) :] for iri in used if iri.startswith(namespace)}


def kinds(reading: Reading) -> tuple[str, ...]:
    """The kind of a value, or those of the items of an array."""
    each = map(comparisons.kind, reading if isinstance(reading, list) else [reading])
    return (type(reading).__name__, *sorted(set(each)))


def _homes(block: ast.Block) -> dict[str, list[Home]]:
    """The homes of the variables of a block: one for each, and those of each UNION."""
    nearest: dict[str, list[Home]] = {}
    for clause in block.clauses:
        match clause:
            case ast.ConceptClause() | ast.PropositionClause():
                for name, home in _homes_in(clause):
                    if name not in nearest or home.rank < min(h.rank for h in nearest[name]):
                        nearest[name] = [home]
            case ast.Optional():
                for name, inner in _homes(clause.block).items():
                    nearest.setdefault(name, inner)
            case ast.Union():
                for name, inner in _homes(clause.block).items():
                    nearest[name] = [*nearest.get(name, ()), *inner]
    return nearest


def _homes_in(clause: ast.Endpoint) -> Iterator[tuple[str, Home]]:
    match clause:
        case ast.ConceptClause(variable=ast.Variable() as variable, matcher=matcher):
            if isinstance(matcher.type, ast.Scalar):
                typed = ast.ConceptClause(variable, ast.ConceptMatcher(type=matcher.type))
                type_name = checked_text(matcher.type)
                yield variable.name, Home(typed, type_name, 0, type_name)
            else:
                yield variable.name, Home(clause, "such concept", 2)
        case ast.PropositionClause(variable=variable, matcher=ast.PropositionMatcher() as matcher):
            yield from _homes_of_fact(variable, matcher)
            yield from _homes_in(matcher.subject)
            yield from _homes_in(matcher.object)
        case ast.PropositionClause(variable=ast.Variable() as variable):
            yield variable.name, Home(clause, "such proposition", 1)


def _homes_of_fact(
    variable: ast.Variable | None, matcher: ast.PropositionMatcher
) -> Iterator[tuple[str, Home]]:
    predicate = matcher.predicate
    if isinstance(predicate, ast.Variable):
        noun = "proposition"
        ends = ast.Variable(f"{predicate.name}_subject"), ast.Variable(f"{predicate.name}_object")
        fact = ast.PropositionMatcher(ends[0], predicate, ends[1])
        clause = ast.PropositionClause(None, fact)
        yield predicate.name, Home(clause, "predicate", 0, is_predicate=True)
    elif any(name.hops for name in predicate.alternatives):
        return  # the ends of hops need no fact
    else:
        noun = " or ".join(f'"{name.name}" proposition' for name in predicate.alternatives)
    named = {"link": variable, "subject": matcher.subject, "object": matcher.object}
    for role, node in named.items():
        if isinstance(node, ast.Variable):
            other = ast.Variable(f"{node.name}_other"), ast.Variable(f"{node.name}_another")
            subject = node if role == "subject" else other[0]
            object_ = node if role == "object" else other[1]
            fact = ast.PropositionMatcher(subject, predicate, object_)
            clause = ast.PropositionClause(node if role == "link" else None, fact)
            words = noun if role == "link" else f"{role} of a {noun}"
            yield node.name, Home(clause, words, 1 if role == "link" else 2)
