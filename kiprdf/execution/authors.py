"""The names of principals, which nobody else may give as ``metadata.author`` (KIP_3004).

A principal is one that a file in use lists, or that has written to this nexus: a record in the
bookkeeping graph notes it at its first commit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from kiprdf.actors import KINDS, Actor
from kiprdf.errors import KipError, shown
from kiprdf.kml.draft import Draft
from kiprdf.principals import Principal
from kiprdf.rdf.literals import Json, is_same, to_json
from kiprdf.semantics.protected import ACTORS
from kiprdf.source import Span
from kiprdf.spelling import keys_of_name

AUTHOR = "author"
RECORD = "principal/"
"""What the keys of the records begin with; a kind is the value."""
_OF_ALL = frozenset(name for _, name in ACTORS)
"""The names that every agent gives itself."""
_LABELS = tuple(f"{kind}/" for kind in KINDS)


class Names:
    """The names of the principals of a nexus, which ``records`` notes and ``listed`` lists."""

    def __init__(self, records: Mapping[str, str]) -> None:
        names = (key.removeprefix(RECORD) for key in records if key.startswith(RECORD))
        self._noted = set(names)
        self.listed: Callable[[], Sequence[Principal]] = tuple
        self._keys: tuple[Sequence[Principal], int, dict[str, str]] = ((), 0, {})

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

        The owner may, and so may whoever leaves the author as it is.
        """
        actor = draft.actor
        if actor.author is None:
            return
        for node, edit in draft.edits.items():
            after = edit.after.metadata.get(AUTHOR)
            before = None if edit.before is None else edit.before.metadata.get(AUTHOR)
            if after is None or after is before or node in draft.deleted or is_same(before, after):
                continue
            for text in _texts(to_json(after)):
                other = self._other(text, actor)
                if other is not None:
                    message = f"The author {shown(text)!r} is another principal, {other!r:.60}."
                    hint = "Leave the author out, or give your own name; _actor says who wrote it."
                    raise KipError("KIP_3004", message, hint, draft.spans.get(node, span))

    def _other(self, text: str, actor: Actor) -> str | None:
        """The principal that a text names, if that is neither the actor nor who proposed it."""
        keys = self._names_by_key()
        own = {*_keys(actor.author or ""), *_keys(actor.proposer or "")}
        named = (keys[key] for key in _keys(text) if key not in own and key in keys)
        return next(named, None)

    def _names_by_key(self) -> dict[str, str]:
        """The names by their keys."""
        listed = self.listed()
        if self._keys[0] is not listed or self._keys[1] != len(self._noted):
            names = [*self._noted, *(principal.name for principal in listed)]
            keys = {key: name for name in names if name not in _OF_ALL for key in _keys(name)}
            self._keys = listed, len(self._noted), keys
        return self._keys[2]


def _keys(text: str) -> Iterator[str]:
    """The keys of a name, also of one after a kind, as in the label of an actor."""
    yield from keys_of_name(text)
    for label in _LABELS:
        if text.casefold().startswith(label):
            yield from keys_of_name(text[len(label) :])


def _texts(value: Json) -> Iterator[str]:
    """The texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
