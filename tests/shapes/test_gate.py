"""What a write that violates shapes is answered, and which shapes are refused."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kiprdf import KipError, Nexus, StoreError, View
from kiprdf.execution.transaction import Transaction
from kiprdf.shapes import Shapes, Violation, shapes, violations
from tests.shapes.support import PREFIXES

SCHEMA = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} }
  CONCEPT { {type: "$ConceptType", name: "Symptom"} }
  CONCEPT { {type: "$PropositionType", name: "treats"} }
}"""
FACTS = """UPSERT {
  CONCEPT ?h { {type: "Symptom", name: "Headache"} SET ATTRIBUTES { severity: 2 } }
  CONCEPT ?d { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES { dose: 500 } }
  PROPOSITION { (?d, "treats", ?h) } WITH METADATA { confidence: 0.9 }
}"""
DRUG = "<urn:s:Drug> a sh:NodeShape ; sh:targetClass type:Drug ;"
DOSE = f"""{DRUG} sh:property [ sh:path attr:dose ; sh:minCount 1 ; sh:datatype xsd:integer ;
  sh:message "Eine ganze Zahl"@de, "Give the dose as a whole number of mg"@en ;
  sh:agentInstruction "SET ATTRIBUTES {{ dose: 500 }}; convert grams." ] ."""


def new_nexus(text: str = "") -> Nexus:
    nexus = Nexus.memory(genesis=False)
    nexus.execute(SCHEMA)
    nexus.execute(FACTS)
    if text:
        nexus.set_shapes(PREFIXES + text)
    return nexus


def set_dose(value: str, name: str = "Aspirin") -> str:
    concept = f'{{type: "Drug", name: "{name}"}}'
    return f"UPSERT {{ CONCEPT {{ {concept} SET ATTRIBUTES {{ {value} }} }} }}"


def set_symptom(value: str) -> str:
    concept = '{type: "Symptom", name: "Headache"}'
    return f"UPSERT {{ CONCEPT {{ {concept} SET ATTRIBUTES {{ {value} }} }} }}"


def refused(nexus: Nexus, command: str) -> KipError:
    before = nexus.snapshot()
    with pytest.raises(KipError) as info:
        nexus.execute(command)
    assert nexus.snapshot() == before
    return info.value


def problems(text: str, command: str = "") -> list[Violation]:
    """What a nexus violates after a command, by the library itself."""
    nexus = new_nexus()
    if command:
        nexus.execute(command)
    store = nexus._engine.store
    return violations(Shapes.parsed(PREFIXES + text, store), store, None)


def test_a_refusal_has_the_message_path_value_hint_and_place() -> None:
    error = refused(new_nexus(DOSE), set_dose('dose: "0.5 g"'))
    assert error.code == "KIP_2002"
    assert error.message == (
        "C:Drug/Aspirin, attributes.dose: Give the dose as a whole number of mg. "
        'The value is "0.5 g".'
    )
    assert error.hint == "SET ATTRIBUTES { dose: 500 }; convert grams."
    assert error.position == (1, 20)


def test_a_violation_is_data_in_the_words_of_kip() -> None:
    assert problems(DOSE, set_dose('dose: "0.5 g"')) == [
        Violation(
            message="Give the dose as a whole number of mg",
            path="attributes.dose",
            value="0.5 g",
            hint="SET ATTRIBUTES { dose: 500 }; convert grams.",
            severity="Violation",
            shape="urn:s:Drug",
            element="C:Drug/Aspirin",
        )
    ]
    assert problems(DOSE) == []


