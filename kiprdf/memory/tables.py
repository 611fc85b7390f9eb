"""What ``recall`` and ``context`` look up, in memory: notes by session, entities by their words.

A table is read from the dataset once, and follows the commits by what they touched
(docs/decisions/138).
"""

from __future__ import annotations

import re
import sys
import threading
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator
from itertools import islice, pairwise
from typing import Any, NamedTuple, cast

from pyoxigraph import NamedNode

from kiprdf import collector
from kiprdf.memory import texts
from kiprdf.memory.graph import ITEM, Graph
from kiprdf.memory.items import TYPES, Item, comparable, normalized
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import read_object
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import to_json, to_term

_MANY = 1_000
"""The notes of a session of which it is faster to read all notes."""
_KEPT, _SHORT = 10_000, 1_000
"""Notes that are kept, and the most characters of each."""
_WORD = re.compile(r"[\w.+#/-]+(?:['’][\w.+#/-]+)*")
_MARKS = ".,-/"
_PART = re.compile("[/-]")
_ENDING = re.compile(r"['’]\w{0,2}\Z")


def words(text: str) -> list[str]:
    """The words by which names are found, without what follows an apostrophe.

    >>> words("let's ask tom's team about c++.")
    ['let', 'ask', 'tom', 'team', 'about', 'c++']
    """
    parts = _WORD.findall(text)
    if "'" in text or "’" in text:
        parts = [_ENDING.sub("", part) for part in parts]
    return [word for word in (part.strip(_MARKS) for part in parts) if word]


def _attribute(key: str) -> NamedNode:
    return NamedNode(vocab.ATTRIBUTE + key)


class Place(NamedTuple):
    """Where a note is in its session: by time, then in the order of adding."""

    moment: str
    turn: float
    key: str


class Named(NamedTuple):
    """An entity; ``names`` are its own and its aliases, normalized."""

    node: NamedNode
    id: str
    type: str
    name: str
    names: tuple[str, ...]


class _Table:
    """Attributes of the elements of a memory, as of the last commit that was read."""

    keys: tuple[str, ...]
    """The attributes; an element without the first one is not in the table."""

    def __init__(self, graph: Graph) -> None:
        nexus = graph.nexus
        self._store, self._changed_since = nexus.store, nexus.index.changed_since
        self._lock = threading.RLock()
        self._commit: int | None = None
        self._clear()

    def refresh(self) -> None:
        """Bring the table to the last commit."""
        commit = self._store.commit()
        if commit == self._commit:
            return
        with self._lock:
            touched = None if self._commit is None else self._changed_since(self._commit)
            self._commit = None  # an interrupt leaves a table that is read again
            if touched is None:
                self._clear()
                collector.paused(self._read)
            else:
                self._store.prefetch(touched)
                for node in touched:
                    self._put(node, [self._value(key, node) for key in self.keys])
            self._sort()
            self._commit = commit

    def _read(self) -> None:
        for node, values in self._rows():
            self._put(node, values)

    def _rows(self) -> Iterator[tuple[NamedNode, list[Any]]]:
        """The elements with the first attribute, and their values of all attributes."""
        columns = [dict(self._values(key)) for key in self.keys]
        for node in columns[0]:
            yield node, [column.get(node) for column in columns]

    def _value(self, key: str, node: NamedNode) -> Any:
        return dict(self._values(key, node)).get(node)

    def _values(self, key: str, node: NamedNode | None = None) -> Iterator[tuple[NamedNode, Any]]:
        """The values of an attribute: of one element, or of all that have it."""
        for triple in self._store.match(node, _attribute(key), None):
            yield cast(NamedNode, triple.subject), to_json(cast(Any, triple.object))

    def _clear(self) -> None:
        raise NotImplementedError

    def _put(self, node: NamedNode, values: list[Any]) -> None:
        raise NotImplementedError

    def _sort(self) -> None:
        """Nothing, unless a table has an order."""


