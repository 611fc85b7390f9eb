"""The memory as functions that a model calls: ``remember`` and ``recall``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kiprdf.errors import KipError, StoreError, without_folder
from kiprdf.memory.graph import ITEM
from kiprdf.memory.memory import Memory
from kiprdf.nexus import Nexus
from kiprdf.protocol import error_response

REMEMBER = "remember"
RECALL = "recall"
SCHEMAS: tuple[dict[str, Any], ...] = (
    {
        "name": REMEMBER,
        "description": "Store a note in plain text in the long-term memory. What it states about"
        " projects, tools, files, preferences and decisions is added to the knowledge graph."
        " Returns the id of the note.",
        "parameters": {
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "The note, in full sentences."},
                "tags": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Labels of the note.",
                },
                "session": {
                    "type": "string",
                    "description": "The name of the conversation that the note belongs to.",
                },
                "speaker": {
                    "type": "string",
                    "description": "Who the first person of the note is: user (the default), or"
                    " the name of someone else, such as assistant.",
                },
            },
            "required": ["text"],
            "additionalProperties": False,
        },
    },
    {
        "name": RECALL,
        "description": "Return what notes have stated about the things that a query names, as a"
        " block of text: entities, relations with their weights, and the ids of the notes.",
        "parameters": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "Names of things, or a question."}
            },
            "required": ["query"],
            "additionalProperties": False,
        },
    },
)
NAMES = frozenset(schema["name"] for schema in SCHEMAS)


class MemoryFunctions:
    """Runs the two functions on a nexus.

    >>> functions = MemoryFunctions(Nexus.memory())
    >>> functions.call("recall", {"query": "python"})
    {'result': ''}
    """

    def __init__(self, nexus: Nexus) -> None:
        self._nexus = nexus
        self._memory: Memory | None = None

    def call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Run a function; the response has a ``result`` or an ``error``, as those of KIP."""
        try:
            return {"result": self._run(name, arguments)}
        except (ValueError, TypeError) as fault:
            error = KipError("KIP_1001", str(fault), f"Send the arguments of {name}.")
        except StoreError as fault:
            folder = self._nexus._store.folder
            error = KipError(
                "KIP_4003", without_folder(str(fault), folder), "Look at the log of the server."
            )
        except KipError as fault:
            error = fault
        return error_response(error)

    def _run(self, name: str, arguments: Mapping[str, Any]) -> Any:
        required, optional = (
            ("text", {"tags", "session", "speaker"}) if name == REMEMBER else ("query", set[str]())
        )
        value = arguments.get(required)
        if not isinstance(value, str) or not set(arguments) <= {required, *optional}:
            allowed = " and ".join(sorted({required, *optional}))
            raise ValueError(f"{name} takes {allowed}; {required} is a text.")
        if name == REMEMBER:
            options = {key: given for key, given in arguments.items() if key != "text"}
            return {"id": self._opened().add(value, **options)}
        # A memory defines its types when it is made; who recalls may have no permission to write.
        has_memory = ITEM in self._nexus.execute("DESCRIBE CONCEPT TYPES")
        return self._opened().context(value) if has_memory else ""

    def _opened(self) -> Memory:
        if self._memory is None:
            self._memory = Memory(self._nexus)
        return self._memory
