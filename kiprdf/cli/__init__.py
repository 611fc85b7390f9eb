"""The command line: a thin layer over ``kiprdf.nexus``.

``root`` (the program itself) and the commands in ``commands``, ``why``, ``memory``, ``chunks``
(with ``chunks_files``), ``snapshots``, ``imports``, ``linked``, ``nanopublications``, ``sharing``,
``git``, ``signing``, ``history``, ``proposals``, ``rejections``, ``serving``, ``scopes``,
``principals``, ``maintenance`` and ``gate``; where a nexus is and how it is opened (``opening``; a
server: ``served``), shared options (``options``), files and parameters (``inputs``), answers
(``answers``, ``tables``, ``output``), errors (``failures``), ``shell`` and ``demo``.
"""

# Imported in the order in which --help lists the commands.
from kiprdf.cli import commands, why, memory, chunks, snapshots, imports, linked, nanopublications  # isort: skip
from kiprdf.cli import sharing, git, signing, history, proposals, rejections, serving  # isort: skip
from kiprdf.cli import scopes, principals, maintenance, gate  # isort: skip
from kiprdf.cli.root import app, main

__all__ = [
    "app",
    "chunks",
    "commands",
    "gate",
    "git",
    "history",
    "imports",
    "linked",
    "main",
    "maintenance",
    "memory",
    "nanopublications",
    "principals",
    "proposals",
    "rejections",
    "scopes",
    "serving",
    "sharing",
    "signing",
    "snapshots",
    "why",
]
