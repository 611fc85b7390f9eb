"""Dataclasses that take little time to define, for the classes that users do not make.

The standard library compiles up to seven methods for each class: a third of the time of
``import kiprdf``. Here the methods are shared by all classes, and ``__init__`` is compiled when
the first instance is made. To the type checker, both are the same (docs/decisions/244).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        kind: type | None = None,
        /,
        *,
        frozen: bool = False,
        eq: bool = True,
        repr: bool = True,
        slots: bool = False,
        kw_only: bool = False,
    ) -> Any:
        """``dataclasses.dataclass``; only the type checker refuses to change what is frozen.

        >>> @dataclass(frozen=True)
        ... class Place:
        ...     line: int
        ...     column: int = 1
        >>> Place(3), Place(3) == Place(3, 1), {Place(3): "here"}[Place(line=3)]
        (Place(line=3, column=1), True, 'here')
        """

        def defined(kind: type) -> type:
            kind.__doc__ = kind.__doc__ or kind.__name__  # else, one is made of the signature
            made = dataclasses.dataclass(
                init=False, repr=False, eq=False, slots=slots, kw_only=kw_only
            )(kind)
            _add_methods(made, frozen=frozen, eq=eq, repr=repr)
            return made

        return defined if kind is None else defined(kind)


def _add_methods(kind: Any, *, frozen: bool, eq: bool, repr: bool) -> None:
    own, fields = vars(kind), dataclasses.fields(kind)
    if "__init__" not in own:
        kind.__init__ = _first_init(kind)
    if repr and "__repr__" not in own:
        kind.__repr__ = _repr_of([field.name for field in fields if field.repr])
    if eq:
        values = _getter([field.name for field in fields if field.compare])
        if "__eq__" not in own:
            kind.__eq__ = _equality(values)
        if own.get("__hash__") is None:
            kind.__hash__ = _hash_of(values) if frozen else None


def _first_init(kind: Any) -> Callable[..., None]:
    """An ``__init__`` that compiles the one that replaces it."""

    def first(self: Any, *args: Any, **kwargs: Any) -> None:
        kind.__init__ = init = _compiled_init(kind)
        init(self, *args, **kwargs)

    return first


def _compiled_init(kind: Any) -> Callable[..., None]:
    """Assigns the arguments, as the ``__init__`` of the standard library does."""
    positional: list[str] = []
    keyword: list[str] = []
    body: list[str] = []
    names: dict[str, Any] = {"_absent": dataclasses.MISSING}
    for field in dataclasses.fields(kind):
        name, made = field.name, f"make_{field.name}()"
        names[f"default_{name}"], names[f"make_{name}"] = field.default, field.default_factory
        is_made = field.default_factory is not dataclasses.MISSING
        if field.init:
            argument, value = name, name
            if is_made:
                argument, value = f"{name}=_absent", f"{made} if {name} is _absent else {name}"
            elif field.default is not dataclasses.MISSING:
                argument = f"{name}=default_{name}"
            (keyword if field.kw_only else positional).append(argument)
        elif is_made or field.default is not dataclasses.MISSING:
            value = made if is_made else f"default_{name}"
        else:
            continue
        body.append(f"self.{name} = {value}")
    if hasattr(kind, "__post_init__"):
        body.append("self.__post_init__()")
    arguments = ", ".join(["self", *positional, *(["*", *keyword] if keyword else [])])
    exec(f"def __init__({arguments}):\n " + "\n ".join(body or ["pass"]), names)
    init: Callable[..., None] = names["__init__"]
    init.__qualname__ = f"{kind.__qualname__}.__init__"
    return init


def _getter(names: list[str]) -> Callable[[Any], Any]:
    if len(names) == 1:
        names = names * 2  # for a tuple, whose items are equal if they are the same, such as NaN
    return attrgetter(*names) if names else type


def _equality(values: Callable[[Any], Any]) -> Callable[[Any, object], Any]:
    def equal(self: Any, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    return equal


def _hash_of(values: Callable[[Any], Any]) -> Callable[[Any], int]:
    return lambda self: hash(values(self))


def _repr_of(names: list[str]) -> Callable[[Any], str]:
    @recursive_repr()
    def text(self: Any) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({values})"

    return text
