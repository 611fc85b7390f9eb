"""The commands for rejected values: reject one, lift that, and list all."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Annotated, Any

import typer

from kiprdf.cli import output
from kiprdf.cli.opening import OfFolder, OfHistory, place_of
from kiprdf.cli.options import HISTORY, AsOption, JsonOption
from kiprdf.cli.root import app
from kiprdf.errors import KipError
from kiprdf.execution.rejecting import ATTRIBUTE
from kiprdf.nexus import Nexus
from kiprdf.rdf.iris import ConceptName
from kiprdf.spelling import visible_text


@app.command(cls=OfHistory, rich_help_panel=HISTORY)
def reject(
    ctx: typer.Context,
    element: Annotated[
        str,
        typer.Argument(
            metavar="ELEMENT", help="A fact, such as (Aspirin, treats, Headache), or an element."
        ),
    ],
    key: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="Reject a value of the element: attributes.KEY or KEY."),
    ] = None,
    predicate: Annotated[
        str | None, typer.Option(metavar="NAME", help="Reject a fact of the element.")
    ] = None,
    value: Annotated[
        str | None,
        typer.Option(
            "--value",
            metavar="VALUE",
            help="The value of the key, as JSON or text; or the object of the predicate.",
        ),
    ] = None,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why, without the value.")] = "",
    by: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Reject a value for good: no write brings it back, however it is spelled.

    A stored fact is retracted, a stored value removed. What is not stored can be
    rejected, too. Prints the name of the rejection, which kiprdf lift takes.

    \b
    Examples:
      kiprdf reject '(Aspirin, treats, Fever)' --reason 'Not by itself.'
      kiprdf reject Aspirin --key risk_level --value 5 --reason 'A typing error.'
      kiprdf reject Drug:Aspirin --predicate treats --value Symptom:Insomnia --reason 'No.'
    """
    with output.errors_as_json(as_json), place_of(ctx).for_person(by) as opened:
        name = opened.reject(_what(opened, element, key, predicate, value), reason=reason)
    output.show_answer(as_json, {"name": name}, name)


def _what(
    opened: Nexus, element: str, key: str | None, predicate: str | None, value: str | None
) -> Any:
    if key is None and predicate is None and value is None:
        return opened.id_of(element)
    if value is None or (key is None) == (predicate is None):
        raise typer.BadParameter("Give --value, and either --key or --predicate.")
    if predicate is not None:
        return _id(opened, element), predicate, _id(opened, value)
    json_value: Any = value
    with suppress(ValueError, RecursionError):
        json_value = json.loads(value)
    return _id(opened, element), f"{ATTRIBUTE}{str(key).removeprefix(ATTRIBUTE)}", json_value


def _id(opened: Nexus, element: str) -> str:
    """The id of an element, or the one that ``Type:Name`` would have."""
    try:
        return opened.id_of(element)
    except KipError as error:
        type, colon, name = element.partition(":")
        if error.code != "KIP_3002" or not (type.isidentifier() and colon and name):
            raise
        return ConceptName(type, name).id


@app.command(cls=OfHistory, rich_help_panel=HISTORY)
def lift(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the rejection.")],
    by: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Lift a rejection: its value may be written again.

    A fact that it retracted stays retracted until a person changes its status.

    \b
    Examples:
      kiprdf lift 8d11e1db4a74b1f91cfd3a60f5d10361430f0d0b0c1559cb8bfb74dc927ca4d1 --as ada
    """
    with output.errors_as_json(as_json), place_of(ctx).for_person(by) as opened:
        opened.lift(name)
    output.show_answer(as_json, {"name": name}, "The rejection is lifted.")


@app.command(cls=OfFolder, rich_help_panel=HISTORY)
def rejections(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """List what was rejected: by whom, when and why, the oldest first.

    A rejection has a digest of the value, not the value.

    \b
    Examples:
      kiprdf rejections
      kiprdf rejections --json --nexus brain
    """
    with place_of(ctx).to_read() as opened:
        listed = opened.rejections()
    lines = (
        visible_text(f"{each['name']} {each['at']} {each['by']}: {each['reason']}")
        for each in listed
    )
    output.show_list(as_json, listed, lines, "Nothing is rejected.")
