"""The rules of UPDATE: keys that may be written, calculations over the target (KIP 4.3)."""

from __future__ import annotations

from collections.abc import Iterable

from kiprdf.errors import KipError, shown
from kiprdf.language import ast, limits
from kiprdf.language.printer import value_text
from kiprdf.language.values import is_number
from kiprdf.semantics.arguments import check_key, refuse_reserved
from kiprdf.semantics.patterns import Kinds, check_operand
from kiprdf.source import Span


def check_assignments(command: ast.Update, kinds: Kinds) -> None:
    """Both maps of a bound UPDATE; ``kinds`` is what its WHERE binds."""
    attributes, metadata = _entries(command.attributes), _entries(command.metadata)
    _check_budget((*attributes, *metadata), command.target.span)
    for entry in (*attributes, *metadata):
        check_key(entry.key, entry.span)
        if isinstance(entry.value, ast.Calculation):
            _check_calculation(entry.value, command.target, kinds)
    for entry in metadata:
        refuse_reserved(entry.key, entry.span)


def _entries(assignments: ast.Assignments | ast.Placeholder | None) -> tuple[ast.Assignment, ...]:
    assert not isinstance(assignments, ast.Placeholder), assignments
    return () if assignments is None else assignments.entries


def _check_budget(entries: Iterable[ast.Assignment], span: Span) -> None:
    count = sum(_arguments(entry.value) for entry in entries)
    if count > limits.CALCULATION_ARGUMENTS:
        most = limits.CALCULATION_ARGUMENTS
        message = f"The calculations have {count} arguments; {most} are allowed."
        raise KipError("KIP_4002", message, "Split the statement.", span)


def _arguments(value: ast.Argument) -> int:
    if not isinstance(value, ast.Calculation):
        return 0
    return len(value.arguments) + sum(map(_arguments, value.arguments))


def _check_calculation(calculation: ast.Calculation, target: ast.Variable, kinds: Kinds) -> None:
    """Numbers, and values of the element that is being written."""
    for argument in calculation.arguments:
        match argument:
            case ast.Calculation():
                _check_calculation(argument, target, kinds)
            case ast.Path():
                _check_path(argument, target, kinds)
            case ast.Scalar() if is_number(argument.value):
                pass
            case _:
                raise _no_number(argument, calculation, target)


def _no_number(value: ast.Value, calculation: ast.Calculation, target: ast.Variable) -> KipError:
    shown_value = shown(value_text(value))
    message = f"{calculation.function} computes with numbers; {shown_value} is not a number."
    hint = f"Write or send a number, or a path such as ?{target.name}.attributes.key."
    is_text = isinstance(value, ast.Scalar) and isinstance(value.value, str)
    if is_text and calculation.function == "COALESCE":
        hint = (
            f"Set a missing string with SET ATTRIBUTES {{key: {shown_value}}} WHERE "
            f"{{ … FILTER(IS_NULL(?{target.name}.attributes.key)) }}."
        )
    return KipError("KIP_1001", message, hint, value.span)


def _check_path(path: ast.Path, target: ast.Variable, kinds: Kinds) -> None:
    if path.variable != target:
        message = f"An UPDATE of ?{target.name} computes with paths of ?{target.name} only."
        hint = f"Read ?{path.variable.name} with FIND first, and send the value as a parameter."
        raise KipError("KIP_1001", message, hint, path.span)
    check_operand(path, kinds)
