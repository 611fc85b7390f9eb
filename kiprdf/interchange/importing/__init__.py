"""Foreign RDF in: what it becomes in a nexus, as plain data.

``importer`` is the door and lists the others in the order of control flow; ``plan`` is the result.
"""