@pytest.mark.parametrize(
    ("shape", "path", "value", "message"),
    [
        ("sh:path pred:treats ; sh:maxCount 0", '"treats"', None, "sh:maxCount 0"),
        (
            "sh:path pred:treats ; sh:class type:Drug",
            '"treats"',
            "C:Symptom/Headache",
            'sh:class "C:$ConceptType/Drug"',
        ),
        ("sh:path rdfs:label ; sh:in ( 'A' 'B' )", "name", "Aspirin", 'sh:in "A", "B"'),
        ("sh:path rdf:type ; sh:hasValue type:Drug, type:Symptom", "type", None, "sh:hasValue"),
        (
            "sh:path ( pred:treats attr:severity ) ; sh:maxInclusive 1",
            '"treats"/attributes.severity',
            2,
            "sh:maxInclusive 1",
        ),
        (
            "sh:path [ sh:inversePath rdf:subject ] ; sh:maxCount 0",
            "^subject",
            None,
            "sh:maxCount 0",
        ),
        (
            "sh:path [ sh:alternativePath ( attr:dose attr:n ) ] ; sh:minCount 2",
            "attributes.dose|attributes.n",
            None,
            "sh:minCount 2",
        ),
        (
            "sh:path [ sh:zeroOrMorePath pred:treats ] ; sh:maxCount 1",
            '"treats"*',
            None,
            "sh:maxCount 1",
        ),
        ("sh:path meta:source ; sh:minCount 1", "metadata.source", None, "sh:minCount 1"),
    ],
)
def test_paths_and_values_have_the_words_of_kip(
    shape: str, path: str, value: object, message: str
) -> None:
    first = problems(f"{DRUG} sh:property [ {shape} ] .")[0]
    assert (first.path, first.value, first.element) == (path, value, "C:Drug/Aspirin")
    assert message in first.message


def test_a_shape_of_links_sees_statements() -> None:
    nexus = new_nexus("""<urn:s:Link> a sh:NodeShape ; sh:targetClass rdf:Statement ;
      sh:property [ sh:path meta:confidence ; sh:maxInclusive 1 ; sh:message "At most 1." ] .""")
    error = refused(
        nexus, 'UPDATE ?l SET METADATA { confidence: 2 } WHERE { ?l (?a, "treats", ?b) }'
    )
    assert error.message.startswith("P:")
    assert error.message.endswith("treats, metadata.confidence: At most 1. The value is 2.")


@pytest.mark.parametrize(
    ("value", "constraint"),
    [
        ('["a", "b"]', 'sh:hasValue "[\\"a\\",\\"b\\"]"^^rdf:JSON'),
        ("{a: 1}", "sh:datatype rdf:JSON"),
        ("null", "sh:hasValue <urn:kip:vocab/null>"),
        ('{"@value": "Kopf", "@language": "de"}', 'sh:languageIn ( "de" )'),
        (
            '{"@value": "POINT(1 2)", "@type": "http://www.opengis.net/ont/geosparql#wktLiteral"}',
            "sh:datatype <http://www.opengis.net/ont/geosparql#wktLiteral>",
        ),
        ("0.25", "sh:hasValue 0.25e0"),
        ("true", "sh:datatype xsd:boolean"),
        ('"x"', 'sh:hasValue "x"^^xsd:string'),
    ],
)
def test_values_are_those_of_a_snapshot(value: str, constraint: str) -> None:
    nexus = new_nexus(f"{DRUG} sh:property [ sh:path attr:v ; {constraint} ] .")
    assert nexus.check_shapes().conforms == ("hasValue" not in constraint)
    nexus.execute(set_dose(f"v: {value}"))
    assert nexus.check_shapes().conforms
    refused(nexus, set_dose("v: 7"))


def test_other_severities_are_warnings_of_the_response() -> None:
    nexus = new_nexus(f"""{DRUG} sh:property [ sh:path attr:colour ; sh:maxLength 3 ;
      sh:severity sh:Warning ; sh:message "Keep it short" ; sh:agentInstruction "Say red." ] ,
      [ sh:path attr:colour ; sh:minLength 9 ; sh:severity sh:Info ] .""")
    response = nexus.execute_kip({"command": set_dose('colour: "yellow"')})
    assert [(one["name"], one["message"], one.get("hint")) for one in response["warnings"]] == [
        (
            "ShapeInfo",
            "C:Drug/Aspirin, attributes.colour: It does not satisfy sh:minLength 9. "
            'The value is "yellow".',
            None,
        ),
        (
            "ShapeWarning",
            'C:Drug/Aspirin, attributes.colour: Keep it short. The value is "yellow".',
            "Say red.",
        ),
    ]
    assert nexus.execute('FIND(?d.attributes.colour) WHERE { ?d {type: "Drug"} }') == ["yellow"]
    assert nexus.check_shapes().conforms
    assert "warnings" not in nexus.execute_kip({"command": set_dose("dose: 1", "Ibuprofen")})


