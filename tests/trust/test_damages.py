"""Each file of a folder is damaged: right answers, or one sentence; never more than a gigabyte.

Of a few files by default, each opened for reading or for writing; with ``KIPRDF_DAMAGES=5`` of all,
each opened for both: a byte is flipped at so many places, the file is cut to half, emptied,
deleted, and several files at once. ``KIPRDF_SEED`` chooses those.
"""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from tests.long_runs import SEED, amount
from tests.trust import damaging
from tests.trust.damaging import Answers
from tests.trust.processes import run
from tests.trust.visiting import files_of

DAMAGES = amount("DAMAGES", 1)
MEGABYTES = 1000
SECONDS = 60.0
STATEMENTS = "history/statements.jsonl"
SAMPLE = {
    "graph/MANIFEST-*": "half",
    "graph/IDENTITY": "flip 0",
    "history/*1.kseg": "flip 1",
    "history/*.klog": "half",
    "nexus.json": "flip 0",
}
"""What is damaged by default, besides the largest table."""

UNNOTICED = ("search.sqlite3", "vectors.sqlite3", "history/index.sqlite3", STATEMENTS)
"""The files of which SQLite, or nobody, notices a flipped byte in most places."""
FLIPS = 1 if DAMAGES == 1 else 8 * DAMAGES
"""The places in each of these at which a bit is flipped."""

