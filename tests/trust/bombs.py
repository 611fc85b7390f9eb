"""SPARQL that fills memory or never ends: python -m tests.trust.bombs memory|folder [NAME ...]

For each query it prints its name, its outcome, and whether the next requests were served and
nothing ran on. The last line is by how many MiB the memory of the process had grown at its peak.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import threading
import time
from pathlib import Path

from pyoxigraph import DefaultGraph

import kiprdf
from tests.nexus.test_budget import with_nodes
from tests.programs import children
from tests.trust.entry_points import refusal

SECONDS = 0.15
"""The budget of a bomb; the requests behind it have that of the nexus."""
SOON = 10.0
"""Seconds after which a request counts as hung, on the slowest machine."""
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"

_PRODUCT = "?a ?b ?c . ?d ?e ?f . ?g ?h ?i"


def _many(text: str, number: int = 40) -> str:
    return ",".join([text] * number)


def _grown(steps: int, factor: int) -> str:
    """?x0, ?x1 and so on, each longer than the one before by a factor."""
    binds = (f"BIND(CONCAT({_many(f'?x{n}', factor)}) AS ?x{n + 1})" for n in range(steps))
    return "BIND('0123456789' AS ?x0) " + " ".join(binds)


_SIXTEEN_MB = f"SELECT ?x4 {{ {_grown(4, 20)} }}"
BOMBS = {
    "concat of concat": f"SELECT (STRLEN(?x8) AS ?n) {{ {_grown(8, 20)} }}",
    "concat in order": f"SELECT * {{ {_PRODUCT} }} ORDER BY CONCAT({_many('?c')},?f)",
    "group_concat": f"SELECT (GROUP_CONCAT(?c) AS ?x) {{ {_PRODUCT} }}",
    "encode": f"SELECT (ENCODE_FOR_URI(CONCAT({_many('STR(?c)')})) AS ?x) {{ {_PRODUCT} }}",
    "replace": "SELECT (STRLEN(REPLACE(?x4, '', ?x4)) AS ?n) { " + _grown(4, 20) + " }",
    "order": f"SELECT * {{ {_PRODUCT} }} ORDER BY ?c ?i",
    "order and limit": f"SELECT * {{ {_PRODUCT} }} ORDER BY DESC(?c) ?i LIMIT 1",
    "distinct": f"SELECT DISTINCT * {{ {_PRODUCT} }}",
    "count": f"SELECT (COUNT(DISTINCT *) AS ?n) {{ {_PRODUCT} }}",
    "group": f"SELECT ?c ?f ?i (COUNT(*) AS ?n) {{ {_PRODUCT} }} GROUP BY ?c ?f ?i",
    "subselect": f"SELECT * {{ {{ SELECT * {{ {_PRODUCT} }} ORDER BY ?i }} FILTER(?a = 1) }}",
    "join": "SELECT * { { ?a ?b ?c . ?d ?e ?f } { ?a ?b ?x . ?d ?y ?z } }",
    "minus": "SELECT * { ?a ?b ?c MINUS { ?a ?d ?e . ?f ?g ?h . ?i ?j ?k } }",
    "optional": "SELECT * { ?a ?b ?c OPTIONAL { ?d ?e ?f OPTIONAL { ?g ?h ?i } } } ORDER BY ?i",
    "not exists": f"ASK {{ ?x ?y ?z FILTER NOT EXISTS {{ {_PRODUCT} FILTER(?i = ?x) }} }}",
    "paths": "SELECT * { ?a (!<urn:x>)* ?b . ?c (!<urn:y>)* ?d }",
    "values": "SELECT * { "
    + " ".join(f"VALUES ?v{n} {{ {' '.join(map(str, range(30)))} }}" for n in range(8))
    + " } ORDER BY ?v3",
    "construct": f"CONSTRUCT {{ ?a <urn:p> ?x4 }} {{ {_grown(4, 20)} {_PRODUCT} }}",
    "describe": f"DESCRIBE ?a ?d ?g {{ {_PRODUCT} }}",
    "offset": f"SELECT * {{ {_PRODUCT} }} OFFSET 999999999999",
    "regex": "SELECT * { ?a ?b ?c . ?d ?e ?f "
    "FILTER(REGEX(CONCAT(STR(?c), STR(?f)), '((a{1,90}){1,90}){1,9}.*x.*y.*z$')) }",
    "unions": "SELECT * { "
    + " ".join(f"{{ {{ ?a{n} ?b{n} ?c{n} }} UNION {{ ?c{n} ?b{n} ?a{n} }} }}" for n in range(8))
    + " } ORDER BY ?a3",
    "hashes": f"SELECT (SUM(STRLEN(SHA512(SHA512(?i)))) AS ?n) {{ {_PRODUCT} }}",
    "new nodes": f"SELECT DISTINCT (STRUUID() AS ?u) (BNODE() AS ?v) {{ {_PRODUCT} }}",
    "no columns": "SELECT * { [] a [] . [] a [] . [] a [] }",
    "long rows": f"SELECT (CONCAT(?x4, STRUUID()) AS ?x) {{ {{ {_SIXTEEN_MB} }} ?a ?b ?c }}",
    "the same long text": f"SELECT ?x4 ?a {{ {_grown(4, 20)} ?a ?b ?c . ?d ?e ?f }}",
    "triple terms": "SELECT * { ?a ?b ?c . ?d ?e ?f BIND(TRIPLE(?a, ?b, ?d) AS ?t0) "
    + " ".join(f"BIND(TRIPLE(?a, ?b, ?t{n}) AS ?t{n + 1})" for n in range(6))
    + " } ORDER BY ?t6",
    "lateral": "SELECT * { ?a ?b ?c LATERAL { SELECT * { ?d ?e ?f . ?g ?h ?i } ORDER BY ?f } }",
}


def opened(kind: str, folder: str, number: int = 3_000) -> kiprdf.Nexus:
    """A nexus of some thousand triples, in memory or in a folder."""
    nexus = with_nodes(number, 100)
    if kind == "memory":
        return nexus
    on_disk = kiprdf.Nexus.open(Path(folder) / "kb", genesis=False)
    on_disk.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "N"} } }')
    quads = nexus.store.engine.quads_for_pattern(None, None, None, DefaultGraph())
    on_disk.store.engine.extend(quads)
    return on_disk


def outcome(nexus: kiprdf.Nexus, query: str) -> str:
    """What came of a query, and of the requests behind it."""
    begun = time.monotonic()
    with nexus.limited(timeout_s=SECONDS):
        error = refusal(lambda: nexus.sparql(query))
    words = ["ok" if error is None else error.code]
    if time.monotonic() - begun > SECONDS + SOON:
        words.append("late")
    names = nexus.execute('FIND(?x.name) WHERE { ?x {type: "N", name: "n7"} }')
    rows = nexus.sparql(f'SELECT ?t {{ ?x {LABEL} "n7" ; a ?t }}')
    words += [] if (names, len(rows)) == (["n7"], 1) else ["wrong"]
    words += ["runs on"] if _runs_on() else []
    return " ".join(words)


def _runs_on() -> bool:
    """Whether this process still works although no request is running."""
    end = time.monotonic() + 2.0
    while time.monotonic() < end:
        if not any(thread.name == "kiprdf query" for thread in threading.enumerate()):
            return False
        time.sleep(0.01)
    return True


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main(kind: str, *names: str) -> None:
    with tempfile.TemporaryDirectory() as folder, opened(kind, folder) as nexus:
        before = _peak()
        for name in names or BOMBS:
            print(f"{name}: {outcome(nexus, BOMBS[name])}", flush=True)
    print("processes:", len(children(os.getpid())), flush=True)
    print("MiB:", _peak() - before, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
