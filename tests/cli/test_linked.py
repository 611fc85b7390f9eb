"""The commands that meet the rest of the web of data, run in this process."""

from __future__ import annotations

import json
from pathlib import Path

import pyoxigraph
import pytest
import rdflib

from kiprdf.interchange.differences import patch
from kiprdf.nexus import Nexus

from .conftest import Invoke

PEOPLE = """\
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix : <https://example.org/people#> .
:ada a foaf:Person ; foaf:name "Ada Lovelace" ; foaf:knows :charles .
:charles a foaf:Person ; foaf:name "Charles Babbage" ; foaf:age 41 .
"""
RIVERS = """\
@prefix : <https://example.org/water#> .
:inn a :River ; :flows :danube .
:danube a :River .
"""
SCHEMA = "https://schema.org/"


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.ttl"
    path.write_text(PEOPLE, "utf-8")
    return path


# snapshot, restore ----------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["ttl", "trig", "nt", "nq", "jsonld", "rdf"])
@pytest.mark.parametrize("words", [(), ("--mapping", "schema-org", "--mapping", "foaf")])
def test_a_snapshot_in_any_format_restores(
    loaded: Invoke, suffix: str, words: tuple[str, ...]
) -> None:
    assert loaded("snapshot", f"a.{suffix}", *words).exit_code == 0
    assert loaded("restore", f"a.{suffix}", "--nexus", "copy", *words).exit_code == 0
    assert loaded("snapshot", "--nexus", "copy").stdout == loaded("snapshot").stdout


def test_the_format_wins_over_the_suffix(loaded: Invoke, tmp_path: Path) -> None:
    answer = loaded("snapshot", "a.ttl", "--format", "ntriples")
    content = (tmp_path / "a.ttl").read_bytes()
    triples = list(pyoxigraph.parse(content, format=pyoxigraph.RdfFormat.N_TRIPLES))
    assert answer.stderr == f"Wrote a.ttl, {len(triples)} triples.\n"
    again = loaded("restore", "a.ttl", "--format", "ntriples", "--nexus", "copy")
    assert again.exit_code == 0


def test_a_snapshot_speaks_the_words_of_a_mapping(loaded: Invoke, tmp_path: Path) -> None:
    (tmp_path / "mine.jsonld").write_text(json.dumps({"@context": {"Drug": SCHEMA + "Drug"}}))
    graph = rdflib.Graph().parse(data=loaded("snapshot", "--mapping", "mine.jsonld").stdout)
    drugs = graph.subjects(rdflib.RDF.type, rdflib.URIRef(SCHEMA + "Drug"))
    assert {str(graph.value(drug, rdflib.RDFS.label)) for drug in drugs} == {"Aspirin", "阿司匹林"}


def test_a_part_is_selected(loaded: Invoke) -> None:
    part = loaded("snapshot", "--select", 'EXPORT ?s WHERE { ?s {type: "Symptom"} }').stdout
    assert "Symptom:Headache" in part
    assert "Aspirin" not in part


def test_a_part_is_a_domain(loaded: Invoke) -> None:
    assert "Domain:CoreSchema" in loaded("snapshot", "--domain", "CoreSchema").stdout


def test_a_snapshot_that_fails_leaves_the_old_one(loaded: Invoke, tmp_path: Path) -> None:
    (tmp_path / "a.rdf").write_text("old", "utf-8")
    assert loaded("snapshot", "a.rdf", "--profile", "rdf12").exit_code == 1
    assert (tmp_path / "a.rdf").read_text("utf-8") == "old"
    assert not list(tmp_path.glob("*.partial"))


# import ---------------------------------------------------------------------------------------


def test_people_are_imported_asked_for_and_taken_along(
    invoke: Invoke, people: Path, tmp_path: Path
) -> None:
    answer = invoke("import", "people.ttl", "--mapping", "foaf")
    assert answer.stdout == (
        "people.ttl: 6 triples\n"
        "  concepts: 2 created, 0 updated, 0 unchanged\n"
        "  propositions: 1 created, 0 updated, 0 unchanged\n"
    )
    query = 'FIND(?o.name) WHERE { ({type: "Person", name: "Ada Lovelace"}, "knows", ?o) }'
    assert invoke("run", query, "--json").stdout == '{"result": ["Charles Babbage"]}\n'
    invoke("snapshot", "people.jsonld", "--mapping", "schema-org")
    nodes = json.loads((tmp_path / "people.jsonld").read_text("utf-8"))["@graph"]
    ada = [node for node in nodes if node["@type"] == "Person" and "knows" in node]
    assert [node["name"] for node in ada] == ["Ada Lovelace"]


