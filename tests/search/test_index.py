"""SEARCH finds what it should, best first; an unusable file costs a rebuild and no more."""

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import pytest

from kiprdf.checksums import drop_note
from kiprdf.search import IndexRow, Kind, TextIndex, index, ranking
from kiprdf.search.index import Changes, Commits, is_exact
from kiprdf.search.ranking import Postings
from tests.search.toys import rebuild
from tests.threads import together


def concept(
    key: str,
    name: str = "",
    *,
    type: str = "Drug",
    aliases: tuple[str, ...] = (),
    description: str = "",
    text: str = "",
) -> IndexRow:
    return IndexRow(key, "concept", type, name, aliases, description, text)


def proposition(key: str, predicate: str, *endpoints: str, description: str = "") -> IndexRow:
    return IndexRow(key, "proposition", predicate, predicate, endpoints, description, "")


def index_of(*rows: IndexRow) -> TextIndex:
    index = TextIndex(None)
    rebuild(index, rows, commit=1)
    return index


def keys(
    index: TextIndex,
    term: str,
    kind: Kind = "concept",
    type: str | None = None,
    limit: int = 100,
) -> list[str]:
    return [hit.key for hit in index.search(kind, term, type, limit)]


class Ask(NamedTuple):
    """What is searched."""

    term: str
    kind: Kind = "concept"
    type: str | None = None
    limit: int = 100


Answers = dict[str | Ask, list[str]]


def check(index: TextIndex, answers: Answers) -> None:
    """Compare the keys of hits with the expected ones."""
    for ask, expected in answers.items():
        assert keys(index, *(ask if isinstance(ask, Ask) else (ask,))) == expected, ask


# What is found, and its order


@pytest.mark.parametrize(
    ("name", "term"),
    [
        ("Crème brûlée", "CREME"),
        ("creme brulee", "Brûlée"),
        ("ＡＢＣ", "abc"),
        ("ABC", "ａｂｃ"),
        ("阿司匹林", "阿司"),
        ("阿司匹林", "司匹"),
        ("阿司匹林", "林"),
        ("緑茶を飲む", "緑茶"),
        ("コーヒー", "ｺｰﾋｰ"),
        ("대한민국", "한민"),
        ("서울에서", "서울"),
        ("has_side_effect", "side effect"),
        ("has_side_effect", "has_side_effect"),
        ("side effect", "hasSideEffect"),
        ("हिन्दी", "हिन्दी"),
    ],
)
def test_a_name_is_found_by_a_word_of_it(name: str, term: str) -> None:
    check(index_of(concept("a", name), concept("b", "other")), {term: ["a"]})


