"""Runs raw SPARQL in separate processes, which can be killed (docs/decisions/043).

A query becomes a ``_Job`` in a queue. A ``_Worker`` is a thread: it takes the job, brings its
process (``sparql_child``) to the state of the last commit, and forwards the answer. Only the worker
starts, reads and kills its process. The caller holds no lock while it waits, and may stop waiting
anywhere: the worker then kills the process, and starts another for the next query.
"""

from __future__ import annotations

import io
import math
import os
import queue
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import pyoxigraph
from pyoxigraph import (
    DefaultGraph,
    QueryResultsFormat,
    QuerySolutions,
    RdfFormat,
    Triple,
    parse,
    parse_query_results,
)
from pyoxigraph import Store as Engine

from kiprdf.budget import WIDTH, Spending, check
from kiprdf.errors import ClosedError, KipError, StoreError
from kiprdf.loading import Lazy, load
from kiprdf.rdf import vocab
from kiprdf.store.base import Solutions
from kiprdf.store.bookkeeping import KEPT_BYTES, KEPT_COMMITS
from kiprdf.store.delta import Written
from kiprdf.store.folder import graph_folder

if TYPE_CHECKING:
    import pickle
    import subprocess

    from kiprdf.store import sparql_child as child
    from kiprdf.store.oxigraph_reads import OxigraphReads
else:
    child = Lazy("kiprdf.store.sparql_child")
    pickle = Lazy("pickle")

QUERY_MEMORY = 1024**3
"""Bytes of memory that a query may use, besides the dataset, in the process that runs it."""
ANSWER_MEMORY = 512 * 1024**2
"""Bytes of memory that an answer may use in the process of the caller."""
TERM_BYTES, CELL_BYTES, ROW_BYTES = 128, 8, 56
"""The memory of a term besides its text, of a cell, and of a row."""
CHUNK_ROWS = 1024
MOST_PROCESSES = 4
"""Queries that run at once; the others wait, and their time runs."""
START_SECONDS = 120.0
"""The time a process has to start and load the dataset; requests do not spend it."""
MOST_STARTS = 10
"""How often a query is started again because the writer has replaced files meanwhile."""
MOST_CHANGES = 64 * 1024**2
"""Bytes of changes that a copy in memory applies; they reduce the memory left for a query."""
LOG_BYTES = 4 * 1024**2
"""A longer log of the graph is flushed once, so that not every reader reads it again."""
_POLL_SECONDS = 0.5
_IDLE_SECONDS = 0.5
_END_SECONDS = 5.0
"""How long closing waits for a killed process, which releases its memory first."""
_HINT_MEMORY = (
    "Ask for less at once: link the patterns, filter before ORDER BY, GROUP BY and DISTINCT, "
    "and do not build long strings."
)


class Table(NamedTuple):
    """The answer to a SELECT in SPARQL's TSV, as the engine writes it, and the number of rows."""

    text: bytes
    number: int
    check: Callable[[], None] = check
    """Raises KIP_4001 when the time of the query is over."""

    @classmethod
    def of(cls, solutions: Solutions) -> Table:
        """A table of solutions that were read."""
        lines = ["\t".join(f"?{name}" for name in solutions.names)]
        lines += ["\t".join(map(_cell, row)) for row in solutions.rows]
        return cls("".join(f"{line}\n" for line in lines).encode(), len(solutions.rows))

    def written(self, format: QueryResultsFormat) -> bytes:
        """The table in another format, converted by the engine."""
        if format == QueryResultsFormat.TSV:
            return self.text
        content = parse_query_results(self.text, QueryResultsFormat.TSV).serialize(format=format)
        assert content is not None
        return content

    def solutions(self) -> Solutions:
        """The terms; equal ones are the same object. KIP_4002 if they need too much memory."""
        results = cast(QuerySolutions, parse_query_results(self.text, QueryResultsFormat.TSV))
        names = tuple(variable.value for variable in results.variables)
        terms: dict[Any, Any] = {}
        of_row = ROW_BYTES + CELL_BYTES * len(names)
        rows: list[tuple[Any, ...]] = []
        while chunk := list(islice(results, CHUNK_ROWS)):
            self.check()
            rows += [tuple([terms.setdefault(term, term) for term in row]) for row in chunk]
            if len(self.text) + len(terms) * TERM_BYTES + len(rows) * of_row > ANSWER_MEMORY:
                raise _too_large()
        return Solutions(names, rows)


