"""The schema out as RDFS, OWL and SHACL, ontologies in as definitions.

Out: ``schema``, ``shapes``, with ``nested``, ``nested_turtle``, ``standards``, ``json_patterns``.
In: ``ontology`` with its ``ontology_*`` parts, ``definitions`` (the result), ``existing`` (what a
nexus has), ``definition_plan`` (what it would write).
"""
