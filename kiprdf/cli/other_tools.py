"""What ``kiprdf import --from FORMAT`` does: plans are made, written and reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer

from kiprdf import importers
from kiprdf.cli import inputs, output
from kiprdf.cli.imports import report_lines
from kiprdf.cli.options import Tool
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError
from kiprdf.importers.tables import Columns, columns_of
from kiprdf.nexus import Nexus

TABLES = ("csv", "jsonl")


@dataclass(frozen=True)
class TableOptions:
    """The options that say what the columns of a table become."""

    type: str | None = None
    key: str | None = None
    attribute: Sequence[str] | None = None
    link: Sequence[str] | None = None
    map: Path | None = None

    @property
    def are_given(self) -> bool:
        """Whether there is one of them."""
        return any(value is not None for value in asdict(self).values())

    def columns(self) -> Columns:
        """What they say, or the file that they name."""
        if self.map is not None:
            if asdict(self) != asdict(TableOptions(map=self.map)):
                raise typer.BadParameter("--map FILE has all that the other options say.")
            inputs.require_file(self.map)
            return columns_of(self.map)
        if self.type is None or self.key is None:
            raise typer.BadParameter("A table needs --type and --key, or --map.")
        attributes = dict(_pair(one, one) for one in self.attribute or ())
        links = dict(_pair(one) for one in self.link or ())
        return Columns(self.type, self.key, attributes, links)


def _pair(text: str, default: str | None = None) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator and default is not None:
        return text, default
    if not (separator and name and value):
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE.")
    return name, value


def plans(
    tool: Tool, paths: Sequence[Path], table: TableOptions, source: str | None
) -> list[importers.Plan]:
    """The plan of each file or folder, before anything is written."""
    if tool in TABLES:
        options = asdict(table.columns())
    elif table.are_given:
        names = "--type, --key, --attribute, --link and --map"
        raise typer.BadParameter(f"{names} are for --from csv and --from jsonl.")
    else:
        options = {}
    read = getattr(importers, tool.replace("-", "_"))
    made = []
    with TemporaryDirectory() as folder:
        for path in paths:
            file = path
            if path == inputs.STDIN:
                file = Path(folder) / "standard input"
                file.write_bytes(inputs.read_bytes(path))
            elif not path.is_dir():
                inputs.require_file(path)
            with inputs.naming(path), output.progress_bar() as advance:
                advance(0, f"reading {path}")
                made.append(read(file, source=source, **options))
    return made


def run(
    made: Sequence[importers.Plan], nexus: Nexus, options: dict[str, Any], as_json: bool
) -> None:
    """Write plans to a nexus, and print the report of each."""
    for plan in made:
        try:
            with output.progress_bar() as advance:
                advance(0, f"importing {plan.source}")
                report = plan.apply(nexus, **options)
        except KipError as error:
            if as_json:
                output.show_error(error, file=plan.source)
            raise
        output.show_answer(as_json, report, report_lines(plan.source, report))
