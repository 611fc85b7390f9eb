"""Earlier states: as a dataset to read, and as the beginning of a shorter history.

The dataset as of a commit is a copy of the current one, from which commits are undone.

On disk the copy is a checkpoint of the engine, which links its files (docs/decisions/060).
"""

from __future__ import annotations

import itertools
import os
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pyoxigraph import Literal, Quad
from pyoxigraph import Store as Engine

from kiprdf.errors import KipError, StoreError, clear_frames, shown
from kiprdf.loading import Lazy
from kiprdf.rdf.readings import PLAIN
from kiprdf.store.base import NexusStore
from kiprdf.store.bookkeeping import (
    ENGINE_FAULTS,
    commit_note,
    note,
    read_commit_number,
    record,
    texts_in,
    texts_of,
)
from kiprdf.store.delta import Origin
from kiprdf.store.folder import notes_of
from kiprdf.store.journal import FOLDER, PAST, Journal, reading
from kiprdf.store.journal_files import (
    NOTHING,
    Commit,
    chained,
    change_of,
    encoded,
    links_of,
    number_of,
    rewritten,
)
from kiprdf.store.oxigraph import OxigraphStore
from kiprdf.store.rebuilding import NormalTriple, normal_triples, noted
from kiprdf.store.view import ViewStore

if TYPE_CHECKING:
    import shutil
else:
    shutil = Lazy("shutil")


MEMORY_BYTES = 24 * 1024**2
"""The most bytes of records that lead to a state in memory where there could be files: such a state
takes three times as much."""
DISK_COST = 3
"""How often the work for a record in memory goes into that on disk."""
CHECKPOINT_COST = 2 * 1024**2
"""The bytes of records that take as long in memory as a checkpoint."""
NO_HISTORY = "This nexus has no history."
NO_HISTORY_HINT = "Open a folder without history=False, or memory(history=True)."


class Net(NamedTuple):
    """What some commits changed together; for records, their values before."""

    removed: Sequence[NormalTriple]
    added: Sequence[NormalTriple]
    records: dict[str, str | None]


def net(commits: Iterable[Commit]) -> Net:
    """The changes of commits, without what a later one took back."""
    before: dict[NormalTriple, bool] = {}
    after: dict[NormalTriple, bool] = {}
    records: dict[str, str | None] = {}
    for commit in commits:
        for triples, is_added in ((commit.removed, False), (commit.added, True)):
            for triple in normal_triples(triples):
                before.setdefault(triple, not is_added)
                after[triple] = is_added
        for key, (value_before, _) in commit.records.items():
            records.setdefault(key, value_before)
    removed = [triple for triple, was in before.items() if was and not after[triple]]
    added = [triple for triple, was in before.items() if after[triple] and not was]
    return Net(removed, added, records)


class Start(NamedTuple):
    """A graph that becomes that of another commit, and its files."""

    engine: Engine
    files: Path | None
    removed: int = 0


class PastStore(OxigraphStore):
    """The dataset as of a commit, to read; its files are removed when it is closed."""

    _files: Path | None = None

    def __init__(self, engine: Engine, base: str, files: Path | None, removed: int = 0) -> None:
        super().__init__(engine, base, read_only=True)
        self._files = files
        self.removed = removed
        """The bytes of the records that removed quads: an engine in memory never frees those."""
        # One that an interrupt keeps from its user is never closed.
        self._removal = weakref.finalize(self, _remove, files)

    def close(self) -> None:
        super().close()
        self._removal()

    @property
    def files(self) -> Path | None:
        """Where its graph is; None in memory."""
        return self._files

    def given_up(self) -> Start:
        """The graph, for another state; this one is closed."""
        start = Start(self.engine, self._files, self.removed)
        self._removal.detach()
        self._files = None
        self.close()
        return start

    def __del__(self) -> None:
        # The engine writes files when it ends, perhaps after they were removed.
        if self._files is not None and not self.is_forked:
            self.__dict__.pop("_engine", None)
            _remove(self._files)

    def abandon(self) -> None:
        super().abandon()
        self._removal.detach()


def open_past(store: NexusStore, when: int | str | datetime) -> OxigraphStore:
    """The dataset as of a commit, or as of the last one recorded at or before a time.

    A view as of a time is one of its members as of that time.

    Raises ``KipError``: KIP_3002 for a commit that the history does not reach, KIP_1001 for what is
    neither a commit nor a time with an offset, and without a history.
    """
    if isinstance(store, ViewStore):
        return _past_view(store, when)
    journal, store = journal_of(store), require_embedded(store, "have a history")
    with nullcontext() if store.read_only else store.writing():
        last = store.commit()
        number = number_at(journal, when, last)
        begin = journal.begin(number)
        if _has_files(store):
            start, after = _checkpoint(store), last
        elif begin is not None:
            start, after = _nothing(store), begin
        else:
            start, after = Start(store.copy().engine, None), last
        records = _records(journal, after, number, start.files)
    is_copied = start.files is None and after == last
    return _reached(store, start, records, number, is_copied=is_copied)


