"""Objects that a rule engine passes to programs: the call of an operation, a firing, an event."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Protocol

from kiprdf.chunks.graph import Graph
from kiprdf.chunks.model import Chunk, ChunksError, Name, Rule, Sources, Value
from kiprdf.chunks.module import DEFAULT_PRIORITY, ChunkStore, Module, Tasks

STATUSES = ("okay", "pending", "nomatch", "forbidden", "failed")


class ActionError(ChunksError):
    """An action that cannot be carried out; the status of its module is then ``failed``."""


class _Later(Enum):
    LATER = "later"

    def __repr__(self) -> str:
        return "chunks.LATER"


LATER: Final = _Later.LATER
"""An operation returns this if it will call ``call.reply`` later."""


@dataclass(frozen=True, slots=True)
class Firing:
    """One rule that fired: the rule, its bindings by name without ``?``, its place in the rules.

    ``sources`` are the ids of the elements of a nexus that its conditions match, or that the values
    come from which they match.
    """

    rule: Rule
    bindings: Mapping[str, Value]
    index: int
    sources: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Event:
    """What happened in an engine, in the module of this name.

    ======================  =================================================================
    kind                    detail
    ======================  =================================================================
    ``fired``               the ``Firing``, before its actions run
    ``buffer``              the chunk that the buffer holds now, or None
    ``queue``               the chunks of the queue now, next first
    ``operation``           the ``Call``, before a built-in operation and after another one; the
                            exception if it failed
    ======================  =================================================================

    ``call`` is the call of the operation, of a failed one too.
    """

    kind: str
    module: str
    detail: Any
    call: Call | None = None


class Host(Protocol):
    """The engine of a call, as programs and built-in operations use it."""

    tasks: Tasks

    @property
    def rules(self) -> Graph: ...
    @property
    def modules(self) -> tuple[str, ...]: ...
    def module(self, name: str) -> Module: ...
    def goal(self, chunk: Chunk | str) -> None: ...
    def push(self, chunk: Chunk | str, *, module: str = ..., priority: int = ...) -> None: ...
    def choose(self, matches: Sequence[Chunk], graph: ChunkStore) -> Chunk | None: ...
    def activate(self, graph: ChunkStore, id: str | None) -> None: ...
    def add_rules(self, added: Sequence[Chunk]) -> None: ...
    def receive(self, call: Call, chunk: Chunk | str | None, status: str) -> None: ...


@dataclass(eq=False, slots=True, repr=False)
class Call:
    """The call of an operation by an action whose variables are replaced by their values.

    ``name`` is the operation, ``module`` the name of the action's module, ``tag`` its ``@tag``;
    ``sources`` are those of the values, by property.
    """

    engine: Host
    module: str
    name: str
    type: Name
    values: dict[str, Value]
    bindings: dict[str, Value]
    task: str | None
    sources: Sources

    def __repr__(self) -> str:
        return f"<Call {self.name} in {self.module}: {self.action}>"

    @property
    def action(self) -> Chunk:
        """The action, with the values of its variables."""
        return Chunk._make(self.type, self.values, None)

    @property
    def properties(self) -> dict[str, Value]:
        """The properties whose names do not begin with ``@``."""
        return {name: value for name, value in self.values.items() if name[0] != "@"}

    def answered(self, response: Chunk) -> Chunk:
        """A response, with what the values of the call come from."""
        sources = frozenset().union(*self.sources.values())
        own = response.sources or (dict.fromkeys(response.properties, sources) if sources else {})
        return Chunk._make(response.type, response._properties, response.id, response.line, own)

    @property
    def tag(self) -> Value | None:
        return self.values.get("@tag")

    @property
    def priority(self) -> Value:
        """The ``@priority`` of the action, or the default."""
        return self.values.get("@priority", DEFAULT_PRIORITY)

    def reply(self, chunk: Chunk | str | None = None, status: str = "okay") -> None:
        """Answer a call that returned ``LATER``, from any thread.

        The next cycle sets the status of the module and puts the chunk into its buffer, or into
        its queue if the buffer is in use. Raises ``ChunksError`` for a status that does not exist
        or a text that is not one chunk.
        """
        if status not in STATUSES:
            raise ChunksError(f"The status {status!r} is not one of {', '.join(STATUSES)}.")
        self.engine.receive(self, chunk, status)


Operation = Callable[[Call], Any]
"""A function of an application; it returns None, a chunk, a text of one chunk, or ``LATER``."""
