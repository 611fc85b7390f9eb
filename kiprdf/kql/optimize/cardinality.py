"""How many solutions a pattern may have, which may be alike, and what all of them have.

A query whose solutions are no more than the triples it reads needs no checks of its deadline
(docs/decisions/036). One in which no solution comes twice needs no DISTINCT. A link that nothing
reads is left out: each fact has exactly one, so its triple says as much, and the engine takes 25 µs
to find the link of a fact on disk, and 0.5 µs to count a triple.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from functools import reduce
from operator import or_
from typing import TypeAlias, cast

from pyoxigraph import NamedNode, Variable

from kiprdf.kql.comparisons import FALSE
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.sparql.algebra import (
    BGP,
    Alternative,
    AntiJoin,
    Condition,
    Extend,
    Filter,
    Group,
    Hops,
    In,
    Lateral,
    LeftJoin,
    OneOrMore,
    Pattern,
    Project,
    Term,
    TriplePattern,
    TripleTerm,
    Union,
    ZeroOrMore,
    is_iri,
    map_patterns,
    variables,
)
from kiprdf.trees import parts, walk

_FUNCTIONAL = (vocab.TYPE, vocab.LABEL, vocab.REIFIES)
"""Predicates of which an element is the subject once."""
_KEYS = (vocab.ATTRIBUTE, vocab.METADATA)
SHORT_LIST = 100
"""Items of an IN that a solution is compared with as quickly as it is found."""


def is_linear(pattern: Pattern) -> bool:
    """Whether at most one triple multiplies solutions: all others depend on its variables.

    A long list is not linear: each solution is compared with each of its items.
    """
    return _is_bound_by_one(_triples(pattern)) and not has_long_list(pattern)


def _required(pattern: Pattern) -> Iterator[Pattern]:
    """A pattern and the parts of it that every solution has, alternatives as one."""
    yield pattern
    match pattern:
        case Lateral():
            yield from _required(pattern.left)
            yield from _required(pattern.right)
        case LeftJoin() | AntiJoin():
            yield from _required(pattern.left)
        case Filter() | Extend() | Project():
            yield from _required(pattern.pattern)


def is_contradictory(pattern: Pattern) -> bool:
    """Whether a pattern can have no solution for any data."""
    return any(
        (isinstance(part, Filter) and part.condition == FALSE)
        or (isinstance(part, Union) and all(map(is_contradictory, part.branches)))
        for part in _required(pattern)
    )


def is_anchored(pattern: Pattern) -> bool:
    """Whether a pattern begins at an element that it names."""
    return any(
        is_iri(triple.subject) or (is_iri(triple.object) and triple.predicate != vocab.TYPE)
        for triple in _triples(pattern)
    )


def products(pattern: Pattern) -> list[tuple[Pattern, Pattern]]:
    """The pairs of patterns of which each solution meets each; inside NOT they need not."""
    pairs: list[tuple[Pattern, Pattern]] = []
    _products(pattern, pairs)
    return pairs


def filters_product(pattern: Pattern) -> bool:
    """Whether a FILTER or NOT applies to a product, and may drop most of its solutions."""
    match pattern:
        case Filter() | AntiJoin():
            inner = pattern.pattern if isinstance(pattern, Filter) else pattern.left
            return bool(products(inner))
        case Lateral() | LeftJoin():
            return filters_product(pattern.left) or filters_product(pattern.right)
        case Union():
            return any(map(filters_product, pattern.branches))
        case Extend() | Project():
            return filters_product(pattern.pattern)
        case BGP() | Group() | Hops():
            return False


def named_elements(pattern: Pattern, predicates: str) -> frozenset[Term]:
    """The elements that a pattern names, and that exist where it has a solution.

    IRIs of predicates begin with ``predicates``.
    """
    named: set[Term] = set()
    for part in _required(pattern):
        if isinstance(part, BGP):
            named.update(end for triple in part.triples for end in _ends(triple, predicates))
        elif isinstance(part, Union):
            branches = (named_elements(branch, predicates) for branch in part.branches)
            named |= frozenset.intersection(*branches)
    return frozenset(named)


def named_elements_with_value(pattern: Pattern) -> dict[Variable, Term]:
    """The values that optional triples of named elements bind, each with its element."""
    values: dict[Variable, Term] = {}
    for part in _required(pattern):
        match part:
            case LeftJoin(right=BGP((TriplePattern(subject=node, object=Variable() as value),))):
                values[value] = node
    return values


def _ends(triple: TriplePattern, predicates: str) -> Iterator[Term]:
    """The elements that exist if a triple does."""
    predicate, value = triple.predicate, triple.object
    if isinstance(predicate, ZeroOrMore):
        return
    yield triple.subject
    if isinstance(value, TripleTerm):
        yield value.subject
        yield value.object
    elif isinstance(predicate, OneOrMore | Alternative) or (
        isinstance(predicate, NamedNode) and predicate.value.startswith(predicates)
    ):
        yield cast(Term, value)


def has_long_list(node: object) -> bool:
    """Whether an expression compares with more items than a short list has."""
    lists = (part for part in walk(node) if isinstance(part, In))
    return any(len(part.options) > SHORT_LIST for part in lists)


def _products(pattern: Pattern, pairs: list[tuple[Pattern, Pattern]]) -> set[Variable]:
    """Add the pairs of a pattern; its variables."""
    match pattern:
        case Lateral():
            left, right = _products(pattern.left, pairs), variables(pattern.right)
            if not left & right and not (_is_single(pattern.left) or _is_single(pattern.right)):
                pairs.append((pattern.left, pattern.right))
            return left | right
        case Union():
            return set().union(*(_products(branch, pairs) for branch in pattern.branches))
        case LeftJoin():
            return _products(pattern.left, pairs) | variables(pattern.right)
        case AntiJoin():
            return _products(pattern.left, pairs)
        case Extend():
            return _products(pattern.pattern, pairs) | {pattern.variable}
        case Filter() | Project():
            return _products(pattern.pattern, pairs)
        case BGP() | Group() | Hops():
            return variables(pattern)


def _is_single(pattern: Pattern) -> bool:
    """Whether a pattern has one solution at most, for any data."""
    match pattern:
        case BGP():
            # No triple at all, or what an element that is named has but once.
            return not any(names for triple in pattern.triples for names in bound_together(triple))
        case AntiJoin():
            return _is_single(pattern.left)
        case Filter() | Extend():
            return _is_single(pattern.pattern)
        case _:
            return False


# How many triples multiply -----------------------------------------------------------------------


def _triples(pattern: Pattern) -> list[TriplePattern]:
    """The triples that are read together; of a UNION those of one branch, one that multiplies."""
    match pattern:
        case BGP():
            return list(pattern.triples)
        case Lateral() | LeftJoin() | AntiJoin():
            return _triples(pattern.left) + _triples(pattern.right)
        case Union():
            branches = [_triples(branch) for branch in pattern.branches]
            # Otherwise the one that binds most: one branch of a hop range reads nothing.
            most = max(branches, key=lambda branch: len(variables(tuple(branch))))
            return next((b for b in branches if not _is_bound_by_one(b)), most)
        case Filter() | Extend() | Project():
            return _triples(pattern.pattern)
        case Group() | Hops():
            raise AssertionError("order_joins replaces these")


Link: TypeAlias = tuple[set[Variable], set[Variable]]
"""The variables of a proposition and of its fact: each determines the other."""


def _is_bound_by_one(triples: list[TriplePattern]) -> bool:
    """Whether a match of one of the triples binds all variables."""
    together = [names for triple in triples for names in bound_together(triple)]
    links = [
        (variables(triple.subject), variables(triple.object))
        for triple in triples
        if isinstance(triple.object, TripleTerm)
    ]
    names_used: set[Variable] = set().union(*together)
    if not names_used:
        return True
    if _multiplies([variables(triple) for triple in triples if _is_fact(triple)]):
        return False
    # No triple binds more than three, and no proposition more than four.
    is_small = len(names_used) <= 3 + 4 * len(links)
    return is_small and any(not _unbound(names_used - names, links) for names in together)


def _is_fact(triple: TriplePattern) -> bool:
    return (
        not isinstance(triple.object, TripleTerm) and len(set().union(*bound_together(triple))) > 1
    )


def _multiplies(facts: list[set[Variable]]) -> bool:
    """Whether two facts meet at a variable; the engine may begin there if others are bound, too."""
    return any(
        one & other and not (one <= other or other <= one)
        for number, one in enumerate(facts)
        for other in facts[number + 1 :]
    )


def _unbound(missing: set[Variable], links: list[Link]) -> set[Variable]:
    """What stays unbound when what is bound determines its propositions and facts."""
    for link, fact in links:
        if not missing & link or not missing & fact:
            missing = missing - link - fact
    return missing


def bound_together(triple: TriplePattern) -> list[set[Variable]]:
    """The variables that one match of a triple binds; a value depends on its subject alone."""
    if isinstance(triple.predicate, OneOrMore | ZeroOrMore):
        # From each end it reaches a set of other ends, in any number of steps.
        return [variables(triple.subject), variables(triple.object)]
    if isinstance(triple.object, TripleTerm):
        return [variables((triple.subject, triple.object))]
    if _is_functional(triple.predicate):
        return [variables(triple.subject)]
    return [variables(triple)]


def _is_functional(predicate: object) -> bool:
    """Whether an element is the subject of a predicate once."""
    if not isinstance(predicate, NamedNode):
        return False
    return predicate in _FUNCTIONAL or predicate.value.startswith(_KEYS)


# Whether a solution may come twice ---------------------------------------------------------------

# Triples are a set. So two solutions agree in the given variables only when they differ in others,
# or when a UNION or an alternative finds them twice.
Part: TypeAlias = TriplePattern | tuple[Variable, ...]
"""A triple, or the variables of a subquery."""


def may_duplicate(pattern: Pattern, names: set[Variable]) -> bool:
    """Whether two solutions of a pattern can be alike in some variables."""
    try:
        parts = list(_parts(pattern, (), set()))
    except _Unknown:
        return True
    determined, size = set(names), -1
    while len(determined) > size:
        size = len(determined)
        for part, outer in parts:
            if isinstance(part, TriplePattern):
                determined |= _determined(part, determined) - outer
    return not all(variables(part) <= determined for part, _ in parts)


class _Unknown(Exception):
    """A pattern that may find a solution twice."""


def _parts(
    pattern: Pattern, before: tuple[Pattern, ...], outer: set[Variable]
) -> Iterator[tuple[Part, set[Variable]]]:
    """What makes the solutions, each with the variables that it does not determine.

    An optional part may be missing, and then determines nothing of what comes ``before`` it;
    ``outer`` are such variables already.
    """
    match pattern:
        case BGP():
            for triple in pattern.triples:
                if isinstance(triple.predicate, Alternative):
                    raise _Unknown
                yield triple, outer
        case Lateral():
            yield from _parts(pattern.left, before, outer)
            yield from _parts(pattern.right, (*before, pattern.left), outer)
        case LeftJoin():
            yield from _parts(pattern.left, before, outer)
            before = (*before, pattern.left)
            yield from _parts(pattern.right, before, outer | variables(before))
        case AntiJoin():
            yield from _parts(pattern.left, before, outer)
        case Filter():
            yield from _parts(pattern.pattern, before, outer)
        case Extend():
            # The variables of its expression determine what it binds.
            yield from _parts(pattern.pattern, before, outer)
        case Project():
            yield pattern.variables, outer
        case _:
            raise _Unknown


def _determined(triple: TriplePattern, bound: set[Variable]) -> set[Variable]:
    """The variables of a triple that have one term where others are bound."""
    if isinstance(triple.object, TripleTerm):
        link, fact = variables(triple.subject), variables(triple.object)
        return link | fact if link <= bound or fact <= bound else set()
    if _is_functional(triple.predicate):
        return variables(triple.object) if variables(triple.subject) <= bound else set()
    return set()


# Links that nothing reads ------------------------------------------------------------------------


def without_unread_links(pattern: Pattern, read: Set[Variable], iris: Iris) -> Pattern:
    """As many solutions, alike in the variables that are ``read``.

    >>> s, o, link = map(Variable, "sol")
    >>> fact = TriplePattern(s, NamedNode("urn:p"), o)
    >>> whole = TriplePattern(link, vocab.REIFIES, TripleTerm(s, NamedNode("urn:p"), o))
    >>> without_unread_links(BGP((fact, whole)), {s}, Iris("urn:x/")) == BGP((fact,))
    True
    """
    if isinstance(pattern, BGP):
        match pattern.triples:
            case (
                TriplePattern(
                    subject=Variable(), predicate=Variable() as p, object=Variable()
                ) as fact,
                TriplePattern(subject=Variable() as link, object=TripleTerm() as whole),
            ) if link not in read and _are_any(fact, whole, link):
                if fact.names.isdisjoint(read):
                    # Of values that are not read, the engine counts an index.
                    return BGP((TriplePattern(link, vocab.REIFIES, fact.object),))
                is_predicate = TriplePattern(p, vocab.TYPE, iris.type("$PropositionType"))
                return BGP((is_predicate, fact))
    uses = _uses(pattern)
    return _without(pattern, {name for name, times in uses.items() if times == 1} - read)


def _without(pattern: Pattern, unread: Set[Variable]) -> Pattern:
    if isinstance(pattern, BGP):
        return BGP(tuple(t for t in pattern.triples if not _is_unread(t, pattern, unread)))
    return map_patterns(pattern, lambda part, *_: _without(part, unread))


def _is_unread(link: TriplePattern, group: BGP, unread: Set[Variable]) -> bool:
    """Whether a triple only finds the link of a fact of the same group."""
    fact = link.object
    if not isinstance(fact, TripleTerm) or link.subject not in unread:
        return False
    if not isinstance(fact.predicate, NamedNode):
        return False
    return fact.asserted in group.triples


def _uses(node: object) -> Counter[Variable]:
    """How many places mention each variable. Of branches, one has a solution at a time."""
    if isinstance(node, Variable):
        return Counter((node,))
    if isinstance(node, TriplePattern | Condition):
        return Counter(node.names)
    if isinstance(node, Union):
        return reduce(or_, map(_uses, node.branches), Counter())
    uses: Counter[Variable] = Counter()
    for part in parts(node):
        uses.update(_uses(part))
    return uses


def _are_any(fact: TriplePattern, whole: TripleTerm, link: Variable) -> bool:
    """Whether triples find all facts: four different variables, and those of the fact in both."""
    terms = (fact.subject, fact.predicate, fact.object)
    return len({*terms, link}) == 4 and terms == (whole.subject, whole.predicate, whole.object)
