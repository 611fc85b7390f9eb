"""Concept and proposition clauses as units to be joined (KIP 3.4.1, 3.4.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias, cast

from pyoxigraph import NamedNode, Variable

from kiprdf.kql import fetches, paths
from kiprdf.kql.anchors import Value
from kiprdf.kql.expressions import FALSE
from kiprdf.kql.holes import ElementOf, OpenPlaceholder, concept_term, value_term
from kiprdf.kql.joins import Alone, Emit, Plain, Unit, lateral
from kiprdf.kql.scopes import Binding, Frame, Scope
from kiprdf.language import ast
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.semantics.scope import mentions
from kiprdf.sparql.algebra import (
    BGP,
    UNIT,
    Alternative,
    Call,
    Expression,
    Filter,
    Hole,
    Lateral,
    LeftJoin,
    Pattern,
    TriplePattern,
    TripleTerm,
    Union,
    is_iri,
    variables,
)

Node: TypeAlias = Variable | NamedNode | Hole
Clause: TypeAlias = ast.ConceptClause | ast.PropositionClause

_MISSING = NamedNode(vocab.KIP + "missing")
"""The node of an id that is none; it is never stored, so nothing matches it."""


@dataclass
class Units:
    """What a segment is made of.

    ``bindings`` are the names it binds, ``constants`` those among them that stand for one exact
    identity, ``conditions`` what its solutions must satisfy besides.
    """

    units: list[Unit] = field(default_factory=list)
    bindings: dict[str, Binding] = field(default_factory=dict)
    constants: dict[str, Binding] = field(default_factory=dict)
    conditions: list[Expression] = field(default_factory=list)


def required(where: ast.Block, iris: Iris) -> dict[NamedNode | Hole, Clause]:
    """The exact identities of the mandatory pattern of a WHERE, which must exist."""
    clauses = exact_clauses(
        clause
        for clause in where.clauses
        if isinstance(clause, ast.ConceptClause | ast.PropositionClause)
    )
    found: dict[NamedNode | Hole, Clause] = {}
    for clause in clauses:
        node = exact_term(clause, iris)
        if node is not None:
            found.setdefault(node, clause)
    return found


def exact_node(clause: Clause, iris: Iris) -> NamedNode | None:
    """``exact_term`` of a clause without holes."""
    term = exact_term(clause, iris)
    assert not isinstance(term, Hole)
    return term


def exact_term(clause: Clause, iris: Iris) -> NamedNode | Hole | None:
    """The node of an exact identity, ``{type, name}``, ``{id}`` or ``(id:)``; None for a pattern.

    An id that is not of our shape, or of the other kind, gets a node that exists nowhere.
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
    node = iris.from_id(checked_text(cast(ast.Value, matcher.id)))
    is_link = node is not None and node.value.startswith(iris.propositions)
    if node is None or is_link != isinstance(matcher, ast.PropositionId):
        return _MISSING
    return node


def checked_text(value: ast.Value) -> str:
    """The string of a value that the check has found to be one."""
    return cast(str, cast(ast.Scalar, value).value)


def units(
    clauses: list[Clause], values: list[Value], scope: Scope, frame: Frame, iris: Iris
) -> Units:
    """The units of a segment; ``scope`` is what is bound before it, nothing of it nullable."""
    segment = _Segment(clauses, values, scope, frame, iris)
    for clause in clauses:
        segment.clause(clause)
    for value in values:
        segment.value(value)
    return segment.result


