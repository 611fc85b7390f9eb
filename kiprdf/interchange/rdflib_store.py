"""A nexus in a graph of rdflib (docs/decisions/076).

The graph is the store; queries run on a copy of it in the embedded engine. Each write changes both.
Changes that others have made to the graph are copied when a command begins.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast
from weakref import WeakKeyDictionary

import rdflib
from pyoxigraph import Literal, NamedNode, Quad, Triple
from pyoxigraph import Store as Engine
from rdflib.graph import ConjunctiveGraph, ReadOnlyGraphAggregate

from kiprdf.derived_file import remove
from kiprdf.errors import KipError, StoreError
from kiprdf.interchange.formats.graphs import rdf_term, rdflib_term
from kiprdf.interchange.formats.profiles import to_profile
from kiprdf.rdf import reification, vocab
from kiprdf.rdf.directions import read_value
from kiprdf.rdf.iris import encode
from kiprdf.rdf.literals import is_value
from kiprdf.search import INDEX_FILE
from kiprdf.store import Delta, Origin, OxigraphStore, Written
from kiprdf.store.base import Reading
from kiprdf.store.bookkeeping import RECORD, commit_note, note, rebuild_texts
from kiprdf.store.delta import UNKNOWN, difference
from kiprdf.store.folder import checked_base, index_folder, notes_of
from kiprdf.store.lock import FairLock
from kiprdf.store.sparql_worker import SparqlAnswer

if TYPE_CHECKING:
    from kiprdf.options import ConnectOptions

T = TypeVar("T")
_Statement: TypeAlias = tuple[Any, Any, Any]
"""A triple of rdflib's terms."""

NOTED_COMMITS = 1_000
"""The last commits of which the touched elements are known."""
_PARTS = {rdflib_term(part): part for part in (vocab.SUBJECT, vocab.PREDICATE, vocab.OBJECT)}
_TYPE, _STATEMENT = rdflib_term(vocab.TYPE), rdflib_term(vocab.STATEMENT)
_bookkeeping: WeakKeyDictionary[Any, dict[Any, set[_Statement]]] = WeakKeyDictionary()
"""The bookkeeping of graphs without contexts, by their stores and identifiers."""
_locks: WeakKeyDictionary[Any, FairLock] = WeakKeyDictionary()
"""One lock for all that write to a store of rdflib, whose graphs share their indexes."""


def connect_graph(target: rdflib.Graph, options: ConnectOptions) -> RdflibStore:
    """The store in a graph, or in the default graph of a dataset, or in that with an IRI.

    It holds a nexus, or nothing. Raises ``StoreError`` with one sentence.
    """
    base, profile, read_only = options.base_iri, options.profile, options.read_only
    if not isinstance(target, rdflib.Graph):
        kind = type(target).__name__
        raise StoreError(f"A nexus is connected by a URL or a graph of rdflib, not by {kind}.")
    for name in ("update_url", "auth", "headers"):
        if getattr(options, name) is not None:
            raise StoreError(f"{name} is for a URL: leave it out for a graph of rdflib.")
    if profile not in ("auto", "rdf11"):
        raise StoreError(
            f"A graph of rdflib keeps links as rdf11, not as {profile!r}: leave the profile out."
        )
    graph, notes = _graphs(target, options.default_graph)
    noted: dict[NamedNode, Literal] = {key: value for _, key, value in map(_terms, notes())}
    kept = noted.get(vocab.BASE)
    own_base = _base_of(graph) if kept is None else kept.value
    if own_base is not None and base not in (None, own_base):
        raise StoreError(
            f"The nexus in the graph has the base {own_base}, not {base}: leave the base out."
        )
    if own_base is None and not read_only and len(graph):
        message = "There is no nexus in the graph, but other data, which kiprdf does not change"
        raise StoreError(f"{message}; give an empty graph, or connect with read_only.")
    if own_base is None and read_only and not len(graph):
        raise StoreError("There is no nexus in the graph: connect without read_only to create one.")
    if own_base is not None and vocab.COMMIT not in noted:
        # A nexus that was loaded from a file or copied, as one that was restored.
        of_first = notes_of(own_base, {}, commit_note(1))
        noted |= {quad.predicate: cast(Literal, quad.object) for quad in of_first}
    chosen = own_base or checked_base(vocab.DEFAULT_BASE if base is None else base)
    folder = index_folder(options.index)
    if folder is not None:
        # It may be that of another graph, and is built as fast as the graph is copied.
        remove(folder / INDEX_FILE)
    return RdflibStore(graph, notes, noted, chosen, folder, read_only)


