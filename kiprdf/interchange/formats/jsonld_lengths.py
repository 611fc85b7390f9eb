"""How long the terms of a JSON-LD document become, estimated before its parser holds them all.

The parsers of the other formats give a quad at a time. That of JSON-LD makes all quads of an
object before it gives the first; so the estimate is from above, of what each value may get along:
the longest IRI of any context, the ids and keys around it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Any

from kiprdf import budget
from kiprdf.interchange.formats import lengths

_TERMS = 4
"""Subject, predicate, object and graph."""
_SETTINGS = ("@vocab", "@base")


def check(document: Any, text: str) -> None:
    """Raise KIP_4002 for a document that would fill the memory, or take minutes to be read."""
    size, base = written_out(document)
    if base > lengths.IRI:
        raise lengths.too_long("JSON-LD")
    if size > lengths.most(text):
        raise lengths.excess(text, "JSON-LD")


def written_out(document: Any) -> tuple[int, int]:
    """At least as many characters as the terms of a document have, its contexts included; and
    as its relative bases and vocabularies have upon each other."""
    words = _Words()
    words.read(document)
    reached = _Reached(words.names_of("@id"))
    reached.walk(document, 0, 0)
    longest = words.longest(reached.values)
    size = _TERMS * (reached.total + reached.values * longest) + words.count * longest
    return size, reached.base


class _Words:
    """What the contexts of a document define: for each word, the texts that it stands for."""

    def __init__(self) -> None:
        self._texts: dict[str, set[str]] = {}
        self._characters = {False: 0, True: 0}
        self._relative = 0
        self.count = 0

    def read(self, value: Any) -> None:
        """Take note of every context in a part of the document."""
        if isinstance(value, list):
            for item in budget.paced(value):
                self.read(item)
        elif isinstance(value, dict):
            for key, item in budget.paced(value.items()):
                if key == "@context":
                    self._context(item)
                else:
                    self.read(item)

    def _context(self, context: Any, below_term: bool = False) -> None:
        for part in parts(context):
            self._relative += relative(part) if below_term else 0
            for word, definition in budget.paced(part.items()):
                texts = _texts(word, definition)
                self._texts.setdefault(word, set()).update(texts)
                self._characters[below_term] += sum(map(len, texts))
                self.count += 1
                if isinstance(definition, dict) and "@context" in definition:
                    self._context(definition["@context"], below_term=True)

    def names_of(self, keyword: str) -> set[str]:
        """A keyword, and the words that stand for it, through others too."""
        by_text: dict[str, list[str]] = defaultdict(list)
        for word, texts in self._texts.items():
            for text in texts:
                by_text[text].append(word)
        found, pending = {keyword}, [keyword]
        while pending:
            new = set(by_text[pending.pop()]) - found
            found |= new
            pending += new
        return found

    def longest(self, values: int) -> int:
        """The length of the longest IRI that a word stands for, in a document of many values."""
        lengths: dict[str, int] = {}
        uses = {word: set(self._used(word)) for word in budget.paced(self._texts)}
        try:
            for word in budget.paced(TopologicalSorter(uses).static_order()):
                below = max((lengths[used] for used in uses[word]), default=0)
                lengths[word] = below + max(map(len, self._texts[word]), default=0)
        except CycleError:
            # Contexts in a row may take up each other's words again and again, and those below
            # a term with each value.
            return self._characters[False] + self._characters[True] * values
        return max(lengths.values(), default=0) + self._relative * values

    def _used(self, word: str) -> Iterator[str]:
        """The words that a word's texts are written with."""
        for text in self._texts[word]:
            prefix, colon, rest = text.partition(":")
            if prefix in self._texts and prefix != word and not rest.startswith("//"):
                yield prefix
            elif not colon and word not in _SETTINGS and "@vocab" in self._texts:
                yield "@vocab"


def _texts(word: str, definition: Any) -> list[str]:
    """The texts of a definition; a word that has no IRI in it stands for itself."""
    if not isinstance(definition, dict):
        return [definition] if isinstance(definition, str) else []
    texts = [text for text in definition.values() if isinstance(text, str)]
    return texts if "@id" in definition or "@reverse" in definition else [word, *texts]


class _Reached:
    """Counts values, and the characters of the ids and keys that each of them stands below."""

    def __init__(self, id_names: set[str]) -> None:
        self._id_names = id_names
        self.values = 0
        self.total = 0
        self.base = 0

    def walk(self, value: Any, around: int, base: int) -> None:
        if isinstance(value, list):
            for item in budget.paced(value):
                self.walk(item, around, base)
            return
        self.values += 1
        if not self.values % 256:
            budget.check()
        self.total += around + base
        if not isinstance(value, dict):
            return
        ids = (value[name] for name in value.keys() & self._id_names)
        around = max([around, *(len(id) for id in ids if isinstance(id, str))])
        if "@context" in value:
            base += sum(map(relative, parts(value["@context"])))
            self.base = max(self.base, base)
        for key, item in budget.paced(value.items()):
            if key != "@context":
                self.walk(item, max(around, len(key)), base)


def parts(context: Any) -> Iterator[dict[str, Any]]:
    """The maps of a context."""
    if isinstance(context, dict):
        yield context
    elif isinstance(context, list):
        for part in context:
            yield from parts(part)


def relative(context: dict[str, Any]) -> int:
    """What a context puts behind the base and the vocabulary so far."""
    settings = (context.get(name) for name in _SETTINGS)
    return sum(len(text) for text in settings if isinstance(text, str) and ":" not in text)
