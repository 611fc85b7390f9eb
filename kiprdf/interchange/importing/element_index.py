"""Looks up the existing elements of a nexus during an import."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.dataclasses import dataclass
from kiprdf.kql.identities import exists as is_element
from kiprdf.kql.reader import link_of, read_catalog
from kiprdf.language.names import META_TYPES
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Element, Proposition, json_map, read_element
from kiprdf.rdf.literals import Json, to_json
from kiprdf.store import Store

SAME_AS = "same_as"
"""The attribute that keeps the original IRI of an element, or several; ``owl:sameAs`` in RDF."""
SOURCE = "source"
"""The metadata key of where an element comes from."""
IMPORTED_AT = "imported_at"
"""The metadata key of the time of an import; only imports write it."""


@dataclass(frozen=True)
class ElementIndex:
    """The registered names, and the original IRIs of elements by their ids.

    What exists is read from the store.
    """

    store: Store
    concept_types: frozenset[str]
    predicates: frozenset[str]
    originals: Mapping[str, tuple[str, ...]]
    renewed: frozenset[str] = frozenset()
    """The ids of propositions of which nothing that earlier imports noted counts."""
    _existence: dict[str, bool] = field(default_factory=dict)
    """Which ids are those of elements, as far as they were looked up."""
    _unused: dict[tuple[str, str], bool] = field(default_factory=dict)
    """Which types and predicates no element has, as far as they were looked up."""

    def prefetch(self, ids: Iterable[str], facts: Iterable[tuple[str, str, str]] = ()) -> None:
        """Read elements ahead by their ids, and the links of facts by the ids of their parts."""
        iris = self.store.iris
        triples = []
        for subject, predicate, object_ in facts:
            ends = iris.from_id(subject), iris.from_id(object_)
            if ends[0] is not None and ends[1] is not None:
                triples.append(Triple(ends[0], iris.predicate(predicate), ends[1]))
        self.store.prefetch(filter(None, map(iris.from_id, ids)), triples)

    def exists(self, id: str) -> bool:
        """Whether an id is that of an element."""
        exists = self._existence.get(id)
        if exists is None:
            kind = id[0]
            name = id[2 : id.find("/")] if kind == "C" else id[id.rfind(":") + 1 :]
            if self.is_unused(kind, name):
                return False
            node = self.store.iris.from_id(id)
            exists = self._existence[id] = node is not None and is_element(node, self.store)
        return exists

    def is_unused(self, kind: str, name: str) -> bool:
        """Whether no element has a type (``kind`` is C) or a predicate (P).

        Only names that are not defined are looked up: others are used meanwhile by other writers.
        """
        is_unused = self._unused.get((kind, name))
        if is_unused is None:
            iris, names = self.store.iris, self.concept_types if kind == "C" else self.predicates
            predicate, class_ = iris.predicate(name), None
            if kind == "C":
                predicate, class_ = vocab.TYPE, iris.type(name)
            is_unused = self._unused[kind, name] = (
                self.store.abilities.lookups
                and name not in names
                and not self.store.lookup(None, predicate, class_, 1)
            )
        return is_unused

    def attributes(self, id: str) -> dict[str, Json]:
        """The attributes of an element, by its id; none if it does not exist."""
        element = self._element(id)
        return {} if element is None else json_map(element.attributes)

    def metadata(self, key: str) -> dict[str, Json]:
        """The values of a metadata key by the ids of the elements that have it."""
        values: dict[str, Json] = {}
        for triple in self.store.match(None, vocab.metadata(key), None):
            name = isinstance(triple.subject, NamedNode) and self.store.iris.name(
                triple.subject.value
            )
            if name and isinstance(triple.object, Literal) and name.id not in self.renewed:
                values[name.id] = to_json(triple.object)
        return values

    def is_bare(self, id: str) -> bool:
        """Whether a concept has no attributes but its original IRIs."""
        return self.attributes(id).keys() == {SAME_AS}

    def _describe(self, id: str) -> Sequence[Triple]:
        node = self.store.iris.from_id(id)
        return () if node is None else self.store.describe(node)

    def proposition(self, subject: str, predicate: str, object_: str) -> str | None:
        """The id of the proposition that states a fact, by the ids of its ends."""
        iris = self.store.iris
        ends = iris.from_id(subject), iris.from_id(object_)
        if ends[0] is None or ends[1] is None:
            return None
        link = link_of(self.store, Triple(ends[0], iris.predicate(predicate), ends[1]))
        return None if link is None else iris.id(link)

    def link(self, id: str) -> Proposition | None:
        """The proposition with an id, if there is one."""
        element = self._element(id)
        return element if isinstance(element, Proposition) else None

    def _element(self, id: str) -> Element | None:
        node = None if id in self.renewed else self.store.iris.from_id(id)
        return None if node is None else read_element(self.store.iris, node, self._describe(id))

    def element(self, iri: str) -> str | None:
        """The id of the element with an original IRI; definitions have their own method."""
        return self._by_iri.get(("", iri))

    def other_element(self, iri: str, id: str) -> str | None:
        """The id of the element with an original IRI, unless it is ``id``."""
        owner = self.element(iri)
        return None if owner == id else owner

    def defined(self, meta_type: str) -> frozenset[str]:
        """The names of the definitions of a meta-type."""
        return self.concept_types if meta_type == META_TYPES[0] else self.predicates

    def definition(self, meta_type: str, iri: str) -> str | None:
        """The name of the definition with an original IRI."""
        id = self._by_iri.get((meta_type, iri))
        return None if id is None else id.removeprefix(f"C:{meta_type}/")

    def key(self, iri: str, concept_type: str | None = None) -> str | None:
        """The key that a type has for a property; without one there, that of another definition."""
        keys = self._keys
        own = keys.get(concept_type or "", {}).get(iri)
        return own or keys[""].get(iri)

    def imported_keys(self, concept_type: str) -> frozenset[str]:
        """The keys of a type's instances that imports brought: those that have a property."""
        return frozenset(self._keys.get(concept_type, {}).values())

    @cached_property
    def _keys(self) -> dict[str, dict[str, str]]:
        """The keys of properties by the types that have them; "" for all definitions."""
        keys: dict[str, dict[str, str]] = {"": {}}
        rules_of = self.store.match(None, vocab.attribute("instance_schema"), None)
        for triple in sorted(rules_of, key=lambda one: str(one.subject)):
            id = self.store.iris.id(triple.subject) if isinstance(triple.subject, NamedNode) else ""
            rules = to_json(triple.object) if isinstance(triple.object, Literal) else None
            if not id or not isinstance(rules, dict):
                continue
            own = keys.setdefault(id.removeprefix(f"C:{META_TYPES[0]}/"), {})
            for key, rule in rules.items():
                iri = rule.get("iri") if isinstance(rule, dict) else None
                if isinstance(iri, str) and key != SAME_AS:
                    own.setdefault(iri, key)
                    keys[""].setdefault(iri, key)
        return keys

    def claiming(self, more: Mapping[str, Sequence[str]]) -> ElementIndex:
        """A copy in which elements have further original IRIs after their own."""
        originals = dict(self.originals)
        for id, iris in more.items():
            if len(iris) == 1 and id not in originals:  # so are most
                originals[id] = (iris[0],)
                continue
            joined = tuple(dict.fromkeys((*originals.get(id, ()), *iris)))
            if joined:
                originals[id] = joined
        return replace(self, originals=originals)

    def without(self, ids: Iterable[str]) -> ElementIndex:
        """A copy in which these elements have no original IRIs."""
        excluded = set(ids)
        originals = {id: iris for id, iris in self.originals.items() if id not in excluded}
        return replace(self, originals=originals)

    @cached_property
    def _by_iri(self) -> dict[tuple[str, str], str]:
        """Ids by meta-type and IRI: one IRI may be a class, a property and a thing at once.

        Of two elements the one that has the IRI earlier in its list wins.
        """
        entries = [
            (position, id, iri)
            for id, iris in self.originals.items()
            for position, iri in enumerate(iris)
        ]
        return {(meta_type(id), iri): id for _, id, iri in sorted(entries, reverse=True)}


def meta_type(id: str) -> str:
    """The meta-type of a definition's id, "" for other ids."""
    if not id.startswith("C:$"):
        return ""
    return next((meta for meta in META_TYPES if id.startswith(f"C:{meta}/")), "")


def read_element_index(store: Store) -> ElementIndex:
    """The index of a store."""
    catalog = read_catalog(store)
    originals: dict[str, tuple[str, ...]] = {}
    for triple in store.match(None, NamedNode(vocab.ATTRIBUTE + SAME_AS), None):
        name = isinstance(triple.subject, NamedNode) and store.iris.name(triple.subject.value)
        if name and isinstance(triple.object, Literal):
            originals[name.id] = _texts(triple.object)

    return ElementIndex(store, catalog.concept_types, catalog.predicates, originals)


def _texts(value: Literal) -> tuple[str, ...]:
    """The strings of a value: itself, or the items of an array."""
    if value.datatype == vocab.STRING:
        return (value.value,)
    items = json.loads(value.value) if value.datatype == vocab.JSON else None
    return tuple(item for item in items if isinstance(item, str)) if isinstance(items, list) else ()
