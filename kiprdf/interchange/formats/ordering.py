"""Sorts a dataset for all writers: the same dataset gives the same bytes.

Subjects are sorted by kind, then by IRI; the triples of a subject by kind of predicate, predicate
and object.
"""

from __future__ import annotations

import hashlib
import heapq
import pickle
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain, groupby, islice
from operator import itemgetter
from tempfile import TemporaryFile
from typing import IO, Any, TypeAlias, TypeVar
from typing import Literal as OneOf

from pyoxigraph import Literal, Triple

from kiprdf.budget import paced
from kiprdf.interchange import n_triples
from kiprdf.interchange.n_triples import StagingStore
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, Iris
from kiprdf.rdf.literals import normal
from kiprdf.rdf.reification import STATEMENT_PREDICATES

V = TypeVar("V")
FORMAT = 1
"""The version of the way in which datasets are written."""
UNSHOWN = r"\x7f-\x9f\u2028\u2029\ufdd0-\ufdef\ufffe\uffff"
"""Characters that are written by their number: controls, line ends, noncharacters."""

SPILLED_CHARACTERS = 2**25
"""The characters of N-Triples that a dataset keeps in memory; of more it makes temporary files."""
_MEMOS = 100_000
"""The results that a memo keeps."""
_AT_ONCE = 64
"""The blocks that are written to a temporary file at once."""

_LABEL = re.compile(r"[A-Za-z0-9_]+")
_REIFIES = str(vocab.REIFIES)
_STATEMENT = str(vocab.STATEMENT)


def header(iris: Iris) -> str:
    """The first comment of a snapshot, with format and base, without its comment mark."""
    return f"kiprdf {FORMAT} base <{iris.base}>"


def normalized(triples: Iterable[Triple]) -> Iterator[Triple]:
    """Triples with their literals as KIP writes them; the engine writes doubles differently."""
    for triple in paced(triples):
        value = triple.object
        if isinstance(value, Literal) and (normal_value := normal(value)) is not value:
            yield Triple(triple.subject, triple.predicate, normal_value)
        else:
            yield triple


def node_name(text: str) -> str:
    """An IRI, or ``_:`` and a label, from the N-Triples of a node.

    Labels that some format does not allow, such as ``a:b``, are replaced.
    """
    if text.startswith("<"):
        return text[1:-1]
    label = text[2:]
    if _LABEL.fullmatch(label):
        return text
    return f"_:b{hashlib.sha256(label.encode()).hexdigest()[:32]}"


Entry: TypeAlias = tuple[str, str]
"""The sort key of a predicate, which ends with its IRI, and an object as N-Triples."""


class Memo(dict[str, V]):
    """The last results of a function of texts, most of them computed once."""

    def __init__(self, function: Callable[[str], V]) -> None:
        self._function = function

    def __missing__(self, text: str) -> V:
        if len(self) >= _MEMOS:
            self.clear()
        value = self[text] = self._function(text)
        return value


Reification: TypeAlias = OneOf["statements", "annotations", "triples"]
"""What becomes of a link and its fact: an ``rdf:Statement``, ``~ <link>``, a reifying triple."""


