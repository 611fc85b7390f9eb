"""The names of principals, which nobody else may give as ``metadata.author`` (KIP_3004).

A principal is one that a file in use lists, or that has written to this nexus: a record in the
bookkeeping graph notes it at its first commit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from kiprdf.actors import KINDS, OWNER, Actor
from kiprdf.errors import KipError
from kiprdf.kml.draft import Draft
from kiprdf.rdf.elements import Term
from kiprdf.rdf.literals import Json, is_same, to_json
from kiprdf.semantics.protected import ACTORS
from kiprdf.source import Span
from kiprdf.spelling import key_of_name, keys_of_name

if TYPE_CHECKING:
    from kiprdf.principals import Principal

AUTHOR = "author"
RECORD = "principal/"
"""What the keys of the records begin with; a kind is the value."""
_OWNER = OWNER.signature.partition("/")[2]
"""The name of the owner, whom no record notes."""
_OF_ALL = frozenset(name for _, name in ACTORS)
"""The names that every agent gives itself."""


class PrincipalNames:
    """The names of the principals of a nexus, which ``records`` notes and ``listed`` lists."""

    def __init__(self, records: Mapping[str, str]) -> None:
        names = (key.removeprefix(RECORD) for key in records if key.startswith(RECORD))
        self._noted = set(names)
        self.listed: Callable[[], Sequence[Principal]] = tuple
        self._current = _Current((), -1, {})

    def new(self, actor: Actor) -> dict[str, str]:
        """The record of an actor who writes for the first time."""
        if actor.author is None or actor.author in self._noted:
            return {}
        return {RECORD + actor.author: actor.kind}

    def note(self, records: Mapping[str, str]) -> None:
        """Note the records that were written."""
        self._noted.update(key.removeprefix(RECORD) for key in records)

    def check(self, draft: Draft, span: Span) -> None:
        """Raise KIP_3004 if a draft gives the name of another principal as an author.

        The owner may. Others may leave the author as it is, but not give it with what they change.
        """
        actor = draft.actor
        if actor.author is None:
            return
        names = self._names()
        last: Term | None = None
        for node, edit in draft.edits.items():
            after = edit.after.metadata.get(AUTHOR)
            # The elements of a block have one term, which is looked up once.
            if after is None or after is last or node in draft.deleted:
                continue
            before = None if edit.before is None else edit.before.metadata.get(AUTHOR)
            # Who says again what is there, and changes something else, says it of that.
            is_there = before is not None and is_same(before, after)
            if after is before or (is_there and not edit.changed):
                continue
            other = _other(names, after, actor.author, actor.proposer)
            if other is not None:
                message = f"The author names another principal, {other!r:.60}."
                hint = "Leave the author out, or give your own name; _actor says who wrote it."
                raise KipError("KIP_3004", message, hint, draft.spans.get(node, span))
            last = after

    def _names(self) -> dict[str, str]:
        """The names by their keys."""
        listed, number, keys = self._current
        if listed is not self.listed() or number != len(self._noted):
            listed, number = self.listed(), len(self._noted)
            names = [_OWNER, *self._noted, *(principal.name for principal in listed)]
            keys = {key: name for name in names if name not in _OF_ALL for key in _keys(name)}
            self._current = _Current(listed, number, keys)
        return keys


class _Current(NamedTuple):
    """The names that were read, and what they were read from."""

    listed: Sequence[Principal]
    number: int
    keys: dict[str, str]


def _other(names: Mapping[str, str], author: Term, writer: str, proposer: str | None) -> str | None:
    """The principal whom an author names, if that is neither the writer nor who proposed it."""
    own = {*_keys(writer), *_keys(proposer or "")}
    keys = (key for text in _texts(to_json(author)) for key in _keys(text) if key not in own)
    return next((names[key] for key in keys if key in names), None)


def _keys(text: str) -> Iterator[str]:
    """The keys of a name, also of one after a kind, as in the label of an actor."""
    for key in keys_of_name(text):
        yield key
        kind, slash, name = key.partition("/")
        while slash and kind.strip() in _kinds():
            yield name.strip()
            kind, slash, name = name.partition("/")


@cache
def _kinds() -> frozenset[str]:
    return frozenset(map(key_of_name, KINDS))


def _texts(value: Json) -> Iterator[str]:
    """The texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
