"""Concept and proposition clauses as parts of a group (KIP 3.4.1, 3.4.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import field
from typing import TypeAlias, cast

from pyoxigraph import NamedNode, Variable

from kiprdf.dataclasses import dataclass
from kiprdf.kql.comparisons import FALSE, believed
from kiprdf.kql.entailment import STANDS_FOR, Rules
from kiprdf.kql.holes import ElementOf, OpenPlaceholder, concept_term, value_term
from kiprdf.kql.scopes import Binding, NameScope, Scope
from kiprdf.language import ast
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.semantics.scope import mentions
from kiprdf.sparql.algebra import (
    BGP,
    Alternative,
    Call,
    Expression,
    Hole,
    HopRange,
    Hops,
    OneOf,
    Pattern,
    Term,
    TriplePattern,
    TripleTerm,
    Union,
    is_iri,
    steps_of,
)

Node: TypeAlias = Variable | NamedNode | Hole
Clause: TypeAlias = ast.ConceptClause | ast.PropositionClause

MISSING = NamedNode(vocab.KIP + "missing")
"""Stands for the element of a text that is not an id; it is never stored, so nothing matches."""


@dataclass
class Parts:
    """The clauses of a group.

    ``bindings`` are the names it binds, ``constants`` those among them that stand for one exact
    identity, ``conditions`` what its solutions must satisfy besides its FILTERs.
    """

    patterns: list[Pattern] = field(default_factory=list)
    bindings: dict[str, Binding] = field(default_factory=dict)
    constants: dict[str, Binding] = field(default_factory=dict)
    conditions: list[Expression] = field(default_factory=list)


def required(
    where: ast.Block, iris: Iris, rules: Rules | None = None
) -> dict[tuple[NamedNode | Hole, ...], Clause]:
    """The exact identities of the mandatory pattern of a WHERE: of each tuple, one must exist."""
    clauses = _exact_clauses(
        clause
        for clause in where.clauses
        if isinstance(clause, ast.ConceptClause | ast.PropositionClause)
    )
    identities: dict[tuple[NamedNode | Hole, ...], Clause] = {}
    for clause in clauses:
        nodes = exact_terms(clause, iris, rules)
        if nodes:
            identities.setdefault(nodes, clause)
    return identities


def names_only_elements(where: ast.Block) -> bool:
    """Whether a WHERE only has concepts, and propositions by their ids."""
    return all(
        isinstance(clause, ast.ConceptClause | ast.PropositionClause)
        and not isinstance(clause.matcher, ast.PropositionMatcher)
        for clause in where.clauses
    )


def exact_node(clause: Clause, iris: Iris) -> NamedNode | None:
    """``exact_term`` of a clause without holes."""
    term = exact_term(clause, iris)
    assert not isinstance(term, Hole)
    return term


def exact_term(clause: Clause, iris: Iris) -> NamedNode | Hole | None:
    """The node of an exact identity, ``{type, name}``, ``{id}`` or ``(id:)``; None for a pattern.

    An id of another form, or of the other kind, gets a node that never exists.
    """
    matcher = clause.matcher
    if isinstance(matcher, ast.PropositionMatcher):
        return None
    if isinstance(matcher, ast.ConceptMatcher) and matcher.id is None:
        if matcher.type is None or matcher.name is None:
            return None
        return concept_term(checked_text(matcher.type), matcher.name, iris)
    if isinstance(matcher.id, OpenPlaceholder):
        return Hole(ElementOf(matcher.id.name), "iri")
    is_link = isinstance(matcher, ast.PropositionId)
    return node_of_id(checked_text(cast(ast.Value, matcher.id)), is_link, iris)


def exact_terms(clause: Clause, iris: Iris, rules: Rules | None) -> tuple[NamedNode | Hole, ...]:
    """The nodes of an exact identity: of a type and a name, one for each type below it."""
    node = exact_term(clause, iris)
    if node is None:
        return ()
    matcher = clause.matcher
    if rules is None or not isinstance(matcher, ast.ConceptMatcher) or matcher.type is None:
        return (node,)
    assert matcher.name is not None
    names = (iris.concept_name(t.value) for t in rules.types(iris.type(checked_text(matcher.type))))
    return tuple(concept_term(cast(str, name), matcher.name, iris) for name in names)


def node_of_id(id: str, is_link: bool, iris: Iris) -> NamedNode:
    """The node of a concept's, or a proposition's, id."""
    node = iris.from_id(id)
    if node is None or node.value.startswith(iris.propositions) != is_link:
        return MISSING
    return node


def checked_text(value: ast.Value) -> str:
    """The string of a value that was checked to be one."""
    return cast(str, cast(ast.Scalar, value).value)


def parts(clauses: list[Clause], scope: Scope, frame: NameScope, iris: Iris) -> Parts:
    """The parts of a group; ``scope`` is what is bound before it, nothing of it nullable."""
    builder = _Builder(clauses, scope, frame, iris)
    for clause in clauses:
        builder.clause(clause)
    patterns = builder.result.patterns
    ends = {end for pattern in patterns if isinstance(pattern, BGP) for end in _fact_ends(pattern)}
    builder.result.patterns = [p for p in patterns if _exact_in(p) not in ends]
    return builder.result


def _fact_ends(pattern: BGP) -> Iterable[object]:
    """The ends of the facts among some triples: they exist where the facts do."""
    for triple in pattern.triples:
        if triple.predicate not in (vocab.TYPE, vocab.LABEL, vocab.REIFIES):
            yield from (triple.subject, triple.object)


def _exact_in(pattern: Pattern) -> NamedNode | Hole | None:
    """The element of a pattern that only says that it exists."""
    match pattern:
        case BGP((TriplePattern(subject=exact, predicate=vocab.TYPE, object=Variable()),)):
            return exact if is_iri(exact) else None
    return None


class _Builder:
    def __init__(self, clauses: list[Clause], scope: Scope, frame: NameScope, iris: Iris) -> None:
        self.result = Parts()
        self._scope = scope
        self._frame = frame
        self._iris = iris
        self._fresh = frame.namer.fresh
        self._disbelieved = frame.sight.disbelieved
        self._rules = frame.sight.rules
        self._mentions = Counter(v.name for clause in clauses for v, _ in mentions(clause))
        self._name_constants(_exact_clauses(clauses))

    def _name_constants(self, clauses: Iterable[Clause]) -> None:
        """A new name with an exact identity is a constant in the whole group."""
        for clause in clauses:
            nodes = exact_terms(clause, self._iris, self._rules)
            name = clause.variable.name if clause.variable else None
            if len(nodes) != 1 or name is None or name in self._scope:
                continue
            if name not in self.result.constants:
                binding = Binding(self._frame.carrier(name), nodes[0])
                self.result.bindings[name] = self.result.constants[name] = binding

    def _node(self, name: str, predicate: bool = False) -> Node:
        """What patterns mention for a KQL variable."""
        binding = self._scope.get(name) or self.result.bindings.get(name)
        if binding is None:
            carrier = self._frame.carrier(name)
            binding = Binding(carrier, carrier, predicate=predicate)
            self.result.bindings[name] = binding
        return binding.term

    def _add(self, *triples: TriplePattern) -> None:
        self.result.patterns.append(BGP(triples))

    def _any(self, *branches: BGP) -> None:
        self.result.patterns.append(branches[0] if len(branches) == 1 else Union(branches))

    def _believe(self, kinds: Iterable[NamedNode], *terms: Node) -> None:
        """Require that an element, or the fact of three terms, is believed, where not all of its
        possible kinds are."""
        if not self._disbelieved.isdisjoint(kinds):
            self.result.conditions.append(believed(*terms))

    def clause(self, clause: Clause) -> Node:
        """Add the parts of a clause; the node it matches."""
        if isinstance(clause, ast.ConceptClause):
            return self._concept(clause)
        if isinstance(clause.matcher, ast.PropositionId):
            return self._exact(clause, vocab.REIFIES)
        name = clause.variable.name if clause.variable else None
        return self._proposition(clause.matcher, name, nested=False)

    def _concept(self, clause: ast.ConceptClause) -> Node:
        matcher = clause.matcher
        exact = exact_terms(clause, self._iris, self._rules)
        if len(exact) == 1:
            return self._exact(clause, vocab.TYPE)
        node = self._node(clause.variable.name) if clause.variable else self._fresh("concept")
        if self._frame.sight.merges and exact:
            # One element has the type and the name.
            self._any(*(BGP((TriplePattern(each, STANDS_FOR, node),)) for each in exact))
            return node
        definitions: tuple[NamedNode, ...] = (vocab.TYPE,)
        if matcher.type is not None:
            definitions = (self._iris.type(checked_text(matcher.type)),)
            if self._rules is not None:
                definitions = self._rules.types(*definitions)
            is_one = len(definitions) == 1
            types = definitions[0] if is_one else OneOf(definitions, (), vocab.TEXTS)
            self._add(TriplePattern(node, vocab.TYPE, types))
        self._believe(definitions, node)
        if matcher.name is not None:
            self._add(TriplePattern(node, vocab.LABEL, value_term(matcher.name)))
        if matcher.type is None and matcher.name is None:
            self._add(TriplePattern(node, vocab.TYPE, self._fresh("type")))
        return node

    def _exact(self, clause: Clause, predicate: NamedNode) -> Node:
        """One element by its identity; it must exist for the clause to match."""
        exact = exact_term(clause, self._iris)
        assert exact is not None
        if exact not in self._frame.existing:
            self._add(TriplePattern(exact, predicate, self._fresh("exists")))
        kind = self._iris.type_of(exact) if isinstance(exact, NamedNode) else None
        if isinstance(clause.matcher, ast.ConceptMatcher) and clause.matcher.type is not None:
            kind = self._iris.type(checked_text(clause.matcher.type))
        self._believe((kind or predicate,), exact)
        if clause.variable is None:
            return exact
        node = self._node(clause.variable.name)
        if node != exact:
            self.result.conditions.append(Call("sameTerm", (node, exact)))
        return node

    def _endpoint(self, endpoint: ast.Endpoint) -> Node:
        match endpoint:
            case ast.Variable():
                return self._node(endpoint.name)
            case ast.ConceptClause() | ast.PropositionClause(matcher=ast.PropositionId()):
                return self.clause(endpoint)
            case ast.PropositionClause(matcher=ast.PropositionMatcher() as matcher):
                name = endpoint.variable.name if endpoint.variable else None
                return self._proposition(matcher, name, nested=True)
            case _:
                raise AssertionError(endpoint)

    def _proposition(self, matcher: ast.PropositionMatcher, name: str | None, nested: bool) -> Node:
        """Add one structural clause. As an endpoint it needs its link, so a hop clause matches
        there only where the link of one hop exists."""
        subject = self._endpoint(matcher.subject)
        if isinstance(matcher.predicate, ast.Variable):
            predicate: Node = self._node(matcher.predicate.name, predicate=True)
            object_ = self._endpoint(matcher.object)
            link = self._node(name) if name else self._fresh("link")
            self._add(*reified(subject, predicate, object_, link))
            self._believe((vocab.REIFIES,), link)
            return link
        object_ = self._endpoint(matcher.object)
        linked = nested or (name is not None and self._is_used_elsewhere(name))
        ranges = _ranges(matcher.predicate, self._iris, linked, self._rules)
        if any((hop.minimum, hop.maximum) != (1, 1) for hop in ranges):
            carrier = None if name is None else self._frame.carrier(name)
            if name is not None and carrier is not None:
                self.result.bindings[name] = Binding(carrier, carrier, nullable=True)
            # No hop at all may be at any element.
            kinds = [predicate for hop in ranges for predicate, _ in steps_of(hop.predicate)]
            kinds += vocab.IDENTITY * any(hop.minimum == 0 for hop in ranges)
            are_believed = not self._disbelieved.isdisjoint(kinds)
            self.result.patterns.append(Hops(subject, ranges, object_, carrier, are_believed))
            return self._fresh("none")
        link = self._node(name) if name else self._fresh("link")
        steps = dict.fromkeys(step for hop in ranges for step in steps_of(hop.predicate))
        self._one_hop(subject, list(steps), object_, link, bool(name or nested))
        return link

    def _is_used_elsewhere(self, name: str) -> bool:
        """Another clause mentions the link, so the solutions in which it is null are dropped."""
        return name in self._scope or self._mentions[name] > 1

    def _one_hop(
        self,
        subject: Node,
        steps: list[tuple[NamedNode, bool]],
        object_: Node,
        link: Node,
        linked: bool,
    ) -> None:
        """Add the facts of some predicates, each forward or reversed."""
        predicates = [predicate for predicate, _ in steps]
        if not predicates:
            self.result.conditions.append(FALSE)
        elif len(steps) == 1 and steps[0][1]:
            triples = reified(subject, predicates[0], object_, link)
            self._add(*triples[: None if linked else 1])
            self._believe(predicates, subject, predicates[0], object_)
        elif not linked and all(f for _, f in steps) and self._disbelieved.isdisjoint(predicates):
            self._add(TriplePattern(subject, Alternative(tuple(predicates)), object_))
        else:
            linked = linked or not self._disbelieved.isdisjoint(predicates)
            self._believe(predicates, link)
            ends = (((subject, object_) if f else (object_, subject), p) for p, f in steps)
            facts = (reified(one, p, other, link) for (one, other), p in ends)
            self._any(*(BGP(fact[: None if linked else 1]) for fact in facts))


def _exact_clauses(clauses: Iterable[ast.Endpoint]) -> Iterable[Clause]:
    """Every clause with an exact identity, endpoints included."""
    for clause in clauses:
        if isinstance(clause, ast.Variable):
            continue
        if isinstance(clause.matcher, ast.PropositionMatcher):
            yield from _exact_clauses((clause.matcher.subject, clause.matcher.object))
        else:
            yield clause


def _ranges(
    predicates: ast.Predicates, iris: Iris, linked: bool, rules: Rules | None
) -> tuple[HopRange, ...]:
    """The predicates of a clause with their hop ranges; without one it is one hop, or a chain of
    any length where one is transitive by the rules.

    A clause whose link must exist is direct where its range allows one hop, and never matches
    where it does not.
    """
    ranges: list[HopRange] = []
    for name in predicates.alternatives:
        predicate = iris.predicate(name.name)
        path = None if rules is None else rules.path(predicate)
        steps = predicate if path is None else _alone(path.steps)
        hops = name.hops or ast.Hops(1, 1)
        hop = HopRange(steps, hops.minimum, hops.maximum)
        if linked:
            if not contains_one(hop):
                continue
            hop = HopRange(steps, 1, 1)
        elif path is not None and path.closures and name.hops is None:
            ranges += (HopRange(_alone(each), 1, None, path.steps) for each in path.closures)
            if path.steps in path.closures:
                continue
        ranges.append(hop)
    return tuple(dict.fromkeys(ranges))


def _alone(steps: Alternative) -> NamedNode | Alternative:
    """The one predicate of some steps, or all of them."""
    is_one = len(steps.predicates) == 1 and not steps.inverses
    return steps.predicates[0] if is_one else steps


def contains_one(hop: HopRange | ast.Hops) -> bool:
    """Whether a range allows a pair that is one hop apart."""
    return hop.minimum <= 1 and (hop.maximum is None or hop.maximum >= 1)


def reified(
    subject: Term, predicate: Term, object_: Term, link: Term
) -> tuple[TriplePattern, TriplePattern]:
    """The asserted triple first: a reifier alone would be looked for among all of them."""
    fact = TripleTerm(subject, predicate, object_)
    return (
        TriplePattern(subject, predicate, object_),
        TriplePattern(link, vocab.REIFIES, fact),
    )
