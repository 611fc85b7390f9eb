"""Who acts on a nexus: the author, the session, the kind and the access of those who write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, NamedTuple, TypeAlias, get_args

from kiprdf.errors import KipError, shown

Kind: TypeAlias = Literal["human", "model", "job"]
Access: TypeAlias = Literal["read", "propose", "write", "admin"]
KINDS: tuple[Kind, ...] = get_args(Kind)
ACCESSES: tuple[Access, ...] = get_args(Access)
"""The accesses, of which each includes those before it."""
HUMAN: Kind = "human"


class Actor(NamedTuple):
    """Who writes; without an author it is the owner, whose code names nobody.

    >>> Actor("claude-desktop", kind="model").label, OWNER.label
    ('model/claude-desktop', None)
    """

    author: str | None = None
    session: str | None = None
    kind: Kind = HUMAN
    access: Access = "admin"
    proposer: str | None = None
    """The author of the proposal that is run."""

    @property
    def label(self) -> str | None:
        """The kind and the name, as in the metadata of what a principal writes."""
        return None if self.author is None else f"{self.kind}/{self.author}"

    @property
    def signature(self) -> str:
        """The label; the owner has one, too: ``human/owner``."""
        return self.label or f"{self.kind}/owner"

    @property
    def is_person(self) -> bool:
        """Whether this is no model and no job."""
        return self.kind == HUMAN

    def require_person(self, verb: str) -> None:
        """Raise KIP_3004 for a model or a job."""
        if not self.is_person:
            message = f"Only a person {verb}, and {shown(self.signature)} is none."
            raise KipError("KIP_3004", message, "Ask a person to do it, and give the reason.")

    def may(self, access: Access) -> bool:
        """Whether the access of this actor includes another one."""
        return ACCESSES.index(self.access) >= ACCESSES.index(access)

    def require(self, access: Access) -> None:
        """Raise KIP_3004 if this actor lacks an access."""
        if not self.may(access):
            message = f"{shown(self.author or 'The owner')} has the access '{self.access}' only."
            hint = f"Leave it to a principal with the access '{access}'."
            if (self.access, access) == ("propose", "write"):
                hint = f"Propose one statement, by execute or execute_kip. {hint}"
            raise KipError("KIP_3004", message, hint)


OWNER = Actor()
_actors: ContextVar[tuple[tuple[object, Actor], ...]] = ContextVar("actors", default=())


@contextmanager
def acting(
    writer: object,
    author: str | None = None,
    session: str | None = None,
    kind: Kind | None = None,
    access: Access | None = None,
) -> Iterator[None]:
    """Commits of a writer in this block, thread and task are those of an actor.

    What an inner block leaves out is that of the outer one, but that an author without a kind is a
    model. No block has more access than the one around it.
    """
    outer = acting_on(writer)
    if access is None or not outer.may(access):
        access = outer.access
    kind = kind or ("model" if author else outer.kind)
    actor = Actor(author or outer.author, session or outer.session, kind, access)
    with acting_as(writer, actor):
        yield


@contextmanager
def acting_as(writer: object, actor: Actor) -> Iterator[None]:
    """Commits of a writer in this block, thread and task are those of an actor.

    Of the blocks around it nothing is left: asyncio may handle a request in the context of another.
    """
    written = _written(writer)
    others = (pair for pair in _actors.get() if pair[0] is not written)
    token = _actors.set((*others, (written, actor)))
    try:
        yield
    finally:
        _actors.reset(token)


def acting_on(writer: object) -> Actor:
    """The actor of the innermost block of a writer, or its owner."""
    actors = _actors.get()
    written = _written(writer) if actors else None
    for acted_on, actor in actors:
        if acted_on is written:
            return actor
    return OWNER


def _written(writer: object) -> object:
    """The writer of the nexus that a writer writes, which may be a member of its view."""
    return getattr(writer, "member", writer)