def _cell(term: Any) -> str:
    return "" if term is None else f"<<( {term} )>>" if isinstance(term, Triple) else str(term)


def _triples(text: bytes, number: int, check: Callable[[], None]) -> list[Triple]:
    """The triples of N-Triples text; equal terms are separate objects."""
    if len(text) + number * 3 * TERM_BYTES > ANSWER_MEMORY:
        raise _too_large()
    quads = parse(text, RdfFormat.N_TRIPLES, lenient=True)
    triples: list[Triple] = []
    while chunk := [quad.triple for quad in islice(quads, CHUNK_ROWS)]:
        check()
        triples += chunk
    return triples


def _too_large() -> KipError:
    message = f"The answer takes more than {_megabytes(ANSWER_MEMORY)} of memory."
    return KipError("KIP_4002", message, "Ask for fewer columns, or page with LIMIT.")


SparqlAnswer: TypeAlias = Table | Solutions | bool | list[Triple]
_Frame: TypeAlias = tuple[bytes, bytes]


class RecentChanges:
    """The changes of the last commits, if they are small; none are kept until they are needed.

    Processes that have a copy of the dataset are brought up to date with them.

    >>> changes = RecentChanges()
    >>> changes.since(1, 1), changes.since(1, 2)
    ([], None)
    >>> changes.note(2, [], [])
    >>> len(changes.since(1, 2)), changes.since(0, 2)
    (1, None)
    """

    def __init__(self) -> None:
        self._is_needed = False
        # Replaced as a whole: readers need no lock.
        self._changes: tuple[tuple[int, bytes], ...] = ()

    def note(self, number: int, removed: Sequence[Written], added: Sequence[Written]) -> None:
        """Keep a commit, as a pickled pair of the terms of its removed and added triples."""
        if not self._is_needed:
            return
        change = ([tuple(triple) for triple in removed], [tuple(triple) for triple in added])
        changes = (*self._changes, (number, pickle.dumps(change, protocol=5)))[-KEPT_COMMITS:]
        size = sum(len(data) for _, data in changes)
        self._changes = changes if size <= KEPT_BYTES else ()

    def since(self, first: int, last: int) -> list[bytes] | None:
        """The changes after one commit, up to another or beyond; None where some are missing."""
        self._is_needed = True
        later = [(number, data) for number, data in self._changes if first < number]
        numbers = [number for number, _ in later]
        has_gap = numbers != [*range(first + 1, first + 1 + len(numbers))]
        return None if has_gap or first + len(numbers) < last else [data for _, data in later]

    def clear(self) -> None:
        """Forget all of them: the dataset is another one."""
        self._changes = ()

    def close(self, number: int) -> None:
        """Nothing: they are only kept in memory."""


