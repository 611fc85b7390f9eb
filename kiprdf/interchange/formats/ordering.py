"""What all writers share: the order of a dataset, names with prefixes, bytes and their count.

Same dataset, same bytes: subjects are sorted by kind, then IRI, predicates and objects likewise.
"""

from __future__ import annotations

import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from tempfile import SpooledTemporaryFile
from typing import IO, Any, TypeAlias, cast

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.budget import paced
from kiprdf.interchange.staging_store import Node
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, Iris
from kiprdf.rdf.literals import normal

FORMAT = 1
"""The version of the way in which datasets are written."""
Advance: TypeAlias = Callable[[int], object]
"""Is told how many triples more have been written."""
Told: TypeAlias = Callable[[Iterable[Triple]], Iterable[Triple]]
"""Puts triples into the words of a profile, subject by subject."""

_BUFFER = 1 << 16
_SPOOLED = 1 << 20
_STEP = 1000
ENGINE_METADATA = frozenset(NamedNode(vocab.METADATA + key) for key in vocab.ENGINE_KEYS)
# A part of PN_LOCAL that every parser reads; other names are written as whole IRIs.
_LETTERS = r"A-Za-z0-9_\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3"
_LOCAL_NAME = re.compile(rf"[{_LETTERS}][{_LETTERS}-]*")
_PREFIX_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
UNSHOWN = r"\x7f-\x9f\u2028\u2029\ufdd0-\ufdef\ufffe\uffff"
"""Characters that are written by their number: controls, line ends, noncharacters."""
_ESCAPED = re.compile(rf'["\\\x00-\x1f{UNSHOWN}]')
_ESCAPED_IN_IRI = re.compile(rf"[{UNSHOWN}]")


def header(iris: Iris) -> str:
    """The comment by which ``reading`` knows the format and the base, without its mark."""
    return f"kiprdf {FORMAT} base <{iris.base}>"


def without_engine_metadata(triples: Iterable[Triple]) -> Iterator[Triple]:
    """The triples except ``_version``, ``_created_at`` and ``_updated_at``."""
    return (triple for triple in triples if triple.predicate not in ENGINE_METADATA)


# The order ------------------------------------------------------------------------------------


def blocks(
    triples: Iterable[Triple], iris: Iris, told: Told | None = None
) -> Iterator[tuple[Node, list[Triple]]]:
    """Each subject with its triples: definitions, then concepts, then propositions and others.

    ``told`` puts the triples of one subject into the words of a profile, when their turn comes: a
    dataset in the words of rdf11 is twice as large.
    """
    by_subject: dict[str, list[Triple]] = defaultdict(list)
    for triple in paced(triples):
        by_subject[cast(Node, triple.subject).value].append(triple)
    for subject in paced(in_order(by_subject, iris)):
        own = by_subject.pop(subject)
        node = cast(Node, own[0].subject)
        yield node, sorted(own if told is None else told(own), key=_place)


def in_order(subjects: Iterable[str], iris: Iris) -> list[str]:
    """The IRIs of definitions, then concepts, then propositions and others."""
    propositions = iris.propositions
    ranked: tuple[list[str], ...] = ([], [], [])
    for subject in paced(subjects):
        # Most are propositions, which need no closer look.
        name = None if subject.startswith(propositions) else iris.name(subject)
        rank = (1 - name.type.startswith("$")) if isinstance(name, ConceptName) else 2
        ranked[rank].append(subject)
    return [subject for group in ranked for subject in sorted(group)]


def _place(triple: Triple) -> tuple[int, str, str]:
    return *predicate_place(triple.predicate.value), str(triple.object)


_SPACES = (vocab.RDF, vocab.RDFS, vocab.ATTRIBUTE, vocab.METADATA)
# The parts of a statement in the order in which people read them.
_PARTS = {
    part.value: f"{vocab.RDF}{number}"
    for number, part in enumerate((vocab.SUBJECT, vocab.PREDICATE, vocab.OBJECT))
}


@lru_cache(maxsize=65_536)
def predicate_place(predicate: str) -> tuple[int, str]:
    """Type and label, the parts of a statement, attributes, metadata, facts."""
    if predicate == vocab.TYPE.value:
        return -1, ""
    rank = next((i for i, space in enumerate(_SPACES) if predicate.startswith(space)), len(_SPACES))
    return rank, _PARTS.get(predicate, predicate)


# Names ----------------------------------------------------------------------------------------


