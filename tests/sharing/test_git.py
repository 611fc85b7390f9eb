"""Snapshots in git, with git itself: setup, words for ``git diff``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.sharing import git as git_driver
from tests.cli.runner import invoke
from tests.git import HAS_GIT, programs, run_git

pytestmark = pytest.mark.skipif(not HAS_GIT, reason="git is not installed")

DEFINITIONS = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} }
  CONCEPT { {type: "$ConceptType", name: "Symptom"} }
  CONCEPT { {type: "$PropositionType", name: "treats"} }
}
UPSERT {
  CONCEPT ?ache { {type: "Symptom", name: "Ache"} }
  CONCEPT {
    {type: "Drug", name: "Aspirin"} SET ATTRIBUTES { risk: 2 }
    SET PROPOSITIONS { ("treats", ?ache) }
  }
} WITH METADATA { author: "ada" }"""
WORDS = """\
$ConceptType:Drug
$ConceptType:Symptom
$PropositionType:treats
Drug:Aspirin
    attributes.risk: 2
    metadata.author: "ada"
Symptom:Ache
    metadata.author: "ada"
(Drug:Aspirin, treats, Symptom:Ache)
    metadata.author: "ada"
"""


class Repository:
    """A repository in a new folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "a repository"
        self.folder.mkdir()
        self.program_folder: Path | None = programs(folder / "bin")
        self.git("init", "--quiet")

    def git(self, *arguments: str, status: int = 0) -> str:
        done = run_git(*arguments, folder=self.folder, program_folder=self.program_folder)
        assert done.returncode == status, (arguments, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def commit(self, name: str, text: str | bytes) -> None:
        """Write a file and commit everything."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", "a snapshot")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def snapshot(*statements: str, **options: Any) -> str:
    """The snapshot of a nexus without what opening creates."""
    options.setdefault("engine_metadata", False)
    with kiprdf.Nexus.memory(genesis=False) as nexus:
        for statement in (DEFINITIONS, *statements):
            nexus.execute(statement)
        return nexus.snapshot(**options)


def risk(value: int) -> str:
    concept = f'{{type: "Drug", name: "Aspirin"}} SET ATTRIBUTES {{ risk: {value} }}'
    return f"UPSERT {{ CONCEPT {{ {concept} }} }}"


# Setup ----------------------------------------------------------------------------------------


def test_setup_adds_to_what_a_repository_has_and_can_be_repeated(repository: Repository) -> None:
    attributes = repository.folder / ".gitattributes"
    attributes.write_bytes(b"* text=auto\r\n*.png -diff")
    below = repository.folder / "below"
    below.mkdir()
    first = git_driver.setup(below, ["*.ttl", "my data/*.nt", '#a"b.nt'])
    attributes_set = "merge=kiprdf diff=kiprdf"
    patterns = ("*.ttl", '"my data/*.nt"', r'"#a\"b.nt"')
    expected = [f"{pattern} {attributes_set}" for pattern in patterns]
    assert first == {"attributes": str(attributes), "added": expected}
    written = b"* text=auto\r\n*.png -diff\n" + "".join(f"{line}\n" for line in expected).encode()
    assert attributes.read_bytes() == written
    assert git_driver.setup(below, ["b.ttl", "my data/*.nt", '#a"b.nt'])["added"] == []
    assert attributes.read_bytes() == written
    names = ("my data/a.nt", '#a"b.nt', "below/b.ttl", "c.nt")
    named = repository.git("check-attr", "merge", "--", *names).splitlines()
    assert [line.split(": ")[-1] for line in named] == [*["kiprdf"] * 3, "unspecified"]
    # A command that is right in every clone.
    assert repository.git("config", "merge.kiprdf.driver").startswith("kiprdf git-merge %O %A %B ")


