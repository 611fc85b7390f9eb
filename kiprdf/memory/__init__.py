"""A memory of texts in a nexus, and the graph that is extracted from them."""

from kiprdf.memory.extraction import extract
from kiprdf.memory.items import Edge, Entity, Extraction, Found, FoundEdge, Hit, Item, Neighbor
from kiprdf.memory.memory import Memory
from kiprdf.memory.upkeep import Contradiction

__all__ = [
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
    "extract",
]
