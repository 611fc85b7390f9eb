"""Signs RDF as JSON-LD with a Data Integrity proof, and verifies such documents.

The cryptosuite is ``eddsa-rdfc-2022`` (W3C VC-DI-EDDSA 1.0, 3.2): Ed25519 over the SHA-256 of the
canonical proof and the SHA-256 of the canonical document. ``layout`` writes documents from which
their lines are read back; ``foreign`` reads those of others as JSON-LD.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode, Quad

from kiprdf import collector
from kiprdf.errors import KipError, shown
from kiprdf.interchange import files
from kiprdf.rdf import vocab
from kiprdf.signing import foreign, layout
from kiprdf.signing.canonical import canonical_lines, ordered
from kiprdf.signing.keys import from_multibase, key_of, public_bytes, to_multibase, verifies

_SUITE = "eddsa-rdfc-2022"
_SECURITY = "https://w3id.org/security#"
_DATE_TIME = vocab.XSD + "dateTime"
_PROOF_TERMS = {
    "created": ("http://purl.org/dc/terms/created", _DATE_TIME),
    "expires": (_SECURITY + "expiration", _DATE_TIME),
    "cryptosuite": (_SECURITY + "cryptosuite", _SECURITY + "cryptosuiteString"),
    "verificationMethod": (_SECURITY + "verificationMethod", None),
    "domain": (_SECURITY + "domain", vocab.STRING.value),
    "challenge": (_SECURITY + "challenge", vocab.STRING.value),
    "nonce": (_SECURITY + "nonce", vocab.STRING.value),
}
"""What a string of a proof means by the context ``data-integrity/v2``; without a type it is an IRI.
"""
_FIXED = {
    "type": "DataIntegrityProof",
    "cryptosuite": _SUITE,
    "proofPurpose": "assertionMethod",
}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)", re.ASCII)
_PROOFS = 16
"""How many proofs a document has at most."""
_SIGNATURE = 64
_AT_ONCE = 1000


@dataclass(frozen=True)
class Verified:
    """Whether a signed document is to be trusted: ``if kiprdf.verify(document): …``.

    ``signer`` and ``created`` are those of a signature that holds, else None; ``reasons`` are
    sentences: each fault of a document that is not ``ok``, and that nobody was named as trusted.
    """

    ok: bool
    signer: str | None
    created: str | None
    reasons: list[str]

    def __bool__(self) -> bool:
        return self.ok


# Sign -----------------------------------------------------------------------------------------


def sign(quads: Iterable[Quad], key: object, *, created: datetime | None = None) -> str:
    """The signed document of quads; see ``sign_lines``."""
    return sign_lines(canonical_lines(quads), key, created=created)


def sign_lines(lines: list[str], key: object, *, created: datetime | None = None) -> str:
    """The signed document of lines of N-Quads as the engine writes them, as JSON-LD.

    ``key`` is the path of a key file or an ``Ed25519PrivateKey``. Doubles are written in XSD's
    canonical form. Raises KIP_1001 for another key, for blank nodes and triple terms, and for
    what JSON-LD libraries would read as something else: an infinite double, an IRI with a space.
    """
    own = key_of(key)
    layout.check(lines)
    written, signed = layout.doubles(ordered(lines))
    proof = {
        **_FIXED,
        "created": (created or datetime.now(UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "verificationMethod": own.method,
    }
    signature = own.private.sign(_message(proof, signed))
    return layout.write(written, {**proof, "proofValue": to_multibase(signature)})


def _message(proof: Mapping[str, str], lines: list[str]) -> bytes:
    """What is signed (VC-DI-EDDSA, 3.2.4): the hash of the proof, and that of the document."""
    return _digest(_proof_lines(proof)) + _digest(lines)


def _digest(lines: list[str]) -> bytes:
    digest = hashlib.sha256()
    for start in range(0, len(lines), _AT_ONCE):
        # A text with one rare character takes four bytes for each.
        digest.update("\n".join([*lines[start : start + _AT_ONCE], ""]).encode())
    return digest.digest()


def _proof_lines(proof: Mapping[str, str]) -> list[str]:
    """The canonical N-Quads of a proof without its value."""
    node = NamedNode(proof["id"]) if "id" in proof else BlankNode()
    quads = [
        Quad(node, vocab.TYPE, NamedNode(_SECURITY + proof["type"])),
        Quad(
            node,
            NamedNode(_SECURITY + "proofPurpose"),
            NamedNode(_SECURITY + proof["proofPurpose"]),
        ),
    ]
    for name in proof.keys() & _PROOF_TERMS.keys():
        predicate, datatype = _PROOF_TERMS[name]
        text = proof[name]
        value = NamedNode(text) if datatype is None else Literal(text, datatype=NamedNode(datatype))
        quads.append(Quad(node, NamedNode(predicate), value))
    return canonical_lines(quads)


# Verify ---------------------------------------------------------------------------------------


class _Fault(Exception):
    """Why a document is not verified, as a sentence."""


def verify(document: files.Source, trusted: Iterable[str] | None = None) -> Verified:
    """Whether the signature of a document holds, and whose it is.

    ``document`` is JSON-LD with a Data Integrity proof: its text or bytes, a path to it, or an open
    file.
    ``trusted`` are the signers (``did:key:z6Mk…``) of whom one must have signed; without it the
    signature of anybody is ``ok``, and ``reasons`` say so. A document that does not verify is no
    error. Raises KIP_1001 for another ``document``, and for ``trusted`` that are no such keys;
    ``OSError`` for a file that cannot be read, ``StoreError`` without the extra ``sign``.

    >>> verify('{"@id": "urn:a"}').reasons
    ['The document has no proof.']
    """
    return read(document, trusted)[0]


def read(
    document: files.Source, trusted: Iterable[str] | None = None
) -> tuple[Verified, list[str]]:
    """What ``verify`` returns, and the canonical N-Quads that were signed.

    They are none where a signature does not hold.
    """
    names = None if trusted is None else _trusted(trusted)
    content = files.content(document)
    try:
        proofs, lines = collector.paused(lambda: _verified_proofs(content))
    except _Fault as fault:
        return Verified(False, None, None, [str(fault)]), []
    chosen = next((proof for proof in proofs if names is None or _signer(proof) in names), None)
    proof = chosen or proofs[0]
    signer = _signer(proof)
    reasons = []
    if chosen is None:
        reasons = [f"The signer {signer} is not among those who are trusted."]
    elif names is None:
        reasons = ["Nobody is named as trusted: the signature holds, whoever the signer is."]
    return Verified(chosen is not None, signer, proof.get("created"), reasons), lines


def _trusted(trusted: Iterable[str]) -> frozenset[str]:
    hint = "Give a list of keys as did:key:z6Mk…, which kiprdf key new prints."
    if isinstance(trusted, str) or not isinstance(trusted, Iterable):
        message = f"The trusted signers are a list, not {type(trusted).__name__}."
        raise KipError("KIP_1001", message, hint)
    names = list(trusted)
    for name in names:
        if public_bytes(name) is None:
            message = f"{shown(repr(name))} is not an Ed25519 key as did:key."
            raise KipError("KIP_1001", message, hint)
    return frozenset(names)


def _signer(proof: Mapping[str, str]) -> str:
    return proof["verificationMethod"].partition("#")[0]


def _verified_proofs(content: str | bytes) -> tuple[list[dict[str, str]], list[str]]:
    """The proofs of a document, each of which holds, and its lines; ``_Fault`` if one does not."""
    try:
        text = content.decode() if isinstance(content, bytes) else content
        text = text.removeprefix("\ufeff")
        if len(text) > layout.LARGEST:
            raise _Fault(f"The document has more than {layout.LARGEST:,} characters.")
        own = layout.read(text)
        lines, value = own or foreign.read(text)
        proofs = value if isinstance(value, list) else [value]
        if not 0 < len(proofs) <= _PROOFS:
            raise _Fault(f"The document has {len(proofs)} proofs; 1 to {_PROOFS} are read.")
        for proof in proofs:
            _check(proof)
            if not _holds(proof, lines):
                message = "signed another document or proof: something of them was changed."
                raise _Fault(f"The signer {_signer(proof)} {message}")
    except UnicodeDecodeError:
        raise _Fault("The document is not UTF-8 text.") from None
    except foreign.Unreadable as fault:
        raise _Fault(str(fault)) from None
    return proofs, lines


def _holds(proof: dict[str, str], lines: list[str]) -> bool:
    signature = from_multibase(proof["proofValue"])
    if signature is None or len(signature) != _SIGNATURE:
        raise _Fault("The proofValue is not a signature of 64 bytes in base58 (z…).")
    try:
        message = _message(proof, lines)
    except UnicodeEncodeError:
        raise _Fault("The document has a lone surrogate, which is not a character.") from None
    except ValueError:
        raise _Fault("The id of the proof is not an IRI.") from None
    return verifies(_signer(proof), signature, message)


def _check(proof: Any) -> None:
    """Raise ``_Fault`` for a proof of another kind, and one that is no longer valid."""
    if not isinstance(proof, dict):
        raise _Fault("The proof is not an object.")
    for name, value in _FIXED.items():
        if proof.get(name) != value:
            given = shown(json.dumps(proof.get(name)))
            raise _Fault(f"The {name} of the proof is {given}, not {value}.")
    allowed = {"id", *_FIXED, *_PROOF_TERMS, "proofValue"}
    for name, value in proof.items():
        if name not in allowed and (name, value) != ("@context", layout.CONTEXT):
            raise _Fault(f"The proof has the member {shown(repr(name))}, which is not verified.")
        if not isinstance(value, str):
            raise _Fault(f"The {name} of the proof is not one string.")
    if "proofValue" not in proof:
        raise _Fault("The proof has no proofValue.")
    method = proof.get("verificationMethod", "")
    did, _, fragment = method.partition("#")
    if public_bytes(did) is None or did != f"did:key:{fragment}":
        given = shown(repr(method))
        raise _Fault(f"The verificationMethod {given} is not an Ed25519 key as did:key:z…#z….")
    for name in ("created", "expires"):
        if name in proof and _time(proof[name]) is None:
            raise _Fault(f"The time {shown(repr(proof[name]))} ({name}) has no date and zone.")
    expires = _time(proof.get("expires", ""))
    if expires is not None and expires <= datetime.now(UTC):
        raise _Fault(f"The signature expired at {proof['expires']}.")


def _time(text: str) -> datetime | None:
    if not _TIME.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
