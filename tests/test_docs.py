"""The documentation runs: every block of every page is executed, parsed or compared.

A page is one session: its blocks run in order, in one namespace, in an empty working directory.

=========  ==================================================================================
block      what happens
=========  ==================================================================================
python     with ``>>>`` a doctest, otherwise executed
kip        executed on the page's ``nexus``, or on one with the medical example capsule; a JSON
           object after the language sets its parameters
sh         the lines that begin with ``kiprdf`` are run, without a shell; ``kiprdf serve`` starts a
           server on a free port, to which the addresses of the page lead; NAME=$(kiprdf ...) keeps
           what is printed, for $NAME on a later line; lines that begin with ``git`` are run, too
turtle     parsed
sparql     parsed
=========  ==================================================================================

A block of text, json, turtle or sparql directly after a python, kip or sh block is its output: the
value of the last expression, the result, or what is printed. ``...`` in it matches anything.
"""

from __future__ import annotations

import ast as python
import doctest
import json
import re
import shlex
import subprocess
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest
import rdflib

import kiprdf
from kiprdf import resources
from kiprdf.errors import ERROR_CODES
from kiprdf.kql.comparisons import TESTS
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import encode
from kiprdf.store.cancellation import CancellationToken
from tests.adapters.model import scripted_model
from tests.cases import each_case
from tests.cli.runner import invoke
from tests.git import programs, run_git
from tests.serve.running import RunningServer, running, serving

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PAGES = sorted((ROOT / "docs").rglob("*.md"))
if README.exists():
    PAGES.append(README)
SETUP_BLOCKS = 2
"""The number of ``sh`` blocks at the start of the README that set up a clone; they are not run."""

_FENCE = re.compile(r"^```(\w*)[ ]?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!\!)\[[^\]\n]*\]\(([^)\s]+)\)")
_RUN = ("python", "kip", "sh")
_SHOWN = ("text", "json", "turtle", "sparql")
_CHECKER = doctest.OutputChecker()
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass
class Block:
    """One fenced block; ``output_of`` is the block whose output it shows."""

    page: Path
    line: int
    language: str
    rest: str
    text: str
    output_of: Block | None = None

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line} ({self.language})"


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    blocks: list[Block] = []
    end = 0
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        block = Block(page, line, match.group(1), match.group(2).strip(), match.group(3))
        follows = not text[end : match.start()].strip()
        if blocks and follows and block.language in _SHOWN and blocks[-1].language in _RUN:
            block.output_of = blocks[-1]
        blocks.append(block)
        end = match.end()
    return blocks


def fixed_clock() -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC)


def error_text(error: kiprdf.KipError) -> str:
    return f"{error.code} {error.name}\n{error.located_message}\nHint: {error.hint}"