def test_importing_again_updates(invoke: Invoke, people: Path) -> None:
    invoke("import", "people.ttl", "--mapping", "foaf")
    again = invoke("import", "people.ttl", "--mapping", "foaf").stdout
    assert "concepts: 0 created, 0 updated, 2 unchanged" in again
    people.write_text(people.read_text().replace("Ada Lovelace", "Ada"))
    again = invoke("import", "people.ttl", "--mapping", "foaf").stdout
    assert "concepts: 0 created, 1 updated, 1 unchanged" in again


def test_the_report_is_json_on_demand(invoke: Invoke, people: Path) -> None:
    command = ("import", "people.ttl", "-m", "foaf", "--json")
    report = json.loads(invoke(*command).stdout)
    assert (report["file"], report["triples"]) == ("people.ttl", 6)
    assert report["concepts"] == {"created": 2, "updated": 0, "unchanged": 0}


def test_a_dry_run_writes_nothing(loaded: Invoke, people: Path) -> None:
    before = loaded("snapshot").stdout
    answer = loaded("import", "people.ttl", "-m", "foaf", "--dry-run")
    assert "2 created" in answer.stdout
    assert answer.stderr == "Dry run: nothing was written.\n"
    assert loaded("snapshot").stdout == before


def test_a_dry_run_makes_no_nexus(invoke: Invoke, people: Path, tmp_path: Path) -> None:
    assert invoke("import", "people.ttl", "-m", "foaf", "--dry-run").exit_code == 0
    assert list(tmp_path.iterdir()) == [people]


def test_a_dry_run_works_beside_a_writer(loaded: Invoke, people: Path, tmp_path: Path) -> None:
    with Nexus.open(tmp_path / "nexus"):
        answer = loaded("import", "people.ttl", "-m", "foaf", "--dry-run")
    assert (answer.exit_code, "2 created" in answer.stdout) == (0, True)


def test_what_is_missing_is_reported_and_nothing_written(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "rivers.ttl").write_text(RIVERS, "utf-8")
    answer = invoke("import", "rivers.ttl")
    assert answer.exit_code == 1
    assert answer.stderr.startswith(
        "KIP_2001 rivers.ttl: The data need definitions that are missing: "
    )
    assert not (tmp_path / "nexus").exists()


def test_what_is_missing_is_defined_on_demand(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "rivers.ttl").write_text(RIVERS, "utf-8")
    assert invoke("import", "rivers.ttl", "--define").stdout == (
        "rivers.ttl: 3 triples\n"
        "  concepts: 2 created, 0 updated, 0 unchanged\n"
        "  propositions: 1 created, 0 updated, 0 unchanged\n"
        "  concept types defined: River\n"
        "  predicates defined: flows\n"
    )


def test_the_first_of_what_is_skipped_is_listed(invoke: Invoke, tmp_path: Path) -> None:
    lines = "".join(f"<urn:x:{n}> <urn:p> {n} .\n" for n in range(7))
    (tmp_path / "odd.ttl").write_text(lines, "utf-8")
    shown = invoke("import", "odd.ttl").stdout.splitlines()
    number = "^^<http://www.w3.org/2001/XMLSchema#integer>"
    assert shown[1:] == [
        "  nothing to write",
        "  skipped: 7",
        "    7: its subject has no type, and no default type is given",
        f'      <urn:x:0> <urn:p> "0"{number} .',
        f'      <urn:x:1> <urn:p> "1"{number} .',
        f'      <urn:x:2> <urn:p> "2"{number} .',
        "      … 4 more; use --json to see all",
    ]
    report = json.loads(invoke("import", "odd.ttl", "--json").stdout)
    assert len(report["skipped"]) == 7


def test_files_are_imported_one_by_one_until_one_fails(
    invoke: Invoke, people: Path, tmp_path: Path
) -> None:
    (tmp_path / "broken.ttl").write_text("@prefix : <urn:x:> .\n:a :b ", "utf-8")
    answer = invoke("import", "people.ttl", "broken.ttl", "-m", "foaf")
    assert answer.exit_code == 1
    assert answer.stdout.startswith("people.ttl: 6 triples\n")
    assert answer.stderr.startswith("KIP_1001 2:")
    assert " broken.ttl: The text is not valid Turtle" in answer.stderr
    assert "Ada Lovelace" in invoke("snapshot").stdout


