"""Reads JSON-LD 1.1 contexts (JSON-LD 1.1 API, sections 4.1 and 4.2), and writes them again.

They come from packs, files, or JSON values. What a mapping cannot use is refused, never ignored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Container, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from pyoxigraph import NamedNode

from kiprdf import budget, resources
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError, encodable, nearest, shown
from kiprdf.interchange.formats import json_text
from kiprdf.interchange.formats.given_contexts import fetched
from kiprdf.interchange.mapping import datatypes
from kiprdf.language.sizes import Sizes
from kiprdf.rdf import vocab
from kiprdf.source import NOWHERE, Span

ContextJson: TypeAlias = Mapping[str, Any]
"""A JSON object with the member ``@context``."""
Loader: TypeAlias = Callable[[str], Any]
"""Fetches the JSON document of a URL; only a caller's own loader reaches the network."""

MAPS = ("attributes", "metadata")
"""The two maps inside of a KIP element, each with its own context."""

PREFIX_ENDS = tuple(":/?#[]@")
"""How an IRI ends that is a prefix without being called one (JSON-LD 1.1 API, 4.2.2)."""


@dataclass(frozen=True)
class Definition:
    """The definition of a term in a context. Without an IRI the term is removed."""

    iri: str | None
    prefix: bool = False
    protected: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)
    """What the term says of its values: ``@type`` (an IRI or a keyword), ``@language``,
    ``@direction``, ``@container`` and ``@nest``; what it does not say is absent."""
    scope: Context | None = None
    """The scoped context."""
    unread: Any = None
    """The scoped context and its place while the reader has not reached it."""

    @property
    def is_keyword(self) -> bool:
        return self.iri is not None and self.iri.startswith("@")


@dataclass(frozen=True)
class Context:
    """One context, or several on top of each other."""

    terms: dict[str, Definition] = field(default_factory=dict)
    """The terms of upper contexts come first."""
    settings: dict[str, str | None] = field(default_factory=dict)
    """``@vocab``, ``@language`` and ``@direction``, if it has them."""
    resets: bool = False
    """Whether it removes what lies below it."""

    def under(self, upper: Context | None) -> Context:
        """This context with another one on top, which wins."""
        if upper is None:
            return self
        if upper.resets:
            return upper
        below = {name: term for name, term in self.terms.items() if name not in upper.terms}
        return Context({**upper.terms, **below}, {**self.settings, **upper.settings}, self.resets)


def context_json(context: Context) -> dict[str, Any]:
    """The context of a mapping; KIP's own JSON, with its two maps, is JSON-LD under it."""
    prefixes = {
        term: definition.iri
        for term, definition in context.terms.items()
        if definition.prefix and definition.iri
    }
    own = _object(context, _Prefixes(prefixes))
    written: dict[str, Any] = {"@version": 1.1, "id": "@id", "type": "@type", **own}
    for nest in MAPS:
        written[nest] = _map(written.get(nest, "@nest"), written)
    return written


def _map(nest: Any, root: dict[str, Any]) -> Any:
    """The context of a map, in which ``id`` and ``type`` are keys like others."""
    freed = {key: None for key in ("id", "type") if str(root[key]).startswith("@")}
    members: dict[str, Any] = nest if isinstance(nest, dict) else {"@id": "@nest"}
    scope = members.get("@context", {})
    if isinstance(scope, list):  # it begins with null, which frees them
        return members
    return {**members, "@context": {**freed, **scope}} if freed or scope else nest


class _Prefixes:
    """The prefixes that a context may use."""

    def __init__(self, namespaces: dict[str, str]) -> None:
        self._namespaces = namespaces
        self._names: dict[str, str] = {}
        for name, namespace in namespaces.items():
            self._names.setdefault(namespace, name)
        self._lengths = sorted({len(namespace) for namespace in self._names}, reverse=True)

    def without(self, names: Container[str]) -> _Prefixes:
        return _Prefixes({n: iri for n, iri in self._namespaces.items() if n not in names})

    def compact(self, iri: str) -> str:
        """An IRI with the longest prefix, unless ``//`` would follow the colon."""
        for length in self._lengths:
            name, rest = self._names.get(iri[:length]), iri[length:]
            if name is not None and rest and not rest.startswith("//"):
                return f"{name}:{rest}"
        return iri


