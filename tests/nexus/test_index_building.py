"""The text index of a large nexus: built in steps, within the time of each request, and kept."""

from __future__ import annotations

import os
import re
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.meta import indexing
from kiprdf.search import TextIndex, index
from kiprdf.search.index import State
from kiprdf.search.rows import KINDS
from tests.programs import start
from tests.serve.running import running

INDEX = "search.sqlite3"
CONCEPTS = 800
STEPS = 9
"""The steps in which they, and the concepts that each nexus has, are indexed."""
NEW = 'UPSERT { CONCEPT { {type: "Star", name: :name} } }'


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with some hundred stars, and without an index."""
    folder = tmp_path_factory.mktemp("stars") / "kb"
    stars = "".join(f'CONCEPT {{ {{type: "Star", name: "star{n}"}} }}' for n in range(CONCEPTS))
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Star"} } }')
        nexus.apply_capsule(f"UPSERT {{ {stars} }}")
    remove_index(folder)
    return folder


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(original, tmp_path / "kb"))


def remove_index(folder: Path) -> None:
    for path in folder.glob(INDEX + "*"):
        path.unlink()


def state(folder: Path) -> State:
    """The state of a file that no other program has open."""
    opened = TextIndex(folder / INDEX, read_only=True)
    try:
        return opened.state()
    finally:
        opened.close()


def names(nexus: kiprdf.Nexus, term: str) -> list[str]:
    return [hit["name"] for hit in nexus.execute("SEARCH CONCEPT :term LIMIT 1", term=term)]


@pytest.fixture
def slow_steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Each step takes a tenth of a second more; returns the sizes of the steps."""
    return slowed(monkeypatch, 0.1)


def slowed(monkeypatch: pytest.MonkeyPatch, seconds: float) -> list[int]:
    steps: list[int] = []
    read = indexing.index_rows
    monkeypatch.setattr(index, "AT_ONCE", 100)

    def read_slowly(store: Any, nodes: Any, *more: Any) -> Iterator[Any]:
        nodes = list(nodes)
        if len(nodes) > 1:
            steps.append(len(nodes))
            time.sleep(seconds)
        return read(store, nodes, *more)

    monkeypatch.setattr(indexing, "index_rows", read_slowly)
    return steps


def repeated(search: Callable[[], list[str]]) -> tuple[list[str], list[float], list[str]]:
    """The hits of a SEARCH that is repeated, the seconds of each call, and the errors before."""
    seconds, errors = [], []
    while True:
        begun = time.monotonic()
        try:
            hits = search()
        except kiprdf.KipError as error:
            errors.append(str(error))
            hits = []
        seconds.append(time.monotonic() - begun)
        if hits or len(seconds) > 100:
            return hits, seconds, errors


def until_begun(nexus: kiprdf.Nexus) -> None:
    """Build until some rows are written, and others are missing."""
    message = ""
    while not 0 < int("".join(re.findall(r"built, (\d+) elements", message)) or 0) < CONCEPTS:
        with nexus.limited(timeout_s=0.05), pytest.raises(kiprdf.KipError) as error:
            nexus.build_index()
        message = str(error.value)


@pytest.mark.parametrize("place", ["folder", "memory", "read-only"])
def test_a_search_ends_in_time_and_the_next_ones_complete_the_index(
    folder: Path, slow_steps: list[int], place: str
) -> None:
    budget = kiprdf.Budget(timeout_s=0.3)
    if place == "memory":
        nexus = kiprdf.Nexus.memory(budget=budget)
        with kiprdf.Nexus.open(folder, read_only=True) as source, nexus.limited(timeout_s=None):
            nexus = kiprdf.Nexus.memory(genesis=False, budget=budget)
            nexus.restore(source.snapshot())
    else:
        nexus = kiprdf.Nexus.open(folder, read_only=place == "read-only", budget=budget)
    with nexus:
        hits, seconds, errors = repeated(lambda: names(nexus, "star123"))
        assert hits == ["star123"]
        assert max(seconds) < 1.3
        assert len(errors) >= 2
        assert all(error.startswith("KIP_4001 ") for error in errors)
        assert "The request took longer than 0.3 s: the text index is being built" in errors[0]
        assert "Repeat it later: what is indexed is kept." in errors[0]
        # Nothing was read twice, in no request.
        assert len(slow_steps) == STEPS
        assert names(nexus, "star17") == ["star17"]
        assert len(slow_steps) == STEPS


