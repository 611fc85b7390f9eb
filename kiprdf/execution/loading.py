"""Loads rows as concepts and propositions, in batches that are one commit each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from itertools import chain
from typing import Any, cast

from kiprdf import collector
from kiprdf.actors import acting_as, acting_on
from kiprdf.errors import KipError
from kiprdf.execution.engine import CommandEngine
from kiprdf.interchange import tables
from kiprdf.interchange.tables import ConceptRow, End, PropositionRow, Row, located
from kiprdf.kml.draft import Draft
from kiprdf.kql.identities import exists
from kiprdf.language import ast
from kiprdf.language.parameters import from_json
from kiprdf.rdf.iris import ConceptName, PropositionName, proposition_digits
from kiprdf.rdf.literals import Json
from kiprdf.semantics.arguments import check_map
from kiprdf.source import NOWHERE, Span
from kiprdf.store import Delta, Store

BATCH_ROWS = 20_000
BATCH_SIZE = 32 * 1024 * 1024
"""The characters of a batch."""
NAMED = 10
"""How many warnings the report has."""
_KINDS = ("concepts", "propositions")


def load(
    engine: CommandEngine,
    concepts: Any,
    propositions: Any,
    metadata: Mapping[str, Json] | None,
    *,
    dry_run: bool,
) -> dict[str, Any]:
    """Write rows as UPSERT does, in batches that are one commit each, and return the report."""
    outer = cast("ast.Object | None", from_json(metadata)) if metadata else None
    check_map(outer, "The argument metadata", reserved=True)
    if not dry_run:
        engine.writer.require_writable(hint="Open it for writing, or try a dry run.")
    sources = tables.concept_rows(concepts), tables.proposition_rows(propositions)
    rows: Iterator[Row] = chain(*sources)
    loading = _Loading(engine, outer, dry_run)
    try:
        with ExitStack() as stack:
            batches = loading.batches(rows)
            batch = next(batches)
            for following in batches:
                if loading.dry_run:
                    # Each batch needs what those before it have written.
                    loading.write_to(stack.enter_context(closing(engine.copy())), stack)
                loading.write(batch)
                batch = following
            loading.write(batch)
    except KipError as error:
        raise loading.explained(error) from None
    return loading.report(dry_run)


@dataclass
class _Loading:
    engine: CommandEngine
    metadata: ast.Object | None
    dry_run: bool
    waiting: list[PropositionRow] = field(default_factory=list)
    """Rows about propositions that are neither in their batch nor in the nexus."""
    commits: list[int] = field(default_factory=list)
    written: dict[str, int] = field(default_factory=dict)
    """The last row of each kind in the batches that were written."""
    counts: dict[str, Counter[str]] = field(
        default_factory=lambda: {kind: Counter() for kind in _KINDS}
    )
    erased: int = 0
    unreviewed: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def write_to(self, engine: CommandEngine, stack: ExitStack) -> None:
        """Write to another engine from now on, as the same actor."""
        actor = acting_on(self.engine.writer)
        stack.enter_context(acting_as(engine.writer, actor._replace(access="write")))
        self.engine, self.dry_run = engine, False

    def batches(self, rows: Iterator[Row]) -> Iterator[list[Row]]:
        """The rows in batches, one at least; those that wait are the last one."""
        batch: list[Row] = []
        size = 0
        for row in rows:
            if len(batch) == BATCH_ROWS or size > BATCH_SIZE:
                yield self._ordered(batch)
                batch, size = [], 0
            batch.append(row)
            size += row.size
        yield self._ordered([*batch, *self.waiting], is_last=True)

    def _ordered(self, rows: list[Row], *, is_last: bool = False) -> list[Row]:
        """The rows, each proposition after those that it is about.

        A row about one that is neither here nor in the nexus waits for the last batch.
        """
        links = [row for row in rows if isinstance(row, PropositionRow)]
        if not any(map(_links, links)):
            return rows
        own: dict[str, list[PropositionRow]] = {}
        for row in links:
            own.setdefault(_id(row[1:4]), []).append(row)
        below = {id: {end for row in same for end in _links(row)} for id, same in own.items()}
        ordered: list[Row] = [row for row in rows if isinstance(row, ConceptRow)]
        absent: set[str] = set()
        store, self.waiting = self.engine.writer.shown, [] if is_last else self.waiting
        for id in TopologicalSorter(below).static_order():
            if id not in own:
                node = store.iris.from_id(id)
                if node is None or not exists(node, store):
                    absent.add(id)
            elif below[id].isdisjoint(absent) or is_last:
                ordered += own[id]
            else:
                absent.add(id)
                self.waiting += own[id]
        if len(self.waiting) > BATCH_ROWS:
            message = f"More than {BATCH_ROWS:,} rows are about propositions that come later."
            error = KipError("KIP_4002", message, "Give a proposition before those about it.")
            raise located(error, self.waiting[0])
        return ordered

    def write(self, rows: list[Row]) -> None:
        """Write a batch, as one commit if it changes anything."""
        if not rows:
            return
        engine, writer = self.engine, self.engine.writer
        warnings = _contradictions(rows)

        def draft(store: Store) -> Draft:
            items = tuple(_block(row, place) for place, row in enumerate(rows, 1))
            command = ast.Upsert((ast.UpsertBlock(items, self.metadata),))
            return writer.draft(command, store, is_copy=True)[1]

        def prepare(store: Store) -> tuple[Draft, Delta]:
            drafted = draft(store)
            return drafted, drafted.delta()

        def run() -> Draft:
            if self.dry_run:
                return writer.try_out(draft)
            return writer.run_prepared(prepare, self.commits.append)

        try:
            drafted = engine.boundary.run(lambda: collector.paused(run))
        except KipError as error:
            if "PROPOSITION block" in error.hint:
                error.hint = "Give it as a row of propositions, before or after this one."
            if error.span != NOWHERE:
                located(error, rows[error.span.start - 1])
            raise
        self._count(drafted)
        self.warnings += warnings
        self.written |= {_KINDS[isinstance(row, PropositionRow)]: row.number for row in rows}

    def _count(self, drafted: Draft) -> None:
        changed = {edit.after.node: drafted.is_new(edit.after.node) for edit in drafted.changes()}
        for node in drafted.spans:
            is_link = node.value.startswith(drafted.store.iris.propositions)
            is_new = changed.get(node)
            change = "unchanged" if is_new is None else "created" if is_new else "updated"
            if node not in drafted.erased:
                self.counts[_KINDS[is_link]][change] += 1
        self.erased += len(drafted.erased)
        self.unreviewed += drafted.unreviewed
        self.warnings += map(str, drafted.warnings)

    def explained(self, error: KipError) -> KipError:
        """The error, with what of the call is written."""
        if self.dry_run or (not self.written and not self.commits):
            error.message += "" if self.dry_run else " Nothing was written."
            return error
        rows = " and ".join(f"{kind} up to row {last:,}" for kind, last in self.written.items())
        commits = f", in commits {self.commits[0]} to {self.commits[-1]}" if self.commits else ""
        error.message += f" Written are the {rows}{commits}; nothing after that."
        return error

    def report(self, dry_run: bool) -> dict[str, Any]:
        """What was, or would be, changed."""
        changes = ("created", "updated", "unchanged")
        more = len(self.warnings) - NAMED
        named = self.warnings[:NAMED] + ([f"And {more:,} more."] if more > 0 else [])
        return {
            **{
                kind: {change: own[change] for change in changes}
                for kind, own in self.counts.items()
            },
            **({"erased": self.erased} if self.erased else {}),
            **({"unreviewed": self.unreviewed} if self.unreviewed else {}),
            "commits": [] if dry_run else self.commits,
            "warnings": named,
        }


def _contradictions(rows: list[Row]) -> list[str]:
    """The rows that give an element another value than a row before."""
    values: dict[Any, dict[str, Json]] = {}
    warnings = []
    for row in rows:
        own = {**{f"metadata.{key}": row.metadata[key] for key in row.metadata}, **row.attributes}
        before = values.setdefault(row[1:-3], own)
        if before is not own:
            for key in own:
                if key in before and before[key] != own[key]:
                    text = (
                        f"{row} gives another {key} than a row before, and is the one that holds."
                    )
                    warnings.append(text)
            before.update(own)
    return warnings


def _links(row: PropositionRow) -> list[str]:
    """The ids of the propositions that a row is about."""
    return [
        id
        for end in (row.subject, row.object)
        if (id := end if isinstance(end, str) else _id(end) if len(end) == 3 else "")
        if id.startswith("P:")
    ]


def _id(end: End) -> str:
    """The id of an end."""
    match end:
        case str():
            return end
        case type, name:
            return ConceptName(type, name).id
        case subject, predicate, object_:
            digits = proposition_digits(_id(subject), predicate, _id(object_))
            return PropositionName(digits, predicate).id
    raise AssertionError(end)


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
