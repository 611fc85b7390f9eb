"""Statements of who may only propose: frozen, shown to a person, and run under that person's name
(docs/decisions/184)."""

from __future__ import annotations

import hashlib
import json
import marshal
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf import collector
from kiprdf.actors import OWNER, Actor, acting_as, acting_on
from kiprdf.errors import KipError, KipWarning, shown
from kiprdf.execution.rejecting import reject
from kiprdf.interchange.differences.difference import Difference, difference
from kiprdf.interchange.forms import listed
from kiprdf.kml.draft import Draft, timestamp, version
from kiprdf.kml.rejections import value_keys
from kiprdf.kml.trust import RETRACTED_AT, RETRACTED_BY
from kiprdf.kql.find import nodes
from kiprdf.kql.reader import links_at
from kiprdf.language import ast
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Proposition, read_element
from kiprdf.rdf.literals import Json, canonical_json, normal
from kiprdf.semantics.patterns import Kinds, check_block
from kiprdf.semantics.scope import fresh_names, named
from kiprdf.spelling import keys_of_name
from kiprdf.store.proposals import APPROVED, OPEN, Entry

if TYPE_CHECKING:
    from kiprdf.execution.engine import CommandEngine

MOST_BYTES = 256 * 1024
"""The size of one proposal, as JSON: a person reads it."""
MOST_OPEN = 1000
"""The proposals of one principal that wait at once."""
_DECIDED = ("state", "decided_by", "decided_at", "seq")
_SIDES = ("before", "after")
_OF_THE_MOMENT = frozenset(map(vocab.metadata, (RETRACTED_BY, RETRACTED_AT)))
"""The metadata that the engine sets at the time of the commit."""


