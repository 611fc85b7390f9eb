"""The library API: names, shapes and errors as promised."""

from __future__ import annotations

import functools
import logging
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest

import kiprdf
from tests.cases import each_case
from tests.nexus.support import SCHEMA, StoppedClock, commit, dataset, medical, untouched

TREATMENTS = 'FIND(?d.name, ?s.name) WHERE { (?d, "treats", ?s) } ORDER BY ?s.name'


@pytest.fixture(scope="module")
def nexus() -> kiprdf.Nexus:
    """For reading only."""
    return medical()


# Names and signatures


def test_the_public_names_are_sorted_and_there() -> None:
    assert kiprdf.__all__ == sorted(kiprdf.__all__)
    exported = {"Mapping", "Nexus", "KipError", "Rows", "StoreError", "parse", "to_text"}
    assert exported <= set(kiprdf.__all__) <= set(dir(kiprdf))


def test_a_nexus_that_is_made_of_a_path_says_how_to_open_one() -> None:
    path: Any = "brain"
    with pytest.raises(
        TypeError, match=r"^Call Nexus.open\(folder\), Nexus.connect\(url\) or Nexus.memory\(\)\.$"
    ):
        kiprdf.Nexus(path)


def test_memory_takes_genesis_and_strict_schema() -> None:
    nexus = kiprdf.Nexus.memory(genesis=True, strict_schema=False)
    assert nexus.execute("DESCRIBE DOMAINS") == ["Archived", "CoreSchema", "System", "Unsorted"]


def test_without_genesis_only_the_two_meta_types_are_known() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    assert nexus.execute("DESCRIBE CONCEPT TYPES") == []
    assert nexus.execute('FIND(?t) WHERE { ?t {type: "$ConceptType"} }') == []


def test_text_and_tree_are_inverse() -> None:
    tree = kiprdf.parse(TREATMENTS)
    assert kiprdf.to_text(kiprdf.parse(kiprdf.to_text(tree))) == kiprdf.to_text(tree)


# execute


def test_execute_returns_the_bare_result(nexus: kiprdf.Nexus) -> None:
    assert nexus.execute(TREATMENTS) == [["Aspirin", "Aspirin"], ["Fever", "Headache"]]


def test_execute_takes_parameters_by_name(nexus: kiprdf.Nexus) -> None:
    assert nexus.execute("FIND(?x.id) WHERE { ?x {name: :name} }", name="Ann") == ["C:User/Ann"]


@pytest.mark.parametrize("name", ["command", "text", "parameters", "self"])
def test_a_parameter_of_execute_may_have_any_name_but_those_of_its_options(
    nexus: kiprdf.Nexus, name: str
) -> None:
    ids = nexus.execute(f"FIND(?x.id) WHERE {{ ?x {{name: :{name}}} }}", **{name: "Ann"})
    assert ids == ["C:User/Ann"]


@pytest.mark.parametrize("name", ["command", "dry_run", "readonly"])
def test_a_parameter_of_answer_may_have_any_name(nexus: kiprdf.Nexus, name: str) -> None:
    answer = nexus.answer(f"FIND(?x.id) WHERE {{ ?x {{name: :{name}}} }}", {name: "Ann"})
    assert answer.result == ["C:User/Ann"]


def test_execute_raises_with_code_position_and_hint(nexus: kiprdf.Nexus) -> None:
    with pytest.raises(kiprdf.KipError) as raised:
        nexus.execute('FIND(?x)\nWHERE { ?x {type: "drug"} }')
    error = raised.value
    assert (error.code, error.name, error.position) == ("KIP_2001", "TypeMismatch", (2, 19))
    assert "Drug" in error.hint


def test_the_error_shows_the_place_with_a_caret(nexus: kiprdf.Nexus) -> None:
    with pytest.raises(kiprdf.KipError) as raised:
        nexus.execute('FIND(?x) WHERE { ?x {type: "drug"} }')
    assert raised.value.excerpt == (
        'FIND(?x) WHERE { ?x {type: "drug"} }\n                           ^^^^^^'
    )


@each_case("value", [object(), {1, 2}, b"x", 1j, {1: 2}])
def test_a_parameter_that_is_no_json_is_a_kip_error(nexus: kiprdf.Nexus, value: Any) -> None:
    with pytest.raises(kiprdf.KipError) as raised:
        nexus.execute("FIND(?x.id) WHERE { ?x {name: :v} }", v=value)
    assert raised.value.code == "KIP_1001"


