"""The nexuses in the folders of a directory, by name."""

from __future__ import annotations

import gc
import threading
from pathlib import Path

import pytest

import kiprdf
from kiprdf import Brains, KipError, Nexus, StoreError
from tests.programs import Piped

PERSON = 'UPSERT { CONCEPT { {type: "Person", name: :name} } }'
NAMES = (
    'FIND(?p.name) WHERE { ?p {type: "Person"} FILTER(?p.name != "$self" && ?p.name != "$system") }'
)


def descriptors(folder: Path) -> int:
    """How many files of a folder this process has open."""
    targets = (entry.resolve() for entry in Path("/proc/self/fd").iterdir())
    return sum(folder in target.parents for target in targets)


def test_names_lead_to_nexuses(tmp_path: Path) -> None:
    directory = tmp_path / "brains"
    with Brains(directory, base_iri="https://team.example/") as brains:
        assert brains.names() == []
        ada, team = brains.add("ada"), brains.add("Team of five")
        ada.execute(PERSON, name="Ada")
        team.execute(PERSON, name="Bo")
        assert brains["ada"] is ada
        assert ada.base_iri == "https://team.example/"
        (directory / "other").mkdir()
        (directory / "a file").touch()
        assert brains.names() == ["Team of five", "ada"]
        view = brains.view("Team of five", "ada")
        assert sorted(view.execute(NAMES)) == ["Ada", "Bo"]
    with pytest.raises(KipError, match="closed"):
        ada.find(NAMES)
    with pytest.raises(KipError, match="closed"):
        view.find(NAMES)
    with pytest.raises(StoreError, match="closed"):
        brains["ada"]
    with Brains(directory) as brains:
        assert brains["ada"].execute(NAMES) == ["Ada"]
        assert brains["ada"].base_iri == "https://team.example/"


def test_names_are_what_it_iterates_over(tmp_path: Path) -> None:
    with Brains(tmp_path) as brains:
        for name in ("team", "ada"):
            brains.add(name)
        assert list(brains) == ["ada", "team"]
        assert "ada" in brains
        assert "bo" not in brains


def test_what_a_view_writes_is_a_name(tmp_path: Path) -> None:
    with Brains(tmp_path) as brains:
        for name in ("team", "ada"):
            brains.add(name)
        for write, words in (("ada", "does not read 'ada'"), (brains["ada"], "A Nexus is no name")):
            with pytest.raises(KipError, match=words):
                brains.view("team", write=write)


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "../ada", "a/b", "a\\b", "/ada", ".ada", "ada.", "ada ", " ada", "-x"),
        *("a\0b", "a\nb", "a\tb", "a:b", "a*", "a?", "a<b", 'a"b', "a|b", "a,b", "a=b", "$self"),
        *("con", "NUL", "Com1", "lpt9.txt", "\ud800", "a\u200db", "a\u202eb", "a\u0301"),
        *("x" * 256, "ü" * 128, 7, None, ["ada"]),
    ],
)
def test_names_that_are_none(tmp_path: Path, name: object) -> None:
    with Brains(tmp_path / "brains") as brains:
        for call in (brains.add, brains.__getitem__, brains.remove, brains.view):
            with pytest.raises(KipError, match=r"KIP_1001 .*is no name"):
                call(name)  # type: ignore[arg-type, operator]
    assert [path.name for path in tmp_path.rglob("*")] == ["brains"]


@pytest.mark.parametrize("name", ["x" * 255, "ü" * 127, "a.b-c_d@e+f g", "阿司匹林", "9", "con1"])
def test_unusual_names(tmp_path: Path, name: str) -> None:
    with Brains(tmp_path) as brains:
        brains.add(name).execute(PERSON, name="Ada")
    with Brains(tmp_path) as brains:
        assert brains.names() == [name]
        assert brains[name].execute(NAMES) == ["Ada"]
        brains.remove(name)
        assert brains.names() == []


