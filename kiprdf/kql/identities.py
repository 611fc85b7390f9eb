"""Checks a WHERE before it runs: exact identities exist, REGEX patterns are valid."""

from __future__ import annotations

import json
import typing
from collections.abc import Collection
from typing import TypeAlias, cast

from pyoxigraph import Literal, NamedNode

from kiprdf.errors import KipError, nearest, shown
from kiprdf.kql.clauses import Clause, checked_text, exact_node, required
from kiprdf.kql.comparisons import engine_matches
from kiprdf.kql.entailment import rules_of
from kiprdf.language import ast
from kiprdf.language.names import META_TYPES, is_identifier, without_outer_blanks
from kiprdf.language.parameters import foreign_placeholder
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import to_json
from kiprdf.semantics import scope
from kiprdf.store import Store

_ACTORS = ("$self", "$system")
NEAR_NAMES = 2_000
"""The most names that are compared to explain an empty answer; five times as many for an error.

Of more names none is compared: which ones the store gives first depends on how it was filled.
"""


Purpose: TypeAlias = typing.Literal["read", "write", "delete"]
"""What a command does with what its WHERE binds, which decides what a hint may suggest."""
_MEANT = "Did you mean "
TURNED = "The other way round it matches: "


def check_identities(
    where: ast.Block, store: Store, purpose: Purpose = "read", taken: Collection[str] = ()
) -> None:
    """Raise KIP_3002 for a dangling exact identity in the mandatory pattern of a WHERE, and
    KIP_1001 for a REGEX pattern that the engine refuses.

    Inside NOT, OPTIONAL and UNION a missing identity is not an error: it does not match.
    The names ``taken`` are not suggested.
    """
    check_patterns(where)
    identities = required(where, store.iris, rules_of(store))
    store.prefetch(node for nodes in identities for node in nodes if isinstance(node, NamedNode))
    for nodes, clause in identities.items():
        if not any(isinstance(node, NamedNode) and exists(node, store) for node in nodes):
            raise missing_identity(clause, store, purpose, taken)


def exists(node: NamedNode, store: Store) -> bool:
    """Whether a node is a concept or a proposition of the store."""
    type = store.iris.type_of(node)
    if type is None:
        return bool(store.lookup(node, vocab.REIFIES, None, 1))
    # One triple is found faster than a pattern.
    return bool(store.lookup(node, vocab.TYPE, type, 1))


def missing_identity(
    clause: Clause, store: Store, purpose: Purpose, taken: Collection[str] = ()
) -> KipError:
    """KIP_3002 for an exact identity, with the names that look like it; for a write also with the
    UPSERT of the concept, which may follow its creation."""
    matcher = clause.matcher
    if isinstance(matcher, ast.PropositionId):
        hint = "Look for the fact with FIND(?l) WHERE { ?l (…) }."
        message = f"There is no proposition {shown(checked_text(matcher.id))}."
        return KipError("KIP_3002", message, hint, matcher.span)
    assert isinstance(matcher, ast.ConceptMatcher)
    place = matcher.name or matcher.id or matcher
    node = exact_node(clause, store.iris)
    assert node is not None
    name = store.iris.name(node.value)
    if not isinstance(name, ConceptName) or name.type == "":
        missing = shown(checked_text(cast(ast.Value, matcher.id)))
        hint = 'Ids look like C:Type/name; or name the concept by {type: "…", name: "…"}.'
        return KipError("KIP_3002", f"There is no concept {missing}.", hint, place.span)
    message = f'There is no concept {{type: "{name.type}", name: {quoted(name.name)}}}.'
    hint = _near_hint(name, store, matcher.id is not None, taken)
    if purpose != "read":
        hint = hint_of_write(hint, purpose, _creation(name))
    return KipError("KIP_3002", message, hint, place.span)


def hint_of_write(
    hint: str, purpose: Purpose, creation: str = " If it is new, create it first with UPSERT."
) -> str:
    """The hint of a write that names what is absent: it suggests no change of another element.

    >>> hint_of_write("Did you mean 'Ada'?", "write")
    "Did you mean 'Ada'? If it is new, create it first with UPSERT."
    >>> hint_of_write("Did you mean 'Ada'?", "delete")
    "There is nothing to delete: 'Ada' is another one. Name it only if that is meant."
    """
    if purpose == "write":
        return hint if "already merged" in hint else hint + creation
    if hint.startswith((_MEANT, TURNED)):
        others = hint.removeprefix(TURNED).removeprefix(_MEANT).removesuffix("?")
        return (
            f"There is nothing to delete: {others} is another one. Name it only if that is meant."
        )
    return f"There is nothing to delete. {hint}"