def test_writes_go_on_while_the_index_is_built_and_are_found(
    folder: Path, slow_steps: list[int]
) -> None:
    with kiprdf.Nexus.open(folder, budget=kiprdf.Budget(timeout_s=0.3)) as nexus:
        with pytest.raises(kiprdf.KipError, match="index is being built"):
            names(nexus, "star1")
        begun = time.monotonic()
        nexus.execute(NEW, name="nova")
        nexus.execute('DELETE CONCEPT ?s DETACH WHERE { ?s {type: "Star", name: "star799"} }')
        assert time.monotonic() - begun < 0.15
        hits, _, errors = repeated(lambda: names(nexus, "nova"))
        assert hits == ["nova"]
        assert errors
        assert names(nexus, "star799") == []
        assert names(nexus, "star798") == ["star798"]
        assert nexus.check()["index"] == "sound"


def test_closing_ends_the_building_and_the_next_opening_continues(
    folder: Path, slow_steps: list[int]
) -> None:
    with kiprdf.Nexus.open(folder, budget=kiprdf.Budget(timeout_s=0.2)) as nexus:
        until_begun(nexus)
        nexus.execute(NEW, name="nova")
        begun = time.monotonic()
    assert time.monotonic() - begun < 1
    done = len(slow_steps)
    assert 0 < done < STEPS
    assert 0 < state(folder).missing < CONCEPTS
    with kiprdf.Nexus.open(folder) as nexus:
        assert names(nexus, "nova") == ["nova"]
        # One more has propositions, and a step that had begun is not kept.
        assert len(slow_steps) <= STEPS + 2
        assert nexus.check()["index"] == "sound"


def test_a_dropped_nexus_stops_building_and_releases_its_folder(
    folder: Path, slow_steps: list[int]
) -> None:
    nexus = kiprdf.Nexus.open(folder)
    until_begun(nexus)
    del nexus
    with kiprdf.Nexus.open(folder) as again:
        assert again.info()["concepts"] > CONCEPTS
        done = len(slow_steps)
        time.sleep(0.3)
        assert len(slow_steps) == done < STEPS


def test_a_process_that_is_killed_while_building_loses_nothing(
    folder: Path, tmp_path: Path
) -> None:
    code = (
        "import sys, time, kiprdf; from kiprdf.meta import indexing; "
        "from kiprdf.search import index; index.AT_ONCE = 100; "
        "read = indexing.index_rows; "
        "indexing.index_rows = lambda *a: (time.sleep(0.1), read(*a))[1]; "
        "kiprdf.Nexus.open(sys.argv[1]).build_index(lambda n: print(n, flush=True))"
    )
    output = tmp_path / "output"
    process = start(["-c", code, str(folder)], output)
    while process.is_alive() and not any(0 < n < 600 for n in numbers(output)):
        time.sleep(0.01)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join(30)
    missing = min(n for n in numbers(output) if n)
    with kiprdf.Nexus.open(folder) as nexus:
        shown: list[int] = []
        nexus.build_index(shown.append)
        assert max(shown) <= missing
        assert names(nexus, "star123") == ["star123"]
        assert nexus.check()["index"] == "sound"


def numbers(output: Path) -> list[int]:
    return [int(line) for line in output.read_text().split("\n")[:-1] if line.isdecimal()]


def test_elements_of_long_texts_are_indexed_in_more_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "AT_ONCE_CHARACTERS", 10_000)
    text = "word " * 1_000
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Star"} } }')
        for number in range(12):
            command = 'UPSERT { CONCEPT { {type: "Star", name: :n} SET ATTRIBUTES { t: :t } } }'
            nexus.execute(command, n=f"star{number}", t=text)
        remove_index(tmp_path / "kb")
        steps: list[int] = []
        fill = TextIndex.fill
        monkeypatch.setattr(
            TextIndex, "fill", lambda *a: (steps.append(a[0].state().missing), fill(*a))[1]
        )
        nexus.build_index()
        assert len(steps) >= 5
        assert len(nexus.execute('SEARCH CONCEPT "word" WITH TYPE "Star"')) == 12
        assert nexus.check()["index"] == "sound"


