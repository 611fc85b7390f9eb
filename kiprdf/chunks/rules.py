"""Rules, compiled once: conditions that test buffers, and actions that take bindings."""

from __future__ import annotations

import itertools
import operator
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from typing import Any

from kiprdf.chunks.matching import IsKind, Pattern, bind
from kiprdf.chunks.model import (
    Chunk,
    Name,
    Negated,
    Rule,
    RuleError,
    Sources,
    Text,
    Value,
    Variable,
    is_name,
    items,
)
from kiprdf.chunks.module import Module
from kiprdf.chunks.nexus_module import NexusModule
from kiprdf.chunks.operations import BUILT_INS, BY_PROPERTY, BuiltIn
from kiprdf.chunks.printer import to_text, without_ids
from kiprdf.language.values import is_number

Bindings = dict[str, Value]

GOAL = "goal"
UPDATE = Name("update")
STATUSES_WITHOUT_CHUNK = ("nomatch", "pending", "failed", "forbidden")
"""The statuses that a condition may ask for without asking for a chunk."""
WRITING_OPERATIONS = ("update", "put", "patch", "queue", "properties", "task")
"""The built-in operations that write the values of their action, so that none is ``!value``."""
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "@gt": operator.gt,
    "@lteq": operator.le,
}


class Guard:
    """A condition, compiled: whether it holds for the buffer of its module."""

    def __init__(self, chunk: Chunk, negated: bool) -> None:
        self.chunk = chunk = _with_quoted_names(chunk)
        self.negated = negated
        self.module = str(chunk.get("@module", GOAL))
        self._pattern = Pattern(chunk)
        self._status = chunk.get("@status")
        self._labels = [
            (label, chunk["@" + label]) for label in ("tag", "task") if "@" + label in chunk
        ]
        self._comparisons = [
            (COMPARISONS[name], _operands(chunk, name)) for name in COMPARISONS if name in chunk
        ]
        self._needs_chunk = not self._asks_for_status_alone()
        compared = [name for _, names in self._comparisons for name in names]
        named = ("@id", *(name for name in compared if isinstance(name, Name)), *chunk.properties)
        self.reads = {name: {*_variables(chunk.get(name))} for name in named}

    def _asks_for_status_alone(self) -> bool:
        """``* {@module facts; @status nomatch}`` holds for an empty buffer, too.

        A failed operation leaves the buffer empty (docs/decisions/070).
        """
        return (
            not self.negated
            and self.chunk.type == "*"
            and {*self.chunk.properties} <= {"@module", "@status", "@tag", "@task"}
            and self._status in STATUSES_WITHOUT_CHUNK
        )

    @property
    def fixed_type(self) -> str | None:
        """The type that the chunk of the buffer must have, if the condition names one."""
        if self.negated or self.chunk.type == "*" or "@type" in self.chunk:
            return None
        return self.chunk.type

    def bind(self, module: Module, bindings: Bindings, is_kind: IsKind) -> Bindings | None:
        """The bindings, extended; None if the condition does not hold.

        A negation concerns the chunk. ``@status`` is tested, and bound, all the same.
        """
        if self._status is not None:
            with_status = bind(self._status, Name(module.status), bindings)
            if with_status is None:
                return None
            bindings = with_status
        extended = self._bind_chunk(module, bindings, is_kind)
        if self.negated:
            return bindings if extended is None else None
        return extended

    def _bind_chunk(self, module: Module, bindings: Bindings, is_kind: IsKind) -> Bindings | None:
        extended: Bindings | None = bindings
        if module.buffer is not None:
            extended = self._pattern.match(module.buffer, bindings, is_kind)
        elif self._needs_chunk:
            return None
        for label, expected in self._labels:
            if extended is not None:
                extended = bind(expected, getattr(module, label), extended)
        for holds, operands in self._comparisons:
            if extended is not None and not _compare(holds, operands, module.buffer, extended):
                return None
        return extended


