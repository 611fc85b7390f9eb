"""The history of an element, and what changed since a commit, read from the journal.

The record of a commit has what it changed. What it left, and an answer shows besides, is in the
record of the next commit that changed it, or in the store (docs/decisions/061).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date, datetime
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, TypeAlias

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.budget import paced
from kiprdf.errors import KipError, StoreError, shown
from kiprdf.execution.forgetting import FORGOTTEN
from kiprdf.execution.forgetting import KIND as FORGET
from kiprdf.execution.gate import GATE, Kept
from kiprdf.execution.writer import Writer
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import read_object
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json, normal, to_json, to_term
from kiprdf.store import NexusStore, Origin
from kiprdf.store.commit_index import LOCATED, SOURCE, CommitIndex, type_of
from kiprdf.store.journal_files import Commit
from kiprdf.store.past import compact, journal_of, number_at
from kiprdf.store.proposals import APPROVED

BEGIN_AGAIN = (
    "Restore a backup; or begin the history at commit {number}, from which on it is whole: "
    "kiprdf compact-history --before {number}"
)
LIMIT = 100
MOST = 10_000
FEW = 64
"""Commits that are read one by one where an index would first have to read all."""
FEW_BYTES = 1_000_000
"""Of the records of these commits."""
DIGITS = 20
"""The digits of a cursor at most, more than those of any commit."""
_MERGED_FROM = vocab.metadata(vocab.MERGED_FROM)
_PARTS = ((vocab.ATTRIBUTE, "attributes"), (vocab.METADATA, "metadata"))
_KEYS = tuple(f"{part}." for _, part in _PARTS)
ENGINE_KEYS = {vocab.metadata(key) for key in vocab.ENGINE_KEYS}

State: TypeAlias = dict[NamedNode, Any]
"""What describes an element: its values by predicate; empty for one that does not exist."""


class Step(NamedTuple):
    """A commit, and the elements that it changed, before and after it.

    The whole state of one that it created or deleted; of others what it changed, the source, and
    what makes them an element.
    """

    commit: Commit
    elements: dict[NamedNode, tuple[State, State]]


def history(
    store: NexusStore,
    id: str,
    key: str | None = None,
    limit: int = LIMIT,
    cursor: str | None = None,
) -> dict[str, Any]:
    """The commits that changed an element, the newest first; it may be deleted.

    Raises ``KipError``: KIP_3002 for an element that the history does not mention.
    """
    node = store.iris.from_id(id) if isinstance(id, str) else None
    if node is None:
        message = f"{id!r} is not the id of an element."
        raise KipError("KIP_1001", message, "Give an id such as C:Drug/Aspirin.")
    _check_limit(limit)
    check_selection(key=key)
    if key is not None and not key.startswith(_KEYS):
        name = shown(key)
        hint = f"Write attributes.{name} or metadata.{name}."
        raise KipError("KIP_1001", f"{name!r} is not the path of a key.", hint)

    def run() -> dict[str, Any]:
        log = Log(store)
        log.require_whole()
        texts = log.journal.statements()
        if next(log.numbers(element=node), None) is None and not state_of(store, node):
            message = f"The history does not mention {id}."
            raise KipError("KIP_3002", message, f"It begins after commit {log.earliest}.")
        until = log.last if cursor is None else min(log.last, _position(cursor) - 1)
        entries: list[dict[str, Any]] = []
        for number in paced(log.numbers(until=until, element=node, newest_first=True)):
            step = log.step(number, {node})
            if node not in step.elements:
                continue
            entry = _entry(step.commit, *step.elements[node], texts)
            if key is None:
                entries.append(entry)
            elif _has_key(entry, key):
                entries.append(_with_key(entry, key))
            if len(entries) > limit:
                break
        next_cursor = str(entries[limit - 1]["seq"]) if len(entries) > limit else None
        page = {"entries": entries[:limit], "next_cursor": next_cursor}
        return {"id": id, **page, "earliest_seq": log.earliest}

    return store.read(run)


def last_commits(
    store: NexusStore, ids: Iterable[str], until: int | None = None
) -> dict[str, dict[str, Any]]:
    """The newest entry, up to a commit, of the history of each element that has one."""

    def run() -> dict[str, dict[str, Any]]:
        log = Log(store)
        log.require_whole()
        texts = log.journal.statements()
        entries: dict[str, dict[str, Any]] = {}
        for id in paced(ids):
            node = store.iris.from_id(id)
            assert node is not None, id
            for number in log.numbers(until=until, element=node, newest_first=True):
                step = log.step(number, {node})
                if node in step.elements:
                    entries[id] = _entry(step.commit, *step.elements[node], texts)
                    break
        return entries

    return store.read(run)


def is_mentioned(store: NexusStore, id: str) -> bool:
    """Whether the history has a change of an element; False without a history."""
    node = store.iris.from_id(id)
    return store.journal is not None and next(Log(store).numbers(element=node), None) is not None


def changes(
    store: NexusStore,
    since: int | str | datetime | None,
    until: int | str | datetime | None = None,
    *,
    type: str | None = None,
    author: str | None = None,
    session: str | None = None,
    source: Json = None,
    limit: int = LIMIT,
    cursor: str | None = None,
) -> dict[str, Any]:
    """The commits after one, in their order, each with what it added, removed and changed.

    Without ``since``, from the earliest. A commit that forgets has the number of elements alone,
    one that sets shapes what becomes of violations, as ``gate``.
    ``author`` and ``session`` select commits; ``type``, a concept type or a predicate, and
    ``source``, before or after, select elements. Commits without such an element are left out.
    Raises ``KipError`` as ``at``.
    """
    _check_limit(limit)
    check_selection(source, type=type, author=author, session=session)

    def matches(node: NamedNode, before: State, after: State) -> bool:
        if type is not None and type != type_of(store.iris, node):
            return False
        values = [to_json(state[SOURCE]) for state in (before, after) if SOURCE in state]
        return source is None or source in values

    def run() -> dict[str, Any]:
        log = Log(store)
        first = log.earliest if since is None else number_at(log.journal, since, log.last)
        final = log.last if until is None else number_at(log.journal, until, log.last)
        begin = first if cursor is None else max(first, _position(cursor))
        chosen = {"type": type, "author": author, "session": session, "source": source}
        if log.is_short(begin, final):
            chosen = {}
        commits: list[dict[str, Any]] = []
        for number in paced(log.numbers(begin, final, **chosen)):
            step = log.step(number)
            origin = step.commit.origin
            if author not in (None, origin.author) or session not in (None, origin.session):
                continue
            elements = {
                node: states for node, states in step.elements.items() if matches(node, *states)
            }
            is_of_all = type is None and source is None
            if elements or (is_of_all and (origin.kind == FORGET or GATE in step.commit.records)):
                commits.append(_envelope(store, step.commit, elements))
            if len(commits) > limit:
                break
        next_cursor = str(commits[limit - 1]["seq"]) if len(commits) > limit else None
        page = {"commits": commits[:limit], "next_cursor": next_cursor}
        return {**page, "earliest_seq": log.earliest}

    return store.read(run)


def compact_history(writer: Writer, before: int | str | date) -> dict[str, int]:
    """Replace the beginning of the history by one record; see ``compact``."""
    journal = journal_of(writer.store)
    writer.require_writable(access="admin")
    return writer.store.write(lambda: compact(writer.store, journal, before))


# States ---------------------------------------------------------------------------------------


class Log:
    """The commits of a nexus, found by what they mention, as of now."""

    def __init__(self, store: NexusStore) -> None:
        self._store = store
        self.journal = journal_of(store)
        self.last = store.commit()
        self.earliest = self.journal.earliest(self.last)
        self._base = self.journal.base
        self.changed = lru_cache(maxsize=8)(self._read)
        self._later: tuple[int, dict[tuple[NamedNode, NamedNode], list[int]]] | None = None

    @cached_property
    def _index(self) -> CommitIndex:
        """The index of all commits, which takes long where large ones are new to it."""
        if self.journal.base != self._base:
            raise StoreError("The history was compacted while it was read; ask again.")
        return self.journal.indexed(self.last, self._store.iris, self._sources)

    @cached_property
    def _is_indexed(self) -> bool:
        return self.journal.is_indexed(self.last)

    def require_whole(self) -> None:
        """Raise ``StoreError`` where earlier records are damaged or missing: some would be left
        out of an answer without a word."""
        faults = [*self.journal.faults, *self.journal.missing]
        if self._store.embedded is not None and self.journal.last < self.last:
            lost = self._store.embedded.lost_records()
            faults += [
                f"The records of commits {first} to {last} were lost." for first, last in lost
            ]
        if faults:
            raise StoreError(f"{faults[0]} {BEGIN_AGAIN.format(number=self.earliest)}")
        self.journal.require_statements()

    def _sources(self) -> Iterable[Any]:
        return self._store.match(None, SOURCE, None)

    def numbers(self, after: int = 0, until: int | None = None, **chosen: Any) -> Iterator[int]:
        """The numbers of the commits that mention what is chosen, or more; see ``CommitIndex``."""
        after = max(after, self.earliest)
        until = self.last if until is None else until
        is_choice = any(value is not None for key, value in chosen.items() if key != "newest_first")
        # Without a choice an index of no commit gives every number, too.
        index = self._index if is_choice else self.journal.index
        numbers = index.numbers(after, until, **chosen)
        return (number for number in numbers if self.journal.gap_at(number) is None)

    def is_short(self, after: int, until: int) -> bool:
        """Whether the commits above a number are read sooner than they are indexed."""
        if until - after > FEW or self._is_indexed:
            return False
        return self.journal.size(after, until) < FEW_BYTES

    def step(self, number: int, only: Collection[NamedNode] | None = None) -> Step:
        """A commit, and the states around it of the elements that it changed, or some of them."""
        commit, removed, added = self.changed(number)
        nodes = dict.fromkeys((*removed, *added)) if only is None else only
        return Step(
            commit,
            {
                node: self._around(number, node, removed.get(node, {}), added.get(node, {}))
                for node in nodes
                if node in removed or node in added
            },
        )

    def _read(self, number: int) -> tuple[Commit, dict[NamedNode, State], dict[NamedNode, State]]:
        commit = self.journal.commit(number)
        removed, added = (by_subject(self._store, side) for side in (commit.removed, commit.added))
        return commit, removed, added

    def _around(
        self, number: int, node: NamedNode, removed: State, added: State
    ) -> tuple[State, State]:
        had, has = (any(key in state for key in vocab.IDENTITY) for state in (removed, added))
        if had != has:  # it was created or deleted
            return removed, added
        left: State = {}
        unchanged = [SOURCE]
        name = self._store.iris.name(node.value)
        if isinstance(name, ConceptName):
            left[vocab.TYPE] = self._store.iris.concept("$ConceptType", name.type)
        else:
            unchanged.append(vocab.REIFIES)
        for predicate in unchanged:
            if predicate not in removed and predicate not in added:
                value = self._value(node, predicate, number)
                if value is not None:
                    left[predicate] = value
        return left | removed, left | added

    def _value(self, node: NamedNode, predicate: NamedNode, number: int) -> Any:
        """A value of an element as of a commit; None without one."""
        later = self._next_change(node, predicate, number)
        if later:
            _, removed, _ = self.changed(later)
            return removed.get(node, {}).get(predicate)
        for triple in self._store.lookup(node, predicate, None, 1):
            value = triple.object
            return normal(value) if isinstance(value, Literal) else value
        return None

    def _next_change(self, node: NamedNode, predicate: NamedNode, number: int) -> int:
        """The first commit above a number that changed a value of an element; 0 for none."""
        if number >= self.last:
            return 0
        if self.last - number > FEW or self._is_indexed:
            return self._index.next_change(node, predicate, number, self.last)
        numbers = self._later_changes(number).get((node, predicate), [])
        return next((later for later in numbers if later > number), 0)

    def _later_changes(self, number: int) -> dict[tuple[NamedNode, NamedNode], list[int]]:
        """The commits above a number, or more of them, that changed what an index locates."""
        if self._later is None or self._later[0] > number:
            changes: dict[tuple[NamedNode, NamedNode], list[int]] = {}
            for commit in self.journal.commits(number, self.last):
                for subject, predicate, _ in paced((*commit.removed, *commit.added)):
                    if predicate in LOCATED:
                        changes.setdefault((subject, predicate), []).append(commit.number)
            self._later = number, changes
        return self._later[1]


def by_subject(store: NexusStore, triples: Iterable[Any]) -> dict[NamedNode, State]:
    """The values of elements, without the facts that propositions state."""
    states: dict[NamedNode, State] = {}
    for subject, predicate, value in triples:
        is_value = predicate not in (vocab.SAYS, vocab.UNSETTLED)
        if is_value and not predicate.value.startswith(store.iris.predicates):
            term = normal(value) if isinstance(value, Literal) else value
            states.setdefault(subject, {})[predicate] = term
    return states


def state_of(store: NexusStore, node: NamedNode) -> State:
    triples = store.lookup(node, None, None, sys.maxsize)
    rows = [(triple.subject, triple.predicate, triple.object) for triple in triples]
    return by_subject(store, rows).get(node, {})


# What is shown --------------------------------------------------------------------------------


def _entry(
    commit: Commit, before: State, after: State, texts: Mapping[str | None, str]
) -> dict[str, Any]:
    origin = commit.origin
    statement = {"kind": origin.kind, "digest": origin.digest, "text": texts.get(origin.digest)}
    return {
        "seq": commit.number,
        "at": origin.at,
        "change": _change(origin.kind, before, after),
        "keys": keys(before, after),
        "statement": statement,
        "author": origin.author,
        "session": origin.session,
        "source": _source(after or before),
        "undoes": undone(origin),
        **_actor(origin),
        **_proposed(commit),
    }


def _actor(origin: Origin) -> dict[str, str]:
    """Who wrote a commit, with its kind; nothing for the owner."""
    return {} if origin.actor is None else {"actor": origin.actor}


def undone(origin: Origin) -> int | list[int] | None:
    """The commit that a commit undoes, or several, or None."""
    numbers = list(origin.undoes)
    return numbers[0] if len(numbers) == 1 else numbers or None


def _change(kind: str, before: State, after: State) -> str:
    if not before:
        return "created"
    if not after:
        return "merged" if kind == "MERGE" else "deleted"
    if before.get(vocab.REIFIES) != after.get(vocab.REIFIES):
        return "repointed"
    is_target = kind == "MERGE" and before.get(_MERGED_FROM) != after.get(_MERGED_FROM)
    return "merged" if is_target else "changed"


def _source(state: State) -> Json:
    return to_json(state[SOURCE]) if SOURCE in state else None


def keys(before: State, after: State) -> list[dict[str, Json]]:
    """The values that differ; a side that does not have a key is left out, null is a value."""
    differing = []
    for predicate in sorted({*before, *after}, key=lambda predicate: predicate.value):
        name = key_name(predicate)
        if name is None or before.get(predicate) == after.get(predicate):
            continue
        sides = (("before", before), ("after", after))
        values = {side: to_json(state[predicate]) for side, state in sides if predicate in state}
        differing.append({"key": name, **values})
    return differing


def key_name(predicate: NamedNode) -> str | None:
    """The path of a key, such as attributes.risk; None for what is no key or the engine's."""
    if predicate in ENGINE_KEYS:
        return None
    for space, part in _PARTS:
        if predicate.value.startswith(space):
            return f"{part}.{predicate.value.removeprefix(space)}"
    return None


