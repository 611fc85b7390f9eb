"""Names that no concept has, and those that may be meant."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import cast

from pyoxigraph import Literal, NamedNode

from kiprdf.errors import KipWarning, nearest
from kiprdf.kql.entailment import rules_of
from kiprdf.kql.identities import (
    NEAR_NAMES,
    exists,
    merged_hint,
    names_of_type,
    placeholder_hint,
    quoted,
    types_of_name,
)
from kiprdf.language import ast
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName
from kiprdf.semantics import scope
from kiprdf.store import Store
from kiprdf.store.base import Statement

SHOWN = 3
"""How many names a hint shows."""
_ALIASES = NamedNode(vocab.ATTRIBUTE + "aliases")
_SPELT = ((None, vocab.LABEL), (None, _ALIASES), (vocab.TEXTS, _ALIASES))
"""Where names and aliases are: the graph and the predicate. Those of arrays are apart."""


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


def taken(where: ast.Block) -> frozenset[str]:
    """The names in a WHERE, also those within ids: no correction makes two of its concepts one."""
    strings = [
        operand for each in scope.filters(where) for operand in scope.operands(each.condition)
    ]
    for clause in where.clauses:
        if isinstance(clause, ast.ConceptClause):
            strings += [each for each in (clause.matcher.name, clause.matcher.id) if each]
    texts = [each.value for each in strings if isinstance(each, ast.Scalar)]
    named = [text for text in texts if isinstance(text, str)]
    return frozenset((*named, *(text.partition("/")[2] for text in named)))


def explain_name(
    name: ast.Operand | None, type_name: str | None, store: Store, taken: Collection[str] = ()
) -> Iterator[KipWarning]:
    """A name that no concept, or none of a type, has, without suggesting the names ``taken``."""
    if not isinstance(name, ast.Scalar) or not isinstance(name.value, str):
        return
    if _is_used(name.value, type_name, store):
        return
    noun = "concept" if type_name is None else type_name
    message = f"No {noun} is called {quoted(name.value)}."
    yield KipWarning("UnknownName", message, _hint(name.value, type_name, store, taken), name.span)


def _hint(name: str, type_name: str | None, store: Store, taken: Collection[str]) -> str | None:
    """Where the concept went, or the names that may be meant."""
    merged = merged_hint(name, store, type_name)
    if merged is not None:
        return merged
    others = types_of_name(name, store)
    if others and not taken:
        return f"There is {{type: {quoted(others[0])}, name: {quoted(name)}}}."
    near = _respelled(name, type_name, store) or nearest(name, _names(type_name, store))
    # Concepts of several types may share a name.
    texts = list(dict.fromkeys(quoted(text) for text in near if text not in taken))[:SHOWN]
    return f"Did you mean {' or '.join(texts)}?" if texts else placeholder_hint(name)


def _is_used(name: str, type_name: str | None, store: Store) -> bool:
    if type_name is not None:
        rules, type = rules_of(store), store.iris.type(type_name)
        types = (type,) if rules is None else rules.types(type)
        names = (cast(str, store.iris.concept_name(each.value)) for each in types)
        return any(exists(store.iris.concept(each, name), store) for each in names)
    return bool(store.lookup(None, vocab.LABEL, Literal(name), 1))


def _respelled(name: str, type_name: str | None, store: Store) -> list[str]:
    """The names of concepts that have a name as an alias, in another case or with outer blanks.

    The usual spellings are looked up by index, however many names there are; others are compared
    if they are few. A pattern on all aliases would take longer than an explanation may.
    """
    text = name.strip()
    spellings = dict.fromkeys(
        [text, text.casefold(), text.upper(), text.capitalize(), text.title()]
    )
    for graph, predicate in _SPELT:
        for spelling in spellings:
            rows = store.lookup(None, predicate, Literal(spelling), NEAR_NAMES, graph)
            names = _of_type(rows, type_name, store)
            if names:
                return names
    for graph, predicate in _SPELT:
        texts = store.lookup(None, predicate, None, NEAR_NAMES + 1, graph)
        few = texts if len(texts) <= NEAR_NAMES else []
        alike = [row for row in few if _folded(row) == text.casefold()]
        names = _of_type(alike, type_name, store)
        if names:
            return names
    return []


def _folded(statement: Statement) -> str | None:
    value = statement.object
    return value.value.strip().casefold() if isinstance(value, Literal) else None


def _of_type(rows: Iterable[Statement], type_name: str | None, store: Store) -> list[str]:
    """The names of the concepts, of one type if it is given, that are the subjects."""
    names = (store.iris.name(cast(NamedNode, row.subject).value) for row in rows)
    of_type = (n for n in names if isinstance(n, ConceptName) and type_name in (None, n.type))
    return sorted({each.name for each in of_type})[:SHOWN]


def _names(type_name: str | None, store: Store) -> list[str]:
    """The names of a type, or of all concepts, if they are few."""
    if type_name is not None:
        return names_of_type(type_name, store)
    labels = store.lookup(None, vocab.LABEL, None, NEAR_NAMES + 1)
    return [cast(Literal, row.object).value for row in labels if len(labels) <= NEAR_NAMES]
