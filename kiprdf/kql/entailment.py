"""What follows from the definitions, by rewriting (docs/decisions/202).

``Rules`` are the closure over the definitions of a store: which types a type matches, and along
which facts a predicate is found. A FIND that reads an ``entailed`` store is compiled by them;
nothing is stored. ``Explanations`` say by which rules a pattern matches.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import product
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, cast
from weakref import WeakKeyDictionary

from pyoxigraph import NamedNode, Triple, Variable

from kiprdf import budget
from kiprdf.dataclasses import dataclass
from kiprdf.kql.beliefs import BelievedStore, plain, view_of
from kiprdf.kql.queries import select
from kiprdf.kql.reader import link_of
from kiprdf.language.names import is_identifier
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.rdf.literals import to_json
from kiprdf.sparql.algebra import BGP, Alternative, Select, Table, TriplePattern
from kiprdf.store import Store, Written

Entail: TypeAlias = bool | Literal["same_as"]
"""Whether a FIND matches what follows from the definitions, and whether what is the same is one."""
SUBCLASS_OF, SUBPROPERTY_OF = "subclass_of", "subproperty_of"
IS_SYMMETRIC, IS_TRANSITIVE, INVERSE_OF = "is_symmetric", "is_transitive", "inverse_of"
SAME_AS = "same_as"
T = TypeVar("T")
S = TypeVar("S", bound=Store)
Step: TypeAlias = tuple[NamedNode, bool]
"""A predicate, and whether its facts are read forward."""


class Path(NamedTuple):
    """How a predicate is found by its rules: along one fact of the ``steps``, or along a chain of
    facts of one of the ``closures``."""

    steps: Alternative
    closures: tuple[Alternative, ...]


class Applied(NamedTuple):
    """A rule that leads from a predicate to another, or back, with what states it: the ``of`` is
    the predicate that follows."""

    by: str
    of: NamedNode
    fact: Triple | None


_Steps: TypeAlias = dict[Step, tuple[Step, Applied] | None]
"""Each step, and the one before it with the rule that leads from that; None for the first one."""


@dataclass(frozen=True, eq=False)
class Rules:
    """The rules that definitions state, and what follows from all of them together.

    ``subtypes`` and ``subproperties`` have what is directly below a definition; ``inverses`` have
    both sides.
    """

    iris: Iris
    subtypes: Mapping[NamedNode, Sequence[NamedNode]]
    subproperties: Mapping[NamedNode, Sequence[NamedNode]]
    symmetric: frozenset[NamedNode]
    transitive: frozenset[NamedNode]
    inverses: Mapping[NamedNode, Sequence[NamedNode]]
    _types: dict[NamedNode, tuple[NamedNode, ...]] = field(default_factory=dict)
    _paths: dict[NamedNode, Path | None] = field(default_factory=dict)
    _steps: dict[Step, _Steps] = field(default_factory=dict)

    def types(self, type: NamedNode) -> tuple[NamedNode, ...]:
        """A type and all below it, itself first."""
        types = self._types.get(type)
        if types is None:
            below = dict.fromkeys([type])
            pending = [type]
            while pending:
                new = [t for t in self.subtypes.get(pending.pop(), ()) if t not in below]
                below.update(dict.fromkeys(new))
                pending += new
            types = self._types[type] = (type, *sorted(list(below)[1:], key=str))
        return types

    def path(self, predicate: NamedNode) -> Path | None:
        """How a predicate is found; None where only its own facts match."""
        if predicate not in self._paths:
            self._paths[predicate] = self._path(predicate)
        return self._paths[predicate]

    def _path(self, predicate: NamedNode) -> Path | None:
        steps = self.steps((predicate, True))
        chains = {frozenset(self.steps(s)) for s in steps if s[0] in self.transitive}
        # A chain along more predicates has the others.
        longest = [c for c in chains if not any(c < other for other in chains)]
        if len(steps) == 1 and not longest:
            return None
        closures = sorted(map(_alternative, longest), key=str)
        return Path(_alternative(steps), tuple(closures))

    def steps(self, start: Step) -> _Steps:
        """The facts that match a predicate as one step, each with the rule that leads to it: by as
        few propositions between definitions as possible."""
        if start not in self._steps:
            self._steps[start] = self._reached(start)
        return self._steps[start]

    def _reached(self, start: Step) -> _Steps:
        steps: _Steps = {start: None}
        level = [start]
        while level:
            below: list[Step] = []
            # Rules that no proposition states come first; they make a level larger.
            for is_stated, reached in ((False, level), (True, below)):
                for step in level:
                    for following, applied in self._applied(step):
                        if following not in steps and (applied.fact is not None) == is_stated:
                            steps[following] = step, applied
                            reached.append(following)
            level = below
        return steps

    def _applied(self, step: Step) -> Iterator[tuple[Step, Applied]]:
        """The rules for one predicate."""
        predicate, forward = step
        if predicate in self.symmetric:
            yield (predicate, not forward), Applied(IS_SYMMETRIC, predicate, None)
        for other in self.inverses.get(predicate, ()):
            yield (other, not forward), Applied(INVERSE_OF, predicate, None)
        above = self.iris.predicate(SUBPROPERTY_OF)
        for below in self.subproperties.get(predicate, ()):
            fact = Triple(below, above, predicate)
            yield (below, forward), Applied(SUBPROPERTY_OF, predicate, fact)


def _alternative(steps: Iterable[Step]) -> Alternative:
    every = sorted(steps, key=lambda step: step[0].value)
    return Alternative(
        tuple(predicate for predicate, forward in every if forward),
        tuple(predicate for predicate, forward in every if not forward),
    )


# Stores -------------------------------------------------------------------------------------------


def entailed(store: S, entail: Entail, last: S | None = None) -> S:
    """A store of which a FIND matches what follows; the store itself for ``False``.

    It is the ``last`` one where that still matches the same.
    """
    if entail is False:
        return store
    name = store.name if isinstance(store, BelievedStore) else ""
    clusters = None
    if entail == "same_as":
        clusters = _derived(store, 1, lambda stated, base: _clusters(stated, base.iris))
    rules, name = closure(store), f"{name}// Entailed {entail}\n"
    seen = plain(store), view_of(store), name, rules, clusters
    if isinstance(last, BelievedStore) and seen == last.seen:
        return last
    return cast(S, BelievedStore(*seen))


def rules_of(store: Store) -> Rules | None:
    """The rules by which a FIND matches more than is stated in a store; None where it does not.

    ``closure`` has those of a store of which only what is stated is seen.
    """
    return store.rules if isinstance(store, BelievedStore) else None


def clusters_of(store: Store) -> Clusters | None:
    """What is the same in a store; None where each element stands for itself."""
    return store.clusters if isinstance(store, BelievedStore) else None


def closure(store: Store) -> Rules | None:
    """The rules that the definitions of a store state, where there are any; the same object until a
    commit changes them. Of a view of what is believed, those that are believed in it."""
    return _derived(store, 0, _rules)


def _derived(
    store: Store, kind: int, make: Callable[[Iterable[Triple], Store], T | None]
) -> T | None:
    """What is made from the triples of a store that state rules (0), or what is the same (1)."""
    base, view = plain(store), view_of(store)
    both = _kept.get(base)
    if both is None:
        rules = IS_SYMMETRIC, IS_TRANSITIVE, INVERSE_OF, SUBCLASS_OF, SUBPROPERTY_OF
        both = _kept[base] = (_Kept(rules), _Kept((SAME_AS,)))
        embedded = getattr(base, "embedded", None)
        if embedded is not None:
            embedded.follow(both[0])
            embedded.follow(both[1])
    kept = both[kind]
    stated = kept.stated(base)
    if view is not None:
        stated = frozenset(s for s in stated if view.hidden.isdisjoint((s, s.subject)))
    if stated not in kept.made:
        if len(kept.made) >= MOST_MADE:
            kept.made.clear()
        kept.made[stated] = make(stated, base) if stated else None
    return cast("T | None", kept.made[stated])


class _Kept:
    """The triples of a store with some names, kept until a commit changes one of them, and what was
    ``made`` from them or a part of them."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        self._endings = tuple(f"/{name}" for name in names)
        self._read: tuple[int, frozenset[Triple]] | None = None
        self.made: dict[frozenset[Triple], object] = {}

    def stated(self, store: Store) -> frozenset[Triple]:
        """The triples of the commit that is being read."""
        commit, read = store.commit(), self._read
        if read is None or read[0] != commit:
            self._read = read = commit, frozenset(self._stated(store))
        return read[1]

    def _stated(self, store: Store) -> Iterator[Triple]:
        """Attributes of predicates, and facts: what else they are about is left to their use."""
        facts = map(store.iris.predicate, self._names)
        keys = (*facts, *(NamedNode(vocab.ATTRIBUTE + name) for name in self._names))
        if store.abilities.lookups:
            read: Iterable[Any] = (t for key in keys for t in store.match(None, key, None))
        else:
            names = (_SUBJECT, _PREDICATE, _OBJECT)
            table = Table((_PREDICATE,), tuple((key,) for key in keys))
            pattern = BGP((TriplePattern(*names),))
            rows = select(Select(names, pattern, distinct=False, table=table), store)
            read = (Triple(*cast(Any, row)) for row in rows)
        for triple in read:
            is_fact = triple.predicate.value.startswith(store.iris.predicates)
            if is_fact or triple.subject.value.startswith(store.iris.predicates):
                yield Triple(triple.subject, triple.predicate, triple.object)

    def note(self, number: int, removed: Iterable[Written], added: Iterable[Written]) -> None:
        read, self._read = self._read, None
        if read is not None and read[0] == number - 1:
            keys = (triple[1].value for triples in (removed, added) for triple in triples)
            if not any(key.endswith(self._endings) for key in keys):
                self._read = number, read[1]

    def clear(self) -> None:
        self._read = None

    def close(self, number: int) -> None:
        """Nothing: they are only in memory."""


