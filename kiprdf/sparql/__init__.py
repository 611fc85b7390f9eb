"""SPARQL as data; independent of KIP.

``algebra`` (frozen nodes under the names of the W3C), ``abilities`` (what an engine can do),
``text`` (the algebra as SPARQL); ``requests`` and ``updates`` (what a remote store sends for
itself).
"""
