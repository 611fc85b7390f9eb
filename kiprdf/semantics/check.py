"""The rules a bound command must satisfy before it is compiled. One rule, one function."""

from __future__ import annotations

from typing import assert_never, cast

from kiprdf.errors import KipError, shown
from kiprdf.language import ast, limits
from kiprdf.language.names import META_TYPES, is_key, is_type_name, name_fault
from kiprdf.language.printer import expression_text
from kiprdf.semantics import scope
from kiprdf.semantics.budget import check_budget
from kiprdf.semantics.catalog import Catalog
from kiprdf.source import Span

MOST_ROWS = 2**53
"""No answer has more rows; larger page sizes and offsets would overflow the engine's."""
RESERVED_METADATA = frozenset(("_version", "_created_at", "_updated_at", "_merged_from", "_score"))


def check(command: ast.Command, catalog: Catalog) -> None:
    """Raise ``KipError`` for the first rule that a bound command breaks."""
    match command:
        case ast.Find():
            _check_find(command, catalog)
        case ast.Upsert():
            _check_upsert(command, catalog)
        case (
            ast.DeleteAttributes()
            | ast.DeleteMetadata()
            | ast.DeletePropositions()
            | ast.DeleteConcept()
        ):
            _check_delete(command, catalog)
        case ast.DescribeTypes():
            page_size(command.limit)
            _check_cursor(command.cursor)
        case ast.DescribeType():
            text_of(command.name, "The name of a type")
        case ast.Search():
            _check_search(command, catalog)
        case ast.DescribePrimer() | ast.DescribeDomains():
            pass
        case _:
            assert_never(command)


# Values in fixed places -----------------------------------------------------------------------


def text_of(value: ast.Value, what: str) -> str:
    """The string in a place that takes only strings (KIP_1001 otherwise)."""
    if isinstance(value, ast.Scalar) and isinstance(value.value, str):
        return value.value
    raise KipError("KIP_1001", f"{what} is a string.", "Send a string.", value.span)


def page_size(limit: ast.Value | None) -> int | None:
    """The number behind LIMIT: an integer from 1 (KIP 3.5)."""
    if limit is None:
        return None
    value = limit.value if isinstance(limit, ast.Scalar) else None
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return min(value, MOST_ROWS)
    raise KipError("KIP_1001", "LIMIT takes an integer from 1.", "Write LIMIT 20.", limit.span)


def _check_cursor(cursor: ast.Value | None) -> None:
    if cursor is not None:
        text_of(cursor, "A cursor")


def concept_id(value: ast.Value) -> str:
    """The id in ``{id: …}``; that of a proposition is the wrong kind (KIP 3.4.1)."""
    text = text_of(value, "An id")
    if text.startswith("P:"):
        hint = f'Write (id: "{text}") for a proposition.'
        raise KipError("KIP_1001", "{id: …} takes the id of a concept.", hint, value.span)
    return text


def proposition_id(value: ast.Value) -> str:
    """The id in ``(id: …)``; that of a concept is the wrong kind (KIP 3.4.2)."""
    text = text_of(value, "An id")
    if text.startswith("C:"):
        hint = f'Write {{id: "{text}"}} for a concept.'
        raise KipError("KIP_1001", "(id: …) takes the id of a proposition.", hint, value.span)
    return text


def concept_name(value: ast.Value) -> str:
    """A concept's name: free text of 1 to 1 024 characters."""
    text = text_of(value, "A concept's name")
    fault = name_fault(text)
    if fault is not None:
        hint = "Names are 1 to 1024 characters of any script, without control characters."
        raise KipError("KIP_1002", f"The name {fault}.", hint, value.span)
    return text


# Patterns -------------------------------------------------------------------------------------


