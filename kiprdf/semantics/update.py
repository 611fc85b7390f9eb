"""The rules of UPDATE: keys that may be written, calculations over the target (KIP 4.3)."""

from __future__ import annotations

from kiprdf.errors import KipError, shown
from kiprdf.language import ast
from kiprdf.language.printer import value_text
from kiprdf.semantics.patterns import Kinds, check_operand
from kiprdf.semantics.places import check_key, check_map, refuse_reserved


def check_assignments(command: ast.Update, kinds: Kinds) -> None:
    """Both maps of an UPDATE; ``kinds`` is what its WHERE binds."""
    _check_map(command.attributes, "SET ATTRIBUTES", command.target, kinds)
    _check_map(command.metadata, "SET METADATA", command.target, kinds)


def _check_map(
    found: ast.Assignments | ast.Value | None, what: str, target: ast.Variable, kinds: Kinds
) -> None:
    reserved = what == "SET METADATA"
    if not isinstance(found, ast.Assignments):
        check_map(found, what, reserved)
        return
    for entry in found.entries:
        check_key(entry.key, entry.span)
        if reserved:
            refuse_reserved(entry.key, entry.span)
        if isinstance(entry.value, ast.Calculation):
            _check_calculation(entry.value, target, kinds)


def _check_calculation(found: ast.Calculation, target: ast.Variable, kinds: Kinds) -> None:
    """Numbers, and values of the element that is being written."""
    for argument in found.arguments:
        match argument:
            case ast.Calculation():
                _check_calculation(argument, target, kinds)
            case ast.Path():
                _check_own(argument, target, kinds)
            case ast.Scalar(value=int() | float() as value) if not isinstance(value, bool):
                pass
            case _:
                raise _no_number(argument, found, target)


def _no_number(found: ast.Value, calculation: ast.Calculation, target: ast.Variable) -> KipError:
    shown_value = shown(value_text(found))
    message = f"{calculation.function} computes with numbers, and {shown_value} is none."
    hint = f"Write or send a number, or a path such as ?{target.name}.attributes.key."
    is_text = isinstance(found, ast.Scalar) and isinstance(found.value, str)
    if is_text and calculation.function == "COALESCE":
        hint = (
            f"Texts are set where they are missing: SET ATTRIBUTES {{key: {shown_value}}} WHERE "
            f"{{ … FILTER(IS_NULL(?{target.name}.attributes.key)) }}."
        )
    return KipError("KIP_1001", message, hint, found.span)


def _check_own(path: ast.Path, target: ast.Variable, kinds: Kinds) -> None:
    if path.variable != target:
        message = f"An UPDATE of ?{target.name} computes with paths of ?{target.name} only."
        hint = f"Read ?{path.variable.name} with FIND first, and send the value as a parameter."
        raise KipError("KIP_1001", message, hint, path.span)
    check_operand(path, kinds)
