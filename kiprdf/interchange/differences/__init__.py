"""Compares two datasets: in KIP terms, and triple by triple as RDF Patch.

``difference`` (the entry point); ``patch``, and ``patch_log`` (a history as patches).
"""
