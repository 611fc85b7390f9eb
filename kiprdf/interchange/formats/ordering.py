"""The order of a dataset, which all writers share: same dataset, same bytes.

Subjects are sorted by kind, then by IRI; the triples of a subject by kind of predicate, predicate
and object.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, TypeVar, cast

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.budget import paced
from kiprdf.interchange.formats.names import Profile
from kiprdf.interchange.staging_store import Node, Term
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, Iris
from kiprdf.rdf.literals import normal
from kiprdf.rdf.reification import statement_parts

V = TypeVar("V")
FORMAT = 1
"""The version of the way in which datasets are written."""
UNSHOWN = r"\x7f-\x9f\u2028\u2029\ufdd0-\ufdef\ufffe\uffff"
"""Characters that are written by their number: controls, line ends, noncharacters."""

_LABEL = re.compile(r"[A-Za-z0-9_]+")


def header(iris: Iris) -> str:
    """The comment from which ``reading`` knows the format and the base, without its mark."""
    return f"kiprdf {FORMAT} base <{iris.base}>"


def normalized(triples: Iterable[Triple]) -> Iterator[Triple]:
    """The triples with their literals as KIP writes them; the engine writes doubles otherwise."""
    for triple in paced(triples):
        value = triple.object
        if isinstance(value, Literal) and (normal_value := normal(value)) is not value:
            yield Triple(triple.subject, triple.predicate, normal_value)
        else:
            yield triple


def node_name(node: Node) -> str:
    """An IRI, or ``_:`` and the label of a blank node.

    Not every format allows every label: ``a:b`` is replaced.
    """
    if isinstance(node, NamedNode):
        return node.value
    if _LABEL.fullmatch(node.value):
        return f"_:{node.value}"
    return f"_:b{hashlib.sha256(node.value.encode()).hexdigest()[:32]}"


Rank: TypeAlias = tuple[int, str, str]
"""Where a predicate is in the order of a subject, and its IRI."""


class Dataset:
    """The triples of a dataset by subject, in one profile, ready to be written.

    Each object is converted and rendered once, however often it occurs.
    """

    def __init__(
        self, triples: Iterable[Triple], profile: Profile, convert: Callable[[Term], Term]
    ) -> None:
        self.subjects: dict[str, list[tuple[Rank, str]]] = defaultdict(list)
        """By the name of a subject: ranks of predicates, and objects as N-Triples."""
        self.values: dict[str, Term] = {}
        """Objects by their N-Triples."""
        self._ranks: dict[str, Rank] = {}
        texts: dict[str, str] = {}
        has_statements = profile == "rdf11"
        for subject, predicate, value in paced(triples):
            is_statement = has_statements and isinstance(value, Triple)
            if is_statement and predicate == vocab.REIFIES:
                pairs = statement_parts(cast(Triple, value))
            else:
                pairs = ((predicate, value),)
            entries = self.subjects[node_name(subject)]
            for name, term in pairs:
                text = str(term)
                if text not in texts:
                    converted = convert(term)
                    texts[text] = str(converted)
                    self.values[texts[text]] = converted
                entries.append((self._rank(name.value), texts[text]))

    def _rank(self, predicate: str) -> Rank:
        if predicate not in self._ranks:
            self._ranks[predicate] = _predicate_rank(predicate)
        return self._ranks[predicate]

    def predicates(self) -> list[str]:
        """The IRIs of all predicates."""
        return list(self._ranks)

    def pairs(self) -> set[tuple[str, str]]:
        """The IRIs of predicates with their objects as N-Triples."""
        return {(rank[2], text) for own in self.subjects.values() for rank, text in own}

    def remove(self, subject: str, predicate: str, text: str) -> None:
        """Remove a triple."""
        entries = self.subjects[subject]
        entries.remove((self._rank(predicate), text))
        if not entries:
            del self.subjects[subject]

    def blocks(
        self, iris: Iris, render: Callable[[Term], V]
    ) -> Iterator[tuple[str, list[tuple[str, str, V]]]]:
        """Each subject with its triples in their order; nothing is left in the dataset.

        A triple is the IRI of its predicate, its object as N-Triples, and the rendered object.
        """
        rendered: dict[str, V] = {}
        for subject in paced(_ordered(self.subjects, iris)):
            entries = self.subjects.pop(subject)
            entries.sort()
            for _, text in entries:
                if text not in rendered:
                    rendered[text] = render(self.values[text])
            yield subject, [(rank[2], text, rendered[text]) for rank, text in entries]


def _ordered(subjects: Iterable[str], iris: Iris) -> list[str]:
    propositions = iris.propositions
    groups: tuple[list[str], ...] = ([], [], [])
    for subject in subjects:
        # Most subjects are propositions, whose names need not be read.
        name = None if subject.startswith(propositions) else iris.name(subject)
        if isinstance(name, ConceptName):
            groups[0 if name.type.startswith("$") else 1].append(subject)
        else:
            groups[2].append(subject)
    return [subject for group in groups for subject in sorted(group)]


_SPACES = (vocab.RDF, vocab.RDFS, vocab.ATTRIBUTE, vocab.METADATA)
# The parts of a statement in the order in which people read them.
_PARTS = {
    part.value: f"{vocab.RDF}{number}"
    for number, part in enumerate((vocab.SUBJECT, vocab.PREDICATE, vocab.OBJECT))
}


def _predicate_rank(predicate: str) -> Rank:
    """Type and label, the parts of a statement, attributes, metadata, facts."""
    if predicate == vocab.TYPE.value:
        return -1, "", predicate
    rank = next((i for i, space in enumerate(_SPACES) if predicate.startswith(space)), len(_SPACES))
    return rank, _PARTS.get(predicate, predicate), predicate
