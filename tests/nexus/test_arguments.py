"""Arguments of a wrong type or with invalid characters: an error that says what was expected."""

from __future__ import annotations

import dataclasses
import inspect
import io
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import rdflib
from rdflib import BNode, Literal, URIRef

import kiprdf
from kiprdf import Nexus, options
from kiprdf.serve.routes.admin import Import
from tests.cases import each_case
from tests.nexus.support import empty, medical, untouched

SNAPSHOT = medical().snapshot()
FACT = "<urn:a> a <urn:T> ."
CLASS = "<urn:a> a <http://www.w3.org/2002/07/owl#Class> ."


class Odd:
    """Nothing that any argument is."""


NO_TEXT: list[Any] = [5, 1.5, True, b"x", [], {}, Odd(), "\ud800"]
NO_SWITCH: list[Any] = [5, 0, None, "yes", [], Odd()]
NO_FUNCTION: list[Any] = [5, "x", [], {}, Odd()]
NO_FORMAT: list[Any] = [5, True, "", "n3", b"turtle", [], {}, Odd(), "\ud800"]
NO_PROFILE: list[Any] = [5, None, "", "rdf13", [], Odd()]
NO_MAPPING: list[Any] = [5, True, b"x", {}, {"a": 1}, {"@context": 5}, Odd(), "\ud800", [5], [None]]
NO_TARGET: list[Any] = [5, 1.5, True, b"x", [], {}, Odd(), "\0", "a\0.ttl", "\ud800"]
NO_BINARY: list[Any] = [*NO_TARGET, None, io.StringIO()]
NO_SOURCE: list[Any] = [5, True, None, [], {}, Odd(), "\0", "\ud800", "<urn:\ud800> a <urn:b> ."]
NO_METADATA: list[Any] = [5, "x", [], [["a", 1]], {1: 2}, Odd(), {"a": Odd()}, {"a": "\ud800"}]
NO_BASE: list[Any] = [*NO_TEXT, "", "x", "urn:a b/"]

