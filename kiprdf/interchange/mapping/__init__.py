"""Mapping files: JSON-LD contexts that translate between KIP names and IRIs.

``contexts`` loads them and looks words up; ``apply`` applies one to the triples of a nexus and
undoes it (``apply_mapping``, ``undo_mapping``). ``reader`` reads and checks contexts,
``datatypes`` checks which strings are literals of a datatype.
"""
