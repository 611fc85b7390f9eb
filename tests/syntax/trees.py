"""Generated commands: every tree that the grammar can make, and no other."""

from __future__ import annotations

from typing import Any, get_args

from hypothesis import strategies as st

from kiprdf.language import ast, limits

_words = st.sampled_from(("a", "_", "x1", "type", "FIND", "risk_level", "IN", "z" * 40))
_strings = st.text(max_size=8) | st.sampled_from(
    ("T", "p", '"', "\\", "\n", "\x00", "\u2028", "😀", "}", ":a", "//", "/*", "\x7f", "?x", "'")
)
_texts = _strings.map(ast.Scalar)
_placeholders = _words.map(ast.Placeholder)
_numbers = st.integers(limits.INTEGER_MINIMUM, limits.INTEGER_MAXIMUM) | st.floats(
    allow_nan=False, allow_infinity=False
)
_scalars = (st.none() | st.booleans() | _numbers | _strings).map(ast.Scalar)


def _objects(values: st.SearchStrategy[Any], keys: st.SearchStrategy[str]) -> Any:
    entries = st.builds(ast.Entry, keys, values)
    return st.builds(
        ast.Object, st.lists(entries, max_size=3, unique_by=lambda e: e.key).map(tuple)
    )


def _tuples(items: st.SearchStrategy[Any], least: int = 0, most: int = 3) -> Any:
    return st.lists(items, min_size=least, max_size=most).map(tuple)


_values = st.recursive(
    _scalars | _placeholders,
    lambda inner: st.builds(ast.Array, _tuples(inner)) | _objects(inner, _strings),
    max_leaves=6,
)
_maps = _objects(_values, _words) | _placeholders
_names = _texts | _placeholders
_variables = _words.map(ast.Variable)

_concept_matchers = st.one_of(
    st.builds(ast.ConceptMatcher),
    st.builds(ast.ConceptMatcher, id=_names),
    st.builds(ast.ConceptMatcher, type=_names),
    st.builds(ast.ConceptMatcher, name=_names),
    st.builds(ast.ConceptMatcher, type=_names, name=_names),
)
_proposition_ids = st.builds(ast.PropositionId, _names)
_hops = st.builds(ast.Hops, st.integers(0, 3), st.none() | st.integers(3, 70))
_predicate_names = st.builds(ast.PredicateName, _names, st.none() | _hops)
_predicates = st.builds(ast.Predicates, _tuples(_predicate_names, 1)) | _variables
_maybe_variables = st.none() | _variables


def _clauses_with(endpoints: st.SearchStrategy[Any]) -> Any:
    matchers = st.builds(ast.PropositionMatcher, endpoints, _predicates, endpoints)
    return st.builds(ast.PropositionClause, _maybe_variables, matchers | _proposition_ids)


_endpoints = st.recursive(
    _variables | st.builds(ast.ConceptClause, _maybe_variables, _concept_matchers),
    _clauses_with,
    max_leaves=4,
)

_paths = st.builds(
    ast.Path,
    _variables,
    st.sampled_from(("id", "type", "name", "subject", "predicate", "object")),
) | st.builds(ast.Path, _variables, st.sampled_from(("attributes", "metadata")), st.none() | _words)
_operands = _paths | _variables | _values
_simple = st.one_of(
    st.builds(
        ast.Comparison, st.sampled_from(get_args(ast.ComparisonOperator)), _operands, _operands
    ),
    st.builds(ast.Membership, _operands, st.builds(ast.Array, _tuples(_values, 1)) | _placeholders),
    st.builds(ast.NullTest, _operands, st.booleans()),
    st.builds(ast.StringTest, st.sampled_from(get_args(ast.StringFunction)), _operands, _operands),
    st.builds(ast.Truth, _operands),
)
_conditions = st.recursive(
    _simple,
    lambda inner: st.one_of(
        st.builds(ast.Negation, inner),
        st.builds(ast.Conjunction, _tuples(inner, 2)),
        st.builds(ast.Disjunction, _tuples(inner, 2)),
    ),
    max_leaves=5,
)
_expressions = (
    _variables
    | _paths
    | st.builds(ast.Aggregate, st.sampled_from(("SUM", "AVG", "MIN", "MAX")), _variables | _paths)
    | st.builds(ast.Aggregate, st.just("COUNT"), _variables | _paths, st.booleans())
)

