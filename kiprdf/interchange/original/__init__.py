"""Imported knowledge under the IRIs that it came with (docs/decisions/080).

``record`` reads what imports noted, ``writing`` makes the original triples of it, ``reading`` is
the way back.
"""
