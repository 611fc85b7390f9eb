"""ORDER BY for an engine that can cut the page, where its order is KIP's (docs/decisions/103)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pyoxigraph import Literal, NamedNode, Variable

from kiprdf.kql.optimize.standard_conditions import JsonValues, text_by_units
from kiprdf.rdf import vocab
from kiprdf.sparql.abilities import Abilities
from kiprdf.sparql.algebra import Call, Expression, Infix, SortKey


class SortedValue(NamedTuple):
    """A key of ORDER BY: the variable with the values of an attribute or metadata key."""

    variable: Variable
    key: NamedNode
    descending: bool


def standard_order(
    values: Iterable[SortedValue],
    nodes: Iterable[Variable],
    key_values: JsonValues,
    abilities: Abilities,
) -> tuple[SortKey, ...] | None:
    """The order by some values, ties by the IRIs of ``nodes``, all of them bound.

    None where a key has values of several kinds, or of one that engines order otherwise.
    """
    order: list[SortKey] = []
    for variable, key, descending in values:
        by = _by(variable, key_values[key].datatypes, abilities)
        if by is None:
            return None
        # Null is last in both directions.
        order += (SortKey(Call("BOUND", (variable,)), True), SortKey(by, descending))
    return (*order, *(SortKey(_text(Call("STR", (node,)), abilities)) for node in nodes))


def _by(
    variable: Variable, datatypes: frozenset[NamedNode | None] | None, abilities: Abilities
) -> Expression | None:
    """What sorts the values of a variable, all of some datatypes."""
    if datatypes is None or len(datatypes) > 1:
        return None
    (datatype,) = datatypes or (vocab.INTEGER,)
    if datatype == vocab.INTEGER:
        return variable
    if datatype == vocab.STRING:
        return _text(variable, abilities)
    if datatype in (vocab.DOUBLE, vocab.OWN_DOUBLE):
        number = Call(vocab.DOUBLE, (Call("STR", (variable,)),))
        # -0.0 and 0.0 are one number.
        return Infix("+", (number, Literal(0)))
    return None


def _text(text: Expression, abilities: Abilities) -> Expression:
    """A text that the engine sorts by code point."""
    return text if abilities.code_points else text_by_units(text)
