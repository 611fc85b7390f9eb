"""META (KIP 5): ``describe`` (schema, ``primer``), ``search``, ``export``, ``indexing`` for SEARCH.

DESCRIBE also reads ``counts``, ``recency``, ``waiting``, the ``usage`` of types and the
``consequences`` of definitions; ``excerpts`` shortens values.
"""
