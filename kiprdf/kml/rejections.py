"""Values that a person has rejected: no write may state them again (docs/decisions/182).

A rejection is a concept whose name is a digest of what it rejects: of a fact or an attribute, in
all spellings that have one key. Its ends, or its element, go by each name that they have: their
own, their aliases, and those of the concepts that were merged into them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import field
from functools import lru_cache
from itertools import chain, product
from typing import Any, cast

from pyoxigraph import NamedNode, Triple

from kiprdf.budget import paced
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError, shown
from kiprdf.kml.draft import Draft, Edit, copied
from kiprdf.kml.erased import with_links
from kiprdf.kml.merge import ALIASES
from kiprdf.kml.merged_origins import items
from kiprdf.kml.trust import RETRACTED, statuses
from kiprdf.kql.identities import exists
from kiprdf.kql.reader import link_of
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Element, Proposition, Term, json_map, read_element
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json, canonical_json, is_same, to_json
from kiprdf.semantics.protected import REJECTION
from kiprdf.source import Span
from kiprdf.spelling import key_of_name, keys_of_value, plain_number
from kiprdf.store import NexusStore, Store

SCOPE = ""
"""The scope of every rejection."""
_ALIASES, _MERGED_FROM = vocab.attribute(ALIASES), vocab.metadata(vocab.MERGED_FROM)
_MOST_PARTS = 4096
"""The keys of a proposition as an end, by all names of its ends; what has more is not written."""
SPELLING_OF = "spelling_of"
"""The attribute of a rejection of the same value by other keys: the name of the rejection."""


# Keys -----------------------------------------------------------------------------------------


def fact_digests(subjects: Iterable[str], predicate: str, objects: Iterable[str]) -> list[str]:
    """The names of the rejections of a fact, or of a value: one for each of the keys."""
    key = key_of_name(predicate)
    pairs = paced(product(subjects, objects))
    parts = ((SCOPE, subject, key, object_) for subject, object_ in pairs)
    digests = (hashlib.sha256("\0".join(each).encode()).hexdigest() for each in parts)
    return list(dict.fromkeys(digests))


def value_keys(value: Json) -> tuple[str, ...]:
    """The keys of a value: of a text those of a name, of a number that of its value.

    >>> value_keys(7.0) == value_keys(7) == value_keys("7")
    True
    """
    if isinstance(value, str):
        return keys_of_value(value)
    if isinstance(value, dict):
        text = value.get("@value", value.get("@id"))
        if isinstance(text, str):
            return keys_of_value(text)
    if isinstance(value, list | dict):
        return (canonical_json(_folded(value)),)
    text = json.dumps(value)
    return (key_of_name(plain_number(text) or text),)


# A name is compared with each fact of its concept.
_keys_of = lru_cache(maxsize=16_384)(keys_of_value)


def _folded(value: Json) -> Json:
    """An array or object with the keys of its texts and numbers in their place."""
    if isinstance(value, list):
        return [_folded(item) for item in value]
    if isinstance(value, dict):
        return {key_of_name(key): _folded(item) for key, item in value.items()}
    text = value if isinstance(value, str) else json.dumps(value)
    return key_of_name(plain_number(text) or text)


def _with_items(value: Json) -> Iterator[Json]:
    """A value, and of an array all that is in it, also in arrays."""
    yield value
    if isinstance(value, list):
        for item in value:
            yield from _with_items(item)


@dataclass
class FactKeys:
    """The keys of elements as ends of facts, in a draft."""

    draft: Draft
    _keys: dict[NamedNode, tuple[list[str], list[str]]] = field(default_factory=dict)

    def digests(self, link: Proposition) -> list[str]:
        """The names of the rejections of a fact."""
        return fact_digests(self.of(link.subject)[0], link.predicate, self.of(link.object)[1])

    def digests_of(self, fact: Triple) -> list[str]:
        """The names of the rejections of a fact that the store has."""
        subject, predicate, object_ = (cast(NamedNode, part) for part in fact)
        name = self.draft.store.iris.concept_name(predicate.value) or ""
        return fact_digests(self.of(subject)[0], name, self.of(object_)[1])

    def attribute_digests(self, node: NamedNode, key: str, term: Term) -> list[str]:
        """The names of the rejections of a value; of an array also those of its items."""
        keys = dict.fromkeys(key for each in _with_items(to_json(term)) for key in value_keys(each))
        return fact_digests(self.of(node)[0], key, keys)

    def of(self, node: NamedNode) -> tuple[list[str], list[str]]:
        """The keys of an element as a subject, with its type, and as an object, without."""
        pending = [] if node in self._keys else [node]
        while pending:  # facts about facts may be stacked higher than Python's stack
            top = pending[-1]
            unread = (
                [] if top in self._keys else [e for e in self._ends(top) if e not in self._keys]
            )
            if not unread and top not in self._keys:
                self._keys[top] = self._read(top)
            pending = [*pending, *unread] if unread else pending[:-1]
        return self._keys[node]

    def _ends(self, node: NamedNode) -> tuple[NamedNode, ...]:
        """The ends of a proposition."""
        if not node.value.startswith(self.draft.store.iris.propositions):
            return ()
        element = self.draft.element(node)
        return (element.subject, element.object) if isinstance(element, Proposition) else ()

    def _read(self, node: NamedNode) -> tuple[list[str], list[str]]:
        iris = self.draft.store.iris
        name = iris.name(node.value)
        if isinstance(name, ConceptName):
            keys = [(type, key) for type, text in self._names(node, name) for key in _keys_of(text)]
            subjects = dict.fromkeys(f"{key_of_name(type)}/{key}" for type, key in keys)
            return list(subjects), list(dict.fromkeys(key for _, key in keys))
        element = self.draft.element(node)
        if not isinstance(element, Proposition):
            return [iris.id(node)], [iris.id(node)]
        number = len(self.of(element.subject)[0]) * len(self.of(element.object)[1])
        if number > _MOST_PARTS:
            message = f"By the names of its ends, {iris.id(node)} is {number:,} facts."
            message += f" At most {_MOST_PARTS:,} are compared with what was rejected."
            raise KipError("KIP_4002", message, "Remove aliases of its ends.")
        parts = self.digests(element)
        return parts, parts

    def _names(self, node: NamedNode, name: ConceptName) -> Iterator[tuple[str, str]]:
        """The types and names that a concept goes by."""
        yield name
        for one in items(self._term(node, "attributes", _ALIASES, ALIASES)):
            for each in _with_items(one):
                alias = each.get("@value") if isinstance(each, dict) else each
                if isinstance(alias, str):
                    yield name.type, alias
        for entry in items(self._term(node, "metadata", _MERGED_FROM, vocab.MERGED_FROM)):
            if isinstance(entry, str):
                type, _, merged = entry.partition(":")
                yield type, merged

    def _term(self, node: NamedNode, field: str, predicate: NamedNode, key: str) -> Any:
        """A value of an element, read without the others: it may have many facts."""
        edit = self.draft.edits.get(node)
        if edit is not None:
            return getattr(edit.after, field).get(key)
        return next((one.object for one in self.draft.store.lookup(node, predicate, None, 1)), None)


# The check ------------------------------------------------------------------------------------


class Rejected:
    """The names of all rejections of a store, read when they are first needed.

    A shared store, and a view, is asked about each name: others may have rejected a value.
    """

    def __init__(self, store: NexusStore, *, is_asked: bool = False) -> None:
        self.store = store
        self._is_asked = is_asked or store.is_shared
        self._entry: tuple[int, set[str]] | None = None
        self._valid_from = 0

    def among(self, names: Collection[str], store: Store) -> set[str]:
        """Those of some names that are rejections."""
        if not self._is_asked:
            if store is not self.store:
                # It outdates a check without the lock that another rejection comes after it.
                store.lookup(None, vocab.TYPE, store.iris.type(REJECTION), 1)
            return self._all().intersection(names)
        nodes = {name: self.store.iris.concept(REJECTION, name) for name in names}
        self.store.prefetch(nodes.values())
        return {name for name, node in nodes.items() if exists(node, self.store)}

    def _all(self) -> set[str]:
        entry = self._entry
        if entry is None or entry[0] < self._valid_from:
            commit, kind = self.store.commit(), self.store.iris.type(REJECTION)
            nodes = (triple.subject for triple in self.store.match(None, vocab.TYPE, kind))
            names = {cast(NamedNode, node).value.rpartition("/")[2] for node in nodes}
            entry = self._entry = commit, names
        return entry[1]

    def expire(self) -> None:
        """Note that the next commit may change all of them."""
        self._valid_from = self.store.commit() + 1

    def note(self, added: Iterable[str] = (), removed: Iterable[str] = ()) -> None:
        """Note what the last commit changed; the writer's lock is held."""
        entry = self._entry
        if entry is not None and entry[0] >= self._valid_from:
            entry[1].update(added)
            entry[1].difference_update(removed)
            self._entry = self.store.commit(), entry[1]
        self._valid_from = self.store.commit()