def test_names_that_look_alike_are_taken(tmp_path: Path) -> None:
    with Brains(tmp_path) as brains:
        brains.add("ada")
        brains.add("eda")
        for name in ("ada", "Ada", "ADA", "\uff41da", "\u0430da"):
            with pytest.raises(KipError, match="KIP_3003 The name 'ada' is taken"):
                brains.add(name)
        for name in ("Ada", "bo"):
            with pytest.raises(KipError, match="KIP_3002 There is no nexus named"):
                brains[name]
        assert brains.names() == ["ada", "eda"]


def test_a_removed_nexus_leaves_no_file(tmp_path: Path) -> None:
    with Brains(tmp_path) as brains:
        team, ada = brains.add("team"), brains.add("ada")
        ada.execute(PERSON, name="Ada")
        view = brains.view("team", "ada")
        assert view.execute(NAMES) == ["Ada"]
        brains.remove("ada")
        assert [path.name for path in tmp_path.iterdir()] == ["team"]
        assert brains.names() == ["team"]
        for nexus, message in ((ada, "closed"), (view, "Member 2 of this view was closed")):
            with pytest.raises(KipError, match=message):
                nexus.execute(NAMES)
        with pytest.raises(KipError, match="KIP_3002"):
            brains.remove("ada")
        assert brains.add("ada").execute(NAMES) == []
        assert team.execute(NAMES) == []
    (tmp_path / ".removed-0123").mkdir()  # what an interrupt has left
    (tmp_path / ".removed-0123" / "nexus.json").touch()
    with Brains(tmp_path) as brains:
        assert sorted(path.name for path in tmp_path.iterdir()) == ["ada", "team"]


def test_links_to_other_folders_are_no_nexus_of_the_directory(tmp_path: Path) -> None:
    Nexus.open(tmp_path / "elsewhere").close()
    with Brains(tmp_path / "brains") as brains:
        (tmp_path / "brains" / "link").symlink_to(tmp_path / "elsewhere")
        assert brains.names() == []
        with pytest.raises(KipError, match="KIP_3002"):
            brains.remove("link")
    assert (tmp_path / "elsewhere" / "nexus.json").exists()


def test_what_another_process_writes_is_not_erased(tmp_path: Path) -> None:
    with Brains(tmp_path) as brains:
        brains.add("ada")
    program = (
        "import kiprdf, sys; n = kiprdf.Nexus.open(sys.argv[1]); print(1, flush=True); input()"
    )
    with Piped(["-c", program, str(tmp_path / "ada")]) as child:
        assert child.readline() == "1\n"
        with Brains(tmp_path) as brains, pytest.raises(StoreError, match="Another process"):
            brains.remove("ada")
        child.send()
    with Brains(tmp_path) as brains:
        brains["ada"].close()
        with Nexus.open(tmp_path / "ada"), pytest.raises(StoreError, match="Another process"):
            brains.remove("ada")
        brains.remove("ada")
        assert list(tmp_path.iterdir()) == []


def test_what_nothing_refers_to_is_closed(tmp_path: Path) -> None:
    with Brains(tmp_path, most_open=3) as brains:
        for number in range(8):
            brains.add(f"scope {number}").execute(PERSON, name=f"{number}")
        gc.collect()
        is_open = [bool(descriptors(tmp_path / name)) for name in brains.names()]
        assert is_open == [False] * 5 + [True] * 3
        kept = [brains[f"scope {number}"] for number in range(4)]
        view = brains.view("scope 5", "scope 6")
        for number in range(8):
            assert brains[f"scope {number}"].execute(NAMES) == [f"{number}"]
        assert [nexus.execute(NAMES) for nexus in kept] == [["0"], ["1"], ["2"], ["3"]]
        assert sorted(view.execute(NAMES)) == ["5", "6"]
        brains["scope 5"].execute(PERSON, name="new")
        assert sorted(view.execute(NAMES)) == ["5", "6", "new"]
        view.close()
        del kept, view
        gc.collect()
        brains["scope 7"]
        assert sum(bool(descriptors(tmp_path / name)) for name in brains.names()) == 3


