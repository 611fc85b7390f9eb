"""A string stays a string, wherever it is inserted: it changes and reveals nothing else."""

from __future__ import annotations

import functools
import html.parser
import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.interchange.formats import Format, Profile
from kiprdf.rdf.iris import Iris
from tests.cases import each_case
from tests.nexus.support import (
    StoppedClock,
    code,
    element,
    empty,
    facts,
    medical,
    restored,
    untouched,
)
from tests.trust.entry_points import refusal
from tests.trust.payloads import PAYLOADS

each = each_case("text", PAYLOADS.values())
IRIS = Iris("urn:kip:nexus/")
STORE = (
    'UPSERT { CONCEPT { {type: "Drug", name: :name} SET ATTRIBUTES { note: :text, all: :nested } } '
    "WITH METADATA { source: :text } }"
)


def name_of(text: str) -> str:
    """The text as a name, which holds no control characters."""
    return "".join(" " if unicodedata.category(mark) == "Cc" else mark for mark in text)


NAMES = {"Aspirin", *map(name_of, PAYLOADS.values())}


def store(nexus: kiprdf.Nexus, text: str) -> None:
    nexus.execute(STORE, name=name_of(text), text=text, nested={text: [text]})


@pytest.fixture
def nexus() -> kiprdf.Nexus:
    return medical()


@pytest.fixture(scope="module")
def shared() -> kiprdf.Nexus:
    """A nexus that no test of it changes; with all texts as names and values."""
    nexus = medical()
    for text in PAYLOADS.values():
        store(nexus, text)
    return nexus


# Written ------------------------------------------------------------------------------------------


@each
def test_a_name_and_a_value_touch_one_element(text: str, nexus: kiprdf.Nexus) -> None:
    before = facts(nexus)
    store(nexus, text)
    assert before < facts(nexus)
    name = name_of(text)
    assert {line[0] for line in facts(nexus) - before} == {str(IRIS.concept("Drug", name))}
    drug = element(nexus, f"C:Drug/{name}")
    assert (drug["name"], drug["attributes"]) == (name, {"note": text, "all": {text: [text]}})
    assert drug["metadata"]["source"] == text
    nexus.execute('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug", name: :name} }', name=name)
    assert facts(nexus) == before
    assert nexus.check()["index"] == "sound"


@each
def test_a_literal_of_the_command_is_what_a_parameter_is(text: str) -> None:
    one, other = medical(), medical()
    store(one, text)
    literal = json.dumps(text)
    command = STORE.replace(":name", json.dumps(name_of(text))).replace(":text", literal)
    other.execute(command.replace(":nested", f"{{{literal}: [{literal}]}}"))
    assert facts(one) == facts(other)


NAMING = [
    ('UPSERT { CONCEPT { {type: "$ConceptType", name: :text} } }', "KIP_1002"),
    ('UPSERT { CONCEPT { {type: "$PropositionType", name: :text} } }', "KIP_1002"),
    ('UPSERT { CONCEPT { {type: :text, name: "x"} } }', "KIP_2001"),
    ('UPSERT { CONCEPT { {type: "Drug", name: "x"} SET ATTRIBUTES :key } }', "KIP_1002"),
    ('UPSERT { CONCEPT { {type: "Drug", name: "x"} } WITH METADATA :key }', "KIP_1002"),
    ("UPDATE ?d SET ATTRIBUTES :key WHERE { ?d {type: \"Drug\"} }", "KIP_1002"),
    ('FIND(?d) WHERE { ?d {type: :text} }', "KIP_2001"),
    ('FIND(?d) WHERE { ?d {type: "Drug"} } LIMIT 1 CURSOR :text', "KIP_1001"),
    ('FIND(?d) WHERE { ?d {type: "Drug"} } LIMIT :text', "KIP_1001"),
    ('DESCRIBE CONCEPT TYPE :text', "KIP_3002"),
    ('DESCRIBE PROPOSITION TYPE :text', "KIP_3002"),
    ('DESCRIBE CONCEPT TYPES LIMIT 1 CURSOR :text', "KIP_1001"),
    ('SEARCH CONCEPT "aspirin" WITH TYPE :text', "KIP_2001"),
    ('SEARCH CONCEPT "aspirin" MODE :text', "KIP_1001"),
]  # fmt: skip


