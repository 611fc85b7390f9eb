"""The shell, from a pipe and on a terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kiprdf.cli.shell import is_complete

from .conftest import Invoke, Run
from .runner import ROOT, environment, matches


@pytest.mark.parametrize(
    "text",
    [
        "FIND(?d",
        "FIND(?d)",
        'FIND(?d) WHERE { ?d {type: "Drug"}',
        "FIND(?d) // WHERE {}",
        'UPSERT { CONCEPT { {type: "Drug", name: "}}}}"}',
        "DESCRIBE CONCEPT",
    ],
)
def test_a_command_that_misses_its_end_waits(text: str) -> None:
    assert not is_complete(text)


@pytest.mark.parametrize(
    "text",
    [
        'FIND(?d)\nWHERE { ?d {type: "Drug"} }',
        "DESCRIBE PRIMER",
        "FIND(3)",
        "nonsense",
        "FIND(?d) }",
        'SEARCH CONCEPT "{"',
        "DESCRIBE DOMAINS // {",
    ],
)
def test_a_command_that_is_whole_or_wrong_runs(text: str) -> None:
    assert is_complete(text)


DOMAINS = '{"result": ["Archived", "CoreSchema", "System", "Unsorted"]}\n'
SESSIONS = {
    "commands from a pipe are answered one by one": (
        b'.json on\nFIND(?d.name)\nWHERE { ?d {type: "Domain", name: "Unsorted"} }\n'
        b"DESCRIBE DOMAINS; // with a comment\n",
        '{"result": ["Unsorted"]}\n' + DOMAINS,
        "",
    ),
    "a line of a file continues the command above": (
        b'.json on\nFIND(?d.name)\nWHERE { ?d {type: "Domain"} }\n'
        b"ORDER BY ?d.name DESC\nDESCRIBE DOMAINS",
        '{"result": ["Unsorted", "System", "CoreSchema", "Archived"]}\n' + DOMAINS,
        "",
    ),
    "an error does not end the shell": (
        b"FIND(3)\nDESCRIBE DOMAINS\n",
        "Archived\nCoreSchema\nSystem\nUnsorted\n",
        "KIP_1001 1:6 ...",
    ),
    "invalid bytes do not end the shell": (
        b"\xff\nDESCRIBE DOMAINS\n",
        "Archived\nCoreSchema\nSystem\nUnsorted\n",
        "KIP_1001 1:1 ...",
    ),
    "an empty line runs the command": (b"FIND(?d\n", "", "KIP_1001 1:8 ..."),
    "a semicolon runs the command": (b"FIND(?d;\n", "", "KIP_1001 1:8 ..."),
    "the end of the input runs the command": (b"FIND(?d", "", "KIP_1001 1:8 ..."),
    ".explain shows the SPARQL": (
        b'.explain FIND(?d) WHERE { ?d {type: "Domain"} }\n',
        "...SELECT...",
        "",
    ),
    ".next shows the pages of the last answer to the end": (
        b'.json on\nFIND(?d.name) WHERE { ?d {type: "Domain"} } ORDER BY ?d.name LIMIT 3\n'
        b".next\n.next\n",
        '{"result": ["Archived", "CoreSchema", "System"], "next_cursor": "..."}\n'
        '{"result": ["Unsorted"]}\n',
        "There are more results: .next shows the next page.\nThe last answer has no next page.\n",
    ),
    ".next shows the next types": (
        b"DESCRIBE CONCEPT TYPES LIMIT 1\n.next\n",
        "$ConceptType\n$PropositionType\n",
        "...next page.\n...next page.\n",
    ),
    ".next without an answer is a note": (b".next\n", "", "The last answer has no next page.\n"),
    "an unknown dot command shows the help": (b".tables\n", "...\n  .explain FIND …...", ""),
    ".quit ends the shell": (b".quit\nDESCRIBE DOMAINS\n", "", ""),
}


@pytest.mark.parametrize(("stdin", "stdout", "stderr"), SESSIONS.values(), ids=SESSIONS)
def test_a_session_from_standard_input(
    invoke: Invoke, stdin: bytes, stdout: str, stderr: str
) -> None:
    answer = invoke("shell", "--memory", input=stdin)
    assert answer.exit_code == 0
    assert matches(stdout, answer.stdout), answer.stdout
    assert matches(stderr, answer.stderr), answer.stderr


def test_a_session_from_a_pipe(run: Run) -> None:
    stdin, stdout, _ = SESSIONS["invalid bytes do not end the shell"]
    done = run("shell", "--memory", stdin=stdin)
    assert (done.returncode, done.stdout) == (0, stdout)
    assert done.stderr.startswith("KIP_1001 1:1 ")


# On a terminal --------------------------------------------------------------------------------


class Terminal:
    """A shell on its own terminal, with its home in a folder."""

    def __init__(self, home: Path, **variables: str) -> None:
        self._end, inner = pty.openpty()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kiprdf", "shell", "--memory"],
            stdin=inner,
            stdout=inner,
            stderr=inner,
            cwd=home,
            env=environment(**{"HOME": str(home), "TERM": "dumb", **variables}),
            start_new_session=True,
            preexec_fn=_own_terminal,
        )
        os.close(inner)
        self._output = ""

    def type(self, text: str) -> None:
        os.write(self._end, text.encode())

    def expect(self, pattern: str, seconds: float = 20) -> None:
        """Read on until a pattern appears."""
        limit = time.monotonic() + seconds
        while (match := re.search(pattern, self._output)) is None:
            ready, _, _ = select.select([self._end], [], [], limit - time.monotonic())
            assert ready, f"{pattern!r} is not in {self._output!r}"
            self._output += os.read(self._end, 4096).decode("utf-8", "replace")
        self._output = self._output[match.end() :]

    def shows(self, pattern: str, seconds: float) -> bool:
        """Whether a pattern appears in some time."""
        try:
            self.expect(pattern, seconds)
        except AssertionError:
            return False
        return True

    def rest(self) -> None:
        """Begin a new command; what was printed before is not expected any more."""
        self.type("\x15\n")  # Ctrl-U empties the line
        while not self._output.endswith("kip> ") or select.select([self._end], [], [], 0.05)[0]:
            self._output += os.read(self._end, 4096).decode("utf-8", "replace")
        self._output = "kip> "

    def status(self) -> int:
        return self._process.wait(20)

    def close(self) -> None:
        self._process.kill()
        self._process.wait(20)
        os.close(self._end)


def _own_terminal() -> None:
    """Make the terminal the controlling one, so that Ctrl-C reaches the child.

    A shell starts what runs in its background with SIGINT ignored, and children inherit that.
    """
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def own_terminal(tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(tmp_path)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    opened = Terminal(tmp_path_factory.mktemp("home"))
    opened.expect("kip> ")
    yield opened
    opened.close()


@pytest.fixture
def terminal(shared: Terminal) -> Terminal:
    """A terminal for tests that write nothing and do not leave the shell."""
    shared.rest()
    return shared


def test_the_shell_on_a_terminal_prompts_and_answers(terminal: Terminal) -> None:
    terminal.expect("kip> ")
    terminal.type("FIND(?d.name)\n")
    terminal.expect(r" \.\.\.> ")
    terminal.type('WHERE { ?d {type: "Domain", name: "Unsorted"} }\n')
    terminal.expect(r" \.\.\.> ")
    terminal.type("\n")
    terminal.expect("│ Unsorted │")
    terminal.expect("1 row")


def test_what_is_typed_is_written_completed_and_kept(
    own_terminal: Terminal, tmp_path: Path
) -> None:
    terminal = own_terminal
    terminal.expect("kip> ")
    # Metadata on the next line belong to the UPSERT.
    terminal.type('UPSERT {\nCONCEPT { {type: "Domain", name: "Mine"} }\n}\n')
    terminal.type('WITH METADATA {source: "typed"};\n')
    terminal.expect("upsert_concept_nodes")
    terminal.type('FIND(?d.metadata.source) WHERE { ?d {type: "Domain", name: "Mine"} }\n')
    terminal.expect("│ typed")
    pytest.importorskip("readline")
    terminal.expect("kip> ")
    # A new type is completed at once.
    terminal.type('UPSERT { CONCEPT { {type: "$ConceptType", name: "Zebra"} } }\n')
    terminal.expect("kip> ")
    terminal.type('FIND(?z) WHERE { ?z {type: "Zeb\t} }\n')
    terminal.expect('type: "Zebra"} }')
    terminal.expect("0 rows")
    # The history is kept in the home folder.
    terminal.type("DESCRIBE DOMAINS\n.quit\n")
    assert terminal.status() == 0
    assert "DESCRIBE DOMAINS" in (tmp_path / ".kiprdf_history").read_text("utf-8")


def test_a_pasted_command_is_one_command(terminal: Terminal) -> None:
    pytest.importorskip("readline")
    terminal.expect("kip> ")
    terminal.type(
        '\x1b[200~FIND(?d.name)\nWHERE { ?d {type: "Domain"} }\nORDER BY ?d.name DESC\x1b[201~\n'
    )
    terminal.expect("Unsorted +│\r\n│ System +│\r\n│ CoreSchema │\r\n│ Archived")


def test_ctrl_c_drops_the_input_and_ctrl_d_leaves(own_terminal: Terminal) -> None:
    terminal = own_terminal
    terminal.expect("kip> ")
    terminal.type("FIND(?x")
    terminal.expect(r"FIND\(\?x")
    # Python's readline overlooks a signal that comes while it echoes; people would press again.
    for _ in range(20):
        terminal.type("\x03")
        if terminal.shows("kip> ", 1):
            break
    terminal.type("DESCRIBE DOMAINS\n")
    terminal.expect("Archived")
    terminal.expect("kip> ")
    terminal.type("\x04")
    assert terminal.status() == 0


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("DESCR\t PRI\t", "DESCRIBE PRIMER"),
        ('FIND(?p) WHERE { ?p {type: "Pers\t', '"Person"'),
        ('FIND(?p) WHERE { (?p, "belongs_to_d\t', '"belongs_to_domain"'),
        ("FIND(?p.attributes.person_\t", "?p.attributes.person_class"),
        ("FIND(?p.metadata._vers\t", "?p.metadata._version"),
        ("FIND(?person) WHERE { ?per\t", "{ ?person"),
        (".ne\t", ".next"),
    ],
)
def test_tab_completes_a_word(terminal: Terminal, typed: str, completed: str) -> None:
    pytest.importorskip("readline")
    terminal.type(typed)
    terminal.expect(re.escape(completed))


def test_a_name_on_the_second_line_is_completed(terminal: Terminal) -> None:
    pytest.importorskip("readline")
    terminal.expect("kip> ")
    terminal.type("FIND(?domain.name)\n")
    terminal.expect(r" \.\.\.> ")
    terminal.type('WH\t { ?dom\t {type: "Dom\t, name: "Unsorted"} };\n')
    terminal.expect('WHERE { [?]domain {type: "Domain", name')
    terminal.expect("│ Unsorted")


def test_next_on_a_terminal_shows_the_next_page(terminal: Terminal) -> None:
    terminal.expect("kip> ")
    terminal.type('FIND(?d.name) WHERE { ?d {type: "Domain"} } ORDER BY ?d.name LIMIT 2\n')
    terminal.expect("│ CoreSchema")
    terminal.expect("There are more results: [.]next shows the next page[.]")
    terminal.type(".next\n")
    terminal.expect("│ Unsorted")
    terminal.type(".next\n")
    terminal.expect("The last answer has no next page.")


def test_the_shell_works_without_readline(tmp_path: Path) -> None:
    # Python finds this module instead of the one that the system may have.
    (tmp_path / "readline.py").write_text("raise ImportError", "utf-8")
    terminal = Terminal(tmp_path, PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    try:
        terminal.expect("kip> ")
        terminal.type("DESCRIBE DOMAINS\n")
        terminal.expect("CoreSchema")
    finally:
        terminal.close()