class _Notes:
    """The bookkeeping: in a graph of the dataset, or in this process beside a single graph."""

    def __init__(self, graph: rdflib.Graph | None, kept: set[_Statement]) -> None:
        self._graph = graph
        self._kept = kept

    def __call__(self) -> set[_Statement]:
        return self._kept if self._graph is None else set(self._graph)

    def commit(self) -> int:
        """The number of the last commit; 0 where there is none."""
        number = rdflib_term(vocab.COMMIT)
        return max((int(value) for _, key, value in self() if key == number), default=0)

    def replace(self, statements: set[_Statement]) -> None:
        if self._graph is None:
            self._kept.clear()
            self._kept.update(statements)
        else:
            _change(self._graph, set(self._graph) - statements, statements - set(self._graph))


def _graphs(target: rdflib.Graph, default_graph: str | None) -> tuple[rdflib.Graph, _Notes]:
    """The graph of the knowledge, and that of the bookkeeping."""
    if not isinstance(target, ConjunctiveGraph) or isinstance(target, ReadOnlyGraphAggregate):
        if default_graph is not None:
            raise StoreError("A Graph of rdflib is one graph; default_graph is for a Dataset.")
        of_store = _bookkeeping.setdefault(target.store, {})
        return target, _Notes(None, of_store.setdefault(target.identifier, set()))
    name = vocab.BOOKKEEPING.value
    if default_graph is None:
        graph = getattr(target, "default_graph", None)
        if graph is None:  # a ConjunctiveGraph has it under another name
            graph = target.default_context
    else:
        try:
            graph = target.get_context(rdflib_term(NamedNode(default_graph)))
        except (TypeError, ValueError):
            raise StoreError(f"default_graph must be an IRI, not {default_graph!r}.") from None
        if default_graph.startswith(vocab.GRAPH):
            raise StoreError(
                f"The graph {default_graph} is reserved for kiprdf: name another default_graph."
            )
        name = f"{name}/{encode(default_graph)}"
    return graph, _Notes(target.get_context(rdflib.URIRef(name)), set())


def _base_of(graph: rdflib.Graph) -> str | None:
    """The base of a nexus, from the type of its definitions."""
    root = "$ConceptType/$ConceptType"
    for type in set(graph.objects(None, _TYPE)):
        if str(type).endswith(root):
            return str(type)[: -len(root)]
    return None


