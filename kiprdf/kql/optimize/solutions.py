"""How many solutions a pattern may have beside the triples it reads (docs/decisions/036).

A query whose solutions are no more than the triples it reads needs no checks of its deadline.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, cast

from pyoxigraph import NamedNode, Variable

from kiprdf.kql.comparisons import FALSE
from kiprdf.rdf import vocab
from kiprdf.sparql.algebra import (
    BGP,
    Alternative,
    AntiJoin,
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
    variables,
)
from kiprdf.trees import walk

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


def is_contradictory(pattern: Pattern) -> bool:
    """Whether a pattern can have no solution for any data."""
    match pattern:
        case Filter():
            return pattern.condition == FALSE or is_contradictory(pattern.pattern)
        case Lateral():
            return is_contradictory(pattern.left) or is_contradictory(pattern.right)
        case LeftJoin() | AntiJoin():
            return is_contradictory(pattern.left)
        case Union():
            return all(map(is_contradictory, pattern.branches))
        case Extend() | Project():
            return is_contradictory(pattern.pattern)
        case BGP() | Group() | Hops():
            return False


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
    match pattern:
        case BGP():
            return frozenset(end for triple in pattern.triples for end in _ends(triple, predicates))
        case Lateral():
            left = named_elements(pattern.left, predicates)
            return left | named_elements(pattern.right, predicates)
        case LeftJoin() | AntiJoin():
            return named_elements(pattern.left, predicates)
        case Union():
            branches = (named_elements(branch, predicates) for branch in pattern.branches)
            return frozenset.intersection(*branches)
        case Filter() | Extend() | Project():
            return named_elements(pattern.pattern, predicates)
        case Group() | Hops():
            return frozenset()


def named_elements_with_value(pattern: Pattern) -> dict[Variable, Term]:
    """The values that optional triples of named elements bind, each with its element."""
    match pattern:
        case LeftJoin(right=BGP(triples=(TriplePattern(object=Variable()) as triple,))):
            inner = named_elements_with_value(pattern.left)
            return inner | {cast(Variable, triple.object): triple.subject}
        case Lateral():
            left = named_elements_with_value(pattern.left)
            return left | named_elements_with_value(pattern.right)
        case LeftJoin() | AntiJoin():
            return named_elements_with_value(pattern.left)
        case Filter() | Extend() | Project():
            return named_elements_with_value(pattern.pattern)
        case BGP() | Group() | Hops() | Union():
            return {}


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
    if isinstance(triple.predicate, NamedNode) and (
        triple.predicate in _FUNCTIONAL or triple.predicate.value.startswith(_KEYS)
    ):
        return [variables(triple.subject)]
    return [variables(triple)]
