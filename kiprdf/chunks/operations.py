"""The built-in operations, one function each, and the properties that change a list.

Each gets its call and the module of its action; the status is ``okay`` unless it sets another.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TypeGuard

from kiprdf.chunks.calls import ActionError, Call
from kiprdf.chunks.model import (
    Atom,
    Chunk,
    ChunksError,
    Date,
    Name,
    Negated,
    Sources,
    Value,
    Variable,
    cited_in,
    items,
)
from kiprdf.chunks.module import ChunkStore, Module, Waiter

LINK_PROPERTIES = ("@context", "@subject", "@object")
"""The ``@`` properties that belong to a chunk, and are saved and queued with it."""
ENGINE_PROPERTIES = ("@do", "@module", "@task", "@tag", "@priority", "@all", "@any", "@failed")
"""The ``@`` properties that are for the engine, and not for the chunk that a task queues."""
PATTERN_PROPERTIES = (*LINK_PROPERTIES, "@id", "@type", "@kindof", "@index", "@more")
"""The ``@`` properties by which a chunk is looked for."""


# The buffer -----------------------------------------------------------------------------------


def update(call: Call, module: Module) -> None:
    """Set properties of the buffer's chunk, or start a chunk of another type ("@do update")."""
    before, target = module.buffer, _type(call, module)
    same = before is not None and before.type == target
    properties = dict(before.properties) if before is not None and same else {}
    sources = dict(before.sources) if before is not None and same else {}
    _overlay(properties, call.properties, sources, call.sources)
    _change_lists(properties, call.values, sources, call.sources)
    identifier = _name(call.values.get("@id")) or (
        before.id if before is not None and same else None
    )
    module.write(Chunk._make(target, properties, identifier, 0, sources), call.task)


def clear(call: Call, module: Module) -> None:
    """Empty the buffer and take the next chunk of the queue ("@do clear")."""
    module.clear()


def queue(call: Call, module: Module) -> None:
    """Push the action's chunk to the queue ("@do queue")."""
    properties, sources = dict[str, Value](), dict[str, frozenset[str]]()
    _overlay(properties, _select(call.values, LINK_PROPERTIES), sources, call.sources)
    name = _name(call.values.get("@id"))
    chunk = Chunk._make(_type(call, module), properties, name, 0, sources)
    module.push(chunk, call.priority, tag=call.tag, task=call.task)


# The graph ------------------------------------------------------------------------------------


def get(call: Call, module: Module) -> None:
    """Load a matching chunk, chosen by activation ("@do get")."""
    pattern = _pattern(call)
    matches = _recall(call, module, pattern)
    chunk = call.engine.choose(matches, module.graph)
    if chunk is None:
        module.fail()
        return
    others = (match for match in matches if match is not chunk)
    module.iteration, module.recalled = None, (pattern, others)
    module.write(chunk, call.task)


def next_(call: Call, module: Module) -> None:
    """Load the next item of an iteration, or the next matching chunk ("@do next")."""
    if module.iteration is not None:
        module.advance(call.task)
        return
    pattern = _pattern(call)
    if module.recalled is None or module.recalled[0] != pattern:
        held = module.buffer.id if module.buffer is not None else None
        matches = _recall(call, module, pattern)
        others = (match for match in matches if match.id is None or match.id != held)
        module.recalled = (pattern, others)
    for chunk in module.recalled[1]:
        # A link that a value implies has no id; another chunk may have changed, or be gone.
        present = chunk if chunk.id is None else module.graph.get(chunk.id)
        if present is not None:
            module.write(present, call.task)
            return
    module.fail()


def put(call: Call, module: Module) -> None:
    """Save the buffer, overlaid by the action, as a chunk of the graph ("@do put")."""
    target = _type(call, module)
    properties, sources = dict[str, Value](), dict[str, frozenset[str]]()
    if (buffer := module.buffer) is not None and buffer.type == target:
        saved = _select(buffer.properties, LINK_PROPERTIES)
        _overlay(properties, saved, sources, buffer.sources)
    _overlay(properties, _select(call.values, LINK_PROPERTIES), sources, call.sources)
    name = _name(call.values.get("@id"))
    _write_graph(call, module, Chunk._make(target, properties, name, 0, sources))