Call = Callable[..., Any]
CALLS: dict[str, tuple[Call, dict[str, list[Any]]]] = {
    "snapshot": (
        lambda nexus, **given: nexus.snapshot(**given),
        {"target": NO_TARGET, "profile": NO_PROFILE, "format": NO_FORMAT, "mapping": NO_MAPPING,
         "domain": NO_TEXT, "select": NO_TEXT, "engine_metadata": NO_SWITCH},
    ),
    "write_snapshot": (
        lambda nexus, **given: nexus.write_snapshot(**{"target": io.BytesIO(), **given}),
        {"target": NO_BINARY, "profile": NO_PROFILE, "format": NO_FORMAT, "mapping": NO_MAPPING,
         "domain": NO_TEXT, "select": NO_TEXT, "engine_metadata": NO_SWITCH,
         "advance": NO_FUNCTION},
    ),
    "publish": (
        lambda nexus, **given: nexus.publish(**{"folder": "pages", **given}),
        {"folder": [5, None, b"x", [], Odd(), "\ud800"], "mapping": NO_MAPPING, "title": NO_TEXT,
         "address": [*NO_TEXT, "x", "urn:a", "https://e.example/#a", "https://e.example/?a"],
         "advance": NO_FUNCTION},
    ),
    "schema": (
        lambda nexus, **given: nexus.schema(**given),
        {"target": NO_TARGET, "mapping": NO_MAPPING},
    ),
    "shapes": (
        lambda nexus, **given: nexus.shapes(**given),
        {"target": NO_TARGET, "profile": NO_PROFILE},
    ),
    "provenance": (lambda nexus, **given: nexus.provenance(**given), {"target": NO_TARGET}),
    "to_rdflib": (lambda nexus, **given: nexus.to_rdflib(**given), {"mapping": NO_MAPPING}),
    "import_rdf": (
        lambda nexus, document=FACT, **given: nexus.import_rdf(document, **given),
        {"document": NO_SOURCE, "replace": NO_SWITCH, "lenient": NO_SWITCH,
         "ontology": NO_SWITCH, "format": NO_FORMAT, "mapping": NO_MAPPING, "define": NO_SWITCH,
         "default_type": NO_TEXT, "language": NO_TEXT, "base_iri": NO_BASE,
         "metadata": NO_METADATA, "loader": NO_FUNCTION, "dry_run": NO_SWITCH},
    ),
    "import_ontology": (
        lambda nexus, document=CLASS, **given: nexus.import_ontology(document, **given),
        {"document": NO_SOURCE, "format": NO_FORMAT, "mapping": NO_MAPPING, "inherit": NO_SWITCH,
         "metadata": NO_METADATA, "dry_run": NO_SWITCH},
    ),
    "diff": (
        lambda nexus, **given: nexus.diff(**{"other": SNAPSHOT, **given}),
        {"other": NO_SOURCE, "engine_metadata": NO_SWITCH, "link_ids": NO_SWITCH},
    ),
    "restore": (
        lambda _, **given: empty().restore(**{"source": SNAPSHOT, **given}),
        {"source": NO_SOURCE, "format": NO_FORMAT, "mapping": NO_MAPPING, "base_iri": NO_BASE},
    ),
    "from_rdflib": (
        lambda _, **given: kiprdf.Nexus.from_rdflib(**{"graph": rdflib.Graph(), **given}),
        {"graph": [5, None, "x", [], Odd(), SNAPSHOT], "mapping": NO_MAPPING, "base_iri": NO_TEXT},
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("method", "argument"), [(method, name) for method in CALLS for name in CALLS[method][1]]
)
def test_a_wrong_argument_is_reported(
    method: str, argument: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call, wrong = CALLS[method]
    for value in wrong[argument]:
        error = refused(call, argument, value)
        assert error.code in ("KIP_1001", "KIP_1002", "KIP_2003"), (value, error)
        assert error.hint, (value, error)
    assert os.listdir(tmp_path) == []


def refused(call: Call, argument: str, value: Any) -> kiprdf.KipError:
    """The error of a call, which does not change the nexus."""
    nexus = medical()
    with untouched(nexus), pytest.raises(kiprdf.KipError) as raised:
        call(nexus, **{argument: value})
    return raised.value


def test_an_error_names_the_argument_the_expectation_and_the_remedy() -> None:
    with pytest.raises(kiprdf.KipError) as raised:
        medical().snapshot(domain=5)  # type: ignore[arg-type]
    assert str(raised.value) == (
        "KIP_1001 The argument domain is a string, not int. "
        "Hint: Leave domain out, or give a string."
    )


@pytest.mark.parametrize("opened", [io.BytesIO, io.StringIO])
def test_a_closed_file_is_reported(opened: Callable[[], Any]) -> None:
    closed = opened()
    closed.close()
    nexus = medical()
    for call in (nexus.snapshot, nexus.schema, nexus.import_rdf, nexus.diff, nexus.import_ontology):
        with pytest.raises(kiprdf.KipError, match="closed") as raised:
            call(closed)
        assert raised.value.code == "KIP_1001"


def test_a_file_that_is_open_as_text_takes_no_bytes() -> None:
    with pytest.raises(kiprdf.KipError, match="open in binary") as raised:
        medical().write_snapshot(io.StringIO())  # type: ignore[arg-type]
    assert raised.value.code == "KIP_1001"


@each_case(
    "triple, shown",
    [
        ((Literal("x"), URIRef("urn:p"), URIRef("urn:o")), '"x" <urn:p> <urn:o>'),
        ((URIRef("urn:s"), BNode("b"), URIRef("urn:o")), "<urn:s> _:b <urn:o>"),
        ((URIRef("urn:s"), Literal("p"), URIRef("urn:o")), '<urn:s> "p" <urn:o>'),
        ((URIRef("urn:s"), URIRef("urn:p"), rdflib.Variable("o")), "Variable('o')"),
        ((URIRef("urn:s"), URIRef("urn:p"), Literal("\ud800")), "'\\ud800'"),
        ((URIRef("urn:\ud800"), URIRef("urn:p"), Literal("x")), "'urn:\\ud800'"),
    ],
)
def test_a_triple_that_rdflib_accepts_and_rdf_does_not_is_reported(triple: Any, shown: str) -> None:
    graph = rdflib.Graph()
    graph.add(triple)
    with pytest.raises(kiprdf.KipError) as raised:
        kiprdf.Nexus.from_rdflib(graph)
    assert (raised.value.code, shown in raised.value.message) == ("KIP_1001", True)


@each_case(
    "call, sentence",
    [
        (lambda nexus: nexus.at(10**5000), "KIP_3002 There is no commit of that number;"),
        (
            lambda nexus: nexus.history("C:Person/$self", cursor="9" * 5000),
            "KIP_1001 The cursor is not valid for this call.",
        ),
        (lambda nexus: nexus.changes(0, cursor="9" * 5000), "KIP_1001 The cursor is not valid"),
        (
            lambda nexus: nexus.undo(seqs=5),
            "KIP_1001 The argument seqs is several numbers, not int.",
        ),
        (lambda nexus: nexus.undo(seqs="12"), "KIP_1001 The argument seqs is several numbers,"),
    ],
)
def test_an_argument_that_is_no_number_of_a_commit_is_reported(
    call: Callable[[kiprdf.Nexus], Any], sentence: str
) -> None:
    with pytest.raises(kiprdf.KipError) as raised:
        call(kiprdf.Nexus.memory(history=True))
    assert str(raised.value).startswith(sentence)


# Each class of options has the arguments of its methods; these are the method's own.
SIGNATURES = [
    (
        options.ConnectOptions,
        [Nexus.connect],
        {"genesis", "strict_schema", "entail", "clock", "embedder"},
    ),
    (options.SnapshotOptions, [Nexus.snapshot, Nexus.write_snapshot], {"target", "history"}),
    (options.PublishOptions, [Nexus.publish], {"folder"}),
    (options.ImportOptions, [Nexus.import_rdf], {"document"}),
    (options.OntologyOptions, [Nexus.import_ontology], {"document"}),
]


@each_case("kind, methods, own", SIGNATURES)
def test_options_are_the_arguments_of_their_methods(
    kind: type[Any], methods: list[Call], own: set[str]
) -> None:
    def bare(annotation: str) -> str:
        """An annotation without the modules of its names."""
        return re.sub(r"\b(?!rdflib\b|os\b)\w+\.(?=[A-Z])", "", annotation)

    missing = dataclasses.MISSING, inspect.Parameter.empty
    signature = {
        name: (bare(parameter.annotation), parameter.default)
        for method in methods
        for name, parameter in inspect.signature(method).parameters.items()
        if name != "self" and name not in own
    }
    fields = {
        field.name: (bare(field.type), dict([missing]).get(field.default, field.default))
        for field in dataclasses.fields(kind)
        if field.init
    }
    assert fields == signature


def test_the_server_takes_the_options_of_an_import() -> None:
    kinds = options.ImportOptions, options.OntologyOptions
    fields = {one.name for kind in kinds for one in dataclasses.fields(kind) if one.init}
    # A loader is a function.
    assert set(Import.model_fields) == fields - {"loader"} | {"source_name", "ontology"}
