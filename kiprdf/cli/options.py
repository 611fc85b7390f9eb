"""Options shared by several commands."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, get_type_hints

import typer


class Profile(StrEnum):
    """How propositions are written in Turtle."""

    RDF11 = "rdf11"
    RDF12 = "rdf12"


class Only(StrEnum):
    """Parts of the knowledge by their origin."""

    IMPORTED = "imported"


class RdfFormat(StrEnum):
    """The RDF formats."""

    TURTLE = "turtle"
    TRIG = "trig"
    NTRIPLES = "ntriples"
    NQUADS = "nquads"
    JSONLD = "jsonld"
    RDFXML = "rdfxml"


class Facts(StrEnum):
    """Where a published nexus shows its facts."""

    PAGES = "pages"
    INLINE = "inline"


class Sync(StrEnum):
    """When a commit is on the disk."""

    NORMAL = "normal"
    FULL = "full"


class LogFormat(StrEnum):
    """The form of the lines of a log."""

    TEXT = "text"
    JSON = "json"


DEFAULT_NEXUS = "nexus"

HistoryOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The history of the nexus, as a log of RDF Patches."),
]

NexusOption = Annotated[
    str,
    typer.Option(
        "--nexus",
        "-n",
        envvar="KIPRDF_NEXUS",
        metavar="PLACE",
        help="Folder of the nexus, or URL of a SPARQL store.",
    ),
]
BaseOption = Annotated[
    str | None,
    typer.Option(metavar="IRI", help="Base of all IRIs; fixed when the nexus is created."),
]
ParamOption = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        metavar="NAME=VALUE",
        help="Value of a placeholder: JSON, otherwise a string. Can be repeated.",
    ),
]
ParamsFileOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="JSON file with an object of parameters.")
]
StrictOption = Annotated[
    bool | None,
    typer.Option(
        "--strict/--no-strict",
        help="Enforce instance schemas, or stop; the nexus stores the setting.",
    ),
]
ServerTokenOption = Annotated[
    str | None,
    typer.Option(
        "--token",
        envvar="KIPRDF_TOKEN",
        show_envvar=True,
        help="Token for writing, where --nexus is the URL of a kiprdf server.",
    ),
]
TimeoutOption = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="Timeout in seconds (default 30).")
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON for programs instead of text for people.")
]
MemoryOption = Annotated[
    bool, typer.Option("--memory", help="Use a new nexus in memory instead of a folder.")
]
RdfFormatOption = Annotated[
    RdfFormat | None, typer.Option(help="RDF format, if the file suffix does not determine it.")
]
ProfileOption = Annotated[
    Profile,
    typer.Option(help="rdf11 can be read by every tool; rdf12 writes propositions as reifiers."),
]
MappingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--mapping",
        "-m",
        metavar="MAPPING",
        help="A mapping: the name of a pack, such as schema-org, a file, or original, the IRIs that"
        " imports noted. Can be repeated.",
    ),
]
TargetArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="Output file; standard output if omitted.")
]

_OF_STORES: dict[str, Any] = {
    "update_url": Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="URL for updates of a store; without it, the store is only read."
        ),
    ],
    "default_graph": Annotated[
        str | None, typer.Option(metavar="IRI", help="Graph of the nexus in a store.")
    ],
    "sync": Annotated[
        Sync | None,
        typer.Option(help="full: a folder has each commit on the disk before the answer."),
    ],
    "profile": Annotated[
        str | None,
        typer.Option(help="Form of links in a new nexus in a store: auto, rdf11 or rdf12."),
    ],
}
_given: ContextVar[Mapping[str, str]] = ContextVar(
    "kiprdf_options_of_stores", default=MappingProxyType({})
)


class Application(typer.Typer):
    """Commands; those with ``nexus`` have the options of a nexus in a store, too.

    An option of the same name that a command has itself goes first.
    """

    def command(self, *arguments: Any, **options: Any) -> Callable[[Any], Any]:
        register = super().command(*arguments, **options)
        return lambda function: register(_with_options_of_stores(function))


def _with_options_of_stores(function: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(function)
    if "nexus" not in signature.parameters:
        return function
    types = {name: type for name, type in _OF_STORES.items() if name not in signature.parameters}

    @functools.wraps(function)
    def run(**values: Any) -> Any:
        given = {name: values.pop(name) for name in types}
        token = _given.set({name: value for name, value in given.items() if value is not None})
        try:
            return function(**values)
        finally:
            _given.reset(token)

    # The wrapper is in another module than the names in its annotations.
    run.__annotations__ = {**get_type_hints(function, include_extras=True), **types}
    declared = [
        parameter.replace(annotation=run.__annotations__[name])
        for name, parameter in signature.parameters.items()
    ]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=type)
        for name, type in types.items()
    ]
    run.__signature__ = signature.replace(parameters=[*declared, *added])  # type: ignore[attr-defined]
    return run


def given() -> dict[str, Any]:
    """The options of stores that the running command has."""
    return dict(_given.get())
