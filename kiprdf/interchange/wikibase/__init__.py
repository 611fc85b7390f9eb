"""Reads the Wikibase RDF model, that of Wikidata, as plain facts, and writes it.

``reading`` makes facts of its statement nodes before an import plans them: ``source`` holds the
triples of a document, ``properties`` makes definitions of its properties, ``elements`` concepts of
its entities and values; ``terms`` are its IRIs and values. ``writing`` is the way back.
"""
