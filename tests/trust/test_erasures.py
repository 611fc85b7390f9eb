"""No copy brings back what was forgotten: backup, snapshot, capsule, import, patch."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.memory import Memory
from tests.long_runs import amount
from tests.nexus.test_forget import FIND, JANE, SECRETS, remaining, write
from tests.trust.test_forgetting import STEPS, killing, require_sound, run_killed

PEOPLE = 'FIND(?p.name) WHERE { ?p {type: "Person"} } ORDER BY ?p.name'
OTHERS = ["$self", "$system", "Bob", "Carl"]
FORGOTTEN = [f"C:Person/{JANE}", "C:Person/Janey Quix", "P:c3665f2a448a4a0a:knows"]
"""Jane, who was merged into her, and the link of both."""
BASES = ["urn:kip:nexus/", "https://other.example/kb/"]


def digest(id: str) -> str:
    return hashlib.sha256(b"kiprdf erasure " + id.encode()).hexdigest()


def listed(nexus: kiprdf.Nexus) -> list[str]:
    header, *lines = nexus.erasures().splitlines()
    assert header == "kiprdf erasures 1"
    return lines


def person(name: str) -> str:
    return f'UPSERT {{ CONCEPT {{ {{type: "Person", name: "{name}"}} }} }}'


def written(base: str | None = None) -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(base, history=True)
    write(nexus)
    return nexus


@pytest.fixture
def forgetful() -> kiprdf.Nexus:
    """A nexus that has forgotten Jane."""
    nexus = written()
    nexus.forget(FIND, name=JANE)
    return nexus


@pytest.fixture
def before() -> kiprdf.Nexus:
    """The nexus before that."""
    return written()


# The list -------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", BASES)
def test_the_list_has_a_digest_of_each_element_that_was_forgotten_and_no_name(base: str) -> None:
    nexus = written(base)
    assert nexus.erasures() == "kiprdf erasures 1\n"
    nexus.forget(FIND, name=JANE)
    assert listed(nexus) == sorted(map(digest, FORGOTTEN))


def test_a_write_by_hand_takes_what_it_creates_off_the_list(forgetful: kiprdf.Nexus) -> None:
    capsule = forgetful.export('EXPORT ?p WHERE { ?p {type: "Person", name: "Bob"} }')
    forgetful.execute(person("Ann"))
    assert len(listed(forgetful)) == 3
    forgetful.execute(person(JANE))
    assert digest(FORGOTTEN[0]) not in listed(forgetful)
    assert listed(forgetful) == sorted(map(digest, FORGOTTEN[1:]))
    forgetful.execute('DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Person", name: "Bob"} }')
    forgetful.apply_capsule(capsule)
    assert forgetful.execute(PEOPLE) == ["$self", "$system", "Ann", "Bob", "Carl", JANE]
    forgetful.forget(FIND, name=JANE)
    assert listed(forgetful) == sorted(map(digest, FORGOTTEN))


@pytest.mark.parametrize(
    "rewrite",
    [
        lambda nexus, name: nexus.transaction(
            lambda tx: tx.write([{"type": "Person", "name": name}])
        ),
        lambda nexus, name: nexus.execute_kip({"commands": [person(name)]}),
    ],
)
def test_every_write_by_hand_takes_off_the_list(
    forgetful: kiprdf.Nexus, rewrite: Callable[[kiprdf.Nexus, str], object]
) -> None:
    rewrite(forgetful, JANE)
    assert digest(FORGOTTEN[0]) not in listed(forgetful)


def test_an_update_cannot_reach_what_is_on_the_list(forgetful: kiprdf.Nexus) -> None:
    update = "UPDATE ?p SET ATTRIBUTES { a: 1 } WHERE { ?p {name: :name} }"
    assert forgetful.execute(update, name="Bob") == {"updated": 1, "matched": 1}
    assert forgetful.execute(update, name=JANE) == {"updated": 0, "matched": 0}
    assert len(listed(forgetful)) == 3


def test_a_dry_run_lists_nothing(before: kiprdf.Nexus) -> None:
    before.forget(FIND, name=JANE, dry_run=True)
    assert listed(before) == []
    with pytest.raises(kiprdf.KipError, match="still has"):
        before.forget(["C:$PropositionType/knows"])
    assert listed(before) == []


def test_definitions_are_not_on_the_list() -> None:
    nexus = kiprdf.Nexus.memory()
    nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Ship"} } }')
    nexus.forget(["C:$ConceptType/Ship"])
    assert listed(nexus) == []


def test_an_id_that_nothing_knows_is_on_the_list_only_where_the_history_is_not_whole() -> None:
    for shorten, listed_ids in ((False, []), (True, ["C:Person/Ann", "C:Person/Zoe"])):
        nexus = kiprdf.Nexus.memory(history=True)
        nexus.execute(person("Ann"))
        nexus.execute('DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Person", name: "Ann"} }')
        if shorten:
            nexus.compact_history(nexus.info()["commit"])
            assert nexus.forget(["C:Person/Ann"])["seq"] == nexus.info()["commit"]
            assert nexus.forget(["C:Person/Ann"])["seq"] is None
        assert (nexus.forget(["C:Person/Zoe"])["seq"] is None) == (not shorten)
        assert listed(nexus) == sorted(map(digest, listed_ids))


def test_the_methods_are_coroutines_too(forgetful: kiprdf.Nexus) -> None:
    nexus = kiprdf.AsyncNexus(kiprdf.Nexus.memory(history=True))

    async def run() -> tuple[Any, ...]:
        await nexus.execute(person(JANE))
        applied = await nexus.apply_erasures(await kiprdf.AsyncNexus(forgetful).erasures())
        forgotten = await nexus.forget(["C:Person/none"], derived=True, dry_run=True)
        return applied["erased"], forgotten["derived"]

    assert asyncio.run(run()) == (1, [])


def test_who_may_only_read_or_propose_cannot_apply_a_list(forgetful: kiprdf.Nexus) -> None:
    text = forgetful.erasures()
    for access in ("read", "propose"):
        with (
            forgetful.acting(author="claude", access=access),
            pytest.raises(kiprdf.KipError, match="KIP_3004"),
        ):
            forgetful.apply_erasures(text)
    # What a person reviewed is not forgotten by a model, as by a list.
    nexus = kiprdf.Nexus.memory(history=True)
    nexus.execute(person(JANE))
    review = 'UPDATE ?p SET METADATA { status: "reviewed" } WHERE { ?p {name: :name} }'
    nexus.execute(review, name=JANE)
    with nexus.acting(author="claude"), pytest.raises(kiprdf.KipError, match="KIP_3004"):
        nexus.apply_erasures(text)
    assert nexus.apply_erasures(text)["erased"] == 1


# The files ------------------------------------------------------------------------------------


def test_the_list_stays_in_the_folder_and_its_backups(tmp_path: Path) -> None:
    folder, copy = tmp_path / "kb", tmp_path / "copy"
    expected = sorted(map(digest, FORGOTTEN))
    with kiprdf.Nexus.open(folder) as nexus:
        write(nexus)
        nexus.forget(FIND, name=JANE)
        nexus.execute(person("Ann"))
        nexus.backup(copy, history=False)
        assert nexus.compact_history(before=nexus.info()["commit"])["commits"] > 0
        nexus.optimize()
        assert listed(nexus) == expected
    with kiprdf.Nexus.open(folder, read_only=True) as nexus:
        assert listed(nexus) == expected
    kiprdf.Nexus.rebuild(folder)
    with kiprdf.Nexus.open(folder) as nexus:
        assert listed(nexus) == expected
        require = nexus.check()
        assert (require["faults"], require["history"]["state"]) == ([], "sound")
        with nexus.at(nexus.info()["commit"]) as past:
            assert listed(past) == expected
    with kiprdf.Nexus.open(copy) as nexus:
        assert listed(nexus) == expected
    assert remaining(tmp_path / "kb", SECRETS) == set()


def apply_list(folder: str, place: str, name: str, times: int) -> None:
    killing(place, name, times)
    kiprdf.Nexus.open(folder, erasures=f"{folder}.txt")


@pytest.mark.parametrize(
    ("place", "name", "times", "is_forgotten"), STEPS[: amount("FORGETTINGS", 2)]
)
def test_applying_a_list_that_was_killed_is_complete_or_absent(
    tmp_path: Path, place: str, name: str, times: int, is_forgotten: bool
) -> None:
    folder = tmp_path / "kb"
    with kiprdf.Nexus.open(folder) as nexus:
        write(nexus)
        nexus.backup(tmp_path / "copy")
        nexus.forget(FIND, name=JANE)
        nexus.erasures(tmp_path / "copy.txt")
    run_killed(apply_list, str(tmp_path / "copy"), place, name, times)
    with kiprdf.Nexus.open(tmp_path / "copy") as nexus:
        assert len(listed(nexus)) == (3 if is_forgotten else 0)
        require_sound(nexus)
    with kiprdf.Nexus.open(tmp_path / "copy", erasures=tmp_path / "copy.txt") as nexus:
        assert nexus.erased == (0 if is_forgotten else 2)
        assert nexus.execute(PEOPLE) == OTHERS
        require_sound(nexus)
    assert remaining(tmp_path / "copy", SECRETS) == set()


# Backups --------------------------------------------------------------------------------------


@pytest.mark.parametrize("history", [True, False])
def test_a_backup_made_before_is_opened_without_what_was_forgotten(
    tmp_path: Path, history: bool
) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        write(nexus)
        nexus.backup(tmp_path / "copy", history=history)
        nexus.forget(FIND, name=JANE)
        text = nexus.erasures(tmp_path / "list.txt")
    assert (tmp_path / "list.txt").read_text() == text
    assert remaining(tmp_path / "copy", SECRETS) >= {JANE, "zebrafinch"}
    with kiprdf.Nexus.open(tmp_path / "copy", erasures=tmp_path / "list.txt") as nexus:
        assert nexus.erased == 2
        assert nexus.execute(PEOPLE) == OTHERS
        assert nexus.erasures() == text
        assert nexus.check()["faults"] == []
        commit = nexus.info()["commit"]
    assert remaining(tmp_path / "copy", SECRETS) == set()
    with kiprdf.Nexus.open(tmp_path / "copy", erasures=text) as nexus:
        assert (nexus.erased, nexus.info()["commit"]) == (0, commit)


def test_a_deleted_note_in_a_backup_is_gone_with_what_it_stated(tmp_path: Path) -> None:
    words = ["Zebrafinch", "Quixotte"]
    with kiprdf.Nexus.open(tmp_path / "brain") as nexus:
        memory = Memory(nexus)
        memory.add("I use Docker.", id="mem_before")
        id = memory.add("I use Docker, and decided to use Zebrafinch for the Quixotte.")
        nexus.backup(tmp_path / "copy")
        memory.forget(id)
        nexus.backup(tmp_path / "later")
        memory.erase(id)
        text = nexus.erasures()
    for copy, erased in (("copy", True), ("later", False)):
        assert remaining(tmp_path / copy, words) == set(words)
        with kiprdf.Nexus.open(tmp_path / copy, erasures=text) as nexus:
            assert (nexus.erased > 0) == erased
            memory = Memory(nexus)
            assert [item.id for item in memory.items()] == ["mem_before"]
            assert memory.entities("decision") == []
            assert [edge.predicate for edge in memory.edges()] == ["uses"]
            require_sound(nexus)
        assert remaining(tmp_path / copy, words) == set()


def test_a_backup_is_not_opened_read_only_with_a_list(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        write(nexus)
    with pytest.raises(kiprdf.KipError, match="KIP_1001 The nexus is open read-only"):
        kiprdf.Nexus.open(tmp_path / "kb", read_only=True, erasures="kiprdf erasures 1\n")


def test_what_only_the_history_of_a_copy_has_is_erased(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        write(nexus)
        nexus.backup(tmp_path / "copy")
        nexus.forget(FIND, name=JANE)
        text = nexus.erasures()
    with kiprdf.Nexus.open(tmp_path / "copy") as nexus:
        nexus.execute('DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Person", name: :n} }', n=JANE)
        plan = {"erased": 0, "commits": 5, "listed": 3}
        assert nexus.apply_erasures(text, dry_run=True) == plan
        report = nexus.apply_erasures(text)
        assert report == {**plan, "seq": nexus.info()["commit"]}
        with pytest.raises(kiprdf.KipError, match="The history does not mention"):
            nexus.history(f"C:Person/{JANE}")
    assert remaining(tmp_path / "copy", SECRETS) == set()


def test_forgetting_reaches_what_rebuilding_kept_and_the_pages_that_are_published_again(
    tmp_path: Path,
) -> None:
    folder, site = tmp_path / "kb", tmp_path / "site"
    with kiprdf.Nexus.open(folder) as nexus:
        write(nexus)
        nexus.publish(site)
    kiprdf.Nexus.rebuild(folder)
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.execute('FIND(?p.name) WHERE { ?p {} FILTER(?p.attributes.mail > "a") }')
        assert remaining(folder / "damaged", SECRETS) != set()
        assert remaining(site, SECRETS) >= {JANE, "zebrafinch"}
        nexus.forget(FIND, name=JANE)
        nexus.publish(site)
    assert not (folder / "damaged").exists()
    assert remaining(folder, SECRETS) == remaining(site, SECRETS) == set()


# Applying -------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", BASES)
def test_a_list_is_applied_once_also_under_another_base(forgetful: kiprdf.Nexus, base: str) -> None:
    nexus = written(base)
    commit = nexus.info()["commit"]
    dry = nexus.apply_erasures(forgetful.erasures(), dry_run=True)
    assert (dry, nexus.info()["commit"]) == ({"erased": 2, "commits": 4, "listed": 3}, commit)
    assert nexus.apply_erasures(forgetful.erasures()) == {**dry, "seq": commit + 1}
    assert nexus.execute(PEOPLE) == OTHERS
    assert nexus.erasures() == forgetful.erasures()
    again = nexus.apply_erasures(io.StringIO(forgetful.erasures()))
    assert again == {"erased": 0, "commits": 0, "listed": 0, "seq": None}
    (shown,) = nexus.changes(since=commit)["commits"]
    assert (shown["kind"], shown["forgotten"]) == ("FORGET", 2)


def test_a_list_adds_up_with_that_of_the_nexus(forgetful: kiprdf.Nexus) -> None:
    other = written()
    other.forget(FIND, name="Bob")
    bobs = listed(other)
    report = other.apply_erasures(forgetful.erasures())
    # Their link is in both.
    assert (report["erased"], report["listed"]) == (1, 2)
    assert listed(other) == sorted({*bobs, *listed(forgetful)})


def test_a_list_for_a_protected_element_leaves_it() -> None:
    text = "\n".join(
        ["kiprdf erasures 1", digest("C:Person/$self"), digest("C:$ConceptType/Person")]
    )
    nexus = kiprdf.Nexus.memory()
    assert nexus.apply_erasures(text)["erased"] == 0
    assert nexus.execute(PEOPLE) == ["$self", "$system"]
    assert listed(nexus) == [digest("C:$ConceptType/Person")]


BROKEN = {
    "": "Line 1 of the erasure list is not 'kiprdf erasures 1'",
    "\n": "Line 1 of the erasure list is not",
    f"{digest('C:a/b')}\n": "Line 1 of the erasure list is not",
    "kiprdf erasures 2\n": "Line 1 of the erasure list is not",
    f"kiprdf erasures 1\n{digest('C:a/b')}\nC:Person/Jane\n": "Line 3 of the erasure list",
    f"kiprdf erasures 1\n\n{digest('C:a/b')[1:]}\n": "Line 3 of the erasure list is not a digest",
    f"kiprdf erasures 1\n{digest('C:a/b').upper()}\n": "Line 2 of the erasure list",
    f"kiprdf erasures 1\n{digest('C:a/b')} {digest('C:a/c')}\n": "Line 2 of the erasure list",
    "kiprdf erasures 1\n\x00\n": "Line 2 of the erasure list",
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_list_is_refused_with_its_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "list.txt").write_text(text)
    nexus = kiprdf.Nexus.memory()
    commit = nexus.info()["commit"]
    for call in (
        lambda: nexus.apply_erasures(tmp_path / "list.txt"),
        lambda: kiprdf.Nexus.open(tmp_path / "new", erasures=tmp_path / "list.txt"),
    ):
        with pytest.raises(kiprdf.KipError, match=f"KIP_1001 {BROKEN[text]}"):
            call()
    assert (nexus.info()["commit"], (tmp_path / "new").exists()) == (commit, False)


def test_a_list_that_a_windows_editor_saved_is_read(tmp_path: Path) -> None:
    lines = ["kiprdf erasures 1", digest("C:a/b"), "", digest("C:a/b")]
    (tmp_path / "list.txt").write_bytes("\r\n".join(lines).encode("utf-8-sig"))
    nexus = kiprdf.Nexus.memory()
    assert nexus.apply_erasures(tmp_path / "list.txt")["listed"] == 1
    (tmp_path / "list.txt").write_bytes("kiprdf erasures 1\n".encode("utf-16"))
    with pytest.raises(kiprdf.KipError, match=r"KIP_1001 list\.txt is not UTF-8 text"):
        nexus.apply_erasures(tmp_path / "list.txt")
    with pytest.raises(FileNotFoundError):
        nexus.apply_erasures(tmp_path / "nothing.txt")


def test_a_nexus_in_another_store_has_no_list() -> None:
    import rdflib

    nexus = kiprdf.Nexus.connect(rdflib.Graph())
    assert nexus.erasures() == "kiprdf erasures 1\n"
    with pytest.raises(kiprdf.KipError, match="KIP_1001 A nexus in a SPARQL store cannot forget"):
        nexus.apply_erasures("kiprdf erasures 1\n")


# Snapshots ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "is_folder"), [("turtle", True), ("nquads", False), ("jsonld", False)]
)
def test_a_snapshot_made_before_is_restored_without_what_was_forgotten(
    tmp_path: Path,
    before: kiprdf.Nexus,
    forgetful: kiprdf.Nexus,
    format: Any,
    is_folder: bool,
) -> None:
    text = before.snapshot(format=format)
    erasures = forgetful.erasures()
    if is_folder:
        nexus = kiprdf.Nexus.open(tmp_path / "kb", erasures=erasures)
    else:
        nexus = kiprdf.Nexus.memory()
        nexus.apply_erasures(erasures)
    total = before.info()["concepts"] + before.info()["propositions"]
    count = nexus.restore(io.StringIO(text), format=format)
    assert (count, count.erased) == (total - 2, 2)
    assert nexus.execute(PEOPLE) == OTHERS
    assert nexus.erasures() == erasures
    assert nexus.check()["faults"] == []
    assert nexus.snapshot(engine_metadata=False) == forgetful.snapshot(engine_metadata=False)
    nexus.close()
    if is_folder:
        assert remaining(tmp_path / "kb", SECRETS) == set()


def test_without_a_list_a_snapshot_is_restored_whole(before: kiprdf.Nexus) -> None:
    nexus = kiprdf.Nexus.memory()
    count = nexus.restore(before.snapshot())
    assert count.erased == 0
    assert nexus.snapshot() == before.snapshot()


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_history_made_before_is_restored_without_what_was_forgotten(
    tmp_path: Path, before: kiprdf.Nexus, forgetful: kiprdf.Nexus, is_folder: bool
) -> None:
    before.snapshot(tmp_path / "m.ttl", history=tmp_path / "m.rdfp")
    if is_folder:
        nexus = kiprdf.Nexus.open(tmp_path / "kb", genesis=False)
    else:
        nexus = kiprdf.Nexus.memory(genesis=False, history=True)
    nexus.apply_erasures(forgetful.erasures())
    count = nexus.restore(tmp_path / "m.ttl", history=tmp_path / "m.rdfp")
    assert count.erased == 2
    assert nexus.erasures() == forgetful.erasures()
    assert nexus.execute(PEOPLE) == OTHERS
    require_sound(nexus)
    bob = nexus.history("C:Person/Bob")["entries"]
    assert [entry["seq"] for entry in bob] == [
        entry["seq"] for entry in forgetful.history("C:Person/Bob")["entries"]
    ]
    with pytest.raises(kiprdf.KipError, match="The history does not mention"):
        nexus.history(f"C:Person/{JANE}")
    with nexus.at(before.info()["commit"]) as past:
        assert past.execute(PEOPLE) == OTHERS
    nexus.close()
    if is_folder:
        assert remaining(tmp_path / "kb", SECRETS) == set()


def test_a_log_brings_the_list_of_its_nexus(tmp_path: Path, forgetful: kiprdf.Nexus) -> None:
    forgetful.snapshot(tmp_path / "m.ttl", history=tmp_path / "m.rdfp")
    nexus = kiprdf.Nexus.memory(genesis=False, history=True)
    nexus.restore(tmp_path / "m.ttl", history=tmp_path / "m.rdfp")
    assert nexus.erasures() == forgetful.erasures()


# Capsules -------------------------------------------------------------------------------------


def test_a_capsule_made_before_is_applied_without_what_was_forgotten(
    before: kiprdf.Nexus, forgetful: kiprdf.Nexus
) -> None:
    capsule = before.export()
    receipt = forgetful.apply_capsule(capsule)
    assert receipt["erased"] == 2
    assert f"C:Person/{JANE}" not in receipt["upsert_concept_nodes"]
    assert "C:Person/Bob" in receipt["upsert_concept_nodes"]
    assert forgetful.execute(PEOPLE) == OTHERS
    assert len(listed(forgetful)) == 3
    assert "erased" not in kiprdf.Nexus.memory().apply_capsule(capsule)


def test_a_capsule_that_refers_to_what_was_forgotten_is_applied_without_these_facts() -> None:
    """Ends that the capsule has no block for, facts about them, and facts about these facts."""
    nexus = kiprdf.Nexus.memory(history=True)
    nexus.execute('UPSERT { CONCEPT { {type: "$PropositionType", name: "knows"} } }')
    nexus.execute(f"UPSERT {{ {person('Jane')[9:-2]} {person('Bob')[9:-2]} }}")
    capsule = """UPSERT {
      CONCEPT ?ann { {type: "Person", name: "Ann"}
        SET PROPOSITIONS { ("knows", {type: "Person", name: "Jane"})
                           ("knows", {type: "Person", name: "Bob"}) } }
      PROPOSITION ?fact { ({type: "Person", name: "Bob"}, "knows", {type: "Person", name: "Jane"}) }
      PROPOSITION { (?ann, "knows", ?fact) }
      PROPOSITION { ({type: "Person", name: "Bob"}, "knows",
                     (?ann, "knows", {type: "Person", name: "Jane"})) }
    }"""
    nexus.forget(["C:Person/Jane"])
    with pytest.raises(kiprdf.KipError, match="KIP_3002"):
        nexus.execute(capsule)
    assert nexus.apply_capsule(capsule)["erased"] == 5
    links = 'FIND(?s.name, ?o.name) WHERE { (?s, "knows", ?o) }'
    assert nexus.find(links).tuples() == (("Ann", "Bob"),)
    missing = capsule.replace('"Jane"', '"Janet"')
    with pytest.raises(kiprdf.KipError, match="KIP_3002"):
        nexus.apply_capsule(missing)


FACT = 'FIND(?l.id) WHERE { ?l ({type: "Person", name: :s}, "knows", {type: "Person", name: :o}) }'


def test_a_forgotten_fact_is_on_the_list_under_the_ends_that_a_merge_gave_it() -> None:
    """It has the id of its first ends; a capsule gives it that of its last ones."""
    nexus = kiprdf.Nexus.memory(history=True)
    nexus.execute('UPSERT { CONCEPT { {type: "$PropositionType", name: "knows"} } }')
    nexus.execute(
        """UPSERT {
          CONCEPT ?bob { {type: "Person", name: "Bob"} } CONCEPT { {type: "Person", name: "Ada"} }
          CONCEPT { {type: "Person", name: "A."} SET PROPOSITIONS { ("knows", ?bob) } } }"""
    )
    first = nexus.export()
    nexus.execute(
        """MERGE CONCEPT ?a INTO ?b
           WHERE { ?a {type: "Person", name: "A."} ?b {type: "Person", name: "Ada"} }"""
    )
    second = nexus.export()
    nexus.forget(nexus.execute(FACT, s="Ada", o="Bob"))
    for capsule in (second, first):
        assert nexus.apply_capsule(capsule)["erased"] == 1
        assert nexus.find('FIND(?l) WHERE { ?l (?s, "knows", ?o) }').tuples() == ()
    nexus.execute(second)
    assert nexus.execute(FACT, s="Ada", o="Bob") != []


def test_a_list_that_is_applied_while_a_capsule_is_drafted_is_obeyed(
    before: kiprdf.Nexus, forgetful: kiprdf.Nexus, monkeypatch: pytest.MonkeyPatch
) -> None:
    nexus = kiprdf.Nexus.memory(history=True)
    writer, text = nexus._engine.writer, forgetful.erasures()
    draft = writer.draft

    def interrupted(*arguments: Any, **options: Any) -> Any:
        result = draft(*arguments, **options)
        nexus.apply_erasures(text)
        return result

    monkeypatch.setattr(writer, "draft", interrupted)
    assert nexus.apply_capsule(before.export())["erased"] == 2
    assert nexus.execute(PEOPLE) == OTHERS
    assert nexus.erasures() == text


# Imports and patches --------------------------------------------------------------------------


FOAF = """@prefix foaf: <http://xmlns.com/foaf/0.1/> .
<urn:jane> a foaf:Person ; foaf:name "Jane" ; foaf:knows <urn:bob> .
<urn:bob> a foaf:Person ; foaf:name "Bob" ; foaf:knows <urn:jane> .
"""


def test_an_import_leaves_out_what_was_forgotten() -> None:
    nexus = kiprdf.Nexus.memory(history=True)
    first = nexus.import_rdf(FOAF, mapping="foaf")
    assert "erased" not in first
    nexus.forget(["C:Person/Jane"])
    snapshot = nexus.snapshot()
    for dry_run in (True, False, False):
        report = nexus.import_rdf(FOAF, mapping="foaf", dry_run=dry_run)
        assert report["erased"] == 3
        assert report["concepts"] == {"created": 0, "updated": 0, "unchanged": 1}
        assert report["propositions"] == {"created": 0, "updated": 0, "unchanged": 0}
    assert nexus.snapshot() == snapshot


def test_a_patch_is_applied_without_what_was_forgotten_and_so_is_the_next() -> None:
    hub, nexus = kiprdf.Nexus.memory(), kiprdf.Nexus.memory(history=True)
    write(hub)
    empty = kiprdf.Nexus.memory()
    empty.restore(nexus.snapshot())
    first = empty.patch_to(hub).text
    middle = kiprdf.Nexus.memory(genesis=False)
    middle.restore(hub.snapshot())
    update = 'UPDATE ?p SET ATTRIBUTES { note: "x" } WHERE { ?p {type: "Person", name: :name} }'
    for name in ("Bob", JANE):
        hub.execute(update, name=name)
    second = middle.patch_to(hub).text
    forgetful = written()
    forgetful.forget(FIND, name=JANE)
    nexus.apply_erasures(forgetful.erasures())
    report = nexus.apply_patch(first)
    assert report["erased"] == 2
    assert nexus.execute(PEOPLE) == OTHERS
    assert "erased" not in nexus.apply_patch(second)
    assert nexus.check()["faults"] == []
    bob = 'FIND(?p.attributes.note) WHERE { ?p {type: "Person", name: "Bob"} }'
    assert nexus.execute(bob) == ["x"]
    assert len(listed(nexus)) == 3


@pytest.mark.parametrize("merge", [False, True])
def test_a_snapshot_of_a_memory_is_imported_without_what_was_erased(merge: bool) -> None:
    memory = Memory(kiprdf.Nexus.memory(history=True))
    memory.add("I use Docker.")
    id = memory.add("I use Docker, and decided to use Zebrafinch.")
    snapshot = memory.export()
    memory.erase(id)
    counts = memory.import_(snapshot, merge=merge)
    assert (counts["erased"], counts["created"]) == (2, 0)
    assert memory.entities("decision") == []
    assert [edge.predicate for edge in memory.edges()] == ["uses"]
    memory.add("I decided to use Zebrafinch.")
    assert len(memory.entities("decision")) == 1
    assert "erased" not in memory.import_(snapshot, merge=merge)


@pytest.mark.parametrize("merge", [False, True])
def test_evidence_of_a_snapshot_does_not_name_an_erased_memory(merge: bool) -> None:
    memory = Memory(kiprdf.Nexus.memory(history=True))
    memory.add("I use Docker.", id="mem_kept")
    memory.add("I use Docker.", id="mem_erased")
    snapshot = memory.export()
    assert "mem_erased" in json.dumps(snapshot)
    memory.erase("mem_erased")
    counts = memory.import_(snapshot, merge=merge)
    text = json.dumps([memory.export(), memory.nexus.snapshot()])
    assert ("mem_kept" in text, "mem_erased" in text) == (True, False)
    assert "erased" not in counts


def test_a_fact_that_was_kept_without_its_note_stays_by_an_import() -> None:
    memory = Memory(kiprdf.Nexus.memory(history=True))
    id = memory.add("I use Vim.")
    snapshot = memory.export()
    memory.nexus.forget([f"C:MemoryItem/{id}"])
    memory.import_(snapshot)
    (edge,) = memory.edges()
    assert (edge.predicate, edge.weight, edge.evidence["memory_ids"]) == ("uses", 0.8, [])
    assert id not in memory.nexus.snapshot()


def test_undo_does_not_bring_back_what_was_forgotten(before: kiprdf.Nexus) -> None:
    session = "s-1"
    with before.acting(author="ada", session=session):
        before.execute('DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Person", name: :n} }', n=JANE)
        before.execute('DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Person", name: "Carl"} }')
    before.forget([f"C:Person/{JANE}"])
    before.undo(session=session)
    assert before.execute(PEOPLE) == OTHERS
    assert digest(f"C:Person/{JANE}") in listed(before)


# Size -----------------------------------------------------------------------------------------


def test_a_list_of_100_000_digests_is_applied_and_obeyed(tmp_path: Path) -> None:
    names = [f"C:Person/p{number}" for number in range(100_000)]
    text = "\n".join(["kiprdf erasures 1", *sorted(map(digest, names))]) + "\n"
    with kiprdf.Nexus.open(tmp_path / "kb", erasures=text) as nexus:
        assert nexus.apply_capsule(f"{person('p99999')} {person('Ann')}")["erased"] == 1
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        assert nexus.erasures() == text
        nexus.execute(person("p5"))
        assert len(listed(nexus)) == 99_999
        assert nexus.execute(PEOPLE) == ["$self", "$system", "Ann", "p5"]


# Views ----------------------------------------------------------------------------------------


def reads_of(view: kiprdf.Nexus) -> str:
    """What a view answers of everybody, by each way of asking."""
    texts = [
        view.execute("FIND(?x) WHERE { ?x {} }"),
        view.execute('SEARCH CONCEPT "Jane Quokkaberry"'),
        view.execute("DESCRIBE PRIMER"),
        view.execute("FIND(?l) WHERE { ?l (?a, ?p, ?b) }"),
    ]
    return "\n".join([*map(str, texts), view.snapshot(), view.export()])


@pytest.mark.parametrize("is_written", [False, True])
def test_a_view_loses_at_once_what_a_member_has_forgotten(tmp_path: Path, is_written: bool) -> None:
    """And keeps what another member has itself: a list holds for the nexus that keeps it."""
    knows = 'UPSERT { CONCEPT { {type: "$PropositionType", name: "knows"} } }'
    write = """UPSERT {
      CONCEPT ?jane { {type: "Person", name: "Jane"} SET ATTRIBUTES { note: :note } }
      CONCEPT { {type: "Person", name: :who} SET PROPOSITIONS { ("knows", ?jane) } }
    }"""
    with kiprdf.Nexus.open(tmp_path / "team") as team, kiprdf.Nexus.memory() as ada:
        for nexus, who, note in ((team, "Tom", "Quokkaberry"), (ada, "Amy", "Wombatberry")):
            nexus.execute(knows)
            nexus.execute(write, who=who, note=note)
        apart = kiprdf.Nexus.memory(genesis=False)
        writes = {"write": ada} if is_written else {}
        with (
            kiprdf.View([ada, team], **writes) as view,  # type: ignore[arg-type]
            kiprdf.View([view, apart]) as nested,
            kiprdf.View([team]) as alone,
        ):
            views = {"both": view, "nested": nested, "alone": alone}
            for one in views.values():
                assert "Quokkaberry" in reads_of(one)
                assert "Tom" in reads_of(one)
            team.forget(["C:Person/Jane", "C:Person/Tom"])
            for name, one in views.items():
                text = reads_of(one)
                assert "Quokkaberry" not in text.replace("Jane Quokkaberry", "")
                assert "Tom" not in text
                assert ("Wombatberry" in text) == (name != "alone")
                assert ("'C:Person/Jane'" in text) == (name != "alone")
            # The view is its members: no list of one of them is applied to another.
            assert digest("C:Person/Jane") in team.erasures()
            assert digest("C:Person/Jane") not in ada.erasures()
            ada.execute(write, who="Amy", note="again")
            assert "again" in reads_of(view)
            ada.forget(["C:Person/Jane"])
            assert not [one for one in views.values() if "C:Person/Jane" in reads_of(one)]
            for call in (view.forget, view.apply_erasures):
                argument: Any = ["C:Person/Amy"] if call == view.forget else team.erasures()
                with pytest.raises(kiprdf.KipError) as raised:
                    call(argument)
                assert raised.value.code == "KIP_1001"
            assert "Amy" in reads_of(nested)
