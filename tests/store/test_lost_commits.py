"""A reader of a graph that has lost commits has them from the journal."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.store import oxigraph

NAMES = 'FIND(?p.name) WHERE { ?p {type: "Person"} } ORDER BY ?p.name'
ALL = ["$self", "$system", "p0", "p1", "p2", "p3", "p4"]
PEOPLE = "SELECT ?p { ?p a <urn:kip:nexus/$ConceptType/Person> }"


def add(nexus: kiprdf.Nexus, number: int) -> None:
    nexus.execute('UPSERT { CONCEPT { {type: "Person", name: :name} } }', name=f"p{number}")


def lose(folder: Path, lost: int) -> int:
    """A nexus whose graph has lost its last commits; returns their number before that."""
    for number in range(5):
        if number == 5 - lost:
            shutil.copytree(folder / "graph", folder.with_name("earlier"))
        with kiprdf.Nexus.open(folder) as nexus:
            add(nexus, number)
            last: int = nexus.info()["commit"]
    shutil.rmtree(folder / "graph")
    folder.with_name("earlier").rename(folder / "graph")
    return last


@pytest.mark.parametrize("lost", [1, 3])
def test_a_reader_has_the_commits_that_the_graph_has_lost(tmp_path: Path, lost: int) -> None:
    last = lose(tmp_path / "brain", lost)
    shutil.copytree(tmp_path / "brain", tmp_path / "without")
    shutil.rmtree(tmp_path / "without" / "history")
    with kiprdf.Nexus.open(tmp_path / "without", read_only=True) as nexus:
        assert nexus.execute(NAMES) == ALL[:-lost]

    with kiprdf.Nexus.open(tmp_path / "brain", read_only=True) as reader:
        assert reader.read_only
        assert reader.execute(NAMES) == ALL
        assert len(reader.sparql(PEOPLE).tuples()) == 7  # type: ignore[union-attr]
        assert (reader.info()["commit"], reader.info()["history"]["latest_seq"]) == (last, last)
        report = reader.check()
        assert (report["faults"], report["history"]["state"]) == ([], "sound")
        reader.backup(tmp_path / "copy")
        text = reader.snapshot()
        with reader.at(last - 1) as past:
            assert past.execute(NAMES) == ALL[:-1]
        with pytest.raises(kiprdf.KipError):
            add(reader, 9)
    for folder in ("copy", "brain"):
        with kiprdf.Nexus.open(tmp_path / folder) as nexus:
            assert (nexus.snapshot(), nexus.info()["commit"]) == (text, last)


def test_a_reader_of_a_large_graph_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "brain"
    last = lose(folder, 2)
    monkeypatch.setattr(oxigraph, "COPIED_QUADS", 100)
    with pytest.raises(kiprdf.StoreError) as refused:
        kiprdf.Nexus.open(folder, read_only=True)
    assert str(refused.value) == (
        f"The graph of the nexus in {folder} lacks commits {last - 1} to {last}; restore them from "
        f"its history: kiprdf check --nexus {folder}"
    )
    with kiprdf.Nexus.open(folder) as nexus:
        assert nexus.execute(NAMES) == ALL
    with kiprdf.Nexus.open(folder, read_only=True) as reader:
        assert reader.execute(NAMES) == ALL


def test_commits_that_the_history_lacks_too_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "brain"
    last = lose(folder, 3)
    (log,) = (folder / "history").glob("*.klog")
    data = log.read_bytes()
    begin = data.index(b'[%d, "' % (last - 2))
    log.write_bytes(data[:begin] + b"\xff" + data[begin + 1 :])
    for options in ({}, {"read_only": True}):
        with pytest.raises(kiprdf.StoreError, match="so does its history: restore a backup"):
            kiprdf.Nexus.open(folder, **options)


def test_beside_a_writer_the_last_commit_may_just_be_happening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record is written before the graph: a reader that opens then is right without it."""
    folder, seen = tmp_path / "brain", []

    def read_before(write: Callable[..., Any]) -> Callable[..., Any]:
        def then(self: Any, *arguments: Any, **options: Any) -> Any:
            if not self.read_only:
                with kiprdf.Nexus.open(folder, read_only=True) as reader:
                    seen.append((reader.execute(NAMES), reader.info()["commit"]))
            return write(self, *arguments, **options)

        return then

    with kiprdf.Nexus.open(folder) as nexus:
        add(nexus, 0)
        last = nexus.info()["commit"]
        monkeypatch.setattr(
            oxigraph.OxigraphStore, "_add", read_before(oxigraph.OxigraphStore._add)
        )
        add(nexus, 1)
        assert seen == [(ALL[:3], last)]
        with kiprdf.Nexus.open(folder, read_only=True) as reader:
            assert reader.execute(NAMES) == ALL[:4]
