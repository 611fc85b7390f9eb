"""Inputs beyond the limits of the engine, and just within them:

    python -m tests.trust.resource_limits ENTRY_POINT NAME ...

Prints the name of each input, then the outcome. Beyond its limits the engine does not raise, it
ends the process.
"""

from __future__ import annotations

import faulthandler
import functools
import json
import logging
import sys
from collections.abc import Callable, Iterator
from typing import Any

import kiprdf
from kiprdf import Budget
from tests.nexus.support import medical
from tests.store.test_guard import CRASHING
from tests.trust.entry_points import refusal

SECONDS = 120.0
DEEP = 100_000
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XML = f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:u="urn:u">'


def _where(text: str) -> dict[str, Any]:
    return {"command": f"FIND(COUNT(?a)) WHERE {{ {text} }}"}


def _written(value: str) -> dict[str, Any]:
    return {"command": f'UPSERT {{ CONCEPT {{ {{type: "Drug", name: "x"}} {value} }} }}'}


def _nested(opening: str, middle: str, closing: str, depth: int) -> str:
    return opening * depth + middle + closing * depth


def _tower(depth: int) -> Any:
    tower: Any = 1
    for number in range(depth):
        tower = [tower] if number % 2 else {"a": tower}
    return tower


DRUG = '?a {type: "Drug"} '
TRUE = '?a.name != "x"'
COMMANDS: dict[str, Any] = {
    "unions in unions": _where(_nested("UNION { " + DRUG, DRUG, "}", 5_000)),
    "optionals in optionals, deep": _where(DRUG + _nested("OPTIONAL { " + DRUG, "", "}", 30)),
    "nots in nots, deep": _where(DRUG + _nested("NOT { " + DRUG, "", "}", 30)),
    "unions in unions, deep": _where(DRUG + _nested("UNION { " + DRUG, "", "}", 30)),
    "many unions": _where(DRUG + f"UNION {{ {DRUG} }} " * 5_000),
    "many optionals": _where(DRUG + f"OPTIONAL {{ {DRUG} }} " * 5_000),
    "many clauses": _where(DRUG * 10_000),
    "many alternatives": _where("(?a, " + " | ".join(['"treats"'] * 9_000) + ", ?b)"),
    "or": _where(DRUG + f"FILTER({' || '.join([TRUE] * 10_000)})"),
    "or, many": _where(DRUG + f"FILTER({' || '.join([TRUE] * 100)})"),
    "and": _where(DRUG + f"FILTER({' && '.join([TRUE] * 10_000)})"),
    "brackets in a filter": _where(DRUG + f"FILTER({_nested('(', TRUE, ')', 50_000)})"),
    "brackets in a filter, deep": _where(DRUG + f"FILTER({_nested('(', TRUE, ')', 62)})"),
    "negations": _where(DRUG + f"FILTER({'!' * 50_000}IS_NULL(?a.attributes.x))"),
    "negations, many": _where(DRUG + f"FILTER({'!' * 62}IS_NULL(?a.attributes.x))"),
    "facts about facts": _where("?l " + _nested('(?a, "stated", ', "?b", ")", 50_000)),
    "facts about facts, deep": _where("?l " + _nested('(?a, "stated", ', "?b", ")", 62)),
    "hops beyond the bound": _where('(?a, "treats"{1,99999}, ?b)'),
    "hops beyond all numbers": _where('(?a, "treats"{1,' + "9" * 5_000 + "}, ?b)"),
    "hops, far": _where('(?a, "treats"{1,64}, ?b) (?b, "treats"{64}, ?c)'),
    "a list": _where(DRUG + f"FILTER(IN(?a.name, [{', '.join(['1'] * 20_000)}]))"),
    "arrays": _written("SET ATTRIBUTES { a: " + _nested("[", "1", "]", DEEP) + " }"),
    "objects": _written("SET ATTRIBUTES { a: " + _nested("{a: ", "1", "}", 50_000) + " }"),
    "arrays, deep": _written("SET ATTRIBUTES { a: " + _nested("[", "1", "]", 60) + " }"),
    "open strings": _written('"' * DEEP),
    "escaped quotes": {"command": 'SEARCH CONCEPT "' + '\\"' * 100_000 + "\\"},
    "escapes": _written('SET ATTRIBUTES { a: "' + "\\u0041" * 40_000 + '" }'),
    "comments": _where(DRUG + "// x\n" * 50_000),
    "an integer": _written("SET ATTRIBUTES { a: " + "9" * DEEP + " }"),
    "a fraction": _written("SET ATTRIBUTES { a: 0." + "9" * DEEP + "e-99999 }"),
    "a limit": {"command": f"FIND(?a) WHERE {{ {DRUG} }} LIMIT {'9' * DEEP}"},
    "expressions": {"command": f"FIND({', '.join(['?a'] * 50_000)}) WHERE {{ {DRUG} }}"},
    "orders": {"command": f"FIND(?a) WHERE {{ {DRUG} }} ORDER BY {'?a.name, ' * 20_000}?a"},
    "blocks": {"command": 'UPSERT { CONCEPT { {type: "Drug", name: "x"} } }' * 5_000},
    "a parameter": {**_where(DRUG + "FILTER(?a.name == :p)"), "parameters": {"p": _tower(10_000)}},
    "a pattern": {**_where(DRUG + "FILTER(REGEX(?a.name, :p))"), "parameters": {"p": "(" * DEEP}},
    "a pattern of repetitions": {
        **_where(DRUG + "FILTER(REGEX(?a.name, :p))"),
        "parameters": {"p": "((((a{1,100}){1,100}){1,100}){1,100})*$"},
    },
    "a batch": {"commands": ["DESCRIBE DOMAINS"] * 10_000},
}  # fmt: skip