def check_rejections(draft: Draft, span: Span, rejected: Rejected) -> None:
    """Raise KIP_3004 if a draft writes what is rejected, also if that changes nothing.

    A rejected fact that is in the store may get other ends and metadata while it is retracted,
    unless a statement states it.
    """
    names = FactKeys(draft)
    if not draft.store.abilities.lookups:
        links = (edit.after for edit in draft.edits.values())
        ends = ((link.subject, link.object) for link in links if isinstance(link, Proposition))
        draft.store.prefetch(chain(*ends))
    written = _written(draft, names)
    renamed: dict[str, list[Triple]] = {}
    for node, edit in list(draft.edits.items()):
        if node not in draft.deleted and edit.before is not None and _is_renamed(edit):
            # What is stated of it is stated by another name now, and so is what is said of that.
            pending, seen = [node], {node}
            for end in paced(pending):
                for fact in draft.store.facts(end):
                    for name in names.digests_of(fact):
                        renamed.setdefault(name, []).append(fact)
                    link = link_of(draft.store, fact)
                    if link is not None and link not in seen:
                        seen.add(link)
                        pending.append(link)
    for name in sorted(rejected.among({**written, **renamed}, draft.store)):
        places = written.get(name, [])
        if not places:  # several spellings of one fact may be stored
            stored = (link_of(draft.store, fact) for fact in renamed[name])
            places = [(link, "") for link in stored if link is not None]
        for node, key in places:
            element = draft.element(node)
            assert element is not None
            if name in written or not (node in draft.deleted or is_retracted(element)):
                place = draft.spans.get(node, span)
                raise _refused(name, _described(element, key, draft), rejected.store, place)


