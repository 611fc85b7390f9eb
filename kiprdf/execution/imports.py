"""Runs an import: a plan becomes one UPSERT, and corrects what earlier imports wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from pyoxigraph import NamedNode

from kiprdf import collector
from kiprdf.actors import Actor, acting_on
from kiprdf.budget import paced
from kiprdf.errors import KipError
from kiprdf.execution.engine import CommandEngine
from kiprdf.execution.sources import Replacement, ends_nothing
from kiprdf.execution.writer import Writer, is_judged
from kiprdf.interchange.files import Buffered, Source, name_of
from kiprdf.interchange.importing.element_index import IMPORTED_AT
from kiprdf.interchange.importing.plan import Element, ImportPlan, ReplacedText, to_upsert, written
from kiprdf.interchange.importing.stated import with_note
from kiprdf.interchange.imports import Document, OntologyDocument, RdfDocument, passes
from kiprdf.kml import statements
from kiprdf.kml.creations import Creations
from kiprdf.kml.draft import Draft, timestamp
from kiprdf.kml.merge import move_links, note_merged
from kiprdf.kml.merged_origins import STATED_BY
from kiprdf.kml.rejections import drop_rejected
from kiprdf.kml.trust import with_unreviewed
from kiprdf.language.names import META_TYPES
from kiprdf.language.parameters import from_json
from kiprdf.language.printer import OUTLINED
from kiprdf.rdf.elements import Concept
from kiprdf.rdf.literals import Json, to_json, to_term
from kiprdf.semantics.arguments import check_key, refuse_reserved
from kiprdf.source import NOWHERE
from kiprdf.store import Delta, NexusStore, Store

if TYPE_CHECKING:
    import rdflib

    from kiprdf.options import DocumentOptions, ImportOptions, OntologyOptions


Sources: TypeAlias = Source | list[Source]
K = TypeVar("K", bound="DocumentOptions")
LONG = 1_000
"""Only longer texts, and larger numbers, may be too long for a value."""


def import_rdf(
    engine: CommandEngine, source: Sources | rdflib.Graph, options: ImportOptions
) -> dict[str, Any]:
    """Import external RDF and return the report."""
    if isinstance(source, list) and source and options.replace:
        # Together they are what the source states.
        return {"documents": [{"source": options.source, **_import_data(engine, source, options)}]}
    if isinstance(source, list) and source:
        shared = options.define or options.ontology
        return _import_several(engine, source, options, import_rdf, share_names=shared)
    return _import_data(engine, [cast(Source, source)], options)


def _import_data(
    engine: CommandEngine, sources: list[Source], options: ImportOptions
) -> dict[str, Any]:
    """Import documents as one, with their definitions if the options say so."""
    imported_at = timestamp(engine.clock())
    readable = _readable(sources)
    first, *others = [RdfDocument(one, options, imported_at) for one in readable]
    first.join(others)
    if not options.ontology:
        return run(engine, first, dry_run=options.dry_run)
    engine.boundary.run(lambda: first.quads, first.text)  # before any definition is written
    definitions = [OntologyDocument(one, options.of_ontology(), imported_at) for one in readable]
    *reports, report = _run_in_turn(engine, [*definitions, first], dry_run=options.dry_run)
    return _with_definitions(report, reports)


def import_ontology(
    engine: CommandEngine, source: Sources, options: OntologyOptions
) -> dict[str, Any]:
    """Import an ontology as definitions and return the report."""
    if isinstance(source, list) and source:
        return _import_several(engine, source, options, import_ontology, share_names=True)
    document = OntologyDocument(cast(Source, source), options, timestamp(engine.clock()))
    return run(engine, document, dry_run=options.dry_run)


def _import_several(
    engine: CommandEngine,
    sources: list[Source],
    options: K,
    import_one: Callable[[CommandEngine, Any, K], dict[str, Any]],
    *,
    share_names: bool,
) -> dict[str, Any]:
    """Import documents one by one and return their reports, with a second one of added links."""
    reports = []
    readable = _readable(sources)
    for one, own in passes(readable, share_names=share_names, dry_run=options.dry_run):
        also, is_first = [*options.also, *own["also"]], own["update"]
        chosen = replace(options, also=also, update=options.update and is_first)
        report = import_one(engine, one, chosen)
        if is_first or report["propositions"]["created"]:
            again = {} if is_first else {"again": True}
            reports.append({"source": name_of(one), **again, **report})
    return {"documents": reports}


def _readable(sources: list[Source]) -> list[Any]:
    """Documents that can be read more than once."""
    return [Buffered(one) if hasattr(one, "read") else one for one in sources]


def run(engine: CommandEngine, document: Document, *, dry_run: bool) -> dict[str, Any]:
    """Import a document in one transaction and return the report.

    The plan is made, and the UPSERT drafted, without the writer's lock; a dry run takes none.
    """
    writer = engine.writer

    def write() -> dict[str, Any]:
        if dry_run:
            return writer.try_out(lambda store: _change(writer, document, store)[0])
        writer.require_writable(hint="Open it for writing, or try a dry run.")
        return writer.run_prepared(lambda store: _change(writer, document, store))

    return collector.paused(lambda: engine.boundary.run(write, document.text))


def _change(writer: Writer, document: Document, store: Store) -> tuple[dict[str, Any], Delta]:
    """The report of an import into a store, and what it changes there."""
    plan = document.plan(store)
    elements = written(plan)
    if not (elements or plan.recorded or plan.replaces):
        return plan.report(), Delta()
    creations = rest = None
    if not plan.superseded and ends_nothing(plan, store):
        creations = writer.creations(store, plan.metadata, are_new=True)
    if creations is not None:
        rest = _create(elements, plan, creations, acting_on(writer))
    left = elements if rest is None else rest
    created = {one.key for one in elements}.difference(one.key for one in left)
    command = to_upsert(plan, left)
    correction = _Correction(plan, writer, created)
    drafted = writer.draft(command, store, is_copy=True, correct=correction.run)[1]
    changed = {drafted.id(edit.after.node) for edit in drafted.changes()}
    report = plan.report(changed, set(map(drafted.id, drafted.erased)))
    report = with_unreviewed(correction.added_to(report), drafted)
    if creations is None or rest is None or not creations.touched:
        return report, drafted.delta()
    drafted.clock = lambda: creations.moment
    outlined = to_upsert(plan, elements, OUTLINED)
    return report, creations.added_to(drafted.delta(), outlined)


def _create(
    elements: list[Element], plan: ImportPlan, creations: Creations, actor: Actor
) -> list[Element] | None:
    """Create what is new, and return what is left to a statement.

    None where a statement must judge all of it, such as for its error.
    """
    if len({one.key for one in elements}) < len(elements):
        return None
    existing, source = plan.existing, plan.source
    keys: tuple[set[str], set[str]] = (set(), set())
    rest: list[Element] = []
    try:
        _check_values(plan.metadata, keys[1], is_metadata=True)
        for one in paced(elements):
            if isinstance(one, statements.Concept) and one.type in META_TYPES:
                creations.define(one.type, one.name)
                rest.append(one)
                continue
            if one.key in existing:
                rest.append(one)
                continue
            if one.attributes:
                _check_values(one.attributes, keys[0], is_metadata=False)
            if one.metadata:
                if is_judged(one.metadata, actor):
                    return None
                _check_values(one.metadata, keys[1], is_metadata=True)
            noted = one.metadata if source is None else with_note(one, plan)
            if isinstance(one, statements.Concept):
                is_new = creations.concept(one.key, one.type, one.name, one.attributes, noted)
            else:
                is_new = creations.proposition(
                    one.key, one.subject, one.predicate, one.object, one.attributes, noted
                )
            if not is_new:
                return None
    except KipError:
        return None
    return rest


def _check_values(values: Mapping[str, Json], keys: set[str], *, is_metadata: bool) -> None:
    """Refuse what a statement would; ``keys`` were checked already."""
    for key, value in values.items():
        if key not in keys:
            check_key(key, NOWHERE)
            if is_metadata and key == STATED_BY:
                raise KipError("KIP_2002", "A statement judges it.")
            if is_metadata:
                refuse_reserved(key, NOWHERE)
            keys.add(key)
        kind = type(value)
        if (kind is str and len(value) <= LONG) or (kind is int and -LONG <= value <= LONG):
            continue  # nearly always
        from_json(value)


# Definitions and data -------------------------------------------------------------------------

_OF_THE_OTHER = (
    "import it as an ontology",
    "data, not a definition",
    "about the ontology itself, not about its terms",
)
"""How the reasons end for which one import skips what the other takes (docs/decisions/127)."""


def _run_in_turn(
    engine: CommandEngine, documents: list[Document], *, dry_run: bool
) -> list[dict[str, Any]]:
    """Import documents, each in one transaction, and return the reports.

    In a dry run each is imported into a copy that has the ones before.
    """
    if not dry_run:
        return [run(engine, one, dry_run=False) for one in documents]
    writer = engine.writer

    def judge(store: NexusStore) -> list[dict[str, Any]]:
        copy, reports = store.copy(), []
        for document in documents:
            report, delta = _change(writer, document, copy)
            if delta:
                copy.apply(delta)
            reports.append(report)
        return reports

    text = documents[-1].text
    return collector.paused(lambda: engine.boundary.run(lambda: writer.try_out(judge), text))


def _with_definitions(report: dict[str, Any], others: list[dict[str, Any]]) -> dict[str, Any]:
    """The report of data, with those of the definitions that were imported before."""
    reports = [*others, report]
    skipped = [one for each in reports for one in each["skipped"]]
    return {
        **report,
        **{kind: _sum(each[kind] for each in reports) for kind in ("concepts", "propositions")},
        "definitions": {
            kind: sorted({name for each in reports for name in each["definitions"][kind]})
            for kind in report["definitions"]
        },
        "skipped": [one for one in skipped if not one["reason"].endswith(_OF_THE_OTHER)],
        "warnings": list(dict.fromkeys(line for each in reports for line in each["warnings"])),
    }


def _sum(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)


# Corrections: UPSERT only adds, and MERGE joins concepts of one type, so no command does this.


class _Correction:
    """Makes the corrections of a plan in the draft of its UPSERT.

    Strings that are links now are removed, and concepts get a better type. What the source states
    is noted. A plan that replaces leaves out what a person has rejected, and ends what the source
    no longer states.
    """

    def __init__(self, plan: ImportPlan, writer: Writer, created: Collection[str]) -> None:
        self._plan, self._writer, self._created = plan, writer, created
        self._rejected: list[tuple[str, str]] = []
        self._replacement: Replacement | None = None

    def run(self, draft: Draft) -> None:
        plan = self._plan
        for replaced in plan.replaced_texts:
            _remove_text(replaced, draft)
        for old, new in plan.superseded.items():
            if draft.store.iris.from_id(new) not in draft.erased:
                _replace_concept(old, new, draft)
        if plan.replaces and self._writer.has_rejections(draft.store):
            self._rejected = drop_rejected(draft, self._writer.rejected_in(draft.store))
        left_out = {draft.store.iris.from_id(id) for id, key in self._rejected if not key}
        for node in left_out:
            draft.spans.pop(cast(NamedNode, node), None)  # the statement does not state it
        replacement = Replacement(plan, draft, timestamp(draft.clock()))
        replacement.run(left_out, self._created)
        if plan.replaces:
            self._replacement = replacement
        _keep_import_times(draft)

    def added_to(self, report: dict[str, Any]) -> dict[str, Any]:
        """The report, with what was left out, and what has ended."""
        reason = "a person has rejected it"
        rejected = [{"triple": " ".join(one).rstrip(), "reason": reason} for one in self._rejected]
        report = {**report, "skipped": [*report["skipped"], *rejected]}
        if self._replacement is not None:
            report["replaced"] = self._replacement.report()
        return report


def _remove_text(replaced: ReplacedText, draft: Draft) -> None:
    """Remove a string from an attribute: the whole value, or one item of an array."""
    element = draft.element(cast(NamedNode, draft.store.iris.from_id(replaced.id)))
    term = None if element is None else element.attributes.get(replaced.key)
    if element is None or term is None:
        return
    value = to_json(term)
    items = value if isinstance(value, list) else [value]
    remaining = [item for item in items if item != replaced.text]
    if remaining == items:
        return  # such as an empty list beside a link
    if not remaining:
        del element.attributes[replaced.key]
    else:
        term = to_term(remaining[0] if len(remaining) == 1 else remaining)
        element.attributes[replaced.key] = term


def _replace_concept(old: str, new: str, draft: Draft) -> None:
    """Replace one concept by another, which takes over its links, values and merge history."""
    iris = draft.store.iris
    nodes = (cast(NamedNode, iris.from_id(id)) for id in (old, new))
    source, target = (draft.element(node) for node in nodes)
    if not isinstance(source, Concept) or not isinstance(target, Concept):
        return  # another member of a view has it
    note_merged(source, target)
    move_links(source.node, target.node, draft)
    draft.delete([source.node])


def _keep_import_times(draft: Draft) -> None:
    """Keep the import time of each element that the import does not change otherwise."""
    for edit in draft.edits.values():
        before = None if edit.before is None else edit.before.metadata.get(IMPORTED_AT)
        if before is not None:
            imported_at = edit.after.metadata.get(IMPORTED_AT)
            edit.after.metadata[IMPORTED_AT] = before
            if edit.changed and imported_at is not None:
                edit.after.metadata[IMPORTED_AT] = imported_at
