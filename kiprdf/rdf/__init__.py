"""The mapping between KIP and RDF, both directions side by side (docs/mapping.md).

``vocab`` (the fixed IRIs), ``iris`` (names and ids to IRIs and back), ``literals`` (JSON values to
terms and back), ``readings`` (values as FILTER reads them), ``directions`` (of texts),
``reification`` (a proposition in RDF 1.2 and in RDF 1.1), ``elements`` (an element read from the
triples it is the subject of).
"""
