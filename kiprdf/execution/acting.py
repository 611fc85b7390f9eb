"""The author and the session of writes, which ``Nexus.acting`` sets for a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple


class _Actor(NamedTuple):
    """An author and a session, for the commits of one writer."""

    writer: Any
    author: str | None
    session: str | None


_actors: ContextVar[tuple[_Actor, ...]] = ContextVar("actors", default=())


@contextmanager
def acting(writer: Any, author: str | None, session: str | None) -> Iterator[None]:
    """Commits of a writer in this block, thread and task have an author and a session.

    What an inner block leaves out is that of the outer one.
    """
    outer = acting_on(writer)
    actor = _Actor(writer, author or outer[0], session or outer[1])
    token = _actors.set((*_actors.get(), actor))
    try:
        yield
    finally:
        _actors.reset(token)


def acting_on(writer: Any) -> tuple[str | None, str | None]:
    """The author and the session of the innermost block of a writer."""
    for actor in reversed(_actors.get()):
        if actor.writer is writer:
            return actor.author, actor.session
    return None, None
