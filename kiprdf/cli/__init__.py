"""The command line, thin, over the nexus.

commands, inputs, answers, shell, demo, output, failures.
"""

from kiprdf.cli.commands import app, main

__all__ = ["app", "main"]
