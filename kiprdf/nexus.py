"""The nexus: opens a store, loads the capsules, runs requests. The library API.

Nothing else wires the stages: parse, bind, check, then compile and select, or draft and apply.
"""

from __future__ import annotations

import functools
import itertools
import logging
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pyoxigraph import NamedNode

from kiprdf import collector, linked_data, resources
from kiprdf.budget import Budget, current, spend
from kiprdf.errors import KipError, StoreError
from kiprdf.execution.plan_cache import PlanCache
from kiprdf.interchange import arguments, files, formats
from kiprdf.kml.delete import check_unused, delete
from kiprdf.kml.draft import Clock, Draft, now, timestamp
from kiprdf.kml.merge import merge
from kiprdf.kml.protection import check_protection
from kiprdf.kml.schema import check_schema
from kiprdf.kml.update import update
from kiprdf.kml.upsert import upsert
from kiprdf.kql import find as kql
from kiprdf.kql import results
from kiprdf.kql.find import FindResult
from kiprdf.kql.probe import exists
from kiprdf.kql.reader import read_catalog
from kiprdf.language import ast, bind, parse
from kiprdf.language.printer import expression_text
from kiprdf.linked_data import IMPORTED_AT, LinkedData, on_one_clock
from kiprdf.meta.describe import describe
from kiprdf.meta.export import capsule, export
from kiprdf.meta.indexing import Indexer
from kiprdf.meta.search import all_elements
from kiprdf.rdf.literals import Json
from kiprdf.rows import Rows
from kiprdf.search.embedders import Embedder, EmbeddingError, require_numpy
from kiprdf.semantics import Catalog, check
from kiprdf.source import Span
from kiprdf.store import Delta, OxigraphStore
from kiprdf.store.guard import check_query
from kiprdf.store.sparql_worker import Solutions

if TYPE_CHECKING:
    import rdflib

    from kiprdf import protocol
    from kiprdf.interchange.importing.plan import JsonMap, Plan
    from kiprdf.interchange.staging_store import StagingStore
    from kiprdf.linked_data import Words

T = TypeVar("T")
C = TypeVar("C", ast.Find, ast.Export)

_log = logging.getLogger(__name__)
_BOOTSTRAP = "bootstrap"
"""The record of the commit up to which nothing but opening wrote."""
_CAPSULE = "capsule/"
"""What the records of applied capsules begin with; their digests follow."""
_RESTORED = "restored"
_SELF = "20_self.kip"
_INDEX_FILE = "search.sqlite3"
_LOST = "The graph has lost %s commits, which its text index knows of; restore a backup."

_RENUMBERED = "The number of the last commit could not be read; it is %s from here on."


class _Limit(NamedTuple):
    """The budget of a nexus in a ``with`` block, which runs while ``block`` is locked."""

    nexus: object
    budget: Budget
    block: threading.Lock


_limits: ContextVar[tuple[_Limit, ...]] = ContextVar("kiprdf_limits", default=())


class Answer(NamedTuple):
    """The result of one command, and the cursor of its next page."""

    result: Json
    next_cursor: str | None = None


class _Found(NamedTuple):
    """What a FIND has found: columns, and the cursor of the next page."""

    find: ast.Find
    columns: list[list[Json]]
    cursor: str | None

    def answer(self) -> Answer:
        return Answer(results.shape(self.find, self.columns), self.cursor)

    def rows(self) -> Rows:
        names = tuple(expression_text(expression) for expression in self.find.expressions)
        return Rows(names, tuple(zip(*self.columns, strict=True)), self.cursor)