@each
def test_no_string_is_accepted_as_a_type_a_key_or_a_cursor(text: str, shared: kiprdf.Nexus) -> None:
    with untouched(shared):
        for command, expected in NAMING:
            given: dict[str, Any] = {"key": {text: 1}} if ":key" in command else {"text": text}
            assert (command, code(shared, command, **given)) == (command, expected)


@each
def test_a_predicate_given_as_a_string_is_a_name_or_refused(
    text: str, shared: kiprdf.Nexus
) -> None:
    for command in (
        "FIND(?d) WHERE { (?d, {}, ?x) }",
        "FIND(?d.attributes.{}) WHERE {{ ?d {{}} }}",
    ):
        with untouched(shared):
            assert code(shared, command.replace("{}", json.dumps(text), 1))[:5] in (
                "KIP_1",
                "KIP_2",
            )


# Asked --------------------------------------------------------------------------------------------


@each
def test_a_name_finds_only_its_element(text: str, shared: kiprdf.Nexus) -> None:
    name = name_of(text)
    for matcher in ('{type: "Drug", name: :name}', "{name: :name}"):
        command = f"FIND(?d.name) WHERE {{ ?d {matcher} }}"
        assert shared.execute(command, name=name) == [name]


@each
def test_an_id_finds_its_element_or_nothing(text: str, shared: kiprdf.Nexus) -> None:
    command = "FIND(?d.name) WHERE { ?d {id: :id} }"
    assert shared.execute(command, id=f"C:Drug/{name_of(text)}") == [name_of(text)]
    # One of the texts is an id, and one an IRI, which may stand for it.
    if text in ("C:Drug/Aspirin", "urn:kip:nexus/Drug/Aspirin"):
        assert shared.execute(command, id=text) == ["Aspirin"]
    else:
        assert code(shared, command, id=text) == "KIP_3002"


OPERATORS: dict[str, Callable[[str, str], bool]] = {
    "CONTAINS(?d.name, :text)": lambda name, text: text in name,
    "STARTS_WITH(?d.name, :text)": lambda name, text: name.startswith(text),
    "ENDS_WITH(?d.name, :text)": lambda name, text: name.endswith(text),
    "?d.name == :text": lambda name, text: name == text,
    "IN(?d.name, [:text, 1])": lambda name, text: name == text,
    "!(?d.name != :text)": lambda name, text: name == text,
}


@each
def test_a_condition_compares_the_text(text: str, shared: kiprdf.Nexus) -> None:
    name = name_of(text)
    for condition, holds in OPERATORS.items():
        command = f'FIND(?d.name) WHERE {{ ?d {{type: "Drug"}} FILTER({condition}) }}'
        names = shared.execute(command, text=name)
        assert (condition, set(names)) == (condition, {n for n in NAMES if holds(n, name)})
    command = 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.note == :text) }'
    assert shared.execute(command, text=text) == [name]


@each
def test_a_pattern_is_refused_or_answers_with_names(text: str, shared: kiprdf.Nexus) -> None:
    command = 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(REGEX(?d.name, :text)) }'
    with untouched(shared):
        response = shared.execute_kip({"command": command, "parameters": {"text": text}})
    if "error" in response:
        assert response["error"]["code"] == "KIP_1001"
    else:
        assert set(response["result"]) <= NAMES


FTS = {
    "fts near": {"Aspirin", "Fever"},
    "fts column": {"Aspirin"},
    "fts star": set(),
    "fts start": {"Aspirin"},
    "fts boolean": {"Aspirin", "Fever"},
    "fts quote": {"Aspirin"},
    "sql": set(),
    "sql union": set(),
}  # fmt: skip


