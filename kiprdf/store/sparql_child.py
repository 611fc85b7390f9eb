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
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import IO, Any, NamedTuple

LOAD_FOLDER, LOAD_QUADS, QUADS, CHANGE, QUERY = b"F", b"Q", b"q", b"+", b"?"
"""Frames of the parent: the path of the dataset, or that it follows in pieces; the changes of a
commit; a query."""
READY, UNFIT, COLUMNS, ROWS, END, TRUTH, FAULT = b"R", b"U", b"C", b"r", b"E", b"T", b"X"
"""Frames of the child; an answer ends with one of ``LAST``."""
LAST = (END, TRUTH, FAULT)
OUT_OF_MEMORY = 3
"""The exit status when Python, and not the engine, runs out of memory."""
CHUNK_ROWS = 1024
CHUNK_CHARACTERS = 1024 * 1024
TERM_BYTES, CELL_BYTES, ROW_BYTES = 128, 8, 56
"""The memory of a term besides its text, of a cell, and of a row."""
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
    graph, key = notes
    texts = [quad.object.value for quad in store.quads_for_pattern(graph, key, None, graph)]
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
    from pyoxigraph import DefaultGraph

    try:
        results = store.query(query.text, default_graph=DefaultGraph(), named_graphs=[])
        kind = type(results).__name__
        if kind == "QueryBoolean":
            send(answers, TRUTH, pickle.dumps(bool(results)))
            return
        variables = results.variables if kind == "QuerySolutions" else None
        names = None if variables is None else [variable.value for variable in variables]
        chunks = _chunks(map(tuple, results))
        # Nothing is sent before: if the dataset cannot be read, a new process tries again.
        first = list(islice(chunks, 1))
        send(answers, COLUMNS, pickle.dumps(names))
        _send_rows(chain(first, chunks), names, query, answers)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except SyntaxError as fault:
        send(answers, FAULT, pickle.dumps(("syntax", fault.msg)))
    except OSError as fault:
        send(answers, FAULT, pickle.dumps(("unreadable", str(fault))))
    except BaseException as fault:
        # The engine's panics, too.
        send(answers, FAULT, pickle.dumps(("refused", str(fault))))


def _send_rows(
    chunks: Iterable[_Chunk], names: list[str] | None, query: Query, answers: IO[bytes]
) -> None:
    """Send rows, or triples if there are no names, until the answer exceeds its limits."""
    width = 3 if names is None else len(names)
    weight = -(-width // query.width_of_one)
    number = size = 0
    for chunk in chunks:
        payload = pickle.dumps(chunk.terms, protocol=5)
        number += chunk.count
        size += len(payload) + len(chunk.terms) * TERM_BYTES
        size += chunk.count * (width * CELL_BYTES + ROW_BYTES)
        if names is None:
            # A triple holds its terms, and shares none.
            size += chunk.characters + len(chunk.numbers) * TERM_BYTES
        if query.most_rows is not None and number * weight > query.most_rows:
            send(answers, FAULT, pickle.dumps(("rows", (number, width))))
            return
        if size > query.most_bytes:
            send(answers, FAULT, pickle.dumps(("bytes", "")))
            return
        packed = (payload, chunk.numbers.tobytes(), chunk.count)
        send(answers, ROWS, pickle.dumps(packed, protocol=5))
    send(answers, END)


class _Chunk:
    """A few rows: their new terms, and the number of each cell's term."""

    def __init__(self) -> None:
        self.terms: list[Any] = []
        self.numbers = array("I")
        self.count = 0
        self.characters = 0
        """Of the terms of all cells."""
        self.new_characters = 0

    @property
    def is_full(self) -> bool:
        return self.count == CHUNK_ROWS or self.new_characters > CHUNK_CHARACTERS


def _chunks(rows: Iterator[tuple[Any, ...]]) -> Iterator[_Chunk]:
    """The rows in chunks; the number of an unbound cell is 0."""
    numbers: dict[Any, int] = {None: 0}
    lengths = [0]
    chunk = _Chunk()
    for row in rows:
        for term in row:
            number = numbers.get(term)
            if number is None:
                number = numbers[term] = len(numbers)
                chunk.terms.append(term)
                lengths.append(len(str(term)))
                chunk.new_characters += lengths[number]
            chunk.numbers.append(number)
            chunk.characters += lengths[number]
        chunk.count += 1
        if chunk.is_full:
            yield chunk
            chunk = _Chunk()
    if chunk.count:
        yield chunk


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
