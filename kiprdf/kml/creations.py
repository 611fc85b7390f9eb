"""New elements as lines of N-Triples, which are what a draft would add (docs/decisions/229).

A draft has an object for each element, value and triple. Where many elements are new, and no rule
but those checked here can refuse one, their lines are written at once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple, cast

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.kml.draft import timestamp
from kiprdf.kql.identities import exists
from kiprdf.kql.reader import link_of
from kiprdf.language import ast
from kiprdf.language.names import META_TYPES, name_fault, without_outer_blanks
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, encode
from kiprdf.rdf.literals import Json, to_term
from kiprdf.rdf.readings import PLAIN
from kiprdf.semantics import periods
from kiprdf.semantics.catalog import Catalog
from kiprdf.semantics.protected import REJECTION
from kiprdf.store import Store
from kiprdf.store.delta import Delta, Lines, Use, Written
from kiprdf.store.totals import kind

_SPECIAL = (*META_TYPES, REJECTION, periods.TYPE)
"""Types whose concepts are more than their values."""
_SHORT = 1_000
_is_plain = re.compile(r'[^"\\\x00-\x1f\x7f-\x9f]*').fullmatch
_TYPE, _LABEL, _REIFIES = (f" {node} " for node in (vocab.TYPE, vocab.LABEL, vocab.REIFIES))
_NUMBERS = {int: f'"^^{vocab.INTEGER}', float: f'"^^{vocab.DOUBLE}'}


class _Node(NamedTuple):
    node: NamedNode
    text: str
    is_new: bool
    kind: str
    """Its type, or its predicate in parentheses."""


class Creations:
    """What a commit creates.

    The methods return whether an element is new: what is there they leave to others, and with None
    what only a statement can judge. ``metadata`` and the label of the ``actor`` are written to all
    elements. After merges (``has_merges``), the id of a new proposition may be that of another one.
    The caller may know that all concepts are new (``are_new``), and the ids of elements that are
    ``there``.
    """

    def __init__(
        self,
        store: Store,
        catalog: Catalog,
        metadata: Mapping[str, Json],
        moment: datetime,
        actor: str | None,
        *,
        has_merges: bool,
        are_new: bool = False,
        there: Container[str] = (),
    ) -> None:
        self._store, self._iris, self._catalog = store, store.iris, catalog
        self._rows: list[str] = []
        self._count = 0
        self._forms: Counter[tuple[str, tuple[str, ...]]] = Counter()
        self._facts: Counter[Use] = Counter()
        self._values: list[Written] = []
        self.touched: list[NamedNode] = []
        self.existing: NamedNode = vocab.NONE
        """The last element that was not new."""
        self._nodes: dict[str, _Node] = {}
        self._types: dict[str, tuple[NamedNode, str, bool]] = {}
        self._predicates: dict[str, tuple[NamedNode, str]] = {}
        self._has_merges, self._are_new, self._there = has_merges, are_new, there
        self._new_links: dict[str, NamedNode] = {}
        self._links = store.iris.propositions
        self._metadata = metadata
        self.moment, self._at = moment, timestamp(moment)
        self._time = to_term(self._at)
        engine = {vocab.VERSION: 1, vocab.UPDATED_AT: self._at, vocab.CREATED_AT: self._at}
        own: dict[str, Json] = engine if actor is None else {**engine, vocab.ACTOR: actor}
        self._engine = [f" {vocab.metadata(key)} {to_term(own[key])}" for key in own]
        shared: list[str] = []
        self._describe(vocab.NONE, vocab.METADATA, metadata, shared)
        self._shared = None if self._values else shared + self._engine
        """What follows the attributes of each element to which no other metadata are given; None
        where elements differ in it."""
        self._values.clear()

    def added_to(self, delta: Delta, command: ast.Manipulation) -> Delta:
        """What is new, with the rest of the commit, which has a draft; ``command`` is for the
        journal."""
        touched = [*delta.touched, *self.touched]
        origin = delta.origin._replace(at=self._at)
        added = self._lines(delta.added)
        return replace(delta, added=added, touched=touched, commands=[command], origin=origin)

    def _lines(self, others: Sequence[Written]) -> Lines:
        uses: Counter[Use] = Counter()
        for (type, keys), number in self._forms.items():
            uses[type, vocab.TYPE.value, META_TYPES[0]] += number
            for predicate in (vocab.LABEL.value, *(vocab.ATTRIBUTE + key for key in keys)):
                uses[type, predicate, ""] += number
        for (subject, predicate, object_), number in self._facts.items():
            uses[subject, self._predicates[predicate][0].value, object_] += number
        uses["", vocab.REIFIES.value, ""] = self._facts.total()
        return Lines(self._rows, self._count, self.touched, self._time, self._values, uses, others)

    def define(self, meta_type: str, name: str) -> None:
        """Let a type or a predicate be used that a statement of the same commit defines."""
        self._catalog = self._catalog.extended(meta_type, name)
        node = self._iris.concept(meta_type, name)
        id = ConceptName(meta_type, name).id
        self._nodes[id] = _Node(node, str(node), not exists(node, self._store), meta_type)

    def concept(
        self,
        id: str,
        type: str,
        name: str,
        attributes: Mapping[str, Json],
        metadata: Mapping[str, Json],
    ) -> bool | None:
        """Create a concept if it is new."""
        typed = self._types.get(type)
        if typed is None:
            if type in _SPECIAL or type not in self._catalog.concept_types:
                return None
            class_ = self._iris.type(type)
            has_some = not self._are_new and bool(self._store.lookup(None, vocab.TYPE, class_, 1))
            typed = self._types[type] = class_, f"{_TYPE}{class_}", has_some
        # In most names there is nothing to find and to encode.
        is_word = name.isalnum() and name.isascii()
        node = NamedNode(f"{self._iris.base}{type}/{name if is_word else encode(name)}")
        text = str(node)
        is_new = not (typed[2] and self._store.lookup(node, vocab.TYPE, typed[0], 1))
        is_short_word = is_word and len(name) < _SHORT
        if (
            is_new
            and not is_short_word
            and (name_fault(name) or name != without_outer_blanks(name))
        ):
            return None
        self._nodes[id] = _Node(node, text, is_new, type)
        if not is_new:
            self.existing = node
        else:
            label = f'"{name}"' if _is_plain(name) else str(Literal(name))
            self._forms[type, tuple(attributes)] += 1
            first = f"{text}{_LABEL}{label} .\n"
            self._add(node, text, first, typed[1], attributes, metadata)
        return is_new

    def proposition(
        self,
        id: str,
        subject: str,
        predicate: str,
        object_: str,
        attributes: Mapping[str, Json],
        metadata: Mapping[str, Json],
    ) -> bool | None:
        """Create a proposition if it is new; its ends are ids."""
        start = self._nodes.get(subject) or self._end(subject)
        end = self._nodes.get(object_) or self._end(object_)
        property = self._predicates.get(predicate) or self._predicate(predicate)
        if start is None or end is None or property is None:
            return None
        store = self._store
        if not (start[2] or end[2]) and store.lookup(start[0], property[0], end[0], 1):
            node = link_of(store, Triple(start[0], property[0], end[0]))
            self.existing = cast(NamedNode, node)
            return False
        iri = f"{self._links}{id[2:18]}/{predicate}"
        link = NamedNode(iri)
        if self._has_merges and store.lookup(link, vocab.REIFIES, None, 1):
            return None  # another fact has this id since a merge
        fact = f"{start[1]} {property[1]} {end[1]}"
        self._new_links[id] = link
        self._facts[start[3], predicate, end[3]] += 1
        self._add(
            link, f"<{iri}>", f"{fact} .\n", f"{_REIFIES}<<( {fact} )>>", attributes, metadata
        )
        return True

    def _predicate(self, name: str) -> tuple[NamedNode, str] | None:
        if name not in self._catalog.predicates:
            return None
        node = self._iris.predicate(name)
        self._predicates[name] = node, str(node)
        return self._predicates[name]

    def _end(self, id: str) -> _Node | None:
        """An element of the store, or a new proposition."""
        node = self._new_links.get(id)
        is_new = node is not None
        node = node or self._iris.from_id(id)
        if node is None or not (is_new or id in self._there or exists(node, self._store)):
            return None
        self._nodes[id] = _Node(node, str(node), is_new, kind(self._iris, node.value))
        return self._nodes[id]

    def _add(
        self,
        node: NamedNode,
        text: str,
        first: str,
        identity: str,
        attributes: Mapping[str, Json],
        metadata: Mapping[str, Json],
    ) -> None:
        """Add the lines of an element, each of which begins with it, after the ``first`` ones."""
        self.touched.append(node)
        parts = [identity]
        if attributes:
            self._describe(node, vocab.ATTRIBUTE, attributes, parts)
        if metadata or self._shared is None:
            metadata = {**self._metadata, **metadata}
            self._describe(node, vocab.METADATA, metadata, parts)
            parts += self._engine
        else:
            parts += self._shared
        self._rows.append(f"{first}{text}" + f" .\n{text}".join(parts) + " .")
        self._count += len(parts) + 1

    def _describe(
        self, node: NamedNode, space: str, values: Mapping[str, Json], parts: list[str]
    ) -> None:
        for key, value in values.items():
            of = type(value)
            if of is str and _is_plain(value):
                parts.append(f' <{space}{key}> "{value}"')
            elif of in _NUMBERS:
                parts.append(f' <{space}{key}> "{value!r}{_NUMBERS[of]}')
            else:
                predicate, term = NamedNode(space + key), to_term(value)
                if isinstance(term, Literal) and term.datatype not in PLAIN:
                    self._values.append((node, predicate, term))
                parts.append(f" {predicate} {term}")