def open_nearest(
    store: OxigraphStore,
    number: int,
    kept: Iterable[PastStore],
    size: Callable[[int, int], int],
) -> OxigraphStore:
    """The dataset as of a commit, from what is nearest: the present, nothing, or a kept state.

    A kept state that is chosen is given up. ``size`` are the bytes of the records above a number,
    up to another. Unlike those of ``open_past``, two of the same commit may list rows in another
    order. Raises ``KipError`` as ``open_past`` does.
    """
    journal = journal_of(store)
    with nullcontext() if store.read_only else store.writing():
        last = store.commit()
        number_at(journal, number, last)
        begin = journal.begin(number)
        ways: list[tuple[int, int, Callable[[], Start]]] = []
        if _has_files(store):
            cost = CHECKPOINT_COST + DISK_COST * size(number, last)
            ways.append((cost, last, partial(_checkpoint, store)))
        if begin is not None and (size(begin, number) < MEMORY_BYTES or not ways):
            ways.append((size(begin, number), begin, partial(_nothing, store)))
        for past in kept:
            cost = size(*sorted((past.commit(), number)))
            if past.files is not None:
                ways.append((DISK_COST * cost, past.commit(), past.given_up))
            elif past.removed + cost < MEMORY_BYTES:
                ways.append((cost, past.commit(), past.given_up))
        if not ways:
            return open_past(store, number)
        _, after, begin_at = min(ways, key=lambda way: way[0])
        start = begin_at()
        records = _records(journal, after, number, start.files)
    return _reached(store, start, records, number)


def _past_view(view: ViewStore, when: int | str | datetime) -> ViewStore:
    """A view of the members as of a time; those that did not exist then are left out."""
    if isinstance(when, int):
        message = "The commits of a view have no numbers that last."
        raise KipError("KIP_1001", message, "Name the state of a view by a time with an offset.")
    members = [member.store for member in view.members]
    # If none existed, the error is that of one of them.
    existing = [store for store in members if not is_before(store, when)] or members[-1:]
    pasts: list[OxigraphStore] = []
    try:
        for store in existing:
            pasts.append(open_past(store, when))
        past = ViewStore(pasts, view.iris.base, owns_members=True)
        past.served_as = view.served_as
        return past
    except BaseException:
        for opened in pasts:
            opened.close()
        raise


def _remove(files: Path | None) -> None:
    if files is not None:
        shutil.rmtree(files, ignore_errors=True)


def _sorted(engine: Engine) -> Engine:
    """A copy in an order that depends on its quads alone.

    In memory rows come in the order in which quads were added. A state that is opened again for the
    next page has to give the same order, no matter what was written in between.
    """
    copy = Engine()
    copy.bulk_extend(sorted(engine, key=str))
    return copy


def require_embedded(store: NexusStore, what: str) -> OxigraphStore:
    """The embedded store; KIP_1001 for another, whose files kiprdf does not control."""
    if store.embedded is None or store.is_shared:
        message = f"A nexus in a SPARQL store cannot {what}: kiprdf does not control its files."
        hint = "Restore a snapshot of it into a folder: Nexus.open(folder)."
        raise KipError("KIP_1001", message, hint)
    return store.embedded


def is_before(store: OxigraphStore, when: str | datetime) -> bool:
    """Whether a nexus did not exist at a time: its history begins later, with nothing."""
    if isinstance(store, ViewStore):
        return all(is_before(member.store, when) for member in store.members)
    journal, last = journal_of(store), store.commit()
    try:
        number_at(journal, when, last)
    except KipError as error:
        if error.code != "KIP_3002" or journal.earliest(last):
            raise
        return True
    return False


def journal_of(store: NexusStore) -> Journal:
    """The journal of a store; KIP_1001 without one."""
    require_embedded(store, "have a history")
    if isinstance(store, PastStore):
        message = f"This is the nexus as of commit {store.commit()}."
        raise KipError("KIP_1001", message, "Ask the nexus itself for its history.")
    if isinstance(store, ViewStore):
        message = "The history of a view is that of its members."
        raise KipError("KIP_1001", message, "Ask the members of the view for theirs.")
    if store.journal is None:
        raise KipError("KIP_1001", NO_HISTORY, NO_HISTORY_HINT)
    return store.journal


