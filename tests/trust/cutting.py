"""A power cut: python -m tests.trust.cutting FOLDER SYNC NUMBER

Writes commits and is killed by its last line, without closing. All that was written to a file since
it was last synced is lost, and a name since its folder was last synced. FOLDER/../synced then has
the files as they were synced, FOLDER/../acknowledged the names that were acknowledged.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import kiprdf
from kiprdf.store import journal

TYPE = 'UPSERT { CONCEPT { {type: "$ConceptType", name: "Note"} } }'
NOTE = 'UPSERT { CONCEPT { {type: "Note", name: :name} SET ATTRIBUTES {text: :text} } }'
UPDATE = 'UPDATE ?n SET ATTRIBUTES {seen: :name} WHERE { ?n {type: "Note"} }'
RECORDS_BEFORE_SEALING = 20_000


class Disk:
    """What a power cut leaves of a folder: the synced names, each with its synced content."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._contents: dict[int, bytes] = {}
        self._names: dict[Path, int] = {}
        for name in ("fsync", "fdatasync"):
            original = getattr(os, name)
            setattr(os, name, lambda number, original=original: self._sync(number, original))

    def _sync(self, number: int, original: Any) -> None:
        original(number)
        path, inode = Path(os.readlink(f"/proc/self/fd/{number}")), os.fstat(number).st_ino
        if not path.is_relative_to(self._folder):
            return
        if path.is_dir():
            self._names = {name: i for name, i in self._names.items() if name.parent != path}
            self._names |= {entry: entry.stat().st_ino for entry in path.iterdir()}
        else:
            self._contents[inode] = path.read_bytes()

    def leave(self, target: Path) -> None:
        """Write what is left, and the engine's files without its log: it syncs the others."""
        for name, inode in self._names.items():
            path = target / name.relative_to(self._folder)
            if name.is_dir():
                path.mkdir(parents=True, exist_ok=True)
            elif inode in self._contents:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(self._contents[inode])
        graph, copied = target / "graph", None
        while copied != (copied := _sizes(self._folder / "graph")):  # it may be compacting
            shutil.rmtree(graph, ignore_errors=True)
            with suppress(shutil.Error):
                shutil.copytree(self._folder / "graph", graph, ignore=_WITHOUT_LOG)


_WITHOUT_LOG = shutil.ignore_patterns("*.log", "sums.json")


def _sizes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in folder.iterdir() if path.exists()}


def main(folder: Path, sync: Any, number: int) -> None:
    journal.SEALED_BYTES = RECORDS_BEFORE_SEALING
    disk = Disk(folder)
    nexus = kiprdf.Nexus.open(folder, sync=sync)
    acknowledged = []
    nexus.execute(TYPE)
    for note in range(number):
        nexus.execute(NOTE, name=f"note{note:03}", text="word " * 20)
        acknowledged.append(f"note{note:03}")
        if note % 10 == 5:
            nexus.execute(UPDATE, name=f"note{note:03}")
        if note == number // 2:
            nexus.compact_history(nexus.info()["commit"] - 3)
    disk.leave(folder.parent / "synced")
    (folder.parent / "acknowledged").write_text(json.dumps(acknowledged))
    os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