@each_case("name", FTS)
def test_a_search_knows_no_syntax(name: str, nexus: kiprdf.Nexus) -> None:
    with untouched(nexus):
        hits = nexus.execute("SEARCH CONCEPT :text", text=PAYLOADS[name])
    medicine = [hit["name"] for hit in hits if hit["type"] in ("Drug", "Symptom")]
    assert FTS[name] <= set(medicine) <= {"Aspirin", "Fever"}
    assert nexus.check()["index"] == "sound"


@each
def test_a_search_finds_the_name(text: str, shared: kiprdf.Nexus) -> None:
    for command in ("SEARCH CONCEPT :text", f"SEARCH CONCEPT {json.dumps(text)}"):
        given = {"text": text} if ":text" in command else {}
        response = shared.execute_kip({"command": command, "parameters": given})
        if "error" in response:
            assert response["error"]["code"] == "KIP_1001"
        else:
            assert name_of(text) in [hit["name"] for hit in response["result"]]
    assert shared.check()["index"] == "sound"


@each
def test_sparql_with_an_inserted_string_writes_nothing(text: str, shared: kiprdf.Nexus) -> None:
    for place in (f'?s ?p "{text}"', f"<{text}> ?p ?o", f"?s ?p ?o FILTER(?o = '{text}')"):
        query = f"SELECT * {{ {place} }} LIMIT 1"
        with untouched(shared):
            error = refusal(functools.partial(shared.sparql, query))
        assert error is None or error.code in ("KIP_1001", "KIP_4002")


# Out and back -------------------------------------------------------------------------------------


@each_case("format, profile", [
        ("turtle", "rdf11"), ("turtle", "rdf12"), ("trig", "rdf11"), ("trig", "rdf12"),
        ("ntriples", "rdf11"), ("ntriples", "rdf12"), ("nquads", "rdf11"), ("nquads", "rdf12"),
        ("jsonld", "rdf11"), ("rdfxml", "rdf11"),
    ])  # fmt: skip
def test_a_snapshot_restores_every_string(
    format: Format, profile: Profile, shared: kiprdf.Nexus
) -> None:
    assert facts(restored(shared, format=format, profile=profile)) == facts(shared)


@each
def test_a_capsule_restores_a_string(text: str) -> None:
    nexus = medical()
    store(nexus, text)
    other = empty()
    other.apply_capsule(nexus.export())
    assert not other.diff(nexus)


@each
def test_an_argument_is_refused_or_does_nothing(text: str, nexus: kiprdf.Nexus) -> None:
    turtle = "<https://e.example/a> <https://e.example/p> 'x' ."
    empty = kiprdf.Nexus.memory(genesis=False)
    calls: list[Any] = [
        lambda: nexus.snapshot(domain=text),
        lambda: nexus.snapshot(select=text),
        lambda: nexus.snapshot(format=text),
        lambda: nexus.snapshot(profile=text),  # type: ignore[arg-type]
        lambda: nexus.snapshot(mapping=text),
        lambda: empty.restore(turtle, base_iri=text),
        lambda: empty.restore(turtle, format=text),  # type: ignore[arg-type]
        lambda: nexus.import_rdf(turtle, default_type=text, define=True),
        lambda: nexus.import_rdf(turtle, mapping=text),
        lambda: nexus.import_rdf(turtle, format=text),  # type: ignore[arg-type]
        lambda: nexus.import_rdf(turtle, metadata={text: 1}, default_type="T", define=True),
        lambda: nexus.export(text),
        lambda: kiprdf.Nexus.memory(text),
    ]
    with untouched(nexus):
        for number, call in enumerate(calls):
            with pytest.raises((kiprdf.KipError, kiprdf.StoreError, OSError)) as raised:
                call()
            assert getattr(raised.value, "code", None) != "KIP_4003", (number, raised.value)


# Files --------------------------------------------------------------------------------------------


