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
    content: str = ""  # of an element that is a text, what it says


class Hit(NamedTuple):
    """A matching row; its score is in [0, 1), and a higher one is better."""

    key: str
    score: float


def embedded_text(row: IndexRow) -> str:
    r"""The text of a row for an embedder: what an element says, or else its names and texts.

    Values that are ids, times, numbers and addresses are left out: they have no meaning.

    >>> embedded_text(IndexRow("urn:1", "concept", "Drug", "Aspirin", ("ASA",), "Eases pain.", ""))
    'Aspirin\nASA\nEases pain.'

    A proposition reads as a sentence:

    >>> link = IndexRow("urn:2", "proposition", "treats", "treats", ("Aspirin", "Fever"), "", "")
    >>> embedded_text(link)
    'Aspirin treats Fever'
    """
    if row.content:
        return clean(row.content)
    # For a model has_side_effect is an unusual word, has side effect are three usual ones.
    name = row.name.replace("_", " ")
    if row.kind == "proposition":
        first, *others = row.aliases or ("",)
        head = " ".join((first, name, *others)).strip()
    else:
        head = "\n".join((name, *row.aliases))
    text = "\n".join(line for line in row.text.splitlines() if not is_data(line))
    return clean("\n".join(part for part in (head, row.description, text) if part))


def is_data(text: str) -> bool:
    """Whether a text is an id, a time, a number or an address.

    >>> [is_data(text) for text in ("2023-05-08T13:56:00Z", "mem_0b1f5c4e9a2d77e1", "https://a.org")]
    [True, True, True]
    >>> [is_data(text) for text in ("COVID-19", "C++", "8 May", "")]
    [False, False, False, False]
    """
    if " " in text:
        return not any(map(str.isalpha, text)) and text.strip() != ""
    has_digit = any(map(str.isdecimal, text))
    return "://" in text or (has_digit and 2 * sum(map(str.isalpha, text)) <= len(text))


def clean(text: str) -> str:
    """The beginning of a text, without what UTF-8 cannot encode."""
    begin = text[:LONGEST_TEXT]
    return begin if begin.isascii() else begin.encode("utf-8", "replace").decode("utf-8")


def digest(text: str) -> bytes:
    """The digest that identifies a text."""
    return hashlib.blake2b(text.encode("utf-8"), digest_size=16).digest()