def _object(context: Context, prefixes: _Prefixes) -> dict[str, Any]:
    written: dict[str, Any] = dict(context.settings)
    # Prefixes first, as people write them.
    for term in sorted(context.terms, key=lambda name: not context.terms[name].prefix):
        written[term] = _definition(context.terms[term], prefixes)
    return written


def _definition(definition: Definition, prefixes: _Prefixes) -> Any:
    if definition.iri is None:
        return None
    if definition.prefix:
        simple = definition.iri.endswith(PREFIX_ENDS)
        return definition.iri if simple else {"@id": definition.iri, "@prefix": True}
    written: dict[str, Any] = {"@id": prefixes.compact(definition.iri), **definition.values}
    if "@type" in written:
        written["@type"] = prefixes.compact(written["@type"])
    scope = definition.scope
    if scope is not None and scope.resets:
        written["@context"] = [None, _object(scope, _Prefixes({}))]
    elif scope is not None:  # prefixes that it redefines are not used in it
        written["@context"] = _object(scope, prefixes.without(scope.terms))
    # A bare IRI that ends like a namespace would become a prefix.
    simple = len(written) == 1 and not definition.iri.endswith(PREFIX_ENDS)
    return written["@id"] if simple else written


# Reading --------------------------------------------------------------------------------------


# The limits of a mapping (KIP_4002 beyond them).
SIZE = 1_000_000
"""How many bytes a file has. The context of all of schema.org is a quarter of that."""
VALUES = 100_000
"""How many members and items the contexts have that are given as Python values."""
CHARACTERS = 4_000_000
"""How many characters the strings in them have."""
NESTING = 64
"""How deep contexts nest, those that a loader fetches too."""
STEPS = 64
"""How many terms are defined by each other in a row."""
REMOTE = 64
"""How many contexts a loader fetches."""
IRI = 2000
"""How many characters an IRI has; a prefix that is long makes every term so."""
EFFORT = 500_000
"""How many terms lie below the contexts of a mapping, each context counted with all below it."""

# Where contexts come from ----------------------------------------------------------------------


def packs() -> list[str]:
    """The names of the mappings that travel with the package.

    >>> packs()
    ['dcterms', 'foaf', 'prov', 'schema-org', 'skos', 'wikidata']
    """
    return sorted(path.stem for path in resources.directory("mappings").glob("*.jsonld"))


def read_source(source: str | os.PathLike[str] | ContextJson) -> tuple[Any, Place]:
    """The context that a source has, and its place; errors as of ``Mapping.load``."""
    if isinstance(source, str) and source.lower().startswith(("http:", "https:")):
        return source, Place("The mapping")
    if isinstance(source, str | os.PathLike):
        path = _path(source)
        text = _text(path)
        try:
            value, positions = json_text.read(text)
        except KipError as error:
            hint = "Write it flat." if error.code == "KIP_4002" else error.hint
            message = encodable(f"{path.name}: {error.message}")
            raise KipError(error.code, message, hint, error.span, error.source) from None
        place = Place(path.name, text, positions)
        return _context_of(value, place), place.at("@context")
    place = Place("The mapping")
    context = _context_of(source, place)
    check_size(place.document, context)
    return context, place.at("@context")


def check_size(name: str, context: Any) -> None:
    """Raise KIP_4002 for a context of Python values that is too large to be read."""
    Sizes(encodable(shown(name)), VALUES, CHARACTERS).add(context)


def _context_of(value: Any, place: Place) -> Any:
    if not hasattr(value, "keys") or "@context" not in value:
        hint = 'A mapping is {"@context": {…}}; see docs/how-to/mappings.md.'
        raise place.fault("A mapping is a JSON object with '@context'.", hint)
    for key in value:
        if key != "@context":
            message = "A mapping has no members besides '@context'."
            raise place.at(key).fault(message, "Remove the rest.")
    return value["@context"]