@pytest.mark.parametrize("command", [None, 3, b"DESCRIBE PRIMER", ["DESCRIBE PRIMER"]])
def test_a_command_that_is_no_string_is_a_clear_error(nexus: kiprdf.Nexus, command: Any) -> None:
    with pytest.raises((kiprdf.KipError, TypeError)) as raised:
        nexus.execute(command)
    assert getattr(raised.value, "code", "") != "KIP_4003"


# find and Rows


DRUGS = '?d {type: "Drug"}'
ROWS: dict[str, tuple[tuple[str, ...], list[tuple[Any, ...]]]] = {
    TREATMENTS: (("?d.name", "?s.name"), [("Aspirin", "Fever"), ("Aspirin", "Headache")]),
    f"FIND(?d.name) WHERE {{ {DRUGS} }}": (("?d.name",), [("Aspirin",)]),
    f"FIND(COUNT(?d)) WHERE {{ {DRUGS} }}": (("COUNT(?d)",), [(1,)]),
    'FIND(?d.name, COUNT(?s)) WHERE { (?d, "treats", ?s) }': (
        ("?d.name", "COUNT(?s)"),
        [("Aspirin", 2)],
    ),
    'FIND(?d.name, ?d.id) WHERE { ?d {name: "No"} }': (("?d.name", "?d.id"), []),
}


@each_case("command, columns, values", [(command, *rows) for command, rows in ROWS.items()])
def test_rows_are_dictionaries_that_can_be_read_again(
    command: str, columns: tuple[str, ...], values: list[Any], nexus: kiprdf.Nexus
) -> None:
    rows = nexus.find(command)
    assert isinstance(rows, kiprdf.Rows)
    assert (tuple(rows.columns), len(rows)) == (columns, len(values))
    for _ in range(2):
        assert list(rows) == [dict(zip(columns, row, strict=True)) for row in values]


def test_an_expression_named_twice_keeps_both_columns(nexus: kiprdf.Nexus) -> None:
    rows = nexus.find(f"FIND(?d.name, ?d.name) WHERE {{ {DRUGS} }}")
    assert len(rows) == 1


def test_find_takes_parameters(nexus: kiprdf.Nexus) -> None:
    assert len(nexus.find(TREATMENTS + " LIMIT :n", n=1)) == 1


@pytest.mark.parametrize("command", ["DESCRIBE PRIMER", SCHEMA, 'SEARCH CONCEPT "x"'])
def test_find_takes_nothing_but_a_find(nexus: kiprdf.Nexus, command: str) -> None:
    with untouched(nexus), pytest.raises(kiprdf.KipError) as raised:
        nexus.find(command)
    assert raised.value.code == "KIP_1001"


def test_pages_are_followed_by_their_cursor(nexus: kiprdf.Nexus) -> None:
    first = nexus.find(TREATMENTS + " LIMIT 1")
    second = nexus.find(TREATMENTS + " LIMIT 1 CURSOR :c", c=first.next_cursor)
    assert [row["?s.name"] for rows in (first, second) for row in rows] == ["Fever", "Headache"]
    assert second.next_cursor is None


# apply_capsule


def test_a_capsule_may_be_a_string() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    assert nexus.apply_capsule(SCHEMA)["blocks"] == 1


@pytest.mark.parametrize("kind", [str, Path])
def test_a_capsule_may_be_a_path(tmp_path: Path, kind: Any) -> None:
    (tmp_path / "schema.kip").write_text("// ä\n" + SCHEMA, "utf-8")
    nexus = kiprdf.Nexus.memory(genesis=False)
    assert nexus.apply_capsule(kind(tmp_path / "schema.kip"))["blocks"] == 1


def test_a_capsule_may_be_larger_than_a_command() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(SCHEMA)
    concepts = "".join(
        f'CONCEPT {{ {{type: "Drug", name: "{n}"}} SET ATTRIBUTES {{ text: "{"x" * 3000}" }} }}'
        for n in range(200)
    )
    receipt = nexus.apply_capsule(f"UPSERT {{ {concepts} }}")
    assert (len(concepts) > 2 * 256 * 1024, len(receipt["upsert_concept_nodes"])) == (True, 200)


def test_the_same_text_is_too_large_for_a_command() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(SCHEMA)
    text = f'UPSERT {{ CONCEPT {{ {{type: "Drug", name: "x"}} }} }} // {"x" * 256 * 1024}'
    with untouched(nexus), pytest.raises(kiprdf.KipError) as raised:
        nexus.execute(text)
    assert raised.value.code == "KIP_4002"
    nexus.apply_capsule(text)


