"""The chain of the history: each record has the digest of the one before, and verify follows it."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from pyoxigraph import Literal, Quad

import kiprdf
from kiprdf.rdf import vocab
from kiprdf.store import journal as journals
from kiprdf.store.bookkeeping import commit_note, read_commit_number
from kiprdf.store.journal_files import Sealed, decoded, encoded, framed, number_of, records_in, seal

EDITS = int(os.environ.get("KIPRDF_CHAIN", "120"))
"""The number of random edits of a journal."""
ADA = 'UPSERT { CONCEPT { {type: "Person", name: "Ada"} SET ATTRIBUTES { n: :n } } }'
verify = kiprdf.Nexus.verify_history


def records(folder: Path) -> list[bytes]:
    """The records of the file that is written last."""
    (log,) = (folder / "history").glob("*.klog")
    return [data for data in records_in(log.read_bytes()) if data is not None]


def write(folder: Path, changed: list[bytes]) -> None:
    (log,) = (folder / "history").glob("*.klog")
    log.write_bytes(b"".join(map(framed, changed)))


def forged(data: bytes, text: bytes, other: bytes) -> bytes:
    """A record with another text; its frame will have the right checksum."""
    assert text in data
    return data.replace(text, other)


def notes(folder: Path) -> list[Quad]:
    """The quads of a graph that note its last commit and the record of that."""
    return list(read_commit_number(ox.Store.read_only(str(folder / "graph"))).notes)


def renote(folder: Path, *others: Quad) -> None:
    """Replace them, in a graph that nobody has open."""
    graph = ox.Store(str(folder / "graph"))
    for quad in read_commit_number(graph).notes:
        graph.remove(quad)
    graph.extend(others)
    graph.flush()
    del graph
    (folder / "graph" / "sums.json").unlink(missing_ok=True)


@pytest.fixture
def brain(tmp_path: Path) -> Path:
    """A nexus of six commits, in which Ada has the numbers 0 to 4."""
    folder = tmp_path / "brain"
    with kiprdf.Nexus.open(folder) as nexus:
        for number in range(5):
            nexus.execute(ADA, n=number)
    return folder


def test_a_sound_history_is_followed_to_its_head(brain: Path) -> None:
    report = verify(brain)
    assert (report["commit"], report["fault"], report["warning"]) == (None, None, None)
    assert (report["chained"], report["last"], len(report["head"])) == (1, 6, 64)
    with kiprdf.Nexus.open(brain) as nexus:  # also while it is written
        nexus.execute(ADA, n=7)
        assert (verify(brain)["last"], verify(brain)["fault"]) == (7, None)
    assert verify(brain)["head"] != report["head"]


def test_the_first_record_that_was_changed_is_named(brain: Path) -> None:
    written = records(brain)
    for at, number in ((2, 3), (5, 6)):  # the last one is known by the graph alone
        changed = list(written)
        changed[at] = forged(written[at], b'"%d"' % (number - 2), b'"9"')
        write(brain, changed)
        report = verify(brain)
        assert (report["commit"], report["fault"]) == (
            number,
            "Its record was changed after it was written.",
        )
    # Whoever changes the digest that the next one has is listed by the one after it.
    changed = list(written)
    changed[2] = forged(written[2], b'"1"', b'"9"')
    commit = decoded(written[3])
    changed[3] = encoded(replace(commit, previous=journals.link_of(changed[2])))
    write(brain, changed)
    assert verify(brain)["commit"] == 4


def test_dropped_moved_and_added_records_are_named(brain: Path) -> None:
    one, two, three, four, five, six = records(brain)
    for changed, number, fault in (
        ([one, two, four, five, six], 3, "Its record is missing."),
        ([one, two, three, four, five], 6, "Its record is missing."),
        ([two, three, four, five, six], 1, "Its record, and all before it, are missing."),
        ([one, two, four, three, five, six], 3, "Its record is missing."),
        ([one, two, two, three, four, five, six], 2, "Its record is not in its place."),
        ([], 1, "Its record is missing."),
    ):
        write(brain, changed)
        report = verify(brain)
        assert (report["commit"], report["fault"]) == (number, fault)
    write(brain, [one, two, three, four, five, six])
    assert verify(brain)["fault"] is None


def test_bytes_after_the_last_record_are_said_and_removed_by_the_next_writer(brain: Path) -> None:
    (log,) = (brain / "history").glob("*.klog")
    log.write_bytes(log.read_bytes() + b"\x10\x00")
    report = verify(brain)
    assert report["commit"] == 7
    assert "Open the nexus for writing once" in report["fault"]
    kiprdf.Nexus.open(brain).close()
    assert verify(brain)["fault"] is None


def test_the_text_of_a_statement_is_part_of_its_record(brain: Path) -> None:
    texts = brain / "history" / "statements.jsonl"
    before, last = texts.read_text().rsplit("UPSERT", 1)
    texts.write_text(f"{before}UPDATE{last}")
    report = verify(brain)
    assert (report["commit"], report["fault"]) == (
        2,
        "The text of its statement is missing, or was changed.",
    )


def test_a_compacted_history_has_the_digest_of_what_it_replaced(brain: Path) -> None:
    head = verify(brain)["head"]
    with kiprdf.Nexus.open(brain) as nexus:
        nexus.compact_history(4)
        assert verify(brain) == {**verify(brain), "fault": None, "last": 6, "head": head}
        nexus.execute(ADA, n=7)
    assert (verify(brain)["fault"], verify(brain)["chained"]) == (None, 4)
    (sealed,) = (brain / "history").glob("*.kseg")
    base, *others = [data for data in Sealed(sealed).in_place() if data is not None]
    commit = decoded(base)
    changed = encoded(replace(commit, added=commit.added[1:]))
    seal(sealed, [changed, *others], "0" * 64, is_first=True, has_base=True)
    report = verify(brain)
    assert (report["commit"], report["fault"][:44]) == (
        4,
        "Its record was changed after it was written.",
    )


def test_a_history_that_forgets_says_how_much_and_stays_a_chain(brain: Path) -> None:
    with kiprdf.Nexus.open(brain) as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Grace"} } }')
        nexus.forget(["C:Person/Ada"])
        assert verify(brain)["fault"] is None
        nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Linus"} } }')
    assert (verify(brain)["fault"], verify(brain)["last"]) == (None, 9)
    (sealed,) = (brain / "history").glob("*.kseg")
    written = [data for data in Sealed(sealed).in_place() if data is not None]
    stub = decoded(written[-1])
    assert stub.origin.kind == "FORGET"
    assert (stub.records["forgotten"], stub.records["rewritten"]) == ((None, "1"), (None, "5"))
    assert [decoded(data).replaced is not None for data in written] == [
        *(False, True, True, True, True, True, False, False),
    ]
    written[2] = forged(written[2], b"UPSERT", b"UPDATE")
    seal(sealed, written, "0" * 64, is_first=True)
    assert "Its record was changed after it was written." in verify(brain)["fault"]


def test_copies_keep_the_chain(brain: Path, tmp_path: Path) -> None:
    with kiprdf.Nexus.open(brain) as nexus:
        nexus.backup(tmp_path / "copy")
        nexus.snapshot(tmp_path / "all.ttl", history=tmp_path / "all.rdfp")
    assert verify(tmp_path / "copy") == verify(brain)
    with kiprdf.Nexus.open(tmp_path / "restored", genesis=False) as restored:
        restored.restore(tmp_path / "all.ttl", history=tmp_path / "all.rdfp")
    assert (verify(tmp_path / "restored")["fault"], verify(tmp_path / "restored")["last"]) == (
        None,
        6,
    )
    kiprdf.Nexus.rebuild(brain)
    assert (verify(brain)["fault"], verify(brain)["warning"]) == (None, None)


def test_an_old_history_begins_a_chain_at_its_next_commit(brain: Path) -> None:
    def unchained(data: bytes) -> bytes:
        commit = decoded(data)
        origin = commit.origin._replace(digest=(commit.origin.digest or "")[:16] or None)
        return encoded(replace(commit, origin=origin, previous=None))

    write(brain, list(map(unchained, records(brain))))
    renote(brain, commit_note(6))
    report = verify(brain)
    assert (report["fault"], report["chained"]) == (None, None)
    assert report["warning"].startswith("No record has the digest of the one before")
    with kiprdf.Nexus.open(brain) as nexus:
        assert nexus.history("C:Person/Ada")["entries"][0]["statement"]["text"] is not None
        nexus.execute(ADA, n=7)
    assert (verify(brain)["fault"], verify(brain)["chained"]) == (None, 7)
    *before, last = records(brain)
    write(brain, [*before[:-1], forged(before[-1], b'"4"', b'"9"'), last])
    assert verify(brain)["commit"] == 6


def test_a_graph_with_two_notes_is_verified_and_has_one_after_its_next_commit(brain: Path) -> None:
    head = verify(brain)["head"]
    assert notes(brain) == [commit_note(6, head)]
    # As earlier versions noted the record.
    earlier = Quad(vocab.BOOKKEEPING, vocab.CHAIN, Literal(f"6 {head}"), vocab.BOOKKEEPING)
    renote(brain, commit_note(6), earlier)
    assert (verify(brain)["last"], verify(brain)["fault"], verify(brain)["warning"]) == (
        *(6, None, None),
    )
    sound = records(brain)
    write(brain, [*sound[:-1], forged(sound[-1], b'"4"', b'"9"')])
    assert (verify(brain)["commit"], verify(brain)["fault"]) == (
        *(6, "Its record was changed after it was written."),
    )
    write(brain, sound)
    with kiprdf.Nexus.open(brain, read_only=True) as reader:
        assert reader.info()["commit"] == 6
    kiprdf.Nexus.open(brain).close()
    assert (notes(brain), verify(brain)["fault"]) == ([commit_note(6), earlier], None)
    with kiprdf.Nexus.open(brain) as nexus:
        nexus.execute(ADA, n=7)
    report = verify(brain)
    assert (report["last"], report["fault"], report["warning"]) == (7, None, None)
    last = commit_note(7, report["head"])
    assert notes(brain) == [last]
    # A kill has come before the notes of the commit before were removed.
    for left in ([commit_note(6), earlier], [earlier], [commit_note(6, head)]):
        renote(brain, last, *left)
        assert (verify(brain)["fault"], verify(brain)["last"]) == (None, 7)
        kiprdf.Nexus.open(brain).close()
        assert (notes(brain), verify(brain)["fault"]) == ([last], None)


def test_commits_that_were_not_recorded_are_one_record_of_the_chain(brain: Path) -> None:
    with kiprdf.Nexus.open(brain, history=False) as nexus:
        nexus.execute(ADA, n=7)
        nexus.execute(ADA, n=8)
    assert verify(brain)["fault"] is None
    with kiprdf.Nexus.open(brain) as nexus:
        assert verify(brain)["fault"] is None
        nexus.execute(ADA, n=9)
    assert (verify(brain)["fault"], verify(brain)["last"]) == (None, 9)


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A nexus whose history has been compacted, has forgotten, and has several files."""
    folder = tmp_path_factory.mktemp("chain") / "long"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journals, "SEALED_BYTES", 6_000)
        with kiprdf.Nexus.open(folder) as nexus:
            for number in range(40):
                nexus.execute(ADA.replace("Ada", f"Ada {number % 25}"), n=number)
                if number == 20:
                    nexus.compact_history(8)
            nexus.forget(["C:Person/Ada 7"])
            for number in range(20):
                nexus.execute(ADA.replace("Ada", f"Eda {number}"), n=number)
    return folder


