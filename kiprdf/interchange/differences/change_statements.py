"""The KIP statements that turn one nexus into the other: an UPSERT, and what it cannot do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kiprdf.budget import paced
from kiprdf.interchange.differences.changes import (
    DEEPEST_SHOWN,
    PARTS,
    Change,
    Fact,
    Identity,
    Part,
    shown,
)
from kiprdf.language import ast
from kiprdf.language.parameters import from_json
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Terms
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import to_json
from kiprdf.semantics.places import RESERVED_METADATA
from kiprdf.semantics.protected import ACTORS, CORE_DIRECTIVES, SYSTEM

_TARGET = ast.Variable("x")


# What can be written --------------------------------------------------------------------------


def upsert(changes: Iterable[Change]) -> ast.Upsert | None:
    """What is new or has another value; None when that is nothing. ``changes`` are in order."""
    written = {change.identity: change for change in changes if _is_written(change)}
    if not written:
        return None
    tall = _tall_ends([fact for fact in written if isinstance(fact, Fact)], written)
    # Sorting is stable: what is only named is put among the others by its height.
    order = sorted((*written, *tall), key=_height)
    handles = _handles(order)
    items = (_block(identity, written.get(identity), handles) for identity in paced(order))
    return ast.Upsert((ast.UpsertBlock(tuple(items)),))


def _is_written(change: Change) -> bool:
    if change.after is None:
        return False
    return change.before is None or any(_set(change, part) for part in PARTS)


def _set(change: Change, part: Part) -> Terms:
    """The values of one part that a statement may set."""
    return {
        found.key: found.after
        for found in change.keys(part)
        if found.after is not None and not _is_kept(change, part, found.key)
    }


def _is_kept(change: Change, part: Part, key: str) -> bool:
    """Whether no statement may write a key: the engine's own, and what is protected."""
    if part == "metadata" and key in RESERVED_METADATA:
        return True
    if change.kind == "added":
        return False
    is_directives = part == "attributes" and key == CORE_DIRECTIVES
    return change.identity in SYSTEM or (is_directives and change.identity in ACTORS)


def _height(identity: Identity) -> int:
    return identity.height if isinstance(identity, Fact) else -1


def _tall_ends(facts: list[Fact], written: dict[Identity, Change]) -> list[Fact]:
    """Facts that are only referred to, and too tall to be written out in place."""
    found: dict[Fact, None] = {}
    pending = list(facts)
    while pending:
        for end in pending.pop().facts_below:
            if end not in written and end not in found and end.height >= DEEPEST_SHOWN:
                found[end] = None
                pending.append(end)
    return list(found)


def _handles(order: Sequence[Identity]) -> dict[Identity, ast.Variable]:
    """A handle for each that another refers to."""
    facts = [fact for fact in order if isinstance(fact, Fact)]
    ends = {end for fact in facts for end in (fact.subject, fact.object)}
    referred = [identity for identity in order if identity in ends]
    return {
        identity: ast.Variable(f"{'p' if isinstance(identity, Fact) else 'c'}{number}")
        for number, identity in enumerate(referred, 1)
    }


def _block(
    identity: Identity, change: Change | None, handles: dict[Identity, ast.Variable]
) -> ast.ConceptBlock | ast.PropositionBlock:
    handle = handles.get(identity)
    attributes, metadata = (None if change is None else _map(_set(change, p)) for p in PARTS)
    if isinstance(identity, Fact):
        return ast.PropositionBlock(handle, _matcher(identity, handles), attributes, metadata)
    return ast.ConceptBlock(handle, _concept(identity), attributes, None, metadata)


def _map(terms: Terms) -> ast.Object | None:
    entries = tuple(ast.Entry(key, from_json(to_json(terms[key]))) for key in sorted(terms))
    return ast.Object(entries) if entries else None


def _concept(name: ConceptName) -> ast.ConceptMatcher:
    return ast.ConceptMatcher(type=ast.Scalar(name.type), name=ast.Scalar(name.name))


def _matcher(fact: Fact, handles: dict[Identity, ast.Variable]) -> ast.PropositionMatcher:
    predicate = ast.Predicates((ast.PredicateName(fact.predicate),))
    subject, object_ = (_endpoint(end, handles) for end in (fact.subject, fact.object))
    return ast.PropositionMatcher(subject, predicate, object_)


def _endpoint(identity: Identity, handles: dict[Identity, ast.Variable]) -> ast.Endpoint:
    if identity in handles:
        return handles[identity]
    if isinstance(identity, Fact):
        return ast.PropositionClause(None, _matcher(identity, handles))
    return ast.ConceptClause(None, _concept(identity))


# What must be taken away ----------------------------------------------------------------------


def deletions(changes: Sequence[Change]) -> Iterator[ast.Delete]:
    """What is gone, in an order in which every statement finds its target.

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
        lost = [found.key for found in change.keys(part) if found.after is None]
        keys = tuple(ast.Key(key) for key in lost if not _is_kept(change, part, key))
        if keys and part == "attributes":
            yield ast.DeleteAttributes(keys, _TARGET, _where(change))
        elif keys:
            yield ast.DeleteMetadata(keys, _TARGET, _where(change))


def _where(change: Change) -> ast.Block:
    identity = change.identity
    clause: ast.Clause
    if isinstance(identity, ConceptName):
        clause = ast.ConceptClause(_TARGET, _concept(identity))
    elif identity.height < DEEPEST_SHOWN:
        clause = ast.PropositionClause(_TARGET, _matcher(identity, {}))
    else:
        assert change.before is not None
        id = ast.PropositionId(ast.Scalar(change.before.id))
        clause = ast.PropositionClause(_TARGET, id)
    return ast.Block((clause,))


def _is_undeletable(identity: Identity) -> bool:
    """Whether an element, or a link from one, belongs to what every nexus stands on."""
    if isinstance(identity, Fact):
        return identity.subject in SYSTEM
    return identity in SYSTEM or identity in ACTORS


# What no statement can do ---------------------------------------------------------------------


def beyond(changes: Iterable[Change], link_ids: bool) -> Iterator[str]:
    """Sentences about the differences that no statement makes up for."""
    for change in paced(changes):
        name = shown(change.identity)
        if change.kind == "removed":
            if _is_undeletable(change.identity):
                yield f"{name} is protected and cannot be deleted."
            continue
        for part in PARTS:
            kept = [found.key for found in change.keys(part) if _is_kept(change, part, found.key)]
            for key in kept:
                if part == "attributes" or key not in vocab.ENGINE_KEYS:
                    yield f"{part}.{key} of {name} cannot be written."
        if link_ids and change.ids is not None:
            yield f"The id of {name} cannot be chosen."