class _Segment:
    def __init__(
        self,
        clauses: list[Clause],
        values: list[Value],
        scope: Scope,
        frame: Frame,
        iris: Iris,
    ) -> None:
        self.result = Units()
        self._scope = scope
        self._frame = frame
        self._iris = iris
        self._fresh = frame.namer.fresh
        self._mentioned = Counter(v.name for clause in clauses for v, _ in mentions(clause))
        self._mentioned.update(value.name for value in values)
        self._name_constants(exact_clauses(clauses))

    def _name_constants(self, clauses: Iterable[Clause]) -> None:
        """A new name with an exact identity stands for a constant in the whole segment."""
        for clause in clauses:
            node = exact_term(clause, self._iris)
            name = clause.variable.name if clause.variable else None
            if node is None or name is None or name in self._scope:
                continue
            if name not in self.result.constants:
                binding = Binding(self._frame.carrier(name), node)
                self.result.bindings[name] = self.result.constants[name] = binding

    def _node(self, name: str, predicate: bool = False) -> Node:
        """What patterns mention for a KQL variable."""
        binding = self._scope.get(name) or self.result.bindings.get(name)
        if binding is None:
            carrier = self._frame.carrier(name)
            binding = Binding(carrier, carrier, predicate=predicate)
            self.result.bindings[name] = binding
        return binding.term

    def _plain(self, *triples: TriplePattern) -> None:
        self.result.units.append(Plain(triples))

    def _alone(self, pattern: Pattern, ends: Iterable[Node]) -> None:
        def emit(left: Pattern, bound: set[Variable]) -> Pattern:
            bound |= variables(pattern)
            return lateral(left, pattern)

        self.result.units.append(_unit(emit, variables(pattern), tuple(ends)))

    # Clauses ----------------------------------------------------------------------------------

    def value(self, value: Value) -> None:
        """Add what a condition demands of an element."""
        self._plain(TriplePattern(self._node(value.name), value.predicate, value.value))

    def clause(self, clause: Clause) -> Node:
        """Add the units of a clause; the node it matches."""
        if isinstance(clause, ast.ConceptClause):
            return self._concept(clause)
        if isinstance(clause.matcher, ast.PropositionId):
            return self._exact(clause, vocab.REIFIES)
        name = clause.variable.name if clause.variable else None
        return self._proposition(clause.matcher, name, nested=False)

    def _concept(self, clause: ast.ConceptClause) -> Node:
        matcher = clause.matcher
        if exact_term(clause, self._iris) is not None:
            return self._exact(clause, vocab.TYPE)
        node = self._node(clause.variable.name) if clause.variable else self._fresh("concept")
        if matcher.type is not None:
            definition = self._iris.type(checked_text(matcher.type))
            self._plain(TriplePattern(node, vocab.TYPE, definition))
        if matcher.name is not None:
            self._plain(TriplePattern(node, vocab.LABEL, value_term(matcher.name)))
        return node

    def _exact(self, clause: Clause, predicate: NamedNode) -> Node:
        """One element by its identity; it must exist for the clause to match."""
        exact = exact_term(clause, self._iris)
        assert exact is not None
        if exact not in self._frame.probed:
            self._plain(TriplePattern(exact, predicate, self._fresh("exists")))
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
            self._alone(BGP(_reified(subject, predicate, object_, link)), (subject, object_))
            return link
        object_ = self._endpoint(matcher.object)
        linked = nested or (name is not None and self._is_used_elsewhere(name))
        alternatives = _alternatives(matcher.predicate, self._iris, linked)
        if any(hops is not None for _, hops in alternatives):
            self._hops(subject, alternatives, object_, name)
            return self._fresh("none")
        link = self._node(name) if name else self._fresh("link")
        self._one_hop(subject, [p for p, _ in alternatives], object_, link, bool(name or nested))
        return link

    def _is_used_elsewhere(self, name: str) -> bool:
        """Another clause mentions the link, so the solutions in which it is null are dropped."""
        return name in self._scope or self._mentioned[name] > 1

    def _one_hop(
        self,
        subject: Node,
        predicates: list[NamedNode],
        object_: Node,
        link: Node,
        linked: bool,
    ) -> None:
        ends = (subject, object_)
        if not predicates:
            self.result.conditions.append(FALSE)
        elif len(predicates) == 1 and linked:
            self._plain(*_reified(subject, predicates[0], object_, link))
        elif len(predicates) == 1:
            self._plain(TriplePattern(subject, predicates[0], object_))
        elif linked:
            branches = (BGP(_reified(subject, p, object_, link)) for p in predicates)
            self._alone(Union(tuple(branches)), ends)
        else:
            path = Alternative(tuple(predicates))
            self._alone(BGP((TriplePattern(subject, path, object_),)), ends)

    # Hops -------------------------------------------------------------------------------------

    def _hops(
        self,
        subject: Node,
        alternatives: list[tuple[NamedNode, ast.Hops | None]],
        object_: Node,
        link_name: str | None,
    ) -> None:
        link: Binding | None = None
        if link_name is not None:
            carrier = self._frame.carrier(link_name)
            link = Binding(carrier, carrier, nullable=True)
            self.result.bindings[link_name] = link

        def emit(left: Pattern, bound: set[Variable]) -> Pattern:
            hop = _HopClause(subject, alternatives, object_, link, link_name)
            return self._emit_hop(left, hop, bound)

        names = variables((subject, object_)) | ({link.carrier} if link else set())
        self.result.units.append(_unit(emit, names, (subject, object_)))

    def _emit_hop(self, left: Pattern, hop: _HopClause, bound: set[Variable]) -> Pattern:
        """Expand from the better end that is bound; check the other end behind."""
        subject, object_ = hop.subject, hop.object
        if not _is_bound(subject, bound) and not _is_bound(object_, bound):
            left = lateral(left, self._starts(cast(Variable, subject), hop))
            bound.add(cast(Variable, subject))
        forward = _is_bound(subject, bound) and (is_iri(subject) or not is_iri(object_))
        near, far = (subject, object_) if forward else (object_, subject)
        checked = _is_bound(far, bound)
        reached = self._fresh("far") if checked else cast(Variable, far)
        branches = tuple(
            self._branch(near, predicate, hops, reached, forward, hop)
            for predicate, hops in hop.alternatives
        )
        right = branches[0] if len(branches) == 1 else Union(branches)
        joined = lateral(left, right)
        bound.add(reached)
        if hop.link is not None:
            bound.add(hop.link.carrier)
        return Filter(joined, Call("sameTerm", (reached, far))) if checked else joined

    def _starts(self, near: Variable, hop: _HopClause) -> Pattern:
        """Every node from which a clause with two free ends may start."""
        if any(hops is not None and hops.minimum == 0 for _, hops in hop.alternatives):
            return paths.element(near, self._fresh)
        found = tuple(
            paths.starts(near, predicate, True, self._fresh) for predicate, _ in hop.alternatives
        )
        return found[0] if len(found) == 1 else Union(found)

    def _branch(
        self,
        near: Node,
        predicate: NamedNode,
        hops: ast.Hops | None,
        far: Variable,
        forward: bool,
        hop: _HopClause,
    ) -> Pattern:
        """The pairs of one alternative, with the link of the direct ones where it is named."""
        one = ast.Hops(1, 1) if hops is None else hops
        pairs = paths.hops(near, predicate, one, far, forward, self._fresh)
        if hop.link is None or not _contains_one(one):
            return pairs
        assert hop.link_name is not None
        subject, object_ = (near, far) if forward else (far, near)
        direct: Pattern = BGP(_reified(subject, predicate, object_, hop.link.carrier))
        # Values are fetched in here, since outside the link may be unbound.
        named = {hop.link_name: replace(hop.link, nullable=False)}
        direct = fetches.fetch(direct, named, self._frame, self._iris)
        return Lateral(pairs, LeftJoin(UNIT, direct))


