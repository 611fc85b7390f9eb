"""Exports and imports RDF.

In and out: ``snapshots`` (with ``n_triples``, the store in which a restore waits), ``imports``,
``tables`` (rows to load), ``rdflib_store``. Documents about a nexus: ``documents``,
``description``, ``provenance``, ``proofs``. What they share: ``files`` and ``compression``,
``dataset`` (checks the dataset of a nexus), ``knowledge`` (a dataset by element), ``mapped``,
``forms``. Packages: ``formats``, ``mapping``, ``importing``, ``original``, ``vocabularies``,
``wikibase``, ``differences``.
"""
