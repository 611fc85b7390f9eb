"""Finds the elements updated last, for ``ORDER BY ?x.metadata._updated_at DESC LIMIT n``.

The store lists elements by their time (docs/decisions/048). Each is looked up as if the command
named it, until the rows fill the page. A search that grows too large ends, and all rows are read
and sorted.
"""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class NewestPlan:
    """The newest rows of a WHERE.

    The first slot of ``lookup`` is the element, ``kind`` the triple that narrows what it can be.
    ``shown`` are the cells of the projected variables, ``needed`` the number of rows that differ
    in them. Where ``is_ordered``, elements of one time are in the order of the rows.
    """

    lookup: LookupPlan
    kind: TriplePattern | None
    shown: tuple[int, ...]
    needed: int
    is_ordered: bool

    def rows(self, store: Store, bindings: Bindings) -> list[Row] | None:
        """Rows that surely sort before all others, and enough of them; None where it is unsure."""
        start, end = self.lookup.filled(bindings), self._end(store.iris)
        reads = Reads(store, MOST_READS)
        rows: list[Row] = []
        different: set[Row] = set()
        previous = None
        try:
            for time, iris in store.newest(self._ranges(store.iris, bindings)):
                if time != previous and len(different) >= self.needed:
                    return rows
                previous = time
                reads.count(1)
                for iri in iris:
                    reads.count(1)
                    if not iri.endswith(end):
                        continue
                    _, *others = start
                    for _, row in self.lookup.solve([NamedNode(iri), *others], reads):
                        rows.append(row)
                        different.add(tuple([row[cell] for cell in self.shown]))
                    if self.is_ordered and len(different) >= self.needed:
                        return rows
        except Fallback:
            return None
        # Elements without a time may follow.
        return None

    def _end(self, iris: Iris) -> str:
        """What the IRI of the element ends with: that of a link ends with its predicate."""
        fact = None if self.kind is None else self.kind.object
        predicate = fact.predicate if isinstance(fact, TripleTerm) else None
        if not isinstance(predicate, NamedNode):
            return ""
        return f"/{predicate.value.removeprefix(iris.predicates)}"

    def _ranges(self, iris: Iris, bindings: Bindings) -> list[Range]:
        """The IRIs that the element can have."""
        links = (iris.propositions, iris.propositions + _LAST)
        if self.kind is None:
            return [("", _LAST)]
        if self.kind.predicate == vocab.REIFIES:
            return [links]
        term = self.kind.object
        definition = bindings[term] if isinstance(term, Hole) else term
        if not isinstance(definition, NamedNode):
            return [("", links[0]), (links[1], _LAST)]
        concepts = f"{iris.base}{definition.value.removeprefix(iris.concept_types)}/"
        return [(concepts, concepts + _LAST)]


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
    name = _ordering_element(find)
    if name is None:
        return None
    element = translation.scope[name].carrier
    group = _first_group(pattern)
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
    return NewestPlan(lookup, _kind(group, element), shown, needed, is_ordered)


def _ordering_element(find: ast.Find) -> str | None:
    """The variable whose time of update is the first key of a FIND, the last one first."""
    key = find.order_by[0]
    path = key.expression
    if not key.descending or not isinstance(path, ast.Path):
        return None
    is_time = (path.field, path.key) == ("metadata", vocab.UPDATED_AT)
    return path.variable.name if is_time else None


def _first_group(pattern: Pattern) -> Group | None:
    """The group that is evaluated first, whose solutions all others extend or drop."""
    match pattern:
        case Group(before=before):
            return pattern if before == UNIT else _first_group(before)
        case algebra.Lateral() | algebra.AntiJoin():
            return _first_group(pattern.left)
        case algebra.Filter() | algebra.Extend():
            return _first_group(pattern.pattern)
    return None


def _kind(group: Group, element: Term) -> TriplePattern | None:
    """A triple of a group that shows whether an element is a concept, of a type, or a link."""
    triples = (
        triple for part in group.parts if isinstance(part, algebra.BGP) for triple in part.triples
    )
    kinds = (vocab.TYPE, vocab.REIFIES)
    own = [t for t in triples if t.subject == element and t.predicate in kinds]
    return min(own, key=lambda triple: isinstance(triple.object, Variable), default=None)
