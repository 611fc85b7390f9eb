"""Exports whose known keys have other values than the tools write: nothing is lost unreported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kiprdf import Nexus
from tests.cases import each_case
from tests.importers.exports import NOTHING, counts, planned

NODE = {"uuid": "n", "name": "Ada", "labels": ["Person", ["lost"]], "created_at": "2026-01-01"}
EDGE = {"uuid": "e", "name": "r", "source_node_uuid": "n", "target_node_uuid": "n"}
EVENT = {"id": "h", "memory_id": "m", "new_memory": "Tea", "event": "ADD"}
ITEM = {"namespace": ["a"], "key": "k", "value": {"text": "Tea"}}

BLOCK = {"type": "text", "text": "Tea", "citations": [], "flags": ["lost"]}
MESSAGE = {"id": "m", "author": {"role": "user"}, "content": {"parts": ["Tea"]}}


@each_case(
    "tool, content",
    [
        ("mcp_memory", {"type": "entity", "name": "Ada", "entityType": ["lost"]}),
        ("graphiti", {"nodes": [NODE]}),
        ("graphiti", {"nodes": [NODE], "edges": [{**EDGE, "fact": ["lost"], "labels": []}]}),
        ("graphiti", {"nodes": [NODE], "edges": [{**EDGE, "fact": "x", "episodes": "lost"}]}),
        ("mem0", {"results": [{"id": "m", "memory": "Tea", "text": "lost"}]}),
        ("mem0", {"results": [], "history": {"m": [{**EVENT, "event": "lost"}]}}),
        ("mem0", {"results": [], "history": {"m": [{**EVENT, "created_at": "lost"}]}}),
        ("mem0", {"results": [{"id": "m", "memory": "Tea"}], "history": {"n": {"lost": 1}}}),
        ("langgraph", [{**ITEM, "value": {"text": "lost"}}, ITEM]),
        ("chat", {"uuid": "c", "chat_messages": [{"uuid": "m", "content": [BLOCK]}]}),
        ("chat", {"id": "c", "mapping": {"n": {"message": MESSAGE, "lost": 1}}}),
        ("langgraph", [{**ITEM, "_version": "lost", "status": "reviewed", "original_id": [1]}]),
        ("langgraph", [{**ITEM, "source": "lost", "superseded": True, "author": "Ada"}]),
        ("langgraph", [{**ITEM, "status": "lost", "own_status": "kept", "own_own_status": 1}]),
        ("langgraph", [{**ITEM, "own_status": "lost", "status": "kept"}]),
        ("graphiti", {"nodes": [{**NODE, "attributes": {"own_name": "lost", "name": "Bo"}}]}),
        ("graphiti", {"nodes": [{**NODE, "attributes": {"name": "lost", "own_name": "Bo"}}]}),
        (
            "mem0",
            {
                "results": [
                    {"id": "m", "memory": "Tea", "x": 1, "metadata_x": 2, "metadata": {"x": "lost"}}
                ]
            },
        ),
    ],
)
def test_values_of_other_kinds_are_kept_or_reported(
    tool: str, content: Any, tmp_path: Path
) -> None:
    with Nexus.memory() as nexus:
        report = planned(tool, tmp_path, content).apply(nexus)
        assert "lost" in nexus.snapshot() + json.dumps(report)
        again = planned(tool, tmp_path, content).apply(nexus)
        assert (counts(again), again["vanished"]) == (NOTHING, [])
        marks = "FIND(?x.name) WHERE { ?x {} FILTER(?x.metadata.status == :status) }"
        assert nexus.execute(marks, status="reviewed") == []
