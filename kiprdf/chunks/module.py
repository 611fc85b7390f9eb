"""A module of a rule engine: a graph, a buffer for one chunk, and a queue of chunks.

A task is a thread of behaviour that succeeds or fails; other chunks may wait for its end.
"""

from __future__ import annotations

import itertools
from bisect import insort
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeGuard

from kiprdf.chunks.model import Chunk, ChunksError, Name, Value
from kiprdf.chunks.parser import parse_chunk

DEFAULT_PRIORITY = 5

MAX_QUEUE = 10_000
"""The number of chunks that the queue of a module holds at most."""


class ChunkStore(Protocol):
    """What a module reads and writes: a ``Graph``, or a nexus."""

    def match(self, pattern: Chunk) -> list[Chunk]: ...
    def get(self, id: str) -> Chunk | None: ...
    def add(self, chunk: Chunk) -> Chunk: ...
    def remove(self, id: str) -> Any: ...
    def is_kind(self, type: str, kind: str) -> bool: ...
    def may_name(self, id: Name) -> bool: ...
    def activate(self, id: str, now: float) -> None: ...
    def activation(self, id: str, now: float, decay: float) -> float: ...


class Waiting(NamedTuple):
    """A chunk in a queue; entries are in the order in which they are taken."""

    rank: int
    number: int
    chunk: Chunk
    tag: Value | None
    task: str | None


class Module:
    """A graph with one buffer, its status and its queue (section "Modules").

    ``tag`` and ``task`` are the ``@tag`` of the last action and the task that the buffer's chunk
    belongs to; ``writes`` counts what was written into the buffer.
    """

    def __init__(self, name: str, graph: ChunkStore, notify: Callable[[str, Module], None]) -> None:
        self.name = name
        self.graph = graph
        self.status = "okay"
        self.tag: Value | None = None
        self.task: str | None = None
        self.writes = 0
        self.iteration: Iterator[Chunk] | None = None
        self.recalled: tuple[Chunk, Iterator[Chunk]] | None = None
        self._buffer: Chunk | None = None
        self._queue: list[Waiting] = []
        self._numbers = itertools.count()
        self._notify = notify

    def __repr__(self) -> str:
        return f"<Module {self.name}: {self._buffer or 'empty'}, {self.status}>"

    @property
    def buffer(self) -> Chunk | None:
        """The chunk in the buffer, or None."""
        return self._buffer

    @buffer.setter
    def buffer(self, chunk: Chunk | str | None) -> None:
        self.write(None if chunk is None else one_chunk(chunk))

    @property
    def queue(self) -> tuple[Chunk, ...]:
        """The chunks that wait for the buffer, next first."""
        return tuple(waiting.chunk for waiting in self._queue)

    def write(self, chunk: Chunk | None, task: str | None = None) -> None:
        """Overwrite the buffer."""
        self._buffer = chunk
        self.task = task
        self.writes += 1
        self._notify("buffer", self)

    def fail(self) -> None:
        """Nothing matches what an action looks for: the buffer is empty, the status nomatch."""
        self.status = "nomatch"
        self.iteration = self.recalled = None
        self.write(None)

    def clear(self) -> None:
        """Empty the buffer and take the next chunk of the queue."""
        self.iteration = self.recalled = None
        if not self.take():
            self.write(None)

    def push(
        self,
        chunk: Chunk,
        priority: Value = DEFAULT_PRIORITY,
        *,
        tag: Value | None = None,
        task: str | None = None,
    ) -> None:
        """Put a chunk into the buffer if that is empty, else into the queue.

        Chunks of a higher priority are first, those of the same priority in their order. Raises
        ``ChunksError`` if the queue is full.
        """
        if self._buffer is None:
            self.tag = tag
            self.write(chunk, task)
            return
        if len(self._queue) >= MAX_QUEUE:
            raise ChunksError(
                f"The queue of module {self.name} is full: it has {MAX_QUEUE} chunks."
            )
        rank = -(priority if is_priority(priority) else DEFAULT_PRIORITY)
        insort(self._queue, Waiting(rank, next(self._numbers), chunk, tag, task))
        self._notify("queue", self)

    def take(self) -> bool:
        """Replace the buffer by the next chunk of the queue; False if there is none."""
        if not self._queue:
            return False
        waiting = self._queue.pop(0)
        self._notify("queue", self)
        self.tag = waiting.tag
        self.write(waiting.chunk, waiting.task)
        return True

    def iterate(self, chunks: Iterable[Chunk], task: str | None) -> None:
        """Load the first of these chunks; ``@do next`` loads those that follow."""
        self.iteration = iter(chunks)
        self.recalled = None
        self.advance(task)

    def advance(self, task: str | None) -> None:
        """Load the next chunk of the iteration."""
        assert self.iteration is not None
        chunk = next(self.iteration, None)
        if chunk is None:
            self.fail()
        else:
            self.write(chunk, task)


@dataclass
class Waiter:
    """A chunk that is queued once its tasks have ended as ``kind`` asks."""

    kind: str
    tasks: list[str]
    chunk: Chunk
    module: Module
    priority: Value
    task: str | None


@dataclass
class Tasks:
    """The tasks of an engine, by name: True if done, False if failed, None while they run."""

    outcomes: dict[str, bool | None] = field(default_factory=dict)
    waiters: list[Waiter] = field(default_factory=list)
    numbers: itertools.count[int] = field(default_factory=itertools.count)

    def new(self) -> Name:
        """A name that no task has."""
        while (name := Name(f"task{next(self.numbers) + 1}")) in self.outcomes:
            pass
        return name

    def end(self, task: str, done: bool) -> None:
        self.outcomes[task] = done
        self.wake()

    def wake(self) -> None:
        """Queue the chunks that need not wait any more; forget those that would wait for ever."""
        waiters, self.waiters = self.waiters, []
        for waiter in waiters:
            outcomes = [self.outcomes.get(task) for task in waiter.tasks]
            match waiter.kind:
                case "all":
                    holds, may_hold = all(outcomes), False not in outcomes
                case kind:
                    holds, may_hold = (kind == "any") in outcomes, None in outcomes
            if holds:
                waiter.module.push(waiter.chunk, waiter.priority, task=waiter.task)
            elif may_hold:
                self.waiters.append(waiter)


def one_chunk(source: Any) -> Chunk:
    """A chunk, or that of a text; raises ``ChunksError`` for anything else."""
    if isinstance(source, Chunk):
        return source
    if not isinstance(source, str):
        raise ChunksError(f"A chunk or a text is expected, not {source!r}.")
    return parse_chunk(source)


def is_priority(value: Value) -> TypeGuard[int]:
    """Whether a value is an integer from 1 to 10, the priorities of a queue."""
    return type(value) is int and 1 <= value <= 10
