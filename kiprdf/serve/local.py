"""The note in a folder that leads local MCP clients to the process that holds it (decision 240)."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

from kiprdf.actors import KINDS, Access, Kind
from kiprdf.principals import Principal, name_fault
from kiprdf.serve.options import MCP, is_loopback, is_own_address

FILE = "server.json"
CLIENT = "kiprdf-client"
"""The header that says who a local client is."""
_LONGEST = 4096
# Not on Windows: follow no link, and do not wait at a named pipe.
_NO_WAYS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_log = logging.getLogger("kiprdf.serve")


class Local(NamedTuple):
    """The address of the process that holds a folder, and the token that lets its owner in."""

    address: str
    token: str


@contextmanager
def noted(folder: Path, local: Local) -> Iterator[None]:
    """Note an address in a folder that this process holds, for its owner only, in a block.

    The file is locked as long as the process lives. Where it cannot be written, there is none.
    """
    path = folder / FILE
    try:
        # Whoever has made or opened one that is there, must not read this one.
        path.unlink(missing_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as fault:
        _log.warning("Other clients of MCP are not let in: %s.", fault)
        yield
        return
    try:
        with suppress(ImportError):  # on Windows, where an open file cannot be removed
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        os.write(file, json.dumps(local._asdict()).encode())
        yield
    finally:
        with suppress(OSError):
            os.ftruncate(file, 0)
            path.unlink()
        os.close(file)


def noted_in(folder: Path) -> Local | None:
    """What the process that holds a folder has noted; None without one that lives.

    Nor is what another user has put there a note.
    """
    path = folder / FILE
    try:
        file = os.open(path, os.O_RDONLY | _NO_WAYS)
    except OSError:
        return None
    text = b""
    try:
        trusted = (folder.stat().st_uid, getattr(os, "geteuid", int)())  # all 0 on Windows
        if os.fstat(file).st_uid not in trusted:
            return None
        text = os.read(file, _LONGEST)
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return None  # it was killed
        except ImportError:  # on Windows
            os.close(file)
            file = -1
            path.unlink()
            return None
    except OSError:
        return _read(text)
    finally:
        if file >= 0:
            os.close(file)


def _read(text: bytes) -> Local | None:
    """A note; None for one that is half written, or leads to another machine."""
    try:
        content = json.loads(text)
        local = Local(str(content["address"]), str(content["token"]))
        host = urlsplit(local.address).hostname or ""
    except (ValueError, KeyError, TypeError):
        return None
    return local if is_loopback(host) or is_own_address(host) else None


def header_of(client: Principal) -> str:
    """The value of the header ``CLIENT``.

    >>> header_of(MCP)
    'model/write/mcp'
    """
    return f"{client.kind}/{client.access}/{quote(client.name)}"


def client_in(header: str) -> Principal | None:
    """The principal that a header names, which writes at most; None for another text.

    >>> client_in("model/propose/claude"), client_in("model/admin/claude")
    (Principal(name='claude', kind='model', access='propose', token_sha256='', ...), None)
    """
    kind, access, name = ([*header.split("/", 2), "", ""])[:3]
    name = unquote(name)
    kinds: dict[str, Kind] = {one: one for one in KINDS}
    accesses: dict[str, Access] = {"read": "read", "propose": "propose", "write": "write"}
    if kind in kinds and access in accesses and (name == MCP.name or name_fault(name) is None):
        return Principal(name, kinds[kind], accesses[access])
    return None
