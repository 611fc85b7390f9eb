"""What callers give to a memory, as checked items: texts, and messages of conversations."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from kiprdf.dataclasses import dataclass
from kiprdf.memory.extraction import check_text
from kiprdf.memory.items import Extraction, Item, is_name
from kiprdf.memory.texts import Clock, iso_time

ROLES = {
    **{role: role for role in ("user", "assistant", "system", "tool")},
    "human": "user",
    **dict.fromkeys(("ai", "model"), "assistant"),
    "developer": "system",
    "function": "tool",
}
"""The roles of messages, each with the role that is stored."""
_ROLES_OF_TYPES = {**ROLES, "reasoning": "assistant", "_call": "assistant", "_call_output": "tool"}
"""The roles of items without a role, by their types: of OpenAI's Responses, and of LangChain."""
_OPTIONS = ("tags", "id", "timestamp", "session", "speaker", "after_recall")
_OF_USER = {"user", "concept", "decision"}
"""The types of the user, and of what exists only because the user prefers or decided it."""

_CONTENT = ("content", "parts", "output", "summary", "refusal", "audio")
_QUOTED = ("document", "search_result")
"""The types of parts that Anthropic's users send, and have not written."""
_MEDIA = ("image", "audio", "video", "file", "document", "screenshot")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CALL = re.compile(r"^\w+(?=_call(_output)?$)")
"""What is called, in the type of an item of Responses."""
_QUOTED_LINE = re.compile("^", re.MULTILINE)


@dataclass(frozen=True)
class Note:
    """A text to store. ``has_own_id`` if the caller chose the id."""

    item: Item
    has_own_id: bool

    def repeats(self, stored: Item) -> bool:
        """Whether the memory with its id has its text: exactly, if the caller chose the id.

        Raises ``ValueError`` for another text with a chosen id.
        """
        if not self.has_own_id:
            return normalized_text(stored.content) == normalized_text(self.item.content)
        if stored.content != self.item.content:
            raise ValueError(f"The memory {stored.id} has another text; forget it first.")
        return True


def note(
    clock: Clock,
    content: str,
    *,
    tags: Iterable[str] = (),
    id: str | None = None,
    timestamp: object = None,
    session: str | None = None,
    speaker: str | None = None,
    after_recall: Iterable[str] = (),
    role: str | None = None,
) -> Note:
    """A text that can be stored. Raises ``ValueError`` or ``TypeError`` for what cannot."""
    check_text(content)
    if not content.strip():
        raise ValueError("The text of a memory is empty.")
    moment = iso_time(clock() if timestamp is None else timestamp)
    if id is not None and not is_name(id):
        raise ValueError(f"{id!r} cannot be the id of a memory.")
    session, speaker = _label(session, "session"), _label(speaker, "speaker")
    item = Item(
        id or same_id(content, session, speaker) or new_id(),
        content,
        _texts(tags, "tags"),
        moment,
        session,
        speaker,
        last_seen=moment,
        role=role,
        echo_of=_texts(after_recall, "after_recall"),
    )
    return Note(item, id is not None)


def new_id() -> str:
    """An id that no memory has."""
    return f"mem_{uuid.uuid4().hex[:16]}"


def same_id(content: str, session: str | None, speaker: str | None) -> str | None:
    """The id of all equal texts of a speaker in a session; None if either is not given."""
    if session is None or speaker is None:
        return None
    text = json.dumps([session, speaker, normalized_text(content)])
    return f"mem_{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def normalized_text(content: str) -> str:
    """The form by which texts are compared: Unicode NFC, and one blank for each run of blanks.

    >>> normalized_text("I use  Vim.\\n") == normalized_text("I use Vim.")
    True
    """
    return " ".join(unicodedata.normalize("NFC", content).split())


def notes(clock: Clock, given: Iterable[str | Mapping[str, Any]]) -> list[Note]:
    """The notes of texts, or of dicts with ``content`` and the other arguments of an ``add``."""
    checked = []
    for number, value in _numbered(given, "texts"):
        options = value if isinstance(value, Mapping) else {"content": value}
        with _at(f"Text {number}"):
            if "content" not in options or not options.keys() <= {"content", *_OPTIONS}:
                raise ValueError(f"a dict has content, and may have {', '.join(_OPTIONS)}.")
            checked.append(note(clock, **options))
    return checked


def messages(clock: Clock, given: Iterable[Mapping[str, Any]], **options: Any) -> list[Note | None]:
    """The notes of the messages of a conversation, in the forms of OpenAI and Anthropic; None for
    a message without a text.

    Raises ``ValueError`` with the place in the list, from 0, of an invalid message.
    """
    if _label(options["session"], "session") is None:
        raise ValueError("session is the name of the conversation; it is not empty.")
    checked: list[Note | None] = []
    for number, value in _numbered(given, "messages"):
        with _at(f"Message {number}"):
            if not isinstance(value, Mapping):
                raise ValueError("a message is a dict with role and content.")
            given_role, roles = value.get("role"), ROLES
            if given_role is None and isinstance(value.get("type"), str):
                given_role, roles = _CALL.sub("", value["type"]), _ROLES_OF_TYPES
            role = roles.get(given_role.lower()) if isinstance(given_role, str) else None
            if role is None:
                raise ValueError(f"the role is {given_role!r}; roles are {', '.join(ROLES)}.")
            if _is_result(value.get("content")):
                role = "tool"
            name = value.get("name") if roles is ROLES else None  # else it may be that of a tool
            stored = {"role": role, "speaker": name or role}
            moment = value.get("timestamp")
            text = text_of(value)
            checked.append(
                note(clock, text, timestamp=moment, **stored, **options) if text.strip() else None
            )
    return checked


