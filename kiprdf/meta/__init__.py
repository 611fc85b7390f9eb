"""META (KIP 5): ``describe`` (schema, ``primer``), ``search``, ``export``, ``indexing`` for SEARCH.

DESCRIBE also reads ``counts``, ``recency``, ``waiting`` and the ``usage`` of types; ``excerpts``
shortens values.
"""