QUERIES = {
    **CRASHING,
    "groups, deep": "SELECT * { " + _nested("{ ", "?s ?p ?o", " }", 95) + " }",
    "or, many": f"SELECT * {{ FILTER({' || '.join(['true'] * 200)}) }}",
    "unions, many": "SELECT * { {}" + " UNION {}" * 95 + " }",
    "optionals, many": "SELECT * { " + "OPTIONAL { ?a ?b ?c } " * 49 + "}",
    "optionals in optionals": "SELECT * { " + _nested("OPTIONAL { ?a ?b ?c ", "", "}", 49) + "}",
    "subqueries, deep": "SELECT * { " + _nested("{ SELECT * { ", "", "}}", 45) + "}",
    "triple terms, deep": "ASK { ?s ?p " + _nested("<<( ?a ?b ", "?c", " )>>", 45) + "}",
    "triple terms": "ASK { ?s ?p " + _nested("<<(?a ?b ", "?c", ")>>", 7_000) + "}",
    "paths in paths": "ASK { ?s " + _nested("(", "<urn:p>", ")*", 95) + " ?o }",
    "a long path": "ASK { ?s " + "/".join(["<urn:p>"] * 199) + " ?o }",
    "a wide path": "ASK { ?s (" + "|".join(["<urn:p>"] * 190) + ")+ ?o }",
    "minus in minus": "SELECT * { ?s ?p ?o " + _nested("MINUS { ?s ?p ?o ", "", "}", 45) + "}",
    "exists in exists": "SELECT * { " + _nested("FILTER EXISTS { ?s ?p ?o ", "", "}", 45) + "}",
    "conditions in conditions": "SELECT (" + _nested("IF(true, 1, ", "2", ")", 95) + " AS ?x) {}",
    "a collection": "ASK { ?s ?p (" + "1 " * 20_000 + ") }",
    "nodes in nodes": "ASK { ?s ?p " + _nested("[ <urn:p> ", "1", " ]", 5_000) + " }",
    "a pattern": "ASK { FILTER(REGEX('a', '" + _nested("(", "a", ")", 20_000) + "')) }",
    "a limit": "SELECT * { ?s ?p ?o } LIMIT " + "9" * 1_000,
    "numbers": "SELECT ((9223372036854775807 + 1) AS ?x) (ABS(-9223372036854775808) AS ?y) {}",
}  # fmt: skip


def _turtle(opening: str, closing: str = "", depth: int = DEEP) -> str:
    return "<urn:s> <urn:p> " + _nested(opening, "<urn:o>", closing, depth) + " ."


# Longer than Python's stack is deep.
def _chain(predicate: str) -> str:
    return "".join(f"_:b{n} <{predicate}> _:b{n + 1} .\n" for n in range(1_200))


