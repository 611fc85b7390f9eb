"""What tests of shapes share."""

from __future__ import annotations

PREFIXES = """
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix attr: <urn:kip:attribute/> .
@prefix meta: <urn:kip:metadata/> .
@prefix type: <urn:kip:nexus/$ConceptType/> .
@prefix pred: <urn:kip:nexus/$PropositionType/> .
"""
