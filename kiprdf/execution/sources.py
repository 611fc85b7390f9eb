"""What each source states, noted with the elements, and what a source no longer states.

An import under a name of a source notes, in the metadata key ``stated_by`` of each element, a
digest of each value. An import that replaces supersedes, or removes, what the note has and the
document has not; what others state or wrote stays (docs/decisions/231).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from typing import Any, cast

from pyoxigraph import Literal, NamedNode

from kiprdf.budget import paced
from kiprdf.execution.several_sources import SeveralSources, are_of_sources, unite_types
from kiprdf.interchange.forms import listed
from kiprdf.interchange.importing.blank_nodes import SKOLEM
from kiprdf.interchange.importing.element_index import (
    IMPORTED_AT,
    SAME_AS,
    SOURCE,
    ElementIndex,
    read_element_index,
)
from kiprdf.interchange.importing.origins import LISTS
from kiprdf.interchange.importing.plan import Element as Planned
from kiprdf.interchange.importing.plan import ImportPlan
from kiprdf.interchange.importing.stated import (
    CLASSES,
    MADE_BY,
    OF_METADATA,
    SUPERSEDED,
    SUPERSEDED_AT,
    Stated,
    Values,
    digest,
    digest_at,
    digest_of,
    is_of_source,
    place_of,
    write_note,
    written_keys,
)
from kiprdf.kml.draft import Draft
from kiprdf.kml.merged_origins import (
    NO_LONGER_IN,
    ORIGINAL,
    PARTS,
    POSITION,
    STATED_BY,
    STATEMENTS,
)
from kiprdf.kml.trust import STATUS
from kiprdf.language.names import META_TYPES
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Concept, Element, Proposition, Terms, attribute, metadata
from kiprdf.rdf.literals import Json, to_json, to_term
from kiprdf.store import Store

_NOTED_WITH = {POSITION: LISTS, STATEMENTS: STATEMENTS}
"""What the record of an import has because of a value."""


class Replacement:
    """Notes in the draft of an import what its source states, and ends what it no longer states."""

    def __init__(self, plan: ImportPlan, draft: Draft, time: str) -> None:
        self._plan, self._draft = plan, draft
        name = plan.metadata.get(SOURCE)
        self._source = plan.source or (name if isinstance(name, str) else "")
        self._time = time
        self._iris = draft.store.iris
        self._several = SeveralSources(plan, draft, self._source)
        self.superseded: list[str] = []
        self.removed: list[str] = []
        self.restored: list[str] = []
        self.values: dict[str, list[str]] = {}
        """The keys of the values that were removed, by the ids of their elements."""

    @cached_property
    def _index(self) -> ElementIndex:
        return read_element_index(self._draft.store)

    def run(self, left_out: Collection[NamedNode | None], created: Collection[str]) -> None:
        """Note what is stated, but of what was ``left_out``, and end the rest.

        An import without a source adds to the notes that there are. What is ``created`` has its
        note already (``with_note``).
        """
        planned: list[Planned] = [*self._plan.concepts, *self._plan.propositions]
        if self._plan.source is None:
            edits = self._draft.edits.values()
            noted = {edit.after.node for edit in edits if STATED_BY in edit.after.metadata}
            planned = (
                [one for one in planned if self._iris.from_id(one.key) in noted] if noted else []
            )
        every = [one for one in planned if one.key not in created]
        stated_now: set[NamedNode] = set()
        for one in paced(every):
            node = cast(NamedNode, self._iris.from_id(one.key))
            stated_now.add(node)
            if one.key in self._plan.existing and not self._plan.update:
                continue
            element = None if node in left_out else self._draft.element(node)
            if element is None or (isinstance(element, Concept) and element.type in META_TYPES):
                continue
            keys = (OF_METADATA + key for key in {**self._plan.metadata, **one.metadata})
            is_same = one.key in self._plan.same
            self._note(element, None if is_same else [*one.attributes, *keys])
        if self._plan.replaces:
            self._end(self._stated_before() - stated_now - {*self._draft.deleted})

    def report(self) -> dict[str, Any]:
        """What of the source was superseded, removed, or stated again, by numbers and names."""
        lists = {
            SUPERSEDED: self.superseded,
            "removed": self.removed,
            "restored": self.restored,
        }
        elements: list[dict[str, Any]] = [
            {"element": self._shown(id), "id": id, "change": change}
            for change, ids in lists.items()
            for id in ids
        ]
        elements += [
            {"element": self._shown(id), "id": id, "change": "values removed", "keys": keys}
            for id, keys in self.values.items()
        ]
        elements.sort(key=lambda one: (one["change"], one["id"][0], one["element"]))
        counts: dict[str, Any] = {
            change: {
                "concepts": sum(id.startswith("C:") for id in ids),
                "propositions": sum(id.startswith("P:") for id in ids),
            }
            for change, ids in lists.items()
        }
        return {**counts, "values": sum(map(len, self.values.values())), "elements": elements}

    def _shown(self, id: str) -> str:
        """The name of an element; of a proposition what it states."""
        element = self._draft.element(cast(NamedNode, self._iris.from_id(id)))
        if isinstance(element, Proposition):
            ends = (self._shown(self._draft.id(end)) for end in (element.subject, element.object))
            return f"({next(ends)}, {element.predicate}, {next(ends)})"
        return id.removeprefix("C:").replace("/", ":", 1)

    # What is stated -----------------------------------------------------------------------------

    def _note(self, element: Element, keys: list[str] | None) -> None:
        """Note the values of some keys; without keys, that nothing has changed."""
        edit = self._draft.edits[element.node]
        before: Element | None = edit.before
        stated = {} if before is None else self._stated(before)
        are_united = isinstance(before, Concept) and are_of_sources(before, stated)
        is_restored = NO_LONGER_IN in element.metadata
        if is_restored:
            # Nobody states its old values.
            was = {key: digest for values in stated.values() for key, digest in values.items()}
            stated = {}
        else:
            was = stated.get(self._source, {})
        others = {name: values for name, values in stated.items() if name != self._source}
        own = stated.get(self._source)
        was = {key: one for key, one in was.items() if key not in (CLASSES, MADE_BY)}
        is_merged = _is_merged(element)
        replaces = self._plan.replaces and not is_merged
        if keys is None and before is not None and replaces:
            _keep_edited(element, before, was)  # before statements are dropped
        marks: Values = {}
        if before is not None and others and not is_merged:
            same = was if keys is None else None
            marks = self._several.note(element, before, others, own, same)
        if keys is None:
            now = was
        else:
            digests = {key: digest_at(element, key) for key in keys if is_of_source(key, element)}
            now = {key: one for key, one in digests.items() if one is not None}
        if before is not None:
            if keys is not None and replaces:
                _keep_edited(element, before, {k: v for k, v in was.items() if now.get(k) == v})
            _keep_overwritten(others, now, before)
        if (self._plan.replaces or is_restored) and keys is not None and not is_merged:
            self._remove(element, {k: v for k, v in was.items() if k not in now}, others)
        else:
            now = {**was, **now}
        stated = {**others, self._source: {**now, **marks}}
        if are_united and not is_merged:
            unite_types(cast(Concept, element), stated)
        write_note(element.metadata, stated)
        last = None if before is None else metadata(before, SOURCE)
        if isinstance(last, str) and last in others and own is not None:
            element.metadata[SOURCE] = to_term(last)  # two harvests do not take turns
        if is_restored:
            for key in (SUPERSEDED, SUPERSEDED_AT, NO_LONGER_IN):
                element.metadata.pop(key, None)
            self.restored.append(self._draft.id(element.node))

    def _stated(self, element: Element) -> Stated:
        """What each source has stated of an element of the store.

        Without a note that is the source of its metadata, or, without one, "".
        """
        noted, source = metadata(element, STATED_BY), metadata(element, SOURCE)
        name = source if isinstance(source, str) else ""
        if isinstance(noted, dict):
            stated = {k: dict(v) for k, v in noted.items() if isinstance(v, dict)}
            # Who writes a source of their own states it, too.
            return {name: {}, **stated} if name and stated else stated
        keys = written_keys(element)
        if IMPORTED_AT in element.metadata and isinstance(element, Concept):
            # Other keys were written by hand.
            keys &= self._index.imported_keys(element.type)
        return {name: {key: digest_at(element, key) for key in sorted(keys)}}

    def _remove(self, element: Element, gone: Values, others: Stated) -> None:
        """Remove values that only the source has stated, and that are as it stated them."""
        removed = []
        for key, one in gone.items():
            if digest_at(element, key) != one:
                continue  # another value was written
            terms, own = place_of(element, key)[0], key.removeprefix(OF_METADATA)
            noted = [values for values in others.values() if key in values]
            if any(values[key] == one for values in noted):
                continue
            removed.append(key)
            overwritten = next((one for one in noted if isinstance(one[key], list)), None)
            if overwritten is not None:
                value = cast("list[Json]", overwritten[key])[0]
                terms[own], overwritten[key] = to_term(value), digest_of(value)
            else:
                del terms[own]
                _forget_form(element.metadata, key)
        if removed:
            self.values[self._draft.id(element.node)] = removed

    # What is no longer stated -------------------------------------------------------------------

    def _stated_before(self) -> set[NamedNode]:
        """The elements that earlier imports under the source have stated."""
        nodes = set()
        noted, ended = self._index.metadata(STATED_BY), self._index.metadata(NO_LONGER_IN)
        for id, value in noted.items():
            if isinstance(value, dict) and self._source in value and id not in ended:
                nodes.add(id)
        imported = self._index.metadata(IMPORTED_AT)
        for id, source in self._index.metadata(SOURCE).items():
            if source == self._source and id in imported and id not in noted:
                nodes.add(id)
        definitions = tuple(f"C:{meta_type}/" for meta_type in META_TYPES)
        named = (self._iris.from_id(id) for id in nodes if not id.startswith(definitions))
        return {node for node in named if node is not None}

    def _end(self, nodes: set[NamedNode]) -> None:
        """Supersede, remove or keep elements that the source states no longer."""
        self._draft.store.prefetch(nodes)
        elements = [one for one in map(self._draft.element, _sorted(nodes)) if one is not None]
        links = [one for one in elements if isinstance(one, Proposition)]
        ended = {link.node for link in links}
        # What is said about a fact comes first: a fact is kept for what others say about it.
        for link in sorted(links, key=lambda one: -self._height(one)):
            is_written = written_keys(link) - self._own_keys(link)
            others = self._others(link)
            if others or is_written or self._is_in_use(link, ended):
                self._keep(link, others)
                ended.discard(link.node)
            else:
                link.attributes.pop(SAME_AS, None)
                self._supersede(link)
        for concept in (one for one in elements if isinstance(one, Concept)):
            is_written = written_keys(concept) - self._own_keys(concept)
            others = self._others(concept)
            if others or is_written or self._is_in_use(concept, ended):
                self._keep(concept, others)
            elif self._is_removable(concept):
                before = {*self._draft.deleted}
                self._draft.delete([concept.node])
                gone = {self._draft.id(node) for node in {*self._draft.deleted} - before}
                self.removed += sorted(gone)
                self.superseded = [id for id in self.superseded if id not in gone]
            else:
                self._supersede(concept)

    def _own_keys(self, element: Element) -> set[str]:
        """The keys of the values that are as the source has stated them."""
        was, keys = self._stated(element).get(self._source, {}), written_keys(element)
        return {key for key in keys & was.keys() if digest_at(element, key) == was[key]}

    def _height(self, link: Proposition) -> int:
        """How many facts are below a fact."""
        height, ends = 0, {link.subject, link.object}
        while ends := {
            end
            for one in map(self._draft.element, ends)
            if isinstance(one, Proposition)
            for end in (one.subject, one.object)
        }:
            height += 1
        return height

    def _others(self, element: Element) -> Stated:
        """What others than the source state of an element."""
        stated = self._stated(element)
        return {name: values for name, values in stated.items() if name != self._source}

    def _keep(self, element: Element, others: Stated) -> None:
        """Take off an element what only the source states."""
        stated = self._stated(element)
        was = stated.get(self._source, {})
        if not _is_merged(element):
            are_united = isinstance(element, Concept) and are_of_sources(element, stated)
            changed = self._several.keep(element, was, others)
            self._remove(element, {k: v for k, v in was.items() if k not in changed}, others)
            if are_united:
                unite_types(cast(Concept, element), others)
        write_note(element.metadata, others)
        names = [name for name in others if name]
        if names and metadata(element, SOURCE) == self._source:
            element.metadata[SOURCE] = to_term(names[0])

    def _is_in_use(self, element: Element, ended: Collection[NamedNode]) -> bool:
        """Whether a fact that holds is about an element."""
        return any(
            link.node not in ended and metadata(link, SUPERSEDED) is not True
            for link in self._draft.links_at(element.node)
        )

    def _is_removable(self, concept: Concept) -> bool:
        """Whether a concept was a blank node, which nobody can mean again, and nobody judged it."""
        own = next(iter(listed(attribute(concept, SAME_AS))), None)
        elements: list[Element] = [concept, *self._draft.links_at(concept.node)]
        return (
            isinstance(own, str)
            and own.startswith(SKOLEM)
            and not any(STATUS in one.metadata for one in elements)
        )

    def _supersede(self, element: Element) -> None:
        if metadata(element, SUPERSEDED) is True:
            write_note(element.metadata, {})  # not by an import
            return
        write_note(element.metadata, self._stated(element))
        marks = {SUPERSEDED: True, SUPERSEDED_AT: self._time, NO_LONGER_IN: self._source}
        element.metadata |= {key: to_term(value) for key, value in marks.items()}
        self.superseded.append(self._draft.id(element.node))


def ends_nothing(plan: ImportPlan, store: Store) -> bool:
    """Whether no earlier import has stated what this one could end."""
    if not plan.replaces:
        return True
    source = to_term(plan.source)
    of_source = store.lookup(None, vocab.metadata(SOURCE), source, 1)
    return not (of_source or store.lookup(None, vocab.metadata(STATED_BY), None, 1))


def _keep_overwritten(others: Stated, now: Values, before: Element) -> None:
    """Keep in the notes of others the values that this import overwrites, and only these."""
    for values in others.values():
        for key, one in now.items():
            noted = values.get(key)
            if isinstance(noted, list):
                if digest_of(noted[0]) == one:
                    values[key] = one
            elif noted is not None and noted != one and digest_at(before, key) == noted:
                values[key] = [to_json(cast(Literal, place_of(before, key)[1]))]


def _keep_edited(element: Element, before: Element, unchanged: Values) -> None:
    """Keep the values that others wrote since the source stated what it states again."""
    for key, one in unchanged.items():
        (terms, _), (_, term) = place_of(element, key), place_of(before, key)
        if term is not None and digest(term) != one:
            terms[key.removeprefix(OF_METADATA)] = term


def _is_merged(element: Element) -> bool:
    """Whether MERGE has made an element of several: its values are noted with each of them."""
    record = metadata(element, ORIGINAL)
    return isinstance(record, dict) and PARTS in record


def _forget_form(terms: Terms, key: str) -> None:
    """Take the form of a value that is removed out of the record of the import."""
    record = to_json(cast(Literal, terms[ORIGINAL])) if ORIGINAL in terms else None
    if not isinstance(record, dict):
        return
    place = "metadata" if key.startswith(OF_METADATA) else "attributes"
    forms = record.pop(place, None) or {}
    kept = {k: form for k, form in forms.items() if k != key.removeprefix(OF_METADATA)}
    record.pop(_NOTED_WITH.get(key), None)
    terms[ORIGINAL] = to_term({**record, place: kept} if kept else record)


def _sorted(nodes: Iterable[NamedNode]) -> list[NamedNode]:
    return sorted(nodes, key=lambda node: node.value)
