"""A value of one named element, asked for as an expert would: by its triple alone."""

from __future__ import annotations

from typing import NamedTuple

from pyoxigraph import NamedNode, Variable

from kiprdf.sparql.algebra import (
    BGP,
    Bindings,
    Extend,
    Hole,
    Lateral,
    LeftJoin,
    Pattern,
    Select,
    TriplePattern,
    is_iri,
)
from kiprdf.store.base import Row


class OneValue(NamedTuple):
    """``BIND(<element> AS ?e) OPTIONAL { triple }`` as ``triple``, which engines answer sooner.

    Where it has no solution, the one solution is the element without a value.
    """

    element: NamedNode | Hole
    triple: TriplePattern

    @property
    def query(self) -> Select:
        assert isinstance(self.triple.object, Variable)
        return Select((self.triple.object,), BGP((self.triple,)), distinct=False)

    def rows(self, values: list[Row], bindings: Bindings) -> list[Row]:
        """The rows ``?e ?value`` from the rows of ``query``."""
        element = bindings[self.element] if isinstance(self.element, Hole) else self.element
        return [(element, value) for (value,) in values or [(None,)]]


def one_value(pattern: Pattern, variables: tuple[Variable, ...]) -> OneValue | None:
    """What reads the two ``variables`` of a pattern, an element and its value, by one triple."""
    match pattern:
        case Lateral(
            Extend(pattern=BGP(()), variable=element, expression=term),
            LeftJoin(BGP(()), BGP((TriplePattern(subject=subject, object=value) as triple,))),
        ) if is_iri(term) and subject == term and variables == (element, value):
            return OneValue(term, triple)
    return None