class RdflibStore(OxigraphStore):
    """The nexus in a graph of rdflib, for the threads of one process."""

    is_shared = True

    def __init__(
        self,
        graph: rdflib.Graph,
        notes: _Notes,
        noted: Mapping[NamedNode, Literal],
        base: str,
        index_folder: Path | None,
        read_only: bool,
    ) -> None:
        engine = Engine()
        book = vocab.BOOKKEEPING
        engine.extend(Quad(book, key, value, book) for key, value in noted.items())
        super().__init__(engine, base, read_only=read_only)
        self.location = {"endpoint": "rdflib", "engine": "rdflib", "profile": "rdf11"}
        self._lock = _locks.setdefault(graph.store, FairLock())
        self._graph = graph
        self._notes = notes
        self._index_folder = index_folder
        self._statements: set[_Statement] = set()
        self._touched: dict[int, tuple[NamedNode, ...]] = {}
        self._has_begun = False
        self._local = threading.local()
        with self._command():
            self._has_begun = True

    def __repr__(self) -> str:
        return f"RdflibStore({self._graph!r})"

    @property
    def index_folder(self) -> Path | None:
        return self._index_folder

    def changed_since(self, number: int) -> Collection[NamedNode] | None:  # type: ignore[override]
        numbers = range(number + 1, self.commit() + 1)
        if not all(at in self._touched for at in numbers):
            return None
        return {node for at in numbers for node in self._touched[at]}

    def backup(self, folder: str | os.PathLike[str], history: bool = True) -> None:
        message = "The nexus is in a graph of rdflib"
        raise StoreError(f"{message}: copy the graph by its own means, or take a snapshot.")

    # Commands ---------------------------------------------------------------------------------

    @contextmanager
    def _command(self) -> Iterator[None]:
        """A command sees what others have changed in the graph before it."""
        depth = getattr(self._local, "depth", 0)
        if depth == 0:
            self._require_open()
            with self._lock:
                self._follow()
        self._local.depth = depth + 1
        try:
            yield
        finally:
            self._local.depth = depth

    def read(self, function: Callable[[], T]) -> T:
        with self._command():
            if self.read_only:
                with self._lock:
                    return function()
            return super().read(function)

    def try_read(self, function: Callable[[], T]) -> Reading[T] | None:
        with self._command():
            return super().try_read(function)

    def query(self, text: str) -> SparqlAnswer:
        with self._command():
            return super().query(text)

    def copy(self) -> OxigraphStore:
        with self._command():
            return super().copy()

    def writing(self) -> AbstractContextManager[Any]:
        self.require_own_process()
        if self.read_only and not getattr(self._local, "follows", False):
            raise StoreError("The nexus is open read-only.")
        return self._writing()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._lock, self._command():
            yield

    # What others change -----------------------------------------------------------------------

    def _follow(self) -> None:
        """Copy what has changed in the graph; the lock is held."""
        if getattr(self._local, "follows", False):
            return
        try:
            statements = set(self._graph)
        except Exception as fault:
            raise StoreError(f"The graph cannot be read: {fault}") from fault
        last = self._notes.commit() if self._has_begun else 0
        if last > self.commit():
            self._take_over_records()
        if statements == self._statements:
            if last > self.commit():  # it has changed records alone
                self._last = self._last._replace(number=last)
            return
        removed, added = self._statements - statements, statements - self._statements
        links = {s for s, p, o in removed | added if p in _PARTS}
        before = [self._reifying(link) for link in links]
        changed = [*_plain(removed)], [*_plain(added)]
        self._statements = statements
        self._local.follows, self._local.depth = True, 1
        try:
            changed[0].extend(triple for triple in before if triple is not None)
            after = (_reified(link, self._graph) for link in links)
            changed[1].extend(triple for triple in after if triple is not None)
            if changed[0] or changed[1]:
                nodes = dict.fromkeys(cast(NamedNode, t.subject) for part in changed for t in part)
                delta = Delta(tuple(changed[0]), tuple(changed[1]), touched=tuple(nodes))
                self._take_over(delta)
        finally:
            self._local.follows, self._local.depth = False, 0

    def _take_over(self, delta: Delta) -> None:
        """Apply what others have changed as a commit; the initial content is not one."""
        if self.commit() == 0 or not self._has_begun:
            for triple in delta.removed:
                self._engine.remove(Quad(*triple))
            self._engine.extend(Quad(*triple) for triple in delta.added)
            rebuild_texts(self._engine)
            self._update_times.clear()
            return
        # The commits of another nexus in the same graph count, too.
        last = self._notes.commit()
        if last > self.commit():
            self._last = self._last._replace(number=last - 1)
        self._noted(super().apply(delta), delta)

    def _take_over_records(self) -> None:
        """Keep the records of another nexus in the graph, which are later ones."""
        for _, key, value in map(_terms, self._notes()):
            if key.value.startswith(RECORD):
                for quad in self._quads(vocab.BOOKKEEPING, key, None, vocab.BOOKKEEPING):
                    self._engine.remove(quad)
                self._engine.add(note(key, value))

    def _reifying(self, link: Any) -> Triple | None:
        node = rdf_term(link)
        return next(super().match(node, vocab.REIFIES, None), None)

    # Writing ----------------------------------------------------------------------------------

    def apply(self, delta: Delta) -> int:
        with self.writing():
            removed = set(self._stored(delta.removed))
            added = set(_rdflib_triples(delta.added))
            removed, added = removed - added, added - self._statements
            self._write(removed, added)
            try:
                number = super().apply(delta)
            except BaseException:
                self._write(added, removed)
                raise
            self._noted(number, delta)
            return number

    def _noted(self, number: int, delta: Delta) -> None:
        """Note a commit, and what it touched."""
        self._touched[number] = tuple(delta.touched)
        self._touched.pop(number - NOTED_COMMITS, None)
        quads = self._quads(None, None, None, vocab.BOOKKEEPING)
        notes = {tuple(map(rdflib_term, quad.triple)) for quad in quads}
        self._notes.replace(cast("set[_Statement]", notes))

    def _write(self, removed: set[_Statement], added: set[_Statement]) -> None:
        """Change the graph; a graph that fails is as before."""
        try:
            _change(self._graph, removed, added)
            if not all(statement in self._graph for statement in added):
                raise StoreError("it does not keep what is added")
        except Exception as fault:
            with suppress(Exception):
                _change(self._graph, added - self._statements, removed)
            reason = str(fault) or type(fault).__name__
            raise StoreError(f"The graph cannot be written: {reason}") from fault
        self._statements = (self._statements - removed) | added

    def _stored(self, triples: Iterable[Written]) -> Iterator[_Statement]:
        """Triples as the graph spells them: the engine has one spelling of a number."""
        for statement in _rdflib_triples(triples):
            if statement in self._statements:
                yield statement
                continue
            subject, predicate, _ = statement
            same = Engine()
            for other in self._graph.objects(subject, predicate):
                with suppress(KipError):
                    same.add(Quad(*_terms((subject, predicate, other))))
                    if Quad(*_terms(statement)) in same:
                        yield subject, predicate, other
                    same.clear()

    def replace(self, dataset: Engine, records: dict[str, str], origin: Origin = UNKNOWN) -> int:
        with self.writing():
            triples = self.match(None, None, None)
            number = self.apply(difference(triples, dataset, records, origin))
            self._touched = {number: ()}
            return number


