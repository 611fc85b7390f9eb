"""UPSERT on a real store: merging, metadata, handles, receipts, links about links (KIP 4.1)."""

from __future__ import annotations

from typing import Any

import pytest

import kiprdf
from tests.nexus.support import (
    SCHEMA,
    code,
    element,
    empty,
    facts,
    medical,
    untouched,
)

NEXUS = "urn:kip:nexus/"
ASPIRIN = f"<{NEXUS}Drug/Aspirin>"
HEADACHE = f"<{NEXUS}Symptom/Headache>"
TREATS = f"<{NEXUS}$PropositionType/treats>"
LINK_IRI = f"<{NEXUS}$proposition/48ec6e8e3fe50dea/treats>"
LINK = "P:48ec6e8e3fe50dea:treats"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
INTEGER = "^^<http://www.w3.org/2001/XMLSchema#integer>"


@pytest.fixture
def nexus() -> kiprdf.Nexus:
    nexus = empty()
    nexus.execute(SCHEMA)
    return nexus


def own(nexus: kiprdf.Nexus, part: str, identifier: str) -> dict[str, Any]:
    """The attributes or metadata of an element without what the engine writes."""
    values = element(nexus, identifier).get(part, {})
    return {key: value for key, value in values.items() if not key.startswith("_")}


def put(nexus: kiprdf.Nexus, body: str, **parameters: Any) -> Any:
    return nexus.execute(f"UPSERT {{ {body} }}", **parameters)


def test_a_concept_is_its_type_its_label_and_its_values(nexus: kiprdf.Nexus) -> None:
    before = facts(nexus)
    put(
        nexus,
        'CONCEPT { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES '
        '{ risk: 2, dose: 0.5, safe: true, note: "n", nothing: null, form: {b: [1], a: 2.0} } }',
    )
    assert facts(nexus) - before == {
        (ASPIRIN, f"<{RDF}type>", f"<{NEXUS}$ConceptType/Drug>"),
        (ASPIRIN, "<http://www.w3.org/2000/01/rdf-schema#label>", '"Aspirin"'),
        (ASPIRIN, "<urn:kip:attribute/risk>", f'"2"{INTEGER}'),
        (
            ASPIRIN,
            "<urn:kip:attribute/dose>",
            '"0.5"^^<http://www.w3.org/2001/XMLSchema#double>',
        ),
        (
            ASPIRIN,
            "<urn:kip:attribute/safe>",
            '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>',
        ),
        (ASPIRIN, "<urn:kip:attribute/note>", '"n"'),
        (ASPIRIN, "<urn:kip:attribute/nothing>", "<urn:kip:vocab/null>"),
        (
            ASPIRIN,
            "<urn:kip:attribute/form>",
            f'"{{\\"a\\":2.0,\\"b\\":[1]}}"^^<{RDF}JSON>',
        ),
        (ASPIRIN, "<urn:kip:metadata/_version>", f'"1"{INTEGER}'),
        (ASPIRIN, "<urn:kip:metadata/_created_at>", '"2026-01-02T03:04:05.678Z"'),
        (ASPIRIN, "<urn:kip:metadata/_updated_at>", '"2026-01-02T03:04:05.678Z"'),
    }


def test_a_link_is_an_asserted_triple_and_its_reifier(nexus: kiprdf.Nexus) -> None:
    put(nexus, 'CONCEPT { {type: "Drug", name: "Aspirin"} }')
    put(nexus, 'CONCEPT { {type: "Symptom", name: "Headache"} }')
    before = facts(nexus)
    put(
        nexus,
        'PROPOSITION { ({type: "Drug", name: "Aspirin"}, "treats", '
        '{type: "Symptom", name: "Headache"}) SET ATTRIBUTES { onset: 30 } } '
        'WITH METADATA { source: "s" }',
    )
    assert facts(nexus) - before == {
        (ASPIRIN, TREATS, HEADACHE),
        (LINK_IRI, f"<{RDF}reifies>", f"<<( {ASPIRIN} {TREATS} {HEADACHE} )>>"),
        (LINK_IRI, "<urn:kip:attribute/onset>", f'"30"{INTEGER}'),
        (LINK_IRI, "<urn:kip:metadata/source>", '"s"'),
        (LINK_IRI, "<urn:kip:metadata/_version>", f'"1"{INTEGER}'),
        (LINK_IRI, "<urn:kip:metadata/_created_at>", '"2026-01-02T03:04:05.678Z"'),
        (LINK_IRI, "<urn:kip:metadata/_updated_at>", '"2026-01-02T03:04:05.678Z"'),
    }


