"""META: looking around (KIP 5). ``describe`` (the schema and the primer), ``search``."""