class Notes(_Table):
    """The notes, by IRI: their times, and the notes beside them in their sessions.

    It has what was asked for: notes with their sessions, the times of all notes, or all of it.
    """

    keys = ("timestamp", "session", "turn")

    def _clear(self) -> None:
        self._prefix = self._store.iris.concept(ITEM, "x").value[:-1]
        self.moments: dict[str, str] = {}
        self.session_of: dict[str, str] = {}
        self.sessions: dict[str, list[Place]] = {}
        self._places: dict[str, Place] = {}
        self._last: dict[str, int] = {}
        self._complete: set[str] = set()
        self.before: dict[str, str] = {}
        self.after: dict[str, str] = {}
        self._items: dict[str, Item] = {}
        self._has_times = self._is_whole = False

    def _read(self) -> None:
        """Nothing: what is asked for is read."""

    def read(self, keys: Collection[str]) -> None:
        """Read notes, and all notes of their sessions."""
        if self._complete.issuperset(keys):
            return
        unknown = [key for key in keys if key not in self._complete]
        if self._is_whole:
            return
        with self._lock:
            if self._store.is_shared:
                self.read_all()  # each of the others would be a request
            for node in () if self._is_whole else map(NamedNode, unknown):
                session = self._value("session", node)
                if isinstance(session, str):
                    self.read_session(session)
                if node.value not in self.session_of:
                    self._add([(node, [self._value("timestamp", node), None, None])])
                self._complete.add(sys.intern(node.value))

    def read_session(self, session: str) -> None:
        """Read the notes of a session; all notes, if it has many."""
        # Under the lock, no commit is followed between the reading and the adding.
        with self._lock:
            if self._is_whole or session in self.sessions:
                return
            of_session = self._store.match(None, _attribute("session"), to_term(session))
            nodes = [cast(NamedNode, triple.subject) for triple in islice(of_session, _MANY)]
            if len(nodes) == _MANY:
                self.read_all()
                return
            self._store.prefetch(nodes)
            rows = [
                (node, [self._value("timestamp", node), session, self._value("turn", node)])
                for node in nodes
            ]
            self._add(rows)
            self.sessions.setdefault(session, [])  # without notes

    def read_times(self) -> None:
        """Read the times of all notes."""
        with self._lock:
            if self._has_times:
                return
            times = collector.paused(lambda: dict(self._values("timestamp")))
            self._add((node, [moment, None, None]) for node, moment in times.items())
            self._has_times = True

    def read_all(self) -> None:
        """Read all notes."""
        with self._lock:
            if not self._is_whole:
                collector.paused(lambda: self._add(self._rows()))
                self._has_times = self._is_whole = True

    def _add(self, rows: Iterable[tuple[NamedNode, list[Any]]]) -> None:
        """Add notes, with all notes of their sessions; other threads see a session as a whole."""
        sessions: dict[str, list[Place]] = {}
        for node, (moment, session, turn) in rows:
            key = sys.intern(node.value)  # as those of the index: equal keys are found faster
            if isinstance(moment, str) and key.startswith(self._prefix):
                self.moments[key] = comparable(moment)
                if isinstance(session, str):
                    place = self._placed(key, session, turn)
                    sessions.setdefault(session, []).append(place)
        for places in sessions.values():
            places.sort()
            keys = [place.key for place in places]
            self.after |= pairwise(keys)
            self.before |= zip(keys[1:], keys, strict=False)
        self.sessions |= sessions

    def _placed(self, key: str, session: str, turn: Any) -> Place:
        place = Place(self.moments[key], turn if isinstance(turn, int | float) else 0, key)
        self._places[key], self.session_of[key] = place, session
        if isinstance(turn, int):
            self._last[session] = max(turn, self._last.get(session, 0))
        return place

    def _put(self, node: NamedNode, values: list[Any]) -> None:
        key, (moment, session, turn) = sys.intern(node.value), values
        before = self.session_of.pop(key, None)
        if before is not None:
            places = self.sessions[before]
            del places[bisect_left(places, self._places.pop(key))]
            self._join(self.before.pop(key, None), self.after.pop(key, None))
        self.moments.pop(key, None)
        self._items.pop(key, None)
        self._complete.discard(key)
        self._add([(node, [moment, None, None])])
        if key in self.moments and isinstance(session, str):
            if self._is_whole:
                self.sessions.setdefault(session, [])
            if session in self.sessions:
                places, place = self.sessions[session], self._placed(key, session, turn)
                at = bisect_left(places, place)
                places.insert(at, place)
                self._join(places[at - 1].key if at else None, key)
                self._join(key, places[at + 1].key if at + 1 < len(places) else None)

    def _join(self, first: str | None, second: str | None) -> None:
        """Let two notes be beside each other, or one beside none."""
        if first is not None and second is not None:
            self.after[first], self.before[second] = second, first
        elif first is not None:
            self.after.pop(first, None)
        elif second is not None:
            self.before.pop(second, None)

    def last_turn(self, session: str) -> int:
        """The last turn of a session, also of a note that was forgotten since; 0 without one."""
        self.refresh()
        self.read_session(session)
        return self._last.get(session, 0)

    def place(self, key: str) -> Place:
        """Where a note is; without a session, the turn is 0."""
        return self._places.get(key) or Place(self.moments.get(key, ""), 0, key)

    def item(self, key: str) -> Item | None:
        """A note; some short ones are kept."""
        item = self._items.get(key)
        if item is None:
            node = NamedNode(key)
            with self._lock:  # no commit is followed before the note is kept
                shown: Any = read_object(self._store.iris, node, self._store.statements(node))
                if shown is None:
                    return None
                attributes = shown.get("attributes", {})
                if "content" not in attributes:
                    return None  # others link to it, such as a note of Obsidian not yet written
                item = texts.item((shown["name"], *map(attributes.get, texts.KEYS)))
                if len(item.content) <= _SHORT:
                    while len(self._items) >= _KEPT:
                        del self._items[next(iter(self._items))]
                    self._items[key] = item
        return item