def test_attributes_merge_key_by_key(nexus: kiprdf.Nexus) -> None:
    put(nexus, 'CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES { a: 1, b: {x: 1, y: 2} } }')
    put(nexus, 'CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES { b: {z: 3}, c: [4] } }')
    assert own(nexus, "attributes", "C:Drug/A") == {"a": 1, "b": {"z": 3}, "c": [4]}


def test_a_replaced_value_leaves_no_second_triple(nexus: kiprdf.Nexus) -> None:
    put(nexus, 'CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES { a: 1 } }')
    put(nexus, 'CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES { a: "one" } }')
    subject = f"<{NEXUS}Drug/A>"
    objects = [t[2] for t in facts(nexus) if t[:2] == (subject, "<urn:kip:attribute/a>")]
    assert objects == ['"one"']


def test_a_double_is_replaced_in_any_form_that_the_engine_keeps(nexus: kiprdf.Nexus) -> None:
    put(nexus, 'CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES { a: 1e300, b: 1.0 } }')
    put(nexus, 'CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES { a: 2e-300, b: 1 } }')
    assert own(nexus, "attributes", "C:Drug/A") == {"a": 2e-300, "b": 1}


@pytest.mark.parametrize(
    ("outer", "block", "link", "stored"),
    [
        ("a: 1", "", "", {"a": 1}),
        ("a: 1", "a: 2", "", {"a": 2}),
        ("a: 1", "a: 2", "a: 3", {"a": 3}),
        ("a: 1, b: 1", "b: 2, c: 2", "c: 3", {"a": 1, "b": 2, "c": 3}),
        ("a: 1", "a: null", "", {"a": None}),
        ("a: 1", "a: 2", "a: null", {"a": None}),
        ("a: null", "a: 2", "", {"a": 2}),
    ],
)
def test_metadata_of_a_link_is_outer_then_block_then_own(
    nexus: kiprdf.Nexus, outer: str, block: str, link: str, stored: dict[str, Any]
) -> None:
    def given(keys: str) -> str:
        return f"WITH METADATA {{ {keys} }}" if keys else ""

    nexus.execute(
        'UPSERT { CONCEPT ?h { {type: "Symptom", name: "Headache"} } '
        'CONCEPT { {type: "Drug", name: "Aspirin"} '
        f'SET PROPOSITIONS {{ ("treats", ?h) {given(link)} }} }} {given(block)} }} {given(outer)}'
    )
    assert own(nexus, "metadata", LINK) == stored


@pytest.mark.parametrize(
    ("outer", "block", "stored"),
    [
        ("a: 1, b: 1", "b: 2", {"a": 1, "b": 2}),
        ("a: 1", "a: null", {"a": None}),
        ("a: null", "b: 1", {"a": None, "b": 1}),
    ],
)
def test_metadata_of_a_block_is_outer_then_own(
    nexus: kiprdf.Nexus, outer: str, block: str, stored: dict[str, Any]
) -> None:
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Drug", name: "A"} } WITH METADATA '
        f"{{ {block} }} }} WITH METADATA {{ {outer} }}"
    )
    assert own(nexus, "metadata", "C:Drug/A") == stored


def test_metadata_may_be_given_as_one_parameter(nexus: kiprdf.Nexus) -> None:
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Drug", name: "A"} } } WITH METADATA :m',
        m={"source": "s", "tags": ["x", {"y": None}]},
    )
    metadata = own(nexus, "metadata", "C:Drug/A")
    assert metadata == {"source": "s", "tags": ["x", {"y": None}]}


def test_a_handle_of_another_upsert_block_is_unknown(nexus: kiprdf.Nexus) -> None:
    text = (
        'UPSERT { CONCEPT ?h { {type: "Symptom", name: "Headache"} } } '
        'UPSERT { CONCEPT { {type: "Drug", name: "A"} SET PROPOSITIONS { ("treats", ?h) } } }'
    )
    with untouched(nexus):
        assert code(nexus, text) == "KIP_3001"


