"""/sparql: the SPARQL 1.1 Protocol and its result formats."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import httpx
import pyoxigraph
import pytest
from rdflib import Graph, URIRef
from rdflib.plugins.stores.sparqlstore import SPARQLStore

import kiprdf
from tests.serve.conftest import BASE
from tests.serve.running import RunningServer, serving

TREATS = f"SELECT ?s ?o WHERE {{ ?s <{BASE}$PropositionType/treats> ?o }} ORDER BY ?o"
ROWS = [(f"{BASE}Drug/Aspirin", f"{BASE}Symptom/{name}") for name in ("Fever", "Headache")]
JSON = "application/sparql-results+json"
XML = "application/sparql-results+xml"
NAMESPACE = "{http://www.w3.org/2005/sparql-results#}"
REIFIES = "http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies"


def ask(server: RunningServer, query: str, accept: str = "*/*") -> httpx.Response:
    return server.client.get("/sparql", params={"query": query}, headers={"Accept": accept})


def rows_of(content: dict) -> list[tuple[str, ...]]:  # type: ignore[type-arg]
    bindings = content["results"]["bindings"]
    return [tuple(row[name]["value"] for name in content["head"]["vars"]) for row in bindings]


def test_a_query_is_answered_by_get_form_and_body(server: RunningServer) -> None:
    client = server.client
    answers = [
        client.get("/sparql", params={"query": TREATS}),
        client.post("/sparql", data={"query": TREATS}),
        client.post(
            "/sparql", content=TREATS, headers={"Content-Type": "application/sparql-query"}
        ),
    ]
    for answer in answers:
        assert (answer.status_code, answer.headers["content-type"]) == (200, JSON)
        assert rows_of(answer.json()) == ROWS


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        (JSON, JSON),
        ("application/json", JSON),
        ("*/*", JSON),
        ("text/*", "text/csv"),
        (XML, XML),
        ("application/xml", XML),
        ("text/csv", "text/csv"),
        ("text/tab-separated-values", "text/tab-separated-values"),
        (f"{JSON};q=0.2, text/csv;q=0.9", "text/csv"),
        (f"{JSON};q=0, */*;q=0.1", XML),
    ],
)
def test_the_accepted_type_is_answered(server: RunningServer, accept: str, media_type: str) -> None:
    answer = ask(server, TREATS, accept)
    assert answer.headers["content-type"].partition(";")[0] == media_type
    assert answer.headers["vary"] == "Accept"


@pytest.mark.parametrize("query", [TREATS, "ASK {}", "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"])
def test_no_acceptable_type_is_406(server: RunningServer, query: str) -> None:
    answer = ask(server, query, "image/png")
    assert answer.status_code == 406


@pytest.fixture(scope="module")
def terms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A nexus with every kind of literal that a result can contain."""
    folder = tmp_path_factory.mktemp("terms") / "kb"
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.execute(
            """UPSERT { CONCEPT { {type: "$ConceptType", name: "T"} }
              CONCEPT ?a { {type: "T", name: "a"} SET ATTRIBUTES {
                text: :text, number: 1.5, tagged: {"@value": "Schmerz", "@language": "de"} } } }""",
            text='tab\tquote"comma,\r\nline <&>',
        )
    return folder


TERMS = """SELECT ?k ?v { <urn:kip:nexus/T/a> ?k ?v
           FILTER(STRSTARTS(STR(?k), "urn:kip:attribute/")) } ORDER BY ?k"""


