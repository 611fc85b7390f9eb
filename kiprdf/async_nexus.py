"""The library API for asyncio: each call runs on a thread, and can be cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from kiprdf.budget import Cancellation, cancellable
from kiprdf.execution.engine import Answer
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

    async def sparql(self, query: str) -> Rows | bool | list[Any]:
        """``Nexus.sparql`` as a coroutine."""
        return await self.run(lambda: self.nexus.sparql(query))

    async def snapshot(self, *arguments: Any, **options: Any) -> str:
        """``Nexus.snapshot`` as a coroutine."""
        return await self.run(lambda: self.nexus.snapshot(*arguments, **options))
