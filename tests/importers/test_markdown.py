"""Folders of Markdown as Obsidian and basic-memory 0.24.1 have them, bad ones, and once more."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf import Nexus, importers
from kiprdf.importers import Plan, front_matter
from kiprdf.importers import markdown as markdown_files
from kiprdf.memory import Memory
from tests.long_runs import amount

ASPIRIN = """---
aliases: [ASA, "Acetylsalicylic acid"]
tags:
  - drug/nsaid
maker: "[[Bayer]]"
similar: ["[[Ibuprofen]]", "[[Warfarin|the thinner]]"]
approved: 1899-03-06
taken: 12:30
risk: 2
generic: no
birth date: 2020-01-01
session: 7
---
# Aspirin

Thins the [[blood]], stops [[Headache#Causes|headaches]] and [[Headache^a1|more]]. See
[Ibu](Ibuprofen.md), ![[pill.png]] and ![scan](../img/scan%201.png). #to-do #2024 [[#Dose]]

dose:: 500 mg
- [half-life:: 20 min] #pain
interacts:: [[Warfarin]]

| a | [[Index\\|the index]] |

`[[code]] #code` %% [[hidden]] #hidden %% <!-- [[html]] --> \\[[escaped]]

```dataview
LIST FROM [[fenced]]
```
https://example.org/#fragment [web](https://example.org/Ibuprofen.md)
"""
VAULT = {
    "Drugs/Aspirin.md": ASPIRIN,
    "Drugs/Ibuprofen.md": "A drug, like [[aspirin]].",
    "Headache.md": "It hurts. [[Headache]]",
    "Index.md": "[[Drugs/Aspirin|a drug]]",
    "Log/Index.md": "Another one: ![[Index]]",
    "Log/2024-05-01.md": "Took [[Aspirin]].",
    "Log/empty.md": "",
    ".obsidian/app.json": "{}",
    ".trash/Old.md": "[[Aspirin]]",
    ".hidden.md": "[[Aspirin]]",
    "img/pill.png": "x",
    "img/scan 1.png": "x",
    "board.canvas": "{}",
    "Drawing.excalidraw.md": "---\nexcalidraw-plugin: parsed\n---\n# Text\n",
}


def written(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """A folder with files."""
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        os.utime(file, (1_700_000_000, 1_700_000_000))
    return folder


def vault(folder: Path, files: Mapping[str, str | bytes]) -> Plan:
    """The plan of a vault of Obsidian with files."""
    return importers.obsidian(written(folder, files))


def note(plan: Plan, name: str) -> dict[str, Any]:
    """The attributes of a note of a plan."""
    [row] = [row for row in plan.concepts if row["name"] == name]
    attributes: dict[str, Any] = row["attributes"]
    return attributes


def links(plan: Plan, subject: str | None = None) -> set[tuple[str, ...]]:
    """The links of a plan, by names, or those of one note without its name."""
    rows = {(r["subject"][1], r["predicate"], r["object"][1]) for r in plan.propositions}
    return rows if subject is None else {row[1:] for row in rows if row[0] == subject}


def test_a_vault_becomes_notes_with_properties_tags_and_links(tmp_path: Path) -> None:
    plan = vault(tmp_path / "vault", VAULT)
    aspirin = note(plan, "Aspirin")
    assert aspirin.pop("content") == ASPIRIN.split("---\n", 2)[2]
    assert aspirin == {
        "path": "Drugs/Aspirin.md",
        "aliases": ["ASA", "Acetylsalicylic acid"],
        "approved": "1899-03-06",
        "taken": "12:30",
        "risk": 2,
        "generic": "no",
        "birth_date": "2020-01-01",
        "own_session": 7,
        "dose": "500 mg",
        "half_life": "20 min",
        "tags": ["drug/nsaid", "to-do", "pain"],
        "timestamp": "2023-11-14T22:13:20.000000Z",
    }
    assert links(plan, "Aspirin") == {
        ("maker", "Bayer"),
        ("similar", "Ibuprofen"),
        ("similar", "Warfarin"),
        ("interacts", "Warfarin"),
        ("links_to", "blood"),
        ("links_to", "Headache"),
        ("links_to", "Headache^a1"),
        ("links_to", "Ibuprofen"),
        ("links_to", "Index"),
        ("embeds", "pill.png"),
        ("embeds", "scan 1.png"),
    }
    [_, headache] = [row for row in plan.propositions if row["object"][1] == "Headache"]
    assert headache["attributes"] == {"sections": ["Causes"], "labels": ["headaches"]}
    assert links(plan) - {("Aspirin", *row) for row in links(plan, "Aspirin")} == {
        ("Ibuprofen", "links_to", "Aspirin"),
        ("Index", "links_to", "Aspirin"),
        ("2024-05-01", "links_to", "Aspirin"),
        ("Log/Index", "embeds", "Index"),
        ("Headache", "links_to", "Headache"),
    }
    assert note(plan, "2024-05-01")["timestamp"] == "2024-05-01T00:00:00.000000Z"
    assert note(plan, "empty") == {"path": "Log/empty.md", "tags": []}
    assert note(plan, "Warfarin") == {}
    reported = {entry["item"]: entry["reason"] for entry in plan.skipped}
    assert reported == {
        "Drawing.excalidraw.md": "a drawing of Excalidraw",
        "board.canvas": "this is no Markdown: it is left out",
        "img/pill.png": "this is no Markdown: only its path is kept",
        "img/scan 1.png": "this is no Markdown: only its path is kept",
    }
    assert "What is hidden is not read: .hidden.md, .obsidian, .trash." in plan.warnings
    assert "Drugs/Aspirin.md links to 'blood', which is not there." in plan.warnings
    assert "The key 'birth date' is written as 'birth_date'." in plan.warnings


def test_search_and_recall_find_the_text_of_a_note_and_no_note_that_is_not_there(
    tmp_path: Path,
) -> None:
    plan = vault(tmp_path / "vault", VAULT)
    with Nexus.memory() as nexus:
        plan.apply(nexus)
        memory = Memory(nexus)
        assert memory.recall("what thins the blood?").notes[0].item.id == "Aspirin"
        assert "blood" not in [note.item.id for note in memory.recall("blood").notes]
        assert memory.get("blood") is None
        assert memory.get("Aspirin") is not None
        tagged = memory.recall("drug", tags=["drug/nsaid"])
        assert [note.item.id for note in tagged.notes] == ["Aspirin"]
        [hit] = nexus.execute('SEARCH CONCEPT "acetylsalicylic" LIMIT 5')
        assert hit["id"] == "C:MemoryItem/Aspirin"
        assert nexus.find('FIND(?s.name) WHERE { (?s, "maker", {name: "Bayer"}) }').column(
            "?s.name"
        ) == ["Aspirin"]
        assert memory.stats()["edges"] == 0


def test_a_vault_that_changed_is_imported_again(tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    first = {
        "A.md": "---\nrisk: 1\nstatus: x\n---\n[[B]] and [[C]] " + "x" * 250_000,
        "B.md": "bee",
        "D.md": "dee",
    }
    with Nexus.memory() as nexus:
        report = vault(folder, first).apply(nexus)
        assert report["concepts"] == {"created": 4, "updated": 0, "unchanged": 0}
        again = importers.obsidian(folder).apply(nexus)
        assert again["concepts"] == {"created": 0, "updated": 0, "unchanged": 4}
        assert again["propositions"] == {"created": 0, "updated": 0, "unchanged": 2}
        assert again["vanished"] == []
        (folder / "B.md").unlink()
        (folder / "D.md").rename(folder / "E.md")
        third = vault(folder, {"A.md": "---\nrisk: 2\n---\n[[C]]", "C.md": "sea"})
        before = nexus.snapshot()
        tried = third.apply(nexus, dry_run=True)
        assert nexus.snapshot() == before
        report = third.apply(nexus)
        assert tried == {**report, "commits": tried["commits"]}
        assert report["concepts"] == {"created": 1, "updated": 2, "unchanged": 0}
        a, b = ({"type": "MemoryItem", "name": name} for name in "AB")
        assert sorted(report["vanished"], key=str) == sorted(
            [
                {**a, "attribute": "status"},
                b,
                {"type": "MemoryItem", "name": "D"},
                {"subject": a, "predicate": "links_to", "object": b},
            ],
            key=str,
        )
        memory = Memory(nexus)
        assert {item.id: item.content for item in memory.items()} == {
            "A": "[[C]]",
            "B": "bee",
            "C": "sea",
            "D": "dee",
            "E": "dee",
        }


def test_a_note_whose_title_is_taken_by_another_stays_one_concept(tmp_path: Path) -> None:
    first = vault(tmp_path / "vault", {"a/Index.md": "mine", "B.md": "[[Index]]"})
    with Nexus.memory() as nexus:
        first.apply(nexus)
        nexus.execute(
            'UPSERT { CONCEPT { {type: "MemoryItem", name: "Index"} SET ATTRIBUTES {rating: 5} } }'
        )
        second = vault(tmp_path / "vault", {"b/Index.md": "yours", "a/Index.md": "mine, changed"})
        report = second.apply(nexus)
        assert report["vanished"] == []
        assert links(second) == {("B", "links_to", "a/Index")}
        rows = nexus.find(
            "FIND(?n.name, ?n.attributes.content, ?n.attributes.rating) WHERE { ?n {type: :type} }",
            type="MemoryItem",
        ).tuples()
        assert sorted(rows) == [
            ("B", "[[Index]]", None),
            ("a/Index", "mine, changed", 5),
            ("b/Index", "yours", None),
        ]
        again = second.apply(nexus)
        assert again["concepts"] == {"created": 0, "updated": 0, "unchanged": 3}
        assert again["propositions"] == {"created": 0, "updated": 0, "unchanged": 1}


def test_notes_of_one_title_in_two_folders_are_two(tmp_path: Path) -> None:
    first = vault(tmp_path / "work", {"Index.md": "mine [[Tea]]", "Tea.md": "green"})
    second = vault(tmp_path / "home", {"Index.md": "yours [[Tea]] [[Milk]]"})
    with Nexus.memory() as nexus:
        first.apply(nexus)
        for _ in range(2):
            report = second.apply(nexus)
        assert report["concepts"] == {"created": 0, "updated": 0, "unchanged": 3}
        assert report["vanished"] == []
        nexus.execute(
            'UPSERT { CONCEPT { {type: "MemoryItem", name: "Tea"} } WITH METADATA {source: "me"} }'
        )
        assert first.apply(nexus)["concepts"] == {"created": 0, "updated": 1, "unchanged": 1}
        names = nexus.find('FIND(?a.name, ?b.name) WHERE { (?a, "links_to", ?b) }').tuples()
        assert sorted(names) == [
            ("Index", "Tea"),
            ("Index (home)", "Milk"),
            ("Index (home)", "Tea (home)"),
        ]
        assert Memory(nexus).get("Index").content == "mine [[Tea]]"  # type: ignore[union-attr]
        assert any("'Index' of 'work'" in warning for warning in report["warnings"])


def test_files_and_observations_of_one_name_in_two_folders_are_two(tmp_path: Path) -> None:
    plans = [
        importers.basic_memory(written(tmp_path / name, files))
        for name, files in (
            ("work", {"Tea.md": "![[a/x.png]]\n- [fact] Hot (here)", "a/x.png": "1"}),
            ("home", {"Tea.md": "![[b/x.png]]\n- [fact] Hot (there)", "b/x.png": "2"}),
        )
    ]
    with Nexus.memory() as nexus:
        for plan in [*plans, *plans]:
            report = plan.apply(nexus)
            assert report["vanished"] == []
        assert report["concepts"] == {"created": 0, "updated": 0, "unchanged": 3}
        rows = nexus.find(
            "FIND(?n.name, ?x.name, ?x.attributes.path, ?x.attributes.context) "
            'WHERE { (?n, "embeds" | "has_observation", ?x) } ORDER BY ?n.name, ?x.name'
        )
        assert rows.tuples() == (
            ("Tea", "Tea: Hot", None, "here"),
            ("Tea", "x.png", "a/x.png", None),
            ("Tea (home)", "Tea: Hot (home)", None, "there"),
            ("Tea (home)", "x.png (home)", "b/x.png", None),
        )


def test_many_notes_of_one_name_take_linear_time(tmp_path: Path) -> None:
    def duration(number: int) -> float:
        folder = written(
            tmp_path / str(number),
            {f"{n}/x/Note.md": "[[Note]]" for n in range(number)}
            | {f"{n}.md": "[[Note]]" for n in range(number)},
        )
        start = time.process_time()
        plan = importers.obsidian(folder)
        assert plan.warnings[0].endswith(f" or {number - 5} more; it is 0/x/Note.md.")
        assert len(plan.warnings[0]) < 150
        return time.process_time() - start

    assert duration(1_200) < 12 * duration(200) + 0.2


def test_a_link_with_several_targets_leads_to_the_nearest(tmp_path: Path) -> None:
    plan = vault(
        tmp_path,
        {
            "a/Note.md": "a",
            "b/c/Note.md": "c",
            "b/From.md": "[[Note]] [[c/Note|x]] [[../a/Note]] [[Été]] [n](c/Note.md#Part)",
            "e/Note.md": "e",
            "e/Also.md": "[[note]]",
            "E\u0301te\u0301.md": "decomposed",
            "v1.2.md": "[[v1.2]] [[Also.md]]",
        },
    )
    assert links(plan, "From") == {
        ("links_to", "a/Note"),
        ("links_to", "b/c/Note"),
        ("links_to", "Été"),
    }
    assert links(plan, "Also") == {("links_to", "e/Note")}
    assert links(plan, "v1.2") == {("links_to", "Also"), ("links_to", "v1.2")}
    assert plan.warnings == [
        "b/From.md: [[Note]] may be a/Note.md or b/c/Note.md or e/Note.md; it is a/Note.md."
    ]


BOMB = (
    "---\n"
    + "a: &a [x,x,x,x,x,x,x,x,x]\n"
    + "".join(
        f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]\n"
        for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "---\nboom"
)


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("---\na: [1\n---\nbody", "Line 3 is not YAML"),
        ("---\n- 1\n---\nbody", "Its front matter has no properties."),
        ("---\na: !!python/object:os.system x\n---\nbody", "Line 2 is not YAML"),
        ("---\n{{title}}: {{date}}\n---\nbody", "Line 2 is not YAML"),
        (BOMB, "it has more than 10000 values"),
        ("---\na: &a [*a]\n---\nbody", "Its front matter"),
        ("---\na: " + "[" * 20_000 + "\n---\nbody", "nests too deep"),
        ("---\na: " + "- " * 900 + "\n---\nbody", ""),
    ],
)
def test_front_matter_that_cannot_be_read_is_kept_in_the_text(
    tmp_path: Path, text: str, warning: str
) -> None:
    plan = vault(tmp_path, {"a.md": text, "b.md": "---\nok: true\n---\nfine"})
    assert note(plan, "b")["ok"] is True
    if warning:
        assert note(plan, "a")["content"] == text
        assert warning in plan.warnings[0]
        assert plan.warnings[0].startswith("a.md: ")


def test_files_in_other_encodings_and_links_out_of_the_folder(tmp_path: Path) -> None:
    outside = written(tmp_path / "outside", {"Secret.md": "secret"})
    folder = written(
        tmp_path / "vault",
        {
            "latin.md": "caf\xe9".encode("latin-1"),
            "utf16.md": "Grüße [[bom]]".encode("utf-16"),
            "bom.md": b"\xef\xbb\xbf---\r\nrank: 3\r\n---\r\nHello",
            "twice.md": "---\na: 1\na: 2\n---\nx\0y",
        },
    )
    (folder / "out").symlink_to(outside)
    (folder / "loop").symlink_to(folder)
    (folder / "Secret.md").symlink_to(outside / "Secret.md")
    plan = importers.obsidian(folder)
    assert {row["name"] for row in plan.concepts} == {"utf16", "bom", "twice"}
    assert note(plan, "bom")["rank"] == 3
    assert note(plan, "bom")["content"] == "Hello"
    assert note(plan, "twice")["a"] == 2
    assert links(plan) == {("utf16", "links_to", "bom")}
    assert {entry["item"]: entry["reason"] for entry in plan.skipped} == {
        "Secret.md": "a symbolic link is not followed",
        "latin.md": "latin.md, line 1: this is not UTF-8 text. Save it as UTF-8.",
        "loop": "a symbolic link is not followed",
        "out": "a symbolic link is not followed",
        "twice.md: a": "the front matter has this property twice; the last one counts",
    }


def test_names_of_files_that_no_text_can_have(tmp_path: Path) -> None:
    folder = written(tmp_path, {"a.md": "[[caf]]", "E\u0301.md": "apart", "É.md": "composed"})
    Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.md")).write_text("x")
    os.mkfifo(folder / "pipe.md")
    plan = importers.obsidian(folder)
    assert {row["name"] for row in plan.concepts} == {"a", "caf", "É", "caf_0fb91c76"}
    reasons = {entry["reason"] for entry in plan.skipped}
    assert reasons == {"another file has this name", "this is no regular file"}
    with Nexus.memory() as nexus:
        assert plan.apply(nexus)["concepts"]["created"] == 4


def test_markdown_needs_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path, {"a.md": "no properties", "b.md": "---\na: 1\n---\n"})
    front_matter._loaders.cache_clear()
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(kiprdf.StoreError, match=r"pip install 'kiprdf\[markdown\]'"):
        importers.obsidian(folder)


def test_what_is_no_folder_of_markdown_is_refused(tmp_path: Path) -> None:
    written(tmp_path, {"a/b.txt": "x", "c.md": "x"})
    for path in ("a", "c.md", "none"):
        with pytest.raises(kiprdf.KipError) as caught:
            importers.obsidian(tmp_path / path)
        assert caught.value.code == "KIP_1001"
        assert path in caught.value.message


COFFEE = """---
title: Coffee Brewing Methods
type: guide
permalink: coffee/coffee-brewing-methods
tags: [coffee, brewing]
created: 2025-01-15T10:00:00+00:00
---
# Coffee

It needs [[Hot Water]] and [a filter](../gear/Filter.md).

## Observations
- [method] Pour over gives clarity #technique #a#b (at home)
- [decision] @effective[2026-06-10,2026-07-27) We use paper.
- [fact] @occurred:2026-01-05 The grinder broke.
- no category but #tag
- [ ] task [[Task]]
- [x] done #done
- [00:01:02] in a transcript
- [link](https://example.org)
- [[Bare]]
- plain

> - [quote] in a callout

## Relations
- relates_to [[tea/green-tea]]
- "some type" [[Water]] (because (x))
- pairs with [[Milk]]
- uses [[A]] and [[B]]

```
- [code] fenced
- needs [[Fenced]]
```
"""


def test_basic_memory_has_observations_and_relations(tmp_path: Path) -> None:
    plan = importers.basic_memory(
        written(
            tmp_path / "project",
            {
                "coffee/Coffee.md": COFFEE,
                "tea/Green.md": "---\ntitle: Green Tea\npermalink: tea/green-tea\n---\nHot.",
                "gear/Filter.md": "---\nbm_parse_semantics: false\n---\n- [x y] no\n[[C]]",
            },
        )
    )
    assert links(plan) - {row for row in links(plan) if row[1] == "has_observation"} == {
        ("Coffee Brewing Methods", "relates_to", "Green Tea"),
        ("Coffee Brewing Methods", "some_type", "Water"),
        *(
            ("Coffee Brewing Methods", "links_to", name)
            for name in ("Hot Water", "Filter", "Task", "Bare", "Milk", "A", "B")
        ),
    }
    [water] = [row for row in plan.propositions if row["object"][1] == "Water"]
    assert water["attributes"] == {"contexts": ["because (x)"], "original_predicate": "some type"}
    rows = [row for row in plan.concepts if row["type"] == "Observation"]
    assert {row["metadata"].pop("folder") for row in rows} == {"project"}
    assert [(row["attributes"], row["metadata"]) for row in rows] == [
        (
            {
                "content": "Pour over gives clarity #technique #a#b",
                "category": "method",
                "context": "at home",
                "tags": ["technique", "a", "b"],
            },
            {},
        ),
        (
            {"content": "We use paper.", "category": "decision"},
            {"valid_from": "2026-06-10T00:00:00Z", "valid_until": "2026-07-27T00:00:00Z"},
        ),
        (
            {
                "content": "The grinder broke.",
                "category": "fact",
                "occurred": "2026-01-05T00:00:00Z",
            },
            {},
        ),
        ({"content": "no category but #tag", "tags": ["tag"]}, {}),
    ]
    assert rows[0]["name"] == "Coffee Brewing Methods: Pour over gives clarity #technique #a#b"
    coffee = note(plan, "Coffee Brewing Methods")
    assert coffee["type"] == "guide"
    assert coffee["timestamp"] == "2025-01-15T10:00:00.000000Z"
    originals = {row["name"]: row["metadata"].get("original_id") for row in plan.concepts}
    assert originals["Coffee Brewing Methods"] == "coffee/coffee-brewing-methods"
    assert originals["Filter"] == "gear/Filter.md"
    with Nexus.memory() as nexus:
        plan.apply(nexus)
        assert plan.apply(nexus)["concepts"] == {"created": 0, "updated": 0, "unchanged": 14}


@pytest.mark.parametrize(
    "unit",
    [
        "`",
        "` `` ",
        "[[",
        "[a](",
        "<!--",
        "%% ",
        "```\n",
        "a:: ",
        "[a:: ",
        "- [",
        "- a [[b]] (",
        "#",
    ],
)
def test_a_text_is_read_in_linear_time(tmp_path: Path, unit: str) -> None:
    def duration(length: int) -> float:
        file = {"a.md": (unit * length)[:length], "b.md": f"- a{' ' * length}[[b]]{' ' * length}c"}
        folder = written(tmp_path, file)
        start = time.process_time()
        importers.basic_memory(folder)
        importers.obsidian(folder)
        return time.process_time() - start

    duration(100)
    assert duration(40_000) < 2


def test_a_folder_of_many_notes(tmp_path: Path) -> None:
    number = amount("VAULT", 300)
    written(
        tmp_path,
        {
            f"f{n % 7}/Note {n}.md": f"---\nrank: {n}\n---\n[[Note {n * 7 % number}]] #t{n % 9}"
            for n in range(number)
        },
    )
    plan = importers.obsidian(tmp_path)
    assert plan.report()["notes"] == number
    assert not plan.warnings
    with Nexus.memory() as nexus:
        report = plan.apply(nexus)
        assert report["propositions"]["created"] == len(links(plan)) == number


def test_links_are_read_outside_of_code_and_comments() -> None:
    text = "a ``[[b]] ` [[c]]`` [[d]] ` [[e]]\n\n` ~~~ %%[[f]]%%\n> ~~~\n> [[g]]\n> ~~~\n"
    text += "[[h]] %% [[i]]"
    plain = markdown_files.masked(text)
    assert len(plain) == len(text)
    assert [link.target for link in markdown_files.links_of(plain)] == ["d", "e", "h", "i"]
