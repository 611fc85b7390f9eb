"""The memory for asyncio: each call runs on a thread."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from inspect import isawaitable
from typing import Any, Concatenate, ParamSpec, TypeVar

from kiprdf.async_nexus import AsyncNexus
from kiprdf.memory import enrichment, texts
from kiprdf.memory.memory import Extractor, Memory
from kiprdf.nexus import Nexus

P = ParamSpec("P")
T = TypeVar("T")


def _on_a_thread(
    method: Callable[Concatenate[Memory, P], T],
) -> Callable[Concatenate[AsyncMemory, P], Coroutine[Any, Any, T]]:
    """A method of a memory as a coroutine."""

    async def call(self: AsyncMemory, /, *arguments: P.args, **options: P.kwargs) -> T:
        self._loop = asyncio.get_running_loop()
        bound = getattr(self.memory, method.__name__)
        return await self._threads.run(lambda: bound(*arguments, **options))

    functools.update_wrapper(call, method)
    return call


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
    ) -> None:
        self._threads = nexus if isinstance(nexus, AsyncNexus) else AsyncNexus(nexus)
        self._loop: asyncio.AbstractEventLoop | None = None
        ask = None if enricher is None else functools.partial(self._ask, enricher)
        self.memory = Memory(self._threads.nexus, extractor=extractor, enricher=ask, clock=clock)

    def _ask(self, enricher: enrichment.Enricher, prompt: str) -> str:
        """The answer of a model; what it awaits belongs to the loop of the caller."""
        answer = enricher(prompt)
        if not isawaitable(answer):
            return answer
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(enrichment.awaited(answer), self._loop).result()

    add = _on_a_thread(Memory.add)
    add_many = _on_a_thread(Memory.add_many)
    add_messages = _on_a_thread(Memory.add_messages)
    get = _on_a_thread(Memory.get)
    items = _on_a_thread(Memory.items)
    forget = _on_a_thread(Memory.forget)
    erase = _on_a_thread(Memory.erase)
    rebuild = _on_a_thread(Memory.rebuild)
    extract = _on_a_thread(Memory.extract)
    entities = _on_a_thread(Memory.entities)
    edges = _on_a_thread(Memory.edges)
    entity = _on_a_thread(Memory.entity)
    upsert_entity = _on_a_thread(Memory.upsert_entity)
    upsert_edge = _on_a_thread(Memory.upsert_edge)
    search = _on_a_thread(Memory.search)
    neighbors = _on_a_thread(Memory.neighbors)
    stats = _on_a_thread(Memory.stats)
    context = _on_a_thread(Memory.context)
    recall = _on_a_thread(Memory.recall)
    decay = _on_a_thread(Memory.decay)
    merge = _on_a_thread(Memory.merge)
    contradictions = _on_a_thread(Memory.contradictions)
    export = _on_a_thread(Memory.export)
    export_file = _on_a_thread(Memory.export_file)
    import_ = _on_a_thread(Memory.import_)
