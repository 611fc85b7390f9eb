"""What the commands read: nexus folders, texts from files or standard input, parameters."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import typer

from kiprdf import Embedder, resources
from kiprdf.cli.failures import Failure
from kiprdf.nexus import Nexus
from kiprdf.search import embedders

STDIN = Path("-")


def open_to_read(folder: Path, base_iri: str | None = None) -> Nexus:
    """Open a nexus beside whoever writes to it."""
    if is_absent(folder):
        raise Failure(
            f"There is no nexus in {folder}; kiprdf load, run, restore or shell make one, "
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


def read_text(path: Path) -> str:
    """The text of a file, or of standard input for ``-``; a byte order mark is dropped."""
    name = "Standard input" if path == STDIN else str(path)
    try:
        content = sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
    except IsADirectoryError:
        raise Failure(f"{name} is a folder, not a file.") from None
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


def snapshot_base(text: str) -> str | None:
    """The base that the first line of a snapshot names.

    >>> snapshot_base("# kiprdf 1 base <urn:kip:nexus/>\\n")
    'urn:kip:nexus/'
    """
    match = re.match(r"# kiprdf \d+ base <([^>\n]*)>", text)
    return match[1] if match else None