@dataclass(frozen=True, slots=True)
class _HopClause:
    subject: Node
    alternatives: list[tuple[NamedNode, ast.Hops | None]]
    object: Node
    link: Binding | None
    link_name: str | None


def _unit(emit: Emit, names: set[Variable], ends: tuple[Node, ...]) -> Alone:
    free = frozenset(end for end in ends if isinstance(end, Variable))
    return Alone(emit, frozenset(names), free, anchored=len(free) < len(set(ends)))


def exact_clauses(clauses: Iterable[ast.Endpoint]) -> Iterable[Clause]:
    """Every clause with an exact identity, endpoints included."""
    for clause in clauses:
        if isinstance(clause, ast.Variable):
            continue
        if isinstance(clause.matcher, ast.PropositionMatcher):
            yield from exact_clauses((clause.matcher.subject, clause.matcher.object))
        else:
            yield clause


def _alternatives(
    predicates: ast.Predicates, iris: Iris, linked: bool
) -> list[tuple[NamedNode, ast.Hops | None]]:
    """The predicates of a clause with their hop ranges; ``{1}`` is a plain predicate.

    A clause whose link must be there is direct where its range allows one hop, and never
    matches where it does not.
    """
    found: list[tuple[NamedNode, ast.Hops | None]] = []
    for name in predicates.alternatives:
        hops = None if name.hops == ast.Hops(1, 1) else name.hops
        if linked and hops is not None:
            if not _contains_one(hops):
                continue
            hops = None
        found.append((iris.predicate(name.name), hops))
    return list(dict.fromkeys(found))


def _contains_one(hops: ast.Hops) -> bool:
    return hops.minimum <= 1 and (hops.maximum is None or hops.maximum >= 1)


def _is_bound(node: Node, bound: set[Variable]) -> bool:
    return is_iri(node) or node in bound


def _reified(
    subject: Node, predicate: Node, object_: Node, link: Node
) -> tuple[TriplePattern, TriplePattern]:
    """The asserted triple first: a reifier alone would be looked for among all of them."""
    fact = TripleTerm(subject, predicate, object_)
    return (
        TriplePattern(subject, predicate, object_),
        TriplePattern(link, vocab.REIFIES, fact),
    )
