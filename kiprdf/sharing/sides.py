"""The sides of a merge: nexuses, folders, snapshots, earlier commits, servers; branches; the base.

The base is the last state that both have in them. Histories that begin alike are compared by the
digests of their records, and each merge notes in the records of the nexus what it has merged
(docs/decisions/215).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import NamedTuple, TypeAlias, cast

from kiprdf.errors import KipError
from kiprdf.execution.undo import MERGED
from kiprdf.execution.writer import Writer
from kiprdf.interchange import files, snapshots
from kiprdf.interchange.dataset import check_dataset
from kiprdf.store import Delta, NexusStore, OxigraphStore, is_store
from kiprdf.store.http import HttpClient
from kiprdf.store.journal import Journal
from kiprdf.store.journal_files import link_of, number_of
from kiprdf.store.past import journal_of, open_past

Source: TypeAlias = "NexusStore | int | files.Source"
"""A nexus, a commit of the own history, or a folder, a snapshot, an address."""
MOST_BYTES = 2**30
"""The longest snapshot that is read from a server."""
BRANCH = "branch"
"""The record of a branch: the number and the digest of the record at which it began."""
KIND = "BRANCH"
"""What the history of a branch calls its first own commit."""


def branch(writer: Writer, folder: str | os.PathLike[str]) -> int:
    """Copy a nexus into a folder, and return the commit at which the branch begins.

    Raises ``KipError``: KIP_1001 for a nexus without a history, from which no base can be known;
    ``StoreError`` as a backup does.
    """
    journal_of(writer.store)
    writer.store.backup(folder, history=True)
    copy = OxigraphStore.open(folder, history=True)
    try:
        number, head = copy.commit(), copy.journal and copy.journal.head
        delta = Delta(records={BRANCH: f"{number} {head}"}, origin=writer.origin(KIND))
        copy.write(lambda: copy.apply(delta))
    finally:
        copy.close()
    return number


@contextmanager
def opened(source: Source, store: NexusStore, token: str | None = None) -> Iterator[NexusStore]:
    """The store of a side, for the nexus in ``store``; closed at the end if it was opened here.

    Raises ``KipError``: KIP_1001 for what is no side, and for the nexus itself; ``StoreError`` for
    a folder that cannot be opened, and a server that does not answer.
    """
    if is_store(source):
        if source is store or (source.folder is not None and _is_folder_of(source.folder, store)):
            raise _itself()
        yield source
        return
    other = _opened(source, store, token)
    try:
        yield other
    finally:
        other.close()


def _opened(source: object, store: NexusStore, token: str | None) -> OxigraphStore:
    if isinstance(source, int):
        return open_past(store, source)
    if isinstance(source, str) and source.startswith(("http://", "https://")):
        return _snapshot(_downloaded(source, token), store)
    if not files.is_text(source) and isinstance(source, str | os.PathLike):
        path = Path(source)
        if path.is_dir():
            if _is_folder_of(path, store):
                raise _itself()
            return OxigraphStore.open(path, read_only=True, history=True)
    return _snapshot(source, store)


def _snapshot(source: object, store: NexusStore) -> OxigraphStore:
    """The dataset of a snapshot, with the base of a store."""
    dataset = snapshots.read(cast(files.Source, source), store.iris.base)
    check_dataset(dataset, store.iris)
    return OxigraphStore(dataset.engine, store.iris.base)


def _downloaded(address: str, token: str | None) -> str:
    """The snapshot of the server at an address, as it is now."""
    client = HttpClient(f"{address.partition('?')[0].rstrip('/')}/graph?default", token or None)
    try:
        response = client.get({"Accept": "text/turtle"})
        parts, size = [], 0
        while part := response.read(1 << 20):
            size += len(part)
            if size > MOST_BYTES:
                message = f"The snapshot of {client.url} has more than {MOST_BYTES:,} bytes."
                raise KipError("KIP_4002", message, "Give a folder, or a part of it as a file.")
            parts.append(part)
        response.end()
    finally:
        client.close()
    if response.status != 200:
        message = f"{client.url} answers with the status {response.status}."
        is_refused = response.status in (401, 403)
        hint = "Give its token." if is_refused else "Give the address of a kiprdf server."
        raise KipError("KIP_1001", message, hint)
    return b"".join(parts).decode("utf-8", "replace")


def _is_folder_of(path: Path, store: NexusStore) -> bool:
    return store.folder is not None and path.exists() and path.samefile(store.folder)


def _itself() -> KipError:
    message = "Both sides of the merge are the same nexus."
    return KipError("KIP_1001", message, "Name the other one, or a commit of the own history.")


# The base -------------------------------------------------------------------------------------


class Base(NamedTuple):
    """The base of a merge: its description, and the states that it is made of.

    None of them is the empty base. Of several, the first is that of the two others.
    """

    text: str
    states: tuple[Callable[[], AbstractContextManager[NexusStore]], ...] = ()
    is_theirs: bool = False
    """Whether it is all that theirs has."""
    records: Mapping[str, str] = {}
    """What a merge notes in our records."""


class _Merged(NamedTuple):
    """A merge that was noted, by a record whose key ends in the digest of what was merged: its
    number, and that of the commit that merged it."""

    link: str
    number: int
    at: int


def base_of(ours: NexusStore, theirs: NexusStore) -> Base:
    """The last state that two nexuses have in them, by their histories."""
    if ours.journal is None or theirs.journal is None or not theirs.journal.last:
        return Base(NO_BASE)
    histories = (ours.journal, theirs.journal)
    # Another process may write theirs: its history goes on beyond the state that was opened.
    last = min(theirs.journal.last, theirs.commit())
    common = common_commit(*histories, min(last, ours.commit()))
    noted = _merged(ours)
    of_theirs = _latest(noted, theirs.journal)
    of_ours = _latest(_merged(theirs), ours.journal)
    records = {}
    if of_theirs is None or of_theirs.number < last:
        earlier = (one for one in noted if _has(theirs.journal, one))
        records = {f"{MERGED}{one.link}": "" for one in earlier}
        records[f"{MERGED}{_link_at(theirs.journal, last)[1]}"] = f"{last} {ours.commit() + 1}"

    def past(store: NexusStore, number: int) -> Callable[[], AbstractContextManager[NexusStore]]:
        return lambda: closing(open_past(store, number))

    if of_theirs and of_ours and of_theirs.at > of_ours.number and of_ours.at > of_theirs.number:
        states = (past(theirs, of_theirs.number), past(ours, of_ours.number))
        text = f"commit {of_ours.number} of this nexus and {of_theirs.number} of the other one, "
        text += "which were merged crosswise"
        first = (past(ours, common),) if common else ()
        return Base(text, (*first, *states), records=records)
    if of_theirs and (of_ours is None or of_theirs.at > of_ours.number):
        text = f"commit {of_theirs.number} of the other nexus, which was merged before"
        is_all = of_theirs.number == last
        return Base(text, (past(theirs, of_theirs.number),), is_all, records)
    if of_ours:
        text = f"commit {of_ours.number} of this nexus, which the other one has merged"
        return Base(text, (past(ours, of_ours.number),), records=records)
    if common:
        text = f"commit {common}, the last that both histories have"
        is_all = common == last
        nearer = ours if histories[0].earliest(ours.commit()) <= common else theirs
        return Base(text, (past(nearer, common),), is_all, records)
    for branch, trunk in ((theirs, ours), (ours, theirs)):
        number = branched(branch)
        # Where the trunk has that commit, the digests of its record differ.
        if number and trunk.journal and trunk.journal.earliest(trunk.commit()) > number:
            text = f"commit {number}, at which the branch began"
            return Base(text, (past(branch, number),), records=records)
    return Base(NO_BASE, records=records)


NO_BASE = "none: no common history"


def branched(store: NexusStore) -> int | None:
    """The commit at which a branch began; None for what is no branch."""
    number, _, _ = store.records().get(BRANCH, "").partition(" ")
    return int(number) if number else None


def common_commit(one: Journal, other: Journal, last: int) -> int | None:
    """The last commit, up to a number, whose record two histories have; None without any.

    The digest of a record depends on all before it, and is kept when these are compacted.
    """
    low, high = max(_first(one), _first(other)), min(one.last, other.last, last)
    if low > high or _link_at(one, low) != _link_at(other, low):
        return None
    while low < high:
        middle = (low + high + 1) // 2
        is_common = _link_at(one, middle) == _link_at(other, middle)
        low, high = (middle, high) if is_common else (low, middle - 1)
    return low


def _first(journal: Journal) -> int:
    """The first commit of the last ones without a gap that has a record."""
    earliest = journal.earliest(journal.last)
    return earliest if earliest == journal.base else earliest + 1


def _link_at(journal: Journal, number: int) -> tuple[int, str]:
    """The number and the digest of the record of a commit, or of the next one."""
    data = next(journal.records(number - 1), None)
    return (0, "") if data is None else (number_of(data), link_of(data))


def _merged(store: NexusStore) -> list[_Merged]:
    """The merges that a nexus has noted."""
    noted = []
    for key, value in store.records().items():
        if key.startswith(MERGED) and value:
            number, _, at = value.partition(" ")
            noted.append(_Merged(key.removeprefix(MERGED), int(number), int(at)))
    return noted


def _latest(noted: list[_Merged], journal: Journal) -> _Merged | None:
    """The last of some merges whose commit is in a history, which still reaches it."""
    merged = (one for one in noted if _has(journal, one))
    return max(merged, key=lambda one: one.number, default=None)


def _has(journal: Journal, one: _Merged) -> bool:
    within = _first(journal) <= one.number <= journal.last
    return within and _link_at(journal, one.number) == (one.number, one.link)