def patch(call: Call, module: Module) -> None:
    """Change the graph's chunk that has the buffer's id ("@do patch")."""
    buffer = module.buffer
    identifier = _name(call.values.get("@id")) or (buffer.id if buffer is not None else None)
    saved = module.graph.get(identifier) if identifier is not None else None
    if saved is None or buffer is None:
        module.status = "nomatch"
        return
    properties, sources = dict(saved.properties), dict(saved.sources)
    _overlay(properties, _select(buffer.properties), sources, buffer.sources)
    _overlay(properties, call.properties, sources, call.sources)
    _write_graph(call, module, Chunk._make(saved.type, properties, saved.id, 0, sources))


def delete(call: Call, module: Module) -> None:
    """Remove all matching chunks from the graph ("@do delete").

    Chunks that are not stated, those of dates and of links that values imply, are read-only.
    """
    matches = module.graph.match(_pattern(call))
    module.status = "okay" if matches else "nomatch"
    for chunk in matches:
        if chunk.id is None or isinstance(chunk.id, Date):
            module.status = "forbidden"
        else:
            module.graph.remove(chunk.id)


def _write_graph(call: Call, module: Module, chunk: Chunk) -> None:
    """Add a chunk; one that is read-only is ``forbidden``."""
    if chunk.id is not None and not module.graph.may_name(chunk.id):
        raise ActionError(f"'{chunk.id}' is not an identifier.")
    try:
        call.engine.activate(module.graph, module.graph.add(chunk).id)
    except ChunksError:
        module.status = "forbidden"


# Iterations -----------------------------------------------------------------------------------


def for_(call: Call, module: Module) -> None:
    """Load the items of a list one by one ("The @for property")."""
    value = call.values["@for"]
    if isinstance(value, Variable | Negated):
        raise ActionError(f"@for needs a list, and {value} has no value.")
    all_items = items(value)
    first, last = call.values.get("@from", 0), call.values.get("@to", len(all_items) - 1)
    if not (_is_index(first) and _is_index(last)):
        raise ActionError(f"@from and @to are integers from 0 on, not {first} and {last}.")
    contents: list[dict[str, Value]] = [
        {"value": all_items[index], "@index": index}
        for index in range(first, min(last + 1, len(all_items)))
    ]
    of_items = [call.sources.get("@for")] * len(contents)
    module.iterate(_iteration(call, contents, of_items), call.task)


def properties(call: Call, module: Module) -> None:
    """Load the properties of the buffer's chunk one by one ("@do properties")."""
    identifier = _name(call.values.get("@id"))
    chunk = module.buffer if identifier is None else module.graph.get(identifier)
    target_name = str(call.values.get("@to", module.name))
    if target_name not in call.engine.modules:
        raise ActionError(f"There is no module {target_name}.")
    target = call.engine.module(target_name)
    plain = {} if chunk is None else _select(chunk.properties)
    contents: list[dict[str, Value]] = [
        {"name": Name(name), "value": value} for name, value in plain.items()
    ]
    of_items = [] if chunk is None else [chunk.sources.get(name) for name in plain]
    target.iterate(_iteration(call, contents, of_items), call.task)
    if not contents:
        module.status = "nomatch"


def _iteration(
    call: Call, contents: Sequence[dict[str, Value]], of_items: Sequence[frozenset[str] | None]
) -> Iterator[Chunk]:
    """The chunks of an iteration, each with the action's properties and ``@more``."""
    own = {name: value for name, value in call.properties.items() if not _is_open(value)}
    for number, (item, ids) in enumerate(zip(contents, of_items, strict=True), 1):
        sources = {**call.sources, **(dict.fromkeys(item, ids) if ids else {})}
        properties: dict[str, Value] = {**own, **item, "@more": number < len(contents)}
        yield Chunk._make(call.type, properties, None, 0, sources)


def _is_index(value: Value) -> TypeGuard[int]:
    return type(value) is int and value >= 0


# Lists ----------------------------------------------------------------------------------------