def test_the_one_that_was_asked_for_longest_ago_is_closed(tmp_path: Path) -> None:
    with Brains(tmp_path, most_open=3) as brains:
        kept = [brains.add("a"), brains.add("b")]
        brains.add("c")
        brains.add("d")  # "a" and "b" are used: "c" is closed
        assert [name for name in "abcd" if descriptors(tmp_path / name)] == ["a", "b", "d"]
        kept.clear()
        gc.collect()
        brains.add("e")
        assert [name for name in "abcde" if descriptors(tmp_path / name)] == ["b", "d", "e"]


def test_threads_share_brains(tmp_path: Path) -> None:
    faults: list[BaseException] = []
    with Brains(tmp_path, most_open=2) as brains:
        for number in range(4):
            brains.add(f"{number}")

        def work(at: int) -> None:
            try:
                for step in range(6):
                    name = f"{(at + step) % 4}"
                    brains[name].execute(PERSON, name=f"{at} {step}")
                    brains[name].execute(NAMES)
            except BaseException as fault:
                faults.append(fault)

        threads = [threading.Thread(target=work, args=(at,)) for at in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert faults == []
        assert sum(len(brains[name].execute(NAMES)) for name in brains.names()) == 24


def test_a_directory_that_is_none(tmp_path: Path) -> None:
    Nexus.open(tmp_path / "nexus").close()
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="is a nexus; give the folder that it is in"):
        Brains(tmp_path / "nexus")
    with pytest.raises(StoreError, match="cannot be used"):
        Brains(tmp_path / "file")
    with Brains(tmp_path / "gone") as gone:
        (tmp_path / "gone").rmdir()
        with pytest.raises(StoreError, match="gone cannot be used: No such file"):
            gone.add("ada")
        with pytest.raises(StoreError, match="gone cannot be used: No such file"):
            gone.names()
    with pytest.raises(KipError, match="KIP_1001"):
        Brains(7)  # type: ignore[arg-type]
    with pytest.raises(KipError, match="most_open is a number above 0"):
        Brains(tmp_path, most_open=0)
    with pytest.raises(KipError, match="A view has one member at least"), Brains(tmp_path) as some:
        some.view()
    assert kiprdf.Brains is Brains


def test_two_may_complete_an_interrupted_erasure(tmp_path: Path) -> None:
    for number in range(4):
        folder = tmp_path / f".removed-{number}" / "graph"
        folder.mkdir(parents=True)
        for name in range(500):
            (folder / str(name)).touch()
    failures: list[Exception] = []

    def use() -> None:
        try:
            Brains(tmp_path).close()
        except Exception as failure:
            failures.append(failure)

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert list(tmp_path.iterdir()) == []


def test_the_index_of_a_view_is_built_while_a_member_is_written(
    caplog: pytest.LogCaptureFixture,
) -> None:
    team, ada = Nexus.memory(), Nexus.memory()
    many = " ".join(f'CONCEPT {{ {{type: "Person", name: "p{i}"}} }}' for i in range(400))
    team.execute(f"UPSERT {{ {many} }}")
    view = kiprdf.View([team, ada])
    late = iter(range(20))

    def write(missing: int) -> None:
        number = next(late, None)
        if number is not None:
            ada.execute('UPSERT { CONCEPT { {type: "Person", name: :name} } }', name=f"l{number}")
            view.execute("DESCRIBE DOMAINS")

    view.build_index(write)
    assert number_of(view, "p399") == number_of(view, "l0") == 1
    assert "unusable" not in caplog.text


def number_of(nexus: Nexus, name: str) -> int:
    hits = nexus.execute("SEARCH CONCEPT :name", name=name)
    return sum(hit["name"] == name for hit in hits)