MOST_MADE = 8
"""Of one store, for different views."""
_kept: WeakKeyDictionary[Any, tuple[_Kept, _Kept]] = WeakKeyDictionary()
_SUBJECT, _PREDICATE, _OBJECT = map(Variable, "spo")


def _rules(stated: Iterable[Triple], store: Store) -> Rules:
    iris = store.iris
    by_key: dict[NamedNode, list[Triple]] = {}
    for triple in sorted(stated, key=str):
        by_key.setdefault(triple.predicate, []).append(triple)
    symmetric, transitive, inverse = (
        by_key.get(NamedNode(vocab.ATTRIBUTE + key), [])
        for key in (IS_SYMMETRIC, IS_TRANSITIVE, INVERSE_OF)
    )
    inverses: dict[NamedNode, list[NamedNode]] = {}
    for triple in inverse:
        one = cast(NamedNode, triple.subject)
        for other in _inverses(triple, iris):
            inverses.setdefault(one, []).append(other)
            inverses.setdefault(other, []).append(one)
    return Rules(
        iris,
        _below(by_key.get(iris.predicate(SUBCLASS_OF), []), iris.concept_types),
        _below(by_key.get(iris.predicate(SUBPROPERTY_OF), []), iris.predicates),
        _true(symmetric),
        _true(transitive),
        inverses,
    )