def _change_lists(
    properties: dict[str, Value],
    values: dict[str, Value],
    sources: dict[str, frozenset[str]],
    origins: Sources,
) -> None:
    """The list operations of an update, in the order in which they are written."""
    target = _name(values.get("@to"))
    for name, value in values.items():
        if name in ("@pop", "@shift"):
            taken = _take(properties, str(value), -1 if name == "@pop" else 0)
            if taken is not None and target is not None:
                properties[target] = taken
                sources[target] = sources.get(str(value), frozenset())
        elif name in ("@push", "@unshift") and target is not None and not _is_open(value):
            old, new = items(properties.get(target, ())), items(value)
            properties[target] = _value(old + new if name == "@push" else new + old)
            sources[target] = sources.get(target, frozenset()) | origins.get(name, frozenset())


def _take(properties: dict[str, Value], name: str, place: int) -> Value | None:
    """Remove the first or last item of a property and return it ("@pop", "@shift")."""
    left = [*items(properties.get(name, ()))]
    if not left:
        return None
    taken = left.pop(place)
    if left:
        properties[name] = _value(tuple(left))
    else:
        del properties[name]
    return taken


def _value(atoms: tuple[Atom, ...]) -> Value:
    """A list of one item is the item."""
    return atoms[0] if len(atoms) == 1 else atoms


# Tasks ----------------------------------------------------------------------------------------
# A task is started with ``@do task``; every chunk that its rules write belongs to it, until
# ``@do done`` or ``@do fail``. An action with ``@all``, ``@any`` or ``@failed`` waits for tasks.


def start_task(call: Call, module: Module) -> None:
    """Queue a copy of the action's chunk as a new task ("@do task")."""
    tasks = call.engine.tasks
    task = call.values.get("@task")
    name = Name(task) if isinstance(task, str) else tasks.new()
    if isinstance(task, Variable):
        # The actions that follow in the rule use the name.
        call.bindings[task.name] = name
    tasks.outcomes[name] = None
    module.push(_copy(call), call.priority, tag=call.tag, task=name)


def end_task(call: Call, module: Module) -> None:
    """The tasks have ended well ("@do done"), or have failed ("@do fail")."""
    tasks, done = call.engine.tasks, call.name == "done"
    named = call.values.get("@task") or (Name(call.task) if call.task else ())
    ended = [task for task in _texts(named) if tasks.outcomes.get(task, done) is None]
    if not ended:
        module.status = "nomatch"
    for task in ended:
        tasks.end(task, done)


def wait_for_tasks(call: Call, module: Module) -> None:
    """Queue a copy of the action's chunk when all tasks are done, or one is, or one has failed.

    That is what ``@all``, ``@any`` and ``@failed`` ask for.
    """
    tasks, names = call.engine.tasks, _texts(call.values[f"@{call.name}"])
    waiter = Waiter(call.name, names, _copy(call), module, call.priority, call.task)
    tasks.waiters.append(waiter)
    tasks.wake()


def _texts(value: Value | tuple[()]) -> list[str]:
    return [item for item in items(value) if isinstance(item, str)]


def _copy(call: Call) -> Chunk:
    """The chunk of an action, without what is for the engine."""
    properties: dict[str, Value] = {
        name: value
        for name, value in call.values.items()
        if name not in ENGINE_PROPERTIES and not isinstance(value, Variable)
    }
    return Chunk._make(call.type, properties, None, 0, call.sources)


# Chunks as rules, rules as chunks (docs/decisions/070) ------------------------------------------


def compile(call: Call, module: Module) -> None:
    """Copy chunks of the module into the rules ("The @compile property")."""
    copies = _copies(call, module.graph, call.engine.rules)
    if copies is None:
        module.status = "nomatch"
        return
    try:
        call.engine.add_rules(copies)
    except ChunksError:
        module.status = "failed"


def uncompile(call: Call, module: Module) -> None:
    """Copy rules into the module as chunks ("The @uncompile property")."""
    copies = _copies(call, call.engine.rules, module.graph)
    if copies is None:
        module.status = "nomatch"
    for chunk in copies or ():
        module.graph.add(chunk)


