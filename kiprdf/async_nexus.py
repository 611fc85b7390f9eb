"""The library API for asyncio: each call runs on a thread, and can be cancelled."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager
from contextvars import copy_context
from datetime import datetime
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from kiprdf.actors import Access, Kind
from kiprdf.budget import Cancellation, cancellable
from kiprdf.nexus import Nexus

P = ParamSpec("P")
T = TypeVar("T")
THREADS = 64
"""Calls that run at once; more calls wait for a thread, and their time runs."""


class Threaded(Protocol):
    """What has methods that run on a thread each."""

    async def run(self, function: Callable[[], T]) -> T: ...

    def _bound(self, name: str) -> Any: ...


def as_coroutine(
    method: Callable[Concatenate[Any, P], T],
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """A method as a coroutine, with the same arguments, result and errors."""

    async def call(self: Threaded, /, *arguments: P.args, **options: P.kwargs) -> T:
        bound = self._bound(method.__name__)
        return await self.run(lambda: bound(*arguments, **options))

    return functools.update_wrapper(call, method)


class AsyncNexus:
    """The methods of a nexus as coroutines, with the same arguments, results and errors.

    Cancelling a task cancels its query. A write that has begun its commit completes it. The caller
    closes the nexus. ``threads`` is how many calls run at once, or a pool that others use, too.

    >>> import asyncio
    >>> nexus = AsyncNexus(Nexus.memory())
    >>> asyncio.run(nexus.execute("DESCRIBE DOMAINS"))
    ['Archived', 'CoreSchema', 'System', 'Unsorted']
    """

    def __init__(self, nexus: Nexus, *, threads: int | ThreadPoolExecutor = THREADS) -> None:
        self.nexus = nexus
        self._threads = pool(threads) if isinstance(threads, int) else threads

    async def run(self, function: Callable[[], T]) -> T:
        """Run a function on a thread; cancelling the task cancels the requests in it."""
        cancellation = Cancellation()
        loop, context = asyncio.get_running_loop(), copy_context()
        future = loop.run_in_executor(
            self._threads, context.run, cancellable, cancellation, function
        )
        try:
            return await future
        except asyncio.CancelledError:
            cancellation.cancel()
            raise

    def _bound(self, name: str) -> Any:
        """The method that a coroutine calls."""
        return getattr(self.nexus, name)

    execute_kip = as_coroutine(Nexus.execute_kip)
    execute_kip_readonly = as_coroutine(Nexus.execute_kip_readonly)
    execute = as_coroutine(Nexus.execute)
    find = as_coroutine(Nexus.find)
    believed = as_coroutine(Nexus.believed)
    answer = as_coroutine(Nexus.answer)
    why = as_coroutine(Nexus.why)
    draw = as_coroutine(Nexus.draw)
    transaction = as_coroutine(Nexus.transaction)
    load = as_coroutine(Nexus.load)
    sparql = as_coroutine(Nexus.sparql)
    build_index = as_coroutine(Nexus.build_index)
    snapshot = as_coroutine(Nexus.snapshot)
    sign = as_coroutine(Nexus.sign)
    receipt = as_coroutine(Nexus.receipt)
    history = as_coroutine(Nexus.history)
    changes = as_coroutine(Nexus.changes)
    undo = as_coroutine(Nexus.undo)
    proposals = as_coroutine(Nexus.proposals)
    proposal = as_coroutine(Nexus.proposal)
    approve = as_coroutine(Nexus.approve)
    decline = as_coroutine(Nexus.decline)
    reject = as_coroutine(Nexus.reject)
    lift = as_coroutine(Nexus.lift)
    rejections = as_coroutine(Nexus.rejections)
    branch = as_coroutine(Nexus.branch)
    merge = as_coroutine(Nexus.merge)
    conflicts = as_coroutine(Nexus.conflicts)
    refusals = as_coroutine(Nexus.refusals)
    forget = as_coroutine(Nexus.forget)
    erasures = as_coroutine(Nexus.erasures)
    apply_erasures = as_coroutine(Nexus.apply_erasures)
    set_shapes = as_coroutine(Nexus.set_shapes)
    shapes_set = as_coroutine(Nexus.shapes_set)
    check_shapes = as_coroutine(Nexus.check_shapes)

    @asynccontextmanager
    async def at(self, when: int | str | datetime) -> AsyncIterator[AsyncNexus]:
        """An ``async with`` block with the nexus of ``Nexus.at``, which it closes at its end.

        >>> async def count_before(nexus: AsyncNexus, commit: int) -> int:
        ...     async with nexus.at(commit) as past:
        ...         return await past.execute('FIND(COUNT(?p)) WHERE { ?p {type: "Person"} }')
        >>> nexus = Nexus.memory(history=True)
        >>> _ = nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Ada"} } }')
        >>> asyncio.run(count_before(AsyncNexus(nexus), nexus.info()["commit"] - 1))
        2
        """
        opening = asyncio.ensure_future(self.run(lambda: self.nexus.at(when)))
        try:
            past = await asyncio.shield(opening)
        except asyncio.CancelledError:
            # The thread does not end with its task: what it opens is closed when it is there.
            opening.add_done_callback(_close_opened)
            raise
        try:
            yield AsyncNexus(past)
        finally:
            past.close()

    def acting(
        self,
        *,
        author: str | None = None,
        session: str | None = None,
        kind: Kind | None = None,
        access: Access | None = None,
    ) -> AbstractContextManager[None]:
        """``Nexus.acting``, a ``with`` block: it holds for the task that runs it."""
        return self.nexus.acting(author=author, session=session, kind=kind, access=access)


def pool(threads: int) -> ThreadPoolExecutor:
    """Threads for the calls of a nexus, or of several."""
    return ThreadPoolExecutor(threads, thread_name_prefix="kiprdf")


def _close_opened(opening: asyncio.Future[Nexus]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()
