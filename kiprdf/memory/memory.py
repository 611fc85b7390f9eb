"""The memory: stores texts, and adds their statements to the graph."""

from __future__ import annotations

import functools
import logging
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar

from kiprdf import resources
from kiprdf.brains import obeying
from kiprdf.memory import context, contradictions, edits, enrichment, notes, snapshots, texts
from kiprdf.memory.extraction import extract
from kiprdf.memory.graph import ITEM, Change, EntityNode, Graph
from kiprdf.memory.growth import Growth
from kiprdf.memory.items import (
    PREDICATES,
    TYPES,
    Edge,
    Entity,
    Extraction,
    Hit,
    Item,
    Neighbor,
    is_name,
    normalized,
)
from kiprdf.memory.recall import LIMIT, Filters, Recaller, count
from kiprdf.memory.recalled import MAX_CHARACTERS, Recall
from kiprdf.memory.storing import Notebook
from kiprdf.nexus import Nexus
from kiprdf.store.view import ViewStore

T = TypeVar("T")
P = ParamSpec("P")
Extractor: TypeAlias = Callable[[str], Extraction]
_log = logging.getLogger(__name__)


def _writes(method: Callable[Concatenate[Memory, P], T]) -> Callable[Concatenate[Memory, P], T]:
    """A method that runs on the memory of the nexus that is written."""

    @functools.wraps(method)
    def run(self: Memory, /, *args: P.args, **kwargs: P.kwargs) -> T:
        if self._own is self:
            return method(self, *args, **kwargs)
        with obeying(self.nexus, self._own.nexus):
            return method(self._own, *args, **kwargs)

    return run