def of_speaker(item: Item, extraction: Extraction) -> Extraction:
    """What of an extraction a memory may state.

    An echo states nothing. What another speaker says states nothing about the user: the entities
    are mentioned, except those that exist only because the user prefers or decided them.
    """
    if item.echo_of:
        return Extraction()
    if item.is_of_user:
        return extraction
    edges, ended = (
        tuple(edge for edge in part if not {edge.subject.type, edge.object.type} & _OF_USER)
        for part in (extraction.edges, extraction.ended)
    )
    entities = tuple(entity for entity in extraction.entities if entity.type not in _OF_USER)
    return replace(extraction, entities=entities, edges=edges, ended=ended)


def text_of(message: Mapping[str, Any]) -> str:
    """The text of a message: its content, then a line for each call of a tool."""
    # Of Gemini, and of the items of OpenAI's Responses.
    given = [(key, message[key]) for key in _CONTENT if message.get(key) is not None]
    # The content beside a refusal may be empty.
    key, content = next(
        (each for each in given if each[1] not in ("", [])), [*given, ("", None)][0]
    )
    if key == "audio" and isinstance(content, Mapping):
        content = {"type": key, **content}
    lines = [] if content is None else [_part(content)]
    kind = str(message.get("type"))
    if kind.endswith("_call"):
        lines.append("[image]" if kind.startswith("image") else _call(message))
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        raise ValueError("tool_calls is a list.")
    lines += [_call(call) for call in (*calls, message.get("function_call")) if call]
    return "\n".join(lines)


def _is_result(content: object) -> bool:
    """Whether a content is nothing but what a tool returned, which Anthropic sends as the user."""
    parts = content if isinstance(content, list) else []
    kinds = {part.get("type") for part in parts if isinstance(part, Mapping)}
    return kinds == {"tool_result"} and all(isinstance(part, Mapping) for part in parts)


def _is_quoted(part: object) -> bool:
    return _is_result([part]) or (isinstance(part, Mapping) and part.get("type") in _QUOTED)


def _part(part: object) -> str:
    """The text of a content, or of one part of it."""
    if isinstance(part, str):
        return part
    if isinstance(part, list):
        texts = map(_part, part)
        # What a tool returned, or a document has, beside words of the user is a quotation.
        is_quoted = [not _is_result(part) and _is_quoted(each) for each in part]
        pairs = zip(texts, is_quoted, strict=True)
        return "\n".join(
            _QUOTED_LINE.sub("> ", text) if quoted and text not in ("", "[document]") else text
            for text, quoted in pairs
        )
    if not isinstance(part, Mapping):
        raise ValueError("content is a text, or a list of parts.")
    kind = str(part.get("type"))
    if kind.endswith("tool_use"):
        return _call(part)
    for key in ("text", "content", "thinking", "refusal", "transcript"):
        if isinstance(part.get(key), str | list):
            return _part(part[key])
    source = part.get("source")
    if isinstance(source, Mapping) and source.get("type") in ("text", "content"):
        return _part(source.get("data") or source.get("content") or "")
    medium = next((name for name in _MEDIA if name in kind), None)
    return _json(part) if medium is None else f"[{medium}]"


def _call(call: object) -> str:
    """A call of a tool as text, such as ``search({"query": "tea"})``."""
    call = call.get("function", call) if isinstance(call, Mapping) else call
    if not isinstance(call, Mapping) or not isinstance(call.get("name"), str):
        return _json(call)
    keys = ("arguments", "input", "args")
    arguments = next((call[key] for key in keys if call.get(key) is not None), "")
    text = arguments if isinstance(arguments, str) else _json(arguments)
    return f"{call['name']}({text})"


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        raise ValueError("content is a text, or a list of parts that are JSON.") from None


def _numbered(given: object, name: str) -> Iterator[tuple[int, Any]]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise ValueError(f"{name} is a list.")
    return enumerate(given)


@contextmanager
def _at(place: str) -> Iterator[None]:
    """What is wrong with one of many is said with its place."""
    try:
        yield
    except TypeError as fault:
        raise TypeError(f"{place}: {fault}") from None
    except ValueError as fault:
        raise ValueError(f"{place}: {fault}") from None
    except RecursionError:
        raise ValueError(f"{place}: the content nests too deep.") from None


def _label(value: object, name: str) -> str | None:
    """A session or speaker without blanks around it; None for none."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if not isinstance(value, str) or not is_name(value.strip()):
        raise ValueError(f"{name} is a text of one line, of at most 1024 characters.")
    return value.strip()


def _texts(values: object, name: str) -> tuple[str, ...]:
    if isinstance(values, Iterable) and not isinstance(values, str | Mapping):
        listed = tuple(values)
        if all(isinstance(value, str) and _SURROGATE.search(value) is None for value in listed):
            return listed
    raise ValueError(f"{name} is a list of texts without lone surrogates.")
