"""Stores notes in a nexus: one memory for a text that is repeated, and the turns of a session."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from kiprdf.memory import notes, texts
from kiprdf.memory.graph import ITEM, MENTIONS, STATES, Change, Graph
from kiprdf.memory.growth import is_name
from kiprdf.memory.items import Item

T = TypeVar("T")
_IN_SESSION = "FILTER(?m.attributes.session == :session)"


class Notebook:
    """The stored memories of a graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._turns: dict[str, int] = {}
        """The last turn of sessions, as of a commit: reading it reads the whole session."""
        self._commit: int | None = None

    def items(self, session: str | None, newest: int | None) -> list[Item]:
        """The memories, or those of a session, by time; at most so many, the newest."""
        filter = "" if session is None else _IN_SESSION
        if newest is None:
            return sorted(self._rows(filter, session=session), key=texts.order)
        order = "ORDER BY ?m.attributes.timestamp DESC, ?m.attributes.turn DESC LIMIT :count"
        command = f"FIND(?m.name) WHERE {{ ?m {{type: :type}} {filter} }} {order}"
        ids = self._graph.column(command, type=ITEM, session=session, count=newest)
        return sorted((item for id in ids if (item := self.get(id))), key=texts.order)

    def _rows(self, filter: str, **parameters: Any) -> Iterable[Item]:
        """The memories ``?m`` that a FILTER leaves, in no order."""
        command = f"FIND({texts.COLUMNS}) WHERE {{ ?m {{type: :type}} {filter} }}"
        return map(texts.item, self._graph.rows(command, type=ITEM, **parameters))

    def get(self, id: str) -> Item | None:
        """The memory with an id."""
        if not is_name(id) or not self._graph.has((ITEM, id)):
            return None
        return next(iter(self._rows("FILTER(?m.name == :id)", id=id)), None)

    def write(self, function: Callable[[], T]) -> T:
        """``Graph.write``, after which the known turns still hold."""
        store = self._graph.nexus._store

        def write() -> T:
            if store.commit() != self._commit:
                self._turns.clear()
            try:
                return function()
            finally:
                self._commit = store.commit()

        return self._graph.write(write)

    def store(self, given: Sequence[notes.Note]) -> tuple[list[str], list[Item]]:
        """Store notes as one commit; return their ids, and the memories that state nothing yet."""
        change = Change()
        ids: list[str] = []
        items: dict[str, Item] = {}
        missing: dict[str, Item] = {}
        for note in given:
            before = items.get(note.item.id) or self.get(note.item.id)
            if before is None or not note.repeats(before):
                id = note.item.id if before is None else notes.new_id()
                item = replace(note.item, id=id, turn=self._next_turn(note.item.session))
                missing[id] = item
            elif note.has_own_id:
                item = before
            else:
                item = repeated(before, note.item)
            if item != before:
                ended = {"echo_of": None} if before and before.echo_of else {}
                change.write_item(item.id, ended | texts.attributes(item))
            if item.id in missing or not self._has_links(item.id):
                missing[item.id] = item
            ids.append(item.id)
            items[item.id] = item
        if change:
            self._graph.commit(change)
        return ids, list(missing.values())

    def _next_turn(self, session: str | None) -> int | None:
        if session is None:
            return None
        if session not in self._turns:
            command = f"FIND(MAX(?m.attributes.turn)) WHERE {{ ?m {{type: :type}} {_IN_SESSION} }}"
            last = self._graph.nexus.execute(command, type=ITEM, session=session)
            self._turns[session] = last or 0
        self._turns[session] += 1
        return self._turns[session]

    def _has_links(self, id: str) -> bool:
        pattern = f'({{type: :type, name: :id}}, "{STATES}" | "{MENTIONS}", ?y)'
        command = f"FIND(?x.id) WHERE {{ ?x {pattern} }} LIMIT 1"
        return bool(self._graph.column(command, type=ITEM, id=id))


def repeated(before: Item, item: Item) -> Item:
    """A memory after its text was added again; an echo that is repeated without recall is none."""
    last_seen = max(before.last_seen, item.last_seen, key=lambda time: time.rstrip("Z"))
    echo_of = before.echo_of if item.echo_of else ()
    return replace(before, seen=before.seen + 1, last_seen=last_seen, echo_of=echo_of)