def test_ten_violations_are_named_and_the_others_counted() -> None:
    blocks = "".join(f'CONCEPT {{ {{type: "Drug", name: "D{n:02}"}} }}' for n in range(13))
    error = refused(new_nexus(DOSE), f"UPSERT {{ {blocks} }}")
    assert error.message.startswith("13 violations of shapes: C:Drug/D00, attributes.dose: Give")
    assert "C:Drug/D09" in error.message
    assert "C:Drug/D10" not in error.message
    assert error.message.endswith(" And 3 more.")
    assert error.hint == "SET ATTRIBUTES { dose: 500 }; convert grams."


def test_ten_warnings_are_listed_and_the_others_counted() -> None:
    nexus = new_nexus(f"""{DRUG} sh:property [ sh:path attr:a ; sh:minCount 1 ;
      sh:severity sh:Info ] , [ sh:path attr:b ; sh:minCount 1 ; sh:severity sh:Warning ] .""")
    blocks = "".join(f'CONCEPT {{ {{type: "Drug", name: "D{n}"}} }}' for n in range(8))
    warnings = nexus.execute_kip({"command": f"UPSERT {{ {blocks} }}"})["warnings"]
    assert [one["name"] for one in warnings] == [*["ShapeInfo", "ShapeWarning"] * 5, "ShapeWarning"]
    assert warnings[-1]["message"] == "There are 6 more such warnings."


def test_without_an_instruction_the_hint_names_the_shape() -> None:
    error = refused(
        new_nexus(f"{DRUG} sh:property [ sh:path attr:dose ; sh:maxExclusive 600 ] ."),
        set_dose("dose: 600"),
    )
    assert error.hint == "Write what the shape <urn:s:Drug> asks for; kiprdf gate show prints it."


# Which elements are checked -----------------------------------------------------------------------

NEEDS_SYMPTOM = f"{DRUG} sh:property [ sh:path pred:treats ; sh:minCount 1 ] ."


def test_deleting_the_only_required_end_violates_the_shape_of_another_element() -> None:
    nexus = new_nexus(NEEDS_SYMPTOM)
    error = refused(nexus, 'DELETE CONCEPT ?s DETACH WHERE { ?s {type: "Symptom"} }')
    assert error.message.startswith('C:Drug/Aspirin, "treats": ')
    nexus.execute('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug"} }')
    nexus.execute('DELETE CONCEPT ?s DETACH WHERE { ?s {type: "Symptom"} }')


def test_an_inverse_path_is_followed_to_the_other_end() -> None:
    nexus = new_nexus("""<urn:s:S> a sh:NodeShape ; sh:targetClass type:Symptom ;
      sh:property [ sh:path [ sh:inversePath pred:treats ] ; sh:maxCount 1 ] .""")
    error = refused(
        nexus,
        """UPSERT {
      CONCEPT ?d { {type: "Drug", name: "Ibuprofen"} }
      PROPOSITION { (?d, "treats", {type: "Symptom", name: "Headache"}) }
    }""",
    )
    assert error.message.startswith('C:Symptom/Headache, ^"treats": ')


def test_another_element_may_stay_as_wrong_as_it_was() -> None:
    nexus = new_nexus(f"""{DRUG} sh:property [ sh:path ( pred:treats attr:severity ) ;
      sh:maxInclusive 1 ; sh:message "Too severe." ] .""")
    assert [str(one) for one in nexus.check_shapes().violations] == [
        'C:Drug/Aspirin, "treats"/attributes.severity: Too severe. The value is 2.'
    ]
    nexus.execute(set_symptom("n: 1"))
    # The value that was wrong is gone, and another wrong one is new.
    assert refused(nexus, set_symptom("severity: 3")).code == "KIP_2002"
    # What is written itself has to fit.
    assert refused(nexus, set_dose("dose: 1")).code == "KIP_2002"
    nexus.execute(set_symptom("severity: 1"))
    nexus.execute(set_dose("dose: 1"))


