"""Mapping files: JSON-LD contexts that say what KIP words mean on the web, both ways.

``contexts`` (the door), ``context_sources``, ``context_reader``, ``term_reader``,
``context_checks``, ``limits``, ``terms``, ``context_text``; ``mapped`` and ``mapped_values`` put a
dataset into the words of a mapping and back; ``datatypes`` tells which texts fit.
"""
