"""``Nexus.id_of``: an element as people write it, and what says that there is none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import kiprdf
from kiprdf.errors import KipError
from tests.cases import each_case

TYPES = " ".join(
    f'CONCEPT {{ {{type: "${kind}", name: "{name}"}} }}'
    for kind, names in (
        ("ConceptType", ("Drug", "Brand", "Symptom")),
        ("PropositionType", ("treats", "stated")),
    )
    for name in names
)
ELEMENTS = """UPSERT {
  CONCEPT ?aspirin { {type: "Drug", name: "Aspirin"} }
  CONCEPT { {type: "Drug", name: "Bayer"} }
  CONCEPT { {type: "Brand", name: "Bayer"} }
  CONCEPT { {type: "Brand", name: "KIP: a protocol"} }
  CONCEPT { {type: "Brand", name: "Drug:Aspirin"} }
  CONCEPT { {type: "Brand", name: "阿司匹林"} }
  CONCEPT { {type: "Drug", name: "Gone"} }
  CONCEPT ?ache { {type: "Symptom", name: "Ache, dull"} }
  PROPOSITION ?fact { (?aspirin, "treats", ?ache) }
  PROPOSITION { ({type: "Person", name: "$self"}, "stated", ?fact) }
}"""
FACT = '(Drug:Aspirin, treats, Symptom:"Ache, dull")'
LATER = "Name a deleted element with its type, as Drug:Aspirin, or by its id."


@pytest.fixture(scope="module")
def nexus() -> Iterator[kiprdf.Nexus]:
    with kiprdf.Nexus.memory(history=True) as nexus:
        nexus.execute(f"UPSERT {{ {TYPES} }}")
        nexus.execute(ELEMENTS)
        nexus.execute('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug", name: "Gone"} }')
        yield nexus


NAMED = {
    "Aspirin": "C:Drug/Aspirin",
    "Drug:Aspirin": "C:Drug/Aspirin",
    "C:Drug/Aspirin": "C:Drug/Aspirin",
    "Brand:Bayer": "C:Brand/Bayer",
    "阿司匹林": "C:Brand/阿司匹林",
    # A name that has a colon, alone and with its type
    "KIP: a protocol": "C:Brand/KIP: a protocol",
    "Brand:KIP: a protocol": "C:Brand/KIP: a protocol",
    "Brand:Drug:Aspirin": "C:Brand/Drug:Aspirin",
    # As changes shows it
    'Symptom:"Ache, dull"': "C:Symptom/Ache, dull",
    '"Ache, dull"': "C:Symptom/Ache, dull",
    "Ache, dull": "C:Symptom/Ache, dull",
    FACT: "P:f0bf3dc29bd59389:treats",
    '(Aspirin,treats,"Ache, dull")': "P:f0bf3dc29bd59389:treats",
    f"(Person:$self, stated, {FACT})": "P:11ef95dbe06f1447:stated",
    # Definitions, and what was deleted
    "$ConceptType:Drug": "C:$ConceptType/Drug",
    "treats": "C:$PropositionType/treats",
    "Drug:Gone": "C:Drug/Gone",
}


@each_case("text", NAMED)
def test_an_element_is_named_as_people_write_it(nexus: kiprdf.Nexus, text: str) -> None:
    assert nexus.id_of(text) == NAMED[text]
    assert nexus.history(nexus.id_of(text))["entries"]


REFUSED = {
    "Bayer": (
        "KIP_3003",
        "'Bayer' is the name of 2 elements.",
        "Write Brand:Bayer or Drug:Bayer.",
    ),
    "(Aspirin, treats, Bayer)": (
        "KIP_3003",
        "'Bayer' is the name of 2 elements.",
        "Write Brand:Bayer or Drug:Bayer.",
    ),
    "aspirin": (
        "KIP_3002",
        "No element is named 'aspirin'.",
        f'Did you mean "Aspirin"? {LATER}',
    ),
    "Gone": ("KIP_3002", "No element is named 'Gone'.", f"Find it with SEARCH. {LATER}"),
    "drug:Aspirin": (
        "KIP_2001",
        "Concept type 'drug' is not defined.",
        "Did you mean 'Drug'? Names are case-sensitive.",
    ),
    "Drug:Asprin": (
        "KIP_3002",
        'There is no concept {type: "Drug", name: "Asprin"}.',
        "Did you mean 'Aspirin'?",
    ),
    "(Aspirin, stated, Aspirin)": (
        "KIP_3002",
        "There is no proposition (Aspirin, stated, Aspirin).",
        "Find it with SEARCH PROPOSITION.",
    ),
    "(Aspirin, treats)": ("KIP_3002", "No element is named '(Aspirin, treats)'.", None),
    "": ("KIP_3002", "No element is named ''.", f"Find it with SEARCH. {LATER}"),
    "(" * 2_000: ("KIP_3002", None, None),
    "x" * 5_000: ("KIP_3002", None, f"Find it with SEARCH. {LATER}"),
    "\ud83d": ("KIP_3002", None, f"Find it with SEARCH. {LATER}"),
}


@each_case("text", REFUSED)
def test_a_name_that_no_element_has_or_several_have_is_refused(
    nexus: kiprdf.Nexus, text: str
) -> None:
    code, message, hint = REFUSED[text]
    with pytest.raises(KipError) as caught:
        nexus.id_of(text)
    assert caught.value.code == code
    assert message in (None, caught.value.located_message)
    assert hint in (None, caught.value.hint)


def test_without_a_history_only_what_exists_has_an_id() -> None:
    with kiprdf.Nexus.memory() as nexus:
        assert nexus.id_of("$self") == "C:Person/$self"
        with pytest.raises(KipError, match="There is no concept"):
            nexus.id_of("Person:Ada")


def test_a_fact_is_found_by_its_ends_after_a_merge() -> None:
    with kiprdf.Nexus.memory() as nexus:
        nexus.execute(
            'UPSERT { CONCEPT { {type: "$PropositionType", name: "knows"} }'
            ' CONCEPT ?bo { {type: "Person", name: "Bo"} }'
            ' CONCEPT { {type: "Person", name: "Ada L."} SET PROPOSITIONS { ("knows", ?bo) } }'
            ' CONCEPT { {type: "Person", name: "Ada"} } }'
        )
        before = nexus.id_of("(Ada L., knows, Bo)")
        nexus.execute(
            'MERGE CONCEPT ?from INTO ?to WHERE { ?from {type: "Person", name: "Ada L."}'
            ' ?to {type: "Person", name: "Ada"} }'
        )
        assert nexus.id_of("(Ada, knows, Bo)") == before
        with pytest.raises(KipError, match="There is no proposition"):
            nexus.id_of("(Bo, knows, Ada)")
