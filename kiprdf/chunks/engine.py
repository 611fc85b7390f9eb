"""The rule engine: a cycle matches rules with buffers, chooses one, and runs its actions."""

from __future__ import annotations

import math
import random
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, TypeVar

from kiprdf.chunks.calls import LATER, ActionError, Call, Event, Firing, Operation
from kiprdf.chunks.graph import Graph
from kiprdf.chunks.model import NO_SOURCES, Chunk, ChunksError, Document, RuleError, Sources
from kiprdf.chunks.module import (
    DEFAULT_PRIORITY,
    ChunkStore,
    Module,
    Tasks,
    is_priority,
    one_chunk,
)
from kiprdf.chunks.nexus_module import NexusModule
from kiprdf.chunks.operations import BUILT_INS
from kiprdf.chunks.rules import GOAL, Action, Bindings, CompiledRule, fill
from kiprdf.errors import KipError

T = TypeVar("T")
RULES = "rules"
UPDATE = BUILT_INS["update"]
PROTECTED = "KIP_3004"
Source = str | Document | Graph


class Engine:
    """Runs rules on modules.

    >>> from kiprdf import chunks
    >>> engine = chunks.Engine(
    ...     "count {from ?n} => increment {@module facts; @do get; number ?n}, count {from !}",
    ...     modules={"facts": "increment {number 1; successor 2}"},
    ... )
    >>> engine.goal("count {from 1}")
    >>> len(engine.run())
    1
    >>> engine.module("facts").buffer["successor"]
    2

    ``rules`` is a text, a ``Document`` or a ``Graph``, and so is each of the ``modules``; a module
    may also be a nexus. ``seed`` decides each choice among rules and among chunks. ``clock``
    returns seconds, for ``memory``; without it each firing takes one second. ``stopped`` says why
    the last ``run`` ended: ``"quiet"``, ``"limit"`` or ``"waiting"``.

    Raises ``RuleError`` for a rule that names a module that does not exist, cites a chunk that is
    missing, or has an invalid ``!``, and ``ChunksSyntaxError`` for a text.
    """

    def __init__(
        self,
        rules: Source,
        modules: Mapping[str, Any] | None = None,
        *,
        seed: int = 0,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.stopped = "quiet"
        self.tasks = Tasks()
        self._random = random.Random(seed)
        self._clock = clock or (lambda: float(self._fired))
        self._fired = 0
        self._memory: tuple[float, float] | None = None
        self._modules: dict[str, Module] = {}
        self._nexuses: dict[int, NexusModule] = {}
        self._operations: dict[tuple[str, str | None], Operation] = {}
        self._listeners: list[Callable[[Event], None]] = []
        self._pending: set[Call] = set()
        self._replies: deque[tuple[Call, Chunk | None, str]] = deque()
        self.rules = rules if isinstance(rules, Graph) else Graph(rules)
        for name, source in {GOAL: "", **(modules or {}), RULES: self.rules}.items():
            self._modules[name] = Module(name, self._graph(source), self._notify)
        self._load_rules()

    def _graph(self, source: Any) -> ChunkStore:
        """The graph of a module, or what reads and writes a nexus like one.

        Modules with the same nexus share it, so that a firing is one transaction.
        """
        if hasattr(source, "execute_kip"):
            return self._nexuses.setdefault(id(source), NexusModule(source))
        return source if isinstance(source, Graph) else Graph(source)

    def _load_rules(self) -> None:
        """Compile the rules and index them by the type of chunk that a buffer must have."""
        rules = [
            CompiledRule(rule, index, self._modules) for index, rule in enumerate(self.rules.rules)
        ]
        self._rules: dict[tuple[str, str] | None, list[CompiledRule]] = defaultdict(list)
        for rule in rules:
            self._rules[rule.key].append(rule)

    # What a program does -----------------------------------------------------------------------

    def goal(self, chunk: Chunk | str) -> None:
        """Overwrite the buffer of the module ``goal``."""
        self._modules[GOAL].buffer = chunk

    def push(
        self, chunk: Chunk | str, *, module: str = GOAL, priority: int = DEFAULT_PRIORITY
    ) -> None:
        """Put a chunk into a buffer, or into its queue if the buffer is in use.

        ``priority`` is from 1 to 10, 10 first. Raises ``ChunksError`` if the queue is full.
        """
        if not is_priority(priority):
            raise ChunksError(f"A priority is an integer from 1 to 10, not {priority!r}.")
        self.module(module).push(one_chunk(chunk), priority)

    def module(self, name: str) -> Module:
        """The module of this name; ``ChunksError`` if there is none."""
        module = self._modules.get(name)
        if module is None:
            names = ", ".join(sorted(self._modules))
            raise ChunksError(f"There is no module {name}; there are {names}.")
        return module

    @property
    def modules(self) -> tuple[str, ...]:
        """The names of the modules."""
        return tuple(self._modules)

    def operation(self, name: str, function: Operation, *, module: str | None = None) -> None:
        """Let ``@do name`` call a function, in one module or in all.

        Raises ``ValueError`` for the name of a built-in operation.
        """
        if name in BUILT_INS:
            raise ValueError(f"{name} is a built-in operation, which cannot be replaced.")
        if module is not None:
            self.module(module)
        self._operations[name, module] = function

    def memory(self, *, decay: float = 0.5, noise: float = 0.25) -> None:
        """Recall like a mind: what was used often and lately is chosen more often.

        Each firing boosts its rule; each ``get``, ``put`` and ``patch`` boosts its chunk and those
        that it refers to. A boost fades at the rate ``decay`` a unit of the clock. ``noise`` is the
        part of chance: with 0 the highest activation is chosen.

        Raises ``ChunksError`` for a number below 0.
        """
        if decay < 0 or noise < 0:
            raise ChunksError("decay and noise are numbers from 0 on.")
        self._memory = (decay, noise)

    def on_event(self, function: Callable[[Event], None]) -> None:
        """Call a function with each ``Event``."""
        self._listeners.append(function)

    def run(self, max_cycles: int = 1000) -> list[Firing]:
        """Run cycles until no rule matches and the goal's queue is empty, or up to a number.

        Replies to pending operations are delivered first. ``ChunksError`` if a queue is full.
        """
        firings: list[Firing] = []
        self.stopped = "limit"
        while len(firings) < max_cycles:
            firing = self.step()
            if firing is None:
                self.stopped = "waiting" if self._pending else "quiet"
                break
            firings.append(firing)
        return firings

    # The cycle ---------------------------------------------------------------------------------

    def step(self) -> Firing | None:
        """One cycle: match, choose, act. None if no rule matches and the queue is empty.

        While no rule matches, the next chunk of the queue replaces the goal.
        """
        self._deliver()
        while not (matches := self._match()):
            if not self._modules[GOAL].take():
                return None
        rule, bindings = self._choose_rule(matches)
        return self._act(rule, bindings)

    def _match(self) -> list[tuple[CompiledRule, Bindings]]:
        """The rules whose conditions hold, in the order in which they are written."""
        rules = list(self._rules[None])
        for module in self._modules.values():
            if module.buffer is not None:
                rules += self._rules.get((module.name, module.buffer.type), ())
        rules.sort(key=attrgetter("index"))
        return [
            (rule, bindings)
            for rule in rules
            if (bindings := rule.bind(self._modules, self._is_kind)) is not None
        ]

    def _choose_rule(
        self, matches: Sequence[tuple[CompiledRule, Bindings]]
    ) -> tuple[CompiledRule, Bindings]:
        """One of the rules that match, the more likely the higher its activation."""
        return self._pick(matches, self.rules, [rule.rule.id for rule, _ in matches])

    def _act(self, rule: CompiledRule, bindings: Bindings) -> Firing:
        """Run the actions of a rule in their order, then deliver the responses.

        If the actions wrote neither the goal nor a buffer of the conditions, the goal is done:
        its buffer is cleared, and its queue popped.
        """
        sources, of_variables = rule.sources(self._modules)
        for nexus in self._nexuses.values():
            sources = nexus.resolved(sources)
        firing = Firing(rule.rule, bindings, rule.index, sources)
        self._fired += 1
        self.activate(self.rules, rule.rule.id)
        self._emit("fired", GOAL, firing)
        watched = [self._modules[name] for name in rule.watched]
        task = next((module.task for module in watched if module.task), None)
        writes = [module.writes for module in watched]
        responses: list[tuple[Module, Call, Chunk]] = []
        try:
            for action in rule.actions:
                self._run_action(action, bindings, of_variables, task, responses)
        except ChunksError as error:
            raise ChunksError(error.message, line=rule.rule.line or None) from None
        finally:
            self._commit(rule, sources)
        changed = writes != [module.writes for module in watched]
        for module, call, chunk in responses:
            module.push(chunk, call.priority, tag=call.tag, task=task)
        if not changed:
            self._modules[GOAL].clear()
        return firing

    def _run_action(
        self,
        action: Action,
        bindings: Bindings,
        of_variables: Sources,
        task: str | None,
        responses: list[tuple[Module, Call, Chunk]],
    ) -> None:
        """Run one action. A built-in operation acts at once; the response of another follows."""
        values = action.values(bindings)
        name = str(fill(action.operation, bindings))
        place = str(values.get("@module", GOAL))
        sources = action.sources(of_variables) if of_variables else NO_SOURCES
        call = Call(self, place, name, action.chunk.type, values, bindings, task, sources)
        module = self._modules.get(place)
        if module is None:
            self._fail(call, self._modules[GOAL], ActionError(f"There is no module {place}."))
            return
        module.status, module.tag = "okay", call.tag
        built_in = action.built_in or BUILT_INS.get(name)
        if built_in is None:
            self._run_operation(call, module, responses)
            return
        if action.built_in is not UPDATE:
            self._emit("operation", module.name, call, call)
        try:
            built_in(call, module)
        except (ActionError, KipError) as error:
            self._fail(call, module, error)

    def _run_operation(
        self, call: Call, module: Module, responses: list[tuple[Module, Call, Chunk]]
    ) -> None:
        """Run an operation of the application; its failure is a status and an event."""
        function = self._operations.get((call.name, module.name))
        function = function or self._operations.get((call.name, None))
        try:
            if function is None:
                raise ActionError(f"There is no operation {call.name}.")
            response = function(call)
            if response is LATER:
                module.status = "pending"
                self._pending.add(call)
            elif response is not None:
                responses.append((module, call, call.answered(one_chunk(response))))
        except Exception as error:
            self._fail(call, module, error)
        else:
            self._emit("operation", module.name, call, call)

    def _fail(self, call: Call, module: Module, error: Exception) -> None:
        module.status = "failed"
        self._emit("operation", module.name, error, call)

    def _commit(self, rule: CompiledRule, sources: frozenset[str]) -> None:
        """Write what the firing has changed in a nexus, as one transaction."""
        for nexus in self._nexuses.values():
            try:
                nexus.commit(rule, sources)
            except KipError as error:
                status = "forbidden" if error.code == PROTECTED else "failed"
                for module in self._modules.values():
                    if module.graph is nexus:
                        module.status = status
                        self._emit("operation", module.name, error)

    # What operations use -----------------------------------------------------------------------

    def receive(self, call: Call, chunk: Chunk | str | None, status: str) -> None:
        """Accept the reply to a call, from any thread; the next cycle delivers it."""
        reply = None if chunk is None else call.answered(one_chunk(chunk))
        self._replies.append((call, reply, status))

    def _deliver(self) -> None:
        while self._replies:
            call, chunk, status = self._replies.popleft()
            self._pending.discard(call)
            module = self._modules[call.module]
            module.status, module.tag = status, call.tag
            if chunk is not None:
                module.push(chunk, call.priority, tag=call.tag, task=call.task)

    def choose(self, matches: Sequence[Chunk], graph: ChunkStore) -> Chunk | None:
        """One of the matching chunks, the more likely the higher its activation."""
        if not matches:
            return None
        chunk = self._pick(matches, graph, [chunk.id for chunk in matches])
        self.activate(graph, chunk.id)
        return chunk

    def _pick(self, choices: Sequence[T], graph: ChunkStore, ids: Sequence[str | None]) -> T:
        """One of several things, by the activation of the chunks with these identifiers."""
        if len(choices) == 1:
            return choices[0]
        if self._memory is None:
            return self._random.choice(choices)
        now, (decay, noise) = self._clock(), self._memory
        levels = [0.0 if id is None else graph.activation(id, now, decay) for id in ids]
        return self._random.choices(choices, _weights(levels, noise))[0]

    def activate(self, graph: ChunkStore, id: str | None) -> None:
        """Boost what was recalled, changed or fired, if the engine has a memory."""
        if self._memory is not None and id is not None:
            graph.activate(id, self._clock())

    def add_rules(self, added: Sequence[Chunk]) -> None:
        """Add the chunks of rules; if one of the rules is invalid, none. Raises ``RuleError``."""
        graph = self.rules
        replaced = [old for chunk in added if chunk.id and (old := graph.get(chunk.id))]
        for chunk in added:
            graph.add(chunk)
        try:
            self._load_rules()
        except RuleError:
            for chunk in added:
                graph.remove(chunk.id or "")
            for chunk in replaced:
                graph.add(chunk)
            raise

    def _is_kind(self, type: str, kind: str) -> bool:
        """Whether the links of one of the modules make a type a kind of another."""
        return any(module.graph.is_kind(type, kind) for module in self._modules.values())

    def _notify(self, kind: str, module: Module) -> None:
        if self._listeners:
            self._emit(kind, module.name, module.buffer if kind == "buffer" else module.queue)

    def _emit(self, kind: str, module: str, detail: Any, call: Call | None = None) -> None:
        if self._listeners:
            event = Event(kind, module, detail, call)
            for listener in self._listeners:
                listener(event)


def _weights(levels: Sequence[float], noise: float) -> list[float]:
    """How likely each level of activation is chosen; with no noise, only the highest."""
    highest = max(levels)
    if noise == 0:
        return [float(level == highest) for level in levels]
    return [math.exp((level - highest) / noise) for level in levels]
