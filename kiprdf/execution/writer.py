"""The write path: a statement is drafted, checked, and committed under the writer's lock."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from weakref import ref

from pyoxigraph import Store as Engine

from kiprdf import collector
from kiprdf.actors import OWNER, Access, Actor, acting_on
from kiprdf.errors import KipError, KipWarning, StoreError
from kiprdf.execution.authors import AUTHOR, PrincipalNames
from kiprdf.execution.catalog_cache import CatalogCache
from kiprdf.execution.find_options import ENTAIL, read_default
from kiprdf.execution.gate import Gate
from kiprdf.execution.likely_mistakes import LikelyMistakes
from kiprdf.execution.statements import FindTargets, Write
from kiprdf.kml.draft import Clock, Draft, Targets, timestamp
from kiprdf.kml.erased import drop_erased, with_erased
from kiprdf.kml.rejections import Rejected, check_rejections
from kiprdf.kml.trust import ACTIVE, DRAFT, MARKS, STATUS, check_status, with_unreviewed
from kiprdf.kql.entailment import Entail
from kiprdf.kql.identities import exists
from kiprdf.kql.reader import read_catalog
from kiprdf.language import ast, bind, parse
from kiprdf.language.printer import outline
from kiprdf.loading import Lazy
from kiprdf.meta.indexing import Indexer
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import Json
from kiprdf.semantics import Catalog, check
from kiprdf.semantics.check import check_written
from kiprdf.semantics.protected import REJECTION
from kiprdf.source import NOWHERE, Span
from kiprdf.store import Delta, NexusStore, Origin, OxigraphStore, ReadSet, Store
from kiprdf.store.delta import difference
from kiprdf.store.erasures import digests, listed, noted
from kiprdf.store.past import PastStore
from kiprdf.store.proposals import Proposals
from kiprdf.store.questions import Questions
from kiprdf.store.view import ViewStore

if TYPE_CHECKING:
    from kiprdf.kml import creations as creating
    from kiprdf.kml import delete as deleting
    from kiprdf.kml import merge as merging
    from kiprdf.kml import protection, says, schema
    from kiprdf.kml import update as updating
    from kiprdf.kml import upsert as upserting
else:
    creating = Lazy("kiprdf.kml.creations")
    deleting = Lazy("kiprdf.kml.delete")
    merging = Lazy("kiprdf.kml.merge")
    protection = Lazy("kiprdf.kml.protection")
    says = Lazy("kiprdf.kml.says")
    schema = Lazy("kiprdf.kml.schema")
    updating = Lazy("kiprdf.kml.update")
    upserting = Lazy("kiprdf.kml.upsert")

T = TypeVar("T")
P = TypeVar("P", bound="Plan")
BOOTSTRAP = "bootstrap"
"""The record of the commit up to which only opening has written."""
FOLLOW = "FOLLOW"
"""What the history calls a commit that follows another nexus."""
FOLLOWED = "follow/"
"""What the keys of the records begin with that say up to where others were followed."""
RESTORED = "restored"
"""The record of a dataset that a snapshot replaced."""
UNMARKED = "unmarked_merge"
"""The record of links that may have kept the ids of other facts after the trail of their merge was
removed, such as by an undo that skips conflicts."""
STRICT_SCHEMA = "strict_schema"
"""The record of whether instance schemas are enforced; "false" where it is absent."""


_MERGED_FROM = vocab.metadata(vocab.MERGED_FROM)
_JUDGED = frozenset((AUTHOR, STATUS, *MARKS))
"""The metadata of which not everybody may write every value."""


def is_judged(metadata: Mapping[str, Json], actor: Actor) -> bool:
    """Whether not everybody may write such metadata of a new element."""
    judged = _JUDGED.intersection(metadata)
    if not judged:
        return False
    # The owner may name any author, and everybody may write a status that no person gave.
    allowed = {AUTHOR} if actor.author is None else set()
    if metadata.get(STATUS) in (ACTIVE, DRAFT):
        allowed.add(STATUS)
    return not judged <= allowed


_seen_through: ContextVar[tuple[object, Any]] = ContextVar("view", default=(None, None))


@contextmanager
def seen_through(written: Writer, view: Writer) -> Iterator[None]:
    """Writes of a member obey what any member of a view has rejected, in this block."""
    token = _seen_through.set((written, view))
    try:
        yield
    finally:
        _seen_through.reset(token)


class Plan(Protocol):
    """What is going to be written."""

    def report(self) -> dict[str, Any]:
        """What is, or would be, changed."""


class Writer:
    """Drafts, checks and commits statements."""

    def __init__(
        self,
        store: NexusStore,
        indexer: Indexer,
        catalogs: CatalogCache,
        clock: Clock,
    ) -> None:
        self.store = store
        self._indexer = indexer
        self._catalogs = catalogs
        self.clock = clock
        self.rejected = Rejected(store)
        self.mistakes = LikelyMistakes(store)
        self._preparations: list[ref[ReadSet]] = []
        self.proposals = Proposals(store.folder)
        self.questions = Questions(store.folder)
        self.runs_transaction = False
        """Whether the function of a transaction runs, which holds the writer's lock."""
        records = store.records()
        self.names = PrincipalNames(records)
        self.gate = Gate(store, records)
        self.follows = self._has_says()
        """Whether it has says of others, beside which its own are noted."""
        self.strict_schema = records.get(STRICT_SCHEMA) == "true"
        self.entail = read_default(records)
        self._erasures: frozenset[str] | None = None

    @property
    def shown(self) -> NexusStore:
        """What the names in a statement mean, and its WHERE matches."""
        return self.store

    @property
    def place(self) -> dict[str, list[str]]:
        """The names of the members of the view, as ``view``, if this writes one of them."""
        return {}

    def require_one_nexus(self, what: str) -> None:
        """Raise KIP_1001 for what is done in one nexus, and this writes a member of a view."""

    def catalog(self) -> Catalog:
        """The types and predicates that a statement may use."""
        return self._catalogs.catalog()

    def new_draft(
        self,
        store: Store | None = None,
        targets: Targets | None = None,
        listed: frozenset[str] = frozenset(),
    ) -> Draft:
        """An empty draft of what is shown, or of a copy of it."""
        return Draft(store or self.shown, self.clock, targets, listed=listed)

    @property
    def erasures(self) -> frozenset[str]:
        """The erasure list; a store whose files kiprdf does not control has none."""
        if self._erasures is None:
            is_own = self.store.embedded is not None and not self.store.is_shared
            self._erasures = listed(self.store.records() if is_own else {})
        return self._erasures

    def lists(self, node: Any, fact: Any = None) -> bool:
        """Whether the erasure list names an element."""
        return not self.erasures.isdisjoint(digests(self.store.iris, node, fact))

    def set_strict_schema(self, strict_schema: bool) -> None:
        """Store whether instance schemas are enforced; ``StoreError`` if that is not possible."""
        if strict_schema != self.strict_schema:
            is_strict = "strict" if self.strict_schema else "not strict"
            self._set(STRICT_SCHEMA, strict_schema, f"The nexus is {is_strict}")
            self.strict_schema = strict_schema

    def set_entail(self, entail: Entail) -> None:
        """Store what a FIND matches by default; ``StoreError`` if that is not possible."""
        if entail != self.entail:
            self._set(ENTAIL, entail, f"The default of the nexus is entail={self.entail!r}")
            self.entail = entail

    def _set(self, name: str, value: object, state: str) -> None:
        if self.store.read_only:
            raise StoreError(f"{state}; open it for writing to change that.")
        self.keep({name: str(value).lower()})

    def keep(self, records: dict[str, str]) -> None:
        """Write settings of the nexus as one commit; if it is empty, it stays so."""

        def write() -> None:
            begin = {BOOTSTRAP: str(self.store.commit() + 1)} if self.is_empty() else {}
            self.commit(Delta(records={**records, **begin}))

        self.store.write(write)

    def run(
        self, statement: Write, *, dry_run: bool = False
    ) -> tuple[dict[str, Any], tuple[KipWarning, ...]]:
        """Run one statement as one transaction and return its receipt, and the warnings of shapes
        and of likely mistakes.

        A dry run returns the same, but only reads, and takes no lock.
        """

        def draft() -> tuple[dict[str, Any], Draft]:
            return self.draft(statement.command, find_targets=statement.find_targets)

        def warned(drafted: Draft) -> tuple[KipWarning, ...]:
            return drafted.warnings + self.mistakes.warnings(drafted, is_written=not dry_run)

        def judge() -> tuple[dict[str, Any], tuple[KipWarning, ...]]:
            receipt, drafted = draft()
            return receipt, warned(drafted)

        if dry_run:
            return self.shown.read(judge)

        def write() -> tuple[dict[str, Any], tuple[KipWarning, ...]]:
            receipt, drafted = draft()
            warnings = warned(drafted)
            is_judged = self.mistakes.judges(drafted)
            self.commit(drafted.delta(), statement=statement.outline, is_judged=is_judged)
            return receipt, warnings

        return self.store.write(lambda: collector.paused(write))

    def run_planned(
        self, plan: Callable[[], P], write: Callable[[P], dict[str, Any]], *, dry_run: bool = False
    ) -> dict[str, Any]:
        """The report of ``write`` on a plan; a dry run only reads, and returns the plan's own."""
        if dry_run:
            return self.shown.read(lambda: plan().report())
        self.require_writable()
        return self.store.write(lambda: write(plan()))

    def commit_draft(self, draft: Draft, *, dry_run: bool = False) -> None:
        """Check a draft of several statements, and commit it unless this is a dry run."""
        self.check(draft, NOWHERE)
        if not dry_run:
            self.commit(draft.delta())

    def draft(
        self,
        command: ast.Manipulation,
        store: Store | None = None,
        *,
        privileged: bool = False,
        gated: bool = True,
        is_copy: bool = False,
        correct: Callable[[Draft], None] | None = None,
        find_targets: FindTargets | None = None,
    ) -> tuple[dict[str, Any], Draft]:
        """Check a statement and draft what it changes; return its receipt and the draft.

        It reads the nexus, or ``store``: a copy, or the nexus with its reads recorded. ``correct``
        may edit the draft before it is checked; a ``privileged`` statement may change what is
        protected, one that is not ``gated`` need not fit the shapes. From a copy, such as a
        capsule, what the erasure list names is left out.
        """
        store = store or self.shown
        targets = None if find_targets is None else find_targets()
        if targets is None:
            is_cached = store is self.shown
            check(command, self.catalog() if is_cached else read_catalog(store))
        elif isinstance(command, ast.Update):
            check_written(command, targets.kinds)
        draft = self.new_draft(store, targets, self.erasures if is_copy else frozenset())
        receipt = run_in(draft, command)
        if is_copy:
            drop_erased(draft)
        if correct is not None:
            correct(draft)
        self.check(draft, command.span, privileged=privileged, gated=gated)
        if draft.erased:
            receipt = with_erased(receipt, draft)
        return with_unreviewed(receipt, draft), draft

    def check(
        self,
        draft: Draft,
        span: Span,
        *,
        privileged: bool = False,
        gated: bool = True,
        restores: bool = False,
        remedy: str = "Delete",
    ) -> None:
        """Raise ``KipError`` for a draft that breaks a rule of the nexus.

        One that ``restores`` an earlier state has the authors of that. One that is not ``gated``
        need not fit the shapes.
        """
        draft.actor = acting_on(self)
        if draft.actor is not OWNER and not (privileged or restores):
            self.names.check(draft, span)
        if not privileged:
            protection.check_protection(draft, span)
            self.check_rejections(draft, span)
            check_status(draft, span)
        deleting.check_unused(draft, span, remedy)
        # The bundled capsules must not keep a nexus from opening.
        if self.strict_schema and not privileged:
            schema.check_schema(draft.shown, span)
        if gated and not privileged:
            self.gate.check(draft, span)

    def creations(
        self,
        store: Store,
        metadata: Mapping[str, Json],
        *,
        are_new: bool = False,
        there: Container[str] = (),
    ) -> creating.Creations | None:
        """Where new elements need no draft: no rule of the nexus is about values or identities.

        It reads the nexus, a copy, or the nexus with its reads recorded.
        """
        actor, own = acting_on(self), self.store
        if (
            own is not self.shown
            or own.embedded is not own
            or self.erasures
            or self.follows
            or self.strict_schema
            or self.gate.kept() is not None
            or self.has_rejections(store)
            or is_judged(metadata, actor)
        ):
            return None
        # Who merged, or restored what others merged, has links with the ids of other facts.
        has_merges = not own.records().keys().isdisjoint((RESTORED, UNMARKED)) or bool(
            store.lookup(None, _MERGED_FROM, None, 1)
        )
        catalog = self.catalog() if store is own else read_catalog(store)
        return creating.Creations(
            store,
            catalog,
            metadata,
            self.clock(),
            actor.label,
            has_merges=has_merges,
            are_new=are_new,
            there=there,
        )

    def check_rejections(self, draft: Draft, span: Span = NOWHERE) -> None:
        """Raise KIP_3004 if a draft writes what a person has rejected."""
        if self.has_rejections(draft.store):
            check_rejections(draft, span, self.rejected_in(draft.store))

    def rejected_in(self, store: Store) -> Rejected:
        """The names of the rejections that hold in a store."""
        view = self._view_of_readers()
        return self.rejected if view is None else Rejected(view.shown, is_asked=True)

    def _view_of_readers(self) -> Writer | None:
        written, view = _seen_through.get()
        return view if written is self else None

    def has_rejections(self, store: Store) -> bool:
        """Whether a store may have rejections: the first one defines their type."""
        view = self._view_of_readers()
        if view is not None:
            return view.shown.read(lambda: REJECTION in view.catalog().concept_types)
        if store is self.store:
            return REJECTION in self._catalogs.catalog().concept_types
        return exists(store.iris.type(REJECTION), store)

    def run_prepared(self, prepare: Callable[[Store], tuple[T, Delta]]) -> T:
        """Commit what takes long to prepare, such as an import, and return its result.

        ``prepare`` runs without the writer's lock. Only if another writer changed meanwhile what it
        has read, it runs a second time under the lock. A shared store judges again by itself.
        """

        def write() -> T:
            result, delta = prepare(self.store)
            self.commit(delta)
            return result

        if self.store.is_shared:
            return self.store.write(write)
        reads = ReadSet(self.store)
        with self.store.writing():
            self._preparations.append(ref(reads))
            settings = self.erasures, self.gate.kept()
        fault: Exception | None = None
        try:
            result, delta = prepare(reads)
        except Exception as error:
            # An error on a mix of two states may be wrong.
            fault = error
        with self.store.writing():
            if reads.is_outdated() or settings != (self.erasures, self.gate.kept()):
                result, delta = prepare(self.store)
            elif fault is not None:
                raise fault
            self.commit(delta)
            return result

    def try_out(self, judge: Callable[[NexusStore], T]) -> T:
        """Run a long dry run on one state of the nexus, without any lock.

        If a commit came in between, it is repeated on a copy of the dataset in memory.
        """
        reading = self.store.try_read(lambda: judge(self.store))
        return judge(self.store.copy()) if reading is None else reading.result

    def commit(
        self,
        delta: Delta,
        kind: str = "",
        undoes: Sequence[int] = (),
        statement: str | None = None,
        is_judged: bool = False,
    ) -> None:
        """Apply a delta as one commit; the writer's lock is held.

        ``kind``, without it that of the statement, ``undoes``, and the outline of the ``statement``
        are for the history. What ``is_judged`` was compared with what looks like it.
        """
        if delta:
            actor = acting_on(self)
            new = {} if actor is OWNER else self._require_write(actor)
            own = {UNMARKED: "true"} if _removes_trail(delta) else {}
            kind = kind or next(map(_kind, delta.commands), "SETTING")
            digest = None
            if self.store.journal is not None and delta.commands:
                text = statement or "\n\n".join(map(outline, delta.commands))
                digest = self.store.journal.note_statement(text)
            delta = replace(
                delta,
                origin=self.origin(kind, delta.origin.at, undoes, digest, actor),
                records={**delta.records, **new, **own} if new or own else delta.records,
            )
            if self.follows and kind != FOLLOW:
                delta = says.with_own(self.store, delta)
            self._invalidate(delta)
            if self.erasures:
                delta = replace(delta, records={**delta.records, **self._written_again(delta)})
            try:
                commit = self.store.apply(delta)
            finally:
                if delta.records:
                    self._erasures = None
                    self.gate.expire()
            self.gate.follow(commit)
            if new:
                self.names.note(new)
            self._indexer.note(delta, commit)
            if not is_judged:
                self.mistakes.note(delta)

    def _require_write(self, actor: Actor) -> dict[str, str]:
        """Raise KIP_3004 for an actor who may not write; the record of one who is new."""
        actor.require("write")
        return self.names.new(actor)

    def _written_again(self, delta: Delta) -> dict[str, str]:
        """The record that takes what a write creates off the erasure list."""
        created = (
            digests(self.store.iris, node, value)
            for node, predicate, value in delta.added
            if predicate in vocab.IDENTITY
        )
        again = self.erasures.intersection(chain.from_iterable(created))
        return noted(self.store.commit() + 1, (), again)

    def origin(
        self,
        kind: str,
        at: str = "",
        undoes: Sequence[int] = (),
        digest: str | None = None,
        actor: Actor | None = None,
    ) -> Origin:
        actor = actor or acting_on(self)
        kind_of_author = None if actor.author is None else actor.kind
        at = at or timestamp(self.clock())
        return Origin(at, kind, actor.author, actor.session, undoes, digest, kind_of_author)

    def replace(self, dataset: Engine, kind: str, records: dict[str, str] | None = None) -> None:
        """Replace the whole dataset, as one commit; the writer's lock is held."""
        new = self._require_write(acting_on(self))
        self._invalidate(None)
        records, origin = {**(records or {}), **new}, self.origin(kind)
        if self.follows:
            changes = difference(self.store.match(None, None, None), dataset, records, origin)
            self.store.apply(says.with_own(self.store, changes))
        else:
            self.store.replace(dataset, records, origin)
            self.follows = self._has_says()
        self.names.note(new)
        self._indexer.outdate()

    def _has_says(self) -> bool:
        # A snapshot brings them, too, into a nexus that has followed nobody.
        return bool(self.store.lookup(None, vocab.SAYS, None, 1))

    def rewrite(self, store: OxigraphStore, function: Callable[[], T]) -> T:
        """Call what writes the dataset afresh, and erase what is derived from the one before."""
        acting_on(self).require("write")
        self._invalidate(None)
        result = function()
        self._erasures = None
        self.gate.expire()
        self._indexer.erase()
        store.erased()
        return result

    def _invalidate(self, delta: Delta | None) -> None:
        """Expire caches, and note in preparations a commit that begins; None may be any change."""
        if self.runs_transaction:
            message = "A transaction runs, and this would be another commit."
            raise KipError("KIP_1001", message, "Write by the transaction that its function gets.")
        self._catalogs.expire(delta)
        if delta is None:
            self.rejected.expire()
            self.mistakes.expire()
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
                receipt, draft = self.draft(command, store, is_copy=True)
                return receipt, draft.delta()

            return self.run_prepared(prepare)

        return collector.paused(run)

    def is_empty(self) -> bool:
        """Whether nothing was written since opening wrote the bundled capsules."""
        return self.store.records().get(BOOTSTRAP, "0") == str(self.store.commit())

    def require_writable(
        self,
        command: ast.Manipulation | None = None,
        hint: str = "Open it for writing.",
        access: Access = "write",
    ) -> None:
        """Raise KIP_1001, at the keyword of a command, when the nexus is open read-only.

        KIP_3004 for an actor without the ``access``.
        """
        acting_on(self).require(access)
        if self.store.read_only:
            span = NOWHERE if command is None else keyword(command)
            message = "The nexus is open read-only."
            if isinstance(self.store, PastStore):
                message = f"This is the nexus as of commit {self.store.commit()}."
                hint = "Write to the nexus itself."
            elif isinstance(self.store, ViewStore):
                message = "This is a view of other nexuses, to read."
                hint = "Write to one of its members, or make the view with write=."
            raise KipError("KIP_1001", message, hint, span)


def keyword(command: ast.Command) -> Span:
    """The place of a command's first keyword; the shortest has four letters."""
    return Span(command.span.start, command.span.start + 4)


def _removes_trail(delta: Delta) -> bool:
    """Whether a concept that stays loses what was merged into it."""
    lost = {node for node, key, _ in delta.removed if key == _MERGED_FROM}
    if lost:
        lost -= {node for node, key, _ in delta.added if key == _MERGED_FROM}
        lost -= {node for node, key, _ in delta.removed if key == vocab.TYPE}
    return bool(lost)


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
    draft.begin(command)
    match command:
        case ast.Upsert():
            return upserting.upsert(command, draft)
        case ast.Update():
            return dict(updating.update(command, draft))
        case ast.MergeConcept():
            return merging.merge(command, draft)
        case _:
            return dict(deleting.delete(command, draft))


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
