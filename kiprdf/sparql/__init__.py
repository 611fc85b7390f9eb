"""SPARQL as data; independent of KIP.

``algebra`` (frozen nodes under the names of the W3C), ``abilities`` (what an engine can do),
``text`` (the only file that writes SPARQL).
"""