LONG = "aspirin " * 2_000
SEARCHES: dict[str, tuple[list[IndexRow], Answers]] = {
    "a name": ([concept("a", "pain relief")], {"relief": ["a"]}),
    "an alias": ([concept("a", aliases=("first", "pain relief"))], {"relief": ["a"]}),
    "a description": ([concept("a", description="pain relief")], {"relief": ["a"]}),
    "other text": ([concept("a", text="pain relief")], {"relief": ["a"]}),
    "the type is not searched": ([concept("a", "Aspirin", type="Drug")], {"drug": []}),
    "two aliases form no word together": (
        [concept("a", aliases=("阿司", "匹林"))],
        {"司匹": [], "匹林": ["a"]},
    ),
    "any matching word counts": (
        [concept("a", "aspirin"), concept("b", "ibuprofen"), concept("c", "tea")],
        {"aspirin ibuprofen unknown": ["a", "b"]},
    ),
    "the last word finds longer words": (
        [concept("a", "aspirin"), concept("b", "tea")],
        {"asp": ["a"], "asp coffee": []},
    ),
    "a last word of two characters finds itself only": (
        [concept("a", "aspirin"), concept("b", "as")],
        {"as": ["b"]},
    ),
    "the exact name is first": (
        [concept("a", "Aspirin Plus"), concept("b", "Aspirin"), concept("c", "Plus Aspirin")],
        {"ASPIRIN": ["b", "a", "c"]},
    ),
    "with a long description, too": (
        [
            concept("a", "Aspirin Plus"),
            concept("b", "Aspirin", description="a common drug " * 100),
        ],
        {"aspirin": ["b", "a"]},
    ),
    "an exact name is first with any other text in the rows": (
        [
            concept("a", "Aspirin aspirin", aliases=("aspirin plus",), description=LONG, text=LONG),
            concept("b", "Aspirin", description="another word " * 5_000),
            concept("c", "Aspirin Plus"),
        ],
        {Ask("aspirin", limit=1): ["b"]},
    ),
    "of names that differ in case the one that is the term is first": (
        [concept("a", "US"), concept("b", "Us"), concept("c", "us")],
        {"us": ["c", "a", "b"], "Us": ["b", "a", "c"], "uS": ["a", "b", "c"]},
    ),
    "an exact predicate is before an exact end and this before mentions": (
        [
            proposition("a", "cures", "Fever", "Heat", description="treats " * 500),
            proposition("b", "cites", "Treats", "Book"),
            proposition("c", "treats", "Aspirin", "Fever", description="word " * 500),
            proposition("d", "treats_well", "Tea", "Treats of All"),
        ],
        {Ask("treats", "proposition", limit=2): ["c", "b"]},
    ),
    "the type and the limit apply to exact names": (
        [
            *(concept(f"{n:03}", "Aspirin", type=f"T{n % 3}") for n in range(9)),
            concept("z", "Aspirin plus", type="T1"),
        ],
        {
            Ask("aspirin", type="T1", limit=2): ["001", "004"],
            Ask("aspirin", type="T1"): ["001", "004", "007", "z"],
        },
    ),
    "the fields weigh name aliases description text": (
        [
            concept("a", "tea tea", text="pain other"),
            concept("b", "tea tea", description="pain other"),
            concept("c", "tea tea", aliases=("pain other",)),
            concept("d", "pain tea", text="other tea"),
            concept("e", "pain", text="other tea tea"),
        ],
        {"pain": ["e", "d", "c", "b", "a"]},
    ),
    "more words score more": (
        [
            concept("a", "low dose tea"),
            concept("b", "low dose aspirin"),
            concept("c", "low tea tea"),
        ],
        {"low dose aspirin": ["b", "a", "c"]},
    ),
    "a rarer word scores more": (
        [*(concept(f"common{n}", "drug one") for n in range(3)), concept("rare", "aspirin one")],
        {Ask("drug aspirin", limit=1): ["rare"]},
    ),
    "equal scores are ordered by key": (
        [concept(key, "aspirin dose") for key in "dacb"],
        {"aspirin dose": ["a", "b", "c", "d"]},
    ),
    "of common words rows with all of them come first": (
        [
            *(concept(f"{n:04}", text=f"{'tea' if n % 2 else 'cup'} x{n}") for n in range(900)),
            concept("both", text="cup tea"),
        ],
        {Ask("tea cup", limit=1): ["both"]},
    ),
    "the kind filters": (
        [concept("a", "treats"), proposition("b", "treats", "Aspirin", "Pain")],
        {"treats": ["a"], Ask("treats", "proposition"): ["b"]},
    ),
    "a proposition is found by predicate, endpoint and description": (
        [proposition("a", "has_side_effect", "Aspirin", "Nausea", description="It may cause.")],
        {Ask(term, "proposition"): ["a"] for term in ("side effect", "nausea", "cause")},
    ),
    "the type filters and is case-sensitive": (
        [concept("a", "tea", type="Drug"), concept("b", "tea", type="Food")],
        {Ask("tea", type="Food"): ["b"], Ask("tea", type="food"): [], "tea": ["a", "b"]},
    ),
    "the limit keeps the best": (
        [concept(str(n), "tea " + "x " * n) for n in range(5)],
        {
            Ask("tea", limit=2): ["0", "1"],
            Ask("tea", limit=5): ["0", "1", "2", "3", "4"],
            Ask("tea", limit=6): ["0", "1", "2", "3", "4"],
        },
    ),
    "the limit counts after the type filter": (
        [concept("a", "tea", type="Food"), concept("b", "tea cup", type="Drug")],
        {Ask("tea", type="Drug", limit=1): ["b"]},
    ),
    "of many equal scores the first keys are found": (
        [
            *(proposition(f"{n:04}", "treats") for n in reversed(range(1500))),
            *(concept(f"0{n:04}", "tea") for n in range(300)),
            proposition("x", "treats", "treats"),
        ],
        {
            Ask("treats", "proposition", None, 4): ["x", "0000", "0001", "0002"],
            Ask("treats", "proposition", "treats", 4): ["x", "0000", "0001", "0002"],
            Ask("treats", "proposition", "cures"): [],
        },
    ),
    "the last row of a key wins": (
        [concept("a", "tea"), concept("a", "coffee")],
        {"tea coffee": ["a"], "tea": []},
    ),
    "operators are words": (
        [concept("a", "not near"), concept("b", "tea")],
        {"NOT": ["a"], "NEAR": ["a"]},
    ),
}