def propose(engine: CommandEngine, text: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Keep a statement until a person decides; return its id, and the receipt that it would have.

    Raises ``KipError`` where the statement would fail. What breaks a shape is kept, too, with that
    as its ``reason``, where the gate says so.
    """
    writer, store = engine.writer, engine.writer.store
    if store.embedded is None:
        message = "A nexus in a SPARQL store keeps no proposals."
        raise KipError("KIP_3004", message, "Propose to a nexus in a folder, or in memory.")
    actor = acting_on(writer)

    def run() -> dict[str, Any]:
        frozen = _frozen(parameters)
        command = _bound(engine, text, frozen)
        refusal: dict[str, Any] = {}
        try:
            receipt, _ = writer.draft(command)
        except KipError as error:
            if not error.breaks_shape or writer.gate.mode != "propose":
                raise
            refusal = {"reason": error.message, "hint": error.hint}
            receipt, _ = writer.draft(command, gated=False)
        # A person will run it, for whom it may do more.
        with acting_as(writer, OWNER._replace(proposer=actor.author)):
            effect = _effect(engine, command, gated=not refusal)
        proposal = {
            "text": text,
            "parameters": frozen,
            "by": actor.signature,
            "session": actor.session,
            "at": timestamp(engine.clock()),
            "commit": store.commit(),
            "reads": effect.reads,
            "diff": effect.difference.text(),
            "changes": effect.difference.to_json(),
            "author": actor.author,
            "digest": effect.digest,
            **refusal,
            **writer.place,
        }
        _check_bounds(engine, proposal)
        return {"proposed": engine.writer.proposals.add(proposal), "would": receipt, **refusal}

    return store.write(lambda: collector.paused(run))


def proposals(engine: CommandEngine, *, all: bool = False) -> list[dict[str, Any]]:
    """The proposals that wait, the oldest first; ``all`` has those that were decided, too."""
    kept = _entries(engine).values()
    return [_shown(one) for one in kept if all or one["state"] == OPEN]


def proposal(engine: CommandEngine, id: str) -> dict[str, Any]:
    """One proposal, which may be decided."""
    return _shown(_kept(engine, id))


def approve(engine: CommandEngine, id: str) -> dict[str, Any]:
    """Run a proposal under the name of a person, and return its receipt."""
    writer, store = engine.writer, engine.writer.store
    writer.require_writable()

    def run() -> dict[str, Any]:
        proposal = _waiting(engine, id)
        actor = acting_on(writer)
        _check_reviewer(actor, proposal)
        with acting_as(writer, actor._replace(proposer=proposal["author"])):
            effect = _again(engine, proposal)
            delta = effect.draft.delta()
            decision = _decision(engine, "approved", seq=store.commit() + 1 if delta else 0)
            whose = {key: proposal[key] for key in ("id", "digest", "by")}
            record = canonical_json({**whose, **decision})
            if delta:
                writer.commit(replace(delta, records={APPROVED: record}))
        engine.writer.proposals.decide(id, decision)
        return effect.receipt

    return store.write(lambda: collector.paused(run))


def decline(
    engine: CommandEngine, id: str, reason: str, *, rejects: bool = False
) -> dict[str, Any]:
    """Close a proposal without running it, and return it; ``rejects`` what it would have stated."""
    if not isinstance(reason, str) or not reason.strip():
        raise KipError("KIP_1001", "A proposal is declined for a reason.", "Say why.")
    engine.writer.require_writable()

    def run() -> dict[str, Any]:
        proposal = _waiting(engine, id)
        _require_person(acting_on(engine.writer))
        decision = _decision(engine, "declined", reason=reason)
        if rejects:
            names = [reject(engine.writer, what, reason) for what in _stated(proposal)]
            decision["rejected"] = list(dict.fromkeys(names))
        engine.writer.proposals.decide(id, decision)
        return _shown({**proposal, **decision})

    return engine.writer.store.write(run)


# What a proposal would do -----------------------------------------------------------------------


class Preview(NamedTuple):
    """What a write would change, its warnings, and the shape for which it would be proposed."""

    difference: Difference
    warnings: tuple[KipWarning, ...] = ()
    reason: KipError | None = None


def preview(engine: CommandEngine, text: str, parameters: Mapping[str, Any]) -> Preview:
    """What a statement would change; raises ``KipError`` where it would fail."""
    writer = engine.writer

    def run() -> Preview:
        command, reason = _bound(engine, text, parameters), None
        try:
            _, draft = writer.draft(command)
        except KipError as error:
            if not error.breaks_shape or writer.gate.mode != "propose":
                raise
            reason = error
            _, draft = writer.draft(command, gated=False)
        return Preview(difference_of(draft), draft.warnings, reason)

    return engine.boundary.run(lambda: writer.shown.read(run), text)


def difference_of(draft: Draft) -> Difference:
    """What a draft changes."""
    return difference(*_datasets(draft), draft.store.iris)


class _Effect(NamedTuple):
    """What a statement would do: its receipt, its draft, the versions of the elements that it read
    (0 of what is absent), the difference that it makes, and a digest of all that it depends on."""

    receipt: dict[str, Any]
    draft: Draft
    reads: dict[str, int]
    difference: Difference
    digest: str


def _effect(engine: CommandEngine, command: ast.Manipulation, *, gated: bool = True) -> _Effect:
    receipt, draft = engine.writer.draft(command, gated=gated)
    store, reads, states = engine.store, {}, {}
    for node in {*draft.shown.read, *_matched(engine, command)}:
        triples = store.describe(node)
        element = read_element(store.iris, node, triples)
        id = store.iris.id(node)
        reads[id] = 0 if element is None else version(element)
        states[id] = sorted(map(str, triples))
    differences = difference_of(draft)
    parts = canonical_json([states, _definitions(draft.shown), differences.to_json()])
    digest = hashlib.sha256(parts.encode(errors="surrogatepass")).hexdigest()
    return _Effect(receipt, draft, dict(sorted(reads.items())), differences, digest)


def _definitions(draft: Draft) -> list[Json]:
    """What the types and predicates of what a draft writes mean: their attributes, as text."""
    store, iris = draft.store, draft.store.iris
    defining = {
        iris.predicate(one.predicate) if isinstance(one, Proposition) else iris.type(one.type)
        for one in (edit.after for edit in draft.changes())
    }
    rows = (row for node in defining for row in store.describe(node))
    return sorted(str(row) for row in rows if row.predicate.value.startswith(vocab.ATTRIBUTE))


def _matched(engine: CommandEngine, command: ast.Manipulation) -> Iterator[NamedNode]:
    """The elements that the WHERE of a statement matches, also those without a variable."""
    if isinstance(command, ast.Upsert):
        return
    names = fresh_names(command.where, "read")
    where = ast.Block(tuple(named(one, names, ranges=False) for one in command.where.clauses))
    kinds = check_block(where, engine.catalogs.catalog(), Kinds())
    for name in kinds.elements():
        yield from nodes(ast.Variable(name), where, engine.store, purpose="write")


def _datasets(draft: Draft) -> tuple[set[Triple], set[Triple]]:
    """The elements of a draft, the facts about those that it repoints, which then state something
    else, and the ends of all, before and after it."""
    store, delta = draft.store, draft.delta()
    before: set[Triple] = set()
    level = {node for node, edit in draft.edits.items() if edit.repointed}
    above: set[NamedNode] = set()
    while level:
        level = {link for node in level for link, _ in links_at(store, node)} - above
        above |= level
    pending, seen = [*draft.edits, *above], set()
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        triples = list(map(_triple, store.describe(node)))
        before.update(triples)
        edit = draft.edits.get(node)
        after = None if edit is None else edit.after
        for element in (read_element(store.iris, node, triples), after):
            if isinstance(element, Proposition):
                pending += (element.subject, element.object)
    removed, added = (map(_triple, side) for side in (delta.removed, delta.added))
    after_all = before.difference(removed).union(added)
    return _lasting(before), _lasting(after_all)


def _lasting(triples: Iterable[Triple]) -> set[Triple]:
    return {triple for triple in triples if triple.predicate not in _OF_THE_MOMENT}


def _triple(written: Any) -> Triple:
    subject, predicate, value = written
    return Triple(subject, predicate, normal(value) if isinstance(value, Literal) else value)


def _again(engine: CommandEngine, proposal: Entry) -> _Effect:
    """What a proposal would do now; raises KIP_3005 where that is not what was proposed."""
    id, text = proposal["id"], proposal["text"]
    if engine.writer.place.get("view") != proposal.get("view"):
        message = f"{id} was not proposed here: {_seen_by(proposal)}."
        raise KipError("KIP_2002", message, "Approve it where it was proposed.")
    try:
        effect = _effect(engine, _bound(engine, text, proposal["parameters"]))
    except KipError as error:
        if error.breaks_shape:
            hint = "Decline it, or change the shapes: nobody writes past them."
            raise KipError(error.code, f"{id} breaks a shape: {error.message}", hint) from None
        if error.code in ("KIP_3004", "KIP_4001", "KIP_4003"):
            raise error.in_source(text) from None
        raise _stale(id, f"now it would fail: {error.message}") from None
    if effect.digest != proposal["digest"]:
        before, now = proposal["reads"], effect.reads
        changed = [one for one in {**before, **now} if before.get(one) != now.get(one)]
        what = ", ".join(map(shown, changed[:3])) or "what it read"
        more = " and more" if len(changed) > 3 else ""
        raise _stale(id, f"{what}{more} changed after it was proposed")
    return effect


def _seen_by(proposal: Entry) -> str:
    """What a statement was proposed to, in words."""
    view = proposal.get("view")
    return f"its names are those of the view of {', '.join(view)}" if view else "it names no view"


def _stale(id: str, reason: str) -> KipError:
    hint = "Decline it; what is still right can be proposed again."
    return KipError("KIP_3005", f"{id} is stale: {reason.rstrip('.')}.", hint)


def _stated(proposal: Entry) -> Iterator[tuple[str, str, Any]]:
    """The facts about concepts that a proposal adds, and the values that it gives to concepts."""
    changes = proposal["changes"]
    for link in changes["propositions"]["added"]:
        if all(link[end].startswith("C:") for end in ("subject", "object")):
            yield link["subject"], link["predicate"], link["object"]
    for kind in ("added", "changed"):
        for concept in changes["concepts"][kind]:
            for key, value in concept.get("attributes", {}).items():
                before, after = (None, value) if kind == "added" else map(value.get, _SIDES)
                old_keys = {one for item in listed(before) for one in value_keys(item)}
                for item in listed(after):
                    if old_keys.isdisjoint(value_keys(item)):
                        yield concept["id"], f"attributes.{key}", item


# Who, and how many ------------------------------------------------------------------------------


def _check_reviewer(actor: Actor, proposal: Entry) -> None:
    _require_person(actor)
    if _is_same(actor.author, proposal["author"]):
        who = shown(proposal["by"])
        message = f"{proposal['id']} is a proposal of {who}: nobody approves their own."
        raise KipError("KIP_3004", message, "Leave it to another person.")


def may_approve(actor: Actor, proposal: Entry) -> bool:
    """Whether someone may approve a proposal, if it waits."""
    try:
        _check_reviewer(actor, proposal)
    except KipError:
        return False
    return bool(proposal["state"] == OPEN)


def read_by(proposal: Entry) -> str:
    """The elements that a proposal read, for people."""
    read = (f"{id} version {number}" for id, number in proposal["reads"].items() if number)
    return ", ".join(read) or "nothing that exists"


def _is_same(name: str | None, other: str | None) -> bool:
    """Whether two names, which the owner does not have, are those of one principal."""
    if name is None or other is None:
        return False
    return not set(keys_of_name(name)).isdisjoint(keys_of_name(other))


def _require_person(actor: Actor) -> None:
    actor.require("write")
    actor.require_person("decides on proposals")


def _check_bounds(engine: CommandEngine, proposal: Entry) -> None:
    size = len(json.dumps(proposal))
    if size > MOST_BYTES:
        message = f"The proposal has {size:,} bytes with what it changes; at most {MOST_BYTES:,}."
        raise KipError("KIP_4002", message, "Propose it in parts, which a person can read.")
    by = proposal["by"]
    waiting = sum(one["by"] == by and one["state"] == OPEN for one in engine.writer.proposals.all())
    if waiting >= MOST_OPEN:
        message = f"{waiting} proposals of {shown(by)} wait already, and no more may."
        raise KipError("KIP_4002", message, "Wait until a person has decided on some of them.")


# The proposals ----------------------------------------------------------------------------------


def _entries(engine: CommandEngine) -> dict[str, Entry]:
    """The proposals by their ids, approved as far as the graph has run them.

    After a crash the file may lack the last approval, and the graph commits of the last ones.
    """
    store, kept = engine.writer.store, engine.writer.proposals
    entries = {one["id"]: one for one in kept.all()}
    last = json.loads(store.records().get(APPROVED, "{}")) if entries else {}
    for id, one in entries.items():
        # Another nexus, whose history was restored, may have a proposal of the same number.
        is_last = (id, one.get("digest")) == (last.get("id"), last.get("digest"))
        if is_last and one["state"] == OPEN:
            decision = {key: last[key] for key in _DECIDED}
        elif one.get("seq", 0) > last.get("seq", 0):
            decision = {"state": OPEN, "seq": 0}
        else:
            continue
        entries[id] = {**one, **decision}
        if not store.read_only:
            store.write(partial(kept.decide, id, decision))
    return entries


def _kept(engine: CommandEngine, id: str) -> Entry:
    proposal = _entries(engine).get(str(id))
    if proposal is None:
        message = f"There is no proposal {shown(str(id))!r}."
        raise KipError("KIP_3002", message, "List those that wait: kiprdf proposals list.")
    return proposal


def _shown(proposal: Entry) -> dict[str, Any]:
    """A proposal for a caller, who may change it."""
    public = {key: value for key, value in proposal.items() if key != "digest"}
    # The fastest copy of JSON.
    copy: dict[str, Any] = marshal.loads(marshal.dumps(public))
    return copy


def _waiting(engine: CommandEngine, id: str) -> Entry:
    proposal = _kept(engine, id)
    if proposal["state"] != OPEN:
        who, when = proposal["decided_by"], proposal["decided_at"]
        message = f"{id} was {proposal['state']} by {shown(who)} at {when}."
        raise KipError("KIP_2002", message, "Nothing is left to decide.")
    return proposal


def _decision(engine: CommandEngine, state: str, **more: Any) -> Entry:
    who, when = acting_on(engine.writer).signature, timestamp(engine.clock())
    return {"state": state, "decided_by": who, "decided_at": when, **more}


def _bound(engine: CommandEngine, text: str, parameters: Mapping[str, Any]) -> ast.Manipulation:
    command = engine.statements.template(text).bind(parameters)
    assert isinstance(command, ast.Manipulation)
    return command


def _frozen(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of parameters, of which nothing can be changed any more."""
    try:
        frozen: dict[str, Any] = json.loads(json.dumps(dict(parameters)))
    except (TypeError, ValueError) as fault:
        message = f"The parameters of a proposal are not JSON: {fault}."
        raise KipError("KIP_1001", message, "Send only what the command uses.") from None
    return frozen
