"""Child processes, since what they do may end a process."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from tests.programs import PROCESSES


def run(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns in a separate process, which must end well."""
    receiver, sender = PROCESSES.Pipe(duplex=False)
    child = PROCESSES.Process(target=_send_result, args=(sender, function, arguments), daemon=True)
    child.start()
    sender.close()
    try:
        result = receiver.recv()
    except EOFError:
        result = None
    child.join(60)
    assert child.exitcode == 0, f"{function.__name__}{arguments} ended with {child.exitcode}"
    return result


def _send_result(
    sender: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    sender.send(function(*arguments))