def _check_endpoint(endpoint: ast.Endpoint, catalog: Catalog) -> None:
    match endpoint:
        case ast.Variable():
            pass
        case ast.ConceptClause():
            _check_concept_matcher(endpoint.matcher, catalog)
        case ast.PropositionClause(matcher=ast.PropositionId(id=identifier)):
            proposition_id(identifier)
        case ast.PropositionClause(matcher=ast.PropositionMatcher() as matcher):
            _check_endpoint(matcher.subject, catalog)
            if isinstance(matcher.predicate, ast.Predicates):
                for name in matcher.predicate.alternatives:
                    catalog.require_predicate(name.name, name.span)
            _check_endpoint(matcher.object, catalog)


def _check_concept_matcher(matcher: ast.ConceptMatcher, catalog: Catalog) -> None:
    if matcher.id is not None:
        concept_id(matcher.id)
    if matcher.type is not None:
        catalog.require_type(text_of(matcher.type, "A concept's type"), matcher.type.span)
    if matcher.name is not None:
        concept_name(matcher.name)


class _Kinds:
    """What the variables in scope may be bound to: concepts, links, or predicates' names."""

    def __init__(self, outer: _Kinds | None = None) -> None:
        self.seen: dict[str, frozenset[scope.Kind]] = {} if outer is None else dict(outer.seen)

    def mention(self, variable: ast.Variable, role: scope.Role) -> None:
        """Another clause holds for the variable as well: what remains are the common kinds."""
        kinds = scope.KINDS[role]
        self._set_apart(variable, kinds)
        self.seen[variable.name] = self.seen.get(variable.name, kinds) & kinds

    def unite(self, other: _Kinds, block: ast.Block) -> None:
        """A UNION block holds instead: what it binds may be of its kinds too."""
        for name in scope.exported(block):
            kinds = other.seen[name]
            self._set_apart(ast.Variable(name, span=block.span), kinds)
            self.seen[name] = self.seen.get(name, kinds) | kinds

    def _set_apart(self, variable: ast.Variable, kinds: frozenset[scope.Kind]) -> None:
        """A predicate variable joins only with predicate variables (KIP 3.4.2)."""
        before = self.seen.get(variable.name)
        if before and kinds and ("predicate" in before) != ("predicate" in kinds):
            message = f"?{variable.name} stands for a predicate in one place, a node in another."
            hint = "Use another variable; a predicate variable holds the predicate's name."
            raise KipError("KIP_1001", message, hint, variable.span)


def _check_block(block: ast.Block, catalog: Catalog, outer: _Kinds) -> _Kinds:
    """Check the clauses of a block in written order; what its variables may be behind it."""
    kinds = _Kinds(outer)
    for clause in block.clauses:
        match clause:
            case ast.ConceptClause() | ast.PropositionClause():
                _check_endpoint(clause, catalog)
                for variable, role in scope.mentions(clause):
                    kinds.mention(variable, role)
            case ast.Filter():
                _check_condition(clause.condition, kinds)
            case ast.Not():
                _check_block(clause.block, catalog, kinds)
            case ast.Optional():
                kinds = _check_block(clause.block, catalog, kinds)
            case ast.Union():
                fresh = _check_block(clause.block, catalog, _Kinds())
                kinds.unite(fresh, clause.block)
            case _:
                assert_never(clause)
    return kinds


def _check_condition(condition: ast.Condition, kinds: _Kinds) -> None:
    for operand in scope.operands(condition):
        _check_operand(operand, kinds)
    for test in scope.tests(condition):
        _check_arguments(test)


def _check_operand(operand: ast.Operand, kinds: _Kinds) -> None:
    """A FILTER sees what an earlier clause binds (KIP 3.4.7); it compares values, not maps."""
    if isinstance(operand, ast.Variable):
        _require_bound(operand, kinds)
    elif isinstance(operand, ast.Path):
        _check_path(operand, kinds)
        if operand.field in ("attributes", "metadata") and operand.key is None:
            message = f"The whole .{operand.field} stands in FIND only."
            hint = f"Compare one key: ?{operand.variable.name}.{operand.field}.key."
            raise KipError("KIP_1001", message, hint, operand.span)


