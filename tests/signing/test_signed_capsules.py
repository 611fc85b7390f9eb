"""A signed capsule is applied if those who are trusted have signed it, and no other one is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kiprdf
from kiprdf import KipError, Nexus
from kiprdf.execution.signed_capsules import sign_capsule
from kiprdf.signing import documents, keys
from tests.node import needs_node
from tests.signing.test_node import verified_by_node

CAPSULE = """// Rivers, with "quotes", a \\ and é
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "River"} }
}
UPSERT {
  CONCEPT { {type: "River", name: "Danube"} SET ATTRIBUTES { note: "so\\nlang" } }
}
"""
FIND = 'FIND(?r.name) WHERE { ?r {type: "River"} }'


def test_a_signed_capsule_is_applied_as_the_text_that_was_signed(
    key: Path, did: str, tmp_path: Path
) -> None:
    document = sign_capsule(CAPSULE, key)
    (tmp_path / "rivers.jsonld").write_text(document, "utf-8")
    plain = Nexus.memory().apply_capsule(CAPSULE)
    again = json.dumps(json.loads(document), indent=2)
    for given in (document, "\ufeff" + document, again, tmp_path / "rivers.jsonld"):
        nexus = Nexus.memory()
        assert nexus.apply_capsule(given, trusted=[did]) == plain
        assert nexus.find(FIND).column("?r.name") == ["Danube"]


def _refused(given: str | Path, trusted: list[str] | None) -> KipError:
    """The error of a capsule, which writes nothing."""
    nexus = Nexus.memory()
    commit = nexus.info()["commit"]
    with pytest.raises(KipError) as raised:
        nexus.apply_capsule(given, trusted=trusted)
    assert nexus.info()["commit"] == commit
    assert nexus.refusals()[0]["code"] == raised.value.code
    return raised.value


def test_a_capsule_that_nobody_trusted_has_signed_is_refused(
    key: Path, did: str, tmp_path: Path
) -> None:
    document = sign_capsule(CAPSULE, key)
    stranger = keys.new_key(tmp_path / "stranger.json")
    by_stranger = sign_capsule(CAPSULE, tmp_path / "stranger.json")
    cases: dict[str, tuple[str, list[str]]] = {
        "forged": (document.replace("Danube", "Elbe"), [did]),
        "cut": (document[:-30], [did]),
        "unsigned": (CAPSULE, [did]),
        "the text of a signed one": (
            json.loads(document)["@included"][0]["urn:kip:vocab/capsule"][0],
            [did],
        ),
        "empty": ("", [did]),
        "by a stranger": (by_stranger, [did]),
        "its own proof taken off": (document[: document.index('"proof"')] + "}", [did]),
        "nobody is trusted": (document, []),
    }
    for name, (given, trusted) in cases.items():
        assert _refused(given, trusted).code == "KIP_3004", name
    assert stranger in _refused(by_stranger, [did]).message
    assert Nexus.memory().apply_capsule(by_stranger, trusted=[did, stranger])


def test_a_signed_capsule_is_not_applied_without_a_word_about_trust(key: Path) -> None:
    error = _refused(sign_capsule(CAPSULE, key), None)
    assert error.code == "KIP_1001"
    assert "trusted=" in error.hint


def test_another_signed_document_is_no_capsule(key: Path, did: str) -> None:
    line = '<urn:kip:capsule/0> <urn:kip:vocab/capsule> "UPSERT { }" .'
    others = {
        "a value of another kind": [line.replace('" .', '"@en .')],
        "another predicate": [line.replace("vocab/capsule", "vocab/text")],
        "two capsules": [line, line.replace("UPSERT", "UPSERT ")],
        "more than a capsule": [line, "<urn:kip:capsule/0> <urn:p> <urn:o> ."],
        "an IRI": ["<urn:kip:capsule/0> <urn:kip:vocab/capsule> <urn:o> ."],
        "nothing": [],
    }
    for name, lines in others.items():
        document = documents.sign_lines(sorted(lines), key)
        assert documents.verify(document, [did]), name
        assert _refused(document, [did]).message == "The document is signed, and is no capsule.", (
            name
        )
    receipt = documents.sign_lines([line.replace("UPSERT { }", "DELETE")], key)
    assert _refused(receipt, [did]).code == "KIP_1001"


def test_a_capsule_that_was_signed_long_ago_is_valid(key: Path, did: str) -> None:
    """A signature says who wrote it, not that it is the newest: see docs/how-to/signing.md."""
    document = sign_capsule(CAPSULE, key)
    nexus = Nexus.memory()
    nexus.apply_capsule(document, trusted=[did])
    nexus.execute('DELETE CONCEPT ?r DETACH WHERE { ?r {type: "River", name: "Danube"} }')
    nexus.apply_capsule(document, trusted=[did])
    assert nexus.find(FIND).column("?r.name") == ["Danube"]


def test_only_a_capsule_is_signed_as_one(key: Path, tmp_path: Path) -> None:
    for text, place in (("UPSERT {", True), (FIND, True), (sign_capsule(CAPSULE, key), True)):
        with pytest.raises(KipError) as raised:
            kiprdf.sign_capsule(text, key)
        assert (raised.value.code, raised.value.position is not None) == ("KIP_1001", place)
    (tmp_path / "rivers.kip").write_text(CAPSULE, "utf-8")
    assert kiprdf.sign_capsule(tmp_path / "rivers.kip", key)


@needs_node
def test_the_javascript_library_verifies_a_signed_capsule(key: Path) -> None:
    document = json.loads(sign_capsule(CAPSULE, key))
    forged = json.loads(sign_capsule(CAPSULE, key).replace("Danube", "Elbe"))
    assert verified_by_node([document, forged]) == [True, False]


def test_a_signed_nexus_is_restored_without_its_proof(key: Path) -> None:
    with Nexus.memory() as nexus, Nexus.memory(genesis=False) as copy:
        copy.restore(nexus.sign(key), format="jsonld", base_iri=nexus.base_iri)
        assert copy.snapshot() == nexus.snapshot()
