"""What a FIND is refused for before it is evaluated: scopes, kinds of variables, types."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from kiprdf.errors import KipError
from kiprdf.language import ast
from tests.oracle.graph import Graph

MOST_HOPS = 64


def check(find: ast.Find, graph: Graph) -> None:
    """Raise the error of a command that can be refused without looking at the data."""
    _check_values(find)
    _check_predicate_variables(find)
    _check_fields(find)
    _check_whole_maps(find)
    _check_order_keys(find)
    _check_names(find, graph)
    scope = _check_scopes(find.where, frozenset())
    _check_sense(find)
    for expression in (*find.expressions, *(key.expression for key in find.order_by)):
        _check_bound(expression, scope)


# Walking --------------------------------------------------------------------------------------


def descendants(node: object) -> Iterator[ast.Node]:
    """Every node of a tree, itself included."""
    if isinstance(node, tuple):
        for item in node:
            yield from descendants(item)
    elif isinstance(node, ast.Node):
        yield node
        for field in dataclasses.fields(node):
            yield from descendants(getattr(node, field.name))


def variables(node: object) -> set[str]:
    return {each.name for each in descendants(node) if isinstance(each, ast.Variable)}


def bound_by(block: ast.Block) -> set[str]:
    """The variables a block makes visible behind itself: those of NOT stay inside (3.4.7.1)."""
    names: set[str] = set()
    for clause in block.clauses:
        names |= bound_by_clause(clause)
    return names


def bound_by_clause(clause: ast.Clause) -> set[str]:
    match clause:
        case ast.ConceptClause() | ast.PropositionClause():
            return variables(clause)
        case ast.Optional() | ast.Union():
            return bound_by(clause.block)
        case ast.Filter() | ast.Not():
            return set()


def identities(node: object) -> Iterator[ast.ConceptMatcher | ast.PropositionId]:
    """The exact identities of a pattern: ``{type, name}``, ``{id}``, ``(id:)``."""
    for each in descendants(node):
        match each:
            case ast.PropositionId():
                yield each
            case ast.ConceptMatcher() if each.id or (each.type and each.name):
                yield each


# Rules ----------------------------------------------------------------------------------------


def _check_scopes(block: ast.Block, outer: frozenset[str]) -> frozenset[str]:
    """FILTER: "A variable no earlier clause binds is KIP_3001". Returns what is visible behind."""
    scope = outer
    for clause in block.clauses:
        match clause:
            case ast.Filter():
                _check_bound(clause.condition, scope)
            case ast.Not() | ast.Optional():
                _check_scopes(clause.block, scope)
            case ast.Union():
                # "the branch sees nothing outer"
                _check_scopes(clause.block, frozenset())
        scope |= bound_by_clause(clause)
    return scope


def _check_bound(node: ast.Node, scope: frozenset[str]) -> None:
    unbound = variables(node) - scope
    if unbound:
        raise KipError("KIP_3001", f"?{min(unbound)} is bound by no clause before.")


def _check_sense(find: ast.Find) -> None:
    """Rule: "Conditions that can never be boolean are KIP_1001: a variable of an element, a
    literal, an element compared with a literal"."""
    predicates = {
        each.predicate.name
        for each in descendants(find.where)
        if isinstance(each, ast.PropositionMatcher) and isinstance(each.predicate, ast.Variable)
    }

    def is_element(operand: ast.Node) -> bool:
        return isinstance(operand, ast.Variable) and operand.name not in predicates

    for each in descendants(find.where):
        match each:
            case ast.Truth(operand=ast.Path(key=str()) | ast.Scalar(value=bool())):
                pass
            case ast.Truth():
                raise KipError("KIP_1001", "This is never a boolean.")
            case (
                ast.Comparison(left=one, right=other) | ast.StringTest(operand=one, argument=other)
            ):
                literals = [side for side in (one, other) if _is_literal(side)]
                if literals and (is_element(one) or is_element(other)):
                    raise KipError("KIP_1001", "An element is never equal to a literal.")
            case ast.Membership(operand=tested, options=ast.Array(items=items)):
                if items and all(map(_is_literal, items)) and is_element(tested):
                    raise KipError("KIP_1001", "An element is in no list of literals.")


def _is_literal(node: ast.Node) -> bool:
    is_null = isinstance(node, ast.Scalar) and node.value is None
    return isinstance(node, ast.Scalar | ast.Array | ast.Object) and not is_null


