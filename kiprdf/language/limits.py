"""Size limits of a command, checked before it is compiled (KIP_4002 if exceeded).

Without them the engine would not raise an error but plan for minutes, or crash the process.
"""

COMMAND_BYTES = 256 * 1024
NESTING = 64
CAPSULE_NESTING = NESTING + 8
"""Of a capsule: a value from a parameter may nest as deep as a command, and blocks surround it."""
CLAUSES = 64
EXPRESSIONS = 64
"""Of a FIND; also the number of keys of ORDER BY."""
FILTER_OPERANDS = 200
CALCULATION_ARGUMENTS = 200
"""Of all calculations of an UPDATE together, which run for each target."""
HOPS = 64
HOP_LEVELS = 4_096
"""Hops of all ranges of a WHERE together; a range on alternatives counts for each of them."""
LIST_ITEMS = 10_000
FILTER_CHARACTERS = 1024 * 1024
"""Of all strings in the FILTERs of a WHERE together."""
STRING_BYTES = 1024 * 1024
PARAMETER_VALUES = 1_000_000
"""Of all parameters of a command together; a shared value counts each time it is used."""
PARAMETER_CHARACTERS = 32 * 1024 * 1024
"""Of all strings and keys in the parameters, counted the same way."""
KEY_CHARACTERS = 128
NAME_CHARACTERS = 1024
INTEGER_MINIMUM = -(2**63)
INTEGER_MAXIMUM = 2**63 - 1
