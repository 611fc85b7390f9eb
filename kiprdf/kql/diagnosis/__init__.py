"""Why an answer is empty (docs/decisions/053), asked in KQL.

``clauses`` evaluates the beginnings of a WHERE, ``homes`` says what a variable can be bound to,
``conditions`` and ``names`` compare that with what the command asks for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from pyoxigraph import NamedNode

from kiprdf.errors import KipWarning
from kiprdf.kql.beliefs import END, View, plain, view_of
from kiprdf.kql.clauses import checked_text
from kiprdf.kql.diagnosis import clauses, conditions, names
from kiprdf.kql.diagnosis.clauses import Step, Within
from kiprdf.kql.diagnosis.homes import Homes
from kiprdf.kql.entailment import STATED, Sight, closure, rules_of
from kiprdf.kql.find import count_solutions, nodes, rows, run
from kiprdf.kql.plan import plan_bindings
from kiprdf.kql.results import Lack, is_nothing, key_of, variable_of
from kiprdf.language import ast
from kiprdf.semantics import scope
from kiprdf.source import Span, position
from kiprdf.store import Store

Question: TypeAlias = ast.Find | ast.Export | ast.Update | ast.MergeConcept | ast.Delete
"""A command with a WHERE."""
FOLLOWS = 'With "entail": true it matches what follows from the definitions.'
"""The hint of a pattern that matches only by their rules."""
__all__ = ["Question", "Step", "explain", "steps"]


def steps(command: Question, source: str, store: Store) -> list[Step]:
    """The clauses of a checked command with the solutions after each of them."""

    def locate(span: Span) -> tuple[int, int]:
        return position(source, span.start)

    return list(clauses.steps(command.where, clauses.whole, store, locate))


def explain(
    command: Question, source: str | None, store: Store, lacks: Lack | None = None
) -> Iterator[KipWarning]:
    """The reasons for an empty answer to a checked command, each once, cheap ones first.

    ``lacks`` is what was seen to be missing in the answer. A SUM of 0 may still be one of numbers.
    """
    view = view_of(store)
    if isinstance(command, ast.Find) and view is not None and view.hidden:
        is_empty = lacks == "rows" or not (lacks or count_solutions(command.where, store, 1))
        warning = explain_unbelieved(command, view, store) if is_empty else None
        if warning is not None:
            yield replace(warning, source=source)
            return
    is_listed = False
    if isinstance(command, ast.Find) and lacks == "rows":
        if not _is_surely_nothing(command, store):
            return
        is_listed = not _only_aggregates(command)
    if isinstance(command, ast.Find) and lacks == "keys":
        explained = _explain_keys(command, store)
    else:
        explained = _explain(command, is_listed, store)
    seen: set[object] = set()
    for warning in explained:
        # Two clauses may have the same text; a key is unknown in all places.
        reason = warning if warning.name == "NoSolution" else warning.message
        if reason not in seen:
            seen.add(reason)
            yield replace(warning, source=source)


def _explain(command: Question, is_empty: bool, store: Store) -> Iterator[KipWarning]:
    homes = Homes(command.where, store)
    taken = names.taken(command.where) if isinstance(command, ast.MergeConcept) else ()
    for matcher in names.matchers(command.where):
        type_name = None if matcher.type is None else checked_text(matcher.type)
        yield from names.explain_name(matcher.name, type_name, store, taken)
    for test in conditions.positive_tests(command.where):
        yield from conditions.explain_test(test, homes)
    removals = list(clauses.removals(command.where, clauses.whole, store, is_empty=is_empty))
    for removal in removals:
        message = clauses.message(removal)
        hint = clauses.hint(removal, store)
        if hint is None and isinstance(command, ast.Find) and clauses.follows(removal, store):
            hint = FOLLOWS
        yield KipWarning("NoSolution", message, hint, removal.clause.span)
        mentioned = _mentioned(removal.clause)
        yield from _explain_nulls(removal.before, mentioned, removal.within, store)
    if not removals:
        yield from _explain_targets(command, homes)


def _explain_nulls(
    before: tuple[ast.Clause, ...], mentioned: set[str], within: Within, store: Store
) -> Iterator[KipWarning]:
    """The clauses because of which an OPTIONAL never binds a variable that is mentioned later."""
    for number, clause in enumerate(before):
        if isinstance(clause, ast.Optional) and mentioned & set(scope.exported(clause.block)):
            inner = clauses.inside(clause, before[:number], within)
            for removal in clauses.removals(clause.block, inner, store):
                message = f"OPTIONAL never matches: {clauses.message(removal, is_inside=True)}"
                hint = clauses.hint(removal, store)
                yield KipWarning("NoSolution", message, hint, removal.clause.span)


def _mentioned(clause: ast.Clause) -> set[str]:
    """The variables of a clause that must not be null for it."""
    if isinstance(clause, ast.Filter):
        operands = scope.operands(clause.condition)
        return {variable_of(o).name for o in operands if isinstance(o, ast.Path | ast.Variable)}
    if isinstance(clause, ast.ConceptClause | ast.PropositionClause):
        return {variable.name for variable, _ in scope.mentions(clause)}
    return set()


# Where the WHERE has solutions --------------------------------------------------------------------


def _only_aggregates(find: ast.Find) -> bool:
    return all(isinstance(expression, ast.Aggregate) for expression in find.expressions)


def _is_surely_nothing(find: ast.Find, store: Store) -> bool:
    """Whether a SUM of 0 is one of no numbers, for which AVG would be null."""
    sums = [e for e in find.expressions if isinstance(e, ast.Aggregate) and e.function == "SUM"]
    if not sums or not _only_aggregates(find):
        return True
    averages = replace(
        find, expressions=tuple(replace(e, function="AVG") for e in sums), order_by=(), limit=None
    )
    return is_nothing(averages, run(averages, store).columns)


def _explain_targets(command: Question, homes: Homes) -> Iterator[KipWarning]:
    """Why the solutions have nothing that the command counts, deletes or changes."""
    match command:
        case ast.Find():
            for expression in command.expressions:
                yield from _explain_expression(expression, command, homes)
        case ast.DeleteAttributes() | ast.DeleteMetadata():
            is_attribute = isinstance(command, ast.DeleteAttributes)
            for key in command.keys:
                path = ast.Path(
                    command.target,
                    "attributes" if is_attribute else "metadata",
                    key.name,
                    span=key.span,
                )
                yield from conditions.explain_key(path, homes)
        case ast.MergeConcept():
            pass
        case _:
            yield from _explain_target(command, homes.store)


def _explain_target(
    command: ast.Export | ast.Update | ast.DeleteConcept | ast.DeletePropositions, store: Store
) -> Iterator[KipWarning]:
    """A target that is null, or an element of the other kind, in all solutions."""
    target = command.target
    bound = nodes(target, command.where, store)
    are_links = [node.value.startswith(store.iris.propositions) for node in bound]
    what, is_bound = "an element", bool(bound)
    if isinstance(command, ast.DeleteConcept):
        what, is_bound = "a concept", not all(are_links)
    elif isinstance(command, ast.DeletePropositions):
        what, is_bound = "a proposition", any(are_links)
    if not is_bound:
        message = f"No solution binds ?{target.name} to {what}."
        yield KipWarning("NoTarget", message, None, target.span)
        yield from _explain_nulls(command.where.clauses, {target.name}, clauses.whole, store)


def _explain_expression(
    expression: ast.Expression, find: ast.Find, homes: Homes
) -> Iterator[KipWarning]:
    argument = expression.argument if isinstance(expression, ast.Aggregate) else expression
    name = variable_of(argument).name
    yield from _explain_nulls(find.where.clauses, {name}, clauses.whole, homes.store)
    if isinstance(argument, ast.Path):
        yield from conditions.explain_key(argument, homes)
    if isinstance(expression, ast.Aggregate) and expression.function in ("SUM", "AVG"):
        yield from conditions.explain_numbers(expression, homes)


def _explain_keys(find: ast.Find, store: Store) -> Iterator[KipWarning]:
    """The keys that a FIND counts or sorts by and nothing has."""
    homes = Homes(find.where, store)
    aggregates = (e for e in find.expressions if isinstance(e, ast.Aggregate))
    for expression in (*aggregates, *(key.expression for key in find.order_by)):
        path = expression.argument if isinstance(expression, ast.Aggregate) else expression
        key = key_of(expression)
        if isinstance(path, ast.Path) and key and not store.lookup(None, key, None, 1):
            yield from conditions.explain_key(path, homes)


# What is not believed -----------------------------------------------------------------------------


READ = 1_000
"""The most solutions that are read."""
SHOWN = 3
"""Ids in a hint."""


def explain_unbelieved(find: ast.Find, view: View, store: Store) -> KipWarning | None:
    """The elements that match a FIND and are not believed, by the reason; None where none do."""
    where = _named(find.where, scope.fresh_names(find.where, "unnamed"))
    names = map(ast.Variable, scope.exported(where))
    sight = STATED if rules_of(store) is None else Sight(rules=closure(plain(store)))
    plan = plan_bindings(names, where, store.iris, store.abilities, sight)
    selected = rows(replace(plan, limit=READ), plain(store))
    if not selected:
        return None
    nodes = dict.fromkeys(cell for row in selected for cell in row if isinstance(cell, NamedNode))
    reasons = {node: view.reasons[node] for node in nodes if node in view.reasons}
    own = {node: reason for node, reason in reasons.items() if reason != END} or reasons
    message = "It is there, but not believed: the hops that it matches lead over such elements."
    ids = [store.iris.id(node) for node in own]
    if own:
        counts = ", ".join(f"{n} {reason}" for reason, n in Counter(own.values()).items())
        least = "" if len(selected) < READ else "at least "
        message = f"It is there, but not believed: {least}{counts}."
    some = f", such as {', '.join(ids[:SHOWN])}" if ids else ""
    hint = f"Without the view it also reads what is not believed{some}."
    return KipWarning("NotBelieved", message, hint, find.where.span)


def _named(block: ast.Block, names: Iterator[str]) -> ast.Block:
    """A block in which each element of the clauses that bind solutions has a variable."""
    clauses = (
        replace(clause, block=_named(clause.block, names))
        if isinstance(clause, ast.Union)
        else scope.named(clause, names, ranges=True)
        for clause in block.clauses
    )
    return replace(block, clauses=tuple(clauses))
