"""Signed documents and the JavaScript library of Digital Bazaar: each verifies what the other
signs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.node import needs_node, run

HERE = Path(__file__).parent
SEED = "01" * 32
DID = "did:key:z6Mkon3Necd6NkkyfoGoHxid2znGc59LU3K7mubaRcFbLfLX"
CONTEXT = ["https://w3id.org/security/data-integrity/v2", {"@vocab": "https://example.org/"}]
NESTED = {
    "@context": CONTEXT,
    "name": "Alice",
    "knows": [{"name": "Bob", "knows": {"name": "Carol"}}, {"id": "https://example.org/Dan"}],
}

pytestmark = needs_node


def signed_by_node(*documents: Any) -> list[dict[str, Any]]:
    """Documents with a proof by the key of ``SEED``."""
    given = json.dumps({"seed": SEED, "documents": documents})
    signed: list[dict[str, Any]] = json.loads(run(HERE / "sign.mjs", given))
    return signed


def verified_by_node(documents: Sequence[Any]) -> list[bool]:
    """Whether each document verifies."""
    answers = json.loads(run(HERE / "verify.mjs", json.dumps(documents)))
    return [answer["verified"] for answer in answers]


def test_the_library_verifies_what_it_signs_and_nothing_else() -> None:
    [signed] = signed_by_node(NESTED)
    assert signed["proof"]["verificationMethod"].partition("#")[0] == DID
    assert verified_by_node([signed, signed | {"name": "Eve"}]) == [True, False]
