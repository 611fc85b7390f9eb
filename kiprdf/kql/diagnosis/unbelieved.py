"""What matches a FIND that asks for what is believed, and is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from pyoxigraph import NamedNode

from kiprdf.errors import KipWarning
from kiprdf.kql.beliefs import END, View, plain
from kiprdf.kql.entailment import STATED, Sight, closure, rules_of
from kiprdf.kql.find import rows
from kiprdf.kql.plan import plan_bindings
from kiprdf.language import ast
from kiprdf.semantics import scope
from kiprdf.store import Store

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
