"""A failed query lets go of the engine, so that closing a nexus closes its files."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from contextlib import suppress
from weakref import ref

import pytest

from kiprdf.budget import Budget, Spending
from kiprdf.errors import KipError
from kiprdf.store.cancellation import CancellationToken, is_any_abandoned, run_cancellable


class Engine:
    """What a query holds."""


def held_after(function: Callable[[Engine, CancellationToken], None], *, threaded: bool) -> bool:
    """Whether an engine outlives a failed query that used it, without a garbage collection."""
    engine = Engine()
    reference = ref(engine)

    def ask(engine: Engine) -> None:
        spending = Spending(Budget(timeout_s=0.3))
        run_cancellable(lambda token: function(engine, token), spending, threaded=threaded)

    gc.disable()
    try:
        with suppress(KipError):
            ask(engine)
        del engine
        while is_any_abandoned():
            time.sleep(0.01)
        return reference() is not None
    finally:
        gc.enable()


def fails(_: Engine, token: CancellationToken) -> None:
    raise KipError("KIP_4002", "Too much.", "Ask for less.")


def is_cancelled(_: Engine, token: CancellationToken) -> None:
    token.cancel(KipError("KIP_4002", "Too much.", "Ask for less."))
    token.fetch_all([])


def ends_too_late(_: Engine, token: CancellationToken) -> None:
    time.sleep(0.6)
    token.fetch_all([])


@pytest.mark.parametrize(
    ("function", "threaded"),
    [(fails, False), (fails, True), (is_cancelled, False), (is_cancelled, True),
     (ends_too_late, True)],
)  # fmt: skip
def test_a_failed_query_lets_go_of_the_engine(
    function: Callable[[Engine, CancellationToken], None], threaded: bool
) -> None:
    """A nexus that is closed afterwards is closed at once: its files do not change any more."""
    assert not held_after(function, threaded=threaded)