def _has_key(entry: dict[str, Any], key: str) -> bool:
    return any(item["key"] == key for item in entry["keys"])


def _with_key(entry: dict[str, Any], key: str) -> dict[str, Any]:
    return {**entry, "keys": [item for item in entry["keys"] if item["key"] == key]}


def _envelope(
    store: NexusStore, commit: Commit, elements: dict[NamedNode, tuple[State, State]]
) -> dict[str, Any]:
    """A commit in the words of ``diff``."""
    groups: dict[str, dict[str, list[Any]]] = {
        title: {"added": [], "removed": [], "changed": []} for title in ("concepts", "propositions")
    }
    for node in sorted(elements, key=lambda node: node.value):
        before, after = elements[node]
        element = _object(store, node, before, after)
        kind = "added" if not before else "changed" if after else "removed"
        is_concept = isinstance(store.iris.name(node.value), ConceptName)
        groups["concepts" if is_concept else "propositions"][kind].append(element)
    origin = commit.origin
    head = {"seq": commit.number, "at": origin.at, "kind": origin.kind}
    return {
        **head,
        "author": origin.author,
        "session": origin.session,
        "undoes": undone(origin),
        **_actor(origin),
        **groups,
        **_forgotten(commit),
        **_proposed(commit),
        **_shapes_set(commit),
    }


