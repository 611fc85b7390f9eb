"""Answers raw SPARQL: the process that ``sparql_worker`` starts, and how the two talk.

It is run by its path, and imports pyoxigraph and little else, to be ready soon. It reads a
dataset, bounds its own memory, and answers queries until its input ends or it is killed. A frame
is four bytes of length, one byte that says what it is, and a payload.
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
"""What the parent sends: where the dataset is, or that it follows, in pieces; what a commit
changed; a query."""
READY, UNFIT, COLUMNS, ROWS, END, TRUTH, FAULT = b"R", b"U", b"C", b"r", b"E", b"T", b"X"
"""What the child sends; an answer ends with one of ``LAST``."""
LAST = (END, TRUTH, FAULT)
OUT_OF_MEMORY = 3
"""How the child ends when Python, and not the engine, finds no memory."""
CHUNK_ROWS = 1024
CHUNK_CHARACTERS = 1024 * 1024
TERM_BYTES, CELL_BYTES, ROW_BYTES = 128, 8, 56
"""What a term takes in memory besides its text, a cell of a row, and a row."""
_HEAD = struct.Struct(">Ic")


class Query(NamedTuple):
    """A query, and how large its answer may be: solutions, weighed by width, and bytes."""

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
    """A long text in frames, to be read or written like a file; an empty frame ends it."""

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
    """Load the dataset, bound the memory, answer."""
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    if os.name == "posix":
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    store = _loaded(requests, answers)
    _limit(memory)
    send(answers, READY)
    while (frame := receive(requests)) is not None:
        if frame[0] == CHANGE:
            _change(store, *pickle.loads(frame[1]))
        else:
            _answer(store, Query(*pickle.loads(frame[1])), answers)


def _end_with(parent: int) -> None:
    """End when the parent is gone: in the midst of a query nobody reads the input."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(0)


def _loaded(requests: IO[bytes], answers: IO[bytes]) -> Any:
    """The dataset that the parent names; a folder that shows another commit is not taken."""
    from pyoxigraph import RdfFormat, Store, parse

    while (frame := receive(requests)) is not None:
        kind, payload = frame
        if kind == LOAD_FOLDER:
            graph, notes, commit, is_exact = pickle.loads(payload)
            try:
                store = Store.read_only(graph)
                found = _commit(store, notes)
            except (OSError, RuntimeError):
                found = -1
            if found == commit or (found > commit and not is_exact):
                return store
            send(answers, UNFIT)
        else:
            pieces = io.BufferedReader(Pieces(requests), CHUNK_CHARACTERS)
            quads = list(parse(pieces, format=RdfFormat.N_QUADS, lenient=True))
            # An engine in memory shows what came last first; the copy shows it in the same order.
            quads.reverse()
            store = Store()
            store.bulk_extend(quads)
            return store
    os._exit(0)


def _change(store: Any, removed: list[Any], added: list[Any]) -> None:
    """Do what a commit did; to do it twice changes nothing."""
    from pyoxigraph import Quad

    for terms in removed:
        store.remove(Quad(*terms))
    store.extend(Quad(*terms) for terms in added)


def _commit(store: Any, notes: tuple[Any, Any]) -> int:
    """The number of the commit that a store shows; a crash may have left the one before, too."""
    graph, key = notes
    found = [quad.object.value for quad in store.quads_for_pattern(graph, key, None, graph)]
    return max((int(text) for text in found if text.isdecimal()), default=0)


def _limit(memory: int) -> None:
    """Bound the memory beyond what is held now, if the system can; be the first to be killed."""
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
        wanted = _size() + memory
        if hard == resource.RLIM_INFINITY or wanted < hard:
            resource.setrlimit(resource.RLIMIT_AS, (wanted, wanted))
    except (OSError, ValueError):
        pass


def _size() -> int:
    """The address space in use; where nobody tells, little."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _answer(store: Any, query: Query, answers: IO[bytes]) -> None:
    """Send the answer of a query, or why there is none."""
    try:
        found = store.query(query.text)
        kind = type(found).__name__
        if kind == "QueryBoolean":
            send(answers, TRUTH, pickle.dumps(bool(found)))
            return
        variables = found.variables if kind == "QuerySolutions" else None
        names = None if variables is None else [variable.value for variable in variables]
        chunks = _chunks(map(tuple, found))
        # Before anything is sent: what cannot be read is then tried again by a new process.
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
    """Send rows, or triples where there are no names, as long as the answer is not too large."""
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
    """Some rows: the terms that did not come before, and the number of each cell's term."""

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
    """The rows in chunks; 0 is the number of what is unbound."""
    known: dict[Any, int] = {None: 0}
    lengths = [0]
    chunk = _Chunk()
    for row in rows:
        for term in row:
            number = known.get(term)
            if number is None:
                number = known[term] = len(known)
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
