"""Converts failures to located ``KipError``s; the only place that does."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from kiprdf.budget import Budgets
from kiprdf.errors import KipError, StoreError, clear_frames, without_folder
from kiprdf.loading import lazy_logger
from kiprdf.store import NexusStore
from kiprdf.store.base import CommitConflict
from kiprdf.store.journal import synced

T = TypeVar("T")
_log = lazy_logger(__name__)


class ErrorBoundary:
    """Runs functions on a store; converts what they raise to a ``KipError``."""

    def __init__(self, store: NexusStore, budgets: Budgets) -> None:
        self._store = store
        self._budgets = budgets

    def request(self, function: Callable[[], T], source: str | None = None) -> T:
        """Call a function as one request; failures are those of ``run``."""
        return self.run(function, source, spend=self._budgets.spend_as_request)

    def run(
        self,
        function: Callable[[], T],
        source: str | None = None,
        *,
        passes_os_errors: bool = False,
        spend: Callable[[Callable[[], T]], T] | None = None,
    ) -> T:
        """Call a function, on the clock of the running request if there is one.

        A ``KipError`` gets the text that its place refers to, ``source``. A failure of the store,
        or a fault in kiprdf, is KIP_4003; only the log has the path of the folder. With
        ``passes_os_errors`` an ``OSError`` is raised as it is, since it concerns a file of the
        caller. In a forked process nothing runs, and a ``StoreError`` is raised.
        """
        self._store.require_own_process()
        try:
            return self._run(function, spend or self._budgets.spend_as_work)
        except CommitConflict:
            raise  # the function that reads or judges here runs again
        except KipError as error:
            raise (error.in_source(source) if isinstance(source, str) else error) from None
        except StoreError as error:
            self._store.require_own_process()  # a callback may have forked
            message = without_folder(str(error), self._store.folder)
            if message != str(error):
                _log.error("%s", error)
            raise KipError("KIP_4003", message, error.hint) from error
        except Exception as fault:
            if passes_os_errors and isinstance(fault, OSError):
                raise
            _log.exception("kiprdf failed on a command; the store is unchanged")
            message = f"The engine failed: {type(fault).__name__}."
            raise KipError("KIP_4003", message) from fault

    def _run(self, function: Callable[[], T], spend: Callable[[Callable[[], T]], T]) -> T:
        try:
            return synced(partial(spend, function))
        except BaseException as fault:
            # Here, on the thread that made the iterators in them.
            clear_frames(fault)
            raise
