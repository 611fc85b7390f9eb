"""Imported knowledge under its original IRIs (docs/decisions/080).

``record`` reads the notes of imports, ``writing`` creates the original triples from
them.
"""
