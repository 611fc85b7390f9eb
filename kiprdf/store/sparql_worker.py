"""Raw SPARQL runs in separate processes, which can be killed (docs/decisions/043).

A request becomes a ``_Job`` in a queue. A ``_Worker``, a thread, takes it, sees to it that its
process (``sparql_child``) holds the state of the last commit, and hands on what that answers. Only
the worker starts, reads and kills its process. Whoever asks holds no lock while waiting, and may
stop waiting anywhere: the worker then kills the process, and starts another for the next query.
"""

from __future__ import annotations

import io
import math
import os
import pickle
import queue
import sys
import threading
import time
import weakref
from array import array
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, repeat, starmap
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import pyoxigraph
from pyoxigraph import RdfFormat, Triple
from pyoxigraph import Store as Engine

from kiprdf.budget import WIDTH, Spending
from kiprdf.errors import KipError, StoreError
from kiprdf.rdf import vocab
from kiprdf.store import sparql_child as child
from kiprdf.store.base import Row
from kiprdf.store.changes import Changes

if TYPE_CHECKING:
    import subprocess

QUERY_MEMORY = 1024**3
"""Bytes that a query may take, besides the dataset, in the process that runs it."""
ANSWER_MEMORY = 512 * 1024**2
"""Bytes that an answer may take, in the process that asked."""
MOST_PROCESSES = 4
"""Queries that run at once; the others wait, on their own time."""
START_SECONDS = 120.0
"""How long a process may take to start and to load the dataset, which no request is charged for."""
MOST_STARTS = 10
"""How often one query is begun again because the writer has replaced the files meanwhile."""
MOST_CHANGES = 64 * 1024**2
"""Bytes of changes that a copy in memory takes in; they come off what a query may take."""
LOG_BYTES = 4 * 1024**2
"""A longer log of the graph is written out, once, before each reader reads it again."""
_POLL_SECONDS = 0.5
_LOOK_SECONDS = 0.5
_END_SECONDS = 5.0
"""A process that is killed gives back its memory before it is gone."""
_HINT_MEMORY = (
    "Ask for less at once: link the patterns, filter before ORDER BY, GROUP BY and DISTINCT, "
    "and do not build long texts."
)


class Solutions(NamedTuple):
    """The answer to a SELECT."""

    names: tuple[str, ...]
    rows: list[Row]


Found: TypeAlias = Solutions | bool | list[Triple]
_Frame: TypeAlias = tuple[bytes, bytes]


class Source(Protocol):
    """What is asked of the store whose dataset the processes read."""

    read_only: bool
    changes: Changes

    @property
    def engine(self) -> Engine: ...

    @property
    def folder(self) -> Path | None: ...

    def commit(self) -> int: ...


class SparqlProcesses:
    """The processes that answer raw SPARQL for one store; none is started before it is needed."""

    def __init__(self) -> None:
        # The workers look whether this is still there. No finalizer: what a signal handler raises
        # in it would be lost.
        self._state = _State(self)

    def query(self, text: str, source: Source, spending: Spending | None) -> Found:
        """Answer a query on the state of the last commit, or one after it.

        Raises ``KipError``: KIP_4001 when the time is over, KIP_4002 when the query, or its
        answer, takes more memory than it may. Raises ``SyntaxError`` and ``RuntimeError`` as the
        engine does.
        """
        if os.getpid() != self._state.pid:
            raise StoreError("The nexus belongs to the process that opened it.")
        if spending is not None:
            spending.check()
        job = _Job(text, source, spending)
        try:
            self._state.submit(job)
            return job.answer()
        finally:
            job.is_abandoned = True
            job.events.put(None)

    def close(self) -> None:
        """Kill the processes, and wait until they are gone."""
        self._state.end()
        for worker in self._state.workers:
            thread = worker.thread
            if thread is not None and thread is not threading.current_thread():
                thread.join(_END_SECONDS)


