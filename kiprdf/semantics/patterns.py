"""The rules of a WHERE: registered names, kinds of variables, what a FILTER sees (KIP 3.4)."""

from __future__ import annotations

from typing import assert_never

from kiprdf.errors import KipError
from kiprdf.language import ast
from kiprdf.semantics import scope
from kiprdf.semantics.arguments import concept_id, concept_name, proposition_id, text_of
from kiprdf.semantics.catalog import Catalog
from kiprdf.semantics.conditions import check_sense


def check_endpoint(endpoint: ast.Endpoint, catalog: Catalog) -> None:
    match endpoint:
        case ast.Variable():
            pass
        case ast.ConceptClause():
            check_concept_matcher(endpoint.matcher, catalog)
        case ast.PropositionClause(matcher=ast.PropositionId(id=identifier)):
            proposition_id(identifier)
        case ast.PropositionClause(matcher=ast.PropositionMatcher() as matcher):
            check_endpoint(matcher.subject, catalog)
            if isinstance(matcher.predicate, ast.Predicates):
                for name in matcher.predicate.alternatives:
                    check_predicate(name, catalog)
            check_endpoint(matcher.object, catalog)


def check_predicate(name: ast.PredicateName, catalog: Catalog) -> None:
    """A predicate, which may be a parameter, is a string and registered."""
    catalog.require_predicate(text_of(name.value, "A predicate"), name.span)


def check_concept_matcher(matcher: ast.ConceptMatcher, catalog: Catalog) -> None:
    if matcher.id is not None:
        concept_id(matcher.id)
    if matcher.type is not None:
        catalog.require_type(text_of(matcher.type, "A concept's type"), matcher.type.span)
    if matcher.name is not None:
        concept_name(matcher.name)


class Kinds:
    """What the variables in scope may be bound to: concepts, links, or predicates' names."""

    def __init__(self, outer: Kinds | None = None) -> None:
        self.possible: dict[str, frozenset[scope.Kind]] = (
            {} if outer is None else dict(outer.possible)
        )

    def mention(self, variable: ast.Variable, role: scope.Role) -> None:
        """Another clause holds for the variable as well: what remains are the common kinds."""
        kinds = scope.KINDS[role]
        self._require_one_kind(variable, kinds)
        self.possible[variable.name] = self.possible.get(variable.name, kinds) & kinds

    def extend(self, inner: Kinds) -> None:
        """An OPTIONAL block may hold: what it alone binds is of its kinds, or null. What was bound
        before it stays what it is where the block misses."""
        self.possible = {**inner.possible, **self.possible}

    def unite(self, other: Kinds, block: ast.Block) -> None:
        """A UNION block holds instead: what it binds may be of its kinds too."""
        for name in scope.exported(block):
            kinds = other.possible[name]
            self._require_one_kind(ast.Variable(name, span=block.span), kinds)
            self.possible[name] = self.possible.get(name, kinds) | kinds

    def elements(self) -> dict[str, frozenset[scope.Kind]]:
        """The variables that hold concepts or propositions, and which of the two."""
        return {name: kinds for name, kinds in self.possible.items() if "predicate" not in kinds}

    def _require_one_kind(self, variable: ast.Variable, kinds: frozenset[scope.Kind]) -> None:
        """A predicate variable joins only with predicate variables (KIP 3.4.2)."""
        before = self.possible.get(variable.name)
        if before and kinds and ("predicate" in before) != ("predicate" in kinds):
            message = f"?{variable.name} is a predicate in one place and an element in another."
            hint = "Use another variable; a predicate variable holds the predicate's name."
            raise KipError("KIP_1001", message, hint, variable.span)


def check_block(block: ast.Block, catalog: Catalog, outer: Kinds) -> Kinds:
    """Check the clauses of a block in written order; what its variables may be after it."""
    kinds = Kinds(outer)
    for clause in block.clauses:
        match clause:
            case ast.ConceptClause() | ast.PropositionClause():
                _refuse_predicate_as_type(clause, block, kinds, catalog)
                check_endpoint(clause, catalog)
                for variable, role in scope.mentions(clause):
                    kinds.mention(variable, role)
            case ast.Filter():
                _check_condition(clause.condition, kinds)
            case ast.Not():
                check_block(clause.block, catalog, kinds)
            case ast.Optional():
                kinds.extend(check_block(clause.block, catalog, kinds))
            case ast.Union():
                fresh = check_block(clause.block, catalog, Kinds())
                kinds.unite(fresh, clause.block)
            case _:
                assert_never(clause)
    return kinds


