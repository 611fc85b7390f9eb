"""Every input returns in bounded time: values that share their parts, large documents, capsules."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

import kiprdf
from kiprdf import Budget, Mapping
from kiprdf.language import limits
from tests.nexus.support import medical, untouched
from tests.trust import children

HANG = 120.0
"""Seconds that nothing here comes near."""
LEVELS = 41
UPSERT = 'UPSERT { CONCEPT { {type: "Drug", name: "x"} SET ATTRIBUTES { a: :p } } }'
FIND = 'FIND(?x) WHERE { ?x {type: "Drug"} FILTER(?x.attributes.a == :p) }'
RDF = "<urn:a> a <urn:T> ."
JSON_LD = '{"@context": "http://x/", "@id": "urn:a", "@type": "urn:T"}'


def halves(join: Callable[[Any], Any], first: Any = 1) -> Any:
    """A value of a few kilobytes that has 2**41 values when each is visited."""
    for _ in range(LEVELS):
        first = join(first)
    return first


def cycle() -> Any:
    nested: list[Any] = []
    nested += [nested, nested]
    return nested


SHARED: dict[str, Callable[[], Any]] = {
    "lists": lambda: halves(lambda x: [x, x]),
    "tuples": lambda: halves(lambda x: (x, x)),
    "objects": lambda: halves(lambda x: {"a": x, "b": x}),
    "both": lambda: halves(lambda x: [{"a": x}, (x,)]),
    "itself": cycle,
    "a long string": lambda: ["x" * 1_000_000] * 10_000,
    "wide": lambda: [[[1] * 1_000] * 1_000] * 1_000,
}


def entry_points(nexus: kiprdf.Nexus, value: Any) -> dict[str, Callable[[], Any]]:
    """Each method that takes a Python value."""

    def mapped(context: Any) -> Callable[[], Any]:
        return lambda: nexus.schema(mapping={"@context": context})

    def fetched(context: Any) -> Callable[[], Any]:
        return lambda: nexus.import_rdf(
            JSON_LD, format="jsonld", define=True, loader=lambda _: {"@context": context}
        )

    return {
        "execute": lambda: nexus.execute(UPSERT, p=value),
        "find": lambda: nexus.find(FIND, p=value),
        "find, again": lambda: nexus.find(FIND, p=value),
        "find, compiled": lambda: nexus.find(FIND, p=value),
        "answer": lambda: nexus.answer(UPSERT, {"p": value}),
        "explain": lambda: nexus.explain(FIND, p=value),
        "export": lambda: nexus.export(FIND.replace("FIND(?x)", "EXPORT ?x"), p=value),
        "parameter in parts": lambda: nexus.execute(UPSERT, p={"k": [value]}),
        "metadata": lambda: nexus.import_rdf(RDF, define=True, metadata={"k": value}),
        "metadata of an ontology": lambda: nexus.import_ontology(RDF, metadata={"k": value}),
        "a context": mapped(value),
        "a term": mapped({"a": value}),
        "an id": mapped({"a": {"@id": value}}),
        "a scoped context": mapped({"a": {"@id": "urn:a", "@context": value}}),
        "a mapping": lambda: nexus.schema(mapping=value),
        "a fetched context": fetched(value),
        "a fetched term": fetched({"a": value}),
        "the command": lambda: nexus.execute(value),
    }


def call_all() -> None:
    """Run by a child: an entry point that hangs or fills the memory is the last line."""
    nexus = medical()
    for name, make in SHARED.items():
        value = make()
        for entry_point, call in entry_points(nexus, value).items():
            print(name, entry_point, end=": ", flush=True)
            try:
                call()
                print("accepted")
            except kiprdf.KipError as error:
                print(error.code)
            except (OSError, ValueError) as error:  # of a path
                print(type(error).__name__)
        for request in (
            {"command": UPSERT, "parameters": {"p": value}},
            {"commands": [{"command": UPSERT, "parameters": {"p": value}}]},
            {"commands": [UPSERT], "parameters": {"p": value}},
            {"commands": value},
            {"command": value},
            {"command": UPSERT, "parameters": value},
            {"command": UPSERT, "other": value},
            value,
        ):
            for call_kip in (nexus.execute_kip, nexus.execute_kip_readonly):
                print(name, "execute_kip", end=": ", flush=True)
                print(json.dumps(call_kip(request))[:60])
        with pytest.raises(ValueError, match="is a number above 0"):
            Budget(timeout_s=value)
    print("end")


def test_values_that_share_their_parts_are_refused_by_every_entry_point() -> None:
    child = children.run("-m", "tests.nexus.test_bounded_inputs", seconds=HANG)
    assert child.status == 0, child.output[-2_000:]
    assert child.output.rstrip().endswith("end"), child.output[-2_000:]
    assert "KIP_4003" not in child.output
    assert "accepted" not in child.output
    assert "lists execute: KIP_4002" in child.output
    assert "both metadata: KIP_4002" in child.output


def test_the_largest_allowed_number_of_values_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PARAMETER_VALUES", 1_000_000)
    nexus, many = medical(), [list(range(999))] * 200
    nexus.execute(UPSERT, p=many)
    read = 'FIND(?x.attributes.a) WHERE { ?x {type: "Drug", name: "x"} }'
    assert nexus.execute(read) == [many]


def test_parameters_are_counted_together() -> None:
    half = [0] * (limits.PARAMETER_VALUES // 2 + 1)
    command = 'UPSERT { CONCEPT { {type: "Drug", name: "x"} SET ATTRIBUTES { a: :p, b: :p } } }'
    with pytest.raises(kiprdf.KipError, match="KIP_4002") as raised:
        medical().execute(command, p=half)
    assert "has more than 1000000 values" in raised.value.message
    assert "counts twice" in raised.value.hint


def test_a_key_that_is_too_long_to_be_shown_is_refused() -> None:
    with pytest.raises(kiprdf.KipError, match="KIP_1001") as raised:
        medical().execute(UPSERT, p={10**5_000: 1})
    assert "of the type int" in raised.value.message


def test_a_context_is_bounded_however_it_is_given() -> None:
    terms = {f"t{n}": f"urn:x:{n}" for n in range(200_000)}
    for context in (terms, {"a": {"@id": "urn:a", "@context": terms}}, [terms, terms]):
        with pytest.raises(kiprdf.KipError, match="KIP_4002"):
            Mapping.load({"@context": context})


def test_a_batch_that_is_too_long_is_refused_before_it_is_read() -> None:
    response = medical().execute_kip({"commands": [5] * 1_000_000})
    assert response["error"]["code"] == "KIP_4002"


# Large documents ------------------------------------------------------------------------------

N = 100_000
FIRST, REST = (f"<http://www.w3.org/1999/02/22-rdf-syntax-ns#{n}>" for n in ("first", "rest"))


def in_list(items: list[Any]) -> str:
    return json.dumps({"@id": "urn:s", "@type": "urn:T", "urn:p": {"@list": items}})


DOCUMENTS: dict[str, Callable[[], tuple[str, str]]] = {
    "a list": lambda: ("jsonld", in_list([1] * N)),
    "a list of lists": lambda: ("jsonld", in_list([{"@list": [n]} for n in range(N // 4)])),
    "nodes": lambda: ("jsonld", in_list([{"urn:q": 1}] * (N // 4))),
    "a set": lambda: ("jsonld", json.dumps({"@id": "urn:s", "urn:p": list(range(N))})),
    "terms": lambda: (
        "jsonld",
        json.dumps({"@context": {f"t{n}": f"urn:x:{n}" for n in range(N)}, "t5": 1}),
    ),
    "scoped terms": lambda: (
        "jsonld",
        json.dumps(
            {"@context": {f"t{n}": {"@id": f"urn:x:{n}", "@context": {}} for n in range(N // 4)}}
        ),
    ),
    "a list in turtle": lambda: ("turtle", f"<urn:s> <urn:p> ({'1 ' * N}) ."),
    "a list in ntriples": lambda: (
        "ntriples",
        "".join(f'_:b{n} {FIRST} "{n}" .\n_:b{n} {REST} _:b{n + 1} .\n' for n in range(N)),
    ),
    "a chain": lambda: (
        "turtle",
        "".join(f"_:b{n} a <urn:T> ; <urn:p> _:b{n + 1} .\n" for n in range(N // 4)),
    ),
    "classes": lambda: (
        "turtle",
        "".join(f"<urn:s{n}> a <urn:T{n}> .\n" for n in range(N // 4)),
    ),
}


def soon(nexus: kiprdf.Nexus, call: Callable[[], Any], seconds: float = 0.25) -> str:
    """How a call ends under a budget, well before it would without one.

    The time is that of the processor, which other processes do not change.
    """
    began, used = time.monotonic(), time.process_time()
    try:
        with nexus.limited(timeout_s=seconds):
            call()
        code = "ok"
    except kiprdf.KipError as error:
        code = error.code
    assert code in ("ok", "KIP_4001", "KIP_4002")
    assert time.process_time() - used < max(1.0, 4 * seconds), code
    assert time.monotonic() - began < 30 * seconds, code
    return code


@pytest.mark.parametrize("name", DOCUMENTS)
def test_an_import_stops_at_its_timeout(name: str) -> None:
    format, text = DOCUMENTS[name]()
    nexus = medical()
    with untouched(nexus):
        outcome = soon(
            nexus,
            lambda: nexus.import_rdf(
                text,
                format=format,  # type: ignore[arg-type]
                define=True,
                default_type="Thing",
                dry_run=True,
            ),
        )
    assert outcome != "ok" or name == "terms"


def capsule(number: int) -> str:
    items = "".join(
        f'CONCEPT {{ {{type: "Drug", name: "d{n}"}} SET ATTRIBUTES {{ a: {n}, b: ["x", {n}] }} '
        f'SET PROPOSITIONS {{ ("treats", {{type: "Drug", name: "d{max(n - 1, 0)}"}}) }} }}\n'
        if n
        else 'CONCEPT { {type: "Drug", name: "d0"} }\n'
        for n in range(number)
    )
    return f"UPSERT {{ {items} }}"


@pytest.fixture(scope="module")
def large() -> kiprdf.Nexus:
    nexus = medical()
    nexus.apply_capsule(capsule(4_000))
    return nexus


def test_a_large_capsule_stops_at_its_timeout_and_writes_nothing() -> None:
    nexus = medical()
    text = capsule(20_000)
    with untouched(nexus):
        assert soon(nexus, lambda: nexus.apply_capsule(text)) == "KIP_4001"
    many = "".join(f'UPSERT {{ CONCEPT {{ {{type: "Drug", name: "d{n}"}} }} }}\n' for n in range(N))
    with untouched(nexus):
        assert soon(nexus, lambda: nexus.apply_capsule(many)) == "KIP_4001"


WORK: dict[str, Callable[[kiprdf.Nexus], Any]] = {
    "snapshot": lambda n: n.snapshot(),
    "rdf12": lambda n: n.snapshot(profile="rdf12"),
    "ntriples": lambda n: n.snapshot(format="ntriples"),
    "jsonld": lambda n: n.snapshot(format="jsonld"),
    "rdfxml": lambda n: n.snapshot(format="rdfxml"),
    "mapped": lambda n: n.snapshot(mapping="schema-org"),
    "export": lambda n: n.export(),
    "diff": lambda n: n.diff(medical()),
    "provenance": lambda n: n.provenance(),
    "to_rdflib": lambda n: n.to_rdflib(),
    "find": lambda n: n.find('FIND(?x) WHERE { ?x {type: "Drug"} }'),
}


@pytest.mark.parametrize("name", WORK)
def test_work_on_a_large_nexus_stops_at_its_timeout(name: str, large: kiprdf.Nexus) -> None:
    assert soon(large, lambda: WORK[name](large), 0.05) == "KIP_4001"


@pytest.mark.parametrize("format", ["turtle", "ntriples", "jsonld", "rdfxml"])
def test_a_restore_stops_at_its_timeout(format: Any, large: kiprdf.Nexus) -> None:
    text = large.snapshot(format=format)
    nexus = kiprdf.Nexus.memory()
    with untouched(nexus):
        outcome = soon(
            nexus, lambda: nexus.restore(text, format=format, base_iri=nexus.base_iri), 0.1
        )
    assert outcome == "KIP_4001"


if __name__ == "__main__":
    call_all()