def _copies(call: Call, source: ChunkStore, other: ChunkStore) -> list[Chunk] | None:
    """The cited chunks and those that they cite, renamed; None if one is missing."""
    renaming = _renaming(call, source, other)
    if renaming is None:
        return None
    is_compiled = call.name == "compile"
    names = renaming if is_compiled else {new: old for old, new in renaming.items()}
    copies: list[Chunk | None] = []
    for identifier in cited_in(call.values[f"@{call.name}"]):
        root = source.get(identifier)
        if root is None:
            return None
        cited = _renamed(root, names) if is_compiled else root
        parts = (*items(cited.get("@condition", ())), *items(cited.get("@action", ())))
        copies += [root, *map(source.get, cited_in(parts))]
    return None if None in copies else [_renamed(chunk, names) for chunk in copies if chunk]


def _renaming(call: Call, source: ChunkStore, other: ChunkStore) -> dict[str, str] | None:
    """Plain names to reserved ones; empty without a map, None if the map is missing.

    A map may be written in either direction: ``do @do`` or ``@do do``.
    """
    identifier = call.values.get("@map", call.values.get("@unmap"))
    if identifier is None:
        return {}
    chunk = source.get(str(identifier)) or other.get(str(identifier))
    if chunk is None:
        return None
    pairs = ((name, str(value)) for name, value in chunk.properties.items())
    return dict((new, old) if old[0] == "@" != new[0] else (old, new) for old, new in pairs)


def _renamed(chunk: Chunk, names: dict[str, str]) -> Chunk:
    properties = {names.get(name, name): value for name, value in chunk.properties.items()}
    return chunk.with_(properties=properties)


# What an action means -------------------------------------------------------------------------


def _type(call: Call, module: Module) -> Name:
    """The type that an action writes: ``@type``, its own, or for ``*`` that of the buffer."""
    target = _name(call.values.get("@type")) or call.type
    if target != "*":
        return target
    if module.buffer is None:
        raise ActionError(f"The buffer of {module.name} is empty, so * is no type to write.")
    return module.buffer.type


def _name(value: Value | None) -> Name | None:
    return value if isinstance(value, Name) else None


def _is_open(value: Value) -> bool:
    """Whether a value is a variable without a value, or a negation: nothing to write."""
    return isinstance(value, Variable | Negated)


def _overlay(
    properties: dict[str, Value],
    changes: dict[str, Value],
    sources: dict[str, frozenset[str]],
    origins: Sources,
) -> None:
    """Set properties, and what they come from.

    ``!`` removes one, a variable without a value leaves it as it is.
    """
    for name, value in changes.items():
        if not _is_open(value):
            properties[name] = value
            sources.pop(name, None)
            if name in origins:
                sources[name] = origins[name]
        elif isinstance(value, Negated):
            properties.pop(name, None)


def _select(values: Mapping[str, Value], reserved: Collection[str] = ()) -> dict[str, Value]:
    """The plain properties, and these reserved ones."""
    return {name: value for name, value in values.items() if name[0] != "@" or name in reserved}


def _pattern(call: Call) -> Chunk:
    """The chunks that an action looks for."""
    return Chunk._make(call.type, _select(call.values, PATTERN_PROPERTIES), None)


def _recall(call: Call, module: Module, pattern: Chunk) -> list[Chunk]:
    """The matching chunks; with an ``@id`` the type does not count (section "@do get")."""
    if _name(pattern.get("@id")) and "@type" not in pattern:
        pattern = Chunk._make(Name("*"), dict(pattern.properties), None)
    return module.graph.match(pattern)


BuiltIn = Callable[[Call, Module], None]

BUILT_INS: dict[str, BuiltIn] = {
    "update": update,
    "clear": clear,
    "queue": queue,
    "get": get,
    "next": next_,
    "put": put,
    "patch": patch,
    "delete": delete,
    "properties": properties,
    "task": start_task,
    "done": end_task,
    "fail": end_task,
}
"""The operations that ``@do`` names and no application replaces."""

BY_PROPERTY: dict[str, BuiltIn] = {
    "@for": for_,
    "@compile": compile,
    "@uncompile": uncompile,
    "@all": wait_for_tasks,
    "@any": wait_for_tasks,
    "@failed": wait_for_tasks,
}
"""The operations that an action names by a property instead of ``@do``."""
