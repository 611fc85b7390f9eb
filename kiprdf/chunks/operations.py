"""The built-in operations, one function each, and the properties that change a list.

Each gets its call and the module of its action; the status is ``okay`` unless it sets another.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kiprdf.chunks import compiling, tasks
from kiprdf.chunks.calls import ActionError, Call
from kiprdf.chunks.graph import Graph
from kiprdf.chunks.model import (
    Atom,
    Chunk,
    ChunksError,
    Date,
    Name,
    Negated,
    Value,
    Variable,
    is_name,
)

if TYPE_CHECKING:
    from kiprdf.chunks.module import Module

LINK_PROPERTIES = ("@context", "@subject", "@object")
"""The ``@`` properties that belong to a chunk, and are saved and queued with it."""
PATTERN_PROPERTIES = (*LINK_PROPERTIES, "@id", "@type", "@kindof", "@index", "@more")
"""The ``@`` properties by which a chunk is looked for."""


# The buffer -----------------------------------------------------------------------------------


def update(call: Call, module: Module) -> None:
    """Set properties of the buffer's chunk, or start a chunk of another type ("@do update")."""
    before, target = module.buffer, _type(call, module)
    same = before is not None and before.type == target
    properties = dict(before.properties) if before is not None and same else {}
    _overlay(properties, call.properties)
    _change_lists(properties, call.values)
    identifier = _name(call.values.get("@id")) or (
        before.id if before is not None and same else None
    )
    module.write(Chunk._make(target, properties, identifier), call.task)


def clear(call: Call, module: Module) -> None:
    """Empty the buffer and take the next chunk of the queue ("@do clear")."""
    module.clear()


def queue(call: Call, module: Module) -> None:
    """Push the action's chunk to the queue ("@do queue")."""
    properties: dict[str, Value] = {}
    _overlay(properties, _select(call.values, LINK_PROPERTIES))
    chunk = Chunk._make(_type(call, module), properties, _name(call.values.get("@id")))
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
    properties: dict[str, Value] = {}
    if module.buffer is not None and module.buffer.type == target:
        _overlay(properties, _select(module.buffer.properties, LINK_PROPERTIES))
    _overlay(properties, _select(call.values, LINK_PROPERTIES))
    _write_graph(call, module, Chunk._make(target, properties, _name(call.values.get("@id"))))


def patch(call: Call, module: Module) -> None:
    """Change the graph's chunk that has the buffer's id ("@do patch")."""
    buffer = module.buffer
    identifier = _name(call.values.get("@id")) or (buffer.id if buffer is not None else None)
    saved = module.graph.get(identifier) if identifier is not None else None
    if saved is None or buffer is None:
        module.status = "nomatch"
        return
    properties = dict(saved.properties)
    _overlay(properties, _select(buffer.properties))
    _overlay(properties, call.properties)
    _write_graph(call, module, Chunk._make(saved.type, properties, saved.id))


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
    if isinstance(module.graph, Graph) and chunk.id is not None and not is_name(chunk.id):
        raise ActionError(f"'{chunk.id}' is not an identifier.")
    try:
        call.engine.activate(module.graph, module.graph.add(chunk))
    except ChunksError:
        module.status = "forbidden"


# Iterations -----------------------------------------------------------------------------------


def for_(call: Call, module: Module) -> None:
    """Load the items of a list one by one ("The @for property")."""
    value = call.values["@for"]
    if isinstance(value, Variable | Negated):
        raise ActionError(f"@for needs a list, and {value} has no value.")
    items = value if isinstance(value, tuple) else (value,)
    first, last = call.values.get("@from", 0), call.values.get("@to", len(items) - 1)
    if not (_is_index(first) and _is_index(last)):
        raise ActionError(f"@from and @to are integers from 0 on, not {first} and {last}.")
    indices = range(first, min(last + 1, len(items)))  # type: ignore[arg-type, operator]
    contents: list[dict[str, Value]] = [
        {"value": items[index], "@index": index} for index in indices
    ]
    module.iterate(_items(call, contents), call.task)


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
    target.iterate(_items(call, contents), call.task)
    if not contents:
        module.status = "nomatch"


def _items(call: Call, items: Sequence[dict[str, Value]]) -> Iterator[Chunk]:
    """The chunks of an iteration, each with the action's properties and ``@more``."""
    own = {name: value for name, value in call.properties.items() if not _is_open(value)}
    for number, item in enumerate(items, 1):
        yield Chunk._make(call.type, {**own, **item, "@more": number < len(items)}, None)


def _is_index(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


# Lists ----------------------------------------------------------------------------------------


def _change_lists(properties: dict[str, Value], values: dict[str, Value]) -> None:
    """The list operations of an update, in the order in which they are written."""
    target = _name(values.get("@to"))
    for name, value in values.items():
        if name in ("@pop", "@shift"):
            taken = _take(properties, str(value), -1 if name == "@pop" else 0)
            if taken is not None and target is not None:
                properties[target] = taken
        elif name in ("@push", "@unshift") and target is not None and not _is_open(value):
            old, new = _list(properties.get(target)), _list(value)
            items = old + new if name == "@push" else new + old
            properties[target] = _value(items)


def _take(properties: dict[str, Value], name: str, place: int) -> Value | None:
    """Remove the first or last item of a property and return it ("@pop", "@shift")."""
    items = [*_list(properties.get(name))]
    if not items:
        return None
    taken = items.pop(place)
    if items:
        properties[name] = _value(tuple(items))
    else:
        del properties[name]
    return taken


def _list(value: Value | None) -> tuple[Atom, ...]:
    if value is None:
        return ()
    return value if isinstance(value, tuple) else (value,)


def _value(items: tuple[Atom, ...]) -> Value:
    """A list of one item is the item."""
    return items[0] if len(items) == 1 else items


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


def _overlay(properties: dict[str, Value], changes: dict[str, Value]) -> None:
    """Set properties; ``!`` removes one, a variable without a value leaves it as it is."""
    for name, value in changes.items():
        if not _is_open(value):
            properties[name] = value
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
    matches: list[Chunk] = module.graph.match(pattern)
    return matches


BuiltIn = Callable[[Call, "Module"], None]

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
    "task": tasks.start,
    "done": tasks.done,
    "fail": tasks.fail,
}
"""The operations that ``@do`` names and no application replaces."""

BY_PROPERTY: dict[str, BuiltIn] = {
    "@for": for_,
    "@compile": compiling.compile,
    "@uncompile": compiling.uncompile,
    "@all": tasks.when_all,
    "@any": tasks.when_any,
    "@failed": tasks.when_failed,
}
"""The operations that an action names by a property instead of ``@do``."""