def _creation(name: ConceptName) -> str:
    """How to create a concept before a write that names it; nothing for what no concept can be."""
    is_name = is_identifier(name.name) or name.type not in META_TYPES
    is_name = is_name and name.name == without_outer_blanks(name.name)
    if not is_name or "`" in name.name or placeholder_hint(name.name):
        return ""
    matcher = f'{{type: "{name.type}", name: {json.dumps(name.name, ensure_ascii=False)}}}'
    return f" If it is new, create it first: `UPSERT {{ CONCEPT {{ {matcher} }} }}`."


def _near_hint(name: ConceptName, store: Store, is_id: bool, taken: Collection[str]) -> str:
    """The names, or the ids, that look like a missing one, or how to look further."""
    merged = merged_hint(name.name, store, name.type)
    if merged:
        return merged
    close = nearest(name.name, names_of_type(name.type, store, 5 * NEAR_NAMES))
    close = [candidate for candidate in close if candidate not in taken]
    if close:
        if is_id:
            close = [ConceptName(name.type, candidate).id for candidate in close]
        return f"{_MEANT}{' or '.join(repr(candidate) for candidate in close)}?"
    placeholder = placeholder_hint(name.name)
    if placeholder:
        return placeholder
    elsewhere = types_of_name(name.name, store)
    if elsewhere and not taken:
        return f'There is {{type: "{elsewhere[0]}", name: {quoted(name.name)}}}.'
    return f"Look for it with SEARCH CONCEPT {quoted(name.name)}."


def quoted(text: str) -> str:
    """A text of the user as a string of KIP for a message; a long one is cut."""
    return json.dumps(shown(text), ensure_ascii=False)


def placeholder_hint(text: str) -> str | None:
    """What to write instead of a placeholder of another language in quotes.

    >>> placeholder_hint("{{name}}")
    'Write `:name` instead of `"{{name}}"`, and send its value in parameters.'
    """
    name = foreign_placeholder(text)
    if name is None or text in _ACTORS:
        return None
    return f'Write `:{name}` instead of `"{text}"`, and send its value in parameters.'


def merged_hint(name: str, store: Store, type_name: str | None = None) -> str | None:
    """Where a concept went that MERGE CONCEPT has joined to another."""
    target = merged_into(name, store, type_name)
    if target is None:
        return None
    shown_target = f'{{type: "{target.type}", name: {quoted(target.name)}}}'
    return f"'{shown(name)}' was already merged into {shown_target}."


def merged_into(name: str, store: Store, type_name: str | None = None) -> ConceptName | None:
    """The concept to which MERGE CONCEPT has joined another one."""
    targets = []
    for triple in store.match(None, NamedNode(vocab.METADATA + vocab.MERGED_FROM), None):
        target = store.iris.name(cast(NamedNode, triple.subject).value)
        trail = to_json(cast(Literal, triple.object))
        if not isinstance(target, ConceptName) or not isinstance(trail, list):
            continue
        if f"{target.type}:{name}" in trail and type_name in (None, target.type):
            targets.append(target)
    return min(targets, default=None)


def names_of_type(type_name: str, store: Store, most: int = NEAR_NAMES) -> list[str]:
    """The names of the concepts of a type; none if there are more than ``most``."""
    rows = store.lookup(None, vocab.TYPE, store.iris.type(type_name), most + 1)
    names = (store.iris.concept_name(cast(NamedNode, row.subject).value) for row in rows)
    return [name for name in names if name] if len(rows) <= most else []


def types_of_name(text: str, store: Store) -> list[str]:
    """The types of the concepts with a name."""
    nodes = (t.subject for t in store.match(None, vocab.LABEL, Literal(text)))
    names = (store.iris.name(cast(NamedNode, node).value) for node in nodes)
    return sorted(name.type for name in names if isinstance(name, ConceptName))


def check_patterns(where: ast.Block) -> None:
    """A pattern is valid iff the engine says so: an invalid one leaves its test unbound."""
    conditions = (clause.condition for clause in scope.filters(where))
    for test in (test for condition in conditions for test in scope.tests(condition)):
        if not isinstance(test, ast.StringTest) or test.function != "REGEX":
            continue
        pattern = checked_text(cast(ast.Value, test.argument))
        if engine_matches("", pattern) is None:
            message = f"The pattern {shown(pattern)!r} is not a regular expression."
            hint = "Rust's syntax is used: no look-around, no back references."
            raise KipError("KIP_1001", message, hint, test.argument.span)