class Memory:
    """Texts in a nexus, and the graph of entities and relations extracted from them.

    ``extractor`` reads a text instead of ``extract``, ``enricher`` asks a model,
    ``clock`` returns the time in UTC. The types of the graph are defined in the nexus when a
    memory is first made on it. A memory of a view reads all members, and writes to ``write``, one
    of them (without it, the one that the view writes), alone: what a text mentions is looked for,
    and written, there.

    >>> memory = Memory(Nexus.memory())
    >>> id = memory.add("I'm working on meshalyzer with Python.")
    >>> [edge.predicate for edge in memory.edges()]
    ['works_on', 'uses']
    """

    def __init__(
        self,
        nexus: Nexus,
        *,
        extractor: Extractor | None = None,
        enricher: enrichment.Enricher | None = None,
        clock: texts.Clock | None = None,
        write: Nexus | None = None,
    ) -> None:
        self.nexus = nexus
        self._own = self
        if write is None and nexus.written is not nexus:
            write = nexus.written
        if write is not None:
            _require_member(write, nexus)
            self._own = Memory(write, extractor=extractor, enricher=enricher, clock=clock)
            enricher = None
        self._extractor = extractor or extract
        self._enricher = enricher
        if enricher is not None and not enrichment.is_enabled():
            _log.warning("The model is not asked: %s.", enrichment.FORBIDDEN)
        self._clock = clock or texts.now
        self._rejected = 0
        is_own = self._own is self
        may_write = is_own and not nexus.read_only and nexus.actor.may("write")
        if may_write:
            nexus.apply_capsule(resources.optional_capsule("memory").text)
        types = [ITEM] if may_write else nexus.execute("DESCRIBE CONCEPT TYPES")
        self.graph = Graph(nexus, is_ready=ITEM in types)
        self._recaller = Recaller(self.graph, self._clock)
        self._notebook = Notebook(self.graph, self._recaller.notes)

    @property
    def rejected(self) -> int:
        """The edges that the texts added here stated, and that a person has rejected."""
        return self._own._rejected

    # Memories ---------------------------------------------------------------------------------

    @_writes
    def add(
        self,
        content: str,
        *,
        tags: Iterable[str] = (),
        id: str | None = None,
        timestamp: object = None,
        session: str | None = None,
        speaker: str | None = None,
        after_recall: Iterable[str] = (),
    ) -> str:
        """Store a text, add what it states to the graph, and return its id.

        The first person of a text is its ``speaker``: the user, if none is given. The same text of
        the same speaker in the same ``session`` is one memory. ``after_recall`` names memories that
        were recalled before the text was written: it may repeat them, and is no evidence.

        At most two commits. Only the storing can raise: ``TypeError`` and ``ValueError`` for what
        is no memory, and for an id that another text has; ``KipError`` and ``StoreError`` of the
        nexus. A failure of the graph is logged; adding the same text with the same id again, or
        ``rebuild``, makes up for it.
        """
        note = notes.note(
            self._clock,
            content,
            tags=tags,
            id=id,
            timestamp=timestamp,
            session=session,
            speaker=speaker,
            after_recall=after_recall,
        )
        return self._add([note])[0]

    @_writes
    def add_many(self, texts: Iterable[str | Mapping[str, Any]]) -> list[str]:
        """Store texts, or dicts with the arguments of ``add``, as ``add`` does; return their ids.

        At most two commits for all. If one of them cannot be stored, nothing is stored.
        """
        return self._add(notes.notes(self._clock, texts))

    @_writes
    def add_messages(
        self,
        messages: Iterable[Mapping[str, Any]],
        *,
        session: str,
        tags: Iterable[str] = (),
        after_recall: Iterable[str] = (),
    ) -> list[str]:
        """Store the messages of a conversation as ``add_many`` does; return an id for each, or ""
        for one without a text, which is left out.

        A message has a ``role`` and ``content``, as text or in parts, and may have a ``name`` and a
        ``timestamp``. The first person is the user in a message with the role ``user``, and its
        author in all others.
        """
        options = {"session": session, "tags": tuple(tags), "after_recall": tuple(after_recall)}
        given = notes.messages(self._clock, messages, **options)
        ids = iter(self._add([note for note in given if note is not None]))
        return ["" if note is None else next(ids) for note in given]

    def _add(self, given: Sequence[notes.Note]) -> list[str]:
        """Store notes as one commit, and what they state as another; return their ids."""
        ids, items = self.graph.write(lambda change: self._notebook.store(given, change))
        self._without_failing("enrich the graph", lambda: self.grow(items), None)
        return ids

    @_writes
    def grow(self, items: Iterable[Item]) -> None:
        """Add what stored memories state to the graph, as one commit.

        ``add`` does it; here it is for notes that were stored otherwise, such as by an import.
        """
        stated = [(item, part, src) for item in items for src, part in self._read(item)]

        def write(change: Change) -> int:
            growth = Growth(self.graph)
            for item, part, src in stated:
                growth.add(item, notes.of_speaker(item, part), src)
            growth.write(change)
            return len(change.rejected(growth.edges))

        if stated:
            self._rejected += self.graph.write(write)

    def _read(self, item: Item) -> list[tuple[str, Extraction]]:
        """What a memory states, by source; nothing if it cannot be read now."""
        if item.echo_of:
            return []
        extraction = self._without_failing("extract", lambda: self.extract(item.content), None)
        if extraction is None:
            return []
        stated = [("deterministic", extraction)]
        enricher = self._enricher
        if enricher is not None and enrichment.is_enabled():
            ask = enrichment.enrich
            answer = self._without_failing(
                "ask the model", lambda: ask(item.content, extraction, enricher), Extraction()
            )
            stated.append(("llm", answer))
        return stated

    def _without_failing(self, task: str, function: Callable[[], T], default: T) -> T:
        """Call a function; what it raises is logged, and the default returned."""
        try:
            return function()
        except Exception as fault:
            _log.warning("The memory could not %s: %s", task, fault)
            _log.debug("The reason:", exc_info=True)
            return default

    def get(self, id: str) -> Item | None:
        """The memory with an id."""
        return self._notebook.get(id)

    def items(self, *, session: str | None = None, newest: int | None = None) -> Iterator[Item]:
        """The memories, or those of a session, by time; ``newest`` for at most so many of them."""

        def read(change: Change) -> list[Item]:
            return self._notebook.items(session, newest)

        return iter(self.graph.write(read, dry_run=True))

    @_writes
    def forget(self, id: str, *, derived: bool = False) -> bool:
        """Delete a memory, and what nothing else is evidence for; whether there was one.

        ``derived`` deletes what is ``derived_from`` these alone, too.
        """

        def write(change: Change) -> bool:
            is_there = self.get(id) is not None
            if is_there:
                edits.forget(self.graph, change, id, derived=derived)
            return is_there

        return self.graph.write(write)

    @_writes
    def erase(self, id: str, *, derived: bool = False) -> dict[str, Any]:
        """Erase a memory for good: from the graph, the history, and every file of the folder.

        So is what only it states, as for ``forget``, and what it stated earlier. A memory that was
        forgotten can be erased, too. ``derived`` erases what is ``derived_from`` these alone as
        well; without it its ids are ``unsupported``. For copies of the nexus there is the list
        of ``Nexus.erasures``. Returns ``erased``, false if there was no such memory;
        ``entities`` and ``edges``, the names of what went; ``elements`` and ``links``, the ids;
        ``commits``, whose records were written again; ``mentions``, the ids of what has a name of
        these in its values; ``seq``, the commit. Raises KIP_1001 for a nexus in a SPARQL store.
        """
        if not is_name(id):
            raise ValueError(f"{id!r} cannot be the id of a memory.")
        return edits.erase(self.graph, id, derived=derived)

    @_writes
    def rebuild(self, *, dry_run: bool = False) -> dict[str, int]:
        """Build the graph again from the stored memories, as one commit; ids are kept.

        What was written by ``upsert_entity``, ``import_`` or a model is left out, and so is what
        only memories state that are not believed, such as superseded ones. Returns the numbers of
        ``memories``, ``entities`` and ``edges``, and of edges that are ``rejected``, if there are
        any; a dry run only returns them.
        """
        extract = functools.lru_cache(None)(self.extract)
        for item in self.items():
            extract(item.content)  # which takes long, and needs no lock

        def build(change: Change) -> dict[str, int]:
            growth = Growth(self.graph, (self.graph.entities(), self.graph.edges()))
            items = self._notebook.items()
            hidden, concept = self.graph.believed().notes, self.nexus.store.iris.concept
            for item in items:
                if concept(ITEM, item.id).value in hidden:
                    continue
                growth.add(item, notes.of_speaker(item, extract(item.content)))
            if not dry_run:
                growth.write(change)
                edits.replace_graph(self.graph, change)
            rejected = len(change.rejected(growth.edges))
            edges = len(growth.edges) - rejected
            counts = {"entities": len(growth.entities), "edges": edges}
            counts |= {"rejected": rejected} if rejected else {}
            return {"memories": len(items), **counts}

        return self.graph.write(build, dry_run=dry_run)

    def extract(self, text: str) -> Extraction:
        """What a text states; nothing is written."""
        extraction = self._extractor(text)
        if not isinstance(extraction, Extraction):
            raise TypeError(f"The extractor returned {type(extraction).__name__}, no Extraction.")
        return extraction

    # The graph --------------------------------------------------------------------------------

    def entities(self, type: str | None = None) -> list[Entity]:
        """The entities of a type, or of all, by type and name."""
        if type is not None:
            _require(type, TYPES, "type of entities")
        return [node.entity for node in self._nodes(type)]

    def _nodes(self, type: str | None = None) -> list[EntityNode]:
        nodes = self.graph.entities(type)
        return sorted(
            nodes,
            key=lambda node: (TYPES.index(node.entity.type), node.entity.normalized_name),
        )

    def edges(self, predicate: str | None = None) -> list[Edge]:
        """The edges with a predicate, or all: by predicate, those that hold first, then weight,
        then the newest first."""
        if predicate is not None:
            _require(predicate, PREDICATES, "predicate")
        links = self.graph.stated_edges(predicate=predicate)
        edges = [link.with_memories() for link in links]
        names = list(PREDICATES)
        edges.sort(key=lambda edge: edge.id)
        edges.sort(key=lambda edge: edge.time, reverse=True)
        return sorted(
            edges,
            key=lambda edge: (names.index(edge.predicate), bool(edge.valid_until), -edge.weight),
        )

    def entity(self, id_or_name: str, type: str | None = None) -> Entity | None:
        """The entity with an id or a name, in any case; the first by type if several have it."""
        node = self._node(id_or_name, type)
        return None if node is None else node.entity

    def _node(self, id_or_name: str, type: str | None = None) -> EntityNode | None:
        if not isinstance(id_or_name, str) or not is_name(id_or_name.strip()):
            return None
        if type is not None:
            _require(type, TYPES, "type of entities")
        node = self.graph.with_id(id_or_name)
        if node is not None:
            return node if type in (None, node.entity.type) else None
        node = self.graph.named(normalized(id_or_name), type)
        prefix, _, name = id_or_name.partition(":")
        if node is None and type is None and prefix in TYPES:
            return self._node(name, prefix)  # such as tool:Python
        return node

    @_writes
    def upsert_entity(self, type: str, name: str, metadata: Mapping[str, Any] | None = None) -> str:
        """Create an entity, or merge metadata into the existing one; return its id."""
        _require(type, TYPES, "type of entities")
        return edits.upsert_entity(self.graph, type, name, metadata, texts.iso_time(self._clock()))

    @_writes
    def upsert_edge(
        self,
        subject_id: str,
        predicate: str,
        object_id: str,
        weight: float,
        evidence: Mapping[str, Any],
    ) -> str:
        """Create an edge, or keep the stronger statement of two; return its id.

        A ``memory_id`` in the evidence is that of a stored memory.
        """
        _require(predicate, PREDICATES, "predicate")
        moment = texts.iso_time(self._clock())
        return edits.upsert_edge(
            self.graph, (subject_id, predicate, object_id), weight, evidence, moment
        )

    def search(self, query: str, *, type: str | None = None, limit: int = 10) -> list[Hit]:
        """The entities whose name matches: exactly 1.0, in part 0.7, in a word 0.5."""
        if type is not None:
            _require(type, TYPES, "type of entities")
        return context.search(query, self.graph.entities(type))[: count(limit, "limit")]

    def neighbors(self, id_or_name: str, *, direction: str = "both") -> list[Neighbor]:
        """The edges of an entity, with the other ends: those that hold first, then by weight,
        then name."""
        _require(direction, ("both", "outgoing", "incoming"), "direction")
        node = self._node(id_or_name)
        if node is None:
            return []
        neighbors = []
        for name, end in (("outgoing", "subject"), ("incoming", "object")):
            if direction in ("both", name):
                for link in self.graph.stated_edges(node.node, end=end):
                    edge = link.with_memories()
                    other = edge.object_id if end == "subject" else edge.subject_id
                    entity = self.graph.with_id(other)
                    if entity is not None:
                        neighbors.append(Neighbor(edge, entity.entity, name))
        return sorted(
            neighbors,
            key=lambda neighbor: (
                bool(neighbor.edge.valid_until),
                -neighbor.edge.weight,
                neighbor.entity.normalized_name,
            ),
        )

    def stats(self) -> dict[str, Any]:
        """Counts of memories, of entities by type, and of edges by predicate."""
        types = Counter(node.entity.type for node in self.graph.entities())
        predicates = Counter(link.edge.predicate for link in self.graph.edges())
        memories = self.graph.column("FIND(?m.name) WHERE { ?m {type: :type} }", type=ITEM)
        return {
            "entities": types.total(),
            "edges": predicates.total(),
            "memories": len(memories),
            "entities_by_type": {type: types[type] for type in TYPES if types[type]},
            "edges_by_predicate": {
                name: predicates[name] for name in PREDICATES if predicates[name]
            },
            "top_predicates": sorted(predicates.items(), key=lambda pair: (-pair[1], pair[0])),
        }

    def context(
        self, query: str, *, max_edges: int | None = None, max_chars: int | None = None
    ) -> str:
        """What the graph has about a query, as a block of text for a prompt.

        Empty if context is disabled, if nothing matches, and on any failure.
        """
        if not context.is_enabled() or not isinstance(query, str):
            return ""
        edges = context.limit(max_edges, "CONTEXT_MAX_EDGES", context.MAX_EDGES)
        characters = context.limit(max_chars, "CONTEXT_MAX_CHARS", context.MAX_CHARACTERS)
        return self._without_failing(
            "build a context",
            lambda: self.nexus.request(lambda: self._context(query, edges, characters)),
            "",
        )

    def _context(self, query: str, edges: int, characters: int) -> str:
        recaller = self._recaller
        return context.block(
            self.graph, recaller.names, recaller.with_words, query, edges, characters
        )

    def recall(
        self,
        query: str,
        *,
        limit: int = LIMIT,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        tags: Iterable[str] = (),
        session: str | None = None,
        max_chars: int = MAX_CHARACTERS,
    ) -> Recall:
        """The notes that answer a query best, with what they state; ``str()`` is for a prompt.

        Only notes of the ``session``, with all ``tags``, and of the time from ``since`` to
        ``until`` are returned; a day is meant as a whole. ``max_chars`` bounds the text for the
        prompt. Never raises for the query: ``reasons`` say what it lacks. ``ValueError`` for other
        arguments of a wrong type.

        >>> memory = Memory(Nexus.memory())
        >>> id = memory.add("I am allergic to peanuts.")
        >>> [note.item.content for note in memory.recall("peanuts").notes]
        ['I am allergic to peanuts.']
        """
        filters = Filters.of(since, until, tags, session)
        numbers = count(limit, "limit"), count(max_chars, "max_chars")
        return self.nexus.request(
            lambda: self._recaller.recall(query, numbers[0], filters, numbers[1])
        )

    # Upkeep -----------------------------------------------------------------------------------

    @_writes
    def decay(self, half_life_days: float) -> int:
        """Lower the weights of old statements, as one commit; return the number of edges changed.

        A statement counts half after each ``half_life_days``; stated again, it counts in full.
        """
        now = datetime.fromisoformat(texts.iso_time(self._clock()))
        return self.graph.write(lambda change: edits.decay(self.graph, change, half_life_days, now))

    @_writes
    def merge(self, source: str, target: str) -> str:
        """Merge an entity into another of its type, by id or name; return the other's id.

        The names of the source become aliases, which ``search`` and new memories use. Raises
        ``ValueError`` for an entity that is not there, itself, or of another type.
        """

        def write(change: Change) -> str:
            nodes = []
            for id_or_name in (source, target):
                node = self._node(id_or_name)
                if node is None:
                    raise ValueError(f"There is no entity {id_or_name!r}.")
                nodes.append(node)
            return edits.merge(self.graph, change, *nodes)

        return self.graph.write(write)

    def contradictions(self) -> list[contradictions.Contradiction]:
        """The pairs of statements of which the newer contradicts the older; nothing is deleted."""
        return contradictions.contradictions(self.graph)

    # Snapshots --------------------------------------------------------------------------------

    def export(self) -> dict[str, Any]:
        """The graph as a snapshot of version 1.0."""
        moment = texts.iso_time(self._clock())
        return snapshots.export(self._nodes(), self.edges(), moment)

    def export_file(self, path: str | os.PathLike[str]) -> None:
        """Write the snapshot as a JSON file."""
        Path(path).write_text(snapshots.text(self.export()), "utf-8")

    @_writes
    def import_(self, snapshot: object, *, merge: bool = False) -> dict[str, int]:
        """Replace the graph by a snapshot, or merge it into the graph, as one commit.

        ``snapshot`` is a dict, a path, or JSON text. Returns the numbers of ``entities`` and
        ``edges``, and of those that were ``created`` and ``updated``; what the erasure list of the
        nexus names is left out, and counted as ``erased``, and so are edges that a person has
        rejected, as ``rejected``. Raises ``ValueError`` for another version or shape, ``OSError``
        for a file that cannot be read.
        """
        document = snapshots.read(snapshot)

        def write(change: Change) -> dict[str, int]:
            change.counts = counts = snapshots.add(self.graph, change, document, merge=merge)
            if not merge:
                edits.replace_graph(self.graph, change)
            return counts

        return self.graph.write(write)


def _require_member(write: Nexus, view: Nexus) -> None:
    """Raise ``ValueError`` for a nexus whose content a view does not show."""
    members = view.store.members if isinstance(view.store, ViewStore) else ()
    if write.store not in [member.store for member in members]:
        raise ValueError("What is written would not be read: write to a member of the view.")


def _require(value: object, allowed: Iterable[str], kind: str) -> None:
    if value not in list(allowed):
        raise ValueError(f"{value!r} is no {kind}; there are {', '.join(allowed)}.")
