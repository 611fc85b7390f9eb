"""Signed capsules: documents whose one literal is the text of a capsule (docs/decisions/193)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable

import pyoxigraph as ox
from pyoxigraph import Literal, NamedNode, Quad

from kiprdf.errors import KipError
from kiprdf.execution.writer import read_capsule
from kiprdf.interchange import files
from kiprdf.rdf import vocab
from kiprdf.signing import documents


def sign_capsule(capsule: str | os.PathLike[str], key: object) -> str:
    """The signed document of a capsule, which is a text of UPSERT blocks or a file of them.

    ``key`` is a file of ``kiprdf key new``, or an ``Ed25519PrivateKey``. ``Nexus.apply_capsule``
    reads the document. Raises KIP_1001 for a text that is no capsule, and for other keys.

    >>> sign_capsule("DELETE CONCEPT ?a WHERE { ?a {type: 'A'} }", "key.json")
    Traceback (most recent call last):
    kiprdf.errors.KipError: KIP_1001 1:1 A capsule consists of UPSERT blocks. ...
    """
    text = files.capsule_text(capsule)
    try:
        read_capsule(text)
    except KipError as error:
        raise error.in_source(text) from None
    name = NamedNode(f"{vocab.CAPSULES}{hashlib.sha256(text.encode()).hexdigest()}")
    return documents.sign([Quad(name, vocab.CAPSULE, Literal(text))], key)


def capsule_in(text: str, trusted: Iterable[str] | None) -> str:
    """The capsule that a text is, or that is signed in it by one of the ``trusted``.

    Raises KIP_3004 where ``trusted`` are given and none of them has signed it, KIP_1001 for
    another signed document, and where a signed capsule comes without ``trusted``: a signature that
    nobody looks at protects from nothing.
    """
    is_signed = (
        text.removeprefix("\ufeff").lstrip()[:1] == "{"
    )  # A capsule begins with a word or a comment.
    if trusted is None and not is_signed:
        return text
    if trusted is None:
        message = "The capsule is signed, and it is not said whose signature is trusted."
        hint = "Name the signers that you trust: trusted=[DID, …], or kiprdf load --trust DID."
        raise KipError("KIP_1001", message, hint)
    if not is_signed:
        message = "The capsule is not signed, and only those who are trusted may sign it."
        raise KipError("KIP_3004", message, "Ask its author for a signed one.")
    verified, lines = documents.read(text, trusted)
    if not verified:
        message = f"The capsule is refused: {verified.reasons[0]}"
        raise KipError("KIP_3004", message, "Look at it with kiprdf verify FILE.")
    capsule = _text_in(lines)
    if capsule is None:
        message = "The document is signed, and is no capsule."
        raise KipError("KIP_1001", message, "Sign a capsule with kiprdf sign --capsule FILE.")
    return capsule


def _text_in(lines: list[str]) -> str | None:
    """The text of the capsule that the only statement of a document has."""
    if len(lines) != 1:
        return None
    [quad] = ox.parse(lines[0], format=ox.RdfFormat.N_QUADS)
    value = quad.object
    is_text = isinstance(value, Literal) and value.datatype == vocab.STRING
    return value.value if is_text and quad.predicate == vocab.CAPSULE else None