def edit(file: Path, random: random.Random) -> int | None:
    """Edit a file of a history; the number of the commit whose record this concerns."""
    kind = random.choice(["bit", "bits of a record", "drop", "swap", "repeat"])
    text = file.read_bytes()
    if kind == "bit" or file.suffix == ".jsonl":
        at = random.randrange(len(text))
        file.write_bytes(bytes([*text[:at], text[at] ^ 1 << random.randrange(8), *text[at + 1 :]]))
        return None
    sealed = Sealed(file) if file.suffix == ".kseg" else None
    listed: Any = list(records_in(text) if sealed is None else sealed.in_place())
    at = random.randrange(len(listed) - 1)
    number = number_of(listed[at])
    if kind == "drop":
        del listed[at]
    elif kind == "swap":
        listed[at : at + 2] = listed[at + 1], listed[at]
    elif kind == "repeat":
        listed.insert(at, listed[at])
    else:
        data = bytearray(listed[at])
        # The number of a commit stays: a sealed file is sorted by them.
        data[random.randrange(8, len(data))] ^= 1 << random.randrange(8)
        listed[at] = bytes(data)
    if sealed is None:
        file.write_bytes(b"".join(map(framed, listed)))
    else:
        flags = {"is_first": sealed.is_first, "has_base": sealed.has_base}
        seal(file, listed, sealed.previous, **flags)
    return number


def test_random_edits_are_found(long: Path) -> None:
    assert verify(long)["fault"] is None
    files = sorted(
        path for path in (long / "history").iterdir() if path.suffix in (".kseg", ".klog", ".jsonl")
    )
    assert len(files) > 3
    for seed in range(EDITS):
        rng = random.Random(seed)
        file = rng.choice(files)
        text = file.read_bytes()
        try:
            number = edit(file, rng)
            report = verify(long)
            assert report["fault"] is not None, (seed, file.name)
            if number is not None and "rewritten" not in report["fault"]:
                assert report["commit"] == number, (seed, file.name, report)
        finally:
            file.write_bytes(text)
    assert verify(long)["fault"] is None