# A read-only nexus ------------------------------------------------------------------------------


def test_a_reader_that_builds_the_index_keeps_it_where_nobody_writes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with kiprdf.Nexus.open(folder, read_only=True) as nexus:
        assert names(nexus, "star5") == ["star5"]
        assert not (folder / INDEX).exists()
        nexus.build_index()
        commit = nexus.info()["commit"]
    assert state(folder) == State(commit, 0)
    steps = slowed(monkeypatch, 0)
    with kiprdf.Nexus.open(folder, read_only=True) as nexus:
        assert names(nexus, "star123") == ["star123"]
    with kiprdf.Nexus.open(folder) as nexus:
        assert names(nexus, "star124") == ["star124"]
    assert steps == []


def test_a_reader_beside_a_writer_writes_no_index(folder: Path, tmp_path: Path) -> None:
    code = "import sys, kiprdf; n = kiprdf.Nexus.open(sys.argv[1]); print(1, flush=True); input()"
    output, reading = tmp_path / "output", tmp_path / "given"
    os.mkfifo(reading)
    writer = start(["-c", code, str(folder)], output, given=reading)
    with reading.open("w") as given:
        while not output.read_text():
            time.sleep(0.01)
        with kiprdf.Nexus.open(folder, read_only=True) as nexus:
            nexus.build_index()
            assert names(nexus, "star5") == ["star5"]
        assert not (folder / INDEX).exists() or state(folder).commit == -1
        given.write("\n")
    writer.join(30)


def test_a_writer_that_opens_while_a_reader_builds_is_right_and_so_is_the_reader(
    folder: Path, slow_steps: list[int]
) -> None:
    with kiprdf.Nexus.open(folder, read_only=True) as reader:
        until_begun(reader)
        with kiprdf.Nexus.open(folder) as writer:
            writer.execute(NEW, name="nova")
            writer.execute('DELETE CONCEPT ?s DETACH WHERE { ?s {type: "Star", name: "star555"} }')
            assert (names(writer, "nova"), names(writer, "star555")) == (["nova"], [])
            reader.build_index()
            assert (names(reader, "nova"), names(reader, "star555")) == ([], ["star555"])
            assert names(reader, "star799") == ["star799"]
            assert writer.check()["index"] == "sound"
    with kiprdf.Nexus.open(folder) as again:
        assert (names(again, "nova"), names(again, "star555")) == (["nova"], [])
        assert again.check()["index"] == "sound"


def test_where_the_index_cannot_be_written_a_reader_has_it_in_memory(folder: Path) -> None:
    (folder / INDEX / "x").mkdir(parents=True)
    with kiprdf.Nexus.open(folder, read_only=True) as nexus:
        nexus.build_index()
        assert names(nexus, "star5") == ["star5"]


# The command line, and a server -------------------------------------------------------------------


def kiprdf_program(folder: Path, *arguments: str) -> str:
    """What the command line prints, run in the parent of a nexus."""
    output = folder.parent / "printed"
    output.unlink(missing_ok=True)
    process = start(["-m", "kiprdf", *arguments], output, folder=folder.parent)
    process.join(60)
    return output.read_text()


def test_a_search_of_the_command_line_stores_the_index_it_builds(folder: Path) -> None:
    search = ("run", "--nexus", "kb", "--json", 'SEARCH CONCEPT "star123" LIMIT 1')
    assert '"name": "star123"' in kiprdf_program(folder, *search)
    number, missing = state(folder)
    assert number > 0
    assert missing == 0
    before = (folder / INDEX).stat().st_mtime_ns
    assert '"name": "star123"' in kiprdf_program(folder, *search)
    assert (folder / INDEX).stat().st_mtime_ns == before


@pytest.mark.parametrize("command", ["load", "restore", "import"])
def test_a_large_write_of_the_command_line_leaves_a_complete_index(
    original: Path, tmp_path: Path, command: str
) -> None:
    with kiprdf.Nexus.open(original, read_only=True) as nexus:
        (tmp_path / "stars.kip").write_text(nexus.export())
        nexus.snapshot(tmp_path / "stars.nt")
    arguments = {
        "load": ["load", "stars.kip"],
        "restore": ["restore", "stars.nt"],
        "import": ["import", "stars.nt", "--define"],
    }[command]
    printed = kiprdf_program(tmp_path / "new", *arguments, "--nexus", "new")
    assert "stars" in printed
    with kiprdf.Nexus.open(tmp_path / "new", read_only=True) as nexus:
        number = nexus.info()["commit"]
    assert state(tmp_path / "new") == State(number, 0)


