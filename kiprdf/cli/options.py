"""Options shared by several commands, and the panels of their help."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from kiprdf.interchange.formats import Format, Profile

Names = Literal["label", "local"]
"""What the names of what is imported are made of."""
Only = Literal["imported"]
"""Parts of the knowledge by their origin."""
Tool = Literal[
    "mcp-memory",
    "mem0",
    "graphiti",
    "basic-memory",
    "obsidian",
    "langgraph",
    "chat",
    "csv",
    "jsonl",
]
"""The formats of other tools, and tables."""
Facts = Literal["pages", "inline"]
"""Where a published nexus shows its facts."""
Sync = Literal["normal", "full"]
"""When a commit is on the disk."""
LogFormat = Literal["text", "json"]
"""The form of the lines of a log."""


EVERYDAY, EXCHANGE, HISTORY = "Everyday", "Exchange", "History"
SERVE, MAINTAIN = "Serve", "Maintain"
"""The panels of --help."""
DEFAULT_NEXUS = "nexus"

HistoryOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The history of the nexus, as a log of RDF Patches."),
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
_ENTAIL: dict[str, Any] = {"true": True, "false": False, "same_as": "same_as"}


def _entail(value: str) -> Any:
    """The argument of the library."""
    if value not in _ENTAIL:
        raise typer.BadParameter(f"{value!r} is not one of {', '.join(_ENTAIL)}.")
    return _ENTAIL[value]


def with_entail_value(args: Sequence[str]) -> list[str]:
    """Arguments in which --entail has a value: it is true where none of its values follows."""
    return [
        "--entail=true" if arg == "--entail" and following not in _ENTAIL else arg
        for arg, following in zip_longest(args, args[1:])
    ]


EntailOption = Annotated[
    Any,
    typer.Option(
        "--entail",
        parser=_entail,
        metavar="[=same_as|false]",
        help="Let a FIND match what follows from the definitions; =same_as: and take concepts "
        "that same_as links for one.",
    ),
]
TimeoutOption = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="Timeout in seconds (default 30).")
]
FileOption = Annotated[
    Path | None, typer.Option("--file", "-f", metavar="FILE", help="Read the command here.")
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Show what would change, write nothing.")
]
KeyOption = Annotated[
    Path, typer.Option("--key", "-k", metavar="FILE", help="The file of kiprdf key new.")
]
AsOption = Annotated[
    str | None, typer.Option("--as", metavar="NAME", help="The person who does it.")
]
ReadOption = Annotated[
    list[str] | None,
    typer.Option(
        "--read",
        metavar="NAMES",
        help="Scopes to read, such as team,ada; the last one wins. Can be repeated.",
    ),
]
WriteOption = Annotated[
    str | None,
    typer.Option("--write", metavar="NAME", help="The scope to write, one of those to read."),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON for programs instead of text for people.")
]
MemoryOption = Annotated[
    bool, typer.Option("--memory", help="Use a new nexus in memory instead of a folder.")
]
RdfFormatOption = Annotated[
    Format | None, typer.Option(help="RDF format, if the file suffix does not determine it.")
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
