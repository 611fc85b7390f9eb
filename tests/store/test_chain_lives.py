"""A history that nobody has edited is sound in each state that kiprdf, or a kill of it, leaves."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

import kiprdf
from kiprdf.rdf import vocab
from kiprdf.store import OxigraphStore
from kiprdf.store import journal as journals
from kiprdf.store.bookkeeping import commit_note
from kiprdf.store.journal_files import NOTHING, Sealed, links_of, seal
from tests.store.test_chain import forged, records, write
from tests.trust.test_forgetting import killing, run_killed

IS_LONG = "KIPRDF_CHAIN" in os.environ
LIVES = 300 if IS_LONG else 1
"""The number of random lives."""
TYPE = 'UPSERT { CONCEPT { {type: "$ConceptType", name: :name} } }'
verify = kiprdf.Nexus.verify_history


def add(nexus: kiprdf.Nexus, name: str) -> None:
    # The text of the statement has its keys.
    key = name.replace(" ", "_")
    block = f'{{type: "Person", name: :name}} SET ATTRIBUTES {{ {key}: 1 }}'
    nexus.execute(f"UPSERT {{ CONCEPT {{ {block} }} }}", name=name)


def require_sound(folder: Path) -> dict[str, Any]:
    report = verify(folder)
    assert report["fault"] is None, report
    return report


@pytest.fixture
def brain(tmp_path: Path) -> Path:
    """A nexus of six commits, whose statements all have another text."""
    folder = tmp_path / "brain"
    with kiprdf.Nexus.open(folder) as nexus:
        for name in ("Ada", "Bob", "Cyd", "Dora", "Eve"):
            add(nexus, name)
    return folder


def test_a_history_that_begins_later_and_pauses_is_sound(tmp_path: Path) -> None:
    folder = tmp_path / "brain"
    with kiprdf.Nexus.open(folder, history=False) as nexus:
        add(nexus, "Ada")
    with kiprdf.Nexus.open(folder):
        report = require_sound(folder)  # no record yet
        assert (report["last"], report["warning"] is None) == (0, False)
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.backup(tmp_path / "copy")
    require_sound(tmp_path / "copy")
    with kiprdf.Nexus.open(tmp_path / "copy") as copy:
        assert copy.info()["history"]["latest_seq"] == 0 or not copy.check()["history"]["faults"]
    require_sound(tmp_path / "copy")
    for name in ("Bob", "Dora"):
        with kiprdf.Nexus.open(folder) as nexus:
            add(nexus, name)
            add(nexus, f"{name} too")
            require_sound(folder)
        with kiprdf.Nexus.open(folder, history=False) as nexus:
            add(nexus, f"{name} without")
            assert require_sound(folder)["warning"] is not None
    with kiprdf.Nexus.open(folder) as nexus:
        # What was not recorded has no record here, since the beginning is not recorded either.
        require_sound(folder)
        add(nexus, "Eve")
    assert require_sound(folder)["last"] == 9
    written = records(folder)
    write(folder, [*written[:2], *written[3:]])
    assert verify(folder)["fault"] == "Its record is missing."
    write(folder, written)
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.compact_history(nexus.info()["history"]["earliest_seq"])
        require_sound(folder)
        add(nexus, "Fay")
    require_sound(folder)


def test_an_empty_nexus_without_a_history_gets_one(tmp_path: Path) -> None:
    folder = tmp_path / "brain"
    kiprdf.Nexus.open(folder, genesis=False).close()
    kiprdf.Nexus.open(folder, genesis=False, history=False).close()
    with kiprdf.Nexus.open(folder, genesis=False) as nexus:
        assert require_sound(folder)["last"] == nexus.info()["commit"] == 0
        assert nexus.check()["faults"] == []
    with kiprdf.Nexus.open(folder, genesis=False, history=False) as nexus:
        nexus.execute(TYPE, name="Person")
        require_sound(folder)
    with kiprdf.Nexus.open(folder, genesis=False) as nexus:
        require_sound(folder)
        nexus.execute(TYPE, name="Place")
        assert (require_sound(folder)["last"], nexus.check()["history"]["faults"]) == (2, [])


def test_a_history_that_was_begun_again_after_damage_is_sound(brain: Path) -> None:
    (log,) = (brain / "history").glob("*.klog")
    data = log.read_bytes()
    begin = data.index(b'[3, "')
    log.write_bytes(data[:begin] + b"\xff" + data[begin + 1 :])
    assert verify(brain)["commit"] == 3
    with kiprdf.Nexus.open(brain) as nexus:
        nexus.compact_history(3)  # the hint of check
        require_sound(brain)
        add(nexus, "Fay")
    require_sound(brain)


@pytest.mark.parametrize("is_last", [True, False])
def test_forgetting_without_a_history_is_sound(brain: Path, is_last: bool) -> None:
    if not is_last:
        with kiprdf.Nexus.open(brain) as nexus:
            nexus.forget(["C:Person/Dora"])
    with kiprdf.Nexus.open(brain, history=False) as nexus:
        nexus.forget(["C:Person/Ada"])
        require_sound(brain)
        nexus.forget(["C:Person/Bob"])
        require_sound(brain)
    require_sound(brain)
    with kiprdf.Nexus.open(brain) as nexus:
        require_sound(brain)
        add(nexus, "Fay")
    require_sound(brain)


def test_a_text_that_is_lost_after_forgetting_is_found(brain: Path) -> None:
    with kiprdf.Nexus.open(brain) as nexus:
        nexus.forget(["C:Person/Ada"])
        nexus.forget(["C:Person/Bob"])
    require_sound(brain)
    texts = brain / "history" / "statements.jsonl"
    lines = texts.read_text().splitlines()
    texts.write_text("\n".join(line for line in lines if "Cyd" not in line))
    report = verify(brain)
    assert (report["commit"], report["fault"]) == (
        4,
        "The text of its statement is missing, or was changed.",
    )


def test_a_text_that_could_not_be_written_is_not_missing(
    brain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = journals.io.FileIO  # type: ignore[attr-defined]

    def full(path: Any, *args: Any) -> Any:
        if Path(path).name == "statements.jsonl":
            raise OSError(28, "No space left on device")
        return real(path, *args)

    with kiprdf.Nexus.open(brain) as nexus, monkeypatch.context() as patch:
        patch.setattr("io.FileIO", full)
        add(nexus, "Fay")
    require_sound(brain)


def compact(folder: str, place: str, name: str, times: int) -> None:
    nexus = kiprdf.Nexus.open(folder)
    killing(place, name, times)
    nexus.compact_history(4)


def forget(folder: str, place: str, name: str, times: int) -> None:
    nexus = kiprdf.Nexus.open(folder)
    killing(place, name, times)
    nexus.forget(["C:Person/Bob"])


def resume(folder: str, place: str, name: str, times: int) -> None:
    killing(place, name, times)
    kiprdf.Nexus.open(folder)


KILLS: list[tuple[Callable[..., None], str, str, int]] = [
    (compact, "pathlib:Path", "replace", 3),  # between both files
    (forget, "kiprdf.store.journal", "adopt", 1),
    (resume, "kiprdf.store.oxigraph:OxigraphStore", "_note_head", 1),
    (compact, "pathlib:Path", "replace", 2),
    (compact, "kiprdf.store.journal", "adopt", 1),
    (compact, "kiprdf.store.journal:Journal", "_read", 1),
    (forget, "pathlib:Path", "replace", 3),
    (forget, "pathlib:Path", "replace", 4),
    (forget, "pathlib:Path", "replace", 5),
    (forget, "kiprdf.store.oxigraph:OxigraphStore", "erased", 1),
][: None if IS_LONG else 3]


@pytest.mark.parametrize(("function", "place", "name", "times"), KILLS)
def test_what_a_kill_leaves_is_sound(
    brain: Path, function: Callable[..., None], place: str, name: str, times: int
) -> None:
    if function is resume:
        with kiprdf.Nexus.open(brain, history=False) as nexus:
            add(nexus, "Fay")
    run_killed(function, str(brain), place, name, times)
    require_sound(brain)
    with kiprdf.Nexus.open(brain) as nexus:
        report = require_sound(brain)
        assert report["warning"] is None
        add(nexus, "Gwen")
    require_sound(brain)


def test_records_that_were_cut_off_stay_missing(brain: Path, tmp_path: Path) -> None:
    """Whether one says that the history was off, or lets the next opening note the loss."""
    shutil.copytree(brain, tmp_path / "other")
    written = records(brain)
    write(brain, written[:4])
    (brain / "history" / "closed").touch()
    report = verify(brain)
    assert (report["commit"], report["fault"]) == (5, "Its record is missing.")
    other = tmp_path / "other"
    write(other, written[:4])
    with kiprdf.Nexus.open(other) as nexus:
        report = verify(other)
        assert (report["commit"], report["fault"][:20]) == (5, "Its record was lost.")
        nexus.compact_history(6)  # the hint of check
        require_sound(other)
    shutil.rmtree(brain / "history")
    report = verify(brain)
    assert (report["commit"], report["fault"]) == (1, "Its record is missing.")


def test_a_compaction_that_cannot_note_its_digest_changes_nothing(
    brain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> Any:
        raise OSError("IO error: No space left on device")

    with kiprdf.Nexus.open(brain) as nexus:
        before = require_sound(brain)
        with monkeypatch.context() as patch:
            patch.setattr("kiprdf.store.oxigraph.OxigraphStore.flush", full)
            with pytest.raises(kiprdf.KipError, match="cannot be written"):
                nexus.compact_history(4)
        assert require_sound(brain) == before
        assert not list((brain / "history").glob("*.next"))
        nexus.compact_history(4)
        require_sound(brain)


@pytest.mark.parametrize("other", [b"[]", b"7", b"{}", b"[" * 100_000])
def test_a_record_with_other_values_than_kiprdf_writes_is_damaged(
    brain: Path, other: bytes
) -> None:
    *before, last = records(brain)
    digest = links_of(last).statement
    assert digest is not None
    write(brain, [*before, forged(last, b'"%s"' % digest.encode(), other)])
    report = verify(brain)
    assert (report["commit"], report["fault"]) == (6, "Its record is damaged.")


def test_edits_of_what_a_file_and_the_graph_say_of_the_records_are_found(brain: Path) -> None:
    with kiprdf.Nexus.open(brain) as nexus:
        nexus.compact_history(4)
    (file,) = (brain / "history").glob("*.kseg")
    written = [data for data in Sealed(file).in_place() if data is not None]
    # Read as a history that begins with a commit, not with the whole dataset.
    seal(file, written, NOTHING, is_first=True, has_base=False)
    assert (verify(brain)["commit"], verify(brain)["fault"]) == (4, "Its record is damaged.")
    seal(file, written, NOTHING, is_first=True, has_base=True)
    require_sound(brain)
    graph = brain / "graph"
    (graph / "sums.json").unlink()
    for key, instead in ((vocab.COMMIT, [commit_note(6)]), (vocab.REWRITTEN, [])):
        engine = ox.Store(str(graph))
        quads = list(engine.quads_for_pattern(None, key, None, None))
        assert quads
        for quad in quads:
            engine.remove(quad)
        engine.extend(instead)
        engine.flush()
        del engine
        assert "was changed" in verify(brain)["fault"]
        engine = ox.Store(str(graph))
        for quad in instead:
            engine.remove(quad)
        engine.extend(quads)
        engine.flush()
        del engine
        require_sound(brain)
    texts = brain / "history" / "statements.jsonl"
    text = texts.read_text()
    texts.write_text(text.replace("\n", "\n ", 1))  # the same texts
    assert verify(brain)["fault"].startswith("The texts of statements were changed")


# Random lives -------------------------------------------------------------------------------------


class Life:
    """Random work on a nexus, whose history is verified after each step.

    At random moments of a write the folder is copied, as a kill would leave it: the copy is sound
    before it is opened, while it is written, and afterwards.
    """

    def __init__(self, place: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.place = place
        self.folder = place / "brain"
        self.log: list[str] = []
        self.copies = 0
        self._is_copying = False

    def require_sound(self, folder: Path | None = None) -> None:
        folder = folder or self.folder
        if (folder / "history").is_dir():
            report = verify(folder)
            assert report["fault"] is None, (report, self.log)

    def moment(self, rate: float) -> None:
        if self._is_copying or self.random.random() > rate:
            return
        self._is_copying = True
        try:
            copy = self.place / "copy"
            shutil.rmtree(copy, ignore_errors=True)
            # The engine may remove files meanwhile.
            with suppress(shutil.Error):
                shutil.copytree(self.folder, copy)
                self.require_sound(copy)
                with kiprdf.Nexus.open(copy) as nexus:
                    self.require_sound(copy)
                    add(nexus, "Zoe")
                self.require_sound(copy)
                self.copies += 1
        finally:
            self._is_copying = False

    def step(self, nexus: kiprdf.Nexus) -> None:
        name = self.random.choice(["Ada", "Bob", "Cyd"])
        step = self.random.choice(["add", "add", "set", "delete", "undo", "forget", "compact"])
        self.log.append(f"{step} {name}")
        history = nexus.info()["history"]
        with suppress(kiprdf.KipError):  # what is undone, or compacted, may not be there
            if step == "add":
                add(nexus, name)
            elif step == "set":
                block = '{type: "Person", name: :name} SET ATTRIBUTES { n: :n }'
                n = self.random.random()
                nexus.execute(f"UPSERT {{ CONCEPT {{ {block} }} }}", name=name, n=n)
            elif step == "delete":
                delete = 'DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Person", name: :name} }'
                nexus.execute(delete, name=name)
            elif step == "undo":
                nexus.undo(seq=nexus.info()["commit"])
            elif step == "forget":
                nexus.forget([f"C:Person/{name}"])
            elif history is not None:
                ends = history["earliest_seq"], history["latest_seq"]
                nexus.compact_history(self.random.randint(*ends))
        self.require_sound()

    def run(self) -> None:
        for _ in range(4):
            history = self.random.random() < 0.7
            self.log.append(f"history={history}")
            with kiprdf.Nexus.open(self.folder, history=history) as nexus:
                for _ in range(self.random.randint(1, 6)):
                    self.step(nexus)
            self.require_sound()
            if self.random.random() < 0.2:
                self.log.append("rebuild")
                with suppress(kiprdf.StoreError):
                    kiprdf.Nexus.rebuild(self.folder)
                self.require_sound()


MOMENTS: list[tuple[Any, str]] = [
    (Path, "replace"),
    (Path, "unlink"),
    (journals.Journal, "append"),
    (journals.Journal, "prepare"),
    (journals, "adopt"),
    (OxigraphStore, "_note_head"),
    (OxigraphStore, "_apply"),
]


@pytest.mark.parametrize("seed", range(LIVES))
def test_a_random_life_and_each_moment_of_it_are_sound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    life = Life(tmp_path, seed)

    def watched(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            life.moment(0.05)
            result = function(*args, **options)
            life.moment(0.05)
            return result

        return call

    monkeypatch.setattr(journals, "SEALED_BYTES", 3_000)
    with kiprdf.Nexus.open(life.folder) as nexus:
        add(nexus, "Ada")
    for place, name in MOMENTS:
        monkeypatch.setattr(place, name, watched(getattr(place, name)))
    life.run()
    assert life.copies > 0
