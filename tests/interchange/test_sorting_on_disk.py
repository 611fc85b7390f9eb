"""A large dataset is sorted in temporary files: the same bytes, in less memory."""

from __future__ import annotations

import io
import tracemalloc

import pytest
from pyoxigraph import Literal, NamedNode, Quad, Store

import kiprdf
from kiprdf import resources
from kiprdf.interchange.formats import Format, Profile, ordering
from kiprdf.interchange.formats.writing import Serializer
from kiprdf.interchange.n_triples import StagingStore
from kiprdf.rdf.iris import Iris

FORMATS: list[Format] = ["turtle", "trig", "ntriples", "nquads", "jsonld", "rdfxml"]


@pytest.fixture(scope="module")
def nexus() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory()
    nexus.apply_capsule(resources.example_capsule("medical").text)
    command = (
        'UPSERT { CONCEPT { {type: "Drug", name: "Odd é"} SET ATTRIBUTES { t: :t, n: 1.0 } } }'
    )
    nexus.execute(command, t="two\nlines, \x00, \u2028 and 阿司匹林")
    return nexus


WAYS: list[tuple[Format, Profile, str | None]] = [
    *((format, "rdf11", None) for format in FORMATS),
    *((format, "rdf12", None) for format in FORMATS[:4]),
    *((format, "rdf11", "schema-org") for format in FORMATS),
]


@pytest.mark.parametrize(("format", "profile", "mapping"), WAYS)
def test_a_snapshot_that_is_sorted_on_disk_has_the_same_bytes(
    nexus: kiprdf.Nexus,
    monkeypatch: pytest.MonkeyPatch,
    format: Format,
    profile: Profile,
    mapping: str | None,
) -> None:
    expected = nexus.snapshot(profile=profile, format=format, mapping=mapping)
    monkeypatch.setattr(ordering, "SPILLED_CHARACTERS", 5_000)
    monkeypatch.setattr(ordering, "_AT_ONCE", 3)
    monkeypatch.setattr(ordering, "_MEMOS", 10)
    spilled: list[int] = []
    spill = ordering.Dataset._spill
    monkeypatch.setattr(
        ordering.Dataset, "_spill", lambda *a: (spilled.append(len(a[1])), spill(*a))[1]
    )
    assert nexus.snapshot(profile=profile, format=format, mapping=mapping) == expected
    is_in_memory = mapping is not None or (profile == "rdf12" and format in ("turtle", "trig"))
    assert (len(spilled) > 1) is not is_in_memory


def test_triples_of_a_subject_in_several_files_are_one_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ordering, "SPILLED_CHARACTERS", 1)
    engine = Store()
    subjects = [NamedNode(f"urn:kip:nexus/Drug/{name}") for name in "ab"]
    for number in range(3):
        for subject in subjects:
            engine.add(Quad(subject, NamedNode("urn:kip:attribute/n"), Literal(str(number))))
    output = io.BytesIO()
    # Each batch of lines goes to another file.
    triples = [quad.triple for quad in sorted(engine, key=lambda quad: str(quad.object))]
    Serializer(triples, "ntriples", Iris("urn:kip:nexus/")).write(output)
    assert output.getvalue().decode().splitlines()[1:] == [
        f'<urn:kip:nexus/Drug/{name}> <urn:kip:attribute/n> "{number}" .'
        for name in "ab"
        for number in range(3)
    ]


def test_a_snapshot_takes_no_more_memory_than_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Store()
    engine.extend(
        Quad(
            NamedNode(f"urn:kip:nexus/Drug/{number}"),
            NamedNode(f"urn:kip:attribute/a{key}"),
            Literal(f"the value {number} of {key}"),
        )
        for number in range(3_000)
        for key in range(5)
    )

    def peak() -> int:
        tracemalloc.start()
        try:
            Serializer(StagingStore(engine), "ntriples", Iris("urn:kip:nexus/")).write(_Nowhere())
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    monkeypatch.setattr(ordering, "_MEMOS", 500)
    in_memory = peak()
    monkeypatch.setattr(ordering, "SPILLED_CHARACTERS", 100_000)
    assert peak() < in_memory / 2


class _Nowhere(io.BytesIO):
    def write(self, data: object) -> int:
        return len(data)  # type: ignore[arg-type]
