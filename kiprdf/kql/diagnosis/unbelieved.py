"""What matches a FIND that asks for what is believed, and is not."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import count
from typing import Any

from pyoxigraph import NamedNode

from kiprdf.errors import KipWarning
from kiprdf.kql.beliefs import END, View, plain
from kiprdf.kql.entailment import STATED, Sight, closure, rules_of
from kiprdf.kql.find import rows
from kiprdf.kql.plan import plan_bindings
from kiprdf.language import ast
from kiprdf.semantics import scope
from kiprdf.store import Store
from kiprdf.trees import walk

READ = 1_000
"""The most solutions that are read."""
SHOWN = 3
"""Ids in a hint."""


def explain_unbelieved(find: ast.Find, view: View, store: Store) -> KipWarning | None:
    """The elements that match a FIND and are not believed, by the reason; None where none do."""
    where = _Naming(find.where).block(find.where)
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


class _Naming:
    """Gives each element of the clauses that bind solutions a variable."""

    def __init__(self, where: ast.Block) -> None:
        taken = {part.name for part in walk(where) if isinstance(part, ast.Variable)}
        self._names = (name for n in count(1) if (name := f"unnamed_{n}") not in taken)

    def block(self, block: ast.Block) -> ast.Block:
        clauses: list[ast.Clause] = []
        for clause in block.clauses:
            if isinstance(clause, ast.ConceptClause | ast.PropositionClause):
                clauses.append(self._named(clause))
            elif isinstance(clause, ast.Union):
                clauses.append(replace(clause, block=self.block(clause.block)))
            else:
                clauses.append(clause)
        return replace(block, clauses=tuple(clauses))

    def _named(self, clause: Any) -> Any:
        """A concept or proposition clause, with those that are its ends."""
        matcher = clause.matcher
        if isinstance(matcher, ast.PropositionMatcher):
            ends = (matcher.subject, matcher.object)
            subject, object_ = (
                end if isinstance(end, ast.Variable) else self._named(end) for end in ends
            )
            matcher = replace(matcher, subject=subject, object=object_)
        variable = clause.variable or ast.Variable(next(self._names))
        return replace(clause, variable=variable, matcher=matcher)
