"""Documents that are not as they were signed do not verify, nor what a signature does not cover.

A document of the JavaScript library is altered in one place after the other. That library, where it
is installed, accepts what is accepted here; of what is refused it accepts what JSON-LD leaves out.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import RdfFormat, parse

from kiprdf import KipError
from kiprdf.signing import documents, foreign, keys
from tests.long_runs import SEED, amount
from tests.node import needs_node, run
from tests.signing.test_node import DID, verified_by_node

Document = dict[str, Any]
INTEGRITY = "https://w3id.org/security/data-integrity/v2"
EX = "https://example.org/"
DATE = "http://www.w3.org/2001/XMLSchema#date"
OTHER = "did:key:z6Mko9hTggMwjSTEaJaPUfE6tqcy2xvU6BnNq3e3o8qVBiyH"
P256 = "did:key:zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169"
X25519 = "did:key:z6LSbysY2xFMRpGMhb7tFTLMpeuPRaqaWM1yECx2AtzE3KCc"


def _proof(did: str, value: str, created: str) -> Document:
    return {
        "type": "DataIntegrityProof",
        "created": created,
        "verificationMethod": f"{did}#{did.removeprefix('did:key:')}",
        "cryptosuite": "eddsa-rdfc-2022",
        "proofPurpose": "assertionMethod",
        "proofValue": value,
    }


PROOF = _proof(
    DID,
    "z5wRmHU1Pr3PQmBgNgqU7o9QNWL4zFuns5K5y3CHLjtEas96WaNRLTScH3WHEuSdn9PTMBfX7aDsziwxV9Y4yC1Ew",
    "2026-11-27T18:14:45Z",
)
OF_OTHER = _proof(
    OTHER,
    "z4A9z8PtTs9ahc8NpXeRV15BTLAJ9sU9ZP9B4wiFXDZLFkF6tHmmX7oqRBinMv6YYZ38pHBfk4aCEwkysG7cEXBdU",
    "2026-11-27T18:14:47Z",
)
CONTEXT: list[Any] = [INTEGRITY, {"@vocab": EX, "born": {"@id": f"{EX}born", "@type": DATE}}]
UNSIGNED: Document = {
    "@context": CONTEXT,
    "id": f"{EX}Ada",
    "type": "Person",
    "name": "Ada",
    "age": 36,
    "born": "1815-12-10",
    "path": {"@list": ["x", "y", "z"]},
    "knows": {"name": "Bo", "knows": {"name": "Cy"}},
}
SIGNED: Document = {**UNSIGNED, "proof": PROOF}
"""By the JavaScript library, with the key of the seed 01…01."""


def _with(**members: Any) -> Document:
    return {**SIGNED, **members}


def _context(*parts: Any) -> Document:
    return {**SIGNED, "@context": [*CONTEXT, *parts]}


def _proven(**members: Any) -> Document:
    return {**UNSIGNED, "proof": {**PROOF, **members}}


def _without(document: Document, name: str) -> Document:
    return {key: value for key, value in document.items() if key != name}


SAME: dict[str, Document] = {
    "as it is": SIGNED,
    "members in another order": dict(reversed(SIGNED.items())),
    "other names of keywords": {"@id" if key == "id" else key: SIGNED[key] for key in SIGNED},
    "a full IRI": {**_without(SIGNED, "name"), f"{EX}name": "Ada"},
    "a value object": _with(name={"@value": "Ada"}),
    "the same value twice": _with(name=["Ada", "Ada"]),
    "contexts in another order": _with(**{"@context": CONTEXT[::-1]}),
    "the same proof twice": _with(proof=[PROOF, PROOF]),
    "a proof of another, too": _with(proof=[OF_OTHER, PROOF]),
}
REFUSED: dict[str, Document] = {
    "a value": _with(name="Eve"),
    "a value of another kind": _with(age="36"),
    "a member more": _with(email="x"),
    "a member less": _without(SIGNED, "age"),
    "a list in another order": _with(path={"@list": ["y", "x", "z"]}),
    "a list as a set": _with(path=["x", "y", "z"]),
    "a nested node": _with(knows={"name": "Bo", "knows": {"name": "Di"}}),
    "another name": _with(id=f"{EX}Eve"),
    "another vocabulary": _with(**{"@context": [INTEGRITY, {"@vocab": "https://eve.org/"}]}),
    "a term that means another": _context({"name": f"{EX}age", "age": f"{EX}name"}),
    "a language for all": _context({"@language": "en"}),
    "a datatype for a term": _context({"name": {"@id": f"{EX}name", "@type": DATE}}),
    "a context of a node": _with(knows={"@context": {"@vocab": "urn:x:"}, **UNSIGNED["knows"]}),
    "@included": _with(**{"@included": [{"id": f"{EX}Eve", "name": "Eve"}]}),
    "@graph": _with(**{"@graph": [{"id": f"{EX}Eve", "name": "Eve"}]}),
    "@reverse": _with(**{"@reverse": {"knows": {"id": f"{EX}Eve"}}}),
    "@nest": _with(**{"@nest": {"email": "x"}}),
    "no proof": UNSIGNED,
    "a proof that is null": _with(proof=None),
    "a proof of a node": {**UNSIGNED, "knows": {**UNSIGNED["knows"], "proof": PROOF}},
    "a proof by its IRI": {**UNSIGNED, "https://w3id.org/security#proof": {"@graph": [PROOF]}},
    "a proof in @graph": {"@context": CONTEXT, "@graph": [_without(SIGNED, "@context")]},
    "another time": _proven(created="2020-01-01T00:00:00Z"),
    "no time": {**UNSIGNED, "proof": _without(PROOF, "created")},
    "an end": _proven(expires="2999-01-01T00:00:00Z"),
    "another purpose": _proven(proofPurpose="authentication"),
    "another suite": _proven(cryptosuite="eddsa-jcs-2022"),
    "another type": _proven(type="Ed25519Signature2020"),
    "a domain": _proven(domain="example.org"),
    "a note in the proof": _proven(note="x"),
    "a cut signature": _proven(proofValue=PROOF["proofValue"][:-1]),
    "an empty signature": _proven(proofValue="z"),
    "the signature of another": _proven(proofValue=OF_OTHER["proofValue"]),
    "the key of another": _proven(verificationMethod=OF_OTHER["verificationMethod"]),
    "another key within the name": _proven(
        verificationMethod=f"{DID}#{OTHER.removeprefix('did:key:')}"
    ),
    "another key, signed by it": {
        **UNSIGNED,
        "proof": {**OF_OTHER, "verificationMethod": f"{DID}#{OTHER.removeprefix('did:key:')}"},
    },
    "a key without its name": _proven(verificationMethod=DID),
    "a key of P-256": _proven(verificationMethod=f"{P256}#{P256[8:]}"),
    "a key for encryption": _proven(verificationMethod=f"{X25519}#{X25519[8:]}"),
    "a key on the web": _proven(verificationMethod="did:web:example.org#key"),
    "a key in the proof": _proven(
        verificationMethod={"id": f"{DID}#x", "publicKeyMultibase": OTHER[8:]}
    ),
    "a context that is fetched": _context("https://example.org/context"),
    "a context that is null": _context(None),
    "no context": _without(SIGNED, "@context"),
    "the context of old proofs": _with(
        **{"@context": ["https://w3id.org/security/data-integrity/v1", CONTEXT[1]]}
    ),
    "two documents": {"@context": CONTEXT, "@graph": [SIGNED, SIGNED]},
}
UNCOVERED: dict[str, Document] = {
    # JSON-LD leaves these out, or the JavaScript library does.
    "a null": _with(email=None),
    "an empty array": _with(email=[]),
    "an index": _with(knows={**UNSIGNED["knows"], "@index": "evil"}),
    "a forged proof beside": _with(proof=[PROOF, {**OF_OTHER, "proofValue": PROOF["proofValue"]}]),
}
# Oxigraph reads these as what was signed, and the JavaScript library does not.
MISREAD: dict[str, Document] = {
    "a list in a list": _with(path={"@list": [["x"], ["y"], ["z"]]}),
    "a set in a list": _with(path={"@list": [{"@set": ["x", "y", "z"]}]}),
    "a list in a list, and a term without a meaning": _context({"evil": None})
    | {"path": {"@list": [["x", "y"], ["z"]]}, "evil": "x"},
}


def _verified(document: Any) -> documents.Verified:
    return documents.verify(json.dumps(document), trusted=[DID])


def test_a_document_of_the_javascript_library_verifies_however_it_is_laid_out() -> None:
    for name, document in SAME.items():
        verified = _verified(document)
        assert verified.ok, (name, verified.reasons)
        assert (verified.signer, verified.created) == (DID, "2026-11-27T18:14:45Z"), name


def test_a_forged_document_does_not_verify() -> None:
    for name, document in (REFUSED | UNCOVERED | MISREAD).items():
        verified = _verified(document)
        assert (verified.ok, verified.signer) == (False, None), name
        assert verified.reasons, name


@needs_node
def test_the_javascript_library_agrees() -> None:
    assert verified_by_node([*SAME.values(), *UNCOVERED.values()]) == [True] * len(SAME | UNCOVERED)
    refused = REFUSED | MISREAD
    accepted = verified_by_node([*refused.values()])
    assert [name for name, is_accepted in zip(refused, accepted, strict=True) if is_accepted] == []


def test_a_document_that_another_signs_again_has_another_signer() -> None:
    signed_again = {**UNSIGNED, "proof": OF_OTHER}
    assert documents.verify(json.dumps(signed_again)).signer == OTHER
    refused = _verified(signed_again)
    assert (refused.ok, refused.signer) == (False, OTHER)
    assert OTHER in refused.reasons[0]


def test_a_proof_does_not_belong_to_another_document() -> None:
    other = {"@context": CONTEXT, "id": f"{EX}Ada", "name": "Ada"}
    assert not _verified({**other, "proof": PROOF})


TEXT = json.dumps(SIGNED)
BROKEN = {
    "a cut document": TEXT[:-1],
    "more after it": TEXT + "{}",
    "a member twice": TEXT.replace('"name": "Ada"', '"name": "Eve", "name": "Ada"'),
    "a proof twice": TEXT[:-1] + f', "proof": {json.dumps(OF_OTHER)}}}',
    "an array": f"[{TEXT}]",
    "a number that is none": TEXT.replace("36", "NaN"),
    "a lone surrogate": TEXT.replace('"Ada"', '"\\ud800"'),
    "a deep nest": TEXT.replace("36", "[" * 100_000 + "]" * 100_000),
    "a huge number": TEXT.replace("36", "9" * 100_000),
    "a text": '"text"',
    "nothing": "",
    "no JSON": "UPSERT { }",
}


def test_what_is_no_such_document_does_not_verify_and_raises_nothing() -> None:
    for name, text in BROKEN.items():
        verified = documents.verify(text + "\n", trusted=[DID])
        assert (verified.ok, bool(verified.reasons)) == (False, True), name
    assert documents.verify(TEXT, trusted=[DID])


@pytest.mark.parametrize("trusted", [[P256], ["did:web:example.org"], [DID[:-1]], DID, [None]])
def test_another_key_cannot_be_trusted(trusted: Any) -> None:
    with pytest.raises(KipError) as raised:
        documents.verify(TEXT, trusted)
    assert raised.value.code == "KIP_1001"
    assert not documents.verify(TEXT, trusted=[])


# Random edits ---------------------------------------------------------------------------------

DATA = """
<urn:a> <urn:p> "x\\n\\"y\\\\é😀\\u0001" .
<urn:a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:T> .
<urn:a> <urn:q> "5.0E-1"^^<http://www.w3.org/2001/XMLSchema#double> .
<urn:b> <urn:q> "a"@en-gb <urn:g> .
<urn:b> <urn:q> <urn:a> <urn:g> .
<urn:b> <urn:r> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .
"""
PIECES = [*'"\\{}[],:@ \n_<>aé019', '"proof":', '"@id":', "],", ',"evil":["x"]', "null"]


def test_no_edit_of_a_signed_document_verifies_that_changes_a_value(tmp_path: Path) -> None:
    did = keys.new_key(tmp_path / "key.json")
    text = documents.sign(parse(DATA, format=RdfFormat.N_QUADS), tmp_path / "key.json")
    signed = documents.read(text, [did])[1]
    chance = random.Random(SEED)
    for _ in range(amount("FORGERIES", 600)):
        edited = _edited(text, chance)
        verified, lines = documents.read(edited, [did])
        if verified:
            # White space, an escape, a keyword by its other name
            assert lines == signed
            assert "evil" not in edited
    assert documents.verify(text.replace('"@id":"urn:g"', '"id": "urn:g"'), [did])


def _edited(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text))
    end = min(len(text), at + chance.randrange(1, 60))
    new = chance.choice([chance.choice(PIECES), "", text[at:end] * 2])
    edited = text[:at] + new + text[at + 1 if new in PIECES else end :]
    return edited if edited != text else _edited(text, chance)


# Random documents -----------------------------------------------------------------------------

SEEDS: list[Document] = [
    UNSIGNED,
    {
        "@context": [
            INTEGRITY,
            {
                "ex": EX,
                "name": "ex:name",
                "knows": {"@id": "ex:knows", "@type": "@id"},
                "by": {"@reverse": "ex:made"},
            },
        ],
        "@id": "urn:a",
        "name": {"@value": "A", "@language": "en-GB"},
        "knows": ["urn:b", {"@id": "urn:c", "name": "C"}],
        "by": {"@id": "urn:m"},
    },
    {
        "@context": [INTEGRITY, {"@vocab": EX}],
        "id": "urn:g",
        "@graph": [{"id": "urn:a", "p": "x", "q": {"p": "blank"}}, {"id": "urn:b", "p": 1.5}],
    },
    {
        "@context": [INTEGRITY, {"@vocab": EX, "name": f"{EX}outer"}],
        "id": "urn:a",
        "name": "A",
        "knows": {"@context": {"name": f"{EX}inner"}, "name": "I", "knows": {"name": "D"}},
    },
]
KEYS = [
    "@id", "id", "@type", "type", "@value", "@language", "@list", "@set", "@graph", "@included",
    "@reverse", "@index", "@nest", "@json", "@context", "@base", "@vocab", "@direction", "@version",
    "@propagate", "@import", "@container", "name", "knows", "age", "path", "by", "p", "ex:name",
    "ex", "urn:p", "relative", "proof", "DataIntegrityProof", "https://example.org/name",
]  # fmt: skip
VALUES: list[Any] = [
    *KEYS, "urn:a", "_:b0", "en-US", DATE, "@none", 1, 1.0, 36.0, 1e21, True, None, [], {}, "",
    ["x"], [["x"]], {"@value": "x"}, {"@id": "urn:a"}, {"@list": ["x"]}, {"@set": ["x"]},
    {"@value": {"a": 1}, "@type": "@json"}, {"@graph": [{"id": "urn:z", "name": "z"}]},
]  # fmt: skip
DEFINITIONS: list[Any] = [
    "@id", EX, None, "@nest", True, False,
    {"@id": f"{EX}name", "@type": "@id"}, {"@id": f"{EX}name", "@type": "@json"},
    {"@id": f"{EX}name", "@type": "@vocab"}, {"@id": f"{EX}path", "@container": "@list"},
    {"@id": f"{EX}path", "@container": "@index"}, {"@id": f"{EX}p", "@container": ["@graph"]},
    {"@reverse": f"{EX}made"}, {"@id": f"{EX}name", "@language": "en"},
    {"@id": f"{EX}knows", "@context": {"name": f"{EX}age"}},
]  # fmt: skip


@needs_node
def test_what_is_read_of_random_documents_is_what_the_javascript_library_reads() -> None:
    chance = random.Random(SEED)
    altered = [_altered(chance) for _ in range(amount("FORGERIES", 600))]
    answers = json.loads(run(Path(__file__).with_name("canonize.mjs"), json.dumps(altered)))
    read = 0
    for document, answer in zip(altered, answers, strict=True):
        try:
            lines, _ = foreign.read(json.dumps({**document, "proof": {}}))
        except foreign.Unreadable:
            continue
        # A context that is not valid does no harm where its terms are read as they are.
        if answer is not None:
            read += 1
            assert "".join(f"{line}\n" for line in lines) == answer, json.dumps(document)
    assert read > len(altered) / 10


def _altered(chance: random.Random) -> Document:
    document = copy.deepcopy(chance.choice(SEEDS))
    for _ in range(chance.randrange(1, 6)):
        parents = [*_parts(document)]
        chance.choice(ALTERATIONS)(chance, chance.choice(parents))
    return {key: value for key, value in document.items() if key != "proof"}


def _parts(value: Any) -> Any:
    """The objects and arrays of a document."""
    if isinstance(value, dict | list):
        yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from _parts(item)


def _place(chance: random.Random, part: Any) -> Any:
    return chance.choice([*part] if isinstance(part, dict) else range(len(part)))


def _add(chance: random.Random, part: Any) -> None:
    value = copy.deepcopy(chance.choice(VALUES))
    if isinstance(part, dict):
        part[chance.choice(KEYS)] = value
    else:
        part.append(value)


def _replace(chance: random.Random, part: Any) -> None:
    if part:
        part[_place(chance, part)] = copy.deepcopy(chance.choice(VALUES))


def _wrap(chance: random.Random, part: Any) -> None:
    if part:
        place = _place(chance, part)
        value = part[place]
        items = value if isinstance(value, list) else [value]
        wrapped = [[value], {"@set": items}, {"@list": items}, {"@value": value}, {"p": value}]
        part[place] = chance.choice(wrapped)


def _remove(chance: random.Random, part: Any) -> None:
    if part:
        del part[_place(chance, part)]


def _define(chance: random.Random, part: Any) -> None:
    if isinstance(part, dict):
        given = part.get("@context", [])
        definition = {chance.choice(KEYS): copy.deepcopy(chance.choice(DEFINITIONS))}
        part["@context"] = [*(given if isinstance(given, list) else [given]), definition]


ALTERATIONS: list[Callable[[random.Random, Any], None]] = [_add, _replace, _wrap, _remove, _define]