@pytest.mark.parametrize(("rows", "answers"), SEARCHES.values(), ids=SEARCHES)
def test_what_is_found_best_first(rows: list[IndexRow], answers: Answers) -> None:
    check(index_of(*rows), answers)


def test_of_many_rows_with_two_scores_few_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    keys_of = Postings.keys

    def noted(postings: Postings, rows: Sequence[int], type: str | None) -> Any:
        read.append(len(rows))
        return keys_of(postings, rows, type)

    monkeypatch.setattr(Postings, "keys", noted)
    texts = (("a", "tea tea"), ("b", "tea"))
    index = index_of(
        *(concept(f"{key}{n:04}", "x", text=text) for key, text in texts for n in range(1_100))
    )
    assert keys(index, "tea", limit=3) == ["a0000", "a0001", "a0002"]
    assert sum(read) < 100


def test_an_exact_alias_is_second_with_any_other_text_in_the_rows() -> None:
    index = index_of(
        concept("a", "Aspirin aspirin", aliases=("aspirin plus",), description=LONG, text=LONG),
        concept("b", "ASA", aliases=("tea", "Aspirin"), text="another word " * 5_000),
        concept("c", "Aspirin"),
    )
    assert keys(index, "aspirin") == ["c", "b", "a"]
    assert [is_exact(hit) for hit in index.search("concept", "aspirin")] == [True, True, False]


@pytest.mark.parametrize(
    ("term", "best"),
    [
        ("C++", ["c", "d"]),
        ("c#", ["b"]),
        ("C", ["a"]),
        ("NODE.js", ["e"]),
        ("node js", ["f"]),
        ("Ｏ'Neil", ["g"]),
        ("  crème   BRULEE ", ["h"]),
        ("阿司匹林", ["i"]),
        ("cafe\u0301", ["j"]),
        ("is part of", ["k"]),
        ("straße", ["l"]),
    ],
)
def test_an_exact_name_is_the_whole_name_with_its_punctuation(term: str, best: list[str]) -> None:
    names = "C|C#|C++|See|node.js|node js|O'Neil|Crème Brûlée|阿司匹林|caf\u00e9|is_part_of|STRASSE"
    index = index_of(
        *(
            concept(key, name, aliases=("C++",) if key == "d" else ())
            for key, name in zip("abcdefghijkl", names.split("|"), strict=True)
        ),
        concept("z", "all", text="c node js o neil creme brulee 阿司匹林 cafe is part of strasse"),
    )
    hits = index.search("concept", term)
    assert [hit.key for hit in hits if is_exact(hit)] == best
    assert [hit.key for hit in hits][: len(best)] == best


# Scores


def test_a_longer_word_scores_well_below_the_whole_word() -> None:
    index = index_of(concept("a", "aspirins one"), concept("b", "aspirin one"), concept("c", "tea"))
    whole, longer = index.search("concept", "aspirin")
    assert (whole.key, longer.key) == ("b", "a")
    assert longer.score < whole.score / 2


def test_scores_lie_between_zero_and_one() -> None:
    rows = [concept(f"{n:03}", "aspirin", text="aspirin " * n) for n in range(100)]
    scores = [hit.score for hit in index_of(*rows).search("concept", "aspirin")]
    assert len(scores) == 100
    assert all(0 < score < 1 for score in scores)
    assert scores == sorted(scores, reverse=True)


