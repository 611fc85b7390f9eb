"""Exports of conversations: of ChatGPT and of Claude, as ``conversations.json`` or in its archive.

A message is a note of the memory in the session of its conversation, with its turn, role and time;
a conversation is a concept with its title (docs/decisions/236). Neither export is documented by its
maker; these shapes are those of exports from 2023 to 2026::

    ChatGPT  [{"title", "create_time", "update_time", "conversation_id", "current_node", "mapping":
               {id: {"parent", "children", "message": {"id", "author": {"role", "name"},
                     "create_time", "content": {"content_type", …}, "metadata"} | null}}}]
    Claude   [{"uuid", "name", "created_at", "updated_at", "current_leaf_message_uuid"?,
               "chat_messages": [{"uuid", "parent_message_uuid"?, "sender", "text",
                 "content": [block, …], "created_at", "attachments", "files"}]}]
"""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from kiprdf.errors import KipError
from kiprdf.importers.plan import MOST_BYTES, Plan, decoded, parse_json, read_text, usable_name
from kiprdf.importers.times import moment
from kiprdf.interchange.compression import ALLOWANCE, GROWTH
from kiprdf.memory.notes import ROLES, text_of
from kiprdf.memory.texts import PIECE

CONVERSATION = "Conversation"
_FILES = "conversations*.json"
_OF_BLOCK = frozenset(("type", "text", "start_timestamp", "stop_timestamp"))
"""What a block of Claude has that is in its message already."""
_OF_NODE = frozenset(("id", "message", "parent", "children"))
_PARENT = "parent_message_uuid"
"""The key of a message of Claude with the message before it; older exports do not have it."""
_OTHER = "only conversations are read of the archive"
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError)
_HINT = "Give an export of ChatGPT or Claude: its archive (.zip), folder, or conversations.json."
_TEXTS = ("parts", "text", "result", "content", "thoughts", "summary", "title", "name", "url")
"""What people read of a content of ChatGPT that has other keys than ``parts``, in this order."""
_BESIDES = frozenset(
    ("status", "end_turn", "weight", "recipient", "channel", "metadata", "update_time")
)
"""What a message has that says nothing: ChatGPT begins a conversation with an empty one."""
Json = dict[str, Any]


def chat(path: str | os.PathLike[str], *, source: str | None = None) -> Plan:
    """A plan of an export of ChatGPT or Claude: ``conversations.json``, or its archive or folder.

    What is not shown (messages that were edited, answers that were replaced) is kept in sessions of
    their own; in an export of Claude only where its messages name their parents.

    Raises ``KipError``: KIP_1001 for another file, and for one that is cut; KIP_4002 for an archive
    that expands to very much.

    >>> _ = Path("conversations.json").write_text(
    ...     '[{"uuid": "c1", "name": "Tea", "created_at": "2026-01-01T00:00:00Z", "chat_messages":'
    ...     ' [{"uuid": "m1", "sender": "human", "text": "I like tea."}]}]')
    >>> chat("conversations.json").report()["notes"]
    1
    """
    file = Path(path)
    plan = Plan("chat", source or file.resolve().name)
    for place, value in _documents(file, plan):
        listed = value.get("conversations", [value]) if isinstance(value, dict) else value
        for number, given in enumerate(listed if isinstance(listed, list) else [listed], 1):
            match given:
                case {"mapping": dict()}:
                    _add(plan, _of_chatgpt(given, plan))
                case {"chat_messages": list()}:
                    _add(plan, _of_claude(given, plan))
                case _:
                    plan.skip(given, f"{place}, item {number}: this is no conversation")
    if not plan.concepts:
        raise KipError("KIP_1001", f"{plan.source} has no conversation.", _HINT)
    return plan


@dataclass
class _Message:
    """A message. ``text`` may be empty; ``rest`` is what a note has no place for."""

    id: str
    role: str
    name: str | None
    time: str | None
    text: str
    attributes: Json = field(default_factory=dict)
    rest: Json = field(default_factory=dict)