def test_every_format_carries_the_same_terms(terms: Path) -> None:
    with serving(terms) as server:
        texts = {
            accept: ask(server, TERMS, accept)
            for accept in (JSON, XML, "text/csv", "text/tab-separated-values")
        }
    text = 'tab\tquote"comma,\r\nline <&>'
    in_json = [row["v"] for row in texts[JSON].json()["results"]["bindings"]]
    double = "http://www.w3.org/2001/XMLSchema#double"
    assert in_json[0] == {"type": "literal", "value": "1.5", "datatype": double}
    assert in_json[1] == {"type": "literal", "value": "Schmerz", "xml:lang": "de"}
    assert in_json[2] == {"type": "literal", "value": text}
    root = ElementTree.fromstring(texts[XML].content)
    literals = root.findall(f".//{NAMESPACE}binding[@name='v']/{NAMESPACE}literal")
    assert [one.text for one in literals] == ["1.5", "Schmerz", text]
    rows = list(csv.reader(io.StringIO(texts["text/csv"].content.decode(), newline="")))
    assert [row[1] for row in rows] == ["v", "1.5", "Schmerz", text]
    parsed = pyoxigraph.parse_query_results(
        texts["text/tab-separated-values"].content,
        format=pyoxigraph.QueryResultsFormat.TSV,
    )
    assert [solution["v"].value for solution in parsed] == ["1.5", "Schmerz", text]  # type: ignore[union-attr]


def test_triple_terms_are_written_as_in_sparql_12(server: RunningServer) -> None:
    query = f"SELECT ?t {{ ?l <{REIFIES}> ?t }} LIMIT 3"
    for accept, format in ((JSON, "json"), (XML, "xml")):
        answer = ask(server, query, accept)
        solutions = pyoxigraph.parse_query_results(
            answer.content, format=getattr(pyoxigraph.QueryResultsFormat, format.upper())
        )
        assert all(isinstance(row["t"], pyoxigraph.Triple) for row in solutions), format  # type: ignore[union-attr]


def test_xml_keeps_the_ends_of_lines(server: RunningServer) -> None:
    query = r'SELECT ("a\r\nb\rc" AS ?x) {}'
    answer = ask(server, query, XML)
    root = ElementTree.fromstring(answer.content)
    assert [one.text for one in root.iter(f"{NAMESPACE}literal")] == ["a\r\nb\rc"]


@pytest.mark.parametrize(
    ("accept", "rows"),
    [
        ("text/csv", "t,b,n,u\r\nurn:s urn:p _:x,_:x,1.5,\r\n"),
        (
            "text/tab-separated-values",
            "?t\t?b\t?n\t?u\n<<( <urn:s> <urn:p> _:x )>>\t_:x\t1.5\t\n",
        ),
    ],
)
def test_every_kind_of_term_has_a_place_in_a_table(
    server: RunningServer, accept: str, rows: str
) -> None:
    query = """SELECT (TRIPLE(<urn:s>, <urn:p>, ?b) AS ?t) ?b (1.5 AS ?n) ?u
               { BIND(BNODE() AS ?b) OPTIONAL { ?b <urn:none> ?u } }"""
    answer = ask(server, query, accept)
    assert re.sub(r"_:\w+", "_:x", answer.content.decode()) == rows


def test_a_character_that_xml_lacks_is_406(server: RunningServer) -> None:
    query = r'SELECT ("a\u0000b" AS ?x) {}'
    answer = ask(server, query, XML)
    assert answer.status_code == 406
    assert ask(server, query).status_code == 200


@pytest.mark.parametrize(
    ("accept", "format"),
    [
        ("text/turtle", "turtle"),
        ("application/n-triples", "nt11"),
        ("application/ld+json", "json-ld"),
        ("application/rdf+xml", "xml"),
    ],
)
def test_a_construct_is_rdf_in_each_format(server: RunningServer, accept: str, format: str) -> None:
    query = f"CONSTRUCT WHERE {{ ?s <{BASE}$PropositionType/treats> ?o }}"
    answer = ask(server, query, accept)
    graph = Graph().parse(data=answer.content, format=format)
    assert {(str(s), str(o)) for s, _, o in graph} == set(ROWS)


def test_reifiers_are_statements_where_a_format_lacks_triple_terms(server: RunningServer) -> None:
    query = f"CONSTRUCT {{ ?l <{REIFIES}> ?t }} WHERE {{ ?l <{REIFIES}> ?t }} LIMIT 1"
    answer = ask(server, query, "application/rdf+xml")
    graph = Graph().parse(data=answer.content, format="xml")
    statement = URIRef("http://www.w3.org/1999/02/22-rdf-syntax-ns#Statement")
    assert (None, None, statement) in graph


