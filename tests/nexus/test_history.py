"""The history of an element, and the changes since a commit."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.store import journal
from kiprdf.store.commit_index import CommitIndex
from tests.cases import each_case
from tests.long_runs import SEED, amount
from tests.store.test_past import SCHEMA, Clock, change

STATEMENTS = amount("HISTORIES", 40)
START = datetime(2026, 1, 1, tzinfo=UTC)


def nexus_of(*commands: str) -> kiprdf.Nexus:
    """A nexus with a history, whose clock goes on by a minute with each command."""
    minutes = iter(range(10_000))
    nexus = kiprdf.Nexus.memory(
        history=True, clock=lambda: START + timedelta(minutes=next(minutes))
    )
    nexus.execute(SCHEMA)
    for command in commands:
        nexus.execute(command)
    return nexus


def drug(name: str, attributes: str, source: str = "doc-1") -> str:
    return (
        f'UPSERT {{ CONCEPT {{ {{type: "Drug", name: "{name}"}} SET ATTRIBUTES {attributes} }} }} '
        f'WITH METADATA {{ source: "{source}" }}'
    )


DELETE = 'DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug", name: "A"} }'


def test_history_shows_each_change_the_newest_first() -> None:
    nexus = nexus_of(
        drug("A", "{risk: 2, note: null}"),
        drug("A", "{risk: 3}", "doc-2"),
        'DELETE ATTRIBUTES { "note" } FROM ?d WHERE { ?d {type: "Drug"} }',
        DELETE,
        drug("A", "{risk: 1.0}"),
    )
    last = nexus.info()["commit"]
    page = nexus.history("C:Drug/A")
    assert (page["id"], page["next_cursor"], page["earliest_seq"]) == ("C:Drug/A", None, 0)
    entries = page["entries"]
    assert [entry["seq"] for entry in entries] == [last, last - 1, last - 2, last - 3, last - 4]
    assert [entry["change"] for entry in entries] == [
        "created", "deleted", "changed", "changed", "created",
    ]  # fmt: skip
    assert [entry["statement"]["kind"] for entry in entries] == [
        "UPSERT", "DELETE", "DELETE", "UPSERT", "UPSERT",
    ]  # fmt: skip
    assert entries[3]["keys"] == [
        {"key": "attributes.risk", "before": 2, "after": 3},
        {"key": "metadata.source", "before": "doc-1", "after": "doc-2"},
    ]
    assert entries[2]["keys"] == [{"key": "attributes.note", "before": None}]
    assert entries[2]["source"] == "doc-2"
    assert {"key": "attributes.note", "after": None} in entries[4]["keys"]
    assert entries[0]["at"] > entries[4]["at"] >= "2026-01-01T00:00"
    assert repr(entries[0]["keys"][0]["after"]) == "1.0"


def test_history_has_the_statement_without_its_values() -> None:
    nexus = nexus_of(
        drug("A", "{risk: 2, tags: [1, {a: 2}]}"),
        """UPDATE ?d SET ATTRIBUTES { risk: ADD(?d.attributes.risk, 40) }
        WHERE { ?d {type: "Drug", name: "A"} FILTER(?d.metadata.source == "doc-1") } LIMIT 7""",
        'DELETE ATTRIBUTES { "tags" } FROM ?d WHERE { ?d {type: "Drug"} }',
        drug("A", "{risk: 9, tags: null}", "doc-2"),
    )
    newest, *others = (entry["statement"] for entry in nexus.history("C:Drug/A")["entries"])
    assert [statement["text"] for statement in others] == [
        'DELETE ATTRIBUTES {"tags"} FROM ?d\nWHERE {\n  ?d {type: :value}\n}',
        "UPDATE ?d\nSET ATTRIBUTES {risk: ADD(?d.attributes.risk, :value)}\nWHERE {\n"
        "  ?d {type: :value, name: :value}\n  FILTER(?d.metadata.source == :value)\n}\n"
        "LIMIT :value",
        "UPSERT {\n  CONCEPT {\n    {type: :value, name: :value}\n"
        "    SET ATTRIBUTES {risk: :value, tags: :value}\n  }\n} WITH METADATA {source: :value}",
    ]
    assert newest == others[-1]
    assert len({statement["digest"] for statement in others}) == 3


def test_a_text_sent_again_shows_the_keys_of_each_map_and_is_the_statement_of_its_literals() -> (
    None
):
    nexus = nexus_of(drug("A", "{risk: 2}"))
    text = """UPSERT { CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES %s } }
    WITH METADATA { source: "doc-1" }"""
    for values in ({"risk": 3}, {"dose": 1, "note": "n"}):
        nexus.execute(text % ":values", values=values)
    for risk in (4, 5):
        nexus.execute(text % "{risk: :risk}", risk=risk)
    entries = nexus.history("C:Drug/A")["entries"]
    texts = [entry["statement"]["text"].splitlines()[3].strip() for entry in entries]
    risk = "SET ATTRIBUTES {risk: :value}"
    assert texts == [risk, risk, "SET ATTRIBUTES {dose: :value, note: :value}", risk, risk]
    assert len({entry["statement"]["digest"] for entry in entries}) == 2


def test_the_text_of_a_long_statement_has_each_form_once() -> None:
    items = "".join(f'CONCEPT {{ {{type: "Drug", name: "D{number}"}} }} ' for number in range(300))
    nexus = nexus_of(f"UPSERT {{ {items} }}")
    (entry,) = nexus.history("C:Drug/D299")["entries"]
    assert entry["statement"]["text"] == (
        "UPSERT {\n  CONCEPT {\n    {type: :value, name: :value}\n  }\n}"
    )


def test_commits_without_a_statement_have_no_text() -> None:
    nexus = nexus_of(drug("A", "{risk: 2}"))
    nexus.undo(seq=nexus.info()["commit"])
    statement = nexus.history("C:Drug/A")["entries"][0]["statement"]
    assert statement == {"kind": "UNDO", "digest": None, "text": None}


def test_history_of_a_key_in_pages() -> None:
    nexus = nexus_of(*(drug("A", f"{{risk: {number}, note: 1}}") for number in range(5)))
    pages = []
    cursor = None
    while True:
        page = nexus.history("C:Drug/A", key="attributes.risk", limit=2, cursor=cursor)
        pages.append([entry["keys"][0].get("after") for entry in page["entries"]])
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert pages == [[4, 3], [2, 1], [0]]
    assert len(nexus.history("C:Drug/A", key="attributes.note")["entries"]) == 1


def test_history_of_merged_and_repointed_elements() -> None:
    link = 'UPSERT { CONCEPT ?b { {type: "Drug", name: "%s"} } '
    link += 'CONCEPT { {type: "Drug", name: "%s"} SET PROPOSITIONS { ("treats", ?b) } } }'
    merge = 'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "Drug", name: "A"} '
    nexus = nexus_of(
        drug("A", "{}"),
        drug("B", "{}"),
        drug("C", "{}"),
        link % ("C", "A"),
        merge + '?b {type: "Drug", name: "B"} }',
    )
    (id,) = nexus.execute('FIND(?l.id) WHERE { ?l (?s, "treats", ?o) }')
    first = {name: nexus.history(f"C:Drug/{name}")["entries"][0] for name in "ABC"}
    assert [first[name]["change"] for name in "ABC"] == ["merged", "merged", "created"]
    assert [entry["change"] for entry in nexus.history(id)["entries"]] == ["repointed", "created"]
    (moved,) = nexus.changes(nexus.info()["commit"] - 1)["commits"][0]["propositions"]["changed"]
    assert (moved["subject"], moved["previous"]["subject"]) == ("C:Drug/B", "C:Drug/A")


@each_case(
    "arguments, code",
    [
        ({"id": "C:Drug/Nobody"}, "KIP_3002"),
        ({"id": "Aspirin"}, "KIP_1001"),
        ({"id": 5}, "KIP_1001"),
        ({"id": "C:Drug/A", "limit": 0}, "KIP_1001"),
        ({"id": "C:Drug/A", "limit": True}, "KIP_1001"),
        ({"id": "C:Drug/A", "cursor": "x"}, "KIP_1001"),
        ({"id": "C:Drug/A", "key": 5}, "KIP_1001"),
        ({"id": "C:Drug/A", "key": "risk"}, "KIP_1001"),
    ],
)
def test_history_refuses_wrong_arguments(arguments: dict[str, Any], code: str) -> None:
    nexus = nexus_of(drug("A", "{}"))
    with pytest.raises(kiprdf.KipError) as refused:
        nexus.history(**arguments)
    assert refused.value.code == code


@each_case(
    "selection",
    [
        {"type": 5},
        {"author": ""},
        {"session": ["s"]},
        {"source": object()},
        {"source": "\ud800"},
        {"source": {"a": float("nan")}},
    ],
)
def test_changes_refuse_what_nothing_can_be(selection: dict[str, Any]) -> None:
    (name,) = selection
    with pytest.raises(kiprdf.KipError, match=f"KIP_1001 The argument {name} is a"):
        nexus_of().changes(0, **selection)


def test_changes_are_commits_in_the_words_of_diff() -> None:
    nexus = nexus_of(drug("A", "{risk: 2}"), drug("A", "{risk: 3}"), DELETE)
    since = nexus.info()["commit"] - 3
    page = nexus.changes(since)
    created, changed, deleted = page["commits"]
    concept = {"_type": "ConceptNode", "id": "C:Drug/A", "type": "Drug", "name": "A"}
    assert created["concepts"] == {
        "added": [{**concept, "attributes": {"risk": 2}, "metadata": {"source": "doc-1"}}],
        "removed": [],
        "changed": [],
    }
    assert changed["concepts"]["changed"] == [
        {**concept, "attributes": {"risk": {"before": 2, "after": 3}}}
    ]
    assert deleted["concepts"]["removed"][0]["attributes"] == {"risk": 3}
    assert (deleted["kind"], deleted["seq"]) == ("DELETE", since + 3)
    assert deleted["propositions"] == {"added": [], "removed": [], "changed": []}
    assert nexus.changes(since + 3)["commits"] == []
    assert [commit["seq"] for commit in nexus.changes(since, since + 1)["commits"]] == [since + 1]
    at = changed["at"]
    assert [commit["seq"] for commit in nexus.changes(at)["commits"]] == [since + 3]
    assert [commit["seq"] for commit in nexus.changes(since, at)["commits"]] == [
        since + 1,
        since + 2,
    ]


def test_pages_of_changes_have_every_commit_once() -> None:
    nexus = nexus_of(*(drug(f"D{number}", "{}") for number in range(7)))
    since = nexus.info()["commit"] - 7
    seen, cursor = [], None
    while True:
        page = nexus.changes(since, limit=3, cursor=cursor)
        seen.append([commit["seq"] - since for commit in page["commits"]])
        cursor = page["next_cursor"]
        if cursor is None:
            break
        nexus.execute(drug("Later", f"{{n: {len(seen)}}}"))
    assert seen == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


def test_changes_are_selected_by_type_source_author_and_session() -> None:
    nexus = nexus_of()
    since = nexus.info()["commit"]
    with nexus.acting(author="agent-7", session="s-1"):
        nexus.execute(drug("A", "{}", "doc-1"))
        with nexus.acting(session="s-2"):
            nexus.execute(drug("B", "{}", "doc-2"))
    nexus.execute(drug("A", "{risk: 1}", "doc-2"))
    nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Ann"} } }')

    def selected(**selection: Any) -> list[int]:
        return [commit["seq"] - since for commit in nexus.changes(since, **selection)["commits"]]

    assert selected() == [1, 2, 3, 4]
    assert selected(author="agent-7") == [1, 2]
    assert selected(session="s-2") == [2]
    assert selected(type="Person") == [4]
    assert selected(source="doc-1") == [1, 3]
    assert selected(source="doc-2", author="agent-7") == [2]
    assert selected(type="treats") == []


def test_changes_since_a_large_commit_do_not_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed: list[int] = []
    catch_up = CommitIndex.catch_up

    def noted(index: CommitIndex, *arguments: Any, **options: Any) -> None:
        indexed.append(1)
        catch_up(index, *arguments, **options)

    monkeypatch.setattr(CommitIndex, "catch_up", noted)
    monkeypatch.setattr("kiprdf.execution.history.FEW_BYTES", 3_000)
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        nexus.execute(SCHEMA)
        begin = nexus.info()["commit"]
        blocks = "".join(
            f'CONCEPT {{ {{type: "Drug", name: "d{n}"}} SET ATTRIBUTES {{ n: {n} }} }}'
            for n in range(200)
        )
        nexus.apply_capsule(f"UPSERT {{ {blocks} }}")
        since = nexus.info()["commit"]
        with nexus.acting(author="agent-7", session="s-1"):
            nexus.execute(drug("A", "{}", "doc-1"))
        nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Ann"} } }')

        def selected(since: int, **selection: Any) -> list[int]:
            return [
                commit["seq"] - begin for commit in nexus.changes(since, **selection)["commits"]
            ]

        selections: list[tuple[dict[str, Any], list[int]]] = [
            ({"type": "Drug"}, [2]),
            ({"type": "Person"}, [3]),
            ({"source": "doc-1"}, [2]),
            ({"author": "agent-7"}, [2]),
            ({"author": "agent-8"}, []),
            ({"session": "s-1", "type": "Drug"}, [2]),
            ({"session": "s-1", "type": "Person"}, []),
        ]
        for selection, expected in selections:
            assert selected(since, **selection) == expected, selection
        assert indexed == []
        assert selected(begin, type="Drug") == [1, 2]
        assert indexed == [1]
        for selection, expected in selections:
            assert selected(since, **selection) == expected, selection


def test_author_is_that_of_the_thread_and_of_the_nexus() -> None:
    nexus, other = nexus_of(), nexus_of()
    with nexus.acting(author="here"):
        thread = threading.Thread(target=lambda: nexus.execute(drug("Thread", "{}")))
        thread.start()
        thread.join()
        other.execute(drug("Other", "{}"))
        nexus.execute(drug("Here", "{}"))
    nexus.execute(drug("After", "{}"))
    names = ("Thread", "Here", "After")
    authors = [nexus.history(f"C:Drug/{name}")["entries"][0]["author"] for name in names]
    assert authors == [None, "here", None]
    assert other.history("C:Drug/Other")["entries"][0]["author"] is None


def test_authors_are_in_the_folder(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus, nexus.acting(author="Zoë", session="s"):
        nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Ann"} } }')
    with kiprdf.Nexus.open(tmp_path / "kb", read_only=True) as reader:
        (entry,) = reader.history("C:Person/Ann")["entries"]
    assert (entry["author"], entry["session"]) == ("Zoë", "s")


def test_every_commit_of_a_random_history_is_the_difference_of_its_states() -> None:
    chance = random.Random(SEED)
    nexus = kiprdf.Nexus.memory(history=True, clock=Clock())
    nexus.execute(SCHEMA)
    since = nexus.info()["commit"]
    for _ in range(STATEMENTS):
        change(nexus, chance)
    commits = nexus.changes(since, limit=10_000)["commits"]
    assert [commit["seq"] for commit in commits] == [*range(since + 1, nexus.info()["commit"] + 1)]
    for commit in chance.sample(commits, min(12, len(commits))):
        with nexus.at(commit["seq"] - 1) as before, nexus.at(commit["seq"]) as after:
            difference = before.diff(after).to_json()
        assert commit["concepts"] == difference["concepts"]
    for name in range(6):
        id = f"C:Drug/D{name}"
        values: dict[str, Any] = {}
        try:
            entries = nexus.history(id)["entries"]
        except kiprdf.KipError:
            continue
        for item in (item for entry in reversed(entries) for item in entry["keys"]):
            values.pop(item["key"], None)
            if "after" in item:
                values[item["key"]] = item["after"]
        stored = nexus.execute("FIND(?d) WHERE { ?d {id: :id} }", id=id) if values else []
        shown = {
            f"{part}.{key}": value
            for element in stored
            for part in ("attributes", "metadata")
            for key, value in element.get(part, {}).items()
            if key not in ("_version", "_created_at", "_updated_at")
        }
        assert values == shown


# A history with damaged files ------------------------------------------------------------------


@pytest.fixture
def sealed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A closed nexus with sealed files and a log, each with changes of Ada."""
    monkeypatch.setattr(journal, "SEALED_BYTES", 3_000)
    with kiprdf.Nexus.open(tmp_path / "kb", genesis=False) as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Person"} } }')
        for age in range(40):
            with nexus.acting(session="s"):
                nexus.execute(
                    'UPSERT { CONCEPT { {type: "Person", name: "Ada"} SET ATTRIBUTES {age: :n} } }',
                    n=age,
                )
    return tmp_path / "kb"


