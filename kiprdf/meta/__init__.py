"""META (KIP 5): ``describe`` (schema, primer), ``search``, ``export``, ``indexing`` for SEARCH."""
