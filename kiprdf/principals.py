"""Who may do what: the principals of a file, ``principals.toml`` (docs/how-to/serve.md).

A principal is a name with a kind, what it may do, and the SHA-256 of its token. The file is checked
strictly; an error is one sentence with the line or the entry.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import re
import secrets
import tempfile
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from kiprdf.actors import ACCESSES, KINDS, Access, Actor, Kind
from kiprdf.spelling import fault_of_name, key_of_name, keys_of_name
from kiprdf.turns import turn

NAME_CHARACTERS = 100
RESERVED = ("owner", "local", "network", "token", "read-token", "mcp", "$self", "$system")
"""The names of those whom no file lists."""
CHECK_SECONDS = 1.0
"""How often it is looked whether a file has changed."""
_FIELDS = ("name", "kind", "access", "token_sha256", "scopes")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_NO_TOKEN = hashlib.sha256(b"").hexdigest()
_HEADER = re.compile(r"""\s*\[\[\s*(principal|"principal"|'principal')\s*\]\]\s*(#.*)?""")
_log = logging.getLogger("kiprdf.serve")


class PrincipalsError(ValueError):
    """A file of principals that cannot be used, or changed; one sentence."""


class Principal(NamedTuple):
    """Who sends requests: a name, a kind, and what it may do."""

    name: str
    kind: Kind
    access: Access
    token_sha256: str = ""
    scopes: Mapping[str, Any] = MappingProxyType({})

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the scopes that it reads, the last one of which wins."""
        return tuple(self.scopes.get("read", ()))

    @property
    def writes(self) -> str | None:
        """The name of the scope that it writes, one of those that it reads."""
        return self.scopes.get("write")

    def actor(self, session: str) -> Actor:
        """The principal in a session."""
        return Actor(self.name, session, self.kind, self.access)


def digest_of(token: str) -> str:
    """What a file has of a token."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def with_token(token: str, principals: Iterable[Principal]) -> Principal | None:
    """The principal with a token; each one is compared, in constant time."""
    chosen, digest = None, digest_of(token)
    for principal in principals:
        if hmac.compare_digest(digest, principal.token_sha256):
            chosen = principal
    return chosen


# Reading --------------------------------------------------------------------------------------


def read(path: str | os.PathLike[str]) -> tuple[Principal, ...]:
    """The principals of a file; raises ``PrincipalsError``."""
    return _read(_text(Path(path)), path)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as fault:
        line = fault.object.count(b"\n", 0, fault.start) + 1
        raise PrincipalsError(f"{path} is not UTF-8 (at line {line}).") from None
    except OSError as fault:
        raise PrincipalsError(f"{path} cannot be read: {fault.strerror or fault}.") from None


def _read(text: str, path: object) -> tuple[Principal, ...]:
    try:
        content = tomllib.loads(text)
    except ValueError as fault:
        raise PrincipalsError(f"{path} is not TOML: {fault}.") from None
    except RecursionError:
        raise PrincipalsError(
            f"{path} is not TOML that can be read: it nests too deeply."
        ) from None
    tables = content.pop("principal", [])
    if content:
        form = "it has [[principal]] tables only"
        raise PrincipalsError(f"{path} has a field {next(iter(content))!r}; {form}.")
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise PrincipalsError(f"{path} has a principal that is no table: write [[principal]].")
    principals: list[Principal] = []
    names: dict[str, str] = {}
    for number, table in enumerate(tables, start=1):
        place = f"{path}, principal {number}"
        if isinstance(table.get("name"), str):
            place += f" ({table['name']!r:.60})"
        principal = _principal(table, place)
        for key in keys_of_name(principal.name):
            if key in names:
                raise PrincipalsError(f"{place}: the name is taken by {names[key]!r}.")
        if any(other.token_sha256 == principal.token_sha256 for other in principals):
            raise PrincipalsError(f"{place}: another principal has the same token.")
        names |= dict.fromkeys(keys_of_name(principal.name), principal.name)
        principals.append(principal)
    return tuple(principals)


def _principal(table: dict[str, Any], place: str) -> Principal:
    for key in table:
        if key not in _FIELDS:
            fields = ", ".join(_FIELDS)
            raise PrincipalsError(f"{place}: {key!r:.60} is no field; the fields are {fields}.")
    for key in _FIELDS[:-1]:
        if not isinstance(table.get(key), str):
            what = "is missing" if key not in table else "is no text"
            raise PrincipalsError(f"{place}: {key} {what}.")
    fault = name_fault(table["name"])
    if fault is not None:
        raise PrincipalsError(f"{place}: the name {fault}.")
    for key, values in (("kind", KINDS), ("access", ACCESSES)):
        if table[key] not in values:
            listed = f"{', '.join(values[:-1])} or {values[-1]}"
            raise PrincipalsError(f"{place}: {key} is {listed}, not {table[key]!r:.60}.")
    digest = table["token_sha256"].lower()
    if not _DIGEST.fullmatch(digest):
        raise PrincipalsError(f"{place}: token_sha256 is a SHA-256 in 64 hexadecimal digits.")
    if digest == _NO_TOKEN:
        raise PrincipalsError(f"{place}: token_sha256 is that of an empty token.")
    scopes = table.get("scopes", {})
    fault = _fault_of_scopes(scopes, table["access"]) if "scopes" in table else None
    if fault is not None:
        raise PrincipalsError(f"{place}: {fault}.")
    named = {**table, "token_sha256": digest, "scopes": MappingProxyType(scopes)}
    return Principal(**named)


def name_fault(name: str) -> str | None:
    """Why a text cannot be the name of a principal; None if it can."""
    if not name.strip():
        return "is empty"
    if len(name) > NAME_CHARACTERS:
        return f"has more than {NAME_CHARACTERS} characters"
    if name != name.strip() or not name.isprintable():
        return "has blanks around it, or characters that nobody sees"
    if not {key_of_name(one) for one in (*RESERVED, "")}.isdisjoint(keys_of_name(name)):
        return f"belongs to kiprdf itself, as {', '.join(RESERVED)}"
    return None


def _fault_of_scopes(value: Any, access: str) -> str | None:
    """Why a value cannot be the scopes of a principal; None if it can."""
    form = 'scopes is { read = ["NAME", …], write = "NAME" }, with at least one to read'
    if not isinstance(value, dict) or value.keys() - {"read", "write"}:
        return form
    names, written = value.get("read"), value.get("write")
    if not isinstance(names, list) or not names or not isinstance(written, str | None):
        return form
    if not all(isinstance(name, str) and name for name in names):
        return form
    seen: dict[str, Any] = {}
    for name in names:
        fault = fault_of_name(name)
        if fault is not None:
            return f"the scope {name!r:.60} cannot be there: {fault}"
        for key in keys_of_name(name):
            if key in seen:
                return f"the scopes {seen[key]!r:.60} and {name!r:.60} are one name"
        seen |= dict.fromkeys(keys_of_name(name), name)
    if written is not None and written not in names:
        return f"it writes the scope {written!r:.60} and does not read it: add it to read, too"
    if written is not None and access == "read":
        return "it writes a scope, and has the access 'read' only"
    return None


class PrincipalsFile:
    """The principals of a file, as it was when it could last be read.

    Raises ``PrincipalsError`` for one that cannot be read at first.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._seen = self._state()
        self._principals = read(self.path)
        self._looked = time.monotonic()
        self._fault = ""

    def principals(self) -> tuple[Principal, ...]:
        """Those of the file as it is now, or was a second ago."""
        now = time.monotonic()
        if now - self._looked >= CHECK_SECONDS:
            self._looked = now
            if self._state() != self._seen:
                self.reload()
        return self._principals

    def reload(self) -> None:
        """Read the file again; if that fails, keep what was read before, and log why, once."""
        self._seen = self._state()
        try:
            self._principals = read(self.path)
        except PrincipalsError as error:
            if str(error) != self._fault:
                _log.warning("%s The principals stay as they were.", error)
            self._fault = str(error)
            return
        self._fault = ""
        _log.info("The principals were read again: there are %s.", len(self._principals))

    def _state(self) -> tuple[int, int, int] | None:
        with suppress(OSError):
            stat = self.path.stat()
            return stat.st_mtime_ns, stat.st_size, stat.st_ino
        return None


# Writing --------------------------------------------------------------------------------------


def add(
    path: str | os.PathLike[str],
    name: str,
    kind: Kind,
    access: Access,
    scopes: Mapping[str, Any] = MappingProxyType({}),
) -> str:
    """Append a principal to a file, which is created if there is none; return its new token.

    Raises ``PrincipalsError``, and the file stays as it was.
    """
    token = f"kip_{secrets.token_urlsafe(32)}"
    values = {"name": name, "kind": kind, "access": access, "token_sha256": digest_of(token)}
    with _changing(path) as file:
        text = _text(file) if file.exists() else ""
        _read(text, path)
        block = "".join(f"{key} = {_quoted(value)}\n" for key, value in values.items())
        if scopes:
            fields = (f"{key} = {_quoted(value)}" for key, value in scopes.items())
            block += f"scopes = {{ {', '.join(fields)} }}\n"
        separator = "\n" if text and not text.endswith("\n") else ""
        separator += "\n" if text else ""
        text += f"{separator}[[principal]]\n{block}"
        _read(text, path)
        _replace(file, text)
    return token


def remove(path: str | os.PathLike[str], name: str) -> None:
    """Remove the entry of a principal from a file; raises ``PrincipalsError``."""
    with _changing(path) as file:
        text = _text(file)
        principals = _read(text, path)
        names = [principal.name for principal in principals]
        if name not in names:
            listed = ", ".join(names) or "nobody"
            raise PrincipalsError(f"{path} has no principal {name!r}; it has {listed}.")
        left = tuple(one for one in principals if one.name != name)
        shorter = _without(text, names.index(name))
        try:
            is_right = _read(shorter, path) == left
        except PrincipalsError:
            is_right = False
        if not is_right:
            raise PrincipalsError(f"{path} has another form than kiprdf writes: remove it by hand.")
        _replace(file, shorter)


def _without(text: str, number: int) -> str:
    """A text without a table of principals; comments before the next one belong to that."""
    lines = text.splitlines(keepends=True)
    starts = [at for at, line in enumerate(lines) if _HEADER.fullmatch(line.rstrip("\r\n"))]
    if number >= len(starts):
        return text
    start, end = starts[number], [*starts, len(lines)][number + 1]
    while not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#"):
        end -= 1
    return "".join((*lines[:start], *lines[end:]))


def _quoted(value: str | list[str]) -> str:
    """A text or a list of texts in TOML, whose strings are those of JSON."""
    return json.dumps(value, ensure_ascii=False)


@contextmanager
def _changing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The file itself, where a path is a link; others who change it with kiprdf wait."""
    file = Path(os.path.realpath(path))
    with ExitStack() as stack:
        try:
            stack.enter_context(turn(file.parent))
        except OSError as fault:
            raise PrincipalsError(f"{path} cannot be written: {fault.strerror}.") from None
        yield file


def _replace(file: Path, text: str) -> None:
    """Replace a file at once; a new one is readable by its owner alone."""
    partial = None
    try:
        number, partial = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
        with open(number, "w", encoding="utf-8", newline="") as written:
            written.write(text)
            written.flush()
            os.fsync(number)
        if file.exists():
            os.chmod(partial, file.stat().st_mode & 0o7777)
        os.replace(partial, file)
    except OSError as fault:
        if partial is not None:
            with suppress(OSError):
                os.unlink(partial)
        raise PrincipalsError(f"{file} cannot be written: {fault.strerror}.") from None
