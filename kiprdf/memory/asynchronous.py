"""The memory for asyncio: each call runs on a thread."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from inspect import isawaitable
from typing import Any, TypeVar

from kiprdf.async_nexus import AsyncNexus, as_coroutine
from kiprdf.memory import enrichment, texts
from kiprdf.memory.memory import Extractor, Memory
from kiprdf.nexus import Nexus

T = TypeVar("T")


class AsyncMemory:
    """The methods of a memory as coroutines, with the same arguments, results and errors.

    An ``enricher`` may be a coroutine function, which runs on the event loop of the caller. The
    caller closes the nexus.

    >>> memory = AsyncMemory(Nexus.memory())
    >>> id = asyncio.run(memory.add("I use Docker."))
    >>> [edge.predicate for edge in asyncio.run(memory.edges())]
    ['uses']
    """

    def __init__(
        self,
        nexus: Nexus | AsyncNexus,
        *,
        extractor: Extractor | None = None,
        enricher: enrichment.Enricher | None = None,
        clock: texts.Clock | None = None,
        write: Nexus | None = None,
    ) -> None:
        self._threads = nexus if isinstance(nexus, AsyncNexus) else AsyncNexus(nexus)
        self._loop: asyncio.AbstractEventLoop | None = None
        ask = None if enricher is None else functools.partial(self._ask, enricher)
        self.memory = Memory(
            self._threads.nexus, extractor=extractor, enricher=ask, clock=clock, write=write
        )

    def _ask(self, enricher: enrichment.Enricher, prompt: str) -> str:
        """The answer of a model; what it awaits belongs to the loop of the caller."""
        answer = enricher(prompt)
        if not isawaitable(answer):
            return answer
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(enrichment.awaited(answer), self._loop).result()

    async def run(self, function: Callable[[], T]) -> T:
        """Run a function on a thread, as ``AsyncNexus.run`` does."""
        self._loop = asyncio.get_running_loop()
        return await self._threads.run(function)

    def _bound(self, name: str) -> Any:
        return getattr(self.memory, name)

    add = as_coroutine(Memory.add)
    add_many = as_coroutine(Memory.add_many)
    add_messages = as_coroutine(Memory.add_messages)
    get = as_coroutine(Memory.get)
    items = as_coroutine(Memory.items)
    forget = as_coroutine(Memory.forget)
    erase = as_coroutine(Memory.erase)
    grow = as_coroutine(Memory.grow)
    rebuild = as_coroutine(Memory.rebuild)
    extract = as_coroutine(Memory.extract)
    entities = as_coroutine(Memory.entities)
    edges = as_coroutine(Memory.edges)
    entity = as_coroutine(Memory.entity)
    upsert_entity = as_coroutine(Memory.upsert_entity)
    upsert_edge = as_coroutine(Memory.upsert_edge)
    search = as_coroutine(Memory.search)
    neighbors = as_coroutine(Memory.neighbors)
    stats = as_coroutine(Memory.stats)
    context = as_coroutine(Memory.context)
    recall = as_coroutine(Memory.recall)
    decay = as_coroutine(Memory.decay)
    merge = as_coroutine(Memory.merge)
    contradictions = as_coroutine(Memory.contradictions)
    export = as_coroutine(Memory.export)
    export_file = as_coroutine(Memory.export_file)
    import_ = as_coroutine(Memory.import_)
