"""Where a query asks whether somebody still waits for it (docs/decisions/036).

The engine cannot be told to stop. But a solution that a stage of the query drops is not carried
on: so behind each stage that multiplies solutions stands a ``CHECK_DEADLINE``, which is true as
long as there is time. A query whose solutions are no more than the triples it reads needs none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from pyoxigraph import NamedNode, Variable

from kiprdf.rdf import vocab
from kiprdf.sparql.algebra import (
    BGP,
    AntiJoin,
    Call,
    Extend,
    Filter,
    In,
    Join,
    Lateral,
    LeftJoin,
    OneOrMore,
    Pattern,
    Project,
    TriplePattern,
    TripleTerm,
    Union,
    is_iri,
    variables,
)
from kiprdf.store.cancellation import CHECK_DEADLINE, COUNT_HOP

_OF_THE_SUBJECT = (vocab.TYPE, vocab.LABEL, vocab.REIFIES)
_KEYS = (vocab.ATTRIBUTE, vocab.METADATA)
SHORT_LIST = 100
"""Items of an IN that a solution is compared with as quickly as it is found."""


def is_linear(pattern: Pattern) -> bool:
    """Whether one triple at most multiplies solutions: everything else hangs on its variables.

    A long list is not linear: each solution is compared with each of its items.
    """
    return _is_bound_by_one(_triples(pattern)) and not _has_long_list(pattern)


def is_anchored(pattern: Pattern) -> bool:
    """Whether a pattern begins at an element that it names."""
    return any(
        is_iri(triple.subject) or (is_iri(triple.object) and triple.predicate != vocab.TYPE)
        for triple in _triples(pattern)
    )


def staged(pattern: Pattern) -> Pattern:
    """The same solutions, and the questions behind each stage."""
    return _staged(pattern, CHECK_DEADLINE)


def products(pattern: Pattern) -> list[tuple[Pattern, Pattern]]:
    """The pairs of patterns of which each solution meets each; inside NOT they need not."""
    found: list[tuple[Pattern, Pattern]] = []
    _products(pattern, found)
    return found


def filters_product(pattern: Pattern) -> bool:
    """Whether a FILTER or NOT looks at the solutions of a product, and may drop most of them."""
    match pattern:
        case Filter() | AntiJoin():
            inner = pattern.pattern if isinstance(pattern, Filter) else pattern.left
            return bool(products(inner))
        case Lateral() | Join() | LeftJoin():
            return filters_product(pattern.left) or filters_product(pattern.right)
        case Union():
            return any(map(filters_product, pattern.branches))
        case Extend() | Project():
            return filters_product(pattern.pattern)
        case BGP():
            return False


def _has_long_list(node: object) -> bool:
    if isinstance(node, In):
        return len(node.options) > SHORT_LIST
    if isinstance(node, tuple):
        return any(map(_has_long_list, node))
    if isinstance(node, BGP):
        return False
    names = getattr(node, "__dataclass_fields__", ())
    return any(_has_long_list(getattr(node, name)) for name in names)


def _products(pattern: Pattern, found: list[tuple[Pattern, Pattern]]) -> set[Variable]:
    """Add the pairs of a pattern, and give its variables."""
    match pattern:
        case Lateral() | Join():
            left, right = _products(pattern.left, found), variables(pattern.right)
            if not left & right and not (_is_single(pattern.left) or _is_single(pattern.right)):
                found.append((pattern.left, pattern.right))
            return left | right
        case Union():
            return set().union(*(_products(branch, found) for branch in pattern.branches))
        case LeftJoin():
            return _products(pattern.left, found) | variables(pattern.right)
        case AntiJoin():
            return _products(pattern.left, found)
        case Extend():
            return _products(pattern.pattern, found) | {pattern.variable}
        case Filter() | Project():
            return _products(pattern.pattern, found)
        case BGP():
            return variables(pattern)


def _is_single(pattern: Pattern) -> bool:
    """Whether a pattern has one solution at most, without a look at the data."""
    match pattern:
        case BGP():
            # No triple at all, or what an element that is named has but once.
            return not any(names for triple in pattern.triples for names in _given(triple))
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
        case Lateral() | Join() | LeftJoin() | AntiJoin():
            return _triples(pattern.left) + _triples(pattern.right)
        case Union():
            branches = [_triples(branch) for branch in pattern.branches]
            # Otherwise the one that binds most: one branch of a hop range reads nothing.
            most = max(branches, key=lambda branch: len(variables(tuple(branch))))
            return next((b for b in branches if not _is_bound_by_one(b)), most)
        case Filter() | Extend() | Project():
            return _triples(pattern.pattern)


Link: TypeAlias = tuple[set[Variable], set[Variable]]
"""The variables of a proposition and of its fact: the one is known by the other."""


def _is_bound_by_one(triples: list[TriplePattern]) -> bool:
    """Whether a match of one of the triples binds all variables."""
    given = [names for triple in triples for names in _given(triple)]
    links = [
        (variables(triple.subject), variables(triple.object))
        for triple in triples
        if isinstance(triple.object, TripleTerm)
    ]
    every: set[Variable] = set().union(*given)
    if not every:
        return True
    if _multiplies([variables(triple) for triple in triples if _is_fact(triple)]):
        return False
    # No triple binds more than three, and no proposition more than four.
    is_small = len(every) <= 3 + 4 * len(links)
    return is_small and any(not _left(every - names, links) for names in given)


def _is_fact(triple: TriplePattern) -> bool:
    return not isinstance(triple.object, TripleTerm) and len(set().union(*_given(triple))) > 1


def _multiplies(facts: list[set[Variable]]) -> bool:
    """Whether two facts meet at a variable; the engine may begin there, whatever else is known."""
    return any(
        one & other and not (one <= other or other <= one)
        for number, one in enumerate(facts)
        for other in facts[number + 1 :]
    )


def _left(missing: set[Variable], links: list[Link]) -> set[Variable]:
    """What stays missing when what is bound binds the propositions and facts it belongs to."""
    for link, fact in links:
        if not missing & link or not missing & fact:
            missing = missing - link - fact
    return missing


def _given(triple: TriplePattern) -> list[set[Variable]]:
    """The variables that one match of a triple binds; a value hangs on its subject alone."""
    if isinstance(triple.predicate, OneOrMore):
        # Each of its ends has a set of others, found by as many steps.
        return [variables(triple.subject), variables(triple.object)]
    if isinstance(triple.object, TripleTerm):
        return [variables((triple.subject, triple.object))]
    if isinstance(triple.predicate, NamedNode) and (
        triple.predicate in _OF_THE_SUBJECT or triple.predicate.value.startswith(_KEYS)
    ):
        return [variables(triple.subject)]
    return [variables(triple)]


# The questions -----------------------------------------------------------------------------------


def _staged(pattern: Pattern, question: NamedNode) -> Pattern:
    match pattern:
        case BGP():
            return _asked(pattern, _shared(pattern), question)
        case Lateral() | Join() | LeftJoin() | AntiJoin():
            # The right side is begun anew for each solution of the left.
            left = _asked_behind(_staged(pattern.left, question), question)
            return replace(pattern, left=left, right=_staged(pattern.right, question))
        case Union():
            return Union(tuple(_staged(branch, question) for branch in pattern.branches))
        case Project():
            # The levels of a hop range are the subqueries.
            return replace(pattern, pattern=_staged(pattern.pattern, COUNT_HOP))
        case Filter() if _has_long_list(pattern.condition):
            inner = _asked_behind(_staged(pattern.pattern, question), question)
            return replace(pattern, pattern=inner)
        case Filter() | Extend():
            return replace(pattern, pattern=_staged(pattern.pattern, question))


def _asked_behind(pattern: Pattern, question: NamedNode) -> Pattern:
    """A pattern that hands nothing on once the answer is no; the same one where it cannot ask."""
    match pattern:
        case BGP() | Project():
            last = _last(pattern)
            return pattern if last is None else _asked(pattern, {last}, question)
        case Lateral() | Join():
            right = _asked_behind(pattern.right, question)
            if right != pattern.right:
                return replace(pattern, right=right)
            return replace(pattern, left=_asked_behind(pattern.left, question))
        case LeftJoin() | AntiJoin():
            return replace(pattern, left=_asked_behind(pattern.left, question))
        case Union():
            # Its branches may have no variable in common.
            return Union(tuple(_asked_behind(branch, question) for branch in pattern.branches))
        case Filter() if _is_question(pattern.condition):
            return pattern
        case Filter() | Extend():
            return replace(pattern, pattern=_asked_behind(pattern.pattern, question))


def _is_question(condition: object) -> bool:
    return isinstance(condition, Call) and condition.function in (CHECK_DEADLINE, COUNT_HOP)


def _asked(pattern: Pattern, names: set[Variable], question: NamedNode) -> Pattern:
    for name in sorted(names, key=lambda name: name.value):
        pattern = Filter(pattern, Call(question, (name,)))
    return pattern


def _shared(group: BGP) -> set[Variable]:
    """The variables at which triples that multiply are joined."""
    several = [names for triple in group.triples for names in _given(triple) if len(names) > 1]
    return {
        name
        for number, names in enumerate(several)
        for other in several[number + 1 :]
        for name in names & other
    }


def _last(pattern: BGP | Project) -> Variable | None:
    """A node that is surely bound where a pattern ends, and as late as can be."""
    if isinstance(pattern, Project):
        return pattern.variables[-1] if pattern.variables else None
    names = [names for triple in pattern.triples for names in _given(triple) if names]
    return max(names[-1], key=lambda name: name.value) if names else None