def test_a_target_node_stays_one_after_it_was_deleted() -> None:
    nexus = new_nexus("""<urn:s:1> a sh:NodeShape ; sh:targetNode <urn:kip:nexus/Drug/Aspirin> ;
      sh:property [ sh:path rdf:type ; sh:minCount 1 ] .""")
    error = refused(nexus, 'DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug"} }')
    assert error.message == "C:Drug/Aspirin, type: It does not satisfy sh:minCount 1."


def test_a_transaction_is_checked_as_a_whole() -> None:
    nexus = new_nexus(NEEDS_SYMPTOM)
    ibuprofen = {"type": "Drug", "name": "Ibuprofen"}
    headache = {"type": "Symptom", "name": "Headache"}
    fact = {"subject": ibuprofen, "predicate": "treats", "object": headache}
    with pytest.raises(KipError) as info:
        nexus.transaction(lambda one: one.write([{**ibuprofen, "attributes": {"dose": 1}}]))
    assert info.value.code == "KIP_2002"

    def write(transaction: Transaction) -> None:
        transaction.write([{**ibuprofen, "attributes": {"dose": 1}}])
        transaction.write([fact])

    nexus.transaction(write)


def test_a_deactivated_shape_checks_nothing() -> None:
    new_nexus(DOSE.replace("sh:minCount", "sh:deactivated true ; sh:minCount")).execute(
        set_dose('dose: "0.5 g"')
    )


def test_a_class_that_is_a_shape_is_its_own_target() -> None:
    for kind in ("rdfs:Class", "owl:Class"):
        nexus = new_nexus(f"""type:Drug a {kind}, sh:NodeShape ;
          sh:property [ sh:path pred:treats ; sh:minCount 1 ] .""")
        refused(nexus, 'DELETE PROPOSITIONS ?l WHERE { ?l (?a, "treats", ?b) }')


def test_shapes_with_prefixes_and_a_component_of_ones_own_are_evaluated() -> None:
    nexus = new_nexus(f'''<urn:x:own> a owl:Ontology ;
        sh:declare [ sh:prefix "at" ; sh:namespace "urn:kip:attribute/"^^xsd:anyURI ] .
      <urn:x:Below> a sh:ConstraintComponent ; sh:parameter [ sh:path <urn:x:own#below> ] ;
        sh:validator [ a sh:SPARQLAskValidator ; sh:prefixes <urn:x:own> ;
          sh:message "It must be below {{$below}}" ; sh:ask "ASK {{ FILTER ($value < $below) }}" ] .
      {DRUG} sh:property [ sh:path attr:dose ; <urn:x:own#below> 1000 ] ; sh:sparql [
        sh:prefixes <urn:x:own> ; sh:message "Dose {{?dose}} is the severity" ;
        sh:select """SELECT $this ?dose WHERE {{ $this at:dose ?dose .
          ?s at:severity ?dose }}""" ] .''')
    assert refused(nexus, set_dose("dose: 1000")).message == (
        "C:Drug/Aspirin, attributes.dose: It must be below 1000."
    )
    assert refused(nexus, set_dose("dose: 2")).message == (
        "C:Drug/Aspirin: Dose 2 is the severity."
    )
    # The symptom is no target: its value joins it with the drug.
    assert refused(nexus, set_symptom("severity: 500")).message == (
        "C:Drug/Aspirin: Dose 500 is the severity."
    )


def test_an_element_that_another_member_of_a_view_describes_needs_nothing_here() -> None:
    shared, own = new_nexus(), Nexus.memory(genesis=False)
    own.execute(SCHEMA)
    own.set_shapes(PREFIXES + DOSE)
    view = View([shared, own], write=own)
    fever = """UPSERT { CONCEPT ?f { {type: "Symptom", name: "Fever"} }
      PROPOSITION { ({type: "Drug", name: "Aspirin"}, "treats", ?f) } }"""
    view.execute(fever)
    assert refused(view, set_dose('dose: "x"')).code == "KIP_2002"
    assert own.execute('FIND(?s.name) WHERE { ({type: "Drug"}, "treats", ?s) }') == ["Fever"]