def test_a_word_of_every_row_still_scores() -> None:
    (hit,) = index_of(concept("a", "aspirin dose")).search("concept", "aspirin")
    assert 0.3 < hit.score < 0.5


def test_the_score_falls_slowly_as_a_word_gets_common() -> None:
    # FTS5 alone drops to a millionth when the word reaches half of the rows.
    scores = []
    for number in range(1, 10):
        rows = [concept(str(n), "aspirin x" if n < number else "tea x") for n in range(10)]
        scores.append(index_of(*rows).search("concept", "aspirin")[0].score)
    steps = [later / earlier for earlier, later in pairwise(scores)]
    assert all(0.5 < step < 1 for step in steps)


def test_a_common_word() -> None:
    """Names come before mentions, in any order of writing; a rare word beside it is found."""
    rows = [concept(f"{n:04}", f"x{n}", text="tea cup") for n in range(500)]
    rows += [concept("named", "green tea"), concept("exact", "Tea", type="Food")]
    index = index_of(*rows)
    check(
        index,
        {Ask("tea", limit=2): ["exact", "named"], Ask("tea", "concept", "Drug", 1): ["named"]},
    )
    assert [len(keys(index, "tea", limit=limit)) for limit in (1, 10, 100)] == [1, 10, 100]
    reversed_index = TextIndex(None)
    for row in reversed(rows):
        reversed_index.update([row], removed=[], commit=1)
    hits = [each.search("concept", "tea", limit=10) for each in (index, reversed_index)]
    assert hits[0] == hits[1]
    index.update([concept("rare", text="tea infuser")], [], commit=2)
    check(index, {Ask("infuser tea", limit=1): ["rare"]})


def test_a_predicate_of_all_rows_takes_a_few_microseconds_for_each_row() -> None:
    index = index_of(*(proposition(f"{n}", "treats", f"A{n}", f"B{n % 9}") for n in range(5000)))
    several = fastest(lambda: index.search("proposition", "treats"))
    assert several < 5 * fastest(lambda: [n / (n + 1) for n in range(50_000)])


# Changes


def test_a_new_index_is_empty_and_knows_no_commit() -> None:
    index = TextIndex(None)
    assert index.commit == -1
    assert keys(index, "aspirin") == []


@pytest.mark.parametrize(
    ("rows", "removed", "answers"),
    [
        ([concept("b", "green tea")], [], {"tea": ["a", "b"]}),
        ([], ["a", "unknown"], {"tea": []}),
        (
            [concept("a", "coffee", type="Food")],
            [],
            {"tea": [], Ask("coffee", type="Food"): ["a"]},
        ),
        ([proposition("a", "tea")], [], {"tea": [], Ask("tea", "proposition"): ["a"]}),
        ([concept("a", "coffee")], ["a"], {"coffee": ["a"]}),
    ],
    ids=["added", "removed", "replaced", "replaced by another kind", "removed and given"],
)
def test_an_update_changes_rows_and_stores_its_commit(
    rows: list[IndexRow], removed: list[str], answers: Answers
) -> None:
    index = index_of(concept("a", "tea"), concept("other", "cup"))
    index.update(rows, removed, commit=2)
    check(index, {**answers, "cup": ["other"]})
    assert index.commit == 2


def test_rows_of_long_texts_are_written_in_several_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "AT_ONCE_CHARACTERS", 10)
    texts = index_of(*(concept(f"{n % 4}", "tea", text=f"cup{n} of tea") for n in range(6)))
    assert sorted(keys(texts, "tea")) == ["0", "1", "2", "3"]
    assert [keys(texts, f"cup{n}") for n in range(6)] == [[], [], ["2"], ["3"], ["0"], ["1"]]


def test_a_rebuild_replaces_everything() -> None:
    index = index_of(concept("a", "tea"), proposition("p", "treats"))
    rebuild(index, [concept("b", "tea")], commit=9)
    check(index, {"tea": ["b"], Ask("treats", "proposition"): []})
    assert index.commit == 9


