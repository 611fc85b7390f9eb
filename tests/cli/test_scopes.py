"""The commands for scopes, and those of others that name scopes."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kiprdf import Brains, KipError, Nexus
from tests.programs import Piped

from .conftest import DRUGS, Invoke, Run

NOTED = {"key": "metadata.source", "after": "scope:ada"}
ABOUT = """\
UPSERT {
  CONCEPT { {type: "$PropositionType", name: "stated"} }
  CONCEPT { {type: "$ConceptType", name: "Symptom"}
    SET ATTRIBUTES { description: "What hurts", key_instances: ["Ada's headache"] } }
  CONCEPT ?ada { {type: "Person", name: "Ada"} SET ATTRIBUTES { diary: "private" } }
  PROPOSITION ?fact {
    ({type: "Drug", name: "Aspirin"}, "treats", {type: "Symptom", name: "Headache"})
    SET ATTRIBUTES { dose: 100 }
  }
  PROPOSITION { (?ada, "stated", ?fact) SET ATTRIBUTES { when: "Monday" } }
} WITH METADATA { source: "diary" }"""


@pytest.fixture(scope="module")
def two_scopes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of the scopes team and ada, who has knowledge; to be copied."""
    directory = tmp_path_factory.mktemp("scopes")
    with Brains(directory) as brains:
        brains.add("team")
        ada = brains.add("ada")
        ada.apply_capsule(DRUGS)
        ada.apply_capsule(ABOUT)
    return directory


@pytest.fixture
def scopes(invoke: Invoke, two_scopes: Path, tmp_path: Path) -> Invoke:
    """Run ``kiprdf scopes … --dir brains`` where a copy of the two scopes is."""
    shutil.copytree(two_scopes, tmp_path / "brains")

    def run(*arguments: str, **options: Any) -> Any:
        return invoke("scopes", *arguments, "--dir", "brains", **options)

    return run


def copied(scopes: Invoke, *arguments: str) -> dict[str, tuple[str, list[dict[str, Any]]]]:
    """The report of a copy, by element."""
    done = scopes("copy", *arguments, "--json")
    assert done.exit_code == 0, done.output
    return {one["element"]: (one["change"], one["keys"]) for one in json.loads(done.stdout)}


def find(folder: Path, command: str) -> Any:
    with Nexus.open(folder, read_only=True) as nexus:
        return nexus.execute(command)


def test_scopes_are_added_listed_and_removed(invoke: Invoke, tmp_path: Path) -> None:
    for name in ("team", "ada"):
        added = invoke("scopes", "add", name, "--dir", "brains")
        assert (added.exit_code, added.stdout) == (0, "")
        assert added.stderr == f"Added the scope {name} to brains.\n"
    listed = json.loads(invoke("scopes", "list", "--dir", "brains", "--json").stdout)
    assert [one["name"] for one in listed] == ["ada", "team"]
    files = [path for path in (tmp_path / "brains" / "ada").rglob("*") if path.is_file()]
    assert listed[0]["bytes"] == sum(path.stat().st_size for path in files)
    lines = invoke("scopes", "list", "--dir", "brains").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["ada", "team"]
    removed = invoke("scopes", "remove", "ada", "--dir", "brains")
    assert removed.exit_code == 0
    assert removed.stderr.startswith("Erased the scope ada of brains: ")
    assert [path.name for path in (tmp_path / "brains").iterdir()] == ["team"]
    invoke("scopes", "remove", "team", "--dir", "brains", "--yes")
    nothing = invoke("scopes", "list", "--dir", "brains")
    assert (nothing.stdout, nothing.stderr) == ("", "There are no scopes in brains.\n")


