"""The library API for asyncio: each call runs on a thread, and can be cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager
from contextvars import copy_context
from datetime import datetime
from typing import Any, TypeVar

from kiprdf.budget import Cancellation, cancellable
from kiprdf.execution.engine import Answer
from kiprdf.execution.transaction import Transaction
from kiprdf.nexus import Nexus
from kiprdf.rows import Rows

T = TypeVar("T")
THREADS = 64
"""Calls that run at once; more calls wait for a thread, and their time runs."""


class AsyncNexus:
    """The methods of a nexus as coroutines, with the same arguments, results and errors.

    Cancelling a task cancels its query. A write that has begun its commit completes it. The caller
    closes the nexus.

    >>> import asyncio
    >>> nexus = AsyncNexus(Nexus.memory())
    >>> asyncio.run(nexus.execute("DESCRIBE DOMAINS"))
    ['Archived', 'CoreSchema', 'System', 'Unsorted']
    """

    def __init__(self, nexus: Nexus, *, threads: int = THREADS) -> None:
        self.nexus = nexus
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="kiprdf")

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

    async def execute_kip(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """``Nexus.execute_kip`` as a coroutine."""
        return await self.run(lambda: self.nexus.execute_kip(request))

    async def execute_kip_readonly(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """``Nexus.execute_kip_readonly`` as a coroutine."""
        return await self.run(lambda: self.nexus.execute_kip_readonly(request))

    async def execute(self, command: str, /, **parameters: Any) -> Any:
        """``Nexus.execute`` as a coroutine."""
        return await self.run(lambda: self.nexus.execute(command, **parameters))

    async def find(self, command: str, /, **parameters: Any) -> Rows:
        """``Nexus.find`` as a coroutine."""
        return await self.run(lambda: self.nexus.find(command, **parameters))

    async def answer(
        self,
        command: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        dry_run: bool = False,
        readonly: bool = False,
    ) -> Answer:
        """``Nexus.answer`` as a coroutine."""
        return await self.run(
            lambda: self.nexus.answer(command, parameters, dry_run=dry_run, readonly=readonly)
        )

    async def transaction(
        self, function: Callable[[Transaction], T], *, dry_run: bool = False
    ) -> T:
        """``Nexus.transaction`` as a coroutine; the function runs on the thread."""
        return await self.run(lambda: self.nexus.transaction(function, dry_run=dry_run))

    async def sparql(self, query: str) -> Rows | bool | list[Any]:
        """``Nexus.sparql`` as a coroutine."""
        return await self.run(lambda: self.nexus.sparql(query))

    async def build_index(self, *arguments: Any, **options: Any) -> None:
        """``Nexus.build_index`` as a coroutine."""
        await self.run(lambda: self.nexus.build_index(*arguments, **options))

    async def snapshot(self, *arguments: Any, **options: Any) -> str:
        """``Nexus.snapshot`` as a coroutine."""
        return await self.run(lambda: self.nexus.snapshot(*arguments, **options))

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
        self, *, author: str | None = None, session: str | None = None
    ) -> AbstractContextManager[None]:
        """``Nexus.acting``, a ``with`` block: it holds for the task that runs it."""
        return self.nexus.acting(author=author, session=session)

    async def history(self, id: str, **options: Any) -> dict[str, Any]:
        """``Nexus.history`` as a coroutine."""
        return await self.run(lambda: self.nexus.history(id, **options))

    async def changes(
        self,
        since: int | str | datetime | None = None,
        until: int | str | datetime | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """``Nexus.changes`` as a coroutine."""
        return await self.run(lambda: self.nexus.changes(since, until, **options))

    async def undo(self, **options: Any) -> dict[str, Any]:
        """``Nexus.undo`` as a coroutine."""
        return await self.run(lambda: self.nexus.undo(**options))


def _close_opened(opening: asyncio.Future[Nexus]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()