# Triples ------------------------------------------------------------------------------------------


def _change(graph: rdflib.Graph, removed: set[_Statement], added: set[_Statement]) -> None:
    for statement in removed:
        graph.remove(statement)
    for statement in added:
        graph.add(statement)
    if getattr(graph.store, "transaction_aware", False):
        graph.commit()


def _rdflib_triples(triples: Iterable[Written]) -> Iterator[_Statement]:
    for triple in to_profile((Triple(*triple) for triple in triples), "rdf11"):
        yield cast(_Statement, tuple(map(rdflib_term, triple)))


def _plain(statements: Iterable[_Statement]) -> Iterator[Triple]:
    """The triples that are not part of a statement; without those that a nexus cannot have."""
    for subject, predicate, value in statements:
        is_type = predicate == _TYPE and value == _STATEMENT
        if predicate not in _PARTS and not is_type and isinstance(subject, rdflib.URIRef):
            with suppress(KipError, TypeError):
                triple = Triple(*_terms((subject, predicate, value)))
                node = triple.object
                if isinstance(node, NamedNode) or (isinstance(node, Literal) and is_value(node)):
                    yield triple


def _terms(statement: Iterable[Any]) -> tuple[Any, Any, Any]:
    subject, predicate, value = map(rdf_term, statement)
    return subject, predicate, read_value(value) if isinstance(value, Literal) else value


def _reified(link: Any, graph: rdflib.Graph) -> Triple | None:
    """The reifying triple of a statement that has all its parts."""
    parts = {part: graph.value(link, key) for key, part in _PARTS.items()}
    if not isinstance(link, rdflib.URIRef) or not all(
        isinstance(end, rdflib.URIRef) for end in parts.values()
    ):
        return None
    nodes = {part: cast(NamedNode, rdf_term(end)) for part, end in parts.items()}
    return reification.from_rdf11(cast(NamedNode, rdf_term(link)), nodes)