def _path(source: str | os.PathLike[str]) -> Path:
    """Where a mapping is; a bare word is the name of a pack."""
    name = os.fspath(source)
    if isinstance(source, str) and name in packs():
        return resources.directory("mappings") / f"{name}.jsonld"
    path = Path(name)
    if not name or path.is_dir():
        raise KipError("KIP_1001", f"'{shown(name)}' is not a file.", "Give a path to a mapping.")
    if isinstance(source, str) and path.suffix == "" and path.name == name and not path.exists():
        likely = nearest(name, packs()) or packs()
        hint = f"Packs are called {', '.join(likely)}; everything else is a path."
        raise KipError("KIP_1001", f"There is no mapping '{shown(name)}'.", hint)
    return path


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(SIZE + 1)
    except ValueError as fault:
        raise KipError("KIP_1001", f"This is not a path: {fault}.", "Give a path.") from None
    if len(content) > SIZE:
        message = f"{path.name} is larger than {SIZE} bytes."
        raise KipError("KIP_4002", message, "Split it into several mappings.")
    try:
        return content.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as fault:
        readable = content.decode(errors="replace")
        start = len(content[: fault.start].decode())
        message, span = f"{path.name} is not UTF-8 text.", Span(start, start + 1)
        raise KipError("KIP_1001", message, "Save it as UTF-8.", span, readable) from None


_NAMED = 6
"""How many names of the path to a fault its message shows."""


class Place(NamedTuple):
    """The place of a part of a context, for error messages."""

    document: str
    text: str | None = None
    positions: json_text.Positions | None = None
    path: json_text.Path = ()
    chain: tuple[str, ...] = ()
    """The URLs of the contexts that led here."""
    depth: int = 0
    """How deep the document itself is in the contexts that name it."""
    overrides: bool = False
    """Whether the context may replace protected terms."""

    def at(self, *keys: str | int) -> Place:
        return self._replace(path=(*self.path, *keys))

    def behind(self, url: str) -> Place:
        """The place of the remote context that is named here."""
        chain, depth = (*self.chain, url), self.depth + len(self.path)
        return Place(url, None, None, ("@context",), chain, depth, self.overrides)

    def fault(
        self, what: str, hint: str = "Correct the context.", code: str = "KIP_1001"
    ) -> KipError:
        """The error of what is here; ``what`` is a sentence."""
        names = [shown(part) for part in self.path if isinstance(part, str) and part != "@context"]
        if len(names) > _NAMED:
            names = ["…", *names[-_NAMED:]]
        where = f", {'.'.join(names)}" if names else ""
        around = (self.path[:length] for length in range(len(self.path), 0, -1))
        positions = self.positions or {}
        spans = (positions[path] for path in around if path in positions)
        span = next(spans, NOWHERE if self.text is None else Span(0, 1))
        return KipError(code, encodable(f"{self.document}{where}: {what}"), hint, span, self.text)

    def excess(self, what: str) -> KipError:
        return self.fault(what, "Shorten the mapping, or split it into several.", "KIP_4002")


# Contexts and terms ----------------------------------------------------------------------------


