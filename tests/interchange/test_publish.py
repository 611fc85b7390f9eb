"""A published folder: pages with valid links, escaped text, and files that match IRIs."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyoxigraph
import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import RdfFormat

import kiprdf
from kiprdf import Mapping
from kiprdf.errors import StoreError
from kiprdf.pages import elements
from kiprdf.pages import publish as module
from kiprdf.pages.page import ASSETS, LONGEST, TEMPLATES, Paths, file_name, href, render
from kiprdf.pages.publish import MARKER, Facts
from kiprdf.rdf.iris import encode
from tests.interchange.nexuses import (
    HOSTILE_NAMES,
    colliding,
    demonstration,
    hostile,
    small,
    thousands,
)
from tests.long_runs import amount
from tests.nexus.support import StoppedClock, empty, medical, restored_from

VOID_ELEMENTS = {"meta", "link", "br", "hr", "input"}
LOADING = {"src", "srcset", "poster", "data", "action", "formaction", "background"}
BREAKING = [
    "<script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "&lt;b&gt;&amp;",
    "]]><!-- -->",
    "javascript:alert(1)",
    "https://example.org/\"onclick='x'",
    "\u202eevil\u202d",
    "שלום עולם",
    "\u200d",
    "a" * 1024,
    "</script><script>alert(1)</script>",
]


@dataclass
class Tag:
    name: str
    attributes: dict[str, str]


class Reader(HTMLParser):
    """A page as a parser sees it; wrongly nested elements are faults."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[Tag] = []
        self.texts: list[str] = []
        self.faults: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        self.faults += [f"{name} is not closed" for name in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(Tag(tag, {key: value or "" for key, value in attrs}))
        if tag not in VOID_ELEMENTS:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def values(self, tag: str, attribute: str) -> list[str]:
        return [
            t.attributes[attribute] for t in self.tags if t.name == tag if attribute in t.attributes
        ]

    @property
    def text(self) -> str:
        return "".join(self.texts)


@dataclass
class Crawl:
    """All pages that a reader gets to from the start page, and what is wrong on the way."""

    folder: Path
    pages: dict[Path, Reader] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        pending = [self.folder / "index.html"]
        while pending:
            path = pending.pop()
            if path not in self.pages:
                page = self.pages[path] = Reader(path.read_text("utf-8"))
                self.faults += [f"{path}: {fault}" for fault in page.faults]
                pending += self._targets(path, page)

    def _targets(self, path: Path, page: Reader) -> list[Path]:
        targets = []
        for tag in page.tags:
            for key, value in tag.attributes.items():
                if key in LOADING or (key == "href" and tag.name != "a"):
                    self._local(path, value)
                elif key == "href" and (target := self._target(path, value)) is not None:
                    targets.append(target)
        return [target for target in targets if target.suffix == ".html"]

    def _local(self, path: Path, value: str) -> None:
        """What a browser would load is a file of the folder."""
        if urlsplit(value).scheme or value.startswith("//"):
            self.faults.append(f"{path} loads {value}")
        else:
            self._target(path, value)

    def _target(self, path: Path, value: str) -> Path | None:
        parts = urlsplit(value)
        if parts.scheme:
            if parts.scheme not in ("http", "https"):
                self.faults.append(f"{path} links to {value}")
            return None
        target = Path(os.path.normpath(path.parent / unquote(parts.path))) if parts.path else path
        if not target.is_file() or self.folder not in target.parents:
            self.faults.append(f"{path} links to {value}, which is nothing here")
            return None
        if parts.fragment and f'id="{parts.fragment}"' not in target.read_text("utf-8"):
            self.faults.append(f"{path} links to {value}, which has no such place")
        return target


@cache
def breaking() -> kiprdf.Nexus:
    """Texts that would break out of a page, as names, values, keys of objects, descriptions."""
    nexus = kiprdf.Nexus.memory("https://data.example.org/kb/", clock=StoppedClock())
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Thing"} SET ATTRIBUTES :attributes } '
        'CONCEPT { {type: "$PropositionType", name: "near"} SET ATTRIBUTES :attributes } '
        'CONCEPT { {type: "Domain", name: :name} SET ATTRIBUTES :attributes } }',
        name=BREAKING[0],
        attributes={
            "description": BREAKING[0],
            "display_hint": "<b>",
            "instance_schema": {"<i>": {"type": "<u>", "description": BREAKING[2]}},
            "key_instances": BREAKING[:3],
            "subject_types": [BREAKING[0]],
            "object_types": [BREAKING[2]],
        },
    )
    for number, text in enumerate(BREAKING):
        nexus.execute(
            'UPSERT { CONCEPT { {type: "Thing", name: :name} SET ATTRIBUTES { description: :text, '
            "aliases: :list, object: :object, tagged: :tagged } SET PROPOSITIONS { "
            '("belongs_to_domain", {type: "Domain", name: :domain}) } } '
            "WITH METADATA { source: :text, author: :text } }",
            name=text,
            text=text,
            list=[text, [text]],
            object={text: text},
            tagged={"@value": text, "@language": "en", "@direction": "rtl"},
            domain=BREAKING[0],
        )
        if number:
            nexus.execute(
                'UPSERT { PROPOSITION { ({type: "Thing", name: :one}, "near", {type: "Thing", '
                "name: :other}) SET ATTRIBUTES { note: :one } } }",
                one=text,
                other=BREAKING[number - 1],
            )
    return nexus


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


