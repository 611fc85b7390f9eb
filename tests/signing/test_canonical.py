"""RDFC-1.0: the test suite of the W3C, and datasets that are made to take long.

``rdf-canon.json`` are the tests of https://w3c.github.io/rdf-canon/tests/ for SHA-256: their input,
the canonical form, which is null where a dataset is to be refused, and the labels. Distributed
under the W3C 3-clause BSD License.
"""

from __future__ import annotations

import itertools
import json
import random
import time
from pathlib import Path
from typing import Any

import pytest
import rdflib
from pyoxigraph import BlankNode, CanonicalizationAlgorithm, Dataset, RdfFormat, parse

import kiprdf
from kiprdf import KipError
from kiprdf.signing import canonical

CASES = json.loads(Path(__file__).with_name("rdf-canon.json").read_text("utf-8"))
P = "<urn:p>"


@pytest.mark.parametrize("number", CASES)
def test_the_suite_of_the_w3c(number: str) -> None:
    case: dict[str, Any] = CASES[number]
    if case["canonical"] is None:
        with pytest.raises(KipError, match="KIP_4002 The 10 blank nodes are too much alike"):
            kiprdf.canonical(case["input"], "nquads")
        return
    assert kiprdf.canonical(case["input"], "nquads") == case["canonical"]
    # The labels of the map, in the input, give the same.
    if "labels" in case:
        moved = []
        for quad in parse(case["input"], format=RdfFormat.N_QUADS):
            terms = [
                BlankNode(case["labels"][term.value]) if isinstance(term, BlankNode) else term
                for term in quad
            ]
            moved.append(f"{' '.join(str(term) for term in terms if str(term) != 'DEFAULT')} .\n")
        assert "".join(sorted(moved)) == case["canonical"]


def test_each_format_and_each_graph_has_the_same_form(tmp_path: Path) -> None:
    text = '@prefix x: <urn:x:> . [] x:p [ x:q "a\\u2028", 1.50, "b"@de ] .'
    graph = rdflib.Graph().parse(data=text)
    expected = [
        '_:c14n0 <urn:x:q> "1.50"^^<http://www.w3.org/2001/XMLSchema#decimal> .',
        '_:c14n0 <urn:x:q> "a\u2028" .',
        '_:c14n0 <urn:x:q> "b"@de .',
        "_:c14n1 <urn:x:p> _:c14n0 .",
    ]
    path = tmp_path / "data.ttl"
    path.write_text(text, "utf-8")
    sources: list[Any] = [text, path, str(path), graph, rdflib.Dataset().parse(data=text)]
    sources += [graph.serialize(format="xml"), graph.serialize(format="nt")]
    sources += [graph.serialize(format="json-ld"), parse(text, format=RdfFormat.TURTLE)]
    for source in sources:
        lines = kiprdf.canonical(source).split("\n")
        assert lines.pop() == ""
        assert sorted(lines) == lines
        assert lines == expected, source
    assert kiprdf.canonical("") == ""


def test_what_is_no_rdf_1_1_is_refused() -> None:
    for text, what in (
        ("<urn:a> <urn:b> <<( <urn:a> <urn:b> <urn:c> )>> .", "a triple term"),
        ('<urn:a> <urn:b> "x"@ar--rtl .', "a string with a direction"),
        ("<urn:a> <urn:b>", "not valid TriG"),
    ):
        with pytest.raises(KipError, match=what):
            kiprdf.canonical(text)
    for value in (5, None, [1], ["<urn:a>"]):
        with pytest.raises(KipError, match="KIP_1001"):
            kiprdf.canonical(value)
    # What only looks like one of them is none.
    looks = '<urn:a> <urn:b> "_:x <<( --rtl \\"@ar--rtl ." .\n'
    assert kiprdf.canonical(looks) == looks


def test_random_datasets_have_one_form_under_any_labels_and_the_form_of_oxigraph() -> None:
    generator = random.Random(7)
    for _ in range(60):
        size = generator.randint(1, 6)
        nodes = [f"_:n{i}" for i in range(size)] + ["<urn:a>"]
        pairs = {
            (
                generator.choice(nodes),
                generator.choice(nodes),
                generator.choice(("", "_:n0", "<urn:g>")),
            )
            for _ in range(generator.randint(1, 9))
        }
        lines = [f"{s} {P} {o} {g} ." for s, o, g in pairs]
        form = kiprdf.canonical("\n".join(lines), "nquads")
        names = [f"_:m{i}" for i in generator.sample(range(20), size)]
        renamed = "\n".join(generator.sample(lines, len(lines)))
        for i in range(size):
            renamed = renamed.replace(f"_:n{i} ", f"{names[i]} ")
        assert kiprdf.canonical(renamed, "nquads") == form
        other = Dataset(parse("\n".join(lines), format=RdfFormat.N_QUADS))
        other.canonicalize(CanonicalizationAlgorithm.RDFC_1_0)
        assert canonical.canonical_lines(other) == form.splitlines()
        assert {f"{quad} ." for quad in other} == set(form.splitlines())


def _poisons() -> dict[str, list[str]]:
    clique = [f"_:n{i} {P} _:n{j} ." for i, j in itertools.permutations(range(9), 2)]
    chain = [f"_:n{i} {P} _:n{i + 1} ." for i in range(3000)]
    # Two hubs with pairs of leaves: what was issued is copied for each order.
    hubs = [f'_:h{i % 2} {P} _:n{i} .\n_:n{i} {P} "{i // 4}" .' for i in range(12_000)]
    return {"clique": clique, "chain": chain, "hubs": hubs}


@pytest.mark.parametrize("name", _poisons())
def test_work_is_bounded(name: str) -> None:
    before = time.process_time()
    with pytest.raises(KipError, match=r"KIP_4002 The .* blank nodes are too much alike"):
        kiprdf.canonical("\n".join(_poisons()[name]), "nquads")
    assert time.process_time() - before < 10


def test_blank_nodes_that_differ_cost_little() -> None:
    lines = [f'_:n{i} {P} "{i}" .\n_:n{i} {P} _:n{i + 1} .' for i in range(2000)]
    before = time.process_time()
    assert kiprdf.canonical("\n".join(lines), "nquads").count("\n") == 4000
    alike = [f"_:hub {P} _:n{i} ." for i in range(2000)]
    assert kiprdf.canonical("\n".join(alike), "nquads").count("\n") == 2000
    assert time.process_time() - before < 5
