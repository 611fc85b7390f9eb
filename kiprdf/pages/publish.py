"""Writes a nexus as a folder of static pages and data files, completely or not at all.

docs/how-to/publish.md and docs/decisions/034-layout-of-a-published-folder.md describe its files.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from pyoxigraph import NamedNode, RdfFormat, Triple, serialize

from kiprdf.budget import paced
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError, StoreError, shown
from kiprdf.interchange import description, provenance
from kiprdf.interchange.description import About, Counts, Dump
from kiprdf.interchange.formats import Format, Profile, turtle
from kiprdf.interchange.formats.ordering import normalized
from kiprdf.interchange.formats.output import Advance
from kiprdf.interchange.formats.profiles import to_profile
from kiprdf.interchange.formats.writing import Serializer
from kiprdf.interchange.knowledge import DOMAIN, Knowledge, is_definition
from kiprdf.interchange.mapped import applied, names
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.interchange.vocabularies.schema import context, schema_triples
from kiprdf.interchange.vocabularies.standards import PREFIXES as STANDARDS
from kiprdf.interchange.vocabularies.standards import owl
from kiprdf.kml.protection import is_rejection_node
from kiprdf.pages import elements as pages
from kiprdf.pages.elements import element_page
from kiprdf.pages.page import ASSETS, CompactSite, Page, Paths, Site
from kiprdf.rdf import vocab
from kiprdf.store import Store

if TYPE_CHECKING:
    from kiprdf.options import PublishOptions


_PREFIX = re.compile(r"@prefix [^:]*: <[^>]*> \.\n")
_PREFIXED = re.compile(r"(?<![:\w])([A-Za-z][\w.-]*):")
_SUBJECT = re.compile(r"^(?=\S)", re.MULTILINE)


class ElementTriples:
    """The triples of each element: those about it, and the facts that refer to it."""

    def __init__(
        self, elements: Container[object], dataset: Iterable[Triple], provenance: Iterable[Triple]
    ) -> None:
        self._by_subject: dict[str, list[Triple]] = defaultdict(list)
        self._by_object: dict[str, list[Triple]] = defaultdict(list)
        structural = (vocab.TYPE, vocab.SUBJECT, vocab.PREDICATE, vocab.OBJECT)
        for triple in dataset:
            self._by_subject[cast(NamedNode, triple.subject).value].append(triple)
            if triple.object in elements and triple.predicate not in structural:
                self._by_object[cast(NamedNode, triple.object).value].append(triple)
        for triple in provenance:
            self._by_subject[cast(NamedNode, triple.subject).value].append(triple)

    def of(self, nodes: Sequence[NamedNode]) -> Iterator[Triple]:
        """The triples of one file; those about its elements come first."""
        for index in (self._by_subject, self._by_object):
            yield from sorted({t for node in nodes for t in index.get(node.value, ())}, key=_order)


def _order(triple: Triple) -> tuple[str, bool, str, str]:
    subject, predicate = cast(NamedNode, triple.subject).value, triple.predicate
    return subject, predicate != vocab.TYPE, predicate.value, str(triple.object)


def turtle_text(triples: Iterable[Triple], prefixes: dict[str, str]) -> str:
    """Triples as Turtle in the given order, with the prefixes that are used.

    The engine lists prefixes in an arbitrary order; here the same triples give the same text.
    """
    text = cast(bytes, serialize(triples, format=RdfFormat.TURTLE, prefixes=prefixes)).decode()
    end = 0
    while match := _PREFIX.match(text, end):
        end = match.end()
    body = text[end:]
    used = set(_PREFIXED.findall(body))
    head = "".join(f"@prefix {name}: <{prefixes[name]}> .\n" for name in sorted(used & {*prefixes}))
    return head + _SUBJECT.sub("\n", body)


# The folder ------------------------------------------------------------------------------------


Facts = Literal["pages", "inline"]
"""Where facts are shown: on pages of their own, or on that of the concept where they begin."""
MOST_FACT_PAGES = 1_000
"""A nexus with more facts has no pages for them, unless these are asked for."""
MARKER = "kiprdf.json"
"""The file that identifies a published folder: format, base, and the files written."""
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Published:
    """The result of publishing: the folder, and the number of elements, files and bytes."""

    folder: Path
    elements: int
    files: int
    bytes: int


_TURTLE = "text/turtle"
_DUMPS: tuple[tuple[Format, Profile, Dump], ...] = (
    ("turtle", "rdf11", Dump("nexus.ttl", "Turtle, for every tool", _TURTLE, "Turtle")),
    ("turtle", "rdf12", Dump("nexus.rdf12.ttl", "Turtle 1.2 with reifiers", _TURTLE, "Turtle")),
    ("ntriples", "rdf11", Dump("nexus.nt", "N-Triples", "application/n-triples", "N-Triples")),
    ("jsonld", "rdf11", Dump("nexus.jsonld", "JSON-LD 1.1", "application/ld+json", "JSON-LD")),
)
"""The files with the whole dataset."""


def publish(
    store: Store,
    folder: str | os.PathLike[str],
    options: PublishOptions,
) -> Published:
    """Write a nexus as static pages and data files into a folder.

    The mapping translates types, predicates and keys in the data files. Facts are on pages of their
    own if there are at most ``MOST_FACT_PAGES``. The folder must be absent, empty, or published
    before; it is replaced only when everything has been written.

    Raises ``StoreError`` for a folder with other files, KIP_1001 for an address that is not an
    IRI, and ``OSError`` if a file cannot be written.
    """
    mapping, advance = options.vocabulary, options.advance
    texts = (options.description, options.publisher, options.license)
    about = About(options.title or "", *texts)
    address = store.iris.base if options.address is None else _checked_address(options.address)
    target = checked_folder(folder)

    def read() -> tuple[list[Triple], list[Triple]]:
        # The reasons of rejections are for those who write.
        triples = paced(store.match(None, None, None))
        shown = [
            one
            for one in triples
            if not is_rejection_node(cast(NamedNode, one.subject), store.iris)
        ]
        return shown, list(schema_triples(store, mapping))

    triples, schema = store.read(read)
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    try:
        partial.mkdir(parents=True)
        writer = _Writer(partial, store, mapping, about, address, options.facts)
        writer.write(triples, schema, advance or (lambda number: None))
        _put_in_place(partial, target)
    except OSError as fault:
        raise OSError(fault.errno, fault.strerror, str(target)) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Published(target, writer.elements, writer.files, writer.bytes)


def _checked_address(address: str) -> str:
    hint = 'Give the address of the published folder, such as "https://example.org/kb/".'
    if not isinstance(address, str):
        message = f"The address must be a string, not {type(address).__name__}."
        raise KipError("KIP_1001", message, hint)
    address = address if address.endswith("/") else address + "/"
    try:
        NamedNode(address)
    except ValueError:
        message = f"The address {shown(address)!r} is not an absolute IRI."
        raise KipError("KIP_1001", message, hint) from None
    # File names are appended to it, which a query or a fragment would break.
    if description.PLACE.fullmatch(address) is None:
        message = f"The address {shown(address)!r} is not the address of a folder."
        raise KipError("KIP_1001", message, hint)
    return address


def checked_folder(folder: str | os.PathLike[str], nexus: Path | None = None) -> Path:
    """The folder with links resolved; ``StoreError`` unless it may be written.

    ``nexus`` is the folder of the nexus, in which nothing is published.
    """
    if "\0" in str(folder):
        raise StoreError("The path of the folder contains a NUL character.")
    target = Path(folder).resolve()
    home = Path(os.path.expanduser("~")).resolve()
    if target in (Path(target.anchor), home):
        raise StoreError(f"A nexus is published into a separate folder, not into {target}.")
    if nexus is not None and target.is_relative_to(nexus.resolve()):
        raise StoreError(f"{target} is in the folder of the nexus; publish it elsewhere.")
    there = next(path for path in (target, *target.parents) if path.exists())
    if not there.is_dir():
        raise StoreError(f"{there} is a file; a nexus is published into a folder.")
    if there != target:
        return target
    other = _other_file(target)
    if other is not None:
        raise StoreError(
            f"The folder {target} contains {other!r}, which was not published there by kiprdf."
        )
    if _is_working_folder(target):
        raise StoreError(f"Publishing replaces {target}; run it from a folder outside of that.")
    return target


def _is_working_folder(folder: Path) -> bool:
    """Whether the process works in a folder or below it, which must not be replaced then."""
    try:
        return Path.cwd().is_relative_to(folder)
    except FileNotFoundError:  # it was deleted
        return False


def _other_file(folder: Path) -> str | None:
    """A file that kiprdf did not publish; without a marker, anything in the folder."""
    published = _published(folder / MARKER)
    if not published:
        # Not at any depth: the folder may be large.
        return min((entry.name for entry in folder.iterdir()), default=None)
    return next((path for path in _files(folder) if path not in published), None)


def _files(folder: Path) -> Iterator[str]:
    """The paths of all files and links below a folder, relative to it, with slashes."""
    for parent, folders, files in os.walk(folder):
        links = [name for name in folders if (Path(parent) / name).is_symlink()]
        for name in (*files, *links):
            yield (Path(parent) / name).relative_to(folder).as_posix()


def _published(marker: Path) -> set[str]:
    """The files listed in the marker of a published folder; none if there is no valid marker."""
    try:
        content: Any = json.loads(marker.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return set()
    if not isinstance(content, dict) or not isinstance(content.get("published"), list):
        return set()
    return {MARKER, *(path for path in content["published"] if isinstance(path, str))}


def _put_in_place(partial: Path, target: Path) -> None:
    """Replace the old folder by the new one; restore the old one if that fails."""
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


class _Writer:
    """Writes everything into one folder and counts elements, files and bytes."""

    def __init__(
        self,
        folder: Path,
        store: Store,
        mapping: Mapping | None,
        about: About,
        address: str,
        facts: Facts | None,
    ) -> None:
        self._folder = folder
        self._iris = store.iris
        self._mapping = mapping or Mapping.none()
        is_original = self._mapping.is_original
        self._words = Mapping.load(context(store)) if is_original else self._mapping
        self._about = about.titled(f"Nexus {store.iris.base}")
        self._address = address
        self._facts = facts
        self._prefixes = {
            **self._mapping.prefixes,
            "owl": owl,
            **provenance.PREFIXES,
            **description.PREFIXES,
            **vocab.prefixes(store.iris.base),
        }
        self._created_folders: set[Path] = set()
        self.elements = 0
        self.files = 0
        self.bytes = 0

    def write(self, triples: list[Triple], schema: list[Triple], advance: Advance) -> None:
        knowledge = Knowledge.of(triples, self._iris)
        site = self._site(knowledge)
        own = names(triples, self._iris, self._mapping)
        dumps = [self._write_dump(*dump, triples) for dump in _DUMPS]
        # The RDF 1.1 graph, which is described. Two keys mapped to one name can be equal triples.
        mapped = applied(normalized(triples), self._iris, self._mapping)
        graph = list(dict.fromkeys(to_profile(mapped, "rdf11")))
        added = [
            Triple(own.get(t.subject, t.subject), t.predicate, own.get(t.object, t.object))
            for t in (*provenance.of_elements(knowledge), *provenance.of_domains(knowledge))
        ]
        prefixes = {**self._mapping.prefixes, **STANDARDS}
        files = (
            ("provenance.ttl", "PROV-O, Dublin Core and SKOS", added, self._turtle(added)),
            (
                "schema.ttl",
                "The schema as RDFS and OWL",
                schema,
                turtle.nested(schema, self._iris, prefixes),
            ),
        )
        others = [
            Dump(name, title, _TURTLE, "Turtle", self._write_text(name, text), len(set(content)))
            for name, title, content, text in files
        ]
        self._write_description(knowledge, Counts.of(graph), dumps)
        self._write_frame(site, [*dumps, *others])
        self._write_elements(site, own, graph, added, advance)
        # The marker is written last: a folder with a marker is complete.
        published = sorted(_files(self._folder))
        marker = {"format": FORMAT, "base": self._iris.base, "published": published}
        self._write_text(MARKER, json.dumps(marker, indent=2) + "\n")

    def _write_frame(self, site: Site, documents: list[Dump]) -> None:
        """Write the pages about all elements, and what every page needs."""
        self._write_text("index.html", pages.index_page(site, documents))
        self._write_text("vocabulary.html", pages.vocabulary_page(site))
        self._write_text("names.js", pages.names_script(site))
        self._write_text("style.css", (ASSETS / "style.css").read_text("utf-8"))
        # Without this file, GitHub Pages would omit names that begin with an underscore.
        self._write_text(".nojekyll", "")

    def _write_elements(
        self,
        site: Site,
        own: dict[NamedNode, NamedNode],
        graph: list[Triple],
        added: list[Triple],
        advance: Advance,
    ) -> None:
        """Write the page of each element, and its triples under its own IRI."""
        elements = {own.get(node, node) for node in site.knowledge.elements}
        element_triples = ElementTriples(elements, graph, added)
        data_files: dict[str, list[NamedNode]] = defaultdict(list)
        for node, element in paced(site.knowledge.elements.items()):
            if site.anchor(node) is None:
                page = Page(site, site.path(node))
                self._write_text(page.path, element_page(page, element))
            data_files[site.path(node, "ttl")].append(own.get(node, node))
            self.elements += 1
            advance(1)
        for path, nodes in paced(data_files.items()):
            self._write_text(path, self._turtle(element_triples.of(nodes)))

    def _site(self, knowledge: Knowledge) -> Site:
        is_compact = self._facts == "inline" or (
            self._facts is None and sum(1 for _ in knowledge.propositions) > MOST_FACT_PAGES
        )
        shown = (one.node for one in knowledge.concepts) if is_compact else knowledge.elements
        paths = Paths.of(self._iris.base, (node.value for node in shown))
        kind = CompactSite if is_compact else Site
        return kind(knowledge, paths, self._about.title, self._words)

    def _write_dump(
        self, format: Format, profile: Profile, dump: Dump, triples: Iterable[Triple]
    ) -> Dump:
        path = self._folder / dump.name
        # The RDF 1.2 file is a snapshot of the nexus, without the mapping.
        is_snapshot = profile == "rdf12"
        mapping = None if is_snapshot else self._mapping
        serializer = Serializer(triples, format, self._iris, profile=profile, mapping=mapping)
        with path.open("wb") as file:
            number = serializer.write(file)
        return replace(dump, size=self._count(path), triples=number if is_snapshot else None)

    def _write_description(
        self, knowledge: Knowledge, counts: Counts, dumps: Sequence[Dump]
    ) -> None:
        types = [members for members in knowledge.by_type.values() if members]
        data_types = [members for members in types if not is_definition(members[0])]
        largest = sorted(data_types, key=lambda members: (-len(members), members[0].type))
        triples = description.describe(
            counts,
            self._iris.base,
            about=self._about,
            address=self._address,
            dumps=dumps,
            examples=(members[0].node for members in largest[: description.EXAMPLES]),
            roots=(domain.node for domain in knowledge.by_type.get(DOMAIN, ())),
        )
        self._write_text("void.ttl", self._turtle(triples))

    def _turtle(self, triples: Iterable[Triple]) -> str:
        return turtle_text(triples, self._prefixes)

    def _write_text(self, path: str, text: str) -> int:
        """Write a file and return its size in bytes."""
        file = self._folder / path
        if file.parent not in self._created_folders:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._created_folders.add(file.parent)
        file.write_bytes(text.encode())
        return self._count(file)

    def _count(self, file: Path) -> int:
        size = file.stat().st_size
        self.files += 1
        self.bytes += size
        return size