class Names:
    """IRIs as people read them: a prefix and a local name, where every parser agrees."""

    def __init__(self, namespaces: Mapping[str, str], links: str = "") -> None:
        self._by_namespace: dict[str, str] = {}
        for name, namespace in namespaces.items():
            self._by_namespace.setdefault(namespace, name)
        # A local name holds none of these marks, so most namespaces end at the last of them.
        odd = (space for space in self._by_namespace if not space.endswith(("/", "#", ":")))
        self._odd = sorted(odd, key=lambda space: (-len(space), space))
        # A local name has no slash, so a link has none unless a namespace is a part of its path.
        is_usual = links and not any(space.startswith(links) for space in self._by_namespace)
        self._unnamed = links if is_usual else None
        self._unnamed_text = f"<{links}" if is_usual else ()
        self._known: dict[str, str | None] = {}
        self.used: dict[str, str] = {}
        """The namespaces in use so far, by prefix."""

    def node(self, text: str) -> str:
        """An IRI or a blank node that is written as in SPARQL, as people read it."""
        is_same = text.startswith(self._unnamed_text) and text.isascii()
        if is_same or text[0] != "<":
            return text
        return self.short(text[1:-1]) or in_full(text[1:-1])

    def short(self, iri: str) -> str | None:
        """``prefix:local``, or None when the IRI has to be written in full."""
        if self._unnamed is not None and iri.startswith(self._unnamed):
            return None
        found = self._known.get(iri, "")
        if found == "":
            found = self._known[iri] = self._short(iri)
        return found

    def _short(self, iri: str) -> str | None:
        end = max(iri.rfind("/"), iri.rfind("#"), iri.rfind(":")) + 1
        if not self._odd and iri[:end] not in self._by_namespace:
            return None
        for namespace in (*self._odd, iri[:end]):
            name = self._by_namespace.get(namespace)
            if name is None or not iri.startswith(namespace):
                continue
            local = iri[len(namespace) :]
            if _LOCAL_NAME.fullmatch(local):
                self.used[name] = namespace
                return f"{name}:{local}"
        return None


def namespaces(iris: Iris, mapped: Mapping[str, str]) -> dict[str, str]:
    """The fixed prefixes, then those of a mapping that are no other's."""
    fixed = vocab.prefixes(iris.base)
    own = {n: iri for n, iri in mapped.items() if n not in fixed and _PREFIX_NAME.fullmatch(n)}
    return {**fixed, **own}


def with_concept_types(known: dict[str, str], subjects: Iterable[str], iris: Iris) -> Names:
    """Names in which each concept type is a prefix of its own, unless that is taken."""
    links = iris.propositions
    names = {iris.name(subject) for subject in subjects if not subject.startswith(links)}
    types = sorted({name.type for name in names if isinstance(name, ConceptName)})
    typed = {t: f"{iris.base}{t}/" for t in types if t not in known and _PREFIX_NAME.fullmatch(t)}
    return Names({**known, **typed}, links)


# Terms ----------------------------------------------------------------------------------------


def quoted(text: str) -> str:
    """A string in the quotes and escapes of Turtle and N-Triples."""
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def in_full(iri: str) -> str:
    """An IRI between angle brackets."""
    return f"<{iri}>" if iri.isascii() else f"<{_ESCAPED_IN_IRI.sub(_escape, iri)}>"


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    return _ESCAPES.get(character) or f"\\u{ord(character):04X}"


def normalized(triples: Iterable[Triple]) -> Iterator[Triple]:
    """The triples with their literals in our spelling; the engine has its own for doubles."""
    for triple in paced(triples):
        value = triple.object
        if isinstance(value, Literal) and (known := normal(value)) is not value:
            yield Triple(triple.subject, triple.predicate, known)
        else:
            yield triple


# Bytes ----------------------------------------------------------------------------------------


class Output:
    """Text into a binary file, gathered into larger pieces; counts the triples in it."""

    def __init__(self, target: IO[bytes], advance: Advance | None) -> None:
        self._target: Any = target
        self._advance = advance
        self._pieces: list[str] = []
        self._size = 0
        self._told = 0
        self.triples = 0

    def write(self, text: str) -> None:
        """Take a text; larger pieces go on to the file."""
        self._pieces.append(text)
        self._size += len(text)
        if self._size >= _BUFFER:
            self._pass_on()

    @contextmanager
    def behind(self, beginning: Callable[[], str]) -> Iterator[None]:
        """Let what is written wait, in a file when it is large, for the beginning before it."""
        target = self._target
        with SpooledTemporaryFile(_SPOOLED) as waiting:
            self._target = waiting
            yield
            self._pass_on()
            self._target = target
            self.write(beginning())
            self._pass_on()
            waiting.seek(0)
            shutil.copyfileobj(waiting, target, _BUFFER)

    def count(self, triples: int) -> None:
        """Take note of triples that have been put into words."""
        self.triples += triples
        if self.triples - self._told >= _STEP:
            self._tell()

    def close(self) -> None:
        """Pass on what is left; the file stays open."""
        self._pass_on()
        if self.triples > self._told:
            self._tell()

    def _pass_on(self) -> None:
        self._target.write("".join(self._pieces).encode())
        self._pieces, self._size = [], 0

    def _tell(self) -> None:
        if self._advance is not None:
            self._advance(self.triples - self._told)
        self._told = self.triples