def _check_values(find: ast.Find) -> None:
    """Rule: "Values are strings or placeholders" in matchers; "LIMIT takes a JSON integer ≥ 1"."""
    for each in descendants(find.where):
        if isinstance(each, ast.ConceptMatcher | ast.PropositionId):
            for value in _children(each):
                if not isinstance(value, ast.Scalar) or not isinstance(value.value, str):
                    raise KipError("KIP_1001", "A matcher holds strings.")
    if find.limit is not None:
        limit = find.limit.value if isinstance(find.limit, ast.Scalar) else None
        if type(limit) is not int or limit < 1:
            raise KipError("KIP_1001", "LIMIT takes a positive integer.")


def _children(node: ast.Node) -> Iterator[ast.Node]:
    for field in dataclasses.fields(node):
        child = getattr(node, field.name)
        if isinstance(child, ast.Node):
            yield child


def _check_fields(find: ast.Find) -> None:
    """Rule: "id type name on concepts; id subject predicate object on propositions; … Anything
    else is KIP_1001". The kind of a variable that is only an endpoint is not known."""
    concepts, propositions = set[str](), set[str]()
    for each in descendants(find):
        if isinstance(each, ast.ConceptClause) and each.variable:
            concepts.add(each.variable.name)
        if isinstance(each, ast.PropositionClause) and each.variable:
            propositions.add(each.variable.name)
    for each in descendants(find):
        if isinstance(each, ast.Path):
            as_concept = each.field in ast.CONCEPT_FIELDS
            as_proposition = each.field in ast.PROPOSITION_FIELDS
            name = each.variable.name
            if (name in concepts - propositions and not as_concept) or (
                name in propositions - concepts and not as_proposition
            ):
                raise KipError("KIP_1001", f"?{name} has no field .{each.field}.")


def _check_predicate_variables(find: ast.Find) -> None:
    """Rule: "a dot path on it, or its use as endpoint or concept, is KIP_1001" (Text)."""
    nodes, predicates = set[str](), set[str]()
    for each in descendants(find):
        match each:
            case ast.PropositionMatcher():
                ends = (each.subject, each.object)
                nodes |= {end.name for end in ends if isinstance(end, ast.Variable)}
                if isinstance(each.predicate, ast.Variable):
                    predicates.add(each.predicate.name)
            case ast.ConceptClause() | ast.PropositionClause() if each.variable is not None:
                nodes.add(each.variable.name)
            case ast.Path():
                nodes.add(each.variable.name)
    mixed = nodes & predicates
    if mixed:
        raise KipError("KIP_1001", f"?{min(mixed)} is a predicate variable.")


def _check_whole_maps(find: ast.Find) -> None:
    """Rule: "Whole ?x.attributes and ?x.metadata belong in FIND only, elsewhere KIP_1001"."""
    for each in descendants((find.where, find.order_by)):
        if not isinstance(each, ast.Path) or each.key is not None:
            continue
        if each.field in ("attributes", "metadata"):
            raise KipError("KIP_1001", f"A whole .{each.field} belongs in FIND only.")


def _check_order_keys(find: ast.Find) -> None:
    """Rule: "beside aggregates a key must be a FIND expression (KIP_1001)"."""
    grouped = any(isinstance(each, ast.Aggregate) for each in find.expressions)
    for key in find.order_by:
        beside = grouped or isinstance(key.expression, ast.Aggregate)
        if beside and key.expression not in find.expressions:
            raise KipError("KIP_1001", "Beside aggregates a sort key is a FIND expression.")


def _check_names(find: ast.Find, graph: Graph) -> None:
    """Unregistered names are KIP_2001, ids of the wrong kind KIP_1001, long hops KIP_4002."""
    for each in descendants(find.where):
        match each:
            case ast.ConceptMatcher(type=ast.Scalar(value=str(name))) if not graph.is_type(name):
                raise KipError("KIP_2001", f"Concept type '{name}' is not defined.")
            case ast.PredicateName() if not graph.is_predicate(each.name):
                raise KipError("KIP_2001", f"Predicate '{each.name}' is not defined.")
            case ast.ConceptMatcher(id=ast.Scalar(value=str(text))) if text.startswith("P:"):
                raise KipError("KIP_1001", "A concept's id begins with C:.")
            case ast.PropositionId(id=ast.Scalar(value=str(text))) if text.startswith("C:"):
                raise KipError("KIP_1001", "A proposition's id begins with P:.")
            case ast.Hops() if max(each.minimum, each.maximum or 0) > MOST_HOPS:
                raise KipError("KIP_4002", f"A hop bound is at most {MOST_HOPS}.")
