"""MERGE CONCEPT: two concepts become one, links and all (KIP 1.0, MERGE).

The links of the source are repointed to the target and keep their ids. If a fact would then be
stated twice, the link that stated it before survives, and links about the other one are repointed
to it in turn, until nothing is left to move.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, cast

from pyoxigraph import Literal, NamedNode

from kiprdf.errors import KipError
from kiprdf.kml.draft import Draft
from kiprdf.kml.merged_origins import (
    each_once,
    items,
    join_statements,
    keep_loop,
    note_end,
    unite_origins,
)
from kiprdf.kml.protection import check_merge
from kiprdf.kql.clauses import checked_text
from kiprdf.kql.find import bindings
from kiprdf.kql.identities import hint_of_write, merged_hint
from kiprdf.language import ast
from kiprdf.language.names import META_TYPES
from kiprdf.loading import Lazy
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Concept, Element, Proposition, Terms
from kiprdf.rdf.literals import is_same, to_term
from kiprdf.semantics.arguments import RESERVED_METADATA

if TYPE_CHECKING:
    from kiprdf.kql import diagnosis
    from kiprdf.kql.diagnosis import names
else:
    diagnosis = Lazy("kiprdf.kql.diagnosis")
    names = Lazy("kiprdf.kql.diagnosis.names")

ALIASES = "aliases"


def merge(command: ast.MergeConcept, draft: Draft) -> dict[str, Any]:
    """Carry out a checked MERGE in a draft and return its receipt.

    Merging a concept into itself changes nothing and is not an error.
    Raises KIP_3002 and KIP_3003 if the WHERE binds no pair of concepts or more than one,
    KIP_2002 for concepts of two types and for definitions, KIP_3004 for protected ones.
    """
    source, target = _pair(command, draft)
    if source is target:
        return _receipt(0, 0, 0)
    check_merge((source.node, target.node), draft.store.iris, command.span)
    _require_one_type(source, target, command)
    before = dict(target.attributes)
    unite(source, target, draft)
    filled = sum(not is_same(before.get(key), term) for key, term in target.attributes.items())
    repointed = sum(edit.repointed for edit in draft.changes())
    return _receipt(repointed, len(draft.deleted) - 1, filled)


def _receipt(repointed: int, deduplicated: int, filled: int) -> dict[str, Any]:
    return {
        "merged": True,
        "links_repointed": repointed,
        "links_deduplicated": deduplicated,
        "attributes_filled": filled,
    }


# Which two ------------------------------------------------------------------------------------


def _pair(command: ast.MergeConcept, draft: Draft) -> tuple[Concept, Concept]:
    """The one pair of concepts that the WHERE binds."""
    targets = (command.source, command.target)
    shown = draft.shown
    rows = bindings(
        targets, command.where, shown.store, purpose="write", taken=names.taken(command.where)
    )
    elements = ((shown.element(source), shown.element(target)) for source, target in rows)
    pairs = [pair for pair in elements if all(isinstance(end, Concept) for end in pair)]
    if not pairs:
        both = f"?{command.source.name} and ?{command.target.name}"
        message = f"The WHERE binds no pair of concepts to {both}."
        merged = _merged_already(command, shown)
        reasons = list(diagnosis.explain(command, None, shown.store))
        # The error is at the place of the one reason whose hint is given.
        reasons.sort(key=lambda reason: reason.hint is None)
        span = reasons[0].span if reasons and not merged else command.span
        hint = f"See what it binds: FIND({both.replace(' and ', ', ')}) WHERE {{…}}."
        if reasons:
            first = reasons[0].hint
            if first is not None and reasons[0].name == "UnknownName":
                first = hint_of_write(first, "write")
            texts = (reasons[0].message, first, *(each.message for each in reasons[1:]))
            hint = " ".join(filter(None, texts))
        raise KipError("KIP_3002", message, merged or hint, span)
    if len(pairs) > 1:
        message = f"The WHERE binds {len(pairs)} pairs of concepts; MERGE joins one."
        hint = 'Name both exactly: ?a {type: "…", name: "…"} ?b {type: "…", name: "…"}.'
        raise KipError("KIP_3003", message, hint, command.span)
    nodes = draft.owned([cast(Concept, end).node for end in pairs[0]])
    return cast(tuple[Concept, Concept], tuple(map(draft.element, nodes)))


def _merged_already(command: ast.MergeConcept, draft: Draft) -> str | None:
    """A hint if the name of the source in the WHERE is that of a concept merged before."""
    for clause in command.where.clauses:
        if isinstance(clause, ast.ConceptClause) and clause.variable == command.source:
            name, type_name = clause.matcher.name, clause.matcher.type
            # A matcher with type and name that matches nothing is an error before this.
            if name is not None and type_name is None and not _exists(name, draft):
                return merged_hint(checked_text(name), draft.store)
    return None


def _exists(name: ast.Value, draft: Draft) -> bool:
    label = Literal(checked_text(name))
    return next(draft.store.match(None, vocab.LABEL, label), None) is not None


def _require_one_type(source: Concept, target: Concept, command: ast.MergeConcept) -> None:
    if source.type in META_TYPES or target.type in META_TYPES:
        message = "Definitions of types and predicates cannot be merged."
        hint = "Move what uses the one to the other with UPSERT, then delete the definition."
        raise KipError("KIP_2002", message, hint, command.span)
    if source.type != target.type:
        message = f"'{source.name}' is a {source.type}, '{target.name}' a {target.type}."
        hint = "Concepts of one type merge; link the two with a proposition instead."
        raise KipError("KIP_2002", message, hint, command.span)


# The concepts ---------------------------------------------------------------------------------


def unite(source: Concept, target: Concept, draft: Draft) -> None:
    """Move the links of a concept to another one, and delete it.

    The target gets the attributes that it lacks, and the names and history of the source.
    """
    aliases = [
        *items(target.attributes.get(ALIASES)),
        *items(source.attributes.get(ALIASES)),
        source.name,
    ]
    before = dict(target.attributes)
    note_merged(source, target)
    target.attributes[ALIASES] = to_term(each_once(aliases))
    unite_origins(source, target, before)
    move_links(source.node, target.node, draft)
    draft.delete([source.node])


def note_merged(source: Concept, target: Concept) -> None:
    """Add the attributes that the target lacks, and the source to its merge history."""
    trail = [
        *items(target.metadata.get(vocab.MERGED_FROM)),
        *items(source.metadata.get(vocab.MERGED_FROM)),
        f"{source.type}:{source.name}",
    ]
    _fill(target.attributes, source.attributes)
    target.metadata[vocab.MERGED_FROM] = to_term(each_once(trail))


def _fill(terms: Terms, others: Terms) -> None:
    for key, term in others.items():
        terms.setdefault(key, term)


# The links ------------------------------------------------------------------------------------


def move_links(source: NamedNode, target: NamedNode, draft: Draft) -> None:
    """Repoint all links at one node to another, and links about the links that this removes."""
    pending = deque([(source, target)])
    iris = draft.store.iris
    while pending:
        old, new = pending.popleft()
        links = sorted(draft.links_at(old), key=lambda link: iris.id(link.node))
        if new in draft.deleted and new not in draft.superseded:
            # The surviving link was about a fact that was deleted meanwhile; so are these.
            draft.delete(link.node for link in links)
            continue
        for link in links:
            if link.node not in draft.deleted:
                survivor = _move(link, old, new, draft)
                if survivor is not None:
                    pending.append((link.node, survivor))


def _move(link: Proposition, old: NamedNode, new: NamedNode, draft: Draft) -> NamedNode | None:
    """Repoint one link; if another link states the fact already, return that one."""
    subject = new if link.subject == old else link.subject
    object_ = new if link.object == old else link.object
    note_end(link, draft.element(old), draft.element(new))
    if subject == object_ and link.subject != link.object:
        keep_loop(link, draft.element(new))
        draft.delete([link.node])
        return None
    survivor = draft.find_link(subject, link.predicate, object_)
    if survivor is None:
        draft.repoint(link, subject, object_)
        return None
    element = cast(Element, draft.element(survivor))
    join_statements(link, element)
    _fill(element.attributes, link.attributes)
    _fill(element.metadata, _without_reserved(link.metadata))
    draft.supersede(link)
    return survivor


def _without_reserved(metadata: Terms) -> Terms:
    """Metadata without what the engine maintains."""
    return {key: term for key, term in metadata.items() if key not in RESERVED_METADATA}
