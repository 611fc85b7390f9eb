"""The rows of the index, and its hits."""

import hashlib
from typing import Literal, NamedTuple, get_args

Kind = Literal["concept", "proposition"]
KINDS: tuple[Kind, ...] = get_args(Kind)

# Characters of an element that are embedded: about what models read, and what bounds a batch.
LONGEST_TEXT = 2000


class IndexRow(NamedTuple):
    """The searchable texts of one element."""

    key: str  # IRI of the element
    kind: Kind
    type: str  # concept type, or predicate
    name: str  # concept name, or predicate
    aliases: tuple[str, ...]  # of a concept; of a proposition, the names of its endpoints
    description: str  # the concept's, or the predicate's
    text: str  # all other text attributes


class Hit(NamedTuple):
    """A matching row; its score is in [0, 1), and a higher one is better."""

    key: str
    score: float


def embedded_text(row: IndexRow) -> str:
    r"""The text of a row for an embedder: the fields that keyword search uses.

    >>> embedded_text(IndexRow("urn:1", "concept", "Drug", "Aspirin", ("ASA",), "Eases pain.", ""))
    'Aspirin\nASA\nEases pain.'

    A proposition reads as a sentence:

    >>> link = IndexRow("urn:2", "proposition", "treats", "treats", ("Aspirin", "Fever"), "", "")
    >>> embedded_text(link)
    'Aspirin treats Fever'
    """
    # For a model has_side_effect is an unusual word, has side effect are three usual ones.
    name = row.name.replace("_", " ")
    if row.kind == "proposition":
        first, *others = row.aliases or ("",)
        head = " ".join((first, name, *others)).strip()
    else:
        head = "\n".join((name, *row.aliases))
    return clean("\n".join(part for part in (head, row.description, row.text) if part))


def clean(text: str) -> str:
    """The beginning of a text, without what UTF-8 cannot encode."""
    begin = text[:LONGEST_TEXT]
    return begin if begin.isascii() else begin.encode("utf-8", "replace").decode("utf-8")


def digest(text: str) -> bytes:
    """The digest that identifies a text."""
    return hashlib.blake2b(text.encode("utf-8"), digest_size=16).digest()
