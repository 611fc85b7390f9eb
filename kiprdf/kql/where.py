"""A compiled WHERE: the pattern that the store is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from pyoxigraph import NamedNode, Variable

from kiprdf.dataclasses import dataclass
from kiprdf.kql.evaluate.steps import LookupPlan, plan_lookup
from kiprdf.kql.optimize import optimize
from kiprdf.kql.optimize.cardinality import (
    is_anchored,
    is_contradictory,
    is_linear,
    named_elements,
    products,
)
from kiprdf.kql.optimize.implied_patterns import Choice, choices, implied_patterns
from kiprdf.kql.translate import Translation
from kiprdf.rdf.iris import Iris
from kiprdf.sparql.abilities import Abilities
from kiprdf.sparql.algebra import Condition, Count, Hole, Hops, Pattern, Term, TriplePattern
from kiprdf.store.base import Cancellation
from kiprdf.trees import walk


@dataclass(frozen=True, eq=False)
class Where:
    """A WHERE as a pattern for an engine; each form is made when it is first needed.

    Solutions are alike that are alike in ``names``. No query starts from ``unused`` triples; under
    the ``plain`` keys are only values that hold no others. ``first`` triples come before facts at
    an element that the WHERE names.
    """

    translation: Translation
    iris: Iris
    names: tuple[str, ...]
    abilities: Abilities
    unused: frozenset[TriplePattern] = frozenset()
    plain: frozenset[NamedNode] = frozenset()
    first: frozenset[TriplePattern] = frozenset()

    def carriers(self, names: Iterable[str]) -> tuple[Variable, ...]:
        """The SPARQL variables of some variables of KQL."""
        return tuple(self.translation.scope[name].carrier for name in names)

    @cached_property
    def pushed(self) -> Pattern:
        """With the values that it can start from; lookups begin here."""
        made = self.translation
        texts = self.abilities.lookups
        chosen = self.unused, self.plain, self.first
        return implied_patterns(made.pattern, made.values, self.iris, made.namer, texts, *chosen)

    def lookup(
        self,
        columns: tuple[Variable, ...],
        counts: tuple[Count, ...],
        given: tuple[Variable, ...] = (),
        is_complete: bool = False,
        pattern: Pattern | None = None,
    ) -> LookupPlan | None:
        """See ``plan_lookup``; of a part of the pattern, where it is given."""
        distinct, values = self.carriers(self.names), self.translation.values
        chosen = columns, distinct, counts, values, self.iris, given
        return plan_lookup(pattern or self.pushed, *chosen, is_complete=is_complete)

    @cached_property
    def choices(self) -> list[Choice]:
        """From where it may start, besides the elements that it names."""
        return choices(self.pushed)

    @cached_property
    def starts(self) -> tuple[TriplePattern, ...]:
        """The triples that find a value by index."""
        return tuple(start for choice in self.choices for start in choice.starts)

    @cached_property
    def open_choices(self) -> list[Choice]:
        """The choices with more than one triple to start from."""
        return [c for c in self.choices if len((*c.starts, *c.types, *c.facts)) > 1]

    @cached_property
    def has_choice(self) -> bool:
        """Whether a lookup must know what is rarest: there are several values, or facts."""
        return any(len((*choice.starts, *choice.facts)) > 1 for choice in self.choices)

    @cached_property
    def pattern(self) -> Pattern:
        """The WHERE as SPARQL can say it."""
        needed = self.carriers(self.names)
        return optimize(self.pushed, self.translation, needed, self.iris)

    @cached_property
    def is_linear(self) -> bool:
        """Whether the query has no more solutions than it reads triples."""
        return is_linear(self.pattern)

    @cached_property
    def is_contradictory(self) -> bool:
        """Whether the query has no solution for any data."""
        return is_contradictory(self.pattern)

    @cached_property
    def cancellation(self) -> Cancellation:
        """How the query ends when its time is over."""
        if self.is_linear:
            return "none"
        # What begins at one element mostly ends before a thread has started.
        return "cooperative" if is_anchored(self.pattern) else "threaded"

    @cached_property
    def products(self) -> list[tuple[Pattern, Pattern]]:
        """The pairs of parts that share no variable; they are counted before they run."""
        return [] if self.is_linear else products(self.pattern)

    @cached_property
    def named_elements(self) -> frozenset[Term]:
        """The elements that exist if there is a solution."""
        return named_elements(self.pattern, self.iris.predicates)

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """All conditions, at any depth."""
        return tuple(part for part in walk(self.pushed) if isinstance(part, Condition))

    @cached_property
    def is_walked(self) -> bool:
        """Whether it has hops that no query finds."""
        return any(isinstance(part, Hops) and part.are_believed for part in walk(self.pushed))

    @cached_property
    def is_open(self) -> bool:
        """Whether another engine's query can be written only once all constants are known."""
        compared = (each for each in self.conditions if each.name != "BELIEVED")
        terms = (term for condition in compared for term in condition.operands)
        return not self.abilities.lookups and any(isinstance(term, Hole) for term in terms)
