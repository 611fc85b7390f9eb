"""Compressed documents, recognized by their first bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

import kiprdf
from kiprdf.interchange import compression, files

BOAT = '<urn:boat:1> a <urn:v:Boat> ; <urn:v:mast> "tall" .\n'
WRITERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}
every_kind = pytest.mark.parametrize("kind", WRITERS)


def masts(nexus: kiprdf.Nexus) -> object:
    return nexus.execute('FIND(?b.attributes.mast) WHERE { ?b {type: "Boat"} }')


@every_kind
def test_a_compressed_document_is_imported_from_anywhere(kind: str, tmp_path: Path) -> None:
    data = WRITERS[kind](BOAT.encode())
    path, bare = tmp_path / f"boats.ttl.{kind}", tmp_path / "boats.ttl"
    path.write_bytes(data)
    bare.write_bytes(data)  # the first bytes count, not the name
    with path.open("rb") as file:
        for source in (path, str(bare), data, io.BytesIO(data), file):
            nexus = kiprdf.Nexus.memory()
            assert nexus.import_rdf(source, define=True)["triples"] == 2
            assert masts(nexus) == ["tall"]


def test_standard_input_may_be_compressed(tmp_path: Path) -> None:
    data = gzip.compress(BOAT.encode())
    command = [sys.executable, "-m", "kiprdf", "import", "-", "--define", "--dry-run"]
    run = subprocess.run(command, input=data, capture_output=True, cwd=tmp_path, check=True)
    assert run.stdout.startswith(b"standard input: 2 triples\n")


@every_kind
def test_members_one_after_the_other_are_one_document(kind: str) -> None:
    compress = WRITERS[kind]
    members = compress(BOAT[:20].encode()) + compress(b"") + compress(BOAT[20:].encode())
    assert compression.expanded(members) == BOAT.encode()
    many = b"".join(compress(b"%d\n" % number) for number in range(300))
    assert compression.expanded(many) == b"".join(b"%d\n" % number for number in range(300))


def test_archives_in_archives_are_named_as_what_they_are() -> None:
    files = io.BytesIO()
    with tarfile.open(fileobj=files, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("boats.ttl"))
    for inner in (gzip.compress(b"one"), files.getvalue()):
        with pytest.raises(kiprdf.KipError, match="KIP_1001 The document has an archive in it"):
            compression.expanded(gzip.compress(inner))


def test_zeros_after_a_member_are_padding() -> None:
    padded = gzip.compress(b"one") + bytes(5000)
    assert compression.expanded(padded + gzip.compress(b"two") + bytes(7)) == b"onetwo"


@every_kind
def test_a_damaged_archive_is_an_error_and_nothing_is_imported(kind: str, tmp_path: Path) -> None:
    text = "".join(f'<urn:boat:{n}> a <urn:v:Boat> ; <urn:v:mast> "{n}" .\n' for n in range(999))
    data = WRITERS[kind](text.encode())
    path = tmp_path / f"boats.ttl.{kind}"
    flipped = bytes([*data[:900], data[900] ^ 255, *data[901:]])
    for bad in (data[:-1], data[: len(data) // 2], data[:7], flipped, data + b"x", data + data[:9]):
        path.write_bytes(bad)
        nexus = kiprdf.Nexus.memory()
        with pytest.raises(kiprdf.KipError, match=rf"KIP_1001 boats\.ttl\.{kind} is damaged"):
            nexus.import_rdf(path, define=True)
        assert nexus.info()["concepts"] == kiprdf.Nexus.memory().info()["concepts"]


@every_kind
def test_an_archive_that_expands_without_end_is_refused(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compression, "ALLOWANCE", 2_000_000)
    monkeypatch.setattr(compression, "GROWTH", 2)
    data = WRITERS[kind](bytes(10_000_000))
    with pytest.raises(kiprdf.KipError, match="KIP_4002 The document expands to more than 2 times"):
        kiprdf.Nexus.memory().import_rdf(data)
    assert len(compression.expanded(WRITERS[kind](b"x" * 2_000_000))) == 2_000_000


def test_without_its_package_zstd_is_an_error_with_the_name_of_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kiprdf.loading._loaded", set())
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(kiprdf.KipError, match=r"Install kiprdf\[zstd\]"):
        kiprdf.Nexus.memory().import_rdf(WRITERS["zst"](BOAT.encode()))


def test_snapshots_contexts_and_ontologies_may_be_compressed(tmp_path: Path) -> None:
    nexus = kiprdf.Nexus.memory()
    nexus.import_rdf(BOAT, define=True)
    path = tmp_path / "all.nt.gz"
    path.write_bytes(gzip.compress(nexus.snapshot(format="ntriples").encode()))
    other = kiprdf.Nexus.memory()
    other.restore(path)
    assert masts(other) == ["tall"]
    assert not nexus.diff(path)
    ontology = tmp_path / "boats.owl.ttl.xz"
    ontology.write_bytes(lzma.compress(b"<urn:v:Ship> a <http://www.w3.org/2002/07/owl#Class> ."))
    assert other.import_ontology(ontology)["definitions"]["concept_types"] == ["Ship"]


def test_an_archive_is_read_and_not_written(tmp_path: Path) -> None:
    assert files.format_of("data.nq.GZ") == "nquads"
    assert files.format_of("data.gz") is None
    with pytest.raises(kiprdf.KipError, match=r"The suffix of all\.ttl\.gz is not"):
        kiprdf.Nexus.memory().snapshot(tmp_path / "all.ttl.gz")
    assert list(tmp_path.iterdir()) == []