@dataclass
class _Conversation:
    """A conversation: the messages that are shown, and those of other branches."""

    id: str
    title: str
    created: str | None
    rest: Json
    shown: list[_Message]
    others: list[_Message] = field(default_factory=list)


def _add(plan: Plan, conversation: _Conversation) -> None:
    """Add a conversation, and a note for each of its messages that has a text."""
    plan.type(CONVERSATION, "A conversation; the session of its messages is its name.")
    id = usable_name(conversation.id)
    attributes = {"title": conversation.title or None, "created_at": conversation.created}
    plan.add_concept(
        CONVERSATION,
        id,
        attributes,
        original_id=id,
        metadata={"details": conversation.rest or None},
    )
    times = (message.time for message in (*conversation.shown, *conversation.others))
    first = conversation.created or next(filter(None, times), None)
    if first is None:
        plan.warn(f"The conversation {id} has no time, and neither have its messages.")
    for session, messages in ((id, conversation.shown), (f"{id} not shown", conversation.others)):
        time = first
        turn = 0
        for message in messages:
            time = message.time or time
            if not message.text.strip():
                plan.skip(
                    {
                        "conversation": id,
                        "message": message.id,
                        **message.attributes,
                        **message.rest,
                    },
                    "a message without a text",
                )
                continue
            turn += 1
            role = ROLES.get(message.role.lower())
            if role is None:
                plan.warn(f"'{message.role}' is no role of a memory: it is the speaker alone.")
            plan.add_note_if_valid(
                message.text,
                id=f"{id}/{message.id}",
                timestamp=time,
                session=session,
                speaker=usable_name(message.name or role or message.role),
                role=role,
                turn=turn,
                attributes=message.attributes,
                metadata={
                    "original_id": message.id,
                    "details": message.rest or None,
                    "shown": None if session == id else False,
                },
            )
    if conversation.others:
        what = "messages" if len(conversation.others) > 1 else "message"
        plan.warn(
            f"'{conversation.title or id}' has {len(conversation.others)} {what} in branches that"
            f" are not shown: see the session '{id} not shown'."
        )


# ChatGPT --------------------------------------------------------------------------------------


def _of_chatgpt(given: Json, plan: Plan) -> _Conversation:
    rest = dict(given)
    nodes = {key: node for key, node in rest.pop("mapping").items() if isinstance(node, dict)}
    id = _id(rest, "conversation_id", "id") or next(iter(nodes), "")
    title, created = _string(rest, "title"), _time(rest, "create_time")
    last = rest.pop("current_node", None)
    if not isinstance(last, str) or last not in nodes:
        last = _newest_leaf(nodes)
    parents = {key: str(node.get("parent")) for key, node in nodes.items()}
    shown = _branch(parents, last, id, plan)
    others = (node for key, node in nodes.items() if key not in shown)
    return _Conversation(
        id,
        title,
        created,
        {key: value for key, value in rest.items() if value not in (None, [], {})},
        [*_messages(nodes[key] for key in reversed(shown))],
        [*_messages(others)],
    )


def _branch(parents: dict[str, str], last: str | None, id: str, plan: Plan) -> dict[str, None]:
    """The ids of the last message of a branch and of those before it, the last one first."""
    shown: dict[str, None] = {}
    while last in parents and last not in shown:
        shown[last] = None
        last = parents[last]
    if last in shown:
        plan.warn(f"The messages of the conversation {id} are in a circle: it is read once.")
    return shown


def _newest_leaf(nodes: dict[str, Json]) -> str | None:
    """The last message without an answer."""
    parents = {str(node.get("parent")) for node in nodes.values()}

    def time(key: str) -> str:
        message = nodes[key].get("message")
        return moment(message.get("create_time")) or "" if isinstance(message, dict) else ""

    return max((key for key in nodes if key not in parents), key=time, default=None)


