"""Loads rows as concepts and propositions, in batches that are one commit each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import field
from graphlib import TopologicalSorter
from itertools import chain, islice
from typing import Any, NamedTuple, cast

from pyoxigraph import NamedNode

from kiprdf import collector
from kiprdf.actors import acting_as, acting_on
from kiprdf.budget import paced
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError, UnsyncedError
from kiprdf.execution.engine import CommandEngine
from kiprdf.execution.writer import is_judged
from kiprdf.interchange import tables
from kiprdf.interchange.tables import ConceptRow, End, PropositionRow, Row, located
from kiprdf.kml.creations import Creations
from kiprdf.kml.draft import Clock, Draft, changed_keys
from kiprdf.kql.identities import exists
from kiprdf.language import ast
from kiprdf.language.names import META_TYPES
from kiprdf.language.parameters import from_json
from kiprdf.language.printer import OUTLINED
from kiprdf.rdf.elements import read_element
from kiprdf.rdf.iris import Iris, proposition_digits
from kiprdf.rdf.literals import Json, canonical_json, is_same, to_json, to_term
from kiprdf.rdf.vocab import MENTIONED, UPDATED_AT
from kiprdf.semantics.arguments import check_map
from kiprdf.source import NOWHERE, Span
from kiprdf.store import Delta, Store

BATCH_ROWS = 20_000
BATCH_SIZE = 32 * 1024 * 1024
"""The characters of a batch."""
REMEMBERED = 2_000_000
"""The most concepts that a load remembers; an id takes some 130 bytes."""
NAMED = 10
"""How many warnings the report has."""
_KINDS = ("concepts", "propositions")
_EACH = ("created", "updated", "unchanged")


def load(
    engine: CommandEngine,
    concepts: Any,
    propositions: Any,
    metadata: Mapping[str, Json] | None,
    *,
    dry_run: bool,
) -> dict[str, Any]:
    """Write rows as UPSERT does, in batches that are one commit each, and return the report."""
    outer = dict(metadata or {})
    check_map(_map(outer, NOWHERE), "The argument metadata", reserved=True)
    if not dry_run:
        engine.writer.require_writable(hint="Open it for writing, or try a dry run.")
    sources = tables.concept_rows(concepts), tables.proposition_rows(propositions)
    rows: Iterator[Row] = chain(*sources)
    loading = _Loading(engine, outer, dry_run)
    try:
        with ExitStack() as stack:

            def is_continued() -> bool:
                batch = loading.read(rows)
                if loading.dry_run and batch.is_full:
                    # Each batch needs what those before it have written.
                    loading.write_to(stack.enter_context(closing(engine.copy())), stack)
                loading.write(batch)
                return batch.is_full

            # The objects of a batch are gone before the collector would look through them.
            while collector.paused(is_continued):
                pass
    except KipError as error:
        raise loading.explained(error) from None
    return loading.report(dry_run)


class _Batch:
    """Rows that become one commit, by the ids of their elements: those of one element are one."""

    def __init__(self, iris: Iris) -> None:
        self.rows: dict[str, Row] = {}
        self.links: dict[str, tuple[str, str]] = {}
        """The ids of the ends of each proposition."""
        self.contradictions: list[str] = []
        self.about: dict[str, set[str]] = {}
        """The ids of the propositions that others are about."""
        self.last: dict[str, int] = {}
        """The number of the last row of each kind."""
        self.size = 0
        self.is_full = False
        self._iris = iris
        self._ids: dict[End, str] = {}

    def add(self, row: Row) -> None:
        if isinstance(row, ConceptRow):
            id = f"C:{row.type}/{row.name}"
            self.last["concepts"] = row.number
        else:
            subject = self._ids.get(row.subject) or self._id(row.subject)
            object_ = self._ids.get(row.object) or self._id(row.object)
            digits = proposition_digits(subject, row.predicate, object_)
            id = f"P:{digits}:{row.predicate}"
            if subject[0] == "P" or object_[0] == "P":
                self.about[id] = {end for end in (subject, object_) if end[0] == "P"}
            self.links[id] = subject, object_
            self.last["propositions"] = row.number
        before = self.rows.setdefault(id, row)
        if before is not row:
            self._merge(id, before, row)
        self.size += row.size

    def _merge(self, id: str, before: Row, row: Row) -> None:
        maps = []
        for own, earlier in (
            (row.attributes, before.attributes),
            (row.metadata, before.metadata),
        ):
            for key in own:
                if key in earlier and canonical_json(earlier[key]) != canonical_json(own[key]):
                    other = f"gives another {key} than a row before, and is the one that holds."
                    self.contradictions.append(f"{row} {other}")
            maps.append({**earlier, **own})
        self.rows[id] = row._replace(attributes=maps[0], metadata=maps[1])

    def _id(self, end: End) -> str:
        """The id of an end; another text that names nothing as it is."""
        if isinstance(end, str):
            node = self._iris.from_id(end)
            id = end if node is None else self._iris.id(node)
        elif len(end) == 2:
            id = f"C:{end[0]}/{end[1]}"
        else:
            digits = proposition_digits(self._id(end[0]), end[1], self._id(end[2]))
            id = f"P:{digits}:{end[1]}"
        self._ids[end] = id
        return id

    def order(self, store: Store, *, is_last: bool) -> list[PropositionRow]:
        """Put each proposition after those that it is about.

        Returns the rows about what is neither here nor in the nexus, which are left out unless the
        batch ``is_last``.
        """
        waiting: list[PropositionRow] = []
        if not self.about:
            return waiting
        ordered = {id: row for id, row in self.rows.items() if id not in self.about}
        absent: set[str] = set()
        for id in TopologicalSorter(self.about).static_order():
            if id not in self.about:
                node = store.iris.from_id(id)
                if id not in ordered and (node is None or not exists(node, store)):
                    absent.add(id)
            elif is_last or self.about[id].isdisjoint(absent):
                ordered[id] = self.rows[id]
            else:
                absent.add(id)
                waiting.append(cast(PropositionRow, self.rows[id]))
        self.rows = ordered
        return waiting


@dataclass
class _Loading:
    engine: CommandEngine
    metadata: dict[str, Json]
    dry_run: bool
    waiting: list[PropositionRow] = field(default_factory=list)
    """Rows about propositions that are neither in their batch nor in the nexus."""
    commits: list[int] = field(default_factory=list)
    times: set[str] = field(default_factory=set)
    """The ``_updated_at`` of what the batches before have written."""
    there: set[str] = field(default_factory=set)
    """The ids of concepts of the batches before, which propositions need not look up."""
    state: int = -1
    """The number of the commit after which they were there."""
    written: dict[str, int] = field(default_factory=dict)
    """The last row of each kind in the batches that were written."""
    counts: dict[str, Counter[str]] = field(
        default_factory=lambda: {kind: Counter() for kind in _KINDS}
    )
    erased: int = 0
    unreviewed: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    more: int = 0
    """The warnings that are only counted."""

    def write_to(self, engine: CommandEngine, stack: ExitStack) -> None:
        """Write to another engine from now on, as the same actor."""
        actor = acting_on(self.engine.writer)
        stack.enter_context(acting_as(engine.writer, actor._replace(access="write")))
        self.engine, self.dry_run = engine, False

    def read(self, rows: Iterator[Row]) -> _Batch:
        """The next rows as a batch; the last one is not full."""
        shown = self.engine.writer.shown
        batch = _Batch(shown.iris)
        for number, row in enumerate(rows, 1):
            batch.add(row)
            if number == BATCH_ROWS or batch.size > BATCH_SIZE:
                batch.is_full = True
                self.waiting += batch.order(shown, is_last=False)
                if len(self.waiting) > BATCH_ROWS:
                    message = f"{BATCH_ROWS:,} rows are about propositions that come later."
                    hint = "Give each proposition before those about it."
                    raise located(KipError("KIP_4002", message, hint), self.waiting[-1])
                return batch
        for row in self.waiting:
            batch.add(row)
        batch.order(shown, is_last=True)
        return batch

    def write(self, batch: _Batch) -> None:
        """Write a batch, as one commit if it changes anything."""
        writer = self.engine.writer

        def write() -> _Changes:
            changes = self._judge(batch)
            writer.commit(changes.delta)
            if changes.delta:
                self.commits.append(writer.store.commit())
                self.times.update(changes.times)
            self.state = writer.store.commit()
            return changes

        def run() -> _Changes:
            if self.dry_run:
                return writer.shown.read(lambda: self._judge(batch))
            return writer.store.write(lambda: collector.paused(write))

        try:
            changes = self.engine.boundary.run(run)
        except KipError as error:
            if "PROPOSITION block" in error.hint:
                error.hint = "Give it as a row of propositions, before or after this one."
            if error.span != NOWHERE:
                located(error, [*batch.rows.values()][error.span.start - 1])
            raise
        for kind in _KINDS:
            self.counts[kind].update(changes.counts[kind])
        self.erased += changes.erased
        self.unreviewed += changes.unreviewed
        warnings = [*batch.contradictions, *changes.warnings]
        named = warnings[: NAMED - len(self.warnings)]
        self.warnings += named
        self.more += len(warnings) - len(named)
        self.written |= batch.last

    def _judge(self, batch: _Batch) -> _Changes:
        """What a batch changes; most rows are new, and need no statement."""
        store = self.engine.store
        if self.state != store.commit():
            self.there.clear()  # another writer may have removed some
        creations = self.engine.writer.creations(store, self.metadata, there=self.there)
        left = None if creations is None else self._create(batch, creations)
        if creations is None or left is None:
            return self._changes(batch, batch.rows)
        rows, counts = left
        changes = _Changes(Delta(), counts)
        if rows:
            changes = self._changes(batch, rows, lambda: creations.moment)
            for kind in _KINDS:
                changes.counts[kind].update(counts[kind])
        delta = changes.delta
        if creations.touched:
            first = dict(islice(batch.rows.items(), OUTLINED))
            delta = creations.added_to(delta, self._command(first, first))
            changes = changes._replace(times=(delta.origin.at,))
        return changes._replace(delta=delta)

    def _create(
        self, batch: _Batch, creations: Creations
    ) -> tuple[dict[str, Row], dict[str, Counter[str]]] | None:
        """Create what is new; the rows that are left to a statement, and how many are not.

        None where a statement must judge all of the batch.
        """
        store, actor = self.engine.store, acting_on(self.engine.writer)
        left: dict[str, Row] = {}
        created, unchanged = [0, 0], [0, 0]
        for id, row in paced(batch.rows.items()):
            if row.metadata and is_judged(row.metadata, actor):
                return None
            is_link = isinstance(row, PropositionRow)
            if isinstance(row, PropositionRow):
                subject, object_ = batch.links[id]
                is_new = creations.proposition(
                    id, subject, row.predicate, object_, row.attributes, row.metadata
                )
            elif row.type in META_TYPES:
                creations.define(row.type, row.name)
                left[id] = row
                continue
            else:
                is_new = creations.concept(id, row.type, row.name, row.attributes, row.metadata)
            if is_new is None:
                return None
            if not is_link and len(self.there) < REMEMBERED:
                self.there.add(id)
            if is_new:
                created[is_link] += 1
            elif self._is_unchanged(row, creations.existing, store):
                unchanged[is_link] += 1
            else:
                left[id] = row
        counts = zip(_KINDS, created, unchanged, strict=True)
        return left, {kind: Counter(created=new, unchanged=old) for kind, new, old in counts}

    def _is_unchanged(self, row: Row, node: NamedNode, store: Store) -> bool:
        """Whether the nexus has all that a row says."""
        element = read_element(store.iris, node, store.statements(node), convert=None)
        if element is None or MENTIONED in element.metadata:
            return False
        return all(
            is_same(terms.get(key), to_term(values[key]))
            for terms, values in (
                (element.attributes, row.attributes),
                (element.metadata, {**self.metadata, **row.metadata}),
            )
            for key in values
        )

    def _changes(
        self, batch: _Batch, rows: Mapping[str, Row], clock: Clock | None = None
    ) -> _Changes:
        """What some rows change by an UPSERT; ``clock`` has the time of the commit."""
        drafted = self.engine.writer.draft(self._command(batch.rows, rows), is_copy=True)[1]
        drafted.clock = clock or drafted.clock
        changes = _Changes.of(drafted)
        if not self.times:
            return changes
        places, warnings = [*batch.rows.values()], [*changes.warnings]
        for edit in drafted.changes():
            before, after = edit.before, edit.after
            if before is None or after.node not in drafted.spans:
                continue
            time = before.metadata.get(UPDATED_AT)
            if time is not None and to_json(time) in self.times:
                row = places[drafted.spans[after.node].start - 1]
                rest = "of what a row before wrote, and is the one that holds."
                keys = changed_keys(before.attributes, after.attributes)
                keys += changed_keys(before.metadata, after.metadata)
                named = {**before.attributes, **before.metadata}
                warnings += (f"{row} changes the {key} {rest}" for key in keys if key in named)
        return changes._replace(warnings=warnings)

    def _command(self, all_rows: Mapping[str, Row], rows: Mapping[str, Row]) -> ast.Upsert:
        """The UPSERT of some rows, whose places are those among all rows."""
        items = tuple(
            _block(row, place) for place, (id, row) in enumerate(all_rows.items(), 1) if id in rows
        )
        outer = _map(self.metadata, NOWHERE)
        return ast.Upsert((ast.UpsertBlock(items, outer),) if items else ())

    def explained(self, error: KipError) -> KipError:
        """The error, with what of the call is written."""
        if self.dry_run or isinstance(error.__cause__, UnsyncedError):
            return error
        if not self.written:
            error.message += " Nothing was written."
            return error
        rows = " and ".join(f"{kind} up to row {last:,}" for kind, last in self.written.items())
        commits = f", in commits {self.commits[0]} to {self.commits[-1]}" if self.commits else ""
        error.message += f" Written are the {rows}{commits}; nothing after that."
        return error

    def report(self, dry_run: bool) -> dict[str, Any]:
        """What was, or would be, changed."""
        more = [f"And {self.more:,} more."] if self.more else []
        return {
            **{kind: {each: own[each] for each in _EACH} for kind, own in self.counts.items()},
            **({"erased": self.erased} if self.erased else {}),
            **({"unreviewed": self.unreviewed} if self.unreviewed else {}),
            "commits": [] if dry_run else self.commits,
            "warnings": self.warnings + more,
        }


class _Changes(NamedTuple):
    """What a batch changes, by kinds of rows."""

    delta: Delta
    counts: dict[str, Counter[str]]
    times: Sequence[str] = ()
    """The ``_updated_at`` of what it changes."""
    erased: int = 0
    unreviewed: Sequence[str] = ()
    warnings: Sequence[str] = ()

    @classmethod
    def of(cls, drafted: Draft) -> _Changes:
        """What a draft changes of the elements that its command names."""
        changed = {edit.after.node: drafted.is_new(edit.after.node) for edit in drafted.changes()}
        counts = {kind: Counter[str]() for kind in _KINDS}
        for node in drafted.spans:
            is_new = changed.get(node)
            change = "unchanged" if is_new is None else "created" if is_new else "updated"
            if node not in drafted.erased:
                is_link = node.value.startswith(drafted.store.iris.propositions)
                counts[_KINDS[is_link]][change] += 1
        warnings = list(map(str, drafted.warnings))
        unreviewed, erased = [*drafted.unreviewed], len(drafted.erased)
        delta = drafted.delta()
        return cls(delta, counts, (delta.origin.at,), erased, unreviewed, warnings)


# As a statement -------------------------------------------------------------------------------


def _block(row: Row, place: int) -> ast.ConceptBlock | ast.PropositionBlock:
    """The block of UPSERT that writes a row; its place is that of the row in the batch."""
    span = Span(place, place + 1)
    attributes, metadata = _map(row.attributes, span), _map(row.metadata, span)
    if isinstance(row, ConceptRow):
        concept = _concept(row.type, row.name, span)
        return ast.ConceptBlock(None, concept, attributes, None, metadata, span=span)
    fact = _fact(row.subject, row.predicate, row.object, span)
    return ast.PropositionBlock(None, fact, attributes, metadata, span=span)


def _map(values: Mapping[str, Json], span: Span) -> ast.Object | None:
    entries = (ast.Entry(key, from_json(values[key], span), span=span) for key in sorted(values))
    return ast.Object(tuple(entries), span=span) if values else None


def _concept(type: str, name: str, span: Span) -> ast.ConceptMatcher:
    parts = (ast.Scalar(type, span=span), ast.Scalar(name, span=span))
    return ast.ConceptMatcher(None, *parts, span=span)


def _fact(subject: End, predicate: str, object_: End, span: Span) -> ast.PropositionMatcher:
    name = ast.PredicateName(ast.Scalar(predicate, span=span), span=span)
    ends = (_endpoint(end, span) for end in (subject, object_))
    return ast.PropositionMatcher(
        next(ends), ast.Predicates((name,), span=span), next(ends), span=span
    )


def _endpoint(end: End, span: Span) -> ast.Endpoint:
    match end:
        case str() if end.startswith("P:"):
            id = ast.PropositionId(ast.Scalar(end, span=span), span=span)
            return ast.PropositionClause(None, id, span=span)
        case str():
            matcher = ast.ConceptMatcher(ast.Scalar(end, span=span), span=span)
            return ast.ConceptClause(None, matcher, span=span)
        case type, name:
            return ast.ConceptClause(None, _concept(type, name, span), span=span)
        case subject, predicate, object_:
            fact = _fact(subject, predicate, object_, span)
            return ast.PropositionClause(None, fact, span=span)
    raise AssertionError(end)
