"""The command line, thin, over the nexus.

root (``kiprdf`` itself); the commands: commands, snapshots, linked, care; options, inputs,
answers, reports, tables, shell, demo, output, progress, failures.
"""

# In the order in which --help lists the commands.
from kiprdf.cli import commands, snapshots, linked, care  # isort: skip
from kiprdf.cli.root import app, main

__all__ = ["app", "care", "commands", "linked", "main", "snapshots"]
