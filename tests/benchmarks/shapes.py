"""Seventeen questions, in KIP and as the good SPARQL that an expert would write by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

BASE = "urn:kip:nexus/"
PREFIXES = f"""\
PREFIX : <{BASE}>
PREFIX type: <{BASE}$ConceptType/>
PREFIX p: <{BASE}$PropositionType/>
PREFIX attr: <urn:kip:attribute/>
PREFIX meta: <urn:kip:metadata/>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
"""


@dataclass(frozen=True)
class Shape:
    """``sparql`` has ``{n}`` where the command has ``:name`` (D{n}); columns are plain values.

    ``rdf11`` asks the same of the profile without triple terms, where that must be asked otherwise.
    """

    name: str
    kip: str
    sparql: str
    has_parameter: bool = True
    rdf11: str | None = None

    def parameters(self, number: int) -> dict[str, Any]:
        return {"name": f"D{number}"} if self.has_parameter else {}

    def query(self, number: int, rdf11: bool = False) -> str:
        text = self.rdf11 if rdf11 and self.rdf11 is not None else self.sparql
        return PREFIXES + text.replace("{n}", str(number))


SHAPES = (
    Shape(
        "point",
        'FIND(?d.attributes.risk) WHERE { ?d {type: "Drug", name: :name} }',
        "SELECT ?v { <urn:kip:nexus/Drug/D{n}> attr:risk ?v }",
    ),
    Shape(
        "by name",
        "FIND(?d.attributes.risk) WHERE { ?d {name: :name} }",
        'SELECT ?v { ?d rdfs:label "D{n}" OPTIONAL { ?d attr:risk ?v } }',
    ),
    Shape(
        "one hop",
        'FIND(?s.name) WHERE { ({type: "Drug", name: :name}, "treats", ?s) }',
        "SELECT ?v { <urn:kip:nexus/Drug/D{n}> p:treats ?s . ?s rdfs:label ?v }",
    ),
    Shape(
        "two hops",
        'FIND(?b.name) WHERE { ({type: "Drug", name: :name}, "treats", ?s) (?s, "broader", ?b) }',
        "SELECT DISTINCT ?v { <urn:kip:nexus/Drug/D{n}> p:treats ?s . ?s p:broader ?b . "
        "?b rdfs:label ?v }",
    ),
    Shape(
        "hops {1,3}",
        'FIND(?e.name) WHERE { ({type: "Drug", name: :name}, "interacts_with"{1,3}, ?e) }',
        "SELECT ?v { { SELECT DISTINCT ?e { "
        "{ <urn:kip:nexus/Drug/D{n}> p:interacts_with ?e } UNION "
        "{ <urn:kip:nexus/Drug/D{n}> p:interacts_with/p:interacts_with ?e } UNION "
        "{ <urn:kip:nexus/Drug/D{n}> p:interacts_with/p:interacts_with/p:interacts_with ?e } "
        "} } ?e rdfs:label ?v }",
    ),
    Shape(
        "hops {1,}",
        'FIND(?b.name) WHERE { ({type: "Drug", name: :name}, "treats", ?s) '
        '(?s, "broader"{1,}, ?b) }',
        "SELECT DISTINCT ?v { <urn:kip:nexus/Drug/D{n}> p:treats ?s . ?s p:broader+ ?b . "
        "?b rdfs:label ?v }",
    ),
    Shape(
        "filter on an attribute",
        'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.risk > 3) }',
        "SELECT ?v { ?d a type:Drug ; attr:risk ?r ; rdfs:label ?v FILTER(?r > 3) }",
        has_parameter=False,
    ),
    Shape(
        "filter on a link",
        'FIND(?s.name) WHERE { ?l ({type: "Drug", name: :name}, "treats", ?s) '
        "FILTER(?l.metadata.confidence >= 0.0) }",
        "SELECT ?v { <urn:kip:nexus/Drug/D{n}> p:treats ?s . "
        "?l rdf:reifies <<( <urn:kip:nexus/Drug/D{n}> p:treats ?s )>> ; meta:confidence ?c . "
        "?s rdfs:label ?v FILTER(?c >= 0.0) }",
        rdf11="SELECT ?v { ?l rdf:subject <urn:kip:nexus/Drug/D{n}> ; rdf:predicate p:treats ; "
        "rdf:object ?s ; meta:confidence ?c . ?s rdfs:label ?v FILTER(?c >= 0.0) }",
    ),
    Shape(
        "NOT",
        'FIND(?s.name) WHERE { ?s {type: "Symptom"} '
        'NOT { ({type: "Drug", name: :name}, "treats", ?s) } }',
        "SELECT ?v { ?s a type:Symptom ; rdfs:label ?v "
        "FILTER NOT EXISTS { <urn:kip:nexus/Drug/D{n}> p:treats ?s } }",
    ),
    Shape(
        "OPTIONAL",
        'FIND(?s.name, ?b.name) WHERE { ({type: "Drug", name: :name}, "treats", ?s) '
        'OPTIONAL { (?s, "broader", ?b) } }',
        "SELECT ?v ?w { <urn:kip:nexus/Drug/D{n}> p:treats ?s . ?s rdfs:label ?v "
        "OPTIONAL { ?s p:broader ?b . ?b rdfs:label ?w } }",
    ),
    Shape(
        "UNION",
        'FIND(?x.name) WHERE { ({type: "Drug", name: :name}, "treats", ?x) '
        'UNION { ({type: "Drug", name: :name}, "interacts_with", ?x) } }',
        "SELECT ?v { { <urn:kip:nexus/Drug/D{n}> p:treats ?x } UNION "
        "{ <urn:kip:nexus/Drug/D{n}> p:interacts_with ?x } ?x rdfs:label ?v }",
    ),
    Shape(
        "group and count",
        'FIND(?s.name, COUNT(?d)) WHERE { ?s {type: "Symptom"} (?d, "treats", ?s) }',
        "SELECT ?v (COUNT(?d) AS ?c) { ?s a type:Symptom ; rdfs:label ?v . ?d p:treats ?s } "
        "GROUP BY ?v",
        has_parameter=False,
    ),
    Shape(
        "group by an attribute",
        'FIND(?d.attributes.risk, COUNT(?d), AVG(?d.attributes.risk)) WHERE { ?d {type: "Drug"} }',
        "SELECT ?r (COUNT(?d) AS ?c) (AVG(?r) AS ?a) { ?d a type:Drug ; attr:risk ?r } GROUP BY ?r",
        has_parameter=False,
    ),
    Shape(
        "order and limit",
        'FIND(?d.name, ?d.attributes.risk) WHERE { ?d {type: "Drug"} } '
        "ORDER BY ?d.attributes.risk DESC LIMIT 20",
        "SELECT ?v ?r { ?d a type:Drug ; attr:risk ?r ; rdfs:label ?v } "
        "ORDER BY DESC(?r) ?d LIMIT 20",
        has_parameter=False,
    ),
    Shape(
        "about a fact",
        'FIND(?a.name) WHERE { (?a, "stated", ({type: "Drug", name: :name}, "treats", ?s)) }',
        "SELECT DISTINCT ?v { <urn:kip:nexus/Drug/D{n}> p:treats ?s . "
        "?l rdf:reifies <<( <urn:kip:nexus/Drug/D{n}> p:treats ?s )>> . "
        "?a p:stated ?l ; rdfs:label ?v }",
        rdf11="SELECT DISTINCT ?v { ?l rdf:subject <urn:kip:nexus/Drug/D{n}> ; "
        "rdf:predicate p:treats . ?a p:stated ?l ; rdfs:label ?v }",
    ),
    Shape(
        "all facts about facts",
        'FIND(?a.name, ?d.name) WHERE { (?a, "stated", (?d, "treats", ?s)) }',
        "SELECT DISTINCT ?v ?w { ?a p:stated ?l . ?l rdf:reifies <<( ?d p:treats ?s )>> . "
        "?d p:treats ?s ; rdfs:label ?w . ?a rdfs:label ?v }",
        has_parameter=False,
        rdf11="SELECT DISTINCT ?v ?w { ?a p:stated ?l . ?l rdf:predicate p:treats ; "
        "rdf:subject ?d . ?a rdfs:label ?v . ?d rdfs:label ?w }",
    ),
    Shape(
        "predicate variable",
        'FIND(?p, ?o.name) WHERE { ({type: "Drug", name: :name}, ?p, ?o) }',
        "SELECT ?p ?v { <urn:kip:nexus/Drug/D{n}> ?p ?o . "
        "?l rdf:reifies <<( <urn:kip:nexus/Drug/D{n}> ?p ?o )>> . ?o rdfs:label ?v }",
        rdf11="SELECT ?p ?v { ?l rdf:subject <urn:kip:nexus/Drug/D{n}> ; rdf:predicate ?p ; "
        "rdf:object ?o . ?o rdfs:label ?v }",
    ),
)