def _below(facts: Iterable[Triple], kind: str) -> dict[NamedNode, list[NamedNode]]:
    """What is directly below each definition of a kind."""
    below: dict[NamedNode, list[NamedNode]] = {}
    for fact in facts:
        lower, upper = cast(NamedNode, fact.subject), cast(NamedNode, fact.object)
        if lower.value.startswith(kind) and upper.value.startswith(kind):
            below.setdefault(upper, []).append(lower)
    return below


def _true(triples: Iterable[Triple]) -> frozenset[NamedNode]:
    return frozenset(
        cast(NamedNode, t.subject) for t in triples if to_json(cast(Any, t.object)) is True
    )


def _inverses(triple: Triple, iris: Iris) -> Iterator[NamedNode]:
    """The predicates that an ``inverse_of`` names, also those that are defined later."""
    value = to_json(cast(Any, triple.object))
    for name in value if isinstance(value, list) else [value]:
        if isinstance(name, str) and is_identifier(name):
            yield iris.predicate(name)


@dataclass(frozen=True, eq=False)
class Clusters:
    """Concepts that are connected by ``same_as``: the one with the smallest id stands for all."""

    representatives: Mapping[NamedNode, NamedNode]
    members: Mapping[NamedNode, Sequence[NamedNode]]

    def of(self, node: Any) -> Sequence[Any]:
        """The elements that a representative stands for; another term is alone."""
        return self.members.get(node) or (node,)

    def representative(self, term: Any) -> Any:
        """What stands for a term; of a fact, one with what stands for its ends."""
        if isinstance(term, Triple):
            ends = (self.representative(end) for end in (term.subject, term.object))
            subject, object_ = ends
            return Triple(subject, term.predicate, object_)
        return self.representatives.get(term, term)


