"""Ed25519 keys as Multikey and ``did:key``, and their files (W3C Controlled Identifiers 1.0).

A ``did:key`` is the key itself in another spelling: no registry is asked.
"""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kiprdf.errors import KipError, StoreError, shown
from kiprdf.loading import Lazy

if TYPE_CHECKING:
    from cryptography import exceptions
    from cryptography.hazmat.primitives.asymmetric import ed25519
else:
    exceptions = Lazy("cryptography.exceptions")
    ed25519 = Lazy("cryptography.hazmat.primitives.asymmetric.ed25519")

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_PUBLIC, _SECRET = b"\xed\x01", b"\x80\x26"
"""The headers of Multikey (Controlled Identifiers, 2.2.2)."""
_LENGTH = 32
_LONGEST = 200
"""How many characters a key or signature has at most; decoding takes the square of them."""
_HINT = "Make a key with: kiprdf key new FILE"
_DID = "did:key:"


# Multibase ------------------------------------------------------------------------------------


def to_multibase(data: bytes) -> str:
    """Bytes in base58btc, with its header.

    >>> to_multibase(b"\\x00\\x01\\x02")
    'z15T'
    """
    digits, number = "", int.from_bytes(data, "big")
    while number:
        number, rest = divmod(number, 58)
        digits = _ALPHABET[rest] + digits
    return "z" + "1" * (len(data) - len(data.lstrip(b"\0"))) + digits


def from_multibase(text: object) -> bytes | None:
    """The bytes of a text in base58btc; None for another text.

    >>> from_multibase("z15T"), from_multibase("uAQI")
    (b'\\x00\\x01\\x02', None)
    """
    if not isinstance(text, str) or text[:1] != "z" or len(text) > _LONGEST:
        return None
    number = 0
    for digit in text[1:]:
        place = _ALPHABET.find(digit)
        if place < 0:
            return None
        number = number * 58 + place
    zeros = len(text[1:]) - len(text[1:].lstrip("1"))
    return b"\0" * zeros + number.to_bytes((number.bit_length() + 7) // 8, "big")


# Public keys ----------------------------------------------------------------------------------


def public_bytes(did: object) -> bytes | None:
    """The public key that a ``did:key`` spells; None for what is no Ed25519 ``did:key``.

    >>> public_bytes("did:web:example.org") is None
    True
    """
    if not isinstance(did, str) or not did.startswith(_DID):
        return None
    data = from_multibase(did.removeprefix(_DID))
    is_key = data is not None and data[:2] == _PUBLIC and len(data) == 2 + _LENGTH
    return data[2:] if data is not None and is_key else None


def did_of(key: ed25519.Ed25519PublicKey) -> str:
    """A public key as ``did:key``."""
    return _DID + to_multibase(_PUBLIC + key.public_bytes_raw())


def verifies(did: str, signature: bytes, message: bytes) -> bool:
    """Whether a signature is that of a ``did:key`` over a message."""
    require_cryptography()
    public = public_bytes(did)
    assert public is not None, did
    try:
        ed25519.Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (
        exceptions.InvalidSignature,
        ValueError,
    ):  # ValueError: the bytes are no point of the curve
        return False
    return True


def require_cryptography() -> None:
    """Raise ``StoreError`` where the extra ``sign`` is not installed."""
    if find_spec("cryptography") is None:
        raise StoreError("Signatures need cryptography: pip install 'kiprdf[sign]'.")


# Private keys ---------------------------------------------------------------------------------


class Key(NamedTuple):
    """A private key with the ``did:key`` of its public one."""

    private: ed25519.Ed25519PrivateKey
    did: str

    @property
    def method(self) -> str:
        """The verification method: the key within its DID document."""
        return f"{self.did}#{self.did.removeprefix(_DID)}"


def key_of(key: object) -> Key:
    """The key of a file that ``kiprdf key new`` wrote, or of an ``Ed25519PrivateKey``.

    Raises KIP_1001 for a file without such a key and for keys of other kinds, ``OSError`` for a
    file that cannot be read, ``StoreError`` where the extra ``sign`` is not installed.
    """
    require_cryptography()
    if isinstance(key, str | os.PathLike):
        return _read(Path(key))
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        message = f"A key is a file or an Ed25519PrivateKey, not {type(key).__name__}."
        raise KipError("KIP_1001", message, _HINT)
    return Key(key, did_of(key.public_key()))


def _read(path: Path) -> Key:
    try:
        members: Any = json.loads(path.read_text("utf-8"))
        secret, public = members["secretKeyMultibase"], members["publicKeyMultibase"]
    except (ValueError, LookupError, TypeError, RecursionError):
        message = f"{shown(str(path))} is not a file with a secret Multikey."
        raise KipError("KIP_1001", message, _HINT) from None
    data = from_multibase(secret)
    if data is None or data[:2] != _SECRET or len(data) != 2 + _LENGTH:
        message = f"The key in {shown(str(path))} is not an Ed25519 key (z3u2…)."
        raise KipError("KIP_1001", message, _HINT)
    key = key_of(ed25519.Ed25519PrivateKey.from_private_bytes(data[2:]))
    if key.did != f"{_DID}{public}":
        message = f"The secret and the public key in {shown(str(path))} do not belong together."
        raise KipError("KIP_1001", message, _HINT)
    return key


def new_key(path: str | os.PathLike[str]) -> str:
    """Write a new key to a file that only its owner can read; return its ``did:key``.

    The file is a Multikey of the W3C (Controlled Identifiers, 2.2.2), in JSON. Raises
    ``FileExistsError``: a key is never overwritten.
    """
    require_cryptography()
    key = key_of(ed25519.Ed25519PrivateKey.generate())
    multikey = {
        "@context": "https://w3id.org/security/multikey/v1",
        "id": key.method,
        "type": "Multikey",
        "controller": key.did,
        "publicKeyMultibase": key.did.removeprefix(_DID),
        "secretKeyMultibase": to_multibase(_SECRET + key.private.private_bytes_raw()),
    }
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(json.dumps(multikey, indent=1) + "\n")
    return key.did