_plain_clauses = st.one_of(
    st.builds(ast.ConceptClause, _variables, _concept_matchers),
    _clauses_with(_endpoints),
    st.builds(ast.Filter, _conditions),
)


def _blocks_of(clauses: st.SearchStrategy[Any]) -> Any:
    return st.builds(ast.Block, _tuples(clauses, 1, 4))


_clauses = st.recursive(
    _plain_clauses,
    lambda inner: st.one_of(
        *(st.builds(kind, _blocks_of(inner)) for kind in (ast.Not, ast.Optional, ast.Union))
    ),
    max_leaves=5,
)
_blocks = _blocks_of(_clauses)
_limits = st.none() | _numbers.map(ast.Scalar) | _placeholders
_cursors = st.none() | _names

_finds = st.builds(
    ast.Find,
    _tuples(_expressions, 1),
    _blocks,
    _tuples(st.builds(ast.OrderKey, _expressions, st.booleans())),
    _limits,
    _cursors,
)
_maybe_maps = st.none() | _maps
_exact_endpoints = _endpoints
_set_propositions = st.builds(
    ast.SetProposition, st.builds(ast.PredicateName, _names), _exact_endpoints, _maybe_maps
)
_proposition_matchers = _proposition_ids | st.builds(
    ast.PropositionMatcher, _endpoints, _predicates, _endpoints
)
_items = st.builds(
    ast.ConceptBlock,
    _maybe_variables,
    _concept_matchers,
    _maybe_maps,
    st.none() | _tuples(_set_propositions),
    _maybe_maps,
    _limits,
) | st.builds(
    ast.PropositionBlock,
    _maybe_variables,
    _proposition_matchers,
    _maybe_maps,
    _maybe_maps,
    _limits,
)
upserts = st.builds(
    ast.Upsert, _tuples(st.builds(ast.UpsertBlock, _tuples(_items, 1), _maybe_maps), 1, 2)
)
_own_paths = st.builds(ast.Path, _variables, st.just("metadata"), _words)
_calculations = st.recursive(
    _own_paths | _values,
    lambda inner: st.one_of(
        st.builds(
            ast.Calculation, st.sampled_from(("ADD", "MUL", "COALESCE")), _tuples(inner, 2, 3)
        ),
        st.builds(ast.Calculation, st.just("CLAMP"), _tuples(inner, 3, 3)),
    ),
    max_leaves=4,
).filter(lambda operand: not isinstance(operand, ast.Path))
_assignments = st.builds(
    ast.Assignments,
    st.lists(
        st.builds(ast.Assignment, _words, _calculations), max_size=3, unique_by=lambda e: e.key
    ).map(tuple),
)
_sets = _assignments | _placeholders
_updates = st.one_of(
    st.builds(ast.Update, _variables, _blocks, _sets, st.none() | _sets, _limits),
    st.builds(ast.Update, _variables, _blocks, st.none(), _sets, _limits),
)
_merges = st.builds(ast.MergeConcept, _variables, _variables, _blocks)
_keys = _tuples(st.builds(ast.Key, _strings), 1)
_deletes = st.one_of(
    st.builds(ast.DeleteAttributes, _keys, _variables, _blocks),
    st.builds(ast.DeleteMetadata, _keys, _variables, _blocks),
    st.builds(ast.DeletePropositions, _variables, _blocks),
    st.builds(ast.DeleteConcept, _variables, _blocks),
)
_kinds = st.sampled_from(get_args(ast.Kind))
_metas = st.one_of(
    st.just(ast.DescribePrimer()),
    st.builds(ast.DescribeDomains, _limits, _cursors),
    st.builds(ast.DescribeTypes, _kinds, _limits, _cursors),
    st.builds(ast.DescribeType, _kinds, _names),
    st.builds(
        ast.Search,
        _kinds,
        _names,
        st.none() | _names,
        st.none() | _names,
        _limits,
        _limits,
        _cursors,
    ),
    st.builds(ast.Export, _variables, _blocks, _limits, _cursors),
)

commands: st.SearchStrategy[ast.Command] = st.one_of(
    _finds, upserts, _updates, _merges, _deletes, _metas
)
