"""What the programs of ``tests.programs`` find loaded."""

import kiprdf.cli.commands
import kiprdf.cli.serving
import kiprdf.serve.server
from kiprdf.interchange import formats  # noqa: F401
from tests.nexus import support  # noqa: F401

kiprdf.parse("FIND(?a) WHERE { ?a {} }")

# Last, because it may not be installed; it takes a second to load, and many servers need it.
import kiprdf.mcp  # noqa: E402
