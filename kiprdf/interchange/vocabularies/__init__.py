"""The schema out as RDFS, OWL and SHACL, ontologies in as definitions.

``schema``, ``shapes``, with ``nested``, ``standards``, ``json_patterns``; ``ontology`` with its
``ontology_*`` parts, ``definitions`` (the result), ``definition_plan`` (what a nexus would write).
"""
