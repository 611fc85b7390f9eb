"""Reads the Wikibase RDF model, that of Wikidata, as plain facts, and writes it.

``reading`` turns its statement nodes into facts before an import plans them; ``elements`` holds the
triples of a document, and turns its properties into definitions, its entities and values into
concepts. ``writing`` is the inverse.
"""