def _clusters(stated: Iterable[Triple], iris: Iris) -> Clusters | None:
    """The clusters of concepts that some facts connect; None for none."""
    beside: dict[NamedNode, set[NamedNode]] = {}
    for fact in stated:
        one, other = cast(NamedNode, fact.subject), cast(NamedNode, fact.object)
        if iris.type_of(one) is not None and iris.type_of(other) is not None:
            beside.setdefault(one, set()).add(other)
            beside.setdefault(other, set()).add(one)
    representatives: dict[NamedNode, NamedNode] = {}
    members: dict[NamedNode, Sequence[NamedNode]] = {}
    for start in beside:
        if start not in representatives:
            cluster = [start]
            reached = {start}
            for node in cluster:  # which grows
                cluster += sorted(beside[node] - reached, key=iris.id)
                reached |= beside[node]
            first = min(cluster, key=iris.id)
            representatives.update(dict.fromkeys(cluster, first))
            members[first] = cluster
    return Clusters(representatives, members) if members else None


# What a FIND is compiled for ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sight:
    """What a FIND sees of a store: not all elements of the ``disbelieved`` types and predicates,
    and what follows by the ``rules``; where it ``merges``, what is the same is one element."""

    disbelieved: frozenset[NamedNode] = frozenset()
    rules: Rules | None = None
    merges: bool = False


STATED = Sight()
"""All that is stated, and nothing else."""
STANDS_FOR = NamedNode(vocab.FUNCTION + "stands_for")
"""Leads, where what is the same is one, from an element to the one that stands for it."""


def sight_of(store: Store) -> Sight:
    """What a FIND sees of a store."""
    if not isinstance(store, BelievedStore):
        return STATED
    if store.sight is None:
        disbelieved = frozenset() if store.view is None else store.view.kinds
        store.sight = Sight(disbelieved, store.rules, store.clusters is not None)
    return store.sight


# Why a pattern matches ----------------------------------------------------------------------------


class Inferred(NamedTuple):
    """A rule, the type or predicate that it is applied to, and the propositions it is applied to:
    those between definitions, too."""

    by: str
    of: NamedNode
    sources: tuple[NamedNode, ...]


class Explanation(NamedTuple):
    """The propositions that a pattern matches, in their order from its subject to its object, and
    the rules that lead from them to the pattern; none where it is stated as it is."""

    links: tuple[NamedNode, ...]
    inferred: tuple[Inferred, ...]


