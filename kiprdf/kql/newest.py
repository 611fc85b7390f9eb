"""Finds the elements updated last, for ``ORDER BY ?x.metadata._updated_at DESC LIMIT n``.

The store lists elements by their time (docs/decisions/048). Each is looked up as if the command
named it, until the rows fill the page. A search that grows too large ends, and all rows are read
and sorted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from pyoxigraph import NamedNode, Variable

from kiprdf.kql import results
from kiprdf.kql.lookup import Fallback, LookupPlan, Reads, plan_lookup
from kiprdf.kql.results import Cells
from kiprdf.kql.translate import Translation
from kiprdf.language import ast
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.sparql import algebra
from kiprdf.sparql.algebra import (
    UNIT,
    Bindings,
    Group,
    Hole,
    Pattern,
    Term,
    TriplePattern,
    TripleTerm,
    certain_variables,
)
from kiprdf.store import Store
from kiprdf.store.base import Row
from kiprdf.store.update_times import Range

MOST_READS = 10_000
"""Elements, triples and reads until the page is full, some 20 ms; sorting all rows takes 20 µs a
row."""
_LAST = "\U0010ffff"


InOrder: TypeAlias = Iterable[tuple[object, bool, list[str]]]
"""Values in their order, whether elements that have one are tied, and their IRIs, sorted."""


@dataclass(frozen=True, slots=True)
class Page:
    """The first rows of a WHERE whose order begins with a value of an element.

    The first slot of ``lookup`` is the element, ``kind`` the triple that narrows what it can be.
    ``shown`` are the cells of the projected variables, ``needed`` the number of rows that differ
    in them. Where ``is_ordered``, elements of one value are in the order of the rows.
    """

    lookup: LookupPlan
    kind: TriplePattern | None
    shown: tuple[int, ...]
    needed: int
    is_ordered: bool

    def fill(
        self,
        walk: InOrder,
        store: Store,
        bindings: Bindings,
        most_reads: int,
        *,
        is_all: bool = False,
    ) -> list[Row] | None:
        """Rows that surely sort before all others, and enough of them; None where it is unsure.

        With ``is_all`` no other elements can have rows.
        """
        _, *others = self.lookup.filled(bindings)
        _, end = span(self.kind, store.iris, bindings)
        reads = Reads(store, most_reads)
        rows: list[Row] = []
        different: set[Row] = set()
        previous = None
        try:
            for value, is_tied, iris in walk:
                if value != previous and len(different) >= self.needed:
                    return rows
                previous = value
                reads.count(1)
                for iri in iris:
                    reads.count(1)
                    if not iri.endswith(end):
                        continue
                    for _, row in self.lookup.solve([[NamedNode(iri), *others]], reads).values():
                        rows.append(row)
                        different.add(tuple([row[cell] for cell in self.shown]))
                    if self.is_ordered and is_tied and len(different) >= self.needed:
                        return rows
        except Fallback:
            return None
        # Elements without a value may follow.
        return rows if is_all else None


@dataclass(frozen=True, slots=True)
class NewestPlan:
    """The newest rows of a WHERE."""

    page: Page

    def rows(self, store: Store, bindings: Bindings) -> list[Row] | None:
        """Rows that surely sort before all others, and enough of them; None where it is unsure."""
        newest = store.newest(self._ranges(store.iris, bindings))
        walk = ((time, True, iris) for time, iris in newest)
        return self.page.fill(walk, store, bindings, MOST_READS)

    def _ranges(self, iris: Iris, bindings: Bindings) -> list[Range]:
        """The IRIs that the element can have."""
        links = (iris.propositions, iris.propositions + _LAST)
        start, _ = span(self.page.kind, iris, bindings)
        if start or self.page.kind is None:
            return [(start, start + _LAST)]
        return [("", links[0]), (links[1], _LAST)]


def span(kind: TriplePattern | None, iris: Iris, bindings: Bindings) -> tuple[str, str]:
    """What the IRI of an element of a kind begins and ends with, as far as that is known."""
    if kind is None:
        return "", ""
    if kind.predicate == vocab.REIFIES:
        fact = kind.object
        predicate = fact.predicate if isinstance(fact, TripleTerm) else None
        if not isinstance(predicate, NamedNode):
            return iris.propositions, ""
        return iris.propositions, f"/{predicate.value.removeprefix(iris.predicates)}"
    term = kind.object
    definition = bindings[term] if isinstance(term, Hole) else term
    if not isinstance(definition, NamedNode):
        return "", ""
    return f"{iris.base}{definition.value.removeprefix(iris.concept_types)}/", ""


def plan_newest(
    find: ast.Find,
    translation: Translation,
    pattern: Pattern,
    columns: tuple[Variable, ...],
    cells: Cells,
    needed: int,
    iris: Iris,
) -> NewestPlan | None:
    """The plan of a FIND for ``needed`` rows; None where it must sort all of them."""
    key = find.order_by[0]
    path = results.path_of(key.expression)
    if path is None or path[1:] != ("metadata", vocab.UPDATED_AT) or not key.descending:
        return None
    page = plan_page(find, translation, pattern, columns, cells, needed, iris)
    return None if page is None else NewestPlan(page)


def plan_page(
    find: ast.Find,
    translation: Translation,
    pattern: Pattern,
    columns: tuple[Variable, ...],
    cells: Cells,
    needed: int,
    iris: Iris,
) -> Page | None:
    """The first rows of a FIND by the element of its first key; None where they are not looked up.

    Its value is one of the element.
    """
    name = results.variable_of(find.order_by[0].expression).name
    element = translation.scope[name].carrier
    group = first_group(pattern)
    # Only here may the element be bound before everything else.
    if group is None or element not in certain_variables(group):
        return None
    names = list(dict.fromkeys(results.variable_of(e).name for e in find.expressions))
    lookup = plan_lookup(
        pattern,
        columns,
        [translation.scope[name].carrier for name in cells.names],
        (),
        translation.values,
        iris,
        given=(element,),
    )
    if lookup is None:
        return None
    is_ordered = len(find.order_by) == 1 and names[0] == name
    shown = tuple(cells.names[name] for name in names)
    return Page(lookup, kind_of(group, element), shown, needed, is_ordered)


def first_group(pattern: Pattern) -> Group | None:
    """The group that is evaluated first, whose solutions all others extend or drop."""
    match pattern:
        case Group(before=before):
            return pattern if before == UNIT else first_group(before)
        case algebra.Lateral() | algebra.AntiJoin():
            return first_group(pattern.left)
        case algebra.Filter() | algebra.Extend():
            return first_group(pattern.pattern)
    return None


def kind_of(group: Group, element: Term) -> TriplePattern | None:
    """A triple of a group that shows whether an element is a concept, of a type, or a link."""
    triples = (
        triple for part in group.parts if isinstance(part, algebra.BGP) for triple in part.triples
    )
    kinds = (vocab.TYPE, vocab.REIFIES)
    own = [t for t in triples if t.subject == element and t.predicate in kinds]
    return min(own, key=lambda triple: isinstance(triple.object, Variable), default=None)
