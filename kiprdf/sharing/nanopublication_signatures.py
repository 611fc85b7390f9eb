"""The signatures of nanopublications, in the terms that all of them use (decision 216).

Others sign with RSA, once with DSA; a nexus with the Ed25519 keys of its documents, or with RSA.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyoxigraph import Literal, NamedNode, Quad, Triple

from kiprdf.errors import KipError
from kiprdf.loading import Lazy
from kiprdf.sharing.nanopublication_form import Nanopublication, malformed, normalized, npx
from kiprdf.signing.keys import did_of, key_of, require_cryptography

if TYPE_CHECKING:
    from cryptography import exceptions
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import dsa, ed25519, padding, rsa
else:
    exceptions = Lazy("cryptography.exceptions")
    hashes = Lazy("cryptography.hazmat.primitives.hashes")
    serialization = Lazy("cryptography.hazmat.primitives.serialization")
    dsa = Lazy("cryptography.hazmat.primitives.asymmetric.dsa")
    ed25519 = Lazy("cryptography.hazmat.primitives.asymmetric.ed25519")
    padding = Lazy("cryptography.hazmat.primitives.asymmetric.padding")
    rsa = Lazy("cryptography.hazmat.primitives.asymmetric.rsa")

_TARGET, _SIGNATURE = npx("hasSignatureTarget"), npx("hasSignature")
_KEY, _ALGORITHM = npx("hasPublicKey"), npx("hasAlgorithm")
_LONGEST = 4000
"""How many characters a public key has at most; a larger one takes long to try."""


class Signer:
    """A private key: a file of ``kiprdf key new``, an ``Ed25519PrivateKey``, an ``RSAPrivateKey``.

    Raises KIP_1001 for another one.
    """

    def __init__(self, key: object) -> None:
        require_cryptography()
        self._key: Any = key if isinstance(key, rsa.RSAPrivateKey) else key_of(key).private
        self._public = _der(self._key.public_key())

    def statements(self, about: NamedNode, target: NamedNode) -> list[Triple]:
        """What is signed beside the rest: by which key, and what it signs."""
        kind = "RSA" if isinstance(self._key, rsa.RSAPrivateKey) else "Ed25519"
        return [
            Triple(about, _ALGORITHM, Literal(kind)),
            Triple(about, _KEY, Literal(self._public)),
            Triple(about, _TARGET, target),
        ]

    def signature(self, about: NamedNode, text: str) -> Triple:
        """The signature of a normalized text."""
        options = (padding.PKCS1v15(), hashes.SHA256())
        of_rsa = isinstance(self._key, rsa.RSAPrivateKey)
        signature = self._key.sign(text.encode(), *(options if of_rsa else ()))
        return Triple(about, _SIGNATURE, Literal(b64encode(signature).decode()))


def signers(one: Nanopublication) -> list[str]:
    """The keys that signed a nanopublication: as ``did:key``, those of RSA and DSA in base64.

    Raises KIP_2002 for a signature that does not hold, ``StoreError`` where there is one and the
    extra ``sign`` is not installed.
    """
    signed = (t.subject for t in one.of("pubinfo") if t.predicate in (_SIGNATURE, _TARGET))
    return [_signer(one, node) for node in dict.fromkeys(signed)]


def require_trusted(
    every: Sequence[Nanopublication], trusted: Any
) -> Iterator[tuple[Nanopublication, list[str]]]:
    """Each nanopublication with its signers, if one of them is trusted, or everybody is (None)."""
    kinds = (list, tuple, set, frozenset)
    if not (
        trusted is None
        or (isinstance(trusted, kinds) and all(isinstance(name, str) for name in trusted))
    ):
        message = "The trusted signers are a list of texts."
        raise KipError("KIP_1001", message, "Give a list of keys, as the report lists signers.")
    for one in every:
        names = signers(one)
        if trusted is not None and not set(names).intersection(trusted):
            raise malformed(one.iri, "no key that is trusted has signed it")
        yield one, names


def _signer(one: Nanopublication, node: Any) -> str:
    require_cryptography()
    own = {t.predicate: t.object for t in one.of("pubinfo") if t.subject == node}
    values = [own.get(predicate) for predicate in (_KEY, _SIGNATURE)]
    if one.code is None or own.get(_TARGET) != one.iri:
        raise malformed(one.iri, "its signature needs its own trusty URI as target")
    rest = [q for q in one.quads if not _is_signature(q, node)]
    text = normalized(rest, one.code).encode()
    try:
        public, signature = (b64decode(v.value) for v in values if isinstance(v, Literal))
        if len(public) > _LONGEST:
            raise ValueError("the key is too long")
        key: Any = serialization.load_der_public_key(public)
        if isinstance(key, rsa.RSAPublicKey):
            key.verify(signature, text, padding.PKCS1v15(), hashes.SHA256())
        elif isinstance(key, dsa.DSAPublicKey):
            key.verify(signature, text, hashes.SHA256())
        elif isinstance(key, ed25519.Ed25519PublicKey):
            key.verify(signature, text)
            return did_of(key)
        else:
            raise ValueError("the key is of another kind")
    except (exceptions.InvalidSignature, exceptions.UnsupportedAlgorithm, ValueError):
        raise malformed(one.iri, "its signature does not hold") from None
    return _der(key)


def _is_signature(quad: Quad, node: Any) -> bool:
    return quad.subject == node and quad.predicate == _SIGNATURE


def _der(key: Any) -> str:
    """A public key as nanopublications have it."""
    encoding, form = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    return b64encode(key.public_bytes(encoding, form)).decode()
