"""Mapping files: JSON-LD contexts that translate between KIP names and IRIs.

``contexts`` loads them and looks words up; ``apply`` applies one to the triples of a nexus and
undoes it (``apply_mapping``, ``undo_mapping``). ``context_reader`` reads the contexts of a
document, ``term_reader`` the terms of one context; ``terms`` are the results, ``limits`` the
bounds. ``datatypes`` checks which strings are literals of a datatype.
"""