class Session:
    """Runs the blocks of one page; ``run`` returns a block's output."""

    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {"__name__": "page"}
        self._standard: kiprdf.Nexus | None = None
        self._stack = ExitStack()
        self._servers: dict[str, RunningServer] = {}
        self._variables: dict[str, str] = {}
        self._program_folder: Path | None = None

    def run(self, block: Block) -> Any:
        if block.language == "python" and ">>>" in block.text:
            return self._doctest(block)
        return getattr(self, f"_{block.language}")(block)

    def environment_of(self, page: Path) -> dict[str, str]:
        """The variables of a page; clients of language models find a scripted model there."""
        if page.name != "tool-loops.md":
            return {}
        return self._stack.enter_context(scripted_model()).environment()

    def close(self) -> None:
        self._stack.close()
        for thing in (self._standard, *self.namespace.values()):
            if isinstance(thing, kiprdf.Nexus):
                thing.close()

    def _nexus(self) -> kiprdf.Nexus:
        if "nexus" in self.namespace:
            nexus: kiprdf.Nexus = self.namespace["nexus"]
            return nexus
        if self._standard is None:
            self._standard = kiprdf.Nexus.memory(clock=fixed_clock)
            self._standard.apply_capsule(resources.example_capsule("medical").text)
        return self._standard

    def _python(self, block: Block) -> Any:
        """Execute the block; the value of its last expression."""
        tree = python.parse(block.text)
        last = tree.body.pop() if isinstance(tree.body[-1], python.Expr) else None
        exec(compile(tree, str(block), "exec"), self.namespace)
        if last is None:
            return None
        assert isinstance(last, python.Expr)
        code = compile(python.Expression(last.value), str(block), "eval")
        return eval(code, self.namespace)

    def _doctest(self, block: Block) -> None:
        examples = doctest.DocTestParser().get_doctest(
            block.text, self.namespace, str(block), str(block.page), block.line
        )
        runner = doctest.DocTestRunner(verbose=False, optionflags=_FLAGS)
        report: list[str] = []
        runner.run(examples, out=report.append, clear_globs=False)
        self.namespace.update(examples.globs)
        assert runner.failures == 0, "".join(report)

    def _kip(self, block: Block) -> Any:
        """Run the command; its result, or its error as text."""
        parameters = json.loads(block.rest) if block.rest else {}
        try:
            kiprdf.to_text(kiprdf.parse(block.text))
            return self._nexus().execute(block.text, **parameters)
        except kiprdf.KipError as error:
            return error_text(error)

    def _sh(self, block: Block) -> str:
        """The output of all lines with kiprdf, including errors."""
        lines = [line.removeprefix(".venv/bin/") for line in block.text.splitlines()]
        return "".join(map(self._shell_line, lines))

    def _shell_line(self, line: str) -> str:
        if kept := re.fullmatch(r"([A-Z]+)=\$\((kiprdf .+)\)", line):
            self._variables[kept[1]] = self._line(shlex.split(kept[2]), printed=True).strip()
            return ""
        for name, value in self._variables.items():
            line = re.sub(rf"\${name}\b", value, line)
        return self._line(shlex.split(line))

    def _line(self, words: list[str], printed: bool = False) -> str:
        """The output of a command with its errors; or only what it has ``printed``."""
        settings = dict(word.split("=", 1) for word in words if re.match(r"[A-Z_]+=", word))
        words = words[len(settings) :]
        if words[:2] == ["kiprdf", "serve"]:
            return self._serve(words[2:], settings)
        for port, server in self._servers.items():
            words = [word.replace(f"http://127.0.0.1:{port}/", server.address) for word in words]
        if words[:1] == ["kiprdf"]:
            env = {"COLUMNS": "100", "NO_COLOR": "1", **settings}
            result = invoke(*words[1:], env=env, catch_exceptions=False)
            return result.stdout if printed else result.output
        if words[:1] == ["curl"]:
            return subprocess.run(
                words, capture_output=True, check=True, timeout=60
            ).stdout.decode()
        if words[:1] == ["git"]:
            done = run_git(*words[1:], folder=Path(), program_folder=self._programs())
            return done.stdout
        return ""

    def _programs(self) -> Path:
        """A folder with a program ``kiprdf``, which git runs."""
        if self._program_folder is None:
            folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
            self._program_folder = programs(folder / "bin")
        return self._program_folder

    def _serve(self, options: list[str], settings: dict[str, str]) -> str:
        """Start a server in place of the one of the page, for the folder ``nexus`` or scopes."""
        for server in self._servers.values():
            server.stop()
        port = options[options.index("--port") + 1] if "--port" in options else "8080"
        if "--scopes" in options:
            arguments = ["-m", "kiprdf", "serve", *options, "--port", "0"]
            server = self._stack.enter_context(running(arguments, settings))
        else:
            server = self._stack.enter_context(serving("nexus", **settings))
        self._servers = {port: server}
        return f"{server.address}\n"


def is_error(output: Any) -> bool:
    return isinstance(output, str) and bool(re.search(r"^KIP_\d{4} |^Error", output, re.MULTILINE))


def as_text(output: Any) -> str:
    """What an output looks like on a page."""
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)


def agrees(shown: Block, output: Any) -> bool:
    """Whether a block shows an output; JSON by value, everything else as a doctest does."""
    if shown.language == "json" and "..." not in shown.text:
        return bool(json.loads(shown.text) == json.loads(json.dumps(output)))
    return _CHECKER.check_output(shown.text, as_text(output) + "\n", _FLAGS)


