"""The limits of a mapping (KIP_4002 beyond them)."""

from __future__ import annotations

SIZE = 1_000_000
"""How many bytes a file has. The context of all of schema.org is a quarter of that."""
VALUES = 100_000
"""How many members and items the contexts have that are given as Python values."""
CHARACTERS = 4_000_000
"""How many characters the strings in them have."""
NESTING = 64
"""How deep contexts nest, those that a loader fetches too."""
STEPS = 64
"""How many terms are defined by each other in a row."""
REMOTE = 64
"""How many contexts a loader fetches."""
IRI = 2000
"""How many characters an IRI has; a prefix that is long makes every term so."""
EFFORT = 500_000
"""How many terms lie below the contexts of a mapping, each context counted with all below it."""