def _refuse_predicate_as_type(
    clause: ast.Endpoint, block: ast.Block, kinds: Kinds, catalog: Catalog
) -> None:
    """A link has no type; it is matched by its parts, with variables that are new."""
    match clause:
        case ast.ConceptClause(matcher=ast.ConceptMatcher(type=ast.Scalar(value=str(name)))):
            if name not in catalog.predicates or name in catalog.concept_types:
                return
            used = {*kinds.possible, *scope.exported(block)}
            ends = ("?s", "?o") if not used & {"s", "o"} else ("?subject", "?object")
            hint = f'Write `({ends[0]}, "{name}", {ends[1]})` instead of `{{type: "{name}"}}`.'
            message = f"'{name}' is a predicate, not a concept type."
            raise KipError("KIP_2001", message, hint, clause.matcher.span)
        case _:
            pass


def _check_condition(condition: ast.Condition, kinds: Kinds) -> None:
    for operand in scope.operands(condition):
        check_operand(operand, kinds)
    for test in scope.tests(condition):
        _check_arguments(test)
    check_sense(condition, kinds.elements())


def check_operand(operand: ast.Operand, kinds: Kinds) -> None:
    """A FILTER sees what an earlier clause binds (KIP 3.4.7); it compares values, not maps."""
    if isinstance(operand, ast.Variable):
        require_bound(operand, kinds)
    elif isinstance(operand, ast.Path):
        check_path(operand, kinds)
        if operand.field in ("attributes", "metadata") and operand.key is None:
            message = f"The whole .{operand.field} can only be a column of FIND."
            hint = f"Compare one key: ?{operand.variable.name}.{operand.field}.key."
            raise KipError("KIP_1001", message, hint, operand.span)


def _check_arguments(test: scope.Test) -> None:
    match test:
        case ast.Membership(options=options) if not isinstance(options, ast.Array | ast.Path):
            raise KipError("KIP_1001", "IN takes a list.", "Send an array.", options.span)
        case ast.StringTest(function="REGEX", argument=argument):
            if not (isinstance(argument, ast.Scalar) and isinstance(argument.value, str)):
                message = "The pattern of REGEX is a string."
                raise KipError("KIP_1001", message, "Write it in quotes.", argument.span)
        case _:
            pass


def require_bound(variable: ast.Variable, kinds: Kinds) -> None:
    if variable.name not in kinds.possible:
        bound = ", ".join(f"?{name}" for name in kinds.possible)
        hint = "Bind it in an earlier clause" + (f"; bound here: {bound}." if bound else ".")
        message = f"No earlier clause binds ?{variable.name}."
        raise KipError("KIP_3001", message, hint, variable.span)


_ONLY_CONCEPT = frozenset(ast.CONCEPT_FIELDS) - frozenset(ast.PROPOSITION_FIELDS)
_ONLY_LINK = frozenset(ast.PROPOSITION_FIELDS) - frozenset(ast.CONCEPT_FIELDS)


def check_path(path: ast.Path, kinds: Kinds) -> None:
    """The fields of a dot path are those of the variable's kind (KIP 3.2)."""
    require_bound(path.variable, kinds)
    name = path.variable.name
    allowed = kinds.possible[name]
    if "predicate" in allowed:
        message = f"?{name} holds a predicate's name, which has no .{path.field}."
        raise KipError("KIP_1001", message, f"Use ?{name} itself.", path.span)
    if path.field in _ONLY_CONCEPT and allowed == {"link"}:
        message = f"?{name} is a proposition; .{path.field} is a concept's."
        hint = "Propositions have .id .subject .predicate .object .attributes .metadata."
        if path.field == "type":
            hint += f" Write `?{name}.predicate` instead of `?{name}.type`."
        raise KipError("KIP_1001", message, hint, path.span)
    if path.field in _ONLY_LINK and allowed == {"concept"}:
        message = f"?{name} is a concept; .{path.field} is a proposition's."
        hint = "Concepts have .id .type .name .attributes .metadata."
        raise KipError("KIP_1001", message, hint, path.span)
