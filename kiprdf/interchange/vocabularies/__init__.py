"""The schema out as RDFS, OWL and SHACL, ontologies in as definitions.

Out: ``schema`` (OWL) and ``shapes`` (SHACL), written by ``nested`` and ``nested_turtle``. In:
``ontology`` with ``ontology_graph``, ``ontology_terms``, ``ontology_names`` and
``ontology_report``; ``definitions`` are the result, ``definition_plan`` what a nexus would write.
``standards`` has the terms of all these vocabularies.
"""
