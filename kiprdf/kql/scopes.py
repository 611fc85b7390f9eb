"""The SPARQL variables of KQL variables, and of their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from pyoxigraph import NamedNode, Variable

from kiprdf.dataclasses import dataclass
from kiprdf.rdf import vocab
from kiprdf.sparql.algebra import Hole, variables

if TYPE_CHECKING:
    from kiprdf.kql.entailment import Sight


@dataclass(frozen=True, slots=True)
class Binding:
    """One KQL variable in one scope.

    ``carrier`` holds its value wherever it is bound and is unbound where it is null: projections,
    FILTERs and null tests read it. ``term`` is what patterns mention: the carrier, a constant,
    or an alias that is never unbound (docs/decisions/006). A ``predicate`` variable carries the
    predicate's IRI.
    """

    carrier: Variable
    term: Variable | NamedNode | Hole
    nullable: bool = False
    predicate: bool = False


Scope: TypeAlias = Mapping[str, Binding]

PREDICATE_NAME = "predicate_name"
"""The pseudo-field that holds the name of a predicate variable."""


NAMESPACES = {"attributes": vocab.ATTRIBUTE, "metadata": vocab.METADATA}
"""Where the predicates of attributes and of metadata begin."""


class Value(NamedTuple):
    """A value of the element that a variable is bound to: ``?x.field`` or ``?x.field.key``."""

    node: Variable
    field: str
    key: str | None

    @property
    def predicate(self) -> NamedNode | None:
        """The predicate of an attribute or a metadata key; None for a field of another kind."""
        if self.key is None or self.field not in NAMESPACES:
            return None
        return NamedNode(NAMESPACES[self.field] + self.key)


Values: TypeAlias = Mapping[Variable, Value]
"""What the value variables of a pattern stand for."""


class Namer:
    """Creates SPARQL variables, each name once, close to the KQL name it serves."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._last: dict[str, int] = {}

    def fresh(self, hint: str) -> Variable:
        """
        >>> namer = Namer()
        >>> str(namer.fresh("d")), str(namer.fresh("d"))
        ('?d', '?d_2')
        """
        number = self._last.get(hint, 1)
        name = hint
        while name in self._used:
            number += 1
            name = f"{hint}_{number}"
        self._used.add(name)
        self._last[hint] = number
        return Variable(name)


def read_by(node: object, values: Values) -> set[Variable]:
    """The variables that something mentions, and the elements whose values it reads."""
    names = variables(node)
    return names | {values[name].node for name in names if name in values}


@dataclass
class NameScope:
    """The names that are bound together: those of a block and of its OPTIONAL and UNION blocks.

    A NOT opens a new frame, since its variables are private; so does, for the variables it shares
    with the outer solution, a UNION inside NOT or OPTIONAL. The ``existing`` elements were looked
    up before. Frames share their ``values``.
    """

    namer: Namer
    existing: frozenset[NamedNode | Hole]
    sight: Sight
    values: dict[Variable, Value] = field(default_factory=dict)
    _carriers: dict[str, Variable] = field(default_factory=dict)
    _value_variables: dict[Value, Variable] = field(default_factory=dict)

    def carrier(self, name: str) -> Variable:
        """The variable that carries a KQL variable of this frame."""
        if name not in self._carriers:
            self._carriers[name] = self.namer.fresh(name)
        return self._carriers[name]

    def inner(self, kept: Iterable[str] = ()) -> NameScope:
        """A frame whose variables are new, except the kept ones."""
        carriers = {name: self.carrier(name) for name in kept}
        shared = self.existing, self.sight, self.values
        return NameScope(self.namer, *shared, carriers, self._value_variables)

    def value(self, carrier: Variable, field: str, key: str | None) -> Variable:
        """The variable that holds a value of the element a carrier is bound to."""
        value = Value(carrier, field, key)
        variable = self._value_variables.get(value)
        if variable is None:
            parts = [carrier.value, *(["meta"] if field == "metadata" else []), key or field]
            variable = self._value_variables[value] = self.namer.fresh("_".join(parts))
            self.values[variable] = value
        return variable