Damages = list[tuple[Path, str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("built") / "brain"
    run(damaging.build, str(place))
    return place


@pytest.fixture(scope="module")
def right(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Answers]:
    """The answers of the undamaged folder, opened for reading and for writing."""
    answers = {}
    for read_only in (True, False):
        copy = shutil.copytree(folder, tmp_path_factory.mktemp("right") / "brain")
        answers[read_only] = run(damaging.visit, str(copy), read_only)
        assert is_sound(answers[read_only]["check"])
        for name, answer in answers[read_only]["asked"].items():
            assert not is_sentence(answer), (name, answer)
    return answers


def is_sound(report: Any) -> bool:
    return (
        isinstance(report, dict)
        and not report["faults"]
        and report["index"] != "wrong"
        and report["history"] is not None
        and report["history"]["state"] == "sound"
    )


def is_sentence(answer: Any) -> bool:
    """An error of the API, in one line, which is no fault of the program."""
    return isinstance(answer, str) and "\n" not in answer and "The engine failed" not in answer


def damaged(data: bytes, damage: str) -> bytes | None:
    """The content of a file after a damage; None of one that is deleted."""
    kind, *place = damage.split()
    if kind == "flip":
        at = min(len(data) - 1, len(data) * int(place[0]) // max(DAMAGES - 1, 2))
        return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]
    return {"half": data[: len(data) // 2], "emptied": b"", "deleted": None}[kind]


def faults(visit: Answers, right: Answers) -> Iterator[str]:
    """What is wrong with the answers of a damaged folder."""
    if visit["megabytes"] > MEGABYTES:
        yield f"{visit['megabytes']} MB"
    if "refused" in visit:
        if not is_sentence(visit["refused"]):
            yield visit["refused"]
        return
    check = visit["check"]
    has_lost_records = isinstance(check, dict) and bool(check["history"]["faults"])
    for part in ("asked", "asked again"):
        for name, answer in visit.get(part, {}).items():
            if name == "snapshot" and part != "asked":
                continue  # the write has its own time
            if name == "history" and has_lost_records and not is_sentence(answer):
                continue  # one entry says what was lost
            if answer != right[part][name] and not is_sentence(answer):
                yield f"{part}, {name}: {answer}"
    for part in ("again", "copy"):
        if visit.get(part, right.get(part)) != right.get(part) and not is_sentence(visit[part]):
            yield f"{part}: {visit[part]}"
    if is_sound(check) and visit.get("write") is not None:
        yield f"it is sound, and writing it fails: {visit['write']}"


def assert_right_or_sentences(
    folder: Path,
    into: Path,
    damages: Damages,
    right: dict[bool, Answers],
    ways: Sequence[bool] = (True, False),
) -> int:
    """Damage files of a copy; returns how many of the openings answered everything right."""
    answered = 0
    for read_only in ways:
        shutil.rmtree(into, ignore_errors=True)
        shutil.copytree(folder, into)
        for file, damage in damages:
            data = damaged((folder / file).read_bytes(), damage)
            if data is None:
                (into / file).unlink()
            else:
                (into / file).write_bytes(data)
        begun = time.monotonic()
        visit = run(damaging.visit, str(into), read_only)
        assert time.monotonic() - begun < SECONDS, (damages, read_only)
        assert list(faults(visit, right[read_only])) == [], (damages, read_only, visit)
        answered += visit.get("asked") == right[read_only]["asked"]
    return answered


def chosen(folder: Path) -> Iterator[Damages]:
    """The damages of one file each."""
    files = files_of(folder)
    if DAMAGES == 1:
        tables = [file for file in files if file.suffix == ".sst"]
        yield [(max(tables, key=lambda file: (folder / file).stat().st_size), "flip 1")]
        for pattern, damage in SAMPLE.items():
            yield [(next(file for file in files if file.match(pattern)), damage)]
        return
    kinds = [*(f"flip {place}" for place in range(DAMAGES)), "half", "emptied", "deleted"]
    for file in files:
        yield from ([(file, kind)] for kind in kinds)


def test_a_damaged_file_gives_right_answers_or_a_sentence(
    folder: Path,
    tmp_path: Path,
    right: dict[bool, Answers],
    record_property: Callable[[str, Any], None],
) -> None:
    visits = answered = 0
    for number, damages in enumerate(chosen(folder)):
        ways = (True, False) if DAMAGES > 1 else (number % 2 == 0,)
        answered += assert_right_or_sentences(folder, tmp_path / "copy", damages, right, ways)
        visits += len(ways)
    record_property("count", f"{visits} openings of {number + 1} damaged folders")
    print(f"{visits} openings, {answered} of them answered everything")


def opened(folder: Path, read_only: bool) -> kiprdf.Nexus:
    return kiprdf.Nexus.open(folder, read_only=read_only, embedder=damaging.embed, genesis=False)


@pytest.mark.parametrize("name", UNNOTICED)
def test_a_flipped_bit_changes_no_hit_no_score_and_no_text(
    folder: Path, tmp_path: Path, name: str
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    with opened(copy, True) as nexus:
        right = damaging.derived_answers(nexus)
    assert [name for name, answer in right.items() if is_sentence(answer)] == []
    chance = random.Random(f"{SEED} {name}")
    for _ in range(FLIPS):
        data = bytearray((folder / name).read_bytes())
        at, bit = chance.randrange(len(data)), 1 << chance.randrange(8)
        data[at] ^= bit
        for read_only in (True, False):
            shutil.rmtree(copy)
            shutil.copytree(folder, copy)
            (copy / name).write_bytes(data)
            with opened(copy, read_only) as nexus:
                answers = damaging.derived_answers(nexus)
                report = nexus.check(repair=not read_only)
                again = damaging.derived_answers(nexus)
            wrong = {key for key in right if answers[key] != right[key]}
            if name == STATEMENTS:
                assert wrong == {"history note3", "history note9", "history note41"}
                assert all(is_sentence(answers[key]) for key in wrong)
                assert "statements.jsonl of the history is damaged" in str(report["history"])
            else:
                assert (wrong, is_sound(report) or read_only) == (set(), True), (at, bit, report)
                assert again == right
            if not read_only:
                with opened(copy, True) as nexus:
                    assert is_sound(nexus.check())
                    assert name == STATEMENTS or damaging.derived_answers(nexus) == right


@pytest.mark.skipif(DAMAGES == 1, reason="KIPRDF_DAMAGES is 1")
def test_several_damages_at_once_give_right_answers_or_sentences(
    folder: Path, tmp_path: Path, right: dict[bool, Answers]
) -> None:
    chance = random.Random(SEED)
    # Without the checksums and with a damaged table at once, damage is found by the engine alone.
    files = [file for file in files_of(folder) if file.name != "sums.json"]
    for _ in range(6 * DAMAGES):
        damages = [
            (file, chance.choice((f"flip {chance.randrange(DAMAGES)}", "half", "deleted")))
            for file in chance.sample(files, chance.randint(2, 4))
        ]
        assert_right_or_sentences(folder, tmp_path / "copy", damages, right)
