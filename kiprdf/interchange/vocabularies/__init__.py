"""Exports the schema as RDFS, OWL and SHACL; imports ontologies as definitions.

Out: ``schema`` (OWL) and ``shapes`` (SHACL), made of the descriptions of ``nested``, and
``own_context`` (the IRIs of terms as JSON-LD). In:
``ontology`` with ``ontology_graph``, ``ontology_terms``, ``ontology_names`` and
``ontology_report``; ``definitions`` are the result, ``definition_plan`` what a nexus would write.
``standards`` lists the terms of these vocabularies.
"""