def _operands(chunk: Chunk, name: str) -> tuple[Value, ...]:
    """What ``@gt`` or ``@lteq`` compares: a list, or the property before it and one value."""
    value = chunk[name]
    if isinstance(value, tuple):
        return value
    before = [*chunk.properties][: [*chunk.properties].index(name)]
    plain = [property for property in before if property[0] != "@"]
    if not plain:
        raise RuleError(
            f"{name} compares two values: write {name} ?x, {value}.", line=chunk.line or None
        )
    return (Name(plain[-1]), value)


def _compare(
    holds: Callable[[Any, Any], bool],
    operands: tuple[Value, ...],
    chunk: Chunk | None,
    bindings: Bindings,
) -> bool:
    """Whether each two neighbours compare; a name is a property of the chunk."""
    values: list[Any] = []
    for operand in operands:
        value: Any = fill(operand, bindings)
        if isinstance(value, Name) and isinstance(operand, Name) and chunk is not None:
            value = chunk.get(value, value)
        values.append(value)
    return all(
        is_number(left) and is_number(right) and holds(left, right)
        for left, right in itertools.pairwise(values)
    )


class Action:
    """An action, compiled: its operation, and its properties for the bindings of a firing."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk = _with_quoted_names(chunk)
        self.operation, self.built_in = _operation(chunk)
        self._constants = dict(chunk.properties)
        self._open = [
            (name, value, variables)
            for name, value in chunk.properties.items()
            if (variables := [*_variables(value)])
        ]

    def values(self, bindings: Bindings) -> dict[str, Value]:
        """The properties; a variable without a value stays a variable."""
        values = dict(self._constants)
        for name, value, _ in self._open:
            values[name] = fill(value, bindings)
        return values

    def sources(self, of_variables: Sources) -> dict[str, frozenset[str]]:
        """What each property comes from, by what its variables come from."""
        return {
            name: frozenset().union(*(of_variables.get(one, ()) for one in variables))
            for name, _, variables in self._open
        }


def _with_quoted_names(chunk: Chunk) -> Chunk:
    """A chunk whose quoted identifiers are names: in a nexus a name may be ``"Sam Smith"``."""
    quoted = {
        name: Name(value)
        for name in ("@id", "@subject", "@object")
        if isinstance(value := chunk.get(name), Text) and not is_name(value)
    }
    if not quoted:
        return chunk
    return Chunk._make(chunk.type, {**chunk.properties, **quoted}, chunk.id, chunk.line)


def _operation(chunk: Chunk) -> tuple[Value, BuiltIn | None]:
    """The name of an action's operation, and the function if it is named by a property."""
    if "@do" not in chunk:
        named = next((name for name in BY_PROPERTY if name in chunk), None)
        return (Name(named[1:]), BY_PROPERTY[named]) if named else (UPDATE, BUILT_INS[UPDATE])
    if "@for" in chunk:
        raise RuleError("An action has either @do or @for, not both.", line=chunk.line or None)
    return chunk["@do"], None


def fill(value: Value, bindings: Bindings) -> Value:
    """A value with its variables replaced; a list in a list is spread."""
    if isinstance(value, Variable):
        return bindings.get(value.name, value)
    if isinstance(value, Negated):
        inner = fill(value.value, bindings) if value.value is not None else None
        return value if isinstance(inner, tuple) or inner == "*" else Negated(inner)
    if isinstance(value, tuple):
        return tuple(atom for item in value for atom in items(fill(item, bindings)))
    return value


def _variables(value: Value | None, *, negated: bool = True) -> Iterator[str]:
    """The names of the variables in a value; those in a negation if it is asked for."""
    if isinstance(value, Variable):
        yield value.name
    elif isinstance(value, Negated):
        if negated:
            yield from _variables(value.value)
    elif isinstance(value, tuple):
        for item in value:
            yield from _variables(item, negated=negated)


