"""What the programs of ``tests.programs`` find loaded."""

import functools

import typer.main

import kiprdf.cli.commands
import kiprdf.cli.serving
import kiprdf.serve.server
from kiprdf.execution import empty_answers
from kiprdf.interchange import formats  # noqa: F401
from kiprdf.memory import recall
from tests.nexus import support  # noqa: F401

# A loaded machine may take longer than the time in which an empty answer is explained, or in which
# a text to recall is embedded.
empty_answers.SECONDS = 60.0
recall._VECTOR_SECONDS = 60
kiprdf.parse("FIND(?a) WHERE { ?a {} }")
# To put the commands together takes as long as most of them.
setattr(typer.main, "get_command", functools.cache(typer.main.get_command))  # noqa: B010
typer.main.get_command(kiprdf.cli.app)
# What a new nexus begins with is read once.
kiprdf.Nexus.memory().close()

# Last, because it may not be installed; it takes a second to load, and many servers need it.
import kiprdf.mcp  # noqa: E402
