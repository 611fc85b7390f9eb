"""Warnings of a write that looks like a mistake (docs/decisions/238).

A new concept whose name nearly is that of another one, a new attribute whose key nearly is one in
use, a new fact that is stated the other way round. What is compared is kept in memory: of each
type that a statement adds to, the names and the keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from pyoxigraph import Literal, NamedNode

from kiprdf.errors import KipWarning
from kiprdf.kml.draft import Draft, Edit
from kiprdf.kql.entailment import IS_SYMMETRIC
from kiprdf.kql.identities import exists, names_of_type
from kiprdf.language.names import META_TYPES
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Concept, Proposition
from kiprdf.rdf.literals import to_json
from kiprdf.spelling import plain_key
from kiprdf.store import Delta, NexusStore

MOST_EDITS = 50
"""A statement that changes more elements is an import: it is not judged."""
MOST_NOTED = 256
"""After a commit of more elements the names are read again when they are needed."""
MOST_NAMES = 20_000
"""Those of one type that are kept, about 250 bytes each."""
MOST_CANDIDATES = 16
MOST_WARNINGS = 10
EXAMPLES = 100
"""The elements of a type whose keys are read."""
MOST_KEYS = 200
"""Keys of one type that a new one is compared with; of more, some are data."""
MOST_FACTS = 200
"""The facts of a predicate that are read to see whether both directions are usual."""
LONG = 100
"""A longer name is a text."""
SHORT = 3
"""A word of so many letters is near to too many others."""
_DIGITS = str.maketrans("123456789", "0" * 9)
_DIGIT = re.compile("[1-9]")
_ANY_DIGIT = re.compile("[0-9]")
_BETWEEN = "\0"
_NONE = (None,) * 5
_WORD = re.compile(r"[^\W_]+[+#]*")
_ROMAN = re.compile("[ivxlcdm]+")


def is_near(text: str, other: str) -> bool:
    """Whether two texts differ in one character that is added, left out or another one, or in two
    that change places; not within a number, a code or a short word.

    >>> is_near("brithday", "birthday"), is_near("acme inc", "acme inc."), is_near("v1 a", "v2 a")
    (True, True, False)
    >>> is_near("plan a", "plan b"), is_near("pope xxiii", "pope xxii"), is_near("ann", "anna")
    (False, False, False)
    """
    shorter, longer = sorted((text, other), key=len)
    least = len(shorter)
    start = end = 0
    while start < least and shorter[start] == longer[start]:
        start += 1
    while end < least - start and shorter[-1 - end] == longer[-1 - end]:
        end += 1
    changed, by = (one[start : len(one) - end] for one in (shorter, longer))
    if len(by) != 1 and not (len(by) == len(changed) == 2 and by == changed[::-1]):
        return False
    words = [
        "".join(word[0] for word in _WORD.finditer(one) if _touches(word, start, len(one) - end))
        for one in (shorter, longer)
    ]
    if any(map(str.isdigit, "".join(words))) or all(map(_ROMAN.fullmatch, words)):
        return False
    is_within = any(one.isalnum() or one in "+#" for one in changed + by)
    return min(map(len, words if is_within else (shorter, longer))) > SHORT


def _touches(word: re.Match[str], start: int, end: int) -> bool:
    return word.start() <= end and start <= word.end()


def _masked(name: str) -> str:
    """The key of a name without its digits, in which the names of a row differ."""
    key = plain_key(name)
    return key.translate(_DIGITS) if _DIGIT.search(key) else key


class _Names:
    """The names of one type, kept by either half: a change of one letter leaves one as it is."""

    __slots__ = ("_ends", "_names", "_starts")

    def __init__(self, names: Iterable[str]) -> None:
        self._names: dict[str, str] = {}
        """By their keys."""
        self._starts: dict[str, str] = {}
        self._ends: dict[str, str] = {}
        """The keys of a half, one after the other: most have one."""
        for name in names:
            self.add(name)

    def add(self, name: str) -> None:
        key = _masked(name)
        if key not in self._names and len(self._names) < MOST_NAMES:
            half = len(key) // 2
            self._add(name, key, key[:half], key[half:])

    def _add(self, name: str, key: str, start: str, end: str) -> None:
        names, starts, ends = self._names, self._starts, self._ends
        names[key] = name
        starts[start] = _joined(starts[start], key) if start in starts else key
        ends[end] = _joined(ends[end], key) if end in ends else key

    def near(self, name: str, is_added: bool) -> Sequence[str]:
        """The names that are near one, which may be added, or differ from it in their case."""
        key, names = _masked(name), self._names
        if key in names:
            same = _with_digits(names[key], name)
            if same != name and plain_key(same) == plain_key(name):
                return (same,)
            if names[key] != name:  # of a row
                return ()
        size = len(key)
        half = size // 2
        # The half of a name that is a letter shorter, or longer, is one of these, too.
        other = half + 1 if size % 2 else half - 1
        start, end = key[:half], key[half:]
        starts, ends = self._starts, self._ends
        groups = (
            starts.get(start),
            starts.get(key[:other]),
            starts.get(key[: half - 1] + end[:1]),
            ends.get(end),
            ends.get(key[other:]),
        )
        if is_added and key not in names and len(names) < MOST_NAMES:
            self._add(name, key, start, end)
        if groups == _NONE or not SHORT < size <= LONG:
            return ()
        keys = dict.fromkeys(one for group in groups if group for one in group.split(_BETWEEN))
        near = (names[one] for one in keys if _may_be_near(key, one) and is_near(key, one))
        return [_with_digits(one, name) for one in near]


def _with_digits(name: str, other: str) -> str:
    """A name with the digits of another one: of a row of names, one is kept."""
    digits = iter(_ANY_DIGIT.findall(other))
    return _ANY_DIGIT.sub(lambda match: next(digits, match[0]), name)


def _joined(keys: str, key: str) -> str:
    """Keys and one more, unless these are many."""
    return f"{keys}{_BETWEEN}{key}" if keys.count(_BETWEEN) < MOST_CANDIDATES else keys


def _may_be_near(key: str, other: str) -> bool:
    """Whether two keys have the same end and the same beginning, but for two letters of one."""
    size = len(key) - 2
    return -2 < len(key) - len(other) < 2 and (
        (key[0] == other[0] and (key[-1] == other[-1] or key[:size] == other[:size]))
        or key[-size:] == other[-size:]
    )


class LikelyMistakes:
    """What the statements that one nexus gets are compared with."""

    def __init__(self, store: NexusStore) -> None:
        self._store = store
        self._is_near = store.abilities.lookups
        self._names: dict[str, _Names] = {}
        self._keys: dict[str, set[str]] = {}

    def expire(self) -> None:
        """Forget what is known: a commit may have changed much."""
        self._names, self._keys = {}, {}

    def note(self, delta: Delta) -> None:
        """Take the names and keys of a commit that was not judged, of types that are known."""
        if not len(delta.elements) == len(delta.touched) <= MOST_NOTED:
            self.expire()
        elif self._names or self._keys:
            for element in delta.elements:
                if isinstance(element, Concept):
                    names, keys = self._names.get(element.type), self._keys.get(element.type)
                    if names is not None:
                        names.add(element.name)
                    if keys is not None:
                        keys.update(element.attributes)

    def judges(self, draft: Draft) -> bool:
        """Whether a draft is judged, and what it writes noted at once."""
        return self._is_near and len(draft.edits) <= MOST_EDITS

    def warnings(self, draft: Draft, *, is_written: bool) -> tuple[KipWarning, ...]:
        """What looks like a mistake in a draft that the store does not have yet.

        One that ``is_written`` is there when its hints are read.
        """
        if not self.judges(draft):
            return ()
        warnings: list[KipWarning] = []
        for edit in draft.edits.values():
            element, before = edit.after, edit.before
            if isinstance(element, Concept):
                if before is None:
                    names = self._names.get(element.type)
                    if names is None:
                        given = names_of_type(element.type, self._store)
                        names = self._names[element.type] = _Names(given)
                    if near := names.near(element.name, is_written):
                        warnings += self._near_names(element, near, draft, is_written)
                keys = self._keys.get(element.type)
                if keys is None or not keys.issuperset(element.attributes):
                    warnings += self._near_keys(element, edit, is_written)
            elif before is None and self._is_reversed(element, draft):
                warnings += self._reversed(element, draft, is_written)
        if len(warnings) > MOST_WARNINGS:
            more = f"There are {len(warnings) - MOST_WARNINGS} more such warnings."
            warnings[MOST_WARNINGS:] = [KipWarning("MoreWarnings", more)]
        return tuple(warnings)

    # Names ------------------------------------------------------------------------------------

    def _near_names(
        self, new: Concept, near: Iterable[str], draft: Draft, is_written: bool
    ) -> Iterator[KipWarning]:
        """A warning of the first name that is near a new one, and still there."""
        nodes = {name: self._store.iris.concept(new.type, name) for name in near}
        for name, node in nodes.items():
            if node not in draft.deleted and exists(node, self._store):
                yield self._near_name(new, name, is_written)
                return

    @staticmethod
    def _near_name(new: Concept, name: str, is_written: bool) -> KipWarning:
        this, other = _matcher(new.type, new.name), _matcher(new.type, name)
        hint = f"If {other} is meant, write that."
        # A command is between backticks, and names may have some.
        is_shown = is_written and "`" not in this + other
        if is_shown and new.type in META_TYPES:
            command = f"DELETE CONCEPT ?new DETACH WHERE {{ ?new {this} }}"
            hint = f"If {other} is meant, write that, and delete this one: `{command}`."
        elif is_shown:
            command = f"MERGE CONCEPT ?new INTO ?old WHERE {{ ?new {this} ?old {other} }}"
            hint = f"If the two are the same, merge them: `{command}`. If not, leave them."
        return KipWarning("NearName", f"{this} is new, and there is {other}.", hint)

    # Keys -------------------------------------------------------------------------------------

    def _near_keys(self, element: Concept, edit: Edit, is_written: bool) -> Iterator[KipWarning]:
        used = self._keys.get(element.type)
        if used is None:
            used = self._keys[element.type] = self._keys_of(element.type)
        before = () if edit.before is None else edit.before.attributes
        new = [key for key in element.attributes if key not in used and key not in before]
        warned = set()
        for key in new:
            if len(used) > MOST_KEYS or self._lookup(None, vocab.attribute(key)):
                continue
            plain = plain_key(key)
            near = (
                one for one in tuple(used) if (of := plain_key(one)) == plain or is_near(of, plain)
            )
            other = min(near, default=None)
            if other is None:
                continue
            warned.add(key)
            this = _matcher(element.type, element.name)
            message = f"The attribute '{key}' of {this} is new; its type has '{other}'."
            hint = f"If '{other}' is meant, write that."
            if is_written and "`" not in this:
                command = f"DELETE ATTRIBUTES {{{_text(key)}}} FROM ?x WHERE {{ ?x {this} }}"
                hint = f"If '{other}' is meant, write that, and delete this one: `{command}`."
            yield KipWarning("NearKey", message, hint)
        if is_written:
            used.update(element.attributes.keys() - warned)

    def _keys_of(self, type: str) -> set[str]:
        """The keys that some concepts of a type have, and those that its definition names."""
        store, node = self._store, self._store.iris.type(type)
        schema = self._value(node, "instance_schema")
        keys = set(schema) if isinstance(schema, dict) else set()
        for row in store.lookup(None, vocab.TYPE, node, EXAMPLES):
            for statement in store.statements(cast(NamedNode, row.subject)):
                iri = statement.predicate.value
                if iri.startswith(vocab.ATTRIBUTE):
                    keys.add(iri.removeprefix(vocab.ATTRIBUTE))
        return keys

    # Facts ------------------------------------------------------------------------------------

    def _is_reversed(self, new: Proposition, draft: Draft) -> bool:
        """Whether the store has a new fact the other way round."""
        for end in (new.subject, new.object):
            edit = draft.edits.get(end)
            if edit is not None and edit.before is None:
                return False
        return self._lookup(new.object, self._store.iris.predicate(new.predicate), new.subject)

    def _reversed(self, new: Proposition, draft: Draft, is_written: bool) -> Iterator[KipWarning]:
        old = draft.find_link(new.object, new.predicate, new.subject)
        predicate = self._store.iris.predicate(new.predicate)
        if old is None or self._lookup(old, NamedNode(vocab.METADATA + "superseded")):
            return
        if self._value(predicate, IS_SYMMETRIC) is True or self._are_both_usual(predicate, new):
            return
        name = _text(new.predicate)
        this, other = draft.shown_id(new.node), draft.shown_id(old)
        message = f"{this} is new, and {other} states {name} the other way round."
        hint = "If only one of the two is right, leave the other out."
        if is_written:
            command = f"DELETE PROPOSITIONS ?new WHERE {{ ?new (id: {_text(this)}) }}"
            matcher = _matcher("$PropositionType", new.predicate)
            both = f"UPSERT {{ CONCEPT {{ {matcher} SET ATTRIBUTES {{is_symmetric: true}} }} }}"
            hint = f"If it is wrong, delete it: `{command}`. If {name} always holds both ways, say "
            hint += f"so: `{both}`."
        yield KipWarning("ReversedFact", message, hint)

    def _are_both_usual(self, predicate: NamedNode, new: Proposition) -> bool:
        """Whether most other pairs of a predicate are stated both ways."""
        ends = {new.subject, new.object}
        rows = self._store.lookup(None, predicate, None, MOST_FACTS)
        pairs = {frozenset((row.subject, row.object)): row for row in rows}
        others = [row for pair, row in pairs.items() if pair != ends]
        both = [row for row in others if self._lookup(row.object, predicate, row.subject)]
        return 2 * len(both) > len(others)

    # The store --------------------------------------------------------------------------------

    def _lookup(self, subject: Any, predicate: NamedNode, object: Any = None) -> bool:
        return bool(self._store.lookup(subject, predicate, object, 1))

    def _value(self, node: NamedNode, key: str) -> Any:
        """The value of an attribute of a definition."""
        rows = self._store.lookup(node, vocab.attribute(key), None, 1)
        return to_json(cast(Literal, rows[0].object)) if rows else None


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _matcher(type: str, name: str) -> str:
    return f"{{type: {_text(type)}, name: {_text(name)}}}"