@pytest.mark.parametrize("kept", [ranking.MOST_KEPT, 100, 0])
def test_an_index_that_was_asked_answers_like_a_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    monkeypatch.setattr(ranking, "MOST_KEPT", kept)
    monkeypatch.setattr(ranking, "MOST_KEYS", kept)
    terms = ["tea", "teas green", "te", "the cup tea", "cup", "gre", "who", "Sugar"]
    rows: dict[str, IndexRow] = {}
    writers = TextIndex(tmp_path / index.INDEX_FILE), TextIndex(tmp_path / index.INDEX_FILE)

    def answers(index: TextIndex) -> list[object]:
        types = (None, "Drug", "Note")
        return [index.search("concept", term, type, 4) for term in terms for type in types]

    for number in range(40):
        key = f"k{number * 7 % 12}"
        texts = ("green tea", "teas in a cup", "tea tea", "the teapot", "greens")
        row = concept(key, ("", "tea", "Who")[number % 3], text=texts[number % 5])
        row = row._replace(type="Drug" if number % 4 else "Note")
        removed = [f"k{(number - 1) * 7 % 12}"] if number % 3 else []  # the last one
        other = concept(f"j{number % 5}", text=texts[number % 3])
        writers[number % 7 == 0].update([other, row], removed, number)
        rows = {of: rows[of] for of in rows if of not in removed} | {other.key: other, key: row}
        with pytest.raises(sqlite3.OperationalError, match="cannot be read"):
            writers[0].update(failing_rows(), [key], number)
        assert answers(writers[0]) == answers(index_of(*rows.values()))


def followed(index: TextIndex, earlier: Changes) -> tuple[dict[str, object], bool]:
    """The rows after another reading, and whether all were read."""
    later = index.changes("concept", earlier.commit)
    rows = later.rows if later.are_all else earlier.rows | later.rows
    return {key: row for key, row in rows.items() if row is not None}, later.are_all


def test_changes_after_updates_lead_to_the_rows_of_a_new_reading() -> None:
    index = index_of(*(concept(f"k{n}", text="tea", type=f"T{n % 3}") for n in range(9)))
    earlier = index.changes("concept")
    index.update([concept("k3", text="cup"), concept("k1a", text="new")], ["k5"], commit=2)
    index.update([proposition("k7", "treats"), concept("\ud800", text="last")], [], commit=4)
    later = index.changes("concept")
    assert followed(index, earlier) == (later.rows, False)
    assert later.commit == 4
    assert sorted(later.rows) == ["k0", "k1", "k1a", "k2", "k3", "k4", "k6", "k8", "\ud800"]
    assert index.changes("concept", 4).rows == {}
    rebuild(index, [concept("b", "tea")], commit=9)
    assert followed(index, later) == (index.changes("concept").rows, True)
    assert list(index.changes("concept").rows) == ["b"]


def test_after_an_update_of_another_program_all_rows_are_read(path: Path) -> None:
    index = TextIndex(path)
    index.update([concept("a", "tea")], [], commit=8)
    earlier = index.changes("concept")
    TextIndex(path).update([], ["17"], commit=9)
    index.update([concept("b", "tea")], [], commit=10)
    assert followed(index, earlier) == (index.changes("concept").rows, True)
    assert "17" not in index.changes("concept").rows


def test_changes_after_an_update_take_a_fifth_of_the_time() -> None:
    index = index_of(*(concept(f"k{n:04}", text=f"tea {n}") for n in range(5000)))
    earlier = index.changes("concept").commit
    index.update([concept("new", "tea")], [], commit=2)
    assert fastest(lambda: index.changes("concept", earlier)) < 0.2 * fastest(
        lambda: index.changes("concept")
    )


def fastest(work: Callable[[], object]) -> float:
    """The least processor time of several calls."""
    times = []
    for _ in range(7):
        began = process_time()
        work()
        times.append(process_time() - began)
    return min(times)


