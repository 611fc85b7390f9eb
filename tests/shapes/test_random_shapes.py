"""Random writes with random shapes: the gate refuses what pySHACL finds in the whole snapshot.

The nexus satisfies its shapes before each write, so the gate must refuse it exactly where
``pyshacl.validate`` finds a violation in the snapshot of a nexus without a gate after it.
"""

from __future__ import annotations

import random
from typing import Any

import pyshacl
import pytest
import rdflib

from kiprdf import KipError, Nexus
from tests.long_runs import SEED, amount
from tests.shapes.support import PREFIXES

SHAPES = [
    "sh:targetClass type:A ; sh:property [ sh:path attr:n ; sh:minInclusive 0 ]",
    "sh:targetClass type:A ; sh:property [ sh:path pred:p ; sh:maxCount 2 ; sh:class type:B ]",
    "sh:targetClass type:A ; sh:property [ sh:path ( pred:p pred:q ) ; sh:maxCount 2 ]",
    "sh:targetClass type:B ; sh:property [ sh:path [ sh:inversePath pred:p ] ; sh:maxCount 2 ]",
    """sh:targetClass type:A ; sh:property [ sh:path pred:p ;
        sh:node [ sh:property [ sh:path attr:n ; sh:maxInclusive 2 ] ] ]""",
    """sh:targetClass type:A ; sh:property [ sh:path pred:p ; sh:qualifiedMaxCount 1 ;
        sh:qualifiedValueShape [ sh:property [ sh:path attr:n ; sh:minCount 1 ] ] ]""",
    "sh:targetSubjectsOf pred:q ; sh:property [ sh:path attr:s ; sh:maxCount 0 ]",
    "sh:targetObjectsOf pred:q ; sh:property [ sh:path attr:n ; sh:maxCount 0 ]",
    "sh:targetObjectsOf attr:s ; sh:pattern '^[xy]$'",
    "sh:targetClass type:A ; sh:property [ sh:path [ sh:oneOrMorePath pred:p ] ; sh:maxCount 3 ]",
    """sh:targetClass type:A ; sh:property [
        sh:path ( [ sh:zeroOrMorePath pred:p ] attr:s ) ; sh:maxCount 1 ]""",
    """sh:targetClass type:A ; sh:property [ sh:maxCount 2 ;
        sh:path [ sh:alternativePath ( pred:p [ sh:inversePath pred:q ] ) ] ]""",
    """sh:targetClass type:A ; sh:property [ sh:maxCount 2 ;
        sh:path ( [ sh:zeroOrOnePath pred:p ] pred:q ) ]""",
    """sh:targetClass type:A ; sh:or ( [ sh:property [ sh:path attr:n ; sh:maxCount 0 ] ]
        [ sh:property [ sh:path pred:p ; sh:minCount 1 ] ] )""",
    "sh:targetClass type:A ; sh:not [ sh:property [ sh:path ( pred:p pred:p ) ; sh:minCount 2 ] ]",
    """sh:targetClass rdf:Statement ; sh:property [ sh:path meta:confidence ; sh:maxInclusive 1 ] ;
        sh:property [ sh:path ( rdf:subject attr:n ) ; sh:maxInclusive 3 ]""",
    """sh:targetNode <urn:kip:nexus/A/1> ; sh:property [ sh:maxCount 0 ;
        sh:path [ sh:inversePath ( pred:p pred:q ) ] ]""",
    "sh:targetClass type:A ; sh:property [ sh:path attr:n ; sh:lessThan attr:m ]",
    "sh:targetClass type:B ; sh:property [ sh:path pred:q ; sh:disjoint pred:p ]",
    """sh:targetClass type:B ; sh:xone ( [ sh:property [ sh:path pred:q ; sh:minCount 1 ] ]
        [ sh:property [ sh:path attr:n ; sh:maxCount 0 ] ] )""",
    """sh:targetClass type:A ; sh:closed true ; sh:ignoredProperties ( rdf:type rdfs:label attr:n
        attr:m attr:s meta:_version meta:_created_at meta:_updated_at pred:p )""",
    """sh:targetClass type:A ; sh:sparql [ sh:select '''SELECT $this ?s WHERE {
        $this <urn:kip:attribute/s> ?s . ?other <urn:kip:attribute/s> ?s .
        FILTER (?other != $this) }''' ]""",
    """sh:targetClass type:A ; sh:sparql [ sh:select '''SELECT $this WHERE {
        $this <urn:kip:nexus/$PropositionType/p> ?b .
        ?b <urn:kip:nexus/$PropositionType/q>/<urn:kip:nexus/$PropositionType/p>* ?c .
        ?c <urn:kip:attribute/n> 2 }''' ]""",
    """sh:targetClass type:B ; sh:sparql [ sh:select '''SELECT $this WHERE {
        ?a <urn:kip:nexus/$PropositionType/p> $this .
        FILTER NOT EXISTS { ?a <urn:kip:attribute/n> ?n } }''' ]""",
    """sh:targetClass type:A ; sh:property [ sh:path pred:p ; sh:sparql [ sh:select '''
        SELECT $this ?value WHERE { $this $PATH ?value . ?value ?anything "z" }''' ] ]""",
]


def new_nexus() -> Nexus:
    nexus = Nexus.memory(genesis=False)
    nexus.execute("""UPSERT {
      CONCEPT { {type: "$ConceptType", name: "A"} } CONCEPT { {type: "$ConceptType", name: "B"} }
      CONCEPT { {type: "$PropositionType", name: "p"} }
      CONCEPT { {type: "$PropositionType", name: "q"} }
    }""")
    return nexus