def _messages(nodes: Any) -> Iterator[_Message]:
    """The messages of nodes; the root, and others without a content, are none."""
    for node in nodes:
        message = node.get("message")
        if not isinstance(message, dict):
            continue
        rest = {key: one for key, one in node.items() if key not in _OF_NODE} | message
        author = rest.pop("author", None)
        author = dict(author) if isinstance(author, dict) else {}
        id = _id(rest, "id") or str(node.get("id"))
        time = _time(rest, "create_time")
        content, attributes = rest.pop("content", None), Json()
        role, name = str(author.pop("role", None) or "unknown"), author.pop("name", None)
        metadata = rest.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        text = _text(content)
        if not text.strip():  # before 2024, what users say of themselves was there
            text = _text(metadata.get("user_context_message_data"))
        kind = content.get("content_type") if isinstance(content, dict) else None
        if kind not in (None, "text"):
            attributes["content_type"] = kind
        if metadata.get("attachments"):
            attributes["files"] = metadata["attachments"]
        if not _is_plain(content):
            rest["content"] = content
        if metadata.get("is_visually_hidden_from_conversation"):
            attributes["hidden"] = True
        rest = {key: value for key, value in rest.items() if value not in (None, [], {})}
        if any(author.values()):
            rest["author"] = author
        name = name if isinstance(name, str) else None
        if text.strip() or kind not in (None, "text") or not rest.keys() <= _BESIDES:
            yield _Message(id, role, name, time, text, attributes, rest)


def _is_plain(content: Any) -> bool:
    """Whether a content is nothing but its text."""
    if isinstance(content, dict):
        parts = content.get("parts", [])
        is_text = isinstance(parts, list) and all(isinstance(part, str) for part in parts)
        return is_text and content.keys() <= {"content_type", "parts", "text"}
    return content is None or isinstance(content, str)


