"""A memory of texts in a nexus, and the graph that is extracted from them."""

import sys
from typing import TYPE_CHECKING, Any

from kiprdf.loading import load
from kiprdf.memory.contradictions import Contradiction
from kiprdf.memory.extraction import extract
from kiprdf.memory.items import Edge, Entity, Extraction, Found, FoundEdge, Hit, Item, Neighbor
from kiprdf.memory.memory import Memory
from kiprdf.memory.recalled import Recall, RecalledNote

if TYPE_CHECKING:
    from kiprdf.memory.asynchronous import AsyncMemory

__all__ = [
    "AsyncMemory",
    "Contradiction",
    "Edge",
    "Entity",
    "Extraction",
    "Found",
    "FoundEdge",
    "Hit",
    "Item",
    "Memory",
    "Neighbor",
    "Recall",
    "RecalledNote",
    "extract",
]


def __getattr__(name: str) -> Any:
    """Import what needs asyncio on first use (PEP 562)."""
    if name != "AsyncMemory":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    load("kiprdf.memory.asynchronous")
    return sys.modules["kiprdf.memory.asynchronous"].AsyncMemory
