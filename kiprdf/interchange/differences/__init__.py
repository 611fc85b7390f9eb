"""Compares two datasets: in KIP terms, and triple by triple as RDF Patch.

``difference`` (the entry point), ``changes``; ``patch``.
"""
