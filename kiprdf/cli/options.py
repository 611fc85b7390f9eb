"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """How an answer is printed."""

    TABLE = "table"
    JSON = "json"


class Profile(StrEnum):
    """The two ways of writing links in Turtle."""

    RDF11 = "rdf11"
    RDF12 = "rdf12"


class RdfFormat(StrEnum):
    """The formats of RDF."""

    TURTLE = "turtle"
    TRIG = "trig"
    NTRIPLES = "ntriples"
    NQUADS = "nquads"
    JSONLD = "jsonld"
    RDFXML = "rdfxml"


NexusOption = Annotated[
    Path,
    typer.Option(
        "--nexus", "-n", envvar="KIPRDF_NEXUS", metavar="FOLDER", help="The folder of the nexus."
    ),
]
BaseOption = Annotated[
    str | None,
    typer.Option(metavar="IRI", help="The base of all IRIs; chosen once, when the nexus is made."),
]
ParamOption = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        metavar="NAME=VALUE",
        help="The value of a placeholder: JSON, or else a string. Can be repeated.",
    ),
]
ParamsFileOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="A JSON object of parameters.")
]
TimeoutOption = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help="Give up after so long (KIP_4001); 30 seconds, else."),
]
FormatOption = Annotated[Format, typer.Option(help="A table for people, or the KIP response.")]
MemoryOption = Annotated[
    bool, typer.Option("--memory", help="Use a new nexus in memory instead of a folder.")
]
RdfFormatOption = Annotated[
    RdfFormat | None, typer.Option(help="The format, where the suffix of the file does not tell.")
]
ProfileOption = Annotated[
    Profile, typer.Option(help="rdf11 loads everywhere; rdf12 writes links as reifiers.")
]
MappingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--mapping",
        "-m",
        metavar="MAPPING",
        help="A mapping: the name of a pack, such as schema-org, or a file. Can be repeated.",
    ),
]
DEFAULT_NEXUS = Path("nexus")