class Names(_Table):
    """The entities, by the words of their names."""

    keys = ("normalized_name", "aliases", "entity_id")

    def _clear(self) -> None:
        self.entities: dict[NamedNode, Named] = {}
        self._with_word: dict[str, dict[NamedNode, None]] = {}
        self._vocabulary: list[str] = []

    def _put(self, node: NamedNode, values: list[Any]) -> None:
        old = self.entities.pop(node, None)
        for word in _words_of(old) if old else ():
            self._with_word[word].pop(node, None)
        concept, (name, aliases, id) = self._store.iris.name(node.value), values
        if not (isinstance(name, str) and isinstance(id, str) and isinstance(concept, ConceptName)):
            return
        if concept.type.lower() not in TYPES:
            return
        others = [
            alias
            for alias in (aliases if isinstance(aliases, list) else ())
            if isinstance(alias, str)
        ]
        names = (name, *map(normalized, others))
        named = Named(node, id, concept.type.lower(), concept.name, names)
        self.entities[node] = named
        for word in _words_of(named):
            self._with_word.setdefault(word, {})[node] = None

    def _sort(self) -> None:
        self._vocabulary = sorted(self._with_word)

    def with_word(self, word: str, *, as_prefix: bool) -> list[NamedNode]:
        """The entities with a word in a name, or with a word that begins so."""
        nodes = dict(self._with_word.get(word, {}))
        at = bisect_left(self._vocabulary, word) if as_prefix else len(self._vocabulary)
        while at < len(self._vocabulary) and self._vocabulary[at].startswith(word):
            nodes.update(self._with_word[self._vocabulary[at]])
            at += 1
        return list(nodes)


def _words_of(named: Named) -> set[str]:
    """The words of all names, with the parts of paths and of words with hyphens."""
    whole = [word for name in named.names for word in words(name)]
    return {*whole, *(part for word in whole for part in _PART.split(word) if part)}
