"""Writes the UPSERT and the DELETE statements that turn one nexus into another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kiprdf.budget import paced
from kiprdf.interchange.differences.changes import (
    PARTS,
    Change,
    Fact,
    Identity,
    Part,
    shown,
)
from kiprdf.kml import statements
from kiprdf.language import ast
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Terms, json_map
from kiprdf.rdf.iris import ConceptName
from kiprdf.semantics.arguments import RESERVED_METADATA
from kiprdf.semantics.protected import ACTORS, CORE_DIRECTIVES, SYSTEM

_TARGET = ast.Variable("x")


# UPSERT ---------------------------------------------------------------------------------------


def upsert(changes: Iterable[Change]) -> ast.Upsert:
    """An UPSERT of all new and changed elements; without a block if there are none.

    ``changes`` are in order.
    """
    written = {change.identity: change for change in changes if _is_written(change)}
    tall = statements.tall_ends(
        [fact for fact in written if isinstance(fact, Fact)],
        lambda fact: fact.facts_below,
        lambda fact: fact.height,
    )
    # Facts that are only referred to are sorted among the others of their height.
    order = sorted((*written, *tall), key=_height)
    elements = [_element(identity, written.get(identity)) for identity in paced(order)]
    return statements.upsert(elements, _element)


def _is_written(change: Change) -> bool:
    if change.after is None:
        return False
    return change.before is None or any(_set(change, part) for part in PARTS)


def _set(change: Change, part: Part) -> Terms:
    """The values of one part that a statement may set."""
    return {
        key.key: key.after
        for key in change.keys(part)
        if key.after is not None and not _is_protected(change, part, key.key)
    }


def _is_protected(change: Change, part: Part, key: str) -> bool:
    """Whether a key cannot be written: it belongs to the engine or is protected."""
    if part == "metadata" and key in RESERVED_METADATA:
        return True
    if change.kind == "added":
        return False
    is_directives = part == "attributes" and key == CORE_DIRECTIVES
    return change.identity in SYSTEM or (is_directives and change.identity in ACTORS)


def _height(identity: Identity) -> int:
    return identity.height if isinstance(identity, Fact) else -1


def _element(identity: Identity, change: Change | None = None) -> statements.Element[Identity]:
    """An element with the values that a change sets."""
    attributes, metadata = ({} if change is None else json_map(_set(change, p)) for p in PARTS)
    if isinstance(identity, ConceptName):
        return statements.Concept(identity, *identity, attributes, metadata)
    ends = (identity.subject, identity.predicate, identity.object)
    return statements.Proposition(identity, *ends, attributes, metadata)


# DELETE ---------------------------------------------------------------------------------------


def deletions(changes: Sequence[Change]) -> Iterator[ast.Delete]:
    """DELETE statements for everything removed, ordered so that each target still exists.

    Keys first, then propositions from the top down, then concepts, definitions last.
    """
    for change in paced(changes):
        if change.kind == "changed":
            yield from _key_deletions(change)
    for change in reversed(changes):
        if change.kind != "removed" or _is_undeletable(change.identity):
            continue
        where = _where(change)
        if isinstance(change.identity, Fact):
            yield ast.DeletePropositions(_TARGET, where)
        else:
            yield ast.DeleteConcept(_TARGET, where)


def _key_deletions(change: Change) -> Iterator[ast.Delete]:
    for part in PARTS:
        lost = [key.key for key in change.keys(part) if key.after is None]
        keys = tuple(ast.Key(key) for key in lost if not _is_protected(change, part, key))
        if keys and part == "attributes":
            yield ast.DeleteAttributes(keys, _TARGET, _where(change))
        elif keys:
            yield ast.DeleteMetadata(keys, _TARGET, _where(change))


def _where(change: Change) -> ast.Block:
    identity = change.identity
    clause: ast.Clause
    if isinstance(identity, ConceptName):
        clause = ast.ConceptClause(_TARGET, statements.concept_matcher(*identity))
    elif identity.height < statements.MOST_NESTED:
        link = statements.Proposition(
            identity, identity.subject, identity.predicate, identity.object
        )
        clause = ast.PropositionClause(_TARGET, statements.proposition_matcher(link, _element))
    else:
        assert change.before is not None
        id = ast.PropositionId(ast.Scalar(change.before.id))
        clause = ast.PropositionClause(_TARGET, id)
    return ast.Block((clause,))


def _is_undeletable(identity: Identity) -> bool:
    """Whether an element, or the subject of a link, belongs to the core of every nexus."""
    if isinstance(identity, Fact):
        return identity.subject in SYSTEM
    return identity in SYSTEM or identity in ACTORS


# What no statement can write ---------------------------------------------------------------------


def unwritable(changes: Iterable[Change], link_ids: bool) -> Iterator[str]:
    """Sentences about the differences that no statement can write."""
    for change in paced(changes):
        name = shown(change.identity)
        if change.kind == "removed":
            if _is_undeletable(change.identity):
                yield f"{name} is protected and cannot be deleted."
            continue
        for part in PARTS:
            keys = [k.key for k in change.keys(part) if _is_protected(change, part, k.key)]
            for key in keys:
                if part == "attributes" or key not in vocab.ENGINE_KEYS:
                    yield f"{part}.{key} of {name} cannot be written."
        if link_ids and change.ids is not None:
            yield f"The id of {name} cannot be chosen."
