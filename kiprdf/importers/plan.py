"""The plan of an import from another tool: rows for ``Nexus.load``, and what is lost."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias, cast

from kiprdf.errors import KipError
from kiprdf.importers import earlier
from kiprdf.interchange import files
from kiprdf.interchange.importing.names import from_label
from kiprdf.language import limits
from kiprdf.language.names import META_TYPES, is_key, name_fault, without_outer_blanks
from kiprdf.language.values import LONE_SURROGATE
from kiprdf.memory import Memory, notes, texts
from kiprdf.memory.graph import ITEM
from kiprdf.memory.items import Item
from kiprdf.nexus import Nexus
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import to_term
from kiprdf.semantics.protected import ACTORS, REJECTION, SYSTEM

End: TypeAlias = tuple[Any, ...]
"""Type and name of a concept; or subject, predicate and object of a proposition."""
MOST_BYTES = 4 << 20
"""The most bytes of a note: its end is one value, which the engine reads as one line."""
SHOWN = 200
"""The most characters of what a report shows of a lost item."""
_DEEPEST = limits.NESTING - 2
"""Where a nested value becomes a text: pieces of a long one are one level more."""
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_INTEGERS = range(-(2**63), 2**63)


@dataclass
class Plan:
    """What a memory of another tool becomes in a nexus; nothing is written before ``apply``.

    ``concepts`` and ``propositions`` are rows of ``Nexus.load``. ``types`` and ``predicates`` have
    the descriptions of those that ``apply`` defines where the nexus lacks them. ``skipped`` lists
    what is left out, each with ``item`` and ``reason``; ``warnings`` what users may not expect.
    All that is written has ``source`` in its metadata. ``has_titles`` if the names of notes are
    titles, which notes of other sources may have, too.
    """

    format: str
    source: str
    has_titles: bool = False
    concepts: list[dict[str, Any]] = field(default_factory=list)
    propositions: list[dict[str, Any]] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)
    predicates: dict[str, str] = field(default_factory=dict)
    skipped: list[dict[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    _warned: set[str] = field(default_factory=set, repr=False)
    _texts_of: dict[tuple[str, str], str] = field(default_factory=dict, repr=False)
    """What is written under a spelling, by its kind: another text gets another spelling."""

    def add_concept(
        self,
        type: str,
        name: str,
        attributes: Mapping[str, Any] | None = None,
        *,
        original_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> tuple[str, str]:
        """Add a concept, and return its type and name as KIP spells them (KIP 2.8).

        What had to be spelled otherwise is kept in the attributes ``original_type`` and
        ``original_name``; so is the name of what belongs to every nexus, such as ``$self``, which
        is another one there. Values that are None are left out.
        """
        own_type = self.type(type)
        called = self._apart(f"name of {own_type}", name, usable_name(name))
        if (own_type, called) in (*SYSTEM, *ACTORS):
            self.warn(
                f"{called!r} is another {own_type} here: it is called '{called} ({self.format})'."
            )
            called = self._apart(f"name of {own_type}", name, f"{called} ({self.format})")
        given = dict(attributes or {})
        if own_type != type:
            given["original_type"] = type
        if called != name:
            given["original_name"] = name
        own = {} if original_id is None else {"original_id": original_id}
        self.concepts.append(
            {
                "type": own_type,
                "name": called,
                "attributes": self._values(given, called),
                "metadata": self._values({**own, **(metadata or {})}, called),
            }
        )
        return own_type, called

    def add_proposition(
        self,
        subject: End,
        predicate: str,
        object: End,
        attributes: Mapping[str, Any] | None = None,
        *,
        original_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> tuple[End, str, End]:
        """Add a proposition, and return it as an end of others; its own ends are what
        ``add_concept`` or this method returned.

        A predicate that had to be spelled otherwise is kept as ``original_predicate``.
        """
        link = self.predicate(predicate)
        given = dict(attributes or {})
        if link != predicate:
            given["original_predicate"] = predicate
        own = {} if original_id is None else {"original_id": original_id}
        self.propositions.append(
            {
                "subject": subject,
                "predicate": link,
                "object": object,
                "attributes": self._values(given, link),
                "metadata": self._values({**own, **(metadata or {})}, link),
            }
        )
        return subject, link, object

    def add_note(
        self,
        content: str,
        *,
        id: str,
        timestamp: object = None,
        attributes: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        turn: int | None = None,
        **options: Any,
    ) -> tuple[str, str]:
        """Add a text that ``Memory.recall`` finds, and return its type and name.

        ``id`` is that of the other tool; ``options`` are ``tags``, ``session``, ``speaker`` and
        ``role`` as ``Memory.add`` takes them. ``attributes`` and ``metadata`` are kept beside them.
        A note without a timestamp keeps none. Raises ``ValueError`` for what is no note: an empty
        text, one of more than 4 MiB, a timestamp that is no time.
        """
        if len(content.encode("utf-8", "replace")) > MOST_BYTES:
            raise ValueError(f"The text has more than {MOST_BYTES >> 20} MiB.")
        name = self._apart(f"name of {ITEM}", id, usable_name(id))
        item: Item = notes.note(texts.now, content, id=name, timestamp=timestamp, **options).item
        if turn is not None or not timestamp:
            item = replace(item, turn=turn, timestamp=item.timestamp if timestamp else "")
        given = dict(attributes or {})
        for key in [key for key in given if key in texts.KEYS and given[key] is not None]:
            own = keep_apart(given, key, given.pop(key))
            self.warn(f"The key {key!r} of a note is written as {own!r}.")
        values = {**given, **texts.attributes(item)}
        self.types.setdefault(ITEM, "A stored text of the agent's memory.")
        return self.add_concept(ITEM, id, values, original_id=id, metadata=metadata)

    def add_note_if_valid(self, content: str, **options: Any) -> tuple[str, str] | None:
        """The same, but what is no note, such as a text of too many characters, is skipped."""
        try:
            return self.add_note(content, **options)
        except ValueError as fault:
            self.skip(f"{options['id']}: {content}", str(fault))
            return None

    def skip(self, item: object, reason: str) -> None:
        """Report what is left out; a value that is no text is shown as JSON."""
        text = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False, default=str)
        text = _safe(text)
        shown = text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
        self.skipped.append({"item": shown, "reason": reason})

    def warn(self, warning: str) -> None:
        """Report what users may not expect, once."""
        if warning not in self._warned:
            self._warned.add(warning)
            self.warnings.append(warning)

    def type(self, text: str, description: str = "") -> str:
        """A text as the name of a concept type, which is defined where the nexus lacks it."""
        name = identifier_of(text, "Thing")
        name = self._apart("type", text, f"Imported{name}" if name == REJECTION else name)
        self.types.setdefault(name, description or f"{_safe(text)}, from {self.format}.")
        return name

    def predicate(self, text: str, description: str = "") -> str:
        """A text as the name of a predicate, which is defined where the nexus lacks it."""
        name = self._apart("predicate", text, identifier_of(text, "related_to"))
        self.predicates.setdefault(name, description or f"{_safe(text)}, from {self.format}.")
        return name

    def report(self) -> dict[str, Any]:
        """The numbers of concepts, propositions and notes, the definitions, and what is lost."""
        return {
            "format": self.format,
            "source": self.source,
            "concepts": len({(row["type"], row["name"]) for row in self.concepts}),
            "propositions": len(
                {
                    (str(row["subject"]), row["predicate"], str(row["object"]))
                    for row in self.propositions
                }
            ),
            "notes": len({row["name"] for row in self.concepts if row["type"] == ITEM}),
            "definitions": {
                "concept_types": sorted(self.types),
                "predicates": sorted(self.predicates),
            },
            **self._losses(),
        }

    def apply(
        self, nexus: Nexus, *, dry_run: bool = False, extract: bool = False
    ) -> dict[str, Any]:
        """Write the plan to a nexus, and return the report of ``Nexus.load`` with what is lost.

        What the nexus has already is updated, so that a second run writes nothing. ``dry_run``
        writes nothing either. ``extract`` adds to the graph what the notes state that hold, as
        ``Memory.add`` does. ``vanished`` lists what an earlier import of the source wrote, and the
        plan does not have: it stays in the nexus. A concept that has another name now, and the
        same id of the tool, is merged with what it was; one of another type supersedes it.
        """
        has_notes = any(row["type"] == ITEM for row in self.concepts)
        memory = Memory(nexus) if has_notes and not dry_run else None
        definitions = self._definitions(nexus)
        concepts, propositions = (
            [{**row} for row in rows] for rows in (self.concepts, self.propositions)
        )
        losses = self._losses()
        if self.has_titles:
            earlier.rename(nexus, self.source, concepts, propositions, losses["warnings"])
        earlier.restore(nexus, self.source, concepts, propositions, losses["warnings"])
        vanished, renamed = earlier.vanished(nexus, self.source, concepts, propositions)
        if vanished:
            losses["warnings"].append(earlier.warning_of(vanished))
        loaded = nexus.load(
            [*definitions, *concepts, *earlier.superseded(renamed, losses["warnings"])],
            propositions,
            metadata={"source": self.source},
            dry_run=dry_run,
        )
        loaded["concepts"]["created"] -= len(definitions)  # they are reported by their names
        if not dry_run:
            earlier.merge(nexus, renamed)
        if memory is not None and extract:
            memory.grow(
                texts.item((row["name"], *map(row["attributes"].get, texts.KEYS)))
                for row in concepts
                if row["type"] == ITEM and _holds(row["metadata"])
            )
        names = [(row["type"], row["name"]) for row in definitions]
        defined = {
            "concept_types": [name for type, name in names if type == META_TYPES[0]],
            "predicates": [name for type, name in names if type == META_TYPES[1]],
        }
        own = {"format": self.format, "source": self.source}
        losses["warnings"] += loaded.pop("warnings", ())
        return {**own, **loaded, "vanished": vanished, "definitions": defined, **losses}

    def _losses(self) -> dict[str, Any]:
        return {"skipped": list(self.skipped), "warnings": list(self.warnings)}

    def _definitions(self, nexus: Nexus) -> list[dict[str, Any]]:
        """The definitions that the nexus lacks."""
        rows = []
        needed = zip(META_TYPES, (self.types, self.predicates), strict=True)
        for meta_type, described in needed:
            command = "FIND(?t.name) WHERE { ?t {type: :type} }"
            existing = nexus.find(command, type=meta_type).column("?t.name")
            for name in sorted(described.keys() - set(existing)):
                description = described[name]
                rows.append(
                    {"type": meta_type, "name": name, "attributes": {"description": description}}
                )
        return rows

    def _apart(self, kind: str, text: str, spelling: str) -> str:
        """The spelling of a text, or with a digest if another text of its kind has it."""
        if self._texts_of.setdefault((kind, spelling), text) == text:
            return spelling
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        return f"{spelling[: limits.KEY_CHARACTERS - 9]}_{digest}"

    def _values(self, given: Mapping[str, Any], owner: str) -> dict[str, Any]:
        """Attributes or metadata under keys and with values of KIP; others are warned of."""
        keys = {name: name for name in given}
        if not all(map(is_key, given)):
            keys = keys_of(given)
            for name, key in keys.items():
                if key != name:
                    self.warn(f"The key {name!r} is written as '{key}'.")
        values: dict[str, Any] = {}
        for name, value in given.items():
            if value is not None:
                values[keys[name]] = self._value(value, owner, keys[name])
            if isinstance(value, Mapping | list):
                try:
                    to_term(values[keys[name]])
                except KipError as fault:
                    self.skip({owner: {name: values.pop(keys[name])}}, fault.message)
        return values

    def _value(self, value: Any, owner: str, key: str, depth: int = 1) -> Any:
        """A JSON value that a nexus can hold: long texts in pieces, what nests deep as JSON."""
        if depth == _DEEPEST and isinstance(value, Mapping | list):
            self.warn(f"{owner!r} nests deep in '{key}': the inner part is written as JSON.")
            value = json.dumps(value, ensure_ascii=False, default=str)
        if isinstance(value, str) and len(value.encode("utf-8", "replace")) > limits.STRING_BYTES:
            self.warn(f"{owner!r} has a long text in '{key}': it is written in pieces, as a list.")
            value = [value[at : at + texts.PIECE] for at in range(0, len(value), texts.PIECE)]
        if isinstance(value, str):
            text = _safe(value)
            if text != value:
                self.warn(f"{owner!r} has half characters in '{key}': \ufffd stands for them.")
            return text
        if isinstance(value, bool) or value is None:
            return value
        if isinstance(value, int):
            return value if value in _INTEGERS else _typed(value, "integer")
        if isinstance(value, float):
            return value if math.isfinite(value) else _typed(value, "double")
        if isinstance(value, Mapping):
            return {
                _safe(str(inner)): self._value(one, owner, key, depth + 1)
                for inner, one in value.items()
            }
        if isinstance(value, Iterable):
            return [self._value(one, owner, key, depth + 1) for one in value]
        return str(value)


def _safe(text: str) -> str:
    """A text without halves of characters, which no literal of RDF can contain."""
    return text if text.isascii() else LONE_SURROGATE.sub("\ufffd", text)


def _holds(metadata: Mapping[str, Any]) -> bool:
    """Whether a note was not superseded, nor withdrawn by its author."""
    return not metadata.get("superseded") and metadata.get("shown") is not False


def _typed(number: float, datatype: str) -> dict[str, str]:
    """A number that JSON cannot represent, as ``import_rdf`` stores it."""
    text = (
        str(number)
        if isinstance(number, int)
        else {"inf": "INF", "-inf": "-INF"}.get(str(number), "NaN")
    )
    return {"@value": text, "@type": vocab.XSD + datatype}


# Spelling -------------------------------------------------------------------------------------


def usable_name(text: str) -> str:
    """A text as the name of a concept (KIP 2.8): on one line, and not too long.

    Of a longer one the beginning is kept, followed by a digest of the whole.

    >>> usable_name(" Ada\\nLovelace "), usable_name(".."), len(usable_name("x" * 5_000))
    ('Ada Lovelace', 'dots ..', 1024)
    """
    name = without_outer_blanks(_CONTROLS.sub(" ", text))
    if len(name) > limits.NAME_CHARACTERS:
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        name = f"{name[: limits.NAME_CHARACTERS - 14].rstrip()}… {digest}"[: limits.NAME_CHARACTERS]
    if not name:
        return "(no name)"
    return name if name_fault(name) is None else f"dots {name}"


def identifier_of(text: str, default: str) -> str:
    """A text as the name of a type or predicate: ``default`` and a digest without a Latin letter.

    >>> identifier_of("works at", "Thing"), identifier_of("药物", "Thing")
    ('works_at', 'Thing_9ba3e8')
    """
    if is_key(text):
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return from_label(text) or f"{default}_{digest}"


def keys_of(names: Iterable[str]) -> dict[str, str]:
    """The key for each of some names, each another one.

    >>> keys_of(["birth date", "birth-date", "age"])
    {'age': 'age', 'birth date': 'birth_date', 'birth-date': 'birth_date_2'}
    """
    given = list(dict.fromkeys(names))
    keys = {name: name for name in given if is_key(name)}
    taken = set(keys)
    numbers: dict[str, Iterator[int]] = {}
    for name in given:
        if name not in keys:
            plain = identifier_of(name, "value")
            own = numbers.setdefault(plain, count(1))
            numbered = (plain if number == 1 else f"{plain}_{number}" for number in own)
            keys[name] = next(key for key in numbered if key not in taken)
            taken.add(keys[name])
    return keys


# Files ----------------------------------------------------------------------------------------


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file: UTF-8, or UTF-16 with its mark. KIP_1001 for another one."""
    return decoded(cast(bytes, files.content(Path(path))), Path(path).name)


