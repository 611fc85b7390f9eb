"""The process that answers raw SPARQL, which ``sparql_worker`` starts, and their protocol.

It is run by its path, and imports pyoxigraph and little else, to start quickly. It reads a dataset,
limits its own memory, and answers queries until its input ends or it is killed. A frame has four
bytes of length, one byte for its kind, and a payload.
"""

from __future__ import annotations

import io
import os
import pickle
import struct
import sys
import threading
import time
from typing import IO, Any, NamedTuple

LOAD_FOLDER, LOAD_QUADS, QUADS, CHANGE, QUERY = b"F", b"Q", b"q", b"+", b"?"
"""Frames of the parent: the path of the dataset, or that it follows in pieces; the changes of a
commit; a query."""
READY, UNFIT, TEXT, END, TRUTH, FAULT = b"R", b"U", b"t", b"E", b"T", b"X"
"""Frames of the child: an answer is text in pieces, a table (TSV) or N-Triples, and its number of
rows or triples. It ends with one of ``LAST``."""
LAST = (END, TRUTH, FAULT)
OUT_OF_MEMORY = 3
"""The exit status when Python, and not the engine, runs out of memory."""
CHUNK_CHARACTERS = 1024 * 1024
_HEAD = struct.Struct(">Ic")


class Query(NamedTuple):
    """A query, and the limits of its answer: solutions, weighted by width, and bytes."""

    text: str
    most_rows: int | None
    most_bytes: int
    width_of_one: int


def send(pipe: IO[bytes], kind: bytes, payload: bytes = b"") -> None:
    """Send a frame."""
    pipe.write(_HEAD.pack(len(payload), kind))
    pipe.write(payload)
    pipe.flush()


def receive(pipe: IO[bytes]) -> tuple[bytes, bytes] | None:
    """The next frame, kind and payload; None at the end, even within a frame."""
    head = pipe.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    size, kind = _HEAD.unpack(head)
    payload = pipe.read(size)
    return (kind, payload) if len(payload) == size else None


class Pieces(io.RawIOBase):
    """A file whose content is sent in frames; an empty frame ends it."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._rest = memoryview(b"")
        self._is_over = False

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = bytes(data)
        if piece:
            send(self._pipe, QUADS, piece)
        return len(piece)

    def readinto(self, buffer: Any) -> int:
        if not self._rest and not self._is_over:
            frame = receive(self._pipe)
            if frame is None:
                os._exit(0)
            self._rest = memoryview(frame[1])
            self._is_over = not self._rest
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def main(parent: int, memory: int) -> None:
    """Load the dataset, limit the memory, answer queries."""
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    if os.name == "posix":
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    store = _load(requests, answers)
    _limit_memory(memory)
    send(answers, READY)
    while (frame := receive(requests)) is not None:
        if frame[0] == CHANGE:
            _change(store, *pickle.loads(frame[1]))
        else:
            _answer(store, Query(*pickle.loads(frame[1])), answers)


def _end_with(parent: int) -> None:
    """End when the parent is gone; during a query nothing reads the input."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(0)


def _load(requests: IO[bytes], answers: IO[bytes]) -> Any:
    """Load the dataset that the parent sends; a folder with another commit is refused."""
    from pyoxigraph import RdfFormat, Store, parse

    while (frame := receive(requests)) is not None:
        kind, payload = frame
        if kind == LOAD_FOLDER:
            graph, notes, commit, is_exact = pickle.loads(payload)
            try:
                store = Store.read_only(graph)
                visible = _commit(store, notes)
            except (OSError, RuntimeError):
                visible = -1
            if visible == commit or (visible > commit and not is_exact):
                return store
            send(answers, UNFIT)
        else:
            pieces = io.BufferedReader(Pieces(requests), CHUNK_CHARACTERS)
            quads = list(parse(pieces, format=RdfFormat.N_QUADS, lenient=True))
            # An engine in memory lists the last quad first, and so does the copy.
            quads.reverse()
            store = Store()
            store.bulk_extend(quads)
            return store
    os._exit(0)


def _change(store: Any, removed: list[Any], added: list[Any]) -> None:
    """Apply the changes of a commit; applying them twice makes no difference."""
    from pyoxigraph import Quad

    for terms in removed:
        store.remove(Quad(*terms))
    store.extend(Quad(*terms) for terms in added)


def _commit(store: Any, notes: tuple[Any, Any]) -> int:
    """The number of the visible commit; a crash may have left an earlier number, too."""
    key, graph = notes
    texts = [quad.object.value for quad in store.quads_for_pattern(None, key, None, graph)]
    return max((int(text) for text in texts if text.isdecimal()), default=0)


def _limit_memory(memory: int) -> None:
    """Limit further memory, if the system can, and be the first process that it kills."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        pass
    try:
        import resource
    except ImportError:
        return
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = _size() + memory
        if hard == resource.RLIM_INFINITY or limit < hard:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    except (OSError, ValueError):
        pass


def _size() -> int:
    """The address space in use; 0 where the system does not say."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _answer(store: Any, query: Query, answers: IO[bytes]) -> None:
    """Send the answer to a query, or the fault; named graphs are bookkeeping and stay hidden."""
    from pyoxigraph import DefaultGraph, QueryResultsFormat, RdfFormat

    try:
        results = store.query(query.text, default_graph=DefaultGraph(), named_graphs=[])
        kind = type(results).__name__
        if kind == "QueryBoolean":
            send(answers, TRUTH, pickle.dumps(bool(results)))
            return
        is_select = kind == "QuerySolutions"
        text = _Text(answers, query, len(results.variables) if is_select else 3)
        # Nothing is sent before a whole piece: if the dataset cannot be read, a new process tries.
        pieces = io.BufferedWriter(text, CHUNK_CHARACTERS)
        results.serialize(pieces, QueryResultsFormat.TSV if is_select else RdfFormat.N_TRIPLES)
        pieces.flush()
        # The first line of a table has its names.
        send(answers, END, pickle.dumps((is_select, text.lines - is_select)))
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except _TooLarge as fault:
        send(answers, FAULT, pickle.dumps(fault.args))
    except SyntaxError as fault:
        send(answers, FAULT, pickle.dumps(("syntax", fault.msg)))
    except OSError as fault:
        send(answers, FAULT, pickle.dumps(("unreadable", str(fault))))
    except BaseException as fault:
        # The engine's panics, too.
        send(answers, FAULT, pickle.dumps(("refused", str(fault))))


class _TooLarge(Exception):
    """An answer that exceeds a limit: the kind of limit, and what is known of it."""


class _Text(io.RawIOBase):
    """A file that is sent in pieces, until it has more lines or bytes than an answer may have."""

    def __init__(self, pipe: IO[bytes], query: Query, width: int) -> None:
        self.lines = 0
        self._pipe = pipe
        self._query = query
        self._width = width
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self.lines += piece.count(b"\n")
        self._size += len(piece)
        weight = -(-self._width // self._query.width_of_one)
        most = self._query.most_rows
        if most is not None and (self.lines - 1) * weight > most:
            raise _TooLarge("rows", (self.lines - 1, self._width))
        if self._size > self._query.most_bytes:
            raise _TooLarge("bytes", "")
        send(self._pipe, TEXT, piece)
        return len(piece)


if __name__ == "__main__":
    sys.path.append(sys.argv[1])
    try:
        main(int(sys.argv[2]), int(sys.argv[3]))
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except OSError:
        pass  # Nobody reads the answers any more.
    # The engine's memory goes with the process.
    os._exit(0)