def _check_arguments(test: scope.Test) -> None:
    match test:
        case ast.Membership(options=options) if not isinstance(options, ast.Array):
            raise KipError("KIP_1001", "IN takes a list.", "Send an array.", options.span)
        case ast.StringTest(function="REGEX", argument=argument):
            if not (isinstance(argument, ast.Scalar) and isinstance(argument.value, str)):
                message = "The pattern of REGEX is a string."
                raise KipError("KIP_1001", message, "Write it in quotes.", argument.span)
        case _:
            pass


def _require_bound(variable: ast.Variable, kinds: _Kinds) -> None:
    if variable.name not in kinds.seen:
        known = ", ".join(f"?{name}" for name in kinds.seen)
        hint = "Bind it in an earlier clause" + (f"; bound here: {known}." if known else ".")
        message = f"No earlier clause binds ?{variable.name}."
        raise KipError("KIP_3001", message, hint, variable.span)


_ONLY_CONCEPT = frozenset(ast.CONCEPT_FIELDS) - frozenset(ast.PROPOSITION_FIELDS)
_ONLY_LINK = frozenset(ast.PROPOSITION_FIELDS) - frozenset(ast.CONCEPT_FIELDS)


def _check_path(path: ast.Path, kinds: _Kinds) -> None:
    """The fields of a dot path are those of the variable's kind (KIP 3.2)."""
    _require_bound(path.variable, kinds)
    name = path.variable.name
    possible = kinds.seen[name]
    if "predicate" in possible:
        message = f"?{name} holds a predicate's name, which has no .{path.field}."
        raise KipError("KIP_1001", message, f"Use ?{name} itself.", path.span)
    if path.field in _ONLY_CONCEPT and possible == {"link"}:
        message = f"?{name} is a proposition; .{path.field} is a concept's."
        hint = "Propositions have .id .subject .predicate .object .attributes .metadata."
        raise KipError("KIP_1001", message, hint, path.span)
    if path.field in _ONLY_LINK and possible == {"concept"}:
        message = f"?{name} is a concept; .{path.field} is a proposition's."
        hint = "Concepts have .id .type .name .attributes .metadata."
        raise KipError("KIP_1001", message, hint, path.span)


# FIND -----------------------------------------------------------------------------------------


def _check_find(command: ast.Find, catalog: Catalog) -> None:
    check_budget(command.where)
    kinds = _check_block(command.where, catalog, _Kinds())
    for expression in command.expressions:
        _check_expression(expression, kinds)
    for key in command.order_by:
        _check_order_key(key, command, kinds)
    page_size(command.limit)
    _check_cursor(command.cursor)


def _check_expression(expression: ast.Expression, kinds: _Kinds) -> None:
    """FIND projects what the WHERE binds (KIP 3.3)."""
    match expression:
        case ast.Variable():
            _require_bound(expression, kinds)
        case ast.Path():
            _check_path(expression, kinds)
        case ast.Aggregate():
            argument = expression.argument
            _check_expression(argument, kinds)
            if isinstance(argument, ast.Path):
                _check_operand(argument, kinds)


def _check_order_key(key: ast.OrderKey, command: ast.Find, kinds: _Kinds) -> None:
    """Beside aggregates, rows are ordered by what FIND shows of them (KIP 3.5)."""
    _check_expression(key.expression, kinds)
    if isinstance(key.expression, ast.Path):
        _check_operand(key.expression, kinds)
    aggregated = any(isinstance(shown, ast.Aggregate) for shown in command.expressions)
    aggregated = aggregated or isinstance(key.expression, ast.Aggregate)
    if aggregated and key.expression not in command.expressions:
        message = f"ORDER BY {expression_text(key.expression)} is no expression of FIND."
        hint = "Beside aggregates, order by one of the FIND expressions."
        raise KipError("KIP_1001", message, hint, key.span)


