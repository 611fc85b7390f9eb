"""DESCRIBE PRIMER: the identity of the agent and the content of its memory (KIP 5.1.1).

``survey`` reads everything once, ``_shape`` makes a page of it, ``primer`` chooses the largest page
that fits a context window (docs/decisions/056).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import field
from functools import lru_cache
from typing import Any, TypeAlias, cast

from pyoxigraph import NamedNode, Variable

from kiprdf import budget
from kiprdf.budget import paced
from kiprdf.dataclasses import dataclass
from kiprdf.kql import find as kql
from kiprdf.kql import results
from kiprdf.kql.entailment import closure
from kiprdf.kql.identities import exists
from kiprdf.kql.reader import Reader
from kiprdf.language import Template, ast, parse
from kiprdf.meta.consequences import INTRODUCTION, Demands, consequences, gate_line
from kiprdf.meta.counts import VALUE, X, concepts_by_type, grouped, largest, total
from kiprdf.meta.excerpts import excerpt, text
from kiprdf.meta.recency import Changes, recent_changes
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json
from kiprdf.semantics import Catalog
from kiprdf.semantics.protected import REJECTION
from kiprdf.store import Store
from kiprdf.store.totals import BELONGS

PROTOCOL = "KIP 1.0"
MOST_BYTES = 8 * 1024
"""The size of a primer as JSON in UTF-8."""
_DOMAIN = Variable("domain")
KEY_ITEMS = 5
"""The key concepts, types and predicates of a domain."""
MOST_NAMES = 40
"""The concept types, and the predicates, whose totals are shown; also the domains."""
CHARACTERS = 400
"""Of a text of the identity; of other texts and names half as many."""
FEWEST_CHARACTERS = 40
IDENTITY_KEYS = (
    "name",
    "person_class",
    "persona",
    "core_mission",
    "core_directives",
    "capabilities",
)
Ranking: TypeAlias = tuple[dict[str, int], int]
"""The largest counts by name, and how many others there are."""


def primer(survey: Survey, demands: Demands, search_modes: list[str]) -> dict[str, Any]:
    """The identity of the agent and a map of its memory, small enough for a context window.

    ``demands`` are those of shapes.
    """
    size = 1.0
    while True:
        page = _shape(survey, demands, size)
        page |= {"search_modes": search_modes, "protocol": PROTOCOL}
        encoded = json.dumps(page, ensure_ascii=False).encode(errors="replace")
        if len(encoded) <= MOST_BYTES or size < 1 / MOST_NAMES:
            return page
        size *= 0.8


# Reading --------------------------------------------------------------------------------------


@dataclass
class Domain:
    """One domain: its members by links, and the types and predicates that it is about by use."""

    name: str
    description: Json
    size: int = 0
    concepts: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    predicates: Counter[str] = field(default_factory=Counter)


@dataclass
class Survey:
    """The data of a primer."""

    identity: dict[str, Json] | None
    types: Counter[str]
    predicates: Counter[str]
    unfiled: Counter[str]
    domains: list[Domain]
    changes: Changes
    waiting: Waiting
    follows: list[str]


def survey(store: Store, believed: Store, catalog: Catalog, now: str) -> Survey:
    """What a store has, whole.

    ``now`` is the present as a timestamp: promises that fall due by it are counted. What changed
    last, and what waits, is what is ``believed`` in the store.
    """
    return budget.without_row_limit(lambda: _survey(store, believed, catalog, now))


def _survey(store: Store, believed: Store, catalog: Catalog, now: str) -> Survey:
    types = concepts_by_type(store)
    types.update(dict.fromkeys(catalog.concept_types, 0))
    if types.pop(REJECTION, None) is not None:  # they are no knowledge, nor is their definition
        types["$ConceptType"] -= 1
    domains = _domains(store)
    members = _members(domains, store)
    predicates: Counter[str] = Counter()
    links: Counter[NamedNode] = Counter()
    for predicate in sorted(catalog.predicates):
        predicates[predicate] = total(store, store.iris.predicate(predicate))
        if predicate != BELONGS and predicates[predicate]:
            links.update(_count_links(predicate, domains, store))
    filed = _count_members(members, links, types, predicates, store)
    unfiled = types - filed
    counts = {store.iris.type(name): number for name, number in types.items()}
    counts |= {store.iris.predicate(name): number for name, number in predicates.items()}
    # Domains are not filed themselves.
    del unfiled["Domain"]
    return Survey(
        _identity(store),
        types,
        predicates,
        unfiled,
        list(domains.values()),
        recent_changes(believed, KEY_ITEMS),
        _what_waits(believed, catalog, KEY_ITEMS, now),
        consequences(closure(store), counts),
    )


def _identity(store: Store) -> dict[str, Json] | None:
    """The identity of ``$self``; null in a nexus without it."""
    node = store.iris.concept("Person", "$self")
    if not exists(node, store):
        return None
    attributes = Reader(store).object(node).get("attributes", {})
    identity = {key: attributes.get(key) for key in IDENTITY_KEYS}
    # Until it gets a name, it has that of its node.
    return {**identity, "name": identity["name"] or "$self"}


def domain_names(store: Store) -> dict[NamedNode, str]:
    """The domains of a nexus, in the order of their names."""
    triples = store.match(None, vocab.TYPE, store.iris.type("Domain"))
    nodes = [cast(NamedNode, triple.subject) for triple in triples]
    names = {node: cast(str, store.iris.concept_name(node.value)) for node in nodes}
    return dict(sorted(names.items(), key=lambda item: item[1]))


def _domains(store: Store) -> dict[NamedNode, Domain]:
    reader = Reader(store)
    return {
        node: Domain(name, reader.value(node, "attributes", "description"))
        for node, name in domain_names(store).items()
    }


def _members(domains: dict[NamedNode, Domain], store: Store) -> dict[NamedNode, list[Domain]]:
    """The domains of each element that is filed."""
    members: dict[NamedNode, list[Domain]] = {}
    for triple in paced(store.match(None, store.iris.predicate(BELONGS), None)):
        domain = domains.get(cast(NamedNode, triple.object))
        if domain is not None:
            members.setdefault(cast(NamedNode, triple.subject), []).append(domain)
    return members


def _count_links(
    predicate: str, domains: dict[NamedNode, Domain], store: Store
) -> Counter[NamedNode]:
    """Add the propositions of a predicate to the domains of their ends; their number by end."""
    is_filed = (X, store.iris.predicate(BELONGS), _DOMAIN)
    fact = store.iris.predicate(predicate)
    links: Counter[NamedNode] = Counter()
    for triple in ((X, fact, VALUE), (VALUE, fact, X)):
        counts: dict[NamedNode, int] = {}
        for node, filed_in, number in grouped(store, (X, _DOMAIN), is_filed, triple):
            if filed_in in domains:
                domains[filed_in].predicates[predicate] += number
                counts[node] = number
        links.update(counts)
    return links


def _count_members(
    members: dict[NamedNode, list[Domain]],
    links: Counter[NamedNode],
    types: Counter[str],
    predicates: Counter[str],
    store: Store,
) -> Counter[str]:
    """Add each member to its domains; a definition stands for all that it defines.

    Returns the number of members that are concepts, by type.
    """
    filed: Counter[str] = Counter()
    definitions: list[tuple[Counter[str], str, int]] = []
    for node, filed_in in members.items():
        name = store.iris.name(node.value)
        if isinstance(name, ConceptName):
            filed[name.type] += 1
        for domain in filed_in:
            domain.size += 1
            if not isinstance(name, ConceptName):
                continue
            if name.type == "$ConceptType":
                definitions.append((domain.types, name.name, types[name.name]))
            elif name.type == "$PropositionType":
                definitions.append((domain.predicates, name.name, predicates[name.name]))
            else:
                domain.types[name.type] += 1
                domain.concepts[name.name] += links[node]
    # Last, since all concepts of a type include the members.
    for counts, defined, number in definitions:
        counts[defined] = number
    return filed


# Open commitments and sleep tasks. The questions are KQL, as a model would ask them; the words are
# those of the bundled capsules ``Commitment`` and ``SleepTask``.

# A missing status is that of the capsule's default, and an unknown one is not closed.
_COMMITMENTS = (
    '?x {type: "Commitment"} FILTER(!IN(?x.attributes.status, ["kept", "broken", "released"]))'
)
_SLEEP_TASKS = (
    '?x {type: "SleepTask"} FILTER(!IN(?x.attributes.status, ["completed", "failed", "cancelled"]))'
)
_DUE = "FILTER(?x.attributes.due_at <= :now)"
_COMMITMENT_KEYS = ("description", "promised_by", "promised_to", "due_at")
_SLEEP_TASK_KEYS = ("requested_action", "target_type", "target_name", "priority")


@dataclass
class Waiting:
    """How many promises are open, and due, and how many tasks are left; the next of each."""

    commitments: int = 0
    due: int = 0
    sleep_tasks: int = 0
    next_commitments: list[dict[str, Json]] = field(default_factory=list)
    next_sleep_tasks: list[dict[str, Json]] = field(default_factory=list)


def _what_waits(store: Store, catalog: Catalog, most: int, now: str) -> Waiting:
    """What waits: promises by the time they are due, tasks by priority, at most so many of each."""
    work = Waiting()
    if "Commitment" in catalog.concept_types:
        order = "?x.attributes.due_at, ?x.attributes.importance DESC"
        work.commitments = _number_of(store, _COMMITMENTS)
        work.due = _number_of(store, f"{_COMMITMENTS} {_DUE}", now=now)
        work.next_commitments = _next(store, _COMMITMENTS, order, _COMMITMENT_KEYS, most)
    if "SleepTask" in catalog.concept_types:
        order = "?x.attributes.priority DESC, ?x.attributes.requested_at"
        work.sleep_tasks = _number_of(store, _SLEEP_TASKS)
        work.next_sleep_tasks = _next(store, _SLEEP_TASKS, order, _SLEEP_TASK_KEYS, most)
    return work


def _number_of(store: Store, where: str, **parameters: str) -> int:
    return cast(int, _answer(store, f"FIND(COUNT(?x)) WHERE {{ {where} }}", **parameters))


def _next(
    store: Store, where: str, order: str, keys: tuple[str, ...], most: int
) -> list[dict[str, Json]]:
    names = ("name", *keys)
    expressions = ", ".join(("?x.name", *(f"?x.attributes.{key}" for key in keys)))
    text = f"FIND({expressions}) WHERE {{ {where} }} ORDER BY {order} LIMIT {most}"
    rows = zip(*_answer(store, text), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


@lru_cache(maxsize=8)
def _template(text: str) -> Template[Any]:
    return Template(parse(text))


def _answer(store: Store, text: str, **parameters: str) -> Any:
    find = cast(ast.Find, _template(text).bind(parameters))
    result = kql.run(find, store)
    return results.shape(result.find, result.columns)


# Shaping --------------------------------------------------------------------------------------


class _Page:
    """Cuts lists and texts for a page of some size, and counts the entries left out."""

    def __init__(self, size: float) -> None:
        self._size = size
        self.left_out: dict[str, int] = {}

    def most(self, number: int) -> int:
        """How many of ``number`` entries are shown."""
        return max(1, int(number * self._size))

    def characters(self, number: int) -> int:
        return max(FEWEST_CHARACTERS, int(number * self._size))

    def counts(self, key: str, counts: Counter[str], number: int) -> dict[str, int]:
        """The largest counts, by names that are cut if they are long."""
        shown, rest = largest(counts, self.most(number))
        self.leave_out(key, rest)
        return {self.name(name): count for name, count in shown.items()}

    def first(self, key: str, entries: Sequence[dict[str, Json]], total: int) -> list[Json]:
        """The first of ``total`` entries."""
        shown = [self._entry(entry) for entry in entries[: self.most(KEY_ITEMS)]]
        self.leave_out(key, total - len(shown))
        return shown

    def _entry(self, entry: dict[str, Json]) -> dict[str, Json]:
        return {key: self.value(item) for key, item in entry.items() if item is not None}

    def leave_out(self, key: str, number: int) -> None:
        if number > 0:
            self.left_out[key] = number

    def name(self, name: str) -> str:
        return text(name, self.characters(CHARACTERS // 2))

    def value(self, value: Json) -> Json:
        return excerpt(value, self.characters(CHARACTERS // 2), self.most(KEY_ITEMS))


def _shape(survey: Survey, demands: Demands, size: float) -> dict[str, Any]:
    """The page of a survey; ``size`` is from 1, for all that is ever shown, down to 0."""
    page = _Page(size)
    identity = survey.identity and {
        key: excerpt(value, page.characters(CHARACTERS), max(2, page.most(MOST_NAMES // 2)))
        for key, value in survey.identity.items()
    }
    totals = {
        "concepts": survey.types.total(),
        "propositions": survey.predicates.total(),
        "unfiled_concepts": survey.unfiled.total(),
        "concept_types": page.counts("concept_types", survey.types, MOST_NAMES),
        "proposition_types": page.counts("proposition_types", survey.predicates, MOST_NAMES),
        "unfiled_types": page.counts("unfiled_types", survey.unfiled, MOST_NAMES // 2),
    }
    kept = sorted(survey.domains, key=lambda domain: (-domain.size, domain.name))
    kept = kept[: page.most(MOST_NAMES)]
    page.leave_out("domain_map", len(survey.domains) - len(kept))
    shown: dict[str, Any] = {
        "identity": identity,
        "totals": totals,
        "domain_map": [_domain(domain, size) for domain in survey.domains if domain in kept],
        "total_domains": len(survey.domains),
        "recent_changes": _recent(survey.changes, page),
        "waiting": _waiting(survey.waiting, page),
    }
    if survey.follows:
        follows = survey.follows[: page.most(2 * KEY_ITEMS)]
        page.leave_out("follows", len(survey.follows) - len(follows))
        shown["follows"] = f"{INTRODUCTION}{'; '.join(map(page.name, follows))}."
    if demands:
        names = list(demands)[: page.most(KEY_ITEMS)]
        page.leave_out("gate", len(demands) - len(names))
        shown["gate"] = gate_line(names, demands, page.name)
    return {**shown, "left_out": page.left_out} if page.left_out else shown


def _domain(domain: Domain, size: float) -> dict[str, Json]:
    page = _Page(size)
    shown = {
        "name": page.name(domain.name),
        "description": page.value(domain.description),
        "key_concept_types": list(page.counts("key_concept_types", domain.types, KEY_ITEMS)),
        "key_proposition_types": list(
            page.counts("key_proposition_types", domain.predicates, KEY_ITEMS)
        ),
        "key_concepts": list(page.counts("key_concepts", domain.concepts, KEY_ITEMS)),
        "concept_count": domain.size,
    }
    return {**shown, "left_out": page.left_out} if page.left_out else shown


def _recent(changes: Changes, page: _Page) -> dict[str, Json]:
    return {
        "concepts": page.first("", changes.concepts, 0),
        "propositions": page.first("", changes.propositions, 0),
    }


def _waiting(waiting: Waiting, page: _Page) -> dict[str, Json]:
    return {
        "commitments": {
            "count": waiting.commitments,
            "due": waiting.due,
            "next": page.first("commitments", waiting.next_commitments, waiting.commitments),
        },
        "sleep_tasks": {
            "count": waiting.sleep_tasks,
            "next": page.first("sleep_tasks", waiting.next_sleep_tasks, waiting.sleep_tasks),
        },
    }