class _State:
    """What the threads share; it knows nothing of the store, which may go while they wait.

    There is no lock in it, which an interrupt could leave behind.
    """

    def __init__(self, owner: object) -> None:
        self._owner = weakref.ref(owner)
        self.pid = os.getpid()
        self.jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self.is_closed = False
        self.workers = [_Worker(self) for _ in range(MOST_PROCESSES)]

    def submit(self, job: _Job) -> None:
        self.jobs.put(job)
        self.grow()
        if self.is_closed:
            raise _closed()

    def next_job(self) -> _Job | None:
        """The next query; None when there will be none."""
        while True:
            with suppress(queue.Empty):
                return self.jobs.get(timeout=_LOOK_SECONDS)
            if self._owner() is None:
                self.is_closed = True
                return None

    def grow(self) -> None:
        """Start another worker where all are busy."""
        running = [worker for worker in self.workers if worker.thread is not None]
        busy = sum(worker.is_busy for worker in running)
        idle = [worker for worker in self.workers if worker.thread is None]
        if idle and busy + self.jobs.qsize() > len(running) and not self.is_closed:
            threading.Thread(target=idle[0].run, name="kiprdf SPARQL", daemon=True).start()

    def refuse(self) -> None:
        """Answer the jobs that nobody will take, and let the next worker end too."""
        with suppress(queue.Empty):
            while True:
                job = self.jobs.get_nowait()
                if job is not None:
                    job.messages.put(_closed())
        self.jobs.put(None)

    def end(self) -> None:
        """End all processes; a copy of this process, made by a fork, leaves them alone."""
        self.is_closed = True
        if os.getpid() != self.pid:
            return
        self.jobs.put(None)
        for worker in self.workers:
            worker.events.put(None)
            worker.kill()


class _Job:
    """One query, from both sides: who asks waits for ``messages``, the worker fills them."""

    def __init__(self, text: str, source: Source, spending: Spending | None) -> None:
        # A nexus that is dropped must not wait for a query that nobody waits for.
        self._source = weakref.ref(source)
        self.commit = source.commit()
        self.is_abandoned = False
        self.deadline = math.inf if spending is None else spending.deadline
        self.messages: queue.SimpleQueue[_Frame | BaseException] = queue.SimpleQueue()
        self.events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        """Those of the worker, once it has one."""
        self._spending = spending
        most = None if spending is None else spending.budget.max_rows
        self.query = child.Query(text, most, ANSWER_MEMORY, WIDTH)

    @property
    def source(self) -> Source:
        """The store; raises ``StoreError`` when it is gone."""
        source = self._source()
        if source is None:
            raise _closed()
        return source

    @property
    def is_over(self) -> bool:
        """Whether nobody waits any more."""
        return self.is_abandoned or time.monotonic() > self.deadline

    def expired(self) -> BaseException:
        if self._spending is None or self._spending.deadline == math.inf:
            return KipError("KIP_4003", "The process that answers SPARQL does not start.")
        return self._spending.expired()

    def answer(self) -> Found:
        """Wait for the answer, and read it."""
        kind, payload = self._next()
        if kind == child.TRUTH:
            return bool(pickle.loads(payload))
        names = pickle.loads(payload)
        if names is None:
            return [triple for rows in self._chunks(3) for triple in starmap(Triple, rows)]
        return Solutions(tuple(names), [*chain.from_iterable(self._chunks(len(names)))])

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

    def _chunks(self, width: int) -> Iterator[Iterable[Any]]:
        """Some rows after another; a term that comes again is the same object."""
        terms: list[Any] = [None]
        while (frame := self._next())[0] != child.END:
            if self.is_over:
                raise self.expired()
            new, packed, count = pickle.loads(frame[1])
            terms += pickle.loads(new)
            numbers = array("I", packed)
            cells = iter(map(terms.__getitem__, numbers))
            yield zip(*[cells] * width, strict=True) if width else repeat((), count)

    def _fault(self, kind: str, detail: Any) -> BaseException:
        if kind == "syntax":
            return SyntaxError(detail)
        if kind == "rows" and self._spending is not None:
            self._spending.check_rows(*detail)
        if kind == "bytes":
            message = f"The answer takes more than {_megabytes(ANSWER_MEMORY)} of memory."
            return KipError("KIP_4002", message, "Ask for fewer columns, or page with LIMIT.")
        return RuntimeError(detail)