def test_the_error_of_a_file_is_json_on_demand(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "broken.ttl").write_text(":a", "utf-8")
    answer = invoke("import", "broken.ttl", "--json")
    report = json.loads(answer.stdout)
    assert (answer.exit_code, report["file"], report["error"]["code"]) == (
        1,
        "broken.ttl",
        "KIP_1001",
    )


def test_a_file_that_is_not_there_stops_before_the_first(
    invoke: Invoke, people: Path, tmp_path: Path
) -> None:
    answer = invoke("import", "people.ttl", "nothing.ttl", "-m", "foaf")
    assert (answer.exit_code, answer.stderr) == (1, "kiprdf: There is no file nothing.ttl.\n")
    assert not (tmp_path / "nexus").exists()


def test_standard_input_is_imported(invoke: Invoke) -> None:
    answer = invoke("import", "-", "-m", "foaf", "--format", "turtle", input=PEOPLE)
    assert answer.stdout.startswith("standard input: 6 triples\n")


def test_what_is_imported_has_its_source(invoke: Invoke, people: Path) -> None:
    query = 'FIND(?p.metadata.source) WHERE { ?p {type: "Person", name: "Ada Lovelace"} }'
    command = ("import", "-", "-m", "foaf", "--format", "turtle")
    sources = []
    for options, text in (((), PEOPLE), (("--source", "the archive"), PEOPLE + ":ada :v 1 .")):
        invoke(*command, *options, input=text)
        sources.append(json.loads(invoke("run", query, "--json").stdout)["result"])
    invoke("import", "people.ttl", "-m", "foaf", "--source", "a file")
    sources.append(json.loads(invoke("run", query, "--json").stdout)["result"])
    assert sources == [["standard input"], ["the archive"], ["a file"]]


def test_files_that_replace_are_imported_together(invoke: Invoke, tmp_path: Path) -> None:
    for name, text in (("a.ttl", "<urn:a> a <urn:T> ."), ("b.ttl", "<urn:b> a <urn:T> .")):
        (tmp_path / name).write_text(text, "utf-8")
    options = ("--define", "--source", "cat", "--replace")
    answer = invoke("import", "a.ttl", "b.ttl", *options)
    assert answer.stdout.startswith("a.ttl, b.ttl: 2 triples\n  concepts: 2 created"), answer
    answer = invoke("import", "-", *options, "--format", "turtle", input="<urn:b> a <urn:T> .")
    assert answer.stdout == (
        "standard input: 1 triple\n"
        "  concepts: 0 created, 0 updated, 1 unchanged\n"
        "  propositions: 0 created, 0 updated, 0 unchanged\n"
        "  superseded: 1 concepts, 0 propositions\n"
        "    T:a\n"
    )


LINKS = """\
a.ttl: 3 triples
  concepts: 1 created, 0 updated, 0 unchanged
  propositions: 0 created, 0 updated, 0 unchanged
  warnings: 1
    knows: <https://example.org/people#b> is not described; kept as a string.
b.ttl: 2 triples
  concepts: 1 created, 0 updated, 0 unchanged
  propositions: 0 created, 0 updated, 0 unchanged
a.ttl, links to later files: 3 triples
  concepts: 0 created, 1 updated, 0 unchanged
  propositions: 1 created, 0 updated, 0 unchanged
"""


@pytest.mark.parametrize("first", ["a.ttl", "b.ttl", "-"])
def test_the_order_of_files_makes_no_difference_to_links(
    invoke: Invoke, tmp_path: Path, first: str
) -> None:
    prefixes = "".join(PEOPLE.splitlines(keepends=True)[:2])
    ann = prefixes + ':a a foaf:Person ; foaf:name "A" ; foaf:knows :b .'
    (tmp_path / "a.ttl").write_text(ann, "utf-8")
    (tmp_path / "b.ttl").write_text(prefixes + ':b a foaf:Person ; foaf:name "B" .', "utf-8")
    files = {"a.ttl": ("a.ttl", "b.ttl"), "b.ttl": ("b.ttl", "a.ttl"), "-": ("-", "b.ttl")}[first]
    answer = invoke("import", *files, "-m", "foaf", "--format", "turtle", input=ann)
    if first == "a.ttl":
        assert answer.stdout == LINKS
    query = 'FIND(?l.metadata.source, ?s.attributes) WHERE { ?l (?s, "knows", ?o) }'
    result = json.loads(invoke("run", query, "--json").stdout)["result"]
    source = "standard input" if first == "-" else "a.ttl"
    assert result == [[source], [{"name": "A", "same_as": "https://example.org/people#a"}]]


