"""The contexts of a JSON-LD document, before its parser sees them: what they cost, and those that
are named by their URLs, which are never fetched but by a loader."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any
from urllib.parse import urljoin

from kiprdf.budget import check, current
from kiprdf.errors import KipError, shown
from kiprdf.interchange.formats import json_text, jsonld_lengths
from kiprdf.interchange.mapping.terms import Loader
from kiprdf.language.sizes import Sizes
from kiprdf.source import NOWHERE, Span

CONTEXTS = 64
"""How many contexts a loader fetches at most for one document."""
WORK = 100_000_000
"""How many terms the parser may copy: all of them for each value that brings a context along."""
WORK_A_SECOND = 2_000_000
"""How many it copies, at the most; the parser cannot be stopped when the time is over."""
SCOPED_WORK = 20_000_000
"""The same for the contexts of terms, each of which is read once upon all terms."""
DIGITS = 1000
"""How many characters a number has at most; no machine computes with more."""


def resolved(text: str, loader: Loader | None, base_iri: str | None = None) -> str:
    """A document whose remote contexts stand in place.

    Raises KIP_1001 with line and column for a text that is no JSON or says a key twice, and for a
    context that is named by its URL, unless a loader is given; KIP_4002 for contexts that the
    parser would take minutes or gigabytes for. Whatever the loader raises goes through.
    """
    document = _json(text)
    contexts = _Contexts(text, loader, base_iri)
    try:
        whole = contexts.document(document)
        contexts.check_work()
        jsonld_lengths.check(whole, text)
        return json.dumps(whole) if contexts.count else text
    except RecursionError:
        message = "A fetched context nests too deeply."
        raise KipError("KIP_4002", message, "Put the context into the file.") from None
    except (TypeError, ValueError) as fault:  # of json.dumps
        message = f"A fetched context is no JSON: {fault}."
        raise KipError("KIP_1001", message, "Correct the loader.") from None


def _json(text: str) -> Any:
    """The value of a JSON text, of which every other reader makes the same."""

    def number(digits: str) -> float:
        if len(digits) > DIGITS:
            at = text.find(digits)
            message = f"A number of the JSON-LD has more than {DIGITS} characters."
            span = Span(at, at + len(digits))
            raise KipError("KIP_4002", message, "Write it as a string.", span, text)
        return int(digits) if digits.lstrip("-").isdigit() else float(digits)

    try:
        return json.loads(text, object_pairs_hook=_unique, parse_int=number, parse_float=number)
    except json.JSONDecodeError as fault:
        message = f"The text is no JSON-LD: {json_text.reason(fault)}."
        span = Span(fault.pos, fault.pos + 1)
        hint = "Check the file at this place."
        raise KipError("KIP_1001", message, hint, span, text) from None
    except _Doubled as doubled:
        message = f"The JSON-LD has the key {shown(str(doubled))!r} twice in one object."
        span = _second(text)
        raise KipError("KIP_1001", message, "Keep one of them.", span, text) from None


class _Doubled(Exception):
    """A key stands twice in an object: one reader takes the first, another the last or both."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    check()
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Doubled(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return found


def _second(text: str) -> Span:
    """Where a key stands a second time; Python's reader does not tell."""
    try:
        json_text.read(text)
    except KipError as fault:
        return fault.span
    return NOWHERE


class _Contexts:
    """Puts the contexts that a loader fetches into the place of their URLs, and counts."""

    def __init__(self, text: str, loader: Loader | None, base_iri: str | None) -> None:
        self._text = text
        self._loader = loader
        self._base = base_iri
        self._sizes = Sizes("What the loader fetches")
        self.count = 0
        self._terms = 0
        self._values = 0
        self._contexts = 0
        self._scoped = 0

    def check_work(self) -> None:
        """Raise KIP_4002 for large contexts that are taken up again and again."""
        # A scoped context may come along with any key or type.
        taken_up = self._values if self._scoped else self._contexts
        spending = current()
        most = WORK if spending is None else min(WORK, spending.seconds_left() * WORK_A_SECOND)
        if taken_up * self._terms > most or self._scoped * self._terms > SCOPED_WORK:
            message = "The contexts of the JSON-LD are too large for being taken up so often."
            raise KipError("KIP_4002", message, "Split the document, or shorten its contexts.")

    def document(self, value: Any) -> Any:
        self._values += 1
        if not self._values % 256:
            check()
        if isinstance(value, list):
            return [self.document(item) for item in value]
        if not isinstance(value, dict):
            return value
        self._contexts += "@context" in value
        return {
            key: self.context(item, ()) if key == "@context" else self.document(item)
            for key, item in value.items()
        }

    def context(self, context: Any, chain: tuple[str, ...]) -> Any:
        if isinstance(context, str):
            return self._fetched(context, chain)
        if isinstance(context, list):
            parts = (self.context(part, chain) for part in context)
            return [p for part in parts for p in (part if isinstance(part, list) else [part])]
        if not isinstance(context, dict):
            return context
        self._terms += len(context)
        own = {key: self._term(item, chain) for key, item in context.items() if key != "@import"}
        if "@import" not in context:
            return own
        imported = self._fetched(context["@import"], chain)
        if not isinstance(imported, dict):
            raise self._fault(str(context["@import"]), "is imported and is not one context")
        return {**imported, **own}

    def _term(self, definition: Any, chain: tuple[str, ...]) -> Any:
        if not isinstance(definition, dict) or "@context" not in definition:
            return definition
        self._scoped += 1
        return {**definition, "@context": self.context(definition["@context"], chain)}

    def _fetched(self, url: Any, chain: tuple[str, ...]) -> Any:
        if not isinstance(url, str):
            raise self._fault(str(url), "is no URL")
        if self._loader is None:
            raise self._fault(url, "is not fetched")
        base = chain[-1] if chain else self._base
        absolute = urljoin(base, url) if base else url
        self.count += 1
        if absolute in chain:
            raise self._fault(url, "includes itself")
        if self.count > CONTEXTS:
            raise self._fault(url, f"is one of more than {CONTEXTS}")
        try:
            document = self._loader(absolute)
        except (OSError, ValueError, LookupError) as fault:  # of the network, the text, a table
            why = f"cannot be loaded ({type(fault).__name__}: {fault})"
            raise self._fault(url, why) from fault
        if not isinstance(document, dict) or "@context" not in document:
            raise self._fault(url, "has no @context")
        self._sizes.add(document["@context"])
        return self.context(document["@context"], (*chain, absolute))

    def _fault(self, url: str, why: str) -> KipError:
        at = self._text.find(json.dumps(url, ensure_ascii=False))
        span = NOWHERE if at < 0 else Span(at, at + len(url) + 2)
        message = f"The context {shown(url)} {why}."
        hint = "Put the context into the file, or pass a loader."
        return KipError("KIP_1001", message, hint, span, self._text)