class CompiledRule:
    """A rule, ready to be matched and fired.

    Raises ``RuleError`` for a module that does not exist and for an invalid use of ``!``.
    """

    def __init__(self, rule: Rule, index: int, modules: Collection[str]) -> None:
        self.rule = rule
        self.index = index
        _check_modules(rule, modules)
        _check_negations(rule)
        self.guards = [Guard(condition.chunk, condition.negated) for condition in rule.conditions]
        self.actions = [Action(chunk) for chunk in rule.actions]
        self.watched = {GOAL, *(guard.module for guard in self.guards)}

    @cached_property
    def reference(self) -> str:
        """The name that the rule was given, or else its text."""
        id = self.rule.id
        is_named = id is not None and not id.startswith("_:")
        return str(id) if is_named else to_text(without_ids(self.rule), compact=True)

    def sources(self, modules: dict[str, Module]) -> tuple[frozenset[str], Sources]:
        """The ids of what the conditions match in a nexus, and of what each variable comes from.

        A value that a rule has put into another buffer, as the goal, comes from what it was read
        from; that counts unless a condition finds it in the nexus again.
        """
        read = [
            (buffer.sources[name], variables, isinstance(module.graph, NexusModule))
            for guard in self.guards
            if (buffer := (module := modules[guard.module]).buffer) and not guard.negated
            for name, variables in guard.reads.items()
            if name in buffer.sources
        ]
        stored = {name for _, variables, is_stored in read if is_stored for name in variables}
        every, of_variables = frozenset[str](), defaultdict[str, frozenset[str]](frozenset)
        for ids, variables, is_stored in read:
            if is_stored or not variables or variables - stored:
                every |= ids
                for name in variables:
                    of_variables[name] |= ids
        return every, of_variables

    @property
    def key(self) -> tuple[str, str] | None:
        """A module and the type that its buffer must have for this rule, if a condition says so."""
        typed = ((guard.module, guard.fixed_type) for guard in self.guards)
        return next(((module, type) for module, type in typed if type is not None), None)

    def bind(self, modules: dict[str, Module], is_kind: IsKind) -> Bindings | None:
        """The bindings of all conditions, in the order written; None if one does not hold."""
        bindings: Bindings = {}
        for guard in self.guards:
            extended = guard.bind(modules[guard.module], bindings, is_kind)
            if extended is None:
                return None
            bindings = extended
        return bindings


def _check_modules(rule: Rule, modules: Collection[str]) -> None:
    """Each module that a rule names exists."""
    named = [(chunk, "@module") for chunk in rule.chunks]
    named += [(chunk, "@to") for chunk in rule.actions if chunk.get("@do") == "properties"]
    for chunk, property in named:
        name = chunk.get(property, GOAL)
        if isinstance(name, Variable) and chunk in rule.actions:
            continue
        if not isinstance(name, str) or str(name) not in modules:
            raise RuleError(
                f"There is no module {name}; there are {', '.join(sorted(modules))}.",
                line=chunk.line or None,
            )


def _check_negations(rule: Rule) -> None:
    """Section "The negation operator": what ``!`` may stand for, and where."""
    bound = {
        variable
        for condition in rule.conditions
        for value in condition.chunk.properties.values()
        for variable in _variables(value, negated=False)
    }
    for chunk in rule.chunks:
        for name, value in chunk.properties.items():
            negations = [item for item in items(value) if isinstance(item, Negated)]
            if isinstance(value, tuple) and any(item.value is None for item in negations):
                raise RuleError(f"! is no item of a list, as in {name}.", line=chunk.line or None)
            for negation in negations:
                if unbound := {*_variables(negation.value)} - bound:
                    raise RuleError(
                        f"!?{min(unbound)} negates a variable without a value.",
                        line=chunk.line or None,
                    )
    for action in rule.actions:
        if "@do" in action and action["@do"] not in WRITING_OPERATIONS:
            continue
        for name, value in action.properties.items():
            if any(isinstance(item, Negated) and item.value is not None for item in items(value)):
                raise RuleError(
                    f"An action that writes a value cannot negate it, as in {name}; "
                    f"{name} ! removes the property.",
                    line=action.line or None,
                )
