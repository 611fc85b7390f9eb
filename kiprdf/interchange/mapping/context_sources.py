"""Where mappings are: packs, files, and JSON at hand."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from kiprdf import resources
from kiprdf.errors import KipError, nearest, shown
from kiprdf.interchange.formats import json_text
from kiprdf.interchange.mapping import limits
from kiprdf.interchange.mapping.terms import ContextJson, Document, printable
from kiprdf.language.sizes import Sizes
from kiprdf.source import Span


def packs() -> list[str]:
    """The names of the mappings that travel with the package.

    >>> packs()
    ['dcterms', 'foaf', 'prov', 'schema-org', 'skos']
    """
    return sorted(path.stem for path in resources.directory("mappings").glob("*.jsonld"))


def document_of(
    source: str | os.PathLike[str] | ContextJson,
) -> tuple[Document, Any, tuple[str, ...]]:
    """The document of a source, its context, and the path to it; errors as of ``Mapping.load``."""
    if isinstance(source, str) and source.lower().startswith(("http:", "https:")):
        return Document("The mapping"), source, ()
    if isinstance(source, str | os.PathLike):
        path = _path(source)
        text = _text(path)
        try:
            value, places = json_text.read(text)
        except KipError as error:
            hint = "Write it flat." if error.code == "KIP_4002" else error.hint
            message = printable(f"{path.name}: {error.message}")
            raise KipError(error.code, message, hint, error.span, error.source) from None
        document = Document(path.name, text, places)
    else:
        value, document = source, Document("The mapping")
        check_size(document.name, _context_of(value, document))
    return document, _context_of(value, document), ("@context",)


def check_size(name: str, context: Any) -> None:
    """Raise KIP_4002 for a context of Python values that is too large to be read."""
    Sizes(printable(shown(name)), limits.VALUES, limits.CHARACTERS).add(context)


def _context_of(value: Any, document: Document) -> Any:
    if not hasattr(value, "keys") or "@context" not in value:
        hint = 'A mapping is {"@context": {…}}; see docs/how-to/mappings.md.'
        raise document.fault((), "A mapping is a JSON object with '@context'.", hint)
    for key in value:
        if key != "@context":
            hint = "Leave the rest out."
            message = "A mapping has '@context' and nothing beside it."
            raise document.fault((key,), message, hint)
    return value["@context"]


def _path(source: str | os.PathLike[str]) -> Path:
    """Where a mapping is; a bare word is the name of a pack."""
    name = os.fspath(source)
    if isinstance(source, str) and name in packs():
        return resources.directory("mappings") / f"{name}.jsonld"
    path = Path(name)
    if not name or path.is_dir():
        raise KipError("KIP_1001", f"'{shown(name)}' is no file.", "Give a path to a mapping.")
    if isinstance(source, str) and path.suffix == "" and path.name == name and not path.exists():
        likely = nearest(name, packs()) or packs()
        hint = f"Packs are called {', '.join(likely)}; everything else is a path."
        raise KipError("KIP_1001", f"There is no mapping '{shown(name)}'.", hint)
    return path


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(limits.SIZE + 1)
    except ValueError as fault:
        raise KipError("KIP_1001", f"This is no path: {fault}.", "Give a path.") from None
    if len(content) > limits.SIZE:
        message = f"{path.name} is larger than {limits.SIZE} bytes."
        raise KipError("KIP_4002", message, "Split it into several mappings.")
    try:
        return content.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as fault:
        readable = content.decode(errors="replace")
        start = len(content[: fault.start].decode())
        message, span = f"{path.name} is no UTF-8 text.", Span(start, start + 1)
        raise KipError("KIP_1001", message, "Save it as UTF-8.", span, readable) from None