# KML ------------------------------------------------------------------------------------------


def _check_delete(command: ast.Delete, catalog: Catalog) -> None:
    """The target is bound by the WHERE and of a kind that can be deleted so (KIP 4.2)."""
    check_budget(command.where)
    if isinstance(command, ast.DeleteAttributes | ast.DeleteMetadata):
        for key in command.keys:
            _check_key(key.name, key.span)
            if isinstance(command, ast.DeleteMetadata):
                _refuse_reserved(key.name, key.span)
    kinds = _check_block(command.where, catalog, _Kinds())
    target = command.target
    _require_bound(target, kinds)
    possible = kinds.seen[target.name]
    if "predicate" in possible:
        message = f"?{target.name} holds a predicate's name, not an element."
        hint = "Bind the target with ?link (…) or ?x {…}."
        raise KipError("KIP_1001", message, hint, target.span)
    if isinstance(command, ast.DeleteConcept) and possible == {"link"}:
        hint = f"Write DELETE PROPOSITIONS ?{target.name}."
        message = f"?{target.name} is a proposition, not a concept."
        raise KipError("KIP_1001", message, hint, target.span)
    if isinstance(command, ast.DeletePropositions) and possible == {"concept"}:
        hint = f"Write DELETE CONCEPT ?{target.name} DETACH."
        message = f"?{target.name} is a concept, not a proposition."
        raise KipError("KIP_1001", message, hint, target.span)


def _check_key(key: str, span: Span) -> None:
    if not is_key(key):
        hint = f"Keys match [a-zA-Z_][a-zA-Z0-9_]*, at most {limits.KEY_CHARACTERS} characters."
        raise KipError("KIP_1002", f"'{shown(key)}' is no attribute or metadata key.", hint, span)


def _refuse_reserved(key: str, span: Span) -> None:
    if key in RESERVED_METADATA:
        message = f"The metadata key '{key}' is maintained by the engine."
        raise KipError("KIP_2002", message, "Leave it out.", span)


def _check_map(found: ast.Value | None, what: str, reserved: bool = False) -> None:
    """A map of attributes or metadata: an object with identifiers as keys (KIP 2.8)."""
    if found is None:
        return
    if not isinstance(found, ast.Object):
        raise KipError("KIP_1001", f"{what} takes an object.", "Send {key: value}.", found.span)
    for entry in found.entries:
        _check_key(entry.key, entry.span)
        if reserved:
            _refuse_reserved(entry.key, entry.span)


def _check_upsert(command: ast.Upsert, catalog: Catalog) -> None:
    """Check the blocks in order: what one registers, the next may use (KIP 2.9.1)."""
    types, predicates = set(catalog.concept_types), set(catalog.predicates)
    for block in command.blocks:
        _check_map(block.metadata, "WITH METADATA", reserved=True)
        handles: set[str] = set()
        for item in block.items:
            known = Catalog(frozenset(types), frozenset(predicates))
            _check_map(item.attributes, "SET ATTRIBUTES")
            _check_map(item.metadata, "WITH METADATA", reserved=True)
            if isinstance(item, ast.ConceptBlock):
                _check_concept_block(item, known, handles, types, predicates)
            else:
                _check_proposition_block(item, known, handles)
            if item.handle is not None:
                handles.add(item.handle.name)


def _check_concept_block(
    item: ast.ConceptBlock,
    known: Catalog,
    handles: set[str],
    types: set[str],
    predicates: set[str],
) -> None:
    matcher = item.matcher
    _check_upsert_matcher(matcher)
    if matcher.type is not None and matcher.name is not None:
        _check_concept_matcher(matcher, known)
        name = cast(str, cast(ast.Scalar, matcher.name).value)
        type_name = cast(ast.Scalar, matcher.type).value
        if type_name in META_TYPES:
            _check_defined_name(str(type_name), name, matcher.name.span)
            (types if type_name == "$ConceptType" else predicates).add(name)
    else:
        _check_concept_matcher(matcher, known)
    # A block may register the predicate that its own links use.
    known = Catalog(frozenset(types), frozenset(predicates))
    for link in item.propositions or ():
        known.require_predicate(link.predicate.name, link.predicate.span)
        _check_target(link.target, known, handles)
        _check_map(link.metadata, "WITH METADATA", reserved=True)


