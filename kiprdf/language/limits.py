"""The size budgets of a command, checked before anything is rendered (KIP_4002 beyond them).

Past them the engine does not raise: it plans for minutes, or takes the process down.
"""

COMMAND_BYTES = 256 * 1024
NESTING = 64
CAPSULE_NESTING = NESTING + 8
"""Of a capsule: a value that a parameter brought nests as deep, and stands inside of blocks."""
CLAUSES = 64
EXPRESSIONS = 64
"""Of a FIND, which has a column for each, and as many keys of ORDER BY."""
FILTER_OPERANDS = 200
CALCULATION_ARGUMENTS = 200
"""Of all calculations of an UPDATE, which are made for each of its targets."""
HOPS = 64
HOP_LEVELS = 4_096
"""Hops of all ranges of a WHERE together; one with alternatives counts for each."""
LIST_ITEMS = 10_000
FILTER_CHARACTERS = 1024 * 1024
"""Of all strings in the FILTERs of a WHERE together."""
STRING_BYTES = 1024 * 1024
PARAMETER_VALUES = 1_000_000
"""Of all parameters of a command together; a value counts wherever it is used, shared or not."""
PARAMETER_CHARACTERS = 32 * 1024 * 1024
"""Of all strings and keys in them, counted the same way."""
KEY_CHARACTERS = 128
NAME_CHARACTERS = 1024
INTEGER_MINIMUM = -(2**63)
INTEGER_MAXIMUM = 2**63 - 1
