"""Walks trees of dataclasses and tuples, and rebuilds them: syntax trees and algebra.

What a node is not compared by, such as its span, is not a part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from operator import attrgetter
from typing import Any


@cache
def field_names(kind: type) -> tuple[str, ...]:
    """The names of the parts of a kind of node; none for what is no node."""
    compared = fields(kind) if is_dataclass(kind) else ()
    return tuple([field.name for field in compared if field.compare])


class _Getters(dict[type, Callable[[Any], tuple[Any, ...]] | None]):
    """What reads all parts of a kind of node at once; None for what has no parts."""

    def __missing__(self, kind: type) -> Callable[[Any], tuple[Any, ...]] | None:
        names = field_names(kind)
        if len(names) > 1:
            self[kind] = attrgetter(*names)
        else:
            # Of one name, ``attrgetter`` returns no tuple.
            self[kind] = (lambda node: (getattr(node, names[0]),)) if names else None
        return self[kind]


_getters = _Getters({tuple: tuple})


def parts(node: Any) -> tuple[Any, ...]:
    """What a node or a tuple directly consists of; nothing for anything else.

    >>> parts(("a", ("b",))), parts("a")
    (('a', ('b',)), ())
    """
    get = _getters[type(node)]
    return () if get is None else get(node)


def walk(node: Any) -> Iterator[Any]:
    """A node and everything in it, each before its parts.

    >>> list(walk(("a", ("b", "c"))))
    [('a', ('b', 'c')), 'a', ('b', 'c'), 'b', 'c']
    """
    pending = [node]
    while pending:
        part = pending.pop()
        yield part
        get = _getters[type(part)]
        if get is not None:
            pending += get(part)[::-1]


def replaced(node: Any, function: Callable[[Any], Any]) -> Any:
    """A node with each part that a function returns another one for replaced by it.

    Shares what does not change.

    >>> replaced(("a", ("b", "c")), lambda part: "d" if part == "b" else part)
    ('a', ('d', 'c'))
    """
    new = function(node)
    if new is not node:
        return new
    old = parts(node)
    changed = [replaced(part, function) for part in old]
    if all(map(lambda one, other: one is other, old, changed)):
        return node
    if isinstance(node, tuple):
        return tuple(changed)
    kind: type = type(node)
    return replace(node, **dict(zip(field_names(kind), changed, strict=True)))
