"""Runs an import: a plan becomes one UPSERT, and corrects what earlier imports wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kiprdf import collector
from kiprdf.execution.engine import CommandEngine
from kiprdf.interchange import imports
from kiprdf.interchange.files import Source
from kiprdf.interchange.importing import corrections
from kiprdf.interchange.importing.element_index import IMPORTED_AT
from kiprdf.interchange.importing.plan import Plan, to_upsert
from kiprdf.interchange.imports import Document
from kiprdf.kml.draft import Draft, timestamp
from kiprdf.store import Delta, Store

if TYPE_CHECKING:
    import rdflib

    from kiprdf.options import ImportOptions, OntologyOptions


def import_rdf(
    engine: CommandEngine, source: Source | rdflib.Graph, options: ImportOptions
) -> dict[str, Any]:
    """Import external RDF and return the report."""
    document = imports.rdf(source, options, timestamp(engine.clock()))
    return run_import(engine, document, options.dry_run)


def import_ontology(
    engine: CommandEngine, source: Source, options: OntologyOptions
) -> dict[str, Any]:
    """Import an ontology as definitions and return the report."""
    document = imports.ontology(source, options, timestamp(engine.clock()))
    return run_import(engine, document, options.dry_run)


def run_import(engine: CommandEngine, document: Document, dry_run: bool) -> dict[str, Any]:
    """Import a document in one transaction and return the report.

    The plan is made, and the UPSERT drafted, without the writer's lock; a dry run takes none.
    """
    writer = engine.writer

    def draft(store: Store) -> tuple[Plan, Draft | None]:
        plan = document.plan(store)
        command = to_upsert(plan)
        if not command.blocks:
            return plan, None
        return plan, writer.draft(command, store, correct=lambda draft: _correct(plan, draft))[1]

    def prepare(store: Store) -> tuple[Plan, Delta]:
        plan, drafted = draft(store)
        return plan, Delta() if drafted is None else drafted.delta()

    def run() -> Plan:
        if dry_run:
            return writer.try_out(lambda store: draft(store)[0])
        writer.require_writable(hint="Open it for writing, or try a dry run.")
        return writer.run_prepared(prepare)

    return collector.paused(lambda: engine.boundary.run(run, document.text)).report()


def _correct(plan: Plan, draft: Draft) -> None:
    """Correct earlier imports, and note in the plan what the draft changes."""
    corrections.correct(plan, draft)
    _keep_import_times(draft)
    iris = draft.store.iris
    plan.changed = frozenset(iris.id(edit.after.node) for edit in draft.changes())


def _keep_import_times(draft: Draft) -> None:
    """Keep the import time of each element that the import does not change otherwise."""
    for edit in draft.edits.values():
        before = None if edit.before is None else edit.before.metadata.get(IMPORTED_AT)
        if before is not None:
            imported_at = edit.after.metadata.get(IMPORTED_AT)
            edit.after.metadata[IMPORTED_AT] = before
            if edit.changed and imported_at is not None:
                edit.after.metadata[IMPORTED_AT] = imported_at