class _Worker:
    """A thread and its process, or one process after another."""

    def __init__(self, state: _State) -> None:
        self.events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        """What the process says, as pairs; None for a look at whether somebody still waits."""
        self.is_busy = False
        self.thread: threading.Thread | None = None
        self._claim = [self]
        self._state = state
        self._process: subprocess.Popen[bytes] | None = None
        self._commit = -1
        self._changed = 0
        self._starts = 0
        self._is_loaded = False

    def kill(self) -> None:
        """Kill the process, from any thread; the worker's own thread notices."""
        process = self._process
        if process is not None:
            with suppress(OSError):
                process.kill()

    def run(self) -> None:
        """Serve jobs until the nexus is closed; the first thread that comes does."""
        try:
            self._claim.pop()
        except IndexError:
            return
        self.thread = threading.current_thread()
        while (job := self._state.next_job()) is not None:
            self.is_busy = True
            with suppress(RuntimeError):  # no more threads; the others do
                self._state.grow()
            self._serve(job)
            del job
            self.is_busy = False
            if self._state.is_closed:
                break
        self._stop()
        self._state.refuse()

    def _serve(self, job: _Job) -> None:
        """Let the process answer; one that is in the midst of something else is not kept."""
        job.events = self.events
        self._starts = 0
        if job.is_over:
            job.messages.put(job.expired())
            return
        try:
            while not self._answer(job):
                # Files that the writer has replaced since the process opened the folder.
                self._stop()
        except BaseException as fault:
            self._stop()
            job.messages.put(fault.with_traceback(None))

    def _answer(self, job: _Job) -> bool:
        """Hand on the answer; False when another process could read what this one could not."""
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
        """Bring a copy in memory to the job's commit; False where that takes a new process."""
        changes = job.source.changes.since(self._commit, job.commit)
        if job.source.folder is not None or changes is None:
            return False
        self._changed += sum(map(len, changes))
        if self._changed > MOST_CHANGES:
            return False
        for change in changes:
            self._send(child.CHANGE, change)
        self._commit += len(changes)
        return True

    def _start(self, job: _Job) -> None:
        """Start a process and load the dataset; the job's clock stands still meanwhile."""
        self._stop()
        begun = time.monotonic()
        left = job.deadline - begun
        job.deadline = begun + START_SECONDS
        self._process = process = _started()
        reader = threading.Thread(target=_read, args=(process, self.events), daemon=True)
        reader.start()
        # Before the dataset is read: what comes in between is read again, and not missed.
        self._commit = job.source.commit()
        self._changed = 0
        if job.source.folder is None:
            job.source.changes.since(self._commit, self._commit)  # to be kept from now on
        if not self._opens_folder(job):
            self._send_quads(job.source.engine)
            self._next(job)
        self._is_loaded = True
        job.deadline = time.monotonic() + left

    def _send_quads(self, engine: Engine) -> None:
        self._send(child.LOAD_QUADS)
        assert self._process is not None
        pieces = io.BufferedWriter(child.Pieces(_stdin(self._process)), child.CHUNK_CHARACTERS)
        try:
            engine.dump(pieces, format=RdfFormat.N_QUADS)
            pieces.flush()
        except OSError:
            raise self._broken() from None
        self._send(child.QUADS)

    def _opens_folder(self, job: _Job) -> bool:
        """Let the process open the folder; False when that shows another commit."""
        source = job.source
        if source.folder is None:
            return False
        graph = source.folder / "graph"
        if not source.read_only and _log_size(graph) > LOG_BYTES:
            source.engine.flush()
        notes = (vocab.BOOKKEEPING, vocab.COMMIT)
        wanted = (str(graph), notes, self._commit, source.read_only)
        del source  # this may take a while
        self._send(child.LOAD_FOLDER, pickle.dumps(wanted))
        return self._next(job)[0] == child.READY

    def _next(self, job: _Job) -> _Frame:
        """The next frame of the process, as long as somebody waits and the process lives."""
        while True:
            if self._state.is_closed:
                raise _closed()
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
        """Why the process ended, which this thread has not killed."""
        if self._state.is_closed:
            return _closed()
        if not self._is_loaded:
            message = "The process that answers SPARQL ended before it had loaded the dataset."
            return KipError("KIP_4003", message, "Is there memory for it?")
        message = f"The query needs more than {_megabytes(QUERY_MEMORY)} of memory."
        return KipError("KIP_4002", message, _HINT_MEMORY)

    def _stop(self) -> None:
        """Kill the process, if there is one, and wait for its end."""
        process, self._process = self._process, None
        self._is_loaded = False
        if process is not None:
            process.kill()
            process.wait()
            with suppress(OSError):
                _stdin(process).close()


def _started() -> subprocess.Popen[bytes]:
    """A process that runs ``sparql_child``, and imports from nowhere but the two libraries."""
    import subprocess  # few programs send SPARQL

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
    """Hand on what a process says, and None at its end."""
    assert process.stdout is not None
    with suppress(OSError, ValueError), process.stdout:
        while (frame := child.receive(process.stdout)) is not None:
            events.put((process, frame))
    events.put((process, None))


def _stdin(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdin is not None
    return process.stdin


def _closed() -> StoreError:
    return StoreError("The nexus is closed.")


def _log_size(graph: Path) -> int:
    """How much a reader of the folder must read again, which is not in the tables yet.

    The log of the highest number is the one in use; the others wait to be used again.
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