class ContextReader:
    """Reads the contexts of one document; ``warnings`` lists what has no effect."""

    def __init__(self, loader: Loader | None = None) -> None:
        self.warnings: list[str] = []
        self._loader = loader
        self._loaded = 0
        self._effort = 0

    def read(self, below: Context, value: Any, place: Place) -> Context:
        """What a context (an object, a URL, null or a list of these) says above another one.

        Its scoped contexts apply on top of the whole document.
        """
        context = self._read(below, value, place)
        whole = below.under(context)
        terms = dict(context.terms)
        for term, definition in context.terms.items():
            if definition.unread is not None:
                inner, there = definition.unread
                there = there._replace(overrides=term in MAPS)
                scope = self.read(whole, inner, there)
                terms[term] = replace(definition, scope=scope, unread=None)
        return replace(context, terms=terms)

    def _read(self, below: Context, value: Any, place: Place) -> Context:
        budget.check()
        self._check_limits(below, place)
        if isinstance(value, list):
            context = Context()
            for number, one in enumerate(value):
                upper = self._read(below.under(context), one, place.at(number))
                context = context.under(upper)
            return context
        if value is None:
            return self._reset(below, place)
        if isinstance(value, str):
            return self._read(below, *self._load(value, place))
        if not isinstance(value, dict):
            raise place.fault("A context is an object, a URL, null or a list of these.")
        return self._object(below, value, place)

    def _check_limits(self, below: Context, place: Place) -> None:
        if place.depth + len(place.path) > NESTING:
            raise place.excess(f"The context nests deeper than {NESTING} levels.")
        # Each context copies all terms below it, so that both together are limited.
        self._effort += len(below.terms) + 1
        if self._effort > EFFORT:
            raise place.excess(f"The contexts stack on more than {EFFORT} terms in all.")

    def _reset(self, below: Context, place: Place) -> Context:
        kept = [term for term, definition in below.terms.items() if definition.protected]
        if kept and not place.overrides:
            raise place.fault(f"null would remove '{shown(kept[0])}', which is protected.")
        return Context(resets=True)

    def _load(self, url: str, place: Place) -> tuple[Any, Place]:
        """The context of a remote document, by the caller's loader, and its place."""
        if iri_fault(url) is not None:
            hint = "To stack packs and files, load several mappings."
            raise place.fault(f"'{shown(url)}' is not an absolute URL of a context.", hint)
        if self._loader is None:
            hint = "Copy the context into the mapping, or pass a loader."
            raise place.fault(f"The context <{shown(url)}> is remote.", hint)
        self._loaded += 1
        if self._loaded > REMOTE:
            raise place.excess(f"The mapping asks for more than {REMOTE} remote contexts.")

        def fault(why: str) -> KipError:
            message = f"The context <{shown(url)}> {why}."
            return place.fault(message, "Copy the context into the mapping.")

        context = fetched(self._loader, url, place.chain, fault)
        check_size(url, context)
        return context, place.behind(url)

    def _object(self, below: Context, value: dict[str, Any], place: Place) -> Context:
        if not all(isinstance(key, str) for key in value):
            raise place.fault("The keys of a context are strings.")
        if "@import" in value:
            value, place = self._imported(value, place)
        settings = self._settings(below, value, place)
        reader = _TermReader(below.under(Context({}, settings)), value, place)
        terms = reader.all()
        self.warnings += reader.warnings
        return Context(terms, settings)

    def _imported(self, value: dict[str, Any], place: Place) -> tuple[dict[str, Any], Place]:
        """A context with the one that it imports beneath (API 4.1.2, step 5.6)."""
        _check_members({"@import": value["@import"]}, _IN_CONTEXT, place, "a context")
        imported, behind = self._load(value["@import"], place.at("@import"))
        if not isinstance(imported, dict) or "@import" in imported:
            raise place.at("@import").fault("The imported context must be one object.")
        own = {key: one for key, one in value.items() if key != "@import"}
        return {**imported, **own}, place._replace(chain=behind.chain)

    def _settings(
        self, below: Context, value: dict[str, Any], place: Place
    ) -> dict[str, str | None]:
        keywords = {key: value[key] for key in value if _KEYWORD.fullmatch(key) and key != "@type"}
        _check_members(keywords, _IN_CONTEXT, place, "a context")
        vocabulary = value.get("@vocab")
        settings = {"@vocab": vocabulary} if "@vocab" in value else {}
        if vocabulary is not None:
            terms = _TermReader(below, {}, place)
            settings["@vocab"] = terms.checked(vocabulary, place.at("@vocab"))
        return settings | _of_texts(value)