@pytest.mark.parametrize(
    ("text", "position"),
    [
        (TREATMENTS, None),
        ("DESCRIBE PRIMER {", None),
        ('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug"} }', None),
        ('UPSERT { CONCEPT { {type: "Drug", name: :name} } }', None),
        ('UPSERT {\n  CONCEPT { {type: "Nope", name: "x"} } }', (2, 20)),
    ],
)
def test_a_capsule_holds_nothing_but_upserts_without_placeholders(
    text: str, position: tuple[int, int] | None
) -> None:
    nexus = medical()
    with untouched(nexus), pytest.raises(kiprdf.KipError) as raised:
        nexus.apply_capsule(text)
    assert raised.value.code == ("KIP_2001" if position else "KIP_1001")
    assert position in (None, raised.value.position)


def test_a_missing_capsule_is_an_os_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no\.kip"):
        medical().apply_capsule(tmp_path / "no.kip")


def test_an_empty_capsule_changes_nothing() -> None:
    nexus = medical()
    before = dataset(nexus)
    assert nexus.apply_capsule(" \n")["blocks"] == 0
    assert dataset(nexus) == before


def test_a_capsule_that_is_no_utf_8_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "x.kip").write_bytes(b"UPSERT { \xff }")
    with pytest.raises(kiprdf.KipError) as raised:
        medical().apply_capsule(tmp_path / "x.kip")
    assert raised.value.code == "KIP_1001"


# explain and sparql


def test_explain_shows_sparql_that_runs_here(nexus: kiprdf.Nexus) -> None:
    rows = nexus.sparql(nexus.explain(TREATMENTS))
    assert isinstance(rows, kiprdf.Rows)
    assert len(rows) == 2


def test_explain_binds_parameters(nexus: kiprdf.Nexus) -> None:
    text = nexus.explain(
        'FIND(?d) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.colour == :c) }', c="mauve"
    )
    assert '"mauve"' in text


def test_explain_writes_nothing_and_takes_only_a_find(nexus: kiprdf.Nexus) -> None:
    with untouched(nexus), pytest.raises(kiprdf.KipError) as raised:
        nexus.explain(SCHEMA)
    assert raised.value.code == "KIP_1001"


def test_explain_checks_the_command(nexus: kiprdf.Nexus) -> None:
    with pytest.raises(kiprdf.KipError) as raised:
        nexus.explain('FIND(?d) WHERE { ?d {type: "drug"} }')
    assert raised.value.code == "KIP_2001"


def test_select_returns_rows_of_terms(nexus: kiprdf.Nexus) -> None:
    rows = nexus.sparql(
        "SELECT ?name WHERE { ?d a <urn:kip:nexus/$ConceptType/Drug> ; "
        "<http://www.w3.org/2000/01/rdf-schema#label> ?name }"
    )
    assert isinstance(rows, kiprdf.Rows)
    assert list(rows) == [{"name": pyoxigraph.Literal("Aspirin")}]


@pytest.mark.parametrize(("drug", "expected"), [("Aspirin", True), ("Nothing", False)])
def test_ask_returns_a_boolean(nexus: kiprdf.Nexus, drug: str, expected: bool) -> None:
    assert nexus.sparql(f"ASK {{ <urn:kip:nexus/Drug/{drug}> ?p ?o }}") is expected


def test_construct_returns_triples(nexus: kiprdf.Nexus) -> None:
    triples = nexus.sparql(
        "CONSTRUCT { ?s <urn:x> ?o } WHERE { ?s <urn:kip:nexus/$PropositionType/treats> ?o }"
    )
    assert {str(triple.object) for triple in triples} == {  # type: ignore[union-attr]
        "<urn:kip:nexus/Symptom/Headache>",
        "<urn:kip:nexus/Symptom/Fever>",
    }


def test_a_reifier_is_reached_by_sparql(nexus: kiprdf.Nexus) -> None:
    rows = nexus.sparql(
        "PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> SELECT ?l WHERE { "
        "?s <urn:kip:nexus/$PropositionType/stated> ?o . ?l rdf:reifies "
        "<<( ?s <urn:kip:nexus/$PropositionType/stated> ?o )>> }"
    )
    assert len(rows) == 1  # type: ignore[arg-type]


