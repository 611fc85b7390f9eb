"""A nexus as a folder of static pages and files, written whole or not at all.

docs/how-to/publish.md and docs/decisions/034-layout-of-a-published-folder.md describe its files.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyoxigraph import NamedNode, Triple

from kiprdf.budget import paced
from kiprdf.errors import KipError, StoreError, shown
from kiprdf.interchange import formats
from kiprdf.interchange.formats.names import Profile
from kiprdf.interchange.formats.ordering import Advance, normalized
from kiprdf.interchange.formats.profiles import to_profile
from kiprdf.interchange.mapping.apply import apply_mapping
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.interchange.publishing import description, overview, provenance
from kiprdf.interchange.publishing.description import Counts, Dump
from kiprdf.interchange.publishing.file_names import Paths
from kiprdf.interchange.publishing.knowledge import DOMAIN, Knowledge, is_definition
from kiprdf.interchange.publishing.neighbours import Neighbours, turtle_text
from kiprdf.interchange.publishing.page_parts import Site
from kiprdf.interchange.publishing.pages import element_page
from kiprdf.interchange.vocabularies.nested_turtle import write_nested
from kiprdf.interchange.vocabularies.schema import schema_triples
from kiprdf.interchange.vocabularies.standards import OWL
from kiprdf.interchange.vocabularies.standards import PREFIXES as STANDARDS
from kiprdf.rdf import vocab
from kiprdf.store import Store

MARKER = "kiprdf.json"
"""The file by which a folder is known as one of ours: format, base, and what we put into it."""
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Published:
    """What was written: the folder, how many elements and files, how many bytes in all."""

    folder: Path
    elements: int
    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class _Form:
    """A form in which the whole dataset is written."""

    name: str
    title: str
    format: formats.Format
    media_type: str
    syntax: str
    profile: Profile = "rdf11"


_FORMS = (
    _Form("nexus.ttl", "Turtle, for every tool", "turtle", "text/turtle", "Turtle"),
    _Form(
        "nexus.rdf12.ttl",
        "Turtle 1.2 in the words of KIP, with reifiers",
        "turtle",
        "text/turtle",
        "Turtle",
        "rdf12",
    ),
    _Form("nexus.nt", "N-Triples", "ntriples", "application/n-triples", "N-Triples"),
    _Form("nexus.jsonld", "JSON-LD 1.1", "jsonld", "application/ld+json", "JSON-LD"),
)


def publish(
    store: Store,
    folder: str | os.PathLike[str],
    *,
    mapping: Mapping | None = None,
    title: str | None = None,
    address: str | None = None,
    advance: Advance | None = None,
) -> Published:
    """Write a nexus as static pages and files into a folder, in place of what was published there.

    ``mapping`` says what types, predicates and keys are called in the files, ``title`` what the
    nexus is called on its pages, ``address`` at which IRI the folder will stand, if that is not
    the base. ``advance(1)`` is called for each element. The folder is absent, empty, or one that
    was published before; it is replaced when everything has been written.

    Raises ``StoreError`` for a folder with other things in it, KIP_1001 for an address that is no
    IRI, ``OSError`` where the file system says no.
    """
    address = store.iris.base if address is None else _checked_address(address)
    target = checked_folder(folder)
    triples, schema = store.read(
        lambda: (list(paced(store.match(None, None, None))), list(schema_triples(store, mapping)))
    )
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    try:
        partial.mkdir(parents=True)
        site = _Folder(partial, store, mapping, title, address)
        site.write(triples, schema, advance or _ignore)
        _put_in_place(partial, target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Published(target, site.elements, site.files, site.bytes)


def _checked_address(address: str) -> str:
    hint = 'Say where the folder will stand, such as "https://example.org/kb/".'
    if not isinstance(address, str):
        message = f"The address is a text, not {type(address).__name__}."
        raise KipError("KIP_1001", message, hint)
    address = address if address.endswith("/") else address + "/"
    try:
        NamedNode(address)
    except ValueError:
        message = f"The address {shown(address)!r} is no absolute IRI."
        raise KipError("KIP_1001", message, hint) from None
    # Names of files are put behind it: a query or a fragment would swallow them.
    if description.PLACE.fullmatch(address) is None:
        message = f"The address {shown(address)!r} is no place for a folder."
        raise KipError("KIP_1001", message, hint)
    return address


def checked_folder(folder: str | os.PathLike[str]) -> Path:
    """The folder, where its links lead; ``StoreError`` unless it is free to be written."""
    if "\0" in str(folder):
        raise StoreError("The path of the folder holds a NUL character.")
    target = Path(folder).resolve()
    require_free(target)
    return target


def _ignore(number: int) -> None:
    pass


def require_free(target: Path) -> None:
    """Raise ``StoreError`` unless a folder is absent, empty, or holds only what we put there."""
    if not target.exists():
        return
    if not target.is_dir():
        raise StoreError(f"{target} is a file; a nexus is published into a folder.")
    own = _published(target / MARKER)
    others = (path for path in _files(target) if path not in own)
    other = min(others, default=None)
    if other is not None:
        raise StoreError(
            f"The folder {target} holds {other!r}, which was not published there by kiprdf."
        )


def _files(folder: Path) -> Iterator[str]:
    """The paths of all files and links below a folder, relative to it, with slashes."""
    for parent, folders, files in os.walk(folder):
        links = [name for name in folders if (Path(parent) / name).is_symlink()]
        for name in (*files, *links):
            yield (Path(parent) / name).relative_to(folder).as_posix()


def _published(marker: Path) -> set[str]:
    """The files that we put into a folder; none for a folder that is none of ours."""
    try:
        found: Any = json.loads(marker.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return set()
    if not isinstance(found, dict) or not isinstance(found.get("published"), list):
        return set()
    return {MARKER, *(path for path in found["published"] if isinstance(path, str))}


def _put_in_place(partial: Path, target: Path) -> None:
    """Let the new folder take the place of the old one, which comes back if it cannot."""
    if not target.exists():
        partial.rename(target)
        return
    former = partial.with_suffix(".former")
    target.rename(former)
    try:
        partial.rename(target)
    except BaseException:
        former.rename(target)
        raise
    shutil.rmtree(former, ignore_errors=True)


class _Folder:
    """Writes everything into one folder and counts what it has written."""

    def __init__(
        self,
        folder: Path,
        store: Store,
        mapping: Mapping | None,
        title: str | None,
        address: str,
    ) -> None:
        self._folder = folder
        self._iris = store.iris
        self._mapping = mapping or Mapping.none()
        self._title = title or f"Nexus {store.iris.base}"
        self._address = address
        self._made: set[Path] = set()
        self.elements = 0
        self.files = 0
        self.bytes = 0

    def write(self, triples: list[Triple], schema: list[Triple], advance: Advance) -> None:
        known = Knowledge.of(triples, self._iris)
        paths = Paths.of(self._iris.base, (node.value for node in known.elements))
        site = Site(known, paths, self._title, self._mapping)
        dumps = [self._dump(form, triples) for form in _FORMS]
        # Two keys of one mapped name may say the same.
        written = list(dict.fromkeys(self._as_written(triples)))
        added = [*provenance.of_elements(known), *provenance.of_domains(known)]
        others = [
            self._extra("provenance.ttl", "PROV-O, Dublin Core and SKOS, beside the data", added),
            self._schema(schema),
        ]
        self._void(known, Counts.of(written), dumps)
        self._text("index.html", overview.index_page(site, [*dumps, *others]))
        self._text("vocabulary.html", overview.vocabulary_page(site))
        self._text("names.js", overview.names_script(site))
        self._text("style.css", (overview.ASSETS / "style.css").read_text("utf-8"))
        # GitHub Pages would leave out what begins with an underscore.
        self._text(".nojekyll", "")
        self._pages(site, Neighbours(known, written, added), advance)
        self._mark()

    def _as_written(self, triples: Iterable[Triple]) -> Iterator[Triple]:
        """The graph that the dumps in RDF 1.1 hold, by which it is counted."""
        return to_profile(apply_mapping(normalized(triples), self._iris, self._mapping), "rdf11")

    def _pages(self, site: Site, neighbours: Neighbours, advance: Advance) -> None:
        for node, element in paced(site.known.elements.items()):
            self._text(site.path(node), element_page(site, element))
            self._turtle(site.path(node, "ttl"), neighbours.of(node))
            self.elements += 1
            advance(1)

    def _dump(self, form: _Form, triples: Iterable[Triple]) -> Dump:
        path = self._folder / form.name
        # The RDF 1.2 file is the snapshot: the nexus as it is, whatever the mapping.
        mapping = None if form.profile == "rdf12" else self._mapping
        with path.open("wb") as file:
            number = formats.write(
                triples, file, form.format, self._iris, profile=form.profile, mapping=mapping
            )
        size = self._count(path)
        own = number if form.profile == "rdf12" else None
        return Dump(form.name, form.title, form.media_type, form.syntax, size, own)

    def _schema(self, triples: Sequence[Triple]) -> Dump:
        prefixes = {**self._mapping.prefixes, **STANDARDS}
        self._text("schema.ttl", write_nested(triples, self._iris, prefixes))
        return self._dumped("schema.ttl", "The schema as RDFS and OWL", triples)

    def _extra(self, name: str, title: str, triples: Sequence[Triple]) -> Dump:
        self._turtle(name, triples)
        return self._dumped(name, title, triples)

    def _dumped(self, name: str, title: str, triples: Sequence[Triple]) -> Dump:
        size = (self._folder / name).stat().st_size
        return Dump(name, title, "text/turtle", "Turtle", size, len(set(triples)))

    def _void(self, known: Knowledge, counts: Counts, dumps: Sequence[Dump]) -> None:
        described = description.describe(
            counts,
            self._iris.base,
            title=self._title,
            address=self._address,
            dumps=dumps,
            examples=_examples(known),
            roots=(domain.node for domain in known.by_type.get(DOMAIN, ())),
        )
        self._turtle("void.ttl", described)

    def _turtle(self, path: str, triples: Iterable[Triple]) -> None:
        prefixes = {
            **self._mapping.prefixes,
            "owl": OWL,
            **provenance.PREFIXES,
            **description.PREFIXES,
            **vocab.prefixes(self._iris.base),
        }
        self._text(path, turtle_text(triples, prefixes))

    def _text(self, path: str, text: str) -> None:
        file = self._folder / path
        if file.parent not in self._made:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._made.add(file.parent)
        file.write_bytes(text.encode())
        self._count(file)

    def _count(self, file: Path) -> int:
        size = file.stat().st_size
        self.files += 1
        self.bytes += size
        return size

    def _mark(self) -> None:
        """The marker comes last: a folder that has one is complete."""
        files = sorted(_files(self._folder))
        found = {"format": FORMAT, "base": self._iris.base, "published": files}
        self._text(MARKER, json.dumps(found, indent=2) + "\n")


def _examples(known: Knowledge) -> list[NamedNode]:
    """The first member of the largest types."""
    members = [own for own in known.by_type.values() if own and not is_definition(own[0])]
    largest = sorted(members, key=lambda own: (-len(own), own[0].type))
    return [own[0].node for own in largest[: description.EXAMPLES]]