def _has_files(store: OxigraphStore) -> bool:
    """Whether files of the graph can be linked."""
    return store.folder is not None and not store.read_only


def _checkpoint(store: OxigraphStore) -> Start:
    """A copy of the present graph, which links its files."""
    assert store.folder is not None
    files = store.folder / FOLDER / f"{PAST}{os.urandom(4).hex()}"
    with _removed_after_fault(files):
        store.flush()
        store.engine.backup(str(files))
        return Start(Engine(str(files)), files)


def _nothing(store: OxigraphStore) -> Start:
    engine = Engine()
    engine.extend(notes_of(store.iris.base, {}, commit_note(0)))
    return Start(engine, None)


def _records(journal: Journal, after: int, number: int, files: Path | None) -> list[bytes]:
    """The records between two commits, the newest first if they are to be undone."""
    with _removed_after_fault(files), reading():
        records = list(journal.records(*sorted((after, number))))
    return records if after < number else records[::-1]


def _reached(
    store: OxigraphStore,
    start: Start,
    records: Iterable[bytes],
    number: int,
    *,
    is_copied: bool = False,
) -> PastStore:
    """The state to which records lead, or to which one returns without them."""
    engine, files, removed = start
    del start
    with _removed_after_fault(files):
        is_undone = read_commit_number(engine).number > number
        texts: dict[str, str | None] = {}
        for data in records:
            change = change_of(data)
            if is_undone:
                change = change.undone()
            gone = [*change.removed, *_texts(change.removed)]
            for quad in gone:
                engine.remove(quad)
            engine.extend([*change.added, *_texts(change.added)])
            texts |= {key: after for key, (_, after) in change.records.items()}
            removed += len(data) if gone else 0
        _note(engine, number, texts)
        if is_copied:
            engine = _sorted(engine)
        past = PastStore(engine, store.iris.base, files, removed)
        past.served_as = store.served_as
        return past


def _texts(quads: Iterable[Quad]) -> Iterator[Quad]:
    """The quads of what the values of some quads hold."""
    # Reading a triple takes longer than these tests, and nearly all values are plain.
    odd = [
        quad.triple
        for quad in quads
        if type(value := quad.object) is Literal and value.datatype not in PLAIN
    ]
    return itertools.starmap(Quad, texts_of(odd))


def _note(engine: Engine, number: int, records: Mapping[str, str | None]) -> None:
    """Note the number of a state, and the records that differ."""
    earlier, notes = [*read_commit_number(engine).notes], [commit_note(number)]
    for key, value in records.items():
        quad = note(record(key), Literal(value or ""))
        earlier += engine.quads_for_pattern(quad.subject, quad.predicate, None, quad.graph_name)
        notes += [] if value is None else [quad]
    for quad in earlier:
        engine.remove(quad)
    engine.extend(notes)


@contextmanager
def _removed_after_fault(files: Path | None) -> Iterator[None]:
    """Remove the files of a state that is not complete."""
    try:
        yield
    except BaseException as fault:
        clear_frames(fault)
        _remove(files)
        if files is not None and isinstance(fault, ENGINE_FAULTS):
            reason = getattr(fault, "strerror", None) or fault
            raise StoreError(f"The earlier state cannot be written: {reason}.") from fault
        raise


def number_at(journal: Journal, when: int | str | datetime, last: int) -> int:
    """The number of the commit that a number or a time means."""
    earliest = journal.earliest(last)
    if isinstance(when, bool) or not isinstance(when, int | str | datetime):
        message = f"A state is named by a commit or a time, not by {type(when).__name__}."
        raise KipError("KIP_1001", message, "Give the number of a commit, or a time with offset.")
    if isinstance(when, int):
        if when > last or when < 0:
            # Python writes no number of several thousand digits.
            name = when if abs(when) <= sys.maxsize else "of that number"
            message = f"There is no commit {name}; the last one is {last}."
            raise KipError("KIP_3002", message, f"Give a number from {earliest} to {last}.")
        if when < earliest:
            message = f"The history begins at commit {earliest}; commit {when} is not in it."
            raise KipError("KIP_3002", message, f"Give a number from {earliest} to {last}.")
        gap = journal.gap_at(when)
        if gap is not None:
            first, end = gap
            message = f"Commits {first} to {end} were written without a history."
            raise KipError("KIP_3002", message, f"Give {first - 1}, before them, or {end}.")
        return when
    time = _utc(when)
    low, high = earliest, last
    while low < high:
        middle = (low + high + 1) // 2
        at = journal.commit(middle).origin.at
        low, high = (middle, high) if at <= time else (low, middle - 1)
    if low == earliest:
        message = f"The history has no commit at or before {time}."
        raise KipError(
            "KIP_3002", message, f"It begins after commit {earliest}; give a later time."
        )
    return low