class Explanations:
    """Says why patterns of a FIND match in a store, with the fewest propositions.

    >>> from kiprdf import Nexus
    >>> nexus = Nexus.memory()
    >>> _ = nexus.execute('''UPSERT {
    ...     CONCEPT ?bo { {type: "Person", name: "Bo"} }
    ...     CONCEPT { {type: "Person", name: "Al"} SET PROPOSITIONS {
    ...         ("collaborates_with", ?bo) } } }''')
    >>> store = entailed(nexus.store, True)
    >>> iris = store.iris
    >>> ends = iris.concept("Person", "Bo"), iris.concept("Person", "Al")
    >>> why = Explanations(store).of_fact(iris.predicate("collaborates_with"), *ends)
    >>> [(each.by, iris.id(each.of), len(each.sources)) for each in why.inferred]
    [('is_symmetric', 'C:$PropositionType/collaborates_with', 1)]
    """

    def __init__(self, store: Store) -> None:
        self._store, self._rules, self._clusters = store, rules_of(store), clusters_of(store)
        self._paths: dict[tuple[NamedNode, tuple[Step, ...], int], ShortestPaths] = {}

    def of_type(self, type: NamedNode, concept: NamedNode) -> Explanation | None:
        """Why ``{type: …}`` matches a concept; None where it does not.

        ``type`` is the definition, as ``iris.type(name)``.
        """
        types = (type,) if self._rules is None else self._rules.types(type)
        for member in self.members(concept):
            own = self._store.iris.type_of(member)
            if own in types:
                inferred = self.same(member)
                if own is not None and own != type:
                    above = self._store.iris.predicate(SUBCLASS_OF)
                    facts = self._paths_from(own, ((above, True),), 1).to(type)
                    assert facts is not None, (own, type)
                    inferred.append(Inferred(SUBCLASS_OF, type, self._links(facts)))
                return Explanation((), tuple(inferred))
        return None

    def of_fact(
        self,
        predicate: NamedNode,
        subject: NamedNode,
        object: NamedNode,
        hops: tuple[int, int | None] | None = None,
        stated: Triple | None = None,
    ) -> Explanation | None:
        """Why ``(subject, "predicate", object)`` matches; None where it does not, and where the
        fact that is ``stated`` is not a reason.

        ``hops`` are the bounds of ``"predicate"{m,n}``, which counts facts; None where the pattern
        has none, and a transitive predicate is a chain of any length.
        """
        rules = self._rules
        ends, start = (subject, object), (predicate, True)
        steps: _Steps = {start: None} if rules is None else rules.steps(start)
        if stated is not None:
            is_between = {*map(self._one, (stated.subject, stated.object))} == {*ends}
            is_reason = is_between and self._step(stated, subject, steps) in steps
            facts = [stated] if is_reason else None
        else:
            facts = self._shortest(steps, ends, hops or (1, 1))
        if facts is not None:
            return self._explanation(facts, self._along(facts, subject, steps))
        if stated is not None or rules is None or hops is not None:
            return None
        chains = [
            (chain, step)
            for step in steps
            if step[0] in rules.transitive
            and (chain := self._shortest(rules.steps(step), ends, (1, None))) is not None
        ]
        if not chains:
            return None
        chain, transitive = min(chains, key=lambda each: len(each[0]))
        inferred = [
            *self._applied(steps, transitive, *chain),
            Inferred(IS_TRANSITIVE, transitive[0], self._links(chain)),
            *self._along(chain, subject, rules.steps(transitive)),
        ]
        return self._explanation(chain, inferred)

    def _explanation(self, facts: list[Triple], inferred: list[Inferred]) -> Explanation:
        ends = (end for fact in facts for end in (fact.subject, fact.object))
        same = [rule for end in ends for rule in self.same(cast(NamedNode, end))]
        return Explanation(self._links(facts), tuple(dict.fromkeys((*same, *inferred))))

    def members(self, node: NamedNode) -> Iterable[NamedNode]:
        """An element, and those that it stands for, itself first."""
        others = () if self._clusters is None else self._clusters.of(node)
        return dict.fromkeys((node, *others))

    def _one(self, node: Any) -> NamedNode:
        """What stands for an element."""
        one = node if self._clusters is None else self._clusters.representative(node)
        return cast(NamedNode, one)

    def same(self, member: NamedNode) -> list[Inferred]:
        """Why an element is the one that stands for it; nothing where it stands for itself."""
        one = self._one(member)
        if one == member:
            return []
        same = self._store.iris.predicate(SAME_AS)
        steps = ((same, True), (same, False))
        facts = ShortestPaths(member, steps, 1, self._store, merges=False).to(one)
        return [Inferred(SAME_AS, one, self._links(facts or ()))]

    def _shortest(
        self,
        steps: Iterable[Step],
        ends: tuple[NamedNode, NamedNode],
        hops: tuple[int, int | None],
    ) -> list[Triple] | None:
        """The facts of a shortest chain, with numbers of hops that are allowed."""
        least, most = hops
        facts = self._paths_from(ends[0], tuple(steps), least).to(ends[1], most)
        return None if facts is None or (most is not None and len(facts) > most) else facts

    def _paths_from(self, start: NamedNode, steps: tuple[Step, ...], least: int) -> ShortestPaths:
        key = start, steps, least
        if key not in self._paths:
            self._paths[key] = ShortestPaths(*key, self._store)
        return self._paths[key]

    def _links(self, facts: Iterable[Triple]) -> tuple[NamedNode, ...]:
        links = (link_of(self._store, fact) for fact in facts)
        return tuple(link for link in links if link is not None)

    def _along(self, facts: Iterable[Triple], start: NamedNode, steps: _Steps) -> list[Inferred]:
        """The rules by which each fact of a chain is one of the steps."""
        rules: list[Inferred] = []
        at = start
        for fact in facts:
            step = self._step(fact, at, steps)
            rules += self._applied(steps, step, fact)
            at = self._one(fact.object if step[1] else fact.subject)
        return rules

    def _step(self, fact: Triple, start: NamedNode, steps: _Steps) -> Step:
        """The step that a fact is, read from one of its ends."""
        forward = (fact.predicate, True)
        is_forward = self._one(fact.subject) == start and forward in steps
        return forward if is_forward else (fact.predicate, False)

    def _applied(self, steps: _Steps, step: Step, *facts: Triple) -> list[Inferred]:
        """The rules that lead from a predicate to a step, for some facts of it."""
        rules: list[Inferred] = []
        before = steps[step]
        while before is not None:
            at, (by, of, stated) = before
            sources = (stated, *facts) if stated is not None else facts
            rules.append(Inferred(by, of, self._links(sources)))
            before = steps[at]
        return rules[::-1]


