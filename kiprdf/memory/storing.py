"""Stores notes in a nexus: one memory for a text that is repeated, and the turns of a session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from heapq import nlargest
from typing import Any

from pyoxigraph import NamedNode

from kiprdf.execution.support import MENTIONS, STATES
from kiprdf.memory import notes, texts
from kiprdf.memory.evidence import latest
from kiprdf.memory.graph import ITEM, Change, Graph
from kiprdf.memory.items import Item, is_name
from kiprdf.memory.tables import Notes, Place


class Notebook:
    """The stored memories of a graph."""

    def __init__(self, graph: Graph, places: Notes) -> None:
        self._graph = graph
        self._places = places

    def items(self, session: str | None = None, newest: int | None = None) -> list[Item]:
        """The memories, or those of a session, by time; at most so many, the newest."""
        if newest is None:
            filter = "" if session is None else "FILTER(?m.attributes.session == :session)"
            return sorted(self._rows(filter, session=session), key=texts.order)
        items = self._graph.nexus.store.read(lambda: self._newest(session, newest))
        return sorted(items, key=texts.order)

    def _newest(self, session: str | None, count: int) -> list[Item]:
        """The newest notes, in no order."""
        places = self._places
        places.refresh()
        if session is not None:
            places.read_session(session)
            listed: Iterable[Place] = places.sessions.get(session, ())
        else:
            places.read_times()
            moments = places.moments
            least = min(nlargest(count, moments.values()), default="")
            keys = [key for key, moment in moments.items() if moment >= least]
            if len(keys) > count:  # of the same time, the turn decides
                places.read_all()
            listed = map(places.place, keys)
        nodes = [NamedNode(place.key) for place in nlargest(count, listed)]
        self._graph.nexus.store.prefetch(nodes)
        return [item for node in nodes if (item := places.item(node.value))]

    def _rows(self, filter: str, **parameters: Any) -> Iterable[Item]:
        """The memories ``?m`` that a FILTER leaves, in no order."""
        command = f"FIND({texts.COLUMNS}) WHERE {{ ?m {{type: :type}} {filter} }}"
        rows = self._graph.rows(command, type=ITEM, **parameters)
        return map(texts.item, (row for row in rows if row[1] is not None))

    def get(self, id: str) -> Item | None:
        """The memory with an id."""
        if not is_name(id) or not self._graph.has((ITEM, id)):
            return None
        return next(iter(self._rows("FILTER(?m.name == :id)", id=id)), None)

    def store(self, given: Sequence[notes.Note], change: Change) -> tuple[list[str], list[Item]]:
        """Add notes to a change; return their ids, and the memories that state nothing yet."""
        ids: list[str] = []
        items: dict[str, Item] = {}
        missing: dict[str, Item] = {}
        last: dict[str, int] = {}
        for note in given:
            before = items.get(note.item.id) or self.get(note.item.id)
            if before is None or not note.repeats(before):
                id = note.item.id if before is None else notes.new_id()
                item = replace(note.item, id=id)
                session = item.session
                if session is not None:
                    last[session] = (last.get(session) or self._places.last_turn(session)) + 1
                    item = replace(item, turn=last[session])
                missing[id] = item
            elif note.has_own_id:
                item = before
            else:
                item = repeated(before, note.item)
            if item != before:
                ended = {"echo_of": None} if before and before.echo_of else {}
                change.add((ITEM, item.id), ended | texts.attributes(item))
            if item.id in missing or not self._has_links(item.id):
                missing[item.id] = item
            ids.append(item.id)
            items[item.id] = item
        return ids, list(missing.values())

    def _has_links(self, id: str) -> bool:
        pattern = f'({{type: :type, name: :id}}, "{STATES}" | "{MENTIONS}", ?y)'
        command = f"FIND(?x.id) WHERE {{ ?x {pattern} }} LIMIT 1"
        return bool(self._graph.column(command, type=ITEM, id=id))


def repeated(before: Item, item: Item) -> Item:
    """A memory after its text was added again.

    An echo that is repeated without recall is evidence from then on.
    """
    last_seen = latest(before.last_seen, item.last_seen)
    echo_of = before.echo_of if item.echo_of else ()
    return replace(before, seen=before.seen + 1, last_seen=last_seen, echo_of=echo_of)