def test_a_predicate_that_is_missing_between_files_is_reported(
    invoke: Invoke, tmp_path: Path
) -> None:
    prefixes = "".join(PEOPLE.splitlines(keepends=True)[:2])
    (tmp_path / "a.ttl").write_text(prefixes + ":a a foaf:Person ; :helps :b .", "utf-8")
    (tmp_path / "b.ttl").write_text(prefixes + ":b a foaf:Person .", "utf-8")
    answer = invoke("import", "a.ttl", "b.ttl", "-m", "foaf")
    assert answer.exit_code == 1
    assert answer.stderr.startswith(
        "KIP_2001 a.ttl: The data need definitions that are missing: predicates 'helps' "
    )
    defined = invoke("import", "a.ttl", "b.ttl", "-m", "foaf", "--define", "--nexus", "other")
    assert (defined.exit_code, "predicates defined: helps" in defined.stdout) == (0, True)


def test_an_ontology_is_imported(invoke: Invoke, tmp_path: Path) -> None:
    ontology = (
        "@prefix : <https://example.org/clinic#> .\n"
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        ':Ward a rdfs:Class ; rdfs:comment "A part of a clinic." .\n'
    )
    (tmp_path / "clinic.ttl").write_text(ontology, "utf-8")
    answer = invoke("import", "clinic.ttl", "--ontology", "--inherit")
    assert "  concept types defined: Ward\n" in answer.stdout
    described = invoke("run", 'DESCRIBE CONCEPT TYPE "Ward"').stdout
    assert "A part of a clinic." in described


def test_contexts_of_json_ld_are_given(invoke: Invoke, tmp_path: Path) -> None:
    url = "https://example.org/v.jsonld"
    document = f'{{"@context": "{url}", "@id": "urn:joy", "@type": "Boat"}}'
    (tmp_path / "boat.jsonld").write_text(document)
    (tmp_path / "c.json").write_text('{"@context": {"Boat": "urn:v:Boat"}}')
    for context in ("c.json", f"{url}=c.json"):
        answer = invoke("import", "boat.jsonld", "--define", "--dry-run", "--context", context)
        assert "  concept types defined: Boat\n" in answer.stdout
    assert invoke("import", "boat.jsonld", "--define").exit_code == 1
    assert invoke("import", "boat.jsonld", "--context", "missing.json").exit_code == 1


def test_the_order_of_ontologies_makes_no_difference_to_the_hierarchy(
    invoke: Invoke, tmp_path: Path
) -> None:
    owl = "@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix : <urn:v:> .\n"
    sub = "<http://www.w3.org/2000/01/rdf-schema#subPropertyOf>"
    (tmp_path / "a.ttl").write_text(f"{owl}:meets a owl:ObjectProperty ; {sub} :knows_of .")
    (tmp_path / "b.ttl").write_text(f"{owl}:knows_of a owl:ObjectProperty .")
    query = 'FIND(?p.name) WHERE { (?p, "subproperty_of", {name: "knows_of"}) }'
    for order in (("a.ttl", "b.ttl"), ("b.ttl", "a.ttl")):
        folder = f"nexus-{order[0]}"
        invoke("import", *order, "--ontology", "--nexus", folder)
        assert "meets" in invoke("run", query, "--nexus", folder).stdout


def test_the_order_of_ontologies_makes_no_difference_to_names(
    invoke: Invoke, tmp_path: Path
) -> None:
    owl = "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    (tmp_path / "a.ttl").write_text(
        f"{owl}<urn:a:River> a owl:Class . <urn:a:in> a owl:ObjectProperty ."
    )
    (tmp_path / "b.ttl").write_text(
        f'{owl}<urn:b:River> a owl:Class ; {label} "River" . <urn:b:in> a owl:ObjectProperty .'
    )
    query = "FIND(?t.name, ?t.attributes.same_as) WHERE { ?t {name: :name} }"
    for number, order in enumerate((("a.ttl", "b.ttl"), ("b.ttl", "a.ttl"))):
        folder = f"nexus-{number}"
        report = invoke("import", *order, "--ontology", "--nexus", folder).stdout
        assert "<urn:a:River> is called 'River_2' because" in report
        assert "<urn:b:in> is called 'in_2' because" in report
        for name, iri in (("River", "urn:b:River"), ("River_2", "urn:a:River"),
                          ("in", "urn:a:in"), ("in_2", "urn:b:in")):  # fmt: skip
            answer = invoke("run", query, "--param", f'name="{name}"', "--nexus", folder).stdout
            assert iri in answer


