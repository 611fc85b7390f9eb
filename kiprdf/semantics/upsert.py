"""The rules of UPSERT: exact identities, handles defined above, one fact a block (KIP 4.1)."""

from __future__ import annotations

from typing import cast

from kiprdf.budget import paced
from kiprdf.errors import KipError, shown
from kiprdf.language import ast
from kiprdf.language.names import META_TYPES, is_definition_name
from kiprdf.semantics.arguments import check_map, expected_version, proposition_id
from kiprdf.semantics.catalog import Catalog
from kiprdf.semantics.patterns import check_concept_matcher, check_predicate
from kiprdf.source import Span


def check_upsert(command: ast.Upsert, catalog: Catalog) -> None:
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
