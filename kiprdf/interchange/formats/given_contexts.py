"""The contexts that a caller gives for JSON-LD, so that nothing has to be fetched.

A context with a URL answers that URL. One without answers a URL that ends with its file name, or
any URL if it is the only one. Contexts that answer no URL of a document come before its own, as
the ``expandContext`` of JSON-LD 1.1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast
from urllib.parse import urlsplit

from kiprdf import resources
from kiprdf.errors import KipError, shown
from kiprdf.interchange import files
from kiprdf.interchange.formats import json_text

if TYPE_CHECKING:
    from kiprdf.interchange.mapping.reader import Loader

Context: TypeAlias = "Mapping[str, Any] | files.Source"
"""An object with ``@context``, a path, a text, an open file; or these by URL."""
Contexts: TypeAlias = "Context | Sequence[Context]"
_SCHEMA_ORG = re.compile(
    r"https?://(?:www\.)?schema\.org(?:/|/docs/jsonldcontext\.json(?:ld)?)?", re.IGNORECASE
)
_SIGNED = "https://w3id.org/security/data-integrity/v2"
_HINT = 'Give an object with "@context", a file of one, or files by their URLs.'


class _Given(NamedTuple):
    document: dict[str, Any]
    name: str | None = None
    url: str | None = None


class GivenContexts:
    """A loader that answers from given contexts, then from another loader.

    >>> given = GivenContexts({"@context": {"name": "urn:name"}})
    >>> given("https://example.org/any")
    {'@context': {'name': 'urn:name'}}
    """

    def __init__(self, contexts: Contexts, loader: Loader | None = None) -> None:
        self._given = list(_read(contexts))
        self._loader = loader
        self._used: set[int] = set()

    def __call__(self, url: str) -> Any:
        """The context of a URL; LookupError if there is none."""
        place = self._place(url)
        if place is not None:
            self._used.add(place)
            return self._given[place].document
        if self._loader is not None:
            return self._loader(url)
        bundled = bundled_context(url)
        if bundled is None:
            raise LookupError("no context was given for it")
        return bundled

    def initial(self) -> list[Any]:
        """The contexts without a URL that have answered none."""
        return [
            one.document["@context"]
            for place, one in enumerate(self._given)
            if one.url is None and place not in self._used
        ]

    def _place(self, url: str) -> int | None:
        name = urlsplit(url).path.rpartition("/")[2]
        plain = [place for place, one in enumerate(self._given) if one.url is None]
        by_url = [place for place, one in enumerate(self._given) if one.url == url]
        by_name = [place for place in plain if name and self._given[place].name == name]
        only = plain if len(plain) == 1 and self._loader is None else []
        return next(iter([*by_url, *by_name, *only]), None)


def fetched(
    load: Loader, url: str, chain: tuple[str, ...], fault: Callable[[str], KipError]
) -> Any:
    """The context that a loader returns for a URL; refused if that URL led here.

    ``fault`` makes the error of a reason.
    """
    if url in chain:
        raise fault("includes itself")
    try:
        document = load(url)
    except (OSError, ValueError, LookupError) as error:  # of the network, the text, a table
        why = f"{type(error).__name__}: {shown(str(error), 200)}"
        raise fault(f"cannot be loaded ({why})") from error
    if not isinstance(document, dict) or "@context" not in document:
        raise fault("is not a JSON-LD document with a '@context'")
    return document["@context"]


def bundled_context(url: str) -> dict[str, Any] | None:
    """The context of a URL that comes with kiprdf: that of schema.org, and of signed documents.

    A proof is no knowledge, and is left out; ``kiprdf.verify`` looks at it.

    >>> context = bundled_context("https://schema.org")
    >>> context["@context"]["datePublished"]
    {'@type': 'Date'}
    """
    if url == _SIGNED:
        return {"@context": {"id": "@id", "type": "@type", "proof": None}}
    if not _SCHEMA_ORG.fullmatch(url):
        return None
    path = resources.directory("mappings") / "contexts" / "schema-org.jsonld"
    return cast(dict[str, Any], json.loads(path.read_text("utf-8")))


def _read(contexts: Contexts) -> Iterator[_Given]:
    for one in contexts if isinstance(contexts, list | tuple) else [contexts]:
        if not isinstance(one, Mapping):
            yield _Given(_document(_json(one)), files.name_of(one))
        elif "@context" in one:
            yield _Given(dict(one))
        else:
            for url, source in one.items():
                document = source if isinstance(source, Mapping) else _json(source)
                yield _Given(_document(document), url=url)


def _json(source: Any) -> Any:
    content = files.content(source)
    text = content if isinstance(content, str) else content.decode("utf-8-sig", "replace")
    return json_text.read(text)[0]


def _document(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping) and "@context" in value:
        return dict(value)
    raise KipError("KIP_1001", "The given JSON-LD context has no @context.", _HINT)


def with_initial(document: Any, contexts: list[Any]) -> Any:
    """A document whose objects begin with contexts; their own ones follow."""
    if isinstance(document, list):
        return [with_initial(item, contexts) for item in document]
    if not isinstance(document, dict):
        return document
    own = document.get("@context", [])
    joined = [*contexts, *(own if isinstance(own, list) else [own])]
    return {**document, "@context": joined}
