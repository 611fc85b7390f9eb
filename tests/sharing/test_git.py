"""Snapshots in git, with git itself: setup, words for ``git diff``."""

from __future__ import annotations

import shlex
from collections.abc import Callable
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
Drug:Aspirin attributes.risk: 2
Drug:Aspirin metadata.author: "ada"
Symptom:Ache
Symptom:Ache metadata.author: "ada"
(Drug:Aspirin, treats, Symptom:Ache)
(Drug:Aspirin, treats, Symptom:Ache) metadata.author: "ada"
"""
Merge = Callable[..., tuple[int, str, str]]


class Repository:
    """A repository in a new folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "a repository"
        self.folder.mkdir()
        self.program_folder: Path | None = programs(folder / "bin")
        self.git("init", "--quiet")

    def git(self, *arguments: str, status: int = 0) -> str:
        done = run_git(*arguments, folder=self.folder, program_folder=self.program_folder)
        assert done.returncode == status, (arguments, done.stdout)
        return done.stdout

    def commit(self, name: str, text: str | bytes) -> None:
        """Write a file and commit everything."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", "a snapshot")

    def text(self, name: str) -> str:
        return (self.folder / name).read_bytes().decode("utf-8", "surrogateescape")


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
    rows = repository.git("diff", "-U1", "HEAD~1").splitlines()[5:]
    assert rows == [
        " Drug:Aspirin",
        "-Drug:Aspirin attributes.risk: 2",
        "+Drug:Aspirin attributes.risk: 3",
        ' Drug:Aspirin metadata.author: "ada"',
    ]


# Merge ----------------------------------------------------------------------------------------


def drug(name: str, author: str, risk: int = 1) -> str:
    """A statement that adds a drug, with a fact."""
    return f"""
    UPSERT {{
      CONCEPT {{
        {{type: "Drug", name: "{name}"}} SET ATTRIBUTES {{ risk: {risk} }}
        SET PROPOSITIONS {{ ("treats", {{type: "Symptom", name: "Ache"}}) }}
      }}
    }} WITH METADATA {{ author: "{author}" }}"""


@pytest.fixture
def merge(tmp_path: Path) -> Merge:
    """Merge three texts by the command: the status, what ours is then, and standard error."""

    def run(base: str | bytes, ours: str | bytes, theirs: str | bytes, *options: str) -> Any:
        paths = [tmp_path / name for name in ("O", "A", "B")]
        for path, text in zip(paths, (base, ours, theirs), strict=True):
            path.write_bytes(text.encode() if isinstance(text, str) else text)
        done = invoke("git-merge", *map(str, paths), *options)
        assert done.stdout == ""
        return done.exit_code, paths[1].read_text("utf-8", "surrogateescape"), done.stderr

    return run


FORMS: dict[str, dict[str, Any]] = {
    "rdf11": {},
    "rdf12": {"profile": "rdf12"},
    "with versions": {"engine_metadata": True},
    "trig": {"format": "trig", "profile": "rdf12"},
    "nt": {"format": "ntriples"},
    "nt, rdf12": {"format": "ntriples", "profile": "rdf12"},
    "nq": {"format": "nquads"},
    "jsonld": {"format": "jsonld"},
    "rdf": {"format": "rdfxml"},
}


@pytest.mark.parametrize("form", FORMS)
def test_facts_of_two_people_merge_to_the_snapshot_that_a_nexus_writes(
    merge: Merge, form: str
) -> None:
    options = FORMS[form]
    base, ours, theirs, both = (
        snapshot(*statements, **options)
        for statements in (
            (),
            (risk(3), drug("B", "ada")),
            (drug("A", "bob"),),
            (risk(3), drug("B", "ada"), drug("A", "bob")),
        )
    )
    status, merged, errors = merge(base, ours, theirs, f"--path=a.{form.partition(',')[0]}")
    assert (status, errors) == (0, "")
    if "engine_metadata" not in options:
        assert merged == both
    # The snapshot of a nexus that has it.
    with kiprdf.Nexus.memory(genesis=False) as nexus:
        nexus.restore(merged, format=options.get("format", "turtle"))
        assert nexus.snapshot(**{"engine_metadata": False, **options}) == merged
        names = nexus.execute('FIND(?d.name) WHERE { ?d {type: "Drug"} } ORDER BY ?d.name')
    assert names == ["A", "Aspirin", "B"]


def test_a_conflict_is_noted_beside_our_value_and_explained(merge: Merge) -> None:
    base, ours, theirs = (snapshot(*one) for one in ((), (risk(3),), (risk(4), drug("B", "bob"))))
    status, merged, errors = merge(base, ours, theirs, "--path", "my brain.ttl")
    assert status == 1
    assert "    attr:risk 3 ;\n" in merged
    assert "Drug:B " in merged
    entry = {"at": None, "by": "ada", "key": "attributes.risk", "value": 4}
    with kiprdf.Nexus.memory(genesis=False) as nexus:
        nexus.restore(merged)
        find = 'FIND(?d.metadata.conflict) WHERE { ?d {type: "Drug", name: "Aspirin"} }'
        assert nexus.execute(find) == [[entry]]
        assert nexus.snapshot(engine_metadata=False) == merged
    assert (
        errors
        == """\
