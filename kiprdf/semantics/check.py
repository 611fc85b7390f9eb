"""The rules a bound command must satisfy before it is compiled. One rule, one function."""

from __future__ import annotations

from typing import assert_never

from kiprdf.errors import KipError
from kiprdf.language import ast
from kiprdf.language.printer import expression_text
from kiprdf.semantics.arguments import (
    check_cursor,
    check_key,
    page_size,
    refuse_reserved,
    search_mode,
    text_of,
    threshold,
)
from kiprdf.semantics.budget import check_budget, check_width
from kiprdf.semantics.catalog import Catalog
from kiprdf.semantics.conditions import check_aggregate
from kiprdf.semantics.patterns import Kinds, check_block, check_operand, check_path, require_bound
from kiprdf.semantics.update import check_assignments
from kiprdf.semantics.upsert import check_upsert


def check(command: ast.Command, catalog: Catalog) -> None:
    """Raise ``KipError`` for the first rule that a bound command breaks."""
    match command:
        case ast.Find():
            _check_find(command, catalog)
        case ast.Upsert():
            check_upsert(command, catalog)
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
        case ast.DescribeTypes():
            page_size(command.limit)
            check_cursor(command.cursor)
        case ast.DescribeType():
            text_of(command.name, "The name of a type")
        case ast.Search():
            _check_search(command, catalog)
        case ast.Export():
            _check_export(command, catalog)
        case ast.DescribePrimer() | ast.DescribeDomains():
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
    if command.type is not None:
        name = text_of(command.type, "The type of SEARCH")
        if command.kind == "CONCEPT":
            catalog.require_type(name, command.type.span)
        else:
            catalog.require_predicate(name, command.type.span)