Site = Callable[..., Path]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The folder that a nexus is published in, once; tests only read it."""

    @cache
    def published(make: Callable[[], kiprdf.Nexus], facts: Facts | None = None) -> Path:
        folder = tmp_path_factory.mktemp("published") / "site"
        make().publish(folder, facts=facts, title=BREAKING[1] if make is breaking else None)
        return folder

    return published


# Pages ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make", [small, demonstration, hostile, colliding, breaking, lambda: thousands(200)]
)
def test_every_link_leads_somewhere_and_every_page_is_html(
    make: Callable[[], kiprdf.Nexus], site: Site
) -> None:
    nexus, folder = make(), site(make)
    crawl = Crawl(folder)
    assert crawl.faults == []
    pages = set(folder.rglob("*.html"))
    assert len(pages) == nexus.info()["concepts"] + nexus.info()["propositions"] + 2
    assert set(crawl.pages) == pages


@pytest.mark.parametrize("make", [demonstration, hostile, colliding, breaking])
def test_inline_facts_are_at_an_id_on_the_page_of_a_concept(
    make: Callable[[], kiprdf.Nexus], site: Site
) -> None:
    nexus = make()
    counts, folder = nexus.info(), site(make, "inline")
    crawl = Crawl(folder)
    assert crawl.faults == []
    pages = set(folder.rglob("*.html"))
    assert len(pages) == counts["concepts"] + 2
    assert set(crawl.pages) == pages
    ids = [tag.attributes.get("id", "") for page in crawl.pages.values() for tag in page.tags]
    facts = nexus.execute("FIND(?f.id) WHERE { ?f (?s, ?p, ?o) }")
    assert sorted(id for id in ids if id.startswith("P:")) == sorted(facts)


def test_an_inline_fact_shows_what_its_page_would(site: Site) -> None:
    folder = site(demonstration, "inline")
    aspirin = (folder / "Drug" / "Aspirin.html").read_text("utf-8")
    page = Reader(aspirin)
    assert "onset minutes" in page.text
    assert "../Drug/index.ttl" in page.values("link", "href")
    assert page.text.rstrip().endswith("Every type also has a Turtle file.")
    about = [link for link in page.values("a", "href") if ".html#P:" in link]
    assert any("John%20Doe.html#P:" in link for link in about)


def test_the_turtle_of_a_type_has_its_concepts_and_their_facts(tmp_path: Path) -> None:
    medical().publish(tmp_path, facts="inline")
    drugs = rdflib.Graph().parse(tmp_path / "Drug" / "index.ttl")
    aspirin = rdflib.URIRef("urn:kip:nexus/Drug/Aspirin")
    assert drugs.value(aspirin, rdflib.URIRef("urn:kip:attribute/risk")) == rdflib.Literal(2)
    assert len(list(drugs.subjects(rdflib.RDF.type, rdflib.RDF.Statement))) == 2
    users = rdflib.Graph().parse(tmp_path / "User" / "index.ttl")
    (claim,) = users.subjects(rdflib.RDF.type, rdflib.RDF.Statement)
    assert users.value(claim, rdflib.RDF.subject) == rdflib.URIRef("urn:kip:nexus/User/Ann")


def test_above_a_thousand_facts_they_are_inline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert module.MOST_FACT_PAGES == 1_000
    monkeypatch.setattr(module, "MOST_FACT_PAGES", 100)
    nexus = thousands(101)
    report = nexus.publish(tmp_path / "site")
    assert not (tmp_path / "site" / "$proposition").exists()
    counts = nexus.info()
    assert report.files < counts["concepts"] + 40
    assert report.elements == counts["concepts"] + counts["propositions"]


def test_texts_stay_texts(site: Site) -> None:
    folder = site(breaking)
    assert BREAKING[1] in Reader((folder / "index.html").read_text("utf-8")).text
    for path in folder.rglob("*.html"):
        page = Reader(path.read_text("utf-8"))
        scripts = [tag for tag in page.tags if tag.name == "script"]
        assert len(scripts) == (path.name == "index.html"), path
        assert not [
            tag for tag in page.tags if tag.name in ("img", "b", "u", "i") and tag.attributes
        ]
        handlers = [key for tag in page.tags for key in tag.attributes if key.startswith("on")]
        assert handlers == [], path
        assert all(not link.startswith("javascript:") for link in page.values("a", "href"))


@pytest.mark.parametrize(
    "text", [text for text in BREAKING if len(text) < 100 and text != "\u200d"]
)
def test_a_hostile_name_is_the_heading_of_its_page(text: str, site: Site) -> None:
    nexus, folder = breaking(), site(breaking)
    path = Paths.of(nexus.base_iri, [nexus.store.iris.concept("Thing", text).value])
    (name,) = path.by_iri.values()
    page = Reader((folder / f"{name}.html").read_text("utf-8"))
    assert text in page.text
    assert f"C:Thing/{text}" in page.text


def test_an_invisible_name_is_shown_by_its_code_points(site: Site) -> None:
    folder = site(breaking)
    page = Reader((folder / "$ConceptType" / "Thing.html").read_text("utf-8"))
    assert "U+200D" in page.text


def test_pages_ask_for_nothing_from_elsewhere(site: Site) -> None:
    folder = site(demonstration)
    for path in folder.rglob("*.html"):
        metas = [
            tag.attributes for tag in Reader(path.read_text("utf-8")).tags if tag.name == "meta"
        ]
        (policy,) = [one["content"] for one in metas if "http-equiv" in one]
        assert policy.startswith("default-src 'none'; script-src '"), path
    style = (folder / "style.css").read_text("utf-8")
    assert "url(" not in style
    assert "@import" not in style


def test_a_page_shows_attributes_metadata_and_facts_both_ways(site: Site) -> None:
    folder = site(demonstration)
    page = Reader((folder / "Drug" / "Aspirin.html").read_text("utf-8"))
    for shown in ("Acetylsalicylic acid", "アスピリン", "C9H8O4", "Demo:MedicalCapsule", "0.9"):
        assert shown in page.text
    links = page.values("a", "href")
    assert "../Symptom/Headache.html" in links
    assert "../Drug/Naproxen.html" in links
    assert "Facts that refer to it" in page.text
    assert "1 fact about it" in page.text


def test_the_page_of_a_fact_shows_the_facts_about_it(site: Site) -> None:
    nexus, folder = demonstration(), site(demonstration)
    (fact,) = nexus.execute(
        'FIND(?l.id) WHERE { ?l ({type: "Drug", name: "Aspirin"}, "treats", '
        '{type: "Symptom", name: "Headache"}) }'
    )
    digits = fact.split(":")[1]
    page = Reader((folder / "$proposition" / digits / "treats.html").read_text("utf-8"))
    assert "Aspirin treats Headache" in page.text
    assert "Facts about this fact" in page.text
    assert "John Doe" in page.text
    assert "onset minutes" in page.text


def test_the_start_page_shows_domains_types_and_counts(site: Site) -> None:
    page = Reader((site(demonstration) / "index.html").read_text("utf-8"))
    for shown in ("53 concepts", "165 facts", "Medical", "43 members", "nexus.ttl"):
        assert shown in page.text


def test_the_vocabulary_page_shows_types_predicates_and_terms(site: Site) -> None:
    folder = site(demonstration)
    text = Reader((folder / "vocabulary.html").read_text("utf-8")).text
    for shown in ("half_life_hours", "Drug treats Symptom", "symmetric", "urn:kip:vocab/null"):
        assert shown in text


def test_long_lists_are_cut_on_the_page_and_whole_in_the_turtle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elements, "MOST_ROWS", 50)
    nexus = empty()
    members = " ".join(
        f'CONCEPT {{ {{type: "T", name: "{number}"}} SET PROPOSITIONS {{ ("p", ?hub) }} }}'
        for number in range(60)
    )
    nexus.apply_capsule(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "T"} } CONCEPT { {type: '
        '"$PropositionType", name: "p"} } CONCEPT ?hub { {type: "T", name: "hub"} } '
        f"{members} }}"
    )
    folder = tmp_path / "site"
    nexus.publish(folder)
    assert "10 more are in the downloads" in (folder / "T" / "hub.html").read_text("utf-8")
    turtle = rdflib.Graph().parse(folder / "T" / "hub.ttl")
    hub = rdflib.URIRef("urn:kip:nexus/T/hub")
    assert len(list(turtle.subjects(rdflib.URIRef("urn:kip:nexus/$PropositionType/p"), hub))) == 60


def test_the_search_knows_every_concept(site: Site) -> None:
    folder = site(breaking)
    text = (folder / "names.js").read_text("utf-8")
    assert text.isascii()
    assert "<" not in text
    rows = json.loads(text.removeprefix("kiprdfNames(").removesuffix(");\n"))
    assert {row[0] for row in rows} >= set(BREAKING)
    assert all((folder / row[3]).is_file() for row in rows)


# Files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [small, demonstration, hostile, colliding, breaking])
def test_every_turtle_file_is_read_by_rdflib_and_pyoxigraph(
    make: Callable[[], kiprdf.Nexus], site: Site
) -> None:
    folder = site(make)
    for path in folder.rglob("*.ttl"):
        quads = list(pyoxigraph.parse(path.read_bytes(), format=RdfFormat.TURTLE))
        assert quads, path
        if path.name != "nexus.rdf12.ttl":
            assert len(rdflib.Graph().parse(path, format="turtle")) == len(set(quads)), path


def test_the_turtle_of_an_element_has_its_triples_the_facts_there_and_its_provenance(
    site: Site,
) -> None:
    folder = site(demonstration)
    graph = rdflib.Graph().parse(folder / "Drug" / "Aspirin.ttl")
    whole = rdflib.Graph().parse(folder / "nexus.ttl")
    aspirin = rdflib.URIRef("urn:kip:nexus/Drug/Aspirin")
    predicates = "urn:kip:nexus/$PropositionType/"
    assert set(whole.triples((aspirin, None, None))) <= set(graph)
    to_it = {t for t in whole.triples((None, None, aspirin)) if t[1].startswith(predicates)}
    assert to_it
    assert to_it <= set(graph)
    assert (aspirin, rdflib.SKOS.prefLabel, rdflib.Literal("Aspirin")) in graph


def test_the_dumps_hold_the_dataset(site: Site) -> None:
    nexus, folder = demonstration(), site(demonstration)
    for name in ("nexus.ttl", "nexus.rdf12.ttl"):
        assert restored_from(folder / name).snapshot() == nexus.snapshot(), name
    turtle = rdflib.Graph().parse(folder / "nexus.ttl")
    assert set(rdflib.Graph().parse(folder / "nexus.nt")) == set(turtle)
    assert len(rdflib.Graph().parse(folder / "nexus.jsonld")) == len(turtle)


def test_with_a_mapping_the_files_speak_its_words(tmp_path: Path) -> None:
    mapping = Mapping.load(
        {
            "@context": {
                "schema": "https://schema.org/",
                "Drug": "schema:Drug",
                "treats": "schema:cures",
            }
        }
    )
    folder = tmp_path / "site"
    demonstration().publish(folder, mapping=mapping)
    aspirin = rdflib.URIRef("urn:kip:nexus/Drug/Aspirin")
    schema = rdflib.Namespace("https://schema.org/")
    for name in ("nexus.ttl", "Drug/Aspirin.ttl"):
        graph = rdflib.Graph().parse(folder / name)
        assert (aspirin, rdflib.RDF.type, schema.Drug) in graph, name
        assert len(list(graph.objects(aspirin, schema.cures))) == 3, name
    void = (folder / "void.ttl").read_text("utf-8")
    assert "schema:Drug" in void
    page = (folder / "$ConceptType" / "Drug.html").read_text("utf-8")
    assert "https://schema.org/Drug" in page


def test_the_same_nexus_is_the_same_folder(tmp_path: Path, site: Site) -> None:
    demonstration().publish(tmp_path / "again")
    assert files_of(tmp_path / "again") == files_of(site(demonstration))


def test_the_report_counts_what_was_written(tmp_path: Path) -> None:
    nexus = small()
    steps: list[int] = []
    report = nexus.publish(tmp_path / "site", advance=steps.append)
    files = files_of(tmp_path / "site")
    assert report.files == len(files)
    assert report.bytes == sum(map(len, files.values()))
    assert sum(steps) == report.elements == nexus.info()["concepts"] + nexus.info()["propositions"]


# Names of files -------------------------------------------------------------------------------

PLAIN = re.compile(r'[^<>:"/\\|?*~\x00-\x1f]+')
DEVICES = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(10))}


def is_harmless(name: str) -> bool:
    """A name that Windows, macOS and Linux take, and that leads nowhere else."""
    stem = name.partition("~")[0]
    return (
        PLAIN.fullmatch(stem) is not None
        and name.split(".")[0].casefold() not in DEVICES
        and name[0] not in ". "
        and name[-1] not in ". "
        and len(name.encode()) <= LONGEST
    )


@pytest.mark.parametrize(
    "name", [*HOSTILE_NAMES, "..", ".", "NUL", "con.x", "Com1", "x ", " x", "a%2"]
)
def test_any_name_becomes_one_that_every_file_system_takes(name: str) -> None:
    assert is_harmless(file_name(encode(name)))


@settings(max_examples=amount("EXAMPLES", 20))
@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=12, unique=True))
def test_different_names_get_different_files_and_a_server_finds_plain_ones(
    names: list[str],
) -> None:
    segments = [encode(name.encode(errors="replace").decode()) for name in names]
    paths = Paths.of("urn:x/", [f"urn:x/T/{segment}" for segment in segments]).by_iri
    assert all(is_harmless(path.removeprefix("T/")) for path in paths.values())
    folded = {path.casefold() for path in paths.values()}
    assert len(folded) == len(set(segments))
    for iri, path in paths.items():
        if "%" not in path and "~" not in path:
            assert unquote(iri.removeprefix("urn:x/")) == path
        assert unquote(href(path)) == path


def test_names_that_differ_in_case_or_composition_get_different_files() -> None:
    names = ["NSAID", "nsaid", "Nsaid", "é", "e\u0301", "ſ", "s", "S"]
    paths = Paths.of("urn:x/", [f"urn:x/T/{encode(name)}" for name in names]).by_iri
    plain = sorted(path for path in paths.values() if "~" not in path)
    assert plain == ["T/NSAID", "T/S", "T/e\u0301"]
    assert len({path.casefold() for path in paths.values()}) == len(names)


def test_types_that_differ_in_case_only_get_folders_of_their_own() -> None:
    paths = Paths.of("urn:x/", ["urn:x/Drug/A", "urn:x/drug/A", "urn:x/drug/B"]).by_iri
    folders = {path.split("/")[0] for path in paths.values()}
    assert len({folder.casefold() for folder in folders}) == 2


# Markup ---------------------------------------------------------------------------------------


@given(st.text(max_size=30))
def test_a_text_is_read_back_unchanged_from_html(text: str) -> None:
    page = Reader(render("explorer/login.html", message=f"({text})", target=text, style=""))
    visible = "".join(picture(one) for one in text)
    assert f"({visible})" in page.text
    assert page.values("input", "value") == ["kiprdf", visible]
    assert page.faults == []


def picture(character: str) -> str:
    """What a page shows for a character; HTML has no control characters."""
    code = ord(character)
    if code < 0x20 and character not in "\t\n":
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else "\ufffd" if 0x80 <= code < 0xA0 else character


def test_templates_escape_everything_but_our_own_script_and_style() -> None:
    texts = {path.name: path.read_text("utf-8") for path in TEMPLATES.rglob("*.html")}
    unescaped = {name for name, text in texts.items() if re.search(r"\bsafe\b|autoescape", text)}
    assert unescaped == {"index.html", "plain.html"}
    assert "</" not in (ASSETS / "search.js").read_text("utf-8")
    assert "</" not in (ASSETS / "login.css").read_text("utf-8")
    # An attribute without quotes would end at a space of its value.
    unquoted = [name for name, text in texts.items() if re.search(r"=\s*\{\{", text)]
    assert unquoted == []


# The folder -----------------------------------------------------------------------------------


def test_a_folder_that_was_published_is_replaced(tmp_path: Path, site: Site) -> None:
    folder = tmp_path / "site"
    shutil.copytree(site(demonstration), folder)
    small().publish(folder)
    assert files_of(folder) == files_of(site(small))
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_an_empty_folder_is_accepted(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    small().publish(folder)
    assert (folder / "index.html").is_file()


def test_a_folder_with_other_files_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(StoreError, match=r"letter\.txt"):
        small().publish(tmp_path)
    assert files_of(tmp_path) == {"letter.txt": b"mine"}


@pytest.mark.parametrize("path", ["CNAME", "Drug/notes.txt", "own/deep/page.html"])
def test_a_published_folder_with_a_foreign_file_is_refused(path: str, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    small().publish(folder)
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text("mine")
    before = files_of(folder)
    with pytest.raises(StoreError, match=f"contains '{path}', which was not published"):
        small().publish(folder)
    assert files_of(folder) == before


def test_a_foreign_symbolic_link_is_refused_and_its_target_is_unchanged(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "letter.txt").write_text("mine")
    folder = tmp_path / "site"
    small().publish(folder)
    (folder / "Drug" / "more").symlink_to(tmp_path / "own")
    with pytest.raises(StoreError, match="Drug/more"):
        small().publish(folder)
    assert (tmp_path / "own" / "letter.txt").read_text() == "mine"


def test_the_folder_of_a_nexus_is_refused(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus, pytest.raises(StoreError):
        nexus.publish(tmp_path / "kb")


@pytest.mark.parametrize(
    "address",
    [
        *("", "kb", "https://a b/", "//example.org", "urn:kip:nexus/", "javascript:alert(1)//"),
        *("https://example.org/kb#part", "https://example.org/kb?page=", "https://x/\ud800", 5),
    ],
)
def test_an_address_is_an_absolute_iri_of_a_place(address: object, tmp_path: Path) -> None:
    with pytest.raises(kiprdf.KipError, match="KIP_1001"):
        small().publish(tmp_path / "site", address=address)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_an_address_is_where_the_files_stand(tmp_path: Path) -> None:
    small().publish(tmp_path / "site", address="https://example.com/copy")
    void = rdflib.Graph().parse(tmp_path / "site" / "void.ttl")
    dataset = rdflib.URIRef("https://example.com/copy/void.ttl#dataset")
    dumps = {str(file) for file in void.objects(dataset, rdflib.VOID.dataDump)}
    names = ("nexus.ttl", "nexus.nt", "nexus.jsonld")
    assert dumps == {f"https://example.com/copy/{name}" for name in names}


def test_a_path_with_a_nul_is_no_folder() -> None:
    with pytest.raises(StoreError, match="NUL"):
        small().publish("a\0b")


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "site").write_text("x")
    with pytest.raises(StoreError, match="is a file"):
        small().publish(tmp_path / "site")


@pytest.mark.parametrize("marker", ["", "[]", "{", '{"published": 3}', '{"published": ["x", 4]}'])
def test_a_broken_marker_makes_no_folder_ours(marker: str, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    small().publish(folder)
    (folder / MARKER).write_text(marker)
    with pytest.raises(StoreError):
        small().publish(folder)


def test_what_fails_half_way_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site"
    small().publish(folder)
    before = files_of(folder)

    def fail(*arguments: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "element_page", fail)
    with pytest.raises(OSError, match="No space left"):
        demonstration().publish(folder)
    assert files_of(folder) == before
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_an_interruption_leaves_nothing(tmp_path: Path) -> None:
    def interrupt(number: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        small().publish(tmp_path / "site", advance=interrupt)
    assert list(tmp_path.iterdir()) == []
