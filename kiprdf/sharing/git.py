"""Snapshots in git: the merge driver, what ``git diff`` shows, and the setup of a repository.

https://git-scm.com/docs/gitattributes: a driver is named in ``.gitattributes``, which clones share;
its commands are in the configuration of each clone (docs/decisions/210).
"""

from __future__ import annotations

import io
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pyoxigraph import NamedNode

from kiprdf.errors import KipError
from kiprdf.errors import shown as shown_text
from kiprdf.interchange import files, formats
from kiprdf.interchange.dataset import check_dataset
from kiprdf.interchange.differences.difference import PARTS, difference, shown, shown_value
from kiprdf.interchange.formats import parsing, reading
from kiprdf.interchange.formats.writing import Serializer
from kiprdf.interchange.n_triples import StagingStore
from kiprdf.loading import Lazy, load
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.store import OxigraphStore

if TYPE_CHECKING:
    from subprocess import CompletedProcess

    from kiprdf.sharing import merging
else:
    merging = Lazy("kiprdf.sharing.merging")

DRIVER = "kiprdf"
"""The name of the driver in ``.gitattributes`` and in the configuration."""
CONFIGURATION = {
    f"merge.{DRIVER}.name": "Merge snapshots of kiprdf",
    f"merge.{DRIVER}.driver": "kiprdf git-merge %O %A %B --path=%P --marker-size=%L",
    f"diff.{DRIVER}.textconv": "kiprdf git-show",
}
MARKER_SIZE = 7
"""How long the markers of a conflict are, but for a merge of two bases, whose are longer."""
_LABELS = ("-L", "ours", "-L", "base", "-L", "theirs")
"""What the markers of a merge as text name."""
_ATTRIBUTES = ("merge", "diff")
_PATTERN = re.compile(r"(?!!|\[attr\]|\.{1,2}/)[^\x00-\x1f\x7f]+")
"""No negation, no macro, and not ``./`` and ``../``, with which a pattern matches nothing."""
_DECLARATION = re.compile(rb'[#?] ?kiprdf \d{1,9} base <|"@base"')
_MARKER = re.compile(rb"^(?:<{7,}|>{7,}) ", re.MULTILINE)
_STATEMENT = re.compile(
    rf"^(?: +rdf:predicate|<[^<>]*> {re.escape(str(vocab.PREDICATE))}) ".encode(), re.MULTILINE
)
"""The line of a proposition of the profile ``rdf11`` that names its predicate."""


# Words ----------------------------------------------------------------------------------------


def read(content: bytes, format: formats.Format, base: str | None = None) -> OxigraphStore:
    """The dataset of a snapshot in a file; ``KipError`` for anything else.

    Its IRIs are moved to ``base``.
    """
    if base is None:
        base = _base_of(content, format)
    if base is None:
        raise KipError("KIP_1001", "It does not declare the base of a nexus.")
    dataset = reading.stage(content, format, base)
    check_dataset(dataset, Iris(base))
    return OxigraphStore(dataset.engine, base)


def _base_of(content: bytes, format: formats.Format) -> str | None:
    return reading.base_of(parsing.decoded(content, format), format)


def words(content: bytes, format: formats.Format) -> str:
    """The elements of a snapshot in the terms of KIP, sorted, and a line for each value.

    Each line names its element, so that a difference of lines is one of elements. Without versions
    and times, like ``diff``. ``KipError`` for what is no snapshot.

    >>> import kiprdf
    >>> nexus = kiprdf.Nexus.memory(genesis=False)
    >>> _ = nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Drug"} } }')
    >>> print(words(nexus.snapshot().encode(), "turtle"), end="")
    $ConceptType:Drug
    """
    store = read(content, format)
    lines: list[str] = []
    for change in difference((), StagingStore(store.engine), store.iris).changes:
        element = shown(change.identity)
        lines.append(element)
        for part in PARTS:
            for key, _, value in change.keys(part):
                assert value is not None
                lines.append(f"{element} {part}.{key}: {shown_value(value)}")
    return "".join(f"{line}\n" for line in lines)


# Merge ----------------------------------------------------------------------------------------


class Versions(NamedTuple):
    """The three versions of a file for which git runs a merge driver."""

    base: Path
    ours: Path
    theirs: Path


