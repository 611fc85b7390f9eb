"""A snapshot in git changes only in the lines of the facts that changed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import kiprdf
from tests.interchange.nexuses import demonstration, small

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

FILES = ("rdf11", "rdf12")


class Repository:
    """A git repository that knows nothing of this machine's settings."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.git("init", "--quiet")

    def git(self, *arguments: str) -> str:
        who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "core.autocrlf=false")
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self._folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CEILING_DIRECTORIES": str(self._folder.parent),
        }
        done = subprocess.run(
            ["git", *who, *arguments],
            cwd=self._folder,
            env=environment,
            capture_output=True,
            check=True,
            text=True,
            encoding="utf-8",
        )
        return done.stdout

    def commit(self, nexus: kiprdf.Nexus, *, engine_metadata: bool = False) -> None:
        """Take a snapshot in each profile and commit them."""
        for profile in FILES:
            path = self._folder / f"{profile}.ttl"
            nexus.snapshot(path, profile, engine_metadata=engine_metadata)  # type: ignore[arg-type]
        self.git("add", ".")
        self.git("commit", "--quiet", "--allow-empty", "-m", "a snapshot")

    def changed(self) -> dict[str, tuple[int, int]]:
        """The lines that the last commit added to and removed from each file."""
        rows = self.git("diff", "--numstat", "HEAD~1", "HEAD").splitlines()
        counts = (row.split("\t") for row in rows)
        return {name.removesuffix(".ttl"): (int(new), int(old)) for new, old, name in counts}

    def lines(self, profile: str) -> list[str]:
        """What the last commit changed in one file."""
        text = self.git("diff", "-U0", "HEAD~1", "HEAD", "--", f"{profile}.ttl")
        return [line for line in text.split("\n")[4:] if line and not line.startswith("@@")]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


CHANGES = {
    "a new fact": (
        'UPSERT { PROPOSITION { ({type: "Drug", name: "阿司匹林"}, "treats", '
        '{type: "Drug", name: "B"}) } }',
        # The fact; in RDF 1.1 its statement: four lines, the end and a blank line.
        {"rdf11": (7, 0), "rdf12": (1, 0)},
    ),
    "a new fact with an attribute": (
        'UPSERT { PROPOSITION { ({type: "Drug", name: "阿司匹林"}, "treats", '
        '{type: "Drug", name: "B"}) SET ATTRIBUTES { why: "y" } } }',
        {"rdf11": (8, 0), "rdf12": (4, 0)},
    ),
    "a changed attribute": (
        'UPSERT { CONCEPT { {type: "Drug", name: "阿司匹林"} SET ATTRIBUTES { risk: 3 } } }',
        {"rdf11": (1, 1), "rdf12": (1, 1)},
    ),
    "a new attribute": (
        'UPSERT { CONCEPT { {type: "Drug", name: "B"} SET ATTRIBUTES { new: [1] } } }',
        {"rdf11": (1, 0), "rdf12": (1, 0)},
    ),
    "a removed attribute": (
        'DELETE ATTRIBUTES {"risk"} FROM ?d WHERE { ?d {type: "Drug", name: "阿司匹林"} }',
        {"rdf11": (0, 1), "rdf12": (0, 1)},
    ),
    "changed metadata of a link": (
        'UPDATE ?l SET METADATA {source: "t"} WHERE { ?l ({type: "Drug", name: "阿司匹林"}, '
        '"treats", {type: "Drug", name: "Vitamin C"}) }',
        {"rdf11": (1, 1), "rdf12": (1, 1)},
    ),
    "a removed link": (
        'DELETE PROPOSITIONS ?l WHERE { ?l ({type: "Drug", name: "B"}, "treats", '
        '{type: "Drug", name: "Vitamin C"}) }',
        {"rdf11": (0, 7), "rdf12": (0, 1)},
    ),
    "a new concept between others": (
        'UPSERT { CONCEPT { {type: "Drug", name: "Cortisone"} } }',
        {"rdf11": (4, 0), "rdf12": (4, 0)},
    ),
    "a removed concept with its three facts": (
        'DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug", name: "B"} }',
        # The concept with its facts takes seven lines; the statements six, six and seven; with
        # `attr:why` on the only link that has its own block in RDF 1.2.
        {"rdf11": (0, 26), "rdf12": (0, 10)},
    ),
    "a new type, whose prefix comes with its first concept": (
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Symptom"} } '
        'CONCEPT { {type: "Symptom", name: "Fever"} } }',
        {"rdf11": (9, 0), "rdf12": (9, 0)},
    ),
    "nothing": ('UPSERT { CONCEPT { {type: "Drug", name: "B"} } }', {}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_git_shows_the_lines_of_what_changed(name: str, repository: Repository) -> None:
    command, expected = CHANGES[name]
    nexus = small()
    repository.commit(nexus)
    nexus.execute(command)
    repository.commit(nexus)
    assert repository.changed() == expected


def test_git_shows_a_changed_value_as_its_old_and_its_new_line(repository: Repository) -> None:
    nexus = small()
    repository.commit(nexus)
    nexus.execute(CHANGES["a changed attribute"][0])
    repository.commit(nexus)
    assert repository.lines("rdf11") == ["-    attr:risk 2 ;", "+    attr:risk 3 ;"]


def test_git_shows_a_new_type_as_its_prefix_its_definition_and_its_concept(
    repository: Repository,
) -> None:
    nexus = small()
    repository.commit(nexus)
    nexus.execute(CHANGES["a new type, whose prefix comes with its first concept"][0])
    repository.commit(nexus)
    assert repository.lines("rdf12") == [
        "+@prefix Symptom: <https://data.example.org/kb/Symptom/> .",
        "+type:Symptom a <https://data.example.org/kb/$ConceptType/$ConceptType> ;",
        '+    rdfs:label "Symptom" ;',
        "+.",
        "+",
        "+Symptom:Fever a type:Symptom ;",
        '+    rdfs:label "Fever" ;',
        "+.",
        "+",
    ]


def test_with_engine_metadata_the_version_changes_too(repository: Repository) -> None:
    nexus = small()
    repository.commit(nexus, engine_metadata=True)
    nexus.execute(CHANGES["a changed attribute"][0])
    repository.commit(nexus, engine_metadata=True)
    assert repository.changed() == {"rdf11": (2, 2), "rdf12": (2, 2)}


@pytest.mark.parametrize("made", [small, demonstration])
def test_a_change_and_its_undoing_leave_what_was_there(
    made: Callable[[], kiprdf.Nexus], repository: Repository
) -> None:
    nexus = made()
    repository.commit(nexus)
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Extra"} } '
        'CONCEPT { {type: "Extra", name: "one"} SET ATTRIBUTES { a: 1 } } }'
    )
    nexus.execute('DELETE CONCEPT ?x DETACH WHERE { ?x {type: "Extra"} }')
    nexus.execute('DELETE CONCEPT ?x DETACH WHERE { ?x {type: "$ConceptType", name: "Extra"} }')
    repository.commit(nexus)
    assert repository.changed() == {}
