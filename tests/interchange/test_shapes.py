"""SHACL shapes: pyshacl finds on a snapshot what a strict nexus refuses.

``KIPRDF_EXAMPLES`` sets how many schemas are tried.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pyoxigraph
import pytest
import rdflib
from hypothesis import example, given, settings
from hypothesis import strategies as st

import kiprdf
from kiprdf.interchange.vocabularies.shapes import shapes
from tests.long_runs import amount

pyshacl = pytest.importorskip("pyshacl")
EXAMPLES = amount("EXAMPLES", 8)
SH = rdflib.Namespace("http://www.w3.org/ns/shacl#")

TYPES = ("string", "number", "integer", "boolean", "array", "object", "null", "date", 7)
NUMBERS = (0, 1, -1, 7, 2**63 - 1, 2**53 + 1, 0.0, -0.0, 1.0, 7.0, 0.5, 1e-7, 1e16, 1.5e300)
STRINGS = ("", "a", "b", "true", "1", 'quo"te\\', "[", "]", "^a.b$", "a\nb", "\u2028", "漢字", "é")
WORDS: tuple[dict[str, str], ...] = (
    {"@value": "Kopfschmerz", "@language": "de"},
    {"@value": "urn:x:a", "@type": "http://www.w3.org/2001/XMLSchema#anyURI"},
    {"@value": "1.10", "@type": "http://www.w3.org/2001/XMLSchema#decimal"},
)

scalars: st.SearchStrategy[Any] = (
    st.sampled_from(NUMBERS) | st.sampled_from(STRINGS) | st.booleans() | st.none()
)
containers: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(("a", "k", "]", 'q"')), inner, max_size=2)
    ),
    max_leaves=5,
)
alike = st.sampled_from(
    (1, 1.0, True, 0, -0.0, False, "a", [1], [1.0], [True], {"k": 1}, {"k": 1.0}, [[1]], ["a", "b"])
)
values: st.SearchStrategy[Any] = alike | scalars | containers | st.sampled_from(WORDS)
# SHACL compares the arrays and objects of an enum as they are written, and [1] is not [1.0].
options = scalars | st.lists(st.sampled_from(STRINGS), max_size=2) | st.sampled_from(WORDS)
rules = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(TYPES),
        "item_type": st.sampled_from([one for one in TYPES if one not in ("array", "object")]),
        "is_required": st.booleans(),
        "enum": st.lists(options, max_size=4),
        "description": st.just("What it is."),
        "default_value": scalars,
    },
)
schemas = st.dictionaries(st.sampled_from(("a", "b", "no key")), rules, max_size=2)
ends = st.lists(st.sampled_from(("T", "U", "Unknown", "*", "$ConceptType")), max_size=2)


def _definitions(schema: Any, subjects: list[str] | None, objects: list[str] | None) -> str:
    """Two types, of which T has the schema, and a predicate between what it says."""
    t = json.dumps({"instance_schema": schema})
    allowed = {"subject_types": subjects, "object_types": objects}
    p = json.dumps({role: names for role, names in allowed.items() if names is not None})
    given_ = f"SET ATTRIBUTES {p}" if p != "{}" else ""
    return f"""UPSERT {{
      CONCEPT {{ {{type: "$ConceptType", name: "T"}} SET ATTRIBUTES {t} }}
      CONCEPT {{ {{type: "$ConceptType", name: "U"}} }}
      CONCEPT {{ {{type: "$PropositionType", name: "p"}} {given_} }}
    }}"""


def _is_accepted(definitions: str, data: str) -> bool:
    nexus = kiprdf.Nexus.memory(genesis=False, strict_schema=True)
    nexus.execute(definitions)
    try:
        nexus.execute(data)
    except kiprdf.KipError as error:
        if error.code not in ("KIP_2002", "KIP_2003"):
            raise
        return False
    return True


def _graph(nexus: kiprdf.Nexus) -> rdflib.Graph:
    text = "".join(f"{triple} .\n" for triple in shapes(nexus.store))
    return rdflib.Graph().parse(data=text, format="nt")


def _conforms(definitions: str, data: str) -> bool:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(definitions)
    nexus.execute(data)
    snapshot = rdflib.Graph().parse(data=nexus.snapshot(profile="rdf11"))
    conforms, _, _ = pyshacl.validate(snapshot, shacl_graph=_graph(nexus))
    return bool(conforms)


def _concept(attributes: dict[str, Any]) -> str:
    given_ = f"SET ATTRIBUTES {json.dumps(attributes)}" if attributes else ""
    return f'UPSERT {{ CONCEPT {{ {{type: "T", name: "x"}} {given_} }} }}'


@settings(max_examples=EXAMPLES)
@given(schemas, st.dictionaries(st.sampled_from(("a", "b", "free")), values, max_size=3))
@example({"a": {"enum": [["a", "b"], {"k": "v"}]}}, {"a": ["a", "b"]})
@example({"a": {"enum": [0]}}, {"a": -0.0})
@example({"a": {"enum": [1]}}, {"a": True})
@example({"a": {"type": "integer"}}, {"a": 1e16})
@example({"a": {"type": "integer"}}, {"a": 0.5})
@example({"a": {"item_type": "string"}}, {"a": ['","', "\\"]})
@example({"a": {"item_type": "string"}}, {"a": ["x", None]})
@example({"a": {"type": "object"}}, {"a": WORDS[0]})
@example({"a": {"type": "null", "is_required": True}}, {"a": None})
@example({"no key": {"is_required": True}}, {})
def test_pyshacl_accepts_the_attributes_that_a_strict_nexus_accepts(
    schema: dict[str, Any], attributes: dict[str, Any]
) -> None:
    definitions, data = _definitions(schema, None, None), _concept(attributes)
    assert _conforms(definitions, data) == _is_accepted(definitions, data)


def _link(subject: str, object_: str) -> str:
    blocks = {
        "T": 'CONCEPT ?T { {type: "T", name: "x"} }',
        "U": 'CONCEPT ?U { {type: "U", name: "x"} }',
        "type": 'CONCEPT ?type { {type: "$ConceptType", name: "T"} }',
        "link": 'CONCEPT ?y { {type: "T", name: "y"} } CONCEPT ?z { {type: "U", name: "z"} }'
        ' PROPOSITION ?link { (?y, "q", ?z) }',
    }
    used = " ".join(blocks[name] for name in sorted({subject, object_}))
    return f'UPSERT {{ {used} PROPOSITION {{ (?{subject}, "p", ?{object_}) }} }}'


FREE = '\nUPSERT { CONCEPT { {type: "$PropositionType", name: "q"} } }'
pairs = st.permutations(("T", "U", "type", "link")).map(lambda order: order[:2])


@settings(max_examples=EXAMPLES)
@given(st.none() | ends, st.none() | ends, pairs)
@example([], None, ["T", "U"])
@example(["T"], ["T", "U"], ["T", "U"])
@example(["T"], ["T", "U"], ["T", "link"])
@example(["$ConceptType"], ["*"], ["type", "link"])
def test_pyshacl_accepts_the_ends_that_a_strict_nexus_accepts(
    subjects: list[str] | None, objects: list[str] | None, pair: list[str]
) -> None:
    definitions, data = _definitions({}, subjects, objects) + FREE, _link(*pair)
    assert _conforms(definitions, data) == _is_accepted(definitions, data)


@pytest.mark.parametrize(
    ("item_type", "value", "conforms"),
    [
        ("array", [[1], [[{"k": "]"}]]], True),
        ("array", [[1], {"k": [1]}], False),
        ("array", [], True),
        ("object", [{"k": "}"}, {}], True),
        ("object", [{"k": "}"}, {}, 1], False),
        ("object", [{"k": "}"}, 1, {}], True),
    ],
)
def test_of_nested_items_the_shapes_check_the_first_and_the_last_bracket(
    item_type: str, value: Any, conforms: bool
) -> None:
    definitions = _definitions({"a": {"item_type": item_type}}, None, None)
    data = _concept({"a": value})
    assert _conforms(definitions, data) == conforms
    # Never narrower than a strict nexus.
    assert conforms or not _is_accepted(definitions, data)


@settings(max_examples=max(5, EXAMPLES // 10))
@given(schemas, ends)
def test_the_shapes_are_sound_shacl(schema: dict[str, Any], subjects: list[str]) -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(_definitions(schema, subjects, None))
    # meta_shacl: the shapes graph is held to the shapes of SHACL itself.
    conforms, _, text = pyshacl.validate(rdflib.Graph(), shacl_graph=_graph(nexus), meta_shacl=True)
    assert conforms, text


def _bundled() -> kiprdf.Nexus:
    return kiprdf.Nexus.memory()


def test_the_bundled_knowledge_fits_its_own_shapes() -> None:
    nexus = _bundled()
    snapshot = rdflib.Graph().parse(data=nexus.snapshot())
    conforms, _, text = pyshacl.validate(snapshot, shacl_graph=_graph(nexus))
    assert conforms, text


def test_a_result_names_the_concept_the_attribute_and_the_shape() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(_definitions({"a": {"type": "integer", "is_required": True}}, None, None))
    nexus.execute(_concept({}))
    snapshot = rdflib.Graph().parse(data=nexus.snapshot())
    _, report, _ = pyshacl.validate(snapshot, shacl_graph=_graph(nexus))
    (result,) = report.subjects(rdflib.RDF.type, SH.ValidationResult)
    assert str(report.value(result, SH.focusNode)) == "urn:kip:nexus/T/x"
    assert str(report.value(result, SH.resultPath)) == "urn:kip:attribute/a"
    assert str(report.value(result, SH.sourceShape)) == "urn:kip:nexus/$ConceptType/T#shape-a"


def test_a_statement_without_its_object_is_found_in_the_rdf11_profile() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(_definitions({}, None, None))
    nexus.execute(_link("T", "U"))
    snapshot = rdflib.Graph().parse(data=nexus.snapshot())
    assert pyshacl.validate(snapshot, shacl_graph=_graph(nexus))[0]
    snapshot.remove((None, rdflib.RDF.object, None))
    assert not pyshacl.validate(snapshot, shacl_graph=_graph(nexus))[0]


def test_shapes_have_names_and_their_conditions_none() -> None:
    nexus = _bundled()
    for profile in ("rdf11", "rdf12"):
        triples = list(shapes(nexus.store, profile))
        assert triples == list(shapes(_bundled().store, profile))
        assert len(set(triples)) == len(triples)
        kinds = [t for t in triples if t.predicate.value.endswith("#type")]
        named = {t.subject for t in kinds if isinstance(t.subject, pyoxigraph.NamedNode)}
        around = {t.subject for t in triples if isinstance(t.subject, pyoxigraph.NamedNode)}
        assert named == around


def test_an_attribute_of_one_value_or_several_is_the_same_to_both() -> None:
    definitions = _definitions({"a": {"item_type": "string"}}, None, None)
    for value, is_good in (("x", True), (["x", "y"], True), (["x", 1], False)):
        data = _concept({"a": value})
        assert (_conforms(definitions, data), _is_accepted(definitions, data)) == (is_good,) * 2


def test_the_facts_of_the_rdf12_profile_have_reifier_shapes() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(_definitions({}, ["T"], None))
    triples = {str(triple) for triple in shapes(nexus.store, "rdf12")}
    fact = "<urn:kip:nexus/$PropositionType/p#shape-facts-fact>"
    assert f"{fact} <{SH}path> <urn:kip:nexus/$PropositionType/p>" in triples
    link = "<urn:kip:nexus/$PropositionType/p#shape-facts-link>"
    assert f"{fact} <{SH}reifierShape> {link}" in triples
    assert not [line for line in triples if "Statement" in line]


def _rudof_conforms(nexus: kiprdf.Nexus, snapshot: str) -> bool:
    pyrudof = pytest.importorskip("pyrudof")
    rudof = pyrudof.Rudof(pyrudof.RudofConfig())
    text = "".join(f"{triple} .\n" for triple in shapes(nexus.store, "rdf12"))
    rudof.read_data(input=snapshot, format=pyrudof.RDFFormat.Turtle)
    rudof.read_shacl(input=text, format=pyrudof.ShaclFormat.NTriples)
    return bool(rudof.validate_shacl().conforms)


def test_rudof_finds_a_fact_without_its_reifier() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(_definitions({}, None, None))
    nexus.execute(_link("T", "U"))
    snapshot = nexus.snapshot(profile="rdf12")
    assert _rudof_conforms(nexus, snapshot)
    assert not _rudof_conforms(nexus, re.sub(r" ~ <[^>]*>", "", snapshot))


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer", "is_required": True}, 2.0, 2.5),
        ({"type": "array", "item_type": "string"}, ["a"], [1]),
        ({"enum": [1, "x", [1]]}, [1], "y"),
        ({"type": "object"}, {"k": 1}, "text"),
        ({"item_type": "object"}, [{"k": "}"}, {}], [{}, [{}]]),
    ],
    ids=["integer", "items", "enum", "object", "objects"],
)
def test_rudof_agrees_with_a_strict_nexus_on_the_rdf12_profile(
    schema: dict[str, Any], good: Any, bad: Any
) -> None:
    definitions = _definitions({"a": schema}, None, None)
    for value, is_good in ((good, True), (bad, False)):
        nexus = kiprdf.Nexus.memory(genesis=False)
        nexus.execute(definitions)
        nexus.execute(_concept({"a": value}))
        assert _is_accepted(definitions, _concept({"a": value})) is is_good
        assert _rudof_conforms(nexus, nexus.snapshot(profile="rdf12")) is is_good


def test_another_profile_is_refused() -> None:
    with pytest.raises(kiprdf.KipError) as caught:
        list(shapes(_bundled().store, "rdf13"))  # type: ignore[arg-type]
    assert caught.value.code == "KIP_1001"