def test_a_handle_may_be_used_by_several_later_blocks(nexus: kiprdf.Nexus) -> None:
    receipt = put(
        nexus,
        'CONCEPT ?h { {type: "Symptom", name: "Headache"} } '
        'CONCEPT ?a { {type: "Drug", name: "A"} SET PROPOSITIONS { ("treats", ?h) } } '
        'PROPOSITION { (?a, "stated", ?h) }',
    )
    assert receipt["upsert_concept_nodes"] == ["C:Symptom/Headache", "C:Drug/A"]


def test_the_receipt_lists_every_block_in_order_with_repeats(nexus: kiprdf.Nexus) -> None:
    receipt = nexus.execute(
        """
        UPSERT {
          CONCEPT ?h { {type: "Symptom", name: "Headache"} }
          CONCEPT ?a { {type: "Drug", name: "Aspirin"} SET PROPOSITIONS { ("stated", ?h) } }
          PROPOSITION { (?a, "treats", ?h) }
          CONCEPT { {type: "Drug", name: "Aspirin"} }
        }
        UPSERT {
          PROPOSITION { (id: "P:48ec6e8e3fe50dea:treats") SET ATTRIBUTES { k: 1 } }
        }
        """
    )
    assert receipt == {
        "blocks": 2,
        "upsert_concept_nodes": ["C:Symptom/Headache", "C:Drug/Aspirin", "C:Drug/Aspirin"],
        "upsert_proposition_links": [LINK, LINK],
    }


def test_a_link_about_a_link_points_at_its_reifier() -> None:
    nexus = medical()
    (claim,) = nexus.execute('FIND(?c) WHERE { ?c (?u, "stated", ?f) }')
    assert (claim["subject"], claim["object"]) == ("C:User/Ann", LINK)


def test_links_about_links_may_be_three_levels_deep() -> None:
    nexus = medical()
    put(
        nexus,
        'PROPOSITION ?c2 { ({type: "Drug", name: "Aspirin"}, "stated", ({type: "User", name: '
        '"Ann"}, "stated", ({type: "Drug", name: "Aspirin"}, "treats", '
        '{type: "Symptom", name: "Headache"}))) } '
        'PROPOSITION { ({type: "User", name: "Ann"}, "stated", ?c2) }',
    )
    rows = nexus.find(
        'FIND(?who.name, ?claim.object) WHERE { ?claim (?who, "stated", '
        '(?d, "stated", (?u, "stated", (?x, "treats", ?s)))) }'
    )
    assert [row["?who.name"] for row in rows] == ["Ann"]


def test_a_nested_target_that_was_never_stated_is_not_found() -> None:
    nexus = medical()
    text = (
        'UPSERT { PROPOSITION { ({type: "User", name: "Ann"}, "stated", '
        '({type: "Symptom", name: "Fever"}, "treats", {type: "Symptom", name: "Headache"})) } }'
    )
    with untouched(nexus):
        assert code(nexus, text) == "KIP_3002"


def test_a_concept_may_be_given_by_its_absolute_iri(nexus: kiprdf.Nexus) -> None:
    put(nexus, 'CONCEPT { {type: "Drug", name: "Vitamin C"} }')
    receipt = put(
        nexus, 'CONCEPT { {id: "urn:kip:nexus/Drug/Vitamin%20C"} SET ATTRIBUTES { a: 1 } }'
    )
    assert receipt["upsert_concept_nodes"] == ["C:Drug/Vitamin C"]


def test_a_proposition_id_where_a_concept_belongs_is_a_syntax_error(nexus: kiprdf.Nexus) -> None:
    with untouched(nexus):
        assert code(nexus, f'UPSERT {{ CONCEPT {{ {{id: "{LINK}"}} }} }}') == "KIP_1001"


