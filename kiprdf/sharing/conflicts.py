"""Conflicts: what others say of a key, in the metadata key ``conflict`` beside our own value.

The key has a list of entries, ``{"key", "value", "by", "at"}``; one without ``value`` says that the
others deleted it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias, cast

from pyoxigraph import NamedNode

from kiprdf.budget import paced
from kiprdf.errors import StoreError
from kiprdf.execution.history import Log
from kiprdf.interchange.differences.difference import PARTS
from kiprdf.kml.says import OWN, Register, ids_of, is_disputed, lives, says_at, wire_of
from kiprdf.language.names import is_key
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Term, Terms, json_map, read_element
from kiprdf.rdf.literals import Json, canonical_json, is_value, to_json, to_term
from kiprdf.store import NexusStore

CONFLICT = "conflict"
"""The metadata key."""
EXISTS = "exists"
"""The key of an entry about the element as a whole: one side deleted it."""
_UNSTATED = {CONFLICT, *vocab.ENGINE_KEYS}
"""The metadata that is no part of what a side says."""
Entry: TypeAlias = dict[str, Json]


def conflicts(store: NexusStore) -> list[dict[str, Json]]:
    """The conflicts of a nexus, in the order of the ids of their elements, then as noted.

    Those whose values are equal by now are left out.
    """

    def read() -> list[dict[str, Json]]:
        noted = store.match(None, vocab.metadata(CONFLICT), None)
        nodes = [cast(NamedNode, triple.subject) for triple in noted]
        store.prefetch(nodes)
        writes = Writes(store)
        listed: list[dict[str, Json]] = []
        for node in paced(sorted(nodes, key=lambda node: node.value)):
            element = read_element(store.iris, node, store.statements(node))
            if element is not None:
                id, own = store.iris.id(node), own_says(store, node)
                for entry in open_entries(element.attributes, element.metadata):
                    ours = side(element.attributes, element.metadata, entry["key"])
                    if entry["key"] != EXISTS:
                        ours |= writes.of(node, entry["key"], element.metadata)
                    if own is not None and entry["key"] in own["keys"]:
                        ours |= {"by": by_of(own), "at": own["keys"][entry["key"]][0] or None}
                    theirs = {"by": entry.get("by"), "at": entry.get("at")}
                    if "value" in entry:
                        theirs["value"] = entry["value"]
                    listed.append({"id": id, "key": entry["key"], "ours": ours, "theirs": theirs})
        return [*listed, *_deleted(store)]

    return store.read(read)


def _deleted(store: NexusStore) -> Iterator[dict[str, Json]]:
    """The conflicts of elements that are deleted here, and that others have."""
    for row in sorted(store.match(None, vocab.UNSETTLED, None), key=lambda row: str(row.subject)):
        says = says_at(store, cast(NamedNode, row.subject))
        if says is not None and is_disputed(says.by):
            gone = [one for one in says.by.values() if "at" in one and not lives(one)]
            last = says.by.get(OWN) or max(gone, key=lambda one: one["at"])
            ours = {"by": by_of(last), "at": last["at"]}
            for other in filter(lives, says.by.values()):
                stated = [(key, *one[1:]) for key, one in other["keys"].items() if one[1:]]
                value: dict[str, dict[str, Json]] = {}
                for key, one in stated:
                    part, _, name = key.partition(".")
                    value.setdefault(part, {})[name] = one
                theirs = {"value": value, "by": by_of(other), "at": other["at"] or None}
                id = ids_of(says.wire)[0]
                yield {"id": id, "key": EXISTS, "ours": ours, "theirs": theirs}


def own_says(store: NexusStore, node: NamedNode) -> Register | None:
    """What this nexus itself says of an element of which others say something, too."""
    says = says_at(store, node)
    own = None if says is None or says.wire != wire_of(store, node) else says.by.get(OWN)
    return own if lives(own) else None


def by_of(register: Register) -> Json:
    """Who says something: the actor, else the author."""
    author = register.get("keys", {}).get("metadata.author", [None, None])[1:]
    return register.get("actor") or (author[0] if author else None)


def entries(metadata: Terms) -> list[Entry]:
    """The entries of an element; what else was written there is left out."""
    term = metadata.get(CONFLICT)
    noted = None if term is None else to_json(term)
    return [one for one in noted if _is_entry(one)] if isinstance(noted, list) else []


def _is_entry(value: Json) -> bool:
    key = value.get("key") if isinstance(value, dict) else None
    part, _, name = key.partition(".") if isinstance(key, str) else ("", "", "")
    return key == EXISTS or (part in PARTS and is_key(name))


def open_entries(attributes: Terms, metadata: Terms) -> list[Entry]:
    """The entries of an element whose values differ from its own."""
    return [
        entry
        for entry in entries(metadata)
        if entry["key"] == EXISTS or not is_equal(entry, side(attributes, metadata, entry["key"]))
    ]


def is_equal(entry: Mapping[str, Json], other: Mapping[str, Json]) -> bool:
    values = [[one["value"]] if "value" in one else [] for one in (entry, other)]
    return canonical_json(values[0]) == canonical_json(values[1])


def side(attributes: Terms, metadata: Terms, key: str) -> dict[str, Json]:
    """What one side has for a key, as ``value``, which is absent where it has none, ``by``, ``at``.

    >>> side({"age": to_term(7)}, {"author": to_term("ada")}, "attributes.age")
    {'value': 7, 'by': 'ada', 'at': None}
    """
    part, _, name = key.partition(".")
    if key == EXISTS:
        values = {title: json_map(terms) for title, terms in _parts(attributes, metadata) if terms}
        value: dict[str, Json] = {"value": values}
    else:
        term = (attributes if part == "attributes" else metadata).get(name)
        value = {} if term is None else {"value": to_json(term)}
    return {**value, **_by_and_at(metadata)}


def _by_and_at(metadata: Terms) -> dict[str, Json]:
    by = metadata.get(vocab.ACTOR, metadata.get("author"))
    at = metadata.get(vocab.UPDATED_AT)
    return {"by": by and to_json(by), "at": at and to_json(at)}


class Writes:
    """Who wrote the keys of elements, and when, as far as the history of a nexus has it."""

    def __init__(self, store: NexusStore) -> None:
        self._log = None if store.journal is None else Log(store)

    def of(self, node: NamedNode, key: str, metadata: Terms) -> dict[str, Json]:
        """``by`` and ``at`` of an element as of the commit that wrote a key of it last."""
        if self._log is None:
            return _by_and_at(metadata)
        part, _, name = key.partition(".")
        predicate = vocab.attribute(name) if part == "attributes" else vocab.metadata(name)
        was = dict(metadata)
        try:
            for number in self._log.numbers(element=node, newest_first=True):
                _, *sides = self._log.changed(number)
                removed, added = (one.get(node, {}) for one in sides)
                if removed.get(predicate) != added.get(predicate):
                    break
                for about in (vocab.ACTOR, "author", vocab.UPDATED_AT):
                    if {vocab.metadata(about)} & (removed.keys() | added.keys()):
                        was.pop(about, None)
                        if vocab.metadata(about) in removed:
                            was[about] = removed[vocab.metadata(about)]
        except StoreError:
            return _by_and_at(metadata)  # the history is damaged, or is being compacted
        return _by_and_at(was)


def _parts(attributes: Terms, metadata: Terms) -> Iterable[tuple[str, Terms]]:
    shown = {key: term for key, term in metadata.items() if key not in _UNSTATED}
    return zip(PARTS, (attributes, shown), strict=True)


def with_entries(noted: Iterable[Entry], added: Iterable[Entry]) -> list[Entry]:
    """The entries of an element with others: who says something else now, says it in its place."""
    kept = {(one["key"], canonical_json(one.get("by"))): one for one in noted}
    kept |= {(one["key"], canonical_json(one.get("by"))): one for one in added}
    return list(kept.values())


def term_of(noted: list[Entry]) -> Term | None:
    """The value of the metadata key; None if there are no entries.

    An entry whose value is nested too deep for an element is left out.
    """
    storable: Any = [one for one in noted if is_value(to_term([one]))]
    return to_term(storable) if storable else None
