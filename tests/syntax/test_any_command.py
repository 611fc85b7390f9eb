"""For any command: an answer or a KIP error that is not the engine's fault."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kiprdf
from kiprdf.language import ast, to_text
from tests.syntax import trees
from tests.syntax.test_any_text import TOKENS

SETUP = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "T"} }
  CONCEPT { {type: "$PropositionType", name: "p"} }
  CONCEPT ?a { {type: "T", name: "a"} SET ATTRIBUTES {a: 1} }
  CONCEPT ?b { {type: "T", name: "b"} SET PROPOSITIONS { ("p", ?a) } }
}
"""
_PARAMETERS = st.dictionaries(
    st.sampled_from(("a", "_", "x1", "type", "FIND", "risk_level", "IN", "z" * 40)),
    st.sampled_from(
        ("T", "p", "a", "C:T/a", 1, 5, None, 2.5, [], ["a", 1], {"a": 1}, "\ud800", True)
    ),
)


@pytest.fixture(scope="module")
def nexus() -> Iterator[kiprdf.Nexus]:
    with kiprdf.Nexus.memory(genesis=False) as nexus:
        nexus.execute(SETUP)
        yield nexus


@pytest.fixture(scope="module")
def of_values() -> Iterator[kiprdf.Nexus]:
    """A nexus whose definitions no random command deletes."""
    with kiprdf.Nexus.memory(genesis=False) as nexus:
        nexus.execute(SETUP)
        yield nexus


def answered(response: dict[str, Any]) -> None:
    assert "result" in response or response["error"]["code"] != "KIP_4003", response


@given(tree=trees.commands, parameters=_PARAMETERS, dry=st.booleans())
def test_any_tree_is_answered_or_refused(
    nexus: kiprdf.Nexus, tree: ast.Command, parameters: dict[str, Any], dry: bool
) -> None:
    request = {"command": to_text(tree), "parameters": parameters, "dry_run": dry}
    answered(nexus.execute_kip(request))
    answered(nexus.execute_kip_readonly(request))


@given(words=st.lists(st.sampled_from((*TOKENS, '"T"', '"p"', "\ud800", "\x00")), max_size=30))
def test_any_tokens_are_answered_or_refused(nexus: kiprdf.Nexus, words: list[str]) -> None:
    for start in ("", 'FIND(?x) WHERE { ?x {type: "T"} ', "UPSERT { CONCEPT { "):
        answered(nexus.execute_kip({"command": start + " ".join(words)}))


_ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(
    request=_ANY_JSON
    | st.fixed_dictionaries(
        {},
        optional={
            "command": _ANY_JSON,
            "commands": _ANY_JSON,
            "parameters": _ANY_JSON,
            "dry_run": _ANY_JSON,
        },
    )
)
def test_any_request_is_answered_or_refused(nexus: kiprdf.Nexus, request: Any) -> None:
    answered(nexus.execute_kip(request))


@given(name=st.text(alphabet=st.characters(exclude_categories=())))
def test_any_name_is_stored_and_found_or_refused(of_values: kiprdf.Nexus, name: str) -> None:
    write = {
        "command": 'UPSERT { CONCEPT { {type: "T", name: :n} } }',
        "parameters": {"n": name},
    }
    response = of_values.execute_kip(write)
    if "error" in response:
        assert response["error"]["code"] == "KIP_1002"
        return
    rows = of_values.find('FIND(?x.name, ?x.id) WHERE { ?x {type: "T", name: :n} }', n=name)
    assert rows.tuples() == ((name, f"C:T/{name}"),)
    by_id = of_values.find("FIND(?x.name) WHERE { ?x {id: :i} }", i=f"C:T/{name}")
    assert by_id.tuples() == ((name,),)
    of_values.execute('DELETE CONCEPT ?x DETACH WHERE { ?x {type: "T", name: :n} }', n=name)


@given(value=st.text(alphabet=st.characters(exclude_categories=())))
def test_any_string_is_stored_and_found_or_refused(of_values: kiprdf.Nexus, value: str) -> None:
    write = {
        "command": 'UPSERT { CONCEPT { {type: "T", name: "a"} SET ATTRIBUTES {a: :v} } }',
        "parameters": {"v": value},
    }
    response = of_values.execute_kip(write)
    if "error" in response:
        assert response["error"]["code"] == "KIP_1001"
        return
    command = 'FIND(?x.attributes.a) WHERE { ?x {type: "T"} FILTER(?x.attributes.a == :v) }'
    assert of_values.execute(command, v=value) == [value]