def runnable(page: Path) -> list[Block]:
    """The blocks of a page, without the set-up blocks of the README and their output."""
    blocks = blocks_of(page)
    if page == README:
        skipped = [block for block in blocks if block.language == "sh"][:SETUP_BLOCKS]
        blocks = [b for b in blocks if b not in skipped and b.output_of not in skipped]
    return blocks


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", [page for page in PAGES if runnable(page)], ids=name_of)
def test_every_block_of_a_page_runs_and_shows_its_output(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    session = Session()
    for name, value in session.environment_of(page).items():
        monkeypatch.setenv(name, value)
    output: Any = None
    try:
        blocks = runnable(page)
        for block, following in zip(blocks, [*blocks[1:], None], strict=True):
            if block.output_of is not None:
                assert agrees(block, output), f"{block} shows\n{block.text}\ngot\n{output}"
            if block.language in _RUN:
                output = session.run(block)
                shown = following is not None and following.output_of is block
                unexpected = block.language != "python" and is_error(output) and not shown
                assert not unexpected, f"{block}\n{output}"
    finally:
        session.close()


def blocks_in(language: str) -> list[Block]:
    return [block for page in PAGES for block in blocks_of(page) if block.language == language]


@pytest.mark.parametrize("block", blocks_in("turtle"), ids=str)
def test_turtle_blocks_parse(block: Block) -> None:
    assert list(pyoxigraph.parse(block.text, format=pyoxigraph.RdfFormat.TURTLE))


@pytest.mark.parametrize("block", blocks_in("sparql"), ids=str)
def test_sparql_blocks_parse(block: Block) -> None:
    # The SPARQL of a FIND calls functions of kiprdf.
    functions = CancellationToken(None).functions(TESTS)
    pyoxigraph.Store().query(block.text, custom_functions=functions)


@each_case("page", PAGES)
def test_links_between_pages_have_a_target(page: Path) -> None:
    prose = _FENCE.sub("", page.read_text("utf-8"))
    for target in _LINK.findall(prose):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = page if not path else (page.parent / path)
        assert linked.exists(), target
        if anchor:
            assert anchor in _headings(linked), target


def _headings(page: Path) -> set[str]:
    """The anchors of a page's headings, as they are shown on code forges."""
    prose = _FENCE.sub("", page.read_text("utf-8"))
    headings = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_can_be_reached_from_the_index() -> None:
    index = ROOT / "docs" / "index.md"
    reached, pending = {index}, [index]
    while pending:
        page = pending.pop()
        prose = _FENCE.sub("", page.read_text("utf-8"))
        for target in _LINK.findall(prose):
            linked = (page.parent / target.partition("#")[0]).resolve()
            if linked.suffix == ".md" and linked.exists() and linked not in reached:
                reached.add(linked)
                pending.append(linked)
    assert {page for page in PAGES if page != README} <= reached


def test_files_and_names_that_a_page_gives_exist() -> None:
    modules = [path for top in ("kiprdf", "tests") for path in (ROOT / top).rglob("*.py")]
    paths = [f"/{path.relative_to(ROOT)}" for path in modules]
    for page in PAGES:
        for named in re.findall(r"`((?:\w+/)*\w+\.py)`", page.read_text("utf-8")):
            assert any(path.endswith(f"/{named}") for path in paths), (page.name, named)
    words = set(re.findall(r"\w+", " ".join(path.read_text("utf-8") for path in modules)))
    rows = re.findall(r"^\| Wh.*", (ROOT / "docs/architecture.md").read_text("utf-8"), re.MULTILINE)
    assert len(rows) > 80
    for name in re.findall(r"`(\w+(?:\.\w+)?)`", "".join(rows)):
        assert words.issuperset(name.removesuffix(".html").split(".")), name


def test_every_error_code_has_a_section_on_the_page_of_errors() -> None:
    text = (ROOT / "docs" / "errors.md").read_text("utf-8")
    for row in ERROR_CODES.values():
        assert re.search(rf"^## {row.code} {row.name}$", text, re.MULTILINE), row.code


def test_decisions_name_conformance_cases_that_exist() -> None:
    folder = ROOT / "tests" / "conformance"
    cases = {
        f"{path.stem}: {case['name']}"
        for path in folder.glob("*.json")
        for case in json.loads(path.read_text("utf-8"))["cases"]
    }
    for page in sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md")):
        text = page.read_text("utf-8")
        for part in ("**Question.**", "**The specification.**", "**Options.**", "**Choice.**"):
            assert part in text, f"{page.name} lacks {part}"
        pinned = re.search(r"^\*\*Pinned by\.\*\*(.*)", text, re.MULTILINE | re.DOTALL)
        assert pinned, f"{page.name} names no test"
        named = re.findall(r"`(\w+: \w+)`", pinned.group(1))
        files = re.findall(r"`(tests/[\w/.]+)`", pinned.group(1))
        assert named or files, f"{page.name} names no test"
        assert set(named) <= cases, f"{page.name}: {set(named) - cases}"
        assert all((ROOT / file).exists() for file in files), page.name


# The vocabulary -------------------------------------------------------------------------------

VOCABULARY = ROOT / "mappings" / "kip.ttl"


def _kiprdf_terms() -> set[str]:
    """The IRIs in kiprdf/rdf/vocab.py that are not in namespaces of the W3C."""
    values = [getattr(vocab, name) for name in dir(vocab) if name.isupper()]
    iris = {getattr(value, "value", value) for value in values}
    return {iri for iri in iris if isinstance(iri, str) and iri.startswith(vocab.KIP)} - {vocab.KIP}


def test_the_vocabulary_has_every_term_of_kiprdf_with_label_and_comment() -> None:
    graph = rdflib.Graph().parse(VOCABULARY)
    described = {
        str(subject)
        for subject in graph.subjects(rdflib.RDFS.comment)
        if (subject, rdflib.RDFS.label) in {(s, p) for s, p, _ in graph}
    }
    assert _kiprdf_terms() <= described
    subjects = {str(subject) for subject in graph.subjects()}
    assert subjects == described
    for space in (vocab.ATTRIBUTE, vocab.METADATA, vocab.KIP):
        assert space in described
    for key in (vocab.VERSION, vocab.CREATED_AT, vocab.UPDATED_AT):
        assert vocab.METADATA + encode(key) in described


def test_the_vocabulary_is_the_same_graph_in_both_parsers() -> None:
    text = VOCABULARY.read_text("utf-8")
    graph = rdflib.Graph().parse(data=text, format="turtle")
    triples = list(pyoxigraph.parse(text, format=pyoxigraph.RdfFormat.TURTLE))
    assert len(graph) == len(triples) > 20