# diff -----------------------------------------------------------------------------------------

CHANGE = 'UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES {risk_level: 3} } }'
CHANGED = """\
Concepts
~ Drug:Aspirin
    ~ attributes.risk_level: 2 -> 3

Concepts: 0 added, 0 removed, 1 changed
Propositions: 0 added, 0 removed, 0 changed
"""


@pytest.fixture
def changed(loaded: Invoke) -> Invoke:
    """Beside a nexus that has changed, ``old.ttl`` and ``old.jsonld`` from before."""
    loaded("snapshot", "old.ttl")
    loaded("snapshot", "old.jsonld")
    loaded("run", CHANGE)
    return loaded


def test_a_nexus_equals_its_snapshot(loaded: Invoke) -> None:
    loaded("snapshot", "a.nt")
    answer = loaded("diff", "a.nt", "nexus")
    assert (answer.exit_code, answer.stdout, answer.stderr) == (0, "", "No difference.\n")


@pytest.mark.parametrize("old", ["old.ttl", "old.jsonld"])
def test_a_difference_is_shown_and_is_the_exit_status(changed: Invoke, old: str) -> None:
    answer = changed("diff", old, "nexus")
    assert (answer.exit_code, answer.stdout, answer.stderr) == (1, CHANGED, "")


def test_a_difference_of_two_files(changed: Invoke) -> None:
    changed("snapshot", "new.rdf")
    assert changed("diff", "old.ttl", "new.rdf").stdout == CHANGED


def test_engine_metadata_differ_on_demand(changed: Invoke) -> None:
    answer = changed("diff", "old.ttl", "nexus", "--engine-metadata")
    assert "~ metadata._version: 1 -> 2" in answer.stdout


def test_a_difference_is_json_on_demand(changed: Invoke) -> None:
    answer = changed("diff", "old.ttl", "nexus", "--json")
    assert json.loads(answer.stdout)["counts"]["concepts"]["changed"] == 1


def test_a_patch_leads_from_one_to_the_other(changed: Invoke, tmp_path: Path) -> None:
    answer = changed("diff", "old.ttl", "nexus", "--as", "patch")
    assert answer.exit_code == 1
    before = Nexus.memory(genesis=False)
    before.restore(tmp_path / "old.ttl")
    with Nexus.open(tmp_path / "nexus", read_only=True) as after:
        every = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"
        difference = patch.between(before.sparql(every), after.sparql(every))  # type: ignore[arg-type]
    assert answer.stdout == patch.write(*difference)


def test_a_patch_is_applied_once(changed: Invoke, tmp_path: Path) -> None:
    (tmp_path / "changes.rdfp").write_text(
        changed("diff", "old.ttl", "nexus", "--as", "patch").stdout, "utf-8"
    )
    changed("restore", "old.ttl", "--nexus", "copy")
    answer = changed("patch", "changes.rdfp", "--nexus", "copy", "--json")
    assert set(json.loads(answer.stdout)) == {"deleted", "added"}
    assert changed("diff", "nexus", "copy", "--engine-metadata").exit_code == 0
    again = changed("patch", "changes.rdfp", "--nexus", "copy")
    assert again.exit_code == 1
    assert "The patch deletes a triple that is absent" in again.stderr


def test_a_patch_is_between_datasets_of_one_base(changed: Invoke) -> None:
    changed("restore", "old.ttl", "--nexus", "copy", "--base-iri", "urn:other/")
    assert changed("diff", "old.ttl", "copy").exit_code == 0
    answer = changed("diff", "old.ttl", "copy", "--as", "patch")
    assert (answer.exit_code, answer.stderr) == (
        2,
        "kiprdf: A patch requires two datasets with the same base IRI, "
        "not <urn:kip:nexus/> and <urn:other/>.\n",
    )


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("none.ttl", None, "kiprdf: There is no nexus and no snapshot none.ttl.\n"),
        (
            "a.ttl",
            "<urn:a> <urn:b> 1 .",
            "kiprdf: a.ttl is not a snapshot: it declares no base",
        ),
        (
            "b.ttl",
            "# kiprdf 1 base <urn:a/>\nx",
            "KIP_1001 2:1 b.ttl: The text is not valid Turtle: ",
        ),
    ],
)
def test_trouble_is_exit_status_2(
    loaded: Invoke, tmp_path: Path, name: str, content: str | None, error: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content, "utf-8")
    answer = loaded("diff", "nexus", name)
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.stderr.startswith(error)