class SparqlProcesses:
    """The processes that answer raw SPARQL for one store; each starts when it is needed.

    Their threads do not keep the store alive, which may go while they wait. There is no lock, which
    an interrupt could leave locked, and no finalizer, in which its exception would be lost.
    """

    def __init__(self, store: OxigraphReads) -> None:
        self._store = weakref.ref(store)
        self._pid = os.getpid()
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self.is_closed = False
        self.workers = [_Worker(self) for _ in range(MOST_PROCESSES)]

    def query(self, text: str, spending: Spending | None) -> SparqlAnswer:
        """Answer a query on the state of the last commit, or of a later one.

        Raises KIP_4001 when the time is over, KIP_4002 when the query or its answer exceeds its
        memory limit, and ``SyntaxError`` and ``RuntimeError`` as the engine does.
        """
        if os.getpid() != self._pid:
            raise StoreError("The nexus belongs to the process that opened it.")
        if spending is not None:
            spending.check()
        job = _Job(text, self._store, spending)
        try:
            self._jobs.put(job)
            self.grow()
            if self.is_closed:
                raise ClosedError()
            return job.answer()
        finally:
            job.is_abandoned = True
            job.events.put(None)

    def close(self) -> None:
        """Kill the processes, and wait until they are gone; a forked copy leaves them alone."""
        self.is_closed = True
        if os.getpid() == self._pid:
            self._jobs.put(None)
            for worker in self.workers:
                worker.events.put(None)
                worker.kill()
        for worker in self.workers:
            thread = worker.thread
            if thread is not None and thread is not threading.current_thread():
                thread.join(_END_SECONDS)

    # For the workers --------------------------------------------------------------------------

    def next_job(self) -> _Job | None:
        """The next query; None when there will be no more."""
        while True:
            with suppress(queue.Empty):
                return self._jobs.get(timeout=_IDLE_SECONDS)
            if self._store() is None:
                self.is_closed = True
                return None

    def grow(self) -> None:
        """Start another worker if all are busy."""
        running = [worker for worker in self.workers if worker.thread is not None]
        busy = sum(worker.is_busy for worker in running)
        idle = [worker for worker in self.workers if worker.thread is None]
        if idle and busy + self._jobs.qsize() > len(running) and not self.is_closed:
            threading.Thread(target=idle[0].run, name="kiprdf SPARQL", daemon=True).start()

    def refuse(self) -> None:
        """Fail the remaining jobs, and let the next worker end too."""
        with suppress(queue.Empty):
            while True:
                job = self._jobs.get_nowait()
                if job is not None:
                    job.messages.put(ClosedError())
        self._jobs.put(None)


class _Job:
    """One query: the caller waits for ``messages``, the worker puts them."""

    def __init__(
        self, text: str, store: weakref.ref[OxigraphReads], spending: Spending | None
    ) -> None:
        # An abandoned query must not keep a dropped nexus alive.
        self._store = store
        self.commit = self.store.commit()
        self.is_abandoned = False
        self.deadline = math.inf if spending is None else spending.deadline
        self.messages: queue.SimpleQueue[_Frame | BaseException] = queue.SimpleQueue()
        self.events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        """The queue of the worker, once a worker has taken the job."""
        self._spending = spending
        most = None if spending is None else spending.budget.max_rows
        self.query = child.Query(text, most, ANSWER_MEMORY, WIDTH)
        if spending is not None and spending.cancellation is not None:
            spending.cancellation.call_on_cancel(lambda: self.messages.put(spending.expired()))

    @property
    def store(self) -> OxigraphReads:
        """The store; raises ``StoreError`` when it was dropped."""
        store = self._store()
        if store is None:
            raise ClosedError()
        return store

    @property
    def is_over(self) -> bool:
        """Whether the caller has stopped waiting."""
        return self.is_abandoned or time.monotonic() > self.deadline

    def expired(self) -> BaseException:
        if self._spending is None or self._spending.deadline == math.inf:
            return KipError("KIP_4003", "The process that answers SPARQL has not started.")
        return self._spending.expired()

    def answer(self) -> SparqlAnswer:
        """Wait for the answer, and read it."""
        pieces = []
        while (frame := self._next())[0] == child.TEXT:
            self.check()
            pieces.append(frame[1])
        content = pickle.loads(frame[1])
        if frame[0] == child.TRUTH:
            return bool(content)
        is_select, number = content
        text = b"".join(pieces)
        return Table(text, number, self.check) if is_select else _triples(text, number, self.check)

    def check(self) -> None:
        """Raise KIP_4001 when the time is over, which stood still while a process started."""
        if time.monotonic() > self.deadline:
            raise self.expired()

    def _next(self) -> _Frame:
        while True:
            try:
                message = self.messages.get(timeout=_bounded(self.deadline - time.monotonic()))
            except queue.Empty:
                # The worker moves the deadline while it starts its process.
                if time.monotonic() > self.deadline:
                    raise self.expired() from None
                continue
            if isinstance(message, BaseException):
                raise message
            if message[0] == child.FAULT:
                raise self._fault(*pickle.loads(message[1]))
            return message

    def _fault(self, kind: str, detail: Any) -> BaseException:
        if kind == "syntax":
            return SyntaxError(detail)
        if kind == "rows" and self._spending is not None:
            self._spending.check_rows(*detail)
        return _too_large() if kind == "bytes" else RuntimeError(detail)


