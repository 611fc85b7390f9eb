"""Two datasets compared: in KIP terms, and triple by triple as RDF Patch.

``difference`` (the door), ``changes``, ``change_statements``; ``patch``.
"""