LISTS = "".join(
    f"_:b{n} <{RDF}first> _:b{n + 1} .\n_:b{n} <{RDF}rest> <{RDF}nil> .\n" for n in range(1_200)
)
DOCUMENTS: dict[str, tuple[str, str]] = {
    **{
        f"{name} in {format}": (format, text)
        for format in ("turtle", "trig")
        for name, text in {
            "triple terms": _turtle("<<( <urn:a> <urn:b> ", " )>>"),
            "triple terms, deep": _turtle("<<( <urn:a> <urn:b> ", " )>>", 99),
            "quoted triples": _turtle("<< <urn:a> <urn:b> ", " >>"),
            "annotations": "<urn:s> <urn:p> <urn:o> " + "{| <urn:p> <urn:o> " * DEEP,
            "collections": _turtle("( ", " )"),
            "collections, deep": _turtle("( ", " )", 99),
            "blank nodes": _turtle("[ <urn:p> ", " ]"),
            "blank nodes, deep": _turtle("[ <urn:p> ", " ]", 99),
            "prefixes": "@prefix x: <urn:x> .\n" * 20_000,
        }.items()
    },
    "a long collection in turtle": ("turtle", "<urn:s> <urn:p> (" + "1 " * 3_000 + ") ."),
    "graphs in trig": ("trig", "<urn:g> { " * DEEP),
    **{
        f"{name} in {format}": (format, text)
        for format in ("ntriples", "nquads")
        for name, text in {
            "triple terms": _turtle("<<( <urn:a> <urn:b> ", " )>>"),
            "triple terms, deep": _turtle("<<( <urn:a> <urn:b> ", " )>>", 99),
        }.items()
    },
    "a chain of blank nodes in ntriples": ("ntriples", _chain("urn:p")),
    "a list without an end in ntriples": (
        "ntriples",
        _chain(RDF + "rest") + f"_:b1200 <{RDF}rest> _:b0 .",
    ),
    "lists in lists in ntriples": ("ntriples", LISTS),
    "objects in jsonld": ("jsonld", _nested('{"urn:p":', "1", "}", DEEP)),
    "objects in jsonld, deep": ("jsonld", _nested('{"urn:p":', "1", "}", 60)),
    "arrays in jsonld": ("jsonld", '{"urn:p":' + _nested("[", "1", "]", DEEP) + "}"),
    "contexts in jsonld": ("jsonld", _nested('{"@context":', "{}", "}", DEEP)),
    "graphs in jsonld": ("jsonld", _nested('{"@graph":', "{}", "}", 10_000)),
    "lists in jsonld": ("jsonld", '{"urn:p":' + _nested('{"@list":[', "1", "]}", 10_000) + "}"),
    "reversed in jsonld": ("jsonld", _nested('{"@reverse":{"urn:p":', "{}", "}}", 10_000)),
    "a number in jsonld": ("jsonld", '{"@id":"urn:s","urn:p":' + "9" * DEEP + "}"),
    "elements in rdfxml": ("rdfxml", XML + "<rdf:Description><u:p>" * DEEP),
    "elements in rdfxml, deep": (
        "rdfxml",
        XML + _nested("<rdf:Description><u:p>", "", "</u:p></rdf:Description>", 490) + "</rdf:RDF>",
    ),
    "a literal in rdfxml": (
        "rdfxml",
        XML + '<rdf:Description><u:p rdf:parseType="Literal">' + "<b>" * DEEP,
    ),
    "entities without markup in rdfxml": (
        "rdfxml",
        f'<!DOCTYPE x [<!ENTITY a "{"a" * 8_000}">]>{XML}'
        f"<rdf:Description><u:p>{'&a;' * DEEP}</u:p></rdf:Description></rdf:RDF>",
    ),
    "bases upon a base": ("turtle", "@base <http://x/> .\n" + "@base <x/y:z/> .\n" * DEEP),
    "entities in rdfxml": (
        "rdfxml",
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
        + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(12))
        + f"]>{XML}<rdf:Description><u:p>&m;</u:p></rdf:Description></rdf:RDF>",
    ),
}  # fmt: skip


def _answered(nexus: kiprdf.Nexus, request: Any) -> str:
    response = nexus.execute_kip(request)
    json.dumps(response)
    return response["error"]["code"] if "error" in response else "ok"


def _called(call: Callable[[], Any]) -> str:
    error = refusal(call)
    return "ok" if error is None else error.code


def outcomes(entry_point: str) -> Iterator[tuple[str, Callable[[], str]]]:
    """Each input by name, with a call that returns its outcome."""
    nexus = medical(budget=Budget(timeout_s=20.0))
    if entry_point == "execute_kip":
        for name, request in COMMANDS.items():
            yield name, functools.partial(_answered, nexus, request)
    elif entry_point == "sparql":
        for name, query in QUERIES.items():
            yield name, functools.partial(_called, functools.partial(nexus.sparql, query))
    else:
        for name, document in DOCUMENTS.items():
            read = functools.partial(_read_document, entry_point, *document)
            yield name, functools.partial(_called, read)


def _read_document(entry_point: str, format: Any, text: str) -> None:
    nexus = medical() if entry_point == "import_rdf" else kiprdf.Nexus.memory(genesis=False)
    if entry_point == "import_rdf":
        nexus.import_rdf(text, format=format, define=True, default_type="Thing")
        nexus.import_ontology(text, format=format, inherit=True)
    else:
        nexus.restore(text, format=format, base_iri="urn:kip:nexus/")


def main(entry_point: str, *names: str) -> None:
    faulthandler.enable()
    logging.disable(logging.CRITICAL)
    for name, call in outcomes(entry_point):
        if name not in names:
            continue
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        print(name, end=": ", flush=True)
        print(call(), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
