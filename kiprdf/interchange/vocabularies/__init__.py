"""Exports the schema as RDFS, OWL and SHACL; imports ontologies as definitions.

Out: ``schema`` (OWL, and the IRIs of terms as a JSON-LD context) and ``shapes`` (SHACL). In:
``ontology`` with ``ontology_terms``; ``definitions`` are the result and what a nexus would write,
``axioms`` what is recorded of the ontology.
``standards`` lists the terms of these vocabularies.
"""