def test_commits_are_joined_where_many_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "KEPT_COMMITS", 2)
    monkeypatch.setattr(index, "KEPT_KEYS", 2)
    commits = Commits[str]()
    for before, keys in enumerate(("a", "bc", "d", "e")):
        commits.note(before, before + 1, keys)
    expected = {4: "", 3: "e", 2: None, 1: None, 0: "abcde", -1: None}
    assert {n: commits.since(n, until=4) for n in expected} == {
        n: None if keys is None else set(keys) for n, keys in expected.items()
    }
    commits.note(7, 8, "f")  # after a gap
    assert (commits.since(7, until=8), commits.since(3, until=8)) == ({"f"}, None)
    commits.note(8, 9, "ghi")
    commits.note(9, 10, "k")
    commits.trim()  # before and with the last large one
    assert (commits.since(9, until=10), commits.since(8, until=10)) == ({"k"}, None)


def failing_rows() -> Iterator[IndexRow]:
    yield concept("b", "tea")
    raise sqlite3.OperationalError("the rows cannot be read")


def test_a_failed_change_changes_nothing() -> None:
    index = index_of(concept("a", "tea"))
    with pytest.raises(sqlite3.OperationalError, match="cannot be read"):
        index.update(failing_rows(), ["a"], commit=2)
    with pytest.raises(sqlite3.OperationalError, match="cannot be read"):
        index.begin({"concept": (row.key for row in failing_rows())}, 2, index.state())
    assert keys(index, "tea") == ["a"]
    assert index.commit == 1


# Files


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a closed index with three hundred rows, of commit 7."""
    index = TextIndex(tmp_path / "text.sqlite")
    index.update((concept(str(n), f"tea {n}", text="cup " * n) for n in range(300)), [], commit=7)
    index.close()
    return tmp_path / "text.sqlite"


def test_rows_and_commit_outlive_the_process(path: Path) -> None:
    index = TextIndex(path)
    assert index.commit == 7
    assert keys(index, "tea 123", limit=1) == ["123"]


def test_the_file_keeps_a_write_ahead_log(path: Path) -> None:
    (mode,) = sqlite3.connect(path).execute("PRAGMA journal_mode").fetchone()
    assert mode == "wal"


def with_another_table(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE about (something)")


def with_an_older_segmenter(path: Path) -> None:
    with closing(sqlite3.connect(path)) as older:
        older.execute("UPDATE about SET version = '1, segmenter 0, Unicode 13.0.0'")
        older.commit()


def with_a_stray_log(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").write_bytes(b"damaged " * 1000)


def with_damaged_pages(path: Path) -> None:
    content = path.read_bytes()
    # The first two pages, the schema and the version, stay; so does the length.
    path.write_bytes(content[:8192].ljust(len(content), b"\xff"))


@pytest.mark.parametrize(
    "damage",
    [
        *(
            partial(Path.write_bytes, data=content)
            for content in (b"", b"not a database at all, but text " * 100, b"\x00" * 5000)
        ),
        *(partial(os.truncate, length=kept) for kept in (10, 100, 4096, 5000, 20000)),
        with_another_table,
        with_an_older_segmenter,
        with_a_stray_log,
        with_damaged_pages,
    ],
)
def test_a_file_that_is_no_index_is_recreated(path: Path, damage: Callable[[Path], object]) -> None:
    assert path.stat().st_size > 20000
    damage(path)
    index = TextIndex(str(path))
    assert index.commit == -1
    assert keys(index, "tea") == []
    rebuild(index, [concept("a", "tea")], commit=8)
    index.close()
    assert keys(TextIndex(path), "tea") == ["a"]


@pytest.mark.parametrize(
    "work",
    [
        lambda index: index.search("concept", "tea"),
        lambda index: index.update([concept("1", "tea")], [], commit=8),
        lambda index: rebuild(index, [], commit=8),
    ],
    ids=["search", "update", "rebuild"],
)
def test_damage_found_later_is_an_error_and_then_an_empty_index(
    path: Path, work: Callable[[TextIndex], object]
) -> None:
    other = sqlite3.connect(path)
    other.execute("UPDATE concept_data SET block = x'ffffffffffff'")
    other.execute("UPDATE concept_config SET v = 99")
    other.commit()
    other.close()
    drop_note(path)  # so that SQLite finds the damage
    index = TextIndex(path)
    assert index.commit == 7
    with pytest.raises(sqlite3.DatabaseError, match="was damaged; it is empty"):
        work(index)
    assert index.commit == -1
    rebuild(index, [concept("a", "tea")], commit=8)
    assert keys(index, "tea") == ["a"]


def test_a_locked_file_is_an_error_and_stays(path: Path) -> None:
    index = TextIndex(path)
    writer = sqlite3.connect(path)
    writer.execute("BEGIN IMMEDIATE")
    index._file._connection.execute("PRAGMA busy_timeout = 1")
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        index.update([], ["1"], commit=8)
    writer.close()
    assert index.commit == 7


def test_a_folder_is_an_error_and_stays(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError):
        TextIndex(tmp_path)
    assert tmp_path.is_dir()


def test_a_closed_index_fails() -> None:
    index = TextIndex(None)
    index.close()
    index.close()
    with pytest.raises(sqlite3.ProgrammingError):
        index.search("concept", "tea")


# Hostile values


@pytest.mark.parametrize(
    "term",
    [
        '"tea',
        'tea"',
        '""" tea',
        "tea*",
        "* tea",
        "tea AND",
        "NOT tea",
        "tea OR",
        "NEAR(tea",
        "name:tea",
        "{name} : tea",
        "- name : tea",
        "^tea",
        "tea + (",
        "tea'; DROP TABLE element; --",
        "\x00tea\x00",
        "tea\x00more",
        "\ud800tea\udfff",
        "(" * 10_000 + "tea",
        "tea " * 250_000,
        "tea " + "x" * 1_000_000,
        "tea " + "阿" * 1_000_000,
        "tea " + "".join(f"word{n} " for n in range(100_000)),
    ],
)
def test_no_term_is_syntax(term: str) -> None:
    index = index_of(concept("a", "green tea"), concept("b", "coffee"))
    assert keys(index, term) == ["a"]


