"""Texts that come and go as such, as paths or as open files."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import IO, TypeAlias, cast

from kiprdf.errors import KipError

Target: TypeAlias = str | os.PathLike[str] | IO[str] | IO[bytes]


def write_text(target: Target, text: str) -> None:
    """Write a text to a path, whole or not at all, or to an open file."""
    if isinstance(target, str | os.PathLike):
        _write_whole(Path(target), text)
    elif isinstance(target, io.RawIOBase | io.BufferedIOBase):
        target.write(text.encode())
    else:
        cast(IO[str], target).write(text)


def capsule_text(capsule: str | os.PathLike[str]) -> str:
    """A capsule's text: a text has braces or lines, a path to a file hardly does."""
    if isinstance(capsule, str) and ("{" in capsule or "\n" in capsule or not capsule.strip()):
        return capsule
    return _read(Path(capsule))


def snapshot_text(source: Target) -> str:
    """A snapshot's text, given as such, as a path or as an open file."""
    if isinstance(source, str) and ("\n" in source or "<" in source or not source.strip()):
        return source
    if isinstance(source, str | os.PathLike):
        return _read(Path(source))
    if not hasattr(source, "read"):
        message = "A snapshot is a path, a text or an open file."
        raise KipError("KIP_1001", message, "Give one of them.")
    return _decoded(source.read(), "The open file")


def _read(path: Path) -> str:
    try:
        return _decoded(path.read_bytes(), str(path))
    except ValueError as fault:
        raise KipError("KIP_1001", f"This is no path: {fault}.", "Give a path or a text.") from None


def _decoded(content: str | bytes, name: str) -> str:
    try:
        return content if isinstance(content, str) else content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise KipError("KIP_1001", f"{name} is no UTF-8 text.", "Save it as UTF-8.") from None


def _write_whole(path: Path, text: str) -> None:
    """Write a file so that it is either the old one or the whole new one."""
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_text(text, "utf-8", newline="\n")
        partial.replace(path)
    except OSError as fault:
        partial.unlink(missing_ok=True)
        raise type(fault)(fault.errno, fault.strerror, str(path)) from None