def test_a_diff_works_beside_a_writer(changed: Invoke, tmp_path: Path) -> None:
    with Nexus.open(tmp_path / "nexus"):
        assert changed("diff", "old.ttl", "nexus").stdout == CHANGED


# schema, publish ------------------------------------------------------------------------------


def test_the_schema_is_owl(loaded: Invoke, tmp_path: Path) -> None:
    assert loaded("schema", "schema.ttl").stderr.startswith("Wrote schema.ttl, ")
    graph = rdflib.Graph().parse(tmp_path / "schema.ttl")
    drug = rdflib.URIRef("urn:kip:nexus/$ConceptType/Drug")
    assert (drug, rdflib.RDF.type, rdflib.OWL.Class) in graph


def test_the_schema_is_equivalent_to_the_words_of_a_mapping(loaded: Invoke) -> None:
    graph = rdflib.Graph().parse(data=loaded("schema", "--mapping", "schema-org").stdout)
    person = rdflib.URIRef("urn:kip:nexus/$ConceptType/Person")
    assert rdflib.URIRef(SCHEMA + "Person") in set(
        graph.objects(person, rdflib.OWL.equivalentClass)
    )


def test_the_shapes_are_shacl(loaded: Invoke) -> None:
    shapes = loaded("schema", "--shapes").stdout
    assert "sh:reifierShape" not in shapes
    assert list(rdflib.Graph().parse(data=shapes).subjects(rdflib.RDF.type, rdflib.SH.NodeShape))
    assert "reifierShape" in loaded("schema", "--shapes", "--profile", "rdf12").stdout


def test_the_context_of_a_nexus_is_a_mapping_file(invoke: Invoke, tmp_path: Path) -> None:
    data = "@prefix v: <https://words.example/> . v:inn a v:River ; v:length 517 ."
    (tmp_path / "rivers.ttl").write_text(data, "utf-8")
    invoke("import", "rivers.ttl", "--define")
    printed = json.loads(invoke("context").stdout)["@context"]
    assert printed["River"]["@id"] == "https://words.example/River"
    assert invoke("context", "own.jsonld").stderr == "Wrote own.jsonld, ... lines.\n".replace(
        "...", str((tmp_path / "own.jsonld").read_text("utf-8").count("\n"))
    )
    invoke("snapshot", "out.ttl", "--mapping", "own.jsonld")
    assert "<https://words.example/River>" in (tmp_path / "out.ttl").read_text("utf-8")


def test_a_nexus_is_published(loaded: Invoke, tmp_path: Path) -> None:
    answer = loaded("publish", "site", "--title", "Pharmacy", "--mapping", "schema-org")
    assert answer.stdout.startswith("site: ")
    assert answer.stdout.endswith("; open site/index.html\n")
    assert "Pharmacy" in (tmp_path / "site" / "index.html").read_text("utf-8")
    assert (tmp_path / "site" / "Drug" / "Aspirin.html").is_file()


def test_a_nexus_is_published_with_inline_facts_and_a_license(
    loaded: Invoke, tmp_path: Path
) -> None:
    license = "https://example.org/license"
    address = ("--address", "https://example.org/kb/")
    loaded("publish", "site", "--facts", "inline", "--license", license, *address)
    assert not (tmp_path / "site" / "$proposition").exists()
    assert f"<{license}>" in (tmp_path / "site" / "void.ttl").read_text("utf-8")
    answer = loaded("publish", "other", "--license", "CC BY")
    assert (answer.exit_code, "The license 'CC BY' is not an IRI" in answer.stderr) == (1, True)


def test_a_folder_of_others_is_not_published_into(loaded: Invoke, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "CNAME").write_text("x", "utf-8")
    answer = loaded("publish", "site")
    assert (answer.exit_code, answer.stderr) == (
        1,
        f"kiprdf: The folder {tmp_path / 'site'} contains 'CNAME', "
        "which was not published there by kiprdf.\n",
    )


@pytest.mark.parametrize(
    "arguments", [("publish", "site"), ("schema",), ("diff", "empty", "empty"), ("snapshot",)]
)
def test_what_reads_makes_no_nexus(
    invoke: Invoke, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "empty").mkdir()
    assert invoke(*arguments).exit_code in (1, 2)
    assert list(tmp_path.rglob("*")) == [tmp_path / "empty"]