def listing(folder: Path) -> dict[str, bytes | str]:
    """Everything below a folder: the content of its files, the kinds of all else."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else "folder"
        for path in sorted(folder.rglob("*"))
    }


class _Tags(html.parser.HTMLParser):
    """The elements of a page that run something or fetch it."""

    def __init__(self) -> None:
        super().__init__()
        self.dangerous: list[str] = []
        self._in_script = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if any(name.startswith("on") for name in given) or tag in ("img", "x", "iframe"):
            self.dangerous.append(tag)
        if (given.get("href") or given.get("src") or "").lower().startswith(("javascript:", "//")):
            self.dangerous.append(tag)
        self._in_script = tag == "script"

    def handle_data(self, data: str) -> None:
        # The pages have a script of their own.
        if self._in_script and "alert" in data:
            self.dangerous.append(data)


def test_pages_stay_in_their_folder_and_strings_are_escaped(
    shared: kiprdf.Nexus, tmp_path: Path
) -> None:
    sandbox = tmp_path / "a" / "b" / "sandbox"
    sandbox.mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("secret")
    before = listing(tmp_path)
    title = PAYLOADS["html end of script"]
    shared.publish(sandbox / "pages", title=title, address="https://kb.example/")
    after = listing(tmp_path)
    inside = str(Path("a") / "b" / "sandbox" / "pages")
    assert {
        path: content for path, content in after.items() if not path.startswith(inside)
    } == before
    assert not [path for path in sandbox.rglob("*") if path.is_symlink()]
    for page in (sandbox / "pages").rglob("*.html"):
        tags = _Tags()
        tags.feed(page.read_text("utf-8"))
        assert tags.dangerous == [], page


FETCHING = {
    "an entity": ("rdfxml", '<!DOCTYPE x [<!ENTITY e SYSTEM "{}">]><rdf:RDF '
                  'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:u="urn:u">'
                  '<rdf:Description rdf:about="urn:s"><u:p>&e;</u:p></rdf:Description></rdf:RDF>'),
    "a doctype": ("rdfxml", '<!DOCTYPE rdf:RDF SYSTEM "{}"><rdf:RDF '
                  'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>'),
    "a context": ("jsonld", '{{"@context": "{}", "@id": "urn:s", "name": "x"}}'),
    "an imported context": ("jsonld", '{{"@context": {{"@import": "{}"}}, "@id": "urn:s"}}'),
    "a scoped context": ("jsonld", '{{"@context": {{"t": {{"@id": "urn:t", "@context": "{}"}}}}, '
                         '"@id": "urn:s", "t": {{"name": "x"}}}}'),
}  # fmt: skip


def imported(nexus: kiprdf.Nexus, document: str, format: Any) -> None:
    nexus.import_rdf(document, format=format, define=True, default_type="T")


@pytest.mark.parametrize("name", FETCHING)
def test_a_document_fetches_no_file(name: str, nexus: kiprdf.Nexus, tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('{"@context": {"name": "urn:secret"}}')
    format, document = FETCHING[name]
    before = listing(tmp_path)
    nexus_before = facts(nexus)
    for address in (secret.as_uri(), str(secret)):
        given = document.format(address)
        error = refusal(functools.partial(imported, nexus, given, format))
        assert error is None or error.code in ("KIP_1001", "KIP_4002")
        assert "urn:secret" not in str(error)
    assert not [line for line in facts(nexus) - nexus_before if "secret" in "".join(line)]
    assert listing(tmp_path) == before


def test_a_nexus_on_disk_writes_in_its_folder_alone(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    before = listing(tmp_path)
    with kiprdf.Nexus.open(tmp_path / "kb", clock=StoppedClock()) as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Drug"} } }')
        for text in PAYLOADS.values():
            store(nexus, text)
            nexus.execute("SEARCH CONCEPT :text", text=f"{text} x")
        assert nexus.check()["faults"] == []
    after = listing(tmp_path)
    assert {path: content for path, content in after.items() if not path.startswith("kb")} == before