@pytest.mark.parametrize(
    "value",
    [
        2**63 - 1,
        -(2**63),
        0.1,
        -0.0,
        5e-324,
        1.7976931348623157e308,
        1e22,
        "",
        "\x00",
        "a\r\n\t\u2028\ufffe\U0010ffff",
        "\"'\\`${}<>^|",
        [],
        {},
        [[], {"a": [None, True, 1, 1.0, "x"]}],
        {"": 1, "a b": {"?x": ":p"}},
        {"@value": "Kopfschmerz", "@language": "de"},
        {
            "@value": "2026-01-01T00:00:00.000Z",
            "@type": "http://www.w3.org/2001/XMLSchema#dateTime",
        },
        {"@value": "x", "@language": "de-Latn", "more": 1},
        {"@value": "POINT(1 2)", "@type": "http://www.opengis.net/ont/geosparql#wktLiteral"},
    ],
    ids=repr,
)
def test_a_value_is_returned_unchanged(nexus: kiprdf.Nexus, value: Any) -> None:
    put(nexus, 'CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES { v: :v } }', v=value)
    stored = own(nexus, "attributes", "C:Drug/A")["v"]
    assert (type(stored), stored) == (type(value), value)


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, float("inf"), float("nan")], ids=repr)
def test_a_number_the_engine_cannot_compare_is_refused(nexus: kiprdf.Nexus, value: Any) -> None:
    command = 'UPSERT { CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES { v: :v } } }'
    with untouched(nexus):
        assert code(nexus, command, v=value) == "KIP_1001"


@pytest.mark.parametrize(
    "name",
    ["a.", "-x", ".x", "~", "$self", "100%", "%41", "a/b", "a b", "..a", "<>", '"', "\\", "é",
     "e\u0301", "阿司匹林", "두통", "💊", "x\u00a0x", "x\u2028x", "\ufffe", "x" * 1024],
    ids=ascii,
)  # fmt: skip
def test_a_name_is_returned_unchanged(nexus: kiprdf.Nexus, name: str) -> None:
    receipt = put(nexus, 'CONCEPT { {type: "Drug", name: :name} }', name=name)
    concept = element(nexus, f"C:Drug/{name}")
    assert (receipt["upsert_concept_nodes"], concept["name"]) == ([f"C:Drug/{name}"], name)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a\nb", "\x00", "\x7f", "\x85", "\ud800", "x" * 1025], ids=ascii
)
def test_a_name_that_no_concept_can_have_is_refused(nexus: kiprdf.Nexus, name: str) -> None:
    command = 'UPSERT { CONCEPT { {type: "Drug", name: :name} } }'
    with untouched(nexus):
        assert code(nexus, command, name=name) == "KIP_1002"


def test_two_spellings_that_look_alike_are_two_concepts(nexus: kiprdf.Nexus) -> None:
    put(nexus, 'CONCEPT { {type: "Drug", name: "\u00e9"} }')
    put(nexus, 'CONCEPT { {type: "Drug", name: "e\u0301"} }')
    assert nexus.execute('FIND(COUNT(?d)) WHERE { ?d {type: "Drug"} }') == 2


def test_the_same_name_may_belong_to_two_types(nexus: kiprdf.Nexus) -> None:
    put(nexus, 'CONCEPT { {type: "Drug", name: "X"} } CONCEPT { {type: "Symptom", name: "X"} }')
    assert sorted(nexus.execute('FIND(?x.id) WHERE { ?x {name: "X"} }')) == [
        "C:Drug/X",
        "C:Symptom/X",
    ]


def test_a_stored_name_with_outer_blanks_is_still_read_written_and_restored() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(SCHEMA)
    put(nexus, 'CONCEPT { {type: "Drug", name: "Aspirin"} }')
    # Stores of earlier versions contain such names.
    snapshot = nexus.snapshot(format="ntriples").replace("Aspirin", "%20Aspirin")
    snapshot = snapshot.replace('"%20Aspirin"', '" Aspirin"')
    older = kiprdf.Nexus.memory(genesis=False)
    older.restore(snapshot, format="ntriples")
    put(older, 'CONCEPT { {type: "Drug", name: " Aspirin"} SET ATTRIBUTES { risk: 2 } }')
    risks = older.execute('FIND(?d.attributes.risk) WHERE { ?d {type: "Drug", name: " Aspirin"} }')
    assert risks == [2]
    assert kiprdf.Nexus.memory(genesis=False).restore(older.snapshot()) is not None
