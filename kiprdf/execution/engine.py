"""Runs commands on a store: parse, bind, check, then read or write."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pyoxigraph import NamedNode

from kiprdf.actors import acting_on
from kiprdf.arguments import check as check_arguments
from kiprdf.budget import Budget, Budgets
from kiprdf.errors import KipError, KipWarning
from kiprdf.execution import bootstrap
from kiprdf.execution.catalog_cache import CatalogCache
from kiprdf.execution.error_boundary import ErrorBoundary
from kiprdf.execution.find_options import FindOptions, default_of_view
from kiprdf.execution.statements import Statements, Write
from kiprdf.execution.writer import Writer, keyword
from kiprdf.kml.draft import Clock, now
from kiprdf.kql import cursor, results
from kiprdf.kql import find as kql
from kiprdf.kql.beliefs import Beliefs, is_marked, name_of, unmarked
from kiprdf.kql.cursor import Paged
from kiprdf.kql.entailment import Entail, entailed
from kiprdf.kql.find import FindResult
from kiprdf.kql.results import Lack
from kiprdf.kql.valid_at import with_moment
from kiprdf.language import Template, ast
from kiprdf.loading import Lazy
from kiprdf.meta.indexing import Indexer
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import Json
from kiprdf.rows import Rows
from kiprdf.search import INDEX_FILE
from kiprdf.search.embedders import Embedder, require_numpy
from kiprdf.semantics import check
from kiprdf.store import NexusStore, Solutions
from kiprdf.store.refusals import Refusals, writes
from kiprdf.store.sparql_worker import SparqlAnswer, Table

if TYPE_CHECKING:
    from kiprdf import protocol
    from kiprdf.execution import empty_answers, naming, proposals, scoped_writer, why
    from kiprdf.execution.empty_answers import Diagnosis
    from kiprdf.execution.why import Explained
    from kiprdf.kql import diagnosis
    from kiprdf.meta import counts, describe
    from kiprdf.meta import export as exporting
    from kiprdf.meta import search as searching
    from kiprdf.store import guard
    from kiprdf.store import past as past_states
else:
    diagnosis = Lazy("kiprdf.kql.diagnosis")
    counts = Lazy("kiprdf.meta.counts")
    describe = Lazy("kiprdf.meta.describe")
    empty_answers = Lazy("kiprdf.execution.empty_answers")
    exporting = Lazy("kiprdf.meta.export")
    guard = Lazy("kiprdf.store.guard")
    naming = Lazy("kiprdf.execution.naming")
    past_states = Lazy("kiprdf.store.past")
    proposals = Lazy("kiprdf.execution.proposals")
    protocol = Lazy("kiprdf.protocol")
    scoped_writer = Lazy("kiprdf.execution.scoped_writer")
    searching = Lazy("kiprdf.meta.search")
    why = Lazy("kiprdf.execution.why")

T = TypeVar("T")
C = TypeVar("C", ast.Find, ast.Export)


class Answer(NamedTuple):
    """The result of one command, and the cursor of its next page.

    ``warnings`` say why a result is empty, and what keeps a SEARCH from comparing everything.
    """

    result: Json
    next_cursor: str | None = None
    warnings: tuple[KipWarning, ...] = ()


class CommandEngine:
    """Runs the commands of one nexus.

    ``writer`` runs what writes, ``catalogs`` and ``statements`` are the caches, ``budgets`` are
    what requests may spend, ``boundary`` converts failures. ``lost_commits`` is the number of
    commits that the graph has lost, as far as the text index shows.
    """

    def __init__(
        self,
        store: NexusStore,
        *,
        strict_schema: bool | None = None,
        entail: Entail | None = None,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.embedder = embedder
        if embedder is not None:
            require_numpy()
        index_path = store.index_folder / INDEX_FILE if store.index_folder else None
        self.store = store
        self.indexer = Indexer(store, index_path, embedder)
        self.lost_commits = bootstrap.compare_with_index(store, self.indexer)
        self.clock = clock or now
        self.budgets = Budgets(budget)
        self.boundary = ErrorBoundary(store, self.budgets)
        self.catalogs = CatalogCache(store)
        self.statements = Statements(store, self.catalogs.catalog)
        self.beliefs = Beliefs(store, self.clock)
        self.writer = Writer(store, self.indexer, self.catalogs, self.clock)
        self.refusals = Refusals(store.folder, store.read_only)
        if strict_schema is not None:
            self.writer.set_strict_schema(strict_schema)
        if entail is not None:
            self.writer.set_entail(entail)
        self.inherited_entail = default_of_view(store)
        """The default of a view, or of an earlier state; None where the nexus stores its own."""
        self._last_entailed: NexusStore | None = None

    def write_to(self, member: CommandEngine) -> None:
        """Write to a member of the view that this engine reads."""
        self.writer = scoped_writer.ScopedWriter(self.store, self.catalogs, member.writer)
        self.refusals = member.refusals

    def close(self) -> None:
        """Close the index and the store."""
        self.store.require_own_process()
        if not self.store.closed:
            try:
                self.indexer.close()
            finally:
                self.store.close()

    def __del__(self) -> None:
        # The thread that builds the index holds the store, and with it the folder, for a step.
        if hasattr(self, "indexer") and not (self.store.is_forked or sys.is_finalizing()):
            self.indexer.end_building()

    def copy(self) -> CommandEngine:
        """An engine on a copy of the dataset in memory, for trying commands out."""
        if isinstance(self.writer, scoped_writer.ScopedWriter):
            view, written = self.writer.copied()
            copy = CommandEngine(view, clock=self.clock, embedder=self.embedder)
            copy.write_to(CommandEngine(written, clock=self.clock))
            return copy
        return CommandEngine(self.store.copy(), clock=self.clock, embedder=self.embedder)

    def past(self, when: int | str | datetime) -> CommandEngine:
        """An engine on the dataset as of a commit or a time, to read; close it."""
        store = self.boundary.run(lambda: past_states.open_past(self.store, when))
        past = CommandEngine(store, clock=self.clock, embedder=self.embedder)
        past.inherited_entail = self.entail
        return past

    @property
    def entail(self) -> Entail:
        """Whether a FIND that does not say it matches what follows."""
        inherited = self.inherited_entail
        return self.writer.entail if inherited is None else inherited

    def request(self, function: Callable[[], T]) -> T:
        """Call a function as one request; it converts failures itself."""
        self.store.require_own_process()
        return self.budgets.spend_as_request(function)

    # Any command ------------------------------------------------------------------------------

    def answer(
        self,
        text: str,
        parameters: Mapping[str, Any],
        *,
        dry_run: bool = False,
        readonly: bool = False,
        bare: bool = False,
        entail: Entail | None = None,
    ) -> Answer:
        """Run one command as a request; ``readonly`` refuses a command that writes.

        ``entail`` is what a FIND is asked for, None the default of the nexus. Of a ``bare`` answer
        only the result is wanted: the cursor may be missing, and no warning explains an empty one.
        """

        given = text
        text, options = self._options(text, entail)
        seen = None if options is None else partial(self._seen, options)

        def run() -> Answer:
            outcome = self.statements.find(text, parameters, seen)
            if outcome is not None:
                return self._answer_of(outcome, text, bare, options)
            is_asked = options is not None and options.is_asked
            is_writable = not (readonly or self.writer.store.read_only or is_asked)
            may_write = is_writable and acting_on(self.writer).may("propose")
            if may_write and isinstance(text, str):
                write = self.statements.write_by_shape(text, parameters)
                if write is not None:
                    try:
                        return self._write(write, text, parameters, dry_run, bare)
                    except KipError as error:
                        # Every other error needs a place.
                        if error.code == "KIP_4001":
                            raise
            command = self._bound(text, parameters, readonly, options)
            return self._run(command, text, parameters, dry_run, bare, options)

        try:
            return self.boundary.request(run, text)
        except KipError as error:
            if writes(given) and not dry_run:
                self.note_refusal(error, given)
            raise

    def note_refusal(self, error: KipError, text: str | None) -> None:
        """Note that a write was refused."""
        self.refusals.note(acting_on(self.writer), error.code, text)

    def _options(self, text: str, entail: Entail | None) -> tuple[str, FindOptions | None]:
        """A command without the line of ``believed``, and what it sees; None for all as stated."""
        if entail is not None:
            check_arguments(entail=entail)
        moment = None
        if is_marked(text):
            text, moment = unmarked(text, self.clock())
        chosen = self.entail if entail is None else entail
        if moment is None and entail is None and not chosen:
            return text, None
        return text, FindOptions(moment, entail, chosen)

    def _seen(self, options: FindOptions | None) -> NexusStore:
        """The store as a FIND sees it."""
        if options is None:
            return self.store
        store = self.store if options.moment is None else self.beliefs.store(options.moment)
        seen = self._last_entailed = entailed(store, options.entail, self._last_entailed)
        return seen

    def prepare(
        self, text: str, parameters: Mapping[str, Any], readonly: bool = False
    ) -> ast.Command:
        """Parse and bind a command; what writes is refused if it may not."""
        return self.boundary.run(lambda: self._bound(text, parameters, readonly), text)

    def _template(self, text: str) -> Template[ast.Command]:
        """The parsed command of a text; KIP_1001 for what is none."""
        if not isinstance(text, str):
            raise KipError("KIP_1001", "A command is a text.", "Send KIP as a string.")
        return self.statements.template(text)

    def _bound(
        self,
        text: str,
        parameters: Mapping[str, Any],
        readonly: bool = False,
        options: FindOptions | None = None,
    ) -> ast.Command:
        template = self._template(text)
        command = template.command
        if options is not None:
            options.check(command, parameters)
        if isinstance(command, ast.Manipulation):
            if readonly:
                message = "execute_kip_readonly runs no command that writes."
                hint = "Send it to execute_kip."
                raise KipError("KIP_1001", message, hint, keyword(command))
            self.writer.require_writable(command, access="propose")
        return template.bind(with_moment(text, parameters))

    def _run(
        self,
        command: ast.Command,
        text: str,
        parameters: Mapping[str, Any],
        dry_run: bool = False,
        bare: bool = False,
        options: FindOptions | None = None,
    ) -> Answer:
        """Run a command that was bound to parameters."""
        if isinstance(command, ast.Find):
            return self._answer_of(self._run_find(command, options), text, bare, options)
        if isinstance(command, ast.Manipulation):
            write = self.statements.write(command, text, parameters)
            return self._write(write, text, parameters, dry_run, bare)
        commit = self.store.commit()
        if isinstance(command, ast.Search) and not self.store.is_shared:
            # It may take long, and other commits may come.
            self.indexer.current(kinds=(searching.kind_of(command),))
        answer = self.store.read(lambda: self._run_meta(command))
        if not bare and empty_answers.is_empty(command, answer.result):
            reasons = self._reasons(command, text, commit)
            return answer._replace(warnings=(*answer.warnings, *reasons))
        return answer

    def _write(
        self, write: Write, text: str, parameters: Mapping[str, Any], dry_run: bool, bare: bool
    ) -> Answer:
        if not dry_run and acting_on(self.writer).access == "propose":
            return Answer(proposals.propose(self, text, parameters))
        # Another commit in between only keeps an empty answer from being explained.
        commit = self.store.commit()
        try:
            receipt, warnings = self.writer.run(write, dry_run=dry_run)
        except KipError as error:
            if dry_run or not error.breaks_shape or self.writer.gate.mode != "propose":
                raise
            return Answer(proposals.propose(self, text, parameters))
        if bare and warnings:
            return Answer({**receipt, "warnings": [*map(protocol.warning_object, warnings)]})
        if bare or not empty_answers.is_empty(write.command, receipt):
            return Answer(receipt, warnings=warnings)
        command = write.command if write.has_places else self._bound(text, parameters)
        return Answer(receipt, warnings=self._reasons(command, text, commit))

    def _reasons(
        self,
        command: ast.Command,
        text: str,
        commit: int,
        lacks: Lack = "rows",
        options: FindOptions | None = None,
    ) -> tuple[KipWarning, ...]:
        store = self.store.read(lambda: self._seen(options))
        return empty_answers.reasons(command, text, commit, store, self.indexer, lacks)

    def _run_meta(self, command: ast.Meta) -> Answer:
        catalog = self.catalogs.catalog()
        check(command, catalog)
        if isinstance(command, ast.Search):
            # A cursor goes on within the best hits, of which there are at most LIMIT.
            start = cursor.decode(command, name_of(self.store))
            hits = self.indexer.search(command)
            return Answer(hits.elements[start:], warnings=hits.warnings)
        if isinstance(command, ast.Export):
            return Answer(*exporting.export(command, self.store, bootstrap.is_bundled(self.store)))
        return Answer(
            *describe.describe(
                command,
                self.store,
                catalog,
                self.indexer.modes,
                self.clock,
                self.beliefs,
                self.writer.gate.demands(),
            )
        )

    def paged(
        self, text: str, parameters: Mapping[str, Any], entail: Entail | None
    ) -> tuple[ast.Command, Callable[[int], str]]:
        """A bound command, and what makes the cursor of its answer after some rows."""
        text, options = self._options(text, entail)
        command = self._bound(text, parameters, options=options)

        def after(rows: int) -> str:
            assert isinstance(command, Paged)
            of = name_of(self._seen(options if isinstance(command, ast.Find) else None))
            start = cursor.decode(command, of) + rows
            return cursor.encode(command, self.store.commit(), start, of)

        return command, after

    def export_page(self, command: ast.Export, text: str, limit: int) -> dict[str, Any]:
        """The result and the cursor of the first elements of a bound EXPORT."""
        page = replace(command, limit=ast.Scalar(limit))
        answer = self.boundary.run(lambda: self._run(page, text, {}, bare=True), text)
        return protocol.response_of(*answer)

    # FIND -------------------------------------------------------------------------------------

    def find(
        self,
        text: str,
        parameters: Mapping[str, Any],
        *,
        entail: Entail | None = None,
        warn: bool = True,
    ) -> Rows:
        """The rows of a FIND, run as a request; ``warn`` explains that there are none."""

        text, options = self._options(text, entail)
        seen = None if options is None else partial(self._seen, options)

        def run() -> Rows:
            outcome = self.statements.find(text, parameters, seen)
            if outcome is None:
                find = self._bound_one(ast.Find, "FIND", text, parameters, options)
                outcome = self._run_find(find, options)
            rows = tuple(zip(*outcome.columns, strict=True))
            beside = self._beside(outcome, text, warn, options)
            return Rows(outcome.rendering.names, rows, *beside)

        return self.boundary.request(run, text)

    def _answer_of(
        self, outcome: FindResult, text: str, bare: bool, options: FindOptions | None
    ) -> Answer:
        result = results.shape(outcome.find, outcome.columns)
        return (
            Answer(result) if bare else Answer(result, *self._beside(outcome, text, True, options))
        )

    def _beside(
        self, outcome: FindResult, text: str, warn: bool, options: FindOptions | None
    ) -> tuple[str | None, tuple[KipWarning, ...]]:
        """The cursor of the next page, and why an answer lacks something."""
        token = None if outcome.next_cursor is None else outcome.next_cursor()
        if outcome.lacks is None or not warn:
            return token, ()
        return token, self._reasons(outcome.find, text, outcome.commit, outcome.lacks, options)

    def _run_find(self, find: ast.Find, options: FindOptions | None) -> FindResult:
        def run() -> FindResult:
            check(find, self.catalogs.catalog())
            return kql.run(find, self._seen(options))

        return self.store.read(run)

    def why(
        self,
        text: str,
        parameters: Mapping[str, Any],
        row: int | None = None,
        entail: Entail | None = None,
    ) -> Explained:
        """The answer to a FIND and what its rows come from, as a request."""
        text, options = self._options(text, entail)

        def run() -> Explained:
            command = self._template(text).command
            if not isinstance(command, ast.Find):
                hint = "Give a FIND, or leave why out."
                raise KipError("KIP_1001", "Only a FIND says why.", hint, keyword(command))
            if options is not None:
                options.check(command, parameters)
            explained = self.store.read(
                lambda: why.explain(self, text, parameters, self._seen(options), row)
            )
            explained.add(*self._beside(explained.outcome, text, True, options))
            return explained

        return self.boundary.request(run, text)

    def diagnose(
        self, text: str, parameters: Mapping[str, Any], entail: Entail | None = None
    ) -> Diagnosis:
        """What each clause of a command's WHERE leaves, as a request."""

        text, options = self._options(text, entail)

        def run() -> Diagnosis:
            template = self.statements.template(text)
            if options is not None:
                options.check(template.command, parameters)
            command = template.bind(with_moment(text, parameters))
            if not isinstance(command, diagnosis.Question):
                message = "Only a command with a WHERE is diagnosed."
                raise KipError("KIP_1001", message, "Use execute().", keyword(command))

            def read() -> Diagnosis:
                check(command, self.catalogs.catalog())
                # A write matches what is stated, also where the nexus has a default.
                seen = options if isinstance(command, ast.Find) else None
                return empty_answers.diagnose(command, text, self._seen(seen))

            return self.store.read(read)

        return self.boundary.request(run, text)

    def explain(
        self, text: str, parameters: Mapping[str, Any], entail: Entail | None = None
    ) -> str:
        """The SPARQL of a FIND, compiled as a request."""
        text, options = self._options(text, entail)

        def run() -> str:
            find = self._bound_one(ast.Find, "FIND", text, parameters, options)

            def compile() -> str:
                check(find, self.catalogs.catalog())
                return kql.explain(find, self._seen(options))

            return self.store.read(compile)

        return self.boundary.request(run, text)

    def _bound_one(
        self,
        kind: type[C],
        name: str,
        text: str,
        parameters: Mapping[str, Any],
        options: FindOptions | None = None,
    ) -> C:
        """Parse and bind a command that must be of one kind, which is called ``name``."""
        command = self._bound(text, parameters, options=options)
        if not isinstance(command, kind):
            message = f"This call takes {name} only."
            hint = "Use execute() for other commands."
            raise KipError("KIP_1001", message, hint, keyword(command))
        return command

    # Other reading ----------------------------------------------------------------------------

    def export(self, text: str | None, parameters: Mapping[str, Any]) -> str:
        """The capsule of an EXPORT, or of everything."""

        def export_all() -> str:
            elements = searching.all_elements(self.store)
            return exporting.capsule(elements, self.store, bootstrap.is_bundled(self.store))

        def run() -> str:
            if text is None:
                return self.store.read(export_all)
            command = self._bound_one(ast.Export, "EXPORT", text, parameters)
            if command.limit is not None or command.cursor is not None:
                message = "This call exports the whole selection."
                hint = "Leave LIMIT and CURSOR out; answer() gives pages."
                raise KipError("KIP_1001", message, hint, keyword(command))
            result: Any = self._run(command, text, parameters, bare=True).result
            return str(result["capsule"])

        return self.boundary.run(run, text)

    def select_nodes(
        self, text: str | Sequence[str], parameters: Mapping[str, Any] = MappingProxyType({})
    ) -> list[NamedNode]:
        """The elements that a FIND shows, an EXPORT selects or ids name."""
        if not isinstance(text, str):
            return [naming.node_of(id, self.store.iris) for id in dict.fromkeys(text)]
        command = self.prepare(text, parameters)
        expressions = command.expressions if isinstance(command, ast.Find) else ()
        targets = [variable for variable in expressions if isinstance(variable, ast.Variable)]
        if isinstance(command, ast.Export):
            targets = [command.target]
        if not isinstance(command, ast.Find | ast.Export) or not targets:
            message = "A selection is an EXPORT, or a FIND that shows variables."
            hint = 'Write FIND(?x) WHERE { ?x {type: "…"} }.'
            raise KipError("KIP_1001", message, hint, keyword(command), text)
        if command.limit is not None or command.cursor is not None:
            message = "A selection has no pages."
            raise KipError("KIP_1001", message, "Leave LIMIT and CURSOR out.", keyword(command))
        check(command, self.catalogs.catalog())
        nodes = (kql.nodes(target, command.where, self.store) for target in targets)
        return list(dict.fromkeys(itertools.chain.from_iterable(nodes)))

    def sparql(self, query: str) -> Rows | bool | list[Any]:
        """The answer to raw SPARQL that only reads, as a request."""

        def read(answer: SparqlAnswer) -> Rows | bool | list[Any]:
            if isinstance(answer, Table):
                answer = answer.solutions()
            if isinstance(answer, Solutions):
                return Rows(answer.names, tuple(answer.rows))
            return answer

        return self._sparql(query, read)

    def sparql_table(self, query: str) -> Table | bool | list[Any]:
        """The answer of ``sparql``, with the rows of a SELECT as the engine writes them."""
        return self._sparql(query, lambda one: Table.of(one) if isinstance(one, Solutions) else one)

    def _sparql(self, query: str, read: Callable[[SparqlAnswer], T]) -> T:
        """What a function reads from the answer of the store."""

        def run() -> T:
            text = guard.check_query(query)
            try:
                answer = self.store.query(text)
            except SyntaxError as fault:
                message = f"The SPARQL text cannot be parsed: {fault.msg}."
                raise KipError("KIP_1001", message, "SPARQL 1.2 syntax.") from None
            except (ValueError, OSError, RuntimeError) as fault:
                own = re.search(re.escape(vocab.FUNCTION) + r"([\w-]+)", str(fault))
                message = f"The engine refused the query: {fault}"
                hint = "Simplify the query."
                if own is not None:
                    message = f"Only FIND has the function fn:{own[1]}."
                    hint = (
                        "Run the FIND that was explained; its SPARQL with fn: is only to be read."
                    )
                raise KipError("KIP_1001", message, hint) from None
            return read(answer)

        return self.boundary.request(run, query)

    def info(self) -> dict[str, Any]:
        """Base, counts and commit; ``vectors`` counts the elements that have one.

        ``history`` has the first and the last commit of the journal, if there is one; ``closed``
        with ``history=False``.
        """
        store = self.store

        def run() -> dict[str, Any]:
            catalog = self.catalogs.catalog()
            return {
                "base_iri": store.iris.base,
                "folder": str(store.folder) if store.folder else None,
                **store.location,
                "read_only": self.writer.store.read_only,
                "strict_schema": self.writer.strict_schema,
                "gate": self.writer.gate.mode,
                "entail": self.entail,
                "commit": store.commit(),
                "history": self._history(),
                **self._sync(),
                "concepts": counts.total(store, vocab.TYPE),
                "propositions": counts.total(store, vocab.REIFIES),
                "concept_types": len(catalog.concept_types),
                "proposition_types": len(catalog.predicates),
                "vectors": self.indexer.embedded(),
            }

        return self.boundary.run(lambda: store.read(run))

    def _sync(self) -> dict[str, str]:
        """When a commit is on the disk, where commits are written to a folder."""
        sync = None if self.store.embedded is None else self.store.embedded.sync
        return {} if sync is None else {"sync": sync}

    def _history(self) -> dict[str, Any] | None:
        store = self.store
        if store.journal is not None:
            number = store.commit()
            earliest = store.journal.earliest(number)
            latest = max(earliest, min(store.journal.last, number))
            return {"earliest_seq": earliest, "latest_seq": latest}
        closed = None if store.embedded is None else store.embedded.closed_journal
        if closed is None or not closed.last:
            return None
        earliest = closed.earliest(closed.last)
        return {"earliest_seq": earliest, "latest_seq": closed.last, "closed": True}

    def names(self) -> dict[str, list[str]]:
        """The types, the predicates, and keys in use."""
        return self.boundary.run(
            lambda: self.store.read(
                lambda: describe.names_in_use(self.store, self.catalogs.catalog())
            )
        )
