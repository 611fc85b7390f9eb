"""What the records of the journal lead to, and a damaged graph that is rebuilt from them."""

from __future__ import annotations

import itertools
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from pyoxigraph import Literal, NamedNode, Quad, Triple
from pyoxigraph import Store as Engine

from kiprdf.checksums import FileSums
from kiprdf.errors import DamagedGraphError, StoreError
from kiprdf.loading import lazy_logger
from kiprdf.rdf.literals import normal
from kiprdf.store.bookkeeping import readable, texts_in
from kiprdf.store.delta import Origin
from kiprdf.store.folder import (
    DAMAGED,
    graph_folder,
    is_erasing,
    locked,
    notes_of,
    open_engine,
    read_base,
    write_afresh,
)
from kiprdf.store.journal import FOLDER, Journal
from kiprdf.store.journal_files import Commit

_REBUILT = (
    "The graph of the nexus in %s was damaged. It was written again from its history, as of commit "
    "%d; the damaged one is in %s."
)
_log = lazy_logger("kiprdf")


def rebuild(path: Path, *, even_if_sound: bool = False) -> bool:
    """Write the graph of a folder again, and keep the damaged one in ``damaged``.

    False, and nothing is changed, where the journal lacks a commit: where it is damaged, does not
    begin with the whole dataset, or was not written at last. Raises ``StoreError``.
    """
    if is_erasing(path) or not (path / FOLDER).is_dir():
        return False
    with locked(path), _alone(path / FOLDER):
        engine = _locked(path) if even_if_sound else None
        if not even_if_sound and _is_sound(path):  # another process has rebuilt it
            return True
        journal = Journal(path / FOLDER, read_only=True)
        last, base, damaged = journal.last, read_base(path), graph_folder(path)
        quads = quads_of(journal, base)
        if quads is None:
            return False
        write_afresh(path, base, quads, None)
        del engine
        with suppress(OSError):
            (path / DAMAGED).mkdir(exist_ok=True)
            damaged.rename(path / DAMAGED / f"{damaged.name}-{os.urandom(4).hex()}")
    log = _log.info if even_if_sound else _log.warning
    log(_REBUILT, path, last, path / DAMAGED)
    return True


def quads_of(journal: Journal, base: str) -> Iterator[Quad] | None:
    """The graph to which all records lead; None where the journal lacks a commit."""
    whole = journal.from_nothing(journal.last)
    if not journal.last or journal.is_closed or whole is None or journal.verify():
        return None
    commits = list(whole)
    dataset = Engine()
    dataset.bulk_extend(Quad(*triple) for triple, is_there in replayed(commits).items() if is_there)
    notes = notes_of(base, noted(commits), *journal.anchor().notes(journal.last))
    return itertools.chain(dataset, texts_in(dataset), notes)


def _locked(path: Path) -> Engine | None:
    """The graph, so that no other process opens it meanwhile; None if it cannot be opened.

    Raises ``StoreError`` if another process has it open.
    """
    with suppress(DamagedGraphError):
        if (graph_folder(path) / "CURRENT").is_file():
            return open_engine(path, read_only=False)
    return None


def _is_sound(path: Path) -> bool:
    """Whether every byte of the files is as it was written, and every quad can be read."""
    try:
        # Nobody else replaces files now.
        engine = open_engine(path, read_only=True, attempts=1)
        deque(readable(engine, None, None, None), maxlen=0)
    except DamagedGraphError:
        return False
    return not FileSums(graph_folder(path)).damaged(every_byte=True)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """While no other process rebuilds; raises ``StoreError`` if one does."""
    try:
        import fcntl
    except ImportError:  # on Windows
        yield
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        message = f"Another process rebuilds the nexus in {folder.parent}; open it again later."
        raise StoreError(message) from None
    finally:
        os.close(opened)


# What records lead to -------------------------------------------------------------------------


NormalTriple: TypeAlias = tuple[NamedNode, NamedNode, NamedNode | Literal | Triple]
GAP = "GAP"
"""What the history calls what several commits have changed that were not recorded."""
LOST = "LOST"
"""The same, of commits whose records were lost."""


def replayed(commits: Iterable[Commit]) -> dict[NormalTriple, bool]:
    """The triples of some commits, and whether they are there afterwards."""
    present: dict[NormalTriple, bool] = {}
    for commit in commits:
        for triples, is_added in ((commit.removed, False), (commit.added, True)):
            present |= dict.fromkeys(normal_triples(triples), is_added)
    return present


def normal_triples(triples: Iterable[Iterable[Any]]) -> Iterator[NormalTriple]:
    """Triples with one spelling of each value; what was removed has that of the engine."""
    for subject, predicate, value in triples:
        yield subject, predicate, value if isinstance(value, Triple) else normal(value)


def noted(commits: Iterable[Commit]) -> dict[str, str]:
    """The records of a nexus after some commits."""
    return {key: value for commit in commits for key, (_, value) in commit.records.items()}


def gap_record(
    journal: Journal, number: int, triples: Iterable[Triple], records: Mapping[str, str], kind: str
) -> Commit | None:
    """What changed from the end of the journal to the last commit, as one record.

    ``triples`` and ``records`` are those of the last commit. None where the journal does not begin
    with the whole dataset, so that the state at its end is not recorded.
    """
    last = journal.last
    whole = journal.from_nothing(last)
    if whole is None:
        return None
    commits = list(whole)
    before = {triple for triple, is_there in replayed(commits).items() if is_there}
    after = set(normal_triples(triples))
    recorded = noted(commits)
    changed = {
        key: (recorded.get(key), value)
        for key, value in records.items()
        if recorded.get(key) != value
    }
    time = datetime.now(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
    removed, added = sorted(before - after, key=str), sorted(after - before, key=str)
    return Commit(number, Origin(time, kind), removed, added, changed, since=last)
