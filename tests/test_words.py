"""Words that the project does not use, in names and in prose.

A name says what a variable holds, and prose has the usual word: ``rows`` instead of ``found``.
Names are those that code binds, so that ``FileNotFoundError`` passes.
Prose is docstrings, comments, the names of tests, pages without their examples, and in ``kiprdf``
all other texts, since errors and help are among them.
"""

from __future__ import annotations

import ast
import functools
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

NAMES = re.compile(
    "anew|anchors|care|cliffs|doors|doubts|found|guarded|known|outgrown|probe|quick|said|settled?"
    "|spelled|staged|tells?|told|twins|unsure|watch|whatever",
    re.IGNORECASE,
)
PUBLIC = {"Found", "FoundEdge"}
"""Names of the interface of ``kiprdf.memory``, which others rely on."""
CLASSES = {"Alone", "Filling", "Form", "Unsure", "Walk"}
PHRASES = re.compile(
    r"""\b(?: anew | told | tells? | whatever | somebody | outgrown | in\ vain | is\ none\ of
    | of\ ours | of\ its\ own | stands?\ (?:in|behind) | goes\ out | comes?\ back | came\ back
    | leaves\ in )\b""",
    re.VERBOSE | re.IGNORECASE,
)

CODE = [*(ROOT / "kiprdf").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "tests" / "golden").rglob("*.md"),
]


def bound_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The names that code gives to variables, attributes, parameters, functions and classes."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield node.lineno, name
            case ast.ClassDef(name=name) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.alias(asname=str(name)) | ast.ExceptHandler(name=str(name)):
                yield node.lineno, name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield node.lineno, name


@functools.cache
def is_old(name: str) -> bool:
    if name in PUBLIC:
        return False
    parts = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", name)
    return name.strip("_") in CLASSES or any(NAMES.fullmatch(part) for part in parts)


def old_names(source: str) -> list[str]:
    """The names with an old word, each with its line. The name of a test is a sentence."""
    if not any(map(is_old, set(re.findall(r"\w+", source)))):
        return []  # most files have none in any text; reading their syntax takes much longer
    return [
        f"{line}: {name}"
        for line, name in bound_names(ast.parse(source))
        if not name.startswith("test_") and is_old(name)
    ]


def prose(source: str, texts: bool) -> Iterator[tuple[int, str]]:
    """Comments, docstrings and names of tests, with their lines; with ``texts`` all strings."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Constant(value=str(text)) if texts:
                yield node.lineno, text
            case ast.Expr(value=ast.Constant(value=str(text))) if not texts:
                yield node.lineno, text
            case ast.FunctionDef(name=name) if name.startswith("test_"):
                yield node.lineno, name.replace("_", " ")


def in_some_text(source: str) -> bool:
    """Whether a file may have an old phrase; looking at its tokens takes much longer."""
    return PHRASES.search(re.sub(r"[\s_\"']+", " ", source)) is not None


def old_phrases(parts: Iterator[tuple[int, str]]) -> list[str]:
    """The old phrases in texts, each with the line where its text begins."""
    joined = ((line, " ".join(text.split())) for line, text in parts)
    return [f"{line}: {match[0]}" for line, text in joined for match in PHRASES.finditer(text)]


def paragraphs(page: str) -> Iterator[tuple[int, str]]:
    """The lines of a page outside of its examples."""
    fenced = False
    for number, line in enumerate(page.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def faults(paths: list[Path], check: Callable[[str], list[str]]) -> dict[str, list[str]]:
    """What a check reports of each file."""
    results = {path: check(path.read_text("utf-8")) for path in paths}
    return {path.relative_to(ROOT).as_posix(): lines for path, lines in results.items() if lines}


def test_no_name_has_an_old_word() -> None:
    assert faults(CODE, old_names) == {}


@pytest.mark.parametrize("folder", ["kiprdf", "tests"])
def test_no_prose_in_code_has_an_old_phrase(folder: str) -> None:
    paths = [path for path in CODE if path.relative_to(ROOT).parts[0] == folder]

    def check(source: str) -> list[str]:
        if not in_some_text(source):
            return []
        return old_phrases(prose(source, folder == "kiprdf"))

    assert faults(paths, check) == {}


def test_no_page_has_an_old_phrase() -> None:
    assert faults(PAGES, lambda page: old_phrases(paragraphs(page))) == {}


@pytest.mark.parametrize(
    "source",
    [
        "found = 1",
        "a.known_types = 1",
        "def _told(): ...",
        "def f(said): ...",
        "lambda doubts: 1",
        "class Walk: ...",
        "for toldSo in (): ...",
        "[probe for probe in ()]",
        "with open() as quick: ...",
        "import a as staged",
        "match 1:\n    case watch: ...",
        "try: ...\nexcept OSError as twins: ...",
    ],
)
def test_an_old_word_in_a_name_is_a_fault(source: str) -> None:
    assert len(old_names(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "except_ = FileNotFoundError",
        "import known",
        "def test_a_type_is_known(): ...",
        "names = founder, unknown",
        "plain = 1",
    ],
)
def test_another_name_is_no_fault(source: str) -> None:
    assert old_names(source) == []


@pytest.mark.parametrize(
    ("source", "texts", "count"),
    [
        ('"""It tells\nthe type."""', False, 1),
        ("# made anew", False, 1),
        ("def test_a_fault_is_told(): ...", False, 1),
        ('raise ValueError("It stands in\\nthe file.")', True, 1),
        ('name = "told"', False, 0),
        ('raise ValueError("The type was not found.")', True, 0),
        ("# a retold story, of its owner", False, 0),
    ],
)
def test_an_old_phrase_in_prose_is_a_fault(source: str, texts: bool, count: int) -> None:
    assert len(old_phrases(prose(source, texts))) == count


def test_examples_on_a_page_are_no_prose() -> None:
    page = "It tells.\n```kip\nSomebody told me.\n```\nIt is shown.\n"
    assert old_phrases(paragraphs(page)) == ["1: tells"]
