"""The write path: a statement is drafted, checked, and committed under the writer's lock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import ref

from pyoxigraph import NamedNode

from kiprdf import collector
from kiprdf.errors import KipError, StoreError
from kiprdf.execution.acting import acting_on
from kiprdf.execution.catalog_cache import CatalogCache
from kiprdf.execution.forgetting import KIND as FORGET
from kiprdf.execution.forgetting import ErasurePlan
from kiprdf.execution.statements import FindTargets, Write
from kiprdf.execution.undo import planned
from kiprdf.kml.delete import check_unused, delete
from kiprdf.kml.draft import Clock, Draft, timestamp
from kiprdf.kml.merge import merge
from kiprdf.kml.protection import check_protection
from kiprdf.kml.schema import check_schema
from kiprdf.kml.update import update
from kiprdf.kml.upsert import upsert
from kiprdf.kql.reader import read_catalog
from kiprdf.language import ast, bind, parse
from kiprdf.language.printer import outline
from kiprdf.loading import load
from kiprdf.meta.indexing import Indexer
from kiprdf.semantics import check
from kiprdf.semantics.check import check_written
from kiprdf.source import NOWHERE, Span
from kiprdf.store import Delta, NexusStore, Origin, RecordedReads, Store
from kiprdf.store.past import PastStore, compact, journal_of, replay, require_embedded

if TYPE_CHECKING:
    from kiprdf.interchange.differences.patch_log import Log
    from kiprdf.interchange.staging_store import StagingStore

T = TypeVar("T")
BOOTSTRAP = "bootstrap"
"""The record of the commit up to which only opening has written."""
RESTORED = "restored"
"""The record of a dataset that a snapshot replaced."""
STRICT_SCHEMA = "strict_schema"
"""The record of whether instance schemas are enforced; "false" where it is absent."""


class Writer:
    """Drafts, checks and commits statements."""

    def __init__(
        self,
        store: NexusStore,
        indexer: Indexer,
        catalogs: CatalogCache,
        clock: Clock,
    ) -> None:
        self._store = store
        self._indexer = indexer
        self._catalogs = catalogs
        self._clock = clock
        self._preparations: list[ref[RecordedReads]] = []
        self.strict_schema = store.records().get(STRICT_SCHEMA) == "true"

    def set_strict_schema(self, strict_schema: bool) -> None:
        """Store whether instance schemas are enforced; ``StoreError`` if that is not possible."""
        if strict_schema == self.strict_schema:
            return
        if self._store.read_only:
            state = "strict" if self.strict_schema else "not strict"
            raise StoreError(f"The nexus is {state}; open it for writing to change that.")

        def write() -> None:
            records = {STRICT_SCHEMA: str(strict_schema).lower()}
            if self.is_empty():
                records[BOOTSTRAP] = str(self._store.commit() + 1)
            self.commit(Delta(records=records))

        self._store.write(write)
        self.strict_schema = strict_schema

    def run(self, statement: Write, *, dry_run: bool = False) -> dict[str, Any]:
        """Run one statement as one transaction and return its receipt.

        A dry run returns the same receipt, but only reads, and takes no lock.
        """

        def draft() -> tuple[dict[str, Any], Draft]:
            return self.draft(statement.command, find_targets=statement.find_targets)

        if dry_run:
            return self._store.read(lambda: draft()[0])

        def write() -> dict[str, Any]:
            receipt, drafted = draft()
            self.commit(drafted.delta(), statement=statement.outline)
            return receipt

        return self._store.write(lambda: collector.paused(write))

    def undo(self, conflicts: str, dry_run: bool, **selection: Any) -> dict[str, Any]:
        """Undo commits by another one, and return what was, or would be, reverted."""
        if conflicts not in ("refuse", "skip"):
            message = f'conflicts is "refuse" or "skip", not {conflicts!r}.'
            raise KipError("KIP_1001", message, "Leave it out to refuse conflicts.")
        if dry_run:
            return self._store.read(lambda: planned(self._store, self._clock, **selection).report())
        self.require_writable()

        def write() -> dict[str, Any]:
            plan = planned(self._store, self._clock, **selection)
            report = plan.report()
            if plan.conflicts and conflicts == "refuse":
                count = len(plan.conflicts)
                noun = "conflict" if count == 1 else "conflicts"
                message = f"The undo has {count} {noun}: {plan.conflicts[:3]}."
                hint = 'See them all with dry_run=True; conflicts="skip" undoes the others.'
                raise KipError("KIP_2002", message, hint)
            self._check(plan.draft, NOWHERE)
            delta = plan.draft.delta()
            self.commit(delta, "UNDO", plan.seqs)
            return {**report, "seq": self._store.commit() if delta else None}

        return self._store.write(write)

    def forget(self, select: Callable[[], list[NamedNode]], dry_run: bool) -> dict[str, Any]:
        """Forget elements for good, and return what was, or would be, forgotten."""
        store = require_embedded(self._store, "forget")

        def plan() -> ErasurePlan:
            plan = ErasurePlan(store, self._clock, select())
            self._check(plan.draft, NOWHERE, remedy="Forget")
            return plan

        if dry_run:
            return self._store.read(lambda: plan().report())
        self.require_writable()

        def write() -> dict[str, Any]:
            planned = plan()
            report = planned.report()
            if planned.changes_nothing:
                return {**report, "seq": None}
            self._announce(None)
            number = planned.apply(self._origin(FORGET))
            self._end_erasing()
            return {**report, "seq": number}

        return self._store.write(write)

    def _end_erasing(self) -> None:
        """Erase what is derived from a dataset that was written afresh."""
        self._indexer.erase()
        if self._store.embedded is not None:
            self._store.embedded.erased()

    def compact_history(self, before: int | str | date) -> dict[str, int]:
        """Replace the beginning of the history by one record; see ``compact``."""
        journal = journal_of(self._store)
        self.require_writable()
        return self._store.write(lambda: compact(self._store, journal, before))

    def commit_draft(self, draft: Draft, *, dry_run: bool = False) -> None:
        """Check a draft of several statements, and commit it unless this is a dry run."""
        self._check(draft, NOWHERE)
        if not dry_run:
            self.commit(draft.delta())

    def draft(
        self,
        command: ast.Manipulation,
        store: Store | None = None,
        *,
        privileged: bool = False,
        correct: Callable[[Draft], None] | None = None,
        find_targets: FindTargets | None = None,
    ) -> tuple[dict[str, Any], Draft]:
        """Check a statement and draft what it changes; return its receipt and the draft.

        It reads the nexus, or ``store``: a copy, or the nexus with its reads recorded. ``correct``
        may edit the draft before it is checked; a ``privileged`` statement may change what is
        protected.
        """
        store = store or self._store
        targets = None if find_targets is None else find_targets()
        if targets is None:
            is_cached = store is self._store
            check(command, self._catalogs.catalog() if is_cached else read_catalog(store))
        elif isinstance(command, ast.Update):
            check_written(command, targets.kinds)
        draft = Draft(store, self._clock, targets)
        receipt = run_in(draft, command)
        if correct is not None:
            correct(draft)
        self._check(draft, command.span, privileged=privileged)
        return receipt, draft

    def _check(
        self, draft: Draft, span: Span, *, privileged: bool = False, remedy: str = "Delete"
    ) -> None:
        """Raise ``KipError`` for a draft that breaks a rule of the nexus."""
        if not privileged:
            check_protection(draft, span)
        check_unused(draft, span, remedy)
        # The bundled capsules must not keep a nexus from opening.
        if self.strict_schema and not privileged:
            check_schema(draft, span)

    def run_prepared(self, prepare: Callable[[Store], tuple[T, Delta]]) -> T:
        """Commit what takes long to prepare, such as an import, and return its result.

        ``prepare`` runs without the writer's lock. Only if another writer changed meanwhile what it
        has read, it runs a second time under the lock. A shared store judges again by itself.
        """

        def write() -> T:
            result, delta = prepare(self._store)
            self.commit(delta)
            return result

        if self._store.is_shared:
            return self._store.write(write)
        reads = RecordedReads(self._store)
        with self._store.writing():
            self._preparations.append(ref(reads))
        fault: Exception | None = None
        try:
            result, delta = prepare(reads)
        except Exception as error:
            # An error on a mix of two states may be wrong.
            fault = error
        with self._store.writing():
            if reads.is_outdated():
                result, delta = prepare(self._store)
            elif fault is not None:
                raise fault
            self.commit(delta)
            return result

    def try_out(self, judge: Callable[[NexusStore], T]) -> T:
        """Run a long dry run on one state of the nexus, without any lock.

        If a commit came in between, it is repeated on a copy of the dataset in memory.
        """
        reading = self._store.try_read(lambda: judge(self._store))
        return judge(self._store.copy()) if reading is None else reading.result

    def commit(
        self,
        delta: Delta,
        kind: str = "",
        undoes: Sequence[int] = (),
        statement: str | None = None,
    ) -> None:
        """Apply a delta as one commit; the writer's lock is held.

        ``kind``, without it that of the statement, ``undoes``, and the outline of the ``statement``
        are for the history.
        """
        if delta:
            kind = kind or next(map(_kind, delta.commands), "SETTING")
            origin = self._origin(kind, delta.origin.at)
            if self._store.journal is not None and delta.commands:
                text = statement or "\n\n".join(map(outline, delta.commands))
                origin = origin._replace(digest=self._store.journal.note_statement(text))
            delta = replace(delta, origin=origin._replace(undoes=undoes))
            self._announce(delta)
            commit = self._store.apply(delta)
            self._indexer.note(delta, commit)

    def _origin(self, kind: str, at: str = "") -> Origin:
        return Origin(at or timestamp(self._clock()), kind, *acting_on(self))

    def _announce(self, delta: Delta | None) -> None:
        """Announce a commit, before it happens, to caches and preparations; None for a restore."""
        self._catalogs.expire(delta)
        # Weak references: an interrupted preparation removes nothing from a list.
        running = [reads for reads in self._preparations if reads() is not None]
        self._preparations = running
        for reference in running:
            if reads := reference():
                reads.note(delta)

    def apply_capsule(self, text: str) -> dict[str, Any]:
        """Apply the UPSERT blocks of a capsule as one transaction."""

        def run() -> dict[str, Any]:
            command = read_capsule(text)
            self.require_writable(command)

            def prepare(store: Store) -> tuple[dict[str, Any], Delta]:
                receipt, draft = self.draft(command, store)
                return receipt, draft.delta()

            return self.run_prepared(prepare)

        return collector.paused(run)

    def restore(
        self, read: Callable[[], StagingStore], read_log: Callable[[], Log] | None = None
    ) -> int:
        """Replace an empty nexus by a dataset and return the number of elements.

        The dataset is read and validated without the writer's lock. With a log, which must lead to
        the dataset, its commits replace the history and the settings; what was strict stays strict.
        """
        load("kiprdf.interchange.dataset")
        from kiprdf.interchange.dataset import check_dataset

        def run() -> int:
            self._require_empty()
            dataset = read()
            count = check_dataset(dataset, self._store.iris)
            log = None if read_log is None else read_log()

            def write() -> None:
                self._require_empty()
                if log is not None:
                    log.require(dataset, self._store.commit())
                self._announce(None)
                if log is not None:
                    replay(self._store, dataset.engine, *log)
                    self._end_erasing()
                    is_strict = self.strict_schema
                    self.strict_schema = self._store.records().get(STRICT_SCHEMA) == "true"
                    self.set_strict_schema(is_strict or self.strict_schema)
                    return
                origin = self._origin("RESTORE")
                self._store.replace(dataset.engine, {RESTORED: "true"}, origin)
                self._indexer.outdate()

            self._store.write(write)
            return count

        return collector.paused(run)

    def apply_patch(self, text: str, dry_run: bool) -> dict[str, int]:
        """Change the dataset triple by triple, as one commit, if a statement may change that.

        Returns how many triples were, or would be, ``deleted`` and ``added``.
        """
        load("kiprdf.execution.patching", "kiprdf.interchange.dataset")
        load("kiprdf.interchange.differences.patch")
        from kiprdf.execution.patching import draft_changes, draft_deletions
        from kiprdf.interchange.dataset import check_dataset
        from kiprdf.interchange.differences.patch import read

        patch = read(text)

        def checked() -> StagingStore:
            dataset = patch.applied(self._store.match(None, None, None))
            draft = Draft(self._store, self._clock)
            draft_deletions(patch, draft)
            self._check(draft, NOWHERE)
            check_dataset(dataset, self._store.iris)
            draft = Draft(self._store, self._clock)
            draft_changes(patch, dataset, draft)
            self._check(draft, NOWHERE)
            return dataset

        def run() -> None:
            if dry_run:
                self._store.read(checked)
                return
            self.require_writable()

            def write() -> None:
                dataset = checked()
                if any(patch):
                    self._announce(None)
                    self._store.replace(dataset.engine, {}, self._origin("PATCH"))
                    self._indexer.outdate()

            self._store.write(write)

        collector.paused(run)
        return {"deleted": len(patch.removed), "added": len(patch.added)}

    def is_empty(self) -> bool:
        """Whether nothing was written since opening wrote the bundled capsules."""
        return self._store.records().get(BOOTSTRAP, "0") == str(self._store.commit())

    def _require_empty(self) -> None:
        if not self.is_empty():
            message = "The nexus already contains other knowledge."
            raise KipError("KIP_2002", message, "Restore into a new nexus.")

    def require_writable(
        self, command: ast.Manipulation | None = None, hint: str = "Open it for writing."
    ) -> None:
        """Raise KIP_1001, at the keyword of a command, when the nexus is open read-only."""
        if self._store.read_only:
            span = NOWHERE if command is None else keyword(command)
            message = "The nexus is open read-only."
            if isinstance(self._store, PastStore):
                message = f"This is the nexus as of commit {self._store.commit()}."
                hint = "Write to the nexus itself."
            raise KipError("KIP_1001", message, hint, span)


def keyword(command: ast.Command) -> Span:
    """The place of a command's first keyword; the shortest has four letters."""
    return Span(command.span.start, command.span.start + 4)


