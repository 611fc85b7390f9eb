"""Snapshots in git: what ``git diff`` shows of them, and the setup of a repository.

https://git-scm.com/docs/gitattributes: a driver is named in ``.gitattributes``, which clones share;
its commands are in the configuration of each clone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kiprdf.errors import KipError
from kiprdf.errors import shown as shown_name
from kiprdf.interchange import files, formats
from kiprdf.interchange.dataset import check_dataset
from kiprdf.interchange.differences.difference import PARTS, difference, shown, shown_value
from kiprdf.interchange.formats import parsing, reading
from kiprdf.interchange.n_triples import StagingStore
from kiprdf.loading import load
from kiprdf.rdf.iris import Iris

DRIVER = "kiprdf"
"""The name of the driver in ``.gitattributes`` and in the configuration."""
CONFIGURATION = {
    f"merge.{DRIVER}.name": "Merge snapshots of kiprdf",
    f"merge.{DRIVER}.driver": "kiprdf git-merge %O %A %B --path=%P --marker-size=%L",
    f"diff.{DRIVER}.textconv": "kiprdf git-show",
    f"diff.{DRIVER}.xfuncname": "^[^ ].*",
}
_ATTRIBUTES = ("merge", "diff")
_PATTERN = re.compile(r"(?!!|\[attr\]|\.{1,2}/)[^\x00-\x1f\x7f]+")
"""No negation, no macro, and not ``./`` and ``../``, with which a pattern matches nothing."""


# Words ----------------------------------------------------------------------------------------


class Snapshot(NamedTuple):
    """A snapshot of a nexus, the IRIs of its dataset, and the base that it declares."""

    dataset: StagingStore
    iris: Iris


def read(content: bytes, format: formats.Format, base: str | None = None) -> Snapshot:
    """The snapshot in a file; ``KipError`` for anything but the dataset of a nexus.

    Its IRIs are moved to ``base``.
    """
    if base is None:
        base = reading.base_of(parsing.decoded(content, format), format)
    if base is None:
        raise KipError("KIP_1001", "It declares no base, so it is no snapshot of kiprdf.")
    dataset, iris = reading.stage(content, format, base), Iris(base)
    check_dataset(dataset, iris)
    return Snapshot(dataset, iris)


def words(content: bytes, format: formats.Format) -> str:
    """The elements of a snapshot in the terms of KIP, each value in one line, sorted.

    Without versions and times, like ``diff``. ``KipError`` for what is no snapshot.

    >>> import kiprdf
    >>> nexus = kiprdf.Nexus.memory(genesis=False)
    >>> _ = nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Drug"} } }')
    >>> print(words(nexus.snapshot().encode(), "turtle"), end="")
    $ConceptType:Drug
    """
    snapshot = read(content, format)
    lines: list[str] = []
    for change in difference((), snapshot.dataset, snapshot.iris).changes:
        lines.append(shown(change.identity))
        for part in PARTS:
            for key, _, value in change.keys(part):
                assert value is not None
                lines.append(f"    {part}.{key}: {shown_value(value)}")
    return "".join(f"{line}\n" for line in lines)


# Setup ----------------------------------------------------------------------------------------


def setup(folder: Path, patterns: Sequence[str]) -> dict[str, Any]:
    """Name the driver for files of a repository, and configure this clone.

    A line for each pattern is added at the end of ``.gitattributes`` at the top of the working
    tree; what it has stays as it is. Returns that file as ``attributes``, and the lines ``added``.
    Raises KIP_1001 outside of a working tree and for what is no pattern, and KIP_2002 where
    another driver is named for a pattern; nothing is written then.
    """
    top = Path(_git(folder, "rev-parse", "--show-toplevel").removesuffix("\n"))
    path = top / ".gitattributes"
    if path.is_symlink():
        message = f"{path} is a symbolic link, which git does not read."
        raise KipError("KIP_2002", message, "Replace it by a file.")
    before = path.read_bytes() if path.exists() else b""
    lines = [line.rstrip() for line in before.decode(errors="replace").splitlines()]
    added = [
        line
        for pattern in dict.fromkeys(patterns)
        if (line := _line(pattern)) not in lines and not _has_driver(top, pattern)
    ]
    if added:
        separator = b"" if before.endswith(b"\n") or not before else b"\n"
        after = before + separator + "".join(f"{line}\n" for line in added).encode()
        files.write_whole(path, lambda output: output.write(after))
    for key, value in CONFIGURATION.items():
        _git(top, "config", "--local", key, value)
    return {"attributes": str(path), "added": added}


def _line(pattern: str) -> str:
    """The line of ``.gitattributes`` for a pattern."""
    if not _PATTERN.fullmatch(pattern):
        message = f"{shown_name(repr(pattern))} is no pattern for .gitattributes."
        raise KipError("KIP_1001", message, "Name files as *.ttl or data/brain.ttl does.")
    if re.search(r'\s|^[#"]', pattern):
        pattern = '"' + re.sub(r'(["\\])', r"\\\1", pattern) + '"'
    return f"{pattern} {' '.join(f'{name}={DRIVER}' for name in _ATTRIBUTES)}"


def _has_driver(top: Path, pattern: str) -> bool:
    """Whether the driver is named for a pattern already; KIP_2002 if another one is."""
    # A pattern matches its own text, but for one with [a-z].
    own = ("-c", f"core.attributesFile={os.devnull}")
    text = _git(top, *own, "check-attr", "-z", *_ATTRIBUTES, "--", pattern.lstrip("/"))
    values = dict(zip(_ATTRIBUTES, text.split("\0")[2::3], strict=True))
    for name, value in values.items():
        if value not in ("unspecified", DRIVER):
            message = f"{shown_name(pattern)} has the attribute {name}={value} already."
            hint = "Remove it from .gitattributes, or name other files."
            raise KipError("KIP_2002", message, hint)
    return "unspecified" not in values.values()


def _git(folder: Path, *arguments: str) -> str:
    """What a command of git prints; KIP_1001 with the words of git if it fails."""
    load("subprocess")
    import subprocess

    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise KipError("KIP_1001", "There is no program git.", "Install git.") from None
    if done.returncode:
        message = f"git says: {shown_name(done.stderr.strip(), most=200)}"
        raise KipError("KIP_1001", message, "Run it in the working tree of a repository of git.")
    return done.stdout
