"""Chunks and Rules of the W3C Cognitive AI group: a notation, graphs of chunks and a rule engine.

``parser`` and ``printer`` (text), ``model`` (what is in a document), ``graph``; ``engine`` runs
``rules`` over ``module`` buffers, with ``matching``, ``operations`` and ``calls`` of programs;
``nexus_module`` and ``transfer`` join a nexus, ``rdf`` and ``vocabulary`` join RDF.

>>> from kiprdf import chunks
>>> document = chunks.parse("dog kindof mammal\\ndog dog1 {name Fido; age 4}")
>>> document.chunks[0]["age"]
4
"""

from kiprdf.chunks.calls import LATER, Call, Event, Firing
from kiprdf.chunks.engine import Engine
from kiprdf.chunks.graph import Graph
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
from kiprdf.chunks.module import Module
from kiprdf.chunks.parser import parse
from kiprdf.chunks.printer import to_text
from kiprdf.chunks.rdf import from_rdf, to_rdf
from kiprdf.chunks.transfer import from_nexus, to_nexus

__all__ = [
    "LATER",
    "Call",
    "Chunk",
    "ChunksError",
    "ChunksSyntaxError",
    "Condition",
    "Date",
    "Document",
    "Engine",
    "Event",
    "Firing",
    "Graph",
    "Link",
    "Module",
    "Name",
    "Negated",
    "Rule",
    "RuleError",
    "Text",
    "Variable",
    "from_nexus",
    "from_rdf",
    "parse",
    "to_nexus",
    "to_rdf",
    "to_text",
]