class _TermReader:
    """The terms of one context object, each defined on first use.

    ``warnings`` lists what has no effect.
    """

    def __init__(self, below: Context, context: dict[str, Any], place: Place) -> None:
        self.warnings: list[str] = []
        self._terms: dict[str, Definition] = {}
        self._below = below
        self._context = context
        self._place = place
        self._pending: list[str] = []

    def all(self) -> dict[str, Definition]:
        """The terms in the order of the text: of two with one IRI the first is read back."""
        for term in self._context:
            if term not in KEYWORDS:
                self._define(term)
            elif term == "@type":
                self._check_type_keyword(self._place.at(term))
        return {term: self._terms[term] for term in self._context if term in self._terms}

    def _check_type_keyword(self, there: Place) -> None:
        """``@type`` itself may be a set or protected; neither changes a triple."""
        value = self._members("@type", there)
        if set(value) - {"@container", "@protected"} or value.get("@container", "@set") != "@set":
            raise there.fault("For '@type' a context may only say '@container': '@set'.")

    def _members(self, term: str, there: Place) -> dict[str, Any]:
        value = self._context[term]
        if isinstance(value, dict):
            return value
        if value is not None and not isinstance(value, str):
            raise there.fault("A term is defined by an IRI, an object or null.")
        return {"@id": value}

    def _get(self, term: str) -> Definition | None:
        """The definition of a term, read first if the context has it."""
        if term in self._context and term not in KEYWORDS:
            self._define(term)
        return self._terms.get(term) or self._below.terms.get(term)

    def _define(self, term: str) -> None:
        if term in self._terms:
            return
        budget.check()
        there = self._place.at(term)
        if term in self._pending:
            cycle = " → ".join(f"'{shown(name)}'" for name in (*self._pending, term))
            raise there.fault(f"The term is defined by itself: {cycle}.")
        if len(self._pending) == STEPS:
            raise there.excess(f"Terms are defined by terms over more than {STEPS} steps.")
        if not term:
            raise there.fault("A term has a name; this one is empty.")
        self._pending.append(term)
        definition = self._definition(term, there)
        self._pending.pop()
        before = self._below.terms.get(term)
        if before is not None and before.protected and not there.overrides:
            same = replace(before, protected=definition.protected, scope=None, unread=None)
            if same != definition:
                raise there.fault(f"'{shown(term)}' is protected by an earlier context.")
        self._terms[term] = definition

    def _definition(self, term: str, there: Place) -> Definition:
        given = self._members(term, there)
        ignored = [key for key in _TEXTS if key in given and "@type" in given]
        members = {key: value for key, value in given.items() if key not in ignored}
        _check_members(members, _IN_TERM, there, "the definition of a term")
        protected = members.get("@protected", self._context.get("@protected", False))
        iri = self._iri(term, members, there)
        if iri is None:
            return Definition(None, protected=protected)
        faults = (there.fault(f"{key} has no effect beside @type.") for key in ignored)
        self.warnings += [fault.message for fault in faults]
        is_prefix = self._is_prefix(term, members, iri, there)
        scope = (members["@context"], there.at("@context")) if "@context" in members else None
        return Definition(iri, is_prefix, protected, self._values(members, there), unread=scope)

    def _iri(self, term: str, members: dict[str, Any], there: Place) -> str | None:
        """The IRI or keyword that a term means; None when the context removes it."""
        given = members.get("@id", term)
        if given is None:
            return None
        iri = self._of_its_own(term) if given == term else self._expanded(given)
        if term in MAPS and iri != "@nest" and not there.overrides:
            hint = f'Write "{term}": {{"@id": "@nest", "@context": {{…}}}}.'
            raise there.fault(f"'{term}' is a map inside an element and must be '@nest'.", hint)
        is_given = isinstance(self._context[term], dict) and "@id" in members
        place = there.at("@id") if is_given else there
        if iri.startswith("@"):
            if iri not in _ALIASED:
                hint = f"A term may stand for {', '.join(sorted(_ALIASED))}."
                raise place.fault(f"'{shown(given)}' cannot be the meaning of a term.", hint)
            return iri
        self._check_iri(given, iri, place)
        # A term that looks like an IRI means that IRI (API 4.2.2, step 14.2.4).
        if (":" in term[1:-1] or "/" in term) and self._compact(term) != iri:
            itself = shown(self._compact(term))
            raise there.fault(f"The term looks like the IRI <{itself}> but means another one.")
        return iri

    def _of_its_own(self, term: str) -> str:
        """The IRI of a term without an ``@id``: by its prefix, or by ``@vocab``."""
        if ":" not in term[1:]:
            return (self._below.settings.get("@vocab") or "") + term
        prefix, _, rest = term.partition(":")
        definition = self._get(prefix)
        return definition.iri + rest if definition is not None and definition.iri else term

    def _expanded(self, text: str) -> str:
        """Expand a term, compact IRI or IRI (API 5.2, IRI Expansion)."""
        if _KEYWORD.fullmatch(text):
            return text
        definition = self._get(text)
        if definition is not None and definition.iri is not None:
            return definition.iri
        if ":" in text[1:]:
            return self._compact(text)
        return (self._below.settings.get("@vocab") or "") + text

    def _compact(self, text: str) -> str:
        """Expand a compact IRI; other texts remain as they are."""
        prefix, colon, rest = text.partition(":")
        if not colon or prefix == "_" or rest.startswith("//"):
            return text
        definition = self._get(prefix)
        return f"{definition.iri}{rest}" if definition is not None and definition.prefix else text

    def checked(self, text: str, place: Place) -> str:
        """An expanded text; raises for one that is not a valid IRI."""
        iri = self._expanded(text)
        self._check_iri(text, iri, place)
        return iri

    def _check_iri(self, given: str, iri: str, place: Place) -> None:
        fault = iri_fault(iri)
        if fault is not None:
            raise place.fault(f"'{shown(given)}' {fault}.", self._hint(given))

    def _hint(self, given: str) -> str:
        """The hint for a string that is not a valid IRI."""
        prefix, colon, _ = given.partition(":")
        if len(given) > IRI:
            return "Write a shorter one."
        if prefix in ("http", "https"):
            return f"It begins with '{prefix}://' and has no spaces."
        prefixes = [term for term in self._context if self._looks_like_a_prefix(term)]
        prefixes += [name for name, term in self._below.terms.items() if term.prefix]
        likely = nearest(prefix, prefixes, 1) if colon else []
        if likely:
            return f"Did you mean '{shown(likely[0])}:'?"
        return "Write an absolute IRI, or define the prefix before the colon."

    def _looks_like_a_prefix(self, term: str) -> bool:
        value = self._context[term]
        if isinstance(value, dict):
            return value.get("@prefix") is True
        return isinstance(value, str) and value.endswith(PREFIX_ENDS)

    def _is_prefix(self, term: str, members: dict[str, Any], iri: str, there: Place) -> bool:
        has_flag = "@prefix" in members
        if ":" in term or "/" in term:
            if has_flag:
                raise there.at("@prefix").fault("The name of a prefix has no ':' and no '/'.")
            return False
        if members.get("@prefix") and iri.startswith("@"):
            raise there.at("@prefix").fault(f"{iri} cannot be a prefix.")
        is_simple = not isinstance(self._context[term], dict)
        return bool(members.get("@prefix", is_simple and iri.endswith(PREFIX_ENDS)))

    def _values(self, members: dict[str, Any], there: Place) -> dict[str, Any]:
        """What a term says of its values."""
        values: dict[str, Any] = {}
        if "@type" in members:
            values["@type"] = self._type(members["@type"], there.at("@type"))
        values |= _of_texts(members)
        container, nest = members.get("@container"), members.get("@nest")
        if container is not None:
            values["@container"] = container if isinstance(container, str) else container[0]
        if nest is not None:
            values["@nest"] = nest
        return values

    def _type(self, given: str, place: Place) -> str:
        iri = self._expanded(given)
        if iri in _VALUE_KINDS:
            return iri
        if iri in (vocab.LANG_STRING.value, vocab.DIR_LANG_STRING.value):
            raise place.fault("Use '@language' for a text with a language.")
        if iri.startswith("@"):
            raise place.fault(_TYPE)
        if iri in datatypes.NAMES:
            raise place.fault(f"'{iri}' is not an absolute IRI.", f"Write '{vocab.XSD}{iri}'.")
        self._check_iri(given, iri, place)
        name = iri.removeprefix(vocab.XSD)
        if iri != name and name not in datatypes.NAMES:
            likely = nearest(name, datatypes.NAMES, 1) or ["date", "dateTime", "decimal"]
            hint = f"XML Schema has {', '.join(likely)}."
            raise place.fault(f"XML Schema has no datatype '{shown(name)}'.", hint)
        return iri