def merge(
    versions: Versions, name: str | None = None, marker_size: int = MARKER_SIZE
) -> tuple[int, list[str]]:
    """Merge a file as a driver of git: ours becomes the snapshot of what all three know.

    ``name`` is the path of the file in the repository. Returns the exit status, which is 1 if
    there are conflicts, and lines for people. What is no snapshot on any side is merged as text.
    Raises ``KipError`` for a snapshot that cannot be read, or not merged; ours is unchanged then.
    """
    name = name or str(versions.ours)
    format = formats.format_of(name) or "turtle"
    contents = [path.read_bytes() for path in versions]
    if not any(map(_DECLARATION.search, contents)):
        return _merge_text(versions, name, marker_size)
    stores: dict[str, OxigraphStore] = {}
    for side in ("ours", "theirs", "base"):
        content = contents[Versions._fields.index(side)]
        if side == "base" and not content:
            continue  # both have added the file
        base = stores["ours"].iris.base if stores else None
        try:
            if _MARKER.search(content):
                raise KipError("KIP_1001", "It has the conflict markers of a merge as text.")
            stores[side] = read(content, format, base)
        except KipError as error:
            error.message = f"{name} of {side} is no sound snapshot: {error.message}"
            error.hint = _as_text(name)
            raise
    ours, theirs = stores["ours"], stores["theirs"]
    profile = _profile(ours, contents[1], format) or _profile(theirs, contents[2], format)
    has_versions = _has(ours, vocab.metadata(vocab.VERSION))
    report = merging.merge_snapshots(stores.get("base"), ours, theirs)
    result = io.BytesIO()
    Serializer(
        StagingStore(ours.engine),
        format,
        ours.iris,
        profile=profile or "rdf11",
        engine_metadata=has_versions,
    ).write(result)
    files.write_whole(versions.ours, lambda output: output.write(result.getvalue()))
    # Nobody decides on the conflicts between two bases.
    lines = _lines(report, name) if marker_size <= MARKER_SIZE else ()
    return int(bool(report.open)), list(lines)


def _profile(
    store: OxigraphStore, content: bytes, format: formats.Format
) -> formats.Profile | None:
    """The profile of a snapshot; None for one without propositions."""
    if not _has(store, vocab.REIFIES):
        return None
    has_statements = format in ("jsonld", "rdfxml") or _STATEMENT.search(content)
    return "rdf11" if has_statements else "rdf12"


def _has(store: OxigraphStore, predicate: NamedNode) -> bool:
    return next(iter(store.match(None, predicate, None)), None) is not None


def _lines(report: merging.Merged, name: str) -> Iterator[str]:
    """What a person should read about a merge, and do next."""
    left = report.left()
    if left:
        yield from [f"{name}:", *left]
    if report.open:
        yield "Theirs is in the metadata conflict. Set the right values and remove these notes in"
        yield f"the file, and run git add {shlex.quote(name)}"


def _merge_text(versions: Versions, name: str, marker_size: int) -> tuple[int, list[str]]:
    """Merge a file as git does without a driver."""
    paths = map(str, (versions.ours, versions.base, versions.theirs))
    size = f"--marker-size={marker_size}"
    done = _run_git(Path(), "merge-file", size, *_LABELS, "--", *paths)
    lines = [f"{name} is no snapshot of kiprdf; it was merged as text."]
    return int(done.returncode != 0), lines


def _as_text(name: str) -> str:
    driver = f"merge.{DRIVER}.driver='git merge-file {' '.join(_LABELS)} %A %O %B'"
    command = f"git -c {driver} checkout --merge -- {shlex.quote(name)}"
    return f"Ours is unchanged. Merge it as text with {command}"


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
        message = f"{shown_text(repr(pattern))} is no pattern for .gitattributes."
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
            message = f"{shown_text(pattern)} has the attribute {name}={value} already."
            hint = "Remove it from .gitattributes, or name other files."
            raise KipError("KIP_2002", message, hint)
    return "unspecified" not in values.values()


def _git(folder: Path, *arguments: str) -> str:
    """What a command of git prints; KIP_1001 with the words of git if it fails."""
    done = _run_git(folder, *arguments)
    if done.returncode:
        message = f"git says: {shown_text(done.stderr.strip(), most=200)}"
        raise KipError("KIP_1001", message, "Run it in the working tree of a repository of git.")
    return done.stdout


def _run_git(folder: Path, *arguments: str) -> CompletedProcess[str]:
    """Run a command of git; KIP_1001 if there is no git."""
    load("subprocess")
    import subprocess

    try:
        return subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise KipError("KIP_1001", "There is no program git.", "Install git.") from None