def test_a_large_write_stands_where_its_index_cannot_be_built(folder: Path) -> None:
    (folder.parent / "stars.kip").write_text(
        "UPSERT {"
        + "".join(f'CONCEPT {{ {{type: "Star", name: "x{n}"}} }}' for n in range(900))
        + "}"
    )
    (folder / INDEX / "x").mkdir(parents=True)
    assert "900 concepts" in kiprdf_program(folder, "load", "stars.kip", "--nexus", "kb")


def test_a_server_builds_the_index_from_its_start(folder: Path) -> None:
    code = (
        "import sys, time, kiprdf.cli; from kiprdf.meta import indexing; "
        "read = indexing.index_rows; "
        "indexing.index_rows = lambda *a: (time.sleep(0.3), read(*a))[1]; "
        "from kiprdf.search import index; index.AT_ONCE = 100; "
        "sys.argv[1:] = ['serve', sys.argv[1], '--port', '0', '--timeout', '1']; "
        "kiprdf.cli.main()"
    )
    with running(["-c", code, str(folder)]) as server:
        statuses, errors = [], []
        end = time.monotonic() + 60
        while time.monotonic() < end:
            begun = time.monotonic()
            answer = server.kip('SEARCH CONCEPT "star123" LIMIT 1')
            assert time.monotonic() - begun < 2
            assert server.client.get("/health").status_code == 200
            statuses.append(answer.status_code)
            if answer.status_code == 200:
                break
            errors.append(answer.json()["error"])
        assert set(statuses) == {408, 200}
        assert {error["code"] for error in errors} == {"KIP_4001"}
        assert any("text index is being built" in error["message"] for error in errors)
        assert answer.json()["result"][0]["name"] == "star123"
        assert "The text index is being built" in server.errors.read_text()
    assert state(folder).missing == 0


def test_propositions_are_indexed_when_a_search_asks_for_them(tmp_path: Path) -> None:
    folder = tmp_path / "kb"
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.execute(
            'UPSERT { CONCEPT { {type: "$ConceptType", name: "Star"} }'
            ' CONCEPT { {type: "$PropositionType", name: "orbits"} } }'
        )
        assert names(nexus, "star") == ["Star"]
        nexus.apply_capsule(
            'UPSERT { CONCEPT { {type: "Star", name: "Proxima"}'
            ' SET PROPOSITIONS { ("orbits", {type: "Star", name: "Proxima"}) } } }'
        )
        assert names(nexus, "proxima") == ["Proxima"]
        assert nexus.check()["index"] == "sound"
    assert kinds(folder) == ("concept",)
    search = 'SEARCH PROPOSITION "orbits" LIMIT 1'
    with kiprdf.Nexus.open(folder, read_only=True) as reader:
        assert reader.execute(search)[0]["predicate"] == "orbits"
    assert kinds(folder) == ("concept",)
    with kiprdf.Nexus.open(folder) as nexus:
        assert nexus.execute(search)[0]["predicate"] == "orbits"
        nexus.execute(NEW, name="nova")
        nexus.execute(
            'UPSERT { PROPOSITION { ({type: "Star", name: "nova"}, "orbits",'
            ' {type: "Star", name: "Proxima"}) } }'
        )
        assert nexus.execute('SEARCH PROPOSITION "nova"')[0]["subject"] == "C:Star/nova"
        assert nexus.check()["index"] == "sound"
    assert kinds(folder) == ("concept", "proposition")
    with kiprdf.Nexus.open(folder, read_only=True) as reader:
        assert reader.execute('SEARCH PROPOSITION "nova"')[0]["subject"] == "C:Star/nova"


PAIR = (
    'UPSERT { CONCEPT { {type: "Star", name: :name}'
    ' SET PROPOSITIONS { ("orbits", {type: "$ConceptType", name: "Star"}) } } }'
)
ORBITS = 'SEARCH PROPOSITION "orbits"'