def test_the_directory_may_be_named_by_a_variable(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert invoke("scopes", "add", "ada").exit_code == 0
    assert (tmp_path / "scopes" / "ada").is_dir()
    monkeypatch.setenv("KIPRDF_SCOPES", str(tmp_path / "others"))
    assert invoke("scopes", "add", "bo").exit_code == 0
    assert [path.name for path in (tmp_path / "others").iterdir()] == ["bo"]


REFUSED = {
    "a path": (("add", "../ada"), "KIP_1001 '../ada' is no name: a name has letters, digits,"),
    "a dot": (("add", "ada."), "does not end with a dot or a blank."),
    "a device": (("add", "con"), "it is the name of a device."),
    "256 bytes": (("add", "ü" * 128), "a name has at most 255 bytes."),
    "nothing": (("add", ""), "is no name: a name is a text."),
    "a twin": (("add", "Ada"), "KIP_3003 The name 'ada' is taken."),
    "one that is there": (("add", "ada"), "KIP_3003 The name 'ada' is taken."),
    "no scope": (("remove", "bo"), "There is no scope 'bo' in brains: it has ada, team.\n"),
    "a near one": (("remove", "teams"), "in brains: did you mean 'team'?\n"),
    "a parent": (("remove", ".."), "There is no scope '..' in brains: it has ada, team.\n"),
    "a case twin": (("remove", "ADA"), "There is no scope 'ADA' in brains: it has ada, team.\n"),
    "no source": (("copy", "Aspirin", "bo", "team"), "There is no scope 'bo' in brains"),
    "no target": (("copy", "Aspirin", "ada", "../team"), "There is no scope '../team' in brains"),
    "no element": (("copy", "Asprin", "ada", "team"), 'Hint: Did you mean "Aspirin"?'),
    "no typed element": (("copy", "Drug:Asprin", "ada", "team"), "Hint: Did you mean 'Aspirin'?"),
    "no id": (("copy", "C:Drug/Asprin", "ada", "team"), "Hint: Did you mean 'C:Drug/Aspirin'?"),
    "no fact": (("copy", "(Ada, treats, Headache)", "ada", "team"), "There is no proposition"),
    "what only the target has": (
        ("copy", "Person:Ada", "team", "ada"),
        "There is no concept {type",
    ),
}


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_changes_nothing(
    scopes: Invoke, tmp_path: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    before = sorted(path.name for path in tmp_path.rglob("*") if path.is_dir())
    done = scopes(*arguments)
    assert (done.exit_code, done.stdout) == (1, "")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_dir()) == before


def test_a_scope_is_not_copied_to_itself(scopes: Invoke) -> None:
    done = scopes("copy", "Aspirin", "ada", "ada")
    assert (done.exit_code, "are the same scope, ada." in done.stderr) == (2, True)


@pytest.mark.parametrize("command", [("list",), ("remove", "ada"), ("copy", "A", "ada", "team")])
def test_a_directory_that_is_none(invoke: Invoke, tmp_path: Path, command: tuple[str, ...]) -> None:
    done = invoke("scopes", *command, "--dir", "brains")
    sentence = "There are no scopes in brains: kiprdf scopes add NAME --dir brains creates the"
    assert (done.exit_code, done.stderr) == (1, f"kiprdf: {sentence} first one.\n")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    done = invoke("scopes", *command, "--dir", "file")
    assert (done.exit_code, "cannot be used: it is a file." in done.stderr) == (1, True)
    Nexus.open(tmp_path / "nexus").close()
    for arguments in (command, ("add", "bo")):
        done = invoke("scopes", *arguments, "--dir", "nexus")
        sentence = "nexus is a nexus; give the folder that it is in."
        assert (done.exit_code, sentence in done.stderr) == (1, True)


def test_on_a_terminal_it_is_asked_before_a_scope_is_erased(
    scopes: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kiprdf.cli.scopes._is_asked", lambda: True)
    kept = scopes("remove", "ada", input="n\n")
    assert kept.exit_code == 1
    assert "Erase the scope ada of brains, " in kept.output
    assert (tmp_path / "brains" / "ada").is_dir()
    assert scopes("remove", "ada", input="y\n").exit_code == 0
    assert not (tmp_path / "brains" / "ada").exists()
    assert scopes("remove", "team", "--yes").exit_code == 0


def test_a_copy_brings_what_the_target_lacks(scopes: Invoke, tmp_path: Path) -> None:
    team = tmp_path / "brains" / "team"
    planned = copied(scopes, "Aspirin", "ada", "team", "--dry-run")
    assert planned == {
        "$ConceptType:Drug": ("created", [NOTED]),
        "Drug:Aspirin": ("created", [{"key": "attributes.risk_level", "after": 2}, NOTED]),
    }
    assert "Drug" not in find(team, "DESCRIBE CONCEPT TYPES")
    assert copied(scopes, "Aspirin", "ada", "team") == planned
    # No fact about it, and no other drug.
    (aspirin,) = find(team, 'FIND(?d) WHERE { ?d {type: "Drug"} }')
    assert aspirin["attributes"] == {"risk_level": 2}
    assert aspirin["metadata"]["source"] == "scope:ada"
    again = scopes("copy", "Drug:Aspirin", "ada", "team")
    assert (again.stdout, again.stderr) == ("", "team has all of it already.\n")


def test_a_copied_fact_has_the_names_of_its_ends(scopes: Invoke, tmp_path: Path) -> None:
    fact = "(Ada, stated, (Aspirin, treats, Headache))"
    done = scopes("copy", fact, "ada", "team", "--as", "Ada")
    assert done.exit_code == 0, done.output
    assert "What hurts" in done.stdout
    assert "Ada's headache" not in done.stdout
    assert done.stdout.splitlines()[-4:] == [
        "created (Person:Ada, stated, (Drug:Aspirin, treats, Symptom:Headache))",
        '    + attributes.when: "Monday"',
        '    + metadata.original_source: "diary"',
        '    + metadata.source: "scope:ada"',
    ]
    with Nexus.open(tmp_path / "brains" / "team", read_only=True) as team:
        fact = 'FIND(?l) WHERE { ?l ({type: "Drug"}, "treats", {type: "Symptom"}) }'
        (treats,) = team.execute(fact)
        assert "attributes" not in treats
        (ada,) = team.execute('FIND(?p) WHERE { ?p {type: "Person", name: "Ada"} }')
        assert "attributes" not in ada
        assert ada["metadata"]["_actor"] == "human/Ada"
    # All of it can be taken back, by its source.
    with Nexus.open(tmp_path / "brains" / "team") as team:
        team.undo(source="scope:ada")
        assert team.execute('FIND(?l) WHERE { ?l (?s, "belongs_to_domain", ?o) }') != []
        with pytest.raises(KipError, match="KIP_2001"):
            team.execute(fact)


def test_a_copy_changes_what_is_there_and_says_so(scopes: Invoke, tmp_path: Path) -> None:
    team = tmp_path / "brains" / "team"
    with Nexus.open(team) as nexus:
        nexus.apply_capsule(DRUGS)
        nexus.execute(
            'UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"}'
            " SET ATTRIBUTES { risk_level: 5, colour: 1 } } }"
        )
    assert copied(scopes, "Aspirin", "ada", "team") == {
        "Drug:Aspirin": (
            "changed",
            [{"key": "attributes.risk_level", "before": 5, "after": 2}, NOTED],
        )
    }
    (attributes,) = find(team, 'FIND(?d.attributes) WHERE { ?d {name: "Aspirin"} }')
    assert attributes == {"risk_level": 2, "colour": 1}
    # The definition of the target stays as it is.
    (metadata,) = find(team, 'FIND(?t.metadata) WHERE { ?t {type: "$ConceptType", name: "Drug"} }')
    assert "source" not in metadata


def test_what_the_target_rejected_or_erased_is_not_copied(scopes: Invoke, tmp_path: Path) -> None:
    team = tmp_path / "brains" / "team"
    with Nexus.open(team) as nexus:
        nexus.apply_capsule(DRUGS)
        nexus.reject(("C:Drug/Aspirin", "treats", "C:Symptom/Headache"), reason="No.")
        nexus.forget('FIND(?d) WHERE { ?d {type: "Drug", name: "阿司匹林"} }')
        commit = nexus.info()["commit"]
    for option in ((), ("--dry-run",)):
        done = scopes("copy", "(Aspirin, treats, Headache)", "ada", "team", *option)
        assert (done.exit_code, "KIP_3004" in done.stderr, "No." in done.stderr) == (1, True, True)
        done = scopes("copy", "阿司匹林", "ada", "team", *option)
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr.startswith("KIP_3004 Drug:阿司匹林 is on the erasure list")
    with Nexus.open(team, read_only=True) as nexus:
        assert nexus.info()["commit"] == commit
    assert scopes("copy", "Drug:Aspirin", "ada", "team").exit_code == 0


def test_a_retraction_is_copied_and_who_made_it_is_not(scopes: Invoke, tmp_path: Path) -> None:
    with Nexus.open(tmp_path / "brains" / "ada") as ada, ada.acting(author="Ada", kind="human"):
        ada.execute('UPDATE ?d SET METADATA { status: "retracted" } WHERE { ?d {type: "Drug"} }')
    assert copied(scopes, "Aspirin", "ada", "team", "--as", "Bo")["Drug:Aspirin"] == (
        "created",
        [
            {"key": "attributes.risk_level", "after": 2},
            NOTED,
            {"key": "metadata.status", "after": "retracted"},
        ],
    )
    ask = 'FIND(?d.metadata.retracted_by) WHERE { ?d {type: "Drug"} }'
    assert find(tmp_path / "brains" / "team", ask) == ["human/Bo"]
    assert copied(scopes, "Aspirin", "ada", "team") == {}


def test_a_fact_is_named_by_its_ends_id_or_iri(scopes: Invoke, tmp_path: Path) -> None:
    with Nexus.open(tmp_path / "brains" / "ada") as ada:
        id = ada.id_of("(Aspirin, treats, Headache)")
        digits = id.split(":")[1]
        ada.execute(
            'MERGE CONCEPT ?from INTO ?to WHERE { ?from {type: "Drug", name: "Aspirin"}'
            ' ?to {type: "Drug", name: "阿司匹林"} }'
        )
    fact = "(Drug:阿司匹林, treats, Symptom:Headache)"
    iri = f"urn:kip:nexus/$proposition/{digits}/treats"
    for named in ("(阿司匹林, treats, Headache)", id, iri):
        report = copied(scopes, named, "ada", "team", "--dry-run")
        assert list(report)[-1] == fact
    done = scopes("copy", "Drug:Aspirin", "ada", "team")
    assert "'Aspirin' was already merged into" in done.stderr


def test_a_tower_of_facts_is_copied_once_each(scopes: Invoke, tmp_path: Path) -> None:
    """Each floor has the two below it."""
    with Nexus.open(tmp_path / "brains" / "ada") as ada:
        (first,) = ada.execute('FIND(?l.id) WHERE { ?l (?d, "treats", ?s) }')
        (second,) = ada.execute('FIND(?l.id) WHERE { ?l (?p, "stated", ?fact) }')
        for _ in range(40):
            block = 'UPSERT { PROPOSITION { ((id: :first), "stated", (id: :second)) } }'
            receipt = ada.execute(block, first=first, second=second)
            first, second = second, receipt["upsert_proposition_links"][-1]
    assert scopes("copy", second, "ada", "team").exit_code == 0
    count = 'FIND(COUNT(?l)) WHERE { ?l (?s, "stated", ?o) }'
    assert find(tmp_path / "brains" / "team", count) == 41


def test_a_scope_that_another_process_writes(
    scopes: Invoke, invoke: Invoke, tmp_path: Path
) -> None:
    script = (
        "import sys, kiprdf; nexus = kiprdf.Nexus.open(sys.argv[1])\n"
        "print('open', flush=True); input()"
    )
    with Piped(["-c", script, str(tmp_path / "brains" / "team")]) as other:
        assert other.readline() == "open\n"
        for arguments, way in (
            (("remove", "team"), "a server erases its scopes itself: DELETE /scopes/team."),
            (("copy", "Aspirin", "ada", "team"), "if that is kiprdf serve, stop it"),
        ):
            done = scopes(*arguments)
            assert (done.exit_code, done.stdout) == (1, "")
            assert f"team open: close it there first; {way}" in done.stderr
            assert ("DELETE" in done.stderr) == (arguments[0] == "remove")
        named = ("--scopes", "brains", "--read", "team,ada", "--write", "team")
        done = invoke("mcp", *named)
        assert (done.exit_code, done.stdout) == (1, "")
        assert "team open: close it there, or serve the state of now with" in done.stderr
        # It may be read, listed, and others added.
        assert scopes("list").stdout.startswith("ada")
        assert scopes("add", "bo").exit_code == 0
        done = scopes("copy", "Person:Ada", "team", "bo")
        assert "KIP_3002" in done.stderr
        other.send()
    assert scopes("copy", "Aspirin", "ada", "team").exit_code == 0


def test_a_damaged_scope_is_listed_and_can_be_removed(scopes: Invoke, tmp_path: Path) -> None:
    manifest = tmp_path / "brains" / "team" / "nexus.json"
    manifest.write_text("{", "utf-8")
    assert len(json.loads(scopes("list", "--json").stdout)) == 2
    done = scopes("copy", "Aspirin", "ada", "team")
    assert (done.exit_code, str(manifest) in done.stderr) == (1, True)
    assert "Traceback" not in done.stderr
    assert scopes("remove", "team").exit_code == 0
    assert [one["name"] for one in json.loads(scopes("list", "--json").stdout)] == ["ada"]


def test_of_two_processes_that_add_the_same_name_one_does(run: Run, tmp_path: Path) -> None:
    names = ("ada", "Ada", "ada", "ADA")
    with ThreadPoolExecutor(len(names)) as threads:
        done = list(threads.map(lambda name: run("scopes", "add", name, "--dir", "brains"), names))
    errors = [one.stderr for one in done if one.returncode]
    assert len(errors) == len(names) - 1
    assert all("KIP_3003 The name" in error for error in errors), errors
    assert len(list((tmp_path / "brains").iterdir())) == 1


def test_a_name_whose_creation_was_interrupted_is_free(tmp_path: Path) -> None:
    (tmp_path / "brains" / "ada" / "graph").mkdir(parents=True)
    (tmp_path / "brains" / "bo").mkdir()
    (tmp_path / "brains" / "bo" / "notes.txt").touch()
    with Brains(tmp_path / "brains") as brains:
        with pytest.raises(KipError, match="KIP_3003 The name 'bo' is taken"):
            brains.add("bo")
        with pytest.raises(KipError, match="KIP_3003 The name 'ada' is taken"):
            brains.add("ADA")
        brains.add("ada")
        assert brains.names() == ["ada"]


@pytest.mark.parametrize(
    "command",
    [
        ("serve", "--mount", "ada=nowhere"),
        ("serve", "--scopes", "nowhere"),
        ("mcp", "--scopes", "nowhere", "--read", "ada"),
    ],
)
def test_a_command_over_scopes_leaves_the_nexus_that_it_does_not_use(
    loaded: Invoke, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """Without a name, the nexus of a command is the folder nexus."""
    with Nexus.memory() as other:
        other.apply_capsule(DRUGS)
        other.forget('FIND(?d) WHERE { ?d {type: "Drug", name: "Aspirin"} }')
        other.erasures(tmp_path / "list.txt")
    assert loaded(*command, "--erasures", "list.txt").exit_code != 0
    names = 'FIND(?d.name) WHERE { ?d {type: "Drug", name: "Aspirin"} }'
    assert find(tmp_path / "nexus", names) == ["Aspirin"]
    assert loaded("info", "--erasures", "list.txt").exit_code == 0
    with pytest.raises(KipError, match="KIP_3002"):
        find(tmp_path / "nexus", names)
