"""Checks the arguments of methods."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from kiprdf.actors import ACCESSES
from kiprdf.actors import KINDS as KINDS_OF_ACTORS
from kiprdf.errors import KipError, shown
from kiprdf.interchange.formats import check_format, check_profile
from kiprdf.language.parameters import check_json
from kiprdf.language.values import LONE_SURROGATE
from kiprdf.loading import Lazy
from kiprdf.search.embedders import Embedder, require_numpy

if TYPE_CHECKING:
    from kiprdf.interchange.mapping import contexts
    from kiprdf.store.journal import Sync

    MappingSource: TypeAlias = contexts.Mapping | contexts.ContextJson | str | os.PathLike[str]
    MappingSources: TypeAlias = MappingSource | Sequence[MappingSource] | None
else:
    contexts = Lazy("kiprdf.interchange.mapping.contexts")


class _Kind(NamedTuple):
    """What an argument may be."""

    fits: Callable[[Any], bool]
    words: str
    is_optional: bool = True


def _is_metadata(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    try:
        check_json(value)
    except KipError as error:
        if error.code == "KIP_4002":
            raise
        return False
    return True


def _is_path(value: Any) -> bool:
    return isinstance(value, str | os.PathLike) and not LONE_SURROGATE.search(str(value))


def _is_target(value: Any) -> bool:
    return _is_path(value) or hasattr(value, "write")


def _is_binary(value: Any) -> bool:
    return _is_target(value) and not isinstance(value, io.TextIOBase)


def _is_entail(value: Any) -> bool:
    return isinstance(value, bool) or (isinstance(value, str) and value == "same_as")


def _is_format(value: Any) -> bool:
    check_format(value)
    return True


def _is_profile(value: Any) -> bool:
    check_profile(value)
    return True


_TEXT = _Kind(lambda value: isinstance(value, str), "a string")
_NAME = _Kind(lambda value: isinstance(value, str) and bool(value.strip()), "a name")
_SWITCH = _Kind(lambda value: isinstance(value, bool), "True or False", is_optional=False)
_CALLABLE = _Kind(callable, "a function")


def _one_of(values: Sequence[str], is_optional: bool = True) -> _Kind:
    quoted = [f'"{value}"' for value in values]
    words = f"{', '.join(quoted[:-1])} or {quoted[-1]}"
    return _Kind(lambda value: value in values, words, is_optional)


KINDS = {
    "target": _Kind(_is_target, "a path or an open file"),
    "log": _Kind(_is_path, "a path"),
    "folder": _Kind(_is_path, "a path", is_optional=False),
    **dict.fromkeys(
        ("domain", "select", "title", "address", "default_type", "language", "base_iri"), _TEXT
    ),
    **dict.fromkeys(("description", "publisher", "license", "session", "selection"), _TEXT),
    **dict.fromkeys(("author", "source"), _NAME),
    "only": _Kind(lambda value: value == "imported", '"imported"'),
    "kind": _one_of(KINDS_OF_ACTORS),
    "access": _one_of(ACCESSES),
    "sync": _one_of(("normal", "full"), is_optional=False),
    "facts": _one_of(("pages", "inline")),
    "names": _one_of(("local", "label")),
    **dict.fromkeys(
        (
            "engine_metadata",
            "define",
            "history",
            "inherit",
            "dry_run",
            "link_ids",
            "intervals",
            "strict",
            "lenient",
            "replace",
            "ontology",
        ),
        _SWITCH,
    ),
    **dict.fromkeys(("derived", "check"), _SWITCH),
    "on_violation": _one_of(("refuse", "propose"), is_optional=False),
    "strict_schema": _Kind(lambda value: isinstance(value, bool), "True or False"),
    "entail": _Kind(_is_entail, 'True, False or "same_as"'),
    **dict.fromkeys(("advance", "loader"), _CALLABLE),
    "binary": _Kind(_is_binary, "a path or a file that is open in binary", is_optional=False),
    "metadata": _Kind(_is_metadata, "an object of JSON"),
    "format": _Kind(_is_format, "the name of a format"),
    "profile": _Kind(_is_profile, "a profile", False),
}


def check_opening(
    strict_schema: bool | None, embedder: Embedder | None, entail: object = None
) -> None:
    """Refuse arguments before a folder is created or a store is asked."""
    check(strict_schema=strict_schema, entail=entail)
    if embedder is not None:
        require_numpy()


def check_sync(sync: Sync, history: bool) -> None:
    """Raise KIP_1001 for another value, and for ``"full"`` without a history to put on disk."""
    check(sync=sync)
    if sync == "full" and not history:
        message = 'sync="full" puts each record of the history on the disk, and there is none.'
        raise KipError("KIP_1001", message, 'Leave history=False out, or sync="full".')


def check(**arguments: Any) -> None:
    """Raise KIP_1001 for an argument of the wrong type; arguments are given by name.

    >>> check(title="Medicine", format="turtle")
    >>> check(title=5)
    Traceback (most recent call last):
    kiprdf.errors.KipError: KIP_1001 The argument title is a string, not int. Hint: ...
    """
    for name, value in arguments.items():
        if value is not None or not KINDS[name].is_optional:
            _check(name, value, KINDS[name])


def check_names(parameters: Mapping[str, Any], arguments: Container[str]) -> None:
    """Raise KIP_1001 for a parameter of a command with the name of an argument of its method."""
    for name in parameters:
        if name in arguments:
            message = f"A parameter of this command cannot be called {name!r}."
            raise KipError("KIP_1001", message, f"Give :{name} another name in the command.")


def _check(name: str, value: Any, kind: _Kind) -> None:
    if not kind.fits(value):
        given = shown(repr(value)) if isinstance(value, str) else type(value).__name__
        message = f"The argument {name} is {kind.words}, not {given}."
        hint = f"Leave {name} out, or give {kind.words}."
        raise KipError("KIP_1001", message, hint if kind.is_optional else f"Give {kind.words}.")
    if isinstance(value, str) and LONE_SURROGATE.search(value) and kind in (_TEXT, _NAME):
        message = f"The argument {name} contains a lone surrogate, which is not a character."
        raise KipError("KIP_1001", message, "Write astral characters as they are.")


def mapping_of(sources: MappingSources) -> contexts.Mapping | None:
    """The mapping for the argument ``mapping``; several are stacked."""
    if sources is None or isinstance(sources, contexts.Mapping):
        return sources
    return contexts.Mapping.load(*(sources if isinstance(sources, list | tuple) else (sources,)))