# Which shapes are refused -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<urn:x> <urn:y> <urn:z> .", "The text contains no SHACL shapes."),
        (
            "<urn:s:R> a sh:NodeShape ; sh:property [ sh:path pred:treats ; sh:node <urn:s:R> ] .",
            "The shape <urn:s:R> refers to itself.",
        ),
        (
            "<urn:s:R> a sh:NodeShape ; sh:or ( [ sh:not <urn:s:R> ] [ sh:class type:Drug ] ) .",
            "The shape <urn:s:R> refers to itself.",
        ),
        (
            "<urn:s:R> a sh:NodeShape ; sh:pattern '(' .",
            "The shapes cannot be evaluated: '(' is no regular expression of SPARQL.",
        ),
        (
            "<urn:s:R> a sh:PropertyShape .",
            "The shapes cannot be evaluated: A shape defined as a "
            "PropertyShape must include one `sh:path` property.",
        ),
        (
            f"{DRUG} sh:sparql [ sh:select 'SELECT $this WHERE {{ SERVICE <http://x.example/> "
            "{ $this ?p ?o } }' ] .",
            "The SPARQL of a shape reads the nexus, without SERVICE and FROM.",
        ),
        (
            f"{DRUG} sh:sparql [ sh:select 'SELECT $this FROM <file:///etc/passwd> "
            "WHERE { $this ?p ?o }' ] .",
            "The SPARQL of a shape reads the nexus, without SERVICE and FROM.",
        ),
        (f"{DRUG} sh:sparql [ sh:select 'SELECT nonsense' ] .", "The shapes cannot be evaluated: "),
        (
            f"{DRUG} sh:sparql [ sh:select 'SELECT $this WHERE {{ $this x:y ?z }}' ] .",
            "The shapes cannot be evaluated: ",
        ),
        (
            "<urn:s:R> a sh:NodeShape ; sh:property [ sh:path ( "
            + "attr:a " * 12
            + ") ; sh:maxCount 1 ] .",
            "The shapes cannot be evaluated: Path traversal depth is too much!",
        ),
        (
            "".join(f"<urn:s:{n}> a sh:NodeShape ; sh:not <urn:s:{n + 1}> . " for n in range(60))
            + "<urn:s:60> a sh:NodeShape .",
            "Shapes refer to each other more than 50 levels deep.",
        ),
        (
            f"{DRUG} rdfs:comment <<( <urn:a> <urn:b> <urn:c> )>> .",
            "Shapes are in RDF 1.1: the text has a triple in a triple.",
        ),
    ],
)
def test_bad_shapes_are_refused_in_one_sentence(text: str, message: str) -> None:
    with pytest.raises(KipError) as info:
        new_nexus(text)
    assert info.value.code == "KIP_1001"
    assert info.value.message.startswith(message)


def test_text_that_is_no_turtle_is_refused_with_its_place() -> None:
    with pytest.raises(KipError) as info:
        new_nexus().set_shapes("@prefix sh: <http://www.w3.org/ns/shacl#> .\n<urn:s:1> sh:path , .")
    assert info.value.code == "KIP_1001"
    assert info.value.position == (2, 19)


def test_what_the_nexus_lacks_and_what_is_not_evaluated_is_a_warning() -> None:
    report = new_nexus().set_shapes(f"""{PREFIXES}
      <urn:x:ontology> owl:imports <http://shapes.example/> .
      <urn:s:1> a sh:NodeShape ; sh:targetClass type:Drgu ; sh:targetNode <urn:kip:nexus/Drug/X> ;
        sh:rule [ sh:order 1 ] ; sh:js [ sh:jsFunctionName "f" ] ;
        sh:property [ sh:path pred:treat ; sh:class <https://schema.org/Thing> ] ,
          [ sh:path attr:dosse ; sh:maxCount 1 ] , [ sh:path attr:dose ; sh:maxCount 1 ] ,
          [ sh:path <https://schema.org/name> ; sh:maxCount 1 ] .""")
    assert report.conforms
    assert set(report.warnings) == {
        "owl:imports is not followed: shapes are those of the text alone.",
        "sh:rule is not evaluated.",
        "sh:js is not evaluated.",
        "The nexus has no type 'Drgu'. Did you mean 'Drug'?",
        "The nexus has no predicate \"treat\". Did you mean 'treats'?",
        "No element has attributes.dosse.",
        "<https://schema.org/Thing> is not a type of the nexus; give the mapping that has it.",
        "<https://schema.org/name> is not a property of the nexus; give the mapping that has it.",
        "The nexus has no C:Drug/X.",
    }