_State: TypeAlias = tuple[NamedNode, int]
"""A node, and the hops to it; beyond the least number of a walk more make no difference."""


class ShortestPaths:
    """The shortest walks from a node along some steps over facts that are believed, with a least
    number of hops; of walks that are equally short, along the first steps."""

    def __init__(
        self,
        start: NamedNode,
        steps: tuple[Step, ...],
        least: int,
        store: Store,
        merges: bool = True,
    ) -> None:
        self._steps, self._least, self._store = steps, least, store
        self._clusters = clusters_of(store) if merges else None
        view = view_of(store)
        self._hidden: frozenset[object] = frozenset() if view is None else view.hidden
        self._before: dict[_State, tuple[_State, Triple] | None] = {(start, 0): None}
        self._hops: dict[_State, int] = {(start, 0): 0}
        self._pending = deque([(start, 0)])

    def to(self, end: NamedNode, most: int | None = None) -> list[Triple] | None:
        """The facts of a shortest walk to a node; None if there is none, or none so short."""
        reached = end, self._least
        while reached not in self._before and self._pending:
            if most is not None and self._hops[self._pending[0]] >= most:
                return None
            budget.check()
            self._step(self._pending.popleft())
        if reached not in self._before:
            return None
        facts = []
        at = self._before[reached]
        while at is not None:
            facts.append(at[1])
            at = self._before[at[0]]
        return facts[::-1]

    def _step(self, state: _State) -> None:
        node, hops = state
        clusters = self._clusters
        members = (node,) if clusters is None else clusters.of(node)
        for (predicate, forward), member in product(self._steps, members):
            ends = (member, None) if forward else (None, member)
            for fact in self._store.match(ends[0], predicate, ends[1]):
                end = cast(NamedNode, fact.object if forward else fact.subject)
                if clusters is not None:
                    end = clusters.representative(end)
                stated = Triple(fact.subject, fact.predicate, fact.object)
                following = end, min(hops + 1, self._least)
                if following not in self._before and not {end, stated} & self._hidden:
                    self._before[following] = state, stated
                    self._hops[following] = self._hops[state] + 1
                    self._pending.append(following)
