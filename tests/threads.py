"""Jobs that run beside each other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

SECONDS = 300.0
"""Far more than any job takes; only a hang gets there."""


def together(*jobs: Callable[[], Any]) -> None:
    """Run each job in its own thread; the first fault of any is raised here."""
    faults: list[BaseException] = []

    def attempt(job: Callable[[], Any]) -> None:
        try:
            job()
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=attempt, args=(job,), daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    if faults:
        raise faults[0]