@each_case(
    "query",
    [
        "INSERT DATA { <urn:a> <urn:b> <urn:c> }",
        "DELETE WHERE { ?s ?p ?o }",
        "CLEAR ALL",
        "DROP ALL",
        "LOAD <http://127.0.0.1:9/x>",
        "LOAD SILENT <http://127.0.0.1:9/x> INTO GRAPH <urn:g>",
        "SELECT * { SERVICE <http://127.0.0.1:9/sparql> { ?s ?p ?o } }",
        "SELECT * { service silent <http://127.0.0.1:9/sparql> { ?s ?p ?o } }",
        "SELECT * { SERVICE ?x { ?s ?p ?o } }",
        "SELECT * FROM <http://127.0.0.1:9/x> { ?s ?p ?o } ; DROP ALL",
        "PREFIX x: <urn:x> DROP ALL",
        "# SELECT\nDROP ALL",
        "nonsense",
        "",
        "SELECT",
        "SELECT * {",
        "SELECT * { " + "{" * 101 + "}" * 101 + " }",
        "SELECT * { ?s ?p ?o FILTER(" + " || ".join(["?o = 1"] * 201) + ") }",
        "SELECT * { ?s ?p ?o } #" + "x" * 65536,
    ],
)
def test_sparql_that_does_more_than_read_is_refused(nexus: kiprdf.Nexus, query: str) -> None:
    with untouched(nexus), pytest.raises(kiprdf.KipError) as raised:
        nexus.sparql(query)
    assert raised.value.code in ("KIP_1001", "KIP_4002")


@pytest.mark.parametrize(
    "query",
    [
        'SELECT * { ?s ?p "SERVICE <http://127.0.0.1:9/>" }',
        "SELECT ?service { ?service ?p ?o }",
        "SELECT * { ?s <urn:SERVICE> ?o }",
        "PREFIX a: <urn:x/> SELECT * { ?s a:SERVICE ?o }",
    ],
)
def test_the_word_service_is_harmless_where_it_is_no_keyword(
    nexus: kiprdf.Nexus, query: str
) -> None:
    assert isinstance(nexus.sparql(query), kiprdf.Rows)


def test_a_sparql_mistake_is_refused_with_its_line(nexus: kiprdf.Nexus) -> None:
    with pytest.raises(kiprdf.KipError, match=r"line 2|2:"):
        nexus.sparql("SELECT *\n{ ?s ?p }")


# Opening and closing


def test_a_context_manager_closes() -> None:
    with kiprdf.Nexus.memory(genesis=False) as nexus:
        pass
    with pytest.raises(kiprdf.KipError):
        nexus.execute("DESCRIBE PRIMER")


def test_a_context_manager_raises_the_error_and_releases_the_folder(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), kiprdf.Nexus.open(tmp_path / "brain"):
        raise ZeroDivisionError
    kiprdf.Nexus.open(tmp_path / "brain").close()


def test_closing_twice_is_fine(tmp_path: Path) -> None:
    for nexus in (kiprdf.Nexus.memory(), kiprdf.Nexus.open(tmp_path / "brain")):
        nexus.close()
        nexus.close()


USES = {
    "execute": lambda nexus: nexus.execute("DESCRIBE PRIMER"),
    "write": lambda nexus: nexus.execute(SCHEMA),
    "search": lambda nexus: nexus.execute('SEARCH CONCEPT "x"'),
    "find": lambda nexus: nexus.find('FIND(?d) WHERE { ?d {type: "$ConceptType"} }'),
    "explain": lambda nexus: nexus.explain('FIND(?d) WHERE { ?d {type: "$ConceptType"} }'),
    "sparql": lambda nexus: nexus.sparql("ASK { ?s ?p ?o }"),
    "apply_capsule": lambda nexus: nexus.apply_capsule(SCHEMA),
    "snapshot": lambda nexus: nexus.snapshot(),
    "restore": lambda nexus: nexus.restore("# kiprdf 1 base <urn:kip:nexus/>\n"),
    "info": lambda nexus: nexus.info(),
}


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_closed_nexus_says_so_in_one_sentence(tmp_path: Path, on_disk: bool) -> None:
    nexus = kiprdf.Nexus.open(tmp_path / "b") if on_disk else kiprdf.Nexus.memory(genesis=False)
    nexus.close()
    for name, use in USES.items():
        with pytest.raises((kiprdf.KipError, kiprdf.StoreError)) as raised:
            use(nexus)
        sentence = getattr(raised.value, "message", str(raised.value))
        assert (name, sentence) == (name, "The nexus is closed.")


def test_a_request_to_a_closed_nexus_is_an_error_response_without_a_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.close()
    with caplog.at_level(logging.DEBUG):
        response = nexus.execute_kip({"command": "DESCRIBE PRIMER"})
    assert response["error"]["message"] == "The nexus is closed."
    assert caplog.records == []


