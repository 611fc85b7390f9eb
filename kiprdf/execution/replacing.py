"""Replaces the dataset: an empty one by a snapshot, any by what a patch makes of it.

A patch is checked like a statement: what it does to elements is drafted (docs/decisions/118).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, cast

from pyoxigraph import DefaultGraph, NamedNode, Quad, Triple

from kiprdf import collector
from kiprdf.actors import KINDS, Actor, acting_on
from kiprdf.budget import paced
from kiprdf.errors import KipError
from kiprdf.execution.authors import AUTHOR
from kiprdf.execution.find_options import read_default
from kiprdf.execution.forgetting import KIND as FORGET
from kiprdf.execution.forgetting import ErasurePlan, named
from kiprdf.execution.gate import GATE
from kiprdf.execution.writer import RESTORED, STRICT_SCHEMA, Writer
from kiprdf.interchange.dataset import check_dataset
from kiprdf.interchange.differences.patch import Patch
from kiprdf.interchange.differences.patch import read as read_patch
from kiprdf.interchange.differences.patch_log import Log
from kiprdf.interchange.n_triples import StagingStore
from kiprdf.kml.draft import Draft, Edit, timestamp
from kiprdf.kml.erased import with_links
from kiprdf.kml.trust import RETRACTED_AT, RETRACTED_BY, STATUS, with_unreviewed
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Element, Proposition, Term, Terms, read_element
from kiprdf.rdf.literals import Json, is_same, to_json, to_term
from kiprdf.source import NOWHERE
from kiprdf.store import Delta, OxigraphStore
from kiprdf.store.past import journal_of, replay, require_embedded

_WRITER = re.compile(rf"(?:{'|'.join(KINDS)})/.+")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


class Restored(int):
    """The number of restored elements; ``erased`` is that of those that the erasure list names.

    >>> Restored(5, erased=2) + 1, Restored(5, erased=2).erased
    (6, 2)
    """

    erased: int

    def __new__(cls, count: int, erased: int = 0) -> Restored:
        restored = super().__new__(cls, count)
        restored.erased = erased
        return restored


def restore(
    writer: Writer,
    read: Callable[[], StagingStore],
    read_log: Callable[[], Log] | None = None,
    *,
    checks: bool = False,
) -> Restored:
    """Replace an empty nexus by a dataset and return the number of elements.

    It is for the access ``admin``: what the dataset says about who wrote it is taken as it is.
    The dataset is read and validated without the writer's lock. With a log, which must lead to
    the dataset, its commits replace the history and the settings; what was strict stays strict.
    What the erasure list of the nexus names is left out of both. It ``checks`` the dataset against
    the shapes of the nexus, which stay those that they are.
    """
    store = writer.store

    def run() -> Restored:
        acting_on(writer).require("admin")
        _require_empty(writer)
        dataset = read()
        count = check_dataset(dataset, store.iris)
        log = None if read_log is None else read_log()
        if checks:
            writer.gate.require(OxigraphStore(dataset.engine, store.iris.base))

        def write() -> Restored:
            _require_empty(writer)
            if log is None:
                erased = _drop_erased(dataset, writer)
                writer.replace(dataset.engine, "RESTORE", {RESTORED: "true"})
                return Restored(count - erased, erased)
            log.require(dataset, store.commit())
            embedded = require_embedded(store, "have a history")
            kept, commits, erased = _drop_from_log(dataset, log, writer)
            is_strict, own_gate = writer.strict_schema, writer.gate.kept()
            writer.rewrite(embedded, lambda: replay(embedded, kept.engine, *commits))
            if own_gate is not None:
                writer.keep({GATE: own_gate.record})
            writer.strict_schema = store.records().get(STRICT_SCHEMA) == "true"
            writer.set_strict_schema(is_strict or writer.strict_schema)
            entail, writer.entail = writer.entail, read_default(store.records())
            writer.set_entail(entail or writer.entail)
            return Restored(count - erased, erased)

        return store.write(write)

    return collector.paused(run)


def _drop_erased(dataset: StagingStore, writer: Writer) -> int:
    """Remove what the erasure list names from a dataset, and return the number of elements."""
    if not writer.erasures:
        return 0
    store = OxigraphStore(dataset.engine, writer.store.iris.base)
    draft = Draft(store, writer.clock)
    draft.delete(named(store, writer.erasures))
    for triple in draft.delta().removed:
        dataset.engine.remove(Quad(*triple))
    return len(draft.deleted)


def _drop_from_log(
    dataset: StagingStore, log: Log, writer: Writer
) -> tuple[StagingStore, Log, int]:
    """A dataset and its log without what the erasure list names; a last commit adds the list."""
    if not writer.erasures:
        return dataset, log, 0
    store = OxigraphStore.memory(writer.store.iris.base, history=True)
    try:
        replay(store, dataset.engine, *log)
        nodes = named(store, writer.erasures)
        plan = ErasurePlan(store, writer.clock, nodes, named=writer.erasures)
        plan.apply(writer.origin(FORGET), plan.records())
        journal = journal_of(store)
        commits, texts = journal.commits(0, journal.last), journal.statements().values()
        quads = (Quad(*triple) for triple in store.match(None, None, None))
        return StagingStore.of(quads), Log(list(commits), list(texts)), len(plan.draft.deleted)
    finally:
        store.close()


def _require_empty(writer: Writer) -> None:
    if not writer.is_empty():
        message = "The nexus already contains other knowledge."
        raise KipError("KIP_2002", message, "Restore into a new nexus.")


class PatchPlan(NamedTuple):
    """A patch, and the dataset that it leads to."""

    patch: Patch
    dataset: StagingStore
    draft: Draft
    erased: int

    def report(self) -> dict[str, Any]:
        """How many triples of the patch are, or would be, ``deleted`` and ``added``, and how many
        elements were ``erased`` from it."""
        counts = {"deleted": len(self.patch.removed), "added": len(self.patch.added)}
        counts |= {"erased": self.erased} if self.erased else {}
        return with_unreviewed(counts, self.draft)


def apply_patch(writer: Writer, text: str, dry_run: bool) -> dict[str, Any]:
    """Change the dataset triple by triple, as one commit, if a statement may change that."""
    given, store = read_patch(text), writer.store

    def plan() -> PatchPlan:
        patch, erased = _without_erased(given, writer)
        dataset = patch.applied(store.match(None, None, None))
        draft = Draft(store, writer.clock)
        _draft_deletions(patch, draft)
        writer.check(draft, NOWHERE, gated=False)
        check_dataset(dataset, store.iris)
        draft = Draft(store, writer.clock, actor=acting_on(writer))
        _draft_changes(patch, dataset, draft)
        writer.check(draft, NOWHERE, gated=False)
        # Each of the two drafts is half of the patch.
        touched = _subjects((*patch.removed, *patch.added))
        writer.gate.require(store, touched, Delta(tuple(patch.removed), tuple(patch.added)))
        _note_writer(dataset, draft)
        return PatchPlan(patch, dataset, draft, erased)

    def write(plan: PatchPlan) -> dict[str, Any]:
        if any(plan.patch):
            writer.replace(plan.dataset.engine, "PATCH")
        return plan.report()

    return collector.paused(lambda: writer.run_planned(plan, write, dry_run=dry_run))


def _without_erased(patch: Patch, writer: Writer) -> tuple[Patch, int]:
    """A patch without the rows of what the erasure list names, and the number of its elements.

    So the next patch from the same nexus still fits.
    """
    if not writer.erasures:
        return patch, 0
    rows = (*patch.removed, *patch.added)
    facts: list[Any] = [(row.subject, row.object) for row in rows if row.predicate == vocab.REIFIES]
    ends = {end for _, fact in facts for end in (fact.subject, fact.object)}
    elements = [*facts, *((node, None) for node in {row.subject for row in rows} | ends)]
    gone = with_links({node for node, fact in elements if writer.lists(node, fact)}, facts)
    lost = {fact for link, fact in facts if link in gone}
    kept = (
        frozenset(row for row in side if not {row.subject, row.object} & gone and row not in lost)
        for side in patch
    )
    created = {row.subject for row in patch.added if row.predicate in vocab.IDENTITY}
    return Patch(*kept), len(created & gone)


def _draft_deletions(patch: Patch, draft: Draft) -> None:
    """Draft the elements that a patch deletes, and the links that it gives other ends."""
    nodes = _subjects(row for row in patch.removed if row.predicate in vocab.IDENTITY)
    draft.store.prefetch(nodes)
    for node in paced(nodes):
        element = draft.element(node)
        assert element is not None, node
        draft.deleted[node] = element
        if isinstance(element, Proposition) and draft.fact(element) not in patch.removed:
            draft.superseded.add(node)


def _draft_changes(patch: Patch, dataset: StagingStore, draft: Draft) -> None:
    """Draft the elements that a patch creates and changes; ``dataset`` is its sound result.

    Versions and times are those of the patch, and no changes. Raises KIP_2002 for metadata of the
    engine that no engine writes, or that this actor may not write.
    """
    iris = draft.store.iris
    rows = (*patch.removed, *patch.added)
    nodes = _subjects(row for row in rows if not row.predicate.value.startswith(iris.predicates))
    draft.store.prefetch(nodes)
    for node in paced(nodes):
        before = draft.element(node)
        quads = dataset.engine.quads_for_pattern(node, None, None, DefaultGraph())
        after = read_element(iris, node, quads)
        if after is not None:
            old = {} if before is None else before.metadata
            _check_metadata(old, after.metadata, draft.id(node), draft.actor)
            if AUTHOR in old and is_same(old[AUTHOR], after.metadata.get(AUTHOR)):
                # What a patch leaves is the same term, as in every draft.
                after.metadata[AUTHOR] = old[AUTHOR]
            draft.edits[node] = Edit(before and _without_times(before), _without_times(after))
        else:  # it was drafted before
            draft.edits.pop(node, None)


def _note_writer(dataset: StagingStore, draft: Draft) -> None:
    """Write into the dataset of a patch what the engine notes about its writer.

    A patch of the owner is exact, but that a retraction without its marks gets them. One of another
    person with the access ``admin`` has exact versions and times; those of others are as those of
    any write.
    """
    actor, graph, moment = draft.actor, DefaultGraph(), to_term(timestamp(draft.clock()))
    is_exact = actor.label is None and is_trusted(actor)
    for node, edit in paced(draft.edits.items()):
        notes: dict[str, Term | None] = {
            key: edit.after.metadata.get(key) for key in (STATUS, RETRACTED_BY, RETRACTED_AT)
        }
        if not is_exact:
            engine = _engine_metadata(node, edit, draft, moment)
            notes |= {vocab.ACTOR: engine[vocab.ACTOR]} if is_trusted(actor) else engine
        for key, term in notes.items():
            predicate = vocab.metadata(key)
            given = list(dataset.engine.quads_for_pattern(node, predicate, None, graph))
            if not (is_exact and given and term is not None):
                for quad in given:
                    dataset.engine.remove(quad)
                if term is not None:
                    dataset.engine.add(Quad(node, predicate, term, graph))


def _engine_metadata(
    node: NamedNode, edit: Edit, draft: Draft, moment: Term
) -> dict[str, Term | None]:
    """What the engine writes with a change of an element; of one without a change, what it has."""
    rows = {row.predicate: cast(Term, row.object) for row in draft.store.match(node, None, None)}
    stored = {key: rows.get(vocab.metadata(key)) for key in vocab.ENGINE_KEYS}
    if not edit.changed:
        return stored
    label, version = draft.actor.label, stored[vocab.VERSION]
    if edit.before is None:
        stored[vocab.CREATED_AT] = moment
    number = 0 if edit.before is None else 1 if version is None else int(version.value)
    return {
        **stored,
        vocab.VERSION: to_term(number + 1),
        vocab.UPDATED_AT: moment,
        vocab.ACTOR: None if label is None else to_term(label),
    }


def _subjects(rows: Iterable[Triple]) -> list[NamedNode]:
    return sorted({cast(NamedNode, row.subject) for row in rows}, key=str)


def _without_times(element: Element) -> Element:
    for key in vocab.ENGINE_KEYS:
        element.metadata.pop(key, None)
    return element


def is_trusted(actor: Actor) -> bool:
    """Whether an actor may write metadata of the engine as they are."""
    return actor.is_person and actor.may("admin")


def _check_metadata(before: Terms, after: Terms, id: str, actor: Actor) -> None:
    """Raise KIP_2002 for a new time, trail of merges, mention or writer that no engine writes.

    Whether one of the last three is new or gone, it is refused to those who may not write it.
    """
    trusted = is_trusted(actor)
    may_write = {
        vocab.MERGED_FROM: trusted,
        vocab.MENTIONED: trusted,
        vocab.ACTOR: actor.may("admin"),
    }
    for key in (vocab.CREATED_AT, vocab.UPDATED_AT, *may_write):
        term = after.get(key)
        if term == before.get(key):
            continue
        hint = "Leave it out, or write it as the engine does."
        if not may_write.get(key, True):
            hint = "Leave it out: only a person with the access 'admin' writes it by a patch."
        elif term is None or is_usual(key, to_json(term)):
            continue
        message = f"The metadata key '{key}' of {id} is maintained by the engine."
        raise KipError("KIP_2002", message, hint)


def is_usual(key: str, value: Json) -> bool:
    """Whether a value of the metadata that the engine maintains is one that it writes."""
    if key == vocab.MERGED_FROM:
        return isinstance(value, list) and all(isinstance(name, str) for name in value)
    if key == vocab.MENTIONED:
        return value is True
    form = _WRITER if key == vocab.ACTOR else _TIME
    return isinstance(value, str) and form.fullmatch(value) is not None