def _shapes_set(commit: Commit) -> dict[str, str | None]:
    """What became of violations from a commit on that set shapes, null if it removed them; nothing
    for another one."""
    if GATE not in commit.records:
        return {}
    kept = Kept.read(commit.records[GATE][1])
    return {GATE: None if kept is None else kept.on_violation}


def _proposed(commit: Commit) -> dict[str, str]:
    """The proposal that a commit has run, and who proposed it; nothing for another one."""
    _, record = commit.records.get(APPROVED, (None, None))
    if record is None:
        return {}
    proposal = json.loads(record)
    return {"proposal": proposal["id"], "proposed_by": proposal["by"]}


def _forgotten(commit: Commit) -> dict[str, int]:
    """How many elements a commit has forgotten; nothing for another one."""
    if commit.origin.kind != FORGET:
        return {}
    _, number = commit.records[FORGOTTEN]
    return {FORGOTTEN: int(number)}


def _object(store: NexusStore, node: NamedNode, before: State, after: State) -> dict[str, Json]:
    """The KIP JSON of an element; of a changed one, both sides of each key that differs."""
    state = {key: value for key, value in (after or before).items() if key not in ENGINE_KEYS}
    triples = [Triple(node, predicate, value) for predicate, value in state.items()]
    element = read_object(store.iris, node, triples)
    assert element is not None, node
    if not (before and after):
        return element
    changed: dict[str, Any] = {
        key: value for key, value in element.items() if key not in ("attributes", "metadata")
    }
    for item in keys(before, after):
        part, _, key = item.pop("key").partition(".")
        changed.setdefault(part, {})[key] = item
    earlier = before.get(vocab.REIFIES)
    if earlier is not None and earlier != after[vocab.REIFIES]:
        ends = {"subject": earlier.subject, "object": earlier.object}
        changed["previous"] = {name: store.iris.id(end) for name, end in ends.items()}
    return changed


# Arguments ------------------------------------------------------------------------------------


def check_selection(source: Json = None, **texts: object) -> None:
    """Raise KIP_1001 for a source that is no JSON value, and for others that are no text."""
    for name, text in texts.items():
        if text is not None and not (isinstance(text, str) and text):
            message = f"The argument {name} is a text, not {shown(repr(text))}."
            raise KipError("KIP_1001", message, f"Leave {name} out, or give a text.")
    try:
        to_term(source)
    except (TypeError, ValueError):
        message = "The argument source is a value of JSON, without NaN and lone surrogates."
        raise KipError("KIP_1001", message, "Give the value of the metadata key source.") from None


def _check_limit(limit: int) -> None:
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST:
        message = f"The limit is a number from 1 to {MOST}, not {limit!r}."
        raise KipError("KIP_1001", message, f"Leave it out, for {LIMIT}.")


def _position(cursor: str) -> int:
    if not (isinstance(cursor, str) and len(cursor) <= DIGITS and cursor.isdecimal()):
        message = "The cursor is not valid for this call."
        raise KipError("KIP_1001", message, "Send the next_cursor of the previous page.")
    return int(cursor)