@pytest.mark.parametrize("term", ["", " ", '"', "*", "()", "\x00", "\ud800", "_", "…", "😀" * 1000])
def test_a_term_without_a_word_is_refused(term: str) -> None:
    with pytest.raises(ValueError, match="has no word to search for"):
        TextIndex(None).search("concept", term)


@pytest.mark.parametrize("strange", ["a\x00b", "\ud800", "\udfff'\"", "' OR 1=1 --", ""])
def test_strange_keys_types_and_texts_are_kept(strange: str) -> None:
    row = IndexRow(strange, "concept", strange, f"tea {strange}", (strange,), strange, strange)
    index = index_of(row, concept("b", "tea", type="Food"))
    assert keys(index, "tea", type=strange) == [strange]
    index.update([], [strange], commit=2)
    assert keys(index, "tea") == ["b"]


def test_a_row_of_a_megabyte_is_found() -> None:
    index = index_of(concept("a", "tea " * 250_000, text="x" * 1_000_000), concept("b", "cup"))
    assert keys(index, "tea") == ["a"]


# Threads


def test_threads_share_an_index(path: Path) -> None:
    index = TextIndex(path)
    failures: list[object] = []

    def read() -> None:
        for _ in range(100):
            hits = keys(index, "moving")
            if hits not in ([], ["left"], ["right"]):
                failures.append(hits)

    def write() -> None:
        for n in range(50):
            index.update([concept("left", "moving")], ["right"], commit=2 * n)
            index.update([concept("right", "moving")], ["left"], commit=2 * n + 1)

    together(read, write, read)
    assert failures == []
    assert keys(index, "moving") == ["right"]
    assert index.commit == 99


# Rarity


def test_the_rarity_of_a_word_is_that_of_its_rows() -> None:
    rows = [concept(f"c{number}", "tea", text="tea tea") for number in range(8)]
    index = index_of(*rows, concept("f", "fever and tea"), proposition("p", "tea", "a", "b"))
    rarity = index.rarity("concept", ["tea", "fever", "unknown"])
    # 2.2 * ln(1 + (9 - rows + 0.5) / (rows + 0.5)), of nine rows
    assert rarity == pytest.approx(
        {"tea": 0.112845, "fever": 4.173664, "unknown": 6.590611}, abs=1e-5
    )
    assert index.rarity("proposition", ["tea"]) == pytest.approx({"tea": 0.632901}, abs=1e-5)
