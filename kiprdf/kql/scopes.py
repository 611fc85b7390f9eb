"""How a KQL variable stands in the SPARQL around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from pyoxigraph import NamedNode, Variable

from kiprdf.language import ast
from kiprdf.semantics import scope
from kiprdf.sparql.algebra import Hole


@dataclass(frozen=True, slots=True)
class Binding:
    """One KQL variable in one scope.

    ``carrier`` holds its value wherever it is bound and is unbound where it is null: projections,
    FILTERs and null tests look at it. ``term`` is what patterns mention: the carrier, a constant,
    or an alias that is never unbound (docs/decisions/006). A ``predicate`` variable carries the
    predicate's IRI.
    """

    carrier: Variable
    term: Variable | NamedNode | Hole
    nullable: bool = False
    predicate: bool = False


Scope: TypeAlias = Mapping[str, Binding]
Needs: TypeAlias = Mapping[str, set[tuple[str, str | None]]]
"""The values that FILTERs look at: field and key by variable name."""

PREDICATE_NAME = "predicate_name"
"""The pseudo-field that holds the name of a predicate variable."""


class Namer:
    """Gives out SPARQL variables, each name once, close to the KQL name it serves."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def fresh(self, hint: str) -> Variable:
        """
        >>> namer = Namer()
        >>> str(namer.fresh("d")), str(namer.fresh("d"))
        ('?d', '?d_2')
        """
        name, number = hint, 1
        while name in self._taken:
            number += 1
            name = f"{hint}_{number}"
        self._taken.add(name)
        return Variable(name)


@dataclass(frozen=True, slots=True)
class Usage:
    """Who looks at the variables of a command: its projection, and how often its patterns."""

    projected: frozenset[str] | None
    mentions: Counter[str]


def mention_counts(block: ast.Block) -> Counter[str]:
    """How often the patterns of a block, at any depth, mention each name."""
    counts: Counter[str] = Counter()
    for clause in block.clauses:
        if isinstance(clause, ast.ConceptClause | ast.PropositionClause):
            counts.update(variable.name for variable, _ in scope.mentions(clause))
        elif isinstance(clause, ast.Not | ast.Optional | ast.Union):
            counts.update(mention_counts(clause.block))
    return counts


@dataclass
class Frame:
    """The names that are bound together: those of a block and of its OPTIONAL and UNION blocks.

    A NOT opens a new frame, since its variables are private; so does, for the variables it shares
    with the outer solution, a UNION inside NOT or OPTIONAL. ``needs`` are the values that the
    FILTERs of the frame look at, ``probed`` the elements that are known to exist.
    """

    namer: Namer
    needs: Needs
    usage: Usage
    probed: frozenset[NamedNode | Hole] = frozenset()
    _carriers: dict[str, Variable] = field(default_factory=dict)
    _values: dict[tuple[str, str, str | None], Variable] = field(default_factory=dict)

    def carrier(self, name: str) -> Variable:
        """The variable that carries a KQL variable of this frame."""
        if name not in self._carriers:
            self._carriers[name] = self.namer.fresh(name)
        return self._carriers[name]

    def inner(self, needs: Needs, kept: Iterable[str] = ()) -> Frame:
        """A frame whose variables are new, except the kept ones. Values are known across both."""
        carriers = {name: self.carrier(name) for name in kept}
        return Frame(self.namer, needs, self.usage, self.probed, carriers, self._values)

    def is_used_outside(self, name: str, here: int) -> bool:
        """Whether anything but some mentions in one place looks at a variable."""
        usage = self.usage
        shown = usage.projected is None or name in usage.projected
        return shown or name in self.needs or usage.mentions[name] > here

    def value(self, carrier: Variable, field: str, key: str | None) -> Variable:
        """The variable that holds a value of the element a carrier is bound to."""
        found = self._values.get((carrier.value, field, key))
        if found is None:
            parts = [carrier.value, *(["meta"] if field == "metadata" else []), key or field]
            found = self.namer.fresh("_".join(parts))
            self._values[carrier.value, field, key] = found
        return found


def needs_of(block: ast.Block) -> Needs:
    """What the FILTERs of a block, at any depth, look at."""
    needs: dict[str, set[tuple[str, str | None]]] = {}
    for operand in scope.filter_operands(block):
        if isinstance(operand, ast.Path):
            needs.setdefault(operand.variable.name, set()).add((operand.field, operand.key))
        elif isinstance(operand, ast.Variable):
            needs.setdefault(operand.name, set()).add((PREDICATE_NAME, None))
    return needs