@pytest.mark.parametrize(
    ("lines", "pattern", "message"),
    [
        ("*.ttl merge=union\n", "*.ttl", "*.ttl has the attribute merge=union already."),
        ("*.ttl binary\n", "b.ttl", "b.ttl has the attribute merge=unset already."),
        ("", "!*.ttl", "'!*.ttl' is no pattern for .gitattributes."),
        ("", "a.ttl\nb.ttl", "'a.ttl\\nb.ttl' is no pattern for .gitattributes."),
        ("", "./a.ttl", "'./a.ttl' is no pattern for .gitattributes."),
    ],
)
def test_setup_refuses_what_others_set_and_writes_nothing(
    repository: Repository, lines: str, pattern: str, message: str
) -> None:
    attributes = repository.folder / ".gitattributes"
    attributes.write_text(lines, "utf-8")
    with pytest.raises(kiprdf.KipError) as refused:
        git_driver.setup(repository.folder, ["*.nt", pattern])
    assert refused.value.message.startswith(message)
    assert attributes.read_text("utf-8") == lines
    assert "kiprdf" not in (repository.folder / ".git" / "config").read_text("utf-8")


def test_setup_follows_no_symbolic_link_and_needs_a_repository(
    repository: Repository, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.write_text("other", "utf-8")
    (repository.folder / ".gitattributes").symlink_to(other)
    with pytest.raises(kiprdf.KipError, match="symbolic link"):
        git_driver.setup(repository.folder, ["*.ttl"])
    assert other.read_text("utf-8") == "other"
    with pytest.raises(kiprdf.KipError, match="not a git repository"):
        git_driver.setup(Path("/"), ["*.ttl"])


# What git diff shows --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.ttl", {}),
        ("a.ttl", {"engine_metadata": True}),
        ("a.ttl", {"profile": "rdf12"}),
        ("a.trig", {"format": "trig"}),
        ("a.nt", {"format": "ntriples", "profile": "rdf12"}),
        ("a.nq", {"format": "nquads"}),
        ("a.jsonld", {"format": "jsonld"}),
        ("a.rdf", {"format": "rdfxml"}),
    ],
)
def test_the_words_of_a_snapshot_are_the_same_in_every_form(
    tmp_path: Path, name: str, options: dict[str, Any]
) -> None:
    path = tmp_path / name
    path.write_text(snapshot(**options), "utf-8")
    done = invoke("git-show", str(path))
    assert (done.exit_code, done.stdout, done.stderr) == (0, WORDS, "")


def test_what_is_not_a_sound_snapshot_is_shown_as_it_is(tmp_path: Path) -> None:
    sound = snapshot()
    marked = f"<<<<<<< HEAD\n{sound}=======\n{sound}>>>>>>> other\n"
    others = [
        b"",
        b"\xff\xfe\x00 no text",
        b"<urn:a> <urn:b> <urn:c> .\n",
        marked.encode(),
        sound[:-20].encode(),
        sound.replace("pred:treats pred", "pred:heals pred").encode() + b"\r\n<urn:x> a <urn:y> .",
    ]
    for content in others:
        path = tmp_path / "a.ttl"
        path.write_bytes(content)
        done = invoke("git-show", str(path))
        assert (done.exit_code, done.stdout_bytes) == (0, content)


def test_no_character_of_a_value_reaches_the_terminal_as_a_command(tmp_path: Path) -> None:
    hostile = "\x1b]0;x\x07\x9b31m\u202e\r\n"
    path = tmp_path / "a.ttl"
    with kiprdf.Nexus.memory(genesis=False) as nexus:
        nexus.execute(DEFINITIONS)
        nexus.execute(
            'UPSERT { CONCEPT { {type: "Drug", name: :name} SET ATTRIBUTES { note: :note } } }',
            name="a\u202e",
            note=hostile,
        )
        nexus.snapshot(path)
    text = invoke("git-show", str(path)).stdout
    assert '\nDrug:"a\\u202e"\n' in text
    assert r'attributes.note: "\u001b]0;x\u0007\u009b31m\u202e\r\n"' in text
    assert all(character.isprintable() or character == "\n" for character in text)


def test_git_diff_shows_what_changed_in_terms_of_kip(repository: Repository) -> None:
    git_driver.setup(repository.folder, ["*.ttl"])
    repository.commit("my brain.ttl", snapshot())
    repository.commit("my brain.ttl", snapshot(risk(3)))
    rows = repository.git("diff", "-U1", "HEAD~1").splitlines()[4:]
    assert rows == [
        "@@ -4,3 +4,3 @@ $PropositionType:treats",
        " Drug:Aspirin",
        "-    attributes.risk: 2",
        "+    attributes.risk: 3",
        '     metadata.author: "ada"',
    ]
