"""The command line: a thin layer over ``kiprdf.nexus``.

``root`` (the program itself) and the commands in ``commands``, ``snapshots``, ``imports``,
``linked``, ``serving``, ``chunks`` (with ``chunks_run`` and ``chunks_read``), ``history``,
``memory`` and ``maintenance``; shared options (``options``), arguments and files (``inputs``),
answers (``answers``, ``tables``, ``output``), errors (``failures``), ``shell`` and ``demo``.
"""

# Imported in the order in which --help lists the commands.
from kiprdf.cli import commands, snapshots, imports, linked, serving  # isort: skip
from kiprdf.cli import chunks, history, memory, maintenance  # isort: skip
from kiprdf.cli.root import app, main

__all__ = [
    "app",
    "chunks",
    "commands",
    "history",
    "imports",
    "linked",
    "main",
    "maintenance",
    "memory",
    "serving",
    "snapshots",
]
