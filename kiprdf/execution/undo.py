"""Undo: a new commit that reverses earlier ones, except values that differ by now.

The chosen commits are undone from the last one on. A value that is not the one that a commit left
is a conflict, and so is an element that others use by now (docs/decisions/119).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias, cast

from pyoxigraph import NamedNode, Triple

from kiprdf.actors import acting_on
from kiprdf.budget import paced
from kiprdf.errors import KipError, shown
from kiprdf.execution.history import (
    ENGINE_KEYS,
    Log,
    State,
    check_selection,
    key_name,
    keys,
    state_of,
)
from kiprdf.execution.writer import Writer
from kiprdf.kml.draft import Draft, Edit, copied
from kiprdf.kml.protection import check_protection
from kiprdf.kml.trust import check_status, with_unreviewed
from kiprdf.kql.identities import exists
from kiprdf.kql.reader import link_of, links_at
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Element, read_element
from kiprdf.rdf.iris import ConceptName, PropositionName
from kiprdf.rdf.literals import Json, to_json
from kiprdf.source import NOWHERE
from kiprdf.store import Origin
from kiprdf.store.commit_index import SOURCE
from kiprdf.store.past import number_at

MERGED = "merged/"
"""What the records of merges begin with (``kiprdf.sharing``): one that is undone may come again."""
Conflict: TypeAlias = dict[str, Json]
_STATES_SOURCE = re.compile(r"\bMETADATA \{[^}]*\bsource:")


class UndoPlan:
    """What an undo writes: ``seqs``, ``reverted``, ``conflicts``, and the ``draft`` of it."""

    def __init__(self, writer: Writer, source: Json = None) -> None:
        self.store = writer.store
        self._check_rejections = writer.check_rejections
        self.draft = Draft(self.store, writer.clock, actor=acting_on(writer))
        self.seqs: list[int] = []
        self.conflicts: list[Conflict] = []
        self.records: dict[str, str] = {}
        """Which merges are noted, as before the commits; "" for none."""
        self._actors: set[str | None] = set()
        self._source = source
        self.log = Log(self.store)
        self._texts = self.log.journal.statements()
        self._states: dict[NamedNode, State] = {}
        self._theirs: dict[tuple[NamedNode, NamedNode | None], int] = {}
        """The last commit that is not undone, by element and key; None is its existence."""

    def report(self) -> dict[str, Any]:
        """The plan as JSON: what is reverted, in the order of the ids."""
        reverted = []
        for node in sorted(self._states, key=lambda node: node.value):
            before, after = state_of(self.store, node), self._states[node]
            if before != after:
                change = "restored" if not before else "changed" if after else "deleted"
                item = {"id": self._id(node), "change": change, "keys": keys(before, after)}
                reverted.append(item)
        report = {"seqs": self.seqs, "reverted": reverted, "conflicts": self.conflicts}
        actors = {actor for actor in self._actors if actor is not None}
        if actors:
            report["actors"] = sorted(actors)
        return with_unreviewed(report, self.draft)

    def _id(self, node: NamedNode) -> str:
        return self.store.iris.id(node)

    # Values -----------------------------------------------------------------------------------

    def revert(self, chosen: Collection[int]) -> None:
        """Find what the chosen commits wrote, and take it back."""
        nodes: set[NamedNode] = set()
        for step in map(self.log.step, chosen):
            nodes.update(
                node
                for node, (before, later) in step.elements.items()
                if self._is_selected(step.commit.origin, before, later)
            )
        numbers = set(chosen)
        for node in nodes:
            numbers.update(self.log.numbers(min(chosen), element=node))
        for number in paced(sorted(numbers, reverse=True)):
            step, is_undone = self.log.step(number, nodes), False
            for node, (before, later) in step.elements.items():
                if number in chosen and self._is_selected(step.commit.origin, before, later):
                    is_undone = True
                    self._take_back(node, before, later)
                else:
                    self._note(node, before, later, number)
            if is_undone:
                self.seqs.insert(0, number)
                self._actors.add(step.commit.origin.actor)
                for key, (earlier, _) in step.commit.records.items():
                    if key.startswith(MERGED):
                        self.records[key] = earlier or ""
        self._resolve()

    def _is_selected(self, origin: Origin, before: State, after: State) -> bool:
        """Whether the source wrote an element: it is the element's, and the statement names one.

        Others who change an element without a source of their own leave that of the element, and
        an undo gives it back.
        """
        if self._source is None:
            return True
        if origin.kind == "UNDO" or SOURCE not in after or to_json(after[SOURCE]) != self._source:
            return False
        if before.get(SOURCE) != after[SOURCE]:
            return True
        text = self._texts.get(origin.digest)
        if text is None:
            return origin.kind in ("UPSERT", "RESTORE", "PATCH")
        return _STATES_SOURCE.search(text) is not None

    def _note(self, node: NamedNode, before: State, after: State, number: int) -> None:
        for key in _differing(before, after):
            self._theirs.setdefault((node, key), number)
        if bool(before) != bool(after):
            self._theirs.setdefault((node, None), number)

    def _take_back(self, node: NamedNode, before: State, after: State) -> None:
        state = self._states.setdefault(node, state_of(self.store, node))
        if before and after:
            for key in _differing(before, after):
                self._take_back_key(node, state, key, before, after)
        elif not any(_differing(state, after)):
            self._states[node] = dict(before)
        elif state:
            # What others made of an element that was created, or created in its place.
            self.conflicts += [
                self._key_conflict(node, state, key, before, after)
                for key in _differing(state, before or after)
            ]

    def _take_back_key(
        self, node: NamedNode, state: State, key: NamedNode, before: State, after: State
    ) -> None:
        if not state or state.get(key) == before.get(key):
            return  # It is gone, or as before.
        if state.get(key) != after.get(key):
            self.conflicts.append(self._key_conflict(node, state, key, before, after))
        elif key in before:
            state[key] = before[key]
        else:
            del state[key]

    def _key_conflict(
        self, node: NamedNode, state: State, key: NamedNode, before: State, after: State
    ) -> Conflict:
        """What was left, what is found now, and what was before; a missing key is left out."""
        sides = {"left": after, "found": state, "before": before}
        values = {side: _json(values[key], self) for side, values in sides.items() if key in values}
        name = key_name(key) or "ends"
        theirs = self._theirs.get((node, key), self._theirs.get((node, None)))
        return {"id": self._id(node), "key": name, "theirs": theirs, **values}

    # Elements ---------------------------------------------------------------------------------

    def _resolve(self) -> None:
        """Keep what others use, and leave out what lacks an end, until nothing changes."""
        while True:
            conflicts = [self._conflict(node) for node in self._states]
            new = [conflict for conflict in conflicts if conflict is not None]
            if not new:
                break
            self.conflicts += new
        for node, state in self._states.items():
            self._draft(node, state)
        check_status(self.draft)

    def _conflict(self, node: NamedNode) -> Conflict | None:
        """Why the state of an element cannot be; then it stays as it is."""
        now, state = state_of(self.store, node), self._states[node]
        if now == state:
            return None
        conflict = self._users(node) if not state else self._lacks(node, now, state)
        conflict = conflict or self._protected(node, now, state)
        if conflict is not None:
            self._states[node] = now
        return conflict

    def _remains(self, node: NamedNode) -> bool:
        if node in self._states:
            return bool(self._states[node])
        return exists(node, self.store)

    def _users(self, node: NamedNode) -> Conflict | None:
        """The propositions about an element that is deleted, and the instances of a definition."""
        links = [link for link, _ in links_at(self.store, node)]
        users: Iterable[NamedNode] = [
            link for link in links if self._remains(link) and node in _ends(self._state(link))
        ]
        name = self.store.iris.name(node.value)
        if isinstance(name, ConceptName) and name.type == "$ConceptType":
            users = [*users, *self._subjects(self.store.match(None, vocab.TYPE, node))]
        elif isinstance(name, ConceptName) and name.type == "$PropositionType":
            facts = list(self.store.match(None, node, None))
            links_of_facts = (link_of(self.store, fact) for fact in facts)
            users = [*users, *(link for link in links_of_facts if link and self._remains(link))]
        ids = [self._id(user) for user in dict.fromkeys(users)]
        return {"id": self._id(node), "used_by": cast(Json, ids)} if ids else None

    def _subjects(self, triples: Iterable[Triple]) -> Iterator[NamedNode]:
        nodes = [cast(NamedNode, triple.subject) for triple in triples]
        return (node for node in nodes if self._remains(node))

    def _state(self, node: NamedNode) -> State:
        return self._states[node] if node in self._states else state_of(self.store, node)

    def _lacks(self, node: NamedNode, now: State, state: State) -> Conflict | None:
        """An end or a definition that an element needs, or another link with its fact."""
        name = self.store.iris.name(node.value)
        if isinstance(name, PropositionName):
            fact = state[vocab.REIFIES]
            needed = [fact.subject, fact.object, fact.predicate]
            other = link_of(self.store, fact) if now.get(vocab.REIFIES) != fact else None
            if other not in (None, node) and self._state(other).get(vocab.REIFIES) == fact:
                return {"id": self._id(node), "stated_by": self._id(other)}
        else:
            needed = [state[vocab.TYPE]]
        missing = next((end for end in needed if not self._remains(end)), None)
        return missing and {"id": self._id(node), "missing_end": self._id(missing)}

    def _protected(self, node: NamedNode, now: State, state: State) -> Conflict | None:
        draft = Draft(self.store, self.draft.clock, actor=self.draft.actor)
        before, after = self._element(node, now), self._element(node, state)
        if before is not None:
            draft.edits[node] = Edit(before, after or copied(before))
            if after is None:
                draft.deleted[node] = before
        elif after is not None:
            draft.edits[node] = Edit(None, after)
        try:
            check_protection(draft)
            self._check_rejections(draft)
            check_status(draft)
        except KipError as error:
            return {"id": self._id(node), "protected": error.message}
        return None

    def _element(self, node: NamedNode, state: State) -> Element | None:
        triples = [Triple(node, predicate, value) for predicate, value in state.items()]
        return read_element(self.store.iris, node, triples)

    def _draft(self, node: NamedNode, state: State) -> None:
        """Write the state of an element into the draft."""
        before, after = self._element(node, state_of(self.store, node)), self._element(node, state)
        if after is not None:
            if before is not None and vocab.VERSION in before.metadata:
                after.metadata[vocab.VERSION] = before.metadata[vocab.VERSION]
            self.draft.edits[node] = Edit(before, after)
        elif before is not None:
            self.draft.edits[node] = Edit(before, copied(before))
            self.draft.deleted[node] = before


def undo(writer: Writer, conflicts: str, dry_run: bool, **selection: Any) -> dict[str, Any]:
    """Undo commits by another one, and return what was, or would be, reverted."""
    if conflicts not in ("refuse", "skip"):
        message = f'conflicts is "refuse" or "skip", not {conflicts!r}.'
        raise KipError("KIP_1001", message, "Leave it out to refuse conflicts.")

    def write(plan: UndoPlan) -> dict[str, Any]:
        report = plan.report()
        if plan.conflicts and conflicts == "refuse":
            count = len(plan.conflicts)
            noun = "conflict" if count == 1 else "conflicts"
            message = f"The undo has {count} {noun}: {plan.conflicts[:3]}."
            hint = 'See them all with dry_run=True; conflicts="skip" undoes the others.'
            raise KipError("KIP_2002", message, hint)
        writer.check(plan.draft, NOWHERE, restores=True)
        delta = replace(plan.draft.delta(), records=plan.records)
        writer.commit(delta, "UNDO", plan.seqs)
        return {**report, "seq": writer.store.commit() if delta else None}

    plan = partial(_planned, writer, **selection)
    return writer.run_planned(plan, write, dry_run=dry_run)


def preview(writer: Writer, seq: int) -> UndoPlan:
    """What the undo of one commit would write; raises ``KipError`` where a shape forbids it."""

    def run() -> UndoPlan:
        plan = _planned(writer, seq=seq)
        writer.check(plan.draft, NOWHERE, restores=True)
        return plan

    return writer.shown.read(run)


def _planned(
    writer: Writer,
    *,
    seq: int | None = None,
    seqs: Iterable[int] | None = None,
    session: str | None = None,
    source: Json = None,
) -> UndoPlan:
    """The plan that undoes one commit, several, those of a session, or a source's values.

    Raises ``KipError``: KIP_3002 for a commit that the history does not reach.
    """
    given = [value for value in (seq, seqs, session, source) if value is not None]
    if len(given) != 1:
        message = "An undo takes one of seq, seqs, session and source."
        raise KipError("KIP_1001", message, "Give exactly one of them.")
    check_selection(source, session=session)
    if seqs is not None and (isinstance(seqs, str) or not isinstance(seqs, Iterable)):
        message = f"The argument seqs is several numbers, not {type(seqs).__name__}."
        raise KipError("KIP_1001", message, "Give seq for one commit.")
    plan = UndoPlan(writer, source)
    log = plan.log
    if seq is None and seqs is None:
        log.require_whole()
        plan.revert(set(log.numbers(session=session, source=source)))
        return plan
    chosen = [seq] if seq is not None else list(seqs or ())
    for number in chosen:
        if isinstance(number, bool) or not isinstance(number, int):
            message = f"A commit is a number, not {shown(repr(number))}."
            raise KipError("KIP_1001", message, "Give the seq of a commit in changes or history.")
        number_at(log.journal, number, log.last)
        if number <= log.earliest:
            message = f"The history begins after commit {log.earliest}; {number} is not in it."
            raise KipError("KIP_3002", message, "Give a later commit.")
    plan.revert(set(chosen))
    return plan


def _differing(before: State, after: State) -> Iterator[NamedNode]:
    for key in sorted({*before, *after}, key=lambda key: key.value):
        if key not in ENGINE_KEYS and before.get(key) != after.get(key):
            yield key


def _ends(state: State) -> tuple[Any, ...]:
    fact = state.get(vocab.REIFIES)
    return () if fact is None else (fact.subject, fact.object)


def _json(value: Any, plan: UndoPlan) -> Json:
    """A value, or the ids of the ends of a proposition."""
    if isinstance(value, Triple):
        ends = (cast(NamedNode, value.subject), cast(NamedNode, value.object))
        return [plan.store.iris.id(end) for end in ends]
    return to_json(value)
