"""The files of commands: nexus folders, files, standard input, parameters."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import typer

from kiprdf import arguments, resources
from kiprdf.cli import output
from kiprdf.cli.failures import Failure, writing
from kiprdf.errors import KipError
from kiprdf.interchange import files, formats
from kiprdf.interchange.compression import expanded
from kiprdf.interchange.formats.parsing import decoded
from kiprdf.interchange.formats.reading import base_of
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.nexus import Nexus

STDIN = Path("-")


def mapping_of(names: Sequence[str] | None) -> Mapping | None:
    """Packs and files combined into one mapping."""
    return arguments.mapping_of(names or None)


def names_in(given: Sequence[str]) -> list[str]:
    """The names of an option that takes several, with commas or repeated.

    >>> names_in(["team, ada", "bob"])
    ['team', 'ada', 'bob']
    """
    return [name.strip() for names in given for name in names.split(",")]


class Snapshot(NamedTuple):
    """The content of a snapshot file, its format, and the base IRI it declares, if any."""

    content: bytes
    format: formats.Format
    base: str | None


def snapshot_of(path: Path, format: formats.Format | None = None) -> Snapshot:
    """Read a snapshot in the given format, else by the suffix, else as Turtle."""
    content = read_bytes(path)
    chosen: formats.Format = format or files.format_of(path) or "turtle"
    return Snapshot(content, chosen, base_of(decoded(content, chosen), chosen))


def restored(path: Path) -> Nexus:
    """Restore a snapshot into a nexus in memory."""
    with naming(path):
        snapshot = snapshot_of(path)
        if snapshot.base is None:
            raise Failure(f"{path} is not a snapshot: it declares no base IRI.")
        nexus = Nexus.memory(snapshot.base, genesis=False)
        nexus.restore(io.BytesIO(snapshot.content), format=snapshot.format)
    return nexus


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the file name in front of an error message, for commands with several files."""
    try:
        yield
    except KipError as error:
        error.message = f"{path}: {error.message}"
        raise


# Files and standard input ---------------------------------------------------------------------


def require_file(path: Path) -> None:
    """Raise ``Failure`` for a missing file, before any of several files is processed."""
    if path.is_dir():
        raise Failure(f"{path} is a folder, not a file.")
    if path != STDIN and not path.exists():
        raise Failure(f"There is no file {path}.")


def read_bytes(path: Path) -> bytes:
    """The content of a file, or of standard input for ``-``, expanded if it is compressed."""
    return expanded(read_as_it_is(path), "Standard input" if path == STDIN else str(path))


def read_as_it_is(path: Path) -> bytes:
    """The bytes of a file, or of standard input for ``-``."""
    try:
        return sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
    except IsADirectoryError:
        raise Failure(f"{path} is a folder, not a file.") from None


def read_text(path: Path) -> str:
    """The UTF-8 text of a file, or of standard input for ``-``, without a byte order mark."""
    name = "Standard input" if path == STDIN else str(path)
    content = read_bytes(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Failure(f"{name} is not UTF-8 text: see line {line}.") from None


def write_document(path: Path, text: str) -> None:
    """Write a text to a file and note that, or print it for ``-``."""
    if path == STDIN:
        output.write_exactly(text)
        return
    with writing(path):
        files.write_text(path, text)
    output.note(f"Wrote {path}, {output.counted(text.count(chr(10)), 'line')}.")


def write_signed(path: Path, text: str, key: Path) -> None:
    """Write a signed text as ``write_document`` does, but not over the key that signed it."""
    if path.exists() and path.samefile(key):
        raise Failure(f"{path} is the key; name another file for what it signs.")
    write_document(path, text)


def command_text(command: str | None, file: Path | None) -> str:
    """A KIP command from the argument, a file or standard input."""
    if command is not None and file is not None:
        raise typer.BadParameter("Give either a command or --file, not both.")
    if file is not None:
        return read_text(file)
    if command is not None and command != "-":
        return command
    if command is None and sys.stdin.isatty():
        raise typer.BadParameter("Give a command, or --file, or pipe a command in.")
    return read_text(STDIN)


def capsule_text(name: str) -> str:
    """The text of a capsule file, or of one that is bundled, such as ``medical``."""
    path = Path(name)
    if name.isidentifier() and not path.exists():
        for read in (resources.example_capsule, resources.optional_capsule):
            with suppress(FileNotFoundError):
                return read(name).text
        hint = f"name a new nexus with --nexus {name}"
        message = f"There is no file and no bundled example named {name}; {hint}."
        raise Failure(message)
    return read_text(path)


class Added(NamedTuple):
    """How many elements a capsule has added."""

    concepts: int
    propositions: int
    erased: int = 0

    def document(self) -> dict[str, int]:
        """The numbers, as JSON; that of what was left out only if there is one."""
        return {key: number for key, number in self._asdict().items() if number or key != "erased"}

    def __str__(self) -> str:
        return f"{self.concepts} concepts and {self.propositions} propositions added"


def apply(nexus: Nexus, capsule: str, trusted: Sequence[str] | None = None) -> Added:
    """Apply a capsule, which one of the trusted has signed if there are any; what it added.

    Counted in the nexus: the receipt also names existing elements, and no SET PROPOSITIONS.
    """
    before = nexus.info()
    receipt = nexus.apply_capsule(capsule, trusted=trusted)
    after = nexus.info()
    concepts = after["concepts"] - before["concepts"]
    propositions = after["propositions"] - before["propositions"]
    return Added(concepts, propositions, receipt.get("erased", 0))


# Parameters -----------------------------------------------------------------------------------


def parameters(pairs: Sequence[str], file: Path | None) -> dict[str, Any]:
    """The parameters of a command: those of the file, overridden by ``name=value`` pairs."""
    values = {} if file is None else _parameters_file(file)
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"--param {pair}: write it as name=value.")
        values[name.removeprefix(":")] = parameter_value(value)
    return values


def parameter_value(text: str) -> Any:
    """A value as JSON if it is valid JSON, otherwise as a string.

    >>> parameter_value("5"), parameter_value('["a"]'), parameter_value("Aspirin")
    (5, ['a'], 'Aspirin')
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return text


def _refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python accepts but JSON does not have."""
    raise ValueError(name)


def _parameters_file(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(read_text(path), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise Failure(f"{path} is not JSON: {error}.") from None
    if not isinstance(values, dict):
        raise Failure(f"{path} does not contain a JSON object of parameters.")
    return values
