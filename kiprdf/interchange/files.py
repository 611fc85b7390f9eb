"""Texts that come and go as such, as paths or as open files."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, TypeAlias, TypeVar, cast

from kiprdf.errors import KipError

T = TypeVar("T")
Target: TypeAlias = str | os.PathLike[str] | IO[str] | IO[bytes]
Source: TypeAlias = Target
"""A document: its text, a path to it, or an open file."""


def write_text(target: Target, text: str) -> None:
    """Write a text to a path, whole or not at all, or to an open file."""
    if isinstance(target, str | os.PathLike):
        write_whole(Path(target), lambda output: output.write(text.encode()))
    elif isinstance(target, io.RawIOBase | io.BufferedIOBase):
        target.write(text.encode())
    else:
        cast(IO[str], target).write(text)


def write_whole(path: Path, write: Callable[[IO[bytes]], T]) -> T:
    """Let a file be written so that it is either the old one or the whole new one."""
    partial = path.with_name(path.name + ".partial")
    try:
        with partial.open("wb") as output:
            result = write(output)
        partial.replace(path)
    except OSError as fault:
        partial.unlink(missing_ok=True)
        raise type(fault)(fault.errno, fault.strerror, str(path)) from None
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return result


def capsule_text(capsule: str | os.PathLike[str]) -> str:
    """A capsule's text: a text has braces or lines, a path to a file hardly does."""
    if isinstance(capsule, str) and ("{" in capsule or "\n" in capsule or not capsule.strip()):
        return capsule
    return _read(Path(capsule))


def content(source: Source) -> str | bytes:
    """What a document holds that is given as such, as a path or as an open file."""
    if is_text(source):
        return cast(str, source)
    if isinstance(source, str | os.PathLike):
        return _bytes(Path(source))
    if not hasattr(source, "read"):
        message = "A document is a path, a text or an open file."
        raise KipError("KIP_1001", message, "Give one of them.")
    return _read_open(source)


def is_text(source: object) -> bool:
    """Whether a string is a document: one has lines or brackets, a path hardly does."""
    return isinstance(source, str) and (
        any(mark in source for mark in "\n<{[") or not source.strip()
    )


def name_of(source: object) -> str | None:
    """What a path, or an open file, is called; None for a text."""
    if is_text(source):
        return None
    if isinstance(source, str | os.PathLike):
        return Path(source).name
    name = getattr(source, "name", None)
    return Path(name).name if isinstance(name, str) else None


def _read_open(source: IO[str] | IO[bytes]) -> str | bytes:
    try:
        found = source.read()
    except UnicodeDecodeError as fault:
        message = f"The file is no {fault.encoding.upper()} text."
        raise KipError("KIP_1001", message, "Save it as UTF-8, or open it in binary.") from None
    if isinstance(found, str | bytes):
        return found
    message = "A document is a text or bytes; this file gives neither."
    raise KipError("KIP_1001", message, "Open a file of RDF.")


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except ValueError as fault:
        raise KipError("KIP_1001", f"This is no path: {fault}.", "Give a path or a text.") from None


def _read(path: Path) -> str:
    content = _bytes(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise KipError("KIP_1001", f"{path} is no UTF-8 text.", "Save it as UTF-8.") from None