def _check_upsert_matcher(matcher: ast.ConceptMatcher) -> None:
    """UPSERT names one concept exactly (KIP 4.1)."""
    if matcher.id is None and (matcher.type is None or matcher.name is None):
        hint = 'Write {type: "…", name: "…"} to match or create, {id: "…"} to match.'
        message = "A concept in UPSERT is named by type and name, or by id."
        raise KipError("KIP_1001", message, hint, matcher.span)


def _check_defined_name(meta: str, name: str, span: Span) -> None:
    """What a definition is called is an identifier (KIP 2.8.1)."""
    valid = is_type_name(name) if meta == "$ConceptType" else not name.startswith("$")
    if not valid or not is_type_name(name):
        what = "A concept type" if meta == "$ConceptType" else "A predicate"
        raise KipError("KIP_1002", f"{what} cannot be called '{shown(name)}'.", None, span)


def _check_proposition_block(item: ast.PropositionBlock, known: Catalog, handles: set[str]) -> None:
    if isinstance(item.matcher, ast.PropositionId):
        proposition_id(item.matcher.id)
    else:
        _check_structural(item.matcher, known, handles)


def _check_structural(matcher: ast.PropositionMatcher, known: Catalog, handles: set[str]) -> None:
    """A proposition in UPSERT is one fact: one plain predicate, exact endpoints (KIP 4.1)."""
    _check_target(matcher.subject, known, handles)
    predicate = matcher.predicate
    if isinstance(predicate, ast.Variable):
        message = "A proposition in UPSERT names its predicate."
        raise KipError("KIP_1001", message, "Write it in quotes.", predicate.span)
    name = predicate.alternatives[0]
    if len(predicate.alternatives) > 1 or name.hops is not None:
        message = "A proposition in UPSERT has one predicate, without hops or alternatives."
        raise KipError("KIP_1001", message, "Write one block for each fact.", predicate.span)
    known.require_predicate(name.name, name.span)
    _check_target(matcher.object, known, handles)


def _check_target(target: ast.Endpoint, known: Catalog, handles: set[str]) -> None:
    """An endpoint in UPSERT: a handle defined above, or an exact identity (KIP 4.1)."""
    if isinstance(target, ast.Variable):
        if target.name not in handles:
            message = f"The handle ?{target.name} is not defined above in this UPSERT block."
            defined = ", ".join(f"?{name}" for name in sorted(handles))
            hint = "Put the block that defines it first" + (
                f"; defined so far: {defined}." if defined else "."
            )
            raise KipError("KIP_3001", message, hint, target.span)
        return
    if target.variable is not None:
        message = "An endpoint in UPSERT takes no handle of its own."
        hint = f"Leave out ?{target.variable.name}, or define it in a block of its own."
        raise KipError("KIP_1001", message, hint, target.variable.span)
    if isinstance(target, ast.ConceptClause):
        _check_upsert_matcher(target.matcher)
        _check_concept_matcher(target.matcher, known)
    elif isinstance(target.matcher, ast.PropositionId):
        proposition_id(target.matcher.id)
    else:
        _check_structural(target.matcher, known, handles)


# META -----------------------------------------------------------------------------------------


def _check_search(command: ast.Search, catalog: Catalog) -> None:
    text_of(command.term, "The term of SEARCH")
    page_size(command.limit)
    if command.type is not None:
        name = text_of(command.type, "The type of SEARCH")
        if command.kind == "CONCEPT":
            catalog.require_type(name, command.type.span)
        else:
            catalog.require_predicate(name, command.type.span)