# What the members of a context may be -------------------------------------------------------------

# fmt: off
_IN_CONTEXT = frozenset((
    "@direction", "@import", "@language", "@propagate", "@protected", "@type", "@version", "@vocab",
))
_IN_TERM = frozenset((
    "@id", "@type", "@language", "@direction", "@container", "@context", "@nest", "@prefix",
    "@protected",
))
_ALIASED = frozenset((
    "@id", "@type", "@nest", "@value", "@language", "@direction", "@list", "@set", "@none",
))
KEYWORDS = _IN_CONTEXT | _IN_TERM | _ALIASED | frozenset((
    "@base", "@graph", "@included", "@index", "@json", "@reverse",
))
# fmt: on
_KEYWORD = re.compile(r"@[A-Za-z]+")
_TEXTS = ("@language", "@direction")
_VALUE_KINDS = ("@id", "@vocab", "@json", "@none")
_TYPE = "'@type' takes the IRI of a datatype, @id, @vocab, @json or @none."
_CONTAINERS = (None, "@set", "@list", ["@set"], ["@list"])
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8}){0,8}")
_REFUSED = {
    "@base": "The IRIs of a mapping are absolute, so @base is not allowed here.",
    "@reverse": "@reverse would reverse facts; define a predicate for the other direction instead.",
    "@index": "@index has no counterpart in KIP.",
}
"""What JSON-LD has and a mapping has no use for."""