def decoded(data: bytes, name: str) -> str:
    """The text of the bytes of a file: UTF-8, or UTF-16 with its mark. KIP_1001 for others."""
    if data[:2].count(0) == 1:  # UTF-16 of letters, digits and brackets
        raise KipError("KIP_1001", f"{name} is UTF-16 without its mark.", "Save it as UTF-8.")
    try:
        is_utf_16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        return data.decode("utf-16" if is_utf_16 else "utf-8-sig")
    except UnicodeDecodeError as fault:
        line = data[: fault.start].count(b"\n") + 1
        message = f"{name}, line {line}: this is not {fault.encoding.upper()} text."
        raise KipError("KIP_1001", message, "Save it as UTF-8.") from None


def read_json(path: str | os.PathLike[str]) -> Any:
    """The value of a JSON file; KIP_1001 with line and column where it is not JSON."""
    return parse_json(read_text(path), Path(path).name)


def parse_json(
    text: str,
    name: str,
    line: int = 1,
    pairs: Callable[[list[tuple[str, Any]]], Any] | None = None,
) -> Any:
    """The value of a JSON text that begins at a line of a file; ``pairs`` reads its objects."""
    try:
        return json.loads(text, object_pairs_hook=pairs)
    except json.JSONDecodeError as fault:
        place = f"{name}, line {fault.lineno + line - 1}, column {fault.colno}"
        ended = fault.pos >= len(text.rstrip()) or fault.msg.startswith("Unterminated")
        reason = "the text ends too early" if ended else fault.msg[0].lower() + fault.msg[1:]
        hint = "The file may be cut: export it again." if ended else "Export it again, as JSON."
        raise KipError("KIP_1001", f"{place}: {reason}.", hint) from None
    except RecursionError:
        raise KipError("KIP_1001", f"{name} nests too deeply to be read.", "Export less.") from None


def keep_apart(values: dict[str, Any], key: str, value: Any, prefix: str = "own") -> str:
    """Keep a value under another key, since its own means something else here; that key.

    >>> values = {"own_status": 1}
    >>> keep_apart(values, "status", 2), values
    ('own_own_status', {'own_status': 1, 'own_own_status': 2})
    """
    other = f"{prefix}_{key}"
    while values.get(other, value) != value:
        other = f"{prefix}_{other}"
    values[other] = value
    return other
