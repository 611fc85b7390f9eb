"""Exports the schema as RDFS, OWL and SHACL; imports ontologies as definitions.

Out: ``schema`` (OWL) and ``shapes`` (SHACL), made of the descriptions of ``nested``, and
``own_context`` (the IRIs of terms as JSON-LD). In: ``ontology`` with ``ontology_graph`` and
``ontology_terms``; ``definitions`` are the result, ``definition_plan`` what a nexus would write,
``axioms`` what is recorded of the ontology.
``standards`` lists the terms of these vocabularies.
"""
