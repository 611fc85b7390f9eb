"""What is followed: the log of another nexus, read from its folder, a file, or a server.

Each is a log of RDF Patches (docs/decisions/099), read patch by patch within limits:
an answer that is cut leaves the commits that came whole.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

from kiprdf.errors import KipError, StoreError, shown
from kiprdf.interchange.differences.patch_log import commit_of, written
from kiprdf.store import OxigraphStore
from kiprdf.store.http import HttpClient, shown_url
from kiprdf.store.journal_files import Commit
from kiprdf.store.past import KIND as BASE

LINE_BYTES = 32 * 1024**2
ANSWER_BYTES = 1024**3
"""The most that is read at once: the next reading goes on from there."""
PATCH_SECONDS = 120.0
"""The time within which the next whole patch has to come."""
IDLE_SECONDS = 30.0
_BLOCK = 1 << 16
_TYPE = "application/rdf-patch"
_END = b"TC ."


class Patch(NamedTuple):
    """A commit of a log: the ids of its patch and of the one before, which nexus it is of, and the
    base of its IRIs."""

    commit: Commit
    id: str
    previous: str | None
    replica: str
    base: str


class Reading(NamedTuple):
    """The commits that came whole, and why there are no more, if that is a fault.

    ``has_more`` says that the log goes on behind a limit.
    """

    patches: list[Patch]
    fault: Exception | None = None
    has_more: bool = False


class Source:
    """A log that can be read from any commit on.

    ``name`` is shown, and noted as ``via``; ``key`` is the same for the same source.
    """

    def __init__(self, given: str | os.PathLike[str], token: str | None = None) -> None:
        text = os.fspath(given)
        self._is_address = text.startswith(("http://", "https://"))
        self._token = token
        self._text = text
        if self._is_address:
            self.name = shown_url(text).rstrip("/")
            place = self.name
        else:
            self.name = text
            place = str(Path(text).absolute())
            if token is not None:
                message = "A token is for the address of a server."
                raise KipError("KIP_1001", message, "Leave it out.")
            if not Path(text).exists():
                message = f"There is no folder, file or address {text!r}."
                hint = "Name the folder of a nexus, a file of patches, or http://…"
                raise KipError("KIP_1001", message, hint)
        self.key = hashlib.sha256(place.encode()).hexdigest()[:16]

    def read(self, after: int) -> Reading:
        """The commits above a number, or from the whole dataset on where that is gone.

        Raises ``KipError`` for what is no log, or not in its order, ``StoreError`` for a source
        that cannot be read at all.
        """
        patches: list[Patch] = []
        last = after
        try:
            for patch in self._patches(after):
                last = patch.commit.number
                if last > after or not after:
                    _require_order(patches, patch)
                    patches.append(patch)
        except _LimitError:
            if not patches:
                message = f"{self.name} sends {ANSWER_BYTES:,} bytes without a commit."
                raise KipError("KIP_4002", message, "Follow another source.") from None
            return Reading(patches, has_more=True)
        except StoreError as fault:
            return Reading(patches, fault)
        if last < after:
            raise rolled_back(self.name, f"It ends at commit {last}; {after} was followed.")
        return Reading(patches)

    def _patches(self, after: int) -> Iterator[Patch]:
        if self._is_address:
            return _split(self._answer(after))
        if Path(self._text).is_dir():
            return self._in_folder(after)
        return _split(self._in_file())

    def _in_folder(self, after: int) -> Iterator[Patch]:
        store = OxigraphStore.open(self._text, read_only=True)
        try:
            try:
                texts = [text for _, text in written(store, after)]
            except KipError as error:
                if error.code != "KIP_3002" or store.commit() < after:
                    raise _rolled_back(error, self.name) from None
                texts = [text for _, text in written(store)]
            yield from map(_patch, texts)
        finally:
            with suppress(StoreError):
                store.close()

    def _in_file(self) -> Iterator[bytes]:
        with Path(self._text).open("rb") as file:
            while block := file.read(_BLOCK):
                yield block

    def _answer(self, after: int) -> Iterator[bytes]:
        """The answer of a server; where it has no commits from there on, all."""
        parts = urlsplit(self._text)
        path = parts.path.rstrip("/")
        path = path if path.endswith("/feed") else f"{path}/feed"
        query = f"format=patch&from={after}"
        url = urlunsplit((parts.scheme, parts.netloc, path, query, ""))
        client = HttpClient(url, self._token, idle_s=IDLE_SECONDS)
        try:
            response = client.get({"Accept": _TYPE})
            if response.status == 410 and after:
                response.end()
                yield from self._answer(0)
                return
            if response.status != 200:
                raise _refused(response.status, response.read(_BLOCK), self.name)
            lengths = map(response.headers.get, ("Content-Length", "Transfer-Encoding"))
            is_begun = any(length is not None for length in lengths)
            while block := response.read(_BLOCK):
                is_begun = True
                yield block
            if not is_begun:  # its headers were cut
                raise SourceError(f"The answer of {self.name} is incomplete.")
            response.end()
        finally:
            client.close()


class _LimitError(Exception):
    """As much was read as is read at once."""


class SourceError(StoreError):
    """A source that cannot be read to its end."""

    hint = "Follow it again when it answers: what came whole is kept."


def _split(blocks: Iterable[bytes]) -> Iterator[Patch]:
    """The patches of a text that comes in blocks."""
    lines: list[bytes] = []
    rest, size, began = b"", 0, time.monotonic()
    for block in blocks:
        size += len(block)
        *whole, rest = (rest + block).split(b"\n")
        if max(map(len, [*whole, rest])) > LINE_BYTES:
            message = f"A line of the log has more than {LINE_BYTES // 1024**2} MB."
            raise KipError("KIP_4002", message, "Follow another source.")
        for line in whole:
            lines.append(line)
            if line == _END:
                yield _patch(_text(lines))
                lines, began = [], time.monotonic()
        if time.monotonic() - began > PATCH_SECONDS:
            raise SourceError(f"No whole patch came within {PATCH_SECONDS:g} s.")
        if size > ANSWER_BYTES:
            raise _LimitError
    rows = [line for line in (*lines, rest) if line.strip()]
    if rows and not rows[0].startswith(b"H "[: len(rows[0])]):
        raise _no_log(f"it has the line {shown(rows[0].decode(errors='replace')[:80])}")
    if rows:
        raise SourceError("The log ends in the middle of a patch.")


def _text(lines: list[bytes]) -> str:
    try:
        return b"\n".join([*lines, b""]).decode()
    except UnicodeDecodeError:
        raise _no_log("its text is not UTF-8") from None


def _patch(text: str) -> Patch:
    headers, commit = commit_of(text)
    missing = [name for name in ("id", "base", "replica") if not headers.get(name)]
    if missing:
        raise _no_log(f"a patch has no {missing[0]}")
    return Patch(commit, headers["id"], headers.get("prev"), headers["replica"], headers["base"])


def _require_order(patches: list[Patch], patch: Patch) -> None:
    """Raise KIP_1001 for a patch that does not follow those before."""
    if not patches:
        return
    last = patches[-1]
    follows = patch.commit.first == last.commit.number + 1 and patch.commit.origin.kind != BASE
    if not follows or patch.previous != last.id or patch[3:] != last[3:]:
        raise _no_log(f"commit {patch.commit.number} does not follow {last.commit.number}")


def _no_log(why: str) -> KipError:
    message = f"This is no log of a nexus: {why}."
    hint = "Follow a folder, the address of kiprdf serve, or a file of snapshot(…, history=FILE)."
    return KipError("KIP_1001", message, hint)


def _rolled_back(error: KipError, name: str) -> KipError:
    return error if error.code != "KIP_3002" else rolled_back(name, error.message)


def rolled_back(name: str, message: str) -> KipError:
    """The error of a source whose commits are not those that were followed."""
    hint = "It may be an older copy. Remove the file 'replica' of its folder: then it is another."
    return KipError("KIP_3002", f"{name} has lost commits that were followed. {message}", hint)


def _refused(status: int, body: bytes, name: str) -> Exception:
    if status in (401, 403):
        message = f"{name} does not let this token read (HTTP {status})."
        return KipError("KIP_3004", message, "Give a token that may read it.")
    if status == 404 and b"KIP_3002" in body:
        return rolled_back(name, "Its last commit is an earlier one.")
    if 300 <= status < 400:
        message = f"{name} redirects to another address, which is not followed."
        return KipError("KIP_1001", message, "Give the address that it leads to.")
    if status == 404:
        message = f"{name} has no feed (HTTP 404)."
        return KipError("KIP_3002", message, "Give the address of kiprdf serve, or of a scope.")
    return SourceError(f"{name} answers with HTTP {status}.")
