"""The rules a bound command must satisfy before it is compiled. One rule, one function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never, cast

from kiprdf.budget import paced
from kiprdf.errors import KipError, shown
from kiprdf.language import ast, limits
from kiprdf.language.names import META_TYPES, is_definition_name
from kiprdf.language.printer import expression_text, value_text
from kiprdf.language.values import is_number
from kiprdf.semantics import scope
from kiprdf.semantics.arguments import (
    check_cursor,
    check_key,
    check_map,
    expected_version,
    page_size,
    proposition_id,
    refuse_reserved,
    search_mode,
    text_of,
    threshold,
)
from kiprdf.semantics.catalog import Catalog
from kiprdf.semantics.conditions import check_aggregate
from kiprdf.semantics.patterns import (
    Kinds,
    check_block,
    check_concept_matcher,
    check_operand,
    check_path,
    check_predicate,
    require_bound,
)
from kiprdf.source import Span


def check(command: ast.Command, catalog: Catalog) -> None:
    """Raise ``KipError`` for the first rule that a bound command breaks."""
    match command:
        case ast.Find():
            _check_find(command, catalog)
        case ast.Upsert():
            _check_upsert(command, catalog)
        case ast.Update():
            _check_update(command, catalog)
        case ast.MergeConcept():
            _check_merge(command, catalog)
        case (
            ast.DeleteAttributes()
            | ast.DeleteMetadata()
            | ast.DeletePropositions()
            | ast.DeleteConcept()
        ):
            _check_delete(command, catalog)
        case ast.DescribeTypes() | ast.DescribeDomains():
            page_size(command.limit)
            check_cursor(command.cursor)
        case ast.DescribeType():
            text_of(command.name, "The name of a type")
        case ast.Search():
            _check_search(command, catalog)
        case ast.Export():
            _check_export(command, catalog)
        case ast.DescribePrimer():
            pass
        case _:
            assert_never(command)


def _check_find(command: ast.Find, catalog: Catalog) -> None:
    check_width(command)
    check_budget(command.where)
    kinds = check_block(command.where, catalog, Kinds())
    for expression in command.expressions:
        _check_expression(expression, kinds)
    for key in command.order_by:
        _check_order_key(key, command, kinds)
    page_size(command.limit)
    check_cursor(command.cursor)


def _check_expression(expression: ast.Expression, kinds: Kinds) -> None:
    """FIND projects what the WHERE binds (KIP 3.3)."""
    match expression:
        case ast.Variable():
            require_bound(expression, kinds)
        case ast.Path():
            check_path(expression, kinds)
        case ast.Aggregate():
            argument = expression.argument
            _check_expression(argument, kinds)
            if isinstance(argument, ast.Path):
                check_operand(argument, kinds)
            check_aggregate(expression)


def _check_order_key(key: ast.OrderKey, command: ast.Find, kinds: Kinds) -> None:
    """Beside aggregates, rows are ordered by what FIND shows of them (KIP 3.5)."""
    _check_expression(key.expression, kinds)
    if isinstance(key.expression, ast.Path):
        check_operand(key.expression, kinds)
    aggregated = any(isinstance(shown, ast.Aggregate) for shown in command.expressions)
    aggregated = aggregated or isinstance(key.expression, ast.Aggregate)
    if aggregated and key.expression not in command.expressions:
        message = f"ORDER BY {expression_text(key.expression)} is not an expression of FIND."
        hint = "Beside aggregates, order by one of the FIND expressions."
        raise KipError("KIP_1001", message, hint, key.span)


def _check_where(where: ast.Block, catalog: Catalog, *targets: ast.Variable) -> Kinds:
    """The WHERE of a statement binds its targets to elements; what its variables may be."""
    check_budget(where)
    kinds = check_block(where, catalog, Kinds())
    for target in targets:
        require_bound(target, kinds)
        if "predicate" in kinds.possible[target.name]:
            message = f"?{target.name} holds a predicate's name, not an element."
            hint = "Bind the target with ?link (…) or ?x {…}."
            raise KipError("KIP_1001", message, hint, target.span)
    return kinds


def _check_update(command: ast.Update, catalog: Catalog) -> None:
    check_written(command, _check_where(command.where, catalog, command.target))


def check_written(command: ast.Update, kinds: Kinds) -> None:
    """What is written, and what it is computed from (KIP 4.3); ``kinds`` are those of the WHERE."""
    check_assignments(command, kinds)
    page_size(command.limit)


def _check_merge(command: ast.MergeConcept, catalog: Catalog) -> None:
    """Both ends are concepts (KIP 4.4)."""
    kinds = _check_where(command.where, catalog, command.source, command.target)
    for target in (command.source, command.target):
        if kinds.possible[target.name] == {"link"}:
            message = f"?{target.name} is a proposition; MERGE CONCEPT joins concepts."
            hint = f"Bind it with ?{target.name} {{type: …, name: …}}."
            raise KipError("KIP_1001", message, hint, target.span)


def _check_export(command: ast.Export, catalog: Catalog) -> None:
    _check_where(command.where, catalog, command.target)
    page_size(command.limit)
    check_cursor(command.cursor)


def _check_delete(command: ast.Delete, catalog: Catalog) -> None:
    """An error names what is defined, which may be another one than is to be deleted."""
    try:
        _check_targets(command, catalog)
    except KipError as error:
        near, is_near, _ = (error.hint or "").partition("? Names are case-sensitive.")
        if is_near:
            others = near.removeprefix("Did you mean ")
            error.hint = f"{others} is another one. Name it only if that is meant."
        raise


def _check_targets(command: ast.Delete, catalog: Catalog) -> None:
    """The target is bound by the WHERE and of a kind that can be deleted so (KIP 4.2)."""
    if isinstance(command, ast.DeleteAttributes | ast.DeleteMetadata):
        for key in command.keys:
            check_key(key.name, key.span)
            if isinstance(command, ast.DeleteMetadata):
                refuse_reserved(key.name, key.span)
    target = command.target
    possible = _check_where(command.where, catalog, target).possible[target.name]
    if isinstance(command, ast.DeleteConcept) and possible == {"link"}:
        hint = f"Write `PROPOSITIONS ?{target.name}` instead of `CONCEPT ?{target.name} DETACH`."
        message = f"?{target.name} is a proposition, not a concept."
        raise KipError("KIP_1001", message, hint, target.span)
    if isinstance(command, ast.DeletePropositions) and possible == {"concept"}:
        hint = f"Write `CONCEPT ?{target.name} DETACH` instead of `PROPOSITIONS ?{target.name}`."
        message = f"?{target.name} is a concept, not a proposition."
        raise KipError("KIP_1001", message, hint, target.span)


def _check_search(command: ast.Search, catalog: Catalog) -> None:
    text_of(command.term, "The term of SEARCH")
    search_mode(command.mode)
    threshold(command.threshold)
    page_size(command.limit)
    check_cursor(command.cursor)
    if command.type is not None:
        name = text_of(command.type, "The type of SEARCH")
        if command.kind == "CONCEPT":
            catalog.require_type(name, command.type.span)
        else:
            catalog.require_predicate(name, command.type.span)


# UPSERT -------------------------------------------------------------------------------------------


def _check_upsert(command: ast.Upsert, catalog: Catalog) -> None:
    """An error names what is defined; what is written may be new."""
    try:
        _check_blocks(command, catalog)
    except KipError as error:
        if error.definition is not None:
            error.hint += f" If it is new, define it first: `{error.definition}`."
        raise


def _check_blocks(command: ast.Upsert, catalog: Catalog) -> None:
    """Check the blocks in order: what one registers, the next may use (KIP 2.9.1)."""
    for block in paced(command.blocks):
        check_map(block.metadata, "WITH METADATA", reserved=True)
        handles: set[str] = set()
        for item in paced(block.items):
            expected_version(item.expected_version)
            check_map(item.attributes, "SET ATTRIBUTES")
            check_map(item.metadata, "WITH METADATA", reserved=True)
            if isinstance(item, ast.ConceptBlock):
                catalog = _check_concept_block(item, catalog, handles)
            else:
                _check_proposition_block(item, catalog, handles)
            if item.handle is not None:
                handles.add(item.handle.name)


def _check_concept_block(item: ast.ConceptBlock, catalog: Catalog, handles: set[str]) -> Catalog:
    """The catalog after the block, which may register the predicate that its own links use."""
    matcher = item.matcher
    _check_upsert_matcher(matcher)
    check_concept_matcher(matcher, catalog)
    if matcher.type is not None and matcher.name is not None:
        type_name = cast(ast.Scalar, matcher.type).value
        if type_name in META_TYPES:
            name = cast(str, cast(ast.Scalar, matcher.name).value)
            _check_defined_name(str(type_name), name, matcher.name.span)
            catalog = catalog.extended(str(type_name), name)
    for link in item.propositions or ():
        check_predicate(link.predicate, catalog)
        _check_target(link.target, catalog, handles)
        check_map(link.metadata, "WITH METADATA", reserved=True)
    return catalog


def _check_upsert_matcher(matcher: ast.ConceptMatcher) -> None:
    """UPSERT names one concept exactly (KIP 4.1)."""
    if matcher.id is None and (matcher.type is None or matcher.name is None):
        hint = 'Write {type: "…", name: "…"} to match or create, {id: "…"} to match.'
        message = "A concept in UPSERT is named by type and name, or by id."
        raise KipError("KIP_1001", message, hint, matcher.span)


def _check_defined_name(meta: str, name: str, span: Span) -> None:
    """What a definition is called is an identifier (KIP 2.8.1)."""
    if not is_definition_name(meta, name):
        what = "A concept type" if meta == "$ConceptType" else "A predicate"
        raise KipError("KIP_1002", f"{what} cannot be called '{shown(name)}'.", None, span)


def _check_proposition_block(
    item: ast.PropositionBlock, catalog: Catalog, handles: set[str]
) -> None:
    if isinstance(item.matcher, ast.PropositionId):
        proposition_id(item.matcher.id)
    else:
        _check_structural(item.matcher, catalog, handles)


def _check_structural(matcher: ast.PropositionMatcher, catalog: Catalog, handles: set[str]) -> None:
    """A proposition in UPSERT is one fact: one plain predicate, exact endpoints (KIP 4.1)."""
    _check_target(matcher.subject, catalog, handles)
    predicate = matcher.predicate
    if isinstance(predicate, ast.Variable):
        message = "A proposition in UPSERT names its predicate."
        raise KipError("KIP_1001", message, "Write it in quotes.", predicate.span)
    name = predicate.alternatives[0]
    if len(predicate.alternatives) > 1 or name.hops is not None:
        message = "A proposition in UPSERT has one predicate, without hops or alternatives."
        raise KipError("KIP_1001", message, "Write one block for each fact.", predicate.span)
    check_predicate(name, catalog)
    _check_target(matcher.object, catalog, handles)


def _check_target(target: ast.Endpoint, catalog: Catalog, handles: set[str]) -> None:
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
        message = "An endpoint in UPSERT cannot have a handle."
        hint = f"Leave out ?{target.variable.name}, or define it in a separate block."
        raise KipError("KIP_1001", message, hint, target.variable.span)
    if isinstance(target, ast.ConceptClause):
        _check_upsert_matcher(target.matcher)
        check_concept_matcher(target.matcher, catalog)
    elif isinstance(target.matcher, ast.PropositionId):
        proposition_id(target.matcher.id)
    else:
        _check_structural(target.matcher, catalog, handles)


# UPDATE -------------------------------------------------------------------------------------------


def check_assignments(command: ast.Update, kinds: Kinds) -> None:
    """Both maps of a bound UPDATE; ``kinds`` is what its WHERE binds."""
    attributes, metadata = _entries(command.attributes), _entries(command.metadata)
    _check_budget((*attributes, *metadata), command.target.span)
    for entry in (*attributes, *metadata):
        check_key(entry.key, entry.span)
        if isinstance(entry.value, ast.Calculation):
            _check_calculation(entry.value, command.target, kinds)
    for entry in metadata:
        refuse_reserved(entry.key, entry.span)


def _entries(assignments: ast.Assignments | ast.Placeholder | None) -> tuple[ast.Assignment, ...]:
    assert not isinstance(assignments, ast.Placeholder), assignments
    return () if assignments is None else assignments.entries


def _check_budget(entries: Iterable[ast.Assignment], span: Span) -> None:
    count = sum(_arguments(entry.value) for entry in entries)
    if count > limits.CALCULATION_ARGUMENTS:
        most = limits.CALCULATION_ARGUMENTS
        message = f"The calculations have {count} arguments; {most} are allowed."
        raise KipError("KIP_4002", message, "Split the statement.", span)


def _arguments(value: ast.Argument) -> int:
    if not isinstance(value, ast.Calculation):
        return 0
    return len(value.arguments) + sum(map(_arguments, value.arguments))


def _check_calculation(calculation: ast.Calculation, target: ast.Variable, kinds: Kinds) -> None:
    """Numbers, and values of the element that is being written."""
    for argument in calculation.arguments:
        match argument:
            case ast.Calculation():
                _check_calculation(argument, target, kinds)
            case ast.Path():
                _check_path(argument, target, kinds)
            case ast.Scalar() if is_number(argument.value):
                pass
            case _:
                raise _no_number(argument, calculation, target)


def _no_number(value: ast.Value, calculation: ast.Calculation, target: ast.Variable) -> KipError:
    shown_value = shown(value_text(value))
    message = f"{calculation.function} computes with numbers; {shown_value} is not a number."
    hint = f"Write or send a number, or a path such as ?{target.name}.attributes.key."
    is_text = isinstance(value, ast.Scalar) and isinstance(value.value, str)
    if is_text and calculation.function == "COALESCE":
        hint = (
            f"Set a missing string with SET ATTRIBUTES {{key: {shown_value}}} WHERE "
            f"{{ … FILTER(IS_NULL(?{target.name}.attributes.key)) }}."
        )
    return KipError("KIP_1001", message, hint, value.span)


def _check_path(path: ast.Path, target: ast.Variable, kinds: Kinds) -> None:
    if path.variable != target:
        message = f"An UPDATE of ?{target.name} computes with paths of ?{target.name} only."
        hint = f"Read ?{path.variable.name} with FIND first, and send the value as a parameter."
        raise KipError("KIP_1001", message, hint, path.span)
    check_operand(path, kinds)


# Sizes --------------------------------------------------------------------------------------------


def check_budget(where: ast.Block) -> None:
    """Refuse a WHERE that is too large to be compiled safely (``language.limits``): KIP_4002."""
    clauses = list(_clauses(where))
    if len(clauses) > limits.CLAUSES:
        message = f"The WHERE has {len(clauses)} clauses; {limits.CLAUSES} are allowed."
        raise KipError("KIP_4002", message, "Split the command.", clauses[limits.CLAUSES].span)
    filters = [clause.condition for clause in clauses if isinstance(clause, ast.Filter)]
    tests = [test for condition in filters for test in scope.tests(condition)]
    operands = [operand for test in tests for operand in scope.tested(test)]
    if len(operands) > limits.FILTER_OPERANDS:
        message = (
            f"The FILTERs have {len(operands)} operands; {limits.FILTER_OPERANDS} are allowed."
        )
        raise KipError("KIP_4002", message, "Use IN for a choice of values.", where.span)
    members = (test.options for test in tests if isinstance(test, ast.Membership))
    lists = [options for options in members if not isinstance(options, ast.Path)]
    for clause in clauses:
        if isinstance(clause, ast.PropositionClause):
            _check_hops(clause)
    _check_levels(clauses, where.span)
    _check_strings([*operands, *lists], where.span)
    _check_lists(lists, where.span)


def check_width(find: ast.Find) -> None:
    """Refuse a FIND with too many columns, each of which is as long as the result."""
    for parts, what in ((find.expressions, "expressions"), (find.order_by, "keys of ORDER BY")):
        if len(parts) > limits.EXPRESSIONS:
            message = f"The FIND has {len(parts)} {what}; {limits.EXPRESSIONS} are allowed."
            span = parts[limits.EXPRESSIONS].span
            raise KipError("KIP_4002", message, "Ask for whole elements: FIND(?x).", span)


def _clauses(block: ast.Block) -> Iterator[ast.Clause]:
    """Every clause at every depth, a proposition as an endpoint among them."""
    for clause in block.clauses:
        yield clause
        if isinstance(clause, ast.Not | ast.Optional | ast.Union):
            yield from _clauses(clause.block)
        elif isinstance(clause, ast.PropositionClause):
            yield from _nested(clause)


def _nested(clause: ast.PropositionClause) -> Iterator[ast.PropositionClause]:
    if isinstance(clause.matcher, ast.PropositionMatcher):
        for endpoint in (clause.matcher.subject, clause.matcher.object):
            if isinstance(endpoint, ast.PropositionClause):
                yield endpoint
                yield from _nested(endpoint)


def _check_hops(clause: ast.PropositionClause) -> None:
    matcher = clause.matcher
    if isinstance(matcher, ast.PropositionId) or isinstance(matcher.predicate, ast.Variable):
        return
    if len(matcher.predicate.alternatives) > limits.CLAUSES:
        message = f"A clause has more than {limits.CLAUSES} alternative predicates."
        hint = "Bind the predicate with a variable ?p and choose with FILTER(IN(?p, […]))."
        raise KipError("KIP_4002", message, hint, matcher.predicate.span)
    for name in matcher.predicate.alternatives:
        if name.hops and max(name.hops.minimum, name.hops.maximum or 0) > limits.HOPS:
            message = f"A hop range goes beyond {limits.HOPS}."
            raise KipError("KIP_4002", message, "Write {m,} for any number.", name.hops.span)


def _check_levels(clauses: list[ast.Clause], span: Span) -> None:
    """Each hop is a separate subquery, for each alternative again."""
    levels = sum(
        max(name.hops.minimum, name.hops.maximum or 0)
        for clause in clauses
        if isinstance(clause, ast.PropositionClause)
        and isinstance(clause.matcher, ast.PropositionMatcher)
        and isinstance(clause.matcher.predicate, ast.Predicates)
        for name in clause.matcher.predicate.alternatives
        if name.hops is not None
    )
    if levels > limits.HOP_LEVELS:
        message = f"The hop ranges add up to {levels} hops; {limits.HOP_LEVELS} are allowed."
        raise KipError("KIP_4002", message, "Shorten the ranges, or write {m,}.", span)


def _check_lists(lists: list[ast.Array | ast.Placeholder], span: Span) -> None:
    """The lists of all INs of a WHERE together."""
    count = sum(len(options.items) for options in lists if isinstance(options, ast.Array))
    if count > limits.LIST_ITEMS:
        message = f"The lists of IN have {count} items; {limits.LIST_ITEMS} are allowed."
        raise KipError("KIP_4002", message, "Split the list.", span)


def _check_strings(operands: list[ast.Operand], span: Span) -> None:
    """The strings of all FILTERs together, which a parameter may repeat."""
    count = sum(map(_characters, operands))
    if count > limits.FILTER_CHARACTERS:
        message = f"The strings of the FILTERs have {count} characters; 1 MiB is allowed."
        raise KipError("KIP_4002", message, "Compare with fewer or shorter strings.", span)


def _characters(operand: ast.Operand) -> int:
    match operand:
        case ast.Scalar():
            return len(operand.value) if isinstance(operand.value, str) else 1
        case ast.Array():
            return sum(map(_characters, operand.items))
        case ast.Object():
            return sum(_characters(entry.value) for entry in operand.entries)
        case ast.Path() | ast.Variable() | ast.Placeholder():
            return 0
        case _:
            assert_never(operand)
