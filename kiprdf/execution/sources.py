"""What each source states, noted with the elements, and what a source no longer states.

An import under a name of a source notes, in the metadata key ``stated_by`` of each element, a
digest of each value. An import that replaces supersedes, or removes, what the note has and the
document has not; what others state or wrote stays (docs/decisions/231).
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Any, TypeAlias, cast

from pyoxigraph import Literal, NamedNode

from kiprdf.budget import paced
from kiprdf.interchange.forms import listed
from kiprdf.interchange.importing.blank_nodes import SKOLEM
from kiprdf.interchange.importing.element_index import (
    IMPORTED_AT,
    SAME_AS,
    SOURCE,
    ElementIndex,
    read_element_index,
)
from kiprdf.interchange.importing.names import OTHER_TYPES
from kiprdf.interchange.importing.origins import IRI, LISTS
from kiprdf.interchange.importing.plan import Element as Planned
from kiprdf.interchange.importing.plan import ImportPlan
from kiprdf.interchange.importing.values import together
from kiprdf.kml import statements
from kiprdf.kml.draft import Draft
from kiprdf.kml.merged_origins import (
    NO_LONGER_IN,
    ORIGINAL,
    PARTS,
    POSITION,
    STATED_BY,
    STATEMENTS,
    items,
    statement_identity,
    statements_of,
    write_statements,
)
from kiprdf.kml.trust import MARKS, STATUS
from kiprdf.language.names import META_TYPES
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Concept, Element, Proposition, Term, Terms, attribute, metadata
from kiprdf.rdf.literals import Json, canonical_json, to_json, to_term
from kiprdf.semantics.arguments import RESERVED_METADATA
from kiprdf.semantics.periods import VALID_FROM, VALID_UNTIL
from kiprdf.store import Store

CLASSES, MADE_BY = "@type", "@statements"
"""The keys of a note with the classes that a source gives a concept, if they are not those of its
type, and with the digests of the statements of a fact that it makes, where there are several."""
SUPERSEDED, SUPERSEDED_AT = "superseded", "superseded_at"
_OF_METADATA = "metadata."
_NOTED_WITH = {POSITION: LISTS, STATEMENTS: STATEMENTS}
"""What the record of an import has because of a value."""
_MARKS = (
    SUPERSEDED,
    SUPERSEDED_AT,
    "superseded_by",
    NO_LONGER_IN,
    STATUS,
    *MARKS,
    VALID_FROM,
    VALID_UNTIL,
)
_NEVER = frozenset(
    (*RESERVED_METADATA, *_MARKS, ORIGINAL, STATED_BY, SOURCE, IMPORTED_AT, vocab.MERGED_FROM)
)

Values: TypeAlias = dict[str, Json]
"""What a source states of an element: a digest of each value by its key; a list with the value
itself where another source has overwritten it."""
Stated: TypeAlias = dict[str, Values]
"""By the names of the sources; "" is what there was before any source."""


class Replacement:
    """Notes in the draft of an import what its source states, and ends what it no longer states."""

    def __init__(self, plan: ImportPlan, draft: Draft, time: str) -> None:
        self._plan, self._draft = plan, draft
        name = plan.metadata.get(SOURCE)
        self._source = plan.source or (name if isinstance(name, str) else "")
        self._time = time
        self._iris = draft.store.iris
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
        every = [one for one in planned if one.key not in created]
        if self._plan.source is None:
            edits = self._draft.edits.values()
            noted = {edit.after.node for edit in edits if STATED_BY in edit.after.metadata}
            every = [one for one in every if self._iris.from_id(one.key) in noted] if noted else []
        stated_now: set[NamedNode] = set()
        for one in paced(every):
            node = cast(NamedNode, self._iris.from_id(one.key))
            stated_now.add(node)
            if one.key in self._plan.existing and not self._plan.update:
                continue
            element = None if node in left_out else self._draft.element(node)
            if element is None or (isinstance(element, Concept) and element.type in META_TYPES):
                continue
            keys = (_OF_METADATA + key for key in {**self._plan.metadata, **one.metadata})
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
        is_restored = NO_LONGER_IN in element.metadata
        if is_restored:
            # Nobody states its old values.
            was = {key: digest for values in stated.values() for key, digest in values.items()}
            stated = {}
        else:
            was = stated.get(self._source, {})
        others = {name: values for name, values in stated.items() if name != self._source}
        own = stated.get(self._source)
        was = {key: digest for key, digest in was.items() if key not in (CLASSES, MADE_BY)}
        replaces = self._plan.replaces and not _is_merged(element)
        if keys is None and before is not None and replaces:
            _keep_edited(element, before, was)  # before statements are dropped
        marks = self._marks(element, before, others, own, was if keys is None else None)
        if keys is None:
            now = was
        else:
            terms = ((key, _terms(element, key)[1]) for key in keys if _is_of_source(key, element))
            now = {key: _digest(term) for key, term in terms if term is not None}
        if before is not None:
            if keys is not None and replaces:
                _keep_edited(element, before, {k: v for k, v in was.items() if now.get(k) == v})
            _keep_overwritten(others, now, before)
        if (self._plan.replaces or is_restored) and keys is not None and not _is_merged(element):
            self._remove(element, {k: v for k, v in was.items() if k not in now}, others)
        else:
            now = {**was, **now}
        _write(element.metadata, {**others, self._source: {**now, **marks}})
        last = None if before is None else metadata(before, SOURCE)
        if isinstance(last, str) and last in others and self._source in stated:
            element.metadata[SOURCE] = to_term(last)  # two harvests do not take turns
        if is_restored:
            for key in (SUPERSEDED, SUPERSEDED_AT, NO_LONGER_IN):
                element.metadata.pop(key, None)
            self.restored.append(self._draft.id(element.node))

    # Classes and statements, of which several sources may each have their own -----------------

    def _marks(
        self,
        element: Element,
        before: Element | None,
        others: Stated,
        was: Values | None,
        same: Values | None,
    ) -> Values:
        """The classes and statements of the source, where others state the element, too.

        Notes those of the others that have no mark, and drops the statements that nobody makes.
        ``same`` are the values of a source that states nothing new.
        """
        if before is None or not others or _is_merged(element):
            return {}
        if isinstance(element, Proposition):
            return self._made(element, cast(Proposition, before), others, was, same)
        own = (was or {}).get(CLASSES) if same is not None else _noted_classes(element)
        if len(others) == 1 and was is None:
            classes = _noted_classes(before)
            if classes is None and IMPORTED_AT not in before.metadata:
                classes = ""  # a person gave it its type
            if classes is not None:
                next(iter(others.values())).setdefault(CLASSES, classes)
        earlier = [] if self._plan.replaces or was is None else [was.get(CLASSES)]
        noted = [own, *earlier, *(values.get(CLASSES) for values in others.values())]
        if any(one is not None for one in noted):
            self._write_classes(element, noted)
        own = own if earlier in ([], [own]) else " ".join(self._united(element, [own, *earlier]))
        return {} if own is None else {CLASSES: own}

    def _write_classes(self, concept: Concept, noted: Iterable[Json]) -> None:
        """Record the classes that sources give a concept; None stands for those of its type."""
        united, usual = self._united(concept, noted), self._united(concept, [None])
        record = metadata(concept, ORIGINAL)
        before = record if isinstance(record, dict) else {}
        after = {key: one for key, one in before.items() if key != CLASSES}
        after |= {} if united == usual else {CLASSES: united}
        if after != before:
            concept.metadata[ORIGINAL] = to_term(after)

    def _united(self, concept: Concept, noted: Iterable[Json]) -> list[Json]:
        id = self._iris.from_id(f"C:{META_TYPES[0]}/{concept.type}")
        definition = self._draft.element(cast(NamedNode, id))
        usual = None if definition is None else attribute(definition, IRI)
        texts = (usual or "" if one is None else one for one in noted)
        return sorted({iri for one in texts for iri in str(one).split()})

    def _made(
        self,
        link: Proposition,
        before: Proposition,
        others: Stated,
        was: Values | None,
        same: Values | None,
    ) -> Values:
        """The statements of a fact that the source makes, if there are several."""
        if len(statements_of(link)) < 2:
            return {}
        earlier = " ".join(_identity(*one) for one in statements_of(before))
        for values in others.values():
            values.setdefault(MADE_BY, earlier)
        own = set() if was is None else {*str(was.get(MADE_BY, earlier)).split()}
        now = self._plan.statements.get(self._draft.id(link.node))
        if now is not None:
            own = {*map(_digest_of, now)} | (set() if self._plan.replaces else own)
        marks: Values = {MADE_BY: " ".join(sorted(own))}
        if self._plan.replaces:
            noted = {} if same is None else same
            noted |= marks
            self._drop_statements(link, {**others, self._source: noted})
            marks = {MADE_BY: noted.pop(MADE_BY)} if MADE_BY in noted else {}
        return marks

    def _drop_statements(self, link: Proposition, stated: Stated) -> set[str]:
        """Drop the statements that no source makes; the keys whose values are others then."""
        if not stated or not all(MADE_BY in values for values in stated.values()):
            return set()
        every = statements_of(link)
        made = {one for values in stated.values() for one in str(values[MADE_BY]).split()}
        left = [one for one in every if _identity(*one) in made]
        if len(left) == len(every):
            return set()
        changed = {STATEMENTS}
        was, now = _values_of(every), _values_of(left)
        write_statements(link, left)
        for key, values in was.items():
            terms, place = (link.attributes, key) if key in link.attributes else (link.metadata, "")
            if key in terms and together(items(terms[key])) == together(values):
                changed.add(place or _OF_METADATA + key)
                terms[key] = to_term(together(now.get(key, [])))
                if key not in now:
                    del terms[key]
        identities = {_identity(*one) for one in left}
        for noted in stated.values():
            # The values of the only statement are those of the sources that make it.
            has_values = len(left) > 1 or not identities.isdisjoint(str(noted[MADE_BY]).split())
            for key in changed & noted.keys():
                term = _terms(link, key)[1] if has_values else None
                noted[key] = None if term is None else _digest(term)
                if term is None:
                    del noted[key]
            if len(left) < 2:
                del noted[MADE_BY]
        return changed

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
        keys = _written_keys(element)
        if IMPORTED_AT in element.metadata and isinstance(element, Concept):
            # Other keys were written by hand.
            keys &= self._index.imported_keys(element.type)
        return {name: {key: _digest(_value(element, key)) for key in sorted(keys)}}

    def _remove(self, element: Element, gone: Values, others: Stated) -> None:
        """Remove values that only the source has stated, and that are as it stated them."""
        removed = []
        for key, digest in gone.items():
            terms, term = _terms(element, key)
            if term is None or _digest(term) != digest:
                continue  # another value was written
            own = key.removeprefix(_OF_METADATA)
            stated = [values for values in others.values() if key in values]
            if any(values[key] == digest for values in stated):
                continue
            removed.append(key)
            overwritten = next((one for one in stated if isinstance(one[key], list)), None)
            if overwritten is not None:
                value = cast("list[Json]", overwritten[key])[0]
                terms[own], overwritten[key] = to_term(value), _digest_of(value)
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
            is_written = _written_keys(link) - self._own_keys(link)
            others = self._others(link)
            if others or is_written or self._is_in_use(link, ended):
                self._keep(link, others)
                ended.discard(link.node)
            else:
                link.attributes.pop(SAME_AS, None)
                self._supersede(link)
        for concept in (one for one in elements if isinstance(one, Concept)):
            is_written = _written_keys(concept) - self._own_keys(concept)
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
        was, keys = self._stated(element).get(self._source, {}), _written_keys(element)
        return {key for key in keys & was.keys() if _digest(_value(element, key)) == was[key]}

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
        was = self._stated(element).get(self._source, {})
        if not _is_merged(element):
            if isinstance(element, Proposition):
                changed = self._drop_statements(element, others)
                was = {key: digest for key, digest in was.items() if key not in changed}
            self._remove(element, was, others)
            noted = [values.get(CLASSES) for values in others.values()]
            has_marks = CLASSES in was or any(one is not None for one in noted)
            if isinstance(element, Concept) and others and (OTHER_TYPES in was or has_marks):
                self._write_classes(element, noted)
        _write(element.metadata, others)
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
            _write(element.metadata, {})  # not by an import
            return
        _write(element.metadata, self._stated(element))
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


def with_note(one: Planned, plan: ImportPlan) -> Mapping[str, Json]:
    """The metadata of a new element, with what the source of the plan states of it."""
    is_fact = isinstance(one, statements.Proposition)
    stated = {key: one.attributes[key] for key in one.attributes if is_fact or key != SAME_AS}
    own = {**plan.metadata, **one.metadata}
    stated |= {_OF_METADATA + key: own[key] for key in own if key not in _NEVER}
    digests = {key: _digest(to_term(value)) for key, value in stated.items()}
    return {**one.metadata, STATED_BY: {plan.source: digests}}


def _terms(element: Element, key: str) -> tuple[Terms, Term | None]:
    """The values among which that of a key is, and this value."""
    is_metadata = key.startswith(_OF_METADATA)
    terms = element.metadata if is_metadata else element.attributes
    return terms, terms.get(key.removeprefix(_OF_METADATA))


def _value(element: Element, key: str) -> Term:
    return cast(Term, _terms(element, key)[1])


def _written_keys(element: Element) -> set[str]:
    """The keys of values that a source or a person has written, without marks."""
    places = (("", element.attributes), (_OF_METADATA, element.metadata))
    keys = (place + key for place, terms in places for key in terms)
    return {key for key in keys if _is_of_source(key, element)}


def _is_of_source(key: str, element: Element) -> bool:
    """Whether a key is not one that the engine or each import writes."""
    if key.startswith(_OF_METADATA):
        return key.removeprefix(_OF_METADATA) not in _NEVER
    # A concept is known by its IRI; that of a reifier may stand for another fact.
    return key != SAME_AS or isinstance(element, Proposition)


def _digest(term: Term) -> str:
    return _digest_of(to_json(cast(Literal, term)))


def _digest_of(value: Json) -> str:
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()[:12]


def _keep_overwritten(others: Stated, now: Values, before: Element) -> None:
    """Keep in the notes of others the values that this import overwrites, and only these."""
    for values in others.values():
        for key, digest in now.items():
            noted = values.get(key)
            if isinstance(noted, list):
                if _digest_of(noted[0]) == digest:
                    values[key] = digest
            elif noted is not None and noted != digest:
                term = _terms(before, key)[1]
                if term is not None and _digest(term) == noted:
                    values[key] = [to_json(cast(Literal, term))]


def _keep_edited(element: Element, before: Element, unchanged: Values) -> None:
    """Keep the values that others wrote since the source stated what it states again."""
    for key, digest in unchanged.items():
        (terms, _), (_, term) = _terms(element, key), _terms(before, key)
        if term is not None and _digest(term) != digest:
            terms[key.removeprefix(_OF_METADATA)] = term


def _write(terms: Terms, stated: Stated) -> None:
    """Write a note, unless it is there."""
    before = terms.get(STATED_BY)
    if before is None or to_json(cast(Literal, before)) != stated:
        terms[STATED_BY] = to_term(cast(Json, stated))


def _is_merged(element: Element) -> bool:
    """Whether MERGE has made an element of several: its values are noted with each of them."""
    record = metadata(element, ORIGINAL)
    return isinstance(record, dict) and PARTS in record


def _forget_form(terms: Terms, key: str) -> None:
    """Take the form of a value that is removed out of the record of the import."""
    record = to_json(cast(Literal, terms[ORIGINAL])) if ORIGINAL in terms else None
    if not isinstance(record, dict):
        return
    place = "metadata" if key.startswith(_OF_METADATA) else "attributes"
    forms = record.pop(place, None) or {}
    kept = {k: form for k, form in forms.items() if k != key.removeprefix(_OF_METADATA)}
    record.pop(_NOTED_WITH.get(key), None)
    terms[ORIGINAL] = to_term({**record, place: kept} if kept else record)


def _noted_classes(concept: Element) -> str | None:
    """The classes in the record of a concept; None if they are those of its type."""
    record = metadata(concept, ORIGINAL)
    classes = record.get(CLASSES) if isinstance(record, dict) else None
    return " ".join(map(str, classes)) if isinstance(classes, list) else None


def _identity(noted: dict[str, Json], shown: dict[str, Json]) -> str:
    return _digest_of(statement_identity(noted, shown))


def _values_of(
    statements: Iterable[tuple[dict[str, Json], dict[str, Json]]],
) -> dict[str, list[Json]]:
    """What several statements make the values of their fact."""
    values: dict[str, list[Json]] = defaultdict(list)
    for noted, shown in statements:
        own = {key: one for key, one in shown.items() if key not in ("id", "metadata")}
        own |= {SAME_AS: [noted["id"], *listed(noted.get(SAME_AS))]} if "id" in noted else {}
        for key, one in own.items():
            values[key] += listed(one)
    return values


def _sorted(nodes: Iterable[NamedNode]) -> list[NamedNode]:
    return sorted(nodes, key=lambda node: node.value)
