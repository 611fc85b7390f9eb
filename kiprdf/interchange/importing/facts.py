"""Finds the propositions of an import, each after those that it refers to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, cached_property
from graphlib import TopologicalSorter
from itertools import count
from typing import Any, TypeAlias, cast

from pyoxigraph import BlankNode, NamedNode

from kiprdf.budget import paced
from kiprdf.collector import cached
from kiprdf.dataclasses import dataclass
from kiprdf.interchange.forms import listed
from kiprdf.interchange.importing.blank_nodes import is_blank
from kiprdf.interchange.importing.element_index import SAME_AS
from kiprdf.interchange.importing.external import (
    DEFAULT,
    PARTS,
    ExternalTriple,
    Items,
    Node,
    Object,
    is_plain,
    leaves,
)
from kiprdf.interchange.importing.identities import Context, claimed
from kiprdf.interchange.importing.node_values import GRAPH, ValueReader
from kiprdf.interchange.importing.origins import REIFIED_IN, Part
from kiprdf.interchange.importing.plan import JsonMap, Proposition
from kiprdf.interchange.importing.values import NodeValues
from kiprdf.kml.merged_origins import (
    ORIGINAL,
    OWN,
    STATEMENTS,
    as_they_were,
    kept_loops,
    merged_parts,
    statement_order,
    statements_of,
)
from kiprdf.language.names import META_TYPES
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, PropositionName, proposition_digits
from kiprdf.rdf.literals import Json

NO_ELEMENT = "its object is not an element of the data or the nexus"
Awaited: TypeAlias = ExternalTriple | str
"""What must become a proposition first: a statement, or the proposition of an id."""
Ends: TypeAlias = tuple[NamedNode, NamedNode]
Link: TypeAlias = tuple[ExternalTriple, str | None, str]
"""A statement that is to become a proposition, and the ids of its ends where they are known."""

NATIVE = "native"
"""Of a predicate of kiprdf: each statement of it is a link, or none of the data."""
_NOTHING: list[Any] = []
"""What nearly all statements have as reifiers and as places in lists."""
_DEFINITIONS = tuple(f"C:{meta_type}/" for meta_type in META_TYPES)


@dataclass(slots=True)
class Fact:
    """A proposition and the statements that it comes from."""

    id: str
    subject: str
    predicate: str
    object: str
    properties: frozenset[str] = frozenset()
    asserted: frozenset[str] = frozenset()
    """The properties that state it as a triple, and not only by a list."""
    lists: tuple[list[Json], ...] = ()
    """Its places in lists of elements: the property, the number of the list, the positions.

    Before the number of a container is the local name of its class: ``Seq1``.
    """
    positions: tuple[Json, ...] = ()
    """Its positions in all lists."""
    reifiers: tuple[Node, ...] = ()
    statements: tuple[tuple[ExternalTriple, list[Node], list[list[Json]]], ...] = ()
    """The triples and lists that state it, each with its reifiers and its places in lists."""
    graphs: frozenset[str] = frozenset()


class Facts:
    """Finds the facts of one import and gives them ids."""

    def __init__(self, context: Context) -> None:
        self._external, self._naming, self._index = context.external, context.naming, context.index
        self._resources, self._originals = context.identities.resources, context.originals
        self._only_listed: set[ExternalTriple] = set()
        """What no triple states, but an item of a list."""
        self._new_ids = {resource.id for resource in self._resources.values()}
        self._noted: set[frozenset[str]] = set()
        self._frozen: Callable[[tuple[str, ...]], frozenset[str]] = cache(frozenset)
        self._reified = self._by_reifier_iri()
        self.ids: dict[Object, str] = {
            node: resource.id
            for node, resource in self._resources.items()
            if not resource.is_ours and resource.iri not in self._reified
        }
        """The ids of the nodes of which nothing else is to be found out; so are most."""
        shared = self._external.shared
        self._only = None if shared is None else frozenset(shared)
        self._ids: dict[Awaited, str] = {}
        """The ids of what others wait for, or claim the IRI of."""
        self._unplaced: set[ExternalTriple] = set()
        self._facts: dict[tuple[str, str, str], Fact] = {}
        self.by_reifier: dict[Node, Fact] = {}
        self.kept: dict[ExternalTriple, dict[str, Any]] = {}
        """Links of two nodes that MERGE joined, which the nexus has kept as they were."""
        self._places: dict[ExternalTriple, list[tuple[int | str, ...]]] = defaultdict(list)
        self.ends: set[Object] = set()
        """The nodes of the data that are ends of facts, if there are reifiers."""
        # Most nodes are ends of several statements.
        self._awaited = cached(Facts._awaited_of, self)
        self._element = cached(Facts._element_of, self)
        self._direct = cached(Facts._direct_of, self)
        self._may_link = cached(Facts._is_of_links, self)
        self._named = cached(Facts._named_by, self)
        self.is_other = cached(Facts._is_other_node, self)
        self._lists: Counter[tuple[Node, NamedNode]] = Counter()

    def _by_reifier_iri(self) -> dict[str, ExternalTriple]:
        """The statements that reifiers stand for, by the IRIs that reifiers have or claim.

        Of several statements that claim an IRI, the first has it.
        """
        reified = self._external.reified
        if not reified:
            return {}
        by_iri = {node.value: statement for node, statement in reified.items()}
        for statement in paced(self._external.statements):
            fact = reified.get(statement.subject)
            if fact is None or not self._naming.is_claim(statement.predicate.value):
                continue
            for text in claimed(statement):
                if self._index.element(text) is None and not self._naming.is_below_base(text):
                    with suppress(ValueError):  # not every text is an IRI
                        by_iri.setdefault(NamedNode(text).value, fact)
        return by_iri

    # Which statements are facts ---------------------------------------------------------------

    def end_of(self, statement: ExternalTriple) -> str | None:
        """The id of the object if a statement links two elements, "" for one that is looked up
        later; None for other statements.

        A link is not a value, even under a key.
        """
        _, predicate, end = statement
        if not isinstance(end, NamedNode):
            return None
        may_link = self._may_link(predicate)
        if not may_link:
            return None
        id = self.ids.get(end)
        if id is not None:
            return id
        if may_link is NATIVE or self._direct(end) is not None or self._awaited(end) is not None:
            return ""
        return None

    def _is_of_links(self, predicate: NamedNode) -> bool | str:
        """Whether statements of a property may be links; ``NATIVE`` if all of IRIs are."""
        property = predicate.value
        if self._naming.is_claim(property):
            return False
        if property.startswith((vocab.ATTRIBUTE, vocab.METADATA)):
            return False
        return NATIVE if self._naming.is_native_predicate(property) else True

    def of_list(self, statement: ExternalTriple) -> tuple[list[ExternalTriple], bool]:
        """The links of a list to the elements in it, and whether all of its items are elements.

        A list with other items is a value as well, so that nothing of it is missing; and one that
        has a link in other graphs than its own.
        """
        property, items = statement.predicate.value, statement.object
        if not isinstance(items, Items) or not items.terms or self._naming.is_claim(property):
            return [], False
        if property.startswith(vocab.OWN) or self._naming.predicate(property) is None:
            return [], False
        placed = list(leaves(items))
        linked = [
            (place, ExternalTriple(*statement[:2], item))
            for place, item in placed
            if self._is_element(item)
        ]
        graphs = self._external.graphs
        is_whole = len(linked) == len(placed) and is_plain(items)
        is_whole = is_whole and all(
            {*graphs.get(link, graphs[statement])} == {*graphs[statement]} for _, link in linked
        )
        if is_whole:
            self._lists[statement[:2]] += 1
        count = self._lists[statement[:2]]
        number = (f"{items.container}{count}" if items.container else count) if is_whole else 0
        links: list[ExternalTriple] = []
        for place, link in linked:
            if link not in graphs:
                links.append(link)
                self._only_listed.add(link)
                graphs[link] = graphs[statement]
            self._places[link].append((number, *place))
        return links, is_whole

    def _is_element(self, item: Object) -> bool:
        """Whether an item of a list is a concept, or an element that the nexus has."""
        if not isinstance(item, NamedNode) or self._awaited(item) is not None:
            return False
        return self._element(item) is not None

    def _merged(self, id: str) -> set[str]:
        """The IRIs of the concepts that were merged into an element."""
        return {*merged_parts(self._originals.get(id))}

    def _awaited_of(self, end: Object) -> Awaited | None:
        """The triple that must first become a proposition; None for other ends."""
        assert isinstance(end, NamedNode)
        if end.value in self._reified:
            return self._reified[end.value]
        name = self._naming.element(end.value)
        is_new = isinstance(name, PropositionName) and not self._index.exists(name.id)
        return name.id if name is not None and is_new else None

    def _element_of(self, node: NamedNode) -> str | None:
        """The id of a concept of the data, or of an element that the nexus has.

        Definitions only if the data describe them. Otherwise those that an import creates would be
        strings in the first import and ends of facts in the second.
        """
        if node in self._resources:
            return self._resources[node].id
        name = self._naming.element(node.value)
        id = self._index.element(node.value) if name is None else name.id
        if id is None or id in self._new_ids:
            return id
        return id if not id.startswith(_DEFINITIONS) and self._index.exists(id) else None

    def _direct_of(self, node: Object) -> str | None:
        """The id of an end that need not become a proposition first."""
        assert isinstance(node, NamedNode)
        return None if self._awaited(node) is not None else self._element(node)

    # Propositions -----------------------------------------------------------------------------

    def place(self, links: Iterable[Link]) -> list[ExternalTriple]:
        """Make a proposition of each statement, or skip it with a reason.

        A statement about another one waits for it. Those that wait for something that never
        becomes a proposition are skipped, or returned if their object could be a value.
        """
        reifiers: dict[ExternalTriple, list[Node]] = defaultdict(list)
        for reifier, statement in self._external.reified.items():
            reifiers[statement].append(reifier)
        open_ends: dict[ExternalTriple, set[Awaited]] = {}
        waiting: dict[Awaited, list[ExternalTriple]] = defaultdict(list)
        ready: list[Link] = []
        for link in paced(links):
            statement, subject, object_ = link
            if subject and object_:
                ready.append(link)
                continue
            ends = self._awaited(statement.subject), self._awaited(statement.object)
            if ends[0] is None and ends[1] is None:
                ready.append(link)
                continue
            open_ends[statement] = {end for end in ends if end is not None}
            for end in open_ends[statement]:
                waiting[end].append(statement)
        while ready:
            self._prefetch(statement for statement, _, _ in ready)
            following: list[Link] = []
            for link in paced(ready):
                statement = link[0]
                fact = self._place_one(link, reifiers[statement] if reifiers else _NOTHING)
                if fact is None:
                    self._unplaced.add(statement)
                    continue
                if not (open_ends or reifiers):
                    continue
                self._ids[statement] = self._ids[fact.id] = fact.id
                for end in (statement, fact.id):
                    for other in waiting.pop(end, ()):
                        open_ends[other].discard(end)
                        if not open_ends[other]:
                            following.append((other, None, ""))
            ready = following
        left = [statement for statement, ends in open_ends.items() if ends]
        self._unplaced.update(left)
        return [statement for statement in left if not self._is_skipped(statement)]

    def _prefetch(self, statements: Iterable[ExternalTriple]) -> None:
        """Read ahead what some statements become, if it exists, where a read is a request."""
        if self._index.store.abilities.lookups:
            return
        facts = [
            (subject, predicate, object_)
            for statement in statements
            if (subject := self._end(statement.subject)) is not None
            and (predicate := self._naming.predicate(statement.predicate.value)) is not None
            and (object_ := self._end(statement.object)) is not None
        ]
        names = (PropositionName(proposition_digits(*fact), fact[1]) for fact in facts)
        self._index.prefetch((name.id for name in names), facts)

    def _is_skipped(self, statement: ExternalTriple) -> bool:
        """Skip a statement about a triple that is not a proposition."""
        ends = (statement.subject, statement.object)
        if not any(end in self._external.reified for end in ends):
            return False
        self._external.skip(statement, "it is about a triple that is not a proposition")
        return True

    def _place_one(self, link: Link, reifiers: list[Node]) -> Fact | None:
        """The fact that a statement becomes; None for a statement that is skipped."""
        statement, subject, object_ = link
        subject = subject or self._end(statement[0])
        end = object_ or self._end(statement[2])
        named = self._named(statement[1])
        if named is None:
            self._external.skip(statement, "its predicate cannot be made an identifier")
        elif subject is None or end is None:
            self._external.skip(statement, NO_ELEMENT)
        elif subject != end or not self._is_kept(statement, subject, named[0]):
            return self._add(statement, (subject, named[0], end), named, reifiers)
        return None

    def _named_by(self, property: NamedNode) -> tuple[str, frozenset[str], bool] | None:
        """The predicate of a property, the set of its IRI, and whether nothing has it yet."""
        predicate = self._naming.predicate(property.value)
        if predicate is None:
            return None
        is_unused = self._index.is_unused("P", predicate)
        return predicate, frozenset((property.value,)), is_unused

    def _is_kept(self, statement: ExternalTriple, id: str, predicate: str) -> bool:
        """Whether MERGE has kept a link of two nodes that are one element now.

        One that it has kept in another form is skipped.
        """
        own = self._index.originals.get(id, ("",))[0]
        loops = kept_loops(self._originals.get(id), own)
        subject, object_ = cast(Ends, statement[::2])
        loop = loops.get((subject.value, predicate, object_.value))
        if loop is None:
            return False
        metadata = loop["metadata"]
        lists: list[Json] = [
            [statement.predicate.value, number, *place]
            for number, *place in self._places.get(statement, ())
            if number
        ]
        graphs = {*listed(metadata.get("graph", DEFAULT))}
        is_same = graphs == {*self._external.graphs_of(statement)}
        if is_same and lists == metadata.get(ORIGINAL, {}).get("lists", []):
            self.kept[statement] = loop
        else:
            fault = "MERGE made one element of its ends, and has kept it with other lists or graphs"
            self._external.skip(statement, fault)
        return True

    def _is_apart(self, statement: ExternalTriple, fact: Fact) -> bool:
        """Whether a statement has other ends than others of its fact, which MERGE joined."""
        merged = self._merged(fact.subject) | self._merged(fact.object)
        ends = [
            [end.value if end.value in merged else None for end in cast(Ends, one[::2])]
            for one in (statement, *(one for one, _, _ in fact.statements))
        ]
        return ends[0] not in ends[1:]

    def _add(
        self,
        statement: ExternalTriple,
        ends: tuple[str, str, str],
        named: tuple[str, frozenset[str], bool],
        reifiers: list[Node],
    ) -> Fact:
        """The fact with some ends, to which a statement is added."""
        _, own, is_unused = named
        is_asserted = not self._only_listed or self.is_asserted(statement)
        fact = self._facts.get(ends)
        if fact is None:
            asserted = own if is_asserted else frozenset[str]()
            id = _id_of(*ends) if is_unused else self._id(*ends)
            fact = self._facts[ends] = Fact(id, *ends, own, asserted)
        else:
            if is_asserted and not self._is_apart(statement, fact):
                self._external.skip(statement, _repeats(fact, statement.predicate.value))
            fact.properties |= own
            fact.asserted |= own if is_asserted else frozenset()
        lists: list[list[Json]] = _NOTHING
        if self._places and statement in self._places:
            lists = self._add_places(statement, fact)
        if is_asserted or lists:
            fact.statements = (*fact.statements, (statement, reifiers, lists))
            if self._external.reified:
                self.ends.update((statement.subject, statement.object))
        if own not in self._noted:
            self._noted.add(own)
            self._naming.note("predicate", fact.predicate, *own)
        graphs = self._only or self._frozen(self._external.graphs_of(statement))
        fact.graphs = fact.graphs | graphs if fact.graphs else graphs
        if reifiers:
            fact.reifiers = (*fact.reifiers, *reifiers)
            self.by_reifier.update(dict.fromkeys(reifiers, fact))
        return fact

    def _add_places(self, statement: ExternalTriple, fact: Fact) -> list[list[Json]]:
        """Add the positions of a statement in lists to its fact; the places in whole lists."""
        lists: list[list[Json]] = []
        for number, *place in self._places[statement]:
            fact.positions = (*fact.positions, place[0] if len(place) == 1 else place)
            if number:
                lists.append([statement.predicate.value, number, *place])
        fact.lists = (*fact.lists, *lists)
        return lists

    def _end(self, node: Object) -> str | None:
        id = self._direct(node)
        if id is not None:
            return id
        awaited = self._awaited(node)
        return None if awaited is None else self._ids[awaited]

    def _id(self, subject: str, predicate: str, object_: str) -> str:
        """The id that a fact has in the nexus, or will have."""
        # A new concept has no propositions.
        if self._index.exists(subject) and self._index.exists(object_):
            existing = self._index.proposition(subject, predicate, object_)
            if existing is not None:
                return existing
        for salt in count():
            id = _id_of(subject, predicate, object_, salt)
            # After a merge an id may be that of another fact.
            if not self._index.exists(id):
                break
        return id

    # Results --------------------------------------------------------------------------

    def _is_other_node(self, node: Node) -> bool:
        """Whether the node of an end is not the one that its element is written as.

        It is asked when all facts are placed.
        """
        if self._naming.is_below_base(node.value):
            return False
        fact, resource = self.by_reifier.get(node), self._resources.get(node)
        if fact is not None:
            own = self._index.originals.get(fact.id, (node.value,))[0]
            return len(fact.reifiers) > 1 or own != node.value
        if resource is None:
            return False
        return self._index.originals.get(resource.id, (node.value,))[0] != node.value

    @cached_property
    def has_others(self) -> bool:
        """Whether there is any such node."""
        originals, every = self._index.originals, self._resources.values()
        return any(map(self._is_other_node, paced(self.by_reifier))) or any(
            not one.is_ours and originals.get(one.id, (one.iri,))[0] != one.iri
            for one in paced(every)
        )

    def sorted(self) -> list[Fact]:
        """All facts by height, the number of levels of other facts below them, then by ends."""
        ids = {fact.id for fact in self._facts.values()}
        below = {
            fact.id: [end for end in (fact.subject, fact.object) if end in ids]
            for fact in self._facts.values()
            if fact.subject in ids or fact.object in ids
        }
        if not below:
            return [self._facts[ends] for ends in sorted(self._facts)]
        heights: dict[str, int] = {}
        for id in TopologicalSorter(below).static_order():
            heights[id] = 1 + max((heights[end] for end in below.get(id, ())), default=-1)
        order = sorted((heights.get(fact.id, 0), ends) for ends, fact in self._facts.items())
        return [self._facts[ends] for _, ends in order]

    def is_asserted(self, statement: ExternalTriple) -> bool:
        """Whether a triple states a link, and not only a list."""
        return statement not in self._only_listed

    def is_placed(self, statement: ExternalTriple) -> bool:
        """Whether a statement that was to be placed has become a fact."""
        return statement not in self._unplaced

    def is_free(self, iri: str, id: str) -> bool:
        """Whether no other element has an IRI that a proposition claims."""
        if self._naming.is_below_base(iri) or self._index.other_element(iri, id) is not None:
            return False
        return iri not in self._reified or self._ids.get(self._reified[iri]) == id


def _id_of(subject: str, predicate: str, object_: str, salt: int = 0) -> str:
    return f"P:{proposition_digits(subject, predicate, object_, salt)}:{predicate}"


def _repeats(fact: Fact, property: str) -> str:
    """Why a statement adds nothing to a fact that exists already."""
    if property in fact.properties:
        return "another triple states this fact already"
    both = f"<{min(fact.properties)}> and <{property}> both become '{fact.predicate}'"
    return f"{both}, and the first one states this fact"


# Several statements of one fact, which several triples or reifiers state ------------------------


_USUAL = {"predicate", "lists", "attributes", "metadata"}
"""What is noted of a statement that does not distinguish it from others."""


def several(
    fact: Fact, context: Context, facts: Facts, by_node: Mapping[Node, NodeValues]
) -> list[Part]:
    """The statements of a fact, if there are several, or if one has another end than usual.

    ``noted`` are the IRI of the reifier, and the ends that are not the usual nodes of the elements.
    """
    if len(fact.statements) == 1 and _is_bare(fact, context, facts):
        return []
    parts: list[Part] = []
    properties = {one for one in fact.properties if not context.naming.is_below_base(one)}
    graphs_of = context.external.graphs_of
    differ = len({tuple(sorted(graphs_of(statement))) for statement, _, _ in fact.statements}) > 1
    for statement, reifiers, lists in fact.statements if properties else ():
        noted: JsonMap = {"predicate": [statement.predicate.value]} if len(properties) > 1 else {}
        if lists:
            noted = {"lists": lists} if facts.is_asserted(statement) else _only_in(lists)
        for key, node in (("subject", statement.subject), ("object", statement.object)):
            if isinstance(node, NamedNode | BlankNode) and facts.is_other(node):
                noted[key] = node.value
        if differ:
            noted[GRAPH] = sorted(graphs_of(statement))
        for reifier in (*reifiers, *(() if reifiers else (None,))):
            values = NodeValues() if reifier is None else by_node.get(reifier, NodeValues())
            own: JsonMap = {}
            others = sorted(iri for iri in values.same_as if facts.is_free(iri, fact.id))
            if reifier is not None and (others or not is_blank(reifier) or reifier in facts.ends):
                own["id"] = reifier.value
            if others:
                own[SAME_AS] = list(others)
            places = {} if reifier is None else _places(reifier, statement, context)
            if any(one != sorted(graphs_of(statement)) for one in places.values()):
                is_one = len({tuple(one) for one in places.values()}) == 1
                own[REIFIED_IN] = next(iter(places.values())) if is_one else places
            if own or noted or not reifiers or _has_values(values):
                parts.append(Part({**own, **noted}, values))
    parts = _with_earlier(parts, fact, context)
    if len(parts) == 1:
        kept = ("subject", "object", REIFIED_IN)
        ends = {key: one for key, one in parts[0].noted.items() if key in kept}
        return [Part(ends, NodeValues())] if ends else []
    if not any(part.noted.keys() - _USUAL or part.shown or _has_values(part[1]) for part in parts):
        return []
    return sorted(parts, key=lambda part: statement_order(part.noted, shown_values(part, {})))


def _places(reifier: Node, fact: ExternalTriple, context: Context) -> dict[str, Json]:
    """The graphs of each triple that says what a reifier stands for, by its property."""
    structure = [ExternalTriple(reifier, vocab.REIFIES, fact)]
    structure.append(ExternalTriple(reifier, vocab.TYPE, vocab.STATEMENT))
    structure += [ExternalTriple(reifier, part, end) for part, end in zip(PARTS, fact, strict=True)]
    graphs = context.external.graphs
    return {one.predicate.value: sorted(graphs[one]) for one in structure if one in graphs}


def _is_bare(fact: Fact, context: Context, facts: Facts) -> bool:
    """Whether one triple states a fact, and nothing distinguishes it; so are most."""
    if fact.reifiers or fact.lists:
        return False
    record = context.originals.get(fact.id) if context.originals else None
    if isinstance(record, dict) and STATEMENTS in record:
        return False
    if not facts.has_others:
        return True
    ((statement, _, _),) = fact.statements
    ends = statement.subject, cast(Node, statement.object)
    return not any(map(facts.is_other, ends))


def _with_earlier(parts: list[Part], fact: Fact, context: Context) -> list[Part]:
    """The statements of this import, and those of earlier ones that it does not state again."""
    link = context.index.link(fact.id) if parts else None
    earlier = [] if link is None else [Part(n, NodeValues(), s) for n, s in statements_of(link)]
    new = [_identity(part, len(earlier) > 1) for part in parts]
    if len(earlier) == 1 and _is_stated_again(earlier[0], parts, fact, context):
        new.append(_identity(earlier[0], False))
    kept = [
        part
        for part in earlier
        if part.noted.keys() - _USUAL or part.shown
        if _identity(part, len(earlier) > 1) not in new
    ]
    if not kept:
        return parts
    new_graphs = {tuple(sorted(context.external.graphs_of(one))) for one, _, _ in fact.statements}
    if new_graphs == {tuple(cast(list[str], part.noted[GRAPH])) for part in kept}:
        # So the order of the imports makes no difference.
        kept = [p._replace(noted={k: v for k, v in p.noted.items() if k != GRAPH}) for p in kept]
    return kept + [p for p in parts if p.noted.keys() - _USUAL or _has_values(p.values)]


def _is_stated_again(earlier: Part, parts: list[Part], fact: Fact, context: Context) -> bool:
    """Whether new statements say what a statement without an IRI says: its triple and its values.

    A blank node has an IRI only beside other statements, so that of a new one is no difference.
    """
    graphs = [sorted(context.external.graphs_of(one)) for one, _, _ in fact.statements]
    if earlier.noted.keys() - {"attributes", "metadata"} != {GRAPH}:
        return False
    if sorted(cast(list[str], earlier.noted[GRAPH])) not in graphs:
        return False
    blank = [one for one in parts if is_blank(NamedNode(str(one.noted.get("id", vocab.BLANK))))]
    return not earlier.shown or earlier.shown in [shown_values(part, {}) for part in blank]


def _identity(part: Part, by_values: bool) -> list[Json]:
    """What makes a statement another one: the IRI of its reifier, else its ends, and its values if
    there are several.
    """
    if "id" in part.noted:
        return [part.noted["id"]]
    ends = [part.noted.get("subject"), part.noted.get("object")]
    return [*ends, shown_values(part, {})] if by_values else [*ends]


def is_merged(node: Node, identity: ConceptName, values: ValueReader, context: Context) -> bool:
    """Whether a node states nothing but what a concept that was merged states already."""
    record = context.originals.get(identity.id)
    if not isinstance(record, dict) or OWN not in record:
        return False
    part = merged_parts(record).get(node.value)
    if part is None:
        before = as_they_were(context.index.attributes(identity.id), record[OWN])
    else:
        before = cast(JsonMap, part.get("attributes"))
    stated = values.by_node[node].attributes.json()
    return all(key in before and before[key] == value for key, value in stated.items())


def unchanged_links(propositions: Iterable[Proposition], context: Context) -> Iterator[str]:
    """The ids of propositions of which the nexus has the same statements."""
    for one in propositions if context.originals else ():
        before = context.originals.get(one.key)
        now = cast(JsonMap, one.metadata.get(ORIGINAL) or {})
        statements = listed(now.get(STATEMENTS))
        if not isinstance(before, dict) or len(statements) < 2:
            continue
        shown = one.attributes.get(STATEMENTS)
        is_same = before.get(STATEMENTS) == statements
        if is_same and context.index.attributes(one.key).get(STATEMENTS) == shown:
            yield one.key


def _only_in(lists: list[list[Json]]) -> JsonMap:
    """What is noted of a statement that only lists make."""
    return {"lists": lists, "predicate": []}


def _has_values(values: NodeValues) -> bool:
    return any((*values.attributes.external, *values.metadata.external))


def shown_values(part: Part, attributes: JsonMap) -> JsonMap:
    """What KQL sees of a statement: the IRI of its reifier, its values.

    Metadata are among them, unless one has the key of an attribute.
    """
    if part.shown is not None:
        return part.shown
    own, metadata = part.values.attributes.json(), part.values.metadata.json()
    hidden = {key: value for key, value in metadata.items() if key in attributes}
    shown = {key: value for key, value in metadata.items() if key not in attributes}
    iri = part.noted.get("id")
    named = {} if iri is None or is_blank(NamedNode(iri)) else {"id": iri}
    return {**named, **shown, **own, **({"metadata": hidden} if hidden else {})}