my brain.ttl:
Conflicts, of which ours stays
! Drug:Aspirin attributes.risk
    ours: 3 (ada)
    theirs: 4 (ada)

Conflicts: 1
Theirs is in the metadata conflict. Set the right values and remove these notes in
the file, and run git add 'my brain.ttl'
"""
    )
    # The two who both keep it do not hear of it again; who decides it, does for both.
    assert merge(base, merged, theirs)[:2] == (1, merged)
    assert merge(merged, merged, ours) == (0, snapshot(risk(3)), "")


def test_a_base_with_a_conflict_that_each_side_decided_is_no_reason_for_either(
    merge: Merge,
) -> None:
    zero, three, four = (snapshot(risk(value)) for value in (2, 3, 4))
    base = merge(zero, three, four, "--marker-size=9")
    assert (base[0], base[2]) == (1, "")  # nobody can decide between two bases
    for ours, theirs, value in ((three, four, 3), (four, three, 4)):
        status, merged, _ = merge(base[1], ours, theirs)
        assert (status, f"attr:risk {value} ;" in merged) == (1, True)
    assert merge(base[1], three, three) == (0, three, "")


def test_a_type_that_one_side_deletes_and_the_other_uses_stays(merge: Merge) -> None:
    new_type = 'UPSERT { CONCEPT { {type: "$ConceptType", name: "Herb"} } }'
    herb = 'UPSERT { CONCEPT { {type: "Herb", name: "Sage"} } }'
    base, without, used = snapshot(new_type), snapshot(), snapshot(new_type, herb)
    status, merged, errors = merge(base, used, without)
    assert status == 1
    assert "$ConceptType:Herb exists" in errors
    with kiprdf.Nexus.memory(genesis=False) as nexus:
        nexus.restore(merged)
        assert nexus.execute('FIND(?h.name) WHERE { ?h {type: "Herb"} }') == ["Sage"]
    status, merged, errors = merge(base, without, used)
    assert (status, merged) == (1, without)
    assert "$ConceptType:Herb exists" in errors


def test_both_add_a_file(merge: Merge) -> None:
    ours, theirs = snapshot(drug("A", "ada", 1)), snapshot(drug("A", "bob", 2), drug("B", "bob"))
    status, merged, errors = merge("", ours, theirs)
    assert status == 1
    assert "Drug:B " in merged
    assert [line for line in errors.splitlines() if line.startswith("!")] == [
        "! Drug:A attributes.risk",
        "! Drug:A metadata.author",
        "! (Drug:A, treats, Symptom:Ache) metadata.author",
    ]


def test_ours_decides_the_form_and_the_base(merge: Merge) -> None:
    with kiprdf.Nexus.memory("https://data.example.org/kb/", genesis=False) as nexus:
        for statement in (DEFINITIONS, drug("B", "bob")):
            nexus.execute(statement)
        theirs = nexus.snapshot()
    ours = snapshot(profile="rdf12")
    assert merge(snapshot(), ours, theirs)[:2] == (0, snapshot(drug("B", "bob"), profile="rdf12"))


DAMAGED = {
    "the end is missing": lambda text: text[:-30],
    "a text merge left markers": lambda text: f"<<<<<<< ours\n{text}=======\n>>>>>>> theirs\n",
    "a foreign triple": lambda text: f"{text}<urn:a> <urn:b> <urn:c> .\n",
    "a newer format": lambda text: text.replace("kiprdf 1", "kiprdf 2", 1),
    "a named graph": lambda text: f"{text}<urn:g> {{ <urn:a> <urn:b> <urn:c> }}\n",
    "nothing": lambda text: "",
    "no snapshot": lambda text: "<urn:a> <urn:b> <urn:c> .\n",
    "no text": lambda text: "\x00\udcff",
    "nested without end": lambda text: text + "[" * 100_000,
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_snapshot_leaves_ours_as_it_is(merge: Merge, damage: str) -> None:
    sound, other = snapshot(), snapshot(risk(3))
    bad = DAMAGED[damage](sound)
    content = bad.encode(errors="surrogateescape")
    for side, texts in enumerate(([content, sound, other], [sound, content, other])):
        if side == 0 and not content:
            continue  # an empty base is that of a file that both added
        status, ours, errors = merge(*texts, "--path=a b.ttl")
        unchanged = content.decode("utf-8", "surrogateescape") if side else sound
        assert (status, ours) == (1, unchanged)
        sentence, hint = errors.splitlines()[0], errors.splitlines()[-1]
        assert f"a b.ttl of {('base', 'ours')[side]} is no sound snapshot: " in sentence
        assert hint.endswith("checkout --merge -- 'a b.ttl'")


def test_what_is_no_snapshot_is_merged_as_text(merge: Merge) -> None:
    base, ours, theirs = (f"<urn:a> <urn:b> {one} .\n" for one in ("1, 2", "3, 2", "4, 2"))
    status, merged, errors = merge(base, ours, theirs, "--path=other.ttl", "--marker-size=9")
    assert status == 1
    assert merged == f"<<<<<<<<< ours\n{ours}=========\n{theirs}>>>>>>>>> theirs\n"
    assert errors == "other.ttl is no snapshot of kiprdf; it was merged as text.\n"
    assert merge(base, base, theirs)[:2] == (0, theirs)


# In git ---------------------------------------------------------------------------------------

NAME = "my brain.ttl"


@pytest.fixture
def team(repository: Repository) -> Repository:
    """A repository with a snapshot, and a branch ``bob`` that has it, too."""
    git_driver.setup(repository.folder, ["*.ttl"])
    repository.commit(NAME, snapshot())
    repository.git("branch", "bob")
    return repository


def restored(repository: Repository) -> Any:
    """The drugs of the snapshot in the working tree, with their risks and conflicts."""
    with kiprdf.Nexus.memory(genesis=False) as nexus:
        nexus.restore(repository.folder / NAME)
        assert nexus.snapshot(engine_metadata=False) == repository.text(NAME)
        find = 'FIND(?d.name, ?d.attributes.risk, ?d.metadata.conflict) WHERE { ?d {type: "Drug"} }'
        rows = zip(*nexus.execute(f"{find} ORDER BY ?d.name"), strict=True)
    return [(name, risk, [one["value"] for one in noted or ()]) for name, risk, noted in rows]


def test_two_branches_that_add_facts_merge_without_a_marker(team: Repository) -> None:
    team.commit(NAME, snapshot(drug("A", "ada"), risk(3)))
    team.git("switch", "--quiet", "bob")
    team.commit(NAME, snapshot(drug("B", "bob")))
    team.git("merge", "--no-edit", "main")
    assert team.git("status", "--short") == ""
    assert restored(team) == [("A", 1, []), ("Aspirin", 3, []), ("B", 1, [])]


@pytest.mark.parametrize(
    ("command", "ours", "theirs"),
    [
        (("merge", "--no-edit", "bob"), 3, 4),
        (("cherry-pick", "bob"), 3, 4),
        # Ours is the branch on which git puts the commits of this one.
        (("rebase", "bob"), 4, 3),
    ],
)
def test_a_conflict_stops_git_and_can_be_decided_or_given_up(
    team: Repository, command: tuple[str, ...], ours: int, theirs: int
) -> None:
    team.commit(NAME, snapshot(risk(3)))
    team.git("switch", "--quiet", "bob")
    team.commit(NAME, snapshot(risk(4), drug("B", "bob")))
    team.git("switch", "--quiet", "main")
    before = team.git("rev-parse", "HEAD"), team.text(NAME)
    text = team.git(*command, status=1)
    assert f"    ours: {ours} (ada)\n    theirs: {theirs} (ada)\n" in text
    assert "CONFLICT (content): Merge conflict in my brain.ttl\n" in text
    assert team.git("status", "--short") == f'UU "{NAME}"\n'
    assert restored(team) == [("Aspirin", ours, [theirs]), ("B", 1, [])]
    team.git(command[0], "--abort")
    assert (team.git("rev-parse", "HEAD"), team.text(NAME)) == before
    if command[0] == "cherry-pick":
        return
    team.git(*command, status=1)
    (team.folder / NAME).write_text(snapshot(risk(4), drug("B", "bob")), "utf-8")
    team.git("add", NAME)
    if command[0] == "rebase":
        team.git("rebase", "--skip")  # nothing is left of it
    else:
        team.git(command[0], "--continue")
    assert team.git("status", "--short") == ""
    assert restored(team) == [("Aspirin", 4, []), ("B", 1, [])]


def test_a_criss_cross_merge_is_a_conflict_again_where_each_side_decided_otherwise(
    team: Repository,
) -> None:
    team.commit(NAME, snapshot(risk(3)))
    team.git("branch", "ada")
    team.git("switch", "--quiet", "bob")
    team.commit(NAME, snapshot(risk(4)))
    for branch, other, value in (("bob", "ada", 4), ("main", "bob^", 3)):
        team.git("switch", "--quiet", branch)
        team.git("merge", "--strategy=ours", "--no-commit", other)
        team.commit(NAME, snapshot(risk(value), drug(branch, "ada")))
    text = team.git("merge", "--no-edit", "bob", status=1)
    # Once: the two bases, which git merges before, are no concern of a person.
    assert text.count("Conflicts: 1") == 1
    assert restored(team) == [("Aspirin", 3, [4]), ("bob", 1, []), ("main", 1, [])]


def test_both_branches_add_the_file(repository: Repository) -> None:
    git_driver.setup(repository.folder, ["*.ttl"])
    repository.commit("other", "other")
    repository.git("branch", "bob")
    repository.commit(NAME, snapshot(drug("A", "ada")))
    repository.git("switch", "--quiet", "bob")
    repository.commit(NAME, snapshot(drug("B", "bob"), risk(3)))
    repository.git("merge", "--no-edit", "main", status=1)
    assert repository.git("status", "--short") == f'AA "{NAME}"\n'
    assert restored(repository) == [("A", 1, []), ("Aspirin", 3, [2]), ("B", 1, [])]


def test_a_damaged_file_is_as_it_was_and_can_be_merged_as_text(team: Repository) -> None:
    damaged = snapshot().replace("attr:risk 2 ;", "attr:risk 2 ; ;;;")
    team.commit(NAME, f"{damaged}}}\n")
    team.git("switch", "--quiet", "bob")
    team.commit(NAME, snapshot(drug("A", "bob")))
    text = team.git("merge", "--no-edit", "main", status=1)
    assert "my brain.ttl of theirs is no sound snapshot: " in text
    assert team.text(NAME) == snapshot(drug("A", "bob"))
    hint = next(line for line in text.splitlines() if line.startswith("Hint: "))
    team.git(*shlex.split(hint.partition(" git ")[2]))
    assert "Drug:A " in team.text(NAME)
    assert "\n=======\n}\n>>>>>>> theirs\n" in team.text(NAME)


def test_a_clone_without_the_command_merges_as_text(team: Repository) -> None:
    team.commit(NAME, snapshot(risk(3)))
    team.git("switch", "--quiet", "bob")
    team.commit(NAME, snapshot(drug("B", "bob")))
    for name in ("merge.kiprdf", "diff.kiprdf"):
        team.git("config", "--remove-section", name)
    team.git("merge", "--no-edit", "main")
    assert team.text(NAME) == snapshot(risk(3), drug("B", "bob"))
    assert "-    attr:risk 2 ;\n+    attr:risk 3 ;\n" in team.git("diff", "HEAD~1")
    # One that is set up, on a machine from which kiprdf is gone: git stops, nothing is lost.
    git_driver.setup(team.folder, ["*.ttl"])
    team.program_folder = None
    team.git("reset", "--quiet", "--hard", "HEAD~1")
    assert "CONFLICT" in team.git("merge", "--no-edit", "main", status=1)
    assert team.text(NAME) == snapshot(drug("B", "bob"))


def test_line_ends_of_windows_are_those_of_a_snapshot_after_a_merge(team: Repository) -> None:
    windows = snapshot(drug("A", "ada")).replace("\n", "\r\n")
    team.commit(NAME, windows)
    team.git("switch", "--quiet", "bob")
    team.commit(NAME, snapshot(risk(3)).replace("\n", "\r\n"))
    team.git("merge", "--no-edit", "main")
    assert team.text(NAME) == snapshot(risk(3), drug("A", "ada"))
