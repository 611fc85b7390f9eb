"""Which clause of a WHERE left no solution: its beginnings are evaluated one by one."""

from __future__ import annotations

import bisect
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TypeAlias

from kiprdf.budget import spend_half
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError, shown
from kiprdf.kql.clauses import checked_text
from kiprdf.kql.entailment import closure, entailed, rules_of
from kiprdf.kql.find import count_solutions, run
from kiprdf.kql.identities import TURNED
from kiprdf.kql.results import variable_of
from kiprdf.language import ast
from kiprdf.language.printer import condition_text, endpoint_text, expression_text
from kiprdf.semantics import scope
from kiprdf.source import Span
from kiprdf.store import Store
from kiprdf.trees import walk

MOST_CHARACTERS = 100
"""Of the text of one clause."""
EXAMPLES = 3
"""How many values a hint shows."""
READ = 100
"""How many rows are read for them."""
UNLIMITED = 2**53

Within: TypeAlias = Callable[[ast.Block], ast.Block]
"""A WHERE with as many solutions as the beginning of an inner block has matches."""


@dataclass(frozen=True, slots=True)
class Step:
    """A clause, its text and place, and the solutions after it; ``depth`` counts the blocks.

    Inside OPTIONAL and NOT, the solutions are those before the block that match it so far; inside
    UNION they are those of its block.
    """

    text: str
    position: tuple[int, int]
    solutions: int
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Removal:
    """A clause after which no solution is left, and those before it."""

    clause: ast.Clause
    before: tuple[ast.Clause, ...]
    within: Within

    def where(self, *clauses: ast.Clause) -> ast.Block:
        """A WHERE of what comes before the clause, and other clauses in its place."""
        return self.within(ast.Block((*self.before, *clauses)))


def split(block: ast.Block) -> ast.Block:
    """A block in which each condition of ``FILTER(… && …)`` is a FILTER."""
    clauses: list[ast.Clause] = []
    for clause in block.clauses:
        if isinstance(clause, ast.Filter) and isinstance(clause.condition, ast.Conjunction):
            clauses += [ast.Filter(c, span=c.span) for c in clause.condition.operands]
        else:
            clauses.append(clause)
    return replace(block, clauses=tuple(clauses))


def inside(clause: ast.Clause, before: tuple[ast.Clause, ...], within: Within) -> Within:
    """How a block inside a clause is evaluated.

    OPTIONAL and NOT see what comes before: a solution matches their block when a NOT in a NOT
    keeps it. UNION sees nothing of it.
    """
    if isinstance(clause, ast.Union):
        return lambda block: within(ast.Block((ast.Union(block),)))
    return lambda block: within(ast.Block((*before, ast.Not(ast.Block((ast.Not(block),))))))


def whole(block: ast.Block) -> ast.Block:
    """The WHERE itself, which is within nothing."""
    return block


def steps(
    block: ast.Block, within: Within, store: Store, locate: Callable[[Span], tuple[int, int]]
) -> Iterator[Step]:
    """Every clause of a block with the solutions after it, those inside it after the clause."""
    return _steps(block, within, store, locate, 0)


def _steps(
    block: ast.Block,
    within: Within,
    store: Store,
    locate: Callable[[Span], tuple[int, int]],
    depth: int,
) -> Iterator[Step]:
    clauses = split(block).clauses
    for number, clause in enumerate(clauses, 1):
        solutions = count_solutions(within(ast.Block(clauses[:number])), store, UNLIMITED)
        yield Step(clause_text(clause), locate(clause.span), solutions, depth)
        if isinstance(clause, ast.Not | ast.Optional | ast.Union):
            inner = inside(clause, clauses[: number - 1], within)
            yield from _steps(clause.block, inner, store, locate, depth + 1)


def removals(
    block: ast.Block, within: Within, store: Store, *, is_empty: bool = False
) -> Iterator[Removal]:
    """The clauses after which a block has no solution: none where it has some, two where both
    sides of a UNION have none. ``is_empty``: the block is known to have no solution.
    """
    clauses = split(block).clauses

    def is_barren(number: int) -> bool:
        return not count_solutions(within(ast.Block(clauses[:number])), store, 1)

    unions = [n for n, clause in enumerate(clauses, 1) if isinstance(clause, ast.Union)]
    first = unions[-1] if unions else 0
    if unions and ((is_empty and first == len(clauses)) or is_barren(first)):
        before, union = clauses[: first - 1], clauses[first - 1]
        assert isinstance(union, ast.Union)
        yield from removals(ast.Block(before), within, store, is_empty=True)
        yield from removals(union.block, inside(union, before, within), store, is_empty=True)
        return
    # Without a UNION, solutions only become fewer; the last number need not be evaluated.
    numbers = range(first + 1, len(clauses) + (0 if is_empty else 1))
    number = first + 1 + bisect.bisect_left(numbers, True, key=is_barren)
    if number <= len(clauses):
        yield Removal(clauses[number - 1], clauses[: number - 1], within)