def _utc(when: str | datetime) -> str:
    """A time as the journal writes it; the end of its millisecond.

    One that UTC moves out of the years from 1 to 9999 is the nearest time in them.
    """
    try:
        moment = datetime.fromisoformat(when) if isinstance(when, str) else when
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        hint = "Write it with date, time and offset, such as 2026-03-01T12:00:00Z."
        raise KipError("KIP_1001", f"'{shown(str(when))}' is not a time with an offset.", hint)
    try:
        utc = moment.astimezone(UTC)
    except OverflowError:
        utc = datetime.max if moment.year > 1 else datetime.min
    return utc.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


# A shorter or another history -----------------------------------------------------------------


KIND = "BASE"
"""What the history calls the record of a dataset."""


def base_record(store: NexusStore, journal: Journal, number: int) -> Commit:
    """The dataset as of a commit as a record: all of it is added, nothing removed."""
    changes = net(journal.commits(number, store.commit()))
    present = dict.fromkeys(normal_triples(store.match(None, None, None)))
    for triple in changes.added:
        present.pop(triple, None)
    present |= dict.fromkeys(changes.removed)
    records = {**store.records(), **changes.records}
    notes: dict[str, tuple[str | None, str]]
    notes = {key: (None, value) for key, value in records.items() if value is not None}
    at = next((commit.origin.at for commit in journal.commits(number - 1, number)), "")
    return Commit(number, Origin(at, KIND), (), list(present), notes)


def base_of(
    store: NexusStore, journal: Journal, number: int, edit: Callable[[Commit], Commit] | None = None
) -> bytes:
    """The record of the dataset as of a commit, edited, in the place of those up to it."""
    commit = base_record(store, journal, number)
    commit = commit if edit is None else edit(commit)
    for data in journal.records(number - 1):
        if number_of(data) == number:
            return rewritten(commit, data)
        # The commit has no record: the next one has the digest of an earlier one.
        return encoded(replace(commit, replaced=links_of(data).previous or NOTHING))
    return encoded(replace(commit, replaced=journal.head))


def compact(store: NexusStore, journal: Journal, before: int | str | date) -> dict[str, int]:
    """Replace the commits up to a number, or a time, by one record.

    The last of them is the first state that the history reaches afterwards. Returns its number as
    ``earliest_seq``, and the number of ``commits`` whose records are gone. The lock is held.
    """
    last = store.commit()
    earliest = journal.earliest(last)
    number = _boundary(journal, before, earliest, last)
    is_compact = number == (0 if journal.base is None else journal.base)
    if not is_compact:
        base = base_of(store, journal, number)
        kept = {links_of(data).statement for data in journal.records(number, last)}
        records = itertools.chain([base], journal.records(number, last))
        journal.prepare(records, lambda digest, text: digest in kept, has_base=True)
        require_embedded(store, "have a history").adopt(journal)
    return {"earliest_seq": number, "commits": number - earliest}


def replay(
    store: NexusStore, dataset: Engine, commits: Sequence[Commit], statements: Iterable[str]
) -> None:
    """Replace a store by a dataset and the commits that lead to it; the lock is held.

    The number of the last commit goes on. What is derived must be erased afterwards.
    """
    journal, store = journal_of(store), require_embedded(store, "have a history")
    digests = {journal.note_statement(text) for text in statements}
    has_base = commits[0].origin.kind == KIND

    def quads() -> Iterator[Quad]:
        last = journal.prepared.notes(commits[-1].number)
        notes = notes_of(store.iris.base, noted(commits), *last)
        yield from itertools.chain(dataset, texts_in(dataset), notes)

    store.rewrite(
        quads(),
        lambda: journal.prepare(
            chained(commits), lambda digest, text: digest in digests, has_base=has_base
        ),
    )


def _boundary(journal: Journal, before: int | str | date, earliest: int, last: int) -> int:
    """The last commit that is compacted; a date means its beginning in UTC."""
    when: Any = before
    if isinstance(before, str) and len(before) == len("2026-01-01"):
        when = f"{before}T00:00:00Z"
    elif isinstance(before, date) and not isinstance(before, datetime):
        when = f"{before.isoformat()}T00:00:00Z"
    try:
        return number_at(journal, when, last)
    except KipError as error:
        if error.code == "KIP_3002" and not isinstance(when, int):
            return earliest
        raise