class Dataset:
    """The triples of a dataset by subject, ready to be written.

    ``convert`` returns what is written for an object that is not an IRI, both as N-Triples. With
    ``iris`` a large dataset is sorted in temporary files: then ``pairs`` are not known, and
    ``subjects`` are only those that are left in memory.
    """

    def __init__(
        self,
        triples: StagingStore | Iterable[Triple],
        reification: Reification,
        convert: Callable[[str], str],
        iris: Iris | None = None,
    ) -> None:
        self._reification = reification
        self._keys = Memo(_sort_key)
        self._objects = Memo(convert)
        self._files: list[IO[bytes]] = []
        self._spilled_names: list[str] = []
        self._spilled_keys: set[str] = set()
        entries: dict[str, list[Entry]] = defaultdict(list)
        links: dict[str, dict[Entry, list[str]]] = defaultdict(dict)
        size = 0

        def add(lines: list[str]) -> None:
            nonlocal size
            self._add(lines, entries, links)
            size += sum(map(len, lines))
            if iris is not None and size > SPILLED_CHARACTERS:
                self._spill({node_name(subject): own for subject, own in entries.items()}, iris)
                entries.clear()
                size = 0

        n_triples.read(triples, add)
        for subject, facts in links.items():
            for fact in facts.keys() - set(entries[subject]):
                for link in facts.pop(fact):
                    entries[link].append((_REIFIES_KEY, _triple_term(subject, fact)))
        self.subjects = {node_name(subject): own for subject, own in entries.items() if own}
        """The entries of each subject; a subject is an IRI, or ``_:`` and a label."""
        self.links = {node_name(subject): facts for subject, facts in links.items()}
        """For annotations: the links of facts by their subjects and entries, as N-Triples."""

    def _add(
        self,
        lines: list[str],
        entries: dict[str, list[Entry]],
        links: dict[str, dict[Entry, list[str]]],
    ) -> None:
        keys, objects = self._keys, self._objects
        for line in lines:
            subject, predicate, value = line.split(" ", 2)
            if predicate != _REIFIES or self._reification == "triples" or value[:3] != "<<(":
                # Only literals differ between profiles.
                value = value if value[0] == "<" else objects[value]
                entries[subject].append((keys[predicate], value))
            elif self._reification == "statements":
                parts = (objects[part] for part in (_STATEMENT, *n_triples.parts(value)))
                entries[subject] += zip(_STATEMENT_KEYS, parts, strict=True)
            else:
                fact_subject, fact_predicate, fact_object = n_triples.parts(value)
                fact = keys[fact_predicate], fact_object
                links[fact_subject].setdefault(fact, []).append(subject)

    def predicates(self) -> list[str]:
        """The IRIs of all predicates."""
        keys = {key for entries in self.subjects.values() for key, _ in entries}
        keys |= self._spilled_keys
        return [predicate_of(key) for key in keys]

    def named(self) -> list[str]:
        """The subjects that are no links; links may be among them."""
        return [*self._spilled_names, *self.subjects]

    def pairs(self) -> set[tuple[str, str]]:
        """The IRIs of predicates with their objects as N-Triples."""
        entries = set(chain.from_iterable(self.subjects.values()))
        return {(predicate_of(key), value) for key, value in entries}

    def blocks(self, iris: Iris) -> Iterator[tuple[str, list[Entry]]]:
        """Each subject with its sorted entries; they are removed from the dataset."""
        if not self._files:
            for _, subject in paced(_ordered(self.subjects, iris)):
                yield subject, sorted(self.subjects.pop(subject))
            return
        rest = _blocks(self.subjects, iris)
        blocks = heapq.merge(*map(_read_blocks, self._files), rest)
        for (_, subject), parts in groupby(paced(blocks), key=itemgetter(0, 1)):
            yield subject, sorted(chain.from_iterable(entries for _, _, entries in parts))

    def _spill(self, subjects: dict[str, list[Entry]], iris: Iris) -> None:
        """Move entries to a temporary file, in the order in which they are written."""
        file = TemporaryFile()  # noqa: SIM115  (it is closed with the dataset)
        self._files.append(file)
        self._spilled_names += [n for n in subjects if not n.startswith(iris.propositions)]
        for entries in subjects.values():
            self._spilled_keys.update(key for key, _ in entries)
        blocks = _blocks(subjects, iris)
        while some := list(islice(blocks, _AT_ONCE)):
            pickle.dump(some, file, pickle.HIGHEST_PROTOCOL)


_Block: TypeAlias = tuple[int, str, list[Entry]]
"""The group of a subject in the order, the subject, and its entries."""


def _blocks(subjects: dict[str, list[Entry]], iris: Iris) -> Iterator[_Block]:
    for group, subject in _ordered(subjects, iris):
        yield group, subject, sorted(subjects[subject])


def _read_blocks(file: IO[bytes]) -> Iterator[_Block]:
    file.seek(0)
    with suppress(EOFError):
        while True:
            blocks: Any = pickle.load(file)
            yield from blocks


def _ordered(subjects: Iterable[str], iris: Iris) -> list[tuple[int, str]]:
    """The subjects, each with its group: definitions, other concepts, and all else."""
    propositions = iris.propositions
    groups: tuple[list[str], ...] = ([], [], [])
    for subject in subjects:
        # Most subjects are propositions, whose names need no decoding.
        name = None if subject.startswith(propositions) else iris.name(subject)
        if isinstance(name, ConceptName):
            groups[0 if name.type.startswith("$") else 1].append(subject)
        else:
            groups[2].append(subject)
    return [(number, subject) for number, group in enumerate(groups) for subject in sorted(group)]


_SPACES = (vocab.RDF, vocab.RDFS, vocab.ATTRIBUTE, vocab.METADATA)
# The parts of a statement in the order in which people read them.
_PARTS = {
    part.value: f"{vocab.RDF}{number}"
    for number, part in enumerate((vocab.SUBJECT, vocab.PREDICATE, vocab.OBJECT))
}


def _sort_key(text: str) -> str:
    """Type and label, the parts of a statement, attributes, metadata, facts."""
    predicate = text[1:-1]
    # IRIs hold no spaces, nor characters that are sorted before a space.
    if predicate == vocab.TYPE.value:
        return f"0 {predicate}"
    rank = next((i for i, space in enumerate(_SPACES) if predicate.startswith(space)), len(_SPACES))
    return f"{rank + 1} {_PARTS.get(predicate, predicate)} {predicate}"


_STATEMENT_KEYS = tuple(_sort_key(str(predicate)) for predicate in STATEMENT_PREDICATES)


_REIFIES_KEY = _sort_key(_REIFIES)


def _triple_term(subject: str, fact: Entry) -> str:
    key, value = fact
    return f"<<( {subject} <{predicate_of(key)}> {value} )>>"


def predicate_of(key: str) -> str:
    """The IRI of the predicate with a sort key."""
    return key.rpartition(" ")[2]
