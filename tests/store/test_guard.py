"""What raw SPARQL may not do: write, reach the network, crush the engine."""

from __future__ import annotations

from pathlib import Path

import pytest

import kiprdf
from kiprdf.errors import KipError
from kiprdf.store.guard import check_query
from tests.cases import each_case


def code(text: str) -> str | None:
    try:
        check_query(text)
    except KipError as error:
        return error.code
    return None


QUERIES = [
    "SELECT * WHERE { ?s ?p ?o }",
    "select * where { ?s ?p ?o }",
    "ASK { ?s ?p ?o }",
    "CONSTRUCT WHERE { ?s ?p ?o }",
    "DESCRIBE <urn:a>",
    "PREFIX a: <urn:a> SELECT * WHERE { a:b a:c a:d }",
    "BASE <urn:a/> # comment\nSELECT * WHERE { }",
    "# comment\nSELECT * WHERE { }",
]


@pytest.mark.parametrize("text", QUERIES)
def test_a_query_passes(text: str) -> None:
    assert code(text) is None


SERVICES = [
    "SELECT * WHERE { SERVICE <http://localhost/> { ?s ?p ?o } }",
    "SELECT * WHERE { service <http://localhost/> { ?s ?p ?o } }",
    "SELECT * WHERE { SeRvIcE SILENT <http://localhost/> { ?s ?p ?o } }",
    "SELECT * WHERE { SERVICE ?x { ?s ?p ?o } }",
    "SELECT * WHERE { SERVICE<http://localhost/>{ ?s ?p ?o } }",
    "SELECT * WHERE { ?s ?p ?o .SERVICE<http://localhost/>{ ?s ?p ?o } }",
    "SELECT * WHERE { ?s ?p 1SERVICE <http://localhost/> { ?s ?p ?o } }",
    "SELECT * WHERE { ?s ?p 1.SERVICE <http://localhost/> { ?s ?p ?o } }",
    "SELECT * WHERE { ?s ?p ''SERVICE <http://localhost/> { ?s ?p ?o } }",
    'SELECT * WHERE { ?s ?p "a"@enSERVICE . SERVICE <http://localhost/> { ?s ?p ?o } }',
    "SELECT * WHERE { # comment\nSERVICE <http://localhost/> { ?s ?p ?o } }",
    "SELECT * WHERE { # comment\rSERVICE <http://localhost/> { ?s ?p ?o } }",
    "SELECT * WHERE { FILTER EXISTS { SERVICE <http://localhost/> { ?s ?p ?o } } }",
    "SELECT * WHERE { { SELECT * WHERE { SERVICE <http://localhost/> { ?s ?p ?o } } } }",
    "SELECT * WHERE { ?s <urn:p> '''a''' SERVICE <http://localhost/> { } }",
    "SELECT * WHERE { FILTER(?a < ?b) SERVICE <http://localhost/> { } FILTER(?b > ?a) }",
    "PREFIX a: <urn:a> SELECT * WHERE { a:b a:c a:d\\#x SERVICE a:x { } }",
    "PREFIX a: <urn:a> SELECT * WHERE { a:b a:c a:d\\' SERVICE <urn:x> { } FILTER('' = '') }",
    "SELECT * WHERE { <urn:\\u0041'> ?p ?o SERVICE <urn:x> { } FILTER('' = '') }",
    "SELECT * WHERE { ?x ?p <urn:\\u0041#> SERVICE <urn:x> { } }",
    "SELECT * WHERE { ?s ?p true.SERVICE <urn:x> { ?a ?b ?c } }",
    "SELECT * WHERE { ?s ?p 1e0SERVICE <urn:x> { ?a ?b ?c } }",
    "SELECT * WHERE { ?é ?p ?o SERVICE <urn:x> { } }",
    "SELECT * WHERE { SERV\\u0049CE <http://localhost/> { ?s ?p ?o } }",
    "SELECT * WHERE { \\u0053ERVICE <http://localhost/> { ?s ?p ?o } }",
]


@each_case("text", SERVICES)
def test_service_is_refused_in_any_spelling(text: str) -> None:
    assert code(text) == "KIP_1001" or not _is_sparql(text)


def _is_sparql(text: str) -> bool:
    """Whether the engine parses the text; a text that it does not parse can send no request."""
    try:
        kiprdf.Nexus.memory(genesis=False).store.engine.query(text)
    except SyntaxError:
        return False
    except Exception:
        return True
    return True


# The engine could read a comment or a prefix otherwise than the guard: the word is refused there.
DOUBTFUL_SERVICES = [
    "SELECT * WHERE { ?s ?p ?o } # SERVICE",
    "PREFIX SERVICE: <urn:a> SELECT * WHERE { ?s SERVICE:a ?o }",
    "SELECT * WHERE { ?s ?p false SERVICE:x { ?a ?b ?c } }",
    "SELECT * WHERE { ?s ?p falseSERVICE:x { ?a ?b ?c } }",
    "SELECT * WHERE { ?s ?p ?o FILTER(?s<'b>c') SERVICE<urn:x> { ?a ?b ?c } #' }",
    "SELECT * WHERE { ?s ?p <urn:it's> SERVICE <urn:x> { ?a ?b ?c } #' }",
    "SELECT * WHERE { ?s ?p <urn:\u00a0#> SERVICE <urn:x> { ?a ?b ?c } }",
    "SELECT * WHERE { \\u0053ERVICE <urn:x> { ?a ?b ?c } }",
]


