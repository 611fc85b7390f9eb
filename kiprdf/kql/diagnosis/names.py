"""Names that no concept has, and those that may be meant."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import cast

from pyoxigraph import Literal

from kiprdf.errors import KipWarning, nearest, shown
from kiprdf.kql.find import run
from kiprdf.kql.identities import (
    NEAR_NAMES,
    exists,
    merged_hint,
    names_of_type,
    types_of_name,
)
from kiprdf.language import ast
from kiprdf.rdf import vocab
from kiprdf.store import Store

SHOWN = 3
"""How many names a hint shows."""


def matchers(block: ast.Block) -> Iterator[ast.ConceptMatcher]:
    """The concept matchers with a name in clauses that must match, or may instead of others."""
    for clause in block.clauses:
        match clause:
            case ast.ConceptClause() | ast.PropositionClause():
                yield from _matchers_in(clause)
            case ast.Optional() | ast.Union():
                yield from matchers(clause.block)


def _matchers_in(clause: ast.Endpoint) -> Iterator[ast.ConceptMatcher]:
    match clause:
        case ast.ConceptClause(matcher=matcher) if matcher.name is not None:
            yield matcher
        case ast.PropositionClause(matcher=ast.PropositionMatcher() as matcher):
            yield from _matchers_in(matcher.subject)
            yield from _matchers_in(matcher.object)


def explain_name(
    name: ast.Operand | None, type_name: str | None, store: Store
) -> Iterator[KipWarning]:
    """A name that no concept, or none of a type, has."""
    if not isinstance(name, ast.Scalar) or not isinstance(name.value, str):
        return
    if _is_used(name.value, type_name, store):
        return
    noun = "concept" if type_name is None else type_name
    message = f"No {noun} is called {_quoted(name.value)}."
    yield KipWarning("UnknownName", message, _hint(name.value, type_name, store), name.span)


def _hint(name: str, type_name: str | None, store: Store) -> str | None:
    """Where the concept went, or the names that may be meant."""
    merged = merged_hint(name, store, type_name)
    if merged is not None:
        return merged
    others = types_of_name(name, store)
    if others:
        return f"There is {{type: {_quoted(others[0])}, name: {_quoted(name)}}}."
    near = _respelled(name, type_name, store) or nearest(name, _names(type_name, store))
    texts = [_quoted(text) for text in near[:SHOWN]]
    return f"Did you mean {' or '.join(texts)}?" if texts else None


def _quoted(text: str) -> str:
    return json.dumps(shown(text), ensure_ascii=False)


def _is_used(name: str, type_name: str | None, store: Store) -> bool:
    if type_name is not None:
        return exists(store.iris.concept(type_name, name), store)
    return bool(store.lookup(None, vocab.LABEL, Literal(name), 1))


def _respelled(name: str, type_name: str | None, store: Store) -> list[str]:
    """The names of concepts that have a name as an alias, in another case or with outer blanks."""
    x = ast.Variable("x")
    pattern = ast.Scalar(rf"(?i)^\s*{re.escape(name.strip())}\s*$")
    spellings = tuple(
        ast.StringTest("REGEX", path, pattern)
        for path in (ast.Path(x, "name"), ast.Path(x, "attributes", "aliases"))
    )
    matcher = ast.ConceptMatcher(type=None if type_name is None else ast.Scalar(type_name))
    where = ast.Block((ast.ConceptClause(x, matcher), ast.Filter(ast.Disjunction(spellings))))
    find = ast.Find((ast.Path(x, "name"),), where, (), ast.Scalar(SHOWN))
    return list(dict.fromkeys(run(find, store).columns[0]))


def _names(type_name: str | None, store: Store) -> list[str]:
    """The names of a type, or of all concepts, as far as they are looked through."""
    if type_name is not None:
        return names_of_type(type_name, store)
    labels = islice(store.match(None, vocab.LABEL, None), NEAR_NAMES)
    return [cast(Literal, triple.object).value for triple in labels]