class Nexus(LinkedData):
    """A knowledge store that speaks KIP, in memory or in a folder.

    >>> nexus = Nexus.memory()
    >>> _ = nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Drug"} } }')
    >>> _ = nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: :name} } }', name="Aspirin")
    >>> nexus.find('FIND(?d.name) WHERE { ?d {type: "Drug"} }').column("?d.name")
    ['Aspirin']
    """

    def __init__(
        self,
        store: OxigraphStore,
        *,
        genesis: bool = True,
        strict_schema: bool = False,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        budget: Budget | None = None,
    ) -> None:
        if embedder is not None:
            require_numpy()
        self._store = store
        self._identity = object()
        self._strict = strict_schema
        self._clock = clock or now
        self._budget = budget or Budget()
        self._unhurried = replace(self._budget, timeout_s=None)
        self._catalog_cache: tuple[int, Catalog] | None = None
        self._schema_commit = 0
        self._plans = PlanCache(store, lambda: self._catalog())
        folder = store.folder
        index_path = folder / _INDEX_FILE if folder else None
        contained = None if embedder is None else _contained(embedder)
        self._indexer = Indexer(store, index_path, contained)
        if store.lacks_number() and not store.read_only:
            opened = int(store.records().get(_BOOTSTRAP, 0))
            number = store.renumber(above=max(opened, self._indexer.known_commit()))
            _log.warning(_RENUMBERED, number)
        self._lost_commits = self._indexer.lost_commits()
        if self._lost_commits:
            _log.error(_LOST, self._lost_commits)
        if genesis and not store.read_only:
            self._load_bundled()

    # Opening and closing ----------------------------------------------------------------------

    @classmethod
    def open(
        cls,
        folder: str | os.PathLike[str],
        base_iri: str | None = None,
        *,
        read_only: bool = False,
        genesis: bool = True,
        strict_schema: bool = False,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        budget: Budget | None = None,
    ) -> Nexus:
        """Open the nexus in a folder; make it there when the folder is absent or empty.

        ``base_iri`` is chosen once, when the nexus is made. ``read_only`` works beside a writer
        and shows the state at its opening. ``genesis=False`` loads no capsules.
        ``strict_schema`` enforces instance schemas on write. ``clock`` returns the time for
        engine-maintained metadata. ``embedder`` turns texts into vectors, for SEARCH by meaning;
        numpy must be installed then. ``budget`` is what each request may spend. Raises
        ``StoreError`` with one sentence.
        """
        if embedder is not None:
            require_numpy()  # before a folder is made
        store = OxigraphStore.open(folder, base_iri, read_only)
        try:
            return cls(
                store,
                genesis=genesis,
                strict_schema=strict_schema,
                clock=clock,
                embedder=embedder,
                budget=budget,
            )
        except BaseException:
            store.close()
            raise

    @classmethod
    def memory(
        cls,
        base_iri: str | None = None,
        *,
        genesis: bool = True,
        strict_schema: bool = False,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        budget: Budget | None = None,
    ) -> Nexus:
        """A nexus that lives as long as the process; parameters as in ``open``."""
        store = OxigraphStore.memory(base_iri)
        return cls(
            store,
            genesis=genesis,
            strict_schema=strict_schema,
            clock=clock,
            embedder=embedder,
            budget=budget,
        )

    def close(self) -> None:
        """Let the folder go. Closing twice is fine; any other use afterwards is an error."""
        self._store.require_own_process()
        if not self._store.closed:
            try:
                self._indexer.close()
            finally:
                self._store.close()

    def __enter__(self) -> Nexus:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # A forked child that leaves the block has nothing to close.
        if not self._store.is_forked:
            self.close()

    @property
    def base_iri(self) -> str:
        """What the IRIs of this nexus begin with."""
        return self._store.iris.base

    @property
    def read_only(self) -> bool:
        """Whether the nexus was opened for reading only."""
        return self._store.read_only

    @property
    def search_modes(self) -> list[str]:
        """The modes of SEARCH that this nexus serves; another one degrades to ``keyword``."""
        return self._indexer.modes

    def limited(self, **changes: Any) -> AbstractContextManager[object]:
        """Let what stands in the ``with`` block spend another budget, each call for itself.

        The changes are fields of ``Budget``. Snapshots, imports and all else that is no command
        have as much time as they need, unless they stand in such a block.

        >>> nexus = Nexus.memory()
        >>> with nexus.limited(timeout_s=0.5, max_rows=10_000):
        ...     nexus.execute("DESCRIBE DOMAINS")
        ['Archived', 'CoreSchema', 'System', 'Unsorted']
        """
        # The block begins and ends with two calls of C functions, which no interrupt can split.
        block = threading.Lock()
        limit = _Limit(self._identity, replace(self._budget_now(self._budget), **changes), block)
        _limits.set((*(outer for outer in _limits.get() if outer.block.locked()), limit))
        return block

    def _budget_now(self, otherwise: Budget) -> Budget:
        """The budget of the innermost block that limits this nexus."""
        for limit in reversed(_limits.get()):
            if limit.nexus is self._identity and limit.block.locked():
                return limit.budget
        return otherwise

    def _request(self, function: Callable[[], T]) -> T:
        """Run one request; a request inside of another spends the outer one's budget."""
        self._store.require_own_process()
        if current() is not None:
            return function()
        return spend(self._budget_now(self._budget), function)

    def _work(self, function: Callable[[], T]) -> T:
        """The same for what takes as long as there is data, unless a request runs."""
        if current() is not None:
            return function()
        return spend(self._budget_now(self._unhurried), function)

    def _load_bundled(self) -> None:
        """Apply the bundled capsules that are new or have changed."""
        with self._store.writing():
            applied = self._store.records()
            self._require_definitions(applied)
            pristine = self._is_empty()
            for bundled in resources.bundled_capsules():
                record = _CAPSULE + bundled.name
                if applied.get(record) == bundled.digest:
                    continue
                records = {record: bundled.digest}
                if pristine:
                    records[_BOOTSTRAP] = str(self._store.commit() + 1)
                if bundled.name == _SELF and self._has_self():
                    # $self has a life of its own by now; a new capsule must not reset it.
                    self._apply(Delta(records=records))
                else:
                    self._apply_text(bundled.text, privileged=True, records=records)

    def _require_definitions(self, records: Mapping[str, str]) -> None:
        """Refuse a graph of which only the notes are left: no statement takes these away."""
        bundled = any(record.startswith(_CAPSULE) for record in records)
        root = self._store.iris.type("$ConceptType")
        # Each way to look it up is a table of its own, and a table may be lost alone.
        ways = ((root, kql.CONCEPT, None), (None, kql.CONCEPT, root), (None, None, root))
        found = all(next(self._store.match(*way), None) is not None for way in ways)
        if bundled and _RESTORED not in records and not found:
            raise StoreError("The graph is damaged: the core schema is gone. Restore a backup.")

    def _has_self(self) -> bool:
        return exists(self._store.iris.concept("Person", "$self"), self._store)

    def _is_empty(self) -> bool:
        """Whether nothing was written but what opening put there."""
        return self._store.records().get(_BOOTSTRAP, "0") == str(self._store.commit())

    # KIP requests -----------------------------------------------------------------------------

    def execute_kip(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Run a request of KIP 6.1, JSON in and JSON out. Never raises for a KIP error.

        >>> Nexus.memory(genesis=False).execute_kip({"command": "FIND(?x)"})["error"]["code"]
        'KIP_1001'
        """
        return self._request(lambda: self._respond(request, readonly=False))

    def execute_kip_readonly(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Run a request that only reads; KML is refused with KIP_1001."""
        return self._request(lambda: self._respond(request, readonly=True))

    def _respond(self, arguments: Any, readonly: bool) -> dict[str, Any]:
        # Here, and where its models are used: pydantic takes longer to load than a nexus to open.
        from kiprdf import protocol

        try:
            request = protocol.read_request(arguments)
        except KipError as error:
            return protocol.Response(error=protocol.error_object(error)).to_json()
        if request.command is not None:
            response, _ = self._one(request.command, request.parameters, request.dry_run, readonly)
            return response
        return self._batch(request, readonly)

    def _batch(self, request: protocol.Request, readonly: bool) -> dict[str, Any]:
        """Run the commands in order; the first write whose execution fails is the last."""
        responses = []
        for item in request.commands or ():
            text = item if isinstance(item, str) else item.command
            own = {} if isinstance(item, str) else item.parameters
            parameters = {**request.parameters, **own}
            response, stops = self._one(text, parameters, request.dry_run, readonly)
            responses.append(response)
            if stops:
                break
        return {"result": responses}

    def answer(
        self,
        command: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        dry_run: bool = False,
        readonly: bool = False,
    ) -> Answer:
        """Run one command as ``execute_kip`` does; result and cursor, or a raised ``KipError``.

        >>> Nexus.memory().answer("DESCRIBE CONCEPT TYPES LIMIT 1").result
        ['$ConceptType']
        """
        given = parameters or {}
        return self._request(lambda: self._answer(command, given, dry_run, readonly))

    def _answer(
        self, text: str, parameters: Mapping[str, Any], dry_run: bool, readonly: bool
    ) -> Answer:
        quick = self._cached(text, parameters)
        if quick is not None:
            return quick.answer()
        return self._execute(self._prepare(text, parameters, readonly), text, dry_run)

    def _one(
        self, text: str, parameters: Mapping[str, Any], dry_run: bool, readonly: bool
    ) -> tuple[dict[str, Any], bool]:
        """The response to one command, and whether it ends a batch."""
        from kiprdf import protocol

        executing = False
        try:
            quick = self._cached(text, parameters)
            if quick is None:
                command = self._prepare(text, parameters, readonly)
                executing = isinstance(command, ast.Manipulation)
            answer = quick.answer() if quick else self._execute(command, text, dry_run)
        except KipError as error:
            response = protocol.Response(error=protocol.error_object(error))
            return response.to_json(), executing and not self._is_malformed(command, error)
        response = protocol.Response(result=answer.result, next_cursor=answer.next_cursor)
        return response.to_json(), False

    def _is_malformed(self, command: ast.Command, error: KipError) -> bool:
        """Whether a write failed for its form; then it was never executed (KIP 6.2.2)."""
        if not error.code.startswith("KIP_1"):
            return False
        try:
            check(command, self._catalog())
        except KipError:
            return True
        return False

    # Library calls ----------------------------------------------------------------------------

    def execute(self, command: str, /, **parameters: Any) -> Any:
        """Run one command and return its bare result; raises ``KipError``.

        >>> Nexus.memory().execute('FIND(COUNT(?d)) WHERE { ?d {type: "Domain"} }') > 0
        True
        """
        return self.answer(command, parameters).result

    def find(self, command: str, /, **parameters: Any) -> Rows:
        """Run a FIND and return its rows, one column an expression; raises ``KipError``."""
        return self._request(lambda: self._rows(command, parameters))

    def _rows(self, text: str, parameters: Mapping[str, Any]) -> Rows:
        quick = self._cached(text, parameters)
        if quick is not None:
            return quick.rows()
        find = self._prepare_one(ast.Find, "FIND", text, parameters)
        return self._guarded(text, lambda: self._found(find)).rows()

    def _found(self, find: ast.Find) -> _Found:
        return _Found(*self._store.read(lambda: self._find(find)))

    def explain(self, command: str, /, **parameters: Any) -> str:
        """The SPARQL that a FIND becomes.

        Where it begins at a named element and finds little, the same is looked up by index
        (docs/decisions/041).
        """
        return self._request(lambda: self._explain(command, parameters))

    def _explain(self, text: str, parameters: Mapping[str, Any]) -> str:
        find = self._prepare_one(ast.Find, "FIND", text, parameters)

        def compiled() -> str:
            check(find, self._catalog())
            return kql.text_of(kql.plan(find, self._store.iris).select, self._store.iris)

        return self._guarded(text, lambda: self._store.read(compiled))

    def _prepare_one(
        self, kind: type[C], word: str, command: str, parameters: Mapping[str, Any]
    ) -> C:
        """Parse and bind a command of one kind."""
        found = self._prepare(command, parameters)
        if not isinstance(found, kind):
            message = f"This call takes {word} only."
            hint = "Use execute() for other commands."
            raise KipError("KIP_1001", message, hint, _keyword(found), command)
        return found

    @on_one_clock
    def apply_capsule(self, capsule: str | os.PathLike[str]) -> dict[str, Any]:
        """Apply a knowledge capsule: a file, or a text of UPSERT blocks, of any size.

        One transaction; returns the receipt of the UPSERT. Raises ``KipError``, and ``OSError``
        for a file that cannot be read.
        """
        text = files.capsule_text(capsule)
        return self._guarded(text, lambda: self._apply_text(text))

    @on_one_clock
    def export(self, command: str | None = None, /, **parameters: Any) -> str:
        """A selection as a knowledge capsule, which ``apply_capsule`` or any KIP engine reads.

        ``command`` is an EXPORT of the whole selection; ``answer`` gives pages. Without it
        everything is exported, the schema first. Ids, the engine's own metadata and what is
        protected stay behind. Raises ``KipError``.

        >>> text = Nexus.memory().export('EXPORT ?d WHERE { ?d {type: "Domain"} }')
        >>> Nexus.memory().apply_capsule(text)["blocks"]
        1
        """
        if command is None:
            return self._guarded(None, lambda: self._store.read(self._export_all))
        prepared = self._prepare_one(ast.Export, "EXPORT", command, parameters)
        if prepared.limit is not None or prepared.cursor is not None:
            message = "This call exports the whole selection."
            hint = "Leave LIMIT and CURSOR out; answer() gives pages."
            raise KipError("KIP_1001", message, hint, _keyword(prepared), command)
        return str(self._execute(prepared, command).result["capsule"])

    def _export_all(self) -> str:
        return capsule(all_elements(self._store), self._store, self._is_bundled())

    def _is_bundled(self) -> bool:
        """Whether the bundled capsules were ever applied."""
        return any(record.startswith(_CAPSULE) for record in self._store.records())

    def sparql(self, query: str) -> Rows | bool | list[Any]:
        """Run a read-only SPARQL 1.2 query on the dataset.

        Returns ``Rows`` of pyoxigraph terms for SELECT, a boolean for ASK, a list of triples for
        CONSTRUCT and DESCRIBE. Updates, SERVICE and oversized queries are refused (``KipError``).
        """
        guarded = functools.partial(self._guarded, query)
        return self._request(lambda: guarded(lambda: self._sparql(check_query(query))))

    def _sparql(self, safe: str) -> Rows | bool | list[Any]:
        """Run a query that the guard has let through."""
        try:
            found = self._store.query(safe)
        except SyntaxError as fault:
            message = f"The SPARQL text cannot be parsed: {fault.msg}."
            raise KipError("KIP_1001", message, "SPARQL 1.2 syntax.") from None
        except (ValueError, OSError, RuntimeError) as fault:
            message = f"The engine refused the query: {fault}"
            raise KipError("KIP_1001", message, "Simplify the query.") from None
        return Rows(found.names, tuple(found.rows)) if isinstance(found, Solutions) else found

    @on_one_clock
    def restore(
        self,
        source: files.Source,
        *,
        base_iri: str | None = None,
        format: formats.Format | None = None,
        mapping: Words = None,
    ) -> int:
        """Load a snapshot, a file or a text, into an empty nexus, in one commit.

        Empty means: nothing but what opening put there. The dataset is then that of the
        snapshot, ids and metadata included, under this nexus's base. ``base_iri`` is needed for a
        file that does not name its base, ``format`` where no suffix tells it and it is not Turtle,
        ``mapping`` for a snapshot that was written with it. Returns the number of elements. Raises
        ``KipError``.
        """
        arguments.check(base_iri=base_iri, format=format)
        if self.read_only:
            message = "The nexus is open read-only."
            raise KipError("KIP_1001", message, "Open it for writing.")
        return self._guarded(
            None,
            lambda: self._restore(lambda: self._read_snapshot(source, format, base_iri, mapping)),
            on_files=True,
        )

    @classmethod
    def from_rdflib(
        cls, graph: rdflib.Graph, base_iri: str | None = None, *, mapping: Words = None
    ) -> Nexus:
        """A nexus in memory that holds what a graph in the rdf11 profile says, and nothing else.

        ``base_iri`` is the base of the graph's IRIs, ``mapping`` that which it was made with.
        Foreign graphs are for ``import_rdf``.
        """
        from kiprdf.interchange.formats.graphs import from_rdflib

        arguments.check(base_iri=base_iri)
        nexus = cls.memory(base_iri, genesis=False)
        words = linked_data.mapping_of(mapping)
        nexus._guarded(
            None,
            lambda: nexus._restore(lambda: from_rdflib(graph, nexus.base_iri, words)),
        )
        return nexus

    def _restore(self, read: Callable[[], StagingStore]) -> int:
        from kiprdf.interchange.dataset import check_dataset

        def restored() -> int:
            if not self._is_empty():
                message = "The nexus holds knowledge of its own."
                raise KipError("KIP_2002", message, "Restore into a new nexus.")
            found = read()
            count = check_dataset(found, self._store.iris)
            # Before the write, as in _apply: every type may be another.
            self._schema_commit = self._store.commit() + 1
            self._store.replace(found.engine, {_RESTORED: "true"})
            self._indexer.outdate()
            return count

        with self._store.writing():
            return collector.paused(restored)

    def info(self) -> dict[str, Any]:
        """Base, counts and commit of the nexus, for people."""

        def counted() -> dict[str, Any]:
            catalog = self._catalog()
            concepts = sum(1 for _ in self._store.match(None, kql.CONCEPT, None))
            propositions = sum(1 for _ in self._store.match(None, kql.PROPOSITION, None))
            return {
                "base_iri": self.base_iri,
                "folder": str(self._store.folder) if self._store.folder else None,
                "read_only": self.read_only,
                "commit": self._store.commit(),
                "concepts": concepts,
                "propositions": propositions,
                "concept_types": len(catalog.concept_types),
                "proposition_types": len(catalog.predicates),
            }

        return self._guarded(None, lambda: self._store.read(counted))

    # Care -------------------------------------------------------------------------------------

    def backup(self, folder: str | os.PathLike[str]) -> None:
        """Copy the nexus into a folder, which is absent or empty, while it is in use.

        The copy holds one commit, ids and all; ``open`` opens it. Raises ``StoreError``.
        """
        if self._store.closed:
            raise StoreError("The nexus is closed.")
        self._store.backup(folder)

    @on_one_clock
    def check(self, *, repair: bool = False) -> dict[str, Any]:
        """Whether the nexus is sound, as counts, ``faults`` and the state of the ``index``.

        Every triple is looked at. ``repair`` makes a text index anew that does not say what the
        graph says.

        >>> found = Nexus.memory().check()
        >>> found["faults"], found["index"]
        ([], 'sound')
        """
        from kiprdf.maintenance import check

        with self._writer():
            found = self._guarded(None, lambda: check(self._store, self._indexer, repair))
            if self._lost_commits:
                found["faults"].append(_LOST % self._lost_commits)
            return found

    # One command ------------------------------------------------------------------------------

    def _prepare(
        self, text: str, parameters: Mapping[str, Any], readonly: bool = False
    ) -> ast.Command:
        """Parse and bind one command."""

        def prepared() -> ast.Command:
            if not isinstance(text, str):
                raise KipError("KIP_1001", "A command is a text.", "Send KIP as a string.")
            template = self._plans.template(text)
            if isinstance(template.command, ast.Manipulation):
                self._refuse_write(template.command, readonly)
            return template.bind(parameters)

        return self._guarded(text, prepared)

    def _refuse_write(self, command: ast.Manipulation, readonly: bool) -> None:
        if readonly:
            message = "execute_kip_readonly runs no command that writes."
            raise KipError("KIP_1001", message, "Send it to execute_kip.", _keyword(command))
        if self.read_only:
            message = "The nexus is open read-only."
            raise KipError("KIP_1001", message, "Open it for writing.", _keyword(command))

    def _cached(self, text: Any, parameters: Mapping[str, Any]) -> _Found | None:
        """What a FIND with a cached plan finds; None where there is no plan."""
        found = self._guarded(text, lambda: self._plans.find(text, parameters))
        return None if found is None else _Found(*found)

    def _execute(self, command: ast.Command, text: str, dry_run: bool = False) -> Answer:
        return self._guarded(text, lambda: self._run(command, dry_run))

    def _guarded(self, text: str | None, function: Callable[[], T], *, on_files: bool = False) -> T:
        """Run a stage; whatever goes wrong leaves as a ``KipError`` that knows its text.

        ``on_files``: what the file system says to a caller's path leaves as it is. In a forked
        process nothing is run, which is a ``StoreError``.
        """
        self._store.require_own_process()
        try:
            return self._work(function)
        except KipError as error:
            raise (error.in_source(text) if isinstance(text, str) else error) from None
        except StoreError as error:
            self._store.require_own_process()  # a callback has forked
            raise KipError(
                "KIP_4003", str(error), "Check the disk; open the nexus again."
            ) from error
        except Exception as fault:
            if on_files and isinstance(fault, OSError):
                raise
            _log.exception("kiprdf failed on a command; the store is unchanged")
            message = f"The engine failed: {type(fault).__name__}."
            raise KipError("KIP_4003", message) from fault

    def _run(self, command: ast.Command, dry_run: bool) -> Answer:
        if isinstance(command, ast.Manipulation):
            return Answer(self._manipulate(command, dry_run))
        if isinstance(command, ast.Find):
            return self._found(command).answer()
        return self._store.read(lambda: self._look(command))

    def _find(self, command: ast.Find) -> FindResult:
        check(command, self._catalog())
        return kql.run(command, self._store)

    def _look(self, command: ast.Meta) -> Answer:
        catalog = self._catalog()
        check(command, catalog)
        if isinstance(command, ast.Search):
            return Answer(self._indexer.search(command))
        if isinstance(command, ast.Export):
            return Answer(*export(command, self._store, self._is_bundled()))
        return Answer(*describe(command, self._store, catalog, self.search_modes))

    def _catalog(self) -> Catalog:
        """The catalog as of the commit that is being read."""
        cached = self._catalog_cache
        if cached is not None and cached[0] >= self._schema_commit:
            return cached[1]
        commit = self._store.commit()
        catalog = read_catalog(self._store)
        self._catalog_cache = (commit, catalog)
        return catalog

    # Writing ----------------------------------------------------------------------------------

    def _manipulate(
        self,
        command: ast.Manipulation,
        dry_run: bool = False,
        privileged: bool = False,
        records: dict[str, str] | None = None,
        settle: Callable[[Draft], None] | None = None,
    ) -> dict[str, Any]:
        """Read, check and apply one statement under the writer's lock.

        ``settle`` may change the draft before it is judged.
        """
        with self._writer():
            check(command, self._catalog())
            draft = Draft(self._store, self._clock)
            receipt = self._draft(command, draft)
            if settle is not None:
                settle(draft)
            if not privileged:
                check_protection(draft, command.span)
            check_unused(draft, command.span)
            if self._strict:
                check_schema(draft, command.span)
            if dry_run:
                return _dry(receipt)
            delta = draft.delta()
            self._apply(replace(delta, records=records) if records else delta)
            return receipt

    def _draft(self, command: ast.Manipulation, draft: Draft) -> dict[str, Any]:
        """Carry a statement out in a draft; its receipt."""
        match command:
            case ast.Upsert():
                return upsert(command, draft)
            case ast.Update():
                return dict(update(command, draft))
            case ast.MergeConcept():
                return merge(command, draft)
            case _:
                return dict(delete(command, draft))

    def _selected(self, command: str) -> list[NamedNode]:
        found = self._prepare(command, {})
        shown = found.expressions if isinstance(found, ast.Find) else ()
        targets = [variable for variable in shown if isinstance(variable, ast.Variable)]
        if isinstance(found, ast.Export):
            targets = [found.target]
        if not isinstance(found, ast.Find | ast.Export) or not targets:
            message = "A selection is an EXPORT, or a FIND that shows variables."
            hint = 'Write FIND(?x) WHERE { ?x {type: "…"} }.'
            raise KipError("KIP_1001", message, hint, _keyword(found), command)
        if found.limit is not None or found.cursor is not None:
            message = "A snapshot holds the whole selection."
            raise KipError("KIP_1001", message, "Leave LIMIT and CURSOR out.", _keyword(found))
        check(found, self._catalog())
        found_nodes = (kql.nodes(target, found.where, self._store) for target in targets)
        return list(dict.fromkeys(itertools.chain.from_iterable(found_nodes)))

    def _imported(self, name: str | None) -> JsonMap:
        source = {} if name is None else {"source": name}
        return {**source, IMPORTED_AT: timestamp(self._clock())}

    def _write_plan(self, make: Callable[[], tuple[Plan, ast.Upsert]], dry_run: bool) -> Plan:
        if self.read_only and not dry_run:
            message = "The nexus is open read-only."
            raise KipError("KIP_1001", message, "Open it for writing, or try a dry run.")
        with self._writer():
            plan, command = make()
            if command.blocks:
                self._manipulate(command, dry_run, settle=functools.partial(_settle, plan))
            return plan

    def _writer(self) -> AbstractContextManager[Any]:
        """The writer's lock; a nexus that is open read-only stands still without it."""
        return nullcontext() if self.read_only else self._store.writing()

    def _apply(self, delta: Delta) -> None:
        if not delta:
            return
        iris = self._store.iris
        definitions = (iris.concept_types, iris.predicates)
        if any(node.value.startswith(definitions) for node in delta.touched):
            # Before the write: a reader that sees the new state must not use the old catalog.
            self._schema_commit = self._store.commit() + 1
        commit = self._store.apply(delta)
        self._indexer.note(delta, commit)

    def _apply_text(
        self, text: str, privileged: bool = False, records: dict[str, str] | None = None
    ) -> dict[str, Any]:
        return collector.paused(lambda: self._apply_blocks(text, privileged, records))

    def _apply_blocks(
        self, text: str, privileged: bool, records: dict[str, str] | None
    ) -> dict[str, Any]:
        # EXPORT gives an empty text, a difference comments only; no command is made of nothing.
        command = ast.Upsert(()) if _is_comment(text) else parse(text, limit_size=False)
        if not isinstance(command, ast.Upsert):
            message = "A capsule consists of UPSERT blocks."
            raise KipError(
                "KIP_1001", message, "Use execute() for other commands.", _keyword(command)
            )
        self._refuse_write(command, readonly=False)
        bound = bind(command, {})
        return self._manipulate(bound, privileged=privileged, records=records)


def _contained(embedder: Embedder) -> Embedder:
    """An embedder that fails as ``EmbeddingError`` only; it is not our code."""

    def embed(texts: list[str], /) -> Any:
        # Here, not where a nexus opens: it takes longer to load than that.
        import numpy as np

        from kiprdf.search.vectors import check_shape

        try:
            made = embedder(texts)
            check_shape(made, len(texts))
            return np.asarray(made)
        except EmbeddingError:
            raise
        except Exception as fault:
            raise EmbeddingError(f"{type(fault).__name__}: {fault}") from fault

    return embed


def _settle(plan: Plan, draft: Draft) -> None:
    """Correct earlier imports, keep the times of what stays as it is, and note what does not."""
    from kiprdf.interchange.importing import corrections

    corrections.correct(plan, draft)
    _keep_import_times(draft)
    iris = draft.store.iris
    plan.changed = frozenset(iris.id(edit.after.node) for edit in draft.changes())


def _keep_import_times(draft: Draft) -> None:
    """What an import finds as it left it keeps its time, and so is not changed at all."""
    for edit in draft.edits.values():
        before = None if edit.before is None else edit.before.metadata.get(IMPORTED_AT)
        if before is not None and edit.before is not None:
            now_at = edit.after.metadata.get(IMPORTED_AT)
            edit.after.metadata[IMPORTED_AT] = before
            if edit.changed and now_at is not None:
                edit.after.metadata[IMPORTED_AT] = now_at


def _is_comment(text: str) -> bool:
    """Whether a text has nothing but comments, or nothing at all."""
    lines = map(str.lstrip, text.split("\n"))
    return all(not line or line.startswith("//") for line in lines)


def _keyword(command: ast.Command) -> Span:
    """The place of a command's first keyword; the shortest has four letters."""
    return Span(command.span.start, command.span.start + 4)


def _dry(receipt: dict[str, Any]) -> dict[str, Any]:
    """The receipt of a statement that wrote nothing."""
    # How much was asked for stays; of what was done, nothing was: [], False and 0.
    asked = ("blocks", "matched")
    return {key: value if key in asked else type(value)() for key, value in receipt.items()}
