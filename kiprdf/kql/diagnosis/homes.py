"""What a variable of a WHERE can be bound to at all, as one clause: its home.

``?d`` of ``?d {type: "Drug", name: "Aspirin"} (?d, "treats", ?s)`` has the home
``?d {type: "Drug"}``: a key that no Drug has is unknown, one that Aspirin lacks is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kiprdf.kql.clauses import checked_text
from kiprdf.kql.find import nodes, run
from kiprdf.kql.optimize.push_filters import NAMESPACES
from kiprdf.language import ast
from kiprdf.rdf.literals import Json
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


Homes: TypeAlias = Mapping[str, Sequence[Home]]


def homes(block: ast.Block) -> dict[str, list[Home]]:
    """The homes of the variables of a block: one for each, and those of each UNION."""
    nearest: dict[str, list[Home]] = {}
    for clause in block.clauses:
        match clause:
            case ast.ConceptClause() | ast.PropositionClause():
                for name, home in _homes_in(clause):
                    if name not in nearest or home.rank < min(h.rank for h in nearest[name]):
                        nearest[name] = [home]
            case ast.Optional():
                for name, inner in homes(clause.block).items():
                    nearest.setdefault(name, inner)
            case ast.Union():
                for name, inner in homes(clause.block).items():
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


def values_of(expression: ast.Path | ast.Variable, of: Sequence[Home], store: Store) -> list[Json]:
    """Values, other than null, that an expression has in the homes of its variable."""
    values: list[Json] = []
    is_set = ast.Filter(ast.NullTest(expression, negated=True))
    for home in of:
        where = ast.Block((home.clause, is_set))
        find = ast.Find((expression,), where, (), ast.Scalar(READ))
        values += run(find, store).columns[0]
    return values


def keys(path: ast.Path, of: Sequence[Home], store: Store) -> set[str]:
    """The keys of attributes, or of metadata, in the homes of a variable."""
    namespace = NAMESPACES[path.field]
    used_keys: set[str] = set()
    for home in of:
        for node in nodes(path.variable, ast.Block((home.clause,)), store, READ):
            predicates = (triple.predicate.value for triple in store.describe(node))
            used_keys.update(p[len(namespace) :] for p in predicates if p.startswith(namespace))
    return used_keys