def test_imports_are_not_fetched() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        iri = f"http://127.0.0.1:{server.getsockname()[1]}/shapes.ttl"
        nexus = new_nexus(f"<urn:x:ontology> a owl:Ontology ; owl:imports <{iri}> . {DOSE}")
        refused(nexus, set_dose('dose: "x"'))
        with pytest.raises(TimeoutError):
            server.accept()


def test_a_pattern_that_python_would_never_finish_is_answered_at_once() -> None:
    nexus = new_nexus(f'{DRUG} sh:property [ sh:path attr:code ; sh:pattern "^(a+)+$" ] .')
    begin = time.process_time()
    refused(nexus, set_dose(f'code: "{"a" * 5_000}!"'))
    nexus.execute(set_dose(f'code: "{"a" * 5_000}"'))
    assert time.process_time() - begin < 5


def test_shapes_that_take_too_long_write_nothing() -> None:
    nexus = new_nexus()
    drugs = "".join(f'CONCEPT {{ {{type: "Drug", name: "D{n}"}} }}' for n in range(300))
    nexus.execute(f"UPSERT {{ {drugs} }}")
    text = f"""{PREFIXES} <urn:s:1> a sh:NodeShape ; sh:targetSubjectsOf attr:slow ;
      sh:sparql [ sh:select '''SELECT $this WHERE {{
        ?a rdf:type ?s . ?b rdf:type ?t . ?c rdf:type ?u .
        FILTER (?a = ?b && ?b = ?c && ?c = <urn:x>) }}''' ] ."""
    nexus.set_shapes(text)
    before = nexus.snapshot()
    with nexus.limited(timeout_s=0.3), pytest.raises(KipError) as info:
        nexus.execute(set_dose("slow: 1"))
    assert info.value.code == "KIP_4001"
    assert nexus.snapshot() == before
    nexus.execute(set_dose("dose: 1"))


# Where there are no shapes ------------------------------------------------------------------------