def test_the_base_is_chosen_when_a_nexus_is_made_and_kept(tmp_path: Path) -> None:
    base = "https://data.example.org/kb/"
    with kiprdf.Nexus.open(tmp_path / "brain", base_iri=base) as nexus:
        nexus.execute(SCHEMA)
        assert nexus.sparql(f"ASK {{ <{base}$ConceptType/Drug> ?p ?o }}") is True
    for given in (None, base):
        with kiprdf.Nexus.open(tmp_path / "brain", given) as nexus:
            assert nexus.base_iri == base
    with pytest.raises(kiprdf.StoreError, match=r"https://data\.example\.org/kb/.*https://x\.org/"):
        kiprdf.Nexus.open(tmp_path / "brain", base_iri="https://x.org/")
    # The refused opening does not block the folder.
    kiprdf.Nexus.open(tmp_path / "brain").close()


@pytest.mark.parametrize("on_disk", [False, True])
@each_case(
    "base",
    ["", "x", "https://x.org", "https://x.org/?q=/", "https://x.org/#/", "urn:kip:vocab/",
     "urn:kip:",
     "urn:kip:attribute/x/", "http://www.w3.org/", "http://www.w3.org/2001/XMLSchema#/",
     "ht tp://x/", "https://x.org/a b/", "https://x.org/<>/"],
)  # fmt: skip
def test_a_base_that_would_not_work_is_refused(tmp_path: Path, on_disk: bool, base: str) -> None:
    opening = functools.partial(kiprdf.Nexus.open, tmp_path / "brain") if on_disk else None
    with pytest.raises(kiprdf.StoreError, match="base"):
        (opening or kiprdf.Nexus.memory)(base)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("on_disk", [False, True])
def test_format_and_base_are_in_the_bookkeeping_graph(tmp_path: Path, on_disk: bool) -> None:
    base = "https://data.example.org/kb/"
    nexus = kiprdf.Nexus.open(tmp_path / "b", base) if on_disk else kiprdf.Nexus.memory(base)
    graph = pyoxigraph.NamedNode("urn:kip:graph/nexus")
    quads = nexus.store.engine.quads_for_pattern(graph, None, None, graph)
    noted = {quad.predicate.value: quad.object.value for quad in quads}  # type: ignore[union-attr]
    nexus.close()
    assert (noted.get("urn:kip:vocab/format"), noted.get("urn:kip:vocab/base")) == ("3", base)


def test_bookkeeping_is_never_in_the_default_graph() -> None:
    nexus = kiprdf.Nexus.memory()
    assert nexus.sparql("ASK { <urn:kip:graph/nexus> ?p ?o }") is False


def test_two_nexuses_in_memory_are_independent() -> None:
    one, other = medical(), kiprdf.Nexus.memory(genesis=False)
    assert (commit(one), other.execute("DESCRIBE CONCEPT TYPES")) == (2, [])


# Dry run


@pytest.mark.parametrize(
    ("option", "meant"), [("dryrun", "dry_run"), ("dryRun", "dry_run"), ("read_only", "readonly")]
)
def test_a_misspelt_option_writes_nothing(option: str, meant: str) -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    with pytest.raises(TypeError) as raised:
        nexus.execute(SCHEMA, **{option: True})
    assert str(raised.value) == f"There is no option {option}. Did you mean {meant}?"
    assert nexus.execute("DESCRIBE CONCEPT TYPES") == []


def test_a_placeholder_may_have_the_name_of_a_misspelt_option() -> None:
    nexus = kiprdf.Nexus.memory()
    names = nexus.execute('FIND(?d.name) WHERE { ?d {type: "Domain", name: :dry} }', dry="System")
    assert names == ["System"]


@each_case(
    "command, code",
    [
        ('UPSERT { CONCEPT { {type: "drug", name: "x"} } }', "KIP_2001"),
        ('UPSERT { CONCEPT { {id: "C:Drug/No"} } }', "KIP_3002"),
        ('UPSERT { PROPOSITION { (?a, "treats", ?b) } }', "KIP_3001"),
        ('DELETE CONCEPT ?t DETACH WHERE { ?t {type: "$ConceptType", name: "Drug"} }', "KIP_2002"),
        ('DELETE METADATA {"_version"} FROM ?d WHERE { ?d {type: "Drug"} }', "KIP_2002"),
    ],
)
def test_a_dry_run_checks_everything(command: str, code: str) -> None:
    nexus = medical()
    response = nexus.execute_kip({"command": command, "dry_run": True})
    assert response["error"]["code"] == code


def test_a_dry_run_registers_no_type() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute_kip({"command": SCHEMA, "dry_run": True})
    assert nexus.execute("DESCRIBE CONCEPT TYPES") == []


def test_the_clock_of_the_caller_is_used() -> None:
    assert dataset(medical(clock=StoppedClock())) == dataset(medical(clock=StoppedClock()))
