"""The inputs of commands: nexus folders, files, standard input, parameters."""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import typer

from kiprdf import Budget, Embedder, arguments, resources
from kiprdf.cli import output, places
from kiprdf.cli.failures import Failure
from kiprdf.cli.options import RdfFormat
from kiprdf.errors import KipError, StoreError
from kiprdf.interchange import formats
from kiprdf.interchange.formats.parsing import decoded
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.nexus import Nexus
from kiprdf.search import embedders

STDIN = Path("-")


# Nexuses --------------------------------------------------------------------------------------


def open_to_read(place: str, base_iri: str | None = None, budget: Budget | None = None) -> Nexus:
    """Open a nexus read-only, also while another program writes to it.

    The ``budget`` is that of connecting to a store.
    """
    if places.is_url(place):
        return places.connect(
            place, writes=False, base_iri=base_iri, embedder=embedder(), budget=budget
        )
    places.options_of(place)
    if is_absent(place):
        raise Failure(
            f"There is no nexus in {place}; create one with kiprdf load, run, import, restore or "
            "shell, or name another folder with --nexus or KIPRDF_NEXUS."
        )
    return Nexus.open(place, base_iri, read_only=True, embedder=embedder())


def open_to_write(
    place: str,
    base_iri: str | None = None,
    strict_schema: bool | None = None,
    budget: Budget | None = None,
) -> Nexus:
    """Open a nexus; create it if the folder or the store does not exist or is empty."""
    arguments: dict[str, Any] = {
        "base_iri": base_iri,
        "strict_schema": strict_schema,
        "embedder": embedder(),
    }
    if places.is_url(place):
        return places.connect(place, writes=True, budget=budget, **arguments)
    return Nexus.open(place, **arguments, **places.options_of(place))


def open_existing(place: str) -> Nexus:
    """Open a nexus to write; a missing one is not created."""
    if is_absent(place):
        raise Failure(f"There is no nexus in {place}.")
    return open_to_write(place)


def open_in_memory(base_iri: str | None = None, strict_schema: bool | None = None) -> Nexus:
    """A new nexus in memory."""
    return Nexus.memory(base_iri, strict_schema=strict_schema, embedder=embedder())


def embedder() -> Embedder | None:
    """The embedder of the extra ``semantic``, if installed; its model is loaded on first use."""
    return embedders.wordllama() if embedders.is_installed() else None


@contextmanager
def open_for_command(
    place: str,
    base_iri: str | None = None,
    strict_schema: bool | None = None,
    budget: Budget | None = None,
) -> Iterator[Nexus]:
    """Open a nexus for one command; if the command fails, a folder created for it is deleted."""
    folder = Path(place)
    existed, is_new = folder.exists(), is_absent(place)
    nexus = open_to_write(place, base_iri, strict_schema, budget)
    first_commit = nexus.info()["commit"]
    keep = True
    try:
        with nexus:
            try:
                yield nexus
            except BaseException:
                keep = not is_new or nexus.info()["commit"] != first_commit
                raise
            _index_much(nexus)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
            if existed:
                folder.mkdir()


def _index_much(nexus: Nexus) -> None:
    """Complete the text index after a large write, which is done even if this fails."""
    try:
        with output.index_progress() as advance:
            nexus.build_index(advance, only_after_much=True)
    except (KeyboardInterrupt, KipError, StoreError) as fault:
        reason = f" ({fault})" if str(fault) else ""
        output.note(f"The text index is not complete{reason}; the next SEARCH completes it.")


def is_absent(place: str) -> bool:
    """Whether opening a folder would create a nexus; a store shows it when it is connected."""
    folder = Path(place)
    if places.is_url(place):
        return False
    return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))


def mapping_of(names: Sequence[str] | None) -> Mapping | None:
    """Packs and files combined into one mapping."""
    return arguments.mapping_of(names or None)


class Snapshot(NamedTuple):
    """The content of a snapshot file, its format, and the base IRI it declares, if any."""

    content: bytes
    format: formats.Format
    base: str | None


def snapshot_of(path: Path, format: RdfFormat | None = None) -> Snapshot:
    """Read a snapshot in the given format, else by the suffix, else as Turtle."""
    content = read_bytes(path)
    chosen: formats.Format = format.value if format else formats.format_of(path) or "turtle"
    return Snapshot(content, chosen, formats.base_of(decoded(content, chosen), chosen))


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
    """The content of a file, or of standard input for ``-``."""
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
    """The text of a capsule file, or of a bundled example such as ``medical``."""
    path = Path(name)
    if name.isidentifier() and not path.exists():
        try:
            return resources.example_capsule(name).text
        except FileNotFoundError:
            raise Failure(f"There is no file and no bundled example named {name}.") from None
    return read_text(path)


class Added(NamedTuple):
    """How many elements a capsule has added."""

    concepts: int
    propositions: int

    def __str__(self) -> str:
        return f"{self.concepts} concepts and {self.propositions} propositions added"


def apply(nexus: Nexus, capsule: str) -> Added:
    """Apply a capsule and return what it added.

    Counted in the nexus: the receipt also names existing elements, and no SET PROPOSITIONS.
    """
    before = nexus.info()
    nexus.apply_capsule(capsule)
    after = nexus.info()
    concepts = after["concepts"] - before["concepts"]
    propositions = after["propositions"] - before["propositions"]
    return Added(concepts, propositions)


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