@pytest.mark.parametrize("text", DOUBTFUL_SERVICES)
def test_the_word_service_is_refused_where_the_engine_may_read_it_as_a_call(text: str) -> None:
    assert code(text) == "KIP_1001"


NO_SERVICES = [
    "SELECT * WHERE { ?s ?p 'SERVICE <http://localhost/>' }",
    'SELECT * WHERE { ?s ?p "SERVICE" }',
    "SELECT * WHERE { ?s ?p '''a ' SERVICE ''b''' }",
    'SELECT * WHERE { ?s ?p """a " SERVICE ""b""" }',
    'SELECT * WHERE { ?s ?p "a\\" SERVICE" }',
    "SELECT * WHERE { ?s ?p <urn:SERVICE> }",
    "BASE <urn:a/> SELECT * WHERE { ?s ?p <SERVICE> }",
    "SELECT ?SERVICE WHERE { ?SERVICE ?p $service }",
    "PREFIX a: <urn:a> SELECT * WHERE { ?s a:SERVICE ?o }",
    "PREFIX : <urn:a> SELECT * WHERE { ?s :SERVICE ?o }",
    "PREFIX a: <urn:a> SELECT * WHERE { ?s a:my-SERVICE ?o }",
    "SELECT * WHERE { _:SERVICE ?p ?o }",
]


@each_case("text", NO_SERVICES)
def test_the_word_service_elsewhere_is_no_service(text: str) -> None:
    assert _is_sparql(text)
    assert code(text) is None


UPDATES = [
    "INSERT DATA { <urn:a> <urn:b> <urn:c> }",
    "DELETE WHERE { ?s ?p ?o }",
    "DELETE DATA { <urn:a> <urn:b> <urn:c> }",
    "LOAD <http://localhost/>",
    "CLEAR ALL",
    "DROP ALL",
    "CREATE GRAPH <urn:g>",
    "COPY DEFAULT TO <urn:g>",
    "PREFIX SELECT: <urn:a> INSERT DATA { <urn:a> <urn:b> <urn:c> }",
    "WITH <urn:g> DELETE { ?s ?p ?o } WHERE { { SELECT * WHERE { ?s ?p ?o } } }",
    "INSERT { ?s ?p ?o } WHERE { { SELECT * WHERE { ?s ?p ?o } } }",
    "SELECT * WHERE { } ; DROP ALL",
    "",
    "nonsense",
    "SELECT",
]


@pytest.mark.parametrize("text", UPDATES)
def test_an_update_is_a_syntax_error_and_writes_nothing(text: str) -> None:
    with kiprdf.Nexus.memory() as nexus:
        before = nexus.snapshot()
        with pytest.raises(KipError) as caught:
            nexus.sparql(text)
        assert caught.value.code == "KIP_1001"
        assert nexus.snapshot() == before


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("SELECT ?s WHERE { ?s a <urn:kip:nexus/$ConceptType/Domain> }", "Rows"),
        ("ASK { ?s ?p ?o }", "bool"),
        ("CONSTRUCT WHERE { ?s a ?o }", "list"),
        ("DESCRIBE <urn:kip:nexus/Domain/CoreSchema>", "list"),
    ],
)
def test_a_query_is_run(text: str, kind: str) -> None:
    with kiprdf.Nexus.memory() as nexus:
        answer = nexus.sparql(text)
    assert type(answer).__name__ == kind
    assert answer


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?g { GRAPH ?g { ?s ?p ?o } }",
        "SELECT ?g { GRAPH ?g { } }",
        "SELECT ?s { GRAPH <urn:kip:graph/nexus> { ?s ?p ?o } }",
        "CONSTRUCT { ?s ?p ?o } WHERE { GRAPH ?g { ?s ?p ?o } }",
    ],
)
def test_the_bookkeeping_is_in_no_graph_of_a_query(text: str, tmp_path: Path) -> None:
    with kiprdf.Nexus.memory() as nexus:
        assert not list(nexus.sparql(text))  # type: ignore[arg-type]
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        assert not list(nexus.sparql(text))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM <urn:kip:graph/nexus> { ?s ?p ?o }",
        "SELECT *from<urn:kip:graph/nexus>{ ?s ?p ?o }",
        "SELECT * FROM NAMED <urn:kip:graph/nexus> { GRAPH ?g { ?s ?p ?o } }",
        "DESCRIBE ?s FROM <urn:kip:graph/nexus> { ?s ?p ?o }",
        "ASK\nFROM <urn:kip:graph/nexus> { ?s ?p ?o }",
    ],
)
def test_from_is_refused(text: str) -> None:
    assert code(text) == "KIP_1001"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?from { ?from ?p 'FROM' }",
        "PREFIX from: <urn:from/> SELECT * { from:from ?p ?o }",
        "SELECT * { ?s ?p 'a'@from }",
        "SELECT * { ?s <FROM> ?o } # FROM",
    ],
)
def test_the_word_from_elsewhere_passes(text: str) -> None:
    assert code(text) is None


