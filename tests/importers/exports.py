"""Exports of other tools: the samples of this folder, and how a test writes and imports one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kiprdf import Nexus, importers
from kiprdf.importers import Plan
from kiprdf.memory import Memory

SAMPLES = Path(__file__).parent / "samples"


def sample(name: str) -> Any:
    """The content of a sample in JSON, to be changed."""
    return json.loads((SAMPLES / name).read_text("utf-8"))


def planned(tool: str, folder: Path, content: Any) -> Plan:
    """The plan of a file with a content: a text, bytes, or a value as JSON."""
    file = folder / f"{tool}.json"
    text = content if isinstance(content, str | bytes) else json.dumps(content)
    file.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    plan: Plan = getattr(importers, tool)(file)
    return plan


def recalled(nexus: Nexus, query: str) -> list[str]:
    """The texts of the notes that answer a query."""
    return [note.item.content for note in Memory(nexus).recall(query).notes]


def counts(report: dict[str, Any]) -> dict[str, Any]:
    """What an import created and updated."""
    return {
        kind: {key: number for key, number in report[kind].items() if key != "unchanged"}
        for kind in ("concepts", "propositions")
    }


NOTHING = {
    "concepts": {"created": 0, "updated": 0},
    "propositions": {"created": 0, "updated": 0},
}
