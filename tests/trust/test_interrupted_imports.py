"""An interrupt while a call imports leaves no module missing (docs/decisions/113)."""

from __future__ import annotations

from pathlib import Path

import pytest

import kiprdf
from tests.trust import children

REQUESTS = """
import sys, threading, kiprdf
nexus = kiprdf.Nexus.open(sys.argv[1])
imported = {True: [], False: []}
class Finder:
    def find_spec(name, path=None, target=None):
        imported[threading.current_thread() is threading.main_thread()].append(name)
sys.meta_path.insert(0, Finder)
nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Ada"} } }')
nexus.find('FIND(?p.name) WHERE { ?p {type: "Person"} } ORDER BY ?p.name')
assert nexus.answer('FIND(?p) WHERE { ?p {type: "Person"} FILTER(?p.name == "x") }').warnings
nexus.execute('SEARCH CONCEPT "ada"')
nexus.export('EXPORT ?p WHERE { ?p {type: "Person", name: "Ada"} }')
assert "result" in nexus.execute_kip({"command": "DESCRIBE PRIMER"})
assert "error" in nexus.execute_kip({"command": "DESCRIBE PRIMES"})
assert "error" in nexus.execute_kip_readonly({"command": 'DELETE CONCEPT ?x WHERE { ?x {} }'})
nexus.explain('FIND(?p.name) WHERE { ?p {type: "Person"} }')
nexus.diagnose('FIND(?p.name) WHERE { ?p {type: "Person"} }')
nexus.sparql("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")
nexus.history("C:Person/Ada"), nexus.changes(0), nexus.validity("C:Person/Ada")
nexus.at(nexus.info()["commit"] - 1).close()
nexus.forget('FIND(?p) WHERE { ?p {type: "Person", name: "Ada"} }', dry_run=True)
nexus.undo(seq=nexus.info()["commit"])
nexus.compact_history(1)
nexus.snapshot()
assert {"kiprdf.kml.upsert", "kiprdf.execution.undo", "kiprdf.advice"} <= {*imported[False]}
import kiprdf.pages.publish
assert "kiprdf.pages.publish" in imported[True]
# fcntl and atexit are of Python's own, in C, and have no parts.
before = imported[True][: imported[True].index("kiprdf.pages")]
print([name for name in before if name not in ("fcntl", "atexit")])
"""


def test_requests_import_nothing_in_the_main_thread(tmp_path: Path) -> None:
    kiprdf.Nexus.open(tmp_path / "brain").close()
    child = children.run_afresh("-c", REQUESTS, str(tmp_path / "brain"))
    assert (child.status, child.output.splitlines()[-1]) == (0, "[]"), child.output


@pytest.mark.parametrize(
    ("call", "folder"),
    [
        ("batch", "/pydantic"),
        ("mapping", "/interchange/mapping"),
        ("graph", "/rdflib"),
        ("hint", "/advice"),
    ],
)
def test_a_timer_that_rings_while_a_call_imports_leaves_nothing_missing(
    call: str, folder: str
) -> None:
    child = children.run_afresh("-m", "tests.trust.importing", call, folder)
    _, *rest = child.output.splitlines()
    assert (child.status, rest) == (0, ["answered", "interrupted"]), child.output


def test_an_object_that_outlives_the_program_waits_for_no_import() -> None:
    code = """
from kiprdf.loading import Lazy
class Kept:
    def __del__(self):
        try:
            Lazy("wave").open
        except ImportError:
            print("too late")
kept = Kept()
"""
    assert children.run_afresh("-c", code) == (0, "too late\n")
