"""Reads and writes texts, paths and open files."""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, TypeAlias, TypeVar, cast

from kiprdf.errors import KipError, shown
from kiprdf.interchange import formats
from kiprdf.interchange.compression import expanded, plain_name
from kiprdf.interchange.formats import Format

T = TypeVar("T")
Target: TypeAlias = str | os.PathLike[str] | IO[str] | IO[bytes]
Source: TypeAlias = Target | bytes
"""A document: its text or bytes, a path to it, or an open file. It may be compressed."""


def write_text(target: Target | None, text: str) -> str:
    """Write a text atomically to a path, or to an open file; None as target writes nothing.

    Returns the text.
    """
    if isinstance(target, str | os.PathLike):
        write_whole(Path(target), lambda output: output.write(text.encode()))
    elif target is not None:
        write_open(target, lambda: _write_open(target, text))
    return text


def _write_open(target: Any, text: str) -> None:
    if isinstance(target, io.RawIOBase | io.BufferedIOBase) or "b" in str(
        getattr(target, "mode", "")
    ):
        target.write(text.encode())
    else:
        target.write(text)


def write_open(target: object, write: Callable[[], T]) -> T:
    """Call a function that writes an open file; KIP_1001 if the file cannot be written."""
    if isinstance(target, io.IOBase) and target.closed:
        raise KipError("KIP_1001", "The file is closed.", "Give its path, or a file that is open.")
    try:
        return write()
    except UnicodeEncodeError as fault:
        message = f"The file is open as {fault.encoding.upper()}, which lacks some characters."
        raise KipError("KIP_1001", message, 'Open it with encoding="utf-8".') from None


def write_whole(path: Path, write: Callable[[IO[bytes]], T]) -> T:
    """Write a file atomically: it is always the old one or the complete new one.

    It is written beside the target under an unpredictable name. An existing file keeps its
    permissions, a symbolic link is followed. Devices and pipes are written directly.
    """
    target = _target(path)
    partial = target.with_name(f".{os.urandom(8).hex()}.partial")
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as output:
                return write(output)
        with partial.open("xb") as output:
            result = write(output)
            output.flush()
            os.fsync(output.fileno())
        with suppress(OSError):
            partial.chmod(stat.S_IMODE(target.stat().st_mode))
        partial.replace(target)
    except BaseException as fault:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        if isinstance(fault, OSError) and fault.filename in (None, str(partial), str(target)):
            raise OSError(fault.errno, fault.strerror, str(path)) from None
        raise
    return result


def _target(path: Path) -> Path:
    """The file to be written; links are followed."""
    try:
        target = Path(os.path.realpath(path))
    except ValueError as fault:
        raise _no_path(fault) from None
    if os.path.isdir(target):  # the method raises an error for a name that is too long
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return target


def _no_path(fault: ValueError) -> KipError:
    return KipError("KIP_1001", f"This is not a path: {fault}.", "Give a path.")


def capsule_text(capsule: str | os.PathLike[str]) -> str:
    """The text of a capsule, given as text (a string with braces or newlines) or as a path."""
    if isinstance(capsule, str) and ("{" in capsule or "\n" in capsule or not capsule.strip()):
        return capsule
    return text(Path(capsule))


def content(source: Source) -> str | bytes:
    """The content of a document, expanded if it is compressed."""
    if is_text(source):
        return cast(str, source)
    if isinstance(source, str | os.PathLike):
        return expanded(_bytes(Path(source)), name_of(source))
    if isinstance(source, bytes):
        return expanded(source)
    if not hasattr(source, "read"):
        message = "A document is a path, a text, bytes or an open file."
        raise KipError("KIP_1001", message, "Give one of them.")
    return _read_open(source)


def text(source: Source) -> str:
    """The UTF-8 text of a document; KIP_1001 for another one."""
    data = content(source)
    try:
        return data.decode("utf-8-sig") if isinstance(data, bytes) else data
    except UnicodeDecodeError:
        name = name_of(source) or "The text"
        raise KipError("KIP_1001", f"{name} is not UTF-8 text.", "Save it as UTF-8.") from None


class Buffered:
    """The content and the name of an open file, to be read more than once."""

    def __init__(self, file: Any) -> None:
        self._content = _read_open(file)
        self.name = getattr(file, "name", None)

    def read(self) -> str | bytes:
        """The content."""
        return self._content


def is_text(source: object) -> bool:
    """Whether a value is a document and not a path: a string with newlines or brackets."""
    return isinstance(source, str) and (
        any(mark in source for mark in "\n<{[") or not source.strip()
    )


def name_of(source: object) -> str | None:
    """The name of a path or of an open file; None for a text."""
    if is_text(source):
        return None
    if isinstance(source, str | os.PathLike):
        return Path(source).name
    name = getattr(source, "name", None)
    return Path(name).name if isinstance(name, str) else None


def format_of(target: object) -> Format | None:
    """The format for the suffix of a path or of an open file's name, below that of an archive."""
    name = name_of(target)
    return None if name is None else formats.format_of(plain_name(name))


def format_to_write(target: object) -> Format:
    """The format of a file to be written: that of its suffix, Turtle where there is none."""
    name = name_of(target)
    if name is not None and Path(name).suffix and formats.format_of(name) is None:
        message = f"The suffix of {shown(name)} is not that of an RDF format."
        hint = "Formats: turtle, trig, ntriples, nquads, jsonld, rdfxml; or end the name in .ttl."
        raise KipError("KIP_1001", message, hint)
    return format_of(target) or "turtle"


def _read_open(source: IO[str] | IO[bytes]) -> str | bytes:
    try:
        content = source.read()
    except UnicodeDecodeError as fault:
        message = f"The file is not {fault.encoding.upper()} text."
        raise KipError("KIP_1001", message, "Save it as UTF-8, or open it in binary.") from None
    except ValueError as fault:
        if isinstance(fault, OSError):
            raise
        message = f"The file cannot be read: {str(fault).rstrip('.')}."
        raise KipError("KIP_1001", message, "Give its path, or a file that is open.") from None
    if isinstance(content, str):
        return content
    if isinstance(content, bytes):
        return expanded(content, name_of(source))
    message = "Reading the file returns neither a string nor bytes."
    raise KipError("KIP_1001", message, "Give a file of text or bytes.")


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except ValueError as fault:
        raise _no_path(fault) from None