def _padded(size: int) -> str:
    return "SELECT * WHERE { }".ljust(size)


@pytest.mark.parametrize(("size", "expected"), [(65_536, None), (65_537, "KIP_4002")])
def test_a_query_has_64_kib(size: int, expected: str | None) -> None:
    assert code(_padded(size)) == expected


@pytest.mark.parametrize(("depth", "expected"), [(99, None), (100, "KIP_4002")])
def test_brackets_nest_100_levels(depth: int, expected: str | None) -> None:
    assert code("SELECT * WHERE {" + "{" * depth + "}" * depth + "}") == expected


@pytest.mark.parametrize("opener", ["{", "(", "[", "<<( ", "<< "])
def test_every_bracket_counts(opener: str) -> None:
    assert code("SELECT * WHERE " + opener * 101) == "KIP_4002"


@pytest.mark.parametrize(("count", "expected"), [(200, None), (201, "KIP_4002")])
@pytest.mark.parametrize(
    "operator", ["||", "&&", "=", "<", "|", "/", "+", "-", "UNION", "OPTIONAL", "EXISTS"]
)
def test_a_query_has_200_operators(operator: str, count: int, expected: str | None) -> None:
    assert code("SELECT * WHERE { " + f"?a {operator} " * count + "}") == expected


CRASHING = {
    "groups": "SELECT * WHERE { " + "{ " * 5_000 + "} " * 5_000 + "}",
    "negations": "SELECT * WHERE { FILTER(" + "!(" * 5_000 + "true" + ")" * 5_000 + ") }",
    "bare_negations": "SELECT * WHERE { FILTER(" + "!" * 5_000 + "true) }",
    "disjunction": "SELECT * WHERE { FILTER(" + "||".join(["true"] * 10_000) + ") }",
    "unions": "SELECT * WHERE { {}" + " UNION {}" * 3_000 + " }",
    "subqueries": "SELECT * WHERE { " + "{SELECT * WHERE{" * 2_000 + "}}" * 2_000 + "}",
    "triple_terms": "SELECT * WHERE { ?s ?p " + "<<( ?a ?b " * 4_000 + "?c" + ")>>" * 4_000 + "}",
    "optionals": "SELECT * WHERE { " + "OPTIONAL { ?a ?b ?c } " * 2_000 + "}",
    "star": "SELECT * WHERE { " + "".join(f"?a <urn:{i}> ?b{i} . " for i in range(1_000)) + "}",
    "star_with_semicolons": "SELECT * WHERE { ?a "
    + " ; ".join(f"<urn:{i}> ?b{i}" for i in range(1_000))
    + "}",
    "star_with_commas": "SELECT * WHERE { ?a <urn:p> "
    + " , ".join(f"?b{i}" for i in range(1_000))
    + "}",
    "selected_expressions": "SELECT "
    + " ".join(f"(1 AS ?x{i})" for i in range(4_000))
    + " WHERE {}",
    "star_of_literals": "SELECT * WHERE { ?a ?b (" + "1 " * 1_000 + ") }",
    "star_of_blank_nodes": "SELECT * WHERE { ?a ?b " + "[] , " * 1_000 + "1 }",
    "products": "SELECT * WHERE { FILTER(" + "*".join(["1"] * 10_000) + ") }",
    "groups_joined": "SELECT * WHERE { " + "{ ?a ?b ?c } " * 3_000 + "}",
    "values": "SELECT * WHERE { " + "VALUES ?a { 1 } " * 3_000 + "}",
    "graphs": "SELECT * WHERE { " + "GRAPH ?g { ?a ?b ?c } " * 2_000 + "}",
}


@pytest.mark.parametrize("text", CRASHING.values(), ids=CRASHING)
def test_a_query_that_would_crash_the_engine_is_refused(text: str) -> None:
    assert code(text) == "KIP_4002"


def test_a_refused_query_is_located() -> None:
    with pytest.raises(KipError) as caught:
        check_query("SELECT * WHERE {\n  SERVICE <urn:x> { }\n}")
    assert caught.value.position == (2, 3)


def test_a_query_that_the_engine_does_not_parse_is_a_syntax_error(tmp_path: Path) -> None:
    with kiprdf.Nexus.memory(genesis=False) as nexus, pytest.raises(KipError) as caught:
        nexus.sparql("SELECT * WHERE { ?s ?p }")
    assert caught.value.code == "KIP_1001"


@pytest.mark.parametrize("text", ["SELECT * WHERE { ?s ?p '\ud800' }", "\x00", "SELECT '", "'''"])
def test_broken_text_is_a_kip_error(text: str) -> None:
    with kiprdf.Nexus.memory(genesis=False) as nexus, pytest.raises(KipError):
        nexus.sparql(text)