def test_a_nexus_without_shapes_loads_neither_rdflib_nor_the_validator() -> None:
    program = f"""
import sys
from kiprdf import Nexus
nexus = Nexus.memory()
nexus.execute({SCHEMA!r})
nexus.execute({FACTS!r})
print(sorted({{"rdflib", "pyshacl", "kiprdf.shapes"}}.intersection(sys.modules)))
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout == "[]\n"


def test_a_nexus_with_shapes_opens_without_the_validator_only_to_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Nexus.open(tmp_path / "n", genesis=False) as nexus:
        nexus.execute(SCHEMA)
        nexus.set_shapes(PREFIXES + DOSE)
    monkeypatch.setattr(shapes, "find_spec", lambda name: None)
    with pytest.raises(StoreError) as info:
        Nexus.open(tmp_path / "n")
    assert str(info.value) == (
        "The shapes of a nexus need pySHACL: pip install 'kiprdf[shapes]'; "
        "without it, open the nexus with read_only=True."
    )
    with Nexus.open(tmp_path / "n", read_only=True) as nexus:
        assert nexus.shapes_set() == PREFIXES + DOSE


def test_a_closed_shape_ignores_what_the_nexus_writes_by_itself() -> None:
    nexus = new_nexus(f"""{DRUG} sh:closed true ; sh:ignoredProperties ( rdf:type ) ;
      sh:property [ sh:path attr:dose ] , [ sh:path attr:aliases ] ,
        [ sh:path rdfs:label ] , [ sh:path pred:treats ] .""")
    with nexus.acting(author="bot"):
        nexus.execute(set_dose("dose: 1"))
    nexus.execute(set_dose("dose: 1", "ASA"))
    nexus.execute("""MERGE CONCEPT ?a INTO ?b
      WHERE { ?a {type: "Drug", name: "ASA"} ?b {type: "Drug", name: "Aspirin"} }""")
    assert nexus.check_shapes().conforms
    error = refused(nexus, set_dose("colour: 1"))
    assert error.message.startswith("C:Drug/Aspirin, attributes.colour: ")


def test_a_constraint_without_a_message_has_those_of_the_shapes_that_it_names() -> None:
    nexus = new_nexus(f"""{DRUG} sh:property [ sh:path pred:treats ; sh:node <urn:s:N> ] ;
      sh:or ( [ sh:property [ sh:path attr:x ; sh:minCount 1 ; sh:message "It has an x." ;
          sh:agentInstruction "Set x." ] ] [ sh:property [ sh:path attr:y ; sh:minCount 1 ] ] ) ;
      sh:xone ( [ sh:property [ sh:path attr:x ; sh:maxCount 0 ; sh:agentInstruction "No!" ] ] ) .
    <urn:s:N> a sh:NodeShape ; sh:property [ sh:path attr:severity ; sh:maxInclusive 1 ] .""")
    assert str(refused(nexus, set_dose("dose: 1"))).startswith(
        "KIP_2002 1:20 2 violations of shapes: "
        'C:Drug/Aspirin: It does not satisfy sh:or "It has an x.". '
        'C:Drug/Aspirin, "treats": It does not satisfy sh:node "urn:s:N". '
        'The value is "C:Symptom/Headache". Hint: Set x.'
    )
    assert "No!" not in refused(nexus, set_dose("x: 1")).hint


def test_a_message_of_sparql_names_elements_by_their_ids_and_is_in_one_language() -> None:
    nexus = new_nexus(f"""{DRUG} sh:sparql [ sh:message "{{$this}} treats {{?s}}."@de , "..."@fr ;
      sh:select "SELECT $this ?s WHERE {{ $this <urn:kip:nexus/$PropositionType/treats> ?s }}" ] .
    """)
    error = refused(nexus, set_dose("dose: 1"))
    assert error.message == "C:Drug/Aspirin: C:Drug/Aspirin treats C:Symptom/Headache."
    assert (
        new_nexus(DOSE)
        .execute('DESCRIBE CONCEPT TYPE "Drug"')["gate"]
        .endswith("Drug: Give the dose as a whole number of mg")
    )


def test_the_path_of_a_shape_in_its_sparql_is_no_unknown_property() -> None:
    nexus = new_nexus()
    report = nexus.set_shapes(f"""{PREFIXES}{DRUG} sh:property [ sh:path attr:dose ;
      sh:sparql [ sh:message "Too much." ; sh:select
        "SELECT $this ?value WHERE {{ $this $PATH ?value FILTER (?value > 600) }}" ] ] .""")
    assert report.warnings == ()
    error = refused(nexus, set_dose("dose: 601"))
    assert error.message == "C:Drug/Aspirin, attributes.dose: Too much. The value is 601."


def test_a_closed_shape_of_a_mapping_takes_arrays_of_what_it_names() -> None:
    """A mapping keeps the exact array beside its values."""
    nexus = new_nexus()
    nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Person"} } }')
    nexus.set_shapes(
        f"""{PREFIXES} @prefix schema: <https://schema.org/> .
        <urn:s:P> a sh:NodeShape ; sh:targetClass schema:Person ; sh:closed true ;
          sh:ignoredProperties ( rdf:type rdfs:label schema:name ) ;
          sh:property [ sh:path schema:email ; sh:maxCount 2 ] .""",
        mapping="schema-org",
    )
    bob = 'UPSERT {{ CONCEPT {{ {{type: "Person", name: "Bob"}} SET ATTRIBUTES {{ {} }} }} }}'
    nexus.execute(bob.format('email: ["a@b", "c@d"]'))
    for wrong in ('email: ["a@b", "c@d", "e@f"]', "age: 3", 'telephone: ["1", "2"]'):
        assert refused(nexus, bob.format(wrong)).code == "KIP_2002", wrong
