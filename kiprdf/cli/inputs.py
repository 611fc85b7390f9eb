"""What the commands read: nexus folders, texts from files or standard input, parameters."""

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

from kiprdf import Embedder, linked_data, resources
from kiprdf.cli.failures import Failure
from kiprdf.cli.options import RdfFormat
from kiprdf.errors import KipError
from kiprdf.interchange import formats
from kiprdf.interchange.formats.parsing import decoded
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.nexus import Nexus
from kiprdf.search import embedders

STDIN = Path("-")


def open_to_read(folder: Path, base_iri: str | None = None) -> Nexus:
    """Open a nexus beside whoever writes to it."""
    if is_absent(folder):
        raise Failure(
            f"There is no nexus in {folder}; kiprdf load, run, import, restore or shell make one, "
            "and --nexus or KIPRDF_NEXUS name another folder."
        )
    return Nexus.open(folder, base_iri, read_only=True, embedder=embedder())


def open_to_write(folder: Path, base_iri: str | None = None) -> Nexus:
    """Open a nexus, made when the folder is absent or empty."""
    return Nexus.open(folder, base_iri, embedder=embedder())


def open_in_memory(base_iri: str | None = None) -> Nexus:
    """A new nexus that is gone with the process."""
    return Nexus.memory(base_iri, embedder=embedder())


def embedder() -> Embedder | None:
    """The embedder of the extra ``semantic`` if it is installed; it loads when it is used."""
    return embedders.wordllama() if embedders.is_installed() else None


@contextmanager
def open_for_command(folder: Path, base_iri: str | None = None) -> Iterator[Nexus]:
    """Open a nexus for one command; made for a command that then fails, it is taken away again."""
    existed, made = folder.exists(), is_absent(folder)
    nexus = open_to_write(folder, base_iri)
    at_first = nexus.info()["commit"]
    kept = True
    try:
        with nexus:
            try:
                yield nexus
            except BaseException:
                kept = not made or nexus.info()["commit"] != at_first
                raise
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)
            if existed:
                folder.mkdir()


def is_absent(folder: Path) -> bool:
    """Whether a nexus would be made in the folder."""
    return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))


def mapping_of(names: Sequence[str] | None) -> Mapping | None:
    """The mapping that packs and files make together."""
    return linked_data.mapping_of(names or None)


def refuse_absent(path: Path) -> None:
    """Notice a file that is not there before the files in front of it are worked on."""
    if path != STDIN and not path.is_file():
        raise Failure(f"There is no file {path}.")


def read_bytes(path: Path) -> bytes:
    """What a file holds, or standard input for ``-``."""
    try:
        return sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
    except IsADirectoryError:
        raise Failure(f"{path} is a folder, not a file.") from None


def read_text(path: Path) -> str:
    """The text of a file, or of standard input for ``-``; a byte order mark is dropped."""
    name = "Standard input" if path == STDIN else str(path)
    content = read_bytes(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = content.count(b"\n", 0, fault.start) + 1
        raise Failure(f"{name} is not UTF-8 text: see line {line}.") from None


def command_text(command: str | None, file: Path | None) -> str:
    """The KIP command, from the argument, a file or standard input."""
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


def apply(nexus: Nexus, capsule: str) -> str:
    """Apply a capsule, and say what it added.

    The receipt names what the capsule says, known or new, and not the links of SET PROPOSITIONS.
    """
    before = nexus.info()
    nexus.apply_capsule(capsule)
    after = nexus.info()
    concepts = after["concepts"] - before["concepts"]
    propositions = after["propositions"] - before["propositions"]
    return f"{concepts} concepts and {propositions} propositions added"


def parameters(pairs: Sequence[str], file: Path | None) -> dict[str, Any]:
    """The parameters of a command: those of the file, overridden by single pairs."""
    found = {} if file is None else _parameters_file(file)
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"--param {pair}: write it as name=value.")
        found[name.removeprefix(":")] = parameter_value(value)
    return found


def parameter_value(text: str) -> Any:
    """A value as JSON if it is some, else as the string that it is.

    >>> parameter_value("5"), parameter_value('["a"]'), parameter_value("Aspirin")
    (5, ['a'], 'Aspirin')
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return text


def _refuse_constant(name: str) -> NoReturn:
    """NaN and Infinity are no JSON, though Python reads them."""
    raise ValueError(name)


def _parameters_file(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(read_text(path), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as fault:
        raise Failure(f"{path} is not JSON: {fault}.") from None
    if not isinstance(found, dict):
        raise Failure(f"{path} does not hold a JSON object of parameters.")
    return found


class Snapshot(NamedTuple):
    """A snapshot as it was found, and the base that it names, if it does."""

    content: bytes
    format: formats.Format
    base: str | None


def snapshot_of(path: Path, format: RdfFormat | None = None) -> Snapshot:
    """A snapshot in the format that is given, or that the suffix tells, or in Turtle."""
    content = read_bytes(path)
    chosen: formats.Format = format.value if format else formats.format_of(path) or "turtle"
    return Snapshot(content, chosen, formats.base_of(decoded(content, chosen), chosen))


def restored(path: Path) -> Nexus:
    """What a snapshot holds, as a nexus in memory."""
    with about(path):
        found = snapshot_of(path)
        if found.base is None:
            raise Failure(f"{path} is no snapshot: it does not tell the base of its IRIs.")
        nexus = Nexus.memory(found.base, genesis=False)
        nexus.restore(io.BytesIO(found.content), format=found.format)
    return nexus


@contextmanager
def about(path: Path) -> Iterator[None]:
    """Let an error say which of several files it is about."""
    try:
        yield
    except KipError as error:
        error.message = f"{path}: {error.message}"
        raise