class _Worker:
    """A thread with one process after another."""

    def __init__(self, processes: SparqlProcesses) -> None:
        self.events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        """Pairs of a process and its frame; None makes the worker check whether to go on."""
        self.is_busy = False
        self.thread: threading.Thread | None = None
        self._claim = [self]
        self._processes = processes
        self._process: subprocess.Popen[bytes] | None = None
        self._commit = -1
        self._changed = 0
        self._starts = 0
        self._is_loaded = False

    def kill(self) -> None:
        """Kill the process, from any thread; the worker's thread notices."""
        process = self._process
        if process is not None:
            with suppress(OSError):
                process.kill()

    def run(self) -> None:
        """Serve jobs until the nexus is closed; only the first thread that is started does."""
        try:
            self._claim.pop()
        except IndexError:
            return
        self.thread = threading.current_thread()
        while (job := self._processes.next_job()) is not None:
            self.is_busy = True
            with suppress(RuntimeError):  # the system allows no more threads
                self._processes.grow()
            self._serve(job)
            del job
            self.is_busy = False
            if self._processes.is_closed:
                break
        self._stop()
        self._processes.refuse()

    def _serve(self, job: _Job) -> None:
        """Let the process answer a job; a process that was interrupted is not used again."""
        job.events = self.events
        self._starts = 0
        if job.is_over:
            job.messages.put(job.expired())
            return
        try:
            while not self._answer(job):
                # The writer has replaced files since the process opened the folder.
                self._stop()
        except BaseException as fault:
            self._stop()
            job.messages.put(fault.with_traceback(None))

    def _answer(self, job: _Job) -> bool:
        """Forward the answer; False if a new process must read the dataset again."""
        if not self._is_ready(job):
            self._start(job)
            self._starts += 1
        self._send(child.QUERY, pickle.dumps(tuple(job.query)))
        is_first = True
        while True:
            kind, payload = frame = self._next(job)
            fault, detail = pickle.loads(payload) if kind == child.FAULT else ("", "")
            if fault == "unreadable":
                if is_first and self._starts < MOST_STARTS:
                    return False
                raise StoreError(f"The nexus cannot be read: {detail}")
            job.messages.put(frame)
            is_first = False
            if kind in child.LAST:
                return True

    def _is_ready(self, job: _Job) -> bool:
        process = self._process
        if process is None or process.poll() is not None:
            return False
        return self._commit >= job.commit or self._catches_up(job)

    def _catches_up(self, job: _Job) -> bool:
        """Bring a copy in memory to the job's commit; False if that needs a new process."""
        changes = job.store.changes.since(self._commit, job.commit)
        if job.store.folder is not None or changes is None:
            return False
        self._changed += sum(map(len, changes))
        if self._changed > MOST_CHANGES:
            return False
        for change in changes:
            self._send(child.CHANGE, change)
        self._commit += len(changes)
        return True

    def _start(self, job: _Job) -> None:
        """Start a process and load the dataset; the time of the job stops meanwhile."""
        self._stop()
        begun = time.monotonic()
        left = job.deadline - begun
        job.deadline = begun + START_SECONDS
        self._process = process = _start_process()
        reader = threading.Thread(target=_read, args=(process, self.events), daemon=True)
        reader.start()
        # Read before the dataset: a commit in between is then applied twice, and not missed.
        self._commit = job.store.commit()
        self._changed = 0
        if job.store.folder is None:
            job.store.changes.since(self._commit, self._commit)  # keep changes from now on
        if not self._opens_folder(job):
            self._send_quads(job.store.engine)
            self._next(job)
        self._is_loaded = True
        job.deadline = time.monotonic() + left

    def _send_quads(self, engine: Engine) -> None:
        self._send(child.LOAD_QUADS)
        assert self._process is not None
        pieces = io.BufferedWriter(child.Pieces(_stdin(self._process)), child.CHUNK_CHARACTERS)
        try:
            # Named graphs are bookkeeping, which no query sees.
            engine.dump(pieces, format=RdfFormat.N_TRIPLES, from_graph=DefaultGraph())
            pieces.flush()
        except OSError:
            raise self._broken() from None
        self._send(child.QUADS)

    def _opens_folder(self, job: _Job) -> bool:
        """Let the process open the folder; False if it sees another commit there."""
        store = job.store
        if store.folder is None:
            return False
        graph = graph_folder(store.folder)
        if not store.read_only and _log_size(graph) > LOG_BYTES:
            store.engine.flush()
        notes = (vocab.COMMIT, vocab.BOOKKEEPING)
        arguments = (str(graph), notes, self._commit, store.read_only)
        del store  # this may take a while
        self._send(child.LOAD_FOLDER, pickle.dumps(arguments))
        return self._next(job)[0] == child.READY

    def _next(self, job: _Job) -> _Frame:
        """The next frame of the process; raises when the job is over or the process ended."""
        while True:
            if self._processes.is_closed:
                raise ClosedError()
            if job.is_over:
                raise job.expired()
            wait = min(_bounded(job.deadline - time.monotonic()), _POLL_SECONDS)
            try:
                event = self.events.get(timeout=wait)
            except queue.Empty:
                continue
            if event is None or event[0] is not self._process:
                continue
            if event[1] is None:
                raise self._broken()
            return event[1]  # type: ignore[no-any-return]

    def _send(self, kind: bytes, payload: bytes = b"") -> None:
        assert self._process is not None
        try:
            child.send(_stdin(self._process), kind, payload)
        except OSError:
            raise self._broken() from None

    def _broken(self) -> KipError | StoreError:
        """The error of a process that ended by itself."""
        if self._processes.is_closed:
            return ClosedError()
        if not self._is_loaded:
            message = "The process that answers SPARQL ended before it had loaded the dataset."
            return KipError("KIP_4003", message, "Free memory and send the query again.")
        message = f"The query needs more than {_megabytes(QUERY_MEMORY)} of memory."
        return KipError("KIP_4002", message, _HINT_MEMORY)

    def _stop(self) -> None:
        """Kill the process, if there is one, and wait until it has ended."""
        process, self._process = self._process, None
        self._is_loaded = False
        if process is not None:
            process.kill()
            process.wait()
            with suppress(OSError):
                _stdin(process).close()