@pytest.fixture
def listing(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[kiprdf.Nexus, Any, Any]]:
    """A nexus whose propositions are being listed, when that has begun, and what lets it end."""
    begun, may_end, read = threading.Event(), threading.Event(), indexing.all_elements

    def listed(store: Any, of: Any = KINDS) -> Iterator[Any]:
        yield from read(store, of)
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            may_end.wait(30)

    with kiprdf.Nexus.memory() as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Star"} } }')
        nexus.execute('UPSERT { CONCEPT { {type: "$PropositionType", name: "orbits"} } }')
        nexus.execute(PAIR, name="nova")
        assert names(nexus, "nova") == ["nova"]
        monkeypatch.setattr(indexing, "all_elements", listed)
        with nexus.limited(timeout_s=0.05), pytest.raises(kiprdf.KipError, match="KIP_4001"):
            nexus.execute(ORBITS)
        assert begun.wait(30)
        yield nexus, begun, may_end
        may_end.set()


def test_a_kind_is_added_while_others_write_and_search(listing: Any) -> None:
    nexus, begun, may_end = listing
    nexus.execute(PAIR, name="proxima")
    assert names(nexus, "proxima") == ["proxima"]  # the index has another commit
    begun.clear()
    may_end.set()
    assert len(nexus.execute(ORBITS)) == 2
    assert not begun.is_set()  # they were listed once
    assert nexus.check()["index"] == "sound"


def test_an_index_is_sound_while_a_kind_is_added(
    listing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    nexus, _, may_end = listing
    holds = TextIndex.holds

    def when_listed(text_index: TextIndex, rows: Any) -> bool:
        may_end.set()
        time.sleep(0.3)
        return holds(text_index, rows)

    monkeypatch.setattr(TextIndex, "holds", when_listed)
    threading.Timer(0.1, may_end.set).start()
    assert nexus.check()["index"] == "sound"
    assert len(nexus.execute(ORBITS)) == 1


def test_a_search_goes_on_when_its_index_is_erased(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slowed(monkeypatch, 0.05)
    with kiprdf.Nexus.open(folder) as nexus:
        until_begun(nexus)
        hits: list[str] = []
        search = threading.Thread(target=lambda: hits.extend(names(nexus, "star799")))
        search.start()
        time.sleep(0.1)
        nexus.forget(["C:Star/star5"])
        search.join(30)
        assert hits == ["star799"]
        assert names(nexus, "star5") != ["star5"]
    assert state(folder).missing == 0


def test_changes_of_other_kinds_than_the_index_has_are_not_taken() -> None:
    opened = TextIndex(None)
    opened.begin({"concept": ["urn:1"]}, 1, opened.state())
    # The program that read these changes has not seen that another one adds propositions.
    opened.extend({"proposition": ["urn:2"]}, opened.state())
    opened.update([], [], 2, ("concept",))
    opened.postpone({"concept": ["urn:1"]}, 2)
    assert opened.state() == State(1, 2)
    opened.postpone({"concept": ["urn:1"], "proposition": []}, 2)
    assert opened.state() == State(2, 3)


@pytest.mark.parametrize("is_indexed", [True, False])
def test_what_many_commits_touch_is_kept_in_the_index(
    monkeypatch: pytest.MonkeyPatch, is_indexed: bool
) -> None:
    monkeypatch.setattr(indexing, "MOST_NOTED", 50)
    begun: list[int] = []
    begin = TextIndex.begin
    monkeypatch.setattr(TextIndex, "begin", lambda *a: (begun.append(a[2]), begin(*a)))
    with kiprdf.Nexus.memory() as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Star"} } }')
        if is_indexed:
            assert names(nexus, "star") == ["Star"]
        for number in range(130):
            nexus.execute(NEW, name=f"star{number}")
        assert names(nexus, "star0") == ["star0"]
        assert names(nexus, "star129") == ["star129"]
        assert nexus.check()["index"] == "sound"
        kept = nexus._engine.indexer._commits
        assert sum(len(commit.keys) for commit in kept._noted) <= 51
    assert len(begun) == 1


def kinds(folder: Path) -> tuple[str, ...]:
    """The kinds of elements in the index of a folder."""
    opened = TextIndex(folder / INDEX, read_only=True)
    try:
        return opened.kinds
    finally:
        opened.close()