def concept(chance: random.Random) -> str:
    return f'{{type: "{chance.choice("AAB")}", name: "{chance.randrange(4)}"}}'


def statement(chance: random.Random) -> str:
    one, other, predicate = concept(chance), concept(chance), chance.choice("pq")
    kind = chance.randrange(10)
    if kind < 4:
        numbers = f"n: {chance.randrange(-1, 5)}, m: {chance.randrange(5)}"
        values = chance.choice([numbers, f's: "{chance.choice("xyz")}"'])
        return f"UPSERT {{ CONCEPT {{ {one} SET ATTRIBUTES {{ {values} }} }} }}"
    if kind < 7:
        return f"""UPSERT {{ CONCEPT ?a {{ {one} }} CONCEPT ?b {{ {other} }}
          PROPOSITION {{ (?a, "{predicate}", ?b) }}
          WITH METADATA {{ confidence: {chance.choice(["0.5", "1", "2"])} }} }}"""
    if kind == 7:
        return f"DELETE CONCEPT ?x DETACH WHERE {{ ?x {one} }}"
    if kind == 8:
        return f'DELETE PROPOSITIONS ?l WHERE {{ ?l ({one}, "{predicate}", ?y) }}'
    return f'DELETE ATTRIBUTES {{"{chance.choice("nms")}"}} FROM ?x WHERE {{ ?x {one} }}'


def refusal(nexus: Nexus, command: str) -> str | None:
    """The code of the error of a command."""
    try:
        nexus.execute(command)
    except KipError as error:
        return error.code
    return None


def report(nexus: Nexus, shapes: rdflib.Graph, mapping: Any = None) -> tuple[bool, str]:
    data = rdflib.Graph().parse(data=nexus.snapshot(mapping=mapping), format="turtle")
    conforms, _, text = pyshacl.validate(data, shacl_graph=shapes)
    return conforms, text


@pytest.mark.parametrize("seed", range(SEED, SEED + amount("SHAPES", 8)))
def test_the_gate_refuses_exactly_what_violates_the_shapes(seed: int) -> None:
    chance = random.Random(seed)
    chosen = chance.sample(SHAPES, chance.randrange(1, 4))
    text = PREFIXES + "\n".join(
        f"<urn:s:{at}> a sh:NodeShape ; {one} ." for at, one in enumerate(chosen)
    )
    shapes = rdflib.Graph().parse(data=text, format="turtle")
    nexus = new_nexus()
    nexus.set_shapes(text)
    for _ in range(12):
        command, before = statement(chance), nexus.snapshot()
        free = Nexus.memory(genesis=False)
        free.restore(before)
        if refusal(free, command) is not None:
            continue  # what it names is not there
        expected, why = report(free, shapes)
        code = refusal(nexus, command)
        assert code == (None if expected else "KIP_2002"), (text, command, why)
        assert expected or nexus.snapshot() == before
    assert nexus.check_shapes().conforms


def test_a_mapping_shows_shapes_what_the_mapped_snapshot_has() -> None:
    nexus = Nexus.memory(genesis=False)
    nexus.execute("""UPSERT {
      CONCEPT { {type: "$ConceptType", name: "Person"} }
      CONCEPT { {type: "$ConceptType", name: "Organization"} }
      CONCEPT { {type: "$PropositionType", name: "knows"} }
    }""")
    text = f"""{PREFIXES} @prefix schema: <https://schema.org/> .
    <urn:s:1> a sh:NodeShape ; sh:targetClass schema:Person ;
      sh:property [ sh:path schema:birthDate ; sh:datatype xsd:date ] ;
      sh:property [ sh:path schema:alternateName ; sh:maxCount 2 ] ;
      sh:property [ sh:path schema:knows ; sh:class schema:Person ; sh:maxCount 1 ] ;
      sh:property [ sh:path [ sh:inversePath schema:knows ] ; sh:maxCount 1 ] ;
      sh:property [ sh:path schema:name ; sh:minLength 2 ] ."""
    assert nexus.set_shapes(text, mapping="schema-org").warnings == ()
    shapes = rdflib.Graph().parse(data=text, format="turtle")
    chance, outcomes = random.Random(SEED), set()
    for _ in range(40):
        kind = chance.choice(["Person", "Person", "Organization"])
        one = f'{{type: "{kind}", name: "{chance.choice(["Ada", "Bo", "X"])}"}}'
        other = f'{{type: "Person", name: "{chance.choice(["Ada", "Bo"])}"}}'
        command = chance.choice(
            [
                f'UPSERT {{ CONCEPT {{ {one} SET ATTRIBUTES {{ birth_date: "1815-12-10" }} }} }}',
                f'UPSERT {{ CONCEPT {{ {one} SET ATTRIBUTES {{ birth_date: "soon" }} }} }}',
                f'UPSERT {{ CONCEPT {{ {one} SET ATTRIBUTES {{ aliases: ["a", "b", "c"] }} }} }}',
                f"UPSERT {{ CONCEPT ?a {{ {one} }} CONCEPT ?b {{ {other} }} "
                f'PROPOSITION {{ (?b, "knows", ?a) }} }}',
            ]
        )
        free = Nexus.memory(genesis=False)
        free.restore(nexus.snapshot())
        if refusal(free, command) is not None:
            continue  # nobody knows themselves
        expected, why = report(free, shapes, "schema-org")
        assert (refusal(nexus, command) is None) == expected, (command, why)
        outcomes.add(expected)
    assert outcomes == {True, False}