def half(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


@pytest.mark.parametrize("damage", [half, Path.unlink])
@pytest.mark.parametrize("place", [0, 1, -2, -1])
@pytest.mark.parametrize("read_only", [True, False])
def test_a_history_with_damaged_files_is_not_shown_as_if_it_were_all(
    sealed: Path, place: int, damage: Callable[[Path], None], read_only: bool
) -> None:
    with kiprdf.Nexus.open(sealed, genesis=False, read_only=True) as nexus:
        last = nexus.info()["commit"]
        whole = nexus.history("C:Person/Ada")["entries"]
        assert len(whole) == 40
    files = sorted((sealed / "history").glob("*.k*"))
    assert len(files) > 3
    damage(files[place])
    with kiprdf.Nexus.open(sealed, genesis=False, read_only=read_only) as nexus:
        report = nexus.check()["history"]
        assert report["faults"]
        assert "kiprdf compact-history --before" in report["faults"][-1]
        if place == -1 and not read_only:
            # What the log had is one record by now, which says so.
            assert nexus.history("C:Person/Ada")["entries"][0]["statement"]["kind"] == "LOST"
            return
        with pytest.raises(
            kiprdf.KipError, match="Restore a backup; or begin the history"
        ) as raised:
            nexus.history("C:Person/Ada")
        number = int(str(raised.value).split("--before ")[1].split()[0])
        assert number == report["earliest_seq"] > 0
        if read_only:
            return
        with pytest.raises(kiprdf.KipError, match="Restore a backup"):
            nexus.undo(session="s")
        nexus.compact_history(number)
        assert nexus.check()["history"]["state"] == "sound"
        entries = nexus.history("C:Person/Ada")["entries"]
        assert entries[: last - number] == whole[: last - number]
        assert nexus.execute('FIND(?p.attributes.age) WHERE { ?p {type: "Person"} }') == [39]
