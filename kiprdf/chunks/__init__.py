"""Chunks and Rules of the W3C Cognitive AI group: a notation, graphs of chunks and a rule engine.

>>> from kiprdf import chunks
>>> chunks.Chunk("dog", {"age": 4})["age"]
4
"""

from kiprdf.chunks.model import (
    Chunk,
    ChunksError,
    ChunksSyntaxError,
    Condition,
    Date,
    Document,
    Link,
    Name,
    Negated,
    Rule,
    RuleError,
    Text,
    Variable,
)

__all__ = [
    "Chunk",
    "ChunksError",
    "ChunksSyntaxError",
    "Condition",
    "Date",
    "Document",
    "Link",
    "Name",
    "Negated",
    "Rule",
    "RuleError",
    "Text",
    "Variable",
]
