"""Reads the Wikibase RDF model, that of Wikidata, as plain facts, and writes it.

``reading`` turns its statement nodes into facts before an import plans them: ``source`` holds the
triples of a document, ``properties`` turns its properties into definitions, ``elements`` its
entities and values into concepts; ``terms`` are its IRIs and values. ``writing`` is the inverse.
"""