@pytest.mark.parametrize(
    ("parameters", "status"),
    [
        ({"query": "SELECT"}, 400),
        ({"query": "INSERT DATA { <urn:a> <urn:b> <urn:c> }"}, 400),
        ({"query": "SELECT * { SERVICE <http://example.org/> { ?s ?p ?o } }"}, 400),
        ({"query": "LOAD <http://example.org/>"}, 400),
        ({"query": ["ASK {}", "ASK {}"]}, 400),
        ({"query": "ASK {}", "default-graph-uri": "urn:g"}, 400),
        ({"query": "ASK {}", "named-graph-uri": "urn:g"}, 400),
        ({"other": "ASK {}"}, 400),
        ({"update": "CLEAR ALL"}, 403),
        ({"query": "ASK {}", "update": "CLEAR ALL"}, 403),
    ],
)
def test_another_request_is_refused(
    server: RunningServer, parameters: dict[str, str], status: int
) -> None:
    assert server.client.get("/sparql", params=parameters).status_code == status
    if "other" not in parameters:
        assert server.client.post("/sparql", data=parameters).status_code == status


@pytest.mark.parametrize(
    ("media_type", "status"),
    [("application/sparql-update", 403), ("text/plain", 415), ("application/json", 415)],
)
def test_another_body_is_refused(server: RunningServer, media_type: str, status: int) -> None:
    answer = server.client.post("/sparql", content="ASK {}", headers={"Content-Type": media_type})
    assert answer.status_code == status


def test_a_get_without_query_describes_the_service(server: RunningServer) -> None:
    answer = server.client.get("/sparql")
    graph = Graph().parse(data=answer.content, format="turtle")
    service = URIRef("http://www.w3.org/ns/sparql-service-description#Service")
    assert (URIRef(f"{server.address}sparql"), None, service) in graph


def test_what_exceeds_the_budget_is_an_error(folder: Path) -> None:
    product = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"
    with serving(folder, "--timeout", "1", "--max-rows", "5", "--read-only") as server:
        for query, expected in (
            (product, (408, "KIP_4001")),
            ("SELECT * { ?a ?b ?c }", (400, "KIP_4002")),
        ):
            answer = ask(server, query)
            assert (answer.status_code, answer.json()["error"]["code"]) == expected
        assert server.client.get("/health").status_code == 200


@pytest.mark.parametrize("method", ["GET", "POST", "POST_FORM"])
def test_rdflibs_sparql_store_works(server: RunningServer, method: str) -> None:
    store = SPARQLStore(f"{server.address}sparql", method=method)
    rows = {(str(row[0]), str(row[1])) for row in Graph(store=store).query(TREATS)}  # type: ignore[index]
    assert rows == set(ROWS)


def test_head_answers_without_body(server: RunningServer) -> None:
    answer = server.client.head("/sparql", params={"query": TREATS})
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"] == JSON


def test_the_json_is_that_of_the_engine(server: RunningServer, folder: Path) -> None:
    with kiprdf.Nexus.open(folder, read_only=True) as nexus:
        solutions = nexus.store.engine.query(TREATS)
        expected = solutions.serialize(format=pyoxigraph.QueryResultsFormat.JSON)  # type: ignore[union-attr]
    answer = ask(server, TREATS)
    assert answer.json() == json.loads(expected or b"")


@pytest.mark.parametrize(
    ("predicate", "text"), [("a", "\\u0000"), ("a", "\\u0001"), ("a", "\\uFFFE"), ("1", "x")]
)
def test_triples_that_rdf_xml_cannot_express_are_406(
    server: RunningServer, predicate: str, text: str
) -> None:
    query = f'CONSTRUCT {{ <http://x/> <http://x/{predicate}> "{text}" }} WHERE {{}}'
    answer = ask(server, query, "application/rdf+xml")
    assert answer.status_code == 406
    assert ask(server, query).status_code == 200