def _kind(command: ast.Manipulation) -> str:
    """What the history calls a statement."""
    match command:
        case ast.Upsert():
            return "UPSERT"
        case ast.Update():
            return "UPDATE"
        case ast.MergeConcept():
            return "MERGE"
        case _:
            return "DELETE"


def run_in(draft: Draft, command: ast.Manipulation) -> dict[str, Any]:
    """Run a statement in a draft and return its receipt."""
    draft.commands.append(command)
    match command:
        case ast.Upsert():
            return upsert(command, draft)
        case ast.Update():
            return dict(update(command, draft))
        case ast.MergeConcept():
            return merge(command, draft)
        case _:
            return dict(delete(command, draft))


def read_capsule(text: str) -> ast.Upsert:
    """The UPSERT of a capsule; an export of nothing is empty, a difference may be comments only."""
    command = ast.Upsert(()) if _is_comment(text) else parse(text, limit_size=False)
    if not isinstance(command, ast.Upsert):
        message = "A capsule consists of UPSERT blocks."
        raise KipError("KIP_1001", message, "Use execute() for other commands.", keyword(command))
    return bind(command, {})


def _is_comment(text: str) -> bool:
    """Whether a text holds only comments and white space."""
    lines = map(str.lstrip, text.split("\n"))
    return all(not line or line.startswith("//") for line in lines)
