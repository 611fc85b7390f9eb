"""/sparql with clients that others wrote: SPARQLWrapper, YASGUI's requests, Comunica."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import SPARQLWrapper
from rdflib import Graph, URIRef

from tests.serve.conftest import BASE
from tests.serve.running import RunningServer, serving

TREATS = f"SELECT ?s ?o WHERE {{ ?s <{BASE}$PropositionType/treats> ?o }} ORDER BY ?o"
GRAPH = f"CONSTRUCT WHERE {{ ?s <{BASE}$PropositionType/treats> ?o }}"
OBJECTS = [f"{BASE}Symptom/Fever", f"{BASE}Symptom/Headache"]
YASGUI = "https://yasgui.example"
TOKEN = {"Authorization": "Bearer r3ad"}
COMUNICA = os.environ.get("COMUNICA") or shutil.which("comunica-sparql")


@pytest.fixture(scope="module")
def token_server(folder: Path) -> Iterator[RunningServer]:
    """A server beside the other one, with a token, which allows requests from YASGUI."""
    options = ("--read-only", "--cors", YASGUI)
    with serving(folder, *options, KIPRDF_READ_TOKEN="r3ad") as running:
        yield running


def wrapper(server: RunningServer, query: str, form: str) -> SPARQLWrapper.SPARQLWrapper:
    wrapper = SPARQLWrapper.SPARQLWrapper(f"{server.address}sparql")
    wrapper.setQuery(query)
    wrapper.setReturnFormat(form)
    return wrapper


pytestmark = pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated")

# SPARQLWrapper ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "way"),
    [
        (SPARQLWrapper.GET, SPARQLWrapper.URLENCODED),
        (SPARQLWrapper.POST, SPARQLWrapper.URLENCODED),
        (SPARQLWrapper.POST, SPARQLWrapper.POSTDIRECTLY),
    ],
)
def test_sparqlwrapper_reads_every_format_of_a_select(
    server: RunningServer, method: str, way: str
) -> None:
    def answer(form: str) -> Any:
        request = wrapper(server, TREATS, form)
        request.setMethod(method)
        request.setRequestMethod(way)
        return request.query().convert()

    rows = answer(SPARQLWrapper.JSON)["results"]["bindings"]
    assert [row["o"]["value"] for row in rows] == OBJECTS
    uris = answer(SPARQLWrapper.XML).getElementsByTagName("uri")
    assert [uri.firstChild.data for uri in uris][1::2] == OBJECTS
    lines = answer(SPARQLWrapper.CSV).decode().split()
    assert [line.split(",")[1] for line in lines] == ["o", *OBJECTS]
    lines = answer(SPARQLWrapper.TSV).decode().splitlines()
    assert [line.split("\t")[1] for line in lines] == ["?o", *(f"<{iri}>" for iri in OBJECTS)]


def test_sparqlwrapper_reads_ask(server: RunningServer) -> None:
    ask = f"ASK {{ <{BASE}Drug/Aspirin> <{BASE}$PropositionType/treats> <{OBJECTS[0]}> }}"
    assert wrapper(server, ask, SPARQLWrapper.JSON).query().convert()["boolean"] is True
    (node,) = (
        wrapper(server, ask, SPARQLWrapper.XML).query().convert().getElementsByTagName("boolean")
    )
    assert node.firstChild.data == "true"


@pytest.mark.parametrize(
    "form", [SPARQLWrapper.TURTLE, SPARQLWrapper.N3, SPARQLWrapper.RDFXML, SPARQLWrapper.JSONLD]
)
def test_sparqlwrapper_reads_graphs(server: RunningServer, form: str) -> None:
    graph = wrapper(server, GRAPH, form).query().convert()
    if isinstance(graph, bytes):
        graph = Graph().parse(data=graph, format="turtle")
    assert set(graph.objects()) == {URIRef(iri) for iri in OBJECTS}


def test_sparqlwrapper_raises_for_a_wrong_query(server: RunningServer) -> None:
    with pytest.raises(SPARQLWrapper.SPARQLExceptions.QueryBadFormed, match="KIP_1001"):
        wrapper(server, "SELECT ?s WHERE { ?s ?p }", SPARQLWrapper.JSON).query()


def test_sparqlwrapper_sends_a_token(token_server: RunningServer) -> None:
    request = wrapper(token_server, TREATS, SPARQLWrapper.JSON)
    with pytest.raises(SPARQLWrapper.SPARQLExceptions.Unauthorized):
        request.query()
    request.addCustomHttpHeader("Authorization", TOKEN["Authorization"])
    assert len(request.queryAndConvert()["results"]["bindings"]) == 2


# YASGUI -------------------------------------------------------------------------------------------
# What the editor of YASGUI sends (@zazuko/yasqe 4.6, getAjaxConfig and executeQuery): fetch with a
# form of URLSearchParams, or the same in the address, and the headers below.

YASGUI_SELECT = "application/sparql-results+json,*/*;q=0.9"
YASGUI_GRAPH = "application/n-triples,*/*;q=0.9"
YASGUI_FORM = (
    "query=PREFIX+rdf%3A+%3Chttp%3A%2F%2Fwww.w3.org%2F1999%2F02%2F22-rdf-syntax-ns%23%3E%0A"
    "PREFIX+rdfs%3A+%3Chttp%3A%2F%2Fwww.w3.org%2F2000%2F01%2Frdf-schema%23%3E%0A"
    "SELECT+*+WHERE+%7B%0A++%3Fsub+%3Fpred+%3Fobj+.%0A%7D+LIMIT+10"
)


@pytest.mark.parametrize("method", ["POST", "GET"])
def test_the_first_query_of_yasgui_is_answered(token_server: RunningServer, method: str) -> None:
    headers = {"Accept": YASGUI_SELECT, "Origin": YASGUI, **TOKEN}
    if method == "POST":
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        answer = token_server.client.post("/sparql", content=YASGUI_FORM, headers=headers)
    else:
        answer = token_server.client.get(f"/sparql?{YASGUI_FORM}", headers=headers)
    assert answer.headers["content-type"] == "application/sparql-results+json"
    assert answer.headers["access-control-allow-origin"] == YASGUI
    assert sorted(answer.json()["head"]["vars"]) == ["obj", "pred", "sub"]
    assert len(answer.json()["results"]["bindings"]) == 10


def test_a_graph_for_yasgui_is_n_triples(token_server: RunningServer) -> None:
    headers = {"Accept": YASGUI_GRAPH, "Origin": YASGUI, **TOKEN}
    answer = token_server.client.post("/sparql", data={"query": GRAPH}, headers=headers)
    assert answer.headers["content-type"].startswith("application/n-triples")
    assert len(answer.text.splitlines()) == 2


def test_another_origin_than_yasgui_is_refused(token_server: RunningServer) -> None:
    headers = {"Accept": YASGUI_SELECT, "Origin": "https://evil.example", **TOKEN}
    answer = token_server.client.post("/sparql", data={"query": TREATS}, headers=headers)
    assert answer.status_code == 403


# Comunica -----------------------------------------------------------------------------------------


@pytest.mark.skipif(COMUNICA is None, reason="npm install -g @comunica/query-sparql; or COMUNICA")
@pytest.mark.parametrize(
    "sources",
    [
        ["sparql@{}sparql"],
        ["{}sparql"],
        ["{}graph?default"],
        ["sparql@{}sparql", "{}graph?default"],
    ],
    ids=" and ".join,
)
def test_comunica_answers_a_query(server: RunningServer, sources: list[str]) -> None:
    addresses = [source.format(server.address) for source in sources]
    query = TREATS.replace("SELECT", "SELECT DISTINCT")
    command = [str(COMUNICA), *addresses, "-q", query]
    answer = subprocess.run(command, capture_output=True, check=True, timeout=120).stdout
    assert [row["o"] for row in json.loads(answer)] == OBJECTS