def _written(draft: Draft, names: FactKeys) -> dict[str, list[tuple[NamedNode, str]]]:
    """The names of the rejections of what a draft writes: of elements, and of attributes by key."""
    written: dict[str, list[tuple[NamedNode, str]]] = {}
    for node, edit in list(draft.edits.items()):
        if node in draft.deleted:
            continue
        after, is_renamed = edit.after, edit.before is not None and _is_renamed(edit)
        if isinstance(after, Proposition) and (
            edit.before is None or node in draft.spans or (edit.changed and not is_retracted(after))
        ):
            for name in names.digests(after):
                written.setdefault(name, []).append((node, ""))
        before = {} if edit.before is None or is_renamed else edit.before.attributes
        for key, term in after.attributes.items():
            old = before.get(key)
            if old is not term and not is_same(old, term):
                for name in names.attribute_digests(node, key, term):
                    written.setdefault(name, []).append((node, key))
    return written


def drop_rejected(draft: Draft, rejected: Rejected) -> list[tuple[str, str]]:
    """Take what is rejected out of a draft; return the ids, and the keys of attributes or "".

    What the draft creates goes with the propositions about it; what it changes stays as it is in
    the store.
    """
    written = _written(draft, FactKeys(draft))
    places = [place for name in rejected.among(written, draft.store) for place in written[name]]
    created: set[NamedNode] = set()
    for node, key in places:
        edit = draft.edits[node]
        before = edit.before
        if key:
            edit.after.attributes.pop(key, None)
            if before is not None and key in before.attributes:
                edit.after.attributes[key] = before.attributes[key]
        elif before is None:
            created.add(node)
        else:
            edit.after = copied(before)
    links = [one.after for one in draft.edits.values() if one.before is None]
    facts = [(one.node, draft.fact(one)) for one in links if isinstance(one, Proposition)]
    draft.discard(with_links(created, facts))
    return sorted({(draft.id(node), key) for node, key in places})


def is_retracted(element: Element) -> bool:
    """Whether an element is retracted, and nothing else."""
    return {*statuses(element.metadata)} == {RETRACTED}


def _is_renamed(edit: Edit) -> bool:
    """Whether an element of the store goes by other names, or is a fact with other ends."""
    before, after = edit.before, edit.after
    if before is None or isinstance(after, Proposition):
        return edit.repointed
    pairs = (
        (before.attributes.get(ALIASES), after.attributes.get(ALIASES)),
        (before.metadata.get(vocab.MERGED_FROM), after.metadata.get(vocab.MERGED_FROM)),
    )
    return any(old is not new and not is_same(old, new) for old, new in pairs)


def _described(element: Element, key: str, draft: Draft) -> str:
    if key:
        return f"attributes.{key} of {shown(draft.id(element.node))}"
    assert isinstance(element, Proposition)
    ends = (draft.id(element.subject), element.predicate, draft.id(element.object))
    return f"({', '.join(map(shown, ends))})"


def _refused(name: str, what: str, store: NexusStore, span: Span) -> KipError:
    node = store.iris.concept(REJECTION, name)
    element = read_element(store.iris, node, store.statements(node))
    values = {} if element is None else json_map(element.attributes)
    by, at = (str(values.get(key, "unknown")) for key in ("by", "at"))
    reason = json.dumps(shown(str(values.get("reason", "")), 200), ensure_ascii=False)
    message = f"{what} was rejected by {shown(by)} at {at}: {reason}."
    main = values.get(SPELLING_OF, name)
    hint = f"Do not write it again. A person can lift the rejection: kiprdf lift {main}."
    return KipError("KIP_3004", message, hint, span)