def clause_text(clause: ast.Clause) -> str:
    """A clause on one line, cut if it is long; of a block only its keyword."""
    match clause:
        case ast.Filter():
            text = f"FILTER({condition_text(clause.condition)})"
        case ast.Not() | ast.Optional() | ast.Union():
            text = f"{type(clause).__name__.upper()} {{…}}"
        case _:
            text = endpoint_text(clause)
    return shown(text, MOST_CHARACTERS)


def message(removal: Removal, *, is_inside: bool = False) -> str:
    """What a clause did to the solutions before it, or to those around its block."""
    clause, text = removal.clause, clause_text(removal.clause)
    if isinstance(clause, ast.Filter):
        return f"{text} is true for none of the solutions before it."
    if isinstance(clause, ast.Not):
        return f"{text} removes all solutions before it."
    if removal.before or is_inside:
        return f"{text} matches none of the solutions before it."
    return f"{text} matches nothing."


def hint(removal: Removal, store: Store) -> str | None:
    """The values that a FILTER has read, or a proposition that exists the other way round."""
    clause = removal.clause
    if isinstance(clause, ast.Filter):
        shown_values = (_values(operand, removal, store) for operand in _read(clause.condition))
        return " ".join(filter(None, shown_values)) or None
    if isinstance(clause, ast.PropositionClause):
        turned = _turned(clause)
        if turned is None or turned in removal.before:
            return None
        if count_solutions(removal.where(turned), store, 1):
            return f"{TURNED}{endpoint_text(turned)}"
    return None


def _read(condition: ast.Condition) -> list[ast.Path | ast.Variable]:
    operands = scope.operands(condition)
    return list(dict.fromkeys(o for o in operands if isinstance(o, ast.Path | ast.Variable)))


def _values(operand: ast.Path | ast.Variable, removal: Removal, store: Store) -> str | None:
    """Some values of an operand in the solutions before a FILTER; None for elements."""
    where = removal.where()
    if variable_of(operand).name not in scope.exported(where):
        return None  # inside OPTIONAL and NOT
    (column,) = run(ast.Find((operand,), where, (), ast.Scalar(READ)), store).columns
    if isinstance(operand, ast.Variable) and any(isinstance(value, dict) for value in column):
        return None
    texts = {shown(json.dumps(value, ensure_ascii=False)) for value in column}
    if texts == {"null"}:
        return f"Before it, {expression_text(operand)} is always null."
    examples = ", ".join(sorted(texts, key=lambda text: (len(text), text))[:EXAMPLES])
    more = ", …" if len(texts) > EXAMPLES else ""
    return f"Before it, {expression_text(operand)} is {examples}{more}."


def follows(removal: Removal, store: Store) -> bool:
    """Whether a pattern that matches nothing would match by the rules of the definitions."""
    rules = closure(store)
    if rules is None or rules_of(store) is not None:
        return False
    types: list[ast.Value | None] = []
    predicates: list[ast.Value] = []
    for part in walk(removal.clause):
        if isinstance(part, ast.ConceptMatcher):
            types.append(part.type)
        elif isinstance(part, ast.Predicates):
            predicates += [one.value for one in part.alternatives]
    iris = store.iris
    has_rule = any(len(rules.types(iris.type(checked_text(t)))) > 1 for t in types if t) or any(
        rules.path(iris.predicate(checked_text(p))) is not None for p in predicates
    )
    if has_rule:
        where, seen = removal.where(removal.clause), entailed(store, True)
        with suppress(KipError):  # the reason itself has time left
            return spend_half(lambda: count_solutions(where, seen, 1)) > 0
    return False


def _turned(clause: ast.PropositionClause) -> ast.PropositionClause | None:
    matcher = clause.matcher
    if isinstance(matcher, ast.PropositionId):
        return None
    return replace(clause, matcher=replace(matcher, subject=matcher.object, object=matcher.subject))
