"""Plans the import of external RDF, as plain data.

``importer`` is the entry point and lists the other modules in the order of control flow; ``plan``
is the result.
"""