def _is_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_language(value: Any) -> bool:
    return value is None or (isinstance(value, str) and bool(_LANGUAGE.fullmatch(value)))


def _is_nest(value: Any) -> bool:
    return _is_text(value) and (value == "@nest" or not str(value).startswith("@"))


_VALUES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "@container": (
        lambda value: value in _CONTAINERS,
        "A container is '@set' or '@list'; KIP has no maps by language, id, type or index.",
    ),
    "@direction": (
        lambda value: value in ("ltr", "rtl", None),
        "'@direction' takes 'ltr', 'rtl' or null.",
    ),
    "@id": (_is_text, "'@id' takes an IRI, a keyword or null."),
    "@import": (lambda value: isinstance(value, str), "@import takes the URL of a context."),
    "@language": (_is_language, "'@language' takes a language tag, such as 'en', or null."),
    "@nest": (_is_nest, "'@nest' takes '@nest' or an alias of it."),
    "@type": (lambda value: isinstance(value, str), _TYPE),
    "@version": (lambda value: value == 1.1, "The version of a context is 1.1."),
    "@vocab": (_is_text, "@vocab takes an IRI or null."),
    **{
        flag: (lambda value: isinstance(value, bool), f"{flag} is true or false.")
        for flag in ("@prefix", "@propagate", "@protected")
    },
}
"""What a keyword takes: a test of the value, and the message of the fault."""


def _check_members(
    members: dict[str, Any], allowed: Collection[str], place: Place, where: str
) -> None:
    """Raise for a misplaced keyword, and for a value that a keyword does not take."""
    for key, value in members.items():
        if key in _REFUSED:
            raise place.at(key).fault(_REFUSED[key], "Leave it out.")
        if key not in allowed:
            message = f"'{shown(str(key))}' means nothing in {where}."
            raise place.at(key).fault(message, _hint(str(key), allowed))
        if key in _VALUES and not _VALUES[key][0](value):
            raise place.at(key).fault(_VALUES[key][1])


def _hint(key: str, allowed: Collection[str]) -> str:
    if f"@{key}" in allowed:
        return f"Write '@{key}'."
    if not key.startswith("@"):
        return "Put its own terms into its '@context'."
    return f"It has {', '.join(sorted(allowed))}."


def _of_texts(members: dict[str, Any]) -> dict[str, str | None]:
    """The language, in lower case as RDF stores keep it, and the direction, if given."""
    given = ((key, members[key]) for key in _TEXTS if key in members)
    return {key: None if value is None else value.lower() for key, value in given}


_SCHEMES = frozenset(
    ("ark", "did", "doi", "geo", "info", "mailto", "ni", "oid", "tag", "tel", "urn")
)
"""Schemes of IRIs without ``//``; other words before a colon are prefixes."""


def iri_fault(text: str) -> str | None:
    """Why a text is not an absolute IRI, or None when it is one.

    >>> iri_fault("https://schema.org/name")
    >>> iri_fault("schem:name")
    "has the prefix 'schem', which is not defined"
    """
    scheme, _, rest = text.partition(":")
    if len(text) > IRI:
        return f"is longer than {IRI} characters, prefix and all"
    if scheme == "_":
        return "is a blank node, not an IRI"
    try:
        NamedNode(text)
    except ValueError:
        return "is not an absolute IRI"
    # JSON-LD reads it as an IRI; nearly always its prefix is missing or misspelt.
    if not rest.startswith("//") and scheme.lower() not in _SCHEMES:
        return f"has the prefix '{shown(scheme)}', which is not defined"
    return None
