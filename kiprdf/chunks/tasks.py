"""Tasks: threads of behaviour that succeed or fail, and the actions that wait for them.

A task is started with ``@do task``; every chunk that its rules write belongs to it, until
``@do done`` or ``@do fail``. An action with ``@all``, ``@any`` or ``@failed`` waits for tasks.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kiprdf.chunks.calls import Call
from kiprdf.chunks.model import Chunk, Name, Value, Variable

if TYPE_CHECKING:
    from kiprdf.chunks.module import Module

RESERVED = ("@do", "@module", "@task", "@tag", "@priority", "@all", "@any", "@failed")
"""The properties that are for the engine, and not for the chunk that is queued."""


@dataclass
class _Waiter:
    """A chunk that is queued once its tasks have ended as ``kind`` asks."""

    kind: str
    tasks: list[str]
    chunk: Chunk
    module: Module
    priority: Value
    task: str | None


@dataclass
class Tasks:
    """The tasks of an engine, by name: True if done, False if failed, None while they run."""

    outcomes: dict[str, bool | None] = field(default_factory=dict)
    waiters: list[_Waiter] = field(default_factory=list)
    numbers: itertools.count[int] = field(default_factory=itertools.count)

    def new(self) -> Name:
        """A name that no task has."""
        while (name := Name(f"task{next(self.numbers) + 1}")) in self.outcomes:
            pass
        return name

    def end(self, task: str, done: bool) -> None:
        self.outcomes[task] = done
        self.wake()

    def wake(self) -> None:
        """Queue the chunks that need not wait any more; forget those that would wait for ever."""
        waiters, self.waiters = self.waiters, []
        for waiter in waiters:
            outcomes = [self.outcomes.get(task) for task in waiter.tasks]
            if _holds(waiter.kind, outcomes):
                waiter.module.push(waiter.chunk, waiter.priority, task=waiter.task)
            elif _may_hold(waiter.kind, outcomes):
                self.waiters.append(waiter)


def _holds(kind: str, outcomes: list[bool | None]) -> bool:
    match kind:
        case "@all":
            return all(outcomes)
        case "@any":
            return True in outcomes
        case _:
            return False in outcomes


def _may_hold(kind: str, outcomes: list[bool | None]) -> bool:
    return False not in outcomes if kind == "@all" else None in outcomes


def start(call: Call, module: Module) -> None:
    """Queue a copy of the action's chunk as a new task ("@do task")."""
    tasks = call.engine.tasks
    task = call.values.get("@task")
    if isinstance(task, Variable):
        name = tasks.new()
        # The actions that follow in the rule use the name.
        call.bindings[task.name] = name
    else:
        name = Name(task) if isinstance(task, str) else tasks.new()
    tasks.outcomes[name] = None
    module.push(_copy(call), call.priority, tag=call.tag, task=name)


def done(call: Call, module: Module) -> None:
    """The task has ended well ("@do done")."""
    _end(call, module, True)


def fail(call: Call, module: Module) -> None:
    """The task has failed ("@do fail")."""
    _end(call, module, False)


def _end(call: Call, module: Module, done: bool) -> None:
    tasks = call.engine.tasks
    named = call.values.get("@task") or (Name(call.task) if call.task else None)
    ended = [task for task in _names(named) if tasks.outcomes.get(task, done) is None]
    if not ended:
        module.status = "nomatch"
    for task in ended:
        tasks.end(task, done)


def when_all(call: Call, module: Module) -> None:
    """Queue a copy of the action's chunk when all of the tasks are done ("@all")."""
    _wait(call, module, "@all")


def when_any(call: Call, module: Module) -> None:
    """Queue a copy of the action's chunk when the first of the tasks is done ("@any")."""
    _wait(call, module, "@any")


def when_failed(call: Call, module: Module) -> None:
    """Queue a copy of the action's chunk when the first of the tasks fails ("@failed")."""
    _wait(call, module, "@failed")


def _wait(call: Call, module: Module, kind: str) -> None:
    tasks = call.engine.tasks
    names = _names(call.values[kind])
    waiter = _Waiter(kind, names, _copy(call), module, call.priority, call.task)
    tasks.waiters.append(waiter)
    tasks.wake()


def _names(value: Value | None) -> list[str]:
    values = value if isinstance(value, tuple) else (value,)
    return [item for item in values if isinstance(item, str)]


def _copy(call: Call) -> Chunk:
    properties: dict[str, Value] = {
        name: value
        for name, value in call.values.items()
        if name not in RESERVED and not isinstance(value, Variable)
    }
    return Chunk._make(call.type, properties, None)