def _text(content: Any) -> str:
    """The text of a content, or of a part of it; a picture or sound is named in brackets."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(str.strip, map(_text, content)))
    if not isinstance(content, dict):
        return ""
    if "asset_pointer" in content:
        kind = str(content.get("content_type", "file")).removesuffix("_asset_pointer")
        return f"[{kind.replace('_', ' ')}: {content['asset_pointer']}]"
    chosen = [content[key] for key in _TEXTS if content.get(key)]
    if not chosen:
        chosen = [
            value for key, value in content.items() if key not in ("content_type", "language")
        ]
    return "\n".join(filter(str.strip, map(_text, chosen)))


# Claude ---------------------------------------------------------------------------------------


def _of_claude(given: Json, plan: Plan) -> _Conversation:
    rest = dict(given)
    listed = rest.pop("chat_messages")
    id, title = _id(rest, "uuid", "id"), _string(rest, "name")
    created = _time(rest, "created_at")
    messages: list[_Message] = []
    parents: dict[str, str] = {}
    for number, message in enumerate(listed, 1):
        if not isinstance(message, dict):
            plan.skip(message, f"message {number} of {id} is no object")
            continue
        messages.append(_message(message, number))
        if isinstance(message.get(_PARENT), str):
            parents[messages[-1].id] = message[_PARENT]
    leaf = _string(rest, "current_leaf_message_uuid")
    kept = {key: value for key, value in rest.items() if value not in (None, "", [], {})}
    by_id = {message.id: message for message in messages}
    if len(by_id) < len(messages) or not parents.keys() >= {*[*by_id][1:]} or not parents:
        return _Conversation(id, title, created, kept, messages)
    parents.setdefault(messages[0].id, "")
    shown = _branch(parents, leaf if leaf in parents else messages[-1].id, id, plan)
    others = [message for message in messages if message.id not in shown]
    return _Conversation(id, title, created, kept, [by_id[one] for one in reversed(shown)], others)


def _message(given: Json, number: int) -> _Message:
    rest = dict(given)
    text, blocks = _string(rest, "text"), rest.pop("content", None)
    try:
        whole = text_of({"content": blocks}) if blocks else ""
    except ValueError:
        whole = ""
    if not all(isinstance(one, dict) and _is_text(one) for one in _listed(blocks)):
        rest["content"] = blocks
    if not whole.strip():
        whole = text
    elif text.strip() not in whole:
        rest["text"] = text
    attached, files = _listed(rest.pop("attachments", None)), _listed(rest.pop("files", None))
    if not whole.strip():
        whole = _text_of_files([one for one in (*attached, *files) if isinstance(one, dict)])
    attributes = {"attachments": [*map(_pieces, attached)], "files": files}
    return _Message(
        _id(rest, "uuid", "id") or str(number),
        str(rest.pop("sender", None) or "unknown"),
        None,
        _time(rest, "created_at"),
        whole,
        {key: value for key, value in attributes.items() if value},
        {key: value for key, value in rest.items() if value not in (None, "", [], {})},
    )


def _is_text(block: Json) -> bool:
    return block.get("type") == "text" and not any(block[key] for key in block.keys() - _OF_BLOCK)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value in (None, "", {}) else [value]


def _text_of_files(files: list[Json]) -> str:
    """What stands for a message of files alone: their names, and the text that was pasted."""
    names = [f"[file: {one['file_name']}]" for one in files if one.get("file_name")]
    texts = [one.get("extracted_content") for one in files]
    pasted = [text for text in texts if isinstance(text, str)]
    whole = "\n".join([*names, *pasted])
    return whole if len(whole) <= MOST_BYTES // 4 else "\n".join(names) or "[file]"


def _pieces(attachment: Any) -> Any:
    """An attachment, its text in pieces that a nexus can hold."""
    text = attachment.get("extracted_content") if isinstance(attachment, dict) else None
    if not isinstance(text, str) or len(text) <= PIECE:
        return attachment
    pieces = [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
    return {**attachment, "extracted_content": pieces}


def _id(values: Json, *keys: str) -> str:
    """The first of some ids, which is taken out."""
    ids = [values.pop(key, None) for key in keys]
    return next((one for one in ids if isinstance(one, str) and one.strip()), "")


def _time(values: Json, key: str) -> str | None:
    """The time under a key; it is taken out if it is one."""
    time = moment(values.get(key))
    return time if time is None else moment(values.pop(key))


def _string(values: Json, key: str) -> str:
    """The text under a key; it is taken out if it is one."""
    return values.pop(key) if isinstance(values.get(key), str) else ""


# Files ----------------------------------------------------------------------------------------


def _documents(file: Path, plan: Plan) -> Iterator[tuple[str, Any]]:
    """The conversations in a file: of an archive or a folder each file with some, with its name."""
    if file.is_dir():
        for each in sorted(file.rglob("*")):
            if fnmatch(each.name, _FILES) and each.is_file() and not each.is_symlink():
                yield each.name, parse_json(read_text(each), each.name)
            elif not each.is_dir():
                plan.skip(each.relative_to(file).as_posix(), _OTHER)
        return
    if not zipfile.is_zipfile(file):
        yield plan.source, parse_json(read_text(file), plan.source)
        return
    try:
        with zipfile.ZipFile(file) as archive:
            room = ALLOWANCE + GROWTH * file.stat().st_size
            for info in archive.infolist():
                name = info.filename.rpartition("/")[2]
                if not fnmatch(name, _FILES):
                    if name:
                        plan.skip(info.filename, _OTHER)
                    continue
                with archive.open(info) as opened:
                    data = opened.read(room + 1)
                room -= len(data)
                if room < 0:
                    message = f"{plan.source} expands to more than {GROWTH} times its size."
                    raise KipError("KIP_4002", message, f"Give the {name} that is in it.")
                yield name, parse_json(decoded(data, name), name)
    except _DAMAGED as fault:
        raise KipError("KIP_1001", f"{plan.source} cannot be read: {fault}.", _HINT) from None
