"""Checks JSON-LD before it is parsed: duplicate keys, long numbers, and contexts.

A context named by its URL is inserted if a loader is given or the context is bundled, and refused
otherwise. The cost of a document is estimated from above, before it is parsed: the parser copies
the terms in use for each value with a context, and makes all quads of an object before it returns
the first.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Any
from urllib.parse import urljoin

from kiprdf import budget
from kiprdf.errors import KipError, shown
from kiprdf.interchange.formats import guard, json_text
from kiprdf.interchange.formats.given_contexts import (
    GivenContexts,
    bundled_context,
    fetched,
    with_initial,
)
from kiprdf.interchange.formats.plain_jsonld import NOT_IN_RDF, has_unknown, listed, plain
from kiprdf.interchange.mapping.reader import Loader
from kiprdf.language.sizes import Sizes
from kiprdf.source import NOWHERE, Span

CONTEXTS = 64
"""How many contexts a loader fetches at most for one document."""
WORK = 100_000_000
"""How many terms the parser may copy: all of them for each value that has a context."""
WORK_PER_SECOND = 2_000_000
"""How many it copies at most; the parser cannot be stopped when the time is over."""
SCOPED_WORK = 20_000_000
"""The same for the contexts of terms, each of which is combined with all terms."""
DIGITS = 1000
"""How many characters a number has at most; no machine computes with more."""
_QUAD_TERMS = 4


def checked(
    text: str,
    loader: Loader | None,
    base_iri: str | None = None,
    correct_tag: Callable[[str], str | None] | None = None,
    lost: Counter[str] | None = None,
) -> str:
    """Return a document that its parser reads safely, with its remote contexts inserted.

    ``correct_tag`` returns a language tag that is well-formed, None if there is none. In ``lost``
    keys without a meaning are counted.

    Raises KIP_1001 with line and column for a text that is not JSON or has a key twice, and for a
    context that is named by its URL, unless a loader is given or it is bundled; KIP_4002 for a
    document that would take the parser minutes or gigabytes. Errors of the loader that are not of
    the network, of a text or of a lookup are raised as they are.
    """
    contexts = _Contexts(text, loader, base_iri)
    try:
        document = contexts.inserted(_json(text))
        initial = contexts.initial()
        document = with_initial(document, initial) if initial else document
        contexts.check_work()
        _check_length(document, contexts, text)
        has_tags = correct_tag is not None and contexts.has_tags()
        is_misread = has_tags or contexts.may_be_misread()
        read = plain(document, correct_tag or str, lost) if is_misread else document
        is_changed = contexts.fetched or initial or read != document
        return json.dumps(read) if is_changed else text
    except RecursionError:
        message = "A fetched context nests too deeply."
        raise KipError("KIP_4002", message, "Put the context into the file.") from None
    except (TypeError, ValueError) as fault:  # of json.dumps
        message = f"A fetched context is not valid JSON: {fault}."
        raise KipError(
            "KIP_1001", message, "Let the loader return what json.loads returns."
        ) from None


# JSON ----------------------------------------------------------------------------------------


def _json(text: str) -> Any:
    """The value of a JSON text that all readers understand alike."""

    def number(digits: str) -> float:
        if len(digits) > DIGITS:
            at = text.find(digits)
            message = f"A number in the JSON-LD has more than {DIGITS} characters."
            span = Span(at, at + len(digits))
            raise KipError("KIP_4002", message, "Write it as a string.", span, text)
        return int(digits) if digits.lstrip("-").isdigit() else float(digits)

    try:
        return json.loads(text, object_pairs_hook=_unique, parse_int=number, parse_float=number)
    except json.JSONDecodeError as fault:
        message = f"The text is not valid JSON-LD: {json_text.reason(fault)}."
        span = Span(fault.pos, fault.pos + 1)
        hint = "Check the file at this place."
        raise KipError("KIP_1001", message, hint, span, text) from None
    except _DuplicateKey as duplicate:
        message = f"The JSON-LD has the key {shown(str(duplicate))!r} twice in one object."
        span = _second(text)
        raise KipError("KIP_1001", message, "Keep one of them.", span, text) from None


class _DuplicateKey(Exception):
    """A key occurs twice in an object: readers take the first, the last, or both."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    budget.check()
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _DuplicateKey(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return members


def _second(text: str) -> Span:
    """The place of the second use of a key, which Python's reader does not report."""
    try:
        json_text.read(text)
    except KipError as fault:
        return fault.span
    return NOWHERE


# Contexts ------------------------------------------------------------------------------------


class _Contexts:
    """Inserts remote contexts, and counts what all contexts of a document define."""

    def __init__(self, text: str, loader: Loader | None, base_iri: str | None) -> None:
        self._text = text
        self._loader = loader
        self._base = base_iri
        self._sizes = Sizes("What the loader fetches")
        self.fetched = 0
        self.values = 0
        self.terms = 0
        self.iris: dict[str, set[str]] = defaultdict(set)
        """For each term, the strings that its definitions consist of."""
        self._json: set[str] = set()
        """The terms whose values are JSON."""
        self._has_maps = self._has_vocabulary = self._has_tags = self._has_indexes = False
        self._keys: set[str] = set()
        """The keys of all nodes."""
        self._with_context = 0
        self._scoped = 0
        # Each by whether the context is one of a term, which may be applied at each value.
        self._characters = {False: 0, True: 0}
        self._relative = {False: 0, True: 0}

    def inserted(self, value: Any) -> Any:
        """A part of the document with the remote contexts in it."""
        self.values += 1
        if not self.values % 256:
            budget.check()
        if isinstance(value, list):
            return [self.inserted(item) for item in value]
        if not isinstance(value, dict):
            return value
        self._with_context += "@context" in value
        self._keys.update(value)
        first = {}
        if "@context" in value:
            first = {"@context": self._context(value["@context"], ())}
        others = {k: self._member(k, one, value) for k, one in value.items() if k != "@context"}
        return {**first, **others}

    def _member(self, key: str, value: Any, node: dict[str, Any]) -> Any:
        """The value of a key; JSON in a document has no contexts."""
        is_json = key in self._json or (key == "@value" and node.get("@type") == "@json")
        return value if is_json else self.inserted(value)

    def initial(self) -> list[Any]:
        """The contexts that a caller gives and the document does not name."""
        if not isinstance(self._loader, GivenContexts):
            return []
        contexts = self._loader.initial()
        # They apply to each object at the top of the document.
        self._with_context += self.values if contexts else 0
        for context in contexts:
            self._sizes.add(context)
        return [self._context(context, ()) for context in contexts]

    def may_be_misread(self) -> bool:
        """Whether there may be what ``plain`` changes."""
        names = (key for key in self._keys if key[:1] != "@" and ":" not in key)
        return (
            self._has_maps
            or self._scoped > 0
            or self._has_indexes
            or has_unknown(self._keys)
            or any(not self._keys.isdisjoint(self.aliases(one)) for one in NOT_IN_RDF)
            or any(not self.iris.get(n, self._has_vocabulary) for n in names)
        )

    def has_tags(self) -> bool:
        """Whether there may be language tags."""
        return self._has_tags or "@language" in self._keys

    def check_work(self) -> None:
        """Raise KIP_4002 for large contexts that are applied again and again."""
        # A scoped context may be applied at any key or type.
        applied = self.values if self._scoped else self._with_context
        spending = budget.current()
        most = WORK if spending is None else min(WORK, spending.seconds_left() * WORK_PER_SECOND)
        if applied * self.terms > most or self._scoped * self.terms > SCOPED_WORK:
            message = (
                "The contexts of the JSON-LD are too large to be applied as often as they are."
            )
            raise KipError("KIP_4002", message, "Split the document, or shorten its contexts.")

    def relative(self) -> int:
        """The length of relative bases and vocabularies, which are appended to each other."""
        return self._applied(self._relative)

    def longest(self) -> int:
        """The length of the longest IRI that a term is expanded to, from above."""
        expanded: dict[str, int] = {}
        uses = {term: set(self._used(term)) for term in budget.paced(list(self.iris))}
        try:
            for term in budget.paced(TopologicalSorter(uses).static_order()):
                below = max((expanded[used] for used in uses[term]), default=0)
                expanded[term] = below + max(map(len, self.iris[term]), default=0)
        except CycleError:
            # Each context may define a term by the terms of the one before.
            return self._applied(self._characters)
        return max(expanded.values(), default=0)

    def aliases(self, keyword: str) -> set[str]:
        """A keyword, and the terms that are defined as it or as an alias of it."""
        terms: dict[str, list[str]] = defaultdict(list)
        for term, iris in self.iris.items():
            for iri in iris:
                terms[iri].append(term)
        names, pending = {keyword}, [keyword]
        while pending:
            new = set(terms[pending.pop()]) - names
            names |= new
            pending += new
        return names

    def _applied(self, counts: dict[bool, int]) -> int:
        return counts[False] + counts[True] * self.values

    def _used(self, term: str) -> Iterator[str]:
        """The terms that a term is defined with."""
        for iri in self.iris[term]:
            prefix, colon, rest = iri.partition(":")
            if prefix != term and prefix in self.iris and not rest.startswith("//"):
                yield prefix
            elif not colon and term not in ("@vocab", "@base") and "@vocab" in self.iris:
                yield "@vocab"

    def _context(self, context: Any, chain: tuple[str, ...], is_scoped: bool = False) -> Any:
        if isinstance(context, str):
            return self._fetched(context, chain, is_scoped)
        if isinstance(context, list):
            parts = (self._context(part, chain, is_scoped) for part in context)
            return [p for part in parts for p in (part if isinstance(part, list) else [part])]
        if not isinstance(context, dict):
            return context
        self._count(context, is_scoped)
        local = {key: self._term(item, chain) for key, item in context.items() if key != "@import"}
        if "@import" not in context:
            return local
        imported = self._fetched(context["@import"], chain, is_scoped)
        if not isinstance(imported, dict):
            raise self._fault(str(context["@import"]), "is imported, but is not a single context")
        return {**imported, **local}

    def _count(self, context: dict[str, Any], is_scoped: bool) -> None:
        self.terms += len(context)
        described = [(term, one) for term, one in context.items() if isinstance(one, dict)]
        self._json |= {term for term, one in described if one.get("@type") == "@json"}
        containers = [one for _, each in described for one in listed(each.get("@container"))]
        self._has_maps = self._has_maps or not {"@type", "@id"}.isdisjoint(containers)
        of_terms = (key for _, one in described for key in one)
        named = [*context, *context.values(), *containers, *of_terms]
        self._has_tags = self._has_tags or "@language" in named
        self._has_indexes = self._has_indexes or any(one in named for one in NOT_IN_RDF)
        self._has_vocabulary = self._has_vocabulary or context.get("@vocab") is not None
        for term, definition in budget.paced(context.items()):
            strings = _strings(term, definition)
            self.iris[term].update(strings)
            self._characters[is_scoped] += sum(map(len, strings))
        settings = (context.get("@vocab"), context.get("@base"))
        relative = (iri for iri in settings if isinstance(iri, str) and not guard.is_absolute(iri))
        self._relative[is_scoped] += sum(map(len, relative))

    def _term(self, definition: Any, chain: tuple[str, ...]) -> Any:
        if not isinstance(definition, dict) or "@context" not in definition:
            return definition
        self._scoped += 1
        return {**definition, "@context": self._context(definition["@context"], chain, True)}

    def _fetched(self, url: Any, chain: tuple[str, ...], is_scoped: bool) -> Any:
        if not isinstance(url, str):
            raise self._fault(str(url), "is not a URL")
        base = chain[-1] if chain else self._base
        absolute = urljoin(base, url) if base else url
        self.fetched += 1
        if self.fetched > CONTEXTS:
            raise self._fault(url, f"is one of more than {CONTEXTS} contexts")
        load = self._loader or self._bundled
        context = fetched(load, absolute, chain, lambda why: self._fault(url, why))
        self._sizes.add(context)
        return self._context(context, (*chain, absolute), is_scoped)

    def _bundled(self, url: str) -> Any:
        context = bundled_context(url)
        if context is None:
            raise self._fault(url, "is not fetched")
        return context

    def _fault(self, url: str, why: str) -> KipError:
        at = self._text.find(json.dumps(url, ensure_ascii=False))
        span = NOWHERE if at < 0 else Span(at, at + len(url) + 2)
        message = f"The context {shown(url)} {why}."
        hint = "Give the context (context, --context FILE), put it into the file, or pass a loader."
        return KipError("KIP_1001", message, hint, span, self._text)


def _strings(term: str, definition: Any) -> list[str]:
    """The strings of a definition; a term without an IRI includes its own name."""
    if not isinstance(definition, dict):
        return [definition] if isinstance(definition, str) else []
    strings = [item for item in definition.values() if isinstance(item, str)]
    return strings if "@id" in definition or "@reverse" in definition else [term, *strings]


# Lengths -------------------------------------------------------------------------------------


def _check_length(document: Any, contexts: _Contexts, text: str) -> None:
    """Raise KIP_4002 for a document whose quads would exhaust memory."""
    if contexts.relative() > guard.IRI:
        raise guard.too_long("JSON-LD")
    if _estimate(document, contexts) > guard.most(text):
        raise guard.excess(text, "JSON-LD")


def _estimate(document: Any, contexts: _Contexts) -> int:
    """An upper bound of the characters in the terms of a document and its contexts."""
    longest = contexts.longest() + contexts.relative()
    around = _around(document, contexts.aliases("@id"), 0)
    return _QUAD_TERMS * (around + contexts.values * longest) + contexts.terms * longest


def _around(value: Any, id_names: set[str], longest: int) -> int:
    """The sum over all values of the longest id or key that encloses each."""
    if isinstance(value, list):
        return sum(_around(item, id_names, longest) for item in budget.paced(value))
    if not isinstance(value, dict):
        return longest
    ids = (value[name] for name in value.keys() & id_names)
    inner = max([longest, *(len(id) for id in ids if isinstance(id, str))])
    return longest + sum(
        _around(item, id_names, max(inner, len(key)))
        for key, item in budget.paced(value.items())
        if key != "@context"
    )
