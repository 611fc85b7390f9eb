"""What the programs of ``tests.programs`` find loaded."""

import kiprdf.cli.commands
import kiprdf.cli.serving
import kiprdf.serve.server
from kiprdf.execution import empty_answers
from kiprdf.interchange import formats  # noqa: F401
from tests.nexus import support  # noqa: F401

# A loaded machine may take longer than the time in which an empty answer is explained.
empty_answers.SECONDS = 60.0
kiprdf.parse("FIND(?a) WHERE { ?a {} }")

# Last, because it may not be installed; it takes a second to load, and many servers need it.
import kiprdf.mcp  # noqa: E402