def _start_process() -> subprocess.Popen[bytes]:
    """Start a process that runs ``sparql_child`` and imports from the two libraries only."""
    load("subprocess")
    import subprocess  # imported here: few programs send SPARQL

    library = Path(pyoxigraph.__file__).parent.parent
    script = [sys.executable, "-I", "-S", child.__file__, str(library)]
    options: dict[str, Any] = {"process_group": 0} if os.name == "posix" else {}
    try:
        return subprocess.Popen(
            [*script, str(os.getpid()), str(QUERY_MEMORY)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            **options,
        )
    except OSError as fault:
        message = f"The process that answers SPARQL cannot be started: {fault.strerror}."
        raise KipError("KIP_4003", message, "Free memory or processes, and try again.") from None


def _read(process: subprocess.Popen[bytes], events: queue.SimpleQueue[Any]) -> None:
    """Put the frames of a process into a queue, and None at its end."""
    assert process.stdout is not None
    with suppress(OSError, ValueError), process.stdout:
        while (frame := child.receive(process.stdout)) is not None:
            events.put((process, frame))
    events.put((process, None))


def _stdin(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdin is not None
    return process.stdin


def _log_size(graph: Path) -> int:
    """The size of the log, which each reader of the folder must read again.

    The log with the highest number is in use; the others wait to be reused.
    """
    try:
        logs = {int(path.stem): path.stat().st_size for path in graph.glob("*.log")}
    except (OSError, ValueError):
        return 0
    return logs[max(logs)] if logs else 0


def _bounded(seconds: float) -> float:
    return min(max(seconds, 0.0), threading.TIMEOUT_MAX)


def _megabytes(number: int) -> str:
    return f"{number // 1024**2} MiB"
