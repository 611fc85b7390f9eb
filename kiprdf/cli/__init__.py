"""The command line, thin, over the nexus.

root (``kiprdf`` itself); the commands: commands, snapshots, linked; options, inputs, answers,
reports, tables, shell, demo, output, progress, failures.
"""

# In the order in which --help lists the commands.
from kiprdf.cli import commands, snapshots, linked  # isort: skip
from kiprdf.cli.root import app, main

__all__ = ["app", "commands", "linked", "main", "snapshots"]
